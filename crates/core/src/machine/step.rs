//! The only decision maker.

use super::notice::{english, promise_text};
use super::progress::failure_hash;
use super::state::Failing;
use super::{
    Answer, BreakerRule, Detail, Effect, End, ErrorClass, ErrorNote, Event, Goal, Kind, Limit,
    Missing, Notice, OnLimit, Outcome, PauseReason, PhaseFacts, Proof, Request, Seen, Sign, Stage,
    State, TaskFacts, Tasks, Turn, TurnReport, VerifyReport, VerifyWhen, WaitReason,
};
use crate::lang::{Lang, Say};
use crate::promise::Promise;
use crate::template::PromptNote;

const HOUR_MS: u64 = 60 * 60 * 1000;
/// How many open tasks a rejection names.
const NAMED_TASKS: usize = 5;

/// Takes in one event and says what has to be done now.
///
/// An event that does not fit the stage (a late answer, a turn that was
/// already judged) changes nothing, so that a replay may repeat it.
pub fn step(state: &mut State, event: &Event) -> Vec<Effect> {
    let mut out = Vec::new();
    if let Kind::Resumed { seen } = &event.kind {
        state.clock.restart(event.at);
        resume(state, seen, &mut out);
        return out;
    }
    if let Kind::Abandoned = &event.kind {
        state.clock.restart(event.at);
        abandon(state, &mut out);
        return out;
    }
    if state.outcome().is_some() {
        return out;
    }
    state.clock.advance(event.at);
    match (&event.kind, &state.stage) {
        (Kind::Started { seen }, Stage::New) => start(state, seen, &mut out),
        (Kind::TurnEnded(report), Stage::Running) if report.turn == state.turns => {
            judge_turn(state, report, &mut out)
        }
        (Kind::Verified(report), Stage::Verifying { completes }) if report.turn == state.turns => {
            let completes = *completes;
            judge_verification(state, report, completes, &mut out);
        }
        (Kind::Woke { seen }, Stage::Waiting) => wake(state, seen, &mut out),
        (Kind::Answered { answer }, Stage::Asking(limit)) => {
            let limit = *limit;
            take_answer(state, answer, limit, &mut out);
        }
        (Kind::Requested { request }, _) => take_request(state, *request, &mut out),
        _ => {}
    }
    out
}

fn start(state: &mut State, seen: &Seen, out: &mut Vec<Effect>) {
    take_in(state, seen);
    rebase(state);
    let facts = state.tasks.clone().unwrap_or_default();
    out.push(Effect::Emit(Notice::LoopStart {
        total: facts.total,
        completed: facts.completed,
        pending: facts.pending,
    }));
    go_on(state, out);
}

/// A dead or paused run is taken up: iterations accumulate, everything that
/// is counted in a row starts afresh, and a reached limit is extended first
/// (RESM-02, RESM-03, BRKR-09).
fn resume(state: &mut State, seen: &Seen, out: &mut Vec<Effect>) {
    if is_over(state) {
        return;
    }
    state.counters = Default::default();
    state.errors.clear();
    state.last_failure = None;
    state.stopping = None;
    state.claim = None;
    take_in(state, seen);
    rebase(state);
    out.push(Effect::Emit(Notice::Resume {
        iteration: state.turns,
    }));
    if iterations_used_up(state) {
        extend(state, Limit::Iterations, out);
    }
    if duration_used_up(state) {
        extend(state, Limit::Duration, out);
    }
    go_on(state, out);
}

