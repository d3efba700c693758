//! Safety valves (LOOP-06, LOOP-09, LOOP-10, LOOP-16, VALV-01, VALV-06,
//! VALV-07, VALV-10, VALV-11, X-01, X-04).

use super::*;
use crate::usage::Usd;

const MINUTE: u64 = 60_000;

fn asking(set: impl FnOnce(&mut Limits)) -> Rules {
    limited(all_tasks(), |l| {
        l.on_limit = OnLimit::Ask;
        set(l);
    })
}

#[test]
fn the_last_iteration_runs_and_then_it_stops_loop_06_brkr_04() {
    let rules = limited(all_tasks(), |l| l.max_iterations = 2);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["run"]);
    run.work(said(Promise::Continue));
    assert_eq!(run.outcome(), paused(Limit::Iterations));
    insta::assert_snapshot!(trace(&run.last), @r#"
    iteration_complete iteration=2 subtasks_done=0 progress=["tree"] tasks={"total":9,"completed":0} duration_ms=1000
    promise_detected iteration=2 promise="CONTINUE"
    limit_reached iteration=2 reason="max_iterations"
    pause iteration=2 reason="max_iterations"
    loop_end outcome="paused" reason="max_iterations" exit_code=3 iterations=2 tasks={"total":9,"completed":0,"pending":9} duration_ms=2000 proven=[] usage={"calls":2,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":2,"uncounted_calls":2,"partial_calls":0}
    => finish paused max_iterations
    "#);
}

#[test]
fn a_list_that_the_last_iteration_finishes_is_complete() {
    let rules = limited(all_tasks(), |l| l.max_iterations = 1);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(said(Promise::Continue).tasks(list(1, 1)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn the_menu_asks_and_waits_valv_06() {
    let mut run = Script::begin(asking(|l| l.max_iterations = 1), seen(list(0, 9)));
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["ask"]);
    assert_eq!(run.told().last(), Some(&"limit_reached"));
    assert_eq!(run.state.stage, Stage::Asking(Limit::Iterations));
}

#[test]
fn answers_to_the_menu_x_04() {
    let check = |answer: MenuAnswer, acts: &[&str], outcome: Option<Outcome>| {
        let rules = asking(|l| {
            l.max_iterations = 2;
            l.extend_by = 7;
        });
        let mut run = Script::begin(rules, seen(list(0, 9)));
        run.work(said(Promise::Continue))
            .work(said(Promise::Continue));
        run.answer(answer.clone());
        assert_eq!(run.acts(), acts, "{answer:?}");
        assert_eq!(run.outcome(), outcome, "{answer:?}");
        run
    };
    let run = check(MenuAnswer::Extend, &["run"], None);
    assert_eq!(run.state.rules.limits.max_iterations, 9);
    assert_eq!(run.told()[0], "limit_extended");

    check(
        MenuAnswer::SaveAndExit,
        &["finish"],
        paused(Limit::Iterations),
    );
    check(MenuAnswer::Abandon, &["finish"], Some(Outcome::Cancelled));

    let fewer = |done, total| MenuAnswer::Simplify {
        skipped: vec!["T009".into()],
        seen: Box::new(seen(list(done, total))),
    };
    let run = check(fewer(0, 3), &["run"], None);
    assert_eq!(run.state.rules.limits.max_iterations, 9);
    check(fewer(2, 2), &["finish"], Some(Outcome::Complete));
}

#[test]
fn a_simplified_scope_lost_no_tasks_valv_12() {
    let mut run = Script::begin(asking(|l| l.max_iterations = 1), seen(list(0, 9)));
    run.work(said(Promise::Continue));
    let skipped = (4..=9).map(|n| task(n).id).collect();
    let seen = Box::new(seen(list(1, 3)));
    run.answer(MenuAnswer::Simplify { skipped, seen });
    assert!(run.state.tasks.skipped.contains("T009"));
    run.work(claimed().tasks(list(3, 3)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn an_extension_of_nothing_still_lets_one_turn_run() {
    let rules = asking(|l| {
        l.max_iterations = 1;
        l.extend_by = 0;
    });
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue)).answer(MenuAnswer::Extend);
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn an_extended_duration_lasts_as_long_again_valv_11() {
    let rules = asking(|l| l.max_duration_ms = 10 * MINUTE);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue).took(12 * MINUTE));
    assert_eq!(run.last.last(), Some(&Effect::Ask(Limit::Duration)));
    run.answer(MenuAnswer::Extend);
    assert_eq!(run.call().unwrap().timeout_ms, 10 * MINUTE);
    run.work(said(Promise::Continue).took(9 * MINUTE));
    assert_eq!(run.acts(), ["run"]);
    run.work(said(Promise::Continue).took(MINUTE));
    assert_eq!(run.acts(), ["ask"]);
}

#[test]
fn two_limits_at_once_are_asked_about_one_after_the_other() {
    let rules = asking(|l| {
        l.max_iterations = 1;
        l.max_duration_ms = MINUTE;
    });
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue).took(MINUTE));
    assert_eq!(run.last.last(), Some(&Effect::Ask(Limit::Iterations)));
    run.answer(MenuAnswer::Extend);
    assert_eq!(run.last.last(), Some(&Effect::Ask(Limit::Duration)));
    insta::assert_snapshot!(trace(&run.last), @r#"
    limit_extended iteration=1 reason="max_iterations" max_iterations=11
    limit_reached iteration=1 reason="max_duration"
    => ask about max_duration
    "#);
    run.answer(MenuAnswer::Extend);
    insta::assert_snapshot!(trace(&run.last), @r#"
    limit_extended iteration=1 reason="max_duration" max_duration_ms=120000
    iteration_start iteration=2 task="T001"
    => run turn 2 for 60000 ms
    "#);
}

#[test]
fn time_that_ran_out_during_a_wait_ends_the_run() {
    let rules = limited(all_tasks(), |l| {
        l.max_duration_ms = MINUTE;
        l.pause_between_ms = 2 * MINUTE;
    });
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue)).wake();
    assert_eq!(run.outcome(), paused(Limit::Duration));
}

/// The iterations of `max` that warn.
#[test]
fn warnings_begin_where_they_are_set_valv_07() {
    let check = |warn_at: WarnAt, max: u32, want: &[u32]| {
        let rules = limited(all_tasks(), |l| {
            l.max_iterations = max;
            l.max_duration_ms = MINUTE;
            l.warn_at = warn_at;
        });
        let mut run = Script::begin(rules, seen(list(0, 9)));
        for _ in 0..20 {
            run.work(said(Promise::Continue).took(0));
        }
        let warned: Vec<_> = notices(&run.effects)
            .filter_map(|n| match n {
                Notice::LimitNear { iteration, .. } => Some(*iteration),
                _ => None,
            })
            .collect();
        assert_eq!(warned, want, "{warn_at:?} of {max}");
    };
    check(WarnAt::Iteration(15), 20, &[15, 16, 17, 18, 19, 20]);
    check(WarnAt::Never, 20, &[]);
    check(WarnAt::Iteration(0), 20, &[]);
    check(WarnAt::Iteration(25), 20, &[]);
    check(WarnAt::Iteration(3), 0, &[]);
    check(WarnAt::Percent(75), 4, &[3, 4]);
    check(WarnAt::Percent(75), 3, &[3]);
    check(WarnAt::Percent(0), 3, &[]);
    check(WarnAt::Percent(100), 3, &[3]);
    check(WarnAt::Percent(75), 0, &[]);
}

#[test]
fn a_turn_may_take_what_is_left_loop_10_valv_11() {
    let check = |iteration: u64, duration: u64, worked: u64, want: u64| {
        let rules = limited(all_tasks(), |l| {
            l.max_iterations = 9;
            l.iteration_timeout_ms = iteration;
            l.max_duration_ms = duration;
        });
        let mut run = Script::begin(rules, seen(list(0, 9)));
        run.work(said(Promise::Continue).took(worked));
        assert_eq!(run.call().unwrap().timeout_ms, want);
    };
    check(0, 0, 10, 0);
    check(500, 0, 400, 500);
    check(0, 1000, 400, 600);
    check(500, 1000, 400, 500);
    check(500, 1000, 600, 400);
    check(500, 1000, 999, 1);
}

#[test]
fn a_pause_between_turns_but_none_before_the_first_loop_09() {
    let rules = for_tasks().with(|r| r.limits.pause_between_ms = 3000);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    assert_eq!(run.acts(), ["run"]);
    run.work(said(Promise::Continue));
    assert_eq!(run.waits(), Some((3000, WaitReason::Between)));
    run.wake();
    assert_eq!(run.call().unwrap().turn, 2);
}

#[test]
fn the_longest_reason_to_wait_decides() {
    let rules = for_tasks().with(|r| r.limits.pause_between_ms = 1500);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.turn(failed("a"));
    assert_eq!(run.waits(), Some((1500, WaitReason::Between)));
    run.wake().turn(failed("b"));
    let (ms, why) = run.waits().unwrap();
    assert!(
        (1501..=2000).contains(&ms) && why == WaitReason::Backoff,
        "{ms}"
    );
}

#[test]
fn calls_per_hour_loop_16() {
    let rules = for_tasks().with(|r| r.limits.calls_per_hour = 2);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue).took(10 * MINUTE));
    assert_eq!(run.acts(), ["run"], "the second call of this hour");
    run.work(said(Promise::Continue).took(10 * MINUTE));
    assert_eq!(run.waits(), Some((40 * MINUTE, WaitReason::Rate)));
    run.wake();
    assert_eq!(run.acts(), ["run"]);
    run.work(said(Promise::Continue).took(MINUTE));
    assert_eq!(run.waits(), Some((9 * MINUTE, WaitReason::Rate)));
    run.wake().work(said(Promise::Continue).took(120 * MINUTE));
    assert_eq!(run.acts(), ["run"], "that hour is long over");
}

