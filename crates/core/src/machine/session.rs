//! What only a loop inside a session of the agent's client knows: whose
//! session it is, and how often its stop was blocked.

use serde::{Deserialize, Serialize};

use super::Request;
use crate::lang::Say;

/// Something that happened to the session of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "session", rename_all = "snake_case")]
pub enum SessionEvent {
    /// This session drives the run from here on.
    Joined { id: String, host: String },
    /// The agent wants to stop; the hook was asked.
    Stopping {
        /// It did something since the last block, or a person spoke: the
        /// client counts its blocks anew.
        acted: bool,
        /// How many blocks in a row the client obeys; none where it counts
        /// none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cap: Option<u32>,
    },
    /// A person, or the end of the session, takes the run out of it.
    Left { request: Request },
    /// A hook does not wait for an answer: whoever sits there sees the
    /// question, and the agent may rest.
    NobodyWaits,
}

/// The session that drives a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    pub id: String,
    /// The client, by its name.
    pub host: String,
    /// Stops that were blocked since the client began to count.
    pub blocks: u32,
    pub(super) cap: Option<u32>,
    /// The agent wants to stop, and nothing was decided yet.
    pub(super) stopping: bool,
}

impl SessionState {
    /// Whether the client would not obey another block.
    pub(super) fn is_used_up(&self) -> bool {
        self.stopping && self.cap.is_some_and(|cap| self.blocks >= cap)
    }
}

/// What is told of a session (REIN-05).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr, Say)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum SessionNotice {
    #[strum(to_string = "session_joined")]
    #[say("driven by session {id} of {host}")]
    Joined {
        #[serde(rename = "session")]
        id: String,
        host: String,
    },
    #[say("the agent wants to stop in iteration {iteration}")]
    StopHookTrigger { iteration: u32 },
    #[say("the agent was sent on into iteration {iteration}")]
    PromptReinjected { iteration: u32 },
}
