//! `ralph drill`: the person's own configuration, in copies of the project,
//! against an agent that does everything wrong.

mod disk;
mod evidence;
mod faults;
mod place;
mod project;
mod say;
mod scale;
mod stage;
mod verdict;
mod view;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ralph_core::config::{Loaded, Settings};
use ralph_core::lang::Say;
use ralph_core::machine::Outcome;
use ralph_engine::signals::{self, Told};
use ralph_engine::supervise::{Stop, Tag, orphans, stop_ourselves};
use ralph_store::private::PrivateDir;
use tokio::sync::{mpsc, watch};

use super::config::warn_all;
use crate::app::{App, Exit, OrFail, own_program};

use crate::args::DrillArgs;
use crate::{settings, trust};
use faults::Fault;
use project::Project;
use scale::Scale;
use stage::{Played, Stage, TAG};
use verdict::Verdict;
use view::{Ending, Table};

/// Something was not caught: like a gate that fails.
const NOT_CAUGHT: u8 = 7;

/// Why a drill can't begin.
#[derive(Say)]
enum DrillError {
    #[say("there is no fault \"{name}\"; use some of: {known}", known = crate::hook::names(Fault::ALL))]
    UnknownFault { name: String },
    /// The copies would lie in the project.
    #[say("{dir} lies in the project, and the drill must not write there; set TMPDIR to a directory outside", dir = dir.display())]
    NoPlace { dir: PathBuf },
    #[say("{path}: {message}; the drill needs a temporary directory that it can write to, see TMPDIR", path = path.display())]
    File { path: PathBuf, message: String },
}

pub fn run(app: &App, args: &DrillArgs) -> Exit {
    let scale = Scale::of(args);
    if args.list {
        app.tell(&view::list(app.lang(), scale.sizes()));
        return Ok(0);
    }
    let faults = chosen(&args.only).or_fail(app)?;
    let loaded = settings::load(app, Vec::new())?;
    trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
    let Loaded {
        settings, warnings, ..
    } = loaded;
    warn_all(app, &warnings);
    let dir = make_dir(&app.root).or_fail(app)?;
    let code = drill(app, args, &settings, &faults, scale, &dir);
    if !args.keep {
        remove(&dir);
    }
    code
}

/// A copy of a project to work in, with what it has installed: nothing that
/// happens there reaches it.
pub fn copy_project(root: &Path, settings: &Settings, to: &Path) -> std::io::Result<()> {
    Project::look(root, settings).copy_with_installed(to)
}

fn chosen(names: &[String]) -> Result<Vec<Fault>, DrillError> {
    if names.is_empty() {
        return Ok(Fault::ALL.into());
    }
    let find = |name: &String| {
        let unknown = |_| DrillError::UnknownFault { name: name.clone() };
        name.parse().map_err(unknown)
    };
    names.iter().map(find).collect()
}

/// A folder of this process alone, outside of the project.
fn make_dir(root: &Path) -> Result<PathBuf, DrillError> {
    let temp = std::env::temp_dir();
    let temp = temp.canonicalize().unwrap_or(temp);
    let root = root.canonicalize().unwrap_or_else(|_| root.into());
    if temp.starts_with(&root) {
        return Err(DrillError::NoPlace { dir: temp });
    }
    match PrivateDir::below(&temp, "drill") {
        Ok(dir) => Ok(dir.keep()),
        Err(error) => Err(DrillError::File {
            path: temp,
            message: error.to_string(),
        }),
    }
}

fn drill(
    app: &App,
    args: &DrillArgs,
    settings: &Settings,
    faults: &[Fault],
    scale: Scale,
    dir: &Path,
) -> Exit {
    let started = Instant::now();
    let project = Project::look(&app.root, settings);
    let stage = Stage {
        settings,
        project: &project,
        dir,
        program: own_program(),
        scale,
        tag: format!("{}-{}", std::process::id(), started_ms()),
    };
    let table = Table::new(app.screen, scale.sizes(), faults);
    let show = |text: &str| {
        if !args.json {
            app.tell(text);
        }
    };
    show(&view::beginning(
        &app.screen, settings, &project, &scale, dir,
    ));
    table.head().iter().for_each(|head| show(head));
    let (all, interrupted) = app.block_on(play_all(&stage, faults, args.keep, |played| {
        let _ = app.answer(args.json, || view::fault_json(played), || table.row(played));
    }))?;
    if !args.keep {
        remove(dir);
    }
    let ending = ending(&stage, &all, started, interrupted);
    app.answer(
        args.json,
        || ending.to_json(),
        || format!("\n{}", ending.text(&app.screen, dir)),
    )?;
    if interrupted {
        Err(Outcome::Interrupted.exit_code())
    } else if ending.holds(args.keep) {
        Ok(0)
    } else {
        Err(NOT_CAUGHT)
    }
}

/// Plays the faults one after the other, until somebody wants it to end.
async fn play_all(
    stage: &Stage<'_>,
    faults: &[Fault],
    keep: bool,
    show: impl Fn(&Played),
) -> (Vec<Played>, bool) {
    // Whoever outlives an engine becomes our child, tagged or not.
    orphans::adopt();
    let stop = stop_at_signals();
    let mut all = Vec::new();
    for &fault in faults {
        let played = stage.play(fault, &stop).await;
        if !keep {
            remove(&stage.dir.join(fault.into_str()));
        }
        if *stop.borrow() != Stop::No {
            return (all, true);
        }
        show(&played);
        all.push(played);
    }
    (all, false)
}

/// The first signal ends a run gracefully, the next at once.
fn stop_at_signals() -> watch::Receiver<Stop> {
    let (sender, mut requests) = mpsc::unbounded_channel();
    let (stop, receiver) = watch::channel(Stop::No);
    // Without it, Ctrl+C ends the drill and leaves its copies.
    let _ = signals::listen(sender);
    tokio::spawn(async move {
        while let Some(told) = requests.recv().await {
            if told == Told::Freeze {
                stop_ourselves();
                continue;
            }
            stop.send_modify(|stop| {
                *stop = match *stop {
                    Stop::No => Stop::Gracefully,
                    Stop::Gracefully | Stop::Freeze | Stop::Now => Stop::Now,
                };
            });
        }
    });
    receiver
}

/// Looks once more at everything that could be left.
fn ending(stage: &Stage<'_>, all: &[Played], started: Instant, interrupted: bool) -> Ending {
    let runs = all.iter().filter_map(|played| played.run.as_ref());
    let mut alive: BTreeSet<u32> = orphans::carrying(TAG, &stage.tag).into_iter().collect();
    alive.extend(runs.flat_map(|run| orphans::carrying(Tag::VARIABLE, run.value())));
    let count = |is: fn(&Verdict) -> bool| all.iter().filter(|p| is(&p.verdict)).count();
    Ending {
        caught: count(|v| matches!(v, Verdict::Caught(_))),
        not_caught: count(|v| matches!(v, Verdict::NotCaught(_))),
        skipped: count(|v| matches!(v, Verdict::Skipped(_))),
        duration: started.elapsed(),
        survivors: alive.len(),
        copies: stage.dir.exists(),
        untouched: stage.project.untouched().map(str::to_owned),
        interrupted,
    }
}

fn started_ms() -> u128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis())
}

/// It is ours, and named after this process.
fn remove(dir: &Path) {
    let _ = std::fs::remove_dir_all(dir);
}
