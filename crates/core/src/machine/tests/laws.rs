//! What holds whatever the agent, the world and the people do (issue 2,
//! point 1).

use proptest::prelude::*;

use super::worlds::*;
use super::*;
use crate::forge::{Ci, ForgeAnswer, MergeWho, PullState, aggregate};

/// Far more events than a run under the small limits below can live through.
const PLENTY: usize = 120;

fn only(set: impl FnOnce(&mut Limits)) -> Limits {
    limited(Goal::Prompt, set).limits
}

/// Moves that go on and on, with nobody who interferes.
fn endless(end: impl Strategy<Value = End>) -> impl Strategy<Value = Vec<Move>> {
    let one = any_move(undisturbed(), any_promise(), end);
    prop::collection::vec(one, 1..12)
        .prop_map(|some| some.iter().cycle().take(PLENTY).cloned().collect())
}

/// Ends that the agent itself is answerable for.
fn own_end() -> impl Strategy<Value = End> {
    any_end().prop_filter("of its own", |e| !matches!(e, End::Stopped | End::Lost))
}

fn finished(log: &[Logged]) -> bool {
    log.last().unwrap().after.outcome().is_some()
}

fn last_seen(log: &[Logged]) -> Observation {
    let seen = log.iter().rev().find_map(|l| match &l.event.kind {
        _ if l.stray => None,
        Kind::Started { seen }
        | Kind::Resumed { seen, .. }
        | Kind::Woke { seen }
        | Kind::Nudged { seen } => Some(seen),
        Kind::TurnEnded(report) => Some(&report.seen),
        Kind::Answered {
            answer: MenuAnswer::Simplify { seen, .. },
        } => Some(seen.as_ref()),
        _ => None,
    });
    seen.unwrap().clone()
}

/// How many turns were judged after the first `from` events.
fn turns_after(log: &[Logged], from: usize) -> usize {
    let ended = |l: &&Logged| !l.stray && matches!(l.event.kind, Kind::TurnEnded(_));
    log[from..].iter().filter(ended).count()
}

// ---- (a) every run ends -------------------------------------------------------

