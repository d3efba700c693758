//! `ralph phase`, with the real `gh` against a scripted GitHub.

use std::collections::VecDeque;

use ralph_testkit::github::{CheckRun, PullRequest, World};

use super::env::Done;
use super::hub::{BRANCH, Hub};

fn world(pull: Option<PullRequest>, checks: Vec<CheckRun>) -> World {
    World {
        pulls: pull.into_iter().collect(),
        looks: VecDeque::from([checks]),
        ..World::default()
    }
}

fn open() -> Option<PullRequest> {
    Some(PullRequest::open(7, BRANCH))
}

fn checks(results: &[&'static str]) -> Vec<CheckRun> {
    let check = |(number, result): (usize, &&'static str)| {
        CheckRun::new(&format!("check {number}"), result, number as u64 + 1)
    };
    results.iter().enumerate().map(check).collect()
}

pub fn phase_of(done: &Done) -> String {
    assert_eq!(done.code, 0, "{}", done.stderr);
    let line = done.stdout.lines().next().unwrap_or_default();
    line.strip_prefix("PHASE: ").unwrap_or(line).to_owned()
}

/// The phase that the real `gh` and this program see.
fn check(pull: Option<PullRequest>, results: &[&'static str], want: &str) {
    let hub = Hub::new(world(pull, checks(results)));
    hub.push();
    let done = hub.ralph(&["phase"]);
    assert_eq!(phase_of(&done), want, "{results:?}\n{}", done.stdout);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", done.stdout);
    assert!(lines[1].starts_with("DESCRIPTION: "));
    assert!(lines[2].starts_with("ACTION: "));
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_phase_is_told_over_all_checks() {
    check(None, &[], "p0");
    check(open(), &["SUCCESS"], "p2");
    check(open(), &["SUCCESS", "SKIPPED", "NEUTRAL"], "p2");
    check(open(), &["SUCCESS", "QUEUED", "SKIPPED"], "pending");
    check(open(), &["SUCCESS", "STATUS_PENDING"], "pending");
    check(open(), &["SUCCESS", "STATUS_ERROR"], "p1");
    check(
        open(),
        &[
            "SUCCESS", "FAILURE", "SKIPPED", "IN_PROGRESS", "NEUTRAL", "CANCELLED",
        ],
        "p1",
    );
    check(open(), &["SUCCESS", "CANCELLED"], "p1");
    // Nothing that says anything proves nothing.
    check(open(), &["SKIPPED", "NEUTRAL"], "unknown");
    check(open(), &[], "unknown");
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_draft_has_a_phase_too() {
    let draft = PullRequest {
        draft: true,
        ..PullRequest::open(7, BRANCH)
    };
    let hub = Hub::new(world(Some(draft), checks(&["SUCCESS"])));
    hub.push();
    let told: serde_json::Value =
        serde_json::from_str(&hub.ralph(&["phase", "--json"]).stdout).unwrap();
    assert_eq!(told["phase"], "p2");
    assert_eq!(told["pull_request"]["draft"], true);
    assert_eq!(told["pull_request"]["number"], 7);
    assert_eq!(told["commit"], hub.head());
    assert_eq!(told["checks"][0]["state"], "passed");
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_commit_without_checks_gets_time_for_them() {
    let now = jiff_now();
    let fresh = PullRequest {
        updated_at: now,
        ..PullRequest::open(7, BRANCH)
    };
    check(Some(fresh), &[], "pending");
}

/// This moment, as GitHub writes it.
fn jiff_now() -> String {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    ralph_core::machine::iso_utc(since.as_millis() as i64)
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn only_required_checks_may_be_judged() {
    let checks = vec![
        CheckRun::new("build", "SUCCESS", 1).required(),
        CheckRun::new("lint", "FAILURE", 2),
    ];
    let hub = Hub::new(world(open(), checks));
    hub.push();
    assert_eq!(phase_of(&hub.ralph(&["phase"])), "p1");
    assert_eq!(phase_of(&hub.ralph(&["phase", "--required"])), "p2");
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_is_not_pushed_is_not_judged_and_said() {
    let hub = Hub::new(world(open(), checks(&["SUCCESS"])));
    hub.push();
    hub.commit("More");
    let done = hub.ralph(&["phase"]);
    assert_eq!(phase_of(&done), "p2");
    let said = "; 1 local commits are not pushed and not judged";
    assert!(done.stdout.contains(said), "{}", done.stdout);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn troubles_make_the_phase_unknown_and_are_said() {
    let said = |hub: &Hub, words: &str| {
        let done = hub.ralph(&["phase"]);
        assert_eq!(phase_of(&done), "unknown");
        assert!(done.stdout.contains(words), "{}", done.stdout);
    };
    let hub = Hub::new(world(open(), checks(&["SUCCESS"])));
    hub.push();
    let limited = r#"{"message":"API rate limit exceeded for user ID 1."}"#;
    hub.github.world().faults.push_back((403, limited.into()));
    said(&hub, "limits the number of requests");
    let bad = r#"{"message":"Bad credentials"}"#;
    hub.github.world().faults.push_back((401, bad.into()));
    said(&hub, "is not logged in");
    hub.github.world().faults.push_back((502, "{}".into()));
    said(&hub, "can't be reached or is out of order");
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn without_login_or_program_nothing_is_known() {
    let hub = Hub::new(world(open(), checks(&["SUCCESS"])));
    let done = Done::of(
        &hub.command(&["phase"])
            .env_remove("GH_TOKEN")
            .output()
            .unwrap(),
    );
    assert_eq!(phase_of(&done), "unknown");
    assert!(
        done.stdout.contains("gh is not logged in"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("gh auth login"), "{}", done.stdout);
    let path = hub.path_without_gh();
    let done = Done::of(&hub.command(&["phase"]).env("PATH", path).output().unwrap());
    assert_eq!(phase_of(&done), "unknown");
    assert!(
        done.stdout.contains("gh is not installed"),
        "{}",
        done.stdout
    );
    assert!(hub.github.asked().is_empty());
}

#[test]
fn other_branches_have_no_phase() {
    let hub = Hub::new(world(open(), checks(&["SUCCESS"])));
    hub.env.git(&["switch", "-q", "main"]);
    let done = hub.ralph(&["phase"]);
    assert_eq!(phase_of(&done), "unknown");
    assert!(done.stdout.contains("pr.branches"), "{}", done.stdout);
    // Never from the default branch, whatever the patterns say (PRCI-11).
    let any = |args: &[&str]| {
        let mut command = hub.command(args);
        Done::of(&command.env("RALPH_PR_BRANCHES", "*").output().unwrap())
    };
    assert_eq!(phase_of(&any(&["phase"])), "unknown");
    let run = any(&["run", "--preset", "dev-p0", "--agent-cmd", "true", "x"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("default branch"), "{}", run.stderr);
    hub.env.git(&["switch", "-q", "--detach"]);
    assert_eq!(phase_of(&hub.ralph(&["phase"])), "unknown");
    assert!(hub.github.asked().is_empty());
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn only_p1_can_be_forced() {
    let hub = Hub::new(world(None, Vec::new()));
    let forced = |value: &str| {
        let output = hub
            .command(&["phase"])
            .env("PHASE_OVERRIDE", value)
            .output();
        phase_of(&Done::of(&output.unwrap()))
    };
    assert_eq!(forced("p1"), "p1");
    assert!(hub.github.asked().is_empty());
    assert_eq!(forced("p2"), "p0");
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_phase_is_told_in_every_language() {
    let hub = Hub::new(world(None, Vec::new()));
    let first = |lang: &str| hub.ralph(&["phase", "--lang", lang]).stdout;
    insta::assert_snapshot!(first("zh-CN"), @r"
    PHASE: p0
    DESCRIPTION: feature/login 没有打开的 PR
    ACTION: 质检通过（`ralph gate run`）后创建 PR；p0 到此结束，不等 CI
    ");
    insta::assert_snapshot!(first("zh-TW"), @r"
    PHASE: p0
    DESCRIPTION: feature/login 沒有開啟的 PR
    ACTION: 質檢通過（`ralph gate run`）後建立 PR；p0 到此結束，不等 CI
    ");
    insta::assert_snapshot!(first("en"), @r"
    PHASE: p0
    DESCRIPTION: no open pull request for feature/login
    ACTION: pass the quality gate (`ralph gate run`), then create the pull request; p0 ends there and does not wait for CI
    ");
}
