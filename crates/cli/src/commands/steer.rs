//! `ralph hint`, `ralph retry`, `ralph focus` and the verbs of `ralph tasks`
//! that change what a run works on: said to the run while it goes on, written
//! into its journal while nobody drives it.

use ralph_core::lang::Say;
use ralph_core::machine::{Hint, Steer};
use ralph_core::tasks::{ListChange, ReadOptions};
use ralph_core::tr;
use ralph_engine::control::{self, ControlError};
use ralph_engine::look::{OpenTaskFile, TaskFile};
use ralph_engine::mailbox::{Wish, reply_text};
use ralph_engine::past::{self, Past};
use ralph_engine::steer::{self, SteerError};
use ralph_store::layout::RunPaths;
use serde_json::{Value, json};

use super::answer::{no_run, refuse_session};
use crate::app::{App, Exit, OrFail};
use crate::args::{FocusArgs, HintArgs, RetryArgs, TasksArgs, TasksVerb};
use crate::trust;

pub fn hint(app: &App, args: &HintArgs) -> Exit {
    if let Some(hint) = args.drop {
        return steer_latest(app, &Steer::DropHint { hint });
    }
    if args.words.is_empty() {
        return list_hints(app, args.json);
    }
    let Some(text) = reply_text(&args.words.join(" ")) else {
        return app.fail(&SteerError::NoWords);
    };
    let keep = args.keep;
    steer_latest(app, &Steer::Hint { text, keep })
}

pub fn retry(app: &App, args: &RetryArgs) -> Exit {
    let task = args.task.clone();
    steer_latest(app, &Steer::Retry { task })
}

pub fn focus(app: &App, args: &FocusArgs) -> Exit {
    let task = args.task.clone();
    steer_latest(app, &Steer::Focus { task })
}

/// The verbs that change a list, or what a run takes of it.
pub fn tasks(app: &App, args: &TasksArgs, opened: &OpenTaskFile) -> Exit {
    let Some(steer) = meant(args) else {
        let example = match args.verb {
            TasksVerb::Add => "ralph tasks add \"check the input\" --verify 'make test'",
            TasksVerb::Edit => "ralph tasks edit T003 \"check the input\"",
            TasksVerb::Move => "ralph tasks move T003 --after T001",
            TasksVerb::Remove => "ralph tasks remove T009",
            _ => "ralph tasks skip T003 T004",
        };
        return app.refuse(&tr!(app.lang(), "say which task, and what: `{example}`"));
    };
    let latest = latest(app)?;
    let of_run = |past: &Past| past.header.tasks_file.as_ref() == Some(&opened.file.path);
    let run = latest.filter(|(_, past)| of_run(past) || is_in_lanes(past, opened));
    let can_go_on =
        |(run, past): &(RunPaths, Past)| steer::can_go_on(&steer, &past.state, run.id.as_str());
    let is_over = run.as_ref().and_then(|run| can_go_on(run).err());
    let run = run.filter(|_| is_over.is_none());
    match (run, &steer) {
        (Some((run, past)), _) if of_run(&past) => tell(app, &run, &past, &steer, Some(opened)),
        (Some((run, past)), _) => {
            let mut there = opened_by(app, &past)?;
            if let Some(there) = &mut there {
                there.file.name.clone_from(&opened.file.name);
            }
            tell(app, &run, &past, &steer, there.as_ref())
        }
        // A list that no run works on is changed like any file.
        (None, Steer::List(change)) => change_list(app, opened, change),
        (None, _) => match is_over {
            Some(over) => app.fail(&over),
            None => app.refuse(&no_run(app)),
        },
    }
}

/// The list of a run in lanes lies in a tree of its own, as it is on the
/// branch there.
fn is_in_lanes(past: &Past, opened: &OpenTaskFile) -> bool {
    let lies_in = past.header.tasks_file.as_deref();
    past.state.rules.lanes.is_some()
        && lies_in.is_some_and(|file| file.ends_with(&opened.file.name))
}

fn meant(args: &TasksArgs) -> Option<Steer> {
    let id = args.id.clone();
    let words = args.words.join(" ");
    let mut ids = id.clone().into_iter().chain(args.words.iter().cloned());
    Some(match args.verb {
        TasksVerb::Add => {
            let text = ids.collect::<Vec<_>>().join(" ");
            let text = Some(text).filter(|text| !text.trim().is_empty())?;
            Steer::List(ListChange::Add {
                text,
                verify: args.verify.clone(),
                after: args.after.clone(),
                phase: args.phase.clone(),
            })
        }
        TasksVerb::Edit if !words.trim().is_empty() => Steer::List(ListChange::Edit {
            task: id?,
            text: words,
        }),
        TasksVerb::Move => Steer::List(ListChange::Move {
            task: id?,
            after: args.after.clone(),
        }),
        TasksVerb::Remove => Steer::List(ListChange::Remove { task: id? }),
        TasksVerb::Skip => Steer::Skip {
            tasks: std::iter::once(ids.next()?).chain(ids).collect(),
        },
        TasksVerb::Unskip => Steer::Unskip {
            tasks: std::iter::once(ids.next()?).chain(ids).collect(),
        },
        _ => return None,
    })
}

