//! `ralph resume --from FILE`: a state file of a delta loop, or a checkpoint,
//! is all that is left (RESM-04, RESM-06, RESM-07). A person says so; it is a
//! new run, and what the file calls done is a claim.

use std::path::{Path, PathBuf};

use ralph_core::checkpoint::Checkpoint;
use ralph_core::delta::{DeltaState, Status, one_line};
use ralph_core::display::ResumeView;
use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::announcement::Announcement;
use ralph_engine::clock;
use ralph_engine::opening::Opening;
use ralph_engine::past;
use ralph_engine::plan::{Adopted, Asked, Flag};
use ralph_engine::session::adopt::{self, Foreign};
use ralph_store::checkpoint::{Care, CheckpointDir, DeltaFile, LoadedDelta, set_aside};
use ralph_store::layout::Layout;

use super::checkpoints;
use super::resume::{self, Choice};
use crate::app::{App, OrFail};
use crate::args::ResumeArgs;
use crate::around::only_people;

/// What a checkpoint may say about the new run. A command in it is not run:
/// whoever wrote the file is not known.
const SAFE: [&str; 4] = ["preset", "limits.", "tasks.", "promise."];

/// The presets of pull requests push: that a person asks for, not a file.
const OUTWARD: &str = "dev-";

fn is_safe(flag: &Flag) -> bool {
    let pushes =
        flag.key == "preset" && flag.value.as_str().is_some_and(|v| v.starts_with(OUTWARD));
    SAFE.iter().any(|safe| flag.key.starts_with(safe)) && !pushes
}

/// Nobody says it now: a limit that was reached since then is no new one.
fn said_then(flag: Flag) -> Flag {
    Flag {
        name: "checkpoint".to_owned(),
        ..flag
    }
}

/// What there is to go on from.
#[derive(Clone, Debug)]
pub struct Source {
    pub asked: Asked,
    pub state: DeltaState,
}

/// The file that is named; where no run waits, the state file of the project,
/// of which a backup may be what can be read.
pub fn wanted(app: &App, layout: &Layout, args: &ResumeArgs) -> Option<PathBuf> {
    if args.from.is_some() {
        return args.from.clone();
    }
    let live = DeltaFile::new(layout.delta_state());
    if args.run.is_none() && has_other_than_latest(layout) {
        return Some(live.path().to_owned());
    }
    let is_all = args.run.is_none() && layout.runs().is_ok_and(|runs| runs.is_empty());
    let is_there = is_all && live.path().is_file();
    let is_read = || live.peek().is_some() || live.backup(&checkpoints::current(app)).is_some();
    // Where nothing else is left, what is wrong with it is said.
    let is_usable = || is_read() || checkpoints::all(app).is_empty();
    (is_there && is_usable()).then(|| live.path().to_owned())
}

/// Whether a state file waits beside a run that is over.
fn has_other_than_latest(layout: &Layout) -> bool {
    let latest = layout.latest_run().ok().flatten();
    let past = latest.and_then(|run| past::read(&run).ok());
    past.is_some_and(|past| {
        past.state.is_final() && adopt::has_other_delta(layout, &past.header.task_id())
    })
}

/// What becomes of the file.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub asked: Asked,
    pub opening: Opening,
    /// The state to begin with, where that is not a new one.
    pub state: Option<DeltaState>,
}

/// What to start with; otherwise the exit code, once everything has been said.
/// Nothing is written yet: what is asked for may not be possible.
pub fn choose(app: &App, layout: &Layout, args: &ResumeArgs, file: &Path) -> Result<Chosen, u8> {
    only_people(app)?;
    let dir = checkpoints::current(app);
    let Source { asked, state } = read(app, layout, &dir, file)?;
    if state.iteration.status == Status::Completed && !args.show {
        let file = file.display();
        return app.refuse(&tr!(
            app.lang(),
            "{file} says that the work is complete; start a new run with `ralph run`"
        ));
    }
    let mut begun = state.clone();
    // What was promised then was not promised in this run.
    begun.set_promise(None);
    begun.iteration.status = Status::InProgress;
    let opening = match resume::choose(app, args, &view(&state, &asked), &|| state.write())? {
        Choice::Show => {
            app.print(&state.write());
            return Err(0);
        }
        Choice::Abandon => Opening::Abandon(None),
        Choice::Restart => {
            return Ok(Chosen {
                asked: adopt::anew(asked, &state),
                opening: Opening::New,
                state: None,
            });
        }
        Choice::Continue => Opening::New,
    };
    Ok(Chosen {
        asked,
        opening,
        state: Some(begun),
    })
}

