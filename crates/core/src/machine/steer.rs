//! What a person wants of a run that goes on: a word for the agent, tasks in
//! or out, another order.

use serde::{Deserialize, Serialize};

use super::LaneHint;
use crate::lang::{Lang, Say};
use crate::proof::level::AskedProof;
use crate::tasks::ListChange;
use crate::tr;

/// One wish. It is journalled as it was said, and each has its inverse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Steer {
    /// A word for the next prompt; `keep`: for each that follows.
    Hint {
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keep: bool,
    },
    /// The agent is not told this any more.
    DropHint {
        hint: u32,
    },
    /// Out of this run: not done, and not asked for.
    Skip {
        tasks: Vec<String>,
    },
    Unskip {
        tasks: Vec<String>,
    },
    /// Worked on again, whatever was believed of it.
    Retry {
        task: String,
    },
    /// Before the others, as soon as it can be worked on; `None`: in the order
    /// of the list again.
    Focus {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
    },
    /// The list itself.
    List(ListChange),
}

/// A task that a person wrote or changed, as the list has it now: what it asks
/// for is the person's word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeredTask {
    pub id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<AskedProof>,
}

/// A word of a person to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// Counts from 1 within a run.
    pub id: u32,
    pub text: String,
    /// It is told in every turn.
    pub keep: bool,
    /// The turn that was told first.
    pub told_in: Option<u32>,
    #[serde(skip)]
    pub dropped: bool,
}

impl Hint {
    pub(super) fn new(id: u32, said: LaneHint) -> Hint {
        Hint {
            id,
            text: said.text,
            keep: said.keep,
            told_in: None,
            dropped: false,
        }
    }

    pub(super) fn said(&self) -> LaneHint {
        LaneHint {
            text: self.text.clone(),
            keep: self.keep,
        }
    }

    /// Whether the next prompt says it.
    pub fn is_open(&self) -> bool {
        !self.dropped && (self.keep || self.told_in.is_none())
    }
}

impl Say for Steer {
    fn say(&self, lang: Lang) -> String {
        let all = |tasks: &[String]| tasks.join(", ");
        match self {
            Steer::Hint { text, keep: false } => tr!(lang, "a word for the next turn: {text}"),
            Steer::Hint { text, keep: true } => tr!(lang, "a word for every turn: {text}"),
            Steer::DropHint { hint } => tr!(lang, "hint {hint} is dropped"),
            Steer::Skip { tasks } => {
                let tasks = all(tasks);
                tr!(lang, "skipped by a person: {tasks}")
            }
            Steer::Unskip { tasks } => {
                let tasks = all(tasks);
                tr!(lang, "asked for again by a person: {tasks}")
            }
            Steer::Retry { task } => tr!(lang, "{task} is worked on again, by a person's wish"),
            Steer::Focus { task: Some(task) } => {
                tr!(lang, "{task} comes first, by a person's wish")
            }
            Steer::Focus { task: None } => tr!(lang, "tasks come in the order of the list again"),
            Steer::List(change) => change.say(lang),
        }
    }
}

impl Say for ListChange {
    fn say(&self, lang: Lang) -> String {
        match self {
            ListChange::Add { text, .. } => tr!(lang, "a person added a task: {text}"),
            ListChange::Edit { task, text } => {
                tr!(lang, "a person reworded {task}: {text}")
            }
            ListChange::Move {
                task,
                after: Some(after),
            } => tr!(lang, "a person moved {task} behind {after}"),
            ListChange::Move { task, after: None } => {
                tr!(lang, "a person moved {task} to the front")
            }
            ListChange::Remove { task } => {
                tr!(lang, "a person removed {task} from the list")
            }
        }
    }
}
