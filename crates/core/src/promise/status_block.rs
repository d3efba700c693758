//! The status block of another family of loops, heard as a claim like a tag:
//! lines of `KEY: value` between `---RALPH_STATUS---` and its end.
//!
//! It counts where a tag would. The prompts that ask for it show it in a
//! fence, and agents copy that; so one in a fence counts as well, if nothing
//! else stands in the fence and nothing follows it.

use std::ops::Range;

use super::Promise;
use super::statement::{Given, is_blank_after};
use crate::markdown::Fence;

const START: &str = "---RALPH_STATUS---";
const END: &str = "---END_RALPH_STATUS---";

/// `said` is `text` without code, quotes and comments, of the same length.
pub(super) fn find(text: &str, said: &str) -> Vec<Given> {
    let mut given: Vec<Given> = lines_from(said, 0)
        .filter(|(line, _)| line.trim() == START)
        .filter_map(|(_, range)| read(said, range.start))
        .collect();
    given.extend(in_last_fence(text));
    given
}

/// The block whose first line begins at `at`.
fn read(text: &str, at: usize) -> Option<Given> {
    let mut fields = Fields::default();
    let mut end = at;
    for (line, range) in lines_from(text, at).skip(1) {
        match line.split_once(':') {
            _ if line.trim() == END => {
                end = range.end;
                break;
            }
            Some((key, value)) => fields.take(key.trim(), value.trim()),
            None if line.trim().is_empty() => {}
            None => break,
        }
        end = range.end;
    }
    Some(Given {
        promise: fields.promise()?,
        alone: true,
        start: at,
        line_end: end,
    })
}

fn in_last_fence(text: &str) -> Option<Given> {
    let at = text.get(..text.rfind(START)?)?.rfind('\n')?;
    let opening = text.get(..at)?.rsplit('\n').next()?;
    let fence = Fence::at(opening.trim_start())?;
    let (first, _) = lines_from(text, at + 1).next()?;
    let block = read(text, at + 1).filter(|_| first.trim() == START)?;
    let (line, range) = lines_from(text, block.line_end + 1).next()?;
    let closes = Fence::at(line.trim()).is_some_and(|close| fence.is_closed_by(close));
    (closes && is_blank_after(text, range.end)).then_some(Given {
        line_end: range.end,
        ..block
    })
}

fn lines_from(text: &str, at: usize) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut next = at;
    let rest = text.get(at..).unwrap_or_default();
    rest.split('\n').map(move |line| {
        let range = next..next + line.len();
        next = range.end + 1;
        (line, range)
    })
}

#[derive(Default)]
struct Fields<'t> {
    status: &'t str,
    exit: &'t str,
    recommendation: &'t str,
}

impl<'t> Fields<'t> {
    fn take(&mut self, key: &str, value: &'t str) {
        match key {
            "STATUS" => self.status = value,
            "EXIT_SIGNAL" => self.exit = value,
            "RECOMMENDATION" => self.recommendation = value,
            _ => {}
        }
    }

    /// The exit signal decides whether it claims to be done, the status only
    /// where there is none. `IN_PROGRESS | COMPLETE` shows the form, and says
    /// nothing.
    fn promise(&self) -> Option<Promise> {
        let exit = self.exit.to_ascii_lowercase();
        match (self.status, exit.as_str()) {
            ("BLOCKED", _) => Some(Promise::Blocked(self.recommendation.to_owned())),
            (_, "true") => Some(Promise::Complete("EXIT_SIGNAL: true".into())),
            ("COMPLETE", "") => Some(Promise::Complete("STATUS: COMPLETE".into())),
            (_, "false") | ("IN_PROGRESS" | "COMPLETE", _) => Some(Promise::Continue),
            _ => None,
        }
    }
}
