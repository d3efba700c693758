//! Evidence: what proves that the work is complete, and what verification made
//! of it.

use std::collections::BTreeMap;

use super::beside;
use super::evidence::{has_checks, reject};
use super::failures::{count_failure, forget_failure};
use super::levels::{self, Bench, Fate, is_one_piece, weighs};
use super::limits::is_over;
use super::next::{Next, stopped};
use super::out::Out;
use super::roles;
use super::ticks::{judge_everything, judge_ticks, judge_unchecked, show_failures, untick};
use crate::lang::{Lang, Say};
use crate::machine::state::Failing;
use crate::machine::{
    CheckScope, Goal, Missing, NoProof, Notice, Outcome, PauseReason, Proof, State, VerifyReport,
};
use crate::proof::EvidenceLevel;

/// Has the work proven by whatever can prove it.
pub(super) fn prove(state: &mut State, out: &mut Out) -> Next {
    if let Some(next) = beside::catch_up(state, out) {
        return next;
    }
    judge_unchecked(state, out);
    if weighs(state) && untick(state, None, out) {
        return Next::Rest;
    }
    let checks = has_checks(state);
    if state.rules.goal.is_on_forge() && (!checks || state.turn.number == 0) {
        return Next::Look;
    }
    if checks {
        return Next::Verify {
            completes: true,
            scope: CheckScope::Everything,
        };
    }
    if state.rules.checks.e2e {
        return Next::RunE2e { completes: true };
    }
    match state.rules.goal {
        Goal::Prompt if !levels::is_accepted(state, "") => Next::pause(PauseReason::Unproven),
        _ => Next::Complete,
    }
}

pub(super) fn take_verification(
    state: &mut State,
    report: &VerifyReport,
    completes: bool,
    out: &mut Out,
) -> Next {
    let claim = state.claims.open.take();
    state.evidence.in_order = false;
    if let Some(end) = stopped(state) {
        return end;
    }
    out.tell(Notice::GateResult {
        iteration: report.turn,
        passed: report.passed(),
        results: report.results.clone(),
    });
    if roles::is_proving(state) {
        return roles::take_proof(state, report, out);
    }
    if completes {
        judge_everything(state, report, out);
    } else {
        judge_ticks(state, report, out);
    }
    if report.passed() {
        if let Some(next) = take_unshown(state, report, completes, claim.as_ref(), out) {
            return next;
        }
        state.counters.false_promise = 0;
        forget_failure(state);
        state.evidence.proven = report.proofs();
        return match completes {
            true if state.rules.checks.e2e => Next::RunE2e { completes },
            true => Next::Complete,
            false => Next::Decide,
        };
    }
    take_failure(state, report, claim, out)
}

/// The checks pass, and the experiments say what that is worth; `None` where
/// nothing stands in the way.
fn take_unshown(
    state: &mut State,
    report: &VerifyReport,
    completes: bool,
    claim: Option<&String>,
    out: &mut Out,
) -> Option<Next> {
    if completes && weighs(state) && is_one_piece(state) && state.turn.number > 0 {
        let mut bench = Bench::new(report);
        let fate = bench.judge(state, "", out);
        bench.end(state);
        match fate {
            Fate::Stands(level, _) => {
                state.ticks.levels.insert(String::new(), level);
            }
            Fate::Refused(why) => return Some(send_back(state, why, claim.cloned(), out)),
        }
    }
    if completes && weighs(state) && !is_one_piece(state) && state.ticks.turned_back.is_empty() {
        // What was proven was so on its own tree; the checks have to hold now.
        if let Some(why) = levels::refuted(state, report) {
            return Some(send_back(state, why, claim.cloned(), out));
        }
    }
    if !weighs(state) || state.ticks.turned_back.is_empty() {
        return None;
    }
    let turned_back = state.ticks.turned_back.first().cloned().unwrap_or_default();
    count_failure(state, Failing::Check, &turned_back);
    untick(state, None, out).then_some(Next::Rest)
}

/// Green, and nothing that the work could be shown by.
fn send_back(state: &mut State, why: NoProof, claim: Option<String>, out: &mut Out) -> Next {
    let NoProof::Unshown(why) = why else {
        return Next::Decide;
    };
    count_failure(state, Failing::Check, &why.say(Lang::En));
    let claim = claim.unwrap_or_default();
    reject(state, claim, vec![Missing::Unshown(why)], out);
    Next::Decide
}

fn take_failure(
    state: &mut State,
    report: &VerifyReport,
    claim: Option<String>,
    out: &mut Out,
) -> Next {
    // Where nothing ran, nothing was proven.
    let nothing = ("verification", "no command ran");
    let (command, output) = report
        .failure()
        .map_or(nothing, |failure| (&failure.command, &failure.output));
    count_failure(state, Failing::Check, output);
    show_failures(state, report);
    let command: String = command.into();
    let claimed = claim.is_some();
    if let Some(claim) = claim {
        let command = command.clone();
        reject(state, claim, vec![Missing::Failing { command }], out);
    }
    let limit = state.rules.limits.false_promise;
    let is_last = claimed && is_over(state.counters.false_promise, limit);
    let ends = is_last.then_some(Outcome::GateFailed { reason: command });
    if untick(state, ends.clone(), out) {
        return Next::Rest;
    }
    ends.map_or(Next::Decide, Next::Finish)
}

/// Everything that was asked for is there, and seen by Ralph itself.
pub(super) fn complete(state: &mut State) -> Next {
    let tasks = levels::short_of_proof(state);
    if !tasks.is_empty() {
        return Next::Finish(Outcome::Unproven { tasks });
    }
    if state.rules.goal.is_on_forge() {
        state.pull.verified = true;
        return Next::Look;
    }
    if let (Goal::Tasks { .. }, Some(facts)) = (&state.rules.goal, &state.tasks.facts) {
        let (completed, total) = (facts.completed, facts.total);
        let counted = Proof::Tasks { completed, total };
        state.evidence.proven.insert(0, counted);
        let mut counts = BTreeMap::new();
        for level in state.ticks.levels.values() {
            *counts.entry(*level).or_default() += 1;
        }
        if !counts.is_empty() {
            state.evidence.proven.insert(1, Proof::Shown { counts });
        }
    }
    if state.rules.goal == Goal::Prompt && levels::is_accepted(state, "") {
        let counts = BTreeMap::from([(EvidenceLevel::Accepted, 1)]);
        state.evidence.proven.insert(0, Proof::Shown { counts });
    }
    // Only what failed before the work began failed: nothing was proven.
    if state.rules.goal == Goal::Prompt && state.evidence.proven.is_empty() {
        return Next::pause(PauseReason::Unproven);
    }
    Next::Finish(Outcome::Complete)
}
