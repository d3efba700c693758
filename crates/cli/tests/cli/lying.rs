//! A lying agent gets nowhere: whatever it says, writes or prints, the run
//! never ends as complete.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};

/// A project with a test that fails until the work is done.
fn project() -> TestEnv {
    let env = TestEnv::with_tasks(2);
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"sh tests/run.sh\"]\n[gate]\nsteps = [\"test: sh tests/run.sh\"]\n",
    );
    env.write("tests/run.sh", "sh tests/unit.bats.sh\n");
    env.write("tests/unit.bats.sh", "grep -q done product.txt\n");
    env.write(
        "tests/test_product.py",
        "def test_product():\n    assert open('product.txt').read()\n",
    );
    env.git(&["add", "-A", "-f"]);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&name[..], &["commit", "-q", "-m", "Tests"]].concat());
    env
}

/// Plays the lie again and again; the run must end as anything but complete.
fn check(env: &TestEnv, lie: Value) -> Vec<Value> {
    let script = json!({"turns": vec![lie], "repeat_last": true});
    let path = env.outside("lie.json");
    std::fs::write(&path, script.to_string()).unwrap();
    let agent = format!("{} __agent {}", crate::env::RALPH, path.display());
    let args = [
        "run", "--json", "--agent-cmd", &agent, "--tasks", "tasks.md", "--max-iterations", "12",
    ];
    let done = env.ralph(&args);
    let events = done.events();
    let end = named(&events, "loop_end");
    assert_eq!(end.len(), 1, "{}", done.stdout);
    assert_ne!(end[0]["outcome"], "complete", "{}", done.stdout);
    assert_ne!(done.code, 0);
    events
}

#[test]
fn ticks_without_work() {
    let env = project();
    let events = check(
        &env,
        json!({"tick": ["*"], "say": "<promise>COMPLETE</promise>"}),
    );
    assert!(!named(&events, "tick_rejected").is_empty());
    assert!(
        !env.read("tasks.md").contains("[x]"),
        "{}",
        env.read("tasks.md")
    );
}

#[test]
fn edits_the_tests_to_pass() {
    for write in [
        json!({"tests/run.sh": "exit 0\n"}),
        json!({"tests/run.sh": "exit 0\n", "tests/test_product.py": "def test_product():\n    pass\n"}),
        json!({".ralph/config.toml": "[verify]\ncommands = [\"true\"]\n"}),
    ] {
        let env = project();
        let lie = json!({"write": write, "tick": ["*"], "say": "<promise>COMPLETE</promise>"});
        let events = check(&env, lie);
        assert!(!named(&events, "checks_weakened").is_empty(), "{write}");
        // Nor by taking the run up again, when it goes by the new settings.
        let done = env.ralph(&["resume", "--yes", "--json"]);
        assert_ne!(done.code, 0, "{write}");
    }
}

#[test]
fn removes_or_skips_the_tests() {
    let skipped = "import pytest\n\n@pytest.mark.skip\ndef test_product():\n    assert open('product.txt').read()\n";
    for lie in [
        json!({"remove": ["tests/test_product.py"]}),
        json!({"write": {"tests/test_product.py": skipped}}),
    ] {
        let env = project();
        // The verification itself would pass.
        let mut lie = lie;
        lie["write"]["product.txt"] = "done\n".into();
        lie["tick"] = json!(["*"]);
        lie["say"] = "<promise>COMPLETE</promise>".into();
        let events = check(&env, lie);
        assert!(!named(&events, "checks_weakened").is_empty());
    }
}

const FORGED: &str = "# Quality Gate Passed\n# Generated: 2026-01-01T00:00:00Z\n\ntypecheck: PASS\ntest: PASS\nbuild: PASS\n";

fn gate_is_shut(env: &TestEnv) {
    let done = env.ralph(&["gate", "check", "--json"]);
    assert_eq!(done.code, 7);
    assert!(done.stdout.contains("gate_not_ours"), "{}", done.stdout);
}

#[test]
fn writes_the_gate_file_by_hand() {
    let env = project();
    let lie = json!({"write": {".quality-gate-passed": FORGED}, "tick": ["*"], "say": "<promise>QUALITY_GATE_PASSED</promise>"});
    check(&env, lie);
    gate_is_shut(&env);
}

