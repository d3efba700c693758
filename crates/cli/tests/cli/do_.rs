//! `ralph do`: the score card, and each route from end to end.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};
use crate::live::shell_agent;

const OUT: &str = ".skillpack/current";

/// A turn that leaves a file of a phase.
fn leaves(file: &str, text: &str, say: &str) -> Value {
    json!({"write": {format!("{OUT}/{file}"): text}, "say": say})
}

fn run(env: &TestEnv, turns: &[Value], args: &[&str]) -> (Done, Vec<Value>) {
    let agent = env.agent(turns);
    let mut all = vec!["do", "--json", "--agent-cmd", &agent];
    all.extend(args);
    let done = env.ralph(&all);
    let events = done.events();
    (done, events)
}

fn steps(events: &[Value]) -> Vec<String> {
    let starts = named(events, "role_start");
    let step = |event: &&Value| event["step"].as_str().unwrap().to_owned();
    starts.iter().map(step).collect()
}

/// The file in the only entry of the history.
fn archived(env: &TestEnv, file: &str) -> String {
    let mut entries = std::fs::read_dir(env.path(".skillpack/history")).unwrap();
    let entry = entries.find_map(|entry| {
        let path = entry.unwrap().path();
        path.is_dir().then_some(path)
    });
    let path = entry.unwrap().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_card_is_printed_and_nothing_is_done() {
    let env = TestEnv::new();
    let before = env.snapshot();
    let card = env.ralph(&["do", "Fix a typo in the README", "--explain"]);
    assert_eq!(card.code, 0, "{}", card.stderr);
    assert!(card.stdout.contains("Route: DIRECT"), "{}", card.stdout);
    let json = env.ralph(&["do", "Fix a typo in the README", "-e", "--json"]);
    let card: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(card["route"], "DIRECT");
    assert_eq!(card["weights"]["scope"], 25);
    for (flag, route) in [
        ("-q", "DIRECT"),
        ("-d", "RALPH"),
        ("--quick", "DIRECT"),
        ("--deep", "RALPH"),
    ] {
        let json = env.ralph(&["do", "Do a thing", "-e", "--json", flag]);
        let card: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(
            (&card["route"], &card["why"]),
            (&json!(route), &json!("asked"))
        );
    }
    assert_eq!(env.snapshot(), before);
    let wrong = env.ralph(&["do", "x", "--route", "nowhere"]);
    assert_eq!(wrong.code, 1);
}

#[test]
fn weights_and_thresholds_come_from_the_configuration() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[routing.thresholds]\ndirect = 1\nplanned = 2\nralph = 3\n",
    );
    let json = env.ralph(&["do", "Remove an unused import", "-e", "--json"]);
    let card: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(card["route"], "ARCHITECT");
    for (text, says) in [
        ("[routing.weights]\nscope = 26\n", "add up to 101"),
        ("[routing.thresholds]\ndirect = 50\n", "must grow"),
    ] {
        env.write(".ralph/config.toml", text);
        let wrong = env.ralph(&["do", "x", "--explain"]);
        assert_eq!(wrong.code, 1);
        assert!(wrong.stderr.contains(says), "{}", wrong.stderr);
    }
}

