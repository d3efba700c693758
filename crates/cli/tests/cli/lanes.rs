//! Several tasks at once: what lands is right, green and complete, whatever
//! the agents, the processes and the person do meanwhile (issue 22).

use std::fs;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::env::{Done, TestEnv, named};
use crate::live::{Live, wait_until};

/// Does its task: a file, and a test that is red without it. What a task needs
/// beyond that is in a script of its own.
const AGENT: &str = r#"
t=$RALPH_TASK_ID
cat > "$AGENTS/$t.prompt"
if [ -f "$AGENTS/$t.sh" ]; then . "$AGENTS/$t.sh"; fi
if [ -z "$LAZY" ]; then
  echo "work on $t" > "$t.txt"
  mkdir -p tests && echo "test -f $t.txt" > "tests/$t.sh"
fi
sed -i "s/- \[ \] $t/- [x] $t/" "$RALPH_TASKS_FILE"
echo '<promise>DONE</promise>'
"#;

const CHECK: &str = r#"for t in tests/*.sh; do sh "$t" || exit 1; done"#;

pub struct Lanes {
    pub env: TestEnv,
}

impl Lanes {
    pub fn new(tasks: &str) -> Lanes {
        Lanes::within(TestEnv::new(), tasks)
    }

    pub fn within(env: TestEnv, tasks: &str) -> Lanes {
        env.write("tasks.md", tasks);
        env.write("check.sh", CHECK);
        env.write("tests/base.sh", "exit 0\n");
        env.write(".gitignore", ".ralph/\n.skillpack/\n");
        fs::create_dir_all(env.outside("agents")).unwrap();
        fs::write(env.outside("agent.sh"), AGENT).unwrap();
        let lanes = Lanes { env };
        lanes.commit("start");
        lanes
    }

    pub fn commit(&self, message: &str) {
        self.env.git(&["add", "-A"]);
        self.env.git(&["commit", "-qm", message]);
    }

    /// What the agent does beside the usual on one task.
    pub fn on(&self, task: &str, script: &str) {
        let path = self.env.outside("agents").join(format!("{task}.sh"));
        fs::write(path, script).unwrap();
    }

    pub fn command(&self, more: &[&str]) -> Command {
        let agent = format!("sh {}", self.env.outside("agent.sh").display());
        let args = [
            "run", "--json", "--agent-cmd", &agent, "--verify", "sh check.sh",
        ];
        let mut command = self.env.command(&[&args, more].concat());
        command.env("AGENTS", self.env.outside("agents"));
        command
    }

    pub fn run(&self, more: &[&str]) -> (Done, Vec<Value>) {
        let done = Done::of(&self.command(more).output().unwrap());
        let events = done.events();
        (done, events)
    }

    /// The branch that the last run landed on.
    pub fn branch(&self) -> String {
        let names = self.env.git(&[
            "for-each-ref",
            "--format=%(refname:short)",
            "refs/heads/ralph",
        ]);
        names.lines().next().unwrap_or_default().to_owned()
    }

    pub fn show(&self, name: &str) -> String {
        self.env
            .git(&["show", &format!("{}:{name}", self.branch())])
    }

    /// Every commit of the branch passes the check by itself.
    pub fn each_commit_is_green(&self) {
        let commits = self
            .env
            .git(&["rev-list", &format!("main..{}", self.branch())]);
        for commit in commits.lines() {
            let place = tempfile::tempdir().unwrap();
            let tar = Command::new("git")
                .args(["archive", commit])
                .current_dir(self.env.path(""))
                .output()
                .unwrap();
            let archive = place.path().join("tree.tar");
            fs::write(&archive, tar.stdout).unwrap();
            let unpacked = Command::new("tar")
                .args(["xf", "tree.tar"])
                .current_dir(place.path())
                .status();
            assert!(unpacked.unwrap().success());
            let green = Command::new("sh")
                .arg("check.sh")
                .current_dir(place.path())
                .status();
            assert!(green.unwrap().success(), "{commit} is red");
        }
    }
}

pub fn text(done: &Done) -> String {
    format!("{}{}", done.stdout, done.stderr)
}

