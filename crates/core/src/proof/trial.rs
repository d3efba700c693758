//! The experiments that were made, and what they show of a piece of work.
//!
//! A check proves work only if it is green with the work, red without it, and
//! still able to be red.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::level::{AskedProof, EvidenceLevel};
use crate::lang::Say;
use crate::machine::{CommandResult, VerifyReport};

/// What was run, and on which tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Experiment {
    /// The tree as it was when the loop was armed.
    Before,
    /// The work, with the checks of then.
    Original,
    /// The same, with the new tests left in.
    OriginalWithNew,
    /// The work, with the checks of when a tick stood last.
    Kept,
    /// The same, with the new tests left in.
    KeptWithNew,
    /// Without the work.
    Counterfactual,
    /// Every test spoiled.
    Canary,
    /// The same, only in the files whose tests are red without the work.
    BoundCanary,
    /// The work, with the scripts of before whose end is all that a check sees
    /// of them.
    ByExit,
    /// Every test of then spoiled, on the tree of then.
    ArmedCanary,
    /// Every script that judges fails behind what it takes in.
    Takers,
    /// The same on the tree of then.
    ArmedTakers,
    /// The changed files themselves spoiled.
    Spoiled,
    /// The changed files taken away.
    Removed,
    /// Only new tests.
    NewTests,
    /// Only new tests, on a spoiled product.
    NewTestsSpoiled,
}

/// An experiment, with what came of each command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub experiment: Experiment,
    /// Digest of all that was changed in the tree for it.
    pub edits: String,
    pub results: Vec<CommandResult>,
    /// It was made twice on the same tree, with different results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// Commands whose output names the test that was put in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
    /// How many tests failed, by command, where the output names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<(String, usize)>,
}

impl Trial {
    /// Takes in the same experiment of other commands.
    pub fn take_in(&mut self, other: Trial) {
        self.results.extend(other.results);
        self.flaky.extend(other.flaky);
        self.named.extend(other.named);
        self.failing.extend(other.failing);
    }
}

/// What the experiments were about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weighed {
    /// The snapshots that they were made from.
    pub armed: String,
    pub base: String,
    pub now: String,
    /// Files that changed since a tick stood last, and belong to no check.
    pub work: Vec<String>,
    /// Check files that differ from what they were when the loop was armed.
    pub checks: Vec<String>,
    /// Check files changed since a tick stood last.
    #[serde(default)]
    pub new_checks: bool,
    /// Only tests changed, and none was deleted.
    pub only_expectations: bool,
    /// Check files that differ from what they were when a tick stood last, and
    /// whether only tests did, and none was deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    #[serde(default)]
    pub only_kept_expectations: bool,
    /// Files whose tests are red without the work, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<String>,
    /// By command, the changed scripts whose end is all that it sees of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_exit: BTreeMap<String, Vec<String>>,
    /// Tests of before that fail now, and that are not red without the work in
    /// their new form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<String>,
    /// Check files that the checks changed while they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten: Vec<String>,
    /// Where they ran.
    pub room: String,
    /// Why they were not made, or not to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What is said of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub level: EvidenceLevel,
    /// Why it is not proven.
    pub why: Option<Unshown>,
    /// How many tests go red without it, where that is known.
    pub bound_tests: Option<usize>,
    /// Old tests were rewritten: the person is told.
    pub expectations_changed: bool,
    /// Without the work nothing could be built or loaded, and no test failed:
    /// the person is told.
    pub by_name: bool,
}

