//! The named points at which Ralph touches the disk or a process, and the
//! means of a test build to make each of them fail or to die there.
//!
//! Every point is passed through [`at`], [`write_all`] or [`pass`]. In a
//! build with `debug_assertions` (`cargo build`, `cargo test`) two variables
//! of the environment are heard, see [`armed`]: `RALPH_FAULT` says what goes
//! wrong at which pass of which point, `RALPH_FAULT_TRACE` names a file to
//! which every pass is appended. A release build contains nothing of this:
//! the operation is all that is left of a point.

use std::fs::File;
use std::io::{self, Write};

#[cfg(any(test, debug_assertions))]
pub mod armed;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use armed::passed;
#[cfg(any(test, debug_assertions))]
pub use armed::{Fault, arm};

/// How a test says what goes wrong in a process, and where it hears of it.
pub const VARIABLES: [&str; 2] = ["RALPH_FAULT", "RALPH_FAULT_TRACE"];

/// What is done at a point, so that a test knows which faults fit there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Open,
    Write,
    Sync,
    Truncate,
    Rename,
    Copy,
    Link,
    Remove,
    CreateDir,
    /// A process is started, signalled, waited for or buried.
    Process,
}

/// One name per place; [`POINTS`] lists them all. What the engine does itself
/// begins with `engine.`.
pub mod point {
    pub const ATOMIC_OPEN: &str = "atomic.open";
    pub const ATOMIC_WRITE: &str = "atomic.write";
    pub const ATOMIC_SYNC: &str = "atomic.sync";
    pub const ATOMIC_RENAME: &str = "atomic.rename";
    pub const ATOMIC_SYNC_DIR: &str = "atomic.sync-dir";
    pub const CHECKPOINT_CREATE_DIR: &str = "checkpoint.create-dir";
    pub const CHECKPOINT_OPEN: &str = "checkpoint.open";
    pub const CHECKPOINT_WRITE: &str = "checkpoint.write";
    pub const CHECKPOINT_SYNC: &str = "checkpoint.sync";
    pub const CHECKPOINT_REMOVE: &str = "checkpoint.remove";
    pub const CHECKPOINT_ROTATE: &str = "checkpoint.rotate";
    pub const CHECKPOINT_RENAME: &str = "checkpoint.rename";
    pub const CHECKPOINT_SYNC_DIR: &str = "checkpoint.sync-dir";
    pub const CHECKPOINT_LINK: &str = "checkpoint.link";
    pub const DELTA_CREATE_DIR: &str = "delta.create-dir";
    pub const DELTA_ASIDE: &str = "delta.aside";
    pub const EVENTS_OPEN: &str = "events.open";
    pub const EVENTS_WRITE: &str = "events.write";
    pub const HISTORY_CREATE_DIR: &str = "history.create-dir";
    pub const HISTORY_OPEN: &str = "history.open";
    pub const HISTORY_WRITE: &str = "history.write";
    pub const HISTORY_COPY: &str = "history.copy";
    pub const HISTORY_SYNC: &str = "history.sync";
    pub const HISTORY_SYNC_DIR: &str = "history.sync-dir";
    pub const HISTORY_RENAME: &str = "history.rename";
    pub const HISTORY_REMOVE: &str = "history.remove";
    pub const JOURNAL_CREATE: &str = "journal.create";
    pub const JOURNAL_SYNC_DIR: &str = "journal.sync-dir";
    pub const JOURNAL_OPEN: &str = "journal.open";
    pub const JOURNAL_TRUNCATE: &str = "journal.truncate";
    pub const JOURNAL_WRITE: &str = "journal.append.write";
    pub const JOURNAL_SYNC: &str = "journal.append.sync";
    pub const LAYOUT_CREATE_DIR: &str = "layout.create-dir";
    pub const LAYOUT_SYNC_DIR: &str = "layout.sync-dir";
    pub const LAYOUT_IGNORE_OPEN: &str = "layout.ignore.open";
    pub const LAYOUT_IGNORE_WRITE: &str = "layout.ignore.write";
    pub const LOCK_OPEN: &str = "lock.open";
    pub const LOCK_TRUNCATE: &str = "lock.truncate";
    pub const LOCK_WRITE: &str = "lock.write";
    pub const LOG_OPEN: &str = "log.open";
    pub const LOG_WRITE: &str = "log.write";
    pub const LOG_ROTATE: &str = "log.rotate";
    pub const OBJECTS_CREATE_DIR: &str = "objects.create-dir";
    pub const OBJECTS_OPEN: &str = "objects.open";
    pub const OBJECTS_WRITE: &str = "objects.write";
    pub const OBJECTS_SYNC: &str = "objects.sync";
    pub const OBJECTS_RENAME: &str = "objects.rename";
    pub const OBJECTS_SYNC_DIR: &str = "objects.sync-dir";
    pub const STOP_REMOVE: &str = "stop.remove";
    pub const ENGINE_PROMPT_OPEN: &str = "engine.prompt.open";
    pub const ENGINE_PROMPT_WRITE: &str = "engine.prompt.write";
    pub const ENGINE_OUTPUT_OPEN: &str = "engine.output.open";
    pub const ENGINE_OUTPUT_WRITE: &str = "engine.output.write";
    pub const ENGINE_VERIFY_OPEN: &str = "engine.verify.open";
    pub const ENGINE_VERIFY_WRITE: &str = "engine.verify.write";
    pub const ENGINE_SPAWN: &str = "engine.spawn";
    pub const ENGINE_EXIT_NOTICED: &str = "engine.exit-noticed";
    pub const ENGINE_SIGNAL: &str = "engine.signal";
    pub const ENGINE_REAP: &str = "engine.reap";
    pub const ENGINE_ORPHANS: &str = "engine.orphans";
    pub const ENGINE_GIT: &str = "engine.git";
}

