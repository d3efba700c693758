//! Nothing of a project runs before a person has said yes (issue 17: S-02,
//! S-05, C-05, C-07).

use std::fs;

use serde_json::{Value, json};

use crate::env::{Done, TestEnv};
use crate::live::shell_agent;

/// A command that leaves a mark beside the project.
fn marks(env: &TestEnv) -> String {
    format!("touch {}", env.outside("ran").display())
}

fn has_run(env: &TestEnv) -> bool {
    fs::remove_file(env.outside("ran")).is_ok()
}

fn untrusted(env: &TestEnv, args: &[&str]) -> Done {
    Done::of(&env.untrusted(args).output().unwrap())
}

/// Each file that a clone may bring, with a command in it.
fn planted(env: &TestEnv) -> Vec<(&'static str, String)> {
    let run = marks(env);
    let hooks =
        json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": run}]}]}});
    vec![
        (
            ".ralph/config.toml",
            format!("[verify]\ncommands = [\"{run}\"]\n"),
        ),
        (
            ".ralph/config.toml",
            format!("[agent]\nname = \"custom\"\ncommand = \"{run}\"\n"),
        ),
        (
            ".ralph/config.toml",
            format!("[notify]\ncommand = \"{run}\"\n"),
        ),
        (
            ".ralph/config.toml",
            format!("[e2e]\ncommand = \"{run}\"\n"),
        ),
        (
            ".ralph/config.toml",
            "[agent]\nenv = [\"ANTHROPIC_BASE_URL=http://127.0.0.1:9\"]\n".into(),
        ),
        (".ralph/config.toml", "[guard]\nenabled = false\n".into()),
        (
            ".ralph/config.toml",
            "[agent]\nallow_unsafe = true\n".into(),
        ),
        (
            ".ralph/config.toml",
            "[log]\nfile = \"../outside.log\"\n".into(),
        ),
        (".ralph/config.toml", "preset = \"dev-p1\"\n".into()),
        (".ideal/worktree.yaml", format!("verify:\n  - {run}\n")),
        (".trellis/worktree.yaml", format!("verify:\n  - {run}\n")),
        (".claude/settings.json", hooks.to_string()),
        (
            ".claude/settings.json",
            json!({"env": {"XDG_STATE_HOME": "/tmp/x"}}).to_string(),
        ),
        (
            ".claude/settings.json",
            json!({"apiKeyHelper": run}).to_string(),
        ),
        (
            ".claude/settings.local.json",
            json!({"statusLine": {"command": run}}).to_string(),
        ),
        (
            ".claude/settings.json",
            json!({"aKeyOfTomorrow": run}).to_string(),
        ),
        (".claude/settings.json", "{ not json".into()),
        (
            ".mcp.json",
            json!({"mcpServers": {"x": {"command": run}}}).to_string(),
        ),
        (
            ".codex/config.toml",
            format!("[mcp_servers.x]\ncommand = \"{run}\"\n"),
        ),
        (".codex/hooks.json", hooks.to_string()),
        (
            ".gemini/settings.json",
            json!({"tools": {"discoveryCommand": run}}).to_string(),
        ),
        (".cursor/hooks.json", hooks.to_string()),
        (".opencode/plugin/x.ts", "export default {}".into()),
        (
            "opencode.json",
            json!({"mcp": {"x": {"command": [run]}}}).to_string(),
        ),
        (
            "tasks.md",
            format!("# Tasks\n\n- [ ] T001 One | verify: {run}\n"),
        ),
    ]
}

#[test]
fn nothing_that_a_clone_brings_runs_before_a_person_has_said_yes() {
    let count = planted(&TestEnv::new()).len();
    for i in 0..count {
        let env = TestEnv::with_tasks(1);
        let (file, text) = planted(&env).swap_remove(i);
        env.write(file, &text);
        let agent = shell_agent(&env, "touch \"$(dirname \"$0\")/called\"\n");
        // A program of the project's own takes part only where it is chosen.
        let args: &[&str] = match text.contains("custom") {
            true => &["run", "--max-iterations", "1"],
            false => &["run", "--agent-cmd", &agent, "--max-iterations", "1"],
        };
        let done = untrusted(&env, args);
        assert_eq!(
            done.code, 1,
            "{file} {text}: {}{}",
            done.stdout, done.stderr
        );
        assert!(
            done.stderr.contains("ralph trust"),
            "{file}: {}",
            done.stderr
        );
        assert!(
            !has_run(&env) && !env.outside("called").exists(),
            "{file} {text}"
        );
        let list = untrusted(&env, &["trust", "--list", "--json"]);
        let list: Value = serde_json::from_str(&list.stdout).unwrap();
        assert_eq!(list["trusted"], false, "{file}: {list}");

        assert_eq!(untrusted(&env, &["trust", "--yes"]).code, 0);
        let done = untrusted(&env, args);
        assert!(
            !done.stderr.contains("ralph trust"),
            "{file}: {}",
            done.stderr
        );
        // A change asks again; taking it back does not.
        let before = env.read(file);
        env.write(
            file,
            &text.replace("touch", "echo x; touch").replace("9\"", "8\""),
        );
        if env.read(file) != before {
            let done = untrusted(&env, args);
            assert!(
                done.stderr.contains("ralph trust"),
                "{file}: {}",
                done.stderr
            );
            env.write(file, &before);
        }
        assert_eq!(untrusted(&env, &["trust", "--revoke"]).code, 0);
        let done = untrusted(&env, args);
        assert!(
            done.stderr.contains("ralph trust"),
            "{file}: {}",
            done.stderr
        );
    }
}

