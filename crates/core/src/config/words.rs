//! The words that errors and warnings share: places, kinds of value, lists.

use toml::Value;

use super::origin::{Origin, Place};
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

pub(super) fn quoted(words: &[String]) -> String {
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
