//! Lanes: who begins what, who may call an agent, and what lands next.

use std::collections::BTreeSet;

use super::limits::reached_limit;
use super::next::{Next, stop_outcome};
use super::out::Out;
use super::turn::{HOUR_MS, rate_delay};
use crate::machine::lanes::{
    Doing, LaneEnd, LaneEvent, LaneHint, LaneNotice, LaneOrder, MOST_RETURNS, Seat,
};
use crate::machine::{
    Allowance, Effect, Hint, LaneTask, Observation, Outcome, Request, Stage, State, TaskFacts,
    Tasks,
};
use crate::template;
use crate::usage::Usage;

pub(super) fn take(state: &mut State, event: &LaneEvent, out: &mut Out) -> Next {
    match event {
        LaneEvent::Began { lane, base } => {
            if let Some(seat) = state.lanes.seats.get_mut(lane) {
                seat.base = Some(base.clone());
            }
            Next::Rest
        }
        LaneEvent::Asks { lane, calls } => {
            book(state, *lane, calls);
            if let Some(seat) = state.lanes.seats.get_mut(lane) {
                seat.doing = Doing::Asking;
                seat.granted = None;
            }
            advance(state, out)
        }
        LaneEvent::Heard { hint, .. } => {
            hear(state, *hint);
            Next::Rest
        }
        LaneEvent::Held { until, .. } => {
            state.lanes.held_until = state.lanes.held_until.max(*until);
            Next::Rest
        }
        LaneEvent::Ended { lane, calls, end } => {
            book(state, *lane, calls);
            let lands = state.lanes.landing.take_if(|(landing, _)| landing == lane);
            if lands.is_some() {
                forget_ticks(state, *lane);
            }
            take_end(state, *lane, end, out);
            match lands {
                Some(_) => behind_failure(state, out),
                None => advance(state, out),
            }
        }
        LaneEvent::Merged { lane, tree, tip } => {
            state.lanes.landing = Some((*lane, Some((tree.clone(), tip.clone()))));
            Next::Rest
        }
        LaneEvent::Conflict {
            lane,
            tree,
            tip,
            files,
        } => {
            state.lanes.landing = None;
            let files = files.join(", ");
            let note = format!(
                "Others changed the same places meanwhile. Their work and yours are merged in this tree, with conflict marks in: {files}. Resolve each of them so that both purposes are kept, run the checks, and mark the task as done again."
            );
            let why = format!("conflict in {files}");
            give_back(state, *lane, (tree.clone(), tip.clone()), why, note, out);
            advance(state, out)
        }
        LaneEvent::Landed { lane, commit } => take_landed(state, *lane, commit, out),
        LaneEvent::Moved { lane } => {
            forget_ticks(state, *lane);
            state.lanes.landing = None;
            queue_first(state, *lane);
            match state.stage {
                Stage::Landing { .. } => Next::CarryOn,
                _ => advance(state, out),
            }
        }
    }
}

/// Its ticks were in a tree that is not there any more.
fn forget_ticks(state: &mut State, lane: u32) {
    let seat = state.lanes.seats.get(&lane);
    for id in seat.map(|seat| seat.task.ids()).unwrap_or_default() {
        if state.ticks.done.remove(&id) {
            state.tasks.take_one_back();
        }
        state.ticks.proofs.remove(&id);
        state.ticks.levels.remove(&id);
        state.ticks.unchecked.retain(|task| task.id != id);
    }
}

fn book(state: &mut State, lane: u32, calls: &[Usage]) {
    for &used in calls {
        state.agents.bill.add(used);
    }
    if let Some(seat) = state.lanes.seats.get_mut(&lane) {
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        seat.calls = seat.calls.saturating_add(count);
    }
}

