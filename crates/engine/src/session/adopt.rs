//! Loops that another tool began: its state file becomes a run of ours, and
//! stays in step with it (STOP-07, TMPL-08).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use ralph_core::checkpoint::task_id_of;
use ralph_core::config::{Settings, TaskSource, Value};
use ralph_core::delta::{DeltaError, DeltaState, Status};
use ralph_core::lang::Say;
use ralph_core::machine::{Outcome, PauseReason, State};
use ralph_core::session::plugin_file::{self, PluginFile, PluginFileError};
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::error::Action;
use ralph_store::layout::{Layout, RunId, RunPaths, refuse_links};

use super::{InSession, StateFile, index};
use crate::header::Header;
use crate::past;
use crate::plan::{Adopted, Asked, Flag};

/// A loop of another tool that a session may take up.
#[derive(Clone, Debug, PartialEq)]
pub enum Foreign {
    Plugin(PluginFile),
    Delta(Box<DeltaState>),
}

/// A state file that can't be understood; it stays where it is.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Unreadable {
    #[say(_0.say(lang))]
    Plugin(PluginFileError),
    #[say(format!("{}: {}", ralph_core::delta::PATH, _0.say(lang)))]
    Delta(DeltaError),
    #[say(_0.say(lang))]
    File(FileError),
}

/// The loop of another tool that waits in this project for this session, or
/// for any: one of another session is nobody's business here.
pub fn find(layout: &Layout, session: &str) -> Result<Option<Foreign>, Unreadable> {
    if let Some(text) = read(&layout.root().join(plugin_file::PATH))? {
        let file = PluginFile::read(&text).map_err(Unreadable::Plugin)?;
        let ours = file.session_id.as_deref().is_none_or(|id| id == session);
        if file.active && ours {
            return Ok(Some(Foreign::Plugin(file)));
        }
    }
    find_delta(layout, session)
}

/// The state file of a delta loop that no run of ours knows.
fn find_delta(layout: &Layout, session: &str) -> Result<Option<Foreign>, Unreadable> {
    let Some(text) = read(&layout.delta_state())? else {
        return Ok(None);
    };
    let delta = DeltaState::read(text.as_bytes()).map_err(Unreadable::Delta)?;
    let ours = session_of(&delta).is_none_or(|id| id == session);
    let waits = delta.iteration.status == Status::InProgress && ours && !is_known(layout, &delta);
    Ok(waits.then(|| Foreign::Delta(Box::new(delta))))
}

/// Whether a delta loop waits that no session has, and that is not the one of
/// this run: its file may not have been put away yet.
pub fn has_other_delta(layout: &Layout, task_id: &str) -> bool {
    match find_delta(layout, "") {
        Ok(Some(Foreign::Delta(delta))) => delta.meta.task_id != task_id,
        _ => false,
    }
}

/// The delta loop that waits for `ralph run`, where nothing else is asked for:
/// its phases and subtasks are the list of tasks (CONF-05).
pub fn waiting(layout: &Layout, settings: &Settings, asked: &Asked) -> Option<Asked> {
    let is_asked = asked.prompt.is_some() || asked.openspec.is_some();
    let is_delta = settings.tasks.source == TaskSource::Delta && settings.tasks.file.is_empty();
    if is_asked || !is_delta {
        return None;
    }
    let found = find_delta(layout, "").ok()??.asked();
    let is_new = |flag: &&Flag| asked.flags.iter().all(|given| given.key != flag.key);
    let flags = found.flags.iter().filter(is_new).cloned();
    Some(Asked {
        flags: asked.flags.iter().cloned().chain(flags).collect(),
        prompt: found.prompt,
        adopted: found.adopted,
        ..asked.clone()
    })
}

/// `None` where there is no such file.
fn read(path: &Path) -> Result<Option<String>, Unreadable> {
    match ralph_store::regular::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Unreadable::File(FileError::new(path, Action::Read, &error))),
    }
}

