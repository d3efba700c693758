//! What a journal tells of a run: replayed, never saved.

use std::collections::BTreeSet;

use ralph_core::lang::Say;
use ralph_core::machine::{Effect, Event, Kind, MenuAnswer, Notice, Observation, State, step};
use ralph_store::journal::{self, Journal, JournalError, Tail};
use ralph_store::layout::RunPaths;

use crate::decode;
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
    let mut replay = Replay::new(id, hear);
    journal::read_each(&paths.journal(), &mut |seq, data| replay.take(seq, data))?;
    replay.end()
}

/// What a run began with, without what came of it.
pub fn header(paths: &RunPaths) -> Option<Header> {
    let mut header = None;
    // Nothing behind the first record is read: it need not even be whole.
    let _ = journal::read_each(&paths.journal(), &mut |_, data| match &header {
        None => serde_json::from_slice(data).map(|read| header = Some(read)),
        Some(_) => Err(serde::de::Error::custom("enough")),
    });
    header
}

/// [`listen`], to go on with what is heard. Under the lock of the run, so that
/// nobody adds to it meanwhile.
pub fn take_up(paths: &RunPaths, hear: Hear<'_>) -> Result<(Journal, Past, Tail), PastError> {
    let mut replay = Replay::new(paths.id.as_str(), hear);
    let (journal, tail) =
        Journal::open_each(&paths.journal(), &mut |seq, data| replay.take(seq, data))?;
    Ok((journal, replay.end()?, tail))
}

/// The machine decides again as it did, record by record; nothing is
/// performed.
struct Replay<'a> {
    run: &'a str,
    hear: Hear<'a>,
    past: Option<Past>,
    /// The first record that is not understood; nothing behind it counts.
    unknown: Option<PastError>,
}

impl<'a> Replay<'a> {
    fn new(run: &'a str, hear: Hear<'a>) -> Replay<'a> {
        Replay {
            run,
            hear,
            past: None,
            unknown: None,
        }
    }

    fn take(&mut self, seq: u64, data: &[u8]) -> serde_json::Result<()> {
        let not_understood = match (&self.unknown, &mut self.past) {
            (Some(_), _) => None,
            (None, None) => match serde_json::from_slice::<Header>(data) {
                Ok(header) => match State::new(header.rules.clone()) {
                    Ok(state) => {
                        self.past = Some(Past::new(header, state));
                        None
                    }
                    Err(_) => Some("no limit is set".to_owned()),
                },
                Err(error) => Some(error.to_string()),
            },
            (None, Some(past)) => match decode::event(data) {
                Ok(event) => {
                    past.take(&event, self.hear);
                    return Ok(());
                }
                Err(error) => Some(error.to_string()),
            },
        };
        if let Some(message) = not_understood {
            // Damage is the journal's to tell.
            serde_json::from_slice::<serde::de::IgnoredAny>(data)?;
            let run = self.run.to_owned();
            self.unknown = Some(PastError::Unknown { run, seq, message });
        }
        Ok(())
    }

    fn end(self) -> Result<Past, PastError> {
        match (self.unknown, self.past) {
            (Some(unknown), _) => Err(unknown),
            (None, Some(past)) => Ok(past),
            (None, None) => Err(PastError::NeverBegan {
                run: self.run.to_owned(),
            }),
        }
    }
}

impl Past {
    fn new(header: Header, state: State) -> Past {
        Past {
            header,
            state,
            skipped: BTreeSet::new(),
            last_seen: None,
            records: 1,
            archive: None,
        }
    }

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
