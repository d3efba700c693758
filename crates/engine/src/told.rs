//! The event log as a projection of the journal: every line exactly once,
//! whatever died or filled up between the two.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use ralph_store::FileError;
use ralph_store::events::{EventLog, EventReader};
use serde_json::Value;

/// More than this is not kept for a file that can't be written: whoever takes
/// the run up again finds it in the journal.
const MOST_UNWRITTEN: usize = 10_000;

/// What stays the same of a line when a later version adds to its fields.
type Key = (String, String, Option<u64>);

/// The event log of a run, and what it still lacks.
#[derive(Debug)]
pub struct Told {
    path: PathBuf,
    /// `None` while it can't be opened.
    file: Option<EventLog>,
    unwritten: VecDeque<Value>,
}

impl Told {
    /// The log of a run that has told `lines` so far; those that it lacks are
    /// written with the next.
    pub fn new(path: &Path, lines: Vec<Value>) -> Told {
        Told {
            path: path.to_owned(),
            file: None,
            unwritten: missing(path, lines).into(),
        }
    }

    /// Whether every line stands in the file.
    pub fn is_whole(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// Puts a line behind those that are still to be written.
    pub fn push(&mut self, line: Value) {
        if self.unwritten.len() < MOST_UNWRITTEN {
            self.unwritten.push_back(line);
        }
    }

    /// Writes what is still to be written.
    pub fn catch_up(&mut self) -> Result<(), FileError> {
        while let Some(line) = self.unwritten.front() {
            let file = match &mut self.file {
                Some(file) => file,
                closed => closed.insert(EventLog::open(&self.path)?),
            };
            file.append_json(line)?;
            self.unwritten.pop_front();
        }
        Ok(())
    }
}

/// The lines that the file lacks. Others may have written to it as well, and
/// lines may be missing anywhere: a disk can be full for a while.
fn missing(path: &Path, lines: Vec<Value>) -> Vec<Value> {
    if lines.is_empty() {
        return lines;
    }
    let mut written: BTreeMap<Key, usize> = BTreeMap::new();
    // What can't be read can't be compared, and is better told twice than
    // never.
    for event in EventReader::new(path).poll().unwrap_or_default() {
        let key = (event.ts, event.event, event.iteration);
        *written.entry(key).or_default() += 1;
    }
    let is_missing = |line: &Value| match written.get_mut(&key(line)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.into_iter().filter(is_missing).collect()
}

fn key(line: &Value) -> Key {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    (text("ts"), text("event"), line["iteration"].as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(event: &str, iteration: u64) -> Value {
        json!({"ts": "2026-01-01T00:00:00Z", "level": "INFO", "event": event, "iteration": iteration})
    }

    /// What a log with `before` in it holds after the run has told `lines`.
    fn check(before: &str, lines: &[Value], want: &[Value]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("execution.log.jsonl");
        std::fs::write(&path, before).unwrap();
        for _ in 0..2 {
            let mut told = Told::new(&path, lines.to_vec());
            told.catch_up().unwrap();
            assert!(told.is_whole());
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let parsed = text.lines().filter_map(|l| serde_json::from_str(l).ok());
        assert_eq!(parsed.collect::<Vec<Value>>(), want, "{before}");
    }

    #[test]
    fn what_is_missing_is_added_once_and_nothing_twice() {
        let all = [line("a", 1), line("b", 1), line("b", 1), line("c", 2)];
        let text = |lines: &[Value]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
        check("", &all, &all);
        check(&text(&all), &all, &all);
        check(&text(&all[..2]), &all, &all);
        // Two lines that look the same are two.
        check(&text(&all[..3]), &all, &all);
        // A torn end is nobody's line.
        check(&format!("{}{{\"ts\":", text(&all[..1])), &all, &all);
        // Somebody else writes here too.
        let other = line("hook", 1);
        let mixed = [all[0].clone(), other.clone(), all[3].clone()];
        let want = [&mixed[..], &all[1..3]].concat();
        check(&text(&mixed), &all, &want);
        // A field that an older version did not know does not make it new.
        let mut older = all[0].clone();
        older["level"] = json!("DEBUG");
        check(&text(&[older.clone()]), &all[..1], &[older]);
    }
}
