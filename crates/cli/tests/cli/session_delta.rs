//! The state file of seed 004 at each step of a deep task, in every language.

use crate::env::TestEnv;
use crate::session::ONE;
use crate::session_do::leave;

/// The sections of seed 004's state file that move: progress, what is left,
/// what is done.
fn moving_parts(env: &TestEnv) -> String {
    let state = crate::delta::state(env);
    let (_, rest) = state.split_once("## Progress\n").unwrap();
    let (parts, _) = rest.split_once("## Promise").unwrap();
    let lines = parts.lines().filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// DELT-04, DELT-08: what stands in the state file at each step of a deep task.
fn told_at_each_step(lang: &str) -> String {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", lang);
    client.says("/do \"Build the thing\" --deep");
    let mut told = vec![moving_parts(&env)];
    let mut step = |file: &str, text: &str, said: &str| {
        leave(&env, file, text);
        env.write("work.txt", file);
        client.stops(said);
        told.push(moving_parts(&env));
    };
    step("1_analysis.md", "two parts", "analysed");
    step(
        "2_plan.md",
        "- [ ] The model\n- [ ] The service\n",
        "planned",
    );
    step("3_subtask_1.md", "done", "done");
    step("3_subtask_2.md", "done", "done");
    step("4_review.md", "good", "VERDICT: APPROVE");
    told.join("\n---\n")
}

#[test]
fn the_state_file_is_that_of_the_seed_at_each_step() {
    insta::assert_snapshot!(told_at_each_step("zh-CN"), @"
    - Current Phase: 1
    - Completed Phases: []
    - Current Subtask: 0 / 0
    ## Pending Work
    1. Phase 1: 深度分析
    2. Phase 2: 规划
    3. Phase 3: 执行子任务
    4. Phase 4: 综合审查
    ## Completed Work
    (none)
    ---
    - Current Phase: 2
    - Completed Phases: [1]
    - Current Subtask: 0 / 0
    ## Pending Work
    1. Phase 2: 规划
    2. Phase 3: 执行子任务
    3. Phase 4: 综合审查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 0 / 2
    ## Pending Work
    1. Phase 3: 执行 2 个子任务
    2. Phase 4: 综合审查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 规划
    - 2_plan.md
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 1 / 2
    ## Pending Work
    1. Phase 3: 完成剩余 1 个子任务
    2. Phase 4: 综合审查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 规划
    - 2_plan.md
    ### Phase 3: 子任务进度
    - [x] 子任务 1: The model
    - [ ] 子任务 2: The service
    ---
    - Current Phase: 4
    - Completed Phases: [1, 2, 3]
    - Current Subtask: 2 / 2
    ## Pending Work
    1. Phase 4: 综合审查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 规划
    - 2_plan.md
    ### Phase 3: 子任务进度
    - [x] 子任务 1: The model
    - [x] 子任务 2: The service
    ---
    - Current Phase: 4
    - Completed Phases: [1, 2, 3, 4]
    - Current Subtask: 2 / 2
    ## Pending Work
    (none)
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 规划
    - 2_plan.md
    ### Phase 3: 子任务进度
    - [x] 子任务 1: The model
    - [x] 子任务 2: The service
    ### Phase 4: 综合审查
    - 4_review.md
    ");
}

#[test]
fn the_state_file_is_translated_at_each_step() {
    insta::assert_snapshot!(told_at_each_step("en"), @"
    - Current Phase: 1
    - Completed Phases: []
    - Current Subtask: 0 / 0
    ## Pending Work
    1. Phase 1: Deep analysis
    2. Phase 2: Planning
    3. Phase 3: Subtasks
    4. Phase 4: Final review
    ## Completed Work
    (none)
    ---
    - Current Phase: 2
    - Completed Phases: [1]
    - Current Subtask: 0 / 0
    ## Pending Work
    1. Phase 2: Planning
    2. Phase 3: Subtasks
    3. Phase 4: Final review
    ## Completed Work
    ### Phase 1: Deep analysis
    - 1_analysis.md
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 0 / 2
    ## Pending Work
    1. Phase 3: 2 subtasks
    2. Phase 4: Final review
    ## Completed Work
    ### Phase 1: Deep analysis
    - 1_analysis.md
    ### Phase 2: Planning
    - 2_plan.md
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 1 / 2
    ## Pending Work
    1. Phase 3: 1 subtask left
    2. Phase 4: Final review
    ## Completed Work
    ### Phase 1: Deep analysis
    - 1_analysis.md
    ### Phase 2: Planning
    - 2_plan.md
    ### Phase 3: subtasks
    - [x] subtask 1: The model
    - [ ] subtask 2: The service
    ---
    - Current Phase: 4
    - Completed Phases: [1, 2, 3]
    - Current Subtask: 2 / 2
    ## Pending Work
    1. Phase 4: Final review
    ## Completed Work
    ### Phase 1: Deep analysis
    - 1_analysis.md
    ### Phase 2: Planning
    - 2_plan.md
    ### Phase 3: subtasks
    - [x] subtask 1: The model
    - [x] subtask 2: The service
    ---
    - Current Phase: 4
    - Completed Phases: [1, 2, 3, 4]
    - Current Subtask: 2 / 2
    ## Pending Work
    (none)
    ## Completed Work
    ### Phase 1: Deep analysis
    - 1_analysis.md
    ### Phase 2: Planning
    - 2_plan.md
    ### Phase 3: subtasks
    - [x] subtask 1: The model
    - [x] subtask 2: The service
    ### Phase 4: Final review
    - 4_review.md
    ");
    insta::assert_snapshot!(told_at_each_step("zh-TW"), @"
    - Current Phase: 1
    - Completed Phases: []
    - Current Subtask: 0 / 0
    ## Pending Work
    1. Phase 1: 深度分析
    2. Phase 2: 規劃
    3. Phase 3: 執行子任務
    4. Phase 4: 綜合審查
    ## Completed Work
    (none)
    ---
    - Current Phase: 2
    - Completed Phases: [1]
    - Current Subtask: 0 / 0
    ## Pending Work
    1. Phase 2: 規劃
    2. Phase 3: 執行子任務
    3. Phase 4: 綜合審查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 0 / 2
    ## Pending Work
    1. Phase 3: 執行 2 個子任務
    2. Phase 4: 綜合審查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 規劃
    - 2_plan.md
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 1 / 2
    ## Pending Work
    1. Phase 3: 完成剩餘 1 個子任務
    2. Phase 4: 綜合審查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 規劃
    - 2_plan.md
    ### Phase 3: 子任務進度
    - [x] 子任務 1: The model
    - [ ] 子任務 2: The service
    ---
    - Current Phase: 4
    - Completed Phases: [1, 2, 3]
    - Current Subtask: 2 / 2
    ## Pending Work
    1. Phase 4: 綜合審查
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 規劃
    - 2_plan.md
    ### Phase 3: 子任務進度
    - [x] 子任務 1: The model
    - [x] 子任務 2: The service
    ---
    - Current Phase: 4
    - Completed Phases: [1, 2, 3, 4]
    - Current Subtask: 2 / 2
    ## Pending Work
    (none)
    ## Completed Work
    ### Phase 1: 深度分析
    - 1_analysis.md
    ### Phase 2: 規劃
    - 2_plan.md
    ### Phase 3: 子任務進度
    - [x] 子任務 1: The model
    - [x] 子任務 2: The service
    ### Phase 4: 綜合審查
    - 4_review.md
    ");
}
