//! The only decision maker: what each event leads to.
//!
//! A turn is judged (`judge`), its promise is held against the evidence
//! (`claims`), the evidence is proven (`verify`, tick by tick in `ticks`, at
//! the end of a phase in `e2e`), and what is left is to end or to go on
//! (`decide`). Handlers don't call each other: each returns what comes next
//! (`Next`), and only this module follows it.

mod acts;
mod beside;
mod breaker;
mod claims;
mod decide;
mod e2e;
mod evidence;
mod failures;
mod forge;
mod judge;
mod lanes;
mod levels;
mod limits;
mod looks;
mod next;
mod out;
mod questions;
mod roles;
mod session;
mod steering;
mod ticks;
mod turn;
mod verify;

use self::evidence::is_due_for_proof;
use self::limits::reached_limit;
use self::looks::{note_lost_tasks, take_in};
use self::next::{Next, stop_outcome};
use self::out::Out;
use super::{
    Effect, Event, Goal, Kind, Limit, MenuAnswer, Notice, Observation, Outcome, PauseReason,
    Request, Stage, State, Undone, WaitReason,
};
use crate::forge::ForgeAnswer;
use crate::template::PromptNote;
use crate::usage::Usage;

/// Takes in one event and says what has to be done now.
///
/// An event that does not fit the stage (a late answer, a turn that was
/// already judged) changes nothing, so that a replay may repeat it.
pub fn step(state: &mut State, event: &Event) -> Vec<Effect> {
    if let Some(seen) = event.kind.seen() {
        state.follow_moved(seen);
    }
    let mut out = Out::default();
    let mut next = take(state, event, &mut out);
    while !matches!(next, Next::Rest) {
        next = follow(state, next, &mut out);
    }
    out.into_effects()
}

fn follow(state: &mut State, next: Next, out: &mut Out) -> Next {
    match next {
        Next::Rest => {}
        Next::GoOn if is_due_for_proof(state) => return Next::Prove,
        Next::GoOn | Next::Decide => return decide::decide(state, out),
        Next::Unclaimed => return claims::after_claims(state),
        Next::CarryOn => return decide::carry_on(state, out),
        Next::Prove => return verify::prove(state, out),
        Next::ProveFlow => return roles::end_of_way(state, out),
        Next::Complete => return verify::complete(state),
        Next::Limit(limit) => return acts::reach_limit(state, limit, out),
        Next::Look => return forge::look(state, out),
        Next::Preflight => acts::preflight(state, out),
        Next::Verify { completes, scope } => acts::verify(state, completes, scope, out),
        Next::RunE2e { completes } => acts::run_e2e(state, completes, out),
        Next::Wait { ms, why } => acts::wait(state, ms, why, out),
        // What was proven is not all any more: the list is looked at again.
        Next::Finish(Outcome::Complete)
            if state.tasks.more_asked && !state.rules.goal.is_on_forge() =>
        {
            return match state.rules.lanes.is_some() {
                true => Next::CarryOn,
                false => Next::Wait {
                    ms: 0,
                    why: WaitReason::Between,
                },
            };
        }
        Next::Finish(outcome) => {
            let waits = lanes::waits_to_end(state, &outcome, out)
                || roles::opens_early_ticks(state, &outcome, out);
            if !waits {
                acts::finish(state, outcome, out);
            }
        }
    }
    Next::Rest
}

/// The tasks that are not shown as well as was asked for; the whole work
/// without a name.
pub(super) fn short_of_proof(state: &State) -> Vec<String> {
    levels::short_of_proof(state)
}

