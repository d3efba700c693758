//! What is for the person alone: files and folders that nobody else may read
//! (S-12), and folders for a moment that nobody can guess or have prepared
//! (S-06).

use std::collections::hash_map::RandomState;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A folder of mode 0700 with a name that can't be known before. It goes with
/// the value.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
    /// Locked while its process lives, so that nobody takes it for a leftover.
    _held: Option<File>,
}

impl PrivateDir {
    /// Below the system's folder for temporary files.
    pub fn new(name: &str) -> io::Result<PrivateDir> {
        Self::below(&std::env::temp_dir(), name)
    }

    pub fn below(parent: &Path, name: &str) -> io::Result<PrivateDir> {
        let parent = std::path::absolute(parent)?;
        loop {
            // Seeded by the system's randomness.
            let random = RandomState::new().build_hasher().finish();
            let path = parent.join(format!("{}{random:016x}", prefix(name)));
            // Fails where anything has the name, a dangling link included.
            match create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let held = match File::open(&path) {
                Ok(held) => held,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => return Ok(PrivateDir { path, _held: None }),
            };
            // Whoever clears up may have come between. Who can't lock it can't
            // clear it either.
            match held.try_lock() {
                Err(TryLockError::WouldBlock) => {}
                Ok(()) if !path.is_dir() => {}
                Ok(()) | Err(TryLockError::Error(_)) => {
                    let _held = Some(held);
                    return Ok(PrivateDir { path, _held });
                }
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder stays.
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            remove(&self.path);
        }
    }
}

fn prefix(name: &str) -> String {
    format!("ralph-{name}-")
}

/// Removes what dead processes left of such folders; others may have theirs
/// there too.
pub fn clear(parent: &Path, name: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let is_one = found
            .as_encoded_bytes()
            .starts_with(prefix(name).as_bytes());
        if !is_one || !is_ours(&entry.path()) {
            continue;
        }
        let Ok(held) = File::open(entry.path()) else {
            continue;
        };
        if held.try_lock().is_ok() {
            remove(&entry.path());
        }
    }
}

/// A folder, no link, that belongs to the person.
fn is_ours(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    found.is_dir()
}

/// The kernel's own folders of overlays are closed even to their owner, and a
/// check may have closed others.
pub fn remove(dir: &Path) {
    if fs::remove_dir_all(dir).is_err() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            open_all(&entry.path());
        }
        let _ = fs::remove_dir_all(dir);
    }
}

fn open_all(dir: &Path) {
    if !fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()) {
        return;
    }
    open_for_owner(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        open_all(&entry.path());
    }
}

#[cfg(unix)]
fn open_for_owner(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn open_for_owner(_dir: &Path) {}

/// How a file is opened that only its owner may read, where it is new.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    crate::regular::follows_and_waits_for_nobody(&mut options);
    options
}

/// An empty file that only its owner may read, where it is new.
pub fn create_file(path: &Path) -> io::Result<fs::File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Whether only its owner may enter a folder.
#[cfg(unix)]
pub(crate) fn is_closed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::symlink_metadata(path);
    found.is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub(crate) fn is_closed(_path: &Path) -> bool {
    true
}

/// A folder that only its owner may enter.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    #[cfg(not(unix))]
    return fs::create_dir(path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().mode(0o700).create(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_folder_is_ones_own_and_goes_unless_kept() {
        let parent = tempfile::tempdir().unwrap();
        let one = PrivateDir::below(parent.path(), "x").unwrap();
        let two = PrivateDir::below(parent.path(), "x").unwrap();
        assert_ne!(one.path(), two.path());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(one.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        fs::write(one.path().join("file"), "").unwrap();
        let gone = one.path().to_path_buf();
        drop(one);
        assert!(!gone.exists());
        assert!(two.keep().exists());
    }

    #[test]
    fn what_the_dead_left_goes_and_what_the_living_hold_stays() {
        let parent = tempfile::tempdir().unwrap();
        let living = PrivateDir::below(parent.path(), "x").unwrap();
        let left = PrivateDir::below(parent.path(), "x").unwrap().keep();
        let other = PrivateDir::below(parent.path(), "y").unwrap().keep();
        fs::create_dir(left.join("closed")).unwrap();
        clear(parent.path(), "x");
        assert!(living.path().is_dir() && other.is_dir());
        assert!(!left.exists());
    }
}
