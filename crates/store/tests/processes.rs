//! What only several real processes can show: one lock for all of them, its
//! release by death, and a file that may not grow.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail the test"
)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ralph_store::journal::{Durability, Journal, JournalError, Tail};
use ralph_store::lock::{LockError, LockInfo, acquire, holder};
use ralph_store::stats::{self, Decision};
use serde_json::json;

const PATH: &str = "STORE_TEST_PATH";

fn this_path() -> std::path::PathBuf {
    std::env::var_os(PATH).expect("only as a helper").into()
}

/// Runs one of the ignored tests below as a process of its own.
fn helper(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(PATH, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn info() -> LockInfo {
    LockInfo {
        pid: std::process::id(),
        started_at: "2026-11-15T02:10:30Z".to_owned(),
        run_id: "20261115-021030-1a2b".to_owned(),
        host: None,
    }
}

#[test]
#[ignore = "a helper process of the tests below"]
fn take_the_lock() {
    let lock = acquire(&this_path(), &info());
    match &lock {
        Ok(_) => println!("@won"),
        Err(LockError::Held {
            holder: Some(info), ..
        }) => println!("@held {}", info.pid),
        Err(error) => println!("@error {error}"),
    }
    // The winner keeps it until everybody has tried.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// A helper process, which stays alive as long as its input is open.
struct Helper {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Helper {
    fn start(mut command: Command) -> Helper {
        let mut child = command.spawn().unwrap();
        Helper {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// What it says after its mark. The harness may have printed before it on
    /// the same line.
    fn verdict(&mut self) -> String {
        let mut lines = self.output.by_ref().lines().map(Result::unwrap);
        lines
            .find_map(|line| Some(line.split_once('@')?.1.to_owned()))
            .expect("the helper says how it went")
    }

    fn finish(mut self) {
        drop(self.input.take());
        self.output.read_to_end(&mut Vec::new()).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn of_fifty_processes_exactly_one_gets_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let mut helpers: Vec<Helper> = (0..50)
        .map(|_| Helper::start(helper("take_the_lock", &path)))
        .collect();
    let verdicts: Vec<String> = helpers.iter_mut().map(Helper::verdict).collect();
    let winners: Vec<u32> = helpers
        .iter()
        .zip(&verdicts)
        .filter(|(_, verdict)| *verdict == "won")
        .map(|(helper, _)| helper.child.id())
        .collect();
    assert_eq!(winners.len(), 1, "{verdicts:?}");
    let refused = format!("held {}", winners[0]);
    let refusals = verdicts.iter().filter(|verdict| **verdict == refused);
    assert_eq!(refusals.count(), 49, "{verdicts:?}");
    helpers.into_iter().for_each(Helper::finish);
}

#[test]
fn the_lock_of_a_killed_process_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let mut helper = Helper::start(helper("take_the_lock", &path));
    assert_eq!(helper.verdict(), "won");
    let killed = helper.child.id();
    assert_eq!(holder(&path).unwrap().map(|info| info.pid), Some(killed));
    acquire(&path, &info()).expect_err("it is alive");
    helper.child.kill().unwrap();
    helper.child.wait().unwrap();
    assert_eq!(holder(&path).unwrap(), None);
    let lock = acquire(&path, &info()).unwrap();
    assert_eq!(lock.took_over.as_ref().map(|info| info.pid), Some(killed));
}

#[test]
#[ignore = "a helper process of the test below"]
fn count_three_decisions() {
    println!("@ready");
    // Everybody begins at once.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    for (tool, decision) in [
        ("Bash", Decision::Allowed),
        ("Bash", Decision::Blocked),
        ("Write", Decision::Allowed),
    ] {
        stats::count(&this_path(), tool, decision).unwrap();
    }
}

#[test]
fn a_hundred_processes_that_count_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".safety_stats");
    let mut helpers: Vec<Helper> = (0..100)
        .map(|_| Helper::start(helper("count_three_decisions", &path)))
        .collect();
    for helper in &mut helpers {
        assert_eq!(helper.verdict(), "ready");
    }
    for helper in &mut helpers {
        drop(helper.input.take());
    }
    helpers.into_iter().for_each(Helper::finish);
    let stats = stats::read(&path).unwrap();
    let counts = |c: &stats::Counts| (c.allowed, c.blocked);
    assert_eq!(counts(&stats.all), (200, 100));
    assert_eq!(counts(&stats.tools["Bash"]), (100, 100));
    assert_eq!(counts(&stats.tools["Write"]), (100, 0));
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 2, "the file and its lock");
}

#[test]
#[ignore = "a helper process of the test below"]
fn append_until_it_fails() {
    let mut journal = Journal::create(&this_path()).unwrap();
    let record = json!({"text": "x".repeat(150)});
    let mut acknowledged = 0;
    loop {
        match journal.append(&[record.clone(), record.clone()], Durability::Buffered) {
            Ok(_) => acknowledged += 2,
            Err(JournalError::File(error)) => {
                println!("@{acknowledged} {:?}", error.kind);
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    // The smaller record still fits into what the failed append left free.
    journal
        .append(&[json!("small")], Durability::Commit)
        .unwrap();
}

#[test]
fn a_file_that_may_not_grow_keeps_every_acknowledged_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let helper = helper("append_until_it_fails", &path);
    // The kernel writes a part up to the limit and refuses the rest, as on a
    // full disk. Blocks are of 512 or 1024 bytes, neither of which is a
    // multiple of the records' length.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 9 && exec \"$@\"", "sh"])
        .arg(helper.get_program())
        .args(helper.get_args())
        .env(PATH, &path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut helper = Helper::start(limited);
    let said = helper.verdict();
    helper.finish();
    let (acknowledged, kind) = said.split_once(' ').unwrap();
    let acknowledged: usize = acknowledged.parse().unwrap();
    assert_eq!(kind, "FileTooLarge");
    assert!(acknowledged > 0);

    let (mut journal, records, tail) = Journal::open(&path).unwrap();
    assert_eq!(tail, Tail::Clean);
    assert_eq!(records.len(), acknowledged + 1);
    assert_eq!(
        records.last().map(|record| &record.data),
        Some(&json!("small"))
    );
    journal
        .append(&[json!("more")], Durability::Commit)
        .unwrap();
}

#[test]
#[cfg_attr(not(permissions_bind), ignore = "permissions do not bind root")]
fn a_directory_without_permission_gives_the_clear_error() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    set_permissions(dir.path(), Permissions::from_mode(0o555)).unwrap();
    let home = ralph_store::home::StateHome::at(dir.path().join("state"));
    let layout = ralph_store::layout::Layout::new(dir.path(), &home);
    let prepared = layout.prepare();
    let written = ralph_store::atomic::write_atomic(
        &dir.path().join("status.json"),
        b"{}",
        ralph_store::atomic::AtomicOptions::default(),
    );
    set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    for error in [prepared.unwrap_err(), written.unwrap_err()] {
        let text = error.to_string();
        assert!(text.starts_with("permission denied: "), "{text}");
        assert!(text.contains(dir.path().to_str().unwrap()), "{text}");
    }
}
