//! What Ralph knows about the end of a run, what it does not know, and what an
//! agent's claim lacked.

use super::screen::{Screen, Symbol, Tone};
use crate::forge::ForgeProof;
use crate::lang::Say;
use crate::text::duration::{human, plural};
use crate::tr;
use std::time::Duration;

/// Something that Ralph saw itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    Tasks {
        file: String,
        done: usize,
        total: usize,
    },
    Command {
        command: String,
        exit_code: i32,
        duration: Duration,
    },
    Commits {
        count: usize,
        /// The short hash of the last one.
        last: Option<String>,
    },
    /// The forge showed it.
    Forge(ForgeProof),
    /// Anything else, already in the person's language.
    Other(String),
}

/// Something that was not checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
    NoVerifyCommand,
    NoTaskList,
    NoGit,
    Uncommitted {
        files: usize,
    },
    SkippedTasks {
        ids: Vec<String>,
    },
    /// Anything else, already in the person's language.
    Other(String),
}

/// What a claim of completion lacked.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    OpenTasks {
        file: String,
        count: usize,
        /// The first of them, as far as they are worth showing.
        first: Vec<String>,
    },
    FailedCommand {
        command: String,
        /// `None`: it was killed, or never started.
        exit_code: Option<i32>,
    },
    /// Anything else, already in the person's language.
    Other(String),
}

/// The list of proofs, each with a tick, below its heading; nothing for none.
pub(super) fn proven(screen: &Screen, proofs: &[Proof]) -> String {
    let heading = tr!(screen.lang, "Proven:", "已證明：", "已证明：");
    let bullet = screen.paint(Tone::Good, screen.symbol(Symbol::Check));
    list(
        screen,
        &heading,
        &bullet,
        proofs.iter().map(|p| proof_line(screen, p)),
    )
}

/// The list of gaps below its heading; nothing for none.
pub(super) fn not_proven(screen: &Screen, gaps: &[Gap]) -> String {
    let heading = tr!(screen.lang, "Not proven:", "未證明：", "未证明：");
    let bullet = screen.paint(Tone::Warning, "-");
    list(
        screen,
        &heading,
        &bullet,
        gaps.iter().map(|g| gap_line(screen, g)),
    )
}

/// What is missing, one line or more each.
pub(super) fn missing(screen: &Screen, missing: &[Missing]) -> String {
    let heading = tr!(screen.lang, "Missing:", "缺少：", "缺少：");
    let bullet = screen.paint(Tone::Bad, "-");
    list(
        screen,
        &heading,
        &bullet,
        missing.iter().map(|m| lack(screen, m)),
    )
}

fn list(
    screen: &Screen,
    heading: &str,
    bullet: &str,
    items: impl ExactSizeIterator<Item = String>,
) -> String {
    if items.len() == 0 {
        return String::new();
    }
    let mut out = format!("{heading}\n");
    for item in items {
        out.push_str(&screen.paragraph(&format!("{bullet} "), &item));
    }
    out
}

/// What was seen, as one line.
pub fn proof_line(screen: &Screen, proof: &Proof) -> String {
    match proof {
        Proof::Tasks { file, done, total } => {
            let file = screen.value(file);
            tr!(
                screen.lang,
                "{done}/{total} tasks ticked in {file}",
                "{file} 中 {done}/{total} 任務已勾選",
                "{file} 中 {done}/{total} 任务已勾选"
            )
        }
        Proof::Command {
            command,
            exit_code,
            duration,
        } => {
            let command = screen.value(command);
            let duration = human(screen.lang, *duration);
            tr!(
                screen.lang,
                "`{command}`: exit code {exit_code} after {duration}",
                "`{command}`: 結束碼 {exit_code}，耗時 {duration}",
                "`{command}`: 退出码 {exit_code}，耗时 {duration}"
            )
        }
        Proof::Commits { count, last } => commits(screen, *count, last.as_deref()),
        Proof::Forge(proof) => screen.value(&proof.say(screen.lang)),
        Proof::Other(text) => screen.value(text),
    }
}

fn commits(screen: &Screen, count: usize, last: Option<&str>) -> String {
    let noun = plural(count, "commit", "commits");
    match last {
        Some(last) => {
            let last = screen.value(last);
            tr!(
                screen.lang,
                "{count} new {noun}, the last is {last}",
                "{count} 個新提交，最後一個是 {last}",
                "{count} 个新提交，最后一个是 {last}"
            )
        }
        None => tr!(
            screen.lang,
            "{count} new {noun}",
            "{count} 個新提交",
            "{count} 个新提交"
        ),
    }
}

/// What was not checked, as one line.
pub fn gap_line(screen: &Screen, gap: &Gap) -> String {
    match gap {
        Gap::NoVerifyCommand => tr!(
            screen.lang,
            "no verify command is configured: the ticks are the agent's own claims",
            "沒有設定驗證命令：勾選只是 agent 自己的聲稱",
            "没有配置验证命令：勾选只是 agent 自己的声称"
        ),
        Gap::NoTaskList => tr!(
            screen.lang,
            "there is no task list: nothing could be counted",
            "沒有任務清單：無法計數",
            "没有任务清单：无法计数"
        ),
        Gap::NoGit => tr!(
            screen.lang,
            "this is no Git project: there are no commits to look at",
            "這不是 Git 專案：沒有提交可查",
            "这不是 Git 项目：没有提交可查"
        ),
        Gap::Uncommitted { files } => {
            let noun = plural(*files, "changed file is", "changed files are");
            tr!(
                screen.lang,
                "{files} {noun} not committed",
                "{files} 個變更的檔案尚未提交",
                "{files} 个变更的文件尚未提交"
            )
        }
        Gap::SkippedTasks { ids } => {
            let count = ids.len();
            let noun = plural(count, "task was", "tasks were");
            let ids = screen.value(&ids.join(", "));
            tr!(
                screen.lang,
                "{count} {noun} left out: {ids}",
                "略過了 {count} 個任務: {ids}",
                "跳过了 {count} 个任务: {ids}"
            )
        }
        Gap::Other(text) => screen.value(text),
    }
}

fn lack(screen: &Screen, missing: &Missing) -> String {
    match missing {
        Missing::OpenTasks { file, count, first } => open_tasks(screen, file, *count, first),
        Missing::FailedCommand { command, exit_code } => {
            let command = screen.value(command);
            match exit_code {
                Some(code) => tr!(
                    screen.lang,
                    "`{command}` failed with exit code {code}",
                    "`{command}` 失敗，結束碼 {code}",
                    "`{command}` 失败，退出码 {code}"
                ),
                None => tr!(
                    screen.lang,
                    "`{command}` did not finish",
                    "`{command}` 沒有跑完",
                    "`{command}` 没有跑完"
                ),
            }
        }
        Missing::Other(text) => screen.value(text),
    }
}

fn open_tasks(screen: &Screen, file: &str, count: usize, first: &[String]) -> String {
    let noun = plural(count, "task is", "tasks are");
    let file = screen.value(file);
    let mut said = tr!(
        screen.lang,
        "{count} {noun} still open in {file}",
        "{file} 還有 {count} 個任務未完成",
        "{file} 还有 {count} 个任务未完成"
    );
    if !first.is_empty() {
        let named = screen.value(&first.join(", "));
        said.push_str(": ");
        said.push_str(&named);
        if count > first.len() {
            said.push_str(screen.choose(", …", ", ..."));
        }
    }
    said
}
