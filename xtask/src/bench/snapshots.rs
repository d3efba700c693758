//! `cargo xtask bench snapshots`: what keeping every turn costs. The program
//! that measures is an example of the engine.

use std::path::Path;
use std::process::Command;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .current_dir(root)
        .args(["run", "--quiet", "--profile", "release"])
        .args(["--package", "ralph-engine", "--example", "snapshots"])
        .status();
    match run {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(vec!["a snapshot costs more than its bound".into()]),
        Err(error) => Err(vec![error.to_string()]),
    }
}
