//! What stands behind a box: id, `[P]`, `[US1]`, description, dependencies
//! and `| key: value` fields (TASK-05, TASK-07, TASK-08).

use std::borrow::Cow;

use super::format::Format;
use super::markdown::code_spans;
use super::model::Task;
use crate::config::nearest;
use crate::text;

/// Fills in everything about the task that its own line says.
pub(super) fn describe(task: &mut Task, format: Format, raw: &str) {
    let (description, fields) = split_fields(format, raw);
    for (key, value) in fields {
        set_field(task, key, value);
    }
    let mut rest = description.trim();
    let mut opens_bold = false;
    if let Some((token, id)) = leading_id(format, rest) {
        task.id = id.to_owned();
        task.has_own_id = true;
        opens_bold = token.starts_with("**") && !token.ends_with("**");
        rest = rest.get(token.len()..).unwrap_or_default().trim_start();
    }
    // A list without phases is spec-kit's all the same, where its ids are.
    if format == Format::SpecKit || (format == Format::Plain && task.has_own_id) {
        rest = take_labels(task, rest);
    }
    add_depends_in_parentheses(&mut task.depends, rest);
    task.text = if opens_bold {
        format!("**{rest}")
    } else {
        rest.to_owned()
    };
}

/// Names in a list such as `1.1, 1.2` or `Phase 2`.
pub(super) fn names_in(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    add_names_in(&mut names, list);
    names
}

fn add_names_in(names: &mut Vec<String>, list: &str) {
    add_names(
        names,
        list.split([',', '、', '，', ' ', '\t', ';'])
            .map(|name| name.trim_matches(['`', '*', '[', ']', '(', ')']))
            .filter(|name| !is_nothing(name)),
    );
}

fn add_names<'a>(names: &mut Vec<String>, more: impl IntoIterator<Item = &'a str>) {
    for name in more {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
}

/// Words that name nothing: `depends: none`, `depends: Phase 1 and 2`.
fn is_nothing(name: &str) -> bool {
    name.is_empty()
        || [
            "none", "-", "n/a", "無", "无", "phase", "and", "&", "和", "與", "与",
        ]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word))
}

const KNOWN_KEYS: [&str; 8] = [
    "agent", "files", "output", "depends", "risk", "verify", "proof", "may-change",
];

/// Splits `text | key: value | …`. Only OpenSpec files may carry fields that
/// we don't know; elsewhere such a `|` is part of the sentence.
fn split_fields(format: Format, raw: &str) -> (Cow<'_, str>, Vec<(&str, &str)>) {
    if !raw.contains('|') {
        return (Cow::Borrowed(raw), Vec::new());
    }
    let mut parts = split_at_pipes(raw).into_iter();
    let mut description = parts.next().unwrap_or_default().to_owned();
    let mut fields = Vec::new();
    for part in parts {
        match field(part) {
            Some((key, value)) if format == Format::OpenSpec || is_known(key) => {
                fields.push((key, value));
            }
            _ => {
                description.push('|');
                description.push_str(part);
            }
        }
    }
    (Cow::Owned(description), fields)
}

/// Fields of a task that are none, since they are called a letter or two
/// otherwise; what they were meant to be stands beside them.
pub(super) fn misspelt(text: &str) -> Vec<(String, &'static str)> {
    let parts = split_at_pipes(text).into_iter().skip(1);
    let keys = parts.filter_map(|part| Some(field(part)?.0));
    let meant = keys.filter_map(|key| Some((key.to_owned(), nearest(key, KNOWN_KEYS)?)));
    meant.collect()
}

pub(super) fn is_known(key: &str) -> bool {
    KNOWN_KEYS
        .iter()
        .any(|known| key.eq_ignore_ascii_case(known))
}

fn field(part: &str) -> Option<(&str, &str)> {
    let (key, value) = part.split_once([':', '：'])?;
    let key = key.trim();
    let is_word = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    is_word.then(|| (key, value.trim()))
}

