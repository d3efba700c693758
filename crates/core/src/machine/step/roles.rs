//! Roles and phases: where a task or a run stands in its flow, and how a turn
//! moves it. The flow itself is data (`crate::flow`); ticks, verification and
//! limits are those of every run.

mod ending;

use ending::{escalate, prove, tick};
pub(in crate::machine) use ending::{is_proving, proof};
pub(super) use ending::{marked, proven};

use super::decide::{decide, finish, finish_or};
use super::judge::count_error;
use super::verify::{complete, verify};
use super::{go_on, take_in};
use crate::flow::{
    Answer, Detected, Doing, Escalation, Flow, FlowNotice, FlowTurn, Given, LastAnswer, Position,
    Risk, RiskSign, RoleReport, Scope, Step, Target, VerdictKind, Writes,
};
use crate::machine::{
    CheckScope, Detail, Effect, ErrorClass, ErrorNote, Notice, Outcome, PauseReason, Proof, Seen,
    Stage, State, TaskRef, TurnReport, VerifyReport,
};
use crate::promise::Promise;
use crate::template::PromptNote;

/// After so many rejections a finding has to be reproducible to block.
const FREE_REJECTS: u32 = 2;
/// A shell's words for "no such program" and "not executable": they show
/// nothing about the work.
const NOT_RUN: [i32; 2] = [126, 127];

// ---- what was seen ----------------------------------------------------------

pub(super) fn observe(state: &mut State, seen: &Seen) {
    if state.rules.flow.is_some() {
        state.tree.clone_from(&seen.tree);
        state.commit.clone_from(&seen.commit_tree);
        state.outputs.clone_from(&seen.outputs);
    }
}

/// What is there at the beginning was nobody's work in this run.
pub(super) fn begin(state: &mut State) {
    if state.rules.flow.is_none() {
        return;
    }
    state.accepted = done_now(state).into_iter().collect();
    state.old_outputs.clone_from(&state.outputs);
    if scope(state) == Some(Scope::Run) {
        state.flow = Some(Position::begin(None, Risk::default()));
    }
}

/// A run is taken up: what a person ticked meanwhile counts, what an agent
/// ticked that nobody judged does not, and a person who was needed has been
/// there.
pub(super) fn resume(state: &mut State, seen: &Seen) {
    if state.rules.flow.is_none() {
        return;
    }
    let was_paused = matches!(state.stage, Stage::Finished(_));
    if let (true, crate::machine::Tasks::Read(facts)) = (was_paused, &seen.tasks) {
        let known = done_now(state);
        let done = facts.flow.as_ref().map_or(&[][..], |flow| &flow.done);
        let by_hand = done.iter().filter(|id| !known.contains(id));
        let by_hand: Vec<String> = by_hand.cloned().collect();
        state.accepted.extend(by_hand);
    }
    let escalated = matches!(
        state.outcome(),
        Some(Outcome::Paused {
            reason: PauseReason::Escalated(_)
        })
    );
    let is_task = scope(state) == Some(Scope::Task);
    let Some(position) = &mut state.flow else {
        return;
    };
    if position.doing == Doing::Reproduce {
        // Nobody knows what came of it: the reviewer is asked again.
        position.doing = Doing::Step;
    }
    if escalated {
        position.rejects = 0;
        position.fails = 0;
        position.asked_again = false;
        if is_task {
            position.step = 0;
            position.round += 1;
            position.given.clear();
        }
    }
}

fn scope(state: &State) -> Option<Scope> {
    state.rules.flow.as_ref().map(|rules| rules.flow.scope)
}

fn done_now(state: &State) -> Vec<String> {
    let facts = state.tasks.as_ref().and_then(|facts| facts.flow.as_ref());
    facts.map(|facts| facts.done.clone()).unwrap_or_default()
}

/// Boxes that were ticked without the flow.
fn early_ticks(state: &State) -> Vec<String> {
    if state.rules.flow.is_none() || !state.tasks_known {
        return Vec::new();
    }
    let mut done = done_now(state);
    done.retain(|id| !state.accepted.contains(id));
    done
}

pub(super) fn has_early_ticks(state: &State) -> bool {
    !early_ticks(state).is_empty()
}

