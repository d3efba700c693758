//! Questions that don't block, and limits that are raised from another
//! terminal.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::env::{TestEnv, named};
use crate::live::{Live, eventually, shell_agent, wait_until};

fn ask(words: &str) -> Value {
    json!({"say": format!("<promise>QUESTION: {words}</promise>")})
}

fn tick(id: &str, say: &str) -> Value {
    json!({"write": {format!("{id}.txt"): "new"}, "tick": [id], "say": format!("<promise>{say}</promise>")})
}

fn prompt(env: &TestEnv, turn: u32) -> String {
    let run = crate::live::latest_run(env);
    std::fs::read_to_string(run.join(format!("turn-{turn:04}.prompt.md"))).unwrap()
}

#[test]
fn a_question_is_parked_and_answered_while_the_loop_goes_on() {
    let env = TestEnv::with_tasks(2);
    let agent = env.agent(&[
        ask("Which database? | options: PostgreSQL; SQLite | default: SQLite"),
        tick("T002", "CONTINUE"),
        tick("T001", "COMPLETE"),
    ]);
    let run = Live::start(
        &env,
        "run",
        env.command(&["run", "--json", "--agent-cmd", &agent]),
    );
    // The first task is parked, the second is done; then there is nothing to
    // do but to wait.
    wait_until("it waits for the answer", || {
        let done = env.ralph(&["events", "--json", "--filter", "event=wait"]);
        done.code == 0 && done.stdout.contains("\"answer\"")
    });
    let listed = env.ralph(&["answer"]);
    assert_eq!(listed.code, 0);
    assert!(
        listed.stdout.contains("[1] Which database?"),
        "{}",
        listed.stdout
    );
    assert!(
        listed.stdout.contains("T001 Do thing 1"),
        "{}",
        listed.stdout
    );
    assert!(listed.stdout.contains("2. SQLite"), "{}", listed.stdout);
    let status = env.ralph(&["status"]);
    assert!(
        status.stdout.contains("question 1: Which database?"),
        "{}",
        status.stdout
    );

    let answered = env.ralph(&["answer", "1", "1"]);
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    assert!(
        answered.stdout.contains("PostgreSQL"),
        "{}",
        answered.stdout
    );
    let done = run.finish();
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    let events = done.events();
    let starts: Vec<&Value> = named(&events, "iteration_start");
    let tasks: Vec<&str> = starts.iter().filter_map(|e| e["task"].as_str()).collect();
    assert_eq!(tasks, ["T001", "T002", "T001"]);
    assert_eq!(named(&events, "question_asked").len(), 1);
    assert_eq!(
        named(&events, "question_answered")[0]["answer"],
        "PostgreSQL"
    );
    assert!(
        prompt(&env, 2).contains("wait for a person's answer"),
        "{}",
        prompt(&env, 2)
    );
    assert!(
        prompt(&env, 3).contains("PostgreSQL"),
        "{}",
        prompt(&env, 3)
    );
}

/// U-02: prompt, events and screen name one task, and its phase.
#[test]
fn while_a_question_is_parked_prompt_and_screen_name_one_task_and_its_phase() {
    let list = "# Tasks\n\n## Phase 1: Begin\n\n- [x] T001 Begin\n\n\
        ## Phase 2: Ask\n\n- [ ] T002 Ask\n- [ ] T003 Use it | depends: T002\n\n\
        ## Phase 3: Go on\n\n- [ ] T004 Go on\n- [ ] T005 End\n";
    let turns = [ask("Which?"), tick("T004", "CONTINUE"), tick("T005", "X")];
    let env = TestEnv::new();
    env.write("tasks.md", list);
    let (_, events) = env.run_script(&turns, &["--max-iterations", "3"]);
    let starts: Vec<(&str, u64)> = named(&events, "iteration_start")
        .iter()
        .map(|e| (e["task"].as_str().unwrap(), e["phase"].as_u64().unwrap()))
        .collect();
    assert_eq!(starts, [("T002", 2), ("T004", 3), ("T005", 3)]);
    let prompt = prompt(&env, 2);
    assert!(prompt.contains("Work only on tasks of phase 3"), "{prompt}");
    assert!(!prompt.contains("phase 2"), "{prompt}");

    let env = TestEnv::new();
    env.write("tasks.md", list);
    let agent = env.agent(&turns);
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "3"]);
    let (_, third) = done.stdout.split_once("Current: ").unwrap();
    assert!(third.starts_with("T005"), "{}", done.stdout);
}

