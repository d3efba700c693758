//! The work as one tree in memory, so that a turn costs what it changed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use ralph_store::objects::Mode as GitMode;
use ralph_store::objects::{Batch, ObjectId, ObjectKind, Objects, Packed, TreeEntry, encode_tree};

use super::entry::Entry;

#[derive(Debug, Default)]
pub(super) struct Node {
    children: BTreeMap<Box<[u8]>, Child>,
    /// `None` where something below changed.
    id: Option<ObjectId>,
}

#[derive(Debug)]
enum Child {
    Leaf(Entry),
    Folder(Node),
}

/// The parts of a path, as a tree has them.
fn parts(path: &Path) -> Vec<&[u8]> {
    path.iter().map(OsStr::as_encoded_bytes).collect()
}

impl Node {
    /// `None` takes away whatever stands at the path.
    pub fn put(&mut self, path: &Path, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.insert(&parts(path), entry),
            None => self.remove(&parts(path)),
        }
    }

    fn insert(&mut self, path: &[&[u8]], entry: Entry) {
        let Some((name, rest)) = path.split_first() else {
            return;
        };
        self.id = None;
        let name: Box<[u8]> = (*name).into();
        if rest.is_empty() {
            self.children.insert(name, Child::Leaf(entry));
            return;
        }
        let child = self.children.entry(name);
        let child = child.or_insert_with(|| Child::Folder(Node::default()));
        if let Child::Leaf(_) = child {
            *child = Child::Folder(Node::default());
        }
        if let Child::Folder(node) = child {
            node.insert(rest, entry);
        }
    }

    fn remove(&mut self, path: &[&[u8]]) {
        let Some((name, rest)) = path.split_first() else {
            return;
        };
        let gone = match self.children.get_mut(*name) {
            None => return,
            Some(Child::Folder(node)) if !rest.is_empty() => {
                node.remove(rest);
                node.children.is_empty()
            }
            // A file that is reported gone is no folder that came instead.
            Some(Child::Folder(_)) => return,
            Some(Child::Leaf(_)) => rest.is_empty(),
        };
        self.id = None;
        if gone {
            self.children.remove(*name);
        }
    }

    /// Names the tree, and collects the listings that the store lacks.
    pub fn name(&mut self, objects: &Objects, batch: &mut Batch) -> std::io::Result<ObjectId> {
        if let Some(id) = self.id {
            return Ok(id);
        }
        let mut entries = Vec::with_capacity(self.children.len());
        for (name, child) in &mut self.children {
            let (mode, id) = match child {
                Child::Leaf(entry) => (entry.git_mode(), entry.id),
                Child::Folder(node) => (GitMode::Folder, node.name(objects, batch)?),
            };
            entries.push(TreeEntry { name, mode, id });
        }
        let listing = encode_tree(entries);
        let id = ObjectId::of(ObjectKind::Tree, &listing);
        if !objects.contains(&id) && !batch.contains(&id) {
            batch.add(&Packed::new(ObjectKind::Tree, &listing)?);
        }
        self.id = Some(id);
        Ok(id)
    }
}
