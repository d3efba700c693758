//! A person's own assistant over the Model Context Protocol (issue 23).

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::env::{RALPH, TestEnv};
use crate::live::{eventually, shell_agent};

/// The other end: says what a client says, and waits for each answer.
struct Assistant {
    child: Child,
    says: Option<ChildStdin>,
    hears: BufReader<ChildStdout>,
    number: u64,
}

impl Assistant {
    fn of(env: &TestEnv, allowed: &[&str]) -> Assistant {
        let mut command = env.command(&[&["mcp"], allowed].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut assistant = Assistant {
            says: child.stdin.take(),
            hears: BufReader::new(child.stdout.take().unwrap()),
            child,
            number: 0,
        };
        let told = assistant.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(told["serverInfo"]["name"], "ralph");
        assert!(told["capabilities"]["tools"].is_object(), "{told}");
        assistant.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assistant
    }

    fn say(&mut self, message: &Value) {
        let says = self.says.as_mut().unwrap();
        writeln!(says, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let number = self.number;
        self.say(&json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.hears.read_line(&mut line).unwrap() > 0, "it ended");
            let told: Value = serde_json::from_str(&line).unwrap();
            if told["id"] == number {
                assert!(told["error"].is_null(), "{told}");
                return told["result"].clone();
            }
        }
    }

    /// Whether it went wrong, and the words.
    fn call(&mut self, name: &str, arguments: &Value) -> (bool, String) {
        let told = self.ask(
            "tools/call",
            &json!({ "name": name, "arguments": arguments }),
        );
        let text = told["content"][0]["text"].as_str().unwrap().to_owned();
        (told["isError"] == true, text)
    }

    fn tools(&mut self) -> Vec<String> {
        let told = self.ask("tools/list", &json!({}));
        let tools = told["tools"].as_array().unwrap();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    }

    /// The client goes; the server ends by itself.
    fn leave(mut self) {
        drop(self.says.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn an_assistant_looks_at_a_run_and_changes_nothing() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[
        json!({ "write": {"a.txt": "1"}, "tick": ["T001"], "say": "<promise>COMPLETE</promise>" }),
    ]);
    let run = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let before = env.snapshot();
    let mut assistant = Assistant::of(&env, &[]);
    let looks = ["status", "report", "show", "diff", "tasks", "questions"];
    assert_eq!(assistant.tools(), looks);
    let mut json = |name: &str| -> Value {
        let (failed, text) = assistant.call(name, &json!({}));
        assert!(!failed, "{name}: {text}");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(json("status")["status"], "complete");
    assert_eq!(json("report")["outcome"], "complete");
    json("tasks");
    json("questions");
    let (failed, text) = assistant.call("show", &json!({ "turn": 1 }));
    assert!(!failed && text.contains("T001"), "{text}");
    let (failed, text) = assistant.call("diff", &json!({ "stat": true }));
    assert!(!failed && text.contains("tasks.md"), "{text}");
    let (failed, text) = assistant.call("show", &json!({ "turn": 7 }));
    assert!(failed && !text.is_empty(), "{text}");
    for (name, given) in [
        ("hint", json!({ "text": "hello" })),
        ("stop", json!({})),
        ("start", json!({})),
        ("answer", json!({ "question": 1, "text": "yes" })),
    ] {
        let (failed, text) = assistant.call(name, &given);
        assert!(failed && text.contains("--allow"), "{name}: {text}");
    }
    let (failed, text) = assistant.call("uninstall", &json!({}));
    assert!(failed && text.contains("no tool"), "{text}");
    assistant.leave();
    assert_eq!(before, env.snapshot());
}

#[test]
fn an_assistant_that_may_starts_hints_answers_and_stops() {
    let env = TestEnv::with_tasks(2);
    let agent = shell_agent(
        &env,
        r#"cat > "$(dirname "$0")/prompt"
grep -q 'use the small one' "$(dirname "$0")/prompt" && touch "$(dirname "$0")/heard"
if [ ! -e "$(dirname "$0")/asked" ]; then
  touch "$(dirname "$0")/asked"
  echo '<promise>QUESTION: Which one?</promise>'
  exit 0
fi
sleep 0.1
echo '<promise>CONTINUE</promise>'
"#,
    );
    env.write(
        ".ralph/config.toml",
        &format!("[agent]\nname = \"custom\"\ncommand = {agent:?}\n[limits]\nstalled = 0\nmax_iterations = 5000\n"),
    );
    env.git(&["add", "-A"]);
    let mut assistant = Assistant::of(&env, &["--allow"]);
    assert_eq!(assistant.tools().len(), 10);
    let (failed, text) = assistant.call("start", &json!({ "agent_cmd": "true" }));
    assert!(failed && text.contains("takes no"), "{text}");
    let (failed, text) = assistant.call("start", &json!({}));
    assert!(!failed, "{text}");
    // One that runs is not taken for another that was refused.
    let (failed, text) = assistant.call("start", &json!({}));
    assert!(failed, "{text}");
    let questions = eventually("a question", || {
        let (failed, text) = assistant.call("questions", &json!({}));
        let open: Value = serde_json::from_str(&text).ok()?;
        (!failed && open.as_array().is_some_and(|open| !open.is_empty())).then_some(open)
    });
    let question = questions[0]["id"].clone();
    let (failed, text) = assistant.call(
        "answer",
        &json!({ "question": question, "text": "the red one" }),
    );
    assert!(!failed, "{text}");
    let (failed, text) = assistant.call("hint", &json!({ "text": "use the small one" }));
    assert!(!failed, "{text}");
    eventually("the hint", || env.outside("heard").exists().then_some(()));
    let (failed, text) = assistant.call("stop", &json!({}));
    assert!(!failed, "{text}");
    // The run outlives the assistant that started it; this one was stopped.
    assistant.leave();
    eventually("the end", || {
        env.layout().current_run().unwrap().is_none().then_some(())
    });
}

/// Whatever its environment looks like, the agent of a run gets no server.
#[test]
fn the_agent_of_a_run_gets_none() {
    let env = TestEnv::with_tasks(1);
    let out = env.outside("code");
    let script = format!(
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" XDG_STATE_HOME=\"$XDG_STATE_HOME\" {RALPH} mcp </dev/null; echo $? > {}\necho '<promise>CONTINUE</promise>'\n",
        out.display()
    );
    let agent = shell_agent(&env, &script);
    env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    assert_eq!(std::fs::read_to_string(out).unwrap().trim(), "1");
}
