//! Signals and timeouts: the agent is asked, its whole process group is gone
//! afterwards, and nothing is lost.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};
use crate::live::{Live, eventually, is_alive, journal, latest_run, shell_agent, wait_until};

/// How long Ralph lets an agent end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// An agent with two children, one of which hears no SIGTERM. It says with
/// files beside itself which processes there are and what reached it.
const FAMILY: &str = "\
here=$(dirname \"$0\")
trap 'echo TERM > \"$here/heard\"; exit 0' TERM
sleep 300 & obedient=$!
(trap '' TERM; exec sleep 300) & deaf=$!
echo $$ $obedient $deaf > \"$here/pids.new\"
mv \"$here/pids.new\" \"$here/pids\"
wait
";

/// An agent that wants to hear nothing.
const DEAF: &str = "\
here=$(dirname \"$0\")
trap '' TERM INT HUP
echo $$ > \"$here/pids.new\"
mv \"$here/pids.new\" \"$here/pids\"
while :; do sleep 1; done
";

fn start(env: &TestEnv, script: &str) -> Live {
    let agent = shell_agent(env, script);
    let command = env.command(&["run", "--json", "--agent-cmd", &agent]);
    Live::start(env, "run", command)
}

/// The processes of the agent, once it works.
fn pids(env: &TestEnv) -> Vec<String> {
    let text = eventually("the agent works", || {
        fs::read_to_string(env.outside("pids")).ok()
    });
    text.split_whitespace().map(str::to_owned).collect()
}

fn check_gone(pids: &[String]) {
    for pid in pids {
        wait_until("the process is gone", || !is_alive(pid));
    }
}

/// What is true after every interruption.
fn check_interrupted(env: &TestEnv, done: &Done) {
    assert_eq!(done.code, 130, "{}\n{}", done.stdout, done.stderr);
    let events = done.events();
    let end = events.last().unwrap();
    assert_eq!(end["event"], "loop_end");
    assert_eq!(end["outcome"], "interrupted");
    assert_eq!(end["iterations"], 1);
    let status = env.json(".ralph/status.json");
    assert_eq!(status["status"], "paused");
    assert_eq!(status["iteration"], 1);
    // Nobody's mistake: no error, no stall.
    assert_eq!(status["counters"]["errors"], 0);
    assert_eq!(status["counters"]["stalled"], 0);
    assert!(named(&events, "error").is_empty());
    // The lock is free: the next run starts and takes over from nobody.
    let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"})]);
    let next = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(next.code, 0, "{}\n{}", next.stdout, next.stderr);
    assert!(!next.stdout.contains("taken over"), "{}", next.stdout);
}

#[test]
fn a_signal_ends_the_agent_and_all_its_children() {
    for signal in ["INT", "TERM", "HUP"] {
        let env = TestEnv::with_tasks(1);
        let run = start(&env, FAMILY);
        let pids = pids(&env);
        assert_eq!(pids.len(), 3);
        for pid in &pids {
            assert!(is_alive(pid), "{signal}: {pid}");
        }
        run.signal(signal);
        let done = run.finish();
        assert_eq!(
            fs::read_to_string(env.outside("heard")).unwrap(),
            "TERM\n",
            "{signal}"
        );
        check_gone(&pids);
        check_interrupted(&env, &done);
    }
}

fn wait_for_first_request(env: &TestEnv) {
    wait_until("the first signal is in the journal", || {
        let asked = |record: &Value| record.to_string().contains("interrupt");
        journal(&latest_run(env)).iter().skip(1).any(asked)
    });
}

#[test]
fn a_second_signal_kills_at_once() {
    let env = TestEnv::with_tasks(1);
    let mut run = start(&env, DEAF);
    let pids = pids(&env);
    let asked = Instant::now();
    run.signal("INT");
    wait_for_first_request(&env);
    assert!(run.is_running(), "it waits for the agent");
    run.signal("INT");
    let done = run.finish();
    assert!(asked.elapsed() < GRACE, "it did not wait for the grace");
    check_gone(&pids);
    check_interrupted(&env, &done);
}

/// INTR-02: nobody has to guess whether the first one was heard.
#[test]
fn whoever_interrupts_a_turn_is_told_that_it_was_heard() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, DEAF);
    let command = env.command(&["run", "--agent-cmd", &agent]);
    let run = Live::start(&env, "run", command);
    let pids = pids(&env);
    run.signal("INT");
    wait_until("it is told", || {
        run.stdout().contains("Ctrl+C again ends it now")
    });
    run.signal("INT");
    assert_eq!(run.finish().code, 130);
    check_gone(&pids);
}

