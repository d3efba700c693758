//! Every end names a command that exists and works in that situation (U-07,
//! VALV-06, VALV-11): here it is typed as it stands there.

use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Done, RALPH, TestEnv};
use crate::limits::{client, stream};

fn say(text: &str) -> Value {
    json!({ "say": text })
}

fn repeated(env: &TestEnv, turn: &Value) -> String {
    let agent = env.agent(std::slice::from_ref(turn));
    let script = json!({"turns": [turn], "repeat_last": true});
    std::fs::write(env.outside("script.json"), script.to_string()).unwrap();
    agent
}

/// The command of the last line, as it is to be copied.
fn next(shown: &str) -> String {
    let line = shown.lines().rev().find(|line| line.contains("Next: "));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    let command = line.split_once("Next: ").unwrap().1;
    command.split("  (").next().unwrap().to_owned()
}

/// Makes a command that of a person who has both `ralph` and the clients of
/// the test.
fn on_path(env: &TestEnv, mut command: Command) -> Command {
    let here = std::path::Path::new(RALPH).parent().unwrap();
    let (bin, path) = (env.outside("bin"), std::env::var("PATH").unwrap());
    let path = format!("{}:{}:{path}", here.display(), bin.display());
    command.env("PATH", path);
    command
}

/// Types a command; a person says yes to it.
fn typed(env: &TestEnv, command: &str) -> Done {
    let command = command.replace("TEXT", "yes");
    let command = match command.contains("--restart") {
        true => command,
        false => command.replace("ralph resume", "ralph resume --yes"),
    };
    let ralph = env.command::<&str>(&[]);
    let mut shell = Command::new("sh");
    shell.current_dir(&env.root).args(["-c", &command]);
    shell.env_clear();
    shell.envs(ralph.get_envs().filter_map(|(k, v)| Some((k, v?))));
    Done::of(&on_path(env, shell).output().unwrap())
}

/// A run ends with `code` and gives `advice`, which calls the agent again.
fn goes_on(env: &TestEnv, args: &[&str], code: i32, advice: &str) {
    let done = on_path(env, env.command(args)).output().unwrap();
    let done = Done::of(&done);
    assert_eq!(done.code, code, "{args:?}: {}{}", done.stdout, done.stderr);
    let next = next(&done.stdout);
    assert_eq!(next, advice, "{}", done.stdout);
    assert!(!done.stdout.contains("/ralph-loop"), "{}", done.stdout);
    assert!(!done.stdout.contains("\"continue\""), "{}", done.stdout);
    let more = typed(env, &next);
    assert_ne!(more.code, 1, "{args:?}: {}{}", more.stdout, more.stderr);
    let turns = more.stdout.matches("Iteration ").count();
    assert!(turns > 0, "{args:?}: {}{}", more.stdout, more.stderr);
}

fn check(turn: &Value, args: &[&str], code: i32, advice: &str) {
    let env = TestEnv::with_tasks(3);
    let agent = repeated(&env, turn);
    let all = [&["run", "--agent-cmd", &agent], args].concat();
    goes_on(&env, &all, code, advice);
}

#[test]
fn the_next_command_of_an_end_calls_the_agent_again() {
    let resume = "ralph resume";
    let going = say("<promise>CONTINUE</promise>");
    let blocked = say("<promise>BLOCKED: no key</promise>");
    let lying = say("<promise>COMPLETE</promise>");
    let failing = json!({"exit": 1});
    let slow = json!({"wait_ms": 700, "say": "<promise>CONTINUE</promise>"});
    check(&going, &["--max-iterations", "2"], 3, resume);
    check(&blocked, &[], 4, resume);
    check(&say("nothing"), &[], 5, resume);
    check(&failing, &[], 6, resume);
    check(&lying, &[], 5, resume);
    check(&slow, &["--max-duration", "1s"], 3, resume);
}

#[test]
fn a_limit_that_stops_ends_the_run_valv_06() {
    let going = say("<promise>CONTINUE</promise>");
    for (on_limit, is_over) in [("stop", true), ("pause", false)] {
        let env = TestEnv::with_tasks(2);
        let config = format!("[limits]\nmax_iterations = 1\non_limit = \"{on_limit}\"\n");
        env.write(".ralph/config.toml", &config);
        let agent = repeated(&env, &going);
        let first = env.ralph(&["run", "--agent-cmd", &agent]);
        assert_eq!(first.code, 3, "{}", first.stderr);
        // A run that is over is in the history, and nothing waits for it.
        let listed = env.ralph(&["history", "--json"]);
        assert_eq!(
            listed.stdout.contains("\"limit\""),
            is_over,
            "{}",
            listed.stdout
        );
        let second = env.ralph(&["run", "--agent-cmd", &agent]);
        let waits = second.stdout.contains("is paused here");
        assert_eq!(waits, !is_over, "{}", second.stdout);
        assert_eq!(first.stdout.contains("ralph cancel"), !is_over);
        let status = env.ralph(&["status", "--json"]);
        assert!(status.stdout.contains("\"max_iterations\""));
        // What it says works all the same.
        goes_on(&env, &["run", "--agent-cmd", &agent], 3, "ralph resume");
    }
}

#[test]
fn a_budget_is_raised_by_the_command_that_its_end_names_valv_11() {
    let costing = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "<promise>CONTINUE</promise>", "total_cost_usd": 0.75,
        "usage": {"input_tokens": 900, "output_tokens": 100}});
    for (limit, amount, advice) in [
        ("--max-cost", "1usd", "ralph resume --max-cost 2.5usd"),
        ("--max-tokens", "1500", "ralph resume --max-tokens 3500"),
    ] {
        let env = TestEnv::with_tasks(1);
        client(&env, "claude", &[json!({}), json!({}), json!({})]);
        for call in 1..=3 {
            stream(&env, "claude", call, std::slice::from_ref(&costing), 0);
        }
        let args = ["run", "--agent", "claude", limit, amount];
        goes_on(&env, &args, 8, advice);
    }
}

#[test]
fn questions_doubts_and_cancelled_runs_name_what_helps_then() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[questions]\ndeadline = \"1s\"\n");
    let agent = repeated(&env, &say("<promise>QUESTION: which?</promise>"));
    let args = ["run", "--agent-cmd", &agent];
    goes_on(&env, &args, 3, "ralph answer 1 TEXT; ralph resume");

    let env = TestEnv::with_tasks(1);
    let agent = repeated(&env, &say("<promise>COMPLETE</promise>"));
    let done = env.ralph(&["run", "do it", "--agent-cmd", &agent]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    assert_eq!(next(&done.stdout), "ralph report");
    assert_eq!(typed(&env, "ralph report").code, 0);

    let given_up = env.ralph(&["resume", "--abandon"]);
    assert_eq!(next(&given_up.stdout), "ralph resume --restart");
    let anew = typed(&env, "ralph resume --restart");
    assert_eq!(anew.code, 3, "{}{}", anew.stdout, anew.stderr);
    assert!(anew.stdout.contains("Iteration 1"), "{}", anew.stdout);
}
