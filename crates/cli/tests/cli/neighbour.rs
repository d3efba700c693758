//! Another user of the machine (S-06): nothing of a run is theirs to read,
//! nothing that they put in the way is followed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::env::{Done, RALPH, TestEnv};
use crate::live::{Live, shell_agent, wait_until};

const NOBODY: u32 = 65_534;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A shell of theirs.
fn theirs(script: &str) -> Done {
    let output = Command::new("setpriv")
        .args([
            "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
        ])
        .arg(script)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output();
    Done::of(&output.unwrap())
}

/// A folder in which everybody may put something, as `/tmp` is.
fn shared(env: &TestEnv, name: &str) -> std::path::PathBuf {
    mode(&env.outside(""), 0o755);
    let dir = env.outside(name);
    fs::create_dir(&dir).unwrap();
    mode(&dir, 0o1777);
    dir
}

#[test]
#[cfg_attr(not(can_be_another_user), ignore = "needs root and setpriv")]
fn nothing_of_a_run_can_be_read_or_told() {
    let env = TestEnv::with_tasks(1);
    mode(&env.outside(""), 0o755);
    let agent = shell_agent(
        &env,
        "here=$(dirname \"$0\"); touch \"$here/working\"\n\
         while [ ! -e \"$here/enough\" ]; do sleep 0.05; done\n\
         echo '<promise>BLOCKED: enough</promise>'\n",
    );
    let run = Live::start(&env, "run", env.command(&["run", "--agent-cmd", &agent]));
    wait_until("the agent works", || env.outside("working").exists());
    let state = env.layout().state_dir().to_owned();
    let socket = env.layout().socket();
    let journal = env.layout().latest_run().unwrap().unwrap().journal();
    for path in [&state, &journal, &socket] {
        assert!(path.exists(), "{}", path.display());
        let path = path.display();
        for deed in ["ls", "cat", "touch", "rm -f", "ln -f /etc/hostname"] {
            let done = theirs(&format!("{deed} {path}/.; {deed} {path}"));
            assert!(done.stdout.is_empty(), "{deed} {path}: {}", done.stdout);
        }
        assert!(theirs(&format!("test -e {path}")).code != 0, "{path}");
    }
    // With all that it takes to find it, Ralph itself is of no help to them.
    let home = env.outside("");
    let ralph = format!("cd {}; HOME={} {RALPH}", env.root.display(), home.display());
    for verb in [
        "pause", "stop --now", "cancel", "extend 9", "answer 1 x", "resume --yes",
    ] {
        let done = theirs(&format!("{ralph} {verb}"));
        assert_ne!(done.code, 0, "{verb}: {}", done.stdout);
    }
    assert!(env.outside("working").exists());
    fs::write(env.outside("enough"), "").unwrap();
    assert_eq!(run.finish().code, 4);
    // What is left of it is the person's alone, too.
    let mut left = vec![state];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let found = entry.metadata().unwrap();
            assert_eq!(found.mode() & 0o077, 0, "{}", entry.path().display());
            if found.is_dir() {
                left.push(entry.path());
            }
        }
    }
}

#[test]
#[cfg_attr(not(can_be_another_user), ignore = "needs root and setpriv")]
fn what_they_put_above_a_project_is_not_taken() {
    let env = TestEnv::new();
    let above = shared(&env, "shared");
    let mark = env.outside("ran");
    let evil = format!("touch {}", mark.display());
    let done = theirs(&format!(
        "cd {} && mkdir -p .git/hooks .ralph .claude && echo 'ref: refs/heads/x' > .git/HEAD &&
         printf '[core]\\nfsmonitor = {evil}\\n' > .git/config &&
         printf '[verify]\\ncommands = [\"{evil}\"]\\n[guard]\\nenabled = false\\n' > .ralph/config.toml &&
         echo '- [ ] T001 Theirs' > tasks.md",
        above.display()
    ));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let own = above.join("mine");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("tasks.md"), "- [ ] T001 Mine\n").unwrap();
    let ralph = |args: &[&str]| {
        let mut command = env.untrusted(args);
        Done::of(&command.current_dir(&own).output().unwrap())
    };
    for args in [
        &["tasks"][..],
        &["verify"],
        &["doctor"],
        &["trust", "--list"],
        &["status"],
        &["phase"],
    ] {
        let done = ralph(args);
        assert!(!mark.exists(), "{args:?}");
        assert!(!done.stdout.contains("Theirs"), "{args:?}: {}", done.stdout);
    }
    let tasks = ralph(&["tasks"]);
    assert!(
        tasks.stdout.contains("Mine"),
        "{}{}",
        tasks.stdout,
        tasks.stderr
    );
    let payload = json!({"session_id": "s", "cwd": own, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    fs::write(env.outside("payload"), payload.to_string()).unwrap();
    let mut hook = env.untrusted(&["hook", "pre-tool-use"]);
    hook.current_dir(&own)
        .stdin(fs::File::open(env.outside("payload")).unwrap());
    let judged = Done::of(&hook.output().unwrap());
    assert_eq!(judged.code, 2, "{}", judged.stderr);
}

#[test]
#[cfg_attr(not(can_be_another_user), ignore = "needs root and setpriv")]
fn what_they_put_in_the_place_of_state_or_temporary_files_is_not_followed() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[json!({"say": "<promise>BLOCKED: x</promise>"})]);
    let victim = env.outside("victim");
    fs::write(&victim, "mine").unwrap();
    mode(&victim, 0o600);
    // A state folder of theirs, or a link of theirs to one.
    for plant in ["mkdir -p STATE/ralph/projects", "ln -s VICTIMS STATE/ralph"] {
        let state = shared(&env, "state");
        fs::create_dir_all(env.outside("victims")).unwrap();
        let plant = plant
            .replace("STATE", &state.display().to_string())
            .replace("VICTIMS", &env.outside("victims").display().to_string());
        assert_eq!(theirs(&plant).code, 0);
        let mut command = env.command(&["run", "--agent-cmd", &agent]);
        let done = Done::of(&command.env("XDG_STATE_HOME", &state).output().unwrap());
        assert_eq!(done.code, 1, "{plant}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains("ralph"), "{plant}: {}", done.stderr);
        assert_eq!(
            fs::read_dir(env.outside("victims")).unwrap().count(),
            0,
            "{plant}"
        );
        fs::remove_dir_all(state).unwrap();
    }
    // A folder for temporary files, full of links with the names of before.
    let tmp = shared(&env, "tmp");
    for name in ["ralph-doctor", "ralph-demo", "ralph-git", "ralph"] {
        symlink(&victim, tmp.join(name)).unwrap();
        for pid in 1..50 {
            let link = tmp.join(format!("{name}-{pid}"));
            symlink(&victim, &link).unwrap();
            let _ = chown(&link, Some(NOBODY), None);
        }
    }
    for args in [
        &["doctor"][..],
        &["run", "--agent-cmd", &agent],
        &["report"],
    ] {
        let mut command = env.command(args);
        command.env("TMPDIR", &tmp).output().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{args:?}");
    }
    let left = fs::read_dir(&tmp).unwrap().flatten();
    let left: Vec<_> = left
        .filter(|e| !e.path().is_symlink())
        .map(|e| e.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
