//! From a checkpoint to the state file of a delta loop.
//!
//! Ralph counts and judges; the sections about the work belong to the agent
//! where no task file tells what the work is (DELT-13).

use std::path::Path;

use ralph_core::checkpoint::Checkpoint;
use ralph_core::delta::{
    DeltaState, Status, Summary, TASK_COMPLETE, brief, duration, items_of, one_line,
};
use ralph_core::flow::{self, Flow, Step, VerdictKind};
use ralph_core::lang::Lang;
use ralph_core::machine::{Outcome, PauseReason, PhaseFacts, State};
use ralph_core::{phases, tr};

use super::checkpoint::{is_done, numbered};
use crate::clock;
use crate::look::TaskMark;
use crate::phase_file;

/// The language of the file, and where the phases leave theirs.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub lang: Lang,
    pub outputs: &'a Path,
    /// When the run began.
    pub started_ms: i64,
}

/// `last` is what stands in the file: of another loop nothing is kept.
pub(super) fn project(
    checkpoint: &Checkpoint,
    last: Option<&DeltaState>,
    state: &State,
    tasks: &[TaskMark],
    at: Place<'_>,
) -> DeltaState {
    let lang = at.lang;
    let max_allowed = state.rules.limits.max_iterations;
    // Before the first event nobody has told the machine the time.
    let now = clock::local_time(state.now().wall_ms.max(at.started_ms));
    let id = &checkpoint.task_id;
    let mut delta = last
        .filter(|last| last.meta.task_id == *id)
        .cloned()
        .unwrap_or_else(|| {
            let started = clock::local_time(at.started_ms);
            DeltaState::new(id, &checkpoint.route, &started, max_allowed)
        });
    delta.meta.last_updated = now;
    // Before the first turn of ours the file knows better where it stands.
    let is_begun = state.turn.number > state.rules.turns_before || last.is_none();
    if is_begun {
        delta.iteration.current = state.turn.number.max(1);
    }
    delta.iteration.max_allowed = max_allowed;
    delta.iteration.status = status(state.outcome());
    put_progress(&mut delta, checkpoint, state, lang);
    put_work(&mut delta, checkpoint, state, tasks, at);
    let is_complete = state.outcome() == Some(&Outcome::Complete);
    if is_complete {
        delta.set_promise(Some(TASK_COMPLETE));
        // Only the agent knew how far it was, and nothing is left (DELT-08).
        let pending = std::mem::take(&mut delta.pending_work);
        if delta.completed_work.is_empty() {
            delta.completed_work = pending;
        }
    }
    // A review of ours has the last word; without one, what the agent left of
    // its own, or wrote into the file of its own loop.
    let reviewed = state.flow.position.as_ref().and_then(|at| at.score);
    let claimed = delta.summary.as_ref().and_then(|said| said.review_score);
    let claimed = match is_complete && is_the_agents(state) {
        true => review_file(&delta.meta.route, at.outputs).or(claimed),
        false => None,
    };
    delta.summary = is_complete.then(|| Summary {
        total_iterations: Some(state.turn.number),
        total_duration: Some(duration(state.elapsed_ms())),
        review_score: reviewed.or(claimed),
        ..Summary::default()
    });
    delta
}

/// The score in the file that the review of this route leaves (DELT-09).
fn review_file(route: &str, outputs: &Path) -> Option<u32> {
    let flow = flow::built_in(&route.to_lowercase())?;
    let is_review = |step: &&Step| step.verdict == VerdictKind::Review;
    let name = flow.steps.iter().find(is_review)?.output.as_ref()?;
    let text = phase_file::read(outputs, Some(name))?;
    flow::hear("", "", VerdictKind::Review, Some(&text)).score
}

/// Whether the end was claimed, and nothing speaks for or against it.
pub(super) fn is_unproven(outcome: Option<&Outcome>) -> bool {
    matches!(
        outcome,
        Some(
            Outcome::Unproven { .. }
                | Outcome::Paused {
                    reason: PauseReason::Unproven
                }
        )
    )
}

fn status(outcome: Option<&Outcome>) -> Status {
    match outcome {
        Some(Outcome::Complete) => Status::Completed,
        Some(Outcome::Cancelled) => Status::UserAbort,
        Some(
            Outcome::Errors
            | Outcome::CircuitBreak { .. }
            | Outcome::GateFailed { .. }
            | Outcome::Limit { .. }
            | Outcome::NoCheck { .. }
            | Outcome::Blocked { .. },
        ) => Status::Failed,
        // A run that can be taken up goes on, as far as this file is concerned.
        Some(
            Outcome::Paused { .. }
            | Outcome::Unproven { .. }
            | Outcome::Interrupted
            | Outcome::Budget { .. },
        )
        | None => Status::InProgress,
    }
}

/// Without a task file and a route only the agent knows how far it is.
pub(super) fn is_the_agents(state: &State) -> bool {
    state.tasks.facts.is_none() && phases::route(state).is_none()
}

