//! What a person should know about how a promise was given.

use std::collections::HashSet;

use super::Promise;
use super::statement::Statements;
use crate::lang::Say;

/// More of the same would only hide the first ones.
const MOST_WARNINGS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum PromiseWarning {
    /// The text gives promises that exclude each other.
    #[say("the agent gave two promises that exclude each other: <promise>{chosen}</promise> counts, <promise>{set_aside}</promise> does not; have the prompt ask for one tag, on its own line at the end", (chosen, set_aside) = (shorten(&chosen.to_string()),shorten(&set_aside.to_string()),))]
    Conflict { chosen: Promise, set_aside: Promise },
    /// The tag occurs only within a sentence, a table or a list of choices.
    #[say("<promise>{text}</promise> is only mentioned in the text and does not count; have the prompt ask for the tag on its own line at the end", text = shorten(text))]
    OnlyMentioned { text: String },
    /// A tag with a text that nobody agreed on.
    #[say("unknown promise <promise>{text}</promise>; if it means that the work is finished, add its text to promise.complete in .ralph/config.toml", text = shorten(text))]
    Unknown { text: String },
}

/// The warnings that single tags deserve, each once.
pub(super) fn about(statements: &Statements) -> Vec<PromiseWarning> {
    let given: HashSet<&Promise> = statements.given.iter().map(|g| &g.promise).collect();
    let mut told: HashSet<&Promise> = HashSet::new();
    let mentioned = statements
        .mentioned
        .iter()
        .filter(|promise| **promise != Promise::Continue && !given.contains(promise))
        .map(|promise| {
            let text = promise.to_string();
            (promise, PromiseWarning::OnlyMentioned { text })
        });
    let unknown = statements.given.iter().filter_map(|g| match &g.promise {
        Promise::Unknown(text) => {
            let text = text.clone();
            Some((&g.promise, PromiseWarning::Unknown { text }))
        }
        _ => None,
    });
    mentioned
        .chain(unknown)
        .filter(|(promise, _)| told.insert(promise))
        .map(|(_, warning)| warning)
        .take(MOST_WARNINGS)
        .collect()
}

fn shorten(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
