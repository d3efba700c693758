//! Small shell scripts as children, and sinks that act when something is said.

use std::future::Future;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ralph_engine::supervise::{self, Report, Sink, Spec, Stop};
use tokio::sync::watch;

/// Nothing here may take longer; what does, hangs.
pub const HANGS: Duration = Duration::from_secs(60);

/// A script for `sh`, with bounds that no test reaches by accident.
pub fn sh(script: &str) -> Spec {
    Spec {
        overlays: Vec::new(),
        spared: false,
        ends_with_us: false,
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: std::env::temp_dir(),
        env: Vec::new(),
        env_remove: Vec::new(),
        stdin: None,
        timeout: None,
        idle: None,
        left_of_run: None,
        grace: HANGS,
    }
}

/// What a child said, and what is done when it says something.
pub struct Heard<F> {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    react: F,
}

impl<F: FnMut(&[u8]) + Send> Heard<F> {
    pub fn reacting(react: F) -> Heard<F> {
        Heard {
            stdout: Vec::new(),
            stderr: Vec::new(),
            react,
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The process id that the child printed as its first line.
    pub fn pid(&self) -> u32 {
        self.text().lines().next().unwrap().trim().parse().unwrap()
    }
}

impl<F: FnMut(&[u8]) + Send> Sink for Heard<F> {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stdout.extend_from_slice(chunk);
        (self.react)(&self.stdout);
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stderr.extend_from_slice(chunk);
        (self.react)(&self.stderr);
        Ok(())
    }
}

/// Runs a child that nobody stops.
pub async fn run(spec: Spec) -> (Report, Heard<impl FnMut(&[u8]) + Send>) {
    let mut heard = Heard::reacting(|_| {});
    let report = run_with(spec, &mut heard).await;
    (report, heard)
}

pub async fn run_with(spec: Spec, sink: &mut (dyn Sink + Send)) -> Report {
    let stop = watch::Sender::new(Stop::No);
    in_time(supervise::run(spec, sink, stop.subscribe())).await
}

/// Runs a child and asks for its end once it has said `cue`.
pub async fn run_until(
    spec: Spec,
    cue: &'static str,
    wanted: Stop,
) -> (Report, Heard<impl FnMut(&[u8]) + Send>) {
    let stop = watch::Sender::new(Stop::No);
    let receiver = stop.subscribe();
    let mut heard = Heard::reacting(move |said: &[u8]| {
        if contains(said, cue) {
            stop.send_replace(wanted);
        }
    });
    let report = in_time(supervise::run(spec, &mut heard, receiver)).await;
    (report, heard)
}

pub fn contains(said: &[u8], cue: &str) -> bool {
    said.windows(cue.len()).any(|part| part == cue.as_bytes())
}

pub async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let result = tokio::time::timeout(HANGS, work).await;
    result.unwrap_or_else(|_| panic!("it hangs"))
}

/// Waits until a process runs no more; one that nobody reaped counts as gone.
pub fn ends(pid: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if !is_running(pid) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

pub fn is_running(pid: u32) -> bool {
    !matches!(state(pid), None | Some('Z' | 'X'))
}

/// The state letter of a process; `None` where there is no such process.
#[cfg(target_os = "linux")]
pub fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.ok()?.rsplit(") ").next()?.chars().next()
}

#[cfg(not(target_os = "linux"))]
pub fn state(pid: u32) -> Option<char> {
    let ps = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    String::from_utf8_lossy(&ps.stdout).trim().chars().next()
}
