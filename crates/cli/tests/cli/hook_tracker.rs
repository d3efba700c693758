//! What the hook after a tool call records, and reminds of.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::session::{ONE, TWO};

const FILE: &str = ".claude/progress.local.md";

fn wrote(env: &TestEnv, tool: &str, input: &Value) -> Value {
    env.claude_session(ONE).hook(
        "post-tool-use",
        "PostToolUse",
        &json!({"tool_name": tool, "tool_input": input, "tool_response": {}}),
    )
}

fn lines(env: &TestEnv) -> Vec<String> {
    let text = env.read(FILE);
    let (head, list) = text.split_once("## Modified Files\n").unwrap();
    assert!(
        head.starts_with("# Ralph Loop Progress Tracker\n\n## Session Info\n- Started: 20"),
        "{text}"
    );
    assert!(head.contains("\n- Status: running\n"), "{text}");
    let line = |line: &str| {
        assert_eq!((&line[..3], &line[11..13]), ("- [", "] "), "{line}");
        line[13..].to_owned()
    };
    list.lines().map(line).collect()
}

#[test]
fn changed_files_are_recorded_and_others_are_not() {
    let env = TestEnv::bare();
    let path = |name: &str| env.path(name).to_string_lossy().into_owned();
    assert_eq!(wrote(&env, "Bash", &json!({"command": "ls"})), Value::Null);
    assert!(!env.path(FILE).exists());
    wrote(
        &env,
        "Write",
        &json!({"file_path": path("src/a.rs"), "content": "x"}),
    );
    wrote(&env, "Edit", &json!({"file_path": path("src/a\nb.rs")}));
    wrote(
        &env,
        "NotebookEdit",
        &json!({"notebook_path": "/else/where.ipynb"}),
    );
    wrote(
        &env,
        "apply_patch",
        &json!({"command": "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Update File: old.txt\n*** End Patch"}),
    );
    assert_eq!(
        lines(&env),
        [
            "Write: src/a.rs",
            "Edit: src/a b.rs",
            "NotebookEdit: /else/where.ipynb",
            "apply_patch: new.txt",
            "apply_patch: old.txt",
        ]
    );
}

#[test]
fn the_agent_is_reminded_to_commit_once_in_a_while() {
    let env = TestEnv::with_tasks(1);
    let write = || wrote(&env, "Write", &json!({"file_path": "a"}));
    assert_eq!(write(), Value::Null);
    for n in 0..6 {
        env.write(&format!("f{n}.txt"), "x");
    }
    // Git was asked a moment ago.
    assert_eq!(write(), Value::Null);
    std::fs::remove_file(env.state("tracker")).unwrap();
    let reminder = write();
    let output = &reminder["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PostToolUse");
    let context = output["additionalContext"].as_str().unwrap();
    assert!(context.contains("not committed"), "{context}");
    assert_eq!(reminder["decision"], Value::Null);
    for _ in 0..3 {
        assert_eq!(write(), Value::Null);
    }
    // As often as somebody asks for (TRAK-04).
    env.write(".ralph/config.toml", "[tracker]\nremind_every = \"0s\"\n");
    assert!(write()["hookSpecificOutput"].is_object());
    assert!(write()["hookSpecificOutput"].is_object());
    env.write(".ralph/config.toml", "[tracker]\nremind_above = 99\n");
    std::fs::remove_file(env.state("tracker")).unwrap();
    assert_eq!(write(), Value::Null);
    env.write(".ralph/config.toml", "[tracker]\nenabled = false\n");
    let before = env.read(FILE);
    write();
    assert_eq!(env.read(FILE), before);
}

#[test]
fn files_that_pile_up_are_reminded_of_at_once_trak_03() {
    let env = TestEnv::with_tasks(1);
    let write = |name: &str| {
        env.write(name, "x");
        wrote(&env, "Write", &json!({"file_path": name}))
    };
    // The list of tasks and the tracker's own file count, as Git counts.
    let reminded = (0..6)
        .map(|n| write(&format!("f{n}.txt")) != Value::Null)
        .filter(|&is_reminded| is_reminded)
        .count();
    assert_eq!(reminded, 1);
    assert_eq!(write("once-is-enough.txt"), Value::Null);
}

#[test]
fn nothing_about_the_tracker_fails_a_tool() {
    let env = TestEnv::bare();
    env.write(".claude", "a file in the way");
    assert_eq!(
        wrote(&env, "Write", &json!({"file_path": "a"})),
        Value::Null
    );
    assert_eq!(wrote(&env, "Write", &json!(null)), Value::Null);
    let done = env.call_hook(&["post-tool-use"], &json!([1, 2]), &[]);
    assert_eq!(done.code, 0);
}

#[test]
fn a_hundred_hooks_at_once_lose_nothing() {
    let env = TestEnv::new();
    let (one, two) = (env.claude_session(ONE), env.claude_session(TWO));
    one.says("/ralph-loop One --completion-promise FIN");
    two.says("/ralph-loop Two --completion-promise FIN");
    std::thread::scope(|scope| {
        for n in 0..100 {
            let env = &env;
            scope.spawn(move || {
                let session = if n % 2 == 0 { ONE } else { TWO };
                let client = env.claude_session(session);
                match n % 10 {
                    0 | 1 => {
                        client.says("what do you think?");
                    }
                    2 | 3 => {
                        client.hook(
                            "session-start",
                            "SessionStart",
                            &json!({"source": "compact"}),
                        );
                    }
                    4 | 5 => {
                        let env = client.env;
                        env.ralph(&["loop", "status", "--session", session]);
                    }
                    _ => {
                        wrote(env, "Write", &json!({"file_path": format!("f{n}")}));
                    }
                }
            });
        }
    });
    assert_eq!(lines(&env).len(), 40);
    // Both loops are whole, and each goes on by itself.
    for client in [&one, &two] {
        let answer = client.stops("<promise>CONTINUE</promise>");
        assert_eq!(answer["decision"], "block", "{answer}");
    }
}

#[test]
fn stops_that_come_at_once_are_taken_one_after_another() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[limits]\nmax_iterations = 0\nstalled = 0\nmissing_promise = 0\nmax_duration = \"1h\"\n",
    );
    let client = env
        .claude_session(ONE)
        .var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
    client.says("/ralph-loop Work --completion-promise FIN");
    let count = 20;
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..count)
            .map(|_| scope.spawn(|| client.stops("<promise>CONTINUE</promise>")))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    // Whoever did not get its turn in time let the agent go and said why.
    let blocked = answers.iter().filter(|a| a["decision"] == "block").count();
    for answer in &answers {
        assert!(
            answer["decision"] == "block" || answer["systemMessage"].is_string(),
            "{answer}"
        );
    }
    let turns = env.json(".ralph/status.json")["iteration"]
        .as_u64()
        .unwrap();
    assert_eq!(turns, 1 + blocked as u64);
    assert!(blocked > 0);
}
