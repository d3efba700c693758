//! `ralph hook pre-tool-use`, as each agent starts it.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};

const DANGEROUS: &str = "sudo rm -rf /";

/// Each call has an id of its own, as clients give it.
fn next_id() -> String {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("call_{next}")
}

impl TestEnv {
    fn hook(&self, args: &[&str], payload: &[u8], vars: &[(&str, &str)]) -> Done {
        let args: Vec<&str> = [&["hook"], args, &["pre-tool-use"]].concat();
        // What loosens the guard is confirmed by `guard trust` alone here.
        let mut child = self
            .untrusted(&args)
            .envs(vars.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Whoever answers without reading to the end closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(payload);
        Done::of(&child.wait_with_output().unwrap())
    }

    fn claude(&self, tool: &str, input: &Value) -> Done {
        let payload = self.claude_payload(tool, input);
        self.hook(&[], payload.to_string().as_bytes(), &[])
    }

    fn claude_payload(&self, tool: &str, input: &Value) -> Value {
        json!({
            "session_id": "0b6b6c0e-0000-4000-8000-000000000001",
            "transcript_path": "/nowhere/transcript.jsonl",
            "cwd": self.root,
            "permission_mode": "bypassPermissions",
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": next_id(),
        })
    }

    fn bash(&self, command: &str) -> Done {
        self.claude("Bash", &json!({ "command": command }))
    }

    fn stats(&self) -> Value {
        self.json(".ralph/.safety_stats")
    }
}

/// What each host sends for a shell command.
fn shell_payload(env: &TestEnv, host: &str, command: &str) -> Value {
    let cwd = &env.root;
    match host {
        "claude" => env.claude_payload("Bash", &json!({ "command": command })),
        "codex" => json!({
            "session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": cwd,
            "hook_event_name": "PreToolUse", "model": "m", "permission_mode": "bypassPermissions",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": next_id(),
        }),
        "gemini" => json!({
            "session_id": "s", "transcript_path": "/t", "cwd": cwd,
            "hook_event_name": "BeforeTool", "timestamp": "2026-11-15T00:00:00.000Z",
            "tool_name": "run_shell_command", "tool_input": {"command": command, "description": "x"},
        }),
        "copilot" => json!({
            "sessionId": "s", "timestamp": 1_794_705_257_983_u64, "cwd": cwd,
            "toolName": "bash", "toolArgs": json!({"command": command, "mode": "sync"}).to_string(),
        }),
        "copilot-object" => json!({
            "sessionId": "s", "timestamp": 1_794_705_257_983_u64, "cwd": cwd,
            "toolName": "bash", "toolArgs": {"command": command, "mode": "sync"},
        }),
        "copilot-pascal" => json!({
            "hook_event_name": "PreToolUse", "session_id": "s",
            "timestamp": "2026-11-15T00:00:00.000Z", "cwd": cwd,
            "tool_name": "Bash", "tool_input": {"command": command, "mode": "sync"},
        }),
        "cursor" => json!({
            "conversation_id": "c", "generation_id": "g", "cursor_version": "2.1.0",
            "workspace_roots": [cwd], "hook_event_name": "beforeShellExecution",
            "command": command, "cwd": cwd,
        }),
        "opencode" => json!({
            "input": {"tool": "bash", "sessionID": "ses_1", "callID": "call_1"},
            "output": {"args": {"command": command, "description": "x"}},
        }),
        host => panic!("{host}"),
    }
}

/// Where each host looks for the reason of a block.
fn reason(host: &str, done: &Done) -> String {
    let pointer = match host {
        "claude" | "opencode" => {
            assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{host}");
            return done.stderr.clone();
        }
        "codex" | "copilot-pascal" => "/hookSpecificOutput/permissionDecision",
        "gemini" => "/decision",
        "cursor" => "/permission",
        _ => "/permissionDecision",
    };
    assert_eq!(done.code, 0, "{host}: {}", done.stderr);
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(answer.pointer(pointer), Some(&json!("deny")), "{answer}");
    let reason = match host {
        "gemini" => "/reason".to_owned(),
        "cursor" => "/agent_message".to_owned(),
        _ => format!("{pointer}Reason"),
    };
    answer
        .pointer(&reason)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

const SHAPES: [&str; 8] = [
    "claude", "codex", "gemini", "copilot", "copilot-object", "copilot-pascal", "cursor",
    "opencode",
];

#[test]
fn every_host_hears_a_block_in_its_own_words_and_an_allowed_call_in_silence() {
    let env = TestEnv::new();
    for shape in SHAPES {
        let host = shape.split('-').next().unwrap();
        for args in [&[][..], &["--host", host]] {
            let bad = shell_payload(&env, shape, DANGEROUS).to_string();
            let blocked = env.hook(args, bad.as_bytes(), &[]);
            let text = reason(shape, &blocked);
            assert!(text.starts_with("BLOCKED: "), "{shape}: {text}");
            assert!(text.contains("[privilege.escalate]"), "{shape}: {text}");
            let good = shell_payload(&env, shape, "git status").to_string();
            let allowed = env.hook(args, good.as_bytes(), &[]);
            assert_eq!(
                (
                    allowed.code,
                    allowed.stdout.as_str(),
                    allowed.stderr.as_str()
                ),
                (0, "", ""),
                "{shape}"
            );
        }
    }
}

#[test]
fn an_answer_holds_no_field_that_its_host_does_not_know() {
    let env = TestEnv::new();
    let answer = |shape: &str| {
        let payload = shell_payload(&env, shape, "sudo ls").to_string();
        env.hook(&[], payload.as_bytes(), &[]).stdout
    };
    insta::assert_snapshot!(answer("codex"), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"BLOCKED: dangerous command - sudo ls\nIt runs with other rights than yours. [privilege.escalate]\nWork without sudo; ask a person for what needs it."}}"#);
    insta::assert_snapshot!(answer("gemini"), @r#"{"decision":"deny","reason":"BLOCKED: dangerous command - sudo ls\nIt runs with other rights than yours. [privilege.escalate]\nWork without sudo; ask a person for what needs it."}"#);
}

#[test]
fn files_patches_and_urls_are_judged_whatever_their_tool_is_called() {
    let env = TestEnv::new();
    let inside = env.path("src/new.rs");
    for (host, tool, input, blocked) in [
        (
            "claude",
            "Write",
            json!({"file_path": inside, "content": ""}),
            false,
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "/etc/hosts", "content": ""}),
            true,
        ),
        ("claude", "Read", json!({"file_path": ".env"}), true),
        (
            "claude",
            "WebFetch",
            json!({"url": "http://169.254.169.254/x"}),
            true,
        ),
        (
            "claude",
            "WebFetch",
            json!({"url": "https://example.com/"}),
            false,
        ),
        ("claude", "mcp__files__put", json!({"path": "../x"}), true),
        ("claude", "Task", json!({"prompt": "rm -rf /"}), false),
        (
            "codex",
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n"}),
            false,
        ),
        (
            "codex",
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: ../a.txt\n+x\n*** End Patch\n"}),
            true,
        ),
        ("codex", "exec_command", json!({"cmd": "sudo ls"}), true),
        (
            "gemini",
            "write_file",
            json!({"file_path": "/etc/hosts", "content": ""}),
            true,
        ),
        (
            "gemini",
            "replace",
            json!({"file_path": inside, "old_string": "a", "new_string": "b"}),
            false,
        ),
        (
            "copilot",
            "create",
            json!({"path": "/etc/hosts", "file_text": ""}),
            true,
        ),
        (
            "opencode",
            "write",
            json!({"filePath": inside, "content": ""}),
            false,
        ),
        ("opencode", "edit", json!({"filePath": "/etc/hosts"}), true),
    ] {
        let payload = json!({
            "cwd": env.root, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        });
        let done = env.hook(&["--host", host], payload.to_string().as_bytes(), &[]);
        let is_blocked = done.code == 2 || done.stdout.contains("\"deny\"");
        assert_eq!(
            is_blocked, blocked,
            "{host} {tool} {input}: {}",
            done.stderr
        );
    }
    // Cursor has an event of its own for reading.
    let payload = json!({
        "conversation_id": "c", "generation_id": "g", "workspace_roots": [env.root],
        "hook_event_name": "beforeReadFile", "file_path": env.path(".env"), "content": "A=b",
    });
    let done = env.hook(&[], payload.to_string().as_bytes(), &[]);
    assert!(reason("cursor", &done).contains("[secret.file]"));
}

