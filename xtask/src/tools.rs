//! What the tests need beside Rust, and how a machine gets it.
//!
//! Root installs it; anybody else on Debian and its kin gets it below
//! `target/tools`, without touching the machine; on macOS Homebrew has it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo;

/// A program that tests start, and its package in Debian and for Homebrew.
const TOOLS: [(&str, &str, &str); 13] = [
    // Only Linux has it.
    ("bwrap", "bubblewrap", ""),
    ("curl", "curl", "curl"),
    ("gh", "gh", "gh"),
    ("git", "git", "git"),
    ("go", "golang-go", "go"),
    ("make", "make", "make"),
    ("nats-server", "nats-server", "nats-server"),
    ("npm", "npm", "node"),
    ("pip3", "python3-pip", ""),
    ("ps", "procps", ""),
    ("pytest", "python3-pytest", "pytest"),
    ("python3", "python3", "python3"),
    ("tmux", "tmux", "tmux"),
];

/// What comes from npm, in the version that the tests were written for.
const VITEST: &str = "vitest@3";

/// Gets what is missing and gives the PATH for the tests. What can't be had is
/// told; the tests that need it are skipped and say so.
pub fn get(root: &Path) -> OsString {
    let missing = TOOLS.into_iter().filter(|(tool, _, brew)| {
        let is_of_here = !brew.is_empty() || cfg!(target_os = "linux");
        // Debian's npm runs only where it was installed.
        let can_be_had = *tool != "npm" || brew_or_root();
        is_of_here && can_be_had && on_path(tool).is_none()
    });
    let missing: Vec<_> = missing.collect();
    if !missing.is_empty()
        && let Err(reason) = get_packages(&programs_of(root), &missing)
    {
        println!("not all of it could be had: {reason}");
    }
    if on_path("vitest").is_none()
        && on_path("npm").is_some()
        && let Err(reason) = package_of_npm(&vitest_of(root), VITEST)
    {
        println!("{VITEST} could not be had: {reason}");
    }
    path(root)
}

/// The PATH with what `get` has brought. Whoever builds the tests or what they
/// start uses it too: their build scripts look for tools on it, and what stands
/// on these is built again for another.
pub fn path(root: &Path) -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = [
        Some(programs_of(root).join("bin")),
        interpreter(),
        Some(vitest_of(root).join("node_modules/.bin")),
    ];
    for dir in dirs.into_iter().flatten().filter(|dir| dir.is_dir()) {
        path = in_front(&dir, &path);
    }
    path
}

fn programs_of(root: &Path) -> PathBuf {
    cargo::target(root).join("tools")
}

fn vitest_of(root: &Path) -> PathBuf {
    programs_of(root).join("vitest")
}

fn brew_or_root() -> bool {
    on_path("apt-get").is_none() || is_root()
}

fn get_packages(own: &Path, missing: &[(&str, &str, &str)]) -> Result<(), String> {
    let programs: Vec<&str> = missing.iter().map(|(program, ..)| *program).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, package, _)| *package).collect();
    println!("the tests want {}", programs.join(", "));
    if on_path("apt-get").is_some() && is_root() {
        return apt_install(&packages);
    }
    if on_path("apt-get").is_some() {
        return unpack(own, &programs, &packages);
    }
    if on_path("brew").is_some() {
        let formulas = missing.iter().map(|(.., formula)| formula);
        let mut brew = Command::new("brew");
        return cargo::succeed(brew.arg("install").args(formulas));
    }
    Err("neither apt-get nor brew is here".into())
}

/// Installs a package of npm below `dir`, once, whatever is in it.
pub fn package_of_npm(dir: &Path, package: &str) -> Result<(), String> {
    let name = package.rsplit_once('@').map_or(package, |(name, _)| name);
    if dir.join("node_modules").join(name).is_dir() {
        return Ok(());
    }
    fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut npm = Command::new(cargo::program("npm"));
    npm.args(["install", "--prefer-offline", "--no-audit", "--no-fund"])
        .arg("--prefix")
        .arg(dir)
        .arg(package);
    cargo::succeed(npm.stdout(Stdio::null()))
}

/// Where Python itself is: on the PATH may be a shim that takes three times as
/// long to find it as it takes to run a test.
fn interpreter() -> Option<PathBuf> {
    let ask = ["-c", "import sys; print(sys.executable)"];
    let answer = Command::new("python3").args(ask).output().ok()?;
    let python = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    let dir = python.parent().filter(|_| python.is_file())?;
    // The folder of all programs would hide what comes before it.
    (!dir.join("git").exists()).then(|| dir.to_owned())
}

