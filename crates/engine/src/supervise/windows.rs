//! Windows has no sessions and process groups, but jobs: whoever a child
//! starts belongs to its job, and all of them are ended when the last handle
//! of the job is closed, which is ours, also where we are killed.

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job};

use super::Ending;

/// `CREATE_NEW_PROCESS_GROUP`: Ctrl+C in our terminal is meant for us, and
/// reaches the child as what we make of it.
const NEW_GROUP: u32 = 0x0000_0200;

pub fn own_session(command: &mut Command) {
    command.creation_flags(NEW_GROUP);
}

/// The command interpreter reads its line by rules of its own, and wants it as
/// it was written.
pub fn arguments(command: &mut Command, spec: &super::Spec) {
    match spec.args.as_slice() {
        [flag, line] if spec.program == "cmd" && flag == "/C" => {
            command.raw_arg("/D /S /C \"");
            command.raw_arg(line);
            command.raw_arg("\"");
        }
        args => {
            command.args(args);
        }
    }
}

pub fn widen<P>(_pipe: &P) {}

pub struct Leader {
    child: Child,
    /// None once everybody in it was ended, or where the system gave none.
    job: Option<Job>,
}

impl Leader {
    pub fn new(child: Child) -> Leader {
        let job = job_around(&child);
        Leader { child, job }
    }

    /// Returns once the child has exited.
    pub async fn exited(&mut self) {
        // The result is kept by the child and asked for again in the end.
        let _ = self.child.wait().await;
    }

    /// Nothing can be asked for here; the kill comes after the grace.
    pub fn ask_group_to_end(&mut self) {}

    pub fn kill_group(&mut self) {
        self.job = None;
        // A child that is gone already is what we wanted.
        let _ = self.child.start_kill();
    }

    /// There is no job control here.
    pub fn freeze_group(&mut self) {}

    pub fn thaw_group(&mut self) {}

    pub async fn end_group_and_reap(mut self) -> io::Result<ExitStatus> {
        self.job = None;
        self.child.wait().await
    }
}

/// Without a job the child itself is still ended.
fn job_around(child: &Child) -> Option<Job> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits).ok()?;
    job.assign_process(child.raw_handle()? as isize).ok()?;
    Some(job)
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

/// A job ends with the process that holds it.
pub fn end_with_us(_command: &mut Command) {}

/// The end of a pipe as a file that a child can have.
pub fn file_of(pipe: std::io::PipeReader) -> std::fs::File {
    std::fs::File::from(std::os::windows::io::OwnedHandle::from(pipe))
}
