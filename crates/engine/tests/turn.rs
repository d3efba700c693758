//! One call of an agent, with small scripts in the place of agents.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ralph_core::machine::{End, Turn};
use ralph_engine::agents::{Agent, Client, EnvFilter, HookWiring, Options};
use ralph_engine::announcement::Announcement;
use ralph_engine::supervise::{Stop, Tag};
use ralph_engine::turn::{Call, Called, Echoed, run_env};
use tokio::sync::watch;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        Project {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A shell script as an agent that is called by its path. Another process
    /// writes it: a file that a fork of this one may hold open for writing
    /// can't be executed.
    fn script(&self, name: &str, body: &str) -> String {
        let path = self.path(name);
        let written = Command::new("sh")
            .args([
                "-c",
                "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\"; chmod +x \"$2\"",
                "sh",
            ])
            .arg(body)
            .arg(&path)
            .status();
        assert!(written.unwrap().success());
        path.to_str().unwrap().to_owned()
    }

    fn call(&self, agent: Agent) -> Call {
        Call {
            agent,
            turn: Turn {
                attempt: 1,
                agent: 0,
                allowance: Default::default(),
                turn: 3,
                timeout_ms: 0,
                left_ms: 0,
                phase: None,
                task: None,
                notes: Vec::new(),
                flow: None,
            },
            root: self.dir.path().into(),
            prompt: "do the work\nand say so".into(),
            prompt_file: self.path("prompt.md"),
            output_file: self.path("out"),
            asked_file: self.path("asked.jsonl"),
            output_max: 0,
            signs: None,
            env: Vec::new(),
            env_filter: EnvFilter::default(),
            idle: None,
            grace: Duration::from_secs(60),
            linger: Duration::from_secs(60),
            echo: None,
            wall: None,
        }
    }

    fn custom(&self, body: &str) -> Call {
        let script = self.script("agent.sh", body);
        self.call(Agent::custom(&script).unwrap())
    }

    fn claude(&self, body: &str) -> Call {
        let script = self.script("claude.sh", body);
        let options = Options {
            program: script,
            ..Options::default()
        };
        self.call(Agent::known(Client::Claude, options))
    }
}

async fn make(call: Call) -> Called {
    let stop = watch::Sender::new(Stop::No);
    let made = tokio::time::timeout(Duration::from_secs(60), call.make(stop.subscribe()));
    made.await.unwrap_or_else(|_| panic!("it hangs"))
}

#[tokio::test]
async fn the_prompt_comes_on_standard_input() {
    let project = Project::new();
    let called = make(project.custom("cat; echo; echo noise >&2")).await;
    assert_eq!(called.end, End::Exit(0));
    assert_eq!(called.turn, 3);
    assert_eq!(called.text, "do the work\nand say so\n");
    assert_eq!(called.prompt, "do the work\nand say so");
    assert_eq!(called.failure, "");
    assert_eq!(project.read("prompt.md"), "do the work\nand say so");
    let output = project.read("out");
    assert!(output.contains("noise\n") && output.contains("do the work\n"));
}

#[tokio::test]
async fn the_prompt_comes_as_a_file() {
    let project = Project::new();
    let script = project.script("agent.sh", "cat; echo \"$2 $3\"; cat \"$3\"");
    let agent = Agent::custom(&format!("{script} --yes 'a b' {{prompt_file}}")).unwrap();
    let called = make(project.call(agent)).await;
    let prompt_file = project.path("prompt.md");
    assert_eq!(
        called.text,
        format!("a b {}\ndo the work\nand say so", prompt_file.display())
    );
}

#[tokio::test]
async fn the_output_is_shown_while_it_comes() {
    let project = Project::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&seen);
    let mut call = project.custom("echo said; echo noise >&2");
    call.echo = Some(Arc::new(move |echoed: Echoed<'_>| {
        if let Echoed::Bytes(chunk) = echoed {
            shown.lock().unwrap().extend_from_slice(chunk);
        }
    }));
    make(call).await;
    assert_eq!(*seen.lock().unwrap(), b"said\n");
}

