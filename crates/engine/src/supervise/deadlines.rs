//! How long a child may take, and on which clock.
//!
//! Its own time and its silence count while the machine is awake: an agent
//! could not work while the laptop was closed. What is left of the whole run
//! counts always. Nothing counts while somebody holds everything with Ctrl+Z.

use std::time::{Duration, Instant};

use crate::clock;

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Stands still while the machine is suspended.
    pub awake: Instant,
    /// Goes on while the machine is suspended.
    pub steady_ms: u64,
}

impl Moment {
    pub fn now() -> Moment {
        Moment {
            awake: Instant::now(),
            steady_ms: clock::now().steady_ms,
        }
    }
}

/// What a child was given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    pub timeout: Option<Duration>,
    pub idle: Option<Duration>,
    pub left_of_run: Option<Duration>,
}

/// A bound that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    Late,
    Silent,
}

#[derive(Debug)]
pub struct Deadlines {
    bounds: Bounds,
    started: Moment,
    heard: Instant,
}

impl Deadlines {
    pub fn new(bounds: Bounds, started: Moment) -> Deadlines {
        Deadlines {
            bounds,
            started,
            heard: started.awake,
        }
    }

    pub fn heard_at(&mut self, awake: Instant) {
        self.heard = awake;
    }

    /// When to look again; `None` also where that is farther away than the
    /// clock can say. Timers sleep with the machine, so that what goes on
    /// meanwhile is looked at again and again.
    pub fn next(&self, now: impl FnOnce() -> Moment) -> Option<Instant> {
        let late = self.late_at();
        let silent = self.silent_at();
        let over = self.over_at_ms().map(|at_ms| {
            let now = now();
            let left = Duration::from_millis(at_ms.saturating_sub(now.steady_ms));
            now.awake + left.min(clock::LONGEST_SLEEP)
        });
        [late, silent, over].into_iter().flatten().min()
    }

    pub fn strike(&self, now: Moment) -> Option<Strike> {
        let passed = |at: Option<Instant>| at.is_some_and(|at| now.awake >= at);
        if passed(self.late_at()) || self.over_at_ms().is_some_and(|at| now.steady_ms >= at) {
            Some(Strike::Late)
        } else {
            passed(self.silent_at()).then_some(Strike::Silent)
        }
    }

    /// The time between belongs to nobody.
    pub fn skip(&mut self, from: Moment, to: Moment) {
        let stood = to.awake.saturating_duration_since(from.awake);
        self.started.awake += stood;
        self.started.steady_ms += to.steady_ms.saturating_sub(from.steady_ms);
        self.heard += stood;
    }

    fn late_at(&self) -> Option<Instant> {
        self.started.awake.checked_add(self.bounds.timeout?)
    }

    fn silent_at(&self) -> Option<Instant> {
        self.heard.checked_add(self.bounds.idle?)
    }

    fn over_at_ms(&self) -> Option<u64> {
        let left = u64::try_from(self.bounds.left_of_run?.as_millis()).unwrap_or(u64::MAX);
        Some(self.started.steady_ms.saturating_add(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    fn minutes(n: u64) -> Option<Duration> {
        (n > 0).then(|| Duration::from_secs(60 * n))
    }

    /// A clock that a test moves.
    struct Time(Moment);

    impl Time {
        fn awake(&mut self, minutes: u64) {
            self.0.awake += Duration::from_secs(60 * minutes);
            self.0.steady_ms += minutes * MINUTE;
        }

        fn asleep(&mut self, minutes: u64) {
            self.0.steady_ms += minutes * MINUTE;
        }
    }

    fn begin(timeout: u64, idle: u64, left: u64) -> (Time, Deadlines) {
        let now = Moment {
            awake: Instant::now(),
            steady_ms: 5_000_000,
        };
        let bounds = Bounds {
            timeout: minutes(timeout),
            idle: minutes(idle),
            left_of_run: minutes(left),
        };
        (Time(now), Deadlines::new(bounds, now))
    }

    #[test]
    fn a_suspended_machine_eats_the_runs_time_and_not_the_turns() {
        let check = |name: &str, bounds: [u64; 3], awake, asleep, want| {
            let [timeout, idle, left] = bounds;
            let (mut time, deadlines) = begin(timeout, idle, left);
            time.awake(awake);
            time.asleep(asleep);
            assert_eq!(deadlines.strike(time.0), want, "{name}");
        };
        check("nothing limits it", [0, 0, 0], 9_000, 9_000, None);
        check("in time", [30, 0, 0], 29, 0, None);
        check("late", [30, 0, 0], 30, 0, Some(Strike::Late));
        check("a night is not the turn's", [30, 0, 0], 29, 480, None);
        check("nor silence", [30, 5, 0], 4, 480, None);
        check("silent", [30, 5, 0], 5, 0, Some(Strike::Silent));
        check(
            "a night is the run's",
            [30, 5, 60],
            4,
            480,
            Some(Strike::Late),
        );
        check("a nap", [30, 0, 60], 10, 49, None);
        check(
            "the run's time while awake",
            [0, 0, 60],
            60,
            0,
            Some(Strike::Late),
        );
    }

    #[test]
    fn nothing_counts_while_everything_stands_still() {
        for (awake, asleep) in [(600, 0), (1, 600), (0, 600)] {
            let (mut time, mut deadlines) = begin(30, 5, 60);
            time.awake(4);
            let frozen = time.0;
            time.awake(awake);
            time.asleep(asleep);
            deadlines.skip(frozen, time.0);
            assert_eq!(deadlines.strike(time.0), None);
            time.awake(1);
            assert_eq!(deadlines.strike(time.0), Some(Strike::Silent));
            deadlines.heard_at(time.0.awake);
            assert_eq!(deadlines.strike(time.0), None);
            time.asleep(55);
            assert_eq!(deadlines.strike(time.0), Some(Strike::Late));
        }
    }

    #[test]
    fn what_goes_on_in_a_suspended_machine_is_looked_at_again_and_again() {
        let (time, deadlines) = begin(0, 0, 60);
        let next = deadlines.next(|| time.0).unwrap();
        assert_eq!(next - time.0.awake, clock::LONGEST_SLEEP);
        let (mut time, deadlines) = begin(30, 0, 60);
        time.asleep(59);
        time.asleep(1);
        assert_eq!(deadlines.next(|| time.0), Some(time.0.awake));
        let (time, deadlines) = begin(0, 5, 0);
        let silent = time.0.awake + Duration::from_secs(300);
        assert_eq!(deadlines.next(|| time.0), Some(silent));
        let (time, deadlines) = begin(0, 0, 0);
        assert_eq!(deadlines.next(|| time.0), None);
    }
}
