//! Runs that end with a pull request (p0) or with green CI (p1).

use super::*;
use crate::forge::{
    Cause, Check, CheckState, ForgeAnswer, ForgeNeed, ForgeNote, ForgeRules, GateFinding, Local,
    MergeWho, Pull, PullState, Sight, Trouble, TroubleKind,
};
use crate::lang::{Lang, Say};

const MINUTE: u64 = 60_000;

fn rules(goal: Goal, change: impl FnOnce(&mut ForgeRules)) -> Rules {
    let promise_required = goal == Goal::Ci;
    let mut rules = limited(goal, |limits| limits.stalled = 5);
    rules.promise_required = promise_required;
    rules.forge = Some(ForgeRules::default().with(change));
    rules
}

fn p0(change: impl FnOnce(&mut ForgeRules)) -> Script {
    Script::begin(rules(Goal::PullRequest, change), Observation::default())
}

fn p1(change: impl FnOnce(&mut ForgeRules)) -> Script {
    Script::begin(rules(Goal::Ci, change), Observation::default())
}

fn pull(head: &str) -> Pull {
    Pull {
        number: 7,
        url: "https://forge/7".into(),
        head: head.into(),
        base: "main".into(),
        ..Pull::default()
    }
}

fn check(name: &str, state: CheckState) -> Check {
    Check {
        name: name.into(),
        state,
        run: Some(1),
        job: Some(10),
    }
}

fn sight(head: &str, states: &[CheckState]) -> Sight {
    let checks = states.iter().enumerate();
    Sight {
        local: Local {
            head: Some(head.into()),
            ..Local::default()
        },
        pull: Some(pull(head)),
        checks: checks.map(|(i, &s)| check(&format!("c{i}"), s)).collect(),
        ..Sight::default()
    }
}

fn lacking(code: &str) -> Vec<GateFinding> {
    vec![GateFinding {
        code: code.into(),
        text: format!("{code}: do it"),
        said: String::new(),
    }]
}

fn trouble(kind: TroubleKind, words: &str) -> ForgeAnswer {
    ForgeAnswer::Failed(Trouble {
        kind,
        program: "gh".into(),
        words: words.into(),
    })
}

impl Script {
    fn forge(&mut self, answer: ForgeAnswer) -> &mut Script {
        self.pass(10).feed(Kind::Forge { answer })
    }

    fn sees(&mut self, sight: Sight) -> &mut Script {
        self.forge(ForgeAnswer::Looked(Box::new(sight)))
    }

    fn examined(&mut self, log: &str, on_base: &[&str]) -> &mut Script {
        self.forge(ForgeAnswer::Examined {
            log: log.into(),
            on_base: on_base.iter().map(|s| (*s).to_owned()).collect(),
        })
    }
}

fn needs(need: ForgeNeed) -> Option<Outcome> {
    Some(Outcome::Paused {
        reason: PauseReason::Forge(need),
    })
}

fn promises(text: &str) -> Did {
    said(Promise::Complete(text.into()))
}

#[test]
fn p0_goes_through_the_gate_to_the_pull_request_prci_04() {
    let mut run = p0(|_| {});
    assert_eq!(run.acts(), ["look"]);
    run.sees(Sight::default());
    assert_eq!(run.acts(), ["run"]);
    for code in ["audit_missing", "audit_not_passed", "gate_missing"] {
        run.work(nothing());
        assert_eq!(run.acts(), ["look"]);
        run.sees(Sight {
            gate: lacking(code),
            ..Sight::default()
        });
        assert_eq!(run.acts(), ["run"]);
        let note = PromptNote::Forge(ForgeNote::Gate {
            findings: lacking(code),
        });
        assert!(run.notes().contains(&note));
    }
    run.work(nothing());
    run.sees(Sight::default());
    assert_eq!(run.told(), ["pr_missing", "iteration_start"]);
    run.work(nothing());
    // CI is red already, and nobody asked.
    run.sees(sight("aaa", &[CheckState::Failed]));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    assert_eq!(run.state.turn.number, 5);
}

