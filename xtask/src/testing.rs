//! `cargo xtask test`: gets what the tests need, runs them all, and ends with
//! one table in which a skip is told with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{cargo, tools};

/// Starts the rest of its words with a place for temporary files that is in
/// memory and that nobody else sees: `sh -c SCRIPT sh PLACE PROGRAM ARGS…`.
const IN_MEMORY: &str = r#"
mount -t tmpfs -o mode=1777 tests "$1" || exit
export TMPDIR="$1"; shift
exec "$@"
"#;

/// A test binary and a test in it.
type Name = (String, String);

/// What became of every test.
#[derive(Debug, Default)]
struct Results {
    passed: BTreeSet<Name>,
    failed: BTreeSet<Name>,
    /// With the reason.
    skipped: BTreeMap<Name, String>,
}

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let path = tools::get(root);
    let has_nextest = cargo::command(root)
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    let mut results = Results::default();
    let outcome = match has_nextest {
        true => nextest(root, &path, &mut results),
        false => plain(root, &path, &[], &mut results),
    };
    print!("\n{}", results.table());
    match (outcome, results.failed.is_empty()) {
        (Ok(()), true) => Ok(()),
        (Err(problem), true) => Err(vec![problem]),
        // The table has said it, and is the end.
        (_, false) => Err(Vec::new()),
    }
}

/// Every test in a process of its own. It knows no doc tests and no reasons.
fn nextest(root: &Path, path: &OsStr, results: &mut Results) -> Result<(), String> {
    // It goes when the tests have ended.
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let calls_cargo = match in_memory(place.path(), "true").output() {
        Ok(output) if output.status.success() => in_memory(place.path(), "cargo"),
        // Only root can, on Linux.
        _ => Command::new("cargo"),
    };
    let mut command = cargo::in_checkout(calls_cargo, root);
    command
        .args(["nextest", "run", "--no-fail-fast"])
        .args(cargo::EVERYTHING)
        // Many tests wait: for a limit, for a grace, for a child.
        .args(["--test-threads", &(threads() + 2).to_string()])
        .args(["--color", "never", "--status-level", "all"])
        .args(["--final-status-level", "none"])
        .env("PATH", path)
        .stderr(Stdio::piped());
    let ran = watch(&mut command, |line| {
        if let Some((word, name)) = read_nextest(line) {
            results.count(word, name);
        }
    });
    let explained = reasons(root, path, results);
    let documented = match has_doc_tests(root) {
        true => plain(root, path, &["--doc"], results),
        false => Ok(()),
    };
    ran.and(explained).and(documented)
}

fn in_memory(place: &Path, program: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", IN_MEMORY, "sh"])
        .arg(place)
        .arg(program);
    command
}

/// Looking for them by compiling every crate once more takes a minute.
fn has_doc_tests(root: &Path) -> bool {
    let mut command = Command::new("git");
    command.current_dir(root).args(["grep", "-qE"]);
    let found = command.args(["^ *//[/!] ?```", "--", "*.rs"]).status();
    // Who can't look has to try.
    found.map_or(true, |status| status.code() != Some(1))
}

/// `cargo test`, as anybody runs it.
fn plain(root: &Path, path: &OsStr, more: &[&str], results: &mut Results) -> Result<(), String> {
    let mut command = cargo::command(root);
    command
        .args(["test", "--no-fail-fast"])
        .args(cargo::EVERYTHING)
        .args(more)
        .env("PATH", path)
        .env("CARGO_TERM_COLOR", "never")
        .stdout(Stdio::piped());
    // Cargo names the binary on its standard error, its tests come on the
    // standard output: one pipe keeps them in order.
    let mut binary = String::new();
    watch_both(&mut command, |line| {
        if let Some(name) = read_binary(line) {
            binary = name;
        } else if let Some((word, test, reason)) = read_libtest(line) {
            results.note(word, (binary.clone(), test), reason);
        }
    })
}

/// Runs a command whose standard error is read line by line and shown.
fn watch(command: &mut Command, mut each: impl FnMut(&str)) -> Result<(), String> {
    let what = format!("{command:?}");
    let mut child = command.spawn().map_err(|e| format!("{what}: {e}"))?;
    let lines = child.stderr.take().map(BufReader::new);
    for line in lines.into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(|e| e.to_string())?;
        eprintln!("{line}");
        each(&line);
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("cargo ended with {status}")),
    }
}

