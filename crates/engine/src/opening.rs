//! Takes the lock and opens the files of a run: a new one, or one that is
//! taken up again.

use std::collections::BTreeSet;

use ralph_core::machine::{Kind, Seen, State, iso_utc};
use ralph_store::journal::Journal;
use ralph_store::layout::{Layout, RunId, RunPaths, new_run_id};
use ralph_store::lock::{Lock, LockError, LockInfo, acquire};

use crate::error::DriveError;
use crate::past;
use crate::plan::Plan;
use crate::projections::Projector;
use crate::record::{Header, Recorder};
use crate::{clock, git};

/// Which run is driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    New,
    Resume(RunId),
    /// Taken up only to be given up.
    Abandon(RunId),
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
    pub before: Option<Seen>,
}

impl Opening {
    /// The event that a run begins with, once the world was looked at.
    pub fn first_event(&self, seen: Seen) -> Kind {
        match self {
            Opening::New => Kind::Started { seen },
            Opening::Resume(_) => Kind::Resumed { seen },
            Opening::Abandon(_) => Kind::Abandoned,
        }
    }

    pub fn open(&self, plan: &Plan) -> Result<Open, DriveError> {
        let layout = Layout::new(&plan.root);
        match self {
            Opening::New => {
                let state = State::new(plan.rules.clone()).map_err(|_| DriveError::NoLimit)?;
                layout.prepare()?;
                open_new(&layout, plan, state)
            }
            Opening::Resume(id) | Opening::Abandon(id) => open_again(&layout, plan, id),
        }
    }
}

fn open_new(layout: &Layout, plan: &Plan, state: State) -> Result<Open, DriveError> {
    let started = clock::now();
    let id = new_run_id(started.wall_ms, clock::random());
    let lock = lock(layout, &id).map_err(DriveError::Locked)?;
    let paths = layout.create_run(&id)?;
    let head = git::head(&plan.root);
    let header = Header {
        run_id: id.as_str().into(),
        started_ms: started.wall_ms,
        rules: plan.rules.clone(),
        asked: plan.asked.clone(),
        tasks_file: plan.tasks.as_ref().map(|t| t.path.clone()),
        commit: head.commit,
        branch: head.branch,
    };
    let recorder = Recorder::begin(plan, &paths, &header)?;
    Ok(Open {
        projector: Projector::new(plan, &paths, &header),
        id,
        paths,
        state,
        recorder,
        lock,
        skipped: plan.scope.skipped.clone(),
        before: None,
    })
}

/// The journal is read under the lock, so that nobody adds to it meanwhile.
fn open_again(layout: &Layout, plan: &Plan, id: &RunId) -> Result<Open, DriveError> {
    layout.prepare()?;
    let lock = lock(layout, id).map_err(DriveError::Locked)?;
    let paths = layout.run(id);
    let (journal, records, _) = Journal::open(&paths.journal()).map_err(past::PastError::from)?;
    let past = past::replay(id.as_str(), records)?;
    let recorder = Recorder::open(plan, &paths, journal, &past.header)?;
    Ok(Open {
        projector: Projector::new(plan, &paths, &past.header),
        id: id.clone(),
        paths,
        state: past.state,
        recorder,
        lock,
        skipped: past.skipped,
        before: past.last_seen,
    })
}

/// Takes the lock of a project in the name of a run.
pub(crate) fn lock(layout: &Layout, id: &RunId) -> Result<Lock, LockError> {
    let info = LockInfo {
        pid: std::process::id(),
        started_at: iso_utc(clock::now().wall_ms),
        run_id: id.as_str().into(),
        host: None,
    };
    acquire(&layout.lock(), &info)
}
