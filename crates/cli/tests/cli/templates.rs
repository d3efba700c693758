//! Prompt templates, as the agent gets them.

use serde_json::{Value, json};

use crate::env::{TestEnv, named};
use crate::live::latest_run;

/// The shape that seed 003 shows people for their own projects.
const SEED_003: &str = "\
# 範例：文件專案模板

執行文件撰寫任務。

任務檔案: {{TASKS_FILE}}

規則：
1. 使用繁體中文
2. 優先補上範例
3. 遵循既有的標題層級
4. 執行 Phase {{PHASE}} 中的 [ ] 任務

迭代: {{ITERATION}} / {{MAX_ITERATIONS}}

完成後輸出 <promise>CONTINUE</promise> 或 <promise>PHASE COMPLETE</promise>
";

fn prompt(env: &TestEnv, turn: u32) -> String {
    let file = latest_run(env).join(format!("turn-{turn:04}.prompt.md"));
    std::fs::read_to_string(file).unwrap()
}

/// Runs to completion and gives the events.
fn complete(env: &TestEnv, turns: &[Value], args: &[&str]) -> Vec<Value> {
    let (done, events) = env.run_script(turns, args);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    events
}

fn tick(id: &str, say: &str) -> Value {
    json!({"tick": [id], "say": say})
}

#[test]
fn the_example_of_seed_003_works_unchanged() {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/prompt-template.md", SEED_003);
    let turns = [
        tick("T001", "<promise>CONTINUE</promise>"),
        tick("T002", "<promise>PHASE COMPLETE</promise>"),
    ];
    complete(&env, &turns, &["--max-iterations", "20"]);
    for turn in 1..=2 {
        let want = SEED_003
            .replace("{{TASKS_FILE}}", "tasks.md")
            .replace("{{PHASE}}", "1")
            .replace("{{ITERATION}}", &turn.to_string())
            .replace("{{MAX_ITERATIONS}}", "20");
        assert_eq!(prompt(&env, turn), want);
    }
}