/// Whether a turn without any change is a stall: not of those who are there to
/// look.
pub(super) fn expects_work(state: &State) -> bool {
    let Some((rules, position)) = state.rules.flow.as_ref().zip(state.flow.as_ref()) else {
        return true;
    };
    let Some(step) = rules.flow.step(position.step) else {
        return true;
    };
    step.writes == Writes::Yes && !has_new_output(state, step)
}

fn has_new_output(state: &State, step: &Step) -> bool {
    step.output.is_some() && missing_output(state, step).is_none()
}

/// The file that the step has to leave, where it is not there. One that was
/// there before the run is not its work.
fn missing_output(state: &State, step: &Step) -> Option<String> {
    let name = step.output_for(subtask_number(state))?;
    let there = state.outputs.get(&name);
    let is_new = there.is_some() && there != state.old_outputs.get(&name);
    (!is_new).then_some(name)
}

/// The number of the subtask that is worked on, from 1.
fn subtask_number(state: &State) -> usize {
    let facts = state.tasks.as_ref();
    facts.map_or(0, |facts| facts.completed) + 1
}

// ---- before a turn ----------------------------------------------------------

/// Does what has to be done before an agent is called; true where that takes
/// the place of the call.
pub(super) fn before_turn(state: &mut State, out: &mut Vec<Effect>) -> bool {
    if state.rules.flow.is_none() {
        return false;
    }
    let early = early_ticks(state);
    if !early.is_empty() {
        hold(state, early, out);
        return true;
    }
    match state.flow.as_ref().map(|position| position.doing.clone()) {
        Some(Doing::Prove) => {
            prove(state, out);
            true
        }
        Some(Doing::Tick) => {
            tick(state, out);
            true
        }
        Some(Doing::Step | Doing::Reproduce) | None => {
            choose_task(state, out);
            refuse_without_approval(state, out);
            false
        }
    }
}

fn hold(state: &mut State, ids: Vec<String>, out: &mut Vec<Effect>) {
    tell(
        out,
        FlowNotice::TicksHeld {
            iteration: state.turns,
            ids: ids.clone(),
        },
    );
    let note = PromptNote::TicksHeld { ids: ids.clone() };
    if !state.notes.contains(&note) {
        state.notes.push(note);
    }
    state.stage = Stage::Marking;
    out.push(Effect::Mark {
        tick: Vec::new(),
        untick: ids,
    });
}

/// A task that is not on its way yet begins its way.
fn choose_task(state: &mut State, out: &mut Vec<Effect>) {
    let done = done_now(state);
    let is_done = |task: &TaskRef| done.contains(&task.id);
    if scope(state) == Some(Scope::Task) && task(state).as_ref().is_some_and(is_done) {
        // A person did it meanwhile.
        state.flow = None;
    }
    let Some(rules) = &state.rules.flow else {
        return;
    };
    let next = state.tasks.as_ref().and_then(|facts| facts.next.clone());
    match (rules.flow.scope, &mut state.flow) {
        (Scope::Run, Some(position)) => {
            let each = rules
                .flow
                .step(position.step)
                .is_some_and(|s| s.each.is_some());
            position.task = next.filter(|_| each);
        }
        (Scope::Task, None) => {
            let Some(task) = next else {
                return;
            };
            let facts = state.tasks.as_ref().and_then(|facts| facts.flow.as_ref());
            let found = facts.map(|facts| facts.risk.clone()).unwrap_or_default();
            let detected = match (rules.risk, &found.sign) {
                (Some(risk), sign) if *sign != RiskSign::Said => Detected {
                    risk,
                    sign: RiskSign::Set,
                },
                _ => found,
            };
            let risk = match &rules.bypass {
                Some(reason) => {
                    tell(
                        out,
                        FlowNotice::Bypassed {
                            iteration: state.turns,
                            task: task.id.clone(),
                            reason: reason.clone(),
                        },
                    );
                    Risk::Low
                }
                None => detected.risk,
            };
            tell(
                out,
                FlowNotice::TaskBegins {
                    task: task.id.clone(),
                    detected,
                },
            );
            state.flow = Some(Position::begin(Some(task), risk));
        }
        _ => {}
    }
}