fn take_end(state: &mut State, lane: u32, end: &LaneEnd, out: &mut Out) {
    let Some(seat) = state.lanes.seats.get_mut(&lane) else {
        return;
    };
    seat.granted = None;
    let task = seat.task.id.clone();
    match end {
        // Its run goes on later, and what it called is booked once.
        LaneEnd::Stopped => seat.doing = Doing::Stopped,
        LaneEnd::Ready { commit } => {
            seat.calls = 0;
            seat.result = Some(commit.clone());
            seat.doing = Doing::Queued;
            state.lanes.queue.push(lane);
            out.tell(LaneNotice::LaneReady { lane, task });
        }
        LaneEnd::Short { outcome, reason } => {
            state.lanes.seats.remove(&lane);
            let why = match reason.is_empty() || reason == outcome {
                true => outcome.clone(),
                false => format!("{outcome}: {reason}"),
            };
            park(state, task, why, out);
        }
    }
}

fn park(state: &mut State, task: String, why: String, out: &mut Out) {
    state.lanes.parked.insert(task.clone(), why.clone());
    out.tell(LaneNotice::LaneParked { task, why });
}

fn take_landed(state: &mut State, lane: u32, commit: &str, out: &mut Out) -> Next {
    state.lanes.landing = None;
    if let Some(seat) = state.lanes.seats.remove(&lane) {
        let task = seat.task.id;
        state.lanes.landed.insert(task.clone(), commit.to_owned());
        out.tell(LaneNotice::LaneLanded {
            lane,
            task,
            commit: commit.to_owned(),
        });
    }
    match &state.stage {
        Stage::Landing {
            ends: Some(outcome),
        } => Next::Finish(outcome.clone()),
        Stage::Landing { ends: None } => Next::CarryOn,
        _ => advance(state, out),
    }
}

/// Git could not do what was to land: whatever was judged was judged with it.
fn behind_failure(state: &mut State, out: &mut Out) -> Next {
    let Stage::Landing { ends } = &state.stage else {
        return advance(state, out);
    };
    let ends = ends.clone().filter(|outcome| *outcome != Outcome::Complete);
    match ends.or_else(|| stop_outcome(state)) {
        Some(outcome) => Next::Finish(outcome),
        None => {
            state.stage = Stage::Running;
            advance(state, out)
        }
    }
}

/// What is merged goes back to its owner, with what is wrong with it.
fn give_back(
    state: &mut State,
    lane: u32,
    on: (String, String),
    why: String,
    note: String,
    out: &mut Out,
) {
    let Some(seat) = state.lanes.seats.get_mut(&lane) else {
        return;
    };
    let task = seat.task.clone();
    let returns = state.lanes.returns.entry(task.id.clone()).or_default();
    *returns += 1;
    if *returns > MOST_RETURNS {
        state.lanes.seats.remove(&lane);
        return park(state, task.id, why, out);
    }
    seat.doing = Doing::Returned;
    seat.result = None;
    seat.base = None;
    seat.note = Some(note);
    seat.on = Some(on);
    let task = task.id;
    out.tell(LaneNotice::LaneReturned { lane, task, why });
}

fn hear(state: &mut State, id: u32) {
    let turn = state.turn.number;
    if let Some(hint) = state.hints.iter_mut().find(|hint| hint.id == id) {
        hint.told_in.get_or_insert(turn);
    }
}

/// What whoever begins now has to hear.
fn hints(state: &mut State) -> Vec<LaneHint> {
    let turn = state.turn.number;
    let open = state.hints.iter_mut().filter(|hint| hint.is_open());
    open.map(|hint| {
        hint.told_in.get_or_insert(turn);
        hint.said()
    })
    .collect()
}

/// A person said something: whoever is at work hears it before the next turn.
pub(super) fn tell_all(state: &State, hint: &Hint, out: &mut Out) {
    for (&lane, _) in state
        .lanes
        .seats
        .iter()
        .filter(|(_, seat)| seat.is_at_work())
    {
        out.push(Effect::Lane(LaneOrder::Tell {
            lane,
            hint: hint.id,
            said: hint.said(),
        }));
    }
}

