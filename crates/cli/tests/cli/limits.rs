//! Limits of the agents, the chain of agents, budgets, and what was spent
//! (issue 4).

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::{Done, RALPH, TestEnv, make_executable, named};
use crate::live::{Live, wait_until};

/// A turn that does the only task.
pub fn does_it() -> Value {
    json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"})
}

/// A program of this name that plays a list of turns, one per call: the script
/// of a refused turn would otherwise be played again. Its words are those of
/// Claude's stream.
pub fn client(env: &TestEnv, name: &str, calls: &[Value]) {
    let bin = env.outside("bin");
    fs::create_dir_all(&bin).unwrap();
    let dir = env.outside(name);
    fs::create_dir_all(&dir).unwrap();
    for (i, call) in calls.iter().enumerate() {
        let turns = json!({"turns": [call], "repeat_last": true});
        fs::write(dir.join(format!("{}.json", i + 1)), turns.to_string()).unwrap();
    }
    let (dir, last) = (dir.display(), calls.len());
    let script = format!(
        "#!/bin/sh\n\
         n=$(($(cat {dir}/count 2>/dev/null || echo 0) + 1))\n\
         echo $n > {dir}/count\n\
         [ $n -gt {last} ] && n={last}\n\
         [ -f {dir}/$n.stream ] && {{ cat > /dev/null; cat {dir}/$n.stream; exit $(cat {dir}/$n.exit); }}\n\
         exec {RALPH} __agent {dir}/$n.json --stream-json\n"
    );
    let program = bin.join(name);
    fs::write(&program, script).unwrap();
    make_executable(&program);
}

/// The lines that the call of this number prints, and how it exits.
pub fn stream(env: &TestEnv, name: &str, call: usize, lines: &[Value], exit: u8) {
    let dir = env.outside(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.join(format!("{call}.stream")), text).unwrap();
    fs::write(dir.join(format!("{call}.exit")), exit.to_string()).unwrap();
}

fn command(env: &TestEnv, args: &[&str]) -> std::process::Command {
    let mut command = env.command(args);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", env.outside("bin").display()));
    command
}

fn ralph(env: &TestEnv, args: &[&str]) -> Done {
    Done::of(&command(env, args).output().unwrap())
}

pub fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs()
}

/// Claude's structured word that a limit is reached, and its failed result.
pub fn limited(resets_at: u64) -> [Value; 2] {
    [
        json!({"type": "rate_limit_event", "rate_limit_info": {
            "status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour"}}),
        json!({"type": "result", "subtype": "success", "is_error": true,
            "result": "You've hit your session limit"}),
    ]
}

/// A result with what it cost; 1000 tokens.
fn costing(usd: f64) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "<promise>CONTINUE</promise>", "total_cost_usd": usd,
        "usage": {"input_tokens": 900, "output_tokens": 100}})
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn start(env: &TestEnv, args: &[&str]) -> Child {
    command(env, args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn sleeps(env: &TestEnv) -> bool {
    let status = fs::read_to_string(env.path(".ralph/status.json")).unwrap_or_default();
    let status: Value = serde_json::from_str(&status).unwrap_or_default();
    status["waiting_until"].is_string()
}

#[test]
fn a_limit_is_waited_out_and_the_lost_turn_is_not_counted() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({}), does_it()]);
    stream(&env, "claude", 1, &limited(now() + 3), 1);
    let done = ralph(
        &env,
        &[
            "run", "--json", "--agent", "claude", "--max-iterations", "1",
        ],
    );
    let events = done.events();
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(named(&events, "error"), Vec::<&Value>::new());
    let wait = named(&events, "wait")[0];
    assert_eq!(wait["reason"], "usage_limit");
    let ms = wait["duration_ms"].as_u64().unwrap();
    assert!(ms <= 3_000, "{wait}");
    let end = events.last().unwrap();
    assert_eq!(
        (&end["iterations"], &end["usage"]["calls"]),
        (&json!(1), &json!(2))
    );
    // Each call has its own files.
    let dir = fs::read_dir(env.state("runs")).unwrap().next();
    let dir = dir.unwrap().unwrap().path();
    for file in ["turn-0001.out", "turn-0001.2.out", "turn-0001.2.prompt.md"] {
        assert!(dir.join(file).exists(), "{file}");
    }
}

