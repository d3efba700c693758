//! Reads a growing file of lines: each call gives the whole lines that are
//! new, a line still being written waits for the next call.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::sys;

/// No line of ours comes near this; a longer one is somebody else's garbage
/// and is passed over without being held in memory.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// One line without its newline.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub bytes: &'a [u8],
    /// The length in the file, including the newline.
    pub len: u64,
    /// Whether a newline ends it.
    pub whole: bool,
    /// Whether it is longer than [`MAX_LINE`]; `bytes` is then only its start.
    pub too_long: bool,
}

/// Reads the next line into `buffer`; `None` at the end of the file.
pub fn next_line<'a>(
    reader: &mut impl BufRead,
    buffer: &'a mut Vec<u8>,
) -> io::Result<Option<Line<'a>>> {
    buffer.clear();
    let limit = MAX_LINE as u64 + 1;
    let mut len = reader.by_ref().take(limit).read_until(b'\n', buffer)? as u64;
    if len == 0 {
        return Ok(None);
    }
    let mut whole = buffer.last() == Some(&b'\n');
    let too_long = !whole && len == limit;
    if too_long {
        (len, whole) = pass_over_line(reader, len)?;
    }
    let bytes = buffer.strip_suffix(b"\n").unwrap_or(buffer);
    Ok(Some(Line {
        bytes,
        len,
        whole,
        too_long,
    }))
}

fn pass_over_line(reader: &mut impl BufRead, mut len: u64) -> io::Result<(u64, bool)> {
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok((len, false));
        }
        let newline = chunk.iter().position(|&byte| byte == b'\n');
        let used = newline.map_or(chunk.len(), |at| at + 1);
        reader.consume(used);
        len += used as u64;
        if newline.is_some() {
            return Ok((len, true));
        }
    }
}

/// Opens a regular file for reading. A device or a pipe would be read for
/// ever.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = crate::regular::open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))
    }
}

/// The position of a reader in a file that others append to.
#[derive(Clone, Debug)]
pub struct LineTail {
    path: PathBuf,
    offset: u64,
    identity: Option<(u64, u64)>,
}

impl LineTail {
    pub fn new(path: &Path) -> LineTail {
        LineTail {
            path: path.to_owned(),
            offset: 0,
            identity: None,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hands each new whole line to `take`. A file that does not exist yet
    /// has no lines; one that was replaced or cut is read from its start.
    pub fn poll(&mut self, mut take: impl FnMut(&Line<'_>)) -> io::Result<()> {
        let mut file = match open_regular(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let identity = Some(sys::identity(&metadata));
        if self.identity != identity || metadata.len() < self.offset {
            self.identity = identity;
            self.offset = 0;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        let mut buffer = Vec::new();
        while let Some(line) = next_line(&mut reader, &mut buffer)? {
            if !line.whole {
                break;
            }
            self.offset += line.len;
            take(&line);
        }
        Ok(())
    }
}
