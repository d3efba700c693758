//! What a look at the world changes, whoever had reason to look.

use super::out::Out;
use super::ticks::take_ticks;
use crate::lang::Spoken;
use crate::machine::{
    CheckNotice, Evidence, Integrity, Notice, Observation, State, TaskRef, Tasks,
};
use crate::template::PromptNote;

/// What changed while no agent ran is nobody's progress, but it was seen.
pub(super) fn take_in(state: &mut State, seen: &Observation, out: &mut Out) {
    look(state, seen);
    note_weakened(state, seen, out);
}

/// Takes in what was seen, and says what of it is new.
pub(super) fn look(state: &mut State, seen: &Observation) -> Vec<Evidence> {
    state.tasks.take(&seen.tasks);
    if let Some(claims) = &seen.claims {
        state.claims.file.take(claims);
    }
    if state.rules.flow.is_some() {
        state.flow.see(seen);
    }
    take_ticks(state, &seen.tasks);
    state.evidence.ground.see(seen);
    let kinds = state.rules.evidence;
    // The phases of a route stand there because Ralph wrote them (EVNT-01).
    let claims = seen.claims.as_ref().filter(|_| !state.is_one_flow());
    state.evidence.progress.observe(seen, claims, kinds)
}

/// Tells what was weakened since the last look.
pub(super) fn note_weakened(state: &mut State, seen: &Observation, out: &mut Out) {
    let before = std::mem::replace(&mut state.evidence.weakened, seen.weakened.clone());
    if state.evidence.weakened.is_empty() || state.rules.checks.integrity == Integrity::Off {
        return;
    }
    let strict = state.rules.checks.integrity == Integrity::Strict;
    if strict {
        let weakened = state.evidence.weakened.iter();
        let found = weakened.map(Spoken::of).collect();
        state.notes.push(PromptNote::ChecksWeakened { found });
    }
    if state.evidence.weakened != before {
        out.tell(CheckNotice::Weakened {
            iteration: state.turn.number,
            found: state.evidence.weakened.clone(),
            strict,
        });
    }
}

pub(super) fn note_lost_tasks(state: &mut State, tasks: &Tasks, out: &mut Out) {
    let Tasks::Read(facts) = tasks else {
        return;
    };
    let iteration = state.turn.number;
    if !facts.removed.is_empty() {
        let ids = facts.removed.clone();
        let removed = ids.clone();
        state.notes.push(PromptNote::TasksShrank { removed });
        out.tell(Notice::TasksRemoved { iteration, ids });
    }
    if !facts.reworded.is_empty() {
        let ids = facts.reworded.iter().map(|task| task.id.clone()).collect();
        let were = facts.reworded.iter().map(TaskRef::name).collect();
        state.notes.push(PromptNote::TasksReworded { were });
        out.tell(Notice::TasksReworded { iteration, ids });
    }
    if !facts.remarked.is_empty() {
        let tasks = facts.remarked.clone();
        out.tell(Notice::TasksRemarked { iteration, tasks });
    }
    if !facts.thinned.is_empty() {
        let tasks = facts.thinned.clone();
        out.tell(Notice::TasksThinned { iteration, tasks });
    }
    if !facts.unticked.is_empty() {
        let ids = facts.unticked.clone();
        state.notes.push(PromptNote::Unticked { ids: ids.clone() });
        out.tell(Notice::TasksUnticked { iteration, ids });
    }
}
