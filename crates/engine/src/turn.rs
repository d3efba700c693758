//! One call of the agent: prompt out, process through, answer back.

mod linger;
mod meter;
mod tripwire;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ralph_core::governor::{ErrorClass, is_rate_limit};
use ralph_core::machine::{End, Refusal, Turn};
use ralph_core::usage::Usage;
use ralph_store::fault::{self, Deed, point};
use ralph_store::{Action, FileError, private};
use tokio::sync::watch;

use crate::agents::{
    Agent, AgentError, AgentEvent, EnvFilter, Heard, Invocation, Listener, Session, find_program,
};
use crate::announcement::Announcement;
use crate::clock;
use crate::excerpt::{Excerpt, shortened};
use crate::kept::{self, KeptOutput};
use crate::look::Signs;
use crate::supervise::{self, Ending, Report, Sink, Spec, Stop, Tag};
use crate::wall::{self, Behind, Wall, Who};
use meter::Meter;
use tripwire::Tripwire;

pub use linger::LINGER;

/// How much of the agent's words about a failure is kept for messages.
const FAILURE_CHARACTERS: usize = 1_000;

/// Shows the agent's output while it comes.
pub type Echo = Arc<dyn Fn(Echoed<'_>) + Send + Sync>;

/// A piece of an agent's output.
#[derive(Debug)]
pub enum Echoed<'a> {
    /// Of a program whose output is not understood.
    Bytes(&'a [u8]),
    Event(&'a AgentEvent),
}

/// Everything a call needs; it owns all of it, so that it can run beside the
/// driver.
pub struct Call {
    pub agent: Agent,
    pub turn: Turn,
    pub root: PathBuf,
    pub prompt: String,
    pub prompt_file: PathBuf,
    pub output_file: PathBuf,
    /// What our hook was asked about.
    pub asked_file: PathBuf,
    /// How much of the output is kept; zero keeps all.
    pub output_max: u64,
    pub env: Vec<(String, String)>,
    pub env_filter: EnvFilter,
    pub idle: Option<Duration>,
    /// What else shows that a silent agent works.
    pub signs: Option<Signs>,
    pub grace: Duration,
    /// How long the agent may stay after it said how the turn went.
    pub linger: Duration,
    pub echo: Option<Echo>,
    /// What stands around the agent.
    pub wall: Option<Arc<Wall>>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("agent", &self.agent)
            .field("turn", &self.turn.turn)
            .finish_non_exhaustive()
    }
}

/// What came of a call.
#[derive(Debug)]
pub struct Called {
    pub turn: u32,
    pub attempt: u32,
    /// The place of the agent in the chain.
    pub agent: usize,
    pub prompt: String,
    pub end: End,
    pub duration_ms: u64,
    pub text: String,
    pub failure: String,
    /// What it used, as far as the agent tells.
    pub spent: Usage,
    /// Why the agent's service would not do the work.
    pub refusal: Option<Refusal>,
    /// The session to go on with.
    pub session: Option<Session>,
    /// What went wrong beside the agent's own work.
    pub troubles: Vec<Announcement>,
}

impl Call {
    pub async fn make(mut self, stop: watch::Receiver<Stop>) -> Called {
        let invocation = self.agent.invocation(&self.prompt_file, &self.prompt);
        match self.start_files(&invocation) {
            Ok((stdin, sink)) => self.see_through(invocation, stdin, sink, stop).await,
            Err((file, error)) => Called {
                turn: self.turn.turn,
                attempt: self.turn.attempt,
                agent: self.turn.agent,
                end: End::Unwritable,
                duration_ms: 0,
                text: String::new(),
                failure: FileError::new(&file, Action::Write, &error).to_string(),
                spent: Usage::default(),
                refusal: None,
                session: None,
                troubles: Vec::new(),
                prompt: self.prompt,
            },
        }
    }

    /// Writes the prompt and opens the files of the turn; an error names the
    /// file that it is about.
    fn start_files(
        &mut self,
        invocation: &Invocation,
    ) -> Result<(Option<File>, TurnSink), (PathBuf, io::Error)> {
        let about = |file: &PathBuf| {
            let file = file.clone();
            |error| (file, error)
        };
        self.write_prompt().map_err(about(&self.prompt_file))?;
        for (file, text) in &invocation.files {
            write_file(file, text).map_err(about(file))?;
        }
        let stdin = match invocation.prompt_on_stdin {
            true => Some(
                ralph_store::regular::open(&self.prompt_file).map_err(about(&self.prompt_file))?,
            ),
            false => None,
        };
        let output = KeptOutput::create(&self.output_file, self.output_max, kept::OF_A_TURN);
        let sink = TurnSink {
            output: output.map_err(about(&self.output_file))?,
            signs: self.signs.take(),
            listener: self.agent.listener(),
            stderr: Excerpt::new(FAILURE_CHARACTERS),
            rest: watch::Sender::new(None),
            enough: watch::Sender::new(false),
            meter: Meter::new(self.turn.allowance),
            tripwire: self
                .agent
                .proof()
                .map(|proof| Tripwire::new(proof, &self.asked_file)),
            echo: self.echo.clone(),
        };
        Ok((stdin, sink))
    }

    fn write_prompt(&self) -> io::Result<()> {
        let file = create(&self.prompt_file, point::ENGINE_PROMPT_OPEN)?;
        fault::write_all(&file, self.prompt.as_bytes(), point::ENGINE_PROMPT_WRITE)
    }

    async fn see_through(
        self,
        invocation: Invocation,
        stdin: Option<File>,
        mut sink: TurnSink,
        stop: watch::Receiver<Stop>,
    ) -> Called {
        let behind = self.wall.clone().map(|wall| Behind {
            wall,
            who: self.who(&invocation),
        });
        let program =
            find_program(&invocation.program, &self.root).map_or(invocation.program, Into::into);
        let name = program.to_string_lossy().into_owned();
        let mut env = invocation.env;
        env.extend(self.env.iter().map(|(k, v)| (k.into(), v.into())));
        let mut env_remove = invocation.env_remove;
        env_remove.extend(self.env_filter.removed_here(self.agent.credentials()));
        let spec = Spec {
            args: invocation.args,
            env,
            env_remove,
            stdin,
            idle: self.idle,
            timeout: unless_zero(self.turn.timeout_ms),
            left_of_run: unless_zero(self.turn.left_ms),
            grace: self.grace,
            ..Spec::plain(program, &self.root, Duration::ZERO)
        };
        let (rest, enough) = (sink.rest.subscribe(), sink.enough.subscribe());
        let child = watch::Sender::new(*stop.borrow());
        let lingered = AtomicBool::new(false);
        let running = wall::run(behind.as_ref(), spec, &mut sink, child.subscribe());
        let watching =
            linger::watch_over(stop.clone(), rest, enough, self.linger, &child, &lingered);
        // A wish reaches the child within the poll that brings it: a freeze
        // allows for no second one.
        let mut report = tokio::select! {
            biased;
            never = watching => match never {},
            report = running => report,
        };
        // Nobody but us wanted it to end, and its work was done.
        let lingered = lingered.into_inner() && *stop.borrow() == supervise::Stop::No;
        if lingered && report.ending == Ending::Stopped {
            report.ending = Ending::Exited(0);
        }
        let heard = sink.listener.heard();
        let stderr = sink.stderr.text();
        // Nobody but us wanted it to end, and it had used more than it may.
        let cut = sink.meter.is_over() && *stop.borrow() == supervise::Stop::No;
        let unguarded = sink.unguarded().map(str::to_owned);
        let end = match unguarded {
            Some(_) => End::Unguarded,
            None => end(&report, &heard, cut),
        };
        let refusal = self.refusal(&end, &heard, &stderr);
        Called {
            turn: self.turn.turn,
            attempt: self.turn.attempt,
            agent: self.turn.agent,
            spent: heard.usage,
            refusal,
            session: session(&heard),
            troubles: troubles(&report, lingered, &self.output_file, sink.output.dropped()),
            prompt: self.prompt,
            end,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            failure: match (&report.ending, unguarded) {
                (_, Some(tool)) => tool,
                // The class of the error says what is wrong with it.
                (Ending::SpawnFailed { missing: true, .. }, None) => name,
                _ => failure(&report.ending, heard.error.as_ref(), &stderr),
            },
            text: heard.text,
        }
    }
}

impl Call {
    /// Who is started, and which files of the run it has to read.
    fn who(&self, invocation: &Invocation) -> Who {
        let written = invocation.files.iter().map(|(file, _)| file.clone());
        Who::Agent {
            client: match &self.agent {
                Agent::Known(client, _) => Some(*client),
                Agent::Custom(_) | Agent::Scripted { .. } => None,
            },
            files: written.chain([self.prompt_file.clone()]).collect(),
        }
    }

    /// Why the service would not do the work, where the turn failed for that.
    fn refusal(&self, end: &End, heard: &Heard, stderr: &str) -> Option<Refusal> {
        let failed = match end {
            End::Exit(code) => *code != 0,
            End::Signal(_) | End::ResultError => true,
            _ => false,
        };
        let now = clock::now().wall_ms;
        let refusal = |stderr: &str| heard.refusal(stderr, now, &clock::zone_name());
        match &self.agent {
            _ if !failed => None,
            Agent::Known(..) => refusal(stderr),
            // The error output of any program holds what its tools said as
            // well: only its last words are its own, and an outage is for the
            // error counter, or a broken test could be waited for for ever.
            Agent::Custom(_) | Agent::Scripted { .. } => {
                let words = last_words(stderr);
                let is_outage = |refusal: &Refusal| {
                    matches!(refusal, Refusal::Overload { .. }) && !is_rate_limit(&words)
                };
                refusal(&words).filter(|refusal| !is_outage(refusal))
            }
        }
    }
}

/// The last line, and the one above it where the last only says when to come
/// back, as the header of an answer does.
fn last_words(text: &str) -> String {
    let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    let last = lines.next().unwrap_or_default();
    let is_header = last
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("retry-after");
    let above = lines.next().filter(|_| is_header);
    above
        .into_iter()
        .chain([last])
        .collect::<Vec<_>>()
        .join(" ")
}

/// A turn that went well leaves a session to go on with.
fn session(heard: &Heard) -> Option<Session> {
    let id = heard.session_id.clone().filter(|_| heard.error.is_none())?;
    let used = heard.session_usage;
    Some(Session::Resume { id, used })
}

fn unless_zero(ms: u64) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(ms))
}

