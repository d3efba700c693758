//! A server, workers and a project of our own, in a folder that goes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cut::{Line, by};
use super::{CUT_OFF, LEASE, PATIENCE};
use crate::cargo;

/// Does what its prompt says, in a moment, and leaves a line elsewhere.
const AGENT: &str = r#"
here=$(dirname "$0")
prompt=$(cat)
number=$(printf '%s' "$prompt" | grep -o 'job number [0-9]*' | head -n 1)
echo "$number" >> "$here/runs-started"
sleep 0.2
mkdir -p work
printf '%s\n' "$number" > "work/$number"
echo '<promise>COMPLETE</promise>'
"#;

/// What the first result may take to land.
const LANDING: Duration = Duration::from_secs(60);

/// Jobs by phase.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    pub queued: usize,
    pub done: usize,
    pub given_up: usize,
}

impl Counts {
    pub fn over(self) -> usize {
        self.done + self.given_up
    }
}

#[derive(Debug)]
pub struct Place {
    dir: tempfile::TempDir,
    ralph: PathBuf,
    server: PathBuf,
    pub version: String,
    url: String,
    /// The way of one worker to the server.
    pub line: Line,
    running: Option<Child>,
    workers: Vec<(usize, Child)>,
    logs: Vec<PathBuf>,
}

