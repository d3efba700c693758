//! The limit governor: what the failure of an agent says about its limits, and
//! how long to stay away.
//!
//! It is told only what the client itself said about its failure: its
//! structured events, its error, its error output. What tools printed or files
//! hold never comes here, so that a limit phrase in a project means nothing.

mod moment;
mod say;
mod words;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

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

/// What to do about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum LimitVerdict {
    /// The limit is gone at this moment.
    WaitUntil { wall_ms: i64 },
    /// It will go, and nobody said when: see [`fallback_wait_ms`].
    WaitUnknown,
    /// The server is busy or away: see [`overload_wait_ms`].
    Overload { retry_after_ms: Option<u64> },
    /// Waiting does not help: somebody has to do something.
    Pause { reason: PauseReason },
}

/// What only a person can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    Spend,
    Admin,
    Auth,
    Plan,
}

/// What the failure says about limits; nothing where it is about something
/// else. `zone` is the name of the zone that clock times without one are in.
pub fn judge(failure: &Failure<'_>, now_ms: i64, zone: &str) -> Option<LimitVerdict> {
    let context = moment::Context::new(now_ms, zone);
    if let Some(event) = failure.event.filter(|event| event.rejected) {
        return Some(match event.resets_at_ms.filter(|&at| at > now_ms) {
            Some(wall_ms) => LimitVerdict::WaitUntil { wall_ms },
            // A reset that is past did not help; the words may know more.
            None => match by_words(failure, &context) {
                None | Some(LimitVerdict::Overload { .. }) => LimitVerdict::WaitUnknown,
                Some(verdict) => verdict,
            },
        });
    }
    match by_words(failure, &context) {
        Some(verdict) => Some(verdict),
        None => by_class(failure),
    }
}

fn by_words(failure: &Failure<'_>, context: &moment::Context) -> Option<LimitVerdict> {
    let mut said = failure.words.iter();
    said.find_map(|text| words::judge(text, failure.class, context))
}

fn by_class(failure: &Failure<'_>) -> Option<LimitVerdict> {
    let pause = |reason| Some(LimitVerdict::Pause { reason });
    let overload = Some(LimitVerdict::Overload {
        retry_after_ms: None,
    });
    match (failure.class, failure.status) {
        (ErrorClass::Auth, _) => pause(PauseReason::Auth),
        (ErrorClass::Billing, _) => pause(PauseReason::Spend),
        (ErrorClass::Admin, _) => pause(PauseReason::Admin),
        (ErrorClass::Overloaded | ErrorClass::Server | ErrorClass::RateLimit, _) => overload,
        (ErrorClass::Unknown | ErrorClass::NoResult, Some(status)) => match status {
            401 => pause(PauseReason::Auth),
            402 => pause(PauseReason::Spend),
            429 | 500..=599 => overload,
            _ => None,
        },
        _ => None,
    }
}

const MINUTE_MS: u64 = 60_000;

/// How long to wait where nobody said how long: 5, 10, 20, 40 minutes, then
/// an hour each. `attempt` counts from 0.
pub fn fallback_wait_ms(attempt: u32) -> u64 {
    (5 * MINUTE_MS)
        .saturating_mul(1 << attempt.min(8))
        .min(60 * MINUTE_MS)
}

/// How long to stay away from a busy server (ERRC-06): what it asked for, else
/// a minute, doubled up to a quarter of an hour; `random` spreads out those who
/// were sent away together. `attempt` counts from 0.
pub fn overload_wait_ms(attempt: u32, retry_after_ms: Option<u64>, random: u32) -> u64 {
    let base = match retry_after_ms {
        Some(asked) => asked.max(1_000),
        None => MINUTE_MS
            .saturating_mul(1 << attempt.min(8))
            .min(15 * MINUTE_MS),
    };
    // Never earlier than asked, at most a quarter later.
    base.saturating_add(base / 4 * u64::from(random % 1_000) / 1_000)
}
