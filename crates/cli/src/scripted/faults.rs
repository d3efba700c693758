//! What can go wrong with an agent, as actions of a script: each is a small,
//! real misdeed of a real process.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

/// One misdeed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Does nothing any more, and does not end.
    Hang,
    /// Prints so many bytes of short lines.
    FloodBytes(u64),
    /// Prints one line of so many bytes.
    LineBytes(u64),
    /// Prints these bytes, whatever they are, without a line feed.
    Raw(Vec<u8>),
    /// Leaves a daemon: forked twice, in a session of its own, deaf to
    /// SIGTERM, with no pipe of ours; its number stands in this file.
    Daemon { pid_file: PathBuf },
    /// Writes into this file until the disk is full.
    FillDisk(PathBuf),
    /// Runs a command to its end; what came of it stands in this file.
    Run {
        command: Vec<String>,
        report: PathBuf,
    },
}

const HOUR: Duration = Duration::from_secs(3600);
const CHUNK: usize = 64 * 1024;

/// `$1` gets the number once it is complete.
const DAEMON: &str = r#"
(setsid sh -c 'trap "" TERM HUP INT; echo $$ > "$1.new"; mv "$1.new" "$1"; exec sleep 3600' \
  sh "$1" </dev/null >/dev/null 2>&1 &)
while [ ! -e "$1" ]; do sleep 0.01; done
"#;

impl Fault {
    pub fn happen(&self) -> io::Result<()> {
        match self {
            Fault::Hang => loop {
                std::thread::sleep(HOUR);
            },
            Fault::FloodBytes(bytes) => print_many(&flood_chunk(), *bytes),
            Fault::LineBytes(bytes) => print_many(&[b'x'; CHUNK], *bytes),
            Fault::Raw(bytes) => print(bytes),
            Fault::Daemon { pid_file } => leave_daemon(pid_file),
            Fault::FillDisk(path) => fill_disk(path),
            Fault::Run { command, report } => run(command, report),
        }
    }
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn print_many(chunk: &[u8], bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let part = left.min(chunk.len() as u64);
        // It fits: it is no longer than the chunk.
        print(&chunk[..part as usize])?;
        left -= part;
    }
    // What follows begins a line.
    print(b"\n")
}

/// Lines that look like the output of a build, to the end of the chunk.
fn flood_chunk() -> Vec<u8> {
    let line = b"warning: something somewhere is not as it could be\n";
    line.iter().copied().cycle().take(CHUNK).collect()
}

fn leave_daemon(pid_file: &Path) -> io::Result<()> {
    let status = Command::new("sh")
        .args(["-c", DAEMON, "sh"])
        .arg(pid_file)
        .stdin(Stdio::null())
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other("the daemon could not be started")),
    }
}

/// Smaller and smaller pieces, so that not even a short line fits behind it.
fn fill_disk(path: &Path) -> io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    let mut size = CHUNK;
    while size > 0 {
        if file.write_all(&vec![0; size]).is_err() {
            size /= 2;
        }
    }
    Ok(())
}

fn run(command: &[String], report: &Path) -> io::Result<()> {
    let Some((program, args)) = command.split_first() else {
        return Err(io::Error::other("there is no command to run"));
    };
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()?;
    let code = output.status.code().unwrap_or(-1);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    std::fs::write(report, format!("{code}\n{words}"))
}
