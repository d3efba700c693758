//! Where a task or a run stands in its flow, and where an answer leads.

use std::collections::BTreeSet;

use super::{Answer, Finding, Flow, Risk, Step};
use crate::display::{RoleView, StepState};
use crate::lang::Spoken;
use crate::machine::TaskRef;

/// An approval is worth nothing after this long (ROLE-08).
pub const STALE_AFTER_MS: i64 = 30 * 60 * 1000;

/// The place in a flow. Like all state it is rebuilt from the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    pub step: usize,
    /// The task that goes through, or the subtask that is worked on.
    pub task: Option<TaskRef>,
    pub risk: Risk,
    /// How often the task was begun: once more after each rejection.
    pub round: u32,
    pub rejects: u32,
    pub fails: u32,
    /// How many of them had no verdict that counts.
    pub unclear_rejects: u32,
    pub unclear_fails: u32,
    /// What was answered in this round, in order.
    pub given: Vec<Given>,
    /// Steps that were done at least once, for phases.
    pub reached: BTreeSet<usize>,
    /// The step was asked a second time for the same answer.
    pub asked_again: bool,
    pub doing: Doing,
    /// What the last review or test found.
    pub findings: Vec<Finding>,
    /// The words of the last one who sent the work back.
    pub words: String,
    /// Why the last verdict is another than it says, or none.
    pub refused: Option<Spoken>,
    /// Out of 100, where the last review gave one.
    pub score: Option<u32>,
    /// The commit's tree when the task began.
    pub(crate) base: Option<String>,
    pub(crate) tree: Option<String>,
    pub(crate) commit: Option<String>,
    /// The tree, and the files, that one left who may only look.
    pub(crate) own_work: Option<(String, Vec<String>)>,
}

/// What has to happen at the position next.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Doing {
    /// The agent is called in the role of the step.
    #[default]
    Step,
    /// Ralph runs the reproducers of a rejection.
    Reproduce,
    /// Ralph runs the verification, since the end of the flow is reached.
    Prove,
    /// Ralph ticks the box of the task.
    Tick,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub step: usize,
    pub answer: Answer,
    pub at_ms: i64,
}

/// The last answer of a role, as other tools keep it (ROLE-08).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAnswer {
    pub role: String,
    pub answer: Answer,
    pub at_ms: i64,
    pub rejects: u32,
    pub fails: u32,
    pub risk: Risk,
}

impl LastAnswer {
    /// Whether it is too old for anybody to act on; what is of low risk stays
    /// (ROLE-08).
    pub fn is_stale(&self, now_ms: i64) -> bool {
        self.risk != Risk::Low && now_ms.saturating_sub(self.at_ms) >= STALE_AFTER_MS
    }

    /// The content of the state file of a change.
    pub fn to_json(&self, change: &str) -> serde_json::Value {
        let result = match self.answer {
            Answer::Done => "complete",
            answer => answer.into_str(),
        };
        serde_json::json!({
            "version": "1.0",
            "agent": self.role,
            "result": result,
            "timestamp": crate::machine::iso_utc(self.at_ms),
            "change_id": change,
            "fail_count": self.fails,
            "reject_count": self.rejects,
            "risk_level": self.risk.into_str(),
        })
    }
}

/// Where an answer leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Step(usize),
    Done,
    Escalate,
}

impl Position {
    pub fn begin(task: Option<TaskRef>, risk: Risk) -> Position {
        Position {
            task,
            risk,
            round: 1,
            ..Position::default()
        }
    }

    /// Whether the step's last answer of this round was the good one, and
    /// fresh.
    pub fn approved(&self, flow: &Flow, step: usize, now_ms: i64) -> bool {
        let good = flow.step(step).map(|step| step.verdict.good());
        self.given
            .iter()
            .rev()
            .find(|given| given.step == step)
            .is_some_and(|given| {
                Some(given.answer) == good && now_ms.saturating_sub(given.at_ms) < STALE_AFTER_MS
            })
    }

    /// The roles of a task, each with its state: `DEVELOPER ✅ → REVIEWER 🔄`.
    /// What is beside the way stands there only while it is at work.
    pub fn roles(&self, flow: &Flow) -> Vec<RoleView> {
        let shown = flow.steps.iter().enumerate().filter(|(index, step)| {
            !flow.skips(step, self.risk) && (!step.aside || *index == self.step)
        });
        let over = matches!(self.doing, Doing::Prove | Doing::Tick);
        shown
            .map(|(index, step)| {
                let last = self.given.iter().rev().find(|given| given.step == index);
                let state = match last.map(|given| given.answer) {
                    _ if index == self.step && !over => StepState::Active,
                    Some(answer) if answer == step.verdict.good() => StepState::Done,
                    Some(_) => StepState::Failed,
                    None => StepState::Pending,
                };
                RoleView {
                    name: step.role.to_uppercase(),
                    state,
                }
            })
            .collect()
    }
}

impl Flow {
    /// Where an answer leads at a risk: what is skipped is passed over as if
    /// it had said the good thing.
    pub fn target(&self, step: &Step, answer: Answer, risk: Risk) -> Target {
        let mut target = self.one_target(step, answer);
        // A flow that is checked has no cycle of good answers; the bound is
        // for one that is not.
        for _ in &self.steps {
            let Target::Step(index) = target else {
                break;
            };
            match self.step(index) {
                Some(next) if self.skips(next, risk) => {
                    target = self.one_target(next, next.verdict.good());
                }
                _ => break,
            }
        }
        target
    }

    fn one_target(&self, step: &Step, answer: Answer) -> Target {
        let named = step.on.get(&answer);
        // Nobody said what an unclear verdict leads to: the safe side.
        let bad = step.verdict.bad().filter(|_| answer == Answer::Unclear);
        let named = named.or_else(|| step.on.get(&bad?));
        match named.map(String::as_str) {
            Some("done") => Target::Done,
            Some("escalate") | None => Target::Escalate,
            Some(id) => self.index_of(id).map_or(Target::Escalate, Target::Step),
        }
    }

    /// How often an answer may come; zero is without a limit.
    pub fn limit(&self, step: &Step, answer: Answer, risk: Risk) -> u32 {
        let of_risk = self.variant(risk).and_then(|v| v.limit.get(&answer));
        of_risk.or(step.limit.get(&answer)).copied().unwrap_or(0)
    }

    /// The risk that follows at a limit.
    pub fn raised(&self, risk: Risk) -> Option<Risk> {
        self.variant(risk)?.raise.filter(|&next| next > risk)
    }
}
