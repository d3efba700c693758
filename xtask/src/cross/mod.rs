//! `cargo xtask cross`: the program for other systems, on Linux: checked,
//! linked, and run as far as an emulator goes, with a table of what was tried
//! and what was not.
//!
//! Debian has a compiler with the source of its standard library, which is
//! unpacked below `target/cross` and builds that for any target.

mod smoke;
mod toolchain;

use std::path::{Path, PathBuf};

use crate::{cargo, tools};
use toolchain::Toolchain;

/// A system that the program is built for from here.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub triple: &'static str,
    linker: Linker,
    runner: Runner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linker {
    /// From PyPI, with the libraries of every system.
    Zig,
    /// From Debian.
    Mingw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Native,
    Qemu,
    Wine,
    /// Nothing here can run it, and why.
    Nobody(&'static str),
}

pub const TARGETS: [Target; 4] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        linker: Linker::Zig,
        runner: Runner::Native,
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        linker: Linker::Zig,
        runner: Runner::Qemu,
    },
    Target {
        triple: "aarch64-apple-darwin",
        linker: Linker::Zig,
        runner: Runner::Nobody("a Mac is needed: sandbox-exec, clonefile and Homebrew too"),
    },
    Target {
        triple: "x86_64-pc-windows-gnu",
        linker: Linker::Mingw,
        runner: Runner::Wine,
    },
];

/// Those whose code is not what the tests here run.
const FOREIGN: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];

impl Target {
    pub fn named(triple: &str) -> Option<Target> {
        TARGETS.into_iter().find(|target| target.triple == triple)
    }

    pub fn program(&self) -> &'static str {
        match self.triple.contains("windows") {
            true => "ralph.exe",
            false => "ralph",
        }
    }
}

/// Checks the program, or with `tests` also everything that tests it.
pub fn check(root: &Path, tests: bool) -> Result<(), Vec<String>> {
    if tools::on_path("apt-get").is_none() {
        println!("SKIPPED: checking for other systems needs the packages of Debian");
        return Ok(());
    }
    let chain = Toolchain::get(root).map_err(|e| vec![e])?;
    chain.check(tests, &FOREIGN).map_err(|e| vec![e])?;
    println!("the types are right for {}", FOREIGN.join(" and "));
    Ok(())
}

/// Builds the program for a target, in a folder of `target/cross`; gives the
/// file.
pub fn build(root: &Path, target: Target, profile: &str, folder: &str) -> Result<PathBuf, String> {
    let chain = Toolchain::get(root)?;
    chain.get_linker(target)?;
    chain.build(target, profile, folder)
}

/// One line of the table.
struct Row {
    target: Target,
    checked: String,
    linked: String,
    ran: Vec<smoke::Tried>,
}

/// Checks, links and runs these targets, or all of them.
pub fn run(root: &Path, names: &[&str]) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    let mut chosen = Vec::new();
    for name in names {
        match Target::named(name) {
            Some(target) => chosen.push(target),
            None => problems.push(format!("no such target: {name}; {}", known())),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if chosen.is_empty() {
        chosen.extend(TARGETS);
    }
    let chain = Toolchain::get(root).map_err(|e| vec![e])?;
    let rows: Vec<Row> = chosen
        .into_iter()
        .map(|target| try_out(&chain, target, &mut problems))
        .collect();
    print_table(&rows);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

fn known() -> String {
    let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
    format!("there are {}", known.join(", "))
}

fn try_out(chain: &Toolchain, target: Target, problems: &mut Vec<String>) -> Row {
    let mut row = Row {
        target,
        checked: String::new(),
        linked: String::new(),
        ran: Vec::new(),
    };
    let triple = target.triple;
    let mut told = |what: &str, done: Result<(), String>| match done {
        Ok(()) => "yes".to_owned(),
        Err(problem) => {
            problems.push(format!("{triple}: {what}: {problem}"));
            "FAILED".to_owned()
        }
    };
    println!("== {triple}: building");
    let built = chain
        .get_linker(target)
        .and_then(|()| chain.build(target, "dev", "target"));
    let program = built.as_ref().ok().cloned();
    row.linked = told("link", built.map(drop));
    let Some(program) = program else {
        println!("== {triple}: checking");
        row.checked = told("check", chain.check(false, &[triple]));
        return row;
    };
    // What was linked was checked on the way there.
    row.checked = "yes".into();
    println!("== {triple}: running");
    match smoke::run(chain, target, &program) {
        Ok(ran) => {
            for one in &ran {
                if let smoke::Outcome::Failed(why) = &one.outcome {
                    problems.push(format!("{triple}: {}: {why}", one.what));
                }
            }
            row.ran = ran;
        }
        Err(problem) => problems.push(format!("{triple}: {problem}")),
    }
    row
}

fn print_table(rows: &[Row]) {
    println!("\n| target | type-check | link | run by | runs | untried |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let by = match row.target.runner {
            Runner::Native => "this machine",
            Runner::Qemu => "qemu-user",
            Runner::Wine => "Wine",
            Runner::Nobody(_) => "nobody",
        };
        let ran: Vec<String> = row.ran.iter().filter_map(smoke::Tried::in_words).collect();
        let mut untried: Vec<String> = row.ran.iter().filter_map(smoke::Tried::untried).collect();
        if let Runner::Nobody(why) = row.target.runner {
            untried.push(why.to_owned());
        }
        println!(
            "| {} | {} | {} | {by} | {} | {} |",
            row.target.triple,
            row.checked,
            row.linked,
            ran.join(", "),
            untried.join("; ")
        );
    }
    println!(
        "\nA real Mac and a real Windows are not here; .github/workflows/ci.yml would run the tests there."
    );
}

/// Where everything of this verb lies.
fn place(root: &Path) -> PathBuf {
    cargo::target(root).join("cross")
}
