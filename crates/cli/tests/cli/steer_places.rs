//! A person steers a run from the page and from the monitor as from the
//! command line (issue 23, point 3): during a turn, while it waits, and after
//! it was killed. The verbs themselves are `steer.rs`'s.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::live::{Live, eventually, journal, latest_run, wait_until};
use crate::steer::{let_go, prompt, start, turn_begins, waiting};
use crate::terminal::Terminal;
use crate::web::Page;

/// Where a person sits who steers.
trait Place {
    fn env(&self) -> &TestEnv;
    fn steer(&self, line: &str);

    /// Steers, and waits until the journal has it.
    fn tells(&self, line: &str) {
        let before = steered(self.env()).len();
        self.steer(line);
        wait_until(line, || steered(self.env()).len() == before + 1);
    }
}

fn steered(env: &TestEnv) -> Vec<Value> {
    let mut records = journal(&latest_run(env));
    records.retain(|record| record["kind"] == "steered");
    records
}

struct Browser {
    env: TestEnv,
    page: Page,
}

impl Place for Browser {
    fn env(&self) -> &TestEnv {
        &self.env
    }

    fn steer(&self, line: &str) {
        let run = latest_run(&self.env);
        let run = run.file_name().unwrap().to_string_lossy();
        let told = self
            .page
            .post(&format!("/api/runs/{run}/steer"), &json!({ "line": line }));
        assert_eq!(told.status, 200, "{line}: {}", told.body);
    }
}

impl Place for Terminal {
    fn env(&self) -> &TestEnv {
        &self.env
    }

    fn steer(&self, line: &str) {
        self.tmux(&["send-keys", ":"]);
        eventually("the line is asked for", || {
            Some(self.tmux(&["capture-pane", "-p"])).filter(|screen| screen.contains("Steer"))
        });
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Enter"]);
    }
}

/// Four tasks and a run whose first turn waits to be let go.
fn working() -> (TestEnv, Live) {
    let env = TestEnv::with_tasks(4);
    let run = start(&env, &[]);
    (env, run)
}

fn every_verb_is_heard_during_a_turn(place: &dyn Place, run: Live) {
    let env = place.env();
    place.tells("keep no new dependencies");
    place.tells("hint mind the cache");
    place.tells("skip T002 T003");
    place.tells("unskip T003");
    place.tells("focus T004");
    place.tells("add Do thing 5");
    place.tells("edit T003 Do the third");
    place.tells("move T005 T001");
    let list = env.read("tasks.md");
    assert!(
        list.contains("- [ ] T001 Do thing 1\n- [ ] T005 Do thing 5\n"),
        "{list}"
    );
    assert!(list.contains("- [ ] T003 Do the third\n"), "{list}");
    let_go(env, 1, "T001");
    turn_begins(env, 2);
    place.tells("retry T001");
    for (turn, task) in [(2, "T004"), (3, "T001"), (4, "T005"), (5, "T003")] {
        turn_begins(env, turn);
        let_go(env, turn, task);
    }
    let done = run.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(prompt(env, 2).contains("mind the cache"));
    assert!(!prompt(env, 3).contains("mind the cache"));
    assert!(prompt(env, 3).contains("no new dependencies"));
    assert!(env.read("tasks.md").contains("- [ ] T002"));
}

#[test]
fn from_the_page_during_a_turn() {
    let (env, run) = working();
    let page = Page::serve(&env);
    every_verb_is_heard_during_a_turn(&Browser { env, page }, run);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn from_the_monitor_during_a_turn() {
    let (env, run) = working();
    let terminal = Terminal::start(env, &["monitor"]);
    every_verb_is_heard_during_a_turn(&terminal, run);
}

/// What is left is skipped, and the run ends instead of waiting for an hour.
fn it_is_heard_while_it_waits(place: &dyn Place, run: Live) {
    place.tells("hint for later");
    place.steer("skip T002");
    let done = run.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains(r#""skipped":["T002"]"#),
        "{}",
        done.stdout
    );
}

#[test]
fn from_the_page_while_it_waits() {
    let (env, run) = waiting();
    let page = Page::serve(&env);
    it_is_heard_while_it_waits(&Browser { env, page }, run);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn from_the_monitor_while_it_waits() {
    let (env, run) = waiting();
    let terminal = Terminal::start(env, &["monitor"]);
    it_is_heard_while_it_waits(&terminal, run);
}

fn it_is_kept_after_a_kill(place: &dyn Place, mut run: Live) {
    let env = place.env();
    run.kill();
    place.tells("hint for the next");
    place.tells("skip T002 T003");
    place.tells("focus T004");
    let resume = env.command(&["resume", "--yes", "--json"]);
    let resumed = Live::start(env, "resumed", resume);
    for (turn, task) in [(2, "T004"), (3, "T001")] {
        turn_begins(env, turn);
        let_go(env, turn, task);
    }
    let done = resumed.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(prompt(env, 2).contains("for the next"));
    assert!(
        done.stdout.contains(r#""skipped":["T002","T003"]"#),
        "{}",
        done.stdout
    );
}

#[test]
fn from_the_page_after_a_kill() {
    let (env, run) = working();
    let page = Page::serve(&env);
    it_is_kept_after_a_kill(&Browser { env, page }, run);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn from_the_monitor_after_a_kill() {
    let (env, run) = working();
    let terminal = Terminal::start(env, &["monitor"]);
    it_is_kept_after_a_kill(&terminal, run);
}

/// A run in lanes is steered from there, too.
#[test]
fn from_the_page_in_lanes() {
    let env = TestEnv::with_tasks(3);
    env.write(".gitignore", ".ralph/\n.skillpack/\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "Plan"]);
    let run = start(&env, &["-j", "1"]);
    let page = Page::serve(&env);
    let place = Browser { env, page };
    place.tells("skip T002");
    place.tells("focus T003");
    place.tells("keep no new dependencies");
    for (turn, task) in [(1, "T001"), (2, "T003")] {
        turn_begins(&place.env, turn);
        let_go(&place.env, turn, task);
    }
    let done = run.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains(r#""skipped":["T002"]"#),
        "{}",
        done.stdout
    );
}