/// Events that don't depend on the stage, some of which also reach a run that
/// is over.
fn take(state: &mut State, event: &Event, out: &mut Out) -> Next {
    let is_over = state.outcome().is_some();
    match &event.kind {
        Kind::Resumed {
            seen,
            budget,
            rules,
        } => {
            state.clock.restart(event.at);
            if let Some(rules) = rules {
                state.rules.take(rules);
                steering::set_aside(state);
            }
            if let Some(budget) = budget {
                state.rules.budget = *budget;
            }
            return resume(state, seen, out);
        }
        Kind::Abandoned => {
            state.clock.restart(event.at);
            return abandon(state);
        }
        Kind::Accepted { tasks, why } => {
            match is_over {
                true => state.clock.restart(event.at),
                false => state.clock.advance(event.at),
            }
            levels::accept(state, tasks, why, out);
        }
        Kind::Archived { name } => {
            let name = name.clone();
            out.tell(Notice::Archive { name });
        }
        Kind::Undone(undone) => take_undone(state, undone, out),
        Kind::GuardBlocked { lines, blocks } => {
            state.guard_lines = state.guard_lines.saturating_add(*lines);
            let iteration = state.turn.number;
            for block in blocks.iter().cloned() {
                out.tell(Notice::GuardBlock { iteration, block });
            }
        }
        Kind::Walled { wall } => {
            state.wall = Some(wall.clone());
            out.tell(Notice::Sandbox { wall: wall.clone() });
        }
        Kind::Denied { denials } => {
            let iteration = state.turn.number;
            for denial in denials.iter().cloned() {
                out.tell(Notice::SandboxDenied { iteration, denial });
            }
        }
        Kind::Replied { question, text } => {
            match is_over {
                true => state.clock.restart(event.at),
                false => state.clock.advance(event.at),
            }
            return questions::take_reply(state, *question, text, out);
        }
        Kind::Steered { steer, task, seen } => {
            match is_over {
                true => state.clock.restart(event.at),
                false => state.clock.advance(event.at),
            }
            return steering::take(state, steer, task.as_deref(), seen.as_deref(), out);
        }
        Kind::Session(session) => {
            if !is_over {
                state.clock.advance(event.at);
            }
            return session::take_session(state, session, out);
        }
        _ if is_over => {}
        Kind::Thawed => state.clock.restart(event.at),
        _ => {
            state.clock.advance(event.at);
            return take_in_stage(state, &event.kind, out);
        }
    }
    Next::Rest
}

/// Events that a run in its stage may wait for.
fn take_in_stage(state: &mut State, kind: &Kind, out: &mut Out) -> Next {
    if let Some(next) = beside::hear(state, kind) {
        return next;
    }
    match (kind, &state.stage) {
        (Kind::Started { seen }, Stage::New) => start(state, seen, out),
        (Kind::TurnEnded(report), Stage::Running)
            if (report.turn, report.attempt) == (state.turn.number, state.turn.attempt) =>
        {
            let next = judge::judge_turn(state, report, out);
            state.note_pace();
            next
        }
        (Kind::Verified(report), &Stage::Verifying { completes })
            if report.turn == state.turn.number =>
        {
            verify::take_verification(state, report, completes, out)
        }
        (Kind::Preflighted(report), Stage::Preflight) => levels::take_preflight(state, report, out),
        (Kind::Unticked { seen, left }, Stage::Unticking { ends }) => {
            let ends = ends.clone();
            take_unticked(state, seen, left, ends, out)
        }
        (Kind::E2eEnded { turn, result }, &Stage::Trying { completes })
            if *turn == state.turn.number =>
        {
            e2e::take_e2e(state, result, completes, out)
        }
        (Kind::Forge { answer }, Stage::Forge(asked)) => {
            let asked = asked.clone();
            forge::take_answer(state, &asked, answer, out)
        }
        (
            Kind::Forge {
                answer: ForgeAnswer::NoTime,
            },
            Stage::Waiting,
        ) if state.pull.waits => forge::hand_over(state),
        (Kind::Woke { seen } | Kind::Nudged { seen }, Stage::Waiting) if state.pull.waits => {
            take_in(state, seen, out);
            Next::Look
        }
        (Kind::Woke { seen }, Stage::Waiting) => wake(state, seen, out),
        (Kind::Nudged { seen }, Stage::Waiting) => {
            let now = state.now().wall_ms;
            state.agents.release(now);
            wake(state, seen, out)
        }
        (Kind::Answered { answer }, &Stage::Asking(limit)) => {
            take_answer(state, answer, limit, out)
        }
        (Kind::Marked { seen }, Stage::Marking) => roles::take_marks(state, seen, out),
        (Kind::Checked(report), Stage::Checking) if report.turn == state.turn.number => {
            roles::take_checks(state, report, out)
        }
        (Kind::Frozen, _) => {
            out.push(Effect::Freeze);
            Next::Rest
        }
        (
            &Kind::Extended {
                iterations,
                duration_ms,
            },
            _,
        ) => {
            limits::extend_by(state, iterations, duration_ms, out);
            // A menu that waits for exactly that is over.
            match state.stage {
                Stage::Asking(_) if reached_limit(state).is_none() => Next::Decide,
                _ => Next::Rest,
            }
        }
        (Kind::Requested { request }, _) => take_request(state, *request, out),
        (Kind::Lane(event), _) => lanes::take(state, event, out),
        _ => Next::Rest,
    }
}

