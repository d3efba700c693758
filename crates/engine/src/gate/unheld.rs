//! What lies in the project and no commit will hold: whatever a gate owes to
//! it, nobody else has.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::git;
use crate::snapshots::git_name_to_path;
use crate::worktree::changed_since;

/// Folders of what was installed: installing it again is what others do.
const INSTALLED: [&str; 6] = [
    "node_modules", ".venv", "venv", ".tox", "target", "__pycache__",
];
/// Folders of what is built, or written: only if something in it is older than
/// the loop, it is the former.
const BUILT: [&str; 3] = ["dist", "build", "vendor"];

/// Files that Git ignores and that changed since then, relative to `root`.
pub(super) fn unheld_since(root: &Path, then_ms: i64) -> Vec<PathBuf> {
    let commit = git::head(root).commit;
    let ignored = commit.and_then(|commit| git::ignored_beside(root, &commit));
    let is_installed = |path: &PathBuf| folder_of(path, &INSTALLED).is_some();
    let ignored = ignored.unwrap_or_default();
    let ignored = ignored.iter().filter_map(|name| git_name_to_path(name));
    let ignored: Vec<PathBuf> = ignored.filter(|path| !is_installed(path)).collect();
    let mut files_built: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let count = |files: &[PathBuf], by: &mut dyn FnMut(PathBuf)| {
        let folders = files.iter().filter_map(|path| folder_of(path, &BUILT));
        folders.for_each(by);
    };
    count(&ignored, &mut |folder| {
        *files_built.entry(folder).or_default() += 1
    });
    let then = UNIX_EPOCH + Duration::from_millis(then_ms.unsigned_abs());
    let mut changed = changed_since(root, ignored, then);
    let mut left = files_built;
    count(&changed, &mut |folder| {
        *left.entry(folder).or_default() -= 1
    });
    changed.retain(|path| folder_of(path, &BUILT).is_none_or(|folder| left[&folder] == 0));
    // What is work has a plain name, mostly, and is what one wants to read of.
    let is_hidden = |path: &PathBuf| path.as_os_str().as_encoded_bytes().starts_with(b".");
    changed.sort_by_key(|path| (is_hidden(path), path.components().count()));
    changed
}

/// The topmost folder with one of these names that a file lies in.
fn folder_of(path: &Path, names: &[&str]) -> Option<PathBuf> {
    let is_one = |dir: &&Path| {
        let name = dir.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| names.contains(&name))
    };
    let folders = path.ancestors().skip(1).filter(is_one);
    folders.last().map(Path::to_path_buf)
}
