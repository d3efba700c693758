//! Several tasks at once: who works on what, and in which order results land.
//!
//! A lane is a run of its own on one task, in a tree of its own. Its result is
//! merged onto the tip of one branch, checked there, and only then becomes the
//! tip: that landing is a turn of the run which all lanes belong to. So what
//! judges a turn judges a landing, and nothing red lands.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Allowance;
use super::request::Request;
use crate::lang::Say;
use crate::tasks::Piece;
use crate::usage::Usage;

/// How often a result may go back to its lane before the task is left.
pub const MOST_RETURNS: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneRules {
    /// How many agents work at the same time.
    pub count: u32,
    /// The open tasks when the run began, in their order.
    pub tasks: Vec<LaneTask>,
    /// How many trees there is room for, those that wait to land among them; 0
    /// is as many as there are tasks.
    #[serde(default, skip_serializing_if = "no_bound")]
    pub trees: u32,
    /// The branch that results land on, and the commit that it begins at.
    #[serde(default)]
    pub branch: String,
    #[serde(default)]
    pub base: String,
}

fn no_bound(trees: &u32) -> bool {
    *trees == 0
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneTask {
    pub id: String,
    pub text: String,
    /// What is nested under it and done with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl LaneTask {
    /// Its own id, and those of what is nested under it.
    pub fn ids(&self) -> Vec<String> {
        std::iter::once(&self.id)
            .chain(&self.nested)
            .cloned()
            .collect()
    }
}

impl From<Piece> for LaneTask {
    fn from(piece: Piece) -> LaneTask {
        LaneTask {
            id: piece.id,
            text: piece.text,
            nested: piece.nested,
            after: piece.after.into_iter().map(|before| before.id).collect(),
            files: piece.files,
        }
    }
}

/// A word of a person for the agents of lanes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneHint {
    pub text: String,
    /// In every turn, and for whoever begins later.
    pub keep: bool,
}

/// What becomes of lanes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "lane_event", rename_all = "snake_case")]
pub enum LaneEvent {
    /// Its tree stands, on this commit.
    Began { lane: u32, base: String },
    /// It wants to call its agent; `calls` is what the calls used that are not
    /// booked yet.
    Asks { lane: u32, calls: Vec<Usage> },
    /// Its agent's service refuses until then, on the wall clock: all wait.
    Held { lane: u32, until: i64 },
    /// It has heard the hint of this number.
    Heard { lane: u32, hint: u32 },
    /// Its run ended.
    Ended {
        lane: u32,
        calls: Vec<Usage>,
        end: LaneEnd,
    },
    /// Its result lies in the tree that is checked, merged onto the tip.
    Merged {
        lane: u32,
        tree: String,
        tip: String,
    },
    /// It can't be merged onto the tip; `tree` has the marks of that.
    Conflict {
        lane: u32,
        tree: String,
        tip: String,
        files: Vec<String>,
    },
    /// The merged result is the tip of the branch.
    Landed { lane: u32, commit: String },
    /// Somebody else moved the branch meanwhile: nothing of it is in the tree
    /// any more, which stands where the branch does.
    Moved { lane: u32 },
}

/// How the run of a lane ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneEnd {
    /// With a result, as a commit on its base.
    Ready { commit: String },
    /// Without one. The outcome of its run, and why.
    Short { outcome: String, reason: String },
    /// The whole run stops, and it with it.
    Stopped,
}

/// What has to be done for lanes.
#[derive(Clone, Debug, PartialEq)]
pub enum LaneOrder {
    /// A run on this task begins, or goes on where a process before left it.
    Start {
        lane: u32,
        task: LaneTask,
        /// The tree to begin with and the commit below it; the tip where there
        /// is none.
        on: Option<(String, String)>,
        /// The commit below its tree, where that stands already: its run may
        /// go on.
        standing: Option<String>,
        /// What its agent has to know first.
        note: Option<String>,
        hints: Vec<LaneHint>,
    },
    /// Its agent has to hear this before its next turn.
    Tell {
        lane: u32,
        hint: u32,
        said: LaneHint,
    },
    /// It may call its agent, not before this time on the wall clock.
    Grant {
        lane: u32,
        not_before: i64,
        allowance: Allowance,
    },
    /// Merge its result onto the tip, put that where it is checked, and tick.
    Land {
        lane: u32,
        task: LaneTask,
        commit: String,
    },
    /// What was checked becomes the tip.
    Commit {
        lane: u32,
        task: LaneTask,
        tree: String,
        tip: String,
    },
    /// All come to their end: behind their turn where that is a pause, now or
    /// at once.
    Close { how: Request },
}

/// Where a lane stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub task: LaneTask,
    pub doing: Doing,
    /// The commit below its work, once its tree stands.
    pub base: Option<String>,
    /// Its result, once there is one.
    pub result: Option<String>,
    /// Calls of its agent that are booked.
    pub calls: u32,
    /// What its call that runs may use.
    pub granted: Option<Allowance>,
    /// What its agent was told when it began.
    pub note: Option<String>,
    /// What it began with, where that was not the tip.
    pub on: Option<(String, String)>,
}

