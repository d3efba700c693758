//! Verification by commands that Ralph runs itself (PROM-11, GATE; issue 2).

use super::*;

fn verified(goal: Goal, when: VerifyWhen) -> Rules {
    Rules::new(goal).with(|r| r.verify = Some(when))
}

#[test]
fn a_prompt_is_complete_when_its_verification_passes() {
    let rules = verified(Goal::Prompt, VerifyWhen::Complete);
    let mut run = Script::begin(rules, no_task_file());
    run.work(nothing());
    assert_eq!(run.acts(), ["run"], "nothing was claimed");
    run.work(claimed());
    assert_eq!(run.acts(), ["verify"]);
    run.verified(failing("1 failed"));
    assert_eq!(run.acts(), ["run"]);
    run.work(claimed()).verified(passing());
    insta::assert_snapshot!(run.trace(), @r#"
    loop_start tasks={"total":0,"completed":0,"pending":0}
    iteration_start iteration=1
    => run turn 1 for 1800000 ms
    iteration_complete iteration=1 subtasks_done=0 progress=["tree"] tasks={"total":0,"completed":0} duration_ms=1000
    promise_missing iteration=1 count=1
    iteration_start iteration=2
    => run turn 2 for 1800000 ms
         NoPromise
    iteration_complete iteration=2 subtasks_done=0 progress=["tree"] tasks={"total":0,"completed":0} duration_ms=1000
    promise_detected iteration=2 promise="COMPLETE"
    gate_start iteration=2
    => verify turn 2
    gate_result iteration=2 passed=false commands=[{"command":"npm test","exit":1,"duration_ms":70}]
    promise_rejected iteration=2 reason="`npm test` does not pass" promise="COMPLETE" missing=["`npm test` does not pass"]
    iteration_start iteration=3
    => run turn 3 for 1800000 ms
         VerifyFailed { command: "npm test", output: "1 failed" }
         PromiseRejected { claim: "COMPLETE", missing: ["`npm test` does not pass"] }
    iteration_complete iteration=3 subtasks_done=0 progress=["tree"] tasks={"total":0,"completed":0} duration_ms=1000
    promise_detected iteration=3 promise="COMPLETE"
    gate_start iteration=3
    => verify turn 3
    gate_result iteration=3 passed=true commands=[{"command":"npm test","exit":0,"duration_ms":70}]
    task_complete iteration=3
    loop_end outcome="complete" exit_code=0 iterations=3 tasks={"total":0,"completed":0,"pending":0} duration_ms=3200 proven=[{"kind":"command","command":"npm test","exit":0,"duration_ms":70}] usage={"calls":3,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":3,"uncounted_calls":3,"partial_calls":0}
    => finish complete
    "#);
}

#[test]
fn a_prompt_without_verification_ends_unproven() {
    let mut run = Script::begin(for_prompt(), no_task_file());
    run.work(claimed());
    let reason = PauseReason::Unproven;
    assert_eq!(run.outcome(), Some(Outcome::Paused { reason }));
    assert_eq!(run.outcome().unwrap().exit_code(), 3);
}

#[test]
fn a_pass_completes_no_prompt_that_nobody_claims_is_done() {
    let rules = verified(Goal::Prompt, VerifyWhen::Each);
    let mut run = Script::begin(rules, no_task_file());
    for did in [nothing(), said(Promise::Continue)] {
        run.work(did).verified(passing());
        assert_eq!(run.acts(), ["run"]);
    }
}

#[test]
fn verification_runs_after_each_turn_or_when_the_work_looks_complete() {
    let check = |when: VerifyWhen, did: Did, want: &str| {
        let mut run = Script::begin(verified(all_tasks(), when), seen(list(0, 2)));
        run.work(did.clone());
        assert_eq!(run.acts(), [want], "{when:?} {did:?}");
    };
    for when in [VerifyWhen::Each, VerifyWhen::Complete] {
        check(when, claimed().tasks(list(2, 2)), "verify");
        check(when, nothing().tasks(list(2, 2)), "verify");
        check(when, said(Promise::Blocked(String::new())), "finish");
        check(when, claimed(), "run");
    }
    check(VerifyWhen::Each, nothing(), "verify");
    check(VerifyWhen::Each, said(Promise::Continue), "verify");
    check(VerifyWhen::Complete, nothing(), "run");
    check(VerifyWhen::Complete, said(Promise::Continue), "run");
}

#[test]
fn a_pass_with_open_tasks_only_goes_on() {
    let rules = verified(all_tasks(), VerifyWhen::Each);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::Continue)).verified(passing());
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(run.notes(), []);
}

#[test]
fn a_finished_list_at_the_start_is_verified_without_a_turn_loop_05() {
    let rules = verified(all_tasks(), VerifyWhen::Complete);
    let mut run = Script::begin(rules, seen(list(2, 2)));
    assert_eq!(run.acts(), ["verify"]);
    let mut repaired = run.clone();
    run.verified(passing());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    repaired.verified(failing("broken"));
    assert_eq!(repaired.call().unwrap().turn, 1);
}

