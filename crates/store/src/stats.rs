//! `.ralph/.safety_stats`: how often a hook allowed and blocked each tool
//! (GARD-09).
//!
//! Every hook call is a process of its own and many run at once. Each takes
//! the lock beside the file, reads and adds one. Most often only digits change
//! by that: then they are written over, since half of such a write is still a
//! file of counts, and replacing a file costs a hook more than all the rest of
//! its work. Where anything else changes, the file is replaced whole. Nobody
//! waits for the disk: a count that a power cut loses harms nobody.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::atomic::{AtomicOptions, write_atomic};
use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, sys};

const LOCK_TRIES: usize = 2_000;
const LOCK_PAUSE: Duration = Duration::from_micros(500);

/// What a hook decided about one call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allowed,
    Blocked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub allowed: u64,
    pub blocked: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub all: Counts,
    pub tools: BTreeMap<String, Counts>,
}

impl Counts {
    fn add(&mut self, decision: Decision) {
        let count = match decision {
            Decision::Allowed => &mut self.allowed,
            Decision::Blocked => &mut self.blocked,
        };
        *count = count.saturating_add(1);
    }

    fn from_json(json: &Map<String, Value>) -> Option<Counts> {
        Some(Counts {
            allowed: json.get("allowed")?.as_u64()?,
            blocked: json.get("blocked")?.as_u64()?,
        })
    }
}

impl Stats {
    pub fn add(&mut self, tool: &str, decision: Decision) {
        self.all.add(decision);
        self.tools.entry(tool.to_owned()).or_default().add(decision);
    }

    pub fn to_json(&self) -> Value {
        let tools: Map<String, Value> = self
            .tools
            .iter()
            .map(|(name, c)| {
                let counts = json!({"allowed": c.allowed, "blocked": c.blocked});
                (name.clone(), counts)
            })
            .collect();
        json!({"allowed": self.all.allowed, "blocked": self.all.blocked, "tools": tools})
    }

    fn from_json(json: &Value) -> Option<Stats> {
        let json = json.as_object()?;
        let mut stats = Stats {
            all: Counts::from_json(json)?,
            tools: BTreeMap::new(),
        };
        for (name, counts) in json.get("tools")?.as_object()? {
            let counts = Counts::from_json(counts.as_object()?)?;
            stats.tools.insert(name.clone(), counts);
        }
        Some(stats)
    }
}

/// Counts one decision, whoever else counts at the same time. A file that
/// can't be understood is moved aside to `….damaged`, and counting begins
/// anew.
pub fn count(path: &Path, tool: &str, decision: Decision) -> Result<(), FileError> {
    let lock_path = beside(path, ".lock");
    let mut options = private::options();
    options.write(true).create(true).truncate(false);
    let lock = sys::open(&options, &lock_path, point::LOCK_OPEN).at(&lock_path, Action::Open)?;
    lock_soon(&lock).at(&lock_path, Action::Lock)?;
    let before = read_bytes(path)?;
    let mut stats = match &before {
        None => Stats::default(),
        Some(bytes) => match understand(bytes) {
            Some(stats) => stats,
            None => {
                let aside = beside(path, ".damaged");
                sys::rename(path, &aside, point::ATOMIC_RENAME).at(path, Action::Rename)?;
                Stats::default()
            }
        },
    };
    stats.add(tool, decision);
    let mut text = stats.to_json().to_string();
    text.push('\n');
    let same_shape = before.is_some_and(|before| before.len() == text.len());
    if same_shape && write_over(path, text.as_bytes()).is_ok() {
        return Ok(());
    }
    write_atomic(path, text.as_bytes(), AtomicOptions { durable: false })
    // Closing the lock file gives the lock back.
}

fn write_over(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = sys::open(OpenOptions::new().write(true), path, point::ATOMIC_OPEN)?;
    sys::write_all(&file, bytes, point::ATOMIC_WRITE)
}

/// Others hold the lock for a moment only. Whoever holds it longer must not
/// hold hooks up: a host lets a call pass whose hook takes too long.
fn lock_soon(file: &File) -> io::Result<()> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(ErrorKind::TimedOut.into())
}

/// What was counted so far; nothing where there is no file yet or none that
/// can be understood.
pub fn read(path: &Path) -> Result<Stats, FileError> {
    let bytes = read_bytes(path)?.unwrap_or_default();
    Ok(understand(&bytes).unwrap_or_default())
}

fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::new(path, Action::Read, &error)),
    }
}

fn understand(bytes: &[u8]) -> Option<Stats> {
    Stats::from_json(&serde_json::from_slice(bytes).ok()?)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::Decision::{Allowed, Blocked};
    use super::*;

    #[test]
    fn every_decision_is_counted_by_tool() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".safety_stats");
        assert_eq!(read(&path).unwrap(), Stats::default());
        for (tool, decision) in [
            ("Bash", Allowed),
            ("Write", Allowed),
            ("Bash", Blocked),
            ("Bash", Allowed),
        ] {
            count(&path, tool, decision).unwrap();
        }
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"{"allowed":3,"blocked":1,"tools":{"Bash":{"allowed":2,"blocked":1},"Write":{"allowed":1,"blocked":0}}}"#);
        let read = read(&path).unwrap();
        assert_eq!(read.all.allowed, 3);
        assert_eq!(read.tools["Bash"].blocked, 1);
    }

    #[test]
    fn counts_that_get_longer_are_counted_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".safety_stats");
        for _ in 0..101 {
            count(&path, "Bash", Allowed).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text.trim_end(),
            r#"{"allowed":101,"blocked":0,"tools":{"Bash":{"allowed":101,"blocked":0}}}"#
        );
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".safety_stats");
        for _ in 0..41 {
            count(&path, "Bash", Allowed).unwrap();
        }
        let before = fs::read(&path).unwrap();
        count(&path, "Bash", Allowed).unwrap();
        let after = fs::read(&path).unwrap();
        for at in 0..after.len() {
            let torn = [&after[..at], &before[at..]].concat();
            fs::write(&path, torn).unwrap();
            assert!(matches!(read(&path).unwrap().all.allowed, 41 | 42), "{at}");
        }
    }

    #[test]
    fn a_damaged_file_is_kept_and_counting_begins_anew() {
        let damaged = [
            "",
            "{",
            "[]",
            "{\"allowed\":1}",
            "{\"allowed\":-1,\"blocked\":0,\"tools\":{}}",
            "{\"allowed\":1,\"blocked\":0,\"tools\":{\"Bash\":7}}",
        ];
        for text in damaged {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(".safety_stats");
            fs::write(&path, text).unwrap();
            count(&path, "Bash", Blocked).unwrap();
            assert_eq!(read(&path).unwrap().all.blocked, 1, "{text}");
            let aside = dir.path().join(".safety_stats.damaged");
            assert_eq!(fs::read_to_string(aside).unwrap(), text);
        }
    }

    #[test]
    fn what_others_wrote_in_their_own_layout_is_counted_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".safety_stats");
        let text = "{\n  \"tools\": {\"Edit\": {\"blocked\": 2, \"allowed\": 5}},\n  \"blocked\": 2,\n  \"allowed\": 5\n}\n";
        fs::write(&path, text).unwrap();
        count(&path, "Edit", Allowed).unwrap();
        let stats = read(&path).unwrap();
        assert_eq!(stats.all.allowed, 6);
        assert_eq!(stats.tools["Edit"].allowed, 6);
    }
}