#[test]
fn a_person_sees_when_the_limit_resets() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({}), does_it()]);
    stream(&env, "claude", 1, &limited(now() + 2), 1);
    let done = ralph(&env, &["run", "--agent", "claude"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    let line = done
        .stdout
        .lines()
        .find(|line| line.contains("limit reached, resets"));
    let line = line.unwrap_or_else(|| panic!("{}", done.stdout));
    assert!(line.contains("(UTC), sleeping"), "{line}");
    assert!(line.ends_with("wake: `ralph wake`"), "{line}");
    assert_eq!(
        done.stdout.matches("limit reached").count(),
        2,
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains('\r'));
}

/// ERRC-06: what nobody said is not told as the service's word.
#[test]
fn a_limit_without_a_reset_says_when_it_asks_again() {
    for words in [
        "usage limit reached".to_owned(),
        format!("usage limit reached|{}", now() - 600),
    ] {
        let env = TestEnv::with_tasks(1);
        let agent = format!(
            "cat > /dev/null\nif test -e called; then sed -i 's/- \\[ \\]/- [x]/' tasks.md\n\
             else touch called; echo '{words}' >&2; exit 1; fi\n"
        );
        env.write("agent.sh", &agent);
        let child = start(&env, &["run", "--agent-cmd", "sh agent.sh"]);
        wait_for("the wait", || sleeps(&env));
        assert_eq!(ralph(&env, &["wake"]).code, 0);
        let done = Done::of(&child.wait_with_output().unwrap());
        let said = "limit reached, asks again at ";
        assert!(done.stdout.contains(said), "{}", done.stdout);
        assert!(!done.stdout.contains("resets"), "{}", done.stdout);
    }
}

#[test]
fn the_hourly_rate_says_when_it_goes_on() {
    let env = TestEnv::with_tasks(2);
    let agent = env.agent(&[json!({"tick": ["T001"]}), json!({"tick": ["T002"]})]);
    let args = ["run", "--agent-cmd", &agent, "--rate", "1/h"];
    let child = start(&env, &args);
    wait_for("the wait", || {
        ralph(&env, &["status"]).stdout.contains("sleeping until")
    });
    assert_eq!(ralph(&env, &["wake"]).code, 0);
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stdout);
    let line = done
        .stdout
        .lines()
        .find(|line| line.contains("hourly rate"));
    let line = line.unwrap_or_else(|| panic!("{}", done.stdout));
    assert!(
        line.contains("goes on at ") && line.contains("(UTC)"),
        "{line}"
    );
    assert!(line.ends_with("at once: `ralph wake`"), "{line}");
}

#[test]
fn a_limit_that_is_not_waited_for_says_when_it_resets() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({})]);
    let resets = now() + 5 * 86_400;
    stream(&env, "claude", 1, &limited(resets), 1);
    let done = ralph(&env, &["run", "--agent", "claude"]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    let at = ralph_core::machine::iso_utc(i64::try_from(resets).unwrap() * 1000);
    let at = at[..16].replace('T', " ");
    for said in [
        done.stdout,
        ralph(&env, &["status"]).stdout,
        ralph(&env, &["report"]).stdout,
    ] {
        let told = said
            .lines()
            .any(|line| line.contains("resets at") && line.contains(&at));
        assert!(told, "{said}");
    }
}

