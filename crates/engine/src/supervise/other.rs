//! Where there are no sessions and process groups: only the child itself can
//! be ended.

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

use super::Ending;

pub fn own_session(_command: &mut Command) {}

pub fn widen<P>(_pipe: &P) {}

pub struct Leader {
    child: Child,
}

impl Leader {
    pub fn new(child: Child) -> Leader {
        Leader { child }
    }

    /// Returns once the child has exited.
    pub async fn exited(&mut self) {
        // The result is kept by the child and asked for again in the end.
        let _ = self.child.wait().await;
    }

    /// Nothing can be asked for here; the kill comes after the grace.
    pub fn ask_group_to_end(&mut self) {}

    pub fn kill_group(&mut self) {
        // A child that is gone already is what we wanted.
        let _ = self.child.start_kill();
    }

    /// There is no job control here.
    pub fn freeze_group(&mut self) {}

    pub fn thaw_group(&mut self) {}

    pub async fn end_group_and_reap(mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }
}

pub fn ending(exit: io::Result<ExitStatus>) -> Ending {
    match exit {
        Ok(status) => Ending::Exited(status.code().unwrap_or(-1)),
        Err(error) => Ending::SpawnFailed {
            missing: false,
            message: error.to_string(),
        },
    }
}

/// The system is not asked here.
pub fn ancestors() -> Vec<u32> {
    Vec::new()
}

pub fn ancestors_of(_pid: u32) -> Vec<u32> {
    Vec::new()
}

pub fn stop_ourselves() {}

pub fn can_be_continued() -> bool {
    false
}

/// No such thing here.
pub fn enter(
    _command: &mut Command,
    _overlays: &[super::Overlay],
    _cwd: &std::path::Path,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Job objects end with the process that holds them.
pub fn end_with_us(_command: &mut Command) {}

pub fn hear_termination() {}

/// The end of a pipe as a file that a child can have.
pub fn file_of(pipe: std::io::PipeReader) -> std::fs::File {
    std::fs::File::from(std::os::windows::io::OwnedHandle::from(pipe))
}
