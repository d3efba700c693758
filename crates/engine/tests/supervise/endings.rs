//! How a child can end, by itself and with help.

use std::time::{Duration, Instant};

use ralph_engine::supervise::{Ending, Stop};

use crate::kit::{ends, in_time, run, run_until, sh};

async fn check(script: &str, want: Ending) {
    let (report, _) = run(sh(script)).await;
    assert_eq!(report.ending, want, "{script}");
    assert!(!report.leaked, "{script}");
    assert_eq!(report.sink_error, None, "{script}");
}

#[tokio::test]
async fn a_child_ends_by_itself() {
    check("exit 0", Ending::Exited(0)).await;
    check("exit 7", Ending::Exited(7)).await;
    check("no-such-command-at-all", Ending::Exited(127)).await;
    check("kill -KILL $$", Ending::Signalled(9)).await;
    check("kill -TERM $$; sleep 60", Ending::Signalled(15)).await;
}

#[tokio::test]
async fn a_child_that_closes_its_output_is_waited_for() {
    check("exec >&- 2>&-; sleep 0.3; exit 4", Ending::Exited(4)).await;
}

#[tokio::test]
async fn a_timeout_asks_first() {
    let mut spec = sh("echo $$; sleep 60; echo never");
    spec.timeout = Some(Duration::from_millis(500));
    let (report, heard) = run(spec).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration >= Duration::from_millis(500));
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
    assert!(!heard.text().contains("never"));
    assert!(ends(heard.pid()));
}

#[tokio::test]
async fn a_timeout_kills_what_does_not_listen() {
    let mut spec = sh("trap '' TERM; echo $$; sleep 60 & wait; echo woken; sleep 60");
    spec.timeout = Some(Duration::from_secs(1));
    spec.grace = Duration::from_millis(300);
    let (report, heard) = run(spec).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(
        report.duration >= Duration::from_millis(1300),
        "the grace was kept: {report:?}"
    );
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
    assert!(ends(heard.pid()));
}

#[tokio::test]
async fn silence_ends_a_child_and_talk_keeps_it() {
    let mut silent = sh("echo $$; sleep 60; echo never");
    silent.idle = Some(Duration::from_millis(500));
    let (report, heard) = run(silent).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
    assert!(!heard.text().contains("never"));

    let mut talking = sh("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.3; done");
    talking.idle = Some(Duration::from_secs(2));
    let (report, _) = run(talking).await;
    assert_eq!(report.ending, Ending::Exited(0), "{report:?}");
    assert!(report.duration > Duration::from_secs(2));
}

#[tokio::test]
async fn no_grace_means_kill() {
    let mut spec = sh("trap '' TERM; echo $$; sleep 60");
    spec.timeout = Some(Duration::from_millis(500));
    spec.grace = Duration::ZERO;
    let (report, _) = run(spec).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
}

#[tokio::test]
async fn a_timeout_longer_than_any_clock_is_none() {
    let mut spec = sh("exit 0");
    spec.timeout = Some(Duration::MAX);
    assert_eq!(run(spec).await.0.ending, Ending::Exited(0));
    let mut spec = sh("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    spec.grace = Duration::MAX;
    let (report, _) = run_until(spec, "ready", Stop::Gracefully).await;
    assert_eq!(report.ending, Ending::Stopped);
}

#[tokio::test]
async fn a_stopped_child_ends_on_timeout() {
    let mut spec = sh("kill -STOP $$; sleep 60");
    spec.timeout = Some(Duration::from_millis(500));
    let (report, _) = run(spec).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration < Duration::from_secs(30), "{report:?}");

    let mut deaf = sh("trap '' TERM; kill -STOP $$; sleep 60");
    deaf.timeout = Some(Duration::from_millis(500));
    deaf.grace = Duration::from_millis(100);
    let (report, _) = run(deaf).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
}

#[tokio::test]
async fn a_graceful_stop_lets_the_child_clean_up() {
    let spec = sh("trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    let (report, heard) = run_until(spec, "ready", Stop::Gracefully).await;
    assert_eq!(report.ending, Ending::Stopped);
    assert_eq!(heard.text(), "ready\ncleaned\n");
}

#[tokio::test]
async fn a_graceful_stop_kills_after_the_grace() {
    let mut spec = sh("trap '' TERM; echo ready; sleep 60");
    spec.grace = Duration::from_millis(300);
    let (report, _) = run_until(spec, "ready", Stop::Gracefully).await;
    assert_eq!(report.ending, Ending::Stopped);
    assert!(report.duration >= Duration::from_millis(300), "{report:?}");
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
}

#[tokio::test]
async fn a_stop_now_waits_for_no_grace() {
    let spec = sh("trap '' TERM; echo ready; sleep 60");
    let (report, _) = run_until(spec, "ready", Stop::Now).await;
    assert_eq!(report.ending, Ending::Stopped);
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
}

#[tokio::test]
async fn a_second_request_cuts_the_grace_short() {
    use crate::kit::{Heard, contains};
    use ralph_engine::supervise;
    use tokio::sync::watch;

    let stop = watch::Sender::new(Stop::No);
    let receiver = stop.subscribe();
    let mut heard = Heard::reacting(move |said: &[u8]| {
        if contains(said, "asked") {
            stop.send_replace(Stop::Now);
        } else if contains(said, "ready") {
            stop.send_replace(Stop::Gracefully);
        }
    });
    let spec = sh("trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done");
    let report = in_time(supervise::run(spec, &mut heard, receiver)).await;
    assert_eq!(report.ending, Ending::Stopped);
    assert_eq!(heard.text(), "ready\nasked\n");
    assert!(report.duration < Duration::from_secs(30), "{report:?}");
}

#[tokio::test]
async fn a_stop_after_the_timeout_does_not_change_why_it_ended() {
    let mut spec = sh("trap 'echo asked' TERM; while :; do sleep 0.05; done");
    spec.timeout = Some(Duration::from_secs(1));
    let started = Instant::now();
    let (report, _) = run_until(spec, "asked", Stop::Now).await;
    assert_eq!(report.ending, Ending::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(30));
}