#[tokio::test]
async fn the_agent_knows_its_run() {
    let project = Project::new();
    let mut call = project.call(Agent::custom("env").unwrap());
    let tag = Tag::of_run(Path::new("/p/state/runs"), "run-1");
    call.env = run_env(&tag, 7, Some(Path::new("/p/specs/a b/tasks.md")));
    call.env.push(("OWN".into(), "value".into()));
    let text = make(call).await.text;
    let mut own: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("RALPH_") || line.starts_with("OWN="))
        .collect();
    own.sort_unstable();
    assert_eq!(
        own,
        [
            "OWN=value",
            "RALPH_ITERATION=7",
            "RALPH_MODE=external",
            "RALPH_RUN_ID=run-1",
            &format!("RALPH_RUN_TAG={}", tag.value()),
            "RALPH_TASKS_FILE=/p/specs/a b/tasks.md",
        ]
    );
    let without = run_env(&tag, 7, None);
    assert!(without.iter().all(|(name, _)| name != "RALPH_TASKS_FILE"));
}

#[tokio::test]
async fn excluded_variables_do_not_reach_the_agent() {
    let has_path = |text: &str| text.lines().any(|line| line.starts_with("PATH="));
    let project = Project::new();
    let agent = || Agent::custom("env").unwrap();
    assert!(has_path(&make(project.call(agent())).await.text));

    let mut call = project.call(agent());
    call.env_filter.exclude = vec!["AWS_*".into(), "P*H".into()];
    assert!(!has_path(&make(call).await.text));

    // What the settings give to the agent is not inherited.
    let mut call = project.call(agent());
    call.env_filter.exclude = vec!["PATH".into()];
    call.env = vec![("PATH".into(), "/own".into())];
    assert!(make(call).await.text.contains("PATH=/own\n"));
}

#[tokio::test]
async fn claude_does_not_see_the_session_that_ralph_runs_in() {
    let project = Project::new();
    let invocation = project.claude("").agent.invocation(Path::new("x"), "");
    for name in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"] {
        assert!(invocation.env_remove.contains(&name.into()), "{name}");
    }
}

async fn check_end(call: Call, end: End, failure: &str) {
    let called = make(call).await;
    assert_eq!(called.end, end);
    assert_eq!(called.failure, failure);
}

#[tokio::test]
async fn every_end_is_told_with_the_agent_s_words() {
    let project = Project::new();
    let custom = |body: &str| project.custom(body);
    check_end(custom("echo fine"), End::Exit(0), "").await;
    check_end(custom("echo warning >&2"), End::Exit(0), "").await;
    check_end(custom("echo ' why ' >&2; exit 9"), End::Exit(9), "why").await;
    check_end(custom("echo x; exit 9"), End::Exit(9), "").await;
    check_end(custom("kill -SEGV $$"), End::Signal(11), "").await;

    let mut slow = custom("echo late >&2; sleep 60");
    slow.turn.timeout_ms = 300;
    check_end(slow, End::TimedOut, "").await;
}

#[tokio::test]
async fn what_can_t_be_started_says_why() {
    let project = Project::new();
    let nobody = project.path("nobody");
    let agent = Agent::custom(nobody.to_str().unwrap()).unwrap();
    let called = make(project.call(agent)).await;
    assert_eq!(called.end, End::SpawnFailed { missing: true });
    assert!(called.failure.contains("nobody"), "{}", called.failure);

    fs::write(project.path("plain.txt"), "").unwrap();
    let plain = project.path("plain.txt");
    let agent = Agent::custom(plain.to_str().unwrap()).unwrap();
    let called = make(project.call(agent)).await;
    assert_eq!(called.end, End::SpawnFailed { missing: false });
    assert!(called.failure.contains("plain.txt"), "{}", called.failure);

    for spoil in [
        |call: &mut Call| call.prompt_file = "/no/such/place/prompt.md".into(),
        |call: &mut Call| call.output_file = "/no/such/place/out".into(),
    ] {
        let mut call = project.custom("echo never");
        spoil(&mut call);
        let called = make(call).await;
        assert_eq!(called.end, End::Unwritable);
        assert!(called.failure.contains("/no/such/place/"), "{called:?}");
        assert_eq!(called.prompt, "do the work\nand say so");
    }
}

