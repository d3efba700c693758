//! Laws that hold for every file.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::tasks::{Format, Task, compare, set_mark, set_marks, sync_progress_block};

/// Lines of all kinds; the endings are chosen per file.
fn markdown_line() -> impl Strategy<Value = String> {
    let indent = prop::sample::select(vec!["", "  ", "\t", "    ", " \t "]);
    let bullet = prop::sample::select(vec!["-", "*", "+"]);
    let mark = prop::sample::select(vec![" ", "x", "X"]);
    let text = prop::sample::select(vec![
        "T001 [P] [US1] a",
        "T002 b (depends on T001)",
        "1.1 任務 | agent: developer | depends: 1.2",
        "1.2 <!-- c -->",
        "d <!-- e",
        "[ ] [x] f",
        "`g | h: i`",
        "",
    ]);
    let task = (indent, bullet, mark, text)
        .prop_map(|(indent, bullet, mark, text)| format!("{indent}{bullet} [{mark}] {text}"));
    let other = prop::sample::select(vec![
        "",
        "text",
        "- [P] note",
        "- [link](x)",
        "  ```",
        "```",
        "````md",
        "~~~",
        "- ```sh",
        "<!--",
        "-->",
        "<!-- x -->",
        "# Title",
        "## Phase 1: A",
        "## Phase 2: B (parallel)",
        "## 1. A (sequential, depends: 2)",
        "## 2. B",
        "## Optional",
        "### Sub",
        "**Checkpoint**: ok",
        "## Progress",
        "- Total: 3 tasks",
        "- Status: COMPLETED",
    ]);
    prop_oneof![2 => task, 1 => other.prop_map(str::to_owned)]
}

fn markdown_file() -> impl Strategy<Value = (String, String)> {
    let name = prop::sample::select(vec!["tasks.md", "fix_plan.md", "todo.txt"]);
    let ending = prop::sample::select(vec!["\n", "\r\n"]);
    let bom = prop::sample::select(vec!["", "\u{feff}"]);
    let lines = vec((markdown_line(), prop::bool::weighted(0.1)), 1..40);
    (name, ending, bom, lines, any::<bool>()).prop_map(|(name, ending, bom, lines, ends)| {
        let mut text = bom.to_owned();
        for (line, other_ending) in lines {
            text += &line;
            text += if other_ending { "\n" } else { ending };
        }
        if !ends {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        (name.to_owned(), text)
    })
}

fn story() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "a", "\\\"passes\\\": true", "\\\\", "{\\u0022", "任務",
    ]);
    let extra = prop::sample::select(vec![
        "",
        "\"passes\" :true,",
        "\"x\": {\"passes\": false, \"y\": [true, {}]},",
        "\"notes\": \"]}\",\r\n\t",
    ]);
    (text, extra, any::<bool>(), 0..5_i8).prop_map(|(text, extra, passes, priority)| {
        format!(
            "{{{extra} \"title\": \"{text}\", \"priority\": {priority}, \"passes\": {passes} }}"
        )
    })
}

fn story_file() -> impl Strategy<Value = (String, String)> {
    let bom = prop::sample::select(vec!["", "\u{feff}"]);
    (bom, vec(story(), 1..10)).prop_map(|(bom, stories)| {
        let text = format!(
            "{bom}{{\n \"passes\": false, \"userStories\": [{}]\n}}\n",
            stories.join(",\n")
        );
        ("prd.json".to_owned(), text)
    })
}

fn task_file() -> impl Strategy<Value = (String, String)> {
    prop_oneof![2 => markdown_file(), 1 => story_file()]
}

/// The task without what moves when a literal of another length stands
/// before it.
fn without_place(task: &Task) -> Task {
    Task {
        mark: None,
        ..task.clone()
    }
}

