//! `cargo xtask torture`: one run whose engine is killed again and again at
//! random moments, with SIGKILL, until it is complete all the same.
//!
//! The seed makes the moments repeatable as far as the machine lets them be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo;

/// Does the next open task as a real agent would: what is committed is not
/// committed again, a task is ticked last, and the locks of a Git that was
/// killed are removed: nobody else is at work.
const AGENT: &str = r#"
here=$(dirname "$0")
trap '' PIPE
echo working
find .git -name '*.lock' -delete
next=$(sed -n 's/^- \[ \] \(T[0-9]*\).*/\1/p' "$RALPH_TASKS_FILE" | head -n 1)
if [ -n "$next" ]; then
  sleep 0.05
  if ! git log --format=%s | grep -qx "$next"; then
    echo "$next" > "$next.txt"
    git add "$next.txt"
    git -c user.name=A -c user.email=a@localhost commit -q -m "$next" || exit 1
  fi
  sleep 0.01
  sed "s/^- \[ \] $next/- [x] $next/" "$RALPH_TASKS_FILE" > "$here/ticked"
  mv "$here/ticked" "$RALPH_TASKS_FILE"
fi
echo '<promise>CONTINUE</promise>'
"#;

/// A kill comes at most so long after a start.
const LONGEST_LIFE: Duration = Duration::from_millis(300);
/// No single life takes this long, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Options {
    kills: usize,
    seed: u64,
}