#[test]
fn a_small_task_is_one_call_that_is_proven() {
    let env = TestEnv::new();
    let turns = [leaves("output.txt", "fixed", "done")];
    let (done, events) = run(&env, &turns, &["-q", "Fix it", "--verify", "true"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(steps(&events), ["execute"]);
    let env = TestEnv::new();
    let (done, events) = run(&env, &turns, &["-q", "Fix it"]);
    assert_eq!(done.code, 3);
    assert_eq!(events.last().unwrap()["reason"], "unproven");
}

#[test]
fn planned_work_goes_through_its_phases() {
    let env = TestEnv::new();
    let turns = [
        leaves("1_plan.md", "# Plan", "planned"),
        json!({"write": {"a.txt": "1", format!("{OUT}/2_implementation.md"): "a.txt"}, "say": "done"}),
        leaves(
            "3_review.md",
            "good",
            "Review Score: 92/100\n\nVERDICT: APPROVE",
        ),
    ];
    let (done, events) = run(&env, &turns, &["--route", "planned", "Add a thing"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(steps(&events), ["plan", "implement", "review"]);
    let percents: Vec<&Value> = named(&events, "phase_complete")
        .iter()
        .map(|e| &e["percent"])
        .collect();
    assert_eq!(percents, [30, 60, 100]);
    let checkpoint: Value = serde_json::from_str(&archived(&env, "checkpoint.json")).unwrap();
    assert_eq!(checkpoint["route"], "PLANNED");
    assert_eq!(checkpoint["task_description"], "Add a thing");
    assert_eq!(
        checkpoint["execution"]["phases"][0]["output_file"],
        "1_plan.md"
    );
    assert_eq!(archived(&env, "1_plan.md"), "# Plan");
}

#[test]
fn a_deep_task_goes_on_until_its_subtasks_and_its_review_are_done() {
    let env = TestEnv::new();
    let boxes = "# Plan\n\n- [ ] The model\n- [ ] The service\n";
    let subtask = |n: usize| json!({"write": {format!("src/{n}.txt"): "work", format!("{OUT}/3_subtask_{n}.md"): "done"}, "say": "done"});
    let turns = [
        leaves("1_analysis.md", "two parts", "analysed"),
        leaves("2_plan.md", "no boxes", "planned"),
        leaves("2_plan.md", boxes, "planned"),
        subtask(1),
        subtask(2),
        leaves(
            "4_review.md",
            "bad",
            "FINDING high: src/2.txt is empty\n\nVERDICT: REJECT",
        ),
        json!({"write": {"src/2.txt": "better"}, "say": "repaired"}),
        leaves(
            "4_review.md",
            "good",
            "Review Score: 92/100\n\nVERDICT: APPROVE",
        ),
    ];
    let (done, events) = run(&env, &turns, &["-d", "Build the thing", "--lang", "zh-CN"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        steps(&events),
        [
            "analysis", "plan", "plan", "execute", "execute", "review", "repair", "review"
        ]
    );
    // Its phases were counted (DISP-04).
    assert!(!done.stdout.contains("没有任务清单"), "{}", done.stdout);
    let state = crate::delta::state(&env);
    for line in [
        "- Route: RALPH",
        "- Max Allowed: 20",
        "- Status: COMPLETED",
        "- Completed Phases: [1, 2, 3, 4]",
        "- Current Subtask: 2 / 2",
        "### Phase 1: 深度分析",
        "### Phase 3: 子任务进度",
        "- [x] 子任务 2: The service",
        "<promise>TASK_COMPLETE</promise>",
        "- Review Score: 92/100",
    ] {
        assert!(state.contains(line), "{line}\n{state}");
    }
    let checkpoint: Value = serde_json::from_str(&archived(&env, "checkpoint.json")).unwrap();
    assert_eq!(checkpoint["route"], "RALPH");
    assert_eq!(checkpoint["execution"]["total_phases"], 4);
    assert!(checkpoint["complexity_score"].is_number());
    assert!(checkpoint["scoring_breakdown"]["scope"].is_number());
}

/// The steps of a deep task whose review says this, again and again.
fn reviewed(file: &str, reply: &str, work: bool) -> Vec<Value> {
    let boxes = "# Plan\n\n- [ ] The model\n";
    let mut subtask = leaves("3_subtask_1.md", "done", "done");
    if work {
        subtask["write"]["src/1.txt"] = "work".into();
    }
    let review = leaves("4_review.md", file, reply);
    let mut turns = vec![
        leaves("1_analysis.md", "one part", "<promise>COMPLETE</promise>"),
        leaves("2_plan.md", boxes, "planned"),
        subtask,
    ];
    for round in 0..20 {
        turns.push(review.clone());
        turns.push(json!({"write": {"src/1.txt": format!("round {round}")}, "say": "repaired"}));
    }
    turns
}

/// T-06: a review with a critical finding, no coverage, no security and a bad
/// score is no approval, whatever it calls itself and wherever it says so.
#[test]
fn a_deep_task_with_a_bad_review_never_completes_t_06() {
    let bad = "FINDING critical: src/1.txt does nothing\nCoverage: 10%\nSecurity: 5%\nReview Score: 5/100\n\nVERDICT: APPROVE";
    let good = "Review Score: 95/100\n\nVERDICT: APPROVE";
    let each = [
        "FINDING critical: src/1.txt does nothing\n\nVERDICT: APPROVE",
        "Coverage: 10%\n\nVERDICT: APPROVE",
        "Security: 5%\n\nVERDICT: APPROVE",
    ];
    let small = "FINDING low: a name is long\n\nVERDICT: APPROVE";
    let severe = "FINDING critical: src/1.txt does nothing\n";
    let more = [("good", bad), (bad, good), (severe, small)];
    let cases = each.map(|words| ("good", words));
    for (file, reply) in cases.into_iter().chain(more) {
        let env = TestEnv::new();
        let args = ["--deep", "Build the thing", "--verify", "true"];
        let (done, events) = run(&env, &reviewed(file, reply, true), &args);
        assert_ne!(done.code, 0, "{file} {reply}");
        assert_ne!(events.last().unwrap()["outcome"], "complete", "{reply}");
    }
}

/// T-06: phases that leave their files and nothing else have built nothing.
/// T-14: what an agent wrote is not proven by its being there.
#[test]
fn a_deep_task_that_changed_nothing_is_not_complete_t_06_t_14() {
    let good = "Review Score: 95/100\n\nVERDICT: APPROVE";
    for (work, code) in [(false, 3), (true, 0)] {
        let env = TestEnv::new();
        let agent = env.agent(&reviewed("good", good, work)[..4]);
        let mut command = env.command(&["do", "--deep", "Build the thing", "--agent-cmd", &agent]);
        command.env_remove("RALPH_EVIDENCE_LEVEL");
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code == 0, code == 0, "{}{}", done.stdout, done.stderr);
        let shown = done.stdout.split_once("\nProven:");
        let shown = shown.map_or("", |(_, rest)| rest);
        let (proven, _) = shown.split_once("Not proven:").unwrap_or((shown, ""));
        assert!(!proven.contains("left their files"), "{}", done.stdout);
        assert_eq!(
            done.stdout.contains("nothing checked what is in them"),
            code == 0,
            "{}",
            done.stdout
        );
    }
}

/// ROUT-09, T-06: whoever reviews does not do the work, and what its tests
/// leave behind is no work.
#[test]
fn a_reviewer_of_a_route_that_does_the_work_itself_is_not_heard() {
    for (file, code) in [("app.txt", 3), ("__pycache__/app.pyc", 0)] {
        let env = TestEnv::new();
        let mut review = leaves("4_review.md", "VERDICT: APPROVE", "VERDICT: APPROVE");
        review["write"][file] = json!("by the reviewer");
        let mut subtask = leaves("3_subtask_1.md", "done", "done");
        subtask["write"]["work.txt"] = json!("work");
        let turns = [
            leaves("1_analysis.md", "x", "analysed"),
            leaves("2_plan.md", "- [ ] One\n", "planned"),
            subtask,
            review,
        ];
        let (done, events) = run(&env, &turns, &["-d", "Build it", "--max-iterations", "4"]);
        assert_eq!(done.code, code, "{file}: {}", done.stderr);
        let void = named(&events, "role_violation").len();
        assert_eq!(void, usize::from(code != 0), "{file}");
    }
}

/// VALV-04: the box at the limit says how far a route came.
#[test]
fn a_route_at_its_limit_says_which_phases_are_done_valv_04() {
    let env = TestEnv::new();
    let turns = [
        leaves("1_analysis.md", "x", "analysed"),
        leaves("2_plan.md", "- [ ] One\n", "planned"),
    ];
    let agent = env.agent(&turns);
    let task = ["do", "-d", "Build it", "--agent-cmd", &agent];
    let done = env.ralph(&[&task[..], &["--max-iterations", "2"]].concat());
    assert_eq!(done.code, 3, "{}", done.stderr);
    let line = "Progress: 2/4 phases done";
    assert!(done.stdout.contains(line), "{}", done.stdout);
    let status = env.ralph(&["status"]).stdout;
    assert!(status.contains("2/4 phases"), "{status}");
}

#[test]
fn the_state_file_follows_each_step() {
    let env = TestEnv::new();
    let turns = [
        leaves("1_analysis.md", "x", "analysed"),
        leaves(
            "2_plan.md",
            "- [ ] One\n- [ ] Two\n- [ ] Three\n",
            "planned",
        ),
        json!({"write": {"1.txt": "1", format!("{OUT}/3_subtask_1.md"): "done"}, "say": "done"}),
    ];
    let (done, events) = run(
        &env,
        &turns,
        &["-d", "Build it", "--lang", "zh-CN", "--max-iterations", "3"],
    );
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "max_iterations");
    let state = crate::delta::state(&env);
    let part = |from: &str, to: &str| {
        let rest = state.split_once(from).unwrap().1;
        rest.split_once(to).unwrap().0.trim().to_owned()
    };
    assert_eq!(
        part("## Progress", "## Pending Work"),
        "- Current Phase: 3\n- Completed Phases: [1, 2]\n- Current Subtask: 1 / 3"
    );
    assert_eq!(
        part("## Pending Work", "## Completed Work"),
        "1. Phase 3: 完成剩余 2 个子任务\n2. Phase 4: 综合审查"
    );
    assert_eq!(
        part("## Completed Work", "## Promise"),
        "### Phase 1: 深度分析\n- x\n\n### Phase 2: 规划\n- One\n- Two\n- Three\n\n### Phase 3: 子任务进度\n- [x] 子任务 1: One\n- [ ] 子任务 2: Two\n- [ ] 子任务 3: Three"
    );
    // Nobody is there to choose; what is said instead is known here too
    // (RESM-04, RESM-09).
    let asked = env.ralph(&["do", "--resume"]);
    assert_eq!(asked.code, 1);
    for flag in ["--yes", "--restart", "--show", "--abandon"] {
        assert!(asked.stderr.contains(flag), "{}", asked.stderr);
    }
    let shown = env.ralph(&["do", "--resume", "--show"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("- [ ] "), "{}", shown.stdout);
    let other = env.ralph(&["do", "--resume", "--yes", "--verify", "true"]);
    assert_eq!(other.code, 1, "{}{}", other.stdout, other.stderr);
    let listed = env.ralph(&["do", "--list-checkpoints"]);
    assert!(listed.stdout.contains("paused"), "{}", listed.stdout);
    let done = env.ralph(&["do", "--resume", "--yes", "--json", "--quiet"]);
    assert_eq!(done.code, 1, "one of both");
    let done = env.ralph(&["do", "--resume", "--yes", "--json"]);
    assert_eq!(steps(&done.events())[0], "execute");
    let by_another = "cat > /dev/null; echo by-another > another.txt; echo done";
    std::fs::write(env.outside("another.sh"), by_another).unwrap();
    let another = format!("sh {}", env.outside("another.sh").display());
    env.ralph(&[
        "do", "--resume", "--yes", "--agent-cmd", &another, "--quiet",
    ]);
    assert_eq!(env.read("another.txt"), "by-another\n");
}

#[test]
fn a_linear_review_that_rejects_is_for_a_person() {
    let env = TestEnv::new();
    let turns = [
        leaves("1_plan.md", "# Plan", "planned"),
        leaves("2_implementation.md", "x", "done"),
        leaves("3_review.md", "bad", "Coverage: 40%\n\nVERDICT: APPROVE"),
    ];
    let (done, events) = run(&env, &turns, &["--route", "planned", "Add a thing"]);
    assert_eq!(done.code, 3);
    assert_eq!(events.last().unwrap()["reason"], "flow");
}

/// U-04: a small task is one turn and one check, whether or not the agent
/// leaves the file of the phase.
#[test]
fn a_typo_is_one_turn_and_one_check() {
    let env = TestEnv::new();
    env.write("README.md", "helo\n");
    let turns = [json!({"write": {"README.md": "hello\n"}, "say": "<promise>COMPLETE</promise>"})];
    let counter = env.outside("checked");
    let command = format!("echo x >> {}; grep -q hello README.md", counter.display());
    let check = ["Fix typo in README", "--verify", &command];
    let (done, events) = run(&env, &turns, &check);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "iteration_start").len(), 1);
    assert_eq!(std::fs::read_to_string(counter).unwrap(), "x\n");
    assert!(
        !done.stdout.contains("phases left their files"),
        "{}",
        done.stdout
    );
}

/// U-04: the file of a phase that does not come opens the breaker at the usual
/// count, however much the agent changes meanwhile.
#[test]
fn a_phase_file_that_never_comes_opens_the_breaker() {
    let env = TestEnv::new();
    let turns: Vec<Value> = (0..12)
        .map(|n| json!({"write": {"a.txt": format!("{n}")}, "say": "<promise>COMPLETE</promise>"}))
        .collect();
    let (done, events) = run(&env, &turns, &["Do a thing", "--route", "planned"]);
    assert_eq!(done.code, 5, "{}\n{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "iteration_start").len(), 5);
    assert_eq!(events.last().unwrap()["reason"], "same_error");
}

/// U-04: a deep task knows the promise that everything else knows.
#[test]
fn a_deep_task_knows_complete() {
    let env = TestEnv::new();
    let turns = [leaves("1_analysis.md", "x", "<promise>COMPLETE</promise>")];
    let agent = env.agent(&turns);
    let args = [
        "do", "Do a thing", "--deep", "--max-iterations", "1", "--agent-cmd", &agent,
    ];
    let done = env.ralph(&args);
    assert!(done.stdout.contains("COMPLETE"), "{}", done.stdout);
    assert!(!done.stdout.contains("unknown promise"), "{}", done.stdout);
}

/// DISP-01: a route has a bar, too: that of its phases.
#[test]
fn a_route_shows_a_bar_of_its_phases() {
    let env = TestEnv::new();
    let turns = [
        leaves("1_plan.md", "# Plan", "planned"),
        json!({"say": "<promise>BLOCKED: no key</promise>"}),
    ];
    let agent = env.agent(&turns);
    let args = ["do", "--route", "planned", "Add it", "--agent-cmd", &agent];
    let done = env.ralph(&args);
    let want = "Overall progress: 1/3 phases done (33%)\n[█████████░░░░░░░░░░░░░░░░░] 33%";
    assert!(done.stdout.contains(want), "{}{}", done.stdout, done.stderr);
    let status = env.ralph(&["status"]);
    assert!(status.stdout.contains("1/3 phases"), "{}", status.stdout);
}

/// RESM-04, RESM-06: a second route has a place of its own, and the first finds
/// its plan again.
#[test]
fn two_tasks_do_not_share_what_their_phases_left() {
    let env = TestEnv::new();
    let plan = || env.read(&format!("{OUT}/2_plan.md"));
    let turns = |name: &str| {
        [
            leaves("1_analysis.md", "x", "analysed"),
            leaves(
                "2_plan.md",
                &format!("- [ ] {name} 1\n- [ ] {name} 2\n"),
                "planned",
            ),
            json!({"write": {name: "1", format!("{OUT}/3_subtask_1.md"): "done"}, "say": "done"}),
        ]
    };
    let first = ["-d", "Build the shop", "--max-iterations", "3"];
    run(&env, &turns("shop"), &first);
    let shop = env.layout().latest_run().unwrap().unwrap().id;
    assert_eq!(plan(), "- [x] shop 1\n- [ ] shop 2\n");
    let second = ["-d", "Write the manual", "--max-iterations", "3"];
    let (done, events) = run(&env, &turns("manual"), &second);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(events[0]["tasks"]["total"], 0, "{}", events[0]);
    assert_eq!(plan(), "- [x] manual 1\n- [ ] manual 2\n");
    // Taken up, the first one works on its own plan.
    let heard = env.outside("heard");
    let agent = shell_agent(
        &env,
        &format!("cat > {}; touch .ralph/STOP", heard.display()),
    );
    let args = ["resume", shop.as_str(), "--yes", "--json"];
    let on = env.ralph(&[&args[..], &["--agent-cmd", &agent]].concat());
    let heard = std::fs::read_to_string(heard).unwrap();
    assert!(heard.contains("shop 2"), "{heard}{}", on.stderr);
    assert_eq!(plan(), "- [x] shop 1\n- [ ] shop 2\n");
    // From the beginning is from the beginning (RESM-09).
    let again = [
        "do", "--resume", "--restart", "--agent-cmd", &agent, "--json",
    ];
    let again = env.ralph(&again);
    assert!(!again.stdout.contains("shop 1"), "{}", again.stdout);
    assert!(!env.path(&format!("{OUT}/2_plan.md")).exists());
}

/// HIST-06: what went into the history comes back with the run.
#[test]
fn a_route_that_stopped_at_the_breaker_finds_its_plan_again() {
    let env = TestEnv::new();
    let idle = json!({"say": "I looked around"});
    let turns = [
        leaves("1_analysis.md", "x", "analysed"),
        leaves("2_plan.md", "- [ ] One\n- [ ] Two\n", "planned"),
        json!({"write": {"1.txt": "1", format!("{OUT}/3_subtask_1.md"): "done"}, "say": "done"}),
        idle.clone(),
        idle.clone(),
        idle.clone(),
        idle.clone(),
        idle,
    ];
    let (done, _) = run(&env, &turns, &["-d", "Build it"]);
    assert_eq!(done.code, 5, "{}{}", done.stdout, done.stderr);
    assert!(!env.path(&format!("{OUT}/2_plan.md")).exists());
    let work = format!("echo 1 > 2.txt; echo done > {OUT}/3_subtask_2.md; touch .ralph/STOP");
    let agent = shell_agent(&env, &work);
    let args = ["resume", "--yes", "--json", "--agent-cmd", &agent];
    let on = env.ralph(&args);
    let plan = std::fs::read_to_string(env.path(&format!("{OUT}/2_plan.md"))).unwrap_or_default();
    assert_eq!(plan, "- [x] One\n- [x] Two\n", "{}{}", on.stdout, on.stderr);
    assert!(!on.stdout.contains("changed since"), "{}", on.stdout);
}
