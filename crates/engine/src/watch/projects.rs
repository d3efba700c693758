//! The projects on this machine in which Ralph ran, for `--all`.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use ralph_store::home::{Known, StateHome};

/// The projects that are still there, the one that ran last first.
pub fn known_projects(home: &StateHome) -> Vec<PathBuf> {
    let ran = |known: &Known| -> Option<SystemTime> {
        fs::metadata(known.dir.join("runs")).ok()?.modified().ok()
    };
    let known = home.known().into_iter();
    let mut known: Vec<_> = known
        .filter(|known| known.root.is_dir())
        .filter_map(|known| Some((ran(&known)?, known.root)))
        .collect();
    known.sort();
    known.into_iter().rev().map(|(_, root)| root).collect()
}
