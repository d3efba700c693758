//! Copilot CLI, headless: events with their data in an envelope, one JSON
//! object per line.

use std::path::Path;

use ralph_core::governor::ErrorClass;
use serde::Deserialize;
use serde_json::json;

use super::claude::Input;
use super::event::{AgentError, AgentEvent, EndReason, Heard, Tell, ending, shortened};
use super::json::{Many, Maybe, Number, Switch, Words};
use super::lines::{leading_type, type_of};
use super::listener::{Parsed, Reader};
use super::options::{HookWiring, Options, Permissions, Session, Setup};

pub(super) fn setup(options: &Options, dir: &Path) -> Setup {
    let mut setup = Setup::new(options, "copilot");
    setup.args(["--output-format", "json", "--no-ask-user"]);
    if let Session::Resume { id, .. } = &options.session {
        setup.args([format!("--resume={id}")]);
    }
    match options.granted() {
        None => setup.args(["--allow-all"]),
        Some(Permissions::Edit) => setup.args(["--allow-tool=write"]),
        Some(_) => {}
    }
    if !options.model.is_empty() {
        setup.args(["--model", &options.model]);
    }
    if !options.user_config {
        setup.args(["--disable-builtin-mcps"]);
    }
    if let Some(hooks) = &options.hooks {
        plugin(&mut setup, hooks, &dir.join("copilot-plugin"));
    }
    setup
}

/// Hooks of the repository and of the user are files that are not ours to
/// write; a plugin can be given for one session. The name of the event decides
/// that the hook is asked the way Claude Code asks.
fn plugin(setup: &mut Setup, hooks: &HookWiring, dir: &Path) {
    let manifest = json!({"name": "ralph", "version": "1.0.0", "hooks": "hooks.json"});
    let hook = json!({
        "type": "command",
        "bash": hooks.shell_line("copilot"),
        "timeoutSec": hooks.timeout.as_secs(),
    });
    let wired = json!({"version": 1, "hooks": {"PreToolUse": [hook]}});
    setup.file(dir.join("plugin.json"), &manifest);
    setup.file(dir.join("hooks.json"), &wired);
    setup.args(["--plugin-dir", &dir.to_string_lossy()]);
}

/// The event stream. The final text is the last message of the main agent that
/// asks for no tool.
#[derive(Debug, Default)]
pub(super) struct Stream {
    heard: Heard,
    done: bool,
}

impl Stream {
    fn message(&mut self, data: &Data<'_>, main: bool, tell: Tell<'_>) {
        let text = data.content.text();
        if main {
            let last = data.tool_requests.0.is_empty();
            self.heard.text = match last {
                true => ending(text).to_owned(),
                false => String::new(),
            };
            if let Some(model) = data.model.get() {
                self.heard.model = Some(shortened(model, super::event::ID));
            }
            // A call that failed before has been made good.
            self.heard.error = None;
        }
        if !text.is_empty() {
            tell(AgentEvent::Text {
                text: shortened(text, super::event::MESSAGE),
                main,
            });
        }
    }

    fn tool_completed(&mut self, data: &Data<'_>, tell: Tell<'_>) {
        let id = data.tool_call_id.text();
        let denied = data.error.0.as_ref();
        if let Some(error) = denied.filter(|error| error.code.text() == "denied") {
            self.heard.denied(id, "", error.message.text(), tell);
        }
        let ok = data.success.0.unwrap_or(false);
        let id = shortened(id, super::event::ID);
        tell(AgentEvent::ToolResult { id, ok, ran: ok });
    }

    fn failed(&mut self, data: &Data<'_>) {
        let message = data.message.text();
        let status = data.status_code.count().and_then(|n| u16::try_from(n).ok());
        let class = match data.error_type.text() {
            "authentication" | "authorization" => ErrorClass::Auth,
            "rate_limit" => ErrorClass::RateLimit,
            "quota" => ErrorClass::Billing,
            _ => AgentError::in_words(message).class,
        };
        self.heard.error = Some(AgentError {
            status,
            ..AgentError::new(class, message)
        });
    }

    fn result(&mut self, line: &Line<'_>, tell: Tell<'_>) {
        self.done = true;
        self.heard.started(line.session_id.text(), None, tell);
        let code = line.exit_code.0.unwrap_or(0.0);
        if code != 0.0 || self.heard.error.is_some() {
            let message = format!("exit code {code}");
            let unknown = || AgentError::new(ErrorClass::Unknown, &message);
            let error = self.heard.error.take().unwrap_or_else(unknown);
            self.heard.failed(error, EndReason::Failed, tell);
        } else {
            self.heard.end_reason = EndReason::Completed;
        }
        tell(AgentEvent::Result {
            ok: self.heard.error.is_none(),
        });
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed {
        let Some(
            kind @ (b"assistant.message"
            | b"tool.execution_start"
            | b"tool.execution_complete"
            | b"assistant.turn_retry"
            | b"session.error"
            | b"result"),
        ) = type_of(line)
        else {
            return Ok(());
        };
        let line: Line<'_> = serde_json::from_slice(line)?;
        if kind == b"result" {
            self.result(&line, tell);
            return Ok(());
        }
        let data = line.data.0.unwrap_or_default();
        let main = line.agent_id.get().is_none() && data.parent_tool_call_id.get().is_none();
        match kind {
            b"assistant.message" => self.message(&data, main, tell),
            b"tool.execution_start" => {
                let input = data.arguments.0.as_ref();
                let summary = input.map(Input::summary).unwrap_or_default();
                let (id, name) = (data.tool_call_id.text(), data.tool_name.text());
                self.heard.tool_call(id, name, summary, tell);
            }
            b"tool.execution_complete" => self.tool_completed(&data, tell),
            b"assistant.turn_retry" => tell(AgentEvent::Retry {
                attempt: None,
                reason: shortened(data.reason.text(), super::event::MESSAGE),
            }),
            _ if main => self.failed(&data),
            _ => {}
        }
        Ok(())
    }

    fn overlong(&mut self, head: &[u8]) {
        match leading_type(head) {
            Some(b"assistant.message") => self.heard.text.clear(),
            Some(b"result") | None => self.heard.end_reason = EndReason::CutOff,
            Some(_) => {}
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
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow)]
    data: Maybe<Data<'a>>,
    agent_id: Words<'a>,
    session_id: Words<'a>,
    exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    content: Words<'a>,
    model: Words<'a>,
    tool_requests: Many<ToolRequest>,
    parent_tool_call_id: Words<'a>,
    tool_call_id: Words<'a>,
    tool_name: Words<'a>,
    arguments: Maybe<Input<'a>>,
    success: Switch,
    error: Maybe<ToolError<'a>>,
    error_type: Words<'a>,
    message: Words<'a>,
    status_code: Number,
    reason: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolRequest {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolError<'a> {
    #[serde(borrow)]
    message: Words<'a>,
    code: Words<'a>,
}
