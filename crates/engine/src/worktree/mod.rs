//! Progress by content: the fingerprint of a work tree.
//!
//! It covers every file that is work, untracked ones included: what Git
//! ignores, Git's and Ralph's own files and the caller's task file are left
//! out. Only paths, kinds and contents count, never times; a tree that was
//! there before has the fingerprint that it had before.
//!
//! The scan stands between two turns of an agent, so it starts no process,
//! and after the first one it reads only what may have changed.

mod contents;
mod excludes;
mod fingerprint;
mod ignores;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "portable.rs")]
mod platform;
mod scan;
mod stamp;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::gitignore::gitconfig_excludes_path;
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

pub use contents::{Found, Standing};
use excludes::Excludes;
use fingerprint::Digest;
pub use fingerprint::Fingerprint;
use ignores::OuterRules;
use platform::DirHandle;
use scan::{Changes, Dir, Walk};
use stamp::Horizon;

/// How many changed paths a scan names.
pub const MOST_CHANGES: usize = 50;

/// Files are read through a buffer of this size.
const BUFFER: usize = 64 * 1024;

/// A work tree, and what the scans before have learnt about it.
#[derive(Debug)]
pub struct WorkTree {
    root: PathBuf,
    excludes: Excludes,
    outer_rules: OuterRules,
    top: Dir,
    /// What counts although Git ignores it.
    also: Vec<(PathBuf, scan::File)>,
    scanned_before: bool,
    naming: bool,
    buffer: Box<[u8]>,
}

/// What a scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    pub fingerprint: Fingerprint,
    /// Files and symbolic links that the fingerprint covers.
    pub files: usize,
    /// What differs from the scan before: the first [`MOST_CHANGES`] of them,
    /// none in the first scan.
    pub changed: Vec<Change>,
    pub changed_total: usize,
    /// All of what a snapshot has to look at again, where contents are named:
    /// in the first scan everything.
    pub found: Vec<Found>,
}

/// A path that differs from the scan before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the root.
    pub path: PathBuf,
    pub kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Removed,
}

/// The root itself cannot be read; nothing below it makes a scan fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    pub root: PathBuf,
    pub kind: ErrorKind,
}

impl WorkTree {
    /// `excluded` are files or directories that are not counted, absolute or
    /// relative to `root`.
    pub fn new(root: &Path, excluded: Vec<PathBuf>) -> WorkTree {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        WorkTree {
            excludes: Excludes::new(&root, excluded),
            root,
            outer_rules: OuterRules::new(gitconfig_excludes_path()),
            top: Dir::default(),
            also: Vec::new(),
            scanned_before: false,
            naming: false,
            buffer: vec![0; BUFFER].into_boxed_slice(),
        }
    }

    /// These files, relative to the root, count although Git ignores them: a
    /// commit holds them. It has to be said before the first scan.
    pub fn count_also(&mut self, paths: Vec<PathBuf>) {
        let counts = |path: &PathBuf| {
            let mut parts = path.ancestors();
            !parts.any(|part| match (part.parent(), part.file_name()) {
                (Some(folder), Some(name)) => self.excludes.contains(folder, name),
                _ => false,
            })
        };
        let also = paths.into_iter().filter(counts);
        self.also = also.map(|path| (path, scan::File::default())).collect();
    }

    /// From now on contents get the names that they have in a snapshot. It has
    /// to be said before the first scan.
    pub fn name_contents(&mut self) {
        self.naming = true;
    }

    /// Everything that the last scan found, where contents are named.
    pub fn contents(&self) -> Vec<Found> {
        let mut all = Vec::new();
        self.top.contents(&mut PathBuf::new(), &mut all);
        let also = self.also.iter();
        all.extend(also.filter_map(|(path, file)| file.found_at(path)));
        all
    }

    pub fn scan(&mut self) -> Result<Scan, ScanError> {
        self.scan_at(SystemTime::now())
    }

    fn scan_at(&mut self, now: SystemTime) -> Result<Scan, ScanError> {
        let horizon = Horizon::at(now);
        let handle = DirHandle::open_root(&self.root).map_err(|error| ScanError {
            root: self.root.clone(),
            kind: error.kind(),
        })?;
        let outer_rules = self.outer_rules.refresh(&self.root, &handle, &horizon);
        let mut walk = Walk {
            root: &handle,
            root_path: &self.root,
            excludes: &self.excludes,
            horizon,
            buffer: &mut self.buffer,
            path: PathBuf::new(),
            sum: Digest::default(),
            files: 0,
            changes: Changes {
                comparing: self.scanned_before,
                ..Changes::default()
            },
            naming: self.naming,
        };
        walk.visit(&mut self.top, &outer_rules);
        for (path, file) in &mut self.also {
            walk.visit_file(&handle, path.as_os_str(), file);
        }
        self.scanned_before = true;
        Ok(Scan {
            fingerprint: walk.sum.fingerprint(),
            files: walk.files,
            changed: walk.changes.first,
            changed_total: walk.changes.total,
            found: walk.changes.found,
        })
    }
}

/// Those of these paths below `root` that may have changed since then. Nobody
/// can set the time that a system notes of a change; where it notes none, an
/// old date counts.
pub fn changed_since(root: &Path, paths: Vec<PathBuf>, then: SystemTime) -> Vec<PathBuf> {
    let Ok(handle) = DirHandle::open_root(root) else {
        return paths;
    };
    let horizon = Horizon::at(then);
    let may_have = |path: &PathBuf| match handle.lookup(path.as_os_str()) {
        Ok(meta) => !horizon.settled(&meta.stamp),
        Err(_) => false,
    };
    paths.into_iter().filter(may_have).collect()
}

impl Say for ScanError {
    fn say(&self, lang: Lang) -> String {
        let root = self.root.display();
        match self.kind {
            ErrorKind::NotFound => tr!(
                lang,
                "the project directory {root} does not exist; run ralph in an existing project"
            ),
            ErrorKind::NotADirectory => tr!(
                lang,
                "{root} is not a directory; name the directory of the project"
            ),
            ErrorKind::PermissionDenied => tr!(
                lang,
                "no permission to read the project directory {root}; check its owner and mode with `ls -ld`"
            ),
            kind => tr!(
                lang,
                "cannot read the project directory {root} ({kind}); check that its disk is mounted and try again"
            ),
        }
    }
}