fn create(path: &Path, point: &'static str) -> io::Result<File> {
    fault::at(point, Deed::Open, || private::create_file(path))
}

fn write_file(file: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(file, text)
}

fn troubles(report: &Report, lingered: bool, output: &Path, dropped: u64) -> Vec<Announcement> {
    let lost = report.sink_error.map(|kind| Announcement::OutputLost {
        file: output.into(),
        message: kind.to_string(),
    });
    let leaked = report.leaked.then_some(Announcement::Leaked);
    let cut = (dropped > 0).then(|| Announcement::OutputCut {
        file: output.into(),
        dropped,
    });
    let lingered = lingered.then_some(Announcement::Lingered);
    lost.into_iter()
        .chain(cut)
        .chain(leaked)
        .chain(lingered)
        .collect()
}

fn end(report: &Report, heard: &Heard, cut: bool) -> End {
    let own_limit = heard.error.as_ref().map(|error| error.class) == Some(ErrorClass::Budget);
    match &report.ending {
        Ending::Stopped if cut => End::OverBudget,
        Ending::Exited(_) if cut || own_limit => End::OverBudget,
        Ending::Exited(0) if heard.error.is_some() => End::ResultError,
        Ending::Exited(code) => End::Exit(*code),
        Ending::Signalled(signal) => End::Signal(*signal),
        Ending::TimedOut => End::TimedOut,
        Ending::Stopped => End::Stopped,
        Ending::SpawnFailed { missing, .. } => End::SpawnFailed { missing: *missing },
    }
}

