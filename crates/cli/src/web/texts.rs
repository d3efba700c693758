//! Every text of the page, by its name.

use ralph_core::lang::Lang;
use ralph_core::report::{Verdict, verdict_word};
use ralph_core::tr;
use serde_json::{Map, Value};

/// `{0}` and `{1}` are filled in by the page.
pub fn page(lang: Lang) -> Value {
    let zero = "{0}";
    let one = "{1}";
    let texts = [
        ("runs", tr!(lang, "Runs", "執行紀錄", "运行记录")),
        (
            "no_runs",
            tr!(
                lang,
                "Nothing has run here yet: `ralph run` starts a run, `ralph demo` shows one.",
                "這裡還沒有執行過：`ralph run` 開始執行，`ralph demo` 可觀看示範。",
                "这里还没有运行过：`ralph run` 开始运行，`ralph demo` 可观看演示。"
            ),
        ),
        (
            "no_such_run",
            tr!(
                lang,
                "This run is not here any more.",
                "這個執行紀錄已不存在。",
                "这个运行记录已不存在。"
            ),
        ),
        ("tasks", tr!(lang, "Tasks", "任務", "任务")),
        ("task", tr!(lang, "Task", "任務", "任务")),
        ("turns", tr!(lang, "Turns", "迭代", "迭代")),
        ("turn", tr!(lang, "Turn", "輪次", "轮次")),
        ("cost", tr!(lang, "Cost", "費用", "费用")),
        ("tokens", tr!(lang, "Tokens", "詞元", "词元")),
        ("time", tr!(lang, "Time", "時間", "时间")),
        ("agent", tr!(lang, "Agent", "代理", "代理")),
        ("branch", tr!(lang, "Branch", "分支", "分支")),
        ("elapsed", tr!(lang, "Working time", "執行時間", "运行时间")),
        ("waits_until", tr!(lang, "Waits until", "等待至", "等待至")),
        ("verdict", tr!(lang, "Verdict", "判定", "判定")),
        ("event", tr!(lang, "Event", "事件", "事件")),
        ("text", tr!(lang, "Text", "內容", "内容")),
        ("command", tr!(lang, "Command", "命令", "命令")),
        ("result", tr!(lang, "Result", "結果", "结果")),
        ("tool", tr!(lang, "Tool", "工具", "工具")),
        ("rule", tr!(lang, "Rule", "規則", "规则")),
        ("unknown", tr!(lang, "unknown", "未知", "未知")),
        ("progress", tr!(lang, "Progress", "進度", "进度")),
        ("now", tr!(lang, "now", "目前", "当前")),
        ("open", tr!(lang, "open", "未完成", "未完成")),
        ("done", tr!(lang, "done", "完成", "完成")),
        ("roles", tr!(lang, "Roles", "角色", "角色")),
        ("step_done", tr!(lang, "done", "完成", "完成")),
        ("step_active", tr!(lang, "in progress", "進行中", "进行中")),
        ("step_pending", tr!(lang, "pending", "待處理", "待处理")),
        ("step_failed", tr!(lang, "failed", "失敗", "失败")),
        ("details", tr!(lang, "Details", "詳情", "详情")),
        ("report", tr!(lang, "Report", "報告", "报告")),
        (
            "pause",
            tr!(lang, "Pause after this turn", "本輪後暫停", "本轮后暂停"),
        ),
        ("continue", tr!(lang, "Continue", "繼續", "继续")),
        ("stop", tr!(lang, "Stop now", "立即停止", "立即停止")),
        ("wake", tr!(lang, "Wake", "喚醒", "唤醒")),
        ("extend", tr!(lang, "More turns", "增加迭代", "增加迭代")),
        ("answer", tr!(lang, "Answer", "回答", "回答")),
        (
            "answer_label",
            tr!(lang, "Your answer", "您的回答", "您的回答"),
        ),
        (
            "question",
            tr!(lang, "The agent asks", "代理提問", "代理提问"),
        ),
        (
            "question_of",
            tr!(
                lang,
                "The agent asks about {zero}",
                "代理就 {zero} 提問",
                "代理就 {zero} 提问"
            ),
        ),
        (
            "default_is",
            tr!(lang, "default: {zero}", "預設：{zero}", "默认：{zero}"),
        ),
        (
            "default_at",
            tr!(
                lang,
                "Without an answer, \"{zero}\" holds at {one}.",
                "若無回答，{one} 起採用「{zero}」。",
                "若无回答，{one} 起采用“{zero}”。"
            ),
        ),
        ("tab_output", tr!(lang, "Output", "輸出", "输出")),
        ("tab_turns", tr!(lang, "Turns", "迭代", "迭代")),
        ("tab_events", tr!(lang, "Events", "事件", "事件")),
        ("tab_checks", tr!(lang, "Checks", "驗證", "验证")),
        ("tab_guard", tr!(lang, "Guard", "護欄", "护栏")),
        ("tab_diff", tr!(lang, "Diff", "差異", "差异")),
        ("follow", tr!(lang, "follow", "跟隨", "跟随")),
        (
            "output_of",
            tr!(
                lang,
                "turn {zero} · {one}",
                "第 {zero} 輪 · {one}",
                "第 {zero} 轮 · {one}"
            ),
        ),
        (
            "no_output",
            tr!(lang, "Nothing was printed yet.", "尚無輸出。", "尚无输出。"),
        ),
        (
            "no_turns",
            tr!(
                lang,
                "No turn has begun yet.",
                "尚未開始任何一輪。",
                "尚未开始任何一轮。"
            ),
        ),
        (
            "no_tasks",
            tr!(
                lang,
                "There is no task list.",
                "沒有任務清單。",
                "没有任务清单。"
            ),
        ),
        ("nothing", tr!(lang, "Nothing.", "沒有。", "没有。")),
        (
            "no_checks",
            tr!(
                lang,
                "No verification is set up: ticks are the agent's own claims.",
                "沒有設定驗證：勾選只是代理自己的聲稱。",
                "没有设置验证：勾选只是代理自己的声称。"
            ),
        ),
        (
            "no_checks_yet",
            tr!(lang, "Not verified yet.", "尚未驗證。", "尚未验证。"),
        ),
        (
            "no_blocks",
            tr!(
                lang,
                "The guard blocked nothing.",
                "護欄沒有阻擋任何動作。",
                "护栏没有阻挡任何动作。"
            ),
        ),
        (
            "no_diff",
            tr!(lang, "Nothing differs.", "沒有差異。", "没有差异。"),
        ),
        (
            "diff_is",
            tr!(
                lang,
                "what differs from the last commit before this turn",
                "與本輪之前最後一次提交的差異",
                "与本轮之前最后一次提交的差异"
            ),
        ),
        (
            "new_files",
            tr!(
                lang,
                "new files: {zero}",
                "新檔案：{zero}",
                "新文件：{zero}"
            ),
        ),
        (
            "cut",
            tr!(
                lang,
                "The rest is left out.",
                "其餘已省略。",
                "其余已省略。"
            ),
        ),
        ("again", tr!(lang, "Look again", "重新整理", "刷新")),
        (
            "newest_first",
            tr!(lang, "the newest first", "最新的在前", "最新的在前"),
        ),
        ("filter", tr!(lang, "Show", "顯示", "显示")),
        ("level_INFO", tr!(lang, "everything", "全部", "全部")),
        (
            "level_WARN",
            tr!(lang, "warnings and errors", "警告與錯誤", "警告与错误"),
        ),
        ("level_ERROR", tr!(lang, "errors", "錯誤", "错误")),
        ("passed", tr!(lang, "passed", "通過", "通过")),
        (
            "failed_with",
            tr!(lang, "failed ({zero})", "失敗（{zero}）", "失败（{zero}）"),
        ),
        ("when", tr!(lang, "Course", "過程", "过程")),
        (
            "time_per_turn",
            tr!(lang, "Time per turn", "每輪時間", "每轮时间"),
        ),
        (
            "cost_per_turn",
            tr!(lang, "Cost per turn", "每輪費用", "每轮费用"),
        ),
        (
            "at_most",
            tr!(lang, "up to {zero}", "最多 {zero}", "最多 {zero}"),
        ),
        ("link_live", tr!(lang, "live", "即時", "实时")),
        (
            "link_lost",
            tr!(lang, "not connected", "連線中斷", "连接中断"),
        ),
        ("ms", tr!(lang, "ms", "毫秒", "毫秒")),
        ("s", tr!(lang, "s", "秒", "秒")),
        ("min", tr!(lang, "min", "分", "分")),
        ("h", tr!(lang, "h", "小時", "小时")),
    ];
    let verdicts = Verdict::ALL.map(|verdict| {
        let name = format!("verdict_{}", verdict.name());
        (name, verdict_word(lang, verdict))
    });
    let texts: Map<String, Value> = texts
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .chain(verdicts)
        .map(|(name, text)| (name, text.into()))
        .collect();
    texts.into()
}

