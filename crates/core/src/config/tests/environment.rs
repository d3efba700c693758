use super::*;

fn settings(variables: &[(&str, &str)]) -> Settings {
    let sources = Sources {
        env: env(variables),
        ..Sources::default()
    };
    load(&sources).unwrap().settings
}

#[test]
fn texts_become_values_of_the_key() {
    let settings = settings(&[
        ("RALPH_LANG", "zh-TW"),
        ("RALPH_LIMITS_WARN_AT", "40"),
        ("RALPH_LIMITS_MAX_DURATION", "2h"),
        ("RALPH_PROMISE_REQUIRED", "yes"),
        ("RALPH_PROMISE_COMPLETE", r#"["A, B", "C"]"#),
        ("RALPH_VERIFY_COMMANDS", "npm test -- --grep a,b"),
        ("RALPH_PROGRESS_EVIDENCE", "commit, tree"),
        ("RALPH_AGENT_ENV", "A=b=c"),
        ("RALPH_LOG_MAX_SIZE", "1MiB"),
        ("RALPH_AGENT_RETRY_ATTEMPTS", "7"),
        ("RALPH_TASKS_PHASE", ""),
        ("PATH", "/bin"),
    ]);
    assert_eq!(settings.lang, "zh-TW");
    assert_eq!(settings.limits.warn_at, WarnAt::Iteration(40));
    assert_eq!(settings.limits.max_duration, minutes(120));
    assert!(settings.promise.required);
    assert_eq!(settings.promise.complete, ["A, B", "C"]);
    assert_eq!(settings.verify.commands, ["npm test -- --grep a,b"]);
    assert_eq!(
        settings.progress.evidence,
        [Evidence::Commit, Evidence::Tree]
    );
    assert_eq!(settings.agent.env, [("A".to_owned(), "b=c".to_owned())]);
    assert_eq!(settings.log.max_size, 1 << 20);
    assert_eq!(settings.agent.retry.attempts, 7);
}

#[test]
fn what_the_engine_tells_agents_configures_nothing() {
    let variables = [
        ("RALPH_RUN_ID", "r1"),
        ("RALPH_ITERATION", "3"),
        ("RALPH_TASKS_FILE", "elsewhere.md"),
        ("RALPH_MODE", "external"),
        ("RALPH_HOME_PAGE_OF_SOMEBODY", "x"),
    ];
    let sources = Sources {
        env: env(&variables),
        ..Sources::default()
    };
    assert_eq!(load(&sources).unwrap(), defaults());
}

#[test]
fn a_variable_that_is_nearly_ours_gives_a_warning() {
    let sources = Sources {
        env: env(&[
            ("RALPH_LIMITS_MAX_ITERATION", "9"),
            ("RALPH_MAX_DURATION", "1h"),
        ]),
        ..Sources::default()
    };
    insta::assert_snapshot!(warnings_of(&sources), @r#"
    environment variable RALPH_LIMITS_MAX_ITERATION is none of ralph's and not used. Did you mean "RALPH_LIMITS_MAX_ITERATIONS"?
    environment variable RALPH_MAX_DURATION is none of ralph's and not used. Did you mean "RALPH_LIMITS_MAX_DURATION"?
    環境變數 RALPH_LIMITS_MAX_ITERATION 不是 ralph 的變數，不採用。是不是「RALPH_LIMITS_MAX_ITERATIONS」？
    環境變數 RALPH_MAX_DURATION 不是 ralph 的變數，不採用。是不是「RALPH_LIMITS_MAX_DURATION」？
    环境变量 RALPH_LIMITS_MAX_ITERATION 不是 ralph 的变量，不采用。是不是“RALPH_LIMITS_MAX_ITERATIONS”？
    环境变量 RALPH_MAX_DURATION 不是 ralph 的变量，不采用。是不是“RALPH_LIMITS_MAX_DURATION”？
    "#);
}

#[test]
fn a_wrong_value_is_an_error() {
    let sources = Sources {
        env: env(&[("RALPH_LIMITS_STALLED", "many"), ("RALPH_LANG", "zh-tw")]),
        ..Sources::default()
    };
    insta::assert_snapshot!(errors_of(&sources), @r#"
    environment variable RALPH_LIMITS_STALLED: "limits.stalled" is the text "many". Write a whole number, 0 or more.
    environment variable RALPH_LANG: "lang" is the text "zh-tw". Did you mean "zh-TW"? Write one of "auto", "en", "zh-TW", "zh-CN".
    環境變數 RALPH_LIMITS_STALLED：「limits.stalled」是文字 "many"。請寫整數，至少 0。
    環境變數 RALPH_LANG：「lang」是文字 "zh-tw"。是不是「zh-TW」？請寫下列之一："auto", "en", "zh-TW", "zh-CN"。
    环境变量 RALPH_LIMITS_STALLED：“limits.stalled”是文本 "many"。请写整数，至少 0。
    环境变量 RALPH_LANG：“lang”是文本 "zh-tw"。是不是“zh-TW”？请写以下之一："auto", "en", "zh-TW", "zh-CN"。
    "#);
}
