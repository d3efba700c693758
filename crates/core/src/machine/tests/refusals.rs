//! Limits and outages of the agent's service, the chain of agents, budgets
//! (issue 4; ERRC-06, ERRC-07, VALV-11).

use super::*;

const MINUTE: u64 = 60_000;

fn usage(resets_in_ms: Option<i64>, run: &Script) -> Refusal {
    Refusal::Usage {
        resets_at: resets_in_ms.map(|ms| run.now.wall_ms + 1000 + ms),
    }
}

fn overload(retry_after_ms: Option<u64>) -> Refusal {
    Refusal::Overload { retry_after_ms }
}

fn refused(refusal: Refusal) -> Did {
    failed("429").refused(refusal)
}

fn chain(names: &[&str]) -> Rules {
    for_tasks().with(|r| r.agents = names.iter().map(|n| (*n).to_owned()).collect())
}

fn begin(rules: Rules) -> Script {
    Script::begin(rules, seen(list(0, 2)))
}

fn needs(need: Need) -> Option<Outcome> {
    Some(Outcome::Paused {
        reason: PauseReason::Agent(need),
    })
}

#[test]
fn a_limit_is_waited_out_to_the_minute_and_the_turn_is_not_counted() {
    let mut run = begin(for_tasks().with(|r| r.limits.max_iterations = 1));
    let limit = usage(Some(133 * MINUTE as i64), &run);
    run.turn(refused(limit));
    assert_eq!(run.waits(), Some((133 * MINUTE, WaitReason::Limit)));
    assert_eq!(run.told(), ["agent_refused", "wait"]);
    let resets = run.now.wall_ms + 133 * MINUTE as i64;
    assert_eq!(run.state.limit_resets_at(), Some(resets));
    assert_eq!((run.state.turn.number, run.state.counted_turns()), (1, 0));
    assert_eq!(run.state.counters, Counters::default());

    run.wake();
    let call = run.call().unwrap();
    assert_eq!((call.turn, call.attempt), (1, 2));
    assert_eq!(
        run.told(),
        ["iteration_retry", "limit_near", "iteration_start"]
    );
    assert_eq!(run.state.counted_turns(), 1);
}

#[test]
fn without_a_reset_time_it_asks_less_and_less_often() {
    for (refusal, why, minutes) in [
        (
            Refusal::Usage { resets_at: None },
            WaitReason::Limit,
            [5, 10, 20, 40, 60, 60],
        ),
        // A reset that is over says nothing.
        (
            Refusal::Usage { resets_at: Some(0) },
            WaitReason::Limit,
            [5, 10, 20, 40, 60, 60],
        ),
        (overload(None), WaitReason::Overload, [1, 2, 4, 8, 16, 30]),
    ] {
        let mut run = begin(for_tasks());
        for wait in minutes {
            run.turn(refused(refusal));
            assert_eq!(run.waits(), Some((wait * MINUTE, why)));
            assert_eq!(run.state.limit_resets_at(), None);
            run.wake();
        }
        // A call that is answered ends the row.
        run.work(nothing());
        run.turn(refused(refusal));
        assert_eq!(run.waits(), Some((minutes[0] * MINUTE, why)));
    }
}

#[test]
fn an_overloaded_service_is_given_the_time_that_it_asks_for() {
    let mut run = begin(for_tasks());
    run.turn(refused(overload(Some(7_000))));
    assert_eq!(run.waits(), Some((7_000, WaitReason::Overload)));
}

#[test]
fn a_service_that_keeps_asking_for_a_moment_is_asked_less_and_less_often_errc_06() {
    let mut run = begin(for_tasks());
    for (asked, waits) in [
        (7_000, 7_000),
        (7_000, MINUTE),
        (7_000, 2 * MINUTE),
        (10 * MINUTE, 10 * MINUTE),
        (7_000, 8 * MINUTE),
        (7_000, 16 * MINUTE),
        (7_000, 30 * MINUTE),
        (60 * MINUTE, 60 * MINUTE),
    ] {
        run.turn(refused(overload(Some(asked))));
        assert_eq!(run.waits(), Some((waits, WaitReason::Overload)));
        run.wake();
    }
}

#[test]
fn what_takes_a_person_pauses_and_says_what_to_do() {
    for need in [
        Need::Spend,
        Need::Admin,
        Need::Login,
        Need::Plan,
        Need::Request,
    ] {
        let mut run = begin(for_tasks());
        run.turn(refused(Refusal::Person(need)));
        assert_eq!(run.outcome(), needs(need));
        // Once somebody saw to it, the same turn is made.
        run.resume();
        let call = run.call().unwrap();
        assert_eq!((call.turn, call.attempt), (1, 2));
    }
}

