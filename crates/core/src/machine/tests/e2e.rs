//! End-to-end tests that Ralph runs itself (E2E-01 to E2E-04).

use super::*;

fn tried() -> Rules {
    for_tasks().with(|r| {
        r.checks.e2e = true;
        r.e2e_repairs = 2;
    })
}

impl Script {
    fn e2e(&mut self, exit: i32) -> &mut Script {
        let turn = self.state.turn.number;
        let result = ran("playwright", Some(exit), "2 failed");
        self.feed(Kind::E2eEnded { turn, result })
    }
}

fn read(facts: TaskFacts) -> Did {
    nothing().tasks(facts)
}

#[test]
fn the_exit_status_decides_at_the_end() {
    let mut run = Script::begin(tried(), seen(list(0, 1)));
    run.work(said(Promise::E2ePassed).tasks(list(1, 1)));
    assert_eq!(run.acts(), ["e2e"]);
    assert!(run.told().contains(&"e2e_start"));
    run.e2e(1);
    assert_eq!(run.acts(), ["run"]);
    assert!(format!("{:?}", run.notes()).contains("2 failed"));
    run.work(nothing());
    assert_eq!(run.acts(), ["e2e"]);
    run.e2e(0);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn repairs_have_an_end() {
    let mut run = Script::begin(tried(), seen(list(0, 1)));
    run.work(read(list(1, 1)));
    for _ in 0..2 {
        run.e2e(1);
        assert_eq!(run.acts(), ["run"]);
        run.work(nothing());
    }
    run.e2e(1);
    let Some(Outcome::Blocked { reason }) = run.outcome() else {
        panic!("{:?}", run.outcome());
    };
    assert!(reason.contains("playwright"), "{reason}");
}

#[test]
fn a_phase_is_tried_before_the_next_goes_on() {
    let mut run = Script::begin(tried(), seen(phased(&[(0, 1), (0, 1)])));
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (0, 1)])));
    assert_eq!(run.acts(), ["e2e"]);
    run.e2e(1);
    assert_eq!(run.acts(), ["run"]);
    // Whatever the repair says, it is tried.
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["e2e"]);
    run.e2e(0);
    assert_eq!(run.acts(), ["run"]);
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["run"], "it passed, and is not tried again");
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (1, 1)])));
    run.e2e(0);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn verification_comes_first() {
    let rules = tried().with(|r| r.verify = Some(VerifyWhen::Complete));
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(read(list(1, 1)));
    assert_eq!(run.acts(), ["verify"]);
    run.verified(passing());
    assert_eq!(run.acts(), ["e2e"]);
    run.e2e(0);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    assert_eq!(run.state.evidence.proven.len(), 3);
}

#[test]
fn without_such_tests_that_is_told_once_e2e_03() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 1), (0, 1), (0, 1)])));
    run.work(said(Promise::PhaseComplete));
    assert!(!run.told().contains(&"e2e_skipped"), "it was not true");
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (0, 1), (0, 1)])));
    assert!(run.told().contains(&"e2e_skipped"), "{:?}", run.told());
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (1, 1), (0, 1)])));
    assert!(!run.told().contains(&"e2e_skipped"), "{:?}", run.told());
}

/// A promise alone is no test (E2E-03).
#[test]
fn tests_that_only_the_agent_speaks_of_were_run_by_nobody_e2e_03() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.work(said(Promise::E2ePassed).tasks(list(1, 1)));
    assert!(run.told().contains(&"e2e_skipped"), "{:?}", run.told());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

/// E2E-02: an agent that calls the tests failed while they pass has an end too.
#[test]
fn an_agent_that_disputes_what_passes_is_blocked_e2e_02() {
    let failed = || said(Promise::E2eFailed("login".into())).tasks(list(0, 1));
    let mut run = Script::begin(tried(), seen(list(0, 1)));
    for _ in 0..2 {
        run.work(failed());
        assert_eq!(run.acts(), ["e2e"]);
        run.e2e(0);
        assert_eq!(run.acts(), ["run"]);
    }
    run.work(failed()).e2e(0);
    let Some(Outcome::Blocked { reason }) = run.outcome() else {
        panic!("{:?}", run.outcome());
    };
    assert!(reason.contains("login"), "{reason}");
}
