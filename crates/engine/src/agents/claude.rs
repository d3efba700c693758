//! Claude Code, headless: one JSON object per line. Amp speaks the same
//! language.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ralph_core::governor::{ErrorClass, LimitEvent};
use ralph_core::usage::{Tokens, Usage, Usd};
use serde::Deserialize;

use super::event::{AgentError, AgentEvent, EndReason, Heard, Tell, ending, shortened};
use super::json::{Many, Maybe, Number, Switch, Words};
use super::lines::{leading_type, type_of};
use super::listener::{Parsed, Reader};
use super::options::{Options, Permissions, Session, Setup};

pub(super) fn setup(options: &Options) -> Setup {
    let mut setup = Setup::new(options, "claude");
    setup.args(["-p", "--output-format", "stream-json", "--verbose"]);
    if let Session::Resume { id, .. } = &options.session {
        setup.args(["--resume", id]);
    }
    match options.granted() {
        None => setup.args(["--dangerously-skip-permissions"]),
        Some(Permissions::Edit) => setup.args(["--permission-mode", "acceptEdits"]),
        Some(Permissions::Plan) => setup.args(["--permission-mode", "plan"]),
        Some(_) => {}
    }
    if !options.model.is_empty() {
        setup.args(["--model", &options.model]);
    }
    if let Some(turns) = options.max_turns {
        setup.args(["--max-turns", &turns.to_string()]);
    }
    if let Some(cost) = options.max_cost {
        setup.args(["--max-budget-usd", &cost.dollars().to_string()]);
    }
    if !options.user_config {
        setup.args(["--setting-sources", "project,local", "--strict-mcp-config"]);
    }
    if let Some(hooks) = &options.hooks {
        let hook = serde_json::json!({
            "type": "command",
            "command": hooks.program,
            "args": hooks.args("claude"),
            "timeout": hooks.timeout.as_secs(),
            "onFailure": if hooks.fail_closed { "block" } else { "continue" },
        });
        // A settings file of the project may not take them away (S-01).
        let settings = serde_json::json!({
            "disableAllHooks": false,
            "hooks": {"PreToolUse": [{"hooks": [hook]}]},
        });
        setup.args(["--settings", &settings.to_string()]);
    }
    setup
}

/// The event stream. What counts is the last `result` line.
#[derive(Debug, Default)]
pub(super) struct Stream {
    heard: Heard,
    /// What the session had used up before, where one was taken up again.
    resumed: Option<Usage>,
    /// The model response that was counted last: it comes in several lines.
    counted: String,
    /// What the API said in the last assistant line, if that was an error.
    api_error: Option<ErrorClass>,
    /// Cost of all results, where each tells its own.
    own_cost: Option<Usd>,
    own_tokens: Option<Tokens>,
    background: usize,
    resting: bool,
}

