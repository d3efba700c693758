//! Ticks are claims: each is held against a check, and turned back where the
//! check is not green.

use std::collections::BTreeSet;

use super::beside;
use super::evidence::{is_weakened, weakened_files};
use super::levels::{Bench, Fate, unchecked_without_checks, weighs};
use super::next::Next;
use super::out::Out;
use super::questions;
use crate::lang::Spoken;
use crate::machine::{
    CheckNotice, CommandResult, Effect, NoProof, Observation, Outcome, Stage, State, TaskRef,
    Tasks, Ticks, VerifyReport,
};
use crate::proof::{EvidenceLevel, TaskProof, Unshown};
use crate::template::PromptNote;

/// How many failing commands the agent is shown the output of.
const SHOWN_FAILURES: usize = 3;

/// Ticks that were there when the run began are the person's: they are
/// proven at the end, with everything. Those that an earlier run left without
/// proof are as they were.
pub(super) fn know_ticks(state: &mut State, seen: &Observation) {
    if let Tasks::Read(facts) = &seen.tasks {
        let done = facts.ticked.iter().map(|task| task.id.clone());
        state.ticks.done = done.collect();
        let (doubted, before) = state
            .ticks
            .done
            .iter()
            .cloned()
            .partition(|id| seen.doubted.contains_key(id));
        state.ticks.before = before;
        let level = |id: String| Some((id.clone(), *seen.doubted.get(&id)?));
        state
            .ticks
            .levels
            .extend(BTreeSet::into_iter(doubted).filter_map(level));
    }
}

/// Takes in what was ticked since the last look. A look of a new process
/// names every tick: what is known already is not new.
pub(super) fn take_ticks(state: &mut State, tasks: &Tasks) {
    let Tasks::Read(facts) = tasks else {
        return;
    };
    for id in &facts.unticked {
        state.ticks.done.remove(id);
        state.ticks.proofs.remove(id);
        state.ticks.levels.remove(id);
        state.ticks.before.remove(id);
        state.ticks.unchecked.retain(|task| task.id != *id);
    }
    for task in &facts.ticked {
        let new = state.ticks.done.insert(task.id.clone());
        if new && needs_proof(state, &task.id) {
            state.ticks.unchecked.push(task.clone());
        }
    }
}

fn needs_proof(state: &State, id: &str) -> bool {
    // A flow opens what was ticked without it, and proves what it ticks itself.
    if state.rules.flow.is_some() {
        return false;
    }
    let checks = &state.rules.checks;
    let is_checked = state.rules.verify.is_some() || checks.tasks.contains_key(id);
    checks.ticks == Ticks::Proven && (is_checked || weighs(state))
}

/// Lets the ticks that wait for it be judged; `None` where none does.
pub(super) fn check_ticks(state: &mut State, out: &mut Out) -> Option<Next> {
    if let Some(next) = beside::catch_up(state, out) {
        return Some(next);
    }
    if state.ticks.unchecked.is_empty() {
        return untick(state, None, out).then_some(Next::Rest);
    }
    judge_unchecked(state, out);
    if state.ticks.unchecked.is_empty() {
        return untick(state, None, out).then_some(Next::Rest);
    }
    if is_weakened(state) {
        let files = weakened_files(state);
        let tasks = std::mem::take(&mut state.ticks.unchecked);
        turn_back(state, tasks, NoProof::Weakened { files }, out);
        untick(state, None, out);
        return Some(Next::Rest);
    }
    Some(Next::Verify {
        completes: false,
        scope: state.ticks.scope(false),
    })
}

/// Judges the ticks that no command checks.
pub(super) fn judge_unchecked(state: &mut State, out: &mut Out) {
    let waiting = unchecked_without_checks(state);
    if waiting.is_empty() || !weighs(state) {
        return;
    }
    state.ticks.unchecked.retain(|task| !waiting.contains(task));
    let report = VerifyReport {
        turn: state.turn.number,
        ..VerifyReport::default()
    };
    judge_by(state, &report, waiting, out);
}

/// What a verification says about each tick that waited for it.
pub(super) fn judge_ticks(state: &mut State, report: &VerifyReport, out: &mut Out) {
    let waiting = std::mem::take(&mut state.ticks.unchecked);
    judge_by(state, report, waiting, out);
}