impl Seat {
    pub fn is_at_work(&self) -> bool {
        matches!(self.doing, Doing::Working | Doing::Asking)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, Say)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Doing {
    #[say("at work")]
    Working,
    /// Its agent has to wait for the others' calls, or for a limit.
    #[say("waits to call its agent")]
    Asking,
    /// It came back, and waits until another is done.
    #[say("waits for a free place")]
    Returned,
    #[say("waits to land")]
    Queued,
    #[say("lands")]
    Landing,
    /// The run stopped, and it with it: it goes on with the run.
    #[say("stands still")]
    Stopped,
}

/// Everything that is known of the lanes of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    pub seats: BTreeMap<u32, Seat>,
    /// The lanes whose results wait, the next one first.
    pub queue: Vec<u32>,
    /// What is checked now, merged: the tree and the tip below it.
    pub landing: Option<(u32, Option<(String, String)>)>,
    /// The commits of what landed, by task.
    pub landed: BTreeMap<String, String>,
    /// Tasks that nobody works on any more, and why.
    pub parked: BTreeMap<String, String>,
    /// How often the result of a task went back.
    pub returns: BTreeMap<String, u32>,
    /// No agent is called before this time on the wall clock.
    pub held_until: i64,
    /// Calls of agents that were granted.
    pub calls: u32,
}

/// What is told of lanes.
#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr, Say)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum LaneNotice {
    #[say("lane {lane} begins {task} {text}")]
    LaneStart {
        lane: u32,
        task: String,
        text: String,
    },
    #[say("lane {lane} is done with {task}; it waits to land")]
    LaneReady { lane: u32, task: String },
    #[say("{task} goes back to lane {lane}: {why}")]
    LaneReturned {
        lane: u32,
        task: String,
        #[serde(rename = "reason")]
        why: String,
    },
    #[say("{task} landed from lane {lane} as {commit}", commit = short(commit))]
    LaneLanded {
        lane: u32,
        task: String,
        commit: String,
    },
    /// Nobody works on it any more.
    #[say("{task} is left: {why}")]
    LaneParked {
        task: String,
        #[serde(rename = "reason")]
        why: String,
    },
}

impl LaneNotice {
    pub fn level(&self) -> super::Level {
        match self {
            LaneNotice::LaneReturned { .. } | LaneNotice::LaneParked { .. } => super::Level::Warn,
            _ => super::Level::Info,
        }
    }
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

impl Board {
    pub fn working(&self) -> usize {
        let seats = self.seats.values();
        seats.filter(|seat| seat.is_at_work()).count()
    }

    /// The next task that can be begun. Whoever comes first and only waits for
    /// files keeps them from those behind it, so that nobody waits for ever.
    /// What a person wants first goes before all, and what they left out is
    /// nobody's.
    pub fn next(
        &self,
        rules: &LaneRules,
        done: &BTreeSet<String>,
        skipped: &BTreeSet<String>,
        focus: Option<&String>,
    ) -> Option<LaneTask> {
        let has_room = rules.trees == 0 || self.seats.len() < rules.trees as usize;
        if self.working() >= rules.count as usize || !has_room {
            return None;
        }
        let mut taken: Vec<&str> = self.seats.values().flat_map(files).collect();
        let is_first = |task: &&LaneTask| focus == Some(&task.id);
        let first = rules.tasks.iter().filter(is_first);
        let rest = rules.tasks.iter().filter(|task| !is_first(task));
        for task in first.chain(rest) {
            if skipped.contains(&task.id) || !self.is_waiting(task, done) {
                continue;
            }
            if !overlap(&task.files, &taken) {
                return Some(task.clone());
            }
            taken.extend(task.files.iter().map(String::as_str));
        }
        None
    }

    /// Whether it could be begun, but for the files of others.
    fn is_waiting(&self, task: &LaneTask, done: &BTreeSet<String>) -> bool {
        !done.contains(&task.id)
            && !self.parked.contains_key(&task.id)
            && !self.landed.contains_key(&task.id)
            && self.seats.values().all(|seat| seat.task.id != task.id)
            && task.after.iter().all(|id| done.contains(id))
    }

    /// The lowest number that nobody has; 0 is the tree where results are
    /// checked.
    pub fn free_lane(&self) -> u32 {
        let taken = |lane: &u32| self.seats.contains_key(lane);
        (1..).find(|lane| !taken(lane)).unwrap_or(u32::MAX)
    }
}

fn files(seat: &Seat) -> impl Iterator<Item = &str> {
    seat.task.files.iter().map(String::as_str)
}

/// Whether two tasks may change the same file; patterns count by what stands
/// before their first wildcard.
fn overlap(files: &[String], taken: &[&str]) -> bool {
    let meet = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
    let beside = |a: &str, b: &str| {
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        let rest = long.strip_prefix(short).unwrap_or_default();
        short.is_empty() || rest.is_empty() || rest.starts_with('/') || short.ends_with('/')
    };
    let is_pattern = |path: &str| path.contains(['*', '?', '[']);
    files.iter().any(|file| {
        taken.iter().any(|other| {
            let (a, b) = (plain(file), plain(other));
            meet(a, b) && (is_pattern(file) || is_pattern(other) || beside(a, b))
        })
    })
}

fn plain(path: &str) -> &str {
    let path = path.trim().trim_start_matches("./");
    let end = path.find(['*', '?', '[']).unwrap_or(path.len());
    path.get(..end).unwrap_or(path)
}
