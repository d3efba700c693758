//! What a person sees, whole, in every language.

use serde_json::{Value, json};

use crate::bad_input::{NOTHING, changes};
use crate::env::{Done, RALPH, TestEnv};

const LANGUAGES: [&str; 3] = ["en", "zh-TW", "zh-CN"];

/// The same in every language, one below the other.
pub fn in_all_languages(mut show: impl FnMut(&str) -> String) -> String {
    LANGUAGES
        .map(|lang| format!("--- {lang}\n{}", show(lang)))
        .join("\n")
}

/// A text without what differs from run to run: places, names, times.
pub fn redacted(env: &TestEnv, text: &str) -> String {
    let outside = env.outside("");
    let outside = outside.to_str().unwrap().trim_end_matches('/');
    let text = text
        .replace(env.root.to_str().unwrap(), "[project]")
        .replace(outside, "[outside]")
        .replace(RALPH, "[ralph]");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let word = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
        let end = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        rest = after;
        if is_run_id(token) {
            out.push_str("[run]");
        } else if let Some(after) = after.strip_prefix('_').and_then(after_task_id) {
            out.push_str("[date]_[task]");
            rest = after;
        } else if let Some(after) = after_time(token, after) {
            out.push_str("[time]");
            rest = after;
        } else if let Some(unit) = unit_of_time(token, after) {
            out.push_str("[duration]");
            rest = &rest[unit..];
        } else {
            out.push_str(token);
        }
    }
    out.push_str(rest);
    out
}

/// `20261115-021030-1a2b3c4d`
fn is_run_id(token: &str) -> bool {
    let lengths: Vec<usize> = token.split('-').map(str::len).collect();
    lengths == [8, 6, 8]
}

/// What follows a task id: `a0611306-0d76-489b-bda5-8158a6878724`
fn after_task_id(text: &str) -> Option<&str> {
    let (token, after) = text.split_at_checked(36)?;
    let lengths: Vec<usize> = token.split('-').map(str::len).collect();
    (lengths == [8, 4, 4, 4, 12]).then_some(after)
}

/// What follows a moment with its zone: `2026-11-15 02:10:30 (UTC)`
fn after_time<'a>(token: &str, after: &'a str) -> Option<&'a str> {
    let (time, after) = after.strip_prefix(' ')?.split_once(" (UTC)")?;
    let is_date = token.len() == 10 && token.matches('-').count() == 2;
    (is_date && time.len() == 8 && time.matches(':').count() == 2).then_some(after)
}

/// How long the unit is that makes a number a duration.
fn unit_of_time(number: &str, after: &str) -> Option<usize> {
    let is_number = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    [" ms", " s", " 毫秒", " 秒"]
        .iter()
        .find(|unit| is_number && after.strip_prefix(*unit).is_some_and(ends))
        .map(|unit| unit.len())
}

/// `ralph run` with an agent that plays these turns.
fn run(env: &TestEnv, turns: &[Value], args: &[&str]) -> Done {
    let agent = env.agent(turns);
    let args: Vec<&str> = ["run", "--agent-cmd", &agent]
        .iter()
        .chain(args)
        .copied()
        .collect();
    // The checks of these stories are green when all is done, not before.
    let mut command = env.command(&args);
    command.env("RALPH_VERIFY_TICKS", "agent");
    Done::of(&command.output().unwrap())
}

/// What a run shows in every language; it ends with `code` and says nothing
/// on the error output.
fn seen(code: i32, project: fn() -> TestEnv, turns: &[Value], args: &[&str]) -> String {
    in_all_languages(|lang| {
        let env = project();
        let args: Vec<&str> = args.iter().copied().chain(["--lang", lang]).collect();
        let done = run(&env, turns, &args);
        assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
        assert_eq!(done.stderr, "");
        assert!(!done.stdout.contains('\u{1b}'), "no colour in a pipe");
        redacted(&env, &done.stdout)
    })
}

fn say(text: &str) -> Value {
    json!({ "say": text })
}

/// Two phases, one task done.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "specs/001-shop/tasks.md",
        "# Tasks\n\n## Phase 1: Basket\n\n- [x] T001 Make the basket\n- [ ] T002 Fill it\n\n\
         ## Phase 2: Checkout\n\n- [ ] T003 Pay\n",
    );
    env.git(&["add", "-A"]);
    env.git(&[
        "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "Plan",
    ]);
    env
}

/// A lie, work with a half answer, an error, and the truth.
fn story() -> [Value; 4] {
    [
        say("All done!\n<promise>COMPLETE</promise>"),
        json!({"write": {"basket.txt": "full"}, "tick": ["T002"], "say": "Filled it."}),
        json!({"complain": "connection reset", "exit": 3}),
        json!({"write": {"paid.txt": "yes"}, "tick": ["T003"], "commit": "Pay",
               "say": "<promise>COMPLETE</promise>"}),
    ]
}

