//! What there is to see of a run: plain data, borrowed from the watch.

use std::path::{Path, PathBuf};

use ralph_core::display::RoleView;
use ralph_core::machine::{
    Bill, GuardBlock, Level, Outcome, PhaseFacts, Question, TaskRef, WaitReason,
};
use ralph_core::report::{Call, Calls};

/// Everything about a run, as far as its journal goes.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Grows with every change; turns tell theirs.
    pub revision: u64,
    pub run: RunFacts,
    pub standing: Standing,
    /// The process that drives it; `None` where nobody does.
    pub pid: Option<u32>,
    pub iteration: u32,
    /// Zero is unlimited, as for all limits.
    pub max_iterations: u32,
    pub max_duration_ms: u64,
    pub total: usize,
    pub completed: usize,
    pub pending: usize,
    /// Key of the phase that is worked on.
    pub phase: Option<String>,
    pub phases: Vec<PhaseFacts>,
    /// The task of the turn that runs, or that ran last.
    pub task: Option<TaskRef>,
    /// Whom the agent of that turn plays.
    pub role: Option<String>,
    /// The roles that the task goes through, each with its state.
    pub roles: Vec<RoleView>,
    pub agent: String,
    pub last_promise: String,
    pub bill: Bill,
    /// By call, the oldest first: a refused turn has several.
    pub turns: Calls,
    pub checks: Vec<CheckRun>,
    pub guard: Vec<(u32, GuardBlock)>,
    pub events: Vec<Told>,
    pub questions: Vec<Question>,
    pub waiting: Option<Waiting>,
    pub outcome: Option<Outcome>,
    /// Until the last event; see [`Snapshot::elapsed_ms`].
    pub worked_ms: u64,
    /// The moment of the last event, on the wall clock.
    pub updated_ms: i64,
}

/// What a run was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    pub id: String,
    pub root: PathBuf,
    pub started_ms: i64,
    /// The task file or the prompt.
    pub goal: String,
    pub tasks_file: Option<PathBuf>,
    pub branch: Option<String>,
    /// The commit that it began on.
    pub commit: Option<String>,
    pub agents: Vec<String>,
    /// Verification commands are configured.
    pub verifies: bool,
}

/// What a run does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Standing {
    /// It has not begun.
    New,
    Working,
    Verifying,
    Waiting,
    /// The menu of a limit is open.
    Asking,
    /// Somebody pressed Ctrl+Z.
    Frozen,
    Ended,
    /// Its process is gone, and it did not end.
    Dead,
}

/// A wait that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// On the wall clock.
    pub until_ms: i64,
    pub why: WaitReason,
}

/// The verification commands ran once.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckRun {
    pub turn: u32,
    pub at_ms: i64,
    pub passed: bool,
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub command: String,
    /// `None` where it did not end by itself.
    pub exit: Option<i32>,
    pub duration_ms: u64,
}

/// Something that the run told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Counts from 1 within the run.
    pub number: u64,
    /// On the wall clock.
    pub at_ms: i64,
    pub level: Level,
    /// Its name in the event log.
    pub event: &'static str,
    pub iteration: u32,
    /// For people, in the language of the watch; without secrets.
    pub text: Box<str>,
}

impl Snapshot {
    pub(super) fn new(id: &str, root: &Path) -> Snapshot {
        Snapshot {
            revision: 0,
            run: RunFacts {
                id: id.into(),
                root: root.into(),
                ..RunFacts::default()
            },
            standing: Standing::New,
            pid: None,
            iteration: 0,
            max_iterations: 0,
            max_duration_ms: 0,
            total: 0,
            completed: 0,
            pending: 0,
            phase: None,
            phases: Vec::new(),
            task: None,
            role: None,
            roles: Vec::new(),
            agent: String::new(),
            last_promise: String::new(),
            bill: Bill::default(),
            turns: Calls::default(),
            checks: Vec::new(),
            guard: Vec::new(),
            events: Vec::new(),
            questions: Vec::new(),
            waiting: None,
            outcome: None,
            worked_ms: 0,
            updated_ms: 0,
        }
    }

    /// How long the run has worked. While a process drives it, the time since
    /// the last event counts as well.
    pub fn elapsed_ms(&self, wall_ms: i64) -> u64 {
        let goes_on = self.pid.is_some()
            && !matches!(
                self.standing,
                Standing::Ended | Standing::Frozen | Standing::New
            );
        let since = u64::try_from(wall_ms.saturating_sub(self.updated_ms)).unwrap_or(0);
        self.worked_ms + if goes_on { since } else { 0 }
    }

    /// In whole percent; zero where there are no tasks.
    pub fn percent(&self) -> usize {
        (self.completed * 100).checked_div(self.total).unwrap_or(0)
    }

    /// The events behind the first `number`.
    pub fn events_after(&self, number: u64) -> &[Told] {
        let from = self.events.partition_point(|told| told.number <= number);
        self.events.get(from..).unwrap_or_default()
    }

    /// Turns that changed after a revision.
    pub fn turns_after(&self, revision: u64) -> impl Iterator<Item = &Call> {
        self.turns
            .iter()
            .filter(move |turn| turn.changed > revision)
    }

    /// The call that runs, or that ran last.
    pub fn last_turn(&self) -> Option<&Call> {
        self.turns.last()
    }

    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.is_open())
    }
}
