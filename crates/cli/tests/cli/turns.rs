//! Turns that are shown, compared, undone, redone and restored (issue 18).

use std::fs;

use ralph_store::lock::{LockInfo, acquire};
use serde_json::{Value, json};

use crate::env::{Done, TestEnv, make_executable};
use crate::live::{shell_agent, wait_until};

fn ticking(id: &str, text: &str) -> Value {
    let files = json!({"src/lib.rs": text, format!("{id}.txt"): id});
    json!({"write": files, "tick": [id], "say": format!("I did {id}.")})
}

/// Three turns; the agent committed nothing.
fn worked() -> TestEnv {
    let env = TestEnv::with_tasks(3);
    let turns = [
        ticking("T001", "one\n"),
        ticking("T002", "two\n"),
        ticking("T003", "three\n"),
    ];
    let (done, _) = env.run_script(&turns, &["--verify", "echo checked"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    env
}

#[track_caller]
fn ok(done: &Done) -> &str {
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    &done.stdout
}

#[test]
fn a_turn_is_told_and_compared() {
    let env = worked();
    let shown = env.ralph(&["show", "2"]);
    let shown = ok(&shown);
    for part in [
        "turn 2 of run", "T002", "I did T002.", "A T002.txt", "M src/lib.rs",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let last = env.ralph(&["show"]);
    assert!(ok(&last).contains("echo checked"), "{}", last.stdout);
    let diff = env.ralph(&["diff", "2", "src"]);
    let diff = ok(&diff);
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    assert!(
        !diff.contains("T002.txt"),
        "only the paths that were named: {diff}"
    );
    let stat = env.ralph(&["diff", "0..3", "--stat"]);
    assert!(ok(&stat).contains("5 files changed"), "{}", stat.stdout);
    let listed = env.ralph(&["snapshots", "--json"]);
    let listed: Value = serde_json::from_str(ok(&listed)).unwrap();
    assert_eq!(listed["snapshots"].as_array().unwrap().len(), 4);
    for bad in [
        vec!["show", "9"],
        vec!["diff", "9"],
        vec!["diff", "--run", "x"],
    ] {
        assert_eq!(env.ralph(&bad).code, 1, "{bad:?}");
    }
}

#[test]
fn undo_asks_does_exactly_that_and_is_taken_back() {
    let env = worked();
    let work = env.snapshot();
    let planned = env.ralph(&["undo", "--dry-run"]);
    for part in ["D T003.txt", "M src/lib.rs", "M tasks.md"] {
        assert!(ok(&planned).contains(part), "{part}: {}", planned.stdout);
    }
    let asked = env.ralph(&["undo"]);
    assert_eq!(asked.code, 1, "nobody said yes: {}", asked.stdout);
    let agents = env
        .command(&["undo", "--yes"])
        .env("RALPH_RUN_ID", "x")
        .output();
    assert_eq!(Done::of(&agents.unwrap()).code, 1, "no agent may do it");
    let only_work = |files: Vec<(std::path::PathBuf, Vec<u8>)>| {
        let own = |path: &std::path::Path| path.starts_with(env.path(".ralph"));
        files
            .into_iter()
            .filter(|(path, _)| !own(path))
            .collect::<Vec<_>>()
    };
    assert_eq!(only_work(env.snapshot()), only_work(work.clone()));
    ok(&env.ralph(&["undo", "--yes"]));
    assert_eq!(env.read("src/lib.rs"), "two\n");
    assert!(!env.path("T003.txt").exists());
    let status = env.json(".ralph/status.json");
    assert_eq!(status["status"], "paused", "{status}");
    assert_eq!(status["tasks"]["completed"], 2, "{status}");
    ok(&env.ralph(&["redo", "--yes"]));
    assert_eq!(only_work(env.snapshot()), only_work(work));
    ok(&env.ralph(&["undo", "2", "--yes"]));
    assert_eq!(env.read("src/lib.rs"), "one\n");
    // The run goes on from there: its fourth turn is the next.
    let done = json!({"say": "This turn was before."});
    let again = [ticking("T002", "other\n"), ticking("T003", "last\n")];
    env.agent(&[&[done.clone(), done.clone(), done][..], &again].concat());
    ok(&env.ralph(&["resume", "--yes", "--quiet"]));
    assert_eq!(env.read("src/lib.rs"), "last\n");
    let last = env.ralph(&["diff", "4", "src"]);
    assert!(ok(&last).contains("-one\n+other\n"), "{}", last.stdout);
}

#[test]
fn what_somebody_changed_is_refused_and_restored_elsewhere() {
    let env = worked();
    env.write("src/lib.rs", "mine\n");
    let refused = env.ralph(&["undo", "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("src/lib.rs"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("ralph restore 2 --to DIR"),
        "{}",
        refused.stderr
    );
    assert_eq!(env.read("src/lib.rs"), "mine\n");
    assert!(env.path("T003.txt").exists());
    let to = env.outside("before");
    let to = to.to_str().unwrap();
    ok(&env.ralph(&["restore", "2", "--to", to]));
    assert_eq!(
        fs::read_to_string(format!("{to}/src/lib.rs")).unwrap(),
        "two\n"
    );
    assert!(!fs::exists(format!("{to}/T003.txt")).unwrap());
    assert_eq!(
        env.ralph(&["restore", "2", "--to", to]).code,
        1,
        "not over something"
    );
}

#[test]
fn a_living_run_is_not_undone() {
    let env = worked();
    let run = env.layout().latest_run().unwrap().unwrap();
    let info = LockInfo {
        pid: std::process::id(),
        started_at: "2026-01-01T00:00:00Z".into(),
        run_id: run.id.to_string(),
        host: None,
    };
    let lock = acquire(&env.layout().lock(), &info).unwrap();
    for verb in [
        &["undo", "--yes"][..],
        &["redo", "--yes"],
        &["snapshots", "purge", "--yes"],
    ] {
        assert_eq!(env.ralph(verb).code, 1, "{verb:?}");
    }
    assert_eq!(env.read("src/lib.rs"), "three\n");
    drop(lock);
    ok(&env.ralph(&["snapshots", "purge", "--yes"]));
    let gone = env.ralph(&["undo", "--yes"]);
    assert_eq!(gone.code, 1, "{}", gone.stdout);
}

#[test]
fn nothing_that_the_repository_configures_is_run() {
    let env = worked();
    let program = format!("touch {}", env.path("pwned").display());
    for key in [
        "diff.external", "core.pager", "diff.x.textconv", "diff.x.command", "core.fsmonitor",
    ] {
        env.git(&["config", key, &program]);
    }
    env.write(".gitattributes", "* diff=x\n");
    for verb in [
        &["diff", "2"][..],
        &["diff", "--stat"],
        &["show"],
        &["undo", "--dry-run"],
    ] {
        ok(&env.ralph(verb));
    }
    assert!(!env.path("pwned").exists());
}

#[test]
fn a_turn_is_shown_in_the_difftool_of_the_person_alone() {
    let env = worked();
    let pwned = format!("touch {}", env.path("pwned").display());
    for (key, value) in [("diff.tool", "evil"), ("difftool.evil.cmd", &*pwned)] {
        env.git(&["config", key, value]);
    }
    let seen = env.outside("seen");
    let mine = |name: &str| {
        let cmd = format!("cat \\\"$REMOTE\\\" >> {}.{name}", seen.display());
        format!("[difftool \"{name}\"]\n\tcmd = \"{cmd}\"\n")
    };
    let config = format!("[diff]\n\ttool = one\n{}{}", mine("one"), mine("two"));
    fs::write(env.outside(".gitconfig"), config).unwrap();
    ok(&env.ralph(&["diff", "2", "--tool", "--", "src/lib.rs"]));
    ok(&env.ralph(&["diff", "2", "--tool=two", "--", "src/lib.rs"]));
    for name in ["one", "two"] {
        let seen = fs::read_to_string(seen.with_extension(name)).unwrap();
        assert_eq!(seen, "two\n", "{name}");
    }
    assert_eq!(env.ralph(&["diff", "--tool=evil"]).code, 1);
    assert!(!env.path("pwned").exists());
}

/// A submodule is a repository of its own: what happens in it is named, and
/// never touched.
#[test]
fn submodules_stay_as_they_are() {
    let of = TestEnv::with_tasks(1);
    let env = TestEnv::with_tasks(1);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    let from = of.root.to_str().unwrap();
    let local = ["-c", "protocol.file.allow=always"];
    env.git(&[&local[..], &["submodule", "add", "-q", from, "sub"]].concat());
    env.git(&[&name[..], &["commit", "-q", "-m", "Sub"]].concat());
    let agent = shell_agent(
        &env,
        "echo new > a.txt; echo changed > sub/tasks.md; echo more > sub/more
git -C sub -c user.name=A -c user.email=a@localhost commit -qam astray
sed -i 's/\\[ \\]/[x]/' tasks.md
echo '<promise>COMPLETE</promise>'
",
    );
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let before = |env: &TestEnv| {
        let refs = env.git(&["for-each-ref"]) + &env.git(&["ls-files", "-s"]);
        let sub = env.git(&["-C", "sub", "rev-parse", "HEAD"]);
        (refs, sub, env.read("sub/tasks.md"), env.read("sub/more"))
    };
    let was = before(&env);
    assert!(ok(&env.ralph(&["diff"])).contains("a.txt"));
    ok(&env.ralph(&["undo", "--yes"]));
    assert!(!env.path("a.txt").exists());
    assert!(env.read("tasks.md").contains("[ ]"));
    assert_eq!(before(&env), was);
    ok(&env.ralph(&["redo", "--yes"]));
    assert_eq!(env.read("a.txt"), "new\n");
    assert_eq!(before(&env), was);
    let elsewhere = env.outside("elsewhere");
    ok(&env.ralph(&["restore", "1", "--to", elsewhere.to_str().unwrap()]));
    assert!(elsewhere.join("a.txt").exists() && !elsewhere.join("sub/tasks.md").exists());
}

#[test]
fn without_a_repository_turns_are_undone_too() {
    let env = TestEnv::bare();
    env.write("tasks.md", "- [ ] T001 a\n");
    let turns = [json!({"write": {"a.txt": "a"}, "tick": ["T001"], "say": "done"})];
    let (done, _) = env.run_script(&turns, &["--max-iterations", "1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(ok(&env.ralph(&["diff"])).contains("a.txt"));
    ok(&env.ralph(&["undo", "--yes"]));
    assert!(!env.path("a.txt").exists());
    assert_eq!(env.read("tasks.md"), "- [ ] T001 a\n");
}

/// Without a commit, and bare: what belongs to Git stays as it is (18.7).
#[test]
fn an_unusual_repository_is_undone_too() {
    for kind in [&[][..], &["--bare"]] {
        let env = TestEnv::bare();
        env.git(&[&["init", "-q"][..], kind].concat());
        env.write("tasks.md", "- [ ] T001 a\n");
        env.write("mine.txt", "not in Git");
        let turns = [
            json!({"write": {"a.txt": "a", "mine.txt": "changed"}, "tick": ["T001"], "say": "done"}),
        ];
        let (done, _) = env.run_script(&turns, &["--max-iterations", "1"]);
        assert_eq!(done.code, 0, "{kind:?}: {}", done.stderr);
        assert!(ok(&env.ralph(&["diff"])).contains("a.txt"), "{kind:?}");
        let git = env.git(&["rev-parse", "--absolute-git-dir"]);
        let head = fs::read(std::path::Path::new(git.trim()).join("HEAD")).unwrap();
        ok(&env.ralph(&["undo", "--yes"]));
        assert!(!env.path("a.txt").exists(), "{kind:?}");
        assert_eq!(env.read("mine.txt"), "not in Git", "{kind:?}");
        let after = fs::read(std::path::Path::new(git.trim()).join("HEAD")).unwrap();
        assert_eq!(after, head, "{kind:?}");
    }
}

/// What comes, goes and can't be read while a turn runs (18.7): told by name,
/// never opened, never deleted.
#[test]
#[cfg(unix)]
fn what_is_no_file_is_told_and_stays() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(
        &env,
        "mkfifo pipe; ln -s /dev/zero device; touch gone; echo a > a.txt; sed -i 's/\\[ \\]/[x]/' tasks.md; (while :; do echo x > gone; rm -f gone; done) & busy=$!; sleep 0.3; kill $busy",
    );
    let args = ["run", "--agent-cmd", &agent, "--verify", "true"];
    let done = env.ralph(&args);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let told = format!("{}{}", done.stdout, done.stderr);
    assert!(told.contains("pipe"), "{told}");
    ok(&env.ralph(&["undo", "--yes"]));
    assert!(!env.path("a.txt").exists());
    assert!(env.path("device").symlink_metadata().is_err());
    assert!(env.path("pipe").symlink_metadata().is_ok(), "left alone");
}

#[test]
#[cfg(debug_assertions)]
fn a_store_that_can_t_be_written_stops_nothing() {
    for fault in [
        "objects.write#1+=ENOSPC",
        "objects.create-dir#1+=EROFS",
        "objects.sync#1+=EIO",
    ] {
        let env = TestEnv::with_tasks(2);
        let agent = env.agent(&[ticking("T001", "one\n"), ticking("T002", "two\n")]);
        let args = ["run", "--agent-cmd", &agent, "--verify", "true"];
        let run = env.command(&args).env("RALPH_FAULT", fault).output();
        let run = Done::of(&run.unwrap());
        assert_eq!(run.code, 0, "{fault}: {}", run.stderr);
        let told = format!("{}{}", run.stdout, run.stderr);
        let said = "turns can't be seen or undone";
        assert_eq!(told.matches(said).count(), 1, "{fault}: {told}");
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_run_that_died_in_a_snapshot_goes_on_and_is_undone() {
    for point in ["open", "write", "sync", "rename", "sync-dir"] {
        let env = TestEnv::with_tasks(2);
        let agent = env.agent(&[ticking("T001", "one\n"), ticking("T002", "two\n")]);
        let args = ["run", "--quiet", "--agent-cmd", &agent, "--verify", "true"];
        // The first pass is that of the state before the run.
        let fault = format!("objects.{point}#3=kill");
        let killed = env
            .command(&args)
            .env("RALPH_FAULT", &fault)
            .output()
            .unwrap();
        assert_eq!(killed.status.code(), None, "{fault}");
        ok(&env.ralph(&["resume", "--yes", "--quiet"]));
        ok(&env.ralph(&["undo", "1", "--yes"]));
        assert!(!env.path("src/lib.rs").exists(), "{fault}");
        ok(&env.ralph(&["redo", "--yes"]));
        assert!(env.path("T001.txt").exists(), "{fault}");
    }
}

/// Three turns, each with a commit of the agent's.
fn committed() -> TestEnv {
    let env = TestEnv::with_tasks(3);
    let turn = |id: &str, text: &str| {
        let mut turn = ticking(id, text);
        turn["commit"] = json!(format!("Do {id}"));
        turn
    };
    let turns = [
        turn("T001", "one\n"),
        turn("T002", "two\n"),
        turn("T003", "three\n"),
    ];
    let (done, _) = env.run_script(&turns, &["--verify", "echo checked"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    env
}

#[test]
fn the_branch_goes_back_with_the_work_where_that_is_wanted() {
    let env = committed();
    let tip = env.git(&["rev-parse", "HEAD"]);
    let before = env.git(&["rev-parse", "HEAD~2"]);
    // A hook of the repository would run at either, if anything ran.
    for hook in ["reference-transaction", "post-index-change"] {
        env.write(
            &format!(".git/hooks/{hook}"),
            "#!/bin/sh\ntouch \"$HOME/ran\"\n",
        );
        make_executable(&env.path(&format!(".git/hooks/{hook}")));
    }
    let planned = env.ralph(&["undo", "2", "--commits", "--dry-run"]);
    assert!(
        ok(&planned).contains("refs/ralph/undone/"),
        "{}",
        planned.stdout
    );
    assert_eq!(
        env.ralph(&["undo", "2", "src", "--commits", "--yes"]).code,
        1
    );
    let undone = env.ralph(&["undo", "2", "--commits", "--yes"]);
    let said = ok(&undone).to_owned();
    assert!(!env.outside("ran").exists(), "a hook ran");
    fs::remove_dir_all(env.path(".git/hooks")).unwrap();
    assert_eq!(env.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), "main\n");
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        "",
        "index and work agree"
    );
    assert_eq!(env.read("src/lib.rs"), "one\n");
    let name = said.split_whitespace().last().unwrap();
    assert_eq!(env.git(&["rev-parse", name]), tip, "{said}");
    ok(&env.ralph(&["redo", "--yes"]));
    assert_eq!(env.git(&["rev-parse", "HEAD"]), tip);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.read("src/lib.rs"), "three\n");
}

#[test]
fn a_branch_that_somebody_moved_stays_there() {
    let env = committed();
    env.git(&["commit", "-q", "--allow-empty", "-m", "Mine"]);
    let tip = env.git(&["rev-parse", "HEAD"]);
    let refused = env.ralph(&["undo", "--commits", "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("main"), "{}", refused.stderr);
    assert_eq!(env.git(&["rev-parse", "HEAD"]), tip);
    assert_eq!(env.read("src/lib.rs"), "three\n", "nothing was touched");
    // Without the branch it goes, and a branch that is somebody else's too.
    env.git(&["checkout", "-q", "-b", "other"]);
    assert_eq!(env.ralph(&["undo", "--commits", "--yes"]).code, 1);
    ok(&env.ralph(&["undo", "--yes"]));
    assert_eq!(env.git(&["rev-parse", "HEAD"]), tip);
    assert_eq!(env.read("src/lib.rs"), "two\n");
}

#[test]
fn what_is_staged_is_not_lost_to_a_branch_that_goes_back() {
    let env = committed();
    env.write("mine.txt", "mine\n");
    env.git(&["add", "mine.txt"]);
    let refused = env.ralph(&["undo", "--commits", "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--commits"), "{}", refused.stderr);
    assert!(env.git(&["status", "--porcelain"]).contains("A  mine.txt"));
}

#[test]
fn an_undo_of_a_living_run_says_what_to_type() {
    let env = TestEnv::with_tasks(1);
    let wait = "touch ready; while [ ! -e go ]; do sleep 0.05; done\n";
    let agent = shell_agent(&env, wait);
    let args = [
        "run", "--quiet", "--agent-cmd", &agent, "--max-iterations", "1",
    ];
    let mut run = env.command(&args).spawn().unwrap();
    wait_until("the agent works", || env.path("ready").exists());
    let refused = env.ralph(&["undo", "--yes"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("`ralph pause`"),
        "{}",
        refused.stderr
    );
    env.write("go", "");
    run.wait().unwrap();
}
