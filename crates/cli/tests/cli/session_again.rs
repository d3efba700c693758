//! What a session is told again: where the work stands, how the loop ends,
//! and a loop that is taken up instead of begun anew.

use serde_json::Value;

use crate::env::TestEnv;
use crate::session::{ONE, TWO, context, released, sent_on};
use crate::session_do::leave;

const DELTA: &str = ".claude/ralph-delta.local.md";

fn change(env: &TestEnv, done: usize) {
    let boxes = (1..=3).map(|n| {
        let mark = if n <= done { 'x' } else { ' ' };
        format!("- [{mark}] 1.{n} Make part {n}\n")
    });
    let text = format!("## 1. Work\n\n{}", boxes.collect::<String>());
    env.write("openspec/changes/add-x/tasks.md", &text);
}

/// A phase is told with the frame of seed 004 around its own prompt.
#[test]
fn a_phase_is_told_where_the_work_stands_rein_01() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    client.says("/do \"Build the thing\" --deep");
    leave(&env, "1_analysis.md", "two parts");
    let plan = client.stops("analysed");
    let told = sent_on(&plan);
    for part in [
        "🔄 迭代继续 | 第 2/",
        "## 上次进度",
        "### Phase 1: 深度分析",
        "## 待完成工作",
        "Phase 3: 执行子任务",
        "- 路由: RALPH",
        "- 阶段: Phase 2",
        "## 指令",
        "根据 .skillpack/current/1_analysis.md 规划这个任务",
        "在结果文件中将子任务写成未勾选方框的清单",
        "2_plan.md",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    // What keeps the phase open comes first.
    leave(&env, "2_plan.md", "no boxes");
    let again = client.stops("planned");
    let told = sent_on(&again);
    let note = told.find("2_plan.md` 没有未勾选的项目").unwrap();
    assert!(note < told.find('🔄').unwrap(), "{told}");
}

#[test]
fn a_route_without_a_state_file_is_told_the_same_way_rein_01() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-TW");
    client.says("/do \"Build the thing\" --route planned");
    leave(&env, "1_plan.md", "the plan");
    let next = client.stops("planned");
    let told = sent_on(&next);
    for part in [
        "## 上次進度\n```\nPhase 1: 規劃\n```",
        "Phase 2: 實現\nPhase 3: 審查",
        "- 路由: PLANNED",
        "- 階段: Phase 2",
        "2_implementation.md",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
}

#[test]
fn the_banner_names_what_ends_the_loop_in_the_persons_language_rein_02() {
    for (lang, want) in [
        ("en", "To stop: output <promise>所有任務完成</promise>"),
        ("zh-TW", "要結束：輸出 <promise>所有任務完成</promise>"),
        ("zh-CN", "要结束：输出 <promise>所有任務完成</promise>"),
    ] {
        let env = TestEnv::new();
        change(&env, 0);
        let client = env.claude_session(ONE).var("RALPH_LANG", lang);
        env.write(".ralph/config.toml", "[roles]\nenabled = false\n");
        client.says("/ralph-loop --openspec add-x --preset openspec");
        change(&env, 1);
        let next = client.stops("One.");
        let banner = next["systemMessage"].as_str().unwrap();
        assert!(banner.contains(want), "{banner}");
        assert!(!banner.contains("infinitely"), "{banner}");
    }
}

#[test]
fn how_a_loop_stands_is_said_in_the_persons_language() {
    for (lang, active, paused) in [
        ("en", "active", "paused"),
        ("zh-TW", "執行中", "已暫停"),
        ("zh-CN", "运行中", "已暂停"),
    ] {
        let env = TestEnv::new();
        change(&env, 0);
        let client = env.claude_session(ONE).var("RALPH_LANG", lang);
        client.says("/ralph-loop --openspec add-x");
        let asked = |want: &str| {
            let told = client.says("/ralph-status");
            let reason = told["reason"].as_str().unwrap_or_default();
            assert!(reason.contains(&format!(" · {want} · ")), "{lang}: {told}");
        };
        asked(active);
        client.says("pause");
        asked(paused);
    }
}

