//! One scenario on its stage: a project, a home, a server, and `ralph run` or
//! the client on its own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ralph_testkit::{ModelServer, Report, Script};
use serde_json::Value;

use super::clients::{Client, Env, Place};
use super::install::{Wanted, install};

/// A run that takes longer hangs, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where a scenario is played.
#[derive(Debug)]
pub struct Stage<'a> {
    pub client: &'a Client,
    pub program: &'a Path,
    pub ralph: &'a Path,
    dir: PathBuf,
    cache: PathBuf,
    pub project: PathBuf,
}

/// The folder of the scenario that is played behind the wall.
const WALLED: &str = "works-a-list-off";

/// What a scenario wants beside the script.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    pub script: Script,
    pub subscribed: bool,
    pub env: Env,
    /// Behind `ralph run`.
    pub args: Vec<&'static str>,
    /// Another client that plays in the same run.
    pub beside: Option<&'static Client>,
}

/// What a scenario wants of clients on their own, with our hooks in the
/// project.
#[derive(Clone, Debug, Default)]
pub struct Sitting {
    pub script: Script,
    /// Behind `ralph init --yes`; empty for what fits the client.
    pub init: Vec<&'static str>,
    /// What is started, one group after the other; those of a group at the
    /// same time.
    pub calls: Vec<Vec<Vec<String>>>,
    pub env: Env,
}

/// What a run left.
#[derive(Debug)]
pub struct Played {
    pub code: Option<i32>,
    pub events: Vec<Value>,
    pub stderr: String,
    pub report: Report,
    /// What `ralph cost --json` says; of a client on its own, the runs.
    pub cost: Value,
    /// How many tool calls our hook was asked about.
    pub hooked: u64,
    /// What is wrong whatever the scenario was about.
    pub problems: Vec<String>,
}