fn put_progress(delta: &mut DeltaState, checkpoint: &Checkpoint, state: &State, lang: Lang) {
    if is_the_agents(state) {
        return;
    }
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let progress = &mut delta.progress;
    progress.current_phase = checkpoint.execution.current_phase;
    progress.completed_phases = numbered(&phases::of(state, lang))
        .into_iter()
        .filter(|(_, phase)| is_done(phase))
        .map(|(number, _)| number)
        .collect();
    progress.subtasks_done = count(checkpoint.subtasks.completed.len());
    progress.subtasks_total = checkpoint.subtasks.total;
}

fn put_work(
    delta: &mut DeltaState,
    checkpoint: &Checkpoint,
    state: &State,
    tasks: &[TaskMark],
    at: Place<'_>,
) {
    let lang = at.lang;
    if let Some((flow, _)) = phases::route(state) {
        return put_route_work(delta, flow, state, tasks, at);
    }
    if state.tasks.facts.is_none() {
        if delta.pending_work.is_empty() && delta.completed_work.is_empty() {
            delta.pending_work = items_of(&checkpoint.task_description);
        }
        return;
    }
    let all = phases::of(state, lang);
    let phases = numbered(&all);
    let pending: Vec<String> = if phases.is_empty() {
        let open = tasks.iter().filter(|task| !task.done);
        open.map(|task| one_line(&task.name())).collect()
    } else {
        let open = phases.iter().filter(|(_, phase)| !is_done(phase));
        open.map(|(number, phase)| {
            let (title, left) = (one_line(&phase.title), phase.total - phase.completed);
            format!("Phase {number}: {title} ({left})")
        })
        .collect()
    };
    let pending = (1..).zip(pending).map(|(n, work)| format!("{n}. {work}"));
    delta.pending_work = pending.collect::<Vec<_>>().join("\n");
    delta.completed_work = completed(&phases, tasks);
}

/// The work of a route, phase by phase, as the seed shows it.
fn put_route_work(
    delta: &mut DeltaState,
    flow: &Flow,
    state: &State,
    tasks: &[TaskMark],
    at: Place<'_>,
) {
    let lang = at.lang;
    let all = phases::of(state, lang);
    let phases = numbered(&all);
    let (mut pending, mut completed) = (Vec::new(), Vec::new());
    for ((number, phase), (_, step)) in phases.iter().zip(flow.phases()) {
        let each = step.each.is_some() && !tasks.is_empty();
        if !is_done(phase) {
            let what = match each {
                true => subtasks_left(phase, lang),
                false => one_line(&phase.title),
            };
            pending.push(format!("{}. Phase {number}: {what}", pending.len() + 1));
        }
        if each && phase.completed > 0 {
            let title = tr!(lang, "subtasks");
            let mut block = format!("### Phase {number}: {title}");
            for (n, task) in (1..).zip(tasks) {
                let (mark, text) = (if task.done { 'x' } else { ' ' }, one_line(&task.text));
                let name = tr!(lang, "subtask {n}");
                block.push_str(&format!("\n- [{mark}] {name}: {text}"));
            }
            completed.push(block);
        } else if is_done(phase) {
            let title = one_line(&phase.title);
            let mut lines = phase_file::read(at.outputs, step.output.as_deref())
                .map_or_else(Vec::new, |text| brief(&text));
            if lines.is_empty() {
                lines.extend(step.output.clone());
            }
            let lines = lines.iter().map(|line| format!("\n- {line}"));
            completed.push(format!(
                "### Phase {number}: {title}{}",
                lines.collect::<String>()
            ));
        }
    }
    delta.pending_work = pending.join("\n");
    delta.completed_work = completed.join("\n\n");
}

fn subtasks_left(phase: &PhaseFacts, lang: Lang) -> String {
    let left = phase.total - phase.completed;
    let s_en = if left == 1 { "" } else { "s" };
    match phase.completed {
        0 => tr!(lang, "{left} subtask{s_en}"),
        _ => tr!(lang, "{left} subtask{s_en} left"),
    }
}

/// The phases in which something is done, each with its boxes (DELT-10).
fn completed(phases: &[(u32, &PhaseFacts)], tasks: &[TaskMark]) -> String {
    let boxes = |key: Option<&str>| -> Vec<String> {
        let own = tasks.iter().filter(|task| task.phase.as_deref() == key);
        own.map(|task| {
            let mark = if task.done { 'x' } else { ' ' };
            format!("- [{mark}] {}", one_line(&task.name()))
        })
        .collect()
    };
    if phases.is_empty() {
        let done = tasks.iter().filter(|task| task.done);
        let lines: Vec<String> = done
            .map(|task| format!("- [x] {}", one_line(&task.name())))
            .collect();
        return lines.join("\n");
    }
    let begun = phases.iter().filter(|(_, phase)| phase.completed > 0);
    let blocks: Vec<String> = begun
        .map(|(number, phase)| {
            let heading = format!("### Phase {number}: {}", one_line(&phase.title));
            let boxes = boxes(Some(&phase.key));
            std::iter::once(heading)
                .chain(boxes)
                .collect::<Vec<_>>()
                .join("\n")
        })
        .collect();
    blocks.join("\n\n")
}
