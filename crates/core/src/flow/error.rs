//! What is wrong with a flow file, and where.

use crate::lang::{Lang, Say};
use crate::tr;

use super::ROLES;

/// One mistake in a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowError {
    pub file: String,
    /// Counted from 1; none where the whole file is meant.
    pub line: Option<usize>,
    /// The key that it is about, such as `step.reviewer.on.reject`.
    pub key: String,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file can't be read as TOML, or has a key that no flow has.
    Syntax {
        message: String,
    },
    Unreadable {
        message: String,
    },
    BadName {
        name: String,
    },
    /// The name in the file is not that of the file.
    OtherName {
        name: String,
        file: String,
    },
    NoSteps,
    NoPrompt,
    DuplicateStep {
        id: String,
    },
    /// `done` and `escalate` are ends, not steps.
    ReservedId {
        id: String,
    },
    UnknownRole {
        role: String,
    },
    UnknownStep {
        id: String,
    },
    /// An answer that a step of this kind does not give.
    WrongAnswer {
        answer: &'static str,
    },
    MissingAnswer {
        answer: &'static str,
    },
    Unreachable {
        id: String,
    },
    /// From here no way leads to `done`.
    NoEnd {
        id: String,
    },
    Endless {
        steps: Vec<String>,
    },
    BadPermissions {
        word: String,
    },
    BadOutput {
        name: String,
    },
    /// A step for each subtask, and no step before it plans any.
    NoPlan,
    SkippedStart {
        id: String,
    },
    BadPercent {
        percent: u8,
    },
    UnknownVariable {
        name: String,
    },
}

impl Say for FlowError {
    fn say(&self, lang: Lang) -> String {
        let file = &self.file;
        let place = match (self.line, self.key.as_str()) {
            (Some(line), "") => format!("{file}:{line}"),
            (Some(line), key) => format!("{file}:{line}: {key}"),
            (None, "") => file.clone(),
            (None, key) => format!("{file}: {key}"),
        };
        let problem = self.problem.say(lang);
        tr!(
            lang,
            "{place}: {problem}",
            "{place}：{problem}",
            "{place}：{problem}"
        )
    }
}

