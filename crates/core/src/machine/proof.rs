//! What a run can show for its end.

use serde_json::{Value, json};

use crate::forge::ForgeProof;

/// Something that Ralph saw with its own eyes.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Counted in the task file.
    Tasks { completed: usize, total: usize },
    /// A command that Ralph ran ended with 0.
    Command { command: String, duration_ms: u64 },
    /// Phases of a flow whose files are there, and whose review passed.
    Phases { completed: usize, total: usize },
    /// The forge showed it.
    Forge(ForgeProof),
}

impl Proof {
    pub fn to_json(&self) -> Value {
        match self {
            Proof::Tasks { completed, total } => {
                json!({"kind": "tasks", "completed": completed, "total": total})
            }
            Proof::Phases { completed, total } => {
                json!({"kind": "phases", "completed": completed, "total": total})
            }
            Proof::Command {
                command,
                duration_ms,
            } => {
                json!({"kind": "command", "command": command, "exit": 0, "duration_ms": duration_ms})
            }
            Proof::Forge(proof) => proof.to_json(),
        }
    }
}
