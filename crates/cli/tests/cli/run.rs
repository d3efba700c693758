//! Every way in which `ralph run` can end.

use serde_json::{Value, json};

use crate::env::{TestEnv, named, names};

fn say(text: &str) -> Value {
    json!({ "say": text })
}

#[test]
fn a_task_list_is_worked_off() {
    let env = TestEnv::with_tasks(2);
    let turns = [
        json!({"write": {"a.txt": "1"}, "tick": ["T001"], "commit": "one", "say": "<promise>CONTINUE</promise>"}),
        json!({"write": {"b.txt": "2"}, "tick": ["T002"], "commit": "two", "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        names(&events),
        [
            "loop_start", "iteration_start", "iteration_complete", "promise_detected",
            "iteration_start", "iteration_complete", "promise_detected", "task_complete",
            "loop_end",
        ]
    );
    assert_eq!(events.last().unwrap()["outcome"], "complete");
    assert_eq!(events.last().unwrap()["iterations"], 2);
    let status = env.json(".ralph/status.json");
    assert_eq!(status["status"], "complete");
    assert_eq!(status["tasks"]["progress_percent"], 100);
}

#[test]
fn nothing_to_do_calls_no_agent() {
    let env = TestEnv::new();
    env.write("tasks.md", "# Tasks\n\n- [x] T001 Done\n");
    let (done, events) = env.run_script(&[say("never said")], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(names(&events), ["loop_start", "task_complete", "loop_end"]);
}

#[test]
fn a_false_promise_is_rejected_and_the_next_prompt_says_why() {
    let env = TestEnv::with_tasks(2);
    let turns = [
        say("<promise>COMPLETE</promise>"),
        json!({"tick": ["T001", "T002"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rejected = named(&events, "promise_rejected");
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["promise"], "COMPLETE");
    assert_eq!(
        rejected[0]["missing"][0],
        "open tasks (2): T001 Do thing 1; T002 Do thing 2"
    );
    let runs = env.state("runs");
    let run = std::fs::read_dir(runs)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let prompt = std::fs::read_to_string(run.join("turn-0002.prompt.md")).unwrap();
    assert!(prompt.contains("T001 Do thing 1"), "{prompt}");
    assert!(
        !std::fs::read_to_string(run.join("turn-0001.prompt.md"))
            .unwrap()
            .contains("REJECTED")
    );
}

#[test]
fn every_outcome_has_its_exit_code() {
    let continues = || vec![say("<promise>CONTINUE</promise>"); 12];
    let fails = || vec![json!({"complain": "boom", "exit": 3}); 5];
    let lies = || vec![say("<promise>COMPLETE</promise>"); 12];
    type Case = (
        &'static str,
        Vec<Value>,
        &'static [&'static str],
        i32,
        &'static str,
        Value,
    );
    let cases: [Case; 8] = [
        (
            "limit",
            continues(),
            &["--max-iterations", "2"],
            3,
            "paused",
            json!("max_iterations"),
        ),
        (
            "blocked",
            vec![say("<promise>BLOCKED: no key</promise>")],
            &[],
            4,
            "blocked",
            json!("no key"),
        ),
        (
            "stalled",
            continues(),
            &[],
            5,
            "circuit_break",
            json!("stalled"),
        ),
        (
            "no promise",
            vec![json!({"say": "hm"}); 12],
            &[],
            5,
            "circuit_break",
            json!("stalled"),
        ),
        ("errors", fails(), &[], 6, "errors", Value::Null),
        ("lies", lies(), &[], 5, "circuit_break", json!("stalled")),
        (
            "gate",
            lies(),
            &["--verify", "exit 1"],
            5,
            "circuit_break",
            json!("stalled"),
        ),
        (
            "time",
            vec![json!({"wait_ms": 60_000}); 2],
            &["--max-duration", "300ms"],
            3,
            "paused",
            json!("max_duration"),
        ),
    ];
    for (name, turns, args, code, outcome, reason) in cases {
        let env = TestEnv::with_tasks(1);
        let (done, events) = env.run_script(&turns, args);
        let end = events
            .last()
            .unwrap_or_else(|| panic!("{name}: {}", done.stderr));
        assert_eq!(end["outcome"], outcome, "{name}");
        assert_eq!(
            end.get("reason").cloned().unwrap_or_default(),
            reason,
            "{name}"
        );
        assert_eq!(done.code, code, "{name}");
        assert_eq!(end["exit_code"], code, "{name}");
    }
}

#[test]
fn a_plain_prompt_is_proven_by_its_check_or_not_at_all() {
    let env = TestEnv::new();
    let turns = [
        say("<promise>DONE</promise>"),
        json!({"write": {"fixed": "yes"}, "say": "<promise>DONE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &["make the file", "--verify", "test -f fixed"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "promise_rejected").len(), 1);
    assert_eq!(named(&events, "gate_result").len(), 2);

    let env = TestEnv::new();
    let (done, events) = env.run_script(&turns, &["make the file"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "unproven");
}

/// U-05: where Git itself is in no state to work on, that is told first.
#[test]
fn what_is_wrong_with_git_is_told_at_the_start() {
    const DETACHED: &str = "HEAD is on no branch";
    const MERGING: &str = "is not finished here";
    const BROKEN: &str = "Git can't read this repository";
    let env = TestEnv::with_tasks(1);
    let told = || {
        let done = env.ralph(&["run", "--dry-run", "--agent-cmd", "true"]);
        let told = |words: &&&str| done.stdout.contains(**words);
        let all = [DETACHED, MERGING, BROKEN];
        all.iter().filter(told).copied().collect::<Vec<_>>()
    };
    assert!(told().is_empty());
    env.git(&["checkout", "-q", "--detach"]);
    assert_eq!(told(), [DETACHED]);
    let head = env.git(&["rev-parse", "HEAD"]);
    env.write(".git/MERGE_HEAD", &head);
    assert_eq!(told(), [MERGING]);
    env.write(".git/HEAD", "garbage");
    assert_eq!(told(), [BROKEN]);
}

/// U-05: what stands in the tree and where commits go is told before the
/// agent begins, and not again when the run is taken up.
#[test]
fn uncommitted_work_and_the_default_branch_are_told_at_the_start() {
    let env = TestEnv::with_tasks(1);
    let dirty = "not committed in the work tree: 2;";
    let default = "main is the default branch";
    let turns = [json!({"say": "<promise>CONTINUE</promise>"})];
    let agent = env.agent(&turns);
    let told = |args: &[&str]| {
        let done = env.ralph(&[args, &["--agent-cmd", &agent]].concat());
        (done.stdout.contains(dirty), done.stdout.contains(default))
    };
    let run = ["run", "--max-iterations", "1"];
    let dry_run = ["run", "--dry-run"];
    assert_eq!(told(&dry_run), (false, true));
    env.write("notes.txt", "mine");
    env.write(
        "tasks.md",
        &env.read("tasks.md").replace("thing", "one thing"),
    );
    assert_eq!(told(&dry_run), (true, true));
    assert_eq!(told(&run), (true, true));
    let resumed = env.ralph(&["resume", "--yes"]);
    assert!(resumed.stdout.contains("Iteration"), "{}", resumed.stderr);
    assert!(!resumed.stdout.contains("committed"), "{}", resumed.stdout);
    let json = env.ralph(&[&run[..], &["--json", "--agent-cmd", &agent]].concat());
    assert!(!json.events().is_empty());
    env.git(&["switch", "-q", "-c", "topic"]);
    assert_eq!(told(&dry_run), (true, false));
    // What the remote says counts more than a name.
    env.git(&["update-ref", "refs/remotes/origin/topic", "HEAD"]);
    let (head, topic) = ("refs/remotes/origin/HEAD", "refs/remotes/origin/topic");
    env.git(&["symbolic-ref", head, topic]);
    let done = env.ralph(&["run", "--dry-run", "--agent-cmd", &agent]);
    assert!(
        done.stdout.contains("topic is the default branch"),
        "{}",
        done.stdout
    );
}

/// U-09: the screen says why a check failed, in the check's own words.
#[test]
fn the_screen_shows_the_end_of_what_a_failing_check_said() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"})]);
    let check = "echo first; for n in 2 3 4 5 6; do echo line $n; done; exit 1";
    let args = ["run", "--agent-cmd", &agent, "--verify", check];
    let done = env.ralph(&[&args[..], &["--max-iterations", "1"]].concat());
    assert!(done.stdout.contains("│ line 2\n"), "{}", done.stdout);
    assert!(done.stdout.contains("│ line 6\n"), "{}", done.stdout);
    assert!(!done.stdout.contains("│ first"), "{}", done.stdout);
}
