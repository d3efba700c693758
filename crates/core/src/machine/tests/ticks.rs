//! Ticks are claims: proven, turned back, or the agent's own.

use super::*;
use crate::integrity::{How, Weakening};

fn proven(verify: bool, own: &[(&str, &str)]) -> Rules {
    for_tasks().with(|r| {
        r.verify = verify.then_some(VerifyWhen::Complete);
        r.checks.ticks = Ticks::Proven;
        r.checks.integrity = Integrity::Strict;
        let own = own
            .iter()
            .map(|(id, c)| ((*id).to_owned(), vec![(*c).to_owned()]));
        r.checks.tasks = own.collect();
    })
}

fn ticked(done: usize, total: usize, new: &[usize]) -> TaskFacts {
    TaskFacts {
        ticked: new.iter().map(|&n| task(n)).collect(),
        ..list(done, total)
    }
}

fn own(command: &str, exit: i32) -> CommandResult {
    CommandResult {
        of_task: true,
        ..ran(command, Some(exit), "output")
    }
}

impl Script {
    fn unticked(&mut self, facts: TaskFacts) -> &mut Script {
        self.world.tasks = Tasks::Read(facts);
        let seen = self.world.clone();
        let left = Vec::new();
        self.feed(Kind::Unticked { seen, left })
    }

    fn checked(&self) -> Vec<String> {
        let scopes = self.last.iter().find_map(|e| match e {
            Effect::Verify { scope, .. } => Some(scope.clone()),
            _ => None,
        });
        match scopes {
            Some(CheckScope::Tasks { ids, .. }) => ids,
            Some(CheckScope::Everything) => vec!["everything".into()],
            None => Vec::new(),
        }
    }
}

#[test]
fn a_tick_without_a_green_check_is_turned_back() {
    let mut run = Script::begin(proven(true, &[]), seen(list(0, 3)));
    run.work(nothing().tasks(ticked(1, 3, &[1])));
    assert_eq!(run.checked(), ["T001"]);
    run.verified(failing("1 failed"));
    assert_eq!(run.acts(), ["untick"]);
    assert!(run.told().contains(&"tick_rejected"));
    run.unticked(list(0, 3));
    assert_eq!(run.acts(), ["run"]);
    let notes = format!("{:?}", run.notes());
    assert!(
        notes.contains("TickRejected") && notes.contains("1 failed"),
        "{notes}"
    );
    assert!(run.state.ticks.proofs.is_empty());
    // The work is done now.
    run.work(nothing().tasks(ticked(1, 3, &[1])));
    run.verified(passing());
    assert_eq!(run.acts(), ["run"]);
    let proof = &run.state.ticks.proofs["T001"];
    assert_eq!(proof.commands.len(), 1);
    assert_eq!(proof.tree.as_deref(), Some("tree"));
}

#[test]
fn each_task_is_judged_by_its_own_check() {
    let rules = proven(true, &[("T001", "one"), ("T002", "two")]);
    let mut run = Script::begin(rules, seen(list(0, 3)));
    run.work(nothing().tasks(ticked(3, 4, &[1, 2, 3])));
    assert_eq!(run.checked(), ["T001", "T002", "T003"]);
    run.verified(vec![
        ran("npm test", Some(0), "ok"),
        own("one", 0),
        own("two", 1),
    ]);
    assert!(run.trace().ends_with("=> untick T002\n"), "{}", run.trace());
    let known: Vec<&String> = run.state.ticks.proofs.keys().collect();
    assert_eq!(known, ["T001", "T003"]);
    let commands = &run.state.ticks.proofs["T001"].commands;
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].command, "one");
}

