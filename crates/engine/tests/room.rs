//! The clean room with real namespaces: nothing of it reaches the work tree.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ralph_engine::room::{self, Content, Room, RoomKind};
use ralph_engine::supervise::Stop;
use ralph_engine::verify::{Order, Place, Verifier};
use tokio::sync::watch;

/// Which room a process that was started for it shall get.
const EXPECTED: &str = "RALPH_TEST_ROOM";

fn verifier() -> Verifier {
    Verifier {
        files: Vec::new(),
        max_time: Duration::ZERO,
        wall: None,
        commands: Vec::new(),
        timeout: Duration::from_secs(60),
        output_limit: 2000,
        log_max: 0,
        baseline: Default::default(),
        env_filter: Default::default(),
        grace: Duration::from_secs(5),
    }
}

/// Everything below a folder: kind and mode, time, contents.
fn scan(dir: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            let content = match (found.is_symlink(), found.is_file()) {
                (true, _) => fs::read_link(&path).unwrap().into_os_string().into_vec(),
                (_, true) => fs::read(&path).unwrap(),
                _ => Vec::new(),
            };
            if found.is_dir() {
                dirs.push(path.clone());
            }
            let is = (found.mode(), found.mtime(), found.mtime_nsec(), content);
            all.insert(path, is);
        }
    }
    all
}

fn git(root: &Path, args: &[&str]) -> String {
    let who = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    let output = Command::new("git")
        .current_dir(root)
        .arg("--no-optional-locks")
        .args(who)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn file(text: &str, executable: bool) -> Content {
    Content::File {
        bytes: text.into(),
        executable,
    }
}

/// Names as people have them, and as nobody should.
fn odd_names() -> Vec<PathBuf> {
    let names: [&[u8]; 4] = [b"sp ace, co:lon", b"back\\slash", b"new\nline", b"\xff\xfe"];
    names.map(|name| OsStr::from_bytes(name).into()).to_vec()
}

fn project(root: &Path) {
    for dir in ["only", "folder", "below"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    let names = ["keep", "edit", "gone", "run", "plain", "swap"];
    let inside = ["only/one", "folder/x", "below/n"];
    for name in names.iter().chain(&inside) {
        fs::write(root.join(name), "old\n").unwrap();
    }
    for name in odd_names() {
        fs::write(root.join(name), "old\n").unwrap();
    }
    fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("keep", root.join("link")).unwrap();
    git(root, &["init", "-q"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "All"]);
    fs::write(root.join("untracked"), "mine\n").unwrap();
}

fn edits() -> Vec<(PathBuf, Content)> {
    let odd = odd_names().into_iter();
    let mut files: Vec<_> = odd.map(|name| (name, file("new\n", false))).collect();
    files.extend([
        ("edit".into(), file("new\n", false)),
        ("gone".into(), Content::Gone),
        ("run".into(), file("old\n", false)),
        ("plain".into(), file("old\n", true)),
        ("link".into(), Content::Link("elsewhere".into())),
        ("only/one".into(), Content::Gone),
        // In either order, a folder for a file and a file for a folder.
        ("swap/in/side".into(), file("new\n", false)),
        ("swap".into(), Content::Gone),
        ("folder".into(), file("new\n", false)),
        ("folder/x".into(), Content::Gone),
    ]);
    files
}

/// What has to be seen, and then everything that a bad check does.
const CHECK: &str = r#"set -e
is() { test "$(cat "$1")" = "$2"; }
is edit new; is keep old; is untracked mine; is swap/in/side new; is folder new
is 'sp ace, co:lon' new; is 'back\slash' new; is "$(printf 'new\nline')" new
is "$(printf '\377\376')" new
! test -e gone; ! test -e only; test -x plain; ! test -x run
test "$(readlink link)" = elsewhere
echo junk > keep; rm untracked; rm -r below; mkdir below; echo x > below/n; ! test -e below/y
chmod 0600 edit; touch new; ln -s / out; mkdir closed; touch closed/file; chmod 0 closed
echo junk > .git/HEAD; rm -rf .git/refs; mkfifo pipe
echo seen
"#;

async fn play(name: &OsStr) -> RoomKind {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join(name), dir.path().join("state"));
    project(&root);
    let (before, status) = (scan(&root), git(&root, &["status", "--porcelain"]));
    let room = Room::open(&root, &state).await.unwrap();
    let layer = room.layer(&edits()).unwrap();
    let place = Place {
        cwd: layer.cwd().to_owned(),
        overlay: layer.overlay(),
        word: None,
        beside: false,
    };
    let order = Order {
        project: vec!["pwd -P".into(), CHECK.into()],
        ..Order::default()
    };
    let (_keep, stop) = watch::channel(Stop::No);
    let log = dir.path().join("log");
    let run = verifier();
    let run = run.run_order(&order, 1, &place, &[], log, stop);
    let results = run.await.report.results;
    let said = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    assert_eq!(results.len(), 2, "{results:?}");
    assert_eq!(results[1].exit, Some(0), "{name:?}: {said}");
    if room.kind() == RoomKind::Overlay {
        let real = root.canonicalize().unwrap();
        let shown = String::from_utf8_lossy(real.as_os_str().as_bytes()).into_owned();
        assert_eq!(results[0].output, format!("{shown}\n"), "the same path");
    }
    drop(layer);
    assert_eq!(scan(&root), before, "{name:?}: not a byte, mode or time");
    assert_eq!(git(&root, &["status", "--porcelain"]), status);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let here = dir.path().canonicalize().unwrap().display().to_string();
    assert!(!mounts.contains(&here), "{mounts}");
    assert_eq!(fs::read_dir(state.join("rooms")).unwrap().count(), 0);
    fs::remove_dir_all(dir.path()).unwrap();
    room.kind()
}

/// As whoever runs it, and where.
#[tokio::test]
async fn a_room_shows_every_edit_and_changes_nothing() {
    let expected = std::env::var(EXPECTED);
    let names: [&[u8]; 6] = [
        b"project", b"a b, c:d", b"back\\slash\\", b"new\nline", b"\xff\xfe",
        b"lowerdir=x,upperdir=y",
    ];
    for name in names {
        let kind = play(OsStr::from_bytes(name)).await;
        let is: &str = kind.into();
        match &expected {
            Ok(expected) => assert_eq!(is, expected, "{name:?}"),
            Err(_) => eprintln!("{:?}: {is}", OsStr::from_bytes(name)),
        }
    }
}

/// Plays it once more in a process that was started in this way; what can't be
/// started here is told.
fn elsewhere(wrapper: &[&str], expected: &str, is_given_away: bool) {
    let dir = tempfile::tempdir().unwrap();
    let exe = dir.path().join("room");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    let scratch = dir.path().join("tmp");
    fs::create_dir(&scratch).unwrap();
    let open = fs::Permissions::from_mode(0o755);
    for path in [dir.path(), &exe] {
        fs::set_permissions(path, open.clone()).unwrap();
    }
    if is_given_away {
        std::os::unix::fs::chown(&scratch, Some(65534), Some(65534)).unwrap();
    }
    let [program, args @ ..] = wrapper else {
        return;
    };
    let started = |what: &[&OsStr]| {
        let mut command = Command::new(program);
        command.args(args).args(what).current_dir(&scratch);
        command.env("TMPDIR", &scratch).env(EXPECTED, expected);
        command.output()
    };
    let names = [
        "a_room_shows_every_edit_and_changes_nothing",
        "a_room_within_its_project_does_not_hold_itself",
    ];
    let words = ["--exact", names[0], names[1], "--nocapture"].map(OsStr::new);
    let output = started(&[&[exe.as_os_str()], &words[..]].concat()).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let erred = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{erred}");
    assert!(said.contains("2 passed"), "{said}");
}

#[test]
#[cfg_attr(not(can_be_another_user), ignore = "needs root and setpriv")]
fn an_ordinary_user_has_it_too() {
    let ids = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    elsewhere(&[&["setpriv"], &ids[..]].concat(), "overlay", true);
}

/// Who is root in a container only can't do all that root can.
#[test]
#[cfg_attr(
    not(has_namespaces),
    ignore = "needs namespaces of its own, unshare and setpriv"
)]
fn the_root_of_a_container_has_it_too() {
    elsewhere(&["unshare", "-Ur"], "overlay", false);
}

