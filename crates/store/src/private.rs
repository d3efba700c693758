//! What is for the person alone: files and folders that nobody else may read
//! (S-12), and folders for a moment that nobody can guess or have prepared
//! (S-06).

use std::collections::hash_map::RandomState;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A folder of mode 0700 with a name that can't be known before. It goes with
/// the value.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
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
            let path = parent.join(format!("ralph-{name}-{random:016x}"));
            // Fails where anything has the name, a dangling link included.
            match create_dir(&path) {
                Ok(()) => return Ok(PrivateDir { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
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
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

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
}
