//! Pull request and CI: what a look at them leads to.
//!
//! A run with such a goal looks after every turn. The quality gate comes
//! first, then the pull request, then the checks of the commit that was
//! pushed. CI that runs is waited for without the agent; red CI is examined
//! and told apart by its cause before anybody is called.

use super::claims::reject;
use super::decide::{decide, duration_used_up, finish, finish_or, reach_limit, wait};
use super::judge::{count_failure, forget_failure};
use super::ticks::is_weakened;
use super::verify::verify;
use crate::forge::{
    Cause, Check, CheckState, Ci, Diagnosis, ForgeAnswer, ForgeAsk, ForgeNeed, ForgeNote,
    ForgeNotice, ForgeProof, ForgeRules, MergeWho, Phase, Pull, PullState, Sight, Trouble,
    TroubleKind, aggregate, diagnose,
};
use crate::machine::state::Failing;
use crate::machine::step::out::Out;
use crate::machine::{
    CheckScope, Effect, Goal, Limit, Missing, Notice, Outcome, PauseReason, Proof, Stage, State,
    WaitReason,
};
use crate::promise::Promise;
use crate::template::PromptNote;

/// The longest pause between two tries to reach a forge.
const LONGEST_BACKOFF_MS: u64 = 15 * 60 * 1000;

/// Whether the run ends with a pull request or with its CI.
pub(super) fn is_goal(state: &State) -> bool {
    matches!(state.rules.goal, Goal::PullRequest | Goal::Ci)
}

/// Takes a claim down before anything is looked at: it may have to wait for CI.
pub(super) fn hear(state: &mut State, promise: Option<&Promise>) {
    state.pull.claim = match promise {
        Some(Promise::Complete(text)) => Some(text.clone()),
        _ => None,
    };
}

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

pub(super) fn look(state: &mut State, out: &mut Out) {
    state.pull.waits = false;
    let gate = match state.rules.goal {
        Goal::PullRequest if state.turns == 0 => None,
        Goal::PullRequest => Some(Phase::P0),
        _ => Some(Phase::P1),
    };
    let number = state.pull.number.or(rules(state).number);
    ask(state, ForgeAsk::Look { number, gate }, out);
}

fn ask(state: &mut State, what: ForgeAsk, out: &mut Out) {
    state.stage = Stage::Forge(what.clone());
    out.push(Effect::Forge(what));
}

pub(super) fn take_answer(
    state: &mut State,
    asked: &ForgeAsk,
    answer: &ForgeAnswer,
    out: &mut Out,
) {
    finish_or(state, out, |state, out| judge(state, asked, answer, out));
}

fn judge(state: &mut State, asked: &ForgeAsk, answer: &ForgeAnswer, out: &mut Out) {
    if !matches!(answer, ForgeAnswer::Failed(_)) {
        state.pull.troubles = 0;
    }
    match (answer, asked) {
        (ForgeAnswer::Looked(sight), ForgeAsk::Look { .. }) => {
            if state.rules.goal == Goal::PullRequest {
                judge_p0(state, sight, out);
            } else {
                judge_p1(state, sight, out);
            }
        }
        (ForgeAnswer::Examined { log, on_base }, ForgeAsk::Examine { failed, .. }) => {
            judge_red(state, failed, log, on_base, out);
        }
        (ForgeAnswer::Pushed { commit }, ForgeAsk::Push) => {
            let branch = state.pull.branch.clone();
            let commit = commit.clone();
            tell(state, ForgeNotice::Pushed { branch, commit }, out);
            if state.rules.goal == Goal::PullRequest {
                ask(state, ForgeAsk::Create, out);
            } else {
                state.pull.before_push = state.pull.commit.clone();
                state.pull.since = Some(state.now().wall_ms);
                wait_for_ci(state, &[], out);
            }
        }
        (ForgeAnswer::Created { url }, ForgeAsk::Create) => {
            tell(state, ForgeNotice::Created { url: url.clone() }, out);
            state.pull.created = true;
            state.pull.since = Some(state.now().wall_ms);
            look(state, out);
        }
        (ForgeAnswer::Rerun, ForgeAsk::Rerun { runs }) => {
            let commit = state.pull.commit.clone().unwrap_or_default();
            let runs = runs.clone();
            tell(state, ForgeNotice::Rerun { commit, runs }, out);
            state.pull.since = Some(state.now().wall_ms);
            wait_for_ci(state, &[], out);
        }
        (ForgeAnswer::Merged, ForgeAsk::Merge { .. }) => {
            state.pull.merge_ordered = true;
            state.pull.since = Some(state.now().wall_ms);
            look(state, out);
        }
        (ForgeAnswer::Deleted, ForgeAsk::Delete { branch }) => {
            state.pull.deleted = true;
            let branch = branch.clone();
            tell(state, ForgeNotice::BranchDeleted { branch }, out);
            look(state, out);
        }
        (ForgeAnswer::Failed(trouble), asked) => judge_trouble(state, asked, trouble, out),
        // An answer to something else proves nothing: look again.
        _ => look(state, out),
    }
}

