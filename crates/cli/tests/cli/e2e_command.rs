//! End-to-end tests that Ralph runs itself after a phase (E2E-01 to E2E-04).

use serde_json::{Value, json};

use crate::env::{TestEnv, named};

fn project(repairs: u32) -> TestEnv {
    let env = TestEnv::with_tasks(1);
    let config = format!("[e2e]\ncommand = \"sh e2e.sh\"\nmax_repairs = {repairs}\n");
    env.write(".ralph/config.toml", &config);
    env.write("e2e.sh", "test -e page.html || { echo no page; exit 4; }\n");
    env
}

fn finished(say: &str) -> Value {
    json!({"write": {"a.txt": "a"}, "tick": ["*"], "say": say})
}

#[test]
fn exit_status_decides_and_no_promise() {
    let env = project(3);
    let turns = [
        finished("<promise>E2E PASSED</promise>"),
        json!({"write": {"page.html": "x"}, "say": "<promise>CONTINUE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &["--tasks", "tasks.md"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "e2e_start").len(), 2);
    let ended = named(&events, "e2e_complete");
    assert_eq!(ended[0]["exit"], 4);
    assert_eq!(ended[0]["passed"], false);
    assert_eq!(ended[1]["passed"], true);
    let runs = std::fs::read_dir(env.state("runs")).unwrap();
    let run = runs.map(|entry| entry.unwrap().path()).next().unwrap();
    let prompt = std::fs::read_to_string(run.join("turn-0002.prompt.md")).unwrap();
    assert!(prompt.contains("no page"), "{prompt}");
}

/// TMPL-01: where everything is ticked, no line stands there that says nothing.
#[test]
fn repair_turn_has_no_empty_lines_in_its_prompt() {
    for list in [
        "# Tasks\n\n- [ ] T001 Do it\n",
        "# Tasks\n\n## Phase 1: One\n\n- [ ] T001 Do it\n",
    ] {
        let env = project(3);
        env.write("tasks.md", list);
        let turns = [
            finished("<promise>PHASE COMPLETE</promise>"),
            json!({"write": {"page.html": "x"}, "say": "<promise>CONTINUE</promise>"}),
        ];
        let (done, _) = env.run_script(&turns, &["--tasks", "tasks.md"]);
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let first = crate::roles::prompt(&env, 1);
        assert!(first.contains("Next task: T001 Do it\n"), "{first}");
        let repair = crate::roles::prompt(&env, 2);
        assert!(!repair.contains("Next task:"), "{repair}");
        assert!(!repair.contains("Phase: \n"), "{repair}");
        assert!(!repair.contains("phase  "), "{repair}");
    }
}

#[test]
fn after_so_many_repairs_the_run_is_blocked() {
    let env = project(1);
    let idle =
        |n: u32| json!({"write": {"b.txt": n.to_string()}, "say": "<promise>E2E PASSED</promise>"});
    let turns = [
        finished("<promise>PHASE COMPLETE</promise>"),
        idle(1),
        idle(2),
    ];
    let (done, events) = env.run_script(&turns, &["--tasks", "tasks.md"]);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "e2e_complete").len(), 2);
    let end = named(&events, "loop_end")[0];
    assert_eq!(end["outcome"], "blocked");
    assert_eq!(end["reason"], "E2E FAILED: sh e2e.sh (exit 4)");
}

#[test]
fn test_script_that_is_changed_meanwhile_does_not_count() {
    let env = project(3);
    let turns = [
        json!({"write": {"e2e.sh": "exit 0\n"}, "tick": ["*"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &["--tasks", "tasks.md", "--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    assert_eq!(
        named(&events, "checks_weakened")[0]["found"][0]["file"],
        "e2e.sh"
    );
}
