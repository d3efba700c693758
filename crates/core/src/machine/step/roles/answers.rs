//! What a turn in a role leads to: its answer is read, counted and followed.

use crate::flow::{
    self, Answer, Detected, Doing, Escalation, Flow, FlowNotice, Given, LastAnswer, Position,
    Refused, RiskSign, RoleReport, Scope, Step, Target, VerdictKind, Void, Writes,
};
use crate::lang::Spoken;
use crate::machine::state::Failing;
use crate::machine::step::failures::{count_failure, forget_failure};
use crate::machine::step::next::{Next, stopped};
use crate::machine::step::out::Out;
use crate::machine::step::questions;
use crate::machine::{
    Effect, Notice, Observation, Outcome, PauseReason, Stage, State, TaskFacts, TaskRef,
    TurnReport, VerifyReport,
};
use crate::promise::Promise;
use crate::template::PromptNote;
use crate::text;

/// After so many rejections a finding has to be reproducible to block.
pub(super) const FREE_REJECTS: u32 = 2;

/// A shell's words for "no such program" and "not executable": they show
/// nothing about the work.
const NOT_RUN: [i32; 2] = [126, 127];

/// A turn in a role went well as far as the agent is concerned.
pub(in crate::machine::step) fn take_turn(
    state: &mut State,
    report: &TurnReport,
    out: &mut Out,
) -> Next {
    state.counters.missing_promise = 0;
    state.counters.false_promise = 0;
    state.claims.last_promise.clear();
    if let Some(promise) = &report.promise {
        state.claims.last_promise = promise.to_string();
        out.tell(Notice::PromiseDetected {
            iteration: report.turn,
            promise: promise.clone(),
        });
    }
    match &report.promise {
        Some(Promise::Question(words)) => return ask(state, words, out),
        Some(Promise::Blocked(words)) if questions::is_question(state, words) => {
            return ask(state, words, out);
        }
        Some(Promise::Blocked(reason)) => {
            let reason = reason.clone();
            return Next::Finish(Outcome::Blocked { reason });
        }
        _ => {}
    }
    match stopped(state) {
        Some(end) => end,
        None => take_answer(state, report, out),
    }
}

/// A question parks its task; another one may go its way meanwhile.
fn ask(state: &mut State, words: &str, out: &mut Out) -> Next {
    if state.has_flow_of_tasks() {
        state.flow.position = None;
    }
    questions::ask(state, words, out)
}

/// The step that the position is at, with its flow, free of the state.
pub(super) fn here(state: &State) -> Option<(Flow, Step)> {
    let (flow, position) = state.place()?;
    Some((flow.clone(), flow.step(position.step)?.clone()))
}

/// The number of the subtask that is worked on, from 1. A box that the agent
/// ticked itself is not behind it yet: its file is what was asked for.
pub(super) fn subtask_number(state: &State) -> usize {
    let behind = state.tasks.completed();
    behind.saturating_sub(state.early_ticks().len()) + 1
}

