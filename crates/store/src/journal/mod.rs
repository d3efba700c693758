//! The journal of a run: an append-only file of numbered, checksummed records.
//!
//! The journal is the truth of a run, every other file is a projection of it.
//! It promises that
//!
//! - what [`Journal::append`] acknowledged with [`Durability::Commit`] is on
//!   the disk;
//! - an interrupted append costs at most its own records, and never more than
//!   the file's last line is cut off;
//! - damage anywhere else is reported with its place and never skipped,
//!   repaired or taken for an empty journal;
//! - after a failed append (a full disk, a failing one) the journal stays
//!   usable: nothing of that append remains once the next one succeeds.
//!
//! One append is not one transaction: a crash in its middle may leave its
//! first records. What must stand or fall together belongs into one record.
//! There is one writer, the holder of the project's lock; readers come and go.

mod crc;
mod record;
mod salvage;
mod say;
mod scan;
#[cfg(test)]
mod tests;

use ralph_core::lang::Say;
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, sys};
pub use record::{Flaw, Record, Unstorable, VERSION};
pub use salvage::{Salvage, keep_intact};
use scan::{Position, scan_each};

/// Whether an append waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On the disk before the call returns.
    Commit,
    /// Survives the death of this process, but perhaps not of the machine.
    Buffered,
}

/// How a journal ended when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    Clean,
    /// The last line was incomplete or failed its checksum.
    Torn {
        bytes: u64,
    },
}

/// Why a journal cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum JournalError {
    #[say(_0.say(lang))]
    File(FileError),
    /// Damage that no interrupted append explains. The records before `line`
    /// are sound.
    #[say(if *line == 1, "the journal {path} is damaged at its first line (byte {offset}): {reason}; nothing of it is intact and nothing was changed; look at it, restore it from a backup, or start a new run with `ralph run`", path = path.display(), reason = reason.say(lang))]
    #[say("the journal {path} is damaged at line {line} (byte {offset}): {reason}; the {sound} records before it are intact and nothing was changed; go on from them with `ralph resume --from-intact` (the damaged file is kept beside it), restore it from a backup, or start a new run with `ralph run`", path = path.display(), reason = reason.say(lang), sound = line - 1)]
    Corrupt {
        path: PathBuf,
        line: u64,
        offset: u64,
        reason: Flaw,
    },
    /// Written by a later version of Ralph.
    #[say("the journal {path} was written by a newer ralph (format {version}, line {line}); update ralph, or finish the run with the version that began it", path = path.display())]
    Newer {
        path: PathBuf,
        line: u64,
        version: u64,
    },
    /// A value that could be written but not be read back.
    #[say("a record for the journal {path} is {reason}; nothing was written; please report this as a bug", path = path.display(), reason = reason.say(lang))]
    Unstorable { path: PathBuf, reason: Unstorable },
}

impl From<FileError> for JournalError {
    fn from(error: FileError) -> JournalError {
        JournalError::File(error)
    }
}

/// A larger buffer than this is not kept between two appends.
const BUFFER_KEPT: usize = 64 * 1024;

/// A journal open for appending.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The length up to which every record was acknowledged.
    good_len: u64,
    next_seq: u64,
    /// Whether the file may be longer than `good_len`.
    has_debris: bool,
    buffer: Vec<u8>,
}

impl Journal {
    /// Creates an empty journal whose name is durable; refuses one that
    /// exists.
    pub fn create(path: &Path) -> Result<Journal, JournalError> {
        let mut options = private::options();
        options.append(true).create_new(true);
        let file = sys::open(&options, path, point::JOURNAL_CREATE).at(path, Action::Create)?;
        let dir = sys::parent(path);
        sys::sync_dir(dir, point::JOURNAL_SYNC_DIR).at(dir, Action::Sync)?;
        Ok(Journal::at(path, file, Position::START, Tail::Clean))
    }

    /// Opens an existing journal and replays it. A torn last record is left
    /// out, and is cut off before the first append.
    pub fn open(path: &Path) -> Result<(Journal, Vec<Record>, Tail), JournalError> {
        let mut records = Vec::new();
        let (journal, tail) = Journal::open_each(path, &mut keep_in(&mut records))?;
        Ok((journal, records, tail))
    }

    /// [`open`](Journal::open), as [`read_each`] reads.
    pub fn open_each(path: &Path, take: Take<'_>) -> Result<(Journal, Tail), JournalError> {
        let (end, tail) = scan_each(path, Position::START, take)?;
        let mut options = OpenOptions::new();
        options.append(true);
        let file = sys::open(&options, path, point::JOURNAL_OPEN).at(path, Action::Open)?;
        Ok((Journal::at(path, file, end, tail), tail))
    }

