//! What a run and the processes of its lanes say to each other: one JSON text
//! per line, over the standard streams, so that nobody else can join in and
//! each hears when the other is gone.

use std::path::PathBuf;

use ralph_core::machine::{Allowance, LaneHint};
use serde::{Deserialize, Serialize};

/// The first word of the arguments of a process that works in a lane.
pub const LANE_MODE: &str = "work-in-a-lane";

/// What a lane is to do: the first line that it reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The project that the run belongs to.
    pub project: PathBuf,
    pub run: String,
    pub lane: u32,
    /// The project within the lane's tree.
    pub root: PathBuf,
    /// Its task, with what is nested under it.
    pub tasks: Vec<String>,
    /// The task file, from the project.
    pub tasks_file: String,
    /// Objects that its repository takes from elsewhere.
    pub objects: PathBuf,
    pub note: Option<String>,
    /// What a person said to all of them.
    pub hints: Vec<LaneHint>,
    /// A run may be there that was not finished.
    pub goes_on: bool,
}

/// What a lane says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// It wants to call its agent.
    Ask,
    /// Its agent's service refuses until then, on the wall clock.
    Held { until: i64 },
    /// Its tree holds work that was made on top of this commit.
    Stands { base: String },
    /// Why it can't do anything.
    Failed { why: String },
}

/// What it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Go {
        not_before: i64,
        allowance: Allowance,
    },
    /// No other turn begins.
    Enough,
}
