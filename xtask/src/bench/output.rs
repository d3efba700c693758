//! `cargo xtask bench output`: what an agent that says too much costs.
//!
//! One run of three turns: 1 GB in lines, one line of 100 MB, and a turn that
//! follows. The throughput is held against `cat` into a file in the same
//! minute, since the machines are shared and noisy.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{MAX_MEMORY_KB, Programs, Verdict, build, peak_memory_kb, project};

const LINES_MB: u64 = 1_000;
const LINE_MB: u64 = 100;
/// Either so much …
const MB_PER_SECOND: f64 = 400.0;
/// … or this share of what `cat` does.
const SHARE_OF_CAT: f64 = 0.5;
const MAX_GAP: Duration = Duration::from_millis(20);
/// Both floods together may leave no more than this (`log.agent_output_max`).
const MAX_KEPT_KB: u64 = 2 * 10_000;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    let dir = project(&scratch.path().join("flood"), 200).map_err(|e| vec![e.to_string()])?;

    let before = programs.cat(scratch.path())?;
    let flood = programs.flood(&dir)?;
    let cat = before.max(programs.cat(scratch.path())?);

    let speed = mb_per_second(LINES_MB, flood.lines);
    let bound = MB_PER_SECOND.min(cat * SHARE_OF_CAT);
    println!("1 GB through cat into a file             {cat:.0} MB/s");
    verdict.at_least_mb("1 GB through ralph", speed, bound);
    let line = mb_per_second(LINE_MB, flood.line);
    verdict.at_least_mb("one line of 100 MB", line, bound);
    verdict.at_most("next turn after 1 GB", flood.gaps[0], MAX_GAP);
    verdict.at_most("next turn after the line", flood.gaps[1], MAX_GAP);
    verdict.at_most_kb("peak memory", flood.peak_kb, MAX_MEMORY_KB);
    verdict.at_most_kb("raw output in the run folder", flood.kept_kb, MAX_KEPT_KB);
    verdict.end()
}

/// What the run showed.
struct Flood {
    lines: Duration,
    line: Duration,
    gaps: [Duration; 2],
    peak_kb: u64,
    kept_kb: u64,
}

fn mb_per_second(mb: u64, time: Duration) -> f64 {
    mb as f64 / time.as_secs_f64()
}

impl Programs {
    /// The speed of the same flood through a pipe into `cat`, in MB/s.
    fn cat(&self, scratch: &Path) -> Result<f64, Vec<String>> {
        let failed = |e: std::io::Error| vec![e.to_string()];
        let path = scratch.join("cat.out");
        let file = File::create(&path).map_err(failed)?;
        let start = Instant::now();
        let mut probe = Command::new(&self.probe)
            .args([&scratch.join("cat.log").to_string_lossy(), "lines"])
            .arg(LINES_MB.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let pipe = probe.stdout.take().map_or(Stdio::null(), Stdio::from);
        let cat = Command::new("cat").stdin(pipe).stdout(file).status();
        let time = start.elapsed();
        cat.map_err(failed)?;
        probe.wait().map_err(failed)?;
        fs::remove_file(&path).map_err(failed)?;
        Ok(mb_per_second(LINES_MB, time))
    }

    fn flood(&self, project: &Path) -> Result<Flood, Vec<String>> {
        let log = project.join(".git/probe.log");
        let agent = format!(
            "sh -c 'case $RALPH_ITERATION in 1) exec {probe} {log} lines {LINES_MB};; 2) exec {probe} {log} line {LINE_MB};; *) exec {probe} {log};; esac'",
            probe = self.probe.display(),
            log = log.display(),
        );
        let mut child = Command::new(&self.ralph)
            .env("RALPH_SANDBOX_MODE", "off")
            .current_dir(project)
            .args(["run", "--quiet", "--max-iterations", "3", "--agent-cmd"])
            .arg(agent)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| vec![e.to_string()])?;
        let mut peak_kb = 0;
        while let Ok(None) = child.try_wait() {
            peak_kb = peak_kb.max(peak_memory_kb(child.id()));
            std::thread::sleep(Duration::from_millis(5));
        }
        let times = super::times(&log)?;
        let [first, second, third] = times.as_slice() else {
            return Err(vec![format!("{} of 3 turns ran", times.len())]);
        };
        let between = |from: i128, to: i128| {
            Duration::from_nanos(u64::try_from(to - from).unwrap_or(u64::MAX))
        };
        Ok(Flood {
            lines: between(first.0, first.1),
            line: between(second.0, second.1),
            gaps: [between(first.1, second.0), between(second.1, third.0)],
            peak_kb,
            kept_kb: kept_kb(&self.ralph, project),
        })
    }
}

/// The size of every `turn-NNNN.out` and its parts.
fn kept_kb(ralph: &Path, project: &Path) -> u64 {
    let runs = fs::read_dir(crate::state::runs(Command::new(ralph), project));
    let files = runs
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|run| fs::read_dir(run.path()).ok())
        .flatten()
        .flatten();
    let kept = files.filter(|file| file.file_name().to_string_lossy().contains(".out"));
    kept.filter_map(|file| file.metadata().ok())
        .map(|m| m.len() / 1000)
        .sum()
}

impl Verdict {
    fn at_least_mb(&mut self, name: &str, got: f64, bound: f64) {
        let word = if got >= bound { "ok" } else { "MISSED" };
        println!("{name:<40} {got:>5.0} MB/s  at least {bound:.0} MB/s {word}");
        if got < bound {
            let missed = format!("{name}: {got:.0} MB/s, at least {bound:.0} MB/s");
            self.missed.push(missed);
        }
    }
}
