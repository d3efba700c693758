//! Every text of a plan, whole, in three languages.

use ralph_core::lang::{Lang, Say};
use ralph_core::tasks::Pick;
use ralph_core::tasks::{Format, TaskError};

use super::Project;
use crate::agents::SplitError;
use crate::announcement::Announcement;
use crate::look::ReadError;
use crate::plan::{PlanError, Unpickable};
use crate::prompt::{TemplateError, TemplateFault};

/// The texts in the order of [`Lang::ALL`], one below the other.
fn check(said: &dyn Say, want: &str) {
    let texts = Lang::ALL.map(|lang| said.say(lang)).join("\n");
    assert_eq!(texts, want.trim_matches('\n'));
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_task_file_that_can_t_be_found() {
    check(
        &PlanError::NoTaskFile {
            root: "/home/me/project".into(),
        },
        r#"
/home/me/project: no task file found (looked for specs/*/tasks.md, .specify/*/tasks.md, tasks.md, openspec/changes/*/tasks.md, prd.json, .ralph/fix_plan.md)
  write a tasks.md with lines such as `- [ ] T001 what to do`, name a file with --tasks FILE, or give a prompt: ralph run "…" --verify 'CMD'
/home/me/project：找不到任務檔案（已尋找 specs/*/tasks.md、.specify/*/tasks.md、tasks.md、openspec/changes/*/tasks.md、prd.json、.ralph/fix_plan.md）
  請先執行 SDD 流程產生 tasks.md（例如一行 `- [ ] T001 要做的事`），用 --tasks FILE 指定檔案，或直接給提示：ralph run "…" --verify 'CMD'
/home/me/project：找不到任务文件（已查找 specs/*/tasks.md、.specify/*/tasks.md、tasks.md、openspec/changes/*/tasks.md、prd.json、.ralph/fix_plan.md）
  请先生成 tasks.md（例如一行 `- [ ] T001 要做的事`），用 --tasks FILE 指定文件，或直接给出提示：ralph run "…" --verify 'CMD'
"#,
    );
    check(
        &PlanError::NoDeltaFile,
        r#"
tasks.source = "delta", and there is no .claude/ralph-delta.local.md: `ralph run --preset delta "…"` begins one; for a task list, set tasks.source = "auto"
tasks.source = "delta"，但沒有 .claude/ralph-delta.local.md：用 `ralph run --preset delta "…"` 開始一個；要用任務清單，請設 tasks.source = "auto"
tasks.source = "delta"，但没有 .claude/ralph-delta.local.md：用 `ralph run --preset delta "…"` 开始一个；要用任务清单，请设 tasks.source = "auto"
"#,
    );
    check(
        &PlanError::Ambiguous {
            files: names(&["specs/b/tasks.md", "specs/a/tasks.md"]),
        },
        r#"
several unfinished task files, the newest first; say which one with --tasks FILE:
  specs/b/tasks.md
  specs/a/tasks.md
有多個未完成的任務檔案（最新的在前）；請用 --tasks FILE 指定一個：
  specs/b/tasks.md
  specs/a/tasks.md
有多个未完成的任务文件（最新的在前）；请用 --tasks FILE 指定一个：
  specs/b/tasks.md
  specs/a/tasks.md
"#,
    );
    check(
        &PlanError::NoSuchChange {
            id: "../x".into(),
            known: names(&["add-login", "fix-tests"]),
        },
        r#"
openspec/changes/../x/tasks.md: there is no such change; name one of these with --openspec ID: add-login, fix-tests
openspec/changes/../x/tasks.md：沒有這個變更；請用 --openspec ID 指定其中之一：add-login, fix-tests
openspec/changes/../x/tasks.md：没有这个变更；请用 --openspec ID 指定其中之一：add-login, fix-tests
"#,
    );
    check(
        &PlanError::NoSuchChange {
            id: "x".into(),
            known: Vec::new(),
        },
        r#"
openspec/changes/x/tasks.md: there is no such change, and no other in openspec/changes; write this file, or leave --openspec out
openspec/changes/x/tasks.md：沒有這個變更，openspec/changes 中也沒有其他變更；請建立此檔案，或省略 --openspec
openspec/changes/x/tasks.md：没有这个变更，openspec/changes 中也没有其他变更；请创建此文件，或省略 --openspec
"#,
    );
    check(
        &PlanError::NoSuchPhase {
            phase: "9".into(),
            known: Vec::new(),
            file: "tasks.md".into(),
        },
        r#"
tasks.md: there is no phase 9, the file has no phases at all; leave --phase out
tasks.md：沒有 Phase 9，此檔案完全沒有階段；請省略 --phase
tasks.md：没有 Phase 9，此文件完全没有阶段；请省略 --phase
"#,
    );
    check(
        &PlanError::NoSuchPhase {
            phase: "9".into(),
            known: names(&["1", "2"]),
            file: "tasks.md".into(),
        },
        r#"
tasks.md: there is no phase 9 with tasks; choose one of these with --phase N: 1, 2
tasks.md：沒有含任務的 Phase 9；請用 --phase N 選擇其中之一：1, 2
tasks.md：没有含任务的 Phase 9；请用 --phase N 选择其中之一：1, 2
"#,
    );
}

#[test]
fn a_task_file_that_can_t_be_used() {
    check(
        &PlanError::Tasks(ReadError::Missing {
            file: "gone.md".into(),
        }),
        r#"
gone.md: there is no such task file; name one with --tasks FILE, or write one with `- [ ] …` lines
gone.md：找不到任務檔案；請用 --tasks FILE 指定，或建立含有 `- [ ] …` 的檔案
gone.md：找不到任务文件；请用 --tasks FILE 指定，或创建含有 `- [ ] …` 的文件
"#,
    );
    check(
        &PlanError::Tasks(ReadError::NotAFile {
            file: "tasks.md".into(),
        }),
        r#"
tasks.md is a directory or a device, not a task file; move it away, or name a file with --tasks FILE
tasks.md 是目錄或裝置，不是任務檔案；請移開它，或用 --tasks FILE 指定檔案
tasks.md 是目录或设备，不是任务文件；请移开它，或用 --tasks FILE 指定文件
"#,
    );
    check(
        &PlanError::Tasks(ReadError::Unreadable {
            file: "tasks.md".into(),
            message: "Permission denied".into(),
        }),
        r#"
tasks.md: can't be read (Permission denied); make it readable, or name another file with --tasks FILE
tasks.md：無法讀取（Permission denied）；請修正檔案權限，或用 --tasks FILE 指定其他檔案
tasks.md：无法读取（Permission denied）；请修正文件权限，或用 --tasks FILE 指定其他文件
"#,
    );
    check(
        &PlanError::Tasks(ReadError::Task(TaskError::NoTasks {
            file: "tasks.md".into(),
            format: Format::Plain,
        })),
        r#"
tasks.md has no tasks; write each on a line of its own, such as `- [ ] T001 add a login page`
tasks.md 沒有任何任務；請一行寫一個，例如 `- [ ] T001 新增登入頁面`
tasks.md 没有任何任务；请一行写一个，例如 `- [ ] T001 新增登录页面`
"#,
    );
}

#[test]
fn a_prompt_or_template_that_is_missing() {
    check(
        &PlanError::EmptyPrompt,
        r#"
nothing to do: give a prompt (ralph run "…") or a task file (--tasks FILE)
沒有要做的事：請給提示（ralph run "…"）或任務檔案（--tasks FILE）
没有要做的事：请给出提示（ralph run "…"）或任务文件（--tasks FILE）
"#,
    );
    check(
        &PlanError::Template(TemplateError {
            path: "/p/t.md".into(),
            fault: TemplateFault::Missing,
        }),
        r#"
/p/t.md: there is no such prompt template; correct --prompt-template, or leave it out to use the built-in one
/p/t.md：找不到提示模板；請修正 --prompt-template，或省略以使用內建模板
/p/t.md：找不到提示模板；请修正 --prompt-template，或省略以使用内置模板
"#,
    );
    check(
        &PlanError::Template(TemplateError {
            path: "/p/t.md".into(),
            fault: TemplateFault::Unreadable("Permission denied".into()),
        }),
        r#"
/p/t.md: the prompt template can't be read (Permission denied); make it a readable file of UTF-8 text, or move it away to use the built-in one
/p/t.md：無法讀取提示模板（Permission denied）；請讓它成為可讀取的 UTF-8 文字檔，或移開它以使用內建模板
/p/t.md：无法读取提示模板（Permission denied）；请让它成为可读取的 UTF-8 文本文件，或移开它以使用内置模板
"#,
    );
}

#[test]
fn a_template_or_a_list_with_nothing_to_do() {
    check(
        &PlanError::Template(TemplateError {
            path: "/p/t.md".into(),
            fault: TemplateFault::Empty,
        }),
        r#"
/p/t.md: the prompt template is empty, so that the agent would be told nothing; write one, or move it away to use the built-in one
/p/t.md：提示模板是空的，代理什麼都不會被告知；請寫下內容，或移開它以使用內建模板
/p/t.md：提示模板是空的，代理什么都不会被告知；请写下内容，或移开它以使用内置模板
"#,
    );
    check(
        &PlanError::DoubledId {
            file: "tasks.md".into(),
            id: "T001".into(),
            first_line: 2,
            line: 4,
        },
        r#"
tasks.md: the id T001 stands on line 2 and on line 4, so that nobody can tell these tasks apart; give one of them another id (`ralph tasks lint` shows all)
tasks.md：編號 T001 同時出現在第 2 行和第 4 行，無法區分這兩個任務；請為其中一個換編號（`ralph tasks lint` 會全部列出）
tasks.md：编号 T001 同时出现在第 2 行和第 4 行，无法区分这两个任务；请为其中一个换编号（`ralph tasks lint` 会全部列出）
"#,
    );
    check(
        &PlanError::OnlyOptional {
            file: ".ralph/fix_plan.md".into(),
            sections: names(&["Optional", "Future"]),
        },
        r#"
.ralph/fix_plan.md has no task that counts: all are optional (tasks.optional_sections: Optional, Future); move what has to be done to another section, or change that setting
.ralph/fix_plan.md 沒有算數的任務：全部都是選做（tasks.optional_sections：Optional, Future）；請把必須完成的移到其他區段，或修改這個設定
.ralph/fix_plan.md 没有算数的任务：全部都是选做（tasks.optional_sections：Optional, Future）；请把必须完成的移到其他章节，或修改这个设置
"#,
    );
}

#[test]
fn an_agent_that_can_t_be_started() {
    check(
        &PlanError::UnknownAgent {
            name: "clod".into(),
        },
        r#"
agent "clod" is not known; choose one of claude, codex, gemini, opencode, copilot, cursor, amp, custom, or run any program with --agent-cmd 'prog {prompt_file}'
不認識代理「clod」；請選擇 claude, codex, gemini, opencode, copilot, cursor, amp, custom，或用 --agent-cmd 'prog {prompt_file}' 執行任何程式
不认识代理“clod”；请选择 claude, codex, gemini, opencode, copilot, cursor, amp, custom，或用 --agent-cmd 'prog {prompt_file}' 运行任何程序
"#,
    );
    check(
        &PlanError::NoCommand,
        r#"
the custom agent has no command; give one with --agent-cmd 'prog {prompt_file}' or agent.command
自訂代理沒有命令；請用 --agent-cmd 'prog {prompt_file}' 或 agent.command 指定
自定义代理没有命令；请用 --agent-cmd 'prog {prompt_file}' 或 agent.command 指定
"#,
    );
    check(
        &PlanError::BadCommand {
            line: "prog 'x".into(),
            error: SplitError::OpenQuote('\''),
        },
        r#"
the agent's command can't be read: the quote ' is never closed; correct --agent-cmd or agent.command:
  prog 'x
無法解析代理命令：引號 ' 沒有結尾；請修正 --agent-cmd 或 agent.command：
  prog 'x
无法解析代理命令：引号 ' 没有结尾；请修正 --agent-cmd 或 agent.command：
  prog 'x
"#,
    );
    check(
        &PlanError::BadCommand {
            line: "prog \\".into(),
            error: SplitError::TrailingBackslash,
        },
        r#"
the agent's command can't be read: it ends with a backslash; correct --agent-cmd or agent.command:
  prog \
無法解析代理命令：命令以反斜線結尾；請修正 --agent-cmd 或 agent.command：
  prog \
无法解析代理命令：命令以反斜杠结尾；请修正 --agent-cmd 或 agent.command：
  prog \
"#,
    );
    check(
        &PlanError::BadCommand {
            line: "-".into(),
            error: SplitError::Empty,
        },
        r#"
the agent's command can't be read: it is empty; correct --agent-cmd or agent.command:
  -
無法解析代理命令：命令是空的；請修正 --agent-cmd 或 agent.command：
  -
无法解析代理命令：命令是空的；请修正 --agent-cmd 或 agent.command：
  -
"#,
    );
    check(
        &PlanError::AgentNotFound {
            program: "claude".into(),
        },
        r#"
claude: command not found; install it, correct its path, or choose another agent with --agent or --agent-cmd
claude：找不到命令；請安裝、修正路徑，或用 --agent、--agent-cmd 選擇其他代理
claude：找不到命令；请安装、修正路径，或用 --agent、--agent-cmd 选择其他代理
"#,
    );
    check(
        &PlanError::AgentNotExecutable {
            program: "/p/agent.sh".into(),
        },
        r#"
/p/agent.sh is there, but can't be run; make it executable with `chmod +x /p/agent.sh`, or choose another agent with --agent or --agent-cmd
/p/agent.sh 存在但無法執行；請用 `chmod +x /p/agent.sh` 開放執行，或用 --agent、--agent-cmd 選擇其他代理
/p/agent.sh 存在但无法运行；请用 `chmod +x /p/agent.sh` 开放执行，或用 --agent、--agent-cmd 选择其他代理
"#,
    );
}

#[test]
fn a_project_that_is_not_there() {
    check(
        &PlanError::RootMissing {
            root: "/no/where".into(),
        },
        r#"
/no/where: there is no such directory; correct --root
/no/where：沒有這個目錄；請修正 --root
/no/where：没有这个目录；请修正 --root
"#,
    );
}

#[test]
fn tasks_that_wait_for_each_other() {
    check(
        &PlanError::Unpickable(Unpickable {
            file: "tasks.md".into(),
            pick: Pick::Cycle {
                ids: names(&["1.1", "1.2"]),
            },
        }),
        r#"
tasks.md: these wait for each other: 1.1 → 1.2 → 1.1; take one of the dependencies out
tasks.md：這些項目互相等待：1.1 → 1.2 → 1.1；請移除其中一個依賴
tasks.md：这些项目互相等待：1.1 → 1.2 → 1.1；请移除其中一个依赖
"#,
    );
}

#[test]
fn announcements() {
    check(
        &Announcement::Chosen {
            file: "specs/b/tasks.md".into(),
            others: names(&["specs/a/tasks.md", "specs/c/tasks.md"]),
        },
        r#"
working on specs/b/tasks.md, the newest unfinished task file (others: specs/a/tasks.md, specs/c/tasks.md; choose with --tasks)
使用最新的未完成任務檔案 specs/b/tasks.md（其他：specs/a/tasks.md, specs/c/tasks.md；可用 --tasks 指定）
使用最新的未完成任务文件 specs/b/tasks.md（其他：specs/a/tasks.md, specs/c/tasks.md；可用 --tasks 指定）
"#,
    );
    check(
        &Announcement::NotAGitProject {
            root: "/home/me/project".into(),
        },
        r#"
/home/me/project is not a Git project: progress is judged by the files alone, and nothing can be undone with git
/home/me/project 不是 Git 專案：只能依檔案內容判斷進度，也無法用 git 還原
/home/me/project 不是 Git 项目：只能依文件内容判断进度，也无法用 git 还原
"#,
    );
    check(
        &Announcement::NothingProves,
        r#"
no verification is set up (verify.commands, `ralph run --verify 'CMD'`): ticks are the agent's own claims
沒有設定驗證（verify.commands、`ralph run --verify 'CMD'`）：勾選只是代理自己的宣稱
没有设置验证（verify.commands、`ralph run --verify 'CMD'`）：勾选只是代理自己的声称
"#,
    );
    check(
        &Announcement::OnlyWords,
        r#"
nothing can prove that the work is done: the loop will stop when the agent says so; name a check with verify.commands or `ralph run --verify 'CMD'`
沒有任何方法能證明工作已完成：代理宣稱完成時迴圈就會停下；請用 verify.commands 或 `ralph run --verify 'CMD'` 指定檢查
没有任何方法能证明工作已完成：代理声称完成时循环就会停下；请用 verify.commands 或 `ralph run --verify 'CMD'` 指定检查
"#,
    );
    check(
        &Announcement::Changed {
            tasks: true,
            files: true,
            commit: true,
            branch: Some("other".into()),
        },
        r#"
changed since the run stopped: the branch (now other), the task file, the files, the commit
自上次停止後有變更：分支（現為 other）、任務檔案、檔案內容、提交
自上次停止后有变更：分支（现为 other）、任务文件、文件内容、提交
"#,
    );
    check(
        &Announcement::PermissionsKept,
        r#"
the agent's permission questions stay on, and nobody will answer them; --allow-unsafe switches them off
代理的權限確認保持開啟，但無人回答；--allow-unsafe 可關閉
代理的权限确认保持开启，但无人回答；--allow-unsafe 可关闭
"#,
    );
    check(
        &Announcement::OutputLost {
            file: "turn-0001.out".into(),
            message: "no storage space".into(),
        },
        r#"
turn-0001.out: the agent's output could not be kept (no storage space); make room, the run goes on
turn-0001.out：無法保存代理的輸出（no storage space）；請釋出空間，執行會繼續
turn-0001.out：无法保存代理的输出（no storage space）；请释放空间，运行会继续
"#,
    );
    check(
        &Announcement::OrphansEnded { count: 2 },
        r#"
processes that outlived the turn were ended: 2
已終止這一輪留下的行程：2 個
已终止这一轮留下的进程：2 个
"#,
    );
    check(
        &Announcement::Reaped {
            run: "20261115-021030-000b".into(),
            count: 1,
        },
        r#"
run 20261115-021030-000b had died; processes of it that were still at work were ended: 1
執行 20261115-021030-000b 已意外終止；已結束其仍在執行的行程：1 個
运行 20261115-021030-000b 已意外终止；已结束其仍在运行的进程：1 个
"#,
    );
    check(
        &Announcement::Leaked,
        r#"
the agent left a process behind that kept its output open; it was ended
代理留下一個佔用輸出的行程，已將其終止
代理留下一个占用输出的进程，已将其终止
"#,
    );
    check(
        &Announcement::IndexLocked {
            path: ".git/index.lock".into(),
            age: std::time::Duration::from_secs(90),
        },
        r#"
.git/index.lock is 1 min 30 s old: a git that was killed left it, and no other can commit while it is there; if no git is at work here, remove that file yourself
.git/index.lock 已存在 1 分 30 秒：由被終止的 git 遺留，只要它還在就無法提交；若此處沒有 git 正在執行，請自行刪除該檔案
.git/index.lock 已存在 1 分 30 秒：由被终止的 git 遗留，只要它还在就无法提交；若此处没有 git 正在运行，请自行删除该文件
"#,
    );
    check(
        &Announcement::RolesOutside,
        r#"
roles are set up, but one session is one agent: nobody reviews or tests its work here; `ralph run` plays the roles, each as a call of its own
已設定角色，但一個工作階段只有一個代理：此處無人審查或測試；`ralph run` 會以各自獨立的呼叫執行各角色
已设置角色，但一个会话只有一个代理：此处无人审查或测试；`ralph run` 会以各自独立的调用执行各角色
"#,
    );
    check(
        &Announcement::Lingered,
        r#"
the agent had told its result and did not exit; it was ended, and the result counts
代理已回報結果卻未結束，已將其終止，結果仍然有效
代理已报告结果却未退出，已将其终止，结果仍然有效
"#,
    );
    check(
        &Announcement::UnknownVariable {
            name: "{{TAKS}}".into(),
            template: ".ralph/prompt-template.md".into(),
        },
        r#"
.ralph/prompt-template.md: {{TAKS}} is no variable of Ralph's and stays as it is
.ralph/prompt-template.md：{{TAKS}} 不是 Ralph 的變數，保留原樣
.ralph/prompt-template.md：{{TAKS}} 不是 Ralph 的变量，保留原样
"#,
    );
}

/// The lines about what each task waits for come from the list itself.
#[test]
fn tasks_that_wait_for_what_never_comes() {
    let lost = "## 1. Work\n- [ ] 1.1 a | depends: 9.9\n";
    let project = Project::with(&[("tasks.md", lost)]);
    let file =
        crate::look::TaskFile::new(project.root(), project.path("tasks.md"), Default::default());
    let list = file.open().unwrap().list;
    let unpickable = Unpickable {
        file: "tasks.md".into(),
        pick: list.pick(&Default::default()),
    };
    check(
        &PlanError::Unpickable(unpickable),
        r#"
tasks.md: no task can be started: task 1.1 waits for 9.9 (not in this file); finish what they wait for, or correct their `depends`
tasks.md：沒有可以開始的任務：任務 1.1 正在等待「9.9」（檔案中沒有）；請先完成它們等待的項目，或修正 `depends`
tasks.md：没有可以开始的任务：任务 1.1 正在等待“9.9”（文件中没有）；请先完成它们等待的项目，或修正 `depends`
"#,
    );
}
