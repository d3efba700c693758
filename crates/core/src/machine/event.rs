//! Everything that can wake the loop.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::request::Request;
use super::steer::{Steer, SteeredTask};
use super::{
    Budget, Denial, ErrorClass, FileClaims, LaneEvent, NewRules, Now, Proof, Refusal, SessionEvent,
    WallFacts,
};
use crate::flow::{Detected, RoleReport};
use crate::forge::ForgeAnswer;
use crate::integrity::Weakening;
use crate::promise::Promise;
use crate::proof::EvidenceLevel;
use crate::proof::trial::{Trial, Weighed};
use crate::tasks::{Counts, Moved, Waiting};
use crate::template::PromptNote;
use crate::usage::Usage;

/// Something happened at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: Now,
    #[serde(flatten)]
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// The run begins.
    Started { seen: Observation },
    /// A run that another process left is taken up again.
    Resumed {
        seen: Observation,
        /// What the person now allows, where that was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// What the settings say by now, where that is not what they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rules: Option<Box<NewRules>>,
    },
    /// A person gives up a run that no process drives.
    Abandoned,
    /// The agent's process is gone and the world was looked at.
    TurnEnded(TurnReport),
    /// The verification commands have run.
    Verified(VerifyReport),
    /// The work of a turn is judged on a copy, so that the next one can begin.
    SetAside { turn: u32 },
    /// Every check has run once, before the first turn.
    Preflighted(VerifyReport),
    /// A person says that these tasks are done.
    Accepted {
        tasks: Vec<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// Ticks that were turned back are empty boxes again, and the world was
    /// looked at; `left` could not be emptied.
    Unticked {
        seen: Observation,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<String>,
    },
    /// The end-to-end tests have run.
    E2eEnded { turn: u32, result: CommandResult },
    /// A pause is over and the world was looked at again.
    Woke { seen: Observation },
    /// A person does not want to wait any longer; the world was looked at.
    Nudged { seen: Observation },
    /// A person chose from the menu at a limit.
    Answered { answer: MenuAnswer },
    /// A run that is over is about to be put into the history.
    Archived { name: String },
    /// The guard's hook has blocked calls of the agent since the last time;
    /// `lines` of its log are taken in with this event.
    GuardBlocked { lines: u64, blocks: Vec<GuardBlock> },
    /// What stands around the children of the run from now on.
    Walled { wall: WallFacts },
    /// What the wall held back since the last time.
    Denied { denials: Vec<Denial> },
    /// Boxes were ticked or unticked by Ralph, and the world was looked at.
    Marked { seen: Observation },
    /// The reproducers of a review have run.
    Checked(VerifyReport),
    /// A person answers a question of the agent.
    Replied { question: u32, text: String },
    /// A person allows more turns or time; zero changes nothing.
    Extended {
        #[serde(default)]
        iterations: u32,
        #[serde(default)]
        duration_ms: u64,
    },
    /// Somebody wants the run to stop.
    Requested { request: Request },
    /// Somebody pressed Ctrl+Z: everything stands still.
    Frozen,
    /// Everything goes on; the time between belongs to nobody.
    Thawed,
    /// The forge, or Git, answered what it was asked for.
    Forge { answer: ForgeAnswer },
    /// A person brought the work back to what it was, or took that back.
    Undone(Undone),
    /// A person steers the run. What was seen is there only where nothing ran
    /// that the look belongs to.
    Steered {
        steer: Steer,
        /// The task that was added or changed, as it is called now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<Box<SteeredTask>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Box<Observation>>,
    },
    /// What only a loop inside a session has to know.
    Session(SessionEvent),
    /// What became of a lane.
    Lane(LaneEvent),
}

impl Kind {
    /// What was seen of the world, where somebody looked.
    pub(super) fn seen(&self) -> Option<&Observation> {
        match self {
            Kind::Started { seen }
            | Kind::Resumed { seen, .. }
            | Kind::Unticked { seen, .. }
            | Kind::Woke { seen }
            | Kind::Nudged { seen }
            | Kind::Marked { seen } => Some(seen),
            Kind::TurnEnded(report) => Some(&report.seen),
            Kind::Answered {
                answer: MenuAnswer::Simplify { seen, .. },
            } => Some(seen),
            Kind::Steered { seen, .. } | Kind::Undone(Undone { seen, .. }) => seen.as_deref(),
            _ => None,
        }
    }
}

