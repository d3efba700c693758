//! Where a program under test keeps its runs, and a place of our own for that.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

/// Set in a process that has a place of its own.
const PLACE: &str = "XTASK_STATE";

/// Runs this very command again with a state folder that goes with it:
/// nothing that is measured or tortured belongs among a person's own runs.
/// `None` in the process that has one.
pub fn apart() -> Option<ExitCode> {
    if std::env::var_os(PLACE).is_some() {
        return None;
    }
    let place = tempfile::tempdir().ok()?;
    let program = std::env::current_exe().ok()?;
    let status = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(PLACE, place.path())
        .env("XDG_STATE_HOME", place.path())
        .status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// The folder of all runs of a project, as `ralph where` names it.
pub fn runs(mut ralph: Command, project: &Path) -> PathBuf {
    let output = ralph
        .arg("--root")
        .arg(project)
        .args(["where", "--json"])
        .output();
    let said = output.map(|output| output.stdout).unwrap_or_default();
    let places: Value = serde_json::from_slice(&said).unwrap_or_default();
    PathBuf::from(places["runs"].as_str().unwrap_or_default())
}