/// Whatever a preset says of missing promises: one that is configured is named.
#[test]
fn the_banner_of_any_preset_names_the_configured_promise_rein_02() {
    let check = |start: &str, said: &str, want: &str| {
        let env = TestEnv::new();
        change(&env, 0);
        let client = env.claude_session(ONE);
        let begun = client.says(start);
        context(&begun);
        let next = client.stops(said);
        let banner = next["systemMessage"].as_str().unwrap_or_default();
        assert!(banner.starts_with("🔄 Ralph iteration "), "{start}: {next}");
        assert!(banner.contains(want), "{start}: {next}");
        assert!(!banner.contains("No completion promise"), "{start}: {next}");
    };
    let asked = "To stop: output <promise>FIN</promise> (ONLY when statement is TRUE";
    let of_preset = "Ends when every task has passed its roles; <promise>所有任務完成</promise> alone ends nothing";
    let in_roles =
        "Ends when every task has passed its roles; <promise>FIN</promise> alone ends nothing";
    check(
        "/ralph-loop \"Make it\" --preset openspec --completion-promise FIN",
        "One.",
        asked,
    );
    check(
        "/ralph-loop \"Make it\" --preset delta --completion-promise FIN",
        "One.",
        asked,
    );
    check(
        "/ralph-loop --openspec add-x --preset openspec",
        "One.",
        of_preset,
    );
    check(
        "/ralph-loop --openspec add-x --preset openspec --completion-promise FIN",
        "<promise>FIN</promise>",
        in_roles,
    );
}

#[test]
fn a_loop_is_warned_of_a_lower_cap_of_its_client_stop_08() {
    let start = "/ralph-loop Work --completion-promise FIN --max-iterations 8";
    for (cap, warned) in [
        (None, true),
        (Some("8"), true),
        (Some("9"), false),
        (Some("0"), false),
    ] {
        let env = TestEnv::new();
        let mut client = env.claude_session(ONE);
        if let Some(cap) = cap {
            client = client.var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap);
        }
        let begun = client.says(start);
        let message = begun["systemMessage"].as_str().unwrap_or_default();
        let says = message.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
        assert_eq!(says, warned, "{cap:?}: {message}");
    }
}

/// STOP-08: what is advised has to help.
#[test]
fn init_is_only_advised_where_it_raises_the_cap_far_enough() {
    for (settings, sets_limit) in [("", true), ("[limits]\nmax_iterations = 100\n", false)] {
        let env = TestEnv::new();
        env.write(".ralph/config.toml", settings);
        let client = env.claude_session(ONE);
        let client = client.var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "51");
        let begun = client.says("/ralph-loop Work --max-iterations 100");
        let message = begun["systemMessage"].as_str().unwrap_or_default();
        assert!(message.contains("ralph init"), "{message}");
        let says = message.contains("limits.max_iterations");
        assert_eq!(says, sets_limit, "{message}");
    }
}

/// A hook that fails lets the agent go and says FAILED in the state file,
/// until the loop goes on (STOP-10).
#[test]
fn a_hook_that_fails_marks_the_state_file_stop_10() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/do \"Build the thing\" --deep");
    assert!(env.read(DELTA).contains("- Status: IN_PROGRESS"));
    let silent = client.hook(
        "stop",
        "Stop",
        &serde_json::json!({"stop_hook_active": false}),
    );
    assert!(released(&silent).contains("transcript"), "{silent}");
    assert!(env.read(DELTA).contains("- Status: FAILED"));
    context(&client.says("continue"));
    assert!(env.read(DELTA).contains("- Status: IN_PROGRESS"));

    env.write(
        ".ralph/config.toml",
        "[limits]\nmax_iterations = \"many\"\n",
    );
    let broken = client.stops("analysed");
    assert!(released(&broken).contains("max_iterations"), "{broken}");
    assert!(env.read(DELTA).contains("- Status: FAILED"));
    env.write(".ralph/config.toml", "");
    leave(&env, "1_analysis.md", "two parts");
    sent_on(&client.stops("analysed"));
    assert!(env.read(DELTA).contains("- Status: IN_PROGRESS"));
}

#[test]
fn the_loop_of_a_change_goes_on_after_a_pause_resm_01() {
    for again in [
        "/ralph-loop --openspec add-x",
        "/ralph-loop --openspec add-x --max-iterations 9",
    ] {
        for session in [ONE, TWO] {
            let env = TestEnv::new();
            change(&env, 0);
            let client = env.claude_session(ONE);
            client.says("/ralph-loop --openspec add-x --max-iterations 9");
            change(&env, 1);
            sent_on(&client.stops("<promise>CONTINUE</promise>"));
            client.says("暫停");
            assert_eq!(client.stops("Resting."), Value::Null);
            let on = env.claude_session(session).says(again);
            let told = context(&on);
            assert!(told.contains("| 2/9") || told.contains("| 3/9"), "{told}");
            assert!(told.contains("- [ ] 1.2 Make part 2"), "{told}");
            let message = on["systemMessage"].as_str().unwrap();
            assert!(message.contains("where it was left"), "{message}");
            let runs = env.ralph(&["events", "--json"]).events();
            assert_eq!(crate::env::named(&runs, "loop_start").len(), 1);
        }
    }
}

