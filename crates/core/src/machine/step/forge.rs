//! Pull request and CI: what a look at them leads to.
//!
//! A run with such a goal looks after every turn. The quality gate comes
//! first, then the pull request, then the checks of the commit that was
//! pushed. CI that runs is waited for without the agent; red CI is examined
//! and told apart by its cause before anybody is called.

mod moves;
mod red;
mod trouble;

use self::moves::{
    ask, is_new, need, rules, send_back, send_back_for_gate, tell, uncommitted, wait_for_ci,
};
use self::red::judge_red;
use self::trouble::judge_trouble;
use super::evidence::{has_checks, is_weakened};
use super::failures::forget_failure;
use super::next::{Next, stopped};
use super::out::Out;
use crate::forge::{
    Check, CheckState, Ci, ForgeAnswer, ForgeAsk, ForgeNeed, ForgeNote, ForgeNotice, ForgeProof,
    MergeWho, Phase, Pull, PullState, Sight, aggregate,
};
use crate::machine::{CheckScope, Goal, Outcome, PauseReason, Proof, State};
use crate::template::PromptNote;

/// Somebody took the run up: what was counted begins afresh, and where a
/// person had to see to something, CI is waited for anew.
pub(super) fn resumed(state: &mut State) {
    if matches!(
        state.outcome(),
        Some(Outcome::Paused {
            reason: PauseReason::Forge(_)
        })
    ) {
        state.pull.since = None;
    }
    state.pull.troubles = 0;
    state.pull.spent.clear();
    state.pull.reruns.clear();
    state.pull.repaired = None;
    state.pull.created = false;
    state.pull.verified = false;
    state.pull.claim = None;
}

pub(super) fn look(state: &mut State, out: &mut Out) -> Next {
    state.pull.waits = false;
    let gate = match state.rules.goal {
        Goal::PullRequest if state.turn.number == 0 => None,
        Goal::PullRequest => Some(Phase::P0),
        _ => Some(Phase::P1),
    };
    let number = state.pull.number.or(rules(state).number);
    ask(state, ForgeAsk::Look { number, gate }, out)
}

pub(super) fn take_answer(
    state: &mut State,
    asked: &ForgeAsk,
    answer: &ForgeAnswer,
    out: &mut Out,
) -> Next {
    if let Some(end) = stopped(state) {
        return end;
    }
    if !matches!(answer, ForgeAnswer::Failed(_)) {
        state.pull.troubles = 0;
    }
    match (answer, asked) {
        (ForgeAnswer::Looked(sight), ForgeAsk::Look { .. }) => {
            if state.rules.goal == Goal::PullRequest {
                judge_p0(state, sight, out)
            } else {
                judge_p1(state, sight, out)
            }
        }
        (ForgeAnswer::Examined { log, on_base }, ForgeAsk::Examine { failed, .. }) => {
            judge_red(state, failed, log, on_base, out)
        }
        (ForgeAnswer::Pushed { commit }, ForgeAsk::Push) => {
            let branch = state.pull.branch.clone();
            let commit = commit.clone();
            tell(state, ForgeNotice::Pushed { branch, commit }, out);
            if state.rules.goal == Goal::PullRequest && state.pull.number.is_none() {
                ask(state, ForgeAsk::Create, out)
            } else {
                state.pull.before_push = state.pull.commit.clone();
                state.pull.since = Some(state.now().wall_ms);
                wait_for_ci(state, &[], out)
            }
        }
        (ForgeAnswer::Created { url }, ForgeAsk::Create) => {
            tell(state, ForgeNotice::Created { url: url.clone() }, out);
            state.pull.created = true;
            state.pull.since = Some(state.now().wall_ms);
            Next::Look
        }
        (ForgeAnswer::Rerun, ForgeAsk::Rerun { runs }) => {
            let commit = state.pull.commit.clone().unwrap_or_default();
            let runs = runs.clone();
            tell(state, ForgeNotice::Rerun { commit, runs }, out);
            state.pull.since = Some(state.now().wall_ms);
            wait_for_ci(state, &[], out)
        }
        (ForgeAnswer::Merged, ForgeAsk::Merge { .. }) => {
            state.pull.merge_ordered = true;
            state.pull.since = Some(state.now().wall_ms);
            Next::Look
        }
        (ForgeAnswer::Deleted, ForgeAsk::Delete { branch }) => {
            state.pull.deleted = true;
            let branch = branch.clone();
            tell(state, ForgeNotice::BranchDeleted { branch }, out);
            Next::Look
        }
        (ForgeAnswer::Failed(trouble), asked) => judge_trouble(state, asked, trouble, out),
        // An answer to something else proves nothing: look again.
        _ => Next::Look,
    }
}

