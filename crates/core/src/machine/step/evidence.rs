//! What the evidence is worth: whether the work can be proven, and what a
//! claim lacks.

use super::out::Out;
use crate::lang::Spoken;
use crate::machine::{Goal, Integrity, Missing, Notice, State, TaskFacts};
use crate::template::PromptNote;

/// Whether it is time to prove the work: every task is done and none was lost,
/// or only a look at the forge can tell. Words play no part in this.
pub(super) fn is_due_for_proof(state: &State) -> bool {
    if state.rules.goal.is_on_forge() {
        return true;
    }
    if state.rules.goal == Goal::Prompt {
        let decides = state.rules.checks_decide && state.turn.number > 0;
        return decides && has_checks(state) && !is_weakened(state);
    }
    let is_done = |facts: &TaskFacts| facts.total > 0 && facts.pending == 0;
    matches!(state.rules.goal, Goal::Tasks { .. })
        && state.tasks.is_known
        && !state.tasks.more_asked
        && state.tasks.facts.as_ref().is_some_and(is_done)
        && !has_lost_tasks(state)
        && !is_weakened(state)
        && state.early_ticks().is_empty()
        && (!state.rules.promise_required || state.turn.number == 0)
}

/// Whether something is set up that Ralph can run to prove the work.
pub(super) fn has_checks(state: &State) -> bool {
    state.rules.verify.is_some() || !state.rules.checks.tasks.is_empty()
}

pub(super) fn has_lost_tasks(state: &State) -> bool {
    let facts = state.tasks.facts.as_ref();
    facts.is_some_and(|facts| lost_tasks(state, facts) > 0)
}

/// How many tasks are gone: counted, and by name where others took their
/// place.
pub(super) fn lost_tasks(state: &State, facts: &TaskFacts) -> usize {
    let fewer = state.tasks.most.saturating_sub(facts.total);
    fewer.max(facts.lost.len())
}

/// Whether the checks are so weak that nothing may count as proven.
pub(super) fn is_weakened(state: &State) -> bool {
    state.rules.checks.integrity == Integrity::Strict && !state.evidence.weakened.is_empty()
}

/// The files that were weakened, each once.
pub(super) fn weakened_files(state: &State) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for weakening in &state.evidence.weakened {
        if !files.contains(&weakening.file) {
            files.push(weakening.file.clone());
        }
    }
    files
}

pub(super) fn reject(state: &mut State, claim: String, missing: Vec<Missing>, out: &mut Out) {
    state.counters.false_promise += 1;
    state.notes.push(PromptNote::PromiseRejected {
        claim: claim.clone(),
        missing: missing.iter().map(Spoken::of).collect(),
    });
    out.tell(Notice::PromiseRejected {
        iteration: state.turn.number,
        claim,
        missing,
    });
}
