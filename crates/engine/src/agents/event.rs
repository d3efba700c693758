//! What an agent tells while it works, and what was heard of it in the end.

use ralph_core::governor::{ErrorClass, Failure, LimitEvent, judge};
use ralph_core::machine::Refusal;
use ralph_core::usage::{Tokens, Usage};

/// Something that a stream said. Texts are shortened: they are for people who
/// watch, what counts is in [`Heard`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    SessionStarted {
        session: String,
        model: Option<String>,
    },
    /// The assistant speaks; `main` is false for a subagent.
    Text {
        text: String,
        main: bool,
    },
    /// A line that belongs to no stream: a warning, or the words of a client
    /// that knows of none.
    Prose(String),
    ToolCall {
        id: String,
        name: String,
        summary: String,
    },
    ToolResult {
        id: String,
        ok: bool,
        /// It is sure that the tool ran, however that ended.
        ran: bool,
    },
    Denied(Denial),
    /// Used up since the last such event.
    Usage(Usage),
    Limit(LimitEvent),
    /// The client tries a call again by itself.
    Retry {
        attempt: Option<u64>,
        reason: String,
    },
    Error(AgentError),
    /// The client said how the turn went; another such event may follow.
    Result {
        ok: bool,
    },
}

/// Receives what a stream says, as it says it.
pub type Tell<'a> = &'a mut dyn FnMut(AgentEvent);

/// A tool call that was not let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub id: String,
    pub tool: String,
    pub reason: String,
}

/// The client's own word that the turn failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentError {
    pub class: ErrorClass,
    /// The HTTP status of the call that failed.
    pub status: Option<u16>,
    /// In the client's words; empty where it said nothing.
    pub message: String,
}

/// Why the turn ended, as far as the stream tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndReason {
    /// Nothing told how it went.
    #[default]
    CutOff,
    Completed,
    Failed,
    MaxTurns,
    Budget,
    Interrupted,
    /// A hook, or a permission that nobody gave, ended it.
    Refused,
}

/// What was heard of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The final assistant text: the only place where a promise counts. Empty
    /// where the turn failed.
    pub text: String,
    pub session_id: Option<String>,
    pub model: Option<String>,
    /// What this turn used up.
    pub usage: Usage,
    /// What the whole session used up, where the client counts on over a
    /// resume: to be handed over with the next one.
    pub session_usage: Usage,
    pub tool_calls: u64,
    /// The first of them.
    pub denials: Vec<Denial>,
    pub error: Option<AgentError>,
    /// The client said that a limit is reached.
    pub limit: Option<LimitEvent>,
    pub end_reason: EndReason,
}

/// More are not kept.
const MAX_DENIALS: usize = 100;

impl Heard {
    /// Why the service would not do the work of a turn that failed: from the client's own
    /// channels only, never from what the assistant or a tool said. `stderr` is
    /// the client's error output.
    pub fn refusal(&self, stderr: &str, now_ms: i64, zone: &str) -> Option<Refusal> {
        let unknown = AgentError::default();
        let error = self.error.as_ref().unwrap_or(&unknown);
        judge(
            &Failure {
                class: error.class,
                status: error.status,
                event: self.limit.as_ref(),
                words: &[&error.message, stderr],
            },
            now_ms,
            zone,
        )
    }

    pub(super) fn started(&mut self, session: &str, model: Option<&str>, tell: Tell<'_>) {
        if session.is_empty() || self.session_id.as_deref() == Some(session) {
            return;
        }
        self.session_id = Some(shortened(session, ID));
        if let Some(model) = model {
            self.model = Some(shortened(model, ID));
        }
        tell(AgentEvent::SessionStarted {
            session: shortened(session, ID),
            model: self.model.clone(),
        });
    }

    pub(super) fn tool_call(&mut self, id: &str, name: &str, summary: &str, tell: Tell<'_>) {
        self.tool_calls += 1;
        tell(AgentEvent::ToolCall {
            id: shortened(id, ID),
            name: shortened(name, ID),
            summary: one_line(summary),
        });
    }

    /// The same denial may be told twice: when it happens and at the end.
    pub(super) fn denied(&mut self, id: &str, tool: &str, reason: &str, tell: Tell<'_>) {
        let known = |denial: &Denial| denial.id == id && !id.is_empty();
        if self.denials.iter().any(known) {
            return;
        }
        let denial = Denial {
            id: shortened(id, ID),
            tool: shortened(tool, ID),
            reason: shortened(reason, MESSAGE),
        };
        tell(AgentEvent::Denied(denial.clone()));
        if self.denials.len() < MAX_DENIALS {
            self.denials.push(denial);
        }
    }

