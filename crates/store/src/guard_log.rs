//! `guard.jsonl` of a run: what the guard's hook blocked; `asked.jsonl`: what
//! it was asked about.
//!
//! Every hook call is a process of its own, which appends its line with one
//! write. The driver takes the lines in at the end of a turn, and from then on
//! they stand in the journal.

use std::path::Path;

use serde_json::{Value, json};

use crate::error::{Action, At, FileError};
use crate::events::EventLog;
use crate::fault::point;
use crate::layout::{Layout, RunPaths};
use crate::lines::LineTail;
use crate::{private, stats, sys};

/// More lines than this are left for the next time, so that an agent that is
/// blocked over and over can't hold the loop up.
const MOST_AT_ONCE: usize = 1_000;

/// What a hook leaves behind of one call. Behind a wall it can't write, and
/// tells it to the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The guard was asked.
    Asked { tool: String, id: Option<String> },
    /// It has judged; `line` where there is something to tell.
    Judged {
        tool: String,
        id: Option<String>,
        blocked: bool,
        line: Option<Value>,
    },
}

impl Report {
    pub fn as_json(&self) -> Value {
        match self {
            Report::Asked { tool, id } => json!({"tool": tool, "id": id}),
            Report::Judged {
                tool,
                id,
                blocked,
                line,
            } => json!({"tool": tool, "id": id, "blocked": blocked, "line": line}),
        }
    }

    pub fn from_json(json: &Value) -> Option<Report> {
        let tool = json.get("tool")?.as_str()?.to_owned();
        let id = json.get("id").and_then(Value::as_str).map(str::to_owned);
        Some(match json.get("blocked").and_then(Value::as_bool) {
            None => Report::Asked { tool, id },
            Some(blocked) => Report::Judged {
                tool,
                id,
                blocked,
                line: json.get("line").filter(|line| line.is_object()).cloned(),
            },
        })
    }

    /// Writes it down; none of it may fail a call. Outside of a run only the
    /// count is kept.
    pub fn keep(&self, layout: &Layout, run: Option<&RunPaths>) {
        match self {
            Report::Asked { tool, id } => {
                if let Some(run) = run {
                    let _ = asked(&run.asked(), tool, id.as_deref());
                }
            }
            Report::Judged {
                tool,
                id,
                blocked,
                line,
            } => {
                // A folder that leads elsewhere is not ours to write into (S-07).
                if layout.refuse_links(&layout.safety_stats()).is_err()
                    || (!layout.ralph_dir().is_dir() && layout.prepare().is_err())
                {
                    return;
                }
                let decision = match blocked {
                    true => stats::Decision::Blocked,
                    false => stats::Decision::Allowed,
                };
                let counted = stats::count(&layout.safety_stats(), tool, decision, id.as_deref());
                if let Ok(false) = counted {
                    return;
                }
                if let (Some(line), Some(run)) = (line, run.filter(|run| run.dir.is_dir())) {
                    let _ = append(&run.guard_log(), line);
                }
            }
        }
    }
}

/// Appends one line. The folder of the run must be there.
pub fn append(path: &Path, line: &Value) -> Result<(), FileError> {
    EventLog::open(path)?.append_json(line)
}

/// Notes that the hook was asked about a call: the proof that it is there.
/// Every call pays for it, so nobody looks whether the last line is torn: a
/// line break comes first.
pub fn asked(path: &Path, tool: &str, id: Option<&str>) -> Result<(), FileError> {
    let mut options = private::options();
    options.append(true).create(true);
    let file = sys::open(&options, path, point::EVENTS_OPEN).at(path, Action::Open)?;
    let line = format!(
        "\n{}\n",
        json!({"tool": tool, "id": id.unwrap_or_default()})
    );
    sys::write_all(&file, line.as_bytes(), point::EVENTS_WRITE).at(path, Action::Write)
}

/// The whole lines behind the first `known` ones. What is no JSON is `Null`:
/// it counts as a line all the same.
pub fn read(path: &Path, known: u64) -> Result<Vec<Value>, FileError> {
    let mut lines = Vec::new();
    let mut number = 0;
    LineTail::new(path)
        .poll(|line| {
            number += 1;
            if number > known && lines.len() < MOST_AT_ONCE {
                let value = (!line.too_long).then(|| serde_json::from_slice(line.bytes).ok());
                lines.push(value.flatten().unwrap_or_default());
            }
        })
        .at(path, Action::Read)?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_once_and_torn_ends_wait() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("guard.jsonl");
        assert!(read(&path, 0).unwrap().is_empty());
        append(&path, &json!({"rule": "a"})).unwrap();
        append(&path, &json!({"rule": "b"})).unwrap();
        assert_eq!(read(&path, 0).unwrap().len(), 2);
        assert_eq!(read(&path, 1).unwrap(), [json!({"rule": "b"})]);
        assert!(read(&path, 2).unwrap().is_empty());
        std::fs::write(&path, "{\"rule\":\"a\"}\ngarbage\n{\"rule\":").unwrap();
        assert_eq!(read(&path, 0).unwrap(), [json!({"rule": "a"}), Value::Null]);
        append(&path, &json!({"rule": "c"})).unwrap();
        assert_eq!(read(&path, 3).unwrap(), [json!({"rule": "c"})]);
    }

    #[test]
    fn a_flood_of_lines_comes_in_parts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("guard.jsonl");
        std::fs::write(&path, "{}\n".repeat(MOST_AT_ONCE + 5)).unwrap();
        assert_eq!(read(&path, 0).unwrap().len(), MOST_AT_ONCE);
        assert_eq!(read(&path, MOST_AT_ONCE as u64).unwrap().len(), 5);
    }
}
