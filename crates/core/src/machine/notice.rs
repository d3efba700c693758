//! What the loop has to tell, as data: the line of the event log (EVNT-01),
//! the line of the log file and the text on the screen are made from it.

use serde_json::{Map, Value, json};

use super::WaitReason;
use super::say::{commands, outcome_words, place, progress_words, seconds, span, tally};
use super::{
    Bill, BreakerRule, CheckNotice, CommandResult, Detail, ErrorClass, Evidence, GuardBlock, Level,
    Limit, Missing, Now, Outcome, PauseReason, Proof, QuestionNotice, Refusal, SessionNotice, Sign,
    TaskRef, iso_utc,
};
use crate::flow::FlowNotice;
use crate::forge::ForgeNotice;
use crate::lang::{Lang, Say};
use crate::promise::Promise;

#[derive(Clone, Debug, PartialEq, Say)]
pub enum Notice {
    #[say(if *total == 0, "loop started")]
    #[say("loop started: {completed}/{total} tasks done, {pending} to do")]
    LoopStart {
        total: usize,
        completed: usize,
        pending: usize,
    },
    #[say("taken up again after iteration {iteration}")]
    Resume { iteration: u32 },
    #[say("iteration {iteration}{phase}{task}", (phase, task) = place(phase.as_deref(), task.as_ref()))]
    IterationStart {
        iteration: u32,
        phase: Option<String>,
        task: Option<TaskRef>,
    },
    #[say("iteration {iteration} tries again after {class}", class = class.into_str())]
    IterationRetry { iteration: u32, class: ErrorClass },
    #[say("iteration {iteration} ended after {seconds} s{tasks} · {progress}", seconds = seconds(*duration_ms), progress = progress_words(evidence, lang), tasks = tally(*completed, *total))]
    IterationComplete {
        iteration: u32,
        phase: Option<String>,
        completed: usize,
        total: usize,
        newly_done: usize,
        evidence: Vec<Evidence>,
        duration_ms: u64,
    },
    #[say("promise: {promise}")]
    PromiseDetected { iteration: u32, promise: Promise },
    #[say("no promise in the answer ({in_a_row} in a row)")]
    PromiseMissing { iteration: u32, in_a_row: u32 },
    #[say("rejected: the agent claims \"{claim}\", but: {missing}", missing = missing.iter().map(|m| m.say(lang)).collect::<Vec<_>>().join("; "))]
    PromiseRejected {
        iteration: u32,
        claim: String,
        missing: Vec<Missing>,
    },
    #[say("no progress ({in_a_row} in a row): no new tick, commit or content")]
    Stalled { iteration: u32, in_a_row: u32 },
    #[say("tasks were removed from the task file: {ids}; a shorter list proves nothing", ids = ids.join(", "))]
    TasksRemoved { iteration: u32, ids: Vec<String> },
    #[say("tasks that were done are open again: {ids}", ids = ids.join(", "))]
    TasksUnticked { iteration: u32, ids: Vec<String> },
    /// A person left them out of this run.
    #[say("left out of this run: {ids}", ids = ids.join(", "))]
    TasksSkipped { iteration: u32, ids: Vec<String> },
    #[say("{class}: {message} ({in_a_row} in a row)", class = class.into_str(), message = detail.say(lang))]
    Error {
        iteration: u32,
        class: ErrorClass,
        detail: Detail,
        in_a_row: u32,
    },
    /// The agent's service would not do the work; the turn is made again.
    #[say(if let Some(until) = until.map(super::iso_utc), "{agent}: {why} (until {until}); this turn is not counted", why = refusal.say(lang))]
    #[say("{agent}: {why}; this turn is not counted", why = refusal.say(lang))]
    AgentRefused {
        iteration: u32,
        agent: String,
        refusal: Refusal,
        /// When it can be called again, where that is known.
        until: Option<i64>,
        words: String,
    },
    #[say("{to} takes the turn instead of {from}")]
    AgentSwitched {
        iteration: u32,
        from: String,
        to: String,
    },
    /// A call was ended because it used more than it may.
    #[say("iteration {iteration} was ended: it used more than it may")]
    OverBudget { iteration: u32 },
    #[say("verifying")]
    GateStart { iteration: u32 },
    #[say(if *passed, "verification passed: {commands}", commands = commands(results))]
    #[say("verification failed: {commands}", failed: Vec<_> = results.iter().filter(|r| r.exit != Some(0)).cloned().collect(), commands = commands(&failed))]
    GateResult {
        iteration: u32,
        passed: bool,
        results: Vec<CommandResult>,
    },
    #[say("iteration {iteration} of {max}: {left} left after this one", left = max.saturating_sub(*iteration))]
    LimitNear { iteration: u32, max: u32 },
    #[say(if let Limit::Iterations = limit, "the limit of iterations is reached")]
    #[say(if let Limit::Duration = limit, "the limit of time is reached")]
    #[say("the limit of agent calls is reached")]
    LimitReached { iteration: u32, limit: Limit },
    #[say(if let Limit::Iterations = limit, "limit extended: {max} iterations")]
    #[say(if let Limit::Duration = limit, "limit extended: {seconds} s in all", seconds = seconds(*max))]
    #[say("limit extended: {max} agent calls")]
    LimitExtended {
        iteration: u32,
        limit: Limit,
        /// Iterations or milliseconds, as the limit counts.
        max: u64,
    },
    #[say(rule.opened(*count, lang))]
    BreakerOpen {
        iteration: u32,
        rule: BreakerRule,
        count: u32,
        signs: Vec<Sign>,
    },
    #[say(if let WaitReason::Between = why, "pausing {seconds} s", seconds = seconds(*ms))]
    #[say(if let WaitReason::Backoff = why, "trying again in {seconds} s", seconds = seconds(*ms))]
    #[say(if let WaitReason::Limit = why, "sleeping {span} until the limit resets; wake: `ralph wake`", span = span(*ms, lang))]
    #[say(if let WaitReason::Overload = why, "the agent's service is overloaded: trying again in {span}; at once: `ralph wake`", span = span(*ms, lang))]
    #[say(if let WaitReason::Ci = why, "next look at CI in {left}", left = span(*ms, lang))]
    #[say(if let WaitReason::Answer = why, "everything that is left waits for an answer: `ralph answer`; waiting {span}", span = span(*ms, lang))]
    #[say("the hourly rate is used up: waiting {seconds} s", seconds = seconds(*ms))]
    Wait {
        iteration: u32,
        ms: u64,
        why: super::WaitReason,
    },
    #[say(if let PauseReason::Limit(_) = reason, "paused at a limit; everything is saved")]
    #[say(if let PauseReason::Requested = reason, "paused as asked; everything is saved")]
    #[say(if let PauseReason::Agent(need) = reason, need.say(lang))]
    #[say(if let PauseReason::Escalated(why) = reason, why.say(lang))]
    #[say(if let PauseReason::Question = reason, "everything that is left waits for an answer: `ralph answer`, then `ralph resume`")]
    #[say(if let PauseReason::Unproven = reason, "the agent says that it is done, and nothing was set up that could prove it")]
    #[say(if let PauseReason::Forge(need) = reason, need.say(lang))]
    #[say("the disk does not take what has to be written; make room, then `ralph resume`")]
    Pause { iteration: u32, reason: PauseReason },
    #[say("everything is done")]
    TaskComplete { iteration: u32 },
    #[say("loop ended after {iterations} iterations: {name}", name = outcome_words(outcome, lang))]
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
    #[say(if block.shadow, "the guard would have blocked {tool}: {detail} [{rule}] (shadow mode)", (tool, rule) = (&block.tool, &block.rule), detail = &block.detail)]
    #[say("the guard blocked {tool}: {detail} [{rule}]", (tool, rule) = (&block.tool, &block.rule), detail = &block.detail)]
    GuardBlock { iteration: u32, block: GuardBlock },
    /// Ticks, weakened checks, end-to-end tests.
    #[say(_0.say(lang))]
    Check(CheckNotice),
    /// A question of the agent, or what became of it.
    #[say(_0.say(lang))]
    Question(QuestionNotice),
    /// The run is over and goes into the history under this name (EVNT-04).
    #[say("archived as {name}")]
    Archive { name: String },
    /// About roles and phases.
    #[say(_0.say(lang))]
    Flow(FlowNotice),
    /// About the pull request and CI.
    #[say(notice.say(lang))]
    Forge { iteration: u32, notice: ForgeNotice },
    #[say(_0.say(lang))]
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
            Notice::Check(notice) => notice.into_str(),
            Notice::Question(notice) => notice.into_str(),
            Notice::Archive { .. } => "archive",
            Notice::Flow(notice) => notice.event(),
            Notice::Forge { notice, .. } => notice.event(),
            Notice::Session(notice) => notice.into_str(),
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
                json!({"iteration": iteration, "reason": class.into_str()})
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
                    "progress": evidence.iter().map(Evidence::into_str).collect::<Vec<_>>(),
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
                "reason": class.into_str(),
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
                json!({"iteration": iteration, "reason": limit.into_str()})
            }
            Notice::LimitExtended {
                iteration,
                limit,
                max,
            } => match limit {
                Limit::Iterations => {
                    json!({"iteration": iteration, "reason": limit.into_str(), "max_iterations": max})
                }
                Limit::Duration => {
                    json!({"iteration": iteration, "reason": limit.into_str(), "max_duration_ms": max})
                }
                Limit::Dispatches => {
                    json!({"iteration": iteration, "reason": limit.into_str(), "max_dispatches": max})
                }
            },
            Notice::BreakerOpen {
                iteration,
                rule,
                count,
                signs,
            } => json!({
                "iteration": iteration,
                "reason": rule.into_str(),
                "count": count,
                "evidence": english(signs),
            }),
            Notice::Wait { iteration, ms, why } => {
                json!({"iteration": iteration, "reason": why.into_str(), "duration_ms": ms})
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
                "outcome": outcome.into_str(),
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
