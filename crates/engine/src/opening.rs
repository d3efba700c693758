//! Takes the lock and opens the files of a run: a new one, or one that is
//! taken up again.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use ralph_core::machine::{
    Budget, Event, Kind, NewRules, Notice, Observation, Outcome, State, iso_utc,
};
use ralph_store::atomic::remove_stale_temps;
use ralph_store::journal::{self, Salvage, Tail};
use ralph_store::layout::{Layout, RunId, RunPaths, new_run_id};
use ralph_store::lock::{Lock, LockError, LockInfo, acquire_within};
use ralph_store::private;
use ralph_store::{Action, FileError};
use serde_json::Value;

use crate::error::DriveError;
use crate::neighbour::Neighbour;
use crate::past::{self, Past, PastError};
use crate::plan::Plan;
use crate::projections::Projector;
use crate::record::{Header, Recorder, write_status};
use crate::session::{adopt, index};
use crate::told::Told;
use crate::{clock, git, room};

/// Which run is driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    New,
    /// Taken up again; `budget` is what the person now allows, where that was
    /// said, `rules` what the settings say by now.
    Resume {
        id: RunId,
        budget: Option<Budget>,
        rules: Option<Box<NewRules>>,
    },
    /// Taken up only to be given up; `None` is what another tool left, which
    /// no run of ours has worked on.
    Abandon(Option<RunId>),
}

/// A run whose lock is held and whose files are open.
#[derive(Debug)]
pub struct Open {
    pub id: RunId,
    pub paths: RunPaths,
    pub state: State,
    pub recorder: Recorder,
    /// `None` where checkpoints are switched off.
    pub projector: Option<Projector>,
    pub lock: Lock,
    pub skipped: BTreeSet<String>,
    /// What the process before saw last; `None` for a new run.
    pub before: Option<Observation>,
    /// The journal ended inside a record, which its process did not live to
    /// finish.
    pub is_torn: bool,
}

impl Opening {
    /// Who gives a run up calls nobody for it.
    pub fn calls_agents(&self) -> bool {
        !matches!(self, Opening::Abandon(_))
    }

    /// The run that it is about, where there is one.
    fn run(&self) -> Option<&RunId> {
        match self {
            Opening::Resume { id, .. } | Opening::Abandon(Some(id)) => Some(id),
            Opening::New | Opening::Abandon(None) => None,
        }
    }

    /// The event that a run begins with, once the world was looked at.
    pub fn first_event(&self, seen: Observation) -> Kind {
        match self {
            Opening::New => Kind::Started { seen },
            Opening::Resume { budget, rules, .. } => Kind::Resumed {
                seen,
                budget: *budget,
                rules: rules.clone(),
            },
            Opening::Abandon(_) => Kind::Abandoned,
        }
    }

    pub fn open(&self, plan: &Plan) -> Result<Open, DriveError> {
        let layout = plan.layout.clone();
        if self.calls_agents() {
            refuse_neighbour(plan, self.run())?;
        }
        refuse_links(plan)?;
        match self {
            Opening::New | Opening::Abandon(None) => {
                let state = State::new(plan.rules.clone()).map_err(|_| DriveError::NoLimit)?;
                layout.prepare()?;
                open_new(&layout, plan, state)
            }
            Opening::Resume { id, .. } | Opening::Abandon(Some(id)) => {
                open_again(&layout, plan, id)
            }
        }
    }
}

