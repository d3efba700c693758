//! People who are not looking are told, once, and never hold the loop up.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::{TestEnv, named};

const DONE: &str = "<promise>COMPLETE</promise>";

fn told(env: &TestEnv) -> Vec<Value> {
    let text = std::fs::read_to_string(env.outside("told.jsonl")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A project whose run tells a file beside it.
fn telling(on: &str) -> TestEnv {
    let env = TestEnv::with_tasks(1);
    let file = env.outside("told.jsonl");
    env.write(
        ".ralph/config.toml",
        &format!(
            "[notify]\ncommand = \"cat >> '{}'\"\non = [{on}]\n",
            file.display()
        ),
    );
    env
}

#[test]
fn the_end_is_told_once_and_so_is_the_end_of_the_run_that_goes_on() {
    let env = telling("\"end\"");
    let (paused, _) = env.run_script(
        &[json!({"say": "<promise>CONTINUE</promise>", "write": {"a.txt": "a"}})],
        &["--max-iterations", "1"],
    );
    assert_eq!(paused.code, 3, "{}", paused.stderr);
    let first = told(&env);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0]["topic"], "end");
    assert_eq!(first[0]["project"], "project");
    assert_eq!(first[0]["title"], "Ralph · project · paused");

    env.agent(&[json!({}), json!({"tick": ["T001"], "say": DONE})]);
    let resumed = env.ralph(&["resume", "--yes", "--quiet"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let both = told(&env);
    assert_eq!(both.len(), 2, "{both:?}");
    assert_eq!(both[0], first[0]);
    assert_eq!(both[1]["title"], "Ralph · project · complete");
    assert_ne!(both[0]["id"], both[1]["id"]);
}

/// A command that hangs costs the loop nothing until its end, and then not
/// for long; the agent's leftovers are ended beside it.
#[test]
fn a_command_that_hangs_does_not_hold_up_the_turns() {
    let env = TestEnv::with_tasks(3);
    let file = env.outside("begun");
    env.write(
        ".ralph/config.toml",
        &format!(
            "[notify]\ncommand = \"echo x >> '{}'; sleep 60\"\non = [\"start\"]\ntimeout = \"3s\"\n",
            file.display()
        ),
    );
    let tick = |id: &str| json!({"tick": [id], "write": {format!("{id}.txt"): id}, "say": "<promise>CONTINUE</promise>"});
    let started = Instant::now();
    let (done, events) = env.run_script(&[tick("T001"), tick("T002"), tick("T003")], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(named(&events, "iteration_complete").len(), 3);
    let log = env.read(".ralph/ralph.log");
    assert!(log.contains("a notification was not delivered"), "{log}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
}

#[test]
fn a_dry_run_names_who_would_be_told_and_tells_nobody() {
    let env = telling("\"end\", \"question\"");
    let before = env.snapshot();
    let shown = env.ralph(&["run", "--dry-run", "--agent-cmd", "true {prompt_file}"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("notifications: command `cat >> "),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("(end, question)"), "{}", shown.stdout);
    assert_eq!(told(&env), Vec::<Value>::new());
    assert_eq!(env.snapshot(), before);

    let mut secret = env.command(&["run", "--dry-run", "--agent-cmd", "true {prompt_file}"]);
    secret.env("RALPH_NOTIFY_WEBHOOK", "https://hooks.example/T0/s3cr3t");
    let shown = crate::env::Done::of(&secret.output().unwrap());
    assert!(
        shown.stdout.contains("webhook at hooks.example"),
        "{}",
        shown.stdout
    );
    assert!(!shown.stdout.contains("s3cr3t"), "{}", shown.stdout);
}

#[test]
fn an_address_that_is_none_is_refused_without_being_repeated() {
    let env = TestEnv::with_tasks(1);
    let mut command = env.command(&["run", "--agent-cmd", "true {prompt_file}"]);
    command.env("RALPH_NOTIFY_WEBHOOK", "file:///s3cr3t");
    let done = crate::env::Done::of(&command.output().unwrap());
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("notify.webhook"), "{}", done.stderr);
    assert!(!done.stderr.contains("s3cr3t"), "{}", done.stderr);
}

/// Whoever knows the address can write to people: no agent needs to.
#[test]
fn the_agent_does_not_get_the_address() {
    let env = TestEnv::with_tasks(1);
    let seen = env.outside("seen");
    let agent = format!("sh -c 'env > {}' sh {{prompt_file}}", seen.display());
    let mut command = env.command(&["run", "--max-iterations", "1", "--agent-cmd", &agent]);
    command
        .env("RALPH_NOTIFY_WEBHOOK", "http://127.0.0.1:9/s3cr3t")
        .env("RALPH_NOTIFY_ON", "guard");
    command.output().unwrap();
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("RALPH_NOTIFY_ON"), "{seen}");
    assert!(!seen.contains("s3cr3t"), "{seen}");
}
