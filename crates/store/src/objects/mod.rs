//! Contents by their hashes, in the format of a bare Git repository with
//! SHA-256 names: what the snapshots of a project are kept in.
//!
//! It is nobody's repository but Ralph's: what a person's Git collects,
//! prunes or rewrites does not reach it, and nothing in it has a branch.
//! Everything is written as packs without deltas, so that one snapshot is one
//! file and one sync, and packs can be put together by copying.

mod id;
mod pack;
mod tree;

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use crate::atomic::{AtomicOptions, write_atomic};
use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::sys;

pub use id::{ObjectId, ObjectKind};
pub use pack::{Batch, Packed};
pub use tree::{Mode, TreeEntry, encode_tree, parse_tree};

use pack::Pack;

const HEAD: &[u8] = b"ref: refs/heads/none\n";
const CONFIG: &[u8] = b"[core]\n\trepositoryformatversion = 1\n\tbare = true\n\
[extensions]\n\tobjectformat = sha256\n[gc]\n\tauto = 0\n";
/// So many packs are put together into one.
const MOST_PACKS: usize = 48;
/// Larger ones stay as they are.
const SMALL_PACK: u64 = 16 * 1024 * 1024;

/// What is half written for so long is written by nobody.
const LEFT_OVER: std::time::Duration = std::time::Duration::from_secs(3600);

/// An object store that is open.
#[derive(Debug)]
pub struct Objects {
    dir: PathBuf,
    packs: Vec<Pack>,
}

/// Why an object can't be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectError {
    File(FileError),
    /// It was never there, or somebody deleted it.
    Missing {
        id: ObjectId,
    },
    /// What stands there is not what its name says.
    Damaged {
        id: ObjectId,
        path: PathBuf,
    },
}

impl From<FileError> for ObjectError {
    fn from(error: FileError) -> ObjectError {
        ObjectError::File(error)
    }
}

impl Say for ObjectError {
    fn say(&self, lang: Lang) -> String {
        match self {
            ObjectError::File(error) => error.say(lang),
            ObjectError::Missing { id } => tr!(
                lang,
                "object {id} is not in the snapshots; it was purged, or its file was deleted"
            ),
            ObjectError::Damaged { id, path } => {
                let path = path.display();
                tr!(
                    lang,
                    "{path} is damaged: object {id} is not what its name says; check the disk, and delete the snapshots with `ralph snapshots purge`"
                )
            }
        }
    }
}

impl Objects {
    /// Opens a store, which is made where there is none.
    pub fn create(dir: &Path) -> Result<Objects, FileError> {
        for below in ["", "objects", "objects/pack", "refs"] {
            let dir = dir.join(below);
            if !dir.is_dir() {
                sys::create_dir(&dir, point::OBJECTS_CREATE_DIR).at(&dir, Action::Create)?;
            }
        }
        // Git takes it for a repository by these.
        for (name, text) in [("HEAD", HEAD), ("config", CONFIG)] {
            let path = dir.join(name);
            if !crate::regular::read(&path).is_ok_and(|there| there == text) {
                write_atomic(&path, text, AtomicOptions { durable: false })?;
            }
        }
        Objects::open(dir)
    }