impl Options {
    pub fn parse(args: &[&str]) -> Option<Options> {
        let mut options = Options {
            kills: 300,
            seed: 1,
        };
        for pair in args.chunks(2) {
            match pair {
                ["--kills", kills] => options.kills = kills.parse().ok()?,
                ["--seed", seed] => options.seed = seed.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }
}

pub fn run(root: &Path, options: &Options) -> Result<(), Vec<String>> {
    torture(root, options).map_err(|problem| vec![problem])
}

fn torture(root: &Path, options: &Options) -> Result<(), String> {
    let ralph = cargo::debug_ralph(root)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    // A life is good for about one task: there is always something left.
    let tasks = 2 * options.kills + 5;
    let project = Project::new(scratch.path(), ralph, tasks)?;
    let mut random = Random(options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let started = Instant::now();
    let (mut kills, mut starts) = (0, 0);
    loop {
        starts += 1;
        let mut engine = project.start()?;
        let life = (kills < options.kills).then(|| random.below(LONGEST_LIFE));
        match until_end(&mut engine, life)? {
            None => kills += 1,
            Some(0) if kills < options.kills => {
                return Err(format!("complete after only {kills} kills"));
            }
            Some(0) => break,
            // Killed when everything was done and told.
            Some(1) if project.said().contains("is over") => break,
            // Killed before it began: there is nothing to take up.
            Some(1) if !project.has_begun() => {}
            Some(code) => return Err(format!("exit {code}:\n{}", project.said())),
        }
    }
    let turns = project.check(tasks)?;
    println!(
        "kills {kills}, resumes {}, turns {turns}, {:.1} s",
        starts - 1,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The exit code, or `None` if it was killed.
fn until_end(engine: &mut Child, life: Option<Duration>) -> Result<Option<i32>, String> {
    let started = Instant::now();
    loop {
        if let Some(status) = engine.try_wait().map_err(|e| e.to_string())? {
            return Ok(status.code());
        }
        if life.is_some_and(|life| started.elapsed() >= life) {
            engine.kill().map_err(|e| e.to_string())?;
            let status = engine.wait().map_err(|e| e.to_string())?;
            return Ok(status.code());
        }
        if started.elapsed() > PATIENCE {
            let _ = engine.kill();
            return Err("it hangs".into());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

struct Project {
    ralph: PathBuf,
    dir: PathBuf,
    runs_dir: PathBuf,
    agent: PathBuf,
    output: PathBuf,
}

impl Project {
    fn new(scratch: &Path, ralph: PathBuf, tasks: usize) -> Result<Project, String> {
        let mut project = Project {
            ralph,
            dir: scratch.join("project"),
            runs_dir: PathBuf::new(),
            agent: scratch.join("agent.sh"),
            output: scratch.join("output"),
        };
        let mut list = String::from("# Tasks\n\n## Phase 1: Work\n\n");
        for i in 1..=tasks {
            list.push_str(&format!("- [ ] T{i:04} Do thing {i}\n"));
        }
        let write = |path: &Path, text: &str| fs::write(path, text).map_err(|e| e.to_string());
        fs::create_dir(&project.dir).map_err(|e| e.to_string())?;
        project.runs_dir = crate::state::runs(Command::new(&project.ralph), &project.dir);
        write(&project.agent, AGENT)?;
        write(&project.dir.join("tasks.md"), &list)?;
        project.git(&["init", "-q"])?;
        project.git(&["config", "gc.auto", "0"])?;
        project.git(&["config", "maintenance.auto", "false"])?;
        project.git(&["add", "-A"])?;
        let commit = "-c user.name=T -c user.email=t@localhost commit -q -m Plan";
        project.git(&commit.split(' ').collect::<Vec<_>>())?;
        Ok(project)
    }

    fn git(&self, args: &[&str]) -> Result<String, String> {
        let output = Command::new("git")
            .current_dir(&self.dir)
            .args(args)
            .output()
            .map_err(|e| e.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Begins the run or takes it up.
    fn start(&self) -> Result<Child, String> {
        let output = fs::File::create(&self.output).map_err(|e| e.to_string())?;
        let errors = output.try_clone().map_err(|e| e.to_string())?;
        let mut command = Command::new(&self.ralph);
        // What is tortured is the run, not the wall.
        command.env("RALPH_SANDBOX_MODE", "off");
        if self.has_begun() {
            command.args(["resume", "--yes", "--json"]);
        } else {
            let agent = format!("sh {}", self.agent.display());
            command.args(["run", "--json", "--max-iterations", "0", "--agent-cmd"]);
            command.arg(agent);
        }
        command
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|e| e.to_string())
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }

    fn runs(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(&self.runs_dir);
        let runs = runs.into_iter().flatten().flatten();
        runs.map(|entry| entry.path()).collect()
    }

    /// The run whose journal has a whole record.
    fn begun(&self) -> Option<PathBuf> {
        self.runs().into_iter().find(|run| {
            let journal = fs::read(run.join("journal.jsonl")).unwrap_or_default();
            journal.contains(&b'\n')
        })
    }

    fn has_begun(&self) -> bool {
        self.begun().is_some()
    }

    /// Everything that has to be true in the end; gives the number of turns.
    fn check(&self, tasks: usize) -> Result<usize, String> {
        let list = fs::read_to_string(self.dir.join("tasks.md")).map_err(|e| e.to_string())?;
        expect(list.matches("- [x] ").count(), tasks, "ticks")?;
        let log = self.git(&["log", "--format=%s"])?;
        let commits: Vec<&str> = log.lines().filter(|s| s.starts_with('T')).collect();
        let distinct: BTreeSet<&str> = commits.iter().copied().collect();
        expect(commits.len(), tasks, "commits")?;
        expect(distinct.len(), tasks, "commits that differ")?;
        let run = self.begun().ok_or("no run has begun")?;
        let status = fs::read_to_string(self.dir.join(".ralph/status.json")).unwrap_or_default();
        if !status.contains("\"status\": \"complete\"") {
            return Err(format!("status.json: {status}"));
        }
        let turns = check_events(&run)?;
        for run in self.runs() {
            let id = run.file_name().unwrap_or_default().to_string_lossy();
            expect(survivors(&id), 0, "processes that are left")?;
        }
        Ok(turns)
    }
}

/// Every turn was begun once and judged at most once, every record and every
/// line is whole, and the end was told once.
fn check_events(run: &Path) -> Result<usize, String> {
    let read = |name: &str| fs::read_to_string(run.join(name)).map_err(|e| e.to_string());
    let (journal, events) = (read("journal.jsonl")?, read("execution.log.jsonl")?);
    for (n, line) in journal.lines().enumerate() {
        if !line.starts_with(&format!("{{\"v\":1,\"seq\":{},", n + 1)) || !line.ends_with('}') {
            return Err(format!("record {} of the journal: {line}", n + 1));
        }
    }
    let begun = numbers(&events, "\"event\":\"iteration_start\"", "\"iteration\":");
    let judged = numbers(&journal, "\"kind\":\"turn_ended\"", "\"turn\":");
    let told = numbers(
        &events,
        "\"event\":\"iteration_complete\"",
        "\"iteration\":",
    );
    for (what, list) in [("begun", &begun), ("judged", &judged), ("told", &told)] {
        let distinct: BTreeSet<u64> = list.iter().copied().collect();
        expect(list.len(), distinct.len(), &format!("turns {what}"))?;
    }
    let sorted = |list: &[u64]| list.iter().copied().collect::<BTreeSet<u64>>();
    if sorted(&judged) != sorted(&told) {
        return Err("the event log and the journal know other turns".into());
    }
    let resumed = journal.matches("\"kind\":\"resumed\"").count();
    let told_resumed = events.matches("\"event\":\"resume\"").count();
    expect(told_resumed, resumed, "resumes in the event log")?;
    expect(events.matches("\"event\":\"loop_end\"").count(), 1, "ends")?;
    Ok(begun.len())
}

/// The number behind `key` in every line that holds `mark`.
fn numbers(text: &str, mark: &str, key: &str) -> Vec<u64> {
    let lines = text.lines().filter(|line| line.contains(mark));
    let number = |line: &str| {
        let (_, rest) = line.split_once(key)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        rest.get(..digits)?.parse().ok()
    };
    lines.filter_map(number).collect()
}

fn survivors(run_id: &str) -> usize {
    let tag = format!("RALPH_RUN_ID={run_id}");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| {
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            environ.split(|&b| b == 0).any(|e| e == tag.as_bytes())
        })
        .count()
}

fn expect(got: usize, want: usize, what: &str) -> Result<(), String> {
    if got == want {
        Ok(())
    } else {
        Err(format!("{what}: {got} instead of {want}"))
    }
}

/// xorshift64*: good enough to choose moments.
struct Random(u64);

impl Random {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let share = (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as f64 / (1u64 << 31) as f64;
        most.mul_f64(share)
    }
}
