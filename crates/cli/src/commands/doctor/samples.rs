//! What each agent would give a hook, and what it would have to answer.

use std::path::Path;

use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::Event;
use serde_json::{Value, json};

use super::ask::Answer;
use ralph_engine::supervise::Ending;

/// A command that no guard lets pass, and one that every guard does.
pub const DANGEROUS: &str = "rm -rf /";
pub const HARMLESS: &str = "echo ok";

/// The payload of an event, for a session that never was.
pub fn payload(host: Client, verb: Event, project: &Path, command: &str) -> Value {
    let mut payload = json!({
        "session_id": "00000000-0000-4000-8000-00000000d0c7",
        "transcript_path": project.join("transcript.jsonl"),
        "cwd": project,
        "hook_event_name": host.hooks().event_name(verb),
    });
    let more = match host {
        Client::Claude => json!({"permission_mode": "default"}),
        Client::Codex => {
            json!({"turn_id": "doctor", "model": "doctor", "permission_mode": "default"})
        }
        Client::Gemini | Client::Copilot => json!({"timestamp": "2026-01-01T00:00:00.000Z"}),
        Client::Cursor => {
            json!({"workspace_roots": [project], "cursor_version": "1", "generation_id": "g"})
        }
        Client::OpenCode | Client::Amp => json!({}),
    };
    add(&mut payload, more);
    let shell = host.hooks().shell;
    let file = project.join("doctor.txt");
    let of_event = match verb {
        Event::PreToolUse => json!({
            "tool_name": shell, "tool_input": {"command": command}, "tool_use_id": "doctor",
        }),
        Event::PostToolUse => json!({
            "tool_name": "Write", "tool_input": {"file_path": file, "content": "ok"},
            "tool_response": {}, "tool_use_id": "doctor",
        }),
        Event::Stop => json!({
            "stop_hook_active": false, "last_assistant_message": "ok",
            "prompt": "ok", "prompt_response": "ok", "stop_reason": "end_turn",
        }),
        Event::SubagentStop => json!({
            "stop_hook_active": false, "last_assistant_message": "ok",
            "agent_id": "doctor", "agent_type": "doctor",
        }),
        Event::UserPromptSubmit => json!({"prompt": "hello"}),
        Event::SessionStart => json!({"source": "startup"}),
        Event::SessionEnd => json!({"reason": "other"}),
    };
    add(&mut payload, of_event);
    payload
}

fn add(payload: &mut Value, more: Value) {
    if let (Value::Object(payload), Value::Object(more)) = (payload, more) {
        payload.extend(more);
    }
}

/// Whether the agent would understand the answer as a refusal.
pub fn refuses(host: Client, answer: &Answer) -> bool {
    if answer.ending == Ending::Exited(2) {
        return true;
    }
    let said: Value = serde_json::from_str(answer.stdout.trim()).unwrap_or_default();
    let word = match host {
        Client::Gemini => &said["decision"],
        Client::Cursor => &said["permission"],
        _ => &said["hookSpecificOutput"]["permissionDecision"],
    };
    answer.ending == Ending::Exited(0) && word == "deny"
}

/// Whether it would go on, and could read what was said.
pub fn goes_on(answer: &Answer) -> bool {
    let said = answer.stdout.trim();
    let readable =
        said.is_empty() || serde_json::from_str::<Value>(said).is_ok_and(|v| v.is_object());
    let blocks = said.contains("\"deny\"") || said.contains("\"block\"");
    answer.ending == Ending::Exited(0) && readable && !blocks
}
