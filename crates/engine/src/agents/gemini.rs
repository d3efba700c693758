//! Gemini CLI, headless: one JSON object per line.

use std::path::Path;

use ralph_core::governor::ErrorClass;
use ralph_core::usage::{Tokens, Usage};
use serde::Deserialize;
use serde_json::json;

use super::claude::Input;
use super::event::{AgentError, AgentEvent, EndReason, Heard, Tell, ending, shortened};
use super::json::{Maybe, Number, Words};
use super::lines::{leading_type, type_of};
use super::listener::{Parsed, Reader};
use super::options::{HookWiring, Options, Permissions, Session, Setup};

pub(super) fn setup(options: &Options, dir: &Path) -> Setup {
    let mut setup = Setup::new(options, "gemini");
    setup.args(["-o", "stream-json", "--skip-trust"]);
    if let Session::Resume { id, .. } = &options.session {
        setup.args(["-r", id]);
    }
    match options.granted() {
        None => setup.args(["--approval-mode", "yolo"]),
        Some(Permissions::Edit) => setup.args(["--approval-mode", "auto_edit"]),
        Some(Permissions::Plan) => setup.args(["--approval-mode", "plan"]),
        Some(_) => {}
    }
    if !options.model.is_empty() {
        setup.args(["-m", &options.model]);
    }
    if !options.user_config {
        setup.args(["-e", "none", "--allowed-mcp-server-names", "none"]);
    }
    if let Some(hooks) = &options.hooks {
        own_home(&mut setup, hooks, dir);
    }
    setup
}

/// Hooks are read from settings files only, and a file for the whole system
/// must belong to root. So the client gets a home of its own for the run; that
/// takes an API key in the environment, since a login lies in the old home.
fn own_home(setup: &mut Setup, hooks: &HookWiring, dir: &Path) {
    let home = dir.join("gemini");
    let hook = json!({
        "type": "command",
        "name": "ralph",
        "command": hooks.shell_line("gemini"),
        "timeout": u64::try_from(hooks.timeout.as_millis()).unwrap_or(u64::MAX),
    });
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "hooks": {"BeforeTool": [{"matcher": "*", "hooks": [hook]}]},
    });
    setup.file(home.join(".gemini").join("settings.json"), &settings);
    setup.env("GEMINI_CLI_HOME", home);
}

/// The event stream. The final text is what the assistant said since the last
/// tool call.
#[derive(Debug, Default)]
pub(super) struct Stream {
    heard: Heard,
    /// The text runs over a part that could not be kept.
    text_lost: bool,
    done: bool,
}

impl Stream {
    fn message(&mut self, line: &Line<'_>, tell: Tell<'_>) {
        if line.role.text() != "assistant" {
            return self.new_text();
        }
        if !self.text_lost {
            self.heard.text.push_str(line.content.text());
            if self.heard.text.len() > 2 * super::event::TEXT {
                self.heard.text = ending(&self.heard.text).to_owned();
            }
        }
        tell(AgentEvent::Text {
            text: shortened(line.content.text(), super::event::MESSAGE),
            main: true,
        });
    }

    fn new_text(&mut self) {
        self.heard.text.clear();
        self.text_lost = false;
    }

    fn tool_result(&mut self, line: &Line<'_>, tell: Tell<'_>) {
        self.new_text();
        let id = line.tool_id.text();
        let error = line.error.0.as_ref();
        if let Some(error) = error.filter(|error| error.kind.text() == "policy_violation") {
            self.heard.denied(id, "", error.message.text(), tell);
        }
        let ok = line.status.text() == "success";
        let id = shortened(id, super::event::ID);
        tell(AgentEvent::ToolResult { id, ok, ran: ok });
    }

    fn result(&mut self, line: &Line<'_>, tell: Tell<'_>) {
        self.done = true;
        if let Some(stats) = &line.stats.0 {
            self.heard.usage = Usage {
                tokens: Some(stats.tokens()),
                ..Usage::default()
            };
            tell(AgentEvent::Usage(self.heard.usage));
        }
        let ok = line.status.text() == "success";
        self.heard.text = ending(&self.heard.text).to_owned();
        if ok {
            self.heard.error = None;
            self.heard.end_reason = EndReason::Completed;
        } else {
            let error = line.error.0.as_ref();
            let message = error.map_or("", |error| error.message.text());
            let (error, end) = match error.map_or("", |error| error.kind.text()) {
                "FatalTurnLimitedError" => (
                    AgentError::new(ErrorClass::MaxTurns, message),
                    EndReason::MaxTurns,
                ),
                _ => (AgentError::in_words(message), EndReason::Failed),
            };
            self.heard.failed(error, end, tell);
        }
        tell(AgentEvent::Result { ok });
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed {
        let Some(kind) = type_of(line) else {
            return Ok(());
        };
        let line: Line<'_> = match kind {
            b"message" | b"tool_use" | b"tool_result" | b"result" | b"init" | b"error" => {
                serde_json::from_slice(line)?
            }
            _ => return Ok(()),
        };
        match kind {
            b"init" => {
                let (session, model) = (line.session_id.text(), line.model.get());
                self.heard.started(session, model, tell);
            }
            b"message" => self.message(&line, tell),
            b"tool_use" => {
                self.new_text();
                let input = line.parameters.0.as_ref();
                let summary = input.map(Input::summary).unwrap_or_default();
                let (id, name) = (line.tool_id.text(), line.tool_name.text());
                self.heard.tool_call(id, name, summary, tell);
            }
            b"tool_result" => self.tool_result(&line, tell),
            b"result" => self.result(&line, tell),
            // A hook sent the assistant back to work, or a call is tried again.
            _ => {
                self.new_text();
                let error = AgentError::in_words(line.message.text());
                if line.severity.text() == "error" {
                    self.heard.error = Some(error.clone());
                }
                tell(AgentEvent::Error(error));
            }
        }
        Ok(())
    }

    fn overlong(&mut self, head: &[u8]) {
        match leading_type(head) {
            Some(b"message") => {
                self.heard.text.clear();
                self.text_lost = true;
            }
            Some(b"result") | None => {
                self.heard.end_reason = EndReason::CutOff;
                self.done = false;
            }
            Some(_) => self.new_text(),
        }
    }

    fn at_rest(&self) -> bool {
        self.done
    }

    fn finish(&mut self) -> Heard {
        std::mem::take(&mut self.heard).closed()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    session_id: Words<'a>,
    model: Words<'a>,
    role: Words<'a>,
    content: Words<'a>,
    message: Words<'a>,
    severity: Words<'a>,
    tool_id: Words<'a>,
    tool_name: Words<'a>,
    parameters: Maybe<Input<'a>>,
    status: Words<'a>,
    error: Maybe<ErrorField<'a>>,
    stats: Maybe<Stats>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorField<'a> {
    #[serde(rename = "type", borrow)]
    kind: Words<'a>,
    message: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Stats {
    input_tokens: Number,
    output_tokens: Number,
    cached: Number,
}

impl Stats {
    /// What came from the cache is a part of the input here.
    fn tokens(&self) -> Tokens {
        let cached = self.cached.or_zero();
        Tokens {
            input: self.input_tokens.or_zero().saturating_sub(cached),
            output: self.output_tokens.or_zero(),
            cache_read: cached,
            cache_write: 0,
        }
    }
}
