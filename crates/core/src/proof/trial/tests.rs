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
    verdict(trials, asked, was_red).level
}

fn verdict(trials: &[(Experiment, i32)], asked: Option<AskedProof>, was_red: bool) -> Verdict {
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
    scale.weigh()
}

/// Nobody is told that a check could fail once where nobody saw it fail for
/// what was put in.
#[test]
fn what_was_red_anyway_is_not_said_to_have_seen_more() {
    use Experiment::*;
    let trials = [(Canary, 0), (ArmedCanary, 1), (Counterfactual, 1)];
    let why = |was_red| verdict(&trials, None, was_red).why.unwrap();
    let command = CHECK.to_owned();
    assert_eq!(
        why(false),
        Unshown::Blind {
            command: command.clone()
        }
    );
    assert_eq!(why(true), Unshown::Unheard { command });
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
        // A script that judges, and that the product could end early.
        (
            &[
                (Canary, 0),
                (ArmedCanary, 0),
                (Takers, 1),
                (Spoiled, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Proven,
        ),
        // It fails where it is spoiled, and sees nothing of the work but that
        // it is gone.
        (
            &[(Takers, 1), (Spoiled, 0), (Removed, 0), (Counterfactual, 1)],
            None,
            false,
            Unrefuted,
        ),
        (
            &[
                (Takers, 0),
                (ArmedTakers, 1),
                (Spoiled, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Refuted,
        ),
        (
            &[
                (Takers, 0),
                (ArmedTakers, 0),
                (Spoiled, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Proven,
        ),
        // Tests that are blind are not spoken for by a script that is not.
        (
            &[
                (Canary, 0),
                (ArmedCanary, 1),
                (Takers, 1),
                (Counterfactual, 1),
            ],
            None,
            false,
            Refuted,
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

/// Same tests, and fewer of them ran: it does not matter that all were green.
#[test]
fn tests_that_no_longer_run_are_lost() {
    for (now, without, at_first, want) in [
        (Some(2), Some(2), 2, EvidenceLevel::Proven),
        (Some(3), Some(1), 2, EvidenceLevel::Proven),
        (Some(1), Some(2), 1, EvidenceLevel::Refuted),
        (Some(1), Some(1), 2, EvidenceLevel::Refuted),
        (None, Some(2), 2, EvidenceLevel::Proven),
        (Some(2), None, 0, EvidenceLevel::Proven),
    ] {
        let mut report = bound();
        report.results[0].ran = now;
        report.trials[1].results[0].ran = without;
        let ran = [(CHECK.to_owned(), at_first)].into();
        let none = BTreeSet::new();
        let scale = Scale {
            report: &report,
            commands: &[CHECK.to_owned()],
            asked: None,
            red_before: &none,
            red_at_first: &none,
            ran_at_first: Some(&ran),
        };
        let level = scale.weigh().level;
        assert_eq!(level, want, "{now:?} {without:?} {at_first}");
    }
}

#[test]
fn earlier_tests_bound_files_and_loosened_tests_speak_against_it() {
    use EvidenceLevel::*;
    use Experiment::*;
    for (more, loosened, want) in [
        (&[(Kept, 0)][..], false, Proven),
        (&[(Kept, 1), (KeptWithNew, 0)], false, Proven),
        // Expectations of an earlier task that the work changed, each of them.
        (&[(Kept, 1), (KeptWithNew, 1)], false, Proven),
        (&[(Kept, 1), (KeptWithNew, 1)], true, Refuted),
        (&[(Original, 1), (OriginalWithNew, 1)], true, Refuted),
        (&[(BoundCanary, 1)], false, Proven),
        (&[(BoundCanary, 0)], false, Unrefuted),
    ] {
        let mut report = bound();
        report.trials.extend(
            more.iter()
                .map(|(experiment, exit)| trial(*experiment, *exit)),
        );
        let weighed = report.weighed.as_mut().unwrap();
        weighed.only_expectations = true;
        weighed.only_kept_expectations = true;
        weighed.loosened = loosened
            .then(|| "test_sub".to_owned())
            .into_iter()
            .collect();
        let none = BTreeSet::new();
        let scale = Scale {
            report: &report,
            commands: &[CHECK.to_owned()],
            asked: None,
            red_before: &none,
            red_at_first: &none,
            ran_at_first: None,
        };
        assert_eq!(scale.weigh().level, want, "{more:?} {loosened}");
    }
}

#[test]
fn what_only_a_script_s_own_end_says_shows_nothing() {
    use EvidenceLevel::*;
    for (without_it, asked, want) in [
        // The rest of the work is red without it too.
        (0, None, Proven),
        (1, None, Unrefuted),
        (1, Some(AskedProof::Preserved), Preserved),
    ] {
        let mut report = bound();
        report.trials.push(trial(Experiment::ByExit, without_it));
        let weighed = report.weighed.as_mut().unwrap();
        let scripts = vec!["steps/one".to_owned()];
        weighed.by_exit.insert(CHECK.into(), scripts.clone());
        let none = BTreeSet::new();
        let scale = Scale {
            report: &report,
            commands: &[CHECK.to_owned()],
            asked,
            red_before: &none,
            red_at_first: &none,
            ran_at_first: None,
        };
        let verdict = scale.weigh();
        assert_eq!(verdict.level, want, "{without_it} {asked:?}");
        if want == Unrefuted {
            let command = CHECK.to_owned();
            let files = scripts;
            assert_eq!(verdict.why, Some(Unshown::ByExit { command, files }));
        }
    }
}

/// Green now, red without the work, and able to be red.
fn bound() -> VerifyReport {
    VerifyReport {
        results: vec![CommandResult {
            command: CHECK.into(),
            exit: Some(0),
            ..CommandResult::default()
        }],
        trials: vec![
            trial(Experiment::Canary, 1),
            trial(Experiment::Counterfactual, 1),
        ],
        weighed: Some(Box::new(Weighed {
            work: vec!["calc.py".into()],
            ..Weighed::default()
        })),
        ..VerifyReport::default()
    }
}

/// Old tests that can't be loaded for a name that is gone run nothing; a check
/// that found none when the loop began is not made red by the work (T-08).
#[test]
fn tests_that_were_not_there_or_name_what_was_renamed_hold_nothing_up() {
    use Experiment::*;
    for (was_red, at_first, alone, with_new, want) in [
        (false, 2, 0, 1, EvidenceLevel::Proven),
        (true, 0, 0, 0, EvidenceLevel::Proven),
        (true, 2, 2, 0, EvidenceLevel::Refuted),
        // Green with new tests beside them, and fewer of them ran.
        (false, 2, 1, 0, EvidenceLevel::Refuted),
    ] {
        let mut report = bound();
        report.results[0].ran = Some(2);
        let mut original = trial(Original, 1);
        original.results[0].ran = Some(alone);
        report.trials.push(original);
        report.trials.push(trial(OriginalWithNew, with_new));
        report.weighed.as_mut().unwrap().only_expectations = true;
        let ran = [(CHECK.to_owned(), at_first)].into();
        let red: BTreeSet<String> = was_red.then(|| CHECK.to_owned()).into_iter().collect();
        let scale = Scale {
            report: &report,
            commands: &[CHECK.to_owned()],
            asked: None,
            red_before: &red,
            red_at_first: &red,
            ran_at_first: Some(&ran),
        };
        assert_eq!(scale.weigh().level, want, "{was_red} {at_first} {alone}");
    }
}
