//! Errors: which count, and what three in a row do (ERRC-01 to ERRC-07,
//! LOOP-10, VALV-02, TASK-16).

use super::*;

/// So long, or up to a quarter less: nobody comes back in step with others.
fn backs_off(run: &Script, ms: u64) {
    let waits = run.waits().unwrap();
    assert_eq!(waits.1, WaitReason::Backoff);
    assert!((ms * 3 / 4..=ms).contains(&waits.0), "{waits:?}");
}

#[test]
fn the_third_error_ends_and_the_first_two_wait_errc_02_errc_06() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.turn(failed("first"));
    backs_off(&run, 1000);
    run.wake().turn(failed("second"));
    backs_off(&run, 2000);
    run.wake().turn(failed("third"));
    assert_eq!(run.outcome(), Some(Outcome::Errors));
    insta::assert_snapshot!(run.trace(), @r#"
    loop_start tasks={"total":2,"completed":0,"pending":2}
    iteration_start iteration=1 task="T001"
    => run turn 1 for 1800000 ms
    iteration_complete iteration=1 subtasks_done=0 progress=[] tasks={"total":2,"completed":0} duration_ms=1000
    stalled iteration=1 count=1
    error iteration=1 reason="agent_exec" message="exit code 1: first" count=1
    wait iteration=1 reason="backoff" duration_ms=794
    => wait 794 ms: backoff
    iteration_retry iteration=2 reason="agent_exec"
    iteration_start iteration=2 task="T001"
    => run turn 2 for 1800000 ms
         LastError { class: "agent_exec", message: "exit code 1: first" }
    iteration_complete iteration=2 subtasks_done=0 progress=[] tasks={"total":2,"completed":0} duration_ms=1000
    stalled iteration=2 count=2
    error iteration=2 reason="agent_exec" message="exit code 1: second" count=2
    wait iteration=2 reason="backoff" duration_ms=1846
    => wait 1846 ms: backoff
    iteration_retry iteration=3 reason="agent_exec"
    iteration_start iteration=3 task="T001"
    => run turn 3 for 1800000 ms
         LastError { class: "agent_exec", message: "exit code 1: second" }
    iteration_complete iteration=3 subtasks_done=0 progress=[] tasks={"total":2,"completed":0} duration_ms=1000
    stalled iteration=3 count=3
    error iteration=3 reason="agent_exec" message="exit code 1: third" count=3
    loop_end outcome="errors" exit_code=6 iterations=3 tasks={"total":2,"completed":0,"pending":2} duration_ms=5640 proven=[] usage={"calls":3,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":3,"uncounted_calls":3,"partial_calls":0}
    => finish errors
    "#);
    let all: Vec<_> = run
        .state
        .failures
        .errors
        .iter()
        .map(|e| e.detail.say(Lang::En))
        .collect();
    assert_eq!(
        all,
        [
            "exit code 1: first", "exit code 1: second", "exit code 1: third"
        ],
        "the report names all three"
    );
}

#[test]
fn a_success_resets_the_count_errc_02() {
    let check = |success: Did| {
        let rules = for_tasks().with(|r| r.limits.stalled = 0);
        let mut run = Script::begin(rules, seen(list(0, 2)));
        run.turn(failed("a")).wake().turn(failed("b")).wake();
        run.turn(success.clone());
        assert_eq!(run.state.counters.errors, 0, "{success:?}");
        assert_eq!(run.state.failures.errors, [], "{success:?}");
        run.turn(failed("c"));
        backs_off(&run, 1000);
        run.wake().turn(failed("d"));
        assert_eq!(run.outcome(), None);
    };
    check(nothing());
    check(said(Promise::Continue));
    check(claimed());
    check(ended(End::TimedOut).tree("new"));
}

#[test]
fn the_backoff_grows_to_its_limit_errc_06() {
    let retry = Limits::default().retry;
    let delays: Vec<_> = (1..=8).map(|n| retry.delay_ms(n) / 1000).collect();
    assert_eq!(delays, [1, 2, 4, 8, 16, 30, 30, 30]);
    let waits: std::collections::BTreeSet<u64> =
        (0..100).map(|seed| retry.jittered_ms(3, seed)).collect();
    assert!(waits.len() > 50, "{waits:?}");
    assert!(
        waits.iter().all(|ms| (3000..=4000).contains(ms)),
        "{waits:?}"
    );
    assert_eq!(retry.delay_ms(u32::MAX), 30_000);
}

#[test]
fn classes_that_count_errc_01_errc_07() {
    use ErrorClass::*;
    let check = |class: ErrorClass, name: &str, counts: bool| {
        assert_eq!(class.into_str(), name);
        assert_eq!(class.counts(), counts, "{name}");
        let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
        let message = "what the file says".into();
        run.turn(nothing().file(Tasks::Trouble {
            class,
            message,
            said: String::new(),
        }));
        assert_eq!(run.state.counters.errors, u32::from(counts), "{name}");
        assert!(run.told().contains(&"error"), "{name}");
    };
    check(AgentExec, "agent_exec", true);
    check(AgentTimeout, "agent_timeout", true);
    check(AgentMissing, "agent_missing", true);
    check(TaskNotFound, "task_not_found", true);
    check(FileOp, "file_op", true);
    check(RateLimited, "rate_limited", false);
    check(Unavailable, "unavailable", false);
}

/// Every end of the agent's process: the class of the error, and its words.
/// A client that updates itself is not there for a moment.
#[test]
fn an_agent_that_does_not_start_is_started_again_within_the_turn_errc_04() {
    let gone = || ended(End::SpawnFailed { missing: true });
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.turn(gone());
    backs_off(&run, 1000);
    run.wake().turn(gone());
    backs_off(&run, 2000);
    run.wake();
    assert_eq!((run.state.turn.number, run.state.turn.attempt), (1, 3));
    assert!(trace(&run.last).contains(r#"iteration_retry iteration=1 reason="agent_missing""#));
    run.work(said(Promise::Continue));
    assert_eq!(run.state.turn.number, 2);
    assert_eq!(run.state.counters.errors, 0);

    // That it never starts is one error, and the next turn tries anew.
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.turn(gone()).wake().turn(gone()).wake().turn(gone());
    assert_eq!(run.state.counters.errors, 1);
    backs_off(&run, 1000);
    run.wake();
    assert_eq!((run.state.turn.number, run.state.turn.attempt), (2, 1));
}

#[test]
fn ends_of_a_turn() {
    let check = |did: Did, want: Option<(ErrorClass, &str)>| {
        let rules = for_tasks().with(|r| r.limits.retry.attempts = 1);
        let mut run = Script::begin(rules, seen(list(0, 2)));
        run.turn(did.clone());
        let error = run.state.failures.errors.first();
        let got = error.map(|e| (e.class, e.detail.say(Lang::En)));
        let want = want.map(|(class, words)| (class, words.to_string()));
        assert_eq!(got, want, "{did:?}");
    };
    let words = |end: End| Did {
        failure: "quota".into(),
        ..ended(end)
    };
    let exec = ErrorClass::AgentExec;
    check(ended(End::Exit(0)), None);
    check(ended(End::Exit(2)), Some((exec, "exit code 2")));
    check(words(End::Exit(2)), Some((exec, "exit code 2: quota")));
    check(ended(End::Signal(9)), Some((exec, "ended by signal 9")));
    check(
        ended(End::ResultError),
        Some((exec, "the agent reported an error")),
    );
    check(words(End::ResultError), Some((exec, "quota")));
    check(
        ended(End::SpawnFailed { missing: true }),
        Some((ErrorClass::AgentMissing, "command not found")),
    );
    check(
        ended(End::SpawnFailed { missing: false }),
        Some((exec, "could not be started")),
    );
    let timeout = "ended after 1800 s without a result";
    check(
        ended(End::TimedOut).took(1_800_000),
        Some((ErrorClass::AgentTimeout, timeout)),
    );
    check(ended(End::TimedOut).tree("new"), None);
    check(ended(End::Stopped), None);
    check(ended(End::Lost), None);
    check(
        nothing().file(unreadable()),
        Some((ErrorClass::FileOp, "tasks.md: permission denied")),
    );
}

/// Trying again at once would only count the same full disk three times.
#[test]
fn a_turn_whose_files_cant_be_written_pauses_the_run() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    let did = Did {
        failure: "no space left".into(),
        ..ended(End::Unwritable)
    };
    run.turn(did);
    let reason = PauseReason::Disk;
    assert_eq!(run.outcome(), Some(Outcome::Paused { reason }));
    assert!(run.told().contains(&"error"));
    assert!(!run.told().contains(&"stalled"));
}

/// S-01: whatever it promises or did, nobody calls it again unseen.
#[test]
fn a_turn_without_the_guard_pauses_the_run() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    let did = Did {
        failure: "Bash".into(),
        promise: Some(Promise::Complete("COMPLETE".into())),
        ..ended(End::Unguarded)
    };
    run.turn(did);
    let reason = PauseReason::Unguarded;
    assert_eq!(run.outcome(), Some(Outcome::Paused { reason }));
    assert!(run.told().contains(&"unguarded"));
    assert!(!run.told().contains(&"promise_detected"));
}

#[test]
fn a_promise_of_a_failed_turn_is_not_heard() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    let did = Did {
        promise: Some(Promise::Blocked("x".into())),
        ..failed("broken pipe")
    };
    run.turn(did);
    assert_eq!(run.outcome(), None);
    assert!(!run.told().contains(&"promise_detected"));
}

