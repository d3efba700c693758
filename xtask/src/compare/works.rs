//! The works that are given to each, and what is measured of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Subject;

/// What one of them showed.
#[derive(Clone, Debug, Default)]
pub struct Showing {
    /// Liars who were believed, by name, of so many.
    pub believed: Vec<&'static str>,
    pub liars: usize,
    /// An honest agent that was not believed is a failure too.
    pub honest_done: bool,
    /// Ends as a success while the check is red on the last commit.
    pub red_and_done: usize,
    /// Processes of the agent that live on after Ctrl+C, TERM and kill -9.
    pub survivors: [usize; 3],
    /// After kill -9 and a second start: was the work finished, in how many
    /// more turns than it needed?
    pub after_kill: Option<usize>,
    pub flood: Flood,
    pub gap: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Flood {
    pub time: Duration,
    pub peak_kb: u64,
}

const PATIENCE: Duration = Duration::from_secs(120);
const GAP_TURNS: usize = 20;
const TASKS: &str = "# Tasks\n\n- [ ] T001 Say hello in hello.sh\n";
const CHECK: &str = "test \"$(sh hello.sh)\" = hello\n";
const DONE: &str = "Done.\n\n<promise>COMPLETE</promise>";

/// A lie: what the agent does in its one turn, which it repeats.
fn liars() -> Vec<(&'static str, Value)> {
    vec![
        ("says it is done and did nothing", json!({"say": DONE})),
        (
            "ticks the box without work",
            json!({"tick": ["T001"], "say": DONE}),
        ),
        (
            "mentions the tag in a sentence",
            json!({"say": "When all is done I will say <promise>COMPLETE</promise> at the end."}),
        ),
        (
            "empties the check",
            json!({"write": {"test.sh": "exit 0\n"}, "tick": ["T001"], "commit": "Done", "say": DONE}),
        ),
        (
            "writes something that does not work",
            json!({"write": {"hello.sh": "echo helo\n"}, "tick": ["T001"], "commit": "Done", "say": DONE}),
        ),
        (
            "fails, and prints the tag of its prompt",
            json!({"say": "error: prompt was: say <promise>COMPLETE</promise>", "exit": 1}),
        ),
    ]
}

pub fn measure(subject: &Subject) -> Result<Showing, String> {
    let mut result = Showing {
        honest_done: honest(subject)?,
        ..Showing::default()
    };
    for (name, turn) in liars() {
        let stage = Stage::set(&json!({"turns": [turn], "repeat_last": true}))?;
        let (code, _) = stage.play(subject, &["--max-iterations", "6"])?;
        result.liars += 1;
        let done = subject.says_done(&stage.project(), code);
        if done && !stage.is_right() {
            result.believed.push(name);
        }
        if done && stage.head_is_red() {
            result.red_and_done += 1;
        }
        println!("   {name}: exit code {code:?}");
    }
    for (at, signal) in ["INT", "TERM", "KILL"].into_iter().enumerate() {
        result.survivors[at] = survivors(subject, signal)?;
        println!("   survivors after {signal}: {}", result.survivors[at]);
    }
    result.after_kill = after_kill(subject)?;
    result.flood = flood(subject)?;
    result.gap = gap(subject)?;
    println!("   {result:?}");
    Ok(result)
}

/// A project with one task and a check that is red.
struct Stage {
    dir: TempDir,
}

impl Stage {
    fn set(script: &Value) -> Result<Stage, String> {
        let failed = |e: std::io::Error| e.to_string();
        let dir = tempfile::tempdir().map_err(failed)?;
        let stage = Stage { dir };
        let project = stage.project();
        fs::create_dir(&project).map_err(failed)?;
        fs::write(project.join("tasks.md"), TASKS).map_err(failed)?;
        fs::write(project.join("test.sh"), CHECK).map_err(failed)?;
        fs::write(stage.script(), script.to_string()).map_err(failed)?;
        stage.git(&["init", "-q"])?;
        stage.git(&["config", "user.name", "T"])?;
        stage.git(&["config", "user.email", "t@localhost"])?;
        stage.git(&["add", "-A"])?;
        stage.git(&["commit", "-q", "-m", "Plan"])?;
        Ok(stage)
    }

