//! The limit governor: what the failure of an agent says about its limits.
//! How long to stay away is for the machine to decide.
//!
//! It is told only what the client itself said about its failure: its
//! structured events, its error, its error output. What tools printed or files
//! hold never comes here, so that a limit phrase in a project means nothing.

mod duration;
mod moment;
mod words;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::words::is_rate_limit;

use crate::machine::{Need, Refusal};

/// What kind of failure a client reported, as far as it said so in a form that
/// is not prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    #[default]
    Unknown,
    /// It ended without saying how the turn went.
    NoResult,
    Auth,
    /// Money: no credit left.
    Billing,
    /// Somebody in charge of the account has to act.
    Admin,
    RateLimit,
    Overloaded,
    /// The server failed, or could not be reached.
    Server,
    InvalidRequest,
    ContextTooLong,
    ModelNotFound,
    /// A limit that the client was started with.
    MaxTurns,
    Budget,
    Interrupted,
    /// A hook or a missing permission kept it from going on.
    Refused,
}

/// What a client reported about a limit in structured form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitEvent {
    /// The call was refused; otherwise it is a warning that the limit is near.
    pub rejected: bool,
    /// The client's name for what is limited: `five_hour`, `seven_day`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub window: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u32>,
}

/// Everything that a client said about its failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failure<'a> {
    pub class: ErrorClass,
    /// The HTTP status of the refused call.
    pub status: Option<u16>,
    pub event: Option<&'a LimitEvent>,
    /// Its words: the error itself, then its error output.
    pub words: &'a [&'a str],
}

/// What the failure says about limits; nothing where it is about something
/// else. `zone` is the name of the zone that clock times without one are in.
pub fn judge(failure: &Failure<'_>, now_ms: i64, zone: &str) -> Option<Refusal> {
    let context = moment::Context::new(now_ms, zone);
    if let Some(event) = failure.event.filter(|event| event.rejected) {
        let unknown = Refusal::Usage { resets_at: None };
        return Some(match event.resets_at_ms {
            Some(at) if at > now_ms => Refusal::Usage {
                resets_at: Some(at),
            },
            // It has been reset; words that say a time mean the same moment.
            Some(_) => by_words(failure, &context)
                .filter(|refusal| matches!(refusal, Refusal::Person(_)))
                .unwrap_or(unknown),
            None => by_words(failure, &context)
                .filter(|refusal| !matches!(refusal, Refusal::Overload { .. }))
                .unwrap_or(unknown),
        });
    }
    match by_words(failure, &context) {
        Some(refusal) => Some(refusal),
        None => by_class(failure),
    }
}

fn by_words(failure: &Failure<'_>, context: &moment::Context) -> Option<Refusal> {
    let mut said = failure.words.iter();
    said.find_map(|text| words::judge(text, failure.class, context))
}

fn by_class(failure: &Failure<'_>) -> Option<Refusal> {
    let person = |need| Some(Refusal::Person(need));
    let overload = Some(Refusal::Overload {
        retry_after_ms: None,
    });
    match (failure.class, failure.status) {
        (ErrorClass::Auth, _) => person(Need::Login),
        (ErrorClass::Billing, _) => person(Need::Spend),
        (ErrorClass::Admin, _) => person(Need::Admin),
        (ErrorClass::ModelNotFound, _) => person(Need::Plan),
        (ErrorClass::InvalidRequest, _) => person(Need::Request),
        (ErrorClass::Overloaded | ErrorClass::Server | ErrorClass::RateLimit, _) => overload,
        (ErrorClass::Unknown | ErrorClass::NoResult, Some(status)) => match status {
            401 => person(Need::Login),
            402 => person(Need::Spend),
            403 => person(Need::Plan),
            400 => person(Need::Request),
            429 | 500..=599 => overload,
            _ => None,
        },
        _ => None,
    }
}
