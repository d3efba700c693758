//! How somebody wants a run to come to its end.

use serde::{Deserialize, Serialize};

/// Ordered by strength: a later request never takes a stronger one back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// End after the turn that runs.
    Pause,
    /// End the turn gracefully, now.
    Interrupt,
    /// Kill the turn.
    Kill,
    /// Like an interrupt, and the run is given up.
    Cancel,
}