/// What came back goes before what was not begun.
fn begin_again(state: &mut State, count: u32, out: &mut Out) {
    while state.lanes.working() < count as usize {
        let is_back = |(_, seat): &(&u32, &Seat)| seat.doing == Doing::Returned;
        let Some((&lane, _)) = state.lanes.seats.iter().find(is_back) else {
            return;
        };
        let hints = hints(state);
        let Some(seat) = state.lanes.seats.get_mut(&lane) else {
            return;
        };
        seat.doing = Doing::Working;
        out.push(Effect::Lane(LaneOrder::Start {
            lane,
            task: seat.task.clone(),
            on: seat.on.clone(),
            standing: None,
            note: seat.note.clone(),
            hints,
        }));
    }
}

fn queue_first(state: &mut State, lane: u32) {
    if let Some(seat) = state.lanes.seats.get_mut(&lane) {
        seat.doing = Doing::Queued;
        state.lanes.queue.retain(|&other| other != lane);
        state.lanes.queue.insert(0, lane);
    }
}

/// Begins, grants and lands whatever can be.
pub(super) fn advance(state: &mut State, out: &mut Out) -> Next {
    let Some(rules) = state.rules.lanes.clone() else {
        return Next::Rest;
    };
    if let Stage::Closing(outcome) = &state.stage {
        return match state.lanes.working() {
            0 => Next::Finish(outcome.clone()),
            _ => Next::Rest,
        };
    }
    if state.stopping.is_some() {
        return Next::Rest;
    }
    begin_again(state, rules.count, out);
    let there = on_the_branch(state);
    loop {
        let (skipped, focus) = (&state.tasks.skipped, state.tasks.focus.as_ref());
        let Some(task) = state.lanes.next(&rules, &there, skipped, focus) else {
            break;
        };
        begin(state, task, out);
    }
    if let Some(next) = grant(state, out) {
        return next;
    }
    if state.stage != Stage::Running || state.lanes.landing.is_some() {
        return Next::Rest;
    }
    if !state.lanes.queue.is_empty() {
        let lane = state.lanes.queue.remove(0);
        land(state, lane, out);
        return Next::Rest;
    }
    match state.lanes.seats.is_empty() {
        true => Next::Finish(Outcome::Blocked {
            reason: nothing_left(state),
        }),
        false => Next::Rest,
    }
}

/// A tick in the tree that is checked is not there yet.
fn on_the_branch(state: &State) -> BTreeSet<String> {
    let seats = state.lanes.seats.values();
    let held: BTreeSet<&String> = seats
        .flat_map(|seat| std::iter::once(&seat.task.id).chain(&seat.task.nested))
        .collect();
    let done = state.ticks.done.iter();
    done.filter(|id| !held.contains(id)).cloned().collect()
}

fn begin(state: &mut State, task: LaneTask, out: &mut Out) {
    let lane = state.lanes.free_lane();
    out.tell(LaneNotice::LaneStart {
        lane,
        task: task.id.clone(),
        text: task.text.clone(),
    });
    let seat = Seat {
        task: task.clone(),
        doing: Doing::Working,
        base: None,
        result: None,
        calls: 0,
        granted: None,
        note: None,
        on: None,
    };
    state.lanes.seats.insert(lane, seat);
    if state.tasks.focus.as_ref() == Some(&task.id) {
        state.tasks.focus = None;
    }
    out.push(Effect::Lane(LaneOrder::Start {
        lane,
        task,
        on: None,
        standing: None,
        note: None,
        hints: hints(state),
    }));
}

fn land(state: &mut State, lane: u32, out: &mut Out) {
    let Some(seat) = state.lanes.seats.get_mut(&lane) else {
        return;
    };
    let Some(commit) = seat.result.clone() else {
        return;
    };
    seat.doing = Doing::Landing;
    let task = seat.task.clone();
    state.turn.task = Some(crate::machine::TaskRef {
        id: task.id.clone(),
        text: task.text.clone(),
        phase: None,
    });
    state.lanes.landing = Some((lane, None));
    out.push(Effect::Lane(LaneOrder::Land { lane, task, commit }));
}

