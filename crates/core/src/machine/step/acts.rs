//! What a chain of handlers ends in, where an event has to come next.

use super::beside;
use super::next::Next;
use super::out::Out;
use crate::machine::{
    CheckNotice, CheckScope, Effect, Limit, Notice, OnLimit, Outcome, PauseReason, Stage, State,
    WaitReason,
};

pub(super) fn verify(state: &mut State, completes: bool, scope: CheckScope, out: &mut Out) {
    state.stage = Stage::Verifying { completes };
    let turn = state.turn.number;
    let beside = !completes && beside::is_possible(state);
    out.tell(Notice::GateStart { iteration: turn });
    out.push(Effect::Verify {
        turn,
        scope,
        beside,
    });
}

pub(super) fn preflight(state: &mut State, out: &mut Out) {
    state.stage = Stage::Preflight;
    out.push(Effect::Preflight);
}

pub(super) fn wait(state: &mut State, ms: u64, why: WaitReason, out: &mut Out) {
    state.stage = Stage::Waiting;
    state.waits_for = Some(why);
    let iteration = state.turn.number;
    out.tell(Notice::Wait { iteration, ms, why });
    out.push(Effect::Wait { ms, why });
}

/// Every end of a run passes through here.
pub(super) fn finish(state: &mut State, outcome: Outcome, out: &mut Out) {
    state.stage = Stage::Finished(outcome.clone());
    let iteration = state.turn.number;
    match outcome {
        Outcome::Complete => out.tell(Notice::TaskComplete { iteration }),
        Outcome::Paused { reason } => out.tell(Notice::Pause { iteration, reason }),
        _ => {}
    }
    out.tell(state.end_notice(outcome.clone()));
    out.push(Effect::Finish(outcome));
}

pub(super) fn run_e2e(state: &mut State, completes: bool, out: &mut Out) {
    let turn = state.turn.number;
    state.e2e.due = false;
    state.stage = Stage::Trying { completes };
    out.tell(CheckNotice::E2eStart { iteration: turn });
    out.push(Effect::RunE2e { turn });
}

pub(super) fn reach_limit(state: &mut State, limit: Limit, out: &mut Out) -> Next {
    let iteration = state.turn.number;
    out.tell(Notice::LimitReached { iteration, limit });
    match state.rules.limits.on_limit {
        OnLimit::Pause => Next::pause(PauseReason::Limit(limit)),
        OnLimit::End => Next::Finish(Outcome::Limit { limit }),
        OnLimit::Ask => {
            state.stage = Stage::Asking(limit);
            out.push(Effect::Ask(limit));
            Next::Rest
        }
    }
}
