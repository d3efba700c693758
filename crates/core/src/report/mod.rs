//! What became of a run, for the person who comes back to it (HIST-01).
//!
//! [`Report`] is the model: plain data made from what the journal tells.
//! [`markdown`](Report::markdown), [`html`](Report::html) and
//! [`json`](Report::json) are renderings of it.

mod calls;
mod chart;
mod html;
mod json;
mod markdown;
mod story;
mod tasks;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use crate::display::{Gap, Proof};
use crate::lang::Lang;
use crate::machine::{self, Bill, Goal, Outcome, Question, State, TaskRef};
use crate::overview::{Overview, Standing};
pub use calls::{Call, Calls, Verdict};
pub use story::{
    Acceptance, Blocked, Rejection, Rest, RestReason, SentBack, Story, Trouble, Waits,
};
pub use tasks::{TaskLine, TaskProof, TaskStory};
use words::Part;
pub use words::{outcome_name, outcome_sentence, outcome_word, reason_words};

/// What the machine does not know about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub run_id: String,
    /// The prompt, or the name of the task file.
    pub what: String,
    /// In the person's own time zone.
    pub started: String,
    pub ended: String,
    /// When a limit resets that the run did not wait for.
    pub resets_at: Option<String>,
    /// On the wall clock, in UTC.
    pub started_ms: i64,
    pub ended_ms: i64,
    /// The task list as it stands; empty where there is none, or where it
    /// can't be read any more.
    pub tasks: Vec<TaskLine>,
    /// `None`: the project is in no repository.
    pub git: Option<GitFacts>,
    /// The process that drives it now; `None` where nobody does.
    pub pid: Option<u32>,
}

/// What the repository shows, as far as it could be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    pub branch: Option<String>,
    /// The commit that the run began with.
    pub from: Option<String>,
    /// The commit that it ended with.
    pub to: Option<String>,
    /// Nobody went on since: what is not committed is the run's as well.
    pub is_open: bool,
    pub commits: Option<usize>,
    /// Files that differ from the commit that the run began with.
    pub files: Option<usize>,
    /// The newest first; not more than are worth showing.
    pub commit_list: Vec<Commit>,
    pub file_list: Vec<FileChange>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    pub subject: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    pub path: String,
    /// Lines; `None` for a file that is no text.
    pub added: Option<u64>,
    pub removed: Option<u64>,
}

/// Everything that can be said about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The command to go on with.
    next: Option<String>,
    pub facts: Facts,
    /// `None`: it still runs, or its process died and nobody took it up:
    /// `standing` tells which.
    pub outcome: Option<Outcome>,
    pub standing: Standing,
    pub turns: u32,
    /// Its agents worked in lanes: its own turns are landings.
    pub in_lanes: bool,
    pub duration: Duration,
    /// Done and all; `None` where there is no task list.
    pub tasks: Option<(usize, usize)>,
    /// The first few that are still open.
    pub open: Vec<TaskRef>,
    pub task_stories: Vec<TaskStory>,
    pub bill: Bill,
    pub proven: Vec<Proof>,
    pub not_proven: Vec<Gap>,
    /// Everything that the agent asked, answered or not.
    pub questions: Vec<Question>,
    pub story: Story,
}

impl Report {
    /// It neither ended nor died.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.standing, Standing::Ended | Standing::Dead)
    }

    /// One word that programs read.
    pub(super) fn outcome_name(&self) -> &'static str {
        match self.is_alive() {
            true => "running",
            false => outcome_name(self.outcome.as_ref()),
        }
    }

    pub fn new(facts: Facts, state: &State, story: Story) -> Report {
        let has_tasks = matches!(state.rules.goal, Goal::Tasks { .. });
        let tasks = state.tasks.facts.as_ref().filter(|_| has_tasks);
        let mut proven = proofs(&facts.what, &state.evidence.proven);
        proven.extend(facts.git.as_ref().and_then(commits));
        let mut task_stories = tasks::stories(&facts.tasks, &story, &state.tasks.skipped);
        tasks::take_proofs(&mut task_stories, &state.ticks.proofs);
        tasks::take_levels(&mut task_stories, &state.ticks.levels);
        let mut overview = Overview::of(state, Lang::En);
        overview.driven_by(facts.pid);
        Report {
            next: words::next_of(state, &facts.run_id),
            standing: overview.standing,
            outcome: state.outcome().cloned(),
            turns: state.turn.number,
            in_lanes: state.rules.lanes.is_some(),
            duration: Duration::from_millis(state.elapsed_ms()),
            tasks: tasks.map(|t| (t.completed, t.total)),
            open: tasks.map(|t| t.open.clone()).unwrap_or_default(),
            task_stories,
            bill: state.agents.bill,
            proven,
            not_proven: gaps(state, facts.git.is_some()),
            questions: state.questions.clone(),
            story,
            facts,
        }
    }
}

