//! The one module that spawns, signals, waits and kills.
//!
//! A child gets a session of its own, so that neither the terminal's job
//! control nor its signals reach it, and so that the whole group can be ended
//! at once. Its output is drained while it runs and handed on in chunks; at
//! most one buffer of it is in memory here.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::sleep_until;

#[cfg(not(unix))]
#[path = "other.rs"]
mod platform;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;

/// What to start. Nothing of it passes a shell.
#[derive(Debug)]
pub struct Spec {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables to set, after `env_remove` took others away.
    pub env: Vec<(OsString, OsString)>,
    pub env_remove: Vec<OsString>,
    /// Read from its beginning; nothing where there is none.
    pub stdin: Option<std::fs::File>,
    /// None where nothing limits it.
    pub timeout: Option<Duration>,
    /// How long a child may take to end after it was asked to.
    pub grace: Duration,
}

/// How far the person who asked for an end wants to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    #[default]
    No,
    Gracefully,
    Now,
}

/// Every way in which a child can end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Stopped,
    SpawnFailed { missing: bool, message: String },
}

#[derive(Clone, Debug)]
pub struct Report {
    pub ending: Ending,
    pub duration: Duration,
    /// Somebody kept the child's output open after it had exited.
    pub leaked: bool,
    /// The first error of the sink: the output could not be kept.
    pub sink_error: Option<io::ErrorKind>,
}

/// Takes the output as it comes.
pub trait Sink {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()>;
    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()>;
}

const CHUNK: usize = 64 * 1024;
/// How long the pipes of a child that has exited may stay open before its
/// group is ended.
const DRAIN: Duration = Duration::from_millis(500);

/// Starts a child and sees it through to its end.
pub async fn run(spec: Spec, sink: &mut (dyn Sink + Send), stop: watch::Receiver<Stop>) -> Report {
    let started = Instant::now();
    match spawn(&spec) {
        Ok(child) => {
            let mut watcher = Watcher {
                spec,
                stop,
                started,
                stop_asked: None,
                ending: None,
            };
            watcher.see_through(child, sink).await
        }
        Err(error) => Report {
            ending: Ending::SpawnFailed {
                missing: error.kind() == io::ErrorKind::NotFound,
                message: format!("{}: {error}", spec.program.to_string_lossy()),
            },
            duration: started.elapsed(),
            leaked: false,
            sink_error: None,
        },
    }
}

fn spawn(spec: &Spec) -> io::Result<Child> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    command.envs(spec.env.iter().map(|(k, v)| (k, v)));
    command.stdin(match &spec.stdin {
        Some(file) => Stdio::from(file.try_clone()?),
        None => Stdio::null(),
    });
    platform::own_session(&mut command);
    command.spawn()
}

/// One child and what is wanted of it.
struct Watcher {
    spec: Spec,
    stop: watch::Receiver<Stop>,
    started: Instant,
    /// When it was asked to end, and why.
    stop_asked: Option<Instant>,
    ending: Option<Ending>,
}

impl Watcher {
    async fn see_through(&mut self, mut child: Child, sink: &mut (dyn Sink + Send)) -> Report {
        let group = child.id();
        let mut stdout = Pipe::new(child.stdout.take());
        let mut stderr = Pipe::new(child.stderr.take());
        let mut sink_error = None;
        let mut status = None;
        let mut drain_until = None;
        let mut leaked = false;

        while status.is_none() || stdout.open() || stderr.open() {
            let deadline = drain_until.or_else(|| self.deadline());
            tokio::select! {
                biased;
                n = stdout.read() => keep(&mut sink_error, stdout.take(n, |chunk| sink.stdout(chunk))),
                n = stderr.read() => keep(&mut sink_error, stderr.take(n, |chunk| sink.stderr(chunk))),
                exit = child.wait(), if status.is_none() => {
                    status = Some(exit);
                    drain_until = Some(Instant::now() + DRAIN);
                }
                () = until(deadline) => {
                    if status.is_some() {
                        leaked = true;
                        break;
                    }
                    self.escalate(group, &mut child);
                }
                Ok(()) = self.stop.changed(), if status.is_none() => self.obey(group, &mut child),
            }
        }
        // Whatever the child left in its group ends with the turn.
        if let Some(group) = group {
            platform::kill_group(group);
        }
        Report {
            ending: self
                .ending
                .take()
                .unwrap_or_else(|| platform::ending(status)),
            duration: self.started.elapsed(),
            leaked,
            sink_error,
        }
    }

    /// The next moment at which something has to be done about a child that
    /// still runs.
    fn deadline(&self) -> Option<Instant> {
        match self.stop_asked {
            Some(asked) => Some(asked + self.spec.grace),
            None => self.spec.timeout.map(|t| self.started + t),
        }
    }

    /// The deadline passed: first it is asked, then it is killed.
    fn escalate(&mut self, group: Option<u32>, child: &mut Child) {
        if self.stop_asked.is_none() {
            self.ask(group, Ending::TimedOut);
        } else {
            self.kill(group, child);
        }
    }

    fn obey(&mut self, group: Option<u32>, child: &mut Child) {
        let wanted = *self.stop.borrow();
        match wanted {
            Stop::No => return,
            Stop::Gracefully => {}
            Stop::Now => {
                self.ending.get_or_insert(Ending::Stopped);
                return self.kill(group, child);
            }
        }
        if self.stop_asked.is_none() {
            self.ask(group, Ending::Stopped);
        }
    }

    fn ask(&mut self, group: Option<u32>, why: Ending) {
        self.ending.get_or_insert(why);
        self.stop_asked = Some(Instant::now());
        if let Some(group) = group {
            platform::ask_group_to_end(group);
        }
    }

    fn kill(&mut self, group: Option<u32>, child: &mut Child) {
        self.stop_asked = Some(Instant::now());
        if let Some(group) = group {
            platform::kill_group(group);
        }
        // The group kill covers it where groups exist.
        let _ = child.start_kill();
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn keep(first: &mut Option<io::ErrorKind>, result: io::Result<()>) {
    if let Err(error) = result {
        first.get_or_insert(error.kind());
    }
}

/// One end of a pipe and the buffer that it is read into.
struct Pipe<R> {
    reader: Option<R>,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(reader: Option<R>) -> Pipe<R> {
        Pipe {
            reader,
            buffer: vec![0; CHUNK],
        }
    }

    fn open(&self) -> bool {
        self.reader.is_some()
    }

    /// Bytes read; never returns once the pipe is closed.
    async fn read(&mut self) -> io::Result<usize> {
        match &mut self.reader {
            Some(reader) => reader.read(&mut self.buffer).await,
            None => std::future::pending().await,
        }
    }

    /// Hands on what was read; the end of the pipe or an error closes it.
    fn take(
        &mut self,
        read: io::Result<usize>,
        hand_on: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        match read {
            Ok(n) if n > 0 => hand_on(&self.buffer[..n]),
            _ => {
                self.reader = None;
                Ok(())
            }
        }
    }
}
