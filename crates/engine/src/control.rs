//! Tells a run in another process what is wanted of it.
//!
//! The lock says who runs, its socket takes the wish, and the journal proves
//! that it was heard: nothing can be left behind. Where there is no socket, the
//! driver looks for `.ralph/STOP`.

use std::time::{Duration, Instant};

use ralph_core::lang::Say;
use ralph_core::machine::Kind;
use ralph_store::FileError;
use ralph_store::home::StateHome;
use ralph_store::journal::Tailer;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock::{LockInfo, holder};

use crate::archive::{self, ArchiveError};
use crate::mailbox;
pub use crate::mailbox::Wish;
use crate::supervise;

/// How long a run may take to hear.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the journal and the lock are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It stands in the journal; the turn that runs is still being ended.
    Noted { run: String, pid: u32 },
    /// The run has ended.
    Ended { run: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum ControlError {
    /// Nobody holds the lock.
    #[say(
        "No active Ralph loop found. `ralph status` shows how the last one ended, `ralph run` starts one."
    )]
    NothingRuns,
    /// The process can't be signalled.
    #[say("process {pid} can't be told ({message}); press Ctrl+C in its terminal")]
    NotTold { pid: u32, message: String },
    /// It was told, and the journal does not show it.
    #[say(
        "process {pid} was told and has not answered; look at `ralph logs`, or press Ctrl+C in its terminal"
    )]
    NotHeard { pid: u32 },
    #[say(_0.say(lang))]
    File(FileError),
}

impl From<FileError> for ControlError {
    fn from(error: FileError) -> Self {
        ControlError::File(error)
    }
}

/// The run whose agent this process is, or descends from, whatever its
/// environment says (C-07).
pub fn run_above(home: &StateHome) -> Option<String> {
    let above = supervise::ancestors();
    let drivers = home.known().into_iter().filter_map(|known| {
        let holder = holder(&known.dir.join("lock")).ok().flatten()?;
        above.contains(&holder.pid).then_some(holder.run_id)
    });
    drivers.into_iter().next()
}

/// Whether the run of this project stands above this process.
pub fn is_driven(layout: &Layout) -> bool {
    let holder = holder(&layout.lock()).ok().flatten();
    holder.is_some_and(|holder| supervise::ancestors().contains(&holder.pid))
}

/// Tells the run of a project, and waits until it has heard. `to_the_end`
/// waits until it has ended, as long as that takes no more than a moment.
pub fn tell(layout: &Layout, wish: Wish, to_the_end: bool) -> Result<Heard, ControlError> {
    told(layout, wish.into_str(), to_the_end, |info| {
        mailbox::tell(layout, &info.run_id, wish).map_err(|error| ControlError::NotTold {
            pid: info.pid,
            message: error.to_string(),
        })
    })
}

/// Answers a question of a run that no process drives: the answer waits in
/// its journal until the run is resumed, or its session goes on.
pub fn answer_later(
    layout: &Layout,
    run: &RunPaths,
    id: u32,
    text: &str,
) -> Result<(), ArchiveError> {
    let kind = Kind::Replied {
        question: id,
        text: text.into(),
    };
    add_later(layout, run, kind)
}

/// Something that a person says of a run that no process drives.
pub fn add_later(layout: &Layout, run: &RunPaths, kind: Kind) -> Result<(), ArchiveError> {
    archive::add_event(layout, run, kind)
}

fn told(
    layout: &Layout,
    event: &str,
    to_the_end: bool,
    say: impl FnOnce(&LockInfo) -> Result<(), ControlError>,
) -> Result<Heard, ControlError> {
    let info = holder(&layout.lock())?.ok_or(ControlError::NothingRuns)?;
    let mut journal = RunId::parse(&info.run_id).map(|id| Tailer::new(&layout.run(&id).journal()));
    if let Some(journal) = &mut journal {
        // What stands there already is no answer.
        let _ = journal.poll();
    }
    say(&info)?;
    let deadline = Instant::now() + PATIENCE;
    let mut noted = false;
    loop {
        if holder(&layout.lock())?.is_none_or(|now| now.run_id != info.run_id) {
            return Ok(Heard::Ended { run: info.run_id });
        }
        noted |= journal
            .as_mut()
            .is_some_and(|journal| has_heard(journal, event));
        let late = Instant::now() >= deadline;
        if noted && (late || !to_the_end) {
            return Ok(Heard::Noted {
                run: info.run_id,
                pid: info.pid,
            });
        }
        if late {
            return Err(ControlError::NotHeard { pid: info.pid });
        }
        std::thread::sleep(LOOK);
    }
}

fn has_heard(journal: &mut Tailer, event: &str) -> bool {
    let records = journal.poll().unwrap_or_default();
    records.iter().any(|r| r.data["kind"] == event)
}
