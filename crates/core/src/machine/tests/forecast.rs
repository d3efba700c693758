//! Forecasts against the truth: generated runs, replayed event by event
//! (issue 23, point 6).

use super::*;

/// A small generator, so that every machine replays the same runs.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64) / f64::from(1u32 << 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() * n as f64) as u64
    }

    /// Around one, now and then far above: as turns are.
    fn long_tailed(&mut self, spread: f64) -> f64 {
        let sum: f64 = (0..6).map(|_| self.next()).sum::<f64>() - 3.0;
        (sum * spread).exp()
    }
}

/// What became of one run: when it ended, and what was foretold on the way.
struct Told {
    end_ms: u64,
    cost: f64,
    said: Vec<Said>,
}

/// Elapsed time, range of the end, range of the whole cost.
type Said = (u64, (u64, u64), (f64, f64));

/// A run over some tasks: turns of uneven length, some that finish nothing,
/// some that finish two tasks, waits between them, work that gets harder.
fn play(seed: u64) -> Told {
    let mut dice = Dice(seed);
    let total = 6 + dice.below(40) as usize;
    let mean = 20_000.0 + dice.next() * 400_000.0;
    let spread = 0.2 + dice.next() * 0.6;
    let fails = dice.next() * 0.35;
    let pairs = dice.next() * 0.2;
    let drift = 1.0 + dice.next() * 0.6;
    let rules = limited(all_tasks(), |l| l.max_iterations = 10_000);
    let mut run = Script::begin(rules, seen(list(0, total)));
    let (mut done, mut said) = (0, Vec::new());
    while run.outcome().is_none() {
        let hard = drift.powf(done as f64 / total as f64);
        let took = (mean * hard * dice.long_tailed(spread)).max(1_000.0) as u64;
        if dice.next() > fails {
            let step = if dice.next() < pairs { 2 } else { 1 };
            done = (done + step).min(total);
        }
        let cost = (took / 10) + dice.below(2_000);
        let did = nothing()
            .tasks(list(done, total))
            .took(took)
            .spent(Some(cost), Some(10));
        run.work(did);
        if dice.next() < 0.05 {
            // A limit, or the checks: time in which nothing is done.
            run.pass(dice.below(60_000));
        }
        if let Some(forecast) = run.state.forecast() {
            let elapsed = run.state.elapsed_ms();
            let spent = run.state.agents.bill.cost.dollars();
            let range = forecast.left_ms;
            let cost = forecast.cost.unwrap();
            said.push((
                elapsed,
                (elapsed + range.low, elapsed + range.high),
                (spent + cost.low.dollars(), spent + cost.high.dollars()),
            ));
            assert!(range.low <= range.likely && range.likely <= range.high);
        }
    }
    Told {
        end_ms: run.state.elapsed_ms(),
        cost: run.state.agents.bill.cost.dollars(),
        said,
    }
}

#[test]
fn the_true_end_lies_within_the_range_after_a_third() {
    let (mut looked, mut in_time, mut in_cost, mut width) = (0, 0, 0, 0.0);
    for seed in 1..=200 {
        let told = play(seed * 7_919);
        let third = told.end_ms / 3;
        let (elapsed, time, cost) = told.said.iter().find(|(at, ..)| *at >= third).unwrap();
        looked += 1;
        in_time += usize::from((time.0..=time.1).contains(&told.end_ms));
        in_cost += usize::from(cost.0 <= told.cost && told.cost <= cost.1);
        width += (time.1 - time.0) as f64 / (told.end_ms - elapsed) as f64;
    }
    let width = width / looked as f64;
    let said = format!("{in_time} and {in_cost} of {looked}, {width:.2} of what is left wide");
    assert!(in_time * 100 >= looked * 80, "{said}");
    assert!(in_cost * 100 >= looked * 80, "{said}");
    // A range that holds everything says nothing.
    assert!(width < 2.5, "{said}");
}

#[test]
fn nothing_is_foretold_before_a_task_was_done_and_after_the_end() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    assert_eq!(run.state.forecast(), None);
    run.work(nothing().took(1_000));
    assert_eq!(run.state.forecast(), None);
    run.work(nothing().tasks(list(1, 2)).took(1_000));
    let forecast = run.state.forecast().unwrap();
    assert_eq!(forecast.left_ms.likely, 2_000);
    assert_eq!(forecast.cost, None, "no call said what it cost");
    run.work(nothing().tasks(list(2, 2)));
    assert_eq!(run.state.forecast(), None);
}
