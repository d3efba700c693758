//! What comes after a handler. Handlers don't call each other: they return
//! this, and `step` follows it.

use crate::machine::{CheckScope, Limit, Outcome, PauseReason, Request, State, WaitReason};

#[must_use]
pub(super) enum Next {
    /// Nothing: what was begun comes back with an event.
    Rest,
    /// Work that looks complete is proven, other work is gone on with.
    GoOn,
    /// The turn claimed nothing, or nothing that ends the run: as `GoOn`, with
    /// the verification that follows each turn.
    Unclaimed,
    /// Nothing is finished: go on, unless something says otherwise.
    Decide,
    /// The same where ticks are not looked at any more.
    CarryOn,
    /// The work looks complete: whatever can prove it is run.
    Prove,
    /// A way through a flow came to its end: it is proven and ticked.
    ProveFlow,
    /// Everything that was asked for is there, and seen by Ralph itself.
    Complete,
    /// The forge is looked at.
    Look,
    /// Every check runs once, before the first turn.
    Preflight,
    /// `completes`: a pass ends the run.
    Verify {
        completes: bool,
        scope: CheckScope,
    },
    /// End-to-end tests; `completes`: nothing is left to do after them.
    RunE2e {
        completes: bool,
    },
    Wait {
        ms: u64,
        why: WaitReason,
    },
    Limit(Limit),
    Finish(Outcome),
}

impl Next {
    pub fn pause(reason: PauseReason) -> Next {
        Next::Finish(Outcome::Paused { reason })
    }

    /// Somebody who wants out now gets out; a pause lets the turn be judged.
    pub fn unless_stopped(self, state: &State) -> Next {
        stopped(state).unwrap_or(self)
    }
}

/// Whether somebody wants out now; a pause lets the turn be judged.
pub(super) fn stopped(state: &State) -> Option<Next> {
    let at_once = state.stopping != Some(Request::Pause);
    stop_outcome(state).filter(|_| at_once).map(Next::Finish)
}

pub(super) fn stop_outcome(state: &State) -> Option<Outcome> {
    state.stopping.map(|request| match request {
        Request::Pause => Outcome::Paused {
            reason: PauseReason::Requested,
        },
        Request::Interrupt | Request::Kill => Outcome::Interrupted,
        Request::Cancel => Outcome::Cancelled,
    })
}
