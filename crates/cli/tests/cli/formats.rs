//! Every task format, from the first open box to a proven end, and where a
//! task file is looked for.

use serde_json::{Value, json};

use crate::env::{TestEnv, named};
use crate::live::latest_run;

const CONTINUE: &str = "<promise>CONTINUE</promise>";
const PHASE_COMPLETE: &str = "<promise>PHASE COMPLETE</promise>";
const COMPLETE: &str = "<promise>COMPLETE</promise>";

const SPEC_KIT: &str = "\
# Tasks: Reading list

## Phase 1: Setup

- [ ] T001 Create the folder in src/
- [ ] T002 [P] Add the checker in check.toml

## Phase 2: The list (Priority: P1)

### Tests

- [ ] T003 [P] [US1] Describe the list in tests/list.txt

### Code

- [ ] T004 [US1] Write the list in src/list.txt

**Checkpoint**: the list can be read

## Notes

- [P] tasks = other files
- [US1] label = its story
";

const OPENSPEC: &str = "\
## Progress
- Total: 6 tasks
- Completed: 0
- Status: NOT_STARTED

---

## 1. Index (sequential)
- [ ] 1.1 Make the index | agent: developer | files: src/index.txt
  - [ ] 1.1.1 Read the folders
  - [ ] 1.1.2 Count the words

## 2. Pages (parallel)
- [ ] 2.1 Search page | agent: developer | files: src/search.txt | output: http://localhost:3000/search
* [ ] 2.2 Result page | agent: tester | files: src/result.txt

## 3. Together (sequential, depends: 2)
- [ ] 3.1 Join the pages | agent: reviewer | depends: 2.1, 2.2
";

const FIX_PLAN: &str = "\
# Fix plan

## High Priority
- [ ] Repair the parser
- [ ] Repair the printer

## Nice to Have
- [ ] A second colour

## Completed
- [x] The beginning

## Notes
- Small steps
";

/// A turn that leaves something new, ticks and says something.
fn turn(ticks: &[&str], say: &str) -> Value {
    json!({"write": {format!("work-{}.txt", ticks.join("-")): say}, "tick": ticks, "say": say})
}

fn story(id: &str, priority: u32) -> Value {
    json!({
        "id": id, "title": format!("Story {id}"), "description": "As a reader, I want it.",
        "acceptanceCriteria": ["It works"], "priority": priority, "passes": false, "notes": "",
    })
}

/// Runs to the end, which must be a complete one, and gives the events.
fn complete(env: &TestEnv, turns: &[Value], args: &[&str]) -> Vec<Value> {
    let (done, events) = env.run_script(turns, args);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert_eq!(events.last().unwrap()["outcome"], "complete");
    events
}

/// Phase and task of each turn.
fn worked_on(events: &[Value]) -> Vec<(Value, Value)> {
    named(events, "iteration_start")
        .iter()
        .map(|e| (e["phase"].clone(), e["task"].clone()))
        .collect()
}

fn counted(events: &[Value]) -> Value {
    events.last().unwrap()["tasks"].clone()
}

#[test]
fn spec_kit_goes_from_phase_to_phase() {
    let env = TestEnv::new();
    env.write("specs/001-list/tasks.md", SPEC_KIT);
    let turns = [
        turn(&["T001", "T002"], PHASE_COMPLETE),
        turn(&["T003"], CONTINUE),
        turn(&["T004"], PHASE_COMPLETE),
    ];
    let events = complete(&env, &turns, &[]);
    assert_eq!(
        worked_on(&events),
        [
            (json!(1), json!("T001")),
            (json!(2), json!("T003")),
            (json!(2), json!("T004")),
        ]
    );
    // The notes of spec-kit's own template look like boxes and are none.
    assert_eq!(
        counted(&events),
        json!({"total": 4, "completed": 4, "pending": 0})
    );
    assert!(named(&events, "promise_rejected").is_empty());
    assert_eq!(
        env.read("specs/001-list/tasks.md"),
        SPEC_KIT.replace("- [ ]", "- [x]")
    );
}

