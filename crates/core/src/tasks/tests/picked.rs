//! TASK-06, 10, 13, 16 and VALV-12.

use super::*;
use crate::config::LaneFiles;
use crate::lang::{Lang, Say};

fn check(text: &str, scope: &Scope, want: &str) {
    assert_eq!(next(&list("tasks.md", text), scope), want, "{text}");
}

const ALL: fn() -> Scope = Scope::default;

#[test]
fn the_first_open_task_of_the_first_open_phase_is_next() {
    let text = "## Phase 1: A\n- [x] T001 a\n## Phase 2: B\n- [x] T002 b\n- [ ] T003 c\n- [ ] T004 d\n## Phase 3: C\n- [ ] T005 e\n";
    check(text, &ALL(), "T003");
    check(text, &phase("3"), "T005");
    check(text, &phase("1"), "done");
    check(text, &phase("4"), "nothing in scope");
    check(text, &skipping(&["T003"]), "T004");
    check(text, &skipping(&["T003", "T004"]), "T005");
    check(text, &skipping(&["T003", "T004", "T005"]), "done");
}

#[test]
fn a_fresh_file_is_not_done() {
    check("- [ ] a\n- [ ] b\n", &ALL(), "#1");
}

#[test]
fn nothing_is_not_success() {
    check(
        "## 1. A\n- [x] 1.1 a\n## 2. Empty\n",
        &phase("2"),
        "nothing in scope",
    );
    check("- [x] a\n", &skipping(&["#1"]), "nothing in scope");
    let plan = list("fix_plan.md", "## Optional\n- [ ] a\n");
    assert_eq!(next(&plan, &ALL()), "nothing in scope");
    assert_eq!(
        list("tasks.md", "## 1. A\n- [ ] 1.1 a\n").pick(&phase("x")),
        Pick::NothingInScope {
            phase: Some("x".to_owned()),
            known: vec!["1".to_owned()],
        }
    );
}

#[test]
fn optional_tasks_are_not_picked() {
    let plan = list("fix_plan.md", "## Optional\n- [ ] a\n## High\n- [ ] b\n");
    assert_eq!(next(&plan, &ALL()), "#2");
    let plan = list("fix_plan.md", "## Optional\n- [ ] a\n## High\n- [x] b\n");
    assert_eq!(next(&plan, &ALL()), "done");
}

#[test]
fn boxes_outside_the_phases_come_last_and_those_before_them_first() {
    let text = "- [{}] T001 before\n## Phase 1: A\n- [ ] T002 a\n**Checkpoint**: ok\n- [ ] T003 stray\n## Phase 2: B\n- [ ] T004 b\n";
    check(&text.replace("{}", " "), &ALL(), "T001");
    check(&text.replace("{}", "x"), &ALL(), "T002");
    check(&text.replace("{}", "x"), &skipping(&["T002"]), "T004");
    check(
        &text.replace("{}", "x"),
        &skipping(&["T002", "T004"]),
        "T003",
    );
}

#[test]
fn parallel_phases_and_marked_neighbours_go_together() {
    let text = "## 1. A (parallel)\n- [x] 1.1 a\n- [ ] 1.2 b\n  - [ ] 1.2.1 b\n    - [ ] 1.2.1.1 b\n- [ ] 1.3 c | depends: 1.2\n- [ ] 1.4 d\n## 2. B\n- [ ] 2.1 e\n";
    check(text, &ALL(), "1.2 1.4");
    let text = "## Phase 1: A\n- [ ] T001 [P] a\n- [ ] T002 [P] b (depends on T001)\n- [ ] T003 [P] c\n- [ ] T004 d\n- [ ] T005 [P] e\n## Phase 2: B\n- [ ] T006 [P] f\n";
    check(text, &ALL(), "T001 T003");
    check(text, &skipping(&["T001", "T002", "T003"]), "T004");
    check(text, &skipping(&["T001", "T002", "T003", "T004"]), "T005");
}

#[test]
fn unmet_dependencies_are_passed_over_with_a_reason() {
    let text = "## 1. A (sequential, depends: 2)\n- [ ] 1.1 a\n- [ ] 1.2 b | depends: 2.1, 9.9\n## 2. B\n- [ ] 2.1 c\n";
    let list = list("tasks.md", text);
    assert_eq!(next(&list, &ALL()), "2.1");
    let Pick::Next { waiting, .. } = list.pick(&ALL()) else {
        panic!("something is ready")
    };
    let reasons: Vec<String> = waiting
        .iter()
        .map(|waiting| waiting.say(Lang::En))
        .collect();
    assert_eq!(
        reasons,
        [
            "task 1.1 waits for phase 2",
            "task 1.2 waits for task 2.1, 9.9 (not in this file), phase 2",
        ]
    );
}

#[test]
fn a_person_may_take_a_dependency_out_of_scope() {
    let text =
        "## 1. A\n- [ ] 1.1 a\n## 2. B (sequential, depends: 1)\n- [ ] 2.1 b | depends: 1.1\n";
    check(text, &ALL(), "1.1");
    check(text, &skipping(&["1.1"]), "2.1");
    check(text, &phase("2"), "blocked");
}