/// ERRC-05: what would be refused again just so is not tried again, unless the
/// session had worked before.
#[test]
fn an_invalid_request_ends_the_run_only_where_it_came_first_errc_05() {
    let invalid = || refused(Refusal::Person(Need::Request));
    let mut run = begin(for_tasks());
    run.turn(invalid().tree("new"));
    assert_eq!(run.outcome(), None);
    assert_eq!(run.state.counters.errors, 1);
    run.wake().turn(invalid());
    assert_eq!(run.outcome(), needs(Need::Request));
}

#[test]
fn a_reset_that_is_too_far_away_pauses() {
    let rules = for_tasks().with(|r| r.limits.max_wait_ms = 60 * MINUTE);
    let mut run = begin(rules.clone());
    run.turn(refused(usage(Some(61 * MINUTE as i64), &run)));
    assert_eq!(run.outcome(), needs(Need::LongWait));
    let resets = run.now.wall_ms + 61 * MINUTE as i64;
    assert_eq!(run.state.paused_until(), Some(resets));
    run.resume();
    assert_eq!(run.state.paused_until(), None);
    assert_eq!(run.call().unwrap().attempt, 2);

    let mut run = begin(rules);
    run.turn(refused(usage(Some(60 * MINUTE as i64), &run)));
    assert_eq!(run.waits(), Some((60 * MINUTE, WaitReason::Limit)));
}

#[test]
fn a_restart_in_the_middle_of_the_wait_waits_for_the_rest() {
    let mut run = begin(for_tasks());
    run.turn(refused(usage(Some(60 * MINUTE as i64), &run)));
    run.pass(20 * MINUTE).resume();
    assert_eq!(run.waits(), Some((40 * MINUTE, WaitReason::Limit)));
    // The machine slept, and the limit is long over.
    run.pass(500 * MINUTE).resume();
    assert_eq!(run.call().unwrap().attempt, 2);
}

