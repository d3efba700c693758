//! `cargo xtask bench loop`: what stands between two turns.
//!
//! Every figure is a ratio to something measured in the same run, because the
//! machines are shared and noisy: the unit is one spawn and wait of an empty
//! static program.
//!
//! The agent works for no time at all, as the empty program does. What stands
//! between turns of ten milliseconds, with a processor that has gone to sleep
//! and caches that are cold, is shown beside it, and so is what the disk takes
//! for the one sync that has to stand in the gap. Snapshots have bounds of
//! their own (`bench snapshots`) and are off here, but for one row that shows
//! what they add, and for the memory.

mod guard;
mod hooks;
mod lanes;
mod onlookers;
mod output;
mod proof;
mod readers;
mod snapshots;
mod stream;
mod wall;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{cargo, ship};

/// The gap may cost at most so many empty processes (issue: 4).
const MAX_GAP_RATIO: f64 = 4.0;
const MAX_GAP_LARGE: Duration = Duration::from_millis(20);
/// The gap at the end of a long run, against its beginning.
const MAX_GROWTH: f64 = 1.2;
const MAX_TASKS: Duration = Duration::from_millis(10);
const MAX_MEMORY_KB: u64 = 20 * 1024;
/// How long the agent of the bounds works, and one that is shown beside it.
const WORK: Duration = Duration::ZERO;
const SOME_WORK: Duration = Duration::from_millis(10);
const SANDBOX_OFF: (&str, &str) = ("RALPH_SANDBOX_MODE", "off");

/// `None` where there is no such bench.
pub fn named(root: &Path, of: &[&str]) -> Option<Result<(), Vec<String>>> {
    Some(match of {
        ["loop"] => run(root),
        ["guard"] => guard::run(root),
        ["hooks"] => hooks::run(root),
        ["hooks-here", ralph] => hooks::run_here(Path::new(ralph)),
        ["output"] => output::run(root),
        ["proof"] => proof::run(root),
        ["readers"] => readers::run(root),
        ["snapshots"] => snapshots::run(root),
        ["lanes"] => lanes::run(root),
        ["stream"] => stream::run(root),
        ["wall"] => wall::run(root),
        _ => return None,
    })
}

fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();

    let small = project(&scratch.path().join("small"), 200).map_err(|e| vec![e.to_string()])?;
    let before = programs.empty_process();
    let run = programs.run(&small, 201, WORK)?;
    let unit = median([before, programs.empty_process()].concat());
    let gap = median(run.gaps.clone());
    let sync = median(synced_appends(scratch.path()).map_err(|e| vec![e.to_string()])?);
    let cold = median(programs.run(&small, 201, SOME_WORK)?.gaps);
    let kept = programs.run_keeping(&small, 201)?;
    println!("empty process, spawn and wait        {}", micros(unit));
    println!("append of 700 bytes and its sync     {}", micros(sync));
    println!("gap at 200 files                     {}", micros(gap));
    println!("gap behind an agent of 10 ms         {}", micros(cold));
    println!(
        "gap with a snapshot of every turn    {}",
        micros(median(kept.gaps))
    );
    verdict.ratio("gap at 200 files / empty process", gap, unit, MAX_GAP_RATIO);
    verdict.at_most_kb("peak memory", kept.peak_kb, MAX_MEMORY_KB);

    // The machine's moods last longer than a run, so the beginning is taken
    // from a run that follows the end of the long one at once.
    let mut growths = Vec::new();
    for _ in 0..3 {
        let long = programs.run(&small, 2_010, WORK)?.gaps;
        let late = median(long[long.len() - 100..].to_vec());
        let early = median(programs.run(&small, 106, WORK)?.gaps[5..].to_vec());
        println!(
            "gap around iteration 10 and 2,000    {} {}",
            micros(early),
            micros(late)
        );
        growths.push(late.as_secs_f64() / early.as_secs_f64());
    }
    growths.sort_by(f64::total_cmp);
    verdict.bounded("gap at iteration 2,000 / at 10", growths[1], MAX_GROWTH);

    let large = project(&scratch.path().join("large"), 10_000).map_err(|e| vec![e.to_string()])?;
    let run = programs.run_keeping(&large, 101)?;
    verdict.at_most(
        "gap at 10,000 files",
        median(run.gaps.clone()),
        MAX_GAP_LARGE,
    );
    verdict.at_most_kb("peak memory at 10,000 files", run.peak_kb, MAX_MEMORY_KB);

    let tasks = programs
        .tasks(scratch.path())
        .map_err(|e| vec![e.to_string()])?;
    verdict.at_most("10,000 tasks: a call of next or tick", tasks, MAX_TASKS);
    verdict.end()
}

