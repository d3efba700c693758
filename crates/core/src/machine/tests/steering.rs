//! A person steers a run (issue 23).

use super::*;
use crate::machine::{Steer, SteeredTask};
use crate::tasks::ListChange;

impl Script {
    fn steer(&mut self, steer: Steer) -> &mut Script {
        self.feed(Kind::Steered {
            steer,
            task: None,
            seen: None,
        })
    }

    /// While nothing runs the world is looked at, too.
    fn steer_seeing(&mut self, steer: Steer, facts: TaskFacts) -> &mut Script {
        self.world.tasks = Tasks::Read(facts);
        let seen = Some(Box::new(self.world.clone()));
        self.feed(Kind::Steered {
            steer,
            task: None,
            seen,
        })
    }

    fn hints(&self) -> Vec<&str> {
        let notes = self.notes().iter();
        notes
            .filter_map(|note| match note {
                PromptNote::Hint { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

fn hint(text: &str, keep: bool) -> Steer {
    Steer::Hint {
        text: text.into(),
        keep,
    }
}

fn skip(ids: &[&str]) -> Steer {
    Steer::Skip {
        tasks: ids.iter().map(|id| (*id).to_owned()).collect(),
    }
}

fn retry(id: &str) -> Steer {
    Steer::Retry { task: id.into() }
}

#[test]
fn a_hint_is_told_once_or_in_every_turn() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    run.steer(hint("once", false)).steer(hint("always", true));
    assert!(run.acts().is_empty());
    run.work(nothing());
    assert_eq!(run.hints(), ["once", "always"]);
    run.work(nothing());
    assert_eq!(run.hints(), ["always"]);
    run.steer(Steer::DropHint { hint: 2 }).work(nothing());
    assert_eq!(run.hints(), [""; 0]);
}

/// A call that came to nothing is made again with everything that it was told,
/// and with nothing twice.
#[test]
fn a_hint_is_not_lost_with_a_refused_call() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    run.steer(hint("once", false)).steer(hint("always", true));
    run.work(nothing());
    let overload = Refusal::Overload {
        retry_after_ms: None,
    };
    run.turn(failed("busy").refused(overload)).wake();
    let mut hints = run.hints();
    hints.sort_unstable();
    assert_eq!(hints, ["always", "once"]);
}

#[test]
fn a_hint_reaches_a_run_that_was_killed() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    run.steer(hint("mind the cache", false)).resume();
    assert_eq!(run.hints(), ["mind the cache"]);
}

#[test]
fn what_is_skipped_is_not_done_and_the_end_says_so() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.steer(skip(&["T002"]));
    assert_eq!(run.told(), ["steered"]);
    // The looker leaves it out from now on: fewer tasks, and none was lost.
    run.work(nothing().tasks(list(1, 1)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    let end = notices(&run.effects).last().unwrap().clone();
    assert!(matches!(&end, Notice::LoopEnd { skipped, .. } if skipped == &["T002"]));
    assert!(end.say(Lang::En).contains("skipped by a person: T002"));
    let status = run.state.status("run", "tasks.md");
    assert_eq!(status["skipped_tasks"][0], "T002");
    // Whoever wants it after all has a run to go on with.
    run.steer(Steer::Unskip {
        tasks: vec!["T002".into()],
    });
    assert!(matches!(run.outcome(), Some(Outcome::Paused { .. })));
    run.world.tasks = Tasks::Read(list(1, 2));
    run.resume();
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn a_task_that_an_agent_removes_is_lost_in_spite_of_a_skip() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 4)));
    run.steer(skip(&["T004"]));
    run.work(claimed().tasks(list(2, 2)));
    assert_eq!(run.outcome(), None);
}