#[test]
fn the_template_that_was_named_wins() {
    let turns = [tick("T001", "<promise>COMPLETE</promise>")];
    let mine = ".ralph/prompt-template.md";
    let installed = ".ralph/templates/prompt-template.md";
    let cases: [(&[&str], Option<&str>, &str); 4] = [
        (&[], None, "Work on the next open tasks"),
        (
            &[installed],
            None,
            "from .ralph/templates/prompt-template.md",
        ),
        (&[mine, installed], None, "from .ralph/prompt-template.md"),
        (
            &[mine, installed, "docs/own.md"],
            Some("docs/own.md"),
            "from docs/own.md",
        ),
    ];
    for (files, named, want) in cases {
        let env = TestEnv::new();
        env.write("tasks.md", "- [ ] T001 Do it\n");
        for file in files {
            env.write(file, &format!("from {file}"));
        }
        let args: Vec<&str> = named
            .iter()
            .flat_map(|f| ["--prompt-template", f])
            .collect();
        complete(&env, &turns, &args);
        let got = prompt(&env, 1);
        assert!(got.contains(want), "{files:?}: {got}");
    }

    let env = TestEnv::with_tasks(1);
    env.write(mine, "mine");
    let done = env.ralph(&["run", "--agent-cmd", "true", "--prompt-template", "no.md"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("no.md"), "{}", done.stderr);
    assert!(!env.state("runs").exists(), "nothing was started");
}

#[test]
fn the_built_in_prompt_asks_for_no_promise_that_is_not_yet_true() {
    const PHASES: &str = "## Phase 1: A\n- [ ] T001 One\n\n## Phase 2: B\n- [ ] T002 Two\n";
    const GROUPS: &str = "## 1. A\n- [ ] T001 One\n\n## 2. B\n- [ ] T002 Two\n";
    const FLAT: &str = "- [ ] T001 One\n- [ ] T002 Two\n";
    let of_phase = |n: u32, promise: &str| {
        format!("- All tasks of phase {n} are finished: `<promise>{promise}</promise>`\n")
    };
    let cases = [
        (
            PHASES,
            "spec-kit",
            of_phase(1, "PHASE COMPLETE"),
            of_phase(2, "COMPLETE"),
        ),
        (
            GROUPS,
            "",
            of_phase(1, "PHASE COMPLETE"),
            of_phase(2, "COMPLETE"),
        ),
        (
            FLAT,
            "",
            "- All tasks are finished: `<promise>COMPLETE</promise>`\n".to_owned(),
            "- All tasks are finished: `<promise>COMPLETE</promise>`\n".to_owned(),
        ),
    ];
    for (tasks, flow, first, second) in cases {
        let env = TestEnv::new();
        env.write("tasks.md", tasks);
        env.write("spec.md", "What it does.\n");
        env.write("plan.md", "How.\n");
        let turns = [
            tick("T001", "<promise>CONTINUE</promise>"),
            tick("T002", "<promise>COMPLETE</promise>"),
        ];
        complete(&env, &turns, &[]);
        for (turn, want) in [(1, first), (2, second)] {
            let got = prompt(&env, turn);
            assert!(got.contains(&want), "{want}\n{got}");
            assert!(got.contains(flow), "{flow}\n{got}");
            assert_eq!(got.contains("spec.md"), flow == "spec-kit", "{got}");
        }
    }

    // Where one phase is all that was asked for, it is all.
    let env = TestEnv::new();
    env.write("tasks.md", PHASES);
    let turns = [tick("T001", "<promise>COMPLETE</promise>")];
    complete(&env, &turns, &["--phase", "1"]);
    assert!(prompt(&env, 1).contains(&of_phase(1, "COMPLETE")));
}

#[test]
fn every_variable_has_its_value_and_values_are_literal() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "## Phase 3: Odd\n\
         - [x] T001 Done\n\
         - [ ] T002 Keep {{ITERATION}} and $(date) and \\1 & `x` as they are\n\
         - [ ] T003 Last\n",
    );
    env.write(
        "own.md",
        "{{PHASE}}|{{ ITERATION }}|{{MAX_ITERATIONS}}|{{TASKS_FILE}}|{{TASK_ID}}|{{TASK}}|\
         {{PENDING}}|{{COMPLETED}}|{{TOTAL}}|{{BRANCH}}|{{PROMISE}}|{{NOPE}}|{{LAST_FAILURE}}",
    );
    let turns = [
        json!({"complain": "it broke: {{PHASE}}", "exit": 4}),
        json!({"tick": ["T002", "T003"], "say": "<promise>OVER</promise>"}),
    ];
    let args = [
        "--prompt-template", "own.md", "--completion-promise", "OVER", "--max-iterations", "7",
    ];
    complete(&env, &turns, &args);
    assert_eq!(
        prompt(&env, 1),
        "3|1|7|tasks.md|T002|Keep {{ITERATION}} and $(date) and \\1 & `x` as they are|\
         2|1|3|main|OVER|{{NOPE}}|"
    );
    let second = prompt(&env, 2);
    assert!(
        second.contains("3|2|7|tasks.md|T002|Keep {{ITERATION}} and"),
        "{second}"
    );
    let (_, failure) = second.rsplit_once("{{NOPE}}|").unwrap();
    assert!(failure.starts_with("agent_exec: "), "{failure}");
    assert!(failure.contains("it broke: {{PHASE}}"), "{failure}");
}