/// Every place where a write, a sync, a rename or an open for writing happens,
/// and where a process is dealt with.
pub const POINTS: &[&str] = &[
    point::ATOMIC_OPEN,
    point::ATOMIC_WRITE,
    point::ATOMIC_SYNC,
    point::ATOMIC_RENAME,
    point::ATOMIC_SYNC_DIR,
    point::CHECKPOINT_CREATE_DIR,
    point::CHECKPOINT_OPEN,
    point::CHECKPOINT_WRITE,
    point::CHECKPOINT_SYNC,
    point::CHECKPOINT_REMOVE,
    point::CHECKPOINT_ROTATE,
    point::CHECKPOINT_RENAME,
    point::CHECKPOINT_SYNC_DIR,
    point::CHECKPOINT_LINK,
    point::DELTA_CREATE_DIR,
    point::DELTA_ASIDE,
    point::EVENTS_OPEN,
    point::EVENTS_WRITE,
    point::HISTORY_CREATE_DIR,
    point::HISTORY_OPEN,
    point::HISTORY_WRITE,
    point::HISTORY_COPY,
    point::HISTORY_SYNC,
    point::HISTORY_SYNC_DIR,
    point::HISTORY_RENAME,
    point::HISTORY_REMOVE,
    point::JOURNAL_CREATE,
    point::JOURNAL_SYNC_DIR,
    point::JOURNAL_OPEN,
    point::JOURNAL_TRUNCATE,
    point::JOURNAL_WRITE,
    point::JOURNAL_SYNC,
    point::LAYOUT_CREATE_DIR,
    point::LAYOUT_SYNC_DIR,
    point::LAYOUT_IGNORE_OPEN,
    point::LAYOUT_IGNORE_WRITE,
    point::LOCK_OPEN,
    point::LOCK_TRUNCATE,
    point::LOCK_WRITE,
    point::LOG_OPEN,
    point::LOG_WRITE,
    point::LOG_ROTATE,
    point::OBJECTS_CREATE_DIR,
    point::OBJECTS_OPEN,
    point::OBJECTS_WRITE,
    point::OBJECTS_SYNC,
    point::OBJECTS_RENAME,
    point::OBJECTS_SYNC_DIR,
    point::STOP_REMOVE,
    point::ENGINE_PROMPT_OPEN,
    point::ENGINE_PROMPT_WRITE,
    point::ENGINE_OUTPUT_OPEN,
    point::ENGINE_OUTPUT_WRITE,
    point::ENGINE_VERIFY_OPEN,
    point::ENGINE_VERIFY_WRITE,
    point::ENGINE_SPAWN,
    point::ENGINE_EXIT_NOTICED,
    point::ENGINE_SIGNAL,
    point::ENGINE_REAP,
    point::ENGINE_ORPHANS,
    point::ENGINE_GIT,
];

/// Does `operation` at a named point.
#[cfg(any(test, debug_assertions))]
pub fn at<T>(
    point: &'static str,
    deed: Deed,
    operation: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let due = armed::due(point, deed);
    armed::before(due)?;
    let result = operation();
    armed::after(due);
    result
}

#[cfg(not(any(test, debug_assertions)))]
#[inline(always)]
pub fn at<T>(
    _point: &'static str,
    _deed: Deed,
    operation: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    operation()
}

/// Passes a point of which nothing comes back: only a kill can strike there.
#[inline]
pub fn pass(point: &'static str) {
    let _ = at(point, Deed::Process, || Ok(()));
}

/// One `write` call, unless the kernel takes only a part.
pub fn write_all(mut file: &File, bytes: &[u8], point: &'static str) -> io::Result<()> {
    #[cfg(any(test, debug_assertions))]
    {
        let due = armed::due(point, Deed::Write);
        if let Some(part) = armed::short(due, bytes) {
            file.write_all(part)?;
        }
        armed::before(due)?;
        let result = file.write_all(bytes);
        armed::after(due);
        result
    }
    #[cfg(not(any(test, debug_assertions)))]
    {
        let _ = point;
        file.write_all(bytes)
    }
}
