//! S-12: what is kept from the agent is kept from whatever it wrote, and what
//! it printed is for the person alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env::{Done, TestEnv};
use crate::live::latest_run;

const DONE: &str = "<promise>COMPLETE</promise>";
/// What writes down which of the variables it was given.
const TELLS: &str = "env | grep -c '^\\(DEPLOY_KEY\\|AWS_SECRET\\|RALPH_NOTIFY_WEBHOOK\\)='";

fn given(env: &TestEnv, args: &[&str]) -> Done {
    let mut command = env.command(args);
    command
        .env("DEPLOY_KEY", "s3cr3t")
        .env("AWS_SECRET", "s3cr3t")
        .env("RALPH_NOTIFY_WEBHOOK", "http://127.0.0.1:9/s3cr3t");
    Done::of(&command.output().unwrap())
}

#[test]
fn what_is_kept_from_the_agent_is_kept_from_every_check() {
    let env = TestEnv::with_tasks(1);
    let out = |name: &str| env.outside(name).display().to_string();
    let check = |name: &str| format!("{TELLS} >> {}; true", out(name));
    let toml = format!(
        "[agent]\nenv_exclude = [\"DEPLOY_KEY\", \"AWS_*\"]\n[verify]\ncommands = [{}]\n[e2e]\ncommand = {}\n[gate]\nsteps = [{}]\n",
        json!(check("verify")),
        json!(check("e2e")),
        json!(format!("test: {}", check("gate"))),
    );
    env.write(".ralph/config.toml", &toml);
    let agent = env.agent(&[json!({"tick": ["T001"], "write": {"a": "x"}, "say": DONE})]);
    let done = given(&env, &["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    given(&env, &["verify"]);
    given(&env, &["gate", "run"]);
    for name in ["verify", "e2e", "gate"] {
        let seen = fs::read_to_string(env.outside(name)).unwrap();
        assert!(seen.lines().all(|count| count == "0"), "{name}: {seen}");
    }
    // Without the setting they are there, but for Ralph's own secret.
    let toml = format!("[verify]\ncommands = [{}]\n", json!(check("open")));
    env.write(".ralph/config.toml", &toml);
    given(&env, &["verify"]);
    assert_eq!(fs::read_to_string(env.outside("open")).unwrap(), "2\n");
}

#[cfg(unix)]
fn modes(dir: &Path, found: &mut Vec<(PathBuf, u32)>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        found.push((path.clone(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            modes(&path, found);
        }
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_what_agents_and_checks_print() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        json!({"say": DONE}),
        json!({"tick": ["T001"], "write": {"a": "x"}, "say": DONE}),
    ];
    let (done, _) = env.run_script(&turns, &["--verify", "echo s3cr3t"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let run = latest_run(&env);
    let mut found = Vec::new();
    modes(run.parent().unwrap(), &mut found);
    modes(&env.path(".skillpack/history"), &mut found);
    assert!(
        found
            .iter()
            .any(|(path, _)| path.ends_with("turn-0002.out"))
    );
    assert!(
        found
            .iter()
            .any(|(path, _)| path.ends_with("turn-0002.verify"))
    );
    for (path, mode) in found {
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

/// A hint and a check may hold a token, and so may a task: none of it is
/// written where others look (XCUT-06).
#[test]
fn tokens_of_a_person_stand_in_no_log_state_or_prompt_xcut_06() {
    let token = |who: &str| format!("ghp_{}", who.repeat(36));
    let (hint, check, task) = (token("h"), token("c"), token("t"));
    let env = TestEnv::new();
    env.write("tasks.md", &format!("- [ ] Log in with {task}\n"));
    let check = format!("echo Bearer {check}; false");
    let hint = format!("use {hint}");
    let args = ["--hint", &hint, "--verify", &check, "--max-iterations", "2"];
    let (done, _) = env.run_script(&[json!({"write": {"a": "x"}, "say": "x"})], &args);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let run = latest_run(&env);
    let mut seen = vec![done.stdout];
    seen.extend([".ralph/status.json", ".ralph/ralph.log"].map(|name| env.read(name)));
    let current = env.path(".skillpack/current");
    for dir in [run.as_path(), current.as_path()] {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // What was asked for has to be known to go on with it.
            if path.is_file() && name != "journal.jsonl" && !name.ends_with(".out") {
                seen.push(fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    assert!(seen.iter().any(|text| text.contains("use [redacted]")));
    for text in &seen {
        assert!(!text.contains("ghp_"), "{text}");
    }
}