    fn at(path: &Path, file: File, end: Position, tail: Tail) -> Journal {
        Journal {
            path: path.to_owned(),
            file,
            good_len: end.offset,
            next_seq: end.next_seq,
            has_debris: tail != Tail::Clean,
            buffer: Vec::new(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number that the next record will get.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Appends all records with one write and, for [`Durability::Commit`],
    /// one sync; gives their numbers. Committing no records makes everything
    /// before durable.
    pub fn append(
        &mut self,
        records: &[Value],
        durability: Durability,
    ) -> Result<Range<u64>, JournalError> {
        let first = self.next_seq;
        let next = self.encode(records)?;
        self.cut_debris()?;
        if let Err(error) = self.write_buffer(durability) {
            self.has_debris = true;
            // At once, so that readers do not take the failed records for
            // real ones; where even this fails, the next append tries again.
            let _ = self.cut_debris();
            return Err(error.into());
        }
        self.good_len += self.buffer.len() as u64;
        self.next_seq = next;
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_KEPT);
        Ok(first..next)
    }

    fn encode(&mut self, records: &[Value]) -> Result<u64, JournalError> {
        self.buffer.clear();
        let mut seq = self.next_seq;
        for data in records {
            record::encode(&mut self.buffer, seq, data).map_err(|reason| {
                JournalError::Unstorable {
                    path: self.path.clone(),
                    reason,
                }
            })?;
            seq += 1;
        }
        Ok(seq)
    }

    fn write_buffer(&self, durability: Durability) -> Result<(), FileError> {
        if !self.buffer.is_empty() {
            sys::write_all(&self.file, &self.buffer, point::JOURNAL_WRITE)
                .at(&self.path, Action::Write)?;
        }
        if durability == Durability::Commit {
            sys::sync_data(&self.file, point::JOURNAL_SYNC).at(&self.path, Action::Sync)?;
        }
        Ok(())
    }

    fn cut_debris(&mut self) -> Result<(), FileError> {
        if self.has_debris {
            sys::set_len(&self.file, self.good_len, point::JOURNAL_TRUNCATE)
                .at(&self.path, Action::Truncate)?;
            self.has_debris = false;
        }
        Ok(())
    }
}

/// Reads a journal without touching it; its writer may be at work meanwhile.
pub fn read(path: &Path) -> Result<(Vec<Record>, Tail), JournalError> {
    let mut records = Vec::new();
    let tail = read_each(path, &mut keep_in(&mut records))?;
    Ok((records, tail))
}

/// [`read`], one record after the other and not yet understood, so that a
/// large journal takes no more memory than its longest line.
pub fn read_each(path: &Path, take: Take<'_>) -> Result<Tail, JournalError> {
    Ok(scan_each(path, Position::START, take)?.1)
}

/// Takes in the data of one record; an error says that it is no JSON.
pub type Take<'a> = &'a mut dyn FnMut(u64, &[u8]) -> serde_json::Result<()>;

fn keep_in(records: &mut Vec<Record>) -> impl FnMut(u64, &[u8]) -> serde_json::Result<()> {
    |seq, data| {
        let data = serde_json::from_slice(data)?;
        records.push(Record { seq, data });
        Ok(())
    }
}

/// Follows a journal while another process writes it.
#[derive(Clone, Debug)]
pub struct Tailer {
    path: PathBuf,
    position: Position,
    /// The number of the first record that was not handed on yet.
    next_seq: u64,
}

impl Tailer {
    /// Starts before the first record.
    pub fn new(path: &Path) -> Tailer {
        Tailer {
            path: path.to_owned(),
            position: Position::START,
            next_seq: Position::START.next_seq,
        }
    }

    /// The whole records that are new since the last call; none while there
    /// is no journal yet.
    pub fn poll(&mut self) -> Result<Vec<Record>, JournalError> {
        let before = self.next_seq;
        let mut records = Vec::new();
        let polled = self.poll_each(&mut keep_in(&mut records));
        if polled.is_err() {
            self.next_seq = before;
        }
        polled.map(|()| records)
    }

    /// [`poll`](Tailer::poll), as [`read_each`] reads.
    pub fn poll_each(&mut self, take: Take<'_>) -> Result<(), JournalError> {
        if !self.path.exists() {
            return Ok(());
        }
        let metadata = std::fs::metadata(&self.path).at(&self.path, Action::Read)?;
        let from = if metadata.len() < self.position.offset {
            Position::START
        } else {
            self.position
        };
        let next = &mut self.next_seq;
        let mut take_new = |seq: u64, data: &[u8]| {
            if seq >= *next {
                take(seq, data)?;
                *next = seq + 1;
            }
            Ok(())
        };
        let (end, _) = match scan_each(&self.path, from, &mut take_new) {
            // The writer may have cut off a failed append that was already
            // read here; only the whole file tells damage from that.
            Err(JournalError::Corrupt { .. }) => {
                scan_each(&self.path, Position::START, &mut take_new)?
            }
            result => result?,
        };
        self.position = end;
        self.next_seq = end.next_seq;
        Ok(())
    }

    /// The number of the record that comes next. It is smaller than before
    /// where the writer cut off a failed append that was read here already.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }
}
