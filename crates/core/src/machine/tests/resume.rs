//! A run is taken up again (RESM-02, RESM-03, BRKR-09, X-04), and events that
//! come too late.

use super::*;
use crate::proof::EvidenceLevel;

fn counted() -> Script {
    let mut run = Script::begin(for_tasks(), seen(list(0, 9)));
    run.turn(nothing()).turn(claimed()).turn(failed("x"));
    assert_ne!(run.state.counters, Counters::default());
    run
}

/// One script for each way a run can end, complete and cancelled aside.
fn ended_runs() -> Vec<Script> {
    let base = || Script::begin(for_tasks(), seen(list(0, 9)));
    let mut blocked = base();
    blocked.work(said(Promise::Blocked("x".into())));
    let mut broken = base();
    for _ in 0..5 {
        broken.turn(said(Promise::Continue));
    }
    let mut errors = base();
    errors.turn(failed("a")).wake().turn(failed("b")).wake();
    errors.turn(failed("c"));
    let mut interrupted = base();
    interrupted
        .request(Request::Interrupt)
        .turn(ended(End::Stopped));
    let mut paused = base();
    paused.request(Request::Pause).turn(nothing());
    let mut unproven = Script::begin(for_prompt(), no_task_file());
    unproven.work(claimed());
    let rules = for_tasks().with(|r| {
        r.verify = Some(VerifyWhen::Complete);
        r.limits.false_promise = 1;
    });
    let mut gate = Script::begin(rules, seen(list(0, 1)));
    gate.work(claimed().tasks(list(1, 1)))
        .verified(failing("x"));
    gate.world = seen(list(0, 1));
    vec![blocked, broken, errors, interrupted, paused, unproven, gate]
}

#[test]
fn every_unfinished_end_can_be_taken_up_and_keeps_its_iterations_resm_02() {
    for mut run in ended_runs() {
        let (outcome, turns) = (run.outcome().unwrap(), run.state.turn.number);
        run.pass(60_000).resume();
        assert_eq!(run.acts(), ["run"], "{outcome:?}");
        assert_eq!(run.told()[0], "resume", "{outcome:?}");
        assert_eq!(run.call().unwrap().turn, turns + 1, "{outcome:?}");
        assert_eq!(run.state.counters, Counters::default(), "{outcome:?}");
        assert_eq!(run.state.failures.errors, [], "{outcome:?}");
    }
}

/// Else what was red at the start would be taken for blind for ever.
#[test]
fn checks_that_were_cut_off_before_the_first_turn_run_again() {
    let rules = for_tasks().with(|r| {
        r.verify = Some(VerifyWhen::Complete);
        r.checks.level = EvidenceLevel::Proven;
    });
    let mut run = Script::begin(rules, seen(list(0, 2)));
    assert_eq!(run.acts(), ["preflight"]);
    run.request(Request::Interrupt);
    run.feed(Kind::Preflighted(VerifyReport::default()));
    assert_eq!(run.acts(), ["finish"]);
    run.resume();
    assert_eq!(run.acts(), ["preflight"]);
    run.feed(Kind::Preflighted(VerifyReport {
        results: passing(),
        ..VerifyReport::default()
    }));
    assert_eq!(run.acts(), ["run"]);
    run.request(Request::Pause).turn(nothing()).resume();
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn complete_and_cancelled_stay_what_they_are() {
    let complete = Script::begin(for_tasks(), seen(list(2, 2)));
    let mut cancelled = Script::begin(for_tasks(), seen(list(0, 2)));
    cancelled.request(Request::Cancel).turn(ended(End::Stopped));
    for mut run in [complete, cancelled] {
        let outcome = run.outcome();
        run.world = seen(list(0, 2));
        run.resume();
        assert_eq!(run.last, []);
        assert_eq!(run.outcome(), outcome);
    }
}

/// The process died in each of the stages; another one takes over.
#[test]
fn a_run_that_died_goes_on_from_any_stage() {
    let running = Script::begin(for_tasks(), seen(list(0, 9)));
    let waiting = counted();
    let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Each));
    let mut verifying = Script::begin(rules, seen(list(0, 9)));
    verifying.work(said(Promise::Continue));
    let mut asking = Script::begin(
        limited(all_tasks(), |l| {
            l.max_iterations = 1;
            l.on_limit = OnLimit::Ask;
        }),
        seen(list(0, 9)),
    );
    asking.work(said(Promise::Continue));
    let new = Script::new(for_tasks(), seen(list(0, 9)));
    for mut run in [new, running, waiting, verifying, asking] {
        let (stage, turns) = (run.state.stage.clone(), run.state.turn.number);
        run.resume();
        assert_eq!(run.call().map(|c| c.turn), Some(turns + 1), "{stage:?}");
        assert_eq!(run.state.counters, Counters::default(), "{stage:?}");
    }
}