#[test]
fn a_phase_that_is_not_done_is_not_complete() {
    let env = TestEnv::new();
    env.write("specs/001-list/tasks.md", SPEC_KIT);
    let turns = [
        turn(&["T001"], PHASE_COMPLETE),
        turn(&["T002"], PHASE_COMPLETE),
        turn(&["T003", "T004"], PHASE_COMPLETE),
    ];
    let events = complete(&env, &turns, &[]);
    let rejected = named(&events, "promise_rejected");
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["reason"], "open tasks in phase 1: 1");
}

#[test]
fn one_phase_alone() {
    for (phase, first, rest) in [("1", "T001", "T002"), ("2", "T003", "T004")] {
        let env = TestEnv::new();
        env.write("specs/001-list/tasks.md", SPEC_KIT);
        let turns = [turn(&[first], CONTINUE), turn(&[rest], PHASE_COMPLETE)];
        let events = complete(&env, &turns, &["--phase", phase]);
        let phase: u64 = phase.parse().unwrap();
        assert_eq!(
            worked_on(&events),
            [(json!(phase), json!(first)), (json!(phase), json!(rest))]
        );
        assert_eq!(
            counted(&events),
            json!({"total": 2, "completed": 2, "pending": 0})
        );
        let left = env.read("specs/001-list/tasks.md").matches("- [ ]").count();
        assert_eq!(left, 2, "the other phase is not touched");
    }

    let env = TestEnv::new();
    env.write("specs/001-list/tasks.md", SPEC_KIT);
    let done = env.ralph(&["run", "--phase", "9", "--agent-cmd", "true"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .contains("specs/001-list/tasks.md: there is no phase 9"),
        "{}",
        done.stderr
    );
}

#[test]
fn openspec_with_nested_tasks_and_fields() {
    let env = TestEnv::new();
    env.write("openspec/changes/add-search/tasks.md", OPENSPEC);
    env.write(
        "openspec/changes/archive/2025-01-01-old/tasks.md",
        "## 1. Old\n- [ ] 1.1 Never finished\n",
    );
    let turns = [
        turn(&["1.1.1", "1.1.2", "1.1"], CONTINUE),
        // The phase is parallel: its second task may come first.
        turn(&["2.2"], CONTINUE),
        turn(&["2.1"], CONTINUE),
        turn(&["3.1"], COMPLETE),
    ];
    let events = complete(&env, &turns, &[]);
    assert_eq!(
        worked_on(&events),
        [
            (json!(1), json!("1.1")),
            (json!(2), json!("2.1")),
            (json!(2), json!("2.1")),
            (json!(3), json!("3.1")),
        ]
    );
    assert_eq!(
        counted(&events),
        json!({"total": 6, "completed": 6, "pending": 0})
    );
}

#[test]
fn one_openspec_change_of_several() {
    let env = TestEnv::new();
    env.write("openspec/changes/add-search/tasks.md", OPENSPEC);
    env.write(
        "openspec/changes/fix-title/tasks.md",
        "## 1. Title\n- [ ] 1.1 Repair the title\n",
    );
    let turns = [turn(&["1.1"], COMPLETE)];

    let (done, _) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 1);
    for change in ["add-search", "fix-title"] {
        let file = format!("openspec/changes/{change}/tasks.md");
        assert!(done.stderr.contains(&file), "{}", done.stderr);
    }

    let (done, _) = env.run_script(&turns, &["--openspec", "fix-titel"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("add-search, fix-title"),
        "{}",
        done.stderr
    );

    let events = complete(&env, &turns, &["--openspec", "fix-title"]);
    assert_eq!(
        counted(&events),
        json!({"total": 1, "completed": 1, "pending": 0})
    );
    assert_eq!(env.read("openspec/changes/add-search/tasks.md"), OPENSPEC);
}

#[test]
fn prd_json_goes_by_priority() {
    let env = TestEnv::new();
    let prd = json!({
        "project": "Reader", "branchName": "ralph/reader", "description": "Reads",
        "userStories": [story("US-001", 3), story("US-002", 1), story("US-003", 2)],
    });
    let text = serde_json::to_string_pretty(&prd).unwrap();
    env.write("prd.json", &text);
    let turns = [
        turn(&["US-002"], CONTINUE),
        turn(&["US-003"], COMPLETE),
        turn(&["US-001"], COMPLETE),
    ];
    let events = complete(&env, &turns, &[]);
    let order: Vec<Value> = worked_on(&events).into_iter().map(|(_, t)| t).collect();
    assert_eq!(order, ["US-002", "US-003", "US-001"]);
    assert_eq!(named(&events, "promise_rejected").len(), 1);
    assert_eq!(
        env.read("prd.json"),
        text.replace("\"passes\": false", "\"passes\": true")
    );
}

#[test]
fn fix_plan_leaves_the_optional_section_open() {
    let env = TestEnv::new();
    env.write(".ralph/fix_plan.md", FIX_PLAN);
    let turns = [turn(&["#1"], CONTINUE), turn(&["#2"], COMPLETE)];
    let events = complete(&env, &turns, &[]);
    assert_eq!(
        counted(&events),
        json!({"total": 3, "completed": 3, "pending": 0})
    );
    assert!(
        env.read(".ralph/fix_plan.md")
            .contains("- [ ] A second colour")
    );
}

#[test]
fn plain_boxes_need_no_ids() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# To do\r\n\r\n* [x] Begin\r\n* [ ] Write\r\n  + [ ] Write it well\r\n\r\nThat is all.\r\n",
    );
    let turns = [turn(&["#2"], CONTINUE), turn(&["#3"], COMPLETE)];
    let events = complete(&env, &turns, &[]);
    assert_eq!(
        counted(&events),
        json!({"total": 3, "completed": 3, "pending": 0})
    );
    assert_eq!(
        env.read("tasks.md"),
        "# To do\r\n\r\n* [x] Begin\r\n* [x] Write\r\n  + [x] Write it well\r\n\r\nThat is all.\r\n"
    );
}