impl<'a> Stage<'a> {
    pub fn new(
        scratch: &Path,
        scenario: &str,
        client: &'a Client,
        program: &'a Path,
        ralph: &'a Path,
    ) -> io::Result<Stage<'a>> {
        let of_client = scratch.join(client.name);
        let dir = of_client.join(scenario.replace(' ', "-"));
        let stage = Stage {
            client,
            program,
            ralph,
            project: dir.join("project"),
            cache: of_client.join("cache"),
            dir,
        };
        for dir in [&stage.project, &stage.cache, &stage.home(), &stage.tmp()] {
            fs::create_dir_all(dir)?;
        }
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    fn tmp(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.project.join(name);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        fs::write(path, text)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).unwrap_or_default()
    }

    /// Installs our hooks with `ralph init`, then lets the client work on its
    /// own. The events are what it printed.
    pub fn sit(&self, sitting: Sitting) -> io::Result<Played> {
        let log = self.dir.join("requests.jsonl");
        let server = ModelServer::start(sitting.script, Some(&log))?;
        let place = Place {
            home: &self.home(),
            project: &self.project,
            cache: &self.cache,
            url: &server.url(),
            subscribed: false,
        };
        let mut env = self.client.set_up(&place)?;
        env.extend(sitting.env);
        self.git_init(&env)?;
        let mut problems = Vec::new();
        let mut init = self.ralph(&env);
        init.args(["init", "--yes"]);
        match sitting.init.is_empty() {
            true => init.args(["--agent", self.client.name]),
            false => init.args(&sitting.init),
        };
        let init = init.output()?;
        if !init.status.success() {
            let said = String::from_utf8_lossy(&init.stderr).into_owned();
            problems.push(format!("ralph init: {said}"));
        }
        // Whoever set the stage has seen what it brings along.
        self.ralph(&env).args(["trust", "--yes"]).output()?;
        let mut code = Some(0);
        for (i, group) in sitting.calls.iter().enumerate() {
            let mut children = Vec::new();
            for (j, args) in group.iter().enumerate() {
                let mut command = self.command(self.program, &env);
                command.args(args);
                children.push(self.spawn(command, &format!("{i}.{j}"))?);
            }
            for mut child in children {
                let ended = wait(&mut child)?;
                code = if code == Some(0) { ended } else { code };
            }
        }
        problems.extend(left_behind(&self.dir));
        let stats: Value =
            serde_json::from_str(&self.read(".ralph/.safety_stats")).unwrap_or_default();
        let report = server.finish();
        problems.extend(report.violations.iter().cloned());
        problems.extend(report.unplayed.iter().cloned());
        let outputs = |kind: &str| -> String {
            let all = sitting.calls.iter().enumerate();
            let names = all.flat_map(|(i, group)| (0..group.len()).map(move |j| (i, j)));
            let texts = names.map(|(i, j)| {
                let file = self.dir.join(format!("{kind}.{i}.{j}"));
                fs::read_to_string(file).unwrap_or_default()
            });
            texts.collect()
        };
        let events = outputs("stdout");
        let events = events.lines().filter_map(|l| serde_json::from_str(l).ok());
        Ok(Played {
            code,
            events: events.collect(),
            stderr: outputs("stderr"),
            report,
            cost: self.runs(&env)?,
            hooked: stats["allowed"].as_u64().unwrap_or(0),
            problems,
        })
    }

    /// What `ralph` knows of the runs of this project.
    fn runs(&self, env: &Env) -> io::Result<Value> {
        let mut ralph = self.ralph(env);
        let output = ralph.args(["resume", "--list", "--json"]).output()?;
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    /// Starts `ralph` itself with a client at hand; what it answered.
    pub fn ask_ralph(
        &self,
        script: Script,
        args: &[&str],
    ) -> io::Result<(Option<i32>, Value, Report)> {
        let server = ModelServer::start(script, Some(&self.dir.join("requests.jsonl")))?;
        let place = Place {
            home: &self.home(),
            project: &self.project,
            cache: &self.cache,
            url: &server.url(),
            subscribed: false,
        };
        let env = self.client.set_up(&place)?;
        self.git_init(&env)?;
        let output = self.ralph(&env).args(args).output()?;
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Ok((output.status.code(), answer, server.finish()))
    }

    /// Starts the client itself; its exit code and what it said.
    pub fn ask_client(&self, args: &[&str]) -> io::Result<(Option<i32>, String)> {
        let place = Place {
            home: &self.home(),
            project: &self.project,
            cache: &self.cache,
            url: "http://127.0.0.1:9",
            subscribed: false,
        };
        let env = self.client.set_up(&place)?;
        let output = self.command(self.program, &env).args(args).output()?;
        let said = [output.stdout, output.stderr].concat();
        Ok((
            output.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        ))
    }

    /// Plays the script to `ralph run` with the client.
    pub fn play(&self, wishes: Wishes) -> io::Result<Played> {
        let log = self.dir.join("requests.jsonl");
        let server = ModelServer::start(wishes.script, Some(&log))?;
        let place = Place {
            home: &self.home(),
            project: &self.project,
            cache: &self.cache,
            url: &server.url(),
            subscribed: wishes.subscribed,
        };
        let mut env = self.client.set_up(&place)?;
        if let Some(other) = wishes.beside {
            env.extend(other.set_up(&place)?);
        }
        env.extend(wishes.env);
        self.git_init(&env)?;
        if wishes.beside.is_some() {
            self.git_commit(&env)?;
        }

        let code = self.run(&env, &wishes.args, wishes.beside)?;
        let mut problems = left_behind(&self.dir);
        let text = |name: &str| fs::read_to_string(self.dir.join(name)).unwrap_or_default();
        let events = text("stdout").lines().map(serde_json::from_str).collect();
        let events: Vec<Value> = match events {
            Ok(events) => events,
            Err(error) => {
                problems.push(format!("ralph printed what is no JSON: {error}"));
                Vec::new()
            }
        };
        problems.extend(self.replay(&env, &events).err());
        let cost = self.ralph(&env).args(["cost", "--json"]).output()?.stdout;
        let stats: Value =
            serde_json::from_str(&self.read(".ralph/.safety_stats")).unwrap_or_default();
        let report = server.finish();
        problems.extend(report.violations.iter().cloned());
        problems.extend(report.unplayed.iter().cloned());
        Ok(Played {
            code,
            events,
            stderr: text("stderr"),
            report,
            cost: serde_json::from_slice(&cost).unwrap_or_default(),
            hooked: stats["allowed"].as_u64().unwrap_or(0),
            problems,
        })
    }

    fn run(
        &self,
        env: &Env,
        args: &[&str],
        beside: Option<&'static Client>,
    ) -> io::Result<Option<i32>> {
        let mut command = self.ralph(env);
        // Whatever the project brings: a person has said yes to it.
        command
            .args(["run", "--trust-project", "--json"])
            .args(args);
        match beside {
            None => command.args(["--agent", self.client.name]),
            Some(other) => {
                // Both lie below the same folder.
                let clients = self.program.ancestors();
                let target = clients.filter(|dir| dir.ends_with("clients"));
                let target = target.last().and_then(Path::parent);
                let target = target.ok_or_else(|| io::Error::other("no folder of clients"))?;
                let installed = install(target, other, Wanted::Pinned).map_err(io::Error::other)?;
                let dirs = [&installed.program, self.program].map(|program| {
                    let dir = program.parent().unwrap_or(Path::new("/"));
                    dir.to_owned()
                });
                let own = std::env::var_os("PATH").unwrap_or_default();
                let path = dirs.into_iter().chain(std::env::split_paths(&own));
                command.env("PATH", std::env::join_paths(path).unwrap_or(own));
                let both = format!("{},{}", self.client.name, other.name);
                command.args(["--agents", &both])
            }
        };
        if !self.client.has_hooks {
            command.arg("--allow-unsafe");
        }
        let mut child = command
            .stdout(File::create(self.dir.join("stdout"))?)
            .stderr(File::create(self.dir.join("stderr"))?)
            .spawn()?;
        wait(&mut child)
    }

    fn spawn(&self, mut command: Command, name: &str) -> io::Result<Child> {
        let file = |kind: &str| File::create(self.dir.join(format!("{kind}.{name}")));
        command
            .stdout(file("stdout")?)
            .stderr(file("stderr")?)
            .spawn()
    }

    /// The environment is given in full: nothing of the person's own is in it.
    fn command(&self, program: &Path, env: &Env) -> Command {
        let client_dir = self.program.parent().unwrap_or(Path::new("/"));
        let own = std::env::var_os("PATH").unwrap_or_default();
        let mut path = vec![client_dir.to_owned()];
        path.extend(std::env::split_paths(&own));
        let mut command = Command::new(program);
        command
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap_or(own))
            .env("HOME", self.home())
            .env("TMPDIR", self.tmp())
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("TZ", "UTC")
            .envs(env.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Where the program under test keeps its runs.
    pub fn runs_dir(&self) -> PathBuf {
        crate::state::runs(self.ralph(&Env::new()), &self.project)
    }

    fn ralph(&self, env: &Env) -> Command {
        let mut command = self.command(self.ralph, env);
        // Every client works a list off behind the wall; what else they do is
        // tried as it is where there is none.
        let is_walled = self.dir.ends_with(WALLED);
        command
            .env(
                "RALPH_SANDBOX_MODE",
                if is_walled { "strict" } else { "off" },
            )
            .env("RALPH_AGENT_RETRY_INITIAL", "0")
            .env("RALPH_LIMITS_ITERATION_TIMEOUT", "250s");
        command
    }

    fn git_init(&self, env: &Env) -> io::Result<()> {
        let mut git = self.command(Path::new("git"), env);
        let status = git.args(["init", "-q", "-b", "main"]).status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other("git init failed"))
        }
    }

    /// Lanes begin at a commit.
    fn git_commit(&self, env: &Env) -> io::Result<()> {
        let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
        for args in [&["add", "-A"][..], &["commit", "-q", "-m", "Plan"]] {
            let mut git = self.command(Path::new("git"), env);
            if !git.args(name).args(args).status()?.success() {
                return Err(io::Error::other("git commit failed"));
            }
        }
        Ok(())
    }

    /// The one journal is replayed, and it tells the same as the run did.
    fn replay(&self, env: &Env, events: &[Value]) -> Result<(), String> {
        let end = events.last().ok_or("the run told nothing")?;
        let output = self
            .ralph(env)
            .args(["resume", "--list", "--json"])
            .output();
        let output = output.map_err(|e| e.to_string())?;
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let run = match told["runs"].as_array().map(Vec::as_slice) {
            Some([run]) => run,
            _ => return Err(format!("there should be one run: {told}")),
        };
        if run["outcome"] == end["outcome"] && run["iterations"] == end["iterations"] {
            return Ok(());
        }
        Err(format!("the journal should tell {end}, but: {run}"))
    }
}

/// Waits for a child, and kills one that hangs.
fn wait(child: &mut Child) -> io::Result<Option<i32>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes that still have the stage in their environment.
fn left_behind(stage: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let stage = stage.as_os_str().as_encoded_bytes();
    let on_stage = |process: &PathBuf| {
        let env = fs::read(process.join("environ")).unwrap_or_default();
        env.windows(stage.len()).any(|part| part == stage)
    };
    let processes = processes.flatten().map(|entry| entry.path());
    let told = |process: PathBuf| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        format!("still running: {} {line}", process.display())
    };
    processes.filter(on_stage).map(told).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_left_behind_is_found() {
        let stage = tempfile::tempdir().unwrap();
        assert_eq!(left_behind(stage.path()), Vec::<String>::new());
        let mut child = Command::new("sleep")
            .arg("60")
            .env("HOME", stage.path().join("home"))
            .spawn()
            .unwrap();
        // The system shows the environment of a new process a moment later.
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut found = left_behind(stage.path());
        while found.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
            found = left_behind(stage.path());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("sleep 60"), "{found:?}");
        assert_eq!(left_behind(stage.path()), Vec::<String>::new());
    }
}
