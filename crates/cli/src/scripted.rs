//! The scripted agent: plays a script of turns and really does what it says.
//!
//! It is a child process like any agent: it reads its prompt, edits files,
//! commits, ticks boxes and answers. The demo and the tests drive it.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ralph_core::tasks::{self, ReadOptions};
use serde::Deserialize;

use crate::FAILED;

/// A script: one entry per turn; after the last, nothing more is done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    turns: Vec<Turn>,
}

/// What happens in a turn, in this order.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Turn {
    /// Told to the person who watches, before anything is done.
    thinking: String,
    /// Waits so long, so that somebody can watch.
    wait_ms: u64,
    /// Files to write, path to content.
    write: std::collections::BTreeMap<PathBuf, String>,
    remove: Vec<PathBuf>,
    /// Tasks to mark as done.
    tick: Vec<String>,
    /// Message of a commit of everything.
    commit: String,
    /// The final answer.
    say: String,
    /// Said on the error output.
    complain: String,
    exit: u8,
}

/// `ralph __agent [SCRIPT]`: without a script, the demo's.
pub fn run(args: &[OsString]) -> u8 {
    let mut prompt = String::new();
    // The prompt is taken, as every agent takes it, and not understood.
    let _ = std::io::stdin().read_to_string(&mut prompt);
    match play(args.first().map(Path::new)) {
        Ok(code) => code,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "scripted agent: {problem}");
            FAILED
        }
    }
}

fn play(script: Option<&Path>) -> Result<u8, String> {
    let text = match script {
        Some(path) => {
            std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?
        }
        None => crate::demo::SCRIPT.to_owned(),
    };
    let script: Script = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let iteration: usize = std::env::var("RALPH_ITERATION")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let nothing = Turn {
        say: "<promise>CONTINUE</promise>".into(),
        ..Turn::default()
    };
    let turn = script
        .turns
        .get(iteration.saturating_sub(1))
        .unwrap_or(&nothing);
    turn.play().map_err(|e| e.to_string())
}

impl Turn {
    fn play(&self) -> std::io::Result<u8> {
        let mut out = std::io::stdout();
        if !self.thinking.is_empty() {
            writeln!(out, "{}", self.thinking)?;
            out.flush()?;
        }
        std::thread::sleep(Duration::from_millis(self.wait_ms));
        for (path, content) in &self.write {
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            std::fs::write(path, content)?;
        }
        for path in &self.remove {
            std::fs::remove_file(path)?;
        }
        for id in &self.tick {
            tick(id)?;
        }
        if !self.commit.is_empty() {
            commit(&self.commit)?;
        }
        if !self.complain.is_empty() {
            writeln!(std::io::stderr(), "{}", self.complain)?;
        }
        if !self.say.is_empty() {
            writeln!(out, "{}", self.say)?;
        }
        Ok(self.exit)
    }
}

fn tick(id: &str) -> std::io::Result<()> {
    let path = PathBuf::from(std::env::var_os("RALPH_TASKS_FILE").unwrap_or_default());
    let bytes = std::fs::read(&path)?;
    let problem = |e: ralph_core::tasks::TaskError| std::io::Error::other(format!("{e:?}"));
    let list =
        tasks::read(&path.to_string_lossy(), &bytes, &ReadOptions::default()).map_err(problem)?;
    let task = list.require(id).map_err(problem)?;
    let ticked = tasks::set_mark(&bytes, &list, task, true).map_err(problem)?;
    std::fs::write(&path, ticked)
}

fn commit(message: &str) -> std::io::Result<()> {
    git(&["add", "-A"])?;
    git(&[
        "-c",
        "user.name=Scripted Agent",
        "-c",
        "user.email=agent@localhost",
        "commit",
        "-q",
        "-m",
        message,
    ])
}

fn git(args: &[&str]) -> std::io::Result<()> {
    let output = Command::new("git").args(args).output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ))
    }
}
