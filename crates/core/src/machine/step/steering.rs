//! A person steers: what changes at once, and what waits for the turn to end.

use super::evidence::is_due_for_proof;
use super::lanes;
use super::looks::take_in;
use super::next::Next;
use super::out::Out;
use super::questions;
use crate::machine::{
    Goal, Hint, LaneHint, LaneTask, Notice, Observation, Outcome, PauseReason, Stage, State, Steer,
    SteeredTask, WaitReason,
};
use crate::tasks::ListChange;
use crate::template::PromptNote;

pub(super) fn take(
    state: &mut State,
    steer: &Steer,
    task: Option<&SteeredTask>,
    seen: Option<&Observation>,
    out: &mut Out,
) -> Next {
    // Nothing takes up a run that was given up.
    if state.outcome() == Some(&Outcome::Cancelled) {
        return Next::Rest;
    }
    let was_due = is_due_for_proof(state);
    out.tell(Notice::Steered {
        iteration: state.turn.number,
        steer: steer.clone(),
    });
    match steer {
        Steer::Hint { text, keep } => {
            let (text, keep) = (text.clone(), *keep);
            hint(state, LaneHint { text, keep }, out);
        }
        Steer::DropHint { hint } => drop_hint(state, *hint),
        Steer::Skip { tasks } => skip(state, tasks),
        Steer::Unskip { tasks } => unskip(state, tasks),
        Steer::Retry { task } => retry(state, task, out),
        Steer::Focus { task } => state.tasks.focus.clone_from(task),
        Steer::List(change) => list(state, change, task),
    }
    state.tasks.more_asked |= asks_for_more(steer);
    if let Some(seen) = seen {
        take_in(state, seen, out);
    }
    reopen(state, steer);
    match state.rules.lanes.is_some() && state.stage == Stage::Running {
        true => lanes::advance(state, out),
        false => go_on(state, was_due, seen.is_some()),
    }
}

fn hint(state: &mut State, said: LaneHint, out: &mut Out) {
    let id = u32::try_from(state.hints.len()).unwrap_or(u32::MAX - 1) + 1;
    let hint = Hint::new(id, said);
    lanes::tell_all(state, &hint, out);
    state.hints.push(hint);
}

fn drop_hint(state: &mut State, id: u32) {
    let Some(hint) = state.hints.iter_mut().find(|hint| hint.id == id) else {
        return;
    };
    hint.dropped = true;
    let text = hint.text.clone();
    // A call that came to nothing put it back.
    let is_it = |note: &PromptNote| matches!(note, PromptNote::Hint { text: t, .. } if *t == text);
    state.notes.next.retain(|note| !is_it(note));
}

/// Every prompt says what is to be told in it. A call that came to nothing
/// has its notes still: what is kept is not told twice.
pub(super) fn remind(state: &mut State) {
    let is_kept = |note: &PromptNote| {
        matches!(
            note,
            PromptNote::Hint { keep: true, .. } | PromptNote::LeftOut { .. }
        )
    };
    state.notes.next.retain(|note| !is_kept(note));
    // A list shows only what is asked for; a state file is the agent's.
    if state.rules.goal == Goal::Prompt && !state.tasks.skipped.is_empty() {
        let parts = state.tasks.skipped.iter().cloned().collect();
        state.notes.push(PromptNote::LeftOut { parts });
    }
    let turn = state.turn.number;
    for hint in state.hints.iter_mut().filter(|hint| hint.is_open()) {
        hint.told_in.get_or_insert(turn);
        state.notes.push(PromptNote::Hint {
            text: hint.text.clone(),
            keep: hint.keep,
        });
    }
}

/// They are not done, and the run does not ask for them: its end says so.
pub(super) fn skip(state: &mut State, tasks: &[String]) {
    let mut newly = 0;
    for id in tasks {
        newly += usize::from(state.tasks.skipped.insert(id.clone()));
        state.ticks.unchecked.retain(|task| task.id != *id);
        if state.tasks.focus.as_ref() == Some(id) {
            state.tasks.focus = None;
        }
    }
    state.tasks.expect_fewer(newly);
    set_aside(state);
}

/// What is not asked for is not checked either.
pub(super) fn set_aside(state: &mut State) {
    for id in &state.tasks.skipped {
        if let Some(commands) = state.rules.checks.tasks.remove(id) {
            state.tasks.set_aside.insert(id.clone(), commands);
        }
    }
}

fn unskip(state: &mut State, tasks: &[String]) {
    for id in tasks {
        state.tasks.skipped.remove(id);
        if let Some(commands) = state.tasks.set_aside.remove(id) {
            state.rules.checks.tasks.insert(id.clone(), commands);
        }
    }
}

