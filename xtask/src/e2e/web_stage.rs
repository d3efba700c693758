//! Where the page is tried: a project whose agent works when it is told to.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cargo;

const PATIENCE: Duration = Duration::from_secs(60);

/// A project whose agent works when it is told to, and the page of it.
pub struct Stage {
    pub dir: TempDir,
    pub project: PathBuf,
    pub ralph: PathBuf,
    web: Child,
    pub url: String,
    running: Option<Child>,
}

pub const TASKS: &str = "# Tasks: Shop

## Phase 1: Basket

- [ ] T001 Put things into the basket, also by keyboard
- [ ] T002 Count them, and show the sum 購物車小計 🛒

## Phase 2: Checkout

- [ ] T003 Pay by card, with a clear message when it fails
- [ ] T004 Send the receipt
";

/// Says what it does as Claude Code would, so that tool calls are seen.
const AGENT: &str = r#"#!/bin/sh
say() { printf '{"type":"assistant","message":{"id":"m%s","role":"assistant","content":[%s]}}\n' "$1" "$2"; }
say 1 '{"type":"text","text":"I look at the basket first, then I write the test."}'
say 2 '{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"src/basket.rs"}}'
say 3 '{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"cargo test basket"}}'
while [ ! -e "$GO" ]; do sleep 0.02; done
rm -f "$GO"
if [ -e "$GO.ask" ]; then
  rm -f "$GO.ask"
  SAY='QUESTION: Which currency comes first? | options: EUR; TWD | default: EUR'
else
  sed -i '0,/- \[ \]/s//- [x]/' tasks.md
fi
printf 'pub fn sum(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n' >> basket.rs
printf '{"type":"result","subtype":"success","is_error":false,"result":"Done.\\n<promise>%s</promise>","total_cost_usd":0.0%s,"usage":{"input_tokens":1200,"output_tokens":340}}\n' "${SAY:-CONTINUE}" "$(date +%S)"
"#;

impl Stage {
    pub fn set(root: &Path) -> Result<Stage, String> {
        let told = |e: std::io::Error| e.to_string();
        let dir = tempfile::tempdir().map_err(told)?;
        let project = dir.path().join("shop");
        fs::create_dir(&project).map_err(told)?;
        fs::write(project.join("tasks.md"), TASKS).map_err(told)?;
        fs::write(project.join("basket.rs"), "// The basket.\n").map_err(told)?;
        let git = |args: &[&str]| {
            let done = Command::new("git")
                .current_dir(&project)
                .args(args)
                .output();
            done.map_err(told).map(drop)
        };
        git(&["init", "-q", "-b", "main"])?;
        git(&["add", "-A"])?;
        git(&[
            "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "Plan",
        ])?;
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).map_err(told)?;
        let agent = bin.join("claude");
        fs::write(&agent, AGENT).map_err(told)?;
        let executable = Command::new("chmod").arg("+x").arg(&agent).status();
        executable.map_err(told)?;
        let ralph = cargo::ralph_of_tests(root);
        let mut stage = Stage {
            web: command(&ralph, dir.path(), &project, &["web", "--port", "0"])
                .stdout(Stdio::piped())
                .spawn()
                .map_err(told)?,
            url: String::new(),
            running: None,
            ralph,
            project,
            dir,
        };
        stage.url = first_line(&mut stage.web)?;
        Ok(stage)
    }

    pub fn go_file(&self) -> PathBuf {
        self.dir.path().join("go")
    }

    pub fn start(&mut self, more: &[&str]) -> Result<(), String> {
        let args = [
            "run", "--json", "--agent", "claude", "--allow-unsafe", "--no-guard",
        ];
        let args: Vec<&str> = args.iter().chain(more).copied().collect();
        let child = command(&self.ralph, self.dir.path(), &self.project, &args)
            .stdout(Stdio::null())
            .spawn();
        self.running = Some(child.map_err(|e| e.to_string())?);
        Ok(())
    }

    /// Lets the agent work one turn.
    pub fn go(&self) -> Result<(), String> {
        fs::write(self.go_file(), "").map_err(|e| e.to_string())
    }

    /// Lets the agent ask instead of working.
    pub fn ask(&self) -> Result<(), String> {
        let asks = self.dir.path().join("go.ask");
        fs::write(asks, "").map_err(|e| e.to_string())?;
        self.go()
    }

    /// Until the process of the run is gone; its exit code.
    pub fn ended(&mut self) -> Result<i32, String> {
        let until = Instant::now() + PATIENCE;
        let mut child = self.running.take().ok_or("nothing runs")?;
        while Instant::now() < until {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                return Ok(status.code().unwrap_or(-1));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        Err("the run does not end".into())
    }

    pub fn events(&self) -> String {
        let ralph = command(&self.ralph, self.dir.path(), &self.project, &[]);
        let runs = crate::state::runs(ralph, &self.project);
        let mut dirs: Vec<PathBuf> = fs::read_dir(runs)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        dirs.sort();
        let last = dirs.pop().unwrap_or_default();
        fs::read_to_string(last.join("execution.log.jsonl")).unwrap_or_default()
    }
}

/// The first line that a process prints.
pub fn first_line(child: &mut Child) -> Result<String, String> {
    let out = child.stdout.take().ok_or("no output")?;
    let mut line = String::new();
    let read = BufReader::new(out).read_line(&mut line);
    read.map_err(|e| e.to_string())?;
    Ok(line.trim().to_owned())
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What the page took up again is nobody's child here.
        let stop = command(&self.ralph, self.dir.path(), &self.project, &["stop"]).output();
        drop(stop);
        for child in [Some(&mut self.web), self.running.as_mut()]
            .into_iter()
            .flatten()
        {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn command(ralph: &Path, home: &Path, project: &Path, args: &[&str]) -> Command {
    let mut path = home.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(ralph);
    command
        .args(args)
        .current_dir(project)
        .env_clear()
        .env("RALPH_EVIDENCE_LEVEL", "claimed")
        .env("RALPH_SANDBOX_MODE", "off")
        .env("PATH", path)
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("GO", home.join("go"))
        .stdin(Stdio::null());
    command
}
