//! A snapshot of the work before the run and after every turn: every byte of
//! what is tracked or untracked and not ignored, and nothing of it in the
//! person's repository.
//!
//! Contents are kept raw, without Git's filters, in a store of their own in
//! the state folder (`ralph_store::objects`). What is not kept (too large, a
//! secret, a nested repository) stands in the tree by its name and the
//! reason, so that it is never taken for a file that was deleted. Which turn
//! has which tree is told by the journal, in `Observation::snapshot`.

mod blobs;
mod branch;
mod compare;
mod entry;
mod files;
mod keeper;
pub mod live;
mod node;
mod sweep;
mod taking;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod undo;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git;
use ralph_core::config::SnapshotSettings;
use ralph_core::lang::Say;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::Layout;
use ralph_store::objects::{Batch, ObjectError, ObjectId, ObjectKind, Objects, free_space};

pub use compare::Changed;
pub(crate) use entry::git_name_to_path;
pub use entry::{Entry, Mode, TreeId, Why};
pub use keeper::Keeper;
use node::Node;
pub use sweep::sweep;

/// The store's folder in the state of a project.
const DIR: &str = "snapshots";
/// In it: what is tracked although it is ignored.
const TRACKED: &str = "tracked";

/// The snapshots of one project.
#[derive(Debug)]
pub struct Snapshots {
    root: PathBuf,
    objects: Objects,
    caps: Caps,
    /// What is work although a scan leaves it out: the task file, and what is
    /// tracked although it is ignored.
    extras: Vec<PathBuf>,
    /// The work as it was taken last; `None` where that has to be begun anew.
    top: Option<Node>,
    batch: Batch,
    left_out: BTreeMap<PathBuf, Why>,
    /// Names that look like secrets, and are in the repository anyway.
    tracked_secrets: BTreeSet<PathBuf>,
}

/// What a store may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    pub file: u64,
    pub total: u64,
    pub files: usize,
    /// So much stays free on the disk.
    pub free: u64,
}

impl Caps {
    pub fn of(settings: &SnapshotSettings) -> Caps {
        Caps {
            file: settings.max_file,
            total: settings.max_size,
            files: settings.max_files as usize,
            free: settings.min_free,
        }
    }
}

/// A snapshot that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub tree: TreeId,
    /// What is not in it, and was not told by the snapshots before.
    pub left_out: Vec<(PathBuf, Why)>,
}

/// Why there is no snapshot, or why it can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum SnapshotError {
    #[say(_0.say(lang))]
    File(FileError),
    #[say(_0.say(lang))]
    Object(ObjectError),
    /// Nobody wants a copy of everything that they have.
    #[say("no snapshots are taken of {root}: it holds the person's home or the state of Ralph; work in a project's own directory", root = root.display())]
    Refused { root: PathBuf },
    #[say(
        "no more snapshots: they take {size}, and snapshots.max_size allows no more; `ralph snapshots purge` deletes them",
        size = crate::announcement::megabytes(*size)
    )]
    StoreFull { size: u64 },
    #[say(
        "no snapshot: only {free} are free on the disk of {dir}, and snapshots.min_free wants more",
        free = crate::announcement::megabytes(*free),
        dir = dir.display()
    )]
    DiskFull { free: u64, dir: PathBuf },
    #[say("no snapshot: {count} files are more than snapshots.max_files allows")]
    TooMany { count: usize },
    #[say("{text} is no snapshot")]
    NoTree { text: String },
}

impl From<FileError> for SnapshotError {
    fn from(error: FileError) -> SnapshotError {
        SnapshotError::File(error)
    }
}

impl From<ObjectError> for SnapshotError {
    fn from(error: ObjectError) -> SnapshotError {
        match error {
            ObjectError::File(error) => SnapshotError::File(error),
            error => SnapshotError::Object(error),
        }
    }
}

/// Where the snapshots of a project are kept, in the format of a bare Git
/// repository.
pub fn dir(layout: &Layout) -> PathBuf {
    layout.state_dir().join(DIR)
}