#[test]
fn p0_creates_the_pull_request_only_where_that_was_asked_for() {
    let mut run = p0(|r| r.create = true);
    run.sees(Sight::default()).work(nothing());
    run.sees(Sight::default());
    assert_eq!(run.acts(), ["push"]);
    run.forge(ForgeAnswer::Pushed {
        commit: "aaa".into(),
    });
    assert_eq!(run.acts(), ["create"]);
    run.forge(ForgeAnswer::Created {
        url: "https://forge/7".into(),
    });
    assert_eq!(run.told(), ["pr_created"]);
    assert_eq!(run.acts(), ["look"]);
    run.sees(sight("aaa", &[]));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_claim_without_evidence_is_rejected_in_p0() {
    let mut run = p0(|_| {});
    run.sees(Sight::default());
    run.work(promises("QUALITY_GATE_PASSED"));
    run.sees(Sight {
        gate: lacking("gate_stale"),
        ..sight("aaa", &[])
    });
    assert!(run.told().contains(&"promise_rejected"));
    assert_eq!(run.outcome(), None);
}

#[test]
fn what_is_not_committed_is_not_pushed() {
    let mut run = p0(|r| r.create = true);
    run.sees(Sight::default()).work(nothing());
    run.sees(Sight {
        local: Local {
            uncommitted: 2,
            ..Local::default()
        },
        ..Sight::default()
    });
    let note = PromptNote::Forge(ForgeNote::Uncommitted {
        files: 2,
        names: Vec::new(),
    });
    assert!(run.notes().contains(&note));
}

/// PRCI-08, QUAL-01: what the gate judged was not what CI judged, whoever left
/// it uncommitted and however early that is.
#[test]
fn green_is_nothing_beside_what_is_not_committed() {
    for merge in [MergeWho::Nobody, MergeWho::Ralph] {
        let dirty = |at: &Sight| Sight {
            local: Local {
                uncommitted: 1,
                ..at.local.clone()
            },
            ..at.clone()
        };
        let green = sight("aaa", &[CheckState::Passed]);
        let mut run = p1(|r| r.merge = merge);
        run.sees(dirty(&green));
        assert_eq!((run.acts(), run.outcome()), (vec!["run"], None));
        run.work(promises("CI_PASSED")).sees(dirty(&green));
        assert_eq!((run.acts(), run.outcome()), (vec!["run"], None));
    }
}

/// T-08: a pull request counts with what passed the gate, and nothing else.
#[test]
fn p0_ends_only_with_what_was_gated_t_08() {
    let at = |head: &str, uncommitted: usize| Sight {
        local: Local {
            head: Some(head.into()),
            uncommitted,
            ahead: usize::from(head != "aaa"),
            ..Local::default()
        },
        ..sight("aaa", &[])
    };
    let mut run = p0(|_| {});
    run.sees(Sight::default()).work(nothing());
    run.sees(at("aaa", 1));
    assert_eq!((run.acts(), run.outcome()), (vec!["run"], None));
    run.work(nothing()).sees(at("bbb", 0));
    assert_eq!((run.acts(), run.outcome()), (vec!["run"], None));
    let note = PromptNote::Forge(ForgeNote::Unpushed {
        branch: String::new(),
        commits: 1,
    });
    assert!(run.notes().contains(&note));
    run.work(nothing()).sees(at("aaa", 0));
    assert_eq!(run.outcome(), Some(Outcome::Complete));

    let mut run = p0(|r| r.create = true);
    run.sees(Sight::default()).work(nothing());
    run.sees(at("bbb", 0));
    assert_eq!(run.acts(), ["push"]);
    run.forge(ForgeAnswer::Pushed {
        commit: "bbb".into(),
    });
    // The forge does not show it yet, and it is not pushed twice.
    run.wake().sees(at("bbb", 0));
    assert_eq!((run.acts(), run.outcome()), (vec!["wait"], None));
}

#[test]
fn a_refused_push_or_pull_request_goes_to_the_agent() {
    let mut run = p0(|r| r.create = true);
    run.sees(Sight::default()).work(nothing());
    run.sees(Sight::default());
    run.forge(trouble(TroubleKind::Refused, "non-fast-forward"));
    let note = PromptNote::Forge(ForgeNote::Refused {
        command: "git push".into(),
        words: "non-fast-forward".into(),
    });
    assert!(run.notes().contains(&note));
}

#[test]
fn ci_is_waited_for_without_the_agent_prci_07() {
    let mut run = p1(|r| r.merge = MergeWho::Ralph);
    run.sees(sight("aaa", &[CheckState::Pending]));
    for _ in 0..3 {
        assert_eq!(run.waits(), Some((30_000, WaitReason::Ci)));
        assert!(run.told().ends_with(&["ci_poll", "wait"]));
        run.wake();
        assert_eq!(run.acts(), ["look"]);
        run.sees(sight("aaa", &[CheckState::Pending]));
    }
    run.wake().sees(sight("aaa", &[CheckState::Passed]));
    assert_eq!(run.acts(), ["merge"]);
    run.forge(ForgeAnswer::Merged);
    assert_eq!(run.acts(), ["look"]);
    let mut merged = sight("aaa", &[CheckState::Passed]);
    merged.pull = Some(Pull {
        state: PullState::Merged,
        merged_at: Some("2026-01-18T10:05:00Z".into()),
        ..pull("aaa")
    });
    run.sees(merged);
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    assert_eq!(run.state.turn.number, 0);
    assert_eq!(run.state.counters.stalled, 0);
}

#[test]
fn the_wait_ends_on_the_wall_clock_also_over_a_restart() {
    let mut run = p1(|r| r.timeout_ms = 10 * MINUTE);
    run.sees(sight("aaa", &[CheckState::Pending]));
    run.pass(9 * MINUTE + 50_000);
    // The engine dies; another one takes the run up.
    run.now.steady_ms = 77;
    run.resume();
    assert_eq!(run.acts(), ["look"]);
    run.sees(sight("aaa", &[CheckState::Pending]));
    let (left, why) = run.waits().unwrap();
    assert!(left < 30_000 && why == WaitReason::Ci, "{left}");
    run.wake().sees(sight("aaa", &[CheckState::Pending]));
    assert_eq!(run.outcome(), needs(ForgeNeed::CiTimeout));
    // A person wants to wait on.
    run.resume().sees(sight("aaa", &[CheckState::Pending]));
    assert_eq!(run.waits(), Some((30_000, WaitReason::Ci)));
}

#[test]
fn red_ci_calls_the_agent_with_the_log_prci_06() {
    let mut run = p1(|r| r.push = true);
    run.sees(sight("aaa", &[CheckState::Passed, CheckState::Failed]));
    assert_eq!(run.acts(), ["examine"]);
    run.examined("assertion failed", &[]);
    let note = PromptNote::Forge(ForgeNote::CiFailed {
        number: 7,
        commit: "aaa".into(),
        cause: Cause::Regression,
        checks: vec!["c1".into()],
        log: "assertion failed".into(),
    });
    assert!(run.notes().contains(&note));
    // Committed, and not pushed by the agent.
    run.work(nothing());
    let local = Local {
        ahead: 1,
        ..Local::default()
    };
    run.sees(Sight {
        local: local.clone(),
        ..sight("aaa", &[CheckState::Failed])
    });
    assert_eq!(run.acts(), ["push"]);
    run.forge(ForgeAnswer::Pushed {
        commit: "bbb".into(),
    });
    assert_eq!(run.acts(), ["wait"]);
    // The forge has not seen the push: its red is old.
    run.wake().sees(sight("aaa", &[CheckState::Failed]));
    assert_eq!(run.acts(), ["wait"]);
    run.wake().sees(sight("bbb", &[CheckState::Pending]));
    assert!(run.told().contains(&"ci_rebound"));
    run.wake().sees(sight("bbb", &[CheckState::Passed]));
    // Green, and the agent has not said that nothing is left.
    let green = PromptNote::Forge(ForgeNote::CiPassed {
        number: 7,
        commit: "bbb".into(),
    });
    assert!(run.notes().contains(&green));
    run.turn(promises("CI_PASSED"));
    run.sees(sight("bbb", &[CheckState::Passed]));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn a_claim_waits_for_ci_and_falls_with_it() {
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Failed]));
    run.examined("broken", &[]);
    run.work(promises("CI_PASSED"));
    run.sees(sight("bbb", &[CheckState::Pending]));
    assert_eq!(run.acts(), ["wait"]);
    run.wake().sees(sight("bbb", &[CheckState::Failed]));
    run.examined("still broken", &[]);
    assert!(run.told().contains(&"promise_rejected"));
    run.work(promises("CI_PASSED"));
    run.sees(sight("ccc", &[CheckState::Pending]));
    run.wake().sees(sight("ccc", &[CheckState::Passed]));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}

