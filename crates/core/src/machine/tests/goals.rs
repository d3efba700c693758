//! When a run is complete, and what it takes (LOOP-05, LOOP-06, PROM-12,
//! PROM-13, TASK-04, TASK-17, X-22).

use super::*;

#[test]
fn a_whole_run_from_the_first_task_to_the_last() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 1), (0, 1)])));
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (0, 1)])));
    run.work(claimed().tasks(phased(&[(1, 1), (1, 1)])));
    insta::assert_snapshot!(run.trace(), @r#"
    loop_start tasks={"total":2,"completed":0,"pending":2}
    iteration_start iteration=1 phase=1 task="T001"
    => run turn 1 for 1800000 ms
    iteration_complete iteration=1 phase=1 subtasks_done=1 progress=["tasks","phase","tree"] tasks={"total":2,"completed":1} duration_ms=1000
    promise_detected iteration=1 promise="PHASE COMPLETE"
    e2e_skipped iteration=1
    iteration_start iteration=2 phase=2 task="T002"
    => run turn 2 for 1800000 ms
    iteration_complete iteration=2 phase=2 subtasks_done=1 progress=["tasks","tree"] tasks={"total":2,"completed":2} duration_ms=1000
    promise_detected iteration=2 promise="COMPLETE"
    task_complete iteration=2
    loop_end outcome="complete" exit_code=0 iterations=2 tasks={"total":2,"completed":2,"pending":0} duration_ms=2000 proven=[{"kind":"tasks","completed":2,"total":2}] usage={"calls":2,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":2,"uncounted_calls":2,"partial_calls":0}
    => finish complete
    "#);
}

#[test]
fn nothing_open_at_the_start_completes_without_a_turn_loop_05() {
    let run = Script::begin(for_tasks(), seen(list(3, 3)));
    insta::assert_snapshot!(run.trace(), @r#"
    loop_start tasks={"total":3,"completed":3,"pending":0}
    task_complete iteration=0
    loop_end outcome="complete" exit_code=0 iterations=0 tasks={"total":3,"completed":3,"pending":0} duration_ms=0 proven=[{"kind":"tasks","completed":3,"total":3}] usage={"calls":0,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":0,"uncounted_calls":0,"partial_calls":0}
    => finish complete
    "#);
    assert_eq!(run.state.turn.number, 0);
}

#[test]
fn nothing_open_at_the_start_needs_no_promise_prom_13() {
    let rules = for_tasks().with(|r| r.promise_required = true);
    let run = Script::begin(rules, seen(list(3, 3)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn no_tasks_at_all_is_no_success_loop_05() {
    let run = Script::begin(for_tasks(), seen(list(0, 0)));
    assert_eq!(run.outcome(), None);
}

#[test]
fn turns_are_numbered_from_one_loop_06() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    for turn in 1..=3 {
        assert_eq!(run.call().unwrap().turn, turn);
        run.work(said(Promise::Continue));
    }
}

#[test]
fn a_turn_gets_the_next_task_and_its_phase() {
    let run = Script::begin(for_tasks(), seen(phased(&[(2, 2), (0, 1)])));
    let call = run.call().unwrap();
    assert_eq!(call.phase.as_deref(), Some("2"));
    assert_eq!(call.task, Some(task(3)));
}

#[test]
fn the_phase_that_was_asked_for_is_the_phase_of_the_turn() {
    let goal = Goal::Tasks {
        phase: Some("3".into()),
    };
    let run = Script::begin(Rules::new(goal), seen(list(0, 2)));
    assert_eq!(run.call().unwrap().phase.as_deref(), Some("3"));
}

/// A gate around an agent: whatever it says, the checks decide.
#[test]
fn without_a_promise_the_checks_decide_after_each_turn_veri_16() {
    let rules = Rules::new(Goal::Prompt).with(|r| {
        r.checks_decide = true;
        r.verify = Some(VerifyWhen::Complete);
    });
    for promise in [
        None,
        Some(Promise::Continue),
        Some(Promise::Unknown("COMPLETE".into())),
    ] {
        let mut run = Script::begin(rules.clone(), Observation::default());
        let did = Did {
            promise: promise.clone(),
            ..nothing()
        };
        run.work(did.clone());
        run.verified(failing("red"));
        assert_eq!(run.outcome(), None, "{promise:?}");
        run.work(did);
        run.verified(passing());
        assert_eq!(run.outcome(), Some(Outcome::Complete), "{promise:?}");
    }
}

/// The list is finished by the turn: does that end the run?
#[test]
fn a_finished_list_completes_with_or_without_a_promise_prom_12_prom_13() {
    let check = |promise_required: bool, promise: Option<Promise>, completes: bool| {
        let rules = for_tasks().with(|r| r.promise_required = promise_required);
        let mut run = Script::begin(rules, seen(list(0, 1)));
        let did = Did {
            promise: promise.clone(),
            ..nothing()
        };
        run.work(did.tasks(list(1, 1)));
        let done = run.outcome() == Some(Outcome::Complete);
        assert_eq!(done, completes, "{promise_required} {promise:?}");
    };
    for promise in [complete(), Promise::PhaseComplete, Promise::E2ePassed] {
        check(false, Some(promise.clone()), true);
        check(true, Some(promise), true);
    }
    for promise in [
        None,
        Some(Promise::Continue),
        Some(Promise::Unknown("done?".into())),
    ] {
        check(false, promise.clone(), true);
        check(true, promise, false);
    }
    // What the agent itself calls broken is not done (T-03).
    let broken = Some(Promise::E2eFailed("login".into()));
    check(false, broken.clone(), false);
    check(true, broken, false);
}

#[test]
fn a_required_promise_may_come_a_turn_later_prom_13() {
    let rules = for_tasks().with(|r| r.promise_required = true);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(nothing().tasks(list(1, 1)));
    assert_eq!(run.acts(), ["run"]);
    run.turn(claimed());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_finished_phase_goes_on_to_the_next_x_22() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 1), (0, 1)])));
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 1), (0, 1)])));
    assert_eq!(run.call().unwrap().phase.as_deref(), Some("2"));
    assert_eq!(run.notes(), []);
    assert_eq!(run.state.counters.false_promise, 0);
}

