//! A loop inside a session, as the client's hooks drive it.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};

pub const ONE: &str = "0b6b6c0e-0000-4000-8000-000000000001";
pub const TWO: &str = "0b6b6c0e-0000-4000-8000-000000000002";

/// A client with hooks in a project.
pub struct Client<'a> {
    pub env: &'a TestEnv,
    pub session: &'a str,
    pub vars: Vec<(&'a str, String)>,
}

impl TestEnv {
    pub fn claude_session<'a>(&'a self, session: &'a str) -> Client<'a> {
        Client {
            env: self,
            session,
            vars: Vec::new(),
        }
    }

    pub fn call_hook(&self, args: &[&str], payload: &Value, vars: &[(&str, String)]) -> Done {
        let args: Vec<&str> = [&["hook"], args].concat();
        let mut child = self
            .command(&args)
            .envs(vars.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let text = payload.to_string();
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        Done::of(&child.wait_with_output().unwrap())
    }

    /// The events of the newest run.
    fn told(&self) -> Vec<Value> {
        let done = self.ralph(&["events", "--json"]);
        done.events()
    }

    fn told_names(&self) -> Vec<String> {
        crate::env::names(&self.told())
    }
}

impl Client<'_> {
    pub fn var(mut self, name: &'static str, value: &str) -> Self {
        self.vars.push((name, value.into()));
        self
    }

    pub fn payload(&self, event: &str, fields: &Value) -> Value {
        let mut payload = json!({
            "session_id": self.session,
            "transcript_path": "/nowhere/transcript.jsonl",
            "cwd": self.env.root,
            "prompt_id": "p",
            "permission_mode": "bypassPermissions",
            "hook_event_name": event,
        });
        for (key, value) in fields.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload
    }

    pub fn hook(&self, name: &str, event: &str, fields: &Value) -> Value {
        let payload = self.payload(event, fields);
        let done = self
            .env
            .call_hook(&["--host", "claude", name], &payload, &self.vars);
        assert_eq!(done.code, 0, "{}", done.stderr);
        match done.stdout.trim() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap(),
        }
    }

    pub fn says(&self, prompt: &str) -> Value {
        self.hook(
            "user-prompt-submit",
            "UserPromptSubmit",
            &json!({"prompt": prompt}),
        )
    }

    /// The agent has said this and wants to stop.
    pub fn stops(&self, said: &str) -> Value {
        self.hook(
            "stop",
            "Stop",
            &json!({"stop_hook_active": true, "last_assistant_message": said, "background_tasks": [], "session_crons": []}),
        )
    }

    fn uses_a_tool(&self) {
        let answer = self.hook(
            "post-tool-use",
            "PostToolUse",
            &json!({"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_response": {}}),
        );
        assert_eq!(answer, Value::Null);
    }
}

pub fn context(answer: &Value) -> &str {
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

/// The reason of a block.
pub fn sent_on(answer: &Value) -> &str {
    assert_eq!(answer["decision"], "block", "{answer}");
    answer["reason"].as_str().unwrap()
}

/// What people are told when the agent may stop.
pub fn released(answer: &Value) -> &str {
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    answer["systemMessage"].as_str().unwrap_or_default()
}

#[test]
fn a_loop_goes_on_until_its_promise_is_proven() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    let begun = client.says("/ralph-loop \"Make done.txt\" --verify 'test -f done.txt' --max-iterations 9 --completion-promise FINISHED");
    let told = context(&begun);
    assert!(told.contains("Make done.txt"), "{told}");
    assert!(told.contains("<promise>FINISHED</promise>"), "{told}");
    assert!(told.contains("ONLY when it is TRUE"), "{told}");

    let second = client.stops("I looked around.\n<promise>CONTINUE</promise>");
    assert!(sent_on(&second).contains("Make done.txt"), "{second}");
    assert_eq!(
        second["systemMessage"],
        "🔄 Ralph iteration 2 | To stop: output <promise>FINISHED</promise> (ONLY when statement is TRUE - do not lie to exit!)"
    );
    let third = client.stops("Done!\n\n<promise>FINISHED</promise>");
    let reason = sent_on(&third);
    assert!(reason.contains("REJECTED"), "{reason}");
    assert!(reason.contains("test -f done.txt"), "{reason}");

    env.write("done.txt", "x");
    let end = client.stops("Now it is there.\n\n<promise>FINISHED</promise>");
    assert!(released(&end).contains("test -f done.txt"), "{end}");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    assert_eq!(env.json(".ralph/status.json")["iteration"], 3);
    // It is over, and this session is a session like any other.
    assert_eq!(client.stops("Anything else?"), Value::Null);
    let names = env.told_names();
    for name in [
        "session_joined", "stop_hook_trigger", "prompt_reinjected", "promise_rejected",
        "gate_result", "task_complete", "archive",
    ] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
}

