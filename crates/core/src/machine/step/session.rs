//! A loop inside a session: whose it is, and when its client would not obey
//! another block (STOP-08, trap 12).

use super::decide::{finish, stop_outcome};
use super::questions;
use crate::machine::step::out::Out;
use crate::machine::{
    Need, Outcome, PauseReason, Request, SessionEvent, SessionNotice, SessionState, State,
};

pub(super) fn take_session(state: &mut State, event: &SessionEvent, out: &mut Out) {
    let notice = match event {
        SessionEvent::Joined { id, host } => {
            state.session = Some(SessionState {
                id: id.clone(),
                host: host.clone(),
                ..SessionState::default()
            });
            let (id, host) = (id.clone(), host.clone());
            SessionNotice::Joined { id, host }
        }
        SessionEvent::Stopping { acted, cap } => {
            let iteration = state.turns;
            let session = state.session.get_or_insert_default();
            if *acted {
                session.blocks = 0;
            }
            session.cap = *cap;
            session.stopping = true;
            SessionNotice::StopHookTrigger { iteration }
        }
        SessionEvent::Left { request } => return leave(state, *request, out),
        SessionEvent::NobodyWaits => return questions::let_go(state, out),
    };
    out.tell(notice);
}

fn leave(state: &mut State, request: Request, out: &mut Out) {
    if state.outcome().is_none() {
        state.stopping = Some(request);
        if let Some(outcome) = stop_outcome(state) {
            finish(state, outcome, out);
        }
    }
}

/// A person spoke: the client counts anew.
pub(super) fn forget_blocks(state: &mut State) {
    if let Some(session) = &mut state.session {
        session.blocks = 0;
        session.stopping = false;
    }
}

/// Ends with a clear verdict where the client would override the next block
/// in silence; whether it did.
pub(super) fn release_at_cap(state: &mut State, out: &mut Out) -> bool {
    let used_up = state.session.as_ref().is_some_and(SessionState::is_used_up);
    if used_up {
        let reason = PauseReason::Agent(Need::BlockCap);
        finish(state, Outcome::Paused { reason }, out);
    }
    used_up
}

/// A turn begins because a stop was blocked, where one was.
pub(super) fn count_block(state: &mut State, out: &mut Out) {
    let iteration = state.turns;
    if let Some(session) = state.session.as_mut().filter(|session| session.stopping) {
        session.stopping = false;
        session.blocks += 1;
        out.tell(SessionNotice::PromptReinjected { iteration });
    }
}
