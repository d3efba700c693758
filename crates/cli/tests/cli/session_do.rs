//! `/do` in a session: the score card, each route's first phase, and a deep
//! task from its analysis to its archive, as the client's hooks drive it.

use serde_json::{Value, json};

use crate::env::{TestEnv, named};
use crate::session::{Client, ONE, TWO, context, released, sent_on};

const OUT: &str = ".skillpack/current";

pub fn leave(env: &TestEnv, file: &str, text: &str) {
    env.write(&format!("{OUT}/{file}"), text);
}

fn events(env: &TestEnv) -> Vec<Value> {
    env.ralph(&["events", "--json"]).events()
}

fn steps(env: &TestEnv) -> Vec<String> {
    let events = events(env);
    let starts = named(&events, "role_start");
    let step = |event: &&Value| event["step"].as_str().unwrap().to_owned();
    starts.iter().map(step).collect()
}

#[test]
fn each_route_begins_with_its_first_phase() {
    for (wish, route, step, file, names) in [
        ("-q", "DIRECT", "execute", "output.txt", "Do this task"),
        ("--route planned", "PLANNED", "plan", "1_plan.md", "Plan"),
        (
            "--deep", "RALPH", "analysis", "1_analysis.md", "Analyse this task",
        ),
        (
            "--route=architect",
            "ARCHITECT",
            "analysis",
            "1_architecture_analysis.md",
            "architecture",
        ),
        (
            "--route ui-flow", "UI_FLOW", "design", "1_ui_design.md", "Design",
        ),
    ] {
        let env = TestEnv::new();
        let begun = env
            .claude_session(ONE)
            .says(&format!("/do \"Rework the $(pwd) page\" {wish}"));
        let told = context(&begun);
        assert!(told.contains("Rework the $(pwd) page"), "{told}");
        assert!(told.contains(names), "{wish}: {told}");
        assert!(told.contains(&format!("{OUT}/{file}")), "{wish}: {told}");
        let message = begun["systemMessage"].as_str().unwrap();
        assert!(
            message.contains(&format!("Route: {route} (score ")),
            "{message}"
        );
        assert_eq!(steps(&env), [step], "{wish}");
        assert_eq!(env.json(&format!("{OUT}/checkpoint.json"))["route"], route);
    }
}

#[test]
fn the_score_chooses_where_nobody_does() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-TW");
    let begun = client.says("/do 修正 README 的錯字");
    let message = begun["systemMessage"].as_str().unwrap();
    assert!(message.contains("路由: DIRECT"), "{message}");
    assert_eq!(steps(&env), ["execute"]);
}

#[test]
fn the_card_is_shown_to_the_person_and_nothing_is_done() {
    let env = TestEnv::new();
    let before = env.snapshot();
    let client = env.claude_session(ONE);
    let card = client.says("/do \"Fix a typo in the README\" --explain");
    let card = sent_on(&card);
    let same = env.ralph(&["do", "Fix a typo in the README", "--explain"]);
    assert_eq!(card.trim(), same.stdout.trim());
    for (prompt, want) in [
        ("/do", "/do needs a task"),
        ("/do -q", "/do needs a task"),
        ("/do x -q -d", "only one of"),
        ("/do x --frob", "/do does not know --frob"),
        ("/do x --route nowhere", "nowhere"),
    ] {
        let answer = client.says(prompt);
        assert!(sent_on(&answer).contains(want), "{answer}");
    }
    assert_eq!(env.snapshot(), before);
}

/// A deep task up to its second subtask.
fn up_to_the_second_subtask(env: &TestEnv, client: &Client) {
    let begun = client.says("/do \"Build the thing\" --deep");
    assert!(context(&begun).contains("1_analysis.md"), "{begun}");

    leave(env, "1_analysis.md", "two parts");
    let plan = client.stops("analysed");
    assert!(sent_on(&plan).contains("2_plan.md"), "{plan}");
    assert_eq!(
        plan["systemMessage"],
        "🔄 Ralph 第 2 次迭代 | Phase 2/4: 规划"
    );
    // A plan without boxes is no plan, whatever is said of it.
    leave(env, "2_plan.md", "no boxes");
    let again = client.stops("planned\n<promise>TASK_COMPLETE</promise>");
    assert!(sent_on(&again).contains("2_plan.md"), "{again}");
    leave(
        env,
        "2_plan.md",
        "# Plan\n\n- [ ] The model\n- [ ] The service\n",
    );
    let first = client.stops("planned");
    assert!(sent_on(&first).contains("The model"), "{first}");

    env.write("src/1.txt", "work");
    leave(env, "3_subtask_1.md", "done");
    let second = client.stops("done");
    assert!(sent_on(&second).contains("The service"), "{second}");
    assert!(sent_on(&second).contains("3_subtask_2.md"), "{second}");
    assert!(
        env.read(&format!("{OUT}/2_plan.md"))
            .contains("- [x] The model")
    );
}

