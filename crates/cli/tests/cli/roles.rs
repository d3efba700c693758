//! Developer, reviewer and tester from end to end, with the scripted agent;
//! and the flows that they follow.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named, names};

pub fn says(text: &str) -> Value {
    json!({ "say": text })
}

pub fn develops(file: &str) -> Value {
    json!({"write": {file: "work"}, "say": "done"})
}

pub fn approves() -> Value {
    says("I read it.\n\nVERDICT: APPROVE")
}

fn rejects(finding: &str) -> Value {
    says(&format!("{finding}\n\nVERDICT: REJECT"))
}

pub fn passes() -> Value {
    says("RESULT: PASS")
}

fn run(env: &TestEnv, turns: &[Value], more: &[&str]) -> (Done, Vec<Value>) {
    let args: Vec<&str> = ["--roles"].iter().chain(more).copied().collect();
    env.run_script(turns, &args)
}

pub fn commit(env: &TestEnv) {
    env.git(&["add", "-A"]);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&name[..], &["commit", "-q", "-m", "Work"]].concat());
}

/// The roles in the order in which they were called.
fn roles(events: &[Value]) -> Vec<String> {
    let starts = named(events, "role_start");
    let role = |event: &&Value| event["role"].as_str().unwrap().to_owned();
    starts.iter().map(role).collect()
}

pub fn prompt(env: &TestEnv, turn: u32) -> String {
    let run = std::fs::read_dir(env.state("runs")).unwrap();
    let run = run.map(|run| run.unwrap().path()).next().unwrap();
    std::fs::read_to_string(run.join(format!("turn-{turn:04}.prompt.md"))).unwrap()
}

/// ERRC-01, ERRC-07: the task that was worked on is gone when it is to be
/// ticked.
#[test]
fn a_task_that_vanishes_while_it_is_worked_on_is_not_found_errc_07() {
    let env = TestEnv::with_tasks(2);
    let rest = "# Tasks\n\n- [ ] T002 Do thing 2\n";
    let turns = [
        json!({"write": {"a.txt": "work", "tasks.md": rest}, "say": "done"}),
        approves(),
        passes(),
    ];
    let (_, events) = run(&env, &turns, &["--max-iterations", "3"]);
    let errors = named(&events, "error");
    let first = errors.first().unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(first["reason"], "task_not_found", "{first}");
    let detail = first["message"].as_str().unwrap_or_default();
    assert!(detail.contains("T001 is no longer"), "{first}");
}

fn two_tasks_through_all_roles() -> [Value; 6] {
    [
        develops("a.txt"),
        approves(),
        passes(),
        develops("b.txt"),
        approves(),
        passes(),
    ]
}

#[test]
fn two_tasks_pass_all_roles_and_ralph_ticks_them() {
    let env = TestEnv::with_tasks(2);
    let turns = two_tasks_through_all_roles();
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        roles(&events),
        [
            "developer", "reviewer", "tester", "developer", "reviewer", "tester"
        ]
    );
    assert!(env.read("tasks.md").contains("- [x] T001"));
    assert!(env.read("tasks.md").contains("- [x] T002"));
    let status = env.json(".ralph/status.json");
    assert_eq!(status["dispatches"], 6);
    // The change is over, and its state went with it (ROLE-08).
    assert!(!env.path(".skillpack/current/drt-state-auto").exists());
    let state = crate::delta::archive(&env).join("drt-state-auto.tasks.json");
    let state: Value = serde_json::from_str(&std::fs::read_to_string(state).unwrap()).unwrap();
    assert_eq!(state["agent"], "tester");
    assert_eq!(state["result"], "pass");
    assert_eq!(state["risk_level"], "MEDIUM");
    // As other tools of the flow know it (ROLE-08).
    assert_eq!(state["version"], "1.0");
    assert_eq!(state["change_id"], "tasks");
    assert_eq!(
        (&state["fail_count"], &state["reject_count"]),
        (&json!(0), &json!(0))
    );
    assert!(state["timestamp"].is_string(), "{state}");
    let review = prompt(&env, 2);
    assert!(review.contains("You are the REVIEWER"), "{review}");
    assert!(review.contains("T001 Do thing 1"), "{review}");
    assert!(
        review.contains("`VERDICT: APPROVE` or `VERDICT: REJECT`"),
        "{review}"
    );
}

