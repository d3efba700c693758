//! Why a run could not begin or go on.

use ralph_core::lang::{Lang, Say};
use ralph_store::FileError;
use ralph_store::lock::LockError;

use crate::past::PastError;
use crate::record::RecordError;

/// Why a run could not begin or go on.
#[derive(Clone, Debug)]
pub enum DriveError {
    Locked(LockError),
    Record(RecordError),
    /// The run was under way, and what happened can't be written down. It is
    /// paused: everything that was written before is intact.
    Unsaved(RecordError),
    Past(PastError),
    /// Nothing would ever end it (VALV-10).
    NoLimit,
}

impl From<FileError> for DriveError {
    fn from(error: FileError) -> Self {
        DriveError::Record(error.into())
    }
}

impl From<PastError> for DriveError {
    fn from(error: PastError) -> Self {
        DriveError::Past(error)
    }
}

impl From<RecordError> for DriveError {
    fn from(error: RecordError) -> Self {
        DriveError::Record(error)
    }
}

impl Say for DriveError {
    fn say(&self, lang: Lang) -> String {
        match self {
            DriveError::Locked(error) => error.say(lang),
            DriveError::Record(error) => error.say(lang),
            DriveError::Unsaved(error) => {
                let error = error.say(lang);
                ralph_core::tr!(
                    lang,
                    "the run is paused, since its journal can't be written: {error}; what was written before is intact: when the disk is well again, go on with `ralph resume`"
                )
            }
            DriveError::Past(error) => error.say(lang),
            DriveError::NoLimit => ralph_core::tr!(
                lang,
                "nothing would ever end this run: set max_iterations, max_duration, stalled, missing_promise or consecutive_errors in [limits]"
            ),
        }
    }
}
