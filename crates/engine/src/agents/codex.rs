//! Codex, headless: threads, turns and items, one JSON object per line.

use ralph_core::governor::ErrorClass;
use ralph_core::usage::{Tokens, Usage};
use serde::Deserialize;

use super::event::{AgentError, AgentEvent, EndReason, Heard, Tell, ending, shortened};
use super::json::{Maybe, Number, Words};
use super::lines::type_of;
use super::listener::{Parsed, Reader};
use super::options::{Options, Permissions, Session, Setup};

pub(super) fn setup(options: &Options) -> Setup {
    let mut setup = Setup::new(options, "codex");
    setup.args(["exec"]);
    if let Session::Resume { id, .. } = &options.session {
        setup.args(["resume", id]);
    }
    setup.args(["--json", "--skip-git-repo-check"]);
    match options.granted() {
        None => setup.args(["--dangerously-bypass-approvals-and-sandbox"]),
        // `exec resume` knows the sandbox by its setting only.
        Some(Permissions::Edit) => setup.args(["-c", r#"sandbox_mode="workspace-write""#]),
        Some(Permissions::Plan) => setup.args(["-c", r#"sandbox_mode="read-only""#]),
        Some(_) => {}
    }
    if !options.model.is_empty() {
        setup.args(["-m", &options.model]);
    }
    if !options.user_config {
        setup.args(["--ignore-user-config"]);
    }
    if let Some(hooks) = &options.hooks {
        let command = toml_text(&hooks.shell_line("codex"));
        let timeout = hooks.timeout.as_secs();
        let hook = format!(r#"{{type="command",command={command},timeout={timeout}}}"#);
        setup.args(["-c", &format!("hooks.PreToolUse=[{{hooks=[{hook}]}}]")]);
        // A configuration of the project may not take them away (S-01).
        setup.args(["-c", "features.hooks=true"]);
        // Without it a hook that nobody reviewed is skipped in silence.
        setup.args(["--dangerously-bypass-hook-trust"]);
    }
    setup
}

/// JSON's escapes are TOML's too, but for those that nobody has in a path.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The event stream. The final text is the last message of the agent.
#[derive(Debug, Default)]
pub(super) struct Stream {
    heard: Heard,
    resumed: Option<Usage>,
    /// Tools that were started, until they end.
    open: Vec<String>,
    spoke: bool,
    /// It let others work, whose usage it does not tell.
    delegated: bool,
}

/// More tools at once are not followed.
const MAX_OPEN: usize = 64;

impl Stream {
    pub(super) fn new(session: &Session) -> Stream {
        Stream {
            resumed: session.used(),
            ..Stream::default()
        }
    }

    fn item(&mut self, begun: bool, item: &Item<'_>, tell: Tell<'_>) {
        let id = item.id.text();
        match item.kind.text() {
            "agent_message" if !begun => {
                self.spoke = true;
                self.heard.text = ending(item.text.text()).to_owned();
                tell(AgentEvent::Text {
                    text: shortened(item.text.text(), super::event::MESSAGE),
                    main: true,
                });
            }
            // Warnings come as items of this kind.
            "agent_message" | "reasoning" | "todo_list" | "error" => {}
            kind => {
                let was_open = self.open.iter().any(|open| open == id);
                if !was_open {
                    let name = item.tool.get().unwrap_or(kind);
                    self.delegated |= kind == "collab_tool_call";
                    let summary = item.command.get().or(item.query.get());
                    self.heard
                        .tool_call(id, name, summary.unwrap_or_default(), tell);
                    if begun && self.open.len() < MAX_OPEN {
                        self.open.push(shortened(id, super::event::ID));
                    }
                }
                if !begun {
                    self.open.retain(|open| open != id);
                    let status = item.status.text();
                    if status == "declined" {
                        self.heard.denied(id, kind, "", tell);
                    }
                    let ended = item.exit_code.0;
                    let ok = status == "completed" && ended.unwrap_or(0.0) == 0.0;
                    let ran = status != "declined" && (ok || ended.is_some());
                    let id = shortened(id, super::event::ID);
                    tell(AgentEvent::ToolResult { id, ok, ran });
                }
            }
        }
    }

    fn completed(&mut self, usage: Option<&Counts>, tell: Tell<'_>) {
        self.heard.error = None;
        self.heard.end_reason = EndReason::Completed;
        if let Some(counts) = usage {
            let total = counts.tokens();
            self.heard.session_usage.tokens = Some(total);
            // The counts run on over a resume.
            let own = match &self.resumed {
                None => Some(total),
                Some(before) => before.tokens.map(|before| total.minus(before)),
            };
            self.heard.usage = Usage {
                tokens: own,
                cost: None,
                at_least: self.delegated,
            };
            tell(AgentEvent::Usage(self.heard.usage));
            if !self.spoke && own.is_some_and(|tokens| tokens.total() == 0) {
                let message =
                    "the turn ended before the model was asked; a hook may have refused the prompt";
                let error = AgentError::new(ErrorClass::Refused, message);
                self.heard.failed(error, EndReason::Refused, tell);
            }
        }
        tell(AgentEvent::Result {
            ok: self.heard.error.is_none(),
        });
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed {
        match type_of(line) {
            Some(kind @ (b"item.completed" | b"item.started")) => {
                let line: ItemLine<'_> = serde_json::from_slice(line)?;
                if let Some(item) = &line.item.0 {
                    self.item(kind == b"item.started", item, tell);
                }
            }
            Some(b"thread.started") => {
                let line: Line<'_> = serde_json::from_slice(line)?;
                self.heard.started(line.thread_id.text(), None, tell);
            }
            Some(b"turn.completed") => {
                let line: Line<'_> = serde_json::from_slice(line)?;
                self.completed(line.usage.0.as_ref(), tell);
            }
            Some(b"turn.failed") => {
                let line: Line<'_> = serde_json::from_slice(line)?;
                let error = line.error.0.unwrap_or_default();
                let error = AgentError::in_words(error.message.text());
                self.heard.failed(error, EndReason::Failed, tell);
                tell(AgentEvent::Result { ok: false });
            }
            Some(b"error") => {
                let line: Line<'_> = serde_json::from_slice(line)?;
                let message = line.message.text();
                match message.strip_prefix("Reconnecting...") {
                    Some(reason) => tell(AgentEvent::Retry {
                        attempt: attempt(reason),
                        reason: shortened(reason.trim(), super::event::MESSAGE),
                    }),
                    // It stands unless the turn gets somewhere after all.
                    None => self.heard.error = Some(AgentError::in_words(message)),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn overlong(&mut self, head: &[u8]) {
        // It may have been the last message.
        let message = br#""type":"agent_message""#;
        if head.windows(message.len()).any(|part| part == message) {
            self.heard.text.clear();
            self.spoke = true;
        }
    }

    fn at_rest(&self) -> bool {
        self.heard.end_reason != EndReason::CutOff
    }

    fn finish(&mut self) -> Heard {
        std::mem::take(&mut self.heard).closed()
    }
}

/// The first number of ` 1/5 (…)`.
fn attempt(reason: &str) -> Option<u64> {
    reason.trim().split('/').next()?.parse().ok()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    thread_id: Words<'a>,
    message: Words<'a>,
    error: Maybe<ErrorField<'a>>,
    usage: Maybe<Counts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorField<'a> {
    #[serde(borrow)]
    message: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ItemLine<'a> {
    #[serde(borrow)]
    item: Maybe<Item<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(rename = "type")]
    kind: Words<'a>,
    text: Words<'a>,
    command: Words<'a>,
    query: Words<'a>,
    tool: Words<'a>,
    status: Words<'a>,
    exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    input_tokens: Number,
    cached_input_tokens: Number,
    cache_write_input_tokens: Number,
    output_tokens: Number,
}

impl Counts {
    /// What came from the cache is a part of the input here.
    fn tokens(&self) -> Tokens {
        let cache_read = self.cached_input_tokens.or_zero();
        let cache_write = self.cache_write_input_tokens.or_zero();
        let cached = cache_read.saturating_add(cache_write);
        Tokens {
            input: self.input_tokens.or_zero().saturating_sub(cached),
            output: self.output_tokens.or_zero(),
            cache_read,
            cache_write,
        }
    }
}
