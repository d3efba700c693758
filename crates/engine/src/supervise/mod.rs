//! The one module that spawns, signals, waits and kills.
//!
//! A child gets a session of its own, so that neither the terminal's job
//! control nor its signals reach it, and so that the whole group can be ended
//! at once. Its output is drained while it runs and handed on in chunks; at
//! most one buffer of it is in memory here.

mod deadlines;
#[cfg(target_os = "linux")]
pub mod orphans;
#[cfg(not(target_os = "linux"))]
#[path = "orphans_elsewhere.rs"]
pub mod orphans;
mod output;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
mod tag;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use ralph_store::fault::{self, Deed, point};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::sleep_until;

use deadlines::{Bounds, Deadlines, Moment, Strike};
use output::Output;
use platform::Leader;
#[cfg(target_os = "linux")]
pub use platform::limit;
pub use platform::{ancestors, ancestors_of, can_be_continued, file_of, stop_ourselves};
pub use tag::Tag;

/// The shell of the system, and the flag before a line of it.
pub const SHELL: (&str, &str) = if cfg!(windows) {
    ("cmd", "/C")
} else {
    ("sh", "-c")
};

/// What to start. Nothing of it passes a shell.
#[derive(Debug)]
pub struct Spec {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables to set, after `env_remove` took others away.
    pub env: Vec<(OsString, OsString)>,
    pub env_remove: Vec<OsString>,
    /// It sees these files over those that are there.
    pub overlays: Vec<Overlay>,
    /// It is wanted beside the one that does the work, and not ended with that
    /// one's leftovers.
    pub spared: bool,
    /// It dies with us, however we end; asked to end, it lets those inside do
    /// so first.
    pub ends_with_us: bool,
    /// Read from where it stands; nothing where there is none.
    pub stdin: Option<std::fs::File>,
    /// None where nothing limits it.
    pub timeout: Option<Duration>,
    /// How long it may show no sign of work; None where nothing limits that.
    pub idle: Option<Duration>,
    /// What is left of the whole run, also while the machine is suspended.
    pub left_of_run: Option<Duration>,
    /// How long a child may take to end after it was asked to.
    pub grace: Duration,
}

/// A layer over a folder that only one child and its children see. What they
/// write goes into the layer.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The folder in whose place it is.
    pub at: PathBuf,
    /// What it lies over.
    pub lower: PathBuf,
    pub upper: PathBuf,
    /// The kernel's own, empty, on the file system of `upper`.
    pub work: PathBuf,
    /// Nobody wants what was written after a power failure: it need not be on
    /// the disk.
    pub passing: bool,
}

/// How far the person who asked for an end wants to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    #[default]
    No,
    /// Stand still until something else is wanted.
    Freeze,
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
    /// `missing` says that there is no such program.
    SpawnFailed {
        missing: bool,
        message: String,
    },
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

    /// Whether a child that said nothing for too long shows another sign of
    /// work since this was asked last.
    fn shows_work(&mut self) -> bool {
        false
    }
}

/// Hears nothing.
#[derive(Debug)]
pub struct Nobody;

