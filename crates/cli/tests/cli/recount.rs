//! Random runs, each figure of whose report is counted once more, from the
//! script that was played, the raw journal and Git.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::env::{Done, RALPH, TestEnv, make_executable};
use crate::live::{journal, latest_run};

const TASKS: u64 = 6;
const TURNS: u64 = 8;

/// splitmix64
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

/// What one call does, and what it costs in thousandths of a dollar.
struct Call {
    ticks: Vec<String>,
    fails: bool,
    cost: u64,
}

/// A client that plays these calls, and tells what each cost.
fn client(env: &TestEnv, dice: &mut Dice) -> Vec<Call> {
    let (bin, dir) = (env.outside("bin"), env.outside("calls"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&dir).unwrap();
    let (mut calls, mut failed) = (Vec::new(), 0);
    for n in 1..=TURNS {
        let count = dice.roll(3);
        let ticks: BTreeSet<String> = (0..count)
            .map(|_| format!("T{:03}", dice.roll(TASKS) + 1))
            .collect();
        let fails = failed < 2 && dice.roll(4) == 0;
        failed = if fails { failed + 1 } else { 0 };
        let mut turn = json!({
            "write": {format!("new/{n}.txt"): "x", "shared.txt": n.to_string()},
            "tick": ticks,
            "wait_ms": dice.roll(30),
            "exit": u8::from(fails),
        });
        if dice.roll(3) == 0 {
            turn["commit"] = json!(format!("call {n}"));
        }
        let script = json!({"turns": [turn], "repeat_last": true});
        fs::write(dir.join(format!("{n}.json")), script.to_string()).unwrap();
        let cost = dice.roll(900) + 1;
        let result = json!({"type": "result", "subtype": "success", "is_error": fails,
            "result": "<promise>CONTINUE</promise>", "total_cost_usd": cost as f64 / 1000.0,
            "usage": {"input_tokens": 10 * n, "output_tokens": n}});
        fs::write(dir.join(format!("{n}.result")), format!("{result}\n")).unwrap();
        calls.push(Call {
            ticks: ticks.into_iter().collect(),
            fails,
            cost,
        });
    }
    let dir = dir.display();
    let script = format!(
        "#!/bin/sh\nn=$RALPH_ITERATION\n{RALPH} __agent {dir}/$n.json > /dev/null\nrc=$?\ncat {dir}/$n.result\nexit $rc\n"
    );
    let program = bin.join("claude");
    fs::write(&program, script).unwrap();
    make_executable(&program);
    calls
}

fn ralph(env: &TestEnv, args: &[&str]) -> Done {
    let mut command = env.command(args);
    let path = std::env::var("PATH").unwrap();
    command
        .env("PATH", format!("{}:{path}", env.outside("bin").display()))
        .env("RALPH_AGENT_RETRY_INITIAL", "60ms")
        .env("RALPH_LIMITS_PAUSE_BETWEEN", "40ms")
        .env("RALPH_VERIFY_TICKS", "agent");
    Done::of(&command.output().unwrap())
}

fn parsed(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stderr))
}

/// How long each kind of wait was, from the moments of the raw records: a wait
/// ends with what comes after it.
fn waits(records: &[Value], failed: &BTreeSet<u64>) -> BTreeMap<&'static str, (u64, u64)> {
    let mut waits = BTreeMap::new();
    for pair in records.windows(2) {
        let [before, woke] = pair else { continue };
        if woke["kind"] != "woke" {
            continue;
        }
        let at = |record: &Value| record["at"]["wall_ms"].as_u64().unwrap();
        let turn = before["turn"].as_u64().unwrap();
        let why = match failed.contains(&turn) {
            true => "backoff",
            false => "pause_between",
        };
        let wait: &mut (u64, u64) = waits.entry(why).or_default();
        wait.0 += 1;
        wait.1 += at(woke) - at(before);
    }
    waits
}

/// Every file that differs from a commit, or that Git does not know.
fn changed(env: &TestEnv, from: &str) -> BTreeSet<String> {
    let differing = env.git(&["diff", "--name-only", from]);
    let unknown = env.git(&["ls-files", "--others", "--exclude-standard"]);
    let all = differing.lines().chain(unknown.lines());
    let own = |path: &&str| !path.starts_with(".ralph/") && !path.starts_with(".skillpack/");
    all.filter(own).map(str::to_owned).collect()
}

