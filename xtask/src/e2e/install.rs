//! Gets the clients from the npm registry into `target/clients`, once per
//! version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::clients::Client;
use super::isolate;

/// A client that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    pub version: String,
    pub program: PathBuf,
}

/// Which version is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Pinned,
    Latest,
}

/// The packages hold programs for this platform only.
const PLATFORM: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// More than enough for the largest client on a slow line.
const SECONDS: &str = "180";
const ATTEMPTS: usize = 3;

/// Gives the reason where the client can't be had.
pub fn install(target: &Path, client: &Client, wanted: Wanted) -> Result<Installed, String> {
    if !PLATFORM {
        return Err("the pinned packages are for Linux on x86-64".into());
    }
    npm(&["--version"])?;
    if let Err(error) = Command::new("node").arg("--version").output() {
        return Err(format!(
            "node does not start ({error}); install Node.js 20 or later"
        ));
    }
    let version = match wanted {
        Wanted::Pinned => client.version.to_owned(),
        Wanted::Latest => latest(target, client)?,
    };
    let program = package_as(
        target, client.name, client.package, &version, client.program,
    )?;
    Ok(Installed { version, program })
}

/// A file of a package in this very version.
pub fn package(target: &Path, name: &str, version: &str, file: &str) -> Result<PathBuf, String> {
    package_as(target, name, name, version, file)
}

fn package_as(
    target: &Path,
    name: &str,
    package: &str,
    version: &str,
    file: &str,
) -> Result<PathBuf, String> {
    let dir = target.join("clients").join(format!("{name}-{version}"));
    let program = dir.join("node_modules").join(file);
    // Written last, so that half an installation is not taken for a whole one.
    let finished = dir.join("installed");
    if !finished.is_file() {
        let package = format!("{package}@{version}");
        let place = dir.display().to_string();
        let install = [
            "install", "--prefix", &place, "--no-save", "--no-audit", "--no-fund",
            "--ignore-scripts", "--fetch-timeout=20000", "--fetch-retries=5", "--prefer-offline",
            &package,
        ];
        // A registry that falls silent is asked again.
        let mut installed = npm(&install);
        for _ in 1..ATTEMPTS {
            installed = installed.or_else(|_| npm(&install));
        }
        installed?;
        if !program.is_file() {
            return Err(format!("{package} has no {file}"));
        }
        fs::write(&finished, "").map_err(|e| format!("{}: {e}", finished.display()))?;
    }
    Ok(program)
}

/// Asked for once: inside the isolation there is no registry.
fn latest(target: &Path, client: &Client) -> Result<String, String> {
    let known = target
        .join("clients")
        .join(format!("{}-latest", client.name));
    if std::env::var_os(isolate::INSIDE).is_some() {
        let version = fs::read_to_string(&known);
        return version.map_err(|e| format!("{}: {e}", known.display()));
    }
    let version = npm(&["view", client.package, "version"])?.trim().to_owned();
    let told = |e| format!("{}: {e}", known.display());
    fs::create_dir_all(target.join("clients")).map_err(told)?;
    fs::write(&known, &version).map_err(told)?;
    Ok(version)
}

/// Bounded, because npm waits for ever for some silent connections.
fn npm(args: &[&str]) -> Result<String, String> {
    let output = Command::new("timeout")
        .args(["--kill-after=5", SECONDS, "npm"])
        .args(args)
        .output()
        .map_err(|e| format!("npm does not start ({e}); install Node.js 20 or later with npm"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said
        .lines()
        .find(|l| l.contains("error"))
        .map_or_else(|| output.status.to_string(), str::to_owned);
    Err(format!(
        "npm {} failed: {said}",
        args.first().unwrap_or(&"")
    ))
}