#[test]
fn a_custom_command_is_believed_in_its_last_words_only() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        json!({"complain": "usage limit reached, try again in 1 hour\nassertion failed", "exit": 1}),
        json!({"complain": "test: 503 service unavailable, ECONNREFUSED", "exit": 1}),
        does_it(),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0);
    assert_eq!(named(&events, "error").len(), 2);
    assert_eq!(named(&events, "agent_refused").len(), 0);

    // ERRC-06, ERRC-07: a rate limit is waited out as long as it says.
    let env = TestEnv::with_tasks(1);
    let agent = "cat > /dev/null\nif test -e called; then sed -i 's/- \\[ \\]/- [x]/' tasks.md\n\
                 else touch called; printf 'HTTP/1.1 429 Too Many Requests\\nRetry-After: 1\\n' >&2; exit 1; fi\n";
    env.write("agent.sh", agent);
    let done = ralph(&env, &["run", "--json", "--agent-cmd", "sh agent.sh"]);
    let events = done.events();
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(named(&events, "error").len(), 0);
    assert_eq!(named(&events, "agent_refused").len(), 1);

    let env = TestEnv::with_tasks(1);
    let turn = json!({"complain": "Credit balance is too low", "exit": 1});
    let (done, events) = env.run_script(&[turn], &[]);
    assert_eq!(done.code, 3);
    assert_eq!(events.last().unwrap()["reason"], "spend_limit");
}

#[test]
fn the_next_agent_takes_the_turn() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({})]);
    stream(&env, "claude", 1, &limited(now() + 3600), 1);
    client(&env, "amp", &[does_it()]);
    let args = ["run", "--json", "--agents", "claude,amp", "--allow-unsafe"];
    let done = ralph(&env, &args);
    let events = done.events();
    assert_eq!(done.code, 0, "{}", done.stdout);
    let switched = named(&events, "agent_switched")[0];
    assert_eq!(
        (&switched["from"], &switched["to"]),
        (&json!("claude"), &json!("amp"))
    );
    assert_eq!(named(&events, "wait").len(), 0);
    let cost = ralph(&env, &["cost", "--by", "agent", "--json"]);
    let cost: Value = serde_json::from_str(&cost.stdout).unwrap();
    assert_eq!(
        (&cost["rows"][0]["key"], &cost["rows"][1]["key"]),
        (&json!("claude"), &json!("amp"))
    );
}

#[test]
fn every_agent_of_the_chain_must_be_there() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[does_it()]);
    // Whatever the machine that tests run on has installed.
    let mut command = env.command(&["run", "--agents", "claude,codex"]);
    let done = command.env("PATH", env.outside("bin")).output().unwrap();
    let done = Done::of(&done);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("codex: command not found"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_budget_in_money_ends_the_run_and_can_be_raised() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({}), json!({}), does_it()]);
    stream(&env, "claude", 1, &[costing(0.75)], 0);
    stream(&env, "claude", 2, &[costing(0.5)], 0);
    let done = ralph(
        &env,
        &["run", "--json", "--agent", "claude", "--max-cost", "1usd"],
    );
    let end = done.events().pop().unwrap();
    assert_eq!(
        (done.code, &end["reason"]),
        (8, &json!("max_cost")),
        "{end}"
    );
    assert_eq!(end["usage"]["cost_usd"], 1.25);
    assert_eq!(end["usage"]["tokens"], 2000);
    let log = env.read(".ralph/ralph.log");
    assert!(log.contains("budget spent"), "{log}");

    let status = ralph(&env, &["status"]);
    assert!(
        status.stdout.contains("cost: $1.25 · tokens: 2000"),
        "{}",
        status.stdout
    );
    assert_eq!(ralph(&env, &["resume", "--yes", "--quiet"]).code, 8);
    let done = ralph(&env, &["resume", "--yes", "--json", "--max-cost", "$5"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

#[test]
fn a_call_that_uses_too_much_is_ended_while_it_runs() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({})]);
    // It tells its usage and would go on for ever.
    let program = env.outside("bin").join("claude");
    let line = json!({"type": "assistant", "message": {"id": "m1", "content": [],
        "usage": {"input_tokens": 5000, "output_tokens": 1}}});
    fs::write(
        &program,
        format!("#!/bin/sh\necho '{line}'\nexec sleep 600\n"),
    )
    .unwrap();
    let args = ["run", "--json", "--agent", "claude", "--max-tokens", "1000"];
    let started = Instant::now();
    let done = ralph(&env, &args);
    let events = done.events();
    assert_eq!(done.code, 8, "{}{}", done.stdout, done.stderr);
    assert_eq!(named(&events, "over_budget").len(), 1);
    assert_eq!(named(&events, "error").len(), 0);
    assert!(started.elapsed() < Duration::from_secs(60));
    let end = events.last().unwrap();
    assert_eq!(end["usage"]["tokens"], 5001);
    assert_eq!(end["usage"]["partial_calls"], 1);
}

