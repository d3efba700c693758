//! Supervision with real processes: every way a child can end, and what is
//! left of it afterwards.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod endings;
mod groups;
mod kit;
#[cfg(target_os = "linux")]
mod memory;
mod output;
mod starting;
