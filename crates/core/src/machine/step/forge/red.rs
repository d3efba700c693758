//! Red CI: told apart by its cause, then run again or repaired.

use super::moves::{ask, need, rules, send_back, tell, wait_for_ci};
use crate::forge::{
    Cause, Check, CheckState, Diagnosis, ForgeAsk, ForgeNeed, ForgeNote, ForgeNotice, diagnose,
};
use crate::machine::state::Failing;
use crate::machine::step::failures::count_failure;
use crate::machine::step::next::Next;
use crate::machine::step::out::Out;
use crate::machine::{Outcome, State};

/// Red: told apart by its cause before anybody is called.
pub(super) fn judge_red(
    state: &mut State,
    failed: &[Check],
    log: &str,
    on_base: &[String],
    out: &mut Out,
) -> Next {
    let commit = state.pull.commit.clone().unwrap_or_default();
    let was_rerun = state.pull.reruns.contains_key(&commit);
    let diagnosis = diagnose(failed, log, on_base, was_rerun);
    let Some(cause) = diagnosis.cause() else {
        return Next::Look;
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
                return need(ForgeNeed::PreExisting);
            }
            call_for_repair(state, &diagnosis, cause, log, out)
        }
    }
}

fn repair(
    state: &mut State,
    diagnosis: &Diagnosis,
    cause: Cause,
    log: &str,
    out: &mut Out,
) -> Next {
    let bound = rules(state).bounds.regression;
    if spend(state, cause) > bound {
        let reason = format!("CI: {}", diagnosis.names().join(", "));
        return Next::Finish(Outcome::GateFailed { reason });
    }
    call_for_repair(state, diagnosis, cause, log, out)
}

fn run_again(
    state: &mut State,
    commit: &str,
    diagnosis: &Diagnosis,
    log: &str,
    out: &mut Out,
) -> Next {
    let used = state.pull.reruns.get(commit).copied().unwrap_or(0);
    let runs = diagnosis.runs();
    if used < rules(state).bounds.reruns && !runs.is_empty() {
        state.pull.reruns.insert(commit.to_owned(), used + 1);
        let jobs = diagnosis.failures.iter().filter_map(|f| f.check.job);
        state.pull.lost_jobs = jobs.collect();
        return ask(state, ForgeAsk::Rerun { runs }, out);
    }
    if diagnosis.cause() == Some(Cause::Infrastructure) {
        return need(ForgeNeed::Infrastructure);
    }
    // It can't be run again: then it is taken for what it says.
    repair(state, diagnosis, Cause::Regression, log, out)
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
) -> Next {
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
    send_back(state, notes, out)
}
