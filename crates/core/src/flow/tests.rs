//! Flow files: the built-in ones are in order, and every mistake has a place
//! and a next step.

use super::*;
use crate::lang::{Lang, Say};

#[test]
fn the_built_in_flows_are_in_order() {
    for (name, text) in BUILT_IN {
        let flow = read(name, text).unwrap_or_else(|errors| {
            let errors: Vec<String> = errors.iter().map(|e| e.say(Lang::En)).collect();
            panic!("{name}: {errors:#?}")
        });
        assert_eq!(flow.name, name);
        let percents: Vec<u8> = flow.phases().filter_map(|(_, s)| s.percent).collect();
        match name {
            "drt" => assert_eq!(flow.scope, Scope::Task),
            "direct" => assert_eq!(percents, [100]),
            "planned" | "ui_flow" => assert_eq!(percents, [30, 60, 100]),
            "ralph" => assert_eq!(percents, [20, 40, 75, 100]),
            _ => assert_eq!(percents, [15, 30, 50, 80, 100]),
        }
        assert_eq!(flow.loops, matches!(name, "ralph" | "architect"), "{name}");
    }
}

#[test]
fn the_phases_of_the_routes_have_the_names_of_the_seed() {
    let names = |name: &str| -> Vec<String> {
        let flow = built_in(name).unwrap();
        let phases = flow.phases();
        phases
            .map(|(_, step)| step.title.say(Lang::ZhCn).to_owned())
            .collect()
    };
    assert_eq!(
        names("ralph"),
        ["深度分析", "规划", "执行子任务", "综合审查"]
    );
    assert_eq!(names("planned"), ["规划", "实现", "审查"]);
    assert_eq!(names("ui_flow"), ["UI 设计", "实现", "预览"]);
    assert_eq!(
        names("architect"),
        ["架构分析", "架构设计", "实施规划", "分阶段实施", "验收审查"]
    );
}

/// Every prompt of a built-in flow is there in every language, with the same
/// holes, and no flow or step that does not exist.
#[test]
fn the_prompts_of_built_in_flows_exist_in_every_language_rein_01() {
    let holes = |text: &str| -> Vec<String> {
        let parts = text.split("{{").skip(1);
        let mut holes: Vec<String> = parts
            .filter_map(|part| Some(part.split_once("}}")?.0.to_owned()))
            .collect();
        holes.sort();
        holes
    };
    for lang in [Lang::ZhTw, Lang::ZhCn] {
        for (name, _) in BUILT_IN {
            let english = built_in(name).unwrap();
            let own = in_language(english.clone(), lang);
            for (english, own) in english.steps.iter().zip(&own.steps) {
                assert_ne!(english.prompt, own.prompt, "{name} {}", own.id);
                assert_eq!(
                    holes(&english.prompt),
                    holes(&own.prompt),
                    "{name} {}",
                    own.id
                );
            }
            assert_eq!(in_language(english.clone(), Lang::En), english);
        }
    }
}

const SOUND: &str = r#"name = "mine"
scope = "task"

[[step]]
id = "work"
role = "developer"
prompt = "Do {{TASK}}."
on.done = "look"

[[step]]
id = "look"
role = "reviewer"
verdict = "review"
prompt = "Look at it."
on.approve = "done"
on.reject = "work"
limit.reject = 3
"#;

/// The mistakes in [`SOUND`] after one change.
fn errors(from: &str, to: &str) -> Vec<String> {
    assert!(SOUND.contains(from), "{from}");
    let text = SOUND.replacen(from, to, 1);
    match read("mine.toml", &text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(|error| error.say(Lang::En)).collect(),
    }
}

