//! State files of other tools: honoured, kept in step, never lost.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::session::{ONE, TWO, released, sent_on};

const PLUGIN: &str = ".claude/ralph-loop.local.md";
const DELTA: &str = ".claude/ralph-delta.local.md";

fn plugin_file(more: &str, iteration: u32, max: u32) -> String {
    format!(
        "---\nactive: true\niteration: {iteration}\n{more}max_iterations: {max}\ncompletion_promise: \"ALL_SET\"\nstarted_at: \"2026-01-27T04:31:37Z\"\n---\n\nSet the table.\n"
    )
}

#[test]
fn a_loop_of_the_plugin_is_taken_up_where_it_is() {
    let env = TestEnv::new();
    env.write(PLUGIN, &plugin_file("", 2, 4));
    let client = env.claude_session(ONE);
    let answer = client.stops("A fork.\n<promise>CONTINUE</promise>");
    assert!(sent_on(&answer).contains("Set the table."), "{answer}");
    assert_eq!(
        answer["systemMessage"],
        "🔄 Ralph iteration 3 | To stop: output <promise>ALL_SET</promise> (ONLY when statement is TRUE - do not lie to exit!)\niteration 3 of 4: 1 left after this one"
    );
    // It belongs to the session that took it up (STOP-07).
    let owner = format!("session_id: {ONE}\n");
    assert_eq!(env.read(PLUGIN), plugin_file(&owner, 3, 4));
    let stranger = env.claude_session(TWO).stops("Who is there?");
    assert_eq!(stranger, Value::Null);
    assert_eq!(env.read(PLUGIN), plugin_file(&owner, 3, 4));
    sent_on(&client.stops("A knife.\n<promise>CONTINUE</promise>"));
    // At the limit it is kept, and is not active any more.
    let end = client.stops("A spoon.\n<promise>CONTINUE</promise>");
    assert!(released(&end).contains("4/4"), "{end}");
    let kept = plugin_file(&owner, 4, 4).replace("active: true", "active: false");
    assert_eq!(env.read(PLUGIN), kept);
    assert_eq!(client.stops("Anything?"), Value::Null);
}

#[test]
fn the_plugins_file_goes_with_its_promise_and_when_it_is_cancelled() {
    let env = TestEnv::new();
    env.write(PLUGIN, &plugin_file(&format!("session_id: {ONE}\n"), 1, 9));
    let (owner, other) = (env.claude_session(ONE), env.claude_session(TWO));
    let before = env.snapshot();
    assert_eq!(other.stops("Not mine."), Value::Null);
    assert_eq!(env.snapshot(), before);
    sent_on(&owner.stops("Hm."));
    released(&owner.stops("Set.\n<promise>ALL_SET</promise>"));
    assert!(!env.path(PLUGIN).exists());

    env.write(PLUGIN, &plugin_file("", 5, 9));
    let answer = other.says("/cancel-ralph");
    assert_eq!(
        sent_on(&answer),
        "Cancelled Ralph loop (was at iteration 5)"
    );
    assert!(!env.path(PLUGIN).exists());
}

#[test]
fn a_loop_of_the_plugin_without_a_promise_runs_on() {
    let env = TestEnv::new();
    let text = plugin_file("", 1, 0).replace("\"ALL_SET\"", "null");
    env.write(PLUGIN, &text);
    let client = env.claude_session(ONE);
    for n in 0..7 {
        env.write("work.txt", &n.to_string());
        let last = client.stops("Working.");
        assert!(!sent_on(&last).contains("promise"), "{last}");
    }
    env.write("work.txt", "more");
    let last = client.stops("<promise>COMPLETE</promise>");
    assert_eq!(sent_on(&last).trim(), "Set the table.");
    assert_eq!(
        last["systemMessage"],
        "🔄 Ralph iteration 9 | No completion promise set - loop runs infinitely"
    );
}

#[test]
fn a_broken_file_of_the_plugin_traps_nobody_and_stays() {
    let env = TestEnv::new();
    let text = plugin_file("", 1, 3).replace("iteration: 1", "iteration: one");
    env.write(PLUGIN, &text);
    let answer = env.claude_session(ONE).stops("Hm.");
    assert!(released(&answer).contains("iteration"), "{answer}");
    assert_eq!(env.read(PLUGIN), text);
}

fn delta_file(current: u32, promise: &str) -> String {
    format!(
        "# Delta Loop State\n\n## Meta\n- Task ID: abc123\n- Route: RALPH\n- Started: 2026-01-18 10:00:00\n- Last Updated: 2026-01-18 10:35:00\n\n## Iteration\n- Current: {current}\n- Max Allowed: 20\n- Status: IN_PROGRESS\n\n## Progress\n- Current Phase: 3\n- Completed Phases: [1, 2]\n- Current Subtask: 2 / 5\n\n## Pending Work\n1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查\n\n## Completed Work\n### Phase 1: 深度分析\n- 识别 5 个核心子任务\n\n## Promise\n{promise}\n"
    )
}

