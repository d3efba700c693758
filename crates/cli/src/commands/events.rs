//! `ralph events`: what happened in a run, event by event.

use std::path::PathBuf;
use std::time::Duration;

use ralph_core::tr;
use ralph_engine::clock;
use ralph_store::events::{EventLine, EventReader, Filter};
use ralph_store::history;
use ralph_store::layout::{RunId, RunPaths};
use ralph_store::old;

use super::archive::known;
use crate::app::{App, Exit, OrFail};
use crate::args::EventsArgs;
use crate::settings;

/// How often a growing file is looked at.
const LOOK: Duration = Duration::from_millis(200);

pub fn run(app: &App, args: &EventsArgs) -> Exit {
    let filter = args
        .filter
        .as_deref()
        .map(Filter::parse)
        .transpose()
        .or_fail(app)?;
    let run = find_run(app, args.run.as_deref());
    let log = run.map(|paths| paths.events());
    let Some(log) = log.or_else(|| named_log(app, args.run.as_deref())) else {
        return app.refuse(&tr!(
            app.lang(),
            "there is no such run; start one with `ralph run`, or see `ralph history`"
        ));
    };
    let mut reader = EventReader::new(&log);
    loop {
        let events = reader.poll().or_fail(app)?;
        for event in events
            .iter()
            .filter(|e| filter.as_ref().is_none_or(|f| f.matches(e)))
        {
            match args.json {
                true => app.json(&event.to_json()),
                false => app.tell(&words(event)),
            }
        }
        if !args.follow {
            return Ok(0);
        }
        std::thread::sleep(LOOK);
    }
}

fn find_run(app: &App, id: Option<&str>) -> Option<RunPaths> {
    let layout = app.layout();
    match id {
        Some(id) => known(&layout, id).or_else(|| old::run(&layout, &RunId::parse(id)?)),
        None => layout.latest_run().ok().flatten(),
    }
}

/// A log of another tool, by its file; without a name the one in the place that
/// tools of the delta loop share (EVNT-02).
fn named_log(app: &App, name: Option<&str>) -> Option<PathBuf> {
    let name = match name {
        Some(name) => app.root.join(name),
        None => {
            let settings = settings::load(app, Vec::new()).ok()?.settings;
            let dir = app.layout().checkpoint_dir(&settings.checkpoint.dir);
            dir.join(history::EVENTS)
        }
    };
    let found = name.symlink_metadata();
    found.is_ok_and(|found| found.is_file()).then_some(name)
}

fn words(event: &EventLine) -> String {
    let (time, level) = (clock::localised(&event.ts), event.level.into_str());
    let mut line = format!("{time} {level:5} {}", event.event);
    if let Some(iteration) = event.iteration {
        line.push_str(&format!(" iteration={iteration}"));
    }
    if let Some(phase) = &event.phase {
        line.push_str(&format!(" phase={phase}"));
    }
    for (key, value) in &event.fields {
        line.push_str(&format!(" {key}={value}"));
    }
    line
}
