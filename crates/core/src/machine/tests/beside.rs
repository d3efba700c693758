//! Ticks that are judged on a copy while the next turn is under way.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::proof::{EvidenceLevel, Weighed};

fn slow() -> Rules {
    for_tasks().with(|r| {
        r.verify = Some(VerifyWhen::Complete);
        r.checks.ticks = Ticks::Proven;
        r.checks.level = EvidenceLevel::Unrefuted;
        r.checks.beside = true;
    })
}

fn ticked(done: usize, new: usize) -> TaskFacts {
    TaskFacts {
        ticked: vec![task(new)],
        ..list(done, 4)
    }
}

impl Script {
    /// A turn ticks one more box and leaves another tree.
    fn tick(&mut self, n: usize) -> &mut Script {
        self.world.snapshot = Some(format!("snapshot {n}"));
        self.work(nothing().tasks(ticked(n, n)))
    }

    fn set_aside(&mut self) -> &mut Script {
        let turn = self.state.turn.number;
        self.feed(Kind::SetAside { turn })
    }

    fn judged(&mut self, turn: u32, results: Vec<CommandResult>) -> &mut Script {
        let weighed = Weighed {
            work: vec!["calc.py".into()],
            ..Weighed::default()
        };
        self.feed(Kind::Verified(VerifyReport {
            turn,
            results,
            weighed: Some(Box::new(weighed)),
            ..VerifyReport::default()
        }))
    }

    fn begun() -> Script {
        let mut run = Script::begin(slow(), seen(list(0, 4)));
        run.feed(Kind::Preflighted(VerifyReport {
            results: passing(),
            ..VerifyReport::default()
        }));
        run.tick(1);
        run
    }
}

fn orders(run: &Script) -> Vec<(Vec<String>, bool)> {
    let order = |effect: &Effect| match effect {
        Effect::Verify {
            scope: CheckScope::Tasks { ids, .. },
            beside,
            ..
        } => Some((ids.clone(), *beside)),
        _ => None,
    };
    run.last.iter().filter_map(order).collect()
}

fn order(ids: &[&str], beside: bool) -> Vec<(Vec<String>, bool)> {
    vec![(ids.iter().map(|id| (*id).to_owned()).collect(), beside)]
}

#[test]
fn the_next_turn_begins_at_once_and_what_stood_is_taken_in_behind_it() {
    let mut run = Script::begun();
    assert_eq!(orders(&run), order(&["T001"], true));
    run.set_aside();
    assert_eq!(run.acts(), ["run"]);
    run.judged(1, passing());
    assert_eq!(run.acts(), [""; 0], "a turn is under way");
    assert!(run.state.ticks.levels.is_empty());
    run.tick(2);
    assert!(run.told().contains(&"tick_proven"), "{:?}", run.told());
    assert_eq!(run.state.ticks.levels["T001"], EvidenceLevel::Unrefuted);
    let ground = &run.state.evidence.ground;
    assert_eq!(ground.base.as_deref(), Some("snapshot 1"));
    assert_eq!(ground.now.as_deref(), Some("snapshot 2"));
    assert_eq!(orders(&run), order(&["T002"], true));
}

#[test]
fn a_turn_that_is_quicker_than_the_checks_waits_for_them() {
    let mut run = Script::begun();
    run.set_aside();
    run.tick(2);
    assert_eq!(run.acts(), [""; 0]);
    run.judged(1, passing());
    assert_eq!(orders(&run), order(&["T002"], true));
    assert!(run.state.ticks.levels.contains_key("T001"));
}

#[test]
fn what_does_not_stand_is_judged_again_in_order() {
    let mut run = Script::begun();
    run.set_aside();
    run.judged(1, failing("the port is in use"));
    run.tick(2);
    assert!(!run.told().contains(&"tick_rejected"));
    assert_eq!(orders(&run), order(&["T001", "T002"], false));
    run.judged(2, passing());
    assert_eq!(run.state.ticks.levels.len(), 2);
    run.tick(3);
    assert_eq!(orders(&run), order(&["T003"], true), "beside again");
}

#[test]
fn what_can_t_be_copied_is_waited_for() {
    let mut run = Script::begun();
    run.judged(1, passing());
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(run.state.ticks.levels.len(), 1);
}

#[test]
fn the_last_task_is_waited_for() {
    let mut run = Script::begun();
    run.set_aside();
    run.judged(1, passing());
    run.tick(2).set_aside();
    run.judged(2, passing());
    run.tick(3).set_aside();
    run.tick(4);
    assert_eq!(run.acts(), [""; 0], "the third is not judged yet");
    run.judged(3, passing());
    assert_eq!(run.acts(), ["verify"]);
    assert_eq!(orders(&run), [], "everything, and not beside anything");
    run.judged(4, passing());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    assert_eq!(run.state.ticks.levels.len(), 4);
}

