//! To end or to go on: breaker, limits, the next turn, and the one way out.

use super::claims::NAMED_TASKS;
use super::e2e::{e2e_is_due, run_e2e};
use super::questions;
use super::roles;
use super::session::{count_block, release_at_cap};
use super::ticks::check_ticks;
use crate::machine::refusal::Hold;
use crate::machine::step::out::Out;
use crate::machine::{
    BreakerRule, Effect, ErrorClass, Limit, Need, Notice, OnLimit, Outcome, PauseReason, Refusal,
    Request, Sign, Stage, State, Turn, WaitReason,
};
use crate::template::PromptNote;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// Nothing is finished: go on, unless something says otherwise.
pub(super) fn decide(state: &mut State, out: &mut Out) {
    if let Some(outcome) = stop_outcome(state) {
        finish(state, outcome, out);
    } else if !check_ticks(state, out) {
        carry_on(state, out);
    }
}

/// The same where ticks are not looked at any more.
pub(super) fn carry_on(state: &mut State, out: &mut Out) {
    if let Some(outcome) = stop_outcome(state) {
        finish(state, outcome, out);
    } else if e2e_is_due(state) {
        run_e2e(state, false, out);
    } else if over(state.counters.errors, state.rules.limits.consecutive_errors) {
        finish(state, Outcome::Errors, out);
    } else if let Some((rule, count)) = open_breaker(state) {
        let signs = breaker_signs(state, rule);
        out.tell(Notice::BreakerOpen {
            iteration: state.turns,
            rule,
            count,
            signs,
        });
        finish(state, Outcome::CircuitBreak { rule }, out);
    } else if let Some(kind) = state.rules.budget.used_up(&state.bill) {
        finish(
            state,
            Outcome::Budget {
                limit: kind.name().into(),
            },
            out,
        );
    } else if let Some(limit) = reached_limit(state) {
        reach_limit(state, limit, out);
    } else if !release_at_cap(state, out) {
        next_turn(state, out);
    }
}

fn over(count: u32, limit: u32) -> bool {
    limit > 0 && count >= limit
}

fn open_breaker(state: &State) -> Option<(BreakerRule, u32)> {
    let (counters, limits) = (&state.counters, &state.rules.limits);
    [
        (BreakerRule::Stalled, counters.stalled, limits.stalled),
        (
            BreakerRule::MissingPromise,
            counters.missing_promise,
            limits.missing_promise,
        ),
        (
            BreakerRule::FalsePromise,
            counters.false_promise,
            limits.false_promise,
        ),
        (
            BreakerRule::SameError,
            counters.same_error,
            limits.same_error,
        ),
    ]
    .into_iter()
    .find(|&(_, count, limit)| over(count, limit))
    .map(|(rule, count, _)| (rule, count))
}

/// What the rule saw, for the person who has to believe it.
fn breaker_signs(state: &State, rule: BreakerRule) -> Vec<Sign> {
    let last = |count: u32| Sign::Iterations {
        from: state.turns.saturating_sub(count) + 1,
        to: state.turns,
    };
    let facts = state.tasks.clone().unwrap_or_default();
    match rule {
        BreakerRule::Stalled => vec![
            last(state.counters.stalled),
            Sign::Tasks {
                completed: facts.completed,
                total: facts.total,
            },
            Sign::NothingNew,
        ],
        BreakerRule::MissingPromise => vec![last(state.counters.missing_promise)],
        BreakerRule::FalsePromise => {
            let open = facts
                .open
                .into_iter()
                .take(NAMED_TASKS)
                .map(|task| Sign::Open { task });
            std::iter::once(Sign::Promised {
                text: state.last_promise.clone(),
            })
            .chain(open)
            .collect()
        }
        BreakerRule::SameError => state
            .notes
            .iter()
            .rev()
            .find_map(repeated_output)
            .into_iter()
            .collect(),
    }
}

fn repeated_output(note: &PromptNote) -> Option<Sign> {
    match note {
        PromptNote::VerifyFailed { command, output } => Some(Sign::Output {
            of: command.clone(),
            text: output.clone(),
        }),
        PromptNote::LastError { class, message } => Some(Sign::Output {
            of: class.clone(),
            text: message.clone(),
        }),
        PromptNote::Forge(note) => note.failure().map(|(of, text)| Sign::Output {
            of: of.into(),
            text: text.into(),
        }),
        _ => None,
    }
}

