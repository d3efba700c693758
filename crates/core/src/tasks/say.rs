//! The module's texts for people, in all languages.

use crate::lang::{Lang, Say};
use crate::tr;

use super::compare::Changes;
use super::error::TaskError;
use super::lint::{Finding, FindingKind};
use super::markdown::Unclosed;
use super::model::Format;
use super::pick::{Pick, Unmet, Waiting};

impl Say for TaskError {
    fn say(&self, lang: Lang) -> String {
        match self {
            TaskError::Empty { file } => tr!(
                lang,
                "{file} is empty; write a task on a line of its own, such as `- [ ] T001 add a login page`",
                "{file} 是空的；請寫入任務，一行一個，例如 `- [ ] T001 新增登入頁面`",
                "{file} 是空的；请写入任务，一行一个，例如 `- [ ] T001 新增登录页面`",
            ),
            TaskError::NotText { file } => tr!(
                lang,
                "{file} is not UTF-8 text; save it as UTF-8, or name the right file with --tasks",
                "{file} 不是 UTF-8 文字檔；請存成 UTF-8，或用 --tasks 指定正確的檔案",
                "{file} 不是 UTF-8 文本文件；请存为 UTF-8，或用 --tasks 指定正确的文件",
            ),
            TaskError::TooLarge { file, bytes, limit } => {
                let (size, limit) = (mebibytes(*bytes), mebibytes(*limit));
                tr!(
                    lang,
                    "{file} is {size} MiB large, and a task file may have {limit} MiB; split it, or name the right file with --tasks",
                    "{file} 有 {size} MiB，超過任務檔上限 {limit} MiB；請拆分它，或用 --tasks 指定正確的檔案",
                    "{file} 有 {size} MiB，超过任务文件上限 {limit} MiB；请拆分它，或用 --tasks 指定正确的文件",
                )
            }
            TaskError::NoTasks { file, format } => no_tasks(lang, file, *format),
            TaskError::BadJson {
                file,
                line,
                column,
                message,
            } => tr!(
                lang,
                "{file}:{line}:{column} is not valid JSON ({message}); correct that place and run again",
                "{file}:{line}:{column} 不是有效的 JSON（{message}）；請修正該處後再執行",
                "{file}:{line}:{column} 不是有效的 JSON（{message}）；请修正该处后再运行",
            ),
            TaskError::NoStories { file } => tr!(
                lang,
                "{file} has no list \"userStories\"; write the stories there, each with \"id\", \"title\" and \"passes\": false",
                "{file} 沒有 \"userStories\" 清單；請把故事寫在其中，每個都要有 \"id\"、\"title\" 與 \"passes\": false",
                "{file} 没有 \"userStories\" 列表；请把故事写在其中，每个都要有 \"id\"、\"title\" 与 \"passes\": false",
            ),
            TaskError::BadStory { file, line } => tr!(
                lang,
                "{file}:{line}: this entry of \"userStories\" is not an object; write it as {{\"id\": …, \"title\": …, \"passes\": false}}",
                "{file}:{line}：\"userStories\" 的這一項不是物件；請寫成 {{\"id\": …, \"title\": …, \"passes\": false}}",
                "{file}:{line}：\"userStories\" 的这一项不是对象；请写成 {{\"id\": …, \"title\": …, \"passes\": false}}",
            ),
            TaskError::NoPassesField { file, id } => tr!(
                lang,
                "{file}: story {id} has no \"passes\" that is true or false; add \"passes\": false to it",
                "{file}：故事 {id} 沒有值為 true 或 false 的 \"passes\"；請為它加上 \"passes\": false",
                "{file}：故事 {id} 没有值为 true 或 false 的 \"passes\"；请为它加上 \"passes\": false",
            ),
            TaskError::TaskNotFound { file, id } => tr!(
                lang,
                "{file} has no task {id}; run `ralph tasks list` to see the ids",
                "{file} 沒有任務 {id}；執行 `ralph tasks list` 查看所有編號",
                "{file} 没有任务 {id}；运行 `ralph tasks list` 查看所有编号",
            ),
            TaskError::Changed { file } => tr!(
                lang,
                "{file} was changed by somebody else in the meantime and was left as it is; run again",
                "{file} 在此期間被其他程式修改，內容保持原樣；請再執行一次",
                "{file} 在此期间被其他程序修改，内容保持原样；请再运行一次",
            ),
        }
    }
}

/// With one digit behind the point, rounded up: what is too large by a byte
/// must not look as if it were not.
fn mebibytes(bytes: usize) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1024 * 1024);
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

fn no_tasks(lang: Lang, file: &str, format: Format) -> String {
    match format {
        Format::PrdJson => tr!(
            lang,
            "{file} has no stories; add at least one to \"userStories\", with \"id\", \"title\" and \"passes\": false",
            "{file} 沒有任何故事；請在 \"userStories\" 加入至少一個，並寫上 \"id\"、\"title\" 與 \"passes\": false",
            "{file} 没有任何故事；请在 \"userStories\" 加入至少一个，并写上 \"id\"、\"title\" 与 \"passes\": false",
        ),
        _ => tr!(
            lang,
            "{file} has no tasks; write each on a line of its own, such as `- [ ] T001 add a login page`",
            "{file} 沒有任何任務；請一行寫一個，例如 `- [ ] T001 新增登入頁面`",
            "{file} 没有任何任务；请一行写一个，例如 `- [ ] T001 新增登录页面`",
        ),
    }
}

