//! Directories by descriptor: one system call per file in the warm scan, and
//! no path that is resolved twice.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

use super::stamp::{Kind, Meta, Moment, Stamp};

#[derive(Debug)]
pub(super) struct DirHandle(OwnedFd);

impl DirHandle {
    pub fn open_root(path: &Path) -> io::Result<DirHandle> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Ok(DirHandle(fd))
    }

    /// Opens a directory below this one, unless it is a symbolic link.
    pub fn open_dir(&self, path: &Path) -> io::Result<DirHandle> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.0, path, flags, Mode::empty())?;
        Ok(DirHandle(fd))
    }

    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp_of(&rustix::fs::fstat(&self.0)?))
    }

    pub fn lookup(&self, name: &OsStr) -> io::Result<Meta> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Meta {
            kind: kind_of(&stat),
            stamp: stamp_of(&stat),
        })
    }

    /// The names in this directory; a regular file is a [`Kind::File`] here
    /// whether it is executable or not.
    pub fn list(&self) -> io::Result<Vec<(Box<OsStr>, Kind)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Symlink,
                // Some file systems leave the type out of their listings.
                FileType::Unknown => match self.lookup(name) {
                    Ok(meta) => meta.kind,
                    Err(_) => continue,
                },
                _ => Kind::Special,
            };
            names.push((name.into(), kind));
        }
        Ok(names)
    }

    /// Opens a regular file for reading. Neither follows a link nor waits for
    /// the other end of a pipe, should one have taken the file's place.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        let file = File::from(fd);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    pub fn read_link(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(target.into_bytes())
    }
}

fn kind_of(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        // As Git does, by the owner's bit.
        FileType::RegularFile if stat.st_mode & 0o100 != 0 => Kind::Executable,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Symlink,
        FileType::Directory => Kind::Directory,
        _ => Kind::Special,
    }
}

fn stamp_of(stat: &Stat) -> Stamp {
    Stamp {
        modified: moment(stat.st_mtime, stat.st_mtime_nsec),
        changed: moment(stat.st_ctime, stat.st_ctime_nsec),
        size: stat.st_size.try_into().unwrap_or(0),
        inode: stat.st_ino,
    }
}

/// The fields' integer types differ from one Unix to the next.
fn moment(secs: impl TryInto<i64>, nanos: impl TryInto<u32>) -> Moment {
    Moment {
        secs: secs.try_into().unwrap_or(i64::MAX),
        nanos: nanos.try_into().unwrap_or(0),
    }
}
