//! Runs verification commands itself and keeps what they said.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::machine::{CommandResult, VerifyReport};
use ralph_store::fault::{self, Deed, point};
use tokio::sync::watch;

use crate::excerpt::Excerpt;
use crate::supervise::{self, Ending, Sink, Spec, Stop};

/// The commands of a project and their bounds (VERI-05).
#[derive(Clone, Debug)]
pub struct Verifier {
    pub commands: Vec<String>,
    /// For each command; zero where nothing limits it.
    pub timeout: Duration,
    /// Characters of output that are kept for messages and prompts.
    pub output_limit: usize,
    pub grace: Duration,
}

/// What came of a verification.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    pub report: VerifyReport,
    /// Why the output could not be kept, where it could not.
    pub lost: Option<io::ErrorKind>,
}

impl Verifier {
    /// Runs one command after another and stops at the first that fails; the
    /// whole output goes to `log`.
    pub async fn run(
        &self,
        turn: u32,
        root: &Path,
        env: &[(String, String)],
        log: PathBuf,
        stop: watch::Receiver<Stop>,
    ) -> Verified {
        let mut results = Vec::new();
        let mut lost = None;
        for command in &self.commands {
            let (result, unkept) = self.run_one(command, root, env, &log, stop.clone()).await;
            let failed = result.exit != Some(0);
            results.push(result);
            lost = lost.or(unkept);
            if failed {
                break;
            }
        }
        let report = VerifyReport { turn, results };
        Verified { report, lost }
    }

    async fn run_one(
        &self,
        command: &str,
        root: &Path,
        env: &[(String, String)],
        log: &Path,
        stop: watch::Receiver<Stop>,
    ) -> (CommandResult, Option<io::ErrorKind>) {
        let (program, flag) = if cfg!(windows) {
            ("cmd", "/C")
        } else {
            ("sh", "-c")
        };
        let spec = Spec {
            program: program.into(),
            args: vec![flag.into(), command.into()],
            cwd: root.into(),
            env: env.iter().map(|(k, v)| (k.into(), v.into())).collect(),
            env_remove: Vec::new(),
            stdin: None,
            idle: None,
            timeout: Some(self.timeout).filter(|timeout| !timeout.is_zero()),
            grace: self.grace,
        };
        let (mut output, unopened) = Output::new(log, command, self.output_limit);
        let report = supervise::run(spec, &mut output, stop).await;
        let (exit, end) = match report.ending {
            Ending::Exited(code) => (Some(code), String::new()),
            Ending::Signalled(signal) => (None, format!("\n[signal {signal}]")),
            Ending::TimedOut => (
                None,
                format!("\n[timed out after {} s]", self.timeout.as_secs()),
            ),
            Ending::Stopped => (None, "\n[stopped]".into()),
            Ending::SpawnFailed { message, .. } => (None, message),
        };
        let result = CommandResult {
            command: command.into(),
            exit,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            output: output.kept.text() + &end,
        };
        (result, unopened.or(report.sink_error))
    }
}

/// Both streams in one, as a person would see them: whole in the file, head
/// and tail in memory.
struct Output {
    file: Option<File>,
    kept: Excerpt,
}

impl Output {
    /// The log is for people; the verdict does not depend on it.
    fn new(log: &Path, command: &str, limit: usize) -> (Output, Option<io::ErrorKind>) {
        let opened = fault::at(point::ENGINE_VERIFY_OPEN, Deed::Open, || {
            File::options().create(true).append(true).open(log)
        });
        let begun = opened.and_then(|file| {
            let head = format!("$ {command}\n");
            fault::write_all(&file, head.as_bytes(), point::ENGINE_VERIFY_WRITE).map(|()| file)
        });
        let (file, lost) = match begun {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error.kind())),
        };
        let kept = Excerpt::new(limit);
        (Output { file, kept }, lost)
    }

    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.kept.push(chunk);
        match &self.file {
            Some(file) => fault::write_all(file, chunk, point::ENGINE_VERIFY_WRITE),
            None => Ok(()),
        }
    }
}

impl Sink for Output {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(chunk)
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(chunk)
    }
}
