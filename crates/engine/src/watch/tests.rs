use std::fs;

use ralph_core::flow::{self, FlowRules};
use ralph_core::machine::{
    CommandResult, End, Event, Goal, GuardBlock, Kind, Now, Observation, PhaseFacts, Rules,
    SessionEvent, TaskFacts, TaskRef, Tasks, TurnReport, VerifyReport, VerifyWhen,
};
use ralph_core::overview::Standing;
use ralph_core::promise::Promise;
use ralph_core::usage::{Usage, Usd};
use ralph_store::home::StateHome;
use ralph_store::journal::{Durability, Journal};
use ralph_store::layout::new_run_id;

use super::*;
use crate::plan::Asked;

/// A project with one run, whose journal is written by hand.
struct Run {
    dir: tempfile::TempDir,
    id: RunId,
    journal: Journal,
    seconds: i64,
}

fn facts(completed: usize) -> Observation {
    let task = |n: usize| TaskRef {
        id: format!("T{n:03}"),
        text: "做事 🚀".into(),
        ..TaskRef::default()
    };
    Observation {
        tasks: Tasks::Read(TaskFacts {
            total: 3,
            completed,
            pending: 3 - completed,
            phase: Some("1".into()),
            phases: vec![PhaseFacts {
                key: "1".into(),
                title: "Work".into(),
                completed,
                total: 3,
            }],
            next: (completed < 3).then(|| task(completed + 1)),
            open: (completed + 1..=3).map(task).collect(),
            ..TaskFacts::default()
        }),
        tree: Some(format!("tree {completed}")),
        ..Observation::default()
    }
}

fn turn(turn: u32, completed: usize, promise: Option<Promise>) -> Kind {
    Kind::TurnEnded(TurnReport {
        turn,
        attempt: 1,
        end: End::Exit(0),
        duration_ms: 1500,
        promise,
        mentioned: None,
        failure: String::new(),
        spent: Usage {
            cost: Usd::from_dollars(0.25),
            ..Usage::default()
        },
        refusal: None,
        role: None,
        seen: facts(completed),
    })
}

fn verified(turn: u32, exit: i32) -> Kind {
    Kind::Verified(VerifyReport {
        turn,
        tree: None,
        results: vec![CommandResult {
            command: "cargo test".into(),
            exit: Some(exit),
            duration_ms: 40,
            output: "one \"quoted\" line\nand another\n".into(),
            ..CommandResult::default()
        }],
        ..VerifyReport::default()
    })
}

/// What is seen where a flow decides about ticks.
fn in_flow(mut seen: Observation) -> Observation {
    if let Tasks::Read(facts) = &mut seen.tasks {
        facts.flow = Some(Box::default());
    }
    seen
}

impl Run {
    fn new() -> Run {
        Run::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Rules)) -> Run {
        let dir = tempfile::tempdir().unwrap();
        let layout = crate::layout_in(dir.path());
        layout.prepare().unwrap();
        let id = new_run_id(1_000_000, 7);
        let paths = layout.create_run(&id).unwrap();
        let mut rules = Rules::new(Goal::Tasks { phase: None });
        rules.verify = Some(VerifyWhen::Complete);
        rules.agents = vec!["claude".into()];
        change(&mut rules);
        let header = Header {
            session: None,
            run_id: id.as_str().into(),
            started_ms: 1_000_000,
            rules,
            asked: Asked::default(),
            tasks_file: Some(dir.path().join("tasks.md")),
            commit: None,
            branch: Some("main".into()),
        };
        let mut journal = Journal::create(&paths.journal()).unwrap();
        let header = serde_json::to_value(&header).unwrap();
        journal.append(&[header], Durability::Buffered).unwrap();
        Run {
            dir,
            id,
            journal,
            seconds: 0,
        }
    }

    fn add(&mut self, kind: Kind) {
        self.seconds += 1;
        let at = Now {
            wall_ms: 1_000_000 + self.seconds * 1000,
            steady_ms: self.seconds.unsigned_abs() * 1000,
        };
        let event = serde_json::to_value(Event { at, kind }).unwrap();
        self.journal.append(&[event], Durability::Buffered).unwrap();
    }

    fn watch(&self) -> Watch {
        Watch::new(&crate::layout_in(self.dir.path()), &self.id, Lang::En)
    }
}

/// A whole run of four turns.
fn story() -> Vec<Kind> {
    let complete = Some(Promise::Complete("COMPLETE".into()));
    vec![
        Kind::Started { seen: facts(0) },
        turn(1, 1, Some(Promise::Continue)),
        Kind::GuardBlocked {
            lines: 1,
            blocks: vec![GuardBlock {
                tool: "Bash".into(),
                rule: "delete-home".into(),
                detail: "rm -rf ~".into(),
                shadow: false,
            }],
        },
        turn(2, 1, complete.clone()),
        turn(3, 3, complete.clone()),
        verified(3, 1),
        turn(4, 3, complete),
        verified(4, 0),
    ]
}