/// Puts the state where the loop goes on with it. One of another task, or one
/// that can't be read, is moved aside, and no backup is lost for it (DELT-11).
pub fn put(app: &App, layout: &Layout, state: &DeltaState) -> Result<(), u8> {
    if matches!(layout.current_run(), Ok(Some(_))) {
        // That of a run which is alive stays its own: the start says so.
        return Ok(());
    }
    let dir = checkpoints::current(app);
    let live = DeltaFile::new(layout.delta_state());
    dir.prepare().or_fail(app)?;
    let from = live.path().to_owned();
    let aside = match live.load().or_fail(app)? {
        LoadedDelta::State(other) if other.meta.task_id != state.meta.task_id => {
            let to = set_aside(&from, &other.meta.task_id).or_fail(app)?;
            Some(Announcement::SetAside { from, to })
        }
        LoadedDelta::MovedAside { from, to, error } => Some(Announcement::DeltaMovedAside {
            from,
            to,
            backup: None,
            error,
        }),
        LoadedDelta::State(_) | LoadedDelta::Nothing => None,
    };
    if let Some(aside) = aside {
        app.warn(&aside.say(app.lang()));
    }
    live.save(state, &dir, Care::Durable).or_fail(app)
}

fn unreadable<T>(app: &App, file: &Path, error: impl std::fmt::Display) -> Result<T, u8> {
    let name = file.display();
    app.refuse(&tr!(
        app.lang(),
        "{name} can't be read: {error}; name another file with --from: a state file, a checkpoint or a backup of one"
    ))
}

fn read(app: &App, layout: &Layout, dir: &CheckpointDir, file: &Path) -> Result<Source, u8> {
    let name = file.display();
    let bytes = match ralph_store::regular::read(file) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(app, file, error),
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if text.trim_ascii_start().starts_with(b"{") {
        return checkpoint(app, file, &bytes).map(|found| of_checkpoint(&found));
    }
    let error = match DeltaState::read(&bytes) {
        Ok(state) => return Ok(of_state(state)),
        Err(error) => error.say(app.lang()),
    };
    let own = DeltaFile::new(layout.delta_state());
    let is_live = file.canonicalize().ok() == own.path().canonicalize().ok();
    match own.backup(dir).filter(|_| is_live) {
        Some((backup, state)) => {
            let backup = backup.display();
            app.warn(&tr!(
                app.lang(),
                "{name} can't be read: {error}; going on from {backup}"
            ));
            Ok(of_state(state))
        }
        None => unreadable(app, file, error),
    }
}

/// Proven by its checksum; a backup beside it where it is not.
fn checkpoint(app: &App, file: &Path, bytes: &[u8]) -> Result<Checkpoint, u8> {
    let error = match Checkpoint::read(bytes) {
        Ok((found, _)) => return Ok(found),
        Err(error) => error.say(app.lang()),
    };
    let dir = CheckpointDir::new(file.parent().unwrap_or(Path::new(".")), 3);
    let name = file.display();
    match dir.load() {
        Ok(loaded) if dir.file() == file => {
            let backup = loaded.from.say(app.lang());
            app.warn(&tr!(
                app.lang(),
                "{name} can't be read: {error}; going on from {backup}"
            ));
            Ok(loaded.checkpoint)
        }
        _ => unreadable(app, file, error),
    }
}

fn of_state(state: DeltaState) -> Source {
    let asked = Foreign::Delta(Box::new(state.clone())).asked();
    Source { asked, state }
}

