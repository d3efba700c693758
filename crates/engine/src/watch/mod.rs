//! The one reader of runs: whatever shows a run (monitor, page, report) asks
//! it. A journal is read once, record by record; from then on only what is
//! new. The machine is played again, so that what is shown is what the run
//! itself decided. Nothing is written and nobody is held up: a reader can be
//! killed at any time.

mod diff;
mod fold;
mod output;
mod projects;
mod runs;
mod snapshot;
mod spoken;
mod tasks;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use ralph_core::lang::Lang;
use ralph_core::machine::{Event, Observation, State};
use ralph_core::report::Call;
use ralph_store::journal::{JournalError, Tailer};
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock;

use crate::decode;
use crate::past::PastError;
use crate::record::Header;
use crate::snapshots::timeline::Timeline;

pub use diff::{Diff, TurnDiff, diff_since};
pub use output::OutputTail;
pub use projects::known_projects;
pub use runs::{Brief, briefs, old_briefs};
pub use snapshot::{RunFacts, Snapshot, Told};
pub use spoken::{OutputLine, Said, Spoken};
pub use tasks::TaskList;

/// Follows one run.
#[derive(Debug)]
pub struct Watch {
    layout: Layout,
    paths: RunPaths,
    lang: Lang,
    journal: Tailer,
    /// Records that were taken in.
    taken: u64,
    state: Option<State>,
    header: Option<Header>,
    snapshot: Snapshot,
    /// What was seen of the world last, and before the last turn.
    last_tree: Option<String>,
    turn_base: Option<String>,
    /// What every turn left.
    timeline: Timeline,
}

impl Watch {
    /// Watches a run of a project; nothing is read before the first
    /// [`refresh`](Watch::refresh).
    pub fn new(layout: &Layout, id: &RunId, lang: Lang) -> Watch {
        let paths = layout.run(id);
        Watch {
            journal: Tailer::new(&paths.journal()),
            snapshot: Snapshot::new(id.as_str(), layout.root()),
            layout: layout.clone(),
            paths,
            lang,
            taken: 0,
            state: None,
            header: None,
            last_tree: None,
            turn_base: None,
            timeline: Timeline::default(),
        }
    }

    /// Takes in what is new; `true` where anything is. It costs one look at
    /// two files where nothing is.
    pub fn refresh(&mut self) -> Result<bool, PastError> {
        let before = self.snapshot.revision;
        let read = self.read_new();
        if self.journal.next_seq() <= self.taken && read.is_ok() {
            // The writer took a failed append back that was played already.
            *self = Watch::new(&self.layout, &self.paths.id, self.lang);
            self.snapshot.revision = before;
            self.read_new()?;
        }
        self.settle();
        read.map(|()| self.snapshot.revision != before)
    }

    fn read_new(&mut self) -> Result<(), PastError> {
        let mut journal = self.journal.clone();
        let mut unknown = None;
        let polled = journal.poll_each(&mut |seq, data| {
            match self.take(seq, data) {
                Ok(()) => {}
                // Not damaged, but not ours: what comes behind it would be
                // shown wrongly.
                Err(error) if serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok() => {
                    unknown.get_or_insert((seq, error.to_string()));
                }
                Err(error) => return Err(error),
            }
            self.taken = seq;
            Ok(())
        });
        self.journal = journal;
        if let Some((seq, message)) = unknown {
            let run = self.paths.id.as_str().into();
            return Err(PastError::Unknown { run, seq, message });
        }
        Ok(polled.map_err(|error: JournalError| error)?)
    }

    fn take(&mut self, seq: u64, data: &[u8]) -> Result<(), serde_json::Error> {
        if seq == 1 {
            let header: Header = serde_json::from_slice(data)?;
            self.state = State::new(header.rules.clone()).ok();
            self.snapshot.begin(&header);
            self.header = Some(header);
            return Ok(());
        }
        let event = decode::event(data)?;
        if let Some(state) = &mut self.state {
            let tree = seen(&event).map(|seen| seen.commit_tree.clone());
            let started = self.snapshot.play(state, &event, self.lang);
            self.timeline.hear(&event, state);
            if let Some(tree) = tree {
                self.last_tree = tree;
            }
            if started {
                self.turn_base = self.last_tree.clone();
            }
        }
        Ok(())
    }

    /// The lock says who drives the run now.
    fn settle(&mut self) {
        let pid = lock::driver(&self.layout.lock(), self.paths.id.as_str());
        self.snapshot.settle(self.state.as_ref(), pid, self.lang);
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The machine as the journal leaves it; `None` before the run began.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    pub fn paths(&self) -> &RunPaths {
        &self.paths
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The task file of the run, as the header names it.
    pub fn tasks_file(&self) -> Option<PathBuf> {
        self.header.as_ref()?.tasks_file.clone()
    }

    /// The tree of the commit that stood before the last turn.
    pub fn turn_base(&self) -> Option<&str> {
        self.turn_base.as_deref()
    }

    /// What a turn changed, the last one where none is named: to be asked
    /// while nobody waits.
    pub fn diff_of(&self, turn: Option<u32>) -> TurnDiff {
        let number = self.state.as_ref().map_or(0, |state| state.turn.number);
        let wanted = turn.unwrap_or(number);
        let before = self.timeline.before(wanted);
        let both = before.zip(self.timeline.after(wanted));
        TurnDiff {
            layout: self.layout.clone(),
            trees: both.map(|(from, to)| (from.to_string(), to.to_string())),
            // Of a turn that runs, or was not kept, Git tells the most.
            base: (wanted == number).then(|| self.turn_base.clone()),
        }
    }

    /// The output of a turn, to be followed.
    pub fn output(&self, turn: &Call) -> OutputTail {
        OutputTail::new(
            &self.paths.turn_output(turn.turn, turn.attempt),
            &turn.agent,
        )
    }

    /// What the verification commands printed after a turn, the end of it.
    pub fn verification(&self, turn: u32) -> OutputTail {
        OutputTail::new(&self.paths.turn_verification(turn), "")
    }
}

fn seen(event: &Event) -> Option<&Observation> {
    crate::past::seen_in(event)
}
