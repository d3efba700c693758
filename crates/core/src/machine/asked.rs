//! What a run asks for before it believes a tick or a claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a run asks for before it believes a tick or a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    #[serde(default)]
    pub ticks: Ticks,
    /// The commands that tasks ask for themselves, by id, as they stood in
    /// the task file when the run began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub integrity: Integrity,
    /// A command runs the end-to-end tests.
    #[serde(default)]
    pub e2e: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ticks {
    /// A tick stands as the agent's.
    #[default]
    Agent,
    /// A tick without a green check is turned back.
    Proven,
}

/// What happens where checks were weakened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    #[default]
    Off,
    Warn,
    /// Nothing counts as proven until they are restored.
    Strict,
}
