//! One file of many objects, and the index that finds them in it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use sha2::{Digest, Sha256};

use super::{ObjectId, ObjectKind, read_all};
use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, sys};

const HEADER: usize = 12;
const INDEX_MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const FANOUT: usize = 256;
/// Where the names begin in an index.
const NAMES: usize = 8 + FANOUT * 4;
const NAME: usize = 32;
/// Larger objects were never written.
const LARGEST: u64 = 1 << 30;

/// Objects that are ready to be written together.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    known: std::collections::HashSet<ObjectId>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: ObjectId,
    crc: u32,
    offset: u32,
}

/// An object as it stands in a pack. Making it is the expensive part, and can
/// be done beside others.
#[derive(Debug)]
pub struct Packed {
    pub id: ObjectId,
    bytes: Vec<u8>,
}

impl Packed {
    pub fn new(kind: ObjectKind, content: &[u8]) -> io::Result<Packed> {
        let mut bytes = entry_header(kind, content.len() as u64);
        let mut encoder = ZlibEncoder::new(bytes, Compression::fast());
        encoder.write_all(content)?;
        bytes = encoder.finish()?;
        let id = ObjectId::of(kind, content);
        Ok(Packed { id, bytes })
    }
}

impl Batch {
    pub fn contains(&self, id: &ObjectId) -> bool {
        self.known.contains(id)
    }

    pub fn add(&mut self, packed: &Packed) {
        self.add_raw(packed.id, &packed.bytes);
    }

    fn add_raw(&mut self, id: ObjectId, bytes: &[u8]) {
        if !self.known.insert(id) {
            return;
        }
        let mut crc = Crc::new();
        crc.update(bytes);
        self.entries.push(Entry {
            id,
            crc: crc.sum(),
            offset: u32::try_from(HEADER + self.bytes.len()).unwrap_or(u32::MAX),
        });
        self.bytes.extend_from_slice(bytes);
    }

    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Batch::default();
    }
}

/// A pack whose index is in memory.
#[derive(Debug)]
pub(super) struct Pack {
    pub path: PathBuf,
    pub bytes: u64,
    index: Vec<u8>,
    count: usize,
}

impl Pack {
    /// `None` where the index is not whole.
    pub fn open(path: PathBuf) -> Option<Pack> {
        let index = read_all(&path.with_extension("idx")).ok()?;
        let bytes = path.metadata().ok()?.len();
        Pack::new(path, bytes, index)
    }

