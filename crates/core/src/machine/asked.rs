//! What a run asks for before it believes a tick or a claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::proof::level::{AskedProof, EvidenceLevel};

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
    /// How well work has to be shown; runs of before asked for a green check.
    #[serde(default, skip_serializing_if = "is_claimed")]
    pub level: EvidenceLevel,
    /// How often work that no experiment shows is sent back, for each check.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub asks: u32,
    /// What tasks ask for by a person's word, as they stood in the task file
    /// when the run began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub proofs: BTreeMap<String, AskedProof>,
    /// Check files that tasks may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_change: Vec<String>,
    /// Rewritten tests are asked about, not told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_about_changed: bool,
    /// Whether ticks may be judged beside the next turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_claimed(level: &EvidenceLevel) -> bool {
    *level == EvidenceLevel::Claimed
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
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
