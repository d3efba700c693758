//! S-09: a pipe in the place of a file holds nothing up, in any verb.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::env::TestEnv;

const DONE: &str = "<promise>COMPLETE</promise>";

fn pipe(env: &TestEnv, name: &str) {
    let path = env.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&path);
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// It ends, however it ends.
fn ends(env: &TestEnv, what: &str, args: &[&str]) {
    let mut command = env.command(args);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{args:?} waits for {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nothing_up() {
    // Those of a group keep nobody from reading the others.
    for group in [
        &["tasks.md"][..],
        &[".ralph/config.toml"],
        &[".ralphrc", ".skillpackrc", ".ideal/worktree.yaml"],
        &[".ralph/prompt-template.md"],
        &[".ralph/lock"],
        &[".ralph/ralph.log", ".ralph/status.json", ".gitignore"],
        &[".claude/ralph-delta.local.md", ".claude/settings.json"],
        &[
            ".skillpack/current/checkpoint.json",
            ".ralph/flows/mine.toml",
        ],
        &[".git/HEAD", ".git/index"],
        &[".git/config", ".git/info/exclude"],
    ] {
        let env = TestEnv::with_tasks(1);
        let agent = env.agent(&[json!({"tick": ["T001"], "write": {"a": "x"}, "say": DONE})]);
        group.iter().for_each(|name| pipe(&env, name));
        let what = group[0];
        for args in [
            &["run", "--agent-cmd", &agent, "--preset", "delta"][..],
            &["status"],
            &["tasks"],
            &["logs"],
            &["resume", "--from", what, "--yes"],
            &["report"],
            &["doctor"],
        ] {
            ends(&env, what, args);
        }
    }
}