proptest! {
    #[test]
    fn a_tick_changes_exactly_one_mark((name, text) in task_file(), choice in any::<prop::sample::Index>()) {
        let Ok(before) = read(&name, text.as_bytes(), &ReadOptions::default()) else {
            return Ok(());
        };
        let task = choice.index(before.tasks.len());
        let done = !before.tasks[task].done;
        let changed = set_mark(text.as_bytes(), &before, task, done).unwrap();

        let differing = text.bytes().zip(&changed).filter(|(a, b)| a != *b).count();
        if before.format == Format::PrdJson {
            let (old, new) = if done { ("false", "true") } else { ("true", "false") };
            let changed = std::str::from_utf8(&changed).unwrap();
            let is_one_literal = text.match_indices(old).any(|(at, _)| {
                let (start, end) = (&text[..at], &text[at + old.len()..]);
                changed == format!("{start}{new}{end}")
            });
            prop_assert!(is_one_literal);
        } else {
            prop_assert_eq!((changed.len(), differing), (text.len(), 1));
        }

        let after = read(&name, &changed, &ReadOptions::default()).unwrap();
        prop_assert_eq!(&before.phases, &after.phases);
        prop_assert_eq!(before.tasks.len(), after.tasks.len());
        for (index, (old, new)) in before.tasks.iter().zip(&after.tasks).enumerate() {
            let mut want = without_place(old);
            want.done = if index == task { done } else { old.done };
            prop_assert_eq!(without_place(new), want);
        }
        let changes = compare(&before, &after);
        prop_assert_eq!(changes.newly_done.len() + changes.unticked.len(), 1);
        prop_assert_eq!(changes.added.len() + changes.removed.len() + changes.reworded.len(), 0);

        if done {
            let back = set_mark(&changed, &after, task, false).unwrap();
            prop_assert_eq!(back, text.as_bytes());
        }
    }

    #[test]
    fn all_at_once_are_what_each_after_the_other_is((name, text) in task_file(), wanted in vec((any::<prop::sample::Index>(), any::<bool>()), 0..6)) {
        let options = ReadOptions::default();
        let Ok(list) = read(&name, text.as_bytes(), &options) else {
            return Ok(());
        };
        let wanted: BTreeMap<usize, bool> = wanted.iter().map(|(index, done)| (index.index(list.tasks.len()), *done)).collect();
        let mut one_by_one = text.clone().into_bytes();
        for (&task, &done) in &wanted {
            let now = read(&name, &one_by_one, &options).unwrap();
            one_by_one = set_mark(&one_by_one, &now, task, done).unwrap();
        }
        let at_once = set_marks(text.as_bytes(), &list, wanted).unwrap();
        prop_assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn counts_add_up((name, text) in task_file(), skipped in vec("#[1-5]|T00[12]", 0..3), phase in prop::option::of("[12]")) {
        let Ok(list) = read(&name, text.as_bytes(), &ReadOptions::default()) else {
            return Ok(());
        };
        let scope = Scope { phase, skipped: skipped.into_iter().collect(), focus: None };
        let counts = list.counts(&scope);
        prop_assert_eq!(counts.total, counts.completed + counts.pending);
        prop_assert_eq!(list.pending(&scope).count(), counts.pending);
        let required = |index: &usize| !list.phases[*index].optional;
        let in_phases: usize = (0..list.phases.len())
            .filter(required)
            .map(|index| list.phase_counts(index).total)
            .sum();
        let is_outside = |task: &&Task| task.phase.is_none() && !task.optional;
        let outside = list.tasks.iter().filter(is_outside).count();
        prop_assert_eq!(in_phases + outside, list.counts(&Scope::default()).total);
    }

    #[test]
    fn picks_are_open_and_in_scope((name, text) in task_file(), skipped in vec("#[1-5]|T00[12]", 0..3)) {
        let Ok(list) = read(&name, text.as_bytes(), &ReadOptions::default()) else {
            return Ok(());
        };
        let scope = Scope { phase: None, skipped: skipped.into_iter().collect(), focus: None };
        let counts = list.counts(&scope);
        match list.pick(&scope) {
            Pick::Next { tasks, waiting } => {
                prop_assert!(!tasks.is_empty());
                for &task in &tasks {
                    let task = &list.tasks[task];
                    prop_assert!(!task.done && !task.optional && !scope.skipped.contains(&task.id));
                }
                prop_assert!(waiting.iter().all(|waiting| !tasks.contains(&waiting.task)));
            }
            Pick::Blocked { waiting } => prop_assert_eq!(waiting.len(), counts.pending),
            Pick::Cycle { ids } => prop_assert!(!ids.is_empty()),
            Pick::Done => prop_assert!(counts.pending == 0 && counts.total > 0),
            Pick::NothingInScope { .. } => prop_assert_eq!(counts.total, 0),
        }
    }

    #[test]
    fn a_synced_block_is_in_step((name, text) in markdown_file()) {
        let Ok(list) = read(&name, text.as_bytes(), &ReadOptions::default()) else {
            return Ok(());
        };
        if let Some(synced) = sync_progress_block(text.as_bytes(), &list) {
            let again = read(&name, &synced, &ReadOptions::default()).unwrap();
            prop_assert_eq!(again.tasks.len(), list.tasks.len());
            prop_assert_eq!(sync_progress_block(&synced, &again), None);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(name in "tasks.md|fix_plan.md|prd.json", bytes in vec(any::<u8>(), 0..200)) {
        let _ = read(&name, &bytes, &ReadOptions::default());
    }

    #[test]
    fn no_text_makes_it_panic(name in "tasks.md|fix_plan.md|prd.json", text in "(?s)[-*+ \t\r\n\\[\\]xX#`~<!>(){}|:.,\"\\\\0-9a-z任\u{feff}\u{3000}]{0,200}") {
        if let Ok(list) = read(&name, text.as_bytes(), &ReadOptions::default()) {
            list.pick(&Scope::default());
            list.lint();
            list.to_json(&name);
            sync_progress_block(text.as_bytes(), &list);
        }
    }
}