/// A tester without a fresh approval waits for the reviewer (ROLE-05).
fn refuse_without_approval(state: &mut State, out: &mut Vec<Effect>) {
    let now = state.now().wall_ms;
    let iteration = state.turns;
    let Some((rules, position)) = state.rules.flow.as_ref().zip(state.flow.as_mut()) else {
        return;
    };
    let flow = &rules.flow;
    let Some(step) = flow.step(position.step) else {
        return;
    };
    let needed = step.needs.as_ref().and_then(|id| flow.index_of(id));
    let Some((needed, other)) = needed.and_then(|index| Some((index, flow.step(index)?))) else {
        return;
    };
    if flow.skips(other, position.risk) || position.approved(flow, needed, now) {
        return;
    }
    tell(
        out,
        FlowNotice::Refused {
            iteration,
            role: step.role.clone(),
            needs: other.role.clone(),
            risk: position.risk,
        },
    );
    position.step = needed;
    position.asked_again = false;
}

pub(super) fn task(state: &State) -> Option<TaskRef> {
    state.flow.as_ref()?.task.clone()
}

/// What the call that begins needs of the flow.
pub(super) fn turn(state: &mut State, out: &mut Vec<Effect>) -> Option<FlowTurn> {
    let number = subtask_number(state);
    let (tree, commit) = (state.tree.clone(), state.commit.clone());
    let (iteration, dispatch) = (state.turns, state.dispatches);
    let (rules, position) = state.rules.flow.as_ref().zip(state.flow.as_mut())?;
    let step = rules.flow.step(position.step)?;
    position.tree = tree;
    position.commit = commit;
    tell(
        out,
        FlowNotice::RoleBegins {
            iteration,
            step: step.id.clone(),
            role: step.role.clone(),
            risk: position.risk,
            round: position.round,
            dispatch,
        },
    );
    Some(FlowTurn {
        step: step.id.clone(),
        role: step.role.clone(),
        verdict: step.verdict,
        risk: position.risk,
        model: rules.flow.model_for(step, position.risk).map(str::to_owned),
        output: step.output_for(number),
        strict: step.verdict == VerdictKind::Review && position.rejects >= FREE_REJECTS,
    })
}

// ---- after a turn -----------------------------------------------------------

/// A turn in a role went well as far as the agent is concerned.
pub(super) fn judge(state: &mut State, report: &TurnReport, out: &mut Vec<Effect>) {
    state.counters.missing_promise = 0;
    state.counters.false_promise = 0;
    match &report.promise {
        Some(promise) => {
            state.last_promise = promise.to_string();
            out.push(Effect::Emit(Notice::PromiseDetected {
                iteration: report.turn,
                promise: promise.clone(),
            }));
        }
        None => state.last_promise.clear(),
    }
    if let Some(Promise::Blocked(reason)) = &report.promise {
        let reason = reason.clone();
        return finish(state, Outcome::Blocked { reason }, out);
    }
    finish_or(state, out, |state, out| take_turn(state, report, out));
}

/// The step that the position is at, with its flow, free of the state.
fn here(state: &State) -> Option<(Flow, Step)> {
    let (rules, position) = state.rules.flow.as_ref().zip(state.flow.as_ref())?;
    let step = rules.flow.step(position.step)?.clone();
    Some((rules.flow.clone(), step))
}

fn take_turn(state: &mut State, report: &TurnReport, out: &mut Vec<Effect>) {
    let Some((_, step)) = here(state) else {
        return decide(state, out);
    };
    let iteration = report.turn;
    if step.writes == Writes::No && changed(state, &report.seen) {
        let role = step.role.clone();
        tell(out, FlowNotice::Violation { iteration, role });
        let role = step.role.clone();
        return ask_again(state, PromptNote::OnlyLook { role }, out);
    }
    if let Some(file) = missing_output(state, &step) {
        let note = PromptNote::NoOutput {
            file: file.clone(),
            boxes: false,
        };
        tell(out, FlowNotice::OutputMissing { iteration, file });
        state.notes.push(note);
        return decide(state, out);
    }
    let has_boxes = state.tasks_known && state.tasks.as_ref().is_some_and(|t| t.total > 0);
    if step.plans && !has_boxes {
        let file = step.output.clone().unwrap_or_default();
        let note = PromptNote::NoOutput {
            file: file.clone(),
            boxes: true,
        };
        tell(out, FlowNotice::OutputMissing { iteration, file });
        state.notes.push(note);
        return decide(state, out);
    }
    let said = report.role.as_deref().cloned().unwrap_or_default();
    match (step.verdict, said.answer) {
        (VerdictKind::None, _) if step.each.is_some() => {
            set_doing(state, Doing::Tick);
            decide(state, out);
        }
        (VerdictKind::None, _) => {
            remember(state, &said);
            settle(state, Answer::Done, out);
        }
        (_, Some(answer)) => {
            remember(state, &said);
            weigh(state, answer, out);
        }
        (_, None) => {
            remember(state, &said);
            ask_again(state, PromptNote::UnclearVerdict, out);
        }
    }
}