pub(super) fn judge_by(
    state: &mut State,
    report: &VerifyReport,
    waiting: Vec<TaskRef>,
    out: &mut Out,
) {
    let mut bench = Bench::new(report);
    let mut proven: Vec<(EvidenceLevel, Vec<String>)> = Vec::new();
    let mut short: Vec<((EvidenceLevel, Unshown), Vec<String>)> = Vec::new();
    let mut refused: Vec<(NoProof, Vec<TaskRef>)> = Vec::new();
    for task in waiting {
        let has_check =
            state.rules.verify.is_some() || state.rules.checks.tasks.contains_key(&task.id);
        let red = match has_check || !weighs(state) {
            true => no_proof(state, report, &task.id),
            false => None,
        };
        let fate = match red {
            Some(why) => Fate::Refused(why),
            None => bench.judge(state, &task.id, out),
        };
        match fate {
            Fate::Stands(level, None) => put(&mut proven, level, task.id),
            Fate::Stands(level, Some(why)) => put(&mut short, (level, why), task.id),
            Fate::Refused(why) => put(&mut refused, why, task),
        }
    }
    let asked = bench.take_asked();
    bench.end(state);
    for (level, ids) in proven {
        stand(state, &ids, level);
        prove(state, report, ids, out);
    }
    for ((level, why), tasks) in short {
        stand(state, &tasks, level);
        out.tell(CheckNotice::TickUnproven {
            iteration: state.turn.number,
            tasks,
            level,
            why,
        });
    }
    for (why, tasks) in refused {
        for task in &tasks {
            let files = asked.iter().find(|(id, _)| *id == task.id);
            if let Some((_, files)) = files {
                questions::ask_about_checks(state, task, files, out);
            }
        }
        turn_back(state, tasks, why, out);
    }
}

fn stand(state: &mut State, ids: &[String], level: EvidenceLevel) {
    if weighs(state) {
        let levels = ids.iter().map(|id| (id.clone(), level));
        state.ticks.levels.extend(levels);
    }
}

/// Puts what is alike together, in the order in which it was met.
fn put<K: PartialEq, T>(groups: &mut Vec<(K, Vec<T>)>, key: K, item: T) {
    match groups.iter_mut().find(|(known, _)| *known == key) {
        Some((_, items)) => items.push(item),
        None => groups.push((key, vec![item])),
    }
}

/// The last verification covers every task; one whose own check failed on the
/// final contents is open again, although it was proven before.
pub(super) fn judge_everything(state: &mut State, report: &VerifyReport, out: &mut Out) {
    if report.passed() && weighs(state) {
        let known: BTreeSet<&String> = state
            .ticks
            .levels
            .keys()
            .chain(&state.ticks.before)
            .collect();
        let waiting = |id: &&String| !known.contains(id);
        let ids: Vec<String> = state.ticks.done.iter().filter(waiting).cloned().collect();
        let all = ids.into_iter().map(|id| TaskRef {
            id,
            ..TaskRef::default()
        });
        let named = std::mem::take(&mut state.ticks.unchecked);
        let unnamed: Vec<TaskRef> = all
            .filter(|task| named.iter().all(|t| t.id != task.id))
            .collect();
        return judge_by(
            state,
            report,
            named.into_iter().chain(unnamed).collect(),
            out,
        );
    }
    if report.passed() {
        state.ticks.unchecked.clear();
        let ids: Vec<String> = state.ticks.done.iter().cloned().collect();
        return prove(state, report, ids, out);
    }
    if state.rules.checks.ticks == Ticks::Proven {
        let failing: BTreeSet<&str> = report
            .results
            .iter()
            .filter(|result| !result.is_good())
            .map(|result| result.command.as_str())
            .collect();
        let known: BTreeSet<String> = state.ticks.unchecked.iter().map(|t| t.id.clone()).collect();
        let broken = state.rules.checks.tasks.iter().filter(|(id, commands)| {
            let fails = commands.iter().any(|c| failing.contains(c.as_str()));
            fails && state.ticks.done.contains(*id) && !known.contains(*id)
        });
        let broken: Vec<TaskRef> = broken
            .map(|(id, _)| TaskRef {
                id: id.clone(),
                ..TaskRef::default()
            })
            .collect();
        state.ticks.unchecked.extend(broken);
    }
    judge_ticks(state, report, out);
}

