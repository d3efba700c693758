//! What can be saved of a damaged journal: the sound records before the
//! damage. Nothing is thrown away, and nothing happens unasked.

use std::path::{Path, PathBuf};

use super::{JournalError, Tail, read};
use crate::atomic::{AtomicOptions, write_atomic};
use crate::error::{Action, At};

/// What [`keep_intact`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// Where the damaged journal stands now.
    pub copy: PathBuf,
    /// How many records are left.
    pub records: u64,
}

/// Copies a damaged journal aside and shortens it to the records before the
/// damage; `None` where it is sound. A journal without any sound record is
/// left as it is, with the error that says what is wrong with it.
///
/// Only the holder of the project's lock may call it.
pub fn keep_intact(path: &Path) -> Result<Option<Salvage>, JournalError> {
    let error = match read(path) {
        Ok(_) => return Ok(None),
        Err(error) => error,
    };
    let (line, offset) = match &error {
        JournalError::Corrupt { line, offset, .. } if *line > 1 => (*line, *offset),
        _ => return Err(error),
    };
    let bytes = crate::regular::read(path).at(path, Action::Read)?;
    let sound = usize::try_from(offset)
        .ok()
        .and_then(|end| bytes.get(..end));
    let Some(sound) = sound else {
        return Err(error);
    };
    let copy = free_name(path);
    write_atomic(&copy, &bytes, AtomicOptions { durable: true })?;
    write_atomic(path, sound, AtomicOptions { durable: true })?;
    let records = line - 1;
    debug_assert!(read(path).is_ok_and(|(_, tail)| tail == Tail::Clean));
    Ok(Some(Salvage { copy, records }))
}

/// `journal.damaged-1.jsonl`, or the next number that is free.
fn free_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let named = |n: u32| path.with_file_name(format!("{stem}.damaged-{n}.jsonl"));
    let mut n = 1;
    while named(n).exists() {
        n += 1;
    }
    named(n)
}
