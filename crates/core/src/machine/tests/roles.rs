//! Roles on the machine: every transition, the limits, what counts
//! as an error, and what a crash leaves (ROLE-01 to ROLE-11, ERRC-01). The routes
//! are in `routes`.

use super::*;
use crate::flow::{
    self, Answer, Detected, Escalation, Finding, FlowNotice, FlowRules, Risk, RiskSign, Severity,
};

pub(super) fn rules_of(name: &str) -> FlowRules {
    FlowRules {
        flow: flow::built_in(name).unwrap(),
        risk: None,
        bypass: None,
        card: None,
    }
}

fn in_roles() -> Rules {
    for_tasks().with(|rules| {
        rules.flow = Some(rules_of("drt"));
        rules.limits.retry = Retry {
            attempts: 1,
            initial_ms: 0,
            factor: 1,
            max_ms: 0,
        };
    })
}

/// [`list`], as it is seen where a flow decides about ticks.
pub(super) fn tasks(done: usize, total: usize) -> TaskFacts {
    TaskFacts {
        flow: Some(Box::new(FlowFacts {
            done: (1..=done).map(|n| task(n).id).collect(),
            risk: Detected::default(),
            raised: None,
        })),
        ..list(done, total)
    }
}

fn risky(risk: Risk, total: usize) -> TaskFacts {
    detected(risk, RiskSign::Said, total)
}

fn detected(risk: Risk, sign: RiskSign, total: usize) -> TaskFacts {
    tasks(0, total).with(|facts| {
        facts.flow.as_mut().unwrap().risk = Detected { risk, sign };
    })
}

fn begin(total: usize) -> Script {
    Script::begin(in_roles(), seen(tasks(0, total)))
}

pub(super) fn answers(answer: Answer) -> Did {
    Did {
        role: Some(RoleReport {
            answer: Some(answer),
            words: "in its own words".into(),
            ..RoleReport::default()
        }),
        ..nothing()
    }
}

fn unclear() -> Did {
    Did {
        role: Some(RoleReport::default()),
        ..nothing()
    }
}

fn rejects_with(findings: Vec<Finding>) -> Did {
    answers(Answer::Reject).with(|did| {
        did.role.as_mut().unwrap().findings = findings;
    })
}

fn finding(severity: Option<Severity>, reproducer: Option<&str>) -> Finding {
    Finding {
        severity,
        text: "src/a.rs:1 is wrong".into(),
        reproducer: reproducer.map(str::to_owned),
    }
}

impl Script {
    /// The role that is called now.
    fn role(&self) -> &str {
        let call = self.call().expect("an agent is called");
        call.flow.as_ref().map_or("", |flow| flow.role.as_str())
    }

    /// Ralph has set the boxes as the last event asked for.
    pub(super) fn mark(&mut self, facts: TaskFacts) -> &mut Script {
        assert_eq!(self.acts(), ["mark"]);
        self.world.tasks = Tasks::Read(facts);
        let seen = self.world.clone();
        self.feed(Kind::Marked { seen })
    }

    fn check(&mut self, exit: i32) -> &mut Script {
        let turn = self.state.turn.number;
        let results = vec![ran("sh repro.sh", Some(exit), "it is wrong")];
        self.feed(Kind::Checked(VerifyReport {
            turn,
            results,
            ..VerifyReport::default()
        }))
    }

    /// Each turn's role, then what the agent does in it.
    fn play(&mut self, turns: &[(&str, Did)]) -> &mut Script {
        for (role, did) in turns {
            assert_eq!(self.role(), *role, "{}", self.trace());
            match *role {
                "developer" => self.work(did.clone()),
                _ => self.turn(did.clone()),
            };
        }
        self
    }
}

pub(super) fn flow_notices(script: &Script) -> Vec<&'static str> {
    notices(&script.effects)
        .filter(|notice| matches!(notice, Notice::Flow(_)))
        .map(Notice::event)
        .collect()
}

// ---- the way through --------------------------------------------------------

/// ROLE-01, ROLE-11: each role is a call of its own.
#[test]
fn a_task_goes_through_developer_reviewer_and_tester() {
    let mut script = begin(1);
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    let mark = Effect::Mark {
        tick: vec!["T001".into()],
        untick: Vec::new(),
    };
    assert!(script.last.contains(&mark));
    script.mark(tasks(1, 1));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
    assert_eq!(
        flow_notices(&script),
        [
            "task_start", "role_start", "role_start", "role_answer", "role_start", "role_answer",
            "task_passed"
        ]
    );
    assert_eq!(script.state.agents.dispatches, 3);
}

