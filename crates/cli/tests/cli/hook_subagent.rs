//! The verify gate of a check agent, as the client asks for it. The names of
//! the tests give the verification standard of seed 001 that each stands for.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::session::{ONE, released, sent_on};

const STATE: &str = ".ideal/.verify-state.json";

fn stops(env: &TestEnv, agent: &str, said: &str) -> Value {
    env.claude_session(ONE).hook(
        "subagent-stop",
        "SubagentStop",
        &json!({
            "stop_hook_active": false, "agent_id": "a0b2", "agent_type": agent,
            "agent_transcript_path": "/nowhere/agent.jsonl", "last_assistant_message": said,
        }),
    )
}

fn project(verify: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write(".ideal/worktree.yaml", verify);
    env.write(".ideal/.current-task", "docs/迭代/one\n");
    env
}

fn last_passage(env: &TestEnv) -> Value {
    let text = env.read(&env.state_name("verify.jsonl"));
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn t003_1_only_the_check_agent_is_held() {
    let env = project("verify:\n  - exit 3\n");
    for other in ["implement", "explore", "checker", ""] {
        assert_eq!(stops(&env, other, "done"), Value::Null, "{other}");
    }
    assert!(!env.path(STATE).exists());
    assert!(sent_on(&stops(&env, "check", "done")).contains("exit 3"));
    assert!(sent_on(&stops(&env, "my-plugin:check", "done")).contains("iteration 2"));
    // The name of the field that earlier implementations waited for.
    let old = env.claude_session(ONE).hook(
        "subagent-stop",
        "SubagentStop",
        &json!({"subagent_type": "check"}),
    );
    assert!(sent_on(&old).contains("iteration 3"), "{old}");
}

#[test]
fn t003_2_commands_come_from_the_worktree_file() {
    // Real YAML: comments, quotes, a single string.
    let env = project("# c\nverify:\n  # - never\n  - 'test -f a'   # first\n  - \"test -f b\"\n");
    assert!(sent_on(&stops(&env, "check", "")).contains("test -f a"));
    env.write("a", "");
    assert!(sent_on(&stops(&env, "check", "")).contains("Command failed: test -f b"));
    env.write(".ideal/worktree.yaml", "verify: test -f a\n");
    assert_eq!(stops(&env, "check", ""), Value::Null);
    // What was trusted goes on to count until a person says so.
    assert_eq!(env.ralph(&["trust", "--revoke"]).code, 0);
    // No configuration and no list: nothing holds the agent, and it says so.
    for none in ["verify:\n  # - pnpm lint\n", "copy:\n  - .env\n"] {
        env.write(".ideal/worktree.yaml", none);
        assert!(released(&stops(&env, "check", "")).contains("verify.commands"));
    }
    std::fs::remove_file(env.path(".ideal/worktree.yaml")).unwrap();
    released(&stops(&env, "check", ""));
    // A broken file is as good as none, and is named; `strict` blocks.
    env.write(".ideal/worktree.yaml", "verify: [\n");
    let told = stops(&env, "check", "");
    assert!(released(&told).contains(".ideal/worktree.yaml"), "{told}");
    env.write(".ralph/config.toml", "[verify]\nstrict = true\n");
    let told = stops(&env, "check", "");
    assert!(sent_on(&told).contains(".ideal/worktree.yaml"), "{told}");
}

#[test]
fn t003_3_commands_are_run_and_cut_to_size() {
    let env = project("verify:\n  - echo fine\n  - seq 1 5000; exit 4\n  - touch never\n");
    let answer = stops(&env, "check", "");
    let reason = sent_on(&answer);
    assert!(
        reason.starts_with(
            "Verification failed (iteration 1): Command failed: seq 1 5000; exit 4\n1\n2\n"
        ),
        "{reason}"
    );
    assert!(reason.contains("4999\n5000"), "{reason}");
    assert!(reason.chars().count() < 800, "{reason}");
    assert!(!env.path("never").exists());
    assert!(env.read(&env.state_name("verify.log")).contains("2500\n"));

    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"sleep 60 & sleep 60\"]\ncommand_timeout = \"200ms\"\n",
    );
    let answer = stops(&env, "check", "");
    assert!(
        sent_on(&answer).contains("Command timed out: sleep 60"),
        "{answer}"
    );

    env.write(".ralph/config.toml", "[verify]\ncommands = [\"true\"]\n");
    assert_eq!(stops(&env, "check", ""), Value::Null);
    assert_eq!(last_passage(&env)["reason"], "All verify commands passed");
}

