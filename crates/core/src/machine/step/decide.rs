//! To end or to go on.

use super::breaker::breaker;
use super::e2e::e2e_is_due;
use super::evidence::has_lost_tasks;
use super::lanes;
use super::limits::{is_over, reached_limit};
use super::next::{Next, stop_outcome};
use super::out::Out;
use super::session::is_at_cap;
use super::ticks::check_ticks;
use super::turn::{next_turn, tell_waiting};
use crate::machine::{Need, Outcome, PauseReason, State, TaskFacts};

/// Nothing is finished: go on, unless something says otherwise.
pub(super) fn decide(state: &mut State, out: &mut Out) -> Next {
    if let Some(outcome) = stop_outcome(state) {
        return Next::Finish(outcome);
    }
    check_ticks(state, out).unwrap_or(Next::CarryOn)
}

/// The same where ticks are not looked at any more.
pub(super) fn carry_on(state: &mut State, out: &mut Out) -> Next {
    if lanes::settle(state, None, out) {
        return Next::Rest;
    }
    if let Some(outcome) = stop_outcome(state) {
        return Next::Finish(outcome);
    }
    if e2e_is_due(state) {
        return Next::RunE2e { completes: false };
    }
    if is_over(state.counters.errors, state.rules.limits.consecutive_errors) {
        return Next::Finish(Outcome::Errors);
    }
    if let Some(next) = breaker(state, out) {
        return next;
    }
    if let Some(kind) = state.rules.budget.used_up(&state.agents.bill) {
        let limit = kind.into_str().into();
        return Next::Finish(Outcome::Budget { limit });
    }
    if let Some(limit) = reached_limit(state) {
        return Next::Limit(limit);
    }
    if is_at_cap(state) {
        return Next::pause(PauseReason::Agent(Need::BlockCap));
    }
    if is_stuck(state) {
        tell_waiting(state, out);
        return Next::pause(PauseReason::Depends);
    }
    next_turn(state, out)
}

/// No open task can be started, as at the start of a run (TASK-10).
fn is_stuck(state: &State) -> bool {
    let facts = state.tasks.facts.as_ref().filter(|_| state.tasks.is_known);
    let is_waiting = |facts: &TaskFacts| facts.next.is_none() && !facts.waiting.is_empty();
    // What an agent took out it can put back.
    let is_a_persons = state.rules.lanes.is_none() && !has_lost_tasks(state);
    is_a_persons && facts.is_some_and(is_waiting)
}
