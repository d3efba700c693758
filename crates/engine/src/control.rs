//! Tells a run in another process what is wanted of it.
//!
//! The lock says who runs, a signal tells it, and the journal proves that it
//! was heard: nothing can be left behind. Where no signal reaches, the driver
//! looks for `.ralph/STOP`. What is more than a signal can say is left in the
//! run's inbox.

use std::time::{Duration, Instant};

use ralph_core::lang::Say;
use ralph_core::machine::{Kind, Request};
use ralph_store::FileError;
use ralph_store::journal::Tailer;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock::{LockInfo, holder};

use crate::archive::{self, ArchiveError};
use crate::inbox::{self, Written};

/// How long a run may take to hear.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the journal and the lock are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// What a run in another process is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Wish {
    #[strum(to_string = "requested")]
    Request(Request),
    /// To sleep no longer.
    #[strum(to_string = "nudged")]
    Wake,
}

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

/// Tells the run of a project, and waits until it has heard. `to_the_end`
/// waits until it has ended, as long as that takes no more than a moment.
pub fn tell(layout: &Layout, wish: Wish, to_the_end: bool) -> Result<Heard, ControlError> {
    told(layout, wish.into_str(), to_the_end, |info| {
        signal(info, wish)
    })
}

/// Writes to the run of a project, and waits until it has heard.
pub fn write(layout: &Layout, wish: Written) -> Result<Heard, ControlError> {
    told(layout, wish.into_str(), false, |info| {
        inbox::put(layout, &info.run_id, wish)?;
        // Where no signal reaches, the run looks by itself.
        let _ = signal(info, Wish::Wake);
        Ok(())
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

/// The process is held by its descriptor, so that a number that was given to
/// somebody else meanwhile is not signalled.
#[cfg(target_os = "linux")]
fn signal(info: &LockInfo, wish: Wish) -> Result<(), ControlError> {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let not_told = |error: rustix::io::Errno| ControlError::NotTold {
        pid: info.pid,
        message: error.to_string(),
    };
    let pid = i32::try_from(info.pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(ControlError::NothingRuns)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).map_err(not_told)?;
    let signal = match wish {
        Wish::Request(Request::Pause) => Signal::USR1,
        Wish::Request(Request::Cancel) => Signal::USR2,
        Wish::Request(Request::Interrupt) => Signal::TERM,
        Wish::Request(Request::Kill) => Signal::QUIT,
        Wish::Wake => Signal::URG,
    };
    pidfd_send_signal(&process, signal).map_err(not_told)
}

#[cfg(not(target_os = "linux"))]
fn signal(info: &LockInfo, _wish: Wish) -> Result<(), ControlError> {
    Err(ControlError::NotTold {
        pid: info.pid,
        message: "not supported here".into(),
    })
}