#[test]
fn t003_4_rounds_are_counted_in_the_state_file() {
    let env = project("verify:\n  - test -f green\n");
    stops(&env, "check", "");
    stops(&env, "check", "");
    let state = env.json(STATE);
    assert_eq!(state["task"], "docs/迭代/one");
    assert_eq!(state["iteration"], 2);
    let text = env.read(STATE);
    assert!(
        text.starts_with(
            "{\n  \"task\": \"docs/迭代/one\",\n  \"iteration\": 2,\n  \"started_at\": \""
        ),
        "{text}"
    );
    // Another task counts from one.
    env.write(".ideal/.current-task", "docs/迭代/two\n");
    assert!(sent_on(&stops(&env, "check", "")).contains("iteration 1"));
    // A pass ends the count.
    env.write("green", "");
    assert_eq!(stops(&env, "check", ""), Value::Null);
    assert!(!env.path(STATE).exists());
    // Half an hour is long enough.
    std::fs::remove_file(env.path("green")).unwrap();
    let long_ago = "{\"task\": \"docs/迭代/two\", \"iteration\": 1, \"started_at\": \"2020-01-01T00:00:00.000001\"}";
    // C-05: what an agent wrote into the project's file counts for nothing.
    env.write(STATE, long_ago);
    assert!(sent_on(&stops(&env, "check", "")).contains("iteration 1"));
    env.write(STATE, &long_ago.replace(": 1,", ": 4,"));
    assert!(sent_on(&stops(&env, "check", "")).contains("iteration 2"));
    assert_eq!(env.json(STATE)["iteration"], 2, "it is put right");
    env.write(&env.state_name("verify-state.json"), long_ago);
    let late = stops(&env, "check", "");
    assert!(
        released(&late).contains("Timeout (30 min) exceeded"),
        "{late}"
    );
    assert!(!env.path(STATE).exists());
    assert_eq!(last_passage(&env)["outcome"], "unverified");
}

#[test]
fn t003_5_the_fifth_failure_lets_go_with_a_warning() {
    let env = project("verify:\n  - test -f green\n");
    for n in 1..5 {
        let answer = stops(&env, "check", "");
        let want = format!("Verification failed (iteration {n}): Command failed: test -f green");
        assert!(sent_on(&answer).starts_with(&want), "{answer}");
    }
    let answer = stops(&env, "check", "");
    let warning = released(&answer);
    assert!(warning.contains("Max iterations (5) reached"), "{warning}");
    assert!(warning.contains("UNVERIFIED"), "{warning}");
    assert_eq!(last_passage(&env)["outcome"], "unverified");
    // A pass in the last round is a pass.
    for _ in 1..5 {
        stops(&env, "check", "");
    }
    env.write("green", "");
    assert_eq!(stops(&env, "check", ""), Value::Null);
    assert_eq!(last_passage(&env)["outcome"], "verified");
}

#[test]
fn without_commands_the_markers_of_the_task_are_asked_for() {
    let env = TestEnv::new();
    env.write(".trellis/.current-task", "./tasks/01-16-x\n");
    env.write(
        ".trellis/tasks/01-16-x/check.jsonl",
        "{\"file\": \"a\", \"reason\": \"TypeCheck\"}\n{\"file\": \"b\", \"reason\": \"Lint it\"}\n",
    );
    let answer = stops(&env, "check", "TYPECHECK_FINISH");
    assert!(
        sent_on(&answer).contains("Missing completion markers: LINT_IT_FINISH"),
        "{answer}"
    );
    assert_eq!(env.json(".trellis/.ralph-state.json")["iteration"], 1);
    assert_eq!(
        stops(&env, "check", "TYPECHECK_FINISH and LINT_IT_FINISH"),
        Value::Null
    );
    assert!(!env.path(".trellis/.ralph-state.json").exists());
    // What can't be read may ask for anything (XCUT-01).
    let check = env.path(".trellis/tasks/01-16-x/check.jsonl");
    std::fs::remove_file(&check).unwrap();
    std::fs::create_dir(&check).unwrap();
    let answer = stops(&env, "check", "ALL_CHECKS_FINISH");
    assert!(
        sent_on(&answer).contains("check.jsonl can't be read"),
        "{answer}"
    );
    env.write(".ralph/config.toml", "[verify]\nmarkers = \"required\"\n");
    std::fs::remove_file(env.path(".trellis/.current-task")).unwrap();
    assert!(sent_on(&stops(&env, "check", "")).contains("ALL_CHECKS_FINISH"));
    env.write(".ralph/config.toml", "[verify]\nmarkers = \"off\"\n");
    released(&stops(&env, "check", ""));
}