#[test]
fn the_default_is_taken_when_nobody_answers() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[questions]\ndeadline = \"1s\"\n");
    let turns = [
        ask("Which? | default: the blue one"),
        tick("T001", "COMPLETE"),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answered = named(&events, "question_answered");
    assert_eq!(answered[0]["answered_by"], "default");
    assert!(prompt(&env, 2).contains("Nobody answered in time"));
    assert!(prompt(&env, 2).contains("the blue one"));
}

#[test]
fn without_a_default_the_run_pauses_and_goes_on_with_the_answer() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[questions]\ndeadline = \"1s\"\n");
    let turns = [ask("Which?"), tick("T001", "COMPLETE")];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "question");
    let unclear = env.ralph(&["answer", "", ""]);
    assert_eq!(unclear.code, 1);
    let answered = env.ralph(&["answer", "the", "green", "one"]);
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    assert!(
        answered.stdout.contains("ralph resume"),
        "{}",
        answered.stdout
    );
    assert_eq!(env.ralph(&["answer", "again"]).code, 1);
    let resumed = env.ralph(&["resume", "--yes"]);
    assert_eq!(resumed.code, 0, "{}\n{}", resumed.stdout, resumed.stderr);
    assert!(prompt(&env, 2).contains("the green one"));
}

#[test]
fn an_agent_can_neither_answer_nor_extend() {
    let env = TestEnv::with_tasks(1);
    for args in [&["answer", "yes"][..], &["extend", "5"][..]] {
        env.run_script(&[json!({"say": "<promise>BLOCKED: enough</promise>"})], &[]);
        let mut command = env.command(args);
        command.env("RALPH_RUN_ID", "x");
        let done = crate::env::Done::of(&command.output().unwrap());
        assert_eq!(done.code, 1);
        assert!(done.stderr.contains("only a person"), "{}", done.stderr);
    }
}

const WORKER: &str = "\
here=$(dirname \"$0\")
touch \"$here/working\"
while [ ! -e \"$here/enough\" ]; do sleep 0.05; done
echo '<promise>CONTINUE</promise>'
";

#[test]
fn a_limit_is_raised_while_the_run_goes_on_and_garbage_is_not_heard() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, WORKER);
    let args = [
        "run", "--json", "--max-iterations", "1", "--agent-cmd", &agent,
    ];
    let run = Live::start(&env, "run", env.command(&args));
    wait_until("the agent works", || env.outside("working").exists());
    for garbage in [
        "no json",
        "{}",
        r#"{"run":"another","wish":{"extend":{"iterations":7,"duration_ms":0}}}"#,
        r#"{"run":"../..","wish":{"answer":{"question":1,"text":"x"}}}"#,
    ] {
        let mut socket = UnixStream::connect(env.layout().socket()).unwrap();
        socket.write_all(garbage.as_bytes()).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "", "{garbage}");
    }
    let told = env.ralph(&["extend", "2"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.contains("up to 3 iterations"),
        "{}",
        told.stdout
    );
    let unlimited = env.ralph(&["extend", "--time", "1h"]);
    assert_eq!(unlimited.code, 1, "{}", unlimited.stdout);
    std::fs::write(env.outside("enough"), "").unwrap();
    let done = run.finish();
    let events = done.events();
    assert_eq!(named(&events, "limit_extended")[0]["max_iterations"], 3);
    assert_eq!(events.last().unwrap()["iterations"], 3);
    let status = eventually("the status", || Some(env.json(".ralph/status.json")));
    assert_eq!(status["max_iterations"], 3);
    assert_eq!(env.ralph(&["extend"]).code, 1, "nothing runs");
}
