//! One line per notice, for the log and for the screen.

use super::{
    BreakerRule, Evidence, Limit, Need, Notice, Outcome, PauseReason, Refusal, WaitReason,
};
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for Notice {
    fn say(&self, lang: Lang) -> String {
        match self {
            Notice::LoopStart { total: 0, .. } => tr!(lang, "loop started", "迴圈開始", "循环开始"),
            Notice::LoopStart {
                total,
                completed,
                pending,
            } => tr!(
                lang,
                "loop started: {completed}/{total} tasks done, {pending} to do",
                "迴圈開始：{completed}/{total} 任務完成，剩餘 {pending}",
                "循环开始：{completed}/{total} 任务完成，剩余 {pending}",
            ),
            Notice::Resume { iteration } => tr!(
                lang,
                "taken up again after iteration {iteration}",
                "從第 {iteration} 次迭代之後恢復執行",
                "从第 {iteration} 次迭代之后恢复执行",
            ),
            Notice::IterationStart {
                iteration,
                phase,
                task,
            } => {
                let phase = phase
                    .as_ref()
                    .map(|p| format!(" · Phase {p}"))
                    .unwrap_or_default();
                let task = task
                    .as_ref()
                    .map(|t| format!(" · {} {}", t.id, t.text))
                    .unwrap_or_default();
                tr!(
                    lang,
                    "iteration {iteration}{phase}{task}",
                    "迭代 {iteration}{phase}{task}",
                    "迭代 {iteration}{phase}{task}"
                )
            }
            Notice::IterationRetry { iteration, class } => {
                let class = class.name();
                tr!(
                    lang,
                    "iteration {iteration} tries again after {class}",
                    "第 {iteration} 次迭代在 {class} 之後重試",
                    "第 {iteration} 次迭代在 {class} 之后重试",
                )
            }
            Notice::IterationComplete {
                iteration,
                completed,
                total,
                evidence,
                duration_ms,
                ..
            } => {
                let seconds = seconds(*duration_ms);
                let progress = progress_words(evidence, lang);
                let tasks = if *total == 0 {
                    String::new()
                } else {
                    format!(" · {completed}/{total}")
                };
                tr!(
                    lang,
                    "iteration {iteration} ended after {seconds} s{tasks} · {progress}",
                    "第 {iteration} 次迭代結束，{seconds} 秒{tasks} · {progress}",
                    "第 {iteration} 次迭代结束，{seconds} 秒{tasks} · {progress}",
                )
            }
            Notice::PromiseDetected { promise, .. } => {
                tr!(
                    lang,
                    "promise: {promise}",
                    "輸出分析: {promise}",
                    "输出分析: {promise}"
                )
            }
            Notice::PromiseMissing { in_a_row, .. } => tr!(
                lang,
                "no promise in the answer ({in_a_row} in a row)",
                "未偵測到 promise 標籤（連續 {in_a_row} 次）",
                "未检测到 promise 标签（连续 {in_a_row} 次）",
            ),
            Notice::PromiseRejected { claim, missing, .. } => {
                let missing = missing
                    .iter()
                    .map(|m| m.say(lang))
                    .collect::<Vec<_>>()
                    .join("; ");
                tr!(
                    lang,
                    "rejected: the agent claims \"{claim}\", but: {missing}",
                    "拒絕承諾「{claim}」，因為：{missing}",
                    "拒绝承诺“{claim}”，因为：{missing}",
                )
            }
            Notice::Stalled { in_a_row, .. } => tr!(
                lang,
                "no progress ({in_a_row} in a row): no new tick, commit or content",
                "無進度（連續 {in_a_row} 次）：沒有新的勾選、提交或內容",
                "无进度（连续 {in_a_row} 次）：没有新的勾选、提交或内容",
            ),
            Notice::TasksRemoved { ids, .. } => {
                let ids = ids.join(", ");
                tr!(
                    lang,
                    "tasks were removed from the task file: {ids}; a shorter list proves nothing",
                    "任務檔案中的任務被刪除：{ids}；變短的清單不代表完成",
                    "任务文件中的任务被删除：{ids}；变短的清单不代表完成",
                )
            }
            Notice::TasksUnticked { ids, .. } => {
                let ids = ids.join(", ");
                tr!(
                    lang,
                    "tasks that were done are open again: {ids}",
                    "已完成的任務又變回未完成：{ids}",
                    "已完成的任务又变回未完成：{ids}",
                )
            }
            Notice::TasksSkipped { ids, .. } => {
                let ids = ids.join(", ");
                tr!(
                    lang,
                    "left out of this run: {ids}",
                    "本次執行略過：{ids}",
                    "本次执行跳过：{ids}",
                )
            }
            Notice::Error {
                class,
                detail,
                in_a_row,
                ..
            } => {
                let class = class.name();
                let message = detail.say(lang);
                tr!(
                    lang,
                    "{class}: {message} ({in_a_row} in a row)",
                    "{class}: {message}（連續 {in_a_row} 次）",
                    "{class}: {message}（连续 {in_a_row} 次）",
                )
            }
            Notice::AgentRefused {
                agent,
                refusal,
                until,
                ..
            } => {
                let why = refusal.say(lang);
                match until.map(super::iso_utc) {
                    Some(until) => tr!(
                        lang,
                        "{agent}: {why} (until {until}); this turn is not counted",
                        "{agent}：{why}（至 {until}）；本次不計入迭代",
                        "{agent}：{why}（至 {until}）；本次不计入迭代",
                    ),
                    None => tr!(
                        lang,
                        "{agent}: {why}; this turn is not counted",
                        "{agent}：{why}；本次不計入迭代",
                        "{agent}：{why}；本次不计入迭代",
                    ),
                }
            }
            Notice::AgentSwitched { from, to, .. } => tr!(
                lang,
                "{to} takes the turn instead of {from}",
                "由 {to} 代替 {from} 執行",
                "由 {to} 代替 {from} 执行",
            ),
            Notice::OverBudget { iteration } => tr!(
                lang,
                "iteration {iteration} was ended: it used more than it may",
                "第 {iteration} 次迭代已終止：超出預算",
                "第 {iteration} 次迭代已终止：超出预算",
            ),
            Notice::GateStart { .. } => tr!(lang, "verifying", "開始驗證", "开始验证"),
            Notice::GateResult {
                passed: true,
                results,
                ..
            } => {
                let commands = commands(results);
                tr!(
                    lang,
                    "verification passed: {commands}",
                    "驗證通過：{commands}",
                    "验证通过：{commands}"
                )
            }
            Notice::GateResult { results, .. } => {
                let failed: Vec<_> = results
                    .iter()
                    .filter(|r| r.exit != Some(0))
                    .cloned()
                    .collect();
                let commands = commands(&failed);
                tr!(
                    lang,
                    "verification failed: {commands}",
                    "驗證失敗：{commands}",
                    "验证失败：{commands}"
                )
            }
            Notice::LimitNear { iteration, max } => {
                let left = max.saturating_sub(*iteration);
                tr!(
                    lang,
                    "iteration {iteration} of {max}: {left} left after this one",
                    "第 {iteration}/{max} 次迭代：之後剩餘 {left} 次",
                    "第 {iteration}/{max} 次迭代：之后剩余 {left} 次",
                )
            }
            Notice::LimitReached { limit, .. } => match limit {
                Limit::Iterations => {
                    tr!(
                        lang,
                        "the limit of iterations is reached",
                        "已達最大迭代次數",
                        "达到迭代上限"
                    )
                }
                Limit::Duration => tr!(
                    lang,
                    "the limit of time is reached",
                    "已達時間上限",
                    "达到时间上限"
                ),
            },
            Notice::LimitExtended { limit, max, .. } => match limit {
                Limit::Iterations => tr!(
                    lang,
                    "limit extended: {max} iterations",
                    "已延長上限：{max} 次迭代",
                    "已延长上限：{max} 次迭代",
                ),
                Limit::Duration => {
                    let seconds = seconds(*max);
                    tr!(
                        lang,
                        "limit extended: {seconds} s in all",
                        "已延長上限：共 {seconds} 秒",
                        "已延长上限：共 {seconds} 秒",
                    )
                }
            },
            Notice::BreakerOpen { rule, count, .. } => rule.opened(*count, lang),
            Notice::Wait { ms, why, .. } => {
                let seconds = seconds(*ms);
                match why {
                    WaitReason::Between => tr!(
                        lang,
                        "pausing {seconds} s",
                        "暫停 {seconds} 秒",
                        "暂停 {seconds} 秒"
                    ),
                    WaitReason::Backoff => tr!(
                        lang,
                        "trying again in {seconds} s",
                        "{seconds} 秒後重試",
                        "{seconds} 秒后重试",
                    ),
                    WaitReason::Limit => {
                        let span = span(*ms, lang);
                        tr!(
                            lang,
                            "sleeping {span} until the limit resets; wake: `ralph wake`",
                            "休眠 {span}，等待用量限制重置；立即喚醒：`ralph wake`",
                            "休眠 {span}，等待用量限制重置；立即唤醒：`ralph wake`",
                        )
                    }
                    WaitReason::Overload => {
                        let span = span(*ms, lang);
                        tr!(
                            lang,
                            "the agent's service is overloaded: trying again in {span}; at once: `ralph wake`",
                            "代理服務過載：{span}後重試；立即重試：`ralph wake`",
                            "代理服务过载：{span}后重试；立即重试：`ralph wake`",
                        )
                    }
                    WaitReason::Ci => {
                        let left = span(*ms, lang);
                        tr!(
                            lang,
                            "next look at CI in {left}",
                            "{left} 後再次檢查 CI",
                            "{left} 后再次检查 CI",
                        )
                    }
                    WaitReason::Answer => {
                        let span = span(*ms, lang);
                        tr!(
                            lang,
                            "everything that is left waits for an answer: `ralph answer`; waiting {span}",
                            "剩下的工作都在等待回答：`ralph answer`；等待 {span}",
                            "剩下的工作都在等待回答：`ralph answer`；等待 {span}",
                        )
                    }
                    WaitReason::Rate => tr!(
                        lang,
                        "the hourly rate is used up: waiting {seconds} s",
                        "已達每小時呼叫上限：等待 {seconds} 秒",
                        "已达每小时调用上限：等待 {seconds} 秒",
                    ),
                }
            }
            Notice::Pause { reason, .. } => match reason {
                PauseReason::Limit(_) => {
                    tr!(
                        lang,
                        "paused at a limit; everything is saved",
                        "已達上限而暫停，進度已保存",
                        "达到上限而暂停，进度已保存"
                    )
                }
                PauseReason::Requested => {
                    tr!(
                        lang,
                        "paused as asked; everything is saved",
                        "依要求暫停，進度已保存",
                        "按要求暂停，进度已保存"
                    )
                }
                PauseReason::Agent(need) => need.say(lang),
                PauseReason::Question => tr!(
                    lang,
                    "everything that is left waits for an answer: `ralph answer`, then `ralph resume`",
                    "剩下的工作都在等待回答：`ralph answer`，再執行 `ralph resume`",
                    "剩下的工作都在等待回答：`ralph answer`，再运行 `ralph resume`",
                ),
                PauseReason::Unproven => tr!(
                    lang,
                    "the agent says that it is done, and nothing was set up that could prove it",
                    "代理宣稱已完成，但沒有任何驗證可以證明",
                    "代理声称已完成，但没有任何验证可以证明",
                ),
                PauseReason::Forge(need) => need.say(lang),
                PauseReason::Disk => tr!(
                    lang,
                    "the disk does not take what has to be written; make room, then `ralph resume`",
                    "磁碟無法寫入必要的檔案；請釋出空間，再執行 `ralph resume`",
                    "磁盘无法写入必要的文件；请释放空间，再运行 `ralph resume`",
                ),
            },
            Notice::TaskComplete { .. } => tr!(
                lang,
                "everything is done",
                "所有任務已完成",
                "所有任务已完成"
            ),
            Notice::Question(notice) => notice.say(lang),
            Notice::GuardBlock { block, .. } => {
                let (tool, rule) = (&block.tool, &block.rule);
                let detail = &block.detail;
                if block.shadow {
                    return tr!(
                        lang,
                        "the guard would have blocked {tool}: {detail} [{rule}] (shadow mode)",
                        "護欄本會攔截 {tool}：{detail} [{rule}]（影子模式）",
                        "护栏本会拦截 {tool}：{detail} [{rule}]（影子模式）",
                    );
                }
                tr!(
                    lang,
                    "the guard blocked {tool}: {detail} [{rule}]",
                    "護欄攔截了 {tool}：{detail} [{rule}]",
                    "护栏拦截了 {tool}：{detail} [{rule}]",
                )
            }
            Notice::Check(notice) => notice.say(lang),
            Notice::Forge { notice, .. } => notice.say(lang),
            Notice::Archive { name } => {
                tr!(lang, "archived as {name}", "歸檔為 {name}", "归档为 {name}")
            }
            Notice::Session(notice) => notice.say(lang),
            Notice::LoopEnd {
                outcome,
                iterations,
                ..
            } => {
                let name = outcome_words(outcome, lang);
                tr!(
                    lang,
                    "loop ended after {iterations} iterations: {name}",
                    "迴圈結束，共 {iterations} 次迭代：{name}",
                    "循环结束，共 {iterations} 次迭代：{name}",
                )
            }
        }
    }
}