fn open_new(layout: &Layout, plan: &Plan, state: State) -> Result<Open, DriveError> {
    let started = clock::now();
    let id = plan.id.clone();
    let id = id.unwrap_or_else(|| new_run_id(started.wall_ms, clock::random()));
    let lock = lock(layout, &id).map_err(DriveError::Locked)?;
    refuse_directories(&[&layout.status(), &plan.log])?;
    clear_up(
        layout,
        plan.tasks.as_ref().map(|tasks| tasks.path.as_path()),
    );
    let dead = lock.took_over.as_ref();
    if let Some(dead) = dead.and_then(|info| RunId::parse(&info.run_id)) {
        // Its files are for people who look back; the new run does not wait
        // for them.
        let _ = settle(layout, &layout.run(&dead));
    }
    let paths = layout.create_run(&id)?;
    let head = git::head(plan.layout.root());
    let header = Header {
        run_id: id.as_str().into(),
        started_ms: started.wall_ms,
        rules: plan.rules.clone(),
        asked: plan.asked.clone(),
        tasks_file: plan.tasks.as_ref().map(|t| t.path.clone()),
        commit: head.commit,
        branch: head.branch,
        session: None,
    };
    let recorder = Recorder::begin(plan, &paths, &header)?;
    if let Some(adopted) = &header.asked.adopted {
        index::put(layout, &adopt::adopted_name(&adopted.task_id), &id)?;
    }
    Ok(Open {
        projector: projector(plan, &paths, &header),
        id,
        paths,
        state,
        recorder,
        lock,
        skipped: plan.scope.skipped.clone(),
        before: None,
        is_torn: false,
    })
}

/// `None` too where a loop that lives would lose what is written: who only
/// gives a run up does without.
pub(crate) fn projector(plan: &Plan, paths: &RunPaths, header: &Header) -> Option<Projector> {
    let is_free = Neighbour::of(plan, Some(&paths.id)).is_none();
    Projector::new(plan, paths, header).filter(|_| is_free)
}

/// Two loops can't both keep what a project has once.
pub(crate) fn refuse_neighbour(plan: &Plan, own: Option<&RunId>) -> Result<(), DriveError> {
    match Neighbour::of(plan, own) {
        Some(neighbour) => Err(DriveError::Neighbour(neighbour)),
        None => Ok(()),
    }
}

/// Every place in the project that a run writes to.
pub(crate) fn refuse_links(plan: &Plan) -> Result<(), FileError> {
    let layout = &plan.layout;
    let places = [
        layout.ralph_dir(),
        &plan.log,
        &plan.checkpoint.dir,
        plan.keeping.history.dir(),
        &plan.keeping.current,
        &layout.delta_state(),
    ];
    places
        .into_iter()
        .try_for_each(|place| layout.refuse_links(place))
}

/// A disk that is full can be emptied while a run goes on; a directory in the
/// place of a file is a mistake to be told before it begins.
fn refuse_directories(files: &[&Path]) -> Result<(), FileError> {
    match files.iter().find(|path| path.is_dir()) {
        Some(path) => {
            let in_the_way = io::Error::from(io::ErrorKind::IsADirectory);
            Err(FileError::new(path, Action::Write, &in_the_way))
        }
        None => Ok(()),
    }
}

/// The journal is read under the lock, so that nobody adds to it meanwhile.
fn open_again(layout: &Layout, plan: &Plan, id: &RunId) -> Result<Open, DriveError> {
    layout.prepare()?;
    let lock = lock_within(layout, id, PATIENCE).map_err(DriveError::Locked)?;
    clear_up(
        layout,
        plan.tasks.as_ref().map(|tasks| tasks.path.as_path()),
    );
    let paths = layout.run(id);
    let _ = remove_stale_temps(&paths.dir, None);
    let mut lines = Vec::new();
    let (journal, past, tail) = past::take_up(&paths, &mut lines_into(&mut lines))?;
    let recorder = Recorder::open(plan, &paths, journal, &past.header, lines);
    Ok(Open {
        projector: projector(plan, &paths, &past.header),
        id: id.clone(),
        paths,
        state: past.state,
        recorder,
        lock,
        skipped: past.skipped,
        before: past.last_seen,
        is_torn: tail != Tail::Clean,
    })
}

