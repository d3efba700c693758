//! What is told: `status.json`, the lines of the event log, exit codes
//! (STAT-02, STAT-03, STAT-04, BRKR-05, EVNT-01, LOOP-15).

use super::*;

fn status(run: &Script) -> serde_json::Value {
    run.state.status("r1", "specs/001/tasks.md")
}

#[test]
fn status_while_a_run_works_stat_02() {
    let mut run = Script::begin(for_tasks(), seen(phased(&[(0, 2), (0, 1)])));
    run.work(said(Promise::Continue).tasks(phased(&[(2, 2), (0, 1)])));
    let text = serde_json::to_string_pretty(&status(&run)).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "schema_version": 1,
      "timestamp": "2026-01-18T10:00:01Z",
      "run_id": "r1",
      "iteration": 2,
      "max_iterations": 50,
      "phase": "2",
      "status": "running",
      "last_promise": "CONTINUE",
      "tasks": {
        "total": 3,
        "completed": 2,
        "pending": 1,
        "progress_percent": 66
      },
      "tasks_file": "specs/001/tasks.md",
      "reason": "",
      "elapsed_ms": 1000,
      "dispatches": 2,
      "flow": null,
      "waiting_until": null,
      "usage": {
        "calls": 1,
        "cost_usd": null,
        "tokens": null,
        "input_tokens": null,
        "output_tokens": null,
        "cache_read_tokens": null,
        "cache_write_tokens": null,
        "unpriced_calls": 1,
        "uncounted_calls": 1,
        "partial_calls": 0
      },
      "questions": [],
      "counters": {
        "errors": 0,
        "missing_promise": 0,
        "stalled": 0,
        "same_error": 0,
        "false_promise": 0
      },
      "forecast": {
        "left_ms": {
          "low": 375,
          "likely": 500,
          "high": 625
        }
      }
    }
    "#);
}

#[test]
fn status_without_a_task_file_divides_by_nothing() {
    let run = Script::begin(for_prompt(), no_task_file());
    let status = status(&run);
    assert_eq!(
        status["tasks"],
        serde_json::json!({"total": 0, "completed": 0, "pending": 0, "progress_percent": 0})
    );
    assert_eq!(status["phase"], "");
}

#[test]
fn the_percentage_is_rounded_down_stat_02() {
    for (done, total, want) in [(0, 3, 0), (1, 3, 33), (2, 3, 66), (199, 200, 99)] {
        let run = Script::begin(for_tasks(), seen(list(done, total)));
        assert_eq!(status(&run)["tasks"]["progress_percent"], want);
    }
}

#[test]
fn the_breaker_says_no_progress_brkr_05() {
    let mut run = Script::begin(for_tasks(), seen(list(0, 1)));
    for _ in 0..5 {
        run.turn(said(Promise::Continue));
    }
    let status = status(&run);
    assert_eq!(status["status"], "circuit_break");
    assert_eq!(status["last_promise"], "NO_PROGRESS");
    assert_eq!(status["reason"], "stalled");
}

#[test]
fn an_extended_limit_is_the_limit_that_status_shows() {
    let rules = limited(all_tasks(), |l| l.max_iterations = 1);
    let mut run = Script::begin(rules, seen(list(0, 2)));
    run.work(said(Promise::Continue));
    assert_eq!(status(&run)["status"], "max_iterations");
    run.resume();
    let status = status(&run);
    assert_eq!(status["status"], "running");
    assert_eq!(status["max_iterations"], 11);
}

