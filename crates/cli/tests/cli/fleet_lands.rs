//! Results of jobs that were sent by hand land by the same queue as lanes
//! (issue 26).

use std::fs;

use serde_json::Value;

use crate::env::{Done, TestEnv, named};
use crate::fleet::Fleet;
use crate::lanes::{Lanes, landed, list};
use crate::live::{Live, wait_until};

/// Does what its prompt says, and resolves what it is told to.
const AGENT: &str = r#"prompt=$(cat)
case "$prompt" in
*"conflict marks"*) grep -q '<<<<<<<' shared && printf 'two\nthree\n' > shared ;;
*"Make one"*) echo one > one ;;
*"Make two"*) echo two > shared; git add -A; git commit -qm "Write two" ;;
*"Make three"*) echo three > shared ;;
*"Make red"*) echo red > red ;;
esac
for list in .ralph/landing/*.md; do
  [ ! -f "$list" ] || sed -i 's/- \[ \]/- [x]/' "$list"
done
echo '<promise>COMPLETE</promise>'
"#;

fn fleet() -> Fleet {
    let lanes = Lanes::new(&list(1));
    lanes.env.write("check.sh", "[ ! -f red ]\n");
    fs::remove_file(lanes.env.path("tasks.md")).unwrap();
    lanes.commit("a check");
    Fleet::in_project(lanes.env)
}

fn worker(fleet: &Fleet) -> Live {
    let script = fleet.env.outside("wishes.sh");
    fs::write(&script, AGENT).unwrap();
    fleet.worker(
        "w1",
        &format!("sh {}", script.display()),
        &["--capacity", "2"],
    )
}

fn land(fleet: &Fleet, jobs: &[&str]) -> Done {
    let check = ["--", "--verify", "sh check.sh"];
    fleet.ask(
        "submitter",
        &[&["fetch", "--json", "--land"], jobs, &check].concat(),
    )
}

fn subjects(env: &TestEnv) -> Vec<String> {
    let log = env.git(&["log", "--format=%s", "HEAD"]);
    log.lines().map(str::to_owned).collect()
}

/// Jobs that began at the same commit land one after the other; what conflicts
/// with what landed before it goes back as a job, and lands then.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn results_of_jobs_land_by_the_queue_of_lanes() {
    let fleet = fleet();
    let env = &fleet.env;
    let worker = worker(&fleet);
    let jobs = ["Make one", "Make two", "Make three"].map(|wish| fleet.submit(&[wish]));
    for job in &jobs {
        fleet.until_done(job);
    }
    let names = jobs.each_ref().map(String::as_str);
    let done = land(&fleet, &names);
    let said = format!("{}{}", done.stdout, done.stderr);
    assert_eq!(done.code, 0, "{said}");
    let events: Vec<Value> = done.events();
    assert_eq!(landed(&events), ["T001", "T002", "T003"], "{said}");
    assert_eq!(named(&events, "lane_returned").len(), 1, "{said}");
    // On the person's own branch and in their tree, a commit for each.
    assert_eq!(env.read("shared"), "two\nthree\n");
    assert_eq!(env.read("one"), "one\n");
    let subjects = subjects(env);
    let of = |job: &str| subjects.iter().filter(|line| line.contains(job)).count();
    assert_eq!(names.map(of), [1, 1, 1], "{subjects:?}");
    assert!(!subjects.iter().any(|line| line.contains("landing")));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    for job in names {
        let landed = fleet.show(job)["landed"].as_str().unwrap().to_owned();
        env.git(&["merge-base", "--is-ancestor", &landed, "HEAD"]);
    }
    // Nothing lands twice.
    let before = env.git(&["rev-parse", "HEAD"]);
    let again = land(&fleet, &names);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(env.git(&["rev-parse", "HEAD"]), before, "{}", again.stdout);
    drop(worker);
}

/// A worker's word that it is done is not believed.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_result_that_is_red_here_does_not_land() {
    let fleet = fleet();
    let env = &fleet.env;
    let worker = worker(&fleet);
    let jobs = ["Make red", "Make one"].map(|wish| fleet.submit(&[wish]));
    for job in &jobs {
        assert_eq!(fleet.until_done(job)["result"]["exit"], 3, "a claim");
    }
    let done = land(&fleet, &jobs.each_ref().map(String::as_str));
    let said = format!("{}{}", done.stdout, done.stderr);
    assert_ne!(done.code, 0, "{said}");
    assert_eq!(landed(&done.events()), ["T002"], "{said}");
    assert!(fleet.show(&jobs[0])["landed"].is_null());
    assert!(!env.path("red").exists());
    drop(worker);
}

/// One lander at a time, wherever they are; one that is dead is waited for.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn only_one_lands_in_a_repository_at_a_time() {
    let fleet = fleet();
    let env = &fleet.env;
    let worker = worker(&fleet);
    let jobs = ["Make one", "Make two"].map(|wish| fleet.submit(&[wish]));
    for job in &jobs {
        fleet.until_done(job);
    }
    let clone = env.outside("clone");
    env.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let (began, go) = (env.outside("began"), env.outside("go"));
    let check = format!(
        "touch {}; while [ ! -f {} ]; do sleep 0.05; done",
        began.display(),
        go.display()
    );
    let args = ["fetch", "--land", &jobs[0], "--", "--verify", &check];
    let mut first = Live::start(env, "first", fleet.command("submitter", &args));
    wait_until("it checks", || began.exists());
    let other = || {
        let args = ["fetch", "--land", &jobs[1]];
        let mut command = fleet.command("submitter", &args);
        command.current_dir(&clone);
        Done::of(&command.output().unwrap())
    };
    let refused = other();
    assert_ne!(refused.code, 0, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("somebody lands"),
        "{}",
        refused.stderr
    );
    first.kill();
    fs::write(&go, "").unwrap();
    let landed = other();
    assert_eq!(landed.code, 0, "{}{}", landed.stdout, landed.stderr);
    assert_eq!(fs::read_to_string(clone.join("shared")).unwrap(), "two\n");
    drop(worker);
}
