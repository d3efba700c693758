//! What a state tells the world: `status.json`, the roles, the last notice.

use serde_json::{Value, json};

use super::{Stage, State};
use crate::display::RoleView;
use crate::flow::Scope;
use crate::machine::{Notice, Outcome, Question, WaitReason, iso_utc};

impl State {
    /// What is told at the end of a run.
    pub fn end_notice(&self, outcome: Outcome) -> Notice {
        let facts = self.tasks.facts.clone().unwrap_or_default();
        Notice::LoopEnd {
            outcome,
            iterations: self.turn.number,
            tasks: facts.counts(),
            duration_ms: self.elapsed_ms(),
            proven: self.evidence.proven.clone(),
            skipped: self.tasks.skipped.iter().cloned().collect(),
            bill: self.agents.bill,
        }
    }

    /// The content of `status.json` (STAT-02, STAT-04).
    pub fn status(&self, run_id: &str, tasks_file: &str) -> Value {
        let facts = self.tasks.facts.clone().unwrap_or_default();
        let percent = (facts.completed * 100)
            .checked_div(facts.total)
            .unwrap_or(0);
        let mut status = json!({
            "schema_version": 1,
            "timestamp": iso_utc(self.now().wall_ms),
            "run_id": run_id,
            "iteration": self.turn.number,
            "max_iterations": self.rules.limits.max_iterations,
            "phase": self.phase().unwrap_or_default(),
            "status": self.outcome().map_or("running", Outcome::status),
            "last_promise": self.status_promise(),
            "tasks": {
                "total": facts.total,
                "completed": facts.completed,
                "pending": facts.pending,
                "progress_percent": percent,
            },
            "tasks_file": tasks_file,
            "reason": self.outcome().map_or("", Outcome::reason),
            "elapsed_ms": self.elapsed_ms(),
            "dispatches": self.agents.dispatches,
            "flow": self.flow_status(),
            "waiting_until": self.held_until().map(iso_utc),
            "usage": self.agents.bill.to_json(),
            "questions": self.open_questions().map(Question::to_json).collect::<Vec<_>>(),
            "counters": {
                "errors": self.counters.errors,
                "missing_promise": self.counters.missing_promise,
                "stalled": self.counters.stalled,
                "same_error": self.counters.same_error,
                "false_promise": self.counters.false_promise,
            },
        });
        if self.rules.limits.cooldown_ms > 0 {
            status["breaker"] = self.breaker().into();
        }
        if !self.ticks.proofs.is_empty() {
            status["proven_tasks"] = self.ticks.proofs.keys().cloned().collect();
        }
        if !self.ticks.levels.is_empty() {
            status["evidence"] = json!(self.ticks.levels);
        }
        if !self.tasks.skipped.is_empty() {
            status["skipped_tasks"] = json!(self.tasks.skipped);
        }
        if let Some(forecast) = self.forecast() {
            let ms = forecast.left_ms;
            let mut told =
                json!({"left_ms": {"low": ms.low, "likely": ms.likely, "high": ms.high}});
            if let Some(cost) = forecast.cost {
                let (low, likely, high) = (cost.low, cost.likely, cost.high);
                told["cost_usd"] = json!({
                    "low": low.dollars(), "likely": likely.dollars(), "high": high.dollars(),
                });
            }
            status["forecast"] = told;
        }
        if let Some(focus) = self.focus() {
            status["focus"] = json!(focus);
        }
        let hints: Vec<_> = self.hints.iter().filter(|hint| hint.is_open()).collect();
        if !hints.is_empty() {
            status["hints"] = json!(hints);
        }
        if !self.evidence.weakened.is_empty() {
            status["weakened_checks"] = json!(self.evidence.weakened);
        }
        if let (Some(session), Some(fields)) = (&self.session, status.as_object_mut()) {
            let session = json!({"id": session.id, "host": session.host});
            fields.insert("session".into(), session);
        }
        status
    }

    /// `open` while its cooldown is waited out or after it ended the run,
    /// `half_open` while one more turn is tried (BRKR-06).
    fn breaker(&self) -> &'static str {
        match (self.outcome(), self.waits_for, self.counters.opened_after) {
            (Some(Outcome::CircuitBreak { .. }), ..) => "open",
            (None, Some(WaitReason::Cooldown), Some(_)) if self.stage == Stage::Waiting => "open",
            (None, _, Some(_)) => "half_open",
            _ => "closed",
        }
    }

    /// The roles of the task that goes through the flow; none where the flow
    /// is the way of the whole run.
    pub fn roles(&self) -> Vec<RoleView> {
        match self.place() {
            Some((flow, position)) if flow.scope != Scope::Run => position.roles(flow),
            _ => Vec::new(),
        }
    }

    /// Where the run stands in its flow; null where it follows none.
    fn flow_status(&self) -> Value {
        let Some((flow, position)) = self.place() else {
            return Value::Null;
        };
        let step = flow.step(position.step);
        json!({
            "name": flow.name,
            "step": step.map(|step| step.id.as_str()),
            "role": step.map(|step| step.role.as_str()),
            "task": position.task.as_ref().map(|task| task.id.as_str()),
            "risk": position.risk.into_str(),
            "round": position.round,
            "reject_count": position.rejects,
            "fail_count": position.fails,
        })
    }

    fn status_promise(&self) -> &str {
        match self.outcome() {
            Some(Outcome::CircuitBreak { .. }) => "NO_PROGRESS",
            _ => &self.claims.last_promise,
        }
    }
}
