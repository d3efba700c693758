//! What a child leaves behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ralph_engine::supervise::{self, Ending, Stop};
use tokio::sync::watch;

use crate::kit::{Heard, contains, ends, in_time, is_running, run, run_with, sh};

#[tokio::test]
async fn somebody_who_keeps_the_output_open_is_noticed_and_ended() {
    let (report, heard) = run(sh("sleep 60 & echo $!; exit 3")).await;
    assert_eq!(report.ending, Ending::Exited(3));
    assert!(report.leaked);
    assert!(report.duration < Duration::from_secs(20), "{report:?}");
    assert!(ends(heard.pid()));
}

#[tokio::test]
async fn a_leak_that_floods_is_ended_too() {
    let mut sink = Heard::reacting(|_| {});
    let report = run_with(sh("yes & echo $! >&2; exit 0"), &mut sink).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert!(report.leaked);
    assert!(report.duration < Duration::from_secs(20), "{report:?}");
    let pid = String::from_utf8_lossy(&sink.stderr).trim().parse();
    assert!(ends(pid.unwrap()));
}

#[tokio::test]
async fn a_background_child_without_output_ends_with_the_turn() {
    let (report, heard) = run(sh("sleep 60 </dev/null >/dev/null 2>&1 & echo $!; exit 0")).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert!(!report.leaked);
    assert!(ends(heard.pid()));
}

#[tokio::test]
async fn a_whole_tree_ends_on_a_stop() {
    let tree =
        "sh -c 'sh -c \"trap : TERM; echo ready; sleep 60; sleep 60\" & wait' & echo $!; wait";
    let (report, heard) = crate::kit::run_until(sh(tree), "ready", Stop::Now).await;
    assert_eq!(report.ending, Ending::Stopped);
    assert!(ends(heard.pid()));
}

#[tokio::test]
async fn what_is_said_just_after_the_exit_is_kept() {
    let (report, heard) = run(sh("(sleep 0.1; echo late) & exit 0")).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert!(!report.leaked);
    assert_eq!(heard.text(), "late\n");
}

/// Who made a session of its own can't be reached by its group; that somebody
/// is there is noticed all the same.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_session_of_its_own_is_reported_as_a_leak() {
    let (report, heard) = run(sh("setsid sh -c 'echo $$; sleep 60' & sleep 0.2")).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert!(report.leaked);
    let pid = i32::try_from(heard.pid()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_child_leads_a_session_without_a_terminal() {
    let script = "cat /proc/$$/stat; if (: </dev/tty) 2>/dev/null; then echo terminal; fi";
    let (_, heard) = run(sh(script)).await;
    let said = heard.text();
    assert!(!said.contains("terminal"), "{said}");
    let after_name = said.rsplit(") ").next().unwrap();
    let fields: Vec<i64> = after_name
        .split_whitespace()
        .skip(1)
        .take(4)
        .map(|field| field.parse().unwrap())
        .collect();
    let pid: i64 = said.split_whitespace().next().unwrap().parse().unwrap();
    let [_parent, group, session, terminal] = fields[..] else {
        panic!("{said}");
    };
    assert_eq!((group, session, terminal), (pid, pid, 0));
}

/// While anybody of the group may be left, the leader stays unreaped, so that
/// its number can't come to mean a stranger whom we would kill.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_leader_is_reaped_after_its_group() {
    use crate::kit::state;
    let seen = Arc::new(AtomicU32::new(0));
    let noted = Arc::clone(&seen);
    let mut sink = Heard::reacting(move |said: &[u8]| {
        if contains(said, "late") {
            let text = String::from_utf8_lossy(said).into_owned();
            let leader: u32 = text.lines().next().unwrap().parse().unwrap();
            let letter = state(leader).map_or(1, u32::from);
            noted.store(letter, Ordering::SeqCst);
        }
    });
    // The leader has exited when its child says "late".
    let script = "echo $$; me=$$; (while [ \"$(cut -d' ' -f3 /proc/$me/stat)\" != Z ]; do :; done; echo late) & exit 0";
    let report = run_with(sh(script), &mut sink).await;
    assert!(!report.leaked, "{}", sink.text());
    assert_eq!(char::from_u32(seen.load(Ordering::SeqCst)), Some('Z'));
    assert_eq!(state(sink.pid()), None, "it was reaped in the end");
}

#[tokio::test]
async fn a_turn_that_is_dropped_leaves_nobody_behind() {
    let pid = Arc::new(AtomicU32::new(0));
    let noted = Arc::clone(&pid);
    let mut sink = Heard::reacting(move |said: &[u8]| {
        if let Some(line) = String::from_utf8_lossy(said).lines().next() {
            noted.store(line.parse().unwrap(), Ordering::SeqCst);
        }
    });
    let stop = watch::Sender::new(Stop::No);
    {
        let turn = supervise::run(sh("sleep 60 & echo $!; wait"), &mut sink, stop.subscribe());
        tokio::pin!(turn);
        in_time(async {
            while pid.load(Ordering::SeqCst) == 0 {
                let _ = tokio::time::timeout(Duration::from_millis(5), &mut turn).await;
            }
        })
        .await;
        assert!(is_running(pid.load(Ordering::SeqCst)));
    }
    assert!(ends(pid.load(Ordering::SeqCst)));
}
