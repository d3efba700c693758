//! The end of a way through a flow: it is proven, and Ralph ticks the box.

use super::answers::{advance, has_checks, here, settle};
use crate::flow::{Answer, Doing, Escalation, FlowNotice, Step, VerdictKind};
use crate::lang::{Lang, Say, Spoken};
use crate::machine::state::Failing;
use crate::machine::step::failures::{count_error, count_failure, forget_failure};
use crate::machine::step::levels::{Bench, Fate, weighs};
use crate::machine::step::looks::take_in;
use crate::machine::step::next::{Next, stopped};
use crate::machine::step::out::Out;
use crate::machine::step::ticks;
use crate::machine::{
    CheckNotice, CheckScope, Detail, Effect, ErrorClass, ErrorNote, Observation, PauseReason,
    Proof, Stage, State, VerifyReport,
};
use crate::template::PromptNote;

/// Proves a way that came to its end, or ticks the box of what is proven. The
/// end of the flow is a claim like any other: what is set up to prove it runs
/// first.
pub(in crate::machine::step) fn end_of_way(state: &mut State, out: &mut Out) -> Next {
    if !is_proving(state) {
        return tick(state, out);
    }
    if !has_checks(state) {
        let report = VerifyReport {
            turn: state.turn.number,
            ..VerifyReport::default()
        };
        return match judge_way(state, &report, out) {
            Err(why) => send_back_unshown(state, why, out),
            Ok(_) => proven(state, out),
        };
    }
    let own = state.flow.task().filter(|_| state.has_flow_of_tasks());
    let scope = match own {
        Some(task) => CheckScope::Tasks {
            ids: vec![task.id.clone()],
            project: true,
        },
        None => CheckScope::Everything,
    };
    Next::Verify {
        completes: false,
        scope,
    }
}

fn proven(state: &mut State, out: &mut Out) -> Next {
    match state.is_one_flow() {
        true => end_run(state),
        false => tick(state, out),
    }
}

pub(in crate::machine::step) fn is_proving(state: &State) -> bool {
    state.flow.is_doing(&Doing::Prove)
}

/// The verification of the end of a flow has run.
pub(in crate::machine::step) fn take_proof(
    state: &mut State,
    report: &VerifyReport,
    out: &mut Out,
) -> Next {
    if report.passed() {
        let is_shown = match judge_way(state, report, out) {
            Err(why) => return send_back_unshown(state, why, out),
            Ok(is_shown) => is_shown,
        };
        forget_failure(state);
        let own = state.flow.task().filter(|_| state.has_flow_of_tasks());
        if let Some(id) = own.map(|task| task.id.clone()).filter(|_| is_shown) {
            ticks::prove(state, report, vec![id], out);
        }
        state.evidence.proven = report.proofs();
        return proven(state, out);
    }
    match report.failure() {
        Some(failure) => send_back(state, &failure.output, failure.note(), out),
        None => send_back(state, "", PromptNote::UnclearVerdict, out),
    }
}

fn send_back_unshown(state: &mut State, why: Spoken, out: &mut Out) -> Next {
    let failure = why.say(Lang::En);
    send_back(state, &failure, PromptNote::Unshown { why }, out)
}

/// Whether the way is shown as well as was asked; says what is missing where it
/// has to be gone again.
fn judge_way(state: &mut State, report: &VerifyReport, out: &mut Out) -> Result<bool, Spoken> {
    if !weighs(state) {
        return Ok(true);
    }
    let own = state.flow.task().filter(|_| state.has_flow_of_tasks());
    let id = own.map(|task| task.id.clone()).unwrap_or_default();
    let mut bench = Bench::new(report);
    let fate = bench.judge(state, &id, out);
    bench.end(state);
    let (level, why) = match fate {
        Fate::Refused(why) => {
            let spoken = Spoken::of(&why);
            out.tell(CheckNotice::SentBack {
                iteration: state.turn.number,
                task: id,
                why,
            });
            return Err(spoken);
        }
        Fate::Stands(level, why) => (level, why),
    };
    state.ticks.levels.insert(id.clone(), level);
    let is_shown = why.is_none();
    if let Some(why) = why {
        out.tell(CheckNotice::TickUnproven {
            iteration: state.turn.number,
            tasks: vec![id],
            level,
            why,
        });
    }
    Ok(is_shown)
}

