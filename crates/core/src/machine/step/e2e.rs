//! End-to-end tests: Ralph runs them itself after a phase, and their exit
//! status decides (E2E-01 to E2E-04).

use super::decide::{decide, finish, finish_or};
use super::verify::complete;
use crate::machine::checks::CheckNotice;
use crate::machine::step::out::Out;
use crate::machine::{CommandResult, Effect, Outcome, Proof, Stage, State};
use crate::template::PromptNote;

/// Runs the end-to-end tests; `completes`: nothing is left to do after them.
pub(super) fn run_e2e(state: &mut State, completes: bool, out: &mut Out) {
    let iteration = state.turns;
    state.e2e_due = false;
    state.stage = Stage::Trying { completes };
    out.tell(CheckNotice::E2eStart { iteration });
    out.push(Effect::RunE2e { turn: iteration });
}

/// Says once that a phase is not tried out, where nothing is set up for that
/// (E2E-03).
pub(super) fn skip_e2e(state: &mut State, out: &mut Out) {
    if state.rules.checks.e2e || std::mem::replace(&mut state.e2e_skipped, true) {
        return;
    }
    let iteration = state.turns;
    out.tell(CheckNotice::E2eSkipped { iteration });
}

/// Whether tests that failed before are due again, now that the agent had a
/// turn to repair what they found.
pub(super) fn e2e_is_due(state: &State) -> bool {
    state.e2e_due && state.rules.checks.e2e
}

pub(super) fn judge_e2e(state: &mut State, result: &CommandResult, completes: bool, out: &mut Out) {
    finish_or(state, out, |state, out| take(state, result, completes, out));
}

fn take(state: &mut State, result: &CommandResult, completes: bool, out: &mut Out) {
    let iteration = state.turns;
    out.tell(CheckNotice::E2eComplete {
        iteration,
        result: result.clone(),
    });
    if result.exit == Some(0) {
        state.counters.e2e_failed = 0;
        state.proven.push(Proof::Command {
            command: result.command.clone(),
            duration_ms: result.duration_ms,
        });
        return if completes {
            complete(state, out)
        } else {
            decide(state, out)
        };
    }
    state.counters.e2e_failed += 1;
    if state.counters.e2e_failed > state.rules.e2e_repairs {
        let reason = match result.exit {
            Some(code) => format!("E2E FAILED: {} (exit {code})", result.command),
            None => format!("E2E FAILED: {}", result.command),
        };
        return finish(state, Outcome::Blocked { reason }, out);
    }
    state.e2e_broken = true;
    state.notes.push(PromptNote::VerifyFailed {
        command: result.command.clone(),
        output: result.output.clone(),
    });
    decide(state, out);
}