impl Sink for Nobody {
    fn stdout(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn stderr(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// How long the pipes of a child that has exited may stay open before its
/// group is ended.
const DRAIN: Duration = Duration::from_millis(500);
/// Chunks that are still taken after that, if they are there at once: more
/// than both pipes can hold, so that all that the child itself said is read.
const OVERTIME_CHUNKS: usize = 64;

/// What another Ralph says on its standard output, line by line; a line that is
/// longer than `longest` is nothing that it would say.
#[derive(Debug)]
pub struct SaidLines {
    rest: Vec<u8>,
    longest: usize,
}

impl SaidLines {
    pub fn new(longest: usize) -> SaidLines {
        SaidLines {
            rest: Vec::new(),
            longest,
        }
    }

    /// The lines that are whole with this chunk.
    pub fn take(&mut self, chunk: &[u8]) -> Vec<Vec<u8>> {
        self.rest.extend_from_slice(chunk);
        let mut lines = Vec::new();
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            lines.push(self.rest.drain(..=end).collect());
        }
        if self.rest.len() > self.longest {
            self.rest.clear();
        }
        lines
    }
}

/// Starts a child and sees it through to its end. Where the future is dropped
/// before that, the child and its group are killed.
pub async fn run(spec: Spec, sink: &mut (dyn Sink + Send), stop: watch::Receiver<Stop>) -> Report {
    let started = Instant::now();
    let without_child = |ending| Report {
        ending,
        duration: started.elapsed(),
        leaked: false,
        sink_error: None,
    };
    if *stop.borrow() >= Stop::Gracefully {
        return without_child(Ending::Stopped);
    }
    match spawn(&spec) {
        Ok(child) => {
            let _spared = child.id().filter(|_| spec.spared).map(orphans::spare);
            let supervisor = Supervisor {
                deadlines: Deadlines::new(spec.bounds(), Moment::now()),
                grace: spec.grace,
                stop,
                started,
                frozen: None,
                pressure: Pressure::None,
                ending: None,
            };
            supervisor.see_through(child, sink).await
        }
        Err(error) => without_child(spawn_failed(&spec, &error)),
    }
}

impl Spec {
    /// A program without arguments, in a folder, with so much time.
    pub fn plain(program: OsString, cwd: &Path, timeout: Duration) -> Spec {
        Spec {
            program,
            args: Vec::new(),
            cwd: cwd.to_owned(),
            env: Vec::new(),
            env_remove: Vec::new(),
            overlays: Vec::new(),
            spared: false,
            ends_with_us: false,
            stdin: None,
            timeout: Some(timeout),
            idle: None,
            left_of_run: None,
            grace: Duration::from_secs(1),
        }
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            timeout: self.timeout,
            idle: self.idle,
            left_of_run: self.left_of_run,
        }
    }
}

fn spawn(spec: &Spec) -> io::Result<Child> {
    let mut command = Command::new(&spec.program);
    platform::arguments(&mut command, spec);
    command
        .current_dir(&spec.cwd)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command.stdin(match &spec.stdin {
        Some(file) => Stdio::from(file.try_clone()?),
        None => Stdio::null(),
    });
    platform::own_session(&mut command);
    let mut command = prepared(command, spec)?;
    fault::at(point::ENGINE_SPAWN, Deed::Process, || command.spawn())
}

/// With its environment, and with what happens between fork and exec.
fn prepared(mut command: Command, spec: &Spec) -> io::Result<Command> {
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    command.envs(spec.env.iter().map(|(k, v)| (k, v)));
    if !spec.overlays.is_empty() {
        platform::enter(&mut command, &spec.overlays, &spec.cwd)?;
    }
    if spec.ends_with_us {
        platform::end_with_us(&mut command);
    }
    Ok(command)
}

/// Starts a child that has our terminal for itself, and gives its exit code.
pub fn foreground(spec: &Spec) -> io::Result<impl Future<Output = io::Result<u8>> + use<>> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .kill_on_drop(true);
    let mut child = prepared(command, spec)?.spawn()?;
    Ok(async move {
        let code = child.wait().await?.code();
        Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    })
}

/// The system says "not found" about the directory and about the interpreter
/// of a script too.
fn spawn_failed(spec: &Spec, error: &io::Error) -> Ending {
    let program = Path::new(&spec.program);
    let (path, missing) = if spec.cwd.is_dir() {
        let is_there = program.components().count() > 1 && program.exists();
        (
            program,
            error.kind() == io::ErrorKind::NotFound && !is_there,
        )
    } else {
        (spec.cwd.as_path(), false)
    };
    Ending::SpawnFailed {
        missing,
        message: format!("{}: {error}", path.display()),
    }
}

/// How hard a child has been pressed to end.
enum Pressure {
    None,
    Asked(Instant),
    /// Nothing more can be done: a kill can't be refused.
    Killed,
}

/// One child and what is wanted of it.
struct Supervisor {
    deadlines: Deadlines,
    grace: Duration,
    stop: watch::Receiver<Stop>,
    started: Instant,
    /// Since when it stands still.
    frozen: Option<Moment>,
    pressure: Pressure,
    /// Why it was pressed to end.
    ending: Option<Ending>,
}

