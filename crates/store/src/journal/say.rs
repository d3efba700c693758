//! The journal's problems in the languages of people.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::JournalError;

impl Say for JournalError {
    fn say(&self, lang: Lang) -> String {
        match self {
            JournalError::File(error) => error.say(lang),
            JournalError::Corrupt {
                path,
                line,
                offset,
                reason,
            } => {
                let path = path.display();
                let reason = reason.say(lang);
                let sound = line - 1;
                if sound == 0 {
                    return tr!(
                        lang,
                        "the journal {path} is damaged at its first line (byte {offset}): {reason}; nothing of it is intact and nothing was changed; look at it, restore it from a backup, or start a new run with `ralph run`"
                    );
                }
                tr!(
                    lang,
                    "the journal {path} is damaged at line {line} (byte {offset}): {reason}; the {sound} records before it are intact and nothing was changed; go on from them with `ralph resume --from-intact` (the damaged file is kept beside it), restore it from a backup, or start a new run with `ralph run`"
                )
            }
            JournalError::Newer {
                path,
                line,
                version,
            } => {
                let path = path.display();
                tr!(
                    lang,
                    "the journal {path} was written by a newer ralph (format {version}, line {line}); update ralph, or finish the run with the version that began it"
                )
            }
            JournalError::Unstorable { path, reason } => {
                let path = path.display();
                let reason = reason.say(lang);
                tr!(
                    lang,
                    "a record for the journal {path} is {reason}; nothing was written; please report this as a bug"
                )
            }
        }
    }
}
