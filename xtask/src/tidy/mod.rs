//! What lints can't say: the walls between the crates and the manners of the
//! tree (see the invariants in ARCHITECTURE.md).

use std::path::Path;
use std::process::Command;

/// What each crate may depend on. A new line here is a decision.
const DEPENDENCIES: [(&str, &[&str]); 6] = [
    (
        "core",
        &[
            "jiff",
            "ralph-texts",
            "serde",
            "serde-saphyr",
            "serde_json",
            "sha2",
            "strum",
            "toml",
            "unicode-segmentation",
            "unicode-width",
        ],
    ),
    ("guard", &["ralph-core", "serde_json"]),
    ("store", &["ralph-core", "serde_json"]),
    (
        "engine",
        &[
            "ignore",
            "jiff",
            "memchr",
            "ralph-core",
            "ralph-store",
            "rustix",
            "serde",
            "serde_json",
            "sha2",
            "tokio",
        ],
    ),
    (
        "cli",
        &[
            "clap",
            "clap_complete",
            "clap_mangen",
            "crossterm",
            "ralph-core",
            "ralph-engine",
            "ralph-guard",
            "ralph-store",
            "ratatui",
            "serde",
            "serde_json",
            "tokio",
        ],
    ),
    // For tests only: nothing above may name it.
    ("testkit", &["serde", "serde_json"]),
];

/// Words that may stand only in files whose path begins with one of these.
const ABSENT: [(&str, &str, &[&str]); 12] = [
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
        &["crates/engine/src/supervise/", "crates/engine/src/git.rs"],
    ),
];

/// A production file that is longer does a second thing.
const MAX_LINES: usize = 700;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    for (name, allowed) in DEPENDENCIES {
        check_dependencies(root, name, allowed, &mut problems);
    }
    let files = tracked(root);
    if files.is_empty() {
        problems.push("git lists no file: is this a checkout?".into());
    }
    for file in &files {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else {
            continue;
        };
        check_paths(file, &text, &mut problems);
        if file.ends_with(".rs") {
            check_source(file, &text, &mut problems);
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
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
        if !allowed.contains(&dependency.as_str()) {
            problems.push(format!("crates/{name} may not depend on {dependency}: see DEPENDENCIES in xtask/src/tidy.rs"));
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

fn check_source(file: &str, text: &str, problems: &mut Vec<String>) {
    let is_test = file.contains("/tests") || file.ends_with("tests.rs");
    if !is_test && !text.starts_with("//!") {
        problems.push(format!(
            "{file}: begin with what the module is responsible for (//! …)"
        ));
    }
    let production = text.split("#[cfg(test)]").next().unwrap_or(text);
    if is_test {
        return;
    }
    let lines = production.lines().count();
    if lines > MAX_LINES {
        problems.push(format!(
            "{file}: {lines} lines; what is the second thing that it does?"
        ));
    }
    for (below, word, allowed) in ABSENT {
        let applies =
            file.starts_with(below) && !allowed.iter().any(|prefix| file.starts_with(prefix));
        let code = production
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in code.filter(|_| applies) {
            if line.contains(word) {
                problems.push(format!("{file}:{}: {word} may not stand here", number + 1));
            }
        }
    }
}
