//! Reads snapshots: what is in one, and how two differ.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_store::objects::{Mode as GitMode, ObjectError, ObjectId, ObjectKind, parse_tree};

use super::entry::{Entry, TreeId, name_to_path};
use super::{SnapshotError, Snapshots};

/// A path at which two snapshots differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Relative to the root.
    pub path: PathBuf,
    pub before: Option<Entry>,
    pub after: Option<Entry>,
}

/// One folder's listing, taken apart.
#[derive(Default)]
struct Listing {
    entries: BTreeMap<Vec<u8>, Entry>,
    folders: BTreeMap<Vec<u8>, ObjectId>,
}

impl Snapshots {
    /// Every path at which two snapshots differ, in the order of their names.
    pub fn changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Changed>, SnapshotError> {
        let mut changed = Vec::new();
        let ids = (Some(from.id()), Some(to.id()));
        self.compare(ids, Path::new(""), &mut changed)?;
        changed.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changed)
    }

    /// Every file and link of a snapshot, and what was left out of it.
    pub fn files(&self, tree: &TreeId) -> Result<Vec<(PathBuf, Entry)>, SnapshotError> {
        let mut changed = Vec::new();
        self.compare((None, Some(tree.id())), Path::new(""), &mut changed)?;
        let entry = |c: Changed| Some((c.path, c.after?));
        let mut files: Vec<_> = changed.into_iter().filter_map(entry).collect();
        files.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(files)
    }

    /// What stands at a path.
    pub fn entry(&self, tree: &TreeId, path: &Path) -> Result<Option<Entry>, SnapshotError> {
        let mut id = tree.id();
        let mut parts = path.iter().peekable();
        while let Some(part) = parts.next() {
            let mut listing = self.listing(&id)?;
            let name = part.as_encoded_bytes();
            if parts.peek().is_none() {
                return Ok(listing.entries.remove(name));
            }
            match listing.folders.get(name) {
                Some(below) => id = *below,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    fn listing(&self, id: &ObjectId) -> Result<Listing, SnapshotError> {
        let bytes = self.objects.read(id, ObjectKind::Tree)?;
        let damaged = || ObjectError::Damaged {
            id: *id,
            path: self.objects.dir().to_owned(),
        };
        let mut listing = Listing::default();
        for entry in parse_tree(&bytes).ok_or_else(damaged)? {
            let name = entry.name.to_vec();
            match Entry::from_git(entry.mode, entry.id) {
                Some(found) => drop(listing.entries.insert(name, found)),
                None if entry.mode == GitMode::Folder => {
                    listing.folders.insert(name, entry.id);
                }
                None => {}
            }
        }
        Ok(listing)
    }

    fn compare(
        &self,
        (from, to): (Option<ObjectId>, Option<ObjectId>),
        at: &Path,
        changed: &mut Vec<Changed>,
    ) -> Result<(), SnapshotError> {
        if from == to {
            return Ok(());
        }
        let listing = |id: Option<ObjectId>| match id {
            Some(id) => self.listing(&id),
            None => Ok(Listing::default()),
        };
        let (before, mut after) = (listing(from)?, listing(to)?);
        let place = |name: &[u8]| name_to_path(name).map(|name| at.join(name));
        let mut note = |name: &[u8], before: Option<Entry>, after: Option<Entry>| {
            if let Some(path) = place(name).filter(|_| before != after) {
                changed.push(Changed {
                    path,
                    before,
                    after,
                });
            }
        };
        for (name, entry) in before.entries {
            let now = after.entries.remove(&name);
            note(&name, Some(entry), now);
        }
        for (name, entry) in after.entries {
            note(&name, None, Some(entry));
        }
        for (name, id) in before.folders {
            let now = after.folders.remove(&name);
            if let Some(at) = place(&name) {
                self.compare((Some(id), now), &at, changed)?;
            }
        }
        for (name, id) in after.folders {
            if let Some(at) = place(&name) {
                self.compare((None, Some(id)), &at, changed)?;
            }
        }
        Ok(())
    }
}
