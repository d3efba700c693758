//! Tells what the agent says from what it repeats of its prompt.

use std::collections::HashSet;

use super::tags;

/// The text without each whole copy of the prompt.
///
/// A prompt of a few plain words is left alone: it cannot be mistaken for a
/// promise, and its words may well occur in the answer. So is one that is
/// nothing but a tag, because that is then the answer asked for.
pub(super) fn cut_prompt(text: String, prompt: &str) -> String {
    let prompt = prompt.trim();
    let misleads = prompt.contains('\n') || tags::has_mark(prompt);
    let says_more_than_tags = || {
        let tags = tags::find(prompt);
        tags::words_outside(prompt, 0..prompt.len(), &tags, char::is_alphanumeric).is_some()
    };
    if misleads && says_more_than_tags() {
        text.replace(prompt, "\n")
    } else {
        text
    }
}

/// The lines of the prompt, to look up whether a line of the text is one.
pub(super) struct PromptLines<'p>(HashSet<&'p str>);

impl<'p> PromptLines<'p> {
    pub(super) fn of(prompt: &'p str) -> Self {
        Self(prompt.lines().map(str::trim).collect())
    }

    pub(super) fn contain_all(&self, lines: &str) -> bool {
        lines.lines().all(|line| self.0.contains(line.trim()))
    }
}
