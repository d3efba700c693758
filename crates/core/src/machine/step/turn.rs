//! The next turn: when it begins, and with whom.

use super::levels;
use super::next::Next;
use super::out::Out;
use super::session::count_block;
use super::{questions, roles, steering};
use crate::machine::refusal::Hold;
use crate::machine::{Effect, Need, Notice, PauseReason, Refusal, Stage, State, Turn, WaitReason};

pub(super) const HOUR_MS: u64 = 60 * 60 * 1000;

/// Begins the next turn, at once or after the pause that is due.
pub(super) fn next_turn(state: &mut State, out: &mut Out) -> Next {
    if let Some(obstacle) = obstacle(state, out) {
        return obstacle;
    }
    match delay(state) {
        (0, _) => start_turn(state, out),
        (ms, why) => Next::Wait { ms, why },
    }
}

/// The same after a pause.
pub(super) fn start_if_possible(state: &mut State, out: &mut Out) -> Next {
    // A clock may have been set back, or the sleep ended early.
    match obstacle(state, out) {
        Some(obstacle) => obstacle,
        None => start_turn(state, out),
    }
}

/// What keeps any agent from being called.
fn obstacle(state: &mut State, out: &mut Out) -> Option<Next> {
    if questions::hold_everything(state, out) {
        return Some(questions::wait_for_answer(state));
    }
    state.free_agent().is_none().then(|| wait_for_agent(state))
}

/// No agent can be called: the soonest reset is waited for, unless that takes
/// a person or too long.
fn wait_for_agent(state: &State) -> Next {
    let now = state.now().wall_ms;
    let holds = state.agents.holds.values();
    let ends = holds
        .clone()
        .filter_map(|hold| Some((hold.until?, hold.why)));
    let needs = |hold: &Hold| match hold.why {
        Refusal::Person(need) => Some(need),
        _ => None,
    };
    let Some((until, why)) = ends.min_by_key(|&(until, _)| until) else {
        let need = holds.filter_map(needs).next().unwrap_or(Need::Login);
        return Next::pause(PauseReason::Agent(need));
    };
    let ms = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
    let longest = state.rules.limits.max_wait_ms;
    if longest > 0 && ms > longest {
        return Next::pause(PauseReason::Agent(Need::LongWait));
    }
    let why = match why {
        Refusal::Overload { .. } => WaitReason::Overload,
        _ => WaitReason::Limit,
    };
    Next::Wait { ms, why }
}

fn delay(state: &State) -> (u64, WaitReason) {
    let limits = &state.rules.limits;
    let seed = state.now().wall_ms.unsigned_abs();
    let backoff = match state.turn.failed_starts.max(state.counters.errors) {
        0 => 0,
        n => limits.retry.jittered_ms(n, seed),
    };
    let between = if state.turn.number == 0 {
        0
    } else {
        limits.pause_between_ms
    };
    let lands = state.rules.lanes.is_some();
    let between = if lands { 0 } else { between };
    let rate = if lands { 0 } else { rate_delay(state) };
    [
        (backoff, WaitReason::Backoff),
        (rate, WaitReason::Rate),
        (between, WaitReason::Between),
    ]
    .into_iter()
    .max_by_key(|&(ms, _)| ms)
    .unwrap_or((0, WaitReason::Between))
}

pub(super) fn rate_delay(state: &State) -> u64 {
    let allowed = state.rules.limits.calls_per_hour as usize;
    if allowed == 0 || state.agents.recent_calls.len() < allowed {
        return 0;
    }
    let oldest = state.agents.recent_calls[state.agents.recent_calls.len() - allowed];
    (oldest + HOUR_MS).saturating_sub(state.elapsed_ms())
}

fn start_turn(state: &mut State, out: &mut Out) -> Next {
    if let Some(instead) = roles::before_turn(state, out) {
        return instead;
    }
    let lands = state.rules.lanes.is_some();
    if !lands {
        state.agents.dispatches = state.agents.dispatches.saturating_add(1);
    }
    let again = std::mem::take(&mut state.turn.repeat);
    if again.is_some() {
        state.turn.attempt += 1;
    } else {
        state.turn.number += 1;
        state.turn.attempt = 1;
    }
    state.stage = Stage::Running;
    state.ticks.rests = false;
    state.e2e.due |= std::mem::take(&mut state.e2e.broken);
    // What was proven is proven of the work before this turn.
    state.evidence.proven.clear();
    state.evidence.left_by_phases = None;
    state.turn.phase = state.phase();
    if state.rules.limits.calls_per_hour > 0 && !lands {
        let now = state.elapsed_ms();
        let calls = &mut state.agents.recent_calls;
        calls.retain(|&start| start + HOUR_MS > now);
        calls.push(now);
    }
    let iteration = state.turn.number;
    let before = state.failures.errors.last().map(|error| error.class);
    if let Some(class) = again.or(before) {
        out.tell(Notice::IterationRetry { iteration, class });
    }
    switch_agent(state, out);
    count_block(state, out);
    let max = state.rules.limits.max_iterations;
    let warn = state.rules.limits.warn_at.first_iteration(max);
    if max > 0 && warn.is_some_and(|warn| iteration >= warn) {
        out.tell(Notice::LimitNear { iteration, max });
    }
    // What lands next is known when it comes.
    let task = state.current_task().filter(|_| !lands).cloned();
    state.turn.task.clone_from(&task);
    out.tell(Notice::IterationStart {
        iteration,
        phase: state.turn.phase.clone(),
        task: task.clone(),
    });
    tell_waiting(state, out);
    if lands {
        state.notes.next.clear();
        return super::lanes::advance(state, out);
    }
    questions::remind(state);
    steering::remind(state);
    let flow = roles::turn(state, out);
    levels::note_checks(state);
    out.push(Effect::RunAgent(Turn {
        turn: iteration,
        attempt: state.turn.attempt,
        agent: state.agents.current,
        allowance: state.rules.budget.for_call(&state.agents.bill),
        timeout_ms: turn_timeout(state),
        left_ms: left_of_the_run(state),
        phase: state.turn.phase.clone(),
        task,
        notes: state.notes.tell(),
        flow,
    }));
    Next::Rest
}

/// Why the tasks before this one are not worked on, when that is news.
pub(super) fn tell_waiting(state: &mut State, out: &mut Out) {
    let facts = state.tasks.facts.as_ref();
    let waiting = facts.map_or(&[][..], |facts| &facts.waiting);
    if waiting == state.tasks.told_waiting {
        return;
    }
    let waiting = waiting.to_vec();
    state.tasks.told_waiting.clone_from(&waiting);
    if !waiting.is_empty() {
        out.tell(Notice::TasksWaiting {
            iteration: state.turn.number,
            waiting,
        });
    }
}

/// The first choice comes back as soon as it can be called.
fn switch_agent(state: &mut State, out: &mut Out) {
    let agent = state.free_agent().unwrap_or(state.agents.current);
    let before = std::mem::replace(&mut state.agents.current, agent);
    if before != agent {
        out.tell(Notice::AgentSwitched {
            iteration: state.turn.number,
            from: state.agent_name(before).into(),
            to: state.agent_name(agent).into(),
        });
    }
}

fn turn_timeout(state: &State) -> u64 {
    [
        state.rules.limits.iteration_timeout_ms,
        left_of_the_run(state),
    ]
    .into_iter()
    .filter(|&ms| ms > 0)
    .min()
    .unwrap_or(0)
}

fn left_of_the_run(state: &State) -> u64 {
    match state.rules.limits.max_duration_ms {
        0 => 0,
        max => max.saturating_sub(state.elapsed_ms()).max(1),
    }
}
