//! Time is an input: clocks that jump move no deadline (VALV-11).

use super::super::clock::Clock;
use super::*;

const HOUR: u64 = 3_600_000;

fn at(wall_ms: i64, steady_ms: u64) -> Now {
    Now { wall_ms, steady_ms }
}

#[test]
fn only_steady_time_passes() {
    let check = |name: &str, moments: &[Now], want: u64| {
        let mut clock = Clock::default();
        for &now in moments {
            clock.advance(now);
        }
        assert_eq!(clock.elapsed_ms(), want, "{name}");
        assert_eq!(clock.now(), *moments.last().unwrap(), "{name}");
    };
    check("the first moment is zero", &[at(9, 70)], 0);
    check("both go on", &[at(0, 10), at(5, 15), at(9, 19)], 9);
    check("the wall jumps ahead", &[at(0, 10), at(9_000_000, 15)], 5);
    check("the wall jumps back", &[at(9_000_000, 10), at(0, 15)], 5);
    check("the wall stands", &[at(0, 10), at(0, 99)], 89);
    check("steady stands", &[at(0, 10), at(99, 10)], 0);
    check("another boot", &[at(0, 500), at(1, 3), at(2, 8)], 5);
}

#[test]
fn time_between_two_processes_is_nobodys() {
    let mut clock = Clock::default();
    clock.advance(at(0, 100));
    clock.advance(at(0, 150));
    clock.restart(at(0, 9_000));
    clock.advance(at(0, 9_001));
    assert_eq!(clock.elapsed_ms(), 51);
}

/// A run with an hour to spend, which has worked for half of it when the
/// clocks jump, and then works for `more_ms`.
#[test]
fn the_duration_ends_by_the_steady_clock_valv_11() {
    let check = |name: &str, wall_jump: i64, steady: u64, more_ms: u64, ends: bool| {
        let rules = limited(all_tasks(), |l| l.max_duration_ms = HOUR);
        let mut run = Script::begin(rules, seen(list(0, 9)));
        run.work(said(Promise::Continue).took(HOUR / 2));
        run.now.wall_ms += wall_jump;
        run.now.steady_ms = steady.min(run.now.steady_ms);
        run.work(said(Promise::Continue).took(more_ms));
        let want = ends.then(|| paused(Limit::Duration)).flatten();
        assert_eq!(run.outcome(), want, "{name}");
    };
    let same = u64::MAX;
    let day = 24 * HOUR as i64;
    check("one millisecond is left", 0, same, HOUR / 2 - 1, false);
    check("used up", 0, same, HOUR / 2, true);
    check("the wall a day ahead", day, same, HOUR / 2 - 1, false);
    check("the wall a day back", -day, same, HOUR / 2 - 1, false);
    check("the wall a day back, used up", -day, same, HOUR / 2, true);
    check(
        "steady from zero: half an hour is lost",
        0,
        0,
        HOUR / 2,
        false,
    );
}

#[test]
fn a_resumed_run_keeps_what_it_had_spent_and_adds_no_absence() {
    let rules = limited(all_tasks(), |l| l.max_duration_ms = HOUR);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue).took(HOUR / 2));
    run.request(Request::Pause)
        .work(said(Promise::Continue).took(0));
    run.pass(48 * HOUR).resume();
    assert_eq!(run.state.elapsed_ms(), HOUR / 2);
    assert_eq!(run.call().unwrap().timeout_ms, HOUR / 2);
}

