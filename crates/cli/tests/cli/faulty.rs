//! A run that something goes wrong in, and what has to be true in the end.
//!
//! The faults are those of `ralph_store::fault`, which only builds with
//! `debug_assertions` have.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ralph_engine::past;
use ralph_store::journal;
use ralph_store::layout::RunPaths;
use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};
use crate::live::shell_agent;

/// Does the next open task, as a real agent would whatever happened before:
/// what is committed is not committed again, a task is ticked last, and the
/// locks of a Git that was killed are removed. Its first answer is a lie, and
/// so is its first tick.
const AGENT: &str = r#"
here=$(dirname "$0")
trap '' PIPE
if [ ! -e "$here/lied" ]; then
  [ -e "$here/honest" ] || sed "s/^- \[ \] T001/- [x] T001/" "$RALPH_TASKS_FILE" > "$here/ticked"
  [ -e "$here/honest" ] || mv "$here/ticked" "$RALPH_TASKS_FILE"
  : > "$here/lied"
  echo '<promise>COMPLETE</promise>'
  exit 0
fi
echo working
find .git -name '*.lock' -delete
next=$(sed -n 's/^- \[ \] \(T[0-9]*\).*/\1/p' "$RALPH_TASKS_FILE" | head -n 1)
if [ -n "$next" ]; then
  if ! git log --format=%s | grep -qx "$next"; then
    echo "$next" > "$next.txt"
    git add "$next.txt"
    git -c user.name=A -c user.email=a@localhost commit -q -m "$next" || exit 1
  fi
  sed "s/^- \[ \] $next/- [x] $next/" "$RALPH_TASKS_FILE" > "$here/ticked"
  mv "$here/ticked" "$RALPH_TASKS_FILE"
fi
echo '<promise>CONTINUE</promise>'
"#;

const TASKS: &str = "\
# Tasks

## Progress

- Total: 2
- Completed: 0
- Status: NOT_STARTED

## Phase 1: Work

- [ ] T001 Do thing 1
- [ ] T002 Do thing 2
";

/// A project whose run needs three turns and a verification.
pub struct Scenario {
    pub env: TestEnv,
    agent: String,
}

/// What is the same at the end, whatever happened in between.
#[derive(Debug, PartialEq, Eq)]
pub struct End {
    tasks: String,
    /// Every commit once, in its order.
    commits: Vec<String>,
    files: Vec<String>,
    turns: u64,
}

/// One pass of a point, as the trace has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    pub point: String,
    pub number: u64,
    pub deed: String,
}

impl End {
    /// Everything is the same, and at most so many turns more were needed.
    pub fn check_like(&self, want: &End, turns_lost: u64) -> Result<(), String> {
        if self.turns > want.turns + turns_lost {
            return Err(format!("{} turns instead of {}", self.turns, want.turns));
        }
        expect(&self.tasks, &want.tasks, "tasks.md")?;
        expect(&self.commits, &want.commits, "commits")?;
        expect(&self.files, &want.files, "files")
    }

    /// Without the counts in the task file, which are left alone while the
    /// disk takes nothing.
    pub fn without_counts(&self) -> End {
        let counts = ["- Total:", "- Completed:", "- Status:"];
        let is_count = |line: &&str| counts.iter().any(|count| line.starts_with(count));
        let tasks: Vec<&str> = self.tasks.lines().filter(|l| !is_count(l)).collect();
        End {
            tasks: tasks.join("\n"),
            commits: self.commits.clone(),
            files: self.files.clone(),
            turns: self.turns,
        }
    }
}

impl Pass {
    /// Those that a process left in the file of its trace.
    pub fn read(trace: &Path) -> Vec<Pass> {
        let text = fs::read_to_string(trace).unwrap();
        let pass = |line: &str| {
            let (place, deed) = line.split_once(' ')?;
            let (point, number) = place.split_once('#')?;
            Some(Pass {
                point: point.into(),
                number: number.parse().ok()?,
                deed: deed.into(),
            })
        };
        text.lines().map(|line| pass(line).unwrap()).collect()
    }

    /// A point that is passed again and again does the same each time: its
    /// first passes are tried and some of the others, with
    /// `RALPH_TEST_EVERY_PASS=1` all.
    pub fn is_tried(&self) -> bool {
        let all = std::env::var_os("RALPH_TEST_EVERY_PASS").is_some();
        all || self.number <= 2 || self.number.is_multiple_of(5)
    }

    pub fn fault(&self, what: &str) -> String {
        format!("{}#{}={what}", self.point, self.number)
    }
}

impl Scenario {
    pub fn new() -> Scenario {
        let env = TestEnv::in_memory();
        env.write("tasks.md", TASKS);
        env.write(".claude/ralph-delta.local.md", "torn by somebody else");
        env.git(&["add", "-A"]);
        // Housekeeping in the background would be waited for.
        env.git(&["config", "gc.auto", "0"]);
        env.git(&["config", "maintenance.auto", "false"]);
        let plan = "-c user.name=T -c user.email=t@localhost commit -q -m Plan";
        env.git(&plan.split(' ').collect::<Vec<_>>());
        let agent = shell_agent(&env, AGENT);
        Scenario { env, agent }
    }