/// What an experiment said no to, in words that help.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Unshown {
    #[say("nothing but the task file has changed since a task was done last")]
    NothingChanged,
    #[say(if files.is_empty(), "only check files were added, no work that they could show; where they are the work, a person says so (`ralph accept`, or `| proof: change` behind the task)")]
    #[say("only tests and check files changed ({files}), no work that they could show; where one of them is the product, have the check look at what it does (`| proof: change` behind the task asks for no more than a change)", files = files.join(", "))]
    OnlyChecks { files: Vec<String> },
    #[say("`{command}` passes without the change to {files} too: write a test that fails without it (a person writes `| proof: preserved` behind a task that means to change no behaviour)", files = files.join(", "))]
    GreenWithout { command: String, files: Vec<String> },
    #[say(
        "`{command}` can't fail any more: it passes with every test broken on purpose; undo what keeps it from running the tests"
    )]
    Blind { command: String },
    #[say(
        "`{command}` passes with a test that fails put into every test file: it looks at what they print and not at how they end, or the work ends them; let it fail where a test fails (behind `|` the exit code is lost)"
    )]
    Unheard { command: String },
    #[say(
        "`{command}` can't fail: it passes with every test and every changed file broken on purpose"
    )]
    CannotFail { command: String },
    #[say("`{command}` is red without the change to {files}, and green with {files} broken or taken away too: it sees that something is gone, and can't tell this work from a loss; a person can (`ralph accept`), or writes `| proof: change` behind the task", files = files.join(", "))]
    OnlyAbsence { command: String, files: Vec<String> },
    #[say("`{command}` fails with the checks as they were when the loop began (changed since: {files}); restore them and make them pass by doing the work; where one of them is the work, have the check look at what it does\n{output}", files = files.join(", "))]
    Originals {
        command: String,
        files: Vec<String>,
        output: String,
    },
    #[say("`{command}` fails with the tests that showed the tasks before (changed since: {files}); restore them and what they test\n{output}", files = files.join(", "))]
    Kept {
        command: String,
        files: Vec<String>,
        output: String,
    },
    #[say(
        "`{command}` runs fewer of the same tests with the work than without it: let all of them run, and pass"
    )]
    Lost { command: String },
    #[say("`{command}` passes with a failing test put into {files}: undo what ends or skips the tests there", files = files.join(", "))]
    BlindIn { command: String, files: Vec<String> },
    #[say("`{command}` passes with {files} empty too, and fails without the change: what is green is said by {files} alone; put it back if it is a check, and where it is the work, have a test of its own look at what it does", files = files.join(", "))]
    ByExit { command: String, files: Vec<String> },
    #[say("the checks change {files} while they run: leave check files as they are; what they build belongs into .gitignore", files = files.join(", "))]
    Rewrites { files: Vec<String> },
    #[say(
        "`{command}` gives different results for the same contents: it is flaky and shows nothing"
    )]
    Flaky { command: String },
    #[say("the checks could not be tried without the work: {why}")]
    NotTried { why: String },
    #[say("tests that were green say something else now: restore {files}, or let a person accept it", files = files.join(", "))]
    Rewritten { files: Vec<String> },
    /// Nobody but a person can tell.
    #[say("a person has to look at it")]
    Person,
    #[say(
        "the tests that fail without the work are fewer than the tasks that were ticked: write one for each task"
    )]
    TooFew,
}

/// How many files a message names.
const NAMED: usize = 3;

/// What the experiments of a verification show of work that these commands
/// check.
#[derive(Clone, Copy, Debug)]
pub struct Scale<'a> {
    pub report: &'a VerifyReport,
    pub commands: &'a [String],
    pub asked: Option<AskedProof>,
    /// Commands that were red on the tree before the work.
    pub red_before: &'a BTreeSet<String>,
    /// Commands that were red when the loop was armed.
    pub red_at_first: &'a BTreeSet<String>,
    /// How many tests ran then; `None` where they may be fewer now.
    pub ran_at_first: Option<&'a BTreeMap<String, u32>>,
}

