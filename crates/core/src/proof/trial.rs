//! The experiments that were made, and what they show of a piece of work.
//!
//! A check proves work only if it is green with the work, red without it, and
//! still able to be red.

use std::collections::BTreeSet;

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
    /// Without the work.
    Counterfactual,
    /// Every test spoiled.
    Canary,
    /// Every test of then spoiled, on the tree of then.
    ArmedCanary,
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
}

/// What an experiment said no to, in words that help.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Unshown {
    #[say("nothing but the task file has changed since a task was done last")]
    NothingChanged,
    #[say("only tests and check files changed, no work that they could show")]
    OnlyChecks,
    #[say("`{command}` passes without the change to {files} too: write a test that fails without it", files = files.join(", "))]
    GreenWithout { command: String, files: Vec<String> },
    #[say(
        "`{command}` can't fail any more: it passes with every test broken on purpose; undo what keeps it from running the tests"
    )]
    Blind { command: String },
    #[say(
        "`{command}` can't fail: it passes with every test and every changed file broken on purpose"
    )]
    CannotFail { command: String },
    #[say("`{command}` fails with the checks as they were when the loop began (changed since: {files}); restore them and make them pass by doing the work\n{output}", files = files.join(", "))]
    Originals {
        command: String,
        files: Vec<String>,
        output: String,
    },
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
            return unshown(EvidenceLevel::Refuted, Unshown::Blind { command });
        }
        let mut expectations_changed = false;
        for command in self.commands {
            match self.originals(command, weighed) {
                Originals::Pass => {}
                Originals::Rewritten => expectations_changed = true,
                Originals::Fail(why) => return unshown(EvidenceLevel::Refuted, why),
            }
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
        if let Some(command) = self.commands.iter().filter(able).find(bound) {
            return Verdict {
                level: EvidenceLevel::Proven,
                why: None,
                bound_tests: self.failing(Experiment::Counterfactual, command),
                expectations_changed: false,
            };
        }
        if self.asked == Some(AskedProof::Tests)
            && self.commands.iter().any(|c| self.new_tests_bite(c))
        {
            return shown(EvidenceLevel::Proven);
        }
        if self.asked == Some(AskedProof::Preserved)
            && self.commands.iter().any(|c| self.is_able(c))
        {
            return shown(EvidenceLevel::Preserved);
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
            return unshown(EvidenceLevel::Changed, Unshown::OnlyChecks);
        }
        let command = self.commands.first().cloned().unwrap_or_default();
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
        red(Experiment::Canary)
            || (!self.could(command) && (red(Experiment::Spoiled) || red(Experiment::Removed)))
    }

    /// Tests could make it red when the loop was armed. What was red then
    /// anyway has to name the test that was put in.
    fn could(&self, command: &str) -> bool {
        let was_red = self.red_at_first.contains(command);
        let armed = self.trial(Experiment::ArmedCanary);
        let names = armed.is_some_and(|trial| trial.named.iter().any(|named| named == command));
        self.is_red(Experiment::ArmedCanary, command) == Some(true) && (!was_red || names)
    }

    /// It could be red when the loop was armed, and can't any more.
    fn is_blind(&self, command: &str) -> bool {
        if self.is_able(command) {
            return false;
        }
        let could = self.could(command);
        let canary_green = self.is_red(Experiment::Canary, command) == Some(false);
        canary_green && (could || self.red_before.contains(command))
    }

    fn originals(&self, command: &str, weighed: &Weighed) -> Originals {
        let red = |experiment| self.is_red(experiment, command) == Some(true);
        let not_green = |experiment| {
            let result = self.result(experiment, command);
            result.is_some_and(|result| result.exit != Some(0))
        };
        if !not_green(Experiment::Original) {
            return Originals::Pass;
        }
        let was_green = !self.red_before.contains(command);
        let with_new = self.is_red(Experiment::OriginalWithNew, command) == Some(false);
        if was_green && with_new {
            return Originals::Pass;
        }
        if was_green && weighed.only_expectations && red(Experiment::Counterfactual) {
            return Originals::Rewritten;
        }
        let output = self.result(Experiment::Original, command);
        Originals::Fail(Unshown::Originals {
            command: command.to_owned(),
            files: weighed.checks.iter().take(NAMED).cloned().collect(),
            output: output
                .map(|result| result.output.clone())
                .unwrap_or_default(),
        })
    }

    fn new_tests_bite(&self, command: &str) -> bool {
        self.is_red(Experiment::NewTests, command) == Some(false)
            && self.is_red(Experiment::NewTestsSpoiled, command) == Some(true)
    }
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
    }
}

