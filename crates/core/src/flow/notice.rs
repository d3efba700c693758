//! What there is to tell about roles and phases, as data.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, Detected, Risk};
use crate::lang::{Lang, Say};
use crate::machine::Level;
use crate::tr;

#[derive(Clone, Debug, PartialEq, Say)]
pub enum FlowNotice {
    /// A task begins its way through the roles.
    #[say("task {task}: risk {risk} ({why})", (risk, why) = (detected.risk.into_str(), detected.sign.say(lang)))]
    TaskBegins { task: String, detected: Detected },
    #[say("{role} begins, round {round}", role = role.to_uppercase())]
    RoleBegins {
        iteration: u32,
        step: String,
        role: String,
        risk: Risk,
        round: u32,
        dispatch: u32,
    },
    #[say(verdict(role, *answer, *score) + &counts(*rejects, *fails, lang))]
    Answered {
        iteration: u32,
        role: String,
        answer: Answer,
        rejects: u32,
        fails: u32,
        score: Option<u32>,
    },
    /// Nobody can read the verdict; `again`: it is asked for once more.
    #[say(if *again, "{role} gave no verdict that can be read; asking once more", role = role.to_uppercase())]
    #[say("{role} gave no verdict that can be read again: counted as unclear", role = role.to_uppercase())]
    Unclear {
        iteration: u32,
        role: String,
        again: bool,
    },
    /// A role that may only look changed the work tree.
    #[say("{role} may only look and changed files: its verdict is void", role = role.to_uppercase())]
    Violation { iteration: u32, role: String },
    /// A rejection without a problem that can be shown does not block.
    #[say("the rejection does not block: none of its {findings} findings could be reproduced")]
    Overruled { iteration: u32, findings: usize },
    /// A role was about to begin without the approval that it needs (ROLE-05).
    #[say("{role_en} without a fresh approval of {needs} breaks the D→R→T flow (risk: {risk})", (role_en, needs) = (role.to_uppercase(), needs.to_uppercase()), risk = risk.into_str())]
    Refused {
        iteration: u32,
        role: String,
        needs: String,
        risk: Risk,
    },
    #[say("risk raised from {from} to {to}", (from, to) = (from.into_str(), to.into_str()))]
    RiskRaised {
        iteration: u32,
        from: Risk,
        to: Risk,
    },
    /// Boxes that were ticked before their time are open again.
    #[say("ticked too early and open again: {ids}", ids = ids.join(", "))]
    TicksHeld { iteration: u32, ids: Vec<String> },
    #[say("task {task} has passed all roles")]
    TaskPassed { iteration: u32, task: String },
    #[say("phase {phase}/{of} done: {title}{percent}", percent = percent.map_or_else(String::new, |p| format!(" ({p}%)")))]
    PhaseDone {
        iteration: u32,
        phase: usize,
        of: usize,
        title: String,
        percent: Option<u8>,
    },
    /// A phase ended without the file that it has to leave.
    #[say("the phase left no {file}; asking again")]
    OutputMissing { iteration: u32, file: String },
    #[say("{task}a person is needed ({role}, {count}): {why}", role = role.to_uppercase(), why = why.say(lang), task = before_colon(task))]
    Escalated {
        iteration: u32,
        task: String,
        role: String,
        why: Escalation,
        count: u32,
    },
    /// A person switched the reviews off (ROLE-09).
    #[say("reviews are switched off for task {task}: {reason}")]
    Bypassed {
        iteration: u32,
        task: String,
        reason: String,
    },
}

/// Why a person is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Say)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    #[say(
        "the review sent the task back too often; look at the findings, change the task or the code, then `ralph resume`"
    )]
    Rejects,
    #[say(
        "the tests of the task failed too often; look at them, change the task or the code, then `ralph resume`"
    )]
    Fails,
    /// The flow itself says so.
    #[say(
        "the review did not pass, and this flow leaves the rest to you; see to it, then `ralph resume`"
    )]
    Flow,
}

impl Escalation {
    pub fn name(self) -> &'static str {
        match self {
            Escalation::Rejects => "rejects",
            Escalation::Fails => "fails",
            Escalation::Flow => "flow",
        }
    }
}

fn verdict(role: &str, answer: Answer, score: Option<u32>) -> String {
    let (role, answer) = (role.to_uppercase(), answer.into_str().to_uppercase());
    let score = score.map_or_else(String::new, |score| format!(", Review Score: {score}/100"));
    format!("{role}: {answer}{score}")
}

