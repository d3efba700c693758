use super::*;
use crate::lang::{Lang, Say};
use proptest::prelude::*;

fn started() -> DeltaState {
    let mut state = DeltaState::new("t-7", "RALPH", "2026-03-01 08:00:00", 20);
    state.progress.subtasks_total = 3;
    state.pending_work = "1. Phase 1: Read\n2. Phase 2: Write".into();
    state
}

fn finished() -> DeltaState {
    let mut state = started();
    state.iteration.current = 4;
    state.iteration.status = Status::Completed;
    state.progress.completed_phases = vec![1, 2];
    state.progress.subtasks_done = 3;
    state.pending_work = String::new();
    state.completed_work = "### Phase 1: Read\n- [x] All of it\n\n### Phase 2: Write".into();
    state.set_promise(Some(TASK_COMPLETE));
    state.summary = Some(Summary {
        total_iterations: Some(4),
        total_duration: Some(duration(4_800_000)),
        files_modified: Some(9),
        review_score: Some(88),
        extra: Vec::new(),
    });
    state
}

#[test]
fn a_loop_that_begins_is_written_as_the_format_says() {
    insta::assert_snapshot!(started().write(), @r#"
    # Delta Loop State

    ## Meta
    - Task ID: t-7
    - Route: RALPH
    - Started: 2026-03-01 08:00:00
    - Last Updated: 2026-03-01 08:00:00

    ## Iteration
    - Current: 1
    - Max Allowed: 20
    - Status: IN_PROGRESS

    ## Progress
    - Current Phase: 1
    - Completed Phases: []
    - Current Subtask: 0 / 3

    ## Pending Work
    1. Phase 1: Read
    2. Phase 2: Write

    ## Completed Work
    (none)

    ## Promise
    <!-- 未完成 -->
    "#);
}

#[test]
fn a_finished_loop_has_its_promise_and_its_summary() {
    insta::assert_snapshot!(finished().write(), @r#"
    # Delta Loop State

    ## Meta
    - Task ID: t-7
    - Route: RALPH
    - Started: 2026-03-01 08:00:00
    - Last Updated: 2026-03-01 08:00:00

    ## Iteration
    - Current: 4
    - Max Allowed: 20
    - Status: COMPLETED

    ## Progress
    - Current Phase: 1
    - Completed Phases: [1, 2]
    - Current Subtask: 3 / 3

    ## Pending Work
    (none)

    ## Completed Work
    ### Phase 1: Read
    - [x] All of it

    ### Phase 2: Write

    ## Promise
    <promise>TASK_COMPLETE</promise>

    ## Completion Summary
    - Total Iterations: 4
    - Total Duration: 1h 20m
    - Files Modified: 9
    - Review Score: 88/100
    "#);
}

#[test]
fn the_template_names_what_to_fill_in() {
    insta::assert_snapshot!(template(), @r#"
    # Delta Loop State

    ## Meta
    - Task ID: {uuid}
    - Route: RALPH
    - Started: {timestamp}
    - Last Updated: {timestamp}

    ## Iteration
    - Current: {N}
    - Max Allowed: {max_iterations}
    - Status: IN_PROGRESS | COMPLETED | FAILED | USER_ABORT

    ## Progress
    - Current Phase: {phase_number}
    - Completed Phases: [1, 2, ...]
    - Current Subtask: {subtask_index} / {total_subtasks}

    ## Pending Work
    {remaining_tasks_description}

    ## Completed Work
    {completed_work_summary}

    ## Promise
    <!-- 仅当任务完全完成时设置 -->
    <promise>TASK_COMPLETE</promise>
    "#);
}

/// Reads a file that says what `started` says.
fn check_reads_as_started(text: &str) {
    let mut want = started();
    want.meta.extra = vec!["- Session: s-1".into()];
    assert_eq!(DeltaState::read(text.as_bytes()), Ok(want), "{text}");
}

#[test]
fn order_spacing_line_ends_and_a_byte_order_mark_do_not_matter() {
    let mut state = started();
    state.meta.extra = vec!["- Session: s-1".into()];
    let text = state.write();
    check_reads_as_started(&text);
    check_reads_as_started(&text.replace('\n', "\r\n"));
    check_reads_as_started(&format!("\u{feff}{text}"));
    check_reads_as_started(&text.replace("\n\n", "\n\n\n\n"));
    check_reads_as_started(&text.replace("# Delta Loop State\n", ""));
    check_reads_as_started(&text.replace("## Meta", "##  meta  "));
    check_reads_as_started(&text.replace("- Task ID: ", "*  task id :  "));
    check_reads_as_started(&text.replace("- Current: 1", "- Current：1"));
    check_reads_as_started(&text.replace("IN_PROGRESS", "in progress"));
    check_reads_as_started(&text.replace("0 / 3", "0/3"));
    let (head, tail) = text.split_once("## Iteration").unwrap();
    let (meta, iteration) = (head.replace("# Delta Loop State\n", ""), tail);
    check_reads_as_started(&format!(
        "# Delta Loop State\n\n## Iteration{iteration}\n{meta}"
    ));
}

#[test]
fn what_is_unknown_is_kept() {
    let text = started()
        .write()
        .replace("- Route", "- Session: s-1\nby hand\n- Route")
        .replace("## Pending", "## Review Notes\nKeep me.\n\n## Pending")
        .replace("State\n\n## Meta", "State\n\nRead by everybody.\n\n## Meta");
    let state = DeltaState::read(text.as_bytes()).unwrap();
    assert_eq!(state.meta.extra, ["- Session: s-1", "by hand"]);
    assert_eq!(state.preamble, "Read by everybody.");
    let written = state.write();
    assert!(
        written.ends_with("\n## Review Notes\nKeep me.\n"),
        "{written}"
    );
    assert_eq!(DeltaState::read(written.as_bytes()), Ok(state));
}

/// DELT-11: everything that others wrote, in the order and to the byte.
#[test]
fn only_what_changed_is_written_over_a_file() {
    let file = "\u{feff}# Delta Loop State\r\nby hand  \n## Notes\n* mine \n\n\n## iteration\n* Current : 3\n- Status: in progress\r\n-  Max Allowed: 20\n\n## Meta\n- Task ID: t-7\n- Session: s\n## Promise\n<promise>TASK_COMPLETE</promise>\n\n## Tail";
    let mut state = DeltaState::read(file.as_bytes()).unwrap();
    assert_eq!(state.write_over(file), file);
    state.iteration.current = 4;
    state.meta.route = "RALPH".into();
    state.iteration.status = Status::Failed;
    state.set_promise(None);
    let want = file
        .replace("* Current : 3", "- Current: 4")
        .replace("- Status: in progress\r", "- Status: FAILED\r")
        .replace("- Session: s\n", "- Session: s\n- Route: RALPH\n")
        .replace("<promise>TASK_COMPLETE</promise>", "<!-- 未完成 -->");
    assert_eq!(state.write_over(file), want);
    state.summary = Some(Summary {
        total_iterations: Some(4),
        ..Summary::default()
    });
    let summary = "\n\n## Completion Summary\n- Total Iterations: 4\n";
    let done = state.write_over(&want);
    assert_eq!(done, want.clone() + summary);
    state.summary = None;
    assert_eq!(state.write_over(&done), want + "\n\n");
    assert_eq!(state.write_over("torn"), state.write());
    // A line that is added ends as all the others do.
    let windows = "## Meta\r\n- Task ID: t-7\r\n## Iteration\r\n- Current: 1\r\n- Max Allowed: 20\r\n- Status: IN_PROGRESS\r\n";
    let over = state.write_over(windows);
    assert!(over.contains("Route: RALPH"), "{over}");
    assert_eq!(over.matches('\n').count(), over.matches("\r\n").count());
}

#[test]
fn what_the_file_calls_open_is_known_by_its_name() {
    let mut state = started();
    state.progress.completed_phases = vec![1];
    state.completed_work =
        "### Phase 1-3: all\n- [x] a\n  * [ ] b\n```\n- [ ] code\n```\nPhase 4000000000\nPhase\n"
            .into();
    let claims = state.claims();
    let left = |skipped: &[&str]| claims.left(&skipped.iter().map(|id| (*id).into()).collect());
    assert_eq!(left(&[]), ["Phase 2", "Phase 3", "0 / 3", "b"]);
    // What is left out does not make the others done.
    assert_eq!(left(&["Phase 2", "b"]), ["Phase 3", "0 / 3"]);
    assert_eq!(left(&["Phase 2", "Phase 3", "b", "Subtasks"]), [""; 0]);
    assert!(finished().claims().left(&[].into()).is_empty());
}

#[test]
fn a_summary_that_is_odd_is_kept_as_it_is() {
    let text = finished().write().replace("88/100", "excellent");
    let summary = DeltaState::read(text.as_bytes()).unwrap().summary.unwrap();
    assert_eq!(summary.review_score, None);
    assert_eq!(summary.extra, ["- Review Score: excellent"]);
}

#[test]
fn a_corrupt_file_is_told_with_its_line() {
    let text = started().write();
    let mut said = String::new();
    for broken in [
        String::new(),
        "no state at all".into(),
        text.replace("- Task ID: t-7\n", ""),
        text.replace("- Current: 1", "- Current: one"),
        text.replace("IN_PROGRESS", "SLEEPING"),
        text.replace("[]", "[1, two]"),
        text.replace("0 / 3", "0 of 3"),
        text.split("## Iteration").next().unwrap().to_owned(),
        template(),
    ] {
        let error = DeltaState::read(broken.as_bytes()).unwrap_err();
        said.push_str(&error.say(Lang::En));
        said.push('\n');
    }
    insta::assert_snapshot!(said, @r#"
    it has no section of a delta loop state (`## Meta`, `## Iteration`)
    it has no section of a delta loop state (`## Meta`, `## Iteration`)
    line 3: `- Task ID:` is missing
    line 10: `- Current:` can't be `one`
    line 12: `- Status:` can't be `SLEEPING`
    line 16: `- Completed Phases:` can't be `[1, two]`
    line 17: `- Current Subtask:` can't be `0 of 3`
    line 8: `- Current:` is missing
    line 10: `- Current:` can't be `{N}`
    "#);
    let error = DeltaState::read(b"# Delta Loop State\n## Meta\n- \xff").unwrap_err();
    assert_eq!(error, DeltaError::NotUtf8 { line: 3 });
}

#[test]
fn only_a_tag_outside_of_comments_is_a_promise() {
    for (text, want) in [
        ("", None),
        ("<!-- 未完成 -->", None),
        ("<!-- <promise>TASK_COMPLETE</promise> -->", None),
        ("<!-- open <promise>TASK_COMPLETE</promise>", None),
        ("<promise>TASK_COMPLETE", None),
        ("<promise> TASK_COMPLETE\n</promise>", Some("TASK_COMPLETE")),
        ("<!-- when done -->\n<promise>X</promise>", Some("X")),
        ("<promise>A</promise>\n<promise>B</promise>", Some("B")),
    ] {
        let mut state = started();
        state.promise_text = text.into();
        assert_eq!(state.promise().as_deref(), want, "{text}");
        let read = DeltaState::read(state.write().as_bytes()).unwrap();
        assert_eq!(read.promise().as_deref(), want, "{text}");
    }
}

#[test]
fn no_text_leaves_its_section_or_brings_a_promise_along() {
    let mut state = started();
    state.completed_work = "## Promise\n<promise>TASK_COMPLETE</promise>\n# Title".into();
    let read = DeltaState::read(state.write().as_bytes()).unwrap();
    assert_eq!(read.promise(), None);
    assert_eq!(read.other, []);
    assert_eq!(
        one_line("say\n<promise>TASK_COMPLETE</promise>"),
        "say &lt;promise>TASK_COMPLETE&lt;/promise>"
    );
}

#[test]
fn headings_in_a_code_block_begin_no_section_unless_it_never_ends() {
    let mut state = started();
    state.completed_work = "```md\n## Meta\n```\ndone".into();
    let read = DeltaState::read(state.write().as_bytes()).unwrap();
    assert_eq!(read, state);
    state.pending_work = "```never closed".into();
    state.completed_work = "text".into();
    let read = DeltaState::read(state.write().as_bytes()).unwrap();
    assert_eq!(read, state);
}

#[test]
fn durations_are_short() {
    let said = [0, 45_000, 60_000, 4_800_000, 360_000_000].map(duration);
    assert_eq!(said, ["0s", "45s", "1m", "1h 20m", "100h 0m"]);
}

/// DELT-06: a section that somebody emptied is written as empty.
#[test]
fn an_emptied_section_is_written_as_empty() {
    let file = started().write();
    let empty = file
        .replace("(none)\n", "")
        .replace("<!-- 未完成 -->\n", "");
    assert_ne!(empty, file);
    let state = DeltaState::read(empty.as_bytes()).unwrap();
    assert_eq!(state.write_over(&empty), file);
    let missing = "## Meta\n- Task ID: t\n- Route: RALPH\n## Iteration\n- Current: 1\n";
    if let Ok(state) = DeltaState::read(missing.as_bytes()) {
        assert!(!state.write_over(missing).contains("(none)"));
    }
}

/// DELT-06: what a task names line by line stays item by item.
#[test]
fn a_task_of_several_items_keeps_them() {
    for (task, want) in [
        ("Do it", "1. Do it"),
        (" Do it\n\nand\tmore <b>\n", "1. Do it and more &lt;b>"),
        (
            "1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查",
            "1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查",
        ),
        ("4) a\n   more of it\n\n5) b", "1. a more of it\n2. b"),
        ("1、分析\n2、規劃", "1. 分析\n2. 規劃"),
        ("- a\n* b\n+ [ ] c", "1. a\n2. b\n3. [ ] c"),
        (
            "Phase 1: read\n- one\n  and more\n- two\nPhase 2: write",
            "1. Phase 1: read\n   - one and more\n   - two\n2. Phase 2: write",
        ),
        (
            "### Phase 1: a\n## Phase 2: b",
            "1. Phase 1: a\n2. Phase 2: b",
        ),
        ("Do this:\n1. a\n2. b", "1. Do this:\n2. a\n3. b"),
        (
            "## Meta\n-5 is cold\n3.5 is more",
            "1. ## Meta -5 is cold 3.5 is more",
        ),
        ("", ""),
    ] {
        let items = items_of(task);
        assert_eq!(items, want, "{task}");
        assert_eq!(items_of(&items).lines().count(), items.lines().count());
    }
}

proptest! {
    #[test]
    fn reading_never_panics(bytes: Vec<u8>, text in "(# |## |- |Meta|Task ID|:|```|\n|[0-9/]){0,60}") {
        let _ = DeltaState::read(&bytes);
        let _ = DeltaState::read(text.as_bytes());
    }

    #[test]
    fn a_state_that_did_not_change_leaves_its_file_alone(
        parts in proptest::collection::vec("(## |### |- |# )?[a-zA-Z:` ]{0,12}\r?\n{1,2}", 0..12),
        at in 0usize..12,
    ) {
        let (before, after) = parts.split_at(at.min(parts.len()));
        let file = before.concat() + &finished().write() + &after.concat();
        if let Ok(state) = DeltaState::read(file.as_bytes()) {
            prop_assert_eq!(state.write_over(&file), file);
        }
    }

    #[test]
    fn what_was_read_once_is_written_and_read_the_same(
        work in "[a-z#`<> \n-]{0,60}",
        promise in "[a-zA-Z<>/!\n -]{0,30}",
        phases in proptest::collection::btree_set(0u32..9, 0..4),
        current: u32,
    ) {
        let mut state = finished();
        state.pending_work = work;
        state.promise_text = promise;
        state.progress.completed_phases = phases.into_iter().collect();
        state.iteration.current = current;
        let once = DeltaState::read(state.write().as_bytes()).unwrap();
        let twice = DeltaState::read(once.write().as_bytes()).unwrap();
        prop_assert_eq!(once, twice);
    }
}

/// Wherever a file is cut off, it is not taken for a whole one (DELT-11).
#[test]
fn a_file_that_is_cut_off_is_damaged() {
    let whole = started().write();
    assert!(DeltaState::read(whole.trim_end().as_bytes()).is_ok());
    let promise = whole.find("## Promise").unwrap();
    for end in 1..promise {
        let Some(cut) = whole.get(..end).filter(|cut| !cut.ends_with('\n')) else {
            continue;
        };
        assert!(DeltaState::read(cut.as_bytes()).is_err(), "{cut}");
    }
}