impl Say for Finding {
    fn say(&self, lang: Lang) -> String {
        match &self.kind {
            FindingKind::OutsideSection { id } => tr!(
                lang,
                "task {id} is a box outside a task section; it counts, but belongs to no phase: move it below a phase heading, or make it a plain bullet",
                "任務 {id} 位於任務區段之外；它會被計入，但不屬於任何階段：請移到階段標題下，或改成一般項目",
                "任务 {id} 位于任务区段之外；它会被计入，但不属于任何阶段：请移到阶段标题下，或改成普通项目",
            ),
            FindingKind::DuplicateId { id, first_line } => tr!(
                lang,
                "id {id} is already used on line {first_line}; give this task another one",
                "編號 {id} 已在第 {first_line} 行使用；請給這個任務另一個編號",
                "编号 {id} 已在第 {first_line} 行使用；请给这个任务另一个编号",
            ),
            FindingKind::Cycle { ids } => cycle(lang, ids),
            FindingKind::UnknownDependency { id, on } => tr!(
                lang,
                "{id} depends on {on}, which is not in this file; correct the id or take it out",
                "{id} 依賴 {on}，但檔案中沒有它；請修正編號或移除",
                "{id} 依赖 {on}，但文件中没有它；请修正编号或移除",
            ),
            FindingKind::UnknownField { id, key } => tr!(
                lang,
                "task {id} has a field \"{key}\" that Ralph does not know; use agent, files, output or depends",
                "任務 {id} 有 Ralph 不認識的欄位「{key}」；請使用 agent、files、output 或 depends",
                "任务 {id} 有 Ralph 不认识的字段“{key}”；请使用 agent、files、output 或 depends",
            ),
            FindingKind::UnknownAgent { id, agent } => tr!(
                lang,
                "task {id} names the agent \"{agent}\"; use developer, reviewer, tester, designer or debugger",
                "任務 {id} 指定的 agent「{agent}」不存在；請使用 developer、reviewer、tester、designer 或 debugger",
                "任务 {id} 指定的 agent“{agent}”不存在；请使用 developer、reviewer、tester、designer 或 debugger",
            ),
            FindingKind::HumanOnly { id, word } => tr!(
                lang,
                "task {id} asks for a person (\"{word}\") and would stop an unattended run; reword it, make it optional, or do it first",
                "任務 {id} 需要真人處理（「{word}」），會卡住無人值守的執行；請改寫、設為選做，或先完成它",
                "任务 {id} 需要真人处理（“{word}”），会卡住无人值守的运行；请改写、设为选做，或先完成它",
            ),
            FindingKind::OpenBelowDone { id, child } => tr!(
                lang,
                "task {child} is open, but task {id} above it is ticked; untick {id} or finish {child}",
                "任務 {child} 尚未完成，但上層任務 {id} 已勾選；請取消勾選 {id}，或完成 {child}",
                "任务 {child} 尚未完成，但上层任务 {id} 已勾选；请取消勾选 {id}，或完成 {child}",
            ),
            FindingKind::EmptyText { id } => tr!(
                lang,
                "task {id} is a box without a text; write what is to be done, or delete the line",
                "任務 {id} 只有方框沒有內容；請寫明要做什麼，或刪除該行",
                "任务 {id} 只有方框没有内容；请写明要做什么，或删除该行",
            ),
            FindingKind::NoPassesField { id } => tr!(
                lang,
                "story {id} has no \"passes\" that is true or false, so it can never be ticked; add \"passes\": false",
                "故事 {id} 沒有值為 true 或 false 的 \"passes\"，因此永遠無法勾選；請加上 \"passes\": false",
                "故事 {id} 没有值为 true 或 false 的 \"passes\"，因此永远无法勾选；请加上 \"passes\": false",
            ),
            FindingKind::NotABox { text } => tr!(
                lang,
                "this looks like a task and is not counted: {text}; write it as `- [ ] text` or `- [x] text`",
                "這一行像任務但不會被計入：{text}；請寫成 `- [ ] 內容` 或 `- [x] 內容`",
                "这一行像任务但不会被计入：{text}；请写成 `- [ ] 内容` 或 `- [x] 内容`",
            ),
            FindingKind::Unclosed(what) => unclosed(lang, *what),
        }
    }
}

fn unclosed(lang: Lang, what: Unclosed) -> String {
    match what {
        Unclosed::Fence => tr!(
            lang,
            "this code fence is never closed, so boxes below it count as tasks; close it with the same marks on a line of their own",
            "這個程式碼區塊沒有結尾，其後的方框都會算成任務；請用相同的符號另起一行結束它",
            "这个代码块没有结尾，其后的方框都会算成任务；请用相同的符号另起一行结束它",
        ),
        Unclosed::Comment => tr!(
            lang,
            "this comment is never closed, so boxes below it count as tasks; close it with `-->`",
            "這個註解沒有結尾，其後的方框都會算成任務；請用 `-->` 結束它",
            "这个注释没有结尾，其后的方框都会算成任务；请用 `-->` 结束它",
        ),
    }
}

