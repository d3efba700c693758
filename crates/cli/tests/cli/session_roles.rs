//! Roles in a session (seed 000): the client's subagents play them, and the
//! hooks hold the order, the write ban, the counts and the display.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};
use crate::session::{Client, ONE, context, released, sent_on};

/// A loop over so many tasks whose roles subagents play.
fn begun<'a>(env: &'a TestEnv, lang: &str) -> (Client<'a>, Value) {
    env.write(
        ".ralph/config.toml",
        "[roles]\nenabled = true\n[evidence]\nlevel = \"claimed\"\n",
    );
    let client = env.claude_session(ONE).var("RALPH_LANG", lang);
    let begun = client.says("/ralph-loop --tasks tasks.md");
    (client, begun)
}

fn call(role: &str) -> Value {
    json!({"description": format!("{role}: T001"), "prompt": "my own words", "subagent_type": "general-purpose"})
}

impl Client<'_> {
    /// The client asks before a tool call.
    fn asks(&self, tool: &str, input: &Value) -> Done {
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "t"});
        let payload = self.payload("PreToolUse", &fields);
        let args = ["--host", "claude", "pre-tool-use"];
        self.env.call_hook(&args, &payload, &self.vars)
    }

    /// What a role is told when it is called in its turn.
    fn told(&self, role: &str) -> Value {
        let asked = self.asks("Agent", &call(role));
        assert_eq!(asked.code, 0, "{role}: {}", asked.stderr);
        let answer: Value = serde_json::from_str(&asked.stdout).unwrap();
        answer["hookSpecificOutput"]["updatedInput"].clone()
    }

    fn refused(&self, role: &str) -> String {
        let asked = self.asks("Agent", &call(role));
        assert_eq!(asked.code, 2, "{role}: {}", asked.stdout);
        asked.stderr
    }

    fn answers(&self, role: &str, said: &str) -> Value {
        let prompt = self.told(role)["prompt"].clone();
        let response = json!({
            "status": "completed", "prompt": prompt, "agentId": "a1", "agentType": "general-purpose",
            "content": [{"type": "text", "text": "<tools-used>Bash</tools-used>"}, {"type": "text", "text": said}],
        });
        self.responds(role, &response)
    }

    fn responds(&self, role: &str, response: &Value) -> Value {
        let fields =
            json!({"tool_name": "Agent", "tool_input": call(role), "tool_response": response});
        self.hook("post-tool-use", "PostToolUse", &fields)
    }
}