#[test]
fn a_budget_that_cant_be_kept_is_refused_at_the_start() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[does_it()]);
    for (flag, value, word) in [
        ("--max-cost", "1usd", "cost"),
        ("--max-tokens", "9", "tokens"),
    ] {
        let done = ralph(&env, &["run", "--agent-cmd", &agent, flag, value]);
        assert_eq!(done.code, 1);
        assert!(
            done.stderr.contains("does not report") && done.stderr.contains(word),
            "{}",
            done.stderr
        );
    }
    let done = ralph(&env, &["run", "--agent-cmd", &agent, "--max-cost", "20"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("20usd"), "{}", done.stderr);
    assert!(!env.state("runs").exists());
}

#[test]
fn unknown_cost_is_shown_as_unknown() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[does_it()]);
    let done = ralph(&env, &["run", "--agent-cmd", &agent]);
    assert!(
        done.stdout.contains("cost: unknown · tokens: unknown"),
        "{}",
        done.stdout
    );
    let cost = ralph(&env, &["cost"]);
    assert!(cost.stdout.contains("unknown"), "{}", cost.stdout);
    let cost = ralph(&env, &["cost", "--json", "--by", "task"]);
    let cost: Value = serde_json::from_str(&cost.stdout).unwrap();
    assert_eq!(cost["total"]["cost_usd"], Value::Null);
    assert_eq!(cost["rows"][0]["key"], "T001");
    assert_eq!(ralph(&env, &["cost", "nobody"]).code, 1);
}

#[test]
fn a_run_that_sleeps_can_be_woken() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({}), does_it()]);
    stream(&env, "claude", 1, &limited(now() + 3600), 1);
    assert_eq!(ralph(&env, &["wake"]).code, 1);
    let child = start(&env, &["run", "--json", "--agent", "claude"]);
    wait_for("the wait", || sleeps(&env));
    let status = ralph(&env, &["status"]);
    assert!(
        status.stdout.contains("sleeping until"),
        "{}",
        status.stdout
    );
    let woken = ralph(&env, &["wake"]);
    assert_eq!(woken.code, 0, "{}", woken.stderr);
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(done.events().last().unwrap()["iterations"], 1);
}

#[test]
fn a_wait_survives_kill_9() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[json!({}), does_it()]);
    stream(&env, "claude", 1, &limited(now() + 6), 1);
    let mut child = start(&env, &["run", "--json", "--agent", "claude"]);
    wait_for("the wait", || sleeps(&env));
    child.kill().unwrap();
    child.wait().unwrap();
    let done = ralph(&env, &["resume", "--yes", "--json"]);
    let events = done.events();
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(events.last().unwrap()["iterations"], 1);
    let waits = named(&events, "wait");
    assert!(
        waits
            .iter()
            .all(|w| w["duration_ms"].as_u64() <= Some(6_000)),
        "{waits:?}"
    );
    let count = fs::read_to_string(env.outside("claude").join("count")).unwrap();
    assert_eq!(count.trim(), "2");
}

