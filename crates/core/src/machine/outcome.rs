//! How a run can end, and why.

use serde::{Deserialize, Serialize};

use super::Need;
use crate::flow::Escalation;
use crate::forge::ForgeNeed;

/// The end of a run. Its name is what `--json` prints, its exit code what the
/// shell sees (LOOP-15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Outcome {
    Complete,
    Paused {
        reason: PauseReason,
    },
    /// Everything is done as far as the checks can see, and these tasks are
    /// not shown as well as was asked for.
    Unproven {
        tasks: Vec<String>,
    },
    /// A check can't be run at all: nothing was begun.
    NoCheck {
        command: String,
    },
    Blocked {
        reason: String,
    },
    CircuitBreak {
        rule: BreakerRule,
    },
    Errors,
    GateFailed {
        reason: String,
    },
    Budget {
        limit: String,
    },
    /// A limit that ends the run instead of pausing it (`on_limit = "stop"`).
    Limit {
        limit: Limit,
    },
    Cancelled,
    Interrupted,
}

impl Outcome {
    pub fn exit_code(&self) -> u8 {
        match self {
            Outcome::Complete => 0,
            Outcome::NoCheck { .. } => 1,
            Outcome::Paused { .. }
            | Outcome::Unproven { .. }
            | Outcome::Limit { .. }
            | Outcome::Cancelled => 3,
            Outcome::Blocked { .. } => 4,
            Outcome::CircuitBreak { .. } => 5,
            Outcome::Errors => 6,
            Outcome::GateFailed { .. } => 7,
            Outcome::Budget { .. } => 8,
            Outcome::Interrupted => 130,
        }
    }

    /// Whether the run only waits to be taken up again. All others are over
    /// and are archived (HIST-06), though a failed one may be tried again.
    pub fn can_go_on(&self) -> bool {
        match self {
            Outcome::Paused { .. }
            | Outcome::Unproven { .. }
            | Outcome::Interrupted
            | Outcome::Budget { .. } => true,
            Outcome::Complete
            | Outcome::NoCheck { .. }
            | Outcome::Blocked { .. }
            | Outcome::CircuitBreak { .. }
            | Outcome::Errors
            | Outcome::GateFailed { .. }
            | Outcome::Limit { .. }
            | Outcome::Cancelled => false,
        }
    }

    /// The `status` of `status.json` (STAT-03).
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Unproven { .. } => "unproven",
            Outcome::Limit { limit }
            | Outcome::Paused {
                reason: PauseReason::Limit(limit),
            } if *limit != Limit::Duration => "max_iterations",
            Outcome::Paused { .. }
            | Outcome::Limit { .. }
            | Outcome::Interrupted
            | Outcome::Budget { .. } => "paused",
            Outcome::Blocked { .. } => "blocked",
            Outcome::CircuitBreak { .. } => "circuit_break",
            Outcome::Errors | Outcome::NoCheck { .. } | Outcome::GateFailed { .. } => "error",
            Outcome::Cancelled => "cancelled",
        }
    }

    /// The reason in one machine-readable word or in the agent's own words;
    /// empty where the outcome says it all.
    pub fn reason(&self) -> &str {
        match self {
            Outcome::Paused { reason } => reason.into(),
            Outcome::Blocked { reason } | Outcome::GateFailed { reason } => reason,
            Outcome::CircuitBreak { rule } => rule.into_str(),
            Outcome::Budget { limit } => limit,
            Outcome::Limit { limit } => limit.into_str(),
            Outcome::NoCheck { command } => command,
            Outcome::Unproven { .. } => "unproven",
            Outcome::Complete | Outcome::Errors | Outcome::Cancelled | Outcome::Interrupted => "",
        }
    }
}

/// Why a run waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PauseReason {
    /// A limit was reached.
    #[strum(transparent)]
    Limit(Limit),
    /// A person asked for it.
    Requested,
    /// It was complete, and a person took work back.
    Undone,
    /// The agent says that it is done, and nothing was set up that could
    /// prove it.
    Unproven,
    /// The disk does not take what the run has to write.
    Disk,
    /// The client ran a tool without asking our guard (S-01).
    Unguarded,
    /// No agent can be called until a person has seen to something.
    #[strum(transparent)]
    Agent(Need),
    /// The roles can't agree: a person has to look.
    #[strum(transparent)]
    Escalated(Escalation),
    /// A person has to see to the pull request or its CI.
    #[strum(transparent)]
    Forge(ForgeNeed),
    /// Everything that is left waits for an answer, and nobody gave one.
    Question,
    /// Everything that is left depends on what nobody does (TASK-10).
    Depends,
}

/// The limits that pause a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Limit {
    #[strum(to_string = "max_iterations")]
    Iterations,
    #[strum(to_string = "max_duration")]
    Duration,
    #[strum(to_string = "max_dispatches")]
    Dispatches,
}

/// The rules that can open the circuit breaker. Each has a counter and a
/// threshold of its own (BRKR-02, BRKR-07, ERRC-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum BreakerRule {
    MissingPromise,
    Stalled,
    SameError,
    FalsePromise,
}

/// What kind of thing went wrong in a turn (ERRC-07). A rejected claim, a red
/// check, a verdict and CI are no errors: each has a notice of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ErrorClass {
    AgentExec,
    AgentTimeout,
    AgentMissing,
    TaskNotFound,
    FileOp,
    RateLimited,
    /// The service is overloaded, out of order or not to be reached.
    Unavailable,
}

impl ErrorClass {
    /// Whether it counts toward the limit of consecutive errors (ERRC-01).
    pub fn counts(self) -> bool {
        !matches!(self, ErrorClass::RateLimited | ErrorClass::Unavailable)
    }
}
