//! `cargo xtask tidy`: what lints can't say. The walls between the crates and
//! the manners of the tree (see the invariants in ARCHITECTURE.md).

mod exceptions;
mod imports;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use exceptions::{NOT_YET, TABLES};
use source::Source;

/// Every crate may speak.
const TEXTS: &str = "ralph-texts";

/// What each crate may depend on. A new line here is a decision.
const DEPENDENCIES: [(&str, &[&str]); 7] = [
    (
        "core",
        &[
            "jiff", "serde", "serde-saphyr", "serde_json", "sha2", "strum", "toml",
            "unicode-segmentation", "unicode-width",
        ],
    ),
    ("guard", &["ralph-core", "serde_json"]),
    (
        "store",
        &[
            "flate2", "ralph-core", "rustix", "serde_json", "sha2", "strum",
        ],
    ),
    (
        "engine",
        &[
            "ignore", "jiff", "landlock", "memchr", "ralph-core", "ralph-guard", "ralph-store",
            "rustix", "serde", "serde_json", "sha2", "strum", "tokio",
        ],
    ),
    // Only `cli` with the feature `fleet` has it.
    (
        "fleet",
        &[
            "async-nats", "futures-util", "nkeys", "ralph-core", "serde", "serde_json", "tokio",
        ],
    ),
    (
        "cli",
        &[
            "clap", "clap_complete", "clap_mangen", "crossterm", "ralph-core", "ralph-engine",
            "ralph-fleet", "ralph-guard", "ralph-store", "ratatui", "serde", "serde_json", "strum",
            "tokio",
        ],
    ),
    // For tests only: nothing above may name it.
    ("testkit", &["serde", "serde_json"]),
];

/// Files of the system, of a build, or of a place of our own.
const NEVER_A_PIPE: &[&str] = &[
    "crates/needs/src/lib.rs",
    "crates/texts/",
    "crates/testkit/",
    "crates/engine/src/supervise/",
    "crates/engine/src/clock.rs",
    "crates/cli/src/scripted",
    "crates/cli/src/commands/drill/",
    "crates/cli/src/commands/doctor/live.rs",
];

/// Words that may stand only in files whose path begins with one of these.
const ABSENT: [(&str, &str, &[&str]); 15] = [
    ("crates/core/src", "std::fs", &[]),
    ("crates/core/src", "std::net", &[]),
    ("crates/core/src", "std::process", &[]),
    ("crates/core/src", "std::env", &[]),
    ("crates/core/src", "SystemTime", &[]),
    ("crates/guard/src", "std::fs", &[]),
    ("crates/guard/src", "std::net", &[]),
    ("crates/guard/src", "std::process", &[]),
    ("crates/guard/src", "std::env", &[]),
    ("crates/guard/src", "SystemTime", &[]),
    (
        "crates",
        " unsafe {",
        &["crates/engine/src/supervise/unix.rs"],
    ),
    (
        "crates/engine/src",
        "Command::new",
        &[
            "crates/engine/src/supervise/",
            "crates/engine/src/git/apart.rs",
            // Behind the wall there is nothing to look after.
            "crates/engine/src/wall/inside.rs",
            "crates/engine/src/wall/tries.rs",
        ],
    ),
    // A pipe in the place of a file holds nobody up: `ralph_store::regular`.
    ("crates", "fs::read_to_string(", NEVER_A_PIPE),
    ("crates", "fs::read(", NEVER_A_PIPE),
    // What came from outside is made visible in one place.
    (
        "crates/cli/src",
        "stdout().lock()",
        &[
            "crates/cli/src/out.rs",
            "crates/cli/src/hook/",
            "crates/cli/src/scripted",
            // Lines of JSON, thousands of them.
            "crates/cli/src/commands/guard/test.rs",
        ],
    ),
];

/// A production file that is longer does a second thing.
const MAX_LINES: usize = 600;
/// So does a function.
const MAX_FUNCTION: usize = 80;

/// What a tree was found to break.
#[derive(Debug, Default)]
struct Findings {
    problems: Vec<String>,
    /// Exceptions that were needed.
    used: Vec<&'static str>,
}

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let findings = check(root);
    for (subject, _) in TABLES.iter().chain(NOT_YET) {
        if !findings.used.contains(subject) {
            println!("xtask/src/tidy/exceptions.rs: {subject} needs no exception");
        }
    }
    match findings.problems.is_empty() {
        true => Ok(()),
        false => Err(findings.problems),
    }
}

