//! Questions of an agent in a session: no hook waits for the answer.

use serde_json::{Value, json};

use super::env::{Done, TestEnv};
use super::session::{ONE, context, released, sent_on};

const ASKS: &str =
    "I can't know.\n\n<promise>QUESTION: Which database? | options: PostgreSQL; SQLite</promise>";

fn tick(env: &TestEnv, id: &str) {
    let (open, done) = (format!("- [ ] {id}"), format!("- [x] {id}"));
    env.write("tasks.md", &env.read("tasks.md").replace(&open, &done));
}

fn status(env: &TestEnv) -> (Value, Value) {
    let status = env.json(".ralph/status.json");
    (status["status"].clone(), status["reason"].clone())
}

fn is_asking(env: &TestEnv, answer: &Value) {
    let message = released(answer);
    for want in [
        "[1] Which database?", "2. SQLite", "ralph-answer 1", "ralph answer 1",
    ] {
        assert!(message.contains(want), "{want}: {message}");
    }
    assert_eq!(status(env), (json!("paused"), json!("question")));
}

#[test]
fn other_work_goes_on_and_then_the_agent_may_rest() {
    let env = TestEnv::with_tasks(2);
    env.without_experiments();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md");
    let parked = client.stops(ASKS);
    assert!(
        sent_on(&parked).contains("wait for a person's answer"),
        "{parked}"
    );
    let shown = parked["systemMessage"].as_str().unwrap();
    assert!(shown.contains("Which database?"), "{shown}");
    assert!(shown.contains("ralph answer 1"), "{shown}");

    tick(&env, "T002");
    is_asking(
        &env,
        &client.stops("Two is done.\n<promise>CONTINUE</promise>"),
    );
    assert_eq!(client.stops("Resting."), Value::Null);
    let waits = env.ralph(&["events", "--json", "--filter", "event=wait"]);
    assert_eq!(waits.events().len(), 1, "{}", waits.stdout);

    let on = client.says("/ralph-answer 1 2");
    let told = context(&on);
    assert!(told.contains("SQLite"), "{told}");
    tick(&env, "T001");
    let end = client.stops("All done.\n<promise>COMPLETE</promise>");
    assert!(released(&end).contains("2/2"), "{end}");
    assert_eq!(status(&env).0, "complete");
}

#[test]
fn an_answer_from_a_terminal_lets_the_session_go_on() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Set it up --completion-promise FIN");
    is_asking(&env, &client.stops(ASKS));
    // Nobody has answered: it asks again.
    let again = client.says("continue");
    assert!(sent_on(&again).contains("Which database?"), "{again}");

    let mut inside = env.command(&["answer", "PostgreSQL"]);
    inside.env("CLAUDE_CODE_SESSION_ID", ONE);
    let refused = Done::of(&inside.output().unwrap());
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("only a person"),
        "{}",
        refused.stderr
    );

    let answered = env.ralph(&["answer", "PostgreSQL"]);
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    assert!(answered.stdout.contains("continue"), "{}", answered.stdout);
    let on = client.stops("Anything new?");
    assert!(sent_on(&on).contains("PostgreSQL"), "{on}");
    assert_eq!(status(&env).0, "running");
}

#[test]
fn an_answer_during_a_turn_is_told_with_the_next() {
    let env = TestEnv::with_tasks(3);
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md");
    client.stops(ASKS);
    let which = client.says("/ralph-answer");
    assert!(sent_on(&which).contains("2. SQLite"), "{which}");
    let noted = client.says("ralph-answer PostgreSQL, of course");
    assert!(sent_on(&noted).contains("of course"), "{noted}");
    let none = client.says("/ralph-answer once more");
    assert!(sent_on(&none).contains("no question is open"), "{none}");
    tick(&env, "T002");
    let on = client.stops("Two.\n<promise>CONTINUE</promise>");
    assert!(sent_on(&on).contains("PostgreSQL, of course"), "{on}");
}

/// VALV-05: the numbers of the box at the limit are what can be typed here,
/// and a prompt alone is one piece of work.
#[test]
fn the_box_at_a_limit_is_answered_with_its_numbers_valv_05() {
    let at_the_limit = || {
        let env = TestEnv::new();
        let client = env.claude_session(ONE);
        client.says("/ralph-loop \"Do stuff\" --max-iterations 1");
        env.write("work.txt", "1");
        let end = client.stops("working <promise>CONTINUE</promise>");
        let told = released(&end).to_owned();
        for part in ["1/1", "Done: 0/1", "Not done: the whole work", "1 to 4"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        env
    };
    let env = at_the_limit();
    let client = env.claude_session(ONE);
    let narrower = client.says("2");
    assert!(sent_on(&narrower).contains("tasks skip"), "{narrower}");
    let more = client.says("1").to_string();
    assert!(more.contains("2 / 11"), "{more}");
    let env = at_the_limit();
    let saved = env.claude_session(ONE).says("3");
    assert!(sent_on(&saved).contains("saved"), "{saved}");
    assert_eq!(env.json(".ralph/status.json")["status"], "max_iterations");
    let env = at_the_limit();
    let left = env.claude_session(ONE).says("4");
    assert!(sent_on(&left).contains("Cancelled"), "{left}");
    assert_eq!(env.json(".ralph/status.json")["status"], "cancelled");
}