/// The agent's own words about what went wrong, without secrets. A result
/// that says why comes before the error output, and that before the mere fact
/// that there was no result.
fn failure(ending: &Ending, error: Option<&AgentError>, stderr: &str) -> String {
    let stderr = stderr.trim();
    let words = match (ending, error) {
        (Ending::TimedOut | Ending::Stopped, _) | (Ending::Exited(0), None) => "",
        (Ending::SpawnFailed { message, .. }, _) => message,
        (_, Some(error)) if !error.message.is_empty() => &error.message,
        (_, Some(_)) if stderr.is_empty() => "the agent ended without a result",
        (_, _) => stderr,
    };
    shortened(words, FAILURE_CHARACTERS)
}

/// Keeps the raw output in a file and lets the agent's listener hear it.
struct TurnSink {
    output: KeptOutput,
    signs: Option<Signs>,
    listener: Listener,
    stderr: Excerpt,
    /// Since when the agent has nothing left to do.
    rest: watch::Sender<linger::Rest>,
    /// It has to end, for one of the reasons below.
    enough: watch::Sender<bool>,
    meter: Meter,
    tripwire: Option<Tripwire>,
    echo: Option<Echo>,
}

impl TurnSink {
    /// The tool that ran without our guard, where it rides along.
    fn unguarded(&self) -> Option<&str> {
        self.tripwire.as_ref()?.tool()
    }
}

impl Sink for TurnSink {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        let (meter, tripwire, echo) = (&mut self.meter, &mut self.tripwire, &self.echo);
        self.listener.hear(chunk, &mut |event| {
            meter.take(&event);
            if let Some(tripwire) = tripwire {
                tripwire.take(&event);
            }
            if let Some(echo) = echo {
                echo(Echoed::Event(&event));
            }
        });
        if self.meter.is_over() || self.unguarded().is_some() {
            let tell = |enough: &mut bool| !std::mem::replace(enough, true);
            self.enough.send_if_modified(tell);
        }
        let rests = self.listener.at_rest();
        self.rest.send_if_modified(|rest| {
            let changed = rests || rest.is_some();
            *rest = rests.then(Instant::now);
            changed
        });
        if let (Some(echo), true) = (&self.echo, self.listener.is_plain()) {
            echo(Echoed::Bytes(chunk));
        }
        self.output.write(chunk)
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stderr.push(chunk);
        self.output.write(chunk)
    }

    fn shows_work(&mut self) -> bool {
        self.signs.as_mut().is_some_and(Signs::changed)
    }
}

/// What the environment of every child of a run says.
pub fn run_env(tag: &Tag, turn: u32, tasks_file: Option<&Path>) -> Vec<(String, String)> {
    let mut env = vec![
        ("RALPH_RUN_ID".into(), tag.name().into()),
        (Tag::VARIABLE.into(), tag.value().into()),
        ("RALPH_ITERATION".into(), turn.to_string()),
        // Hooks of the child must not drive a second loop (LOOP-18).
        ("RALPH_MODE".into(), "external".into()),
    ];
    if let Some(file) = tasks_file {
        env.push((
            "RALPH_TASKS_FILE".into(),
            file.to_string_lossy().into_owned(),
        ));
    }
    env
}
