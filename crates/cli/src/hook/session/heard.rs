//! What each client tells a hook about its session, made one thing.

use std::path::PathBuf;

use ralph_engine::agents::Client;
use serde_json::{Map, Value};

use super::super::Bad;
use super::super::payload::Dialect;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    pub host: Client,
    pub dialect: Dialect,
    /// The client's own name of the event.
    pub event: String,
    pub session: String,
    pub cwd: Option<String>,
    /// Set inside a subagent only.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub prompt: String,
    pub last_message: Option<String>,
    /// Everything that was said in this turn, as Gemini gives it.
    pub whole_response: Option<String>,
    pub transcript: Option<PathBuf>,
    pub agent_transcript: Option<PathBuf>,
    pub stop_hook_active: bool,
    pub tool: String,
    pub tool_input: Value,
    pub tool_response: Value,
    /// Why a session began.
    pub source: String,
    /// When the hook was called, where the client says so.
    pub time: Value,
}

impl Heard {
    pub fn decode(bytes: &[u8], told: Option<Client>) -> Result<Heard, Bad> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(bytes) else {
            return Err(Bad::NotJson);
        };
        let text = |keys: &[&str]| first_text(&fields, keys);
        let dialect = match fields.contains_key("sessionId") {
            true => Dialect::Camel,
            false => Dialect::Snake,
        };
        let is_true = |key: &str| fields.get(key) == Some(&Value::Bool(true));
        let mut heard = Heard {
            host: told.unwrap_or_else(|| guess(&fields)),
            dialect,
            event: text(&["hook_event_name"]).unwrap_or_default(),
            session: text(&["session_id", "sessionId", "conversation_id"]).unwrap_or_default(),
            cwd: text(&["cwd"]).filter(|cwd| cwd.starts_with('/')),
            agent_id: text(&["agent_id", "agentId", "parentAgentId"]),
            agent_type: text(&["agent_type", "agentType", "subagent_type"]),
            prompt: text(&["prompt"]).unwrap_or_default(),
            last_message: text(&["last_assistant_message", "response"]),
            whole_response: text(&["prompt_response"]),
            transcript: text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            agent_transcript: text(&["agent_transcript_path"]).map(PathBuf::from),
            stop_hook_active: is_true("stop_hook_active"),
            tool: text(&["tool_name", "toolName"]).unwrap_or_default(),
            tool_input: Value::Null,
            tool_response: Value::Null,
            source: text(&["source"]).unwrap_or_default(),
            time: fields.get("timestamp").cloned().unwrap_or_default(),
        };
        let input = ["tool_input", "toolArgs"]
            .iter()
            .find_map(|key| fields.get_mut(*key).map(Value::take));
        heard.tool_input = match input {
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
            input => input.unwrap_or_default(),
        };
        heard.tool_response = fields
            .get_mut("tool_response")
            .map(Value::take)
            .unwrap_or_default();
        Ok(heard)
    }

    /// For an answer to somebody who could not be understood.
    pub fn nothing(host: Option<Client>) -> Heard {
        Heard {
            host: host.unwrap_or_default(),
            ..Heard::default()
        }
    }
}

fn first_text(fields: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let mut texts = keys.iter().filter_map(|key| fields.get(*key)?.as_str());
    texts.find(|text| !text.is_empty()).map(str::to_owned)
}

/// Whose payload it is, by what only that client writes.
fn guess(fields: &Map<String, Value>) -> Client {
    let has = |key: &str| fields.contains_key(key);
    let event = fields.get("hook_event_name").and_then(Value::as_str);
    match event {
        Some("AfterAgent" | "BeforeAgent" | "AfterTool" | "PreCompress") => Client::Gemini,
        _ if has("cursor_version") || has("generation_id") => Client::Cursor,
        _ if has("sessionId") => Client::Copilot,
        _ if has("turn_id") => Client::Codex,
        // Claude gives no time; of the others only Gemini has a chat file.
        _ if has("timestamp") && is_geminis(fields) => Client::Gemini,
        _ if has("timestamp") => Client::Copilot,
        _ => Client::Claude,
    }
}

fn is_geminis(fields: &Map<String, Value>) -> bool {
    let transcript = fields.get("transcript_path").and_then(Value::as_str);
    transcript.is_some_and(|path| path.contains("/.gemini/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(payload: &Value, want: Client) {
        let heard = Heard::decode(payload.to_string().as_bytes(), None).unwrap();
        assert_eq!(heard.host, want, "{payload}");
        assert_eq!(heard.session, "s", "{payload}");
    }

    #[test]
    fn every_client_is_known_by_its_payload() {
        check(
            &json!({"session_id": "s", "hook_event_name": "Stop", "prompt_id": "p"}),
            Client::Claude,
        );
        check(
            &json!({"session_id": "s", "turn_id": "t", "hook_event_name": "Stop"}),
            Client::Codex,
        );
        check(
            &json!({"session_id": "s", "timestamp": "2026", "hook_event_name": "AfterAgent"}),
            Client::Gemini,
        );
        check(
            &json!({"session_id": "s", "timestamp": "2026", "hook_event_name": "SessionEnd", "transcript_path": "/h/.gemini/tmp/x"}),
            Client::Gemini,
        );
        check(&json!({"sessionId": "s", "timestamp": 1}), Client::Copilot);
        check(
            &json!({"session_id": "s", "timestamp": "2026", "hook_event_name": "Stop", "stop_reason": "end_turn"}),
            Client::Copilot,
        );
        check(
            &json!({"conversation_id": "s", "generation_id": "g", "hook_event_name": "stop"}),
            Client::Cursor,
        );
    }

    #[test]
    fn the_type_of_an_agent_is_found_under_its_real_name() {
        let decode = |payload: &Value| Heard::decode(payload.to_string().as_bytes(), None).unwrap();
        let real = decode(&json!({"session_id": "s", "agent_id": "a", "agent_type": "check"}));
        assert_eq!(real.agent_type.as_deref(), Some("check"));
        let old = decode(&json!({"session_id": "s", "subagent_type": "check"}));
        assert_eq!(old.agent_type.as_deref(), Some("check"));
        let fork = decode(&json!({"session_id": "s", "agent_id": "a", "agent_type": ""}));
        assert_eq!(fork.agent_type, None);
    }
}
