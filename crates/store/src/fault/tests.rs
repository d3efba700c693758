use std::borrow::Cow;
use std::collections::BTreeSet;

use super::*;
use crate::atomic::{AtomicOptions, write_atomic};
use crate::events::{EventLine, EventLog};
use crate::journal::{Durability, Journal};
use crate::layout::{Layout, new_run_id};
use crate::lock::{LockInfo, acquire};
use crate::log::{LogFile, LogLevel, LogOptions, LogStyle};

/// The engine's own are passed by the whole runs of the program's tests.
fn points_of_the_store() -> impl Iterator<Item = &'static str> {
    let all = POINTS.iter().copied();
    all.filter(|point| !point.starts_with("engine."))
}

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
    Ok(())
}

#[test]
fn a_whole_run_comes_through_every_point() {
    let dir = tempfile::tempdir().unwrap();
    a_whole_run(dir.path()).unwrap();
    let passed: BTreeSet<_> = passed().into_iter().collect();
    assert_eq!(passed, points_of_the_store().collect());
}

#[test]
fn a_failure_at_any_point_is_an_error_and_never_a_panic() {
    const EIO: i32 = 5;
    for point in points_of_the_store() {
        let dir = tempfile::tempdir().unwrap();
        arm(point, 0, Fault::error(EIO));
        let error = a_whole_run(dir.path()).expect_err(point).to_string();
        assert!(error.contains("os error 5"), "{point}: {error}");
    }
}
