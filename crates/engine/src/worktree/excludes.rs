//! What is no work of the agent: Git's and Ralph's own files, and the paths
//! that the caller judges by other means (the task file).

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

const OWN_DIRECTORIES: [&str; 2] = [".ralph", ".skillpack"];

#[derive(Clone, Debug)]
pub(super) struct Excludes {
    /// Relative to the root.
    paths: Vec<PathBuf>,
}

impl Excludes {
    /// Takes each path as it is written and as it really is, since the walk
    /// meets a file behind a linked directory under its real name only.
    pub fn new(root: &Path, excluded: Vec<PathBuf>) -> Excludes {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let mut paths = Vec::new();
        for path in excluded {
            let written = resolve_dots(&root.join(path));
            let real = written.canonicalize().ok();
            for candidate in [Some(written), real].into_iter().flatten() {
                let inside = candidate
                    .strip_prefix(root)
                    .or_else(|_| candidate.strip_prefix(&real_root));
                match inside {
                    // The root itself would leave nothing to look at.
                    Ok(inside) if !inside.as_os_str().is_empty() => {
                        paths.push(inside.to_path_buf());
                    }
                    _ => {}
                }
            }
        }
        Excludes { paths }
    }

    pub fn contains(&self, directory: &Path, name: &OsStr) -> bool {
        name == ".git" || is_own(directory, name) || self.is_listed(directory, name)
    }

    fn is_listed(&self, directory: &Path, name: &OsStr) -> bool {
        self.paths
            .iter()
            .any(|path| path.file_name() == Some(name) && path.parent() == Some(directory))
    }
}

fn is_own(directory: &Path, name: &OsStr) -> bool {
    if directory.as_os_str().is_empty() {
        return OWN_DIRECTORIES.iter().any(|own| name == *own);
    }
    if directory != ".claude" {
        return false;
    }
    let name = name.as_encoded_bytes();
    name == b"progress.local.md" || (name.starts_with(b"ralph-") && name.ends_with(b".local.md"))
}

/// Removes `.` and `..` from an absolute path by its text alone.
fn resolve_dots(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ralph_and_of_the_caller_are_excluded() {
        let root = Path::new("/nowhere/project");
        let given = [
            "tasks.md",
            "./specs/../specs/001/tasks.md",
            "/nowhere/project/plan",
            "/elsewhere/x",
            ".",
        ];
        let excludes = Excludes::new(root, given.map(PathBuf::from).to_vec());
        for (path, want) in [
            (".git", true),
            ("vendor/lib/.git", true),
            (".gitignore", false),
            (".ralph", true),
            (".ralphrc", false),
            ("sub/.ralph", false),
            (".skillpack", true),
            (".claude", false),
            (".claude/ralph-loop.local.md", true),
            (".claude/ralph-notes.md", false),
            (".claude/progress.local.md", true),
            (".claude/settings.json", false),
            ("sub/.claude/ralph-loop.local.md", false),
            ("tasks.md", true),
            ("sub/tasks.md", false),
            ("specs/001/tasks.md", true),
            ("plan", true),
            ("x", false),
        ] {
            let path = Path::new(path);
            let got = excludes.contains(path.parent().unwrap(), path.file_name().unwrap());
            assert_eq!(got, want, "{}", path.display());
        }
    }
}