#[test]
fn a_used_up_limit_is_extended_first_resm_03() {
    let rules = limited(all_tasks(), |l| {
        l.max_iterations = 2;
        l.extend_by = 100;
        l.max_duration_ms = 5000;
    });
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.work(said(Promise::Continue).took(2000));
    run.work(said(Promise::Continue).took(4000));
    assert_eq!(run.outcome(), paused(Limit::Iterations));
    run.resume();
    let limits = &run.state.rules.limits;
    assert_eq!(
        (limits.max_iterations, limits.max_duration_ms),
        (102, 11_000)
    );
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn a_limit_that_was_not_reached_stays_as_it_is() {
    let rules = limited(all_tasks(), |l| l.max_iterations = 2);
    let mut run = Script::begin(rules, seen(list(0, 9)));
    run.request(Request::Pause).work(said(Promise::Continue));
    run.resume();
    assert_eq!(run.state.rules.limits.max_iterations, 2);
    assert!(!run.told().contains(&"limit_extended"));
}

#[test]
fn a_list_that_was_finished_meanwhile_is_complete() {
    let mut run = counted();
    run.world = seen(list(9, 9));
    run.resume();
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn tasks_that_a_person_removed_before_the_resume_are_not_missed() {
    let mut run = counted();
    run.world = seen(list(0, 4));
    run.resume().work(claimed().tasks(list(4, 4)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn trees_that_were_seen_before_the_resume_are_still_known() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 9)));
    run.turn(said(Promise::Continue).tree("a"));
    run.request(Request::Pause)
        .turn(said(Promise::Continue).tree("b"));
    run.resume().turn(said(Promise::Continue).tree("a"));
    assert_eq!(run.state.counters.stalled, 1);
}

#[test]
fn what_the_agent_has_to_know_survives_the_pause() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.request(Request::Pause).work(claimed());
    run.resume();
    assert!(matches!(run.notes()[0], PromptNote::PromiseRejected { .. }));
}