pub fn list(count: usize) -> String {
    (1..=count)
        .map(|n| format!("- [ ] T{n:03} make file {n}\n"))
        .collect()
}

pub fn landed(events: &[Value]) -> Vec<String> {
    let landed = named(events, "lane_landed");
    let id = |event: &&Value| event["task"].as_str().unwrap().to_owned();
    let mut ids: Vec<String> = landed.iter().map(id).collect();
    ids.sort();
    ids
}

#[test]
fn a_list_is_worked_off_by_several_and_the_person_is_left_alone() {
    let lanes = Lanes::new(&list(6));
    lanes.env.write("note.txt", "not committed");
    let before = (
        lanes.env.git(&["rev-parse", "HEAD"]),
        lanes.env.git(&["status", "--short"]),
    );
    let (done, events) = lanes.run(&["-j", "3"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&events).len(), 6);
    let tasks = lanes.show("tasks.md");
    assert_eq!(tasks.matches("- [x]").count(), 6, "{tasks}");
    for n in 1..=6 {
        assert!(lanes.show(&format!("T{n:03}.txt")).contains("work"));
    }
    lanes.each_commit_is_green();
    let after = (
        lanes.env.git(&["rev-parse", "HEAD"]),
        lanes.env.git(&["status", "--short"]),
    );
    assert_eq!(before, after);
    assert_eq!(lanes.env.read("tasks.md").matches("- [ ]").count(), 6);
    // Nothing is left of the trees.
    let listed = lanes.env.ralph(&["lanes", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["trees"], Value::Array(Vec::new()), "{listed}");
    assert_eq!(listed["landed"].as_object().unwrap().len(), 6);
    // The report tells where the work is, and the one in the history too.
    let branch = lanes.branch();
    let report = lanes.env.ralph(&["report", "--md"]).stdout;
    let id = branch.trim_start_matches("ralph/");
    let archive = lanes.env.ralph(&["history", "show", id]).stdout;
    let archive = archive.lines().next().unwrap();
    let archived = lanes.env.read(&format!("{archive}/report.md"));
    for report in [report, archived] {
        assert!(report.contains(&branch), "{report}");
        assert!(report.contains("T006"), "{report}");
        assert!(report.contains("Calls of agents in lanes: "), "{report}");
    }
    let report = lanes.env.ralph(&["report", "--json"]).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["git"]["commits"], 6, "{report}");
}

