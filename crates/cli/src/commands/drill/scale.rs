//! What is made smaller, so that a drill ends in minutes. Nothing that is off
//! is switched on, and no limit on errors or stalls is changed.

use std::time::Duration;

use ralph_core::config::Settings;

use super::faults::{Fault, Pace, Sizes};
use crate::args::{DrillArgs, DrillScale};

#[derive(Clone, Copy, Debug)]
pub struct Scale {
    turn: Duration,
    idle: Duration,
    deadline: Duration,
    sizes: Sizes,
}

/// A setting that has another value in the drill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub key: &'static str,
    pub to: String,
}

const LONG_TURN: Duration = Duration::from_secs(240);
const LONG_IDLE: Duration = Duration::from_secs(60);
const VERIFY: Duration = Duration::from_secs(60);

impl Scale {
    pub fn of(args: &DrillArgs) -> Scale {
        let mut scale = match args.scale {
            DrillScale::Full => Scale {
                turn: Duration::from_secs(2),
                idle: Duration::from_secs(1),
                deadline: Duration::from_secs(120),
                sizes: Sizes {
                    flood: 1 << 30,
                    line: 100 << 20,
                },
            },
            DrillScale::Small => Scale {
                turn: Duration::from_millis(600),
                idle: Duration::from_millis(300),
                deadline: Duration::from_secs(45),
                sizes: Sizes {
                    flood: 8 << 20,
                    line: 6 << 20,
                },
            },
        };
        if let Some(seconds) = args.deadline {
            scale.deadline = Duration::from_secs(seconds.max(1));
        }
        scale
    }

    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// How long the drill itself waits for the end of a run.
    pub fn deadline(&self, fault: Fault) -> Duration {
        match fault {
            // As long as the disk needs.
            Fault::Flood => self.deadline * 3,
            _ => self.deadline,
        }
    }

    pub fn changes(&self, settings: &Settings, fault: Fault) -> Vec<Change> {
        let (turn, idle) = match fault.pace() {
            Pace::Short => (self.turn, self.idle),
            Pace::Long => (LONG_TURN, LONG_IDLE),
        };
        let limits = &settings.limits;
        let mut changes = Vec::new();
        for (key, value, most) in [
            ("limits.iteration_timeout", limits.iteration_timeout, turn),
            ("limits.idle_timeout", limits.idle_timeout, idle),
            (
                "limits.max_duration",
                limits.max_duration,
                self.deadline / 2,
            ),
            (
                "verify.command_timeout",
                settings.verify.command_timeout,
                VERIFY,
            ),
        ] {
            if value > most {
                let to = setting(most);
                changes.push(Change { key, to });
            }
        }
        // Pauses are waited for, not tried out.
        for key in [
            "limits.pause_between",
            "agent.retry.initial",
            "rate.max_calls_per_hour",
        ] {
            let to = "0".into();
            changes.push(Change { key, to });
        }
        let to = "pause".into();
        changes.push(Change {
            key: "limits.on_limit",
            to,
        });
        changes
    }
}

/// A duration as it is written in the configuration.
pub fn setting(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, 0) => "0".into(),
        (seconds, 0) if seconds % 60 == 0 => format!("{}m", seconds / 60),
        (seconds, 0) => format!("{seconds}s"),
        _ => format!("{}ms", time.as_millis()),
    }
}
