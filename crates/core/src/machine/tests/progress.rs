//! Progress by content (BRKR-03; issue 2, point 4).

use super::super::progress::failure_hash;
use super::*;

/// The names of the evidence after each of a few turns.
fn evidence_after(rules: Rules, world: Observation, turns: Vec<Did>) -> Vec<String> {
    let mut run = Script::begin(rules, world);
    let mut all = Vec::new();
    for did in turns {
        run.turn(did);
        let found = notices(&run.last).find_map(|n| match n {
            Notice::IterationComplete { evidence, .. } => Some(evidence.clone()),
            _ => None,
        });
        let names: Vec<_> = found.unwrap().iter().map(Evidence::into_str).collect();
        all.push(names.join("+"));
    }
    all
}

#[test]
fn only_what_was_never_seen_before_is_evidence() {
    let check = |name: &str, turns: Vec<Did>, want: &[&str]| {
        let start = seen(phased(&[(0, 2), (0, 2), (0, 2)]));
        let rules = limited(all_tasks(), |l| l.max_iterations = 100);
        assert_eq!(evidence_after(rules, start, turns), want, "{name}");
    };
    let turn = || said(Promise::Continue);
    let at = |a, b, c| turn().tasks(phased(&[(a, 2), (b, 2), (c, 2)]));

    check("nothing at all", vec![turn(), turn()], &["", ""]);
    check(
        "the tree of the start is known",
        vec![turn().tree("tree 0"), turn().commit("commit 0")],
        &["", ""],
    );
    check(
        "A to B to A",
        vec![turn().tree("B"), turn().tree("tree 0"), turn().tree("B")],
        &["tree", "", ""],
    );
    check(
        "an old dirty file, untouched",
        vec![turn().tree("dirty"), turn().tree("dirty")],
        &["tree", ""],
    );
    check(
        "a commit of new content, an empty commit, a revert",
        vec![
            turn().commit("one"),
            turn().commit("one"),
            turn().commit("commit 0"),
        ],
        &["commit", "", ""],
    );
    check(
        "work, then its commit",
        vec![turn().tree("x"), turn().commit("x")],
        &["tree", "commit"],
    );
    check(
        "tick, untick, tick",
        vec![at(1, 0, 0), at(0, 0, 0), at(1, 0, 0)],
        &["tasks", "", ""],
    );
    check(
        "a tick more than ever",
        vec![at(1, 0, 0), at(0, 0, 0), at(1, 1, 0)],
        &["tasks", "", "tasks"],
    );
    check(
        "to the next phase, back, and there again",
        vec![at(2, 0, 0), at(1, 0, 0), at(2, 0, 0)],
        &["tasks+phase", "", ""],
    );
    check(
        "a phase further by ticking elsewhere",
        vec![at(1, 1, 0), at(2, 0, 0), at(1, 1, 0)],
        &["tasks", "phase", ""],
    );
    check(
        "tasks that were only added",
        vec![turn().tasks(phased(&[(0, 2), (0, 2), (0, 9)]))],
        &[""],
    );
    check(
        "tasks that were deleted",
        vec![turn().tasks(phased(&[(0, 2), (0, 1)]))],
        &[""],
    );
    check(
        "all at once",
        vec![at(2, 0, 0).tree("n").commit("n")],
        &["tasks+phase+commit+tree"],
    );
}

#[test]
fn evidence_can_be_switched_off_brkr_03() {
    let check = |off: fn(&mut EvidenceKinds), want: &str| {
        let rules = for_tasks().with(|r| off(&mut r.evidence));
        let did = said(Promise::Continue)
            .tasks(phased(&[(1, 1), (0, 2)]))
            .tree("n")
            .commit("n");
        let start = seen(phased(&[(0, 1), (0, 2)]));
        assert_eq!(evidence_after(rules, start, vec![did]), [want]);
    };
    check(|_| (), "tasks+phase+commit+tree");
    check(|k| k.tasks = false, "phase+commit+tree");
    check(|k| k.phase = false, "tasks+commit+tree");
    check(|k| k.commit = false, "tasks+phase+tree");
    check(|k| k.tree = false, "tasks+phase+commit");
}

#[test]
fn kinds_that_are_switched_off_do_not_hold_the_breaker() {
    let rules = for_tasks().with(|r| r.evidence.tree = false);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    for _ in 0..5 {
        run.work(said(Promise::Continue));
    }
    assert_eq!(run.outcome(), broken(BreakerRule::Stalled));
}

#[test]
fn what_a_person_did_during_a_pause_is_nobodys_progress() {
    let rules = for_tasks().with(|r| r.limits.pause_between_ms = 1000);
    let mut run = Script::begin(rules, seen(list(0, 3)));
    run.turn(said(Promise::Continue));
    run.world.tree = Some("edited by hand".into());
    run.wake_to(Tasks::Read(list(1, 3)));
    run.turn(said(Promise::Continue));
    assert_eq!(run.state.counters.stalled, 2);
}

#[test]
fn ticks_are_counted_for_each_turn_evnt_01() {
    let mut run = Script::begin(for_tasks(), seen(list(1, 6)));
    let mut newly_done = |facts| {
        run.turn(said(Promise::Continue).tasks(facts));
        notices(&run.last).find_map(|n| match n {
            Notice::IterationComplete { newly_done, .. } => Some(*newly_done),
            _ => None,
        })
    };
    assert_eq!(newly_done(list(3, 6)), Some(2));
    assert_eq!(newly_done(list(3, 6)), Some(0));
    assert_eq!(newly_done(list(2, 6)), Some(0));
}

#[test]
fn failures_are_compared_without_what_changes_from_run_to_run_brkr_07() {
    let check = |a: &str, b: &str, same: bool| {
        assert_eq!(failure_hash(a) == failure_hash(b), same, "{a:?} {b:?}");
    };
    check("took 3 ms", "took 120 ms", true);
    check("Error: Timeout", "error:   timeout\r\n", true);
    check("  line 1\n\nline 2", "line 7\nline 22\n", true);
    check("cannot open a.txt", "cannot open b.txt", false);
    check("3 failed", "failed", false);
    check("", "   \n", true);
    check("", "x", false);
}
