//! When a run will be done and what the rest will cost, with a range, from its
//! own turns. A pure function: nothing is known but what the run has shown.

use crate::usage::Usd;

/// What a run had reached when a turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Working time since the run began.
    pub elapsed_ms: u64,
    /// Tasks that are done.
    pub completed: usize,
    /// What all calls cost; `None` where one did not say.
    pub cost: Option<Usd>,
}

/// How a run came along, turn by turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    points: Vec<Point>,
}

/// As much of a long run is remembered; the rest says little about what comes.
const MOST_POINTS: usize = 400;

/// From a low to a high end, with what is most likely between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    pub low: T,
    pub likely: T,
    pub high: T,
}

/// What is left of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    pub left_ms: Range<u64>,
    /// Only where every call said what it cost.
    pub cost: Option<Range<Usd>>,
}

impl Pace {
    pub fn note(&mut self, point: Point) {
        if self.points.len() >= MOST_POINTS {
            self.points.remove(0);
        }
        self.points.push(point);
    }

    /// `None` until a task was done, and where nothing is left.
    pub fn forecast(&self, pending: usize) -> Option<Forecast> {
        let last = self.points.last()?;
        if pending == 0 {
            return None;
        }
        let times = self.per_task(|point| Some(point.elapsed_ms as f64))?;
        let costs = self.per_task(|point| Some(micros(point.cost?)));
        let used = last.elapsed_ms as f64 - times.reached;
        let left_ms = times.left(pending, used)?.map(|ms| whole(ms).max(1));
        let cost = costs.and_then(|costs| {
            let used = micros(last.cost?) - costs.reached;
            let left = costs.left(pending, used)?;
            Some(left.map(|cost| Usd::from_micros(whole(cost))))
        });
        Some(Forecast { left_ms, cost })
    }

    /// What each task took, and the measure at which the last one was done.
    fn per_task(&self, measure: impl Fn(&Point) -> Option<f64>) -> Option<Taken> {
        let first = self.points.first()?;
        let (mut done, mut reached) = (first.completed, measure(first)?);
        let mut samples = Vec::new();
        for point in self.points.iter().skip(1) {
            let now = measure(point)?;
            if point.completed > done {
                let tasks = point.completed - done;
                let each = (now - reached) / tasks as f64;
                samples.extend(std::iter::repeat_n(each, tasks));
                (done, reached) = (point.completed, now);
            } else {
                // A tick that was turned back has to be made again.
                done = done.min(point.completed);
            }
        }
        (!samples.is_empty()).then_some(Taken { samples, reached })
    }
}

struct Taken {
    samples: Vec<f64>,
    reached: f64,
}

impl Taken {
    /// What is left, where the task that is worked on has `used` something: it
    /// is not done, and how much of it is done nobody knows.
    fn left(&self, pending: usize, used: f64) -> Option<Range<f64>> {
        let all = expect(&self.samples, pending)?;
        let half_a_task = all.likely / (2.0 * pending as f64);
        Some(Range {
            low: (all.low - used).max(0.0),
            likely: all.likely - used.min(half_a_task),
            high: all.high,
        })
    }
}

impl<T> Range<T> {
    fn map<U>(self, change: impl Fn(T) -> U) -> Range<U> {
        Range {
            low: change(self.low),
            likely: change(self.likely),
            high: change(self.high),
        }
    }
}

/// Of how many deviations the range is wide. One task says next to nothing
/// about the others.
fn width(samples: usize) -> f64 {
    2.0 + 2.0 / samples as f64
}

/// The least that a range is wide, as a share of what is likely: tasks differ
/// in ways that a few of them don't show.
const LEAST: f64 = 0.25;

/// What so many more of the same will take. What the newer tasks took differs
/// from the older where the work gets harder: that widens the range.
fn expect(samples: &[f64], more: usize) -> Option<Range<f64>> {
    let count = samples.len() as f64;
    let more = more as f64;
    let all = mean(samples)?;
    let (older, newer) = samples.split_at(samples.len() / 2);
    let drift = match (mean(older), mean(newer)) {
        (Some(older), Some(newer)) => newer - older,
        _ => 0.0,
    };
    let squares: f64 = samples.iter().map(|x| (x - all).powi(2)).sum();
    let spread = match samples.len() {
        1 => all * 0.6,
        _ => (squares / (count - 1.0)).sqrt(),
    };
    let likely = more * (all + drift / 4.0).max(all / 4.0);
    let noise = spread * (more + more * more / count).sqrt();
    let half = (width(samples.len()) * noise).max(likely * LEAST);
    let (down, up) = (drift.min(0.0), drift.max(0.0));
    Some(Range {
        low: (likely - half + more * down / 2.0).max(0.0),
        likely,
        high: likely + half + more * up / 2.0,
    })
}

fn micros(cost: Usd) -> f64 {
    cost.dollars() * 1e6
}

fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}
