use super::*;
use crate::lang::Lang;
use crate::machine::{
    BreakerRule, CommandResult, Limit, PauseReason, Proof, Rules, Stage, TaskFacts, VerifyWhen,
};

fn state(goal: Goal, outcome: Option<Outcome>) -> State {
    let mut state = State::new(Rules::new(goal)).unwrap();
    state.turns = 4;
    state.tasks = Some(TaskFacts {
        total: 3,
        completed: 2,
        pending: 1,
        open: vec![TaskRef {
            id: "T003".into(),
            text: "Write the docs".into(),
        }],
        ..TaskFacts::default()
    });
    if let Some(outcome) = outcome {
        state.stage = Stage::Finished(outcome);
    }
    state
}

fn facts() -> Facts {
    Facts {
        run_id: "20260118-100000-1a2b".into(),
        what: "specs/001/tasks.md".into(),
        started: "2026-01-18 10:00:00".into(),
        ended: "2026-01-18 11:20:00".into(),
        git: Some(GitFacts {
            branch: Some("main".into()),
            from: Some("1111111aaaaaaaa".into()),
            to: Some("2222222bbbbbbbb".into()),
            commits: Some(2),
            files: Some(12),
        }),
    }
}

fn story() -> Story {
    let mut story = Story::default();
    for notice in [
        Notice::Resume { iteration: 1 },
        Notice::Wait {
            iteration: 1,
            ms: 1500,
            why: WaitReason::Backoff,
        },
        Notice::Wait {
            iteration: 2,
            ms: 60_000,
            why: WaitReason::Backoff,
        },
        Notice::Wait {
            iteration: 2,
            ms: 5000,
            why: WaitReason::Rate,
        },
        Notice::PromiseRejected {
            iteration: 3,
            claim: "COMPLETE".into(),
            missing: vec![Missing::Failing {
                command: "make test".into(),
            }],
        },
        Notice::GateResult {
            iteration: 3,
            passed: false,
            results: Vec::<CommandResult>::new(),
        },
        Notice::Stalled {
            iteration: 3,
            in_a_row: 1,
        },
        Notice::Error {
            iteration: 2,
            class: ErrorClass::AgentExec,
            detail: Detail::Exit {
                code: 3,
                words: "boom".into(),
            },
            in_a_row: 1,
        },
    ] {
        story.take(&notice);
    }
    story
}

