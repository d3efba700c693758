//! The trees of a run, read from its snapshots.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Ground;
use ralph_core::proof::edits::{Changed, Side, To};
use ralph_store::layout::Layout;

use super::names::{name_of, path_of};
use crate::room::Content;
use crate::snapshots::{Entry, Mode, Snapshots, TreeId};

/// The trees of a run, as they are seen by the plan of an experiment.
pub(super) struct Trees {
    snapshots: Snapshots,
    armed: TreeId,
    base: TreeId,
    now: TreeId,
}

impl Trees {
    pub fn open(layout: &Layout, ground: &Ground) -> Result<Trees, String> {
        let tree = |id: &Option<String>| {
            let id = id.as_ref().ok_or("there is no snapshot")?;
            TreeId::parse(id).map_err(|_| "a snapshot is damaged")
        };
        let (armed, base, now) = (
            tree(&ground.armed)?,
            tree(&ground.base)?,
            tree(&ground.now)?,
        );
        let snapshots = Snapshots::open(layout).map_err(|error| error.say(Lang::En))?;
        Ok(Trees {
            snapshots,
            armed,
            base,
            now,
        })
    }

    pub fn of(&self, side: Side) -> &TreeId {
        match side {
            Side::Armed => &self.armed,
            Side::Base => &self.base,
            Side::Now => &self.now,
        }
    }

    pub fn entry(&self, side: Side, path: &str) -> Option<Entry> {
        self.snapshots
            .entry(self.of(side), &path_of(path))
            .ok()
            .flatten()
    }

    pub fn read(&self, side: Side, path: &str) -> Option<Vec<u8>> {
        let entry = self.entry(side, path)?;
        match entry.mode {
            Mode::File | Mode::Executable => self.snapshots.read(&entry).ok(),
            _ => None,
        }
    }

    pub fn changes(&self, from: Side) -> Result<Vec<Changed>, String> {
        let found = self.snapshots.changes(self.of(from), &self.now);
        let found = found.map_err(|_| "a snapshot can't be read".to_owned())?;
        let changed = found.into_iter().map(|changed| Changed {
            path: name_of(&changed.path),
            was: changed.before.is_some(),
            is: changed.after.is_some(),
        });
        Ok(changed.collect())
    }

    pub fn files(&self, side: Side) -> Result<Vec<String>, String> {
        let found = self.snapshots.files(self.of(side));
        let found = found.map_err(|_| "a snapshot can't be read".to_owned())?;
        Ok(found.into_iter().map(|(path, _)| name_of(&path)).collect())
    }

    /// What a file is to be in the room.
    pub fn content(&self, to: &To, path: &str) -> Option<Content> {
        let side = match to {
            To::Remove => return Some(Content::Gone),
            To::Text(bytes) => {
                let now = self.entry(Side::Now, path);
                let now = now.or_else(|| self.entry(Side::Base, path));
                return Some(Content::File {
                    bytes: bytes.clone(),
                    executable: now.is_some_and(|entry| entry.mode == Mode::Executable),
                });
            }
            To::Copy(side) => *side,
        };
        let entry = self.entry(side, path)?;
        let bytes = self.snapshots.read(&entry).ok()?;
        Some(super::back::content(entry.mode, bytes))
    }
}
