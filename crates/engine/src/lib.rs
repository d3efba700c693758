//! Drives agents from the outside: processes, files, time. What is decided is
//! decided in `ralph-core`; this crate looks at the world and acts, and never
//! prints.

pub mod agents;
pub mod supervise;
