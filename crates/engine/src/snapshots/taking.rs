//! Takes a snapshot from what a scan found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ralph_store::objects::ObjectId;
use ralph_store::{Action, FileError};

use super::entry::{Entry, Mode, TreeId, Why, git_name_to_path};
use super::node::Node;
use super::{SnapshotError, Snapshots, Taken, room};
use crate::git;
use crate::worktree::{Found, Standing};

impl Snapshots {
    /// `changed` is what a scan found since the last snapshot, `whole` gives
    /// everything that it knows, where that is needed. Afterwards the
    /// snapshot is on the disk.
    pub fn take(
        &mut self,
        changed: Vec<Found>,
        whole: impl FnOnce() -> Vec<Found>,
    ) -> Result<Taken, SnapshotError> {
        let mut top = self.top.take();
        let found = match top {
            Some(_) => changed,
            None => whole(),
        };
        room(&self.objects, &self.caps)?;
        if found.len() > self.caps.files {
            let count = found.len();
            return Err(SnapshotError::TooMany { count });
        }
        let result = self.take_in(top.get_or_insert_default(), found);
        match &result {
            // What was collected and not written is not in the store.
            Err(_) => self.batch = Default::default(),
            Ok(_) => self.top = top,
        }
        result
    }

    fn take_in(&mut self, top: &mut Node, found: Vec<Found>) -> Result<Taken, SnapshotError> {
        let before = self.left_out.clone();
        let nested = self.nested(&found);
        let secrets = self.untracked_secrets(&found);
        let mut unread = Vec::new();
        for Found { path, now } in found {
            let above = path.ancestors().skip(1).find(|dir| nested.contains(*dir));
            if let Some(repository) = above {
                let repository = repository.to_owned();
                self.put(top, &path, None);
                self.put(
                    top,
                    &repository,
                    Some(Entry::left_out(Why::Repository, None)),
                );
                continue;
            }
            match now.map(|now| self.judge(&path, &now, &secrets)) {
                None => self.put(top, &path, None),
                Some(Judged::Is(entry)) => self.put(top, &path, Some(entry)),
                Some(Judged::Read) => unread.push(path),
            }
        }
        let extras = self
            .extras
            .iter()
            .filter(|path| is_below_folders(&self.root, path));
        unread.extend(extras.cloned().collect::<Vec<_>>());
        for (path, entry) in self.keep(&unread)? {
            self.put(top, &path, entry);
        }
        let named = top.name(&self.objects, &mut self.batch);
        let dir = self.objects.dir().to_owned();
        let tree = named.map_err(|error| FileError::new(&dir, Action::Write, &error))?;
        self.objects.write(&mut self.batch)?;
        let told = |(path, why): (&PathBuf, &Why)| {
            (before.get(path) != Some(why)).then(|| (path.clone(), *why))
        };
        Ok(Taken {
            tree: TreeId::new(tree),
            left_out: self.left_out.iter().filter_map(told).collect(),
        })
    }

    fn put(&mut self, top: &mut Node, path: &Path, entry: Option<Entry>) {
        match entry.map(|entry| entry.mode) {
            Some(Mode::LeftOut(why)) => drop(self.left_out.insert(path.to_owned(), why)),
            _ => drop(self.left_out.remove(path)),
        }
        top.put(path, entry);
    }

    fn judge(&self, path: &Path, now: &Standing, secrets: &BTreeSet<PathBuf>) -> Judged {
        let left_out = |why, id| Judged::Is(Entry::left_out(why, id));
        let keep = |id: &ObjectId, mode| match self.objects.contains(id) {
            true => Judged::Is(Entry { id: *id, mode }),
            false => Judged::Read,
        };
        match now {
            Standing::Special => left_out(Why::Special, None),
            Standing::Unreadable => left_out(Why::Unreadable, None),
            _ if secrets.contains(path) => left_out(Why::Secret, None),
            Standing::Link { id } => keep(id, Mode::Link),
            Standing::File { size, id, .. } if *size > self.caps.file => {
                left_out(Why::TooLarge, *id)
            }
            Standing::File {
                executable,
                id: Some(id),
                ..
            } => match executable {
                true => keep(id, Mode::Executable),
                false => keep(id, Mode::File),
            },
            Standing::File { id: None, .. } => Judged::Read,
        }
    }

    /// The folders that are repositories of their own, among those that hold
    /// something that was found.
    fn nested(&self, found: &[Found]) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        for found in found {
            for folder in found.path.ancestors().skip(1) {
                if folder.as_os_str().is_empty() || !folders.insert(folder) {
                    break;
                }
            }
        }
        let is_nested = |folder: &&Path| {
            let git = self.root.join(folder).join(".git");
            std::fs::symlink_metadata(git).is_ok()
        };
        let nested = folders.into_iter().filter(is_nested);
        nested.map(Path::to_owned).collect()
    }

    /// Names that the guard takes for secrets; Git is asked only about those.
    fn untracked_secrets(&mut self, found: &[Found]) -> BTreeSet<PathBuf> {
        let there = found.iter().filter(|found| found.now.is_some());
        let secret: BTreeSet<PathBuf> = there
            .map(|found| &found.path)
            .filter(|path| is_secret(path) && !self.tracked_secrets.contains(*path))
            .cloned()
            .collect();
        if secret.is_empty() {
            return secret;
        }
        let names: Vec<&str> = secret.iter().filter_map(|path| path.to_str()).collect();
        let tracked = git::tracked_among(&self.root, &names);
        let tracked = tracked.iter().filter_map(|name| git_name_to_path(name));
        self.tracked_secrets.extend(tracked);
        secret
            .into_iter()
            .filter(|path| !self.tracked_secrets.contains(path))
            .collect()
    }

    /// Puts many small packs together. For whoever holds the project's lock.
    pub fn tidy(&mut self) -> Result<(), SnapshotError> {
        Ok(self.objects.pack_together()?)
    }
}

enum Judged {
    Is(Entry),
    /// Its content has to be read.
    Read,
}

fn is_secret(path: &Path) -> bool {
    ralph_guard::is_sensitive(&format!("/{}", path.display()))
}

/// Whether no link stands where a folder should be.
fn is_below_folders(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1);
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .all(|folder| {
            std::fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir())
        })
}