/// ROLE-02: REJECT.
#[test]
fn a_rejection_goes_back_to_the_developer_with_the_findings() {
    let mut script = begin(1);
    let found = vec![finding(Some(Severity::High), None)];
    script.play(&[("developer", nothing()), ("reviewer", rejects_with(found))]);
    assert_eq!(script.role(), "developer");
    let [
        PromptNote::SentBack {
            role,
            findings,
            words,
        },
    ] = script.notes()
    else {
        panic!("{:?}", script.notes());
    };
    assert_eq!(role, "reviewer");
    assert_eq!(findings, &[Spoken::from("[High] src/a.rs:1 is wrong")]);
    assert_eq!(words, "in its own words");
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    script.mark(tasks(1, 1));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
}

/// ROLE-02: FAIL.
#[test]
fn a_failure_goes_through_the_debugger_and_then_the_whole_way_again() {
    let mut script = begin(1);
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Fail)),
        ("debugger", answers(Answer::Done)),
    ]);
    let [PromptNote::Diagnosis { words }] = script.notes() else {
        panic!("{:?}", script.notes());
    };
    assert_eq!(words, "in its own words");
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    script.mark(tasks(1, 1));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
}

/// ROLE-10.
#[test]
fn the_next_task_begins_at_the_developer_and_nobody_is_asked() {
    let mut script = begin(2);
    let whole = [
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ];
    script.play(&whole).mark(tasks(1, 2));
    assert_eq!(script.call().unwrap().task, Some(task(2)));
    script.play(&whole).mark(tasks(2, 2));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
    assert!(!script.effects.iter().any(|e| matches!(e, Effect::Ask(_))));
}

/// DISP-01.
#[test]
fn the_roles_are_shown_with_their_states() {
    let states = |script: &Script| {
        let flow = flow::built_in("drt").unwrap();
        let position = script.state.flow.position.as_ref().unwrap();
        let roles = position.roles(&flow).into_iter();
        let shown: Vec<String> = roles.map(|r| format!("{} {:?}", r.name, r.state)).collect();
        shown.join(" → ")
    };
    let mut script = begin(1);
    assert_eq!(
        states(&script),
        "DEVELOPER Active → REVIEWER Pending → TESTER Pending"
    );
    script.play(&[("developer", nothing())]);
    assert_eq!(
        states(&script),
        "DEVELOPER Done → REVIEWER Active → TESTER Pending"
    );
    script.play(&[
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Fail)),
    ]);
    assert_eq!(
        states(&script),
        "DEVELOPER Done → REVIEWER Done → TESTER Failed → DEBUGGER Active"
    );
}

// ---- risk -------------------------------------------------------------------

/// ROLE-03: HIGH.
#[test]
fn a_high_risk_is_reviewed_with_the_model_that_its_flow_names() {
    let rules = in_roles().with(|rules| {
        let flow = &mut rules.flow.as_mut().unwrap().flow;
        let high = flow.risk.entry(Risk::High).or_default();
        high.model.insert("reviewer".into(), "stronger".into());
    });
    for (risk, want) in [(Risk::Medium, None), (Risk::High, Some("stronger"))] {
        let mut script = Script::begin(rules.clone(), seen(risky(risk, 1)));
        let model = |script: &Script| {
            let turn = script.call().unwrap().flow.clone();
            turn.unwrap().model
        };
        assert_eq!(model(&script), None);
        script.play(&[("developer", nothing())]);
        assert_eq!(model(&script).as_deref(), want);
    }
}

/// ROLE-03: LOW.
#[test]
fn a_low_risk_needs_the_developer_and_the_verification() {
    let rules = in_roles().with(|rules| rules.verify = Some(VerifyWhen::Complete));
    let mut script = Script::begin(rules, seen(risky(Risk::Low, 1)));
    script.play(&[("developer", nothing())]);
    assert_eq!(script.acts(), ["verify"]);
    script.verified(passing());
    script.mark(tasks(1, 1));
    assert_eq!(script.acts(), ["verify"], "the whole is verified as ever");
    script.verified(passing());
    assert_eq!(script.outcome(), Some(Outcome::Complete));
}

