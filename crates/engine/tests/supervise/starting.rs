//! What a child is started with, and what happens where it can't be.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;

use ralph_engine::supervise::{self, Ending, Spec, Stop};
use tokio::sync::watch;

use crate::kit::{Heard, run, sh};

async fn check_failed(spec: Spec, want_missing: bool, names: &str) {
    let (report, heard) = run(spec).await;
    let Ending::SpawnFailed { missing, message } = report.ending else {
        panic!("{report:?}");
    };
    assert_eq!(missing, want_missing, "{message}");
    assert!(message.contains(names), "{message}");
    assert!(heard.stdout.is_empty() && heard.stderr.is_empty());
    assert!(!report.leaked);
}

#[tokio::test]
async fn what_can_t_be_started_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let program = |name: &str| Spec {
        program: at(name).into(),
        ..sh("")
    };
    fs::write(at("plain.txt"), "no program").unwrap();
    fs::write(at("orphan"), "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(at("orphan"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut homeless = sh("exit 0");
    homeless.cwd = at("nowhere");
    let mut odd_home = sh("exit 0");
    odd_home.cwd = at("plain.txt");

    check_failed(program("nobody"), true, "nobody").await;
    check_failed(program("plain.txt"), false, "plain.txt").await;
    check_failed(program("orphan"), false, "orphan").await;
    check_failed(homeless, false, "nowhere").await;
    check_failed(odd_home, false, "plain.txt").await;
    let mut unnamed = sh("");
    unnamed.program = "ralph-test-no-such-program".into();
    check_failed(unnamed, true, "ralph-test-no-such-program").await;
}

#[tokio::test]
async fn standard_input_is_the_file_or_nothing() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"the prompt\nto the end").unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    let mut spec = sh("cat");
    spec.stdin = Some(file);
    assert_eq!(run(spec).await.1.text(), "the prompt\nto the end");

    // Nobody waits for input that never comes.
    assert_eq!(run(sh("cat; echo end")).await.1.text(), "end\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_input_is_the_null_device() {
    let (_, heard) = run(sh("readlink /proc/self/fd/0")).await;
    assert_eq!(heard.text(), "/dev/null\n");
}

#[tokio::test]
async fn the_child_starts_in_its_directory_with_its_variables() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = sh("pwd -P; echo \"$GIVEN:${PATH+inherited}:${HOME-removed}:$BOTH\"");
    spec.cwd = dir.path().into();
    spec.env = vec![
        ("GIVEN".into(), "a value; $(id)".into()),
        ("BOTH".into(), "set".into()),
    ];
    spec.env_remove = vec!["HOME".into(), "BOTH".into()];
    let real = dir.path().canonicalize().unwrap();
    assert_eq!(
        run(spec).await.1.text(),
        format!("{}\na value; $(id):inherited:removed:set\n", real.display())
    );
}

#[tokio::test]
async fn a_stop_that_came_before_the_start_starts_nothing() {
    for wanted in [Stop::Gracefully, Stop::Now] {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = sh("echo ran > ran");
        spec.cwd = dir.path().into();
        let stop = watch::Sender::new(Stop::No);
        let receiver = stop.subscribe();
        stop.send_replace(wanted);
        let mut heard = Heard::reacting(|_| {});
        let report = supervise::run(spec, &mut heard, receiver).await;
        assert_eq!(report.ending, Ending::Stopped);
        assert!(!dir.path().join("ran").exists());
    }
}
