//! The presets dev-p0 and dev-p1 inside a session: the quality gate, the pull
//! request and CI through the Stop hook, with the real `gh`.

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ralph_testkit::github::{CheckRun, World};
use serde_json::{Value, json};

use super::ci::wait_for;
use super::env::Done;
use super::hub::{Hub, story};
use super::p0::{
    AUDIT_FAIL, AUDIT_PASS, CODE, COMMIT, CREATE, EVIDENCE, GATE, PUSH, SEED, project,
};
use super::p1::{FIX, green, pending, red, with_pull};
use super::session::{Client, ONE, context, released, sent_on};

const CI_PASSED: &str = "All green.\n\n<promise>CI_PASSED</promise>";

fn client(hub: &Hub) -> Client<'_> {
    let client = hub.env.claude_session(ONE);
    Client {
        vars: hub.vars(),
        ..client
    }
}

/// What was told of the run, as for `ralph run`.
fn told(hub: &Hub) -> Vec<String> {
    story(&hub.ralph(&["events", "--json"]).events())
}

fn status(hub: &Hub) -> (Value, Value) {
    let status = hub.env.json(".ralph/status.json");
    (status["status"].clone(), status["reason"].clone())
}

/// A Stop hook that is left running.
fn stopping(hub: &Hub, client: &Client, said: &str, args: &[&str]) -> Child {
    let fields = json!({"stop_hook_active": true, "last_assistant_message": said});
    let payload = client.payload("Stop", &fields);
    let args = [&["hook", "--host", "claude", "stop"], args].concat();
    let mut child = hub
        .command(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload.to_string().as_bytes()).unwrap();
    child
}

fn answer_of(child: Child) -> Value {
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, 0);
    serde_json::from_str(&done.stdout).unwrap()
}

/// The walk-through of the seed, interception by interception.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_five_iterations_of_p0() {
    let hub = project(World {
        // Red CI from the beginning: p0 does not ask.
        looks: [vec![CheckRun::new("build", "FAILURE", 1)]].into(),
        ..World::default()
    });
    let client = client(&hub);
    let begun = client.says("/ralph-loop \"Add the login\" --preset dev-p0");
    assert!(context(&begun).contains("Add the login"), "{begun}");
    for (work, said, want) in [
        (&[CODE][..], "Written.", "there is no audit report"),
        (&[AUDIT_FAIL], "Audited.", "FAIL"),
        (&[AUDIT_PASS, EVIDENCE], "Repaired.", ".quality-gate-passed"),
        (&[GATE], "The gate is green.", "gh pr create"),
    ] {
        hub.works(work);
        let answer = client.stops(said);
        assert!(sent_on(&answer).contains(want), "{want}: {answer}");
        // What it is all about is said each time.
        assert!(sent_on(&answer).contains("Add the login"), "{answer}");
        let banner = answer["systemMessage"].as_str().unwrap();
        assert!(banner.ends_with("the pull request is open"), "{banner}");
    }
    hub.works(&[COMMIT, PUSH, CREATE]);
    let end = client.stops("Pull request 123 is open.");
    assert!(released(&end).contains("123"), "{end}");
    assert_eq!(told(&hub), SEED);
    assert_eq!(client.stops("Anything else?"), Value::Null);
}

