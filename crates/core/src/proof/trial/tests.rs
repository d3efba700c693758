use super::*;

const CHECK: &str = "make test";

fn trial(experiment: Experiment, exit: i32) -> Trial {
    Trial {
        experiment,
        edits: String::new(),
        results: vec![CommandResult {
            command: CHECK.into(),
            exit: Some(exit),
            ..CommandResult::default()
        }],
        flaky: Vec::new(),
        named: Vec::new(),
        failing: Vec::new(),
    }
}

fn level(trials: &[(Experiment, i32)], asked: Option<AskedProof>, was_red: bool) -> EvidenceLevel {
    let report = VerifyReport {
        trials: trials.iter().map(|(e, exit)| trial(*e, *exit)).collect(),
        weighed: Some(Box::new(Weighed {
            work: vec!["calc.py".into()],
            only_expectations: true,
            ..Weighed::default()
        })),
        ..VerifyReport::default()
    };
    let red: BTreeSet<String> = was_red.then(|| CHECK.to_owned()).into_iter().collect();
    let scale = Scale {
        report: &report,
        commands: &[CHECK.to_owned()],
        asked,
        red_before: &red,
        red_at_first: &red,
        ran_at_first: None,
    };
    scale.weigh().level
}

/// Green now in all of them; 1 is red.
#[test]
fn three_experiments_decide() {
    use EvidenceLevel::*;
    use Experiment::*;
    let preserved = Some(AskedProof::Preserved);
    for (trials, asked, was_red, want) in [
        // Red without the work, and able to be red.
        (&[(Canary, 1), (Counterfactual, 1)][..], None, false, Proven),
        (&[(Canary, 1), (Counterfactual, 1)], None, true, Proven),
        // Green without it.
        (&[(Canary, 1), (Counterfactual, 0)], None, false, Unrefuted),
        (
            &[(Canary, 1), (Counterfactual, 0)],
            preserved,
            false,
            Preserved,
        ),
        // Blinded: it could be red, and can't.
        (
            &[(Canary, 0), (ArmedCanary, 1), (Counterfactual, 1)],
            None,
            false,
            Refuted,
        ),
        (
            &[
                (Canary, 0),
                (ArmedCanary, 1),
                (Spoiled, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Refuted,
        ),
        (&[(Canary, 0), (Counterfactual, 1)], None, true, Refuted),
        // A check that reads no tests, and did not before.
        (
            &[
                (Canary, 0),
                (ArmedCanary, 0),
                (Removed, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Proven,
        ),
        // One that never could.
        (
            &[
                (Canary, 0),
                (ArmedCanary, 0),
                (Removed, 0),
                (Counterfactual, 0),
            ],
            None,
            false,
            Unrefuted,
        ),
        // The checks of then fail.
        (
            &[(Canary, 1), (Original, 1), (Counterfactual, 0)],
            None,
            false,
            Refuted,
        ),
        (
            &[
                (Canary, 1),
                (Original, 1),
                (OriginalWithNew, 0),
                (Counterfactual, 1),
            ],
            None,
            false,
            Proven,
        ),
        (
            &[
                (Canary, 1),
                (Original, 1),
                (OriginalWithNew, 0),
                (Counterfactual, 1),
            ],
            None,
            true,
            Refuted,
        ),
        // Expectations were rewritten: only where they were green.
        (
            &[
                (Canary, 1),
                (Original, 1),
                (OriginalWithNew, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Proven,
        ),
        (
            &[
                (Canary, 1),
                (Original, 1),
                (OriginalWithNew, 1),
                (Counterfactual, 1),
            ],
            None,
            true,
            Refuted,
        ),
    ] {
        assert_eq!(level(trials, asked, was_red), want, "{trials:?} {was_red}");
    }
}

#[test]
fn a_flaky_check_shows_nothing() {
    let mut report = VerifyReport {
        trials: vec![
            trial(Experiment::Canary, 1),
            trial(Experiment::Counterfactual, 1),
        ],
        weighed: Some(Box::new(Weighed {
            work: vec!["calc.py".into()],
            ..Weighed::default()
        })),
        ..VerifyReport::default()
    };
    report.trials[1].flaky.push(CHECK.into());
    let none = BTreeSet::new();
    let scale = Scale {
        report: &report,
        commands: &[CHECK.to_owned()],
        asked: None,
        red_before: &none,
        red_at_first: &none,
        ran_at_first: None,
    };
    let verdict = scale.weigh();
    assert_eq!(verdict.level, EvidenceLevel::Unrefuted);
    assert!(matches!(verdict.why, Some(Unshown::Flaky { .. })));
}
