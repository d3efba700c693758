//! The promise protocol: reads from an agent's final text what it claims
//! about its work (PROM-01 to PROM-10, X-03, X-05).
//!
//! A promise is a claim and nothing more; whether it is true is decided
//! elsewhere, by evidence. This module only tells a promise that was *given*
//! from one that was shown as code, quoted, echoed or talked about.

mod clean;
mod echo;
mod markdown;
mod rules;
mod statement;
mod status_block;
mod tags;
mod warning;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::without_controls;

pub use rules::{Conflict, PromiseRules};
use statement::Given;
pub use warning::PromiseWarning;

/// What an agent claims at the end of its turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    Continue,
    /// The completion text as it was written.
    Complete(String),
    PhaseComplete,
    E2ePassed,
    /// With the reason, which may be empty.
    E2eFailed(String),
    /// With the reason, which may be empty.
    Blocked(String),
    /// With what the agent wants to know from a person.
    Question(String),
    /// A tag whose text is none of the agreed ones.
    Unknown(String),
}

impl Promise {
    /// Whether obeying it ends the run, the phase or the work on a task.
    pub fn stops(&self) -> bool {
        self.claims_success() || matches!(self, Promise::Blocked(_) | Promise::Question(_))
    }

    /// Whether it claims that work is finished, which needs evidence.
    pub fn claims_success(&self) -> bool {
        matches!(
            self,
            Promise::Complete(_) | Promise::PhaseComplete | Promise::E2ePassed
        )
    }

    fn claims_failure(&self) -> bool {
        matches!(
            self,
            Promise::Blocked(_) | Promise::Question(_) | Promise::E2eFailed(_)
        )
    }

    fn is_known(&self) -> bool {
        !matches!(self, Promise::Unknown(_))
    }
}

/// The text between the tags, in the default wording.
impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Continue => f.write_str("CONTINUE"),
            Promise::PhaseComplete => f.write_str("PHASE COMPLETE"),
            Promise::E2ePassed => f.write_str("E2E PASSED"),
            Promise::Complete(text) | Promise::Unknown(text) => f.write_str(text),
            Promise::E2eFailed(reason) => with_reason(f, "E2E FAILED", reason),
            Promise::Blocked(reason) => with_reason(f, "BLOCKED", reason),
            Promise::Question(words) => with_reason(f, "QUESTION", words),
        }
    }
}

fn with_reason(f: &mut fmt::Formatter<'_>, claim: &str, reason: &str) -> fmt::Result {
    match reason {
        "" => f.write_str(claim),
        _ => write!(f, "{claim}: {reason}"),
    }
}

/// Whether a text holds an opening or closing tag, so that nothing that an
/// agent writes between tags can be this text.
pub fn holds_tag(text: &str) -> bool {
    tags::has_mark(text)
}

/// The promise that counts, if any, and what a person should know about the
/// way it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detection {
    pub promise: Option<Promise>,
    pub warnings: Vec<PromiseWarning>,
}

/// Reads the final text of an agent's turn. `prompt` is what the agent was
/// sent; whatever the text merely repeats of it does not count.
pub fn detect(text: &str, rules: &PromiseRules, prompt: Option<&str>) -> Detection {
    let prompt = prompt.map(plain).unwrap_or_default();
    let text = echo::cut_prompt(plain(text), &prompt);
    let said = markdown::said(&text);
    let statements = statement::judge(&text, &said, &rules.compile(), &prompt);
    let (promise, conflict) = decide(&statements.given, &said, rules.conflict);
    let mut warnings: Vec<PromiseWarning> = conflict.into_iter().collect();
    warnings.extend(warning::about(&statements));
    Detection { promise, warnings }
}

/// A text of an agent without copies of its prompt, and a view of it, byte
/// for byte as long, in which code and quotes are hidden.
pub(crate) struct Said {
    pub text: String,
    pub view: String,
}

pub(crate) fn said_by_agent(text: &str, prompt: &str) -> Said {
    let text = echo::cut_prompt(plain(text), &plain(prompt));
    let view = markdown::said(&text);
    Said { text, view }
}

/// A captured screen and a plain reply read the same.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    without_controls(text).into_owned()
}

/// Which of several promises counts (PROM-09).
fn decide(
    given: &[Given],
    said: &str,
    conflict: Conflict,
) -> (Option<Promise>, Option<PromiseWarning>) {
    let known: Vec<&Given> = given.iter().filter(|g| g.promise.is_known()).collect();
    let Some(last) = known.last() else {
        return (given.last().map(|g| g.promise.clone()), None);
    };
    let chosen = match conflict {
        Conflict::LastWins => {
            let ends_the_text = last.alone && statement::is_blank_after(said, last.line_end);
            let goes_on = known.iter().any(|g| g.promise == Promise::Continue);
            match goes_on && last.promise.stops() {
                true if ends_the_text => return (Some(last.promise.clone()), None),
                true => &Promise::Continue,
                false => &last.promise,
            }
        }
        Conflict::FirstClass => {
            // The first of equals is the last one given, as the search runs
            // from the end.
            let by_class = known.iter().rev().map(|g| &g.promise);
            by_class.min_by_key(|p| class(p)).unwrap_or(&last.promise)
        }
    };
    let warning = known
        .iter()
        .rev()
        .find(|g| disagree(chosen, &g.promise))
        .map(|g| PromiseWarning::Conflict {
            chosen: chosen.clone(),
            set_aside: g.promise.clone(),
        });
    (Some(chosen.clone()), warning)
}

/// The order in which seed 003's script looks for tags.
fn class(promise: &Promise) -> u8 {
    match promise {
        Promise::Complete(_) | Promise::PhaseComplete => 0,
        Promise::E2ePassed => 1,
        Promise::Blocked(_) | Promise::Question(_) => 2,
        Promise::E2eFailed(_) => 3,
        Promise::Continue => 4,
        Promise::Unknown(_) => 5,
    }
}

fn disagree(a: &Promise, b: &Promise) -> bool {
    let one_way = |a: &Promise, b: &Promise| {
        (a.stops() && *b == Promise::Continue) || (a.claims_success() && b.claims_failure())
    };
    one_way(a, b) || one_way(b, a)
}