impl Say for Problem {
    fn say(&self, lang: Lang) -> String {
        match self {
            Problem::Syntax { message } => tr!(
                lang,
                "this is no flow: {message}",
                "不是有效的流程：{message}",
                "不是有效的流程：{message}",
            ),
            Problem::Unreadable { message } => tr!(
                lang,
                "can't be read ({message}); make it readable, or remove it",
                "無法讀取（{message}）；請修正權限或移除",
                "无法读取（{message}）；请修正权限或移除",
            ),
            Problem::BadName { name } => tr!(
                lang,
                "\"{name}\" can't be a name; use small letters, digits, - and _",
                "「{name}」不能作為名稱；請用小寫字母、數字、- 和 _",
                "“{name}”不能作为名称；请用小写字母、数字、- 和 _",
            ),
            Problem::OtherName { name, file } => tr!(
                lang,
                "the flow is called \"{name}\" and its file {file}.toml; give both the same name",
                "流程名為「{name}」，檔名卻是 {file}.toml；請使兩者相同",
                "流程名为“{name}”，文件名却是 {file}.toml；请使两者相同",
            ),
            Problem::NoSteps => tr!(
                lang,
                "there is no step; write at least one [[step]]",
                "沒有任何步驟；請至少寫一個 [[step]]",
                "没有任何步骤；请至少写一个 [[step]]",
            ),
            Problem::NoPrompt => tr!(
                lang,
                "the prompt is empty; say what the agent has to do",
                "提示詞是空的；請說明代理要做什麼",
                "提示词是空的；请说明代理要做什么",
            ),
            Problem::DuplicateStep { id } => tr!(
                lang,
                "there are two steps \"{id}\"; rename one",
                "有兩個步驟「{id}」；請改名其中一個",
                "有两个步骤“{id}”；请改名其中一个",
            ),
            Problem::ReservedId { id } => tr!(
                lang,
                "\"{id}\" is an end and can't be a step; rename it",
                "「{id}」是結束點，不能作為步驟；請改名",
                "“{id}”是结束点，不能作为步骤；请改名",
            ),
            Problem::UnknownRole { role } => {
                let known = ROLES.join(", ");
                tr!(
                    lang,
                    "unknown role \"{role}\"; write one of {known}",
                    "未知的角色「{role}」；請改用 {known} 之一",
                    "未知的角色“{role}”；请改用 {known} 之一",
                )
            }
            Problem::UnknownStep { id } => tr!(
                lang,
                "there is no step \"{id}\"; name a step, \"done\" or \"escalate\"",
                "沒有步驟「{id}」；請寫步驟名、\"done\" 或 \"escalate\"",
                "没有步骤“{id}”；请写步骤名、\"done\" 或 \"escalate\"",
            ),
            Problem::WrongAnswer { answer } => tr!(
                lang,
                "a step with this verdict never answers \"{answer}\"; remove the line or change the verdict",
                "此判定類型的步驟不會回答「{answer}」；請移除該行或更改 verdict",
                "此判定类型的步骤不会回答“{answer}”；请移除该行或更改 verdict",
            ),
            Problem::MissingAnswer { answer } => tr!(
                lang,
                "nothing says where \"{answer}\" leads; add on.{answer}",
                "沒有說明「{answer}」之後去哪裡；請加上 on.{answer}",
                "没有说明“{answer}”之后去哪里；请加上 on.{answer}",
            ),
            Problem::Unreachable { id } => tr!(
                lang,
                "no way leads to step \"{id}\"; let an answer lead there, or remove it",
                "沒有任何路徑到達步驟「{id}」；請讓某個回答指向它，或移除它",
                "没有任何路径到达步骤“{id}”；请让某个回答指向它，或移除它",
            ),
            Problem::NoEnd { id } => tr!(
                lang,
                "from step \"{id}\" no way leads to \"done\"; let an answer lead there",
                "從步驟「{id}」無法到達 \"done\"；請讓某個回答指向它",
                "从步骤“{id}”无法到达 \"done\"；请让某个回答指向它",
            ),
            Problem::Endless { steps } => {
                let steps = steps.join(" → ");
                tr!(
                    lang,
                    "{steps} can go round for ever; set a limit for an answer in it, as in limit.reject = 5",
                    "{steps} 會無限循環；請為其中一個回答設定上限，例如 limit.reject = 5",
                    "{steps} 会无限循环；请为其中一个回答设置上限，例如 limit.reject = 5",
                )
            }
            Problem::BadPermissions { word } => tr!(
                lang,
                "unknown permissions \"{word}\"; write one of auto, default, edit, plan",
                "未知的權限「{word}」；請改用 auto, default, edit, plan 之一",
                "未知的权限“{word}”；请改用 auto, default, edit, plan 之一",
            ),
            Problem::BadOutput { name } => tr!(
                lang,
                "\"{name}\" can't be an output file; write a plain file name, with {{n}} in it exactly where the step has each",
                "「{name}」不能作為輸出檔；請寫單純的檔名，有 each 的步驟須含 {{n}}",
                "“{name}”不能作为输出文件；请写单纯的文件名，有 each 的步骤须含 {{n}}",
            ),
            Problem::NoPlan => tr!(
                lang,
                "each = \"subtask\" needs an earlier step with plans = true and an output file",
                "each = \"subtask\" 需要前面有 plans = true 且有輸出檔的步驟",
                "each = \"subtask\" 需要前面有 plans = true 且有输出文件的步骤",
            ),
            Problem::SkippedStart { id } => tr!(
                lang,
                "the first step \"{id}\" can't be skipped",
                "不能略過第一個步驟「{id}」",
                "不能跳过第一个步骤“{id}”",
            ),
            Problem::BadPercent { percent } => tr!(
                lang,
                "{percent} is no percentage that grows from step to step up to 100",
                "{percent} 不是逐步遞增到 100 的百分比",
                "{percent} 不是逐步递增到 100 的百分比",
            ),
            Problem::UnknownVariable { name } => {
                let known = crate::template::Variables::NAMES.join(", ");
                tr!(
                    lang,
                    "unknown variable {{{{{name}}}}}; write one of {known}",
                    "未知的變數 {{{{{name}}}}}；請改用 {known} 之一",
                    "未知的变量 {{{{{name}}}}}；请改用 {known} 之一",
                )
            }
        }
    }
}