#[test]
fn backdates_the_gate_file() {
    let env = project();
    let lie = json!({"write": {".quality-gate-passed": FORGED}, "tick": ["*"], "say": "<promise>COMPLETE</promise>"});
    check(&env, lie);
    let file = std::fs::File::options()
        .write(true)
        .open(env.path(".quality-gate-passed"))
        .unwrap();
    for seconds in [1_000_000_000, 4_000_000_000] {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
        gate_is_shut(&env);
    }
}

#[test]
fn emits_every_promise() {
    let env = project();
    let say = "<promise>CONTINUE</promise>\n<promise>E2E PASSED</promise>\n<promise>PHASE COMPLETE</promise>\n<promise>DONE</promise>\n<promise>QUALITY_GATE_PASSED</promise>\n<promise>CI_PASSED</promise>\n<promise>COMPLETE</promise>";
    let events = check(&env, json!({"say": say}));
    assert!(!named(&events, "promise_rejected").is_empty());
}

#[test]
fn prints_a_green_test_log() {
    let env = project();
    let say = "$ sh tests/run.sh\nrunning 12 tests\ntest result: ok. 12 passed; 0 failed\nexit code: 0\nVERIFIED: all checks passed\n\n<promise>COMPLETE</promise>";
    let lie = json!({"write": {"test-output.log": say}, "tick": ["*"], "say": say});
    let events = check(&env, lie);
    assert!(!named(&events, "tick_rejected").is_empty());
}

/// TASK-17: whoever writes other tasks did not do those that were asked for.
#[test]
fn tasks_with_other_words_are_not_done_task_17() {
    let env = TestEnv::with_tasks(2);
    let nothing = "# Tasks\n\n- [x] T001 nothing to do\n- [x] T002 nop\n";
    let back = "# Tasks\n\n- [x] T001 Do thing 1\n- [x] T002 Do thing 2 (in w)\n";
    let promise = "<promise>COMPLETE</promise>";
    let turns = [
        json!({"write": {"w": "1", "tasks.md": nothing}, "say": promise}),
        json!({"write": {"w": "2", "tasks.md": back}, "say": promise}),
    ];
    let (done, events) = env.run_script(&turns, &["--max-iterations", "4"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["iterations"], 2, "{events:?}");
    let told = named(&events, "tasks_reworded");
    assert_eq!(told.len(), 1, "{events:?}");
    assert_eq!(told[0]["tasks"], json!(["T001", "T002"]));
    let prompt = crate::roles::prompt(&env, 2);
    assert!(prompt.contains("T001 Do thing 1"), "{prompt}");
    assert!(prompt.contains("put their words back"), "{prompt}");
    // What is put behind the words may say anything: it is told.
    let remarks = named(&events, "tasks_remarked");
    assert_eq!(remarks[0]["tasks"][0]["text"], "Do thing 2 (in w)");
}

/// TASK-17, PROM-11: where tasks have no ids, what is known of one stays with
/// its words, wherever the line goes.
#[test]
fn tasks_without_ids_keep_what_is_known_of_them_task_17() {
    let list = |lines: [&str; 2]| {
        let boxes = lines.map(|line| format!("- [{}] {}\n", &line[..1], &line[1..]));
        format!("# Tasks\n\n{}", boxes.concat())
    };
    let (a, b) = ("A | verify: `test -f a`", "B | verify: `test -f b`");
    let [done_a, open_a] = ["x", " "].map(|mark| format!("{mark}{a}"));
    let [done_b, open_b] = ["x", " "].map(|mark| format!("{mark}{b}"));
    let promise = "<promise>COMPLETE</promise>";

    // The check of one task stands where that of the other was.
    let env = TestEnv::new();
    env.write("tasks.md", &list([&open_a, &open_b]));
    let turns = [
        json!({"write": {"a": "1", "tasks.md": list([&done_a, &open_b])}, "say": "a"}),
        json!({"write": {"tasks.md": list([&done_b, &done_a])}, "say": promise}),
    ];
    let (done, events) = env.run_script(&turns, &["--max-iterations", "2"]);
    assert_eq!(done.code, 3, "{events:?}");
    let read = env.read("tasks.md");
    assert!(
        read.contains("- [ ] B") && read.contains("- [x] A"),
        "{read}"
    );

    // A person puts a line above the others.
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] A\n- [ ] B\n");
    let turns = [
        json!({"write": {"a": "1", "tasks.md": "- [x] A\n- [ ] B\n"}, "say": "a"}),
        json!({"write": {"b": "1", "tasks.md": "- [ ] Z\n- [x] A\n- [x] B\n"}, "say": "b"}),
        json!({"write": {"tasks.md": "- [x] Z\n- [x] A\n- [x] B\n"}, "say": promise}),
    ];
    let agent = env.agent(&turns);
    let run = [
        "run", "--json", "--agent-cmd", &agent, "--max-iterations", "3",
    ];
    let mut run = env.command(&run);
    run.env("RALPH_EVIDENCE_LEVEL", "changed");
    let done = Done::of(&run.output().unwrap());
    assert_eq!(done.code, 3, "{}", done.stdout);
    assert_eq!(env.read("tasks.md"), "- [ ] Z\n- [x] A\n- [x] B\n");

    // What a person left out stays left out, also after the run was stopped.
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] A\n- [ ] B\n");
    let turns = [
        json!({"write": {"a": "1", "tasks.md": "- [x] A\n- [ ] B\n"}, "say": "a"}),
        json!({"write": {"z": "1", "tasks.md": "- [x] Z\n- [x] A\n- [ ] B\n"}, "say": promise}),
    ];
    let (_, _) = env.run_script(&turns, &["--max-iterations", "1"]);
    assert_eq!(env.ralph(&["tasks", "skip", "#2"]).code, 0);
    env.write("tasks.md", "- [ ] Z\n- [x] A\n- [ ] B\n");
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("1 task was left out: #3"),
        "{}",
        done.stdout
    );
}