#[derive(Default)]
struct Verdict {
    missed: Vec<String>,
}

impl Verdict {
    fn note(&mut self, name: &str, got: &str, bound: &str, held: bool) {
        let word = if held { "ok" } else { "MISSED" };
        println!("{name:<40} {got:>10}  at most {bound:<8} {word}");
        if !held {
            self.missed.push(format!("{name}: {got}, at most {bound}"));
        }
    }

    fn ratio(&mut self, name: &str, got: Duration, unit: Duration, bound: f64) {
        self.bounded(name, got.as_secs_f64() / unit.as_secs_f64(), bound);
    }

    fn bounded(&mut self, name: &str, ratio: f64, bound: f64) {
        self.note(
            name,
            &format!("{ratio:.2}"),
            &format!("{bound:.1}"),
            ratio <= bound,
        );
    }

    fn at_most(&mut self, name: &str, got: Duration, bound: Duration) {
        self.note(name, &micros(got), &micros(bound), got <= bound);
    }

    fn at_least(&mut self, name: &str, got: f64, bound: f64) {
        let held = got >= bound;
        let word = if held { "ok" } else { "MISSED" };
        println!("{name:<40} {got:>10.0}  at least {bound:<7.0} {word}");
        if !held {
            self.missed
                .push(format!("{name}: {got:.0}, at least {bound:.0}"));
        }
    }

    fn at_most_kb(&mut self, name: &str, got: u64, bound: u64) {
        self.note(
            name,
            &format!("{got} kB"),
            &format!("{bound} kB"),
            got <= bound,
        );
    }

    fn holds(&mut self, name: &str, held: bool) {
        if !held {
            self.missed.push(name.to_owned());
        }
    }

    fn end(self) -> Result<(), Vec<String>> {
        if self.missed.is_empty() {
            Ok(())
        } else {
            Err(self.missed)
        }
    }
}

struct Programs {
    ralph: PathBuf,
    empty: PathBuf,
    probe: PathBuf,
    flood: PathBuf,
}

/// What one run of the loop showed.
struct Run {
    /// From the end of one turn to the start of the next.
    gaps: Vec<Duration>,
    peak_kb: u64,
}

/// The programs as they ship: here speed is judged.
fn build(root: &Path) -> Result<Programs, String> {
    // Apart, so that the benches' own dependencies add nothing to what ships.
    ship::build(root, &["-p", "ralph-loop"])?;
    let own = ["ralph-empty", "ralph-probe", "ralph-flood"];
    let bins = own.iter().flat_map(|name| ["--bin", name]);
    let dir = ship::build(
        root,
        &["-p", "xtask"].into_iter().chain(bins).collect::<Vec<_>>(),
    )?;
    let installed = dir.join("installed");
    install(&dir, &installed).map_err(|e| format!("{}: {e}", installed.display()))?;
    Ok(Programs::in_dir(&installed))
}

/// Nobody runs a file that a linker has just written: its pages lie singly in
/// memory, and each costs more at the start of a process than those of a file
/// that was copied or unpacked.
fn install(built: &Path, installed: &Path) -> std::io::Result<()> {
    fs::create_dir_all(installed)?;
    for name in ["ralph", "ralph-empty", "ralph-probe", "ralph-flood"] {
        let name = cargo::program(name);
        let bytes = fs::read(built.join(&name))?;
        let fresh = installed.join(format!("{name}.new"));
        fs::write(&fresh, bytes)?;
        crate::tools::executable(&fresh)?;
        fs::rename(fresh, installed.join(name))?;
    }
    Ok(())
}

/// A project with so many files in directories of a hundred.
fn project(dir: &Path, files: usize) -> std::io::Result<PathBuf> {
    for i in 0..files {
        let below = dir.join(format!("src/d{}", i / 100));
        fs::create_dir_all(&below)?;
        fs::write(
            below.join(format!("f{i}.txt")),
            format!("file {i}\n").repeat(20),
        )?;
    }
    fs::write(
        dir.join("tasks.md"),
        "# Tasks\n\n## Phase 1: Bench\n\n- [ ] T001 Never done\n",
    )?;
    let init = Command::new("git")
        .args(["init", "-q"])
        .current_dir(dir)
        .status()?;
    if init.success() {
        Ok(dir.to_owned())
    } else {
        Err(std::io::Error::other("git init failed"))
    }
}

impl Programs {
    fn in_dir(dir: &Path) -> Programs {
        let program = |name: &str| dir.join(cargo::program(name));
        Programs {
            ralph: program("ralph"),
            empty: program("ralph-empty"),
            probe: program("ralph-probe"),
            flood: program("ralph-flood"),
        }
    }

