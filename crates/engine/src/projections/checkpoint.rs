//! From the state of a run to its checkpoint.

use ralph_core::checkpoint::{Checkpoint, Phase};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{FileClaims, Goal, Outcome, PhaseFacts, State, iso_utc};
use ralph_core::{phases, text};
use serde_json::{Map, Value, json};

use super::Run;
use crate::look::TaskMark;
use crate::record::Header;
use crate::touched::Touched;

/// As many names as a person reads; the rest is counted.
const MOST_NAMES: usize = 500;
/// The only route that is a loop of this kind.
const ROUTE: &str = "RALPH";

pub(super) fn description(header: &Header, tasks_file: Option<&str>) -> String {
    let asked = match header.rules.goal {
        Goal::Prompt | Goal::Flow | Goal::PullRequest | Goal::Ci => header.asked.prompt.as_deref(),
        Goal::Tasks { .. } => tasks_file,
    };
    text::redact(asked.unwrap_or_default()).into_owned()
}

/// `last` is what was saved before: what others added to it stays. `claims` is
/// what the state file says.
pub(super) fn project(
    run: &Run,
    last: Option<&Checkpoint>,
    state: &State,
    claims: &FileClaims,
    tasks: &[TaskMark],
) -> Checkpoint {
    let mut checkpoint = last.cloned().unwrap_or_default();
    let now = iso_utc(time_of(run, state));
    checkpoint.task_id = run.header.task_id();
    checkpoint.task_description.clone_from(&run.description);
    put_route(&mut checkpoint, state);
    put_phases(&mut checkpoint, state, claims, &now, run.lang);
    put_outputs(&mut checkpoint, run, state);
    put_subtasks(&mut checkpoint, state, claims, tasks);
    put_context(&mut checkpoint.context, run, state);
    put_recovery(&mut checkpoint, run, state);
    checkpoint.timestamps.created = iso_utc(run.header.started_ms);
    checkpoint.timestamps.updated = now;
    checkpoint
}

/// The time of the last event; before the first, that of the start.
pub(super) fn time_of(run: &Run, state: &State) -> i64 {
    match state.now().wall_ms {
        0 => run.header.started_ms,
        ms => ms,
    }
}

/// Phases are numbers in this format. Where the file has other names for
/// them, their places count.
pub(super) fn numbered(phases: &[PhaseFacts]) -> Vec<(u32, &PhaseFacts)> {
    let keys: Option<Vec<u32>> = phases.iter().map(|phase| phase.key.parse().ok()).collect();
    let is_counted = |keys: &Vec<u32>| keys.is_sorted_by(|a, b| a < b);
    match keys.filter(is_counted) {
        Some(keys) => keys.into_iter().zip(phases).collect(),
        None => (1..).zip(phases).collect(),
    }
}

pub(super) fn is_done(phase: &PhaseFacts) -> bool {
    phase.total > 0 && phase.completed == phase.total
}

pub(super) fn phases_done(state: &State, lang: Lang) -> usize {
    let phases = phases::of(state, lang);
    phases.iter().filter(|phase| is_done(phase)).count()
}

/// The route, and how it was chosen.
fn put_route(checkpoint: &mut Checkpoint, state: &State) {
    let Some((flow, _)) = phases::route(state) else {
        checkpoint.route = ROUTE.into();
        return;
    };
    checkpoint.route = flow.name.to_uppercase();
    let card = state
        .rules
        .flow
        .as_ref()
        .and_then(|rules| rules.card.as_ref());
    if let Some(card) = card {
        checkpoint.complexity_score = card.total.into();
        checkpoint.scoring_breakdown = card
            .scores
            .iter()
            .map(|(dimension, points)| (dimension.into_str().to_owned(), (*points).into()))
            .collect();
    }
}

fn put_phases(
    checkpoint: &mut Checkpoint,
    state: &State,
    claims: &FileClaims,
    now: &str,
    lang: Lang,
) {
    let mut all = phases::of(state, lang);
    if all.is_empty() {
        all = claimed_phases(claims);
    }
    let phases = numbered(&all);
    let current = state.phase();
    let current = current.or_else(|| Some(claims.current?.to_string()));
    let number_of_current = phases
        .iter()
        .find(|(_, phase)| Some(&phase.key) == current.as_ref())
        .or(phases.last())
        .map_or(1, |(number, _)| *number);
    let execution = &mut checkpoint.execution;
    execution.current_phase = number_of_current;
    execution.total_phases = u32::try_from(phases.len().max(1)).unwrap_or(u32::MAX);
    let before = std::mem::take(&mut execution.phases);
    execution.phases = phases
        .into_iter()
        .map(|(number, facts)| {
            let known = before.iter().find(|phase| phase.number == number);
            phase(known, number, facts, number_of_current, now)
        })
        .collect();
}

/// A loop that was adopted has no other phases than those of its state file
/// (RESM-05).
fn claimed_phases(claims: &FileClaims) -> Vec<PhaseFacts> {
    let facts = |number: &u32| PhaseFacts {
        key: number.to_string(),
        title: claims.title(*number).to_owned(),
        completed: usize::from(claims.completed.contains(number)),
        total: 1,
    };
    claims.phases.iter().map(facts).collect()
}

