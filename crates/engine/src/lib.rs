//! Drives agents from the outside: processes, files, time. What is decided is
//! decided in `ralph-core`; this crate looks at the world and acts, and never
//! prints.

mod agent_log;
pub mod agents;
pub mod announcement;
pub mod archive;
pub mod baseline;
pub mod before;
pub mod bisect;
pub mod clock;
pub mod control;
mod decode;
mod doubt;
pub mod driver;
pub mod error;
mod excerpt;
pub mod flows;
pub mod forge;
pub mod gate;
pub mod git;
mod guarded;
pub mod header;
mod index_lock;
pub mod integrity;
pub mod keeping;
mod kept;
pub mod lanes;
pub mod ledger;
pub mod look;
pub mod mailbox;
pub mod neighbour;
pub mod notify;
pub mod opening;
mod openspec;
pub mod past;
mod perform;
mod phase_file;
pub mod plan;
pub mod projections;
pub mod prompt;
pub mod record;
pub mod rehearse;
pub mod report;
mod reproduce;
pub mod room;
pub mod session;
pub mod signals;
pub mod snapshots;
pub mod steer;
pub mod supervise;
pub mod task_file;
pub mod terminal;
pub mod told;
mod touched;
pub mod trials;
pub mod turn;
pub mod verify;
pub mod wall;
pub mod watch;
pub mod worktree;

ralph_core::texts!();

/// A project of a test, which keeps its state within itself.
#[cfg(test)]
pub(crate) fn layout_in(root: &std::path::Path) -> ralph_store::layout::Layout {
    let home = ralph_store::home::StateHome::at(root.join(".ralph/state"));
    ralph_store::layout::Layout::new(root, &home)
}