/// ROLE-07: LOW.
#[test]
fn a_low_risk_that_fails_once_is_a_medium_one() {
    let rules = in_roles().with(|rules| rules.verify = Some(VerifyWhen::Complete));
    let mut script = Script::begin(rules, seen(risky(Risk::Low, 1)));
    script.play(&[("developer", nothing())]);
    script.verified(failing("1 failed"));
    assert!(script.told().contains(&"risk_raised"));
    script.play(&[
        ("debugger", answers(Answer::Done)),
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    assert_eq!(script.acts(), ["verify"]);
}

/// ROLE-02: what Ralph sees itself is a FAIL as well.
#[test]
fn a_failed_verification_counts_like_a_failed_test() {
    let rules = in_roles().with(|rules| rules.verify = Some(VerifyWhen::Complete));
    let mut script = Script::begin(rules, seen(tasks(0, 1)));
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    script.verified(failing("1 failed"));
    assert_eq!(script.role(), "debugger");
    assert!(matches!(script.notes(), [PromptNote::VerifyFailed { .. }]));
}

/// ROLE-07: MEDIUM and HIGH.
#[test]
fn the_limits_of_failures_depend_on_the_risk() {
    for (risk, fails) in [(Risk::Medium, 3), (Risk::High, 2)] {
        let mut script = Script::begin(in_roles(), seen(risky(risk, 1)));
        for n in 1..=fails {
            script.play(&[
                ("developer", nothing()),
                ("reviewer", answers(Answer::Approve)),
                ("tester", answers(Answer::Fail)),
            ]);
            if n < fails {
                script.play(&[("debugger", answers(Answer::Done))]);
            }
        }
        let reason = PauseReason::Escalated(Escalation::Fails);
        assert_eq!(
            script.outcome(),
            Some(Outcome::Paused { reason }),
            "{risk:?}"
        );
    }
}

/// ROLE-03, ROLE-04: what was detected can be overruled.
#[test]
fn the_settings_and_the_task_decide_over_the_risk() {
    for (facts, set, want) in [
        (
            detected(Risk::High, RiskSign::OnlyText, 1),
            Some(Risk::Low),
            Risk::Low,
        ),
        (
            detected(Risk::High, RiskSign::Said, 1),
            Some(Risk::Low),
            Risk::High,
        ),
        (
            detected(Risk::High, RiskSign::OnlyText, 1),
            None,
            Risk::High,
        ),
    ] {
        let rules = in_roles().with(|rules| rules.flow.as_mut().unwrap().risk = set);
        let script = Script::begin(rules, seen(facts));
        assert_eq!(script.state.flow.position.unwrap().risk, want);
    }
}

/// ROLE-05, ROLE-09.
#[test]
fn a_bypass_leaves_out_the_review_alone_and_is_written_down_for_each_task() {
    let rules = in_roles().with(|rules| {
        let flow = rules.flow.as_mut().unwrap();
        flow.bypass_reviews("a hotfix at night".into());
    });
    let mut script = Script::begin(rules, seen(risky(Risk::High, 2)));
    for done in 1..=2 {
        script
            .play(&[("developer", nothing()), ("tester", answers(Answer::Pass))])
            .mark(tasks(done, 2));
    }
    assert_eq!(script.outcome(), Some(Outcome::Complete));
    let gap = crate::display::Gap::NotReviewed {
        reason: "a hotfix at night".into(),
    };
    assert!(crate::report::gaps(&script.state, true).contains(&gap));
    let told = flow_notices(&script);
    assert_eq!(
        told.iter()
            .filter(|event| **event == "review_bypassed")
            .count(),
        2
    );
}

// ---- reviews that converge --------------------------------------------------

/// ROLE-07: escalated.
#[test]
fn five_rejections_that_can_be_shown_need_a_person() {
    let mut script = begin(1);
    let shown = || rejects_with(vec![finding(Some(Severity::High), Some("sh repro.sh"))]);
    script.play(&[("developer", nothing()), ("reviewer", shown())]);
    script.play(&[("developer", nothing()), ("reviewer", shown())]);
    for _ in 3..=5 {
        script.play(&[("developer", nothing()), ("reviewer", shown())]);
        assert_eq!(script.acts(), ["check"]);
        script.check(1);
    }
    let reason = PauseReason::Escalated(Escalation::Rejects);
    assert_eq!(script.outcome(), Some(Outcome::Paused { reason }));
    // A person has been there: the task begins anew, with all of its rounds.
    script.resume();
    assert_eq!(script.role(), "developer");
    assert_eq!(script.state.flow.position.as_ref().unwrap().rejects, 0);
}

#[test]
fn from_the_third_rejection_on_only_what_can_be_shown_blocks() {
    let cases = [
        (vec![], None, false),
        (vec![finding(Some(Severity::High), None)], None, false),
        (vec![finding(None, Some("false"))], None, false),
        (
            vec![finding(Some(Severity::Low), Some("false"))],
            None,
            false,
        ),
        (
            vec![finding(Some(Severity::High), Some("false"))],
            Some(0),
            false,
        ),
        (
            vec![finding(Some(Severity::High), Some("false"))],
            Some(127),
            false,
        ),
        (
            vec![finding(Some(Severity::High), Some("false"))],
            Some(1),
            true,
        ),
    ];
    for (findings, exit, shown) in cases {
        let mut script = begin(1);
        for _ in 0..2 {
            script.play(&[
                ("developer", nothing()),
                ("reviewer", answers(Answer::Reject)),
            ]);
        }
        script.play(&[
            ("developer", nothing()),
            ("reviewer", rejects_with(findings)),
        ]);
        if let Some(exit) = exit {
            assert_eq!(script.acts(), ["check"]);
            script.check(exit);
        }
        // No count turns a rejection into an approval (T-05).
        assert_eq!(script.role(), "developer", "{exit:?}");
        let unshown = flow_notices(&script).contains(&"review_unshown");
        assert_eq!(unshown, !shown);
    }
}

/// ROLE-07: APPROVE resets.
#[test]
fn an_approval_starts_the_count_of_rejections_anew() {
    let mut script = begin(1);
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Reject)),
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
    ]);
    assert_eq!(script.state.flow.position.as_ref().unwrap().rejects, 0);
}

