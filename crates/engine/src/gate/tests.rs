use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use ralph_core::config::{self, Freshness, GateSettings, GateTrust};
use ralph_core::gate::{Finding, Phase};

use ralph_store::home::StateHome;

use super::*;

/// A project whose papers are good, with a gate file of some other tool.
fn project(dir: &Path) -> GateSettings {
    let write = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("docs/AUDIT-REPORT.md", "Decision: PASS\n");
    write(
        ".layer2-evidence.md",
        "## 手动验证\n- a\n## 自动化测试\n- b\n",
    );
    write("src/a.txt", "one");
    write("ignored/b.txt", "two");
    write(".gitignore", "ignored/\n");
    let mut settings = config::load(&config::Sources::default())
        .unwrap()
        .settings
        .gate;
    settings.trust = GateTrust::File;
    settings.steps = vec!["test: true".into()];
    settings
}

fn codes(dir: &Path, settings: &GateSettings) -> Vec<&'static str> {
    let found = check(&crate::layout_in(dir), settings, Phase::P0);
    found.iter().map(Finding::code).collect()
}

fn set_time(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn papers_are_read_from_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let mut settings = project(root);
    assert_eq!(codes(root, &settings), ["gate_missing"]);
    fs::write(root.join(&settings.gate_file), "test: PASS\n").unwrap();
    settings.freshness = Freshness::Off;
    assert_eq!(codes(root, &settings), [""; 0]);
    fs::remove_file(root.join(".layer2-evidence.md")).unwrap();
    fs::create_dir(root.join(".layer2-evidence.md")).unwrap();
    assert_eq!(codes(root, &settings), ["evidence_unreadable"]);
}

#[test]
fn times_of_work_count_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let mut settings = project(root);
    settings.freshness = Freshness::Time;
    fs::write(root.join(&settings.gate_file), "test: PASS\n").unwrap();
    set_time(&root.join("src/a.txt"), 1000);
    set_time(&root.join(".gitignore"), 1000);
    set_time(&root.join(&settings.gate_file), 2000);
    // The papers are newer, and so is what Git ignores: neither is code.
    assert_eq!(codes(root, &settings), [""; 0]);
    set_time(&root.join("src/a.txt"), 3000);
    assert_eq!(codes(root, &settings), ["gate_older"]);
    settings.docs = vec!["src".into()];
    assert_eq!(codes(root, &settings), [""; 0]);
}

#[test]
fn no_key_is_taken_from_within_the_project() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(key_file(&crate::layout_in(dir.path())), None);
    let (root, home) = (dir.path().join("project"), dir.path().join("home"));
    fs::create_dir(&root).unwrap();
    let outside = Layout::new(&root, &StateHome::at(&home));
    assert_eq!(key_file(&outside), Some(home.join("gate.key")));
}

#[test]
fn key_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ralph").join("gate.key");
    let made = key::find_or_make(&file).unwrap();
    assert_eq!(key::find_or_make(&file), Ok(made));
    fs::write(&file, "no key").unwrap();
    assert!(key::find_or_make(&file).is_err());
}

/// T-08: whoever keeps Git from answering hides nothing by that.
#[cfg(unix)]
#[test]
fn no_answer_of_git_is_no_empty_list() {
    let dir = tempfile::tempdir().unwrap();
    let unheld = || {
        unheld::unheld_since(dir.path(), Path::new("/rooms"), 0)
            .ok()
            .map(|found| found.files)
    };
    assert_eq!(unheld(), Some(Vec::new()));
    assert!(git::in_own_repository(dir.path(), &["init", "-q"]).is_ok());
    fs::write(dir.path().join("a"), "a").unwrap();
    assert_eq!(unheld(), Some(Vec::new()));
    let mut pipe = std::process::Command::new("mkfifo");
    assert!(
        pipe.arg(dir.path().join(".git/index"))
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(unheld(), None);
    assert_eq!(
        work_tree(dir.path(), &project(dir.path())).err(),
        Some(GateError::NoAnswer)
    );
}
