//! The trees of lanes: whose they are, what they may take, and that none goes
//! with work that is nowhere else (issue 22).

use std::fs;
use std::process::Stdio;

use crate::env::{Done, TestEnv};
use crate::faulty::{Pass, check_all};
use crate::lanes::{Lanes, landed, list, text};
use crate::live::{Live, wait_until};

/// Does half of its task and waits, until it may go on.
const HALF: &str = r#"
if [ ! -e "$AGENTS/go" ]; then
  echo half > "$t.half"; touch "$AGENTS/$t.began"; sleep 60
fi
[ -f "$t.half" ] && echo "$t" >> "$AGENTS/went-on"
"#;

/// Two lanes in the middle of their work, and their run killed.
fn killed_half_way() -> (Lanes, String) {
    let lanes = Lanes::new(&list(2));
    for task in ["T001", "T002"] {
        lanes.on(task, HALF);
    }
    let agents = lanes.env.outside("agents");
    let mut run = Live::start(&lanes.env, "run", lanes.command(&["-j", "2"]));
    wait_until("both work", || {
        ["T001", "T002"].map(|t| agents.join(format!("{t}.began")).exists()) == [true; 2]
    });
    run.kill();
    let id = lanes.env.layout().latest_run().unwrap().unwrap().id;
    fs::write(agents.join("go"), "").unwrap();
    (lanes, id.to_string())
}

fn ralph(lanes: &Lanes, args: &[&str]) -> Done {
    let mut command = lanes.env.command(args);
    command.env("AGENTS", lanes.env.outside("agents"));
    Done::of(&command.output().unwrap())
}

#[test]
fn a_new_run_leaves_the_trees_of_the_one_before() {
    let (lanes, old) = killed_half_way();
    let cleaned = ralph(&lanes, &["lanes", "clean", "--yes"]);
    let stays = format!("has not landed: go on with `ralph resume {old}`");
    assert_eq!(
        text(&cleaned).matches(&stays).count(),
        2,
        "{}",
        text(&cleaned)
    );
    let mut new = lanes.env.command(&["run", "-j", "2", "--branch", "new"]);
    let agent = format!("sh {}", lanes.env.outside("agent.sh").display());
    new.args(["--agent-cmd", &agent, "--verify", "sh check.sh"])
        .env("AGENTS", lanes.env.outside("agents"));
    let new = Done::of(&new.output().unwrap());
    assert_eq!(new.code, 0, "{}", text(&new));
    assert!(
        text(&new).contains("lanes of earlier runs left "),
        "{}",
        text(&new)
    );
    let went_on = lanes.env.outside("agents").join("went-on");
    assert!(
        !went_on.exists(),
        "a new run begins with nothing of another"
    );
    let resumed = ralph(&lanes, &["resume", &old, "--yes", "--json"]);
    assert_eq!(resumed.code, 0, "{}", text(&resumed));
    assert_eq!(landed(&resumed.events()).len(), 2);
    let mut went_on: Vec<String> = fs::read_to_string(went_on)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    went_on.sort();
    assert_eq!(went_on, ["T001", "T002"], "each where it was");
    lanes.each_commit_is_green();
    let trees: serde_json::Value =
        serde_json::from_str(&ralph(&lanes, &["lanes", "--json"]).stdout).unwrap();
    assert_eq!(trees["trees"], serde_json::json!([]), "all has landed");
}

#[test]
fn what_did_not_land_goes_onto_a_branch_before_its_tree_goes() {
    let (lanes, old) = killed_half_way();
    let given_up = ralph(&lanes, &["cancel"]);
    assert_eq!(given_up.code, 0, "{}", text(&given_up));
    let cleaned = ralph(&lanes, &["lanes", "clean", "--yes"]);
    assert_eq!(cleaned.code, 0, "{}", text(&cleaned));
    for task in ["T001", "T002"] {
        let branch = format!("ralph/{old}-{task}");
        assert!(text(&cleaned).contains(&branch), "{}", text(&cleaned));
        let half = lanes.env.git(&["show", &format!("{branch}:{task}.half")]);
        assert_eq!(half.trim(), "half");
    }
    let shown = ralph(&lanes, &["lanes"]);
    assert!(!text(&shown).contains("ralph-trees"), "{}", text(&shown));
}