fn counts(rejects: u32, fails: u32, lang: Lang) -> String {
    match (rejects, fails) {
        (0, 0) => String::new(),
        _ => tr!(lang, " ({rejects} rejections, {fails} failures)"),
    }
}

fn before_colon(task: &str) -> String {
    match task {
        "" => String::new(),
        task => format!("{task}: "),
    }
}

impl FlowNotice {
    pub fn event(&self) -> &'static str {
        match self {
            FlowNotice::TaskBegins { .. } => "task_start",
            FlowNotice::RoleBegins { .. } => "role_start",
            FlowNotice::Answered { .. } => "role_answer",
            FlowNotice::Unclear { .. } => "role_unclear",
            FlowNotice::Violation { .. } => "role_violation",
            FlowNotice::Overruled { .. } => "review_overruled",
            FlowNotice::Refused { .. } => "role_refused",
            FlowNotice::RiskRaised { .. } => "risk_raised",
            FlowNotice::TicksHeld { .. } => "ticks_held",
            FlowNotice::TaskPassed { .. } => "task_passed",
            FlowNotice::PhaseDone { .. } => "phase_complete",
            FlowNotice::OutputMissing { .. } => "output_missing",
            FlowNotice::Escalated { .. } => "escalated",
            FlowNotice::Bypassed { .. } => "review_bypassed",
        }
    }

    pub fn level(&self) -> Level {
        match self {
            FlowNotice::TaskBegins { .. }
            | FlowNotice::RoleBegins { .. }
            | FlowNotice::TaskPassed { .. }
            | FlowNotice::PhaseDone { .. } => Level::Info,
            FlowNotice::Answered { answer, .. } => match answer {
                Answer::Reject | Answer::Fail | Answer::Unclear => Level::Warn,
                _ => Level::Info,
            },
            _ => Level::Warn,
        }
    }

    pub fn fields(&self) -> Value {
        match self {
            FlowNotice::TaskBegins { task, detected } => {
                json!({"task": task, "risk": detected.risk.into_str(), "because": detected.sign})
            }
            FlowNotice::RoleBegins {
                iteration,
                step,
                role,
                risk,
                round,
                dispatch,
            } => json!({
                "iteration": iteration, "step": step, "role": role, "risk": risk.into_str(),
                "round": round, "dispatch": dispatch,
            }),
            FlowNotice::Answered {
                iteration,
                role,
                answer,
                rejects,
                fails,
                score,
            } => json!({
                "iteration": iteration, "role": role, "answer": answer.into_str(),
                "reject_count": rejects, "fail_count": fails, "score": score,
            }),
            FlowNotice::Unclear {
                iteration,
                role,
                again,
            } => json!({
                "iteration": iteration, "reason": "unclear", "role": role, "asked_again": again,
            }),
            FlowNotice::Violation { iteration, role } => {
                json!({"iteration": iteration, "role": role})
            }
            FlowNotice::Overruled {
                iteration,
                findings,
            } => json!({"iteration": iteration, "findings": findings}),
            FlowNotice::Refused {
                iteration,
                role,
                needs,
                ..
            } => json!({
                "iteration": iteration, "decision": "block", "reason": self.say(Lang::ZhTw),
                "role": role, "needs": needs,
            }),
            FlowNotice::RiskRaised {
                iteration,
                from,
                to,
            } => json!({"iteration": iteration, "from": from.into_str(), "to": to.into_str()}),
            FlowNotice::TicksHeld { iteration, ids } => {
                json!({"iteration": iteration, "tasks": ids})
            }
            FlowNotice::TaskPassed { iteration, task } => {
                json!({"iteration": iteration, "task": task})
            }
            FlowNotice::PhaseDone {
                iteration,
                phase,
                of,
                title,
                percent,
            } => json!({
                "iteration": iteration, "phase": phase, "phases": of, "title": title,
                "percent": percent,
            }),
            FlowNotice::OutputMissing { iteration, file } => {
                json!({"iteration": iteration, "file": file})
            }
            FlowNotice::Escalated {
                iteration,
                task,
                role,
                why,
                count,
            } => json!({
                "iteration": iteration, "reason": why.name(), "task": task, "role": role,
                "count": count,
            }),
            FlowNotice::Bypassed {
                iteration,
                task,
                reason,
            } => json!({"iteration": iteration, "task": task, "reason": reason}),
        }
    }
}
