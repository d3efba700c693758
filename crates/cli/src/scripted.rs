//! The scripted agent: plays a script of turns and really does what it says.
//!
//! It is a child process like any agent: it reads its prompt, edits files,
//! commits, ticks boxes and answers, in plain text or in Claude's stream of
//! JSON lines. The demo, the drill and the tests drive it.

mod faults;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ralph_core::tasks::{self, ReadOptions, TaskError, TaskList};
use serde::Deserialize;
use serde_json::json;

use crate::FAILED;
use faults::Fault;

/// Behind the script on the command line: the answer comes as a `result` line.
pub const STREAM_JSON: &str = "--stream-json";

/// Stands for every open task in `tick`.
pub const EVERY_TASK: &str = "*";

/// Stands for the id of the run in a path.
pub const RUN_ID: &str = "{run_id}";

/// A script: one entry per turn; after the last, nothing more is done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    turns: Vec<Turn>,
    /// The last turn is played again and again.
    #[serde(default)]
    repeat_last: bool,
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
    /// Tasks to mark as done; `*` is every open one.
    tick: Vec<String>,
    /// Message of a commit of everything.
    commit: String,
    /// What goes wrong before the answer.
    faults: Vec<Fault>,
    /// Said on the error output.
    complain: String,
    /// The final answer.
    say: String,
    /// What goes wrong behind the answer.
    faults_after_answer: Vec<Fault>,
    exit: u8,
}

/// How the agent speaks.
#[derive(Clone, Copy, Debug)]
enum Wire {
    Plain,
    StreamJson,
}

/// `ralph __agent [SCRIPT [--stream-json]]`: without a script, the demo's.
pub fn run(args: &[OsString]) -> u8 {
    let mut prompt = String::new();
    // The prompt is taken, as every agent takes it, and not understood.
    let _ = std::io::stdin().read_to_string(&mut prompt);
    let wire = match args.iter().any(|arg| arg == STREAM_JSON) {
        true => Wire::StreamJson,
        false => Wire::Plain,
    };
    match play(args.first().map(Path::new), wire) {
        Ok(code) => code,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "scripted agent: {problem}");
            FAILED
        }
    }
}

fn play(script: Option<&Path>, wire: Wire) -> Result<u8, String> {
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
    let last = script.turns.last().filter(|_| script.repeat_last);
    let turn = script
        .turns
        .get(iteration.saturating_sub(1))
        .or(last)
        .unwrap_or(&nothing);
    turn.play(wire).map_err(|e| e.to_string())
}

impl Wire {
    /// Something on the way to the answer.
    fn mention(self, text: &str) -> std::io::Result<()> {
        self.line(
            text,
            &json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}),
        )
    }

    fn answer(self, text: &str) -> std::io::Result<()> {
        self.line(
            text,
            &json!({"type": "result", "subtype": "success", "is_error": false, "result": text}),
        )
    }

    fn line(self, plain: &str, json: &serde_json::Value) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        match self {
            Wire::Plain => writeln!(out, "{plain}")?,
            Wire::StreamJson => writeln!(out, "{json}")?,
        }
        out.flush()
    }
}

impl Turn {
    fn play(&self, wire: Wire) -> std::io::Result<u8> {
        if !self.thinking.is_empty() {
            wire.mention(&self.thinking)?;
        }
        std::thread::sleep(Duration::from_millis(self.wait_ms));
        for (path, content) in &self.write {
            let path = place(path);
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            std::fs::write(path, content)?;
        }
        for path in &self.remove {
            std::fs::remove_file(place(path))?;
        }
        for id in &self.tick {
            tick(id)?;
        }
        if !self.commit.is_empty() {
            commit(&self.commit)?;
        }
        for fault in &self.faults {
            fault.happen()?;
        }
        if !self.complain.is_empty() {
            writeln!(std::io::stderr(), "{}", self.complain)?;
        }
        if !self.say.is_empty() {
            wire.answer(&self.say)?;
        }
        for fault in &self.faults_after_answer {
            fault.happen()?;
        }
        Ok(self.exit)
    }
}

/// A path with the id of the run in its place.
fn place(path: &Path) -> PathBuf {
    let run = std::env::var("RALPH_RUN_ID").unwrap_or_default();
    path.to_string_lossy().replace(RUN_ID, &run).into()
}

fn tick(id: &str) -> std::io::Result<()> {
    if id != EVERY_TASK {
        return tick_where(|list| list.require(id).map(Some)).map(|_| ());
    }
    // Each tick moves the bytes of a JSON list, so that it is read again.
    while tick_where(|list| Ok(list.tasks.iter().position(|task| !task.done)))? {}
    Ok(())
}

/// Ticks the chosen task; false where none was chosen.
fn tick_where(
    choose: impl Fn(&TaskList) -> Result<Option<usize>, TaskError>,
) -> std::io::Result<bool> {
    let path = PathBuf::from(std::env::var_os("RALPH_TASKS_FILE").unwrap_or_default());
    let bytes = std::fs::read(&path)?;
    let problem = |e: TaskError| std::io::Error::other(format!("{e:?}"));
    let list =
        tasks::read(&path.to_string_lossy(), &bytes, &ReadOptions::default()).map_err(problem)?;
    let Some(task) = choose(&list).map_err(problem)? else {
        return Ok(false);
    };
    let ticked = tasks::set_mark(&bytes, &list, task, true).map_err(problem)?;
    std::fs::write(&path, ticked)?;
    Ok(true)
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
