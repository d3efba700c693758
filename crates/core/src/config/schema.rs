//! What settings there are, read from the commented default configuration.
//!
//! The file is the only list of keys: a key that is not in it is unknown, and
//! the value it has there gives its type. Where the type of the value says too
//! little, a line of the comment above it says the rest: `Type: duration`,
//! `One of: menu, pause, stop`, `Any of: tasks, phase`, `At least: 1`. A line
//! `Trust: asked` says that a project can't set it without a person's word.

use crate::lang::Say;
use std::sync::OnceLock;

use serde::Deserialize;
use toml::Value;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::words::quoted;
use super::{guard, units};

/// The commented default configuration, which is also the reference page.
pub const REFERENCE: &str = include_str!("default.toml");

/// What a setting's value has to be.
#[derive(Debug, Clone, PartialEq, Say)]
pub enum Kind {
    #[say("a text in quotes")]
    Text,
    #[say("a whole number, {at_least} or more")]
    Count { at_least: u32 },
    #[say("true or false")]
    Switch,
    #[say("a list of texts such as [\"a\", \"b\"]")]
    List,
    #[say("a duration with a unit, such as \"90s\", \"30m\" or \"12h\" (\"0\" is off)")]
    Duration,
    #[say("a size with a unit, such as \"500KB\" or \"10MB\" (\"0\" is off)")]
    Size,
    #[say("an amount with its currency, such as \"20usd\" or \"$0.50\" (\"0\" is off)")]
    Money,
    #[say("a whole number such as 15 or a percentage such as \"75%\"")]
    CountOrPercent,
    /// The empty word is among them where the default leaves the choice open.
    #[say("one of {words}", words = quoted(_0))]
    OneOf(Vec<String>),
    #[say("a list of any of {words}", words = quoted(_0))]
    AnyOf(Vec<String>),
    /// A list of `NAME=value`.
    #[say("a list such as [\"NAME=value\"]")]
    Assignments,
    /// A list of `RULE=mode`.
    #[say("a list such as [\"git.reset-hard=ask\"], with block, ask or warn")]
    GuardModes,
    /// Rules of the guard, each a table.
    #[say(
        "[[guard.rules]] with id, program, and where wanted args, paths, reason, hint, mode (block, ask or warn), match, not_match"
    )]
    GuardRules,
}

/// What a project may do with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// Set it.
    #[default]
    Free,
    /// Set it once a person has said so.
    Asked,
    /// A path: inside the project it is free.
    AskedOutside,
}

impl Trust {
    fn of(comment: &str) -> Trust {
        let note = comment
            .lines()
            .find_map(|line| line.strip_prefix("Trust: "));
        match note {
            None => Trust::Free,
            Some("asked outside the project") => Trust::AskedOutside,
            Some(_) => Trust::Asked,
        }
    }
}

/// One setting: its dotted name, kind, default and explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub name: String,
    pub kind: Kind,
    pub default: Value,
    pub comment: String,
    pub trust: Trust,
}

/// All settings, in the order of the reference page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    keys: Vec<Key>,
}

impl Schema {
    /// The settings of Ralph Loop.
    pub fn get() -> &'static Schema {
        static SCHEMA: OnceLock<Schema> = OnceLock::new();
        SCHEMA.get_or_init(|| Schema::read(REFERENCE))
    }

    fn read(text: &str) -> Schema {
        // The text is part of the program, and a test holds it to be without
        // fault, so that there is nobody here to report one to.
        let (document, _) = DeTable::parse_recoverable(text);
        let mut leaves = Vec::new();
        collect_leaves(document.get_ref(), "", &mut leaves);
        leaves.sort_by_key(|(start, _, _)| *start);
        let keys = leaves
            .into_iter()
            .map(|(start, name, default)| {
                let comment = comment_above(text, start);
                let kind = Kind::of(&default, &comment);
                Key {
                    name,
                    kind,
                    default,
                    trust: Trust::of(&comment),
                    comment,
                }
            })
            .collect();
        Schema { keys }
    }

    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter()
    }

    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Whether `name` is a section, such as `limits` or `agent.retry`.
    pub fn has_section(&self, name: &str) -> bool {
        self.keys.iter().any(|key| {
            key.name
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// The known key or section that `name` is most likely meant to be.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let sections = self.keys.iter().filter_map(|key| section_of(&key.name));
        let names = self.keys.iter().map(|key| key.name.as_str());
        super::nearest::nearest(name, names.chain(sections))
    }
}

/// The section of a dotted name: `agent.retry` of `agent.retry.max`.
pub(super) fn section_of(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(section, _)| section)
}

impl Kind {
    fn of(default: &Value, comment: &str) -> Kind {
        let note = |label: &str| comment.lines().find_map(|line| line.strip_prefix(label));
        let words = |list: &str| list.split(", ").map(str::to_owned).collect::<Vec<_>>();
        if let Some(list) = note("One of: ") {
            let unset = default.as_str().filter(|text| text.is_empty());
            return Kind::OneOf(
                words(list)
                    .into_iter()
                    .chain(unset.map(str::to_owned))
                    .collect(),
            );
        }
        if let Some(list) = note("Any of: ") {
            return Kind::AnyOf(words(list));
        }
        match note("Type: ") {
            Some("duration") => return Kind::Duration,
            Some("size") => return Kind::Size,
            Some("money") => return Kind::Money,
            Some("number or percentage") => return Kind::CountOrPercent,
            Some("NAME=value list") => return Kind::Assignments,
            Some("RULE=mode list") => return Kind::GuardModes,
            Some("list of rules") => return Kind::GuardRules,
            _ => {}
        }
        match default {
            Value::Integer(_) => Kind::Count {
                at_least: note("At least: ")
                    .and_then(|least| least.parse().ok())
                    .unwrap_or(0),
            },
            Value::Boolean(_) => Kind::Switch,
            Value::Array(_) => Kind::List,
            _ => Kind::Text,
        }
    }

