//! The event log of a run, `execution.log.jsonl`: one JSON object per line
//! (EVNT-01 to EVNT-05).

mod filter;
mod line;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::lines::LineTail;
use crate::{private, sys};
pub use filter::{Filter, FilterError};
pub use line::{EventLevel, EventLine};

/// An event log open for appending. Several may be open at once, in several
/// processes: each line is a single write to the end of the file.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
    /// Whether the file may end inside a line, which the next one must not
    /// be glued to.
    is_torn: bool,
}

impl EventLog {
    /// Opens or creates the log.
    pub fn open(path: &Path) -> Result<EventLog, FileError> {
        let mut options = private::options();
        options.read(true).append(true).create(true);
        let mut file = sys::open(&options, path, point::EVENTS_OPEN).at(path, Action::Open)?;
        let is_torn = ends_inside_a_line(&mut file).at(path, Action::Read)?;
        Ok(EventLog {
            path: path.to_owned(),
            file,
            is_torn,
        })
    }

    pub fn append(&mut self, event: &EventLine) -> Result<(), FileError> {
        self.append_json(&event.to_json())
    }

    /// Appends an event that is a JSON object already.
    pub fn append_json(&mut self, event: &Value) -> Result<(), FileError> {
        let mut text = String::new();
        if self.is_torn {
            text.push('\n');
        }
        text.push_str(&event.to_string());
        text.push('\n');
        let written = sys::write_all(&self.file, text.as_bytes(), point::EVENTS_WRITE);
        self.is_torn = written.is_err();
        written.at(&self.path, Action::Write)
    }
}

fn ends_inside_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Follows an event log while others write it.
#[derive(Clone, Debug)]
pub struct EventReader {
    tail: LineTail,
    skipped: u64,
}

impl EventReader {
    /// Starts before the first event.
    pub fn new(path: &Path) -> EventReader {
        EventReader {
            tail: LineTail::new(path),
            skipped: 0,
        }
    }

    /// The events that are new since the last call. A line still being
    /// written waits for the next; a log that does not exist yet is empty.
    pub fn poll(&mut self) -> Result<Vec<EventLine>, FileError> {
        let mut events = Vec::new();
        let skipped = &mut self.skipped;
        let path = self.tail.path().to_owned();
        self.tail
            .poll(|line| {
                let bytes = line.bytes.trim_ascii();
                match EventLine::parse(bytes) {
                    Some(event) if !line.too_long => events.push(event),
                    _ if bytes.is_empty() => {}
                    _ => *skipped += 1,
                }
            })
            .at(&path, Action::Read)?;
        Ok(events)
    }

    /// How many lines so far were no events.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}