#[test]
fn the_preset_sdd_keeps_its_log_and_its_promises() {
    let env = TestEnv::new();
    env.write("specs/001-list/tasks.md", SPEC_KIT);
    let turns = [
        // Not a promise of this preset: nothing is claimed.
        turn(&["T001"], COMPLETE),
        turn(&["T002"], PHASE_COMPLETE),
        turn(&["T003", "T004"], PHASE_COMPLETE),
    ];
    let events = complete(&env, &turns, &["--preset", "sdd"]);
    assert!(named(&events, "promise_rejected").is_empty());
    let log = env.read(".ralph/ralph-sdd.log");
    let head: Vec<&str> = log.lines().take(3).collect();
    assert_eq!(head[0], "# Ralph SDD Log");
    assert!(head[1].starts_with("Started: "), "{log}");
    assert_eq!(head[2], "---");
    assert!(!env.path(".ralph/ralph.log").exists());
    assert_eq!(env.json(".ralph/status.json")["max_iterations"], 50);
}

#[test]
fn the_preset_openspec_has_a_promise_of_its_own() {
    const ALL_DONE: &str = "<promise>所有任務完成</promise>";
    let env = TestEnv::new();
    env.write("openspec/changes/add-search/tasks.md", OPENSPEC);
    env.write(".ralph/config.toml", "[roles]\nenabled = false\n");
    // It is not what this preset works on.
    env.write("specs/001-list/tasks.md", SPEC_KIT);
    let turns = [
        turn(&["1.1.1", "1.1.2", "1.1", "2.1"], ALL_DONE),
        turn(&["2.2"], CONTINUE),
        turn(&["3.1"], ALL_DONE),
    ];
    let events = complete(&env, &turns, &["--preset", "openspec"]);
    let rejected = named(&events, "promise_rejected");
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["promise"], "所有任務完成");
    assert_eq!(env.json(".ralph/status.json")["max_iterations"], 100);
    let last = std::fs::read_to_string(latest_run(&env).join("turn-0003.prompt.md")).unwrap();
    assert!(last.contains(&format!("`{ALL_DONE}`")), "{last}");
}

