//! Where one fault is played: a folder of its own, with a copy of the project
//! and, beside it, the script and everything that proves what happened.

use std::io;
use std::path::{Path, PathBuf};

use ralph_engine::agents::SCRIPTED_MODE;
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use serde_json::{Value, json};

use super::faults::text;
use crate::scripted::STREAM_JSON;

#[derive(Clone, Debug)]
pub struct Place {
    dir: PathBuf,
    /// The task file, relative to the project.
    tasks: PathBuf,
    program: PathBuf,
}

impl Place {
    pub fn new(dir: PathBuf, tasks: &Path, program: &Path) -> Place {
        Place {
            dir,
            tasks: tasks.into(),
            program: program.into(),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.file("project")
    }

    /// A drill keeps nothing among the person's own runs.
    pub fn state_home(&self) -> PathBuf {
        self.file("state")
    }

    pub fn layout(&self) -> Layout {
        let home = StateHome::at(self.state_home().join("ralph"));
        Layout::new(self.project(), &home)
    }

    /// Where a small disk is mounted.
    pub fn disk(&self) -> PathBuf {
        self.file("disk")
    }

    pub fn tasks(&self) -> PathBuf {
        self.project().join(&self.tasks)
    }

    pub fn tasks_name(&self) -> &Path {
        &self.tasks
    }

    pub fn went_on(&self) -> PathBuf {
        self.file("went-on")
    }

    pub fn daemon(&self) -> PathBuf {
        self.file("daemon.pid")
    }

    /// Is there if a second run got as far as its agent.
    pub fn second_agent(&self) -> PathBuf {
        self.file("second-agent")
    }

    pub fn second_run_report(&self) -> PathBuf {
        self.file("second-run")
    }

    /// Another `ralph run` beside the one that is at work.
    pub fn second_run(&self) -> Value {
        let agent = self.plain_agent(&self.second_script());
        json!([
            text(&self.program),
            "--root",
            text(&self.project()),
            "run",
            "--quiet",
            "--tasks",
            text(&self.tasks()),
            "--max-iterations",
            "1",
            "--agent-cmd",
            agent,
        ])
    }

    fn script(&self) -> PathBuf {
        self.file("script.json")
    }

    fn second_script(&self) -> PathBuf {
        self.file("second-script.json")
    }

    pub fn write_scripts(&self, script: &Value) -> io::Result<()> {
        std::fs::write(self.script(), script.to_string())?;
        let second = json!({"turns": [{"write": {(text(&self.second_agent())): "ran\n"}}]});
        std::fs::write(self.second_script(), second.to_string())
    }

    /// A command line of the scripted agent that speaks plain text.
    pub fn agent_line(&self) -> String {
        self.plain_agent(&self.script())
    }

    fn plain_agent(&self, script: &Path) -> String {
        let program = quoted(&self.program);
        format!("{program} {SCRIPTED_MODE} {}", quoted(script))
    }

    /// A program that takes Claude's arguments and speaks its stream.
    pub fn write_stream_agent(&self) -> io::Result<PathBuf> {
        let path = self.file("agent");
        let line = self.agent_line();
        std::fs::write(&path, format!("#!/bin/sh\nexec {line} {STREAM_JSON}\n"))?;
        make_executable(&path)?;
        Ok(path)
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}
