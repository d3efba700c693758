//! What people read: every notice and every reason in the three languages.
//!
//! The tables hold each variant and each case in which its text differs. The
//! `match` that names a reason makes sure that a new one is looked at here.

use super::*;

type Section = (&'static str, fn(Lang) -> String);

const SECTIONS: [Section; 7] = [
    ("what_a_claim_lacks_prom_11", what_a_claim_lacks_prom_11),
    ("what_a_breaker_saw_brkr_01", what_a_breaker_saw_brkr_01),
    (
        "how_a_turn_went_wrong_errc_03",
        how_a_turn_went_wrong_errc_03,
    ),
    ("how_a_run_begins_and_goes_on", how_a_run_begins_and_goes_on),
    ("what_is_told_of_a_turn", what_is_told_of_a_turn),
    ("limits_breakers_and_pauses", limits_breakers_and_pauses),
    ("every_end_of_a_run_loop_15", every_end_of_a_run_loop_15),
];

/// What each language says stands in `golden/`, where it is read as a whole.
#[test]
fn what_people_read_prom_11_brkr_01_errc_03_loop_15() {
    let accepted = [
        include_str!("golden/en.txt"),
        include_str!("golden/zh-TW.txt"),
        include_str!("golden/zh-CN.txt"),
    ];
    for (lang, accepted) in Lang::ALL.into_iter().zip(accepted) {
        let sections = SECTIONS.map(|(title, table)| format!("## {title}\n{}", table(lang)));
        let said = sections.join("\n");
        let file = format!("src/machine/tests/golden/{}.txt", lang.into_str());
        if std::env::var_os("RALPH_GOLDEN").is_some_and(|how| how == "write") {
            std::fs::write(format!("{}/{file}", env!("CARGO_MANIFEST_DIR")), said).unwrap();
            continue;
        }
        for (said, accepted) in said.lines().zip(accepted.lines()) {
            assert_eq!(
                said, accepted,
                "{file}: RALPH_GOLDEN=write accepts the change"
            );
        }
        assert_eq!(
            said, accepted,
            "{file}: RALPH_GOLDEN=write accepts the change"
        );
    }
}

/// One line for each: `{name}: {text}`.
fn table<T: Say>(lang: Lang, all: &[T], name: fn(&T) -> &'static str) -> String {
    all.iter()
        .map(|one| format!("{}: {}\n", name(one), one.say(lang)))
        .collect()
}

fn texts(some: &[&str]) -> Vec<String> {
    some.iter().map(ToString::to_string).collect()
}

fn what_a_claim_lacks_prom_11(lang: Lang) -> String {
    let name = |missing: &Missing| match missing {
        Missing::OpenTasks { .. } => "open tasks",
        Missing::OpenInPhase { .. } => "open in phase",
        Missing::OpenInStateFile { .. } => "open in state file",
        Missing::LostTasks { .. } => "lost tasks",
        Missing::Failing { .. } => "failing",
        Missing::Unshown(_) => "unshown",
        Missing::Weakened { .. } => "weakened",
        Missing::Unreadable => "unreadable",
        Missing::NoTasks => "no tasks",
    };
    let every = [
        Missing::OpenTasks {
            count: 7,
            first: vec![task(2), task(3)],
        },
        Missing::OpenInPhase {
            phase: "2".into(),
            count: 3,
        },
        Missing::OpenInStateFile {
            open: texts(&["Phase 4", "2 / 5"]),
        },
        Missing::LostTasks { count: 2 },
        Missing::Failing {
            command: "npm test".into(),
        },
        Missing::Weakened {
            files: texts(&["tests/a.rs", "b.rs"]),
        },
        Missing::Unshown(crate::proof::Unshown::OnlyChecks {
            files: texts(&["check.sh"]),
        }),
        Missing::Unreadable,
        Missing::NoTasks,
    ];
    table(lang, &every, name)
}

fn what_a_breaker_saw_brkr_01(lang: Lang) -> String {
    let name = |sign: &Sign| match sign {
        Sign::Iterations { .. } => "iterations",
        Sign::Tasks { .. } => "tasks",
        Sign::NothingNew => "nothing new",
        Sign::NoCommit => "no commit",
        Sign::NoContent => "no content",
        Sign::Promised { .. } => "promised",
        Sign::Open { .. } => "open",
        Sign::Output { .. } => "output",
        Sign::Error { .. } => "error",
        Sign::NoFile { .. } => "no file",
    };
    let every = [
        Sign::Iterations { from: 3, to: 7 },
        Sign::Tasks {
            completed: 1,
            total: 4,
        },
        Sign::NothingNew,
        Sign::NoCommit,
        Sign::NoContent,
        Sign::Promised {
            text: "COMPLETE".into(),
        },
        Sign::Open { task: task(2) },
        Sign::Output {
            of: "npm test".into(),
            text: "1 of 12 failed".into(),
        },
        Sign::Error {
            of: "agent_exec".into(),
            text: Spoken::of(&Detail::Signal {
                signal: 9,
                words: String::new(),
            }),
        },
        Sign::NoFile {
            file: "2_plan.md".into(),
        },
    ];
    table(lang, &every, name)
}

fn how_a_turn_went_wrong_errc_03(lang: Lang) -> String {
    let name = |detail: &Detail| match detail {
        Detail::Exit { .. } => "exit",
        Detail::Signal { .. } => "signal",
        Detail::Timeout { .. } => "timeout",
        Detail::NotFound { .. } => "not found",
        Detail::NotStarted { .. } => "not started",
        Detail::Words(_) => "words",
        Detail::File { .. } => "file",
        Detail::Gone { .. } => "gone",
        Detail::NotMarked => "not marked",
    };
    let every: Vec<_> = ["", "quota spent"]
        .into_iter()
        .flat_map(|words| {
            let words = || String::from(words);
            [
                Detail::Exit {
                    code: 2,
                    words: words(),
                },
                Detail::Signal {
                    signal: 9,
                    words: words(),
                },
                Detail::NotFound { words: words() },
                Detail::NotStarted { words: words() },
                Detail::Words(words()),
            ]
        })
        .chain([
            Detail::Timeout { seconds: 1800 },
            Detail::Gone {
                task: "T001".into(),
            },
            Detail::NotMarked,
        ])
        .collect();
    table(lang, &every, name)
}

fn how_a_run_begins_and_goes_on(lang: Lang) -> String {
    let complete = |completed, total, evidence, duration_ms| Notice::IterationComplete {
        iteration: 4,
        phase: Some("2".into()),
        tasks: counted(completed, total),
        newly_done: 1,
        evidence,
        duration_ms,
    };
    let wait = |ms, why| Notice::Wait {
        iteration: 4,
        ms,
        why,
    };
    let every = [
        Notice::LoopStart {
            tasks: counted(0, 0),
        },
        Notice::LoopStart {
            tasks: counted(2, 9),
        },
        Notice::Resume { iteration: 4 },
        Notice::IterationStart {
            iteration: 4,
            phase: None,
            task: None,
        },
        Notice::IterationStart {
            iteration: 4,
            phase: Some("2".into()),
            task: Some(task(3)),
        },
        Notice::IterationRetry {
            iteration: 4,
            class: ErrorClass::AgentTimeout,
        },
        Notice::AgentNotStarted {
            iteration: 4,
            class: ErrorClass::AgentMissing,
            detail: Detail::NotFound {
                words: "no such file".into(),
            },
        },
        complete(0, 0, vec![], 0),
        complete(2, 9, vec![], 9_999),
        complete(
            3,
            9,
            vec![
                Evidence::Tasks { completed: 3 },
                Evidence::Phase { phase: "2".into() },
                Evidence::Commit,
                Evidence::Tree,
            ],
            10_999,
        ),
        wait(500, WaitReason::Between),
        wait(2000, WaitReason::Backoff),
        wait(3_600_000, WaitReason::Rate),
        Notice::TaskComplete { iteration: 4 },
    ];
    table(lang, &every, Notice::event)
}

fn what_is_told_of_a_turn(lang: Lang) -> String {
    let every = [
        Notice::PromiseDetected {
            iteration: 4,
            promise: Promise::Blocked("no key".into()),
        },
        Notice::PromiseMissing {
            iteration: 4,
            in_a_row: 2,
        },
        Notice::PromiseRejected {
            iteration: 4,
            claim: "COMPLETE".into(),
            missing: vec![
                Missing::OpenTasks {
                    count: 2,
                    first: vec![task(2), task(3)],
                },
                Missing::LostTasks { count: 3 },
            ],
        },
        Notice::Stalled {
            iteration: 4,
            in_a_row: 3,
            looked: EvidenceKinds::default(),
        },
        Notice::Stalled {
            iteration: 4,
            in_a_row: 3,
            looked: EvidenceKinds {
                tasks: true,
                phase: true,
                ..EvidenceKinds::NONE
            },
        },
        Notice::Stalled {
            iteration: 4,
            in_a_row: 3,
            looked: EvidenceKinds::NONE,
        },
        Notice::TasksRemoved {
            iteration: 4,
            ids: texts(&["T001", "T002"]),
        },
        Notice::TasksUnticked {
            iteration: 4,
            ids: texts(&["T001", "T002"]),
        },
        Notice::Error {
            iteration: 4,
            class: ErrorClass::AgentExec,
            detail: Detail::Exit {
                code: 2,
                words: "quota spent".into(),
            },
            in_a_row: 2,
        },
        Notice::GateStart { iteration: 4 },
        Notice::GateResult {
            iteration: 4,
            passed: true,
            results: vec![ran("make", Some(0), ""), ran("make test", Some(0), "")],
        },
        Notice::GateResult {
            iteration: 4,
            passed: false,
            results: vec![
                ran("make", Some(0), ""),
                ran("make test", Some(2), "no rule"),
                ran("sleep 999", None, ""),
            ],
        },
    ];
    table(lang, &every, Notice::event)
}

fn limits_breakers_and_pauses(lang: Lang) -> String {
    let reached = |limit| Notice::LimitReached {
        iteration: 20,
        limit,
    };
    let extended = |limit, max| Notice::LimitExtended {
        iteration: 20,
        limit,
        max,
    };
    let open = |rule| Notice::BreakerOpen {
        iteration: 20,
        rule,
        count: 5,
        signs: vec![Sign::NothingNew],
    };
    let pause = |reason| Notice::Pause {
        iteration: 20,
        reason,
    };
    let every = [
        Notice::LimitNear {
            iteration: 15,
            max: 20,
        },
        Notice::LimitNear {
            iteration: 20,
            max: 20,
        },
        reached(Limit::Iterations),
        reached(Limit::Duration),
        extended(Limit::Iterations, 30),
        extended(Limit::Duration, 90_000),
        open(BreakerRule::MissingPromise),
        open(BreakerRule::Stalled),
        open(BreakerRule::SameError),
        open(BreakerRule::FalsePromise),
        pause(PauseReason::Limit(Limit::Iterations)),
        pause(PauseReason::Limit(Limit::Duration)),
        pause(PauseReason::Requested),
        pause(PauseReason::Unproven),
    ];
    table(lang, &every, Notice::event)
}

fn every_end_of_a_run_loop_15(lang: Lang) -> String {
    let every = [
        Outcome::Complete,
        Outcome::Paused {
            reason: PauseReason::Limit(Limit::Iterations),
        },
        Outcome::Paused {
            reason: PauseReason::Requested,
        },
        Outcome::Blocked {
            reason: "no key".into(),
        },
        Outcome::CircuitBreak {
            rule: BreakerRule::Stalled,
        },
        Outcome::Errors,
        Outcome::GateFailed {
            reason: "npm test".into(),
        },
        Outcome::Budget {
            limit: "cost".into(),
        },
        Outcome::Cancelled,
        Outcome::Interrupted,
    ]
    .map(|outcome| Notice::LoopEnd {
        outcome,
        iterations: 7,
        tasks: counted(3, 9),
        duration_ms: 4000,
        proven: vec![],
        skipped: Vec::new(),
        bill: Bill::default(),
    });
    table(lang, &every, Notice::event)
}

#[test]
fn a_wait_is_rounded_up_to_whole_seconds() {
    let said = |ms: u64| crate::machine::span(ms, Lang::En);
    assert_eq!(said(59_400), "1 min");
    assert_eq!(said(58_400), "59 s");
    assert_eq!(said(3_599_500), "1 h 0 min");
}
