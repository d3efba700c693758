//! `ralph run --preset dev-p1`: from red CI to green, with the real `gh`.

use std::collections::VecDeque;

use ralph_testkit::github::{CheckRun, PullRequest, World};
use serde_json::Value;

use super::env::{Done, named};
use super::hub::{BRANCH, Hub, story};
use super::p0::{AUDIT_PASS, CODE, COMMIT, EVIDENCE, GATE, PUSH, project, turn};

pub const FIX: &str = "echo repaired >> src/login.txt";
const PROMISE: &str = "echo '<promise>CI_PASSED</promise>'";

pub fn red(run: u64) -> Vec<CheckRun> {
    vec![
        CheckRun::new("lint", "SUCCESS", 1),
        CheckRun::new("build", "FAILURE", run),
    ]
}

pub fn pending() -> Vec<CheckRun> {
    vec![CheckRun::new("build", "IN_PROGRESS", 8)]
}

pub fn green() -> Vec<CheckRun> {
    vec![CheckRun::new("build", "SUCCESS", 8)]
}

/// A project with an open pull request whose gate is green, at its first
/// pushed commit.
pub fn with_pull(first: Vec<CheckRun>, later: Vec<Vec<CheckRun>>) -> Hub {
    let hub = project(World {
        pulls: vec![PullRequest::open(7, BRANCH)],
        looks: VecDeque::from(later),
        logs: [(7, LOG.to_owned())].into(),
        ..World::default()
    });
    hub.works(&[CODE, AUDIT_PASS, EVIDENCE, GATE, COMMIT]);
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
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
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
            "pr_found", "ci_failed regression", "turn 1", "ci_rebound", "gate_open gate_stale",
            "turn 2", "ci_poll pending", "ci_passed", "turn 3", "pr_merged others",
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
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn ralph_pushes_waits_and_merges_where_that_was_asked_for() {
    let hub = with_pull(red(7), vec![pending(), green()]);
    let turns = [turn(&[FIX, GATE, COMMIT])];
    let (done, events) = p1(&hub, &turns, &["--merge", "squash"]);
    assert_eq!(
        story(&events),
        [
            "pr_found", "ci_failed regression", "turn 1", "pushed", "ci_poll none", "ci_rebound",
            "ci_poll pending", "ci_passed", "pr_merged ralph", "branch_deleted",
            "loop_end complete",
        ],
        "{}",
        done.stderr
    );
    // As `gh pr merge --squash --delete-branch` (PRCI-08); it stays here.
    assert_eq!(merges(&hub), ["merge squash bound", DELETED]);
    assert_eq!(hub.pushed(), None);
    let end = named(&events, "loop_end")[0];
    assert_eq!(end["proven"][1]["kind"], "merge");
    assert!(done.code == 0 && hub.env.git(&["branch", "--show-current"]).trim() == BRANCH);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
pub fn green_from_the_beginning_needs_no_agent() {
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
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_promise_before_green_ci_is_rejected() {
    let hub = with_pull(red(7), vec![red(7)]);
    let lie = turn(&[FIX, GATE, COMMIT, PUSH, PROMISE]);
    let turns = [lie.clone(), lie];
    let (done, events) = p1(&hub, &turns, &["--max-iterations", "2"]);
    assert_eq!(done.code, 3);
    assert_eq!(named(&events, "promise_rejected").len(), 2);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
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
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
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

/// `pr.merge = "auto"`: the forge merges, once its own conditions are met.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn an_automatic_merge_is_ordered_and_seen_through() {
    let hub = with_pull(green(), Vec::new());
    hub.github.world().blocked = 3;
    hub.env.write(
        ".ralph/config.toml",
        &format!(
            "{}[pr]\nmerge = \"auto\"\nmerge_method = \"rebase\"\ndelete_branch = true\n",
            hub.env.read(".ralph/config.toml")
        ),
    );
    let (done, events) = p1(&hub, &["echo never".into()], &[]);
    assert_eq!(
        story(&events),
        [
            "pr_found", "ci_passed", "ci_poll passed", "pr_merged ralph", "branch_deleted",
            "loop_end complete",
        ],
        "{}{}",
        done.stderr,
        done.stdout
    );
    assert_eq!(done.code, 0);
    assert_eq!(merges(&hub), ["merge rebase bound auto", DELETED]);
    assert_eq!(hub.pushed(), None);
    assert_eq!(hub.env.git(&["branch", "--show-current"]).trim(), BRANCH);
}

const DELETED: &str = "delete git/refs/heads/feature/login";

fn merges(hub: &Hub) -> Vec<String> {
    let asked = hub.github.asked().into_iter();
    let outward = |asked: &String| asked.starts_with("merge") || asked.starts_with("delete");
    asked.filter(outward).collect()
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_branch_goes_after_a_merge_where_that_was_asked_for() {
    let set_up = || {
        let hub = with_pull(green(), Vec::new());
        let settings = hub.env.read(".ralph/config.toml");
        let settings = format!("{settings}[pr]\ndelete_branch = true\n");
        hub.env.write(".ralph/config.toml", &settings);
        hub
    };
    let hub = set_up();
    let args = ["--pr", "7", "--merge", "squash"];
    let agent = hub.agent(&["echo never"]);
    let dry = [
        "run", "--dry-run", "--preset", "dev-p1", "--agent-cmd", &agent,
    ];
    let dry = hub.ralph(&[&dry[..], &args].concat());
    let delete = "gh api --method DELETE repos/{owner}/{repo}/git/refs/heads/feature/login";
    assert!(dry.stdout.contains(delete), "{}", dry.stdout);
    assert!(hub.github.asked().is_empty());
    let (done, events) = p1(&hub, &["echo never".into()], &args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(merges(&hub), ["merge squash bound", DELETED]);
    assert_eq!(named(&events, "branch_deleted")[0]["branch"], BRANCH);
    assert_eq!(named(&events, "pr_merged").len(), 1);

    // One that was gone already is gone; one that can't be deleted is told.
    let hub = set_up();
    hub.github.world().pulls[0].head = hub.head();
    hub.env
        .git(&["push", "-q", "origin", ":refs/heads/feature/login"]);
    let (done, events) = p1(&hub, &["echo never".into()], &args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "branch_deleted").len(), 1);

    let hub = set_up();
    hub.github.world().refuse_delete = true;
    let (done, events) = p1(&hub, &["echo never".into()], &args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(named(&events, "branch_deleted").is_empty());
    assert_eq!(named(&events, "forge_trouble").len(), 1);
    assert_eq!(named(&events, "loop_end")[0]["outcome"], "complete");
}