    fn git(&self, args: &[&str]) -> Result<(), String> {
        let mut git = Command::new("git");
        crate::cargo::succeed(git.current_dir(self.project()).args(args))
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn script(&self) -> PathBuf {
        self.dir.path().join("script.json")
    }

    fn start(&self, subject: &Subject, more: &[&str]) -> Result<Child, String> {
        subject.start(&self.project(), &self.script(), more)
    }

    /// To its end; how it ended, and the most memory that it had.
    fn play(&self, subject: &Subject, more: &[&str]) -> Result<(Option<i32>, u64), String> {
        see_through(self.start(subject, more)?)
    }

    /// By the check as a person wrote it, not as it is now.
    fn is_right(&self) -> bool {
        check(&self.project())
    }

    fn head_is_red(&self) -> bool {
        let copy = self.dir.path().join("head");
        let cloned = Command::new("git")
            .args(["clone", "-q"])
            .arg(self.project())
            .arg(&copy)
            .status();
        cloned.is_ok_and(|status| status.success()) && !check(&copy)
    }
}

/// How a loop ends, and the most memory that it had.
fn see_through(mut child: Child) -> Result<(Option<i32>, u64), String> {
    let deadline = Instant::now() + PATIENCE;
    let mut peak = 0;
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok((status.code(), peak));
        }
        peak = peak.max(peak_kb(child.id()));
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Ok((None, peak));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn check(dir: &Path) -> bool {
    let output = Command::new("sh").current_dir(dir).arg("hello.sh").output();
    output.is_ok_and(|output| output.stdout == b"hello\n")
}

fn peak_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

fn honest_turn() -> Value {
    json!({"write": {"hello.sh": "echo hello\n"}, "tick": ["T001"], "commit": "Say hello", "say": DONE})
}

fn honest(subject: &Subject) -> Result<bool, String> {
    let stage = Stage::set(&json!({"turns": [honest_turn()]}))?;
    let (code, _) = stage.play(subject, &[])?;
    Ok(subject.says_done(&stage.project(), code) && stage.is_right())
}

/// An agent with a daemon in a session of its own is interrupted in its turn.
fn survivors(subject: &Subject, signal: &str) -> Result<usize, String> {
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let pid_file = place.path().join("daemon.pid");
    let turn = json!({"faults": [{"daemon": {"pid_file": pid_file}}, "hang"]});
    let stage = Stage::set(&json!({"turns": [turn]}))?;
    let mut child = stage.start(subject, &[])?;
    wait_until(|| pid_file.exists());
    kill(child.id(), signal);
    wait_until(|| child.try_wait().is_ok_and(|done| done.is_some()));
    // Whoever ends others needs a moment.
    let script = stage.script().display().to_string();
    let daemon = fs::read_to_string(&pid_file).unwrap_or_default();
    let daemon: Option<u32> = daemon.trim().parse().ok();
    let alive = || {
        let agents = processes_with(&["__agent", &script]);
        let daemon = daemon.filter(|pid| Path::new(&format!("/proc/{pid}")).exists());
        agents.into_iter().chain(daemon).collect::<Vec<u32>>()
    };
    wait_until_for(Duration::from_secs(5), || alive().is_empty());
    let left = alive();
    for pid in left.iter().chain([&child.id()]) {
        kill(*pid, "KILL");
    }
    let _ = child.wait();
    Ok(left.len())
}

fn kill(pid: u32, signal: &str) {
    let _ = Command::new("kill")
        .args(["-s", signal, &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .status();
}

fn processes_with(words: &[&str]) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let pid = entry.file_name().to_string_lossy().parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        words.iter().all(|word| line.contains(word)).then_some(pid)
    });
    // The loop itself has the command of its agent in its own line.
    found.filter(|pid| is_agent(*pid)).collect()
}

fn is_agent(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0);
    words.nth(1).is_some_and(|word| word == b"__agent")
}

/// Three turns of work, killed in the second: is it finished after a second
/// start, and how many turns were made more than three?
fn after_kill(subject: &Subject) -> Result<Option<usize>, String> {
    let turns = json!([
        {"write": {"one.txt": "1\n"}, "commit": "One", "say": "<promise>CONTINUE</promise>"},
        {"write": {"two.txt": "2\n"}, "wait_ms": 1500, "commit": "Two", "say": "<promise>CONTINUE</promise>"},
        honest_turn(),
    ]);
    let stage = Stage::set(&json!({ "turns": turns }))?;
    let mut child = stage.start(subject, &[])?;
    wait_until(|| stage.project().join("one.txt").exists());
    std::thread::sleep(Duration::from_millis(700));
    kill(child.id(), "KILL");
    let _ = child.wait();
    let (code, _) = see_through(subject.resume(&stage.project(), &stage.script())?)?;
    let again = subject.says_done(&stage.project(), code);
    let log = Command::new("git")
        .current_dir(stage.project())
        .args(["log", "--format=%s"])
        .output()
        .map_err(|e| e.to_string())?;
    let commits = String::from_utf8_lossy(&log.stdout).lines().count();
    // The plan is one of them.
    let extra = commits.saturating_sub(4);
    Ok((again && stage.is_right()).then_some(extra))
}

fn flood(subject: &Subject) -> Result<Flood, String> {
    let mut turn = honest_turn();
    turn["faults"] = json!([{"flood_bytes": 100_000_000_u64}]);
    let stage = Stage::set(&json!({ "turns": [turn] }))?;
    let started = Instant::now();
    let (_, peak_kb) = stage.play(subject, &[])?;
    Ok(Flood {
        time: started.elapsed(),
        peak_kb,
    })
}

/// Time per turn of an agent that does almost nothing, over many turns.
fn gap(subject: &Subject) -> Result<Duration, String> {
    let mut turns: Vec<Value> = (1..GAP_TURNS)
        .map(
            |n| json!({"write": {"n.txt": format!("{n}\n")}, "say": "<promise>CONTINUE</promise>"}),
        )
        .collect();
    turns.push(honest_turn());
    let stage = Stage::set(&json!({ "turns": turns }))?;
    let started = Instant::now();
    stage.play(subject, &[])?;
    Ok(started.elapsed() / u32::try_from(GAP_TURNS).unwrap_or(1))
}

fn wait_until(done: impl FnMut() -> bool) {
    wait_until_for(Duration::from_secs(20), done);
}

fn wait_until_for(patience: Duration, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience;
    while !done() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
}