#[test]
fn the_preset_delta_warns_from_the_fifteenth_turn_on() {
    let env = TestEnv::with_tasks(16);
    let one = |n: usize, say: &str| turn(&[&format!("T{n:03}")], say);
    let mut turns: Vec<Value> = (1..16).map(|n| one(n, CONTINUE)).collect();
    turns.push(one(16, "<promise>TASK_COMPLETE</promise>"));
    let events = complete(&env, &turns, &["--preset", "delta"]);
    let near: Vec<(&Value, &Value)> = named(&events, "limit_near")
        .iter()
        .map(|e| (&e["iteration"], &e["max_iterations"]))
        .collect();
    assert_eq!(near, [(&json!(15), &json!(20)), (&json!(16), &json!(20))]);
    let promises = named(&events, "promise_detected");
    assert_eq!(promises.last().unwrap()["promise"], "TASK_COMPLETE");
}

#[test]
fn task_files_are_found_in_their_order() {
    let open = "## Phase 1: Work\n- [ ] T001 Do it\n";
    let group = "## 1. Work\n- [ ] 1.1 Do it\n";
    let prd = json!({"project": "P", "userStories": [story("US-001", 1)]}).to_string();
    let places = [
        ("specs/001-a/tasks.md", open),
        (".specify/001-a/tasks.md", open),
        ("tasks.md", open),
        ("openspec/changes/a/tasks.md", group),
        ("prd.json", prd.as_str()),
        (".ralph/fix_plan.md", "## High\n- [ ] Do it\n"),
    ];
    let found = |env: &TestEnv, args: &[&str]| {
        let mut all = vec!["run", "--dry-run", "--json", "--agent-cmd", "true"];
        all.extend(args);
        let done = env.ralph(&all);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let plan: Value = serde_json::from_str(&done.stdout).unwrap();
        plan["tasks_file"].as_str().unwrap().to_owned()
    };
    let env = TestEnv::new();
    for (file, text) in places {
        env.write(file, text);
    }
    for (file, text) in places {
        let whole = |name: &str| env.path(name).to_string_lossy().into_owned();
        assert_eq!(found(&env, &[]), whole(file));
        assert_eq!(found(&env, &["--tasks", "prd.json"]), whole("prd.json"));
        // A list that is done is passed over like one that is not there.
        let finished = text.replace("[ ]", "[x]").replace("false", "true");
        env.write(file, &finished);
    }
    // All are done: the first of them says so.
    assert_eq!(
        found(&env, &[]),
        env.path("specs/001-a/tasks.md").to_string_lossy()
    );
}

#[test]
fn the_progress_block_follows_the_boxes_task_11() {
    let env = TestEnv::new();
    env.write(
        "openspec/changes/add-cart/tasks.md",
        "## Progress\n- Total: 2 tasks\n- Completed: 0\n- Status: NOT_STARTED\n\n## 1. Cart\n- [ ] 1.1 Model\n- [ ] 1.2 Page\n",
    );
    env.write(".ralph/config.toml", "[roles]\nenabled = false\n");
    let turns = [
        turn(&["1.1"], CONTINUE),
        turn(&["1.2"], "<promise>所有任務完成</promise>"),
    ];
    complete(
        &env,
        &turns,
        &["--openspec", "add-cart", "--preset", "openspec"],
    );
    assert_eq!(
        env.read("openspec/changes/add-cart/tasks.md"),
        "## Progress\n- Total: 2 tasks\n- Completed: 2\n- Status: COMPLETED\n\n## 1. Cart\n- [x] 1.1 Model\n- [x] 1.2 Page\n"
    );
}