/// While it waits for an agent nothing has to be waited for any more.
#[test]
fn skipping_what_is_left_ends_a_wait() {
    let rules = limited(all_tasks(), |l| {
        l.max_iterations = 9;
        l.pause_between_ms = 60_000;
    });
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(nothing().tasks(list(1, 2)));
    assert_eq!(run.waits().unwrap().1, WaitReason::Between);
    run.steer_seeing(skip(&["T002"]), list(1, 1));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_new_task_ends_a_wait_for_an_answer() {
    let rules = for_tasks().with(|r| r.question_wait_ms = Some(3_600_000));
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(said(Promise::Question("Which?".into())));
    assert_eq!(run.waits().unwrap().1, WaitReason::Answer);
    let more = TaskFacts {
        ready: vec![task(1), task(2)],
        ..list(0, 2)
    };
    let change = ListChange::Add {
        text: "task 2".into(),
        verify: Vec::new(),
        after: None,
        phase: None,
    };
    run.steer_seeing(Steer::List(change), more);
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(run.call().unwrap().task.as_ref().unwrap().id, "T002");
}

/// What a person adds is asked for with the check that they gave it.
#[test]
fn the_check_of_a_new_task_counts() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    let change = ListChange::Add {
        text: "task 2".into(),
        verify: vec!["make two".into()],
        after: None,
        phase: None,
    };
    run.feed(Kind::Steered {
        steer: Steer::List(change),
        task: Some(Box::new(SteeredTask {
            id: "T002".into(),
            verify: vec!["make two".into()],
            ..SteeredTask::default()
        })),
        seen: None,
    });
    assert_eq!(run.state.rules.checks.tasks["T002"], ["make two"]);
    run.work(nothing().tasks(list(2, 2)));
    assert_eq!(run.acts(), ["verify"]);
}

#[test]
fn a_retry_forgets_what_was_believed_and_counted() {
    let rules = for_tasks().with(|r| r.question_wait_ms = Some(3_600_000));
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.turn(nothing()).turn(nothing());
    assert!(run.state.counters.stalled > 0);
    run.steer(retry("T001"));
    assert_eq!(run.state.counters, Counters::default());
    assert_eq!(run.state.tasks.focus.as_deref(), Some("T001"));
    run.work(nothing());
    let again = PromptNote::Again {
        task: "T001".into(),
    };
    assert!(run.notes().contains(&again));
}

#[test]
fn a_retry_opens_a_run_that_is_complete() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.work(nothing().tasks(list(1, 1)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    run.steer(retry("T001"));
    run.world.tasks = Tasks::Read(list(0, 1));
    run.resume();
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn nobody_steers_what_was_given_up() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.feed(Kind::Abandoned);
    run.steer(hint("too late", false));
    assert!(run.last.is_empty());
    assert!(run.state.hints.is_empty());
}

#[test]
fn every_wish_is_journalled_as_it_was_said() {
    let change = ListChange::Move {
        task: "T001".into(),
        after: None,
    };
    for steer in [
        hint("x", true),
        Steer::DropHint { hint: 1 },
        skip(&["T001"]),
        Steer::Unskip { tasks: vec![] },
        retry("T001"),
        Steer::Focus { task: None },
        Steer::List(change),
    ] {
        let event = Event {
            at: START,
            kind: Kind::Steered {
                steer,
                task: None,
                seen: None,
            },
        };
        let line = serde_json::to_string(&event).unwrap();
        let back: Event = serde_json::from_str(&line).unwrap();
        assert_eq!(back, event, "{line}");
    }
}

/// Whoever asks for more while the last checks run gets it: what they prove is
/// not all any more.
#[test]
fn more_work_that_comes_while_all_is_proven_is_not_forgotten() {
    let add = || {
        Steer::List(ListChange::Add {
            text: "task 3".into(),
            verify: Vec::new(),
            after: None,
            phase: None,
        })
    };
    let unskip = || Steer::Unskip {
        tasks: vec!["T002".into()],
    };
    for more in [add(), unskip(), retry("T001")] {
        let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Complete));
        let mut run = Script::begin(rules, seen(list(0, 2)));
        run.steer(skip(&["T002"]));
        run.work(nothing().tasks(list(1, 1)));
        assert_eq!(run.acts(), ["verify"]);
        run.steer(more.clone());
        run.world.tasks = Tasks::Read(list(1, 2));
        run.verified(passing());
        assert_eq!(run.outcome(), None, "{more:?}");
        assert_eq!(run.waits().unwrap().1, WaitReason::Between);
        run.wake();
        assert_eq!(run.acts(), ["run"], "{more:?}");
    }
}