/// p0: the gate, then the pull request; CI plays no part (PRCI-04, STOP-13).
fn judge_p0(state: &mut State, sight: &Sight, out: &mut Out) {
    state.pull.branch.clone_from(&sight.local.branch);
    if state.turns == 0 {
        // The forge can be asked; there is nothing to judge before the work.
        return decide(state, out);
    }
    if !sight.gate.is_empty() {
        return gate_is_open(state, sight, out);
    }
    let open = sight.pull.as_ref().filter(|p| p.state == PullState::Open);
    if let Some(pull) = open {
        found(state, pull, out);
        return complete(state, vec![ForgeProof::Gate, proof_of(pull)], out);
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
    if sight.local.uncommitted > 0 {
        let files = sight.local.uncommitted;
        return send_back(state, vec![ForgeNote::Uncommitted { files }], out);
    }
    if rules(state).create {
        return ask(state, ForgeAsk::Push, out);
    }
    send_back(state, vec![ForgeNote::NoPull { branch }], out);
}

/// p1: the pull request must be open, what was done must be pushed, and the
/// checks of exactly that commit decide.
fn judge_p1(state: &mut State, sight: &Sight, out: &mut Out) {
    state.pull.branch.clone_from(&sight.local.branch);
    let Some(pull) = &sight.pull else {
        return need(state, ForgeNeed::NoPull, out);
    };
    if state.pull.number.is_none() {
        found(state, pull, out);
    }
    state.pull.number = Some(pull.number);
    match pull.state {
        PullState::Closed => return need(state, ForgeNeed::Closed, out),
        PullState::Merged => return judge_merged(state, pull, sight, out),
        PullState::Open => {}
    }
    bind(state, pull, out);
    if state.turns > 0 && !sight.gate.is_empty() {
        return gate_is_open(state, sight, out);
    }
    if sight.local.ahead > 0 {
        return bring_up(state, sight, out);
    }
    let seen = seen_checks(state, pull, &sight.checks);
    match aggregate(&seen) {
        Ci::Pending => wait_for_ci(state, &seen, out),
        Ci::Nothing if is_new(state) => wait_for_ci(state, &seen, out),
        Ci::Nothing => need(state, ForgeNeed::NoChecks, out),
        Ci::Failed => {
            let failed = seen.iter().filter(|c| c.state.is_red()).cloned().collect();
            state.pull.checks = seen;
            let base = pull.base.clone();
            ask(state, ForgeAsk::Examine { base, failed }, out);
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
fn bring_up(state: &mut State, sight: &Sight, out: &mut Out) {
    let branch = sight.local.branch.clone();
    if sight.local.behind {
        return send_back(state, vec![ForgeNote::Behind { branch }], out);
    }
    if rules(state).push {
        return ask(state, ForgeAsk::Push, out);
    }
    let commits = sight.local.ahead;
    send_back(state, vec![ForgeNote::Unpushed { branch, commits }], out);
}

/// Whether the commit had no time yet to get checks.
fn is_new(state: &State) -> bool {
    waited(state) < rules(state).grace_ms
}

fn begin_waiting(state: &mut State) {
    let now = state.now().wall_ms;
    state.pull.since.get_or_insert(now);
}

fn waited(state: &State) -> u64 {
    let now = state.now().wall_ms;
    let since = state.pull.since.unwrap_or(now);
    u64::try_from(now.saturating_sub(since)).unwrap_or(0)
}

/// Sleeps until the next look; not for ever (PRCI-07, BRKR-08).
fn wait_for_ci(state: &mut State, checks: &[Check], out: &mut Out) {
    begin_waiting(state);
    let (poll, timeout) = (rules(state).poll_ms, rules(state).timeout_ms);
    let left = timeout.saturating_sub(waited(state));
    if timeout > 0 && left == 0 {
        return need(state, ForgeNeed::CiTimeout, out);
    }
    let left_ms = (timeout > 0).then_some(left);
    let notice = ForgeNotice::Poll {
        number: state.pull.number.unwrap_or_default(),
        commit: state.pull.commit.clone().unwrap_or_default(),
        checks: checks.to_vec(),
        left_ms,
    };
    tell(state, notice, out);
    sleep(state, left_ms.map_or(poll, |left| left.min(poll)), out);
}

fn sleep(state: &mut State, ms: u64, out: &mut Out) {
    state.pull.waits = true;
    if duration_used_up(state) {
        return reach_limit(state, Limit::Duration, out);
    }
    wait(state, ms.max(1), WaitReason::Ci, out);
}

/// Within a session nobody waits for long: the agent is told that CI runs, and
/// that turn is no stall.
pub(super) fn hand_over(state: &mut State, out: &mut Out) {
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
    decide(state, out);
}

/// Red: told apart by its cause before anybody is called.
fn judge_red(state: &mut State, failed: &[Check], log: &str, on_base: &[String], out: &mut Out) {
    let commit = state.pull.commit.clone().unwrap_or_default();
    let was_rerun = state.pull.reruns.contains_key(&commit);
    let diagnosis = diagnose(failed, log, on_base, was_rerun);
    let Some(cause) = diagnosis.cause() else {
        return look(state, out);
    };
    let runs_on = state
        .pull
        .checks
        .iter()
        .any(|c| c.state == CheckState::Pending);
    if matches!(cause, Cause::Flaky | Cause::Infrastructure) && runs_on {
        // What runs can't be run again.
        let checks = state.pull.checks.clone();
        return wait_for_ci(state, &checks, out);
    }
    let notice = ForgeNotice::Failed {
        number: state.pull.number.unwrap_or_default(),
        commit: commit.clone(),
        cause,
        checks: diagnosis.names(),
    };
    tell(state, notice, out);
    match cause {
        Cause::Regression => repair(state, &diagnosis, cause, log, out),
        Cause::Flaky | Cause::Infrastructure => run_again(state, &commit, &diagnosis, log, out),
        Cause::PreExisting => {
            let bound = rules(state).bounds.pre_existing;
            if spend(state, cause) > bound {
                return need(state, ForgeNeed::PreExisting, out);
            }
            call_for_repair(state, &diagnosis, cause, log, out);
        }
    }
}

fn repair(state: &mut State, diagnosis: &Diagnosis, cause: Cause, log: &str, out: &mut Out) {
    let bound = rules(state).bounds.regression;
    if spend(state, cause) > bound {
        let reason = format!("CI: {}", diagnosis.names().join(", "));
        return finish(state, Outcome::GateFailed { reason }, out);
    }
    call_for_repair(state, diagnosis, cause, log, out);
}

fn run_again(state: &mut State, commit: &str, diagnosis: &Diagnosis, log: &str, out: &mut Out) {
    let used = state.pull.reruns.get(commit).copied().unwrap_or(0);
    let runs = diagnosis.runs();
    if used < rules(state).bounds.reruns && !runs.is_empty() {
        state.pull.reruns.insert(commit.to_owned(), used + 1);
        let jobs = diagnosis.failures.iter().filter_map(|f| f.check.job);
        state.pull.lost_jobs = jobs.collect();
        return ask(state, ForgeAsk::Rerun { runs }, out);
    }
    if diagnosis.cause() == Some(Cause::Infrastructure) {
        return need(state, ForgeNeed::Infrastructure, out);
    }
    // It can't be run again: then it is taken for what it says.
    repair(state, diagnosis, Cause::Regression, log, out);
}

/// How often this cause was met, with this time.
fn spend(state: &mut State, cause: Cause) -> u32 {
    let spent = state.pull.spent.entry(cause).or_default();
    *spent += 1;
    *spent
}

fn call_for_repair(
    state: &mut State,
    diagnosis: &Diagnosis,
    cause: Cause,
    log: &str,
    out: &mut Out,
) {
    let commit = state.pull.commit.clone().unwrap_or_default();
    let mut notes = Vec::new();
    if state.pull.repaired.as_ref() == Some(&commit) {
        notes.push(ForgeNote::NothingPushed {
            commit: commit.clone(),
        });
    }
    state.pull.repaired = Some(commit.clone());
    count_failure(state, Failing::Check, log);
    notes.push(ForgeNote::CiFailed {
        number: state.pull.number.unwrap_or_default(),
        commit,
        cause,
        checks: diagnosis.names(),
        log: log.into(),
    });
    send_back(state, notes, out);
}

/// Green: merged where that was asked for, else the agent's word is needed
/// that nothing is left to do (PROM-13, PRCI-08).
fn judge_green(state: &mut State, pull: &Pull, sight: &Sight, out: &mut Out) {
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
        return gate_is_open(state, sight, out);
    }
    if state.turns > 0 && sight.local.uncommitted > 0 {
        let files = sight.local.uncommitted;
        return send_back(state, vec![ForgeNote::Uncommitted { files }], out);
    }
    let number = pull.number;
    match rules(state).merge {
        MergeWho::Nobody => {
            let has_word = state.pull.claim.is_some() || !state.rules.promise_required;
            if has_word || state.turns == 0 {
                let proofs = vec![ForgeProof::Gate, checks_of(pull, &sight.checks)];
                return complete(state, proofs, out);
            }
            send_back(state, vec![ForgeNote::CiPassed { number, commit }], out);
        }
        MergeWho::Ralph | MergeWho::Forge if !state.pull.merge_ordered => {
            ask(state, ForgeAsk::Merge { number, commit }, out);
        }
        // Ordered, and not seen yet.
        MergeWho::Ralph | MergeWho::Forge => wait_for_ci(state, &sight.checks, out),
    }
}

/// Merged, by whomever: it counts with green CI only (PRCI-09).
fn judge_merged(state: &mut State, pull: &Pull, sight: &Sight, out: &mut Out) {
    let by_ralph = state.pull.merge_ordered;
    let number = pull.number;
    if !state.pull.deleted {
        tell(state, ForgeNotice::Merged { number, by_ralph }, out);
    }
    let is_green = aggregate(&sight.checks) == Ci::Passed;
    let is_sound = (by_ralph || sight.gate.is_empty()) && !is_weakened(state);
    let proven = is_green && pull.merged_at.is_some() && is_sound;
    if !proven {
        return need(state, ForgeNeed::MergedUnproven, out);
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
    complete(state, proofs, out);
}

fn judge_trouble(state: &mut State, asked: &ForgeAsk, trouble: &Trouble, out: &mut Out) {
    let notice = ForgeNotice::Trouble {
        trouble: trouble.clone(),
    };
    tell(state, notice, out);
    if let ForgeAsk::Delete { .. } = asked {
        // What was asked for is merged, with or without its branch.
        state.pull.deleted = true;
        return look(state, out);
    }
    if trouble.kind.passes() {
        return try_later(state, trouble.kind, out);
    }
    match asked {
        ForgeAsk::Look { .. } => need(state, ForgeNeed::after(trouble.kind), out),
        // Without a log the checks still have names.
        ForgeAsk::Examine { failed, .. } => {
            judge_red(state, failed, &trouble.words, &[], out);
        }
        ForgeAsk::Push | ForgeAsk::Create if trouble.kind == TroubleKind::Refused => {
            count_failure(state, Failing::Check, &trouble.words);
            let command = match asked {
                ForgeAsk::Push => "git push",
                _ => "creating the pull request",
            };
            let note = ForgeNote::Refused {
                command: command.into(),
                words: trouble.words.clone(),
            };
            send_back(state, vec![note], out);
        }
        ForgeAsk::Push | ForgeAsk::Create => need(state, ForgeNeed::after(trouble.kind), out),
        // It stays counted as run again, so that the next look decides.
        ForgeAsk::Rerun { .. } => {
            state.pull.lost_jobs.clear();
            look(state, out);
        }
        ForgeAsk::Merge { .. } if is_conflict(&trouble.words) => {
            count_failure(state, Failing::Check, &trouble.words);
            let note = ForgeNote::Refused {
                command: "merging the pull request".into(),
                words: trouble.words.clone(),
            };
            send_back(state, vec![note], out);
        }
        ForgeAsk::Merge { .. } => need(state, ForgeNeed::MergeRefused, out),
        ForgeAsk::Delete { .. } => look(state, out),
    }
}

/// What the agent can do something about.
fn is_conflict(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["conflict", "cannot be cleanly created", "not up to date"]
        .iter()
        .any(|word| words.contains(word))
}

/// The forge may be back later: longer and longer pauses, within the time that
/// CI is waited for.
fn try_later(state: &mut State, kind: TroubleKind, out: &mut Out) {
    begin_waiting(state);
    let timeout = rules(state).timeout_ms;
    if timeout > 0 && waited(state) >= timeout {
        return need(state, ForgeNeed::Unreachable, out);
    }
    state.pull.troubles += 1;
    let doubled = state.pull.troubles.min(10) - 1;
    let first = match kind {
        TroubleKind::RateLimited => rules(state).poll_ms.saturating_mul(2),
        _ => rules(state).poll_ms,
    };
    let ms = first.saturating_mul(1 << doubled).min(LONGEST_BACKOFF_MS);
    sleep(state, ms, out);
}

fn gate_is_open(state: &mut State, sight: &Sight, out: &mut Out) {
    let findings = sight.gate.clone();
    let notice = ForgeNotice::GateOpen {
        findings: findings.clone(),
    };
    tell(state, notice, out);
    send_back(state, vec![ForgeNote::Gate { findings }], out);
}

/// The agent has to do something: its claim, if it made one, was not true.
fn send_back(state: &mut State, notes: Vec<ForgeNote>, out: &mut Out) {
    if let Some(claim) = state.pull.claim.take() {
        let told = notes.iter().filter_map(lack).collect();
        reject(state, claim, told, out);
    }
    state.notes.extend(notes.into_iter().map(PromptNote::Forge));
    decide(state, out);
}

/// What a note says about a claim, in one line.
fn lack(note: &ForgeNote) -> Option<Missing> {
    let command = match note {
        ForgeNote::Gate { findings } => findings
            .first()
            .map_or_else(|| "the quality gate".into(), |f| f.text.clone()),
        ForgeNote::NoPull { .. } => "gh pr create".into(),
        ForgeNote::CiFailed { checks, .. } => format!("CI ({})", checks.join(", ")),
        ForgeNote::Uncommitted { .. } => "git commit".into(),
        ForgeNote::Unpushed { .. } | ForgeNote::Behind { .. } => "git push".into(),
        ForgeNote::Refused { command, .. } => command.clone(),
        ForgeNote::NothingPushed { .. }
        | ForgeNote::CiPassed { .. }
        | ForgeNote::CiPending { .. }
        | ForgeNote::ForgeAway => return None,
    };
    Some(Missing::Failing { command })
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
fn complete(state: &mut State, proofs: Vec<ForgeProof>, out: &mut Out) {
    if is_weakened(state) {
        return match state.turns {
            0 => need(state, ForgeNeed::Weakened, out),
            _ => send_back(state, Vec::new(), out),
        };
    }
    // After a turn they ran before anybody looked at the forge.
    let checks = state.rules.verify.is_some() || !state.rules.checks.tasks.is_empty();
    if checks && state.turns == 0 && !state.pull.verified {
        return verify(state, true, CheckScope::Everything, out);
    }
    state.proven.extend(proofs.into_iter().map(Proof::Forge));
    finish(state, Outcome::Complete, out);
}

fn need(state: &mut State, need: ForgeNeed, out: &mut Out) {
    let reason = PauseReason::Forge(need);
    finish(state, Outcome::Paused { reason }, out);
}

fn tell(state: &State, notice: ForgeNotice, out: &mut Out) {
    out.tell(Notice::Forge {
        iteration: state.turns,
        notice,
    });
}

fn rules(state: &State) -> ForgeRules {
    state.rules.forge.clone().unwrap_or_default()
}
