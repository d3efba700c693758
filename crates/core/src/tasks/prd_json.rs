//! snarktank's `prd.json` (TASK-13), read with the place of every `passes`.
//!
//! serde_json says whether the text is valid and, if not, where it breaks. A
//! small scanner then walks over the valid text and keeps byte ranges, so
//! that ticking a story changes one literal and nothing else.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::error::TaskError;
use super::format::Format;
use super::model::{Task, TaskList};

pub(super) fn read(file: &str, text: &str) -> Result<TaskList, TaskError> {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return Err(bad_json(file, text, &error));
    }
    let whole = Scanner { text, at: 0 }.value();
    let stories = last_member(text, &whole, "userStories")
        .filter(|span| starts_with(text, span, '['))
        .ok_or_else(|| TaskError::NoStories {
            file: file.to_owned(),
        })?;
    let mut lines = LineCounter {
        text,
        at: 0,
        line: 1,
    };
    let mut tasks = Vec::new();
    for span in elements(text, &stories) {
        let line = lines.line_of(span.start);
        if !starts_with(text, &span, '{') {
            return Err(TaskError::BadStory {
                file: file.to_owned(),
                line,
            });
        }
        tasks.push(story(text, &span, line, tasks.len() + 1));
    }
    Ok(TaskList {
        format: Format::PrdJson,
        tasks,
        phases: Vec::new(),
        file: file.to_owned(),
        doubts: Vec::new(),
        fingerprint: 0,
    })
}

/// The bytes of each story, for whoever adds one.
pub(super) fn story_spans(text: &str) -> Option<Vec<Range<usize>>> {
    let whole = Scanner { text, at: 0 }.value();
    let stories = last_member(text, &whole, "userStories")?;
    starts_with(text, &stories, '[').then(|| elements(text, &stories))
}

/// The bytes of a story's title.
pub(super) fn title_span(text: &str, story: usize) -> Option<Range<usize>> {
    let spans = story_spans(text)?;
    last_member(text, spans.get(story)?, "title")
}

fn bad_json(file: &str, text: &str, error: &serde_json::Error) -> TaskError {
    let line = error.line();
    let before: usize = text
        .split_inclusive('\n')
        .nth(line.saturating_sub(1))
        .and_then(|line| line.get(..error.column()))
        .map_or(error.column(), |before| before.chars().count());
    let message = error.to_string();
    let place = format!(" at line {line} column {}", error.column());
    TaskError::BadJson {
        file: file.to_owned(),
        line,
        column: before,
        message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
    }
}

fn story(text: &str, span: &Range<usize>, line: usize, position: usize) -> Task {
    let mut task = Task {
        id: format!("#{position}"),
        line,
        ..Task::default()
    };
    let mut description = None;
    // As in serde_json and JavaScript, the last of two equal keys counts.
    for (key, value) in members(text, span) {
        let raw = text.get(value.clone()).unwrap_or_default();
        match key.as_ref() {
            "id" => {
                if let Some(id) = word(raw).filter(|id| !id.is_empty()) {
                    task.id = id;
                    task.has_own_id = true;
                }
            }
            "title" => task.text = word(raw).unwrap_or_default(),
            "description" => description = word(raw),
            "priority" => task.priority = word(raw).and_then(|number| number.parse().ok()),
            "verify" => {
                let commands = words(text, &value, raw).into_iter();
                task.verify = commands
                    .filter_map(|command| super::fields::command_of(&command))
                    .collect();
            }
            "acceptanceCriteria" => task.details = words(text, &value, raw),
            "passes" => {
                task.done = raw == "true";
                task.mark = matches!(raw, "true" | "false").then_some(value);
            }
            _ => {}
        }
    }
    match task.text.is_empty() {
        true => task.text = description.unwrap_or_default(),
        false => task.details.extend(description),
    }
    task
}

/// The text of a string or of an array of strings.
fn words(text: &str, value: &Range<usize>, raw: &str) -> Vec<String> {
    if !raw.starts_with('[') {
        return word(raw).into_iter().collect();
    }
    let all = elements(text, value).into_iter();
    all.filter_map(|span| word(text.get(span)?)).collect()
}

/// The text of a string or a number.
fn word(raw: &str) -> Option<String> {
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str(raw).ok(),
        b'-' | b'0'..=b'9' => Some(raw.to_owned()),
        _ => None,
    }
}

fn starts_with(text: &str, span: &Range<usize>, first: char) -> bool {
    text.get(span.clone())
        .is_some_and(|value| value.starts_with(first))
}

fn last_member(text: &str, object: &Range<usize>, wanted: &str) -> Option<Range<usize>> {
    members(text, object)
        .into_iter()
        .rfind(|(key, _)| key == wanted)
        .map(|(_, value)| value)
}

/// Keys and value ranges of an object; nothing for any other value.
fn members<'a>(text: &'a str, object: &Range<usize>) -> Vec<(Cow<'a, str>, Range<usize>)> {
    let mut members = Vec::new();
    if !starts_with(text, object, '{') {
        return members;
    }
    let mut scanner = Scanner {
        text,
        at: object.start + 1,
    };
    while scanner.next_in_container() == Some(b'"') {
        let key = scanner.value();
        scanner.skip(|byte| byte == b':' || byte.is_ascii_whitespace());
        let value = scanner.value();
        members.push((key_text(text.get(key).unwrap_or_default()), value));
    }
    members
}

/// Ranges of the elements of an array.
fn elements(text: &str, array: &Range<usize>) -> Vec<Range<usize>> {
    let mut elements = Vec::new();
    let mut scanner = Scanner {
        text,
        at: array.start + 1,
    };
    while scanner.next_in_container().is_some_and(|byte| byte != b']') {
        elements.push(scanner.value());
    }
    elements
}

fn key_text(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        return Cow::Owned(serde_json::from_str(raw).unwrap_or_default());
    }
    Cow::Borrowed(raw.trim_matches('"'))
}

/// Walks over JSON that is known to be valid.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, unwanted: impl Fn(u8) -> bool) {
        while self.byte().is_some_and(&unwanted) {
            self.at += 1;
        }
    }

    /// The first byte of the next key or element, or the closing bracket.
    fn next_in_container(&mut self) -> Option<u8> {
        self.skip(|byte| byte == b',' || byte.is_ascii_whitespace());
        self.byte()
    }

    /// Passes over one value and gives its range.
    fn value(&mut self) -> Range<usize> {
        self.skip(|byte| byte.is_ascii_whitespace());
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => self.skip(|byte| {
                    !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
                }),
            }
            if depth == 0 {
                break;
            }
        }
        start..self.at
    }

    fn string(&mut self) {
        self.at += 1;
        loop {
            self.skip(|byte| byte != b'"' && byte != b'\\');
            match self.byte() {
                Some(b'\\') => self.at += 2,
                Some(_) => {
                    self.at += 1;
                    return;
                }
                None => return,
            }
        }
    }
}

/// Line numbers of rising offsets, in one pass over the text.
struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line_of(&mut self, offset: usize) -> usize {
        let between = self
            .text
            .as_bytes()
            .get(self.at..offset)
            .unwrap_or_default();
        self.line += between.iter().filter(|byte| **byte == b'\n').count();
        self.at = offset;
        self.line
    }
}