/// The same with both outputs in one pipe.
fn watch_both(command: &mut Command, mut each: impl FnMut(&str)) -> Result<(), String> {
    let (reader, writer) = std::io::pipe().map_err(|e| e.to_string())?;
    let errors = writer.try_clone().map_err(|e| e.to_string())?;
    let mut child = command
        .stdout(writer)
        .stderr(errors)
        .spawn()
        .map_err(|e| e.to_string())?;
    // Our ends of the pipe, or it never ends.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for line in BufReader::new(reader).lines() {
        let line = line.map_err(|e| e.to_string())?;
        println!("{line}");
        each(&line);
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("cargo ended with {status}")),
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// `        PASS [   0.018s] (   1/1636) ralph-core text::wraps`
fn read_nextest(line: &str) -> Option<(&str, Name)> {
    let (word, rest) = line.trim_start().split_once(' ')?;
    let known = ["PASS", "FAIL", "LEAK", "TIMEOUT", "ABORT", "SKIP"].contains(&word);
    if !known && !word.starts_with("SIG") {
        return None;
    }
    let (time, rest) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    if word != "SKIP" && !time.trim_end().ends_with('s') {
        return None;
    }
    // Counted as `( 12/345)`, or `(─────)` where nothing ran.
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let (binary, test) = rest.split_once(' ')?;
    Some((word, (binary.to_owned(), test.trim().to_owned())))
}

/// `     Running unittests src/lib.rs (target/debug/deps/ralph_core-1a2b)`
fn read_binary(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} (doc)"));
    }
    let (_, file) = line.strip_prefix("Running ")?.rsplit_once(" (")?;
    let stem = file.strip_suffix(')')?.rsplit(['/', '\\']).next()?;
    Some(stem.rsplit_once('-')?.0.to_owned())
}

/// `test disk::fills ... ignored, needs root`
fn read_libtest(line: &str) -> Option<(&'static str, String, &str)> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (word, reason) = match outcome.split_once(", ").unwrap_or((outcome, "")) {
        ("ok", _) => ("PASS", ""),
        ("FAILED", _) => ("FAIL", ""),
        ("ignored", reason) => ("SKIP", reason),
        _ => return None,
    };
    Some((word, name.to_owned(), reason))
}

