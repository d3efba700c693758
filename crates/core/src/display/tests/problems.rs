use super::*;
use crate::display::*;
use crate::machine::{BreakerRule, Missing, TaskRef};
use insta::assert_snapshot;

fn errors() -> Vec<ErrorView> {
    let error = |class: &str, description: &str| ErrorView {
        class: class.to_owned(),
        description: description.to_owned(),
    };
    vec![
        error("agent_exec", "exit code 1:\n  connection refused"),
        error("task_not_found", "T999"),
        error(
            "file_op",
            "cannot write .ralph/status.json: the disk is full, which is a rather long story to tell on one line",
        ),
    ]
}

#[test]
fn error_reports() {
    assert_snapshot!(error_report(&en(), &errors(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop stopped by errors                   ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 3 errors in a row
    📊 Progress: 3/7 tasks done

    Errors:
    1. Agent execution error: exit code 1: connection refused
    2. Task not found: T999
    3. File operation failed: cannot write .ralph/status.json: the disk is full,
       which is a rather long story to tell on one line

    What you can do:
    - find the cause and repair it (`ralph report` shows the run)
    - try again with `ralph resume`

    👉 Next: ralph resume  (tries again, the error count starts at 0)
    ");
    assert_snapshot!(error_report(&tw(), &errors(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 錯誤中斷                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 連續發生 3 次錯誤
    📊 當前進度: 3/7 任務完成

    錯誤詳情：
    1. Agent 執行錯誤: exit code 1: connection refused
    2. 找不到任務: T999
    3. 檔案操作失敗: cannot write .ralph/status.json: the disk is full, which is a
       rather long story to tell on one line

    建議操作：
    - 檢查錯誤原因並修復（`ralph report` 顯示執行過程）
    - 使用 `ralph resume` 重新嘗試

    👉 下一步: ralph resume  (重新嘗試，錯誤計數歸零)
    ");
    assert_snapshot!(error_report(&cn(), &errors(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 错误中断                            ║
    ╚════════════════════════════════════════════════════════════════╝

    ⚠️ 连续发生 3 次错误
    📊 当前进度: 3/7 任务完成

    错误详情：
    1. Agent 执行错误: exit code 1: connection refused
    2. 找不到任务: T999
    3. 文件操作失败: cannot write .ralph/status.json: the disk is full, which is a
       rather long story to tell on one line

    建议操作：
    - 检查错误原因并修复（`ralph report` 显示运行过程）
    - 使用 `ralph resume` 重新尝试

    👉 下一步: ralph resume  (重新尝试，错误计数归零)
    ");
    assert_snapshot!(error_report(&ascii(Lang::ZhTw), &errors(), &ending()), @"
    +================================================================+
    |                    [!] Loop 錯誤中斷                           |
    +================================================================+

    [!] 連續發生 3 次錯誤
    當前進度: 3/7 任務完成

    錯誤詳情：
    1. Agent 執行錯誤: exit code 1: connection refused
    2. 找不到任務: T999
    3. 檔案操作失敗: cannot write .ralph/status.json: the disk is full, which is a
       rather long story to tell on one line

    建議操作：
    - 檢查錯誤原因並修復（`ralph report` 顯示執行過程）
    - 使用 `ralph resume` 重新嘗試

    => 下一步: ralph resume  (重新嘗試，錯誤計數歸零)
    ");
}

#[test]
fn error_classes_have_names() {
    for class in [
        "agent_exec", "agent_timeout", "agent_missing", "task_not_found", "file_op",
    ] {
        for lang in Lang::ALL {
            assert_ne!(error_class(lang, class), class);
        }
    }
    assert_eq!(error_class(Lang::ZhTw, "something_new"), "something_new");
}

fn breaker(rule: BreakerRule, evidence: &[&str]) -> BreakerView {
    BreakerView {
        ending: ending(),
        rule,
        count: 5,
        evidence: evidence.iter().map(|line| (*line).to_owned()).collect(),
    }
}

#[test]
fn a_stalled_run_opens_the_breaker() {
    let view = breaker(
        BreakerRule::Stalled,
        &["iterations 8 to 12: tree 1a2b3c4, 3/7 tasks"],
    );
    assert_snapshot!(breaker_report(&en(), &view), @"
    5 iterations in a row without progress: circuit breaker open
    Counted: iterations after which nothing was new of what counts as progress
    (progress.evidence).

    Evidence:
    - iterations 8 to 12: tree 1a2b3c4, 3/7 tasks

    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (sets the counts to 0 and goes on)
    ");
    assert_snapshot!(breaker_report(&tw(), &view), @"
    連續 5 次無進度，觸發 Circuit Breaker
    計數方式：迭代結束後，算作進度的項目（progress.evidence）都沒有新的變化。

    證據：
    - iterations 8 to 12: tree 1a2b3c4, 3/7 tasks

    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (計數歸零並繼續)
    ");
    assert_snapshot!(breaker_report(&cn(), &view), @"
    连续 5 次无进度，触发 Circuit Breaker
    计数方式：迭代结束后，算作进度的项目（progress.evidence）都没有新的变化。

    证据：
    - iterations 8 to 12: tree 1a2b3c4, 3/7 tasks

    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn missing_promises_open_the_breaker() {
    let view = breaker(
        BreakerRule::MissingPromise,
        &["iteration 12 ended with: I will go on tomorrow."],
    );
    assert_snapshot!(breaker_report(&en(), &view), @"
    5 iterations in a row without a promise: circuit breaker open
    Counted: iterations whose last answer had no <promise> tag of its own.

    Evidence:
    - iteration 12 ended with: I will go on tomorrow.

    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (sets the counts to 0 and goes on)
    ");
    assert_snapshot!(breaker_report(&tw(), &view), @"
    連續 5 次沒有 Promise 標籤，觸發 Circuit Breaker
    計數方式：迭代的最後回覆中沒有 <promise> 標籤。

    證據：
    - iteration 12 ended with: I will go on tomorrow.

    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (計數歸零並繼續)
    ");
    assert_snapshot!(breaker_report(&cn(), &view), @"
    连续 5 次没有 Promise 标签，触发 Circuit Breaker
    计数方式：迭代的最后回复中没有 <promise> 标签。

    证据：
    - iteration 12 ended with: I will go on tomorrow.

    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn the_same_error_opens_the_breaker() {
    let view = breaker(
        BreakerRule::SameError,
        &["error: linker `cc` not found", "iterations 8 to 12"],
    );
    assert_snapshot!(breaker_report(&en(), &view), @"
    The same error 5 times in a row: circuit breaker open
    Counted: iterations that failed with the same output, apart from times and
    numbers.

    Evidence:
    - error: linker `cc` not found
    - iterations 8 to 12

    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (sets the counts to 0 and goes on)
    ");
    assert_snapshot!(breaker_report(&tw(), &view), @"
    連續 5 次相同的錯誤，觸發 Circuit Breaker
    計數方式：迭代以相同的輸出失敗（不計時間與數字）。

    證據：
    - error: linker `cc` not found
    - iterations 8 to 12

    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (計數歸零並繼續)
    ");
    assert_snapshot!(breaker_report(&cn(), &view), @"
    连续 5 次相同的错误，触发 Circuit Breaker
    计数方式：迭代以相同的输出失败（不计时间与数字）。

    证据：
    - error: linker `cc` not found
    - iterations 8 to 12

    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn false_promises_open_the_breaker() {
    let view = breaker(
        BreakerRule::FalsePromise,
        &["iteration 12: PHASE COMPLETE with 4 open tasks"],
    );
    assert_snapshot!(breaker_report(&en(), &view), @"
    5 false promises in a row: circuit breaker open
    Counted: claims of completion that the task file or a check disproved.

    Evidence:
    - iteration 12: PHASE COMPLETE with 4 open tasks

    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (sets the counts to 0 and goes on)
    ");
    assert_snapshot!(breaker_report(&tw(), &view), @"
    連續 5 次虛假承諾，觸發 Circuit Breaker
    計數方式：被任務檔案或檢查推翻的完成聲稱。

    證據：
    - iteration 12: PHASE COMPLETE with 4 open tasks

    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (計數歸零並繼續)
    ");
    assert_snapshot!(breaker_report(&cn(), &view), @"
    连续 5 次虚假承诺，触发 Circuit Breaker
    计数方式：被任务文件或检查推翻的完成声称。

    证据：
    - iteration 12: PHASE COMPLETE with 4 open tasks

    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (计数归零并继续)
    ");
}

#[test]
fn the_first_line_of_a_stalled_run_is_that_of_the_seed() {
    let report = breaker_report(&tw(), &breaker(BreakerRule::Stalled, &[]));
    assert_eq!(
        report.lines().next(),
        Some("連續 5 次無進度，觸發 Circuit Breaker")
    );
}

#[test]
fn blocked_reports() {
    let reason = "The database password is not in the environment, and the tests cannot run without one. 請提供。";
    let task = Some("T004 Write the parser");
    let without = blocked_report(&en(), &ending(), "", task);
    assert!(
        without.contains("Reason: the agent gave none\n"),
        "{without}"
    );
    assert_snapshot!(blocked_report(&en(), &ending(), reason, task), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ Loop blocked                             ║
    ╚════════════════════════════════════════════════════════════════╝

    Reason: The database password is not in the environment, and the tests cannot
            run without one. 請提供。
    Task: T004 Write the parser
    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (once the reason is removed)
    ");
    assert_snapshot!(blocked_report(&tw(), &ending(), reason, task), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ 遇到阻塞，停止執行                       ║
    ╚════════════════════════════════════════════════════════════════╝

    原因: The database password is not in the environment, and the tests cannot run
          without one. 請提供。
    任務: T004 Write the parser
    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (排除原因之後執行)
    ");
    assert_snapshot!(blocked_report(&cn(), &ending(), reason, task), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ⛔ 遇到阻塞，停止执行                       ║
    ╚════════════════════════════════════════════════════════════════╝

    原因: The database password is not in the environment, and the tests cannot run
          without one. 請提供。
    任务: T004 Write the parser
    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (排除原因之后执行)
    ");
    assert_snapshot!(blocked_report(&ascii(Lang::En), &ending(), reason, task), @"
    +================================================================+
    |                    [!] Loop blocked                            |
    +================================================================+

    Reason: The database password is not in the environment, and the tests cannot
            run without one. 請提供。
    Task: T004 Write the parser
    Progress: 3/7 tasks done
    12 iterations, 2 h 13 min

    => Next: ralph resume  (once the reason is removed)
    ");
}

fn missing() -> Vec<Missing> {
    let task = TaskRef {
        id: "T004".to_owned(),
        text: "Write the parser".to_owned(),
        phase: None,
    };
    vec![
        Missing::OpenTasks {
            count: 4,
            first: vec![task],
        },
        Missing::Failing {
            command: "cargo test".to_owned(),
        },
    ]
}

#[test]
fn rejections() {
    assert_snapshot!(rejected(&en(), "PHASE COMPLETE", &missing()), @r#"
    ❌ Rejected: the agent claims "PHASE COMPLETE"
    Missing:
    - open tasks (4): T004 Write the parser
    - `cargo test` does not pass
    The next prompt tells the agent what is missing.
    "#);
    assert_snapshot!(rejected(&tw(), "PHASE COMPLETE", &missing()), @"
    ❌ 駁回: agent 聲稱「PHASE COMPLETE」
    缺少：
    - 還有 4 個未完成任務：T004 Write the parser
    - `cargo test` 沒有通過
    下一個 prompt 會告訴 agent 缺少什麼。
    ");
    assert_snapshot!(rejected(&cn(), "PHASE COMPLETE", &missing()), @"
    ❌ 驳回: agent 声称「PHASE COMPLETE」
    缺少：
    - 还有 4 个未完成任务：T004 Write the parser
    - `cargo test` 没有通过
    下一个 prompt 会告诉 agent 缺少什么。
    ");
    assert_snapshot!(rejected(&ascii(Lang::En), "PHASE COMPLETE", &missing()), @r#"
    [!] Rejected: the agent claims "PHASE COMPLETE"
    Missing:
    - open tasks (4): T004 Write the parser
    - `cargo test` does not pass
    The next prompt tells the agent what is missing.
    "#);
}

#[test]
fn failed_gates() {
    assert_snapshot!(gate_failed(&en(), &missing(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop verification failed                 ║
    ╚════════════════════════════════════════════════════════════════╝

    Missing:
    - open tasks (4): T004 Write the parser
    - `cargo test` does not pass

    📊 Progress: 3/7 tasks done
    📈 12 iterations, 2 h 13 min

    👉 Next: ralph resume  (goes on where it stopped)
    ");
    assert_snapshot!(gate_failed(&tw(), &missing(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 驗證失敗                            ║
    ╚════════════════════════════════════════════════════════════════╝

    缺少：
    - 還有 4 個未完成任務：T004 Write the parser
    - `cargo test` 沒有通過

    📊 當前進度: 3/7 任務完成
    📈 12 次迭代，2 小時 13 分

    👉 下一步: ralph resume  (從中斷處繼續)
    ");
    assert_snapshot!(gate_failed(&cn(), &missing(), &ending()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ❌ Loop 验证失败                            ║
    ╚════════════════════════════════════════════════════════════════╝

    缺少：
    - 还有 4 个未完成任务：T004 Write the parser
    - `cargo test` 没有通过

    📊 当前进度: 3/7 任务完成
    📈 12 次迭代，2 小时 13 分

    👉 下一步: ralph resume  (从中断处继续)
    ");
}
