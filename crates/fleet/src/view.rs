//! The jobs that are not over, as one worker has heard of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::job::{Me, Standing, State, choose};

/// Jobs that could not be started here: what is wrong with the machine or the
/// network at the moment must not cost a job all of its attempts.
#[derive(Debug, Default)]
pub(crate) struct Rests(BTreeMap<String, (u32, Instant)>);

const REST: Duration = Duration::from_secs(10);
const LONGEST_REST: u32 = 30;

impl Rests {
    pub fn failed(&mut self, id: &str, now: Instant) {
        let rest = self.0.entry(id.to_owned()).or_insert((0, now));
        rest.0 = (rest.0 + 1).min(LONGEST_REST);
        rest.1 = now + REST * rest.0;
    }

    fn holds(&self, id: &str, now: Instant) -> bool {
        self.0.get(id).is_some_and(|(_, until)| now < *until)
    }
}

#[derive(Debug, Default)]
pub(crate) struct View {
    jobs: BTreeMap<String, Seen>,
}

#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub state: State,
    pub revision: u64,
    /// When this revision was first seen.
    since: Instant,
}

impl View {
    /// What is heard again, or late, makes nothing younger.
    pub fn see(&mut self, id: &str, revision: u64, state: State, now: Instant) {
        let known = self.jobs.get(id).map(|seen| seen.revision);
        if known.is_some_and(|known| known >= revision) {
            return;
        }
        if state.is_over() {
            self.jobs.remove(id);
            return;
        }
        let seen = Seen {
            state,
            revision,
            since: now,
        };
        self.jobs.insert(id.to_owned(), seen);
    }

    /// Until it is heard of again.
    pub fn forget(&mut self, id: &str) {
        self.jobs.remove(id);
    }

    /// Whether anything is left that could still become ours.
    pub fn holds_any(&self, me: &Me) -> bool {
        self.jobs.values().any(|seen| seen.state.is_for(me))
    }

    /// A job that is not among those that rest.
    pub fn choose(&self, me: &Me, rests: &Rests, now: Instant) -> Option<(String, Seen)> {
        let awake = self.jobs.iter().filter(|(id, _)| !rests.holds(id, now));
        let standing = awake.map(|(id, seen)| Standing {
            id,
            state: &seen.state,
            unchanged: now.saturating_duration_since(seen.since),
        });
        let id = choose(standing, me)?;
        let seen = self.jobs.get(id)?;
        Some((id.to_owned(), seen.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Needs, Source, Spec, Work};

    fn state() -> State {
        let spec = Spec {
            source: Source::Bundle("x".into()),
            commit: "a".repeat(40),
            work: Work::Prompt("do it".into()),
            needs: Needs::default(),
            priority: 0,
            max_turns: None,
            hints: Vec::new(),
        };
        State::new(&spec, 1)
    }

    #[test]
    fn what_is_heard_again_makes_no_lease_younger() {
        let (mut view, start, me) = (View::default(), Instant::now(), Me::default());
        let lease = crate::job::Lease {
            worker: "other".into(),
            token: "t".into(),
            holds_ms: 1000,
        };
        let held = state().taken(lease).unwrap();
        let at = |ms| start + Duration::from_millis(ms);
        let rests = Rests::default();
        view.see("j", 7, held.clone(), at(0));
        view.see("j", 7, held.clone(), at(900));
        view.see("j", 6, state(), at(900));
        assert!(view.choose(&me, &rests, at(999)).is_none());
        assert!(view.choose(&me, &rests, at(1000)).is_some());
        view.see("j", 8, held, at(1000));
        assert!(view.choose(&me, &rests, at(1999)).is_none());
    }

    #[test]
    fn a_job_that_fails_here_rests_longer_each_time() {
        let (mut view, start, me) = (View::default(), Instant::now(), Me::default());
        let mut rests = Rests::default();
        view.see("j", 1, state(), start);
        for failures in 1..5 {
            rests.failed("j", start);
            let until = start + REST * failures;
            let just_before = until - Duration::from_millis(1);
            assert!(view.choose(&me, &rests, just_before).is_none());
            assert!(view.choose(&me, &rests, until).is_some());
        }
    }
}