    /// The same with an agent whose ticks are true: a box that can't be emptied
    /// on a bad disk keeps the run from its end, and rightly so.
    pub fn with_true_ticks() -> Scenario {
        let scenario = Scenario::new();
        let script = PathBuf::from(scenario.agent.split(' ').next_back().unwrap_or_default());
        fs::write(script.with_file_name("honest"), "").unwrap();
        scenario
    }

    fn ralph(&self, args: &[&str], fault: &str) -> Done {
        let mut command = self.env.command(args);
        command
            .env("RALPH_LOG_MAX_SIZE", "1KB")
            .env("RALPH_CHECKPOINT_BACKUPS", "2")
            .env("RALPH_FAULT", fault)
            .env("RALPH_FAULT_TRACE", self.trace_file());
        let _ = fs::remove_file(self.trace_file());
        Done::of(&command.output().unwrap())
    }

    pub fn run(&self, fault: &str) -> Done {
        // Every task that is ticked has its file.
        let verify = "echo checked; for t in $(sed -n 's/^- \\[x\\] \\(T[0-9]*\\).*/\\1/p' tasks.md); do test -e $t.txt || exit 1; done";
        // The preset that writes every file of other tools.
        let tasks = ["--preset", "delta", "--tasks", "tasks.md"];
        let args = ["run", "--agent-cmd", &self.agent, "--verify", verify];
        self.ralph(&[&args[..], &tasks].concat(), fault)
    }

    pub fn resume(&self, fault: &str) -> Done {
        self.ralph(&["resume", "--yes"], fault)
    }

    /// Takes the run up until it is complete, without any fault; a run that
    /// never began is begun.
    pub fn complete(&self) -> Result<(), String> {
        for _ in 0..3 {
            let done = self.resume("");
            let never = [
                "died before it began",
                "there is no such run",
                // A state file of another tool is all that is there.
                "ralph-delta.local.md can't be read",
            ];
            let done = if never.iter().any(|words| done.stderr.contains(words)) {
                self.run("")
            } else {
                done
            };
            match done.code {
                0 => return Ok(()),
                // Killed when everything was done and told.
                1 if done.stderr.contains("is over (complete)") => return Ok(()),
                3 => {}
                _ => return Err(told(&done)),
            }
        }
        Err("it is never complete".into())
    }

    fn trace_file(&self) -> PathBuf {
        self.env.outside("trace")
    }

    /// What the last command passed.
    pub fn trace(&self) -> Vec<Pass> {
        Pass::read(&self.trace_file())
    }

    /// The runs that have begun.
    pub fn runs(&self) -> Vec<RunPaths> {
        let runs = self.env.layout().runs().unwrap();
        runs.into_iter()
            .filter(|run| past::read(run).is_ok())
            .collect()
    }

    /// Everything that has to hold at the end of a run, and what it came to.
    pub fn end(&self) -> Result<End, String> {
        let runs = self.runs();
        let [run] = runs.as_slice() else {
            return Err(format!("{} runs have begun", runs.len()));
        };
        let turns = self.check_run(run)?;
        self.check_nothing_left()?;
        let log = self.env.git(&["log", "--reverse", "--format=%s"]);
        Ok(End {
            tasks: self.env.read("tasks.md"),
            commits: log.lines().map(str::to_owned).collect(),
            files: names(&self.env.root),
            turns,
        })
    }