#[test]
fn a_task_list_is_worked_off_and_told_as_it_stands() {
    let env = TestEnv::with_tasks(3);
    env.without_experiments();
    let client = env.claude_session(ONE);
    let begun = client.says("/ralph-loop --tasks tasks.md");
    assert!(context(&begun).contains("T001"), "{begun}");
    let tick = |n: usize| {
        let text = env.read("tasks.md");
        env.write(
            "tasks.md",
            &text.replace(&format!("- [ ] T00{n}"), &format!("- [x] T00{n}")),
        );
    };
    tick(1);
    let answer = client.stops("One.\n<promise>CONTINUE</promise>");
    let reason = sent_on(&answer);
    assert!(reason.contains("🔄 The iteration goes on | 2/"), "{reason}");
    assert!(reason.contains("- [x] T001 Do thing 1"), "{reason}");
    assert!(reason.contains("- [ ] T002 Do thing 2"), "{reason}");
    assert!(reason.contains("- Subtask: 1 / 3"), "{reason}");
    // A promise before its time is sent back with what is missing first.
    let early = client.stops("All done.\n<promise>ALL COMPLETE</promise>");
    sent_on(&early);
    tick(2);
    tick(3);
    let end = client.stops("Three.\n<promise>COMPLETE</promise>");
    assert!(released(&end).contains("3/3"), "{end}");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
}

/// What a person says otherwise, by a verb or by hand in a pause, is what is
/// asked for from then on.
#[test]
fn a_persons_words_for_a_task_are_not_missed() {
    let env = TestEnv::with_tasks(2);
    env.without_experiments();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md");
    let edited = env.ralph(&["tasks", "edit", "T001", "Another thing"]);
    assert_eq!(edited.code, 0, "{}", edited.stderr);
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
    client.says("暫停");
    assert_eq!(client.stops("Resting."), Value::Null);
    let text = env.read("tasks.md").replace("Do thing 2", "Yet another");
    env.write("tasks.md", &text);
    client.says("繼續");
    env.write("tasks.md", &text.replace("- [ ]", "- [x]"));
    released(&client.stops("<promise>COMPLETE</promise>"));
    let events = env.ralph(&["events", "--json"]).events();
    assert!(named(&events, "tasks_reworded").is_empty(), "{events:?}");
    assert_eq!(events.last().unwrap()["event"], "archive", "{events:?}");
}

#[test]
fn tasks_that_vanish_between_two_hooks_are_missed() {
    let env = TestEnv::with_tasks(3);
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md");
    let text = env.read("tasks.md");
    let swapped = text.replace("T002 Do thing 2", "T009 Something easy");
    env.write("tasks.md", &swapped);
    let answer = client.stops("Hm.\n<promise>CONTINUE</promise>");
    assert!(sent_on(&answer).contains("T002"), "{answer}");
    env.write("tasks.md", &swapped.replace("- [ ]", "- [x]"));
    let answer = client.stops("Done.\n<promise>COMPLETE</promise>");
    assert!(sent_on(&answer).contains("REJECTED"), "{answer}");
}

#[test]
fn a_plain_promise_without_proof_lets_go_and_says_so() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Tidy up --completion-promise DONE");
    let end = client.stops("Tidy.\n<promise>DONE</promise>");
    assert!(!released(&end).is_empty(), "{end}");
    let status = env.json(".ralph/status.json");
    assert_eq!(
        (&status["status"], &status["reason"]),
        (&json!("paused"), &json!("unproven"))
    );
}

