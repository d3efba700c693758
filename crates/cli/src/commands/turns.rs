//! Which run and which turns a person means, and what of them is there.

use std::path::{Path, PathBuf};

use ralph_core::lang::{Lang, Say};
use ralph_core::text;
use ralph_core::tr;
use ralph_engine::announcement::megabytes;
use ralph_engine::snapshots::timeline::Timeline;
use ralph_engine::snapshots::{Changed, Entry, Mode, Snapshots, TreeId};
use ralph_store::layout::{Layout, RunPaths};

use super::answer::moved;
use super::archive::{known, unknown};
use super::resume;
use crate::app::{App, OrFail};

/// The turns of one run.
pub struct Turns {
    pub layout: Layout,
    pub paths: RunPaths,
    pub timeline: Timeline,
    pub snapshots: Snapshots,
}

/// The run of that name, else the newest.
pub fn run_of(app: &App, run: Option<&str>) -> Result<RunPaths, u8> {
    let layout = app.layout();
    let found = match run {
        Some(name) => match known(&layout, name) {
            Some(run) => Some(run),
            None => return app.refuse(&unknown(name, app.lang())),
        },
        None => resume::newest(&layout).or_fail(app)?,
    };
    let none = || {
        tr!(
            app.lang(),
            "there is no run here yet; `ralph run` starts one"
        )
    };
    found.map_or_else(|| app.refuse(&moved(app).unwrap_or_else(none)), Ok)
}

impl Turns {
    pub fn read(app: &App, run: Option<&str>) -> Result<Turns, u8> {
        let paths = run_of(app, run)?;
        let layout = app.layout();
        let (timeline, _) = Timeline::read(&paths).or_fail(app)?;
        let snapshots = Snapshots::open(&layout).or_fail(app)?;
        Ok(Turns {
            layout,
            paths,
            timeline,
            snapshots,
        })
    }

    /// The work as it was after a turn.
    pub fn after(&self, app: &App, turn: u32) -> Result<TreeId, u8> {
        self.there(app, self.timeline.after(turn), turn)
    }

    pub fn before(&self, app: &App, turn: u32) -> Result<TreeId, u8> {
        self.there(app, self.timeline.before(turn), turn)
    }

    fn there(&self, app: &App, tree: Option<&TreeId>, turn: u32) -> Result<TreeId, u8> {
        let run = self.paths.id.as_str();
        let none = || {
            tr!(
                app.lang(),
                "turn {turn} of run {run} has no snapshot; `ralph snapshots` lists those that there are"
            )
        };
        match tree {
            Some(tree) if self.snapshots.has(&tree.id()) => Ok(tree.clone()),
            _ => app.refuse(&none()),
        }
    }

    /// The last turn that there is.
    pub fn last(&self, app: &App) -> Result<u32, u8> {
        let run = self.paths.id.as_str();
        let last = self.timeline.turns.keys().next_back().copied();
        let none = || tr!(app.lang(), "run {run} has no turn yet");
        last.map_or_else(|| app.refuse(&none()), Ok)
    }
}

/// The turns that were typed in front of paths: `3`, `2..5`, or none.
pub fn split(what: &[String]) -> (Option<(u32, Option<u32>)>, &[String]) {
    let Some((first, rest)) = what.split_first() else {
        return (None, &[]);
    };
    let range = |text: &str| {
        let (from, to) = text.split_once("..")?;
        Some((from.parse().ok()?, Some(to.parse().ok()?)))
    };
    match first
        .parse()
        .ok()
        .map(|turn| (turn, None))
        .or_else(|| range(first))
    {
        Some(turns) => (Some(turns), rest),
        None => (None, what),
    }
}

/// Paths as a person types them, relative to the root of the project.
pub fn within(app: &App, paths: &[String]) -> Result<Vec<PathBuf>, u8> {
    let here = std::env::current_dir().unwrap_or_default();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(&app.root);
    let inside = |path: &String| {
        // What was typed may not be there any more, its directory may.
        let full = here.join(path);
        let parent = full.parent().map(real).unwrap_or_default();
        let full = full
            .file_name()
            .map_or_else(|| real(&full), |name| parent.join(name));
        full.strip_prefix(&root).map(Path::to_owned).or_else(|_| {
            let lang = app.lang();
            app.refuse(&tr!(lang, "{path} is not in this project"))
        })
    };
    paths.iter().map(inside).collect()
}

/// A path in one line that a terminal does not obey.
pub fn name(path: &Path) -> String {
    text::one_line(&text::sanitize(&path.to_string_lossy()))
}

/// One line for a path: what becomes of it.
pub fn line(changed: &Changed, lang: Lang) -> String {
    let sign = match (&changed.before, &changed.after) {
        (None, _) => "A",
        (_, None) => "D",
        _ => "M",
    };
    let about = match (changed.before, changed.after) {
        (Some(before), Some(after)) => bits(before, after, lang),
        _ => String::new(),
    };
    let mut kept = [&changed.after, &changed.before].into_iter().flatten();
    let why = kept.find_map(|entry| match entry.mode {
        Mode::LeftOut(why) => Some(format!(" ({})", why.say(lang))),
        _ => None,
    });
    let why = why.unwrap_or(about);
    format!("  {sign} {}{why}\n", name(&changed.path))
}

fn bits(before: Entry, after: Entry, lang: Lang) -> String {
    match (before.mode, after.mode) {
        (Mode::File, Mode::Executable) => tr!(lang, " (becomes executable)"),
        (Mode::Executable, Mode::File) => tr!(lang, " (no longer executable)"),
        _ => String::new(),
    }
}

pub fn size(bytes: u64) -> String {
    megabytes(bytes)
}