/// p0: the gate, then the pull request; CI plays no part (PRCI-04, STOP-13).
fn judge_p0(state: &mut State, sight: &Sight, out: &mut Out) -> Next {
    state.pull.branch.clone_from(&sight.local.branch);
    if state.turn.number == 0 {
        // The forge can be asked; there is nothing to judge before the work.
        return Next::Decide;
    }
    if !sight.gate.is_empty() {
        return send_back_for_gate(state, sight, out);
    }
    let open = sight.pull.as_ref().filter(|p| p.state == PullState::Open);
    if let Some(pull) = open {
        return judge_p0_pull(state, pull, sight, out);
    }
    let branch = sight.local.branch.clone();
    if state.pull.created {
        // The forge said so, and does not show it yet.
        return wait_for_ci(state, &[], out);
    }
    tell(
        state,
        ForgeNotice::PullMissing {
            branch: branch.clone(),
        },
        out,
    );
    let uncommitted = uncommitted(sight);
    if rules(state).create {
        return match uncommitted {
            Some(note) => send_back(state, vec![note], out),
            None => ask(state, ForgeAsk::Push, out),
        };
    }
    let notes = uncommitted
        .into_iter()
        .chain([ForgeNote::NoPull { branch }]);
    send_back(state, notes.collect(), out)
}

/// There is a pull request: what passed the gate has to be in it (T-08).
fn judge_p0_pull(state: &mut State, pull: &Pull, sight: &Sight, out: &mut Out) -> Next {
    if state.pull.number != Some(pull.number) {
        found(state, pull, out);
    }
    if let Some(note) = uncommitted(sight) {
        return send_back(state, vec![note], out);
    }
    if sight.local.head.as_ref() == Some(&pull.head) {
        return complete(state, vec![ForgeProof::Gate, proof_of(pull)], out);
    }
    if state.pull.before_push.as_ref() == Some(&pull.head) {
        // It was pushed, and the forge does not show it yet.
        return wait_for_ci(state, &[], out);
    }
    let branch = sight.local.branch.clone();
    if sight.local.behind {
        return send_back(state, vec![ForgeNote::Behind { branch }], out);
    }
    if rules(state).create {
        state.pull.commit = Some(pull.head.clone());
        return ask(state, ForgeAsk::Push, out);
    }
    let commits = sight.local.ahead;
    send_back(state, vec![ForgeNote::Unpushed { branch, commits }], out)
}

/// p1: the pull request must be open, what was done must be pushed, and the
/// checks of exactly that commit decide.
fn judge_p1(state: &mut State, sight: &Sight, out: &mut Out) -> Next {
    state.pull.branch.clone_from(&sight.local.branch);
    let Some(pull) = &sight.pull else {
        return need(ForgeNeed::NoPull);
    };
    if state.pull.number.is_none() {
        found(state, pull, out);
    }
    state.pull.number = Some(pull.number);
    match pull.state {
        PullState::Closed => return need(ForgeNeed::Closed),
        PullState::Merged => return judge_merged(state, pull, sight, out),
        PullState::Open => {}
    }
    bind(state, pull, out);
    if state.turn.number > 0 && !sight.gate.is_empty() {
        return send_back_for_gate(state, sight, out);
    }
    if sight.local.ahead > 0 {
        return bring_up(state, sight, out);
    }
    let seen = seen_checks(state, pull, &sight.checks);
    match aggregate(&seen) {
        Ci::Pending => wait_for_ci(state, &seen, out),
        Ci::Nothing if is_new(state) => wait_for_ci(state, &seen, out),
        Ci::Nothing => need(ForgeNeed::NoChecks),
        Ci::Failed => {
            let failed = seen.iter().filter(|c| c.state.is_red()).cloned().collect();
            state.pull.checks = seen;
            let base = pull.base.clone();
            ask(state, ForgeAsk::Examine { base, failed }, out)
        }
        Ci::Passed => judge_green(state, pull, sight, out),
    }
}

/// From now on the checks of this commit count.
fn bind(state: &mut State, pull: &Pull, out: &mut Out) {
    let before = state.pull.commit.replace(pull.head.clone());
    if before.as_ref() == Some(&pull.head) {
        return;
    }
    state.pull.since = Some(state.now().wall_ms);
    state.pull.before_push = None;
    state.pull.lost_jobs.clear();
    state.pull.told_green = false;
    if let Some(from) = before {
        let to = pull.head.clone();
        tell(state, ForgeNotice::Rebound { from, to }, out);
    }
}

/// The checks as they count: the forge may not have seen a push, or an order
/// to run again, yet.
fn seen_checks(state: &State, pull: &Pull, checks: &[Check]) -> Vec<Check> {
    let unseen_push = state.pull.before_push.as_ref() == Some(&pull.head);
    let is_old = |check: &Check| {
        check.state.is_red()
            && check
                .job
                .is_some_and(|job| state.pull.lost_jobs.contains(&job))
    };
    let as_it_counts = |check: &Check| Check {
        state: if unseen_push || is_old(check) {
            CheckState::Pending
        } else {
            check.state
        },
        ..check.clone()
    };
    checks.iter().map(as_it_counts).collect()
}

/// What the agent committed is pushed: by us where that was asked for.
fn bring_up(state: &mut State, sight: &Sight, out: &mut Out) -> Next {
    let branch = sight.local.branch.clone();
    if sight.local.behind {
        return send_back(state, vec![ForgeNote::Behind { branch }], out);
    }
    if rules(state).push {
        return ask(state, ForgeAsk::Push, out);
    }
    let commits = sight.local.ahead;
    send_back(state, vec![ForgeNote::Unpushed { branch, commits }], out)
}