    fn new(path: PathBuf, bytes: u64, index: Vec<u8>) -> Option<Pack> {
        if !index.starts_with(&INDEX_MAGIC) {
            return None;
        }
        let count = number(&index, NAMES - 4)? as usize;
        let whole = NAMES + count.checked_mul(NAME + 8)? + 2 * NAME;
        (index.len() == whole).then_some(Pack {
            path,
            bytes,
            index,
            count,
        })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    fn name(&self, place: usize) -> Option<&[u8]> {
        let start = NAMES + place * NAME;
        self.index.get(start..start + NAME)
    }

    pub fn find(&self, id: &ObjectId) -> Option<u32> {
        let first = usize::from(id.0[0]);
        let mut low = match first.checked_sub(1) {
            Some(before) => number(&self.index, 8 + before * 4)? as usize,
            None => 0,
        };
        let mut high = (number(&self.index, 8 + first * 4)? as usize).min(self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle)?.cmp(&id.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle),
            }
        }
        None
    }

    fn offset(&self, place: usize) -> Option<u32> {
        number(&self.index, NAMES + self.count * (NAME + 4) + place * 4)
    }

    /// The object at an offset; its hash is for the caller to verify.
    pub fn read(&self, offset: u32) -> io::Result<(ObjectKind, Vec<u8>)> {
        let mut file = crate::regular::open(&self.path)?;
        file.seek(SeekFrom::Start(offset.into()))?;
        let mut reader = BufReader::new(file);
        let (kind, size) = read_entry_header(&mut reader)?;
        let mut content = Vec::with_capacity(usize::try_from(size.min(1 << 20)).unwrap_or(0));
        ZlibDecoder::new(reader)
            .take(size + 1)
            .read_to_end(&mut content)?;
        match content.len() as u64 == size {
            true => Ok((kind, content)),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let names = (0..self.count).filter_map(|place| self.name(place));
        names.filter_map(|name| Some(ObjectId(name.try_into().ok()?)))
    }

    /// Copies the objects that are wanted as they stand.
    pub fn copy_to(&self, batch: &mut Batch, wanted: &dyn Fn(&ObjectId) -> bool) -> io::Result<()> {
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let bytes = read_all(&self.path)?;
        let body = bytes.len().checked_sub(NAME).ok_or_else(damaged)?;
        let mut places = (0..self.count)
            .map(|place| {
                let name = self.name(place)?.try_into().ok()?;
                Some((self.offset(place)? as usize, ObjectId(name)))
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(damaged)?;
        places.sort_unstable();
        let (content, trailer) = bytes.split_at_checked(body).ok_or_else(damaged)?;
        if Sha256::digest(content).as_slice() != trailer {
            return Err(damaged());
        }
        let ends = places.iter().skip(1).map(|(offset, _)| *offset);
        for ((start, id), end) in places.iter().zip(ends.chain([body])) {
            let bytes = content.get(*start..end).ok_or_else(damaged)?;
            if wanted(id) {
                batch.add_raw(*id, bytes);
            }
        }
        Ok(())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn entry_header(kind: ObjectKind, size: u64) -> Vec<u8> {
    let low = |bits: u32| u8::try_from(size & ((1 << bits) - 1)).unwrap_or(0);
    let mut header = vec![kind.code() << 4 | low(4)];
    let mut rest = size >> 4;
    while rest > 0 {
        if let Some(last) = header.last_mut() {
            *last |= 0x80;
        }
        header.push(u8::try_from(rest & 0x7f).unwrap_or(0));
        rest >>= 7;
    }
    header
}

fn read_entry_header(reader: &mut impl Read) -> io::Result<(ObjectKind, u64)> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let mut byte = [0; 1];
    reader.read_exact(&mut byte)?;
    let kind = ObjectKind::from_code(byte[0] >> 4 & 7).ok_or_else(damaged)?;
    let mut size = u64::from(byte[0] & 0xf);
    let mut shift = 4;
    while byte[0] & 0x80 != 0 {
        reader.read_exact(&mut byte)?;
        size |= u64::from(byte[0] & 0x7f) << shift;
        shift += 7;
        if shift > 40 {
            return Err(damaged());
        }
    }
    match size <= LARGEST {
        true => Ok((kind, size)),
        false => Err(damaged()),
    }
}

/// The pack first, then the index, each under its name only when it is whole.
pub(super) fn write(dir: &Path, batch: &Batch) -> Result<Pack, FileError> {
    let count = u32::try_from(batch.entries.len()).unwrap_or(u32::MAX);
    let header: Vec<u8> = [*b"PACK", 2_u32.to_be_bytes(), count.to_be_bytes()].concat();
    let mut hasher = Sha256::new();
    hasher.update(&header);
    hasher.update(&batch.bytes);
    let trailer: [u8; NAME] = hasher.finalize().into();
    let index = index_of(batch, &trailer);
    let name = ObjectId(trailer);
    let path = dir.join(format!("pack-{name}.pack"));
    put(dir, &path, &[&header, &batch.bytes, &trailer])?;
    put(dir, &path.with_extension("idx"), &[&index])?;
    sys::sync_dir(dir, point::OBJECTS_SYNC_DIR).at(dir, Action::Sync)?;
    let bytes = (header.len() + batch.bytes.len() + NAME) as u64;
    let damaged = io::Error::from(io::ErrorKind::InvalidData);
    Pack::new(path.clone(), bytes, index)
        .ok_or_else(|| FileError::new(&path, Action::Write, &damaged))
}

fn put(dir: &Path, path: &Path, parts: &[&[u8]]) -> Result<(), FileError> {
    let end = path.extension().unwrap_or_default().to_string_lossy();
    let temporary = dir.join(format!("tmp-{}.{end}", std::process::id()));
    let written = (|| {
        let mut options = private::options();
        options.write(true).create(true).truncate(true);
        let file: File = sys::open(&options, &temporary, point::OBJECTS_OPEN)?;
        for part in parts {
            sys::write_all(&file, part, point::OBJECTS_WRITE)?;
        }
        sys::sync_data(&file, point::OBJECTS_SYNC)?;
        sys::rename(&temporary, path, point::OBJECTS_RENAME)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written.at(path, Action::Write)
}

fn index_of(batch: &Batch, trailer: &[u8; NAME]) -> Vec<u8> {
    let mut entries = batch.entries.clone();
    entries.sort_unstable_by_key(|entry| entry.id);
    let mut index = INDEX_MAGIC.to_vec();
    let mut seen = 0_u32;
    let mut rest = entries.iter().peekable();
    for first in 0..=u8::MAX {
        while rest.next_if(|entry| entry.id.0[0] == first).is_some() {
            seen += 1;
        }
        index.extend_from_slice(&seen.to_be_bytes());
    }
    for entry in &entries {
        index.extend_from_slice(&entry.id.0);
    }
    for entry in &entries {
        index.extend_from_slice(&entry.crc.to_be_bytes());
    }
    for entry in &entries {
        index.extend_from_slice(&entry.offset.to_be_bytes());
    }
    index.extend_from_slice(trailer);
    let checksum = Sha256::digest(&index);
    index.extend_from_slice(&checksum);
    index
}
