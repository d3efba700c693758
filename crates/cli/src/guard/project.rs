//! Which directory is the project that a call belongs to.

use std::path::{Path, PathBuf};

/// The nearest directory, from `start` upwards, that holds `.ralph` or
/// `.git`; else `start` itself. The home directory and what is above it is
/// nobody's project unless the work began there: dotfiles are often kept in
/// Git, and everything in the home directory would be inside then.
pub fn root_above(start: &Path) -> PathBuf {
    let start = real(start);
    let home = super::home().map(|home| real(&home));
    let around_home = |dir: &Path| home.as_deref().is_some_and(|home| home.starts_with(dir));
    let root = start
        .ancestors()
        .take_while(|dir| *dir == start || !around_home(dir))
        .find(|dir| is_marked(dir))
        .map(Path::to_path_buf);
    root.unwrap_or(start)
}

/// Does a directory say of itself that it is a project?
fn is_marked(dir: &Path) -> bool {
    dir.join(".ralph").is_dir() || dir.join(".git").exists()
}

/// Does a call in `cwd` belong to the project at `root`? A directory that
/// merely holds projects, as `/` does, is not the project of them all.
pub fn holds(root: &Path, cwd: &Path) -> bool {
    if !cwd.starts_with(root) {
        return false;
    }
    cwd == root || is_marked(root) || (root.parent().is_some() && !is_marked(&root_above(cwd)))
}

/// Where a path leads; as it is written where it does not exist.
pub fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