#[test]
fn the_wall_clock_decides_when_a_limit_is_over() {
    // Woken early, or the clock was set back: it waits on.
    let mut run = begin(for_tasks());
    run.turn(refused(usage(Some(60 * MINUTE as i64), &run)));
    let seen = run.world.clone();
    run.pass(10 * MINUTE)
        .feed(Kind::Woke { seen: seen.clone() });
    assert_eq!(run.waits(), Some((50 * MINUTE, WaitReason::Limit)));
    // Suspended: the steady clock stood still, the wall clock did not.
    run.now.wall_ms += 50 * MINUTE as i64;
    run.feed(Kind::Woke { seen });
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn a_person_can_wake_it() {
    let mut run = begin(for_tasks());
    run.turn(refused(usage(Some(60 * MINUTE as i64), &run)));
    assert_eq!(
        run.state.held_until(),
        Some(run.now.wall_ms + 60 * MINUTE as i64)
    );
    let seen = run.world.clone();
    run.feed(Kind::Nudged { seen: seen.clone() });
    assert_eq!(run.call().unwrap().attempt, 2);
    // While a turn runs there is nobody to wake.
    run.feed(Kind::Nudged { seen });
    assert_eq!(run.last, []);
}

#[test]
fn somebody_who_wants_out_gets_out_of_a_wait() {
    let mut run = begin(for_tasks());
    run.turn(refused(usage(None, &run)));
    run.request(Request::Pause);
    assert_eq!(
        run.outcome(),
        Some(Outcome::Paused {
            reason: PauseReason::Requested
        })
    );
}

#[test]
fn what_the_agent_had_to_know_is_told_again() {
    let mut run = begin(for_tasks());
    run.work(claimed());
    let notes = run.notes().to_vec();
    assert!(matches!(notes[0], PromptNote::PromiseRejected { .. }));
    run.turn(refused(usage(Some(1000), &run))).wake();
    assert_eq!(run.notes(), notes);
    // The engine dies while the turn runs.
    run.resume();
    assert_eq!(run.notes(), notes);
}

#[test]
fn work_that_was_done_before_the_limit_counts() {
    let mut run = begin(for_tasks());
    run.turn(refused(usage(None, &run)).tasks(list(2, 2)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_turn_that_went_well_is_not_refused() {
    let mut run = begin(for_tasks());
    run.turn(
        claimed()
            .tasks(list(2, 2))
            .refused(Refusal::Person(Need::Login)),
    );
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn the_next_agent_takes_the_turn_and_the_first_comes_back() {
    let mut run = begin(chain(&["claude", "codex"]));
    assert_eq!(run.call().unwrap().agent, 0);
    let limit = usage(Some(10 * MINUTE as i64), &run);
    run.turn(refused(limit));
    let call = run.call().unwrap();
    assert_eq!((call.turn, call.attempt, call.agent), (1, 2, 1));
    assert_eq!(
        run.told(),
        [
            "agent_refused", "iteration_retry", "agent_switched", "iteration_start"
        ]
    );
    // It stays while the first choice is held back …
    run.work(nothing().took(9 * MINUTE));
    assert_eq!(run.call().unwrap().agent, 1);
    // … and no longer.
    run.work(nothing().took(MINUTE));
    assert_eq!(run.call().unwrap().agent, 0);
    assert_eq!(run.told().last(), Some(&"iteration_start"));
}

#[test]
fn the_soonest_of_all_agents_is_waited_for() {
    let mut run = begin(chain(&["claude", "codex", "gemini"]));
    run.turn(refused(usage(Some(60 * MINUTE as i64), &run)));
    run.turn(refused(Refusal::Person(Need::Login)));
    run.turn(refused(overload(Some(5 * MINUTE))));
    assert_eq!(run.waits(), Some((5 * MINUTE, WaitReason::Overload)));
    run.wake();
    assert_eq!(run.call().unwrap().agent, 2);

    let mut run = begin(chain(&["claude", "codex"]));
    run.turn(refused(Refusal::Person(Need::Spend)));
    run.turn(refused(Refusal::Person(Need::Login)));
    assert_eq!(run.outcome(), needs(Need::Spend));
}

// ---- budgets ------------------------------------------------------------------

fn with_budget(micro_usd: u64, tokens: u64) -> Rules {
    for_tasks().with(|r| {
        r.budget.run = Allowance {
            cost: Usd::from_micros(micro_usd),
            tokens,
        }
    })
}

fn budget(limit: &str) -> Option<Outcome> {
    Some(Outcome::Budget {
        limit: limit.into(),
    })
}

#[test]
fn a_budget_ends_the_run() {
    let mut run = begin(with_budget(1000, 0));
    run.work(nothing().spent(Some(999), Some(5)));
    assert_eq!(run.call().unwrap().allowance.cost, Usd::from_micros(1));
    run.work(nothing().spent(Some(1), None));
    assert_eq!(run.outcome(), budget("max_cost"));

    let mut run = begin(with_budget(0, 1000));
    run.work(nothing().spent(None, Some(1001)));
    assert_eq!(run.outcome(), budget("max_tokens"));
}

#[test]
fn complete_work_is_complete_whatever_it_cost() {
    let mut run = begin(with_budget(10, 0));
    run.turn(claimed().tasks(list(2, 2)).spent(Some(99), None));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_spent_budget_stays_spent_until_a_person_allows_more() {
    let mut run = begin(with_budget(1000, 0));
    run.work(nothing().spent(Some(1000), None));
    run.resume();
    assert_eq!(run.outcome(), budget("max_cost"));
    let (seen, more) = (run.world.clone(), with_budget(3000, 0).budget);
    run.feed(Kind::Resumed {
        seen,
        budget: Some(more),
        rules: None,
    });
    assert_eq!(run.call().unwrap().allowance.cost, Usd::from_micros(2000));
}

#[test]
fn unknown_is_not_zero() {
    let mut run = begin(for_tasks());
    run.work(nothing());
    assert_eq!(run.state.agents.bill.known_cost(), None);
    assert_eq!(run.state.agents.bill.known_tokens(), None);
    run.work(nothing().spent(Some(0), Some(7)));
    assert_eq!(run.state.agents.bill.known_cost(), Some(Usd::ZERO));
    assert_eq!(run.state.agents.bill.unpriced, 1);
    // A program that never started used nothing.
    run.turn(ended(End::SpawnFailed { missing: false }));
    assert_eq!(run.state.agents.bill.calls, 2);
}

#[test]
fn the_tighter_of_turn_and_run_bounds_the_call() {
    for (run_left, turn, want) in [(0, 0, 0), (0, 5, 5), (9, 0, 9), (9, 5, 5), (4, 5, 4)] {
        let mut rules = with_budget(run_left, run_left);
        rules.budget.turn = Allowance {
            cost: Usd::from_micros(turn),
            tokens: turn,
        };
        let run = begin(rules);
        let allowed = run.call().unwrap().allowance;
        assert_eq!(
            (allowed.cost, allowed.tokens),
            (Usd::from_micros(want), want)
        );
    }
}

/// VALV-11: nobody knows what a call used that died with its run.
#[test]
fn a_call_that_died_with_its_run_is_on_the_bill() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    assert_eq!(run.state.agents.bill.calls, 0);
    run.resume();
    let bill = run.state.agents.bill;
    assert_eq!((bill.calls, bill.uncounted, bill.unpriced), (1, 1, 1));
    assert!(bill.cost_is_partial());
}

#[test]
fn a_turn_that_was_cut_for_its_budget_is_judged_by_what_it_left() {
    let mut run = begin(for_tasks());
    run.work(ended(End::OverBudget).tasks(list(1, 2)));
    assert_eq!(run.told()[0], "over_budget");
    assert_eq!(run.state.counters, Counters::default());
    assert_eq!(run.acts(), ["run"]);
}
