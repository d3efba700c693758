//! The `## Progress` and `## Metadata` blocks that some files carry, kept in
//! step with the boxes (TASK-11).

use std::ops::Range;

use super::format::Format;
use super::markdown::{self, Line};
use super::model::{Counts, Scope, TaskList};

const NOT_STARTED: &str = "NOT_STARTED";
const IN_PROGRESS: &str = "IN_PROGRESS";
const COMPLETED: &str = "COMPLETED";

/// The bytes with `Total`, `Completed` and `Status` as the boxes say, or
/// `None` where there is no such block or it is right already.
///
/// A status that we do not know is left alone, and so is `IN_PROGRESS` before
/// the first tick: somebody has begun.
pub fn sync_progress_block(bytes: &[u8], list: &TaskList) -> Option<Vec<u8>> {
    if list.format == Format::PrdJson {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    let counts = list.counts(&Scope::default());
    let mut synced = text.get(..text.len() - content.len())?.to_owned();
    let mut copied = 0;
    for line in block_lines(content) {
        let Some((span, value)) = correction(line.text, &counts) else {
            continue;
        };
        synced.push_str(content.get(copied..line.start + span.start)?);
        synced.push_str(&value);
        copied = line.start + span.end;
    }
    if copied == 0 {
        return None;
    }
    synced.push_str(content.get(copied..)?);
    Some(synced.into_bytes())
}

fn block_lines(content: &str) -> Vec<Line<'_>> {
    let opens = |heading: &markdown::Heading<'_>| {
        ["progress", "metadata"]
            .iter()
            .any(|name| heading.title.eq_ignore_ascii_case(name))
    };
    // Most lists have none, and what hides lines is not looked for in vain.
    let marks = content.match_indices('#');
    let mut behind = marks.filter_map(|(at, _)| content.get(at..)?.split(['\n', '\r']).next());
    if !behind.any(|line| markdown::heading(line).is_some_and(|heading| opens(&heading))) {
        return Vec::new();
    }
    let mut in_block = false;
    let mut lines = markdown::visible_lines(content).lines;
    lines.retain(|line| {
        if let Some(heading) = markdown::heading(line.text) {
            in_block = opens(&heading);
        }
        in_block
    });
    lines
}

/// The part of a bullet that is out of step, and what should stand there.
fn correction(line: &str, counts: &Counts) -> Option<(Range<usize>, String)> {
    let bullet = line.trim_start().strip_prefix(['-', '*', '+'])?;
    let (key, value) = bullet.split_once(':')?;
    let value = value.trim_start_matches(|c: char| c.is_whitespace() || c == '*');
    let word_length = value
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count();
    let word = value.get(..word_length)?;
    let wanted = match key.trim_matches(|c: char| c.is_whitespace() || c == '*') {
        "Total" => right_number(word, counts.total)?,
        "Completed" => right_number(word, counts.completed)?,
        "Status" => right_status(word, counts)?.to_owned(),
        _ => return None,
    };
    let start = line.len() - value.len();
    (word != wanted).then(|| (start..start + word_length, wanted))
}

fn right_number(word: &str, number: usize) -> Option<String> {
    word.parse::<usize>().ok().map(|_| number.to_string())
}

fn right_status(word: &str, counts: &Counts) -> Option<&'static str> {
    if ![NOT_STARTED, IN_PROGRESS, COMPLETED].contains(&word) {
        return None;
    }
    Some(if counts.pending == 0 {
        COMPLETED
    } else if counts.completed == 0 && word != IN_PROGRESS {
        NOT_STARTED
    } else {
        IN_PROGRESS
    })
}
