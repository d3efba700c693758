//! The same loop inside other clients, each in its own words.

use serde_json::{Value, json};

use crate::env::TestEnv;

const SESSION: &str = "01a1dca0-1152-7031-8a9b-6e65eb5521db";

/// A client other than Claude Code, as it calls the hooks.
struct Other<'a> {
    env: &'a TestEnv,
    host: &'static str,
}

impl Other<'_> {
    fn call(&self, name: &str, payload: &Value) -> Value {
        let done = self
            .env
            .call_hook(&["--host", self.host, name], payload, &[]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        match done.stdout.trim() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap(),
        }
    }

    fn says(&self, prompt: &str) -> Value {
        let cwd = &self.env.root;
        let payload = match self.host {
            "codex" => json!({
                "session_id": SESSION, "turn_id": "t", "transcript_path": null, "cwd": cwd,
                "hook_event_name": "UserPromptSubmit", "model": "m", "permission_mode": "default",
                "prompt": prompt,
            }),
            "gemini" => json!({
                "session_id": SESSION, "transcript_path": "/t", "cwd": cwd,
                "hook_event_name": "BeforeAgent", "timestamp": "2026-11-15T00:00:00.000Z",
                "prompt": prompt,
            }),
            _ => json!({"sessionId": SESSION, "timestamp": 1, "cwd": cwd, "prompt": prompt}),
        };
        self.call("user-prompt-submit", &payload)
    }

    /// `said` is what the agent said in this turn so far.
    fn stops(&self, said: &[&str]) -> Value {
        let cwd = &self.env.root;
        let last = said.last().copied().unwrap_or_default();
        let payload = match self.host {
            "codex" => json!({
                "session_id": SESSION, "turn_id": "t", "transcript_path": null, "cwd": cwd,
                "hook_event_name": "Stop", "model": "m", "permission_mode": "default",
                "stop_hook_active": true, "last_assistant_message": last,
            }),
            "gemini" => json!({
                "session_id": SESSION, "transcript_path": "/t", "cwd": cwd,
                "hook_event_name": "AfterAgent", "timestamp": "2026-11-15T00:00:00.000Z",
                "prompt": "go", "prompt_response": said.join("\n"), "stop_hook_active": true,
            }),
            _ => {
                let transcript = self.env.outside("events.jsonl");
                let lines = said.iter().map(|text| {
                    json!({"type": "assistant.message", "data": {"content": text}}).to_string()
                });
                // It also tells that it calls the hook.
                let call = json!({"type": "hook.start", "data": {"hookType": "agentStop"}});
                let lines: Vec<String> = lines.chain([call.to_string()]).collect();
                std::fs::write(&transcript, lines.join("\n") + "\n").unwrap();
                json!({
                    "sessionId": SESSION, "timestamp": 1, "cwd": cwd, "transcriptPath": transcript,
                    "stopReason": "end_turn", "stop_hook_active": false,
                })
            }
        };
        self.call("stop", &payload)
    }
}

fn check(host: &'static str, blocks: &str, keys: &[&str]) {
    let env = TestEnv::new();
    let other = Other { env: &env, host };
    let begun = other.says("/ralph-loop Make it --verify 'test -f made' --completion-promise MADE");
    assert!(begun.to_string().contains("Make it"), "{host}: {begun}");

    let first = other.stops(&["Looking.\n<promise>CONTINUE</promise>"]);
    assert_eq!(first["decision"], blocks, "{host}: {first}");
    assert!(first["reason"].as_str().unwrap().contains("Make it"));
    let got: Vec<&str> = first
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(got, keys, "{host}");

    let mut said = vec![
        "Looking.\n<promise>CONTINUE</promise>",
        "Made!\n<promise>MADE</promise>",
    ];
    let false_promise = other.stops(&said);
    let reason = false_promise["reason"].as_str().unwrap();
    assert!(reason.contains("REJECTED"), "{host}: {reason}");
    // A promise of an earlier turn is not given again by being repeated.
    said.push("Still at it.\n<promise>CONTINUE</promise>");
    let on = other.stops(&said);
    assert!(
        !on["reason"].as_str().unwrap().contains("REJECTED"),
        "{host}: {on}"
    );

    env.write("made", "");
    said.push("Now.\n<promise>MADE</promise>");
    let end = other.stops(&said);
    assert_eq!(end["decision"], Value::Null, "{host}: {end}");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
}

#[test]
fn codex_gets_no_field_that_it_does_not_know() {
    check("codex", "block", &["decision", "reason", "systemMessage"]);
}

#[test]
fn gemini_is_denied_its_stop_and_heard_by_what_is_new() {
    check("gemini", "deny", &["decision", "reason", "systemMessage"]);
}

#[test]
fn copilot_is_heard_by_its_transcript() {
    check("copilot", "block", &["decision", "reason"]);
}

#[test]
fn copilots_own_count_of_blocks_is_not_run_into() {
    let env = TestEnv::new();
    env.write(".ralph/config.toml", "[limits]\nstalled = 0\n");
    let other = Other {
        env: &env,
        host: "copilot",
    };
    other.says("/ralph-loop Work --completion-promise FIN");
    for _ in 0..8 {
        let answer = other.stops(&["<promise>CONTINUE</promise>"]);
        assert_eq!(answer["decision"], "block", "{answer}");
        // Neither a tool nor our own text, handed back, makes it count anew.
        let tool = json!({"sessionId": SESSION, "timestamp": 1, "cwd": env.root, "toolName": "bash", "toolArgs": {}});
        other.call("post-tool-use", &tool);
        other.says(answer["reason"].as_str().unwrap());
    }
    let answer = other.stops(&["<promise>CONTINUE</promise>"]);
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    assert_eq!(env.json(".ralph/status.json")["reason"], "block_cap");
}

#[test]
fn a_client_can_be_told_by_exit_code() {
    let env = TestEnv::new();
    let claude = env.claude_session(SESSION);
    claude.says("/ralph-loop Work --completion-promise FIN");
    let payload = json!({
        "session_id": SESSION, "cwd": env.root, "hook_event_name": "Stop",
        "last_assistant_message": "<promise>CONTINUE</promise>",
    });
    let done = env.call_hook(&["--exit-code-mode", "stop"], &payload, &[]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("Work"), "{}", done.stderr);
}
