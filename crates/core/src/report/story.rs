//! What happened on the way, gathered from a run as it is played again.

use std::collections::BTreeMap;

use super::calls::Calls;
use crate::flow::{Answer, FlowNotice};
use crate::lang::Spoken;
use crate::machine::{
    CheckNotice, Denial, Detail, ErrorClass, Event, GuardBlock, Kind, Missing, Notice, Sign, Stage,
    State, Tasks, WaitReason, WallFacts,
};
use crate::proof::Unshown;
use crate::tasks::Moved;

/// What happened on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    pub calls: Calls,
    pub rests: Vec<Rest>,
    pub accepted: Vec<Acceptance>,
    pub rejected: Vec<Rejection>,
    pub sent_back: Vec<SentBack>,
    /// Why these tasks are not shown as well as was asked.
    pub unshown: BTreeMap<String, Unshown>,
    pub waits: BTreeMap<&'static str, Waits>,
    pub errors: Vec<Trouble>,
    pub blocked: Vec<Blocked>,
    /// What stood around the agent and the checks.
    pub wall: Option<WallFacts>,
    /// What the wall held back, and in which turn first.
    pub denied: BTreeMap<Denial, u32>,
    pub checks_passed: u32,
    pub checks_failed: u32,
    /// The turn after which the checks ran last, and whether they passed.
    pub last_check: Option<(u32, bool)>,
    pub resumed: u32,
    /// Turns that left nothing new behind.
    pub stalled: u32,
    /// What the circuit breaker saw that ended the run.
    pub breaker: Vec<Sign>,
    /// The turn that ticked each task; 0 where no turn did.
    pub(super) ticked: BTreeMap<String, u32>,
    /// What is waited for now.
    waits_for: Option<WaitReason>,
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

/// A person's word for tasks; an empty id stands for the whole work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub tasks: Vec<String>,
    pub why: String,
}

/// A claim that the evidence did not bear out.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub turn: u32,
    pub claim: String,
    pub missing: Vec<Missing>,
}

/// Work that a reviewer or a tester did not let pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentBack {
    pub turn: u32,
    /// Empty where a role judges the whole work.
    pub task: String,
    pub role: String,
    pub why: Spoken,
}

/// All waits for one reason, as long as they really were: somebody may have
/// ended them early.
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
        self.take_ticks(event);
        for notice in notices {
            self.take(notice);
            self.take_verdict(notice, state);
        }
        self.calls.hear(event, state, notices);
        self.begin_rest(event, state);
    }

    pub(super) fn take(&mut self, notice: &Notice) {
        match notice {
            Notice::PromiseRejected {
                iteration,
                claim,
                missing,
            } => self.rejected.push(Rejection {
                turn: *iteration,
                claim: claim.clone(),
                missing: missing.clone(),
            }),
            // Ralph ticks for the turn that ended the way.
            Notice::Flow(FlowNotice::TaskPassed { iteration, task }) => {
                self.ticked.insert(task.clone(), *iteration);
            }
            Notice::Wait { why, .. } => {
                self.waits_for = Some(*why);
                self.waits_of(*why).count += 1;
            }
            Notice::Check(CheckNotice::TickRejected { tasks, .. }) => {
                for task in tasks {
                    self.ticked.remove(&task.id);
                    self.unshown.remove(&task.id);
                }
            }
            Notice::Check(CheckNotice::Accepted { tasks, why }) => {
                self.forget_unshown(tasks);
                self.accepted.push(Acceptance {
                    tasks: tasks.clone(),
                    why: why.clone(),
                });
            }
            Notice::Check(CheckNotice::TickUnproven { tasks, why, .. }) => {
                let unshown = tasks.iter().map(|id| (id.clone(), why.clone()));
                self.unshown.extend(unshown);
            }
            Notice::Check(CheckNotice::TickProven { tasks, .. }) => self.forget_unshown(tasks),
            Notice::Error {
                iteration,
                class,
                detail,
                ..
            } => self.errors.push(Trouble {
                turn: *iteration,
                class: *class,
                detail: detail.clone(),
            }),
            Notice::GateResult {
                iteration, passed, ..
            } => {
                self.last_check = Some((*iteration, *passed));
                match passed {
                    true => self.checks_passed += 1,
                    false => self.checks_failed += 1,
                }
            }
            Notice::GuardBlock { iteration, block } => self.blocked.push(Blocked {
                turn: *iteration,
                block: block.clone(),
            }),
            Notice::Sandbox { wall } => self.wall = Some(wall.clone()),
            Notice::SandboxDenied { iteration, denial } => {
                self.denied.entry(denial.clone()).or_insert(*iteration);
            }
            Notice::BreakerOpen { signs, .. } => self.breaker = signs.clone(),
            Notice::Resume { .. } => self.resumed += 1,
            Notice::Stalled { .. } => self.stalled += 1,
            _ => {}
        }
    }

    fn take_verdict(&mut self, notice: &Notice, state: &State) {
        if let Notice::Flow(FlowNotice::Answered {
            iteration,
            role,
            answer: Answer::Reject | Answer::Fail | Answer::Unclear,
            why,
            ..
        }) = notice
        {
            self.sent_back.push(SentBack {
                turn: *iteration,
                task: state.flow.task().map(|t| t.id.clone()).unwrap_or_default(),
                role: role.clone(),
                why: why.clone(),
            });
        }
    }

    fn forget_unshown(&mut self, tasks: &[String]) {
        self.unshown.retain(|id, _| !tasks.contains(id));
    }

    fn waits_of(&mut self, why: WaitReason) -> &mut Waits {
        self.waits.entry(why.into_str()).or_insert(Waits {
            why,
            count: 0,
            ms: 0,
        })
    }

    /// A box that was ticked while no turn ran, or before the run, is nobody's.
    fn take_ticks(&mut self, event: &Event) {
        let (seen, turn) = match &event.kind {
            Kind::TurnEnded(report) => (&report.seen, report.turn),
            Kind::Started { seen }
            | Kind::Resumed { seen, .. }
            | Kind::Woke { seen }
            | Kind::Nudged { seen }
            | Kind::Unticked { seen, .. }
            | Kind::Marked { seen } => (seen, 0),
            _ => return,
        };
        let Tasks::Read(facts) = &seen.tasks else {
            return;
        };
        if !facts.moved.is_empty() {
            let ticked = std::mem::take(&mut self.ticked).into_iter();
            let ticked = ticked.map(|(id, turn)| (Moved::now(&facts.moved, &id), turn));
            self.ticked = ticked.collect();
            let unshown = std::mem::take(&mut self.unshown).into_iter();
            let unshown = unshown.map(|(id, why)| (Moved::now(&facts.moved, &id), why));
            self.unshown = unshown.collect();
        }
        for id in &facts.unticked {
            self.ticked.remove(id);
        }
        for task in &facts.ticked {
            self.ticked.entry(task.id.clone()).or_insert(turn);
        }
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
            let (why, ms) = (rest.why, rest.duration_ms);
            if let (RestReason::Waiting, Some(why)) = (why, self.waits_for) {
                self.waits_of(why).ms += ms;
            }
        }
    }
}
