//! `ralph where`: state lies outside of the project (issue 17).

use std::fs;

use serde_json::json;

use crate::env::{Done, TestEnv};

fn done_run() -> TestEnv {
    let env = TestEnv::with_tasks(1);
    env.run_script(&[json!({"say": "<promise>BLOCKED: enough</promise>"})], &[]);
    env
}

#[test]
fn every_place_is_named_and_what_counts_lies_outside() {
    let env = done_run();
    let done = env.ralph(&["where", "--json"]);
    let places: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let state = places["state"].as_str().unwrap();
    assert!(!state.starts_with(env.root.to_str().unwrap()), "{state}");
    let runs = fs::read_dir(places["runs"].as_str().unwrap()).unwrap();
    assert_eq!(runs.count(), 1);
    for gone in ["runs", "lock", "inbox", "sessions"] {
        assert!(!env.path(".ralph").join(gone).exists(), "{gone}");
    }
    let shown = env.ralph(&["where", "--size"]).stdout;
    assert!(shown.contains(state) && shown.contains(" KB)"), "{shown}");
}

/// U-10: settings can be committed, what a run makes is ignored.
#[test]
fn a_team_can_commit_its_settings_and_sees_nothing_else() {
    let env = done_run();
    assert_eq!(env.git(&["status", "--short", ".ralph"]), "");
    env.write(".ralph/config.toml", "lang = \"en\"\n");
    let shown = env.git(&["status", "--short", "-uall", ".ralph"]);
    assert_eq!(shown.trim(), "?? .ralph/config.toml");
}

#[test]
fn a_moved_project_is_told_and_brings_its_runs() {
    let env = done_run();
    let moved = env.outside("moved");
    fs::rename(&env.root, &moved).unwrap();
    let ralph = |args: &[&str]| {
        let mut command = env.command(args);
        Done::of(&command.current_dir(&moved).output().unwrap())
    };
    let shown = ralph(&["where"]).stdout;
    assert!(shown.contains("ralph where --adopt"), "{shown}");
    for verb in [
        &["status"][..],
        &["resume", "--yes"],
        &["hint", "x"],
        &["report"],
        &["diff", "1"],
        &["run", "--dry-run", "--agent-cmd", "true"],
    ] {
        let said = ralph(verb);
        let said = said.stdout + &said.stderr;
        assert!(said.contains("ralph where --adopt"), "{verb:?}: {said}");
        assert!(
            said.contains(env.root.to_str().unwrap()),
            "{verb:?}: {said}"
        );
    }
    assert_eq!(ralph(&["where", "--adopt"]).code, 0);
    assert_eq!(ralph(&["status"]).code, 0);
    let again = ralph(&["where", "--adopt"]);
    assert_eq!(again.code, 1, "{}", again.stdout);
}

#[test]
fn a_moved_project_with_new_runs_is_told_why_the_old_ones_stay() {
    let env = done_run();
    let moved = env.outside("moved");
    fs::rename(&env.root, &moved).unwrap();
    let ralph = |args: &[&str]| {
        let mut command = env.command(args);
        Done::of(&command.current_dir(&moved).output().unwrap())
    };
    let run = ["run", "--max-iterations", "1", "--agent-cmd", "true"];
    assert!(ralph(&run).stderr.contains("ralph where --adopt"));
    let done = ralph(&["where", "--adopt"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("runs began here"), "{}", done.stderr);
}

/// What lies in the project is nobody's: a planted run is not gone on with.
#[test]
fn a_planted_journal_is_nobodys() {
    let env = done_run();
    let own = env.state("runs");
    let planted = env.path(".ralph/runs");
    fs::rename(&own, &planted).unwrap();
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(!env.ralph(&["status"]).stdout.contains("run "));
}
