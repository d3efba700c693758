//! Roles and phases: where a task or a run stands in its flow, and how a turn
//! moves it. The flow itself is data (`crate::flow`); ticks, verification and
//! limits are those of every run. `answers` judges a turn and moves the
//! position, `ending` proves and ticks what came to the end of its way.

mod answers;
mod ending;

use super::next::Next;
use super::out::Out;
use super::ticks;
use crate::flow::{
    Detected, Doing, FlowNotice, FlowTurn, Position, Risk, RiskSign, Scope, Step, VerdictKind,
    Writes,
};
use crate::machine::{
    Effect, End, Evidence, Observation, Outcome, PauseReason, Stage, State, TaskRef, Tasks,
    TurnReport,
};
use crate::template::PromptNote;

use self::answers::{FREE_REJECTS, subtask_number};
pub(super) use self::answers::{take_checks, take_turn};
pub(super) use self::ending::{end_of_way, is_proving, take_marks, take_proof};

/// What is there at the beginning was nobody's work in this run.
pub(super) fn begin(state: &mut State) {
    if state.rules.flow.is_none() {
        return;
    }
    state.flow.accepted = state.tasks.done().iter().cloned().collect();
    state.flow.old_outputs.clone_from(&state.flow.outputs);
    if state.is_one_flow() {
        state.flow.position = Some(Position::begin(None, Risk::default()));
    }
}

/// A run is taken up: what a person ticked meanwhile counts, what an agent
/// ticked that nobody judged does not, and a person who was needed has been
/// there.
pub(super) fn resume(state: &mut State, seen: &Observation) {
    if state.rules.flow.is_none() {
        return;
    }
    let was_paused = matches!(state.stage, Stage::Finished(_));
    if let (true, Tasks::Read(facts)) = (was_paused, &seen.tasks) {
        let known = state.tasks.done();
        let done = facts.flow.as_ref().map_or(&[][..], |flow| &flow.done);
        let by_hand = done.iter().filter(|id| !known.contains(id));
        let by_hand: Vec<String> = by_hand.cloned().collect();
        state.flow.accepted.extend(by_hand);
    }
    let escalated = matches!(
        state.outcome(),
        Some(Outcome::Paused {
            reason: PauseReason::Escalated(_)
        })
    );
    let is_task = state.has_flow_of_tasks();
    let Some(position) = &mut state.flow.position else {
        return;
    };
    if position.doing == Doing::Reproduce {
        // Nobody knows what came of it: the reviewer is asked again.
        position.doing = Doing::Step;
    }
    if escalated {
        position.rejects = 0;
        position.fails = 0;
        position.unclear_rejects = 0;
        position.unclear_fails = 0;
        position.asked_again = false;
        if is_task {
            position.step = 0;
            position.round += 1;
            position.given.clear();
        }
    }
}

/// Whether a turn without any change is a stall: not of those who are there to
/// look.
pub(super) fn expects_work(state: &State) -> bool {
    let step = state.place().and_then(|(flow, at)| flow.step(at.step));
    step.is_none_or(|step| step.writes == Writes::Yes && !has_new_output(state, step))
}

fn has_new_output(state: &State, step: &Step) -> bool {
    let output = step.output_for(subtask_number(state));
    output.is_some_and(|output| state.flow.has_left(&output))
}

/// Whether a turn leaves the file of the subtask that it worked on: Ralph
/// ticks its box right after it was told (EVNT-01).
pub(super) fn ends_subtask(state: &State, report: &TurnReport) -> bool {
    let step = state.place().and_then(|(flow, at)| flow.step(at.step));
    let step = step.filter(|step| step.each.is_some() && step.verdict == VerdictKind::None);
    let ends = step.is_some_and(|step| has_new_output(state, step));
    ends && report.end == End::Exit(0) && state.flow.task().is_some()
}

/// What a turn reached of a run's flow, told before its answer is followed
/// (EVNT-01).
pub(super) fn reached(state: &State, report: &TurnReport) -> Vec<Evidence> {
    let kinds = state.rules.evidence;
    let mut reached = Vec::new();
    if !state.is_one_flow() || report.end != End::Exit(0) {
        return reached;
    }
    if kinds.tasks && ends_subtask(state, report) {
        reached.push(Evidence::Tasks {
            completed: subtask_number(state),
        });
    }
    if let Some(phase) = answers::reached_phase(state, report).filter(|_| kinds.phase) {
        let phase = phase.to_string();
        reached.push(Evidence::Phase { phase });
    }
    reached
}

/// Does what has to be done before an agent is called; what takes the place of
/// the call, where something does.
pub(super) fn before_turn(state: &mut State, out: &mut Out) -> Option<Next> {
    state.rules.flow.as_ref()?;
    let early = state.early_ticks();
    if !early.is_empty() {
        hold(state, early, out);
        return Some(Next::Rest);
    }
    let doing = state.flow.position.as_ref().map(|position| &position.doing);
    if matches!(doing, Some(Doing::Prove | Doing::Tick)) {
        return Some(Next::ProveFlow);
    }
    choose_task(state, out);
    refuse_without_approval(state, out);
    None
}

