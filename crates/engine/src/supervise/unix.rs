//! Sessions, groups and signals.
//!
//! This is the one place of the project with `unsafe` code.
#![expect(
    unsafe_code,
    reason = "a session of its own can only be made between fork and exec"
)]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use ralph_store::fault::{self, point};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, setsid, waitid};
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, spawn_blocking};

use super::Ending;

/// The child leads a session of its own: no controlling terminal, so no
/// SIGTTIN, and Ctrl+C at our terminal does not reach it.
pub fn own_session(command: &mut Command) {
    // SAFETY: the closure runs in the forked child before exec. It calls only
    // setsid(2), which is async-signal-safe, and allocates nothing.
    unsafe {
        command.pre_exec(|| setsid().map(|_| ()).map_err(io::Error::from));
    }
}

/// A child that leads its group.
///
/// Its exit is noticed without reaping it. As long as it is not reaped, its
/// number belongs to it, so that a signal to the group can't reach strangers;
/// the number could be given away at once after that.
pub struct Leader {
    child: Child,
    exit: JoinHandle<()>,
    /// `None` once the group was ended for good.
    group: Option<Pid>,
}

impl Leader {
    pub fn new(child: Child) -> Leader {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        let group = pid.and_then(Pid::from_raw);
        Leader {
            child,
            exit: spawn_blocking(move || wait_for_exit(group)),
            group,
        }
    }

    /// Returns once the child has exited; must not be called after that.
    pub async fn exited(&mut self) {
        // If the waiting itself failed, reaping finds out why.
        let _ = (&mut self.exit).await;
    }

    pub fn ask_group_to_end(&mut self) {
        self.signal_group(Signal::TERM);
        // A stopped child only hears the signal once it goes on.
        self.signal_group(Signal::CONT);
    }

    pub fn kill_group(&mut self) {
        self.signal_group(Signal::KILL);
    }

    /// Whatever the child left in its group ends here.
    pub async fn end_group_and_reap(mut self) -> io::Result<ExitStatus> {
        self.kill_group();
        self.group = None;
        fault::pass(point::ENGINE_REAP);
        self.child.wait().await
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(group) = self.group {
            fault::pass(point::ENGINE_SIGNAL);
            // A group that is gone already is what we wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Leader {
    /// A turn that is given up halfway leaves nobody behind.
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// A thread that sleeps in the kernel works whatever the process inherited
/// about SIGCHLD, and on every Unix.
fn wait_for_exit(pid: Option<Pid>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    if let Some(pid) = pid {
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
    }
}

pub fn ending(exit: io::Result<ExitStatus>) -> Ending {
    match exit {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
        },
        Err(error) => Ending::SpawnFailed {
            missing: false,
            message: error.to_string(),
        },
    }
}