pub(super) fn iterations_used_up(state: &State) -> bool {
    over(state.counted_turns(), state.rules.limits.max_iterations)
}

pub(super) fn dispatches_used_up(state: &State) -> bool {
    over(state.dispatches, state.rules.limits.max_dispatches)
}

pub(super) fn duration_used_up(state: &State) -> bool {
    let limit = state.rules.limits.max_duration_ms;
    limit > 0 && state.elapsed_ms() >= limit
}

pub(super) fn reached_limit(state: &State) -> Option<Limit> {
    if iterations_used_up(state) {
        Some(Limit::Iterations)
    } else if duration_used_up(state) {
        Some(Limit::Duration)
    } else if dispatches_used_up(state) {
        Some(Limit::Dispatches)
    } else {
        None
    }
}

pub(super) fn reach_limit(state: &mut State, limit: Limit, out: &mut Out) {
    out.tell(Notice::LimitReached {
        iteration: state.turns,
        limit,
    });
    match state.rules.limits.on_limit {
        OnLimit::Ask => {
            state.stage = Stage::Asking(limit);
            out.push(Effect::Ask(limit));
        }
        OnLimit::Stop => finish(
            state,
            Outcome::Paused {
                reason: PauseReason::Limit(limit),
            },
            out,
        ),
    }
}

pub(super) fn extend(state: &mut State, limit: Limit, out: &mut Out) {
    let max = match limit {
        Limit::Iterations => {
            let by = state.rules.limits.extend_by.max(1);
            let until = state.turns.saturating_add(by);
            state.rules.limits.max_iterations = until;
            if dispatches_used_up(state) {
                // Whoever wants more turns does not want to be asked again.
                state.rules.limits.max_dispatches = state.dispatches.saturating_add(by);
            }
            u64::from(until)
        }
        Limit::Dispatches => {
            let by = state.dispatch_step.max(1);
            let until = state.dispatches.saturating_add(by);
            state.rules.limits.max_dispatches = until;
            u64::from(until)
        }
        Limit::Duration => {
            let until = state.elapsed_ms().saturating_add(state.duration_step);
            state.rules.limits.max_duration_ms = until;
            until
        }
    };
    out.tell(Notice::LimitExtended {
        iteration: state.turns,
        limit,
        max,
    });
}

pub(super) fn stop_outcome(state: &State) -> Option<Outcome> {
    state.stopping.map(|request| match request {
        Request::Pause => Outcome::Paused {
            reason: PauseReason::Requested,
        },
        Request::Interrupt | Request::Kill => Outcome::Interrupted,
        Request::Cancel => Outcome::Cancelled,
    })
}

/// Somebody who wants out now gets out; a pause lets the turn be judged.
pub(super) fn finish_or(
    state: &mut State,
    out: &mut Out,
    otherwise: impl FnOnce(&mut State, &mut Out),
) {
    match stop_outcome(state) {
        Some(outcome) if state.stopping != Some(Request::Pause) => finish(state, outcome, out),
        _ => otherwise(state, out),
    }
}

fn next_turn(state: &mut State, out: &mut Out) {
    if questions::hold_everything(state, out) {
        return questions::wait_for_answer(state, out);
    }
    if state.free_agent().is_none() {
        return wait_for_agent(state, out);
    }
    let (ms, why) = delay(state);
    if ms == 0 {
        return start_turn(state, out);
    }
    wait(state, ms, why, out);
}

/// No agent can be called: the soonest reset is waited for, unless that takes
/// a person or too long.
pub(super) fn wait_for_agent(state: &mut State, out: &mut Out) {
    let now = state.now().wall_ms;
    let soonest = state
        .holds
        .values()
        .filter_map(|hold| Some((hold.until?, hold.why)))
        .min_by_key(|&(until, _)| until);
    let needs = |hold: &Hold| match hold.why {
        Refusal::Person(need) => Some(need),
        _ => None,
    };
    let Some((until, why)) = soonest else {
        let need = state.holds.values().find_map(needs).unwrap_or(Need::Login);
        return pause_for_agent(state, need, out);
    };
    let ms = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
    let longest = state.rules.limits.max_wait_ms;
    if longest > 0 && ms > longest {
        return pause_for_agent(state, Need::LongWait, out);
    }
    let why = match why {
        Refusal::Overload { .. } => WaitReason::Overload,
        _ => WaitReason::Limit,
    };
    wait(state, ms, why, out);
}

