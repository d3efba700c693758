//! What lanes share: one budget, one rate, one limit, and a repository in which
//! a person works too (issue 22).

use std::fs;

use serde_json::{Value, json};

use crate::env::{Done, make_executable, named};
use crate::lanes::{Lanes, landed, list, text};
use crate::limits::{limited, now};
use crate::live::{Live, wait_until};

/// The agent of the lanes as a client that tells what it costs, in Claude's
/// words. `before` is done first; whoever exits there says its own words.
fn client(lanes: &Lanes, cost: f64, before: &str) {
    let result = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "<promise>DONE</promise>", "total_cost_usd": cost,
        "usage": {"input_tokens": 900, "output_tokens": 100}});
    let script = format!(
        "#!/bin/sh\n{before}\nAGENTS={} sh {} > /dev/null\necho '{result}'\n",
        lanes.env.outside("agents").display(),
        lanes.env.outside("agent.sh").display()
    );
    let program = lanes.env.outside("bin").join("claude");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, script).unwrap();
    make_executable(&program);
}

fn run(lanes: &Lanes, more: &[&str]) -> (Done, Vec<Value>) {
    let args = ["run", "--json", "--agent", "claude"];
    let check = ["--verify", "sh check.sh"];
    let mut command = lanes.env.command(&[&args[..], &check, more].concat());
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = lanes.env.outside("bin");
    command.env("PATH", format!("{}:{path}", bin.display()));
    let done = Done::of(&command.output().unwrap());
    let events = done.events();
    (done, events)
}

/// Each call costs 30 cents and a dollar is there: the fourth is the last, and
/// what it cost is told to the cent.
#[test]
fn one_budget_for_all_lanes() {
    let lanes = Lanes::new(&list(6));
    let calls = lanes.env.outside("calls");
    client(
        &lanes,
        0.3,
        &format!("echo \"$RALPH_TASK_ID\" >> {}", calls.display()),
    );
    let (done, events) = run(&lanes, &["--max-cost", "1usd", "-j", "3"]);
    let end = events.last().unwrap();
    assert_eq!(
        (done.code, &end["reason"]),
        (8, &json!("max_cost")),
        "{end}"
    );
    let calls = fs::read_to_string(calls).unwrap().lines().count();
    let usage = &end["usage"];
    assert_eq!(usage["calls"].as_u64(), Some(calls as u64), "{end}");
    // Whoever was stopped could not say what it cost.
    let told = calls - usage["uncounted_calls"].as_u64().unwrap() as usize;
    let cents = usage["cost_usd"].as_f64().unwrap() * 100.0;
    assert_eq!(cents.round() as usize, told * 30, "{end}");
    // Three may be under way when the dollar is spent, and none begins then.
    assert!((4..=6).contains(&calls), "{calls}");
    lanes.each_commit_is_green();
}

/// The run ends when its lanes have: the end tells of every call, of those too
/// that it stopped, and what stands still is said to stand still.
#[test]
fn calls_under_way_when_the_money_is_spent_are_told() {
    let lanes = Lanes::new(&list(3));
    let began = lanes.env.outside("began");
    let before = format!(
        r#"case $RALPH_TASK_ID in
T001) while [ ! -e {began} ]; do sleep 0.05; done;;
*) touch {began}; exec sleep 600;;
esac"#,
        began = began.display()
    );
    client(&lanes, 0.6, &before);
    let (done, events) = run(&lanes, &["--max-cost", "0.5usd", "-j", "2"]);
    let end = events.last().unwrap();
    assert_eq!((done.code, &end["reason"]), (8, &json!("max_cost")));
    let usage = &end["usage"];
    assert_eq!(usage["calls"], 2, "{end}");
    assert_eq!(usage["uncounted_calls"], 1, "{end}");
    let listed = lanes.env.ralph(&["lanes"]);
    assert!(listed.stdout.contains("stands still"), "{}", text(&listed));
    assert!(!listed.stdout.contains("at work"), "{}", text(&listed));
}

/// Who meets a usage limit holds all: nobody is called until it is over.
#[test]
fn one_limit_holds_all_lanes() {
    let lanes = Lanes::new(&list(6));
    let (times, met) = (lanes.env.outside("times"), lanes.env.outside("met"));
    let resets_at = now() + 8;
    let words: Vec<String> = limited(resets_at).iter().map(Value::to_string).collect();
    let before = format!(
        "echo \"$(date +%s) $RALPH_TASK_ID\" >> {}
if mkdir {}; then cat > /dev/null; printf '%s\\n' '{}' '{}'; exit 1; fi
sleep 1",
        times.display(),
        met.display(),
        words[0],
        words[1].replace('\'', "'\\''")
    );
    client(&lanes, 0.1, &before);
    let (done, events) = run(&lanes, &["-j", "3"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&events).len(), 6);
    let times = fs::read_to_string(times).unwrap();
    let second = |line: &str| line.split(' ').next().unwrap().parse::<u64>().unwrap();
    let seconds: Vec<u64> = times.lines().map(second).collect();
    let meanwhile = seconds[0] + 2..resets_at;
    assert!(
        !seconds.iter().any(|second| meanwhile.contains(second)),
        "{times}, over at {resets_at}"
    );
}

