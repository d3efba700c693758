//! The marks of Markdown that every reader of it in here knows, with the
//! meaning of CommonMark: fences, list markers, code spans, indentation.
//!
//! What a reader makes of them differs on purpose: a task behind a fence that
//! nobody closes still counts, while a promise behind it was only shown.

use std::collections::HashMap;

/// A line of at least three backticks or tildes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) mark: char,
    pub(crate) length: usize,
    /// Nothing else stands on its line, so it can close another.
    pub(crate) is_alone: bool,
}

impl Fence {
    /// The fence that stands at the beginning of a text without indentation.
    pub(crate) fn at(text: &str) -> Option<Fence> {
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = run_length(text, mark);
        let info = text.get(length..)?;
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then(|| Fence {
            mark,
            length,
            is_alone: info.trim().is_empty(),
        })
    }

    pub(crate) fn is_closed_by(self, other: Fence) -> bool {
        other.is_alone && other.mark == self.mark && other.length >= self.length
    }
}

/// The length of the bullet or number at the beginning of a text.
pub(crate) fn list_marker(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => Some(1),
        b'.' | b')' if (1..=9).contains(&digits) => Some(digits + 1),
        _ => None,
    }
}

/// The column of the first character that is not a space or a tab, counted
/// from `column`, and the text from there. Tabs go to the next multiple of
/// four.
pub(crate) fn split_indent(line: &str, mut column: usize) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    for c in line.chars().take(line.len() - text.len()) {
        column += if c == '\t' { 4 - column % 4 } else { 1 };
    }
    (column, text)
}

/// Byte ranges of the inline code of a line: a run of backticks up to the
/// next run of the same length.
pub(crate) fn code_spans(line: &str) -> Vec<(usize, usize)> {
    let mut runs = BacktickRuns::of(line);
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| rest.find('`')) {
        let start = at + found;
        let length = run_length(line.get(start..).unwrap_or_default(), '`');
        let close = runs.next_of(length, start + length);
        at = close.unwrap_or(start) + length;
        if close.is_some() {
            spans.push((start, at));
        }
    }
    spans
}

/// Where the backtick runs of each length start, so that the end of a code
/// span is found without looking at the text again.
pub(crate) struct BacktickRuns {
    /// Last start first.
    starts_by_length: HashMap<usize, Vec<usize>>,
}

impl BacktickRuns {
    pub(crate) fn of(text: &str) -> Self {
        let mut starts_by_length: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find('`')) {
            at += found;
            let length = run_length(text.get(at..).unwrap_or_default(), '`');
            starts_by_length.entry(length).or_default().push(at);
            at += length;
        }
        for starts in starts_by_length.values_mut() {
            starts.reverse();
        }
        Self { starts_by_length }
    }

    /// The first run of this length at or after `from`. Calls come with a
    /// rising `from`, so what lies before it is dropped for good.
    pub(crate) fn next_of(&mut self, length: usize, from: usize) -> Option<usize> {
        let starts = self.starts_by_length.get_mut(&length)?;
        while starts.last().is_some_and(|&start| start < from) {
            starts.pop();
        }
        starts.last().copied()
    }
}

pub(crate) fn run_length(text: &str, mark: char) -> usize {
    text.bytes().take_while(|&b| char::from(b) == mark).count()
}
