//! `ralph agents`: what is installed, without starting a turn.
#![cfg(unix)]

use std::fs;

use serde_json::Value;

use crate::env::{Done, TestEnv, make_executable};

/// A project with a Claude Code of the version that was tried, a Codex of
/// another and a Copilot that says nothing, and no other program around.
fn installed() -> TestEnv {
    let env = TestEnv::new();
    for (name, body) in [
        ("claude", "echo '2.1.326 (Claude Code)'"),
        ("codex", "echo 'codex-cli 0.1.0'; echo noise 9.9 >&2"),
        ("copilot", "exit 3"),
    ] {
        let path = env.outside("bin").join(name);
        fs::create_dir_all(env.outside("bin")).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        make_executable(&path);
    }
    env
}

fn agents(env: &TestEnv, args: &[&str]) -> Done {
    let mut command = env.command(&[&["agents"], args].concat());
    let output = command.env("PATH", env.outside("bin")).output().unwrap();
    Done::of(&output)
}

#[test]
fn a_person_sees_what_is_here() {
    let env = installed();
    let done = agents(&env, &[]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let bin = env.outside("bin").display().to_string();
    let shown = done.stdout.replace(&bin, "BIN");
    assert_eq!(
        shown,
        "\
claude    2.1.326 (this version was tried with Ralph)
          BIN/claude
          tells tokens and cost; the guard can ride along; keeps a budget itself
codex     0.1.0 (tried with Ralph: 0.169.0)
          BIN/codex
          tells tokens, not cost; the guard can ride along; no budget of its own
gemini    not installed
opencode  not installed
copilot   does not tell its version (tried with Ralph: 1.0.102)
          BIN/copilot
          tells neither tokens nor cost; the guard can ride along; no budget of its own
cursor    not installed
amp       not installed
"
    );
}

#[test]
fn every_language_has_the_list() {
    let env = installed();
    for (lang, word) in [("zh-TW", "未安裝"), ("zh-CN", "未安装")] {
        let done = agents(&env, &["--lang", lang]);
        assert_eq!(done.code, 0);
        assert_eq!(done.stdout.matches(word).count(), 4, "{}", done.stdout);
        assert!(!done.stdout.contains("tells"), "{}", done.stdout);
    }
}

#[test]
fn a_program_gets_the_list_as_json() {
    let env = installed();
    let done = agents(&env, &["--json", "--lang", "zh-TW"]);
    let list: Value = serde_json::from_str(&done.stdout).unwrap();
    let find = |name: &str| {
        let agents = list["agents"].as_array().unwrap();
        agents.iter().find(|a| a["name"] == name).unwrap().clone()
    };
    let claude = find("claude");
    assert_eq!(claude["installed"], true);
    assert_eq!(claude["version"], "2.1.326");
    assert_eq!(claude["checked_version"], "2.1.326");
    assert_eq!(claude["capabilities"]["budget"], true);
    assert_eq!(find("copilot")["version"], Value::Null);
    let amp = find("amp");
    assert_eq!(amp["installed"], false);
    assert_eq!(amp["path"], Value::Null);
    assert_eq!(amp["checked_version"], Value::Null);
}

#[test]
fn every_known_agent_can_be_chosen() {
    let env = TestEnv::with_tasks(1);
    for name in ["codex", "gemini", "opencode", "copilot", "cursor", "amp"] {
        let mut command = env.command(&["run", "--agent", name, "--allow-unsafe", "--dry-run"]);
        let output = command.env("RALPH_AGENT_COMMAND", "sh").output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}: {shown}");
        assert!(shown.contains("sh "), "{name}: {shown}");
    }
}