fn recount(seed: u64) {
    let env = TestEnv::with_tasks(TASKS as usize);
    let from = env.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let calls = client(&env, &mut Dice(seed));
    let max = TURNS.to_string();
    let run = ralph(
        &env,
        &[
            "run", "--agent", "claude", "--json", "--max-iterations", &max,
        ],
    );
    let records = journal(&latest_run(&env));
    let report = parsed(&ralph(&env, &["report", "--json"]));
    let what = format!("seed {seed}: {report}");

    // Turns: as many as the agent was called, each with its own cost.
    let made: Vec<&Value> = records
        .iter()
        .filter(|r| r["kind"] == "turn_ended")
        .collect();
    let calls = &calls[..made.len()];
    assert_eq!(report["turns"], made.len(), "{what}");
    let told = report["calls"].as_array().unwrap();
    assert_eq!(told.len(), made.len(), "{what}");
    for ((told, made), call) in told.iter().zip(&made).zip(calls) {
        assert_eq!(told["turn"], made["turn"], "{what}");
        assert_eq!(told["duration_ms"], made["duration_ms"], "{what}");
        assert_eq!(told["cost_usd"], call.cost as f64 / 1000.0, "{what}");
        assert_eq!(told["verdict"] == "failed", call.fails, "{what}");
    }
    let cost: u64 = calls.iter().map(|call| call.cost).sum();
    assert_eq!(report["usage"]["cost_usd"], cost as f64 / 1000.0, "{what}");
    let tokens: usize = (1..=made.len()).map(|n| 11 * n).sum();
    assert_eq!(report["usage"]["tokens"], tokens, "{what}");

    // Ticks: each by the first call that set it.
    let mut ticked: BTreeMap<&str, usize> = BTreeMap::new();
    for (turn, call) in (1..).zip(calls) {
        for id in &call.ticks {
            ticked.entry(id).or_insert(turn);
        }
    }
    for task in report["task_list"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        let turn = ticked.get(id).map_or(Value::Null, |turn| json!(turn));
        assert_eq!(task["ticked_in_turn"], turn, "{id} {what}");
        assert_eq!(task["done"], ticked.contains_key(id), "{id} {what}");
    }
    let counts = json!({"completed": ticked.len(), "total": TASKS});
    assert_eq!(report["tasks"], counts, "{what}");

    // Waits: as long as they were.
    let failed = (1..)
        .zip(calls)
        .filter(|(_, call)| call.fails)
        .map(|(turn, _)| turn);
    let want = waits(&records, &failed.collect());
    let told: BTreeMap<&str, (u64, u64)> = report["waits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| {
            let number = |key: &str| w[key].as_u64().unwrap();
            (
                w["reason"].as_str().unwrap(),
                (number("count"), number("duration_ms")),
            )
        })
        .collect();
    assert_eq!(told, want, "{what}");

    // Files and commits: as Git has them.
    let changed = changed(&env, &from);
    let files = report["git"]["file_list"].as_array().unwrap();
    let files: BTreeSet<String> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, changed, "{what}");
    assert_eq!(report["git"]["files_changed"], changed.len(), "{what}");
    let commits = env.git(&["rev-list", "--count", &format!("{from}..HEAD")]);
    assert_eq!(
        report["git"]["commits"].to_string(),
        commits.trim(),
        "{what}"
    );

    // The forecast: what is open, at the price of what is done.
    let costs = parsed(&ralph(&env, &["cost", "--json"]));
    let (done, open) = (ticked.len() as f64, (TASKS as usize - ticked.len()) as f64);
    match costs["forecast_usd"].as_f64() {
        None => assert!(ticked.is_empty(), "{costs}"),
        Some(forecast) => {
            let want = cost as f64 / 1000.0 / done * open;
            assert!((forecast - want).abs() < 1e-6, "{forecast} {want} {costs}");
        }
    }
    let end = run.events().pop().unwrap();
    assert_eq!(report["outcome"], end["outcome"], "{what}");
}

#[test]
fn every_figure_of_a_report_is_what_happened() {
    for seed in 1..=6 {
        recount(seed);
    }
}