#[test]
fn a_run_that_dies_judges_anew() {
    let mut run = Script::begun();
    run.set_aside();
    run.resume();
    assert_eq!(orders(&run), order(&["T001"], true));
    assert!(run.state.evidence.beside.is_none());
}

/// An unticked box waits for nothing, and one that is ticked again is new.
#[test]
fn a_tick_that_is_taken_back_meanwhile_is_not_judged() {
    let mut run = Script::begun();
    run.set_aside();
    run.judged(1, passing());
    let facts = TaskFacts {
        unticked: vec!["T001".into()],
        ..list(0, 4)
    };
    run.work(nothing().tasks(facts));
    assert!(run.state.ticks.levels.is_empty());
    assert_eq!(run.acts(), ["run"]);
}

/// A world of four tasks, some of which are ticked.
struct Desk {
    run: Script,
    done: BTreeSet<usize>,
    turns: usize,
}

impl Desk {
    fn facts(&self, new: &[usize]) -> TaskFacts {
        let open = (1..=4).filter(|n| !self.done.contains(n)).map(task);
        let open: Vec<TaskRef> = open.collect();
        TaskFacts {
            total: 4,
            completed: self.done.len(),
            pending: open.len(),
            next: open.first().cloned(),
            ready: open.clone(),
            open,
            ticked: new.iter().map(|&n| task(n)).collect(),
            ..TaskFacts::default()
        }
    }

    /// Plays the driver for one event.
    fn play(&mut self, dice: u8) {
        let (early, green, works) = (dice & 1 == 1, dice & 6 != 0, dice & 8 != 0);
        let results = match green {
            true => passing(),
            false => failing("1 failed"),
        };
        let beside = self.run.state.evidence.beside.clone();
        let open = beside.filter(|beside| beside.report.is_none());
        match (self.run.state.stage.clone(), open) {
            (_, _) if dice > 240 => {
                // A new process names every tick.
                let all: Vec<usize> = self.done.iter().copied().collect();
                self.run.world.tasks = Tasks::Read(self.facts(&all));
                self.run.resume();
            }
            (Stage::Running, Some(beside)) if early => {
                self.run.judged(beside.turn, results);
                assert_eq!(self.run.acts(), [""; 0]);
            }
            (Stage::Running, _) => {
                self.turns += 1;
                self.run.world.snapshot = Some(format!("snapshot {}", self.turns));
                let next = (1..=4).find(|n| works && !self.done.contains(n));
                self.done.extend(next);
                let facts = self.facts(next.as_slice());
                self.run.work(nothing().tasks(facts));
            }
            (Stage::Verifying { .. }, Some(beside)) => {
                self.run.judged(beside.turn, results);
            }
            (Stage::Verifying { completes }, None) => {
                let can_wait = orders(&self.run).iter().any(|(_, beside)| *beside);
                match early && !completes && can_wait {
                    true => self.run.set_aside(),
                    false => self.run.judged(self.run.state.turn.number, results),
                };
            }
            (Stage::Unticking { .. }, _) => {
                let back = self.run.state.turned_back().to_vec();
                self.done.retain(|&n| !back.contains(&task(n).id));
                self.run.world.tasks = Tasks::Read(self.facts(&[]));
                let (seen, left) = (self.run.world.clone(), Vec::new());
                self.run.feed(Kind::Unticked { seen, left });
            }
            _ => {}
        }
    }
}

proptest! {
    /// Every tick is judged, or waits, whatever comes first; and a run that is
    /// complete has judged them all.
    #[test]
    fn no_tick_is_lost_or_believed(dice in prop::collection::vec(any::<u8>(), 1..80)) {
        let rules = slow().with(|r| {
            r.limits.max_iterations = 60;
            r.limits.stalled = 0;
            r.limits.same_error = 0;
        });
        let mut run = Script::begin(rules, seen(list(0, 4)));
        run.feed(Kind::Preflighted(VerifyReport {
            results: passing(),
            ..VerifyReport::default()
        }));
        let mut desk = Desk { run, done: BTreeSet::new(), turns: 0 };
        for dice in dice {
            desk.play(dice);
            let state = &desk.run.state;
            let beside = state.evidence.beside.as_ref();
            for n in &desk.done {
                let id = task(*n).id;
                let waits = state.ticks.unchecked.iter().any(|task| task.id == id)
                    || state.turned_back().contains(&id)
                    || beside.is_some_and(|beside| beside.tasks.iter().any(|task| task.id == id));
                let known = state.ticks.levels.contains_key(&id);
                prop_assert!(waits || known, "{id} is lost: {}", desk.run.trace());
            }
            if state.outcome() == Some(&Outcome::Complete) {
                prop_assert!(beside.is_none());
                prop_assert_eq!(state.ticks.levels.len(), 4);
            }
            let judged_on = state.evidence.ground.base.clone();
            prop_assert!(beside.is_none_or(|beside| beside.now != judged_on || beside.now.is_none()));
        }
    }
}
