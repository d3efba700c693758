//! Weakened checks: what an agent can do to tests and to the verification
//! itself so that a check passes without the work (issue: "edits the tests").
//!
//! [`Snapshot`] is what the checks of a project consisted of when the loop was
//! armed; [`judge`] says what of it is gone now. New tests, moved tests,
//! renamed tests and other bodies are fine.

mod read;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::lang::{Lang, Say};
use crate::tr;
pub use read::{MAX_BYTES, is_test_file, may_hold_tests, read_tests, recipe, settings_of, trivial};

/// How many names of tests a message has.
const NAMED: usize = 5;

/// What stands behind the checks of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Test files by their path.
    #[serde(default)]
    pub tests: BTreeMap<String, TestFile>,
    /// The verification itself by file: a digest of what counts of it.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// `verify:` lines of the task file, with how often each stands there.
    #[serde(default)]
    pub task_checks: BTreeMap<String, usize>,
    /// Scripts and recipes that checks call, that did something.
    #[serde(default)]
    pub recipes: BTreeSet<String>,
}

/// What can be told of a test file without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFile {
    /// Names of the tests that run.
    pub names: BTreeSet<String>,
    /// Tests that a mark of their own keeps from running.
    #[serde(default)]
    pub skips: u32,
    /// Marks that keep others from running: of a whole block, or within a
    /// test.
    #[serde(default)]
    pub blocks: u32,
    /// Statements that can fail.
    #[serde(default)]
    pub asserts: u32,
}

impl TestFile {
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.skips == 0 && self.blocks == 0
    }
}

/// Something that checks less than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakening {
    /// The file that it is about, relative to the project.
    pub file: String,
    #[serde(flatten)]
    pub how: How,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(tag = "how", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum How {
    /// The settings of the verification, or a script that it consists of.
    Settings,
    /// A script or recipe that a check calls does nothing any more.
    Recipe,
    /// A `verify:` line of the task file is gone.
    TaskCheck { command: String },
    /// The file is gone, and its tests are nowhere else.
    Removed,
    /// It still has tests, and none of them can fail.
    Emptied,
    /// Tests are gone, and nothing took their place.
    TestsRemoved { names: Vec<String> },
    /// More tests are kept from running than before.
    Skipped { count: u32 },
}

/// What is weaker now than it was.
pub fn judge(armed: &Snapshot, now: &Snapshot) -> Vec<Weakening> {
    let weakening = |file: &str, how| Weakening {
        file: file.to_owned(),
        how,
    };
    let mut found = Vec::new();
    for (file, digest) in &armed.settings {
        if now.settings.get(file) != Some(digest) {
            found.push(weakening(file, How::Settings));
        }
    }
    for name in armed.recipes.difference(&now.recipes) {
        found.push(weakening(name, How::Recipe));
    }
    for (command, count) in &armed.task_checks {
        if now.task_checks.get(command).unwrap_or(&0) < count {
            let command = command.clone();
            found.push(weakening("", How::TaskCheck { command }));
        }
    }
    let running: BTreeSet<&String> = now.tests.values().flat_map(|t| &t.names).collect();
    for (file, before) in &armed.tests {
        let how = match now.tests.get(file) {
            Some(after) => weaker_file(before, after, &running),
            None => gone(before, &running),
        };
        found.extend(how.map(|how| weakening(file, how)));
    }
    found
}

fn gone(before: &TestFile, running: &BTreeSet<&String>) -> Option<How> {
    let lost = before.names.iter().any(|name| !running.contains(name));
    lost.then_some(How::Removed)
}

fn weaker_file(before: &TestFile, after: &TestFile, running: &BTreeSet<&String>) -> Option<How> {
    let new = after.names.difference(&before.names).count();
    let stopped = before.names.iter().any(|name| !after.names.contains(name));
    let skips = after.skips.saturating_sub(before.skips);
    let blocks = after.blocks.saturating_sub(before.blocks);
    // A new test may be skipped from the beginning: it takes nothing away.
    if (skips > 0 && stopped) || blocks as usize > new {
        let count = skips + blocks;
        return Some(How::Skipped { count });
    }
    let lost: Vec<String> = before
        .names
        .iter()
        .filter(|name| !running.contains(name))
        .cloned()
        .collect();
    // A test of another name in the same file took the place of each.
    if lost.len() > new {
        let names = lost.into_iter().take(NAMED).collect();
        return Some(if after.names.is_empty() {
            How::Emptied
        } else {
            How::TestsRemoved { names }
        });
    }
    let emptied = before.asserts > 0 && after.asserts == 0 && !before.names.is_empty();
    emptied.then_some(How::Emptied)
}

impl Say for Weakening {
    fn say(&self, lang: Lang) -> String {
        let file = &self.file;
        match &self.how {
            How::Settings => tr!(lang, "{file}: what is verified was changed"),
            How::Recipe => tr!(lang, "{file}: it no longer checks anything"),
            How::TaskCheck { command } => {
                tr!(lang, "the task file: the line `verify: {command}` is gone")
            }
            How::Removed => tr!(lang, "{file}: the test file was removed"),
            How::Emptied => tr!(lang, "{file}: its tests were emptied"),
            How::TestsRemoved { names } => {
                let names = names.join(", ");
                tr!(lang, "{file}: tests were removed: {names}")
            }
            How::Skipped { count } => tr!(
                lang,
                "{file}: tests are skipped now that ran before ({count})"
            ),
        }
    }
}
