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
/// Whoever asks a person about a lie waits for long.
const LIAR_PATIENCE: Duration = Duration::from_secs(40);
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

pub fn measure(subject: &Subject, place: &Path) -> Result<Showing, String> {
    let mut result = Showing {
        honest_done: honest(subject, place)?,
        ..Showing::default()
    };
    for (name, turn) in liars() {
        // It keeps to what it said; a second commit would have nothing in it.
        let mut again = turn.clone();
        again["commit"] = json!("");
        again["tick"] = json!([]);
        let script = json!({"turns": [turn, again], "repeat_last": true});
        let stage = Stage::set(place, &script)?;
        let more = ["--max-iterations", "6"];
        let (code, _) = see_through(stage.start(subject, &more)?, LIAR_PATIENCE)?;
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
        result.survivors[at] = survivors(subject, place, signal)?;
        println!("   survivors after {signal}: {}", result.survivors[at]);
    }
    result.after_kill = after_kill(subject, place)?;
    result.flood = flood(subject, place)?;
    result.gap = gap(subject, place)?;
    println!("   {result:?}");
    Ok(result)
}

/// A project with one task and a check that is red.
struct Stage {
    dir: TempDir,
}

impl Stage {
    fn set(place: &Path, script: &Value) -> Result<Stage, String> {
        let failed = |e: std::io::Error| e.to_string();
        let dir = tempfile::tempdir_in(place).map_err(failed)?;
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
        see_through(self.start(subject, more)?, PATIENCE)
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
fn see_through(mut child: Child, patience: Duration) -> Result<(Option<i32>, u64), String> {
    let deadline = Instant::now() + patience;
    let mut peak = 0;
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok((status.code(), peak));
        }
        peak = peak.max(peak_kb(child.id()));
        if Instant::now() > deadline {
            // It waits for a person, or hangs; asked to end, it takes others
            // with it.
            kill(child.id(), "TERM");
            wait_until(|| child.try_wait().is_ok_and(|done| done.is_some()));
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

fn honest(subject: &Subject, place: &Path) -> Result<bool, String> {
    let stage = Stage::set(place, &json!({"turns": [honest_turn()]}))?;
    let (code, _) = stage.play(subject, &[])?;
    Ok(subject.says_done(&stage.project(), code) && stage.is_right())
}

/// An agent with a daemon in a session of its own is interrupted in its turn.
fn survivors(subject: &Subject, place: &Path, signal: &str) -> Result<usize, String> {
    let turn = json!({"faults": [{"daemon": {"pid_file": "daemon.pid"}}, "hang"]});
    let stage = Stage::set(place, &json!({"turns": [turn]}))?;
    let mut child = stage.start(subject, &[])?;
    wait_until(|| stage.project().join("daemon.pid").exists());
    kill(child.id(), signal);
    wait_until(|| child.try_wait().is_ok_and(|done| done.is_some()));
    // Whoever ends others needs a moment.
    let own = child.id();
    let alive = || processes_in(&stage.project(), own);
    wait_until_for(Duration::from_secs(5), || alive().is_empty());
    let left = alive();
    for pid in left.iter().chain([&own]) {
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

/// Everybody who works in a folder, but for the loop itself.
fn processes_in(dir: &Path, but: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let pid = entry.file_name().to_string_lossy().parse().ok()?;
        let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
        (cwd.starts_with(dir) && pid != but).then_some(pid)
    });
    found.collect()
}

/// Three turns of work, killed in the second: is it finished after a second
/// start, and how many turns were made more than three?
fn after_kill(subject: &Subject, place: &Path) -> Result<Option<usize>, String> {
    let call =
        json!({"run": {"command": ["sh", "-c", "echo call >> calls.txt"], "report": "report.txt"}});
    let mut last = honest_turn();
    last["faults"] = json!([call]);
    let turns = json!([
        {"faults": [call], "say": "<promise>CONTINUE</promise>"},
        {"wait_ms": 1500, "faults": [call], "say": "<promise>CONTINUE</promise>"},
        last,
    ]);
    let stage = Stage::set(place, &json!({ "turns": turns }))?;
    let mut child = stage.start(subject, &[])?;
    let calls = || {
        let calls = fs::read_to_string(stage.project().join("calls.txt"));
        calls.unwrap_or_default().lines().count()
    };
    wait_until(|| calls() == 1);
    // In the middle of the second turn.
    std::thread::sleep(Duration::from_millis(700));
    kill(child.id(), "KILL");
    let _ = child.wait();
    let again = subject.resume(&stage.project(), &stage.script())?;
    let (code, _) = see_through(again, PATIENCE)?;
    println!(
        "   after kill -9 and a second start: exit code {code:?}, {} calls",
        calls()
    );
    let done = subject.says_done(&stage.project(), code) && stage.is_right();
    Ok(done.then(|| calls().saturating_sub(3)))
}

fn flood(subject: &Subject, place: &Path) -> Result<Flood, String> {
    let mut turn = honest_turn();
    turn["faults"] = json!([{"flood_bytes": 100_000_000_u64}]);
    let stage = Stage::set(place, &json!({ "turns": [turn] }))?;
    let started = Instant::now();
    let (_, peak_kb) = stage.play(subject, &[])?;
    Ok(Flood {
        time: started.elapsed(),
        peak_kb,
    })
}

/// Time per turn of an agent that does almost nothing, over many turns.
fn gap(subject: &Subject, place: &Path) -> Result<Duration, String> {
    let mut turns: Vec<Value> = (1..GAP_TURNS)
        .map(
            |n| json!({"write": {"n.txt": format!("{n}\n")}, "say": "<promise>CONTINUE</promise>"}),
        )
        .collect();
    turns.push(honest_turn());
    let stage = Stage::set(place, &json!({ "turns": turns }))?;
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
