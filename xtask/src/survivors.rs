//! `cargo xtask survivors [--runs N]`: the containment test of the command
//! line, as many times as issue 3 asks for.

use std::path::Path;

use crate::cargo;

pub const RUNS: &str = "200";

pub fn run(root: &Path, runs: &str) -> Result<(), Vec<String>> {
    if runs.parse::<usize>().map_or(true, |runs| runs == 0) {
        return Err(vec![format!("--runs {runs}: give a number above 0")]);
    }
    let status = cargo::command(root)
        .args(["test", "--quiet", "-p", "ralph-loop", "--test", "cli"])
        .args(["--", "survivors::", "--nocapture"])
        .env("RALPH_TEST_SURVIVOR_RUNS", runs)
        .status()
        .map_err(|e| vec![e.to_string()])?;
    if status.success() {
        Ok(())
    } else {
        Err(vec!["somebody survived, or took too long".into()])
    }
}
