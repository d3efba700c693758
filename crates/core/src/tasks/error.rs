//! Why a task file could not be read or changed.

use super::format::Format;
use crate::lang::{Lang, Say};
use crate::tr;

/// Every variant carries the file, so that the message can name it.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum TaskError {
    #[say(
        "{file} is empty; write a task on a line of its own, such as `- [ ] T001 add a login page`"
    )]
    Empty { file: String },
    /// A NUL byte or bytes that are not UTF-8.
    #[say(
        "{file} is not UTF-8 text, or holds a NUL byte; save it as UTF-8, or name the right file with --tasks"
    )]
    NotText { file: String },
    #[say("{file} is {size} MiB large, and a task file may have {limit} MiB; split it, or name the right file with --tasks", (size, limit) = (mebibytes(*bytes), mebibytes(*limit)))]
    TooLarge {
        file: String,
        bytes: usize,
        limit: usize,
    },
    /// Nothing to do is an error, never a success.
    #[say(no_tasks(lang, file, *format))]
    NoTasks { file: String, format: Format },
    #[say("{file}:{line}:{column} is not valid JSON ({message}); correct that place and run again")]
    BadJson {
        file: String,
        line: usize,
        column: usize,
        message: String,
    },
    /// Valid JSON without an array `userStories`.
    #[say(
        "{file} has no list \"userStories\"; write the stories there, each with \"id\", \"title\" and \"passes\": false"
    )]
    NoStories { file: String },
    /// An element of `userStories` that is not an object.
    #[say(
        "{file}:{line}: this entry of \"userStories\" is not an object; write it as {{\"id\": …, \"title\": …, \"passes\": false}}"
    )]
    BadStory { file: String, line: usize },
    /// The story has no `passes` that is `true` or `false`.
    #[say(
        "{file}: story {id} has no \"passes\" that is true or false; add \"passes\": false to it"
    )]
    NoPassesField { file: String, id: String },
    #[say("{file} has no task {id}; run `ralph tasks list` to see the ids")]
    TaskNotFound { file: String, id: String },
    /// The bytes are not those that the list was read from.
    #[say("{file} was changed by somebody else in the meantime and was left as it is; run again")]
    Changed { file: String },
    /// A person's change would do something else than what was meant.
    #[say(if *why == Unfit::NoIds, "{file}: its tasks have no ids such as T001, so that their places are their names; give them ids, or change the file in an editor while no run works on it")]
    #[say(if *why == Unfit::ByPriority, "{file} is ordered by \"priority\"; change that in an editor")]
    #[say(if *why == Unfit::NoSuchPhase, "{file} has no task in this phase; `ralph tasks list` shows the phases")]
    #[say(
        "{file} was left as it is: written like that, it would be read as something else; change it in an editor"
    )]
    Unchangeable { file: String, why: Unfit },
}

/// Why a list is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The words would be read as something else.
    MoreThanMeant,
    /// The tasks have no ids: their places are their names.
    NoIds,
    /// A `prd.json` is ordered by priority.
    ByPriority,
    NoSuchPhase,
}

/// With one digit behind the point, rounded up: what is too large by a byte
/// must not look as if it were not.
fn mebibytes(bytes: usize) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1024 * 1024);
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

fn no_tasks(lang: Lang, file: &str, format: Format) -> String {
    match format {
        Format::PrdJson => tr!(
            lang,
            "{file} has no stories; add at least one to \"userStories\", with \"id\", \"title\" and \"passes\": false"
        ),
        _ => tr!(
            lang,
            "{file} has no tasks; write each on a line of its own, such as `- [ ] T001 add a login page`"
        ),
    }
}