    /// Opens a store for reading; one that is not there is empty.
    pub fn open(dir: &Path) -> Result<Objects, FileError> {
        let mut objects = Objects {
            dir: dir.to_owned(),
            packs: Vec::new(),
        };
        objects.refresh()?;
        Ok(objects)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn pack_dir(&self) -> PathBuf {
        self.dir.join("objects").join("pack")
    }

    /// Reads again which packs there are. What a dead process left half
    /// written has no index and is no pack.
    pub fn refresh(&mut self) -> Result<(), FileError> {
        let dir = self.pack_dir();
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.packs.clear();
                return Ok(());
            }
            Err(error) => return Err(FileError::new(&dir, Action::Read, &error)),
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            let is_index = path.extension().is_some_and(|ext| ext == "idx")
                && entry.file_name().as_encoded_bytes().starts_with(b"pack-");
            if is_index {
                found.push(path.with_extension("pack"));
            }
        }
        found.sort();
        self.packs.retain(|pack| found.contains(&pack.path));
        for path in found {
            if !self.packs.iter().any(|pack| pack.path == path) {
                // A damaged index is like a pack that is not there.
                self.packs.extend(Pack::open(path));
            }
        }
        Ok(())
    }

    pub fn contains(&self, id: &ObjectId) -> bool {
        // The newest is the likeliest.
        self.packs.iter().rev().any(|pack| pack.find(id).is_some())
    }

    /// An object, after its hash was verified.
    pub fn read(&self, id: &ObjectId, kind: ObjectKind) -> Result<Vec<u8>, ObjectError> {
        let mut damaged = None;
        for pack in self.packs.iter().rev() {
            let Some(offset) = pack.find(id) else {
                continue;
            };
            match pack.read(offset) {
                Ok((found, bytes)) if found == kind && ObjectId::of(kind, &bytes) == *id => {
                    return Ok(bytes);
                }
                _ => damaged = Some(pack.path.clone()),
            }
        }
        // Somebody may have put packs together since they were looked at.
        let moved = damaged.as_ref().is_some_and(|path| !path.exists());
        if moved
            && let Ok(again) = Objects::open(&self.dir)
            && again.contains(id)
        {
            return again.read(id, kind);
        }
        let id = *id;
        Err(match damaged {
            Some(path) => ObjectError::Damaged { id, path },
            None => ObjectError::Missing { id },
        })
    }

    /// Writes what was collected; afterwards it is on the disk.
    pub fn write(&mut self, batch: &mut Batch) -> Result<(), FileError> {
        if batch.is_empty() {
            return Ok(());
        }
        let written = pack::write(&self.pack_dir(), batch)?;
        batch.clear();
        self.packs.retain(|pack| pack.path != written.path);
        self.packs.push(written);
        Ok(())
    }

    /// Puts the small packs together where there are many. Readers look again
    /// when a pack is gone.
    pub fn pack_together(&mut self) -> Result<(), FileError> {
        let small = |pack: &&Pack| pack.bytes <= SMALL_PACK;
        if self.packs.iter().filter(small).count() < MOST_PACKS {
            return Ok(());
        }
        let mut batch = Batch::default();
        let mut old = Vec::new();
        for pack in self.packs.iter().filter(small) {
            // What is damaged stays where it is, to be told when it is read.
            if pack.copy_to(&mut batch, &|_| true).is_ok() {
                old.push(pack.path.clone());
            }
        }
        self.write(&mut batch)?;
        let newest = self.packs.last().map(|pack| pack.path.clone());
        old.retain(|path| Some(path) != newest.as_ref());
        self.drop_packs(&old);
        Ok(())
    }

    /// Keeps only these objects. For whoever knows that nobody else writes.
    pub fn retain(&mut self, live: &HashSet<ObjectId>) -> Result<(), FileError> {
        let is_live = |id: &ObjectId| live.contains(id);
        let stale: Vec<PathBuf> = (self.packs.iter())
            .filter(|pack| !pack.ids().all(|id| is_live(&id)))
            .map(|pack| pack.path.clone())
            .collect();
        for path in stale {
            let mut batch = Batch::default();
            let pack = self.packs.iter().find(|pack| pack.path == path);
            // What is damaged stays where it is, to be told when it is read.
            if pack.is_none_or(|pack| pack.copy_to(&mut batch, &is_live).is_err()) {
                continue;
            }
            self.write(&mut batch)?;
            self.drop_packs(&[path]);
        }
        Ok(())
    }

    /// What they hold stands elsewhere, or is not wanted.
    fn drop_packs(&mut self, old: &[PathBuf]) {
        self.packs.retain(|pack| !old.contains(&pack.path));
        for path in old {
            // The index goes first: without it, a pack is not seen.
            let _ = fs::remove_file(path.with_extension("idx"));
            let _ = fs::remove_file(path);
        }
    }

    /// Removes what dead processes left half written.
    pub fn clear_leftovers(&self) {
        let entries = fs::read_dir(self.pack_dir()).into_iter().flatten();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            let age = entry.metadata().and_then(|found| found.modified());
            let age = age.ok().and_then(|modified| modified.elapsed().ok());
            // Another process may be at work here.
            if age.is_none_or(|age| age < LEFT_OVER) {
                continue;
            }
            let lone = name.ends_with(b".pack") && !entry.path().with_extension("idx").exists();
            if name.starts_with(b"tmp-") || (name.starts_with(b"pack-") && lone) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Bytes on disk.
    pub fn size(&self) -> u64 {
        self.packs.iter().map(|pack| pack.bytes).sum()
    }

    pub fn count(&self) -> usize {
        self.packs.iter().map(Pack::count).sum()
    }

    /// Takes the whole store away.
    pub fn purge(dir: &Path) -> Result<(), FileError> {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::new(dir, Action::Remove, &error))
            }
            _ => Ok(()),
        }
    }
}

/// What is free on the disk of `dir`, where the system tells.
#[cfg(unix)]
pub fn free_space(dir: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(dir).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
pub fn free_space(_dir: &Path) -> Option<u64> {
    None
}

fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    crate::regular::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