/// The state after an event that does not fit, but for its clock.
#[test]
fn events_that_do_not_fit_change_nothing() {
    let world = seen(list(0, 9));
    let report = |turn| {
        Kind::TurnEnded(TurnReport {
            mentioned: None,
            attempt: 1,
            spent: Default::default(),
            refusal: None,
            role: None,
            turn,
            end: End::Exit(0),
            duration_ms: 1,
            promise: Some(complete()),
            failure: String::new(),
            seen: seen(list(9, 9)),
        })
    };
    let results = |turn| {
        Kind::Verified(VerifyReport {
            tree: None,
            turn,
            results: passing(),
            ..VerifyReport::default()
        })
    };
    let started = || Kind::Started {
        seen: seen(list(9, 9)),
    };
    let woke = || Kind::Woke {
        seen: seen(list(9, 9)),
    };
    let answered = || Kind::Answered {
        answer: MenuAnswer::Abandon,
    };
    let check = |run: &Script, stale: Vec<Kind>| {
        for kind in stale {
            let mut after = run.clone();
            after.feed(kind.clone());
            assert_eq!(after.last, [], "{kind:?}");
            after.state.clock = run.state.clock.clone();
            assert_eq!(after.state, run.state, "{kind:?}");
        }
    };

    let new = Script::new(for_tasks(), world.clone());
    check(&new, vec![report(0), results(0), woke(), answered()]);

    let running = Script::begin(for_tasks(), world.clone());
    check(
        &running,
        vec![
            report(0),
            report(2),
            results(1),
            started(),
            woke(),
            answered(),
        ],
    );

    let waiting = counted();
    check(&waiting, vec![report(3), results(3), started(), answered()]);

    let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Each));
    let mut verifying = Script::begin(rules, world.clone());
    verifying.work(said(Promise::Continue));
    check(
        &verifying,
        vec![
            report(1),
            results(0),
            results(2),
            started(),
            woke(),
            answered(),
        ],
    );

    let rules = limited(all_tasks(), |l| {
        l.max_iterations = 1;
        l.on_limit = OnLimit::Ask;
    });
    let mut asking = Script::begin(rules, world);
    asking.work(said(Promise::Continue));
    check(&asking, vec![report(1), results(1), started(), woke()]);

    for run in ended_runs() {
        let turn = run.state.turn.number;
        let request = Request::Kill;
        check(
            &run,
            vec![
                report(turn),
                results(turn),
                started(),
                woke(),
                answered(),
                Kind::Requested { request },
            ],
        );
    }
}

#[test]
fn a_claim_from_before_the_resume_is_not_held_against_the_agent() {
    let rules = for_tasks().with(|r| r.verify = Some(VerifyWhen::Complete));
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1)));
    run.resume();
    assert_eq!(run.acts(), ["verify"]);
    run.verified(failing("x"));
    assert!(!run.told().contains(&"promise_rejected"));
    assert_eq!(run.acts(), ["run"]);
}

/// Nobody drives the run: it is given up from where it lies.
#[test]
fn an_abandoned_run_is_cancelled_and_stays_so_resm_09() {
    let check = |run: &mut Script| {
        run.feed(Kind::Abandoned);
        assert_eq!(run.outcome(), Some(Outcome::Cancelled));
        assert_eq!(run.told(), ["loop_end"]);
        assert_eq!(run.acts(), ["finish"]);
        run.resume();
        assert_eq!(run.last, [], "there is no way back");
        run.feed(Kind::Abandoned);
        assert_eq!(run.last, [], "nor twice");
    };
    let begin = || Script::begin(for_tasks(), seen(list(0, 2)));
    check(&mut begin());
    check(begin().work(said(Promise::Blocked("key".into()))));
    check(begin().request(Request::Kill).turn(ended(End::Stopped)));
    check(begin().turn(failed("x")));
}

#[test]
fn a_complete_run_cannot_be_abandoned_resm_09() {
    let mut run = Script::begin(for_tasks(), seen(list(2, 2)));
    run.feed(Kind::Abandoned);
    assert_eq!(run.last, []);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn the_time_until_a_run_is_abandoned_is_not_its_own_resm_09() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.work(said(Promise::Continue).took(3000));
    run.pass(86_400_000).feed(Kind::Abandoned);
    assert_eq!(run.state.elapsed_ms(), 3000);
}

/// The work is another than the one that was judged (issue 18).
#[test]
fn what_was_complete_can_be_taken_up_again_after_an_undo() {
    let mut run = Script::begin(for_tasks(), seen(list(2, 2)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    let undone = |seen| {
        Kind::Undone(Undone {
            seen,
            ..Undone::default()
        })
    };
    assert_ne!(run.state.evidence.proven, []);
    run.feed(undone(None));
    assert_eq!(run.last, [], "it has only begun");
    run.feed(undone(Some(Box::new(seen(list(1, 2))))));
    assert_eq!(run.told(), ["undone"]);
    assert_eq!(run.state.evidence.proven, [], "it is other work");
    assert!(run.outcome().is_some_and(|outcome| outcome.can_go_on()));
    let facts = run.state.tasks.facts.clone().unwrap_or_default();
    assert_eq!((facts.completed, facts.total), (1, 2));
}
