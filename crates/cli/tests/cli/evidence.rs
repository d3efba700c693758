//! Ticks with proof, baselines and weakened checks, with a real agent process.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named, names};

/// A project whose check wants a file for every ticked task.
const CHECK: &str = "for t in $(sed -n 's/^- \\[x\\] \\(T[0-9]*\\).*/\\1/p' tasks.md); do test -e $t.txt || { echo no $t.txt; exit 1; }; done";

fn done(id: &str) -> Value {
    json!({"write": {format!("{id}.txt"): id}, "tick": [id], "say": "<promise>CONTINUE</promise>"})
}

fn only_ticked(id: &str) -> Value {
    json!({"tick": [id], "say": "<promise>CONTINUE</promise>"})
}

fn run(env: &TestEnv, turns: &[Value], more: &[&str]) -> (Done, Vec<Value>) {
    let args = [&["--verify", CHECK, "--tasks", "tasks.md"], more].concat();
    env.run_script(turns, &args)
}

#[test]
fn tick_without_work_is_turned_back_and_told() {
    let env = TestEnv::with_tasks(2);
    let before = env.read("tasks.md");
    let turns = [
        only_ticked("T001"),
        json!({"say": "<promise>CONTINUE</promise>"}),
        done("T001"),
        done("T002"),
    ];
    let (done, events) = run(&env, &turns, &["--max-iterations", "2"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(env.read("tasks.md"), before, "exactly the box was emptied");
    let rejected = named(&events, "tick_rejected");
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["tasks"], json!(["T001"]));
    assert_eq!(rejected[0]["iteration"], 1);
    let prompt = second_prompt(&env);
    assert!(prompt.contains("T001 Do thing 1"), "{prompt}");
    assert!(prompt.contains("no T001.txt"), "{prompt}");
    // The person does not read that the agent did it.
    assert_eq!(named(&events, "tasks_unticked").len(), 0);
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let events = done.events();
    let proven: Vec<&Value> = named(&events, "tick_proven");
    assert_eq!(proven[0]["tasks"], json!(["T001"]));
    assert_eq!(proven[0]["commands"][0]["exit"], 0);
    assert!(proven[0]["commands"][0]["digest"].is_string());
    assert!(proven[0]["tree"].is_string());
    let status = env.json(".ralph/status.json");
    assert_eq!(status["proven_tasks"], json!(["T001", "T002"]));
    let table = env.ralph(&["tasks", "list", "--tasks", "tasks.md"]).stdout;
    assert_eq!(table.matches("(proven)").count(), 2, "{table}");
}

/// T-09: the last turn that is rejected says of its tasks what the file says.
#[test]
fn a_tick_turned_back_in_the_last_turn_is_counted_nowhere() {
    let env = TestEnv::with_tasks(1);
    let turn = json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"});
    let (done, events) = run(&env, &vec![turn; 5], &[]);
    assert_eq!(done.code, 7, "{}", done.stderr);
    assert!(env.read("tasks.md").contains("- [ ] T001"));
    let nothing = json!({"total": 1, "completed": 0, "pending": 1, "progress_percent": 0});
    assert_eq!(env.json(".ralph/status.json")["tasks"], nothing);
    let end = named(&events, "loop_end");
    assert_eq!(end[0]["tasks"]["completed"], 0, "{end:?}");
    let rejected = named(&events, "tick_rejected");
    assert_eq!(rejected.len(), 5, "{events:?}");
    let report = env.ralph(&["report"]).stdout;
    assert!(report.contains("Tasks done: 0/1"), "{report}");
    let history = env.ralph(&["history", "--json"]).stdout;
    assert!(!history.contains("\"completed\":1"), "{history}");
}

fn second_prompt(env: &TestEnv) -> String {
    let runs = std::fs::read_dir(env.state("runs")).unwrap();
    let run = runs.map(|entry| entry.unwrap().path()).next().unwrap();
    std::fs::read_to_string(run.join("turn-0002.prompt.md")).unwrap()
}

#[test]
fn task_and_phase_have_checks_of_their_own() {
    let env = TestEnv::new();
    let tasks = "# Tasks\n\n## Phase 1: Work\nverify: test -e phase.txt\n\n- [ ] T001 One | verify: `test -e one.txt | cat; test -e one.txt`\n- [ ] T002 Two\n  verify: test -e two.txt\n\n## Phase 2: More\n\n- [ ] T003 Three\n";
    env.write("tasks.md", tasks);
    let turns = [
        json!({"write": {"one.txt": "", "phase.txt": ""}, "tick": ["T001", "T002"]}),
        json!({"write": {"two.txt": ""}, "tick": ["T002", "T003"]}),
    ];
    let (done, events) = env.run_script(&turns, &["--tasks", "tasks.md"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let rejected = named(&events, "tick_rejected");
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["tasks"], json!(["T002"]));
    assert_eq!(
        rejected[0]["reason"],
        "`test -e two.txt` failed with exit code 1"
    );
}

#[test]
fn story_of_a_prd_is_turned_back_by_its_literal() {
    let env = TestEnv::new();
    let prd = "{\n  \"userStories\": [\n    {\"id\": \"US-1\", \"title\": \"One\", \"passes\": false, \"verify\": [\"test -e one.txt\"]}\n  ]\n}\n";
    env.write("prd.json", prd);
    let turns = [
        only_ticked("US-1"),
        json!({"write": {"one.txt": ""}, "tick": ["US-1"]}),
    ];
    let (done, events) = env.run_script(&turns, &["--tasks", "prd.json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "tick_rejected").len(), 1);
    assert_eq!(env.read("prd.json"), prd.replace("false", "true"));
}

#[test]
fn ticks_stand_where_the_agent_is_believed() {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", "[verify]\nticks = \"agent\"\n");
    let (done, events) = run(
        &env,
        &[only_ticked("T001"), only_ticked("T002")],
        &["--max-iterations", "2"],
    );
    // At the end everything is verified all the same.
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(named(&events, "tick_rejected").len(), 0);
    assert_eq!(env.read("tasks.md").matches("[x]").count(), 2);
    assert_eq!(named(&events, "gate_result").len(), 1);
}

#[test]
fn weakened_tests_invalidate_the_claim_until_they_are_back() {
    let env = TestEnv::with_tasks(1);
    let test = "def test_it():\n    assert 1\n";
    env.write("tests/test_it.py", test);
    let turns = [
        json!({"write": {"T001.txt": ""}, "remove": ["tests/test_it.py"], "tick": ["T001"], "say": "<promise>COMPLETE</promise>"}),
        json!({"write": {"tests/test_it.py": test}, "tick": ["T001"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let weakened = named(&events, "checks_weakened");
    assert_eq!(weakened.len(), 1);
    assert_eq!(weakened[0]["found"][0]["file"], "tests/test_it.py");
    assert_eq!(weakened[0]["found"][0]["how"], "removed");
    assert_eq!(named(&events, "tick_rejected").len(), 1);
    assert_eq!(named(&events, "promise_rejected").len(), 1);
}

#[test]
fn weakened_tests_are_only_told_where_that_is_asked_for() {
    for (mode, told) in [("warn", 1), ("off", 0)] {
        let env = TestEnv::with_tasks(1);
        env.write("tests/test_it.py", "def test_it():\n    assert 1\n");
        env.write(
            ".ralph/config.toml",
            &format!("[verify]\nintegrity = \"{mode}\"\n"),
        );
        let turns =
            [json!({"write": {"T001.txt": ""}, "remove": ["tests/test_it.py"], "tick": ["T001"]})];
        let (done, events) = run(&env, &turns, &[]);
        assert_eq!(done.code, 0, "{mode}: {}", done.stderr);
        assert_eq!(named(&events, "checks_weakened").len(), told, "{mode}");
    }
}

#[test]
fn work_on_tests_is_no_weakening() {
    let env = TestEnv::with_tasks(1);
    env.write("tests/test_it.py", "def test_it():\n    assert 1\n");
    let moved = "def test_it():\n    assert 2\n\ndef test_more():\n    assert 3\n";
    let turns = [
        json!({"write": {"T001.txt": "", "tests/unit/test_it.py": moved}, "remove": ["tests/test_it.py"], "tick": ["T001"]}),
    ];
    let (done, events) = run(&env, &turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!names(&events).contains(&"checks_weakened".to_owned()));
}

#[test]
fn verify_lines_of_the_agent_are_not_run() {
    let env = TestEnv::new();
    let tasks = "# Tasks\n\n## Phase 1: Work\n\n- [ ] T001 One\n  verify: test -e one.txt\n";
    env.write("tasks.md", tasks);
    let forged = "# Tasks\n\n## Phase 1: Work\n\n- [ ] T001 One\n  verify: touch hacked.txt\n";
    let turns = [json!({"write": {"tasks.md": forged}, "tick": ["T001"]})];
    let (done, events) = env.run_script(&turns, &["--tasks", "tasks.md", "--max-iterations", "1"]);
    assert_ne!(done.code, 0);
    assert!(!env.path("hacked.txt").exists());
    assert_eq!(
        named(&events, "checks_weakened")[0]["found"][0]["how"],
        "task_check"
    );
    assert_eq!(named(&events, "tick_rejected").len(), 1);
}

/// A suite in which one test has always failed.
const SUITE: &str =
    "echo \"test old ... FAILED\"; test -e broken && echo \"test new ... FAILED\"; exit 1";

#[test]
fn only_new_failures_count_where_a_baseline_was_taken() {
    let project = || {
        let env = TestEnv::with_tasks(1);
        env.write("suite.sh", SUITE);
        env.write(
            ".ralph/config.toml",
            "[verify]\ncommands = [\"sh suite.sh\"]\n",
        );
        env
    };
    let work = [json!({"write": {"a.txt": "a"}, "tick": ["T001"]})];
    let breaks = [json!({"write": {"broken": ""}, "tick": ["T001"]})];
    let run = |env: &TestEnv, turns: &[Value]| {
        env.run_script(turns, &["--tasks", "tasks.md", "--max-iterations", "1"])
    };

    let env = project();
    assert_eq!(run(&env, &work).0.code, 3, "without a baseline it counts");

    let env = project();
    let done = env.ralph(&["verify", "--baseline"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let known = env.ralph(&["verify"]);
    assert_eq!(known.code, 0);
    // VERI-06: that is not to be called passed.
    assert!(!known.stdout.contains("All verify commands passed"));
    assert!(known.stdout.contains("No new failure"), "{}", known.stdout);
    let (done, events) = run(&env, &work);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let result = named(&events, "gate_result")[0];
    assert_eq!(result["commands"][0]["known"], true);

    let env = project();
    env.ralph(&["verify", "--baseline"]);
    let (done, events) = run(&env, &breaks);
    assert_eq!(done.code, 3, "a new failure");
    assert_eq!(named(&events, "tick_rejected").len(), 1);
    std::fs::remove_file(env.path("broken")).unwrap();
    assert_eq!(env.ralph(&["verify"]).code, 0);
    assert_eq!(env.ralph(&["verify", "--forget-baseline"]).code, 0);
    assert_eq!(env.ralph(&["verify"]).code, 7);
}

#[test]
fn baseline_of_the_agent_excuses_nothing() {
    let env = TestEnv::with_tasks(1);
    env.write("suite.sh", SUITE);
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"sh suite.sh\"]\n",
    );
    env.ralph(&["verify", "--baseline"]);
    let forged = env
        .read(&env.state_name("baseline.json"))
        .replace("old", "new");
    env.write(&env.state_name("baseline.json"), &forged);
    assert_eq!(env.ralph(&["verify"]).code, 7);
}

/// Runs with a shell agent, and asks for what is asked for by default.
fn run_again(env: &TestEnv, script: &str, more: &[&str]) -> Done {
    let agent = crate::live::shell_agent(env, script);
    let args = [&["run", "--agent-cmd", &agent], more].concat();
    let mut command = env.command(&args);
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    Done::of(&command.output().unwrap())
}

const TICKS: &str =
    "cat > /dev/null; sed -i 's/- \\[ \\]/- [x]/' tasks.md; echo '<promise>COMPLETE</promise>'";

/// What was not shown in one run is not shown because another one begins.
#[test]
fn another_run_takes_nothing_for_shown_that_was_not() {
    let env = TestEnv::with_tasks(2);
    for verify in [&[][..], &["--verify", "test -f tasks.md"]] {
        env.write("tasks.md", "- [ ] T001 One\n- [ ] T002 Two\n");
        let script = format!("date +%N > w; {TICKS}");
        let script = if verify.is_empty() { TICKS } else { &script };
        let first = run_again(&env, script, verify);
        assert_eq!(first.code, 3, "{}{}", first.stdout, first.stderr);
        assert!(
            env.read("tasks.md").contains("- [x] T002"),
            "{}",
            first.stdout
        );
        let again = run_again(&env, script, verify);
        assert_eq!(again.code, 3, "{}{}", again.stdout, again.stderr);
        let said = again.stdout + &again.stderr;
        assert!(said.contains("never shown: T001, T002"), "{said}");
        let third = run_again(&env, script, verify);
        assert_eq!(third.code, 3, "{}{}", third.stdout, third.stderr);
        // A person's word is enough, and so is a person's list.
        let accepted = env.ralph(&["accept", "--all"]);
        assert_eq!(accepted.code, 0, "{}{}", accepted.stdout, accepted.stderr);
        let done = run_again(&env, script, verify);
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    }
    let env = TestEnv::with_tasks(1);
    env.write("tasks.md", "- [x] T001 One\n");
    let done = run_again(&env, TICKS, &[]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

/// The same where the run died before it could look.
#[test]
fn ticks_of_a_run_that_died_are_nobodys() {
    let env = TestEnv::with_tasks(2);
    let kills = format!("{TICKS}; kill -9 $PPID; sleep 5");
    let agent = crate::live::shell_agent(&env, &kills);
    let _ = env.ralph(&["run", "--agent-cmd", &agent]);
    assert!(env.read("tasks.md").contains("[x] T002"));
    let again = run_again(&env, TICKS, &[]);
    assert_eq!(again.code, 3, "{}{}", again.stdout, again.stderr);
}

/// Without a check, what was taken back again is no work.
#[test]
fn work_that_is_gone_at_the_end_shows_nothing() {
    let env = TestEnv::with_tasks(3);
    let script = "cat > /dev/null\ncase $RALPH_ITERATION in 1) echo a > j1;; 2) echo b > j2;; *) rm -f j1 j2;; esac\nsed -i '0,/- \\[ \\]/s//- [x]/' tasks.md; echo '<promise>COMPLETE</promise>'\n";
    let done = run_again(&env, script, &["--max-iterations", "5"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
}

/// CONF-05, VERI-16: the preset is a gate around an agent, whatever it says.
#[test]
fn the_preset_verify_ends_when_the_checks_pass() {
    let env = TestEnv::new();
    env.write("ready.sh", "test -f done.txt\n");
    let turns = [
        json!({"write": {"half.txt": "x"}, "say": "<promise>CONTINUE</promise>"}),
        json!({"write": {"done.txt": "x"}, "say": "<promise>COMPLETE</promise>"}),
    ];
    let agent = env.agent(&turns);
    let args = [
        "run", "--json", "--preset", "verify", "Make it ready", "--verify", "sh ready.sh",
        "--agent-cmd", &agent,
    ];
    let done = env.ralph(&args);
    let events = done.events();
    let end = events.last().unwrap();
    assert_eq!(end["outcome"], "complete", "{events:#?}");
    assert_eq!(end["iterations"], 2);
}
