//! Why `ralph init` or `ralph uninstall` changes nothing.

use std::path::PathBuf;

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_store::FileError;

use super::manifest::Unusable;
use super::merge::MergeError;

/// Why nothing is installed or taken away.
#[derive(Debug, Say)]
pub enum Problem {
    #[say("{root} is no directory; create the project first", root = root.display())]
    NoDirectory { root: PathBuf },
    #[say("{root} is Ralph's own source; name the project to install into", root = root.display())]
    Itself { root: PathBuf },
    #[say(settings(path, error, lang))]
    Settings { path: String, error: MergeError },
    /// The manifest names a file outside of the project.
    #[say(
        ".ralph/install.json names {path}, which is outside of the project; nothing was changed. Move the file away, and Ralph's entries are found by their command lines"
    )]
    Outside { path: String },
    #[say(_0.say(lang))]
    File(FileError),
    #[say(_0.say(lang))]
    Manifest(Unusable),
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Problem {
        Problem::File(error)
    }
}

impl From<Unusable> for Problem {
    fn from(error: Unusable) -> Problem {
        Problem::Manifest(error)
    }
}

fn settings(path: &str, error: &MergeError, lang: Lang) -> String {
    match error {
        MergeError::Syntax(error) => {
            let error = error.say(lang);
            tr!(
                lang,
                "{path}, {error}. Nothing was changed; mend the file first"
            )
        }
        MergeError::Shape { path: key } if key.is_empty() => tr!(
            lang,
            "{path} holds no JSON object. Nothing was changed; mend the file first"
        ),
        MergeError::Shape { path: key } => tr!(
            lang,
            "{path}: \"{key}\" is not what the agent expects there. Nothing was changed; mend the file first"
        ),
    }
}
