//! Everything the loop can do.

use super::{Allowance, CheckScope, LaneOrder, Limit, Notice, Outcome, TaskRef};
use crate::flow::FlowTurn;
use crate::forge::ForgeAsk;
use crate::template::PromptNote;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell everybody who listens: log, event log, screen.
    Emit(Notice),
    RunAgent(Turn),
    /// Run the verification commands; `turn` names the work that is judged.
    /// `beside`: the next turn need not wait, where the work can be set aside;
    /// then come back with `SetAside` first.
    Verify {
        turn: u32,
        scope: CheckScope,
        beside: bool,
    },
    /// Run every check once, before anything is changed, and come back with
    /// `Preflighted`.
    Preflight,
    /// Empty the boxes of tasks whose ticks were turned back, look at the
    /// world, and come back with `Unticked`.
    Untick {
        ids: Vec<String>,
    },
    /// Run the end-to-end tests.
    RunE2e {
        turn: u32,
    },
    /// Tick and untick exactly these boxes, look at the world, and come back
    /// with `Marked`.
    Mark {
        tick: Vec<String>,
        untick: Vec<String>,
    },
    /// Run the commands that shall show what a review found, each of them, and
    /// come back with `Checked`.
    Check {
        turn: u32,
        commands: Vec<String>,
    },
    /// Bring the counts that the task file itself states in step with its
    /// boxes (TASK-11).
    KeepInStep,
    /// Sleep, look at the world, and come back with `Woke`.
    Wait {
        ms: u64,
        why: WaitReason,
    },
    /// End the child that runs: gracefully, or at once.
    StopChild {
        kill: bool,
    },
    /// Stop the child and ourselves, and come back with `Thawed`.
    Freeze,
    /// Show the menu of a limit. Where nobody sits at a terminal the driver
    /// answers that the run is saved.
    Ask(Limit),
    Finish(Outcome),
    /// Ask the forge, or Git, and come back with `Kind::Forge`.
    Forge(ForgeAsk),
    /// Something has to be done for the lanes, beside everything else.
    Lane(LaneOrder),
}

/// One call of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub turn: u32,
    /// Which call of the turn, from 1: a refused one is made again.
    pub attempt: u32,
    /// Its place in the chain of agents.
    pub agent: usize,
    /// What it may use.
    pub allowance: Allowance,
    /// Zero where nothing limits it. It counts while the machine is awake.
    pub timeout_ms: u64,
    /// What is left of the whole run; zero where nothing limits it. It also
    /// counts while the machine is suspended.
    pub left_ms: u64,
    pub phase: Option<String>,
    pub task: Option<TaskRef>,
    /// What the agent has to be told before its prompt.
    pub notes: Vec<PromptNote>,
    /// The role that is played, where a flow is followed.
    pub flow: Option<FlowTurn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WaitReason {
    /// `limits.pause_between`.
    #[strum(to_string = "pause_between")]
    Between,
    /// After an error; the driver may add jitter.
    Backoff,
    /// Our own `rate.max_calls_per_hour`.
    Rate,
    /// No agent can be called before a time on the wall clock.
    #[strum(to_string = "usage_limit")]
    Limit,
    /// The agent's service is overloaded; the driver may add jitter.
    Overload,
    /// CI runs; the driver may add jitter.
    Ci,
    /// Everything that is left waits for a person's answer.
    Answer,
    /// The breaker is open, and one more turn will be tried.
    Cooldown,
}
