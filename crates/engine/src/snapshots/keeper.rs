//! Takes the snapshots of a run, and tells once what went wrong with them.

use std::path::PathBuf;

use super::{SnapshotError, Snapshots, Taken, Why};
use crate::announcement::Announcement;
use crate::worktree::Found;

/// So many paths are named of those that were left out.
const NAMED: usize = 5;

#[derive(Debug)]
pub struct Keeper {
    snapshots: Snapshots,
    /// The process before this one has told what is left out.
    quiet: bool,
    /// A disk that was full may have room again: it is tried at every look,
    /// and told once.
    troubled: bool,
    told: Vec<Announcement>,
}

impl Keeper {
    pub fn new(snapshots: Snapshots, quiet: bool) -> Keeper {
        Keeper {
            snapshots,
            quiet,
            troubled: false,
            told: Vec::new(),
        }
    }

    /// The name of the snapshot, where one could be made.
    pub fn take(
        &mut self,
        changed: Vec<Found>,
        whole: impl FnOnce() -> Vec<Found>,
    ) -> Option<String> {
        match self.snapshots.take(changed, whole) {
            Ok(Taken { tree, left_out }) => {
                self.tell_left_out(left_out);
                Some(tree.to_string())
            }
            Err(error) => {
                self.tell_trouble(error);
                None
            }
        }
    }

    fn tell_left_out(&mut self, mut left_out: Vec<(PathBuf, Why)>) {
        if std::mem::take(&mut self.quiet) || left_out.is_empty() {
            return;
        }
        let total = left_out.len();
        left_out.truncate(NAMED);
        self.told.push(Announcement::NotInSnapshot {
            first: left_out,
            total,
        });
    }

    pub fn tell_trouble(&mut self, error: SnapshotError) {
        if !std::mem::replace(&mut self.troubled, true) {
            self.told.push(Announcement::NoSnapshot { error });
        }
    }

    pub fn told(&mut self) -> Vec<Announcement> {
        std::mem::take(&mut self.told)
    }
}