#[tokio::test]
async fn a_stop_ends_the_turn() {
    let project = Project::new();
    let stop = watch::Sender::new(Stop::No);
    let receiver = stop.subscribe();
    let mut call = project.custom("echo ready; sleep 60");
    call.echo = Some(Arc::new(move |_: Echoed<'_>| {
        stop.send_replace(Stop::Gracefully);
    }));
    let called = call.make(receiver).await;
    assert_eq!(called.end, End::Stopped);
    assert_eq!(called.text, "ready\n");
    assert_eq!(called.failure, "");
}

#[tokio::test]
async fn failures_are_short_and_without_secrets() {
    let project = Project::new();
    let called = make(project.custom(&format!("echo 'token {SECRET}' >&2; exit 1"))).await;
    assert_eq!(called.failure, "token [redacted]");

    let flood = format!("echo {SECRET} >&2; seq 1 100000 >&2; echo the end >&2; exit 1");
    let called = make(project.custom(&flood)).await;
    assert_eq!(called.failure.chars().count(), 999, "{}", called.failure);
    assert!(called.failure.starts_with("[redacted]\n1\n2\n"));
    assert!(called.failure.ends_with("100000\nthe end"));

    let said = format!(
        r#"echo '{{"type":"result","is_error":true,"result":"Bad key {SECRET}"}}'; exit 1"#
    );
    let called = make(project.claude(&said)).await;
    assert_eq!(called.failure, "Bad key [redacted]");
}

#[tokio::test]
async fn claude_s_own_result_decides() {
    let project = Project::new();
    let done = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'"#;
    let refused = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"no"}'"#;
    let check = |body: &str, end, failure| check_end(project.claude(body), end, failure);
    check(done, End::Exit(0), "").await;
    check(refused, End::ResultError, "no").await;
    check(&format!("{refused}; exit 1"), End::Exit(1), "no").await;
    check(&format!("{done}; exit 1"), End::Exit(1), "").await;
    let no_result = "the agent ended without a result";
    // A client that knows of no stream answers in plain text (LOOP-14).
    check("echo words", End::Exit(0), "").await;
    let called = make(project.claude("echo '<promise>DONE</promise>'")).await;
    assert_eq!(called.text, "<promise>DONE</promise>\n");
    let unfinished = r#"echo words; echo '{"type":"system","subtype":"init"}'"#;
    check(unfinished, End::ResultError, no_result).await;
    check("true", End::ResultError, no_result).await;
    check("echo why >&2", End::ResultError, "why").await;
    check("echo why >&2; exit 1", End::Exit(1), "why").await;
    check("exit 1", End::Exit(1), no_result).await;
}

const INIT: &str = r#"echo '{"type":"system","subtype":"init","session_id":"s","model":"m"}'"#;
const DONE: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"<promise>DONE</promise>"}'"#;

#[tokio::test]
async fn a_result_without_an_exit_counts_and_the_agent_is_ended() {
    let project = Project::new();
    let mut call = project.claude(&format!("{INIT}; {DONE}; sleep 60"));
    call.linger = Duration::from_millis(200);
    let called = make(call).await;
    assert_eq!(called.end, End::Exit(0));
    assert_eq!(called.text, "<promise>DONE</promise>");
    assert_eq!(called.failure, "");
    assert_eq!(called.troubles, [Announcement::Lingered]);
}