fn next(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_task_goes_through_its_roles_and_ralph_ticks_it_role_05() {
    let env = TestEnv::with_tasks(2);
    let (client, begun) = begun(&env, "en");
    let told = context(&begun);
    assert!(
        told.contains("It is the turn of the DEVELOPER of T001"),
        "{told}"
    );

    // The role hears Ralph's words, not those of whoever calls it.
    let input = client.told("DEVELOPER");
    let prompt = input["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("You are the DEVELOPER of a team"),
        "{prompt}"
    );
    assert!(prompt.contains("T001 Do thing 1"), "{prompt}");
    assert_eq!(input["run_in_background"], false);
    assert_eq!(input["subagent_type"], "general-purpose");
    // It works here, alone, whatever it is called with.
    let odd = json!({"description": "DEVELOPER", "prompt": "p", "subagent_type": "fork", "isolation": "worktree", "run_in_background": true});
    let asked: Value = serde_json::from_str(&client.asks("Agent", &odd).stdout).unwrap();
    let made = &asked["hookSpecificOutput"]["updatedInput"];
    assert_eq!(made["subagent_type"], "general-purpose");
    assert_eq!(
        (&made["isolation"], &made["run_in_background"]),
        (&Value::Null, &json!(false))
    );
    env.write("a.txt", "work");
    let review = client.answers("DEVELOPER", "done");
    assert!(next(&review).contains("turn of the REVIEWER"), "{review}");
    assert_eq!(
        review["systemMessage"],
        "🔄 Ralph iteration 2 | T001 · DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳ | Ends when every task has passed its roles; <promise>COMPLETE</promise> alone ends nothing"
    );

    let refused = client.refused("TESTER");
    assert!(refused.contains("D→R→T (risk: MEDIUM)"), "{refused}");
    let refused = client.refused("DEVELOPER");
    assert!(refused.contains("turn of the REVIEWER"), "{refused}");
    let back = client.answers(
        "REVIEWER",
        "FINDING high: a.txt says nothing\n\nVERDICT: REJECT",
    );
    assert!(next(&back).contains("turn of the DEVELOPER"), "{back}");
    let prompt = client.told("DEVELOPER")["prompt"].to_string();
    assert!(prompt.contains("a.txt says nothing"), "{prompt}");
    env.write("a.txt", "better work");
    client.answers("DEVELOPER", "repaired");
    client.answers("REVIEWER", "I read it.\n\nVERDICT: APPROVE");
    let on = client.answers("TESTER", "RESULT: PASS");
    assert!(env.read("tasks.md").contains("- [x] T001"));
    assert!(next(&on).contains("turn of the DEVELOPER of T002"), "{on}");

    env.write("b.txt", "work");
    client.answers("DEVELOPER", "done");
    client.answers("REVIEWER", "VERDICT: APPROVE");
    let end = client.answers("TESTER", "RESULT: PASS");
    assert!(next(&end).contains("Call no more roles"), "{end}");
    let status = env.json(".ralph/status.json");
    assert_eq!(
        (&status["status"], &status["iteration"]),
        (&json!("complete"), &json!(8))
    );
    assert_eq!(status["dispatches"], 8);
    assert_eq!(
        client.stops("All done.\n<promise>所有任務完成</promise>"),
        Value::Null
    );
}

#[test]
fn the_words_of_a_refusal_are_those_of_the_flow_role_05() {
    for (lang, want) in [
        (
            "zh-TW",
            "跳過 REVIEWER 審查，違反 D→R→T 流程（風險等級: MEDIUM）",
        ),
        (
            "zh-CN",
            "跳过 REVIEWER 审查，违反 D→R→T 流程（风险等级: MEDIUM）",
        ),
    ] {
        let env = TestEnv::with_tasks(1);
        let (client, _) = begun(&env, lang);
        env.write("a.txt", "work");
        client.answers("DEVELOPER", "done");
        let refused = client.refused("TESTER");
        assert!(refused.contains(want), "{refused}");
    }
}

/// While a reviewer looks, nothing is written: the hook refuses it, and what
/// gets through anyway makes the verdict void.
#[test]
fn a_reviewer_only_looks() {
    let env = TestEnv::with_tasks(1);
    let (client, _) = begun(&env, "en");
    let write = json!({"file_path": env.path("a.txt"), "content": "x"});
    assert_eq!(client.asks("Write", &write).code, 0);
    env.write("a.txt", "work");
    client.answers("DEVELOPER", "done");
    let refused = client.asks("Write", &write);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("REVIEWER"), "{}", refused.stderr);
    client.told("REVIEWER");
    env.write("a.txt", "mended by the reviewer");
    let again = client.answers("REVIEWER", "VERDICT: APPROVE");
    assert!(next(&again).contains("turn of the REVIEWER"), "{again}");
    let events = env.ralph(&["events", "--json"]).events();
    assert_eq!(named(&events, "role_violation").len(), 1);
    let prompt = client.told("REVIEWER")["prompt"].to_string();
    assert!(prompt.contains("your verdict is void"), "{prompt}");
    client.answers("REVIEWER", "VERDICT: APPROVE");
    assert_eq!(client.asks("Write", &write).code, 0, "the tester may");
}

#[test]
fn whoever_stops_without_calling_the_role_is_sent_back() {
    let env = TestEnv::with_tasks(1);
    let (client, _) = begun(&env, "en");
    env.write("a.txt", "done by the main agent");
    let back = client.stops("I did it myself.\n\n<promise>COMPLETE</promise>");
    let told = sent_on(&back);
    assert!(told.contains("the DEVELOPER was not called"), "{told}");
    assert!(told.contains("turn of the DEVELOPER of T001"), "{told}");
    // The words of somebody else are nobody's verdict.
    client.answers("DEVELOPER", "done");
    sent_on(&client.stops("VERDICT: APPROVE"));
    assert_eq!(env.json(".ralph/status.json")["flow"]["step"], "reviewer");
    // One that does so for ever is let go.
    let mut last = Value::Null;
    for _ in 0..8 {
        last = client.stops("VERDICT: APPROVE");
        if last["decision"] != "block" {
            break;
        }
    }
    assert!(!released(&last).is_empty(), "{last}");
}

