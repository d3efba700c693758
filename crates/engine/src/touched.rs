//! Which files a run changed (DELT-09, CKPT-04): what differs from the commit
//! that it began at, and what Git does not know, without what lay there
//! before and stayed as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::RunPaths;
use serde::{Deserialize, Serialize};

use crate::git::{self, Differs};

/// In the run's own folder: what was not committed when it began. It is only
/// there where there was something.
const BEGUN: &str = "files.begun";

/// More than anybody reads.
const MOST_FILES: usize = 10_000;

/// The files that a run changed, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    pub created: Vec<String>,
    /// What was removed as well.
    pub modified: Vec<String>,
}

impl Touched {
    pub fn count(&self) -> usize {
        self.created.len() + self.modified.len()
    }
}

/// Enough to see that nobody wrote to a file; none for one that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    bytes: u64,
    changed_ns: u64,
}

type Begun = BTreeMap<String, Option<Stamp>>;

/// Writes down what is not committed at the beginning of a run.
pub fn begin(root: &Path, paths: &RunPaths, commit: Option<&str>) -> Result<(), FileError> {
    let there: Begun = differing(root, commit)
        .unwrap_or_default()
        .into_keys()
        .map(|path| {
            let stamp = stamp(root, &path);
            (path, stamp)
        })
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    let text = serde_json::to_vec(&there).unwrap_or_default();
    let options = AtomicOptions { durable: false };
    write_atomic(&paths.dir.join(BEGUN), &text, options)
}

fn begun(paths: &RunPaths) -> Begun {
    let text = fs::read(paths.dir.join(BEGUN)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Files that Git does not know and that were not there, or not so, when the
/// run began.
pub fn new_files(root: &Path, paths: &RunPaths) -> Option<Vec<String>> {
    let begun = begun(paths);
    let is_new = |path: &String| begun.get(path) != Some(&stamp(root, path)) && !is_own(path);
    let unknown = git::untracked(root, MOST_FILES)?.into_iter();
    Some(unknown.filter(is_new).collect())
}

/// What the run changed up to now; `None` where Git can't tell.
pub fn since(root: &Path, paths: &RunPaths, commit: Option<&str>) -> Option<Touched> {
    let begun = begun(paths);
    let mut touched = Touched::default();
    for (path, how) in differing(root, commit)? {
        match begun.get(&path) {
            Some(before) if *before == stamp(root, &path) => {}
            None if how == Differs::Added => touched.created.push(path),
            _ => touched.modified.push(path),
        }
    }
    Some(touched)
}

/// Everything that is not as it is in the commit, by its name.
fn differing(root: &Path, commit: Option<&str>) -> Option<BTreeMap<String, Differs>> {
    git::find_root(root)?;
    let known = git::differing(root, commit, MOST_FILES)?;
    let unknown = git::untracked(root, MOST_FILES)?;
    let unknown = unknown.into_iter().map(|path| (path, Differs::Added));
    let all = known.into_iter().chain(unknown);
    Some(all.filter(|(path, _)| !is_own(path)).collect())
}

/// The state files of loops are nobody's work.
fn is_own(path: &str) -> bool {
    path.starts_with(".claude/") && path.ends_with(".local.md")
}

fn stamp(root: &Path, path: &str) -> Option<Stamp> {
    let found = fs::symlink_metadata(root.join(path)).ok()?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Stamp {
        bytes: found.len(),
        changed_ns: u64::try_from(changed.as_nanos()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_store::layout::new_run_id;
    use std::process::Command;

    struct Project {
        dir: tempfile::TempDir,
        paths: RunPaths,
    }

    impl Project {
        fn new() -> Project {
            let dir = tempfile::tempdir().unwrap();
            let layout = crate::layout_in(dir.path());
            layout.prepare().unwrap();
            let paths = layout.create_run(&new_run_id(0, 1)).unwrap();
            let project = Project { dir, paths };
            project.git(&["init", "-q"]);
            project
        }

        fn git(&self, args: &[&str]) {
            let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
            let status = Command::new("git")
                .args(identity)
                .args(args)
                .current_dir(self.dir.path())
                .status();
            assert!(status.unwrap().success(), "{args:?}");
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.dir.path().join(name), text).unwrap();
        }

        fn commit(&self) -> String {
            self.git(&["add", "-A"]);
            self.git(&["commit", "-qm", "x"]);
            git::head(self.dir.path()).commit.unwrap()
        }

        fn check(&self, commit: Option<&str>, created: &[&str], modified: &[&str]) {
            let touched = since(self.dir.path(), &self.paths, commit).unwrap();
            assert_eq!(touched.created, created);
            assert_eq!(touched.modified, modified);
        }
    }

    #[test]
    fn work_is_what_changed_since_the_run_began() {
        let project = Project::new();
        for name in ["kept", "changed", "removed", "dirty", "dirty-too"] {
            project.write(name, "1");
        }
        let commit = project.commit();
        for name in ["dirty", "dirty-too", "lay-there", "lay-there-too"] {
            project.write(name, "before the run");
        }
        begin(project.dir.path(), &project.paths, Some(&commit)).unwrap();
        project.check(Some(&commit), &[], &[]);

        project.write("changed", "2");
        project.write("new", "2");
        project.write("dirty-too", "in the run");
        project.write("lay-there-too", "in the run");
        fs::remove_file(project.dir.path().join("removed")).unwrap();
        fs::create_dir_all(project.dir.path().join(".claude")).unwrap();
        project.write(".claude/ralph-delta.local.md", "state");
        let modified = ["changed", "dirty-too", "lay-there-too", "removed"];
        project.check(Some(&commit), &["new"], &modified);
        // What is committed on the way is told as before.
        project.commit();
        project.check(Some(&commit), &["new"], &modified);
    }

    #[test]
    fn a_repository_without_a_commit_has_only_new_files() {
        let project = Project::new();
        project.write("lay-there", "1");
        begin(project.dir.path(), &project.paths, None).unwrap();
        project.write("new", "1");
        project.check(None, &["new"], &[]);
        project.commit();
        project.check(None, &["new"], &[]);
    }

    #[test]
    fn without_git_nobody_can_tell() {
        let dir = tempfile::tempdir().unwrap();
        let layout = crate::layout_in(dir.path());
        layout.prepare().unwrap();
        let paths = layout.create_run(&new_run_id(0, 1)).unwrap();
        begin(dir.path(), &paths, None).unwrap();
        assert_eq!(since(dir.path(), &paths, None), None);
        assert!(!paths.dir.join(BEGUN).exists());
    }
}