/// Context injection, where a task names files for a kind of agent (VERI-13).
#[test]
fn a_subagent_is_told_what_its_task_names_for_it_veri_13() {
    let env = TestEnv::new();
    env.write(".trellis/.current-task", "tasks/01-16-x\n");
    env.write(
        ".trellis/tasks/01-16-x/implement.jsonl",
        "{\"file\": \"docs/spec.md\", \"reason\": \"The spec\"}\n",
    );
    let asks = |host: &str, tool: &str, kind: &str| {
        let payload = json!({
            "session_id": "s", "cwd": env.root, "hook_event_name": "PreToolUse", "tool_use_id": "t",
            "tool_name": tool, "tool_input": {"subagent_type": kind, "description": "x", "prompt": "Do it."},
        });
        let done = env.call_hook(&["--host", host, "pre-tool-use"], &payload, &[]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let told: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        told["hookSpecificOutput"]["updatedInput"].clone()
    };
    for tool in ["Task", "Agent"] {
        let input = asks("claude", tool, "trellis:implement");
        assert_eq!(
            input["prompt"],
            "Read these first, as the task's own list says:\n- docs/spec.md: The spec\n\nDo it."
        );
        assert_eq!(input["description"], "x");
    }
    // Nothing is named for it, and another client would not hear it.
    assert_eq!(asks("claude", "Task", "check"), Value::Null);
    assert_eq!(asks("codex", "Task", "implement"), Value::Null);
    env.write(".trellis/.current-task", "../elsewhere\n");
    assert_eq!(asks("claude", "Task", "implement"), Value::Null);
}

#[test]
fn the_gate_speaks_each_clients_language() {
    let env = project("verify:\n  - exit 1\n");
    let codex = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": env.root,
        "hook_event_name": "SubagentStop", "model": "m", "permission_mode": "bypassPermissions",
        "stop_hook_active": false, "agent_id": "a", "agent_type": "check", "last_assistant_message": "x",
    });
    let done = env.call_hook(&["--host", "codex", "subagent-stop"], &codex, &[]);
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["decision", "reason"]);
    let copilot = json!({
        "sessionId": "s", "timestamp": 1, "cwd": env.root, "agentId": "a", "agentType": "check",
        "agentName": "check", "response": "x", "stopReason": "end_turn", "stop_hook_active": false,
    });
    let done = env.call_hook(&["--host", "copilot", "subagent-stop"], &copilot, &[]);
    assert!(sent_on(&serde_json::from_str(&done.stdout).unwrap()).contains("iteration 2"));
    let done = env.call_hook(
        &["--host", "claude", "--exit-code-mode", "subagent-stop"],
        &json!({"session_id": "s", "cwd": env.root, "agent_id": "a", "agent_type": "check"}),
        &[],
    );
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("iteration 3"), "{}", done.stderr);
}

#[test]
fn the_same_gate_is_a_command() {
    let env = project("verify:\n  - test -f green\n");
    let red = env.ralph(&["verify"]);
    assert_eq!(red.code, 7);
    assert!(
        red.stderr.contains("Command failed: test -f green"),
        "{}",
        red.stderr
    );
    env.write("green", "");
    let green = env.ralph(&["verify", "--json"]);
    assert_eq!(green.code, 0);
    let report: Value = serde_json::from_str(&green.stdout).unwrap();
    assert_eq!(report["passed"], true);
    assert_eq!(report["results"][0]["command"], "test -f green");
    let nothing = TestEnv::new().ralph(&["verify"]);
    assert_eq!(nothing.code, 7);
    assert!(
        nothing.stderr.contains("verify.commands"),
        "{}",
        nothing.stderr
    );
}