#[test]
fn a_session_without_a_loop_is_left_alone() {
    let env = TestEnv::with_tasks(1);
    let before = env.snapshot();
    let client = env.claude_session(ONE);
    assert_eq!(client.stops("Hello.\n<promise>DONE</promise>"), Value::Null);
    assert_eq!(client.says("stop the server, please"), Value::Null);
    assert_eq!(client.says("stop"), Value::Null);
    assert_eq!(client.says("繼續"), Value::Null);
    client.uses_a_tool();
    assert_eq!(env.snapshot(), before);
    let none = client.says("/cancel-ralph");
    assert_eq!(sent_on(&none), "No active Ralph loop found.");
}

#[test]
fn sessions_of_one_project_do_not_disturb_each_other() {
    let env = TestEnv::new();
    let (one, two) = (env.claude_session(ONE), env.claude_session(TWO));
    one.says("/ralph-loop The first --completion-promise ONE_DONE");
    assert_eq!(two.stops("I am another session."), Value::Null);
    two.says("/ralph-loop The second --completion-promise TWO_DONE");
    assert!(sent_on(&one.stops("<promise>CONTINUE</promise>")).contains("The first"));
    assert!(sent_on(&two.stops("<promise>CONTINUE</promise>")).contains("The second"));
    let cancelled = one.says("/cancel-ralph");
    assert_eq!(
        sent_on(&cancelled),
        "Cancelled Ralph loop (was at iteration 2)"
    );
    assert_eq!(one.stops("Bye."), Value::Null);
    assert!(sent_on(&two.stops("<promise>CONTINUE</promise>")).contains("The second"));
}

#[test]
fn the_stop_of_a_subagent_is_not_the_sessions() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Work");
    let fields =
        json!({"agent_id": "a1", "agent_type": "explore", "last_assistant_message": "sub"});
    assert_eq!(client.hook("stop", "Stop", &fields), Value::Null);
    let copilot = json!({
        "sessionId": "a1", "timestamp": 1, "cwd": env.root, "transcriptPath": "/t",
        "stopReason": "end_turn", "stop_hook_active": false, "agentId": "a1",
        "agentType": "explore", "parentAgentId": ONE,
    });
    let done = env.call_hook(&["--host", "copilot", "stop"], &copilot, &[]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""));
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
}

#[test]
fn words_pause_the_loop_and_take_it_up() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Work on it --completion-promise FIN");
    client.stops("<promise>CONTINUE</promise>");
    let paused = client.says("暫停");
    assert!(sent_on(&paused).contains("Loop paused"), "{paused}");
    assert_eq!(env.json(".ralph/status.json")["status"], "paused");
    assert_eq!(client.stops("Resting."), Value::Null);
    let on = client.says("繼續");
    assert!(context(&on).contains("Work on it"), "{on}");
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
    // Another session may take up what rests, and only that.
    let other = env.claude_session(TWO);
    assert_eq!(other.says("continue"), Value::Null);
    client.says("stop");
    assert!(context(&other.says("continue")).contains("Work on it"));
    assert_eq!(client.stops("I am out."), Value::Null);
    sent_on(&other.stops("<promise>CONTINUE</promise>"));
}

#[test]
fn the_limit_warns_and_keeps_everything() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    client.says("/ralph-loop Work --max-iterations 2 --completion-promise FIN");
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
    let end = client.stops("<promise>CONTINUE</promise>");
    let warning = released(&end);
    assert!(warning.contains("达到迭代上限"), "{warning}");
    assert!(warning.contains("当前迭代: 2/2"), "{warning}");
    assert!(warning.contains("[1]"), "{warning}");
    assert_eq!(env.json(".ralph/status.json")["status"], "max_iterations");
    let on = client.says("继续");
    assert!(context(&on).contains("Work"), "{on}");
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
}

