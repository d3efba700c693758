//! What a job is, and who may do what to it. Pure.
//!
//! The state of a job is one entry of a key-value bucket. Every change of it
//! is written by compare-and-swap on the entry's revision, so that of two who
//! read the same state only one can change it. What may follow what stands
//! here; that nobody writes over somebody else is the server's doing. Nothing
//! is ever acknowledged: a late word of a worker that was thought dead finds
//! another revision, and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ralph_core::text::digest::hex_sha256;
use serde::{Deserialize, Serialize};

/// A job that so many workers died or failed on is not tried again.
pub const MAX_ATTEMPTS: u32 = 10;
/// A prompt is one argument of a process, and Linux has room for 128 KiB.
pub const LONGEST_PROMPT: usize = 100 * 1024;
/// How much of a name stands in a key.
const LONGEST_NAME: usize = 64;
const ID_DIGITS: usize = 12;

/// What was asked for. It is written once and never changes; it holds no
/// command and no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    pub source: Source,
    pub commit: String,
    pub work: Work,
    #[serde(default)]
    pub needs: Needs,
    #[serde(default)]
    pub priority: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Words for the agent from the first turn on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// Where the repository comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Url(String),
    /// A bundle in the object store, by this name.
    Bundle(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A task file, from the top of the repository.
    Tasks(String),
    Prompt(String),
}

/// What a worker must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// Names of variables that the worker holds; never what is in them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub secrets: BTreeSet<String>,
}

impl Spec {
    /// The same submission is the same job, whoever sends it and however often.
    pub fn id(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        let digest = hex_sha256(text.as_bytes());
        digest.get(..ID_DIGITS).unwrap_or(&digest).to_owned()
    }
}

/// What becomes part of a key or a subject: no dots, no wildcards.
pub fn is_name(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_safe)
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub phase: Phase,
    /// How often it was taken.
    #[serde(default)]
    pub attempt: u32,
    #[serde(default)]
    pub needs: Needs,
    #[serde(default)]
    pub priority: i32,
    /// On the submitter's wall clock: for people, and for the order.
    #[serde(default)]
    pub submitted_ms: u64,
    /// Workers that will not do it, with their reasons.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub declined: BTreeMap<String, String>,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The commit that brought its result onto a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Queued,
    Leased(Lease),
    Done(Outcome),
    /// Tried too often.
    GivenUp,
    Cancelled,
}

/// Who works on it. The revision of the entry is what it is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub worker: String,
    /// Of this one attempt: nobody ever uses it again.
    pub token: String,
    /// How long others wait for a new revision before they take the job over.
    pub holds_ms: u64,
}

/// The one result of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub worker: String,
    pub token: String,
    /// Of `ralph run`.
    pub exit: i32,
    /// In the run's own word: `complete`, `paused`, …
    pub outcome: String,
    /// What the branch is at; none where nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether there is a bundle in the object store.
    #[serde(default)]
    pub has_bundle: bool,
    #[serde(default)]
    pub duration_ms: u64,
}

impl Outcome {
    /// The object with the branch.
    pub fn bundle(&self) -> String {
        bundle_of(&self.token)
    }

    pub fn report(&self) -> String {
        report_of(&self.token)
    }
}

/// Objects have the name of the attempt, so that two never write the same.
pub fn bundle_of(token: &str) -> String {
    format!("{token}.bundle")
}

pub fn report_of(token: &str) -> String {
    format!("{token}.report")
}