fn unshown(level: EvidenceLevel, why: Unshown) -> Verdict {
    Verdict {
        level,
        why: Some(why),
        bound_tests: None,
        expectations_changed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &str = "make test";

    fn trial(experiment: Experiment, exit: i32) -> Trial {
        Trial {
            experiment,
            edits: String::new(),
            results: vec![CommandResult {
                command: CHECK.into(),
                exit: Some(exit),
                ..CommandResult::default()
            }],
            flaky: Vec::new(),
            named: Vec::new(),
            failing: Vec::new(),
        }
    }

    fn level(
        trials: &[(Experiment, i32)],
        asked: Option<AskedProof>,
        was_red: bool,
    ) -> EvidenceLevel {
        let report = VerifyReport {
            trials: trials.iter().map(|(e, exit)| trial(*e, *exit)).collect(),
            weighed: Some(Box::new(Weighed {
                work: vec!["calc.py".into()],
                only_expectations: true,
                ..Weighed::default()
            })),
            ..VerifyReport::default()
        };
        let red: BTreeSet<String> = was_red.then(|| CHECK.to_owned()).into_iter().collect();
        let scale = Scale {
            report: &report,
            commands: &[CHECK.to_owned()],
            asked,
            red_before: &red,
            red_at_first: &red,
        };
        scale.weigh().level
    }

    /// Green now in all of them; 1 is red.
    #[test]
    fn three_experiments_decide() {
        use EvidenceLevel::*;
        use Experiment::*;
        let preserved = Some(AskedProof::Preserved);
        for (trials, asked, was_red, want) in [
            // Red without the work, and able to be red.
            (&[(Canary, 1), (Counterfactual, 1)][..], None, false, Proven),
            (&[(Canary, 1), (Counterfactual, 1)], None, true, Proven),
            // Green without it.
            (&[(Canary, 1), (Counterfactual, 0)], None, false, Unrefuted),
            (
                &[(Canary, 1), (Counterfactual, 0)],
                preserved,
                false,
                Preserved,
            ),
            // Blinded: it could be red, and can't.
            (
                &[(Canary, 0), (ArmedCanary, 1), (Counterfactual, 1)],
                None,
                false,
                Refuted,
            ),
            (
                &[
                    (Canary, 0),
                    (ArmedCanary, 1),
                    (Spoiled, 1),
                    (Counterfactual, 1),
                ],
                None,
                false,
                Refuted,
            ),
            (&[(Canary, 0), (Counterfactual, 1)], None, true, Refuted),
            // A check that reads no tests, and did not before.
            (
                &[
                    (Canary, 0),
                    (ArmedCanary, 0),
                    (Removed, 1),
                    (Counterfactual, 1),
                ],
                None,
                false,
                Proven,
            ),
            // One that never could.
            (
                &[
                    (Canary, 0),
                    (ArmedCanary, 0),
                    (Removed, 0),
                    (Counterfactual, 0),
                ],
                None,
                false,
                Unrefuted,
            ),
            // The checks of then fail.
            (
                &[(Canary, 1), (Original, 1), (Counterfactual, 0)],
                None,
                false,
                Refuted,
            ),
            (
                &[
                    (Canary, 1),
                    (Original, 1),
                    (OriginalWithNew, 0),
                    (Counterfactual, 1),
                ],
                None,
                false,
                Proven,
            ),
            (
                &[
                    (Canary, 1),
                    (Original, 1),
                    (OriginalWithNew, 0),
                    (Counterfactual, 1),
                ],
                None,
                true,
                Refuted,
            ),
            // Expectations were rewritten: only where they were green.
            (
                &[
                    (Canary, 1),
                    (Original, 1),
                    (OriginalWithNew, 1),
                    (Counterfactual, 1),
                ],
                None,
                false,
                Proven,
            ),
            (
                &[
                    (Canary, 1),
                    (Original, 1),
                    (OriginalWithNew, 1),
                    (Counterfactual, 1),
                ],
                None,
                true,
                Refuted,
            ),
        ] {
            assert_eq!(level(trials, asked, was_red), want, "{trials:?} {was_red}");
        }
    }

    #[test]
    fn a_flaky_check_shows_nothing() {
        let mut report = VerifyReport {
            trials: vec![
                trial(Experiment::Canary, 1),
                trial(Experiment::Counterfactual, 1),
            ],
            weighed: Some(Box::new(Weighed {
                work: vec!["calc.py".into()],
                ..Weighed::default()
            })),
            ..VerifyReport::default()
        };
        report.trials[1].flaky.push(CHECK.into());
        let none = BTreeSet::new();
        let scale = Scale {
            report: &report,
            commands: &[CHECK.to_owned()],
            asked: None,
            red_before: &none,
            red_at_first: &none,
        };
        let verdict = scale.weigh();
        assert_eq!(verdict.level, EvidenceLevel::Unrefuted);
        assert!(matches!(verdict.why, Some(Unshown::Flaky { .. })));
    }
}
