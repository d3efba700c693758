use super::*;

const NO_OTHER_LIMIT: &str = "
[limits]
max_iterations = 0
max_dispatches = 0
consecutive_errors = 0
missing_promise = 0
stalled = 0
same_error = 0
max_duration = \"0\"
";

#[test]
fn unlimited_iterations_need_another_limit() {
    insta::assert_snapshot!(errors_of(&own(NO_OTHER_LIMIT)), @r#"
    .ralph/config.toml line 3: "limits.max_iterations" is 0 (unlimited) and no other limit is on. Set max_iterations, or one of limits.max_duration (such as "12h"), limits.stalled, limits.missing_promise, limits.consecutive_errors, budget.max_cost.
    .ralph/config.toml 第 3 行：「limits.max_iterations」為 0（不限），且沒有其他限制。請設定 max_iterations，或下列之一：limits.max_duration（例如 "12h"）、limits.stalled、limits.missing_promise、limits.consecutive_errors、budget.max_cost。
    .ralph/config.toml 第 3 行：“limits.max_iterations”为 0（不限），且没有其他限制。请设置 max_iterations，或以下之一：limits.max_duration（例如 "12h"）、limits.stalled、limits.missing_promise、limits.consecutive_errors、budget.max_cost。
    "#);
    for (limit, value) in [
        ("max_iterations", "1"),
        ("consecutive_errors", "1"),
        ("missing_promise", "1"),
        ("stalled", "1"),
        ("max_duration", "1s"),
    ] {
        let mut sources = own(NO_OTHER_LIMIT);
        let key = format!("limits.{limit}");
        sources.flags = vec![Layer::flag(&key, value, "--x").unwrap()];
        assert!(load(&sources).is_ok(), "{limit}");
    }
    for (key, value) in [("budget.max_cost", "1usd"), ("budget.max_tokens", "1")] {
        let mut sources = own(NO_OTHER_LIMIT);
        sources.flags = vec![Layer::flag(key, value, "--x").unwrap()];
        assert!(load(&sources).is_ok(), "{key}");
    }
    // The machine accepts the same ones, and only these.
    for limit in ["max_dispatches", "same_error", "false_promise"] {
        let mut sources = own(NO_OTHER_LIMIT);
        let key = format!("limits.{limit}");
        sources.flags = vec![Layer::flag(&key, 1, "--x").unwrap()];
        assert!(load(&sources).is_err(), "{limit}");
    }
}

#[test]
fn a_warning_after_the_end_is_a_contradiction_in_one_place() {
    let sources = own("[limits]\nmax_iterations = 10\nwarn_at = 11\n");
    insta::assert_snapshot!(errors_of(&sources), @r#"
    .ralph/config.toml line 3: "limits.warn_at" is 11, after the last turn (10). Write 10 or less, or a percentage such as "75%".
    .ralph/config.toml 第 3 行：「limits.warn_at」是 11，在最後一次迭代（10）之後。請寫 10 或更小，或百分比，例如 "75%"。
    .ralph/config.toml 第 3 行：“limits.warn_at”是 11，在最后一次迭代（10）之后。请写 10 或更小，或百分比，例如 "75%"。
    "#);
    for text in [
        "[limits]\nmax_iterations = 10\nwarn_at = 10\n",
        "[limits]\nmax_iterations = 10\nwarn_at = 0\n",
        "[limits]\nmax_iterations = 0\nwarn_at = 11\n",
    ] {
        assert_eq!(load(&own(text)).unwrap().warnings, [], "{text}");
    }
}

#[test]
fn a_lower_maximum_by_a_flag_silences_the_warning_before_the_end() {
    let mut sources = own("preset = \"delta\"");
    let flag = || Layer::flag("limits.max_iterations", 10, "--max-iterations").unwrap();
    sources.flags = vec![flag()];
    assert_eq!(load(&sources).unwrap().warnings, []);
    let mut sources = own("[limits]\nmax_iterations = 20\nwarn_at = 15\n");
    sources.flags = vec![flag()];
    insta::assert_snapshot!(warnings_of(&sources), @r#"
    the warning at turn 15 (.ralph/config.toml line 3) never comes: the last turn is 10. Set limits.warn_at to a percentage such as "75%".
    第 15 次迭代的警告（.ralph/config.toml 第 3 行）不會出現：最後一次迭代是 10。請把 limits.warn_at 設為百分比，例如 "75%"。
    第 15 次迭代的警告（.ralph/config.toml 第 3 行）不会出现：最后一次迭代是 10。请把 limits.warn_at 设为百分比，例如 "75%"。
    "#);
}

/// A text that can never be a promise is told of where it was set, wherever
/// that was (PROM-03).
#[test]
fn texts_that_can_be_no_promise_are_refused() {
    let flag = |text: &str| Sources {
        flags: vec![Layer::flag("promise.complete", vec![text], "--completion-promise").unwrap()],
        ..Sources::default()
    };
    for text in [
        "<promise>CI_PASSED</promise>",
        "a</promise>b",
        "<PROMISE >x",
        "CONTINUE",
        " continue_me <promise>",
        "E2E PASSED",
        "E2E FAILED: x",
        "BLOCKED",
        "BLOCKED: no key",
        "QUESTION",
        "QUESTION: which?",
    ] {
        assert!(load(&flag(text)).is_err(), "{text}");
    }
    for text in [
        "CI_PASSED", "PHASE COMPLETE", "BLOCKEDNESS", "QUESTIONS_ANSWERED", "a < b", "",
    ] {
        assert!(load(&flag(text)).is_ok(), "{text}");
    }
    let mut sources = own(
        "[promise]\ncomplete = [\"CI_PASSED\", \"QUESTION: why\"]\nphase_complete = [\"<promise>P</promise>\"]\nblocked_prefix = \"<promise>B\"\n",
    );
    sources.env = env(&[("RALPH_PROMISE_CONTINUE", "CI_PASSED")]);
    insta::assert_snapshot!(errors_of(&sources), @r#"
    .ralph/config.toml line 3: "promise.phase_complete" is the text "<promise>P</promise>" with a <promise> tag. Write the text alone, without the tag.
    .ralph/config.toml line 4: "promise.blocked_prefix" is the text "<promise>B" with a <promise> tag. Write the text alone, without the tag.
    environment variable RALPH_PROMISE_CONTINUE: "promise.complete" is the text "CI_PASSED", which already means what "promise.continue" stands for. Choose another text.
    .ralph/config.toml line 2: "promise.complete" is the text "QUESTION: why", which already means a question to a person. Choose another text.
    .ralph/config.toml 第 3 行：「promise.phase_complete」是帶有 <promise> 標籤的文字 "<promise>P</promise>"。請只寫文字，不要寫標籤。
    .ralph/config.toml 第 4 行：「promise.blocked_prefix」是帶有 <promise> 標籤的文字 "<promise>B"。請只寫文字，不要寫標籤。
    環境變數 RALPH_PROMISE_CONTINUE：「promise.complete」是文字 "CI_PASSED"，這已經是「promise.continue」所代表的意思。請改用別的文字。
    .ralph/config.toml 第 2 行：「promise.complete」是文字 "QUESTION: why"，這已經表示向人提問。請改用別的文字。
    .ralph/config.toml 第 3 行：“promise.phase_complete”是带有 <promise> 标签的文本 "<promise>P</promise>"。请只写文本，不要写标签。
    .ralph/config.toml 第 4 行：“promise.blocked_prefix”是带有 <promise> 标签的文本 "<promise>B"。请只写文本，不要写标签。
    环境变量 RALPH_PROMISE_CONTINUE：“promise.complete”是文本 "CI_PASSED"，这已经是“promise.continue”所代表的意思。请改用别的文本。
    .ralph/config.toml 第 2 行：“promise.complete”是文本 "QUESTION: why"，这已经表示向人提问。请改用别的文本。
    "#);
}

/// A check that runs nothing passes whatever is there (VERI-02, QUAL-08, E2E-03).
#[test]
fn a_check_has_to_run_something() {
    for idle in [
        "[verify]\ncommands = [\"make\", \"\"]\n",
        "[verify]\ncommands = [\" \\n# make\"]\n",
        "[e2e]\ncommand = \"  \"\n",
        "[gate]\nsteps = [\"test: \"]\n",
        "[gate]\nsteps = [\"test: # npm test\"]\n",
    ] {
        let errors = load(&own(idle)).unwrap_err().errors;
        let is_idle = |error: &ConfigError| matches!(error, ConfigError::IdleCheck { .. });
        assert!(errors.iter().all(is_idle) && errors.len() == 1, "{idle}");
    }
    insta::assert_snapshot!(errors_of(&own("[e2e]\ncommand = \" \"\n")), @r#"
    .ralph/config.toml line 2: "e2e.command" has a command that runs nothing, so it would always pass. Write the command, or take it out.
    .ralph/config.toml 第 2 行：「e2e.command」有一個什麼都不執行的命令，永遠會通過。請寫上命令，或拿掉它。
    .ralph/config.toml 第 2 行：“e2e.command”有一个什么都不执行的命令，永远会通过。请写上命令，或拿掉它。
    "#);
    for fine in [
        "[verify]\ncommands = []\n",
        "[e2e]\ncommand = \"\"\n",
        "[gate]\nsteps = [\"test: make # all\"]\n",
    ] {
        assert!(load(&own(fine)).is_ok(), "{fine}");
    }
}

#[test]
fn all_mistakes_of_all_places_are_reported_at_once() {
    let mut sources = own("lagn = \"en\"\n[limits]\nstalled = true\n");
    sources.env = env(&[("RALPH_LIMITS_STALLED", "x")]);
    assert_eq!(load(&sources).unwrap_err().errors.len(), 3);
}

#[test]
fn a_percentage_is_a_turn_of_the_maximum() {
    for (warn_at, max_iterations, want) in [
        (WarnAt::Percent(75), 20, Some(15)),
        (WarnAt::Percent(75), 50, Some(38)),
        (WarnAt::Percent(75), 1, Some(1)),
        (WarnAt::Percent(75), 0, None),
        (WarnAt::Percent(100), u32::MAX, Some(u32::MAX)),
        (WarnAt::Iteration(15), 20, Some(15)),
        (WarnAt::Never, 20, None),
    ] {
        assert_eq!(warn_at.first_iteration(max_iterations), want);
    }
}