#[test]
fn every_mistake_names_its_line_and_key_and_the_way_out() {
    assert_eq!(read("mine.toml", SOUND).map(|flow| flow.steps.len()), Ok(2));
    let unlimited = errors("limit.reject = 3\n", "");
    let all = [
        errors("role = \"developer\"", "role = \"wizard\""),
        errors("on.done = \"look\"", "on.done = \"done\""),
        errors("on.approve = \"done\"", "on.approve = \"escalate\""),
        unlimited,
        errors("on.done = \"look\"", "on.done = \"lok\""),
        errors("on.approve = \"done\"\n", ""),
        errors(
            "on.approve = \"done\"",
            "on.approve = \"done\"\non.pass = \"done\"",
        ),
        errors("id = \"look\"", "id = \"work\""),
        errors("name = \"mine\"", "name = \"Mine!\""),
        errors("Do {{TASK}}.", "Do {{TSAK}}."),
        errors("prompt = \"Look at it.\"", "prompt = \" \""),
        errors(
            "verdict = \"review\"",
            "verdict = \"review\"\npermissions = \"root\"",
        ),
        errors(
            "verdict = \"review\"",
            "verdict = \"review\"\noutput = \"../x\"",
        ),
        errors(
            "verdict = \"review\"",
            "verdict = \"review\"\neach = \"subtask\"",
        ),
        errors("scope = \"task\"", "scope = \"task\"\nspeed = 3"),
        errors("scope = \"task\"", "scope = \"planet\""),
    ];
    let all: Vec<String> = all.iter().map(|errors| errors.join("\n")).collect();
    insta::assert_snapshot!(all.join("\n---\n"), @r#"
    mine.toml:6: step.work.role: unknown role "wizard"; write one of developer, reviewer, tester, debugger, designer, architect
    ---
    mine.toml:11: step.look.id: no way leads to step "look"; let an answer lead there, or remove it
    ---
    mine.toml:8: step.work.on: from step "work" no way leads to "done"; let an answer lead there
    mine.toml:15: step.look.on: from step "look" no way leads to "done"; let an answer lead there
    ---
    mine.toml:8: step.work.on: work → look → work can go round for ever; set a limit for an answer in it, as in limit.reject = 5
    ---
    mine.toml:8: step.work.on.done: there is no step "lok"; name a step, "done" or "escalate"
    ---
    mine.toml:15: step.look.on: nothing says where "approve" leads; add on.approve
    ---
    mine.toml:16: step.look.on.pass: a step with this verdict never answers "pass"; remove the line or change the verdict
    ---
    mine.toml:8: step.work.on.done: there is no step "look"; name a step, "done" or "escalate"
    mine.toml:11: step.work.id: there are two steps "work"; rename one
    ---
    mine.toml:1: name: "Mine!" can't be a name; use small letters, digits, - and _
    ---
    mine.toml:7: step.work.prompt: unknown variable {{TSAK}}; write one of PHASE, ITERATION, MAX_ITERATIONS, TASKS_FILE, TASK, TASK_ID, PENDING, COMPLETED, TOTAL, BRANCH, LAST_FAILURE, PROMISE, CONTINUE, BLOCKED, PROMPT, ROLE, RISK, OUTPUT_DIR, SPEC_FILES
    ---
    mine.toml:14: step.look.prompt: the prompt is empty; say what the agent has to do
    ---
    mine.toml:14: step.look.permissions: unknown permissions "root"; write one of auto, default, edit, plan
    ---
    mine.toml:14: step.look.output: "../x" can't be an output file; write a plain file name, with {n} in it exactly where the step has each
    ---
    mine.toml:14: step.look.each: each = "subtask" needs an earlier step with plans = true and an output file
    ---
    mine.toml:3: this is no flow: unknown field `speed`, expected one of `name`, `about`, `scope`, `loops`, `step`, `risk`
    ---
    mine.toml:2: this is no flow: unknown variant `planet`, expected `task` or `run`
    "#);
}

#[test]
fn the_great_mistakes_are_told_in_three_languages() {
    let text = SOUND.replace("limit.reject = 3\n", "");
    let errors = read("mine.toml", &text).unwrap_err();
    let said: Vec<String> = Lang::ALL.iter().map(|lang| errors[0].say(*lang)).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    mine.toml:8: step.work.on: work → look → work can go round for ever; set a limit for an answer in it, as in limit.reject = 5
    mine.toml:8: step.work.on：work → look → work 會無限循環；請為其中一個回答設定上限，例如 limit.reject = 5
    mine.toml:8: step.work.on：work → look → work 会无限循环；请为其中一个回答设置上限，例如 limit.reject = 5
    ");
}

#[test]
fn a_flow_without_steps_or_with_a_skipped_start_is_none() {
    let none = read(
        "mine.toml",
        "name = \"mine\"\nscope = \"task\"\nstep = []\n",
    );
    assert_eq!(none.unwrap_err()[0].problem, Problem::NoSteps);
    let text = format!("{SOUND}\n[risk.low]\nskip = [\"work\"]\n");
    let skipped = read("mine.toml", &text).unwrap_err();
    assert_eq!(
        skipped[0].problem,
        Problem::SkippedStart { id: "work".into() }
    );
    assert_eq!(skipped[0].key, "risk.low.skip");
}

#[test]
fn what_is_skipped_is_passed_over() {
    let flow = built_in("drt").unwrap();
    let developer = flow.step(0).unwrap();
    let target = |risk| flow.target(developer, Answer::Done, risk);
    assert_eq!(target(Risk::Low), Target::Done);
    assert_eq!(target(Risk::Medium), Target::Step(1));
}

/// ROUT-07: people read the name of a phase in their language, machines in one.
#[test]
fn a_phase_that_is_done_is_told_in_the_persons_language() {
    let title = Title {
        en: "Plan".into(),
        zh_tw: "規劃".into(),
        zh_cn: "规划".into(),
    };
    let done = FlowNotice::PhaseDone {
        iteration: 1,
        phase: 1,
        of: 3,
        title,
        percent: Some(30),
    };
    assert_eq!(done.say(Lang::ZhCn), "阶段 1/3 完成：规划 (30%)");
    assert_eq!(serde_json::to_value(&done).unwrap()["title"], "Plan");
}
