//! What an agent or a clone puts into a repository to have Ralph's own `git`
//! run it (S-08): every verb that asks Git, with the real binary.

use std::fs;
use std::path::PathBuf;

use ralph_testkit::github::World;
use serde_json::json;

use crate::env::{Done, TestEnv, make_executable};
use crate::hub::BRANCH;
use crate::p0;
use crate::session::ONE;

const DONE: &str = "<promise>COMPLETE</promise>";

/// A program that leaves a mark, and the mark.
fn evil(env: &TestEnv) -> (PathBuf, PathBuf) {
    let (program, mark) = (env.outside("evil"), env.outside("ran"));
    let text = format!("#!/bin/sh\ntouch {}\ncat\n", mark.display());
    fs::write(&program, text).unwrap();
    make_executable(&program);
    (program, mark)
}

/// Everything at once: monitor, filters, diff, hooks, transport.
fn plant(env: &TestEnv) -> PathBuf {
    let (program, mark) = evil(env);
    let config = "[core]\n\tfsmonitor = EVIL\n\tsshCommand = EVIL\n\tpager = EVIL\n\
                  [filter \"x\"]\n\tclean = EVIL\n\tsmudge = EVIL\n\
                  [diff]\n\texternal = EVIL\n[diff \"x\"]\n\ttextconv = EVIL\n\tcommand = EVIL\n\
                  [credential]\n\thelper = EVIL\n[gpg]\n\tprogram = EVIL\n[log]\n\tshowSignature = true\n\
                  [push]\n\tgpgSign = if-asked\n[remote \"origin\"]\n\treceivepack = EVIL\n";
    let config = config.replace("EVIL", &program.display().to_string());
    let path = env.path(".git/config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    env.write(".git/info/attributes", "* filter=x diff=x\n");
    for hook in ["pre-push", "reference-transaction", "post-index-change"] {
        env.write(&format!(".git/hooks/{hook}"), "");
        fs::copy(&program, env.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    mark
}

#[test]
fn no_verb_runs_what_is_planted_in_the_repository() {
    let env = TestEnv::with_tasks(1);
    let mark = plant(&env);
    let turns = [
        json!({"write": {"a.txt": "x\n"}, "say": DONE}),
        json!({"tick": ["T001"], "say": DONE}),
    ];
    let (done, _) = env.run_script(&turns, &["--preset", "delta"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!mark.exists(), "run");
    for args in [
        &["report"][..],
        &["report", "--html"],
        &["report", "--json"],
        &["status"],
        &["monitor", "--once"],
        &["gate", "check", "--phase", "p0"],
        &["doctor"],
        &["phase"],
        &["history"],
    ] {
        env.ralph(args);
        assert!(!mark.exists(), "{args:?}");
    }
}

/// A hook gets its variables from the client, and the client may have them
/// from settings that lie in the repository.
#[test]
fn no_hook_runs_what_is_planted_in_its_variables() {
    let env = TestEnv::with_tasks(1);
    let mark = plant(&env);
    let program = env.outside("evil").display().to_string();
    fs::create_dir(env.path("bin")).unwrap();
    fs::copy(&program, env.path("bin/git")).unwrap();
    fs::write(
        env.outside("evil.conf"),
        format!("[core]\n\tfsmonitor = {program}\n"),
    )
    .unwrap();
    let path = format!(
        "{}:{}",
        env.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let conf = env.outside("evil.conf").display().to_string();
    for n in 0..6 {
        env.write(&format!("f{n}.txt"), "x");
    }
    for (name, value) in [
        ("PATH", path.as_str()),
        ("GIT_CONFIG_GLOBAL", &conf),
        (
            "GIT_CONFIG_PARAMETERS",
            &format!("'core.fsmonitor'='{program}'"),
        ),
        ("GIT_EXTERNAL_DIFF", &program),
        ("GIT_DIR", &env.outside("nowhere").display().to_string()),
    ] {
        let _ = fs::remove_file(env.state("tracker"));
        let payload = json!({"session_id": ONE, "cwd": env.root, "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {"file_path": "f1.txt"}, "tool_response": {}});
        let input = env.outside("payload.json");
        fs::write(&input, payload.to_string()).unwrap();
        let mut command = env.command(&["hook", "post-tool-use"]);
        let output = command
            .env(name, value)
            .stdin(fs::File::open(input).unwrap())
            .output();
        let done = Done::of(&output.unwrap());
        assert!(!mark.exists(), "{name}");
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.contains("commit"), "{name}: {}", done.stdout);
    }
}

/// The last thing that the agent does is to plant it; the push is Ralph's.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn neither_a_push_nor_a_client_of_a_forge_runs_it() {
    let hub = p0::project(World::default());
    let parts = [p0::CODE, p0::AUDIT_PASS, p0::EVIDENCE, p0::GATE, p0::COMMIT];
    let mark = hub.env.outside("ran");
    let prepared = TestEnv::new();
    plant(&prepared);
    // The same lines, for this project's program and mark.
    let there = prepared.outside("evil").display().to_string();
    let here = hub.env.outside("evil").display().to_string();
    evil(&hub.env);
    let config = prepared.read(".git/config").replace(&there, &here);
    let planted = config.split("[core]").nth(2).unwrap();
    fs::write(hub.env.outside("planted"), format!("[core]{planted}")).unwrap();
    let work = parts.join("\n")
        + &format!(
            "\nfor h in pre-push reference-transaction; do cp {here} .git/hooks/$h; done\n\
             printf '* filter=x diff=x\\n' > .git/info/attributes\ncat {} >> .git/config",
            hub.env.outside("planted").display()
        );
    let args = ["--preset", "dev-p0", "Add the login", "--create-pr"];
    let (done, _) = hub.run(&[&work], &args);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(
        hub.pushed().as_deref(),
        Some(
            fs::read_to_string(hub.env.path(&format!(".git/refs/heads/{BRANCH}")))
                .unwrap()
                .trim()
        )
    );
    assert!(!mark.exists());
    assert!(hub.ralph(&["phase"]).code == 0);
    assert!(!mark.exists(), "phase");
}
