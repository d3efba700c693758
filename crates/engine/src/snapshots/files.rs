//! Puts what a snapshot holds onto the disk, one path at a time: nothing else
//! is touched, and no link is followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use ralph_store::{Action, FileError};

use super::blobs::{Content, content};
use super::entry::{Entry, Mode, TreeId, Why};
use super::{SnapshotError, Snapshots};

/// What stands at a path on the disk; `None` for nothing, or a folder.
pub(super) fn on_disk(root: &Path, path: &Path, largest: u64) -> Option<Entry> {
    match content(&root.join(path), largest) {
        Content::Gone => None,
        Content::LeftOut(why) => Some(Entry::left_out(why, None)),
        Content::Kept(packed, mode) => Some(Entry {
            id: packed.id,
            mode,
        }),
    }
}

impl Snapshots {
    /// Makes a path what an entry says; `None` takes it away.
    pub(super) fn put_back(
        &self,
        root: &Path,
        path: &Path,
        entry: Option<&Entry>,
    ) -> Result<(), SnapshotError> {
        let at = root.join(path);
        let failed = |error: &io::Error| FileError::new(&at, Action::Write, error);
        let Some(entry) = entry else {
            return Ok(take_away(root, path).map_err(|error| failed(&error))?);
        };
        if !entry.is_kept() {
            return Ok(());
        }
        let bytes = self.read(entry)?;
        write(root, path, entry.mode, &bytes).map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Everything of a snapshot into a folder that is not there yet, or is
    /// empty. Says what was not kept.
    pub fn restore(
        &self,
        tree: &TreeId,
        to: &Path,
    ) -> Result<(usize, Vec<(PathBuf, Why)>), SnapshotError> {
        let failed = |error: &io::Error| FileError::new(to, Action::Create, error);
        fs::create_dir_all(to).map_err(|error| failed(&error))?;
        let mut there = fs::read_dir(to).map_err(|error| failed(&error))?;
        if there.next().is_some() {
            return Err(failed(&ErrorKind::AlreadyExists.into()).into());
        }
        let (mut count, mut left_out) = (0, Vec::new());
        for (path, entry) in self.files(tree)? {
            match entry.mode {
                Mode::LeftOut(why) => left_out.push((path, why)),
                _ => {
                    self.put_back(to, &path, Some(&entry))?;
                    count += 1;
                }
            }
        }
        Ok((count, left_out))
    }
}

fn take_away(root: &Path, path: &Path) -> io::Result<()> {
    if !parents_are_folders(root, path) {
        return Ok(());
    }
    match fs::remove_file(root.join(path)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Git knows no empty folder; one that holds anything stays.
    for folder in path.ancestors().skip(1) {
        let empty = !folder.as_os_str().is_empty() && fs::remove_dir(root.join(folder)).is_ok();
        if !empty {
            break;
        }
    }
    Ok(())
}

fn parents_are_folders(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1);
    let mut folders = folders.filter(|folder| !folder.as_os_str().is_empty());
    folders.all(|folder| fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir()))
}

/// Makes the folders above a path; a link or a file in their place is somebody
/// else's.
fn make_folders(root: &Path, path: &Path) -> io::Result<()> {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.retain(|folder| !folder.as_os_str().is_empty());
    for folder in folders.into_iter().rev() {
        let folder = root.join(folder);
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whole or not at all: beside it first, then in its place.
fn write(root: &Path, path: &Path, mode: Mode, bytes: &[u8]) -> io::Result<()> {
    make_folders(root, path)?;
    let at = root.join(path);
    let folder = at.parent().unwrap_or(root);
    let beside = folder.join(format!(".ralph-undo.{}", std::process::id()));
    let there = fs::symlink_metadata(&at).ok();
    if there.as_ref().is_some_and(fs::Metadata::is_dir) {
        remove_empty(&at)?;
    }
    let written = match mode {
        Mode::Link => link(bytes, &beside),
        _ => file(bytes, &beside, mode, there.as_ref()),
    };
    let placed = written.and_then(|()| fs::rename(&beside, &at));
    if placed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    placed
}

/// Folders that hold nothing but folders are nobody's work.
fn remove_empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        remove_empty(&entry.path())?;
    }
    fs::remove_dir(folder)
}

fn file(bytes: &[u8], at: &Path, mode: Mode, there: Option<&fs::Metadata>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = match options.open(at) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // A process of the same number died here.
            fs::remove_file(at)?;
            options.open(at)?
        }
        file => file?,
    };
    file.write_all(bytes)?;
    set_bits(&file, mode, there)?;
    file.sync_data()
}

/// The bits that a file has already stay, but for the one that a snapshot
/// knows.
#[cfg(unix)]
fn set_bits(file: &File, mode: Mode, there: Option<&fs::Metadata>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let own = file.metadata()?.permissions().mode();
    let there = there.filter(|found| found.is_file());
    let bits = there.map_or(own, |found| found.permissions().mode()) & 0o777;
    let bits = match mode {
        // Whoever may read it may run it.
        Mode::Executable if bits & 0o100 == 0 => bits | (bits & 0o444) >> 2,
        Mode::Executable => bits,
        _ if bits & 0o100 != 0 => bits & !0o111,
        _ => bits,
    };
    file.set_permissions(fs::Permissions::from_mode(bits))
}

#[cfg(not(unix))]
fn set_bits(_file: &File, _mode: Mode, _there: Option<&fs::Metadata>) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(target: &[u8], at: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let _ = fs::remove_file(at);
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), at)
}

#[cfg(not(unix))]
fn link(_target: &[u8], _at: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
