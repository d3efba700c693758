//! Where runs and checkpoints are kept, and how many.

use std::path::{Path, PathBuf};

use ralph_core::config::Settings;
use ralph_store::history::History;

/// Where runs are kept, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeping {
    pub history: History,
    /// The working directory of other tools, `.skillpack/current`.
    pub current: PathBuf,
    pub keep: usize,
    /// How much the state folder may hold; 0 where that is no matter.
    pub state_max: u64,
    /// A finished OpenSpec change is archived as well.
    pub openspec: bool,
}

impl Keeping {
    pub fn new(root: &Path, settings: &Settings) -> Keeping {
        Keeping {
            history: History::new(root.join(&settings.history.dir)),
            current: root.join(&settings.checkpoint.dir),
            keep: usize::try_from(settings.history.keep).unwrap_or(usize::MAX),
            state_max: settings.history.state_max,
            openspec: settings.history.openspec,
        }
    }
}

/// What is projected, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointPlan {
    pub enabled: bool,
    /// Completed tasks between two checkpoints; 0 for phases only.
    pub interval: u32,
    pub backups: u32,
    pub dir: PathBuf,
    /// The state file would wake the Stop hooks of others, so that it is
    /// written only where it is asked for.
    pub delta: bool,
}
