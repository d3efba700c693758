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
use crate::home::StateHome;
use crate::journal::{Durability, Journal};
use crate::layout::{Layout, RunPaths, new_run_id};
use crate::lock::{LockInfo, acquire};
use crate::log::{LogFile, LogLevel, LogOptions, LogStyle};
use crate::objects::{Batch, ObjectKind, Objects, Packed};

/// The engine's own are passed by the whole runs of the program's tests.
fn points_of_the_store() -> impl Iterator<Item = &'static str> {
    let all = POINTS.iter().copied();
    all.filter(|point| !point.starts_with("engine."))
}

/// Comes through every place of the crate that writes.
fn a_whole_run(root: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let layout = Layout::new(root, &StateHome::at(root.join("state")));
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
    snapshot(&layout.state_dir().join("snapshots"))?;
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

fn snapshot(dir: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut batch = Batch::default();
    batch.add(&Packed::new(ObjectKind::Blob, b"content")?);
    Objects::create(dir)?.write(&mut batch)?;
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
    assert_eq!(passed, points_of_the_store().collect());
}

#[test]
fn a_failure_at_any_point_is_an_error_and_never_a_panic() {
    const EIO: i32 = 5;
    // Where no second name can be given to the event log, it is copied.
    for point in points_of_the_store().filter(|p| *p != point::CHECKPOINT_LINK) {
        let dir = tempfile::tempdir().unwrap();
        arm(point, 0, Fault::error(EIO));
        let error = a_whole_run(dir.path()).expect_err(point).to_string();
        assert!(error.contains("os error 5"), "{point}: {error}");
    }
}
