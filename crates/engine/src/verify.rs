//! Runs verification commands itself and keeps what they said.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::machine::{CommandResult, VerifyReport};
use tokio::sync::watch;

use crate::excerpt::Excerpt;
use crate::kept::{self, KeptOutput};
use crate::supervise::{self, Ending, Sink, Spec, Stop};

/// The commands of a project and their bounds (VERI-05).
#[derive(Clone, Debug)]
pub struct Verifier {
    pub commands: Vec<String>,
    /// For each command; zero where nothing limits it.
    pub timeout: Duration,
    /// Characters of output that are kept for messages and prompts.
    pub output_limit: usize,
    /// How much of the output is kept in the log; zero keeps all.
    pub log_max: u64,
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
    /// output goes to `log`.
    pub async fn run(
        &self,
        turn: u32,
        root: &Path,
        env: &[(String, String)],
        log: PathBuf,
        stop: watch::Receiver<Stop>,
    ) -> Verified {
        self.run_commands(&self.commands, turn, root, env, log, stop)
            .await
    }

    /// The same with other commands than those of the project.
    pub async fn run_commands(
        &self,
        commands: &[String],
        turn: u32,
        root: &Path,
        env: &[(String, String)],
        log: PathBuf,
        stop: watch::Receiver<Stop>,
    ) -> Verified {
        // The log is for people; the verdict does not depend on it.
        let (mut log, mut lost) =
            match KeptOutput::append(&log, self.log_max, kept::OF_A_VERIFICATION) {
                Ok(log) => (Some(log), None),
                Err(error) => (None, Some(error.kind())),
            };
        let mut results = Vec::new();
        for command in commands {
            let (output, unwritten) = Output::new(log.as_mut(), command, self.output_limit);
            lost = lost.or(unwritten);
            let (result, unkept) = self.run_one(command, root, env, output, stop.clone()).await;
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
        mut output: Output<'_>,
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
            left_of_run: None,
            timeout: Some(self.timeout).filter(|timeout| !timeout.is_zero()),
            grace: self.grace,
        };
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
        (result, report.sink_error)
    }
}

/// Both streams in one, as a person would see them: in the log as far as that
/// may grow, head and tail in memory.
struct Output<'a> {
    log: Option<&'a mut KeptOutput>,
    kept: Excerpt,
}

impl<'a> Output<'a> {
    fn new(
        mut log: Option<&'a mut KeptOutput>,
        command: &str,
        limit: usize,
    ) -> (Output<'a>, Option<io::ErrorKind>) {
        let head = format!("$ {command}\n");
        let written = log
            .as_mut()
            .map_or(Ok(()), |log| log.write(head.as_bytes()));
        let kept = Excerpt::new(limit);
        (
            Output { log, kept },
            written.err().map(|error| error.kind()),
        )
    }

    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.kept.push(chunk);
        match &mut self.log {
            Some(log) => log.write(chunk),
            None => Ok(()),
        }
    }
}

impl Sink for Output<'_> {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(chunk)
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(chunk)
    }
}
