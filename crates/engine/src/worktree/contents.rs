//! The names that contents have in a snapshot, found out while a scan reads
//! them anyway.

use std::io::{self, Read};
use std::path::PathBuf;

use ralph_store::objects::{ObjectId, ObjectKind};
use sha2::{Digest as _, Sha256};

/// A path of the work, and what stands there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Relative to the root.
    pub path: PathBuf,
    /// `None` where nothing is there any more.
    pub now: Option<Standing>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    File {
        executable: bool,
        /// `None` where the file changed while it was read.
        id: Option<ObjectId>,
        size: u64,
    },
    Link {
        id: ObjectId,
    },
    /// A pipe, a socket or a device.
    Special,
    Unreadable,
}

impl Standing {
    pub(super) fn of_link(target: &[u8]) -> Standing {
        let id = ObjectId::of(ObjectKind::Blob, target);
        Standing::Link { id }
    }
}

/// Names what is read through it.
#[derive(Debug)]
pub(super) struct Naming<R> {
    inner: R,
    hasher: Option<Sha256>,
    wanted: u64,
    read: u64,
}

impl<R> Naming<R> {
    /// Without a size, nothing is named.
    pub fn new(inner: R, size: Option<u64>) -> Naming<R> {
        Naming {
            inner,
            hasher: size.map(|size| ObjectId::hasher(ObjectKind::Blob, size)),
            wanted: size.unwrap_or(0),
            read: 0,
        }
    }

    pub fn standing(self, executable: bool) -> Standing {
        let whole = self.read == self.wanted;
        Standing::File {
            executable,
            id: self.hasher.filter(|_| whole).map(ObjectId::finish),
            size: self.read,
        }
    }
}

impl<R: Read> Read for Naming<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        if let (Some(hasher), Some(bytes)) = (&mut self.hasher, buffer.get(..read)) {
            hasher.update(bytes);
        }
        Ok(read)
    }
}