fn take_answer(state: &mut State, report: &TurnReport, out: &mut Out) -> Next {
    let Some((_, step)) = here(state) else {
        return Next::Decide;
    };
    let iteration = report.turn;
    // In a session the roles of tasks are played by subagents.
    let by_subagents = state.session.is_some() && state.has_flow_of_tasks();
    if by_subagents && report.role.is_none() {
        count_failure(state, Failing::Phase, &step.role);
        let role = step.role.clone();
        state.notes.push(PromptNote::NotPlayed { role });
        return Next::Decide;
    }
    let said = report.role.as_deref().cloned().unwrap_or_default();
    if step.writes == Writes::No && (changed(state, &report.seen) || is_own(state, &report.seen)) {
        let words = said.words.clone();
        let nothing = RoleReport {
            words,
            ..RoleReport::default()
        };
        remember(state, &step, &nothing);
        let names = report.seen.changed.iter().map(|file| text::one_line(file));
        let files = keep_own_work(state, &report.seen, names.collect());
        return ask_again(state, &Void::Changed { files }, out);
    }
    let output = step.output_for(subtask_number(state));
    let missing = output.filter(|file| !state.flow.has_left(file));
    let is_said = report.promise.as_ref().is_some_and(Promise::claims_success);
    let without_file = step.output_optional && (is_said || has_checks(state));
    if let Some(file) = missing.filter(|_| !without_file) {
        let name = file.clone();
        let note = match step.output_optional {
            true => PromptNote::NotSaid { file: name },
            false => PromptNote::NoOutput {
                file: name,
                boxes: false,
            },
        };
        return ask_for_output(state, iteration, (file, note), out);
    }
    let has_boxes = |facts: &TaskFacts| facts.total > 0;
    let facts = state.tasks.facts.as_ref().filter(|_| state.tasks.is_known);
    if step.plans && !facts.is_some_and(has_boxes) {
        let file = step.output.clone().unwrap_or_default();
        let name = file.clone();
        let note = PromptNote::NoOutput {
            file: name,
            boxes: true,
        };
        return ask_for_output(state, iteration, (file, note), out);
    }
    if matches!(state.failures.last, Some((Failing::Phase, _))) {
        forget_failure(state);
    }
    raise_by_files(state, &report.seen, out);
    if step.verdict == VerdictKind::None && step.each.is_some() {
        state.flow.set_doing(Doing::Tick);
        return Next::ProveFlow;
    }
    remember(state, &step, &said);
    match said.answer {
        _ if step.verdict == VerdictKind::None => settle(state, Answer::Done, out),
        // A number is below what is needed: no finding has to show that.
        Some(answer) if matches!(said.refused, Some(Refused::Below { .. })) => {
            settle(state, answer, out)
        }
        Some(answer) => weigh(state, answer, out),
        None => {
            let words = flow::first_reason(&[], &said.words);
            ask_again(state, &Void::Unreadable { words }, out)
        }
    }
}

/// The number of the phase that a turn is the first to do.
pub(super) fn reached_phase(state: &State, report: &TurnReport) -> Option<usize> {
    let (flow, position) = state.place()?;
    let step = flow.step(position.step)?;
    if position.reached.contains(&position.step) {
        return None;
    }
    let left = step.output_for(subtask_number(state));
    let has_left = left.is_some_and(|file| state.flow.has_left(&file));
    let subtasks = state.tasks.pending() + state.early_ticks().len();
    let is_done = match step.verdict {
        VerdictKind::None if step.each.is_some() => has_left && subtasks == 1,
        VerdictKind::None if step.plans => has_left && subtasks > 0,
        VerdictKind::None => has_left,
        kind => {
            let answer = report.role.as_ref().and_then(|said| said.answer);
            let may_not = step.writes == Writes::No;
            let is_void = may_not && (changed(state, &report.seen) || is_own(state, &report.seen));
            has_left && !is_void && answer == Some(kind.good())
        }
    };
    let mut phases = flow.phases();
    let number = phases.position(|(index, _)| index == position.step)? + 1;
    is_done.then_some(number)
}

/// Whether something is set up that proves the end of the way.
pub(super) fn has_checks(state: &State) -> bool {
    let has_own = |task: &TaskRef| state.rules.checks.tasks.contains_key(&task.id);
    state.rules.verify.is_some() || state.flow.task().is_some_and(has_own)
}

/// What was changed may be riskier than what the task said of it; never the
/// other way round (ROLE-04).
fn raise_by_files(state: &mut State, seen: &Observation, out: &mut Out) {
    if seen.changed.is_empty() {
        return;
    }
    let Detected { risk: to, sign } = flow::detect("", &seen.changed, None);
    let sign = match (sign, seen.changed.first()) {
        (RiskSign::Nothing, Some(path)) => RiskSign::Path(path.clone()),
        (sign, _) => sign,
    };
    let iteration = state.turn.number;
    if let Some(position) = state.flow.position.as_mut().filter(|p| p.risk < to) {
        let from = std::mem::replace(&mut position.risk, to);
        out.tell(FlowNotice::RiskSeen {
            iteration,
            from,
            to,
            sign,
        });
    }
}

