//! The only writer of run state: journal, atomic files, lock, log, events and
//! checkpoints.
//!
//! Everything here is plain blocking `std`, so that a hook can use it without
//! a runtime. All writes pass through one private module, `sys`, and there
//! through points at which a test build can make each of them fail by name
//! (see [`fault`]).

pub mod atomic;
pub mod checkpoint;
pub mod error;
pub mod events;
pub mod fault;
pub mod guard_log;
pub mod history;
pub mod home;
pub mod journal;
pub mod layout;
pub mod lines;
pub mod lock;
pub mod log;
pub mod objects;
pub mod old;
pub mod private;
mod process;
pub mod random;
pub mod regular;
pub mod stats;
mod sys;

pub use error::{Action, FileError};

ralph_core::texts!();