    /// The journal is sound, no turn was judged twice, and everything that is
    /// made from it says the same: every event once.
    fn check_run(&self, run: &RunPaths) -> Result<u64, String> {
        let (records, tail) = journal::read(&run.journal()).map_err(|e| e.to_string())?;
        expect(&tail, &journal::Tail::Clean, "the end of the journal")?;
        let judged = |r: &journal::Record| {
            (r.data["kind"] == "turn_ended").then(|| r.data["turn"].as_u64().unwrap())
        };
        let judged: Vec<u64> = records.iter().filter_map(judged).collect();
        let distinct: BTreeSet<u64> = judged.iter().copied().collect();
        expect(&judged.len(), &distinct.len(), "turns that were judged")?;

        let mut lines = Vec::new();
        let past = past::listen(run, &mut |event, _, notices| {
            lines.extend(notices.iter().map(|n| n.line(event.at).to_string()));
        });
        let state = past.map_err(|e| format!("{e:?}"))?.state;
        lines.sort();
        let text = fs::read_to_string(run.events()).map_err(|e| e.to_string())?;
        // The beginning of a line whose write was cut off is no event.
        let whole = text
            .lines()
            .filter(|l| serde_json::from_str::<Value>(l).is_ok());
        let mut written: Vec<String> = whole.map(str::to_owned).collect();
        let archives = written
            .iter()
            .filter(|l| l.contains(r#""event":"archive""#));
        expect(&archives.count(), &1, "archive events")?;
        self.check_archive(run)?;
        written.sort();
        expect(&written, &lines, "execution.log.jsonl")?;

        let status = self.env.json(".ralph/status.json");
        expect(&status["status"], &"complete".into(), "status")?;
        expect(&status["run_id"], &run.id.as_str().into(), "run_id")?;
        expect(&status["iteration"], &state.turn.number.into(), "iteration")?;
        Ok(state.turn.number.into())
    }

    /// The run stands in the history once, and its working files nowhere else.
    fn check_archive(&self, run: &RunPaths) -> Result<(), String> {
        let history = self.env.root.join(".skillpack/history");
        if !history.is_dir() {
            return Err("there is no history".into());
        }
        let mut archives = names(&history);
        archives.retain(|name| name != ".gitignore");
        expect(&archives.len(), &1, "archives")?;
        let manifest = self.env.json(&format!(
            ".skillpack/history/{}/manifest.json",
            archives.concat()
        ));
        expect(&manifest["run_id"], &run.id.as_str().into(), "manifest")?;
        let mut current = names(&self.env.root.join(".skillpack/current"));
        // Without a checkpoint nobody can tell whose the event log is.
        current.retain(|name| ![".gitignore", "execution.log.jsonl"].contains(&name.as_str()));
        expect(&current, &Vec::new(), ".skillpack/current")
    }

    /// No process, no unfinished file.
    fn check_nothing_left(&self) -> Result<(), String> {
        for run in self.env.layout().runs().unwrap() {
            let left = survivors(run.id.as_str());
            expect(&left, &Vec::new(), "processes that are left")?;
        }
        let all = self.env.snapshot();
        let temp = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains(".tmp.") || name.ends_with(".lock")
        };
        let left = all.iter().map(|(path, _)| path).find(|path| temp(path));
        expect(&left, &None, "files that are left")
    }
}

pub fn told(done: &Done) -> String {
    format!("exit {}\n{}{}", done.code, done.stdout, done.stderr)
}

fn expect<T: PartialEq + std::fmt::Debug>(got: &T, want: &T, what: &str) -> Result<(), String> {
    if got == want {
        Ok(())
    } else {
        Err(format!("{what}: {got:?} instead of {want:?}"))
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Processes that carry the tag of a run and are not dead.
fn survivors(run_id: &str) -> Vec<String> {
    let tag = format!("RALPH_RUN_ID={run_id}");
    let holds = |dir: &Path| {
        let environ = fs::read(dir.join("environ")).unwrap_or_default();
        environ.split(|&b| b == 0).any(|e| e == tag.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .map(|entry| entry.path())
        .filter(|dir| holds(dir))
        .map(|dir| fs::read_to_string(dir.join("cmdline")).unwrap_or_default())
        .collect()
}

/// Tries every case on several threads, since most of the time is spent
/// waiting for processes; all that fail are told together.
pub fn check_all<T: Sync>(
    cases: &[T],
    name: impl Fn(&T) -> String + Sync,
    check: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let threads = 2 * std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(16) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(case) {
                        failed
                            .lock()
                            .unwrap()
                            .push(format!("{}: {why}", name(case)));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    let (count, of) = (failed.len(), cases.len());
    assert!(count == 0, "{count} of {of}:\n{}", failed.join("\n\n"));
}

/// DISP-06: people read their language, programs read English.
#[test]
fn a_task_file_that_goes_bad_is_told_to_people_and_to_programs() {
    let env = TestEnv::with_tasks(1);
    let turn = json!({"remove": ["tasks.md"], "say": "<promise>CONTINUE</promise>"});
    let (_, events) = env.run_script(&[turn], &["--lang", "zh-TW", "--max-iterations", "1"]);
    let error = named(&events, "error")[0];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("there is no such task file"), "{message}");
    let log = env.ralph(&["logs"]).stdout;
    assert!(log.contains("找不到任務檔案"), "{log}");
    assert!(!log.contains(message), "{log}");
}

#[test]
fn a_log_in_a_folder_that_is_not_there_is_written() {
    let env = TestEnv::with_tasks(1);
    env.write(
        ".ralph/config.toml",
        "[log]\nfile = \"out/logs/ralph.log\"\n",
    );
    let agent = env.agent(&[json!({"say": "<promise>BLOCKED: x</promise>"})]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    assert!(env.read("out/logs/ralph.log").contains("blocked: x"));
    assert!(env.ralph(&["logs"]).stdout.contains("blocked: x"));
}

/// LOOP-13: what the agent says stands in the log, without secrets, and a
/// flood of it does not.
#[test]
fn the_log_has_the_agent_s_words() {
    let env = TestEnv::with_tasks(1);
    let flood: String = (1..=300).map(|n| format!("line {n}\n")).collect();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let say = format!("I look, token={key}\n{flood}<promise>BLOCKED: x</promise>");
    let (done, _) = env.run_script(&[json!({"say": say})], &[]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    let log = env.ralph(&["logs", "--lines", "1000"]).stdout;
    assert!(log.contains("[DEBUG] │ I look, token="), "{log}");
    assert!(!log.contains(key), "{log}");
    assert!(log.contains("│ line 199\n"), "{log}");
    assert!(!log.contains("│ line 201\n"), "{log}");
    assert!(log.contains("│ … turn-0001.out"), "{log}");
}
