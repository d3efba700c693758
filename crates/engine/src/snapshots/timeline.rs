//! Which turn of a run has which snapshot, as its journal tells.

use std::collections::BTreeMap;

use ralph_core::machine::{BranchMove, Event, Kind, Stage, State, Undone};
use ralph_store::layout::RunPaths;

use super::TreeId;
use super::branch::Position;
use crate::past::{self, Past, PastError, seen_in};

/// The snapshots of a run.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// By their numbers.
    pub turns: BTreeMap<u32, Turn>,
    /// The work when the run began.
    pub start: Option<TreeId>,
    /// The work as the run knows it.
    pub last: Option<TreeId>,
    /// Where the branch stood then.
    pub at: Option<Position>,
    /// The work stands as after this turn; an undo brings it back.
    pub standing: u32,
    /// The undos that can be taken back, the last one last, each with the
    /// turn that the work stood at before it.
    undone: Vec<(Undone, u32)>,
    /// One that was begun, and whose end was not written down.
    pub begun: Option<Undone>,
}

/// The work before and after a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    pub before: Option<TreeId>,
    pub after: Option<TreeId>,
    /// Where the branch stood before it.
    pub at: Option<Position>,
}

impl Timeline {
    pub fn read(paths: &RunPaths) -> Result<(Timeline, Past), PastError> {
        let mut timeline = Timeline::default();
        let past = past::listen(paths, &mut |event, state, _| timeline.hear(event, state))?;
        Ok((timeline, past))
    }

    /// Takes in an event and what it led to.
    pub fn hear(&mut self, event: &Event, state: &State) {
        let at = seen_in(event).and_then(Position::of);
        let seen = seen_in(event).and_then(|seen| seen.snapshot.as_deref());
        let seen = seen.and_then(|tree| TreeId::parse(tree).ok());
        match &event.kind {
            Kind::TurnEnded(report) => self.end(report.turn, seen.as_ref()),
            // What a turn left whose end nobody saw.
            Kind::Resumed { .. } => {
                let lost = self.turns.iter().next_back();
                let lost = lost.filter(|(_, turn)| turn.after.is_none());
                if let Some(turn) = lost.map(|(number, _)| *number) {
                    self.end(turn, seen.as_ref());
                }
            }
            Kind::Undone(undone) => self.hear_undone(undone),
            _ => {}
        }
        if self.start.is_none() {
            self.start.clone_from(&seen);
        }
        if seen.is_some() {
            self.last = seen;
        }
        if at.is_some() {
            self.at = at;
        }
        if state.stage == Stage::Running {
            self.begin(state.turn.number);
        }
    }

    fn begin(&mut self, number: u32) -> &mut Turn {
        let (before, at) = (&self.last, &self.at);
        self.turns.entry(number).or_insert_with(|| Turn {
            before: before.clone(),
            after: None,
            at: at.clone(),
        })
    }

    fn end(&mut self, number: u32, after: Option<&TreeId>) {
        self.begin(number).after = after.cloned();
        self.standing = number;
        self.undone.clear();
        self.begun = None;
    }

    fn hear_undone(&mut self, undone: &Undone) {
        if undone.seen.is_none() {
            self.begun = Some(undone.clone());
            return;
        }
        self.begun = None;
        match undone.redo {
            true => drop(self.undone.pop()),
            false => self.undone.push((undone.clone(), self.standing)),
        }
        self.standing = undone.turn;
    }

    /// The work as it was before a turn; `0` is before the first.
    pub fn before(&self, turn: u32) -> Option<&TreeId> {
        self.turns.get(&turn)?.before.as_ref()
    }

    /// The work as it was after a turn; 0 is when the run began.
    pub fn after(&self, turn: u32) -> Option<&TreeId> {
        match turn {
            0 => self.start.as_ref(),
            turn => self.turns.get(&turn)?.after.as_ref(),
        }
    }

    /// The branch that the undo moved which can be taken back.
    pub fn moved(&self) -> Option<&BranchMove> {
        let begun = self.begun.as_ref().filter(|begun| !begun.redo);
        let last = || self.undone.last().map(|(undone, _)| undone);
        begun.or_else(last)?.moved.as_ref()
    }

    /// The undo that can be taken back, and the turn that the work stands at
    /// then.
    pub fn to_redo(&self) -> Option<(TreeId, u32)> {
        let begun = self.begun.as_ref().filter(|begun| !begun.redo);
        if let Some(begun) = begun {
            return Some((TreeId::parse(&begun.before).ok()?, self.standing));
        }
        let (undone, standing) = self.undone.last()?;
        Some((TreeId::parse(&undone.before).ok()?, *standing))
    }
}
