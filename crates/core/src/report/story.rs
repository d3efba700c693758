//! What happened on the way, gathered from a run as it is played again.

use std::collections::BTreeMap;

use super::calls::Calls;
use crate::machine::{
    Detail, ErrorClass, Event, GuardBlock, Missing, Notice, Stage, State, WaitReason,
};

/// What happened on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    pub calls: Calls,
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
        for notice in notices {
            self.take(notice);
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
            Notice::Wait { ms, why, .. } => {
                let waits = self.waits.entry(why.into_str()).or_insert(Waits {
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
            Notice::Resume { .. } => self.resumed += 1,
            Notice::Stalled { .. } => self.stalled += 1,
            _ => {}
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
        }
    }
}
