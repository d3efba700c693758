//! The state file of seed 004 at each step of a deep task, in every language.

use crate::delta::STATE;
use crate::env::TestEnv;
use crate::session::{ONE, TWO, sent_on};
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
        // A reviewer may only look (M1 of the sixth audit).
        if !file.contains("review") {
            env.write("work.txt", file);
        }
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
    - two parts
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 0 / 2
    ## Pending Work
    1. Phase 3: 执行 2 个子任务
    2. Phase 4: 综合审查
    ## Completed Work
    ### Phase 1: 深度分析
    - two parts
    ### Phase 2: 规划
    - The model
    - The service
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 1 / 2
    ## Pending Work
    1. Phase 3: 完成剩余 1 个子任务
    2. Phase 4: 综合审查
    ## Completed Work
    ### Phase 1: 深度分析
    - two parts
    ### Phase 2: 规划
    - The model
    - The service
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
    - two parts
    ### Phase 2: 规划
    - The model
    - The service
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
    - two parts
    ### Phase 2: 规划
    - The model
    - The service
    ### Phase 3: 子任务进度
    - [x] 子任务 1: The model
    - [x] 子任务 2: The service
    ### Phase 4: 综合审查
    - good
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
    - two parts
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 0 / 2
    ## Pending Work
    1. Phase 3: 2 subtasks
    2. Phase 4: Final review
    ## Completed Work
    ### Phase 1: Deep analysis
    - two parts
    ### Phase 2: Planning
    - The model
    - The service
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 1 / 2
    ## Pending Work
    1. Phase 3: 1 subtask left
    2. Phase 4: Final review
    ## Completed Work
    ### Phase 1: Deep analysis
    - two parts
    ### Phase 2: Planning
    - The model
    - The service
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
    - two parts
    ### Phase 2: Planning
    - The model
    - The service
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
    - two parts
    ### Phase 2: Planning
    - The model
    - The service
    ### Phase 3: subtasks
    - [x] subtask 1: The model
    - [x] subtask 2: The service
    ### Phase 4: Final review
    - good
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
    - two parts
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 0 / 2
    ## Pending Work
    1. Phase 3: 執行 2 個子任務
    2. Phase 4: 綜合審查
    ## Completed Work
    ### Phase 1: 深度分析
    - two parts
    ### Phase 2: 規劃
    - The model
    - The service
    ---
    - Current Phase: 3
    - Completed Phases: [1, 2]
    - Current Subtask: 1 / 2
    ## Pending Work
    1. Phase 3: 完成剩餘 1 個子任務
    2. Phase 4: 綜合審查
    ## Completed Work
    ### Phase 1: 深度分析
    - two parts
    ### Phase 2: 規劃
    - The model
    - The service
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
    - two parts
    ### Phase 2: 規劃
    - The model
    - The service
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
    - two parts
    ### Phase 2: 規劃
    - The model
    - The service
    ### Phase 3: 子任務進度
    - [x] 子任務 1: The model
    - [x] 子任務 2: The service
    ### Phase 4: 綜合審查
    - good
    ");
}

/// DELT-08: a phase is summed up by what it left, not by the name of its file.
#[test]
fn a_phase_is_summed_up_by_what_it_left_delt_08() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/do \"Build the thing\" --deep");
    leave(
        &env,
        "1_analysis.md",
        "# Analysis\n\nLong words.\n\n- found 5 subtasks\n- [ ] the order matters\n\n```\n- code\n```\n",
    );
    let next = client.stops("analysed");
    let state = crate::delta::state(&env);
    let block = "### Phase 1: Deep analysis\n- found 5 subtasks\n- the order matters\n";
    assert!(state.contains(block), "{state}");
    assert!(crate::session::sent_on(&next).contains("- found 5 subtasks"));
    // Something else than a file is not opened.
    std::fs::remove_file(env.path(".skillpack/current/1_analysis.md")).unwrap();
    std::fs::create_dir(env.path(".skillpack/current/1_analysis.md")).unwrap();
    leave(&env, "2_plan.md", "- [ ] The model\n");
    client.stops("planned");
    let state = crate::delta::state(&env);
    assert!(
        state.contains("### Phase 2: Planning\n- The model\n"),
        "{state}"
    );
}

/// DELT-09: the score stands in the review's file; the reply may say another.
#[test]
fn the_score_is_that_of_the_reviews_file_delt_09() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/do \"Build the thing\" --deep");
    leave(&env, "1_analysis.md", "one part");
    client.stops("analysed");
    leave(&env, "2_plan.md", "- [ ] The model\n");
    client.stops("planned");
    env.write("work.txt", "x");
    leave(&env, "3_subtask_1.md", "done");
    client.stops("done");
    // What the file says against the work counts too.
    leave(
        &env,
        "4_review.md",
        "FINDING critical: no tests\n\nReview Score: 40/100\n",
    );
    let back = client.stops("Review Score: 99/100\n\nVERDICT: APPROVE");
    assert!(
        crate::session::sent_on(&back).contains("no tests"),
        "{back}"
    );
    env.write("work.txt", "y");
    client.stops("repaired");
    leave(&env, "4_review.md", "Fine.\n\nReview Score: 87/100\n");
    client.stops("Review Score: 99/100\n\nVERDICT: APPROVE");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    let state = crate::delta::state(&env);
    assert!(state.contains("- Review Score: 87/100"), "{state}");
}