/// DELT-12: a line that old readers pass over.
fn session_of(delta: &DeltaState) -> Option<&str> {
    let mut lines = delta.meta.extra.iter();
    lines.find_map(|line| Some(line.trim().strip_prefix("- Session:")?.trim()))
}

/// Whether the file is that of a run of ours, which has its own journal. One
/// that is over for good has let go of its file: whoever writes one with its
/// id wants that to be worked on (STOP-01).
fn is_known(layout: &Layout, delta: &DeltaState) -> bool {
    let is_over = |run: &RunPaths| {
        let past = past::read(run);
        past.is_ok_and(|past| past.state.is_final())
    };
    let runs = runs_of(layout, &delta.meta.task_id);
    runs.iter().any(|run| !is_over(run))
}

/// Our runs of a task, whatever became of them.
pub fn runs_of(layout: &Layout, task_id: &str) -> Vec<RunPaths> {
    let adopted = index::find(layout, &adopted_name(task_id)).map(|run| layout.run(&run));
    let mut runs = layout.runs().unwrap_or_default();
    runs.retain(|run| task_id_of(run.id.as_str()) == task_id);
    runs.extend(adopted);
    runs
}

/// Under which name the run of an adopted task is found.
pub fn adopted_name(task_id: &str) -> String {
    format!("task {task_id}")
}

impl Foreign {
    /// What the person asked that tool for.
    pub fn asked(&self) -> Asked {
        match self {
            Foreign::Plugin(file) => Asked {
                flags: plugin_flags(file),
                prompt: Some(file.prompt.clone()),
                openspec: file.openspec_change.clone(),
                ..Asked::default()
            },
            Foreign::Delta(delta) => Asked {
                flags: vec![
                    flag("preset", "delta", "Delta Loop State"),
                    // Its promise stands in the file, and its agent was asked
                    // for no other.
                    flag("limits.missing_promise", 0, "Delta Loop State"),
                    flag(
                        "limits.max_iterations",
                        i64::from(delta.iteration.max_allowed),
                        "Max Allowed",
                    ),
                ],
                prompt: Some(task_of(delta)),
                adopted: Some(Adopted {
                    task_id: delta.meta.task_id.clone(),
                    turns: self.turns_before(),
                }),
                ..Asked::default()
            },
        }
    }

    /// The same, from the beginning.
    pub fn asked_anew(&self) -> Asked {
        let asked = self.asked();
        match self {
            Foreign::Plugin(_) => asked,
            Foreign::Delta(delta) => anew(asked, delta),
        }
    }

    /// Turns that were made before we saw it.
    pub fn turns_before(&self) -> u32 {
        let current = match self {
            Foreign::Plugin(file) => file.iteration,
            Foreign::Delta(delta) => delta.iteration.current,
        };
        current.saturating_sub(1)
    }

    pub fn in_session(&self, id: &str, host: &str) -> InSession {
        let (state_file, task_id) = match self {
            Foreign::Plugin(_) => (StateFile::Plugin, None),
            Foreign::Delta(delta) => (StateFile::Delta, Some(delta.meta.task_id.clone())),
        };
        InSession {
            id: id.into(),
            host: host.into(),
            state_file: Some(state_file),
            task_id,
        }
    }
}

/// What is open is all that a file says it is about; from the beginning, what
/// it calls done is asked for too.
pub fn anew(asked: Asked, delta: &DeltaState) -> Asked {
    let whole = Some(delta.whole_work()).filter(|work| !work.is_empty());
    let is_rest = asked.prompt.as_ref() == Some(&delta.pending_work);
    Asked {
        prompt: whole.filter(|_| is_rest).or(asked.prompt),
        adopted: None,
        ..asked
    }
}

