//! TASK-17.

use super::*;
use crate::tasks::{Changes, compare, moved};

fn check(before: &str, after: &str, want: &Changes) {
    let changes = compare(&list("tasks.md", before), &list("tasks.md", after));
    assert_eq!(&changes, want, "{before:?} to {after:?}");
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn every_kind_of_change_is_seen() {
    check(
        "## Phase 1\n- [ ] T001 a\n- [x] T002 b\n- [ ] T003 c\n- [ ] T004 d\n- [ ] T006 f\n  - g\n    h\n",
        "## Phase 1\n- [ ] T005 e\n- [x] T001 a\n- [ ] T002 b\n- [ ] T004 less\n- [ ] T006 f\n  - h\n  - i\n",
        &Changes {
            newly_done: names(&["T001"]),
            unticked: names(&["T002"]),
            removed: names(&["T003"]),
            added: names(&["T005"]),
            reworded: names(&["T004", "T006"]),
            replaced: vec![("T004".into(), "d".into())],
            thinned: vec![("T006".into(), "g".into())],
        },
    );
}

#[test]
fn tasks_without_ids_are_known_by_their_text() {
    check(
        "- [ ] a\n- [ ] b\n- [ ] c\n",
        "- [ ] b\n- [x] c\n",
        &Changes {
            newly_done: names(&["#2"]),
            removed: names(&["#1"]),
            ..Changes::default()
        },
    );
    check(
        "- [ ] a\n- [ ] b\n",
        "- [x] a (see the log)\n- [ ] b\n",
        &Changes {
            newly_done: names(&["#1"]),
            reworded: names(&["#1"]),
            ..Changes::default()
        },
    );
    check(
        "- [ ] hard\n",
        "- [x] easy\n",
        &Changes {
            removed: names(&["#1"]),
            added: names(&["#1"]),
            ..Changes::default()
        },
    );
}

#[test]
fn tasks_without_ids_take_along_what_is_known_of_them() {
    let (a_b, gone) = ("- [ ] a\n- [ ] b\n", "- [ ] b\n");
    for (before, after, want) in [
        (a_b, "- [ ] z\n- [ ] a\n- [ ] b\n", "#1 #2, #2 #3"),
        (a_b, "- [x] b\n- [ ] a (soon)\n", "#1 #: a, #2 #1"),
        (a_b, "- [x] a\n- [ ] b (soon)\n", ""),
        // One that went comes back, to its place or to another.
        (a_b, gone, "#1 #: a, #2 #1"),
        (gone, a_b, "#: a #1, #1 #2"),
        (gone, "- [ ] b\n- [ ] a\n- [ ] new\n", "#: a #2"),
        // An id is a name.
        (
            "- [ ] T001 a\n- [ ] b\n",
            "- [ ] b\n- [ ] T001 a\n",
            "#2 #1",
        ),
    ] {
        let [whole, before, after] = [a_b, before, after].map(|text| list("tasks.md", text));
        let moved = moved(&before, &after, Some(&whole));
        let moved: Vec<String> = moved
            .iter()
            .map(|m| format!("{} {}", m.from, m.to))
            .collect();
        assert_eq!(moved.join(", "), want);
    }
}

#[test]
fn equal_tasks_are_paired_in_order() {
    check(
        "- [x] same\n- [ ] same\n- [ ] same\n",
        "- [x] same\n- [x] same\n",
        &Changes {
            newly_done: names(&["#2"]),
            removed: names(&["#3"]),
            ..Changes::default()
        },
    );
}

#[test]
fn nothing_changed() {
    let same = list("tasks.md", "- [ ] a\n- [x] b\n");
    assert!(compare(&same, &same).is_empty());
}
