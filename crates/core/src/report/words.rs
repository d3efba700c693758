//! How a run ended, in one word, in one sentence, and what to do next.

use super::{Report, SHORT_ID, TaskProof, Verdict};
use crate::lang::{Lang, Say};
use crate::machine::{BreakerRule, Limit, Outcome, PauseReason};
use crate::text::{one_line, redact, sanitize};
use crate::tr;

/// What comes from outside, as one harmless line.
pub(super) fn plain(text: &str) -> String {
    one_line(&redact(&sanitize(text)))
}

/// One word for how a call was judged.
pub fn verdict_word(lang: Lang, verdict: Verdict) -> String {
    match verdict {
        Verdict::Running => tr!(lang, "running", "執行中", "运行中"),
        Verdict::Progress => tr!(lang, "progress", "有進展", "有进展"),
        Verdict::Idle => tr!(lang, "nothing new", "無進展", "无进展"),
        Verdict::Rejected => tr!(lang, "claim rejected", "宣稱被駁回", "声称被驳回"),
        Verdict::CheckFailed => tr!(lang, "checks failed", "驗證失敗", "验证失败"),
        Verdict::Proven => tr!(lang, "proven", "已證明", "已证明"),
        Verdict::Failed => tr!(lang, "failed", "失敗", "失败"),
        Verdict::Refused => tr!(lang, "refused", "被拒", "被拒"),
        Verdict::Blocked => tr!(lang, "blocked", "受阻", "受阻"),
        Verdict::Asked => tr!(lang, "asked", "提問", "提问"),
        Verdict::Cut => tr!(lang, "cut short", "被中止", "被中止"),
    }
}

/// What proves a task, in a few words.
pub(super) fn task_proof(lang: Lang, proof: TaskProof) -> String {
    match proof {
        TaskProof::Open => tr!(lang, "open", "未完成", "未完成"),
        TaskProof::Skipped => tr!(lang, "left out", "已略過", "已略过"),
        TaskProof::Before => tr!(
            lang,
            "ticked, by no turn of its own",
            "已勾選，沒有專屬的迭代",
            "已勾选，没有专属的迭代"
        ),
        TaskProof::Ticked { turn } => tr!(
            lang,
            "ticked in turn {turn}; no check has passed since",
            "第 {turn} 輪勾選；之後沒有驗證通過",
            "第 {turn} 轮勾选；之后没有验证通过",
        ),
        TaskProof::Checked { turn, checked } => tr!(
            lang,
            "ticked in turn {turn}, checks passed after turn {checked}",
            "第 {turn} 輪勾選，第 {checked} 輪後驗證通過",
            "第 {turn} 轮勾选，第 {checked} 轮后验证通过",
        ),
    }
}

/// One word for the name of an outcome; a name that is not known stays.
pub fn outcome_word(lang: Lang, name: &str) -> String {
    match name {
        "complete" => tr!(lang, "complete", "完成", "完成"),
        "paused" => tr!(lang, "paused", "已暫停", "已暂停"),
        "blocked" => tr!(lang, "blocked", "受阻", "受阻"),
        "circuit_break" => tr!(lang, "stuck", "卡住", "卡住"),
        "errors" => tr!(lang, "errors", "錯誤", "错误"),
        "gate_failed" => tr!(lang, "rejected", "驗證未過", "验证未过"),
        "budget" => tr!(lang, "budget", "預算用盡", "预算用尽"),
        "cancelled" => tr!(lang, "cancelled", "已取消", "已取消"),
        "interrupted" => tr!(lang, "interrupted", "已中斷", "已中断"),
        "unfinished" => tr!(lang, "unfinished", "未完成", "未完成"),
        other => other.to_owned(),
    }
}

/// The outcome of a run in one word that programs read, too.
pub fn outcome_name(outcome: Option<&Outcome>) -> &'static str {
    outcome.map_or("unfinished", Outcome::name)
}

pub(super) fn sentence(lang: Lang, report: &Report) -> String {
    let errors = report.story.errors.len();
    outcome_sentence(lang, report.outcome.as_ref(), errors)
}

/// How a run ended, in one sentence; `count` is of its errors.
pub fn outcome_sentence(lang: Lang, outcome: Option<&Outcome>, count: usize) -> String {
    match outcome {
        Some(Outcome::Complete) => tr!(
            lang,
            "Everything that was asked for is done, as far as it could be checked.",
            "要求的工作都已完成（以可檢查的範圍為準）。",
            "要求的工作都已完成（以可检查的范围为准）。",
        ),
        Some(Outcome::Paused { reason }) => paused(lang, *reason),
        Some(Outcome::Blocked { reason }) => tr!(
            lang,
            "The agent says that it can't go on: {reason}",
            "代理表示無法繼續：{reason}",
            "代理表示无法继续：{reason}",
        ),
        Some(Outcome::CircuitBreak { rule }) => stuck(lang, *rule),
        Some(Outcome::Errors) => tr!(
            lang,
            "Too many errors in a row ended the run ({count} in all).",
            "連續錯誤過多，執行已結束（共 {count} 次）。",
            "连续错误过多，运行已结束（共 {count} 次）。",
        ),
        Some(Outcome::GateFailed { reason }) => tr!(
            lang,
            "Verification kept failing: {reason}",
            "驗證持續失敗：{reason}",
            "验证持续失败：{reason}",
        ),
        Some(Outcome::Budget { limit }) => tr!(
            lang,
            "The budget is spent: {limit}",
            "預算已用盡：{limit}",
            "预算已用尽：{limit}",
        ),
        Some(Outcome::Cancelled) => tr!(
            lang,
            "A person gave the run up (USER_ABORT).",
            "使用者已放棄此次執行（USER_ABORT）。",
            "用户已放弃此次运行（USER_ABORT）。",
        ),
        Some(Outcome::Interrupted) => tr!(
            lang,
            "A person or the system stopped the run; everything is saved.",
            "使用者或系統中止了執行；進度已保存。",
            "用户或系统中止了运行；进度已保存。",
        ),
        None => tr!(
            lang,
            "Its process ended without saying how; the journal has everything up to there.",
            "行程未說明原因即已終止；在此之前的一切都在日誌中。",
            "进程未说明原因即已终止；在此之前的一切都在日志中。",
        ),
    }
}

