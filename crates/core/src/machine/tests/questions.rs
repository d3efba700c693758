//! Questions that don't block, and limits that a person raises meanwhile.

use super::*;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// A list of which any task can be worked on.
fn free(done: usize, total: usize) -> TaskFacts {
    TaskFacts {
        ready: (done + 1..=total).map(task).collect(),
        ..list(done, total)
    }
}

fn asking(rules: Rules) -> Rules {
    rules.with(|rules| rules.question_wait_ms = Some(HOUR_MS))
}

fn question(words: &str) -> Did {
    said(Promise::Question(words.into()))
}

fn replied(run: &mut Script, question: u32, text: &str) {
    let text = text.into();
    run.feed(Kind::Replied { question, text });
}

fn paused_for_an_answer() -> Option<Outcome> {
    let reason = PauseReason::Question;
    Some(Outcome::Paused { reason })
}

/// The task of the call that the last event led to.
fn task_of(run: &Script) -> Option<&str> {
    run.call()?.task.as_ref().map(|task| task.id.as_str())
}

#[test]
fn the_loop_goes_on_with_other_tasks_until_somebody_answers() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 3)));
    run.turn(question("Which? | options: a; b | default: a"));
    assert!(run.told().contains(&"question_asked"), "{:?}", run.told());
    assert_eq!(task_of(&run), Some("T002"));
    assert!(
        matches!(run.notes(), [PromptNote::Parked { waiting }] if waiting == &["T001: Which?"])
    );
    run.work(said(Promise::Continue));
    assert_eq!(task_of(&run), Some("T002"));
    replied(&mut run, 1, "b");
    assert_eq!(run.told(), ["question_answered"]);
    assert!(run.acts().is_empty(), "the turn goes on");
    run.work(said(Promise::Continue));
    assert_eq!(task_of(&run), Some("T001"));
    assert!(matches!(
        run.notes(),
        [PromptNote::Answered { answer, by_default: false, .. }] if answer == "b"
    ));
}

#[test]
fn where_nothing_else_is_left_the_answer_is_waited_for() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 1)));
    run.turn(question("Which?"));
    assert_eq!(run.waits(), Some((HOUR_MS, WaitReason::Answer)));
    let deadline = run.now.wall_ms + HOUR_MS as i64;
    assert_eq!(run.state.held_until(), Some(deadline));
    run.pass(1000);
    replied(&mut run, 7, "of another question");
    assert!(run.last.is_empty());
    replied(&mut run, 1, "this one");
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(task_of(&run), Some("T001"));
}

#[test]
fn the_deadline_takes_the_default_and_says_so() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 1)));
    run.turn(question("Which? | default: the small one"));
    run.wake();
    assert!(run.told().contains(&"question_answered"));
    assert!(matches!(
        run.notes(),
        [PromptNote::Answered { answer, by_default: true, .. }] if answer == "the small one"
    ));
    // It also passes while other tasks are worked on.
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 2)));
    run.turn(question("Which? | default: a"));
    run.work(said(Promise::Continue).took(HOUR_MS));
    assert!(run.told().contains(&"question_answered"));
    assert_eq!(task_of(&run), Some("T001"));
}

#[test]
fn a_question_without_a_default_pauses_the_run_in_the_end() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 1)));
    run.turn(question("Which?"));
    run.wake();
    assert_eq!(run.outcome(), paused_for_an_answer());
    assert_eq!(run.outcome().unwrap().exit_code(), 3);
    // Resuming changes nothing while nobody has answered.
    run.resume();
    assert_eq!(run.outcome(), paused_for_an_answer());
    replied(&mut run, 1, "this");
    assert_eq!(run.told(), ["question_answered"]);
    assert_eq!(run.outcome(), paused_for_an_answer(), "nobody drives it");
    run.resume();
    assert_eq!(run.acts(), ["run"]);
    assert!(
        run.notes()
            .iter()
            .any(|note| matches!(note, PromptNote::Answered { .. }))
    );
}

#[test]
fn a_blocked_agent_that_asks_has_a_question() {
    for (words, parks) in [
        ("which database?", true),
        ("用哪個？", true),
        ("which? | options: a, b", true),
        ("the disk is full", false),
        ("", false),
    ] {
        let mut run = Script::begin(asking(for_tasks()), seen(free(0, 2)));
        run.turn(said(Promise::Blocked(words.into())));
        assert_eq!(run.outcome().is_none(), parks, "{words}");
        assert_eq!(run.state.questions.len(), usize::from(parks), "{words}");
    }
}