#[test]
fn the_failing_command_and_its_output_go_into_the_next_prompt() {
    let rules = verified(all_tasks(), VerifyWhen::Each);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::Continue)).verified(vec![
        ran("cargo check", Some(0), "fine"),
        ran("cargo test", None, "killed"),
        ran("cargo doc", Some(1), "later"),
    ]);
    assert_eq!(
        run.notes(),
        [PromptNote::VerifyFailed {
            command: "cargo test".into(),
            output: "killed".into(),
        }]
    );
}

#[test]
fn claims_that_verification_refutes_fail_the_gate() {
    let rules = verified(all_tasks(), VerifyWhen::Complete).with(|r| r.limits.false_promise = 2);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1))).verified(failing("a"));
    assert_eq!(run.outcome(), None);
    run.work(claimed()).verified(failing("b"));
    let reason = "npm test".into();
    assert_eq!(run.outcome(), Some(Outcome::GateFailed { reason }));
    insta::assert_snapshot!(trace(&run.last), @r#"
    gate_result iteration=2 passed=false commands=[{"command":"npm test","exit":1,"duration_ms":70}]
    promise_rejected iteration=2 reason="`npm test` does not pass" promise="COMPLETE" missing=["`npm test` does not pass"]
    loop_end outcome="gate_failed" reason="npm test" exit_code=7 iterations=2 tasks={"total":1,"completed":1,"pending":0} duration_ms=2200 proven=[] usage={"calls":2,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":2,"uncounted_calls":2,"partial_calls":0}
    => finish gate_failed npm test
    "#);
}

#[test]
fn a_failing_verification_that_nobody_claimed_is_no_false_promise() {
    let rules = verified(all_tasks(), VerifyWhen::Complete).with(|r| r.limits.false_promise = 1);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(nothing().tasks(list(1, 1))).verified(failing("a"));
    assert_eq!(run.acts(), ["run"]);
    assert!(!run.told().contains(&"promise_rejected"));
}

#[test]
fn the_same_failing_output_opens_the_breaker_brkr_07() {
    let rules = verified(all_tasks(), VerifyWhen::Each).with(|r| r.limits.same_error = 3);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(said(Promise::Continue))
        .verified(failing("1 of 9 FAILED in 0.31 s"));
    run.work(said(Promise::Continue))
        .verified(failing("1 of 9 failed  in 0.29 s"));
    assert_eq!(run.outcome(), None);
    run.work(said(Promise::Continue))
        .verified(failing("1 of 12 failed in 2.5 s\n"));
    assert_eq!(run.outcome(), broken(BreakerRule::SameError));
    insta::assert_snapshot!(trace(&run.last), @r#"
    gate_result iteration=3 passed=false commands=[{"command":"npm test","exit":1,"duration_ms":70}]
    breaker_open iteration=3 reason="same_error" count=3 evidence=["npm test: 1 of 12 failed in 2.5 s\n"]
    loop_end outcome="circuit_break" reason="same_error" exit_code=5 iterations=3 tasks={"total":1,"completed":0,"pending":1} duration_ms=3300 proven=[] usage={"calls":3,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":3,"uncounted_calls":3,"partial_calls":0}
    => finish circuit_break same_error
    "#);
}

#[test]
fn another_output_or_a_pass_starts_that_count_afresh_brkr_07() {
    let rules = verified(all_tasks(), VerifyWhen::Each).with(|r| r.limits.same_error = 2);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    for results in [
        failing("a"),
        failing("b"),
        failing("a"),
        passing(),
        failing("a"),
    ] {
        run.work(said(Promise::Continue)).verified(results);
    }
    assert_eq!(run.outcome(), None);
}

#[test]
fn what_passed_is_named_as_proven() {
    let rules = verified(all_tasks(), VerifyWhen::Complete);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1))).verified(passing());
    assert_eq!(
        run.state.evidence.proven,
        [
            Proof::Tasks {
                completed: 1,
                total: 1
            },
            Proof::Command {
                command: "npm test".into(),
                duration_ms: 70
            },
        ]
    );
}

#[test]
fn a_verification_in_which_nothing_ran_is_no_pass() {
    let rules = verified(all_tasks(), VerifyWhen::Complete);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1))).verified(vec![]);
    assert_eq!(run.acts(), ["run"]);
    assert!(run.told().contains(&"promise_rejected"));
}

/// The agent has to get a chance to repair before the checks run again.
#[test]
fn a_failed_verification_is_repeated_only_after_a_turn() {
    let rules =
        verified(all_tasks(), VerifyWhen::Complete).with(|r| r.limits.pause_between_ms = 1000);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1))).verified(failing("x"));
    assert_eq!(run.acts(), ["wait"]);
    run.wake();
    assert_eq!(run.acts(), ["run"]);
    run.turn(failed("overloaded"));
    assert_eq!(run.acts(), ["verify"]);
    run.verified(failing("y")).wake();
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn a_pass_proves_only_the_work_that_it_judged() {
    let rules = verified(all_tasks(), VerifyWhen::Each);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::Continue)).verified(passing());
    run.request(Request::Pause);
    run.work(said(Promise::Continue))
        .verified(failing("broken since"));
    assert_eq!(run.outcome().unwrap().into_str(), "paused");
    assert_eq!(run.state.evidence.proven, []);
}