#[test]
fn everything_waiting_is_blocked() {
    let list = list(
        "tasks.md",
        "## 1. A\n- [ ] 1.1 a | depends: 7.7\n- [x] 1.2 b\n",
    );
    let Pick::Blocked { waiting } = list.pick(&ALL()) else {
        panic!("nothing is ready")
    };
    assert_eq!(
        waiting[0].on,
        [crate::tasks::Unmet::Unknown("7.7".to_owned())]
    );
}

#[test]
fn cycles_are_named() {
    check(
        "## 1. A\n- [ ] 1.0 free\n- [ ] 1.1 a | depends: 1.3\n- [ ] 1.2 b | depends: 1.1\n- [ ] 1.3 c | depends: 1.2\n",
        &ALL(),
        "cycle 1.1 1.3 1.2",
    );
    check("## 1. A\n- [ ] 1.1 a | depends: 1.1\n", &ALL(), "cycle 1.1");
    check(
        "## 1. A (parallel, depends: 2)\n- [ ] 1.1 a\n## 2. B (parallel, depends: 1)\n- [ ] 2.1 b\n",
        &ALL(),
        "cycle 1.1 Phase 2 2.1 Phase 1",
    );
    // A ticked task holds nobody up, so there is no circle any more.
    check(
        "## 1. A\n- [x] 1.1 a | depends: 1.2\n- [ ] 1.2 b | depends: 1.1\n",
        &ALL(),
        "1.2",
    );
    // A circle in another phase does not stop this one.
    check(
        "## 1. A\n- [ ] 1.1 a\n## 2. B\n- [ ] 2.1 b | depends: 2.1\n",
        &phase("1"),
        "1.1",
    );
}

#[test]
fn stories_go_by_priority() {
    let text = r#"{"userStories": [
        {"id": "a", "passes": false},
        {"id": "b", "priority": 3, "passes": false},
        {"id": "c", "priority": 1, "passes": true},
        {"id": "d", "priority": 2, "passes": false},
        {"id": "e", "priority": 2, "passes": false}]}"#;
    let list = list("prd.json", text);
    assert_eq!(next(&list, &ALL()), "d");
    assert_eq!(next(&list, &skipping(&["d"])), "e");
    assert_eq!(next(&list, &skipping(&["d", "e", "b"])), "a");
    assert_eq!(next(&list, &phase("1")), "nothing in scope");
}

#[test]
fn a_task_that_is_not_there_is_an_error() {
    let list = list("todo.md", "- [ ] T001 a\n");
    assert_eq!(list.require("T001"), Ok(0));
    assert_eq!(
        list.require("T002"),
        Err(TaskError::TaskNotFound {
            file: "todo.md".to_owned(),
            id: "T002".to_owned(),
        })
    );
}

/// A product of edges instead of their sum would take minutes here.
#[test]
fn large_phases_may_depend_on_each_other() {
    let mut text = String::new();
    for phase in 1..=4 {
        text += &format!("## {phase}. A (parallel, depends: {})\n", phase - 1);
        for task in 1..=20_000 {
            text += &format!("- [ ] {phase}.{task} a\n");
        }
    }
    let list = list("tasks.md", &text.replace(", depends: 0", ""));
    let Pick::Next { tasks, .. } = list.pick(&ALL()) else {
        panic!("phase 1 is ready")
    };
    assert_eq!(tasks.len(), 20_000);
}

#[test]
fn long_chains_do_not_overflow() {
    let mut text = "## 1. A\n".to_owned();
    for task in 1..=50_000 {
        text += &format!("- [ ] 1.{task} a | depends: 1.{}\n", task + 1);
    }
    text += "- [ ] 1.50001 end\n";
    check_long(&text, "1.50001");
}

fn check_long(text: &str, want: &str) {
    assert_eq!(next(&list("tasks.md", text), &ALL()), want);
}

/// What a task names in its words counts as its files, where that is wanted.
#[test]
fn files_are_heard_from_the_words_of_a_task() {
    let text = "- [ ] T001 Add `src/user.rs`, and the tests in tests/user_test.py.
- [ ] T002 Fix ./src/user.rs (see https://example.com/a.html) e.g. version 1.2.3 | files: docs/*
- [ ] T003 Speed up the loop and/or the cache, i.e. all of it
";
    let list = list("tasks.md", text);
    let files = |files| {
        let pieces = list.pieces(&ALL(), files).into_iter();
        pieces.map(|piece| piece.files).collect::<Vec<_>>()
    };
    assert_eq!(
        files(LaneFiles::Named),
        [
            vec!["src/user.rs", "tests/user_test.py"],
            vec!["docs/*", "src/user.rs"],
            vec![]
        ]
    );
    assert_eq!(files(LaneFiles::Declared), [vec![], vec!["docs/*"], vec![]]);
}
