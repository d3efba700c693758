//! What each agent tells a hook about a tool call, made one thing.

use ralph_engine::agents::Client;
use serde_json::{Map, Value};

use super::Bad;

/// Which names the host gives its fields: Copilot has two ways, and answers
/// have to follow the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Snake,
    Camel,
}

/// A tool call, whoever makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    pub host: Client,
    pub dialect: Dialect,
    pub tool: String,
    /// The client's own name of the call.
    pub id: Option<String>,
    pub input: Value,
    pub cwd: Option<String>,
    /// The project, where the payload names it.
    pub project: Option<String>,
    /// The client's session; empty where it names none.
    pub session: String,
}

/// Tools that change nothing: a broken configuration does not stop them.
const READERS: &str = "read read_file view read_many_files notebookread glob grep ls list list_directory \
    search_file_content grep_search webfetch web_fetch websearch web_search \
    google_web_search todowrite todoread task";

impl Payload {
    pub fn decode(bytes: &[u8], told: Option<Client>) -> Result<Payload, Bad> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(bytes) else {
            return Err(Bad::NotJson);
        };
        let host = told.unwrap_or_else(|| guess(&fields));
        let dialect = if fields.contains_key("toolName") {
            Dialect::Camel
        } else {
            Dialect::Snake
        };
        let cwd = text(&fields, "cwd");
        let id = ["tool_use_id", "toolUseId", "tool_call_id", "toolCallId"];
        let id = id.iter().find_map(|key| text(&fields, key));
        let session = ["session_id", "sessionId", "conversation_id"];
        let session = session.iter().find_map(|key| text(&fields, key));
        let session = session.unwrap_or_default();
        let project = fields
            .get("workspace_roots")
            .and_then(|roots| roots.get(0)?.as_str().map(str::to_owned));
        let (tool, input) = call_of(&mut fields).ok_or(Bad::NoTool)?;
        let input = match host {
            Client::OpenCode => with_snake_keys(input),
            _ => input,
        };
        Ok(Payload {
            host,
            dialect,
            tool,
            id,
            input,
            cwd: cwd.filter(|cwd| cwd.starts_with('/')),
            project,
            session,
        })
    }

    pub fn only_reads(&self) -> bool {
        let mut readers = READERS.split(' ');
        readers.any(|name| name.eq_ignore_ascii_case(&self.tool))
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let text = fields.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whose payload it is, by what only that host writes.
fn guess(fields: &Map<String, Value>) -> Client {
    let has = |key: &str| fields.contains_key(key);
    let event = fields.get("hook_event_name").and_then(Value::as_str);
    match event {
        Some("BeforeTool") => Client::Gemini,
        Some("beforeShellExecution" | "beforeReadFile" | "beforeMCPExecution") => Client::Cursor,
        _ if has("cursor_version") || has("generation_id") => Client::Cursor,
        _ if has("toolName") => Client::Copilot,
        _ if has("turn_id") => Client::Codex,
        // Claude gives no time.
        Some("PreToolUse") if has("timestamp") => Client::Copilot,
        _ if has("output") && has("input") => Client::OpenCode,
        _ => Client::Claude,
    }
}

fn call_of(fields: &mut Map<String, Value>) -> Option<(String, Value)> {
    let event = text(fields, "hook_event_name").unwrap_or_default();
    match event.as_str() {
        "beforeShellExecution" => {
            return Some(("Shell".to_owned(), part(fields, &["command", "cwd"])));
        }
        "beforeReadFile" => return Some(("Read".to_owned(), part(fields, &["file_path"]))),
        _ => {}
    }
    if let Some(tool) = ["tool_name", "toolName", "tool"]
        .iter()
        .find_map(|key| text(fields, key))
    {
        let input = ["tool_input", "toolArgs", "args", "input"]
            .iter()
            .find_map(|key| fields.get_mut(*key).map(Value::take));
        return Some((tool, unpacked(input.unwrap_or_default())));
    }
    // OpenCode has the tool in one argument of its plugin and what it is
    // called with in the other.
    let tool = fields.get("input")?.get("tool")?.as_str()?.to_owned();
    let args = fields.get_mut("output")?.get_mut("args")?.take();
    Some((tool, unpacked(args)))
}

fn part(fields: &mut Map<String, Value>, keys: &[&str]) -> Value {
    let mut part = Map::new();
    for key in keys {
        if let Some(value) = fields.get_mut(*key).map(Value::take)
            && !value.is_null()
        {
            part.insert((*key).to_owned(), value);
        }
    }
    Value::Object(part)
}

/// Some hosts put the input into a text of JSON.
fn unpacked(input: Value) -> Value {
    match &input {
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).unwrap_or(input)
        }
        _ => input,
    }
}

/// `filePath` → `file_path`.
fn with_snake_keys(input: Value) -> Value {
    let Value::Object(fields) = input else {
        return input;
    };
    let snake = |key: &str| {
        let mut name = String::with_capacity(key.len() + 2);
        for c in key.chars() {
            if c.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    };
    let fields = fields.into_iter();
    Value::Object(fields.map(|(key, value)| (snake(&key), value)).collect())
}
