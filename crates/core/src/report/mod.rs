//! What became of a run, for the person who comes back to it (HIST-01).
//!
//! [`Report`] is the model: plain data made from what the journal tells.
//! [`markdown`](Report::markdown) is one rendering of it.

mod markdown;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::display::{Gap, Proof};
use crate::machine::{
    self, Detail, ErrorClass, Goal, Missing, Notice, Outcome, State, TaskRef, WaitReason,
};
pub use words::{outcome_name, outcome_word};

/// What the machine does not know about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub run_id: String,
    /// The prompt, or the name of the task file.
    pub what: String,
    /// In the person's own time zone.
    pub started: String,
    pub ended: String,
    /// `None`: the project is in no repository.
    pub git: Option<GitFacts>,
}

/// What the repository shows, as far as it could be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    pub branch: Option<String>,
    /// The commit that the run began with.
    pub from: Option<String>,
    /// The commit that it ended with.
    pub to: Option<String>,
    pub commits: Option<usize>,
    /// Files that differ from the commit that the run began with.
    pub files: Option<usize>,
}

/// What happened on the way, gathered from the notices of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    pub rejected: Vec<Rejection>,
    pub waits: BTreeMap<&'static str, Waits>,
    pub errors: Vec<Trouble>,
    pub checks_passed: u32,
    pub checks_failed: u32,
    pub resumed: u32,
    /// Turns that left nothing new behind.
    pub stalled: u32,
}

/// A claim that the evidence did not bear out.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub turn: u32,
    pub claim: String,
    pub missing: Vec<Missing>,
}

/// All waits for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    pub why: WaitReason,
    pub count: u32,
    pub ms: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    pub turn: u32,
    pub class: ErrorClass,
    pub detail: Detail,
}

impl Story {
    pub fn take(&mut self, notice: &Notice) {
        match notice {
            Notice::PromiseRejected {
                iteration,
                claim,
                missing,
            } => self.rejected.push(Rejection {
                turn: *iteration,
                claim: claim.clone(),
                missing: missing.clone(),
            }),
            Notice::Wait { ms, why, .. } => {
                let waits = self.waits.entry(why.name()).or_insert(Waits {
                    why: *why,
                    count: 0,
                    ms: 0,
                });
                waits.count += 1;
                waits.ms += ms;
            }
            Notice::Error {
                iteration,
                class,
                detail,
                ..
            } => self.errors.push(Trouble {
                turn: *iteration,
                class: *class,
                detail: detail.clone(),
            }),
            Notice::GateResult { passed: true, .. } => self.checks_passed += 1,
            Notice::GateResult { passed: false, .. } => self.checks_failed += 1,
            Notice::Resume { .. } => self.resumed += 1,
            Notice::Stalled { .. } => self.stalled += 1,
            _ => {}
        }
    }
}

/// Everything that can be said about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub facts: Facts,
    /// `None`: its process died, and nobody took it up.
    pub outcome: Option<Outcome>,
    pub turns: u32,
    pub duration: Duration,
    /// Done and all; `None` where there is no task list.
    pub tasks: Option<(usize, usize)>,
    /// The first few that are still open.
    pub open: Vec<TaskRef>,
    pub proven: Vec<Proof>,
    pub not_proven: Vec<Gap>,
    pub story: Story,
}

impl Report {
    pub fn new(facts: Facts, state: &State, story: Story) -> Report {
        let has_tasks = matches!(state.rules.goal, Goal::Tasks { .. });
        let tasks = state.tasks.as_ref().filter(|_| has_tasks);
        Report {
            outcome: state.outcome().cloned(),
            turns: state.turns,
            duration: Duration::from_millis(state.elapsed_ms()),
            tasks: tasks.map(|t| (t.completed, t.total)),
            open: tasks.map(|t| t.open.clone()).unwrap_or_default(),
            proven: proven(&facts, state),
            not_proven: not_proven(&facts, state),
            story,
            facts,
        }
    }
}

fn proven(facts: &Facts, state: &State) -> Vec<Proof> {
    let proof = |proof: &machine::Proof| match proof {
        machine::Proof::Tasks { completed, total } => Proof::Tasks {
            file: facts.what.clone(),
            done: *completed,
            total: *total,
        },
        machine::Proof::Command {
            command,
            duration_ms,
        } => Proof::Command {
            command: command.clone(),
            exit_code: 0,
            duration: Duration::from_millis(*duration_ms),
        },
        machine::Proof::Forge(proof) => Proof::Forge(proof.clone()),
    };
    let mut proven: Vec<Proof> = state.proven.iter().map(proof).collect();
    let git = facts.git.as_ref();
    if let Some(count) = git.and_then(|git| git.commits).filter(|&n| n > 0) {
        let last = git.and_then(|git| git.to.as_deref());
        let last = last.map(|id| id.chars().take(SHORT_ID).collect());
        proven.push(Proof::Commits { count, last });
    }
    proven
}

/// As many digits of a commit as Git itself shows.
const SHORT_ID: usize = 7;

fn not_proven(facts: &Facts, state: &State) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if state.rules.goal == Goal::Prompt {
        gaps.push(Gap::NoTaskList);
    }
    if state.rules.verify.is_none() {
        gaps.push(Gap::NoVerifyCommand);
    }
    if facts.git.is_none() {
        gaps.push(Gap::NoGit);
    }
    if !state.skipped.is_empty() {
        gaps.push(Gap::SkippedTasks {
            ids: state.skipped.iter().cloned().collect(),
        });
    }
    gaps
}
