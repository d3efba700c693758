//! TASK-01 and TASK-07.

use crate::tasks::detection_rank;

#[test]
fn paths_have_an_order() {
    for (path, want) in [
        ("specs/001-login/tasks.md", Some(0)),
        (".specify/login/tasks.md", Some(1)),
        ("tasks.md", Some(2)),
        ("openspec/changes/add-login/tasks.md", Some(3)),
        ("prd.json", Some(4)),
        (".ralph/fix_plan.md", Some(5)),
        ("openspec/changes/archive/tasks.md", None),
        ("openspec/changes/archive/2026-01-01-a/tasks.md", None),
        ("openspec/changes/a/b/tasks.md", None),
        ("specs/tasks.md", None),
        ("specs//tasks.md", None),
        ("a/tasks.md", None),
        ("", None),
    ] {
        assert_eq!(detection_rank(path), want, "{path}");
    }
}
