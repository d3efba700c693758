//! What there is to tell about roles and phases, as data.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, Detected, Risk, RiskSign};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    Rejects,
    Fails,
    /// The flow itself says so.
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

impl Say for Escalation {
    fn say(&self, lang: Lang) -> String {
        match self {
            Escalation::Rejects => tr!(
                lang,
                "the review sent the task back too often; look at the findings, change the task or the code, then `ralph resume`",
                "審查退回次數過多；請查看審查意見，調整任務或程式碼後執行 `ralph resume`",
                "审查退回次数过多；请查看审查意见，调整任务或代码后执行 `ralph resume`",
            ),
            Escalation::Fails => tr!(
                lang,
                "the tests of the task failed too often; look at them, change the task or the code, then `ralph resume`",
                "任務的測試失敗次數過多；請查看測試，調整任務或程式碼後執行 `ralph resume`",
                "任务的测试失败次数过多；请查看测试，调整任务或代码后执行 `ralph resume`",
            ),
            Escalation::Flow => tr!(
                lang,
                "the review did not pass, and this flow leaves the rest to you; see to it, then `ralph resume`",
                "審查未通過，此流程將其餘交給您處理；處理後請執行 `ralph resume`",
                "审查未通过，此流程将其余交给您处理；处理后请执行 `ralph resume`",
            ),
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
                json!({"task": task, "risk": detected.risk.name(), "because": detected.sign})
            }
            FlowNotice::RoleBegins {
                iteration,
                step,
                role,
                risk,
                round,
                dispatch,
            } => json!({
                "iteration": iteration, "step": step, "role": role, "risk": risk.name(),
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
                "iteration": iteration, "role": role, "answer": answer.name(),
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
            } => json!({"iteration": iteration, "from": from.name(), "to": to.name()}),
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

impl Say for RiskSign {
    fn say(&self, lang: Lang) -> String {
        match self {
            RiskSign::Nothing => tr!(lang, "nothing stands out", "無特別跡象", "无特别迹象"),
            RiskSign::Said => tr!(lang, "the task says so", "任務自行標明", "任务自行标明"),
            RiskSign::Set => tr!(
                lang,
                "roles.risk is set",
                "由 roles.risk 設定",
                "由 roles.risk 设置"
            ),
            RiskSign::Path(path) => tr!(lang, "path {path}", "路徑 {path}", "路径 {path}"),
            RiskSign::Word(word) => {
                tr!(lang, "word \"{word}\"", "字詞「{word}」", "字词“{word}”")
            }
            RiskSign::ManyFiles(count) => {
                tr!(lang, "{count} files", "{count} 個檔案", "{count} 个文件")
            }
            RiskSign::OnlyText => tr!(lang, "only text files", "僅文字檔", "仅文本文件"),
        }
    }
}

impl Say for FlowNotice {
    fn say(&self, lang: Lang) -> String {
        match self {
            FlowNotice::TaskBegins { task, detected } => {
                let (risk, why) = (detected.risk.name(), detected.sign.say(lang));
                tr!(
                    lang,
                    "task {task}: risk {risk} ({why})",
                    "任務 {task}：風險等級 {risk}（{why}）",
                    "任务 {task}：风险等级 {risk}（{why}）",
                )
            }
            FlowNotice::RoleBegins { role, round, .. } => {
                let role = role.to_uppercase();
                tr!(
                    lang,
                    "{role} begins, round {round}",
                    "{role} 開始，第 {round} 輪",
                    "{role} 开始，第 {round} 轮",
                )
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
                let answer = answer.name().to_uppercase();
                let score =
                    score.map_or_else(String::new, |score| format!(", Review Score: {score}/100"));
                let counts = match (rejects, fails) {
                    (0, 0) => String::new(),
                    _ => tr!(
                        lang,
                        " ({rejects} rejections, {fails} failures)",
                        "（退回 {rejects} 次，失敗 {fails} 次）",
                        "（退回 {rejects} 次，失败 {fails} 次）",
                    ),
                };
                format!("{role}: {answer}{score}{counts}")
            }
            FlowNotice::Unclear { role, again, .. } => {
                let role = role.to_uppercase();
                if *again {
                    tr!(
                        lang,
                        "{role} gave no verdict that can be read; asking once more",
                        "無法辨識 {role} 的判定；再問一次",
                        "无法识别 {role} 的判定；再问一次",
                    )
                } else {
                    tr!(
                        lang,
                        "{role} gave no verdict that can be read again: counted as unclear",
                        "再次無法辨識 {role} 的判定：計為不明確",
                        "再次无法识别 {role} 的判定：计为不明确",
                    )
                }
            }
            FlowNotice::Violation { role, .. } => {
                let role = role.to_uppercase();
                tr!(
                    lang,
                    "{role} may only look and changed files: its verdict is void",
                    "{role} 只能檢視卻修改了檔案：其判定無效",
                    "{role} 只能查看却修改了文件：其判定无效",
                )
            }
            FlowNotice::Overruled { findings, .. } => tr!(
                lang,
                "the rejection does not block: none of its {findings} findings could be reproduced",
                "此退回不構成阻擋：{findings} 項意見均無法重現",
                "此退回不构成阻挡：{findings} 项意见均无法重现",
            ),
            FlowNotice::Refused {
                role, needs, risk, ..
            } => {
                let (role, needs) = (role.to_uppercase(), needs.to_uppercase());
                let risk = risk.name();
                tr!(
                    lang,
                    "{role} without a fresh approval of {needs} breaks the D→R→T flow (risk: {risk})",
                    "跳過 {needs} 審查，違反 D→R→T 流程（風險等級: {risk}）",
                    "跳过 {needs} 审查，违反 D→R→T 流程（风险等级: {risk}）",
                )
            }
            FlowNotice::RiskRaised { from, to, .. } => {
                let (from, to) = (from.name(), to.name());
                tr!(
                    lang,
                    "risk raised from {from} to {to}",
                    "風險等級由 {from} 提高到 {to}",
                    "风险等级由 {from} 提高到 {to}",
                )
            }
            FlowNotice::TicksHeld { ids, .. } => {
                let ids = ids.join(", ");
                tr!(
                    lang,
                    "ticked too early and open again: {ids}",
                    "過早勾選，已重新開啟：{ids}",
                    "过早勾选，已重新打开：{ids}",
                )
            }
            FlowNotice::TaskPassed { task, .. } => tr!(
                lang,
                "task {task} has passed all roles",
                "任務 {task} 已通過所有角色",
                "任务 {task} 已通过所有角色",
            ),
            FlowNotice::PhaseDone {
                phase,
                of,
                title,
                percent,
                ..
            } => {
                let percent = percent.map_or_else(String::new, |p| format!(" ({p}%)"));
                tr!(
                    lang,
                    "phase {phase}/{of} done: {title}{percent}",
                    "階段 {phase}/{of} 完成：{title}{percent}",
                    "阶段 {phase}/{of} 完成：{title}{percent}",
                )
            }
            FlowNotice::OutputMissing { file, .. } => tr!(
                lang,
                "the phase left no {file}; asking again",
                "此階段沒有產生 {file}；重新要求",
                "此阶段没有产生 {file}；重新要求",
            ),
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
                tr!(
                    lang,
                    "{task}a person is needed ({role}, {count}): {why}",
                    "{task}需要人工處理（{role}，{count} 次）：{why}",
                    "{task}需要人工处理（{role}，{count} 次）：{why}",
                )
            }
            FlowNotice::Bypassed { task, reason, .. } => tr!(
                lang,
                "reviews are switched off for task {task}: {reason}",
                "任務 {task} 已略過審查：{reason}",
                "任务 {task} 已跳过审查：{reason}",
            ),
        }
    }
}
