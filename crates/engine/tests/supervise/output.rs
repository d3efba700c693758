//! Output is complete and in order, and never keeps the supervisor from its
//! other duties.

use std::io;
use std::time::{Duration, Instant};

use ralph_engine::supervise::{Ending, Sink, Stop};

use crate::kit::{Heard, ends, run, run_until, run_with, sh};

#[tokio::test]
async fn ten_megabytes_through_both_pipes_arrive_whole_and_in_order() {
    let (report, heard) = run(sh("seq 1 1500000 & seq 1500000 -1 1 >&2; wait")).await;
    assert_eq!(report.ending, Ending::Exited(0));
    let up: String = (1..=1_500_000).map(|n| format!("{n}\n")).collect();
    let down: String = (1..=1_500_000).rev().map(|n| format!("{n}\n")).collect();
    assert!(up.len() > 10_000_000);
    assert!(heard.stdout == up.as_bytes(), "{}", heard.stdout.len());
    assert!(heard.stderr == down.as_bytes(), "{}", heard.stderr.len());
}

/// Takes so long for each chunk that the pipe is full again when it is done:
/// there is always something to read.
struct Slow {
    bytes: usize,
    pause: Duration,
}

impl Sink for Slow {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.bytes += chunk.len();
        std::thread::sleep(self.pause);
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stdout(chunk)
    }
}

const SLOW: Slow = Slow {
    bytes: 0,
    pause: Duration::from_millis(5),
};

#[tokio::test]
async fn a_flood_is_timed_out() {
    let mut spec = sh("yes & yes >&2");
    spec.timeout = Some(Duration::from_millis(300));
    let report = run_with(spec, &mut { SLOW }).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration < Duration::from_secs(10), "{report:?}");
}

#[tokio::test]
async fn a_flood_that_does_not_listen_is_killed() {
    let mut spec = sh("trap '' TERM; yes & yes >&2");
    spec.timeout = Some(Duration::from_millis(300));
    spec.grace = Duration::from_millis(300);
    let report = run_with(spec, &mut { SLOW }).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration < Duration::from_secs(10), "{report:?}");
}

#[tokio::test]
async fn a_flood_is_stopped() {
    struct StopAfter {
        slow: Slow,
        stop: tokio::sync::watch::Sender<Stop>,
    }
    impl Sink for StopAfter {
        fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
            self.stop.send_replace(Stop::Gracefully);
            self.slow.stdout(chunk)
        }
        fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
            self.slow.stderr(chunk)
        }
    }
    let stop = tokio::sync::watch::Sender::new(Stop::No);
    let receiver = stop.subscribe();
    let mut sink = StopAfter { slow: SLOW, stop };
    let running = ralph_engine::supervise::run(sh("yes & yes >&2"), &mut sink, receiver);
    let report = crate::kit::in_time(running).await;
    assert_eq!(report.ending, Ending::Stopped);
    assert!(report.duration < Duration::from_secs(10), "{report:?}");
}

#[tokio::test]
async fn the_exit_is_noticed_behind_a_flood_of_others() {
    let report = run_with(sh("yes & yes >&2 & exit 5"), &mut { SLOW }).await;
    assert_eq!(report.ending, Ending::Exited(5));
    assert!(report.leaked);
    assert!(report.duration < Duration::from_secs(10), "{report:?}");
}

#[tokio::test]
async fn a_trickle_of_others_does_not_hold_up_the_end() {
    let mut slow = Slow {
        bytes: 0,
        pause: Duration::from_millis(20),
    };
    let script = "(while :; do echo x; sleep 0.001; done) & exit 0";
    let report = run_with(sh(script), &mut slow).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert!(report.leaked);
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
}

#[tokio::test]
async fn a_flood_on_one_pipe_does_not_silence_the_other() {
    let stop = tokio::sync::watch::Sender::new(Stop::No);
    struct UntilStderr(Slow, tokio::sync::watch::Sender<Stop>);
    impl Sink for UntilStderr {
        fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
            self.0.stdout(chunk)
        }
        fn stderr(&mut self, _: &[u8]) -> io::Result<()> {
            self.1.send_replace(Stop::Now);
            Ok(())
        }
    }
    let receiver = stop.subscribe();
    let mut sink = UntilStderr(SLOW, stop);
    let mut spec = sh("yes & echo here >&2; wait");
    spec.timeout = Some(Duration::from_secs(20));
    let running = ralph_engine::supervise::run(spec, &mut sink, receiver);
    let report = crate::kit::in_time(running).await;
    assert_eq!(report.ending, Ending::Stopped);
}

/// A terminal that was halted, a slow disk: what the child said before it
/// exited must not be lost over it.
#[tokio::test]
async fn a_slow_sink_loses_nothing() {
    let mut waited = false;
    let mut sink = Heard::reacting(move |_| {
        if !std::mem::replace(&mut waited, true) {
            std::thread::sleep(Duration::from_millis(1500));
        }
    });
    let script = "echo one; sleep 0.3; echo two; echo three >&2";
    let report = run_with(sh(script), &mut sink).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert!(!report.leaked);
    assert_eq!(sink.text(), "one\ntwo\n");
    assert_eq!(sink.stderr, b"three\n");
}

struct Broken;

impl Sink for Broken {
    fn stdout(&mut self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn stderr(&mut self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[tokio::test]
async fn a_sink_that_fails_is_reported_and_blocks_nobody() {
    let script = "seq 1 300000; sleep 0.2; echo said >&2; exit 6";
    let report = run_with(sh(script), &mut Broken).await;
    assert_eq!(report.ending, Ending::Exited(6));
    assert_eq!(report.sink_error, Some(io::ErrorKind::StorageFull));
}

#[tokio::test]
async fn the_group_of_a_flood_is_gone() {
    let started = Instant::now();
    let (_, heard) = run_until(sh("yes x >&2 & echo $!; wait"), "\n", Stop::Now).await;
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(ends(heard.pid()));
}
