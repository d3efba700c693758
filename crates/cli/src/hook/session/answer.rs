//! An answer about a session in the words of the host: each gets exactly what
//! it understands, since Codex ignores an answer with a field too many.

use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::Event;
use serde_json::{Map, Value, json};

use super::super::BLOCKED;
use super::super::answer::Output;
use super::super::args::Options;
use super::super::payload::Dialect;
use super::heard::Heard;

/// What a hook of a session has to say; nothing means: go on as you would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Hold the stop or the prompt, for this reason.
    pub block: Option<String>,
    /// For people.
    pub message: Option<String>,
    /// For the agent.
    pub context: Option<String>,
}

impl Reply {
    pub fn warning(message: String) -> Reply {
        Reply {
            message: Some(message),
            ..Reply::default()
        }
    }

    pub fn block(reason: String) -> Reply {
        Reply {
            block: Some(reason),
            ..Reply::default()
        }
    }

    pub fn context(context: String) -> Reply {
        Reply {
            context: Some(context),
            ..Reply::default()
        }
    }

    pub fn output(&self, heard: &Heard, options: &Options) -> Output {
        let host = heard.host;
        if let (Some(reason), true) = (&self.block, options.exit_code_mode)
            && host != Client::Copilot
        {
            return Output {
                stderr: format!("{reason}\n"),
                code: BLOCKED,
                ..Output::default()
            };
        }
        let mut fields = Map::new();
        if let Some(reason) = &self.block {
            block(host, reason, &mut fields);
        }
        let mut stderr = String::new();
        match (&self.message, host) {
            (Some(message), Client::Claude | Client::Codex | Client::Gemini) => {
                fields.insert("systemMessage".into(), json!(message));
            }
            (Some(message), _) => stderr = format!("{message}\n"),
            (None, _) => {}
        }
        if let Some(context) = &self.context {
            let (key, value) = context_field(heard, options.event, context);
            fields.insert(key.into(), value);
        }
        let stdout = match fields.is_empty() {
            true => String::new(),
            false => format!("{}\n", Value::Object(fields)),
        };
        Output {
            stdout,
            stderr,
            code: 0,
        }
    }
}

fn block(host: Client, reason: &str, fields: &mut Map<String, Value>) {
    let word = match host {
        Client::Cursor => {
            fields.insert("followup_message".into(), json!(reason));
            return;
        }
        Client::Gemini => "deny",
        Client::Claude | Client::Codex | Client::Copilot | Client::OpenCode | Client::Amp => {
            "block"
        }
    };
    fields.insert("decision".into(), json!(word));
    fields.insert("reason".into(), json!(reason));
}

fn context_field(heard: &Heard, event: Event, context: &str) -> (&'static str, Value) {
    if heard.dialect == Dialect::Camel {
        return ("additionalContext", json!(context));
    }
    let usual = match event {
        Event::PostToolUse => "PostToolUse",
        Event::SessionStart => "SessionStart",
        Event::Stop => "Stop",
        Event::SubagentStop => "SubagentStop",
        _ => "UserPromptSubmit",
    };
    let name = match heard.event.as_str() {
        "" => usual,
        name => name,
    };
    let value = json!({"hookEventName": name, "additionalContext": context});
    ("hookSpecificOutput", value)
}