#[test]
#[cfg_attr(
    not(has_namespaces),
    ignore = "needs namespaces of its own, unshare and setpriv"
)]
fn where_namespaces_are_refused_it_is_a_copy() {
    let refuse = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all \"$0\" \"$@\"";
    elsewhere(&["unshare", "-Ur", "sh", "-c", refuse], "copy", false);
}

#[tokio::test]
async fn a_room_within_its_project_does_not_hold_itself() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let state = dir.path().join("state");
    let room = Room::open(dir.path(), &state).await.unwrap();
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(<&str>::from(room.kind()), expected);
    }
    let layer = room.layer(&edits()).unwrap();
    if room.kind() == RoomKind::Copy {
        assert_eq!(fs::read(layer.cwd().join("edit")).unwrap(), b"new\n");
        assert!(!layer.cwd().join("state/rooms").exists());
        let times = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        let (outside, inside) = (dir.path().join("keep"), layer.cwd().join("keep"));
        assert_eq!(times(outside), times(inside), "build tools go by times");
    }
}

#[tokio::test]
async fn only_what_dead_processes_left_is_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("project"), dir.path().join("state"));
    project(&root);
    let room = Room::open(&root, &state).await.unwrap();
    let living = room.layer(&edits()).unwrap();
    let rooms = state.join("rooms");
    let names = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&rooms).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let alive = names();
    assert_eq!(alive.len(), 1);
    let dead = rooms.join("ralph-room-0000000000000000");
    fs::create_dir_all(dead.join("work/work")).unwrap();
    fs::create_dir_all(dead.join("upper/closed/deep")).unwrap();
    for closed in ["work/work", "upper/closed"] {
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(dead.join(closed), none).unwrap();
    }
    symlink("/", rooms.join("ralph-room-link")).unwrap();
    fs::write(rooms.join("mine"), "").unwrap();
    room::clear(&state);
    assert!(!dead.exists());
    let left = names();
    assert!(left.contains(&alive[0]) && left.len() == 3, "{left:?}");
    // Another process of the project opens its room meanwhile.
    let other = Room::open(&root, &state).await.unwrap();
    drop(other.layer(&[]).unwrap());
    assert!(alive[0].join("upper").exists());
    drop(living);
    assert!(!alive[0].exists());
}

#[test]
fn a_path_that_leads_out_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let room = runtime
        .block_on(Room::open(dir.path(), &dir.path().join("state")))
        .unwrap();
    for path in ["../out", "/etc/out", "a/../../out", ""] {
        let made = room.layer(&[(path.into(), file("", false))]);
        assert!(made.is_err(), "{path}");
    }
}