fn pause_for_agent(state: &mut State, need: Need, out: &mut Out) {
    let reason = PauseReason::Agent(need);
    finish(state, Outcome::Paused { reason }, out);
}

pub(super) fn wait(state: &mut State, ms: u64, why: WaitReason, out: &mut Out) {
    state.stage = Stage::Waiting;
    state.waits_for = Some(why);
    out.tell(Notice::Wait {
        iteration: state.turns,
        ms,
        why,
    });
    out.push(Effect::Wait { ms, why });
}

fn delay(state: &mut State) -> (u64, WaitReason) {
    let limits = &state.rules.limits;
    let backoff = match state.counters.errors {
        0 => 0,
        n => limits.retry.delay_ms(n),
    };
    let between = if state.turns == 0 {
        0
    } else {
        limits.pause_between_ms
    };
    [
        (backoff, WaitReason::Backoff),
        (rate_delay(state), WaitReason::Rate),
        (between, WaitReason::Between),
    ]
    .into_iter()
    .max_by_key(|&(ms, _)| ms)
    .unwrap_or((0, WaitReason::Between))
}

fn rate_delay(state: &State) -> u64 {
    let allowed = state.rules.limits.calls_per_hour as usize;
    if allowed == 0 || state.recent_calls.len() < allowed {
        return 0;
    }
    let oldest = state.recent_calls[state.recent_calls.len() - allowed];
    (oldest + HOUR_MS).saturating_sub(state.elapsed_ms())
}

pub(super) fn start_turn(state: &mut State, out: &mut Out) {
    if roles::before_turn(state, out) {
        return;
    }
    state.dispatches = state.dispatches.saturating_add(1);
    let again = std::mem::take(&mut state.repeat);
    if again {
        state.attempt += 1;
    } else {
        state.turns += 1;
        state.attempt = 1;
    }
    state.stage = Stage::Running;
    state.e2e_due |= std::mem::take(&mut state.e2e_broken);
    // What was proven is proven of the work before this turn.
    state.proven.clear();
    state.turn_phase = state.phase().map(str::to_owned);
    if state.rules.limits.calls_per_hour > 0 {
        let now = state.elapsed_ms();
        state.recent_calls.retain(|&start| start + HOUR_MS > now);
        state.recent_calls.push(now);
    }
    let iteration = state.turns;
    let before = state.errors.last().map(|error| error.class);
    if let Some(class) = before.or(again.then_some(ErrorClass::RateLimited)) {
        out.tell(Notice::IterationRetry { iteration, class });
    }
    switch_agent(state, out);
    count_block(state, out);
    let max = state.rules.limits.max_iterations;
    let warn = state.rules.limits.warn_at.first_iteration(max);
    if max > 0 && warn.is_some_and(|warn| iteration >= warn) {
        out.tell(Notice::LimitNear { iteration, max });
    }
    let task = roles::task(state).or_else(|| state.next_task().cloned());
    state.turn_task.clone_from(&task);
    out.tell(Notice::IterationStart {
        iteration,
        phase: state.turn_phase.clone(),
        task: task.clone(),
    });
    questions::remind(state);
    let flow = roles::turn(state, out);
    state.told = std::mem::take(&mut state.notes);
    out.push(Effect::RunAgent(Turn {
        turn: iteration,
        attempt: state.attempt,
        agent: state.agent,
        allowance: state.rules.budget.for_call(&state.bill),
        timeout_ms: turn_timeout(state),
        left_ms: left_of_the_run(state),
        phase: state.turn_phase.clone(),
        task,
        notes: state.told.clone(),
        flow,
    }));
}

/// The first choice comes back as soon as it can be called.
fn switch_agent(state: &mut State, out: &mut Out) {
    let agent = state.free_agent().unwrap_or(state.agent);
    let before = std::mem::replace(&mut state.agent, agent);
    if before != agent {
        out.tell(Notice::AgentSwitched {
            iteration: state.turns,
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

/// Every end of a run passes through here.
pub(super) fn finish(state: &mut State, outcome: Outcome, out: &mut Out) {
    state.stage = Stage::Finished(outcome.clone());
    let iteration = state.turns;
    match &outcome {
        Outcome::Complete => out.tell(Notice::TaskComplete { iteration }),
        Outcome::Paused { reason } => out.tell(Notice::Pause {
            iteration,
            reason: *reason,
        }),
        _ => {}
    }
    out.tell(state.end_notice(outcome.clone()));
    out.push(Effect::Finish(outcome));
}