/// The same for a delta loop, whose agent keeps the list.
pub fn parts(app: &App, args: &TasksArgs) -> Exit {
    let Some((_, past)) = latest(app)? else {
        return app.refuse(&no_run(app));
    };
    let Some(mut steer) = meant(args) else {
        let example = "ralph tasks skip 'Phase 3'";
        return app.refuse(&tr!(app.lang(), "say which task, and what: `{example}`"));
    };
    let claims = &past.state.claims.file;
    if let Steer::Skip { tasks } = &mut steer {
        for task in tasks.iter_mut() {
            *task = claims.named(task).unwrap_or_else(|| task.clone());
        }
        *tasks = claims.with_their_own(std::mem::take(tasks));
    }
    steer_latest(app, &steer)
}

fn latest(app: &App) -> Result<Option<(RunPaths, Past)>, u8> {
    let Some(run) = app.layout().latest_run().or_fail(app)? else {
        return Ok(None);
    };
    let past = past::read(&run).or_fail(app)?;
    Ok(Some((run, past)))
}

fn steer_latest(app: &App, steer: &Steer) -> Exit {
    let Some((run, past)) = latest(app)? else {
        return app.refuse(&no_run(app));
    };
    steer::can_go_on(steer, &past.state, run.id.as_str()).or_fail(app)?;
    let opened = opened_by(app, &past)?;
    tell(app, &run, &past, steer, opened.as_ref())
}

/// The list of a run; a word for the agent needs none.
fn opened_by(app: &App, past: &Past) -> Result<Option<OpenTaskFile>, u8> {
    let Some(path) = past.header.tasks_file.clone() else {
        return Ok(None);
    };
    let settings = trust::settings_unasked(app, "tasks.")?;
    let options = ReadOptions {
        optional_sections: settings.tasks.optional_sections,
        ..ReadOptions::default()
    };
    Ok(TaskFile::new(&app.root, path, options).open().ok())
}

fn tell(
    app: &App,
    run: &RunPaths,
    past: &Past,
    steer: &Steer,
    opened: Option<&OpenTaskFile>,
) -> Exit {
    let session = past.state.session.as_ref();
    refuse_session(app, session.map(|session| session.id.as_str()))?;
    steer::check(steer, &past.state, opened.map(|opened| &opened.list)).or_fail(app)?;
    if let (Steer::List(change), Some(opened)) = (steer, opened) {
        rehearse(app, opened, change)?;
        // Whoever begins the task at once has to trust its check.
        trust_checks(app, opened, change)?;
    }
    let layout = app.layout();
    let lives = match control::tell(&layout, Wish::Steer(steer.clone()), false) {
        Ok(_) => true,
        // Its list lies on a branch, which only whoever drives it moves.
        Err(ControlError::NothingRuns)
            if past.state.rules.lanes.is_some() && matches!(steer, Steer::List(_)) =>
        {
            return app.fail(&SteerError::LanesAtRest);
        }
        Err(ControlError::NothingRuns) => {
            let file = opened.map(|opened| &opened.file);
            let kind = steer::at_rest(steer.clone(), file).or_fail(app)?;
            control::add_later(&layout, run, kind).or_fail(app)?;
            if let (Steer::List(change), Some(file)) = (steer, file) {
                steer::keep_in_step(run, file, change);
            }
            false
        }
        Err(error) => return app.fail(&error),
    };
    let said = steer.say(app.lang());
    let goes_on = lives || (session.is_some() && past.state.outcome().is_none());
    app.tell(&match goes_on {
        true => said,
        false => tr!(app.lang(), "{said}; `ralph resume` goes on with it"),
    });
    Ok(0)
}

/// What the run would refuse in silence is said here.
fn rehearse(app: &App, opened: &OpenTaskFile, change: &ListChange) -> Result<(), u8> {
    let OpenTaskFile { file, bytes, list } = opened;
    let read = |bytes: &[u8]| ralph_core::tasks::read(&file.name, bytes, &file.options);
    change.apply(bytes, list, read).or_fail(app).map(drop)
}

fn trust_checks(app: &App, opened: &OpenTaskFile, change: &ListChange) -> Result<(), u8> {
    match change {
        ListChange::Add { verify, .. } => trust::keep_checks(app, &opened.file.name, verify),
        _ => Ok(()),
    }
}

fn change_list(app: &App, opened: &OpenTaskFile, change: &ListChange) -> Exit {
    let changed = steer::change_file(&opened.file, change).or_fail(app)?;
    trust_checks(app, opened, change)?;
    let (id, file) = (&changed.task, &opened.file.name);
    let task = changed.list.find(id);
    let text = task
        .and_then(|index| changed.list.tasks.get(index))
        .map_or("", |task| task.text.as_str());
    app.tell(format!("{file}: {id} {text}").trim_end());
    Ok(0)
}

fn list_hints(app: &App, json: bool) -> Exit {
    let Some((_, past)) = latest(app)? else {
        return app.refuse(&no_run(app));
    };
    let open: Vec<&Hint> = past.state.hints.iter().filter(|h| h.is_open()).collect();
    if json {
        let all: Vec<Value> = open.iter().map(|hint| json!(hint)).collect();
        app.json(&Value::from(all));
        return Ok(0);
    }
    if open.is_empty() {
        app.tell(&tr!(app.lang(), "the agent is told nothing of yours"));
    }
    for hint in open {
        let (id, text) = (hint.id, &hint.text);
        app.tell(&match hint.keep {
            true => tr!(app.lang(), "{id}: {text} (in every turn)"),
            false => tr!(app.lang(), "{id}: {text} (in the next turn)"),
        });
    }
    Ok(0)
}
