//! End-to-end tests: Ralph runs them itself after a phase, and their exit
//! status decides (E2E-01 to E2E-04).

use super::next::{Next, stopped};
use super::out::Out;
use crate::machine::{CheckNotice, CommandResult, Outcome, Proof, State};

/// Says once that a phase is not tried out, where nothing is set up for that
/// (E2E-03).
pub(super) fn skip_e2e(state: &mut State, out: &mut Out) {
    if state.rules.checks.e2e || std::mem::replace(&mut state.e2e.skipped, true) {
        return;
    }
    let iteration = state.turn.number;
    out.tell(CheckNotice::E2eSkipped { iteration });
}

/// Whether tests that failed before are due again, now that the agent had a
/// turn to repair what they found.
pub(super) fn e2e_is_due(state: &State) -> bool {
    state.e2e.due && state.rules.checks.e2e
}

pub(super) fn take_e2e(
    state: &mut State,
    result: &CommandResult,
    completes: bool,
    out: &mut Out,
) -> Next {
    if let Some(end) = stopped(state) {
        return end;
    }
    out.tell(CheckNotice::E2eComplete {
        iteration: state.turn.number,
        result: result.clone(),
    });
    let is_disputed = std::mem::take(&mut state.e2e.disputed);
    if result.exit == Some(0) {
        state.counters.e2e_failed = 0;
        // Whoever finds broken what the tests call right can't go on like that.
        state.counters.e2e_disputed = match is_disputed {
            true => state.counters.e2e_disputed + 1,
            false => 0,
        };
        // What passed deserves a second look, also where nothing may be repaired.
        if state.counters.e2e_disputed > state.rules.e2e_repairs.max(1) {
            let reason = state.claims.last_promise.clone();
            return Next::Finish(Outcome::Blocked { reason });
        }
        state.evidence.proven.push(Proof::Command {
            command: result.command.clone(),
            duration_ms: result.duration_ms,
        });
        return if completes {
            Next::Complete
        } else {
            Next::Decide
        };
    }
    state.counters.e2e_failed += 1;
    if state.counters.e2e_failed > state.rules.e2e_repairs {
        let reason = match result.exit {
            Some(code) => format!("E2E FAILED: {} (exit {code})", result.command),
            None => format!("E2E FAILED: {}", result.command),
        };
        return Next::Finish(Outcome::Blocked { reason });
    }
    state.e2e.broken = true;
    state.notes.push(result.note());
    Next::Decide
}