/// What a run was asked for, from its beginning: one that took a state file up
/// has only what was left then.
pub fn asked_from_the_beginning(layout: &Layout, header: &Header) -> Asked {
    let asked = Asked {
        adopted: None,
        ..header.asked.clone()
    };
    let bytes = ralph_store::regular::read(layout.delta_state()).ok();
    let delta = bytes.and_then(|bytes| DeltaState::read(&bytes).ok());
    let is_of_it = |delta: &DeltaState| {
        header.asked.adopted.is_some() && delta.meta.task_id == header.task_id()
    };
    match delta.filter(is_of_it) {
        Some(delta) if named_task(&delta).is_none() => Asked {
            prompt: Some(delta.whole_work())
                .filter(|work| !work.is_empty())
                .or(asked.prompt),
            ..asked
        },
        _ => asked,
    }
}

fn plugin_flags(file: &PluginFile) -> Vec<Flag> {
    let mut flags = vec![flag(
        "limits.max_iterations",
        i64::from(file.max_iterations),
        "max_iterations",
    )];
    let name = "completion_promise";
    match &file.completion_promise {
        Some(promise) => flags.push(flag("promise.complete", vec![promise.clone()], name)),
        // Nobody is asked for one, and none ends it (REIN-02).
        None => flags.extend([
            flag("limits.missing_promise", 0, name),
            flag("promise.complete", Vec::<String>::new(), name),
            flag("promise.phase_complete", Vec::<String>::new(), name),
        ]),
    }
    flags
}

fn flag(key: &str, value: impl Into<Value>, name: &str) -> Flag {
    Flag {
        key: key.into(),
        value: value.into(),
        name: name.into(),
    }
}

/// The format has no place for the task; a line that others add, else what is
/// left to do.
fn task_of(delta: &DeltaState) -> String {
    match named_task(delta) {
        Some(task) => task.to_owned(),
        None if delta.pending_work.trim().is_empty() => delta.meta.task_id.clone(),
        None => delta.pending_work.clone(),
    }
}

fn named_task(delta: &DeltaState) -> Option<&str> {
    let mut lines = delta.meta.extra.iter();
    lines.find_map(|line| Some(line.trim().strip_prefix("- Task:")?.trim()))
}

/// Brings the plugin's file in step with the run; it goes away where the
/// plugin itself would remove it (INTR-03).
pub(super) fn keep_plugin_file(root: &Path, state: &State) -> Result<(), FileError> {
    let path = root.join(plugin_file::PATH);
    refuse_links(root, &path)?;
    let Ok(text) = ralph_store::regular::read_to_string(&path) else {
        return Ok(());
    };
    let Ok(file) = PluginFile::read(&text) else {
        return Ok(());
    };
    let is_done = matches!(
        state.outcome(),
        Some(
            Outcome::Complete
                | Outcome::Cancelled
                | Outcome::Paused {
                    reason: PauseReason::Unproven
                }
        )
    );
    if is_done {
        return remove_plugin_file(root);
    }
    let session = state.session.as_ref().map_or("", |session| &session.id);
    let now = file.with(state.turn.number, state.outcome().is_none(), session);
    match now == text {
        true => Ok(()),
        false => write_atomic(&path, now.as_bytes(), AtomicOptions { durable: false }),
    }
}

/// Says in the delta state file of a run that it can't go on.
pub fn mark_failed(layout: &Layout, run: &RunId) {
    let path = layout.delta_state();
    let (true, Ok(Some(text))) = (layout.refuse_links(&path).is_ok(), read(&path)) else {
        return;
    };
    let Ok(mut delta) = DeltaState::read(text.as_bytes()) else {
        return;
    };
    let task = &delta.meta.task_id;
    let adopted = index::find(layout, &adopted_name(task)).as_ref() == Some(run);
    if adopted || task_id_of(run.as_str()) == *task {
        delta.iteration.status = Status::Failed;
        let options = AtomicOptions { durable: false };
        let _ = write_atomic(&path, delta.write_over(&text).as_bytes(), options);
    }
}

pub fn remove_plugin_file(root: &Path) -> Result<(), FileError> {
    let path = root.join(plugin_file::PATH);
    refuse_links(root, &path)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(FileError::new(&path, Action::Remove, &error))
        }
        _ => Ok(()),
    }
}
