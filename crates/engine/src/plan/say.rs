//! Why a run can't begin, and what to do about it.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::{Announcement, PlanError, Unpickable};
use crate::agents::{self, SplitError};

impl Say for PlanError {
    fn say(&self, lang: Lang) -> String {
        match self {
            PlanError::NoTaskFile { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root}: no task file found (looked for specs/*/tasks.md, .specify/*/tasks.md, tasks.md, openspec/changes/*/tasks.md, prd.json, .ralph/fix_plan.md)\n  write a tasks.md with lines such as `- [ ] T001 what to do`, name a file with --tasks FILE, or give a prompt: ralph run \"…\" --verify 'CMD'",
                    "{root}：找不到任務檔案（已尋找 specs/*/tasks.md、.specify/*/tasks.md、tasks.md、openspec/changes/*/tasks.md、prd.json、.ralph/fix_plan.md）\n  請先執行 SDD 流程產生 tasks.md（例如一行 `- [ ] T001 要做的事`），用 --tasks FILE 指定檔案，或直接給提示：ralph run \"…\" --verify 'CMD'",
                    "{root}：找不到任务文件（已查找 specs/*/tasks.md、.specify/*/tasks.md、tasks.md、openspec/changes/*/tasks.md、prd.json、.ralph/fix_plan.md）\n  请先生成 tasks.md（例如一行 `- [ ] T001 要做的事`），用 --tasks FILE 指定文件，或直接给出提示：ralph run \"…\" --verify 'CMD'",
                )
            }
            PlanError::Ambiguous { files } => {
                let list = files.iter().map(|f| format!("\n  {f}")).collect::<String>();
                tr!(
                    lang,
                    "several unfinished task files, the newest first; say which one with --tasks FILE:{list}",
                    "有多個未完成的任務檔案（最新的在前）；請用 --tasks FILE 指定一個：{list}",
                    "有多个未完成的任务文件（最新的在前）；请用 --tasks FILE 指定一个：{list}",
                )
            }
            PlanError::NoSuchChange { id, known } if known.is_empty() => tr!(
                lang,
                "openspec/changes/{id}/tasks.md: there is no such change, and no other in openspec/changes; write this file, or leave --openspec out",
                "openspec/changes/{id}/tasks.md：沒有這個變更，openspec/changes 中也沒有其他變更；請建立此檔案，或省略 --openspec",
                "openspec/changes/{id}/tasks.md：没有这个变更，openspec/changes 中也没有其他变更；请创建此文件，或省略 --openspec",
            ),
            PlanError::NoSuchChange { id, known } => {
                let known = known.join(", ");
                tr!(
                    lang,
                    "openspec/changes/{id}/tasks.md: there is no such change; name one of these with --openspec ID: {known}",
                    "openspec/changes/{id}/tasks.md：沒有這個變更；請用 --openspec ID 指定其中之一：{known}",
                    "openspec/changes/{id}/tasks.md：没有这个变更；请用 --openspec ID 指定其中之一：{known}",
                )
            }
            PlanError::NoSuchPhase { phase, known, file } if known.is_empty() => tr!(
                lang,
                "{file}: there is no phase {phase}, the file has no phases at all; leave --phase out",
                "{file}：沒有 Phase {phase}，此檔案完全沒有階段；請省略 --phase",
                "{file}：没有 Phase {phase}，此文件完全没有阶段；请省略 --phase",
            ),
            PlanError::NoSuchPhase { phase, known, file } => {
                let known = known.join(", ");
                tr!(
                    lang,
                    "{file}: there is no phase {phase} with tasks; choose one of these with --phase N: {known}",
                    "{file}：沒有含任務的 Phase {phase}；請用 --phase N 選擇其中之一：{known}",
                    "{file}：没有含任务的 Phase {phase}；请用 --phase N 选择其中之一：{known}",
                )
            }
            PlanError::Tasks(error) => error.say(lang),
            PlanError::EmptyPrompt => tr!(
                lang,
                "nothing to do: give a prompt (ralph run \"…\") or a task file (--tasks FILE)",
                "沒有要做的事：請給提示（ralph run \"…\"）或任務檔案（--tasks FILE）",
                "没有要做的事：请给出提示（ralph run \"…\"）或任务文件（--tasks FILE）",
            ),
            PlanError::Template(error) => {
                let path = error.path.display();
                match &error.message {
                    None => tr!(
                        lang,
                        "{path}: there is no such prompt template; correct --prompt-template, or leave it out to use the built-in one",
                        "{path}：找不到提示模板；請修正 --prompt-template，或省略以使用內建模板",
                        "{path}：找不到提示模板；请修正 --prompt-template，或省略以使用内置模板",
                    ),
                    Some(message) => tr!(
                        lang,
                        "{path}: the prompt template can't be read ({message}); make it a readable file of UTF-8 text, or move it away to use the built-in one",
                        "{path}：無法讀取提示模板（{message}）；請讓它成為可讀取的 UTF-8 文字檔，或移開它以使用內建模板",
                        "{path}：无法读取提示模板（{message}）；请让它成为可读取的 UTF-8 文本文件，或移开它以使用内置模板",
                    ),
                }
            }
            PlanError::UnknownAgent { name } => {
                let known = agents::Client::names().join(", ");
                tr!(
                    lang,
                    "agent \"{name}\" is not known; choose one of {known}, or run any program with --agent-cmd 'prog {{prompt_file}}'",
                    "不認識代理「{name}」；請選擇 {known}，或用 --agent-cmd 'prog {{prompt_file}}' 執行任何程式",
                    "不认识代理“{name}”；请选择 {known}，或用 --agent-cmd 'prog {{prompt_file}}' 运行任何程序",
                )
            }
            PlanError::NoCommand => tr!(
                lang,
                "the custom agent has no command; give one with --agent-cmd 'prog {{prompt_file}}' or agent.command",
                "自訂代理沒有命令；請用 --agent-cmd 'prog {{prompt_file}}' 或 agent.command 指定",
                "自定义代理没有命令；请用 --agent-cmd 'prog {{prompt_file}}' 或 agent.command 指定",
            ),
            PlanError::BadCommand { line, error } => {
                let why = split_error(*error, lang);
                tr!(
                    lang,
                    "the agent's command can't be read: {why}; correct --agent-cmd or agent.command:\n  {line}",
                    "無法解析代理命令：{why}；請修正 --agent-cmd 或 agent.command：\n  {line}",
                    "无法解析代理命令：{why}；请修正 --agent-cmd 或 agent.command：\n  {line}",
                )
            }
            PlanError::AgentNotFound { program } => tr!(
                lang,
                "{program}: command not found; install it, correct its path, or choose another agent with --agent or --agent-cmd",
                "{program}：找不到命令；請安裝、修正路徑，或用 --agent、--agent-cmd 選擇其他代理",
                "{program}：找不到命令；请安装、修正路径，或用 --agent、--agent-cmd 选择其他代理",
            ),
            PlanError::AgentNotExecutable { program } => {
                let program = program.display();
                tr!(
                    lang,
                    "{program} is there, but can't be run; make it executable with `chmod +x {program}`, or choose another agent with --agent or --agent-cmd",
                    "{program} 存在但無法執行；請用 `chmod +x {program}` 開放執行，或用 --agent、--agent-cmd 選擇其他代理",
                    "{program} 存在但无法运行；请用 `chmod +x {program}` 开放执行，或用 --agent、--agent-cmd 选择其他代理",
                )
            }
            PlanError::Unpickable(error) => error.say(lang),
            PlanError::RootMissing { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root}: there is no such directory; correct --root",
                    "{root}：沒有這個目錄；請修正 --root",
                    "{root}：没有这个目录；请修正 --root",
                )
            }
        }
    }
}

