//! The circuit breaker: separate rules, counters and messages (BRKR-01,
//! BRKR-02, BRKR-05; issue 2, point 4).

use super::*;

#[test]
fn five_turns_without_progress_brkr_01() {
    let mut run = Script::begin(for_tasks(), seen(list(1, 3)));
    for _ in 0..4 {
        run.turn(said(Promise::Continue));
        assert_eq!(run.outcome(), None);
    }
    run.turn(said(Promise::Continue));
    assert_eq!(run.outcome(), broken(BreakerRule::Stalled));
    insta::assert_snapshot!(trace(&run.last), @r#"
    iteration_complete iteration=5 subtasks_done=0 progress=[] tasks={"total":3,"completed":1} duration_ms=1000
    stalled iteration=5 count=5
    promise_detected iteration=5 promise="CONTINUE"
    breaker_open iteration=5 reason="stalled" count=5 evidence=["iterations 1 to 5","tasks: 1/3","no commit with new content, and no content that was not seen before"]
    loop_end outcome="circuit_break" reason="stalled" exit_code=5 iterations=5 tasks={"total":3,"completed":1,"pending":2} duration_ms=5000 proven=[] usage={"calls":5,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":5,"uncounted_calls":5,"partial_calls":0}
    => finish circuit_break stalled
    "#);
}

/// It never says that something was not there which nobody looked for.
#[test]
fn the_breaker_names_only_what_it_looked_at_brkr_03() {
    for (commit, tree, want) in [
        (true, true, Some(Sign::NothingNew)),
        (true, false, Some(Sign::NoCommit)),
        (false, true, Some(Sign::NoContent)),
        (false, false, None),
    ] {
        let mut rules = for_tasks();
        rules.evidence.commit = commit;
        rules.evidence.tree = tree;
        let mut run = Script::begin(rules, seen(list(1, 3)));
        for _ in 0..5 {
            run.turn(said(Promise::Continue));
        }
        let signs = run.last.iter().find_map(|effect| match effect {
            Effect::Emit(Notice::BreakerOpen { signs, .. }) => Some(signs.clone()),
            _ => None,
        });
        let first = [
            Sign::Iterations { from: 1, to: 5 },
            Sign::Tasks {
                completed: 1,
                total: 3,
            },
        ];
        let want: Vec<Sign> = first.into_iter().chain(want).collect();
        assert_eq!(signs, Some(want));
    }
}

#[test]
fn five_turns_without_a_promise_brkr_02() {
    let mut run = Script::begin(for_tasks(), seen(list(1, 3)));
    for _ in 0..5 {
        assert_eq!(run.outcome(), None);
        run.work(nothing());
    }
    assert_eq!(run.outcome(), broken(BreakerRule::MissingPromise));
    insta::assert_snapshot!(trace(&run.last), @r#"
    iteration_complete iteration=5 subtasks_done=0 progress=["tree"] tasks={"total":3,"completed":1} duration_ms=1000
    promise_missing iteration=5 count=5
    breaker_open iteration=5 reason="missing_promise" count=5 evidence=["iterations 1 to 5"]
    loop_end outcome="circuit_break" reason="missing_promise" exit_code=5 iterations=5 tasks={"total":3,"completed":1,"pending":2} duration_ms=5000 proven=[] usage={"calls":5,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":5,"uncounted_calls":5,"partial_calls":0}
    => finish circuit_break missing_promise
    "#);
}

#[test]
fn rules_that_are_switched_off_never_open() {
    for did in [
        nothing(),
        said(Promise::Continue),
        claimed(),
        failed("same"),
    ] {
        let rules = limited(all_tasks(), |l| l.max_iterations = 20);
        let mut run = Script::begin(rules, seen(list(0, 2)));
        for _ in 0..20 {
            run.turn(did.clone());
        }
        assert_eq!(run.outcome(), paused(Limit::Iterations), "{did:?}");
    }
}

#[test]
fn a_finished_list_comes_before_the_breaker() {
    let rules = for_tasks().with(|r| r.limits.missing_promise = 1);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.turn(nothing().tasks(list(1, 1)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn errors_come_before_the_breaker() {
    let rules = for_tasks().with(|r| {
        r.limits.consecutive_errors = 1;
        r.limits.stalled = 1;
        r.limits.same_error = 1;
    });
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.turn(failed("a"));
    assert_eq!(run.outcome(), Some(Outcome::Errors));
}

#[test]
fn the_breaker_comes_before_the_limit() {
    let rules = for_tasks().with(|r| {
        r.limits.max_iterations = 1;
        r.limits.stalled = 1;
    });
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.turn(said(Promise::Continue));
    assert_eq!(run.outcome(), broken(BreakerRule::Stalled));
}

#[test]
fn a_turn_that_was_stopped_or_lost_is_no_stall() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.turn(ended(End::Lost));
    assert_eq!(run.state.counters.stalled, 0);
}

fn cooling() -> Rules {
    for_tasks().with(|r| {
        r.limits.stalled = 2;
        r.limits.cooldown_ms = 30 * 60 * 1000;
    })
}

fn breaker(run: &Script) -> String {
    let status = run.state.status("", "");
    status["breaker"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_turn_that_went_well_after_the_cooldown_closes_it_brkr_06() {
    let mut run = Script::begin(cooling(), seen(list(1, 3)));
    run.turn(said(Promise::Continue));
    run.turn(said(Promise::Continue));
    assert_eq!(
        run.waits(),
        Some((30 * 60 * 1000, WaitReason::Cooldown)),
        "{:?}",
        run.told()
    );
    assert!(run.told().contains(&"breaker_open"));
    assert_eq!(breaker(&run), "open");
    run.wake();
    assert_eq!(
        (run.acts(), breaker(&run)),
        (vec!["run"], "half_open".into())
    );
    run.work(said(Promise::Continue));
    assert!(run.told().contains(&"breaker_closed"), "{:?}", run.told());
    assert_eq!((run.outcome(), breaker(&run)), (None, "closed".into()));
    // It is as strict as before.
    run.turn(said(Promise::Continue));
    run.turn(said(Promise::Continue));
    assert_eq!(run.waits().map(|(_, why)| why), Some(WaitReason::Cooldown));
}

#[test]
fn a_turn_that_shows_nothing_after_the_cooldown_ends_the_run_brkr_06() {
    let mut run = Script::begin(cooling(), seen(list(1, 3)));
    run.turn(said(Promise::Continue));
    run.turn(said(Promise::Continue));
    run.wake();
    run.turn(said(Promise::Continue));
    assert_eq!(run.outcome(), broken(BreakerRule::Stalled));
    assert_eq!(breaker(&run), "open");
    // Whoever resumes it begins with a closed one (BRKR-09).
    run.resume();
    assert_eq!(breaker(&run), "closed");
}
