//! `cargo xtask dist`: the program as it ships, what benches measure it
//! against, and the packages that people install.
//!
//! A static program starts in about half the time of a dynamic one, which
//! every hook call pays for. Not a static-pie: moving a program to a random
//! address means 10,000 relocations at each start, another quarter of the
//! time, for a program without memory errors to hide. The flags reach only
//! what is built for a named target, so that procedural macros stay dynamic.

mod archive;
mod attempt;
mod packages;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::cargo;
use crate::cross::{self, Target};
use archive::Entry;

const PROFILE: &str = "dist";
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";
const INSTALLER: &str = include_str!("../../../packaging/install.sh");
const SUMS: &str = "SHA256SUMS";

/// What is wanted of the packages.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// All of them where none is named.
    targets: Vec<String>,
    /// Only lists and formula over what lies there.
    gather: bool,
    check_reproducible: bool,
    /// Install what lies there, on bare systems.
    attempt: bool,
    /// Where the release will lie.
    base_url: Option<String>,
    profile: Option<String>,
    /// A program that is there already, to be packed as it is.
    program: Option<PathBuf>,
}

impl Options {
    pub fn parse(args: &[&str]) -> Option<Options> {
        let mut options = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--gather" => options.gather = true,
                "--check-reproducible" => options.check_reproducible = true,
                "--try" => options.attempt = true,
                "--target" => options.targets.push((*args.next()?).to_owned()),
                "--base-url" => options.base_url = Some((*args.next()?).to_owned()),
                "--profile" => options.profile = Some((*args.next()?).to_owned()),
                "--program" => options.program = Some(args.next()?.into()),
                _ => return None,
            }
        }
        Some(options)
    }

    fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or(PROFILE)
    }
}

/// What all packages of a version share.
pub struct Release {
    version: String,
    /// That of the commit, in seconds since 1970: a build has no other.
    time: u64,
    papers: Vec<Entry>,
    man: Vec<Entry>,
    completions: Vec<Entry>,
}

/// The program for one target.
pub struct Build {
    triple: String,
    program: Vec<u8>,
    sbom: String,
}

impl Build {
    fn of(root: &Path, target: Target, file: &Path) -> Result<Build, String> {
        Ok(Build {
            triple: target.triple.to_owned(),
            program: fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?,
            sbom: sbom::of(root, target.triple)?,
        })
    }

    fn file_name(&self) -> &'static str {
        match self.triple.contains("windows") {
            true => "ralph.exe",
            false => "ralph",
        }
    }
}

/// Makes the packages, tries them, or both.
pub fn run(root: &Path, options: &Options) -> Result<(), Vec<String>> {
    let folder = cargo::target(root).join("packages");
    let one = |problem: String| vec![problem];
    if options.attempt {
        return attempt::run(root, &folder);
    }
    if !options.gather {
        make(root, options, &folder).map_err(one)?;
    }
    gather(root, options, &folder).map_err(one)
}

fn make(root: &Path, options: &Options, folder: &Path) -> Result<(), String> {
    let release = Release::of(root)?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let chosen = match options.targets.is_empty() {
        true => cross::TARGETS.to_vec(),
        false => options
            .targets
            .iter()
            .map(|name| Target::named(name).ok_or_else(|| format!("no such target: {name}")))
            .collect::<Result<_, _>>()?,
    };
    for target in chosen {
        let triple = target.triple;
        println!("== {triple}");
        let build = match &options.program {
            Some(program) => Build::of(root, target, program)?,
            None => build_for(root, target, options.profile(), "target")?,
        };
        let made = packages::all(&release, &build)?;
        if options.check_reproducible {
            let again = build_for(root, target, options.profile(), "again")?;
            if again.program != build.program {
                return Err(format!("{triple}: two builds gave two programs"));
            }
            if packages::all(&Release::of(root)?, &again)? != made {
                return Err(format!("{triple}: the same program was packed in two ways"));
            }
            println!("{triple}: two builds in two folders, the same bytes");
        }
        for (name, bytes) in made {
            write(&folder.join(name), &bytes)?;
        }
    }
    let (name, bytes) = packages::launcher(&release)?;
    write(&folder.join(name), &bytes)
}

fn build_for(root: &Path, target: Target, profile: &str, folder: &str) -> Result<Build, String> {
    let file = cross::build(root, target, profile, folder)?;
    Build::of(root, target, &file)
}

