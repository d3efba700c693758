//! Finds `<promise>…</promise>` in one pass.

use std::iter;
use std::ops::Range;

/// More than this is no promise but an opening tag that was never closed.
const LONGEST_CONTENT: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub whole: Range<usize>,
    pub content: Range<usize>,
}

/// All closed tags, in order. An opening tag inside a tag starts it anew.
pub(super) fn find(view: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut open: Option<Mark> = None;
    for mark in marks(view) {
        match (mark.closing, open.take()) {
            (false, _) => open = Some(mark),
            (true, Some(start)) => tags.push(Tag {
                whole: start.range.start..mark.range.end,
                content: start.range.end..mark.range.start,
            }),
            (true, None) => {}
        }
    }
    tags.retain(|tag| is_short(view.get(tag.content.clone()).unwrap_or_default()));
    tags
}

/// Where the words begin and end that `range` holds besides its tags; `None`
/// where it holds nothing else.
pub(super) fn words_outside(
    text: &str,
    range: Range<usize>,
    tags: &[Tag],
    is_word: impl Fn(char) -> bool,
) -> Option<Range<usize>> {
    let mut words: Option<Range<usize>> = None;
    let mut at = range.start;
    let edges = tags.iter().map(|tag| tag.whole.clone());
    for tag in edges.chain(iter::once(range.end..range.end)) {
        let gap = text.get(at..tag.start).unwrap_or_default();
        for (offset, part) in without_marks(gap) {
            let (Some(first), Some(last)) = (part.find(&is_word), part.rfind(&is_word)) else {
                continue;
            };
            let start = words.map_or(at + offset + first, |words| words.start);
            words = Some(start..at + offset + last + 1);
        }
        at = tag.end;
    }
    words
}

pub(super) fn has_mark(text: &str) -> bool {
    marks(text).next().is_some()
}

/// The parts of the text around opening and closing tags that belong to no
/// other, each with its place.
fn without_marks(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for mark in marks(text) {
        parts.push((at, text.get(at..mark.range.start).unwrap_or_default()));
        at = mark.range.end;
    }
    parts.push((at, text.get(at..).unwrap_or_default()));
    parts
}

fn is_short(content: &str) -> bool {
    content.chars().nth(LONGEST_CONTENT).is_none()
}

struct Mark {
    range: Range<usize>,
    closing: bool,
}

fn marks(text: &str) -> impl Iterator<Item = Mark> {
    text.match_indices('<').filter_map(|(start, _)| {
        let after = text.get(start + 1..)?;
        let name = after.strip_prefix('/').unwrap_or(after);
        let (head, tail) = name.split_at_checked("promise".len())?;
        if !head.eq_ignore_ascii_case("promise") {
            return None;
        }
        let rest = tail
            .trim_start_matches([' ', '\t', '\n'])
            .strip_prefix('>')?;
        Some(Mark {
            range: start..text.len() - rest.len(),
            closing: name.len() < after.len(),
        })
    })
}