/// Lets the lanes that ask call their agents, as far as all limits together
/// allow it.
fn grant(state: &mut State, out: &mut Out) -> Option<Next> {
    let asks = |seat: &Seat| seat.doing == Doing::Asking;
    let asking: Vec<u32> = {
        let seats = state.lanes.seats.iter();
        seats
            .filter(|(_, seat)| asks(seat))
            .map(|(lane, _)| *lane)
            .collect()
    };
    for lane in asking {
        if let Some(kind) = state.rules.budget.used_up(&state.agents.bill) {
            let limit = kind.into_str().into();
            return Some(Next::Finish(Outcome::Budget { limit }));
        }
        if let Some(limit) = reached_limit(state) {
            return Some(Next::Limit(limit));
        }
        let running: Vec<Allowance> = {
            let seats = state.lanes.seats.values();
            seats.filter_map(|seat| seat.granted).collect()
        };
        // Whoever is about to ask gets the same, whoever asks first.
        let waits = |seat: &&Seat| seat.is_at_work() && seat.granted.is_none();
        let sharers = state.lanes.seats.values().filter(waits).count();
        let sharers = u64::try_from(sharers).unwrap_or(u64::MAX);
        let bill = &state.agents.bill;
        // Nothing is left beside what runs already: its end is waited for.
        let allowance = state.rules.budget.for_lane(bill, &running, sharers)?;
        let now = state.now().wall_ms;
        let delay = rate_delay(state);
        let by_rate = now.saturating_add(i64::try_from(delay).unwrap_or(i64::MAX));
        if state.rules.limits.calls_per_hour > 0 {
            let now = state.elapsed_ms();
            let calls = &mut state.agents.recent_calls;
            calls.retain(|&start| start + HOUR_MS > now);
            calls.push(now.saturating_add(delay));
        }
        state.lanes.calls = state.lanes.calls.saturating_add(1);
        state.agents.dispatches = state.agents.dispatches.saturating_add(1);
        if let Some(seat) = state.lanes.seats.get_mut(&lane) {
            seat.doing = Doing::Working;
            seat.granted = Some(allowance);
        }
        out.push(Effect::Lane(LaneOrder::Grant {
            lane,
            not_before: by_rate.max(state.lanes.held_until),
            allowance,
        }));
    }
    None
}

/// What was merged was judged: it becomes the tip, or goes back.
pub(super) fn settle(state: &mut State, ends: Option<Outcome>, out: &mut Out) -> bool {
    let Some((lane, Some((tree, tip)))) = state.lanes.landing.clone() else {
        return false;
    };
    let Some(seat) = state.lanes.seats.get(&lane) else {
        return false;
    };
    let task = seat.task.clone();
    if is_done(state, &task) {
        state.stage = Stage::Landing { ends };
        let order = LaneOrder::Commit {
            lane,
            task,
            tree,
            tip,
        };
        out.push(Effect::Lane(order));
        return true;
    }
    // Whoever ends now judges it again when the run is taken up.
    if ends.is_none() {
        state.lanes.landing = None;
        let notes = std::mem::take(&mut state.notes.next);
        let note = template::words(&notes);
        let said = note.lines().map(str::trim).find(|line| !line.is_empty());
        let why = said.unwrap_or("it is not shown where it was to land");
        let why = why.trim_end_matches(':').to_owned();
        give_back(state, lane, (tree, tip), why, note, out);
    }
    false
}

/// Its tick was judged and stands.
fn is_done(state: &State, task: &LaneTask) -> bool {
    let ids = std::iter::once(&task.id).chain(&task.nested);
    let ticks = &state.ticks;
    ids.into_iter().all(|id| {
        ticks.done.contains(id)
            && !ticks.turned_back.contains(id)
            && ticks.unchecked.iter().all(|waiting| waiting.id != *id)
    })
}

/// The run ends behind what lands and behind its lanes: what they used belongs
/// to it.
pub(super) fn waits_to_end(state: &mut State, outcome: &Outcome, out: &mut Out) -> bool {
    let lands = match &mut state.stage {
        Stage::Landing { ends } if state.lanes.landing.is_some() => {
            *ends = Some(outcome.clone());
            true
        }
        Stage::Landing { .. } | Stage::Closing(_) => false,
        _ => settle(state, Some(outcome.clone()), out),
    };
    lands || close(state, outcome, out)
}

