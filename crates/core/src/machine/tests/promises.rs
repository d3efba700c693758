//! A promise is a claim (PROM-06, PROM-11, PROM-14, BRKR-02, E2E-02, X-02).

use super::*;

#[test]
fn a_false_promise_is_rejected_and_the_agent_is_told_what_is_missing_prom_11() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 7)));
    run.work(said(Promise::Complete("所有任務完成".into())).tasks(list(1, 7)));
    insta::assert_snapshot!(trace(&run.last), @r#"
    iteration_complete iteration=1 subtasks_done=1 progress=["tasks","tree"] tasks={"total":7,"completed":1} duration_ms=1000
    promise_detected iteration=1 promise="所有任務完成"
    promise_rejected iteration=1 reason="open tasks (6): T002 task 2; T003 task 3; T004 task 4; T005 task 5; T006 task 6" promise="所有任務完成" missing=["open tasks (6): T002 task 2; T003 task 3; T004 task 4; T005 task 5; T006 task 6"]
    iteration_start iteration=2 task="T002"
    => run turn 2 for 1800000 ms
         PromiseRejected { claim: "所有任務完成", missing: ["open tasks (6): T002 task 2; T003 task 3; T004 task 4; T005 task 5; T006 task 6"] }
    "#);
}

/// What each promise does while tasks are open.
#[test]
fn promises_with_open_tasks_prom_06() {
    let check = |promise: Option<Promise>, want: &[&str], last_promise: &str| {
        let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
        let did = Did {
            promise: promise.clone(),
            ..nothing()
        };
        run.work(did);
        let said: Vec<_> = run
            .told()
            .into_iter()
            .filter(|e| e.starts_with("promise"))
            .collect();
        assert_eq!(said, want, "{promise:?}");
        assert_eq!(run.state.claims.last_promise, last_promise);
        let ends = matches!(promise, Some(Promise::Blocked(_)));
        assert_eq!(run.acts(), [if ends { "finish" } else { "run" }]);
    };
    let rejected = ["promise_detected", "promise_rejected"];
    check(None, &["promise_missing"], "");
    check(Some(Promise::Continue), &["promise_detected"], "CONTINUE");
    check(
        Some(Promise::Unknown("almost".into())),
        &["promise_detected"],
        "almost",
    );
    check(Some(complete()), &rejected, "COMPLETE");
    check(Some(Promise::PhaseComplete), &rejected, "PHASE COMPLETE");
    check(Some(Promise::E2ePassed), &rejected, "E2E PASSED");
    check(
        Some(Promise::E2eFailed("login".into())),
        &["promise_detected"],
        "E2E FAILED: login",
    );
    check(
        Some(Promise::Blocked("no key".into())),
        &["promise_detected"],
        "BLOCKED: no key",
    );
}

#[test]
fn blocked_ends_with_its_reason_prom_07() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.work(said(Promise::Blocked("needs a database password".into())));
    let reason = "needs a database password".into();
    assert_eq!(run.outcome(), Some(Outcome::Blocked { reason }));
    assert_eq!(run.outcome().unwrap().exit_code(), 4);
}

#[test]
fn a_missing_promise_is_asked_for_in_the_next_prompt_prom_14() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.work(nothing());
    assert_eq!(run.notes(), [PromptNote::NoPromise]);
}

#[test]
fn what_was_told_once_is_not_told_again() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.work(nothing()).work(said(Promise::Continue));
    assert_eq!(run.notes(), []);
}

/// The counters after two turns without promise and progress, a turn, as
/// (missing_promise, stalled).
#[test]
fn two_counters_with_resets_of_their_own_brkr_02_x_02() {
    let check = |did: Did, want: (u32, u32)| {
        let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
        run.turn(nothing()).turn(nothing());
        run.turn(did.clone());
        let counters = &run.state.counters;
        assert_eq!(
            (counters.missing_promise, counters.stalled),
            want,
            "{did:?}"
        );
    };
    check(nothing(), (3, 3));
    check(nothing().tree("new"), (3, 0));
    check(nothing().tasks(list(1, 3)), (3, 0));
    check(said(Promise::Continue), (0, 3));
    check(said(Promise::Continue).tree("new"), (0, 0));
    check(said(Promise::Unknown("hm".into())), (0, 3));
    check(claimed(), (0, 3));
    check(said(Promise::PhaseComplete), (0, 3));
    check(said(Promise::E2eFailed("x".into())), (0, 3));
    check(failed("no answer"), (2, 3));
}

