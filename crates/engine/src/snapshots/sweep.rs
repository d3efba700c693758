//! Snapshots go with the runs that they belong to: what no journal names any
//! more is deleted.

use std::collections::HashSet;

use ralph_core::machine::{Event, Kind};
use ralph_store::layout::Layout;
use ralph_store::objects::{Mode as GitMode, ObjectId, ObjectKind, Objects, parse_tree};

use super::{SnapshotError, TreeId, dir};
use crate::past::{self, seen_in};

/// Deletes what no run of the project knows. Nothing is deleted while a run
/// is not over, or can't be read: it may need anything. Says how much it was.
pub fn sweep(layout: &Layout) -> Result<u64, SnapshotError> {
    let mut objects = Objects::open(&dir(layout))?;
    let before = objects.size();
    let Some(trees) = known_trees(layout)? else {
        return Ok(0);
    };
    let mut live = HashSet::new();
    for tree in trees {
        mark(&objects, tree, &mut live);
    }
    objects.retain(&live)?;
    Ok(before.saturating_sub(objects.size()))
}

/// `None` where a run is not over.
fn known_trees(layout: &Layout) -> Result<Option<HashSet<ObjectId>>, SnapshotError> {
    let mut trees = HashSet::new();
    for run in layout.runs()? {
        let read = past::listen(&run, &mut |event, _, _| {
            let texts = named_in(event);
            let ids = texts
                .into_iter()
                .filter_map(|text| TreeId::parse(text).ok());
            trees.extend(ids.map(|tree| tree.id()));
        });
        match read {
            Ok(past) if past.state.outcome().is_some() => {}
            Err(past::PastError::NeverBegan { .. }) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(trees))
}

/// The snapshots that an event names.
fn named_in(event: &Event) -> Vec<&str> {
    let seen = seen_in(event).and_then(|seen| seen.snapshot.as_deref());
    let undone = match &event.kind {
        Kind::Undone(undone) => vec![undone.before.as_str(), undone.after.as_str()],
        _ => Vec::new(),
    };
    seen.into_iter().chain(undone).collect()
}

fn mark(objects: &Objects, tree: ObjectId, live: &mut HashSet<ObjectId>) {
    if !live.insert(tree) {
        return;
    }
    let Ok(bytes) = objects.read(&tree, ObjectKind::Tree) else {
        return;
    };
    for entry in parse_tree(&bytes).unwrap_or_default() {
        match entry.mode {
            GitMode::Folder => mark(objects, entry.id, live),
            GitMode::Elsewhere => {}
            _ => drop(live.insert(entry.id)),
        }
    }
}
