//! Reads a journal from some point to its end and judges what stands there.

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::record::{Decoded, Flaw, decode, may_be_torn};
use super::{JournalError, Tail, Take};
use crate::error::{Action, At};
use crate::lines::{next_line, open_regular};

/// A place in a journal between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub offset: u64,
    pub line: u64,
    pub next_seq: u64,
}

impl Position {
    pub const START: Position = Position {
        offset: 0,
        line: 1,
        next_seq: 1,
    };
}

/// Reads from `from` to the end of the file and hands on each sound record;
/// `take` finds out whether its data is JSON.
/// Only the very last line may be bad, and only in the way that an
/// interrupted append leaves it.
pub(super) fn scan_each(
    path: &Path,
    from: Position,
    take: Take<'_>,
) -> Result<(Position, Tail), JournalError> {
    let mut file = open_regular(path).at(path, Action::Open)?;
    file.seek(SeekFrom::Start(from.offset))
        .at(path, Action::Read)?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut buffer = Vec::new();
    let mut end = from;
    let mut tail = Tail::Clean;
    while let Some(line) = next_line(&mut reader, &mut buffer).at(path, Action::Read)? {
        let decoded = if line.too_long {
            Decoded::Flawed(Flaw::TooLong)
        } else {
            decode(line.bytes, end.next_seq)
        };
        let flaw = match decoded {
            Decoded::Newer { version } => {
                return Err(JournalError::Newer {
                    path: path.to_owned(),
                    line: end.line,
                    version,
                });
            }
            Decoded::Record(data) if line.whole => match take(end.next_seq, data) {
                Ok(()) => {
                    end = Position {
                        offset: end.offset + line.len,
                        line: end.line + 1,
                        next_seq: end.next_seq + 1,
                    };
                    continue;
                }
                Err(_) => Flaw::NotJson,
            },
            // The newline is part of the record: without it the append was
            // never acknowledged.
            Decoded::Record(_) => {
                tail = Tail::Torn { bytes: line.len };
                break;
            }
            Decoded::Flawed(flaw) => flaw,
        };
        let is_last = reader.fill_buf().at(path, Action::Read)?.is_empty();
        let sound_but_misplaced = matches!(flaw, Flaw::WrongNumber { .. } | Flaw::NotJson);
        if is_last && !sound_but_misplaced && may_be_torn(&line, end.next_seq) {
            tail = Tail::Torn { bytes: line.len };
            break;
        }
        return Err(JournalError::Corrupt {
            path: path.to_owned(),
            line: end.line,
            offset: end.offset,
            reason: flaw,
        });
    }
    Ok((end, tail))
}
