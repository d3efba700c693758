//! Every state file of the store, cut at every length, with every byte
//! flipped, and as garbage: never a panic, and it can be written again. (The
//! journal has its own tests of this kind, since it must notice every damage.)

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use ralph_core::checkpoint::Checkpoint;
use ralph_core::delta::DeltaState;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::checkpoint::{Care, CheckpointDir, DeltaFile, LoadedDelta};
use ralph_store::events::{EventLine, EventLog, EventReader};
use ralph_store::history::History;
use ralph_store::lock::{LockInfo, acquire, holder};
use ralph_store::log::{LogFile, LogLevel, LogOptions, LogStyle};
use ralph_store::stats::{self, Decision};

/// A file, what may stand in it, and what is done with it. A new state file
/// gets its line here.
struct Kind {
    name: &'static str,
    sample: &'static str,
    /// Reads and writes it as a run does; says what is wrong then.
    used: fn(&Path) -> Result<(), String>,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "lock",
        sample: "{\"pid\":4194303,\"started_at\":\"2026-01-01T00:00:00Z\",\"run_id\":\"20260101-000000-0000\"}\n",
        used: use_lock,
    },
    Kind {
        name: "execution.log.jsonl",
        sample: "{\"ts\":\"2026-01-01T00:00:00Z\",\"level\":\"INFO\",\"event\":\"loop_start\",\"iteration\":1}\n",
        used: use_events,
    },
    Kind {
        name: "ralph.log",
        sample: "# Ralph Loop Log\nStarted: now\n---\n[now] [INFO] a line\n",
        used: use_log,
    },
    Kind {
        name: "status.json",
        sample: "{\n  \"schema_version\": 1,\n  \"status\": \"running\"\n}\n",
        used: use_status,
    },
    Kind {
        name: "ralph-delta.local.md",
        sample: "# Delta Loop State\n\n## Meta\n- Task ID: t1\n- Route: RALPH\n\n## Iteration\n- Current: 2\n- Max Allowed: 20\n- Status: IN_PROGRESS\n",
        used: use_delta,
    },
    Kind {
        name: "manifest.json",
        sample: "{\"version\":1,\"program\":\"ralph\",\"run_id\":\"20260101-000000-0000\",\"records\":3}\n",
        used: use_manifest,
    },
    Kind {
        name: ".safety_stats",
        sample: "{\n  \"total\": 3,\n  \"blocked\": 1\n}\n",
        used: use_stats,
    },
];

fn use_lock(path: &Path) -> Result<(), String> {
    let info = LockInfo {
        pid: std::process::id(),
        started_at: "2026-01-01T00:00:01Z".into(),
        run_id: "20260101-000001-0000".into(),
        host: None,
    };
    // Nobody holds it, whatever stands in it.
    let found = holder(path).map_err(|e| e.to_string())?;
    let lock = acquire(path, &info).map_err(|e| e.to_string())?;
    let held = holder(path).map_err(|e| e.to_string())?;
    drop(lock);
    match (found, held == Some(info)) {
        (None, true) => Ok(()),
        (found, _) => Err(format!("{found:?} {held:?}")),
    }
}

fn use_events(path: &Path) -> Result<(), String> {
    let event = EventLine {
        ts: "2026-01-01T00:00:02Z".into(),
        event: "added".into(),
        ..EventLine::default()
    };
    let mut log = EventLog::open(path).map_err(|e| e.to_string())?;
    log.append(&event).map_err(|e| e.to_string())?;
    let events = EventReader::new(path).poll().map_err(|e| e.to_string())?;
    match events.last() {
        Some(last) if *last == event => Ok(()),
        last => Err(format!("{last:?}")),
    }
}

