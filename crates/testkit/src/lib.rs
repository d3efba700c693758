//! Plays the outside world for tests with real agent clients.
//!
//! The model server speaks the streaming APIs that the clients speak, on
//! loopback, and answers from a script. No part of the product depends on
//! this crate.

mod api;
#[cfg(unix)]
pub mod github;
mod http;
mod lanes;
pub mod limits;
mod record;
mod script;
mod server;

pub use record::Request;
pub use script::{Call, Refusal, Script, Select, Turn, Usage};
pub use server::{ModelServer, Report};
