//! Work that is judged on a copy of its tree while the next turn is under way.
//!
//! It can only stand by that. What does not is judged once more, in order: the
//! next turn may have been in the way of its checks.

use super::levels::weighs;
use super::limits::reached_limit;
use super::next::Next;
use super::out::Out;
use super::ticks::judge_by;
use crate::machine::state::Beside;
use crate::machine::{Goal, Kind, Notice, Stage, State, TaskRef, VerifyReport, VerifyWhen};

/// Whether another turn can begin before the ticks of this one are judged.
pub(super) fn is_possible(state: &State) -> bool {
    state.rules.checks.beside
        && weighs(state)
        && matches!(state.rules.goal, Goal::Tasks { .. })
        && state.rules.verify != Some(VerifyWhen::Each)
        && state.rules.flow.is_none()
        && state.rules.lanes.is_none()
        && state.session.is_none()
        && state.claims.open.is_none()
        && state.stopping.is_none()
        && !state.evidence.in_order
        && state.evidence.beside.is_none()
        && !state.ticks.unchecked.is_empty()
        && state.next_task().is_some()
        && reached_limit(state).is_none()
        && state.rules.budget.used_up(&state.agents.bill).is_none()
}

/// What is said of work that is judged beside a turn; `None` where it is not.
pub(super) fn hear(state: &mut State, kind: &Kind) -> Option<Next> {
    let is_verified = state.stage == Stage::Verifying { completes: false };
    match kind {
        Kind::SetAside { turn } if is_verified && *turn == state.turn.number => {
            Some(set_aside(state))
        }
        Kind::Verified(report) if is_about(state, report) => Some(take(state, report)),
        _ => None,
    }
}

/// The copy stands: what is done to the tree from now on is the next work.
fn set_aside(state: &mut State) -> Next {
    if !is_possible(state) {
        return Next::Rest;
    }
    let ground = &state.evidence.ground;
    state.evidence.beside = Some(Beside {
        turn: state.turn.number,
        tasks: std::mem::take(&mut state.ticks.unchecked),
        now: ground.now.clone(),
        now_tree: ground.now_tree.clone(),
        report: None,
    });
    Next::CarryOn
}

fn is_about(state: &State, report: &VerifyReport) -> bool {
    let beside = state.evidence.beside.as_ref();
    beside.is_some_and(|beside| beside.turn == report.turn && beside.report.is_none())
}

/// Nothing is decided while a turn is under way.
fn take(state: &mut State, report: &VerifyReport) -> Next {
    if let Some(beside) = &mut state.evidence.beside {
        beside.report = Some(Box::new(report.clone()));
    }
    match state.stage {
        // The turn has ended, and waits for this.
        Stage::Verifying { .. } => Next::GoOn.unless_stopped(state),
        _ => Next::Rest,
    }
}

/// Takes in what came of it, or waits for it; `None` where nothing is left of
/// it.
pub(super) fn catch_up(state: &mut State, out: &mut Out) -> Option<Next> {
    let beside = state.evidence.beside.as_mut()?;
    let Some(report) = beside.report.take() else {
        state.stage = Stage::Verifying { completes: false };
        return Some(Next::Rest);
    };
    if !stands(state, &report, out) {
        state.evidence.in_order = true;
        give_up(state);
    }
    None
}

/// Judges the ticks on the tree that the checks ran on; changes nothing where
/// not all of them stand.
fn stands(state: &mut State, report: &VerifyReport, out: &mut Out) -> bool {
    let mut then = state.clone();
    let Some(beside) = then.evidence.beside.take().filter(|_| report.passed()) else {
        return false;
    };
    let later = then.evidence.ground.clone();
    then.evidence.ground.now = beside.now;
    then.evidence.ground.now_tree = beside.now_tree;
    let mut told = Out::default();
    told.tell(Notice::GateResult {
        iteration: report.turn,
        passed: true,
        results: report.results.clone(),
    });
    let waiting = still_waiting(&then, beside.tasks);
    judge_by(&mut then, report, waiting, &mut told);
    if then.ticks.turned_back != state.ticks.turned_back {
        return false;
    }
    then.evidence.ground.now = later.now;
    then.evidence.ground.now_tree = later.now_tree;
    *state = then;
    out.append(told);
    true
}

/// The ticks wait again, as if nobody had begun to judge them.
pub(super) fn give_up(state: &mut State) {
    let Some(beside) = state.evidence.beside.take() else {
        return;
    };
    let mut waiting = still_waiting(state, beside.tasks);
    let later = std::mem::take(&mut state.ticks.unchecked);
    waiting.extend(later);
    state.ticks.unchecked = waiting;
}

/// Those whose tick is still the same.
fn still_waiting(state: &State, mut tasks: Vec<TaskRef>) -> Vec<TaskRef> {
    let is_newer = |id: &str| state.ticks.unchecked.iter().any(|task| task.id == id);
    tasks.retain(|task| state.ticks.done.contains(&task.id) && !is_newer(&task.id));
    tasks
}
