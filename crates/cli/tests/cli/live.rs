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
        let pid = self.child.id().to_string();
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &pid])
            .status()
            .unwrap();
        assert!(status.success(), "kill -s {name} {pid}");
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
    let output = Command::new("ps")
        .args(["-o", "stat=", "-p", pid])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&output.stdout);
    let state = state.trim();
    !state.is_empty() && !state.starts_with('Z')
}

/// The folder of the run that began last.
pub fn latest_run(env: &TestEnv) -> PathBuf {
    let mut runs: Vec<PathBuf> = fs::read_dir(env.path(".ralph/runs"))
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