/// A turn of ten minutes during which the laptop was closed for `asleep_ms`:
/// the steady clock counts that, the agent's own time does not.
#[test]
fn the_duration_holds_over_a_suspended_machine() {
    let check = |name: &str, max: u64, asleep_ms: u64, wall_jump: i64, ends: bool| {
        let rules = limited(all_tasks(), |l| {
            l.max_duration_ms = max;
            l.max_iterations = 9;
        });
        let mut run = Script::begin(rules, seen(list(0, 9)));
        run.pass(asleep_ms);
        run.now.wall_ms += wall_jump;
        run.work(said(Promise::Continue).took(HOUR / 6));
        let want = ends.then(|| paused(Limit::Duration)).flatten();
        assert_eq!(run.outcome(), want, "{name}");
        assert_eq!(run.state.elapsed_ms(), asleep_ms + HOUR / 6, "{name}");
    };
    let day = 24 * HOUR as i64;
    check("awake", HOUR, 0, 0, false);
    check("a nap", HOUR, HOUR / 2, 0, false);
    check("a night", HOUR, 8 * HOUR, 0, true);
    check("a night, no limit", 0, 8 * HOUR, 0, false);
    check("a nap and a jump ahead", HOUR, HOUR / 2, day, false);
    check("a nap and a jump back", HOUR, HOUR / 2, -day, false);
    check("a night and a jump back", HOUR, 8 * HOUR, -day, true);
}

/// A pause of our own rate limit is over once an hour has passed, asleep or
/// awake, whatever the wall says.
#[test]
fn a_wait_holds_over_a_suspended_machine() {
    let check = |name: &str, asleep_ms: u64, wall_jump: i64, waits_ms: Option<u64>| {
        let rules = for_tasks().with(|r| r.limits.calls_per_hour = 1);
        let mut run = Script::begin(rules, seen(list(0, 9)));
        run.pass(asleep_ms);
        run.now.wall_ms += wall_jump;
        run.work(said(Promise::Continue).took(HOUR / 6));
        assert_eq!(run.waits().map(|w| w.0), waits_ms, "{name}");
    };
    let day = 24 * HOUR as i64;
    check("awake", 0, 0, Some(HOUR / 6 * 5));
    check("a nap", HOUR / 3, 0, Some(HOUR / 2));
    check("a night", 8 * HOUR, 0, None);
    check("the wall a day ahead", 0, day, Some(HOUR / 6 * 5));
    check("the wall a day back", 0, -day, Some(HOUR / 6 * 5));
}

#[test]
fn a_frozen_run_spends_nothing() {
    let rules = limited(all_tasks(), |l| l.max_duration_ms = HOUR);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.pass(HOUR / 4).feed(Kind::Frozen);
    assert_eq!(run.acts(), ["freeze"]);
    run.pass(48 * HOUR).feed(Kind::Thawed);
    assert_eq!(run.acts(), [""; 0]);
    run.work(said(Promise::Continue).took(HOUR / 4));
    assert_eq!(run.state.elapsed_ms(), HOUR / 2);
    assert_eq!(run.call().unwrap().timeout_ms, HOUR / 2);
    assert_eq!(run.call().unwrap().left_ms, HOUR / 2);
}

#[test]
fn a_run_that_died_frozen_is_taken_up() {
    let rules = limited(all_tasks(), |l| l.max_duration_ms = HOUR);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.pass(HOUR / 4).feed(Kind::Frozen);
    run.pass(48 * HOUR).resume();
    assert_eq!(run.state.elapsed_ms(), HOUR / 4);
    assert_eq!(run.acts(), ["run"]);
}

/// What the run's own time cut off is nobody's failure: it ends for the time.
#[test]
fn a_turn_that_the_whole_duration_ends_is_no_error() {
    let check = |took: u64, timeout: u64, outcome: Option<Outcome>, errors: u32| {
        let rules = limited(all_tasks(), |l| {
            l.max_duration_ms = HOUR;
            l.iteration_timeout_ms = timeout;
            l.consecutive_errors = 1;
        });
        let mut run = Script::begin(rules, seen(list(0, 9)));
        run.turn(ended(End::TimedOut).took(took));
        assert_eq!(run.outcome(), outcome);
        assert_eq!(run.state.counters.errors, errors);
        assert_eq!(run.state.counters.stalled, errors);
    };
    check(HOUR, 0, paused(Limit::Duration), 0);
    check(HOUR / 2, HOUR / 2, Some(Outcome::Errors), 1);
}