#[test]
fn the_next_prompt_says_what_went_wrong() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.turn(failed("model not found")).wake();
    assert_eq!(
        format!("{:?}", run.notes()),
        "[LastError { class: \"agent_exec\", message: \"exit code 1: model not found\" }]"
    );
    assert_eq!(run.told(), ["iteration_retry", "iteration_start"]);
}

#[test]
fn a_task_file_that_goes_bad_is_a_counted_error_task_16() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    for _ in 0..2 {
        run.turn(claimed().file(unreadable())).wake();
    }
    run.turn(claimed());
    assert_eq!(run.outcome(), Some(Outcome::Errors));
    let kept = run.state.tasks.facts.as_ref().unwrap();
    assert_eq!((kept.completed, kept.total), (0, 2), "the last facts stay");
}

#[test]
fn errors_of_another_class_open_the_breaker_by_their_words_brkr_07() {
    let rules = for_tasks().with(|r| r.limits.same_error = 3);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    for n in 1..=3 {
        let message = format!("usage limit, try again in {n} minutes");
        let class = ErrorClass::RateLimited;
        run.work(nothing().file(Tasks::Trouble {
            class,
            message,
            said: String::new(),
        }));
    }
    assert_eq!(run.outcome(), broken(BreakerRule::SameError));
}

/// Real work lies between the failures: they are not in a row.
#[test]
fn the_same_error_now_and_then_opens_no_breaker_brkr_07() {
    let rules = for_tasks().with(|r| r.limits.same_error = 3);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    for _ in 0..5 {
        run.work(failed("overloaded")).wake();
        run.work(said(Promise::Continue));
        assert_eq!(run.state.counters.same_error, 0);
    }
    assert_eq!(run.outcome(), None);
}