/// What is made from all that lies there: checksums, formula, installer.
fn gather(root: &Path, options: &Options, folder: &Path) -> Result<(), String> {
    let version = version(root)?;
    write(
        &folder.join("install.sh"),
        INSTALLER.replace("@VERSION@", &version).as_bytes(),
    )?;
    let local = format!("file://{}", folder.display());
    let base_url = options.base_url.as_deref().unwrap_or(&local);
    let formula = packages::formula(&version, base_url, &sums(folder)?);
    write(&folder.join("ralph-loop.rb"), formula.as_bytes())?;
    let sums = sums(folder)?;
    let list: String = sums
        .iter()
        .map(|(name, sum)| format!("{sum}  {name}\n"))
        .collect();
    write(&folder.join(SUMS), list.as_bytes())?;
    for (name, sum) in &sums {
        let size = fs::metadata(folder.join(name)).map_or(0, |found| found.len());
        println!("{size:>10}  {}  {name}", &sum[..16]);
    }
    println!("{}", folder.display());
    Ok(())
}

/// The name and the checksum of every file that people download.
fn sums(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut sums = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == SUMS || !entry.path().is_file() {
            continue;
        }
        let bytes = fs::read(entry.path()).map_err(failed)?;
        let sum = Sha256::digest(bytes);
        let sum = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        sums.push((name, sum));
    }
    sums.sort();
    Ok(sums)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

impl Release {
    /// The program's own account of itself is asked of a build for this
    /// machine: it is the same for every other.
    fn of(root: &Path) -> Result<Release, String> {
        let ralph = cargo::debug_ralph(root)?;
        let mut papers = Vec::new();
        for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            let bytes = fs::read(root.join(name)).map_err(|e| format!("{name}: {e}"))?;
            papers.push(Entry::new(name, bytes));
        }
        Ok(Release {
            version: version(root)?,
            time: time(root),
            papers,
            man: man_pages(&ralph)?,
            completions: completions(&ralph)?,
        })
    }
}

fn man_pages(ralph: &Path) -> Result<Vec<Entry>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    cargo::succeed(Command::new(ralph).arg("man").arg(dir.path()))?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(dir.path())
        .map_err(|e| e.to_string())?
        .flatten()
    {
        let bytes = fs::read(entry.path()).map_err(|e| e.to_string())?;
        pages.push(Entry::new(entry.file_name().to_string_lossy(), bytes));
    }
    Ok(pages)
}

const SHELLS: [(&str, &str); 4] = [
    ("bash", "ralph.bash"),
    ("zsh", "_ralph"),
    ("fish", "ralph.fish"),
    ("powershell", "_ralph.ps1"),
];

fn completions(ralph: &Path) -> Result<Vec<Entry>, String> {
    let one = |(shell, file): (&str, &str)| {
        let told = Command::new(ralph).args(["completions", shell]).output();
        let told = told.map_err(|e| e.to_string())?;
        Ok(Entry::new(file, told.stdout))
    };
    SHELLS.into_iter().map(one).collect()
}

/// The version of the workspace.
fn version(root: &Path) -> Result<String, String> {
    let text = fs::read_to_string(root.join("Cargo.toml")).map_err(|e| e.to_string())?;
    let manifest: toml::Table = text.parse().map_err(|e| format!("Cargo.toml: {e}"))?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("version")?.as_str());
    version
        .map(str::to_owned)
        .ok_or_else(|| "Cargo.toml tells no version".into())
}

/// That of the commit; none where the tree is no clone.
fn time(root: &Path) -> u64 {
    let told = asked_of_git(root, &["log", "-1", "--format=%ct"]);
    told.and_then(|told| told.parse().ok()).unwrap_or(0)
}

/// The commit that is built; none where the tree is no clone.
pub fn commit(root: &Path) -> Option<String> {
    asked_of_git(root, &["rev-parse", "--short=12", "HEAD"])
}

fn asked_of_git(root: &Path, args: &[&str]) -> Option<String> {
    let git = Command::new("git").current_dir(root).args(args).output();
    let git = git.ok().filter(|git| git.status.success())?;
    let told = String::from_utf8_lossy(&git.stdout).trim().to_owned();
    (!told.is_empty()).then_some(told)
}

/// Builds these packages as they ship, for this machine; gives the folder of
/// their programs.
pub fn build(root: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let triple = host()?;
    let mut command = cargo::command(root);
    command.args([
        "build", "--quiet", "--profile", PROFILE, "--target", &triple,
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

/// The variable with the flags of one target.
pub fn flags_variable(triple: &str) -> String {
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

    #[test]
    fn options_are_understood_or_refused() {
        let all = Options::parse(&["--target", "a", "--target", "b", "--check-reproducible"]);
        let all = all.unwrap();
        assert_eq!(all.targets, ["a", "b"]);
        assert!(all.check_reproducible && !all.attempt);
        assert_eq!(all.profile(), "dist");
        assert_eq!(Options::parse(&["--target"]), None);
        assert_eq!(Options::parse(&["--nothing"]), None);
    }

    /// Every target that is built can be packed.
    #[test]
    fn every_target_has_its_names() {
        for target in cross::TARGETS {
            assert!(packages::Names::of(target.triple).is_some(), "{target:?}");
        }
    }
}
