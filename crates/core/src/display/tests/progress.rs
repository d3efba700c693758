use super::*;
use crate::display::*;
use insta::assert_snapshot;

fn phases() -> Vec<PhaseView> {
    let phase = |key: &str, title: &str, done, total, state| PhaseView {
        key: key.to_owned(),
        title: title.to_owned(),
        done,
        total,
        state,
    };
    vec![
        phase("1", "Foundation", 3, 3, StepState::Done),
        phase("2", "支付 API", 2, 5, StepState::Active),
        phase("3", "Broken", 1, 2, StepState::Failed),
        phase("4", "Integration", 0, 4, StepState::Pending),
    ]
}

fn view() -> ProgressView {
    let role = |name: &str, state| RoleView {
        name: name.to_owned(),
        state,
    };
    ProgressView {
        kind: LoopKind::Plain,
        progress: Some(Progress::new(3, 7)),
        phases: Vec::new(),
        current: Some("T004 Write the parser".to_owned()),
        roles: vec![
            role("DEVELOPER", StepState::Done),
            role("REVIEWER", StepState::Active),
            role("TESTER", StepState::Pending),
        ],
        iteration: 4,
        max_iterations: Some(100),
    }
}

#[test]
fn trees() {
    assert_snapshot!(phase_tree(&en(), &phases()), @"
    ├── ✅ Phase 1: Foundation  - 3/3 done
    ├── 🔄 Phase 2: 支付 API    - 2/5 in progress
    ├── ❌ Phase 3: Broken      - 1/2 failed
    └── ⏳ Phase 4: Integration - 0/4 pending
    ");
    assert_snapshot!(phase_tree(&tw(), &phases()), @"
    ├── ✅ Phase 1: Foundation  - 3/3 完成
    ├── 🔄 Phase 2: 支付 API    - 2/5 進行中
    ├── ❌ Phase 3: Broken      - 1/2 失敗
    └── ⏳ Phase 4: Integration - 0/4 待處理
    ");
    assert_snapshot!(phase_tree(&cn(), &phases()), @"
    ├── ✅ Phase 1: Foundation  - 3/3 完成
    ├── 🔄 Phase 2: 支付 API    - 2/5 进行中
    ├── ❌ Phase 3: Broken      - 1/2 失败
    └── ⏳ Phase 4: Integration - 0/4 待处理
    ");
    assert_snapshot!(phase_tree(&ascii(Lang::ZhTw), &phases()), @"
    |-- [x] Phase 1: Foundation  - 3/3 完成
    |-- [>] Phase 2: 支付 API    - 2/5 進行中
    |-- [!] Phase 3: Broken      - 1/2 失敗
    `-- [ ] Phase 4: Integration - 0/4 待處理
    ");
    assert_eq!(phase_tree(&en(), &[]), "");
}

#[test]
fn progress_boxes() {
    assert_snapshot!(progress_box(&en(), &view()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop running                             ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 Overall progress: 3/7 tasks done (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    🔄 Current: T004 Write the parser
       └── D→R→T: DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳

    📈 Iteration: #4 / 100
    ");
    assert_snapshot!(progress_box(&tw(), &view()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式運行中                          ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 總體進度: 3/7 任務完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    🔄 當前: T004 Write the parser
       └── D→R→T: DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳

    📈 迭代: #4 / 100
    ");
    assert_snapshot!(progress_box(&cn(), &view()), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式运行中                          ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 总体进度: 3/7 任务完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    🔄 当前: T004 Write the parser
       └── D→R→T: DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳

    📈 迭代: #4 / 100
    ");
    assert_snapshot!(progress_box(&ascii(Lang::En), &view()), @"
    +================================================================+
    |                    Loop running                                |
    +================================================================+

    Overall progress: 3/7 tasks done (43%)
    [###########---------------] 43%

    [>] Current: T004 Write the parser
       `-- D->R->T: DEVELOPER [x] -> REVIEWER [>] -> TESTER [ ]

    Iteration: #4 / 100
    ");
}

#[test]
fn progress_boxes_of_openspec() {
    let view = ProgressView {
        kind: LoopKind::OpenSpec {
            change: "add-payments".to_owned(),
        },
        phases: phases(),
        roles: Vec::new(),
        max_iterations: None,
        ..view()
    };
    assert_snapshot!(progress_box(&en(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop running (OpenSpec)                  ║
    ╚════════════════════════════════════════════════════════════════╝

    📁 Change: add-payments
    📊 Overall progress: 3/7 tasks done (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    ├── ✅ Phase 1: Foundation  - 3/3 done
    ├── 🔄 Phase 2: 支付 API    - 2/5 in progress
    ├── ❌ Phase 3: Broken      - 1/2 failed
    └── ⏳ Phase 4: Integration - 0/4 pending

    🔄 Current: T004 Write the parser

    📈 Iteration: #4 (no limit)
    ");
    assert_snapshot!(progress_box(&tw(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式運行中（OpenSpec）              ║
    ╚════════════════════════════════════════════════════════════════╝

    📁 變更: add-payments
    📊 總體進度: 3/7 任務完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    ├── ✅ Phase 1: Foundation  - 3/3 完成
    ├── 🔄 Phase 2: 支付 API    - 2/5 進行中
    ├── ❌ Phase 3: Broken      - 1/2 失敗
    └── ⏳ Phase 4: Integration - 0/4 待處理

    🔄 當前: T004 Write the parser

    📈 迭代: #4（無上限）
    ");
    assert_snapshot!(progress_box(&cn(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式运行中（OpenSpec）              ║
    ╚════════════════════════════════════════════════════════════════╝

    📁 变更: add-payments
    📊 总体进度: 3/7 任务完成 (43%)
    [███████████░░░░░░░░░░░░░░░] 43%

    ├── ✅ Phase 1: Foundation  - 3/3 完成
    ├── 🔄 Phase 2: 支付 API    - 2/5 进行中
    ├── ❌ Phase 3: Broken      - 1/2 失败
    └── ⏳ Phase 4: Integration - 0/4 待处理

    🔄 当前: T004 Write the parser

    📈 迭代: #4（无上限）
    ");
}

#[test]
fn a_run_without_a_task_list_has_no_progress() {
    let view = ProgressView {
        iteration: 2,
        ..ProgressView::default()
    };
    assert_snapshot!(progress_box(&en(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop running                             ║
    ╚════════════════════════════════════════════════════════════════╝

    📈 Iteration: #2 (no limit)
    ");
}

#[test]
fn no_tasks_at_all_is_zero_of_zero() {
    let view = ProgressView {
        progress: Some(Progress::new(0, 0)),
        ..ProgressView::default()
    };
    assert_snapshot!(progress_box(&tw(), &view), @"
    ╔════════════════════════════════════════════════════════════════╗
    ║                    🔁 Loop 模式運行中                          ║
    ╚════════════════════════════════════════════════════════════════╝

    📊 總體進度: 0/0 任務完成 (0%)
    [░░░░░░░░░░░░░░░░░░░░░░░░░░] 0%

    📈 迭代: #0（無上限）
    ");
}

#[test]
fn iteration_headers() {
    let view = IterationView {
        iteration: 4,
        max_iterations: Some(20),
        phase: Some("2: API".to_owned()),
        task: Some("T004 Write the parser".to_owned()),
    };
    assert_snapshot!(iteration_header(&en(), &view), @"🔄 Iteration 4/20 | Phase 2: API | T004 Write the parser");
    assert_snapshot!(iteration_header(&tw(), &view), @"🔄 第 4/20 次迭代 | Phase 2: API | T004 Write the parser");
    assert_snapshot!(iteration_header(&cn(), &view), @"🔄 第 4/20 次迭代 | Phase 2: API | T004 Write the parser");
    assert_snapshot!(iteration_header(&ascii(Lang::En), &view), @"[>] Iteration 4/20 | Phase 2: API | T004 Write the parser");
    let unlimited = IterationView {
        iteration: 4,
        ..IterationView::default()
    };
    assert_snapshot!(iteration_header(&en(), &unlimited), @"🔄 Iteration 4");
}
