//! What there is to tell about roles and phases, as data.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, Detected, Risk};
use crate::lang::{Lang, Say};
use crate::machine::Level;
use crate::tr;

#[derive(Clone, Debug, PartialEq)]
pub enum FlowNotice {
    /// A task begins its way through the roles.
    TaskBegins {
        task: String,
        detected: Detected,
    },
    RoleBegins {
        iteration: u32,
        step: String,
        role: String,
        risk: Risk,
        round: u32,
        dispatch: u32,
    },
    Answered {
        iteration: u32,
        role: String,
        answer: Answer,
        rejects: u32,
        fails: u32,
        score: Option<u32>,
    },
    /// Nobody can read the verdict; `again`: it is asked for once more.
    Unclear {
        iteration: u32,
        role: String,
        again: bool,
    },
    /// A role that may only look changed the work tree.
    Violation {
        iteration: u32,
        role: String,
    },
    /// A rejection without a problem that can be shown does not block.
    Overruled {
        iteration: u32,
        findings: usize,
    },
    /// A role was about to begin without the approval that it needs (ROLE-05).
    Refused {
        iteration: u32,
        role: String,
        needs: String,
        risk: Risk,
    },
    RiskRaised {
        iteration: u32,
        from: Risk,
        to: Risk,
    },
    /// Boxes that were ticked before their time are open again.
    TicksHeld {
        iteration: u32,
        ids: Vec<String>,
    },
    TaskPassed {
        iteration: u32,
        task: String,
    },
    PhaseDone {
        iteration: u32,
        phase: usize,
        of: usize,
        title: String,
        percent: Option<u8>,
    },
    /// A phase ended without the file that it has to leave.
    OutputMissing {
        iteration: u32,
        file: String,
    },
    Escalated {
        iteration: u32,
        task: String,
        role: String,
        why: Escalation,
        count: u32,
    },
    /// A person switched the reviews off (ROLE-09).
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

impl Say for FlowNotice {
    fn say(&self, lang: Lang) -> String {
        match self {
            FlowNotice::TaskBegins { task, detected } => {
                let (risk, why) = (detected.risk.into_str(), detected.sign.say(lang));
                tr!(lang, "task {task}: risk {risk} ({why})")
            }
            FlowNotice::RoleBegins { role, round, .. } => {
                let role = role.to_uppercase();
                tr!(lang, "{role} begins, round {round}")
            }
            FlowNotice::Answered {
                role,
                answer,
                rejects,
                fails,
                score,
                ..
            } => {
                let role = role.to_uppercase();
                let answer = answer.into_str().to_uppercase();
                let score =
                    score.map_or_else(String::new, |score| format!(", Review Score: {score}/100"));
                let counts = match (rejects, fails) {
                    (0, 0) => String::new(),
                    _ => tr!(lang, " ({rejects} rejections, {fails} failures)"),
                };
                format!("{role}: {answer}{score}{counts}")
            }
            FlowNotice::Unclear { role, again, .. } => {
                let role = role.to_uppercase();
                if *again {
                    tr!(
                        lang,
                        "{role} gave no verdict that can be read; asking once more"
                    )
                } else {
                    tr!(
                        lang,
                        "{role} gave no verdict that can be read again: counted as unclear"
                    )
                }
            }
            FlowNotice::Violation { role, .. } => {
                let role = role.to_uppercase();
                tr!(
                    lang,
                    "{role} may only look and changed files: its verdict is void"
                )
            }
            FlowNotice::Overruled { findings, .. } => tr!(
                lang,
                "the rejection does not block: none of its {findings} findings could be reproduced"
            ),
            FlowNotice::Refused {
                role, needs, risk, ..
            } => {
                let (role_en, needs) = (role.to_uppercase(), needs.to_uppercase());
                let risk = risk.into_str();
                tr!(
                    lang,
                    "{role_en} without a fresh approval of {needs} breaks the D→R→T flow (risk: {risk})"
                )
            }
            FlowNotice::RiskRaised { from, to, .. } => {
                let (from, to) = (from.into_str(), to.into_str());
                tr!(lang, "risk raised from {from} to {to}")
            }
            FlowNotice::TicksHeld { ids, .. } => {
                let ids = ids.join(", ");
                tr!(lang, "ticked too early and open again: {ids}")
            }
            FlowNotice::TaskPassed { task, .. } => tr!(lang, "task {task} has passed all roles"),
            FlowNotice::PhaseDone {
                phase,
                of,
                title,
                percent,
                ..
            } => {
                let percent = percent.map_or_else(String::new, |p| format!(" ({p}%)"));
                tr!(lang, "phase {phase}/{of} done: {title}{percent}")
            }
            FlowNotice::OutputMissing { file, .. } => {
                tr!(lang, "the phase left no {file}; asking again")
            }
            FlowNotice::Escalated {
                task,
                role,
                why,
                count,
                ..
            } => {
                let role = role.to_uppercase();
                let why = why.say(lang);
                let task = match task.as_str() {
                    "" => String::new(),
                    task => format!("{task}: "),
                };
                tr!(lang, "{task}a person is needed ({role}, {count}): {why}")
            }
            FlowNotice::Bypassed { task, reason, .. } => {
                tr!(lang, "reviews are switched off for task {task}: {reason}")
            }
        }
    }
}
