//! The ends that need a person's judgement (errors in a row, an open breaker, a
//! block, a failed gate) and the rejection of a false claim (ERRC-03, BRKR).

use super::boxes::title_box;
use super::endings::{Ending, current_progress, effort, next_step, resume_step};
use super::proof::{self, Missing};
use super::screen::{Screen, Symbol, Tone};
use crate::lang::Lang;
use crate::machine::BreakerRule;
use crate::text::duration::plural;
use crate::tr;

/// One error of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorView {
    /// The machine name of its class (`agent_exec`).
    pub class: String,
    pub description: String,
}

/// An open breaker with what it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakerView {
    pub ending: Ending,
    pub rule: BreakerRule,
    /// How many in a row.
    pub count: u32,
    pub evidence: Vec<String>,
}

/// A task that the agent cannot go on with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockedView {
    pub ending: Ending,
    pub reason: String,
    pub task: Option<String>,
}

/// Too many errors in a row: what each of them was.
pub fn error_report(screen: &Screen, errors: &[ErrorView], ending: &Ending) -> String {
    let lang = screen.lang;
    let (failed, warning) = (screen.mark(Symbol::Failed), screen.mark(Symbol::Warning));
    let count = errors.len();
    let noun = plural(count, "error", "errors");
    let mut out = title_box(
        screen,
        Tone::Bad,
        &tr!(
            lang,
            "{failed}Loop stopped by errors",
            "{failed}Loop 錯誤中斷",
            "{failed}Loop 错误中断"
        ),
    );
    out.push('\n');
    out.push_str(&screen.line(&tr!(
        lang,
        "{warning}{count} {noun} in a row",
        "{warning}連續發生 {count} 次錯誤",
        "{warning}连续发生 {count} 次错误"
    )));
    out.push_str(&current_progress(screen, ending.progress));
    out.push('\n');
    out.push_str(&tr!(lang, "Errors:\n", "錯誤詳情：\n", "错误详情：\n"));
    for (error, number) in errors.iter().zip(1..) {
        let lead = format!("{number}. ");
        let class = error_class(lang, &error.class);
        let description = screen.value(&error.description);
        let text = format!("{}: {description}", screen.value(&class));
        out.push_str(&screen.paragraph(&lead, &text));
    }
    out.push('\n');
    out.push_str(&tr!(
        lang,
        "What you can do:\n- find the cause and repair it\n- use \"continue\" to try again\n- use \"pause\" to stop the loop\n",
        "建議操作：\n- 檢查錯誤原因並修復\n- 使用「繼續」重新嘗試\n- 使用「暫停」中止 Loop\n",
        "建议操作：\n- 检查错误原因并修复\n- 使用「继续」重新尝试\n- 使用「暂停」中止 Loop\n"
    ));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph resume",
        &tr!(
            lang,
            "tries again, the error count starts at 0",
            "重新嘗試，錯誤計數歸零",
            "重新尝试，错误计数归零"
        ),
    ));
    out
}

/// The name of an error class for a person; an unknown class is its own name.
pub fn error_class(lang: Lang, class: &str) -> String {
    match class {
        "agent_exec" => tr!(
            lang,
            "Agent execution error",
            "Agent 執行錯誤",
            "Agent 执行错误"
        ),
        "agent_timeout" => tr!(lang, "Agent timed out", "Agent 逾時", "Agent 超时"),
        "agent_missing" => tr!(lang, "Agent not found", "找不到 Agent", "找不到 Agent"),
        "task_not_found" => tr!(lang, "Task not found", "找不到任務", "找不到任务"),
        "file_op" => tr!(
            lang,
            "File operation failed",
            "檔案操作失敗",
            "文件操作失败"
        ),
        "state_corrupt" => tr!(lang, "State damaged", "狀態損毀", "状态损坏"),
        "config" => tr!(lang, "Configuration error", "設定錯誤", "配置错误"),
        _ => class.to_owned(),
    }
}

/// Which rule opened the breaker, what it counts, and what it saw.
pub fn breaker_report(screen: &Screen, view: &BreakerView) -> String {
    let message = view.rule.opened(view.count, screen.lang);
    let mut out = format!("{}\n", screen.bold(Tone::Bad, &message));
    out.push_str(&screen.paragraph("", &breaker_counts(screen.lang, view.rule)));
    if !view.evidence.is_empty() {
        out.push('\n');
        out.push_str(&tr!(screen.lang, "Evidence:\n", "證據：\n", "证据：\n"));
        for line in &view.evidence {
            out.push_str(&screen.paragraph("- ", &screen.value(line)));
        }
    }
    out.push('\n');
    out.push_str(&current_progress(screen, view.ending.progress));
    out.push_str(&effort(screen, &view.ending));
    out.push_str(&next_step(
        screen,
        view.ending.next.as_deref(),
        "ralph resume",
        &tr!(
            screen.lang,
            "sets the counts to 0 and goes on",
            "計數歸零並繼續",
            "计数归零并继续"
        ),
    ));
    out
}