/// HIST-01: Ralph ticks after the turn that ended the way of a task.
#[test]
fn a_report_knows_the_turn_after_which_ralph_ticked_hist_01() {
    let turns = two_tasks_through_all_roles();
    for level in ["claimed", "unrefuted"] {
        let env = TestEnv::with_tasks(2);
        let agent = env.agent(&turns);
        let mut command = env.command(&["run", "--roles", "--json", "--agent-cmd", &agent]);
        command.env("RALPH_EVIDENCE_LEVEL", level);
        command.output().unwrap();
        let report = env.ralph(&["report"]).stdout;
        for (task, turn) in [("T001", 3), ("T002", 6)] {
            let line = report
                .lines()
                .find(|line| line.contains(&format!("] {task}")));
            let line = line.unwrap_or_else(|| panic!("{task}: {report}"));
            assert!(
                line.contains(&format!("ticked in turn {turn}")),
                "{level}: {line}"
            );
        }
    }
}

#[test]
fn a_rejection_and_a_failure_go_back_with_what_was_found() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        develops("a.txt"),
        rejects("FINDING high: a.txt is not enough"),
        develops("b.txt"),
        rejects("FINDING medium: b.txt is not enough"),
        develops("c.txt"),
        approves(),
        says("1 test fails: c.txt\n\nRESULT: FAIL"),
        says("The cause is c.txt:1."),
        develops("d.txt"),
        approves(),
        passes(),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        roles(&events),
        [
            "developer", "reviewer", "developer", "reviewer", "developer", "reviewer", "tester",
            "debugger", "developer", "reviewer", "tester"
        ]
    );
    // Whoever watches, or reads the log or the report, sees why.
    let log = env.read(".ralph/ralph.log");
    let report = env.ralph(&["report"]).stdout;
    for (why, (turn, role)) in [
        ("a.txt is not enough", (2, "REVIEWER")),
        ("b.txt is not enough", (4, "REVIEWER")),
        ("1 test fails: c.txt", (7, "TESTER")),
    ] {
        assert!(log.contains(&format!(": {why}")), "{why}: {log}");
        let line = format!("- turn {turn}, T001, {role}: {why}\n");
        assert!(report.contains(&line), "{line}: {report}");
    }
    assert!(prompt(&env, 3).contains("[High] a.txt is not enough"));
    assert!(prompt(&env, 8).contains("1 test fails: c.txt"));
    assert!(prompt(&env, 9).contains("The cause is c.txt:1."));
    assert!(named(&events, "error").is_empty());
    assert_eq!(
        named(&events, "role_answer").last().unwrap()["answer"],
        "pass"
    );
}

#[test]
fn five_rejections_that_reproduce_need_a_person_who_can_go_on() {
    let env = TestEnv::with_tasks(1);
    let mut turns = Vec::new();
    for n in 0..5 {
        turns.push(develops(&format!("{n}.txt")));
        turns.push(rejects(
            "FINDING high: there is no proof.txt\nREPRODUCE: test -f proof.txt",
        ));
    }
    turns.push(json!({"write": {"proof.txt": "here"}, "say": "done"}));
    turns.extend([approves(), passes()]);
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let end = events.last().unwrap();
    assert_eq!(
        (&end["outcome"], &end["reason"]),
        (&json!("paused"), &json!("rejects"))
    );
    assert_eq!(named(&events, "escalated")[0]["count"], 5);
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(roles(&done.events()), ["developer", "reviewer", "tester"]);
}