/// Asks the binaries why they ignore what they ignore: a binary that is asked
/// for an ignored test by name runs nothing and says the reason.
fn reasons(root: &Path, path: &OsStr, results: &mut Results) -> Result<(), String> {
    let list = cargo::command(root)
        .args(["nextest", "list", "--message-format", "json"])
        .args(cargo::EVERYTHING)
        .env("PATH", path)
        .stderr(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let list: Value = serde_json::from_slice(&list.stdout).map_err(|e| e.to_string())?;
    let suites = list["rust-suites"].as_object().into_iter().flatten();
    for (id, suite) in suites {
        let cases = suite["testcases"].as_object().into_iter().flatten();
        let ignored: Vec<&String> = cases
            .filter(|(_, case)| case["ignored"] == true)
            .map(|(name, _)| name)
            .collect();
        let (Some(binary), false) = (suite["binary-path"].as_str(), ignored.is_empty()) else {
            continue;
        };
        let asked = Command::new(binary).arg("--exact").args(ignored).output();
        let told = asked.map_err(|e| format!("{binary}: {e}"))?.stdout;
        for line in String::from_utf8_lossy(&told).lines() {
            if let Some((word @ "SKIP", test, reason)) = read_libtest(line) {
                results.note(word, (id.clone(), test), reason);
            }
        }
    }
    Ok(())
}

impl Results {
    fn count(&mut self, word: &str, name: Name) {
        self.note(word, name, "no reason given");
    }

    fn note(&mut self, word: &str, name: Name, reason: &str) {
        match word {
            // A leak is a process that is left: ours look for those themselves.
            "PASS" | "LEAK" => {
                self.passed.insert(name);
            }
            "SKIP" => {
                self.skipped.insert(name, reason.to_owned());
            }
            _ => {
                self.failed.insert(name);
            }
        }
    }

    fn table(&self) -> String {
        let of = |names: &mut dyn Iterator<Item = &Name>| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            names.for_each(|(binary, _)| *counts.entry(binary.clone()).or_default() += 1);
            counts
        };
        let columns = [
            of(&mut self.passed.iter()),
            of(&mut self.failed.iter()),
            of(&mut self.skipped.keys()),
        ];
        let binaries: BTreeSet<&String> = columns.iter().flat_map(BTreeMap::keys).collect();
        let row = |name: &str, cells: [&str; 3]| {
            let [passed, failed, skipped] = cells;
            format!("{name:<28}{passed:>8}{failed:>8}{skipped:>9}\n")
        };
        let mut table = row("tests of", ["passed", "failed", "skipped"]);
        for binary in binaries {
            let cells = columns.each_ref().map(|column| column.get(binary));
            let cells = cells.map(|count| count.copied().unwrap_or(0).to_string());
            table.push_str(&row(binary, cells.each_ref().map(String::as_str)));
        }
        for (binary, test) in &self.failed {
            table.push_str(&format!("failed   {binary} {test}\n"));
        }
        for ((binary, test), reason) in &self.skipped {
            table.push_str(&format!("skipped  {binary} {test}: {reason}\n"));
        }
        table.push_str(&format!(
            "{} passed, {} failed, {} skipped\n",
            self.passed.len(),
            self.failed.len(),
            self.skipped.len()
        ));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_nextest_are_read() {
        let check = |line: &str, want: Option<(&str, &str, &str)>| {
            let got = read_nextest(line);
            let got = got.as_ref().map(|(w, (b, t))| (*w, b.as_str(), t.as_str()));
            assert_eq!(got, want, "{line}");
        };
        let line = "        PASS [   0.512s] (1023/1636) ralph-loop::cli bad_input::a_config";
        check(
            line,
            Some(("PASS", "ralph-loop::cli", "bad_input::a_config")),
        );
        let line = "     SIGABRT [   0.512s] (1/2) ralph-core text::x";
        check(line, Some(("SIGABRT", "ralph-core", "text::x")));
        let line = "        SKIP [         ] (─────────) ralph-store::processes helper";
        check(line, Some(("SKIP", "ralph-store::processes", "helper")));
        check("        SLOW [> 60.000s] (─────) ralph-core x", None);
        check("     Summary [ 620.344s] 1636 tests run: 1594 passed", None);
        check("   Compiling ralph-core v0.1.0", None);
    }

    #[test]
    fn lines_of_libtest_are_read() {
        assert_eq!(
            read_libtest("test disk::fills ... ignored, needs root"),
            Some(("SKIP", "disk::fills".into(), "needs root"))
        );
        assert_eq!(
            read_libtest("test a ... ok"),
            Some(("PASS", "a".into(), ""))
        );
        assert_eq!(
            read_libtest("test a ... FAILED"),
            Some(("FAIL", "a".into(), ""))
        );
        assert_eq!(read_libtest("test result: ok. 3 passed"), None);
        let line = "     Running unittests src/lib.rs (target/debug/deps/ralph_core-1a2b)";
        assert_eq!(read_binary(line).as_deref(), Some("ralph_core"));
        assert_eq!(
            read_binary("   Doc-tests ralph_core").as_deref(),
            Some("ralph_core (doc)")
        );
    }

    #[test]
    fn the_table_tells_every_skip_and_ends_with_the_sum() {
        let mut results = Results::default();
        let name = |test: &str| ("ralph-core".to_owned(), test.to_owned());
        results.note("PASS", name("a"), "");
        results.note("FAIL", name("b"), "");
        results.count("SKIP", name("c"));
        results.note("SKIP", name("c"), "needs gh");
        assert_eq!(
            results.table(),
            "tests of                      passed  failed  skipped\n\
             ralph-core                         1       1        1\n\
             failed   ralph-core b\n\
             skipped  ralph-core c: needs gh\n\
             1 passed, 1 failed, 1 skipped\n"
        );
    }
}
