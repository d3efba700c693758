//! The routes on the machine: their phases, their files, and when they are
//! done (ROUT-01, ROUT-07 to ROUT-11). How a route is chosen is tested with the
//! scorer (`route/tests.rs`: ROUT-03 to ROUT-06, ROUT-12).

use super::roles::{answers, rules_of, tasks};
use super::*;
use crate::flow::{self, Answer, Escalation, FlowNotice, VerdictKind};

/// The phases that were told to be done, and how far the work is with each.
fn phases(script: &Script) -> Vec<(usize, u8)> {
    let done = notices(&script.effects).filter_map(|notice| match notice {
        Notice::Flow(FlowNotice::PhaseDone { phase, percent, .. }) => Some((*phase, (*percent)?)),
        _ => None,
    });
    done.collect()
}

fn on_route(name: &str) -> Script {
    let rules = Rules::new(Goal::Flow).with(|rules| rules.flow = Some(rules_of(name)));
    Script::begin(rules, no_task_file())
}

impl Script {
    fn leaves(&mut self, output: &str, did: Did) -> &mut Script {
        let digest = format!("{} of turn {}", output, self.state.turn.number);
        self.world.outputs.insert(output.into(), digest);
        self.turn(did)
    }

    fn step_id(&self) -> &str {
        let call = self.call().expect("an agent is called");
        call.flow.as_ref().map_or("", |flow| flow.step.as_str())
    }
}

/// ROUT-01: DIRECT.
#[test]
fn a_direct_task_is_one_call_and_needs_a_proof() {
    let mut script = on_route("direct");
    script.leaves("output.txt", nothing());
    let reason = PauseReason::Unproven;
    assert_eq!(script.outcome(), Some(Outcome::Paused { reason }));

    let rules = Rules::new(Goal::Flow).with(|rules| {
        rules.flow = Some(rules_of("direct"));
        rules.verify = Some(VerifyWhen::Complete);
    });
    let mut script = Script::begin(rules, no_task_file());
    script.leaves("output.txt", nothing()).verified(passing());
    assert_eq!(script.outcome(), Some(Outcome::Complete));
}

/// ROUT-01: PLANNED.
#[test]
fn planned_phases_follow_each_other_and_a_rejection_is_for_a_person() {
    for (answer, want) in [
        (Answer::Approve, Outcome::Complete),
        (
            Answer::Reject,
            Outcome::Paused {
                reason: PauseReason::Escalated(Escalation::Flow),
            },
        ),
    ] {
        let mut script = on_route("planned");
        assert_eq!(script.step_id(), "plan");
        script.leaves("1_plan.md", nothing());
        assert_eq!(script.step_id(), "implement");
        script.leaves("2_implementation.md", nothing());
        assert_eq!(script.step_id(), "review");
        script.leaves("3_review.md", answers(answer));
        let approved = want == Outcome::Complete;
        assert_eq!(script.outcome(), Some(want));
        // It does not loop: three phases are three calls.
        assert_eq!(script.state.agents.dispatches, 3);
        if approved {
            assert_eq!(phases(&script), [(1, 30), (2, 60), (3, 100)]);
        }
    }
}

/// ROUT-08.
#[test]
fn a_phase_without_its_file_is_not_done() {
    let mut script = on_route("planned");
    script.turn(nothing());
    assert_eq!(script.step_id(), "plan");
    assert!(matches!(script.notes(), [PromptNote::NoOutput { .. }]));
}

#[test]
fn a_file_that_was_there_before_is_no_work_of_this_run() {
    let rules = Rules::new(Goal::Flow).with(|rules| rules.flow = Some(rules_of("planned")));
    let mut world = no_task_file();
    world.outputs.insert("1_plan.md".into(), "old".into());
    let mut script = Script::begin(rules, world);
    script.turn(nothing());
    assert_eq!(script.step_id(), "plan");
    script.leaves("1_plan.md", nothing());
    assert_eq!(script.step_id(), "implement");
}