#[test]
fn what_is_harmless_or_typed_needs_no_trust() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[limits]\nmax_iterations = 1\n");
    env.write(
        ".claude/settings.json",
        "{\"permissions\": {\"allow\": [\"Bash\"]}, \"model\": \"x\"}",
    );
    let agent = shell_agent(&env, "echo '<promise>BLOCKED: x</promise>'\n");
    let done = untrusted(&env, &["run", "--agent-cmd", &agent, "--verify", "true"]);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    let told = untrusted(&env, &["trust"]);
    assert_eq!(
        told.stdout.trim(),
        "this project brings nothing that needs trust"
    );
    // The hooks that `ralph init` wrote are ours.
    assert_eq!(
        untrusted(&env, &["init", "--yes", "--agent", "claude"]).code,
        0
    );
    let told = untrusted(&env, &["trust", "--list"]);
    assert_eq!(
        told.stdout.trim(),
        "this project brings nothing that needs trust"
    );
}

#[test]
fn in_ci_a_flag_says_yes_and_a_dry_run_asks_nothing() {
    let env = TestEnv::with_tasks(1);
    let run = marks(&env);
    env.write(
        ".ralph/config.toml",
        &format!("[verify]\ncommands = [\"{run}\"]\n"),
    );
    let agent = shell_agent(
        &env,
        "sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>COMPLETE</promise>'\n",
    );
    let done = untrusted(&env, &["run", "--dry-run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!has_run(&env));
    for args in [&["verify"][..], &["gate", "run"]] {
        assert_eq!(untrusted(&env, args).code, 1, "{args:?}");
        assert!(!has_run(&env), "{args:?}");
    }
    let done = untrusted(&env, &["run", "--trust-project", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(has_run(&env));
}

/// S-05: a planted loop and a planted check, and the Stop hook of a client.
#[test]
fn a_hook_runs_only_what_was_trusted() {
    let env = TestEnv::new();
    let run = marks(&env);
    env.write(
        ".ralph/config.toml",
        &format!("[verify]\ncommands = [\"{run}\"]\n"),
    );
    let plugin = "---\nactive: true\niteration: 1\nmax_iterations: 5\ncompletion_promise: \"DONE\"\n---\n\nWork\n";
    env.write(".claude/ralph-loop.local.md", plugin);
    let payload = json!({
        "session_id": "s-1", "cwd": env.root, "hook_event_name": "Stop",
        "last_assistant_message": "<promise>DONE</promise>", "stop_hook_active": false,
    });
    let stop = |text: &str| {
        fs::write(env.outside("payload.json"), text).unwrap();
        let mut hook = env.untrusted(&["hook", "--host", "claude", "stop"]);
        hook.stdin(fs::File::open(env.outside("payload.json")).unwrap());
        Done::of(&hook.output().unwrap())
    };
    let done = stop(&payload.to_string());
    assert!(!has_run(&env), "{}{}", done.stdout, done.stderr);
    let gate = json!({
        "session_id": "s-1", "cwd": env.root, "hook_event_name": "SubagentStop",
        "agent_type": "check", "last_assistant_message": "done", "stop_hook_active": false,
    });
    fs::write(env.outside("payload.json"), gate.to_string()).unwrap();
    let mut hook = env.untrusted(&["hook", "--host", "claude", "subagent-stop"]);
    hook.stdin(fs::File::open(env.outside("payload.json")).unwrap());
    let done = Done::of(&hook.output().unwrap());
    assert!(!has_run(&env));
    // It is there, and not missing (VERI-03).
    assert!(done.stdout.contains("`ralph trust`"), "{}", done.stdout);
    assert!(!done.stdout.contains("nothing verifies"), "{}", done.stdout);
}

/// C-05: what was trusted goes on to count although the file was weakened.
#[test]
fn a_weakened_check_does_not_count_in_a_session() {
    let env = TestEnv::new();
    env.write(".ideal/worktree.yaml", "verify:\n  - test -e proof\n");
    assert_eq!(untrusted(&env, &["trust", "--yes"]).code, 0);
    let gate = |env: &TestEnv| {
        let payload = json!({
            "session_id": "s-1", "cwd": env.root, "hook_event_name": "SubagentStop",
            "agent_type": "check", "last_assistant_message": "done", "stop_hook_active": false,
        });
        fs::write(env.outside("payload.json"), payload.to_string()).unwrap();
        let mut hook = env.untrusted(&["hook", "--host", "claude", "subagent-stop"]);
        hook.stdin(fs::File::open(env.outside("payload.json")).unwrap());
        Done::of(&hook.output().unwrap()).stdout
    };
    assert!(gate(&env).contains("block"));
    env.write(".ideal/worktree.yaml", "verify:\n  - \"true\"\n");
    assert!(gate(&env).contains("block"), "weakened");
    fs::remove_dir_all(env.path(".ideal")).unwrap();
    let removed = gate(&env);
    assert!(removed.contains("block"), "removed");
    assert!(removed.contains("(verify.commands)"), "{removed}");
    assert!(removed.contains("`ralph trust`"), "{removed}");
    // Nothing is dropped while the settings can't be read.
    env.write(".ralph/config.toml", "[verify\n");
    untrusted(&env, &["trust", "--yes"]);
    fs::remove_file(env.path(".ralph/config.toml")).unwrap();
    assert!(gate(&env).contains("block"), "still");
    let listed = untrusted(&env, &["trust", "--list"]).stdout;
    assert!(listed.contains("no longer in the project"), "{listed}");
    assert!(listed.contains("test -e proof"), "{listed}");
    env.write("proof", "");
    assert!(!gate(&env).contains("block"), "proven");
    fs::remove_file(env.path("proof")).unwrap();
    let done = untrusted(&env, &["trust"]);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(gate(&env).contains("block"), "nobody said yes");
    assert_eq!(untrusted(&env, &["trust", "--yes"]).code, 0);
    let meant = gate(&env);
    assert!(!meant.contains("block"), "{meant}");
    assert!(meant.contains("nothing verifies"), "{meant}");
    let listed = untrusted(&env, &["trust", "--list"]).stdout;
    assert!(!listed.contains("no longer"), "{listed}");
}

/// C-07, S-03: however its environment looks, an agent is an agent.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_gets_no_verb_that_acts() {
    let env = TestEnv::with_tasks(1);
    let ralph = crate::env::RALPH;
    let home = env.outside("");
    let home = home.display();
    let verbs = [
        "extend 100",
        "trust --yes",
        "init --guard off --yes",
        "uninstall --yes",
        "verify --baseline",
        "cancel",
        "guard trust --yes",
        "run x --agent-cmd 'touch ../owned'",
        "do x --agent-cmd 'touch ../owned'",
        "loop start x",
        "resume --yes",
        "answer 1 yes",
    ];
    let mut script = String::from("cd \"$(dirname \"$0\")/project\"\n");
    for verb in verbs {
        for way in ["", "setsid "] {
            script.push_str(&format!(
                "{way}env -i HOME={home} PATH=\"$PATH\" {ralph} {verb} >> ../said 2>&1\necho \"$? {verb}\" >> ../codes\n"
            ));
        }
    }
    script.push_str(&format!(
        "env -i HOME={home} {ralph} status > ../status 2>&1; echo \"$? status\" >> ../codes\n"
    ));
    script.push_str("echo '<promise>BLOCKED: x</promise>'\n");
    let agent = shell_agent(&env, &script);
    let done = untrusted(
        &env,
        &["run", "--agent-cmd", &agent, "--max-iterations", "2"],
    );
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    let codes = fs::read_to_string(env.outside("codes")).unwrap();
    let said = fs::read_to_string(env.outside("said")).unwrap();
    for line in codes.lines() {
        let want = if line.ends_with("status") { "0 " } else { "1 " };
        assert!(line.starts_with(want), "{line}\n{said}");
    }
    assert_eq!(codes.lines().count(), 2 * verbs.len() + 1);
    assert!(!env.outside("owned").exists());
    // `answer` has nothing to answer; all others are refused as an agent's.
    let refusals = said.matches("only a person may do that").count();
    assert!(refusals >= 2 * (verbs.len() - 1), "{said}");
}

/// What only looks or tidies up asks nobody, and leads nowhere outside either.
#[test]
fn no_archive_of_a_clone_goes_outside() {
    let env = TestEnv::new();
    let config = "[history]\ndir = \"../outside\"\nkeep = 1\n";
    env.write(".ralph/config.toml", config);
    env.write(
        ".skillpack/current/1_analysis.md",
        "# Analysis\nof another task\n",
    );
    for args in [&["archive", "--yes"][..], &["history"]] {
        let done = untrusted(&env, args);
        assert!(done.stderr.contains("history.dir"), "{}", done.stderr);
        assert!(!env.outside("outside").exists(), "{args:?}");
    }
}