#[test]
fn a_rejection_that_nothing_shows_stands_all_the_same_t_05() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        develops("a.txt"),
        rejects("I do not like it."),
        develops("b.txt"),
        rejects("I still do not like it."),
        develops("c.txt"),
        rejects("FINDING high: a.txt is missing\nREPRODUCE: test -f a.txt"),
        develops("d.txt"),
        approves(),
        passes(),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "review_unshown").len(), 1);
    assert!(prompt(&env, 6).contains("sent back twice already"));
    assert!(!prompt(&env, 4).contains("sent back twice already"));
}

#[test]
fn a_reviewer_who_never_approves_leaves_it_to_a_person_t_05_role_07() {
    let env = TestEnv::with_tasks(1);
    let files = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt"];
    let critical = "FINDING critical: it deletes everything";
    let turns: Vec<_> = files
        .iter()
        .flat_map(|file| [develops(file), rejects(critical)])
        .collect();
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(named(&events, "review_unshown").len(), 3);
    assert!(env.read("tasks.md").contains("[ ]"));
}

#[test]
fn what_the_guard_forbids_an_agent_is_not_run_for_a_reviewer() {
    let env = TestEnv::with_tasks(1);
    env.write("keep/me.txt", "precious");
    let turns = [
        develops("a.txt"),
        rejects("no"),
        develops("b.txt"),
        rejects("no"),
        develops("c.txt"),
        rejects("FINDING high: x\nREPRODUCE: rm -rf / ; false"),
        develops("d.txt"),
        approves(),
        passes(),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "review_unshown").len(), 1);
    assert_eq!(env.read("keep/me.txt"), "precious");
}

#[test]
fn an_unclear_verdict_is_asked_for_once_more() {
    let env = TestEnv::with_tasks(1);
    let turns = [develops("a.txt"), says("Hm."), approves(), passes()];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        roles(&events),
        ["developer", "reviewer", "reviewer", "tester"]
    );
    assert_eq!(named(&events, "role_unclear")[0]["asked_again"], true);
    assert!(prompt(&env, 3).contains("Nobody could read a verdict"));
}

#[test]
fn a_reviewer_that_writes_is_told_and_not_believed() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        develops("a.txt"),
        json!({"write": {"a.txt": "better"}, "say": "VERDICT: APPROVE"}),
        json!({"write": {"a.txt": "work"}, "say": "VERDICT: APPROVE"}),
        passes(),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "role_violation").len(), 1);
    assert_eq!(
        roles(&events),
        ["developer", "reviewer", "reviewer", "tester"]
    );
    assert!(prompt(&env, 3).contains("Put back what you changed"));
    // Its own work stays there: somebody else has to take that up.
    let env = TestEnv::with_tasks(1);
    let turns = [
        says("done"),
        json!({"write": {"a.txt": "by the reviewer"}, "say": "VERDICT: APPROVE"}),
        approves(),
    ];
    let (done, events) = run(&env, &turns, &["--max-iterations", "3"]);
    assert_ne!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "role_violation").len(), 2);
}

#[test]
fn a_developer_that_ticks_everything_at_once_gets_nowhere() {
    let env = TestEnv::with_tasks(2);
    let turns = [
        json!({"write": {"a.txt": "1"}, "tick": ["*"], "say": "<promise>COMPLETE</promise>"}),
        approves(),
        passes(),
        json!({"write": {"b.txt": "2"}, "tick": ["*"], "exit": 1}),
        develops("c.txt"),
        approves(),
        passes(),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "ticks_held").len(), 2);
    assert_eq!(
        roles(&events),
        [
            "developer", "reviewer", "tester", "developer", "developer", "reviewer", "tester"
        ]
    );
    assert_eq!(named(&events, "error").len(), 1);
}

