//! TASK-11 and TASK-12.

use super::*;
use crate::tasks::{set_mark, sync_progress_block};

fn check_mark(name: &str, before: &str, task: usize, done: bool, after: &str) {
    let list = list(name, before);
    let changed = set_mark(before.as_bytes(), &list, task, done).unwrap();
    assert_eq!(String::from_utf8(changed).unwrap(), after);
}

#[test]
fn a_tick_changes_one_box() {
    check_mark(
        "t.md",
        "\u{feff}- [ ] a\r\n\t* [ ] b\r\n",
        1,
        true,
        "\u{feff}- [ ] a\r\n\t* [x] b\r\n",
    );
    check_mark("t.md", "- [X] [ ] a", 0, false, "- [ ] [ ] a");
    check_mark("t.md", "- [X] a", 0, true, "- [X] a");
    check_mark(
        "prd.json",
        "\u{feff}{\"userStories\":[{\"x\":{\"passes\":false},\"s\":\"\\\"passes\\\": false }\\\\\",\"passes\" : false}]}",
        0,
        true,
        "\u{feff}{\"userStories\":[{\"x\":{\"passes\":false},\"s\":\"\\\"passes\\\": false }\\\\\",\"passes\" : true}]}",
    );
    check_mark(
        "prd.json",
        "{\"userStories\":[],\"userStories\":[{\"passes\":true,\"passes\":true}]}",
        0,
        false,
        "{\"userStories\":[],\"userStories\":[{\"passes\":true,\"passes\":false}]}",
    );
}

#[test]
fn a_changed_file_is_left_alone() {
    let text = "- [ ] a\n- [ ] b\n";
    let list = list("t.md", text);
    let file = || "t.md".to_owned();
    assert_eq!(
        set_mark(b"- [ ] b\n- [ ] a\n", &list, 0, true),
        Err(TaskError::Changed { file: file() })
    );
    assert_eq!(
        set_mark(text.as_bytes(), &list, 2, true),
        Err(TaskError::TaskNotFound {
            file: file(),
            id: "#3".to_owned(),
        })
    );
}

#[test]
fn a_story_without_passes_cannot_be_ticked() {
    for passes in ["", ", \"passes\": null", ", \"passes\": \"true\""] {
        let text = format!("{{\"userStories\": [{{\"id\": \"a\"{passes}}}]}}");
        let list = list("prd.json", &text);
        assert!(!list.tasks[0].done);
        assert_eq!(
            set_mark(text.as_bytes(), &list, 0, true),
            Err(TaskError::NoPassesField {
                file: "prd.json".to_owned(),
                id: "a".to_owned(),
            })
        );
    }
}

fn check_block(before: &str, after: Option<&str>) {
    let list = list("tasks.md", before);
    let synced = sync_progress_block(before.as_bytes(), &list);
    let synced = synced.map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(synced.as_deref(), after);
    if let Some(after) = after {
        check_block(after, None);
    }
}

#[test]
fn progress_blocks_follow_the_boxes() {
    check_block(
        "\u{feff}## Progress\r\n- Total: 8 tasks\r\n- Completed: 3\r\n- Status: NOT_STARTED\r\n\r\n## 1. A\r\n- [x] 1.1 a\r\n- [ ] 1.2 Total: 7\r\n",
        Some(
            "\u{feff}## Progress\r\n- Total: 2 tasks\r\n- Completed: 1\r\n- Status: IN_PROGRESS\r\n\r\n## 1. A\r\n- [x] 1.1 a\r\n- [ ] 1.2 Total: 7\r\n",
        ),
    );
    check_block(
        "# T\n## Metadata\n- Change ID: x\n- **Status**: COMPLETED\n- Created: 2026-01-31\n## 1. A\n- [ ] 1.1 a\n",
        Some(
            "# T\n## Metadata\n- Change ID: x\n- **Status**: NOT_STARTED\n- Created: 2026-01-31\n## 1. A\n- [ ] 1.1 a\n",
        ),
    );
    check_block(
        "## Metadata\n- Status: IN_PROGRESS\n## 1. A\n- [x] 1.1 a\n",
        Some("## Metadata\n- Status: COMPLETED\n## 1. A\n- [x] 1.1 a\n"),
    );
}

#[test]
fn other_text_is_no_progress_block() {
    check_block(
        "## Metadata\n- Status: IN_PROGRESS\n## 1. A\n- [ ] 1.1 a\n",
        None,
    );
    check_block(
        "## Metadata\n- Status: ARCHIVED\n## 1. A\n- [x] 1.1 a\n",
        None,
    );
    check_block("## Notes\n- Total: 8 tasks\n## 1. A\n- [ ] 1.1 a\n", None);
    check_block(
        "```\n## Progress\n- Total: 8\n```\n## 1. A\n- [ ] 1.1 a\n",
        None,
    );
    check_block("- [ ] a\n", None);
}
