//! Why a run can't begin, and what to do about it.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::Unpickable;
use crate::agents::SplitError;

impl Say for Unpickable {
    fn say(&self, lang: Lang) -> String {
        let (file, problem) = (&self.file, self.pick.problem(lang).unwrap_or_default());
        tr!(lang, "{file}: {problem}")
    }
}

pub(super) fn split_error(error: SplitError, lang: Lang) -> String {
    match error {
        SplitError::Empty => tr!(lang, "it is empty"),
        SplitError::OpenQuote(quote) => tr!(lang, "the quote {quote} is never closed"),
        SplitError::TrailingBackslash => {
            tr!(lang, "it ends with a backslash")
        }
    }
}

/// `12.3 MB`, the same in every language.
pub fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// What is no longer as it was when the run stopped.
pub(super) fn drift(branch: Option<&str>, changed: [bool; 3], lang: Lang) -> String {
    let [tasks, files, commit] = changed;
    let on = branch.unwrap_or_default();
    let parts = [
        (branch.is_some(), tr!(lang, "the branch (now {on})")),
        (tasks, tr!(lang, "the task file")),
        (files, tr!(lang, "the files")),
        (commit, tr!(lang, "the commit")),
    ];
    let changed = parts
        .into_iter()
        .filter_map(|(changed, part)| changed.then_some(part));
    changed.collect::<Vec<_>>().join(&tr!(lang, ", "))
}

pub(super) fn list(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}