fn start(state: &mut State, seen: &Observation, out: &mut Out) -> Next {
    ticks::know_ticks(state, seen);
    take_in(state, seen, out);
    state.tasks.rebase();
    let now = state.now();
    state.evidence.ground.arm(now);
    state.note_pace();
    roles::begin(state);
    if let Some(text) = state.rules.note.clone() {
        state.notes.push(PromptNote::Landing { text });
    }
    let facts = state.tasks.facts.clone().unwrap_or_default();
    out.tell(Notice::LoopStart {
        tasks: facts.counts(),
    });
    match levels::wants_preflight(state) {
        true => Next::Preflight,
        false => Next::GoOn,
    }
}

/// A dead or paused run is taken up: iterations accumulate, everything that
/// is counted in a row starts afresh, and a reached limit is extended first
/// (RESM-02, RESM-03, BRKR-09).
fn resume(state: &mut State, seen: &Observation, out: &mut Out) -> Next {
    if is_over(state) {
        return Next::Rest;
    }
    if state.stage == Stage::Running {
        state.notes.untell();
        // Its process died with the call: nobody knows what that used.
        if state.session.is_none() && state.rules.lanes.is_none() {
            state.agents.bill.add(Usage::default());
        }
    }
    if let Some(Outcome::Paused {
        reason: PauseReason::Agent(_),
    }) = state.outcome()
    {
        // A person saw to it, or wants to try.
        state.agents.holds.clear();
    }
    roles::resume(state, seen);
    forge::resumed(state);
    state.counters = Default::default();
    state.failures.errors.clear();
    state.turn.failed_starts = 0;
    state.failures.last = None;
    state.stopping = None;
    state.claims.open = None;
    // What still stands in the file is judged again.
    state.ticks.turned_back.clear();
    beside::give_up(state);
    session::forget_blocks(state);
    lanes::resume(state, seen, out);
    take_in(state, seen, out);
    state.tasks.rebase();
    // The process before may have died between a tick and its count.
    out.push(Effect::KeepInStep);
    let iteration = state.turn.number;
    out.tell(Notice::Resume { iteration });
    for limit in [Limit::Iterations, Limit::Duration, Limit::Dispatches] {
        if limits::is_used_up(state, limit) {
            limits::extend(state, limit, out);
        }
    }
    // What a person accepted is not worked on any further.
    let is_accepted = state.rules.goal == Goal::Prompt && levels::is_accepted(state, "");
    match is_accepted {
        true => Next::Prove,
        false if levels::lacks_preflight(state) => Next::Preflight,
        false => Next::GoOn,
    }
}

/// A paused, failed or dead run is given up (RESM-09, INTR-06).
fn abandon(state: &mut State) -> Next {
    lanes::stand_still(state);
    match is_over(state) {
        true => Next::Rest,
        false => Next::Finish(Outcome::Cancelled),
    }
}