#[test]
fn the_gate_is_checked_again_in_p1_qual_09() {
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Failed]));
    run.examined("broken", &[]);
    run.work(nothing());
    run.sees(Sight {
        gate: lacking("gate_stale"),
        ..sight("bbb", &[CheckState::Pending])
    });
    assert!(run.told().contains(&"gate_open"));
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn repairs_are_bounded() {
    let mut run = p1(|r| r.bounds.regression = 2);
    for turn in 1..=2 {
        let head = format!("commit {turn}");
        run.sees(sight(&head, &[CheckState::Failed]));
        run.examined(&"x".repeat(turn), &[]);
        assert_eq!(run.acts(), ["run"]);
        run.work(nothing());
    }
    run.sees(sight("last", &[CheckState::Failed]));
    run.examined("still", &[]);
    let reason = "CI: c0".to_owned();
    assert_eq!(run.outcome(), Some(Outcome::GateFailed { reason }));
}

#[test]
fn nothing_pushed_is_said() {
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Failed]));
    run.examined("broken", &[]);
    run.work(nothing());
    run.sees(sight("aaa", &[CheckState::Failed]));
    run.examined("broken", &[]);
    let note = PromptNote::Forge(ForgeNote::NothingPushed {
        commit: "aaa".into(),
    });
    assert!(run.notes().contains(&note));
}

