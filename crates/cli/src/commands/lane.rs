//! A process that works in a lane: an ordinary run on one task, in a tree of
//! its own, for the run that started it.

use std::collections::BTreeSet;
use std::path::Path;

use ralph_core::config::Settings;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{LaneHint, Notice, Now, Outcome, State, Steer};
use ralph_engine::control;
use ralph_engine::driver::{self, Observer};
use ralph_engine::lanes::{Assignment, Governor, Ports, Said, say};
use ralph_engine::opening::Opening;
use ralph_engine::past::{self, Past};
use ralph_engine::plan::{self, Plan, Wanted};
use ralph_engine::signals;
use ralph_engine::steer;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock;
use tokio::sync::mpsc;

use crate::app::{self, App};
use crate::args::Global;
use crate::trust::Kept;
use crate::{FAILED, settings};

pub fn work() -> u8 {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    let assignment = read.ok().and_then(|_| serde_json::from_str(&line).ok());
    let Some(assignment) = assignment else {
        return FAILED;
    };
    match drive(&assignment) {
        Ok(code) => code,
        Err(why) => {
            say(&Said::Failed { why });
            FAILED
        }
    }
}

fn drive(assignment: &Assignment) -> Result<u8, String> {
    let app = App::new(&Global {
        lane: None,
        root: Some(assignment.project.clone()),
        lang: Some("en".into()),
        trust_project: false,
    })
    .map_err(|_| "there is no place to keep anything".to_owned())?;
    if !is_child_of_run(&app.layout(), &assignment.run) {
        return Err("only a run starts its lanes".into());
    }
    let layout = Layout::new(&assignment.root, &app.home);
    let trusted = Kept::read(&app.layout());
    trusted
        .write(&layout)
        .map_err(|error| error.say(Lang::En))?;
    #[cfg(feature = "fleet")]
    if is_for_fleet(&app, assignment)? {
        return crate::fleet::lane::work(&app, assignment, &layout);
    }
    let (plan, _ports) = prepare(&app, assignment, &layout)?;
    let opening = opening(&layout, assignment);
    if let Opening::Resume { id, .. } = &opening {
        tell_again(&layout, &layout.run(id), &assignment.hints)?;
    }
    let result = app.block_on(async {
        let (sender, requests) = mpsc::unbounded_channel();
        let _ = signals::listen(sender);
        driver::drive(plan, &opening, &mut Silent, requests).await
    });
    match result {
        Ok(Ok(outcome)) => Ok(outcome.exit_code()),
        Ok(Err(error)) => Err(error.say(Lang::En)),
        Err(code) => Ok(code),
    }
}

#[cfg(feature = "fleet")]
fn is_for_fleet(app: &App, assignment: &Assignment) -> Result<bool, String> {
    let id = RunId::parse(&assignment.run).ok_or("no such run")?;
    let run = past::read(&app.layout().run(&id)).map_err(|error| error.say(Lang::En))?;
    let flags = settings::layers(app, &run.header.asked.flags).map_err(|_| "settings")?;
    let loaded = settings::load(app, flags).map_err(|_| "settings")?;
    Ok(loaded.settings.lanes.fleet)
}

/// Whoever else starts this has no business here.
fn is_child_of_run(project: &Layout, run: &str) -> bool {
    let holder = lock::holder(&project.lock()).ok().flatten();
    holder.is_some_and(|holder| holder.run_id == run && is_parent(holder.pid))
}

#[cfg(unix)]
fn is_parent(pid: u32) -> bool {
    std::os::unix::process::parent_id() == pid
}

#[cfg(not(unix))]
fn is_parent(_pid: u32) -> bool {
    true
}

/// What was said while nobody drove the lane, and what it had not heard.
fn tell_again(layout: &Layout, run: &RunPaths, hints: &[LaneHint]) -> Result<(), String> {
    let past = past::read(run).map_err(|error| error.say(Lang::En))?;
    let heard = past.state.hints;
    for LaneHint { text, keep } in hints {
        if heard.iter().any(|hint| hint.text == *text) {
            continue;
        }
        let steer = Steer::Hint {
            text: text.clone(),
            keep: *keep,
        };
        let kind = steer::at_rest(steer, None).map_err(|error| error.say(Lang::En))?;
        control::add_later(layout, run, kind).map_err(|error| error.say(Lang::En))?;
    }
    Ok(())
}

