use std::collections::BTreeMap;

use super::*;
use crate::fault::{Fault, arm};

const EIO: i32 = 5;

fn manifest(run: &str, ended: &str, can_go_on: bool) -> Map<String, Value> {
    let value = json!({
        "version": 1,
        "program": "ralph",
        "run_id": run,
        "ended_local": ended,
        "can_go_on": can_go_on,
    });
    value.as_object().unwrap().clone()
}

/// A project with a working directory, and a bundle made from it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { dir };
        let current = place.current();
        fs::create_dir_all(current.join("checkpoint.json.d")).unwrap();
        for (name, text) in [
            ("checkpoint.json", "{}"),
            ("checkpoint.json.sha256", "abc"),
            ("ralph-delta.state.md", "# State"),
            ("notes.md", "of somebody else"),
        ] {
            fs::write(current.join(name), text).unwrap();
        }
        place
    }

    fn current(&self) -> PathBuf {
        self.dir.path().join(".skillpack/current")
    }

    fn history(&self) -> History {
        History::new(self.dir.path().join(".skillpack/history"))
    }

    fn working(&self) -> Vec<(String, PathBuf)> {
        working_files(&self.current()).unwrap()
    }

    fn bundle(&self) -> Bundle {
        let mut copies = self.working();
        copies.push(("gone.txt".to_owned(), self.dir.path().join("gone.txt")));
        Bundle {
            manifest: manifest("r1", "2026-01-18 10:00:00", false),
            texts: vec![(REPORT.to_owned(), "# Report\n".to_owned())],
            copies,
        }
    }
}

/// Every file below a folder, hidden ones too.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            for (below, bytes) in files(&entry.path()) {
                found.insert(format!("{name}/{below}"), bytes);
            }
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn an_archive_has_everything_and_lists_it() {
    let place = Place::new();
    let history = place.history();
    let path = history.put("2026-01-18_r1", &place.bundle()).unwrap();
    let names: Vec<String> = files(&path).into_keys().collect();
    assert_eq!(
        names,
        [
            "checkpoint.json", "checkpoint.json.sha256", "manifest.json", "ralph-delta.state.md",
            "report.md",
        ]
    );
    let text = fs::read_to_string(path.join(MANIFEST)).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        manifest["files"][0],
        json!({"name": "checkpoint.json", "size": 2})
    );
    let ignored = fs::read_to_string(history.dir().join(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}

#[test]
fn only_files_of_ours_are_cleared() {
    let place = Place::new();
    clear(&place.working()).unwrap();
    let left: Vec<String> = files(&place.current()).into_keys().collect();
    assert_eq!(left, ["notes.md"]);
    assert!(place.current().join("checkpoint.json.d").is_dir());
    // Doing it again is no error.
    clear(&place.working()).unwrap();
    assert_eq!(working_files(&place.dir.path().join("none")).unwrap(), []);
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let place = Place::new();
    let history = place.history();
    for want in ["2026-01-18_a", "2026-01-18_a-2", "2026-01-18_a-3"] {
        let name = history.free_name("2026-01-18_a");
        assert_eq!(name, want);
        history.put(&name, &place.bundle()).unwrap();
    }
}

/// At each step the error is told, the sources are whole, and nothing half
/// made is seen; the next attempt works and leaves nothing hidden behind.
#[test]
fn a_failure_at_any_step_loses_nothing_and_the_next_attempt_works() {
    let points = [
        point::HISTORY_CREATE_DIR,
        point::HISTORY_OPEN,
        point::HISTORY_WRITE,
        point::HISTORY_COPY,
        point::HISTORY_SYNC,
        point::HISTORY_SYNC_DIR,
        point::HISTORY_RENAME,
    ];
    let mut failures = 0;
    for point in points {
        for passes in 0.. {
            let place = Place::new();
            let before = files(&place.current());
            arm(point, passes, Fault::error(EIO));
            let history = place.history();
            let name = history.free_name("2026-01-18_r1");
            if history.put(&name, &place.bundle()).is_ok() {
                // The fault is still armed: let it strike where nothing is lost.
                crate::fault::pass(point);
                break;
            }
            failures += 1;
            assert_eq!(files(&place.current()), before, "{point} {passes}");
            let name = history.free_name("2026-01-18_r1");
            let path = history.put(&name, &place.bundle()).unwrap();
            clear(&place.working()).unwrap();
            assert_eq!(files(&path).len(), 5, "{point} {passes}");
            assert!(
                files(history.dir()).keys().all(|n| !n.contains(UNFINISHED)),
                "{point} {passes}"
            );
        }
    }
    assert!(failures > 15, "{failures}");
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let place = Place::new();
    let history = place.history();
    history.put("2026-01-18_a", &place.bundle()).unwrap();
    for left in [".unfinished-2026-01-18_b", ".deleted-2026-01-17_c"] {
        fs::create_dir(history.dir().join(left)).unwrap();
        fs::write(history.dir().join(left).join("checkpoint.json"), "{").unwrap();
    }
    let names = |history: &History| -> Vec<String> {
        let entries = history.entries().unwrap();
        entries.into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names(&history), ["2026-01-18_a"], "unseen before");
    history.put("2026-01-18_b", &place.bundle()).unwrap();
    assert_eq!(names(&history), ["2026-01-18_b", "2026-01-18_a"]);
    assert!(
        files(history.dir())
            .keys()
            .all(|n| { n == ".gitignore" || !n.starts_with('.') })
    );
}

#[test]
#[cfg_attr(not(has_shm), ignore = "needs /dev/shm as a second file system")]
fn a_history_on_another_file_system_is_as_good() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let history = History::new(elsewhere.path().join("deep/history"));
    let path = history.put("2026-01-18_a", &place.bundle()).unwrap();
    clear(&place.working()).unwrap();
    assert_eq!(files(&path).len(), 5);
    assert_eq!(place.working(), []);
}

