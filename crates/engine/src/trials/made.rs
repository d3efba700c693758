//! What the recipes of the checks make: an experiment begins without it, so
//! that nothing that lies in its place can judge, or stand for the work.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use ralph_core::proof::files::is_object;

use super::names::path_of;
use crate::worktree::changed_since;

/// Folders of what was installed, by recipes that fetch it.
const INSTALLED: [&str; 3] = ["node_modules", "venv", "vendor"];

/// Of the files that recipes `made`, those that are to be made anew. `now` is
/// what Git looks at; of what it ignores those that came or changed since
/// `then_ms`, and no objects: making all of them again takes long.
pub(super) fn anew(tree: &Path, made: &[String], now: &[String], then_ms: i64) -> Vec<PathBuf> {
    let is_file =
        |path: &PathBuf| fs::symlink_metadata(tree.join(path)).is_ok_and(|found| !found.is_dir());
    let (seen, ignored): (Vec<&String>, Vec<&String>) =
        made.iter().partition(|path| now.contains(path));
    let ignored = ignored
        .into_iter()
        .filter(|path| !is_object(path) && !is_installed(path));
    let ignored: Vec<PathBuf> = ignored.map(|path| path_of(path)).filter(is_file).collect();
    let then = UNIX_EPOCH + Duration::from_millis(then_ms.unsigned_abs());
    let changed = changed_since(tree, ignored, then);
    let seen = seen.into_iter().map(|path| path_of(path)).filter(is_file);
    seen.chain(changed).collect()
}

fn is_installed(path: &str) -> bool {
    path.split('/')
        .any(|part| part.starts_with('.') || INSTALLED.contains(&part))
}