/// Splits at every `|` that does not stand in inline code.
fn split_at_pipes(raw: &str) -> Vec<&str> {
    let spans = code_spans(raw);
    let mut spans = spans.iter().peekable();
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in raw.match_indices('|') {
        while spans.next_if(|(_, end)| *end <= at).is_some() {}
        if spans
            .peek()
            .is_some_and(|(span_start, _)| *span_start <= at)
        {
            continue;
        }
        parts.extend(raw.get(start..at));
        start = at + 1;
    }
    parts.extend(raw.get(start..));
    parts
}

fn set_field(task: &mut Task, key: &str, value: &str) {
    match key.to_ascii_lowercase().as_str() {
        "agent" => task.agent = some_text(value),
        "output" => task.output = some_text(value),
        "files" => task.files.extend(
            value
                .split([',', '、', '，'])
                .map(|file| file.trim().trim_matches('`').to_owned())
                .filter(|file| !file.is_empty()),
        ),
        "depends" => add_names_in(&mut task.depends, value),
        "verify" => match command_of(value) {
            Some(command) => task.verify.push(command),
            None => task.fields.push((key.to_owned(), String::new())),
        },
        _ => task.fields.push((key.to_owned(), value.to_owned())),
    }
}

/// The command of a line `verify: …` of its own, also as a list item. The
/// word is written small, so that a sentence that begins with it is no
/// command.
pub(super) fn check_line(line: &str) -> Option<String> {
    let text = line.trim();
    let text = ["- ", "* ", "+ "]
        .iter()
        .find_map(|marker| text.strip_prefix(marker))
        .unwrap_or(text);
    command_of(text.trim_start().strip_prefix("verify:")?)
}

/// A command may stand in backticks, so that it can hold a `|`.
pub(super) fn command_of(value: &str) -> Option<String> {
    let value = value.trim();
    let bare = value
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'))
        .unwrap_or(value);
    some_text(bare.trim()).filter(|command| !text::runs_nothing(command))
}

fn some_text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

/// The first word and the id in it, also as `**T001**`, `[T001]`, `T001:` or
/// `1.1.`.
fn leading_id(format: Format, text: &str) -> Option<(&str, &str)> {
    let token = text.split_whitespace().next()?;
    let id = token.trim_matches(['*', '[', ']', '`', ':', '：', '.', ')']);
    is_id(format, id).then_some((token, id))
}

/// `T001` everywhere; `1.1` where the format numbers its tasks that way. In
/// free text, `T5` and `2.4` are more often part of the sentence.
fn is_id(format: Format, token: &str) -> bool {
    match format {
        Format::SpecKit | Format::OpenSpec => is_t_number(token, 1) || is_dotted(token),
        Format::FixPlan | Format::Plain => is_t_number(token, 3),
        Format::PrdJson => false,
    }
}

fn is_t_number(token: &str, least_digits: usize) -> bool {
    token
        .strip_prefix('T')
        .is_some_and(|digits| digits.len() >= least_digits && is_number(digits))
}

fn is_dotted(token: &str) -> bool {
    token.contains('.') && token.split('.').all(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes `[P]` and `[US1]` off the beginning, in any order.
fn take_labels<'a>(task: &mut Task, text: &'a str) -> &'a str {
    let mut rest = text;
    loop {
        let Some((label, after)) = rest
            .strip_prefix('[')
            .and_then(|inside| inside.split_once(']'))
        else {
            return rest;
        };
        if label == "P" {
            task.parallel = true;
        } else if label.strip_prefix("US").is_some_and(is_number) {
            task.story = Some(label.to_owned());
        } else {
            return rest;
        }
        rest = after.trim_start();
    }
}

/// Adds the ids in every `(depends on T012, T013)`.
fn add_depends_in_parentheses(names: &mut Vec<String>, text: &str) {
    const PHRASE: &str = "depends on";
    for inside in text.split('(').skip(1) {
        let Some((phrase, rest)) = inside.split_at_checked(PHRASE.len()) else {
            continue;
        };
        if !phrase.eq_ignore_ascii_case(PHRASE) {
            continue;
        }
        let list = rest.split(')').next().unwrap_or(rest);
        let words = list.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let ids = words
            .map(|word| word.trim_matches('.'))
            .filter(|word| is_t_number(word, 1) || is_dotted(word));
        add_names(names, ids);
    }
}
