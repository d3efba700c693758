//! One line per notice, for the log and for the screen.

use super::{BreakerRule, Evidence, Outcome};
use crate::lang::Lang;
use crate::text::duration::plural;
use crate::tr;

impl BreakerRule {
    /// What was counted when it opened; the log and the screen say the same.
    pub fn opened(self, count: u32, lang: Lang) -> String {
        let noun_en = |one, many| plural(count as usize, one, many);
        let iterations_en = noun_en("iteration", "iterations");
        let times_en = noun_en("time", "times");
        let promises_en = noun_en("promise", "promises");
        match self {
            BreakerRule::Stalled => tr!(
                lang,
                "{count} {iterations_en} in a row without progress: circuit breaker open"
            ),
            BreakerRule::MissingPromise => tr!(
                lang,
                "{count} {iterations_en} in a row without a promise: circuit breaker open"
            ),
            BreakerRule::SameError => tr!(
                lang,
                "The same error {count} {times_en} in a row: circuit breaker open"
            ),
            BreakerRule::FalsePromise => tr!(
                lang,
                "{count} false {promises_en} in a row: circuit breaker open"
            ),
        }
    }
}

/// `2 h 13 min`; seconds only where there are no minutes.
pub fn span(ms: u64, lang: Lang) -> String {
    let seconds = ms.div_ceil(1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => tr!(lang, "{seconds} s"),
        (0, _) => tr!(lang, "{minutes} min"),
        _ => tr!(lang, "{hours} h {minutes} min"),
    }
}

pub(super) fn outcome_words(outcome: &Outcome, lang: Lang) -> String {
    let reason = outcome.reason();
    match outcome {
        Outcome::Complete => tr!(lang, "complete"),
        Outcome::Paused { .. } => tr!(lang, "paused ({reason})"),
        Outcome::Unproven { tasks } => {
            let count = tasks.len();
            tr!(lang, "done, and {count} not proven: `ralph accept`")
        }
        Outcome::NoCheck { .. } => tr!(lang, "the check can't be run: {reason}"),
        Outcome::Blocked { .. } if reason.trim().is_empty() => tr!(lang, "blocked"),
        Outcome::Blocked { .. } => tr!(lang, "blocked: {reason}"),
        Outcome::CircuitBreak { .. } => tr!(lang, "circuit breaker ({reason})"),
        Outcome::Errors => tr!(lang, "too many errors in a row"),
        Outcome::GateFailed { .. } => tr!(lang, "verification keeps failing: {reason}"),
        Outcome::Budget { .. } => tr!(lang, "budget spent ({reason})"),
        Outcome::Limit { .. } => tr!(lang, "ended at a limit ({reason})"),
        Outcome::Cancelled => tr!(lang, "abandoned"),
        Outcome::Interrupted => tr!(lang, "interrupted; everything is saved"),
    }
}

pub(super) fn progress_words(evidence: &[Evidence], lang: Lang) -> String {
    if evidence.is_empty() {
        return tr!(lang, "no progress");
    }
    let words: Vec<String> = evidence
        .iter()
        .map(|e| match e {
            Evidence::Tasks { .. } => tr!(lang, "tasks ticked"),
            Evidence::Phase { phase } => tr!(lang, "phase {phase} reached"),
            Evidence::Commit => tr!(lang, "new commit"),
            Evidence::Tree => tr!(lang, "new content"),
        })
        .collect();
    words.join(&tr!(lang, ", "))
}

pub(super) fn commands(results: &[super::CommandResult]) -> String {
    let one = |r: &super::CommandResult| match r.exit {
        Some(code) => format!("`{}` → {code}", r.command),
        None => format!("`{}` → –", r.command),
    };
    results.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whole seconds, or tenths below ten.
/// The phase and the task of a turn, as far as there are any.
pub(super) fn place(phase: Option<&str>, task: Option<&super::TaskRef>) -> (String, String) {
    let phase = phase.map(|phase| format!(" · Phase {phase}"));
    let task = task.map(|task| format!(" · {} {}", task.id, task.text));
    (phase.unwrap_or_default(), task.unwrap_or_default())
}

pub(super) fn tally(completed: usize, total: usize) -> String {
    match total {
        0 => String::new(),
        _ => format!(" · {completed}/{total}"),
    }
}

pub(super) fn seconds(ms: u64) -> String {
    if ms < 10_000 {
        format!("{}.{}", ms / 1000, ms % 1000 / 100)
    } else {
        (ms / 1000).to_string()
    }
}