#[test]
fn a_tick_that_nothing_can_check_stands() {
    let mut run = Script::begin(proven(false, &[]), seen(list(0, 2)));
    run.work(nothing().tasks(ticked(1, 2, &[1])));
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(run.state.unproven(), ["T001"]);
    let mut run = Script::begin(
        proven(true, &[]).with(|r| r.checks.ticks = Ticks::Agent),
        seen(list(0, 2)),
    );
    run.work(nothing().tasks(ticked(1, 2, &[1])));
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn everything_is_verified_at_the_end() {
    let rules = proven(true, &[("T001", "one")]);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(nothing().tasks(ticked(1, 2, &[1])));
    run.verified(vec![own("one", 0)]);
    assert_eq!(run.acts(), ["run"]);
    run.work(nothing().tasks(ticked(2, 2, &[2])));
    assert_eq!(run.checked(), ["everything"]);
    // The second task broke the first: its tick is taken back as well.
    run.verified(vec![ran("npm test", Some(0), "ok"), own("one", 1)]);
    assert!(run.trace().ends_with("=> untick T001\n"), "{}", run.trace());
    run.unticked(list(1, 2));
    run.work(nothing().tasks(ticked(2, 2, &[1])));
    run.verified(vec![ran("npm test", Some(0), "ok"), own("one", 0)]);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    assert_eq!(run.state.unproven(), [""; 0]);
}

#[test]
fn a_run_that_died_before_the_box_was_emptied_judges_it_again() {
    let mut run = Script::begin(proven(true, &[]), seen(list(0, 3)));
    run.work(nothing().tasks(ticked(1, 3, &[1])));
    run.verified(failing("1 failed"));
    assert_eq!(run.acts(), ["untick"]);
    // The engine dies here; the next one sees every tick of the file.
    run.world.tasks = Tasks::Read(ticked(1, 3, &[1]));
    run.resume();
    assert_eq!(run.checked(), ["T001"]);
    run.verified(failing("1 failed"));
    assert_eq!(run.acts(), ["untick"]);
}

#[test]
fn a_box_that_could_not_be_emptied_is_tried_again() {
    let mut run = Script::begin(proven(true, &[]), seen(list(0, 3)));
    run.work(nothing().tasks(ticked(1, 3, &[1])));
    run.verified(failing("1 failed"));
    let (seen, left) = (run.world.clone(), vec!["T001".into()]);
    run.feed(Kind::Unticked { seen, left });
    assert_eq!(run.acts(), ["run"]);
    run.work(nothing());
    assert_eq!(run.acts(), ["untick"]);
    run.unticked(list(0, 3));
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn ticks_of_a_lost_turn_are_judged_by_the_next_process() {
    let mut run = Script::begin(proven(true, &[]), seen(ticked(1, 3, &[1])));
    // The tick that was there before is the person's.
    assert_eq!(run.acts(), ["run"]);
    run.world.tasks = Tasks::Read(ticked(2, 3, &[1, 2]));
    run.resume();
    assert_eq!(run.checked(), ["T002"]);
}

#[test]
fn a_known_failure_turns_nothing_back() {
    let known = CommandResult {
        known: true,
        ..ran("npm test", Some(1), "old failure")
    };
    let mut run = Script::begin(proven(true, &[]), seen(list(0, 1)));
    run.work(nothing().tasks(ticked(1, 1, &[1])));
    run.verified(vec![known.clone()]);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    // Of a plain prompt nothing is proven by it.
    let rules = for_prompt().with(|r| r.verify = Some(VerifyWhen::Complete));
    let mut run = Script::begin(rules, no_task_file());
    run.work(claimed()).verified(vec![known]);
    let reason = PauseReason::Unproven;
    assert_eq!(run.outcome(), Some(Outcome::Paused { reason }));
}

fn weakened() -> Vec<Weakening> {
    vec![Weakening {
        file: "tests/a.rs".into(),
        how: How::Removed,
    }]
}

#[test]
fn nothing_counts_while_checks_are_weakened() {
    let mut run = Script::begin(proven(true, &[]), seen(list(0, 1)));
    run.world.weakened = weakened();
    run.work(claimed().tasks(ticked(1, 1, &[1])));
    assert!(run.told().contains(&"checks_weakened"));
    assert!(run.told().contains(&"promise_rejected"));
    assert_eq!(run.acts(), ["untick"]);
    run.unticked(list(0, 1));
    assert_eq!(run.acts(), ["run"]);
    // It is told once, and the agent every time.
    run.work(nothing());
    assert!(!run.told().contains(&"checks_weakened"));
    assert!(format!("{:?}", run.notes()).contains("ChecksWeakened"));
    run.world.weakened.clear();
    run.work(claimed().tasks(ticked(1, 1, &[1])));
    run.verified(passing());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_warning_does_not_stop_anything() {
    let rules = proven(true, &[]).with(|r| r.checks.integrity = Integrity::Warn);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.world.weakened = weakened();
    run.work(nothing().tasks(ticked(1, 1, &[1])));
    assert!(run.told().contains(&"checks_weakened"));
    run.verified(passing());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}