/// The task file, where it has one, is found and counted anew: it wins for
/// what is ticked.
pub fn of_checkpoint(found: &Checkpoint) -> Source {
    let number = |key: &str| found.context.get(key).and_then(serde_json::Value::as_u64);
    let number = |key: &str| number(key).and_then(|n| u32::try_from(n).ok());
    let turns = number("iteration").unwrap_or_default();
    let max = number("max_iterations").unwrap_or(20);
    let state = state_of(found, turns, max);
    let kept = found.context.get("asked");
    let kept = kept.and_then(|asked| serde_json::from_value::<Asked>(asked.clone()).ok());
    let asked = match kept {
        Some(kept) => Asked {
            flags: kept
                .flags
                .into_iter()
                .filter(is_safe)
                .map(said_then)
                .collect(),
            prompt: kept.prompt,
            openspec: kept.openspec,
            flow: kept.flow,
            card: kept.card,
            adopted: Some(Adopted {
                task_id: found.task_id.clone(),
                turns,
            }),
            ..Asked::default()
        },
        None => Asked {
            prompt: Some(found.task_description.clone()),
            ..Foreign::Delta(Box::new(state.clone())).asked()
        },
    };
    Source { asked, state }
}

/// What the checkpoint says, as the state file says it.
fn state_of(found: &Checkpoint, turns: u32, max: u32) -> DeltaState {
    let route = if found.route.is_empty() {
        "RALPH"
    } else {
        &found.route
    };
    let created = clock::localised(&found.timestamps.created);
    let mut state = DeltaState::new(&found.task_id, route, &created, max);
    state.meta.last_updated = clock::localised(&found.timestamps.updated);
    state.iteration.current = turns.saturating_add(1);
    let phases = &found.execution.phases;
    let completed = phases.iter().filter(|phase| phase.status == "completed");
    state.progress.current_phase = found.execution.current_phase.max(1);
    state.progress.completed_phases = completed.map(|phase| phase.number).collect();
    let count = found.subtasks.completed.len();
    state.progress.subtasks_done = u32::try_from(count).unwrap_or(u32::MAX);
    state.progress.subtasks_total = found.subtasks.total;
    let boxed = |mark: char, values: &[serde_json::Value]| -> Vec<String> {
        let names = values.iter().filter_map(serde_json::Value::as_str);
        names
            .map(|name| format!("- [{mark}] {}", one_line(name)))
            .collect()
    };
    let current = found
        .subtasks
        .in_progress_name()
        .map(serde_json::Value::from);
    let lines = [
        boxed('x', &found.subtasks.completed),
        boxed(' ', current.as_slice()),
        boxed(' ', &found.subtasks.pending),
    ];
    state.completed_work = lines.concat().join("\n");
    let open = found.execution.current_phase..=found.execution.total_phases.min(100);
    // A run without phases counts as one.
    let has_phases = found.execution.total_phases > 1;
    let open = open.filter(|phase| has_phases && !state.progress.completed_phases.contains(phase));
    let open = (1..).zip(open).map(|(n, phase)| {
        let named = phases.iter().find(|known| known.number == phase);
        let name = named.map_or("", |phase| &phase.name);
        match one_line(name) {
            name if name.is_empty() => format!("{n}. Phase {phase}"),
            name => format!("{n}. Phase {phase}: {name}"),
        }
    });
    state.pending_work = open.collect::<Vec<_>>().join("\n");
    state
}

/// Where the loop of a state file stands, for those who choose what becomes of
/// it (RESM-04).
pub fn view(state: &DeltaState, asked: &Asked) -> ResumeView {
    let claims = state.claims();
    let current = state.progress.current_phase;
    let last = claims
        .phases
        .last()
        .copied()
        .unwrap_or(current)
        .max(current);
    ResumeView {
        task: one_line(asked.prompt.as_deref().unwrap_or(&state.meta.task_id)),
        route: Some(state.meta.route.clone()),
        phase: Some((
            current.to_string(),
            usize::try_from(last).unwrap_or(usize::MAX),
        )),
        iteration: state.iteration.current,
        interrupted_at: state.meta.last_updated.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_brings_neither_a_command_nor_anything_outward() {
        for (key, value, want) in [
            ("preset", "delta", true),
            ("limits.max_iterations", "7", true),
            ("preset", "dev-p1", false),
            ("preset", "dev-p0", false),
            ("pr.push", "true", false),
            ("verify.commands", "true", false),
            ("agent.command", "sh", false),
        ] {
            let flag = Flag {
                key: key.into(),
                value: value.into(),
                name: "--x".into(),
            };
            assert_eq!(is_safe(&flag), want, "{key} {value}");
        }
    }
}
