//! Pull requests and CI, as far as they can be judged without asking anybody:
//! what the checks of a commit add up to, which phase that is, why a check
//! failed, and every text about it.
//!
//! A forge (GitHub, GitLab) is asked by the engine; what it answered comes in
//! here as plain data that knows no forge.

mod cause;
mod note;
mod notice;
mod phase;
mod rules;
mod say;
mod sight;
#[cfg(test)]
mod tests;

pub use cause::{Cause, Diagnosis, Failure, diagnose};
pub use note::{ForgeNote, p0_prompt, p1_prompt};
pub use notice::ForgeNotice;
pub use phase::{Phase, PhaseReport, Unknown};
pub use rules::{Bounds, ForgeRules, MergeMethod, MergeWho};
pub use say::{ForgeNeed, ForgeProof};
pub use sight::{
    Check, CheckState, Ci, GateFinding, Local, Pull, PullState, Sight, Trouble, TroubleKind,
    aggregate,
};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What the machine asks a forge for. Only the last five go outward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgeAsk {
    /// Look at the gate, the branch, the pull request and its checks.
    Look {
        /// The pull request that this run is about, once it is known.
        number: Option<u64>,
        /// The phase whose quality gate is judged; `None` leaves it out.
        gate: Option<Phase>,
    },
    /// Get the logs of what failed, and what fails on the base too.
    Examine { base: String, failed: Vec<Check> },
    /// An ordinary push of the branch; never forced.
    Push,
    /// Create the pull request of the branch.
    Create,
    /// Run what failed again, on the same commit.
    Rerun { runs: Vec<u64> },
    /// Merge exactly this commit.
    Merge { number: u64, commit: String },
    /// Delete the branch of a pull request that was merged, on the forge.
    Delete { branch: String },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgeAnswer {
    Looked(Box<Sight>),
    Examined {
        /// The failing part of the logs, cut and without secrets.
        log: String,
        /// Names of checks that fail on the base too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        on_base: Vec<String>,
    },
    Pushed {
        commit: String,
    },
    Created {
        url: String,
    },
    Rerun,
    /// A hook may not wait any longer; CI runs on.
    NoTime,
    /// The forge took the order; whether it merged is looked at.
    Merged,
    /// The branch is gone on the forge.
    Deleted,
    /// It could not be done, or not be known.
    Failed(Trouble),
}

/// What the machine remembers about pull request and CI. It is rebuilt by
/// replaying the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    pub number: Option<u64>,
    pub branch: String,
    /// What the agent claimed in its last turn.
    pub claim: Option<String>,
    /// The commit whose checks are waited for or judged.
    pub commit: Option<String>,
    /// The head before a push: until the forge shows another, it has not seen
    /// the push.
    pub before_push: Option<String>,
    /// Since when this commit is waited for, on the wall clock.
    pub since: Option<i64>,
    /// The last commit that the agent was called to repair.
    pub repaired: Option<String>,
    /// Times that the agent was called, or CI was run again, by cause.
    pub spent: BTreeMap<Cause, u32>,
    /// How often the failed checks of a commit were run again.
    pub reruns: BTreeMap<String, u32>,
    /// The jobs that failed before they were run again: the forge may show
    /// them for a while.
    pub lost_jobs: BTreeSet<u64>,
    /// The run sleeps until the next look.
    pub waits: bool,
    /// The turn that runs was only told that CI is not done: it can't make
    /// progress (BRKR-08).
    pub idle: bool,
    /// Troubles of the forge in a row.
    pub troubles: u32,
    pub merge_ordered: bool,
    /// The branch on the forge was deleted, or can't be.
    pub deleted: bool,
    /// Our own checks passed.
    pub verified: bool,
    /// We created the pull request.
    pub created: bool,
    /// It was told that CI of this commit is green.
    pub told_green: bool,
    /// The last thing that was seen, for messages.
    pub checks: Vec<Check>,
}
