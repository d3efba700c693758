//! `ralph run --preset dev-p1`: from red CI to green, with the real `gh`.

use std::collections::VecDeque;

use ralph_testkit::github::{CheckRun, PullRequest, World};
use serde_json::Value;

use super::env::{Done, named};
use super::hub::{BRANCH, Hub, story};
use super::p0::{AUDIT_PASS, CODE, COMMIT, EVIDENCE, GATE, PUSH, project, turn};

const FIX: &str = "echo repaired >> src/login.txt";
const PROMISE: &str = "echo '<promise>CI_PASSED</promise>'";

fn red(run: u64) -> Vec<CheckRun> {
    vec![
        CheckRun::new("lint", "SUCCESS", 1),
        CheckRun::new("build", "FAILURE", run),
    ]
}

fn pending() -> Vec<CheckRun> {
    vec![CheckRun::new("build", "IN_PROGRESS", 8)]
}

fn green() -> Vec<CheckRun> {
    vec![CheckRun::new("build", "SUCCESS", 8)]
}

/// A project with an open pull request whose gate is green, at its first
/// pushed commit.
fn with_pull(first: Vec<CheckRun>, later: Vec<Vec<CheckRun>>) -> Hub {
    let hub = project(World {
        pulls: vec![PullRequest::open(7, BRANCH)],
        looks: VecDeque::from(later),
        logs: [(7, LOG.to_owned())].into(),
        ..World::default()
    });
    let papers = turn(&["set -e", CODE, AUDIT_PASS, EVIDENCE, GATE, COMMIT]);
    let done = std::process::Command::new("sh")
        .arg("-c")
        .arg(papers)
        .current_dir(&hub.env.root)
        .env("RALPH", super::env::RALPH)
        .env("HOME", hub.env.root.parent().unwrap())
        .status()
        .unwrap();
    assert!(done.success());
    hub.push();
    let head = hub.head();
    hub.github
        .world()
        .of_commit
        .insert(head, VecDeque::from([first]));
    hub
}

const LOG: &str = "2026-01-01T00:00:00.0000000Z ##[group]Run tests\n2026-01-01T00:00:01.0000000Z login_works: assertion failed: GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n";

fn p1(hub: &Hub, turns: &[String], more: &[&str]) -> (Done, Vec<Value>) {
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let args = [&["--preset", "dev-p1"][..], more].concat();
    hub.run(&turns, &args)
}

/// The walk-through of the seed: its third iteration, in which the agent only
/// polls, is Ralph's own waiting here.
#[test]
fn the_four_iterations_of_the_seed() {
    let hub = with_pull(red(7), vec![pending(), pending(), pending(), green()]);
    let merge = "gh pr merge 7 --squash";
    let (done, events) = p1(
        &hub,
        &[
            turn(&[FIX, COMMIT, PUSH]),
            turn(&[GATE]),
            turn(&[merge, PROMISE]),
        ],
        &["--pr", "7"],
    );
    assert_eq!(
        story(&events),
        [
            "pr_found",
            "ci_failed regression",
            "turn 1",
            "ci_rebound",
            "gate_open gate_stale",
            "turn 2",
            "ci_poll pending",
            "ci_passed",
            "turn 3",
            "pr_merged others",
            "loop_end complete",
        ],
        "{}",
        done.stderr
    );
    assert_eq!(done.code, 0);
    let prompt = hub.prompt(1);
    assert!(prompt.contains("login_works: assertion failed"), "{prompt}");
    assert!(!prompt.contains("ghp_0123"), "{prompt}");
    assert!(prompt.contains("- build"), "{prompt}");
    assert!(hub.prompt(3).contains("CI PASSED"), "{}", hub.prompt(3));
    assert!(hub.github.asked().contains(&"logs 7".to_owned()));
}

#[test]
fn ralph_pushes_waits_and_merges_where_that_was_asked_for() {
    let hub = with_pull(red(7), vec![pending(), green()]);
    let turns = [turn(&[FIX, GATE, COMMIT])];
    let (done, events) = p1(&hub, &turns, &["--merge", "squash"]);
    assert_eq!(
        story(&events),
        [
            "pr_found",
            "ci_failed regression",
            "turn 1",
            "pushed",
            "ci_poll none",
            "ci_rebound",
            "ci_poll pending",
            "ci_passed",
            "pr_merged ralph",
            "loop_end complete",
        ],
        "{}",
        done.stderr
    );
    assert_eq!(hub.pushed(), Some(hub.head()));
    let merges: Vec<String> = hub
        .github
        .asked()
        .into_iter()
        .filter(|asked| asked.starts_with("merge") || asked.starts_with("delete"))
        .collect();
    assert_eq!(merges, ["merge squash bound"]);
    let end = named(&events, "loop_end")[0];
    assert_eq!(end["proven"][1]["kind"], "merge");
    assert!(done.code == 0 && hub.env.git(&["branch", "--show-current"]).trim() == BRANCH);
}

#[test]
fn green_from_the_beginning_needs_no_agent() {
    let hub = with_pull(green(), Vec::new());
    let (done, events) = p1(&hub, &["echo never".into()], &[]);
    assert_eq!(
        story(&events),
        ["pr_found", "ci_passed", "loop_end complete"]
    );
    assert_eq!(done.code, 0);
    assert!(!hub.github.asked().iter().any(|a| a.starts_with("merge")));
}

#[test]
fn a_promise_before_green_ci_is_rejected() {
    let hub = with_pull(red(7), vec![red(7)]);
    let lie = turn(&[FIX, GATE, COMMIT, PUSH, PROMISE]);
    let turns = [lie.clone(), lie];
    let (done, events) = p1(&hub, &turns, &["--max-iterations", "2"]);
    assert_eq!(done.code, 3);
    assert_eq!(named(&events, "promise_rejected").len(), 2);
}

#[test]
fn a_refused_merge_pauses_with_the_words_of_the_forge() {
    let hub = with_pull(green(), Vec::new());
    hub.github.world().refuse_merge = Some("At least 1 approving review is required".into());
    let (done, events) = p1(&hub, &["echo never".into()], &["--merge", "squash"]);
    assert_eq!(done.code, 3);
    assert_eq!(
        story(&events),
        [
            "pr_found",
            "ci_passed",
            "forge_trouble refused",
            "loop_end paused merge_refused",
        ]
    );
    let words = named(&events, "forge_trouble")[0]["message"].clone();
    assert!(
        words.as_str().unwrap().contains("approving review"),
        "{words}"
    );
}

#[test]
fn a_missing_pull_request_ends_p1_before_any_turn() {
    let hub = project(World::default());
    hub.push();
    let (done, events) = p1(&hub, &["echo never".into()], &[]);
    assert_eq!(done.code, 3);
    assert_eq!(story(&events), ["loop_end paused no_pull_request"]);
    let (done, events) = p1(&hub, &["echo never".into()], &["--pr", "99"]);
    assert_eq!(done.code, 3);
    assert_eq!(
        story(&events),
        [
            "forge_trouble no_pull_request",
            "loop_end paused no_pull_request"
        ]
    );
}