#[test]
fn the_loop_lets_go_before_the_client_cuts_in() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[limits]\nstalled = 0\nmissing_promise = 0\n",
    );
    let client = env
        .claude_session(ONE)
        .var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "3");
    client.says("/ralph-loop Work --completion-promise FIN");
    for _ in 0..3 {
        sent_on(&client.stops("<promise>CONTINUE</promise>"));
    }
    let end = client.stops("<promise>CONTINUE</promise>");
    let verdict = released(&end);
    assert!(
        verdict.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
        "{verdict}"
    );
    assert_eq!(env.json(".ralph/status.json")["reason"], "block_cap");
    // A person takes it up, and a tool call makes the client count anew.
    context(&client.says("continue"));
    for _ in 0..7 {
        sent_on(&client.stops("<promise>CONTINUE</promise>"));
        client.uses_a_tool();
    }
    // Without a cap there is nothing to count.
    let free = env
        .claude_session(TWO)
        .var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
    free.says("/ralph-loop Work --completion-promise FIN");
    for _ in 0..12 {
        sent_on(&free.stops("<promise>CONTINUE</promise>"));
    }
}

#[test]
fn trouble_lets_the_agent_stop_and_deletes_nothing() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    let done = env.call_hook(&["stop"], &json!("no object"), &[]);
    assert_eq!(done.code, 0);
    assert!(done.stdout.contains("systemMessage"), "{}", done.stdout);

    client.says("/ralph-loop Work --completion-promise FIN");
    let silent = client.hook("stop", "Stop", &json!({"stop_hook_active": false}));
    assert!(released(&silent).contains("transcript"), "{silent}");
    assert_eq!(env.json(".ralph/status.json")["status"], "paused");
    context(&client.says("continue"));

    let run = env.json(".ralph/status.json")["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let journal = env.state_name(&format!("runs/{run}/journal.jsonl"));
    let text = env.read(&journal);
    let broken = text.replacen("started", "st\u{0}rted", 1);
    env.write(&journal, &broken);
    let answer = client.stops("<promise>CONTINUE</promise>");
    assert!(released(&answer).contains("journal"), "{answer}");
    assert_eq!(env.read(&journal), broken);

    env.write(
        ".ralph/config.toml",
        "[limits]\nmax_iterations = \"many\"\n",
    );
    let refused = client.says("/ralph-loop Again");
    assert!(sent_on(&refused).contains("max_iterations"), "{refused}");
}

#[test]
fn bad_arguments_are_named_and_start_nothing() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    for (prompt, want) in [
        ("/ralph-loop x --max-iterations many", "many"),
        ("/ralph-loop x --frob", "--frob"),
        ("/ralph-loop x --preset dev-p1 --pr first", "--pr"),
        ("/ralph-loop x --preset dev-p1 --merge sideways", "--merge"),
        ("/ralph-loop x --tasks missing.md", "missing.md"),
    ] {
        let answer = client.says(prompt);
        assert!(sent_on(&answer).contains(want), "{answer}");
    }
    assert!(!env.state("sessions").exists());
}

#[test]
fn the_verbs_and_the_hook_start_the_same_loop_once() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    let hook = client.says("/ralph-loop \"Build it\" --completion-promise FIN");
    let verb = env.ralph(&[
        "loop", "start", "Build it", "--completion-promise", "FIN", "--session", ONE,
    ]);
    assert_eq!(verb.code, 0, "{}", verb.stderr);
    assert_eq!(verb.stdout.trim(), context(&hook).trim());
    assert_eq!(std::fs::read_dir(env.state("runs")).unwrap().count(), 1);
    let other = env.ralph(&["loop", "start", "Something else", "--session", ONE]);
    assert_eq!(other.code, 1);
    assert!(
        other.stdout.contains("with cancel-ralph"),
        "{}",
        other.stdout
    );
    let status = env.ralph(&["loop", "status", "--session", ONE]);
    assert!(status.stdout.contains("1/"), "{}", status.stdout);
    let cancel = env.ralph(&["loop", "cancel", "--session", ONE]);
    assert_eq!(cancel.stdout, "Cancelled Ralph loop (was at iteration 1)\n");
    let again = env.ralph(&["loop", "cancel", "--session", ONE]);
    assert_eq!(again.stdout, "No active Ralph loop found.\n");
}