fn use_log(path: &Path) -> Result<(), String> {
    let options = LogOptions {
        style: LogStyle::Loop,
        max_bytes: 0,
        keep: 1,
        redact: |text| Cow::Borrowed(text),
    };
    let mut log = LogFile::open(path, "now", options).map_err(|e| e.to_string())?;
    let line = "what was added";
    log.append("now", LogLevel::Info, line)
        .map_err(|e| e.to_string())?;
    let bytes = fs::read(path).map_err(|e| e.to_string())?;
    match bytes.ends_with(format!("[now] [INFO] {line}\n").as_bytes()) {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// It is only ever replaced whole.
fn use_status(path: &Path) -> Result<(), String> {
    write_atomic(path, b"{}", AtomicOptions::default()).map_err(|e| e.to_string())?;
    match fs::read(path) {
        Ok(bytes) if bytes == b"{}" => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// It is read, or moved aside and never deleted; in both cases a new one can
/// be saved.
fn use_delta(path: &Path) -> Result<(), String> {
    let before = fs::read(path).map_err(|e| e.to_string())?;
    let file = DeltaFile::new(path);
    if let LoadedDelta::MovedAside { to, .. } = file.load().map_err(|e| e.to_string())? {
        let kept = fs::read(&to).map_err(|e| e.to_string())?;
        fs::remove_file(&to).map_err(|e| e.to_string())?;
        if kept != before {
            return Err("what was moved aside is not what was there".into());
        }
    }
    let dir = path.with_file_name("current");
    let dir = CheckpointDir::new(&dir, 1);
    dir.prepare().map_err(|e| e.to_string())?;
    file.save(&DeltaState::new("t", "RALPH", "now", 20), &dir, Care::Cheap)
        .map_err(|e| e.to_string())
}

/// An entry of the history that can't be understood is still an entry.
fn use_manifest(path: &Path) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|e| e.to_string())?;
    let history = path.with_file_name("history");
    let entry = history.join("2026-01-01_t1");
    fs::create_dir_all(&entry).map_err(|e| e.to_string())?;
    fs::write(entry.join("manifest.json"), bytes).map_err(|e| e.to_string())?;
    let entries = History::new(history).entries();
    match entries.map_err(|e| e.to_string())?.as_slice() {
        [entry] if entry.name == "2026-01-01_t1" => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Counting goes on, and what was there is kept aside if it can't be read.
fn use_stats(path: &Path) -> Result<(), String> {
    stats::count(path, "Bash", Decision::Blocked, None).map_err(|e| format!("{e:?}"))?;
    stats::read(path).map(drop).map_err(|e| format!("{e:?}"))
}

/// A checkpoint that is not what was saved is noticed: what is loaded is the
/// checkpoint or its backup.
#[test]
fn a_damaged_checkpoint_is_replaced_by_its_backup() {
    let root = tempfile::tempdir().unwrap();
    let dir = CheckpointDir::new(root.path().join("current"), 2);
    dir.prepare().unwrap();
    let saved = Checkpoint {
        task_id: "t1".into(),
        ..Checkpoint::default()
    };
    for _ in 0..2 {
        dir.save(&saved, Care::Durable).unwrap();
    }
    let file = dir.file();
    let sample = fs::read(&file).unwrap();
    for bytes in damages(&sample) {
        // An older version without a checksum is taken as it is.
        if bytes.starts_with(b"{\"version\":0}") {
            continue;
        }
        fs::write(&file, &bytes).unwrap();
        let loaded = dir.load().unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(loaded.checkpoint.says_the_same(&saved), "{text:.300}");
    }
}

fn damages(sample: &[u8]) -> Vec<Vec<u8>> {
    let cut = (0..sample.len()).map(|len| sample[..len].to_vec());
    let flipped = (0..sample.len()).flat_map(|at| {
        [0x01, 0x20, 0x80, 0xff].map(|bits| {
            let mut bytes = sample.to_vec();
            bytes[at] ^= bits;
            bytes
        })
    });
    let garbage = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
    let whole = [
        garbage.collect(),
        vec![0; sample.len()],
        vec![b'['; 100_000],
        b"null\n".to_vec(),
        b"{\"version\":0}\n".to_vec(),
        b"{\"version\":99}\n".to_vec(),
    ];
    cut.chain(flipped).chain(whole).collect()
}

#[test]
fn a_damaged_file_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    for kind in KINDS {
        let path = dir.path().join(kind.name);
        for bytes in damages(kind.sample.as_bytes()) {
            fs::write(&path, &bytes).unwrap();
            if let Err(why) = (kind.used)(&path) {
                let text = String::from_utf8_lossy(&bytes);
                panic!("{}: {why}\nwith {text:.300}", kind.name);
            }
        }
    }
}
