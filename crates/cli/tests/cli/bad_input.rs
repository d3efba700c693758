//! Bad input: one clear message that names the file or the value and the next
//! step, the right exit code, and nothing lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named, tasks};
use crate::languages::{in_all_languages, redacted};
use crate::live::{latest_run, wait_until};

/// What has to change where nothing was started.
pub const NOTHING: [PathBuf; 0] = [];

/// The command of an agent that leaves a trace where it was called.
fn tracer(env: &TestEnv) -> String {
    format!("touch {}", env.outside("called").display())
}

/// `ralph run` with this agent is refused: one message, nothing started,
/// nothing changed. Gives the message in every language.
fn refused_with(env: &TestEnv, agent: &str, args: &[&str]) -> String {
    let args: Vec<&str> = ["run", "--agent-cmd", agent]
        .iter()
        .chain(args)
        .copied()
        .collect();
    refused(env, &args)
}

fn refused_run(env: &TestEnv, args: &[&str]) -> String {
    refused_with(env, &tracer(env), args)
}

/// The names of what was added, removed or changed since.
pub fn changes(env: &TestEnv, before: &[(PathBuf, Vec<u8>)]) -> Vec<PathBuf> {
    let after = env.snapshot();
    let differs = |entry: &&(PathBuf, Vec<u8>)| !(before.contains(entry) && after.contains(entry));
    let mut names: Vec<PathBuf> = before
        .iter()
        .chain(&after)
        .filter(differs)
        .map(|(path, _)| path.clone())
        .collect();
    names.dedup();
    names
}

fn refused(env: &TestEnv, args: &[&str]) -> String {
    let before = env.snapshot();
    in_all_languages(|lang| {
        let args: Vec<&str> = args.iter().copied().chain(["--lang", lang]).collect();
        let done = env.ralph(&args);
        assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
        assert_eq!(done.stdout, "");
        assert!(!env.outside("called").exists(), "the agent was called");
        assert_eq!(changes(env, &before), NOTHING);
        one_message(&done.stderr);
        redacted(env, &done.stderr)
    })
}

/// Lines that belong to a message are set in below it.
fn one_message(text: &str) {
    let begins = |line: &&str| line.starts_with("ralph: ");
    assert_eq!(text.lines().filter(begins).count(), 1, "{text}");
    for line in text.lines() {
        assert!(
            line.starts_with("ralph: ") || line.starts_with("  "),
            "{text}"
        );
    }
}

