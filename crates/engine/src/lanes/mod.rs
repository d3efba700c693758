//! Lanes: several tasks at once, each by a run of its own in a tree of its
//! own, and one branch onto which their results land one by one.
//!
//! The run that people see is the one that lands: its turns are landings, its
//! tree is the one in which results are checked. `core::machine::lanes` decides;
//! this does it. See `docs/design/lanes.md`.

mod bring;
pub mod governor;
pub mod plan;
mod ports;
mod repo;
mod runner;
mod set_up;
mod steered;
mod tree;
mod words;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ralph_core::machine::Seat;
use ralph_store::home::StateHome;
use ralph_store::layout::{Layout, RunId};
use ralph_store::regular;

use self::repo::Repo;
use crate::git;

pub use self::governor::{Governor, say};
pub use self::ports::Ports;
pub(crate) use self::runner::{Heard, Lanes};
pub(crate) use self::set_up::{fit, get_ready, set_up, tick};
pub use self::words::{Assignment, LANE_MODE, Said};

/// Takes the trees of a run's lanes away, and what Ralph knew of them.
pub(crate) fn clear(place: &Path, home: &StateHome) -> io::Result<()> {
    let entries = match fs::read_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries.flatten() {
        if entry.path().is_dir() {
            forget(home, &entry.path());
        }
    }
    fs::remove_dir_all(place)?;
    leave_empty(place.parent());
    Ok(())
}

/// Other runs may have trees there.
fn leave_empty(place: Option<&Path>) {
    let _ = place.map(fs::remove_dir);
}

/// What Ralph kept of runs in a tree goes with it.
fn forget(home: &StateHome, tree: &Path) {
    let real = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
    for known in home.known() {
        if known.root.starts_with(&real) {
            let _ = fs::remove_dir_all(&known.dir);
        }
    }
}

/// A tree of a lane that is there.
#[derive(Clone, Debug)]
pub struct Left {
    pub run: RunId,
    pub lane: u32,
    pub root: PathBuf,
}

impl Left {
    /// What it takes, found out by walking through it.
    pub fn bytes(&self) -> u64 {
        size_of(&self.root)
    }
}

/// The trees of a project's lanes, whoever left them; the oldest run first.
pub fn trees(layout: &Layout) -> Vec<Left> {
    let place = tree::place_of_project(layout.home(), layout.project());
    let run_of = |entry: &fs::DirEntry| RunId::parse(entry.file_name().to_str()?);
    let left = |run: &RunId, entry: &fs::DirEntry| {
        let lane = entry.file_name().to_str()?.parse().ok()?;
        let root = entry.path();
        root.is_dir().then(|| Left {
            run: run.clone(),
            lane,
            root,
        })
    };
    let mut trees = Vec::new();
    for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
        let Some(run) = run_of(&entry) else { continue };
        let lanes = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        trees.extend(lanes.filter_map(|entry| left(&run, &entry)));
    }
    trees.sort_by(|a, b| (&a.run, a.lane).cmp(&(&b.run, b.lane)));
    trees
}

/// The task list of a run with lanes as it stands at a commit of its branch,
/// with its name; `tasks_file` is where the run read it.
pub(crate) fn list_of(
    layout: &Layout,
    run: &RunId,
    tasks_file: &Path,
    commit: &str,
) -> Option<(String, Vec<u8>)> {
    let project = layout.project();
    let repo = Repo::open(project).ok()?;
    let tree = tree::of(&tree::place(layout.home(), project, run), 0);
    let name = tasks_file.strip_prefix(tree.project(&repo)).ok()?;
    let from_top = tasks_file.strip_prefix(&tree.dir).ok()?.to_str()?;
    let bytes = repo.bytes_of(commit, from_top);
    // One that Git ignores is ticked where the person has it.
    let bytes = bytes.or_else(|| regular::read(project.join(name)).ok())?;
    Some((name.display().to_string(), bytes))
}

/// The project in the tree of a run's lane, where there is one.
pub fn project_in(layout: &Layout, run: &RunId, lane: u32) -> Option<PathBuf> {
    let root = layout.root();
    let top = git::find_root(root)?;
    let tree = tree::of(&tree::place(layout.home(), root, run), lane);
    let project = tree.dir.join(root.strip_prefix(top).ok()?);
    project.is_dir().then_some(project)
}

/// Brings the work of a lane that did not land onto a branch of its own; gives
/// its name, or `None` where nothing was done.
pub fn keep_work(
    layout: &Layout,
    left: &Left,
    seat: &Seat,
    of: &str,
) -> io::Result<Option<String>> {
    let Some(base) = &seat.base else {
        return Ok(None);
    };
    let repo = Repo::open(layout.root())?;
    let place = tree::place(layout.home(), layout.root(), &left.run);
    let oid = repo.take(&tree::of(&place, left.lane), base, None)?;
    if oid == repo.tree_of(base)? {
        return Ok(None);
    }
    let title = format!(
        "{} {}\n",
        seat.task.id.trim_start_matches('#'),
        seat.task.text
    );
    let commit = repo.commit(&oid, base, &title)?;
    let branch = branch_of_task(of, &seat.task.id);
    let before = git::refs::tip(&repo.top, &branch);
    match git::refs::advance(&repo.top, &branch, before.as_deref(), &commit) {
        true => Ok(Some(branch)),
        false => Err(io::Error::other(format!("{branch} can't be moved"))),
    }
}

/// Where the work on a task goes that did not land.
fn branch_of_task(branch: &str, id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = id.chars().map(safe).collect();
    format!("{branch}-{}", slug.trim_matches('-'))
}

/// Takes one of them away, with what Ralph knew of it.
pub fn remove(layout: &Layout, left: &Left) -> io::Result<()> {
    let place = tree::place(layout.home(), layout.root(), &left.run);
    let tree = tree::of(&place, left.lane);
    forget(layout.home(), &tree.dir);
    tree.remove()?;
    leave_empty(Some(&place));
    leave_empty(place.parent());
    Ok(())
}

fn size_of(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