#[test]
fn a_low_risk_needs_the_verification_only() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "- [ ] T001 Fix a typo in README.md\n- [ ] T002 Add a thing | risk: low\n",
    );
    let turns = [develops("a.txt"), develops("b.txt")];
    let (done, events) = run(&env, &turns, &["--verify", "true"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(roles(&events), ["developer", "developer"]);
    let risks: Vec<&Value> = named(&events, "task_start")
        .iter()
        .map(|e| &e["risk"])
        .collect();
    assert_eq!(risks, ["LOW", "LOW"]);
}

/// C-04: an agent can raise a risk, and nothing else.
#[test]
fn an_agent_only_raises_a_risk_c_04() {
    let env = TestEnv::new();
    let armed = "- [ ] T001 Fix a typo in README.md\n- [ ] T002 Keep the password safe\n- [ ] T003 Describe it in README.md\n";
    env.write("tasks.md", armed);
    let mut lowers = develops("a.txt");
    lowers["write"]["tasks.md"] = armed
        .replace("password safe", "password safe | risk: low")
        .replace(
            "Describe it in README.md",
            "Describe it in README.md | risk: high",
        )
        .into();
    let turns = [
        lowers,
        develops("b.txt"),
        approves(),
        passes(),
        develops("c.txt"),
        approves(),
        passes(),
    ];
    let args = ["--verify", "true", "--max-iterations", "1"];
    let (done, mut events) = run(&env, &turns, &args);
    assert_eq!(done.code, 3, "{}", done.stderr);
    // Another process knows it too.
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    events.extend(done.events());
    assert_eq!(
        roles(&events)[1..],
        [
            "developer", "reviewer", "tester", "developer", "reviewer", "tester"
        ]
    );
    let risks: Vec<&Value> = named(&events, "task_start")
        .iter()
        .map(|e| &e["risk"])
        .collect();
    assert_eq!(risks, ["LOW", "HIGH", "HIGH"]);
}

#[test]
fn a_review_that_a_person_does_not_want_is_written_down() {
    let env = TestEnv::with_tasks(1);
    let (done, events) = run(
        &env,
        &[develops("a.txt"), passes()],
        &["--no-review", "a hotfix"],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "review_bypassed")[0]["reason"], "a hotfix");
    assert_eq!(roles(&events), ["developer", "tester"]);
    let report = env.ralph(&["report"]).stdout;
    assert!(report.contains("a hotfix"), "{report}");
    // An agent can't ask for it with its environment.
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[develops("a.txt"), approves(), passes()]);
    let mut command = env.command(&["run", "--roles", "--json", "--agent-cmd", &agent]);
    command
        .env("CLAUDE_WORKFLOW_BYPASS", "true")
        .env("RALPH_NO_REVIEW", "x");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(roles(&done.events()), ["developer", "reviewer", "tester"]);
}

#[test]
fn a_crash_in_a_review_is_taken_up_at_that_role() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        develops("a.txt"),
        json!({"wait_ms": 60_000}),
        approves(),
        passes(),
    ];
    let agent = env.agent(&turns);
    let mut child = env
        .command(&["run", "--roles", "--json", "--agent-cmd", &agent])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let review = || {
        let runs = std::fs::read_dir(env.state("runs")).ok()?;
        let run = runs.flatten().next()?.path();
        run.join("turn-0002.out").exists().then_some(())
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while review().is_none() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(roles(&done.events()), ["reviewer", "tester"]);
}

