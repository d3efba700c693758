//! What `--dry-run` shows, and what it leaves alone (LOOP-08).

use serde_json::{Value, json};

use crate::bad_input::{NOTHING, changes};
use crate::env::{Done, TestEnv};
use crate::languages::{in_all_languages, redacted};
use crate::live::latest_run;

/// A project with a spec-kit list, an OpenSpec change and an agent that would
/// leave a trace.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# Tasks\n\n## Phase 1: Basket\n\n- [x] T001 Make the basket\n- [ ] T002 Fill it\n\n\
         ## Phase 2: Checkout\n\n- [ ] T003 Pay\n",
    );
    env.write(
        "openspec/changes/add-pay/tasks.md",
        "## 1. Cards\n\n- [x] 1.1 Take a card\n- [ ] 1.2 Charge it\n",
    );
    env
}

/// The prompt itself is the matter of other tests.
fn without_prompt(shown: &str) -> String {
    let lines = shown.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("  │")).collect()
}

/// Runs `ralph run --dry-run` with these arguments; nothing may change and
/// nobody may be called.
fn dry(env: &TestEnv, args: &[&str]) -> String {
    let called = env.outside("called");
    let agent = format!("touch {} {{prompt_file}}", called.display());
    let all: Vec<&str> = ["run", "--dry-run", "--agent-cmd", &agent]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let before = env.snapshot();
    let done = env.ralph(&all);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
    assert!(!called.exists(), "the agent was called");
    assert!(!env.path(".ralph").exists(), "{args:?}");
    assert_eq!(changes(env, &before), NOTHING, "{args:?}");
    without_prompt(&redacted(env, &done.stdout))
}

#[test]
fn a_task_list() {
    let env = project();
    let shown = in_all_languages(|lang| dry(&env, &["--lang", lang]));
    insta::assert_snapshot!(shown, @"
    --- en
    Configuration:
      project: [project]
      iterations: at most 50
      template: built in
      verification: none
      no verification is set up (verify.commands, `ralph run --verify 'CMD'`): ticks are the agent's own claims

    Tasks:
      tasks.md (spec-kit)
      1/3 done, 2 to do
      Phase 1

    Command that would run:
      touch [outside]/called {prompt_file}

    Prompt of the first turn:

    Hooks (safety guard):
      not installed

    --- zh-TW
    配置:
      專案: [project]
      最大迭代次數: 50
      模板: 內建
      驗證: 無
      沒有設定驗證（verify.commands、`ralph run --verify 'CMD'`）：勾選只是代理自己的宣稱

    任務狀態:
      tasks.md (spec-kit)
      1/3 完成，剩餘 2
      Phase 1

    將執行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全護欄):
      未安裝

    --- zh-CN
    配置:
      项目: [project]
      最大迭代次数: 50
      模板: 内置
      验证: 无
      没有设置验证（verify.commands、`ralph run --verify 'CMD'`）：勾选只是代理自己的声称

    任务状态:
      tasks.md (spec-kit)
      1/3 完成，剩余 2
      Phase 1

    将执行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全护栏):
      未安装
    ");
}

#[test]
fn one_phase_with_checks_and_limits() {
    let env = project();
    env.write("template.md", "{{TASK}}");
    let shown = in_all_languages(|lang| {
        dry(
            &env,
            &[
                "--phase", "2", "--verify", "npm test", "--verify", "npm run lint",
                "--max-iterations", "0", "--prompt-template", "template.md", "--lang", lang,
            ],
        )
    });
    insta::assert_snapshot!(shown, @"
    --- en
    Configuration:
      project: [project]
      iterations: unlimited
      template: [project]/template.md
      verification: npm test && npm run lint

    Tasks:
      tasks.md (spec-kit)
      0/1 done, 1 to do
      Phase 2

    Command that would run:
      touch [outside]/called {prompt_file}

    Prompt of the first turn:

    Hooks (safety guard):
      not installed

    --- zh-TW
    配置:
      專案: [project]
      最大迭代次數: 無上限
      模板: [project]/template.md
      驗證: npm test && npm run lint

    任務狀態:
      tasks.md (spec-kit)
      0/1 完成，剩餘 1
      Phase 2

    將執行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全護欄):
      未安裝

    --- zh-CN
    配置:
      项目: [project]
      最大迭代次数: 无上限
      模板: [project]/template.md
      验证: npm test && npm run lint

    任务状态:
      tasks.md (spec-kit)
      0/1 完成，剩余 1
      Phase 2

    将执行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全护栏):
      未安装
    ");
}

