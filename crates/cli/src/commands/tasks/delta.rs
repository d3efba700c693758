//! `ralph tasks` where the work stands in a state file: what that calls its
//! phases and subtasks. They are claims: nothing is ticked here.

use std::io::ErrorKind;

use ralph_core::config::{Settings, TaskSource};
use ralph_core::delta::{DeltaState, PATH, PhaseWork};
use ralph_core::machine::Outcome;
use ralph_core::tr;
use ralph_engine::past;
use serde_json::{Value, json};

use crate::app::{App, Exit};
use crate::args::{TasksArgs, TasksVerb};
use crate::commands::steer;

/// The answer, where the work of this project stands in a state file.
pub(super) fn run(app: &App, args: &TasksArgs, settings: &Settings) -> Option<Exit> {
    if args.tasks.is_some() || !is_delta(app, settings) {
        return None;
    }
    let bytes = match ralph_store::regular::read(app.layout().delta_state()) {
        Ok(bytes) => bytes,
        // A task list may do.
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(app.refuse(&format!("{PATH}: {error}"))),
    };
    Some(match DeltaState::read(&bytes) {
        Ok(state) => answer(app, args, &state),
        Err(error) => {
            use ralph_core::lang::Say as _;
            app.refuse(&format!("{PATH}: {}", error.say(app.lang())))
        }
    })
}

/// As somebody set it, else as the run has it that goes on or waits.
fn is_delta(app: &App, settings: &Settings) -> bool {
    let of_run = || {
        let run = app.layout().latest_run().ok()??;
        // One with a list is not read to its end for that.
        past::header(&run).filter(|header| header.tasks_file.is_none())?;
        let past = past::read(&run).ok()?;
        let is_own = !past.state.claims.file.phases.is_empty();
        Some(is_own && past.state.outcome().is_none_or(Outcome::can_go_on))
    };
    match settings.tasks.source {
        _ if !settings.tasks.file.is_empty() => false,
        TaskSource::Delta => true,
        TaskSource::Auto => of_run() == Some(true),
        _ => false,
    }
}

fn answer(app: &App, args: &TasksArgs, state: &DeltaState) -> Exit {
    let lang = app.lang();
    let wanted = |phase: &PhaseWork| {
        let number = phase.number.to_string();
        args.phase.as_ref().is_none_or(|only| *only == number)
    };
    let phases: Vec<PhaseWork> = state.phases().into_iter().filter(wanted).collect();
    match args.verb {
        TasksVerb::List => app.answer(
            args.json,
            || json_of(state, &phases),
            || table(app, state, &phases),
        ),
        TasksVerb::Next => {
            let next = next(&phases);
            let done = tr!(lang, "everything is done");
            app.answer(
                args.json,
                || json!({"next": next.iter().map(|text| json!({"text": text})).collect::<Vec<_>>()}),
                || next.clone().unwrap_or(done),
            )
        }
        TasksVerb::Skip | TasksVerb::Unskip => steer::parts(app, args),
        _ => app.refuse(&tr!(
            lang,
            "{PATH} is the state file of a delta loop: its agent keeps the work in it, and Ralph the counts; name a task list with --tasks FILE"
        )),
    }
}

fn json_of(state: &DeltaState, phases: &[PhaseWork]) -> Value {
    let subtasks = phases.iter().flat_map(|phase| {
        let of = phase.subtasks.iter();
        of.map(|task| json!({"phase": phase.number, "text": task.text, "done": task.done}))
    });
    let progress = &state.progress;
    json!({
        "file": PATH,
        "format": "delta",
        "total": progress.subtasks_total,
        "completed": progress.subtasks_done,
        "pending": progress.subtasks_total.saturating_sub(progress.subtasks_done),
        "phases": phases.iter().map(|phase| json!({
            "key": phase.number.to_string(), "title": phase.title, "done": phase.done,
        })).collect::<Vec<_>>(),
        "tasks": subtasks.collect::<Vec<_>>(),
    })
}

fn table(app: &App, state: &DeltaState, phases: &[PhaseWork]) -> String {
    let done = phases.iter().filter(|phase| phase.done).count();
    let (all, progress) = (phases.len(), &state.progress);
    let (subtasks_done, subtasks) = (progress.subtasks_done, progress.subtasks_total);
    let mut out = tr!(
        app.lang(),
        "{PATH} (delta): {done}/{all} phases, {subtasks_done}/{subtasks} subtasks done, as the file says\n"
    );
    let mark = |done: bool| if done { "[x]" } else { "[ ]" };
    for phase in phases {
        let (mark_of, number, title) = (mark(phase.done), phase.number, &phase.title);
        out.push_str(&format!("\n  {mark_of} Phase {number} {title}\n"));
        for task in &phase.subtasks {
            out.push_str(&format!("      {} {}\n", mark(task.done), task.text));
        }
    }
    out
}

/// The first open subtask of the first open phase, else that phase.
fn next(phases: &[PhaseWork]) -> Option<String> {
    let phase = phases.iter().find(|phase| !phase.done)?;
    let open = phase.subtasks.iter().find(|task| !task.done);
    let title = || format!("Phase {}: {}", phase.number, phase.title);
    Some(open.map_or_else(title, |task| task.text.clone()))
}
