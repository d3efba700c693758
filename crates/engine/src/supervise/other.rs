//! Where there are no sessions and process groups: only the child itself can
//! be ended.

use std::io;
use std::process::ExitStatus;

use tokio::process::Command;

use super::Ending;

pub fn own_session(_command: &mut Command) {}

pub fn ask_group_to_end(_group: u32) {}

pub fn kill_group(_group: u32) {}

pub fn ending(status: Option<io::Result<ExitStatus>>) -> Ending {
    match status {
        Some(Ok(status)) => Ending::Exited(status.code().unwrap_or(-1)),
        Some(Err(error)) => Ending::SpawnFailed {
            missing: false,
            message: error.to_string(),
        },
        None => Ending::Stopped,
    }
}
