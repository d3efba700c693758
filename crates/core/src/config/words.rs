//! The words that errors and warnings share: places, kinds of value, lists.

use toml::Value;

use super::origin::{Origin, Place};
use super::schema::Kind;
use crate::lang::{Lang, Say};
use crate::tr;

/// A value that was refused: its type and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub type_: FoundType,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundType {
    Text,
    Number,
    Switch,
    Date,
    List,
    Section,
    Nothing,
}

/// Longer values are cut, so that a message stays readable.
const LONGEST_SHOWN: usize = 60;

impl Found {
    pub(super) fn of(value: &Value) -> Found {
        let type_ = match value {
            Value::String(_) => FoundType::Text,
            Value::Integer(_) | Value::Float(_) => FoundType::Number,
            Value::Boolean(_) => FoundType::Switch,
            Value::Datetime(_) => FoundType::Date,
            Value::Array(_) => FoundType::List,
            Value::Table(_) => FoundType::Section,
        };
        Found::new(type_, &value.to_string())
    }

    pub(super) fn of_json(value: &serde_json::Value) -> Found {
        use serde_json::Value as Json;
        let type_ = match value {
            Json::String(_) => FoundType::Text,
            Json::Number(_) => FoundType::Number,
            Json::Bool(_) => FoundType::Switch,
            Json::Array(_) => FoundType::List,
            Json::Object(_) => FoundType::Section,
            Json::Null => FoundType::Nothing,
        };
        Found::new(type_, &value.to_string())
    }

    /// A number that no integer can hold, as it is written.
    pub(super) fn beyond_reason(text: &str) -> Found {
        Found::new(FoundType::Number, text)
    }

    fn new(type_: FoundType, text: &str) -> Found {
        let line = text.replace(['\n', '\r'], " ");
        let mut shown: String = line.chars().take(LONGEST_SHOWN).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        Found { type_, text: shown }
    }
}

impl Say for Found {
    fn say(&self, lang: Lang) -> String {
        let text = &self.text;
        match self.type_ {
            FoundType::Text => tr!(lang, "the text {text}"),
            FoundType::Number => tr!(lang, "the number {text}"),
            FoundType::Switch | FoundType::Nothing => tr!(lang, "{text}"),
            FoundType::Date => tr!(lang, "the date {text}"),
            FoundType::List => tr!(lang, "the list {text}"),
            FoundType::Section => tr!(lang, "a section"),
        }
    }
}

impl Say for Kind {
    fn say(&self, lang: Lang) -> String {
        match self {
            Kind::Text => tr!(lang, "a text in quotes"),
            Kind::Count { at_least } => tr!(lang, "a whole number, {at_least} or more"),
            Kind::Switch => tr!(lang, "true or false"),
            Kind::List => tr!(lang, "a list of texts such as [\"a\", \"b\"]"),
            Kind::Duration => tr!(
                lang,
                "a duration with a unit, such as \"90s\", \"30m\" or \"12h\" (\"0\" is off)"
            ),
            Kind::Size => tr!(
                lang,
                "a size with a unit, such as \"500KB\" or \"10MB\" (\"0\" is off)"
            ),
            Kind::Money => tr!(
                lang,
                "an amount with its currency, such as \"20usd\" or \"$0.50\" (\"0\" is off)"
            ),
            Kind::CountOrPercent => tr!(
                lang,
                "a whole number such as 15 or a percentage such as \"75%\""
            ),
            Kind::OneOf(words) => {
                let words = quoted(words);
                tr!(lang, "one of {words}")
            }
            Kind::AnyOf(words) => {
                let words = quoted(words);
                tr!(lang, "a list of any of {words}")
            }
            Kind::Assignments => tr!(lang, "a list such as [\"NAME=value\"]"),
            Kind::GuardModes => tr!(
                lang,
                "a list such as [\"git.reset-hard=ask\"], with block, ask or warn"
            ),
            Kind::GuardRules => tr!(
                lang,
                "[[guard.rules]] with id, program, and where wanted args, paths, reason, hint, mode (block, ask or warn), match, not_match"
            ),
        }
    }
}

fn quoted(words: &[String]) -> String {
    let shown: Vec<String> = words
        .iter()
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{word}\""))
        .collect();
    shown.join(", ")
}

impl Say for Place {
    fn say(&self, lang: Lang) -> String {
        match &self.origin {
            Origin::Default => tr!(lang, "the default"),
            Origin::Preset(name) => {
                tr!(lang, "preset \"{name}\"")
            }
            Origin::Env(name) => tr!(lang, "environment variable {name}"),
            Origin::Flag(name) => tr!(lang, "flag {name}"),
            Origin::Foreign(name) | Origin::File(name) => say_line(name, self.line, lang),
        }
    }
}

/// A file and, where it is known, the line.
pub(super) fn say_line(file: &str, line: Option<usize>, lang: Lang) -> String {
    match line {
        Some(line) => tr!(lang, "{file} line {line}"),
        None => file.to_owned(),
    }
}

/// " Did you mean …?", or nothing; with the space that sets it off in English.
pub(super) fn did_you_mean(name: Option<&str>, lang: Lang) -> String {
    name.map_or_else(String::new, |name| tr!(lang, " Did you mean \"{name}\"?"))
}