/// What was shown to be lacking goes the way back that a tester's verdict
/// would.
fn send_back(state: &mut State, failure: &str, note: PromptNote, out: &mut Out) -> Next {
    count_failure(state, Failing::Check, failure);
    state.notes.push(note);
    let Some((flow, _)) = here(state) else {
        return Next::Decide;
    };
    state.flow.set_doing(Doing::Step);
    // It failed where the tester would have: the same way back.
    let of_kind = |kind| flow.steps.iter().find(move |step| step.verdict == kind);
    let judge = of_kind(VerdictKind::Test).or_else(|| of_kind(VerdictKind::Review));
    let Some((judge, answer)) = judge.and_then(|step| Some((step, step.verdict.bad()?))) else {
        // Nobody judges in this flow: the last one tries again.
        return Next::Decide;
    };
    let count = match (&mut state.flow.position, answer) {
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
    let why = Escalation::Unshown;
    advance(state, &flow, judge, (answer, count, why), out)
}

/// Ralph itself ticks the box: that, and nothing an agent wrote, says that the
/// task is done.
fn tick(state: &mut State, out: &mut Out) -> Next {
    state.flow.set_doing(Doing::Tick);
    let Some(task) = state.flow.task().cloned() else {
        state.flow.position = None;
        return Next::Decide;
    };
    state.flow.accepted.insert(task.id.clone());
    state.stage = Stage::Marking;
    out.push(Effect::Mark {
        tick: vec![task.id],
        untick: Vec::new(),
    });
    Next::Rest
}

/// Boxes were ticked or unticked.
pub(in crate::machine::step) fn take_marks(
    state: &mut State,
    seen: &Observation,
    out: &mut Out,
) -> Next {
    take_in(state, seen, out);
    out.push(Effect::KeepInStep);
    if let Some(end) = stopped(state) {
        return end;
    }
    if !state.flow.is_doing(&Doing::Tick) {
        return match state.early_ticks().is_empty() {
            true => Next::GoOn,
            false => not_marked(state, out),
        };
    }
    let task = state.flow.task().map(|task| task.id.clone());
    let task = task.unwrap_or_default();
    if !state.tasks.done().contains(&task) {
        return not_marked(state, out);
    }
    let iteration = state.turn.number;
    out.tell(FlowNotice::TaskPassed { iteration, task });
    if state.is_one_flow() {
        return next_subtask(state, out);
    }
    state.flow.position = None;
    Next::GoOn
}

/// The task is gone from the list, or its file could not be written (ERRC-07).
fn not_marked(state: &mut State, out: &mut Out) -> Next {
    let lost = state.tasks.facts.as_ref().map(|facts| &facts.lost);
    let task = state.flow.task().map(|task| &task.id);
    let gone = task.filter(|task| lost.is_some_and(|lost| lost.contains(task)));
    let error = match gone {
        Some(task) => ErrorNote {
            class: ErrorClass::TaskNotFound,
            detail: Detail::Gone { task: task.clone() },
        },
        None => ErrorNote {
            class: ErrorClass::FileOp,
            detail: Detail::NotMarked,
        },
    };
    count_error(state, state.turn.number, error, out);
    Next::Decide
}

fn next_subtask(state: &mut State, out: &mut Out) -> Next {
    state.flow.set_doing(Doing::Step);
    if let Some(position) = &mut state.flow.position {
        position.task = None;
    }
    match state.tasks.pending() + state.early_ticks().len() {
        0 => settle(state, Answer::Done, out),
        _ => Next::Decide,
    }
}

/// All phases have left their files, all subtasks are ticked, and where the
/// flow has a review, it passed (ROUT-09). Without a review and without a
/// verification there is nothing but words.
fn end_run(state: &mut State) -> Next {
    let Some((flow, _)) = here(state) else {
        return Next::Decide;
    };
    let reviewed = flow
        .steps
        .iter()
        .any(|step| step.verdict != VerdictKind::None);
    if !has_checks(state) && !reviewed {
        return Next::pause(PauseReason::Unproven);
    }
    let phases = flow.phases().count();
    let is_left = |file: &String| state.flow.has_left(file);
    let left = |step: &Step| !step.output_optional || step.output.as_ref().is_some_and(is_left);
    if flow.phases().all(|(_, step)| left(step)) {
        // Files that the agent wrote are its words, where nothing was checked
        // (T-14).
        match has_checks(state) {
            true => {
                let all = Proof::Phases {
                    completed: phases,
                    total: phases,
                };
                state.evidence.proven.insert(0, all);
            }
            false => state.evidence.left_by_phases = Some(phases),
        }
    }
    Next::Complete
}
