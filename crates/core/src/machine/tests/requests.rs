//! Somebody wants the run to stop (LOOP-17, INTR-02, INTR-03, INTR-07).

use super::*;

const REQUESTS: [Request; 4] = [
    Request::Pause,
    Request::Interrupt,
    Request::Kill,
    Request::Cancel,
];

fn end_of(request: Request) -> Outcome {
    match request {
        Request::Pause => Outcome::Paused {
            reason: PauseReason::Requested,
        },
        Request::Interrupt | Request::Kill => Outcome::Interrupted,
        Request::Cancel => Outcome::Cancelled,
    }
}

fn running() -> Script {
    Script::begin(for_tasks(), seen(list(0, 2)))
}

fn verifying() -> Script {
    let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Complete));
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1)));
    assert_eq!(run.acts(), ["verify"]);
    run
}

fn waiting() -> Script {
    let mut run = running();
    run.turn(failed("a"));
    assert_eq!(run.acts(), ["wait"]);
    run
}

fn at_the_menu() -> Script {
    let rules = limited(all_tasks(), |l| {
        l.max_iterations = 1;
        l.on_limit = OnLimit::Ask;
    });
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["ask"]);
    run
}

#[test]
fn where_no_child_runs_every_request_ends_at_once() {
    for request in REQUESTS {
        let new = Script::new(for_tasks(), seen(list(0, 2)));
        for mut run in [new, waiting(), at_the_menu()] {
            run.request(request);
            assert_eq!(run.acts(), ["finish"]);
            assert_eq!(run.outcome(), Some(end_of(request)));
        }
    }
}

#[test]
fn a_running_child_is_ended_first_intr_02() {
    for (request, want) in [
        (Request::Pause, &[][..]),
        (Request::Interrupt, &["stop"]),
        (Request::Kill, &["kill"]),
        (Request::Cancel, &["stop"]),
    ] {
        for mut run in [running(), verifying()] {
            run.request(request);
            assert_eq!(run.acts(), want, "{request:?}");
            assert_eq!(run.outcome(), None, "the child is still there");
        }
        let mut run = running();
        let end = if request == Request::Pause {
            said(Promise::Continue)
        } else {
            ended(End::Stopped)
        };
        run.request(request).turn(end);
        assert_eq!(run.outcome(), Some(end_of(request)));
    }
}

#[test]
fn a_verification_that_was_stopped_judges_nothing() {
    for request in [Request::Interrupt, Request::Kill, Request::Cancel] {
        let mut run = verifying();
        run.request(request);
        run.verified(vec![ran("npm test", None, "terminated")]);
        assert_eq!(run.outcome(), Some(end_of(request)));
        assert!(!run.told().contains(&"promise_rejected"));
    }
}

#[test]
fn a_second_interrupt_kills_intr_02() {
    let mut run = running();
    run.request(Request::Interrupt).request(Request::Kill);
    assert_eq!(run.acts(), ["kill"]);
    run.turn(ended(End::Stopped));
    assert_eq!(run.outcome(), Some(Outcome::Interrupted));
}

#[test]
fn a_cancelled_run_stays_cancelled_when_it_is_killed_intr_03() {
    for then in REQUESTS {
        let mut run = running();
        run.request(Request::Cancel).request(then);
        run.turn(ended(End::Stopped));
        assert_eq!(run.outcome(), Some(Outcome::Cancelled), "{then:?}");
    }
}

#[test]
fn a_pause_lets_the_turn_be_judged() {
    let check = |did: Did, want: Outcome| {
        let mut run = running();
        run.request(Request::Pause).turn(did.clone());
        assert_eq!(run.outcome(), Some(want), "{did:?}");
    };
    check(nothing(), end_of(Request::Pause));
    check(claimed(), end_of(Request::Pause));
    check(failed("a"), end_of(Request::Pause));
    check(claimed().tasks(list(2, 2)), Outcome::Complete);
    check(
        said(Promise::Blocked("key".into())),
        Outcome::Blocked {
            reason: "key".into(),
        },
    );
}

#[test]
fn a_pause_lets_a_finished_list_be_verified() {
    let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Complete));
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.request(Request::Pause);
    run.work(claimed().tasks(list(1, 1)));
    assert_eq!(run.acts(), ["verify"]);
}

#[test]
fn an_interrupted_turn_is_not_judged_further() {
    let check = |did: Did| {
        let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Each));
        let mut run = Script::begin(rules, seen(list(0, 1)));
        run.request(Request::Interrupt).work(did.clone());
        assert_eq!(run.acts(), ["finish"], "{did:?}");
        assert_eq!(run.outcome(), Some(Outcome::Interrupted), "{did:?}");
    };
    check(ended(End::Stopped));
    check(ended(End::Stopped).tasks(list(1, 1)));
    check(nothing());
    check(said(Promise::Continue));
    check(claimed());
    check(claimed().tasks(list(1, 1)));
    check(failed("a"));
}

#[test]
fn what_a_stopped_turn_left_is_counted_but_no_fault() {
    let mut run = running();
    run.request(Request::Interrupt);
    run.turn(ended(End::Stopped).tasks(list(1, 2)));
    assert_eq!(run.state.tasks.facts.as_ref().unwrap().completed, 1);
    assert_eq!(run.state.counters, Counters::default());
}

#[test]
fn an_interrupted_turn_that_failed_starts_no_verification() {
    for request in [Request::Interrupt, Request::Kill, Request::Cancel] {
        let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Complete));
        let mut run = Script::begin(rules, seen(list(0, 1)));
        run.request(request);
        run.work(ended(End::Signal(15)).tasks(list(1, 1)));
        assert_eq!(run.outcome(), Some(end_of(request)));
    }
}

#[test]
fn a_pause_lets_the_verification_be_judged() {
    let mut run = verifying();
    run.request(Request::Pause).verified(passing());
    assert_eq!(run.outcome(), Some(Outcome::Complete));

    let mut run = verifying();
    run.request(Request::Pause).verified(failing("x"));
    assert_eq!(run.outcome(), Some(end_of(Request::Pause)));
    assert!(run.told().contains(&"promise_rejected"));
}

/// Requests only ever get stronger.
#[test]
fn a_pause_does_not_take_an_interrupt_back_intr_02() {
    for first in [Request::Interrupt, Request::Kill] {
        let mut run = running();
        run.request(first).request(Request::Pause);
        run.turn(ended(End::Stopped));
        assert_eq!(run.outcome(), Some(Outcome::Interrupted), "{first:?}");
    }
    let mut run = running();
    run.request(Request::Interrupt).request(Request::Cancel);
    run.turn(ended(End::Stopped));
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
}
