//! Evidence: when the work looks complete, and what verification made of it.

use super::claims::reject;
use super::decide::{decide, finish, finish_or};
use super::forge;
use super::judge::{count_failure, forget_failure};
use crate::machine::state::Failing;
use crate::machine::{
    Effect, Goal, Missing, Notice, Outcome, PauseReason, Proof, Stage, State, TaskFacts,
    VerifyReport,
};
use crate::template::PromptNote;

/// Every task is done and none was lost. Words play no part in this.
pub(super) fn looks_complete(state: &State) -> bool {
    // Only a look can tell.
    if forge::is_goal(state) {
        return true;
    }
    let done = matches!(state.rules.goal, Goal::Tasks { .. })
        && state.tasks_known
        && state
            .tasks
            .as_ref()
            .is_some_and(|t| t.total > 0 && t.pending == 0)
        && !shrunk(state);
    done && (!state.rules.promise_required || state.turns == 0)
}

pub(super) fn shrunk(state: &State) -> bool {
    state
        .tasks
        .as_ref()
        .is_some_and(|facts| lost(state, facts) > 0)
}

/// How many tasks are gone: counted, and by name where others took their
/// place.
pub(super) fn lost(state: &State, facts: &TaskFacts) -> usize {
    state
        .most_tasks
        .saturating_sub(facts.total)
        .max(facts.lost.len())
}

pub(super) fn verify_or_complete(state: &mut State, out: &mut Vec<Effect>) {
    if forge::is_goal(state) && (state.rules.verify.is_none() || state.turns == 0) {
        forge::look(state, out);
    } else if state.rules.verify.is_some() {
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

pub(super) fn verify(state: &mut State, completes: bool, out: &mut Vec<Effect>) {
    state.stage = Stage::Verifying { completes };
    out.push(Effect::Emit(Notice::GateStart {
        iteration: state.turns,
    }));
    out.push(Effect::Verify { turn: state.turns });
}

pub(super) fn judge_verification(
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
    if forge::is_goal(state) {
        return forge::look(state, out);
    }
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