fn shown(snapshot: &Snapshot) -> String {
    let mut out = format!(
        "{} {:?} #{}/{} {}/{} {} {:?}\n",
        snapshot.run.goal,
        snapshot.overview.standing,
        snapshot.overview.iteration,
        snapshot.overview.max_iterations,
        snapshot.overview.completed,
        snapshot.overview.total,
        snapshot.overview.bill.cost.dollars(),
        snapshot.overview.outcome,
    );
    for turn in snapshot.turns.iter() {
        out.push_str(&format!(
            "#{} {} {:?} {:?} {:?} +{} {:?}\n",
            turn.turn,
            turn.agent,
            turn.task.as_ref().map(|t| t.id.as_str()),
            turn.duration_ms,
            turn.promise,
            turn.newly_done,
            turn.verdict,
        ));
    }
    for check in &snapshot.checks {
        out.push_str(&format!("check #{} {}\n", check.turn, check.passed));
    }
    for (turn, block) in &snapshot.guard {
        out.push_str(&format!("guard #{turn} {}\n", block.rule));
    }
    for told in &snapshot.events {
        out.push_str(&format!(
            "{} {} #{}\n",
            told.number, told.event, told.iteration
        ));
    }
    out
}

#[test]
fn a_run_is_shown_as_its_journal_tells_it() {
    let mut run = Run::new();
    for kind in story() {
        run.add(kind);
    }
    let mut watch = run.watch();
    assert!(watch.refresh().unwrap());
    assert!(!watch.refresh().unwrap(), "nothing is new");
    insta::assert_snapshot!(shown(watch.snapshot()), @r#"
    tasks.md Ended #4/50 3/3 1 Some(Complete)
    #1 claude Some("T001") Some(1500) Some("CONTINUE") +1 Progress
    #2 claude Some("T002") Some(1500) Some("COMPLETE") +0 Rejected
    #3 claude Some("T002") Some(1500) Some("COMPLETE") +2 CheckFailed
    #4 claude None Some(1500) Some("COMPLETE") +0 Passed
    check #3 false
    check #4 true
    guard #2 delete-home
    1 loop_start #0
    2 iteration_start #1
    3 iteration_complete #1
    4 promise_detected #1
    5 iteration_start #2
    6 guard_block #2
    7 iteration_complete #2
    8 stalled #2
    9 promise_detected #2
    10 promise_rejected #2
    11 iteration_start #3
    12 iteration_complete #3
    13 promise_detected #3
    14 gate_start #3
    15 gate_result #3
    16 promise_rejected #3
    17 iteration_start #4
    18 iteration_complete #4
    19 stalled #4
    20 promise_detected #4
    21 gate_start #4
    22 gate_result #4
    23 task_complete #4
    24 loop_end #4
    "#);
}

#[test]
fn roles_are_shown_with_the_turns_they_play() {
    let mut run = Run::with(|rules| {
        rules.flow = Some(FlowRules {
            flow: flow::built_in("drt").unwrap(),
            risk: None,
            bypass: None,
            card: None,
        });
    });
    let seen = || in_flow(facts(0));
    run.add(Kind::Started { seen: seen() });
    let mut watch = run.watch();
    let mut look = || {
        watch.refresh().unwrap();
        let snapshot = watch.snapshot();
        let chain = snapshot.overview.roles.iter();
        let chain: Vec<String> = chain.map(|r| format!("{} {:?}", r.name, r.state)).collect();
        let of_turns = snapshot.turns.iter().map(|turn| turn.role.clone().unwrap());
        let of_turns: Vec<String> = of_turns.collect();
        assert_eq!(of_turns.last(), snapshot.overview.role.as_ref());
        format!("{}: {}", of_turns.join(", "), chain.join(" → "))
    };
    assert_eq!(
        look(),
        "developer: DEVELOPER Active → REVIEWER Pending → TESTER Pending"
    );
    let mut done = turn(1, 0, None);
    if let Kind::TurnEnded(report) = &mut done {
        report.role = Some(Box::default());
        report.seen = seen();
    }
    run.add(done);
    assert_eq!(
        look(),
        "developer, reviewer: DEVELOPER Done → REVIEWER Active → TESTER Pending"
    );
}

#[test]
fn record_by_record_and_all_at_once_are_the_same() {
    let mut run = Run::new();
    let mut watch = run.watch();
    watch.refresh().unwrap();
    for kind in story() {
        run.add(kind);
        assert!(watch.refresh().unwrap());
    }
    let mut whole = run.watch();
    whole.refresh().unwrap();
    assert_eq!(shown(watch.snapshot()), shown(whole.snapshot()));
    assert_eq!(watch.state(), whole.state());
    let past = crate::past::read(watch.paths()).unwrap();
    assert_eq!(watch.state(), Some(&past.state));
}

#[test]
fn the_short_way_to_read_an_event_is_the_long_one() {
    for kind in story() {
        let at = Now {
            wall_ms: -5,
            steady_ms: 9,
        };
        let event = Event { at, kind };
        let data = serde_json::to_vec(&serde_json::to_value(&event).unwrap()).unwrap();
        assert_eq!(decode::event(&data).unwrap(), event);
    }
    for bad in [
        "",
        "{}",
        r#"{"at":{"wall_ms":1,"steady_ms":2},"kind":"turn_ended"}"#,
    ] {
        assert!(decode::event(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn a_run_inside_a_session_is_not_dead_between_two_hooks() {
    let mut run = Run::new();
    run.add(Kind::Started { seen: facts(0) });
    run.add(Kind::Session(SessionEvent::Joined {
        id: "1".into(),
        host: "claude".into(),
    }));
    let mut watch = run.watch();
    watch.refresh().unwrap();
    assert_eq!(watch.snapshot().overview.standing, Standing::Working);
}

#[test]
fn a_run_that_nobody_drives_and_that_did_not_end_is_dead() {
    let mut run = Run::new();
    run.add(Kind::Started { seen: facts(0) });
    let mut watch = run.watch();
    watch.refresh().unwrap();
    assert_eq!(watch.snapshot().overview.standing, Standing::Dead);
    assert_eq!(watch.snapshot().overview.pid, None);
    let info = ralph_store::lock::LockInfo {
        pid: std::process::id(),
        started_at: String::new(),
        run_id: run.id.as_str().into(),
        host: None,
    };
    let held = ralph_store::lock::acquire(&crate::layout_in(run.dir.path()).lock(), &info).unwrap();
    assert!(watch.refresh().unwrap());
    assert_eq!(watch.snapshot().overview.standing, Standing::Working);
    assert_eq!(watch.snapshot().overview.pid, Some(std::process::id()));
    drop(held);
    assert!(watch.refresh().unwrap());
    assert_eq!(watch.snapshot().overview.standing, Standing::Dead);
    assert!(!watch.refresh().unwrap());
}

#[test]
fn damage_is_told_and_what_stands_before_it_is_shown() {
    let mut run = Run::new();
    for kind in story() {
        run.add(kind);
    }
    let path = run.watch().paths().journal();
    let mut bytes = fs::read(&path).unwrap();
    let near_the_end = bytes.len() - 700;
    bytes[near_the_end] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut watch = run.watch();
    assert!(watch.refresh().is_err());
    assert!(
        watch.refresh().is_err(),
        "again, and nothing is played twice"
    );
    assert!(watch.snapshot().overview.iteration >= 3);
    assert_eq!(
        watch
            .snapshot()
            .turns
            .iter()
            .filter(|t| t.turn == 1)
            .count(),
        1
    );
}

#[test]
fn output_is_shown_as_words_and_tool_calls() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turn-0001.out");
    let mut tail = OutputTail::new(&path, "claude");
    assert!(!tail.refresh().unwrap());
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Looking.\nAt it."}]}}
warning: prose on the error output
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"cargo test"}}]}}
{"type":"assist"#;
    fs::write(&path, text).unwrap();
    assert!(tail.refresh().unwrap());
    let lines: Vec<String> = tail
        .lines()
        .iter()
        .map(|line| format!("{:?} {}", line.said, line.text))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Words Looking.
    Words At it.
    Plain warning: prose on the error output
    Tool Bash: cargo test
    ");
    assert!(!tail.refresh().unwrap());
}

