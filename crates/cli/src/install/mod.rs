//! What Ralph adds to a project so that an agent calls it: entries in the
//! agent's own settings, slash commands, a plugin. `ralph init` adds it,
//! `ralph uninstall` takes exactly that away, `ralph doctor` looks whether it
//! works.

pub mod change;
pub mod hosts;
pub mod manifest;
pub mod merge;
pub mod problem;
pub mod program;
pub mod templates;
#[cfg(test)]
mod tests;

/// The agent's cap on blocks in a row (STOP-08).
pub const CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// What the agent takes where nothing else is said.
pub const DEFAULT_CAP: u32 = 8;