pub(super) fn prove(state: &mut State, report: &VerifyReport, ids: Vec<String>, out: &mut Out) {
    if ids.is_empty() || report.results.is_empty() {
        return;
    }
    let proof = TaskProof {
        turn: report.turn,
        tree: report.tree.clone(),
        commands: report.results.iter().map(Into::into).collect(),
        level: ids
            .first()
            .and_then(|id| state.ticks.levels.get(id))
            .copied(),
    };
    for id in &ids {
        let own = proof_of(state, &proof, id);
        state.ticks.proofs.insert(id.clone(), own);
    }
    out.tell(CheckNotice::TickProven {
        iteration: state.turn.number,
        tasks: ids,
        proof,
    });
}

/// The part of a verification that is about one task.
fn proof_of(state: &State, proof: &TaskProof, id: &str) -> TaskProof {
    let own = state.rules.checks.tasks.get(id);
    let is_about = |command: &String| own.is_none_or(|own| own.contains(command));
    let commands = proof.commands.iter();
    TaskProof {
        commands: commands.filter(|c| is_about(&c.command)).cloned().collect(),
        ..proof.clone()
    }
}

/// Why the check of a task is not green; `None` where it is.
fn no_proof(state: &State, report: &VerifyReport, id: &str) -> Option<NoProof> {
    let failing = |result: &CommandResult| NoProof::Failing {
        command: result.command.clone(),
        exit: result.exit,
    };
    let Some(own) = state.rules.checks.tasks.get(id) else {
        let mut of_project = report.results.iter().filter(|result| !result.of_task);
        if of_project.clone().next().is_none() {
            return Some(NoProof::NotRun);
        }
        return of_project.find(|result| !result.is_good()).map(failing);
    };
    for command in own {
        match report.results.iter().find(|r| r.command == *command) {
            Some(result) if result.is_good() => {}
            Some(result) => return Some(failing(result)),
            None => {
                let before = report.results.iter().find(|result| !result.is_good());
                return Some(before.map_or(NoProof::NotRun, failing));
            }
        }
    }
    None
}

fn turn_back(state: &mut State, tasks: Vec<TaskRef>, why: NoProof, out: &mut Out) {
    for task in &tasks {
        state.ticks.done.remove(&task.id);
        state.ticks.proofs.remove(&task.id);
        state.ticks.levels.remove(&task.id);
        state.ticks.turned_back.push(task.id.clone());
    }
    state.notes.push(PromptNote::TickRejected {
        tasks: tasks.iter().map(TaskRef::name).collect(),
        why: Spoken::of(&why),
    });
    out.tell(CheckNotice::TickRejected {
        iteration: state.turn.number,
        tasks,
        why,
    });
}

/// Has the boxes of the ticks that were turned back emptied; `false` where
/// there are none. The run goes on, or ends, with `Unticked`: what it says of
/// its tasks is what stands in the file then (T-09).
pub(super) fn untick(state: &mut State, ends: Option<Outcome>, out: &mut Out) -> bool {
    if state.ticks.turned_back.is_empty() {
        return false;
    }
    state.stage = Stage::Unticking { ends };
    out.push(Effect::Untick {
        ids: state.ticks.turned_back.clone(),
    });
    true
}

/// Shows the agent what failed.
pub(super) fn show_failures(state: &mut State, report: &VerifyReport) {
    if report.results.is_empty() {
        state.notes.push(PromptNote::VerifyFailed {
            command: "verification".into(),
            output: "no command ran".into(),
        });
    }
    let failed = report.results.iter().filter(|result| !result.is_good());
    // The first failure of the project is the one to begin with; each task
    // has its own.
    let shown = failed
        .enumerate()
        .filter(|(n, result)| *n == 0 || result.of_task);
    for (_, result) in shown.take(SHOWN_FAILURES) {
        state.notes.push(result.note());
    }
}
