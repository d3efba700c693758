//! The end of what an agent printed, as people read it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ralph_core::text;
use ralph_store::lines::open_regular;

use super::spoken::{OutputLine, Spoken};
use crate::kept::LEAST_BEGINNING;

/// Of a long output only so much of its end is read at first.
const TAIL_BYTES: u64 = 512 * 1024;
/// As many lines are kept.
const MOST_LINES: usize = 5_000;
/// At most so much is read at once, so that a flood holds nobody up.
const MOST_AT_ONCE: usize = 4 * 1024 * 1024;
const SHOWN_OF_A_LINE: usize = 2_000;

/// Follows the output of one call.
#[derive(Debug)]
pub struct OutputTail {
    path: PathBuf,
    /// The part of a flood that is read; 0 is the file itself.
    part: u64,
    offset: Option<u64>,
    spoken: Spoken,
    lines: VecDeque<OutputLine>,
    /// Lines that are no longer kept.
    dropped: u64,
}

impl OutputTail {
    /// `agent` says how the output is understood.
    pub fn new(path: &Path, agent: &str) -> OutputTail {
        OutputTail {
            path: path.into(),
            part: 0,
            offset: None,
            spoken: Spoken::by(agent),
            lines: VecDeque::new(),
            dropped: 0,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The lines that are kept, the oldest first.
    pub fn lines(&self) -> &VecDeque<OutputLine> {
        &self.lines
    }

    /// How many lines there have been.
    pub fn count(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    /// Reads what is new; `true` where anything is.
    pub fn refresh(&mut self) -> io::Result<bool> {
        let newest = newest_part(&self.path);
        if newest != self.part {
            self.part = newest;
            self.offset = None;
        }
        let mut file = match open_regular(&self.part_path()) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let from = match self.offset {
            Some(offset) if offset <= length => offset,
            _ => self.begin(&mut file, length)?,
        };
        if from == length {
            self.offset = Some(from);
            return Ok(false);
        }
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        let read = file.take(MOST_AT_ONCE as u64).read_to_end(&mut bytes)?;
        self.offset = Some(from + read as u64);
        self.take(&bytes);
        Ok(true)
    }

    /// Where to begin: at a line near the end.
    fn begin(&mut self, file: &mut File, length: u64) -> io::Result<u64> {
        let from = length.saturating_sub(TAIL_BYTES);
        if from == 0 {
            return Ok(0);
        }
        file.seek(SeekFrom::Start(from))?;
        let mut window = Vec::new();
        file.by_ref().take(TAIL_BYTES).read_to_end(&mut window)?;
        let line = window.iter().position(|&byte| byte == b'\n');
        Ok(from + line.map_or(0, |at| at as u64 + 1))
    }

    fn part_path(&self) -> PathBuf {
        match self.part {
            0 => self.path.clone(),
            part => {
                let mut name = self.path.clone().into_os_string();
                name.push(format!(".{part}"));
                name.into()
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let (lines, dropped) = (&mut self.lines, &mut self.dropped);
        self.spoken.hear(bytes, &mut |line| {
            if lines.len() >= MOST_LINES {
                lines.pop_front();
                *dropped += 1;
            }
            lines.push_back(OutputLine {
                said: line.said,
                text: text::excerpt(&line.text, SHOWN_OF_A_LINE).into_owned(),
            });
        });
    }
}

/// The last of the numbered parts that a flood is kept in; 0 where it is all
/// in one file.
fn newest_part(path: &Path) -> u64 {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else {
        return 0;
    };
    // The folder of a long run holds thousands of files, and this is asked
    // several times a second.
    let length = std::fs::metadata(path).map_or(0, |meta| meta.len());
    if length < LEAST_BEGINNING {
        return 0;
    }
    let prefix = format!("{name}.");
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix(&prefix)?.parse::<u64>().ok()
    });
    numbers.max().unwrap_or(0)
}