fn close(state: &mut State, outcome: &Outcome, out: &mut Out) -> bool {
    if state.lanes.working() == 0 {
        return false;
    }
    // Why it ends stays true for whoever only wants it to be quicker.
    let ends = match &state.stage {
        Stage::Closing(first)
            if *outcome != Outcome::Cancelled && !matches!(first, Outcome::Paused { .. }) =>
        {
            first.clone()
        }
        _ => outcome.clone(),
    };
    let how = match (&ends, state.stopping) {
        (_, Some(Request::Kill)) => Request::Kill,
        (Outcome::Paused { .. }, _) => Request::Pause,
        _ => Request::Interrupt,
    };
    state.stage = Stage::Closing(ends);
    out.push(Effect::Lane(LaneOrder::Close { how }));
    true
}

/// Nobody drives this run: its lanes ended when its process did.
pub(super) fn stand_still(state: &mut State) {
    let seats = state.lanes.seats.values_mut();
    for seat in seats.filter(|seat| seat.is_at_work()) {
        seat.doing = Doing::Stopped;
    }
}

/// A process before this one left them: what lies on the branch is what
/// counts.
pub(super) fn resume(state: &mut State, seen: &Observation, out: &mut Out) {
    if state.rules.lanes.is_none() {
        return;
    }
    if let Tasks::Read(TaskFacts { ticked, .. }) = &seen.tasks {
        let is_ticked = |id: &String| ticked.iter().any(|task| task.id == *id);
        state.ticks.done.retain(is_ticked);
        state.ticks.unchecked.retain(|task| is_ticked(&task.id));
        state.ticks.levels.retain(|id, _| is_ticked(id));
        state.ticks.proofs.retain(|id, _| is_ticked(id));
    }
    state.lanes.parked.clear();
    state.lanes.returns.clear();
    if let Some((lane, _)) = state.lanes.landing.take() {
        let seat = state.lanes.seats.get(&lane).cloned();
        let landed = seat.filter(|seat| state.ticks.done.contains(&seat.task.id));
        match landed {
            // It was the tip before anybody could write that down.
            Some(seat) => {
                state.lanes.seats.remove(&lane);
                state.lanes.landed.insert(seat.task.id, String::new());
            }
            None => queue_first(state, lane),
        }
    }
    stand_still(state);
    let was_at_work = |seat: &Seat| seat.doing == Doing::Stopped;
    let hints = match state.lanes.seats.values().any(was_at_work) {
        true => hints(state),
        false => Vec::new(),
    };
    for (&lane, seat) in &mut state.lanes.seats {
        if !was_at_work(seat) {
            continue;
        }
        seat.doing = Doing::Working;
        seat.granted = None;
        out.push(Effect::Lane(LaneOrder::Start {
            lane,
            task: seat.task.clone(),
            on: seat.on.clone(),
            standing: seat.base.clone(),
            note: seat.note.clone(),
            hints: hints.clone(),
        }));
    }
}

/// Why nobody can go on.
fn nothing_left(state: &State) -> String {
    let parked = state.lanes.parked.iter();
    let mut left: Vec<String> = parked.map(|(task, why)| format!("{task}: {why}")).collect();
    let rules = state.rules.lanes.iter().flat_map(|rules| &rules.tasks);
    for task in rules {
        let known =
            state.ticks.done.contains(&task.id) || state.lanes.parked.contains_key(&task.id);
        let waits = task
            .after
            .iter()
            .filter(|id| !state.ticks.done.contains(*id));
        if !known && !state.tasks.skipped.contains(&task.id) {
            let waits: Vec<&str> = waits.map(String::as_str).collect();
            left.push(format!("{}: waits for {}", task.id, waits.join(", ")));
        }
    }
    left.join("; ")
}