#[tokio::test]
async fn an_agent_that_still_works_is_not_ended_for_its_first_result() {
    let project = Project::new();
    let task = r#"echo '{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b"}]}'"#;
    let last = DONE.replace("<promise>DONE</promise>", "last");
    let none = task.replace(r#"{"task_id":"b"}"#, "");
    let mut call = project.claude(&format!("{INIT}; {task}; {DONE}; sleep 1; {none}; {last}"));
    call.linger = Duration::from_millis(200);
    let called = make(call).await;
    assert_eq!((called.end, called.text.as_str()), (End::Exit(0), "last"));
    assert_eq!(called.troubles, []);
}

#[tokio::test]
async fn a_stop_during_the_wait_for_an_exit_is_a_stop() {
    let project = Project::new();
    let stop = watch::Sender::new(Stop::No);
    let receiver = stop.subscribe();
    let mut call = project.claude(&format!("{INIT}; {DONE}; sleep 60"));
    call.echo = Some(Arc::new(move |_: Echoed<'_>| {
        stop.send_replace(Stop::Gracefully);
    }));
    let called = call.make(receiver).await;
    assert_eq!(called.end, End::Stopped);
    assert_eq!(called.troubles, []);
}

#[tokio::test]
async fn a_hang_before_the_result_is_a_timeout() {
    let project = Project::new();
    let mut call = project.claude(&format!("{INIT}; sleep 60"));
    call.idle = Some(Duration::from_millis(200));
    call.linger = Duration::ZERO;
    let called = make(call).await;
    assert_eq!((called.end, called.text.as_str()), (End::TimedOut, ""));
}

#[tokio::test]
async fn an_interrupted_client_that_exits_with_0_failed() {
    let project = Project::new();
    let aborted = r#"echo '{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["aborted"]}'"#;
    check_end(project.claude(aborted), End::ResultError, "aborted").await;
}

#[tokio::test]
async fn files_of_an_invocation_are_written_beside_the_prompt() {
    let project = Project::new();
    let script = project.script("amp.sh", "cat \"$3\"");
    let options = Options {
        program: script,
        allow_unsafe: true,
        ..Options::default()
    };
    make(project.call(Agent::known(Client::Amp, options))).await;
    assert!(
        project
            .read("amp-settings.json")
            .contains("dangerouslyAllowAll")
    );
    assert!(project.read("out").contains("dangerouslyAllowAll"));
}

/// S-01: what took the hook away is no matter; the child that would go on for
/// ever is ended.
#[tokio::test]
async fn a_tool_that_ran_without_the_guard_ends_the_turn() {
    const CALL: &str = r#"echo '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}'
echo '{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"a","is_error":false}]}}'"#;
    const ASKED: &str = r#"echo '{"tool":"Bash","id":"t1"}' > asked.jsonl"#;
    const RESULT: &str = r#"echo '{"type":"result","subtype":"success","result":"done"}'"#;
    let (hangs, ends) = ("exec sleep 1000", RESULT);
    for (wired, asked, after, expected, failure) in [
        (true, "", hangs, End::Unguarded, "Bash"),
        (true, "", ends, End::Unguarded, "Bash"),
        (true, ASKED, ends, End::Exit(0), ""),
        (false, "", ends, End::Exit(0), ""),
    ] {
        let project = Project::new();
        let script = project.script("claude.sh", &format!("{asked}\n{CALL}\n{after}"));
        let options = Options {
            program: script,
            hooks: wired.then(|| HookWiring {
                program: "/bin/true".into(),
                state: "/state".into(),
                timeout: Duration::from_secs(30),
                fail_closed: true,
            }),
            ..Options::default()
        };
        let mut call = project.call(Agent::known(Client::Claude, options));
        call.grace = Duration::from_secs(5);
        let called = make(call).await;
        assert_eq!(called.end, expected, "{wired} {asked} {after}");
        assert_eq!(called.failure, failure);
    }
}
