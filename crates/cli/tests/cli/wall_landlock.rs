//! Where nobody may make namespaces, Landlock holds the files, and says that it
//! holds no more (issue 20, point 4).

use std::fs;
use std::process::Command;

use crate::env::{Done, TestEnv, make_executable};
use crate::live::shell_agent;

/// A bubblewrap that is refused, as on a machine that forbids namespaces.
fn refused(env: &TestEnv, args: &[&str]) -> Command {
    let bin = env.outside("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("bwrap");
    let says = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
    fs::write(&program, says).unwrap();
    make_executable(&program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [bin].into_iter().chain(std::env::split_paths(&path));
    let mut command = env.command(args);
    command
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("RALPH_SANDBOX_MODE", "strict");
    command
}

fn behind(env: &TestEnv, script: &str) -> Done {
    let mut command = refused(env, &["sandbox", "--", "sh", "-c", script]);
    Done::of(&command.env("REAL", env.outside("")).output().unwrap())
}

#[test]
#[cfg_attr(not(has_landlock), ignore = "needs Landlock and python3")]
fn a_run_goes_on_behind_landlock_and_says_what_that_holds() {
    let env = TestEnv::with_tasks(1);
    fs::write(env.outside("precious"), "mine").unwrap();
    let agent = shell_agent(
        &env,
        "cat $REAL/precious > seen 2>&1; echo x > $REAL/precious; echo hi > ~/own\n\
         sed -i 's/\\[ \\]/[x]/' tasks.md; git add -A; git commit -q -m Done 2> error\n",
    );
    let home = env.outside("");
    fs::write(
        home.join(".gitconfig"),
        "[user]\n\tname = Me\n\temail = me@localhost\n",
    )
    .unwrap();
    let mut command = refused(
        &env,
        &["run", "--agent-cmd", &agent, "--verify", "test -f seen"],
    );
    let done = Done::of(&command.env("REAL", &home).output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    for words in [
        "Landlock, which holds files only",
        "No permissions",
        "network: open",
    ] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    assert_eq!(fs::read_to_string(home.join("precious")).unwrap(), "mine");
    assert!(!env.read("seen").contains("mine"), "{}", env.read("seen"));
    assert!(!home.join("own").exists(), "its home is another one");
    assert_eq!(env.read("error"), "");
    assert!(
        env.git(&["log", "-1", "--format=%an %s"])
            .contains("Me Done")
    );
    let report = env.ralph(&["report"]);
    assert!(report.stdout.contains("Landlock"), "{}", report.stdout);
}

#[test]
#[cfg_attr(not(has_landlock), ignore = "needs Landlock and python3")]
fn files_outside_the_project_are_out_of_reach() {
    let env = TestEnv::with_tasks(1);
    for name in [".ssh/id_ed25519", ".aws/credentials", "secret"] {
        let path = env.outside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "s3cret").unwrap();
    }
    let tries = [
        "grep -q s3cret \"$REAL/secret\"",
        "grep -q s3cret \"$REAL/.ssh/id_ed25519\"",
        "cat ~/.ssh/id_ed25519",
        "cat ~/.aws/credentials",
        "ls \"$REAL/.local/state/ralph\"",
        "find \"$REAL/.local/state/ralph\" -name journal.jsonl | grep -q .",
        "echo x >> \"$REAL/secret\"",
        "rm \"$REAL/secret\"",
        "mv \"$REAL/secret\" .",
        "ln \"$REAL/secret\" linked && grep -q s3cret linked",
        "ln -s \"$REAL/secret\" link && grep -q s3cret link",
        "mkdir \"$REAL/new\"",
        "touch /usr/ralph-was-here",
        "touch /etc/ralph-was-here",
        "touch /var/ralph-was-here",
        "touch /ralph-was-here",
        "cat /proc/$PPID/environ | grep -q .",
        "chroot / true",
        "mount -t tmpfs none /mnt",
    ];
    let script: String = tries
        .iter()
        .map(|line| {
            format!(
                "if ( {line} ) >/dev/null 2>&1; then echo 'OPEN {}'; fi\n",
                line.replace('\'', "")
            )
        })
        .collect();
    let done = behind(
        &env,
        &format!("{script}echo tried; touch made && ls . && echo hi > $TMPDIR/x"),
    );
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(!done.stdout.contains("OPEN"), "{}", done.stdout);
    assert!(done.stdout.contains("tried") && env.path("made").exists());
    assert_eq!(fs::read_to_string(env.outside("secret")).unwrap(), "s3cret");
    // The children of those behind it are behind it too.
    let nested = behind(&env, "env -i setsid sh -c 'cat \"$0\"' \"$REAL/secret\"");
    assert!(!nested.stdout.contains("s3cret"), "{}", nested.stdout);
}

#[test]
#[cfg_attr(not(has_landlock), ignore = "needs Landlock and python3")]
fn the_hook_of_the_guard_tells_its_run_from_behind_it() {
    let env = TestEnv::with_tasks(1);
    let hook = r#"printf '{"session_id":"s","cwd":"%s","hook_event_name":"PreToolUse","tool_use_id":"t1","tool_name":"Bash","tool_input":{"command":"sudo ls"}}' "$PWD" | "$RALPH" hook --host claude pre-tool-use 2>/dev/null; echo "<promise>BLOCKED: enough</promise>""#;
    let agent = shell_agent(&env, hook);
    let mut command = refused(&env, &["run", "--json", "--agent-cmd", &agent]);
    let done = Done::of(&command.env("RALPH", crate::env::RALPH).output().unwrap());
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    let events = done.events();
    let blocks = crate::env::named(&events, "guard_block");
    assert_eq!(blocks.len(), 1, "{}", done.stdout);
    assert_eq!(blocks[0]["rule"], "privilege.escalate");
}