#[test]
fn rules_need_a_limit_and_any_one_will_do_valv_10_x_01() {
    let check = |set: fn(&mut Limits), fine: bool| {
        let state = State::new(limited(all_tasks(), set));
        assert_eq!(state.is_ok(), fine);
    };
    check(|_| (), false);
    check(|l| l.max_iterations = 1, true);
    check(|l| l.max_duration_ms = 1, true);
    check(|l| l.stalled = 1, true);
    check(|l| l.missing_promise = 1, true);
    check(|l| l.consecutive_errors = 1, true);
    for budget in [
        Allowance {
            cost: Usd::from_dollars(1.0).unwrap(),
            tokens: 0,
        },
        Allowance {
            cost: Usd::ZERO,
            tokens: 1,
        },
    ] {
        let mut rules = limited(all_tasks(), |_| ());
        rules.budget.run = budget;
        assert!(State::new(rules).is_ok());
    }
    // These can't end every run that goes wrong.
    check(|l| l.same_error = 1, false);
    check(|l| l.false_promise = 1, false);
    check(|l| l.iteration_timeout_ms = 1, false);
    check(|l| l.calls_per_hour = 1, false);
}

#[test]
fn an_extension_beyond_all_numbers_is_no_limit_of_nearly_none() {
    let rules = asking(|l| {
        l.max_iterations = 1;
        l.extend_by = u32::MAX;
    });
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue)).answer(MenuAnswer::Extend);
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(run.state.rules.limits.max_iterations, u32::MAX);
}
