//! What went wrong, and how often in a row.

use super::out::Out;
use crate::lang::{Lang, Say, Spoken};
use crate::machine::progress::failure_hash;
use crate::machine::state::Failing;
use crate::machine::{ErrorNote, Notice, State};
use crate::template::PromptNote;

pub(super) fn count_error(state: &mut State, turn: u32, error: ErrorNote, out: &mut Out) {
    let message = error.detail.say(Lang::En);
    count_failure(state, Failing::Turn, &message);
    if error.class.counts() {
        state.counters.errors += 1;
        state.failures.errors.push(error.clone());
    }
    state.notes.push(PromptNote::LastError {
        class: error.class.into_str().into(),
        message: Spoken::of(&error.detail),
    });
    out.tell(Notice::Error {
        iteration: turn,
        class: error.class,
        detail: error.detail,
        in_a_row: state.counters.errors,
    });
}

pub(super) fn forget_errors(state: &mut State) {
    state.counters.errors = 0;
    state.failures.errors.clear();
    if matches!(state.failures.last, Some((Failing::Turn, _))) {
        forget_failure(state);
    }
}

/// The same failure again and again is a loop of its own kind (BRKR-07).
pub(super) fn count_failure(state: &mut State, what: Failing, output: &str) {
    let failure = Some((what, failure_hash(output)));
    if state.failures.last == failure {
        state.counters.same_error += 1;
    } else {
        state.counters.same_error = 1;
        state.failures.last = failure;
    }
}

pub(super) fn forget_failure(state: &mut State) {
    state.counters.same_error = 0;
    state.failures.last = None;
}