/// The display of seed 000 at each step (DISP-01).
#[test]
fn people_see_who_is_at_work() {
    for (lang, passed, progress, current) in [
        (
            "en",
            "task T001 has passed all roles",
            "📊 Overall progress: 1/2 tasks done (50%)",
            "🔄 Current: T002 Do thing 2",
        ),
        (
            "zh-TW",
            "任務 T001 已通過所有角色",
            "📊 總體進度: 1/2 任務完成 (50%)",
            "🔄 當前: T002 Do thing 2",
        ),
        (
            "zh-CN",
            "任务 T001 已通过所有角色",
            "📊 总体进度: 1/2 任务完成 (50%)",
            "🔄 当前: T002 Do thing 2",
        ),
    ] {
        let env = TestEnv::with_tasks(2);
        let turns = [
            develops("a.txt"),
            rejects("FINDING high: a.txt is not enough"),
            develops("b.txt"),
            approves(),
            says("1 test fails\n\nRESULT: FAIL"),
            says("The cause is b.txt:1."),
            develops("c.txt"),
            approves(),
            passes(),
        ];
        let agent = env.agent(&turns);
        let args = [
            "run", "--roles", "--lang", lang, "--preset", "openspec", "--tasks", "tasks.md",
            "--max-iterations", "10", "--agent-cmd", &agent,
        ];
        let done = env.ralph(&args);
        // Who is shown at work, in the order of the calls.
        let shown = done
            .stdout
            .lines()
            .filter_map(|l| l.split_once("└── D→R→T"));
        let shown = shown.map(|(_, roles)| roles.trim_start_matches("→D").trim_start_matches(": "));
        let mut shown: Vec<&str> = shown.collect();
        shown.dedup();
        shown.truncate(9);
        let developer = "DEVELOPER 🔄 → REVIEWER ⏳ → TESTER ⏳";
        let reviewer = "DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳";
        let tester = "DEVELOPER ✅ → REVIEWER ✅ → TESTER 🔄";
        let debugger = "DEVELOPER ✅ → REVIEWER ✅ → TESTER ❌ → DEBUGGER 🔄";
        let way = [
            developer, reviewer, developer, reviewer, tester, debugger, developer, reviewer, tester,
        ];
        assert_eq!(shown, way, "{lang}: {}", done.stdout);
        for line in ["#9 / 10\n", passed, progress, current] {
            assert!(done.stdout.contains(line), "{line}\n{}", done.stdout);
        }
    }
}

#[test]
fn every_call_counts_to_the_limit_of_dispatches() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[limits]\nmax_dispatches = 2\n");
    let turns = [develops("a.txt"), approves(), passes()];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "max_dispatches");
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(names(&done.events()).contains(&"limit_extended".to_owned()));
}