/// Within a session nobody waits for long: the agent is told that CI runs, and
/// that turn is no stall.
pub(super) fn hand_over(state: &mut State) -> Next {
    state.pull.waits = false;
    let note = match state.pull.troubles {
        0 => ForgeNote::CiPending {
            number: state.pull.number.unwrap_or_default(),
            commit: state.pull.commit.clone().unwrap_or_default(),
        },
        _ => ForgeNote::ForgeAway,
    };
    state.notes.push(PromptNote::Forge(note));
    state.pull.idle = true;
    Next::Decide
}

/// Green: merged where that was asked for, else the agent's word is needed
/// that nothing is left to do (PROM-13, PRCI-08).
fn judge_green(state: &mut State, pull: &Pull, sight: &Sight, out: &mut Out) -> Next {
    let commit = pull.head.clone();
    if !state.pull.told_green {
        if state.pull.reruns.contains_key(&commit) {
            let commit = commit.clone();
            tell(state, ForgeNotice::WasFlaky { commit }, out);
        }
        let (number, commit) = (pull.number, commit.clone());
        tell(state, ForgeNotice::Passed { number, commit }, out);
        state.pull.told_green = true;
    }
    state.counters.false_promise = 0;
    forget_failure(state);
    if !sight.gate.is_empty() {
        return send_back_for_gate(state, sight, out);
    }
    if let Some(note) = uncommitted(sight) {
        return send_back(state, vec![note], out);
    }
    let number = pull.number;
    match rules(state).merge {
        MergeWho::Nobody => {
            let has_word = state.pull.claim.is_some() || !state.rules.promise_required;
            if has_word || state.turn.number == 0 {
                let proofs = vec![ForgeProof::Gate, checks_of(pull, &sight.checks)];
                return complete(state, proofs, out);
            }
            send_back(state, vec![ForgeNote::CiPassed { number, commit }], out)
        }
        MergeWho::Ralph | MergeWho::Forge if !state.pull.merge_ordered => {
            ask(state, ForgeAsk::Merge { number, commit }, out)
        }
        // Ordered, and not seen yet.
        MergeWho::Ralph | MergeWho::Forge => wait_for_ci(state, &sight.checks, out),
    }
}

/// Merged, by whomever: it counts with green CI only (PRCI-09).
fn judge_merged(state: &mut State, pull: &Pull, sight: &Sight, out: &mut Out) -> Next {
    let by_ralph = state.pull.merge_ordered;
    let number = pull.number;
    if !state.pull.deleted {
        tell(state, ForgeNotice::Merged { number, by_ralph }, out);
    }
    let is_green = aggregate(&sight.checks) == Ci::Passed;
    // The gate judged what lies here.
    let is_gated = sight.gate.is_empty() && uncommitted(sight).is_none();
    let is_sound = (by_ralph || is_gated) && !is_weakened(state);
    let proven = is_green && pull.merged_at.is_some() && is_sound;
    if !proven {
        return need(ForgeNeed::MergedUnproven);
    }
    if by_ralph && rules(state).delete_branch && !state.pull.deleted {
        let branch = state.pull.branch.clone();
        return ask(state, ForgeAsk::Delete { branch }, out);
    }
    let at = pull.merged_at.clone().unwrap_or_default();
    let proofs = vec![
        checks_of(pull, &sight.checks),
        ForgeProof::Merged { number, at },
    ];
    complete(state, proofs, out)
}

fn found(state: &mut State, pull: &Pull, out: &mut Out) {
    state.pull.number = Some(pull.number);
    let (number, url) = (pull.number, pull.url.clone());
    tell(state, ForgeNotice::PullFound { number, url }, out);
}

fn proof_of(pull: &Pull) -> ForgeProof {
    ForgeProof::Pull {
        number: pull.number,
        url: pull.url.clone(),
    }
}

fn checks_of(pull: &Pull, checks: &[Check]) -> ForgeProof {
    let passed = checks.iter().filter(|c| c.state == CheckState::Passed);
    ForgeProof::Checks {
        commit: pull.head.clone(),
        passed: passed.count(),
    }
}

/// What the forge shows is not all: checks of our own must have passed, and
/// none may have been weakened.
fn complete(state: &mut State, proofs: Vec<ForgeProof>, out: &mut Out) -> Next {
    if is_weakened(state) {
        return match state.turn.number {
            0 => need(ForgeNeed::Weakened),
            _ => send_back(state, Vec::new(), out),
        };
    }
    // After a turn they ran before anybody looked at the forge.
    if has_checks(state) && state.turn.number == 0 && !state.pull.verified {
        return Next::Verify {
            completes: true,
            scope: CheckScope::Everything,
        };
    }
    let proofs = proofs.into_iter().map(Proof::Forge);
    state.evidence.proven.extend(proofs);
    Next::Finish(Outcome::Complete)
}
