//! The breaker: what goes wrong in the same way again and again.

use super::limits::is_over;
use super::next::Next;
use super::out::Out;
use crate::machine::{BreakerRule, Notice, Outcome, Sign, State, WaitReason};
use crate::template::PromptNote;

/// How many open tasks are named.
pub(super) const NAMED_TASKS: usize = 5;

/// Ends the run, or waits, where a rule opens the breaker. One turn is tried
/// after a cooldown: the breaker is half open, and what that turn shows opens
/// it for good or closes it (BRKR-06).
pub(super) fn breaker(state: &mut State, out: &mut Out) -> Option<Next> {
    let iteration = state.turn.number;
    let Some((rule, count)) = open_breaker(state) else {
        if state.counters.opened_after.take().is_some() {
            out.tell(Notice::BreakerClosed { iteration });
        }
        return None;
    };
    if state.counters.opened_after == Some(iteration) {
        // The wait is over, and the turn was not made yet.
        return None;
    }
    out.tell(Notice::BreakerOpen {
        iteration,
        rule,
        count,
        signs: breaker_signs(state, rule),
    });
    let ms = state.rules.limits.cooldown_ms;
    if ms == 0 || state.counters.opened_after.is_some() {
        return Some(Next::Finish(Outcome::CircuitBreak { rule }));
    }
    state.counters.opened_after = Some(iteration);
    let why = WaitReason::Cooldown;
    Some(Next::Wait { ms, why })
}

fn open_breaker(state: &State) -> Option<(BreakerRule, u32)> {
    let (counters, limits) = (&state.counters, &state.rules.limits);
    [
        (BreakerRule::Stalled, counters.stalled, limits.stalled),
        (
            BreakerRule::MissingPromise,
            counters.missing_promise,
            limits.missing_promise,
        ),
        (
            BreakerRule::FalsePromise,
            counters.false_promise,
            limits.false_promise,
        ),
        (
            BreakerRule::SameError,
            counters.same_error,
            limits.same_error,
        ),
    ]
    .into_iter()
    .find(|&(_, count, limit)| is_over(count, limit))
    .map(|(rule, count, _)| (rule, count))
}

/// What the rule saw, for the person who has to believe it.
fn breaker_signs(state: &State, rule: BreakerRule) -> Vec<Sign> {
    let last = |count: u32| Sign::Iterations {
        from: state.turn.number.saturating_sub(count) + 1,
        to: state.turn.number,
    };
    let facts = state.tasks.facts.clone().unwrap_or_default();
    match rule {
        BreakerRule::Stalled => {
            let tasks = Sign::Tasks {
                completed: facts.completed,
                total: facts.total,
            };
            let looked_at = &state.rules.evidence;
            // What nobody looked at may well have been there (BRKR-03).
            let nothing_new = match (looked_at.commit, looked_at.tree) {
                (true, true) => Some(Sign::NothingNew),
                (true, false) => Some(Sign::NoCommit),
                (false, true) => Some(Sign::NoContent),
                (false, false) => None,
            };
            let signs = [Some(last(state.counters.stalled)), Some(tasks), nothing_new];
            signs.into_iter().flatten().collect()
        }
        BreakerRule::MissingPromise => vec![last(state.counters.missing_promise)],
        BreakerRule::FalsePromise => {
            let open = facts
                .open
                .into_iter()
                .take(NAMED_TASKS)
                .map(|task| Sign::Open { task });
            std::iter::once(Sign::Promised {
                text: state.claims.last_promise.clone(),
            })
            .chain(open)
            .collect()
        }
        BreakerRule::SameError => {
            let sign = state.notes.next.iter().rev().find_map(repeated_output);
            sign.into_iter().collect()
        }
    }
}

fn repeated_output(note: &PromptNote) -> Option<Sign> {
    match note {
        PromptNote::VerifyFailed { command, output } => Some(Sign::Output {
            of: command.clone(),
            text: output.clone(),
        }),
        PromptNote::LastError { class, message } => Some(Sign::Error {
            of: class.clone(),
            text: message.clone(),
        }),
        PromptNote::NoOutput { file, .. } => Some(Sign::NoFile { file: file.clone() }),
        PromptNote::Forge(note) => note.failure().map(|(of, text)| Sign::Output {
            of: of.into(),
            text: text.into(),
        }),
        _ => None,
    }
}
