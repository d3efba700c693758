//! The one door to the disk: every write, sync, rename and open for writing
//! of this crate goes through here, under the name of its point.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::fault::{Deed, at};
use crate::private;

pub use crate::fault::write_all;

pub fn open(options: &OpenOptions, path: &Path, point: &'static str) -> io::Result<File> {
    at(point, Deed::Open, || options.open(path))
}

pub fn set_len(file: &File, len: u64, point: &'static str) -> io::Result<()> {
    at(point, Deed::Truncate, || file.set_len(len))
}

pub fn sync_data(file: &File, point: &'static str) -> io::Result<()> {
    at(point, Deed::Sync, || file.sync_data())
}

/// Makes the names in a directory durable, where its file system can.
pub fn sync_dir(dir: &Path, point: &'static str) -> io::Result<()> {
    let sync = || File::open(dir)?.sync_all();
    match at(point, Deed::Sync, sync) {
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

pub fn rename(from: &Path, to: &Path, point: &'static str) -> io::Result<()> {
    at(point, Deed::Rename, || fs::rename(from, to))
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
