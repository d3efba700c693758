//! What a journal tells of a run: replayed, never saved.

use std::collections::BTreeSet;

use ralph_core::lang::Say;
use ralph_core::machine::{Effect, Event, Kind, MenuAnswer, Notice, Now, Observation, State, step};
use ralph_store::journal::{self, JournalError, Record};
use ralph_store::layout::RunPaths;
use serde_json::Value;

use crate::header::Header;

/// A run as its journal has it.
#[derive(Clone, Debug)]
pub struct Past {
    pub header: Header,
    pub state: State,
    /// Tasks that a person left out.
    pub skipped: BTreeSet<String>,
    /// What was seen of the world last.
    pub last_seen: Option<Observation>,
    /// How many records the journal has, but for those of its archives.
    pub records: u64,
    /// The archive that was begun in this state.
    pub archive: Option<String>,
}

/// Why a run can't be taken up.
#[derive(Clone, Debug, Say)]
pub enum PastError {
    #[say(_0.say(lang))]
    Journal(JournalError),
    /// The journal has no header: the run died before it began.
    #[say("run {run} died before it began; start a new one with `ralph run`")]
    NeverBegan { run: String },
    /// A record that this version does not understand.
    #[say(
        "run {run}: record {seq} of its journal is not understood ({message}); use the version of ralph that wrote it, or start a new run with `ralph run`"
    )]
    Unknown {
        run: String,
        seq: u64,
        message: String,
    },
}

impl From<JournalError> for PastError {
    fn from(error: JournalError) -> Self {
        PastError::Journal(error)
    }
}

/// Reads a run without touching it.
pub fn read(paths: &RunPaths) -> Result<Past, PastError> {
    listen(paths, &mut |_, _, _| {})
}

/// Hears an event once more: what it led to, and what was told of it.
pub type Hear<'a> = &'a mut dyn FnMut(&Event, &State, &[Notice]);

/// [`read`], hearing everything that happened once more.
pub fn listen(paths: &RunPaths, hear: Hear<'_>) -> Result<Past, PastError> {
    let id = paths.id.as_str();
    // A run leaves other files only after its journal has begun.
    if !paths.journal().exists() && !paths.events().exists() {
        return Err(PastError::NeverBegan { run: id.into() });
    }
    let (records, _) = journal::read(&paths.journal())?;
    play(id, records, hear)
}

/// The machine decides again as it did; nothing is performed. `tell` hears
/// everything that the run has told, in its order.
pub fn replay(
    run: &str,
    records: Vec<Record>,
    mut tell: impl FnMut(&Notice, Now),
) -> Result<Past, PastError> {
    play(run, records, &mut |event, _, notices| {
        for notice in notices {
            tell(notice, event.at);
        }
    })
}

fn play(run: &str, records: Vec<Record>, hear: Hear<'_>) -> Result<Past, PastError> {
    let mut records = records.into_iter();
    let Some(first) = records.next() else {
        return Err(PastError::NeverBegan { run: run.into() });
    };
    let header: Header = understand(run, first.seq, first.data)?;
    let state = State::new(header.rules.clone()).map_err(|_| PastError::Unknown {
        run: run.into(),
        seq: first.seq,
        message: "no limit is set".into(),
    })?;
    let mut past = Past {
        header,
        state,
        skipped: BTreeSet::new(),
        last_seen: None,
        records: 1,
        archive: None,
    };
    for record in records {
        let event: Event = understand(run, record.seq, record.data)?;
        past.take(&event, hear);
    }
    Ok(past)
}

fn understand<T: serde::de::DeserializeOwned>(
    run: &str,
    seq: u64,
    data: Value,
) -> Result<T, PastError> {
    serde_json::from_value(data).map_err(|error| PastError::Unknown {
        run: run.into(),
        seq,
        message: error.to_string(),
    })
}

impl Past {
    fn take(&mut self, event: &Event, hear: Hear<'_>) {
        match &event.kind {
            Kind::Archived { name } => self.archive = Some(name.clone()),
            _ => {
                self.archive = None;
                self.records += 1;
            }
        }
        let told = |effect| match effect {
            Effect::Emit(notice) => Some(notice),
            _ => None,
        };
        let effects = step(&mut self.state, event).into_iter();
        let notices: Vec<Notice> = effects.filter_map(told).collect();
        hear(event, &self.state, &notices);
        self.skipped.clone_from(&self.state.tasks.skipped);
        let seen = seen_in(event);
        if let Some(seen) = seen {
            self.last_seen = Some(seen.clone());
        }
    }
}

/// What an event tells of the world.
pub fn seen_in(event: &Event) -> Option<&Observation> {
    match &event.kind {
        Kind::Started { seen }
        | Kind::Resumed { seen, .. }
        | Kind::Woke { seen }
        | Kind::Nudged { seen }
        | Kind::Marked { seen }
        | Kind::Unticked { seen, .. } => Some(seen),
        Kind::TurnEnded(report) => Some(&report.seen),
        Kind::Undone(undone) => undone.seen.as_deref(),
        Kind::Answered {
            answer: MenuAnswer::Simplify { seen, .. },
        } => Some(seen),
        Kind::Steered { seen, .. } => seen.as_deref(),
        _ => None,
    }
}