proptest! {
    #[test]
    fn at_most_so_many_iterations_loop_06(
        max in 1u32..8,
        rules in any_rules(),
        start in any_seen(),
        moves in endless(any_end()),
    ) {
        let rules = rules.with(|r| {
            r.limits.max_iterations = max;
            r.limits.on_limit = OnLimit::Pause;
        });
        let log = play(rules, start, &moves);
        prop_assert!(finished(&log));
        prop_assert!(log.last().unwrap().after.turn.number <= max);
    }

    #[test]
    fn no_turn_begins_when_the_time_is_up_valv_11(
        max in 1u64..30_000,
        rules in any_rules_with(Just(only(|l| l.max_duration_ms = 1))),
        start in any_seen(),
        moves in endless(any_end()),
    ) {
        let rules = rules.with(|r| r.limits.max_duration_ms = max);
        let log = play(rules, start, &moves);
        let (mut elapsed, mut steady) = (0, START.steady_ms);
        for l in &log {
            elapsed += l.event.at.steady_ms.saturating_sub(steady);
            steady = l.event.at.steady_ms;
            if l.after.outcome().is_none() {
                prop_assert_eq!(l.after.elapsed_ms(), elapsed);
            }
            let begins = l.acts(|e| matches!(e, Effect::RunAgent(_) | Effect::Wait { .. }));
            prop_assert!(begins == 0 || elapsed < max);
        }
        prop_assert!(finished(&log) || elapsed < max);
    }

    /// The world stands still after a wild beginning.
    #[test]
    fn so_many_turns_without_evidence_brkr_01(
        max in 1u32..6,
        rules in any_rules_with(Just(only(|l| l.stalled = 1))),
        start in any_seen(),
        wild in any_moves(),
        still in endless(own_end()),
    ) {
        let rules = rules.with(|r| r.limits.stalled = max);
        let before = play(rules.clone(), start.clone(), &wild);
        let frozen = last_seen(&before);
        let still = still.into_iter().map(|m| Move { seen: frozen.clone(), ..m });
        let all: Vec<_> = wild.into_iter().chain(still).collect();
        let log = play(rules, start, &all);
        prop_assert!(finished(&log));
        prop_assert!(turns_after(&log, before.len()) <= max as usize);
    }

    #[test]
    fn so_many_turns_without_a_promise_brkr_02(
        max in 1u32..6,
        rules in any_rules_with(Just(only(|l| l.missing_promise = 1))),
        start in any_seen(),
        wild in any_moves(),
        silent in endless(Just(End::Exit(0))),
    ) {
        let rules = rules.with(|r| r.limits.missing_promise = max);
        let before = play(rules.clone(), start.clone(), &wild).len();
        let silent = silent.into_iter().map(|m| {
            let readable = matches!(m.seen.tasks, Tasks::Read(_));
            let seen = if readable { m.seen } else { seen(list(0, 1)) };
            Move { promise: None, seen, ..m }
        });
        let all: Vec<_> = wild.into_iter().chain(silent).collect();
        let log = play(rules, start, &all);
        prop_assert!(finished(&log));
        prop_assert!(turns_after(&log, before) <= max as usize);
    }

    #[test]
    fn so_many_errors_errc_02(
        max in 1u32..6,
        rules in any_rules_with(Just(only(|l| l.consecutive_errors = 1))),
        start in any_seen(),
        wild in any_moves(),
        failing in endless((1..9).prop_map(End::Exit)),
    ) {
        let rules = rules.with(|r| r.limits.consecutive_errors = max);
        let before = play(rules.clone(), start.clone(), &wild).len();
        let all: Vec<_> = wild.into_iter().chain(failing).collect();
        let log = play(rules, start, &all);
        prop_assert!(finished(&log));
        prop_assert!(turns_after(&log, before) <= max as usize);
    }

    /// While anything goes on, nothing that is counted has reached its limit.
    #[test]
    fn no_counter_passes_its_threshold(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        for l in play(rules, start, &moves) {
            let judged = !matches!(
                l.after.stage,
                Stage::Verifying { .. }
                    | Stage::Unticking { .. }
                    | Stage::Trying { .. }
                    | Stage::Finished(_)
                    | Stage::Forge(_)
            );
            // While CI is waited for, nothing is decided.
            if !judged || l.after.pull.waits {
                continue;
            }
            let (counters, limits) = (&l.after.counters, &l.after.rules.limits);
            for (count, limit) in [
                (counters.errors, limits.consecutive_errors),
                (counters.missing_promise, limits.missing_promise),
                (counters.stalled, limits.stalled),
                (counters.same_error, limits.same_error),
                (counters.false_promise, limits.false_promise),
            ] {
                prop_assert!(limit == 0 || count < limit, "{counters:?} {limits:?}");
            }
        }
    }
}

// ---- (b) complete means proven ---------------------------------------------------

/// What the driver showed, kept without the machine's help.
#[derive(Default)]
struct Shown {
    tasks: Tasks,
    /// Total of the file when it could last be read.
    total: usize,
    /// Tasks that the file may not lose.
    most: usize,
    claimed: bool,
    /// What the last verification said.
    passed: bool,
    weakened: bool,
}

impl Shown {
    fn look(&mut self, seen: &Observation, whole: bool) {
        self.tasks = seen.tasks.clone();
        self.weakened = !seen.weakened.is_empty();
        if let Tasks::Read(facts) = &seen.tasks {
            self.total = facts.total;
        }
        self.most = if whole {
            self.total
        } else {
            self.most.max(self.total)
        };
    }

    fn take(&mut self, kind: &Kind) {
        match kind {
            Kind::Started { seen } | Kind::Resumed { seen, .. } => self.look(seen, true),
            Kind::Woke { seen } | Kind::Nudged { seen } | Kind::Unticked { seen, .. } => {
                self.look(seen, false);
            }
            Kind::Verified(report) => {
                let ok = |r: &CommandResult| r.exit == Some(0);
                self.passed = !report.results.is_empty() && report.results.iter().all(ok);
            }
            Kind::Answered {
                answer: MenuAnswer::Simplify { seen, .. },
            } => self.look(seen, true),
            Kind::TurnEnded(report) => {
                self.passed = false;
                self.look(&report.seen, false);
                self.claimed = matches!(
                    report.promise,
                    Some(Promise::Complete(_) | Promise::PhaseComplete | Promise::E2ePassed)
                );
            }
            _ => {}
        }
    }

