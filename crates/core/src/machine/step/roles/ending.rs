//! The end of a way through a flow: it is proven, and Ralph ticks the box.

use super::answers::{advance, here, set_doing, settle};
use super::{done_now, has_early_ticks, scope, task};
use crate::flow::{Answer, Doing, FlowNotice, Scope, VerdictKind};
use crate::machine::step::decide::{decide, finish, finish_or};
use crate::machine::step::judge::count_error;
use crate::machine::step::out::Out;
use crate::machine::step::ticks;
use crate::machine::step::verify::{complete, verify};
use crate::machine::step::{go_on, take_in};
use crate::machine::{
    CheckScope, Detail, Effect, ErrorClass, ErrorNote, Notice, Outcome, PauseReason, Proof, Seen,
    Stage, State, VerifyReport,
};
use crate::template::PromptNote;

/// The end of the flow is a claim like any other: what is set up to prove it
/// runs first.
pub(super) fn prove(state: &mut State, out: &mut Out) {
    if has_checks(state) {
        let scope = match (scope(state), task(state)) {
            (Some(Scope::Task), Some(task)) => CheckScope::Tasks {
                ids: vec![task.id],
                project: true,
            },
            _ => CheckScope::Everything,
        };
        return verify(state, false, scope, out);
    }
    match scope(state) {
        Some(Scope::Run) => end_run(state, out),
        _ => tick(state, out),
    }
}

/// Whether something is set up that proves the end of the way.
fn has_checks(state: &State) -> bool {
    let own = task(state).map(|task| task.id);
    state.rules.verify.is_some() || own.is_some_and(|id| state.rules.checks.tasks.contains_key(&id))
}

pub(in crate::machine::step) fn is_proving(state: &State) -> bool {
    let doing = state.flow.as_ref().map(|position| &position.doing);
    doing == Some(&Doing::Prove)
}

/// The verification of the end of a flow has run.
pub(in crate::machine::step) fn proven(state: &mut State, report: &VerifyReport, out: &mut Out) {
    out.tell(Notice::GateResult {
        iteration: report.turn,
        passed: report.passed(),
        results: report.results.clone(),
    });
    if report.passed() {
        let own = task(state).filter(|_| scope(state) == Some(Scope::Task));
        ticks::prove(state, report, own.into_iter().map(|t| t.id).collect(), out);
        state.proven = report.proofs();
        return match scope(state) {
            Some(Scope::Run) => end_run(state, out),
            _ => {
                set_doing(state, Doing::Tick);
                tick(state, out);
            }
        };
    }
    if let Some(failure) = report.failure() {
        state.notes.push(PromptNote::VerifyFailed {
            command: failure.command.clone(),
            output: failure.output.clone(),
        });
    }
    let Some((flow, _)) = here(state) else {
        return decide(state, out);
    };
    set_doing(state, Doing::Step);
    // It failed where the tester would have: the same way back.
    let of_kind = |kind| flow.steps.iter().find(move |step| step.verdict == kind);
    let judge = of_kind(VerdictKind::Test).or_else(|| of_kind(VerdictKind::Review));
    let Some((judge, answer)) = judge.and_then(|step| Some((step, step.verdict.bad()?))) else {
        // Nobody judges in this flow: the last one tries again.
        return decide(state, out);
    };
    let count = match (&mut state.flow, answer) {
        (Some(position), Answer::Fail) => {
            position.fails += 1;
            position.fails
        }
        (Some(position), _) => {
            position.rejects += 1;
            position.rejects
        }
        (None, _) => 0,
    };
    advance(state, &flow, judge, answer, count, out);
}

/// Ralph itself ticks the box: that, and nothing an agent wrote, says that the
/// task is done.
pub(super) fn tick(state: &mut State, out: &mut Out) {
    set_doing(state, Doing::Tick);
    let Some(task) = task(state) else {
        state.flow = None;
        return decide(state, out);
    };
    state.accepted.insert(task.id.clone());
    state.stage = Stage::Marking;
    out.push(Effect::Mark {
        tick: vec![task.id],
        untick: Vec::new(),
    });
}

/// Boxes were ticked or unticked.
pub(in crate::machine::step) fn marked(state: &mut State, seen: &Seen, out: &mut Out) {
    take_in(state, seen, out);
    out.push(Effect::KeepInStep);
    finish_or(state, out, |state, out| {
        let ticks = state.flow.as_ref().map(|position| &position.doing) == Some(&Doing::Tick);
        if !ticks {
            return match has_early_ticks(state) {
                true => not_marked(state, out),
                false => go_on(state, out),
            };
        }
        let task = task(state).map(|task| task.id).unwrap_or_default();
        if !done_now(state).contains(&task) {
            return not_marked(state, out);
        }
        let iteration = state.turns;
        out.tell(FlowNotice::TaskPassed { iteration, task });
        match scope(state) {
            Some(Scope::Run) => next_subtask(state, out),
            _ => {
                state.flow = None;
                go_on(state, out);
            }
        }
    });
}

fn not_marked(state: &mut State, out: &mut Out) {
    let error = ErrorNote {
        class: ErrorClass::FileOp,
        detail: Detail::Words("a box of the task file could not be set".into()),
    };
    count_error(state, state.turns, error, out);
    decide(state, out);
}

fn next_subtask(state: &mut State, out: &mut Out) {
    set_doing(state, Doing::Step);
    if let Some(position) = &mut state.flow {
        position.task = None;
    }
    match state.pending() {
        0 => settle(state, Answer::Done, out),
        _ => decide(state, out),
    }
}

/// All phases have left their files, all subtasks are ticked, and where the
/// flow has a review, it passed (ROUT-09). Without a review and without a
/// verification there is nothing but words.
fn end_run(state: &mut State, out: &mut Out) {
    let Some((flow, _)) = here(state) else {
        return decide(state, out);
    };
    let reviewed = flow
        .steps
        .iter()
        .any(|step| step.verdict != VerdictKind::None);
    if !has_checks(state) && !reviewed {
        let reason = PauseReason::Unproven;
        return finish(state, Outcome::Paused { reason }, out);
    }
    let phases = flow.phases().count();
    state.proven.insert(
        0,
        Proof::Phases {
            completed: phases,
            total: phases,
        },
    );
    complete(state, out);
}