#[cfg(unix)]
fn allow(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

// The task file.

#[test]
fn no_task_file_at_all() {
    insta::assert_snapshot!(refused_run(&TestEnv::new(), &[]), @r#"
    --- en
    ralph: [project]: no task file found (looked for specs/*/tasks.md, .specify/*/tasks.md, tasks.md, openspec/changes/*/tasks.md, prd.json, .ralph/fix_plan.md)
      write a tasks.md with lines such as `- [ ] T001 what to do`, name a file with --tasks FILE, or give a prompt: ralph run "…" --verify 'CMD'

    --- zh-TW
    ralph: [project]：找不到任務檔案（已尋找 specs/*/tasks.md、.specify/*/tasks.md、tasks.md、openspec/changes/*/tasks.md、prd.json、.ralph/fix_plan.md）
      請先執行 SDD 流程產生 tasks.md（例如一行 `- [ ] T001 要做的事`），用 --tasks FILE 指定檔案，或直接給提示：ralph run "…" --verify 'CMD'

    --- zh-CN
    ralph: [project]：找不到任务文件（已查找 specs/*/tasks.md、.specify/*/tasks.md、tasks.md、openspec/changes/*/tasks.md、prd.json、.ralph/fix_plan.md）
      请先生成 tasks.md（例如一行 `- [ ] T001 要做的事`），用 --tasks FILE 指定文件，或直接给出提示：ralph run "…" --verify 'CMD'
    "#);
}

#[test]
fn a_missing_task_file() {
    let env = TestEnv::with_tasks(1);
    insta::assert_snapshot!(refused_run(&env, &["--tasks", "nope.md"]), @"
    --- en
    ralph: nope.md: there is no such task file; name one with --tasks FILE, or write one with `- [ ] …` lines

    --- zh-TW
    ralph: nope.md：找不到任務檔案；請用 --tasks FILE 指定，或建立含有 `- [ ] …` 的檔案

    --- zh-CN
    ralph: nope.md：找不到任务文件；请用 --tasks FILE 指定，或创建含有 `- [ ] …` 的文件
    ");
    env.write(".ralph/config.toml", "[tasks]\nfile = \"plan/nope.md\"\n");
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: plan/nope.md: there is no such task file; name one with --tasks FILE, or write one with `- [ ] …` lines

    --- zh-TW
    ralph: plan/nope.md：找不到任務檔案；請用 --tasks FILE 指定，或建立含有 `- [ ] …` 的檔案

    --- zh-CN
    ralph: plan/nope.md：找不到任务文件；请用 --tasks FILE 指定，或创建含有 `- [ ] …` 的文件
    ");
}

#[test]
fn an_empty_task_file() {
    let env = TestEnv::new();
    env.write("tasks.md", "");
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: tasks.md is empty; write a task on a line of its own, such as `- [ ] T001 add a login page`

    --- zh-TW
    ralph: tasks.md 是空的；請寫入任務，一行一個，例如 `- [ ] T001 新增登入頁面`

    --- zh-CN
    ralph: tasks.md 是空的；请写入任务，一行一个，例如 `- [ ] T001 新增登录页面`
    ");
    env.write("tasks.md", "\u{feff} \r\n\t\n");
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: tasks.md is empty; write a task on a line of its own, such as `- [ ] T001 add a login page`

    --- zh-TW
    ralph: tasks.md 是空的；請寫入任務，一行一個，例如 `- [ ] T001 新增登入頁面`

    --- zh-CN
    ralph: tasks.md 是空的；请写入任务，一行一个，例如 `- [ ] T001 新增登录页面`
    ");
}

#[test]
fn a_task_file_without_tasks_is_no_success() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# Tasks\n\n- [P] may run in parallel\n- [Story] the label of a story\n- a bullet\n",
    );
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: tasks.md has no tasks; write each on a line of its own, such as `- [ ] T001 add a login page`

    --- zh-TW
    ralph: tasks.md 沒有任何任務；請一行寫一個，例如 `- [ ] T001 新增登入頁面`

    --- zh-CN
    ralph: tasks.md 没有任何任务；请一行写一个，例如 `- [ ] T001 新增登录页面`
    ");
    fs::remove_file(env.path("tasks.md")).unwrap();
    env.write("prd.json", "{\"userStories\": []}");
    insta::assert_snapshot!(refused_run(&env, &[]), @r#"
    --- en
    ralph: prd.json has no stories; add at least one to "userStories", with "id", "title" and "passes": false

    --- zh-TW
    ralph: prd.json 沒有任何故事；請在 "userStories" 加入至少一個，並寫上 "id"、"title" 與 "passes": false

    --- zh-CN
    ralph: prd.json 没有任何故事；请在 "userStories" 加入至少一个，并写上 "id"、"title" 与 "passes": false
    "#);
}

#[test]
fn a_binary_task_file() {
    let env = TestEnv::new();
    for bytes in [
        &b"\x7fELF\x02\x01\x01\0\0\0- [ ] T001 x\n"[..],
        b"- [ ] T001 caf\xe9\n",
        b"\xff\xfe-\0 \0[\0 \0]\0 \0x\0",
    ] {
        fs::write(env.path("tasks.md"), bytes).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused_run(&env, &[]), @"
            --- en
            ralph: tasks.md is not UTF-8 text, or holds a NUL byte; save it as UTF-8, or name the right file with --tasks

            --- zh-TW
            ralph: tasks.md 不是 UTF-8 文字檔，或含有 NUL 位元組；請存成 UTF-8，或用 --tasks 指定正確的檔案

            --- zh-CN
            ralph: tasks.md 不是 UTF-8 文本文件，或含有 NUL 字节；请存为 UTF-8，或用 --tasks 指定正确的文件
            ");
        }
    }
}

#[test]
fn a_directory_in_the_place_of_the_task_file() {
    let env = TestEnv::new();
    fs::create_dir(env.path("tasks.md")).unwrap();
    for args in [&[][..], &["--tasks", "tasks.md"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused_run(&env, args), @"
            --- en
            ralph: tasks.md is a directory or a device, not a task file; move it away, or name a file with --tasks FILE

            --- zh-TW
            ralph: tasks.md 是目錄或裝置，不是任務檔案；請移開它，或用 --tasks FILE 指定檔案

            --- zh-CN
            ralph: tasks.md 是目录或设备，不是任务文件；请移开它，或用 --tasks FILE 指定文件
            ");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_the_task_file_is_not_waited_for() {
    let env = TestEnv::new();
    let pipe = env.outside("tasks.md");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let message = refused_run(&env, &["--tasks", pipe.to_str().unwrap()]);
    assert!(message.contains("[outside]/tasks.md is a directory or a device"));
}

#[cfg(unix)]
#[test]
#[cfg_attr(not(permissions_bind), ignore = "permissions do not bind root")]
fn a_task_file_that_may_not_be_read() {
    let env = TestEnv::with_tasks(1);
    allow(&env.path("tasks.md"), 0o000);
    let done = env.ralph(&["run", "--agent-cmd", &tracer(&env)]);
    allow(&env.path("tasks.md"), 0o644);
    assert_eq!(done.code, 1);
    one_message(&done.stderr);
    assert!(
        done.stderr
            .starts_with("ralph: tasks.md: can't be read (Permission denied"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_task_file_of_50_mb() {
    let env = TestEnv::new();
    let mut text = tasks(1);
    text.push_str(&"x".repeat(50 * 1024 * 1024 - text.len()));
    env.write("tasks.md", &text);
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: tasks.md is 50 MiB large, and a task file may have 8 MiB; split it, or name the right file with --tasks

    --- zh-TW
    ralph: tasks.md 有 50 MiB，超過任務檔上限 8 MiB；請拆分它，或用 --tasks 指定正確的檔案

    --- zh-CN
    ralph: tasks.md 有 50 MiB，超过任务文件上限 8 MiB；请拆分它，或用 --tasks 指定正确的文件
    ");
}

#[test]
fn a_malformed_prd_json() {
    let env = TestEnv::new();
    env.write(
        "prd.json",
        "{\n  \"project\": \"Shop\",\n  \"userStories\": [\n    {\"id\": \"US-1\",, \"passes\": false}\n  ]\n}\n",
    );
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: prd.json:4:19 is not valid JSON (key must be a string); correct that place and run again

    --- zh-TW
    ralph: prd.json:4:19 不是有效的 JSON（key must be a string）；請修正該處後再執行

    --- zh-CN
    ralph: prd.json:4:19 不是有效的 JSON（key must be a string）；请修正该处后再运行
    ");
    env.write("prd.json", "{\"userStories\": [{\"id\": \"US-1\"");
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: prd.json:1:30 is not valid JSON (EOF while parsing an object); correct that place and run again

    --- zh-TW
    ralph: prd.json:1:30 不是有效的 JSON（EOF while parsing an object）；請修正該處後再執行

    --- zh-CN
    ralph: prd.json:1:30 不是有效的 JSON（EOF while parsing an object）；请修正该处后再运行
    ");
    env.write("prd.json", "{\"stories\": []}");
    insta::assert_snapshot!(refused_run(&env, &[]), @r#"
    --- en
    ralph: prd.json has no list "userStories"; write the stories there, each with "id", "title" and "passes": false

    --- zh-TW
    ralph: prd.json 沒有 "userStories" 清單；請把故事寫在其中，每個都要有 "id"、"title" 與 "passes": false

    --- zh-CN
    ralph: prd.json 没有 "userStories" 列表；请把故事写在其中，每个都要有 "id"、"title" 与 "passes": false
    "#);
    env.write("prd.json", "{\"userStories\": [\n  \"a string\"]}");
    insta::assert_snapshot!(refused_run(&env, &[]), @r#"
    --- en
    ralph: prd.json:2: this entry of "userStories" is not an object; write it as {"id": …, "title": …, "passes": false}

    --- zh-TW
    ralph: prd.json:2："userStories" 的這一項不是物件；請寫成 {"id": …, "title": …, "passes": false}

    --- zh-CN
    ralph: prd.json:2："userStories" 的这一项不是对象；请写成 {"id": …, "title": …, "passes": false}
    "#);
}

#[test]
fn several_task_files_and_nobody_to_ask() {
    let env = TestEnv::new();
    for (name, age) in [("001-old", 7200), ("002-new", 60), ("003-middle", 3600)] {
        let file = format!("specs/{name}/tasks.md");
        env.write(&file, &tasks(1));
        let modified = SystemTime::now() - Duration::from_secs(age);
        let file = fs::File::options()
            .write(true)
            .open(env.path(&file))
            .unwrap();
        file.set_modified(modified).unwrap();
    }
    env.write("specs/004-done/tasks.md", "- [x] T001 Done\n");
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: several unfinished task files, the newest first; say which one with --tasks FILE:
      specs/002-new/tasks.md
      specs/003-middle/tasks.md
      specs/001-old/tasks.md

    --- zh-TW
    ralph: 有多個未完成的任務檔案（最新的在前）；請用 --tasks FILE 指定一個：
      specs/002-new/tasks.md
      specs/003-middle/tasks.md
      specs/001-old/tasks.md

    --- zh-CN
    ralph: 有多个未完成的任务文件（最新的在前）；请用 --tasks FILE 指定一个：
      specs/002-new/tasks.md
      specs/003-middle/tasks.md
      specs/001-old/tasks.md
    ");
    insta::assert_snapshot!(refused(&env, &["tasks"]), @"
    --- en
    ralph: several unfinished task files, the newest first; say which one with --tasks FILE:
      specs/002-new/tasks.md
      specs/003-middle/tasks.md
      specs/001-old/tasks.md

    --- zh-TW
    ralph: 有多個未完成的任務檔案（最新的在前）；請用 --tasks FILE 指定一個：
      specs/002-new/tasks.md
      specs/003-middle/tasks.md
      specs/001-old/tasks.md

    --- zh-CN
    ralph: 有多个未完成的任务文件（最新的在前）；请用 --tasks FILE 指定一个：
      specs/002-new/tasks.md
      specs/003-middle/tasks.md
      specs/001-old/tasks.md
    ");
}

#[test]
fn a_phase_that_is_not_there() {
    let env = TestEnv::with_tasks(1);
    insta::assert_snapshot!(refused_run(&env, &["--phase", "99"]), @"
    --- en
    ralph: tasks.md: there is no phase 99 with tasks; choose one of these with --phase N: 1

    --- zh-TW
    ralph: tasks.md：沒有含任務的 Phase 99；請用 --phase N 選擇其中之一：1

    --- zh-CN
    ralph: tasks.md：没有含任务的 Phase 99；请用 --phase N 选择其中之一：1
    ");
    env.write("tasks.md", "- [ ] Only a list\n");
    insta::assert_snapshot!(refused_run(&env, &["--phase", "99"]), @"
    --- en
    ralph: tasks.md: there is no phase 99, the file has no phases at all; leave --phase out

    --- zh-TW
    ralph: tasks.md：沒有 Phase 99，此檔案完全沒有階段；請省略 --phase

    --- zh-CN
    ralph: tasks.md：没有 Phase 99，此文件完全没有阶段；请省略 --phase
    ");
}

#[test]
fn an_openspec_change_that_is_not_there() {
    let env = TestEnv::new();
    insta::assert_snapshot!(refused_run(&env, &["--openspec", "nope"]), @"
    --- en
    ralph: openspec/changes/nope/tasks.md: there is no such change, and no other in openspec/changes; write this file, or leave --openspec out

    --- zh-TW
    ralph: openspec/changes/nope/tasks.md：沒有這個變更，openspec/changes 中也沒有其他變更；請建立此檔案，或省略 --openspec

    --- zh-CN
    ralph: openspec/changes/nope/tasks.md：没有这个变更，openspec/changes 中也没有其他变更；请创建此文件，或省略 --openspec
    ");
    for id in ["add-pay", "add-search", "archive"] {
        env.write(&format!("openspec/changes/{id}/tasks.md"), "- [ ] 1.1 x\n");
    }
    insta::assert_snapshot!(refused_run(&env, &["--openspec", "nope"]), @"
    --- en
    ralph: openspec/changes/nope/tasks.md: there is no such change; name one of these with --openspec ID: add-pay, add-search

    --- zh-TW
    ralph: openspec/changes/nope/tasks.md：沒有這個變更；請用 --openspec ID 指定其中之一：add-pay, add-search

    --- zh-CN
    ralph: openspec/changes/nope/tasks.md：没有这个变更；请用 --openspec ID 指定其中之一：add-pay, add-search
    ");
    for id in ["", ".", "..", "../changes/add-pay", "archive", "/etc"] {
        let message = refused_run(&env, &["--openspec", id]);
        assert!(message.contains("add-pay, add-search"), "{id}: {message}");
    }
}

#[test]
fn tasks_that_wait_for_each_other() {
    let env = TestEnv::new();
    env.write(
        "openspec/changes/pay/tasks.md",
        "## 1. Pay\n\n- [ ] 1.1 a | depends: 1.2\n- [ ] 1.2 b | depends: 1.1\n",
    );
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: openspec/changes/pay/tasks.md: these wait for each other: 1.1 → 1.2 → 1.1; take one of the dependencies out

    --- zh-TW
    ralph: openspec/changes/pay/tasks.md：這些項目互相等待：1.1 → 1.2 → 1.1；請移除其中一個依賴

    --- zh-CN
    ralph: openspec/changes/pay/tasks.md：这些项目互相等待：1.1 → 1.2 → 1.1；请移除其中一个依赖
    ");
    env.write(
        "openspec/changes/pay/tasks.md",
        "## 1. Pay\n\n- [ ] 1.1 a | depends: 9.9\n",
    );
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: openspec/changes/pay/tasks.md: no task can be started: task 1.1 waits for 9.9 (not in this file); finish what they wait for, or correct their `depends`

    --- zh-TW
    ralph: openspec/changes/pay/tasks.md：沒有可以開始的任務：任務 1.1 正在等待「9.9」（檔案中沒有）；請先完成它們等待的項目，或修正 `depends`

    --- zh-CN
    ralph: openspec/changes/pay/tasks.md：没有可以开始的任务：任务 1.1 正在等待“9.9”（文件中没有）；请先完成它们等待的项目，或修正 `depends`
    ");
}

// The configuration.

#[test]
fn a_config_file_with_a_mistake() {
    let env = TestEnv::with_tasks(1);
    let config = |text: &str| {
        env.write(".ralph/config.toml", text);
        refused_run(&env, &[])
    };
    insta::assert_snapshot!(config("[limits]\nmax_iteration = 3\n"), @r#"
    --- en
    ralph: .ralph/config.toml line 2: there is no setting "limits.max_iteration". Did you mean "limits.max_iterations"? Correct or remove it; "ralph config reference" lists all settings.

    --- zh-TW
    ralph: .ralph/config.toml 第 2 行：沒有「limits.max_iteration」這個設定。是不是「limits.max_iterations」？請改正或移除；「ralph config reference」列出所有設定。

    --- zh-CN
    ralph: .ralph/config.toml 第 2 行：没有“limits.max_iteration”这个设置。是不是“limits.max_iterations”？请改正或删除；“ralph config reference”列出所有设置。
    "#);
    insta::assert_snapshot!(config("[limits]\nmax_iterations = \"many\"\n"), @r#"
    --- en
    ralph: .ralph/config.toml line 2: "limits.max_iterations" is the text "many". Write a whole number, 0 or more.

    --- zh-TW
    ralph: .ralph/config.toml 第 2 行：「limits.max_iterations」是文字 "many"。請寫整數，至少 0。

    --- zh-CN
    ralph: .ralph/config.toml 第 2 行：“limits.max_iterations”是文本 "many"。请写整数，至少 0。
    "#);
    insta::assert_snapshot!(config("[limits]\nmax_duration = 30\n"), @r#"
    --- en
    ralph: .ralph/config.toml line 2: "limits.max_duration" is the number 30. Write a duration with a unit, such as "90s", "30m" or "12h" ("0" is off).

    --- zh-TW
    ralph: .ralph/config.toml 第 2 行：「limits.max_duration」是數字 30。請寫帶單位的時間長度，例如 "90s"、"30m" 或 "12h"（"0" 表示關閉）。

    --- zh-CN
    ralph: .ralph/config.toml 第 2 行：“limits.max_duration”是数字 30。请写带单位的时长，例如 "90s"、"30m" 或 "12h"（"0" 表示关闭）。
    "#);
    insta::assert_snapshot!(config("limits = 3\n"), @r#"
    --- en
    ralph: .ralph/config.toml line 1: "limits" is a section, not a setting. Write [limits] on a line of its own and its settings below.

    --- zh-TW
    ralph: .ralph/config.toml 第 1 行：「limits」是區段，不是設定。請單獨一行寫 [limits]，設定寫在它下面。

    --- zh-CN
    ralph: .ralph/config.toml 第 1 行：“limits”是小节，不是设置。请单独一行写 [limits]，设置写在它下面。
    "#);
    insta::assert_snapshot!(config("preset = \"spec\"\n"), @r#"
    --- en
    ralph: .ralph/config.toml line 1: "preset" is the text "spec". Write one of "openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta".

    --- zh-TW
    ralph: .ralph/config.toml 第 1 行：「preset」是文字 "spec"。請寫下列之一："openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"。

    --- zh-CN
    ralph: .ralph/config.toml 第 1 行：“preset”是文本 "spec"。请写以下之一："openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"。
    "#);
    insta::assert_snapshot!(config("[limits]\nmax_iterations = \n"), @r#"
    --- en
    ralph: .ralph/config.toml line 2, column 18: this is not valid TOML: string values must be quoted, expected literal string. Correct it, then run "ralph config check".

    --- zh-TW
    ralph: .ralph/config.toml 第 2 行第 18 欄：不是有效的 TOML：string values must be quoted, expected literal string。請修正後執行「ralph config check」。

    --- zh-CN
    ralph: .ralph/config.toml 第 2 行第 18 列：不是有效的 TOML：string values must be quoted, expected literal string。请改正后运行“ralph config check”。
    "#);
}

#[test]
fn a_config_file_that_cannot_be_read_is_not_taken_for_missing() {
    let env = TestEnv::with_tasks(1);
    fs::create_dir_all(env.path(".ralph/config.toml")).unwrap();
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: .ralph/config.toml is there and can't be read: Is a directory (os error 21). Make it a readable file of UTF-8 text, or remove it.

    --- zh-TW
    ralph: .ralph/config.toml 存在但無法讀取：Is a directory (os error 21)。請讓它成為可讀取的 UTF-8 文字檔，或移除它。

    --- zh-CN
    ralph: .ralph/config.toml 存在但无法读取：Is a directory (os error 21)。请让它成为可读取的 UTF-8 文本文件，或删除它。
    ");
    fs::remove_dir(env.path(".ralph/config.toml")).unwrap();
    fs::write(env.path(".ralph/config.toml"), b"lang = \"\xff\"\n").unwrap();
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: .ralph/config.toml is there and can't be read: stream did not contain valid UTF-8. Make it a readable file of UTF-8 text, or remove it.

    --- zh-TW
    ralph: .ralph/config.toml 存在但無法讀取：stream did not contain valid UTF-8。請讓它成為可讀取的 UTF-8 文字檔，或移除它。

    --- zh-CN
    ralph: .ralph/config.toml 存在但无法读取：stream did not contain valid UTF-8。请让它成为可读取的 UTF-8 文本文件，或删除它。
    ");
}

#[test]
fn limits_that_never_end_a_run() {
    let env = TestEnv::with_tasks(1);
    let limits = [
        "MAX_ITERATIONS", "MAX_DURATION", "MAX_DISPATCHES", "STALLED", "MISSING_PROMISE",
        "SAME_ERROR", "FALSE_PROMISE", "CONSECUTIVE_ERRORS",
    ];
    let before = env.snapshot();
    let run = |on: &[(&str, &str)], lang: &str| {
        let agent = tracer(&env);
        let mut command = env.command(&["run", "--agent-cmd", &agent, "--lang", lang]);
        for name in limits {
            command.env(format!("RALPH_LIMITS_{name}"), "0");
        }
        for (name, value) in on {
            command.env(format!("RALPH_LIMITS_{name}"), value);
        }
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, 1, "{on:?}: {}{}", done.stdout, done.stderr);
        one_message(&done.stderr);
        assert!(!env.outside("called").exists());
        assert_eq!(changes(&env, &before), NOTHING);
        done.stderr
    };
    insta::assert_snapshot!(in_all_languages(|lang| run(&[], lang)), @r#"
    --- en
    ralph: environment variable RALPH_LIMITS_MAX_ITERATIONS: "limits.max_iterations" is 0 (unlimited) and no other limit is on. Set max_iterations, or one of limits.max_duration (such as "12h"), limits.stalled, limits.missing_promise, limits.consecutive_errors, budget.max_cost.

    --- zh-TW
    ralph: 環境變數 RALPH_LIMITS_MAX_ITERATIONS：「limits.max_iterations」為 0（不限），且沒有其他限制。請設定 max_iterations，或下列之一：limits.max_duration（例如 "12h"）、limits.stalled、limits.missing_promise、limits.consecutive_errors、budget.max_cost。

    --- zh-CN
    ralph: 环境变量 RALPH_LIMITS_MAX_ITERATIONS：“limits.max_iterations”为 0（不限），且没有其他限制。请设置 max_iterations，或以下之一：limits.max_duration（例如 "12h"）、limits.stalled、limits.missing_promise、limits.consecutive_errors、budget.max_cost。
    "#);
    // Nothing dispatches, and nobody lies or fails for ever: these alone end
    // no run.
    run(&[("MAX_DISPATCHES", "100")], "en");
    run(&[("FALSE_PROMISE", "5")], "en");
    run(&[("SAME_ERROR", "5")], "en");
}

// The agent and the prompt.

#[test]
fn a_template_that_does_not_exist() {
    let env = TestEnv::with_tasks(1);
    insta::assert_snapshot!(refused_run(&env, &["--prompt-template", "nope.md"]), @"
    --- en
    ralph: [project]/nope.md: there is no such prompt template; correct --prompt-template, or leave it out to use the built-in one

    --- zh-TW
    ralph: [project]/nope.md：找不到提示模板；請修正 --prompt-template，或省略以使用內建模板

    --- zh-CN
    ralph: [project]/nope.md：找不到提示模板；请修正 --prompt-template，或省略以使用内置模板
    ");
    insta::assert_snapshot!(refused_run(&env, &["--prompt-template", "."]), @"
    --- en
    ralph: [project]: the prompt template can't be read (Is a directory (os error 21)); make it a readable file of UTF-8 text, or move it away to use the built-in one

    --- zh-TW
    ralph: [project]：無法讀取提示模板（Is a directory (os error 21)）；請讓它成為可讀取的 UTF-8 文字檔，或移開它以使用內建模板

    --- zh-CN
    ralph: [project]：无法读取提示模板（Is a directory (os error 21)）；请让它成为可读取的 UTF-8 文本文件，或移开它以使用内置模板
    ");
    fs::create_dir_all(env.path(".ralph")).unwrap();
    fs::write(env.path(".ralph/prompt-template.md"), b"\xff\xfe").unwrap();
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: [project]/.ralph/prompt-template.md: the prompt template can't be read (stream did not contain valid UTF-8); make it a readable file of UTF-8 text, or move it away to use the built-in one

    --- zh-TW
    ralph: [project]/.ralph/prompt-template.md：無法讀取提示模板（stream did not contain valid UTF-8）；請讓它成為可讀取的 UTF-8 文字檔，或移開它以使用內建模板

    --- zh-CN
    ralph: [project]/.ralph/prompt-template.md：无法读取提示模板（stream did not contain valid UTF-8）；请让它成为可读取的 UTF-8 文本文件，或移开它以使用内置模板
    ");
}

#[test]
fn an_agent_that_cannot_be_found() {
    let env = TestEnv::with_tasks(1);
    insta::assert_snapshot!(refused_with(&env, "no-such-agent --yes", &[]), @"
    --- en
    ralph: no-such-agent: command not found; install it, correct its path, or choose another agent with --agent or --agent-cmd

    --- zh-TW
    ralph: no-such-agent：找不到命令；請安裝、修正路徑，或用 --agent、--agent-cmd 選擇其他代理

    --- zh-CN
    ralph: no-such-agent：找不到命令；请安装、修正路径，或用 --agent、--agent-cmd 选择其他代理
    ");
    insta::assert_snapshot!(refused_with(&env, "./bin/agent {prompt_file}", &[]), @"
    --- en
    ralph: ./bin/agent: command not found; install it, correct its path, or choose another agent with --agent or --agent-cmd

    --- zh-TW
    ralph: ./bin/agent：找不到命令；請安裝、修正路徑，或用 --agent、--agent-cmd 選擇其他代理

    --- zh-CN
    ralph: ./bin/agent：找不到命令；请安装、修正路径，或用 --agent、--agent-cmd 选择其他代理
    ");
    env.write("bin/agent", "#!/bin/sh\n");
    insta::assert_snapshot!(refused_with(&env, "./bin/agent {prompt_file}", &[]), @"
    --- en
    ralph: [project]/bin/agent is there, but can't be run; make it executable with `chmod +x [project]/bin/agent`, or choose another agent with --agent or --agent-cmd

    --- zh-TW
    ralph: [project]/bin/agent 存在但無法執行；請用 `chmod +x [project]/bin/agent` 開放執行，或用 --agent、--agent-cmd 選擇其他代理

    --- zh-CN
    ralph: [project]/bin/agent 存在但无法运行；请用 `chmod +x [project]/bin/agent` 开放执行，或用 --agent、--agent-cmd 选择其他代理
    ");
}

#[test]
fn an_agent_command_that_cannot_be_split() {
    let env = TestEnv::with_tasks(1);
    insta::assert_snapshot!(refused_with(&env, "sh -c 'echo hi", &[]), @"
    --- en
    ralph: the agent's command can't be read: the quote ' is never closed; correct --agent-cmd or agent.command:
      sh -c 'echo hi

    --- zh-TW
    ralph: 無法解析代理命令：引號 ' 沒有結尾；請修正 --agent-cmd 或 agent.command：
      sh -c 'echo hi

    --- zh-CN
    ralph: 无法解析代理命令：引号 ' 没有结尾；请修正 --agent-cmd 或 agent.command：
      sh -c 'echo hi
    ");
    insta::assert_snapshot!(refused_with(&env, "sh \\", &[]), @r#"
    --- en
    ralph: the agent's command can't be read: it ends with a backslash; correct --agent-cmd or agent.command:
      sh \

    --- zh-TW
    ralph: 無法解析代理命令：命令以反斜線結尾；請修正 --agent-cmd 或 agent.command：
      sh \

    --- zh-CN
    ralph: 无法解析代理命令：命令以反斜杠结尾；请修正 --agent-cmd 或 agent.command：
      sh \
    "#);
    insta::assert_snapshot!(refused_with(&env, "  ", &[]), @"
    --- en
    ralph: the custom agent has no command; give one with --agent-cmd 'prog {prompt_file}' or agent.command

    --- zh-TW
    ralph: 自訂代理沒有命令；請用 --agent-cmd 'prog {prompt_file}' 或 agent.command 指定

    --- zh-CN
    ralph: 自定义代理没有命令；请用 --agent-cmd 'prog {prompt_file}' 或 agent.command 指定
    ");
}

#[test]
fn unknown_names() {
    let env = TestEnv::with_tasks(1);
    insta::assert_snapshot!(refused(&env, &["run", "--agent", "gpt9"]), @r#"
    --- en
    ralph: agent "gpt9" is not known; choose one of claude, codex, gemini, opencode, copilot, cursor, amp, custom, or run any program with --agent-cmd 'prog {prompt_file}'

    --- zh-TW
    ralph: 不認識代理「gpt9」；請選擇 claude, codex, gemini, opencode, copilot, cursor, amp, custom，或用 --agent-cmd 'prog {prompt_file}' 執行任何程式

    --- zh-CN
    ralph: 不认识代理“gpt9”；请选择 claude, codex, gemini, opencode, copilot, cursor, amp, custom，或用 --agent-cmd 'prog {prompt_file}' 运行任何程序
    "#);
    insta::assert_snapshot!(refused_run(&env, &["--preset", "openspecs"]), @r#"
    --- en
    ralph: flag --preset: "preset" is the text "openspecs". Did you mean "openspec"? Write one of "openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta".

    --- zh-TW
    ralph: 選項 --preset：「preset」是文字 "openspecs"。是不是「openspec」？請寫下列之一："openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"。

    --- zh-CN
    ralph: 选项 --preset：“preset”是文本 "openspecs"。是不是“openspec”？请写以下之一："openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"。
    "#);
    insta::assert_snapshot!(refused_run(&env, &["--max-duration", "soon"]), @r#"
    --- en
    ralph: flag --max-duration: "limits.max_duration" is the text "soon". Write a duration with a unit, such as "90s", "30m" or "12h" ("0" is off).

    --- zh-TW
    ralph: 選項 --max-duration：「limits.max_duration」是文字 "soon"。請寫帶單位的時間長度，例如 "90s"、"30m" 或 "12h"（"0" 表示關閉）。

    --- zh-CN
    ralph: 选项 --max-duration：“limits.max_duration”是文本 "soon"。请写带单位的时长，例如 "90s"、"30m" 或 "12h"（"0" 表示关闭）。
    "#);
}

#[test]
fn an_empty_prompt() {
    let env = TestEnv::new();
    insta::assert_snapshot!(refused_run(&env, &["  "]), @r#"
    --- en
    ralph: nothing to do: give a prompt (ralph run "…") or a task file (--tasks FILE)

    --- zh-TW
    ralph: 沒有要做的事：請給提示（ralph run "…"）或任務檔案（--tasks FILE）

    --- zh-CN
    ralph: 没有要做的事：请给出提示（ralph run "…"）或任务文件（--tasks FILE）
    "#);
}

#[test]
fn nothing_to_do_rout_01() {
    let env = TestEnv::new();
    insta::assert_snapshot!(refused(&env, &["do", "  "]), @r#"
    --- en
    ralph: nothing to do: say what (ralph do "…")

    --- zh-TW
    ralph: 沒有要做的事：請說明（ralph do "…"）

    --- zh-CN
    ralph: 没有要做的事：请说明（ralph do "…"）
    "#);
}

// The place.

#[test]
fn a_root_that_is_not_there() {
    let env = TestEnv::new();
    for args in [
        &["tasks"][..],
        &["status"],
        &["run", "x"],
        &["config", "check"],
    ] {
        let args: Vec<&str> = ["--root", "nowhere"].iter().chain(args).copied().collect();
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused(&env, &args), @"
            --- en
            ralph: [project]/nowhere: there is no such directory; correct --root

            --- zh-TW
            ralph: [project]/nowhere：沒有這個目錄；請修正 --root

            --- zh-CN
            ralph: [project]/nowhere：没有这个目录；请修正 --root
            ");
        }
    }
}

#[test]
fn no_git_project_works_and_is_told() {
    let env = TestEnv::bare();
    env.write("tasks.md", &tasks(1));
    let agent = env.agent(&[json!({
        "write": {"a.txt": "1"}, "tick": ["T001"], "say": "<promise>COMPLETE</promise>"
    })]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    let shown = redacted(&env, &done.stdout);
    assert!(
        shown.contains("[project] is not a Git project: progress is judged by the files alone"),
        "{shown}"
    );
    assert!(shown.contains("new content"), "{shown}");
    assert_eq!(env.read("a.txt"), "1");
}

#[test]
fn a_file_in_the_place_of_the_run_directory() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph", "mine");
    insta::assert_snapshot!(refused_run(&env, &[]), @"
    --- en
    ralph: could not create [project]/.ralph: a file stands where a directory is needed; move the file away, then start again

    --- zh-TW
    ralph: 無法建立 [project]/.ralph：需要目錄的位置上有一個檔案；請先移開該檔案，再重新開始

    --- zh-CN
    ralph: 无法创建 [project]/.ralph：需要目录的位置上有一个文件；请先移开该文件，再重新开始
    ");
    fs::remove_file(env.path(".ralph")).unwrap();
    fs::remove_dir_all(env.state("runs")).unwrap();
    env.write(&env.state_name("runs"), "mine");
    let state = redacted(&env, &env.state_name("runs"));
    let refused = refused_run(&env, &[]).replace(&state, "[state]/runs");
    insta::assert_snapshot!(refused, @"
    --- en
    ralph: could not create [state]/runs: a file stands where a directory is needed; move the file away, then start again

    --- zh-TW
    ralph: 無法建立 [state]/runs：需要目錄的位置上有一個檔案；請先移開該檔案，再重新開始

    --- zh-CN
    ralph: 无法创建 [state]/runs：需要目录的位置上有一个文件；请先移开该文件，再重新开始
    ");
}

#[test]
fn a_directory_in_the_place_of_a_file_of_the_run() {
    for name in ["lock", "status.json", "ralph.log"] {
        let env = TestEnv::with_tasks(1);
        let path = match name {
            "lock" => env.state(name),
            name => env.path(".ralph").join(name),
        };
        fs::create_dir_all(&path).unwrap();
        let done = env.ralph(&["run", "--agent-cmd", &tracer(&env), "--quiet"]);
        assert_eq!(done.code, 1, "{name}: {}", done.stdout);
        one_message(&done.stderr);
        let wanted = format!(
            "{}: a directory stands where a file is needed; move it away, then start again",
            path.display()
        );
        let said = &done.stderr;
        assert!(said.trim_end().ends_with(&wanted), "{said}");
        assert!(
            !env.outside("called").exists(),
            "{name}: the agent was called"
        );
    }
}

#[cfg(unix)]
#[test]
#[cfg_attr(not(permissions_bind), ignore = "permissions do not bind root")]
fn a_directory_that_may_not_be_written() {
    let env = TestEnv::with_tasks(1);
    allow(&env.root, 0o555);
    let message = refused_run(&env, &[]);
    allow(&env.root, 0o755);
    assert!(
        message.contains(
            "permission denied: could not create [project]/.ralph; look at `ls -ld [project]`"
        ),
        "{message}"
    );
}

// While the loop runs.

/// A list with one task done, and something that is nobody's business.
fn at_work() -> TestEnv {
    let env = TestEnv::new();
    env.write("tasks.md", LIST);
    env.write("precious.txt", "kept");
    env
}

const LIST: &str =
    "# Tasks\n\n## Phase 1: Work\n\n- [x] T001 One\n- [ ] T002 Two\n- [ ] T003 Three\n";

/// Everything else is as it was.
fn nothing_lost(env: &TestEnv, wanted_list: Option<&str>) {
    assert_eq!(env.read("precious.txt"), "kept");
    let list = fs::read_to_string(env.path("tasks.md")).ok();
    assert_eq!(
        list.as_deref(),
        wanted_list,
        "the list is the agent's alone"
    );
}

fn ids(event: &Value, key: &str) -> Vec<String> {
    let ids = event[key].as_array().unwrap();
    ids.iter()
        .map(|id| id.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_task_file_that_shrinks() {
    let env = at_work();
    let short = "# Tasks\n\n## Phase 1: Work\n\n- [x] T001 One\n";
    let turns = [
        json!({"write": {"tasks.md": short}, "say": "<promise>COMPLETE</promise>"}),
        json!({"say": "<promise>COMPLETE</promise>"}),
        json!({"say": "<promise>BLOCKED: enough</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    // What is gone is not done, and stays in the count.
    let end = &events.last().unwrap()["tasks"];
    let total = end["total"].as_u64().unwrap();
    assert!(total > end["completed"].as_u64().unwrap(), "{end}");
    let removed = named(&events, "tasks_removed");
    assert_eq!(removed.len(), 1);
    assert_eq!(ids(removed[0], "tasks"), ["T002", "T003"]);
    let rejected = named(&events, "promise_rejected");
    assert_eq!(rejected.len(), 2, "a shorter list proves nothing");
    assert_eq!(
        rejected[1]["missing"],
        json!([
            "open tasks (2): T002 Two; T003 Three",
            "tasks removed from the task file, or with other words: 2"
        ])
    );
    assert_eq!(
        named(&events, "iteration_complete")[0]["progress"],
        json!([])
    );
    nothing_lost(&env, Some(short));
}

#[test]
fn a_task_file_that_shrinks_and_comes_back() {
    let env = at_work();
    let whole = LIST.replace("[ ]", "[x]");
    let turns = [
        json!({"write": {"tasks.md": "- [x] T001 One\n"}, "say": "<promise>COMPLETE</promise>"}),
        json!({"write": {"tasks.md": whole}, "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "promise_rejected").len(), 1);
    nothing_lost(&env, Some(&whole));
}

#[test]
fn a_task_file_that_is_unticked() {
    let env = at_work();
    let open = LIST.replace("[x]", "[ ]");
    let turns = [
        json!({"write": {"tasks.md": open}, "say": "<promise>CONTINUE</promise>"}),
        json!({"write": {"tasks.md": LIST}, "say": "<promise>CONTINUE</promise>"}),
        json!({"say": "<promise>BLOCKED: enough</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    let unticked = named(&events, "tasks_unticked");
    assert_eq!(unticked.len(), 1);
    assert_eq!(ids(unticked[0], "tasks"), ["T001"]);
    for turn in named(&events, "iteration_complete") {
        assert_eq!(turn["progress"], json!([]), "ticking again is no progress");
    }
    nothing_lost(&env, Some(LIST));
}

#[test]
fn a_task_file_that_disappears_or_becomes_garbage() {
    let cases: [(&str, Value, &str, Option<&str>); 4] = [
        (
            "gone",
            json!({"remove": ["tasks.md"]}),
            "tasks.md: there is no such task file; name one with --tasks FILE, or write one with `- [ ] …` lines",
            None,
        ),
        (
            "binary",
            json!({"write": {"tasks.md": "\u{0}\u{1}"}}),
            "tasks.md is not UTF-8 text, or holds a NUL byte; save it as UTF-8, or name the right file with --tasks",
            Some("\u{0}\u{1}"),
        ),
        (
            "empty",
            json!({"write": {"tasks.md": ""}}),
            "tasks.md is empty; write a task on a line of its own, such as `- [ ] T001 add a login page`",
            Some(""),
        ),
        (
            "prose",
            json!({"write": {"tasks.md": "All done, trust me.\n"}}),
            "tasks.md has no tasks; write each on a line of its own, such as `- [ ] T001 add a login page`",
            Some("All done, trust me.\n"),
        ),
    ];
    for (name, mut turn, message, left) in cases {
        let env = at_work();
        turn["say"] = json!("<promise>COMPLETE</promise>");
        let claim = json!({"say": "<promise>COMPLETE</promise>"});
        let (done, events) = env.run_script(&[turn, claim.clone(), claim], &[]);
        assert_eq!(done.code, 6, "{name}: {}{}", done.stdout, done.stderr);
        let errors = named(&events, "error");
        assert_eq!(errors.len(), 3, "{name}");
        for error in errors {
            assert_eq!(error["message"], message, "{name}");
        }
        assert_eq!(named(&events, "task_complete").len(), 0, "{name}");
        assert_eq!(events.last().unwrap()["outcome"], "errors", "{name}");
        nothing_lost(&env, left);
    }
}

#[test]
fn a_task_file_that_disappears_and_comes_back() {
    let env = at_work();
    let all = LIST.replace("[ ]", "[x]");
    let turns = [
        json!({"remove": ["tasks.md"], "say": "<promise>COMPLETE</promise>"}),
        json!({"write": {"tasks.md": all}, "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "error").len(), 1);
    nothing_lost(&env, Some(&all));
}

/// ERRC-04, ERRC-06: a client that updates itself costs no turn and is no
/// error.
#[cfg(unix)]
#[test]
fn an_agent_that_is_gone_for_a_moment_is_started_again() {
    let env = at_work();
    let agent = env.outside("agent");
    let script = "#!/bin/sh\ncat >/dev/null\nif [ -e made.txt ]; then\n\
                  sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>COMPLETE</promise>'; exit\nfi\n\
                  rm \"$0\"\necho new >made.txt\necho '<promise>CONTINUE</promise>'\n";
    let put = |path: &std::path::Path| {
        fs::write(path, script).unwrap();
        allow(path, 0o755);
    };
    put(&agent);
    let command = agent.to_str().unwrap().to_owned();
    let done = std::thread::scope(|scope| {
        let mut run = env.command(&["run", "--agent-cmd", &command, "--json"]);
        run.env("RALPH_AGENT_RETRY_INITIAL", "2s");
        let run = scope.spawn(move || Done::of(&run.output().unwrap()));
        wait_until("it tries to start what is gone", || {
            !agent.exists() && env.state("runs").exists() && {
                let run = latest_run(&env).join("execution.log.jsonl");
                fs::read_to_string(run)
                    .unwrap_or_default()
                    .contains("backoff")
            }
        });
        put(&agent);
        run.join().unwrap()
    });
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let events = done.events();
    assert_eq!(named(&events, "error").len(), 0);
    let retry = named(&events, "iteration_retry");
    assert_eq!(retry[0]["reason"], "agent_missing");
    assert_eq!(retry[0]["iteration"], 2);
    assert_eq!(named(&events, "loop_end")[0]["iterations"], 2);
}

#[cfg(unix)]
#[test]
fn an_agent_that_disappears() {
    let shown = in_all_languages(|lang| {
        let env = at_work();
        let agent = env.outside("agent");
        let script = "#!/bin/sh\ncat >/dev/null\nrm \"$0\"\necho new >made.txt\n\
                      echo '<promise>CONTINUE</promise>'\n";
        fs::write(&agent, script).unwrap();
        allow(&agent, 0o755);
        let agent = agent.to_str().unwrap();
        let done = env.ralph(&["run", "--agent-cmd", agent, "--quiet", "--lang", lang]);
        assert_eq!(done.code, 6, "{}{}", done.stdout, done.stderr);
        assert_eq!(env.read("made.txt"), "new\n", "its work stays");
        nothing_lost(&env, Some(LIST));
        redacted(&env, &done.stdout)
    });
    insta::assert_snapshot!(shown, @"
    --- en
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop stopped by errors                   ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 3 errors in a row
    📊 Progress: 1/3 tasks done

    Errors:
    1. Agent not found: command not found: [outside]/agent
    2. Agent not found: command not found: [outside]/agent
    3. Agent not found: command not found: [outside]/agent

    What you can do:
    - find the cause and repair it (`ralph report` shows the run)
    - try again with `ralph resume`

    👉 Next: ralph resume  (tries again, the error count starts at 0)

    --- zh-TW
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 錯誤中斷                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 連續發生 3 次錯誤
    📊 當前進度: 1/3 任務完成

    錯誤詳情：
    1. 找不到 Agent: 找不到命令: [outside]/agent
    2. 找不到 Agent: 找不到命令: [outside]/agent
    3. 找不到 Agent: 找不到命令: [outside]/agent

    建議操作：
    - 檢查錯誤原因並修復（`ralph report` 顯示執行過程）
    - 使用 `ralph resume` 重新嘗試

    👉 下一步: ralph resume  (重新嘗試，錯誤計數歸零)

    --- zh-CN
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 错误中断                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 连续发生 3 次错误
    📊 当前进度: 1/3 任务完成

    错误详情：
    1. 找不到 Agent: 找不到命令: [outside]/agent
    2. 找不到 Agent: 找不到命令: [outside]/agent
    3. 找不到 Agent: 找不到命令: [outside]/agent

    建议操作：
    - 检查错误原因并修复（`ralph report` 显示运行过程）
    - 使用 `ralph resume` 重新尝试

    👉 下一步: ralph resume  (重新尝试，错误计数归零)
    ");
}

/// A run that waits until it is let go, and is ended with the test.
struct Waiting {
    child: Child,
}

impl Waiting {
    fn start(env: &TestEnv) -> Waiting {
        let agent = env.outside("waiting.sh");
        let release = env.outside("release");
        let script = format!(
            "while [ ! -e '{}' ]; do sleep 0.02; done; echo '<promise>BLOCKED: let go</promise>'\n",
            release.display()
        );
        fs::write(&agent, script).unwrap();
        let agent = format!("sh {}", agent.display());
        let child = env
            .command(&["run", "--quiet", "--agent-cmd", &agent])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let waiting = Waiting { child };
        let started = Instant::now();
        // The prompt of the first turn is written after the lock was taken.
        while !has_first_prompt(env) {
            assert!(started.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(5));
        }
        waiting
    }

    fn end(mut self, env: &TestEnv) -> Option<i32> {
        fs::write(env.outside("release"), "").unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn has_first_prompt(env: &TestEnv) -> bool {
    let runs = fs::read_dir(env.state("runs"));
    let mut runs = runs.into_iter().flatten().flatten();
    runs.any(|run| run.path().join("turn-0001.out").exists())
}

#[cfg(unix)]
#[test]
fn another_run_at_work() {
    let env = TestEnv::with_tasks(1);
    let first = Waiting::start(&env);
    let pid = first.child.id().to_string();
    let message = refused_run(&env, &[]).replace(&pid, "[pid]");
    let code = first.end(&env);
    assert_eq!(code, Some(4), "the first run is not disturbed");
    insta::assert_snapshot!(message, @"
    --- en
    ralph: another loop is at work in this project: run [run], process [pid], since [time]; watch it with `ralph status` or `ralph logs -f`, stop it with `ralph stop`

    --- zh-TW
    ralph: 此專案已有另一個迴圈在執行：[run]，行程 [pid]，自 [time] 起；可用 `ralph status` 或 `ralph logs -f` 觀看，用 `ralph stop` 停止

    --- zh-CN
    ralph: 此项目已有另一个循环在运行：[run]，进程 [pid]，自 [time] 起；可用 `ralph status` 或 `ralph logs -f` 查看，用 `ralph stop` 停止
    ");
    // It is free again.
    let done = env.ralph(&["run", "--agent-cmd", "true", "--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
}
