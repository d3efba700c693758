//! Why a task file could not be read or changed.

use super::model::Format;

/// Every variant carries the file, so that the message can name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskError {
    Empty {
        file: String,
    },
    /// A NUL byte or bytes that are not UTF-8.
    NotText {
        file: String,
    },
    TooLarge {
        file: String,
        bytes: usize,
        limit: usize,
    },
    /// Nothing to do is an error, never a success.
    NoTasks {
        file: String,
        format: Format,
    },
    BadJson {
        file: String,
        line: usize,
        column: usize,
        message: String,
    },
    /// Valid JSON without an array `userStories`.
    NoStories {
        file: String,
    },
    /// An element of `userStories` that is not an object.
    BadStory {
        file: String,
        line: usize,
    },
    /// The story has no `passes` that is `true` or `false`.
    NoPassesField {
        file: String,
        id: String,
    },
    TaskNotFound {
        file: String,
        id: String,
    },
    /// The bytes are not those that the list was read from.
    Changed {
        file: String,
    },
}
