//! Verbs that run checks stand them behind the same wall as a run does (issue
//! 20). The door is there for those behind it, and for nobody else.

use std::fs;

use serde_json::json;

use crate::env::{Done, TestEnv};
use crate::wall::without_any;

const BEHIND: &str = "test -e /run/ralph/door && test ! -e \"$REAL_HOME/precious\"";

fn ralph(env: &TestEnv, mode: &str, args: &[&str]) -> Done {
    let mut command = env.command(args);
    command
        .env("RALPH_SANDBOX_MODE", mode)
        .env("RALPH_EVIDENCE_LEVEL", "proven")
        .env("RALPH_EVIDENCE_ASKS", "0")
        .env("REAL_HOME", env.outside(""));
    Done::of(&command.output().unwrap())
}

fn project() -> TestEnv {
    let env = TestEnv::with_tasks(1);
    fs::write(env.outside("precious"), "mine").unwrap();
    env
}

#[track_caller]
fn check(env: &TestEnv, args: &[&str], without: i32) {
    let behind = ralph(env, "strict", args);
    assert_eq!(
        behind.code, 0,
        "{args:?}: {}{}",
        behind.stdout, behind.stderr
    );
    assert!(behind.stderr.contains("bubblewrap"), "{}", behind.stderr);
    let bare = ralph(env, "off", args);
    assert_eq!(
        bare.code, without,
        "{args:?}: {}{}",
        bare.stdout, bare.stderr
    );
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn verify_and_the_gate_run_their_commands_behind_it() {
    let env = project();
    let command = BEHIND.replace('"', "\\\"");
    env.write(
        ".ralph/config.toml",
        &format!("[verify]\ncommands = [\"{command}\"]\n[gate]\nsteps = [\"test: {command}\"]\n"),
    );
    check(&env, &["verify"], 7);
    check(&env, &["gate", "run"], 7);
    let rooms = fs::read_dir(env.state("rooms"))
        .into_iter()
        .flatten()
        .count();
    assert_eq!(rooms, 0, "nothing stays");
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn experiments_and_searches_are_made_behind_it() {
    let env = project();
    let verify = format!("{BEHIND} && grep -q good work.txt");
    let turns = [json!({"write": {"work.txt": "good\n"}, "tick": ["T001"], "say": "Done."})];
    let agent = env.agent(&turns);
    let args = ["run", "--agent-cmd", &agent, "--verify", &verify];
    let done = ralph(&env, "strict", &args);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    check(&env, &["prove", "T001"], 7);
    let found = ralph(
        &env,
        "strict",
        &[
            "bisect",
            "--verify",
            &format!("{BEHIND} && test ! -e work.txt"),
        ],
    );
    assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("turn 1 broke it"), "{}", found.stdout);
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn strict_runs_no_check_where_none_stands() {
    let env = project();
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"touch ran\"]\n",
    );
    let empty = env.outside("no-programs");
    fs::create_dir(&empty).unwrap();
    let usual = env.command(&["verify"]);
    let mut command = without_any(&env, &usual, &empty, "strict");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(
        done.stderr.contains("bubblewrap is not installed"),
        "{}",
        done.stderr
    );
    assert!(!env.path("ran").exists());
}