/// The walk-through of the seed, where no hook waits for CI: in the third
/// iteration the agent only polls.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_four_iterations_of_p1() {
    let hub = with_pull(red(7), vec![pending(), pending(), pending(), green()]);
    let client = client(&hub).var("RALPH_PR_HOOK_WAIT", "0");
    let begun = client.says("/ralph-loop --preset dev-p1 --pr 7");
    let first = context(&begun);
    assert!(first.contains("login_works: assertion failed"), "{first}");
    assert!(!first.contains("ghp_0123"), "{first}");

    hub.works(&[FIX, COMMIT, PUSH]);
    let stale = client.stops("Repaired and pushed.");
    assert!(sent_on(&stale).contains("NOT passed"), "{stale}");
    hub.works(&[GATE]);
    for said in ["The gate is green.", "Still waiting."] {
        let runs = client.stops(said);
        assert!(sent_on(&runs).contains("CI still RUNS"), "{runs}");
        let banner = runs["systemMessage"].as_str().unwrap();
        assert!(banner.contains("<promise>CI_PASSED</promise>"), "{banner}");
    }
    hub.works(&["gh pr merge 7 --squash"]);
    let end = client.stops(CI_PASSED);
    assert!(!released(&end).is_empty(), "{end}");
    assert_eq!(
        told(&hub),
        [
            "pr_found", "ci_failed regression", "turn 1", "ci_rebound", "gate_open gate_stale",
            "turn 2", "ci_poll pending", "turn 3", "ci_poll pending", "turn 4", "pr_merged others",
            "loop_end complete",
        ]
    );
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_hook_waits_for_ci_so_that_the_agent_need_not() {
    let hub = with_pull(red(7), vec![pending(), pending(), pending(), green()]);
    let client = client(&hub);
    client.says("/ralph-loop --preset dev-p1 --pr 7");
    hub.works(&[FIX, GATE, COMMIT, PUSH]);
    let passed = client.stops("Repaired and pushed.");
    assert!(sent_on(&passed).contains("CI PASSED"), "{passed}");
    let end = client.stops(CI_PASSED);
    assert!(!released(&end).is_empty(), "{end}");
    assert_eq!(
        told(&hub)[2..],
        [
            "turn 1", "ci_rebound", "ci_poll pending", "ci_passed", "turn 2", "loop_end complete",
        ]
    );
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn pushing_creating_and_merging_are_done_where_they_are_asked_for() {
    let hub = project(World::default());
    let session = client(&hub);
    session.says("/ralph-loop \"Add the login\" --preset dev-p0 --create-pr --draft");
    hub.works(&[CODE, AUDIT_PASS, EVIDENCE, GATE, COMMIT]);
    let end = session.stops("Done.");
    assert!(!released(&end).is_empty(), "{end}");
    assert_eq!(hub.pushed(), Some(hub.head()));
    let created = "create feature/login draft".to_owned();
    assert!(hub.github.asked().contains(&created));

    let hub = with_pull(red(7), vec![pending(), green()]);
    let session = client(&hub);
    session.says("/ralph-loop --preset dev-p1 --pr 7 --merge squash");
    hub.works(&[FIX, GATE, COMMIT]);
    let end = session.stops("Repaired.");
    assert!(!released(&end).is_empty(), "{end}");
    assert_eq!(status(&hub).0, "complete");
    let merged = "merge squash bound".to_owned();
    assert!(hub.github.asked().contains(&merged));
}

/// A session with a promise that waits for CI, which runs.
fn waiting(hub: &Hub) -> Client<'_> {
    let client = client(hub);
    client.says("/ralph-loop --preset dev-p1 --pr 7");
    hub.works(&[FIX, GATE, COMMIT, PUSH]);
    client
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_hook_that_is_killed_in_its_wait_has_lost_nothing() {
    let hub = with_pull(red(7), vec![pending()]);
    let client = waiting(&hub);
    let before = hub.github.asked().len();
    let mut child = stopping(&hub, &client, CI_PASSED, &[]);
    wait_for(|| hub.github.asked().len() > before + 3);
    child.kill().unwrap();
    child.wait().unwrap();
    hub.github.world().looks = [green()].into();
    // The promise of the turn before holds.
    let end = client.stops("Where was I?");
    assert!(!released(&end).is_empty(), "{end}");
    assert_eq!(status(&hub).0, "complete");
    assert_eq!(hub.env.json(".ralph/status.json")["iteration"], 1);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_waiting_hook_holds_nobody_up() {
    let hub = with_pull(red(7), vec![pending()]);
    let client = waiting(&hub);
    let before = hub.github.asked().len();
    let child = stopping(&hub, &client, "Pushed.", &[]);
    wait_for(|| hub.github.asked().len() > before + 3);
    let paused = hub.ralph(&["loop", "pause", "--session", ONE]);
    assert_eq!(paused.code, 0, "{}{}", paused.stdout, paused.stderr);
    assert!(!released(&answer_of(child)).is_empty());
    assert_eq!(status(&hub), (json!("paused"), json!("requested")));
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_hook_answers_before_its_client_would_end_it() {
    let hub = with_pull(red(7), vec![pending()]);
    let client = waiting(&hub);
    let began = Instant::now();
    let child = stopping(&hub, &client, "Pushed.", &["--within", "11"]);
    let answer = answer_of(child);
    assert!(sent_on(&answer).contains("CI still RUNS"), "{answer}");
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert!(began.elapsed() < Duration::from_secs(11));
    // Such a turn is no stall, however often it comes.
    let client = client.var("RALPH_PR_HOOK_WAIT", "0");
    for _ in 0..6 {
        sent_on(&client.stops("Waiting."));
    }
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_forge_that_is_away_is_not_told_as_ci_that_runs() {
    let hub = with_pull(red(7), vec![green()]);
    let client = waiting(&hub).var("RALPH_PR_HOOK_WAIT", "0");
    hub.github.world().faults.push_back((502, "{}".into()));
    let away = client.stops("Pushed.");
    assert!(sent_on(&away).contains("can't be asked"), "{away}");
    let end = client.stops(CI_PASSED);
    assert!(!released(&end).is_empty(), "{end}");
}
