//! The tree of a lane: a folder with a repository of its own, which takes its
//! objects from the person's. Whatever an agent does with branches, the stash
//! or the configuration, it does there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ralph_store::home::StateHome;
use ralph_store::layout::{RunId, refuse_links};

use super::repo::{Repo, Tree};
use crate::git;

/// A list of files that are brought along although Git ignores them.
const INCLUDE: &str = ".worktreeinclude";

/// Where the trees of a run's lanes are: its own, since another run may begin
/// before it is taken up again.
pub(crate) fn place(home: &StateHome, root: &Path, run: &RunId) -> PathBuf {
    place_of_project(home, root).join(run.as_str())
}

/// Where those of all runs are. They are beside the state, not in it: the state
/// is closed to agents, and a tree is where one works.
pub(crate) fn place_of_project(home: &StateHome, root: &Path) -> PathBuf {
    let state = home.of_project(root);
    let name = state.file_name().unwrap_or_default().to_owned();
    let beside = home.dir().parent().unwrap_or(home.dir());
    beside.join("ralph-trees").join(name)
}

/// The tree of a lane; 0 is the one in which results are checked.
pub(crate) fn of(place: &Path, lane: u32) -> Tree {
    Tree {
        dir: place.join(lane.to_string()),
        index: place.join(format!("{lane}.index")),
    }
}

impl Tree {
    /// The project in it.
    pub fn project(&self, repo: &Repo) -> PathBuf {
        let inside = repo.root.strip_prefix(&repo.top).unwrap_or(Path::new(""));
        self.dir.join(inside)
    }

    /// Makes it what a tree says, above a commit; its repository is new.
    /// `include` names files that it gets although Git ignores them.
    pub fn set_up(
        &self,
        repo: &Repo,
        (oid, base): (&str, &str),
        include: &[String],
    ) -> io::Result<()> {
        private(self.dir.parent().unwrap_or(&self.dir))?;
        let is_new = !self.dir.exists();
        if is_new {
            // An index without its files would have them all deleted.
            let _ = fs::remove_file(&self.index);
        }
        repo.put(self, oid)?;
        self.begin_repository(repo, base)?;
        if is_new {
            self.bring_along(repo, include)?;
        }
        Ok(())
    }

    /// The same for one that stands and in which nobody works: its repository
    /// stays, since a wall may hold on to it.
    pub fn move_to(&self, repo: &Repo, oid: &str, base: &str) -> io::Result<()> {
        repo.put(self, oid)?;
        self.stand_on(base)
    }

    fn git(&self, arguments: &[&str]) -> io::Result<()> {
        let output = git::in_own_repository(&self.dir, arguments)?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let verb = arguments.first().copied().unwrap_or_default();
        Err(io::Error::other(format!("git {verb}: {}", words.trim())))
    }

    fn stand_on(&self, base: &str) -> io::Result<()> {
        self.git(&["update-ref", "HEAD", base])?;
        self.git(&["read-tree", base])?;
        // What differs is the work so far; what does not is not looked at twice.
        let _ = self.git(&["update-index", "-q", "--refresh"]);
        Ok(())
    }

    fn begin_repository(&self, repo: &Repo, base: &str) -> io::Result<()> {
        let dot_git = self.dir.join(".git");
        match fs::symlink_metadata(&dot_git) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&dot_git)?,
            Ok(_) => fs::remove_file(&dot_git)?,
            Err(_) => {}
        }
        let format = match base.len() {
            64 => "--object-format=sha256",
            _ => "--object-format=sha1",
        };
        self.git(&["init", "-q", format])?;
        let info = dot_git.join("objects/info");
        fs::create_dir_all(&info)?;
        let objects = repo.objects()?;
        fs::write(info.join("alternates"), format!("{}\n", objects.display()))?;
        if let Some(common) = git::common_dir(&repo.top) {
            let shallow = common.join("shallow");
            if shallow.is_file() {
                fs::copy(shallow, dot_git.join("shallow"))?;
            }
            let exclude = common.join("info/exclude");
            if exclude.is_file() {
                fs::create_dir_all(dot_git.join("info"))?;
                fs::copy(exclude, dot_git.join("info/exclude"))?;
            }
        }
        let (name, email) = &repo.person;
        self.git(&["config", "user.name", name])?;
        self.git(&["config", "user.email", email])?;
        self.git(&["symbolic-ref", "HEAD", "refs/heads/lane"])?;
        self.stand_on(base)
    }

    /// Files that the project needs and Git ignores, where the person listed
    /// them.
    fn bring_along(&self, repo: &Repo, include: &[String]) -> io::Result<()> {
        let list = Some(repo.top.join(INCLUDE)).filter(|list| list.is_file());
        if list.is_none() && include.is_empty() {
            return Ok(());
        }
        for name in repo.included(list.as_deref(), include) {
            let (from, to) = (repo.top.join(&name), self.dir.join(&name));
            let is_file = fs::symlink_metadata(&from).is_ok_and(|found| found.is_file());
            if !is_file || fs::symlink_metadata(&to).is_ok() {
                continue;
            }
            copy_within(&self.dir, &from, &to)?;
        }
        Ok(())
    }

    /// Takes it away, with its index.
    pub fn remove(&self) -> io::Result<()> {
        let gone = |result: io::Result<()>| match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        };
        gone(fs::remove_dir_all(&self.dir))?;
        gone(fs::remove_file(&self.index))
    }
}

/// Copies a file to where no link of the tree leads out of it.
pub(super) fn copy_within(tree: &Path, from: &Path, to: &Path) -> io::Result<()> {
    refuse_links(tree, to).map_err(io::Error::other)?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to).map(drop)
}

/// A folder for this user alone.
fn private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}
