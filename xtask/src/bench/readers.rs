//! `cargo xtask bench readers`: what it costs a run that people look at it,
//! and how fast a long run is opened.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::onlookers::Onlookers;
use super::{Programs, Verdict, WORK, build, median, micros, peak_memory_kb, project};

/// The gap between two turns with readers, against without.
const MAX_WITH_READERS: f64 = 1.2;
const TURNS: usize = 301;
const LONG_TURNS: u32 = 10_000;
const LONG_BYTES: usize = 200 * 1024 * 1024;
const MAX_OPEN: Duration = Duration::from_secs(1);
const MAX_OPEN_KB: u64 = 60 * 1024;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    open_a_long_run(&programs, &scratch.path().join("long"), &mut verdict)?;
    look_on(&programs, &scratch.path().join("small"), &mut verdict)?;
    verdict.end()
}

/// A journal of 200 MB, opened as `ralph monitor` opens it.
fn open_a_long_run(
    programs: &Programs,
    dir: &Path,
    verdict: &mut Verdict,
) -> Result<(), Vec<String>> {
    let failed = |e: std::io::Error| vec![e.to_string()];
    fs::create_dir_all(dir).map_err(failed)?;
    let runs = crate::state::runs(Command::new(&programs.ralph), dir);
    let run = runs.join("20261115-021030-0007");
    fs::create_dir_all(&run).map_err(failed)?;
    let bytes = write_journal(&run.join("journal.jsonl")).map_err(failed)?;
    println!(
        "journal                              {} MB",
        bytes / 1024 / 1024
    );
    let mut times = Vec::new();
    let mut peak_kb = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let mut child = Command::new(&programs.ralph)
            .current_dir(dir)
            .args(["monitor", "--once", "--root", "."])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        while let Ok(None) = child.try_wait() {
            peak_kb = peak_kb.max(peak_memory_kb(child.id()));
            std::thread::sleep(Duration::from_millis(1));
        }
        times.push(start.elapsed());
        let shown = child.wait_with_output().map_err(failed)?;
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        if !shown.contains(&format!("#{LONG_TURNS}")) {
            return Err(vec![format!("the long run is not shown:\n{shown}")]);
        }
    }
    verdict.at_most("opening 200 MB, 10,000 turns", median(times), MAX_OPEN);
    verdict.at_most_kb("peak memory of that", peak_kb, MAX_OPEN_KB);
    Ok(())
}

/// Turns as a run writes them, with what the checks printed.
fn write_journal(path: &Path) -> std::io::Result<usize> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut seq = 0;
    let mut record = |data: &Value| -> std::io::Result<()> {
        seq += 1;
        let head = format!("{{\"v\":1,\"seq\":{seq},");
        let body = format!("\"data\":{data}}}");
        let crc = crc32(head.as_bytes(), body.as_bytes());
        let line = format!("{head}\"crc\":\"{crc:08x}\",{body}\n");
        written += line.len();
        out.write_all(line.as_bytes())
    };
    record(&header())?;
    record(&event(0, "started", &json!({"seen": seen(0)})))?;
    let per_turn = LONG_BYTES / LONG_TURNS as usize;
    let line = "test module::case_with_a_longer_name ... ok \"quoted\"\n";
    let output = line.repeat(per_turn.saturating_sub(1_200) / (line.len() + 3));
    for turn in 1..=LONG_TURNS {
        let at = i64::from(turn) * 60_000;
        record(&event(
            at,
            "turn_ended",
            &json!({
                "turn": turn, "attempt": 1, "end": {"exit": 0}, "duration_ms": 40_000,
                "promise": "continue", "spent": {"nano_usd": 250_000_000},
                "seen": seen(turn),
            }),
        ))?;
        if turn < LONG_TURNS {
            let result =
                json!({"command": "cargo test", "exit": 0, "duration_ms": 900, "output": output});
            record(&event(
                at + 1,
                "verified",
                &json!({"turn": turn, "results": [result]}),
            ))?;
        }
    }
    out.flush()?;
    Ok(written)
}

fn event(at: i64, kind: &str, fields: &Value) -> Value {
    let mut event =
        json!({"at": {"wall_ms": 1_794_708_630_000i64 + at, "steady_ms": at}, "kind": kind});
    if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object()) {
        event.extend(fields.clone());
    }
    event
}

fn seen(turn: u32) -> Value {
    let task = json!({"id": "T001", "text": "Never done"});
    let phase = |n: u32| json!({"key": n.to_string(), "title": "A part of the work", "completed": 0, "total": 3});
    let phases: Vec<Value> = (1..=5).map(phase).collect();
    json!({
        "tasks": {"read": {"total": 15, "completed": 0, "pending": 15, "phase": "1", "phases": phases, "next": task, "open": [task]}},
        "tree": format!("{turn:064x}"),
    })
}

fn header() -> Value {
    json!({
        "run_id": "20261115-021030-0007", "started_ms": 1_794_708_630_000i64,
        "rules": {
            "goal": {"tasks": {"phase": null}},
            "limits": {
                "max_iterations": 20_000, "extend_by": 10, "warn_at": "never",
                "consecutive_errors": 3, "missing_promise": 5, "stalled": 5, "same_error": 5,
                "false_promise": 5, "max_duration_ms": 0, "iteration_timeout_ms": 0,
                "pause_between_ms": 0, "calls_per_hour": 0, "max_wait_ms": 0, "on_limit": "stop",
                "retry": {"initial_ms": 0, "factor": 1, "max_ms": 0},
            },
            "promise_required": false, "verify": "each",
            "evidence": {"tasks": true, "phase": true, "commit": true, "tree": true},
            "e2e_repairs": 3, "agents": ["claude"],
        },
        "asked": {},
    })
}

fn crc32(head: &[u8], body: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in head.iter().chain(body) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(crc & 1));
        }
    }
    !crc
}

/// The same run, alone and with a monitor and many viewers of the page.
fn look_on(programs: &Programs, dir: &Path, verdict: &mut Verdict) -> Result<(), Vec<String>> {
    let small = project(dir, 200).map_err(|e| vec![e.to_string()])?;
    programs.run(&small, 11, WORK)?;
    let mut ratios = Vec::new();
    for _ in 0..3 {
        let alone = median(programs.run(&small, TURNS, WORK)?.gaps);
        let onlookers = Onlookers::start(programs, &small)?;
        let watched = median(programs.run(&small, TURNS, WORK)?.gaps);
        let news = onlookers.end()?;
        println!(
            "gap alone and looked at              {} {} ({news} news to each viewer)",
            micros(alone),
            micros(watched)
        );
        ratios.push(watched.as_secs_f64() / alone.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    verdict.bounded("gap with readers / alone", ratios[1], MAX_WITH_READERS);
    Ok(())
}
