//! Runs of earlier versions lie in the project: they are history, and nobody's
//! to go on with. A state of a later version is refused with words. What is
//! kept is bounded.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;

const BLOCKED: &str = "<promise>BLOCKED: enough</promise>";

/// A project whose only run was kept as earlier versions did; its name.
fn old_project() -> (TestEnv, String) {
    let env = TestEnv::with_tasks(2);
    env.run_script(&[json!({"tick": ["T001"], "say": BLOCKED})], &[]);
    let id = env.layout().latest_run().unwrap().unwrap().id.to_string();
    fs::rename(env.state("runs"), env.path(".ralph/runs")).unwrap();
    let _ = fs::remove_dir_all(env.path(".skillpack"));
    (env, id)
}

#[test]
fn an_old_run_is_listed_shown_and_told_and_not_gone_on_with() {
    let (env, id) = old_project();
    let before = env.snapshot();
    let listed = env.ralph(&["history"]).stdout;
    assert!(listed.contains(&id) && listed.contains("1/2"), "{listed}");
    assert!(listed.contains(&format!(".ralph/runs/{id}")), "{listed}");
    let told: Value = serde_json::from_str(&env.ralph(&["history", "--json"]).stdout).unwrap();
    assert_eq!(told["entries"][0]["earlier_version"], true);
    let shown = env.ralph(&["history", "show", &id]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("earlier version"));
    let report = env.ralph(&["report", &id]);
    assert_eq!(report.code, 0, "{}", report.stderr);
    assert!(report.stdout.contains(&id) && report.stdout.contains("T001"));
    let events = env.ralph(&["events", "--run", &id]);
    assert!(events.stdout.contains("loop_start"), "{}", events.stderr);
    for args in [&["resume", &id, "--yes"][..], &["resume", &id, "--restart"]] {
        let refused = env.ralph(args);
        assert_eq!(refused.code, 1, "{}", refused.stdout);
        assert!(
            refused.stderr.contains("ralph report"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(env.ralph(&["resume", "--yes"]).code, 1);
    assert_eq!(env.snapshot(), before, "nothing is written");
    // A new run begins beside it.
    let agent = env.agent(&[json!({"tick": ["T002"], "say": "<promise>COMPLETE</promise>"})]);
    assert_eq!(env.ralph(&["run", "--agent-cmd", &agent]).code, 0);
    assert!(env.ralph(&["history"]).stdout.contains(&id));
}

/// However its files look, each verb ends and says something.
#[test]
fn old_runs_are_tortured() {
    type Deed = fn(&std::path::Path);
    let deeds: [(&str, Deed); 8] = [
        ("torn", |dir| {
            let file = dir.join("journal.jsonl");
            let text = fs::read(&file).unwrap();
            fs::write(&file, &text[..text.len() - 7]).unwrap();
        }),
        ("garbage", |dir| {
            fs::write(dir.join("journal.jsonl"), b"\xff\x00 garbage\n").unwrap();
        }),
        ("empty", |dir| {
            fs::write(dir.join("journal.jsonl"), "").unwrap();
        }),
        ("endless line", |dir| {
            let file = fs::File::create(dir.join("journal.jsonl")).unwrap();
            file.set_len(200 << 20).unwrap();
        }),
        ("huge", |dir| {
            let file = fs::File::create(dir.join("journal.jsonl")).unwrap();
            file.set_len(1 << 42).unwrap();
        }),
        ("a link", |dir| {
            let file = dir.join("journal.jsonl");
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        }),
        ("no events", |dir| {
            fs::remove_file(dir.join("execution.log.jsonl")).unwrap();
        }),
        ("events of many bytes", |dir| {
            let file = fs::File::create(dir.join("execution.log.jsonl")).unwrap();
            file.set_len(200 << 20).unwrap();
        }),
    ];
    for (what, deed) in deeds {
        let (env, id) = old_project();
        deed(&env.path(&format!(".ralph/runs/{id}")));
        assert_eq!(env.ralph(&["history"]).code, 0, "{what}");
        for args in [
            &["history", "show", &id][..],
            &["report", &id],
            &["resume", &id, "--yes"],
            &["status"],
            &["events", "--run", &id],
        ] {
            let done = env.ralph(args);
            assert!(
                (0..=1).contains(&done.code),
                "{what} {args:?}: {}",
                done.stderr
            );
            let is_silent = done.stdout.is_empty() && done.stderr.is_empty();
            let is_nothing = args[0] == "events" && done.code == 0;
            assert!(!is_silent || is_nothing, "{what} {args:?}");
            assert!(!done.stderr.contains("panicked"), "{what} {args:?}");
        }
    }
}

/// A journal of the future is refused by every verb that would have to
/// understand it, and stays as it is.
#[test]
fn a_downgrade_is_refused_with_words() {
    let env = TestEnv::with_tasks(1);
    env.run_script(&[json!({"say": BLOCKED})], &[]);
    let run = env.layout().latest_run().unwrap().unwrap();
    let text = fs::read_to_string(run.journal()).unwrap();
    let newer = format!("{{\"v\":9,\"shape\":\"of its own\"}}\n{text}");
    fs::write(run.journal(), &newer).unwrap();
    for args in [&["resume", "--yes"][..], &["report"], &["status"]] {
        let done = env.ralph(args);
        assert_eq!(done.code, 1, "{args:?}: {}", done.stdout);
        assert!(
            done.stderr.contains("newer ralph"),
            "{args:?}: {}",
            done.stderr
        );
    }
    assert_eq!(fs::read_to_string(run.journal()).unwrap(), newer);
}

#[test]
fn the_state_folder_stays_within_its_bounds() {
    let env = TestEnv::with_tasks(1);
    let run = |say: &str, state_max: &str| {
        let agent = env.agent(&[json!({"say": say})]);
        let config = format!("[history]\nstate_max = \"{state_max}\"\n");
        env.write(".ralph/config.toml", &config);
        let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
        (env.layout().latest_run().unwrap().unwrap(), done)
    };
    let (paused, _) = run("hm", "0");
    let (over, _) = run(BLOCKED, "0");
    // Large enough for both is no reason to delete.
    let (third, _) = run("hm", "1GB");
    assert!(paused.dir.exists() && over.dir.exists() && third.dir.exists());
    let (last, done) = run(BLOCKED, "1KB");
    assert!(last.dir.exists(), "the newest stays");
    assert!(third.dir.exists(), "what can be gone on with stays");
    assert!(!over.dir.exists(), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("history.state_max") || done.stdout.contains("history.state_max"));
}