fn cycle(lang: Lang, ids: &[String]) -> String {
    let circle: Vec<&str> = ids.iter().chain(ids.first()).map(String::as_str).collect();
    let circle = circle.join(" → ");
    tr!(
        lang,
        "these wait for each other: {circle}; take one of the dependencies out",
        "這些項目互相等待：{circle}；請移除其中一個依賴",
        "这些项目互相等待：{circle}；请移除其中一个依赖",
    )
}

fn separator(lang: Lang) -> &'static str {
    if lang == Lang::En { ", " } else { "、" }
}

impl Pick {
    /// Why there is no next task; `None` where there is one or all is done.
    pub fn problem(&self, lang: Lang) -> Option<String> {
        match self {
            Pick::Next { .. } | Pick::Done => None,
            Pick::Cycle { ids } => Some(cycle(lang, ids)),
            Pick::Blocked { waiting } => Some(blocked(lang, waiting)),
            Pick::NothingInScope { phase, known } => {
                Some(nothing_in_scope(lang, phase.as_deref(), known))
            }
        }
    }
}

fn blocked(lang: Lang, waiting: &[Waiting]) -> String {
    let joint = if lang == Lang::En { "; " } else { "；" };
    let reasons: Vec<String> = waiting.iter().map(|waiting| waiting.say(lang)).collect();
    let reasons = reasons.join(joint);
    tr!(
        lang,
        "no task can be started: {reasons}; finish what they wait for, or correct their `depends`",
        "沒有可以開始的任務：{reasons}；請先完成它們等待的項目，或修正 `depends`",
        "没有可以开始的任务：{reasons}；请先完成它们等待的项目，或修正 `depends`",
    )
}

fn nothing_in_scope(lang: Lang, phase: Option<&str>, known: &[String]) -> String {
    let Some(phase) = phase else {
        return tr!(
            lang,
            "every task is optional or was skipped, so there is nothing to do; take one back into scope",
            "所有任務都是選做或已略過，沒有可做的事；請把至少一個任務放回範圍",
            "所有任务都是选做或已跳过，没有可做的事；请把至少一个任务放回范围",
        );
    };
    if known.is_empty() {
        return tr!(
            lang,
            "there is no phase {phase}, because this file has no phases; run without --phase",
            "沒有階段 {phase}，因為此檔案不分階段；請不要加 --phase",
            "没有阶段 {phase}，因为此文件不分阶段；请不要加 --phase",
        );
    }
    let known = known.join(separator(lang));
    tr!(
        lang,
        "phase {phase} has no tasks; the phases of this file are: {known}",
        "階段 {phase} 沒有任務；此檔案的階段有：{known}",
        "阶段 {phase} 没有任务；此文件的阶段有：{known}",
    )
}

/// What happened to the file, one clause per kind of change.
impl Say for Changes {
    fn say(&self, lang: Lang) -> String {
        let clauses = [
            (&self.newly_done, tr!(lang, "ticked", "已勾選", "已勾选")),
            (
                &self.unticked,
                tr!(lang, "unticked", "取消勾選", "取消勾选"),
            ),
            (&self.removed, tr!(lang, "removed", "已刪除", "已删除")),
            (&self.added, tr!(lang, "added", "新增", "新增")),
            (&self.reworded, tr!(lang, "reworded", "改寫", "改写")),
        ];
        let joint = if lang == Lang::En { "; " } else { "；" };
        let clauses: Vec<String> = clauses
            .iter()
            .filter(|(ids, _)| !ids.is_empty())
            .map(|(ids, word)| {
                let ids = ids.join(separator(lang));
                tr!(lang, "{word}: {ids}", "{word}：{ids}", "{word}：{ids}")
            })
            .collect();
        clauses.join(joint)
    }
}

impl Say for Waiting {
    fn say(&self, lang: Lang) -> String {
        let id = &self.id;
        let reasons: Vec<String> = self.on.iter().map(|unmet| unmet.say(lang)).collect();
        let reasons = reasons.join(separator(lang));
        tr!(
            lang,
            "task {id} waits for {reasons}",
            "任務 {id} 正在等待{reasons}",
            "任务 {id} 正在等待{reasons}",
        )
    }
}

impl Say for Unmet {
    fn say(&self, lang: Lang) -> String {
        match self {
            Unmet::Task(id) => tr!(lang, "task {id}", "任務 {id}", "任务 {id}"),
            Unmet::Phase(key) => tr!(lang, "phase {key}", "階段 {key}", "阶段 {key}"),
            Unmet::Unknown(name) => tr!(
                lang,
                "{name} (not in this file)",
                "「{name}」（檔案中沒有）",
                "“{name}”（文件中没有）",
            ),
        }
    }
}