#[test]
fn the_persons_branch_takes_the_result_in_where_that_is_wanted() {
    let lanes = Lanes::new(&list(2));
    // Written and not committed, as lists are.
    lanes.env.write("tasks.md", &list(3));
    let (done, _) = lanes.run(&["-j", "2", "--land"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(lanes.env.read("tasks.md").matches("- [x]").count(), 3);
    assert!(lanes.env.path("T003.txt").exists());
    assert_eq!(lanes.env.git(&["status", "--short"]), "");
    assert_eq!(
        lanes.env.git(&["symbolic-ref", "--short", "HEAD"]).trim(),
        "main"
    );
}

/// U-05: what will keep `--land` from its work is told before hours of it.
#[test]
fn what_is_in_the_way_of_the_result_is_told_at_the_start() {
    let lanes = Lanes::new(&list(1));
    lanes.env.write("notes.txt", "mine");
    let agent = format!("sh {}", lanes.env.outside("agent.sh").display());
    let args = [
        "run", "--agent-cmd", &agent, "--verify", "sh check.sh", "-j", "2", "--land",
    ];
    let mut command = lanes.env.command(&args);
    command.env("AGENTS", lanes.env.outside("agents"));
    let said = text(&Done::of(&command.output().unwrap()));
    let warned = said.find("--land will leave your branch alone");
    let left = said.find("your branch was left alone");
    assert!(warned.is_some() && warned < left, "{said}");
}

#[test]
fn a_branch_with_other_commits_is_left_alone_and_that_is_said() {
    let lanes = Lanes::new(&list(1));
    let path = lanes.env.path("").display().to_string();
    let commits = format!(
        "git -C '{path}' -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine || exit 1"
    );
    lanes.on("T001", &commits);
    let agent = format!("sh {}", lanes.env.outside("agent.sh").display());
    let args = [
        "run", "--quiet", "--agent-cmd", &agent, "--verify", "sh check.sh", "-j", "2", "--land",
    ];
    let done = {
        let mut command = lanes.env.command(&args);
        command.env("AGENTS", lanes.env.outside("agents"));
        Done::of(&command.output().unwrap())
    };
    assert_eq!(done.code, 0, "{}", text(&done));
    assert!(
        text(&done).contains("your branch was left alone"),
        "{}",
        text(&done)
    );
    assert!(
        lanes
            .env
            .git(&["log", "-1", "--format=%s"])
            .contains("mine")
    );
    assert!(!lanes.env.path("T001.txt").exists());
    assert!(lanes.show("T001.txt").contains("work"));
}

#[test]
fn what_is_green_alone_and_red_together_goes_back_to_its_owner() {
    let lanes = Lanes::new(&list(2));
    // Both at once are one too many, unless somebody makes room.
    lanes
        .env
        .write("tests/base.sh", "test ! -f a -o ! -f b -o -f room\n");
    lanes.commit("room for one");
    lanes.on("T001", "touch a; sleep 1; [ -f b ] && touch room");
    lanes.on("T002", "touch b; sleep 1; [ -f a ] && touch room");
    let (done, events) = lanes.run(&["-j", "2"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(named(&events, "lane_returned").len(), 1);
    assert_eq!(landed(&events), ["T001", "T002"]);
    assert!(lanes.show("room").is_empty());
    lanes.each_commit_is_green();
}

#[test]
fn a_conflict_is_solved_by_its_owner() {
    let lanes = Lanes::new(&list(2));
    let solve = |own: &str| {
        format!(
            "if grep -q '<<<' log 2>/dev/null; then grep -v '[<=>][<=>][<=>]' log > l && mv l log; else sleep 1; echo {own} > log; fi"
        )
    };
    lanes.on("T001", &solve("one"));
    lanes.on("T002", &solve("two"));
    let (done, events) = lanes.run(&["-j", "2"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(named(&events, "lane_returned").len(), 1);
    let log = lanes.show("log");
    assert!(
        log.contains("one") && log.contains("two") && !log.contains("<<<"),
        "{log}"
    );
}

#[test]
fn what_nobody_solves_is_left_and_told_and_the_rest_lands() {
    let lanes = Lanes::new(&list(3));
    // Neither looks at what others did, whoever comes second.
    lanes.on(
        "T001",
        "sleep 1; grep -q '<<<' log 2>/dev/null || echo one > log",
    );
    lanes
        .env
        .write("tests/base.sh", "test ! -f log || ! grep -q '<<<' log\n");
    lanes.commit("no marks");
    lanes.on(
        "T002",
        "sleep 1; grep -q '<<<' log 2>/dev/null || echo two > log",
    );
    lanes.on("T003", "sleep 1");
    let (done, events) = lanes.run(&["-j", "3", "--max-iterations", "40"]);
    assert_eq!(done.code, 4, "{}", text(&done));
    let parked = named(&events, "lane_parked");
    assert_eq!(parked.len(), 1, "{parked:?}");
    assert_eq!(landed(&events).len(), 2);
    lanes.each_commit_is_green();
}

#[test]
fn a_lane_that_lies_breaks_its_tree_or_goes_astray_harms_nobody() {
    let lanes = Lanes::new(&list(5));
    lanes.on("T001", "LAZY=yes");
    lanes.on("T002", "git checkout -q -b elsewhere; git commit -q --allow-empty -m astray; git branch -f main HEAD");
    lanes.on("T003", "rm -rf .git");
    lanes.on("T004", "rm -rf ./*; exit 1");
    let before = lanes.env.git(&["for-each-ref"]);
    let mut command = lanes.command(&["-j", "3", "--max-iterations", "60"]);
    command.env("RALPH_EVIDENCE_LEVEL", "proven");
    let done = Done::of(&command.output().unwrap());
    let events = done.events();
    assert_eq!(done.code, 4, "{}", text(&done));
    assert_eq!(landed(&events), ["T002", "T003", "T005"]);
    let refs = lanes
        .env
        .git(&["for-each-ref", "refs/heads/main", "refs/heads/elsewhere"]);
    assert!(before.contains(refs.trim()), "{refs}");
    lanes.each_commit_is_green();
    // Their trees stay, and are cleared when a person wants it.
    let clean = lanes.env.ralph(&["lanes", "clean", "--yes"]);
    assert_eq!(clean.code, 0, "{}", text(&clean));
}

#[test]
fn what_depends_waits_and_a_list_that_git_ignores_is_ticked_where_it_lies() {
    let tasks = "- [ ] T001 first\n- [ ] T002 second | depends: T001\n- [ ] T003 third\n";
    let lanes = Lanes::new(tasks);
    lanes.env.git(&["rm", "-q", "--cached", "tasks.md"]);
    lanes
        .env
        .write(".gitignore", ".ralph/\n.skillpack/\ntasks.md\n");
    lanes.commit("not the list");
    lanes.on("T002", "test -f T001.txt || exit 1");
    let (done, events) = lanes.run(&["-j", "3"]);
    assert_eq!(done.code, 0, "{}", text(&done));
    let order: Vec<&str> = named(&events, "lane_start")
        .iter()
        .map(|e| e["task"].as_str().unwrap())
        .collect();
    assert_eq!(order.last(), Some(&"T002"));
    assert_eq!(lanes.env.read("tasks.md").matches("- [x]").count(), 3);
}

/// Kill -9 in the middle, again and again: nothing is lost, nothing lands
/// twice, and nobody is left.
#[test]
fn a_run_with_lanes_that_is_killed_goes_on() {
    let lanes = Lanes::new(&list(5));
    for n in 1..=5 {
        lanes.on(&format!("T{n:03}"), "sleep 0.4");
    }
    for wait in [700, 1600, 2600] {
        let mut run = match wait {
            700 => lanes.command(&["-j", "2"]),
            _ => {
                let mut again = lanes.env.command(&["resume", "--yes", "--json"]);
                again.env("AGENTS", lanes.env.outside("agents"));
                again
            }
        };
        let mut child = run.stdout(std::process::Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(wait);
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    let mut last = lanes.env.command(&["resume", "--yes", "--json"]);
    let output: Output = last
        .env("AGENTS", lanes.env.outside("agents"))
        .output()
        .unwrap();
    let done = Done::of(&output);
    // It may have come to its end before the last kill.
    assert!(
        done.code == 0 || text(&done).contains("is over"),
        "{}",
        text(&done)
    );
    let tasks = lanes.show("tasks.md");
    assert_eq!(tasks.matches("- [x]").count(), 5, "{tasks}");
    let subjects = lanes
        .env
        .git(&["log", "--format=%s", &format!("main..{}", lanes.branch())]);
    for n in 1..=5 {
        let task = format!("T{n:03}");
        assert_eq!(subjects.matches(&task).count(), 1, "{subjects}");
    }
    lanes.each_commit_is_green();
}

#[test]
fn without_a_repository_or_a_list_it_says_what_to_do() {
    let env = TestEnv::new();
    env.write("tasks.md", &list(1));
    for (args, words) in [
        (
            &["run", "-j", "2", "--agent-cmd", "true"][..],
            "need a Git repository with a commit",
        ),
        (
            &["run", "-j", "2", "--agent-cmd", "true", "do it"],
            "can't be used together",
        ),
        (&["run", "-j", "0", "--agent-cmd", "true"], "0"),
    ] {
        let done = env.ralph(args);
        assert_eq!(done.code, 1, "{}", text(&done));
        assert!(text(&done).contains(words), "{}", text(&done));
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "start"]);
    let bad = env.ralph(&["run", "--branch", "a..b", "--agent-cmd", "true"]);
    assert!(
        text(&bad).contains("can't be the name of a branch"),
        "{}",
        text(&bad)
    );
}

#[test]
fn the_order_is_shown_as_text_json_and_picture() {
    let env = TestEnv::new();
    env.write("tasks.md", "# L\n\n## Phase 1: A\n\n- [ ] T001 [P] one & <two>\n- [ ] T002 [P] two\n- [ ] T003 three\n\n## Phase 2: B\n\n- [ ] T004 four | depends: T001\n");
    let json: Value =
        serde_json::from_str(&env.ralph(&["tasks", "graph", "--json"]).stdout).unwrap();
    let after = |n: usize| -> Vec<String> {
        let after = json["tasks"][n]["after"].as_array().unwrap().iter();
        after
            .map(|b| {
                format!(
                    "{} {}",
                    b["id"].as_str().unwrap(),
                    b["why"].as_str().unwrap()
                )
            })
            .collect()
    };
    assert_eq!(after(0), Vec::<String>::new());
    assert_eq!(after(1), Vec::<String>::new());
    assert_eq!(after(2), ["T001 order", "T002 order"]);
    assert_eq!(after(3), ["T001 depends", "T002 phase", "T003 phase"]);
    let svg = env.ralph(&["tasks", "graph", "--svg"]).stdout;
    assert!(
        svg.starts_with("<svg") && svg.contains("one &amp; &lt;two&gt;"),
        "{svg}"
    );
    let text = env.ralph(&["tasks", "graph"]).stdout;
    assert!(text.contains("one by one behind T001, T002"), "{text}");
}

/// Each lane behind a wall of its own, and the checks of what lands too.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap")]
fn lanes_and_landings_stand_behind_walls() {
    let lanes = Lanes::new(&list(3));
    let agent = format!("touch \"$HOME/escaped\"; git log -1 > \"$RALPH_TASK_ID.log\"\n{AGENT}");
    lanes.env.write("agent.sh", &agent);
    lanes.commit("the agent");
    let args = [
        "run", "--json", "--agent-cmd", "sh agent.sh", "--verify", "sh check.sh",
    ];
    let mut command = lanes.env.command(&[&args[..], &["-j", "3"]].concat());
    command.env("RALPH_SANDBOX_MODE", "strict");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&done.events()).len(), 3);
    assert!(!lanes.env.outside("escaped").exists());
    assert!(lanes.show("T002.log").contains("the agent"));
    lanes.each_commit_is_green();
}

/// What a tree needs beside what Git has: files that the person listed, a
/// command once for each, and ports of its own.
#[test]
fn each_tree_is_set_up_once_and_has_its_own_ports() {
    let lanes = Lanes::new(&list(4));
    let env = &lanes.env;
    env.write(".gitignore", ".ralph/\n.skillpack/\n.env.local\ndeps/\n");
    env.write(".worktreeinclude", ".env.local\nnot-there\n");
    lanes.commit("what is needed");
    env.write(".env.local", "KEY=value\n");
    env.write("deps/private", "not listed");
    let needs = "test \"$(cat .env.local)\" = KEY=value || exit 1
test -f deps/made || exit 1
test ! -e deps/private || exit 1
sleep 1; echo \"$RALPH_LANE $RALPH_PORT $RALPH_PORTS\" >> \"$AGENTS/ports\"";
    for task in ["T001", "T002", "T003", "T004"] {
        lanes.on(task, needs);
    }
    let setups = env.outside("setups");
    let setup = format!(
        "mkdir deps && touch deps/made && pwd >> {}",
        setups.display()
    );
    let mut command = lanes.command(&["-j", "2", "--max-iterations", "40"]);
    command
        .env("RALPH_LANES_SETUP", setup)
        .env("RALPH_LANES_PORTS", "10");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&done.events()).len(), 4);
    let setups = fs::read_to_string(setups).unwrap();
    let mut trees: Vec<&str> = setups.lines().collect();
    let count = trees.len();
    trees.sort_unstable();
    trees.dedup();
    assert_eq!(trees.len(), count, "{setups}");
    let ports = fs::read_to_string(env.outside("agents").join("ports")).unwrap();
    // Those who work at the same time share none.
    let mut firsts = Vec::new();
    for line in ports.lines().take(2) {
        let [_, first, all] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let first: u16 = first.parse().unwrap();
        assert_eq!(all, format!("{first}-{}", first + 9));
        firsts.push(first);
    }
    assert!(firsts.len() == 2 && firsts[0] != firsts[1], "{ports}");
    for name in [".env.local", "deps/made"] {
        let show = ["ls-tree", "--name-only", &lanes.branch(), name];
        assert_eq!(env.git(&show), "", "{name} is nobody's commit");
    }
}

/// One lane is steered by its number, and the others don't hear it.
#[test]
fn a_lane_is_steered_by_its_number() {
    let lanes = Lanes::new(&list(2));
    let waits = r#"touch "$AGENTS/$t.waits"
grep -q 'use the small one' "$AGENTS/$t.prompt" || [ "$t" = T002 -a -e "$AGENTS/heard" ] || {
  sleep 0.1; echo '<promise>CONTINUE</promise>'; exit 0
}
echo "$t" >> "$AGENTS/told"; touch "$AGENTS/heard""#;
    lanes.on("T001", waits);
    lanes.on("T002", waits);
    let agents = lanes.env.outside("agents");
    let mut command = lanes.command(&["-j", "2", "--max-iterations", "500"]);
    command.env("RALPH_LIMITS_STALLED", "0");
    let run = Live::start(&lanes.env, "run", command);
    wait_until("both work", || {
        agents.join("T001.waits").exists() && agents.join("T002.waits").exists()
    });
    let told = lanes
        .env
        .ralph(&["--lane", "1", "hint", "use the small one"]);
    assert_eq!(told.code, 0, "{}", text(&told));
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", text(&done));
    let told = fs::read_to_string(agents.join("told")).unwrap();
    assert!(told.starts_with("T001\n"), "{told}");
    let prompt = fs::read_to_string(agents.join("T002.prompt")).unwrap();
    assert!(!prompt.contains("use the small one"), "{prompt}");
    let nobody = lanes.env.ralph(&["--lane", "7", "status"]);
    assert_eq!(nobody.code, 1, "{}", text(&nobody));
    assert!(nobody.stderr.contains("no lane 7"), "{}", nobody.stderr);
}

/// Every verb of a person who steers all lanes at once (issue 23, point 3).
#[test]
fn all_lanes_are_steered_at_once() {
    let lanes = Lanes::new(&list(6));
    let waits = r#"touch "$AGENTS/$t.began"
while [ ! -e "$AGENTS/go" ]; do sleep 0.05; done"#;
    lanes.on("T001", waits);
    lanes.on("T002", waits);
    let agents = lanes.env.outside("agents");
    let run = Live::start(&lanes.env, "run", lanes.command(&["-j", "2"]));
    wait_until("both work", || {
        agents.join("T001.began").exists() && agents.join("T002.began").exists()
    });
    let steer = |words: &[&str]| lanes.env.ralph(words);
    for words in [
        &["hint", "--keep", "use the small one"][..],
        &["tasks", "skip", "T003", "T004"],
        &["tasks", "unskip", "T004"],
        &["focus", "T006"],
        &["tasks", "edit", "T005", "Do the fifth"],
        &["tasks", "move", "T004", "--after", "T005"],
        &["tasks", "add", "Do thing 7", "--verify", "test -f T007.txt"],
    ] {
        let done = steer(words);
        assert_eq!(done.code, 0, "{words:?}: {}", text(&done));
    }
    for (words, why) in [
        (&["tasks", "skip", "T001"][..], "lane 1 works on T001"),
        (&["tasks", "edit", "T002", "Else"], "lane 2 works on T002"),
        (&["hint", "--drop", "1"], "have heard it"),
        (&["tasks", "skip", "T099"], "T099"),
    ] {
        let done = steer(words);
        assert_eq!(done.code, 1, "{words:?}: {}", text(&done));
        assert!(done.stderr.contains(why), "{words:?}: {}", done.stderr);
    }
    fs::write(agents.join("go"), "").unwrap();
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", text(&done));
    let events = done.events();
    let began: Vec<&str> = named(&events, "lane_start")
        .iter()
        .filter_map(|event| event["task"].as_str())
        .collect();
    assert_eq!(began.get(2), Some(&"T006"), "{began:?}");
    assert!(!began.contains(&"T003"), "{began:?}");
    assert_eq!(landed(&events).len(), 6, "{began:?}");
    for task in ["T004", "T005", "T006", "T007"] {
        let prompt = fs::read_to_string(agents.join(format!("{task}.prompt"))).unwrap();
        assert!(prompt.contains("use the small one"), "{task}");
    }
    let shown = lanes.show("tasks.md");
    assert!(
        shown.contains("- [x] T005 Do the fifth\n- [x] T004"),
        "{shown}"
    );
    assert!(shown.contains("- [x] T007 Do thing 7"), "{shown}");
    assert!(shown.contains("- [ ] T003"), "{shown}");
    // The person's own list is theirs.
    assert_eq!(lanes.env.read("tasks.md"), list(6));
    lanes.each_commit_is_green();
}

/// What is said while nobody drives the lanes is heard when they go on.
#[test]
fn lanes_hear_what_was_said_after_a_kill() {
    let lanes = Lanes::new(&list(2));
    let waits = r#"touch "$AGENTS/$t.began"
while [ ! -e "$AGENTS/go" ]; do sleep 0.05; done"#;
    lanes.on("T001", waits);
    let agents = lanes.env.outside("agents");
    let mut run = Live::start(&lanes.env, "run", lanes.command(&["-j", "1"]));
    wait_until("it works", || agents.join("T001.began").exists());
    run.kill();
    let hint = lanes.env.ralph(&["hint", "--keep", "use the small one"]);
    assert_eq!(hint.code, 0, "{}", text(&hint));
    let list_change = lanes.env.ralph(&["tasks", "add", "Do thing 3"]);
    assert_eq!(list_change.code, 1, "{}", text(&list_change));
    let why = &list_change.stderr;
    assert!(why.contains("`ralph resume` first"), "{why}");
    fs::remove_file(agents.join("T001.began")).unwrap();
    let mut command = lanes.env.command(&["resume", "--yes", "--json"]);
    command.env("AGENTS", &agents);
    let resumed = Live::start(&lanes.env, "resumed", command);
    wait_until("it works again", || agents.join("T001.began").exists());
    fs::write(agents.join("go"), "").unwrap();
    let done = resumed.finish();
    assert_eq!(done.code, 0, "{}", text(&done));
    for task in ["T001", "T002"] {
        let prompt = fs::read_to_string(agents.join(format!("{task}.prompt"))).unwrap();
        assert!(prompt.contains("use the small one"), "{task}: {prompt}");
    }
}

/// A list that Git ignores is on no branch: it is changed where the person has
/// it, and lanes that begin later see it.
#[test]
fn an_ignored_list_is_changed_where_it_lies() {
    let lanes = Lanes::new("# Tasks\n");
    let env = &lanes.env;
    env.git(&["rm", "-q", "--cached", "tasks.md"]);
    env.write(".gitignore", ".ralph/\n.skillpack/\ntasks.md\n");
    lanes.commit("ignore the list");
    env.write("tasks.md", &list(1));
    let waits = r#"touch "$AGENTS/$t.began"
while [ ! -e "$AGENTS/go" ]; do sleep 0.05; done"#;
    lanes.on("T001", waits);
    let agents = env.outside("agents");
    let run = Live::start(env, "run", lanes.command(&["-j", "1"]));
    wait_until("it works", || agents.join("T001.began").exists());
    let added = env.ralph(&["tasks", "add", "Do thing 2"]);
    assert_eq!(added.code, 0, "{}", text(&added));
    fs::write(agents.join("go"), "").unwrap();
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", text(&done));
    assert_eq!(landed(&done.events()).len(), 2);
    let shown = env.read("tasks.md");
    assert!(shown.contains("- [x] T002 Do thing 2"), "{shown}");
}
