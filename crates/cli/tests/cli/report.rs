//! `ralph report`: what became of a run, for somebody who was not there.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::live::{Live, latest_run, shell_agent, wait_until};

const DONE: &str = "<promise>COMPLETE</promise>";
const GO_ON: &str = "<promise>CONTINUE</promise>";
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A run that lied once, failed a check once, and then did its two tasks.
fn finished() -> TestEnv {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", "verify.ticks = \"agent\"\n");
    let ticking = |id: &str, say: &str| json!({"write": {format!("{id}.txt"): "one\ntwo\n"}, "tick": [id], "commit": format!("Do {id} with {SECRET}"), "say": say});
    let turns = [
        json!({"say": DONE}),
        ticking("T001", GO_ON),
        ticking("T002", DONE),
        json!({"write": {"ok": ""}, "say": DONE}),
    ];
    let (done, _) = env.run_script(&turns, &["--verify", "test -e ok"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    env
}

fn report(env: &TestEnv, args: &[&str]) -> String {
    let args: Vec<&str> = ["report"].iter().chain(args).copied().collect();
    let done = env.ralph(&args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout
}

#[test]
fn it_answers_what_is_done_what_is_not_and_what_it_took() {
    let env = finished();
    let text = report(&env, &[]);
    for needed in [
        "**complete** · Everything that was asked for is done",
        "- Tasks done: 2/2",
        "## Proven\n\n- 2/2 tasks ticked in tasks.md\n- `test -e ok`: exit code 0",
        "## Rejected claims\n\n- turn 1, \"COMPLETE\": open tasks (2)",
        "- turn 3, \"COMPLETE\": `test -e ok` does not pass",
        "- [x] T001 Do thing 1 · ticked in turn 2, checks passed after turn 4",
        "- [x] T002 Do thing 2 · ticked in turn 3, checks passed after turn 4",
        "T001.txt +2 -0",
    ] {
        assert!(text.contains(needed), "lacks {needed:?}:\n{text}");
    }
    assert!(!text.contains("To go on"), "{text}");
    assert!(!text.contains(SECRET), "{text}");
}

#[test]
fn every_form_tells_the_same_and_none_tells_a_secret() {
    let env = finished();
    let json: Value = serde_json::from_str(&report(&env, &["--json"])).unwrap();
    assert_eq!(json["outcome"], "complete");
    assert_eq!(json["turns"], 4);
    assert_eq!(json["checks"], json!({"passed": 1, "failed": 1}));
    let verdicts: Vec<&str> = json["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["rejected", "progress", "check_failed", "proven"]);
    assert_eq!(json["git"]["commit_list"].as_array().unwrap().len(), 2);
    assert!(!json.to_string().contains(SECRET));

    let path = env.outside("report.html");
    let told = report(&env, &["--html", "--out", path.to_str().unwrap()]);
    assert!(told.contains("report.html"), "{told}");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("<h1 class=\"good\">complete</h1>"), "{page}");
    assert!(!page.contains(SECRET), "{page}");
    let page = report(&env, &["--html", "--lang", "zh-TW"]);
    assert!(page.contains("<h1 class=\"good\">完成</h1>"), "{page}");
}

/// The one that was archived is told as it was, whatever was committed since.
#[test]
fn later_work_is_not_counted_in() {
    let env = finished();
    env.write("later.txt", "not the run's\n");
    env.git(&["add", "-A"]);
    env.git(&[
        "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "Later",
    ]);
    let text = report(&env, &[]);
    assert!(!text.contains("later.txt"), "{text}");
    assert!(!text.contains("Later"), "{text}");
    assert!(text.contains("- Commits: 2 ("), "{text}");
    // Under the name of its archive it is the same run.
    let archive = env.ralph(&["history", "--json"]);
    let archive: Value = serde_json::from_str(&archive.stdout).unwrap();
    let name = archive["entries"][0]["name"].as_str().unwrap();
    assert_eq!(report(&env, &[name]), text);
    // Even where its own folder is gone.
    std::fs::remove_dir_all(latest_run(&env)).unwrap();
    assert_eq!(report(&env, &[name]), text);
}

#[test]
fn a_paused_run_names_the_command_that_goes_on() {
    let env = TestEnv::with_tasks(2);
    let (paused, _) = env.run_script(
        &[json!({"tick": ["T001"], "say": GO_ON})],
        &["--max-iterations", "1"],
    );
    assert_eq!(paused.code, 3, "{}", paused.stderr);
    let id = latest_run(&env);
    let id = id.file_name().unwrap().to_str().unwrap();
    let text = report(&env, &[]);
    for needed in [
        "**paused** · The limit of iterations was reached.",
        &format!("```\nralph resume {id}\n```"),
        "- open tasks (1): T002 Do thing 2",
        "- no verify command is configured",
        "- [x] T001 Do thing 1 · ticked in turn 1; no check has passed since",
        "- [ ] T002 Do thing 2 · open",
    ] {
        assert!(text.contains(needed), "lacks {needed:?}:\n{text}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let env = TestEnv::with_tasks(1);
    let none = env.ralph(&["report"]);
    assert_eq!(none.code, 1);
    assert!(
        none.stderr.contains("nothing has run here yet"),
        "{}",
        none.stderr
    );
    for name in ["20260101-000000-0000", "../../etc/passwd", "x"] {
        let none = env.ralph(&["report", name]);
        assert_eq!(none.code, 1);
        assert!(none.stderr.contains("there is no run"), "{}", none.stderr);
    }
}

/// T-11, T-12: while it runs nobody reads that it died, and files that Git was
/// not told of are among what it changed.
#[test]
fn a_living_run_is_told_as_one_and_new_files_count() {
    let env = TestEnv::with_tasks(1);
    env.write("lay-there.txt", "before the run\n");
    let script = "echo new > made.txt; echo x > ../made; \
                  until [ -e ../go ]; do sleep 0.05; done; \
                  sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>COMPLETE</promise>'";
    let agent = shell_agent(&env, script);
    let run = Live::start(&env, "run", env.command(&["run", "--agent-cmd", &agent]));
    wait_until("the agent works", || env.outside("made").exists());
    let text = report(&env, &[]);
    assert!(
        text.contains("**running** · It is not over yet (working)"),
        "{text}"
    );
    assert!(
        !text.contains("resume") && !text.contains("Ended"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&report(&env, &["--json"])).unwrap();
    assert_eq!(json["next_command"], "ralph monitor");
    std::fs::write(env.outside("go"), "").unwrap();
    let done = run.finish();
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let json: Value = serde_json::from_str(&report(&env, &["--json"])).unwrap();
    assert_eq!(json["outcome"], "complete");
    let files = json["git"]["file_list"].as_array().unwrap();
    let names: Vec<&str> = files
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    assert_eq!(names, ["tasks.md", "made.txt"], "{json}");
    assert_eq!(json["git"]["files_changed"], 2);
}

/// A check of a task's own is one: nobody is told that ticks are only claims.
#[test]
fn tasks_with_checks_of_their_own_are_no_claims() {
    let env = TestEnv::new();
    let list = "# Tasks\n\n- [ ] T001 Make a | verify: `test -f a.txt`\n";
    env.write("tasks.md", list);
    let script =
        "echo 1 > a.txt; sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>COMPLETE</promise>'";
    let agent = shell_agent(&env, script);
    let done = env.ralph(&["run", "--trust-project", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    for text in [done.stdout, report(&env, &[])] {
        assert!(!text.contains("the agent's own claims"), "{text}");
    }
}

/// RESM-08: what Ralph itself turned back changed nothing behind its back.
#[test]
fn a_tick_that_was_turned_back_is_no_change_from_outside() {
    let env = TestEnv::with_tasks(1);
    let script = "sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>COMPLETE</promise>'";
    let agent = shell_agent(&env, script);
    let args = ["--verify", "false", "--max-iterations", "2"];
    let args = [&["run", "--agent-cmd", &agent][..], &args].concat();
    let done = env.ralph(&args);
    assert_ne!(done.code, 0, "{}", done.stdout);
    let again = env.ralph(&["resume", "--yes"]);
    let said = format!("{}{}", again.stdout, again.stderr);
    assert!(!said.contains("changed since the run stopped"), "{said}");
}

#[test]
fn a_report_names_the_failure_that_came_again_and_again() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[verify]\nwhen = \"each\"\n");
    let turn =
        |n: u32| json!({"write": {"a.txt": n.to_string()}, "say": "<promise>CONTINUE</promise>"});
    let turns: Vec<_> = (0..6).map(turn).collect();
    let verify = "echo noise; echo 'no such luck'; exit 1";
    let (done, events) = env.run_script(&turns, &["--verify", verify]);
    assert_eq!(done.code, 5, "{}", done.stdout);
    assert_eq!(events.last().unwrap()["reason"], "same_error");
    let report = env.ralph(&["report"]).stdout;
    let says = |line: &&str| line.contains("the same failure");
    let line = report.lines().find(says).unwrap_or_default();
    assert!(line.contains("no such luck"), "{report}");
}
