//! How much a run may do: what of it is used up, and what a person adds.

use super::out::Out;
use crate::machine::{Limit, Notice, State};

pub(super) fn is_over(count: u32, limit: u32) -> bool {
    limit > 0 && count >= limit
}

pub(super) fn is_used_up(state: &State, limit: Limit) -> bool {
    let limits = &state.rules.limits;
    match limit {
        Limit::Iterations => is_over(iterations(state), limits.max_iterations),
        Limit::Duration => {
            limits.max_duration_ms > 0 && state.elapsed_ms() >= limits.max_duration_ms
        }
        Limit::Dispatches => is_over(state.agents.dispatches, limits.max_dispatches),
    }
}

/// Where lanes work, each call of an agent is one.
fn iterations(state: &State) -> u32 {
    match &state.rules.lanes {
        Some(_) => state.lanes.calls,
        None => state.counted_turns(),
    }
}

pub(super) fn reached_limit(state: &State) -> Option<Limit> {
    let limits = [Limit::Iterations, Limit::Duration, Limit::Dispatches];
    limits.into_iter().find(|&limit| is_used_up(state, limit))
}

pub(super) fn extend(state: &mut State, limit: Limit, out: &mut Out) {
    let max = match limit {
        Limit::Iterations => {
            let by = state.rules.limits.extend_by.max(1);
            let used = state.turn.number.max(iterations(state));
            let until = used.saturating_add(by);
            state.rules.limits.max_iterations = until;
            if is_used_up(state, Limit::Dispatches) {
                // Whoever wants more turns does not want to be asked again.
                state.rules.limits.max_dispatches = state.agents.dispatches.saturating_add(by);
            }
            u64::from(until)
        }
        Limit::Dispatches => {
            let by = state.steps.dispatches.max(1);
            let until = state.agents.dispatches.saturating_add(by);
            state.rules.limits.max_dispatches = until;
            u64::from(until)
        }
        Limit::Duration => {
            let until = state.elapsed_ms().saturating_add(state.steps.duration_ms);
            state.rules.limits.max_duration_ms = until;
            until
        }
    };
    out.tell(Notice::LimitExtended {
        iteration: state.turn.number,
        limit,
        max,
    });
}

/// A person allows more.
pub(super) fn extend_by(state: &mut State, iterations: u32, duration_ms: u64, out: &mut Out) {
    let limits = &mut state.rules.limits;
    let mut raised = Vec::new();
    if iterations > 0 && limits.max_iterations > 0 {
        limits.max_iterations = limits.max_iterations.saturating_add(iterations);
        raised.push((Limit::Iterations, u64::from(limits.max_iterations)));
    }
    if duration_ms > 0 && limits.max_duration_ms > 0 {
        limits.max_duration_ms = limits.max_duration_ms.saturating_add(duration_ms);
        raised.push((Limit::Duration, limits.max_duration_ms));
    }
    let iteration = state.turn.number;
    for (limit, max) in raised {
        out.tell(Notice::LimitExtended {
            iteration,
            limit,
            max,
        });
    }
}