/// What Ralph saw itself; `what` names the task file.
pub fn proofs(what: &str, seen: &[machine::Proof]) -> Vec<Proof> {
    let proof = |proof: &machine::Proof| match proof {
        machine::Proof::Tasks { completed, total } => Proof::Tasks {
            file: what.to_owned(),
            done: *completed,
            total: *total,
        },
        machine::Proof::Shown { counts } => Proof::Shown {
            counts: counts
                .iter()
                .rev()
                .map(|(level, count)| (*level, *count))
                .collect(),
        },
        machine::Proof::Phases { completed, total } => Proof::Phases {
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
    seen.iter().map(proof).collect()
}

/// As many digits of a commit as Git itself shows.
const SHORT_ID: usize = 7;

fn commits(git: &GitFacts) -> Option<Proof> {
    let count = git.commits.filter(|&count| count > 0)?;
    let last = git.to.as_deref();
    let last = last.map(|id| id.chars().take(SHORT_ID).collect());
    Some(Proof::Commits { count, last })
}

/// Whether each task that was done in this run has a check of its own.
fn have_own_checks(state: &State) -> bool {
    let checks = &state.rules.checks.tasks;
    let mut done = state.ticks.done.difference(&state.ticks.before);
    !checks.is_empty() && done.all(|id| checks.contains_key(id))
}

/// What nobody checked.
pub fn gaps(state: &State, is_git: bool) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut proven = state.evidence.proven.iter();
    let by_phases = proven.any(|proof| matches!(proof, machine::Proof::Phases { .. }))
        || state.evidence.left_by_phases.is_some();
    if matches!(state.rules.goal, Goal::Prompt | Goal::Flow) && !by_phases {
        gaps.push(Gap::NoTaskList);
    }
    if let Some(total) = state.evidence.left_by_phases {
        gaps.push(Gap::OnlyFiles { total });
    }
    // Gate and CI prove a pull request, and nobody ticks anything.
    let by_forge = matches!(state.rules.goal, Goal::PullRequest | Goal::Ci);
    if state.rules.verify.is_none() && !have_own_checks(state) && !by_forge {
        gaps.push(Gap::NoVerifyCommand);
    }
    let short = state.short_of_proof();
    if !short.is_empty() {
        gaps.push(Gap::ShortOfProof { tasks: short });
    }
    if !state.tasks.remarked.is_empty() {
        let tasks = state.tasks.remarked.iter();
        let tasks = tasks.map(|(id, text)| format!("{id}: {text}")).collect();
        gaps.push(Gap::Remarked { tasks });
    }
    let bypass = state.rules.flow.as_ref().and_then(|r| r.bypass.clone());
    gaps.extend(bypass.map(|reason| Gap::NotReviewed { reason }));
    if !is_git {
        gaps.push(Gap::NoGit);
    }
    let facts = state.tasks.facts.as_ref();
    if let Some(facts) = facts.filter(|facts| facts.optional > 0) {
        gaps.push(Gap::OptionalTasks {
            count: facts.optional,
        });
    }
    if !state.tasks.skipped.is_empty() {
        gaps.push(Gap::SkippedTasks {
            ids: state.tasks.skipped.iter().cloned().collect(),
        });
    }
    gaps
}
