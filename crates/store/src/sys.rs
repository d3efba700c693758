//! The one door to the disk: every write, sync, rename and open for writing
//! of this crate goes through here, under the name of its point.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::fault::{Deed, at};
use crate::{private, regular};

pub use crate::fault::write_all;

/// Opens no link: in a project anybody may have put one there (S-07).
pub fn open(options: &OpenOptions, path: &Path, point: &'static str) -> io::Result<File> {
    at(point, Deed::Open, || {
        let mut options = options.clone();
        regular::follows_and_waits_for_nobody(&mut options);
        let file = options.open(path)?;
        match is_pipe(&file.metadata()?) {
            true => Err(regular::not_regular()),
            false => Ok(file),
        }
    })
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_metadata: &Metadata) -> bool {
    false
}

pub fn set_len(file: &File, len: u64, point: &'static str) -> io::Result<()> {
    at(point, Deed::Truncate, || file.set_len(len))
}

pub fn sync_data(file: &File, point: &'static str) -> io::Result<()> {
    at(point, Deed::Sync, || file.sync_data())
}

/// Makes the names in a directory durable, where its file system can.
pub fn sync_dir(dir: &Path, point: &'static str) -> io::Result<()> {
    match at(point, Deed::Sync, || sync_names(dir)) {
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

#[cfg(not(windows))]
fn sync_names(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// A folder can't be opened there, and its file system keeps names itself.
#[cfg(windows)]
fn sync_names(_dir: &Path) -> io::Result<()> {
    Ok(())
}

pub fn rename(from: &Path, to: &Path, point: &'static str) -> io::Result<()> {
    at(point, Deed::Rename, || move_to(from, to))
}

#[cfg(not(windows))]
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Nobody can put a file in the place of one that somebody reads just then, be
/// it a virus scanner; they are done in a moment.
#[cfg(windows)]
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    const TRIES: u32 = 50;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
    for _ in 1..TRIES {
        match fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    fs::rename(from, to)
}

/// All of one file into another. The system copies, where it can.
pub fn copy(mut from: &File, mut to: &File, point: &'static str) -> io::Result<()> {
    at(point, Deed::Copy, || io::copy(&mut from, &mut to).map(drop))
}

pub fn remove_file(path: &Path, point: &'static str) -> io::Result<()> {
    at(point, Deed::Remove, || fs::remove_file(path))
}

/// Follows no link.
pub fn remove_dir_all(dir: &Path, point: &'static str) -> io::Result<()> {
    at(point, Deed::Remove, || fs::remove_dir_all(dir))
}

/// For the person alone: what agents and checks print may hold secrets (S-12).
pub fn create_dir(dir: &Path, point: &'static str) -> io::Result<()> {
    at(point, Deed::CreateDir, || private::create_dir(dir))
}

/// A second name for the same file.
pub fn hard_link(file: &Path, name: &Path, point: &'static str) -> io::Result<()> {
    at(point, Deed::Link, || fs::hard_link(file, name))
}

/// What makes a file the same file under whatever name.
#[cfg(unix)]
pub fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
pub fn identity(_metadata: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// The directory that holds `path`; a bare name stands in the current one.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}