#[test]
fn an_agent_that_does_not_listen_is_killed_in_the_end() {
    let env = TestEnv::with_tasks(1);
    let run = start(&env, DEAF);
    let pids = pids(&env);
    let asked = Instant::now();
    run.signal("TERM");
    let done = run.finish();
    assert!(asked.elapsed() >= GRACE, "it had its time");
    check_gone(&pids);
    check_interrupted(&env, &done);
}

#[test]
fn what_the_agent_did_before_a_signal_counts() {
    let env = TestEnv::with_tasks(1);
    let script = "\
        here=$(dirname \"$0\")\n\
        trap 'exit 0' TERM\n\
        sed 's/\\[ \\]/[x]/' tasks.md > new.md && mv new.md tasks.md\n\
        echo $$ > \"$here/pids.new\"; mv \"$here/pids.new\" \"$here/pids\"\n\
        sleep 300 & wait\n";
    let run = start(&env, script);
    pids(&env);
    run.signal("INT");
    let done = run.finish();
    // Somebody wanted out, and gets out; the tick is seen all the same.
    assert_eq!(done.code, 130, "{}", done.stdout);
    assert_eq!(done.events().last().unwrap()["tasks"]["completed"], 1);
    assert_eq!(env.json(".ralph/status.json")["tasks"]["pending"], 0);
}

#[test]
fn a_signal_ends_a_verification_and_its_children() {
    let env = TestEnv::with_tasks(1);
    let check = shell_agent(&env, FAMILY);
    let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"})]);
    let run = Live::start(
        &env,
        "run",
        env.command(&["run", "--json", "--agent-cmd", &agent, "--verify", &check]),
    );
    let pids = pids(&env);
    run.signal("INT");
    let done = run.finish();
    check_gone(&pids);
    // A check that was cut off says nothing: the run is not complete.
    check_interrupted(&env, &done);
}

#[test]
fn a_signal_between_turns_ends_the_wait() {
    let env = TestEnv::with_tasks(1);
    let agent =
        env.agent(&[json!({"write": {"new.txt": "1"}, "say": "<promise>CONTINUE</promise>"})]);
    let mut command = env.command(&["run", "--json", "--agent-cmd", &agent]);
    command.env("RALPH_LIMITS_PAUSE_BETWEEN", "10m");
    let run = Live::start(&env, "run", command);
    wait_until("it waits", || run.stdout().contains("\"event\":\"wait\""));
    run.signal("TERM");
    let done = run.finish();
    check_interrupted(&env, &done);
}

/// One turn with a time limit; the events.
fn time_out(env: &TestEnv, script: &str, limit: &str) -> Vec<Value> {
    let agent = shell_agent(env, script);
    let output = env
        .command(&[
            "run", "--json", "--max-iterations", "1", "--agent-cmd", &agent,
        ])
        .env("RALPH_LIMITS_ITERATION_TIMEOUT", limit)
        .output()
        .unwrap();
    let done = Done::of(&output);
    assert_eq!(done.code, 3, "{}\n{}", done.stdout, done.stderr);
    done.events()
}

#[test]
fn a_turn_that_takes_too_long_and_leaves_nothing_is_an_error() {
    let env = TestEnv::with_tasks(1);
    let events = time_out(&env, "sleep 300\n", "300ms");
    let errors = named(&events, "error");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["reason"], "agent_timeout");
    assert_eq!(errors[0]["count"], 1);
    assert_eq!(env.json(".ralph/status.json")["counters"]["errors"], 1);
}

#[test]
fn a_timeout_ends_the_whole_group() {
    let env = TestEnv::with_tasks(1);
    // Enough for three processes to start, also on a machine with much to do.
    time_out(&env, FAMILY, "3s");
    assert!(env.outside("heard").exists(), "it was asked first");
    check_gone(&pids(&env));
}

#[test]
fn a_turn_that_takes_too_long_and_leaves_work_is_judged_by_it() {
    let env = TestEnv::with_tasks(1);
    let events = time_out(&env, "echo half > work.txt\nsleep 300\n", "3s");
    assert!(named(&events, "error").is_empty());
    let turn = named(&events, "iteration_complete");
    assert_eq!(turn[0]["progress"], json!(["tree"]));
    let status = env.json(".ralph/status.json");
    assert_eq!(status["counters"]["errors"], 0);
    assert_eq!(status["counters"]["stalled"], 0);
}
