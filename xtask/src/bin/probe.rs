//! An agent for benches: appends the times of its start and its end to the
//! file that it is given, and asks for another turn.
#![expect(clippy::print_stdout, reason = "its answer is its output")]

use std::io::Write;

fn main() {
    let start = now_ns();
    let file = std::env::args_os().nth(1).unwrap_or_default();
    let log = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file);
    println!("<promise>CONTINUE</promise>");
    if let Ok(mut log) = log {
        let _ = log.write_all(format!("{start} {}\n", now_ns()).as_bytes());
    }
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
