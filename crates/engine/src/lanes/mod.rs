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

use ralph_store::home::StateHome;
use ralph_store::layout::Layout;

use crate::git;

pub(crate) use self::bring::Brought;
pub use self::governor::{Governor, say};
pub use self::ports::Ports;
pub(crate) use self::runner::{Heard, Lanes};
pub(crate) use self::set_up::{get_ready, set_up, tick};
pub use self::words::{Assignment, LANE_MODE, Said};

/// Takes the trees of a project's lanes away, and what Ralph knew of them.
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
    fs::remove_dir_all(place)
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
    pub lane: u32,
    pub root: PathBuf,
    pub bytes: u64,
}

/// The trees of a project's lanes, whoever left them.
pub fn trees(layout: &Layout) -> Vec<Left> {
    let place = tree::place(layout.home(), layout.root());
    let entries = fs::read_dir(&place).into_iter().flatten().flatten();
    let left = |entry: fs::DirEntry| {
        let lane = entry.file_name().to_str()?.parse().ok()?;
        let root = entry.path();
        root.is_dir().then(|| Left {
            lane,
            bytes: size_of(&root),
            root,
        })
    };
    let mut left: Vec<Left> = entries.filter_map(left).collect();
    left.sort_by_key(|left| left.lane);
    left
}

/// The project in the tree of a lane, where there is one.
pub fn project_in(layout: &Layout, lane: u32) -> Option<PathBuf> {
    let root = layout.root();
    let top = git::find_root(root)?;
    let tree = tree::of(&tree::place(layout.home(), root), lane);
    let project = tree.dir.join(root.strip_prefix(top).ok()?);
    project.is_dir().then_some(project)
}

/// Takes one of them away, with what Ralph knew of it.
pub fn remove(layout: &Layout, lane: u32) -> io::Result<()> {
    let place = tree::place(layout.home(), layout.root());
    let tree = tree::of(&place, lane);
    forget(layout.home(), &tree.dir);
    tree.remove()
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