/// Opens what was ticked before its way was over, where the run ends meanwhile:
/// it counts for nobody (ROLE-02). Who gives a run up leaves things as they are.
pub(super) fn opens_early_ticks(state: &mut State, outcome: &Outcome, out: &mut Out) -> bool {
    let is_meant = !matches!(
        outcome,
        Outcome::Complete | Outcome::Unproven { .. } | Outcome::Cancelled
    );
    let is_tried = !state.ticks.turned_back.is_empty();
    if !is_meant || is_tried || state.rules.lanes.is_some() {
        return false;
    }
    let ids = state.early_ticks();
    if ids.is_empty() {
        return false;
    }
    out.tell(FlowNotice::TicksHeld {
        iteration: state.turn.number,
        ids: ids.clone(),
    });
    state.ticks.turned_back = ids;
    ticks::untick(state, Some(outcome.clone()), out)
}

fn hold(state: &mut State, ids: Vec<String>, out: &mut Out) {
    out.tell(FlowNotice::TicksHeld {
        iteration: state.turn.number,
        ids: ids.clone(),
    });
    let note = PromptNote::TicksHeld { ids: ids.clone() };
    if !state.notes.next.contains(&note) {
        state.notes.push(note);
    }
    state.stage = Stage::Marking;
    out.push(Effect::Mark {
        tick: Vec::new(),
        untick: ids,
    });
}

/// A task that is not on its way yet begins its way.
fn choose_task(state: &mut State, out: &mut Out) {
    let is_done = |task: &TaskRef| state.tasks.done().contains(&task.id);
    let is_out = |task: &TaskRef| is_done(task) || state.tasks.skipped.contains(&task.id);
    if state.has_flow_of_tasks() && state.flow.task().is_some_and(is_out) {
        // A person did it meanwhile, or took it out.
        state.flow.position = None;
    }
    let Some(rules) = &state.rules.flow else {
        return;
    };
    let next = state.next_task().cloned();
    match (rules.flow.scope, &mut state.flow.position) {
        (Scope::Run, Some(position)) => {
            let step = rules.flow.step(position.step);
            position.task = next.filter(|_| step.is_some_and(|step| step.each.is_some()));
        }
        (Scope::Task, None) => {
            let Some(task) = next else {
                return;
            };
            let facts = state.tasks.flow();
            let found = facts.map(|facts| facts.risk.clone()).unwrap_or_default();
            let detected = match (rules.risk, &found.sign) {
                (Some(risk), sign) if *sign != RiskSign::Said => Detected {
                    risk,
                    sign: RiskSign::Set,
                },
                _ => found,
            };
            let raised = facts.and_then(|facts| facts.raised.clone());
            let detected = match raised {
                Some(raised) if raised.risk > detected.risk => raised,
                _ => detected,
            };
            if let Some(reason) = &rules.bypass {
                out.tell(FlowNotice::Bypassed {
                    iteration: state.turn.number,
                    task: task.id.clone(),
                    reason: reason.clone(),
                });
            }
            let risk = detected.risk;
            out.tell(FlowNotice::TaskBegins {
                task: task.id.clone(),
                detected,
            });
            state.flow.position = Some(Position {
                base: state.flow.commit.clone(),
                ..Position::begin(Some(task), risk)
            });
        }
        _ => {}
    }
}

/// A tester without a fresh approval waits for the reviewer (ROLE-05).
fn refuse_without_approval(state: &mut State, out: &mut Out) {
    let now = state.now().wall_ms;
    let iteration = state.turn.number;
    let Some((rules, position)) = state.rules.flow.as_ref().zip(state.flow.position.as_mut())
    else {
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
    out.tell(FlowNotice::Refused {
        iteration,
        role: step.role.clone(),
        needs: other.role.clone(),
        risk: position.risk,
    });
    position.step = needed;
    position.asked_again = false;
}

/// What the call that begins needs of the flow.
pub(super) fn turn(state: &mut State, out: &mut Out) -> Option<FlowTurn> {
    let number = subtask_number(state);
    let (tree, commit) = (state.flow.tree.clone(), state.flow.commit.clone());
    let (iteration, dispatch) = (state.turn.number, state.agents.dispatches);
    let (rules, position) = state
        .rules
        .flow
        .as_ref()
        .zip(state.flow.position.as_mut())?;
    let step = rules.flow.step(position.step)?;
    // Who may only look and is asked again answers about what was there before
    // they changed it.
    if !position.asked_again || step.writes != Writes::No {
        position.tree = tree;
        position.commit = commit;
    }
    out.tell(FlowNotice::RoleBegins {
        iteration,
        step: step.id.clone(),
        role: step.role.clone(),
        risk: position.risk,
        round: position.round,
        dispatch,
    });
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