    fn empty_process(&self) -> Vec<Duration> {
        let once = || {
            let start = Instant::now();
            let _ = Command::new(&self.empty)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status();
            start.elapsed()
        };
        (0..200).map(|_| once()).collect()
    }

    fn run(&self, project: &Path, turns: usize, work: Duration) -> Result<Run, Vec<String>> {
        let log = project.join(".git/probe.log");
        let bare = [SANDBOX_OFF, ("RALPH_SNAPSHOTS_ENABLED", "false")];
        self.run_with(&bare, project, &log, (turns, work))
    }

    /// With a snapshot of every turn.
    fn run_keeping(&self, project: &Path, turns: usize) -> Result<Run, Vec<String>> {
        let log = project.join(".git/probe.log");
        self.run_with(&[SANDBOX_OFF], project, &log, (turns, WORK))
    }

    /// With these settings; the log lies where the agent may write.
    fn run_with(
        &self,
        settings: &[(&str, &str)],
        project: &Path,
        log: &Path,
        (turns, work): (usize, Duration),
    ) -> Result<Run, Vec<String>> {
        let _ = fs::remove_file(log);
        let agent = format!(
            "{} {} works {}",
            self.probe.display(),
            log.display(),
            work.as_millis()
        );
        let mut child = Command::new(&self.ralph)
            .envs(settings.iter().copied())
            .current_dir(project)
            .args([
                "run",
                "--quiet",
                "--agent-cmd",
                &agent,
                "--max-iterations",
                &turns.to_string(),
            ])
            .envs([("RALPH_LIMITS_STALLED", "0")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| vec![e.to_string()])?;
        let mut peak_kb = 0;
        while let Ok(None) = child.try_wait() {
            peak_kb = peak_kb.max(peak_memory_kb(child.id()));
            std::thread::sleep(Duration::from_millis(20));
        }
        let times = times(log)?;
        if times.len() != turns {
            return Err(vec![format!("{} of {turns} turns ran", times.len())]);
        }
        let gap = |pair: &[(i128, i128)]| {
            Duration::from_nanos(u64::try_from(pair[1].0 - pair[0].1).unwrap_or(0))
        };
        Ok(Run {
            gaps: times.windows(2).map(gap).collect(),
            peak_kb,
        })
    }

    /// The whole process, twice: once to choose, once to tick.
    fn tasks(&self, scratch: &Path) -> std::io::Result<Duration> {
        let dir = scratch.join("tasks");
        fs::create_dir_all(&dir)?;
        let file = dir.join("tasks.md");
        let mut times = Vec::new();
        for round in 0..20 {
            let mut text = String::from("# Tasks\n");
            for i in 0..10_000 {
                if i % 100 == 0 {
                    text.push_str(&format!(
                        "\n## Phase {}: Part {}\n\n",
                        i / 100 + 1,
                        i / 100 + 1
                    ));
                }
                text.push_str(&format!("- [ ] T{i:05} Do thing {i} in src/file{i}.rs\n"));
            }
            fs::write(&file, text)?;
            let start = Instant::now();
            for args in [
                &["tasks", "next"][..],
                &["tasks", "tick", &format!("T{round:05}")][..],
            ] {
                let output = Command::new(&self.ralph)
                    .env("RALPH_SANDBOX_MODE", "off")
                    .current_dir(&dir)
                    .args(args)
                    .output()?;
                if !output.status.success() {
                    return Err(std::io::Error::other(
                        String::from_utf8_lossy(&output.stderr).into_owned(),
                    ));
                }
            }
            times.push(start.elapsed() / 2);
        }
        Ok(median(times))
    }
}

/// What the disk takes for one record of a journal, with pauses as between
/// turns.
fn synced_appends(dir: &Path) -> std::io::Result<Vec<Duration>> {
    let mut file = fs::File::create(dir.join("synced"))?;
    let mut once = || {
        std::thread::sleep(SOME_WORK);
        let start = Instant::now();
        file.write_all(&[b'x'; 700])?;
        file.sync_data()?;
        Ok(start.elapsed())
    };
    (0..100).map(|_| once()).collect()
}

/// Start and end of every turn, as the probe wrote them down.
fn times(log: &Path) -> Result<Vec<(i128, i128)>, Vec<String>> {
    let text = fs::read_to_string(log).map_err(|e| vec![format!("{}: {e}", log.display())])?;
    let pair = |line: &str| {
        let (start, end) = line.split_once(' ')?;
        Some((start.parse().ok()?, end.parse().ok()?))
    };
    Ok(text.lines().filter_map(pair).collect())
}

/// The high-water mark of a process that still runs; 0 where the system does
/// not tell.
fn peak_memory_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or_default();
    line.trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .unwrap_or(0)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}