#[test]
fn the_only_phase_in_scope_ends_the_run_x_22() {
    let goal = Goal::Tasks {
        phase: Some("2".into()),
    };
    let in_scope = |done| TaskFacts {
        phase: (done < 2).then(|| "2".into()),
        phases: vec![PhaseFacts {
            key: "2".into(),
            title: "build".into(),
            completed: done,
            total: 2,
        }],
        ..list(done, 2)
    };
    let mut run = Script::begin(Rules::new(goal), seen(in_scope(0)));
    run.work(said(Promise::PhaseComplete).tasks(in_scope(1)));
    assert!(run.told().contains(&"promise_rejected"));
    run.work(said(Promise::PhaseComplete).tasks(in_scope(2)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_phase_that_is_not_done_is_no_finished_phase_prom_11() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 3), (0, 1)])));
    run.work(said(Promise::PhaseComplete).tasks(phased(&[(1, 3), (0, 1)])));
    let missing = Missing::OpenInPhase {
        phase: "1".into(),
        count: 2,
    };
    assert_eq!(
        run.notes(),
        [PromptNote::PromiseRejected {
            claim: "PHASE COMPLETE".into(),
            missing: vec![Spoken::of(&missing)],
        }]
    );
    // The agent reads it in the person's language (DISP-06).
    let told = run.notes()[0].say(Lang::ZhTw);
    assert!(told.contains(&missing.say(Lang::ZhTw)), "{told}");
}

/// The promise is about the phase that the agent was sent into, whatever the
/// file calls the current one afterwards.
#[test]
fn a_phase_claim_is_judged_by_the_phase_of_the_turn() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(1, 1), (0, 1), (0, 1)])));
    let unticked = phased(&[(0, 1), (1, 1), (0, 1)]);
    run.work(said(Promise::PhaseComplete).tasks(unticked));
    assert!(!run.told().contains(&"promise_rejected"));
    assert_eq!(run.call().unwrap().phase.as_deref(), Some("1"));
}

#[test]
fn a_list_without_phases_takes_phase_complete_for_all_of_it() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.work(said(Promise::PhaseComplete).tasks(list(1, 2)));
    assert!(run.told().contains(&"promise_rejected"));
}

#[test]
fn a_file_that_shrinks_is_reported_and_not_complete_task_17() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    let shorter = list(2, 2).with(|f| f.removed = vec!["T003".into()]);
    run.work(claimed().tasks(shorter));
    insta::assert_snapshot!(trace(&run.last), @r#"
    iteration_complete iteration=1 subtasks_done=2 progress=["tasks","tree"] tasks={"total":2,"completed":2} duration_ms=1000
    tasks_removed iteration=1 tasks=["T003"]
    promise_detected iteration=1 promise="COMPLETE"
    promise_rejected iteration=1 reason="tasks removed from the task file, or with other words: 1" promise="COMPLETE" missing=["tasks removed from the task file, or with other words: 1"]
    iteration_start iteration=2
    => run turn 2 for 1800000 ms
         TasksShrank { removed: ["T003"] }
         PromiseRejected { claim: "COMPLETE", missing: ["tasks removed from the task file, or with other words: 1"] }
    "#);
    run.work(nothing());
    assert_eq!(
        run.outcome(),
        None,
        "silence completes it no more than a claim"
    );
    run.work(claimed().tasks(list(3, 3)));
    assert_eq!(run.outcome(), Some(Outcome::Complete), "the task is back");
}

#[test]
fn tasks_that_were_added_later_may_not_be_lost_either_task_17() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    run.work(nothing().tasks(list(1, 4)));
    run.work(claimed().tasks(list(2, 2)));
    assert!(run.told().contains(&"promise_rejected"));
}

