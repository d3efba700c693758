//! What a commit holds, and what `git add` would put into the next one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Apart, LONGEST_LIST, OWN, find_root, head, names_in, object_id};
use crate::git::ask::{ask_git_for_bytes, bytes};
use crate::snapshots::git_name_to_path;

/// Everything relative to the project.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Files and links.
    pub files: HashSet<PathBuf>,
    /// Folders that are repositories of their own: a commit holds their name
    /// and nothing of what is in them.
    pub repositories: Vec<PathBuf>,
}

/// How Git says in a tree that a folder is a repository of its own.
const MODE_OF_REPOSITORY: &[u8] = b"160000";

/// `None` where Git gives no answer; without a repository nothing is held
/// back from anybody.
pub fn held(root: &Path) -> Option<Option<Held>> {
    let Some(top) = find_root(root) else {
        return Some(None);
    };
    let index = IndexOf::commit(root, head(&top).commit.as_deref())?;
    let mut held = Held::default();
    for entry in index.ask(&["ls-files", "-z", "-s"])? {
        let tab = entry.iter().position(|&byte| byte == b'\t')?;
        let name = git_name_to_path(&entry[tab + 1..]);
        match entry.starts_with(MODE_OF_REPOSITORY) {
            true => held.repositories.extend(name),
            false => held.files.extend(name),
        }
    }
    let is_own = |path: &PathBuf| OWN.iter().any(|own| path.starts_with(own));
    // Nobody else looks whether what Ralph keeps there is committed as it is,
    // and Git must not look into repositories of their own.
    if held.repositories.iter().any(is_own) {
        held.files.retain(|path| !is_own(path));
    } else if held.files.iter().any(is_own) {
        for name in index.ask(&[&["ls-files", "-z", "-m", "--"], &OWN[..]].concat())? {
            held.files.remove(&git_name_to_path(&name)?);
        }
    }
    for name in index.ask(&["ls-files", "-z", "--others", "--exclude-standard"])? {
        match name.strip_suffix(b"/") {
            Some(name) => held.repositories.extend(git_name_to_path(name)),
            None => held
                .files
                .extend(git_name_to_path(&name).filter(|path| !is_own(path))),
        }
    }
    Some(Some(held))
}

/// What the index or HEAD has although Git ignores it, relative to `root`;
/// `None` where Git gives no answer.
pub fn held_though_ignored(root: &Path) -> Option<Vec<PathBuf>> {
    let Some(top) = find_root(root) else {
        return Some(Vec::new());
    };
    let mut list = vec!["ls-files", "-z", "-ci", "--exclude-standard"];
    // Whoever takes a file out of the index does not take it out of HEAD.
    if head(&top).commit.is_some() {
        list.push("--with-tree=HEAD");
    }
    let names = names_in(&ask_git_for_bytes(root, &list, LONGEST_LIST)?);
    let paths = names.iter().filter_map(|name| git_name_to_path(name));
    Some(paths.collect())
}

/// Git with an index of ours, which is that of a commit: what the project's
/// own says plays no part.
pub(super) struct IndexOf<'a> {
    root: &'a Path,
    apart: Apart,
}

impl IndexOf<'_> {
    /// Without a commit it is empty.
    pub fn commit<'a>(root: &'a Path, commit: Option<&str>) -> Option<IndexOf<'a>> {
        let index = IndexOf {
            root,
            apart: Apart::of(root)?,
        };
        if let Some(commit) = commit {
            index.ask(&["read-tree", &object_id(commit)?])?;
        }
        Some(index)
    }

    /// The names that it answers with.
    pub fn ask(&self, arguments: &[&str]) -> Option<Vec<Vec<u8>>> {
        let mut command = self.apart.command(self.root, arguments);
        command.env("GIT_INDEX_FILE", self.apart.own_index());
        Some(names_in(&bytes(command, LONGEST_LIST)?))
    }
}
