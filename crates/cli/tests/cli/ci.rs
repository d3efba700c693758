//! Waiting for CI and telling its failures apart, with the real `gh`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ralph_testkit::github::{CheckRun, PullRequest, World};
use serde_json::Value;

use super::env::Done;
use super::hub::{BRANCH, Hub, story};
use super::p0::project;

fn check(result: &'static str, run: u64) -> CheckRun {
    CheckRun::new("build", result, run)
}

/// A pull request whose checks say this, look by look. The gate plays no part
/// before the first turn.
fn hub(looks: Vec<Vec<CheckRun>>) -> Hub {
    let hub = project(World {
        pulls: vec![PullRequest::open(7, BRANCH)],
        looks: VecDeque::from(looks),
        ..World::default()
    });
    hub.push();
    hub
}

fn run(hub: &Hub, more: &[&str]) -> (Done, Vec<String>) {
    let args = [&["--preset", "dev-p1", "--max-iterations", "1"][..], more].concat();
    let (done, events) = hub.run(&["echo nothing"], &args);
    let told = story(&events);
    (done, told)
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_looks_flaky_is_run_again_once_on_the_same_commit() {
    let hub = hub(vec![vec![check("FAILURE", 7)]]);
    {
        let mut world = hub.github.world();
        world.logs.insert(7, "Timeout of 2000ms exceeded\n".into());
        world.after_rerun = Some(VecDeque::from([
            // The old job for a moment, then the new one.
            vec![check("FAILURE", 7)],
            vec![check("IN_PROGRESS", 7).job(71)],
            vec![check("SUCCESS", 7).job(71)],
        ]));
    }
    let (_, told) = run(&hub, &[]);
    assert_eq!(
        told[..7],
        [
            "pr_found", "ci_failed flaky", "ci_rerun", "ci_poll none", "ci_poll pending",
            "ci_flaky", "ci_passed",
        ],
        "{told:?}"
    );
    let reruns = |asked: &&String| asked.starts_with("rerun");
    assert_eq!(hub.github.asked().iter().filter(reruns).count(), 1);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn lost_machines_are_run_again_and_then_a_person_is_needed() {
    let hub = hub(vec![vec![check("CANCELLED", 7)]]);
    hub.github.world().after_rerun = Some(VecDeque::from([vec![check("CANCELLED", 7).job(71)]]));
    let (done, told) = run(&hub, &[]);
    assert_eq!(done.code, 3);
    assert_eq!(
        told,
        [
            "pr_found",
            "ci_failed infrastructure",
            "ci_rerun",
            "ci_poll none",
            "ci_failed infrastructure",
            "loop_end paused ci_infrastructure",
        ]
    );
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_fails_on_the_base_too_is_told_apart() {
    let hub = hub(vec![vec![check("FAILURE", 7)]]);
    hub.github
        .world()
        .logs
        .insert(7, "assertion failed\n".into());
    hub.github.world().on_base = vec![check("FAILURE", 3)];
    let (_, told) = run(&hub, &[]);
    assert_eq!(told[..3], ["pr_found", "ci_failed pre_existing", "turn 1"]);
    let prompt = hub.prompt(1);
    assert!(
        prompt.contains("The base branch fails the same checks"),
        "{prompt}"
    );
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_failing_check_is_seen_while_others_run() {
    let other = CheckRun::new("slow", "IN_PROGRESS", 9);
    let hub = hub(vec![vec![check("FAILURE", 7), other]]);
    hub.github
        .world()
        .logs
        .insert(7, "assertion failed\n".into());
    let (_, told) = run(&hub, &[]);
    assert_eq!(told[..3], ["pr_found", "ci_failed regression", "turn 1"]);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn only_required_checks_hold_a_run_up() {
    let hub = hub(vec![vec![
        check("SUCCESS", 7).required(),
        CheckRun::new("lint", "FAILURE", 9),
    ]]);
    hub.env
        .write(".ralph/config.toml", "[pr]\nrequired_only = true\n");
    let (_, told) = run(&hub, &[]);
    assert_eq!(told[..2], ["pr_found", "ci_passed"]);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_commit_without_checks_is_not_green() {
    let hub = hub(vec![Vec::new()]);
    hub.env
        .write(".ralph/config.toml", "[pr]\ngrace = \"200ms\"\n");
    let (done, told) = run(&hub, &[]);
    assert_eq!(done.code, 3);
    assert_eq!(
        told,
        ["pr_found", "ci_poll none", "loop_end paused no_checks"]
    );
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_new_push_during_the_wait_is_what_counts() {
    let hub = hub(vec![vec![check("IN_PROGRESS", 7)]]);
    let new = hub.env.outside("other");
    let bare = hub.env.outside("origin.git");
    hub.env.git(&[
        "clone",
        "-q",
        "-b",
        BRANCH,
        bare.to_str().unwrap(),
        new.to_str().unwrap(),
    ]);
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git")
            .current_dir(&new)
            .args(args)
            .status();
        assert!(done.unwrap().success());
    };
    let author = ["-c", "user.name=B", "-c", "user.email=b@localhost"];
    git(&[
        &author[..],
        &["commit", "-q", "--allow-empty", "-m", "More"],
    ]
    .concat());
    let agent = hub.agent(&["echo never"]);
    let args = [
        "run", "--json", "--preset", "dev-p1", "--agent-cmd", &agent, "--max-iterations", "1",
    ];
    let child = hub
        .command(&args)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(|| hub.github.asked().len() > 2);
    hub.github.world().looks = VecDeque::from([vec![check("SUCCESS", 9)]]);
    git(&["push", "-q", "origin", BRANCH]);
    let done = Done::of(&child.wait_with_output().unwrap());
    let told = story(&done.events());
    let at = told.iter().position(|t| t == "ci_rebound");
    assert!(at.is_some(), "{told:?}");
}

/// The rate limit, a broken gateway: waited out, without any turn.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn troubles_of_the_forge_are_waited_out() {
    let hub = hub(vec![vec![check("SUCCESS", 7)]]);
    let limited = r#"{"message":"API rate limit exceeded for user ID 1."}"#;
    hub.github.world().faults = VecDeque::from([(403, limited.to_owned()), (502, "{}".to_owned())]);
    let (_, told) = run(&hub, &[]);
    assert_eq!(
        told[..4],
        [
            "forge_trouble rate_limited",
            "forge_trouble network",
            "pr_found",
            "ci_passed"
        ]
    );
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn waiting_for_ci_is_no_iteration_and_ends_in_time() {
    let hub = hub(vec![vec![check("IN_PROGRESS", 7)]]);
    hub.env
        .write(".ralph/config.toml", "[pr]\npoll_timeout = \"300ms\"\n");
    let (done, told) = run(&hub, &[]);
    assert_eq!(done.code, 3);
    assert_eq!(
        told,
        ["pr_found", "ci_poll pending", "loop_end paused ci_timeout"]
    );
}

/// The engine is killed while it waits; the next one waits on.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_wait_survives_a_killed_engine() {
    let hub = hub(vec![vec![check("IN_PROGRESS", 7)]]);
    let agent = hub.agent(&["echo never"]);
    let args = ["run", "--json", "--preset", "dev-p1", "--agent-cmd", &agent];
    let mut child = hub
        .command(&args)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| hub.github.asked().len() > 2);
    child.kill().unwrap();
    child.wait().unwrap();
    hub.github.world().looks =
        VecDeque::from([vec![check("IN_PROGRESS", 7)], vec![check("FAILURE", 7)]]);
    hub.env.write(".ralph/config.toml", "[pr]\nmax_fixes = 0\n");
    let done = hub.ralph(&["resume", "--yes", "--json"]);
    let told: Vec<Value> = done.events();
    let told = story(&told);
    assert!(told.contains(&"ci_poll pending".to_owned()), "{told:?}");
    assert!(
        told.contains(&"ci_failed regression".to_owned()),
        "{told:?}"
    );
}

pub fn wait_for(mut reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !reached() {
        assert!(Instant::now() < deadline, "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}
