//! Runs that are over are archived, listed, brought back and deleted
//! (HIST-01 to HIST-07, RESM-05, EVNT-06, LOOP-17).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, make_executable, tasks};
use crate::languages::{in_all_languages, redacted};
use crate::live::{Live, latest_run, shell_agent, wait_until};

const DONE: &str = "<promise>COMPLETE</promise>";
const BLOCKED: &str = "<promise>BLOCKED: no key</promise>";

/// Names of all entries of the history, in order.
fn archived(env: &TestEnv) -> Vec<String> {
    let found = fs::read_dir(env.path(".skillpack/history"));
    let mut names: Vec<String> = found
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".gitignore")
        .collect();
    names.sort();
    names
}

fn only_archive(env: &TestEnv) -> PathBuf {
    let names = archived(env);
    assert_eq!(names.len(), 1, "{names:?}");
    env.path(".skillpack/history").join(&names[0])
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn id_of(run: &Path) -> String {
    run.file_name().unwrap().to_str().unwrap().to_owned()
}

fn manifest(archive: &Path) -> Value {
    serde_json::from_slice(&fs::read(archive.join("manifest.json")).unwrap()).unwrap()
}

fn ticking(id: &str, say: &str) -> Value {
    json!({"write": {format!("{id}.txt"): id}, "tick": [id], "commit": id, "say": say})
}

#[track_caller]
fn ok(done: &Done) -> &str {
    assert_eq!(done.code, 0, "{}", done.stderr);
    &done.stdout
}

#[test]
fn a_complete_run_is_archived_with_everything() {
    let env = TestEnv::with_tasks(2);
    env.write(".skillpack/current/ralph-delta.state.md", "# State\n");
    env.write(".skillpack/current/1_analysis.md", "not ours\n");
    let turns = [
        json!({"say": DONE}),
        ticking("T001", "<promise>CONTINUE</promise>"),
        ticking("T002", DONE),
    ];
    let (done, _) = env.run_script(&turns, &["--verify", "true"]);
    assert_eq!(done.code, 0, "{}", done.stderr);

    let archive = only_archive(&env);
    let run = latest_run(&env);
    let id = id_of(&run);
    let task = manifest(&archive)["task_id"].as_str().unwrap().to_owned();
    assert_eq!(
        archive.file_name().unwrap().to_str().unwrap()[10..],
        format!("_{task}")
    );
    for file in [
        "checkpoint.json", "execution.log.jsonl", "journal.jsonl", "manifest.json",
        "ralph-delta.state.md", "report.md",
    ] {
        assert!(files(&archive).iter().any(|name| name == file), "{file}");
    }
    assert!(env.path(".skillpack/current/1_analysis.md").exists());
    assert!(!env.path(".skillpack/current/checkpoint.json").exists());
    assert!(!env.path(".skillpack/current/ralph-delta.state.md").exists());

    let manifest = manifest(&archive);
    assert_eq!(manifest["outcome"], "complete");
    assert_eq!(manifest["turns"], 3);
    assert_eq!(manifest["tasks"], json!({"completed": 2, "total": 2}));
    assert_eq!(manifest["branch"], "main");
    assert_eq!(manifest["commits"]["count"], 2);
    assert_eq!(
        manifest["files_changed"], 3,
        "two new files and the task list"
    );
    assert_eq!(manifest["run_id"], id);

    // The log says it before it moves, and goes with it (EVNT-04, EVNT-06).
    let log = fs::read_to_string(archive.join("execution.log.jsonl")).unwrap();
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "archive");
    assert_eq!(last["name"], archive.file_name().unwrap().to_str().unwrap());

    let report = env.ralph(&["history", "show", &id, "--report"]);
    let report = ok(&report);
    for words in [
        "**complete**",
        "- Turns: 3",
        "- Files changed: 3",
        "- turn 1, \"COMPLETE\": open tasks (2)",
        "2 new commits",
        "`true`: exit code 0",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    assert!(!report.contains("ralph resume"), "{report}");
    assert_eq!(
        env.git(&["status", "--porcelain", ".skillpack/history"]),
        ""
    );
}

#[test]
fn people_learn_where_the_run_went_and_programs_end_with_its_end() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[ticking("T001", DONE)]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    let last = ok(&done).lines().last().unwrap();
    assert!(last.contains("archived to .skillpack/history/"), "{last}");

    let env = TestEnv::with_tasks(1);
    let (_, events) = env.run_script(&[ticking("T001", DONE)], &[]);
    assert_eq!(events.last().unwrap()["event"], "loop_end");
}

