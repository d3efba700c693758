//! What a run leaves in its repository, as it is told: the files that it
//! changed (DELT-09, CKPT-04), and a lock of a git that was killed.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::session::{ONE, released};

/// Two turns: one file is changed, one is made, the boxes are ticked.
fn turns() -> [Value; 2] {
    [
        json!({"write": {"known.txt": "changed"}, "tick": ["T001"], "say": "<promise>CONTINUE</promise>"}),
        json!({"write": {"src/new.txt": "new"}, "tick": ["T002"], "say": "<promise>TASK_COMPLETE</promise>"}),
    ]
}

/// A project with a past: a file that Git knows, one that nobody committed.
fn project() -> TestEnv {
    let env = TestEnv::with_tasks(2);
    env.write("known.txt", "before");
    env.git(&["add", "-A"]);
    let identity = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&identity[..], &["commit", "-qm", "known"]].concat());
    env.write("lies-there.txt", "before the run");
    env
}

fn summary(env: &TestEnv) -> String {
    let state = crate::delta::archived_state(env);
    let (_, summary) = state.split_once("## Completion Summary").unwrap();
    summary.trim().to_owned()
}

#[test]
fn the_summary_and_the_checkpoint_name_the_files_of_the_run() {
    let env = project();
    let (done, _) = env.run_script(&turns(), &["--preset", "delta"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let told = summary(&env);
    assert!(told.contains("- Files Modified: 3"), "{told}");
    assert!(told.contains("- Total Iterations: 2"), "{told}");
    let mut entries = std::fs::read_dir(env.path(".skillpack/history")).unwrap();
    let entry = entries.find_map(|e| Some(e.unwrap().path()).filter(|path| path.is_dir()));
    let text = std::fs::read_to_string(entry.unwrap().join("checkpoint.json")).unwrap();
    let checkpoint: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(checkpoint["files"]["created"], json!(["src/new.txt"]));
    assert_eq!(
        checkpoint["files"]["modified"],
        json!(["known.txt", "tasks.md"])
    );
}

#[test]
fn a_session_counts_the_same() {
    let env = project();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md --preset delta");
    env.write("known.txt", "changed");
    env.write("src/new.txt", "new");
    env.write("tasks.md", &env.read("tasks.md").replace("- [ ]", "- [x]"));
    let end = client.stops("<promise>TASK_COMPLETE</promise>");
    assert!(!released(&end).is_empty(), "{end}");
    let told = summary(&env);
    assert!(told.contains("- Files Modified: 3"), "{told}");
}

#[test]
fn a_lock_that_a_killed_git_left_is_told_and_stays() {
    let env = TestEnv::with_tasks(2);
    let leaves = json!({"write": {".git/index.lock": "", "a.txt": "1"}, "tick": ["T001"], "say": "<promise>CONTINUE</promise>"});
    let ends =
        json!({"write": {"b.txt": "1"}, "tick": ["T002"], "say": "<promise>COMPLETE</promise>"});
    let (done, _) = env.run_script(&[leaves, ends], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let log = env.read(".ralph/ralph.log");
    let told = log.lines().filter(|line| line.contains(".git/index.lock"));
    let told: Vec<&str> = told.collect();
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains("remove that file yourself"), "{told:?}");
    assert!(env.path(".git/index.lock").exists());
}
