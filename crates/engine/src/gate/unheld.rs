//! What lies in the project and no commit will hold: whatever a gate owes to
//! it, nobody else has.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::git::{self, Held};
use crate::worktree::changed_since;

/// Folders of what was installed: installing it again is what others do. So is
/// a virtual environment of Python, whatever its name.
const INSTALLED: [&str; 10] = [
    "node_modules", ".venv", "venv", ".tox", ".nox", ".yarn", ".gradle", "Pods", "target",
    "__pycache__",
];
/// Files that are installed with them.
const INSTALLED_FILES: [&str; 2] = [".pnp.cjs", ".pnp.loader.mjs"];
/// What a tool makes again where it is gone.
const CACHES: [&str; 2] = ["target", "__pycache__"];
/// Folders of what is built, or written: only if something in it is older than
/// the loop, it is the former.
const BUILT: [&str; 3] = ["dist", "build", "vendor"];

/// What Ralph itself writes as it runs.
const RALPHS: [&str; 4] = [
    ".ralph", ".skillpack/current", ".skillpack/history", ".skillpack/.gitignore",
];

/// Whether a step that fails may fail for want of it.
pub(super) fn may_be_needed(path: &Path) -> bool {
    !RALPHS.iter().any(|own| path.starts_with(own))
}

/// Git says nothing of what it holds.
#[derive(Debug)]
pub(super) struct NoAnswer;

/// What was found, relative to the project.
#[derive(Debug, Default)]
pub(super) struct Unheld {
    pub files: Vec<PathBuf>,
    /// Folders in which tools keep what they made.
    pub caches: Vec<PathBuf>,
}

/// Files and links that came or changed since then and that no commit will
/// hold, relative to `root`: what Git ignores, what lies in `.git` folders
/// below the top, in folders of Ralph and in repositories of their own, and
/// links that lead out of the project. `rooms` are our own.
pub(super) fn unheld_since(root: &Path, rooms: &Path, then_ms: i64) -> Result<Unheld, NoAnswer> {
    let Some(held) = git::held(root).ok_or(NoAnswer)? else {
        return Ok(Unheld::default());
    };
    let is_unheld = |path: &PathBuf| !held.files.contains(path) || leads_out(root, path);
    let (mut found, caches) = files_below(root, rooms, &held);
    found.retain(is_unheld);
    let mut left: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let built = |path: &PathBuf| match is_apart(path, &held) {
        true => None,
        false => folder_of(path, &BUILT),
    };
    for folder in found.iter().filter_map(built) {
        *left.entry(folder).or_default() += 1;
    }
    let then = UNIX_EPOCH + Duration::from_millis(then_ms.unsigned_abs());
    let mut changed = changed_since(root, found, then);
    for folder in changed.iter().filter_map(built) {
        *left.entry(folder).or_default() -= 1;
    }
    changed.retain(|path| built(path).is_none_or(|folder| left[&folder] == 0));
    likely_first(&mut changed, &held);
    Ok(Unheld {
        files: changed,
        caches,
    })
}

/// Where a folder's name says nothing of what is in it.
fn is_apart(path: &Path, held: &Held) -> bool {
    let is_below = |folder: &PathBuf| path.starts_with(folder);
    path.components().any(|part| part.as_os_str() == ".git")
        || git::OWN.iter().any(|own| path.starts_with(own))
        || held.repositories.iter().any(is_below)
}

/// All files and links, wherever they lie, and the caches; nothing is followed,
/// and what was installed is not looked into. A folder that can't be read is
/// taken for a file.
fn files_below(root: &Path, rooms: &Path, held: &Held) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let all_held = held.files.iter().chain(&held.repositories);
    let with_work: HashSet<&Path> = all_held.flat_map(|path| path.ancestors()).collect();
    let repositories = held.repositories.iter();
    let with_repository: HashSet<&Path> = repositories.flat_map(|path| path.ancestors()).collect();
    let is_named = |path: &Path, names: &[&str]| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| names.contains(&name))
    };
    let is_venv = |dir: &Path| {
        let mark = root.join(dir).join("pyvenv.cfg");
        !with_work.contains(dir) && mark.is_file()
    };
    let is_installed = |path: &Path| {
        (is_named(path, &INSTALLED) || is_venv(path))
            && !is_apart(path, held)
            && !with_repository.contains(path)
    };
    let is_loader = |path: &Path| is_named(path, &INSTALLED_FILES) && !is_apart(path, held);
    let (mut files, mut caches, mut dirs) = (Vec::new(), Vec::new(), vec![PathBuf::new()]);
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = fs::read_dir(root.join(&dir)) else {
            files.push(dir);
            continue;
        };
        for entry in entries.flatten() {
            let path = dir.join(entry.file_name());
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_ours = path == Path::new(".git") || entry.path() == rooms;
            if kind.is_dir() && !is_ours && !is_installed(&path) {
                dirs.push(path);
            } else if kind.is_dir() && is_named(&path, &CACHES) && !with_work.contains(&*path) {
                caches.push(path);
            } else if kind.is_file() && !is_loader(&path) || kind.is_symlink() {
                files.push(path);
            }
        }
    }
    (files, caches)
}

/// Whether it is a link to what no clone has: a place outside of the project,
/// or in a `.git` folder.
fn leads_out(root: &Path, path: &Path) -> bool {
    let link = root.join(path);
    if !fs::symlink_metadata(&link).is_ok_and(|found| found.is_symlink()) {
        return false;
    }
    let (Ok(top), Ok(to)) = (root.canonicalize(), link.canonicalize()) else {
        return false;
    };
    match to.strip_prefix(top) {
        Ok(within) => within.components().any(|part| part.as_os_str() == ".git"),
        Err(_) => true,
    }
}

/// What is work lies beside work and has a plain name, mostly, and is what one
/// wants to read of.
fn likely_first(files: &mut [PathBuf], held: &Held) {
    let folders: HashSet<&Path> = held.files.iter().filter_map(|file| file.parent()).collect();
    let is_hidden = |path: &Path| path.as_os_str().as_encoded_bytes().starts_with(b".");
    let is_beside_work = |path: &Path| {
        let mut above = path.ancestors().skip(1);
        above.any(|folder| folder.file_name().is_some() && folders.contains(folder))
    };
    files.sort_by_cached_key(|path| {
        let depth = path.components().count();
        (!is_beside_work(path), is_hidden(path), depth, path.clone())
    });
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