/// TASK-01, TASK-05: a short list of spec-kit has no phases, and is read all
/// the same under the preset that asks for one.
#[test]
fn a_spec_kit_list_without_phases_is_taken_by_preset_sdd() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# Tasks\n\n- [ ] T001 [P] [US1] Make it in src/a.rs\n- [ ] T002 [US2] Use it\n- [ ] Write [P] up\n",
    );
    env.write(".ralph/config.toml", "preset = \"sdd\"\n");
    let listed = env.ralph(&["tasks", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let list: Value = serde_json::from_str(&listed.stdout).unwrap();
    let first = &list["tasks"][0];
    assert_eq!(first["text"], "Make it in src/a.rs");
    assert_eq!(
        (&first["parallel"], &first["story"]),
        (&json!(true), &json!("US1"))
    );
    assert_eq!(list["tasks"][1]["story"], "US2");
    assert_eq!(list["tasks"][2]["text"], "Write [P] up");
    let turns = [json!({"tick": ["*"], "say": "<promise>E2E PASSED</promise>"})];
    let (done, events) = env.run_script(&turns, &["--max-iterations", "1"]);
    let starts = named(&events, "iteration_start");
    assert_eq!(starts[0]["task"], "T001", "{}", done.stderr);
}

/// TASK-15: what is there is not said to be missing.
#[test]
fn a_file_of_another_kind_is_named_with_what_to_do() {
    let env = TestEnv::new();
    env.write(
        "prd.json",
        r#"{"userStories": [{"id": "US-1", "title": "x", "passes": false}]}"#,
    );
    env.write(".ralph/config.toml", "preset = \"sdd\"\n");
    let agent = env.agent(&[]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 1);
    for want in ["prd.json", "spec-kit", "--tasks FILE"] {
        assert!(done.stderr.contains(want), "{want}: {}", done.stderr);
    }
    std::fs::remove_file(env.path("prd.json")).unwrap();
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert!(
        done.stderr.contains("no task file found"),
        "{}",
        done.stderr
    );
}

/// TASK-10: what is passed over is told with its reason, and once.
#[test]
fn a_task_that_waits_is_told_with_what_it_waits_for() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# Tasks\n\n- [ ] T001 Last | depends: T002\n- [ ] T002 First\n- [ ] T003 Other\n",
    );
    let going = json!({"say": "<promise>CONTINUE</promise>"});
    let agent = env.agent(&[going.clone(), going]);
    let args = ["run", "--agent-cmd", &agent, "--max-iterations", "2"];
    let done = env.ralph(&args);
    let told = "passed over: task T001 waits for task T002";
    assert_eq!(done.stdout.matches(told).count(), 1, "{}", done.stdout);
    let events = env.ralph(&["events", "--json", "--filter", "event=tasks_waiting"]);
    let event: Value = serde_json::from_str(events.stdout.trim()).unwrap();
    assert_eq!(
        event["tasks"],
        json!([{"id": "T001", "on": [{"task": "T002"}]}])
    );
}

/// EVNT-02: the log of another tool of the delta loop is read where it lies,
/// and outlives a run of ours.
#[test]
fn a_log_of_another_tool_is_read_and_kept() {
    let env = TestEnv::with_tasks(1);
    let log = ".skillpack/current/execution.log.jsonl";
    let theirs = r#"{"timestamp":"2026-01-02T03:04:05Z","level":"INFO","phase":"Phase 2/3","model":"M","event":"phase_start","msg":"begins"}"#;
    env.write(log, &format!("{theirs}\n"));
    let told = env.ralph(&["events"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.contains("phase_start phase=2"),
        "{}",
        told.stdout
    );
    env.run_script(&[json!({"say": "<promise>BLOCKED: enough</promise>"})], &[]);
    let kept = ".skillpack/current/execution.other.log.jsonl";
    assert_eq!(env.read(kept), format!("{theirs}\n"));
    let told = env.ralph(&["events", "--run", kept]);
    assert!(
        told.stdout.contains("phase_start phase=2"),
        "{}",
        told.stdout
    );
}