fn check(root: &Path) -> Findings {
    let mut findings = Findings::default();
    for (name, allowed) in DEPENDENCIES {
        check_dependencies(root, name, allowed, &mut findings.problems);
    }
    let files = tracked(root);
    if files.is_empty() {
        findings.problem("git lists no file: is this a checkout?".into());
    }
    // The production code of each crate.
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for file in &files {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else {
            continue;
        };
        check_paths(file, &text, &mut findings.problems);
        if !file.ends_with(".rs") || is_test(file) {
            continue;
        }
        let source = Source::read(&text);
        findings.check_source(file, &text, &source);
        if let Some((name, below)) = file.split_once("/src/") {
            let code = (below.to_owned(), source.code);
            crates.entry(name.to_owned()).or_default().push(code);
        }
    }
    for (name, files) in &crates {
        findings.check_circles(name, files);
    }
    findings.problems.extend(crate::texts::check(root));
    findings
}

fn is_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs")
}

fn tracked(root: &Path) -> Vec<String> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-co", "--exclude-standard"])
        .output();
    let listed = output
        .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
        .unwrap_or_default();
    listed.lines().map(str::to_owned).collect()
}

fn check_dependencies(root: &Path, name: &str, allowed: &[&str], problems: &mut Vec<String>) {
    let path = root.join("crates").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let manifest: toml::Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return problems.push(format!("{}: {error}", path.display())),
    };
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    for dependency in dependencies.into_iter().flatten().map(|(name, _)| name) {
        if dependency != TEXTS && !allowed.contains(&dependency.as_str()) {
            problems.push(format!("crates/{name} may not depend on {dependency}: see DEPENDENCIES in xtask/src/tidy/mod.rs"));
        }
    }
}

/// No path of somebody's machine is committed.
fn check_paths(file: &str, text: &str, problems: &mut Vec<String>) {
    let homes = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/ho", "me/runner"),
    ];
    for (number, line) in text.lines().enumerate() {
        if homes.iter().any(|home| line.contains(home)) {
            problems.push(format!("{file}:{}: a path of one machine", number + 1));
        }
    }
}

impl Findings {
    fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// A problem that an exception may excuse.
    fn unless_excused(&mut self, subject: &str, problem: String) {
        let mut exceptions = TABLES.iter().chain(NOT_YET);
        match exceptions.find(|(known, _)| *known == subject) {
            Some((known, _)) => self.used.push(known),
            None => self.problem(problem),
        }
    }

    fn check_source(&mut self, file: &str, text: &str, source: &Source) {
        if !text.starts_with("//!") {
            self.problem(format!(
                "{file}: begin with what the module is responsible for (//! …)"
            ));
        }
        let lines = source.lines;
        if lines > MAX_LINES {
            let problem = format!("{file}: {lines} lines; what is the second thing that it does?");
            self.unless_excused(file, problem);
        }
        for function in source.functions() {
            let source::Function { name, line, lines } = function;
            if lines > MAX_FUNCTION {
                let problem = format!(
                    "{file}:{line}: {name} has {lines} lines; what is the second thing that it does?"
                );
                self.unless_excused(&format!("{file} {name}"), problem);
            }
        }
        for (below, word, allowed) in ABSENT {
            let excused = allowed.iter().any(|prefix| file.starts_with(prefix));
            if file.starts_with(below) && !excused {
                self.check_absent(file, word, &source.code);
            }
        }
    }

    fn check_absent(&mut self, file: &str, word: &str, code: &str) {
        for (number, line) in code.lines().enumerate() {
            if line.contains(word) {
                self.problem(format!("{file}:{}: {word} may not stand here", number + 1));
            }
        }
        // `use std::{fs, io}` names it too.
        let spread = imports::uses(code);
        let names = |used: &imports::Use| {
            let path = used.path.join("::");
            path == word || path.starts_with(&format!("{word}::"))
        };
        if !code.contains(word) && spread.iter().any(names) {
            self.problem(format!("{file}: {word} may not be imported here"));
        }
    }

    fn check_circles(&mut self, name: &str, files: &[(String, String)]) {
        for circle in imports::circles(files) {
            let first = circle.first().cloned().unwrap_or_default();
            let problem = format!(
                "{name}/src: {} files need each other: {}",
                circle.len(),
                circle.join(", ")
            );
            self.unless_excused(&format!("circle {name}/src/{first}"), problem);
        }
    }
}