/// STOP-08: the command file of a client is told as much as its hook.
#[test]
fn a_loop_that_is_started_by_the_verb_tells_of_a_low_cap() {
    let env = TestEnv::new();
    let start = ["loop", "start", "Build it", "--session", ONE];
    let begun = |cap: &str| {
        let mut command = env.command(&start);
        command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap);
        let done = Done::of(&command.output().unwrap());
        env.ralph(&["loop", "cancel", "--session", ONE]);
        done.stderr
    };
    let low = begun("3");
    assert!(low.contains("after 3 blocks in a row"), "{low}");
    let enough = begun("1000");
    assert!(!enough.contains("blocks in a row"), "{enough}");
}

#[test]
fn a_loop_that_no_session_was_named_for_goes_to_the_first_that_stops() {
    let env = TestEnv::new();
    let done = env.ralph(&["loop", "start", "Build it", "--completion-promise", "FIN"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let client = env.claude_session(ONE);
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
    let other = env.claude_session(TWO);
    assert_eq!(other.stops("<promise>CONTINUE</promise>"), Value::Null);
    sent_on(&client.stops("<promise>CONTINUE</promise>"));
}

#[test]
fn under_ralph_run_the_promise_is_asked_for_once() {
    let env = TestEnv::new();
    let client = env
        .claude_session(ONE)
        .var("RALPH_MODE", "external")
        .var("RALPH_RUN_ID", "20261115-000000-0000");
    let stop = |active: bool, said: &str| {
        client.hook(
            "stop",
            "Stop",
            &json!({"stop_hook_active": active, "last_assistant_message": said}),
        )
    };
    assert!(sent_on(&stop(false, "All good.")).contains("promise"));
    assert_eq!(stop(true, "All good."), Value::Null);
    assert_eq!(stop(false, "x\n<promise>CONTINUE</promise>"), Value::Null);
}

#[test]
fn a_session_learns_what_was_left_and_what_it_was_about() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    let start = |client: &Client, source: &str| {
        client.hook("session-start", "SessionStart", &json!({"source": source}))
    };
    assert_eq!(start(&client, "startup"), Value::Null);
    client.says("/ralph-loop Work on it --completion-promise FIN");
    assert!(context(&start(&client, "compact")).contains("FIN"));
    let other = env.claude_session(TWO);
    assert_eq!(start(&other, "startup"), Value::Null);
    assert_eq!(
        client.hook("session-end", "SessionEnd", &json!({"reason": "other"})),
        Value::Null
    );
    assert_eq!(env.json(".ralph/status.json")["status"], "paused");
    assert!(released(&start(&other, "startup")).contains("continue"));
    assert!(released(&start(&client, "resume")).contains("continue"));
}

#[test]
fn a_terminal_can_steer_and_take_over_what_a_session_began() {
    let env = TestEnv::new();
    // The first iteration is the session's.
    let work = json!({"write": {"done.txt": "x"}, "say": "<promise>FIN</promise>"});
    let agent = env.agent(&[json!({}), work]);
    env.write(
        ".ralph/config.toml",
        &format!("[agent]\nname = \"custom\"\ncommand = {agent:?}\n"),
    );
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Work --completion-promise FIN --verify 'test -f done.txt'");
    let status = env.ralph(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["status"], "running");
    assert_eq!(status["session"], json!({"id": ONE, "host": "claude"}));
    let paused = env.ralph(&["pause"]);
    assert_eq!(paused.code, 0, "{}", paused.stderr);
    assert!(paused.stdout.contains("Loop paused"), "{}", paused.stdout);
    assert_eq!(client.stops("Resting."), Value::Null);
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    assert_eq!(client.stops("What happened?"), Value::Null);
}

#[test]
fn nothing_that_a_check_left_running_stays() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    let pid = env.outside("pid");
    let command = format!("setsid sleep 600 & echo $! > {}; exit 1", pid.display());
    client.says(&format!(
        "/ralph-loop Work --completion-promise FIN --verify \"{command}\""
    ));
    sent_on(&client.stops("<promise>FIN</promise>"));
    let pid = std::fs::read_to_string(pid).unwrap();
    let alive = std::path::Path::new("/proc").join(pid.trim()).join("stat");
    let state = std::fs::read_to_string(alive).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}