/// What stands in the page itself.
pub fn skip(lang: Lang) -> String {
    tr!(lang, "Skip to the content", "跳至內容", "跳至内容")
}

pub fn noscript(lang: Lang) -> String {
    tr!(
        lang,
        "This page needs its own script, which comes from this program and from nowhere else.",
        "此頁面需要執行本程式提供的腳本，不含任何外部內容。",
        "此页面需要运行本程序提供的脚本，不含任何外部内容。",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page asks for texts by name; those of verdicts it puts together.
    #[test]
    fn every_text_that_the_page_asks_for_is_there() {
        let script = include_str!("assets/app.js");
        let known = page(Lang::En);
        let is_call = |at: usize| !script[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let calls = script.match_indices("t(\"").filter(|(at, _)| is_call(*at));
        let asked = calls.filter_map(|(at, call)| {
            let (name, after) = script[at + call.len()..].split_once('"')?;
            after.starts_with([',', ')']).then_some(name)
        });
        let asked: Vec<&str> = asked.collect();
        assert!(asked.len() > 40, "{asked:?}");
        for name in asked {
            assert!(known.get(name).is_some(), "{name}");
        }
        for lang in Lang::ALL {
            let texts = page(lang);
            assert_eq!(
                texts["question_of"]
                    .as_str()
                    .unwrap()
                    .matches("{0}")
                    .count(),
                1
            );
            assert_eq!(
                texts.as_object().unwrap().len(),
                known.as_object().unwrap().len()
            );
        }
    }
}
