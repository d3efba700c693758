//! Judges each tag by the line that it stands on: given, or only talked
//! about.

use std::ops::Range;

use super::Promise;
use super::clean::is_invisible;
use super::echo::PromptLines;
use super::markdown::SHOWN;
use super::rules::CompiledRules;
use super::status_block;
use super::tags::{self, Tag};

/// A promise that the agent made.
pub(super) struct Given {
    pub promise: Promise,
    /// Nothing else is said on its line.
    pub alone: bool,
    pub start: usize,
    pub line_end: usize,
}

/// Everything that the text says with tags, in order.
#[derive(Default)]
pub(super) struct Statements {
    pub given: Vec<Given>,
    pub mentioned: Vec<Promise>,
}

/// `said` is `text` without code, quotes and comments, of the same length.
pub(super) fn judge(text: &str, said: &str, rules: &CompiledRules, prompt: &str) -> Statements {
    let tags = tags::find(said);
    let prompt_lines = PromptLines::of(prompt);
    let mut statements = Statements::default();
    for line in by_line(said, &tags) {
        let words = line.words(said);
        if words.is_some() && prompt_lines.contain_all(slice(text, line.range.clone())) {
            continue;
        }
        let promises = line.promises(text, rules);
        let shown = line.is_table_row(said) || offer_a_choice(&promises);
        for (tag, promise) in promises {
            let talked_about = shown
                || is_placeholder(&promise)
                || (must_be_an_answer(&promise) && is_part_of_prose(said, tag, words.as_ref()));
            if talked_about {
                statements.mentioned.push(promise);
            } else {
                statements.given.push(Given {
                    promise,
                    alone: words.is_none(),
                    start: tag.whole.start,
                    line_end: line.range.end,
                });
            }
        }
    }
    statements.given.extend(status_block::find(text, said));
    statements.given.sort_by_key(|given| given.start);
    statements
}

/// Whether only blank space follows.
pub(super) fn is_blank_after(said: &str, at: usize) -> bool {
    slice(said, at..said.len())
        .chars()
        .all(|c| c.is_whitespace() || is_invisible(c))
}

/// A line with at least one tag; several lines where a tag extends over them.
struct Line<'t> {
    range: Range<usize>,
    tags: &'t [Tag],
}

fn by_line<'t>(said: &str, tags: &'t [Tag]) -> Vec<Line<'t>> {
    tags.chunk_by(|a, b| !slice(said, a.whole.end..b.whole.start).contains('\n'))
        .filter_map(|tags| {
            let (first, last) = (tags.first()?, tags.last()?);
            let before = slice(said, 0..first.whole.start);
            let after = slice(said, last.whole.end..said.len());
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let end = last.whole.end + after.find('\n').unwrap_or(after.len());
            Some(Line {
                range: start..end,
                tags,
            })
        })
        .collect()
}

impl<'t> Line<'t> {
    fn words(&self, said: &str) -> Option<Range<usize>> {
        let start = self.range.start + item_number(slice(said, self.range.clone()));
        tags::words_outside(said, start..self.range.end, self.tags, |c| {
            c.is_alphanumeric() || c == SHOWN
        })
    }

    fn promises(&self, text: &str, rules: &CompiledRules) -> Vec<(&'t Tag, Promise)> {
        let classify = |tag: &'t Tag| {
            let promise = rules.classify(slice(text, tag.content.clone()))?;
            Some((tag, promise))
        };
        self.tags.iter().filter_map(classify).collect()
    }

    /// A table explains the protocol; nobody answers in one.
    fn is_table_row(&self, said: &str) -> bool {
        slice(said, self.range.clone())
            .trim_start()
            .starts_with(['|', '│', '┃', '║'])
    }
}

/// The length of the number of a list item, which is no word of the line.
fn item_number(line: &str) -> usize {
    let number = line.trim_start();
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    match number.as_bytes().get(digits) {
        Some(b'.' | b')') => line.len() - number.len() + digits,
        _ => 0,
    }
}

fn offer_a_choice(promises: &[(&Tag, Promise)]) -> bool {
    promises.windows(2).any(|pair| match pair {
        [(_, a), (_, b)] => a != b,
        _ => false,
    })
}

/// `BLOCKED: [reason]` explains how to be blocked. Nobody checks a claim to
/// be blocked, so this one must not stop a run.
fn is_placeholder(promise: &Promise) -> bool {
    let (Promise::Blocked(reason) | Promise::E2eFailed(reason) | Promise::Question(reason)) =
        promise
    else {
        return false;
    };
    if reason.starts_with("[question]") {
        return true;
    }
    let inner = reason.trim_matches(['[', ']', '<', '>', '{', '}', '(', ')', '…', '.']);
    inner.len() < reason.len() && matches!(inner, "" | "reason" | "REASON" | "原因")
}

/// Going on and a failed test are harmless to believe wherever they stand;
/// the rest must be an answer and not a part of a sentence.
fn must_be_an_answer(promise: &Promise) -> bool {
    promise.stops() || !promise.is_known()
}

/// Whether the sentence goes on after the tag, or leads up to a tag in
/// quotation marks.
fn is_part_of_prose(said: &str, tag: &Tag, words: Option<&Range<usize>>) -> bool {
    let Some(words) = words else {
        return false;
    };
    let before = slice(said, 0..tag.whole.start);
    let after = slice(said, tag.whole.end..said.len());
    let quoted = before.ends_with(['"', '\'', '“', '‘', '「', '『', '«'])
        && after.starts_with(['"', '\'', '”', '’', '」', '』', '»']);
    words.end > tag.whole.end || (quoted && words.start < tag.whole.start)
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}