#[test]
fn flows_can_be_listed_shown_and_checked() {
    let env = TestEnv::new();
    let listed = env.ralph(&["flow"]);
    for name in ["drt", "direct", "planned", "ralph", "architect", "ui_flow"] {
        assert!(listed.stdout.contains(name), "{}", listed.stdout);
    }
    for (lang, about) in [("zh-TW", "規劃、實現、審查"), ("zh-CN", "规划、实现、审查")]
    {
        let listed = env.ralph(&["--lang", lang, "flow"]);
        assert!(listed.stdout.contains(about), "{}", listed.stdout);
    }
    assert_eq!(env.ralph(&["flow", "check"]).code, 0);
    let file = env.ralph(&["flow", "show", "drt", "--file"]).stdout;
    let own = file.replace("name = \"drt\"", "name = \"mine\"");
    env.write(".ralph/flows/mine.toml", &own);
    let checked = env.ralph(&["flow", "check"]);
    assert_eq!(
        (checked.code, checked.stdout.trim()),
        (0, "1 flow is in order")
    );
    env.write(
        ".ralph/flows/mine.toml",
        &own.replace("role = \"tester\"", "role = \"wizard\""),
    );
    let checked = env.ralph(&["flow", "check"]);
    assert_eq!(checked.code, 1);
    assert!(
        checked.stderr.contains(".ralph/flows/mine.toml:") && checked.stderr.contains("wizard"),
        "{}",
        checked.stderr
    );
    let json = env.ralph(&["flow", "list", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(listed[0]["name"], "mine");
    assert_eq!(listed[0]["valid"], false);
    assert_eq!(env.ralph(&["flow", "show", "nothing"]).code, 1);
}

#[test]
fn a_flow_of_one_s_own_is_followed() {
    let env = TestEnv::with_tasks(1);
    let flow = "name = \"pair\"\nscope = \"task\"\n\n[[step]]\nid = \"work\"\nrole = \"developer\"\nprompt = \"Do {{TASK_ID}} as {{ROLE}}.\"\non.done = \"look\"\n\n[[step]]\nid = \"look\"\nrole = \"reviewer\"\nverdict = \"review\"\nprompt = \"Look.\"\non.approve = \"done\"\non.reject = \"work\"\nlimit.reject = 2\n";
    env.write(".ralph/flows/pair.toml", flow);
    env.write(
        ".ralph/config.toml",
        "[roles]\nenabled = true\nflow = \"pair\"\n",
    );
    let (done, events) = env.run_script(&[develops("a.txt"), approves()], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(roles(&events), ["developer", "reviewer"]);
    assert!(prompt(&env, 1).contains("Do T001 as DEVELOPER."));
    env.write(
        ".ralph/config.toml",
        "[roles]\nenabled = true\nflow = \"none\"\n",
    );
    let refused = env.ralph(&["run", "--dry-run", "--agent-cmd", "true"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("there is no flow \"none\""),
        "{}",
        refused.stderr
    );
}

/// ROLE-04: a task that is LOW by its words is reviewed for what was changed;
/// what a person set is left alone. ROLE-03: the model of a HIGH review.
#[test]
fn the_changed_files_judge_the_risk_too_role_04() {
    for (file, config, want) in [
        ("README.md", "", &["developer"][..]),
        ("src/lib.rs", "", &["developer", "reviewer", "tester"]),
        (
            "src/auth/login.rs",
            "",
            &["developer", "reviewer", "tester"],
        ),
        ("src/lib.rs", "risk = \"low\"\n", &["developer"]),
    ] {
        let env = TestEnv::new();
        env.write(
            "tasks.md",
            "# Tasks\n\n- [ ] T001 Describe it in README.md\n",
        );
        env.write("dirty.rs", "");
        commit(&env);
        // What lay there before is nobody's change.
        env.write("dirty.rs", "fn before() {}");
        env.write(
            ".ralph/config.toml",
            &format!("[roles]\nhigh_model = \"strong\"\n{config}"),
        );
        let (done, events) = run(&env, &[develops(file), approves(), passes()], &[]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(roles(&events), want, "{file} {config}");
        let raised = named(&events, "risk_seen");
        assert_eq!(raised.len(), usize::from(want.len() > 1), "{file}");
    }
}

/// ROLE-02: where nothing was tested nobody is told that tests failed, and the
/// screen says why the task goes back.
#[test]
fn a_task_that_nothing_shows_goes_back_with_the_reason_role_02() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# Tasks\n\n- [ ] T001 Write it | files: wanted.txt | risk: medium\n",
    );
    commit(&env);
    let turns = [
        says("done"),
        approves(),
        passes(),
        says("It was never written."),
        develops("wanted.txt"),
        approves(),
        passes(),
    ];
    let agent = env.agent(&turns);
    let mut command = env.command(&["run", "--roles", "--json", "--agent-cmd", &agent]);
    let run = command.env("RALPH_EVIDENCE_LEVEL", "unrefuted").output();
    let events = Done::of(&run.unwrap()).events();
    let back = named(&events, "sent_back");
    assert_eq!(back.len(), 1, "{events:?}");
    assert_eq!(back[0]["task"], "T001");
    let why = back[0]["reason"].as_str().unwrap();
    let debugger = prompt(&env, 4);
    assert!(debugger.contains("DEBUGGER"), "{debugger}");
    assert!(debugger.contains(why), "{debugger}");
    for untrue in ["tests of this task failed", "checks pass"] {
        assert!(!debugger.contains(untrue), "{debugger}");
    }
}