#[test]
fn what_looks_flaky_is_run_again_once() {
    let again = |state, job| Sight {
        checks: vec![Check {
            job: Some(job),
            ..check("c0", state)
        }],
        ..sight("aaa", &[])
    };
    let mut run = p1(|_| {});
    run.sees(again(CheckState::Failed, 10));
    run.examined("Timeout of 2000ms exceeded", &[]);
    assert_eq!(run.acts(), ["rerun"]);
    run.forge(ForgeAnswer::Rerun);
    assert_eq!(run.told(), ["ci_rerun", "ci_poll", "wait"]);
    // The forge still shows the job that failed.
    run.wake().sees(again(CheckState::Failed, 10));
    assert_eq!(run.acts(), ["wait"]);
    let mut green = run.clone();
    green.wake().sees(again(CheckState::Passed, 11));
    assert_eq!(green.told()[..2], ["ci_flaky", "ci_passed"]);
    assert_eq!(green.outcome(), Some(Outcome::Complete));
    run.wake().sees(again(CheckState::Failed, 11));
    run.examined("Timeout of 2000ms exceeded", &[]);
    assert_eq!(run.acts(), ["run"]);
}

#[test]
fn what_runs_is_not_run_again() {
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Cancelled, CheckState::Pending]));
    run.examined("", &[]);
    assert_eq!(run.acts(), ["wait"]);
}

#[test]
fn lost_machines_are_a_persons_matter_after_one_more_run() {
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Cancelled]));
    run.examined("", &[]);
    assert_eq!(run.acts(), ["rerun"]);
    run.forge(trouble(TroubleKind::Refused, "too old"));
    assert_eq!(run.acts(), ["look"]);
    run.sees(sight("aaa", &[CheckState::Cancelled]));
    run.examined("", &[]);
    assert_eq!(run.outcome(), needs(ForgeNeed::Infrastructure));
    assert_eq!(run.state.turn.number, 0);
}

#[test]
fn what_the_base_fails_too_gets_one_turn() {
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Failed]));
    run.examined("old", &["c0"]);
    assert_eq!(run.acts(), ["run"]);
    run.work(nothing());
    run.sees(sight("bbb", &[CheckState::Failed]));
    run.examined("old", &["c0"]);
    assert_eq!(run.outcome(), needs(ForgeNeed::PreExisting));
}

#[test]
fn a_commit_without_checks_is_given_time_and_no_more() {
    let mut run = p1(|r| r.grace_ms = MINUTE);
    run.sees(sight("aaa", &[]));
    assert_eq!(run.acts(), ["wait"]);
    run.pass(MINUTE)
        .wake()
        .sees(sight("aaa", &[CheckState::Ignored]));
    assert_eq!(run.outcome(), needs(ForgeNeed::NoChecks));
}

#[test]
fn a_merge_by_others_counts_with_green_ci_only() {
    let merged = |states: &[CheckState]| Sight {
        pull: Some(Pull {
            state: PullState::Merged,
            merged_at: Some("now".into()),
            ..pull("aaa")
        }),
        ..sight("aaa", states)
    };
    let mut run = p1(|_| {});
    run.sees(sight("aaa", &[CheckState::Pending]));
    let mut red = run.clone();
    run.wake().sees(merged(&[CheckState::Passed]));
    assert_eq!(run.outcome(), Some(Outcome::Complete));
    red.wake().sees(merged(&[CheckState::Failed]));
    assert_eq!(red.outcome(), needs(ForgeNeed::MergedUnproven));
}

#[test]
fn a_refused_merge_is_a_persons_matter_unless_it_is_a_conflict() {
    let mut run = p1(|r| r.merge = MergeWho::Ralph);
    run.sees(sight("aaa", &[CheckState::Passed]));
    let mut conflict = run.clone();
    run.forge(trouble(TroubleKind::Refused, "a review is required"));
    assert_eq!(run.outcome(), needs(ForgeNeed::MergeRefused));
    conflict.forge(trouble(TroubleKind::Refused, "merge conflict"));
    assert_eq!(conflict.acts(), ["run"]);
}

