//! A run that is taken up in a process of its own.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ralph_core::lang::Lang;

/// Takes a run up in a process that outlives this one. What it complains about
/// can be read from it.
pub fn resume_apart(root: &Path, run: &str, lang: Lang) -> io::Result<Child> {
    let mut command = Command::new(crate::app::own_program());
    command
        .arg("--root")
        .arg(root)
        .args(["--lang", lang.into_str()])
        .args(["resume", "--yes", "--quiet", run])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // Ctrl+C at our terminal is not meant for it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Undoes a turn of a run that is over, and says what came of it.
pub fn undo_apart(root: &Path, run: &str, turn: u32, lang: Lang) -> io::Result<String> {
    let turn = turn.to_string();
    verb_apart(root, &["undo", &turn, "--yes", "--run", run], lang)
}

/// Does what can be typed, and says what came of it.
pub fn verb_apart(root: &Path, typed: &[&str], lang: Lang) -> io::Result<String> {
    let output = Command::new(crate::app::own_program())
        .arg("--root")
        .arg(root)
        .args(["--lang", lang.into_str()])
        .args(typed)
        .stdin(Stdio::null())
        .output()?;
    let said = match output.status.success() {
        true => output.stdout,
        false => output.stderr,
    };
    let said = String::from_utf8_lossy(&said);
    // What it did stands in its last line.
    Ok(said.trim().lines().last().unwrap_or_default().to_owned())
}

/// Reads what it says to its end, since nobody else does: what matters stands
/// in the log.
pub fn leave_alone(child: Child) {
    std::thread::spawn(move || child.wait_with_output());
}
