//! What people read: every notice and every reason in the three languages.
//!
//! The tables hold each variant and each case in which its text differs. The
//! `match` that names a reason makes sure that a new one is looked at here.

use super::*;

/// One line for each: `{name}: en | zh-TW | zh-CN`.
fn table<T: Say>(all: &[T], name: fn(&T) -> &'static str) -> String {
    all.iter()
        .map(|one| {
            let texts = Lang::ALL.map(|lang| one.say(lang));
            format!("{}: {}\n", name(one), texts.join(" | "))
        })
        .collect()
}

fn texts(some: &[&str]) -> Vec<String> {
    some.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_claim_lacks_prom_11() {
    let name = |missing: &Missing| match missing {
        Missing::OpenTasks { .. } => "open tasks",
        Missing::OpenInPhase { .. } => "open in phase",
        Missing::LostTasks { .. } => "lost tasks",
        Missing::Failing { .. } => "failing",
        Missing::Weakened { .. } => "weakened",
        Missing::Unreadable => "unreadable",
        Missing::NoTasks => "no tasks",
    };
    let every = [
        Missing::OpenTasks {
            count: 7,
            first: vec![task(2), task(3)],
        },
        Missing::OpenInPhase {
            phase: "2".into(),
            count: 3,
        },
        Missing::LostTasks { count: 2 },
        Missing::Failing {
            command: "npm test".into(),
        },
        Missing::Weakened {
            files: texts(&["tests/a.rs", "b.rs"]),
        },
        Missing::Unreadable,
        Missing::NoTasks,
    ];
    insta::assert_snapshot!(table(&every, name), @"
    open tasks: open tasks (7): T002 task 2; T003 task 3 | 還有 7 個未完成任務：T002 task 2; T003 task 3 | 还有 7 个未完成任务：T002 task 2; T003 task 3
    open in phase: open tasks in phase 2: 3 | Phase 2 還有 3 個未完成任務 | Phase 2 还有 3 个未完成任务
    lost tasks: tasks removed from the task file: 2 | 任務檔案少了 2 個任務 | 任务文件少了 2 个任务
    failing: `npm test` does not pass | `npm test` 沒有通過 | `npm test` 没有通过
    weakened: checks were weakened; restore them: tests/a.rs, b.rs | 檢查被削弱，請恢復：tests/a.rs, b.rs | 检查被削弱，请恢复：tests/a.rs, b.rs
    unreadable: the task file can't be read | 無法讀取任務檔案 | 无法读取任务文件
    no tasks: no task was found in the task file | 任務檔案中沒有任務 | 任务文件中没有任务
    ");
}

#[test]
fn what_a_breaker_saw_brkr_01() {
    let name = |sign: &Sign| match sign {
        Sign::Iterations { .. } => "iterations",
        Sign::Tasks { .. } => "tasks",
        Sign::NothingNew => "nothing new",
        Sign::Promised { .. } => "promised",
        Sign::Open { .. } => "open",
        Sign::Output { .. } => "output",
    };
    let every = [
        Sign::Iterations { from: 3, to: 7 },
        Sign::Tasks {
            completed: 1,
            total: 4,
        },
        Sign::NothingNew,
        Sign::Promised {
            text: "COMPLETE".into(),
        },
        Sign::Open { task: task(2) },
        Sign::Output {
            of: "npm test".into(),
            text: "1 of 12 failed".into(),
        },
    ];
    insta::assert_snapshot!(table(&every, name), @"
    iterations: iterations 3 to 7 | 第 3 到 7 次迭代 | 第 3 到 7 次迭代
    tasks: tasks: 1/4 | 任務：1/4 | 任务：1/4
    nothing new: no new commit, and no content that was not seen before | 沒有新的提交，也沒有未曾出現過的內容 | 没有新的提交，也没有未曾出现过的内容
    promised: promised: COMPLETE | 承諾：COMPLETE | 承诺：COMPLETE
    open: open: T002 task 2 | 未完成：T002 task 2 | 未完成：T002 task 2
    output: npm test: 1 of 12 failed | npm test: 1 of 12 failed | npm test: 1 of 12 failed
    ");
}

#[test]
fn how_a_turn_went_wrong_errc_03() {
    let name = |detail: &Detail| match detail {
        Detail::Exit { .. } => "exit",
        Detail::Signal { .. } => "signal",
        Detail::Timeout { .. } => "timeout",
        Detail::NotFound { .. } => "not found",
        Detail::NotStarted { .. } => "not started",
        Detail::Words(_) => "words",
    };
    let every: Vec<_> = ["", "quota spent"]
        .into_iter()
        .flat_map(|words| {
            let words = || String::from(words);
            [
                Detail::Exit {
                    code: 2,
                    words: words(),
                },
                Detail::Signal {
                    signal: 9,
                    words: words(),
                },
                Detail::NotFound { words: words() },
                Detail::NotStarted { words: words() },
                Detail::Words(words()),
            ]
        })
        .chain([Detail::Timeout { seconds: 1800 }])
        .collect();
    insta::assert_snapshot!(table(&every, name), @"
    exit: exit code 2 | 結束代碼 2 | 退出码 2
    signal: ended by signal 9 | 被訊號 9 終止 | 被信号 9 终止
    not found: command not found | 找不到命令 | 找不到命令
    not started: could not be started | 無法啟動 | 无法启动
    words: the agent reported an error | 代理回報錯誤 | 代理报告错误
    exit: exit code 2: quota spent | 結束代碼 2: quota spent | 退出码 2: quota spent
    signal: ended by signal 9: quota spent | 被訊號 9 終止: quota spent | 被信号 9 终止: quota spent
    not found: command not found: quota spent | 找不到命令: quota spent | 找不到命令: quota spent
    not started: could not be started: quota spent | 無法啟動: quota spent | 无法启动: quota spent
    words: quota spent | quota spent | quota spent
    timeout: ended after 1800 s without a result | 1800 秒後仍無結果，已終止 | 1800 秒后仍无结果，已终止
    ");
}

#[test]
fn how_a_run_begins_and_goes_on() {
    let complete = |completed, total, evidence, duration_ms| Notice::IterationComplete {
        iteration: 4,
        phase: Some("2".into()),
        tasks: counted(completed, total),
        newly_done: 1,
        evidence,
        duration_ms,
    };
    let wait = |ms, why| Notice::Wait {
        iteration: 4,
        ms,
        why,
    };
    let every = [
        Notice::LoopStart {
            tasks: counted(0, 0),
        },
        Notice::LoopStart {
            tasks: counted(2, 9),
        },
        Notice::Resume { iteration: 4 },
        Notice::IterationStart {
            iteration: 4,
            phase: None,
            task: None,
        },
        Notice::IterationStart {
            iteration: 4,
            phase: Some("2".into()),
            task: Some(task(3)),
        },
        Notice::IterationRetry {
            iteration: 4,
            class: ErrorClass::AgentTimeout,
        },
        complete(0, 0, vec![], 0),
        complete(2, 9, vec![], 9_999),
        complete(
            3,
            9,
            vec![
                Evidence::Tasks { completed: 3 },
                Evidence::Phase { phase: "2".into() },
                Evidence::Commit,
                Evidence::Tree,
            ],
            10_999,
        ),
        wait(500, WaitReason::Between),
        wait(2000, WaitReason::Backoff),
        wait(3_600_000, WaitReason::Rate),
        Notice::TaskComplete { iteration: 4 },
    ];
    insta::assert_snapshot!(table(&every, Notice::event), @"
    loop_start: loop started | 迴圈開始 | 循环开始
    loop_start: loop started: 2/9 tasks done, 7 to do | 迴圈開始：2/9 任務完成，剩餘 7 | 循环开始：2/9 任务完成，剩余 7
    resume: taken up again after iteration 4 | 從第 4 次迭代之後恢復執行 | 从第 4 次迭代之后恢复执行
    iteration_start: iteration 4 | 迭代 4 | 迭代 4
    iteration_start: iteration 4 · Phase 2 · T003 task 3 | 迭代 4 · Phase 2 · T003 task 3 | 迭代 4 · Phase 2 · T003 task 3
    iteration_retry: iteration 4 tries again after agent_timeout | 第 4 次迭代在 agent_timeout 之後重試 | 第 4 次迭代在 agent_timeout 之后重试
    iteration_complete: iteration 4 ended after 0.0 s · no progress | 第 4 次迭代結束，0.0 秒 · 無進度 | 第 4 次迭代结束，0.0 秒 · 无进度
    iteration_complete: iteration 4 ended after 9.9 s · 2/9 · no progress | 第 4 次迭代結束，9.9 秒 · 2/9 · 無進度 | 第 4 次迭代结束，9.9 秒 · 2/9 · 无进度
    iteration_complete: iteration 4 ended after 10 s · 3/9 · tasks ticked, phase 2 reached, new commit, new content | 第 4 次迭代結束，10 秒 · 3/9 · 任務已勾選、進入 Phase 2、新提交、新內容 | 第 4 次迭代结束，10 秒 · 3/9 · 任务已勾选、进入 Phase 2、新提交、新内容
    wait: pausing 0.5 s | 暫停 0.5 秒 | 暂停 0.5 秒
    wait: trying again in 2.0 s | 2.0 秒後重試 | 2.0 秒后重试
    wait: the hourly rate is used up: waiting 3600 s | 已達每小時呼叫上限：等待 3600 秒 | 已达每小时调用上限：等待 3600 秒
    task_complete: everything is done | 所有任務已完成 | 所有任务已完成
    ");
}

#[test]
fn what_is_told_of_a_turn() {
    let every = [
        Notice::PromiseDetected {
            iteration: 4,
            promise: Promise::Blocked("no key".into()),
        },
        Notice::PromiseMissing {
            iteration: 4,
            in_a_row: 2,
        },
        Notice::PromiseRejected {
            iteration: 4,
            claim: "COMPLETE".into(),
            missing: vec![
                Missing::OpenTasks {
                    count: 2,
                    first: vec![task(2), task(3)],
                },
                Missing::LostTasks { count: 3 },
            ],
        },
        Notice::Stalled {
            iteration: 4,
            in_a_row: 3,
        },
        Notice::TasksRemoved {
            iteration: 4,
            ids: texts(&["T001", "T002"]),
        },
        Notice::TasksUnticked {
            iteration: 4,
            ids: texts(&["T001", "T002"]),
        },
        Notice::Error {
            iteration: 4,
            class: ErrorClass::AgentExec,
            detail: Detail::Exit {
                code: 2,
                words: "quota spent".into(),
            },
            in_a_row: 2,
        },
        Notice::GateStart { iteration: 4 },
        Notice::GateResult {
            iteration: 4,
            passed: true,
            results: vec![ran("make", Some(0), ""), ran("make test", Some(0), "")],
        },
        Notice::GateResult {
            iteration: 4,
            passed: false,
            results: vec![
                ran("make", Some(0), ""),
                ran("make test", Some(2), "no rule"),
                ran("sleep 999", None, ""),
            ],
        },
    ];
    insta::assert_snapshot!(table(&every, Notice::event), @r#"
    promise_detected: promise: BLOCKED: no key | 輸出分析: BLOCKED: no key | 输出分析: BLOCKED: no key
    promise_missing: no promise in the answer (2 in a row) | 未偵測到 promise 標籤（連續 2 次） | 未检测到 promise 标签（连续 2 次）
    promise_rejected: rejected: the agent claims "COMPLETE", but: open tasks (2): T002 task 2; T003 task 3; tasks removed from the task file: 3 | 拒絕承諾「COMPLETE」，因為：還有 2 個未完成任務：T002 task 2; T003 task 3; 任務檔案少了 3 個任務 | 拒绝承诺“COMPLETE”，因为：还有 2 个未完成任务：T002 task 2; T003 task 3; 任务文件少了 3 个任务
    stalled: no progress (3 in a row): no new tick, commit or content | 無進度（連續 3 次）：沒有新的勾選、提交或內容 | 无进度（连续 3 次）：没有新的勾选、提交或内容
    tasks_removed: tasks were removed from the task file: T001, T002; a shorter list proves nothing | 任務檔案中的任務被刪除：T001, T002；變短的清單不代表完成 | 任务文件中的任务被删除：T001, T002；变短的清单不代表完成
    tasks_unticked: tasks that were done are open again: T001, T002 | 已完成的任務又變回未完成：T001, T002 | 已完成的任务又变回未完成：T001, T002
    error: agent_exec: exit code 2: quota spent (2 in a row) | agent_exec: 結束代碼 2: quota spent（連續 2 次） | agent_exec: 退出码 2: quota spent（连续 2 次）
    gate_start: verifying | 開始驗證 | 开始验证
    gate_result: verification passed: `make` → 0, `make test` → 0 | 驗證通過：`make` → 0, `make test` → 0 | 验证通过：`make` → 0, `make test` → 0
    gate_result: verification failed: `make test` → 2, `sleep 999` → – | 驗證失敗：`make test` → 2, `sleep 999` → – | 验证失败：`make test` → 2, `sleep 999` → –
    "#);
}

#[test]
fn limits_breakers_and_pauses() {
    let reached = |limit| Notice::LimitReached {
        iteration: 20,
        limit,
    };
    let extended = |limit, max| Notice::LimitExtended {
        iteration: 20,
        limit,
        max,
    };
    let open = |rule| Notice::BreakerOpen {
        iteration: 20,
        rule,
        count: 5,
        signs: vec![Sign::NothingNew],
    };
    let pause = |reason| Notice::Pause {
        iteration: 20,
        reason,
    };
    let every = [
        Notice::LimitNear {
            iteration: 15,
            max: 20,
        },
        Notice::LimitNear {
            iteration: 20,
            max: 20,
        },
        reached(Limit::Iterations),
        reached(Limit::Duration),
        extended(Limit::Iterations, 30),
        extended(Limit::Duration, 90_000),
        open(BreakerRule::MissingPromise),
        open(BreakerRule::Stalled),
        open(BreakerRule::SameError),
        open(BreakerRule::FalsePromise),
        pause(PauseReason::Limit(Limit::Iterations)),
        pause(PauseReason::Limit(Limit::Duration)),
        pause(PauseReason::Requested),
        pause(PauseReason::Unproven),
    ];
    insta::assert_snapshot!(table(&every, Notice::event), @"
    limit_near: iteration 15 of 20: 5 left after this one | 第 15/20 次迭代：之後剩餘 5 次 | 第 15/20 次迭代：之后剩余 5 次
    limit_near: iteration 20 of 20: 0 left after this one | 第 20/20 次迭代：之後剩餘 0 次 | 第 20/20 次迭代：之后剩余 0 次
    limit_reached: the limit of iterations is reached | 已達最大迭代次數 | 达到迭代上限
    limit_reached: the limit of time is reached | 已達時間上限 | 达到时间上限
    limit_extended: limit extended: 30 iterations | 已延長上限：30 次迭代 | 已延长上限：30 次迭代
    limit_extended: limit extended: 90 s in all | 已延長上限：共 90 秒 | 已延长上限：共 90 秒
    breaker_open: 5 iterations in a row without a promise: circuit breaker open | 連續 5 次沒有 Promise 標籤，觸發 Circuit Breaker | 连续 5 次没有 Promise 标签，触发 Circuit Breaker
    breaker_open: 5 iterations in a row without progress: circuit breaker open | 連續 5 次無進度，觸發 Circuit Breaker | 连续 5 次无进度，触发 Circuit Breaker
    breaker_open: The same error 5 times in a row: circuit breaker open | 連續 5 次相同的錯誤，觸發 Circuit Breaker | 连续 5 次相同的错误，触发 Circuit Breaker
    breaker_open: 5 false promises in a row: circuit breaker open | 連續 5 次虛假承諾，觸發 Circuit Breaker | 连续 5 次虚假承诺，触发 Circuit Breaker
    pause: paused at a limit; everything is saved | 已達上限而暫停，進度已保存 | 达到上限而暂停，进度已保存
    pause: paused at a limit; everything is saved | 已達上限而暫停，進度已保存 | 达到上限而暂停，进度已保存
    pause: paused as asked; everything is saved | 依要求暫停，進度已保存 | 按要求暂停，进度已保存
    pause: the agent says that it is done, and nothing was set up that could prove it | 代理宣稱已完成，但沒有任何驗證可以證明 | 代理声称已完成，但没有任何验证可以证明
    ");
}

#[test]
fn every_end_of_a_run_loop_15() {
    let every = [
        Outcome::Complete,
        Outcome::Paused {
            reason: PauseReason::Limit(Limit::Iterations),
        },
        Outcome::Paused {
            reason: PauseReason::Requested,
        },
        Outcome::Blocked {
            reason: "no key".into(),
        },
        Outcome::CircuitBreak {
            rule: BreakerRule::Stalled,
        },
        Outcome::Errors,
        Outcome::GateFailed {
            reason: "npm test".into(),
        },
        Outcome::Budget {
            limit: "cost".into(),
        },
        Outcome::Cancelled,
        Outcome::Interrupted,
    ]
    .map(|outcome| Notice::LoopEnd {
        outcome,
        iterations: 7,
        tasks: counted(3, 9),
        duration_ms: 4000,
        proven: vec![],
        bill: Bill::default(),
    });
    insta::assert_snapshot!(table(&every, Notice::event), @"
    loop_end: loop ended after 7 iterations: complete | 迴圈結束，共 7 次迭代：完成 | 循环结束，共 7 次迭代：完成
    loop_end: loop ended after 7 iterations: paused (max_iterations) | 迴圈結束，共 7 次迭代：已暫停（max_iterations） | 循环结束，共 7 次迭代：已暂停（max_iterations）
    loop_end: loop ended after 7 iterations: paused (requested) | 迴圈結束，共 7 次迭代：已暫停（requested） | 循环结束，共 7 次迭代：已暂停（requested）
    loop_end: loop ended after 7 iterations: blocked: no key | 迴圈結束，共 7 次迭代：受阻：no key | 循环结束，共 7 次迭代：受阻：no key
    loop_end: loop ended after 7 iterations: circuit breaker (stalled) | 迴圈結束，共 7 次迭代：Circuit Breaker（stalled） | 循环结束，共 7 次迭代：Circuit Breaker（stalled）
    loop_end: loop ended after 7 iterations: too many errors in a row | 迴圈結束，共 7 次迭代：連續錯誤過多 | 循环结束，共 7 次迭代：连续错误过多
    loop_end: loop ended after 7 iterations: verification keeps failing: npm test | 迴圈結束，共 7 次迭代：驗證持續失敗：npm test | 循环结束，共 7 次迭代：验证持续失败：npm test
    loop_end: loop ended after 7 iterations: budget spent (cost) | 迴圈結束，共 7 次迭代：預算用盡（cost） | 循环结束，共 7 次迭代：预算用尽（cost）
    loop_end: loop ended after 7 iterations: abandoned | 迴圈結束，共 7 次迭代：已放棄 | 循环结束，共 7 次迭代：已放弃
    loop_end: loop ended after 7 iterations: interrupted; everything is saved | 迴圈結束，共 7 次迭代：已中斷，進度已保存 | 循环结束，共 7 次迭代：已中断，进度已保存
    ");
}

#[test]
fn a_wait_is_rounded_up_to_whole_seconds() {
    let said = |ms: u64| crate::machine::span(ms, Lang::En);
    assert_eq!(said(59_400), "1 min");
    assert_eq!(said(58_400), "59 s");
    assert_eq!(said(3_599_500), "1 h 0 min");
}