#[test]
fn an_openspec_change() {
    let env = project();
    let shown = in_all_languages(|lang| dry(&env, &["--openspec", "add-pay", "--lang", lang]));
    insta::assert_snapshot!(shown, @"
    --- en
    Configuration:
      project: [project]
      iterations: at most 50
      template: built in
      verification: none
      no verification is set up (verify.commands, `ralph run --verify 'CMD'`): ticks are the agent's own claims

    Tasks:
      openspec/changes/add-pay/tasks.md (openspec)
      1/2 done, 1 to do
      Phase 1

    Command that would run:
      touch [outside]/called {prompt_file}

    Prompt of the first turn:

    Hooks (safety guard):
      not installed

    --- zh-TW
    配置:
      專案: [project]
      最大迭代次數: 50
      模板: 內建
      驗證: 無
      沒有設定驗證（verify.commands、`ralph run --verify 'CMD'`）：勾選只是代理自己的宣稱

    任務狀態:
      openspec/changes/add-pay/tasks.md (openspec)
      1/2 完成，剩餘 1
      Phase 1

    將執行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全護欄):
      未安裝

    --- zh-CN
    配置:
      项目: [project]
      最大迭代次数: 50
      模板: 内置
      验证: 无
      没有设置验证（verify.commands、`ralph run --verify 'CMD'`）：勾选只是代理自己的声称

    任务状态:
      openspec/changes/add-pay/tasks.md (openspec)
      1/2 完成，剩余 1
      Phase 1

    将执行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全护栏):
      未安装
    ");
}

#[test]
fn a_plain_prompt() {
    let env = project();
    let shown = in_all_languages(|lang| dry(&env, &["fix the flaky test", "--lang", lang]));
    insta::assert_snapshot!(shown, @"
    --- en
    Configuration:
      project: [project]
      iterations: at most 50
      template: built in
      verification: none
      nothing can prove that the work is done: the loop will stop when the agent says so; name a check with verify.commands or `ralph run --verify 'CMD'`

    Prompt:
      fix the flaky test

    Command that would run:
      touch [outside]/called {prompt_file}

    Prompt of the first turn:

    Hooks (safety guard):
      not installed

    --- zh-TW
    配置:
      專案: [project]
      最大迭代次數: 50
      模板: 內建
      驗證: 無
      沒有任何方法能證明工作已完成：代理宣稱完成時迴圈就會停下；請用 verify.commands 或 `ralph run --verify 'CMD'` 指定檢查

    提示:
      fix the flaky test

    將執行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全護欄):
      未安裝

    --- zh-CN
    配置:
      项目: [project]
      最大迭代次数: 50
      模板: 内置
      验证: 无
      没有任何方法能证明工作已完成：代理声称完成时循环就会停下；请用 verify.commands 或 `ralph run --verify 'CMD'` 指定检查

    提示:
      fix the flaky test

    将执行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全护栏):
      未安装
    ");
}

#[test]
fn outside_a_git_project() {
    let env = TestEnv::bare();
    env.write("tasks.md", "- [ ] Write it\n");
    let shown = in_all_languages(|lang| dry(&env, &["--lang", lang]));
    insta::assert_snapshot!(shown, @"
    --- en
    Configuration:
      project: [project]
      iterations: at most 50
      template: built in
      verification: none
      no verification is set up (verify.commands, `ralph run --verify 'CMD'`): ticks are the agent's own claims
      [project] is not a Git project: progress is judged by the files alone, and nothing can be undone with git

    Tasks:
      tasks.md (plain)
      0/1 done, 1 to do

    Command that would run:
      touch [outside]/called {prompt_file}

    Prompt of the first turn:

    Hooks (safety guard):
      not installed

    --- zh-TW
    配置:
      專案: [project]
      最大迭代次數: 50
      模板: 內建
      驗證: 無
      沒有設定驗證（verify.commands、`ralph run --verify 'CMD'`）：勾選只是代理自己的宣稱
      [project] 不是 Git 專案：只能依檔案內容判斷進度，也無法用 git 還原

    任務狀態:
      tasks.md (plain)
      0/1 完成，剩餘 1

    將執行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全護欄):
      未安裝

    --- zh-CN
    配置:
      项目: [project]
      最大迭代次数: 50
      模板: 内置
      验证: 无
      没有设置验证（verify.commands、`ralph run --verify 'CMD'`）：勾选只是代理自己的声称
      [project] 不是 Git 项目：只能依文件内容判断进度，也无法用 git 还原

    任务状态:
      tasks.md (plain)
      0/1 完成，剩余 1

    将执行的命令:
      touch [outside]/called {prompt_file}

    第一次迭代的提示:

    Hooks (安全护栏):
      未安装
    ");
}