impl Drop for Place {
    fn drop(&mut self) {
        for child in self.workers.iter_mut().map(|(_, child)| child) {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(server) = &mut self.running {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Place {
    pub fn new(server: &Path, ralph: &Path) -> Result<Place, String> {
        let dir = tempfile::tempdir().map_err(words)?;
        // Somebody may build another one meanwhile.
        let own = dir.path().join(cargo::program("ralph"));
        fs::copy(ralph, &own).map_err(words)?;
        let output = Command::new(server).arg("--version").output();
        let version = output.map_err(words)?.stdout;
        let version = String::from_utf8_lossy(&version).trim().to_owned();
        // Asked of the system, and free again: nobody else is as quick.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(words)?;
        let listen = listener.local_addr().map_err(words)?.to_string();
        drop(listener);
        let mut place = Place {
            ralph: own,
            server: server.to_owned(),
            url: format!("nats://{listen}"),
            line: Line::to(&listen).map_err(words)?,
            version,
            running: None,
            workers: Vec::new(),
            logs: Vec::new(),
            dir,
        };
        let path = place.dir.path().to_owned();
        fs::write(path.join("agent.sh"), AGENT).map_err(words)?;
        let project = path.join("project");
        fs::create_dir(&project).map_err(words)?;
        fs::write(project.join("README"), "A project\n").map_err(words)?;
        for args in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &[
                "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "Begin",
            ],
        ] {
            cargo::succeed(Command::new("git").current_dir(&project).args(args))?;
        }
        let mut init = vec!["fleet", "init", "../server", "--listen", &listen];
        if place.version.contains("v2.9.") {
            init.push("--old-server");
        }
        place.ask("operator", &init)?;
        place.start_server()?;
        place.ask("operator", &["fleet", "init", "--buckets"])?;
        Ok(place)
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn command(&self, role: &str) -> Command {
        let path = self.dir.path();
        let mut command = Command::new(&self.ralph);
        command
            .current_dir(self.project())
            .env("HOME", path)
            .env("XDG_STATE_HOME", path.join("state"))
            .env("RALPH_EVIDENCE_LEVEL", "claimed")
            .env("RALPH_SANDBOX_MODE", "off")
            .env("RALPH_FLEET_SERVER", &self.url)
            .stdin(Stdio::null());
        let key = path.join(format!("server/{role}.nk"));
        if key.exists() {
            command.env("RALPH_FLEET_KEY", key);
        }
        command
    }

    fn ask(&self, role: &str, args: &[&str]) -> Result<String, String> {
        let output = self.command(role).args(args).output().map_err(words)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(format!("ralph {args:?}: {said}"))
            }
        }
    }

    fn json(&self, args: &[&str]) -> Result<Value, String> {
        let said = self.ask("submitter", args)?;
        serde_json::from_str(&said).map_err(words)
    }

    pub fn start_server(&mut self) -> Result<(), String> {
        let log = self.dir.path().join("server.log");
        let log = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(words)?;
        let child = Command::new(&self.server)
            .arg("-c")
            .arg(self.dir.path().join("server/nats-server.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.running = Some(child.map_err(words)?);
        let address = self.url.trim_start_matches("nats://");
        let deadline = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(address).is_err() {
            if Instant::now() > deadline {
                return Err("the server does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub fn kill_server(&mut self) -> Result<(), String> {
        if let Some(mut server) = self.running.take() {
            server.kill().map_err(words)?;
            server.wait().map_err(words)?;
        }
        Ok(())
    }

    pub fn server_pid(&self) -> u32 {
        self.running.as_ref().map_or(0, Child::id)
    }

    /// How long it took.
    pub fn submit(&self, jobs: usize) -> Result<Duration, String> {
        let file = self.dir.path().join("prompts");
        let lines: String = (1..=jobs).map(|n| format!("job number {n}\n")).collect();
        fs::write(&file, lines).map_err(words)?;
        let started = Instant::now();
        let file = file.display().to_string();
        self.ask(
            "submitter",
            &["fleet", "submit", "--json", "--prompts", &file],
        )?;
        Ok(started.elapsed())
    }

    pub fn start_worker(&mut self, number: usize) -> Result<(), String> {
        let log = self
            .dir
            .path()
            .join(format!("worker-{number}-{}.log", self.logs.len()));
        let file = File::create(&log).map_err(words)?;
        let errors = file.try_clone().map_err(words)?;
        let agent = format!("sh {}", self.dir.path().join("agent.sh").display());
        let mut command = self.command("worker");
        command
            .env("RALPH_FLEET_SERVER", self.way_of(number))
            .args(["fleet", "worker", "--json", "--name", &format!("w{number}")])
            .args(["--lease", &LEASE.as_secs().to_string(), "--"])
            .args(["--verify", "test -d work", "--agent-cmd", &agent]);
        if number == CUT_OFF {
            command = self.line.behind(command);
        }
        let child = command.stdout(file).stderr(errors).spawn();
        self.workers.push((number, child.map_err(words)?));
        self.logs.push(log);
        Ok(())
    }

    fn way_of(&self, number: usize) -> String {
        match number {
            CUT_OFF => format!("nats://{}", self.line.address),
            _ => self.url.clone(),
        }
    }

    pub fn worker_pids(&self) -> Vec<u32> {
        self.workers.iter().map(|(_, child)| child.id()).collect()
    }

    /// Kills one, unless it is spared, and starts another in its place.
    pub fn kill_worker(&mut self, which: usize, spared: &[usize]) -> Result<bool, String> {
        let at = which % self.workers.len();
        if spared.contains(&self.workers[at].0) {
            return Ok(false);
        }
        let (number, mut child) = self.workers.remove(at);
        child.kill().map_err(words)?;
        child.wait().map_err(words)?;
        self.start_worker(number)?;
        // The next in turn stands where this one stood.
        let last = self.workers.len() - 1;
        self.workers.swap(at, last);
        Ok(true)
    }

    pub fn pid_of(&self, number: usize) -> Result<u32, String> {
        let found = self.workers.iter().find(|(own, _)| *own == number);
        let found = found.map(|(_, child)| child.id());
        found.ok_or_else(|| format!("there is no worker {number}"))
    }

    /// The job that a worker has in hand.
    pub fn job_of(&self, number: usize) -> Option<String> {
        let list = self.json(&["fleet", "list", "--open", "--json"]).ok()?;
        let name = format!("w{number}-");
        let is_its = |job: &&Value| {
            let worker = job["worker"].as_str().unwrap_or_default();
            job["phase"] == "leased" && worker.starts_with(&name)
        };
        let job = list.as_array()?.iter().find(is_its)?;
        job["job"].as_str().map(str::to_owned)
    }

    pub fn counts(&self) -> Result<Counts, String> {
        let status = self.json(&["fleet", "status", "--json"])?;
        let count = |name: &str| {
            let count = status["jobs"][name].as_u64().unwrap_or_default();
            usize::try_from(count).unwrap_or_default()
        };
        Ok(Counts {
            queued: count("queued"),
            done: count("done"),
            given_up: count("given_up"),
        })
    }

    pub fn list(&self) -> Result<Value, String> {
        self.json(&["fleet", "list", "--json"])
    }

    /// The branch of a job holds its own work.
    pub fn look_into(&self, job: &str) -> Result<(), String> {
        let shown = self.json(&["fleet", "show", "--json", job])?;
        let prompt = shown["spec"]["work"]["prompt"].as_str().unwrap_or_default();
        self.ask("submitter", &["fleet", "fetch", job])?;
        let work = self.git(&["show", &format!("ralph/{job}:work/{prompt}")])?;
        match work.trim() == prompt && shown["report"]["end"]["outcome"] == "complete" {
            true => Ok(()),
            false => Err(format!("job {job} ({prompt}) has this result: {work}")),
        }
    }

    fn git(&self, args: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        let output = git.current_dir(self.project()).args(args).output();
        let output = output.map_err(words)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Brings results onto the branch. Whoever does it first is killed on the
    /// way; in the end each is there once.
    pub fn land(&self, jobs: &[&str]) -> Result<(), String> {
        let land = [&["fleet", "fetch", "--json", "--land"], jobs].concat();
        let land = [&land[..], &["--", "--verify", "test -d work"]].concat();
        let log = self.dir.path().join("landing");
        let file = File::create(&log).map_err(words)?;
        let mut command = self.command("submitter");
        command.args(&land);
        // In a group of its own, which can be killed with all that it started.
        let mut first = by(&["setsid"], &command);
        let mut first = first.stdout(file).spawn().map_err(words)?;
        let started = Instant::now();
        while !fs::read_to_string(&log).is_ok_and(|log| log.contains("lane_landed")) {
            if started.elapsed() > LANDING {
                return Err("nothing lands".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let group = format!("-{}", first.id());
        cargo::succeed(Command::new("kill").args(["-KILL", "--", &group]))?;
        let _ = first.wait();
        self.ask("submitter", &land)?;
        let log = self.git(&["log", "--format=%s", "main"])?;
        for job in jobs {
            let count = log.lines().filter(|line| line.contains(job)).count();
            if count != 1 {
                return Err(format!("job {job} landed {count} times:\n{log}"));
            }
        }
        Ok(())
    }

    /// Lines with a word, of one worker or of all.
    fn log_lines(&self, word: &str, number: Option<usize>) -> usize {
        let name = number.map(|number| format!("worker-{number}-"));
        let is_meant = |log: &&PathBuf| {
            let file = log.file_name().unwrap_or_default().to_string_lossy();
            name.as_ref().is_none_or(|name| file.starts_with(name))
        };
        let logs = self.logs.iter().filter(is_meant);
        let texts = logs.filter_map(|log| fs::read_to_string(log).ok());
        let count = |text: String| text.lines().filter(|line| line.contains(word)).count();
        texts.map(count).sum()
    }

    /// How often a worker found that its job was not its own any more.
    pub fn lost(&self, number: Option<usize>) -> usize {
        self.log_lines("\"event\":\"lost\"", number)
    }

    pub fn until_first_taken(&self) -> Result<Duration, String> {
        let started = Instant::now();
        while self.log_lines("\"event\":\"took\"", None) == 0 {
            if started.elapsed() > PATIENCE {
                return Err(self.said());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(started.elapsed())
    }

    pub fn runs_started(&self) -> usize {
        let text = fs::read_to_string(self.dir.path().join("runs-started"));
        text.map_or(0, |text| text.lines().count())
    }

    /// The last words of everybody, for whoever has to find out.
    pub fn said(&self) -> String {
        let mut out = String::new();
        for log in &self.logs {
            let text = fs::read_to_string(log).unwrap_or_default();
            if let Some(last) = text.lines().last() {
                out.push_str(&format!("{}: {last}\n", log.display()));
            }
        }
        out
    }

    /// Asks every worker to go; each has to.
    pub fn stop(&mut self) -> Result<(), String> {
        for (_, child) in &self.workers {
            signal("TERM", child.id())?;
        }
        let deadline = Instant::now() + PATIENCE;
        for (number, mut child) in self.workers.drain(..) {
            while child.try_wait().map_err(words)?.is_none() {
                if Instant::now() > deadline {
                    let _ = child.kill();
                    return Err(format!("worker {number} does not go"));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }
}

pub fn signal(name: &str, pid: u32) -> Result<(), String> {
    let pid = pid.to_string();
    cargo::succeed(Command::new("kill").args([&format!("-{name}"), &pid]))
}

/// The peak, in KiB.
pub fn memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