#[test]
fn the_guard_rides_along_or_the_person_says_otherwise() {
    let env = TestEnv::with_tasks(1);
    client(&env, "claude", &[does_it()]);
    client(&env, "amp", &[does_it()]);
    let dry = |args: &[&str]| {
        let mut all = vec!["run", "--dry-run"];
        all.extend(args);
        ralph(&env, &all)
    };
    let done = dry(&["--agent", "claude"]);
    assert!(
        done.stdout.contains("--dangerously-skip-permissions"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("pre-tool-use"), "{}", done.stdout);
    let done = dry(&["--agent", "amp"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--allow-unsafe"), "{}", done.stderr);
    let done = dry(&["--agent", "claude", "--no-guard"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--allow-unsafe"), "{}", done.stderr);
    let done = dry(&["--agent", "claude", "--no-guard", "--allow-unsafe"]);
    assert!(!done.stdout.contains("pre-tool-use"), "{}", done.stdout);
    assert!(
        done.stdout.contains("without Ralph's guard"),
        "{}",
        done.stdout
    );

    let args = [
        "run", "--quiet", "--agent", "claude", "--no-guard", "--allow-unsafe",
    ];
    assert_eq!(ralph(&env, &args).code, 0);
    let log = env.read(".ralph/ralph.log");
    assert!(log.contains("--no-guard"), "{log}");
}

#[test]
fn the_hook_objects_to_nothing_and_counts() {
    let env = TestEnv::with_tasks(1);
    let run = "20261115-021030-1a2b";
    fs::create_dir_all(env.state("runs").join(run)).unwrap();
    for args in [
        &["hook", "pre-tool-use"][..],
        &["hook", "--host", "claude", "pre-tool-use"],
    ] {
        let input = env.outside("call.json");
        fs::write(
            &input,
            r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        )
        .unwrap();
        let mut hook = env.command(args);
        hook.env("RALPH_RUN_ID", run)
            .stdin(fs::File::open(&input).unwrap());
        let done = Done::of(&hook.output().unwrap());
        assert_eq!((done.code, done.stdout.as_str()), (0, ""));
    }
    assert_eq!(
        env.json(".ralph/.safety_stats")["tools"]["Bash"]["allowed"],
        2
    );
    assert_eq!(env.ralph(&["hook", "nothing"]).code, 1);
}

#[test]
fn our_own_rate_is_kept() {
    let env = TestEnv::with_tasks(2);
    let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>CONTINUE</promise>"})]);
    let child = start(
        &env,
        &["run", "--json", "--agent-cmd", &agent, "--rate", "1/h"],
    );
    let events = || {
        let runs = fs::read_dir(env.state("runs"))
            .into_iter()
            .flatten()
            .flatten();
        let texts = runs.map(|run| fs::read_to_string(run.path().join("execution.log.jsonl")));
        texts.flatten().collect::<String>()
    };
    wait_for("the wait for the rate", || {
        events().contains(r#""reason":"rate""#)
    });
    assert_eq!(ralph(&env, &["stop"]).code, 0);
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, 130);
    assert_eq!(env.ralph(&["run", "--rate", "many"]).code, 1);
}

/// A terminal took a loop of a session up, ran into a limit and died: the
/// session, whose agent is there, goes on at once.
#[test]
fn a_limit_of_a_terminal_does_not_hold_a_session_up() {
    let env = TestEnv::new();
    client(&env, "claude", &[json!({})]);
    stream(&env, "claude", 1, &limited(now() + 3600), 1);
    let session = env.claude_session(crate::session::ONE);
    session.says("/ralph-loop Work on it --completion-promise FIN");
    session.says("pause");
    let mut run = Live::start(&env, "run", command(&env, &["resume", "--yes", "--json"]));
    wait_until("it waits for the limit", || {
        let waits = env.ralph(&["events", "--json", "--filter", "event=wait"]);
        waits.stdout.contains("usage_limit")
    });
    run.kill();
    let on = session.stops("I am still here.\n<promise>CONTINUE</promise>");
    let reason = crate::session::sent_on(&on);
    assert!(reason.contains("Work on it"), "{reason}");
}