impl Snapshots {
    /// For whoever makes them: the store is made where there is none.
    ///
    /// Git is asked what is tracked although it is ignored; a process of a run
    /// that has asked before (`again`) takes that answer.
    pub fn create(layout: &Layout, caps: Caps, again: bool) -> Result<Snapshots, SnapshotError> {
        if holds_too_much(layout) {
            let root = layout.root().to_owned();
            return Err(SnapshotError::Refused { root });
        }
        let objects = Objects::create(&dir(layout))?;
        objects.clear_leftovers();
        let mut snapshots = Snapshots::with(layout.root(), objects, caps);
        let own = |path: &PathBuf| path.starts_with(".ralph") || path.starts_with(".skillpack");
        let tracked = tracked_and_ignored(layout, again)?;
        let names = tracked.split(|&byte| byte == 0);
        let names = names.filter(|name| !name.is_empty());
        let tracked = names.filter_map(git_name_to_path);
        snapshots.extras = tracked.filter(|path| !own(path)).collect();
        Ok(snapshots)
    }

    /// For whoever reads them; a store that is not there is empty.
    pub fn open(layout: &Layout) -> Result<Snapshots, SnapshotError> {
        let objects = Objects::open(&dir(layout))?;
        let none = Caps {
            file: 0,
            total: 0,
            files: 0,
            free: 0,
        };
        Ok(Snapshots::with(layout.root(), objects, none))
    }

    fn with(root: &Path, objects: Objects, caps: Caps) -> Snapshots {
        Snapshots {
            root: root.to_owned(),
            objects,
            caps,
            extras: Vec::new(),
            top: None,
            batch: Batch::default(),
            left_out: BTreeMap::new(),
            tracked_secrets: BTreeSet::new(),
        }
    }

    /// Also takes this file, absolute or relative to the root, which the scan
    /// leaves out.
    pub fn also(&mut self, path: &Path) {
        let inside = |path: &Path| {
            let root = self.root.canonicalize().ok()?;
            let inside = path
                .strip_prefix(&self.root)
                .or_else(|_| path.strip_prefix(root));
            inside.ok().map(Path::to_owned)
        };
        let path = self.root.join(path);
        let found = inside(&path).or_else(|| inside(&path.canonicalize().ok()?));
        let is_new = |path: &PathBuf| !self.extras.contains(path);
        self.extras.extend(found.filter(is_new));
    }

    /// Looks again at what others have written.
    pub fn refresh(&mut self) -> Result<(), SnapshotError> {
        Ok(self.objects.refresh()?)
    }

    /// Bytes on disk, and objects.
    pub fn size(&self) -> (u64, usize) {
        (self.objects.size(), self.objects.count())
    }

    /// The content of an entry, verified by its name.
    pub fn read(&self, entry: &Entry) -> Result<Vec<u8>, SnapshotError> {
        match entry.mode {
            Mode::LeftOut(_) => Err(ObjectError::Missing { id: entry.id }.into()),
            _ => Ok(self.objects.read(&entry.id, ObjectKind::Blob)?),
        }
    }

    /// Whether everything of the entry can be had.
    pub fn has(&self, id: &ObjectId) -> bool {
        self.objects.contains(id)
    }
}

/// Names with a zero byte behind each.
fn tracked_and_ignored(layout: &Layout, again: bool) -> Result<Vec<u8>, FileError> {
    let file = dir(layout).join(TRACKED);
    let before = ralph_store::regular::read(&file).ok();
    if let Some(names) = before.as_ref().filter(|_| again) {
        return Ok(names.clone());
    }
    let mut names = Vec::new();
    for name in git::tracked_and_ignored(layout.root()) {
        names.extend(name);
        names.push(0);
    }
    if before.as_ref() != Some(&names) {
        write_atomic(&file, &names, AtomicOptions { durable: false })?;
    }
    Ok(names)
}

/// The whole disk, somebody's home, or what holds Ralph's own state where the
/// scan does not leave it out.
fn holds_too_much(layout: &Layout) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(layout.root());
    let is_home = std::env::home_dir().is_some_and(|home| real(&home).starts_with(&root));
    let within = real(layout.state_dir());
    let state = within.strip_prefix(&root).ok();
    is_home || root.parent().is_none() || state.is_some_and(|path| !path.starts_with(".ralph"))
}

/// Whether there is room for more.
fn room(objects: &Objects, caps: &Caps) -> Result<(), SnapshotError> {
    let size = objects.size();
    if size > caps.total {
        return Err(SnapshotError::StoreFull { size });
    }
    match free_space(objects.dir()) {
        Some(free) if free < caps.free => Err(SnapshotError::DiskFull {
            free,
            dir: objects.dir().to_owned(),
        }),
        _ => Ok(()),
    }
}
