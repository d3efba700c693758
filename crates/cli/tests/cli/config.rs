//! `ralph config`: every value and its origin, every mistake, and files of
//! other tools that are read and never run.

use serde_json::Value;

use crate::bad_input::{NOTHING, changes};
use crate::env::{Done, TestEnv};
use crate::languages::in_all_languages;

/// A project that is configured in every place that there is.
fn configured() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "preset = \"delta\"\n\n[limits]\nstalled = 9\n",
    );
    env.write(
        ".skillpackrc",
        "{\"version\": \"3.0\", \"loop\": {\"max_iterations\": 33, \"warning_threshold\": 20, \
         \"timeout_per_iteration_minutes\": 7, \"max_iteration\": 4}}\n",
    );
    env.write(
        ".ideal/worktree.yaml",
        "worktree_dir: ../trees\nverify:\n  - npm test\n  - npm run lint\n",
    );
    env.write(".trellis/worktree.yaml", "verify:\n  - cargo test\n");
    env.write(
        ".ralphrc",
        "MAX_CALLS_PER_HOUR=77\nCLAUDE_TIMEOUT_MINUTES=$(touch x)\nexport PROJECT=`touch x`\n\
         touch x\nCB_NO_PROGRESS_THRESHOLD=4\n",
    );
    env
}

/// Runs `ralph config …`; nothing may change and nothing may be executed.
fn config(env: &TestEnv, args: &[&str]) -> Done {
    config_with(env, &[], args)
}

fn config_with(env: &TestEnv, variables: &[(&str, &str)], args: &[&str]) -> Done {
    let before = env.snapshot();
    let args: Vec<&str> = ["config"].iter().chain(args).copied().collect();
    let mut command = env.command(&args);
    command.env_remove("RALPH_AGENT_RETRY_INITIAL");
    command.envs(variables.iter().copied());
    let done = Done::of(&command.output().unwrap());
    assert_eq!(changes(env, &before), NOTHING, "{args:?}");
    done
}

