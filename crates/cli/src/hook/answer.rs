//! An answer in the words of the host. What is unknown to a host may make it
//! ignore the whole answer, so each gets exactly what it understands.

use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_engine::agents::Client;
use serde_json::{Value, json};

use super::BLOCKED;
use super::payload::Dialect;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// In silence, so that the host's own permissions still count.
    Allow,
    /// The call runs, and people learn of this.
    Warn(String),
    /// A person decides, where there is one.
    Ask(String),
    Deny(String),
    /// The call runs with this input instead; only Claude Code knows it.
    Rewrite(Value),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

impl Output {
    fn json(value: &Value) -> Output {
        Output {
            stdout: format!("{value}\n"),
            ..Output::default()
        }
    }
}

impl Answer {
    pub fn output(&self, host: Client, dialect: Dialect, headless: bool, lang: Lang) -> Output {
        match self {
            Answer::Allow => Output::default(),
            Answer::Warn(message) => warn(host, message),
            Answer::Ask(message) if !headless => ask(host, dialect, message)
                .unwrap_or_else(|| deny(host, dialect, &unasked(message, lang))),
            Answer::Ask(message) => deny(host, dialect, &unasked(message, lang)),
            Answer::Deny(message) => deny(host, dialect, message),
            Answer::Rewrite(input) => Output::json(&json!({
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": input}
            })),
        }
    }
}

fn unasked(message: &str, lang: Lang) -> String {
    tr!(
        lang,
        "{message}\nA person would have to allow this, and nobody can be asked here."
    )
}

fn warn(host: Client, message: &str) -> Output {
    match host {
        Client::Claude | Client::Codex | Client::Gemini => {
            Output::json(&json!({ "systemMessage": message }))
        }
        Client::Copilot | Client::Cursor | Client::OpenCode | Client::Amp => Output {
            stderr: format!("{message}\n"),
            ..Output::default()
        },
    }
}

/// `None` where a question hangs the host or counts as a yes.
fn ask(host: Client, dialect: Dialect, message: &str) -> Option<Output> {
    match host {
        Client::Claude => Some(decision("ask", message)),
        Client::Copilot => Some(copilot(dialect, "ask", message)),
        Client::Cursor => Some(cursor("ask", message)),
        Client::Codex | Client::Gemini | Client::OpenCode | Client::Amp => None,
    }
}

fn deny(host: Client, dialect: Dialect, message: &str) -> Output {
    match host {
        // The exit code holds even where the JSON of a later version differs.
        Client::Claude | Client::OpenCode | Client::Amp => Output {
            stderr: format!("{message}\n"),
            code: BLOCKED,
            ..Output::default()
        },
        Client::Codex => decision("deny", message),
        Client::Gemini => Output::json(&json!({ "decision": "deny", "reason": message })),
        Client::Copilot => copilot(dialect, "deny", message),
        Client::Cursor => cursor("deny", message),
    }
}

fn decision(decision: &str, message: &str) -> Output {
    Output::json(&json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": message,
        }
    }))
}

fn copilot(dialect: Dialect, word: &str, message: &str) -> Output {
    match dialect {
        Dialect::Snake => decision(word, message),
        Dialect::Camel => Output::json(&json!({
            "permissionDecision": word,
            "permissionDecisionReason": message,
        })),
    }
}

fn cursor(word: &str, message: &str) -> Output {
    Output::json(&json!({
        "permission": word,
        "user_message": message,
        "agent_message": message,
    }))
}