#[test]
fn a_deep_task_goes_the_whole_way_and_is_archived() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    up_to_the_second_subtask(&env, &client);
    let state = crate::delta::state(&env);
    for line in [
        "- Route: RALPH",
        "- Completed Phases: [1, 2]",
        "- Current Subtask: 1 / 2",
    ] {
        assert!(state.contains(line), "{line}\n{state}");
    }

    env.write("src/2.txt", "");
    leave(&env, "3_subtask_2.md", "done");
    let review = client.stops("done");
    assert!(sent_on(&review).contains("VERDICT: APPROVE"), "{review}");
    leave(&env, "4_review.md", "bad");
    let repair = client.stops("FINDING high: src/2.txt is empty\n\nVERDICT: REJECT");
    assert!(sent_on(&repair).contains("src/2.txt is empty"), "{repair}");
    assert_eq!(repair["systemMessage"], "🔄 Ralph 第 7 次迭代 | 修复");
    env.write("src/2.txt", "better");
    let review = client.stops("repaired");
    assert!(sent_on(&review).contains("4_review.md"), "{review}");
    leave(&env, "4_review.md", "good");
    let end = client.stops("Review Score: 92/100\n\nVERDICT: APPROVE");
    assert!(!released(&end).is_empty(), "{end}");

    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    assert_eq!(
        steps(&env),
        [
            "analysis", "plan", "plan", "execute", "execute", "review", "repair", "review"
        ]
    );
    let state = crate::delta::state(&env);
    assert!(state.contains("- Status: COMPLETED"), "{state}");
    assert!(state.contains("- Review Score: 92/100"), "{state}");
    let history = std::fs::read_dir(env.path(".skillpack/history")).unwrap();
    let entries: Vec<_> = history.map(|e| e.unwrap().path()).collect();
    let entry = entries.iter().find(|path| path.is_dir()).unwrap();
    for file in [
        "1_analysis.md", "2_plan.md", "3_subtask_2.md", "4_review.md", "checkpoint.json",
    ] {
        assert!(entry.join(file).exists(), "{file}");
    }
    assert_eq!(client.stops("Anything else?"), Value::Null);
}

#[test]
fn a_task_that_was_left_is_taken_up_at_its_phase() {
    let env = TestEnv::new();
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    up_to_the_second_subtask(&env, &client);
    client.says("暂停");
    assert_eq!(client.stops("Resting."), Value::Null);
    let other = env.claude_session(TWO);
    let on = other.says("continue");
    assert!(context(&on).contains("The service"), "{on}");
    // After its client made its context shorter, the phase is told again.
    let told = other.hook(
        "session-start",
        "SessionStart",
        &json!({"source": "compact"}),
    );
    assert!(context(&told).contains("3_subtask_2.md"), "{told}");
    assert_eq!(steps(&env).last().unwrap(), "execute");
}

#[test]
fn one_call_is_proven_or_let_go_as_unproven() {
    for (verify, status) in [(" --verify 'test -f a.txt'", "complete"), ("", "paused")] {
        let env = TestEnv::new();
        let client = env.claude_session(ONE);
        client.says(&format!("/do -q \"Make a.txt\"{verify}"));
        env.write("a.txt", "x");
        leave(&env, "output.txt", "made a.txt");
        let end = client.stops("done");
        assert!(!released(&end).is_empty(), "{end}");
        assert_eq!(env.json(".ralph/status.json")["status"], status);
    }
}

