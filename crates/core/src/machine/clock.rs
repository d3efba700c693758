//! Time as an input of the machine.

use serde::{Deserialize, Serialize};

/// The moment at which an event happened, as the driver saw it.
///
/// `wall_ms` is for people and for reset times; `steady_ms` only ever grows,
/// also while the machine is suspended, and is what durations are taken from,
/// so that a clock that jumps moves no deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    pub wall_ms: i64,
    pub steady_ms: u64,
}

/// How long the run has worked, over all its processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    elapsed_ms: u64,
    last: Option<Now>,
}

impl Clock {
    /// Moves on to `now`. A steady clock that went backwards belongs to
    /// another boot and adds nothing.
    pub fn advance(&mut self, now: Now) {
        if let Some(last) = self.last {
            self.elapsed_ms += now.steady_ms.saturating_sub(last.steady_ms);
        }
        self.last = Some(now);
    }

    /// Starts counting afresh from `now`: the time since the last event was
    /// spent by no process of this run.
    pub fn restart(&mut self, now: Now) {
        self.last = Some(now);
    }

    pub fn elapsed_ms(&self) -> u64 {
        self.elapsed_ms
    }

    pub fn now(&self) -> Now {
        self.last.unwrap_or_default()
    }
}

/// `2026-01-18T10:00:00Z`, as every machine-read time is written.
pub fn iso_utc(wall_ms: i64) -> String {
    let seconds = wall_ms.div_euclid(1000);
    jiff::Timestamp::from_second(seconds)
        .map_or_else(|_| String::from("1970-01-01T00:00:00Z"), |t| t.to_string())
}
