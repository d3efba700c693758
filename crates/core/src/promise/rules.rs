//! The agreed texts and how to compare them: one parser, the strings come
//! from the configuration.

use super::Promise;
use super::clean::collapse;

/// Which promise counts where a reply gives several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Conflict {
    /// The last one; but going on beats stopping, unless the stop stands on
    /// its own line at the very end.
    #[default]
    LastWins,
    /// Seed 003's order: completion before blocked before continue.
    FirstClass,
}

impl Conflict {
    pub const ALL: [Conflict; 2] = [Conflict::LastWins, Conflict::FirstClass];

    pub fn from_name(name: &str) -> Option<Conflict> {
        Conflict::ALL.into_iter().find(|c| c.into_str() == name)
    }
}

/// What a question to a person begins with, whatever else was agreed on.
const QUESTION: &str = "QUESTION";

/// The texts that count. All are literal: no pattern has a meaning, and an
/// empty one matches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromiseRules {
    pub complete: Vec<String>,
    pub phase_complete: Vec<String>,
    pub continue_: String,
    pub blocked_prefix: String,
    pub e2e_passed: String,
    pub e2e_failed_prefix: String,
    pub conflict: Conflict,
}

impl Default for PromiseRules {
    fn default() -> Self {
        Self {
            complete: vec!["COMPLETE".into(), "DONE".into()],
            phase_complete: vec!["PHASE COMPLETE".into()],
            continue_: "CONTINUE".into(),
            blocked_prefix: "BLOCKED".into(),
            e2e_passed: "E2E PASSED".into(),
            e2e_failed_prefix: "E2E FAILED".into(),
            conflict: Conflict::default(),
        }
    }
}

impl PromiseRules {
    /// What a text says already that is to claim that work is done. That of
    /// a phase may be listed as one of the whole, too.
    pub fn already_says(&self, text: &str) -> Option<Promise> {
        let rules = PromiseRules {
            complete: Vec::new(),
            phase_complete: Vec::new(),
            ..self.clone()
        };
        rules.compile().classify(text).filter(Promise::is_known)
    }

    pub(super) fn compile(&self) -> CompiledRules {
        let all = |texts: &[String]| texts.iter().map(|text| collapse(text)).collect();
        CompiledRules {
            complete: all(&self.complete),
            phase_complete: all(&self.phase_complete),
            continue_: collapse(&self.continue_),
            blocked_prefix: collapse(&self.blocked_prefix),
            e2e_passed: collapse(&self.e2e_passed),
            e2e_failed_prefix: collapse(&self.e2e_failed_prefix),
        }
    }
}

/// The rules in the form in which promises are compared.
pub(super) struct CompiledRules {
    complete: Vec<String>,
    phase_complete: Vec<String>,
    continue_: String,
    blocked_prefix: String,
    e2e_passed: String,
    e2e_failed_prefix: String,
}

impl CompiledRules {
    /// What a tag's content claims; `None` where it says nothing.
    ///
    /// Where a text is listed twice the narrower class stands: a preset may
    /// list `PHASE COMPLETE` as a completion, and it still ends only a phase.
    pub(super) fn classify(&self, content: &str) -> Option<Promise> {
        let text = collapse(content);
        if text.is_empty() {
            return None;
        }
        Some(if text == self.continue_ {
            Promise::Continue
        } else if self.phase_complete.contains(&text) {
            Promise::PhaseComplete
        } else if text == self.e2e_passed {
            Promise::E2ePassed
        } else if self.complete.contains(&text) {
            Promise::Complete(text)
        } else if let Some(reason) = reason_after(&self.e2e_failed_prefix, &text) {
            Promise::E2eFailed(reason)
        } else if let Some(reason) = reason_after(&self.blocked_prefix, &text) {
            Promise::Blocked(reason)
        } else if let Some(words) = reason_after(QUESTION, &text) {
            Promise::Question(words)
        } else {
            Promise::Unknown(text)
        })
    }
}

/// What follows the prefix, with or without a colon. A prefix that goes on
/// as a longer word (`BLOCKED_BY`, `BLOCKEDNESS`) is another word.
fn reason_after(prefix: &str, text: &str) -> Option<String> {
    if prefix.is_empty() {
        return None;
    }
    let rest = text.strip_prefix(prefix)?;
    let same_word = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if same_word {
        return None;
    }
    let rest = rest.trim_start();
    let reason = rest
        .strip_prefix([':', '：', '-', '–', '—'])
        .unwrap_or(rest);
    Some(reason.trim_start().to_owned())
}
