//! Promises: claims that have to be proven, and what they lack.

use super::decide::{decide, finish, finish_or};
use super::e2e::{run_e2e, skip_e2e};
use super::forge;
use super::questions;
use super::ticks::{is_weakened, unchecked, weakened_files};
use super::verify::{looks_complete, lost, shrunk, verify, verify_or_complete};
use crate::machine::notice::english;
use crate::machine::step::out::Out;
use crate::machine::{
    Goal, Missing, Notice, Outcome, PhaseFacts, State, TaskFacts, TurnReport, VerifyWhen,
};
use crate::promise::Promise;
use crate::template::PromptNote;

/// How many open tasks a rejection names.
pub(super) const NAMED_TASKS: usize = 5;

pub(super) fn judge_promise(state: &mut State, report: &TurnReport, out: &mut Out) {
    let iteration = report.turn;
    forge::hear(state, report.promise.as_ref());
    let Some(promise) = &report.promise else {
        state.last_promise.clear();
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
        return after_claims(state, out);
    };
    state.counters.missing_promise = 0;
    state.last_promise = promise.to_string();
    out.tell(Notice::PromiseDetected {
        iteration,
        promise: promise.clone(),
    });
    match promise {
        Promise::Question(words) => questions::ask(state, words, out),
        Promise::Blocked(words) if questions::is_question(state, words) => {
            questions::ask(state, words, out);
        }
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
        Promise::Unknown(text) => {
            state.counters.false_promise = 0;
            state
                .notes
                .push(PromptNote::UnknownPromise { text: text.clone() });
            after_claims(state, out);
        }
        Promise::Continue => {
            state.counters.false_promise = 0;
            after_claims(state, out);
        }
    }
}

fn judge_e2e_failure(state: &mut State, reason: &str, out: &mut Out) {
    state.counters.e2e_failed += 1;
    if state.counters.e2e_failed > state.rules.e2e_repairs {
        return finish(
            state,
            Outcome::Blocked {
                reason: state.last_promise.clone(),
            },
            out,
        );
    }
    state.notes.push(PromptNote::E2eFailed {
        reason: reason.into(),
    });
    after_claims(state, out);
}

fn judge_claim(state: &mut State, promise: &Promise, out: &mut Out) {
    let claim = promise.to_string();
    let mut missing = missing_for(state, promise);
    if is_weakened(state) {
        missing.push(Missing::Weakened {
            files: weakened_files(state),
        });
    }
    if !missing.is_empty() {
        reject(state, claim, missing, out);
        return finish_or(state, out, decide);
    }
    if matches!(promise, Promise::PhaseComplete) {
        skip_e2e(state, out);
    }
    let only_a_phase = is_about_a_phase(promise) && state.pending() > 0;
    if only_a_phase {
        state.counters.false_promise = 0;
        if state.rules.checks.e2e && state.unchecked.is_empty() {
            return finish_or(state, out, |state, out| run_e2e(state, false, out));
        }
        return after_claims(state, out);
    }
    state.claim = Some(claim);
    finish_or(state, out, verify_or_complete);
}

/// What the evidence lacks for a claim.
fn missing_for(state: &State, promise: &Promise) -> Vec<Missing> {
    if matches!(state.rules.goal, Goal::Prompt) || forge::is_goal(state) {
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
        .filter(|_| is_about_a_phase(promise))
        .and_then(|key| facts.phases.iter().find(|p| p.key == key));
    let mut missing = match claimed_phase {
        Some(phase) => open_in_phase(phase),
        None => open_in_all(facts),
    };
    if shrunk(state) {
        missing.push(Missing::LostTasks {
            count: lost(state, facts),
        });
    }
    missing
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

pub(super) fn reject(state: &mut State, claim: String, missing: Vec<Missing>, out: &mut Out) {
    state.counters.false_promise += 1;
    state.notes.push(PromptNote::PromiseRejected {
        claim: claim.clone(),
        missing: english(&missing),
    });
    out.tell(Notice::PromiseRejected {
        iteration: state.turns,
        claim,
        missing,
    });
}

/// The turn claimed nothing, or nothing that ends the run.
pub(super) fn after_claims(state: &mut State, out: &mut Out) {
    finish_or(state, out, |state, out| {
        if looks_complete(state) {
            verify_or_complete(state, out);
        } else if state.rules.verify == Some(VerifyWhen::Each) {
            let scope = unchecked(state, true);
            verify(state, false, scope, out);
        } else {
            decide(state, out);
        }
    });
}