impl BreakerRule {
    /// What was counted when it opened; the log and the screen say the same.
    pub fn opened(self, count: u32, lang: Lang) -> String {
        match self {
            BreakerRule::Stalled => tr!(
                lang,
                "{count} iterations in a row without progress: circuit breaker open",
                "連續 {count} 次無進度，觸發 Circuit Breaker",
                "连续 {count} 次无进度，触发 Circuit Breaker"
            ),
            BreakerRule::MissingPromise => tr!(
                lang,
                "{count} iterations in a row without a promise: circuit breaker open",
                "連續 {count} 次沒有 Promise 標籤，觸發 Circuit Breaker",
                "连续 {count} 次没有 Promise 标签，触发 Circuit Breaker"
            ),
            BreakerRule::SameError => tr!(
                lang,
                "The same error {count} times in a row: circuit breaker open",
                "連續 {count} 次相同的錯誤，觸發 Circuit Breaker",
                "连续 {count} 次相同的错误，触发 Circuit Breaker"
            ),
            BreakerRule::FalsePromise => tr!(
                lang,
                "{count} false promises in a row: circuit breaker open",
                "連續 {count} 次虛假承諾，觸發 Circuit Breaker",
                "连续 {count} 次虚假承诺，触发 Circuit Breaker"
            ),
        }
    }
}