/// Keeps the lines that a run has told to its event log.
fn lines_into(lines: &mut Vec<Value>) -> impl FnMut(&Event, &State, &[Notice]) {
    |event, _, notices| lines.extend(notices.iter().map(|notice| notice.line(event.at)))
}

/// Removes what dead processes left of files that they did not live to
/// replace. Whoever can't, leaves it to the next.
fn clear_up(layout: &Layout, tasks_file: Option<&Path>) {
    for path in tasks_file
        .into_iter()
        .chain([layout.delta_state().as_path()])
    {
        if let (Some(dir), Some(name)) = (path.parent(), path.file_name()) {
            let _ = remove_stale_temps(dir, Some(&name.to_string_lossy()));
        }
    }
    let _ = remove_stale_temps(layout.ralph_dir(), None);
    room::clear(layout.state_dir());
    private::clear(&std::env::temp_dir(), git::TEMPORARY);
}

/// Brings the files of a run that is over in step with its journal, where the
/// process that ended it died before it had told. Gives the outcome if there
/// was something to do.
pub fn finish_telling(layout: &Layout, id: &RunId) -> Result<Option<Outcome>, DriveError> {
    let _lock = lock(layout, id).map_err(DriveError::Locked)?;
    layout.prepare()?;
    settle(layout, &layout.run(id))
}

/// Under the lock.
pub(crate) fn settle(layout: &Layout, paths: &RunPaths) -> Result<Option<Outcome>, DriveError> {
    let _ = remove_stale_temps(&paths.dir, None);
    let mut lines = Vec::new();
    let past = past::listen(paths, &mut lines_into(&mut lines))?;
    let mut told = Told::new(&paths.events(), lines);
    let was_whole = told.is_whole();
    clear_up(layout, past.header.tasks_file.as_deref());
    told.catch_up()?;
    let is_latest = layout.latest_run()?.is_some_and(|run| run.id == paths.id);
    let was_current = !is_latest || settle_status(layout, paths, &past)?;
    let outcome = past.state.outcome().cloned();
    Ok(outcome.filter(|_| !was_whole || !was_current))
}

/// Whether `status.json` was right already.
fn settle_status(layout: &Layout, paths: &RunPaths, past: &Past) -> Result<bool, FileError> {
    let tasks_file = past.header.tasks_file_text();
    let status = past.state.status(paths.id.as_str(), &tasks_file);
    let written = ralph_store::regular::read(layout.status()).unwrap_or_default();
    if serde_json::from_slice(&written).ok().as_ref() == Some(&status) {
        return Ok(true);
    }
    write_status(&layout.status(), status, true)?;
    Ok(false)
}

/// Shortens a damaged journal to the records before the damage, and keeps the
/// damaged one beside it; `None` where it is sound.
pub fn keep_intact(layout: &Layout, id: &RunId) -> Result<Option<Salvage>, DriveError> {
    let _lock = lock(layout, id).map_err(DriveError::Locked)?;
    let journal = layout.run(id).journal();
    Ok(journal::keep_intact(&journal).map_err(PastError::from)?)
}

/// Who steers a run that nobody drives, or looks after its files, soon gives the
/// lock back.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes the lock of a project in the name of a run.
pub(crate) fn lock(layout: &Layout, id: &RunId) -> Result<Lock, LockError> {
    lock_within(layout, id, Duration::ZERO)
}

fn lock_within(layout: &Layout, id: &RunId, patience: Duration) -> Result<Lock, LockError> {
    let info = LockInfo {
        pid: std::process::id(),
        started_at: iso_utc(clock::now().wall_ms),
        run_id: id.as_str().into(),
        host: None,
    };
    acquire_within(&layout.lock(), &info, patience).map_err(|mut error| {
        if let LockError::Held {
            holder: Some(holder),
            ..
        } = &mut error
        {
            let since = clock::localised(&holder.started_at);
            holder.started_at = format!("{since} ({})", clock::zone_name());
        }
        error
    })
}
