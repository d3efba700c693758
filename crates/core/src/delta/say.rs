//! What is wrong with a state file, for people.

use super::DeltaError;
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for DeltaError {
    fn say(&self, lang: Lang) -> String {
        match self {
            DeltaError::NotUtf8 { line } => tr!(lang, "line {line} is not UTF-8 text"),
            DeltaError::NotAState => tr!(
                lang,
                "it has no section of a delta loop state (`## Meta`, `## Iteration`)"
            ),
            DeltaError::Missing { field, line } => {
                tr!(lang, "line {line}: `- {field}:` is missing")
            }
            DeltaError::Bad { field, value, line } => {
                tr!(lang, "line {line}: `- {field}:` can't be `{value}`")
            }
        }
    }
}
