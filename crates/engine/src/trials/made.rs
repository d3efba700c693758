//! What the checks make: an experiment begins without it, so that nothing that
//! lies in its place can judge, or stand for the work.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use ralph_core::proof::files::{is_object, kind_of, matches};
use ralph_core::proof::judges::Judges;

use super::names::path_of;
use crate::git;
use crate::room::{LOOKED_AT, is_binary};
use crate::worktree::changed_since;

/// Folders of what was installed, by recipes that fetch it.
const INSTALLED: [&str; 3] = ["node_modules", "venv", "vendor"];

/// What the checks make, as `judges` names it: none of the check files of then,
/// which a recipe would make of the work that they judge, and every program
/// that was built of tests.
pub(super) fn settle(
    judges: &mut Judges,
    armed: &[String],
    also: &[String],
    programs: Vec<String>,
) {
    let is_check = |path: &String| {
        kind_of(path).is_check() || also.iter().any(|pattern| matches(pattern, path))
    };
    judges
        .made
        .retain(|path| !(armed.contains(path) && is_check(path)));
    judges.made.extend(programs);
}

/// Programs that are called like tests and that were built of them: Git does
/// not know them. `now` is what lies in `tree`, a tree of the project at `root`.
pub(super) fn programs(root: &Path, tree: &Path, now: &[String]) -> Vec<String> {
    let could_be =
        |path: &&String| kind_of(path).is_check() && is_program(&tree.join(path_of(path)));
    let found: Vec<&str> = now.iter().filter(could_be).map(String::as_str).collect();
    if found.is_empty() || git::find_root(root).is_none() {
        return Vec::new();
    }
    let known = git::tracked_among(root, &found);
    let is_unknown = |path: &&str| !known.iter().any(|name| name == path.as_bytes());
    found
        .into_iter()
        .filter(is_unknown)
        .map(str::to_owned)
        .collect()
}

fn is_program(path: &Path) -> bool {
    let mut first = Vec::new();
    is_executable(path)
        && File::open(path).is_ok_and(|file| {
            let read = file.take(LOOKED_AT as u64).read_to_end(&mut first);
            read.is_ok() && is_binary(&first)
        })
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::symlink_metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(_path: &Path) -> bool {
    false
}

/// Of the files that are `made`, those that are to be made anew. `now` is
/// what Git looks at; of what it ignores those that came or changed since
/// `then_ms`, and no objects: making all of them again takes long.
pub(super) fn anew(
    tree: &Path,
    made: &[String],
    now: &[String],
    then_ms: i64,
) -> BTreeSet<PathBuf> {
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