#[test]
fn names_exit_codes_and_status_of_every_end_loop_15_stat_03() {
    let limit = |limit| Outcome::Paused {
        reason: PauseReason::Limit(limit),
    };
    let paused = |reason| Outcome::Paused { reason };
    let text = || String::from("why");
    let rules = [
        BreakerRule::MissingPromise,
        BreakerRule::Stalled,
        BreakerRule::SameError,
        BreakerRule::FalsePromise,
    ];
    let outcomes = [
        Outcome::Complete,
        limit(Limit::Iterations),
        limit(Limit::Duration),
        paused(PauseReason::Requested),
        paused(PauseReason::Unproven),
        Outcome::Blocked { reason: text() },
    ]
    .into_iter()
    .chain(rules.map(|rule| Outcome::CircuitBreak { rule }))
    .chain([
        Outcome::Errors,
        Outcome::GateFailed { reason: text() },
        Outcome::Budget { limit: text() },
        Outcome::Cancelled,
        Outcome::Interrupted,
    ]);
    let table: String = outcomes
        .map(|o| {
            let (name, code, status) = (o.into_str(), o.exit_code(), o.status());
            format!("{name:13} {code:3} {status:14} {}", o.reason())
                .trim_end()
                .to_string()
                + "\n"
        })
        .collect();
    insta::assert_snapshot!(table, @"
    complete        0 complete
    paused          3 max_iterations max_iterations
    paused          3 paused         max_duration
    paused          3 paused         requested
    paused          3 paused         unproven
    blocked         4 blocked        why
    circuit_break   5 circuit_break  missing_promise
    circuit_break   5 circuit_break  stalled
    circuit_break   5 circuit_break  same_error
    circuit_break   5 circuit_break  false_promise
    errors          6 error
    gate_failed     7 error          why
    budget          8 paused         why
    cancelled       3 cancelled
    interrupted   130 paused
    ");
}

/// One notice of each kind as its line in the event log.
#[test]
fn lines_of_the_event_log_evnt_01() {
    let phase = || Some(String::from("2"));
    let every = [
        Notice::LoopStart {
            tasks: counted(1, 3),
        },
        Notice::Resume { iteration: 4 },
        Notice::IterationStart {
            iteration: 1,
            phase: phase(),
            task: Some(task(7)),
        },
        Notice::IterationStart {
            iteration: 1,
            phase: Some("setup".into()),
            task: None,
        },
        Notice::IterationRetry {
            iteration: 2,
            class: ErrorClass::AgentTimeout,
        },
        Notice::AgentNotStarted {
            iteration: 2,
            class: ErrorClass::AgentMissing,
            detail: Detail::NotFound {
                words: "no such file".into(),
            },
        },
        Notice::IterationComplete {
            iteration: 1,
            phase: phase(),
            tasks: counted(2, 3),
            newly_done: 1,
            evidence: vec![Evidence::Tasks { completed: 2 }, Evidence::Tree],
            duration_ms: 1500,
        },
        Notice::PromiseDetected {
            iteration: 1,
            promise: Promise::Blocked("no \"key\"".into()),
        },
        Notice::PromiseMissing {
            iteration: 1,
            in_a_row: 2,
        },
        Notice::PromiseRejected {
            iteration: 1,
            claim: "COMPLETE".into(),
            missing: vec![
                Missing::OpenTasks {
                    count: 2,
                    first: vec![task(1), task(2)],
                },
                Missing::LostTasks { count: 3 },
            ],
        },
        Notice::Stalled {
            iteration: 1,
            in_a_row: 3,
            looked: EvidenceKinds::default(),
        },
        Notice::TasksRemoved {
            iteration: 1,
            ids: vec!["T001".into()],
        },
        Notice::TasksUnticked {
            iteration: 1,
            ids: vec!["T001".into()],
        },
        Notice::TasksSkipped {
            iteration: 1,
            ids: vec!["T001".into()],
        },
        Notice::Error {
            iteration: 1,
            class: ErrorClass::AgentExec,
            detail: Detail::Exit {
                code: 1,
                words: "quota".into(),
            },
            in_a_row: 1,
        },
        Notice::GateStart { iteration: 1 },
        Notice::GateResult {
            iteration: 1,
            passed: false,
            results: vec![ran("make", None, "long output")],
        },
        Notice::LimitNear {
            iteration: 15,
            max: 20,
        },
        Notice::LimitReached {
            iteration: 20,
            limit: Limit::Iterations,
        },
        Notice::LimitExtended {
            iteration: 20,
            limit: Limit::Iterations,
            max: 30,
        },
        Notice::LimitExtended {
            iteration: 20,
            limit: Limit::Duration,
            max: 90_000,
        },
        Notice::BreakerOpen {
            iteration: 5,
            rule: BreakerRule::Stalled,
            count: 5,
            signs: vec![Sign::Iterations { from: 1, to: 5 }, Sign::NothingNew],
        },
        Notice::Wait {
            iteration: 1,
            ms: 1000,
            why: WaitReason::Backoff,
        },
        Notice::Pause {
            iteration: 1,
            reason: PauseReason::Requested,
        },
        Notice::TaskComplete { iteration: 1 },
        Notice::LoopEnd {
            outcome: Outcome::Complete,
            iterations: 3,
            tasks: counted(3, 3),
            duration_ms: 4000,
            skipped: Vec::new(),
            bill: Bill::default(),
            proven: vec![
                Proof::Tasks {
                    completed: 3,
                    total: 3,
                },
                Proof::Command {
                    command: "make".into(),
                    duration_ms: 70,
                },
            ],
        },
        Notice::LoopEnd {
            outcome: Outcome::Blocked {
                reason: "key".into(),
            },
            iterations: 3,
            tasks: counted(0, 0),
            duration_ms: 4000,
            proven: vec![],
            skipped: Vec::new(),
            bill: Bill::default(),
        },
    ];
    let lines: String = every
        .iter()
        .map(|n| n.line(START).to_string() + "\n")
        .collect();
    insta::assert_snapshot!(lines, @r#"
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"loop_start","tasks":{"total":3,"completed":1,"pending":2}}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"resume","iteration":4}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"iteration_start","iteration":1,"phase":2,"task":"T007"}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"iteration_start","iteration":1,"phase":"setup"}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"iteration_retry","iteration":2,"reason":"agent_timeout"}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"agent_not_started","iteration":2,"reason":"agent_missing","message":"command not found: no such file"}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"iteration_complete","iteration":1,"phase":2,"subtasks_done":1,"progress":["tasks","tree"],"tasks":{"total":3,"completed":2},"duration_ms":1500}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"promise_detected","iteration":1,"promise":"BLOCKED: no \"key\""}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"promise_missing","iteration":1,"count":2}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"promise_rejected","iteration":1,"reason":"open tasks (2): T001 task 1; T002 task 2; tasks removed from the task file, or with other words: 3","promise":"COMPLETE","missing":["open tasks (2): T001 task 1; T002 task 2","tasks removed from the task file, or with other words: 3"]}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"stalled","iteration":1,"count":3}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"tasks_removed","iteration":1,"tasks":["T001"]}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"tasks_unticked","iteration":1,"tasks":["T001"]}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"tasks_skipped","iteration":1,"tasks":["T001"]}
    {"ts":"2026-01-18T10:00:00Z","level":"ERROR","event":"error","iteration":1,"reason":"agent_exec","message":"exit code 1: quota","count":1}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"gate_start","iteration":1}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"gate_result","iteration":1,"passed":false,"commands":[{"command":"make","exit":null,"duration_ms":70}]}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"limit_near","iteration":15,"max_iterations":20}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"limit_reached","iteration":20,"reason":"max_iterations"}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"limit_extended","iteration":20,"reason":"max_iterations","max_iterations":30}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"limit_extended","iteration":20,"reason":"max_duration","max_duration_ms":90000}
    {"ts":"2026-01-18T10:00:00Z","level":"ERROR","event":"breaker_open","iteration":5,"reason":"stalled","count":5,"evidence":["iterations 1 to 5","no commit with new content, and no content that was not seen before"]}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"wait","iteration":1,"reason":"backoff","duration_ms":1000}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"pause","iteration":1,"reason":"requested"}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"task_complete","iteration":1}
    {"ts":"2026-01-18T10:00:00Z","level":"INFO","event":"loop_end","outcome":"complete","exit_code":0,"iterations":3,"tasks":{"total":3,"completed":3,"pending":0},"duration_ms":4000,"proven":[{"kind":"tasks","completed":3,"total":3},{"kind":"command","command":"make","exit":0,"duration_ms":70}],"usage":{"calls":0,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":0,"uncounted_calls":0,"partial_calls":0}}
    {"ts":"2026-01-18T10:00:00Z","level":"WARN","event":"loop_end","outcome":"blocked","reason":"key","exit_code":4,"iterations":3,"tasks":{"total":0,"completed":0,"pending":0},"duration_ms":4000,"proven":[],"usage":{"calls":0,"cost_usd":null,"tokens":null,"input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"unpriced_calls":0,"uncounted_calls":0,"partial_calls":0}}
    "#);
}

#[test]
fn the_end_of_a_run_has_the_level_of_its_outcome() {
    let check = |outcome: Outcome, want: &str| {
        let end = Notice::LoopEnd {
            outcome,
            iterations: 0,
            tasks: counted(0, 0),
            duration_ms: 0,
            proven: vec![],
            skipped: Vec::new(),
            bill: Bill::default(),
        };
        assert_eq!(end.line(START)["level"], want);
    };
    check(Outcome::Complete, "INFO");
    check(Outcome::Interrupted, "WARN");
    check(Outcome::Cancelled, "WARN");
    check(Outcome::Errors, "ERROR");
    let reason = String::from("make");
    check(Outcome::GateFailed { reason }, "ERROR");
    let rule = BreakerRule::Stalled;
    check(Outcome::CircuitBreak { rule }, "ERROR");
}

#[test]
fn times_before_1970_and_out_of_range_are_still_times() {
    let at = |wall_ms| Now {
        wall_ms,
        steady_ms: 0,
    };
    let ts = |wall_ms| Notice::GateStart { iteration: 1 }.line(at(wall_ms))["ts"].clone();
    assert_eq!(ts(-1), "1969-12-31T23:59:59Z");
    assert_eq!(ts(1_768_730_400_999), "2026-01-18T10:00:00Z");
    assert_eq!(ts(i64::MAX), "1970-01-01T00:00:00Z");
}