    /// The value if it is of this kind, as it is to be kept.
    pub(super) fn accept(&self, value: &Value) -> Option<Value> {
        if matches!(self, Kind::Duration | Kind::Size | Kind::Money) && *value == Value::Integer(0)
        {
            return Some(Value::String("0".to_owned()));
        }
        self.fits(value).then(|| value.clone())
    }

    fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Text, Value::String(_)) | (Kind::Switch, Value::Boolean(_)) => true,
            (Kind::Count { at_least }, Value::Integer(number)) => {
                u32::try_from(*number).is_ok_and(|number| number >= *at_least)
            }
            (Kind::Duration, Value::String(text)) => units::parse_duration(text).is_some(),
            (Kind::Size, Value::String(text)) => units::parse_size(text).is_some(),
            (Kind::Money, Value::String(text)) => units::parse_money(text).is_some(),
            (Kind::CountOrPercent, Value::Integer(number)) => u32::try_from(*number).is_ok(),
            (Kind::CountOrPercent, Value::String(text)) => units::parse_percent(text).is_some(),
            (Kind::OneOf(allowed), Value::String(text)) => allowed.contains(text),
            (Kind::List, Value::Array(items)) => all_texts(items, |_| true),
            (Kind::AnyOf(allowed), Value::Array(items)) => {
                all_texts(items, |text| allowed.iter().any(|word| word == text))
            }
            (Kind::Assignments, Value::Array(items)) => {
                all_texts(items, |text| split_assignment(text).is_some())
            }
            (Kind::GuardModes, Value::Array(items)) => {
                all_texts(items, |text| guard::mode_of(text).is_some())
            }
            (Kind::GuardRules, Value::Array(_)) => guard::rules_of(value).is_some(),
            _ => false,
        }
    }

    /// The value that a text from the environment or the command line stands
    /// for. A text that makes no sense stays a text, for [`Kind::accept`] to
    /// refuse.
    pub(super) fn value_of_text(&self, text: &str) -> Value {
        let as_text = || Value::String(text.to_owned());
        match self {
            Kind::Count { .. } | Kind::CountOrPercent => text
                .trim()
                .parse()
                .map_or_else(|_| as_text(), Value::Integer),
            Kind::Switch => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Boolean(true),
                "false" | "0" | "no" | "off" => Value::Boolean(false),
                _ => as_text(),
            },
            Kind::List | Kind::Assignments | Kind::GuardModes | Kind::GuardRules => {
                list_literal(text).unwrap_or_else(|| Value::Array(vec![as_text()]))
            }
            Kind::AnyOf(_) => list_literal(text).unwrap_or_else(|| {
                text.split(',')
                    .map(|word| Value::String(word.trim().to_owned()))
                    .collect::<Vec<_>>()
                    .into()
            }),
            Kind::Text | Kind::Duration | Kind::Size | Kind::Money | Kind::OneOf(_) => as_text(),
        }
    }

    /// The allowed words nearest to what was written, for a choice.
    pub(super) fn nearest_choice(&self, value: &Value) -> Option<&str> {
        let (Kind::OneOf(allowed) | Kind::AnyOf(allowed)) = self else {
            return None;
        };
        let written = match value {
            Value::String(text) => text.as_str(),
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .find(|text| !allowed.iter().any(|word| word == text))?,
            _ => return None,
        };
        super::nearest::nearest(written, allowed.iter().map(String::as_str))
    }
}

/// The name and the value of `NAME=value`.
pub(super) fn split_assignment(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| !name.is_empty())
}

fn all_texts(items: &[Value], allowed: impl Fn(&str) -> bool) -> bool {
    items.iter().all(|item| item.as_str().is_some_and(&allowed))
}

fn list_literal(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with('[') {
        return None;
    }
    text.parse::<Value>().ok().filter(Value::is_array)
}

/// A value without its positions; `None` for a number that no integer holds.
pub(super) fn plain_value(value: &toml::Spanned<DeValue<'_>>) -> Option<Value> {
    Value::deserialize(ValueDeserializer::from(value.clone())).ok()
}

fn collect_leaves(table: &DeTable<'_>, prefix: &str, leaves: &mut Vec<(usize, String, Value)>) {
    for (key, value) in table {
        let name = join(prefix, key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect_leaves(inner, &name, leaves),
            _ => leaves.extend(plain_value(value).map(|plain| (key.span().start, name, plain))),
        }
    }
}

/// A name within a section; the document itself has the empty prefix.
pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

/// The comment that stands directly above a position, without its `# `.
fn comment_above(text: &str, position: usize) -> String {
    let before = text.get(..position).unwrap_or_default();
    let mut lines: Vec<&str> = before
        .lines()
        .rev()
        .map_while(|line| line.strip_prefix('#'))
        .map(str::trim)
        .collect();
    lines.reverse();
    lines.join("\n")
}
