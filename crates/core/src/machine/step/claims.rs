//! Promises: claims that have to be proven, and what they lack.

use super::breaker::NAMED_TASKS;
use super::e2e::skip_e2e;
use super::evidence::{
    has_lost_tasks, is_due_for_proof, is_weakened, lost_tasks, reject, weakened_files,
};
use super::next::{Next, stopped};
use super::out::Out;
use super::questions;
use crate::machine::{
    Goal, Missing, Notice, Outcome, PhaseFacts, State, TaskFacts, TurnReport, VerifyWhen,
};
use crate::promise::Promise;
use crate::template::PromptNote;

pub(super) fn take_promise(state: &mut State, report: &TurnReport, out: &mut Out) -> Next {
    let iteration = report.turn;
    // It may have to wait for CI, so it is taken down before anything is seen.
    state.pull.claim = match &report.promise {
        Some(Promise::Complete(text)) => Some(text.clone()),
        _ => None,
    };
    if state.rules.lanes.is_some() {
        // Nobody speaks in a landing.
        return Next::Unclaimed;
    }
    if state.rules.checks_decide
        && matches!(
            report.promise,
            None | Some(Promise::Continue | Promise::Unknown(_))
        )
    {
        state.claims.last_promise.clear();
        return Next::Unclaimed;
    }
    let Some(promise) = &report.promise else {
        state.claims.last_promise.clear();
        state.counters.missing_promise += 1;
        state.counters.false_promise = 0;
        state.notes.push(match &report.mentioned {
            Some(text) => PromptNote::OnlyMentioned { text: text.clone() },
            None => PromptNote::NoPromise,
        });
        out.tell(Notice::PromiseMissing {
            iteration,
            in_a_row: state.counters.missing_promise,
        });
        return Next::Unclaimed;
    };
    state.counters.missing_promise = 0;
    state.claims.last_promise = promise.to_string();
    out.tell(Notice::PromiseDetected {
        iteration,
        promise: promise.clone(),
    });
    match promise {
        Promise::Question(words) => questions::ask(state, words, out),
        Promise::Blocked(words) if questions::is_question(state, words) => {
            questions::ask(state, words, out)
        }
        Promise::Blocked(reason) => Next::Finish(Outcome::Blocked {
            reason: reason.clone(),
        }),
        Promise::E2eFailed(reason) => take_e2e_failure(state, reason),
        Promise::Complete(_) | Promise::E2ePassed | Promise::PhaseComplete => {
            judge_claim(state, promise, out)
        }
        Promise::Unknown(text) => {
            state.counters.false_promise = 0;
            let text = text.clone();
            state.notes.push(PromptNote::UnknownPromise { text });
            Next::Unclaimed
        }
        Promise::Continue => {
            state.counters.false_promise = 0;
            Next::Unclaimed
        }
    }
}

fn take_e2e_failure(state: &mut State, reason: &str) -> Next {
    state.notes.push(PromptNote::E2eFailed {
        reason: reason.into(),
    });
    if state.rules.checks.e2e {
        // Ralph's own run of them counts, and says whether it is true.
        state.e2e.disputed = true;
        return Next::RunE2e { completes: false }.unless_stopped(state);
    }
    state.counters.e2e_failed += 1;
    if state.counters.e2e_failed > state.rules.e2e_repairs {
        let reason = state.claims.last_promise.clone();
        return Next::Finish(Outcome::Blocked { reason });
    }
    // Work that the agent itself calls broken is not done (T-03).
    Next::Decide
}

fn judge_claim(state: &mut State, promise: &Promise, out: &mut Out) -> Next {
    let claim = promise.to_string();
    let mut missing = missing_for(state, promise);
    if is_weakened(state) {
        missing.push(Missing::Weakened {
            files: weakened_files(state),
        });
    }
    if !missing.is_empty() {
        reject(state, claim, missing, out);
        return Next::Decide;
    }
    if is_about_a_phase(promise) {
        skip_e2e(state, out);
    }
    let only_a_phase = is_about_a_phase(promise) && state.tasks.pending() > 0;
    if !only_a_phase {
        state.claims.open = Some(claim);
        return Next::Prove.unless_stopped(state);
    }
    state.counters.false_promise = 0;
    if state.rules.checks.e2e && state.ticks.unchecked.is_empty() {
        return Next::RunE2e { completes: false }.unless_stopped(state);
    }
    Next::Unclaimed
}

/// What the evidence lacks for a claim.
fn missing_for(state: &State, promise: &Promise) -> Vec<Missing> {
    if state.rules.goal.is_on_forge() {
        return Vec::new();
    }
    if state.rules.goal == Goal::Prompt {
        return open_in_state_file(state);
    }
    if !state.tasks.is_known {
        return vec![Missing::Unreadable];
    }
    let Some(facts) = state.tasks.facts.as_ref().filter(|t| t.total > 0) else {
        return vec![Missing::NoTasks];
    };
    let key = state.turn.phase.as_ref();
    let key = key.filter(|_| is_about_a_phase(promise));
    let claimed_phase = key.and_then(|key| facts.phases.iter().find(|p| p.key == *key));
    let mut missing = match claimed_phase {
        Some(phase) => open_in_phase(phase),
        None => open_in_all(facts),
    };
    if has_lost_tasks(state) {
        missing.push(Missing::LostTasks {
            count: lost_tasks(state, facts),
        });
    }
    missing
}

/// Without a task list, the state file is all that tells what there is to do.
fn open_in_state_file(state: &State) -> Vec<Missing> {
    let open = state.claims.file.left(&state.tasks.skipped);
    match open.is_empty() {
        true => Vec::new(),
        false => vec![Missing::OpenInStateFile { open }],
    }
}

/// E2E tests follow each phase: they end the run only when none is left.
fn is_about_a_phase(promise: &Promise) -> bool {
    matches!(promise, Promise::PhaseComplete | Promise::E2ePassed)
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

/// The turn claimed nothing, or nothing that ends the run.
pub(super) fn after_claims(state: &State) -> Next {
    if let Some(end) = stopped(state) {
        return end;
    }
    if is_due_for_proof(state) {
        return Next::Prove;
    }
    if state.rules.verify == Some(VerifyWhen::Each) {
        return Next::Verify {
            completes: false,
            scope: state.ticks.scope(true),
        };
    }
    Next::Decide
}
