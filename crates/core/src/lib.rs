//! The pure heart of Ralph Loop.
//!
//! Nothing in this crate touches a file, a process, the network, the clock or
//! the environment: time and observations arrive inside arguments, decisions
//! leave as data. See `ARCHITECTURE.md`.

extern crate self as ralph_core;

pub mod checkpoint;
pub mod config;
pub mod delta;
pub mod display;
pub mod flow;
pub mod forge;
pub mod gate;
pub mod governor;
pub mod integrity;
pub mod jsonc;
pub mod lang;
pub mod machine;
mod markdown;
pub mod notify;
pub mod overview;
pub mod phases;
pub mod platforms;
pub mod promise;
pub mod proof;
pub mod report;
pub mod route;
pub mod session;
pub mod tasks;
pub mod template;
pub mod text;
pub mod usage;
mod wire;

pub use ralph_texts::{text, texts, tr};

ralph_texts::texts!();
