//! Starts a program once and takes down what it answers.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_engine::supervise::{self, Ending, Sink, Spec, Stop, Tag};
use ralph_store::private::PrivateDir;
use tokio::sync::watch;

/// More than any answer that is looked at.
const MAX_KEPT: usize = 1024 * 1024;
const GRACE: Duration = Duration::from_secs(2);

/// What to start, and with what.
#[derive(Debug)]
pub struct Question<'a> {
    pub program: &'a Path,
    pub args: Vec<OsString>,
    pub cwd: &'a Path,
    pub env: Vec<(OsString, OsString)>,
    pub stdin: Option<File>,
    pub timeout: Duration,
}

#[derive(Debug)]
pub struct Answer {
    pub ending: Ending,
    pub stdout: String,
    pub stderr: String,
}

/// Variables of a session that this one may run inside of: they would change
/// what a hook does.
const FOREIGN: [&str; 9] = [
    "RALPH_RUN_ID",
    Tag::VARIABLE,
    "CLAUDECODE",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "GEMINI_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "COPILOT_CLI",
];

pub async fn ask(question: Question<'_>) -> Answer {
    let mut heard = Heard::default();
    let spec = Spec {
        args: question.args,
        env: question.env,
        env_remove: FOREIGN.map(OsString::from).into(),
        stdin: question.stdin,
        grace: GRACE,
        ..Spec::plain(question.program.into(), question.cwd, question.timeout)
    };
    let never = watch::Sender::new(Stop::No);
    let report = supervise::run(spec, &mut heard, never.subscribe()).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Answer {
        ending: report.ending,
        stdout: text(&heard.stdout),
        stderr: text(&heard.stderr),
    }
}

#[derive(Default)]
struct Heard {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Sink for Heard {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        keep(&mut self.stdout, chunk);
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        keep(&mut self.stderr, chunk);
        Ok(())
    }
}

fn keep(kept: &mut Vec<u8>, chunk: &[u8]) {
    let room = MAX_KEPT.saturating_sub(kept.len());
    kept.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
}

/// A directory of our own that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _dir: PrivateDir,
}

impl Scratch {
    pub fn new(name: &str) -> io::Result<Scratch> {
        let dir = PrivateDir::new(name)?;
        Ok(Scratch {
            path: dir.path().canonicalize()?,
            _dir: dir,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file with this text, open to be read.
    pub fn input(&self, name: &str, text: &str) -> io::Result<File> {
        let path = self.path.join(name);
        fs::write(&path, text)?;
        File::open(path)
    }
}
