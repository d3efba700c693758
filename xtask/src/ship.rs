//! `cargo xtask dist`: the program as it ships, and what benches measure it
//! against.
//!
//! A static program starts in about half the time of a dynamic one, which
//! every hook call pays for. Not a static-pie: moving a program to a random
//! address means 10,000 relocations at each start, another quarter of the
//! time, for a program without memory errors to hide. The flags reach only
//! what is built for a named target, so that procedural macros stay dynamic.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;

const PROFILE: &str = "dist";
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// Builds what ships and says where it lies.
pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root, &["-p", "ralph-loop"]).map_err(|e| vec![e])?;
    println!("{}", programs.join(cargo::program("ralph")).display());
    Ok(())
}

/// Builds these packages as they ship; gives the folder of their programs.
pub fn build(root: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let triple = host()?;
    let mut command = cargo::command(root);
    command.args([
        "build",
        "--quiet",
        "--profile",
        PROFILE,
        "--target",
        &triple,
    ]);
    if triple.contains("linux") {
        command.env(flags_variable(&triple), STATIC);
        // It would hide the flags above.
        command.env_remove("RUSTFLAGS");
    }
    cargo::succeed(command.args(packages))?;
    Ok(cargo::target(root).join(triple).join(PROFILE))
}

/// What this machine is called by its compiler.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.map_err(|e| format!("rustc: {e}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc does not tell its host".into())
}

fn flags_variable(triple: &str) -> String {
    let name = triple.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{name}_RUSTFLAGS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_for_the_target_alone() {
        assert_eq!(
            flags_variable("x86_64-unknown-linux-gnu"),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS"
        );
    }
}
