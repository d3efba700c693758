//! Directories by path, with the standard library alone.
//!
//! There is no change time here: an edit that keeps the size and puts the
//! modification time back is not seen before the next one.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::stamp::{Kind, Meta, Moment, Stamp};

#[derive(Debug)]
pub(super) struct DirHandle(PathBuf);

impl DirHandle {
    pub fn open_root(path: &Path) -> io::Result<DirHandle> {
        let found = fs::metadata(path)?;
        if found.is_dir() {
            Ok(DirHandle(path.to_path_buf()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens a directory below this one, unless it is a symbolic link.
    pub fn open_dir(&self, path: &Path) -> io::Result<DirHandle> {
        let path = self.0.join(path);
        if fs::symlink_metadata(&path)?.is_dir() {
            Ok(DirHandle(path))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp_of(&fs::metadata(&self.0)?))
    }

    pub fn lookup(&self, name: &OsStr) -> io::Result<Meta> {
        let found = fs::symlink_metadata(self.0.join(name))?;
        Ok(Meta {
            kind: kind_of(found.file_type()),
            stamp: stamp_of(&found),
        })
    }

    pub fn list(&self) -> io::Result<Vec<(Box<OsStr>, Kind)>> {
        fs::read_dir(&self.0)?
            .map(|entry| {
                let entry = entry?;
                Ok((
                    entry.file_name().into_boxed_os_str(),
                    kind_of(entry.file_type()?),
                ))
            })
            .collect()
    }

    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        ralph_store::regular::open(self.0.join(name))
    }

    pub fn read_link(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let target = fs::read_link(self.0.join(name))?;
        Ok(target.into_os_string().into_encoded_bytes())
    }
}

fn kind_of(kind: fs::FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else if kind.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Special
    }
}

fn stamp_of(found: &Metadata) -> Stamp {
    let modified = Moment::of(found.modified().unwrap_or(UNIX_EPOCH));
    Stamp {
        modified,
        changed: modified,
        size: found.len(),
        inode: 0,
    }
}
