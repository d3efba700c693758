//! What the loop has to tell, as data: the line of the event log (EVNT-01),
//! the line of the log file and the text on the screen are made from it.

use serde_json::{Map, Value, json};

use super::{
    Bill, BreakerRule, CheckNotice, CommandResult, Detail, ErrorClass, Evidence, GuardBlock, Level,
    Limit, Missing, Now, Outcome, PauseReason, Proof, QuestionNotice, Refusal, SessionNotice, Sign,
    TaskRef, iso_utc,
};
use crate::flow::FlowNotice;
use crate::forge::ForgeNotice;
use crate::lang::{Lang, Say};
use crate::promise::Promise;

#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    LoopStart {
        total: usize,
        completed: usize,
        pending: usize,
    },
    Resume {
        iteration: u32,
    },
    IterationStart {
        iteration: u32,
        phase: Option<String>,
        task: Option<TaskRef>,
    },
    IterationRetry {
        iteration: u32,
        class: ErrorClass,
    },
    IterationComplete {
        iteration: u32,
        phase: Option<String>,
        completed: usize,
        total: usize,
        newly_done: usize,
        evidence: Vec<Evidence>,
        duration_ms: u64,
    },
    PromiseDetected {
        iteration: u32,
        promise: Promise,
    },
    PromiseMissing {
        iteration: u32,
        in_a_row: u32,
    },
    PromiseRejected {
        iteration: u32,
        claim: String,
        missing: Vec<Missing>,
    },
    Stalled {
        iteration: u32,
        in_a_row: u32,
    },
    TasksRemoved {
        iteration: u32,
        ids: Vec<String>,
    },
    TasksUnticked {
        iteration: u32,
        ids: Vec<String>,
    },
    /// A person left them out of this run.
    TasksSkipped {
        iteration: u32,
        ids: Vec<String>,
    },
    Error {
        iteration: u32,
        class: ErrorClass,
        detail: Detail,
        in_a_row: u32,
    },
    /// The agent's service would not do the work; the turn is made again.
    AgentRefused {
        iteration: u32,
        agent: String,
        refusal: Refusal,
        /// When it can be called again, where that is known.
        until: Option<i64>,
        words: String,
    },
    AgentSwitched {
        iteration: u32,
        from: String,
        to: String,
    },
    /// A call was ended because it used more than it may.
    OverBudget {
        iteration: u32,
    },
    GateStart {
        iteration: u32,
    },
    GateResult {
        iteration: u32,
        passed: bool,
        results: Vec<CommandResult>,
    },
    LimitNear {
        iteration: u32,
        max: u32,
    },
    LimitReached {
        iteration: u32,
        limit: Limit,
    },
    LimitExtended {
        iteration: u32,
        limit: Limit,
        /// Iterations or milliseconds, as the limit counts.
        max: u64,
    },
    BreakerOpen {
        iteration: u32,
        rule: BreakerRule,
        count: u32,
        signs: Vec<Sign>,
    },
    Wait {
        iteration: u32,
        ms: u64,
        why: super::WaitReason,
    },
    Pause {
        iteration: u32,
        reason: PauseReason,
    },
    TaskComplete {
        iteration: u32,
    },
    LoopEnd {
        outcome: Outcome,
        iterations: u32,
        total: usize,
        completed: usize,
        pending: usize,
        duration_ms: u64,
        proven: Vec<Proof>,
        bill: Bill,
    },
    /// The guard did not let a tool call of the agent pass.
    GuardBlock {
        iteration: u32,
        block: GuardBlock,
    },
    /// Ticks, weakened checks, end-to-end tests.
    Check(CheckNotice),
    /// A question of the agent, or what became of it.
    Question(QuestionNotice),
    /// The run is over and goes into the history under this name (EVNT-04).
    Archive {
        name: String,
    },
    /// About roles and phases.
    Flow(FlowNotice),
    /// About the pull request and CI.
    Forge {
        iteration: u32,
        notice: ForgeNotice,
    },
    Session(SessionNotice),
}

