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

use rustix::process::{Pid, Signal, kill_process_group, setsid};
use tokio::process::Command;

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

pub fn ask_group_to_end(group: u32) {
    signal_group(group, Signal::TERM);
    // A stopped child only hears the signal once it goes on.
    signal_group(group, Signal::CONT);
}

pub fn kill_group(group: u32) {
    signal_group(group, Signal::KILL);
}

fn signal_group(group: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // A group that is gone already is what we wanted.
        let _ = kill_process_group(pid, signal);
    }
}

pub fn ending(status: Option<io::Result<ExitStatus>>) -> Ending {
    match status {
        Some(Ok(status)) => match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
        },
        Some(Err(error)) => Ending::SpawnFailed {
            missing: false,
            message: error.to_string(),
        },
        None => Ending::Stopped,
    }
}
