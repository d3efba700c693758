//! What a run can show for its end.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::forge::ForgeProof;
use crate::proof::level::EvidenceLevel;

/// Something that Ralph saw with its own eyes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// Counted in the task file.
    Tasks { completed: usize, total: usize },
    /// How well the tasks of this run are shown, and how many each.
    Shown {
        counts: BTreeMap<EvidenceLevel, usize>,
    },
    /// A command that Ralph ran ended with 0.
    #[serde(serialize_with = "command_fields")]
    Command { command: String, duration_ms: u64 },
    /// Phases of a flow whose files are there, and whose review passed.
    Phases { completed: usize, total: usize },
    /// The forge showed it.
    #[serde(untagged)]
    Forge(ForgeProof),
}

fn command_fields<S: Serializer>(
    command: &str,
    duration_ms: &u64,
    to: S,
) -> Result<S::Ok, S::Error> {
    json!({"command": command, "exit": 0, "duration_ms": duration_ms}).serialize(to)
}
