//! The only decision maker: what each event leads to.
//!
//! A turn is judged (`judge`), its promise is held against the evidence
//! (`claims`), the evidence is proven (`verify`, tick by tick in `ticks`, at
//! the end of a phase in `e2e`), and what is left is to end or to go on
//! (`decide`).

mod claims;
mod decide;
mod e2e;
mod forge;
mod judge;
mod out;
mod questions;
mod roles;
mod session;
mod ticks;
mod verify;

use self::decide::{
    decide, dispatches_used_up, duration_used_up, extend, finish, iterations_used_up, reach_limit,
    reached_limit, start_turn, stop_outcome, wait_for_agent,
};
use self::e2e::judge_e2e;
use self::judge::{judge_turn, note_lost_tasks};
use self::out::Out;
use self::session::{forget_blocks, take_session};
pub(super) use self::ticks::unchecked;
use self::ticks::{after_unticking, know_ticks, note_weakened, take_ticks};
use self::verify::{judge_verification, looks_complete, verify_or_complete};
use super::{
    Answer, Effect, Event, Kind, Limit, Notice, Outcome, PauseReason, Request, Seen, Stage, State,
};
use crate::forge::ForgeAnswer;

/// Takes in one event and says what has to be done now.
///
/// An event that does not fit the stage (a late answer, a turn that was
/// already judged) changes nothing, so that a replay may repeat it.
pub fn step(state: &mut State, event: &Event) -> Vec<Effect> {
    let mut out = Out::default();
    take(state, event, &mut out);
    out.into_effects()
}

fn take(state: &mut State, event: &Event, out: &mut Out) {
    if let Kind::Resumed { seen, budget } = &event.kind {
        state.clock.restart(event.at);
        if let Some(budget) = budget {
            state.rules.budget = *budget;
        }
        resume(state, seen, out);
        return;
    }
    if let Kind::Abandoned = &event.kind {
        state.clock.restart(event.at);
        abandon(state, out);
        return;
    }
    if let Kind::Archived { name } = &event.kind {
        let name = name.clone();
        out.tell(Notice::Archive { name });
        return;
    }
    if let Kind::GuardBlocked { lines, blocks } = &event.kind {
        state.guard_lines = state.guard_lines.saturating_add(*lines);
        let iteration = state.turns;
        for block in blocks.iter().cloned() {
            out.tell(Notice::GuardBlock { iteration, block });
        }
        return;
    }
    if let Kind::Replied { question, text } = &event.kind {
        match state.outcome() {
            Some(_) => state.clock.restart(event.at),
            None => state.clock.advance(event.at),
        }
        questions::take_reply(state, *question, text, out);
        return;
    }
    if let Kind::Session(session) = &event.kind {
        if state.outcome().is_none() {
            state.clock.advance(event.at);
        }
        take_session(state, session, out);
        return;
    }
    if state.outcome().is_some() {
        return;
    }
    if let Kind::Thawed = &event.kind {
        state.clock.restart(event.at);
        return;
    }
    state.clock.advance(event.at);
    match (&event.kind, &state.stage) {
        (Kind::Frozen, _) => out.push(Effect::Freeze),
        (Kind::Started { seen }, Stage::New) => start(state, seen, out),
        (Kind::TurnEnded(report), Stage::Running)
            if (report.turn, report.attempt) == (state.turns, state.attempt) =>
        {
            judge_turn(state, report, out)
        }
        (Kind::Verified(report), Stage::Verifying { completes }) if report.turn == state.turns => {
            let completes = *completes;
            judge_verification(state, report, completes, out);
        }
        (Kind::Unticked { seen, left }, Stage::Unticking) => {
            after_unticking(state, seen, left, out);
        }
        (Kind::E2eEnded { turn, result }, Stage::Trying { completes }) if *turn == state.turns => {
            let completes = *completes;
            judge_e2e(state, result, completes, out);
        }
        (Kind::Forge { answer }, Stage::Forge(asked)) => {
            let asked = asked.clone();
            forge::take_answer(state, &asked, answer, out);
        }
        (
            Kind::Forge {
                answer: ForgeAnswer::NoTime,
            },
            Stage::Waiting,
        ) if state.pull.waits => forge::hand_over(state, out),
        (Kind::Woke { seen } | Kind::Nudged { seen }, Stage::Waiting) if state.pull.waits => {
            state.pull.waits = false;
            take_in(state, seen, out);
            forge::look(state, out);
        }
        (Kind::Woke { seen }, Stage::Waiting) => wake(state, seen, out),
        (Kind::Nudged { seen }, Stage::Waiting) => {
            release_agents(state);
            wake(state, seen, out);
        }
        (Kind::Answered { answer }, Stage::Asking(limit)) => {
            let limit = *limit;
            take_answer(state, answer, limit, out);
        }
        (Kind::Marked { seen }, Stage::Marking) => roles::marked(state, seen, out),
        (Kind::Checked(report), Stage::Checking) if report.turn == state.turns => {
            roles::checked(state, report, out);
        }
        (
            Kind::Extended {
                iterations,
                duration_ms,
            },
            _,
        ) => questions::extend_by(state, *iterations, *duration_ms, out),
        (Kind::Requested { request }, _) => take_request(state, *request, out),
        _ => {}
    }
}

