//! What every call of an agent cost: read from the journals, never kept.

use std::collections::BTreeMap;

use ralph_core::machine::{Bill, Event, Kind, LaneEvent, State, step};
use ralph_core::usage::{Usage, Usd};
use ralph_store::FileError;
use ralph_store::journal;
use ralph_store::layout::{Layout, RunPaths};

use crate::clock;
use crate::record::Header;

/// One call of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub run: String,
    pub turn: u32,
    pub attempt: u32,
    pub agent: String,
    /// The task that it was called for; `None` without a task list.
    pub task: Option<String>,
    /// When it ended, on the wall clock.
    pub wall_ms: i64,
    pub duration_ms: u64,
    pub spent: Usage,
    /// Tasks that were open before and done after it.
    pub newly_done: usize,
}

/// The calls of a project, and what could not be read.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub entries: Vec<Entry>,
    /// Tasks that the latest run has still to do.
    pub pending: usize,
    /// Runs whose journal is damaged: their calls are missing here.
    pub unread: Vec<String>,
}

/// By what the calls are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum By {
    #[default]
    Run,
    Task,
    Turn,
    Agent,
    Day,
}

/// Reads the calls of one run, or of all.
pub fn read(layout: &Layout, only: Option<&str>) -> Result<Ledger, FileError> {
    let mut ledger = Ledger::default();
    for paths in layout.runs()? {
        if only.is_some_and(|id| id != paths.id.as_str()) {
            continue;
        }
        match calls(&paths) {
            Some((entries, pending)) => {
                ledger.entries.extend(entries);
                ledger.pending = pending;
            }
            None => ledger.unread.push(paths.id.as_str().into()),
        }
    }
    Ok(ledger)
}

/// The machine is played again, because it knows who was called for what.
fn calls(paths: &RunPaths) -> Option<(Vec<Entry>, usize)> {
    let (records, _) = journal::read(&paths.journal()).ok()?;
    let mut records = records.into_iter();
    let header: Header = serde_json::from_value(records.next()?.data).ok()?;
    let mut state = State::new(header.rules).ok()?;
    let mut entries = Vec::new();
    for record in records {
        let event: Event = serde_json::from_value(record.data).ok()?;
        let before = state.clone();
        step(&mut state, &event);
        entries.extend(entry(&header.run_id, &before, &state, &event));
        entries.extend(of_lanes(&header.run_id, &before, &event));
        // What was turned back was not done after all.
        if let (Kind::Unticked { .. }, Some(last)) = (&event.kind, entries.last_mut()) {
            let turned_back = done(&before).saturating_sub(done(&state));
            last.newly_done = last.newly_done.saturating_sub(turned_back);
        }
    }
    let pending = state.tasks.facts.as_ref().map_or(0, |t| t.pending);
    Some((entries, pending))
}

fn done(state: &State) -> usize {
    state.tasks.facts.as_ref().map_or(0, |t| t.completed)
}

fn entry(run: &str, before: &State, after: &State, event: &Event) -> Option<Entry> {
    let Kind::TurnEnded(report) = &event.kind else {
        return None;
    };
    // What the machine did not book was no call: a stray report, or a program
    // that never started.
    if before.agents.bill.calls == after.agents.bill.calls || !report.end.is_of_a_call() {
        return None;
    }
    let task = before.next_task();
    Some(Entry {
        run: run.into(),
        turn: report.turn,
        attempt: report.attempt,
        agent: before.called_agent().into(),
        task: task.map(|task| task.id.clone()),
        wall_ms: event.at.wall_ms,
        duration_ms: report.duration_ms,
        spent: report.spent,
        newly_done: done(after).saturating_sub(done(before)),
    })
}

/// Calls that lanes made for the run.
fn of_lanes(run: &str, before: &State, event: &Event) -> Vec<Entry> {
    let (Kind::Lane(LaneEvent::Asks { lane, calls })
    | Kind::Lane(LaneEvent::Ended { lane, calls, .. })) = &event.kind
    else {
        return Vec::new();
    };
    let seat = before.lanes.seats.get(lane);
    let entry = |spent: &Usage| Entry {
        run: run.into(),
        turn: before.turn.number,
        attempt: 1,
        agent: before.called_agent().into(),
        task: seat.map(|seat| seat.task.id.clone()),
        wall_ms: event.at.wall_ms,
        duration_ms: 0,
        spent: *spent,
        newly_done: 0,
    };
    calls.iter().map(entry).collect()
}

impl Ledger {
    pub fn total(&self) -> Bill {
        total(&self.entries)
    }

    /// The calls added up, in the order in which the first of each came.
    pub fn by(&self, by: By) -> Vec<(String, Bill)> {
        let mut order = Vec::new();
        let mut sums: BTreeMap<String, Bill> = BTreeMap::new();
        for entry in &self.entries {
            let key = key(entry, by);
            if !sums.contains_key(&key) {
                order.push(key.clone());
            }
            sums.entry(key).or_default().add(entry.spent);
        }
        order
            .into_iter()
            .map(|key| {
                let bill = sums.get(&key).copied().unwrap_or_default();
                (key, bill)
            })
            .collect()
    }

    /// What the open tasks will cost if they cost what the done ones did;
    /// `None` while no task is done, or where a call did not tell its price.
    pub fn forecast(&self) -> Option<Usd> {
        let done: usize = self.entries.iter().map(|entry| entry.newly_done).sum();
        let bill = self.total();
        if bill.cost_is_partial() {
            return None;
        }
        let done = u64::try_from(done).ok().filter(|&done| done > 0)?;
        let pending = u64::try_from(self.pending).ok()?;
        bill.cost.share(pending, done)
    }
}

fn total(entries: &[Entry]) -> Bill {
    let mut bill = Bill::default();
    for entry in entries {
        bill.add(entry.spent);
    }
    bill
}

fn key(entry: &Entry, by: By) -> String {
    match by {
        By::Run => entry.run.clone(),
        By::Task => entry.task.clone().unwrap_or_else(|| "-".into()),
        By::Turn => format!("{} #{}", entry.run, entry.turn),
        By::Agent => entry.agent.clone(),
        By::Day => clock::local_time(entry.wall_ms)
            .chars()
            .take_while(|c| !c.is_whitespace())
            .collect(),
    }
}