#[test]
fn troubles_that_pass_are_waited_out_others_need_a_person() {
    for (kind, need) in [
        (TroubleKind::Missing, ForgeNeed::Program),
        (TroubleKind::Login, ForgeNeed::Login),
        (TroubleKind::NoRepository, ForgeNeed::Repository),
        (TroubleKind::NoPull, ForgeNeed::NoPull),
    ] {
        let mut run = p1(|_| {});
        run.forge(trouble(kind, ""));
        assert_eq!(run.outcome(), needs(need));
        assert_eq!(run.state.turn.number, 0);
    }
    let mut run = p1(|r| r.timeout_ms = 5 * MINUTE);
    let mut waits = Vec::new();
    while run.outcome().is_none() {
        run.forge(trouble(TroubleKind::RateLimited, "later"));
        waits.extend(run.waits().map(|(ms, _)| ms / 1000));
        run.wake();
    }
    assert_eq!(waits, [60, 120, 240]);
    assert_eq!(run.outcome(), needs(ForgeNeed::Unreachable));
}

#[test]
fn a_missing_or_closed_pull_request_ends_p1() {
    let mut run = p1(|_| {});
    run.sees(Sight::default());
    assert_eq!(run.outcome(), needs(ForgeNeed::NoPull));
    let mut run = p1(|_| {});
    run.sees(Sight {
        pull: Some(Pull {
            state: PullState::Closed,
            ..pull("aaa")
        }),
        ..Sight::default()
    });
    assert_eq!(run.outcome(), needs(ForgeNeed::Closed));
}

#[test]
fn a_stop_ends_the_wait_and_the_question() {
    let mut run = p1(|_| {});
    let mut asked = run.clone();
    asked.request(Request::Interrupt);
    assert_eq!(asked.acts(), ["stop"]);
    asked.sees(sight("aaa", &[CheckState::Passed]));
    assert_eq!(asked.outcome(), Some(Outcome::Interrupted));
    run.sees(sight("aaa", &[CheckState::Pending]));
    run.request(Request::Interrupt);
    assert_eq!(run.outcome(), Some(Outcome::Interrupted));
}

#[test]
fn answers_survive_the_journal() {
    let answers = [
        ForgeAnswer::Looked(Box::new(sight("aaa", &[CheckState::Failed]))),
        ForgeAnswer::Examined {
            log: "x".into(),
            on_base: vec!["c0".into()],
        },
        ForgeAnswer::Rerun,
        ForgeAnswer::Merged,
        trouble(TroubleKind::RateLimited, "later"),
    ];
    for answer in answers {
        let event = Event {
            at: START,
            kind: Kind::Forge { answer },
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }
}

#[test]
fn a_merged_branch_is_deleted_where_that_was_asked_for() {
    let merged = || Sight {
        pull: Some(Pull {
            state: PullState::Merged,
            merged_at: Some("2026-01-18T10:05:00Z".into()),
            ..pull("aaa")
        }),
        ..sight("aaa", &[CheckState::Passed])
    };
    for (answer, told) in [
        (ForgeAnswer::Deleted, "branch_deleted"),
        (trouble(TroubleKind::Network, "no route"), "forge_trouble"),
    ] {
        let mut run = p1(|r| {
            r.merge = MergeWho::Forge;
            r.delete_branch = true;
        });
        run.sees(sight("aaa", &[CheckState::Passed]));
        run.forge(ForgeAnswer::Merged);
        // Ordered, and not merged yet: nobody waits for CI (PRCI-09).
        run.sees(sight("aaa", &[CheckState::Passed]));
        let said: Vec<String> = notices(&run.last).map(|n| n.say(Lang::En)).collect();
        assert!(
            said[0].starts_with("waiting for the merge of #"),
            "{said:?}"
        );
        run.wake().sees(merged());
        assert_eq!(run.acts(), ["delete"]);
        run.forge(answer);
        assert!(run.told().contains(&told), "{:?}", run.told());
        assert_eq!(run.acts(), ["look"]);
        run.sees(merged());
        assert_eq!(run.outcome(), Some(Outcome::Complete));
    }
    // What others merged is theirs.
    let mut run = p1(|r| r.delete_branch = true);
    run.sees(merged());
    assert_eq!(run.outcome(), Some(Outcome::Complete));
}
