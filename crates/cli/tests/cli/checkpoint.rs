//! The files that other tools of the delta loop read, and what is left of a
//! run whose journal is gone (CKPT-01, CKPT-07, RESM-05, RESM-07, EVNT-06).

use std::fs;

use serde_json::{Value, json};

use crate::env::{Done, TestEnv};
use crate::live::latest_run;

const FILE: &str = ".skillpack/current/checkpoint.json";

fn ticks(count: usize) -> Vec<Value> {
    let turn =
        |n: usize| json!({"tick": [format!("T{n:03}")], "say": "<promise>CONTINUE</promise>"});
    (1..=count).map(turn).collect()
}

/// Two of three tasks are done when the run stops at its limit.
fn stopped() -> TestEnv {
    let env = TestEnv::with_tasks(3);
    let (done, _) = env.run_script(&ticks(3), &["--max-iterations", "2"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    env
}

/// A file of the only run in the history.
fn archived(env: &TestEnv, file: &str) -> String {
    let history = fs::read_dir(env.path(".skillpack/history")).unwrap();
    let names = history.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    format!(".skillpack/history/{}/{file}", names[0])
}

fn listed(env: &TestEnv) -> Value {
    let done = env.ralph(&["resume", "--list", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

fn check_nothing_started(env: &TestEnv, done: &Done, runs: usize) {
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert_eq!(fs::read_dir(env.state("runs")).unwrap().count(), runs);
}

/// A new run with what was asked for then; the boxes that are ticked count.
fn check_started_over(done: &Done) {
    let events = done.events();
    let first = &events[0];
    assert_eq!(first["event"], "loop_start", "{}", done.stderr);
    assert_eq!(first["tasks"]["completed"], 2);
    assert_eq!(events.last().unwrap()["iterations"], 2, "its own limit");
}

#[test]
fn a_run_leaves_a_checkpoint_that_says_where_it_stands() {
    let env = stopped();
    let checkpoint = env.json(FILE);
    assert_eq!(checkpoint["version"], "2.0");
    assert_eq!(checkpoint["subtasks"]["completed"], json!(["T001", "T002"]));
    assert_eq!(checkpoint["subtasks"]["in_progress"], "T003");
    assert_eq!(checkpoint["context"]["iteration"], 2);
    assert_eq!(checkpoint["recovery"]["can_resume"], true);
    let checksum = env.read(".skillpack/current/checkpoint.json.sha256");
    assert_eq!(checksum.trim_end(), checkpoint["checksum"]);
    let log = env.read(".skillpack/current/execution.log.jsonl");
    assert_eq!(
        log,
        fs::read_to_string(latest_run(&env).join("execution.log.jsonl")).unwrap()
    );
    assert!(log.contains("loop_end"), "{log}");
    assert_eq!(env.git(&["status", "--porcelain"]), " M tasks.md\n");
    assert!(!env.path(".claude").exists());
}

#[test]
fn a_finished_run_can_not_be_resumed_from_its_checkpoint() {
    let env = stopped();
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!env.path(FILE).exists(), "it went with the run");
    let checkpoint = env.json(&archived(&env, "checkpoint.json"));
    assert_eq!(checkpoint["recovery"]["can_resume"], false);
    assert_eq!(
        checkpoint["subtasks"]["completed"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(checkpoint["context"]["outcome"], "complete");
}

#[test]
fn checkpoints_can_be_switched_off() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[checkpoint]\nenabled = false\n");
    let (done, _) = env.run_script(&ticks(1), &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!env.path(".skillpack/current").exists());
}

#[test]
fn a_checkpoint_that_can_not_be_written_stops_nothing() {
    let env = TestEnv::with_tasks(3);
    env.write(".skillpack", "a file in the way");
    let (done, _) = env.run_script(&ticks(3), &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let log = env.read(".ralph/ralph.log");
    assert_eq!(
        log.matches("the checkpoint is only a copy").count(),
        1,
        "{log}"
    );
}

/// CONF-05: the source does what its name says without the preset, too, and
/// says where the work comes from.
#[test]
fn the_source_delta_keeps_a_state_file_conf_05() {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", "[tasks]\nsource = \"delta\"\n");
    let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>CONTINUE</promise>"})]);
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    let said = "no state file of a delta loop waits here: the work comes from tasks.md, and .claude/ralph-delta.local.md keeps its state";
    assert!(done.stdout.contains(said), "{}{}", done.stdout, done.stderr);
    let state = env.read(".claude/ralph-delta.local.md");
    assert!(state.contains("- Current Subtask: 1 / 2"), "{state}");
    assert!(state.contains("T001"), "{state}");
}

#[test]
fn preset_delta_keeps_the_state_file() {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", "preset = \"delta\"\n");
    let args = ["--tasks", "tasks.md", "--max-iterations", "1"];
    let (done, _) = env.run_script(&ticks(2), &args);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let state = env.read(".claude/ralph-delta.local.md");
    assert!(state.contains("- Status: IN_PROGRESS\n"), "{state}");
    assert!(state.contains("- Current Subtask: 1 / 2\n"), "{state}");
    assert!(state.ends_with("## Promise\n<!-- 未完成 -->\n"), "{state}");

    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let state = crate::delta::archived_state(&env);
    assert!(state.contains("- Status: COMPLETED\n"), "{state}");
    assert!(
        state.contains("## Promise\n<promise>TASK_COMPLETE</promise>\n"),
        "{state}"
    );
    assert!(state.contains("- Total Iterations: 2\n"), "{state}");
    let backup = env.read(&archived(&env, "ralph-delta.local.md.backup.1"));
    assert!(backup.contains("- Status: IN_PROGRESS\n"), "{backup}");
}

#[test]
fn the_list_tells_how_far_each_checkpoint_is_proven() {
    let env = stopped();
    let list = listed(&env);
    assert_eq!(list["runs"][0]["state"], "verified");
    assert_eq!(list["runs"][0]["percent"], 66);
    let entry = &list["checkpoints"][0];
    assert_eq!(entry["state"], "verified");
    assert_eq!(entry["percent"], 66);
    assert_eq!(entry["task"], "tasks.md");
    assert_eq!(entry["run_id"], list["runs"][0]["id"]);

    let text = env.read(FILE);
    env.write(FILE, &text.replace("T001", "T009"));
    let entry = &listed(&env)["checkpoints"][0];
    assert_eq!(entry["state"], "recovered");
    assert_eq!(entry["backup"], 1);
    assert!(
        entry["why"].as_str().unwrap().contains("checksum is wrong"),
        "{entry}"
    );

    for n in 1..=3 {
        let backup = format!("{FILE}.backup.{n}");
        if env.path(&backup).exists() {
            env.write(&backup, "torn");
        }
    }
    let entry = &listed(&env)["checkpoints"][0];
    assert_eq!(entry["state"], "damaged", "{entry}");
    let people = env.ralph(&["resume", "--list"]);
    assert!(
        people.stdout.contains("current  damaged: no checkpoint in"),
        "{}",
        people.stdout
    );
}

/// RESM-07: what is advised works.
#[test]
fn a_damaged_checkpoint_alone_can_be_looked_at() {
    let env = TestEnv::new();
    env.write(FILE, "{\"torn");
    let left = env.ralph(&["resume", "--yes"]);
    assert_eq!(left.code, 1, "{}", left.stderr);
    let said = left.stderr + &left.stdout;
    assert!(said.contains("start over             ralph run "), "{said}");
    assert!(said.contains("ralph resume current --show"), "{said}");
    let shown = env.ralph(&["resume", "current", "--show"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("is not JSON"), "{}", shown.stdout);
}

#[test]
fn a_run_goes_on_although_its_checkpoint_is_damaged() {
    let env = stopped();
    env.write(FILE, "torn");
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(env.read(".ralph/ralph.log").contains("damaged checkpoint"));
    assert_eq!(listed(&env)["checkpoints"][0]["state"], "verified");
}

#[test]
fn a_damaged_journal_never_starts_a_run_over_by_itself() {
    let env = stopped();
    let journal = latest_run(&env).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("run_id", "run_ID", 1)).unwrap();
    for args in [
        &["resume"][..],
        &["resume", "--yes"],
        &["resume", "--abandon"],
    ] {
        let done = env.ralph(args);
        check_nothing_started(&env, &done, 1);
        assert!(done.stderr.contains("--restart"), "{}", done.stderr);
        assert!(done.stderr.contains("--show"), "{}", done.stderr);
        assert!(done.stderr.contains("66%"), "{}", done.stderr);
    }
    let list = listed(&env);
    assert_eq!(list["runs"][0]["state"], "damaged");

    let done = env.ralph(&["resume", "--show"]);
    assert_eq!(done.code, 0);
    assert!(done.stdout.contains("2/3  phase_1_T003"), "{}", done.stdout);

    let done = env.ralph(&["resume", "--restart", "--json"]);
    check_started_over(&done);
    assert!(journal.exists(), "what is damaged stays to be looked at");
}

#[test]
fn a_lost_journal_leaves_its_checkpoint_to_choose() {
    let env = stopped();
    let id = listed(&env)["checkpoints"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    fs::remove_dir_all(latest_run(&env)).unwrap();
    let done = env.ralph(&["resume", "--yes"]);
    check_nothing_started(&env, &done, 0);
    assert!(
        done.stderr
            .contains(&format!("ralph resume {id} --restart")),
        "{}",
        done.stderr
    );
    let done = env.ralph(&["resume", &id, "--restart", "--json"]);
    check_started_over(&done);
}

#[test]
fn an_archived_checkpoint_is_found_by_its_name() {
    let env = stopped();
    let id = listed(&env)["checkpoints"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    fs::create_dir(env.path(".skillpack/history")).unwrap();
    fs::rename(
        env.path(".skillpack/current"),
        env.path(".skillpack/history/2026-03-01_x"),
    )
    .unwrap();
    assert_eq!(listed(&env)["checkpoints"][0]["place"], "2026-03-01_x");
    let done = env.ralph(&["resume", &id, "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        done.events().last().unwrap()["iterations"],
        3,
        "the same run went on"
    );
}

/// The order in which a checkpoint reaches the disk, as the program passes it:
/// temporary file, its sync, backups, rename, checksum, folder (CKPT-06).
#[test]
fn a_checkpoint_is_saved_in_the_order_of_ckpt_06() {
    let env = TestEnv::with_tasks(8);
    let trace = env.outside("trace");
    let agent = env.agent(&ticks(7));
    let first = ["run", "--agent-cmd", &agent, "--max-iterations", "1"];
    for args in [&first[..]]
        .into_iter()
        .chain([&["resume", "--yes"][..]; 5])
    {
        let mut command = env.command(args);
        command
            .env("RALPH_FAULT_TRACE", &trace)
            .env("RALPH_LIMITS_EXTEND_BY", "1");
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, 3, "{}", done.stderr);
    }
    let trace = fs::read_to_string(trace).unwrap();
    let passed: Vec<&str> = trace
        .lines()
        .filter(|line| line.starts_with("checkpoint."))
        .map(|line| line.split(['#', ' ', '\t']).next().unwrap_or(line))
        .collect();
    // The last one that had backups to rotate is whole.
    let rotated = passed
        .iter()
        .rposition(|p| *p == "checkpoint.rotate")
        .unwrap();
    let before = |point: &str| passed[..rotated].iter().rposition(|p| *p == point).unwrap();
    let after = |point: &str| passed[rotated..].iter().position(|p| *p == point).unwrap();
    assert!(
        before("checkpoint.open") < before("checkpoint.write"),
        "{passed:?}"
    );
    assert!(
        before("checkpoint.write") < before("checkpoint.sync"),
        "{passed:?}"
    );
    assert!(
        before("checkpoint.sync") < before("checkpoint.remove"),
        "{passed:?}"
    );
    assert!(
        after("checkpoint.rename") < after("checkpoint.sync-dir"),
        "{passed:?}"
    );
    let mut left: Vec<String> = fs::read_dir(env.path(".skillpack/current"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("checkpoint"))
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "checkpoint.json",
            "checkpoint.json.backup.1",
            "checkpoint.json.backup.2",
            "checkpoint.json.backup.3",
            "checkpoint.json.sha256"
        ]
    );
}

/// Lines as a sibling tool writes them are events like ours (EVNT-02), and the
/// log lies where such tools look for it (EVNT-06).
#[test]
fn lines_of_a_sibling_are_read_evnt_02_evnt_06() {
    let env = stopped();
    let shown = env.path(".skillpack/current/execution.log.jsonl");
    let line = json!({
        "timestamp": "2026-11-15T10:00:00Z", "level": "WARN", "phase": "Phase 2/3", "model": "m",
        "event": "mcp_retry", "msg": "again", "metrics": {"ms": 3}, "context": {},
    });
    let mut log = fs::read_to_string(&shown).unwrap();
    log.push_str(&format!("{line}\n"));
    fs::write(latest_run(&env).join("execution.log.jsonl"), &log).unwrap();
    let done = env.ralph(&["events", "--json", "--filter", "event=mcp_retry"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let read: Value = serde_json::from_str(done.stdout.trim()).unwrap();
    assert_eq!(
        (&read["ts"], &read["phase"], &read["level"], &read["msg"]),
        (
            &json!("2026-11-15T10:00:00Z"),
            &json!(2),
            &json!("WARN"),
            &json!("again")
        )
    );
    assert_eq!(read.get("timestamp"), None);
    assert_eq!(
        fs::read_to_string(&shown).unwrap(),
        log,
        "one file with two names"
    );
}