impl Say for Refusal {
    fn say(&self, lang: Lang) -> String {
        match self {
            Refusal::Usage { .. } => {
                tr!(lang, "usage limit reached", "已達用量限制", "已达用量限制")
            }
            Refusal::Overload { .. } => tr!(
                lang,
                "the service is overloaded or out of order",
                "服務過載或故障",
                "服务过载或故障"
            ),
            Refusal::Person(need) => need.say(lang),
        }
    }
}

impl Say for Need {
    /// What is wrong, and what the person has to do.
    fn say(&self, lang: Lang) -> String {
        match self {
            Need::Spend => tr!(
                lang,
                "the account's spend limit or credit is used up: raise it at the provider, then `ralph resume`",
                "帳號的消費上限或餘額已用完：請到供應商處提高後執行 `ralph resume`",
                "账号的消费上限或余额已用完：请到供应商处提高后执行 `ralph resume`",
            ),
            Need::Admin => tr!(
                lang,
                "an administrator has limited this account: ask them, then `ralph resume`",
                "管理員限制了此帳號：請聯絡管理員，之後執行 `ralph resume`",
                "管理员限制了此账号：请联系管理员，之后执行 `ralph resume`",
            ),
            Need::Login => tr!(
                lang,
                "the agent is not logged in: log in with the agent's own command or set its key, then `ralph resume`",
                "代理尚未登入：請用代理自己的命令登入或設定金鑰，之後執行 `ralph resume`",
                "代理尚未登录：请用代理自己的命令登录或设置密钥，之后执行 `ralph resume`",
            ),
            Need::Plan => tr!(
                lang,
                "the account may not use this model or service: choose another model or plan, then `ralph resume`",
                "此帳號無權使用該模型或服務：請更換模型或方案，之後執行 `ralph resume`",
                "此账号无权使用该模型或服务：请更换模型或方案，之后执行 `ralph resume`",
            ),
            Need::LongWait => tr!(
                lang,
                "the limit resets later than limits.max_wait allows to wait: `ralph resume` then, or now to try",
                "限制重置的時間超過 limits.max_wait：屆時或現在執行 `ralph resume`",
                "限制重置的时间超过 limits.max_wait：届时或现在执行 `ralph resume`",
            ),
            Need::BlockCap => tr!(
                lang,
                "the client sends its agent on only so often in a row (for Claude Code: CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, which `ralph init` raises); everything is saved: say \"continue\" in the session, or run `ralph resume`",
                "用戶端連續攔截停止的次數有限（Claude Code：CLAUDE_CODE_STOP_HOOK_BLOCK_CAP，`ralph init` 會調高）；進度已保存：在工作階段中輸入「繼續」，或執行 `ralph resume`",
                "客户端连续拦截停止的次数有限（Claude Code：CLAUDE_CODE_STOP_HOOK_BLOCK_CAP，`ralph init` 会调高）；进度已保存：在会话中输入「继续」，或运行 `ralph resume`",
            ),
        }
    }
}

