//! Laws of jobs: whatever workers believe and whenever their words arrive.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use crate::job::{
    Lease, MAX_ATTEMPTS, Me, Needs, Outcome, Phase, Release, Source, Spec, Standing, State, Work,
    choose, is_name,
};

fn spec() -> Spec {
    Spec {
        source: Source::Url("https://localhost/x.git".into()),
        commit: "a".repeat(40),
        work: Work::Prompt("do it".into()),
        needs: Needs::default(),
        priority: 0,
        max_turns: None,
        hints: Vec::new(),
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn outcome(worker: usize, token: &str) -> Outcome {
    Outcome {
        worker: worker.to_string(),
        token: token.into(),
        exit: 0,
        outcome: "complete".into(),
        commit: None,
        has_bundle: false,
        duration_ms: 1,
    }
}

const WORKERS: usize = 3;

/// What one of the workers, or the world, does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Look(usize),
    /// It believes that the job is free, rightly or not.
    Take(usize),
    Renew(usize),
    Commit(usize),
    Leave(usize),
    Fail(usize),
    Cancel(usize),
    /// A word on its way arrives, maybe long after it was said.
    Arrive(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let who = 0..WORKERS;
    prop_oneof![
        4 => who.clone().prop_map(Act::Look),
        4 => who.clone().prop_map(Act::Take),
        3 => who.clone().prop_map(Act::Renew),
        2 => who.clone().prop_map(Act::Commit),
        1 => who.clone().prop_map(Act::Leave),
        1 => who.clone().prop_map(Act::Fail),
        1 => who.prop_map(Act::Cancel),
        8 => (0..8usize).prop_map(Act::Arrive),
    ]
}

/// One entry of the server, and the words on their way to it.
struct World {
    revision: u64,
    state: State,
    /// The revision that each expects, and what it would write.
    words: Vec<(u64, State)>,
    known: [(u64, State); WORKERS],
    tokens: [String; WORKERS],
    made: usize,
}

impl World {
    fn new() -> World {
        let state = State::new(&spec(), 1);
        World {
            revision: 1,
            known: std::array::from_fn(|_| (1, state.clone())),
            state,
            words: Vec::new(),
            tokens: std::array::from_fn(|_| String::new()),
            made: 0,
        }
    }

    fn say(&mut self, who: usize, next: impl FnOnce(&State) -> Option<State>) {
        let (revision, state) = &self.known[who];
        if let Some(next) = next(state) {
            self.words.push((*revision, next));
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Look(who) => self.known[who] = (self.revision, self.state.clone()),
            Act::Take(who) => {
                self.made += 1;
                let token = format!("{who}-{}", self.made);
                self.tokens[who].clone_from(&token);
                let worker = who.to_string();
                self.say(who, |state| {
                    state.taken(Lease {
                        worker,
                        token,
                        holds_ms: 1,
                    })
                });
            }
            Act::Renew(who) => {
                let token = self.tokens[who].clone();
                self.say(who, |state| state.is_held_by(&token).then(|| state.clone()));
            }
            Act::Commit(who) => {
                let token = self.tokens[who].clone();
                self.say(who, |state| state.done(outcome(who, &token)));
            }
            Act::Leave(who) => {
                let token = self.tokens[who].clone();
                self.say(who, |state| state.released(&token, Release::Leaving));
            }
            Act::Fail(who) => {
                let token = self.tokens[who].clone();
                let why = Release::Failed("no".into());
                self.say(who, |state| state.released(&token, why));
            }
            Act::Cancel(who) => self.say(who, State::cancelled),
            Act::Arrive(which) => self.arrive(which),
        }
    }

    fn arrive(&mut self, which: usize) {
        if which >= self.words.len() {
            return;
        }
        let (expected, next) = self.words.remove(which);
        if expected != self.revision {
            return;
        }
        let before = std::mem::replace(&mut self.state, next);
        self.revision += 1;
        assert!(!before.is_over(), "what is over changed: {before:?}");
        if let Phase::Done(outcome) = &self.state.phase {
            assert!(before.is_held_by(&outcome.token), "somebody else's result");
        }
        assert!(self.state.attempt <= MAX_ATTEMPTS);
    }
}

proptest! {
    /// One result at most, by whoever held the job; what is over stays as it
    /// is, whatever arrives late.
    #[test]
    fn a_job_ends_once(acts in prop::collection::vec(act(), 1..200)) {
        let mut world = World::new();
        for act in acts {
            world.act(act);
        }
    }

    /// Whoever comes back from however long an absence finds that it lost, or
    /// holds what it held.
    #[test]
    fn a_live_worker_finishes_what_is_left(acts in prop::collection::vec(act(), 1..200)) {
        let mut world = World::new();
        for act in acts {
            world.act(act);
        }
        world.words.clear();
        for _ in 0..=MAX_ATTEMPTS {
            world.act(Act::Look(0));
            world.act(Act::Take(0));
            world.act(Act::Arrive(0));
        }
        world.act(Act::Look(0));
        prop_assert!(world.state.is_over() || world.state.is_held_by(&world.tokens[0]));
    }

    #[test]
    fn states_survive_their_wire_form(acts in prop::collection::vec(act(), 1..60)) {
        let mut world = World::new();
        for act in acts {
            world.act(act);
            let text = serde_json::to_string(&world.state).unwrap();
            prop_assert_eq!(&serde_json::from_str::<State>(&text).unwrap(), &world.state);
        }
    }

    #[test]
    fn whatever_a_server_sends_is_no_reason_to_fall(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = serde_json::from_slice::<State>(&bytes);
        let _ = serde_json::from_slice::<Spec>(&bytes);
    }
}

fn me(id: &str) -> Me {
    Me {
        id: id.into(),
        labels: names(&["linux", "gpu"]),
        secrets: names(&["TOKEN"]),
    }
}

fn may_take(change: impl FnOnce(&mut State), unchanged: u64) -> bool {
    let mut state = State::new(&spec(), 1);
    change(&mut state);
    let standing = Standing {
        id: "j",
        state: &state,
        unchanged: Duration::from_secs(unchanged),
    };
    standing.may_take(&me("w1"))
}

#[test]
fn who_may_take_what() {
    let held = |worker: &str| {
        Phase::Leased(Lease {
            worker: worker.into(),
            token: "t".into(),
            holds_ms: 30_000,
        })
    };
    assert!(may_take(|_| {}, 0));
    assert!(may_take(|s| s.needs.labels = names(&["gpu"]), 0));
    assert!(!may_take(|s| s.needs.labels = names(&["mac"]), 0));
    assert!(may_take(|s| s.needs.secrets = names(&["TOKEN"]), 0));
    assert!(!may_take(|s| s.needs.secrets = names(&["OTHER"]), 0));
    assert!(!may_take(|s| s.phase = held("w2"), 29));
    assert!(may_take(|s| s.phase = held("w2"), 30));
    // Its own jobs are not dead because their renewals are late.
    assert!(!may_take(|s| s.phase = held("w1"), 3000));
    assert!(!may_take(|s| s.phase = Phase::Cancelled, 3000));
    assert!(!may_take(
        |s| drop(s.declined.insert("w1".into(), "untrusted".into())),
        0
    ));
}

#[test]
fn high_priority_comes_first_then_age() {
    let job = |priority, submitted_ms| State {
        priority,
        submitted_ms,
        ..State::new(&spec(), 0)
    };
    let jobs = [
        ("old", job(0, 1)),
        ("urgent", job(5, 9)),
        ("new", job(0, 2)),
    ];
    let standing = || {
        jobs.iter().map(|(id, state)| Standing {
            id,
            state,
            unchanged: Duration::ZERO,
        })
    };
    assert_eq!(choose(standing(), &me("w1")), Some("urgent"));
    let rest = || standing().filter(|job| job.id != "urgent");
    assert!(choose(rest(), &me("w1")).is_some());
    // Two workers need not want the same.
    let wanted: BTreeSet<_> = (0..20)
        .filter_map(|n| choose(rest(), &me(&format!("w{n}"))))
        .collect();
    assert_eq!(wanted.len(), 2);
}

/// However many wait: what a dead worker left would otherwise be found by
/// chance.
#[test]
fn what_was_left_comes_before_what_waits() {
    let lease = Lease {
        worker: "dead".into(),
        token: "t".into(),
        holds_ms: 1000,
    };
    let fresh = State::new(&spec(), 1);
    let left = State::new(&spec(), 2).taken(lease).unwrap();
    let names: Vec<String> = (0..200).map(|n| format!("j{n}")).collect();
    let mut jobs: Vec<(&str, &State)> = names.iter().map(|id| (id.as_str(), &fresh)).collect();
    jobs.push(("left", &left));
    for worker in 0..20 {
        let standing = jobs.iter().map(|(id, state)| Standing {
            id,
            state,
            unchanged: Duration::from_secs(1),
        });
        assert_eq!(choose(standing, &me(&format!("w{worker}"))), Some("left"));
    }
}

#[test]
fn the_same_submission_is_the_same_job() {
    let other = Spec {
        commit: "b".repeat(40),
        ..spec()
    };
    assert_eq!(spec().id(), spec().id());
    assert_ne!(spec().id(), other.id());
    assert!(is_name(&spec().id()));
    for bad in ["", "a.b", "a*", ">", "a b", "../x", "é"] {
        assert!(!is_name(bad), "{bad}");
    }
}