fn without_times(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("- Last Updated:"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_delta_loop_is_taken_up_and_its_file_stays_the_agents() {
    let env = TestEnv::new();
    env.write(DELTA, &delta_file(3, "<!-- 未完成 -->"));
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    let answer = client.stops("第三次迭代。");
    let reason = sent_on(&answer);
    for part in [
        "🔄 迭代继续 | 第 4/20 次",
        "### Phase 1: 深度分析",
        "2. Phase 4: 综合审查",
        "- 路由: RALPH",
        "- 阶段: Phase 3",
        "- 子任务: 2 / 5",
        "<promise>TASK_COMPLETE</promise>",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    // Only the counter and the time changed.
    assert_eq!(
        without_times(&env.read(DELTA)),
        without_times(&delta_file(4, "<!-- 未完成 -->"))
    );
    // The agent edits its sections and sets its promise in the file.
    let edited = env
        .read(DELTA)
        .replace("- Current Phase: 3", "- Current Phase: 4")
        .replace("[1, 2]", "[1, 2, 3, 4]")
        .replace("2 / 5", "5 / 5")
        .replace("<!-- 未完成 -->", "<promise>TASK_COMPLETE</promise>");
    env.write(DELTA, &edited);
    let end = client.stops("都做完了。");
    assert!(!released(&end).is_empty(), "{end}");
    assert_eq!(env.json(".ralph/status.json")["reason"], "unproven");
}

/// CONF-05: a gate around an agent in a session too; it says no promise.
#[test]
fn the_preset_verify_lets_go_when_the_checks_pass() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Make it ready --preset verify --verify 'test -f done.txt'");
    let answer = client.stops("Done.");
    assert!(sent_on(&answer).contains("test -f done.txt"), "{answer}");
    assert!(
        answer.to_string().contains("Ends when the checks pass"),
        "{answer}"
    );
    env.write("done.txt", "");
    let end = client.stops("Done again.");
    assert!(released(&end).contains("test -f done.txt"), "{end}");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
}

#[test]
fn a_promise_in_the_state_file_is_proven_like_any_other() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop 做完它 --preset delta --verify 'test -f done.txt'");
    let first = env.read(DELTA);
    assert!(
        first.contains("- Current: 1\n- Max Allowed: 20\n- Status: IN_PROGRESS"),
        "{first}"
    );
    let claim = |text: &str| text.replace("<!-- 未完成 -->", "<promise>TASK_COMPLETE</promise>");
    env.write(DELTA, &claim(&first));
    let answer = client.stops("Done.");
    assert!(sent_on(&answer).contains("test -f done.txt"), "{answer}");
    let second = env.read(DELTA);
    assert!(second.contains("- Current: 2"), "{second}");
    assert!(second.contains("<!-- 未完成 -->"), "{second}");
    env.write(DELTA, &claim(&second));
    env.write("done.txt", "");
    let end = client.stops("Done.");
    assert!(released(&end).contains("test -f done.txt"), "{end}");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    // The state went into the history, with a report.
    let history = std::fs::read_dir(env.path(".skillpack/history")).unwrap();
    let mut entries = history.map(|entry| entry.unwrap().path());
    let entry = entries.find(|path| path.is_dir()).unwrap();
    let files: Vec<String> = std::fs::read_dir(&entry)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["journal.jsonl", "manifest.json", "report.md"] {
        assert!(files.iter().any(|file| file == name), "{name}: {files:?}");
    }
}

#[test]
fn a_delta_loop_of_another_session_or_without_sense_is_left_alone() {
    let env = TestEnv::new();
    let foreign = delta_file(3, "<!-- 未完成 -->").replace(
        "- Route: RALPH",
        &format!("- Route: RALPH\n- Session: {TWO}"),
    );
    env.write(DELTA, &foreign);
    let client = env.claude_session(ONE);
    assert_eq!(client.stops("Not mine."), Value::Null);
    assert_eq!(env.read(DELTA), foreign);
    let broken = "# Delta Loop State\n\n## Iteration\n- Current: many\n";
    env.write(DELTA, broken);
    let answer = client.stops("Hm.");
    assert!(!released(&answer).is_empty(), "{answer}");
    assert_eq!(env.read(DELTA), broken);
    assert_eq!(json!(client.stops("Hm.")["decision"]), Value::Null);
}