#[test]
fn what_can_not_be_judged_is_blocked_with_a_message() {
    let env = TestEnv::new();
    let long = format!(
        "{{\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"{}\"}}}}",
        "x".repeat(5 << 20)
    );
    let deep = "[".repeat(100_000);
    for (payload, why) in [
        ("", "no JSON object"),
        ("null", "no JSON object"),
        ("[1]", "no JSON object"),
        ("{\"tool_name\":\"Bash\"", "no JSON object"),
        ("{\"tool_name\":\"\\ud800\"}", "no JSON object"),
        (&deep, "no JSON object"),
        ("{}", "names no tool"),
        ("{\"tool_name\":7,\"tool_input\":{}}", "names no tool"),
        ("{\"tool_name\":\"Bash\"}", "[opaque.payload]"),
        (
            "{\"tool_name\":\"Bash\",\"tool_input\":7}",
            "[opaque.payload]",
        ),
        (
            "{\"tool_name\":\"Write\",\"tool_input\":{}}",
            "[opaque.payload]",
        ),
        (&long, "longer than 4 MiB"),
    ] {
        let done = env.hook(&[], payload.as_bytes(), &[]);
        let start: String = payload.chars().take(60).collect();
        assert_eq!(done.code, 2, "{start}: {}", done.stderr);
        assert!(
            done.stderr.starts_with("BLOCKED: "),
            "{start}: {}",
            done.stderr
        );
        assert!(done.stderr.contains(why), "{start}: {}", done.stderr);
    }
    let done = env.hook(&[], b"{\"tool_name\":\"Bash\xff\"}", &[]);
    assert_eq!(done.code, 2);
    assert_eq!(env.stats()["blocked"], 13);
}