/// Where a program is.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let file = cargo::program(name);
    std::env::split_paths(&path)
        .map(|dir| dir.join(&file))
        .find(|candidate| candidate.is_file())
}

pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Packages for the machine itself.
pub fn apt_install(packages: &[&str]) -> Result<(), String> {
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        cargo::succeed(command.arg("-qq").args(args))
    };
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends"][..], packages].concat())
}

/// Gets programs as an ordinary user, into a directory `bin`.
fn unpack(own: &Path, programs: &[&str], packages: &[&str]) -> Result<(), String> {
    let bin = own.join("bin");
    if programs.iter().all(|name| bin.join(name).is_file()) {
        return Ok(());
    }
    let tree = fetch(own, packages)?;
    let failed = |e: std::io::Error| format!("{}: {e}", bin.display());
    fs::create_dir_all(&bin).map_err(failed)?;
    for program in programs {
        wrap(&tree, &bin, program).map_err(failed)?;
    }
    Ok(())
}

/// Gets packages, and what they depend on and this machine lacks, and unpacks
/// them; gives the root that they lie below. Nothing else is touched.
pub fn fetch(own: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", own.display());
    let (tree, debs) = (own.join("root"), own.join("debs"));
    let (lists, cache) = (own.join("lists"), own.join("cache"));
    for dir in [&tree, &debs.join("partial"), &lists.join("partial"), &cache] {
        fs::create_dir_all(dir).map_err(failed)?;
    }
    let own = fs::canonicalize(own).map_err(failed)?;
    let option = |name: &str, dir: &str| format!("-oDir::{name}={}", own.join(dir).display());
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(["-qq", "-oDebug::NoLocking=1"])
            .arg("-oAPT::Sandbox::User=root")
            .arg(option("State::lists", "lists"))
            .arg(option("Cache", "cache"))
            .arg(option("Cache::archives", "debs"));
        cargo::succeed(command.args(args).stdout(Stdio::null()))
    };
    // A list that can't be had may be one that nobody needs here.
    let updated = apt(&["update"]);
    let install = [
        "install",
        "-y",
        "--download-only",
        "--reinstall",
        "--no-install-recommends",
    ];
    apt(&[&install[..], packages].concat()).map_err(|e| updated.err().unwrap_or(e))?;
    unpack_all(&debs, &tree)?;
    Ok(tree)
}

/// Unpacks every package of a directory below a root of its own.
fn unpack_all(debs: &Path, tree: &Path) -> Result<(), String> {
    let entries = fs::read_dir(debs).map_err(|e| format!("{}: {e}", debs.display()))?;
    let packages = entries.flatten().map(|entry| entry.path());
    for package in packages.filter(|path| path.extension().is_some_and(|e| e == "deb")) {
        cargo::succeed(Command::new("dpkg").arg("-x").arg(package).arg(tree))?;
    }
    Ok(())
}

/// Starts a program with what came with it. Variables of the tests would not
/// do: they clear their environment.
fn wrap(tree: &Path, bin: &Path, program: &str) -> std::io::Result<()> {
    let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
    let usr = tree.join("usr");
    let libraries = [usr.join("lib"), tree.join("lib")].map(|dir| dir.join(&machine));
    let mut variables = format!(
        "LD_LIBRARY_PATH='{}:{}'",
        libraries[0].display(),
        libraries[1].display()
    );
    if program == "git" {
        let helpers = usr.join("lib/git-core");
        variables.push_str(&format!(" GIT_EXEC_PATH='{}'", helpers.display()));
    }
    if program == "pytest" {
        let modules = usr.join("lib/python3/dist-packages");
        variables.push_str(&format!(" PYTHONPATH='{}'", modules.display()));
    }
    if program == "go" {
        variables.push_str(&format!(" GOROOT='{}'", usr.join("lib/go").display()));
    }
    let places = ["bin", "sbin"].map(|dir| usr.join(dir).join(program));
    let real = places.iter().find(|path| path.is_file());
    let real = real.unwrap_or(&places[0]);
    let path = bin.join(program);
    fs::write(
        &path,
        format!("#!/bin/sh\n{variables} exec '{}' \"$@\"\n", real.display()),
    )?;
    executable(&path)
}

#[cfg(unix)]
pub fn executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
pub fn executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn in_front(dir: &Path, path: &OsString) -> OsString {
    let dirs = std::iter::once(dir.to_owned()).chain(std::env::split_paths(path));
    std::env::join_paths(dirs).unwrap_or_else(|_| path.clone())
}

/// The PATH with a directory at its end.
pub fn behind(dir: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).chain(std::iter::once(dir.to_owned()));
    std::env::join_paths(dirs).unwrap_or(path)
}