/// The step has to leave a file, in it boxes where it plans.
fn ask_for_output(
    state: &mut State,
    iteration: u32,
    (file, note): (String, PromptNote),
    out: &mut Out,
) -> Next {
    count_failure(state, Failing::Phase, &file);
    state.notes.push(note);
    out.tell(FlowNotice::OutputMissing { iteration, file });
    Next::Decide
}

fn remember(state: &mut State, step: &Step, said: &RoleReport) {
    if let Some(position) = &mut state.flow.position {
        position.findings.clone_from(&said.findings);
        position.words.clone_from(&said.words);
        position.refused = said.refused.as_ref().map(Spoken::of);
        if step.verdict == VerdictKind::Review {
            position.score = said.score;
        }
    }
}

/// What running tests leaves behind is nobody's work.
const LEFT_BY_TESTS: [&str; 10] = [
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage", "coverage",
    "htmlcov", ".nyc_output", "node_modules", "target",
];

/// Whether the work tree or the commit is another than when the turn began.
fn changed(state: &State, seen: &Observation) -> bool {
    let is_left = |file: &String| file.split('/').any(|part| LEFT_BY_TESTS.contains(&part));
    if !seen.changed.is_empty() && seen.changed.iter().all(is_left) {
        return false;
    }
    let Some(position) = &state.flow.position else {
        return false;
    };
    let differs = |before: &Option<String>, now: &Option<String>| {
        before.is_some() && now.is_some() && before != now
    };
    differs(&position.tree, &seen.tree) || differs(&position.commit, &seen.commit_tree)
}

/// Whether the tree is what somebody made of it who may only look: nobody
/// approves that before another has taken it up.
fn is_own(state: &State, seen: &Observation) -> bool {
    let position = state.flow.position.as_ref();
    let own = position.and_then(|position| position.own_work.as_ref());
    own.is_some_and(|(tree, _)| seen.tree.as_ref() == Some(tree))
}

/// Gives the files of it, also those of a turn before.
fn keep_own_work(state: &mut State, seen: &Observation, files: Vec<String>) -> Vec<String> {
    let Some(position) = &mut state.flow.position else {
        return files;
    };
    let known = position.own_work.take().map(|(_, files)| files);
    let known = known.filter(|_| files.is_empty());
    let files = known.unwrap_or(files);
    let tree = seen.tree.clone();
    position.own_work = tree.map(|tree| (tree, files.clone()));
    files
}

/// The verdict can't be used: it is asked for once more, then it is unclear
/// (ERRC-08).
fn ask_again(state: &mut State, void: &Void, out: &mut Out) -> Next {
    let iteration = state.turn.number;
    let Some((_, step)) = here(state) else {
        return Next::Decide;
    };
    let Some(position) = &mut state.flow.position else {
        return Next::Decide;
    };
    let asked = std::mem::replace(&mut position.asked_again, true);
    let again = !asked || step.verdict == VerdictKind::None;
    let role = step.role.clone();
    out.tell(match void.clone() {
        Void::Changed { files } => FlowNotice::Violation {
            iteration,
            role,
            files,
            again,
        },
        Void::Unreadable { .. } => FlowNotice::Unclear {
            iteration,
            role,
            again,
        },
    });
    if !again {
        position.refused = Some(Spoken::of(void));
        return settle(state, Answer::Unclear, out);
    }
    let role = step.role.clone();
    state.notes.push(match void {
        Void::Changed { .. } => PromptNote::OnlyLook { role },
        Void::Unreadable { .. } => PromptNote::UnclearVerdict,
    });
    Next::Decide
}

