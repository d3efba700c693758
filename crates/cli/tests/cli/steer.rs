//! A person steers a run from another terminal (issue 23): during a turn, while
//! it waits, after it was killed, and never the agent itself.

use std::fs;

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};
use crate::live::{Live, latest_run, shell_agent, wait_until};

/// Each turn waits to be let go, and then ticks what its prompt is about.
const WORKER: &str = "\
here=$(dirname \"$0\")
n=$(cat \"$here/turns\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$here/turns\"
while [ ! -e \"$here/go-$n\" ]; do sleep 0.05; done
id=$(cat \"$here/tick-$n\" 2>/dev/null)
echo $n > \"work-$n.txt\"
[ -n \"$id\" ] && sed -i \"s/- \\[ \\] $id/- [x] $id/\" tasks.md
echo '<promise>CONTINUE</promise>'
";

pub fn start(env: &TestEnv, more: &[&str]) -> Live {
    let agent = shell_agent(env, WORKER);
    let args = [&["run", "--json", "--agent-cmd", &agent][..], more].concat();
    let run = Live::start(env, "run", env.command(&args));
    turn_begins(env, 1);
    run
}

pub fn turn_begins(env: &TestEnv, n: u32) {
    wait_until("the turn begins", || {
        fs::read_to_string(env.outside("turns")).is_ok_and(|t| t.trim() == n.to_string())
    });
}

/// Lets a turn end with this task done.
pub fn let_go(env: &TestEnv, turn: u32, tick: &str) {
    fs::write(env.outside(&format!("tick-{turn}")), tick).unwrap();
    fs::write(env.outside(&format!("go-{turn}")), "").unwrap();
}

pub fn prompt(env: &TestEnv, turn: u32) -> String {
    fs::read_to_string(latest_run(env).join(format!("turn-{turn:04}.prompt.md"))).unwrap()
}

fn ok(done: &Done) -> &str {
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    done.stdout.trim()
}

fn tasks_of(events: &[Value]) -> Vec<&str> {
    let starts = named(events, "iteration_start");
    starts.iter().filter_map(|e| e["task"].as_str()).collect()
}

#[test]
fn during_a_turn() {
    let env = TestEnv::with_tasks(4);
    let run = start(&env, &[]);
    let said = env.ralph(&["hint", "mind", "the cache"]);
    assert_eq!(ok(&said), "a word for the next turn: mind the cache");
    ok(&env.ralph(&["hint", "--keep", "no new dependencies"]));
    ok(&env.ralph(&["tasks", "skip", "T002"]));
    ok(&env.ralph(&["focus", "T004"]));
    ok(&env.ralph(&["tasks", "add", "Do thing 5", "--after", "T001"]));
    assert!(
        env.read("tasks.md")
            .contains("- [ ] T001 Do thing 1\n- [ ] T005 Do thing 5\n")
    );
    ok(&env.ralph(&["tasks", "edit", "T003", "Do the third"]));
    let list = env.ralph(&["tasks"]);
    let list = ok(&list);
    assert!(list.contains("T002 Do thing 2 (skipped)"), "{list}");
    let status = env.ralph(&["status"]);
    let shown = ok(&status);
    assert!(shown.contains("skipped by a person: T002"), "{shown}");
    assert!(shown.contains("T004 comes first"), "{shown}");
    assert!(
        shown.contains("hint 2 for every turn: no new dependencies"),
        "{shown}"
    );
    assert_eq!(
        env.json(".ralph/status.json")["skipped_tasks"],
        json!(["T002"])
    );
    for (turn, task) in [(1, "T001"), (2, "T004"), (3, "T005"), (4, "T003")] {
        turn_begins(&env, turn);
        let_go(&env, turn, task);
    }
    let done = run.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    let events = done.events();
    assert_eq!(tasks_of(&events), ["T001", "T004", "T005", "T003"]);
    let end = named(&events, "loop_end")[0];
    assert_eq!(end["skipped"], json!(["T002"]));
    assert_eq!(end["tasks"]["total"], 4);
    assert!(
        env.read("tasks.md").contains("- [ ] T002"),
        "it is not done"
    );
    assert!(prompt(&env, 2).contains("mind the cache"));
    assert!(prompt(&env, 2).contains("no new dependencies"));
    assert!(!prompt(&env, 3).contains("mind the cache"));
    assert!(prompt(&env, 3).contains("no new dependencies"));
    // The agent is not told that somebody took tasks away.
    assert!(named(&events, "tasks_removed").is_empty());
    assert_eq!(named(&events, "steered").len(), 6);
}

#[test]
fn each_has_its_inverse() {
    let env = TestEnv::with_tasks(2);
    let before = env.read("tasks.md");
    let run = start(&env, &[]);
    ok(&env.ralph(&["tasks", "add", "one more"]));
    ok(&env.ralph(&["tasks", "remove", "T003"]));
    ok(&env.ralph(&["tasks", "move", "T002"]));
    ok(&env.ralph(&["tasks", "move", "T002", "--after", "T001"]));
    ok(&env.ralph(&["tasks", "skip", "T001"]));
    ok(&env.ralph(&["tasks", "unskip", "T001"]));
    ok(&env.ralph(&["focus", "T002"]));
    ok(&env.ralph(&["focus", "--none"]));
    ok(&env.ralph(&["hint", "x"]));
    ok(&env.ralph(&["hint", "--drop", "1"]));
    assert_eq!(env.read("tasks.md"), before);
    assert_eq!(
        ok(&env.ralph(&["hint"])),
        "the agent is told nothing of yours"
    );
    let_go(&env, 1, "T001");
    turn_begins(&env, 2);
    assert!(!prompt(&env, 2).contains("follow it"));
    let_go(&env, 2, "T002");
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(tasks_of(&done.events()), ["T001", "T002"]);
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let env = TestEnv::with_tasks(2);
    let refused = |args: &[&str], want: &str| {
        let done = env.ralph(args);
        assert_eq!(done.code, 1, "{args:?}: {}", done.stdout);
        assert!(done.stderr.contains(want), "{args:?}: {}", done.stderr);
    };
    refused(&["hint", "x"], "no loop has run here yet");
    refused(&["tasks", "skip", "T001"], "no loop has run here yet");
    let run = start(&env, &[]);
    refused(&["hint", " "], "1 to 4,000");
    refused(&["hint", "--drop", "3"], "no hint 3");
    refused(&["retry", "T009"], "has no task T009");
    refused(&["focus", "T009"], "has no task T009");
    refused(&["tasks", "skip", "T001", "T002"], "nothing would be left");
    refused(&["tasks", "unskip", "T001"], "T001 is not skipped");
    refused(&["tasks", "remove", "T001"], "was not added in this run");
    refused(&["tasks", "add", "a | verify: true"], "was left as it is");
    refused(&["tasks", "edit", "T001"], "ralph tasks edit T003");
    assert_eq!(
        named(&env.ralph(&["events", "--json"]).events(), "steered").len(),
        0
    );
    let_go(&env, 1, "T001");
    turn_begins(&env, 2);
    let_go(&env, 2, "T002");
    run.finish();
    refused(&["hint", "x"], "is over");
}

/// A run with one of two tasks done, which waits for an hour.
pub fn waiting() -> (TestEnv, Live) {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", "[limits]\npause_between = \"1h\"\n");
    let run = start(&env, &[]);
    let_go(&env, 1, "T001");
    wait_until("it waits", || {
        let done = env.ralph(&["events", "--json", "--filter", "event=wait"]);
        done.stdout.contains("between")
    });
    (env, run)
}

/// While it waits the wish is taken at once: what is left is skipped, and the
/// run ends instead of waiting for an hour.
#[test]
fn while_it_waits() {
    let (env, run) = waiting();
    ok(&env.ralph(&["hint", "for later"]));
    ok(&env.ralph(&["tasks", "skip", "T002"]));
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        named(&done.events(), "loop_end")[0]["skipped"],
        json!(["T002"])
    );
}

#[test]
fn after_it_was_killed() {
    let env = TestEnv::with_tasks(3);
    let mut run = start(&env, &[]);
    run.kill();
    let said = env.ralph(&["hint", "for the next"]);
    assert!(
        ok(&said).ends_with("`ralph resume` goes on with it"),
        "{}",
        said.stdout
    );
    ok(&env.ralph(&["tasks", "skip", "T002"]));
    ok(&env.ralph(&[
        "tasks", "add", "Do thing 4", "--verify", "test -e work-4.txt",
    ]));
    ok(&env.ralph(&["focus", "T003"]));
    for n in 1..=4 {
        let _ = fs::remove_file(env.outside(&format!("go-{n}")));
    }
    let resumed = Live::start(&env, "resumed", env.command(&["resume", "--yes", "--json"]));
    for (turn, task) in [(2, "T003"), (3, "T001"), (4, "T004")] {
        turn_begins(&env, turn);
        if turn == 2 {
            assert!(prompt(&env, 2).contains("for the next"));
        }
        let_go(&env, turn, task);
    }
    let done = resumed.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    let events = done.events();
    assert_eq!(tasks_of(&events), ["T003", "T001", "T004"]);
    assert_eq!(named(&events, "loop_end")[0]["skipped"], json!(["T002"]));
}

/// What a person adds is in scope with the check that they gave it: a tick
/// without it is turned back.
#[test]
fn the_check_of_an_added_task_decides() {
    let env = TestEnv::with_tasks(1);
    let run = start(&env, &["--max-iterations", "3"]);
    let check = "test -e proof.txt";
    ok(&env.ralph(&["tasks", "add", "Prove it", "--verify", check]));
    let_go(&env, 1, "T001");
    turn_begins(&env, 2);
    let_go(&env, 2, "T002");
    turn_begins(&env, 3);
    assert!(env.read("tasks.md").contains("- [ ] T002 Prove it"));
    assert!(prompt(&env, 3).contains(check), "{}", prompt(&env, 3));
    env.write("proof.txt", "here");
    let_go(&env, 3, "T002");
    let done = run.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    let rejected = named(&done.events(), "tick_rejected").len();
    assert_eq!(rejected, 1, "{}", done.stdout);
}

/// A task that was done is open again, and the run takes it up.
#[test]
fn a_retry_opens_what_was_done() {
    let env = TestEnv::with_tasks(1);
    let run = start(&env, &[]);
    let_go(&env, 1, "T001");
    assert_eq!(run.finish().code, 0);
    ok(&env.ralph(&["retry", "T001"]));
    assert!(env.read("tasks.md").contains("- [ ] T001"));
    let resumed = Live::start(&env, "resumed", env.command(&["resume", "--yes", "--json"]));
    turn_begins(&env, 2);
    assert!(
        prompt(&env, 2).contains("worked on again"),
        "{}",
        prompt(&env, 2)
    );
    let_go(&env, 2, "T001");
    assert_eq!(resumed.finish().code, 0);
}

/// The agent that is looked after steers nothing, not even without variables.
#[test]
fn an_agent_steers_nothing() {
    let env = TestEnv::with_tasks(2);
    let ralph = crate::env::RALPH;
    let root = env.root.display();
    let agent = shell_agent(
        &env,
        &format!(
            "here=$(dirname \"$0\")\n\
            for verb in 'hint be kind' 'tasks skip T002' 'tasks add free' 'retry T001' 'focus T002'; do\n\
            env -u RALPH_RUN_ID {ralph} --root {root} $verb >> \"$here/said\" 2>&1; echo \"code $?\" >> \"$here/said\"\n\
            done\n\
            echo '<promise>CONTINUE</promise>'\n"
        ),
    );
    env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    let said = fs::read_to_string(env.outside("said")).unwrap();
    assert_eq!(said.matches("code 1").count(), 5, "{said}");
    assert_eq!(
        said.matches("only a person may do that").count(),
        5,
        "{said}"
    );
    assert!(!env.read("tasks.md").contains("free"));
}

/// Without a run the list is a file like any other.
#[test]
fn a_list_without_a_run_is_changed() {
    let env = TestEnv::with_tasks(2);
    let added = env.ralph(&["tasks", "add", "and this"]);
    assert_eq!(ok(&added), "tasks.md: T003 and this");
    ok(&env.ralph(&["tasks", "edit", "T003", "or that"]));
    ok(&env.ralph(&["tasks", "move", "T003"]));
    assert!(
        env.read("tasks.md")
            .contains("- [ ] T003 or that\n- [ ] T001")
    );
    ok(&env.ralph(&["tasks", "remove", "T003"]));
    assert!(!env.read("tasks.md").contains("T003"));
}

/// Whoever thinks of something while the last checks run is not told that all
/// is done (found by a law of lanes).
#[test]
fn while_all_is_proven() {
    let env = TestEnv::with_tasks(1);
    let place = env.outside("");
    let place = place.display();
    let check = format!(
        "touch {place}/checking; while [ ! -e {place}/checked ]; do sleep 0.05; done; true"
    );
    let run = start(&env, &["--verify", &check]);
    let_go(&env, 1, "T001");
    wait_until("it is proven", || env.outside("checking").exists());
    ok(&env.ralph(&["tasks", "add", "Do thing 2"]));
    fs::write(env.outside("checked"), "").unwrap();
    turn_begins(&env, 2);
    let_go(&env, 2, "T002");
    let done = run.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    let list = env.read("tasks.md");
    assert!(list.contains("- [x] T002 Do thing 2"), "{list}");
}

/// `ralph run --hint`: what a person knows before the first turn.
#[test]
fn a_hint_can_be_given_at_the_start() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        json!({"say": "<promise>CONTINUE</promise>"}),
        json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, _) = env.run_script(&turns, &["--hint", "use the v2 API", "--hint", "no mocks"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    for turn in ["turn-0001.prompt.md", "turn-0002.prompt.md"] {
        let run = latest_run(&env);
        let prompt = fs::read_to_string(run.join(turn)).unwrap();
        assert!(prompt.contains("use the v2 API"), "{prompt}");
        assert!(prompt.contains("no mocks"), "{prompt}");
    }
}
