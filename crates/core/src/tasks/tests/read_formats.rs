//! TASK-02, 03, 05, 06, 07, 08, 09, 11, 13, 14 and traps 1 and 9.

use super::*;
use crate::tasks::{Counts, Format, ReadOptions};

const SPEC_KIT: &str = "\
---
description: \"a list\"
---
# Tasks: Shop

## Format: `[ID] [P?] [Story] Description`

- **[P]**: may run beside others
- **[Story]**: whose story it is

## Phase 1: Setup (Shared)

- [x] T001 Lay out the project
- [X] T002 [P] Add a formatter

---

## Phase 3: User Story 1 - Basket (Priority: P1) 🎯 MVP

### Tests (OPTIONAL - only if wanted)

- [ ] T010 [P] [US1] Contract test in tests/basket.rs

### Code

- [ ] T012 [US1] [P] Basket model in src/basket.rs
- [ ] T014 [US1] Service in src/service.rs (depends on T010, T012)

**Checkpoint**: the basket works

- [ ] T099 A box after the checkpoint

## Notes

- [P] tasks = different files
- [Story] says whose
- [x](a link)
- [ ] T100 Not in a phase
";

#[test]
fn spec_kit_files_are_read() {
    let list = list("specs/001-shop/tasks.md", SPEC_KIT);
    insta::assert_snapshot!(outline(&list), @r#"
    spec-kit
    phase 1 "Setup (Shared)" line 11 sequential 2/2
    phase 3 "User Story 1 - Basket (Priority: P1) 🎯 MVP" line 18 sequential 0/3
    13: T001 [x] phase 1 depth 0 "Lay out the project"
    14: T002 [x] phase 1 depth 0 parallel "Add a formatter"
    22: T010 [ ] phase 3 depth 0 parallel "Contract test in tests/basket.rs"
    26: T012 [ ] phase 3 depth 0 parallel "Basket model in src/basket.rs"
    27: T014 [ ] phase 3 depth 0 "Service in src/service.rs (depends on T010, T012)"
    31: T099 [ ] phase - depth 0 "A box after the checkpoint"
    38: T100 [ ] phase - depth 0 "Not in a phase"
    "#);
    assert_eq!(list.tasks[4].depends, ["T010", "T012"]);
    assert_eq!(list.tasks[3].story.as_deref(), Some("US1"));
    assert_eq!(list.current_phase(&Scope::default()), Some(1));
}

#[test]
fn open_spec_files_are_read_with_groups_and_nesting() {
    let text = "\
# Plan

## 1. Core
- [x] 1.1 Scan
  - [x] 1.1.1 Skip the archive
\t- [ ] 1.1.2 Count
* [ ] **1.2** Print
+ [ ] 1.3. Sort

## 2. <!-- Group name -->

- [ ] 2.1 <!-- Task description -->
- [ ] **2.2 Bold title** and more

## 3. Empty
";
    insta::assert_snapshot!(outline(&list("openspec/changes/a/tasks.md", text)), @r#"
    openspec
    phase 1 "Core" line 3 sequential 2/5
    phase 2 "<!-- Group name -->" line 10 sequential 0/2
    phase 3 "Empty" line 15 sequential 0/0
    4: 1.1 [x] phase 1 depth 0 "Scan"
    5: 1.1.1 [x] phase 1 depth 1 "Skip the archive"
    6: 1.1.2 [ ] phase 1 depth 2 "Count"
    7: 1.2 [ ] phase 1 depth 0 "Print"
    8: 1.3 [ ] phase 1 depth 0 "Sort"
    12: 2.1 [ ] phase 2 depth 0 "<!-- Task description -->"
    13: 2.2 [ ] phase 2 depth 0 "**Bold title** and more"
    "#);
}

#[test]
fn open_spec_fields_and_modes_are_read() {
    let text = "\
## Progress
- Total: 3 tasks
- Completed: 1
- Status: IN_PROGRESS

## 1. Base (sequential)
- [x] 1.1 建立資料庫 | agent: developer | files: src/a.ts, `src/b.ts`
## 2. Parts (parallel, depends: 1)
- [ ] 2.1 API | agent: tester | output: http://localhost:3000/x | depends: 1.1, 2 | risk: high
- [ ] 2.2 Keep `a | files: b` and c | d here | depends: none
## 3. Whole (of it) (sequential, depends: Phase 1 and 2) 🎯
- [ ] 3.1 Join (all of it)
";
    let list = list("tasks.md", text);
    insta::assert_snapshot!(outline(&list), @r#"
    openspec
    phase 1 "Base" line 6 sequential 1/1
    phase 2 "Parts" line 8 parallel 0/2 depends 1
    phase 3 "Whole (of it) 🎯" line 11 sequential 0/1 depends 1 2
    7: 1.1 [x] phase 1 depth 0 "建立資料庫"
    9: 2.1 [ ] phase 2 depth 0 "API"
    10: 2.2 [ ] phase 2 depth 0 "Keep `a | files: b` and c | d here"
    12: 3.1 [ ] phase 3 depth 0 "Join (all of it)"
    "#);
    let [base, api, keep, ..] = &list.tasks[..] else {
        panic!("four tasks")
    };
    assert_eq!(base.agent.as_deref(), Some("developer"));
    assert_eq!(base.files, ["src/a.ts", "src/b.ts"]);
    assert_eq!(api.output.as_deref(), Some("http://localhost:3000/x"));
    assert_eq!(api.depends, ["1.1", "2"]);
    assert_eq!(api.fields, [("risk".to_owned(), "high".to_owned())]);
    assert!(keep.files.is_empty() && keep.depends.is_empty());
}

#[test]
fn fix_plans_have_optional_sections() {
    let text = "\
# Fix Plan

- [ ] Before any section

## High Priority
- [ ] Build system
- [x] Types

### Nice to have:
- [ ] Colours
### More
- [ ] Parser

## future enhancements
<!-- open boxes here
- [ ] do not block -->
- [ ] Plugins
### Far future
- [ ] Moon

## Completed
- [x] Repository

## Notes
- Small steps
";
    let list = list(".ralph/fix_plan.md", text);
    insta::assert_snapshot!(outline(&list), @r#"
    fix_plan
    phase 1 "High Priority" line 5 sequential 1/3
    phase 2 "future enhancements" line 14 sequential 0/2 optional
    phase 3 "Completed" line 21 sequential 1/1
    3: #1 [ ] phase - depth 0 "Before any section"
    6: #2 [ ] phase 1 depth 0 "Build system"
    7: #3 [x] phase 1 depth 0 "Types"
    10: #4 [ ] phase 1 depth 0 optional "Colours"
    12: #5 [ ] phase 1 depth 0 "Parser"
    17: #6 [ ] phase 2 depth 0 optional "Plugins"
    19: #7 [ ] phase 2 depth 0 optional "Moon"
    22: #8 [x] phase 3 depth 0 "Repository"
    "#);
    let counts = list.counts(&Scope::default());
    assert_eq!((counts.total, counts.completed, counts.pending), (5, 2, 3));
}

#[test]
fn optional_sections_can_be_named() {
    let options = ReadOptions {
        optional_sections: vec!["Später".to_owned()],
        ..ReadOptions::default()
    };
    let text = "## Optional\n- [ ] a\n## SPÄTER\n- [ ] b\n";
    let list = read("fix_plan.md", text.as_bytes(), &options).unwrap();
    assert!(!list.tasks[0].optional);
    assert!(list.tasks[1].optional);
    assert!(list.phases[1].optional);
}

#[test]
fn only_fix_plans_have_optional_sections() {
    let list = list("todo.md", "## Optional\n- [ ] a\n");
    assert_eq!(list.counts(&Scope::default()).pending, 1);
}

#[test]
fn stories_are_read() {
    let text = r#"{
  "project": "Shop", "passes": true,
  "userStories": [
    { "id": "US-001", "title": "Say \"passes\": true", "priority": 2,
      "extra": {"passes": true, "list": [{"passes": false}]}, "passes": false, "notes": "" },
    { "id": 7, "description": "Only described", "passes": true },
    { "title": "No id", "priority": "1", "p\u0061sses": false }
  ]
}"#;
    let list = list("prd.json", text);
    insta::assert_snapshot!(outline(&list), @r#"
    prd.json
    4: US-001 [ ] phase - depth 0 "Say \"passes\": true"
    6: 7 [x] phase - depth 0 "Only described"
    7: #3 [ ] phase - depth 0 "No id"
    "#);
    assert_eq!(next(&list, &Scope::default()), "#3");
}

#[test]
fn formats_are_told_apart() {
    for (name, text, want) in [
        ("tasks.md", "## Phase 1: A\n- [ ] a", Format::SpecKit),
        ("tasks.md", "## phase 2\n- [ ] a", Format::SpecKit),
        ("tasks.md", "## 1. A\n## Phase 1\n- [ ] a", Format::SpecKit),
        ("tasks.md", "## 1. A\n- [ ] a", Format::OpenSpec),
        ("tasks.md", "## 1.5 times faster\n- [ ] a", Format::Plain),
        ("tasks.md", "## Phases 1\n- [ ] a", Format::Plain),
        ("tasks.md", "### Phase 1\n- [ ] a", Format::Plain),
        ("tasks.md", "```\n## Phase 1\n```\n- [ ] a", Format::Plain),
        (".ralph/fix_plan.md", "## 1. A\n- [ ] a", Format::FixPlan),
        ("C:\\x\\@fix_plan.md", "- [ ] a", Format::FixPlan),
        ("TODO", "- [ ] a", Format::Plain),
    ] {
        assert_eq!(list(name, text).format, want, "{name} {text:?}");
    }
}

#[test]
fn a_line_is_a_task_or_not() {
    for (line, want) in [
        ("- [ ] a", Some((false, "a"))),
        ("- [x] a", Some((true, "a"))),
        ("* [X] a", Some((true, "a"))),
        ("+ [ ] a", Some((false, "a"))),
        ("\t-\t[ ]\ta\t", Some((false, "a"))),
        ("        - [ ] deep", Some((false, "deep"))),
        ("- [ ]\u{3000}任務", Some((false, "任務"))),
        // OpenSpec counts a box without text. So do we: a trailing blank,
        // which nobody sees, should make no difference.
        ("- [ ]", Some((false, ""))),
        ("- [ ] ", Some((false, ""))),
        ("- [P] a", None),
        ("- [Story] a", None),
        ("- [x](link)", None),
        ("- [link](x)", None),
        ("- [ ](x)", None),
        ("- [] a", None),
        ("- [  ] a", None),
        ("-[ ] a", None),
        ("- [ ]a", None),
        ("- [-] a", None),
        ("1. [ ] a", None),
        ("> - [ ] a", None),
        ("[ ] a", None),
        ("- a [ ] b", None),
        ("- Total: 8 tasks", None),
    ] {
        for ending in ["", "\n", "\r\n", "\r"] {
            let text = format!("- [ ] first\n{line}{ending}");
            let list = list("todo.md", &text);
            let found = list
                .tasks
                .get(1)
                .map(|task| (task.done, task.text.as_str()));
            assert_eq!(found, want, "{text:?}");
        }
    }
}

#[test]
fn ids_are_taken_from_the_text() {
    for (heading, line, id, text) in [
        ("## Phase 1", "T1 a", "T1", "a"),
        ("## Phase 1", "[T001] [P] a", "T001", "a"),
        ("## Phase 1", "1.2 a", "1.2", "a"),
        ("## Phase 1", "Task a", "#1", "Task a"),
        ("## Phase 1", "[US1] a", "#1", "a"),
        ("## Phase 1", "T001: a", "T001", "a"),
        ("## 1. A", "1.1: a", "1.1", "a"),
        ("## 1. A", "1.1.1) a", "1.1.1", "a"),
        ("## 1. A", "1 a", "#1", "1 a"),
        ("## 1. A", "1.1beta a", "#1", "1.1beta a"),
        ("## A", "2.4 GHz radio", "#1", "2.4 GHz radio"),
        ("## A", "T5 model", "#1", "T5 model"),
        ("## A", "T005 model", "T005", "model"),
    ] {
        let list = list("tasks.md", &format!("{heading}\n- [ ] {line}\n"));
        let task = &list.tasks[0];
        assert_eq!((task.id.as_str(), task.text.as_str()), (id, text), "{line}");
    }
}

#[test]
fn phases_may_have_dotted_numbers() {
    let list = list(
        "tasks.md",
        "## Phase 3.1: A\n- [ ] T001 a\n## Phase 3.2 - B\n- [ ] T002 b\n## Phase 31\n- [ ] T003 c\n",
    );
    let titles: Vec<&str> = list
        .phases
        .iter()
        .map(|phase| phase.title.as_str())
        .collect();
    assert_eq!(titles, ["A", "B", ""]);
    assert_eq!(list.counts(&phase("3")).total, 2);
    assert_eq!(list.counts(&phase("3.2")).total, 1);
    assert_eq!(list.counts(&phase("31")).total, 1);
    assert_eq!(list.counts(&phase("")).total, 0);
}

#[test]
fn percent_rounds_down_and_survives_zero() {
    let counts = |completed, pending| Counts {
        total: completed + pending,
        completed,
        pending,
    };
    for (completed, pending, want) in [(0, 0, 0), (0, 3, 0), (2, 1, 66), (199, 1, 99), (3, 0, 100)]
    {
        assert_eq!(counts(completed, pending).percent(), want);
    }
}

#[test]
fn unreadable_files_say_why() {
    let file = || "f.md".to_owned();
    for (bytes, want) in [
        (&b""[..], TaskError::Empty { file: file() }),
        (b" \r\n\t", TaskError::Empty { file: file() }),
        (b"\xef\xbb\xbf\n", TaskError::Empty { file: file() }),
        (b"- [ ] a\0", TaskError::NotText { file: file() }),
        (b"- [ ] \xff", TaskError::NotText { file: file() }),
        (b"\xff\xfe-\0", TaskError::NotText { file: file() }),
        (
            b"# Notes\n- [P] a\n",
            TaskError::NoTasks {
                file: file(),
                format: Format::Plain,
            },
        ),
    ] {
        assert_eq!(error("f.md", bytes), want, "{bytes:?}");
    }
    let large = vec![b'a'; 50_000_000];
    assert_eq!(
        error("f.md", &large),
        TaskError::TooLarge {
            file: file(),
            bytes: 50_000_000,
            limit: 8 * 1024 * 1024,
        }
    );
}

#[test]
fn unreadable_stories_say_where() {
    let file = || "prd.json".to_owned();
    for (text, want) in [
        ("{}", TaskError::NoStories { file: file() }),
        ("[]", TaskError::NoStories { file: file() }),
        (
            "{\"userStories\": {}}",
            TaskError::NoStories { file: file() },
        ),
        (
            "{\"userStories\": []}",
            TaskError::NoTasks {
                file: file(),
                format: Format::PrdJson,
            },
        ),
        (
            "{\"userStories\": [\n{},\n 3]}",
            TaskError::BadStory {
                file: file(),
                line: 3,
            },
        ),
        (
            "{\n \"a\": \"é\" x}",
            TaskError::BadJson {
                file: file(),
                line: 2,
                column: 11,
                message: "expected `,` or `}`".to_owned(),
            },
        ),
        (
            "\u{feff}{\"userStories\": [",
            TaskError::BadJson {
                file: file(),
                line: 1,
                column: 17,
                message: "EOF while parsing a list".to_owned(),
            },
        ),
    ] {
        assert_eq!(error("prd.json", text.as_bytes()), want, "{text}");
    }
}

#[test]
fn json_has_everything() {
    let text = "## 1. A (parallel)\n- [x] 1.1 One | agent: tester | files: a, b | x: y\n- [ ] 1.2 Two | depends: 1.1\n";
    let json = list("tasks.md", text).to_json("openspec/changes/a/tasks.md");
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap(), @r#"
    {
      "file": "openspec/changes/a/tasks.md",
      "format": "openspec",
      "total": 2,
      "completed": 1,
      "pending": 1,
      "phases": [
        {
          "key": "1",
          "title": "A",
          "line": 1,
          "mode": "parallel",
          "depends": [],
          "optional": false,
          "total": 2,
          "completed": 1,
          "pending": 1
        }
      ],
      "tasks": [
        {
          "id": "1.1",
          "text": "One",
          "done": true,
          "phase": "1",
          "line": 2,
          "depth": 0,
          "optional": false,
          "parallel": false,
          "depends": [],
          "files": [
            "a",
            "b"
          ],
          "agent": "tester",
          "fields": {
            "x": "y"
          }
        },
        {
          "id": "1.2",
          "text": "Two",
          "done": false,
          "phase": "1",
          "line": 3,
          "depth": 0,
          "optional": false,
          "parallel": false,
          "depends": [
            "1.1"
          ],
          "files": []
        }
      ]
    }
    "#);
}