impl Stream {
    pub(super) fn new(session: &Session) -> Stream {
        Stream {
            resumed: session.used(),
            ..Stream::default()
        }
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed {
        match type_of(line) {
            Some(b"assistant") => self.assistant(serde_json::from_slice(line)?, tell),
            Some(b"user") => self.user(serde_json::from_slice(line)?, tell),
            Some(b"system") => {
                if !skippable(line) {
                    self.system(&serde_json::from_slice(line)?, tell);
                }
            }
            Some(b"rate_limit_event") => self.limit(&serde_json::from_slice(line)?, tell),
            Some(b"stream_event") => {}
            // Results begin with other keys.
            Some(b"result") | None => {
                let result: ResultLine<'_> = serde_json::from_slice(line)?;
                if result.kind.text() == "result" {
                    self.result(&result, tell);
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn overlong(&mut self, head: &[u8]) {
        // It may have been a result, and then the one before is not the last.
        if leading_type(head).is_none_or(|kind| kind == b"result") {
            self.heard.end_reason = EndReason::CutOff;
            self.heard.error = None;
            self.heard.text.clear();
        }
    }

    fn at_rest(&self) -> bool {
        self.resting && self.background == 0
    }

    fn finish(&mut self) -> Heard {
        std::mem::take(&mut self.heard).closed()
    }
}

/// Lines that are many and say nothing that is needed.
fn skippable(line: &[u8]) -> bool {
    let rest = line.strip_prefix(br#"{"type":"system","subtype":""#);
    let subtype = rest.and_then(|rest| rest.split(|&b| b == b'"').next());
    subtype.is_some_and(|subtype| {
        !matches!(
            subtype,
            b"init" | b"api_retry" | b"permission_denied" | b"background_tasks_changed"
        )
    })
}

impl Stream {
    fn assistant(&mut self, line: AssistantLine<'_>, tell: Tell<'_>) {
        self.resting = false;
        let main = line.parent_tool_use_id.get().is_none();
        let message = line.message.0.unwrap_or_default();
        if let Some(error) = line.error.get() {
            if main {
                self.api_error = Some(class_of(error));
            }
            return;
        }
        for block in &message.content.0 {
            match block.kind.text() {
                "text" => tell(AgentEvent::Text {
                    text: shortened(block.text.text(), super::event::MESSAGE),
                    main,
                }),
                "tool_use" => {
                    let input = block.input.0.as_ref();
                    let summary = input.map(Input::summary).unwrap_or_default();
                    let (id, name) = (block.id.text(), block.name.text());
                    self.heard.tool_call(id, name, summary, tell);
                }
                _ => {}
            }
        }
        let id = message.id.text();
        if let Some(counts) = &message.usage.0
            && (id.is_empty() || id != self.counted)
        {
            self.counted = shortened(id, super::event::ID);
            self.heard.spent(counts.tokens(), tell);
        }
    }

    fn user(&mut self, line: UserLine<'_>, tell: Tell<'_>) {
        let message = line.message.0.unwrap_or_default();
        for block in &message.content.0 {
            if block.kind.text() == "tool_result" {
                let ok = !block.is_error.0.unwrap_or(false);
                tell(AgentEvent::ToolResult {
                    id: shortened(block.tool_use_id.text(), super::event::ID),
                    ok,
                    ran: ok || block.content.text().starts_with("Exit code "),
                });
            }
        }
    }

    fn system(&mut self, line: &SystemLine<'_>, tell: Tell<'_>) {
        match line.subtype.text() {
            "init" => {
                self.resting = false;
                self.heard
                    .started(line.session_id.text(), line.model.get(), tell);
            }
            "api_retry" => tell(AgentEvent::Retry {
                attempt: line.attempt.count(),
                reason: shortened(line.error.text(), super::event::MESSAGE),
            }),
            "permission_denied" => {
                let (id, tool) = (line.tool_use_id.text(), line.tool_name.text());
                let reason = line.message.get().or(line.reason.get());
                self.heard
                    .denied(id, tool, reason.unwrap_or_default(), tell);
            }
            "background_tasks_changed" => self.background = line.tasks.0.len(),
            _ => {}
        }
    }

    fn limit(&mut self, line: &LimitLine<'_>, tell: Tell<'_>) {
        let Some(info) = &line.rate_limit_info.0 else {
            return;
        };
        let event = LimitEvent {
            rejected: info.status.text() == "rejected",
            window: shortened(info.window.text(), super::event::ID),
            resets_at_ms: info
                .resets_at
                .count()
                .and_then(|seconds| i64::try_from(seconds.checked_mul(1_000)?).ok()),
            used_percent: info
                .utilization
                .0
                .filter(|part| (0.0..=1_000.0).contains(part))
                .map(|part| (part * 100.0).round() as u32),
        };
        self.heard.limit = event.rejected.then(|| event.clone());
        tell(AgentEvent::Limit(event));
    }

    fn result(&mut self, line: &ResultLine<'_>, tell: Tell<'_>) {
        self.resting = true;
        self.heard.started(line.session_id.text(), None, tell);
        self.count(line);
        for denial in &line.permission_denials.0 {
            let (id, tool) = (denial.tool_use_id.text(), denial.tool_name.text());
            self.heard.denied(id, tool, "", tell);
        }
        let api_error = self.api_error.take();
        self.heard.error = None;
        self.heard.text.clear();
        match line.failure(api_error) {
            Some((error, end)) => self.heard.failed(error, end, tell),
            None => {
                self.heard.end_reason = line.end_reason();
                self.heard.text = ending(line.result.text()).to_owned();
                self.heard.limit = None;
            }
        }
        tell(AgentEvent::Result {
            ok: self.heard.error.is_none(),
        });
    }

    /// Each result tells what was used since the one before, subagents
    /// included. Older clients tell totals only, which run on over a resume.
    fn count(&mut self, line: &ResultLine<'_>) {
        let models = |models: &Maybe<ByModel<'_>>| {
            models.0.as_ref().map(|models| {
                models
                    .values()
                    .fold(Tokens::default(), |sum, model| sum.plus(model.tokens()))
            })
        };
        let tokens = models(&line.since_last).or(line.usage.0.as_ref().map(Counts::tokens));
        self.own_tokens = match (self.own_tokens, tokens) {
            (Some(before), Some(more)) => Some(before.plus(more)),
            (before, more) => more.or(before),
        };
        if let Some(models) = &line.since_last.0 {
            let cost = models
                .values()
                .filter_map(|model| model.cost.0.and_then(Usd::from_dollars));
            let before = self.own_cost.unwrap_or_default();
            self.own_cost = Some(cost.fold(before, Usd::plus));
        }
        let total = line.total_cost_usd.0.and_then(Usd::from_dollars);
        let since_start = match (&self.resumed, total) {
            (None, total) => total,
            (Some(before), Some(total)) => before.cost.map(|before| total.minus(before)),
            (Some(_), None) => None,
        };
        self.heard.usage = Usage {
            tokens: self.own_tokens.or(self.heard.usage.tokens),
            cost: self.own_cost.or(since_start),
            at_least: false,
        };
        self.heard.session_usage = Usage {
            tokens: models(&line.models),
            cost: total,
            at_least: false,
        };
    }
}

/// The API's name for an error.
fn class_of(error: &str) -> ErrorClass {
    match error {
        "authentication_failed" | "cloud_credential_error" | "verification_required" => {
            ErrorClass::Auth
        }
        "oauth_org_not_allowed" | "account_on_hold" => ErrorClass::Admin,
        "billing_error" => ErrorClass::Billing,
        "rate_limit" => ErrorClass::RateLimit,
        "overloaded" => ErrorClass::Overloaded,
        "server_error" => ErrorClass::Server,
        "invalid_request" => ErrorClass::InvalidRequest,
        "model_not_found" => ErrorClass::ModelNotFound,
        _ => ErrorClass::Unknown,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AssistantLine<'a> {
    #[serde(borrow)]
    parent_tool_use_id: Words<'a>,
    message: Maybe<Message<'a>>,
    error: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    content: Many<Block<'a>>,
    usage: Maybe<Counts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Words<'a>,
    text: Words<'a>,
    id: Words<'a>,
    name: Words<'a>,
    input: Maybe<Input<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UserLine<'a> {
    #[serde(borrow)]
    message: Maybe<UserMessage<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UserMessage<'a> {
    #[serde(borrow)]
    content: Many<ToolResult<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolResult<'a> {
    #[serde(rename = "type", borrow)]
    kind: Words<'a>,
    tool_use_id: Words<'a>,
    is_error: Switch,
    content: Words<'a>,
}

/// What a tool is asked to do, in the names that clients give it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    command: Words<'a>,
    file_path: Words<'a>,
    #[serde(rename = "filePath")]
    file_path_camel: Words<'a>,
    path: Words<'a>,
    pattern: Words<'a>,
    url: Words<'a>,
    query: Words<'a>,
    description: Words<'a>,
}

impl Input<'_> {
    pub(super) fn summary(&self) -> &str {
        let fields = [
            &self.command, &self.file_path, &self.file_path_camel, &self.path, &self.pattern,
            &self.url, &self.query, &self.description,
        ];
        fields.into_iter().find_map(Words::get).unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SystemLine<'a> {
    #[serde(borrow)]
    subtype: Words<'a>,
    session_id: Words<'a>,
    model: Words<'a>,
    attempt: Number,
    error: Words<'a>,
    tool_use_id: Words<'a>,
    tool_name: Words<'a>,
    message: Words<'a>,
    reason: Words<'a>,
    tasks: Many<Task>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Task {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LimitLine<'a> {
    #[serde(borrow)]
    rate_limit_info: Maybe<LimitInfo<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LimitInfo<'a> {
    #[serde(borrow)]
    status: Words<'a>,
    #[serde(rename = "rateLimitType")]
    window: Words<'a>,
    #[serde(rename = "resetsAt")]
    resets_at: Number,
    utilization: Number,
}

/// The same counts go by two sets of names.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(alias = "inputTokens")]
    input_tokens: Number,
    #[serde(alias = "outputTokens")]
    output_tokens: Number,
    #[serde(alias = "cacheReadInputTokens")]
    cache_read_input_tokens: Number,
    #[serde(alias = "cacheCreationInputTokens")]
    cache_creation_input_tokens: Number,
    #[serde(rename = "costUSD")]
    cost: Number,
}

impl Counts {
    fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input_tokens.or_zero(),
            output: self.output_tokens.or_zero(),
            cache_read: self.cache_read_input_tokens.or_zero(),
            cache_write: self.cache_creation_input_tokens.or_zero(),
        }
    }
}

type ByModel<'a> = BTreeMap<Cow<'a, str>, Counts>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultLine<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Words<'a>,
    subtype: Words<'a>,
    is_error: Switch,
    pub(super) result: Words<'a>,
    error: Words<'a>,
    errors: serde_json::Value,
    pub(super) session_id: Words<'a>,
    num_turns: Number,
    terminal_reason: Words<'a>,
    api_error_status: Number,
    total_cost_usd: Number,
    usage: Maybe<Counts>,
    #[serde(rename = "modelUsage")]
    models: Maybe<ByModel<'a>>,
    #[serde(rename = "model_usage_since_last_result")]
    since_last: Maybe<ByModel<'a>>,
    permission_denials: Many<DenialLine<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DenialLine<'a> {
    #[serde(borrow)]
    tool_name: Words<'a>,
    tool_use_id: Words<'a>,
}

/// Texts, or whatever else a client makes of an error.
fn error_texts(errors: &serde_json::Value) -> String {
    let words = |error: &serde_json::Value| match error {
        serde_json::Value::String(words) => words.clone(),
        other => other.to_string(),
    };
    let list = errors.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(words).collect::<Vec<_>>().join("; ")
}

impl ResultLine<'_> {
    /// The error of this result. The client calls a refusal of its server a
    /// success, and a prompt that a hook blocked too: that result echoes the
    /// prompt, in which a promise means nothing.
    pub(super) fn failure(&self, api_error: Option<ErrorClass>) -> Option<(AgentError, EndReason)> {
        let subtype = self.subtype.text();
        let text = self.result.text();
        let blocked = self.num_turns.count() == Some(0) && !text.is_empty();
        let failed = self.is_error.0.unwrap_or(false) || subtype.starts_with("error");
        if !failed && !blocked {
            return None;
        }
        let status = self
            .api_error_status
            .count()
            .and_then(|n| u16::try_from(n).ok());
        let message = match (text, self.error.text(), error_texts(&self.errors)) {
            ("", "", errors) if errors.is_empty() => subtype.to_owned(),
            ("", "", errors) => errors,
            ("", error, _) => error.to_owned(),
            (text, _, _) => text.to_owned(),
        };
        let (class, end) = match (subtype, self.terminal_reason.text()) {
            _ if !failed => (ErrorClass::Refused, EndReason::Refused),
            ("error_max_turns", _) | (_, "max_turns") => {
                (ErrorClass::MaxTurns, EndReason::MaxTurns)
            }
            ("error_max_budget_usd", _) | (_, "budget_exhausted") => {
                (ErrorClass::Budget, EndReason::Budget)
            }
            (_, "prompt_too_long") => (ErrorClass::ContextTooLong, EndReason::Failed),
            (_, "aborted_tools" | "aborted_streaming") => {
                (ErrorClass::Interrupted, EndReason::Interrupted)
            }
            _ => {
                let class = api_error.unwrap_or_else(|| AgentError::in_words(&message).class);
                (class, EndReason::Failed)
            }
        };
        let error = AgentError {
            status,
            ..AgentError::new(class, &message)
        };
        Some((error, end))
    }

    fn end_reason(&self) -> EndReason {
        match self.terminal_reason.text() {
            "hook_stopped"
            | "stop_hook_prevented"
            | "tool_deferred"
            | "tool_deferred_unavailable" => EndReason::Refused,
            _ => EndReason::Completed,
        }
    }
}