impl Notice {
    /// The name of the event (EVNT-01, EVNT-04).
    pub fn event(&self) -> &'static str {
        match self {
            Notice::LoopStart { .. } => "loop_start",
            Notice::Resume { .. } => "resume",
            Notice::IterationStart { .. } => "iteration_start",
            Notice::IterationRetry { .. } => "iteration_retry",
            Notice::IterationComplete { .. } => "iteration_complete",
            Notice::PromiseDetected { .. } => "promise_detected",
            Notice::PromiseMissing { .. } => "promise_missing",
            Notice::PromiseRejected { .. } => "promise_rejected",
            Notice::Stalled { .. } => "stalled",
            Notice::TasksRemoved { .. } => "tasks_removed",
            Notice::TasksUnticked { .. } => "tasks_unticked",
            Notice::TasksSkipped { .. } => "tasks_skipped",
            Notice::Error { .. } => "error",
            Notice::AgentRefused { .. } => "agent_refused",
            Notice::AgentSwitched { .. } => "agent_switched",
            Notice::OverBudget { .. } => "over_budget",
            Notice::GateStart { .. } => "gate_start",
            Notice::GateResult { .. } => "gate_result",
            Notice::LimitNear { .. } => "limit_near",
            Notice::LimitReached { .. } => "limit_reached",
            Notice::LimitExtended { .. } => "limit_extended",
            Notice::BreakerOpen { .. } => "breaker_open",
            Notice::Wait { .. } => "wait",
            Notice::Pause { .. } => "pause",
            Notice::TaskComplete { .. } => "task_complete",
            Notice::LoopEnd { .. } => "loop_end",
            Notice::GuardBlock { .. } => "guard_block",
            Notice::Check(notice) => notice.event(),
            Notice::Question(notice) => notice.event(),
            Notice::Archive { .. } => "archive",
            Notice::Flow(notice) => notice.event(),
            Notice::Forge { notice, .. } => notice.event(),
            Notice::Session(notice) => notice.event(),
        }
    }

    pub fn level(&self) -> Level {
        match self {
            Notice::Error { .. } | Notice::BreakerOpen { .. } => Level::Error,
            Notice::IterationRetry { .. }
            | Notice::PromiseMissing { .. }
            | Notice::PromiseRejected { .. }
            | Notice::Stalled { .. }
            | Notice::TasksRemoved { .. }
            | Notice::TasksUnticked { .. }
            | Notice::TasksSkipped { .. }
            | Notice::AgentRefused { .. }
            | Notice::AgentSwitched { .. }
            | Notice::OverBudget { .. }
            | Notice::LimitNear { .. }
            | Notice::LimitReached { .. }
            | Notice::GuardBlock { .. }
            | Notice::Pause { .. } => Level::Warn,
            Notice::Flow(notice) => notice.level(),
            Notice::Check(notice) => notice.level(),
            Notice::Forge { notice, .. } => notice.level(),
            Notice::Question(notice) => notice.level(),
            Notice::GateResult { passed, .. } if !passed => Level::Warn,
            Notice::LoopEnd { outcome, .. } => match outcome {
                Outcome::Complete => Level::Info,
                Outcome::Errors | Outcome::CircuitBreak { .. } | Outcome::GateFailed { .. } => {
                    Level::Error
                }
                _ => Level::Warn,
            },
            _ => Level::Info,
        }
    }

    /// One line of the event log, in the order of keys that EVNT-01 shows.
    pub fn line(&self, at: Now) -> Value {
        let mut line = Map::new();
        line.insert("ts".into(), iso_utc(at.wall_ms).into());
        line.insert("level".into(), self.level().name().into());
        line.insert("event".into(), self.event().into());
        if let Value::Object(fields) = self.fields() {
            line.extend(fields.into_iter().filter(|(_, v)| !v.is_null()));
        }
        Value::Object(line)
    }

    fn fields(&self) -> Value {
        match self {
            Notice::LoopStart {
                total,
                completed,
                pending,
            } => {
                json!({"tasks": {"total": total, "completed": completed, "pending": pending}})
            }
            Notice::Resume { iteration }
            | Notice::OverBudget { iteration }
            | Notice::GateStart { iteration }
            | Notice::TaskComplete { iteration } => {
                json!({"iteration": iteration})
            }
            Notice::IterationStart {
                iteration,
                phase,
                task,
            } => json!({
                "iteration": iteration,
                "phase": phase_number(phase.as_deref()),
                "task": task.as_ref().map(|t| t.id.as_str()),
            }),
            Notice::IterationRetry { iteration, class } => {
                json!({"iteration": iteration, "reason": class.name()})
            }
            Notice::IterationComplete {
                iteration,
                phase,
                completed,
                total,
                newly_done,
                evidence,
                duration_ms,
            } => {
                json!({
                    "iteration": iteration,
                    "phase": phase_number(phase.as_deref()),
                    "subtasks_done": newly_done,
                    "progress": evidence.iter().map(Evidence::name).collect::<Vec<_>>(),
                    "tasks": {"total": total, "completed": completed},
                    "duration_ms": duration_ms,
                })
            }
            Notice::PromiseDetected { iteration, promise } => {
                json!({"iteration": iteration, "promise": promise.to_string()})
            }
            Notice::PromiseMissing {
                iteration,
                in_a_row,
            }
            | Notice::Stalled {
                iteration,
                in_a_row,
            } => {
                json!({"iteration": iteration, "count": in_a_row})
            }
            Notice::PromiseRejected {
                iteration,
                claim,
                missing,
            } => {
                let missing = english(missing);
                json!({"iteration": iteration, "reason": missing.join("; "), "promise": claim, "missing": missing})
            }
            Notice::TasksRemoved { iteration, ids }
            | Notice::TasksUnticked { iteration, ids }
            | Notice::TasksSkipped { iteration, ids } => {
                json!({"iteration": iteration, "tasks": ids})
            }
            Notice::Error {
                iteration,
                class,
                detail,
                in_a_row,
            } => json!({
                "iteration": iteration,
                "reason": class.name(),
                "message": detail.say(Lang::En),
                "count": in_a_row,
            }),
            Notice::AgentRefused {
                iteration,
                agent,
                refusal,
                until,
                words,
            } => json!({
                "iteration": iteration,
                "reason": refusal.name(),
                "agent": agent,
                "until": until.map(iso_utc),
                "message": words,
            }),
            Notice::AgentSwitched {
                iteration,
                from,
                to,
            } => json!({"iteration": iteration, "from": from, "to": to}),
            Notice::GateResult {
                iteration,
                passed,
                results,
            } => json!({
                "iteration": iteration,
                "passed": passed,
                "commands": results.iter().map(CommandResult::to_json).collect::<Vec<_>>(),
            }),
            Notice::LimitNear { iteration, max } => {
                json!({"iteration": iteration, "max_iterations": max})
            }
            Notice::LimitReached { iteration, limit } => {
                json!({"iteration": iteration, "reason": limit.name()})
            }
            Notice::LimitExtended {
                iteration,
                limit,
                max,
            } => match limit {
                Limit::Iterations => {
                    json!({"iteration": iteration, "reason": limit.name(), "max_iterations": max})
                }
                Limit::Duration => {
                    json!({"iteration": iteration, "reason": limit.name(), "max_duration_ms": max})
                }
                Limit::Dispatches => {
                    json!({"iteration": iteration, "reason": limit.name(), "max_dispatches": max})
                }
            },
            Notice::BreakerOpen {
                iteration,
                rule,
                count,
                signs,
            } => json!({
                "iteration": iteration,
                "reason": rule.name(),
                "count": count,
                "evidence": english(signs),
            }),
            Notice::Wait { iteration, ms, why } => {
                json!({"iteration": iteration, "reason": why.name(), "duration_ms": ms})
            }
            Notice::Pause { iteration, reason } => {
                json!({"iteration": iteration, "reason": reason.name()})
            }
            Notice::LoopEnd {
                outcome,
                iterations,
                total,
                completed,
                pending,
                duration_ms,
                proven,
                bill,
            } => json!({
                "outcome": outcome.name(),
                "reason": Some(outcome.reason()).filter(|r| !r.is_empty()),
                "exit_code": outcome.exit_code(),
                "iterations": iterations,
                "tasks": {"total": total, "completed": completed, "pending": pending},
                "duration_ms": duration_ms,
                "proven": proven.iter().map(Proof::to_json).collect::<Vec<_>>(),
                "usage": bill.to_json(),
            }),
            Notice::GuardBlock { iteration, block } => json!({
                "iteration": iteration,
                "tool": block.tool,
                "rule": block.rule,
                "detail": block.detail,
                "shadow": block.shadow.then_some(true),
            }),
            Notice::Check(notice) => notice.fields(),
            Notice::Question(notice) => notice.fields(),
            Notice::Archive { name } => json!({"name": name}),
            Notice::Flow(notice) => notice.fields(),
            Notice::Forge { iteration, notice } => {
                let mut fields = notice.fields();
                if let Value::Object(fields) = &mut fields {
                    fields.insert("iteration".into(), (*iteration).into());
                }
                fields
            }
            Notice::Session(notice) => notice.fields(),
        }
    }
}

/// Programs and agents read reasons in one language.
pub(super) fn english(reasons: &[impl Say]) -> Vec<String> {
    reasons.iter().map(|reason| reason.say(Lang::En)).collect()
}

/// EVNT-01 has whole numbers as phases; a key that is none stays a string.
fn phase_number(phase: Option<&str>) -> Value {
    match phase {
        None => Value::Null,
        Some(key) => key.parse::<u64>().map_or_else(|_| key.into(), Value::from),
    }
}
