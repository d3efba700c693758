//! The named points at which this crate touches the disk, and the means of a
//! test build to make each of them fail.
//!
//! In a release build only the names remain; the checks are compiled away.

/// One name per place; [`POINTS`] lists them all.
pub(crate) mod point {
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
    pub const STOP_REMOVE: &str = "stop.remove";
}

/// Every place where a write, a sync, a rename or an open for writing happens.
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
    point::STOP_REMOVE,
];

#[cfg(any(test, feature = "faults"))]
pub(crate) use armed::strike;
#[cfg(any(test, feature = "faults"))]
pub use armed::{Fault, arm, passed};

#[cfg(any(test, feature = "faults"))]
mod armed {
    use std::cell::RefCell;

    /// How a point fails.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Fault {
        pub os_error: i32,
        /// How many bytes reach the file before the error; only where bytes
        /// are written.
        pub written: usize,
    }

    impl Fault {
        pub const fn error(os_error: i32) -> Fault {
            Fault {
                os_error,
                written: 0,
            }
        }

        pub(crate) fn to_io(self) -> std::io::Error {
            std::io::Error::from_raw_os_error(self.os_error)
        }
    }

    struct Armed {
        point: &'static str,
        passes_left: usize,
        fault: Fault,
    }

    // One plan per thread: tests run side by side without seeing each other's.
    thread_local! {
        static PLAN: RefCell<Vec<Armed>> = const { RefCell::new(Vec::new()) };
        static PASSED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    /// Makes `point` fail once in this thread, after `passes` successes.
    pub fn arm(point: &'static str, passes: usize, fault: Fault) {
        PLAN.with_borrow_mut(|plan| {
            plan.push(Armed {
                point,
                passes_left: passes,
                fault,
            });
        });
    }

    /// The points that this thread has come through, in order.
    pub fn passed() -> Vec<&'static str> {
        PASSED.with_borrow(Clone::clone)
    }

    /// Called at each point: the fault that is due there, if any.
    pub(crate) fn strike(point: &'static str) -> Option<Fault> {
        debug_assert!(super::POINTS.contains(&point), "{point} is not listed");
        PASSED.with_borrow_mut(|passed| passed.push(point));
        PLAN.with_borrow_mut(|plan| {
            let at = plan.iter().position(|armed| armed.point == point)?;
            let armed = plan.get_mut(at)?;
            if armed.passes_left > 0 {
                armed.passes_left -= 1;
                return None;
            }
            Some(plan.remove(at).fault)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::BTreeSet;

    use ralph_core::checkpoint::Checkpoint;
    use ralph_core::delta::DeltaState;

    use super::*;
    use crate::atomic::{AtomicOptions, write_atomic};
    use crate::checkpoint::{Care, CheckpointDir, DeltaFile};
    use crate::error::FileError;
    use crate::events::{EventLine, EventLog};
    use crate::history::{self, Bundle, History};
    use crate::journal::{Durability, Journal};
    use crate::layout::{Layout, RunPaths, new_run_id};
    use crate::lock::{LockInfo, acquire};
    use crate::log::{LogFile, LogLevel, LogOptions, LogStyle};

    /// Comes through every place of the crate that writes.
    fn a_whole_run(root: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
        let layout = Layout::new(root);
        layout.prepare()?;
        let run = layout.create_run(&new_run_id(0, 1))?;
        let info = LockInfo {
            pid: std::process::id(),
            started_at: "1970-01-01T00:00:00Z".to_owned(),
            run_id: run.id.to_string(),
            host: None,
        };
        let _lock = acquire(&layout.lock(), &info)?;
        Journal::create(&run.journal())?.append(&[1.into()], Durability::Commit)?;
        let torn = [std::fs::read(run.journal())?.as_slice(), b"{\"v\":1"].concat();
        std::fs::write(run.journal(), torn)?;
        let (mut journal, ..) = Journal::open(&run.journal())?;
        journal.append(&[2.into()], Durability::Commit)?;
        EventLog::open(&run.events())?.append(&EventLine::default())?;
        write_atomic(&layout.status(), b"{}", AtomicOptions { durable: true })?;
        let options = LogOptions {
            style: LogStyle::Loop,
            max_bytes: 60,
            keep: 1,
            redact: |text| Cow::Borrowed(text),
        };
        let mut log = LogFile::open(&layout.log(LogStyle::Loop), "now", options)?;
        for _ in 0..3 {
            log.append("now", LogLevel::Info, "a line long enough to rotate")?;
        }
        checkpoints(root, &run.events())?;
        archive(&layout, &run)?;
        std::fs::write(layout.stop_file(), "")?;
        layout.take_stop_file()?;
        Ok(())
    }

    fn checkpoints(
        root: &std::path::Path,
        events: &std::path::Path,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let dir = CheckpointDir::new(root.join(".skillpack/current"), 2);
        dir.prepare()?;
        for _ in 0..4 {
            dir.save(&Checkpoint::default(), Care::Durable)?;
        }
        dir.show_events(events)?;
        if !std::fs::exists(dir.events())? {
            return Err("no event log".into());
        }
        let delta = DeltaFile::new(root.join(".claude/ralph-delta.local.md"));
        delta.save(
            &DeltaState::new("t", "RALPH", "now", 20),
            &dir,
            Care::Durable,
        )?;
        std::fs::write(delta.path(), "torn")?;
        delta.load()?;
        Ok(())
    }

    fn archive(layout: &Layout, run: &RunPaths) -> Result<(), FileError> {
        let history = History::new(layout.root().join("kept/history"));
        let bundle = Bundle {
            copies: vec![("journal.jsonl".to_owned(), run.journal())],
            ..Bundle::default()
        };
        history.put("1970-01-01_a", &bundle)?;
        history::clear(&bundle.copies)
    }

    #[test]
    fn a_whole_run_comes_through_every_point() {
        let dir = tempfile::tempdir().unwrap();
        a_whole_run(dir.path()).unwrap();
        let passed: BTreeSet<_> = passed().into_iter().collect();
        assert_eq!(passed, POINTS.iter().copied().collect());
    }

    #[test]
    fn a_failure_at_any_point_is_an_error_and_never_a_panic() {
        const EIO: i32 = 5;
        // Where no second name can be given to the event log, it is copied.
        for &point in POINTS.iter().filter(|p| **p != point::CHECKPOINT_LINK) {
            let dir = tempfile::tempdir().unwrap();
            arm(point, 0, Fault::error(EIO));
            let error = a_whole_run(dir.path()).expect_err(point).to_string();
            assert!(error.contains("os error 5"), "{point}: {error}");
        }
    }
}