/// EVNT-01, STAT-02: events and status name the phase and count subtasks.
#[test]
fn events_and_status_of_a_route_name_its_phase_evnt_01() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/do \"Build the thing\" --deep");
    let phase = || env.json(".ralph/status.json")["phase"].clone();
    assert_eq!(phase(), "1");
    leave(&env, "1_analysis.md", "two parts");
    client.stops("analysed");
    assert_eq!(phase(), "2");
    leave(&env, "2_plan.md", "- [ ] The model\n- [ ] The service\n");
    client.stops("planned");
    for n in 1..=2 {
        assert_eq!(phase(), "3");
        env.write("work.txt", &n.to_string());
        leave(&env, &format!("3_subtask_{n}.md"), "done");
        client.stops("done");
    }
    assert_eq!(phase(), "4");
    let events = env.ralph(&["events", "--json"]).events();
    let column = |name: &str, key: &str| -> Vec<String> {
        let of = crate::env::named(&events, name);
        of.iter().map(|event| event[key].to_string()).collect()
    };
    assert_eq!(
        column("iteration_start", "phase"),
        ["1", "2", "3", "3", "4"]
    );
    assert_eq!(column("iteration_complete", "phase"), ["1", "2", "3", "3"]);
    assert_eq!(
        column("iteration_complete", "subtasks_done"),
        ["0", "0", "1", "1"]
    );
}

/// A project has one state file and one place for the files of phases: a second
/// loop that would keep them has to wait, wherever it is started, and loses
/// nothing by it (PROM-04, STOP-02, DELT-08, DELT-11).
#[test]
fn no_loop_takes_the_state_file_of_one_that_lives() {
    for (first, second) in [
        (
            "/ralph-loop --preset delta build the parser",
            "/ralph-loop --preset delta build the lexer",
        ),
        ("/do --deep build the parser", "/do --deep build the lexer"),
        (
            "/ralph-loop --preset delta build the parser",
            "/do --deep build the lexer",
        ),
    ] {
        let env = TestEnv::new();
        let (one, two) = (env.claude_session(ONE), env.claude_session(TWO));
        one.says(first);
        let state = env.read(STATE);
        let refused = two.says(second).to_string();
        assert!(refused.contains(ONE), "{first}: {refused}");
        assert_eq!(
            two.stops("Done. <promise>TASK_COMPLETE</promise>"),
            serde_json::Value::Null
        );
        let agent = "sh -c 'cat > /dev/null; echo called >> called'";
        let run = env.ralph(&[
            "run", "--preset", "delta", "Write docs", "--agent-cmd", agent,
        ]);
        assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
        assert!(
            run.stderr.contains(ONE) && !env.path("called").exists(),
            "{}",
            run.stderr
        );
        assert_eq!(env.read(STATE), state, "{first}");
        // One that rests lets another have them, and comes back after it.
        one.says("pause");
        let begun = two.says(second).to_string();
        assert!(begun.contains("lexer"), "{second}: {begun}");
        let refused = one.says("continue").to_string();
        assert!(refused.contains(TWO), "{refused}");
        let lexer = env.read(STATE);
        one.says("/cancel-ralph");
        assert_eq!(env.read(STATE), lexer, "{second}");
        let answer = two.stops("At it. <promise>CONTINUE</promise>");
        assert!(sent_on(&answer).contains("2/"), "{answer}");
    }
}

/// What one had is what it goes on with.
#[test]
fn a_loop_that_rested_comes_back_to_its_state_file() {
    let env = TestEnv::new();
    let (one, two) = (env.claude_session(ONE), env.claude_session(TWO));
    one.says("/ralph-loop --preset delta build the parser");
    let known = env
        .read(STATE)
        .replacen("Completed Phases: []", "Completed Phases: [1]", 1);
    env.write(STATE, &known);
    one.says("pause");
    two.says("/ralph-loop --preset delta build the lexer");
    two.says("/cancel-ralph");
    let back = one.says("continue").to_string();
    assert!(back.contains("parser"), "{back}");
    assert!(
        env.read(STATE).contains("Completed Phases: [1]"),
        "{}",
        env.read(STATE)
    );
}

/// VALV-07: people are told in a session too that the limit is near.
#[test]
fn a_limit_that_is_near_is_told_in_a_session_valv_07() {
    let env = TestEnv::new();
    env.write(".ralph/config.toml", "[limits]\nwarn_at = 3\n");
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --preset delta build it --max-iterations 4");
    let told = |turn: u32| {
        env.write("work.txt", &turn.to_string());
        let answer = client.stops("At it. <promise>CONTINUE</promise>");
        answer["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(!told(1).contains("left after this one"));
    let near = told(2);
    assert!(
        near.contains("iteration 3 of 4: 1 left after this one"),
        "{near}"
    );
}

/// CKPT-10: the end of another loop takes no backup of this one along.
#[test]
fn backups_outlive_the_end_of_another_loop_ckpt_10() {
    let env = TestEnv::new();
    let (one, two) = (env.claude_session(ONE), env.claude_session(TWO));
    one.says("/ralph-loop --preset delta build the parser");
    let known = env
        .read(STATE)
        .replacen("Completed Phases: []", "Completed Phases: [1]", 1);
    env.write(STATE, &known);
    for turn in ["1", "2"] {
        env.write("work.txt", turn);
        sent_on(&one.stops("At it. <promise>CONTINUE</promise>"));
    }
    two.says("/ralph-loop something else --max-iterations 5");
    two.says("/cancel-ralph");
    env.write(STATE, "torn");
    sent_on(&one.stops("At it. <promise>CONTINUE</promise>"));
    assert!(
        env.read(STATE).contains("Completed Phases: [1]"),
        "{}",
        env.read(STATE)
    );
}