fn breaker_counts(lang: Lang, rule: BreakerRule) -> String {
    match rule {
        BreakerRule::Stalled => tr!(
            lang,
            "Counted: iterations after which no task was newly done, no commit was new, and the files were as before.",
            "計數方式：迭代結束後沒有新完成的任務、沒有新提交，檔案也沒有變化。",
            "计数方式：迭代结束后没有新完成的任务、没有新提交，文件也没有变化。"
        ),
        BreakerRule::MissingPromise => tr!(
            lang,
            "Counted: iterations whose last answer had no <promise> tag of its own.",
            "計數方式：迭代的最後回覆中沒有 <promise> 標籤。",
            "计数方式：迭代的最后回复中没有 <promise> 标签。"
        ),
        BreakerRule::SameError => tr!(
            lang,
            "Counted: iterations that failed with the same output, apart from times and numbers.",
            "計數方式：迭代以相同的輸出失敗（不計時間與數字）。",
            "计数方式：迭代以相同的输出失败（不计时间与数字）。"
        ),
        BreakerRule::FalsePromise => tr!(
            lang,
            "Counted: claims of completion that the task file or a check disproved.",
            "計數方式：被任務檔案或檢查推翻的完成聲稱。",
            "计数方式：被任务文件或检查推翻的完成声称。"
        ),
    }
}

/// The agent cannot go on, and says why.
pub fn blocked_report(screen: &Screen, view: &BlockedView) -> String {
    let lang = screen.lang;
    let stop = screen.mark(Symbol::Stop);
    let mut out = title_box(
        screen,
        Tone::Bad,
        &tr!(
            lang,
            "{stop}Loop blocked",
            "{stop}遇到阻塞，停止執行",
            "{stop}遇到阻塞，停止执行"
        ),
    );
    out.push('\n');
    let reason = tr!(lang, "Reason: ", "原因: ", "原因: ");
    out.push_str(&screen.paragraph(&reason, &screen.value(&view.reason)));
    if let Some(task) = &view.task {
        let task = screen.value(task);
        out.push_str(&screen.line(&tr!(lang, "Task: {task}", "任務: {task}", "任务: {task}")));
    }
    out.push_str(&current_progress(screen, view.ending.progress));
    out.push_str(&effort(screen, &view.ending));
    out.push_str(&next_step(
        screen,
        view.ending.next.as_deref(),
        "ralph resume",
        &tr!(
            lang,
            "once the reason is removed",
            "排除原因之後執行",
            "排除原因之后执行"
        ),
    ));
    out
}

/// The work is claimed to be done, but a gate or a verification failed for good.
pub fn gate_failed(screen: &Screen, failed: &[Missing], ending: &Ending) -> String {
    let mark = screen.mark(Symbol::Failed);
    let mut out = title_box(
        screen,
        Tone::Bad,
        &tr!(
            screen.lang,
            "{mark}Loop verification failed",
            "{mark}Loop 驗證失敗",
            "{mark}Loop 验证失败"
        ),
    );
    out.push('\n');
    out.push_str(&proof::missing(screen, failed));
    out.push('\n');
    out.push_str(&current_progress(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    out.push_str(&resume_step(screen, ending));
    out
}

/// A claim of completion that does not hold. The run goes on.
pub fn rejected(screen: &Screen, claim: &str, missing: &[Missing]) -> String {
    const CLAIM_COLUMNS: usize = 40;
    let mark = screen.mark(Symbol::Failed);
    let claim = screen.fit(&screen.value(claim), CLAIM_COLUMNS);
    let line = screen.line(&tr!(
        screen.lang,
        "{mark}Rejected: the agent claims \"{claim}\"",
        "{mark}駁回: agent 聲稱「{claim}」",
        "{mark}驳回: agent 声称「{claim}」"
    ));
    let mut out = format!("{}\n", screen.paint(Tone::Bad, line.trim_end()));
    out.push_str(&proof::missing(screen, missing));
    out.push_str(&screen.line(&tr!(
        screen.lang,
        "The next prompt tells the agent what is missing.",
        "下一個 prompt 會告訴 agent 缺少什麼。",
        "下一个 prompt 会告诉 agent 缺少什么。"
    )));
    out
}
