//! Runs verification commands itself and keeps what they said.

mod order;
mod said;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_core::machine::{CommandResult, VerifyReport};
use ralph_core::proof::{Baseline, Failure};
use tokio::sync::watch;

use crate::agents::EnvFilter;
use crate::excerpt::Excerpt;
use crate::kept::{self, KeptOutput};
use crate::supervise::{Ending, Overlay, SHELL, Sink, Spec, Stop};
use crate::wall::{self, Behind, Wall, Who};
pub use order::Order;
use said::{Said, Stream};

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
    /// Failures that were there before the work began.
    pub baseline: Baseline,
    /// What is kept from the agent is kept from the code that it wrote (S-12).
    pub env_filter: EnvFilter,
    /// Files that belong to the checks beside those that are known.
    pub files: Vec<String>,
    /// Time for the experiments of one verification; zero is no limit.
    pub max_time: Duration,
    /// What stands around the checks.
    pub wall: Option<Arc<Wall>>,
}

/// Where checks run.
#[derive(Clone, Debug)]
pub struct Place {
    pub cwd: PathBuf,
    pub overlay: Option<Overlay>,
    /// A word to look for in what the commands say.
    pub word: Option<String>,
    /// Whether something else is under way meanwhile.
    pub beside: bool,
}

impl Place {
    /// The folder itself.
    pub fn at(root: &Path) -> Place {
        Place {
            cwd: root.to_owned(),
            overlay: None,
            word: None,
            beside: false,
        }
    }
}

/// What came of a verification.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    pub report: VerifyReport,
    /// How the commands failed that did.
    pub failing: BTreeMap<String, Failure>,
    /// The commands that said the word that was looked for.
    pub said: BTreeSet<String>,
    /// Why the output could not be kept, where it could not.
    pub lost: Option<io::ErrorKind>,
}

impl Verifier {
    /// Runs one command of the project after another and stops at the first
    /// that fails; the output goes to `log`.
    pub async fn run(
        &self,
        turn: u32,
        root: &Path,
        env: &[(String, String)],
        log: PathBuf,
        stop: watch::Receiver<Stop>,
    ) -> Verified {
        let order = Order {
            project: self.commands.clone(),
            ..Order::default()
        };
        self.run_order(&order, turn, &Place::at(root), env, log, stop)
            .await
    }

    pub async fn run_order(
        &self,
        order: &Order,
        turn: u32,
        place: &Place,
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
        let mut results: Vec<CommandResult> = Vec::new();
        let mut failing = BTreeMap::new();
        let mut said = BTreeSet::new();
        let project = order.project.iter().map(|command| (command, false));
        let own = order.own.iter().map(|command| (command, true));
        for (command, of_task) in project.chain(own) {
            let has_failed = results.iter().any(|result| !result.is_good());
            if has_failed && (!of_task || order.own_only_if_project_passes) {
                continue;
            }
            let (output, unwritten) = Output::new(
                log.as_mut(),
                command,
                self.output_limit,
                place.word.as_deref(),
            );
            lost = lost.or(unwritten);
            let ran = self
                .run_one(command, place, env, output, stop.clone())
                .await;
            let Ran {
                result,
                failure,
                has_said_it,
                unkept,
            } = ran;
            if has_said_it {
                said.insert(command.clone());
            }
            if result.exit != Some(0) {
                failing.insert(command.clone(), failure);
            }
            results.push(CommandResult { of_task, ..result });
            lost = lost.or(unkept);
            if *stop.borrow() >= Stop::Gracefully {
                break;
            }
        }
        let report = VerifyReport {
            turn,
            results,
            ..VerifyReport::default()
        };
        Verified {
            report,
            failing,
            said,
            lost,
        }
    }

    async fn run_one(
        &self,
        command: &str,
        place: &Place,
        env: &[(String, String)],
        mut output: Output<'_>,
        stop: watch::Receiver<Stop>,
    ) -> Ran {
        let (program, flag) = SHELL;
        let spec = Spec {
            args: vec![flag.into(), command.into()],
            env: env.iter().map(|(k, v)| (k.into(), v.into())).collect(),
            overlays: place.overlay.clone().into_iter().collect(),
            spared: place.beside,
            env_remove: self.env_filter.removed_here(&[]),
            timeout: Some(self.timeout).filter(|timeout| !timeout.is_zero()),
            grace: self.grace,
            ..Spec::plain(program.into(), &place.cwd, self.timeout)
        };
        let behind = self.wall.clone().map(|wall| Behind {
            wall,
            who: Who::Check,
        });
        let report = wall::run(behind.as_ref(), spec, &mut output, stop).await;
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
        let failure = output.said.failure(exit);
        let result = CommandResult {
            command: command.into(),
            exit,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            output: output.kept.text() + &end,
            digest: output.said.digest(),
            known: exit != Some(0) && self.baseline.knows(command, &failure),
            of_task: false,
            ran: output.said.ran(),
        };
        Ran {
            result,
            failure,
            has_said_it: output.said.has_said_it(),
            unkept: report.sink_error,
        }
    }
}

/// What came of one command.
struct Ran {
    result: CommandResult,
    failure: Failure,
    has_said_it: bool,
    unkept: Option<io::ErrorKind>,
}

/// Both streams in one, as a person would see them: in the log as far as that
/// may grow, head and tail in memory.
struct Output<'a> {
    log: Option<&'a mut KeptOutput>,
    kept: Excerpt,
    said: Said,
}

impl<'a> Output<'a> {
    fn new(
        mut log: Option<&'a mut KeptOutput>,
        command: &str,
        limit: usize,
        word: Option<&str>,
    ) -> (Output<'a>, Option<io::ErrorKind>) {
        let head = format!("$ {command}\n");
        let written = log
            .as_mut()
            .map_or(Ok(()), |log| log.write(head.as_bytes()));
        let kept = Excerpt::new(limit);
        (
            Output {
                log,
                kept,
                said: Said::looking_for(word),
            },
            written.err().map(|error| error.kind()),
        )
    }

    fn take(&mut self, stream: Stream, chunk: &[u8]) -> io::Result<()> {
        self.kept.push(chunk);
        self.said.push(stream, chunk);
        match &mut self.log {
            Some(log) => log.write(chunk),
            None => Ok(()),
        }
    }
}

impl Sink for Output<'_> {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(Stream::Out, chunk)
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(Stream::Err, chunk)
    }
}
