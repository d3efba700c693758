//! Why a run can't begin, and what to do about it.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::BudgetKind;
use ralph_core::{text, tr};

use super::{Announcement, PlanError, Unguarded, Unpickable};
use crate::agents::{self, SplitError};

impl Say for PlanError {
    fn say(&self, lang: Lang) -> String {
        match self {
            PlanError::Branch(wrong) => wrong.say(lang),
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
            PlanError::BadWebhook => tr!(
                lang,
                "notify.webhook is no address that could be posted to; it begins with http:// or https:// and has no spaces",
                "notify.webhook 不是可以送出的位址；它須以 http:// 或 https:// 開頭，且不含空白",
                "notify.webhook 不是可以发送的地址；它须以 http:// 或 https:// 开头，且不含空格",
            ),
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
            PlanError::Unguarded { agent, why } => {
                let why = why.say(lang);
                tr!(
                    lang,
                    "{agent} would work without its permission questions, and nothing of Ralph's would judge what it does: {why}; say --allow-unsafe if that is what you want, or let it ask with agent.permissions = \"default\"",
                    "{agent} 將不詢問權限就執行，且沒有 Ralph 的護欄把關：{why}；若確實要這樣做請加上 --allow-unsafe，或以 agent.permissions = \"default\" 讓它詢問",
                    "{agent} 将不询问权限就执行，且没有 Ralph 的护栏把关：{why}；若确实要这样做请加上 --allow-unsafe，或用 agent.permissions = \"default\" 让它询问",
                )
            }
            PlanError::Unmeasured { agent, kind } => match kind {
                BudgetKind::Cost => tr!(
                    lang,
                    "{agent} does not report what it costs, so that a budget of money can't be kept; limit --max-tokens, --max-iterations or --max-duration instead, or choose an agent that reports its cost (`ralph agents`)",
                    "{agent} 不回報費用，無法遵守金額預算；請改用 --max-tokens、--max-iterations 或 --max-duration，或選擇會回報費用的代理（`ralph agents`）",
                    "{agent} 不报告费用，无法遵守金额预算；请改用 --max-tokens、--max-iterations 或 --max-duration，或选择会报告费用的代理（`ralph agents`）",
                ),
                BudgetKind::Tokens => tr!(
                    lang,
                    "{agent} does not report its tokens, so that a budget of tokens can't be kept; limit --max-iterations or --max-duration instead, or choose an agent that reports its tokens (`ralph agents`)",
                    "{agent} 不回報詞元用量，無法遵守詞元預算；請改用 --max-iterations 或 --max-duration，或選擇會回報用量的代理（`ralph agents`）",
                    "{agent} 不报告词元用量，无法遵守词元预算；请改用 --max-iterations 或 --max-duration，或选择会报告用量的代理（`ralph agents`）",
                ),
            },
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
            PlanError::Flow(error) => error.say(lang),
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
            Announcement::Guarded { agent } => tr!(
                lang,
                "Ralph's guard judges each tool call of {agent} before it runs; it is a rail, not a sandbox (docs/guard.md)",
                "{agent} 每次呼叫工具前都由 Ralph 的護欄判斷；它是護欄，不是沙箱（docs/guard.md）",
                "{agent} 每次调用工具前都由 Ralph 的护栏判断；它是护栏，不是沙箱（docs/guard.md）",
            ),
            Announcement::Unguarded { agent, why } => {
                let why = why.say(lang);
                tr!(
                    lang,
                    "{agent} works without its permission questions and without Ralph's guard: {why}",
                    "{agent} 不詢問權限、也沒有 Ralph 的護欄：{why}",
                    "{agent} 不询问权限、也没有 Ralph 的护栏：{why}",
                )
            }
            Announcement::PermissionsKept => tr!(
                lang,
                "the agent's permission questions stay on, and nobody will answer them; --allow-unsafe switches them off",
                "代理的權限確認保持開啟，但無人回答；--allow-unsafe 可關閉",
                "代理的权限确认保持开启，但无人回答；--allow-unsafe 可关闭",
            ),
            Announcement::NotProjected { error } => {
                let error = error.say(lang);
                tr!(
                    lang,
                    "{error} (the run goes on: its journal is what counts, the checkpoint is only a copy)",
                    "{error}（執行會繼續：以日誌為準，檢查點只是副本）",
                    "{error}（运行会继续：以日志为准，检查点只是副本）",
                )
            }
            Announcement::CheckpointDamaged { dir, refused } => {
                let dir = dir.display();
                let refused: Vec<String> = refused.iter().map(|r| r.say(lang)).collect();
                let refused = refused.join("; ");
                tr!(
                    lang,
                    "damaged checkpoint in {dir} ({refused}); it is written anew from the journal",
                    "{dir} 中的檢查點已損壞（{refused}）；將依日誌重新寫入",
                    "{dir} 中的检查点已损坏（{refused}）；将依日志重新写入",
                )
            }
            Announcement::DeltaMovedAside { from, to, error } => {
                let (from, to, error) = (from.display(), to.display(), error.say(lang));
                tr!(
                    lang,
                    "{from} can't be read: {error}; it was moved to {to}, and a new one is written",
                    "無法讀取 {from}：{error}；已移至 {to}，並重新寫入",
                    "无法读取 {from}：{error}；已移至 {to}，并重新写入",
                )
            }
            Announcement::Changed {
                tasks,
                files,
                commit,
                branch,
            } => {
                let on = branch.clone().unwrap_or_default();
                let what = [
                    (
                        branch.is_some(),
                        tr!(
                            lang,
                            "the branch (now {on})",
                            "分支（現為 {on}）",
                            "分支（现为 {on}）"
                        ),
                    ),
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
            Announcement::NotKept { error } => {
                let error = error.say(lang);
                tr!(
                    lang,
                    "{error} (the run goes on without it, since the journal has everything)",
                    "{error}（日誌已記錄一切，執行會繼續）",
                    "{error}（日志已记录一切，运行会继续）",
                )
            }
            Announcement::RecordTorn => tr!(
                lang,
                "the last record of the journal was incomplete, since the process died while it wrote; the run goes on from the record before",
                "日誌的最後一筆紀錄不完整（行程在寫入時終止）；從前一筆紀錄繼續",
                "日志的最后一条记录不完整（进程在写入时终止）；从前一条记录继续",
            ),
            Announcement::OrphansEnded { count } => tr!(
                lang,
                "processes that outlived the turn were ended: {count}",
                "已終止這一輪留下的行程：{count} 個",
                "已终止这一轮留下的进程：{count} 个",
            ),
            Announcement::OutputCut { file, dropped } => {
                let file = file.display();
                tr!(
                    lang,
                    "{file}: the agent said more than log.agent_output_max; {dropped} bytes between the beginning and the end were dropped",
                    "{file}：代理的輸出超過 log.agent_output_max；已捨棄開頭與結尾之間的 {dropped} 位元組",
                    "{file}：代理的输出超过 log.agent_output_max；已丢弃开头与结尾之间的 {dropped} 字节",
                )
            }
            Announcement::SurvivorsEnded { count } => tr!(
                lang,
                "processes that outlived the run were ended: {count}",
                "已終止這次執行留下的行程：{count} 個",
                "已终止这次运行留下的进程：{count} 个",
            ),
            Announcement::StillAlive { pids } => {
                let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
                let pids = pids.join(", ");
                tr!(
                    lang,
                    "processes that could not be ended: {pids}; look at them with `ps -fp`, they may still edit files",
                    "無法終止的行程：{pids}；請用 `ps -fp` 查看，它們可能仍在修改檔案",
                    "无法终止的进程：{pids}；请用 `ps -fp` 查看，它们可能仍在修改文件",
                )
            }
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
            Announcement::Archived { to } => {
                let to = to.display();
                tr!(lang, "archived to {to}", "已歸檔至: {to}", "已归档至: {to}")
            }
            Announcement::ChangeStays { id, message } => tr!(
                lang,
                "the OpenSpec change {id} was not archived: {message}; archive it by hand",
                "OpenSpec 變更 {id} 未能歸檔：{message}；請手動歸檔",
                "OpenSpec 变更 {id} 未能归档：{message}；请手动归档",
            ),
            Announcement::NotArchived { message } => tr!(
                lang,
                "not archived: {message}; the run itself is saved, `ralph archive` tries again",
                "無法歸檔：{message}；執行紀錄已保存，可用 `ralph archive` 再試",
                "无法归档：{message}；运行记录已保存，可用 `ralph archive` 重试",
            ),
            Announcement::NotTold { undelivered } => {
                let (way, why) = (undelivered.way.say(lang), &undelivered.why);
                tr!(
                    lang,
                    "a notification was not delivered ({way}): {why}; see [notify] in .ralph/config.toml",
                    "通知未送達（{way}）：{why}；請檢查 .ralph/config.toml 的 [notify]",
                    "通知未送达（{way}）：{why}；请检查 .ralph/config.toml 的 [notify]",
                )
            }
            Announcement::NotPruned { message } => tr!(
                lang,
                "old runs could not be deleted: {message}; `ralph archive --prune` tries again",
                "無法刪除過舊的執行紀錄：{message}；可用 `ralph archive --prune` 再試",
                "无法删除过旧的运行记录：{message}；可用 `ralph archive --prune` 重试",
            ),
            Announcement::Pruned { runs } => {
                let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
                let names = names.join(", ");
                let size = megabytes(runs.iter().map(|run| run.bytes).sum());
                tr!(
                    lang,
                    "old runs deleted with their output (history.keep), {size}: {names}",
                    "已刪除過舊的執行紀錄與輸出（history.keep），{size}：{names}",
                    "已删除过旧的运行记录与输出（history.keep），{size}：{names}",
                )
            }
            Announcement::StopFile { path, stays } => {
                let path = path.display();
                match stays {
                    None => tr!(
                        lang,
                        "{path} is there: the run stops, as with `ralph stop`; the file is removed",
                        "發現 {path}：停止執行（等同 `ralph stop`），並移除該檔案",
                        "发现 {path}：停止运行（等同 `ralph stop`），并移除该文件",
                    ),
                    Some(why) => tr!(
                        lang,
                        "{path} is there: the run stops, as with `ralph stop`; remove the file yourself before the next run ({why})",
                        "發現 {path}：停止執行（等同 `ralph stop`）；下次執行前請自行移除該檔案（{why}）",
                        "发现 {path}：停止运行（等同 `ralph stop`）；下次运行前请自行移除该文件（{why}）",
                    ),
                }
            }
            Announcement::IndexLocked { path, age } => {
                let (path, age) = (path.display(), text::duration::human(lang, *age));
                tr!(
                    lang,
                    "{path} is {age} old: a git that was killed left it, and no other can commit while it is there; if no git is at work here, remove that file yourself",
                    "{path} 已存在 {age}：由被終止的 git 遺留，只要它還在就無法提交；若此處沒有 git 正在執行，請自行刪除該檔案",
                    "{path} 已存在 {age}：由被终止的 git 遗留，只要它还在就无法提交；若此处没有 git 正在运行，请自行删除该文件",
                )
            }
            Announcement::RolesOutside => tr!(
                lang,
                "roles are set up, but one session is one agent: nobody reviews or tests its work here; `ralph run` plays the roles, each as a call of its own",
                "已設定角色，但一個工作階段只有一個代理：此處無人審查或測試；`ralph run` 會以各自獨立的呼叫執行各角色",
                "已设置角色，但一个会话只有一个代理：此处无人审查或测试；`ralph run` 会以各自独立的调用执行各角色",
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

/// `12.3 MB`, the same in every language.
pub fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

impl Say for Unguarded {
    fn say(&self, lang: Lang) -> String {
        match self {
            Unguarded::NoHooks => tr!(
                lang,
                "it has no hooks that can be handed over for one run",
                "它沒有可只為單次執行設定的 hook",
                "它没有可只为单次运行设置的 hook",
            ),
            Unguarded::NoKey => tr!(
                lang,
                "its hooks need GEMINI_API_KEY in the environment, since a login does not reach the settings of one run",
                "其 hook 需要環境變數 GEMINI_API_KEY，因為登入狀態無法套用到單次執行的設定",
                "其 hook 需要环境变量 GEMINI_API_KEY，因为登录状态无法应用到单次运行的设置",
            ),
            Unguarded::SwitchedOff => tr!(
                lang,
                "the guard is switched off (--no-guard or guard.enabled)",
                "護欄已關閉（--no-guard 或 guard.enabled）",
                "护栏已关闭（--no-guard 或 guard.enabled）",
            ),
        }
    }
}