#[test]
fn a_task_that_is_open_again_is_reported_task_17() {
    let mut run = Script::begin(for_tasks(), seen(list(2, 3)));
    let unticked = list(1, 3).with(|f| f.unticked = vec!["T002".into()]);
    run.work(said(Promise::Continue).tasks(unticked));
    assert!(run.told().contains(&"tasks_unticked"));
    assert_eq!(
        run.notes(),
        [PromptNote::Unticked {
            ids: vec!["T002".into()],
        }]
    );
}

#[test]
fn tasks_that_somebody_ticked_during_a_pause_complete_the_run_loop_04() {
    let rules = for_tasks().with(|r| r.limits.pause_between_ms = 3000);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(said(Promise::Continue));
    run.wake_to(Tasks::Read(list(1, 1)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    assert_eq!(run.state.turn.number, 1);
}

#[test]
fn a_failed_turn_that_finished_the_list_completes_by_evidence() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.turn(failed("connection lost").tasks(list(1, 1)));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

/// A claim is no evidence, and neither is an empty task file.
#[test]
fn a_claim_about_no_tasks_is_rejected_loop_05() {
    let nothing_to_count = [
        seen(list(0, 0)),
        no_task_file(),
        Observation {
            tasks: unreadable(),
            ..no_task_file()
        },
    ];
    for world in nothing_to_count {
        let file = world.tasks.clone();
        let mut run = Script::begin(for_tasks(), world);
        run.work(claimed());
        assert_eq!(run.outcome(), None, "{file:?}");
    }
}

/// Every task was ticked once; what the file says now is not known.
#[test]
fn facts_of_a_file_that_is_gone_complete_nothing() {
    let rules = for_tasks().with(|r| {
        r.verify = Some(VerifyWhen::Complete);
        r.limits.pause_between_ms = 1000;
    });
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(claimed().tasks(list(1, 1))).verified(failing("x"));
    run.wake();
    for gone in [unreadable(), Tasks::None] {
        let mut run = run.clone();
        run.work(claimed().file(gone.clone()));
        assert_eq!(run.acts(), ["wait"], "{gone:?}");
    }
}

#[test]
fn a_phase_claim_does_not_complete_a_file_that_lost_tasks_task_17() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 1), (0, 2)])));
    let shorter = phased(&[(1, 1)]).with(|f| f.removed = vec!["T002".into(), "T003".into()]);
    run.work(said(Promise::PhaseComplete).tasks(shorter));
    assert!(run.told().contains(&"promise_rejected"));
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn tasks_that_get_lost_during_a_pause_are_reported_and_missed_task_17() {
    let rules = for_tasks().with(|r| r.limits.pause_between_ms = 1000);
    let mut run = Script::begin(rules, seen(list(0, 3)));
    run.work(said(Promise::Continue));
    let shorter = list(0, 2).with(|f| f.removed = vec!["T003".into()]);
    run.wake_to(Tasks::Read(shorter));
    assert!(run.told().contains(&"tasks_removed"));
    let removed = vec!["T003".into()];
    assert_eq!(run.notes(), [PromptNote::TasksShrank { removed }]);
}

#[test]
fn tasks_that_came_during_a_pause_may_not_be_lost_task_17() {
    let rules = for_tasks().with(|r| r.limits.pause_between_ms = 1000);
    let mut run = Script::begin(rules, seen(list(0, 1)));
    run.work(said(Promise::Continue));
    run.wake_to(Tasks::Read(list(0, 3)));
    run.work(claimed().tasks(list(1, 1)));
    assert!(run.told().contains(&"promise_rejected"));
}

#[test]
fn a_task_that_was_swapped_for_a_done_one_is_missed_task_17() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 2)));
    let swapped = list(2, 2).with(|f| f.lost = vec!["T002".into()]);
    run.work(claimed().tasks(swapped.clone()));
    assert!(run.told().contains(&"promise_rejected"));
    run.work(nothing().tasks(swapped));
    assert_eq!(run.outcome(), None);
    run.work(claimed().tasks(list(2, 2)));
    assert_eq!(run.outcome(), Some(Outcome::Complete), "it is back");
}

#[test]
fn the_counts_in_the_task_file_are_kept_in_step_when_boxes_change_task_11() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 3)));
    run.work(said(Promise::Continue).tasks(list(1, 3)));
    assert!(run.last.contains(&Effect::KeepInStep));
    run.work(said(Promise::Continue).tasks(list(1, 3)));
    assert!(!run.last.contains(&Effect::KeepInStep));
}

#[test]
fn e2e_passed_goes_on_while_a_later_phase_is_open_x_22() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 1), (0, 1)])));
    run.work(said(Promise::E2ePassed).tasks(phased(&[(1, 1), (0, 1)])));
    assert!(!run.told().contains(&"promise_rejected"));
    assert_eq!(run.outcome(), None);
    run.work(said(Promise::E2ePassed).tasks(phased(&[(1, 1), (1, 1)])));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn the_agent_is_told_that_its_tag_was_not_understood() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    run.work(said(Promise::Unknown("FINISHED".into())));
    let text = "FINISHED".to_owned();
    assert_eq!(run.notes(), [PromptNote::UnknownPromise { text }]);
}
