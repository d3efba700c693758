//! What other processes write to a run: data from outside, which is checked
//! before it becomes an event. An agent can't write here while the guard
//! rides along: `.ralph` is closed to it.

use std::time::Duration;

use ralph_core::machine::{Kind, LONGEST_REPLY, State};
use ralph_core::text;
use ralph_store::FileError;
use ralph_store::inbox;
use ralph_store::layout::Layout;
use serde::{Deserialize, Serialize};

use crate::clock;

/// How often the folder is looked at where no signal says that something
/// came.
const LOOK: Duration = Duration::from_millis(500);
/// More than this at once is a mistake.
const MOST_ITERATIONS: u32 = 10_000;
const LONGEST_EXTENSION_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// A letter to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Letter {
    run: String,
    wish: Written,
}

/// What can be written to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Written {
    /// More turns, more time; zero changes nothing.
    #[strum(to_string = "extended")]
    Extend { iterations: u32, duration_ms: u64 },
    #[strum(to_string = "replied")]
    Answer { question: u32, text: String },
}

impl Written {
    /// What it becomes; `None` where it makes no sense.
    pub fn accepted(self, state: &State) -> Option<Kind> {
        match self {
            Written::Extend {
                iterations,
                duration_ms,
            } => {
                let sound = iterations <= MOST_ITERATIONS && duration_ms <= LONGEST_EXTENSION_MS;
                (sound && (iterations > 0 || duration_ms > 0)).then_some(Kind::Extended {
                    iterations,
                    duration_ms,
                })
            }
            Written::Answer { question, text } => {
                let text = reply_text(&text)?;
                let open = state.open_questions().any(|open| open.id == question);
                open.then_some(Kind::Replied { question, text })
            }
        }
    }
}

/// An answer as it may go into journal and prompt; `None` where it says
/// nothing or too much.
pub fn reply_text(text: &str) -> Option<String> {
    let text = text::sanitize(text.trim());
    let fits = !text.is_empty() && text.chars().count() <= LONGEST_REPLY;
    fits.then(|| text::redact(&text).into_owned())
}

/// Writes to the run of a project.
pub fn put(layout: &Layout, run: &str, wish: Written) -> Result<(), FileError> {
    let letter = Letter {
        run: run.into(),
        wish,
    };
    let letter = serde_json::to_value(letter).unwrap_or_default();
    let name = format!("{:020}-{:08x}", clock::now().wall_ms, clock::random());
    inbox::put(&layout.inbox(), &name, &letter)
}

/// The events of what was written to this run. What was meant for another
/// run, or makes no sense, is gone then.
pub fn take(layout: &Layout, run: &str, state: &State) -> Vec<Kind> {
    let letters = inbox::take(&layout.inbox()).into_iter();
    let letters = letters.filter_map(|value| serde_json::from_value::<Letter>(value).ok());
    let ours = letters.filter(|letter| letter.run == run);
    ours.filter_map(|letter| letter.wish.accepted(state))
        .collect()
}

/// Ends when something was written.
pub async fn came(layout: &Layout) {
    let inbox = layout.inbox();
    while !inbox::has_letters(&inbox) {
        tokio::time::sleep(LOOK).await;
    }
}
