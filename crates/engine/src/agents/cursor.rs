//! Cursor's agent, headless: one JSON object per line. It tells neither tokens
//! nor cost, and its hooks can't be given for one run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::claude::{Input, ResultLine};
use super::event::{AgentEvent, EndReason, Heard, Tell, ending, shortened};
use super::json::{Many, Maybe, Words};
use super::lines::{leading_type, type_of};
use super::listener::{Parsed, Reader};
use super::options::{Options, Session, Setup};

pub(super) fn setup(options: &Options) -> Setup {
    let mut setup = Setup::new(options, "cursor-agent");
    setup.args(["-p", "--output-format", "stream-json"]);
    if let Session::Resume { id, .. } = &options.session {
        setup.args(["--resume", id]);
    }
    if options.skips_permissions() {
        setup.args(["--force", "--trust"]);
    }
    if !options.model.is_empty() {
        setup.args(["--model", &options.model]);
    }
    setup.prompt_as_argument(None)
}

/// The event stream. The final text is that of the last `result` line.
#[derive(Debug, Default)]
pub(super) struct Stream {
    heard: Heard,
    done: bool,
}

impl Stream {
    fn tool_call(&mut self, line: &ToolLine<'_>, tell: Tell<'_>) {
        let id = line.call_id.text();
        let empty = BTreeMap::new();
        let calls = line.tool_call.0.as_ref().unwrap_or(&empty);
        let Some((name, call)) = calls.iter().next() else {
            return;
        };
        let name = name.strip_suffix("ToolCall").unwrap_or(name);
        let empty = Call::default();
        let call = call.0.as_ref().unwrap_or(&empty);
        if line.subtype.text() == "started" {
            let input = call.args.0.as_ref();
            let summary = input.map(Input::summary).unwrap_or_default();
            let name = call.name.get().unwrap_or(name);
            self.heard.tool_call(id, name, summary, tell);
            return;
        }
        let result = call.result.0.as_ref();
        let has = |key: &str| result.is_some_and(|result| result.contains_key(key));
        if has("rejected") || has("permissionDenied") {
            self.heard.denied(id, name, "", tell);
        }
        let id = shortened(id, super::event::ID);
        let ok = has("success");
        tell(AgentEvent::ToolResult { id, ok, ran: ok });
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed {
        match type_of(line) {
            Some(b"system") => {
                let line: InitLine<'_> = serde_json::from_slice(line)?;
                let (session, model) = (line.session_id.text(), line.model.get());
                self.heard.started(session, model, tell);
            }
            Some(b"assistant") => {
                let line: AssistantLine<'_> = serde_json::from_slice(line)?;
                for block in line.message.0.unwrap_or_default().content.0 {
                    let text = shortened(block.text.text(), super::event::MESSAGE);
                    tell(AgentEvent::Text { text, main: true });
                }
            }
            Some(b"tool_call") => self.tool_call(&serde_json::from_slice(line)?, tell),
            Some(b"result") | None => {
                let line: ResultLine<'_> = serde_json::from_slice(line)?;
                if line.kind.text() != "result" {
                    return Ok(());
                }
                self.done = true;
                self.heard.started(line.session_id.text(), None, tell);
                self.heard.error = None;
                match line.failure(None) {
                    Some((error, end)) => self.heard.failed(error, end, tell),
                    None => {
                        self.heard.end_reason = EndReason::Completed;
                        self.heard.text = ending(line.result.text()).to_owned();
                    }
                }
                tell(AgentEvent::Result {
                    ok: self.heard.error.is_none(),
                });
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn overlong(&mut self, head: &[u8]) {
        if leading_type(head).is_none_or(|kind| kind == b"result") {
            self.heard.end_reason = EndReason::CutOff;
            self.heard.error = None;
            self.heard.text.clear();
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
struct InitLine<'a> {
    #[serde(borrow)]
    session_id: Words<'a>,
    model: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AssistantLine<'a> {
    #[serde(borrow)]
    message: Maybe<Message<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Many<Block<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow)]
    text: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolLine<'a> {
    #[serde(borrow)]
    subtype: Words<'a>,
    call_id: Words<'a>,
    tool_call: Maybe<BTreeMap<Cow<'a, str>, Maybe<Call<'a>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    name: Words<'a>,
    args: Maybe<Input<'a>>,
    result: Maybe<BTreeMap<Cow<'a, str>, IgnoredAny>>,
}