/// Reviews converge: from the third rejection on, what a finding names to show
/// it is run, and the developer sees what came of it (pain 29).
fn weigh(state: &mut State, answer: Answer, out: &mut Out) -> Next {
    let turn = state.turn.number;
    let Some(position) = &mut state.flow.position else {
        return Next::Decide;
    };
    if answer != Answer::Reject || position.rejects < FREE_REJECTS {
        return settle(state, answer, out);
    }
    let shown = position.findings.iter().filter(|f| f.could_block());
    let commands: Vec<String> = shown.filter_map(|f| f.reproducer.clone()).collect();
    if commands.is_empty() {
        return unshown(state, out);
    }
    position.doing = Doing::Reproduce;
    state.stage = Stage::Checking;
    out.push(Effect::Check { turn, commands });
    Next::Rest
}

/// Nothing shows what the review found. It stands all the same: at the limit a
/// person decides, and counting turns no rejection into an approval (T-05).
fn unshown(state: &mut State, out: &mut Out) -> Next {
    let position = state.flow.position.as_ref();
    let findings = position.map_or(0, |position| position.findings.len());
    let iteration = state.turn.number;
    out.tell(FlowNotice::Unshown {
        iteration,
        findings,
    });
    settle(state, Answer::Reject, out)
}

/// Ralph ran the reproducers of a rejection.
pub(in crate::machine::step) fn take_checks(
    state: &mut State,
    report: &VerifyReport,
    out: &mut Out,
) -> Next {
    state.flow.set_doing(Doing::Step);
    if let Some(end) = stopped(state) {
        return end;
    }
    if report.results.is_empty() {
        // Nobody knows what came of it: the reviewer is asked again.
        return Next::Decide;
    }
    let shows = |exit: Option<i32>| exit.is_some_and(|code| code != 0 && !NOT_RUN.contains(&code));
    let shown: Vec<_> = report.results.iter().filter(|r| shows(r.exit)).collect();
    if shown.is_empty() {
        return unshown(state, out);
    }
    for result in shown {
        state.notes.push(result.note());
    }
    settle(state, Answer::Reject, out)
}

/// The answer of a step counts: it is written down, limits are held, and the
/// position moves.
pub(super) fn settle(state: &mut State, answer: Answer, out: &mut Out) -> Next {
    let Some((flow, step)) = here(state) else {
        return Next::Decide;
    };
    let now = state.now().wall_ms;
    let iteration = state.turn.number;
    let counts_as = match answer {
        Answer::Unclear => step.verdict.bad().unwrap_or(answer),
        answer => answer,
    };
    let Some(position) = &mut state.flow.position else {
        return Next::Rest;
    };
    position.given.push(Given {
        step: position.step,
        answer,
        at_ms: now,
    });
    let count = count(position, answer, counts_as);
    let (rejects, fails) = (position.rejects, position.fails);
    let is_review = step.verdict == VerdictKind::Review && answer != Answer::Unclear;
    let score = position.score.filter(|_| is_review);
    let unclear = (position.unclear_rejects, position.unclear_fails);
    let why = match (counts_as, &position.refused) {
        (Answer::Reject | Answer::Fail, Some(why)) => why.clone(),
        (Answer::Reject | Answer::Fail, None) => {
            flow::first_reason(&position.findings, &position.words)
                .as_str()
                .into()
        }
        _ => "".into(),
    };
    state.flow.answered = Some(LastAnswer {
        role: step.role.clone(),
        answer,
        at_ms: now,
        rejects,
        fails,
        risk: position.risk,
    });
    if answer != Answer::Done {
        out.tell(FlowNotice::Answered {
            iteration,
            role: step.role.clone(),
            answer,
            rejects,
            fails,
            unclear,
            score,
            why,
        });
    }
    leave_notes(state, &step, answer);
    if answer == step.verdict.good() {
        phase_done(state, &flow, out);
    }
    let why = match answer {
        Answer::Unclear => Escalation::Unclear,
        _ => Escalation::Flow,
    };
    advance(state, &flow, &step, (counts_as, count, why), out)
}

/// How often it came to this by now.
fn count(position: &mut Position, answer: Answer, counts_as: Answer) -> u32 {
    let unclear = u32::from(answer == Answer::Unclear);
    match counts_as {
        Answer::Reject => {
            position.rejects += 1;
            position.unclear_rejects += unclear;
            position.rejects
        }
        Answer::Fail => {
            position.fails += 1;
            position.unclear_fails += unclear;
            position.fails
        }
        Answer::Approve => {
            position.rejects = 0;
            position.unclear_rejects = 0;
            0
        }
        Answer::Done | Answer::Pass | Answer::Unclear => 0,
    }
}

