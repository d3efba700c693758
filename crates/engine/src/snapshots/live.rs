//! The work as it lies there, as a snapshot: what other trees are made from.

use std::path::PathBuf;

use ralph_store::layout::Layout;

use super::undo::World;
use super::{SnapshotError, Snapshots, TreeId};
use crate::announcement::Announcement;
use crate::look::Looker;

/// Looks at the work of a project, outside of any run.
#[derive(Debug)]
pub struct Live {
    looker: Looker,
    root: PathBuf,
}

impl Live {
    pub fn open(layout: &Layout, world: World) -> Result<Live, SnapshotError> {
        let root = layout.root().to_owned();
        let mut looker = Looker::new(&root, world.tasks, world.scope, world.lang);
        looker.exclude(world.own);
        looker.keep(Snapshots::create(layout, world.caps, false)?, true);
        Ok(Live { looker, root })
    }

    /// The work as it is now.
    pub fn look(&mut self) -> Result<TreeId, SnapshotError> {
        let seen = self.looker.look();
        if let Some(tree) = &seen.snapshot {
            return TreeId::parse(tree);
        }
        let error = self.looker.told().into_iter().find_map(|told| match told {
            Announcement::NoSnapshot { error } => Some(error),
            _ => None,
        });
        let root = self.root.clone();
        Err(error.unwrap_or(SnapshotError::Refused { root }))
    }
}
