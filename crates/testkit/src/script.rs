//! The script of a model server: what it answers, turn by turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where requests with tools go.
pub const MAIN: &str = "main";
/// Where requests without tools go: titles, summaries, loop detection.
pub const SIDE: &str = "side";

/// One list of turns per lane.
///
/// A request takes the next turn of its lane. Requests with tools go to
/// `main`, those without to `side`, unless `select` sends them elsewhere.
/// `side` may be left out: such requests then get a neutral answer, because
/// how many of them come is the client's affair.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub lanes: BTreeMap<String, Vec<Turn>>,
    /// The first that matches decides.
    pub select: Vec<Select>,
}

/// Sends conversations that open with a text to a lane of their own.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// Found in the system prompt or in the first message of the user. Later
    /// messages don't count: a subagent's task also stands in the history of
    /// the agent that gave it.
    pub text: String,
    pub lane: String,
}

/// One answer of the model, or of the server in its place.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    pub say: String,
    pub call: Vec<Call>,
    pub usage: Usage,
    /// Answers with a status instead of with the model.
    pub refuse: Option<Refusal>,
    /// Waits so long before it answers.
    pub delay_ms: u64,
    /// Breaks the connection off in the middle of an event.
    pub cut: bool,
    /// How many requests get this answer; 0 is all from here on.
    pub repeat: u32,
}

/// A tool call. An input that is a text is a call of a tool with free-form
/// input, and `namespace/name` one of a tool in a namespace; only the Responses
/// API has either.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub input: Value,
}

/// Tokens as the model counted them.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Without what came from or went into a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// An answer that is an error.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: Value,
}

impl Default for Turn {
    fn default() -> Turn {
        Turn {
            say: String::new(),
            call: Vec::new(),
            usage: Usage::default(),
            refuse: None,
            delay_ms: 0,
            cut: false,
            repeat: 1,
        }
    }
}

impl Default for Usage {
    fn default() -> Usage {
        Usage {
            input: 100,
            output: 20,
            cache_read: 0,
            cache_write: 0,
        }
    }
}

impl Script {
    /// One conversation, and neutral answers to everything beside it.
    pub fn main(turns: Vec<Turn>) -> Script {
        Script {
            lanes: BTreeMap::from([(MAIN.to_owned(), turns)]),
            select: Vec::new(),
        }
    }
}

impl Turn {
    pub fn say(text: &str) -> Turn {
        Turn {
            say: text.into(),
            ..Turn::default()
        }
    }

    #[must_use]
    pub fn call(mut self, call: Call) -> Turn {
        self.call.push(call);
        self
    }

    pub fn refuse(refusal: Refusal) -> Turn {
        Turn {
            refuse: Some(refusal),
            ..Turn::default()
        }
    }

    #[must_use]
    pub fn for_ever(mut self) -> Turn {
        self.repeat = 0;
        self
    }

    #[must_use]
    pub fn cut(mut self) -> Turn {
        self.cut = true;
        self
    }
}