impl Scale<'_> {
    pub fn weigh(&self) -> Verdict {
        let Some(weighed) = &self.report.weighed else {
            return unshown(
                EvidenceLevel::Unrefuted,
                Unshown::NotTried {
                    why: "no snapshot".into(),
                },
            );
        };
        if let Some(command) = self.blind() {
            let could = self.could(Experiment::ArmedCanary, &command);
            let ran_to_its_end = self.names(Experiment::Canary, &command);
            let why = match self.is_ended(&command) || could && !ran_to_its_end {
                true => Unshown::Blind { command },
                false => Unshown::Unheard { command },
            };
            return unshown(EvidenceLevel::Refuted, why);
        }
        let mut expectations_changed = false;
        for command in self.commands {
            for then in [Then::Armed, Then::Base] {
                match self.originals(then, command, weighed) {
                    Originals::Pass => {}
                    Originals::Rewritten => expectations_changed = true,
                    Originals::Fail(why) => return unshown(EvidenceLevel::Refuted, why),
                }
            }
        }
        if let Some(command) = self
            .commands
            .iter()
            .find(|command| self.lost_tests(command))
        {
            let command = command.clone();
            return unshown(EvidenceLevel::Refuted, Unshown::Lost { command });
        }
        if !weighed.rewritten.is_empty() {
            let files = weighed.rewritten.iter().take(NAMED).cloned().collect();
            return unshown(EvidenceLevel::Refuted, Unshown::Rewrites { files });
        }
        if weighed.work.is_empty() && !weighed.new_checks {
            return unshown(EvidenceLevel::Claimed, Unshown::NothingChanged);
        }
        if let Some(why) = &weighed.trouble {
            let why = Unshown::NotTried { why: why.clone() };
            return unshown(EvidenceLevel::Unrefuted, why);
        }
        Verdict {
            expectations_changed,
            ..self.binding(weighed)
        }
    }

    /// A command that could be red when the loop was armed, and can't any
    /// more.
    pub fn blind(&self) -> Option<String> {
        self.commands
            .iter()
            .find(|command| self.is_blind(command))
            .cloned()
    }

    /// Whether the work and the checks are bound to each other.
    fn binding(&self, weighed: &Weighed) -> Verdict {
        let bound =
            |command: &&String| self.is_red(Experiment::Counterfactual, command) == Some(true);
        let able = |command: &&String| self.is_able(command);
        let mut binding = self.commands.iter().filter(able).filter(bound);
        let by_exit = binding.clone().next().cloned();
        if let Some(command) = binding.find(|command| !self.is_by_exit(command)) {
            if self.is_red(Experiment::BoundCanary, command) == Some(false) {
                let (command, files) = (command.clone(), weighed.bound.clone());
                return unshown(
                    EvidenceLevel::Unrefuted,
                    Unshown::BlindIn { command, files },
                );
            }
            return Verdict {
                level: EvidenceLevel::Proven,
                why: None,
                bound_tests: self.failing(Experiment::Counterfactual, command),
                expectations_changed: false,
                by_name: self.failing(Experiment::Counterfactual, command).is_none()
                    && self.failing(Experiment::Canary, command).is_some(),
            };
        }
        if self.asked == Some(AskedProof::Tests)
            && self.commands.iter().any(|c| self.new_tests_bite(c))
        {
            return shown(EvidenceLevel::Proven);
        }
        // Who takes tests away has not worked on what they preserve.
        if self.asked == Some(AskedProof::Preserved)
            && !weighed.work.is_empty()
            && self.commands.iter().any(|c| self.is_able(c))
        {
            return shown(EvidenceLevel::Preserved);
        }
        if let Some(command) = by_exit {
            let files = weighed.by_exit.get(&command).into_iter().flatten();
            let files = files.take(NAMED).cloned().collect();
            return unshown(EvidenceLevel::Unrefuted, Unshown::ByExit { command, files });
        }
        let flaky = self.report.trials.iter().find_map(|trial| {
            let is_ours = |command: &&String| self.commands.contains(command);
            trial.flaky.iter().find(is_ours)
        });
        if let Some(command) = flaky {
            return unshown(
                EvidenceLevel::Unrefuted,
                Unshown::Flaky {
                    command: command.clone(),
                },
            );
        }
        if weighed.work.is_empty() {
            let files = weighed.checks.iter().take(NAMED).cloned().collect();
            return unshown(EvidenceLevel::Changed, Unshown::OnlyChecks { files });
        }
        let command = self.commands.first().cloned().unwrap_or_default();
        if let Some(command) = self.commands.iter().find(bound) {
            let (command, files) = (command.clone(), weighed.work.iter().take(NAMED));
            let files = files.cloned().collect();
            return unshown(
                EvidenceLevel::Unrefuted,
                Unshown::OnlyAbsence { command, files },
            );
        }
        if !self.commands.iter().any(|command| self.is_able(command)) {
            return unshown(EvidenceLevel::Unrefuted, Unshown::CannotFail { command });
        }
        let files = weighed.work.iter().take(NAMED).cloned().collect();
        unshown(
            EvidenceLevel::Unrefuted,
            Unshown::GreenWithout { command, files },
        )
    }

    fn result(&self, experiment: Experiment, command: &str) -> Option<&CommandResult> {
        let trial = self.trial(experiment)?;
        trial
            .results
            .iter()
            .find(|result| result.command == command)
    }

    fn trial(&self, experiment: Experiment) -> Option<&Trial> {
        let mut trials = self.report.trials.iter();
        trials.find(|trial| trial.experiment == experiment)
    }

    /// `None` where it was not made, or says nothing.
    fn is_red(&self, experiment: Experiment, command: &str) -> Option<bool> {
        let trial = self.trial(experiment)?;
        if trial.flaky.iter().any(|flaky| flaky == command) {
            return None;
        }
        // One that came to no end by itself shows nothing.
        let exit = self.result(experiment, command)?.exit?;
        Some(exit != 0)
    }

    fn failing(&self, experiment: Experiment, command: &str) -> Option<usize> {
        let trial = self.trial(experiment)?;
        let found = trial.failing.iter().find(|(of, _)| of == command);
        found.map(|(_, count)| *count).filter(|&count| count > 0)
    }

    /// It can still be red.
    fn is_able(&self, command: &str) -> bool {
        let red = |experiment| self.is_red(experiment, command) == Some(true);
        if red(Experiment::Canary) || self.could(Experiment::ArmedCanary, command) {
            return red(Experiment::Canary);
        }
        !self.is_ended(command) && (red(Experiment::Spoiled) || red(Experiment::Removed))
    }

    /// The product ends the script that judges it.
    fn is_ended(&self, command: &str) -> bool {
        self.is_red(Experiment::Takers, command) == Some(false)
            && self.could(Experiment::ArmedTakers, command)
    }

    /// Tests, or scripts that judge, could make it red when the loop was armed.
    /// What was red then anyway has to name what was put in.
    fn could(&self, armed: Experiment, command: &str) -> bool {
        let was_red = self.red_at_first.contains(command);
        self.is_red(armed, command) == Some(true) && (!was_red || self.names(armed, command))
    }

    /// Whether its output names the test that was put in.
    fn names(&self, experiment: Experiment, command: &str) -> bool {
        let trial = self.trial(experiment);
        trial.is_some_and(|trial| trial.named.iter().any(|named| named == command))
    }

    /// It could be red when the loop was armed, and can't any more.
    fn is_blind(&self, command: &str) -> bool {
        if self.is_able(command) {
            return false;
        }
        let could = self.could(Experiment::ArmedCanary, command);
        let canary_green = self.is_red(Experiment::Canary, command) == Some(false);
        canary_green && (could || self.red_before.contains(command)) || self.is_ended(command)
    }

    /// The same tests, and fewer of them run with the work than without it: a
    /// product that skips its tests, or ends them early, keeps them green.
    fn lost_tests(&self, command: &str) -> bool {
        let ran = |experiment| {
            self.result(experiment, command)
                .and_then(|result| result.ran)
        };
        let mut results = self.report.results.iter();
        let now = results.find(|result| result.command == command);
        let Some(now) = now.and_then(|result| result.ran) else {
            return false;
        };
        // Old tests that say something else now were judged by that: what can't
        // be loaded for a name that is gone does not run.
        let red = |experiment| self.is_red(experiment, command) == Some(true);
        let is_rewritten = red(Experiment::Original) && red(Experiment::OriginalWithNew);
        let with_old_tests = match self.result(Experiment::Original, command) {
            Some(_) if !is_rewritten => ran(Experiment::Original),
            _ => Some(now),
        };
        let at_first = self.ran_at_first.and_then(|ran| ran.get(command));
        ran(Experiment::Counterfactual).is_some_and(|without| now < without)
            || at_first
                .zip(with_old_tests)
                .is_some_and(|(then, now)| now < *then)
    }

    fn originals(&self, then: Then, command: &str, weighed: &Weighed) -> Originals {
        let (alone, with_new, only_expectations) = match then {
            Then::Armed => (
                Experiment::Original,
                Experiment::OriginalWithNew,
                weighed.only_expectations,
            ),
            Then::Base => (
                Experiment::Kept,
                Experiment::KeptWithNew,
                weighed.only_kept_expectations,
            ),
        };
        let red = |experiment| self.is_red(experiment, command) == Some(true);
        let not_green = |experiment| {
            let result = self.result(experiment, command);
            result.is_some_and(|result| result.exit != Some(0))
        };
        if !not_green(alone) {
            return Originals::Pass;
        }
        let was_green = !self.red_before.contains(command) || self.finds_no_tests(alone, command);
        if was_green && self.is_red(with_new, command) == Some(false) {
            return Originals::Pass;
        }
        let is_rewritten = only_expectations && weighed.loosened.is_empty();
        if was_green && is_rewritten && red(Experiment::Counterfactual) {
            return Originals::Rewritten;
        }
        let output = self.result(alone, command);
        let output = output
            .map(|result| result.output.clone())
            .unwrap_or_default();
        let named = |files: &[String]| files.iter().take(NAMED).cloned().collect();
        let command = command.to_owned();
        Originals::Fail(match then {
            Then::Armed => Unshown::Originals {
                files: named(&weighed.checks),
                command,
                output,
            },
            Then::Base => Unshown::Kept {
                files: named(&weighed.kept),
                command,
                output,
            },
        })
    }

    /// It was red since no test was there that it asks for (`-k name`), and
    /// without the new ones it is still.
    fn finds_no_tests(&self, alone: Experiment, command: &str) -> bool {
        let at_first = self.ran_at_first.and_then(|ran| ran.get(command));
        let ran = self.result(alone, command).and_then(|result| result.ran);
        at_first == Some(&0) && ran == Some(0) && self.failing(alone, command).is_none()
    }

    /// What is red without the work is so for scripts that say themselves what
    /// is green.
    fn is_by_exit(&self, command: &str) -> bool {
        let weighed = self.report.weighed.as_ref();
        let is_named = weighed.is_some_and(|weighed| weighed.by_exit.contains_key(command));
        is_named && self.is_red(Experiment::ByExit, command) != Some(false)
    }

    fn new_tests_bite(&self, command: &str) -> bool {
        self.is_red(Experiment::NewTests, command) == Some(false)
            && self.is_red(Experiment::NewTestsSpoiled, command) == Some(true)
    }
}

/// Whose checks are meant.
#[derive(Clone, Copy)]
enum Then {
    Armed,
    Base,
}

enum Originals {
    Pass,
    /// Tests that were green say something else now, and the old product fails
    /// them.
    Rewritten,
    Fail(Unshown),
}

fn shown(level: EvidenceLevel) -> Verdict {
    Verdict {
        level,
        why: None,
        bound_tests: None,
        expectations_changed: false,
        by_name: false,
    }
}

fn unshown(level: EvidenceLevel, why: Unshown) -> Verdict {
    Verdict {
        level,
        why: Some(why),
        bound_tests: None,
        expectations_changed: false,
        by_name: false,
    }
}

#[cfg(test)]
mod tests;
