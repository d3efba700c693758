//! A run that is taken up in a process of its own.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Takes a run up in a process that outlives this one.
pub fn resume_apart(root: &Path, run: &str) -> io::Result<()> {
    let mut command = Command::new(crate::app::own_program());
    command
        .arg("--root")
        .arg(root)
        .args(["resume", "--yes", "--quiet", run])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // Whoever waits for it is not held up by it.
    std::thread::spawn(move || child.wait());
    Ok(())
}