impl Say for Unpickable {
    fn say(&self, lang: Lang) -> String {
        let (file, problem) = (&self.file, self.pick.problem(lang).unwrap_or_default());
        tr!(
            lang,
            "{file}: {problem}",
            "{file}：{problem}",
            "{file}：{problem}"
        )
    }
}

fn split_error(error: SplitError, lang: Lang) -> String {
    match error {
        SplitError::Empty => tr!(lang, "it is empty", "命令是空的", "命令是空的"),
        SplitError::OpenQuote(quote) => tr!(
            lang,
            "the quote {quote} is never closed",
            "引號 {quote} 沒有結尾",
            "引号 {quote} 没有结尾",
        ),
        SplitError::TrailingBackslash => {
            tr!(
                lang,
                "it ends with a backslash",
                "命令以反斜線結尾",
                "命令以反斜杠结尾"
            )
        }
    }
}

impl Say for Announcement {
    fn say(&self, lang: Lang) -> String {
        match self {
            Announcement::Chosen { file, others } => {
                let others = others.join(", ");
                tr!(
                    lang,
                    "working on {file}, the newest unfinished task file (others: {others}; choose with --tasks)",
                    "使用最新的未完成任務檔案 {file}（其他：{others}；可用 --tasks 指定）",
                    "使用最新的未完成任务文件 {file}（其他：{others}；可用 --tasks 指定）",
                )
            }
            Announcement::NotAGitProject { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root} is not a Git project: progress is judged by the files alone, and nothing can be undone with git",
                    "{root} 不是 Git 專案：只能依檔案內容判斷進度，也無法用 git 還原",
                    "{root} 不是 Git 项目：只能依文件内容判断进度，也无法用 git 还原",
                )
            }
            Announcement::OnlyWords => tr!(
                lang,
                "nothing can prove that the work is done: the loop will stop when the agent says so; name a check with --verify 'CMD'",
                "沒有任何方法能證明工作已完成：代理宣稱完成時迴圈就會停下；請用 --verify 'CMD' 指定檢查",
                "没有任何方法能证明工作已完成：代理声称完成时循环就会停下；请用 --verify 'CMD' 指定检查",
            ),
            Announcement::NothingProves => tr!(
                lang,
                "no verification is set up (--verify 'CMD'): ticks are the agent's own claims",
                "沒有設定驗證（--verify 'CMD'）：勾選只是代理自己的宣稱",
                "没有设置验证（--verify 'CMD'）：勾选只是代理自己的声称",
            ),
            Announcement::PermissionsKept => tr!(
                lang,
                "the agent's permission questions stay on, and nobody will answer them; --allow-unsafe switches them off",
                "代理的權限確認保持開啟，但無人回答；--allow-unsafe 可關閉",
                "代理的权限确认保持开启，但无人回答；--allow-unsafe 可关闭",
            ),
            Announcement::Changed {
                tasks,
                files,
                commit,
            } => {
                let what = [
                    (*tasks, tr!(lang, "the task file", "任務檔案", "任务文件")),
                    (*files, tr!(lang, "the files", "檔案內容", "文件内容")),
                    (*commit, tr!(lang, "the commit", "提交", "提交")),
                ];
                let what: Vec<String> = what
                    .into_iter()
                    .filter(|(changed, _)| *changed)
                    .map(|(_, w)| w)
                    .collect();
                let what = what.join(&tr!(lang, ", ", "、", "、"));
                tr!(
                    lang,
                    "changed since the run stopped: {what}",
                    "自上次停止後有變更：{what}",
                    "自上次停止后有变更：{what}",
                )
            }
            Announcement::OutputLost { file, message } => {
                let file = file.display();
                tr!(
                    lang,
                    "{file}: the agent's output could not be kept ({message}); make room, the run goes on",
                    "{file}：無法保存代理的輸出（{message}）；請釋出空間，執行會繼續",
                    "{file}：无法保存代理的输出（{message}）；请释放空间，运行会继续",
                )
            }
            Announcement::OrphansEnded { count } => tr!(
                lang,
                "processes that outlived the turn were ended: {count}",
                "已終止這一輪留下的行程：{count} 個",
                "已终止这一轮留下的进程：{count} 个",
            ),
            Announcement::Reaped { run, count } => tr!(
                lang,
                "run {run} had died; processes of it that were still at work were ended: {count}",
                "執行 {run} 已意外終止；已結束其仍在執行的行程：{count} 個",
                "运行 {run} 已意外终止；已结束其仍在运行的进程：{count} 个",
            ),
            Announcement::Leaked => tr!(
                lang,
                "the agent left a process behind that kept its output open; it was ended",
                "代理留下一個佔用輸出的行程，已將其終止",
                "代理留下一个占用输出的进程，已将其终止",
            ),
            Announcement::Lingered => tr!(
                lang,
                "the agent had told its result and did not exit; it was ended, and the result counts",
                "代理已回報結果卻未結束，已將其終止，結果仍然有效",
                "代理已报告结果却未退出，已将其终止，结果仍然有效",
            ),
            Announcement::UnknownVariable { name, template } => {
                let template = template.display();
                tr!(
                    lang,
                    "{template}: {name} is no variable of Ralph's and stays as it is",
                    "{template}：{name} 不是 Ralph 的變數，保留原樣",
                    "{template}：{name} 不是 Ralph 的变量，保留原样",
                )
            }
        }
    }
}
