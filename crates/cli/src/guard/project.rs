//! Which directory is the project that a call belongs to.

use std::path::{Path, PathBuf};

use ralph_engine::git::is_ours;

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
        .find(|dir| is_marked(dir, &start))
        .map(Path::to_path_buf);
    root.unwrap_or(start)
}

/// Does a directory say of itself that it is a project, and not somebody else?
fn is_marked(dir: &Path, start: &Path) -> bool {
    let (own, git) = (dir.join(".ralph"), dir.join(".git"));
    own.is_dir() && is_ours(&own, start) || git.exists() && is_ours(&git, start)
}

/// Does a call in `cwd` belong to the project at `root`? A directory that
/// merely holds projects, as `/` does, is not the project of them all.
pub fn holds(root: &Path, cwd: &Path) -> bool {
    if !cwd.starts_with(root) {
        return false;
    }
    cwd == root
        || is_marked(root, cwd)
        || (root.parent().is_some() && !is_marked(&root_above(cwd), cwd))
}

/// Where a path leads; as it is written where it does not exist.
pub fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-06: the settings of somebody else around us are not ours.
    #[cfg(unix)]
    #[test]
    #[cfg_attr(permissions_bind, ignore = "needs root, to make another user's files")]
    fn a_project_of_somebody_else_around_us_is_not_taken() {
        for name in [".ralph", ".git"] {
            let shared = tempfile::tempdir().unwrap();
            let shared = real(shared.path());
            let (mark, work) = (shared.join(name), shared.join("work"));
            std::fs::create_dir_all(&mark).unwrap();
            std::fs::create_dir_all(&work).unwrap();
            assert_eq!(root_above(&work), shared);
            std::os::unix::fs::chown(&mark, Some(65_534), None).unwrap();
            assert_eq!(root_above(&work), work);
            std::fs::remove_dir_all(&shared).unwrap();
        }
    }
}
