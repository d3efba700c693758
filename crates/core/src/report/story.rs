//! What happened on the way, gathered from a run as it is played again.

use std::collections::BTreeMap;

use super::Verdict;
use crate::machine::{
    Detail, End, ErrorClass, Event, GuardBlock, Kind, Missing, Notice, Stage, State, TaskRef,
    TurnReport, WaitReason,
};
use crate::usage::Usage;

/// What happened on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    pub calls: Vec<Call>,
    pub rests: Vec<Rest>,
    pub rejected: Vec<Rejection>,
    pub waits: BTreeMap<&'static str, Waits>,
    pub errors: Vec<Trouble>,
    pub blocked: Vec<Blocked>,
    pub checks_passed: u32,
    pub checks_failed: u32,
    /// The turn after which the checks ran last, and whether they passed.
    pub last_check: Option<(u32, bool)>,
    pub resumed: u32,
    /// Turns that left nothing new behind.
    pub stalled: u32,
}

/// One call of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub turn: u32,
    /// A refused call is made again within its turn.
    pub attempt: u32,
    pub agent: String,
    /// `None` without a task list.
    pub task: Option<TaskRef>,
    /// On the wall clock.
    pub started_ms: i64,
    pub duration_ms: u64,
    pub spent: Usage,
    /// Tasks that were open before and done after it.
    pub newly_done: usize,
    pub verdict: Verdict,
    /// Whether the checks that followed it passed.
    pub verified: Option<bool>,
}

/// A time in which no agent was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    pub why: RestReason,
    pub started_ms: i64,
    pub duration_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestReason {
    /// The run waited by itself.
    Waiting,
    /// Ralph ran the checks.
    Checking,
}

/// A claim that the evidence did not bear out.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub turn: u32,
    pub claim: String,
    pub missing: Vec<Missing>,
}

/// All waits for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    pub why: WaitReason,
    pub count: u32,
    pub ms: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    pub turn: u32,
    pub class: ErrorClass,
    pub detail: Detail,
}

/// A tool call that the guard did not let pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    pub turn: u32,
    pub block: GuardBlock,
}

impl Story {
    /// Takes in one event: `state` is what it led to, `notices` what was told
    /// of it.
    pub fn hear(&mut self, event: &Event, state: &State, notices: &[Notice]) {
        self.end_rest(event.at.wall_ms);
        if let Kind::TurnEnded(report) = &event.kind {
            self.end_call(report);
        }
        for notice in notices {
            self.take(notice);
        }
        self.begin_call(event, state, notices);
        self.begin_rest(event, state);
    }

    pub(super) fn take(&mut self, notice: &Notice) {
        match notice {
            Notice::PromiseRejected {
                iteration,
                claim,
                missing,
            } => {
                self.judge(*iteration, Verdict::Rejected);
                self.rejected.push(Rejection {
                    turn: *iteration,
                    claim: claim.clone(),
                    missing: missing.clone(),
                });
            }
            Notice::Wait { ms, why, .. } => {
                let waits = self.waits.entry(why.name()).or_insert(Waits {
                    why: *why,
                    count: 0,
                    ms: 0,
                });
                waits.count += 1;
                waits.ms += ms;
            }
            Notice::Error {
                iteration,
                class,
                detail,
                ..
            } => {
                self.judge(*iteration, Verdict::Failed);
                self.errors.push(Trouble {
                    turn: *iteration,
                    class: *class,
                    detail: detail.clone(),
                });
            }
            Notice::AgentRefused { iteration, .. } => self.judge(*iteration, Verdict::Refused),
            Notice::IterationComplete {
                iteration,
                newly_done,
                evidence,
                ..
            } => {
                if let Some(call) = self.call(*iteration) {
                    call.newly_done = *newly_done;
                }
                if !evidence.is_empty() {
                    self.judge(*iteration, Verdict::Progress);
                }
            }
            Notice::GateResult {
                iteration, passed, ..
            } => {
                self.last_check = Some((*iteration, *passed));
                if let Some(call) = self.call(*iteration) {
                    call.verified = Some(*passed);
                }
                match passed {
                    true => self.checks_passed += 1,
                    false => self.checks_failed += 1,
                }
            }
            Notice::GuardBlock { iteration, block } => self.blocked.push(Blocked {
                turn: *iteration,
                block: block.clone(),
            }),
            Notice::Resume { .. } => self.resumed += 1,
            Notice::Stalled { .. } => self.stalled += 1,
            _ => {}
        }
    }

    /// The last call of a turn.
    fn call(&mut self, turn: u32) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.turn == turn)
    }

    /// What is worse, or says more, is kept.
    fn judge(&mut self, turn: u32, verdict: Verdict) {
        if let Some(call) = self.call(turn) {
            call.verdict = call.verdict.max(verdict);
        }
    }

    fn end_call(&mut self, report: &TurnReport) {
        let is_its = |call: &&mut Call| (call.turn, call.attempt) == (report.turn, report.attempt);
        let Some(call) = self.calls.last_mut().filter(is_its) else {
            return;
        };
        call.duration_ms = report.duration_ms;
        call.spent = report.spent;
        call.verdict = match report.end {
            End::Stopped | End::Lost => Verdict::Cut,
            _ => Verdict::Nothing,
        };
    }

    /// A call has begun where the machine says that one runs which is not
    /// known yet.
    fn begin_call(&mut self, event: &Event, state: &State, notices: &[Notice]) {
        let known = self.calls.last().map(|call| (call.turn, call.attempt));
        let running = (state.turns, state.attempt);
        if state.stage != Stage::Running || known == Some(running) {
            return;
        }
        let told = notices.iter().rev().find_map(|notice| match notice {
            Notice::IterationStart { task, .. } => task.clone(),
            _ => None,
        });
        let next = || state.tasks.as_ref().and_then(|tasks| tasks.next.clone());
        self.calls.push(Call {
            turn: state.turns,
            attempt: state.attempt,
            agent: state.called_agent().to_owned(),
            task: told.or_else(next),
            started_ms: event.at.wall_ms,
            duration_ms: 0,
            spent: Usage::default(),
            newly_done: 0,
            verdict: Verdict::Running,
            verified: None,
        });
    }

    fn begin_rest(&mut self, event: &Event, state: &State) {
        let why = match state.stage {
            Stage::Waiting => RestReason::Waiting,
            Stage::Verifying { .. } => RestReason::Checking,
            _ => return,
        };
        self.rests.push(Rest {
            why,
            started_ms: event.at.wall_ms,
            duration_ms: 0,
        });
    }

    /// Whatever happens next ends it.
    fn end_rest(&mut self, wall_ms: i64) {
        if let Some(rest) = self.rests.last_mut().filter(|rest| rest.duration_ms == 0) {
            rest.duration_ms = u64::try_from(wall_ms - rest.started_ms).unwrap_or(0).max(1);
        }
    }
}
