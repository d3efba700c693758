//! What there is to see of a run: plain data, borrowed from the watch.

use std::path::{Path, PathBuf};

use ralph_core::machine::{GuardBlock, Level};
use ralph_core::overview::{CheckRun, Overview};
use ralph_core::report::{Call, Calls};

/// Everything about a run, as far as its journal goes.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Grows with every change; turns tell theirs.
    pub revision: u64,
    pub run: RunFacts,
    /// Where it stands now.
    pub overview: Overview,
    /// By call, the oldest first: a refused turn has several.
    pub turns: Calls,
    pub checks: Vec<CheckRun>,
    pub guard: Vec<(u32, GuardBlock)>,
    pub events: Vec<Told>,
    /// The last event froze it.
    pub(super) frozen: bool,
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

/// Something that the run told.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
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
            overview: Overview::default(),
            turns: Calls::default(),
            checks: Vec::new(),
            guard: Vec::new(),
            events: Vec::new(),
            frozen: false,
        }
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
}
