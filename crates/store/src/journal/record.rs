//! One record of the journal as a line of text.
//!
//! `{"v":1,"seq":N,"crc":"xxxxxxxx","data":…}`, in exactly this form. `crc` is
//! the CRC-32, in lower-case hexadecimal, of the line as it would stand
//! without the `crc` member and without the newline: version, number and
//! data are covered to the byte.

use ralph_core::lang::Say;
use serde_json::Value;

use super::crc::crc32;
use crate::lines::{Line, MAX_LINE};

/// The version that is written; a greater one is refused on reading.
pub const VERSION: u64 = 1;

/// serde_json refuses to read what is nested deeper than 128 levels, so
/// nothing may be written that comes near.
const MAX_DEPTH: usize = 100;

/// One entry of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Counts from 1 without gaps.
    pub seq: u64,
    pub data: Value,
}

/// Why a line is not the record that was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Flaw {
    #[say("not a record")]
    NotARecord,
    #[say("line too long")]
    TooLong,
    #[say("checksum mismatch")]
    BadChecksum,
    #[say("not JSON")]
    NotJson,
    #[say("record {found} where {expected} belongs")]
    WrongNumber { expected: u64, found: u64 },
}

/// What a line turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decoded<'a> {
    /// The data of a sound record, not yet understood.
    Record(&'a [u8]),
    Newer {
        version: u64,
    },
    Flawed(Flaw),
}

/// Why a value cannot become a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Unstorable {
    #[say("nested too deeply")]
    TooDeep,
    #[say("too long")]
    TooLong,
}

/// Appends the line of a record, with its newline, to `buffer`.
pub(super) fn encode(buffer: &mut Vec<u8>, seq: u64, data: &Value) -> Result<(), Unstorable> {
    if depth_exceeds(data, MAX_DEPTH) {
        return Err(Unstorable::TooDeep);
    }
    let start = buffer.len();
    buffer.extend_from_slice(head(seq).as_bytes());
    let head_end = buffer.len();
    buffer.extend_from_slice(b"\"crc\":\"00000000\",");
    let body_start = buffer.len();
    buffer.extend_from_slice(b"\"data\":");
    // Neither a vector nor a plain JSON value can fail to be written.
    let _ = serde_json::to_writer(&mut *buffer, data);
    buffer.push(b'}');
    if buffer.len() - start > MAX_LINE {
        buffer.truncate(start);
        return Err(Unstorable::TooLong);
    }
    let crc = crc32(&[&buffer[start..head_end], &buffer[body_start..]]);
    let digits = head_end + b"\"crc\":\"".len();
    buffer[digits..digits + 8].copy_from_slice(format!("{crc:08x}").as_bytes());
    buffer.push(b'\n');
    Ok(())
}

fn head(seq: u64) -> String {
    format!("{{\"v\":{VERSION},\"seq\":{seq},")
}

fn depth_exceeds(value: &Value, limit: usize) -> bool {
    let deeper = |child: &Value| limit == 0 || depth_exceeds(child, limit - 1);
    match value {
        Value::Array(items) => items.iter().any(deeper),
        Value::Object(members) => members.values().any(deeper),
        _ => false,
    }
}

/// The members of a line that has the form of a record.
struct Envelope<'a> {
    version: u64,
    seq: u64,
    head: &'a [u8],
    crc: &'a [u8],
    body: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn parse(line: &'a [u8]) -> Option<Envelope<'a>> {
        let (version, rest) = number(line.strip_prefix(b"{\"v\":")?)?;
        let (seq, rest) = number(rest.strip_prefix(b",\"seq\":")?)?;
        let rest = rest.strip_prefix(b",")?;
        let head = line.get(..line.len() - rest.len())?;
        let (crc, rest) = rest.strip_prefix(b"\"crc\":\"")?.split_at_checked(8)?;
        let body = rest.strip_prefix(b"\",")?;
        Some(Envelope {
            version,
            seq,
            head,
            crc,
            body,
        })
    }

    fn is_sound(&self) -> bool {
        let crc = crc32(&[self.head, self.body]);
        format!("{crc:08x}").as_bytes() == self.crc
    }

    fn data(&self) -> Option<&'a [u8]> {
        self.body.strip_prefix(b"\"data\":")?.strip_suffix(b"}")
    }
}

/// The number at the start of `bytes`, and what follows it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (number, rest) = bytes.split_at_checked(digits)?;
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((number, rest))
}

/// Reads a line where record number `expected` should stand.
pub(super) fn decode(line: &[u8], expected: u64) -> Decoded<'_> {
    let Some(envelope) = Envelope::parse(line) else {
        return match newer_version(line) {
            Some(version) => Decoded::Newer { version },
            None => Decoded::Flawed(Flaw::NotARecord),
        };
    };
    // The checksum comes first: a flipped digit of the version is damage, not
    // a newer format.
    if !envelope.is_sound() {
        return Decoded::Flawed(Flaw::BadChecksum);
    }
    if envelope.version > VERSION {
        return Decoded::Newer {
            version: envelope.version,
        };
    }
    if envelope.version != VERSION {
        return Decoded::Flawed(Flaw::NotARecord);
    }
    if envelope.seq != expected {
        return Decoded::Flawed(Flaw::WrongNumber {
            expected,
            found: envelope.seq,
        });
    }
    match envelope.data() {
        Some(data) => Decoded::Record(data),
        None => Decoded::Flawed(Flaw::NotJson),
    }
}

/// A later format may change everything but its first member.
fn newer_version(line: &[u8]) -> Option<u64> {
    let (version, rest) = number(line.strip_prefix(b"{\"v\":")?)?;
    (version > VERSION && rest.starts_with(b",")).then_some(version)
}

/// Whether a bad last line can be what an interrupted append of record `seq`
/// left: it begins as that record does (or the disk kept only zeros of it),
/// and no record of a later append stands inside it.
pub(super) fn may_be_torn(line: &Line<'_>, seq: u64) -> bool {
    let head = head(seq);
    // Only a line without its newline may be shorter than the head.
    let needed = if line.whole {
        head.len()
    } else {
        line.bytes.len().min(head.len())
    };
    let begins_well = line.bytes.get(..needed) == head.as_bytes().get(..needed);
    let zeros = !line.bytes.is_empty() && line.bytes.iter().all(|&byte| byte == 0);
    let next = head_of_next(seq);
    let swallows_next = line
        .bytes
        .windows(next.len())
        .any(|window| window == next.as_bytes());
    (begins_well || zeros) && !swallows_next
}

fn head_of_next(seq: u64) -> String {
    format!("{}\"crc\":\"", head(seq.saturating_add(1)))
}