#[test]
fn a_failed_run_tells_everything_that_is_known() {
    let goal = Goal::Tasks { phase: None };
    let outcome = Outcome::CircuitBreak {
        rule: BreakerRule::Stalled,
    };
    let report = Report::new(facts(), &state(goal, Some(outcome)), story());
    insta::assert_snapshot!(report.markdown(Lang::En), @r#"
    # Ralph Loop · 20260118-100000-1a2b

    **stuck** · The circuit breaker opened: turn after turn left nothing new behind.

    - Work: specs/001/tasks.md
    - Started: 2026-01-18 10:00:00
    - Ended: 2026-01-18 11:20:00
    - Working time: 0 ms
    - Turns: 4
    - Tasks done: 2/3
    - Taken up again: 1
    - Turns without progress: 1
    - Verifications: 0 passed, 1 failed
    - Branch: main
    - Commits: 2 (1111111aaaaaaaa..2222222bbbbbbbb)
    - Files changed: 12

    ## Proven

    - 2 new commits, the last is 2222222

    ## Not proven

    - open tasks (1): T003 Write the docs
    - no verify command is configured: the ticks are the agent's own claims

    ## Rejected claims

    - turn 3, "COMPLETE": `make test` does not pass

    ## Errors

    - turn 2, Agent execution error: exit code 3: boom

    ## Waits

    - after errors: 2 ×, 1 min 1 s in all
    - hourly limit of calls: 1 ×, 5.0 s in all

    ## To go on

    ```
    ralph resume 20260118-100000-1a2b
    ```
    "#);
    insta::assert_snapshot!(report.markdown(Lang::ZhTw), @"
    # Ralph Loop · 20260118-100000-1a2b

    **卡住** · Circuit Breaker 觸發：連續多輪沒有任何新進展。

    - 工作: specs/001/tasks.md
    - 開始: 2026-01-18 10:00:00
    - 結束: 2026-01-18 11:20:00
    - 執行時間: 0 毫秒
    - 迭代次數: 4
    - 完成任務: 2/3
    - 恢復次數: 1
    - 無進度的迭代: 1
    - 驗證: 0 次通過，1 次失敗
    - 分支: main
    - 提交: 2 (1111111aaaaaaaa..2222222bbbbbbbb)
    - 變更檔案: 12

    ## 已證明

    - 2 個新提交，最後一個是 2222222

    ## 未證明

    - 未完成任務（1）：T003 Write the docs
    - 沒有設定驗證命令：勾選只是 agent 自己的聲稱

    ## 被駁回的宣稱

    - 第 3 輪「COMPLETE」：`make test` 沒有通過

    ## 錯誤

    - 第 2 輪，Agent 執行錯誤：結束代碼 3: boom

    ## 等待

    - 錯誤之後：2 次，共 1 分 1 秒
    - 每小時上限：1 次，共 5.0 秒

    ## 繼續執行

    ```
    ralph resume 20260118-100000-1a2b
    ```
    ");
    insta::assert_snapshot!(report.markdown(Lang::ZhCn), @"
    # Ralph Loop · 20260118-100000-1a2b

    **卡住** · Circuit Breaker 触发：连续多轮没有任何新进展。

    - 工作: specs/001/tasks.md
    - 开始: 2026-01-18 10:00:00
    - 结束: 2026-01-18 11:20:00
    - 运行时间: 0 毫秒
    - 迭代次数: 4
    - 完成任务: 2/3
    - 恢复次数: 1
    - 无进度的迭代: 1
    - 验证: 0 次通过，1 次失败
    - 分支: main
    - 提交: 2 (1111111aaaaaaaa..2222222bbbbbbbb)
    - 变更文件: 12

    ## 已证明

    - 2 个新提交，最后一个是 2222222

    ## 未证明

    - 未完成任务（1）：T003 Write the docs
    - 没有配置验证命令：勾选只是 agent 自己的声称

    ## 被驳回的声称

    - 第 3 轮“COMPLETE”：`make test` 没有通过

    ## 错误

    - 第 2 轮，Agent 执行错误：退出码 3: boom

    ## 等待

    - 错误之后：2 次，共 1 分 1 秒
    - 每小时上限：1 次，共 5.0 秒

    ## 继续执行

    ```
    ralph resume 20260118-100000-1a2b
    ```
    ");
}

#[test]
fn a_complete_run_says_what_makes_it_true_and_has_nothing_to_go_on_with() {
    let goal = Goal::Tasks { phase: None };
    let mut state = state(goal, Some(Outcome::Complete));
    state.rules.verify = Some(VerifyWhen::Complete);
    state.tasks = Some(TaskFacts {
        total: 3,
        completed: 3,
        ..TaskFacts::default()
    });
    state.proven = vec![
        Proof::Tasks {
            completed: 3,
            total: 3,
        },
        Proof::Command {
            command: "make test".into(),
            duration_ms: 1200,
        },
    ];
    let report = Report::new(facts(), &state, Story::default());
    insta::assert_snapshot!(report.markdown(Lang::En), @"
    # Ralph Loop · 20260118-100000-1a2b

    **complete** · Everything that was asked for is done, as far as it could be checked.

    - Work: specs/001/tasks.md
    - Started: 2026-01-18 10:00:00
    - Ended: 2026-01-18 11:20:00
    - Working time: 0 ms
    - Turns: 4
    - Tasks done: 3/3
    - Branch: main
    - Commits: 2 (1111111aaaaaaaa..2222222bbbbbbbb)
    - Files changed: 12

    ## Proven

    - 3/3 tasks ticked in specs/001/tasks.md
    - `make test`: exit code 0 after 1.2 s
    - 2 new commits, the last is 2222222
    ");
}

#[test]
fn a_plain_prompt_outside_git_proves_little() {
    let facts = Facts {
        what: "fix\nit \u{1b}[31mnow".into(),
        git: None,
        ..facts()
    };
    let outcome = Outcome::Paused {
        reason: PauseReason::Unproven,
    };
    let report = Report::new(facts, &state(Goal::Prompt, Some(outcome)), Story::default());
    insta::assert_snapshot!(report.markdown(Lang::En), @"
    # Ralph Loop · 20260118-100000-1a2b

    **paused** · The agent says that it is done, and nothing could prove it.

    - Work: fix it now
    - Started: 2026-01-18 10:00:00
    - Ended: 2026-01-18 11:20:00
    - Working time: 0 ms
    - Turns: 4

    ## Not proven

    - there is no task list: nothing could be counted
    - no verify command is configured: the ticks are the agent's own claims
    - this is no Git project: there are no commits to look at

    ## To go on

    ```
    ralph resume 20260118-100000-1a2b
    ```
    ");
}

#[test]
fn every_outcome_has_a_word_a_sentence_and_a_way_on() {
    let outcomes = [
        Some(Outcome::Complete),
        Some(Outcome::Paused {
            reason: PauseReason::Requested,
        }),
        Some(Outcome::Paused {
            reason: PauseReason::Limit(Limit::Iterations),
        }),
        Some(Outcome::Paused {
            reason: PauseReason::Limit(Limit::Duration),
        }),
        Some(Outcome::Blocked {
            reason: "no key".into(),
        }),
        Some(Outcome::CircuitBreak {
            rule: BreakerRule::SameError,
        }),
        Some(Outcome::CircuitBreak {
            rule: BreakerRule::MissingPromise,
        }),
        Some(Outcome::CircuitBreak {
            rule: BreakerRule::FalsePromise,
        }),
        Some(Outcome::Errors),
        Some(Outcome::GateFailed {
            reason: "make test".into(),
        }),
        Some(Outcome::Budget { limit: "$5".into() }),
        Some(Outcome::Cancelled),
        Some(Outcome::Interrupted),
        None,
    ];
    let lines: Vec<String> = outcomes
        .into_iter()
        .map(|outcome| {
            let report = Report::new(facts(), &state(Goal::Prompt, outcome), Story::default());
            let name = outcome_name(report.outcome.as_ref());
            let said = [Lang::En, Lang::ZhTw].map(|lang| {
                format!(
                    "{} · {}",
                    outcome_word(lang, name),
                    words::sentence(lang, &report)
                )
            });
            let next = words::next_command(&report).unwrap_or_else(|| "-".into());
            format!("{} · {next}", said.join(" · "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    complete · Everything that was asked for is done, as far as it could be checked. · 完成 · 要求的工作都已完成（以可檢查的範圍為準）。 · -
    paused · A person asked for a pause; everything is saved. · 已暫停 · 依使用者要求暫停；進度已保存。 · ralph resume 20260118-100000-1a2b
    paused · The limit of iterations was reached. · 已暫停 · 已達迭代上限。 · ralph resume 20260118-100000-1a2b
    paused · The limit of time was reached. · 已暫停 · 已達時間上限。 · ralph resume 20260118-100000-1a2b
    blocked · The agent says that it can't go on: no key · 受阻 · 代理表示無法繼續：no key · ralph resume 20260118-100000-1a2b
    stuck · The circuit breaker opened: the same failure came again and again. · 卡住 · Circuit Breaker 觸發：相同的失敗一再出現。 · ralph resume 20260118-100000-1a2b
    stuck · The circuit breaker opened: answer after answer had no promise in it. · 卡住 · Circuit Breaker 觸發：連續多次回答沒有 promise 標籤。 · ralph resume 20260118-100000-1a2b
    stuck · The circuit breaker opened: the agent kept claiming what was not true. · 卡住 · Circuit Breaker 觸發：代理一再虛假承諾。 · ralph resume 20260118-100000-1a2b
    errors · Too many errors in a row ended the run (0 in all). · 錯誤 · 連續錯誤過多，執行已結束（共 0 次）。 · ralph resume 20260118-100000-1a2b
    rejected · Verification kept failing: make test · 驗證未過 · 驗證持續失敗：make test · ralph resume 20260118-100000-1a2b
    budget · The budget is spent: $5 · 預算用盡 · 預算已用盡：$5 · ralph resume 20260118-100000-1a2b
    cancelled · A person gave the run up (USER_ABORT). · 已取消 · 使用者已放棄此次執行（USER_ABORT）。 · ralph resume 20260118-100000-1a2b --restart
    interrupted · A person or the system stopped the run; everything is saved. · 已中斷 · 使用者或系統中止了執行；進度已保存。 · ralph resume 20260118-100000-1a2b
    unfinished · Its process ended without saying how; the journal has everything up to there. · 未完成 · 行程未說明原因即已終止；在此之前的一切都在日誌中。 · ralph resume 20260118-100000-1a2b
    ");
}

#[test]
fn a_long_list_says_how_much_is_left_out() {
    let mut story = Story::default();
    for turn in 1..=25 {
        story.take(&Notice::PromiseRejected {
            iteration: turn,
            claim: "DONE".into(),
            missing: Vec::new(),
        });
    }
    let report = Report::new(facts(), &state(Goal::Prompt, None), story);
    let text = report.markdown(Lang::En);
    assert!(text.contains("- turn 20, "), "{text}");
    assert!(!text.contains("- turn 21, "), "{text}");
    assert!(text.contains("- and 5 more\n"), "{text}");
}
