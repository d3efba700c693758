//! Why a run could not begin or go on.

use ralph_core::lang::Say;
use ralph_store::FileError;
use ralph_store::lock::LockError;

use crate::lanes::plan::NoLanes;
use crate::neighbour::Neighbour;
use crate::past::PastError;
use crate::record::RecordError;

/// Why a run could not begin or go on.
#[derive(Clone, Debug, Say)]
pub enum DriveError {
    #[say(_0.say(lang))]
    Locked(LockError),
    #[say(_0.say(lang))]
    Record(RecordError),
    /// The run was under way, and what happened can't be written down. It is
    /// paused: everything that was written before is intact.
    #[say("the run is paused, since its journal can't be written: {error}; what was written before is intact: when the disk is well again, go on with `ralph resume`", error = _0.say(lang))]
    Unsaved(RecordError),
    #[say(_0.say(lang))]
    Past(PastError),
    /// Nothing would ever end it (VALV-10).
    #[say(
        "nothing would ever end this run: set max_iterations, max_duration, stalled, missing_promise or consecutive_errors in [limits], or max_cost in [budget]"
    )]
    NoLimit,
    /// A wall was asked for, and none works here.
    #[say(
        "no sandbox here, because {why}; sandbox.mode is strict, so nothing was started (`ralph doctor --sandbox` says more)"
    )]
    NoWall { why: String },
    #[say("{file} is that of the loop at work in session {session} ({run}), and a project has it once: wait for its end, let it rest with `ralph loop pause --session {session}`, or give it up with `ralph loop cancel --session {session}`", file = &_0.file, session = &_0.session, run = &_0.run)]
    Neighbour(Neighbour),
    #[say(_0.say(lang))]
    NoLanes(NoLanes),
    /// The tree of a lane is not ready.
    #[say(
        "the tree could not be made ready: `{command}` failed; correct lanes.setup. It said:\n{output}"
    )]
    SetUp { command: String, output: String },
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