/// Fewer at once where the disk is small, none where it is too small for one.
#[test]
fn trees_take_no_more_than_they_may() {
    let lanes = Lanes::new(&list(3));
    let env = &lanes.env;
    env.write(".gitignore", ".ralph/\n.skillpack/\n*.local\n");
    env.write("large.bin", &"x".repeat(3_000_000));
    lanes.commit("large");
    env.write("some.local", "brought along");
    for task in ["T001", "T002", "T003"] {
        let alone = r#"mkdir "$AGENTS/alone" && sleep 0.3 && rmdir "$AGENTS/alone" || touch "$AGENTS/two"
grep -q 'brought along' some.local || exit 1"#;
        lanes.on(task, alone);
    }
    let run = |disk: &str| {
        let mut command = lanes.command(&["-j", "3"]);
        command
            .env("RALPH_LANES_DISK", disk)
            .env("RALPH_LANES_INCLUDE", "*.local");
        Done::of(&command.output().unwrap())
    };
    let none = run("4MB");
    assert_eq!(none.code, 1, "{}", text(&none));
    assert!(text(&none).contains("raise lanes.disk"), "{}", text(&none));
    assert_eq!(lanes.branch(), "", "nothing began");
    let one = run("9MB");
    assert_eq!(one.code, 0, "{}", text(&one));
    assert_eq!(landed(&one.events()).len(), 3);
    assert!(!env.outside("agents").join("two").exists());
}

/// What the program can't do itself it leaves as it is: pointers of large
/// files stay pointers, submodules stay where they stand, and a worktree of
/// Git is as good a place to begin as any.
#[test]
fn pointers_submodules_and_worktrees_come_through() {
    let lanes = Lanes::new(&list(2));
    let env = &lanes.env;
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    env.write(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    );
    env.write("model.bin", pointer);
    // A filter of the person's must not run for lanes.
    env.git(&["config", "filter.lfs.smudge", "touch smudged; cat"]);
    env.git(&["config", "filter.lfs.clean", "cat"]);
    let module = env.outside("module");
    let git = |args: &[&str]| env.git(&[&["-C", module.to_str().unwrap()], args].concat());
    fs::create_dir(&module).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["commit", "-q", "--allow-empty", "-m", "module"]);
    let url = module.to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    env.git(&[&add[..], &[url, "module"]].concat());
    lanes.commit("all of it");
    let link = env.git(&["ls-tree", "HEAD", "module"]);
    let tree = env.outside("tree");
    env.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        tree.to_str().unwrap(),
    ]);

    // The person's own Git has run it there.
    fs::remove_file(tree.join("smudged")).unwrap();
    let mut command = lanes.command(&["-j", "2"]);
    command.current_dir(&tree);
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&done.events()).len(), 2);
    assert_eq!(lanes.show("model.bin"), pointer);
    let branch = lanes.branch();
    assert_eq!(env.git(&["ls-tree", &branch, "module"]), link);
    assert!(!tree.join("smudged").exists());
    assert_eq!(env.git(&["status", "--porcelain"]), "", "nobody was here");
    lanes.each_commit_is_green();
}

fn small() -> Lanes {
    let lanes = Lanes::within(TestEnv::in_memory(), &list(2));
    lanes.env.git(&["config", "gc.auto", "0"]);
    lanes
}

fn faulty(lanes: &Lanes, fault: &str) -> Vec<Pass> {
    let trace = lanes.env.outside("trace");
    let mut command = lanes.command(&["-j", "2"]);
    command
        .env("RALPH_FAULT", fault)
        .env("RALPH_FAULT_TRACE", &trace)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().unwrap();
    Pass::read(&trace)
}