/// Another change, another wish, or a run that is over: begun anew.
#[test]
fn another_wish_begins_a_loop_of_its_own_resm_01() {
    for other in [
        "/ralph-loop --openspec add-y",
        "/ralph-loop --openspec add-x --verify false",
    ] {
        let env = TestEnv::new();
        change(&env, 0);
        env.write(
            "openspec/changes/add-y/tasks.md",
            "## 1. Y\n\n- [ ] 1.1 Make y\n",
        );
        let client = env.claude_session(ONE);
        client.says("/ralph-loop --openspec add-x");
        change(&env, 1);
        sent_on(&client.stops("<promise>CONTINUE</promise>"));
        client.says("暫停");
        let begun = client.says(other);
        let message = begun["systemMessage"].as_str().unwrap_or_default();
        assert!(!message.contains("where it was left"), "{message}");
    }
}

#[test]
fn what_the_guard_blocks_in_a_session_is_told_evnt_04() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE);
    client.says("/ralph-loop Work --completion-promise FIN");
    let call = |command: &str| {
        let fields = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command});
        let payload = client.payload("PreToolUse", &fields);
        let args = ["--host", "claude", "pre-tool-use"];
        env.call_hook(&args, &payload, &client.vars)
    };
    let blocks = || {
        let told = env.ralph(&["events", "--json"]).events();
        let found = told.iter().filter(|event| event["event"] == "guard_block");
        found.cloned().collect::<Vec<_>>()
    };
    assert_eq!(call("ls").code, 0);
    assert_eq!(call("git push --force origin main").code, 2);
    sent_on(&client.stops("One."));
    let told = blocks();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["iteration"], 1, "{told:?}");
    assert_eq!(told[0]["tool"], "Bash", "{told:?}");
    // Told once, and what comes later under its own iteration.
    assert_eq!(call("rm -rf /").code, 2);
    sent_on(&client.stops("Two."));
    let told = blocks();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1]["iteration"], 2, "{told:?}");
    // What nobody's session did is nobody's.
    let strange = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    let args = ["--host", "claude", "pre-tool-use"];
    assert_eq!(env.call_hook(&args, &strange, &client.vars).code, 2);
    sent_on(&client.stops("Three."));
    assert_eq!(blocks().len(), 2);
}

/// TMPL-07, REIN-01: what is said before the prompt is in its language.
#[test]
fn notes_are_told_in_the_persons_language_rein_01() {
    for (lang, begins, rejected) in [
        ("en", "READ THIS FIRST", "was REJECTED: the evidence"),
        ("zh-TW", "請先讀這裡", "被拒絕（REJECTED）：證據並非如此"),
        ("zh-CN", "请先读这里", "被拒绝（REJECTED）：证据并非如此"),
    ] {
        let env = TestEnv::new();
        let client = env.claude_session(ONE).var("RALPH_LANG", lang);
        client.says("/ralph-loop Work --completion-promise FIN --verify false");
        let next = client.stops("<promise>FIN</promise>");
        let told = sent_on(&next);
        assert!(told.contains(begins), "{told}");
        assert!(told.contains("`<promise>FIN</promise>`"), "{told}");
        assert!(told.contains(rejected), "{told}");
    }
}

/// What a person says beside a list goes along with every turn (REIN-02).
#[test]
fn words_beside_a_list_are_not_lost_rein_02() {
    let env = TestEnv::new();
    env.write("tasks.md", "- [ ] T001 Do it\n");
    let client = env.claude_session(ONE);
    let begun = client.says("/ralph-loop \"Never touch vendor/\" --tasks tasks.md");
    assert!(context(&begun).contains("Never touch vendor/"), "{begun}");
    let next = client.stops("One. <promise>CONTINUE</promise>");
    let told = next["reason"].as_str().unwrap_or_default();
    assert!(told.contains("Never touch vendor/"), "{next}");
}
