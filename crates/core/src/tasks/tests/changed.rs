//! A person's changes of a list (issue 23).

use proptest::prelude::*;

use super::*;
use crate::tasks::{ListChange, Unfit, compare};

fn apply(name: &str, before: &str, change: &ListChange) -> Result<(String, String), TaskError> {
    let reader = |bytes: &[u8]| read(name, bytes, &ReadOptions::default());
    let changed = change.apply(before.as_bytes(), &list(name, before), reader)?;
    assert_eq!(reader(&changed.bytes).unwrap(), changed.list);
    Ok((String::from_utf8(changed.bytes).unwrap(), changed.task))
}

fn check(name: &str, before: &str, change: &ListChange, after: &str, id: &str) {
    let (text, task) = apply(name, before, change).unwrap();
    assert_eq!(text, after);
    assert_eq!(task, id, "{after}");
}

fn refused(name: &str, before: &str, change: &ListChange, why: Unfit) {
    let file = name.to_owned();
    let error = apply(name, before, change).unwrap_err();
    assert_eq!(error, TaskError::Unchangeable { file, why });
}

fn add(text: &str) -> ListChange {
    ListChange::Add {
        text: text.into(),
        verify: Vec::new(),
        after: None,
        phase: None,
    }
}

fn behind(text: &str, id: &str, verify: &[&str]) -> ListChange {
    ListChange::Add {
        text: text.into(),
        verify: verify.iter().map(|c| (*c).to_owned()).collect(),
        after: Some(id.into()),
        phase: None,
    }
}

fn to(task: &str, after: Option<&str>) -> ListChange {
    ListChange::Move {
        task: task.into(),
        after: after.map(str::to_owned),
    }
}

fn edit(task: &str, text: &str) -> ListChange {
    ListChange::Edit {
        task: task.into(),
        text: text.into(),
    }
}

fn remove(task: &str) -> ListChange {
    ListChange::Remove { task: task.into() }
}

const SPEC: &str = "# Tasks\n\n## Phase 1: Setup\n\n- [x] T001 one\n- [ ] T002 two | verify: make two\n  why it matters\n\n## Phase 2: Rest\n\n- [ ] T003 three\n";

#[test]
fn a_task_is_added_with_the_next_free_id() {
    let with = |new: &str| format!("{SPEC}{new}");
    check(
        "t.md",
        SPEC,
        &add("four"),
        &with("- [ ] T004 four\n"),
        "T004",
    );
    let middle = SPEC.replace(
        "  why it matters\n",
        "  why it matters\n- [ ] T004 new | verify: `a | b` | verify: c\n",
    );
    check(
        "t.md",
        SPEC,
        &behind("new", "T002", &["a | b", "c"]),
        &middle,
        "T004",
    );
    let in_phase = ListChange::Add {
        text: "new".into(),
        verify: Vec::new(),
        after: None,
        phase: Some("1".into()),
    };
    let first = SPEC.replace("  why it matters\n", "  why it matters\n- [ ] T004 new\n");
    check("t.md", SPEC, &in_phase, &first, "T004");
    // Without a last newline, and with those of another system.
    check(
        "t.md",
        "* [ ] a\r\n* [ ] b",
        &add("c"),
        "* [ ] a\r\n* [ ] b\r\n* [ ] c\r\n",
        "#3",
    );
}

#[test]
fn a_story_is_added_behind_the_last() {
    let before = "{\n  \"userStories\": [\n    {\"id\": \"US-1\", \"title\": \"a\", \"priority\": 3, \"passes\": true}\n  ]\n}\n";
    let (after, id) = apply("prd.json", before, &add("say \"hi\"")).unwrap();
    assert_eq!(id, "US-2");
    let list = list("prd.json", &after);
    assert_eq!(list.tasks[1].text, "say \"hi\"");
    assert_eq!(list.tasks[1].priority, Some(4.0));
    assert!(after.starts_with(before.split_once("}\n").unwrap().0));
    let edited = edit("US-1", "b");
    let want = before.replace("\"a\"", "\"b\"");
    check("prd.json", before, &edited, &want, "US-1");
    refused("prd.json", before, &to("US-1", None), Unfit::ByPriority);
}

#[test]
fn words_change_and_fields_stay() {
    let want = SPEC.replace("two | verify", "zwei drei | verify");
    check("t.md", SPEC, &edit("T002", " zwei drei "), &want, "T002");
}

#[test]
fn a_task_moves_with_what_is_under_it() {
    let want = "# Tasks\n\n## Phase 1: Setup\n\n- [x] T001 one\n\n## Phase 2: Rest\n\n- [ ] T003 three\n- [ ] T002 two | verify: make two\n  why it matters\n";
    check("t.md", SPEC, &to("T002", Some("T003")), want, "T002");
    check("t.md", want, &to("T002", Some("T001")), SPEC, "T002");
    let front = SPEC.replace("- [x] T001 one\n", "- [ ] T003 three\n- [x] T001 one\n");
    let front = front.strip_suffix("- [ ] T003 three\n").unwrap();
    check("t.md", SPEC, &to("T003", None), front, "T003");
    refused(
        "t.md",
        SPEC,
        &to("T002", Some("T002")),
        Unfit::MoreThanMeant,
    );
}

#[test]
fn a_task_goes_and_nothing_else() {
    let (with, id) = apply("t.md", SPEC, &add("four")).unwrap();
    check("t.md", &with, &remove(&id), SPEC, "T004");
}

#[test]
fn what_would_be_read_otherwise_is_refused() {
    for words in ["", "  ", "a | verify: rm -rf /", "a\n- [x] b"] {
        refused("t.md", SPEC, &add(words), Unfit::MoreThanMeant);
        refused("t.md", SPEC, &edit("T002", words), Unfit::MoreThanMeant);
    }
    refused(
        "t.md",
        SPEC,
        &behind("a", "T002", &["x` | y"]),
        Unfit::MoreThanMeant,
    );
    let plain = "- [ ] a\n- [ ] b\n";
    refused("t.md", plain, &to("#2", None), Unfit::NoIds);
    refused("t.md", plain, &behind("c", "#1", &[]), Unfit::NoIds);
    refused("t.md", plain, &remove("#1"), Unfit::NoIds);
    assert!(matches!(
        apply("t.md", SPEC, &remove("T009")),
        Err(TaskError::TaskNotFound { .. })
    ));
}

#[test]
fn what_a_person_wants_first_comes_first() {
    let list = list(
        "t.md",
        "- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c | depends: T001\n",
    );
    let on = |id: &str| Scope {
        focus: Some(id.into()),
        ..Scope::default()
    };
    assert_eq!(next(&list, &on("T002")), "T002");
    // One that waits for another is taken when it can be.
    assert_eq!(next(&list, &on("T003")), "T001");
    assert_eq!(next(&list, &on("T009")), "T001");
}

proptest! {
    /// Whatever is added is taken away again to the byte.
    #[test]
    fn adding_and_removing_leaves_every_byte(
        words in "[a-z |:`\\[\\]#*-]{1,20}",
        after in prop::option::of(0usize..3),
    ) {
        let change = match after {
            Some(n) => behind(&words, &format!("T{:03}", n + 1), &[]),
            None => add(&words),
        };
        if let Ok((with, id)) = apply("t.md", SPEC, &change) {
            let changes = compare(&list("t.md", SPEC), &list("t.md", &with));
            prop_assert_eq!(changes.added, [id.clone()]);
            let (without, _) = apply("t.md", &with, &remove(&id)).unwrap();
            prop_assert_eq!(without, SPEC);
        }
    }
}