impl State {
    pub fn new(spec: &Spec, submitted_ms: u64) -> State {
        State {
            phase: Phase::Queued,
            attempt: 0,
            needs: spec.needs.clone(),
            priority: spec.priority,
            submitted_ms,
            declined: BTreeMap::new(),
            trouble: None,
            landed: None,
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(
            self.phase,
            Phase::Done(_) | Phase::GivenUp | Phase::Cancelled
        )
    }

    /// Whether it is, or could become, work for this worker.
    pub fn is_for(&self, me: &Me) -> bool {
        !self.is_over()
            && self.needs.labels.is_subset(&me.labels)
            && self.needs.secrets.is_subset(&me.secrets)
            && !self.declined.contains_key(&me.id)
    }

    pub fn lease(&self) -> Option<&Lease> {
        match &self.phase {
            Phase::Leased(lease) => Some(lease),
            _ => None,
        }
    }

    pub fn is_held_by(&self, token: &str) -> bool {
        self.lease().is_some_and(|lease| lease.token == token)
    }

    /// Whether the result of this attempt is the job's.
    pub fn was_done_by(&self, token: &str) -> bool {
        matches!(&self.phase, Phase::Done(outcome) if outcome.token == token)
    }

    /// For whoever may take it (see [`Standing::may_take`]). A job that was
    /// tried too often is given up instead.
    pub fn taken(&self, lease: Lease) -> Option<State> {
        if self.is_over() {
            return None;
        }
        let trouble = match self.lease() {
            Some(dead) => Some(format!("{} was not heard of any more", dead.worker)),
            None => self.trouble.clone(),
        };
        let (phase, attempt) = match self.attempt >= MAX_ATTEMPTS {
            true => (Phase::GivenUp, self.attempt),
            false => (Phase::Leased(lease), self.attempt + 1),
        };
        Some(State {
            phase,
            attempt,
            trouble,
            ..self.clone()
        })
    }

    /// Only whoever holds it can finish it.
    pub fn done(&self, outcome: Outcome) -> Option<State> {
        self.is_held_by(&outcome.token).then(|| State {
            phase: Phase::Done(outcome),
            trouble: None,
            ..self.clone()
        })
    }

    /// Given back without a result.
    pub fn released(&self, token: &str, why: Release) -> Option<State> {
        let lease = self.lease().filter(|lease| lease.token == token)?;
        let mut state = self.clone();
        match why {
            // It cost the job nothing.
            Release::Leaving => state.attempt = state.attempt.saturating_sub(1),
            Release::Declined(why) => {
                state.attempt = state.attempt.saturating_sub(1);
                state.declined.insert(lease.worker.clone(), why);
            }
            Release::Failed(why) => state.trouble = Some(why),
        }
        state.phase = Phase::Queued;
        Some(state)
    }

    pub fn cancelled(&self) -> Option<State> {
        (!self.is_over()).then(|| State {
            phase: Phase::Cancelled,
            ..self.clone()
        })
    }
}

/// Why a job is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// The worker goes.
    Leaving,
    /// It will never do this one.
    Declined(String),
    /// It could not be started here.
    Failed(String),
}

/// A worker, as far as jobs are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Me {
    pub id: String,
    pub labels: BTreeSet<String>,
    pub secrets: BTreeSet<String>,
}

/// A job as one worker sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing<'a> {
    pub id: &'a str,
    pub state: &'a State,
    /// For how long this worker has seen the same revision, on its own steady
    /// clock: no two clocks are ever compared.
    pub unchanged: Duration,
}

impl Standing<'_> {
    pub fn may_take(&self, me: &Me) -> bool {
        let state = self.state;
        let is_free = match &state.phase {
            Phase::Queued => true,
            Phase::Leased(lease) => {
                lease.worker != me.id && self.unchanged >= Duration::from_millis(lease.holds_ms)
            }
            Phase::Done(_) | Phase::GivenUp | Phase::Cancelled => false,
        };
        is_free && state.is_for(me)
    }
}

/// How many jobs at the head of the queue are as good as the first: workers
/// that all wanted the first would mostly lose.
const WINDOW: usize = 64;

/// The job to try next: of high priority first, then what a worker left (it
/// waited longest, and there may be many behind it), then the oldest; among
/// the first few one that other workers don't think of.
pub fn choose<'a>(jobs: impl Iterator<Item = Standing<'a>>, me: &Me) -> Option<&'a str> {
    let mut free: Vec<_> = jobs
        .filter(|job| job.may_take(me))
        .map(|job| {
            let rank = (-i64::from(job.state.priority), job.state.lease().is_none());
            (rank, job.state.submitted_ms, job.id)
        })
        .collect();
    free.sort_unstable();
    let first = free.first()?.0;
    let equals = free.iter().take(WINDOW).take_while(|job| job.0 == first);
    let dice = |id: &str| hex_sha256(format!("{} {id}", me.id).as_bytes());
    equals.map(|job| job.2).min_by_key(|id| dice(id))
}