/// `2 h 13 min`; seconds only where there are no minutes.
pub fn span(ms: u64, lang: Lang) -> String {
    let seconds = ms.div_ceil(1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => tr!(lang, "{seconds} s", "{seconds} 秒", "{seconds} 秒"),
        (0, _) => tr!(lang, "{minutes} min", "{minutes} 分鐘", "{minutes} 分钟"),
        _ => tr!(
            lang,
            "{hours} h {minutes} min",
            "{hours} 小時 {minutes} 分鐘",
            "{hours} 小时 {minutes} 分钟"
        ),
    }
}

fn outcome_words(outcome: &Outcome, lang: Lang) -> String {
    let reason = outcome.reason();
    match outcome {
        Outcome::Complete => tr!(lang, "complete", "完成", "完成"),
        Outcome::Paused { .. } => tr!(
            lang,
            "paused ({reason})",
            "已暫停（{reason}）",
            "已暂停（{reason}）"
        ),
        Outcome::Blocked { .. } => tr!(
            lang,
            "blocked: {reason}",
            "受阻：{reason}",
            "受阻：{reason}"
        ),
        Outcome::CircuitBreak { .. } => tr!(
            lang,
            "circuit breaker ({reason})",
            "Circuit Breaker（{reason}）",
            "Circuit Breaker（{reason}）"
        ),
        Outcome::Errors => tr!(
            lang,
            "too many errors in a row",
            "連續錯誤過多",
            "连续错误过多"
        ),
        Outcome::GateFailed { .. } => tr!(
            lang,
            "verification keeps failing: {reason}",
            "驗證持續失敗：{reason}",
            "验证持续失败：{reason}"
        ),
        Outcome::Budget { .. } => tr!(
            lang,
            "budget spent ({reason})",
            "預算用盡（{reason}）",
            "预算用尽（{reason}）"
        ),
        Outcome::Cancelled => tr!(lang, "abandoned", "已放棄", "已放弃"),
        Outcome::Interrupted => tr!(
            lang,
            "interrupted; everything is saved",
            "已中斷，進度已保存",
            "已中断，进度已保存"
        ),
    }
}