#[test]
fn every_value_says_where_it_comes_from() {
    let env = configured();
    let variables = [("RALPH_LIMITS_MAX_DURATION", "2h")];
    let done = config_with(&env, &variables, &["show", "--origin"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let set: Vec<&str> = done
        .stdout
        .lines()
        .filter(|line| line.contains("  # ") && !line.ends_with("# default"))
        .collect();
    insta::assert_snapshot!(set.join("\n"), @r#"
    preset = "delta"  # .ralph/config.toml:1
    max_iterations = 33  # .skillpackrc
    warn_at = 20  # .skillpackrc
    stalled = 9  # .ralph/config.toml:4
    max_duration = "2h"  # environment RALPH_LIMITS_MAX_DURATION
    iteration_timeout = "7m"  # .skillpackrc
    complete = ["TASK_COMPLETE"]  # preset delta
    source = "delta"  # preset delta
    commands = ["npm test", "npm run lint"]  # .ideal/worktree.yaml
    max_calls_per_hour = 77  # .ralphrc:1
    "#);
    insta::assert_snapshot!(done.stderr, @r#"
    ralph: [CFG-002] .skillpackrc / the key "loop.max_iteration" is not known and not used / write "loop.max_iterations" if that is meant
    ralph: .ralphrc line 2: the value of CLAUDE_TIMEOUT_MINUTES would have to be run by a shell, so it is not used. Write a plain value, such as CLAUDE_TIMEOUT_MINUTES=15.
    ralph: .ralphrc line 3: the key "PROJECT" is not known and not used; remove it if it is a mistake.
    ralph: .ralphrc line 4: this is not NAME=value and is not used: ralph reads the file and never runs it.
    ralph: "verify.commands" is set differently by .ideal/worktree.yaml and by .trellis/worktree.yaml; .ideal/worktree.yaml is used. Set it in .ralph/config.toml to decide.
    "#);
    assert!(!env.path("x").exists(), "a line of .ralphrc was executed");
}

#[test]
fn programs_get_values_and_origins_as_json() {
    let env = configured();
    let variables = [("RALPH_LIMITS_MAX_DURATION", "2h")];
    let done = config_with(&env, &variables, &["show", "--json"]);
    let shown: Value = serde_json::from_str(&done.stdout).unwrap();
    let lines: Vec<String> = [
        "limits.max_iterations",
        "limits.max_duration",
        "limits.stalled",
        "limits.extend_by",
        "verify.commands",
        "promise.complete",
        "rate.max_calls_per_hour",
    ]
    .iter()
    .map(|key| format!("{key}: {}", shown[key]))
    .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    limits.max_iterations: {"value":33,"origin":"foreign","name":".skillpackrc"}
    limits.max_duration: {"value":"2h","origin":"env","name":"RALPH_LIMITS_MAX_DURATION"}
    limits.stalled: {"value":9,"origin":"file","name":".ralph/config.toml","line":4}
    limits.extend_by: {"value":10,"origin":"default"}
    verify.commands: {"value":["npm test","npm run lint"],"origin":"foreign","name":".ideal/worktree.yaml"}
    promise.complete: {"value":["TASK_COMPLETE"],"origin":"preset","name":"delta","line":8}
    rate.max_calls_per_hour: {"value":77,"origin":"foreign","name":".ralphrc","line":1}
    "#);
}

#[test]
fn the_strongest_place_wins() {
    let env = TestEnv::with_tasks(1);
    let maximum = |variables: &[(&str, &str)], args: &[&str]| {
        let args: Vec<&str> = ["run", "--dry-run", "--json", "--agent-cmd", "true"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        let mut command = env.command(&args);
        command.envs(variables.iter().copied());
        let done = Done::of(&command.output().unwrap());
        let shown: Value = serde_json::from_str(&done.stdout).expect(&done.stderr);
        shown["max_iterations"].as_u64().unwrap()
    };
    assert_eq!(maximum(&[], &[]), 50);
    assert_eq!(maximum(&[], &["--preset", "delta"]), 20);
    env.write(".skillpackrc", "{\"loop\": {\"max_iterations\": 31}}");
    assert_eq!(maximum(&[], &["--preset", "delta"]), 31);
    env.write(".ralph/config.toml", "[limits]\nmax_iterations = 32\n");
    assert_eq!(maximum(&[], &[]), 32);
    let variable = [("RALPH_LIMITS_MAX_ITERATIONS", "33")];
    assert_eq!(maximum(&variable, &[]), 33);
    assert_eq!(maximum(&variable, &["--max-iterations", "34"]), 34);
}

#[test]
fn what_is_shown_can_be_written_down_and_means_the_same() {
    let env = TestEnv::new();
    let shown = config(&env, &["show", "--preset", "sdd"]).stdout;
    env.write(".ralph/config.toml", &shown);
    let done = config(&env, &["check"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(config(&env, &["show"]).stdout, shown);
}

#[test]
fn the_reference_is_a_configuration_and_has_every_setting() {
    let env = TestEnv::new();
    let reference = config(&env, &["reference"]);
    assert_eq!(reference.code, 0);
    let shown = config(&env, &["show"]).stdout;
    for line in shown.lines().filter(|line| !line.is_empty()) {
        assert!(
            reference.stdout.lines().any(|known| known == line),
            "the reference lacks {line}"
        );
    }
    env.write(".ralph/config.toml", &reference.stdout);
    let done = config(&env, &["check"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(config(&env, &["show"]).stdout, shown);
}

#[test]
fn presets_are_sets_of_defaults() {
    let env = TestEnv::new();
    let lines = ["openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"].map(|preset| {
        let done = config(&env, &["show", "--json", "--preset", preset]);
        let shown: Value = serde_json::from_str(&done.stdout).expect(&done.stderr);
        let values = [
            "limits.max_iterations", "limits.extend_by", "limits.missing_promise",
            "limits.stalled", "limits.max_duration", "promise.complete", "tasks.source",
        ]
        .map(|key| shown[key]["value"].to_string());
        format!("{preset}: {}", values.join(" "))
    });
    insta::assert_snapshot!(lines.join("\n"), @r#"
    openspec: 100 100 0 5 "0" ["所有任務完成"] "openspec"
    verify: 50 10 5 5 "30m" [] "none"
    dev-p0: 0 10 0 5 "12h" ["QUALITY_GATE_PASSED"] "prompt"
    dev-p1: 0 10 0 5 "12h" ["CI_PASSED"] "prompt"
    sdd: 50 20 5 5 "0" [] "spec-kit"
    delta: 20 10 5 5 "0" ["TASK_COMPLETE"] "delta"
    "#);
}

#[test]
fn check_lists_every_mistake() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "lang = \"klingon\"\npresett = \"delta\"\n\n[limits]\nstalled = -9\nmax_iterations = \"5\"\n\n\
         [limitz]\na = 1\n\n[verify]\ncommands = 3\nwhen = \"sometimes\"\n",
    );
    env.write(".skillpackrc", "{\"loop\": {\"max_iteration\": 4}}");
    let variables = [
        ("RALPH_LIMITS_MAX_DURATION", "soon"),
        ("RALPH_LIMITS_STALED", "2"),
    ];
    let shown = in_all_languages(|lang| {
        let done = config_with(&env, &variables, &["check", "--lang", lang]);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        done.stderr
    });
    insta::assert_snapshot!(shown, @r#"
    --- en
    ralph: environment variable RALPH_LIMITS_STALED is none of ralph's and not used. Did you mean "RALPH_LIMITS_STALLED"?
    ralph: [CFG-002] .skillpackrc / the key "loop.max_iteration" is not known and not used / write "loop.max_iterations" if that is meant
    ralph: environment variable RALPH_LIMITS_MAX_DURATION: "limits.max_duration" is the text "soon". Write a duration with a unit, such as "90s", "30m" or "12h" ("0" is off).
    ralph: .ralph/config.toml line 1: "lang" is the text "klingon". Write one of "auto", "en", "zh-TW", "zh-CN".
    ralph: .ralph/config.toml line 2: there is no setting "presett". Did you mean "preset"? Correct or remove it; "ralph config reference" lists all settings.
    ralph: .ralph/config.toml line 5: "limits.stalled" is the number -9. Write a whole number, 0 or more.
    ralph: .ralph/config.toml line 6: "limits.max_iterations" is the text "5". Write a whole number, 0 or more.
    ralph: .ralph/config.toml line 8: there is no setting "limitz". Did you mean "limits"? Correct or remove it; "ralph config reference" lists all settings.
    ralph: .ralph/config.toml line 12: "verify.commands" is the number 3. Write a list of texts such as ["a", "b"].
    ralph: .ralph/config.toml line 13: "verify.when" is the text "sometimes". Write one of "each", "complete".

    --- zh-TW
    ralph: 環境變數 RALPH_LIMITS_STALED 不是 ralph 的變數，不採用。是不是「RALPH_LIMITS_STALLED」？
    ralph: [CFG-002] .skillpackrc / 不認識「loop.max_iteration」這個鍵，不採用 / 如果是指「loop.max_iterations」，請這樣寫
    ralph: 環境變數 RALPH_LIMITS_MAX_DURATION：「limits.max_duration」是文字 "soon"。請寫帶單位的時間長度，例如 "90s"、"30m" 或 "12h"（"0" 表示關閉）。
    ralph: .ralph/config.toml 第 1 行：「lang」是文字 "klingon"。請寫下列之一："auto", "en", "zh-TW", "zh-CN"。
    ralph: .ralph/config.toml 第 2 行：沒有「presett」這個設定。是不是「preset」？請改正或移除；「ralph config reference」列出所有設定。
    ralph: .ralph/config.toml 第 5 行：「limits.stalled」是數字 -9。請寫整數，至少 0。
    ralph: .ralph/config.toml 第 6 行：「limits.max_iterations」是文字 "5"。請寫整數，至少 0。
    ralph: .ralph/config.toml 第 8 行：沒有「limitz」這個設定。是不是「limits」？請改正或移除；「ralph config reference」列出所有設定。
    ralph: .ralph/config.toml 第 12 行：「verify.commands」是數字 3。請寫文字清單，例如 ["a", "b"]。
    ralph: .ralph/config.toml 第 13 行：「verify.when」是文字 "sometimes"。請寫下列之一："each", "complete"。

    --- zh-CN
    ralph: 环境变量 RALPH_LIMITS_STALED 不是 ralph 的变量，不采用。是不是“RALPH_LIMITS_STALLED”？
    ralph: [CFG-002] .skillpackrc / 不认识“loop.max_iteration”这个键，不采用 / 如果是指“loop.max_iterations”，请这样写
    ralph: 环境变量 RALPH_LIMITS_MAX_DURATION：“limits.max_duration”是文本 "soon"。请写带单位的时长，例如 "90s"、"30m" 或 "12h"（"0" 表示关闭）。
    ralph: .ralph/config.toml 第 1 行：“lang”是文本 "klingon"。请写以下之一："auto", "en", "zh-TW", "zh-CN"。
    ralph: .ralph/config.toml 第 2 行：没有“presett”这个设置。是不是“preset”？请改正或删除；“ralph config reference”列出所有设置。
    ralph: .ralph/config.toml 第 5 行：“limits.stalled”是数字 -9。请写整数，至少 0。
    ralph: .ralph/config.toml 第 6 行：“limits.max_iterations”是文本 "5"。请写整数，至少 0。
    ralph: .ralph/config.toml 第 8 行：没有“limitz”这个设置。是不是“limits”？请改正或删除；“ralph config reference”列出所有设置。
    ralph: .ralph/config.toml 第 12 行：“verify.commands”是数字 3。请写文本列表，例如 ["a", "b"]。
    ralph: .ralph/config.toml 第 13 行：“verify.when”是文本 "sometimes"。请写以下之一："each", "complete"。
    "#);
}

#[test]
fn check_compares_values_that_are_sound() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[limits]\nmax_iterations = 5\nwarn_at = 9\n",
    );
    let shown = in_all_languages(|lang| {
        let done = config(&env, &["check", "--lang", lang]);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        done.stderr
    });
    insta::assert_snapshot!(shown, @r#"
    --- en
    ralph: .ralph/config.toml line 3: "limits.warn_at" is 9, after the last turn (5). Write 5 or less, or a percentage such as "75%".

    --- zh-TW
    ralph: .ralph/config.toml 第 3 行：「limits.warn_at」是 9，在最後一次迭代（5）之後。請寫 5 或更小，或百分比，例如 "75%"。

    --- zh-CN
    ralph: .ralph/config.toml 第 3 行：“limits.warn_at”是 9，在最后一次迭代（5）之后。请写 5 或更小，或百分比，例如 "75%"。
    "#);
}

/// CONF-06: names that a run would refuse, and rules that
/// `ralph guard check-rules` finds fault with.
#[test]
fn check_says_what_a_run_and_the_guard_would_refuse() {
    let flow = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../core/src/flow/built_in/drt.toml"
    ));
    let flow = flow
        .unwrap()
        .replace("name = \"drt\"", "name = \"mine\"")
        .replacen("[[step]]", "[[step]]\nagent = \"tester9\"", 1);
    for (settings, told) in [
        ("agent.name = \"clod\"", "agent \"clod\" is not known"),
        ("agent.name = \"custom\"", "the custom agent has no command"),
        (
            "agents = [\"claude\", \"cdx\"]",
            "agent \"cdx\" is not known",
        ),
        ("roles.flow = \"mine\"", "agent \"tester9\" is not known"),
        ("roles.flow = \"none\"", "there is no flow \"none\""),
        (
            "guard.disable = [\"no-such\"]",
            "there is no rule \"no-such\"",
        ),
        (
            "guard.enable = [\"no-such\"]",
            "there is no rule \"no-such\"",
        ),
        (
            "guard.modes = [\"no-such=ask\"]",
            "there is no rule \"no-such\"",
        ),
        (
            "[[guard.rules]]\nid = \"own\"\nprogram = \"kubectl\"\nreason = \"r\"\nhint = \"h\"\nmatch = [\"ls\"]",
            "own: ",
        ),
        ("agent.name = \"codex\"\nguard.disable = []", ""),
    ] {
        let env = TestEnv::new();
        env.write(".ralph/flows/mine.toml", &flow);
        env.write(".ralph/config.toml", settings);
        let done = config(&env, &["check"]);
        assert_eq!(done.code, i32::from(!told.is_empty()), "{settings}");
        assert!(done.stderr.contains(told), "{settings}: {}", done.stderr);
        assert_eq!(done.stdout.is_empty(), !told.is_empty(), "{settings}");
    }
}

#[test]
fn check_says_that_all_is_well() {
    let env = TestEnv::new();
    let shown = in_all_languages(|lang| {
        let done = config(&env, &["check", "--lang", lang]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        done.stdout
    });
    insta::assert_snapshot!(shown, @"
    --- en
    the configuration is sound

    --- zh-TW
    設定正確

    --- zh-CN
    配置正确
    ");
}

#[test]
fn files_of_other_tools_can_be_broken_without_harm() {
    let env = TestEnv::new();
    env.write(".skillpackrc", "{ \"loop\": ");
    env.write(".ideal/worktree.yaml", "verify: [\n");
    std::fs::create_dir_all(env.path(".trellis/worktree.yaml")).unwrap();
    std::fs::write(env.path(".ralphrc"), b"A=\xff\n").unwrap();
    let shown = in_all_languages(|lang| {
        let done = config(&env, &["check", "--lang", lang]);
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (1, ""),
            "{}",
            done.stderr
        );
        done.stderr
    });
    insta::assert_snapshot!(shown, @"
    --- en
    ralph: .trellis/worktree.yaml: it cannot be read and nothing of it is used: Is a directory (os error 21); correct the file or write the settings to .ralph/config.toml.
    ralph: .ralphrc: it cannot be read and nothing of it is used: stream did not contain valid UTF-8; correct the file or write the settings to .ralph/config.toml.
    ralph: [CFG-001] .skillpackrc line 1 / it cannot be read and nothing of it is used: EOF while parsing a value at line 1 column 10 / correct the file or write the settings to .ralph/config.toml
    ralph: .ideal/worktree.yaml line 1: it cannot be read and nothing of it is used: unclosed bracket '[' at line 1, column 9; correct the file or write the settings to .ralph/config.toml.

    --- zh-TW
    ralph: .trellis/worktree.yaml：無法讀取，完全不採用：Is a directory (os error 21)；請修正檔案，或把設定寫到 .ralph/config.toml。
    ralph: .ralphrc：無法讀取，完全不採用：stream did not contain valid UTF-8；請修正檔案，或把設定寫到 .ralph/config.toml。
    ralph: [CFG-001] .skillpackrc 第 1 行 / 無法讀取，完全不採用：EOF while parsing a value at line 1 column 10 / 請修正檔案，或把設定寫到 .ralph/config.toml
    ralph: .ideal/worktree.yaml 第 1 行：無法讀取，完全不採用：unclosed bracket '[' at line 1, column 9；請修正檔案，或把設定寫到 .ralph/config.toml。

    --- zh-CN
    ralph: .trellis/worktree.yaml：无法读取，完全不采用：Is a directory (os error 21)；请改正文件，或把设置写到 .ralph/config.toml。
    ralph: .ralphrc：无法读取，完全不采用：stream did not contain valid UTF-8；请改正文件，或把设置写到 .ralph/config.toml。
    ralph: [CFG-001] .skillpackrc 第 1 行 / 无法读取，完全不采用：EOF while parsing a value at line 1 column 10 / 请改正文件，或把设置写到 .ralph/config.toml
    ralph: .ideal/worktree.yaml 第 1 行：无法读取，完全不采用：unclosed bracket '[' at line 1, column 9；请改正文件，或把设置写到 .ralph/config.toml。
    ");
}

#[test]
fn migrate_prints_a_config_made_from_other_tools() {
    let env = configured();
    let done = config(&env, &["migrate"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    insta::assert_snapshot!(done.stdout, @r#"
    # Taken over from files of other tools by "ralph config migrate".
    # "ralph config reference" explains every setting.

    [limits]
    max_iterations = 33  # .skillpackrc
    warn_at = 20  # .skillpackrc
    stalled = 4  # .ralphrc:5
    iteration_timeout = "7m"  # .skillpackrc

    [verify]
    commands = ["npm test", "npm run lint"]  # .ideal/worktree.yaml

    [rate]
    max_calls_per_hour = 77  # .ralphrc:1
    "#);
    assert!(!env.path("x").exists(), "a line of .ralphrc was executed");

    // It stands on its own: the other files can go.
    let fresh = TestEnv::new();
    fresh.write(".ralph/config.toml", &done.stdout);
    let check = config(&fresh, &["check"]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""));
}

#[test]
fn migrate_without_other_tools_prints_an_empty_config() {
    let done = config(&TestEnv::new(), &["migrate"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(
        done.stdout.lines().all(|line| line.starts_with('#')),
        "{}",
        done.stdout
    );
}

#[test]
fn an_unknown_preset_is_refused_with_the_nearest() {
    let done = config(&TestEnv::new(), &["show", "--preset", "open-spec"]);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(done.stderr, @r#"ralph: flag --preset: "preset" is the text "open-spec". Did you mean "openspec"? Write one of "openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"."#);
}