#[test]
fn an_archived_run_is_brought_back() {
    let place = Place::new();
    let (journal, runs) = (place.dir.path().join("j"), place.dir.path().join("runs"));
    fs::write(&journal, "records\n").unwrap();
    fs::create_dir(&runs).unwrap();
    let mut bundle = place.bundle();
    bundle.copies.push((JOURNAL.to_owned(), journal));
    place.history().put("2026-01-18_r1", &bundle).unwrap();
    let entry = place.history().find("r1").unwrap().unwrap();
    // A crash came before.
    fs::create_dir(runs.join(".unfinished-r1")).unwrap();
    let path = restore(&entry, &runs, "r1").unwrap();
    assert_eq!(files(&path).into_keys().collect::<Vec<_>>(), [JOURNAL]);
    assert_eq!(files(&runs).len(), 1);
}

#[test]
fn all_forms_of_names_are_read() {
    let named = |when: Option<&str>, route: Option<&str>, id: Option<&str>| Named {
        when: when.map(str::to_owned),
        route: route.map(str::to_owned),
        id: id.map(str::to_owned),
    };
    let day = Some("2026-01-18");
    let moment = Some("2026-01-18 10:30:00");
    for (name, want) in [
        ("2026-01-18_abc123", named(day, None, Some("abc123"))),
        ("2026-01-18_abc123-2", named(day, None, Some("abc123-2"))),
        (
            "2026-01-18_103000_RALPH_add_login",
            named(moment, Some("RALPH"), Some("add_login")),
        ),
        (
            "2026-01-18_103000_add_login",
            named(moment, None, Some("add_login")),
        ),
        (
            "2026-01-18_20260118-103000-1a2b",
            named(day, None, Some("20260118-103000-1a2b")),
        ),
        ("2026-01-18T10:30:00Z", named(moment, None, None)),
        ("2026-01-18T10-30-00", named(moment, None, None)),
        ("20260118_103000", named(moment, None, None)),
        ("20260118-103000", named(moment, None, None)),
        ("2026-01-18", named(day, None, None)),
        ("1768732200", named(None, None, Some("1768732200"))),
        ("2026-13-18_a", named(None, None, Some("2026-13-18_a"))),
        ("歸檔", named(None, None, Some("歸檔"))),
        ("", named(None, None, Some(""))),
    ] {
        assert_eq!(Named::parse(name), want, "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn no_name_is_too_odd_to_read(name in ".{0,40}") {
        Named::parse(&name);
    }
}

#[test]
fn folders_of_others_are_listed_with_what_is_known() {
    let place = Place::new();
    let history = place.history();
    history.put("2026-01-18_r1", &place.bundle()).unwrap();
    for (name, manifest) in [
        ("2026-01-19_103000_RALPH_x", Some("{\"version\": \"2.0\"}")),
        ("2026-01-17_broken", Some("{")),
        ("whatever", None),
    ] {
        fs::create_dir(history.dir().join(name)).unwrap();
        if let Some(text) = manifest {
            fs::write(history.dir().join(name).join(MANIFEST), text).unwrap();
        }
    }
    fs::write(history.dir().join("a file"), "").unwrap();
    let listed: Vec<(String, bool)> = history
        .entries()
        .unwrap()
        .into_iter()
        .map(|entry| (entry.name, entry.manifest.is_some()))
        .collect();
    assert_eq!(
        listed,
        [
            ("2026-01-19_103000_RALPH_x".to_owned(), false),
            ("2026-01-18_r1".to_owned(), true),
            ("2026-01-17_broken".to_owned(), false),
            ("whatever".to_owned(), false),
        ]
    );
    for (id, want) in [
        ("r1", Some("2026-01-18_r1")),
        ("x", Some("2026-01-19_103000_RALPH_x")),
        ("whatever", Some("whatever")),
        ("2026-01-17_broken", Some("2026-01-17_broken")),
        ("../current", None),
    ] {
        let found = history.find(id).unwrap().map(|entry| entry.name);
        assert_eq!(found.as_deref(), want, "{id}");
    }
    assert_eq!(History::new("nowhere").entries().unwrap(), []);
}

/// `own` is a run of ours, `waits` one that can go on, `foreign` neither.
fn entry(day: u32, kind: &str) -> Entry {
    let name = format!("2026-01-{day:02}_{kind}");
    let ended = format!("2026-01-{day:02} 10:00:00");
    let value = match kind {
        "foreign" => json!({}),
        kind => Value::Object(manifest(&day.to_string(), &ended, kind == "waits")),
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(&name);
    fs::create_dir(&path).unwrap();
    fs::write(path.join(MANIFEST), value.to_string()).unwrap();
    entry::list(dir.path()).unwrap().remove(0)
}

#[test]
fn the_oldest_are_too_many() {
    let check = |kinds: &[&str], keep: usize, want: &[u32]| {
        let entries: Vec<Entry> = (1..)
            .zip(kinds)
            .map(|(day, kind)| entry(day, kind))
            .collect();
        let is_needed = |entry: &Entry| entry.name.ends_with("needed");
        let got: Vec<String> = surplus(&entries, keep, is_needed)
            .into_iter()
            .map(|entry| entry.when()[8..10].to_owned())
            .collect();
        let want: Vec<String> = want.iter().map(|day| format!("{day:02}")).collect();
        assert_eq!(got, want, "{kinds:?} keep {keep}");
    };
    check(&[], 1, &[]);
    check(&["own"], 1, &[]);
    check(&["own"], 0, &[]);
    check(&["own", "own", "own"], 0, &[1, 2]);
    check(&["own", "own", "own"], 1, &[1, 2]);
    check(&["own", "own", "own"], 2, &[1]);
    check(&["own", "own", "own"], 3, &[]);
    check(&["waits", "own", "own"], 1, &[2]);
    check(&["needed", "own", "own"], 1, &[2]);
    check(&["foreign", "own", "own", "foreign"], 1, &[2]);
    check(&["foreign", "foreign"], 1, &[]);
}

#[test]
fn a_folder_is_deleted_out_of_sight() {
    let place = Place::new();
    let history = place.history();
    history.put("2026-01-18_r1", &place.bundle()).unwrap();
    let entry = history.find("r1").unwrap().unwrap();
    // The process dies between hiding and removing.
    arm(point::HISTORY_REMOVE, 0, Fault::error(EIO));
    history.delete(&entry).unwrap_err();
    assert_eq!(history.entries().unwrap(), []);
    history.delete(&entry).unwrap();
    assert_eq!(files(history.dir()).len(), 1, "only .gitignore is left");
}
