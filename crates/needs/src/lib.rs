//! For the build scripts of the crates whose tests need more than Rust and Git.
//!
//! What is missing is found out here, so that libtest itself calls the tests
//! that need it ignored, with the reason: a skip that is told. `cargo xtask
//! test` gets the tools first.
#![expect(clippy::print_stdout, reason = "a build script speaks by printing")]

#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What tests can need, and the crates with such tests. The name is that of
/// the `cfg`.
const NEEDS: [(&str, Need, &[&str]); 21] = [
    ("has_wall", Need::Other(has_wall), &["ralph-loop"]),
    ("has_landlock", Need::Other(has_landlock), &["ralph-loop"]),
    ("has_node", Need::Program("npm"), &["ralph-loop"]),
    ("has_make", Need::Program("make"), &["ralph-loop"]),
    ("has_python", Need::Program("python3"), &["ralph-loop"]),
    ("has_pip", Need::Other(has_pip), &["ralph-loop"]),
    ("has_perl", Need::Program("prove"), &["ralph-loop"]),
    ("has_pytest", Need::Program("pytest"), &["ralph-loop"]),
    ("has_go", Need::Program("go"), &["ralph-loop"]),
    ("has_vitest", Need::Program("vitest"), &["ralph-loop"]),
    ("has_bash", Need::Program("bash"), &["ralph-guard"]),
    (
        "has_curl",
        Need::Program("curl"),
        &["ralph-engine", "ralph-loop"],
    ),
    ("has_gh", Need::Program("gh"), &["ralph-loop"]),
    ("has_nats", Need::Program("nats-server"), &["ralph-loop"]),
    ("has_tmux", Need::Other(has_tmux), &["ralph-loop"]),
    (
        "permissions_bind",
        Need::Other(permissions_bind),
        &["ralph-loop", "ralph-engine", "ralph-store"],
    ),
    (
        "has_shm",
        Need::Other(has_shm),
        &["ralph-loop", "ralph-store"],
    ),
    ("has_reftable", Need::Other(has_reftable), &["ralph-engine"]),
    (
        "can_be_another_user",
        Need::Other(can_be_another_user),
        &["ralph-loop", "ralph-engine"],
    ),
    (
        "has_namespaces",
        Need::Other(has_namespaces),
        &["ralph-loop", "ralph-engine"],
    ),
    ("may_mount", Need::Other(may_mount), &["ralph-loop"]),
];

enum Need {
    /// On the PATH.
    Program(&'static str),
    Other(fn() -> bool),
}

/// Tells Cargo what is here.
pub fn tell() {
    println!("cargo::rerun-if-changed=build.rs");
    // `ralph self-check` says what it was built for.
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=BUILT_FOR={target}");
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    for (cfg, need, crates) in NEEDS {
        if !crates.contains(&package.as_str()) {
            continue;
        }
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        let is_met = match need {
            Need::Program(name) => has_program(name),
            Need::Other(is_met) => is_met(),
        };
        if is_met {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
}

/// Looks again when the program goes, and when it may have come: a program
/// that is installed changes a directory of the PATH. Where `cargo xtask test`
/// may not install, it puts a directory of its own on the PATH.
fn has_program(name: &str) -> bool {
    println!("cargo::rerun-if-env-changed=PATH");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    match dirs.iter().map(|dir| dir.join(&file)).find(|p| p.is_file()) {
        Some(program) => {
            println!("cargo::rerun-if-changed={}", program.display());
            true
        }
        None => {
            for dir in dirs.iter().filter(|dir| dir.is_dir()) {
                println!("cargo::rerun-if-changed={}", dir.display());
            }
            false
        }
    }
}

/// They do not bind root.
fn permissions_bind() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() != b"0")
}

/// As a module, since shims named pip may be there without it.
fn has_pip() -> bool {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--version"]).stdin(Stdio::null());
    pip.output().is_ok_and(|output| output.status.success())
}

/// With what tells who sits in its panes.
fn has_tmux() -> bool {
    has_program("tmux") && has_program("ps")
}

/// Bubblewrap is here, and may do its work.
fn has_wall() -> bool {
    has_program("bwrap")
        && Command::new("bwrap")
            .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
            .args(["--unshare-user", "--unshare-pid", "--unshare-net", "true"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// The kernel has Landlock, in a version that lets files be moved; Python asks
/// it, since this script has no way of its own.
fn has_landlock() -> bool {
    let ask = "import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))";
    let version = Command::new("python3").args(["-c", ask]).output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = version
        .ok()
        .and_then(|text| text.trim().parse::<i64>().ok());
    cfg!(target_os = "linux") && version.is_some_and(|version| version >= 2)
}

/// Whether a command can be run as somebody else: root, with `setpriv`.
fn can_be_another_user() -> bool {
    let id = Command::new("setpriv")
        .args([
            "--reuid=65534", "--regid=65534", "--clear-groups", "id", "-u",
        ])
        .output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"65534")
}

/// A file system beside that of the temporary files, which we may write to.
#[cfg(unix)]
fn has_shm() -> bool {
    use std::os::unix::fs::MetadataExt;
    let shm = Path::new("/dev/shm");
    let device = |dir: &Path| std::fs::metadata(dir).map(|meta| meta.dev()).ok();
    if device(shm) == device(&std::env::temp_dir()) {
        return false;
    }
    let probe = shm.join(format!("ralph-needs-{}", std::process::id()));
    let written = std::fs::write(&probe, "").is_ok();
    let _ = std::fs::remove_file(&probe);
    written
}

#[cfg(not(unix))]
fn has_shm() -> bool {
    false
}

/// Git from 2.45 on.
fn has_reftable() -> bool {
    let Some(dir) = std::env::var_os("OUT_DIR") else {
        return false;
    };
    let place = PathBuf::from(dir).join("reftable");
    let created = Command::new("git")
        .args(["init", "-q", "--ref-format=reftable"])
        .arg(&place)
        .stderr(Stdio::null())
        .status();
    let _ = std::fs::remove_dir_all(place);
    created.is_ok_and(|status| status.success())
}

/// Tried where nobody sees it: in mounts of its own.
fn has_namespaces() -> bool {
    let refuse =
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all true";
    let worked = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    worked(&["-Urm", "true"]) && worked(&["-Ur", "sh", "-c", refuse])
}

fn may_mount() -> bool {
    let Some(dir) = std::env::var_os("OUT_DIR") else {
        return false;
    };
    let mount = Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "tmpfs"])
        .arg(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    mount.is_ok_and(|status| status.success())
}