fn progress_words(evidence: &[Evidence], lang: Lang) -> String {
    if evidence.is_empty() {
        return tr!(lang, "no progress", "無進度", "无进度");
    }
    let words: Vec<String> = evidence
        .iter()
        .map(|e| match e {
            Evidence::Tasks { .. } => tr!(lang, "tasks ticked", "任務已勾選", "任务已勾选"),
            Evidence::Phase { phase } => tr!(
                lang,
                "phase {phase} reached",
                "進入 Phase {phase}",
                "进入 Phase {phase}"
            ),
            Evidence::Commit => tr!(lang, "new commit", "新提交", "新提交"),
            Evidence::Tree => tr!(lang, "new content", "新內容", "新内容"),
        })
        .collect();
    words.join(&tr!(lang, ", ", "、", "、"))
}

fn commands(results: &[super::CommandResult]) -> String {
    let one = |r: &super::CommandResult| match r.exit {
        Some(code) => format!("`{}` → {code}", r.command),
        None => format!("`{}` → –", r.command),
    };
    results.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whole seconds, or tenths below ten.
fn seconds(ms: u64) -> String {
    if ms < 10_000 {
        format!("{}.{}", ms / 1000, ms % 1000 / 100)
    } else {
        (ms / 1000).to_string()
    }
}
