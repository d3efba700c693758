use super::*;
use crate::lang::Lang;
use crate::machine::{
    BreakerRule, CheckNotice, CommandResult, Detail, End, ErrorClass, Event, EvidenceKinds,
    GuardBlock, Kind, Limit, Missing, NoProof, Notice, Now, Observation, PauseReason, Proof,
    RepliedBy, Reply, Rules, Stage, TaskFacts, Tasks, TurnReport, VerifyWhen, WaitReason, step,
};
use crate::usage::{Tokens, Usage, Usd};

fn state(goal: Goal, outcome: Option<Outcome>) -> State {
    let mut state = State::new(Rules::new(goal)).unwrap();
    state.turn.number = 4;
    state.tasks.facts = Some(TaskFacts {
        total: 3,
        completed: 2,
        pending: 1,
        open: vec![TaskRef {
            id: "T003".into(),
            text: "Write the docs".into(),
            phase: None,
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
        tasks: Vec::new(),
        started_ms: 0,
        ended_ms: 4_800_000,
        started: "2026-01-18 10:00:00".into(),
        ended: "2026-01-18 11:20:00".into(),
        resets_at: None,
        git: Some(GitFacts {
            branch: Some("main".into()),
            from: Some("1111111aaaaaaaa".into()),
            to: Some("2222222bbbbbbbb".into()),
            commits: Some(2),
            files: Some(12),
            ..GitFacts::default()
        }),
        pid: None,
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
            looked: EvidenceKinds::default(),
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
    story.waits.get_mut("backoff").unwrap().ms = 61_500;
    story.waits.get_mut("rate").unwrap().ms = 5000;
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

    **stuck** · The circuit breaker opened: turn after turn brought nothing that counts as progress.

    - Work: specs/001/tasks.md
    - Started: 2026-01-18 10:00:00
    - Ended: 2026-01-18 11:20:00
    - Working time: 0 ms
    - Turns: 4
    - Tasks done: 2/3
    - Taken up again: 1
    - Turns without progress: 1
    - Verifications: 0 passed, 1 failed
    - Sandbox: off; the agent can do whatever you can
    - Branch: main
    - Commits: 2 (1111111..2222222)
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

    ## To look at what was made

    ```
    git diff 1111111..2222222
    ```
    "#);
    insta::assert_snapshot!(report.markdown(Lang::ZhTw), @"
    # Ralph Loop · 20260118-100000-1a2b

    **卡住** · Circuit Breaker 觸發：連續多輪沒有帶來任何算作進展的東西。

    - 工作: specs/001/tasks.md
    - 開始: 2026-01-18 10:00:00
    - 結束: 2026-01-18 11:20:00
    - 執行時間: 0 毫秒
    - 迭代次數: 4
    - 完成任務: 2/3
    - 恢復次數: 1
    - 無進度的迭代: 1
    - 驗證: 0 次通過，1 次失敗
    - 沙箱: 關閉；你能做的，代理都能做
    - 分支: main
    - 提交: 2 (1111111..2222222)
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

    ## 檢視成果

    ```
    git diff 1111111..2222222
    ```
    ");
    insta::assert_snapshot!(report.markdown(Lang::ZhCn), @"
    # Ralph Loop · 20260118-100000-1a2b

    **卡住** · Circuit Breaker 触发：连续多轮没有带来任何算作进展的东西。

    - 工作: specs/001/tasks.md
    - 开始: 2026-01-18 10:00:00
    - 结束: 2026-01-18 11:20:00
    - 运行时间: 0 毫秒
    - 迭代次数: 4
    - 完成任务: 2/3
    - 恢复次数: 1
    - 无进度的迭代: 1
    - 验证: 0 次通过，1 次失败
    - 沙箱: 关闭；你能做的，代理都能做
    - 分支: main
    - 提交: 2 (1111111..2222222)
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

    ## 查看成果

    ```
    git diff 1111111..2222222
    ```
    ");
}

#[test]
fn a_complete_run_says_what_makes_it_true_and_how_to_look_at_it() {
    let goal = Goal::Tasks { phase: None };
    let mut state = state(goal, Some(Outcome::Complete));
    state.rules.verify = Some(VerifyWhen::Complete);
    state.tasks.facts = Some(TaskFacts {
        total: 3,
        completed: 3,
        ..TaskFacts::default()
    });
    state.evidence.proven = vec![
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
    - Sandbox: off; the agent can do whatever you can
    - Branch: main
    - Commits: 2 (1111111..2222222)
    - Files changed: 12

    ## Proven

    - 3/3 tasks ticked in specs/001/tasks.md
    - `make test`: exit code 0 after 1.2 s
    - 2 new commits, the last is 2222222

    ## Not proven

    - nothing is left

    ## To look at what was made

    ```
    git diff 1111111..2222222
    ```
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
    - Sandbox: off; the agent can do whatever you can

    ## Not proven

    - there is no task list: nothing could be counted
    - no verify command is configured: the ticks are the agent's own claims
    - not shown as well as was asked for: claimed; `ralph accept`
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
    rejected · Verification kept failing: `make test` does not pass · 驗證未過 · 驗證持續失敗：`make test` 沒有通過 · ralph resume 20260118-100000-1a2b
    budget · The budget is spent: $5 · 預算用盡 · 預算已用盡：$5 · ralph resume 20260118-100000-1a2b --max-cost 0usd
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

/// A run with one task, played through the machine: a call that does it, the
/// guard's block, and a check that passes.
fn played() -> (State, Story) {
    let mut rules = Rules::new(Goal::Tasks { phase: None });
    rules.verify = Some(VerifyWhen::Complete);
    rules.agents = vec!["claude".into()];
    let mut state = State::new(rules).unwrap();
    let mut story = Story::default();
    let task = TaskRef {
        id: "T001".into(),
        text: "Parse <config>".into(),
        phase: None,
    };
    let seen = |done: usize| Observation {
        tasks: Tasks::Read(TaskFacts {
            total: 1,
            completed: done,
            pending: 1 - done,
            next: (done == 0).then(|| task.clone()),
            open: (done == 0).then(|| task.clone()).into_iter().collect(),
            ticked: (done == 1).then(|| task.clone()).into_iter().collect(),
            ..TaskFacts::default()
        }),
        tree: Some(format!("tree {done}")),
        ..Observation::default()
    };
    let events = [
        (0, Kind::Started { seen: seen(0) }),
        (
            30,
            Kind::GuardBlocked {
                lines: 1,
                blocks: vec![GuardBlock {
                    tool: "Bash".into(),
                    rule: "fs.rm".into(),
                    detail: "rm -rf / --token=ghp_0123456789abcdefghijABCDEFGHIJ012345".into(),
                    shadow: false,
                }],
            },
        ),
        (
            60,
            Kind::TurnEnded(TurnReport {
                turn: 1,
                attempt: 1,
                end: crate::machine::End::Exit(0),
                duration_ms: 60_000,
                promise: None,
                mentioned: None,
                role: None,
                failure: String::new(),
                spent: Usage {
                    tokens: Some(Tokens {
                        input: 1000,
                        output: 200,
                        ..Tokens::default()
                    }),
                    cost: Some(Usd::from_micros(120_000)),
                    at_least: false,
                },
                refusal: None,
                seen: seen(1),
            }),
        ),
        (
            75,
            Kind::Verified(crate::machine::VerifyReport {
                trials: Vec::new(),
                weighed: None,
                strays: None,
                turn: 1,
                tree: None,
                results: vec![CommandResult {
                    command: "make test".into(),
                    exit: Some(0),
                    duration_ms: 15_000,
                    output: String::new(),
                    ..CommandResult::default()
                }],
            }),
        ),
    ];
    for (second, kind) in events {
        let at = Now {
            wall_ms: 1_768_730_400_000 + second * 1000,
            steady_ms: u64::try_from(second).unwrap() * 1000,
        };
        let event = Event { at, kind };
        let told = step(&mut state, &event).into_iter();
        let told: Vec<Notice> = told
            .filter_map(|effect| match effect {
                crate::machine::Effect::Emit(notice) => Some(notice),
                _ => None,
            })
            .collect();
        story.hear(&event, &state, &told);
    }
    (state, story)
}

fn played_report() -> Report {
    let (state, story) = played();
    let git = GitFacts {
        commit_list: vec![Commit {
            id: "2222222".into(),
            subject: "Parse \"it\" & <more>".into(),
        }],
        file_list: vec![FileChange {
            path: "src/config.rs".into(),
            added: Some(40),
            removed: Some(2),
        }],
        ..facts().git.unwrap()
    };
    let facts = Facts {
        started_ms: 1_768_730_400_000,
        ended_ms: 1_768_730_475_000,
        tasks: vec![TaskLine {
            id: "T001".into(),
            text: "Parse <config>".into(),
            phase: Some("1".into()),
            done: true,
        }],
        git: Some(git),
        ..facts()
    };
    Report::new(facts, &state, story)
}

#[test]
fn a_story_knows_every_call_and_every_rest() {
    let (_, story) = played();
    let [call] = &story.calls[..] else {
        panic!("{:?}", story.calls);
    };
    assert_eq!((call.turn, call.attempt, call.newly_done), (1, 1, 1));
    assert_eq!(
        (call.agent.as_str(), call.duration_ms),
        ("claude", Some(60_000))
    );
    assert_eq!(call.task.as_ref().unwrap().id, "T001");
    assert_eq!((call.verdict, call.verified), (Verdict::Proven, Some(true)));
    assert_eq!(call.spent.cost, Some(Usd::from_micros(120_000)));
    let [rest] = &story.rests[..] else {
        panic!("{:?}", story.rests);
    };
    assert_eq!((rest.why, rest.duration_ms), (RestReason::Checking, 15_000));
    assert_eq!(story.last_check, Some((1, true)));
    assert_eq!(story.blocked.len(), 1);
}

#[test]
fn programs_get_the_same_facts() {
    let json = played_report().json();
    assert_eq!(json["outcome"], "complete");
    assert_eq!(json["next_command"], serde_json::Value::Null);
    assert_eq!(json["task_list"][0]["proof"], "checked");
    assert_eq!(json["task_list"][0]["usage"]["cost_usd"], 0.12);
    assert_eq!(json["calls"][0]["verdict"], "proven");
    assert_eq!(json["calls"][0]["tokens"], 1200);
    assert_eq!(json["git"]["file_list"][0]["added"], 40);
    assert_eq!(json["guard_blocks"][0]["rule"], "fs.rm");
    let text = json.to_string();
    assert!(!text.contains("ghp_"), "{text}");
}

#[test]
fn the_page_stands_alone_in_every_language_and_escapes_what_it_is_told() {
    let report = played_report();
    for (lang, word) in [
        (Lang::En, "complete"),
        (Lang::ZhTw, "完成"),
        (Lang::ZhCn, "完成"),
    ] {
        let page = report.html(lang);
        assert!(page.starts_with("<!doctype html>"));
        assert!(page.contains(&format!("<html lang=\"{}\">", lang.into_str())));
        assert!(page.contains(&format!(">{word}</h1>")), "{page}");
        for needed in [
            "Parse &lt;config&gt;",
            "Parse &quot;it&quot; &amp; &lt;more&gt;",
            "src/config.rs +40 -2",
            "class=\"v-progress\"",
            "class=\"v-checking\"",
            "$0.12",
            "make test",
        ] {
            assert!(page.contains(needed), "{lang:?} lacks {needed}: {page}");
        }
        for never in [
            "<script", "http://", "https://", "ghp_", "<config>", " src=", "@import",
        ] {
            assert!(!page.contains(never), "{lang:?} has {never}: {page}");
        }
    }
}

#[test]
fn ten_thousand_turns_make_a_small_page() {
    let (state, mut story) = played();
    let call = story.calls[0].clone();
    story.calls = (1..=10_000)
        .map(|turn| Call {
            turn,
            started_ms: call.started_ms + i64::from(turn) * 60_000,
            ..call.clone()
        })
        .collect();
    let facts = Facts {
        ended_ms: call.started_ms + 10_001 * 60_000,
        started_ms: call.started_ms,
        ..facts()
    };
    let page = Report::new(facts, &state, story).html(Lang::En);
    assert!(page.len() < 300_000, "{}", page.len());
    assert!(page.contains("and 9700 more"), "{}", page.len());
}

/// T-11: a run that somebody drives is told as one that goes on.
#[test]
fn a_living_run_is_not_over_and_nobody_is_sent_to_resume_it() {
    let goal = Goal::Tasks { phase: None };
    let mut state = state(goal, None);
    for (stage, word) in [
        (Stage::Running, "working"),
        (Stage::Waiting, "waiting"),
        (Stage::Verifying { completes: true }, "verifying"),
    ] {
        state.stage = stage;
        let alive = Facts {
            pid: Some(7),
            ..facts()
        };
        let report = Report::new(alive, &state, Story::default());
        let text = report.markdown(Lang::En);
        assert!(text.contains("**running** · It is not over yet"), "{text}");
        assert!(text.contains(word), "{text}");
        assert!(
            !text.contains("resume") && !text.contains("Ended"),
            "{text}"
        );
        let json = report.json();
        assert_eq!(json["outcome"], "running");
        assert_eq!(json["standing"], word);
        assert_eq!(json["ended"], serde_json::Value::Null);
        assert_eq!(json["next_command"], "ralph monitor");
        let dead = Report::new(facts(), &state, Story::default());
        assert_eq!(dead.json()["outcome"], "unfinished");
        assert_eq!(dead.json()["standing"], "dead");
        assert!(dead.markdown(Lang::En).contains("ralph resume"));
    }
}

/// T-12: a wait is as long as it was, and a tick is of the turn that made it.
#[test]
fn waits_and_ticks_are_told_as_they_were() {
    let mut story = Story::default();
    let rules = Rules::new(Goal::Tasks { phase: None });
    let mut state = State::new(rules).unwrap();
    let task = |n: u32| TaskRef {
        id: format!("T{n:03}"),
        ..TaskRef::default()
    };
    let seen = |ticked: &[u32]| Observation {
        tasks: Tasks::Read(TaskFacts {
            total: 3,
            ticked: ticked.iter().map(|&n| task(n)).collect(),
            ..TaskFacts::default()
        }),
        ..Observation::default()
    };
    let mut hear = |stage: Stage, second: i64, kind: Kind, notices: &[Notice]| {
        state.stage = stage;
        let at = Now {
            wall_ms: second * 1000,
            ..Now::default()
        };
        story.hear(&Event { at, kind }, &state, notices);
    };
    let wait = Notice::Wait {
        iteration: 1,
        ms: 3_600_000,
        why: WaitReason::Limit,
    };
    hear(Stage::Running, 0, Kind::Started { seen: seen(&[1]) }, &[]);
    let ended = |turn, ticked| {
        Kind::TurnEnded(TurnReport {
            turn,
            seen: seen(ticked),
            attempt: 1,
            end: End::Exit(0),
            duration_ms: 1000,
            promise: None,
            mentioned: None,
            role: None,
            failure: String::new(),
            refusal: None,
            spent: Usage::default(),
        })
    };
    hear(Stage::Waiting, 10, ended(1, &[1, 2]), &[wait]);
    // A person ended the hour after two minutes.
    hear(Stage::Running, 130, Kind::Nudged { seen: seen(&[]) }, &[]);
    let back = CheckNotice::TickRejected {
        iteration: 2,
        tasks: vec![task(3)],
        why: NoProof::NotRun,
    };
    hear(Stage::Running, 140, ended(2, &[3]), &[back.into()]);
    hear(Stage::Running, 150, ended(3, &[3]), &[]);
    let waits: Vec<u64> = story.waits.values().map(|waits| waits.ms).collect();
    assert_eq!(waits, [120_000]);
    let line = |n: u32| TaskLine {
        id: format!("T{n:03}"),
        done: true,
        ..TaskLine::default()
    };
    let told = tasks::stories(&[line(1), line(2), line(3)], &story, &Default::default());
    let proofs: Vec<TaskProof> = told.iter().map(|story| story.proof).collect();
    let ticked = |turn| TaskProof::Ticked { turn };
    assert_eq!(proofs, [TaskProof::Before, ticked(1), ticked(3)]);
}

/// Checks that fail later take the proof of a task back.
#[test]
fn a_tick_is_proven_only_by_checks_that_passed_last() {
    let line = |done| TaskLine {
        id: "T001".into(),
        done,
        ..TaskLine::default()
    };
    let check = |done: bool, last_check: Option<(u32, bool)>, skipped: &[&str], want: TaskProof| {
        let (_, mut story) = played();
        story.last_check = last_check;
        let skipped = skipped.iter().map(|id| (*id).to_owned()).collect();
        let stories = tasks::stories(&[line(done)], &story, &skipped);
        assert_eq!(stories[0].proof, want);
    };
    let (turn, checked) = (1, 3);
    check(
        true,
        Some((3, true)),
        &[],
        TaskProof::Checked { turn, checked },
    );
    check(true, Some((3, false)), &[], TaskProof::Ticked { turn });
    check(true, Some((0, true)), &[], TaskProof::Ticked { turn });
    check(true, None, &[], TaskProof::Ticked { turn });
    check(false, Some((3, true)), &[], TaskProof::Open);
    check(false, None, &["T001"], TaskProof::Skipped);
    let mut stories = tasks::stories(&[line(true)], &Story::default(), &Default::default());
    assert_eq!(stories[0].proof, TaskProof::Before);
    let proof = crate::proof::TaskProof {
        turn: 2,
        ..Default::default()
    };
    tasks::take_proofs(&mut stories, &[("T001".to_owned(), proof)].into());
    let (turn, checked) = (2, 2);
    assert_eq!(stories[0].proof, TaskProof::Checked { turn, checked });
}

#[test]
fn questions_are_told_with_their_answer_or_how_to_give_it() {
    let question = |id, reply: Option<(&str, RepliedBy)>| Question {
        id,
        turn: 2,
        task: Some(TaskRef {
            id: "T003".into(),
            text: "Pay".into(),
            phase: None,
        }),
        text: "Which <currency>?".into(),
        options: Vec::new(),
        default: Some("EUR".into()),
        changed_checks: Vec::new(),
        asked_ms: 0,
        deadline_ms: 0,
        reply: reply.map(|(text, by)| Reply {
            text: text.into(),
            by,
            at_ms: 0,
        }),
    };
    let mut report = played_report();
    report.questions = vec![
        question(1, None),
        question(2, Some(("TWD", RepliedBy::Person))),
        question(3, Some(("EUR", RepliedBy::Default))),
    ];
    let text = report.markdown(Lang::En);
    let told = text.split("## Questions\n\n").nth(1).unwrap();
    let told = told.split("\n\n").next().unwrap();
    assert_eq!(
        told,
        "- T003: Which &lt;currency>? (open: `ralph answer 1 TEXT`)\n\
         - T003: Which &lt;currency>? → TWD\n\
         - T003: Which &lt;currency>? → EUR (the default; nobody answered in time)"
    );
    let page = report.html(Lang::En);
    assert_eq!(page.matches("Which &lt;currency&gt;?").count(), 3);
    let json = report.json();
    assert_eq!(json["questions"][0]["answer"], serde_json::Value::Null);
    assert_eq!(json["questions"][2]["answered_by"], "default");
}