/// Complete or given up: nothing takes such a run up again.
fn is_over(state: &State) -> bool {
    matches!(
        state.outcome(),
        Some(Outcome::Complete | Outcome::Cancelled)
    )
}

/// The work is another than the one that was judged: what was complete can be
/// taken up again.
fn take_undone(state: &mut State, undone: &Undone, out: &mut Out) {
    let Some(seen) = &undone.seen else {
        return;
    };
    let before = state.ticks.levels.clone();
    take_in(state, seen, out);
    // What a person brings back is neither the agent's work nor its claim.
    state.evidence.ground.rebase();
    // What was seen of the other work says nothing of this one.
    state.evidence.proven.clear();
    match undone.redo {
        true => state.ticks.recall(),
        false => state.ticks.remembered.extend(before),
    }
    if state.outcome() == Some(&Outcome::Complete) && !undone.redo {
        state.stage = Stage::Finished(Outcome::Paused {
            reason: PauseReason::Undone,
        });
    }
    out.tell(Notice::Undone {
        iteration: undone.turn,
        files: undone.files,
        redo: undone.redo,
    });
}

fn wake(state: &mut State, seen: &Observation, out: &mut Out) -> Next {
    // What was due before the pause was verified and failed then: the agent
    // has to work on it before it is judged again.
    let was_due = is_due_for_proof(state);
    take_in(state, seen, out);
    note_lost_tasks(state, &seen.tasks, out);
    if !was_due && !state.ticks.rests && is_due_for_proof(state) {
        return Next::Prove;
    }
    if let Some(limit) = reached_limit(state) {
        return Next::Limit(limit);
    }
    turn::start_if_possible(state, out)
}

/// The boxes were emptied, and the world was looked at again.
fn take_unticked(
    state: &mut State,
    seen: &Observation,
    left: &[String],
    ends: Option<Outcome>,
    out: &mut Out,
) -> Next {
    // What could not be written is tried again after the next turn.
    state.ticks.turned_back = left.to_vec();
    take_in(state, seen, out);
    out.push(Effect::KeepInStep);
    // Whoever ticks a box again at once has not worked on it: that waits for
    // the next turn.
    state.ticks.rests = true;
    ends.map_or(Next::CarryOn, Next::Finish)
}

fn take_answer(state: &mut State, answer: &MenuAnswer, limit: Limit, out: &mut Out) -> Next {
    match answer {
        MenuAnswer::Extend => {
            limits::extend(state, limit, out);
            match state.pull.waits {
                true => Next::Look,
                false => Next::Decide,
            }
        }
        MenuAnswer::Simplify { skipped, seen } => {
            steering::skip(state, skipped);
            out.tell(Notice::TasksSkipped {
                iteration: state.turn.number,
                ids: skipped.clone(),
            });
            take_in(state, seen, out);
            state.tasks.rebase();
            limits::extend(state, limit, out);
            Next::GoOn
        }
        MenuAnswer::SaveAndExit => Next::pause(PauseReason::Limit(limit)),
        MenuAnswer::Abandon => Next::Finish(Outcome::Cancelled),
    }
}

fn take_request(state: &mut State, request: Request, out: &mut Out) -> Next {
    let child_runs = matches!(
        state.stage,
        Stage::Running
            | Stage::Preflight
            | Stage::Verifying { .. }
            | Stage::Unticking { .. }
            | Stage::Checking
            | Stage::Trying { .. }
            | Stage::Forge(_)
    );
    // Lanes have children of their own, which end with the run.
    let only_lanes = state.rules.lanes.is_some() && state.stage == Stage::Running;
    state.stopping = state.stopping.max(Some(request));
    if !child_runs || only_lanes {
        return stop_outcome(state).map_or(Next::Rest, Next::Finish);
    }
    if request != Request::Pause {
        let kill = request == Request::Kill;
        out.push(Effect::StopChild { kill });
    }
    Next::Rest
}