#[test]
fn what_can_go_on_is_not_archived_and_what_failed_is() {
    let cases: [(&str, Value, &[&str], Option<&str>); 4] = [
        ("blocked", json!({"say": BLOCKED}), &[], Some("blocked")),
        (
            "errors",
            json!({"exit": 3, "complain": "boom"}),
            &[],
            Some("errors"),
        ),
        (
            "limit",
            json!({"say": "<promise>CONTINUE</promise>"}),
            &["--max-iterations", "1"],
            None,
        ),
        (
            "unproven",
            json!({"say": "<promise>DONE</promise>"}),
            &["do it"],
            None,
        ),
    ];
    for (name, turn, args, outcome) in cases {
        let env = TestEnv::with_tasks(1);
        env.run_script(&vec![turn; 4], args);
        match outcome {
            Some(outcome) => assert_eq!(manifest(&only_archive(&env))["outcome"], outcome),
            None => assert_eq!(archived(&env), [""; 0], "{name}"),
        }
    }
}

#[test]
fn a_given_up_run_is_archived_as_such() {
    let env = TestEnv::with_tasks(1);
    let turn = json!({"say": "<promise>CONTINUE</promise>"});
    env.run_script(&[turn], &["--max-iterations", "1"]);
    let done = env.ralph(&["resume", "--abandon"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let archive = only_archive(&env);
    assert_eq!(manifest(&archive)["outcome"], "cancelled");
    let report = fs::read_to_string(archive.join("report.md")).unwrap();
    assert!(report.contains("USER_ABORT"), "{report}");

    // It stays over, unless it is started over.
    let id = id_of(&latest_run(&env));
    let again = env.ralph(&["resume", &id, "--yes"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("--restart"), "{}", again.stderr);
    ok(&env.ralph(&["resume", &id, "--show"]));
    let again = env.ralph(&["resume", &id, "--restart", "--json"]);
    assert_eq!(again.code, 3, "{}", again.stderr);
    assert_ne!(id_of(&latest_run(&env)), id);
}

#[test]
fn a_failed_run_is_brought_back_from_the_history_and_archived_again() {
    let env = TestEnv::with_tasks(1);
    let turns = [json!({"say": BLOCKED}), ticking("T001", DONE)];
    env.run_script(&turns, &[]);
    let run = latest_run(&env);
    let id = id_of(&run);
    fs::remove_dir_all(&run).unwrap();

    let done = env.ralph(&["resume", &id, "--yes", "--json"]);
    assert!(done.stderr.contains("brought back"), "{}", done.stderr);
    assert_eq!(done.events().last().unwrap()["outcome"], "complete");
    assert_eq!(done.events().last().unwrap()["iterations"], 2);
    let names = archived(&env);
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(names[1], format!("{}-2", names[0]));
    let newest = env.path(".skillpack/history").join(&names[1]);
    assert_eq!(manifest(&newest)["outcome"], "complete");
}

/// S-05: a clone may bring a journal with a command of its own.
#[test]
fn a_journal_that_ralph_did_not_archive_is_not_taken_up() {
    let env = TestEnv::with_tasks(1);
    env.run_script(&[json!({"say": BLOCKED})], &[]);
    let run = latest_run(&env);
    fs::remove_dir_all(&run).unwrap();
    let journal = format!(".skillpack/history/{}/journal.jsonl", archived(&env)[0]);
    let evil = env.read(&journal).replace("__agent", "__owned");
    env.write(&journal, &evil);
    let done = env.ralph(&["resume", &id_of(&run), "--yes"]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    // Its checkpoint is what is left, and nothing begins by itself.
    assert!(
        done.stderr.contains("nothing was started"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_folder_of_others_can_not_be_taken_up_and_says_so() {
    let env = TestEnv::with_tasks(1);
    env.write(".skillpack/history/2026-01-18_abc123/checkpoint.json", "{}");
    let done = env.ralph(&["resume", "abc123", "--yes"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("has no journal"), "{}", done.stderr);
    assert!(
        done.stderr.contains("ralph history show abc123"),
        "{}",
        done.stderr
    );
    let done = env.ralph(&["resume", "nothing", "--yes"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("no such run"), "{}", done.stderr);
}

#[test]
fn a_run_that_died_before_its_archive_is_archived_by_the_next_or_by_hand() {
    let env = TestEnv::with_tasks(2);
    env.run_script(&[json!({"say": BLOCKED})], &[]);
    let first = archived(&env);
    // As if it had been killed in the middle.
    let half = format!(".skillpack/history/.unfinished-{}", first[0]);
    fs::rename(
        env.path(".skillpack/history").join(&first[0]),
        env.path(&half),
    )
    .unwrap();
    fs::remove_file(env.path(&half).join("manifest.json")).unwrap();
    let listed = env.ralph(&["history"]);
    assert!(
        ok(&listed).contains("nothing is archived"),
        "{}",
        listed.stdout
    );

    env.run_script(&[json!({"say": BLOCKED})], &[]);
    let names = archived(&env);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.contains(&first[0]), "{names:?}");

    // By hand: what is there is there.
    let again = env.ralph(&["archive"]);
    assert!(ok(&again).contains("already"), "{}", again.stdout);
    assert_eq!(archived(&env), names);
}

#[test]
#[cfg_attr(not(has_shm), ignore = "needs /dev/shm as a second file system")]
fn a_history_on_another_file_system_is_as_good() {
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let env = TestEnv::with_tasks(1);
    let dir = elsewhere.path().join("kept");
    env.write(
        ".ralph/config.toml",
        &format!("[history]\ndir = \"{}\"\n", dir.display()),
    );
    env.run_script(&[ticking("T001", DONE)], &[]);
    let listed = env.ralph(&["history"]);
    assert!(ok(&listed).contains("complete"), "{}", listed.stdout);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
}

#[test]
fn a_history_that_can_not_be_written_stops_nothing() {
    let env = TestEnv::with_tasks(1);
    env.write(".skillpack/history", "a file");
    env.write(".skillpack/current/checkpoint.json", "{}");
    let agent = env.agent(&[ticking("T001", DONE)]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert!(ok(&done).contains("not archived: "), "{}", done.stdout);
    assert!(done.stdout.contains("ralph archive"), "{}", done.stdout);
    assert!(env.path(".skillpack/current/checkpoint.json").exists());
    assert!(env.read(".ralph/ralph.log").contains("not archived: "));

    fs::remove_file(env.path(".skillpack/history")).unwrap();
    ok(&env.ralph(&["archive"]));
    assert_eq!(archived(&env).len(), 1);
    assert!(!env.path(".skillpack/current/checkpoint.json").exists());
}

/// Five failed runs, each with a task file of its own content.
fn five_runs(env: &TestEnv) -> Vec<String> {
    for _ in 0..5 {
        env.run_script(&[json!({"say": BLOCKED})], &[]);
    }
    let mut runs: Vec<String> = fs::read_dir(env.state("runs"))
        .unwrap()
        .map(|run| id_of(&run.unwrap().path()))
        .collect();
    runs.sort();
    runs
}

#[test]
fn the_oldest_runs_are_deleted_with_their_output() {
    let env = TestEnv::with_tasks(1);
    let runs = five_runs(&env);
    assert_eq!(archived(&env).len(), 5);

    let before = env.snapshot();
    let shown = env.ralph(&["archive", "--prune", "--keep", "2", "--dry-run"]);
    assert!(
        ok(&shown).contains("3 would be deleted"),
        "{}",
        shown.stdout
    );
    assert_eq!(env.snapshot(), before);
    // Where they lie is where they go from.
    for run in &runs[..3] {
        let dir = env.state("runs").join(run);
        let named = format!(" + {}  ", dir.display());
        assert!(shown.stdout.contains(&named), "{}", shown.stdout);
    }

    // The oldest was taken up again and waits: it stays.
    env.write(".ralph/STOP", "");
    let done = env.ralph(&["resume", &runs[0], "--yes", "--json"]);
    assert_eq!(done.code, 130, "{}", done.stderr);

    let pruned = env.ralph(&["archive", "--prune", "--keep", "2"]);
    assert!(ok(&pruned).contains("2 deleted"), "{}", pruned.stdout);
    assert!(env.state("runs").join(&runs[4]).is_dir());
    assert!(env.state("runs").join(&runs[3]).is_dir());
    assert!(!env.state("runs").join(&runs[1]).exists());
    assert!(!env.state("runs").join(&runs[2]).exists());
    assert!(env.state("runs").join(&runs[0]).is_dir());
}

#[test]
fn the_end_of_a_run_keeps_the_history_short_and_says_what_went() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[history]\nkeep = 2\n");
    env.write(".skillpack/history/2026-01-18_abc123/checkpoint.json", "{}");
    let runs = five_runs(&env);
    assert_eq!(runs.len(), 2, "{runs:?}");
    let names = archived(&env);
    assert_eq!(names.len(), 3, "what is not ours stays: {names:?}");
    let log = env.read(".ralph/ralph.log");
    assert_eq!(log.matches("old runs deleted").count(), 3, "{log}");
}

#[test]
fn the_living_run_is_not_archived() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(
        &env,
        "touch \"$(dirname \"$0\")/working\"\nexec sleep 600\n",
    );
    let run = Live::start(&env, "run", env.command(&["run", "--agent-cmd", &agent]));
    wait_until("the agent works", || env.outside("working").exists());
    for args in [&["archive", "--yes"][..], &["archive", "--prune"]] {
        let done = env.ralph(args);
        assert_eq!(done.code, 1, "{args:?}");
        assert!(done.stderr.contains("ralph status"), "{}", done.stderr);
    }
    // So is a second run, with everything that helps (LOOP-11).
    let second = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(second.code, 1);
    for words in ["process ", "since 20", "ralph logs -f", "ralph stop"] {
        assert!(second.stderr.contains(words), "{}", second.stderr);
    }

    // A file stops it, too (LOOP-17).
    env.write(".ralph/STOP", "");
    let done = run.finish();
    assert_eq!(done.code, 130, "{}", done.stderr);
    assert!(done.stdout.contains("STOP is there"), "{}", done.stdout);
    assert!(!env.path(".ralph/STOP").exists());
    assert!(env.read(".ralph/ralph.log").contains("STOP is there"));
    assert_eq!(archived(&env), [""; 0]);
}

#[test]
fn a_stop_file_that_is_there_before_calls_no_agent_to_its_end() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/STOP", "");
    let (done, events) = env.run_script(&[json!({"wait_ms": 60_000})], &[]);
    assert_eq!(done.code, 130, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["outcome"], "interrupted");
    let (done, _) = env.run_script(&[ticking("T001", DONE)], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn a_run_that_only_waits_is_archived_when_somebody_insists() {
    let env = TestEnv::with_tasks(1);
    let turn = json!({"say": "<promise>CONTINUE</promise>"});
    env.run_script(&[turn], &["--max-iterations", "1"]);
    let asked = env.ralph(&["archive"]);
    assert_eq!(asked.code, 1);
    assert!(asked.stderr.contains("--yes"), "{}", asked.stderr);
    assert_eq!(archived(&env), [""; 0]);
    ok(&env.ralph(&["archive", "--yes"]));
    assert_eq!(manifest(&only_archive(&env))["can_go_on"], true);
    // It can still go on.
    env.agent(&[json!({}), ticking("T001", DONE)]);
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn bad_input_is_told_clearly() {
    let env = TestEnv::new();
    env.write("tasks.md", &tasks(1));
    for (args, words) in [
        (&["history", "show", "../x"][..], "`ralph history` lists"),
        (&["history", "--limit", "-1"], "--limit"),
        (&["archive"], "no loop has run here yet"),
        (&["archive", "20260101-000000-0000"], "there is no run"),
        (
            &["archive", "--prune", "--keep", "0"],
            "the newest always stays",
        ),
        (&["archive", "--keep", "3"], "--prune"),
    ] {
        let done = env.ralph(args);
        assert_eq!(done.code, 1, "{args:?}: {}", done.stdout);
        assert!(done.stderr.contains(words), "{args:?}: {}", done.stderr);
    }
    assert!(!env.path(".skillpack").exists());
    let empty = env.ralph(&["history", "--json"]);
    let empty: Value = serde_json::from_str(ok(&empty)).unwrap();
    assert_eq!(empty, json!({"version": 1, "total": 0, "entries": []}));
}

#[test]
fn the_history_is_listed_in_every_language() {
    let env = TestEnv::with_tasks(1);
    env.write(".skillpack/history/2026-01-18_abc123/checkpoint.json", "{}");
    env.write(
        ".skillpack/history/2026-01-17_103000_RALPH_login/notes.md",
        "",
    );
    env.write(".skillpack/history/20260116_090000/notes.md", "");
    env.run_script(&[json!({"say": BLOCKED})], &[]);
    let id = id_of(&latest_run(&env));
    let shown = env.ralph(&["history", "show", &id, "--json"]);
    let shown: Value = serde_json::from_str(ok(&shown)).unwrap();
    let ended = shown["manifest"]["ended_local"]
        .as_str()
        .unwrap()
        .to_owned();
    let listed = in_all_languages(|lang| {
        let done = env.ralph(&["history", "--lang", lang]);
        // Durations differ, and with them the width of their column.
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: Vec<String> = ok(&done).lines().map(words).collect();
        redacted(&env, &text.join("\n").replace(&ended, "[ended]"))
    });
    insta::assert_snapshot!(listed, @"
    --- en
    ended run outcome tasks turns time where
    [ended] [run] blocked 0/1 1 [duration] .skillpack/history/[date]_[task]
    2026-01-18 abc123 - - - - .skillpack/history/2026-01-18_abc123
    2026-01-17 10:30:00 login - - - - .skillpack/history/2026-01-17_103000_RALPH_login
    2026-01-16 09:00:00 - - - - - .skillpack/history/20260116_090000
    --- zh-TW
    已結束 執行 結果 任務 迭代 時間 位置
    [ended] [run] 受阻 0/1 1 [duration] .skillpack/history/[date]_[task]
    2026-01-18 abc123 - - - - .skillpack/history/2026-01-18_abc123
    2026-01-17 10:30:00 login - - - - .skillpack/history/2026-01-17_103000_RALPH_login
    2026-01-16 09:00:00 - - - - - .skillpack/history/20260116_090000
    --- zh-CN
    已结束 运行 结果 任务 迭代 时间 位置
    [ended] [run] 受阻 0/1 1 [duration] .skillpack/history/[date]_[task]
    2026-01-18 abc123 - - - - .skillpack/history/2026-01-18_abc123
    2026-01-17 10:30:00 login - - - - .skillpack/history/2026-01-17_103000_RALPH_login
    2026-01-16 09:00:00 - - - - - .skillpack/history/20260116_090000
    ");

    let shown = env.ralph(&["history", "show", "login"]);
    insta::assert_snapshot!(ok(&shown), @"
    .skillpack/history/2026-01-17_103000_RALPH_login
    not written by Ralph: only its name and its files are known
    run: login
    ended: 2026-01-17 10:30:00
    route: RALPH
    files: notes.md
    ");
    let first = env.ralph(&["history", "--limit", "1"]);
    assert!(ok(&first).contains("and 3 more"), "{}", first.stdout);
}

/// RESM-08: a person who takes a run up learns what moved meanwhile.
#[test]
fn what_changed_since_is_said_when_a_run_is_taken_up() {
    let env = TestEnv::with_tasks(3);
    let turns = [
        ticking("T001", "<promise>CONTINUE</promise>"),
        ticking("T002", "<promise>CONTINUE</promise>"),
    ];
    let (done, _) = env.run_script(&turns, &["--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    env.git(&["checkout", "-q", "-b", "other"]);
    env.write("unseen.txt", "by hand");
    env.ralph(&["resume", "--yes"]);
    let log = env.read(".ralph/ralph.log");
    let said = "changed since the run stopped: the branch (now other), the files";
    assert!(log.contains(said), "{log}");
}

/// A project with one OpenSpec change of one task.
fn with_change() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "openspec/changes/add-x/tasks.md",
        "## 1. Work\n\n- [ ] 1.1 Do it\n",
    );
    env
}

#[test]
fn a_finished_openspec_change_is_moved_only_on_request_hist_05() {
    for (wanted, there) in [(false, true), (true, false)] {
        let env = with_change();
        env.write(
            ".ralph/config.toml",
            &format!("history.openspec = {wanted}\n"),
        );
        let turn = json!({"tick": ["1.1"], "say": DONE});
        let (done, _) = env.run_script(&[turn], &[]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(env.path("openspec/changes/add-x").is_dir(), there);
        let moved = fs::read_dir(env.path("openspec/changes/archive"));
        let names: Vec<String> = moved
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names.len(), usize::from(wanted), "{names:?}");
        assert!(names.iter().all(|name| name.ends_with("-add-x")));
    }
}

#[test]
fn openspec_itself_is_asked_where_it_is_installed_hist_05() {
    let env = with_change();
    env.write(".ralph/config.toml", "history.openspec = true\n");
    let bin = env.outside("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("openspec");
    let asked = env.outside("asked");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {}\necho no >&2\nexit 3\n",
        asked.display()
    );
    fs::write(&program, script).unwrap();
    make_executable(&program);
    let agent = env.agent(&[json!({"tick": ["1.1"], "say": DONE})]);
    let mut command = env.command(&["run", "--agent-cmd", &agent]);
    let path = std::env::var("PATH").unwrap_or_default();
    let done = command
        .env("PATH", format!("{}:{path}", bin.display()))
        .output()
        .unwrap();
    let done = Done::of(&done);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(fs::read_to_string(asked).unwrap(), "archive add-x --yes\n");
    let told = format!("{}{}", done.stdout, done.stderr);
    assert!(
        told.contains("add-x was not archived: openspec archive add-x: no"),
        "{told}"
    );
    assert!(env.path("openspec/changes/add-x").is_dir());
}

/// U-06: one clock, that of whoever looks.
#[test]
fn the_history_tells_the_time_of_the_person_who_looks() {
    let env = TestEnv::with_tasks(1);
    let turns = [ticking("T001", "<promise>COMPLETE</promise>")];
    env.run_script(&turns, &[]);
    let ended = manifest(&only_archive(&env))["ended"].clone();
    let hour: u32 = ended.as_str().unwrap()[11..13].parse().unwrap();
    let mut command = env.command(&["history"]);
    let shown = Done::of(&command.env("TZ", "<+09>-9").output().unwrap()).stdout;
    let there = format!(" {:02}:", (hour + 9) % 24);
    assert!(shown.contains(&there), "{ended}: {shown}");
    assert!(shown.contains("(+09)"), "{shown}");
}
