//! A run is told from another terminal, and answers (LOOP-17, INTR-03), and is
//! taken up again afterwards (RESM-02, RESM-09).

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::env::{Done, TestEnv, named, names};
use crate::live::{Live, eventually, journal, latest_run, shell_agent, wait_until};

/// Says that it works, and works until a file tells it to end.
const WORKER: &str = "\
here=$(dirname \"$0\")
touch \"$here/working\"
while [ ! -e \"$here/enough\" ]; do sleep 0.05; done
echo '<promise>CONTINUE</promise>'
";

fn working(env: &TestEnv) -> Live {
    let agent = shell_agent(env, WORKER);
    let run = Live::start(
        env,
        "run",
        env.command(&["run", "--json", "--agent-cmd", &agent]),
    );
    wait_until("the agent works", || env.outside("working").exists());
    run
}

#[test]
fn a_pause_lets_the_turn_end() {
    let env = TestEnv::with_tasks(1);
    let mut run = working(&env);
    let told = env.ralph(&["pause"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.contains("pauses after iteration 1"),
        "{}",
        told.stdout
    );
    assert!(run.is_running());
    fs::write(env.outside("enough"), "").unwrap();
    let done = run.finish();
    assert_eq!(done.code, 3, "{}", done.stderr);
    let events = done.events();
    assert_eq!(events.last().unwrap()["reason"], "requested");
    assert_eq!(
        named(&events, "promise_detected").len(),
        1,
        "the turn was judged"
    );
}

#[test]
fn a_stop_ends_the_turn_and_is_acknowledged() {
    for args in [&["stop"][..], &["stop", "--now"][..]] {
        let env = TestEnv::with_tasks(1);
        let run = working(&env);
        let told = env.ralph(args);
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(
            told.stdout.contains("has ended at iteration 1"),
            "{}",
            told.stdout
        );
        let done = run.finish();
        assert_eq!(done.code, 130, "{args:?}: {}", done.stderr);
        assert_eq!(env.json(".ralph/status.json")["status"], "paused");
    }
}

/// Hears nothing that can be refused.
const DEAF: &str = "\
here=$(dirname \"$0\")
trap '' TERM INT HUP QUIT
touch \"$here/working\"
while :; do sleep 1; done
";

#[test]
fn stopping_now_waits_for_no_grace() {
    for _ in 0..3 {
        let env = TestEnv::with_tasks(1);
        let agent = shell_agent(&env, DEAF);
        let command = env.command(&["run", "--json", "--agent-cmd", &agent]);
        let run = Live::start(&env, "run", command);
        wait_until("the agent works", || env.outside("working").exists());
        let told = Instant::now();
        let stopped = env.ralph(&["stop", "--now"]);
        assert_eq!(stopped.code, 0, "{}", stopped.stderr);
        assert_eq!(run.finish().code, 130);
        assert!(
            told.elapsed() < Duration::from_secs(3),
            "{:?}",
            told.elapsed()
        );
        let requests = journal(&latest_run(&env))
            .iter()
            .filter(|r| r["kind"] == "requested")
            .map(|r| r["request"].clone())
            .collect::<Vec<_>>();
        assert_eq!(requests, ["kill"], "one signal is enough");
    }
}

#[test]
fn a_cancelled_run_is_over() {
    let env = TestEnv::with_tasks(1);
    let run = working(&env);
    let told = env.ralph(&["cancel"]);
    assert_eq!(told.stdout, "Cancelled Ralph loop (was at iteration 1)\n");
    let done = run.finish();
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(done.events().last().unwrap()["outcome"], "cancelled");
    let again = env.ralph(&["resume", "--yes"]);
    assert_eq!(again.code, 1);
    assert!(
        again.stderr.contains("is over (cancelled)"),
        "{}",
        again.stderr
    );
}

#[test]
fn nobody_to_tell_is_said() {
    let env = TestEnv::with_tasks(1);
    for args in [&["pause"][..], &["stop"], &["cancel"]] {
        let told = env.ralph(args);
        assert_eq!(told.code, 1);
        assert!(
            told.stderr.contains("No active Ralph loop found."),
            "{}",
            told.stderr
        );
    }
}

#[test]
fn a_run_is_taken_up_where_it_was_left() {
    let env = TestEnv::with_tasks(3);
    let turn = |id: &str| json!({"tick": [id], "say": "<promise>CONTINUE</promise>"});
    let turns = [turn("T001"), turn("T002"), turn("T003")];
    let (done, _) = env.run_script(&turns, &["--max-iterations", "1"]);
    assert_eq!(done.code, 3);
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let events = done.events();
    assert_eq!(
        names(&events)[..3],
        ["resume", "limit_extended", "iteration_start"]
    );
    assert_eq!(events.last().unwrap()["iterations"], 3);
    let listed = env.ralph(&["resume", "--list"]);
    assert!(listed.stdout.contains("complete"), "{}", listed.stdout);
}

#[test]
fn a_run_that_was_killed_is_taken_up() {
    let env = TestEnv::with_tasks(1);
    let mut run = working(&env);
    run.kill();
    fs::write(env.outside("enough"), "").unwrap();
    let first = latest_run(&env);
    let done = env.ralph(&["resume", "--abandon", "--json"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(done.events().last().unwrap()["outcome"], "cancelled");
    assert_eq!(latest_run(&env), first, "no other run was made");
}

#[test]
fn without_a_terminal_a_resume_wants_to_be_told_how() {
    let env = TestEnv::with_tasks(1);
    let (done, _) = env.run_script(&[json!({"say": "<promise>BLOCKED: x</promise>"})], &[]);
    assert_eq!(done.code, 4);
    let done = env.ralph(&["resume"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--yes"), "{}", done.stderr);
    let shown = env.ralph(&["resume", "--show"]);
    assert_eq!(shown.code, 0);
    assert!(shown.stdout.contains("blocked"), "{}", shown.stdout);
    let restarted = env.ralph(&["resume", "--restart", "--json"]);
    assert_eq!(restarted.code, 4, "{}", restarted.stderr);
    eventually("there are two runs", || {
        (fs::read_dir(env.state("runs")).unwrap().count() == 2).then_some(())
    });
}

/// U-11: a run that is paused is dropped: cancelled, archived, told; also where
/// its agent is no longer there.
#[test]
fn a_paused_run_is_cancelled() {
    let env = TestEnv::with_tasks(2);
    let script = env.outside("client.sh");
    fs::write(&script, "#!/bin/sh\necho '<promise>CONTINUE</promise>'\n").unwrap();
    let agent = format!("sh {}", script.display());
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let run = latest_run(&env);

    let mut command = env.command(&["cancel"]);
    command.env("RALPH_AGENT_COMMAND", "gone-client");
    let told = Done::of(&command.output().unwrap());
    assert_eq!(
        (told.code, told.stderr.as_str()),
        (0, ""),
        "{}",
        told.stdout
    );
    assert!(told.stdout.contains("ancelled"), "{}", told.stdout);
    let status = env.json(".ralph/status.json");
    assert_eq!(status["status"], "cancelled");
    let history = env.ralph(&["history", "--json"]);
    let id = run.file_name().unwrap().to_str().unwrap();
    assert!(history.stdout.contains(id), "{}", history.stdout);

    // There is nothing left to cancel.
    let again = env.ralph(&["cancel"]);
    assert_eq!(again.code, 1, "{}", again.stdout);
    assert!(
        again.stderr.contains("No active Ralph loop"),
        "{}",
        again.stderr
    );
}