fn phase(known: Option<&Phase>, number: u32, facts: &PhaseFacts, current: u32, now: &str) -> Phase {
    let mut phase = known.cloned().unwrap_or_default();
    phase.number = number;
    phase.name.clone_from(&facts.title);
    let status = match is_done(facts) {
        true => "completed",
        false if number == current || facts.completed > 0 => "in_progress",
        false => "pending",
    };
    // When that was done which was done already, nobody knows.
    let before = std::mem::replace(&mut phase.status, status.into());
    match (before.as_str(), status) {
        ("", "completed") | ("completed", "completed") | (_, "pending") => {}
        _ => _ = phase.started_at.get_or_insert_with(|| now.into()),
    }
    match (before.as_str(), status) {
        ("" | "completed", "completed") => {}
        (_, "completed") => phase.completed_at = Some(now.into()),
        _ => phase.completed_at = None,
    }
    phase
}

/// What the phases of a route left: each knows its file, and all stand in one
/// list.
fn put_outputs(checkpoint: &mut Checkpoint, run: &Run, state: &State) {
    let Some((flow, _)) = phases::route(state) else {
        return;
    };
    for (phase, (_, step)) in checkpoint.execution.phases.iter_mut().zip(flow.phases()) {
        if let Some(output) = step.output.as_ref().filter(|_| step.each.is_none()) {
            phase
                .extra
                .insert("output_file".into(), output.as_str().into());
        }
    }
    let dir = &run.outputs;
    let files = state
        .phase_outputs()
        .map(|name| format!("{dir}/{name}").into());
    checkpoint.files.outputs = files.collect();
}

pub(super) fn put_files(checkpoint: &mut Checkpoint, touched: &Touched) {
    let names = |paths: &[String]| -> Vec<Value> {
        let shown = paths.iter().take(MOST_NAMES);
        shown.map(|path| path.as_str().into()).collect()
    };
    checkpoint.files.created = names(&touched.created);
    checkpoint.files.modified = names(&touched.modified);
}

fn put_subtasks(
    checkpoint: &mut Checkpoint,
    state: &State,
    claims: &FileClaims,
    tasks: &[TaskMark],
) {
    if tasks.is_empty() && claims.subtasks.1 > 0 {
        let (done, total) = claims.subtasks;
        let names = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        let subtasks = &mut checkpoint.subtasks;
        subtasks.total = total;
        subtasks.completed = names(&claims.done);
        // It may count more than it names.
        let named = u32::try_from(claims.done.len()).unwrap_or(u32::MAX);
        let counted = (named..done.min(total)).map(|n| format!("subtask {}", n + 1).into());
        subtasks.completed.extend(counted.take(MOST_NAMES));
        subtasks.pending = names(&claims.open);
        return;
    }
    let next = state.current_task().map(|task| task.id.as_str());
    let ids = |done: bool| -> Vec<Value> {
        tasks
            .iter()
            .filter(|task| task.done == done && (done || Some(task.id.as_str()) != next))
            .map(|task| task.id.as_str().into())
            .collect()
    };
    let subtasks = &mut checkpoint.subtasks;
    subtasks.total = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    subtasks.completed = ids(true);
    subtasks.in_progress = next.map_or(Value::Null, Value::from);
    subtasks.pending = ids(false);
}

/// What a person or a tool needs to find the run again, and what is needed to
/// start it over where its journal is lost.
fn put_context(context: &mut Map<String, Value>, run: &Run, state: &State) {
    let header = &run.header;
    let known = json!({
        "run_id": header.run_id,
        "iteration": state.turn.number,
        "max_iterations": state.rules.limits.max_iterations,
        "outcome": state.outcome().map(Outcome::into_str),
        "last_promise": state.claims.last_promise,
        "tasks_file": run.tasks_file,
        "branch": header.branch,
        "commit": header.commit,
        "journal": run.journal,
        "asked": asked(header),
    });
    if let Value::Object(known) = known {
        context.extend(known);
    }
    context
        .entry("important_decisions")
        .or_insert_with(|| json!([]));
}

/// What was asked for, unless it holds a secret: people may commit the
/// checkpoint, and half of a command is worse than none.
fn asked(header: &Header) -> Option<Value> {
    let asked = serde_json::to_value(&header.asked).ok()?;
    let text = asked.to_string();
    (text::redact(&text) == text).then_some(asked)
}

fn put_recovery(checkpoint: &mut Checkpoint, run: &Run, state: &State) {
    let phase = checkpoint.execution.current_phase;
    let subtask = checkpoint.subtasks.in_progress_name();
    let resume_point = match subtask {
        Some(subtask) => format!("phase_{phase}_{subtask}"),
        None => format!("phase_{phase}"),
    };
    let is_over = matches!(
        state.outcome(),
        Some(Outcome::Complete | Outcome::Cancelled)
    );
    let recovery = &mut checkpoint.recovery;
    recovery.can_resume = !is_over;
    recovery.resume_point = resume_point;
    recovery.notes = if is_over {
        String::new()
    } else {
        format!("ralph resume {}", run.header.run_id)
    };
    recovery.error_log = state
        .failures
        .errors
        .iter()
        .map(|error| {
            let message = error.detail.say(Lang::En);
            json!({"reason": error.class.into_str(), "message": text::redact(&message)})
        })
        .collect();
}