/// What is not a role, not in its turn, or still running leads to nothing.
#[test]
fn other_subagents_pass() {
    let env = TestEnv::with_tasks(1);
    let (client, _) = begun(&env, "en");
    let explore = json!({"subagent_type": "Explore", "description": "Find the developer guide"});
    let asked = client.asks("Agent", &explore);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, ""));
    let approved =
        json!({"status": "completed", "content": [{"type": "text", "text": "VERDICT: APPROVE"}]});
    assert_eq!(client.responds("REVIEWER", &approved), Value::Null);
    // Whoever was told something else has not played the role.
    let other = client.responds("DEVELOPER", &approved);
    assert!(released(&other).contains("does not count"), "{other}");
    let background = client.responds("DEVELOPER", &json!({"status": "async_launched"}));
    assert!(next(&background).contains("foreground"), "{background}");
    assert_eq!(env.json(".ralph/status.json")["iteration"], 1);
    // Another session has nothing to do with it.
    let other = env.claude_session(crate::session::TWO);
    let asked = other.asks("Agent", &call("TESTER"));
    assert_eq!((asked.code, asked.stdout.as_str()), (0, ""));
}

/// Each call is an iteration (seed 000); at the limit a person decides.
#[test]
fn calls_are_counted_and_held_at_the_limit() {
    let env = TestEnv::with_tasks(2);
    env.write(
        ".ralph/config.toml",
        "[roles]\nenabled = true\n[limits]\nmax_iterations = 2\n",
    );
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md");
    env.write("a.txt", "work");
    client.answers("DEVELOPER", "done");
    let end = client.answers("REVIEWER", "VERDICT: APPROVE");
    assert!(
        end["systemMessage"].as_str().unwrap().contains("2/2"),
        "{end}"
    );
    let refused = client.refused("TESTER");
    assert!(refused.contains("a person decides"), "{refused}");
    assert_eq!(client.stops("Resting."), Value::Null);
    let on = client.says("繼續");
    assert!(context(&on).contains("turn of the TESTER"), "{on}");
    client.answers("TESTER", "RESULT: PASS");
    assert!(env.read("tasks.md").contains("- [x] T001"));
}

/// A failed test goes through the debugger back to the developer (ROLE-02).
#[test]
fn a_failed_test_goes_to_the_debugger() {
    let env = TestEnv::with_tasks(1);
    let (client, _) = begun(&env, "en");
    env.write("a.txt", "work");
    client.answers("DEVELOPER", "done");
    client.answers("REVIEWER", "VERDICT: APPROVE");
    let debug = client.answers("TESTER", "FINDING high: it crashes\n\nRESULT: FAIL");
    assert!(next(&debug).contains("turn of the DEBUGGER"), "{debug}");
    let on = client.answers("DEBUGGER", "a.txt line 1 is the cause");
    assert!(next(&on).contains("turn of the DEVELOPER"), "{on}");
    let prompt = client.told("DEVELOPER")["prompt"].to_string();
    assert!(prompt.contains("a.txt line 1 is the cause"), "{prompt}");
}

/// ROLE-03, ROLE-04: what was changed makes a task riskier than its words, and
/// a riskier review has the model for it.
#[test]
fn risk_follows_the_changed_files_and_the_model_the_risk_role_04() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "# Tasks\n\n- [ ] T001 Describe it in README.md\n",
    );
    crate::roles::commit(&env);
    env.write(
        ".ralph/config.toml",
        "[roles]\nenabled = true\nhigh_model = \"opus\"\n",
    );
    let client = env.claude_session(ONE);
    client.says("/ralph-loop --tasks tasks.md");
    assert_eq!(env.json(".ralph/status.json")["flow"]["risk"], "LOW");
    env.write("src/auth/login.rs", "fn login() {}\n");
    let review = client.answers("DEVELOPER", "done");
    assert!(next(&review).contains("turn of the REVIEWER"), "{review}");
    assert_eq!(env.json(".ralph/status.json")["flow"]["risk"], "HIGH");
    let events = env.ralph(&["events", "--json"]).events();
    assert_eq!(named(&events, "risk_seen").len(), 1);
    assert_eq!(client.told("REVIEWER")["model"], "opus");
    let refused = client.refused("TESTER");
    assert!(refused.contains("risk: HIGH"), "{refused}");
}

/// After a compaction the agent is told whose turn it is.
#[test]
fn whose_turn_it_is_is_told_again() {
    let env = TestEnv::with_tasks(1);
    let (client, _) = begun(&env, "en");
    env.write("a.txt", "work");
    client.answers("DEVELOPER", "done");
    let told = client.hook(
        "session-start",
        "SessionStart",
        &json!({"source": "compact"}),
    );
    assert!(context(&told).contains("turn of the REVIEWER"), "{told}");
}
