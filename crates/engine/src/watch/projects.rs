//! The projects on this machine in which Ralph ran: one path per line, in
//! the person's state directory. It is a convenience for `--all`: whatever
//! fails here is passed over, and nothing depends on it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ralph_store::atomic::{AtomicOptions, write_atomic};

/// More projects than this are forgotten, the oldest first.
const MOST_PROJECTS: usize = 500;
/// Nobody's list of projects is longer.
const MOST_BYTES: u64 = 1024 * 1024;

/// Where the list stands: `$XDG_STATE_HOME/ralph/projects`, or below
/// `~/.local/state`. `None` where the person has no home.
pub fn registry(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("ralph/projects"))
}

/// Notes that Ralph ran in a project, as the newest.
pub fn note_project(registry: &Path, root: &Path) {
    let Some(line) = root.to_str().filter(|root| !root.contains('\n')) else {
        return;
    };
    let before = read(registry);
    if before.last().is_some_and(|last| last == line) {
        return;
    }
    let others = before.iter().filter(|other| *other != line);
    let skipped = before.len().saturating_sub(MOST_PROJECTS - 1);
    let mut text: String = others
        .skip(skipped)
        .map(|root| format!("{root}\n"))
        .collect();
    text.push_str(line);
    text.push('\n');
    if let Some(dir) = registry.parent() {
        let _ = fs::create_dir_all(dir);
    }
    let _ = write_atomic(registry, text.as_bytes(), AtomicOptions { durable: false });
}

/// The projects that are still there, the newest first.
pub fn known_projects(registry: &Path) -> Vec<PathBuf> {
    let roots = read(registry).into_iter().rev().map(PathBuf::from);
    roots
        .filter(|root| root.join(".ralph/runs").is_dir())
        .collect()
}

fn read(registry: &Path) -> Vec<String> {
    let small = fs::metadata(registry).is_ok_and(|meta| meta.is_file() && meta.len() <= MOST_BYTES);
    let text = small
        .then(|| ralph_store::regular::read_to_string(registry).ok())
        .flatten();
    let text = text.unwrap_or_default();
    text.lines()
        .filter(|line| Path::new(line).is_absolute())
        .map(str::to_owned)
        .collect()
}