fn set_doing(state: &mut State, doing: Doing) {
    if let Some(position) = &mut state.flow {
        position.doing = doing;
    }
}

fn remember(state: &mut State, said: &RoleReport) {
    if let Some(position) = &mut state.flow {
        position.findings.clone_from(&said.findings);
        position.words.clone_from(&said.words);
        position.score = said.score.or(position.score);
    }
}

/// Whether the work tree or the commit is another than when the turn began.
fn changed(state: &State, seen: &Seen) -> bool {
    let Some(position) = &state.flow else {
        return false;
    };
    let differs = |before: &Option<String>, now: &Option<String>| {
        before.is_some() && now.is_some() && before != now
    };
    differs(&position.tree, &seen.tree) || differs(&position.commit, &seen.commit_tree)
}

/// The verdict can't be used: it is asked for once more, then it is unclear
/// (ERRC-08).
fn ask_again(state: &mut State, note: PromptNote, out: &mut Vec<Effect>) {
    let iteration = state.turns;
    let Some((_, step)) = here(state) else {
        return decide(state, out);
    };
    let asked = state
        .flow
        .as_ref()
        .is_some_and(|position| position.asked_again);
    if step.verdict != VerdictKind::None {
        tell(
            out,
            FlowNotice::Unclear {
                iteration,
                role: step.role.clone(),
                again: !asked,
            },
        );
    }
    if asked && step.verdict != VerdictKind::None {
        return settle(state, Answer::Unclear, out);
    }
    if let Some(position) = &mut state.flow {
        position.asked_again = true;
    }
    state.notes.push(note);
    decide(state, out);
}

/// Reviews converge: from the third rejection on, only what can be shown to
/// be wrong blocks (pain 29).
fn weigh(state: &mut State, answer: Answer, out: &mut Vec<Effect>) {
    let turn = state.turns;
    let Some(position) = &mut state.flow else {
        return decide(state, out);
    };
    if answer != Answer::Reject || position.rejects < FREE_REJECTS {
        return settle(state, answer, out);
    }
    let shown = position
        .findings
        .iter()
        .filter(|finding| finding.could_block());
    let commands: Vec<String> = shown.filter_map(|f| f.reproducer.clone()).collect();
    if commands.is_empty() {
        return overrule(state, out);
    }
    position.doing = Doing::Reproduce;
    state.stage = Stage::Checking;
    out.push(Effect::Check { turn, commands });
}

fn overrule(state: &mut State, out: &mut Vec<Effect>) {
    let findings = state
        .flow
        .as_ref()
        .map_or(0, |position| position.findings.len());
    tell(
        out,
        FlowNotice::Overruled {
            iteration: state.turns,
            findings,
        },
    );
    settle(state, Answer::Approve, out);
}

/// Ralph ran the reproducers of a rejection.
pub(super) fn checked(state: &mut State, report: &VerifyReport, out: &mut Vec<Effect>) {
    set_doing(state, Doing::Step);
    finish_or(state, out, |state, out| {
        let shows =
            |exit: Option<i32>| exit.is_some_and(|code| code != 0 && !NOT_RUN.contains(&code));
        if report.results.is_empty() {
            // Nobody knows what came of it: the reviewer is asked again.
            return decide(state, out);
        }
        let shown: Vec<_> = report.results.iter().filter(|r| shows(r.exit)).collect();
        if shown.is_empty() {
            return overrule(state, out);
        }
        for result in shown {
            state.notes.push(PromptNote::VerifyFailed {
                command: result.command.clone(),
                output: result.output.clone(),
            });
        }
        settle(state, Answer::Reject, out);
    });
}

