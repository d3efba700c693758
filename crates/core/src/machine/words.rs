//! Reasons, as data: what a claim lacks, what a breaker saw, how a turn went
//! wrong. The agent and programs read them in English, people in their own
//! language.

use super::TaskRef;
use crate::lang::{Lang, Say};
use crate::tr;

/// What the evidence lacks for a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    OpenTasks {
        count: usize,
        /// The first of them.
        first: Vec<TaskRef>,
    },
    OpenInPhase {
        phase: String,
        count: usize,
    },
    /// Tasks that stood in the file and are gone.
    LostTasks {
        count: usize,
    },
    Failing {
        command: String,
    },
    /// Checks are weaker than they were when the loop was armed.
    Weakened {
        files: Vec<String>,
    },
    /// The task file can't be read, so nothing is known.
    Unreadable,
    NoTasks,
}

impl Say for Missing {
    fn say(&self, lang: Lang) -> String {
        match self {
            Missing::OpenTasks { count, first } => {
                let first = names(first);
                tr!(
                    lang,
                    "open tasks ({count}): {first}",
                    "還有 {count} 個未完成任務：{first}",
                    "还有 {count} 个未完成任务：{first}",
                )
            }
            Missing::OpenInPhase { phase, count } => tr!(
                lang,
                "open tasks in phase {phase}: {count}",
                "Phase {phase} 還有 {count} 個未完成任務",
                "Phase {phase} 还有 {count} 个未完成任务",
            ),
            Missing::LostTasks { count } => tr!(
                lang,
                "tasks removed from the task file: {count}",
                "任務檔案少了 {count} 個任務",
                "任务文件少了 {count} 个任务",
            ),
            Missing::Unreadable => tr!(
                lang,
                "the task file can't be read",
                "無法讀取任務檔案",
                "无法读取任务文件",
            ),
            Missing::NoTasks => tr!(
                lang,
                "no task was found in the task file",
                "任務檔案中沒有任務",
                "任务文件中没有任务",
            ),
            Missing::Weakened { files } => {
                let files = files.join(", ");
                tr!(
                    lang,
                    "checks were weakened; restore them: {files}",
                    "檢查被削弱，請恢復：{files}",
                    "检查被削弱，请恢复：{files}",
                )
            }
            Missing::Failing { command } => tr!(
                lang,
                "`{command}` does not pass",
                "`{command}` 沒有通過",
                "`{command}` 没有通过",
            ),
        }
    }
}

fn names(tasks: &[TaskRef]) -> String {
    tasks
        .iter()
        .map(TaskRef::name)
        .collect::<Vec<_>>()
        .join("; ")
}

/// What a rule of the circuit breaker saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    Iterations {
        from: u32,
        to: u32,
    },
    Tasks {
        completed: usize,
        total: usize,
    },
    /// Neither a commit nor a tree that was not there before.
    NothingNew,
    Promised {
        text: String,
    },
    Open {
        task: TaskRef,
    },
    /// What a command or the agent said again and again.
    Output {
        of: String,
        text: String,
    },
}

impl Say for Sign {
    fn say(&self, lang: Lang) -> String {
        match self {
            Sign::Iterations { from, to } => {
                tr!(
                    lang,
                    "iterations {from} to {to}",
                    "第 {from} 到 {to} 次迭代",
                    "第 {from} 到 {to} 次迭代"
                )
            }
            Sign::Tasks { completed, total } => {
                tr!(
                    lang,
                    "tasks: {completed}/{total}",
                    "任務：{completed}/{total}",
                    "任务：{completed}/{total}"
                )
            }
            Sign::NothingNew => tr!(
                lang,
                "no new commit, and no content that was not seen before",
                "沒有新的提交，也沒有未曾出現過的內容",
                "没有新的提交，也没有未曾出现过的内容",
            ),
            Sign::Promised { text } => {
                tr!(lang, "promised: {text}", "承諾：{text}", "承诺：{text}")
            }
            Sign::Open { task } => {
                let task = task.name();
                tr!(lang, "open: {task}", "未完成：{task}", "未完成：{task}")
            }
            Sign::Output { of, text } => format!("{of}: {text}"),
        }
    }
}

/// How a turn went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    Exit {
        code: i32,
        words: String,
    },
    Signal {
        signal: i32,
        words: String,
    },
    Timeout {
        seconds: u64,
    },
    NotFound {
        words: String,
    },
    NotStarted {
        words: String,
    },
    /// The agent's or the file's own words.
    Words(String),
}

impl Say for Detail {
    fn say(&self, lang: Lang) -> String {
        match self {
            Detail::Exit { code, words } => with(
                tr!(lang, "exit code {code}", "結束代碼 {code}", "退出码 {code}"),
                words,
            ),
            Detail::Signal { signal, words } => with(
                tr!(
                    lang,
                    "ended by signal {signal}",
                    "被訊號 {signal} 終止",
                    "被信号 {signal} 终止"
                ),
                words,
            ),
            Detail::Timeout { seconds } => tr!(
                lang,
                "ended after {seconds} s without a result",
                "{seconds} 秒後仍無結果，已終止",
                "{seconds} 秒后仍无结果，已终止",
            ),
            Detail::NotFound { words } => with(
                tr!(lang, "command not found", "找不到命令", "找不到命令"),
                words,
            ),
            Detail::NotStarted { words } => with(
                tr!(lang, "could not be started", "無法啟動", "无法启动"),
                words,
            ),
            Detail::Words(words) if words.is_empty() => {
                tr!(
                    lang,
                    "the agent reported an error",
                    "代理回報錯誤",
                    "代理报告错误"
                )
            }
            Detail::Words(words) => words.clone(),
        }
    }
}

fn with(fact: String, words: &str) -> String {
    if words.is_empty() {
        fact
    } else {
        format!("{fact}: {words}")
    }
}