    fn all_done(&self) -> bool {
        match &self.tasks {
            Tasks::Read(facts) => {
                facts.total > 0 && facts.completed == facts.total && facts.total >= self.most
            }
            _ => false,
        }
    }
}

fn check_evidence(rules: &Rules, log: &[Logged]) {
    let mut shown = Shown::default();
    for l in log.iter().filter(|l| !l.stray) {
        shown.take(&l.event.kind);
        if !l.effects.contains(&Effect::Finish(Outcome::Complete)) {
            continue;
        }
        let tried = match &l.event.kind {
            Kind::E2eEnded { result, .. } => result.exit == Some(0),
            _ => false,
        };
        let checks = &rules.checks;
        let wanted = rules.verify.is_some() || !checks.tasks.is_empty();
        // End-to-end tests follow the phases of a task list.
        let has_phases = !matches!(rules.goal, Goal::PullRequest | Goal::Ci);
        assert!(!checks.e2e || tried || !has_phases);
        assert!(!wanted || shown.passed);
        assert!(checks.integrity != Integrity::Strict || !shown.weakened);
        match rules.goal {
            Goal::Prompt => assert!((tried || shown.passed) && shown.claimed),
            // Only what was seen on the forge ends such a run.
            Goal::PullRequest | Goal::Ci => {
                let Kind::Forge {
                    answer: ForgeAnswer::Looked(sight),
                } = &l.event.kind
                else {
                    panic!("complete without a look");
                };
                let pull = sight.pull.as_ref().unwrap();
                if rules.goal == Goal::PullRequest {
                    assert!(sight.gate.is_empty() && pull.state == PullState::Open);
                } else {
                    assert_eq!(aggregate(&sight.checks), Ci::Passed);
                    let merged = pull.state == PullState::Merged;
                    let merge = rules.forge.as_ref().unwrap().merge;
                    assert!(merged || merge == MergeWho::Nobody);
                    assert!(!merged || pull.merged_at.is_some());
                }
            }
            Goal::Flow => unreachable!("no rules of these have it"),
            Goal::Tasks { .. } => {
                assert!(shown.all_done());
                let turns = l.after.turn.number;
                assert!(!rules.promise_required || turns == 0 || shown.claimed);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]
    #[test]
    fn complete_means_proven_prom_11(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let log = play(rules.clone(), start, &moves);
        check_evidence(&rules, &log);
    }
}

// ---- (c) to (g) ------------------------------------------------------------------

proptest! {
    #[test]
    fn turns_are_counted_without_gaps_and_never_back(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let (mut turns, mut attempt, mut refused) = (0, 0, false);
        let attempts = rules.limits.retry.attempts;
        let mut failed_starts = 0;
        for l in play(rules, start, &moves) {
            if let (Kind::TurnEnded(report), false) = (&l.event.kind, l.stray) {
                refused = l.effects.iter().any(|e| matches!(
                    e,
                    Effect::Emit(Notice::AgentRefused { .. })
                ));
                // An agent that does not start is started again (ERRC-04).
                if !refused && matches!(report.end, End::SpawnFailed { .. }) {
                    failed_starts += 1;
                    refused = failed_starts < attempts;
                }
            }
            for effect in &l.effects {
                if let Effect::RunAgent(call) = effect {
                    if std::mem::take(&mut refused) {
                        attempt += 1;
                    } else {
                        turns += 1;
                        attempt = 1;
                        failed_starts = 0;
                    }
                    prop_assert_eq!((call.turn, call.attempt), (turns, attempt));
                }
            }
            prop_assert_eq!(l.after.turn.number, turns);
        }
    }

    #[test]
    fn a_run_finishes_once_and_then_is_silent(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let mut over = false;
        for l in play(rules, start, &moves) {
            let resumed = matches!(l.event.kind, Kind::Resumed { .. });
            if over && !resumed {
                prop_assert_eq!(&l.effects, &[]);
            }
            let finishes = l.acts(|e| matches!(e, Effect::Finish(_)));
            prop_assert!(finishes <= 1);
            if finishes == 1 {
                prop_assert!(matches!(l.effects.last(), Some(Effect::Finish(_))));
                let ends = l.acts(|e| matches!(e, Effect::Emit(Notice::LoopEnd { .. })));
                prop_assert_eq!(ends, 1);
            }
            over = l.after.outcome().is_some();
            prop_assert_eq!(finishes == 1, over && !l.effects.is_empty());
        }
    }

    #[test]
    fn an_event_that_nobody_waits_for_does_nothing(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        for l in play(rules, start, &moves).iter().filter(|l| l.stray) {
            prop_assert_eq!(&l.effects, &[]);
        }
    }

    /// Whatever waits for something waits for one thing.
    #[test]
    fn one_child_at_a_time(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let mut running = 0;
        let mut beside = false;
        for l in play(rules, start, &moves) {
            let ended = match &l.event.kind {
                // The children died with the engine.
                Kind::Resumed { .. } => running,
                Kind::Verified(_) if beside => 0,
                // Where a limit was reached meanwhile, it goes on in its place.
                Kind::SetAside { .. } => usize::from(l.after.evidence.beside.is_some() && !beside),
                Kind::TurnEnded(_) | Kind::Verified(_) | Kind::E2eEnded { .. } if !l.stray => 1,
                _ => 0,
            };
            running -= ended;
            running += l.acts(|e| {
                matches!(
                    e,
                    Effect::RunAgent(_) | Effect::Verify { .. } | Effect::RunE2e { .. }
                )
            });
            let child = matches!(
                l.after.stage,
                Stage::Running | Stage::Verifying { .. } | Stage::Trying { .. }
            );
            let is_beside = l.after.evidence.beside.is_some();
            beside = is_beside;
            // What is waited for was begun before.
            let catches_up = is_beside && matches!(l.after.stage, Stage::Verifying { .. });
            prop_assert_eq!(running, usize::from(child && !catches_up));
            let waits = l.acts(|e| matches!(e, Effect::Wait { .. } | Effect::Ask(_)));
            prop_assert!(waits <= 1);
            prop_assert!(waits == 0 || !child);
        }
    }

    /// What is judged beside a turn decides nothing before that has ended, and
    /// no run ends well before it was taken in.
    #[test]
    fn a_turn_is_not_disturbed_by_what_is_judged_beside_it(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let mut before = Stage::New;
        for l in play(rules, start, &moves) {
            if matches!(l.event.kind, Kind::Verified(_)) && before == Stage::Running {
                prop_assert_eq!(&l.effects, &[]);
                prop_assert_eq!(&l.after.stage, &Stage::Running);
            }
            if l.after.outcome() == Some(&Outcome::Complete) {
                prop_assert!(l.after.evidence.beside.is_none());
            }
            before = l.after.stage;
        }
    }

    #[test]
    fn a_limit_is_needed_and_any_will_do_valv_10(limits in any_limits()) {
        let ends = limits.max_iterations > 0
            || limits.max_duration_ms > 0
            || limits.stalled > 0
            || limits.missing_promise > 0
            || limits.consecutive_errors > 0;
        let rules = for_tasks().with(|r| r.limits = limits);
        prop_assert_eq!(State::new(rules).is_ok(), ends);
    }

    /// The journal holds events as JSON: a replay decides as the run did.
    #[test]
    fn a_replay_from_json_does_the_same(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let rules_text = serde_json::to_string(&rules).unwrap();
        let mut state = State::new(serde_json::from_str(&rules_text).unwrap()).unwrap();
        for l in play(rules, start, &moves) {
            let text = serde_json::to_string(&l.event).unwrap();
            let event: Event = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&event, &l.event);
            prop_assert_eq!(step(&mut state, &event), l.effects);
            prop_assert_eq!(&state, &l.after);
        }
    }
}

// ---- (z) the law of evidence ----------------------------------------------------

proptest! {
    /// No sequence of events leads to the end with a task that is shown less
    /// well than was asked for.
    #[test]
    fn nothing_is_complete_below_the_level_that_was_asked_for(
        rules in any_rules(),
        start in any_seen(),
        moves in any_moves(),
    ) {
        let log = play(rules, start, &moves);
        let ended = log.iter().filter(|l| l.after.outcome() == Some(&Outcome::Complete));
        for state in ended.map(|l| &l.after) {
            prop_assert!(state.short_of_proof().is_empty());
        }
    }
}