/// What was believed of the task is forgotten, and what was counted against
/// the work so far; its box is emptied by whoever brought the wish.
fn retry(state: &mut State, id: &str, out: &mut Out) {
    let ticks = &mut state.ticks;
    if ticks.done.remove(id) {
        state.tasks.take_one_back();
    }
    ticks.proofs.remove(id);
    ticks.levels.remove(id);
    ticks.remembered.remove(id);
    ticks.before.remove(id);
    ticks.unchecked.retain(|task| task.id != id);
    ticks.turned_back.retain(|turned| turned != id);
    state.flow.accepted.remove(id);
    if state.has_flow_of_tasks() && state.flow.task().is_some_and(|task| task.id == id) {
        state.flow.position = None;
    }
    state.evidence.ground.sent_back.clear();
    state.counters = Default::default();
    state.failures.last = None;
    state.failures.errors.clear();
    unskip(state, &[id.to_owned()]);
    state.tasks.focus = Some(id.into());
    questions::let_go_of(state, id, out);
    match state.rules.lanes.is_some() {
        true => {
            state.lanes.parked.remove(id);
            state.lanes.returns.remove(id);
        }
        false => state.notes.push(PromptNote::Again { task: id.into() }),
    }
}

/// What a person writes is asked for as if it had stood there at the start.
fn list(state: &mut State, change: &ListChange, task: Option<&SteeredTask>) {
    let Some(task) = task else {
        return;
    };
    if let Some(rules) = &mut state.rules.lanes {
        deal_out(&mut rules.tasks, change, &task.id);
    }
    match change {
        ListChange::Add { .. } => {
            state.tasks.added.insert(task.id.clone());
            let checks = &mut state.rules.checks;
            if !task.verify.is_empty() {
                checks.tasks.insert(task.id.clone(), task.verify.clone());
                let known = &mut state.evidence.ground.checks;
                for command in &task.verify {
                    if !known.contains(command) {
                        known.push(command.clone());
                    }
                }
            }
            if let Some(proof) = task.proof {
                checks.proofs.insert(task.id.clone(), proof);
            }
        }
        ListChange::Remove { .. } => {
            state.tasks.added.remove(&task.id);
            state.tasks.expect_fewer(1);
            state.rules.checks.tasks.remove(&task.id);
            state.ticks.done.remove(&task.id);
            state.ticks.unchecked.retain(|other| other.id != task.id);
        }
        ListChange::Edit { .. } | ListChange::Move { .. } => {}
    }
}

/// Tasks were dealt out to lanes when the run began: a change of the list is a
/// change of that too. What is added waits for nobody.
fn deal_out(tasks: &mut Vec<LaneTask>, change: &ListChange, id: &str) {
    let place_of = |tasks: &[LaneTask], id: &str| tasks.iter().position(|task| task.id == id);
    let behind = |tasks: &[LaneTask], after: &Option<String>| {
        let place = place_of(tasks, after.as_deref()?)?;
        Some(place + 1)
    };
    match change {
        ListChange::Add { text, after, .. } => {
            let place = behind(tasks, after).unwrap_or(tasks.len());
            let task = LaneTask {
                id: id.into(),
                text: text.clone(),
                ..LaneTask::default()
            };
            tasks.insert(place, task);
        }
        ListChange::Edit { text, .. } => {
            for task in tasks.iter_mut().filter(|task| task.id == id) {
                task.text.clone_from(text);
            }
        }
        ListChange::Move { after, .. } => {
            if let Some(from) = place_of(tasks, id) {
                let task = tasks.remove(from);
                let place = behind(tasks, after).unwrap_or(0);
                tasks.insert(place, task);
            }
        }
        ListChange::Remove { .. } => tasks.retain(|task| task.id != id),
    }
}

fn asks_for_more(steer: &Steer) -> bool {
    matches!(
        steer,
        Steer::Retry { .. } | Steer::Unskip { .. } | Steer::List(ListChange::Add { .. })
    )
}

/// A run that was complete has something to do again.
fn reopen(state: &mut State, steer: &Steer) {
    if asks_for_more(steer) && state.outcome() == Some(&Outcome::Complete) {
        state.stage = Stage::Finished(Outcome::Paused {
            reason: PauseReason::Requested,
        });
    }
}

/// A run that only waits for an answer may have work again; one that has
/// nothing left to do is proven, whatever it waits for.
fn go_on(state: &State, was_due: bool, has_looked: bool) -> Next {
    if state.stage != Stage::Waiting || !has_looked || state.pull.waits {
        return Next::Rest;
    }
    if !was_due && is_due_for_proof(state) {
        return Next::Prove;
    }
    match state.waits_for == Some(WaitReason::Answer) && !state.is_held_up() {
        true => Next::Decide,
        false => Next::Rest,
    }
}
