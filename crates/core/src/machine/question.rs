//! Questions of an agent: parked with their task until a person answers.

use serde::{Deserialize, Serialize};

use super::TaskRef;

/// Something that the agent wants to know from a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Counts from 1 within a run.
    pub id: u32,
    /// The turn in which it was asked.
    pub turn: u32,
    /// The task that waits for the answer; `None` where all work does.
    pub task: Option<TaskRef>,
    pub text: String,
    /// The answers that the agent offers; others may be given.
    pub options: Vec<String>,
    /// What holds where nobody answers in time.
    pub default: Option<String>,
    /// On the wall clock.
    pub asked_ms: i64,
    /// When the default is taken, on the wall clock.
    pub deadline_ms: i64,
    pub reply: Option<Reply>,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    pub by: RepliedBy,
    /// On the wall clock.
    pub at_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepliedBy {
    Person,
    /// Nobody answered in time.
    Default,
}

impl Question {
    pub fn is_open(&self) -> bool {
        self.reply.is_none()
    }
}