#[test]
fn a_whole_run() {
    let shown = seen(0, project, &story(), &["--verify", "test -f paid.txt"]);
    insta::assert_snapshot!(shown, @r#"
    --- en
    Ralph Loop · [run] · custom · specs/001-shop/tasks.md
      main is the default branch, and the agent will commit on it; for a branch of its own: `git switch -c NAME`
      sandbox: off; the agent can do whatever you can
      loop started: 1/3 tasks done, 2 to do
    ├── 🔄 Phase 1: Basket   - 1/2 in progress
    └── ⏳ Phase 2: Checkout - 0/1 pending

    🔄 Iteration 1/50 | Phase 1 | T002 Fill it
      │ All done!
      │ <promise>COMPLETE</promise>
      iteration 1 ended after [duration] · 1/3 · no progress
      no progress (1 in a row): nothing new in ticks, commits or files
      promise: COMPLETE
    ❌ Rejected: the agent claims "COMPLETE"
    Missing:
    - open tasks (2): T002 Fill it; T003 Pay
    The next prompt tells the agent what is missing.

    🔄 Iteration 2/50 | Phase 1 | T002 Fill it
      │ Filled it.
      iteration 2 ended after [duration] · 2/3 · tasks ticked, phase 2 reached, new content
      no promise in the answer (1 in a row)

    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop running                             ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Overall progress: 2/3 tasks done (67%)
    [█████████████████░░░░░░░░░] 67%

    ├── ✅ Phase 1: Basket   - 2/2 done
    └── 🔄 Phase 2: Checkout - 0/1 in progress

    🔄 Current: T003 Pay

    📈 Iteration: #2 / 50

    🔄 Iteration 3/50 | Phase 2 | T003 Pay
      iteration 3 ended after [duration] · 2/3 · no progress
      no progress (1 in a row): nothing new in ticks, commits or files
      Agent execution error (1 in a row): exit code 3: connection reset
      trying again

    🔄 Iteration 4/50 | Phase 2 | T003 Pay
      │ <promise>COMPLETE</promise>
      iteration 4 ended after [duration] · 3/3 · tasks ticked, new commit, new content
      promise: COMPLETE
      verifying
      verification passed: `test -f paid.txt` → 0
      proven: T001, T002, T003

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Final progress: 3/3 tasks done (100%)
    [██████████████████████████] 100%
    📈 4 iterations, [duration]
    📈 cost: unknown · tokens: unknown

    🎉 All tasks are done! The loop ends.

    Proven:
    ✓ 3/3 tasks ticked in specs/001-shop/tasks.md
    ✓ `test -f paid.txt`: exit code 0 after [duration]

    👉 Next: ralph report  (shows the run)
    📦 archived to .skillpack/history/[date]_[task]

    --- zh-TW
    Ralph Loop · [run] · custom · specs/001-shop/tasks.md
      main 是預設分支，Agent 會直接在上面提交；要用自己的分支：`git switch -c 名稱`
      沙箱：關閉；你能做的，代理都能做
      迴圈開始：1/3 任務完成，剩餘 2
    ├── 🔄 Phase 1: Basket   - 1/2 進行中
    └── ⏳ Phase 2: Checkout - 0/1 待處理

    🔄 第 1/50 次迭代 | Phase 1 | T002 Fill it
      │ All done!
      │ <promise>COMPLETE</promise>
      第 1 次迭代結束，[duration] · 1/3 · 無進度
      無進度（連續 1 次）：勾選、提交與檔案都沒有新的內容
      輸出分析: COMPLETE
    ❌ 駁回: agent 聲稱「COMPLETE」
    缺少：
    - 還有 2 個未完成任務：T002 Fill it; T003 Pay
    下一個 prompt 會告訴 agent 缺少什麼。

    🔄 第 2/50 次迭代 | Phase 1 | T002 Fill it
      │ Filled it.
      第 2 次迭代結束，[duration] · 2/3 · 任務已勾選、進入 Phase 2、新內容
      未偵測到 promise 標籤（連續 1 次）

    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式運行中                          ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 總體進度: 2/3 任務完成 (67%)
    [█████████████████░░░░░░░░░] 67%

    ├── ✅ Phase 1: Basket   - 2/2 完成
    └── 🔄 Phase 2: Checkout - 0/1 進行中

    🔄 當前: T003 Pay

    📈 迭代: #2 / 50

    🔄 第 3/50 次迭代 | Phase 2 | T003 Pay
      第 3 次迭代結束，[duration] · 2/3 · 無進度
      無進度（連續 1 次）：勾選、提交與檔案都沒有新的內容
      Agent 執行錯誤（連續 1 次）：結束代碼 3: connection reset
      重試

    🔄 第 4/50 次迭代 | Phase 2 | T003 Pay
      │ <promise>COMPLETE</promise>
      第 4 次迭代結束，[duration] · 3/3 · 任務已勾選、新提交、新內容
      輸出分析: COMPLETE
      驗證中
      驗證通過：`test -f paid.txt` → 0
      已證明：T001, T002, T003

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最終進度: 3/3 任務完成 (100%)
    [██████████████████████████] 100%
    📈 4 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    🎉 所有任務已完成！Loop 模式自動退出。

    已證明：
    ✓ specs/001-shop/tasks.md 中 3/3 任務已勾選
    ✓ `test -f paid.txt`: 結束碼 0，耗時 [duration]

    👉 下一步: ralph report  (查看這次執行)
    📦 已歸檔至: .skillpack/history/[date]_[task]

    --- zh-CN
    Ralph Loop · [run] · custom · specs/001-shop/tasks.md
      main 是默认分支，Agent 会直接在上面提交；要用自己的分支：`git switch -c 名称`
      沙箱：关闭；你能做的，代理都能做
      循环开始：1/3 任务完成，剩余 2
    ├── 🔄 Phase 1: Basket   - 1/2 进行中
    └── ⏳ Phase 2: Checkout - 0/1 待处理

    🔄 第 1/50 次迭代 | Phase 1 | T002 Fill it
      │ All done!
      │ <promise>COMPLETE</promise>
      第 1 次迭代结束，[duration] · 1/3 · 无进度
      无进度（连续 1 次）：勾选、提交与文件都没有新的内容
      输出分析: COMPLETE
    ❌ 驳回: agent 声称「COMPLETE」
    缺少：
    - 还有 2 个未完成任务：T002 Fill it; T003 Pay
    下一个 prompt 会告诉 agent 缺少什么。

    🔄 第 2/50 次迭代 | Phase 1 | T002 Fill it
      │ Filled it.
      第 2 次迭代结束，[duration] · 2/3 · 任务已勾选、进入 Phase 2、新内容
      未检测到 promise 标签（连续 1 次）

    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式运行中                          ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 总体进度: 2/3 任务完成 (67%)
    [█████████████████░░░░░░░░░] 67%

    ├── ✅ Phase 1: Basket   - 2/2 完成
    └── 🔄 Phase 2: Checkout - 0/1 进行中

    🔄 当前: T003 Pay

    📈 迭代: #2 / 50

    🔄 第 3/50 次迭代 | Phase 2 | T003 Pay
      第 3 次迭代结束，[duration] · 2/3 · 无进度
      无进度（连续 1 次）：勾选、提交与文件都没有新的内容
      Agent 执行错误（连续 1 次）：退出码 3: connection reset
      重试

    🔄 第 4/50 次迭代 | Phase 2 | T003 Pay
      │ <promise>COMPLETE</promise>
      第 4 次迭代结束，[duration] · 3/3 · 任务已勾选、新提交、新内容
      输出分析: COMPLETE
      验证中
      验证通过：`test -f paid.txt` → 0
      已证明：T001, T002, T003

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最终进度: 3/3 任务完成 (100%)
    [██████████████████████████] 100%
    📈 4 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    🎉 所有任务已完成！Loop 模式自动退出。

    已证明：
    ✓ specs/001-shop/tasks.md 中 3/3 任务已勾选
    ✓ `test -f paid.txt`: 退出码 0，耗时 [duration]

    👉 下一步: ralph report  (查看这次执行)
    📦 已归档至: .skillpack/history/[date]_[task]
    "#);
}

#[test]
fn a_run_in_a_locale_without_unicode() {
    let env = project();
    let agent = env.agent(&story());
    let args = [
        "run", "--agent-cmd", &agent, "--verify", "test -f paid.txt", "--max-iterations", "5",
    ];
    let mut command = env.command(&args);
    command.env("LANG", "C").env("RALPH_VERIFY_TICKS", "agent");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.is_ascii(), "{}", done.stdout);
    insta::assert_snapshot!(redacted(&env, &done.stdout), @r#"
    Ralph Loop - [run] - custom - specs/001-shop/tasks.md
      main is the default branch, and the agent will commit on it; for a branch of its own: `git switch -c NAME`
      sandbox: off; the agent can do whatever you can
      loop started: 1/3 tasks done, 2 to do
    |-- [>] Phase 1: Basket   - 1/2 in progress
    `-- [ ] Phase 2: Checkout - 0/1 pending

    [>] Iteration 1/5 | Phase 1 | T002 Fill it
      | All done!
      | <promise>COMPLETE</promise>
      iteration 1 ended after [duration] - 1/3 - no progress
      no progress (1 in a row): nothing new in ticks, commits or files
      promise: COMPLETE
    [!] Rejected: the agent claims "COMPLETE"
    Missing:
    - open tasks (2): T002 Fill it; T003 Pay
    The next prompt tells the agent what is missing.

    [>] Iteration 2/5 | Phase 1 | T002 Fill it
      | Filled it.
      iteration 2 ended after [duration] - 2/3 - tasks ticked, phase 2 reached, new content
      no promise in the answer (1 in a row)

    +================================================================+
    |                    Loop running                                |
    +================================================================+

    Overall progress: 2/3 tasks done (67%)
    [#################---------] 67%

    |-- [x] Phase 1: Basket   - 2/2 done
    `-- [>] Phase 2: Checkout - 0/1 in progress

    [>] Current: T003 Pay

    Iteration: #2 / 5

    [>] Iteration 3/5 | Phase 2 | T003 Pay
      iteration 3 ended after [duration] - 2/3 - no progress
      no progress (1 in a row): nothing new in ticks, commits or files
      Agent execution error (1 in a row): exit code 3: connection reset
      trying again
      iteration 4 of 5: 1 left after this one

    [>] Iteration 4/5 | Phase 2 | T003 Pay
      | <promise>COMPLETE</promise>
      iteration 4 ended after [duration] - 3/3 - tasks ticked, new commit, new content
      promise: COMPLETE
      verifying
      verification passed: `test -f paid.txt` -> 0
      proven: T001, T002, T003

    +================================================================+
    |                    [x] Loop complete!                          |
    +================================================================+

    Final progress: 3/3 tasks done (100%)
    [##########################] 100%
    4 iterations, [duration]
    cost: unknown - tokens: unknown

    All tasks are done! The loop ends.

    Proven:
    + 3/3 tasks ticked in specs/001-shop/tasks.md
    + `test -f paid.txt`: exit code 0 after [duration]

    => Next: ralph report  (shows the run)
    archived to .skillpack/history/[date]_[task]
    "#);
    for args in [
        &["status"][..],
        &["tasks"],
        &["run", "--dry-run", "--agent-cmd", "true"],
        &["run", "--dry-run", "a prompt", "--agent-cmd", "true"],
        &["run", "--frob"],
        &["run", "--agent", "nobody"],
        &["logs"],
    ] {
        let output = env
            .command(args)
            .env("LANG", "C")
            .env("RALPH_LIMITS_MAX_ITERATIONS", "0")
            .output()
            .unwrap();
        let done = Done::of(&output);
        if args != ["logs"] {
            assert!(done.stdout.is_ascii(), "{args:?}: {}", done.stdout);
        }
        assert!(done.stderr.is_ascii(), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn a_limit_that_nobody_is_there_to_extend() {
    let shown = seen(
        3,
        project,
        &[say("<promise>CONTINUE</promise>")],
        &["--max-iterations", "1"],
    );
    insta::assert_snapshot!(shown, @"
    --- en
    Ralph Loop · [run] · custom · specs/001-shop/tasks.md
      no verification is set up (verify.commands, `ralph run --verify 'CMD'`): ticks are the agent's own claims
      main is the default branch, and the agent will commit on it; for a branch of its own: `git switch -c NAME`
      sandbox: off; the agent can do whatever you can
      loop started: 1/3 tasks done, 2 to do
    ├── 🔄 Phase 1: Basket   - 1/2 in progress
    └── ⏳ Phase 2: Checkout - 0/1 pending
      iteration 1 of 1: 0 left after this one

    🔄 Iteration 1/1 | Phase 1 | T002 Fill it
      │ <promise>CONTINUE</promise>
      iteration 1 ended after [duration] · 1/3 · no progress
      no progress (1 in a row): nothing new in ticks, commits or files
      promise: CONTINUE
      the limit of iterations is reached

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⚠️ Loop safety valve                        ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ Iteration limit reached (1)
    📊 Progress: 1/3 tasks done

    Please confirm whether to go on:
    - `ralph resume` - run 10 more iterations
    - `ralph cancel` - give the loop up

    👉 Next: ralph resume  (goes on with 10 more iterations)

    --- zh-TW
    Ralph Loop · [run] · custom · specs/001-shop/tasks.md
      沒有設定驗證（verify.commands、`ralph run --verify 'CMD'`）：勾選只是代理自己的宣稱
      main 是預設分支，Agent 會直接在上面提交；要用自己的分支：`git switch -c 名稱`
      沙箱：關閉；你能做的，代理都能做
      迴圈開始：1/3 任務完成，剩餘 2
    ├── 🔄 Phase 1: Basket   - 1/2 進行中
    └── ⏳ Phase 2: Checkout - 0/1 待處理
      第 1/1 次迭代：之後剩餘 0 次

    🔄 第 1/1 次迭代 | Phase 1 | T002 Fill it
      │ <promise>CONTINUE</promise>
      第 1 次迭代結束，[duration] · 1/3 · 無進度
      無進度（連續 1 次）：勾選、提交與檔案都沒有新的內容
      輸出分析: CONTINUE
      已達最大迭代次數

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⚠️ Loop 安全閥觸發                          ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已達最大迭代次數 (1)
    📊 當前進度: 1/3 任務完成

    請確認是否繼續：
    - `ralph resume` - 再執行 10 次迭代
    - `ralph cancel` - 放棄 Loop

    👉 下一步: ralph resume  (再執行 10 次迭代)

    --- zh-CN
    Ralph Loop · [run] · custom · specs/001-shop/tasks.md
      没有设置验证（verify.commands、`ralph run --verify 'CMD'`）：勾选只是代理自己的声称
      main 是默认分支，Agent 会直接在上面提交；要用自己的分支：`git switch -c 名称`
      沙箱：关闭；你能做的，代理都能做
      循环开始：1/3 任务完成，剩余 2
    ├── 🔄 Phase 1: Basket   - 1/2 进行中
    └── ⏳ Phase 2: Checkout - 0/1 待处理
      第 1/1 次迭代：之后剩余 0 次

    🔄 第 1/1 次迭代 | Phase 1 | T002 Fill it
      │ <promise>CONTINUE</promise>
      第 1 次迭代结束，[duration] · 1/3 · 无进度
      无进度（连续 1 次）：勾选、提交与文件都没有新的内容
      输出分析: CONTINUE
      达到迭代上限

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⚠️ Loop 安全阀触发                          ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已达最大迭代次数 (1)
    📊 当前进度: 1/3 任务完成

    请确认是否继续：
    - `ralph resume` - 再执行 10 次迭代
    - `ralph cancel` - 放弃 Loop

    👉 下一步: ralph resume  (再执行 10 次迭代)
    ");
}

#[test]
fn three_errors_in_a_row() {
    let turns = [
        json!({"complain": "API token=sk-ant-abcdefghijklmnopqrstuvwxyz012345 refused", "exit": 3}),
        json!({"complain": "connection reset", "exit": 1}),
        json!({"exit": 9}),
    ];
    insta::assert_snapshot!(seen(6, project, &turns, &["--quiet"]), @"
    --- en
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop stopped by errors                   ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 3 errors in a row
    📊 Progress: 1/3 tasks done

    Errors:
    1. Agent execution error: exit code 3: API token=[redacted] refused
    2. Agent execution error: exit code 1: connection reset
    3. Agent execution error: exit code 9

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
    1. Agent 執行錯誤: 結束代碼 3: API token=[redacted] refused
    2. Agent 執行錯誤: 結束代碼 1: connection reset
    3. Agent 執行錯誤: 結束代碼 9

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
    1. Agent 执行错误: 退出码 3: API token=[redacted] refused
    2. Agent 执行错误: 退出码 1: connection reset
    3. Agent 执行错误: 退出码 9

    建议操作：
    - 检查错误原因并修复（`ralph report` 显示运行过程）
    - 使用 `ralph resume` 重新尝试

    👉 下一步: ralph resume  (重新尝试，错误计数归零)
    ");
}

#[test]
fn no_progress() {
    let turns = vec![say("<promise>CONTINUE</promise>"); 5];
    insta::assert_snapshot!(seen(5, project, &turns, &["--quiet"]), @"
    --- en
    5 iterations in a row without progress: circuit breaker open
    Counted: iterations after which nothing was new of what counts as progress
    (progress.evidence).

    Evidence:
    - iterations 1 to 5
    - tasks: 1/3
    - no commit with new content, and no content that was not seen before

    📊 Progress: 1/3 tasks done
    📈 5 iterations, [duration]
    📈 cost: unknown · tokens: unknown

    👉 Next: ralph resume  (sets the counts to 0 and goes on)

    --- zh-TW
    連續 5 次無進度，觸發 Circuit Breaker
    計數方式：迭代結束後，算作進度的項目（progress.evidence）都沒有新的變化。

    證據：
    - 第 1 到 5 次迭代
    - 任務：1/3
    - 沒有帶來新內容的提交，也沒有未曾出現過的內容

    📊 當前進度: 1/3 任務完成
    📈 5 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    👉 下一步: ralph resume  (計數歸零並繼續)

    --- zh-CN
    连续 5 次无进度，触发 Circuit Breaker
    计数方式：迭代结束后，算作进度的项目（progress.evidence）都没有新的变化。

    证据：
    - 第 1 到 5 次迭代
    - 任务：1/3
    - 没有带来新内容的提交，也没有未曾出现过的内容

    📊 当前进度: 1/3 任务完成
    📈 5 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn answers_without_a_promise() {
    let turn = |n: u32| json!({"write": {"notes.txt": format!("{n}")}, "say": "Still at it."});
    let turns: Vec<Value> = (1..=5).map(turn).collect();
    insta::assert_snapshot!(seen(5, project, &turns, &["--quiet"]), @"
    --- en
    5 iterations in a row without a promise: circuit breaker open
    Counted: iterations whose last answer had no <promise> tag of its own.

    Evidence:
    - iterations 1 to 5

    📊 Progress: 1/3 tasks done
    📈 5 iterations, [duration]
    📈 cost: unknown · tokens: unknown

    👉 Next: ralph resume  (sets the counts to 0 and goes on)

    --- zh-TW
    連續 5 次沒有 Promise 標籤，觸發 Circuit Breaker
    計數方式：迭代的最後回覆中沒有 <promise> 標籤。

    證據：
    - 第 1 到 5 次迭代

    📊 當前進度: 1/3 任務完成
    📈 5 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    👉 下一步: ralph resume  (計數歸零並繼續)

    --- zh-CN
    连续 5 次没有 Promise 标签，触发 Circuit Breaker
    计数方式：迭代的最后回复中没有 <promise> 标签。

    证据：
    - 第 1 到 5 次迭代

    📊 当前进度: 1/3 任务完成
    📈 5 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn false_promises() {
    let turn = |n: u32| json!({"write": {"notes.txt": format!("{n}")}, "say": "<promise>COMPLETE</promise>"});
    let turns: Vec<Value> = (1..=5).map(turn).collect();
    insta::assert_snapshot!(seen(5, project, &turns, &["--quiet"]), @"
    --- en
    5 false promises in a row: circuit breaker open
    Counted: claims of completion that the task file or a check disproved.

    Evidence:
    - promised: COMPLETE
    - open: T002 Fill it
    - open: T003 Pay

    📊 Progress: 1/3 tasks done
    📈 5 iterations, [duration]
    📈 cost: unknown · tokens: unknown

    👉 Next: ralph resume  (sets the counts to 0 and goes on)

    --- zh-TW
    連續 5 次虛假承諾，觸發 Circuit Breaker
    計數方式：被任務檔案或檢查推翻的完成聲稱。

    證據：
    - 承諾：COMPLETE
    - 未完成：T002 Fill it
    - 未完成：T003 Pay

    📊 當前進度: 1/3 任務完成
    📈 5 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    👉 下一步: ralph resume  (計數歸零並繼續)

    --- zh-CN
    连续 5 次虚假承诺，触发 Circuit Breaker
    计数方式：被任务文件或检查推翻的完成声称。

    证据：
    - 承诺：COMPLETE
    - 未完成：T002 Fill it
    - 未完成：T003 Pay

    📊 当前进度: 1/3 任务完成
    📈 5 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn an_agent_that_is_blocked() {
    let turns = [say("<promise>BLOCKED: the API key is missing</promise>")];
    insta::assert_snapshot!(seen(4, project, &turns, &["--quiet"]), @"
    --- en
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ Loop blocked                             ║
    ╚════════════════════════════════════════════════════════════════╝

    Reason: the API key is missing
    Task: T002 Fill it
    📊 Progress: 1/3 tasks done
    📈 1 iteration, [duration]
    📈 cost: unknown · tokens: unknown

    👉 Next: ralph resume  (once the reason is removed)

    --- zh-TW
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ 遇到阻塞，停止執行                       ║
    ╚════════════════════════════════════════════════════════════════╝

    原因: the API key is missing
    任務: T002 Fill it
    📊 當前進度: 1/3 任務完成
    📈 1 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    👉 下一步: ralph resume  (排除原因之後執行)

    --- zh-CN
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ 遇到阻塞，停止执行                       ║
    ╚════════════════════════════════════════════════════════════════╝

    原因: the API key is missing
    任务: T002 Fill it
    📊 当前进度: 1/3 任务完成
    📈 1 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    👉 下一步: ralph resume  (排除原因之后执行)
    ");
}

#[test]
fn a_claim_that_nothing_can_prove() {
    let turns = [json!({"write": {"fixed.txt": "yes"}, "say": "<promise>DONE</promise>"})];
    let shown = seen(3, TestEnv::new, &turns, &["repair the login"]);
    insta::assert_snapshot!(shown, @"
    --- en
    Ralph Loop · [run] · custom · repair the login
      nothing can prove that the work is done: the loop will stop when the agent says so; name a check with verify.commands or `ralph run --verify 'CMD'`
      sandbox: off; the agent can do whatever you can
      loop started

    🔄 Iteration 1/50
      │ <promise>DONE</promise>
      iteration 1 ended after [duration] · new content
      promise: DONE

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Done, says the agent; not proven         ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 1 iteration, [duration]
    📈 cost: unknown · tokens: unknown
    The agent says that it is done. There is neither a task list nor a verify
    command, so Ralph cannot tell whether it is true. Look at the changes: `ralph
    accept --all` takes your word for them. Or name a command that fails while the
    work is not done as [verify] commands in .ralph/config.toml; `ralph resume` then
    has it checked.

    👉 Next: ralph report  (shows the run)

    --- zh-TW
    Ralph Loop · [run] · custom · repair the login
      沒有任何方法能證明工作已完成：代理宣稱完成時迴圈就會停下；請用 verify.commands 或 `ralph run --verify 'CMD'` 指定檢查
      沙箱：關閉；你能做的，代理都能做
      迴圈開始

    🔄 第 1/50 次迭代
      │ <promise>DONE</promise>
      第 1 次迭代結束，[duration] · 新內容
      輸出分析: DONE

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Agent 聲稱完成，但未經證明               ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 1 次迭代，[duration]
    📈 費用：未知 · 詞元：未知
    Agent 說已經完成。但既沒有任務清單，也沒有驗證命令，Ralph 無法判斷真假。請檢查變
    更：`ralph accept --all` 以您的話為準。或在 .ralph/config.toml 的 [verify]
    commands 指定一個在未完成時會失敗的命令，再用 `ralph resume` 驗證。

    👉 下一步: ralph report  (查看這次執行)

    --- zh-CN
    Ralph Loop · [run] · custom · repair the login
      没有任何方法能证明工作已完成：代理声称完成时循环就会停下；请用 verify.commands 或 `ralph run --verify 'CMD'` 指定检查
      沙箱：关闭；你能做的，代理都能做
      循环开始

    🔄 第 1/50 次迭代
      │ <promise>DONE</promise>
      第 1 次迭代结束，[duration] · 新内容
      输出分析: DONE

    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Agent 声称完成，但未经证明               ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 1 次迭代，[duration]
    📈 费用：未知 · 词元：未知
    Agent 说已经完成。但既没有任务清单，也没有验证命令，Ralph 无法判断真假。请检查变
    更：`ralph accept --all` 以您的话为准。或在 .ralph/config.toml 的 [verify]
    commands 指定一个在未完成时会失败的命令，再用 `ralph resume` 验证。

    👉 下一步: ralph report  (查看这次执行)
    ");
}

#[test]
fn a_check_that_never_passes() {
    let turn =
        |n: u32| json!({"write": {"notes.txt": format!("{n}")}, "say": "<promise>DONE</promise>"});
    let turns: Vec<Value> = (1..=5).map(turn).collect();
    let args = [
        "repair the login", "--quiet", "--verify", "test -f fixed.txt",
    ];
    insta::assert_snapshot!(seen(7, TestEnv::new, &turns, &args), @"
    --- en
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop verification failed                 ║
    ╚════════════════════════════════════════════════════════════════╝

    Missing:
    - `test -f fixed.txt` does not pass

    📈 5 iterations, [duration]
    📈 cost: unknown · tokens: unknown

    👉 Next: ralph resume  (goes on where it stopped)

    --- zh-TW
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 驗證失敗                            ║
    ╚════════════════════════════════════════════════════════════════╝

    缺少：
    - `test -f fixed.txt` 沒有通過

    📈 5 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    👉 下一步: ralph resume  (從中斷處繼續)

    --- zh-CN
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 验证失败                            ║
    ╚════════════════════════════════════════════════════════════════╝

    缺少：
    - `test -f fixed.txt` 没有通过

    📈 5 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    👉 下一步: ralph resume  (从中断处继续)
    ");
}

#[test]
fn time_that_is_up() {
    let turns = [json!({"wait_ms": 60_000})];
    let args = ["--quiet", "--max-duration", "200ms"];
    insta::assert_snapshot!(seen(3, project, &turns, &args), @"
    --- en
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop budget used up                      ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ Time limit reached ([duration])
    📊 Progress: 1/3 tasks done
    📈 1 iteration, [duration]
    📈 cost: unknown · tokens: unknown

    👉 Next: ralph resume  (goes on where it stopped)

    --- zh-TW
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop 預算用盡                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已達時間上限 ([duration])
    📊 當前進度: 1/3 任務完成
    📈 1 次迭代，[duration]
    📈 費用：未知 · 詞元：未知

    👉 下一步: ralph resume  (從中斷處繼續)

    --- zh-CN
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop 预算用尽                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已达时间上限 ([duration])
    📊 当前进度: 1/3 任务完成
    📈 1 次迭代，[duration]
    📈 费用：未知 · 词元：未知

    👉 下一步: ralph resume  (从中断处继续)
    ");
}

#[test]
fn status_before_during_and_after() {
    let env = project();
    let status = |args: &[&str]| {
        let done = env.ralph(args);
        (done.code, redacted(&env, &(done.stdout + &done.stderr)))
    };
    let none = in_all_languages(|lang| {
        let (code, text) = status(&["status", "--lang", lang]);
        assert_eq!(code, 1);
        text
    });
    insta::assert_snapshot!(none, @"
    --- en
    ralph: no loop has run here yet; start one with `ralph run`

    --- zh-TW
    ralph: 這裡還沒有執行過迴圈；請用 `ralph run` 開始

    --- zh-CN
    ralph: 这里还没有运行过循环；请用 `ralph run` 开始
    ");

    run(&env, &[say("<promise>BLOCKED: no key</promise>")], &[]);
    let blocked = in_all_languages(|lang| {
        let (code, text) = status(&["status", "--lang", lang]);
        assert_eq!(code, 0);
        text
    });
    insta::assert_snapshot!(blocked, @"
    --- en
    blocked · run [run] · iteration 1 / 50 · [time]
    1/3 tasks · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    phase: 1
    last promise: BLOCKED: no key
    reason: no key
    cost: unknown · tokens: unknown
    next: `ralph resume`

    --- zh-TW
    受阻 · [run] · 迭代 1 / 50 · [time]
    1/3 任務 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    階段: 1
    最後的承諾: BLOCKED: no key
    原因: no key
    費用：未知 · 詞元：未知
    下一步：`ralph resume`

    --- zh-CN
    受阻 · [run] · 迭代 1 / 50 · [time]
    1/3 任务 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    阶段: 1
    最后的承诺: BLOCKED: no key
    原因: no key
    费用：未知 · 词元：未知
    下一步：`ralph resume`
    ");

    run(&env, &vec![say("<promise>CONTINUE</promise>"); 5], &[]);
    let stalled = in_all_languages(|lang| status(&["status", "--lang", lang]).1);
    insta::assert_snapshot!(stalled, @"
    --- en
    circuit breaker open · run [run] · iteration 5 / 50 · [time]
    1/3 tasks · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    phase: 1
    reason: no progress
    cost: unknown · tokens: unknown
    next: `ralph resume`

    --- zh-TW
    Circuit Breaker 觸發 · [run] · 迭代 5 / 50 · [time]
    1/3 任務 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    階段: 1
    原因: 無進度
    費用：未知 · 詞元：未知
    下一步：`ralph resume`

    --- zh-CN
    Circuit Breaker 触发 · [run] · 迭代 5 / 50 · [time]
    1/3 任务 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    阶段: 1
    原因: 无进度
    费用：未知 · 词元：未知
    下一步：`ralph resume`
    ");

    run(&env, &[say("hm")], &["--max-iterations", "1"]);
    let limit = in_all_languages(|lang| status(&["status", "--lang", lang]).1);
    insta::assert_snapshot!(limit, @"
    --- en
    stopped at the iteration limit · run [run] · iteration 1 / 1 · [time]
    1/3 tasks · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    phase: 1
    cost: unknown · tokens: unknown
    next: `ralph resume`

    --- zh-TW
    已達最大迭代次數 · [run] · 迭代 1 / 1 · [time]
    1/3 任務 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    階段: 1
    費用：未知 · 詞元：未知
    下一步：`ralph resume`

    --- zh-CN
    已达最大迭代次数 · [run] · 迭代 1 / 1 · [time]
    1/3 任务 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    阶段: 1
    费用：未知 · 词元：未知
    下一步：`ralph resume`
    ");

    // A process that died could not write down how it ended.
    let run = env.json(".ralph/status.json")["run_id"].clone();
    let journal = env.state_name(&format!("runs/{}/journal.jsonl", run.as_str().unwrap()));
    let begun = env.read(&journal);
    let begun: Vec<&str> = begun.split_inclusive('\n').take(2).collect();
    env.write(&journal, &begun.concat());
    let dead = in_all_languages(|lang| status(&["status", "--lang", lang]).1);
    insta::assert_snapshot!(dead, @"
    --- en
    dead (its process is gone) · run [run] · iteration 1 / 1 · [time]
    1/3 tasks · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    phase: 1
    next: `ralph resume`

    --- zh-TW
    已意外終止（行程已不存在） · [run] · 迭代 1 / 1 · [time]
    1/3 任務 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    階段: 1
    下一步：`ralph resume`

    --- zh-CN
    已意外终止（进程已不存在） · [run] · 迭代 1 / 1 · [time]
    1/3 任务 · specs/001-shop/tasks.md
    [█████████░░░░░░░░░░░░░░░░░] 33%
    阶段: 1
    下一步：`ralph resume`
    ");

    // T-10: whatever stands in the project's file, the journal is believed.
    for planted in [
        "{",
        "{\"run_id\": \"20200101-000000-0000\", \"status\": \"complete\"}",
    ] {
        env.write(".ralph/status.json", planted);
        let believed = in_all_languages(|lang| status(&["status", "--lang", lang]).1);
        assert_eq!(believed, dead);
    }
}

#[test]
fn usage_errors() {
    let env = TestEnv::new();
    let shown = in_all_languages(|lang| {
        [
            &["run", "--max-iterations", "x"][..],
            &["run", "--max-iterations", "-1"],
            &["run", "--max-iterations"],
            &["run", "--agent-cm", "x"],
            &["run", "--frobnicate"],
            &["run", "fix", "the", "test"],
            &["run", "fix it", "--tasks", "tasks.md"],
            &["rum"],
            &["tasks", "lisst"],
            &["status", "--lang", "fr"],
            &["completions"],
        ]
        .map(|args| {
            let before = env.snapshot();
            let args: Vec<&str> = ["--lang", lang].iter().chain(args).copied().collect();
            let done = env.ralph(&args);
            assert_eq!(done.code, 1, "{args:?}");
            assert_eq!(done.stdout, "", "{args:?}");
            assert_eq!(done.stderr.lines().count(), 1, "{args:?}: {}", done.stderr);
            assert_eq!(changes(&env, &before), NOTHING);
            done.stderr
        })
        .concat()
    });
    insta::assert_snapshot!(shown, @r#"
    --- en
    ralph: --max-iterations <N> can't be "x": write a whole number, 0 or more; see `ralph run --help`
    ralph: --max-iterations <N> can't be "-1": write a whole number, 0 or more; see `ralph run --help`
    ralph: --max-iterations <N> needs a value; see `ralph run --help`
    ralph: --agent-cm is not known here (did you mean --agent-cmd?); see `ralph run --help`
    ralph: --frobnicate is not known here; see `ralph run --help`
    ralph: "the" is one word too many; write a text of several words in quotes; see `ralph run --help`
    ralph: [PROMPT] and --tasks <FILE> can't be used together; leave one of them out; see `ralph run --help`
    ralph: there is no command "rum" (did you mean run?); see `ralph --help`
    ralph: [VERB] can't be "lisst" (did you mean list?); use one of: list, next, lint, graph, tick, untick, add, edit, move, remove, skip, unskip; see `ralph tasks --help`
    ralph: --lang <LANG> can't be "fr"; use one of: auto, en, zh-TW, zh-CN; see `ralph status --help`
    ralph: <SHELL> is missing; see `ralph completions --help`

    --- zh-TW
    ralph: --max-iterations <N> 不能是「x」：請寫整數，至少 0；請見 `ralph run --help`
    ralph: --max-iterations <N> 不能是「-1」：請寫整數，至少 0；請見 `ralph run --help`
    ralph: --max-iterations <N> 需要一個值；請見 `ralph run --help`
    ralph: 這裡不認識 --agent-cm（是不是 --agent-cmd？）；請見 `ralph run --help`
    ralph: 這裡不認識 --frobnicate；請見 `ralph run --help`
    ralph: 多了一個詞「the」；含空格的文字請加引號；請見 `ralph run --help`
    ralph: [PROMPT] 與 --tasks <FILE> 不能同時使用；請省略其中之一；請見 `ralph run --help`
    ralph: 沒有「rum」這個命令（是不是 run？）；請見 `ralph --help`
    ralph: [VERB] 不能是「lisst」（是不是 list？）；請使用下列之一：list, next, lint, graph, tick, untick, add, edit, move, remove, skip, unskip；請見 `ralph tasks --help`
    ralph: --lang <LANG> 不能是「fr」；請使用下列之一：auto, en, zh-TW, zh-CN；請見 `ralph status --help`
    ralph: 缺少 <SHELL>；請見 `ralph completions --help`

    --- zh-CN
    ralph: --max-iterations <N> 不能是“x”：请写整数，至少 0；请见 `ralph run --help`
    ralph: --max-iterations <N> 不能是“-1”：请写整数，至少 0；请见 `ralph run --help`
    ralph: --max-iterations <N> 需要一个值；请见 `ralph run --help`
    ralph: 这里不认识 --agent-cm（是不是 --agent-cmd？）；请见 `ralph run --help`
    ralph: 这里不认识 --frobnicate；请见 `ralph run --help`
    ralph: 多了一个词“the”；含空格的文本请加引号；请见 `ralph run --help`
    ralph: [PROMPT] 与 --tasks <FILE> 不能同时使用；请省略其中之一；请见 `ralph run --help`
    ralph: 没有“rum”这个命令（是不是 run？）；请见 `ralph --help`
    ralph: [VERB] 不能是“lisst”（是不是 list？）；请使用以下之一：list, next, lint, graph, tick, untick, add, edit, move, remove, skip, unskip；请见 `ralph tasks --help`
    ralph: --lang <LANG> 不能是“fr”；请使用以下之一：auto, en, zh-TW, zh-CN；请见 `ralph status --help`
    ralph: 缺少 <SHELL>；请见 `ralph completions --help`
    "#);
}

#[test]
fn help_and_version_are_answers() {
    let env = TestEnv::new();
    for args in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let done = env.ralph(args);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
        assert!(done.stdout.contains("ralph"), "{args:?}");
    }
    // Nothing asked is a mistake: it explains itself where errors go.
    let done = env.ralph::<&str>(&[]);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("Usage: ralph"), "{}", done.stderr);
}

/// DISP-06: the help speaks as the rest does, by the flag and by the locale.
#[test]
fn the_help_is_in_the_language_of_the_person() {
    let env = TestEnv::new();
    for args in [
        &["--lang", "zh-TW", "--help"][..],
        &["run", "--help", "--lang", "zh-TW"],
        &["help", "--lang", "zh-TW"],
        &["help", "run", "--lang", "zh-TW"],
    ] {
        let done = env.ralph(args);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
        for part in ["用法: ralph", "選項:", "專案", "-h, --help"] {
            assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
        }
        for english in [
            "Usage", "Options", "Print help", "[default", "possible values",
        ] {
            assert!(!done.stdout.contains(english), "{english}: {}", done.stdout);
        }
    }
    let mut nothing = env.command::<&str>(&[]);
    let nothing = nothing.env("LANG", "zh_CN.UTF-8").output().unwrap();
    let nothing = Done::of(&nothing);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""));
    assert!(nothing.stderr.contains("从这里开始"), "{}", nothing.stderr);
}

#[test]
fn the_language_comes_from_the_flag_the_settings_or_the_locale() {
    let env = project();
    let check = |variables: &[(&str, &str)], args: &[&str], want: &str| {
        let args: Vec<&str> = ["tasks"].iter().chain(args).copied().collect();
        let mut command = env.command(&args);
        command.envs(variables.iter().copied());
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(
            done.stdout.lines().next().unwrap().ends_with(want),
            "{variables:?} {args:?}: {}",
            done.stdout
        );
    };
    let (en, tw, cn) = ("2 to do", "任務完成，剩餘 2", "任务完成，剩余 2");
    check(&[], &[], en);
    check(&[("LANG", "zh_TW.UTF-8")], &[], tw);
    check(&[("LANG", "zh_TW.UTF-8")], &["--lang", "zh-CN"], cn);
    check(&[("LANG", "de_DE.UTF-8")], &[], en);
    check(&[("LC_ALL", "zh_CN.UTF-8")], &[], cn);
    check(&[("RALPH_LANG", "zh-TW")], &[], tw);
    env.write(".ralph/config.toml", "lang = \"zh-CN\"\n");
    check(&[], &[], cn);
    check(&[("RALPH_LANG", "zh-TW")], &[], tw);
    check(&[("RALPH_LANG", "zh-TW")], &["--lang", "en"], en);
    check(&[("LANG", "zh_TW.UTF-8")], &["--lang", "auto"], tw);

    // Where the settings can't be read, the environment still chooses.
    env.write(".ralph/config.toml", "lan = 1\n");
    let mut command = env.command(&["tasks"]);
    let done = Done::of(&command.env("RALPH_LANG", "zh-TW").output().unwrap());
    assert!(
        done.stderr.contains("沒有「lan」這個設定"),
        "{}",
        done.stderr
    );
}

#[test]
fn quiet_says_only_how_it_ended() {
    let env = project();
    let done = run(&env, &story(), &["--quiet", "--verify", "test -f paid.txt"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(redacted(&env, &done.stdout), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Final progress: 3/3 tasks done (100%)
    [██████████████████████████] 100%
    📈 4 iterations, [duration]
    📈 cost: unknown · tokens: unknown

    🎉 All tasks are done! The loop ends.

    Proven:
    ✓ 3/3 tasks ticked in specs/001-shop/tasks.md
    ✓ `test -f paid.txt`: exit code 0 after [duration]

    👉 Next: ralph report  (shows the run)
    ");
}

/// What a program reads is never translated (DISP-06).
#[test]
fn json_is_english_in_every_language() {
    let env = TestEnv::new();
    for args in [
        &["doctor", "--json"][..],
        &["self-check", "--json"],
        &["guard", "test", "--json", "rm -rf /"],
        &["guard", "explain", "--json", "rm -rf /"],
        &["guard", "rules", "--json"],
    ] {
        let done = env.ralph(&[args, &["--lang", "zh-TW"]].concat());
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        let line = done.stdout.lines().find(|line| line.contains(is_chinese));
        assert!(!done.stdout.is_empty(), "{args:?}");
        assert_eq!(line, None, "{args:?}");
    }
}
