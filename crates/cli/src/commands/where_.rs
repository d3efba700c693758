//! `ralph where`: every place in which something of this project is kept.

use std::path::{Path, PathBuf};

use ralph_core::config;
use ralph_core::text::width;
use ralph_core::tr;
use serde_json::{Map, Value, json};

use crate::app::{App, Exit, OrFail};
use crate::args::WhereArgs;
use crate::settings;

/// One place: its name for programs, for people, and the path.
struct Place {
    key: &'static str,
    name: String,
    path: PathBuf,
}

pub fn run(app: &App, args: &WhereArgs) -> Exit {
    let layout = app.layout();
    if args.adopt {
        let Some(moved) = app.home.moved_to(&app.root) else {
            return app.refuse(&tr!(
                app.lang(),
                "no project was moved here: every known one is where it was, or is on another disk"
            ));
        };
        let here = layout.state_dir();
        if layout.latest_run().or_fail(app)?.is_some() {
            let (there, here) = (moved.dir.display(), here.display());
            return app.refuse(&tr!(
                app.lang(),
                "runs began here since the project was moved, so that those in {there} stay there; what lies in {here} would have to go first"
            ));
        }
        app.home.take_along(&moved, &app.root).or_fail(app)?;
    }
    let places = places(app);
    let moved = match layout.state_dir().exists() {
        true => None,
        false => app.home.moved_to(&app.root).map(|known| known.root),
    };
    let json = || {
        let mut all: Map<String, Value> = places
            .iter()
            .map(|place| (place.key.to_owned(), json!(place.path)))
            .collect();
        if args.size {
            let size = |place: &Place| (place.key.to_owned(), json!(size_of(&place.path)));
            let sizes: Map<String, Value> = places.iter().map(size).collect();
            all.insert("bytes".into(), Value::Object(sizes));
        }
        if let Some(moved) = &moved {
            all.insert("moved_from".into(), json!(moved));
        }
        Value::Object(all)
    };
    app.answer(args.json, json, || {
        let mut text = table(&places, args.size);
        if let Some(from) = &moved {
            let from = from.display();
            text.push_str(&tr!(
                app.lang(),
                "this project was {from} before; `ralph where --adopt` brings its runs here\n"
            ));
        }
        text
    })
}

fn places(app: &App) -> Vec<Place> {
    let (lang, layout) = (app.lang(), app.layout());
    let settings = config::load(&settings::sources(&app.root, Vec::new())).ok();
    let settings = settings.map(|loaded| loaded.settings);
    let history = settings.as_ref().map(|s| app.root.join(&s.history.dir));
    let log = settings.as_ref().map(|s| app.root.join(&s.log.file));
    let checkpoint = settings
        .as_ref()
        .map(|s| layout.checkpoint_dir(&s.checkpoint.dir));
    let all = [
        ("project", tr!(lang, "project"), Some(app.root.clone())),
        ("state", tr!(lang, "state"), Some(layout.state_dir().into())),
        ("runs", tr!(lang, "runs"), Some(layout.runs_dir())),
        ("config", tr!(lang, "settings"), Some(layout.config())),
        ("status", tr!(lang, "status"), Some(layout.status())),
        ("log", tr!(lang, "log"), log),
        ("checkpoints", tr!(lang, "checkpoints"), checkpoint),
        ("history", tr!(lang, "history"), history),
    ];
    let placed = all.into_iter().filter_map(|(key, name, path)| {
        let path = path?;
        Some(Place { key, name, path })
    });
    placed.collect()
}

fn table(places: &[Place], with_size: bool) -> String {
    let widest = places.iter().map(|place| width::width(&place.name)).max();
    let widest = widest.unwrap_or_default();
    let mut text = String::new();
    for place in places {
        let gap = " ".repeat(widest - width::width(&place.name));
        let path = place.path.display();
        text.push_str(&format!("{}{gap}  {path}", place.name));
        if with_size {
            let kilobytes = size_of(&place.path).div_ceil(1024);
            text.push_str(&format!("  ({kilobytes} KB)"));
        }
        text.push('\n');
    }
    text
}

/// Of everything below a path; links are not followed.
fn size_of(path: &Path) -> u64 {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return 0;
    };
    if !found.is_dir() {
        return found.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size_of(&entry.path())).sum()
}