/// What the next one has to know.
fn leave_notes(state: &mut State, step: &Step, answer: Answer) {
    let Some(position) = &state.flow.position else {
        return;
    };
    let words = position.words.clone();
    let role = step.role.clone();
    let refused = position.refused.clone();
    match answer {
        Answer::Reject | Answer::Fail => {
            let found = position.findings.iter().map(|finding| {
                let text = match finding.severity {
                    Some(severity) => format!("[{severity:?}] {}", finding.text),
                    None => finding.text.clone(),
                };
                Spoken::from(text.as_str())
            });
            let findings = refused.into_iter().chain(found).collect();
            state.notes.push(PromptNote::SentBack {
                role,
                findings,
                words,
            });
        }
        Answer::Unclear => {
            let why = refused.unwrap_or_else(|| "".into());
            state.notes.push(PromptNote::NoVerdict { role, why, words });
        }
        Answer::Done if step.aside && step.role == "debugger" => {
            state.notes.push(PromptNote::Diagnosis { words });
        }
        _ => {}
    }
}

fn phase_done(state: &mut State, flow: &Flow, out: &mut Out) {
    let iteration = state.turn.number;
    let Some(position) = &mut state.flow.position else {
        return;
    };
    let is_new = position.reached.insert(position.step);
    if flow.scope != Scope::Run || !is_new {
        return;
    }
    let of = flow.phases().count();
    let mut phases = flow.phases().enumerate();
    if let Some((at, (_, step))) = phases.find(|(_, (index, _))| *index == position.step) {
        out.tell(FlowNotice::PhaseDone {
            iteration,
            phase: at + 1,
            of,
            title: step.title.clone(),
            percent: step.percent,
        });
    }
}

/// Holds the limits of an answer that was given so often, then goes where it
/// leads; a person is told why where that is to them.
pub(super) fn advance(
    state: &mut State,
    flow: &Flow,
    step: &Step,
    (answer, count, why): (Answer, u32, Escalation),
    out: &mut Out,
) -> Next {
    let iteration = state.turn.number;
    let Some(position) = &mut state.flow.position else {
        return Next::Decide;
    };
    let limit = flow.limit(step, answer, position.risk);
    if limit > 0 && count >= limit {
        let Some(to) = flow.raised(position.risk) else {
            let (why, unclear) = match answer {
                Answer::Fail => (Escalation::Fails, position.unclear_fails),
                _ => (Escalation::Rejects, position.unclear_rejects),
            };
            let why = match unclear > count / 2 {
                true => Escalation::Unclear,
                false => why,
            };
            return escalate(state, step, why, count, out);
        };
        let from = std::mem::replace(&mut position.risk, to);
        position.fails = 0;
        position.unclear_fails = 0;
        out.tell(FlowNotice::RiskRaised {
            iteration,
            from,
            to,
        });
    }
    match flow.target(step, answer, position.risk) {
        Target::Step(index) => {
            position.step = index;
            position.asked_again = false;
            position.doing = Doing::Step;
            if index == 0 && flow.scope == Scope::Task {
                // After a fix the whole way is gone again (ROLE-02).
                position.round += 1;
                position.given.clear();
            }
            Next::Decide
        }
        Target::Done => {
            position.doing = Doing::Prove;
            Next::ProveFlow
        }
        Target::Escalate => escalate(state, step, why, count, out),
    }
}

fn escalate(state: &mut State, step: &Step, why: Escalation, count: u32, out: &mut Out) -> Next {
    out.tell(FlowNotice::Escalated {
        iteration: state.turn.number,
        task: state.flow.task().map(TaskRef::name).unwrap_or_default(),
        role: step.role.clone(),
        why,
        count,
    });
    Next::pause(PauseReason::Escalated(why))
}
