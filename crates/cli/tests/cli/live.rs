//! Processes that run beside a test, and conditions to wait for. Nothing here
//! sleeps and hopes: a condition is looked at until it holds, up to a deadline.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::env::{Done, TestEnv};

/// Far more than anything here takes, also on a machine with much to do.
pub const DEADLINE: Duration = Duration::from_secs(60);
pub const LOOK: Duration = Duration::from_millis(10);

/// Looks again and again until there is something to see.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(LOOK);
    }
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(what, || holds().then_some(()));
}

/// A process of ours that runs. It is killed with the test, should that fail.
pub struct Live {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Live {
    /// Its output goes into files beside the project, so that nothing blocks.
    pub fn start(env: &TestEnv, name: &str, mut command: Command) -> Live {
        let (out, err) = (
            env.outside(&format!("{name}.out")),
            env.outside(&format!("{name}.err")),
        );
        let child = command
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Live { child, out, err }
    }

    pub fn stdout(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        signal(name, &self.child.id().to_string());
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends a process that would never end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn finish(mut self) -> Done {
        let status = eventually("the process ends", || self.child.try_wait().unwrap());
        Done {
            code: status.code().unwrap_or(-1),
            stdout: self.stdout(),
            stderr: fs::read_to_string(&self.err).unwrap(),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A program for `/bin/sh`, beside the project, as an agent's command line.
pub fn shell_agent(env: &TestEnv, script: &str) -> String {
    let path = env.outside("agent.sh");
    fs::write(&path, script).unwrap();
    format!("sh {}", path.display())
}

/// Whether a process works; one that is dead and not yet buried does not.
pub fn is_alive(pid: &str) -> bool {
    process(pid).is_some_and(|(state, _)| state != 'Z')
}

/// The process that this one started.
pub fn child_of(parent: &str) -> Option<String> {
    let is_child = |pid: &String| process(pid).is_some_and(|(_, of)| of == parent);
    processes().into_iter().find(is_child)
}

/// The state of a process and its parent.
#[cfg(target_os = "linux")]
fn process(pid: &str) -> Option<(char, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.to_owned()))
}

#[cfg(target_os = "linux")]
fn processes() -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.parse::<u32>().is_ok()).collect()
}

#[cfg(not(target_os = "linux"))]
fn process(pid: &str) -> Option<(char, String)> {
    let told = ps(&["-o", "stat=,ppid=", "-p", pid]);
    let mut words = told.split_whitespace();
    let state = words.next()?.chars().next()?;
    Some((state, words.next()?.to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn processes() -> Vec<String> {
    let told = ps(&["-A", "-o", "pid="]);
    told.split_whitespace().map(str::to_owned).collect()
}

#[cfg(not(target_os = "linux"))]
fn ps(args: &[&str]) -> String {
    let output = Command::new("ps").args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Sends a signal as a person would: the builtin of the shell is everywhere.
pub fn signal(name: &str, pid: &str) {
    let status = Command::new("sh")
        .args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, pid])
        .status()
        .unwrap();
    assert!(status.success(), "kill -s {name} {pid}");
}

/// The folder of the run that began last.
pub fn latest_run(env: &TestEnv) -> PathBuf {
    let mut runs: Vec<PathBuf> = fs::read_dir(env.state("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    runs.sort();
    runs.pop().unwrap()
}

/// The data of every record of a journal.
pub fn journal(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("journal.jsonl")).unwrap();
    let record = |line: &str| serde_json::from_str::<Value>(line).unwrap()["data"].take();
    text.lines().map(record).collect()
}