/// ROLE-06: a verdict that nobody can read.
#[test]
fn an_unclear_verdict_is_asked_for_once_more_and_then_counts() {
    let mut script = begin(1);
    script.play(&[("developer", nothing()), ("reviewer", unclear())]);
    assert_eq!(script.notes(), [PromptNote::UnclearVerdict]);
    script.play(&[("reviewer", unclear())]);
    assert_eq!(script.role(), "developer");
    assert_eq!(script.state.flow.position.as_ref().unwrap().rejects, 1);
    assert_eq!(script.state.counters.errors, 0, "it is no error (ERRC-08)");
    // The next round has its own second chance.
    script.play(&[
        ("developer", nothing()),
        ("reviewer", unclear()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", unclear()),
        ("tester", unclear()),
        ("debugger", nothing()),
    ]);
}

#[test]
fn a_reviewer_that_changes_the_tree_has_said_nothing() {
    let mut script = begin(1);
    script.play(&[("developer", nothing())]);
    script.work(answers(Answer::Approve));
    assert_eq!(script.role(), "reviewer");
    assert!(matches!(script.notes(), [PromptNote::OnlyLook { .. }]));
    assert!(flow_notices(&script).contains(&"role_violation"));
    // What it changed is still there: nobody approves their own work.
    script.play(&[("reviewer", answers(Answer::Approve))]);
    assert_eq!(script.role(), "developer");
}

#[test]
fn what_a_reviewer_made_is_approved_once_a_developer_took_it_up() {
    let mut script = begin(1);
    script.turn(nothing().tree("of the developer"));
    let approves = |tree: &str| answers(Answer::Approve).tree(tree);
    script.turn(approves("of the reviewer"));
    script.turn(approves("of the reviewer"));
    assert_eq!(script.role(), "developer");
    script.turn(nothing().tree("of the reviewer"));
    script.turn(approves("of the reviewer"));
    assert_eq!(script.role(), "reviewer", "nobody took it up");
    script.turn(approves("of the reviewer"));
    script.turn(nothing().tree("of both"));
    script.turn(approves("of both"));
    assert_eq!(script.role(), "tester");
}

#[test]
fn a_reviewer_that_puts_back_what_it_changed_is_heard() {
    let mut script = begin(1);
    script.turn(nothing().tree("of the developer"));
    script.turn(answers(Answer::Approve).tree("of the reviewer"));
    assert_eq!(script.role(), "reviewer");
    script.turn(answers(Answer::Approve).tree("of the developer"));
    assert_eq!(script.role(), "tester");
}

#[test]
fn a_commit_of_a_reviewer_is_a_change_too() {
    let mut script = begin(1);
    script.play(&[("developer", nothing())]);
    script.turn(answers(Answer::Approve).commit("commit of the reviewer"));
    assert_eq!(script.role(), "reviewer");
}

/// ROLE-05, ROLE-08.
#[test]
fn an_approval_is_worth_nothing_after_half_an_hour() {
    for risk in [Risk::Medium, Risk::High] {
        let mut script = Script::begin(in_roles(), seen(risky(risk, 1)));
        script.play(&[
            ("developer", nothing()),
            ("reviewer", answers(Answer::Approve)),
        ]);
        assert_eq!(script.role(), "tester");
        script.request(Request::Kill).turn(ended(End::Stopped));
        assert_eq!(script.outcome(), Some(Outcome::Interrupted));
        script.pass(29 * 60 * 1000).resume();
        assert_eq!(script.role(), "tester");
        script.request(Request::Kill).turn(ended(End::Stopped));
        script.pass(2 * 60 * 1000).resume();
        assert_eq!(script.role(), "reviewer");
        let refused = notices(&script.last).find_map(|notice| match notice {
            Notice::Flow(notice @ FlowNotice::Refused { .. }) => serde_json::to_value(notice).ok(),
            _ => None,
        });
        let refused = refused.unwrap();
        assert_eq!(refused["decision"], "block");
        let risk = risk.into_str();
        assert_eq!(
            refused["reason"],
            format!("跳過 REVIEWER 審查，違反 D→R→T 流程（風險等級: {risk}）")
        );
    }
}

// ---- ticks ------------------------------------------------------------------

#[test]
fn a_tick_before_its_time_is_taken_back() {
    let mut script = begin(2);
    script.work(nothing().tasks(tasks(2, 2)));
    assert_eq!(
        script.last.last(),
        Some(&Effect::Mark {
            tick: Vec::new(),
            untick: vec!["T001".into(), "T002".into()],
        })
    );
    script.mark(tasks(0, 2));
    assert_eq!(script.role(), "reviewer");
    assert!(matches!(script.notes(), [PromptNote::TicksHeld { .. }]));
}

/// Nor does it count where the run rests or ends meanwhile (ROLE-02).
#[test]
fn a_tick_before_its_time_is_taken_back_at_the_end_too() {
    let mut rules = in_roles();
    rules.limits.max_iterations = 1;
    rules.limits.on_limit = OnLimit::Pause;
    for could_write in [true, false] {
        let mut script = Script::begin(rules.clone(), seen(tasks(0, 2)));
        script.work(nothing().tasks(tasks(1, 2)));
        let ids = vec!["T001".to_owned()];
        assert_eq!(script.outcome(), None);
        assert_eq!(
            script.last.last(),
            Some(&Effect::Untick { ids: ids.clone() })
        );
        let (done, left) = if could_write { (0, vec![]) } else { (1, ids) };
        let seen = seen(tasks(done, 2));
        script.feed(Kind::Unticked { seen, left });
        let limit = PauseReason::Limit(Limit::Iterations);
        assert_eq!(script.outcome(), Some(Outcome::Paused { reason: limit }));
        assert_eq!(script.state.tasks.completed(), done);
    }
}

#[test]
fn a_task_passes_although_others_were_ticked_before_their_time() {
    let mut script = Script::begin(in_roles(), seen(risky(Risk::Low, 2)));
    script.work(nothing().tasks(tasks(2, 2)));
    script.mark(tasks(2, 2));
    assert_eq!(script.state.counters.errors, 0);
    assert_eq!(
        script.last.last(),
        Some(&Effect::Mark {
            tick: Vec::new(),
            untick: vec!["T002".into()],
        })
    );
    script.mark(tasks(1, 2));
    assert_eq!(script.call().unwrap().task, Some(task(2)));
}

#[test]
fn all_boxes_ticked_by_a_developer_who_then_crashes_complete_nothing() {
    let mut script = begin(1);
    script.turn(failed("boom").tasks(tasks(1, 1)));
    assert_eq!(script.acts(), ["mark"]);
    script.mark(tasks(0, 1));
    assert_eq!(script.role(), "developer");
}

#[test]
fn a_box_that_cannot_be_set_is_an_error_and_ends_the_run() {
    let mut script = begin(1);
    script.work(nothing().tasks(tasks(1, 1)));
    for _ in 0..3 {
        script.mark(tasks(1, 1));
    }
    // Once more, before it ends.
    script.feed(Kind::Unticked {
        seen: seen(tasks(1, 1)),
        left: vec!["T001".into()],
    });
    assert_eq!(script.outcome(), Some(Outcome::Errors));
}

#[test]
fn what_a_person_ticks_while_the_run_is_paused_counts() {
    let mut script = begin(2);
    script.request(Request::Pause).work(nothing());
    assert!(script.outcome().is_some());
    script.world.tasks = Tasks::Read(tasks(1, 2));
    script.resume();
    assert_eq!(script.role(), "developer");
    assert_eq!(script.call().unwrap().task, Some(task(2)));
}

#[test]
fn what_an_agent_ticked_before_a_crash_does_not() {
    let mut script = begin(1);
    script.world.tasks = Tasks::Read(tasks(1, 1));
    script.resume();
    assert_eq!(script.acts(), ["mark"]);
}

#[test]
fn a_crash_in_a_review_is_taken_up_at_that_role() {
    let mut script = begin(1);
    script.play(&[("developer", nothing())]);
    assert_eq!(script.role(), "reviewer");
    script.resume();
    assert_eq!(script.role(), "reviewer");
    script.play(&[
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    // The process dies before the box is set.
    script.resume();
    script.mark(tasks(1, 1));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
}

// ---- what counts (ERRC-01, ERRC-02, VALV-03) --------------------------------

/// The table of seed 000, row by row (ERRC-01).
#[test]
fn verdicts_are_no_errors_and_errors_are() {
    let at = |role: &str| {
        let mut script = begin(1);
        if role != "developer" {
            script.play(&[("developer", nothing())]);
        }
        if role == "tester" {
            script.play(&[("reviewer", answers(Answer::Approve))]);
        }
        script
    };
    let trouble = |class| Tasks::Trouble {
        said: String::new(),
        class,
        message: "tasks.md".into(),
    };
    let rows: [(&str, Did, u32, &str); 5] = [
        ("reviewer", answers(Answer::Reject), 0, "developer"),
        ("tester", answers(Answer::Fail), 0, "debugger"),
        ("reviewer", failed("boom"), 1, "reviewer"),
        (
            "developer",
            nothing().file(trouble(ErrorClass::TaskNotFound)),
            1,
            "developer",
        ),
        (
            "developer",
            nothing().file(trouble(ErrorClass::FileOp)),
            1,
            "developer",
        ),
    ];
    for (role, did, errors, next) in rows {
        let mut script = at(role);
        script.turn(did);
        assert_eq!(script.state.counters.errors, errors, "{role}");
        if script.waits().is_some() {
            script.wake();
        }
        assert_eq!(script.role(), next, "{role}");
    }
}

#[test]
fn the_third_error_of_a_role_in_a_row_ends_the_run_and_a_verdict_resets() {
    let mut script = begin(1);
    script.play(&[("developer", nothing())]);
    for _ in 0..2 {
        script.turn(failed("boom"));
        assert_eq!(script.role(), "reviewer");
    }
    script.play(&[("reviewer", answers(Answer::Reject))]);
    assert_eq!(script.state.counters.errors, 0);
    for _ in 0..3 {
        script.turn(failed("boom"));
    }
    assert_eq!(script.outcome(), Some(Outcome::Errors));
}

/// ROLE-11.
#[test]
fn every_call_is_a_dispatch_and_they_have_a_limit() {
    let rules = in_roles().with(|rules| rules.limits.max_dispatches = 4);
    let mut script = Script::begin(rules, seen(tasks(0, 2)));
    script.play(&[
        ("developer", nothing()),
        ("reviewer", answers(Answer::Approve)),
        ("tester", answers(Answer::Pass)),
    ]);
    script.mark(tasks(1, 2));
    script.play(&[("developer", nothing())]);
    assert_eq!(script.acts(), ["ask"]);
    script.answer(MenuAnswer::Extend);
    assert_eq!(script.role(), "reviewer");
    assert_eq!(script.state.rules.limits.max_dispatches, 8);
}

#[test]
fn a_developer_who_changes_nothing_stalls_and_a_reviewer_does_not() {
    let mut script = begin(1);
    script.turn(nothing());
    assert_eq!(script.state.counters.stalled, 1);
    script.turn(answers(Answer::Reject));
    assert_eq!(script.state.counters.stalled, 1);
}

#[test]
fn blocked_is_blocked_in_every_role() {
    let mut script = begin(1);
    script.work(said(Promise::Blocked("no key".into())));
    let reason = "no key".to_owned();
    assert_eq!(script.outcome(), Some(Outcome::Blocked { reason }));
}

#[test]
fn a_claim_of_the_developer_completes_nothing() {
    let mut script = begin(1);
    script.work(claimed());
    assert_eq!(script.role(), "reviewer");
}
