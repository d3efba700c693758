//! What a check proves, and what its output says about failures that were
//! there before the work began.

pub mod canary;
pub mod edits;
mod exits;
pub mod files;
pub mod inline;
pub mod judges;
pub mod level;
pub mod manifest;
mod scripts;
pub mod shadows;
mod takers;
pub mod tally;
pub mod trial;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::level::{AskedProof, EvidenceLevel, meant_by};
pub use self::takers::typed;
pub use self::trial::{Experiment, Scale, Trial, Unshown, Verdict, Weighed};
use crate::machine::CommandResult;

/// What Ralph saw of one task, so that its tick stands (the journal has the
/// event that it is made from).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProof {
    /// The turn after which it was checked.
    pub turn: u32,
    /// Fingerprint of the contents that were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    pub commands: Vec<ProvenCommand>,
    /// Journals of before know of no levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<EvidenceLevel>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenCommand {
    pub command: String,
    pub exit: Option<i32>,
    pub duration_ms: u64,
    /// Digest of its whole output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// It failed as it had failed before the work began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
}

impl From<&CommandResult> for ProvenCommand {
    fn from(result: &CommandResult) -> ProvenCommand {
        ProvenCommand {
            command: result.command.clone(),
            exit: result.exit,
            duration_ms: result.duration_ms,
            digest: result.digest.clone(),
            known: result.known,
        }
    }
}

/// Failures that were there before: what failed on which contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    #[serde(default)]
    pub tree: Option<String>,
    /// The commands that failed.
    pub failing: BTreeMap<String, Failure>,
}

/// How a command failed, without what differs from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub exit: Option<i32>,
    /// The tests that failed, where the output names them.
    #[serde(default)]
    pub tests: BTreeSet<String>,
    /// Its output without numbers, for where it does not.
    #[serde(default)]
    pub output: String,
}

impl Baseline {
    /// Whether this failure is no worse than the one that was there before:
    /// the same tests or fewer, or else the same output.
    pub fn knows(&self, command: &str, now: &Failure) -> bool {
        let Some(before) = self.failing.get(command) else {
            return false;
        };
        if now.exit.is_none() || before.exit != now.exit {
            return false;
        }
        if now.tests.is_empty() || before.tests.is_empty() {
            return now.tests == before.tests && now.output == before.output;
        }
        now.tests.is_subset(&before.tests)
    }
}

/// The test that a line of output says has failed.
pub fn failing_test(line: &str) -> Option<String> {
    let line = line.trim();
    // cargo: `test a::b ... FAILED`
    if let Some(name) = line
        .strip_prefix("test ")
        .and_then(|l| l.strip_suffix("... FAILED"))
    {
        return some(name);
    }
    // pytest: `FAILED tests/a.py::test_b - AssertionError`
    if let Some(rest) = line
        .strip_prefix("FAILED ")
        .or_else(|| line.strip_prefix("ERROR "))
        && rest.contains("::")
    {
        return some(rest.split(" - ").next().unwrap_or(rest));
    }
    // unittest: `FAIL: test_a (test_x.TestX.test_a)`
    if let Some(rest) = line
        .strip_prefix("FAIL: ")
        .or_else(|| line.strip_prefix("ERROR: "))
        && rest.ends_with(')')
    {
        return some(rest);
    }
    // automake, and scripts: `FAIL: name`
    if let Some(rest) = line.strip_prefix("FAIL: ") {
        return some(rest);
    }
    // go: `--- FAIL: TestA (0.00s)`
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return some(rest.split(" (").next().unwrap_or(rest));
    }
    // TAP: `not ok 3 - name`
    if let Some(rest) = line.strip_prefix("not ok ") {
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ' ' | '-'));
        return some(name.split(" # ").next().unwrap_or(name));
    }
    // jest, vitest, mocha: `✕ name (3 ms)`, `× file > name 3ms`
    let crossed = ["✕ ", "× ", "✗ ", "✖ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    crossed.and_then(|rest| {
        let rest = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
        some(without_time(rest))
    })
}

fn some(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// `name 3ms` → `name`.
fn without_time(name: &str) -> &str {
    match name.rsplit_once(' ') {
        Some((rest, last))
            if last.ends_with("ms") && last.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            rest
        }
        _ => name,
    }
}

/// A line without what differs from run to run: numbers and colours.
pub fn normal_line(line: &str) -> String {
    let mut normal = String::with_capacity(line.len());
    let mut in_number = false;
    for c in line.trim_end().chars() {
        let is_digit = c.is_ascii_digit();
        if is_digit && !in_number {
            normal.push('#');
        } else if !is_digit && !c.is_control() {
            normal.push(c);
        }
        in_number = is_digit;
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_tests_are_named_by_the_usual_tools() {
        for (line, want) in [
            ("test a::b ... FAILED", Some("a::b")),
            ("test a::b ... ok", None),
            (
                "FAILED tests/a.py::test_b - AssertionError: x",
                Some("tests/a.py::test_b"),
            ),
            ("FAILED (failures=1)", None),
            ("FAIL: sub", Some("sub")),
            (
                "FAIL: test_a (test_x.X.test_a)",
                Some("test_a (test_x.X.test_a)"),
            ),
            ("    --- FAIL: TestA/sub (0.01s)", Some("TestA/sub")),
            ("not ok 3 - adds numbers", Some("adds numbers")),
            ("  ✕ adds numbers (12 ms)", Some("adds numbers")),
            (" × src/a.test.ts > adds 3ms", Some("src/a.test.ts > adds")),
            ("all fine", None),
        ] {
            assert_eq!(failing_test(line).as_deref(), want, "{line}");
        }
    }

    #[test]
    fn baseline_knows_the_same_failure_and_no_other() {
        let failure = |tests: &[&str], output: &str| Failure {
            exit: Some(1),
            tests: tests.iter().map(|t| (*t).to_owned()).collect(),
            output: output.into(),
        };
        let before = |failure: Failure| Baseline {
            tree: None,
            failing: [("t".to_owned(), failure)].into(),
        };
        let named = before(failure(&["a", "b"], "x"));
        assert!(named.knows("t", &failure(&["a", "b"], "y")));
        assert!(named.knows("t", &failure(&["a"], "y")));
        assert!(!named.knows("t", &failure(&["a", "c"], "x")));
        assert!(!named.knows("t", &failure(&[], "x")));
        assert!(!named.knows("u", &failure(&["a"], "x")));
        let timed_out = Failure {
            exit: None,
            ..failure(&["a"], "x")
        };
        assert!(!named.knows("t", &timed_out));
        let unnamed = before(failure(&[], "x"));
        assert!(unnamed.knows("t", &failure(&[], "x")));
        assert!(!unnamed.knows("t", &failure(&[], "y")));
    }

    #[test]
    fn numbers_do_not_count() {
        assert_eq!(
            normal_line("took 12.5 s at 0x1f"),
            normal_line("took 7.25 s at 0x3f")
        );
        assert_ne!(normal_line("a failed"), normal_line("b failed"));
    }
}