/// Kill -9 of the run at its calls of Git, its records and its processes, each
/// in turn: taken up, everything lands once, in order, and green.
#[test]
fn killed_anywhere_everything_lands_once() {
    let undisturbed = small();
    let trace = faulty(&undisturbed, "");
    assert_eq!(undisturbed.show("tasks.md").matches("- [x]").count(), 2);
    let points = [
        "engine.git", "engine.spawn", "engine.exit-noticed", "engine.reap", "journal.append.write",
        "journal.append.sync",
    ];
    let counts = |pass: &&Pass| points.contains(&pass.point.as_str()) && pass.is_tried();
    let kills: Vec<Pass> = trace.iter().filter(counts).cloned().collect();
    assert!(kills.len() > 20, "{kills:?}");
    check_all(
        &kills,
        |pass| pass.fault("kill"),
        |pass| {
            let lanes = small();
            faulty(&lanes, &pass.fault("kill"));
            for _ in 0..3 {
                let done = ralph(&lanes, &["resume", "--yes"]);
                let said = text(&done);
                let never = ["died before it began", "there is no such run"];
                if never.iter().any(|words| said.contains(words)) {
                    lanes.run(&["-j", "2"]);
                }
                if done.code == 0 || said.contains("is over (complete)") {
                    break;
                }
            }
            let branch = lanes.branch();
            if branch.is_empty() {
                return Err("there is no branch".into());
            }
            let ticks = lanes.show("tasks.md").matches("- [x]").count();
            let log = ["log", "--format=%s", &format!("main..{branch}")];
            let subjects = lanes.env.git(&log);
            let once = |n: u32| subjects.matches(&format!("T{n:03}")).count() == 1;
            match ticks == 2 && (1..=2).all(once) {
                true => {
                    lanes.each_commit_is_green();
                    Ok(())
                }
                false => Err(format!("{ticks} ticks, commits:\n{subjects}")),
            }
        },
    );
}

/// Each lane plays the roles of its task; the reviewer of one rejects once.
#[test]
fn roles_are_played_in_each_lane() {
    let lanes = Lanes::new(&list(2));
    let play = r#"
t=$RALPH_TASK_ID; prompt=$(cat)
case "$prompt" in
*"You are the REVIEWER"*)
  echo "$t reviewer" >> "$AGENTS/roles"
  if [ "$t" = T001 ] && mkdir "$AGENTS/rejected"; then
    echo 'The file is empty.'; echo 'VERDICT: REJECT'; exit 0
  fi
  echo 'VERDICT: APPROVE' ;;
*"You are the TESTER"*)
  echo "$t tester" >> "$AGENTS/roles"; echo 'RESULT: PASS' ;;
*)
  echo "$t developer" >> "$AGENTS/roles"
  echo "work on $t" >> "$t.txt"
  echo "test -f $t.txt" > "tests/$t.sh"
  echo done ;;
esac
"#;
    fs::write(lanes.env.outside("agent.sh"), play).unwrap();
    let (done, events) = lanes.run(&["-j", "2", "--roles"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&events).len(), 2);
    let roles = fs::read_to_string(lanes.env.outside("agents").join("roles")).unwrap();
    let of = |task: &str| {
        let lines = roles.lines().filter_map(|line| line.split_once(' '));
        let own = lines.filter(|(id, _)| *id == task).map(|(_, role)| role);
        own.collect::<Vec<_>>().join(" ")
    };
    let once = "developer reviewer tester";
    assert_eq!(of("T001"), format!("developer reviewer {once}"));
    assert_eq!(of("T002"), once);
    assert_eq!(lanes.show("tasks.md").matches("- [x]").count(), 2);
    lanes.each_commit_is_green();
}
