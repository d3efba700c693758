//! How the tools call cargo, and where it puts what it builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools;

/// Cargo in the checkout.
pub fn command(root: &Path) -> Command {
    in_checkout(Command::new("cargo"), root)
}

/// Something that calls Cargo in the checkout. Cargo names this package to its
/// tools: a build script that asks for its own name (that of `ring`) would run
/// again, and all that stands on it be built again, whenever a person calls
/// Cargo after a tool did.
pub fn in_checkout(mut command: Command, root: &Path) -> Command {
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command whose failure is told by itself.
pub fn succeed(command: &mut Command) -> Result<(), String> {
    let what = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

pub fn target(root: &Path) -> PathBuf {
    let elsewhere = std::env::var_os("CARGO_TARGET_DIR").map(|dir| root.join(dir));
    elsewhere.unwrap_or_else(|| root.join("target"))
}

/// The file name of a program.
pub fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// All that there is, also what is built only where somebody asks for it (the
/// fleet): a second build for it takes more than a minute. What everybody has
/// is built by `cross check`, `dist` and `fresh`.
pub const EVERYTHING: [&str; 2] = ["--workspace", "--features=ralph-loop/fleet"];

/// Builds `ralph` as the tests do, so that nothing is built twice: with fault
/// points, and not for speed. Beside a test, since without one Cargo leaves out
/// what the tests need, chooses other features and builds everything once more.
pub fn debug_ralph(root: &Path) -> Result<PathBuf, String> {
    let mut build = command(root);
    build.args(["build", "--quiet"]).args(EVERYTHING);
    build.env("PATH", tools::path(root));
    succeed(build.args(["--bin", "ralph", "--test", "cli"]))?;
    Ok(ralph_of_tests(root))
}

/// Where that one lies.
pub fn ralph_of_tests(root: &Path) -> PathBuf {
    target(root).join("debug").join(program("ralph"))
}