/// A run that was not finished is gone on with, if it was about these tasks:
/// another lane may have worked in this tree before.
fn opening(layout: &Layout, assignment: &Assignment) -> Opening {
    let goes_on = |past: &Past| {
        past.state.outcome().is_none_or(Outcome::can_go_on)
            && past.header.asked.lane == assignment.tasks
    };
    let latest = layout.latest_run().ok().flatten();
    let latest = latest.filter(|_| assignment.goes_on);
    let unfinished = latest.filter(|run| past::read(run).is_ok_and(|past| goes_on(&past)));
    match unfinished {
        None => Opening::New,
        Some(run) => Opening::Resume {
            id: run.id,
            budget: None,
            rules: None,
        },
    }
}

fn prepare(
    app: &App,
    assignment: &Assignment,
    layout: &Layout,
) -> Result<(Plan, Option<Ports>), String> {
    let said = |why: &dyn Say| why.say(Lang::En);
    let id = RunId::parse(&assignment.run).ok_or("no such run")?;
    let run = past::read(&app.layout().run(&id)).map_err(|error| said(&error))?;
    let mut asked = run.header.asked;
    asked.lane.clone_from(&assignment.tasks);
    let flags = settings::layers(app, &asked.flags).map_err(|_| "settings")?;
    let loaded = settings::load(app, flags).map_err(|_| "settings")?;
    let mut settings = loaded.settings;
    let setup = std::mem::take(&mut settings.lanes.setup);
    for_lane(&mut settings, assignment);
    let wanted = Wanted {
        asked,
        permit: Some(crate::guard::permit),
        ..Wanted::new(layout.clone(), Lang::En, app::own_program())
    };
    let whole = plan::prepare(&settings, &wanted).map_err(|error| said(&error))?;
    let list = whole.list.ok_or("there is no task list")?;
    let own: BTreeSet<&String> = assignment.tasks.iter().collect();
    let others = list.tasks.iter().map(|task| &task.id);
    let wanted = Wanted {
        skipped: others.filter(|id| !own.contains(id)).cloned().collect(),
        ..wanted
    };
    let mut plan = plan::prepare(&settings, &wanted).map_err(|error| said(&error))?;
    plan.announcements.clear();
    plan.notifier.ways.clear();
    plan.rules.note.clone_from(&assignment.note);
    plan.rules.hints.clone_from(&assignment.hints);
    // A tree that stands was made ready before.
    let is_new = layout.latest_run().ok().flatten().is_none();
    plan.setup = Some(setup).filter(|setup| !setup.is_empty() && is_new);
    plan.governor = Some(Governor::listen());
    plan.env
        .push(("RALPH_LANE".into(), assignment.lane.to_string()));
    let ports = Ports::take(&app.home, settings.lanes.ports, &assignment.root);
    if let Some(ports) = &ports {
        plan.env.extend(ports.env());
    }
    Ok((plan, ports))
}

/// What belongs to the whole run is not the lane's.
fn for_lane(settings: &mut Settings, assignment: &Assignment) {
    settings.lanes.count = 0;
    // Where several agents are named, each lane begins with another.
    let others = settings.agents.len().max(1);
    let first = usize::try_from(assignment.lane.saturating_sub(1)).unwrap_or(0) % others;
    settings.agents.rotate_left(first);
    settings.checkpoint.enabled = false;
    settings.rate.max_calls_per_hour = 0;
    settings.tasks.phase.clear();
    let tasks = assignment.root.join(&assignment.tasks_file);
    settings.tasks.file = tasks.to_string_lossy().into_owned();
    let objects = assignment.objects.to_string_lossy().into_owned();
    settings.sandbox.read.push(objects);
    let command = &mut settings.agent.command;
    let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
    let is_relative = program.contains('/') && Path::new(program).is_relative();
    let there = assignment.project.join(program);
    // A program that only the person's own tree has is meant all the same.
    if is_relative && there.exists() && !assignment.root.join(program).exists() {
        *command = format!("{} {rest}", there.display());
    }
}

/// Nobody looks at a lane: its journal tells.
struct Silent;

impl Observer for Silent {
    fn notice(&mut self, _notice: &Notice, _state: &State, _at: Now) {}
}