/// One that hangs and one that floods cost their own task at most.
#[test]
fn one_that_hangs_and_one_that_floods_hold_nobody_up() {
    let lanes = Lanes::new(&list(4));
    lanes.on("T001", "exec sleep 600");
    lanes.on(
        "T002",
        "yes flood | head -c 30000000; echo \"$t\" > /dev/null",
    );
    let mut command = lanes.command(&["-j", "3", "--max-iterations", "30"]);
    command
        .env("RALPH_LIMITS_ITERATION_TIMEOUT", "4s")
        .env("RALPH_LIMITS_STALLED", "2");
    let done = Done::of(&command.output().unwrap());
    let events = done.events();
    assert_eq!(done.code, 4, "{}", text(&done));
    assert_eq!(landed(&events), ["T002", "T003", "T004"]);
    assert_eq!(named(&events, "lane_parked").len(), 1);
    lanes.each_commit_is_green();
}

/// A person commits, rebases, switches branches and leaves things lying about
/// while lanes work: nothing of theirs is touched, nothing of the run suffers.
#[test]
fn a_person_works_in_the_same_repository() {
    let lanes = Lanes::new(&list(4));
    let env = &lanes.env;
    for task in ["T001", "T002", "T003", "T004"] {
        lanes.on(task, "touch \"$AGENTS/began\"; sleep 1");
    }
    let run = Live::start(env, "run", lanes.command(&["-j", "2", "--land"]));
    let agents = env.outside("agents");
    wait_until("it works", || agents.join("began").exists());
    env.write("mine.txt", "mine");
    env.git(&["add", "mine.txt"]);
    env.git(&["commit", "-qm", "mine"]);
    env.git(&["switch", "-qc", "topic", "HEAD~1"]);
    env.write("topic.txt", "topic");
    env.git(&["add", "topic.txt"]);
    env.git(&["commit", "-qm", "topic"]);
    env.git(&["rebase", "-q", "main"]);
    env.git(&["stash", "-q", "--include-untracked"]);
    env.write("lying about.txt", "not committed");
    env.git(&["gc", "-q", "--prune=now"]);
    let mine = (
        env.git(&["rev-parse", "main", "topic"]),
        env.git(&["status", "--porcelain"]),
    );
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&done.events()).len(), 4);
    let after = (
        env.git(&["rev-parse", "main", "topic"]),
        env.git(&["status", "--porcelain"]),
    );
    assert_eq!(mine, after, "{}", text(&done));
    assert_eq!(env.read("lying about.txt"), "not committed");
    lanes.each_commit_is_green();
}

/// Who works on what, in which turn, at which place of the queue, with which
/// ports and how much disk; and the whole stands still and goes on.
#[test]
fn lanes_are_listed_paused_and_taken_up() {
    let lanes = Lanes::new(&list(3));
    let env = &lanes.env;
    for task in ["T001", "T002", "T003"] {
        let waits = "touch \"$AGENTS/$t.began\"; [ -e \"$AGENTS/go\" ] || { sleep 0.2; echo '<promise>CONTINUE</promise>'; exit 0; }";
        lanes.on(task, waits);
    }
    let agents = env.outside("agents");
    let mut command = lanes.command(&["-j", "2", "--max-iterations", "500"]);
    command
        .env("RALPH_LIMITS_STALLED", "0")
        .env("RALPH_LANES_PORTS", "7");
    let run = Live::start(env, "run", command);
    let began = |task: &str| agents.join(format!("{task}.began")).exists();
    wait_until("two work", || began("T001") && began("T002"));
    let listed: Value = serde_json::from_str(&env.ralph(&["lanes", "--json"]).stdout).unwrap();
    let ports: Vec<&str> = listed["lanes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|lane| lane["ports"].as_str())
        .collect();
    assert_eq!(ports.len(), 2, "{listed}");
    for block in &ports {
        let (first, last) = block.split_once('-').unwrap();
        let (first, last): (u16, u16) = (first.parse().unwrap(), last.parse().unwrap());
        assert_eq!(last - first, 6);
    }
    assert_ne!(ports[0], ports[1]);
    let words = env.ralph(&["lanes"]).stdout;
    assert!(words.contains(&format!("ports {}", ports[0])), "{words}");
    assert!(words.contains(" MB  "), "{words}");
    assert_eq!(env.ralph(&["pause"]).code, 0);
    let done = run.finish();
    assert_eq!(done.code, 3, "{}", text(&done));
    fs::write(agents.join("go"), "").unwrap();
    let mut again = env.command(&["resume", "--yes", "--json"]);
    again.env("AGENTS", &agents);
    let done = Done::of(&again.output().unwrap());
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&done.events()).len(), 3);
}