#[test]
fn the_verb_takes_a_route_and_names_it() {
    let env = TestEnv::new();
    let done = env.ralph(&[
        "loop", "start", "Add a thing", "--route", "planned", "--session", ONE,
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("1_plan.md"), "{}", done.stdout);
    assert!(done.stderr.contains("Route: PLANNED"), "{}", done.stderr);
    leave(&env, "1_plan.md", "# Plan");
    let next = env.claude_session(ONE).stops("planned");
    assert!(sent_on(&next).contains("2_implementation.md"), "{next}");
    for wrong in [
        &["x", "--route", "nowhere"][..],
        &["--route", "auto", "--tasks", "t.md"],
    ] {
        let args: Vec<&str> = ["loop", "start"].iter().chain(wrong).copied().collect();
        assert_eq!(env.ralph(&args).code, 1, "{wrong:?}");
    }
}

#[test]
fn a_command_of_somebody_else_stays_theirs() {
    let env = TestEnv::new();
    env.write(".claude/commands/do.md", "Do it my way: $ARGUMENTS\n");
    let client = env.claude_session(ONE);
    assert_eq!(client.says("/do \"Add a thing\" -q"), Value::Null);
    assert!(!env.state("runs").exists());
    context(&client.says("/ralph:do \"Add a thing\" -q"));
}

/// Of other clients no hook is asked before a subagent is called.
#[test]
fn roles_are_said_not_to_be_played_where_they_are_not() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[roles]\nenabled = true\n");
    let payload = json!({
        "session_id": ONE, "turn_id": "t", "transcript_path": null, "cwd": env.root,
        "hook_event_name": "UserPromptSubmit", "model": "m", "permission_mode": "default",
        "prompt": "ralph-loop --tasks tasks.md",
    });
    let done = env.call_hook(&["--host", "codex", "user-prompt-submit"], &payload, &[]);
    let begun: Value = serde_json::from_str(&done.stdout).unwrap();
    let message = begun["systemMessage"].as_str().unwrap_or_default();
    assert!(message.contains("`ralph run` plays the roles"), "{begun}");
}

/// A loop of the first session that rests at its second phase.
fn resting<'a>(env: &'a TestEnv, session: &'a str) -> Client<'a> {
    let client = env.claude_session(session).var("RALPH_LANG", "zh-CN");
    client.says("/do \"Build the thing\" --deep");
    leave(env, "1_analysis.md", "two parts");
    sent_on(&client.stops("analysed"));
    client.says("暂停");
    client
}

fn runs(env: &TestEnv) -> usize {
    std::fs::read_dir(env.state("runs")).unwrap().count()
}

/// RESM-04: the menu of seed 004, L312-330, and each of its choices.
#[test]
fn do_resume_shows_the_menu_and_a_number_is_acted_on_resm_04() {
    let env = TestEnv::new();
    let client = resting(&env, ONE);
    let shown = client.says("/do --resume");
    let menu = sent_on(&shown);
    for part in [
        "🔄 发现未完成任务",
        "任务: Build the thing",
        "路由: RALPH",
        "进度: Phase 2/4, 迭代 2",
        "中断时间: ",
        "[1] ▶️ 继续执行",
        "[2] 🔄 从头开始",
        "[3] 📝 查看详细进度",
        "[4] ❌ 放弃此任务",
        "请选择 (1-4):",
    ] {
        assert!(menu.contains(part), "{part}: {menu}");
    }
    // Details, and the same menu once more.
    let details = client.says("3");
    let text = sent_on(&details);
    assert!(text.contains("请选择 (1-4):"), "{text}");
    assert!(text.contains("状态"), "{text}");
    let on = client.says("1");
    assert!(context(&on).contains("2_plan.md"), "{on}");
    assert_eq!(runs(&env), 1);
    // It is answered: a number is a word like any other again.
    assert_eq!(client.says("2"), Value::Null);
    assert_eq!(runs(&env), 1);
}

#[test]
fn do_resume_starts_over_or_gives_up_resm_04() {
    let env = TestEnv::new();
    let client = resting(&env, ONE);
    sent_on(&client.says("/do --resume"));
    // Something else was said: the menu is gone.
    assert_eq!(client.says("what is this?"), Value::Null);
    assert_eq!(client.says("4"), Value::Null);
    assert_eq!(env.json(".ralph/status.json")["status"], "paused");

    sent_on(&client.says("/do --resume"));
    let anew = client.says("2");
    assert!(context(&anew).contains("1_analysis.md"), "{anew}");
    assert_eq!(runs(&env), 2);
    assert_eq!(env.json(".ralph/status.json")["iteration"], 1);
    client.says("暂停");
    sent_on(&client.says("/do --resume"));
    let given_up = client.says("４");
    assert!(sent_on(&given_up).contains("1"), "{given_up}");
    assert_eq!(env.json(".ralph/status.json")["status"], "cancelled");
    // Nothing is left to be taken up.
    let none = client.says("/do --resume");
    assert!(!sent_on(&none).contains("请选择"), "{none}");
}