#[test]
fn where_parking_is_off_a_question_blocks() {
    for did in [question("Which?"), said(Promise::Blocked("Which?".into()))] {
        let mut run = Script::begin(for_tasks(), seen(free(0, 2)));
        run.turn(did);
        let reason = "Which?".into();
        assert_eq!(run.outcome(), Some(Outcome::Blocked { reason }));
    }
}

#[test]
fn what_was_asked_is_not_asked_again() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 1)));
    run.turn(question("Which?"));
    replied(&mut run, 1, "this");
    run.turn(question("Which?"));
    assert_eq!(run.state.questions.len(), 1);
    assert!(
        run.notes()
            .iter()
            .any(|note| matches!(note, PromptNote::Answered { .. }))
    );
}

#[test]
fn an_agent_that_only_asks_is_blocked() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 9)));
    for n in 1..=6 {
        run.work(question(&format!("Question {n}?")));
        assert_eq!(run.outcome(), None, "{n}");
    }
    run.turn(question("And?"));
    let reason = "And?".into();
    assert_eq!(run.outcome(), Some(Outcome::Blocked { reason }));
}

#[test]
fn a_plain_prompt_waits_for_its_answer() {
    let mut run = Script::begin(asking(for_prompt()), no_task_file());
    run.turn(question("Which?"));
    assert_eq!(run.waits(), Some((HOUR_MS, WaitReason::Answer)));
    replied(&mut run, 1, "this");
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn parked_tasks_are_not_done() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 2)));
    run.turn(question("Which?"));
    let rest = TaskFacts {
        next: Some(task(1)),
        open: vec![task(1)],
        ..list(1, 2)
    };
    run.work(claimed().tasks(rest));
    assert!(run.told().contains(&"promise_rejected"));
    assert_eq!(run.waits().map(|(_, why)| why), Some(WaitReason::Answer));
}

#[test]
fn a_pause_is_heard_while_an_answer_is_waited_for() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 1)));
    run.turn(question("Which?"));
    run.request(Request::Pause);
    let reason = PauseReason::Requested;
    assert_eq!(run.outcome(), Some(Outcome::Paused { reason }));
}

fn extended(run: &mut Script, iterations: u32, duration_ms: u64) {
    run.feed(Kind::Extended {
        iterations,
        duration_ms,
    });
}

#[test]
fn limits_are_raised_while_a_turn_runs() {
    let rules = limited(all_tasks(), |l| {
        l.max_iterations = 1;
        l.max_duration_ms = 10_000;
    });
    let mut run = Script::begin(rules, seen(list(0, 3)));
    extended(&mut run, 2, 5_000);
    assert_eq!(run.told(), ["limit_extended", "limit_extended"]);
    assert_eq!(run.state.rules.limits.max_iterations, 3);
    assert_eq!(run.state.rules.limits.max_duration_ms, 15_000);
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["run"]);
    extended(&mut run, 0, 0);
    assert!(run.last.is_empty());
}

#[test]
fn what_is_unlimited_stays_so() {
    let rules = limited(all_tasks(), |l| l.stalled = 9);
    let mut run = Script::begin(rules, seen(list(0, 3)));
    extended(&mut run, 5, 5);
    assert!(run.last.is_empty());
    assert_eq!(run.state.rules.limits.max_iterations, 0);
}

#[test]
fn the_menu_of_a_limit_is_over_when_the_limit_is_raised() {
    let rules = limited(all_tasks(), |l| {
        l.max_iterations = 1;
        l.on_limit = OnLimit::Ask;
    });
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::Continue));
    assert_eq!(run.acts(), ["ask"]);
    extended(&mut run, 3, 0);
    assert_eq!(run.acts(), ["run"]);
    assert_eq!(run.state.rules.limits.max_iterations, 4);
}

/// In a session no hook waits: the agent rests until somebody has answered.
#[test]
fn where_nobody_waits_the_run_rests_at_once_and_goes_on_when_answered() {
    let mut run = Script::begin(asking(for_tasks()), seen(free(0, 2)));
    run.turn(question("Which?"));
    run.feed(Kind::Session(SessionEvent::NobodyWaits));
    assert!(run.last.is_empty(), "there is other work");
    run.turn(question("And which here?"));
    let why = run.waits().map(|(_, why)| why);
    assert_eq!(why, Some(WaitReason::Answer));
    run.feed(Kind::Session(SessionEvent::NobodyWaits));
    assert_eq!(run.outcome(), paused_for_an_answer());
    assert!(run.state.is_held_up());
    replied(&mut run, 2, "this");
    assert!(!run.state.is_held_up());
    run.resume();
    assert_eq!(task_of(&run), Some("T002"));
}
