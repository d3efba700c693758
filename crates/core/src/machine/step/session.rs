//! A loop inside a session: whose it is, and when its client would not obey
//! another block (STOP-08, trap 12).

use super::next::{Next, stop_outcome};
use super::out::Out;
use super::questions;
use crate::machine::{Request, SessionEvent, SessionNotice, SessionState, State};

pub(super) fn take_session(state: &mut State, event: &SessionEvent, out: &mut Out) -> Next {
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
            let iteration = state.turn.number;
            let session = state.session.get_or_insert_default();
            if *acted {
                session.blocks = 0;
            }
            session.cap = *cap;
            session.stopping = true;
            SessionNotice::StopHookTrigger { iteration }
        }
        SessionEvent::Left { request } => return leave(state, *request),
        SessionEvent::NobodyWaits => return questions::let_go(state),
    };
    out.tell(notice);
    Next::Rest
}

fn leave(state: &mut State, request: Request) -> Next {
    if state.outcome().is_some() {
        return Next::Rest;
    }
    state.stopping = Some(request);
    stop_outcome(state).map_or(Next::Rest, Next::Finish)
}

/// A person spoke: the client counts anew.
pub(super) fn forget_blocks(state: &mut State) {
    if let Some(session) = &mut state.session {
        session.blocks = 0;
        session.stopping = false;
    }
}

/// Whether the client would override the next block in silence: then the run
/// ends with a clear verdict.
pub(super) fn is_at_cap(state: &State) -> bool {
    state.session.as_ref().is_some_and(SessionState::is_used_up)
}

/// A turn begins because a stop was blocked, where one was.
pub(super) fn count_block(state: &mut State, out: &mut Out) {
    let iteration = state.turn.number;
    if let Some(session) = state.session.as_mut().filter(|session| session.stopping) {
        session.stopping = false;
        session.blocks += 1;
        out.tell(SessionNotice::PromptReinjected { iteration });
    }
}
