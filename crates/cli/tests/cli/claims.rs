//! Words of other loops that are heard as claims, by both drivers.

use serde_json::json;

use crate::env::{TestEnv, named};
use crate::live::latest_run;
use crate::session::{ONE, context, released, sent_on};

const DONE: &str = "Fine.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nFILES_MODIFIED: 1\nEXIT_SIGNAL: true\nRECOMMENDATION: none\n---END_RALPH_STATUS---\n";
const STUCK: &str = "---RALPH_STATUS---\nSTATUS: BLOCKED\nEXIT_SIGNAL: false\nRECOMMENDATION: no key for the service\n---END_RALPH_STATUS---\n";

#[test]
fn an_exit_signal_is_a_claim_and_needs_evidence_prom_11() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        json!({"write": {"a.txt": "1"}, "say": DONE}),
        json!({"write": {"a.txt": "2"}, "tick": ["T001"], "say": DONE}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rejected = named(&events, "promise_rejected");
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["promise"], "EXIT_SIGNAL: true");
    assert_eq!(events.last().unwrap()["iterations"], 2);
}

#[test]
fn a_blocked_status_ends_the_run_with_its_reason_prom_07() {
    let env = TestEnv::with_tasks(1);
    let (done, events) = env.run_script(&[json!({"say": STUCK})], &[]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "no key for the service");
}

#[test]
fn a_session_hears_the_exit_signal_too() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop \"Make done.txt\" --verify 'test -f done.txt'");
    let early = client.stops(DONE);
    assert!(sent_on(&early).contains("REJECTED"), "{early}");
    env.write("done.txt", "x");
    released(&client.stops(DONE));
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    let blocked = TestEnv::new();
    let client = blocked.claude_session(ONE);
    client.says("/ralph-loop \"Make done.txt\" --verify 'test -f done.txt'");
    assert!(released(&client.stops(STUCK)).contains("no key for the service"));
}

fn change(env: &TestEnv) {
    env.write(
        "openspec/changes/add-x/tasks.md",
        "## 1. Work\n\n- [ ] 1.1 Make x\n",
    );
}

/// A change is promised with the words of its workflow, whatever the run was
/// started with (PROM-02).
#[test]
fn the_promise_of_an_openspec_change_is_known_without_its_preset_prom_02() {
    let chosen = ["--openspec", "add-x", "--completion-promise", "FERTIG"];
    for (args, asked_for) in [
        (&["--openspec", "add-x"][..], "所有任務完成"),
        (&[], "所有任務完成"),
        (&chosen, "FERTIG"),
    ] {
        let env = TestEnv::new();
        change(&env);
        let (_, events) = env.run_script(
            &[json!({"say": "<promise>所有任務完成</promise>"})],
            &[args, &["--max-iterations", "1"]].concat(),
        );
        let rejected = named(&events, "promise_rejected");
        assert_eq!(rejected.len(), 1, "{args:?}");
        assert_eq!(rejected[0]["promise"], "所有任務完成");
        let prompt = latest_run(&env).join("turn-0001.prompt.md");
        let prompt = std::fs::read_to_string(prompt).unwrap();
        let asked_for = format!("`<promise>{asked_for}</promise>`");
        assert!(prompt.contains(&asked_for), "{args:?}: {prompt}");
        assert!(!prompt.contains("PHASE COMPLETE"), "{args:?}: {prompt}");
    }
}

#[test]
fn a_session_knows_the_promise_of_an_openspec_change_too_prom_02() {
    let env = TestEnv::new();
    change(&env);
    let client = env.claude_session(ONE);
    context(&client.says("/ralph-loop --openspec add-x"));
    let early = client.stops("<promise>所有任務完成</promise>");
    assert!(sent_on(&early).contains("REJECTED"), "{early}");
    env.write("x", "x");
    env.write(
        "openspec/changes/add-x/tasks.md",
        "## 1. Work\n\n- [x] 1.1 Make x\n",
    );
    released(&client.stops("<promise>所有任務完成</promise>"));
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
}
