//! What became of each task, and what proves it.

use std::collections::{BTreeMap, BTreeSet};

use super::Story;
use crate::machine::Bill;
use crate::proof::{self, EvidenceLevel};

/// A task as its file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TaskLine {
    pub id: String,
    pub text: String,
    /// Key of its phase.
    pub phase: Option<String>,
    pub done: bool,
}

/// A task and what was done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStory {
    pub task: TaskLine,
    pub proof: TaskProof,
    /// Calls that were made for it.
    pub calls: u32,
    pub duration_ms: u64,
    pub bill: Bill,
}

/// What is known about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum TaskProof {
    Open,
    /// A person left it out.
    Skipped,
    /// Its box is ticked, and by no turn of this run.
    Before,
    /// Its box was ticked in this turn, and nothing else is known.
    Ticked {
        turn: u32,
    },
    /// Experiments, or a person, say how well it is shown; no turn where its
    /// box was ticked by none.
    Shown {
        turn: Option<u32>,
        level: EvidenceLevel,
    },
    /// Its box was ticked in this turn, and the checks passed after `checked`.
    Checked {
        turn: u32,
        checked: u32,
    },
}

pub(super) fn stories(
    tasks: &[TaskLine],
    story: &Story,
    skipped: &BTreeSet<String>,
) -> Vec<TaskStory> {
    let of = |task: &TaskLine| {
        let mut calls = 0;
        let mut duration_ms: u64 = 0;
        let mut bill = Bill::default();
        for call in story.calls.iter() {
            if call.task.as_ref().is_none_or(|t| t.id != task.id) {
                continue;
            }
            calls += 1;
            duration_ms = duration_ms.saturating_add(call.duration_ms.unwrap_or(0));
            bill.add(call.spent);
        }
        TaskStory {
            proof: match story.ticked.get(&task.id) {
                _ if skipped.contains(&task.id) => TaskProof::Skipped,
                _ if !task.done => TaskProof::Open,
                None | Some(0) => TaskProof::Before,
                Some(&turn) => ticked(turn, story),
            },
            task: task.clone(),
            calls,
            duration_ms,
            bill,
        }
    };
    tasks.iter().map(of).collect()
}

/// Where ticks were held against checks one by one, those say what is proven.
pub(super) fn take_proofs(stories: &mut [TaskStory], proofs: &BTreeMap<String, proof::TaskProof>) {
    for story in stories.iter_mut().filter(|story| story.task.done) {
        let turn = match story.proof {
            TaskProof::Ticked { turn } | TaskProof::Checked { turn, .. } => Some(turn),
            _ => None,
        };
        match (proofs.get(&story.task.id), turn) {
            (Some(proof), turn) => {
                story.proof = TaskProof::Checked {
                    turn: turn.unwrap_or(proof.turn),
                    checked: proof.turn,
                };
            }
            (None, Some(turn)) if !proofs.is_empty() => story.proof = TaskProof::Ticked { turn },
            _ => {}
        }
    }
}

/// Where experiments were made, they say more.
pub(super) fn take_levels(stories: &mut [TaskStory], levels: &BTreeMap<String, EvidenceLevel>) {
    for story in stories.iter_mut().filter(|story| story.task.done) {
        let turn = match story.proof {
            TaskProof::Ticked { turn } | TaskProof::Checked { turn, .. } => Some(turn),
            _ => None,
        };
        if let Some(&level) = levels.get(&story.task.id) {
            story.proof = TaskProof::Shown { turn, level };
        }
    }
}

/// Checks that failed later take the proof back.
fn ticked(turn: u32, story: &Story) -> TaskProof {
    match story.last_check {
        Some((checked, true)) if checked >= turn => TaskProof::Checked { turn, checked },
        _ => TaskProof::Ticked { turn },
    }
}
