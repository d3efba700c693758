//! Evidence: when the work looks complete, and what verification made of it.

use super::claims::reject;
use super::decide::{decide, finish, finish_or};
use super::e2e::run_e2e;
use super::forge;
use super::judge::{count_failure, forget_failure};
use super::roles;
use super::ticks::{is_weakened, judge_everything, judge_ticks, show_failures, untick};
use crate::machine::state::Failing;
use crate::machine::step::out::Out;
use crate::machine::{
    CheckScope, Effect, Goal, Missing, Notice, Outcome, PauseReason, Proof, Stage, State,
    TaskFacts, VerifyReport,
};

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
        && !shrunk(state)
        && !is_weakened(state)
        && !roles::has_early_ticks(state);
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

pub(super) fn verify_or_complete(state: &mut State, out: &mut Out) {
    let checks = state.rules.verify.is_some() || !state.rules.checks.tasks.is_empty();
    if forge::is_goal(state) && (!checks || state.turns == 0) {
        forge::look(state, out);
    } else if checks {
        verify(state, true, CheckScope::Everything, out);
    } else if state.rules.checks.e2e {
        run_e2e(state, true, out);
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

pub(super) fn verify(state: &mut State, completes: bool, scope: CheckScope, out: &mut Out) {
    state.stage = Stage::Verifying { completes };
    let turn = state.turns;
    out.tell(Notice::GateStart { iteration: turn });
    out.push(Effect::Verify { turn, scope });
}

pub(super) fn judge_verification(
    state: &mut State,
    report: &VerifyReport,
    completes: bool,
    out: &mut Out,
) {
    let claim = state.claim.take();
    finish_or(state, out, |state, out| {
        if roles::is_proving(state) {
            return roles::proven(state, report, out);
        }
        take_results(state, report, completes, claim, out);
    });
}

fn take_results(
    state: &mut State,
    report: &VerifyReport,
    completes: bool,
    claim: Option<String>,
    out: &mut Out,
) {
    out.tell(Notice::GateResult {
        iteration: report.turn,
        passed: report.passed(),
        results: report.results.clone(),
    });
    if completes {
        judge_everything(state, report, out);
    } else {
        judge_ticks(state, report, out);
    }
    if report.passed() {
        state.counters.false_promise = 0;
        forget_failure(state);
        state.proven = report.proofs();
        return match completes {
            true if state.rules.checks.e2e => run_e2e(state, true, out),
            true => complete(state, out),
            false => decide(state, out),
        };
    }
    // Where nothing ran, nothing was proven.
    let (command, output) = report
        .failure()
        .map_or(("verification", "no command ran"), |failure| {
            (&failure.command, &failure.output)
        });
    count_failure(state, Failing::Check, output);
    show_failures(state, report);
    if let Some(claim) = claim {
        let missing = vec![Missing::Failing {
            command: command.into(),
        }];
        reject(state, claim, missing, out);
        let limit = state.rules.limits.false_promise;
        if limit > 0 && state.counters.false_promise >= limit {
            untick(state, out);
            return finish(
                state,
                Outcome::GateFailed {
                    reason: command.into(),
                },
                out,
            );
        }
    }
    if !untick(state, out) {
        decide(state, out);
    }
}

/// Everything that was asked for is there, and seen by Ralph itself.
pub(super) fn complete(state: &mut State, out: &mut Out) {
    if forge::is_goal(state) {
        state.pull.verified = true;
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
    // Only what failed before the work began failed: nothing was proven.
    if state.rules.goal == Goal::Prompt && state.proven.is_empty() {
        let reason = PauseReason::Unproven;
        return finish(state, Outcome::Paused { reason }, out);
    }
    finish(state, Outcome::Complete, out);
}
