use super::*;
use crate::display::*;
use crate::machine::Limit;
use crate::usage::Usd;
use insta::assert_snapshot;

#[test]
fn limit_boxes() {
    let ending = &Ending {
        progress: Some(Progress::new(3, 7)),
        ..Ending::default()
    };
    assert_snapshot!(limit_box(&en(), ending, None, Limit::Iterations, 100, 100, false), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⚠️ Loop safety valve                        ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ Iteration limit reached (100)
    📊 Progress: 3/7 tasks done

    Please confirm whether to go on:
    - `ralph resume` - run 100 more iterations
    - `ralph cancel` - give the loop up

    👉 Next: ralph resume  (goes on with 100 more iterations)
    ");
    let calls = limit_box(&en(), ending, None, Limit::Dispatches, 2, 1, false);
    assert!(
        calls.contains("Limit of agent calls reached (2)"),
        "{calls}"
    );
    assert!(calls.contains("make 1 more agent call\n"), "{calls}");
    assert_snapshot!(limit_box(&tw(), ending, None, Limit::Iterations, 100, 100, false), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⚠️ Loop 安全閥觸發                          ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已達最大迭代次數 (100)
    📊 當前進度: 3/7 任務完成

    請確認是否繼續：
    - `ralph resume` - 再執行 100 次迭代
    - `ralph cancel` - 放棄 Loop

    👉 下一步: ralph resume  (再執行 100 次迭代)
    ");
    assert_snapshot!(limit_box(&cn(), ending, None, Limit::Iterations, 100, 100, false), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⚠️ Loop 安全阀触发                          ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已达最大迭代次数 (100)
    📊 当前进度: 3/7 任务完成

    请确认是否继续：
    - `ralph resume` - 再执行 100 次迭代
    - `ralph cancel` - 放弃 Loop

    👉 下一步: ralph resume  (再执行 100 次迭代)
    ");
    assert_snapshot!(limit_box(&ascii(Lang::ZhTw), ending, None, Limit::Iterations, 100, 100, false), @"
    +================================================================+
    |                    [!] Loop 安全閥觸發                         |
    +================================================================+

    [!] 已達最大迭代次數 (100)
    當前進度: 3/7 任務完成

    請確認是否繼續：
    - `ralph resume` - 再執行 100 次迭代
    - `ralph cancel` - 放棄 Loop

    => 下一步: ralph resume  (再執行 100 次迭代)
    ");
}

#[test]
fn pause_boxes() {
    assert_snapshot!(pause_box(&en(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏸️ Loop paused                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Progress: 3/7 tasks done (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    💾 Progress saved.

    👉 Next: ralph resume  (goes on where it stopped)
    ");
    assert_snapshot!(pause_box(&tw(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏸️ Loop 已暫停                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 當前進度: 3/7 任務完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    💾 進度已保存。

    👉 下一步: ralph resume  (從中斷處繼續)
    ");
    assert_snapshot!(pause_box(&cn(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏸️ Loop 已暂停                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 当前进度: 3/7 任务完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    💾 进度已保存。

    👉 下一步: ralph resume  (从中断处继续)
    ");
    assert_snapshot!(pause_box(&ascii(Lang::En), &ending()), @"
    +================================================================+
    |                    Loop paused                                 |
    +================================================================+

    Progress: 3/7 tasks done (43%)
    [###########---------------] 43%

    Progress saved.

    => Next: ralph resume  (goes on where it stopped)
    ");
}

#[test]
fn interrupted_boxes() {
    assert_snapshot!(interrupted(&en(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏸️ Loop interrupted                         ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Progress: 3/7 tasks done (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    📈 12 iterations, 2 h 13 min
    💾 Stopped safely, the progress is saved.

    👉 Next: ralph resume  (goes on where it stopped)
    ");
    assert_snapshot!(interrupted(&tw(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏸️ Loop 已中斷                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 當前進度: 3/7 任務完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    📈 12 次迭代，2 小時 13 分
    💾 安全中斷，進度自動保存。

    👉 下一步: ralph resume  (從中斷處繼續)
    ");
    assert_snapshot!(interrupted(&cn(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏸️ Loop 已中断                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 当前进度: 3/7 任务完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    📈 12 次迭代，2 小时 13 分
    💾 安全中断，进度自动保存。

    👉 下一步: ralph resume  (从中断处继续)
    ");
    assert_snapshot!(interrupted(&ascii(Lang::En), &ending()), @"
    +================================================================+
    |                    Loop interrupted                            |
    +================================================================+

    Progress: 3/7 tasks done (43%)
    [###########---------------] 43%

    12 iterations, 2 h 13 min
    Stopped safely, the progress is saved.

    => Next: ralph resume  (goes on where it stopped)
    ");
}

#[test]
fn cancelled_boxes() {
    assert_snapshot!(cancelled(&en(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ Loop cancelled                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Progress: 3/7 tasks done (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    📈 12 iterations, 2 h 13 min
    The changes of the agent stay in the work tree.

    👉 Next: ralph resume --restart  (starts the same loop anew)
    ");
    assert_snapshot!(cancelled(&tw(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ Loop 已取消                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 當前進度: 3/7 任務完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    📈 12 次迭代，2 小時 13 分
    Agent 的變更保留在工作目錄中。

    👉 下一步: ralph resume --restart  (重新開始同一個 Loop)
    ");
    assert_snapshot!(cancelled(&cn(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ Loop 已取消                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 当前进度: 3/7 任务完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    📈 12 次迭代，2 小时 13 分
    Agent 的变更保留在工作目录中。

    👉 下一步: ralph resume --restart  (重新开始同一个 Loop)
    ");
    assert_snapshot!(cancelled(&ascii(Lang::En), &ending()), @"
    +================================================================+
    |                    [!] Loop cancelled                          |
    +================================================================+

    Progress: 3/7 tasks done (43%)
    [###########---------------] 43%

    12 iterations, 2 h 13 min
    The changes of the agent stay in the work tree.

    => Next: ralph resume --restart  (starts the same loop anew)
    ");
}

#[test]
fn unproven_boxes() {
    let no_tasks = Ending {
        progress: None,
        ..ending()
    };
    assert_snapshot!(unproven(&en(), &no_tasks), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Done, says the agent; not proven         ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 iterations, 2 h 13 min
    The agent says that it is done. There is neither a task list nor a verify
    command, so Ralph cannot tell whether it is true. Look at the changes: `ralph
    accept --all` takes your word for them. Or name a command that fails while the
    work is not done as [verify] commands in .ralph/config.toml; `ralph resume` then
    has it checked.

    👉 Next: ralph report  (shows the run)
    ");
    assert_snapshot!(unproven(&tw(), &no_tasks), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Agent 聲稱完成，但未經證明               ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 次迭代，2 小時 13 分
    Agent 說已經完成。但既沒有任務清單，也沒有驗證命令，Ralph 無法判斷真假。請檢查變
    更：`ralph accept --all` 以您的話為準。或在 .ralph/config.toml 的 [verify]
    commands 指定一個在未完成時會失敗的命令，再用 `ralph resume` 驗證。

    👉 下一步: ralph report  (查看這次執行)
    ");
    assert_snapshot!(unproven(&cn(), &no_tasks), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Agent 声称完成，但未经证明               ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 次迭代，2 小时 13 分
    Agent 说已经完成。但既没有任务清单，也没有验证命令，Ralph 无法判断真假。请检查变
    更：`ralph accept --all` 以您的话为准。或在 .ralph/config.toml 的 [verify]
    commands 指定一个在未完成时会失败的命令，再用 `ralph resume` 验证。

    👉 下一步: ralph report  (查看这次执行)
    ");
    assert_snapshot!(unproven(&ascii(Lang::En), &no_tasks), @"
    +================================================================+
    |                    [?] Done, says the agent; not proven        |
    +================================================================+

    12 iterations, 2 h 13 min
    The agent says that it is done. There is neither a task list nor a verify
    command, so Ralph cannot tell whether it is true. Look at the changes: `ralph
    accept --all` takes your word for them. Or name a command that fails while the
    work is not done as [verify] commands in .ralph/config.toml; `ralph resume` then
    has it checked.

    => Next: ralph report  (shows the run)
    ");
    assert_snapshot!(unproven(&en(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Done, says the agent; not proven         ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min
    The agent says that it is done. There is no verify command, so Ralph cannot tell
    whether it is true. Look at the changes: `ralph accept --all` takes your word
    for them. Or name a command that fails while the work is not done as [verify]
    commands in .ralph/config.toml; `ralph resume` then has it checked.

    👉 Next: ralph report  (shows the run)
    ");
    assert_snapshot!(unproven(&tw(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Agent 聲稱完成，但未經證明               ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分
    Agent 說已經完成。但沒有驗證命令，Ralph 無法判斷真假。請檢查變更：`ralph accept
    --all` 以您的話為準。或在 .ralph/config.toml 的 [verify] commands 指定一個在未完
    成時會失敗的命令，再用 `ralph resume` 驗證。

    👉 下一步: ralph report  (查看這次執行)
    ");
    assert_snapshot!(unproven(&cn(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❓ Agent 声称完成，但未经证明               ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分
    Agent 说已经完成。但没有验证命令，Ralph 无法判断真假。请检查变更：`ralph accept
    --all` 以您的话为准。或在 .ralph/config.toml 的 [verify] commands 指定一个在未完
    成时会失败的命令，再用 `ralph resume` 验证。

    👉 下一步: ralph report  (查看这次执行)
    ");
}

#[test]
fn time_budgets() {
    let kind = BudgetKind::Time {
        limit: Duration::from_secs(7200),
    };
    assert_snapshot!(budget(&en(), &ending(), &kind), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop budget used up                      ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ Time limit reached (2 h)
    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (goes on where it stopped)
    ");
    assert_snapshot!(budget(&tw(), &ending(), &kind), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop 預算用盡                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已達時間上限 (2 小時)
    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (從中斷處繼續)
    ");
    assert_snapshot!(budget(&cn(), &ending(), &kind), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop 预算用尽                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已达时间上限 (2 小时)
    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (从中断处继续)
    ");
    assert_snapshot!(budget(&ascii(Lang::En), &ending(), &kind), @"
    +================================================================+
    |                    Loop budget used up                         |
    +================================================================+

    [!] Time limit reached (2 h)
    Progress: 3/7 tasks done
    12 iterations, 2 h 13 min

    => Next: ralph resume  (goes on where it stopped)
    ");
}

#[test]
fn cost_budgets() {
    let kind = BudgetKind::Cost {
        limit: Usd::from_micros(5_000_000),
        spent: Usd::from_micros(5_120_000),
    };
    assert_snapshot!(budget(&en(), &ending(), &kind), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop budget used up                      ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ Cost limit reached ($5.12 of $5.00)
    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume --max-cost 10.12usd  (allows as much again and goes on)
    ");
    assert_snapshot!(budget(&tw(), &ending(), &kind), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop 預算用盡                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已達費用上限 ($5.12 / $5.00)
    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume --max-cost 10.12usd  (追加同樣的額度並繼續)
    ");
    assert_snapshot!(budget(&cn(), &ending(), &kind), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⏰ Loop 预算用尽                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 已达费用上限 ($5.12 / $5.00)
    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume --max-cost 10.12usd  (追加同样的额度并继续)
    ");
}