fn paused(lang: Lang, reason: PauseReason) -> String {
    match reason {
        PauseReason::Requested => tr!(
            lang,
            "A person asked for a pause; everything is saved.",
            "依使用者要求暫停；進度已保存。",
            "按用户要求暂停；进度已保存。",
        ),
        PauseReason::Unproven => tr!(
            lang,
            "The agent says that it is done, and nothing could prove it.",
            "代理聲稱完成，但沒有任何方法能證明。",
            "代理声称完成，但没有任何方法能证明。",
        ),
        PauseReason::Disk => tr!(
            lang,
            "The disk did not take what had to be written.",
            "磁碟無法寫入必要的檔案。",
            "磁盘无法写入必要的文件。",
        ),
        PauseReason::Agent(need) => need.say(lang),
        PauseReason::Escalated(why) => why.say(lang),
        PauseReason::Limit(Limit::Dispatches) => tr!(
            lang,
            "The limit of agent calls was reached.",
            "已達代理呼叫上限。",
            "已达代理调用上限。",
        ),
        PauseReason::Forge(need) => need.say(lang),
        PauseReason::Question => tr!(
            lang,
            "Everything that is left waits for an answer to the agent's question.",
            "剩下的工作都在等待回答代理的問題。",
            "剩下的工作都在等待回答代理的问题。",
        ),
        PauseReason::Limit(Limit::Iterations) => tr!(
            lang,
            "The limit of iterations was reached.",
            "已達迭代上限。",
            "已达迭代上限。",
        ),
        PauseReason::Limit(Limit::Duration) => tr!(
            lang,
            "The limit of time was reached.",
            "已達時間上限。",
            "已达时间上限。",
        ),
    }
}

fn stuck(lang: Lang, rule: BreakerRule) -> String {
    match rule {
        BreakerRule::Stalled => tr!(
            lang,
            "The circuit breaker opened: turn after turn left nothing new behind.",
            "Circuit Breaker 觸發：連續多輪沒有任何新進展。",
            "Circuit Breaker 触发：连续多轮没有任何新进展。",
        ),
        BreakerRule::MissingPromise => tr!(
            lang,
            "The circuit breaker opened: answer after answer had no promise in it.",
            "Circuit Breaker 觸發：連續多次回答沒有 promise 標籤。",
            "Circuit Breaker 触发：连续多次回答没有 promise 标签。",
        ),
        BreakerRule::SameError => tr!(
            lang,
            "The circuit breaker opened: the same failure came again and again.",
            "Circuit Breaker 觸發：相同的失敗一再出現。",
            "Circuit Breaker 触发：相同的失败一再出现。",
        ),
        BreakerRule::FalsePromise => tr!(
            lang,
            "The circuit breaker opened: the agent kept claiming what was not true.",
            "Circuit Breaker 觸發：代理一再虛假承諾。",
            "Circuit Breaker 触发：代理一再虚假承诺。",
        ),
    }
}

/// The command that goes on from here; `None` where nothing is left to do.
/// What a person does next: a label and the one command.
pub(super) fn next_step(lang: Lang, report: &Report) -> Option<(String, String)> {
    if let Some(command) = next_command(report) {
        return Some((tr!(lang, "To go on", "繼續執行", "继续执行"), command));
    }
    let git = report.facts.git.as_ref()?;
    let look = tr!(lang, "To look at what was made", "檢視成果", "查看成果");
    match (&git.from, &git.to, git.commits) {
        (Some(from), Some(to), Some(1..)) => {
            Some((look, format!("git diff {}..{}", short(from), short(to))))
        }
        _ if git.files.is_some_and(|files| files > 0) => Some((look, "git diff HEAD".into())),
        _ => None,
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT_ID).unwrap_or(commit)
}

pub(super) fn next_command(report: &Report) -> Option<String> {
    let id = &report.facts.run_id;
    match &report.outcome {
        Some(Outcome::Complete) => None,
        // Given up: only the same wish once more can follow.
        Some(Outcome::Cancelled) => Some(format!("ralph resume {id} --restart")),
        _ => Some(format!("ralph resume {id}")),
    }
}
