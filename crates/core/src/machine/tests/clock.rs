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