/// It is written down before anything is touched, without what was seen, and
/// again when it is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    /// The work stands as it did after this turn; 0 is before the first.
    pub turn: u32,
    /// The snapshot of the work as it was before.
    pub before: String,
    /// The snapshot that it is brought back to.
    pub after: String,
    /// How many files that concerns.
    #[serde(default)]
    pub files: usize,
    /// It took an undo back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redo: bool,
    /// The branch went with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<BranchMove>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Box<Observation>>,
}

/// A branch that a person let go back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchMove {
    pub branch: String,
    pub from: String,
    pub to: String,
    /// The name under which the tip stays reachable.
    pub kept: String,
}

/// What the driver saw of the world, without asking the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub tasks: Tasks,
    /// Fingerprint of the work tree, untracked files included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Tree of the commit that `HEAD` names, so that an empty commit is no
    /// progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_tree: Option<String>,
    /// That commit, for who wants to go back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Files that the phases of a flow left, each with a digest of its
    /// contents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    /// Checks that are weaker than they were when the loop was armed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<Weakening>,
    /// What the state file of a delta loop says of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<FileClaims>,
    /// The files that the task was changed in, where that decides its risk, or
    /// that a role changed that may only look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The tree in which the work is kept as it stood, where it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Ticks of an earlier run that were not shown as well as was asked for,
    /// when a run begins.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub doubted: BTreeMap<String, EvidenceLevel>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every value is the large one, and an event holds one"
)]
pub enum Tasks {
    /// The run has no task file.
    #[default]
    None,
    Read(TaskFacts),
    /// There should be a task file, and it can't be used.
    Trouble {
        class: ErrorClass,
        /// In English, for programs.
        message: String,
        /// The same in the person's language, where that is another.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
}

/// What a task file says, within the scope of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskFacts {
    pub total: usize,
    pub completed: usize,
    pub pending: usize,
    /// Open tasks that nobody has to do (TASK-14).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub optional: usize,
    /// Key of the first phase with open tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<TaskRef>,
    /// The tasks that could be worked on now, `next` first, where there are
    /// others: they are taken while `next` waits for an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<TaskRef>,
    /// Tasks that come before `next` and wait for something (TASK-10).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Waiting>,
    /// The first few open tasks, for messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<TaskRef>,
    /// Tasks without ids that have other places than at the last look. What
    /// was known of them goes along before anything else is taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
    /// Tasks that stood in the file before and are gone (TASK-17).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Tasks that say something else than before, as they were (TASK-17).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reworded: Vec<TaskRef>,
    /// Tasks to whose words something was added, as they read now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarked: Vec<TaskRef>,
    /// Tasks below which lines are gone, with those lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinned: Vec<TaskRef>,
    /// Tasks that ever stood in the file during this run and are not there
    /// now, or say something else: whatever stands in their place proves
    /// nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Tasks that were done before and are open again (TASK-17).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unticked: Vec<String>,
    /// What a flow has to know, where one is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Box<FlowFacts>>,
    /// Of every task, its words and its mark: whether the list is the same is
    /// seen by this (RESM-08).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Tasks that are done and were open at the last look; every one that is
    /// done where this is the first look of a process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticked: Vec<TaskRef>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowFacts {
    /// Every task that is done: the flow decides which may be.
    #[serde(default)]
    pub done: Vec<String>,
    /// How much the next task can break, as it stood when the run began.
    #[serde(default)]
    pub risk: Detected,
    /// More than that, by what was written since: nobody but a person lowers
    /// a risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised: Option<Detected>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseFacts {
    pub key: String,
    pub title: String,
    pub completed: usize,
    pub total: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskRef {
    pub id: String,
    pub text: String,
    /// Key of its phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

impl TaskRef {
    pub fn name(&self) -> String {
        format!("{} {}", self.id, self.text)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnReport {
    pub turn: u32,
    /// Which call of the turn, from 1: a refused one is made again.
    #[serde(default = "first")]
    pub attempt: u32,
    pub end: End,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// A tag that the agent only talked about, where it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mentioned: Option<String>,
    /// What the agent left on its error output or in its error result; empty
    /// for a turn that went well.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// What it used, as far as the agent tells.
    #[serde(default)]
    pub spent: Usage,
    /// Why the agent's service would not do the work, where the turn failed
    /// for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// What a call in a role said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Box<RoleReport>>,
    pub seen: Observation,
}

fn first() -> u32 {
    1
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TaskFacts {
    pub fn counts(&self) -> Counts {
        Counts {
            total: self.total,
            completed: self.completed,
            pending: self.pending,
        }
    }
}

/// A tool call that the guard did not let pass (GARD-13).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GuardBlock {
    pub tool: String,
    pub rule: String,
    /// What in the call it was about, without secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// It was only counted: the guard runs in shadow mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
}

/// Every way in which the agent's process can end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// The process exited with 0 and its own result says that it failed.
    ResultError,
    TimedOut,
    /// We ended it, because it used more than it may.
    OverBudget,
    /// We ended it, because a tool ran that our guard was not asked about.
    Unguarded,
    /// We stopped it, because somebody asked for that.
    Stopped,
    /// The same before it was called at all.
    NotStarted,
    SpawnFailed {
        missing: bool,
    },
    /// It was not started, since its files could not be written.
    Unwritable,
    /// Nothing is known: the engine died while the turn ran.
    Lost,
}

impl End {
    /// Whether there was a call that can have used anything.
    pub fn is_of_a_call(&self) -> bool {
        !matches!(
            self,
            End::SpawnFailed { .. } | End::Unwritable | End::NotStarted
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    pub turn: u32,
    /// Fingerprint of the contents that were verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    pub results: Vec<CommandResult>,
    /// The experiments that say what the results are worth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighed: Option<Box<Weighed>>,
    /// Check files that Git ignores, as they lay there before the first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strays: Option<Vec<String>>,
}

impl VerifyReport {
    pub fn passed(&self) -> bool {
        !self.results.is_empty() && self.results.iter().all(CommandResult::is_good)
    }

    pub fn failure(&self) -> Option<&CommandResult> {
        self.results.iter().find(|r| !r.is_good())
    }

    /// What the commands that ended well prove.
    pub fn proofs(&self) -> Vec<Proof> {
        let passed = self.results.iter().filter(|r| r.exit == Some(0));
        let proof = |r: &CommandResult| Proof::Command {
            command: r.command.clone(),
            duration_ms: r.duration_ms,
        };
        passed.map(proof).collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    pub command: String,
    /// `None` where it did not end by itself.
    pub exit: Option<i32>,
    pub duration_ms: u64,
    pub output: String,
    /// Digest of the whole output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// It failed as it had failed before the work began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// A task asks for it, not the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_task: bool,
    /// How many tests ran, where its runner says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<u32>,
}

impl CommandResult {
    /// What the event log tells of it.
    pub(super) fn to_json(&self) -> Value {
        let mut json = json!({
            "command": self.command, "exit": self.exit, "duration_ms": self.duration_ms,
        });
        if self.known {
            json["known"] = true.into();
        }
        json
    }

    /// Shows the agent what it said.
    pub(super) fn note(&self) -> PromptNote {
        PromptNote::VerifyFailed {
            command: self.command.clone(),
            output: self.output.clone(),
        }
    }

    /// It passed, or failed no worse than before the work began.
    pub fn is_good(&self) -> bool {
        self.exit == Some(0) || self.known
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MenuAnswer {
    Extend,
    /// The scope was narrowed; the driver looked at the tasks again.
    Simplify {
        skipped: Vec<String>,
        seen: Box<Observation>,
    },
    SaveAndExit,
    Abandon,
}