/// ROUT-01, ROUT-07, ROUT-08, ROUT-09: RALPH.
#[test]
fn the_route_ralph_goes_on_until_subtasks_and_review_are_done() {
    let mut script = on_route("ralph");
    script.leaves("1_analysis.md", nothing());
    // A plan without boxes is none.
    script.leaves("2_plan.md", nothing());
    assert_eq!(script.step_id(), "plan");
    script.leaves("2_plan.md", nothing().tasks(tasks(0, 2)));
    assert_eq!(script.step_id(), "execute");
    assert_eq!(script.call().unwrap().task, Some(task(1)));
    script.leaves("3_subtask_1.md", nothing().tree("a"));
    script.mark(tasks(1, 2));
    assert_eq!(script.call().unwrap().task, Some(task(2)));
    let output = &script.call().unwrap().flow.as_ref().unwrap().output;
    assert_eq!(output.as_deref(), Some("3_subtask_2.md"));
    script.leaves("3_subtask_2.md", nothing().tree("b"));
    script.mark(tasks(2, 2));
    assert_eq!(script.step_id(), "review");
    script.leaves("4_review.md", answers(Answer::Reject));
    assert_eq!(script.step_id(), "repair");
    script.turn(nothing().tree("c"));
    assert_eq!(script.step_id(), "review");
    script.leaves("4_review.md", answers(Answer::Approve));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
    assert_eq!(phases(&script), [(1, 20), (2, 40), (3, 75), (4, 100)]);
}

/// ROUT-09.
#[test]
fn a_subtask_that_the_agent_ticks_itself_is_open_again() {
    let mut script = on_route("ralph");
    script.leaves("1_analysis.md", nothing());
    script.leaves("2_plan.md", nothing().tasks(tasks(0, 2)));
    script.turn(nothing().tree("a").tasks(tasks(1, 2)));
    assert_eq!(script.acts(), ["mark"]);
    script.mark(tasks(0, 2));
    assert_eq!(script.step_id(), "execute");
}

/// ROUT-07, ROUT-08: the file that was asked for counts, whatever boxes the
/// agent ticked beside it.
#[test]
fn the_file_of_a_subtask_counts_although_the_agent_ticked_its_box() {
    for ticked in 1..=2 {
        let mut script = on_route("ralph");
        script.leaves("1_analysis.md", nothing());
        script.leaves("2_plan.md", nothing().tasks(tasks(0, 2)));
        let seen = nothing().tree("a").tasks(tasks(ticked, 2));
        script.leaves("3_subtask_1.md", seen);
        script.mark(tasks(ticked, 2));
        if ticked == 2 {
            // The second box was ticked before its turn.
            script.mark(tasks(1, 2));
        }
        let call = script.call().unwrap();
        assert_eq!(call.task, Some(task(2)));
        let output = call.flow.as_ref().unwrap().output.as_deref();
        assert_eq!(output, Some("3_subtask_2.md"));
    }
}

/// ROUT-01, ROUT-08: ARCHITECT and UI_FLOW.
#[test]
fn the_other_routes_end_where_their_files_say() {
    let mut script = on_route("architect");
    for output in ["1_architecture_analysis.md", "2_architecture_design.md"] {
        script.leaves(output, nothing());
    }
    script.leaves("3_implementation_plan.md", nothing().tasks(tasks(0, 1)));
    script
        .leaves("4_phase_1.md", nothing().tree("a"))
        .mark(tasks(1, 1));
    script.leaves("5_acceptance_review.md", answers(Answer::Approve));
    assert_eq!(script.outcome(), Some(Outcome::Complete));
    let want = [(1, 15), (2, 30), (3, 50), (4, 80), (5, 100)];
    assert_eq!(phases(&script), want);

    let mut script = on_route("ui_flow");
    for output in ["1_ui_design.md", "2_implementation.md", "3_preview.md"] {
        script.leaves(output, nothing());
    }
    assert_eq!(phases(&script), [(1, 30), (2, 60), (3, 100)]);
    let reason = PauseReason::Unproven;
    assert_eq!(script.outcome(), Some(Outcome::Paused { reason }));
}

/// ROUT-10: what blocks a review is not overruled by its own approval.
#[test]
fn a_review_with_a_severe_finding_or_too_little_coverage_is_none() {
    for said in [
        "FINDING critical: a.rs:1 loses data\n\nVERDICT: APPROVE",
        "Coverage: 79%\n\nVERDICT: APPROVE",
        "Security: 69%\n\nVERDICT: APPROVE",
    ] {
        let mut script = on_route("ralph");
        script.leaves("1_analysis.md", nothing());
        script.leaves("2_plan.md", nothing().tasks(tasks(0, 1)));
        script
            .leaves("3_subtask_1.md", nothing().tree("a"))
            .mark(tasks(1, 1));
        let heard = flow::hear(said, "", VerdictKind::Review, None);
        let review = Did {
            role: Some(heard),
            ..nothing()
        };
        script.leaves("4_review.md", review);
        assert_eq!(script.step_id(), "repair", "{said}");
    }
}

/// ROUT-11: a call that fails is made again, in the same phase and by nobody
/// else; the third failure in a row ends the run.
#[test]
fn a_phase_whose_call_fails_is_tried_again() {
    let mut script = on_route("planned");
    script.leaves("1_plan.md", nothing());
    for n in 1..=3 {
        let call = script.call().unwrap();
        assert_eq!((script.step_id(), call.agent), ("implement", 0));
        script.turn(failed("boom"));
        if n < 3 && script.waits().is_some() {
            script.wake();
        }
    }
    assert_eq!(script.outcome(), Some(Outcome::Errors));
}

