//! `cargo xtask bench stream`: a flood of an agent's events is read, understood
//! and written to disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Programs, Verdict, build, peak_memory_kb, project};

const MEGABYTES: u64 = 500;
const MIN_MB_PER_S: f64 = 300.0;
const MAX_MEMORY_KB: u64 = 24 * 1024;
const MAX_LAG: Duration = Duration::from_millis(20);

/// What one flood showed.
struct Flood {
    mb_per_s: f64,
    /// From the last byte that was taken to the end of the run, without what a
    /// run costs at its end anyway.
    lag: Duration,
    peak_kb: u64,
}

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    for agent in ["claude", "codex"] {
        let dir = scratch.path().join(agent);
        let project = project(&dir, 10).map_err(|e| vec![e.to_string()])?;
        let drop = flood(&programs, &project, agent, 1)?;
        let flood = flood(&programs, &project, agent, MEGABYTES)?;
        verdict.at_least(
            &format!("{agent}: MB/s over {MEGABYTES} MB"),
            flood.mb_per_s,
            MIN_MB_PER_S,
        );
        verdict.at_most_kb(
            &format!("{agent}: peak memory"),
            flood.peak_kb,
            MAX_MEMORY_KB,
        );
        let lag = flood.lag.saturating_sub(drop.lag);
        verdict.at_most(&format!("{agent}: lag at the end"), lag, MAX_LAG);
    }
    verdict.end()
}

fn flood(
    programs: &Programs,
    project: &Path,
    agent: &str,
    megabytes: u64,
) -> Result<Flood, Vec<String>> {
    let log = project.join(".git/flood.log");
    let mut child = Command::new(&programs.ralph)
        .env("RALPH_SANDBOX_MODE", "off")
        .current_dir(project)
        .args(["run", "--quiet", "--agent", agent, "--max-iterations", "1"])
        .env("RALPH_AGENT_COMMAND", &programs.flood)
        .env("RALPH_LOG_AGENT_OUTPUT_MAX", "2GB")
        .env("FLOOD_MB", megabytes.to_string())
        .env("FLOOD_LOG", &log)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| vec![e.to_string()])?;
    let mut peak_kb = 0;
    while let Ok(None) = child.try_wait() {
        peak_kb = peak_kb.max(peak_memory_kb(child.id()));
        std::thread::sleep(Duration::from_millis(1));
    }
    let ended = Instant::now();
    let times = fs::read_to_string(&log).map_err(|e| vec![format!("{}: {e}", log.display())])?;
    let numbers: Vec<i128> = times
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[start, end, bytes] = numbers.as_slice() else {
        return Err(vec![format!("the flood wrote {times:?}")]);
    };
    let since_end = now_ns() - end - ended.elapsed().as_nanos() as i128;
    Ok(Flood {
        mb_per_s: bytes as f64 * 1_000.0 / (end - start).max(1) as f64,
        lag: Duration::from_nanos(u64::try_from(since_end).unwrap_or(0)),
        peak_kb,
    })
}

#[cfg(unix)]
fn now_ns() -> i128 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

#[cfg(not(unix))]
fn now_ns() -> i128 {
    0
}