/// The answer of a step counts: it is written down, limits are held, and the
/// position moves.
fn settle(state: &mut State, answer: Answer, out: &mut Vec<Effect>) {
    let Some((flow, step)) = here(state) else {
        return decide(state, out);
    };
    let now = state.now().wall_ms;
    let iteration = state.turns;
    let counts_as = match answer {
        Answer::Unclear => step.verdict.bad().unwrap_or(answer),
        answer => answer,
    };
    let Some(position) = &mut state.flow else {
        return;
    };
    position.given.push(Given {
        step: position.step,
        answer,
        at_ms: now,
    });
    let count = match counts_as {
        Answer::Reject => {
            position.rejects += 1;
            position.rejects
        }
        Answer::Fail => {
            position.fails += 1;
            position.fails
        }
        Answer::Approve => {
            position.rejects = 0;
            0
        }
        Answer::Done | Answer::Pass | Answer::Unclear => 0,
    };
    let (rejects, fails, score) = (position.rejects, position.fails, position.score);
    state.answered = Some(LastAnswer {
        role: step.role.clone(),
        answer,
        at_ms: now,
        rejects,
        fails,
        risk: position.risk,
    });
    if answer != Answer::Done {
        tell(
            out,
            FlowNotice::Answered {
                iteration,
                role: step.role.clone(),
                answer,
                rejects,
                fails,
                score: score.filter(|_| step.verdict == VerdictKind::Review),
            },
        );
    }
    leave_notes(state, &step, counts_as);
    if answer == step.verdict.good() {
        phase_done(state, &flow, out);
    }
    advance(state, &flow, &step, counts_as, count, out);
}

/// What the next one has to know.
fn leave_notes(state: &mut State, step: &Step, answer: Answer) {
    let Some(position) = &state.flow else {
        return;
    };
    let words = position.words.clone();
    match answer {
        Answer::Reject | Answer::Fail => {
            let findings = position.findings.iter();
            let findings = findings.map(|finding| match finding.severity {
                Some(severity) => format!("[{severity:?}] {}", finding.text),
                None => finding.text.clone(),
            });
            let note = PromptNote::SentBack {
                role: step.role.clone(),
                findings: findings.collect(),
                words,
            };
            state.notes.push(note);
        }
        Answer::Done if step.aside && step.role == "debugger" => {
            state.notes.push(PromptNote::Diagnosis { words });
        }
        _ => {}
    }
}

fn phase_done(state: &mut State, flow: &Flow, out: &mut Vec<Effect>) {
    let iteration = state.turns;
    let Some(position) = &mut state.flow else {
        return;
    };
    let is_new = position.reached.insert(position.step);
    if flow.scope != Scope::Run || !is_new {
        return;
    }
    let of = flow.phases().count();
    let here = position.step;
    if let Some((at, (_, step))) = flow
        .phases()
        .enumerate()
        .find(|(_, (index, _))| *index == here)
    {
        tell(
            out,
            FlowNotice::PhaseDone {
                iteration,
                phase: at + 1,
                of,
                title: step.title.en.clone(),
                percent: step.percent,
            },
        );
    }
}

/// Holds the limits of an answer, then goes where it leads.
fn advance(
    state: &mut State,
    flow: &Flow,
    step: &Step,
    answer: Answer,
    count: u32,
    out: &mut Vec<Effect>,
) {
    let iteration = state.turns;
    let Some(position) = &mut state.flow else {
        return decide(state, out);
    };
    let limit = flow.limit(step, answer, position.risk);
    if limit > 0 && count >= limit {
        let Some(to) = flow.raised(position.risk) else {
            let why = match answer {
                Answer::Fail => Escalation::Fails,
                _ => Escalation::Rejects,
            };
            return escalate(state, step, why, count, out);
        };
        let from = std::mem::replace(&mut position.risk, to);
        position.fails = 0;
        tell(
            out,
            FlowNotice::RiskRaised {
                iteration,
                from,
                to,
            },
        );
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
            decide(state, out);
        }
        Target::Done => {
            position.doing = Doing::Prove;
            prove(state, out);
        }
        Target::Escalate => escalate(state, step, Escalation::Flow, count, out),
    }
}

fn tell(out: &mut Vec<Effect>, notice: FlowNotice) {
    out.push(Effect::Emit(Notice::Flow(notice)));
}