    pub(super) fn spent(&mut self, tokens: Tokens, tell: Tell<'_>) {
        let before = self.usage.tokens.unwrap_or_default();
        self.usage.tokens = Some(before.plus(tokens));
        tell(AgentEvent::Usage(Usage {
            tokens: Some(tokens),
            ..Usage::default()
        }));
    }

    pub(super) fn failed(&mut self, error: AgentError, end: EndReason, tell: Tell<'_>) {
        tell(AgentEvent::Error(error.clone()));
        self.error = Some(error);
        self.end_reason = end;
    }

    /// What is left when the stream is over.
    pub(super) fn closed(mut self) -> Heard {
        if self.end_reason == EndReason::CutOff && self.error.is_none() {
            self.error = Some(AgentError {
                class: ErrorClass::NoResult,
                ..AgentError::default()
            });
        }
        if self.error.is_some() {
            self.text.clear();
        }
        if self.end_reason == EndReason::CutOff && self.usage != Usage::default() {
            self.usage.at_least = true;
        }
        self
    }
}

impl AgentError {
    pub(super) fn new(class: ErrorClass, message: &str) -> AgentError {
        AgentError {
            class,
            status: None,
            message: shortened(message, MESSAGE),
        }
    }

    /// An error that is told in prose: its status is read from it.
    pub(super) fn in_words(message: &str) -> AgentError {
        let lower = message.to_lowercase();
        let status = status_in(&lower);
        let says = |words: &str| lower.contains(words);
        let class = match status {
            _ if says("context window") || says("prompt is too long") => ErrorClass::ContextTooLong,
            Some(401) => ErrorClass::Auth,
            Some(402) => ErrorClass::Billing,
            Some(429) => ErrorClass::RateLimit,
            Some(503 | 529) => ErrorClass::Overloaded,
            Some(500..=599) => ErrorClass::Server,
            Some(400 | 413 | 422) => ErrorClass::InvalidRequest,
            _ => ErrorClass::Unknown,
        };
        AgentError {
            status,
            ..AgentError::new(class, message)
        }
    }
}

/// `status 401`, `status: 429`, `"code":429`.
fn status_in(text: &str) -> Option<u16> {
    ["status", "code"].iter().find_map(|key| {
        text.match_indices(key).find_map(|(at, _)| {
            let rest = text[at + key.len()..].trim_start_matches(['"', ':', ' ', '=']);
            let digits = rest.get(..3)?;
            let more = rest[3..].starts_with(|c: char| c.is_ascii_alphanumeric());
            let status = digits.parse().ok()?;
            (!more && (400..600).contains(&status)).then_some(status)
        })
    })
}

/// Longest names, messages and texts that are kept, in bytes.
pub(super) const ID: usize = 200;
pub(super) const MESSAGE: usize = 4 * 1024;
pub(super) const TEXT: usize = 256 * 1024;

/// The beginning of a text, cut between characters.
pub(super) fn shortened(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes.min(text.len()))].to_owned()
}

/// The end of a text: a promise stands there.
pub(super) fn ending(text: &str) -> &str {
    let from = text.len().saturating_sub(TEXT);
    &text[text.ceil_char_boundary(from)..]
}

fn one_line(text: &str) -> String {
    shortened(text.trim().lines().next().unwrap_or_default(), ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_from_prose() {
        for (text, want) in [
            ("unexpected status 401 unauthorized", Some(401)),
            ("last status: 429 too many", Some(429)),
            (r#"{"error":{"code":503,"x":1}}"#, Some(503)),
            ("exit code 1", None),
            ("status 4290", None),
            ("status 200", None),
            ("code é", None),
            ("", None),
        ] {
            assert_eq!(status_in(text), want, "{text}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shortened("aé", 2), "a");
        assert_eq!(shortened("aé", 9), "aé");
        let long = "é".repeat(TEXT);
        assert_eq!(ending(&long).len(), TEXT);
        assert_eq!(ending("short"), "short");
        assert_eq!(one_line("\n  first \nsecond"), "first ");
    }

    #[test]
    fn a_limit_is_heard_in_the_client_s_own_channels_only() {
        let words = "You've hit your usage limit, resets 5pm (UTC)";
        let mut heard = Heard {
            text: words.into(),
            ..Heard::default()
        };
        assert_eq!(heard.refusal("", 0, "UTC"), None);
        assert!(heard.refusal(words, 0, "UTC").is_some());
        heard.error = Some(AgentError::in_words(words));
        assert!(heard.refusal("", 0, "UTC").is_some());
        heard.error = Some(AgentError::default());
        assert!(heard.refusal(words, 0, "UTC").is_some());
    }
}