/// A paused, failed or dead run is given up (RESM-09, INTR-06).
fn abandon(state: &mut State, out: &mut Vec<Effect>) {
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

fn wake(state: &mut State, seen: &Seen, out: &mut Vec<Effect>) {
    // What looked complete before the pause was verified and failed then: the
    // agent has to work on it before it is judged again.
    let judged = looks_complete(state);
    take_in(state, seen);
    note_lost_tasks(state, &seen.tasks, out);
    if !judged && looks_complete(state) {
        verify_or_complete(state, out);
    } else if let Some(limit) = reached_limit(state) {
        reach_limit(state, limit, out);
    } else {
        start_turn(state, out);
    }
}

/// What changed while no agent ran is nobody's progress, but it was seen.
fn take_in(state: &mut State, seen: &Seen) {
    state.take_tasks(&seen.tasks);
    let kinds = state.rules.evidence;
    state.progress.observe(seen, kinds);
}

/// From here on the task file must not lose tasks.
fn rebase(state: &mut State) {
    state.most_tasks = state.tasks.as_ref().map_or(0, |t| t.total);
}

fn go_on(state: &mut State, out: &mut Vec<Effect>) {
    if looks_complete(state) {
        verify_or_complete(state, out);
    } else {
        decide(state, out);
    }
}

// ---- judging a turn -------------------------------------------------------

/// How a turn went, before its promise is looked at.
enum Turned {
    Normal,
    /// It was ended from outside and is judged by what it left.
    Cut,
    Failed(ErrorNote),
}

fn judge_turn(state: &mut State, report: &TurnReport, out: &mut Vec<Effect>) {
    let done_before = state.tasks.as_ref().map_or(0, |t| t.completed);
    state.take_tasks(&report.seen.tasks);
    let kinds = state.rules.evidence;
    let evidence = state.progress.observe(&report.seen, kinds);
    let facts = state.tasks.clone().unwrap_or_default();

    let turned = how_it_went(report, !evidence.is_empty());
    out.push(Effect::Emit(Notice::IterationComplete {
        iteration: report.turn,
        phase: state.turn_phase.clone(),
        completed: facts.completed,
        total: facts.total,
        newly_done: facts.completed.saturating_sub(done_before),
        evidence: evidence.clone(),
        duration_ms: report.duration_ms,
    }));
    note_lost_tasks(state, &report.seen.tasks, out);
    count_stall(state, report, evidence.is_empty(), out);
    match turned {
        Turned::Failed(error) => {
            state.last_promise.clear();
            count_error(state, report.turn, error, out);
            finish_or(state, out, go_on);
        }
        Turned::Cut => {
            forget_errors(state);
            finish_or(state, out, go_on);
        }
        Turned::Normal => {
            forget_errors(state);
            judge_promise(state, report, out);
        }
    }
}

fn how_it_went(report: &TurnReport, productive: bool) -> Turned {
    let failed = |class, detail| Turned::Failed(ErrorNote { class, detail });
    let words = report.failure.clone();
    match &report.end {
        End::Exit(0) => match &report.seen.tasks {
            Tasks::Trouble { class, message } => failed(*class, Detail::Words(message.clone())),
            _ => Turned::Normal,
        },
        End::Exit(code) => failed(ErrorClass::AgentExec, Detail::Exit { code: *code, words }),
        End::Signal(signal) => failed(
            ErrorClass::AgentExec,
            Detail::Signal {
                signal: *signal,
                words,
            },
        ),
        End::ResultError => failed(ErrorClass::AgentExec, Detail::Words(words)),
        End::SpawnFailed { missing: true } => {
            failed(ErrorClass::AgentMissing, Detail::NotFound { words })
        }
        End::SpawnFailed { missing: false } => {
            failed(ErrorClass::AgentExec, Detail::NotStarted { words })
        }
        End::TimedOut if productive => Turned::Cut,
        End::TimedOut => failed(
            ErrorClass::AgentTimeout,
            Detail::Timeout {
                seconds: report.duration_ms / 1000,
            },
        ),
        End::Stopped | End::Lost => Turned::Cut,
    }
}

fn note_lost_tasks(state: &mut State, tasks: &Tasks, out: &mut Vec<Effect>) {
    let Tasks::Read(facts) = tasks else {
        return;
    };
    let iteration = state.turns;
    if !facts.removed.is_empty() {
        state.notes.push(PromptNote::TasksShrank {
            removed: facts.removed.clone(),
        });
        out.push(Effect::Emit(Notice::TasksRemoved {
            iteration,
            ids: facts.removed.clone(),
        }));
    }
    if !facts.unticked.is_empty() {
        state.notes.push(PromptNote::Unticked {
            ids: facts.unticked.clone(),
        });
        out.push(Effect::Emit(Notice::TasksUnticked {
            iteration,
            ids: facts.unticked.clone(),
        }));
    }
}

fn count_stall(state: &mut State, report: &TurnReport, stalled: bool, out: &mut Vec<Effect>) {
    if !stalled {
        state.counters.stalled = 0;
    } else if !matches!(report.end, End::Stopped | End::Lost) {
        state.counters.stalled += 1;
        let in_a_row = state.counters.stalled;
        out.push(Effect::Emit(Notice::Stalled {
            iteration: report.turn,
            in_a_row,
        }));
    }
}

fn count_error(state: &mut State, turn: u32, error: ErrorNote, out: &mut Vec<Effect>) {
    let message = error.detail.say(Lang::En);
    count_failure(state, Failing::Turn, &message);
    if error.class.counts() {
        state.counters.errors += 1;
        state.errors.push(error.clone());
    }
    state.notes.push(PromptNote::LastError {
        class: error.class.name().into(),
        message,
    });
    out.push(Effect::Emit(Notice::Error {
        iteration: turn,
        class: error.class,
        detail: error.detail,
        in_a_row: state.counters.errors,
    }));
}

fn forget_errors(state: &mut State) {
    state.counters.errors = 0;
    state.errors.clear();
    if matches!(state.last_failure, Some((Failing::Turn, _))) {
        forget_failure(state);
    }
}

/// The same failure again and again is a loop of its own kind (BRKR-07).
fn count_failure(state: &mut State, what: Failing, output: &str) {
    let failure = Some((what, failure_hash(output)));
    if state.last_failure == failure {
        state.counters.same_error += 1;
    } else {
        state.counters.same_error = 1;
        state.last_failure = failure;
    }
}

fn forget_failure(state: &mut State) {
    state.counters.same_error = 0;
    state.last_failure = None;
}

// ---- promises: claims that have to be proven -------------------------------

fn judge_promise(state: &mut State, report: &TurnReport, out: &mut Vec<Effect>) {
    let iteration = report.turn;
    let Some(promise) = &report.promise else {
        state.last_promise.clear();
        state.counters.missing_promise += 1;
        state.counters.false_promise = 0;
        state.notes.push(PromptNote::NoPromise);
        out.push(Effect::Emit(Notice::PromiseMissing {
            iteration,
            in_a_row: state.counters.missing_promise,
        }));
        return after_claims(state, out);
    };
    state.counters.missing_promise = 0;
    state.last_promise = promise_text(promise);
    out.push(Effect::Emit(Notice::PromiseDetected {
        iteration,
        promise: promise.clone(),
    }));
    match promise {
        Promise::Blocked(reason) => finish(
            state,
            Outcome::Blocked {
                reason: reason.clone(),
            },
            out,
        ),
        Promise::E2eFailed(reason) => judge_e2e_failure(state, reason, out),
        Promise::Complete(_) | Promise::E2ePassed | Promise::PhaseComplete => {
            judge_claim(state, promise, out)
        }
        Promise::Continue | Promise::Unknown(_) => {
            state.counters.false_promise = 0;
            after_claims(state, out);
        }
    }
}

fn judge_e2e_failure(state: &mut State, reason: &str, out: &mut Vec<Effect>) {
    state.counters.e2e_failed += 1;
    if state.counters.e2e_failed > state.rules.e2e_repairs {
        return finish(
            state,
            Outcome::Blocked {
                reason: format!("E2E FAILED: {reason}"),
            },
            out,
        );
    }
    state.notes.push(PromptNote::E2eFailed {
        reason: reason.into(),
    });
    after_claims(state, out);
}

fn judge_claim(state: &mut State, promise: &Promise, out: &mut Vec<Effect>) {
    let claim = promise_text(promise);
    let missing = missing_for(state, promise);
    if !missing.is_empty() {
        reject(state, claim, missing, out);
        return finish_or(state, out, decide);
    }
    let only_a_phase = matches!(promise, Promise::PhaseComplete) && state.pending() > 0;
    if only_a_phase {
        state.counters.false_promise = 0;
        return after_claims(state, out);
    }
    state.claim = Some(claim);
    finish_or(state, out, verify_or_complete);
}

/// What the evidence lacks for a claim.
fn missing_for(state: &State, promise: &Promise) -> Vec<Missing> {
    if matches!(state.rules.goal, Goal::Prompt) {
        return Vec::new();
    }
    if !state.tasks_known {
        return vec![Missing::Unreadable];
    }
    let Some(facts) = state.tasks.as_ref().filter(|t| t.total > 0) else {
        return vec![Missing::NoTasks];
    };
    let claimed_phase = state
        .turn_phase
        .as_deref()
        .filter(|_| matches!(promise, Promise::PhaseComplete))
        .and_then(|key| facts.phases.iter().find(|p| p.key == key));
    let mut missing = match claimed_phase {
        Some(phase) => open_in_phase(phase),
        None => open_in_all(facts),
    };
    if shrunk(state) {
        missing.push(Missing::LostTasks {
            count: state.most_tasks - facts.total,
        });
    }
    missing
}

fn open_in_phase(phase: &PhaseFacts) -> Vec<Missing> {
    match phase.total.saturating_sub(phase.completed) {
        0 => Vec::new(),
        count => vec![Missing::OpenInPhase {
            phase: phase.key.clone(),
            count,
        }],
    }
}

fn open_in_all(facts: &TaskFacts) -> Vec<Missing> {
    match facts.pending {
        0 => Vec::new(),
        count => vec![Missing::OpenTasks {
            count,
            first: facts.open.iter().take(NAMED_TASKS).cloned().collect(),
        }],
    }
}

fn reject(state: &mut State, claim: String, missing: Vec<Missing>, out: &mut Vec<Effect>) {
    state.counters.false_promise += 1;
    state.notes.push(PromptNote::PromiseRejected {
        claim: claim.clone(),
        missing: english(&missing),
    });
    out.push(Effect::Emit(Notice::PromiseRejected {
        iteration: state.turns,
        claim,
        missing,
    }));
}

/// The turn claimed nothing, or nothing that ends the run.
fn after_claims(state: &mut State, out: &mut Vec<Effect>) {
    finish_or(state, out, |state, out| {
        if looks_complete(state) {
            verify_or_complete(state, out);
        } else if state.rules.verify == Some(VerifyWhen::Each) {
            verify(state, false, out);
        } else {
            decide(state, out);
        }
    });
}

// ---- evidence ---------------------------------------------------------------

/// Every task is done and none was lost. Words play no part in this.
fn looks_complete(state: &State) -> bool {
    let done = matches!(state.rules.goal, Goal::Tasks { .. })
        && state.tasks_known
        && state
            .tasks
            .as_ref()
            .is_some_and(|t| t.total > 0 && t.pending == 0)
        && !shrunk(state);
    done && (!state.rules.promise_required || state.turns == 0)
}

fn shrunk(state: &State) -> bool {
    state
        .tasks
        .as_ref()
        .is_some_and(|t| t.total < state.most_tasks)
}

fn verify_or_complete(state: &mut State, out: &mut Vec<Effect>) {
    if state.rules.verify.is_some() {
        verify(state, true, out);
    } else if matches!(state.rules.goal, Goal::Prompt) {
        finish(
            state,
            Outcome::Paused {
                reason: PauseReason::Unproven,
            },
            out,
        );
    } else {
        complete(state, out);
    }
}

fn verify(state: &mut State, completes: bool, out: &mut Vec<Effect>) {
    state.stage = Stage::Verifying { completes };
    out.push(Effect::Emit(Notice::GateStart {
        iteration: state.turns,
    }));
    out.push(Effect::Verify { turn: state.turns });
}

fn judge_verification(
    state: &mut State,
    report: &VerifyReport,
    completes: bool,
    out: &mut Vec<Effect>,
) {
    let claim = state.claim.take();
    finish_or(state, out, |state, out| {
        take_results(state, report, completes, claim, out)
    });
}

fn take_results(
    state: &mut State,
    report: &VerifyReport,
    completes: bool,
    claim: Option<String>,
    out: &mut Vec<Effect>,
) {
    out.push(Effect::Emit(Notice::GateResult {
        iteration: report.turn,
        passed: report.passed(),
        results: report.results.clone(),
    }));
    if report.passed() {
        state.counters.false_promise = 0;
        forget_failure(state);
        state.proven = report
            .results
            .iter()
            .map(|r| Proof::Command {
                command: r.command.clone(),
                duration_ms: r.duration_ms,
            })
            .collect();
        return if completes {
            complete(state, out)
        } else {
            decide(state, out)
        };
    }
    // Where nothing ran, nothing was proven.
    let (command, output) = report
        .failure()
        .map_or(("verification", "no command ran"), |failure| {
            (&failure.command, &failure.output)
        });
    count_failure(state, Failing::Check, output);
    state.notes.push(PromptNote::VerifyFailed {
        command: command.into(),
        output: output.into(),
    });
    if let Some(claim) = claim {
        let missing = vec![Missing::Failing {
            command: command.into(),
        }];
        reject(state, claim, missing, out);
        let limit = state.rules.limits.false_promise;
        if limit > 0 && state.counters.false_promise >= limit {
            return finish(
                state,
                Outcome::GateFailed {
                    reason: command.into(),
                },
                out,
            );
        }
    }
    decide(state, out);
}

fn complete(state: &mut State, out: &mut Vec<Effect>) {
    if let (Goal::Tasks { .. }, Some(facts)) = (&state.rules.goal, &state.tasks) {
        state.proven.insert(
            0,
            Proof::Tasks {
                completed: facts.completed,
                total: facts.total,
            },
        );
    }
    finish(state, Outcome::Complete, out);
}

// ---- deciding -----------------------------------------------------------------

/// Nothing is finished: go on, unless something says otherwise.
fn decide(state: &mut State, out: &mut Vec<Effect>) {
    if let Some(outcome) = stop_outcome(state) {
        finish(state, outcome, out);
    } else if over(state.counters.errors, state.rules.limits.consecutive_errors) {
        finish(state, Outcome::Errors, out);
    } else if let Some((rule, count)) = open_breaker(state) {
        let signs = breaker_signs(state, rule);
        out.push(Effect::Emit(Notice::BreakerOpen {
            iteration: state.turns,
            rule,
            count,
            signs,
        }));
        finish(state, Outcome::CircuitBreak { rule }, out);
    } else if let Some(limit) = reached_limit(state) {
        reach_limit(state, limit, out);
    } else {
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
        _ => None,
    }
}

fn iterations_used_up(state: &State) -> bool {
    over(state.turns, state.rules.limits.max_iterations)
}

fn duration_used_up(state: &State) -> bool {
    let limit = state.rules.limits.max_duration_ms;
    limit > 0 && state.elapsed_ms() >= limit
}

fn reached_limit(state: &State) -> Option<Limit> {
    if iterations_used_up(state) {
        Some(Limit::Iterations)
    } else if duration_used_up(state) {
        Some(Limit::Duration)
    } else {
        None
    }
}

fn reach_limit(state: &mut State, limit: Limit, out: &mut Vec<Effect>) {
    out.push(Effect::Emit(Notice::LimitReached {
        iteration: state.turns,
        limit,
    }));
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

fn take_answer(state: &mut State, answer: &Answer, limit: Limit, out: &mut Vec<Effect>) {
    match answer {
        Answer::Extend => {
            extend(state, limit, out);
            decide(state, out);
        }
        Answer::Simplify { seen, .. } => {
            take_in(state, seen);
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

fn extend(state: &mut State, limit: Limit, out: &mut Vec<Effect>) {
    match limit {
        Limit::Iterations => {
            let by = state.rules.limits.extend_by.max(1);
            state.rules.limits.max_iterations = state.turns.saturating_add(by);
        }
        Limit::Duration => {
            let until = state.elapsed_ms().saturating_add(state.duration_step);
            state.rules.limits.max_duration_ms = until;
        }
    }
    out.push(Effect::Emit(Notice::LimitExtended {
        iteration: state.turns,
        max_iterations: state.rules.limits.max_iterations,
    }));
}

fn take_request(state: &mut State, request: Request, out: &mut Vec<Effect>) {
    let child_runs = matches!(state.stage, Stage::Running | Stage::Verifying { .. });
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

fn stop_outcome(state: &State) -> Option<Outcome> {
    state.stopping.map(|request| match request {
        Request::Pause => Outcome::Paused {
            reason: PauseReason::Requested,
        },
        Request::Interrupt | Request::Kill => Outcome::Interrupted,
        Request::Cancel => Outcome::Cancelled,
    })
}

/// Somebody who wants out now gets out; a pause lets the turn be judged.
fn finish_or(
    state: &mut State,
    out: &mut Vec<Effect>,
    otherwise: impl FnOnce(&mut State, &mut Vec<Effect>),
) {
    match stop_outcome(state) {
        Some(outcome) if state.stopping != Some(Request::Pause) => finish(state, outcome, out),
        _ => otherwise(state, out),
    }
}

fn next_turn(state: &mut State, out: &mut Vec<Effect>) {
    let (ms, why) = delay(state);
    if ms == 0 {
        return start_turn(state, out);
    }
    state.stage = Stage::Waiting;
    out.push(Effect::Emit(Notice::Wait {
        iteration: state.turns,
        ms,
        why,
    }));
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

fn start_turn(state: &mut State, out: &mut Vec<Effect>) {
    state.turns += 1;
    state.stage = Stage::Running;
    // What was proven is proven of the work before this turn.
    state.proven.clear();
    state.turn_phase = state.phase().map(str::to_owned);
    if state.rules.limits.calls_per_hour > 0 {
        let now = state.elapsed_ms();
        state.recent_calls.retain(|&start| start + HOUR_MS > now);
        state.recent_calls.push(now);
    }
    let iteration = state.turns;
    if let Some(error) = state.errors.last() {
        out.push(Effect::Emit(Notice::IterationRetry {
            iteration,
            class: error.class,
        }));
    }
    let max = state.rules.limits.max_iterations;
    let warn = state.rules.limits.warn_at.first_iteration(max);
    if max > 0 && warn.is_some_and(|warn| iteration >= warn) {
        out.push(Effect::Emit(Notice::LimitNear { iteration, max }));
    }
    let task = state.tasks.as_ref().and_then(|t| t.next.clone());
    out.push(Effect::Emit(Notice::IterationStart {
        iteration,
        phase: state.turn_phase.clone(),
        task: task.clone(),
    }));
    out.push(Effect::RunAgent(Turn {
        turn: iteration,
        timeout_ms: turn_timeout(state),
        phase: state.turn_phase.clone(),
        task,
        notes: std::mem::take(&mut state.notes),
    }));
}

fn turn_timeout(state: &State) -> u64 {
    let limits = &state.rules.limits;
    let left = match limits.max_duration_ms {
        0 => 0,
        max => max.saturating_sub(state.elapsed_ms()).max(1),
    };
    [limits.iteration_timeout_ms, left]
        .into_iter()
        .filter(|&ms| ms > 0)
        .min()
        .unwrap_or(0)
}

/// Every end of a run passes through here.
fn finish(state: &mut State, outcome: Outcome, out: &mut Vec<Effect>) {
    state.stage = Stage::Finished(outcome.clone());
    let iteration = state.turns;
    match &outcome {
        Outcome::Complete => out.push(Effect::Emit(Notice::TaskComplete { iteration })),
        Outcome::Paused { reason } => out.push(Effect::Emit(Notice::Pause {
            iteration,
            reason: *reason,
        })),
        _ => {}
    }
    let facts = state.tasks.clone().unwrap_or_default();
    out.push(Effect::Emit(Notice::LoopEnd {
        outcome: outcome.clone(),
        iterations: iteration,
        total: facts.total,
        completed: facts.completed,
        pending: facts.pending,
        duration_ms: state.elapsed_ms(),
        proven: state.proven.clone(),
    }));
    out.push(Effect::Finish(outcome));
}