#[test]
fn only_the_end_of_a_flood_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turn-0001.out");
    let flood: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    fs::write(&path, &flood).unwrap();
    let mut tail = OutputTail::new(&path, "custom");
    tail.refresh().unwrap();
    assert_eq!(tail.lines().back().unwrap().text, "line 199999");
    assert!(tail.lines().len() <= 5_000);
    fs::write(dir.path().join("turn-0001.out.1"), "later\n").unwrap();
    fs::write(dir.path().join("turn-0001.out.12"), "latest\n").unwrap();
    tail.refresh().unwrap();
    assert_eq!(tail.lines().back().unwrap().text, "latest");
}

#[test]
fn projects_are_known_the_newest_first_while_they_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let home = StateHome::at(dir.path().join("ralph"));
    let project = |name: &str, ran_s: u64| {
        let root = dir.path().canonicalize().unwrap().join(name);
        fs::create_dir(&root).unwrap();
        let layout = Layout::new(&root, &home);
        layout.prepare().unwrap();
        let ran = std::time::UNIX_EPOCH + std::time::Duration::from_secs(ran_s);
        let runs = fs::File::open(layout.runs_dir()).unwrap();
        runs.set_modified(ran).unwrap();
        root
    };
    assert!(known_projects(&home).is_empty());
    let (one, two) = (project("one", 2000), project("two", 1000));
    fs::remove_dir_all(project("gone", 3000)).unwrap();
    assert_eq!(known_projects(&home), [one, two]);
}
