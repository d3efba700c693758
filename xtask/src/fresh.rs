//! `cargo xtask fresh [DIR]`: what a newcomer meets, on a Debian with nothing
//! but Git, a C compiler and Rust.
//!
//! The mirror, the toolchain and the variables of the network are those of
//! this machine; the tree is a clone of what is committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{cargo, tools};

const SUITE: &str = "bookworm";
const PACKAGES: &str = "ca-certificates,git,gcc,libc6-dev";
const MIRROR: &str = "http://deb.debian.org/debian";
/// Where the toolchain and the clone lie in there.
const RUST: &str = "/opt/rust";
const CLONE: &str = "/opt/ralph";

const COMMANDS: [&str; 3] = [
    "cargo run --release -- demo",
    "cargo test --workspace",
    "cargo xtask test",
];

pub fn run(root: &Path, dir: Option<&Path>) -> Result<(), Vec<String>> {
    if !tools::is_root() || tools::on_path("apt-get").is_none() {
        return Err(vec![
            "this needs root on Debian: it makes a root of its own".into(),
        ]);
    }
    let dir = dir.map_or_else(|| cargo::target(root).join("fresh"), Path::to_owned);
    let place = Place { dir };
    place.prepare(root).map_err(|e| vec![e])?;
    let mut problems = Vec::new();
    for command in COMMANDS {
        if let Err(problem) = place.play(command) {
            problems.push(problem);
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

/// A Debian of its own.
struct Place {
    dir: PathBuf,
}

impl Place {
    fn inside(&self, path: &str) -> PathBuf {
        self.dir.join(path.trim_start_matches('/'))
    }

    fn prepare(&self, root: &Path) -> Result<(), String> {
        if !self.inside("/usr/bin/gcc").exists() {
            debootstrap(&self.dir, PACKAGES)?;
        }
        let failed = |e: std::io::Error| format!("{}: {e}", self.dir.display());
        share_network(&self.dir);
        let rust = self.inside(RUST);
        if !rust.exists() {
            fs::create_dir_all(&rust).map_err(failed)?;
            let toolchain = format!("{}/.", sysroot()?.display());
            cargo::succeed(Command::new("cp").args(["-a", &toolchain]).arg(&rust))?;
        }
        let clone = self.inside(CLONE);
        if clone.exists() {
            fs::remove_dir_all(&clone).map_err(failed)?;
        }
        let mut git = Command::new("git");
        git.args(["clone", "-q", "--no-local"])
            .arg(root)
            .arg(&clone);
        cargo::succeed(&mut git)
    }

    /// Runs a command in the clone, among processes of its own, and tells what
    /// it took: on a shared machine, `user` and `sys` are the honest figures.
    fn play(&self, command: &str) -> Result<(), String> {
        println!("\n== {command}");
        inside(&self.dir, &format!("cd {CLONE} && time {command}"))
            .map_err(|_| format!("{command} failed"))
    }
}

/// A Debian with little more than these packages.
pub fn debootstrap(dir: &Path, packages: &str) -> Result<(), String> {
    if tools::on_path("debootstrap").is_none() {
        tools::apt_install(&["debootstrap"])?;
    }
    let mut bootstrap = Command::new("debootstrap");
    bootstrap
        .args(["--variant=minbase", &format!("--include={packages}"), SUITE])
        .arg(dir)
        .arg(mirror())
        .stdout(Stdio::null());
    cargo::succeed(&mut bootstrap)
}

/// How names are found and who is trusted is this machine's matter.
pub fn share_network(dir: &Path) {
    for file in [
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/ssl/certs/ca-certificates.crt",
    ] {
        let _ = fs::copy(file, dir.join(file.trim_start_matches('/')));
    }
}

/// Runs a line of shell in such a Debian, among processes of its own.
pub fn inside(dir: &Path, line: &str) -> Result<(), String> {
    // Whoever sits in a mere `chroot` may have no namespaces of users.
    let script = "mount --rbind \"$1\" \"$1\" && cd \"$1\" && mount --rbind /dev dev && \
                  mount -t proc proc proc && pivot_root . . && umount -l . && \
                  exec chroot . bash -c \"$2\"";
    let mut chroot = Command::new("unshare");
    chroot
        .args(["--mount", "--pid", "--fork", "--kill-child"])
        .args(["sh", "-c", script, "sh"])
        .arg(dir)
        .arg(line)
        .env_clear()
        .env("PATH", format!("{RUST}/bin:/usr/sbin:/usr/bin:/sbin:/bin"))
        .env("HOME", "/root")
        .env("LANG", "C.UTF-8")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .envs(std::env::vars().filter(|(name, _)| is_of_the_network(name)));
    cargo::succeed(&mut chroot).map_err(|_| format!("{line} failed"))
}

fn is_of_the_network(name: &str) -> bool {
    let name = name.to_lowercase();
    name.ends_with("_proxy") || name.starts_with("ssl_cert") || name.starts_with("cargo_http")
}

/// The toolchain that this was built with.
fn sysroot() -> Result<PathBuf, String> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let output = output.map_err(|e| format!("rustc: {e}"))?;
    let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    fs::canonicalize(&told).map_err(|e| format!("{told}: {e}"))
}

/// Where this machine gets its packages from.
fn mirror() -> String {
    let output = Command::new("apt-get")
        .args(["indextargets", "--format", "$(SITE) $(RELEASE)"])
        .output();
    let told = output
        .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
        .unwrap_or_default();
    let site = told
        .lines()
        .find_map(|line| line.strip_suffix(&format!(" {SUITE}")));
    site.unwrap_or(MIRROR).to_owned()
}
