//! Why a checkpoint is not used, for people.

use super::{CheckpointError, NotCanonical};
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for CheckpointError {
    fn say(&self, lang: Lang) -> String {
        match self {
            CheckpointError::NotUtf8 => tr!(lang, "it is not UTF-8 text"),
            CheckpointError::Malformed(error) => error.say(lang),
            CheckpointError::ChecksumMissing => {
                tr!(lang, "its checksum is missing")
            }
            CheckpointError::ChecksumWrong { stated, found } => tr!(
                lang,
                "its checksum is wrong (it says {stated}, its content has {found})"
            ),
            CheckpointError::NewerVersion { version } => tr!(
                lang,
                "it has version {version}, which is newer than this ralph understands (3.0); update ralph"
            ),
            CheckpointError::UnknownVersion { version } => {
                tr!(lang, "its version {version} is unknown")
            }
            CheckpointError::NotACheckpoint { message } => {
                tr!(lang, "it is not a checkpoint ({message})")
            }
        }
    }
}

impl Say for NotCanonical {
    fn say(&self, lang: Lang) -> String {
        match self {
            NotCanonical::NotJson { line, message } => {
                tr!(lang, "line {line} is not JSON ({message})")
            }
            NotCanonical::NotAnObject => tr!(lang, "it is not a JSON object"),
            NotCanonical::TooDeep => tr!(lang, "it is nested too deeply"),
        }
    }
}