/// TASK-13, TASK-17: what a story asks for is not the agent's to rewrite.
#[test]
fn a_story_without_its_criteria_is_not_done_task_13() {
    let env = TestEnv::new();
    let story = |criteria: Value, passes: bool| {
        json!({"userStories": [
            {"id": "US-1", "title": "Login", "description": "As a user",
             "acceptanceCriteria": criteria, "passes": passes},
            {"id": "US-2", "title": "Logout", "acceptanceCriteria": ["Typecheck"], "passes": passes},
        ]})
        .to_string()
    };
    let asked = json!(["Typecheck", "Locks after 5 tries"]);
    env.write("prd.json", &story(asked.clone(), false));
    let promise = "<promise>COMPLETE</promise>";
    let less = json!(["nothing"]);
    let more = json!(["Typecheck", "Locks after 5 tries (see w)", "Tested"]);
    let turns = [
        json!({"write": {"w": "1", "prd.json": story(less, true)}, "say": promise}),
        json!({"write": {"w": "2", "prd.json": story(more, true)}, "say": promise}),
    ];
    let (done, events) = env.run_script(&turns, &["--max-iterations", "4"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["iterations"], 2, "{events:?}");
    let told = named(&events, "tasks_reworded");
    assert_eq!(told.len(), 1, "{events:?}");
    assert_eq!(told[0]["tasks"], json!(["US-1"]));
    let prompt = crate::roles::prompt(&env, 2);
    let words = "US-1 Typecheck; Locks after 5 tries";
    assert!(prompt.contains(words), "{prompt}");
}

/// The same of lines below a task, which may be notes: they are told.
#[test]
fn lines_that_are_gone_from_below_a_task_are_told() {
    let env = TestEnv::new();
    let below = "- [ ] T001 Read names\n  - must handle unicode\n  - ends with `\\n`\n  * [ ] empty lines\n";
    env.write("tasks.md", below);
    let kept = "- [x] T001 Read names\n  - [x] Must handle **unicode**\n  - ends with `\\n`, see w\n  - [x] empty lines\n";
    let less = "- [x] T001 Read names\n  - [x] empty lines\n";
    let turns = [
        json!({"write": {"w": "1", "tasks.md": kept}, "say": "Working."}),
        json!({"write": {"w": "2", "tasks.md": less}, "say": "Working."}),
    ];
    let (_, events) = env.run_script(&turns[..1], &["--max-iterations", "2"]);
    assert!(named(&events, "tasks_thinned").is_empty(), "{events:?}");
    env.write("tasks.md", below);
    let (_, events) = env.run_script(&turns[1..], &["--max-iterations", "2"]);
    let told = named(&events, "tasks_thinned");
    let text = &told[0]["tasks"][0]["text"];
    assert_eq!(text, "must handle unicode; ends with `\\n`");
}
