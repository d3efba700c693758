//! An agent for benches: appends the times of its start and its end to the
//! file that it is given, and asks for another turn. `lines N` or `line N`
//! floods N megabytes before that, `works N` takes N milliseconds for it.
#![expect(clippy::print_stdout, reason = "its answer is its output")]

use std::io::Write;
use std::time::Duration;

fn main() {
    let start = now_ns();
    let file = std::env::args_os().nth(1).unwrap_or_default();
    let log = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file);
    work();
    println!("<promise>CONTINUE</promise>");
    if let Ok(mut log) = log {
        let _ = log.write_all(format!("{start} {}\n", now_ns()).as_bytes());
    }
}

fn work() {
    let mut args = std::env::args().skip(2);
    let kind = args.next().unwrap_or_default();
    let much: u32 = args.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    match kind.as_str() {
        "works" => std::thread::sleep(Duration::from_millis(much.into())),
        _ => flood(&kind, much),
    }
}

/// Writes the megabytes that were asked for, in lines or as one line.
fn flood(kind: &str, megabytes: u32) {
    let mut chunk = vec![b'x'; 100_000];
    if kind == "lines" {
        chunk
            .iter_mut()
            .skip(99)
            .step_by(100)
            .for_each(|b| *b = b'\n');
    }
    let mut out = std::io::stdout().lock();
    for _ in 0..megabytes * 10 {
        // Whoever closed the pipe has heard enough.
        if out.write_all(&chunk).is_err() {
            return;
        }
    }
    let _ = out.write_all(b"\n");
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