fn start(state: &mut State, seen: &Seen, out: &mut Out) {
    know_ticks(state, &seen.tasks);
    take_in(state, seen, out);
    rebase(state);
    roles::begin(state);
    let facts = state.tasks.clone().unwrap_or_default();
    out.tell(Notice::LoopStart {
        total: facts.total,
        completed: facts.completed,
        pending: facts.pending,
    });
    go_on(state, out);
}

/// A dead or paused run is taken up: iterations accumulate, everything that
/// is counted in a row starts afresh, and a reached limit is extended first
/// (RESM-02, RESM-03, BRKR-09).
fn resume(state: &mut State, seen: &Seen, out: &mut Out) {
    if is_over(state) {
        return;
    }
    if state.stage == Stage::Running {
        state.untell();
    }
    if matches!(
        state.outcome(),
        Some(Outcome::Paused {
            reason: PauseReason::Agent(_)
        })
    ) {
        // A person saw to it, or wants to try.
        state.holds.clear();
    }
    roles::resume(state, seen);
    forge::resumed(state);
    state.counters = Default::default();
    state.errors.clear();
    state.last_failure = None;
    state.stopping = None;
    state.claim = None;
    // What still stands in the file is judged again.
    state.turned_back.clear();
    forget_blocks(state);
    take_in(state, seen, out);
    rebase(state);
    // The process before may have died between a tick and its count.
    out.push(Effect::KeepInStep);
    out.tell(Notice::Resume {
        iteration: state.turns,
    });
    if iterations_used_up(state) {
        extend(state, Limit::Iterations, out);
    }
    if duration_used_up(state) {
        extend(state, Limit::Duration, out);
    }
    if dispatches_used_up(state) {
        extend(state, Limit::Dispatches, out);
    }
    go_on(state, out);
}

/// A paused, failed or dead run is given up (RESM-09, INTR-06).
fn abandon(state: &mut State, out: &mut Out) {
    if !is_over(state) {
        finish(state, Outcome::Cancelled, out);
    }
}

/// Complete or given up: nothing takes such a run up again.
fn is_over(state: &State) -> bool {
    matches!(
        state.outcome(),
        Some(Outcome::Complete | Outcome::Cancelled)
    )
}

fn wake(state: &mut State, seen: &Seen, out: &mut Out) {
    // What looked complete before the pause was verified and failed then: the
    // agent has to work on it before it is judged again.
    let judged = looks_complete(state);
    take_in(state, seen, out);
    note_lost_tasks(state, &seen.tasks, out);
    if !judged && looks_complete(state) {
        verify_or_complete(state, out);
    } else if let Some(limit) = reached_limit(state) {
        reach_limit(state, limit, out);
    } else if questions::hold_everything(state, out) {
        questions::wait_for_answer(state, out);
    } else if state.free_agent().is_none() {
        // A clock that was set back, or a sleep that ended early.
        wait_for_agent(state, out);
    } else {
        start_turn(state, out);
    }
}

/// Somebody knows better than the agent's limit.
fn release_agents(state: &mut State) {
    let now = state.now().wall_ms;
    for hold in state.holds.values_mut() {
        hold.until = Some(now);
    }
}

/// What changed while no agent ran is nobody's progress, but it was seen.
fn take_in(state: &mut State, seen: &Seen, out: &mut Out) {
    state.take_tasks(&seen.tasks);
    roles::observe(state, seen);
    take_ticks(state, &seen.tasks);
    note_weakened(state, seen, out);
    let kinds = state.rules.evidence;
    state.progress.observe(seen, kinds);
}

/// From here on the task file must not lose tasks.
fn rebase(state: &mut State) {
    state.most_tasks = state.tasks.as_ref().map_or(0, |t| t.total);
}

fn go_on(state: &mut State, out: &mut Out) {
    if looks_complete(state) {
        verify_or_complete(state, out);
    } else {
        decide(state, out);
    }
}

fn take_answer(state: &mut State, answer: &Answer, limit: Limit, out: &mut Out) {
    match answer {
        Answer::Extend => {
            extend(state, limit, out);
            if state.pull.waits {
                forge::look(state, out);
            } else {
                decide(state, out);
            }
        }
        Answer::Simplify { skipped, seen } => {
            state.skipped.extend(skipped.iter().cloned());
            out.tell(Notice::TasksSkipped {
                iteration: state.turns,
                ids: skipped.clone(),
            });
            take_in(state, seen, out);
            rebase(state);
            extend(state, limit, out);
            go_on(state, out);
        }
        Answer::SaveAndExit => finish(
            state,
            Outcome::Paused {
                reason: PauseReason::Limit(limit),
            },
            out,
        ),
        Answer::Abandon => finish(state, Outcome::Cancelled, out),
    }
}

fn take_request(state: &mut State, request: Request, out: &mut Out) {
    let child_runs = matches!(
        state.stage,
        Stage::Running
            | Stage::Verifying { .. }
            | Stage::Unticking
            | Stage::Checking
            | Stage::Trying { .. }
            | Stage::Forge(_)
    );
    state.stopping = state.stopping.max(Some(request));
    if !child_runs {
        if let Some(outcome) = stop_outcome(state) {
            finish(state, outcome, out);
        }
    } else if request != Request::Pause {
        out.push(Effect::StopChild {
            kill: request == Request::Kill,
        });
    }
}