#[test]
fn a_name_that_stands_for_nothing_is_told_once() {
    let env = TestEnv::with_tasks(2);
    env.write(
        ".ralph/prompt-template.md",
        "{{NOPE}} {{NOPE}} {{ITERATION}}",
    );
    let agent = env.agent(&[
        tick("T001", "<promise>CONTINUE</promise>"),
        tick("T002", "<promise>COMPLETE</promise>"),
    ]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let told = done.stdout.matches("NOPE is no variable").count();
    assert_eq!(told, 1, "{}", done.stdout);
}

#[test]
fn an_agent_that_repeats_its_prompt_promises_nothing() {
    for agent in ["cat {prompt_file}", "cat"] {
        let env = TestEnv::with_tasks(1);
        env.write(".ralph/prompt-template.md", SEED_003);
        let args = [
            "run", "--json", "--max-iterations", "1", "--agent-cmd", agent,
        ];
        let done = env.ralph(&args);
        let events = done.events();
        assert_eq!(done.code, 3, "{agent}: {}", done.stderr);
        assert!(named(&events, "promise_detected").is_empty(), "{agent}");
        assert_eq!(named(&events, "promise_missing").len(), 1, "{agent}");
        let output = std::fs::read_to_string(latest_run(&env).join("turn-0001.out")).unwrap();
        assert_eq!(output, prompt(&env, 1), "{agent}");
    }
}

/// TMPL-03: the templates are listed, printed and installed.
#[test]
fn built_in_templates_can_be_printed_and_installed() {
    let env = TestEnv::with_tasks(1);
    let listed = env.ralph(&["templates"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    for file in ["prompt-template.md", "prompt-template.generic.md"] {
        assert!(listed.stdout.contains(file), "{}", listed.stdout);
    }
    let generic = env.ralph(&["templates", "show", "generic"]).stdout;
    assert!(generic.contains("{{TASKS_FILE}}"), "{generic}");
    let by_file = env.ralph(&["templates", "show", "prompt-template.generic.md"]);
    assert_eq!(by_file.stdout, generic);
    let unknown = env.ralph(&["templates", "show", "nope"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""));
    assert!(unknown.stderr.contains("spec-kit, generic, flat, plain"));

    // Without a name, what fits: this task file has phases in spec-kit's way,
    // and what belongs to it beside it.
    env.write("spec.md", "What it does.\n");
    let place = ".ralph/prompt-template.md";
    let done = env.ralph(&["templates", "install"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let path = env.path(place);
    assert!(
        done.stdout.contains(path.to_str().unwrap()),
        "{}",
        done.stdout
    );
    assert_eq!(
        env.read(place),
        env.ralph(&["templates", "show", "spec-kit"]).stdout
    );
    env.write(place, "mine");
    let kept = env.ralph(&["templates", "install", "flat"]);
    assert_eq!((kept.code, env.read(place).as_str()), (1, "mine"));
    assert!(kept.stderr.contains("--force"), "{}", kept.stderr);
    let args = ["templates", "install", "flat", "--force", "--lang", "zh-TW"];
    assert_eq!(env.ralph(&args).code, 0);
    assert!(env.read(place).contains("當前迭代: {{ITERATION}}"));
}

/// TMPL-07: the agent is spoken to in the language of the person, and is asked
/// for the words that are configured.
#[test]
fn the_prompt_is_in_the_language_and_the_words_of_the_project() {
    for (lang, says) in [
        ("en", "Current iteration: 1 / 50"),
        ("zh-TW", "當前迭代: 1 / 50"),
        ("zh-CN", "当前迭代: 1 / 50"),
    ] {
        let env = TestEnv::with_tasks(1);
        env.write(
            ".ralph/config.toml",
            "[promise]\ncomplete = [\"FERTIG\"]\nphase_complete = []\ncontinue = \"WEITER\"\nblocked_prefix = \"HALT\"\n",
        );
        let turns = [tick("T001", "<promise>FERTIG</promise>")];
        complete(&env, &turns, &["--lang", lang]);
        let got = prompt(&env, 1);
        for want in [
            says,
            "<promise>FERTIG</promise>",
            "<promise>WEITER</promise>",
            "<promise>HALT: [",
        ] {
            assert!(got.contains(want), "{lang} lacks {want}: {got}");
        }
        for word in ["CONTINUE", "BLOCKED", "COMPLETE"] {
            assert!(!got.contains(word), "{lang} says {word}: {got}");
        }
    }
}