/// S-14: a client lets a call pass whose hook ends with anything but 2.
#[test]
fn a_usage_error_of_the_guard_keeps_the_tool_from_running() {
    let env = TestEnv::new();
    for args in [
        &["hook", "--host", "emacs", "pre-tool-use"][..],
        &["hook", "pre-tool-use", "--host"],
        &["hook", "--bogus", "pre-tool-use"],
        &["hook", "pre-tool-use", "extra"],
        &["hook", "--root", "", "pre-tool-use"],
        &["hook", "pre-tool-use", "--within", "soon"],
        &["hook", "PreToolUse"],
        &["hook", "pre_tool_use"],
        &["--bogus", "hook", "pre-tool-use"],
        &["--lang", "klingon", "hook", "pre-tool-use"],
    ] {
        let done = env.ralph(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(!done.stderr.is_empty(), "{args:?}");
    }
    // With a language the call is judged.
    let payload = env.claude_payload("Bash", &json!({"command": "sudo ls"}));
    for lang in ["zh-TW", "klingon"] {
        let done = env.hook(&["--lang", lang], payload.to_string().as_bytes(), &[]);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(
            done.stderr.contains("privilege.escalate"),
            "{}",
            done.stderr
        );
    }
}

/// S-14: `ralph init` and `ralph run` both bring the hook.
#[test]
fn a_call_that_two_hooks_judge_is_counted_once() {
    let env = TestEnv::new();
    let with_id = |id: &str, command: &str| {
        let mut payload = env.claude_payload("Bash", &json!({"command": command}));
        payload["tool_use_id"] = id.into();
        env.hook(&[], payload.to_string().as_bytes(), &[])
    };
    for n in 0..40 {
        for _ in 0..2 {
            assert_eq!(with_id(&format!("call-{n}"), "ls").code, 0);
        }
    }
    for _ in 0..2 {
        assert_eq!(with_id("bad", "sudo ls").code, 2);
    }
    assert_eq!(env.stats()["allowed"], 40);
    assert_eq!(env.stats()["blocked"], 1);
}

/// S-09: what stands in the place of the settings can't hold the guard up, nor
/// is a home unknown that a shell would know.
#[cfg(unix)]
#[test]
fn odd_settings_keep_the_tool_from_running_at_once() {
    let env = TestEnv::new();
    // One that changes something: reading is judged by the built-in rules.
    let payload = env.claude_payload("Bash", &json!({"command": "ls"}));
    let file = env.path(".ralph/config.toml");
    let judge = |what: &str| {
        let started = std::time::Instant::now();
        let done = env.hook(&[], payload.to_string().as_bytes(), &[]);
        assert_eq!(done.code, 2, "{what}: {}", done.stderr);
        assert!(started.elapsed().as_secs() < 4, "{what}");
        std::fs::remove_file(&file).unwrap();
    };
    std::fs::create_dir(env.path(".ralph")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    judge("/dev/zero");
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    judge("a pipe");
    std::os::unix::fs::symlink("/dev/stdin", &file).unwrap();
    judge("/dev/stdin");
    let large = std::fs::File::create(&file).unwrap();
    large.set_len(8 * 1024 * 1024 * 1024).unwrap();
    judge("eight gigabytes");
    for home in [None, Some("."), Some("")] {
        for command in ["rm -rf ~", "rm -rf ~/x", "cat ~/.ssh/id_rsa"] {
            let payload = env.claude_payload("Bash", &json!({ "command": command }));
            let input = env.outside("payload.json");
            std::fs::write(&input, payload.to_string()).unwrap();
            let mut hook = env.command(&["hook", "pre-tool-use"]);
            match home {
                Some(home) => hook.env("HOME", home),
                None => hook.env_remove("HOME"),
            };
            hook.stdin(std::fs::File::open(input).unwrap());
            let done = Done::of(&hook.output().unwrap());
            assert_eq!(done.code, 2, "{home:?} {command}: {}", done.stderr);
        }
    }
}

#[test]
fn a_usage_error_is_no_block() {
    let env = TestEnv::new();
    for args in [
        &["hook"][..],
        &["hook", "pre-tool"],
        &["hook", "--host"],
        &["guard"],
        &["guard", "test"],
        &["guard", "test", "--tool", "Read", "no json"],
        &["guard", "nonsense"],
    ] {
        let done = env.ralph(args);
        assert_eq!(done.code, 1, "{args:?}: {}", done.stderr);
        assert!(
            !done.stderr.is_empty() || !done.stdout.is_empty(),
            "{args:?}"
        );
    }
    let help = env.ralph(&["hook", "--help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("pre-tool-use"));
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_is_a_block_too() {
    let env = TestEnv::new();
    let payload = env.claude_payload("Bash", &json!({"command": "ls"}));
    let done = env.hook(
        &[],
        payload.to_string().as_bytes(),
        &[("RALPH_HOOK_PANIC", "1")],
    );
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("the guard has a fault"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_broken_configuration_stops_commands_and_writes_but_no_reading() {
    for config in [
        "[guard\n",
        "[guard]\nfail = \"ajar\"\n",
        "[guard]\nunknown = 1\n",
        "[[guard.rules]]\nid = \"git.clean\"\nprogram = \"git\"\n",
    ] {
        let env = TestEnv::new();
        env.write(".ralph/config.toml", config);
        for (tool, input, code) in [
            ("Bash", json!({"command": "ls"}), 2),
            ("Write", json!({"file_path": "a.txt"}), 2),
            ("mcp__x__y", json!({}), 2),
            ("Read", json!({"file_path": "a.txt"}), 0),
            ("Read", json!({"file_path": ".env"}), 2),
        ] {
            let done = env.claude(tool, &input);
            assert_eq!(done.code, code, "{config} {tool}: {}", done.stderr);
            if code == 2 {
                assert!(
                    done.stderr.contains(".ralph/config.toml"),
                    "{}",
                    done.stderr
                );
            }
        }
    }
    let env = TestEnv::new();
    std::fs::create_dir_all(env.path(".ralph/config.toml")).unwrap();
    let done = env.bash("ls");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("can't be read"), "{}", done.stderr);
}

#[test]
fn a_repository_may_tighten_the_guard_and_a_person_loosen_it() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[guard]\ndisable = [\"git.reset-hard\"]\nallow_hosts = [\"10.1.2.3\"]\n\
         [[guard.rules]]\nid = \"own.deploy\"\nprogram = \"deploy\"\nreason = \"People deploy.\"\n\
         hint = \"Ask.\"\nmatch = [\"deploy x\"]\nnot_match = [\"ls\"]\n",
    );
    let own = env.bash("timeout 5 deploy now");
    assert_eq!(own.code, 2);
    assert!(
        own.stderr.contains("People deploy. [own.deploy]"),
        "{}",
        own.stderr
    );
    let ignored = env.bash("git reset --hard");
    assert_eq!(ignored.code, 2);
    assert!(
        ignored
            .stderr
            .contains("(disable, allow_hosts); that does not count"),
        "{}",
        ignored.stderr
    );
    // The agent learns no way to confirm it, and has none.
    assert!(
        !ignored.stderr.contains("ralph guard"),
        "{}",
        ignored.stderr
    );
    for command in [
        "ralph guard trust --yes",
        "echo x >> ~/.config/ralph/trusted-guards",
        "sed -i s/a/b/ .ralph/config.toml",
    ] {
        assert_eq!(env.bash(command).code, 2, "{command}");
    }
    let inside = env
        .command(&["guard", "trust", "--yes"])
        .env("CLAUDECODE", "1")
        .output();
    assert_eq!(Done::of(&inside.unwrap()).code, 1);
    assert_eq!(env.ralph(&["guard", "trust"]).code, 1);
    let done = env.ralph(&["guard", "trust", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.bash("git reset --hard").code, 0);
    assert_eq!(env.bash("curl http://10.1.2.3/").code, 0);
    assert_eq!(env.bash("deploy").code, 2);
    // What was confirmed is these settings, not the file.
    let text = env.read(".ralph/config.toml");
    env.write(".ralph/config.toml", &format!("# a comment\n{text}"));
    assert_eq!(env.bash("git reset --hard").code, 0);
    env.write(
        ".ralph/config.toml",
        &text.replace("git.reset-hard", "git.clean"),
    );
    assert_eq!(env.bash("git clean -fd").code, 2);
    env.write(".ralph/config.toml", &text);
    assert_eq!(env.bash("git reset --hard").code, 0);
    assert_eq!(env.ralph(&["guard", "trust", "--revoke"]).code, 0);
    assert_eq!(env.bash("git reset --hard").code, 2);
}

#[test]
fn a_home_inside_the_project_confirms_nothing() {
    let env = TestEnv::new();
    env.write(".ralph/config.toml", "[guard]\nenabled = false\n");
    assert_eq!(env.ralph(&["guard", "trust", "--yes"]).code, 0);
    let text = std::fs::read_to_string(env.outside(".config/ralph/trusted-guards")).unwrap();
    env.write("home/.config/ralph/trusted-guards", &text);
    let payload = env
        .claude_payload("Bash", &json!({"command": "sudo ls"}))
        .to_string();
    assert_eq!(env.hook(&[], payload.as_bytes(), &[]).code, 0);
    let home = env.path("home");
    let vars = [("HOME", home.to_str().unwrap())];
    assert_eq!(env.hook(&[], payload.as_bytes(), &vars).code, 2);
}

#[test]
fn modes_ask_warn_and_count() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[guard]\nmodes = [\"git.reset-hard=ask\", \"git.clean=warn\"]\n",
    );
    assert_eq!(env.ralph(&["guard", "trust", "--yes"]).code, 0);
    let ask = "git reset --hard";
    let asked = env.bash(ask);
    assert_eq!(asked.code, 0);
    assert!(
        asked.stdout.contains("\"permissionDecision\":\"ask\""),
        "{}",
        asked.stdout
    );
    // Nobody is there, or the host can't ask: then it is a block.
    for vars in [("RALPH_RUN_ID", "x"), ("CLAUDE_CODE_SESSION_ATTENDED", "0")] {
        let payload = shell_payload(&env, "claude", ask).to_string();
        let done = env.hook(&[], payload.as_bytes(), &[vars]);
        assert!(reason("claude", &done).contains("nobody can be asked"));
    }
    for shape in ["codex", "gemini", "opencode"] {
        let payload = shell_payload(&env, shape, ask).to_string();
        let done = env.hook(&[], payload.as_bytes(), &[]);
        assert!(
            reason(shape, &done).contains("nobody can be asked"),
            "{shape}"
        );
    }
    let warned = env.bash("git clean -fd");
    assert_eq!(warned.code, 0);
    assert!(
        warned.stdout.contains("\"systemMessage\":\"WARNING: "),
        "{}",
        warned.stdout
    );
    assert_eq!(
        env.stats()["tools"]["Bash"],
        json!({"allowed": 1, "blocked": 4})
    );
    env.write(".ralph/config.toml", "[guard]\nshadow = true\n");
    assert_eq!(env.bash(DANGEROUS).code, 2);
    assert_eq!(env.ralph(&["guard", "trust", "--yes"]).code, 0);
    let before = env.stats()["blocked"].as_u64().unwrap();
    let shadowed = env.bash(DANGEROUS);
    assert_eq!((shadowed.code, shadowed.stdout.as_str()), (0, ""));
    assert_eq!(env.stats()["blocked"], before + 1);
    env.write(".ralph/config.toml", "[guard]\nfail = \"open\"\n");
    assert_eq!(env.ralph(&["guard", "trust", "--yes"]).code, 0);
    let open = env.hook(&[], b"garbage", &[]);
    assert_eq!(open.code, 0);
    assert!(open.stdout.contains("let it pass"), "{}", open.stdout);
}

#[test]
fn the_project_is_the_hosts_and_not_where_the_agent_stands() {
    let env = TestEnv::new();
    env.git(&["init", "-q", "sub"]);
    let mut payload = env.claude_payload("Write", &json!({"file_path": "x.txt"}));
    payload["cwd"] = json!(env.path("sub"));
    let root = env.root.to_str().unwrap();
    let done = env.hook(
        &[],
        payload.to_string().as_bytes(),
        &[("CLAUDE_PROJECT_DIR", root)],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(env.path(".ralph/.safety_stats").is_file());
    assert!(!env.path("sub/.ralph").exists());
    payload["cwd"] = json!(env.root.parent());
    let done = env.hook(&["--root", root], payload.to_string().as_bytes(), &[]);
    assert_eq!(done.code, 2, "{}", done.stderr);
}

#[test]
fn messages_come_in_the_language_of_the_project() {
    let env = TestEnv::new();
    env.write(".ralph/config.toml", "lang = \"zh-TW\"\n");
    let done = env.bash("cat .env");
    assert!(
        done.stderr.starts_with("BLOCKED: 禁止操作敏感檔案 - .env"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_lock_that_somebody_keeps_holds_no_call_up() {
    let env = TestEnv::new();
    env.write(".ralph/.safety_stats.lock", "");
    let file = std::fs::File::open(env.path(".ralph/.safety_stats.lock")).unwrap();
    file.lock().unwrap();
    assert_eq!(env.bash("ls").code, 0);
    assert_eq!(env.bash("sudo ls").code, 2);
    assert!(!env.path(".ralph/.safety_stats").exists());
}

#[test]
fn blocks_of_a_run_stand_in_its_journal() {
    let env = TestEnv::with_tasks(1);
    let payload = env.claude_payload(
        "Bash",
        &json!({"command": "sudo ls --token=ghp_0123456789abcdefghijABCDEFGHIJ012345"}),
    );
    std::fs::write(env.outside("payload.json"), payload.to_string()).unwrap();
    let script = format!(
        "{} hook pre-tool-use < {}; sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>COMPLETE</promise>'",
        crate::env::RALPH,
        env.outside("payload.json").display()
    );
    std::fs::write(env.outside("agent.sh"), script).unwrap();
    let agent = format!("sh {}", env.outside("agent.sh").display());
    let done = env.ralph(&[
        "run", "--json", "--agent-cmd", &agent, "--max-iterations", "1",
    ]);
    let events = done.events();
    let blocks = named(&events, "guard_block");
    assert_eq!(blocks.len(), 1, "{}", done.stdout);
    assert_eq!(blocks[0]["tool"], "Bash");
    assert_eq!(blocks[0]["rule"], "privilege.escalate");
    assert_eq!(blocks[0]["iteration"], 1);
    let runs: Vec<_> = std::fs::read_dir(env.state("runs")).unwrap().collect();
    let run = runs[0].as_ref().unwrap().path();
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    assert!(journal.contains("guard_blocked"), "{journal}");
    assert!(!journal.contains("ghp_0123456789"), "{journal}");
}
