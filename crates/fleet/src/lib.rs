//! Fleet: jobs on many machines, over NATS JetStream.
//!
//! `job` says what may happen to a job and knows no server; `board` does it on
//! one; `worker` takes jobs, `keeper` sees each through and hands the work itself
//! to a [`worker::Runner`]; `landing` lets one bring results onto a branch; `conf` writes what a server needs.

pub mod board;
pub mod conf;
mod error;
mod hold;
pub mod job;
mod keeper;
mod landing;
#[cfg(test)]
mod tests;
mod view;
pub mod worker;

pub use error::FleetError;
pub use keeper::limit_in;
pub use landing::{Lander, Turn};

ralph_core::texts!();

/// A new key of a user: what is secret of it, and what the server is told.
pub fn new_key() -> Option<(String, String)> {
    let pair = nkeys::KeyPair::new_user();
    Some((pair.seed().ok()?, pair.public_key()))
}
