//! `ralph events`: what happened in a run, event by event.

use std::time::Duration;

use ralph_core::tr;
use ralph_store::events::{EventLine, EventReader, Filter};
use ralph_store::layout::{Layout, RunId, RunPaths};

use crate::FAILED;
use crate::app::App;
use crate::args::EventsArgs;

/// How often a growing file is looked at.
const LOOK: Duration = Duration::from_millis(200);

pub fn run(app: &App, args: &EventsArgs) -> u8 {
    let filter = match args.filter.as_deref().map(Filter::parse).transpose() {
        Ok(filter) => filter,
        Err(error) => return app.fail(&error),
    };
    let Some(paths) = find_run(app, args.run.as_deref()) else {
        app.warn(&tr!(
            app.lang(),
            "there is no such run; start one with `ralph run`, or list .ralph/runs"
        ));
        return FAILED;
    };
    let mut reader = EventReader::new(&paths.events());
    loop {
        let events = match reader.poll() {
            Ok(events) => events,
            Err(error) => return app.fail(&error),
        };
        for event in events
            .iter()
            .filter(|e| filter.as_ref().is_none_or(|f| f.matches(e)))
        {
            app.print(&if args.json {
                event.to_json().to_string()
            } else {
                words(event)
            });
        }
        if !args.follow {
            return 0;
        }
        std::thread::sleep(LOOK);
    }
}

fn find_run(app: &App, id: Option<&str>) -> Option<RunPaths> {
    let layout = Layout::new(&app.root);
    match id {
        Some(id) => Some(layout.run(&RunId::parse(id)?)).filter(|paths| paths.dir.is_dir()),
        None => layout.latest_run().ok().flatten(),
    }
}

fn words(event: &EventLine) -> String {
    let mut line = format!("{} {:5} {}", event.ts, event.level.into_str(), event.event);
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
