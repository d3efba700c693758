//! The first thing that anybody runs.

use crate::env::{TestEnv, named};

#[test]
fn the_demo_works_lies_fails_and_is_proven() {
    let env = TestEnv::bare();
    let done = env.ralph(&["demo", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let events = done.events();
    let end = events.last().unwrap();
    assert_eq!(end["event"], "loop_end");
    assert_eq!(end["outcome"], "complete");
    assert_eq!(end["tasks"]["completed"], 6);
    assert_eq!(end["proven"][1]["counts"]["proven"], 6);
    assert_eq!(end["proven"][2]["command"], "sh test.sh");
    assert_eq!(named(&events, "error").len(), 1);
    assert_eq!(named(&events, "promise_missing").len(), 1);
    assert_eq!(named(&events, "promise_rejected").len(), 2);
}

#[test]
fn the_demo_shows_what_happens_and_cleans_up() {
    let env = TestEnv::bare();
    let temp = env.outside("temp");
    std::fs::create_dir(&temp).unwrap();
    let output = env
        .command(&["demo"])
        .env("TMPDIR", &temp)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for part in [
        "Phase 2: Behaviour",
        "Iteration 7/20",
        "Rejected: the agent claims \"COMPLETE\"",
        "Proven:",
    ] {
        assert!(shown.contains(part), "{part} is missing in:\n{shown}");
    }
    assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0);
    assert_eq!(env.snapshot(), []);
}

#[test]
fn the_demo_leaves_its_project_when_asked_to() {
    let env = TestEnv::bare();
    let temp = env.outside("temp");
    std::fs::create_dir(&temp).unwrap();
    let output = env
        .command(&["demo", "--keep", "--json"])
        .env("TMPDIR", &temp)
        .output()
        .unwrap();
    assert!(output.status.success());
    let project = std::fs::read_dir(&temp)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let tasks = std::fs::read_to_string(project.join("specs/001-greeter/tasks.md")).unwrap();
    assert!(!tasks.contains("- [ ]"), "{tasks}");
    assert!(project.join(".ralph/status.json").is_file());
}
