//! OpenCode, headless: parts of messages, one JSON object per line. No line
//! says that the turn is over; a step that ends without a tool call does.

use ralph_core::governor::ErrorClass;
use ralph_core::usage::{Tokens, Usd};
use serde::Deserialize;

use super::claude::Input;
use super::event::{AgentError, AgentEvent, EndReason, Heard, Tell, ending, shortened};
use super::json::{Maybe, Number, Words};
use super::lines::{leading_type, type_of};
use super::listener::{Parsed, Reader};
use super::options::{Options, Permissions, Session, Setup};

pub(super) fn setup(options: &Options) -> Setup {
    let mut setup = Setup::new(options, "opencode");
    setup.args(["run", "--format", "json"]);
    if let Session::Resume { id, .. } = &options.session {
        setup.args(["-s", id]);
    }
    match options.granted() {
        None => setup.args(["--auto"]),
        Some(Permissions::Plan) => setup.args(["--agent", "plan"]),
        Some(_) => {}
    }
    if !options.model.is_empty() {
        setup.args(["-m", &options.model]);
    }
    if !options.user_config {
        setup.env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1");
    }
    setup
}

/// The event stream. The final text is that of the last step.
#[derive(Debug, Default)]
pub(super) struct Stream {
    heard: Heard,
    cost: Option<Usd>,
    /// A tool call of this step was refused, which ends the turn.
    refused: Option<String>,
}

impl Stream {
    /// Lines of a child session are none of ours.
    fn is_main(&self, session: &str) -> bool {
        self.heard
            .session_id
            .as_deref()
            .is_none_or(|own| own == session)
    }

    fn tool(&mut self, part: &Part<'_>, tell: Tell<'_>) {
        let id = part.call_id.text();
        let empty = State::default();
        let state = part.state.0.as_ref().unwrap_or(&empty);
        let input = state.input.0.as_ref();
        let summary = input.map(Input::summary).unwrap_or_default();
        self.heard.tool_call(id, part.tool.text(), summary, tell);
        let error = state.error.text();
        if error.contains("rejected permission") {
            self.heard.denied(id, part.tool.text(), error, tell);
            self.refused = Some(shortened(error, super::event::MESSAGE));
        }
        let id = shortened(id, super::event::ID);
        let ok = state.status.text() == "completed";
        tell(AgentEvent::ToolResult { id, ok, ran: ok });
    }

    fn step_finished(&mut self, part: &Part<'_>, tell: Tell<'_>) {
        if let Some(counts) = &part.tokens.0 {
            self.heard.spent(counts.tokens(), tell);
        }
        if let Some(cost) = part.cost.0.and_then(Usd::from_dollars) {
            let before = self.cost.unwrap_or_default();
            self.cost = Some(before.plus(cost));
            // A model whose price nobody knows costs nothing by this account.
            self.heard.usage.cost = self.cost.filter(|cost| !cost.is_zero());
        }
        if part.reason.text() == "tool-calls" {
            // What was said with a tool call is not the last word.
            self.heard.text.clear();
            self.heard.end_reason = EndReason::CutOff;
        } else {
            self.heard.end_reason = EndReason::Completed;
            tell(AgentEvent::Result { ok: true });
        }
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed {
        let Some(kind @ (b"step_start" | b"text" | b"tool_use" | b"step_finish" | b"error")) =
            type_of(line)
        else {
            return Ok(());
        };
        let line: Line<'_> = serde_json::from_slice(line)?;
        let session = line.session_id.text();
        if !self.is_main(session) {
            return Ok(());
        }
        self.heard.started(session, None, tell);
        let part = line.part.0.unwrap_or_default();
        match kind {
            b"step_start" => {
                self.heard.text.clear();
                self.heard.error = None;
                self.heard.end_reason = EndReason::CutOff;
                self.refused = None;
            }
            b"text" => {
                self.heard.text.push_str(ending(part.text.text()));
                self.heard.text = ending(&self.heard.text).to_owned();
                tell(AgentEvent::Text {
                    text: shortened(part.text.text(), super::event::MESSAGE),
                    main: true,
                });
            }
            b"tool_use" => self.tool(&part, tell),
            b"step_finish" => self.step_finished(&part, tell),
            _ => {
                let error = line.error.0.unwrap_or_default();
                self.heard.failed(error.read(), EndReason::Failed, tell);
            }
        }
        Ok(())
    }

    fn overlong(&mut self, head: &[u8]) {
        if leading_type(head).is_none_or(|kind| kind == b"text") {
            self.heard.text.clear();
        }
    }

    fn at_rest(&self) -> bool {
        self.heard.end_reason != EndReason::CutOff
    }

    fn finish(&mut self) -> Heard {
        let mut heard = std::mem::take(&mut self.heard);
        if let Some(reason) = self.refused.take()
            && heard.end_reason == EndReason::CutOff
            && heard.error.is_none()
        {
            heard.error = Some(AgentError::new(ErrorClass::Refused, &reason));
            heard.end_reason = EndReason::Refused;
        }
        heard.closed()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(rename = "sessionID", borrow)]
    session_id: Words<'a>,
    part: Maybe<Part<'a>>,
    error: Maybe<ErrorField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Words<'a>,
    tool: Words<'a>,
    #[serde(rename = "callID")]
    call_id: Words<'a>,
    state: Maybe<State<'a>>,
    reason: Words<'a>,
    tokens: Maybe<Counts>,
    cost: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    status: Words<'a>,
    input: Maybe<Input<'a>>,
    error: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    total: Number,
    input: Number,
    output: Number,
    reasoning: Number,
    cache: Maybe<CacheCounts>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCounts {
    read: Number,
    write: Number,
}

impl Counts {
    fn tokens(&self) -> Tokens {
        let cache = self.cache.0.unwrap_or_default();
        let (read, write) = (cache.read.or_zero(), cache.write.or_zero());
        let input = self.input.or_zero();
        // Whether the output includes the reasoning depends on the provider.
        let output = match self.total.count() {
            Some(total) => [input, read, write]
                .into_iter()
                .fold(total, u64::saturating_sub),
            None => self
                .output
                .or_zero()
                .saturating_add(self.reasoning.or_zero()),
        };
        Tokens {
            input,
            output,
            cache_read: read,
            cache_write: write,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorField<'a> {
    #[serde(borrow)]
    name: Words<'a>,
    data: Maybe<ErrorData<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorData<'a> {
    #[serde(borrow)]
    message: Words<'a>,
    #[serde(rename = "statusCode")]
    status: Number,
}

impl ErrorField<'_> {
    fn read(&self) -> AgentError {
        let empty = ErrorData::default();
        let data = self.data.0.as_ref().unwrap_or(&empty);
        let message = data.message.get().unwrap_or(self.name.text());
        let status = data.status.count().and_then(|n| u16::try_from(n).ok());
        let class = match (self.name.text(), status) {
            ("ProviderAuthError", _) | (_, Some(401)) => ErrorClass::Auth,
            (_, Some(402)) => ErrorClass::Billing,
            (_, Some(429)) => ErrorClass::RateLimit,
            (_, Some(500..=599)) => ErrorClass::Server,
            _ => AgentError::in_words(message).class,
        };
        AgentError {
            status,
            ..AgentError::new(class, message)
        }
    }
}
