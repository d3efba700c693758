//! How a run is shown: to people, to programs, and before it begins.

pub mod blocks;
mod columns;
mod dry_run;
mod json;
mod live;
pub mod menu;
mod people;

pub use columns::columns;
pub use dry_run::DryRun;
pub use json::JsonLines;
pub use live::time as elapsed;
pub use people::{People, said_text};
