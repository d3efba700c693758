//! `cargo xtask cross check`: the types for macOS and Windows, on Linux.
//!
//! Debian has a compiler with the source of its standard library, which is
//! unpacked below `target/cross` and builds that for any target: no linker, no
//! SDK and nothing from elsewhere is needed.

use std::path::Path;
use std::process::Command;

use crate::{cargo, tools};

const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];
/// The last has the program that names the functions of Windows for its
/// standard library.
const PACKAGES: [&str; 4] = [
    "rustc-web",
    "cargo-web",
    "rust-web-src",
    "binutils-mingw-w64-x86-64",
];

/// Checks the program, or with `tests` also everything that tests it.
pub fn check(root: &Path, tests: bool) -> Result<(), Vec<String>> {
    if tools::on_path("apt-get").is_none() {
        println!("SKIPPED: checking for other systems needs the packages of Debian");
        return Ok(());
    }
    let own = cargo::target(root).join("cross");
    let tree = own.join("root");
    let whole = own.join("whole");
    if !whole.exists() {
        println!("getting {}", PACKAGES.join(", "));
        tools::fetch(&own, &PACKAGES).map_err(|e| vec![e])?;
        std::fs::write(whole, "").map_err(|e| vec![e.to_string()])?;
    }
    let mut command = compiler(root, &tree, &own);
    command.args(["check", "--locked", "--quiet"]);
    match tests {
        // A test that fails unwinds.
        true => command.args([
            "-Zbuild-std=std,test,panic_unwind",
            "--workspace",
            "--all-targets",
        ]),
        false => command.env("CARGO_PROFILE_DEV_PANIC", "abort").args([
            "-Zbuild-std=std,panic_abort",
            "-p",
            "ralph-loop",
        ]),
    };
    for target in TARGETS {
        command.args(["--target", target]);
    }
    cargo::succeed(&mut command).map_err(|e| vec![e])?;
    println!("the types are right for {}", TARGETS.join(" and "));
    Ok(())
}

/// Debian's cargo with Debian's compiler.
fn compiler(root: &Path, tree: &Path, own: &Path) -> Command {
    let usr = tree.join("usr");
    let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(usr.join("bin/cargo"));
    command
        .current_dir(root)
        .env("PATH", tools::behind(&usr.join("bin")))
        .env("RUSTC", usr.join("bin/rustc"))
        .env("LD_LIBRARY_PATH", usr.join("lib").join(machine))
        // It is a stable compiler, and build-std an unstable option.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", own.join("target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // Those of the toolchain that runs this.
        .env_remove("CARGO")
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTUP_TOOLCHAIN");
    command
}
