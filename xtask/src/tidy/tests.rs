//! Each rule is broken on purpose, once.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{DEPENDENCIES, MAX_FUNCTION, MAX_LINES, check};

/// A tree that breaks nothing.
fn clean() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut init = Command::new("git");
    init.args(["init", "-q"]).arg(dir.path());
    assert!(init.status().unwrap().success());
    for (name, _) in DEPENDENCIES {
        let manifest = "[dependencies]\nralph-texts = \"0\"\n";
        write(dir.path(), &format!("crates/{name}/Cargo.toml"), manifest);
        let file = format!("crates/{name}/src/lib.rs");
        write(dir.path(), &file, "//! A crate.\n\nmod inner;\n");
        let file = format!("crates/{name}/src/inner.rs");
        write(dir.path(), &file, INNER);
    }
    dir
}

const INNER: &str = "//! Its inside; it names std::fs only here: \"std::fs\".
pub fn name() -> &'static str {
    \"std::fs\"
}

#[cfg(test)]
mod tests {
    use std::fs;
}
";

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_clean_tree_passes() {
    assert_eq!(check(clean().path()).problems, [""; 0]);
}

/// The clean tree with one file more has just this problem.
fn broken(file: &str, text: &str, want: &str) {
    let dir = clean();
    write(dir.path(), file, text);
    let problems = check(dir.path()).problems;
    assert_eq!(problems.len(), 1, "{file}: {problems:?}");
    assert!(problems[0].contains(want), "{file}: {problems:?}");
}

/// The same file breaks nothing.
fn fine(file: &str, text: &str) {
    let dir = clean();
    write(dir.path(), file, text);
    assert_eq!(check(dir.path()).problems, [""; 0], "{file}");
}

#[test]
fn walls_between_crates_hold() {
    let manifest = "[dependencies]\nralph-engine = \"0\"\n";
    broken(
        "crates/core/Cargo.toml",
        manifest,
        "may not depend on ralph-engine",
    );
    broken(
        "crates/store/Cargo.toml",
        "no manifest",
        "crates/store/Cargo.toml",
    );
    fine("crates/cli/Cargo.toml", manifest);
}

#[test]
fn words_are_absent_behind_the_first_tests_too() {
    let file = "crates/core/src/a.rs";
    let behind = "//! A.\n#[cfg(test)]\nmod tests;\nuse std::fs;\n";
    broken(file, behind, "a.rs:4: std::fs may not stand here");
    broken(
        file,
        "//! A.\nuse std::{fs, io};\n",
        "std::fs may not be imported",
    );
    fine(file, "//! A.\n// std::fs\n#[cfg(test)]\nuse std::fs;\n");
    fine("crates/store/src/a.rs", behind);
    let start = "//! A.\nfn a() { std::process::Command::new(\"git\"); }\n";
    broken("crates/engine/src/a.rs", start, "Command::new");
    fine("crates/engine/src/supervise/a.rs", start);
}

#[test]
fn modules_say_what_they_are_for() {
    broken("crates/core/src/a.rs", "fn a() {}\n", "responsible for");
    fine("crates/core/tests/a.rs", "fn a() {}\n");
}

#[test]
fn no_machine_is_named() {
    let text = concat!("Look at /ho", "me/runner/x.\n");
    broken("README.md", text, "README.md:1: a path of one machine");
}

#[test]
fn files_and_functions_have_an_end() {
    let file = "crates/core/src/a.rs";
    let lines = |n: usize| "const A: u8 = 1;\n".repeat(n);
    fine(file, &format!("//! A.\n{}", lines(MAX_LINES - 1)));
    broken(file, &format!("//! A.\n{}", lines(MAX_LINES)), "601 lines");
    // Tests first, production behind them.
    let tests = "#[cfg(test)]\nmod tests { const X: &str = \"}\"; }\n";
    broken(
        file,
        &format!("//! A.\n{tests}{}", lines(MAX_LINES + 1)),
        "lines",
    );
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(MAX_LINES));
    fine(file, &format!("//! A.\n{tests}"));
    let function = |n: usize| format!("//! A.\nfn long() {{\n{}}}\n", "    a();\n".repeat(n));
    fine(file, &function(MAX_FUNCTION - 2));
    broken(
        file,
        &function(MAX_FUNCTION - 1),
        "a.rs:2: long has 81 lines",
    );
}

#[test]
fn four_files_do_not_need_each_other() {
    let dir = clean();
    for (file, next) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")] {
        let text = format!("//! One.\nuse crate::{next}::X;\npub struct X;\n");
        write(dir.path(), &format!("crates/core/src/{file}.rs"), &text);
    }
    let problems = check(dir.path()).problems;
    assert_eq!(
        problems,
        ["crates/core/src: 4 files need each other: a.rs, b.rs, c.rs, d.rs"]
    );
    write(
        dir.path(),
        "crates/core/src/d.rs",
        "//! One.\npub struct X;\n",
    );
    assert_eq!(check(dir.path()).problems, [""; 0]);
}

#[test]
fn no_checkout_is_a_problem() {
    let dir = clean();
    fs::remove_dir_all(dir.path().join(".git")).unwrap();
    assert!(check(dir.path()).problems[0].contains("is this a checkout?"));
}
