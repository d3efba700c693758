//! Time limits: a turn, its silence, the whole run (LOOP-10, VALV-11).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};
use crate::live::shell_agent;

/// One turn under these settings; the run's events.
fn one_turn(env: &TestEnv, script: &str, settings: &[(&str, &str)]) -> (i32, Vec<Value>) {
    let agent = shell_agent(env, script);
    let args = [
        "run", "--json", "--max-iterations", "1", "--agent-cmd", &agent,
    ];
    let output = env
        .command(&args)
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    let done = Done::of(&output);
    (done.code, done.events())
}

const IDLE: &str = "RALPH_LIMITS_IDLE_TIMEOUT";

#[test]
fn a_silent_agent_that_changes_nothing_is_ended() {
    let env = TestEnv::with_tasks(1);
    let (code, events) = one_turn(&env, "sleep 300\n", &[(IDLE, "500ms")]);
    assert_eq!(code, 3);
    let errors = named(&events, "error");
    assert_eq!(errors[0]["reason"], "agent_timeout");
}

#[test]
fn a_silent_agent_that_edits_is_not_idle() {
    for edit in [
        "echo $i > work.txt",
        "echo \"- [ ] T00$i more\" >> tasks.md",
    ] {
        let env = TestEnv::with_tasks(1);
        // Longer in all than it may be silent, and an edit within each.
        let script = format!(
            "for i in 2 3 4 5 6; do {edit}; sleep 0.8; done\necho '<promise>CONTINUE</promise>'\n"
        );
        let (code, events) = one_turn(&env, &script, &[(IDLE, "3s")]);
        assert_eq!(code, 3);
        assert_eq!(named(&events, "promise_detected").len(), 1, "{edit}");
        assert!(named(&events, "error").is_empty(), "{edit}");
    }
}

#[test]
fn what_a_silent_agent_did_before_it_was_ended_counts() {
    let env = TestEnv::with_tasks(1);
    let (_, events) = one_turn(&env, "echo 1 > work.txt\nsleep 300\n", &[(IDLE, "500ms")]);
    assert!(named(&events, "error").is_empty());
    let turn = named(&events, "iteration_complete");
    assert_eq!(turn[0]["progress"], json!(["tree"]));
}

#[test]
fn the_whole_duration_ends_a_turn_that_runs() {
    let env = TestEnv::with_tasks(1);
    let started = Instant::now();
    let limit = [("RALPH_LIMITS_MAX_DURATION", "1s")];
    let (code, events) = one_turn(&env, "sleep 300\n", &limit);
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(code, 3);
    assert!(named(&events, "error").is_empty(), "nobody failed");
    let end = events.last().unwrap();
    assert_eq!(end["outcome"], "paused");
    assert_eq!(env.json(".ralph/status.json")["counters"]["errors"], 0);
}
