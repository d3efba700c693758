//! Which directory is the project that a call belongs to.

use std::path::{Path, PathBuf};

/// The nearest directory, from `start` upwards, that holds `.ralph` or
/// `.git`; else `start` itself. The home directory and what is above it is
/// nobody's project unless the work began there: dotfiles are often kept in
/// Git, and everything in the home directory would be inside then.
pub fn root_above(start: &Path) -> PathBuf {
    let start = real(start);
    let home = super::home().map(|home| real(&home));
    let beyond = |dir: &&Path| !home.as_deref().is_some_and(|home| home.starts_with(dir));
    let holds = |dir: &Path| dir.join(".ralph").is_dir() || dir.join(".git").exists();
    let root = start
        .ancestors()
        .take_while(|dir| *dir == start || beyond(dir))
        .find(|dir| holds(dir))
        .map(Path::to_path_buf);
    root.unwrap_or(start)
}

/// Where a path leads; as it is written where it does not exist.
pub fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