/// BRKR-07: whatever is written meanwhile.
#[test]
fn the_same_failure_at_the_end_of_a_route_opens_the_breaker() {
    for (route, phases, again) in [
        ("direct", &["output.txt"][..], &["output.txt"][..]),
        (
            "ui_flow",
            &["1_ui_design.md", "2_implementation.md", "3_preview.md"],
            &["3_preview.md"],
        ),
    ] {
        let rules = Rules::new(Goal::Flow).with(|rules| {
            rules.flow = Some(rules_of(route));
            rules.verify = Some(VerifyWhen::Complete);
        });
        let mut script = Script::begin(rules, no_task_file());
        let mut files = phases;
        for failures in 1..=5 {
            assert_eq!(script.outcome(), None, "{route}");
            for file in files {
                let tree = format!("{route} {failures} {file}");
                script.leaves(file, nothing().tree(&tree));
            }
            script.verified(failing("1 of 4 failed"));
            assert_eq!(script.state.counters.same_error, failures, "{route}");
            files = again;
        }
        let rule = BreakerRule::SameError;
        assert_eq!(
            script.outcome(),
            Some(Outcome::CircuitBreak { rule }),
            "{route}"
        );
    }
}

/// BRKR-07: a review in between does not hide it, an end that holds does.
#[test]
fn a_review_that_approves_does_not_close_what_the_checks_open() {
    let rules = Rules::new(Goal::Flow).with(|rules| {
        rules.flow = Some(rules_of("ralph"));
        rules.verify = Some(VerifyWhen::Complete);
    });
    let mut script = Script::begin(rules, no_task_file());
    script.leaves("1_analysis.md", nothing());
    script.leaves("2_plan.md", nothing().tasks(tasks(0, 1)));
    script
        .leaves("3_subtask_1.md", nothing().tree("a"))
        .mark(tasks(1, 1));
    for failures in 1..=5 {
        assert_eq!(script.outcome(), None);
        script.leaves("4_review.md", answers(Answer::Approve));
        script.verified(failing("1 of 4 failed"));
        if failures < 5 {
            script.turn(nothing().tree(&format!("repair {failures}")));
        }
    }
    let rule = BreakerRule::SameError;
    assert_eq!(script.outcome(), Some(Outcome::CircuitBreak { rule }));
}

/// EVNT-01: a state file that Ralph itself keeps tells it no news.
#[test]
fn what_is_reached_is_told_in_the_turn_that_reached_it() {
    let mut script = on_route("ralph");
    let reached = |script: &Script| {
        let told = notices(&script.last).find_map(|notice| match notice {
            Notice::IterationComplete { evidence, .. } => Some(evidence.clone()),
            _ => None,
        });
        let words = told
            .unwrap()
            .into_iter()
            .filter_map(|evidence| match evidence {
                Evidence::Tasks { completed } => Some(format!("{completed} ticked")),
                Evidence::Phase { phase } => Some(format!("phase {phase}")),
                _ => None,
            });
        words.collect::<Vec<_>>().join(", ")
    };
    let keep_state_file = |script: &mut Script, completed: u32, done: u32| {
        script.world.claims = Some(FileClaims {
            completed: (1..=completed).collect(),
            subtasks: (done, 2),
            ..FileClaims::default()
        });
    };
    script.leaves("1_analysis.md", nothing());
    assert_eq!(reached(&script), "phase 1");
    keep_state_file(&mut script, 1, 0);
    script.leaves("2_plan.md", nothing().tasks(tasks(0, 2)));
    assert_eq!(reached(&script), "phase 2");
    keep_state_file(&mut script, 2, 0);
    script.leaves("3_subtask_1.md", nothing().tree("a"));
    assert_eq!(reached(&script), "1 ticked");
    keep_state_file(&mut script, 2, 1);
    script.mark(tasks(1, 2));
    script.leaves("3_subtask_2.md", nothing().tree("b"));
    assert_eq!(reached(&script), "2 ticked, phase 3");
    keep_state_file(&mut script, 3, 2);
    script.mark(tasks(2, 2));
    script.leaves("4_review.md", answers(Answer::Reject));
    assert_eq!(reached(&script), "");
    script.turn(nothing().tree("c"));
    assert_eq!(reached(&script), "");
    script.leaves("4_review.md", answers(Answer::Approve));
    assert_eq!(reached(&script), "phase 4");
}
