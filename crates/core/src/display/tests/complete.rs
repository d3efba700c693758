use super::*;
use crate::display::*;
use insta::assert_snapshot;

fn complete() -> CompleteView {
    CompleteView {
        ending: Ending {
            progress: Some(Progress::new(7, 7)),
            ..ending()
        },
        proven: vec![
            Proof::Tasks {
                file: "specs/001-pay/tasks.md".to_owned(),
                done: 7,
                total: 7,
            },
            Proof::Command {
                command: "cargo test".to_owned(),
                exit_code: 0,
                duration: Duration::from_millis(12_400),
            },
            Proof::Commits {
                count: 5,
                last: Some("1a2b3c4".to_owned()),
            },
            Proof::Commits {
                count: 1,
                last: None,
            },
        ],
        ..CompleteView::default()
    }
}

#[test]
fn complete_boxes() {
    assert_snapshot!(complete_box(&en(), &complete()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Final progress: 7/7 tasks done (100%)
    [██████████████████████████] 100%
    📈 12 iterations, 2 h 13 min

    🎉 All tasks are done! The loop ends.

    Proven:
    ✓ 7/7 tasks ticked in specs/001-pay/tasks.md
    ✓ `cargo test`: exit code 0 after 12 s
    ✓ 5 new commits, the last is 1a2b3c4
    ✓ 1 new commit

    👉 Next: ralph report  (shows the run)
    ");
    assert_snapshot!(complete_box(&tw(), &complete()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最終進度: 7/7 任務完成 (100%)
    [██████████████████████████] 100%
    📈 12 次迭代，2 小時 13 分

    🎉 所有任務已完成！Loop 模式自動退出。

    已證明：
    ✓ specs/001-pay/tasks.md 中 7/7 任務已勾選
    ✓ `cargo test`: 結束碼 0，耗時 12 秒
    ✓ 5 個新提交，最後一個是 1a2b3c4
    ✓ 1 個新提交

    👉 下一步: ralph report  (查看這次執行)
    ");
    assert_snapshot!(complete_box(&cn(), &complete()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最终进度: 7/7 任务完成 (100%)
    [██████████████████████████] 100%
    📈 12 次迭代，2 小时 13 分

    🎉 所有任务已完成！Loop 模式自动退出。

    已证明：
    ✓ specs/001-pay/tasks.md 中 7/7 任务已勾选
    ✓ `cargo test`: 退出码 0，耗时 12 秒
    ✓ 5 个新提交，最后一个是 1a2b3c4
    ✓ 1 个新提交

    👉 下一步: ralph report  (查看这次执行)
    ");
    assert_snapshot!(complete_box(&ascii(Lang::En), &complete()), @"
    +================================================================+
    |                    [x] Loop complete!                          |
    +================================================================+

    Final progress: 7/7 tasks done (100%)
    [##########################] 100%
    12 iterations, 2 h 13 min

    All tasks are done! The loop ends.

    Proven:
    + 7/7 tasks ticked in specs/001-pay/tasks.md
    + `cargo test`: exit code 0 after 12 s
    + 5 new commits, the last is 1a2b3c4
    + 1 new commit

    => Next: ralph report  (shows the run)
    ");
}

#[test]
fn what_was_not_proven_is_said() {
    let view = CompleteView {
        proven: Vec::new(),
        not_proven: vec![
            Gap::NoVerifyCommand,
            Gap::NoTaskList,
            Gap::NoGit,
            Gap::OptionalTasks { count: 1 },
            Gap::SkippedTasks {
                ids: vec!["T003".to_owned(), "T009".to_owned()],
            },
        ],
        ..complete()
    };
    assert_snapshot!(complete_box(&en(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Final progress: 7/7 tasks done (100%)
    [██████████████████████████] 100%
    📈 12 iterations, 2 h 13 min

    🎉 All other tasks are done. The loop ends.

    Not proven:
    - no verify command is configured: the ticks are the agent's own claims
    - there is no task list: nothing could be counted
    - this is no Git project: there are no commits to look at
    - 1 optional task is open: `ralph tasks` shows them
    - 2 tasks were left out: T003, T009

    👉 Next: ralph report  (shows the run)
    ");
    assert_snapshot!(complete_box(&tw(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最終進度: 7/7 任務完成 (100%)
    [██████████████████████████] 100%
    📈 12 次迭代，2 小時 13 分

    🎉 其餘任務已全部完成。Loop 模式自動退出。

    未證明：
    - 沒有設定驗證命令：勾選只是 agent 自己的聲稱
    - 沒有任務清單：無法計數
    - 這不是 Git 專案：沒有提交可查
    - 1 個選做任務尚未完成：用 `ralph tasks` 查看
    - 略過了 2 個任務: T003, T009

    👉 下一步: ralph report  (查看這次執行)
    ");
    assert_snapshot!(complete_box(&cn(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最终进度: 7/7 任务完成 (100%)
    [██████████████████████████] 100%
    📈 12 次迭代，2 小时 13 分

    🎉 其余任务已全部完成。Loop 模式自动退出。

    未证明：
    - 没有配置验证命令：勾选只是 agent 自己的声称
    - 没有任务清单：无法计数
    - 这不是 Git 项目：没有提交可查
    - 1 个选做任务尚未完成：用 `ralph tasks` 查看
    - 跳过了 2 个任务: T003, T009

    👉 下一步: ralph report  (查看这次执行)
    ");
}

#[test]
fn one_phase_is_not_all_tasks() {
    let view = CompleteView {
        ending: ending(),
        phase: Some("2".to_owned()),
        ..CompleteView::default()
    };
    assert_snapshot!(complete_box(&en(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Final progress: 3/7 tasks done (43%)
    [███████████░░░░░░░░░░░░░░░] 43%
    📈 12 iterations, 2 h 13 min

    🎉 Phase 2 is done! The loop ends.

    👉 Next: ralph report  (shows the run)
    ");
    assert_snapshot!(complete_box(&tw(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最終進度: 3/7 任務完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%
    📈 12 次迭代，2 小時 13 分

    🎉 Phase 2 已完成！Loop 模式自動退出。

    👉 下一步: ralph report  (查看這次執行)
    ");
    assert_snapshot!(complete_box(&cn(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 最终进度: 3/7 任务完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%
    📈 12 次迭代，2 小时 13 分

    🎉 Phase 2 已完成！Loop 模式自动退出。

    👉 下一步: ralph report  (查看这次执行)
    ");
}

#[test]
fn a_run_without_a_task_list_claims_no_tasks() {
    let view = CompleteView {
        ending: Ending {
            progress: None,
            next: Some("git log --oneline".to_owned()),
            ..ending()
        },
        proven: vec![Proof::Command {
            command: "npm test".to_owned(),
            exit_code: 0,
            duration: Duration::from_millis(900),
        }],
        ..CompleteView::default()
    };
    assert_snapshot!(complete_box(&en(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 iterations, 2 h 13 min

    🎉 Every check has passed. The loop ends.

    Proven:
    ✓ `npm test`: exit code 0 after 900 ms

    👉 Next: git log --oneline
    ");
    assert_snapshot!(complete_box(&tw(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 次迭代，2 小時 13 分

    🎉 所有檢查都已通過。Loop 模式自動退出。

    已證明：
    ✓ `npm test`: 結束碼 0，耗時 900 毫秒

    👉 下一步: git log --oneline
    ");
    assert_snapshot!(complete_box(&cn(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 次迭代，2 小时 13 分

    🎉 所有检查都已通过。Loop 模式自动退出。

    已证明：
    ✓ `npm test`: 退出码 0，耗时 900 毫秒

    👉 下一步: git log --oneline
    ");
}

#[test]
fn an_end_without_any_check_claims_nothing() {
    let view = CompleteView {
        ending: Ending {
            progress: None,
            ..ending()
        },
        ..CompleteView::default()
    };
    assert_snapshot!(complete_box(&en(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop complete!                           ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 iterations, 2 h 13 min

    The loop ends.

    👉 Next: ralph report  (shows the run)
    ");
    assert_snapshot!(complete_box(&tw(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 次迭代，2 小時 13 分

    Loop 模式自動退出。

    👉 下一步: ralph report  (查看這次執行)
    ");
    assert_snapshot!(complete_box(&cn(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    ✅ Loop 完成！                              ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 12 次迭代，2 小时 13 分

    Loop 模式自动退出。

    👉 下一步: ralph report  (查看这次执行)
    ");
}

/// DISP-04: a route has phases instead of tasks, and ends with the same words.
#[test]
fn a_route_ends_with_its_phases_disp_04() {
    let view = CompleteView {
        phases: Some(Progress::new(4, 4)),
        ..CompleteView::default()
    };
    for (lang, words) in [
        (
            Lang::En,
            ["4/4 phases done (100%)", "🎉 All phases are done!"],
        ),
        (
            Lang::ZhTw,
            [
                "📊 最終進度: 4/4 階段完成 (100%)",
                "🎉 所有階段已完成！Loop 模式自動退出。",
            ],
        ),
        (
            Lang::ZhCn,
            [
                "📊 最终进度: 4/4 阶段完成 (100%)",
                "🎉 所有阶段已完成！Loop 模式自动退出。",
            ],
        ),
    ] {
        let screen = Screen {
            lang,
            ..Screen::default()
        };
        let shown = complete_box(&screen, &view);
        for words in words {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }
}