#[test]
fn json_for_programs() {
    let env = project();
    let check = |args: &[&str], want: Value| {
        let args: Vec<&str> = ["--json", "--lang", "zh-TW"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        let shown: Value = serde_json::from_str(&dry(&env, &args)).unwrap();
        for (key, value) in want.as_object().unwrap() {
            assert_eq!(&shown[key], value, "{args:?} {key}: {shown}");
        }
    };
    check(
        &[],
        json!({
            "dry_run": true,
            "root": "[project]",
            "agent": "custom",
            "command": "touch [outside]/called {prompt_file}",
            "tasks_file": "[project]/tasks.md",
            "tasks": {"total": 3, "completed": 1, "pending": 2},
            "phase": "1",
            "max_iterations": 50,
            "verify": [],
            "template": null,
            "prompt": null,
            "hooks_installed": false,
        }),
    );
    check(
        &[
            "--phase", "2", "--verify", "npm test", "--max-iterations", "7",
        ],
        json!({
            "tasks": {"total": 1, "completed": 0, "pending": 1},
            "phase": "2",
            "max_iterations": 7,
            "verify": ["npm test"],
        }),
    );
    check(
        &["--openspec", "add-pay", "--preset", "openspec"],
        json!({
            "tasks_file": "[project]/openspec/changes/add-pay/tasks.md",
            "tasks": {"total": 2, "completed": 1, "pending": 1},
            "max_iterations": 100,
        }),
    );
    check(
        &["fix it"],
        json!({
            "tasks_file": null,
            "tasks": {"total": 0, "completed": 0, "pending": 0},
            "phase": null,
            "prompt": "fix it",
        }),
    );
}

#[test]
fn what_would_be_refused_is_refused() {
    let env = project();
    let before = env.snapshot();
    for args in [
        &["run", "--dry-run", "--agent-cmd", "true", "--phase", "9"][..],
        &[
            "run", "--dry-run", "--agent-cmd", "true", "--tasks", "nope.md",
        ],
    ] {
        let done = env.ralph(args);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{args:?}");
        assert_eq!(changes(&env, &before), NOTHING);
    }
}

/// U-11: nobody is called, so nobody has to be there; and the prompt is shown
/// as the first turn would get it.
#[test]
fn the_agent_need_not_be_installed() {
    let env = project();
    let done = env.ralph(&[
        "run",
        "--dry-run",
        "--agent-cmd",
        "no-such-client {prompt_file}",
    ]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let missing = "no-such-client: command not found; install it";
    assert!(done.stdout.contains(missing), "{}", done.stdout);

    let args = [
        "run", "--json", "--agent-cmd", "no-such-client", "--dry-run",
    ];
    let shown: Value = serde_json::from_str(&env.ralph(&args).stdout).unwrap();
    assert_eq!(shown["agent_missing"], true);
    let promised = shown["first_prompt"].as_str().unwrap();

    // A real run says it, and its first prompt is the one that was shown.
    let refused = env.ralph(&["run", "--agent-cmd", "no-such-client"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains(missing), "{}", refused.stderr);
    env.run_script(
        &[json!({"say": "<promise>CONTINUE</promise>"})],
        &["--max-iterations", "1"],
    );
    let given = latest_run(&env).join("turn-0001.prompt.md");
    let given = std::fs::read_to_string(given).unwrap();
    assert_eq!(promised.replace("50", "1"), given);
}

/// LOOP-08: what `ralph init` put into the settings of a client is seen.
#[test]
fn hooks_that_were_installed_are_named() {
    let env = project();
    let agent = env.agent(&[]);
    let args = [
        "run", "--dry-run", "--tasks", "tasks.md", "--agent-cmd", &agent,
    ];
    let before = env.ralph(&args);
    assert!(
        before.stdout.ends_with("not installed\n"),
        "{}",
        before.stdout
    );
    let init = env.ralph(&["init", "--agent", "claude", "--yes"]);
    assert_eq!(init.code, 0, "{}", init.stderr);
    let after = env.ralph(&args);
    let want = "installed by `ralph init`: .claude/settings.local.json\n";
    assert!(after.stdout.ends_with(want), "{}", after.stdout);
}

/// LOOP-08, U-11: checks run before the first turn of a run, and not here.
#[test]
fn the_first_prompt_is_shown_where_there_are_checks() {
    let env = TestEnv::with_tasks(1);
    for evidence in ["claimed", "proven"] {
        let args = [
            "run", "--dry-run", "--agent-cmd", "true", "--verify", "false",
        ];
        let mut command = env.command(&args);
        command.env("RALPH_EVIDENCE_LEVEL", evidence);
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(
            done.stdout.contains("Do thing 1"),
            "{evidence}: {}",
            done.stdout
        );
    }
}

/// LOOP-08: a run would be refused, and a rehearsal says why.
#[test]
fn what_nobody_has_trusted_is_said() {
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] T001 Do it | verify: `sh test.sh`\n");
    let args = ["run", "--dry-run", "--agent-cmd", "true"];
    let done = Done::of(&env.untrusted(&args).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    for words in [
        "nobody has seen",
        "sh test.sh",
        "ralph trust --tasks tasks.md",
    ] {
        assert!(done.stderr.contains(words), "{}", done.stderr);
    }
    let trusted = [&args[..], &["--trust-project"]].concat();
    let done = Done::of(&env.untrusted(&trusted).output().unwrap());
    assert_eq!(done.stderr, "");
}