#[test]
fn failed_end_to_end_tests_may_be_repaired_so_often_e2e_02() {
    let check = |repairs: u32| {
        let rules = for_tasks().with(|r| r.e2e_repairs = repairs);
        let mut run = Script::begin(rules, seen(list(0, 2)));
        for _ in 0..repairs {
            run.work(said(Promise::E2eFailed("login".into())));
            let reason = "login".into();
            assert_eq!(run.notes(), [PromptNote::E2eFailed { reason }]);
        }
        run.work(said(Promise::E2eFailed("login".into())));
        let reason = "E2E FAILED: login".into();
        assert_eq!(run.outcome(), Some(Outcome::Blocked { reason }));
    };
    check(0);
    check(1);
    check(3);
}

#[test]
fn failed_end_to_end_tests_need_no_reason_e2e_02() {
    let mut run = Script::begin(for_tasks().with(|r| r.e2e_repairs = 0), seen(list(0, 2)));
    run.work(said(Promise::E2eFailed(String::new())));
    let reason = "E2E FAILED".into();
    assert_eq!(run.outcome(), Some(Outcome::Blocked { reason }));
}

#[test]
fn a_turn_in_between_is_part_of_the_repair_e2e_02() {
    let rules = for_tasks().with(|r| r.e2e_repairs = 1);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::E2eFailed("login".into())));
    run.work(said(Promise::Continue));
    run.work(said(Promise::E2eFailed("login".into())));
    assert_eq!(run.outcome().unwrap().into_str(), "blocked");
}

/// Rejections in a row, each with progress so that nothing else counts.
#[test]
fn false_promises_in_a_row_open_the_breaker_errc_07() {
    let rules = for_tasks().with(|r| r.limits.false_promise = 3);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(claimed()).work(claimed()).work(nothing());
    run.work(claimed()).work(claimed());
    run.work(said(Promise::Continue));
    run.work(claimed()).work(claimed());
    assert_eq!(run.outcome(), None, "never three in a row");
    run.work(claimed());
    assert_eq!(run.outcome(), broken(BreakerRule::FalsePromise));
    insta::assert_snapshot!(trace(&run.last), @r#"
    iteration_complete iteration=9 subtasks_done=0 progress=["tree"] tasks={"total":2,"completed":0} duration_ms=1000
    promise_detected iteration=9 promise="COMPLETE"
    promise_rejected iteration=9 reason="open tasks (2): T001 task 1; T002 task 2" promise="COMPLETE" missing=["open tasks (2): T001 task 1; T002 task 2"]
    breaker_open iteration=9 reason="false_promise" count=3 evidence=["promised: COMPLETE","open: T001 task 1","open: T002 task 2"]
    loop_end outcome="circuit_break" reason="false_promise" exit_code=5 iterations=9 tasks={"total":2,"completed":0,"pending":2} duration_ms=9000 proven=[] usage={"calls":9,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":9,"uncounted_calls":9,"partial_calls":0}
    => finish circuit_break false_promise
    "#);
}

#[test]
fn a_rejection_names_five_tasks_and_the_number_of_all() {
    let check = |open: usize, named: usize| {
        let facts = list(0, open).with(|f| f.open = (1..=open).map(task).collect());
        let mut run = Script::begin(for_tasks(), seen(facts));
        run.work(claimed());
        let rejected = notices(&run.last).find_map(|n| match n {
            Notice::PromiseRejected { missing, .. } => Some(missing.clone()),
            _ => None,
        });
        let want = Missing::OpenTasks {
            count: open,
            first: (1..=named).map(task).collect(),
        };
        assert_eq!(rejected, Some(vec![want]));
    };
    check(1, 1);
    check(5, 5);
    check(7, 5);
}

#[test]
fn the_last_promise_is_that_of_the_last_turn_stat_02() {
    for did in [nothing(), failed("no answer")] {
        let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
        run.work(said(Promise::Continue)).work(did);
        assert_eq!(run.state.claims.last_promise, "");
    }
}

#[test]
fn a_phase_that_is_really_done_ends_a_row_of_false_promises() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 1), (0, 1)])));
    run.work(claimed()).work(claimed());
    assert_eq!(run.state.counters.false_promise, 2);
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (0, 1)])));
    assert_eq!(run.state.counters.false_promise, 0);
}
