//! The demo's throwaway project and the script of its agent.

use std::io;
use std::path::Path;

pub const SCRIPT: &str = include_str!("script.json");
const TASKS: &str = include_str!("tasks.md");

/// Where the task list lies in the project.
pub const TASKS_FILE: &str = "specs/001-greeter/tasks.md";

/// What the demo proves its work with.
pub const VERIFY: &str = "sh test.sh";

/// Makes a Git project with a spec-kit task list of three phases.
pub fn make_project(root: &Path) -> io::Result<()> {
    let tasks = root.join(TASKS_FILE);
    if let Some(dir) = tasks.parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(tasks, TASKS)?;
    git(root, &["init", "-q"])?;
    git(root, &["add", "-A"])?;
    let commit = [
        "-c",
        "user.name=Demo",
        "-c",
        "user.email=demo@localhost",
        "commit",
        "-q",
        "-m",
        "Plan a greeter",
    ];
    git(root, &commit)
}

pub fn git(root: &Path, args: &[&str]) -> io::Result<()> {
    let output = ralph_engine::git::in_own_repository(root, args)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ))
    }
}