impl Supervisor {
    async fn see_through(mut self, mut child: Child, sink: &mut (dyn Sink + Send)) -> Report {
        let mut output = Output::of(&mut child, sink);
        let mut leader = Leader::new(child);
        self.until_exit(&mut leader, &mut output).await;
        fault::pass(point::ENGINE_EXIT_NOTICED);
        let leaked = !drained(&mut output).await;
        let exit = leader.end_group_and_reap().await;
        Report {
            ending: self.ending.unwrap_or_else(|| platform::ending(exit)),
            duration: self.started.elapsed(),
            leaked,
            sink_error: output.sink_error(),
        }
    }

    /// What happens seldom comes first: there may always be output.
    async fn until_exit(&mut self, leader: &mut Leader, output: &mut Output<'_>) {
        if *self.stop.borrow() == Stop::Freeze {
            self.freeze(leader);
        }
        loop {
            let deadline = self.deadline();
            tokio::select! {
                biased;
                () = leader.exited() => return,
                Ok(()) = self.stop.changed() => self.obey(leader),
                () = until(deadline) => self.escalate(leader, output),
                () = output.hand_on() => self.deadlines.heard_at(Instant::now()),
            }
        }
    }

    /// The next moment at which something has to be done.
    fn deadline(&self) -> Option<Instant> {
        match self.pressure {
            _ if self.frozen.is_some() => None,
            Pressure::None => self.deadlines.next(Moment::now),
            Pressure::Asked(at) => at.checked_add(self.grace),
            Pressure::Killed => None,
        }
    }

    /// A deadline passed: first it is asked, then it is killed.
    fn escalate(&mut self, leader: &mut Leader, output: &mut Output<'_>) {
        match self.pressure {
            Pressure::None => match self.deadlines.strike(Moment::now()) {
                Some(Strike::Silent) if output.sink_shows_work() => {
                    self.deadlines.heard_at(Instant::now());
                }
                Some(Strike::Late | Strike::Silent) => self.ask(leader, Ending::TimedOut),
                None => {}
            },
            Pressure::Asked(_) | Pressure::Killed => self.kill(leader, Ending::TimedOut),
        }
    }

    fn obey(&mut self, leader: &mut Leader) {
        let wanted = *self.stop.borrow();
        if wanted == Stop::Freeze {
            return self.freeze(leader);
        }
        self.thaw(leader);
        match (wanted, &self.pressure) {
            (Stop::Gracefully, Pressure::None) => self.ask(leader, Ending::Stopped),
            (Stop::Now, _) => self.kill(leader, Ending::Stopped),
            (Stop::No | Stop::Freeze | Stop::Gracefully, _) => {}
        }
    }

    fn freeze(&mut self, leader: &mut Leader) {
        leader.freeze_group();
        self.frozen.get_or_insert_with(Moment::now);
    }

    fn thaw(&mut self, leader: &mut Leader) {
        let Some(from) = self.frozen.take() else {
            return;
        };
        let to = Moment::now();
        self.deadlines.skip(from, to);
        if let Pressure::Asked(at) = &mut self.pressure {
            *at += to.awake.saturating_duration_since(from.awake);
        }
        leader.thaw_group();
    }

    fn ask(&mut self, leader: &mut Leader, why: Ending) {
        self.ending.get_or_insert(why);
        self.pressure = Pressure::Asked(Instant::now());
        leader.ask_group_to_end();
    }

    fn kill(&mut self, leader: &mut Leader, why: Ending) {
        self.ending.get_or_insert(why);
        self.pressure = Pressure::Killed;
        leader.kill_group();
    }
}

/// Reads what is left behind an exit; false where somebody else keeps the
/// pipes open. What is there is read before the time is looked at, so that a
/// slow sink loses nothing that the child said.
async fn drained(output: &mut Output<'_>) -> bool {
    let deadline = Instant::now() + DRAIN;
    let mut overtime = 0;
    while output.is_open() && overtime < OVERTIME_CHUNKS {
        tokio::select! {
            biased;
            () = output.hand_on() => overtime += usize::from(Instant::now() > deadline),
            () = until(Some(deadline)) => return false,
        }
    }
    !output.is_open()
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
