use std::time::Duration;

use crate::config::{FOREIGN_FILES, Layer, NamedText, Settings, Sources, WarnAt, load, migrate};
use crate::lang::{Lang, Say};
use crate::route::Scale;

fn read(name: &str, text: &str) -> (Settings, Vec<String>) {
    let sources = Sources {
        foreign: vec![NamedText {
            name: name.to_owned(),
            text: text.to_owned(),
        }],
        ..Sources::default()
    };
    let loaded = load(&sources).unwrap();
    let say = |lang| {
        let warnings = loaded.warnings.iter();
        warnings.map(move |warning| warning.say(lang))
    };
    let warnings = Lang::ALL.into_iter().flat_map(say).collect();
    (loaded.settings, warnings)
}

fn untouched() -> Settings {
    load(&Sources::default()).unwrap().settings
}

mod skillpack {
    use super::*;

    const FILE: &str = ".skillpackrc";

    #[test]
    fn the_short_shape_sets_the_loop() {
        let (settings, warnings) = read(
            FILE,
            r#"{"loop": {"max_iterations": 30, "warning_threshold": 25,
                "auto_checkpoint_interval": 4, "timeout_per_iteration_minutes": 45}}"#,
        );
        assert_eq!(warnings, [""; 0]);
        assert_eq!(settings.limits.max_iterations, 30);
        assert_eq!(settings.limits.warn_at, WarnAt::Iteration(25));
        assert_eq!(settings.checkpoint.interval, 4);
        assert_eq!(
            settings.limits.iteration_timeout,
            Duration::from_secs(45 * 60)
        );
    }

    #[test]
    fn the_long_shape_sets_checkpoints_and_history() {
        let (settings, warnings) = read(
            FILE,
            r#"{"version": "6.0",
                "knowledge": {"auto_query": true},
                "routing": {"weights": {"scope": 60, "risk": 40},
                            "thresholds": {"direct": 10, "planned": 20, "ralph": 30}},
                "checkpoint": {"auto_save": true, "atomic_writes": true, "backup_count": 5,
                               "save_interval_minutes": 5, "max_history": 12},
                "output": {"current_dir": "now", "history_dir": "then"},
                "lsp": {"supported_languages": ["rust"]}}"#,
        );
        assert_eq!(warnings, [""; 0]);
        assert_eq!(settings.checkpoint.backups, 5);
        assert_eq!(settings.history.keep, 12);
        assert_eq!(settings.checkpoint.dir, "now");
        assert_eq!(settings.history.dir, "then");
        let scale = &settings.routing;
        let weights: Vec<u32> = scale.weights.values().copied().collect();
        assert_eq!(weights, [60, 0, 0, 40, 0, 0]);
        assert_eq!(
            (
                scale.thresholds.direct, scale.thresholds.planned, scale.thresholds.ralph
            ),
            (10, 20, 30)
        );
    }

    /// CONF-03, ROUT-12: numbers that make no sense together are not used,
    /// and break nothing.
    #[test]
    fn a_scale_that_makes_no_sense_is_not_used() {
        for (routing, code) in [
            (r#"{"weights": {"scope": 50.5, "risk": 49.5}}"#, "CFG-003"),
            (r#"{"weights": {"scop": 60, "risk": 40}}"#, "CFG-002"),
            (r#"{"weights": {"scope": 101}}"#, "CFG-004"),
            (r#"{"thresholds": {"direct": 50}}"#, "CFG-005"),
            (r#"{"thresholds": {"ralph": 100}}"#, "CFG-005"),
            (r#"{"thresholds": {"direct": "low"}}"#, "CFG-003"),
            (r#"{"thresholds": {"dirct": 10}}"#, "CFG-002"),
            (r#"{"weight": {}}"#, "CFG-002"),
        ] {
            let (settings, warnings) = read(FILE, &format!(r#"{{"routing": {routing}}}"#));
            assert!(warnings[0].contains(code), "{routing}: {warnings:?}");
            assert_eq!(settings.routing, Scale::default(), "{routing}");
        }
        let (settings, warnings) = read(FILE, r#"{"routing": {"thresholds": {"direct": 30}}}"#);
        assert_eq!(warnings, [""; 0]);
        assert_eq!(settings.routing.thresholds.direct, 30);
    }

    #[test]
    fn its_own_rules_are_warnings_with_a_number() {
        let (settings, warnings) = read(
            FILE,
            r#"{"routing": {"weights": {"scope": 50, "risk": 40},
                            "thresholds": {"direct": 20, "planned": 20, "ralph": 70}},
                "loop": {"max_iterations": 10, "warning_threshold": 15,
                         "auto_checkpoint_interval": 11}}"#,
        );
        assert_eq!(settings.limits.warn_at, WarnAt::Percent(75));
        assert_eq!(settings.checkpoint.interval, 3);
        insta::assert_snapshot!(warnings.join("\n"), @"
        [CFG-004] .skillpackrc routing.weights / the weights sum to 90, so they are not used / make them sum to 100
        [CFG-005] .skillpackrc routing.thresholds / the thresholds do not increase below 100: 20, 20, 70, so they are not used / make direct < planned < ralph < 100
        [CFG-006] .skillpackrc loop.warning_threshold / 15 is more than loop.max_iterations (10), so it is not used / write 10 or less
        [CFG-007] .skillpackrc loop.auto_checkpoint_interval / 11 is more than loop.max_iterations (10), so it is not used / write 10 or less
        [CFG-004] .skillpackrc routing.weights / 權重總和為 90，因此不採用 / 請讓總和為 100
        [CFG-005] .skillpackrc routing.thresholds / 門檻沒有在 100 以下遞增：20, 20, 70，因此不採用 / 請讓 direct < planned < ralph < 100
        [CFG-006] .skillpackrc loop.warning_threshold / 15 大於 loop.max_iterations（10），因此不採用 / 請寫 10 或更小
        [CFG-007] .skillpackrc loop.auto_checkpoint_interval / 11 大於 loop.max_iterations（10），因此不採用 / 請寫 10 或更小
        [CFG-004] .skillpackrc routing.weights / 权重总和为 90，因此不采用 / 请让总和为 100
        [CFG-005] .skillpackrc routing.thresholds / 阈值没有在 100 以下递增：20, 20, 70，因此不采用 / 请让 direct < planned < ralph < 100
        [CFG-006] .skillpackrc loop.warning_threshold / 15 大于 loop.max_iterations（10），因此不采用 / 请写 10 或更小
        [CFG-007] .skillpackrc loop.auto_checkpoint_interval / 11 大于 loop.max_iterations（10），因此不采用 / 请写 10 或更小
        ");
    }

    #[test]
    fn unknown_keys_and_wrong_values_are_warnings() {
        let (settings, warnings) = read(
            FILE,
            r#"{"loop": {"max_iteration": 5, "warning_threshold": "late",
                         "timeout_per_iteration_minutes": -3, "max_iterations": 9},
                "lop": {}, "checkpoint": 3}"#,
        );
        assert_eq!(settings.limits.max_iterations, 9);
        insta::assert_snapshot!(warnings.join("\n"), @r#"
        [CFG-002] .skillpackrc / the key "loop.max_iteration" is not known and not used / write "loop.max_iterations" if that is meant
        [CFG-003] .skillpackrc / "loop.warning_threshold" is the text "late" and not used / write a whole number, 0 or more
        [CFG-003] .skillpackrc / "loop.timeout_per_iteration_minutes" is the number -3 and not used / write a whole number, 0 or more
        [CFG-002] .skillpackrc / the key "lop" is not known and not used / write "lsp" if that is meant
        [CFG-002] .skillpackrc / the key "checkpoint" is not known and not used / write "checkpoint" if that is meant
        [CFG-002] .skillpackrc / 不認識「loop.max_iteration」這個鍵，不採用 / 如果是指「loop.max_iterations」，請這樣寫
        [CFG-003] .skillpackrc / 「loop.warning_threshold」是文字 "late"，不採用 / 請寫整數，至少 0
        [CFG-003] .skillpackrc / 「loop.timeout_per_iteration_minutes」是數字 -3，不採用 / 請寫整數，至少 0
        [CFG-002] .skillpackrc / 不認識「lop」這個鍵，不採用 / 如果是指「lsp」，請這樣寫
        [CFG-002] .skillpackrc / 不認識「checkpoint」這個鍵，不採用 / 如果是指「checkpoint」，請這樣寫
        [CFG-002] .skillpackrc / 不认识“loop.max_iteration”这个键，不采用 / 如果是指“loop.max_iterations”，请这样写
        [CFG-003] .skillpackrc / “loop.warning_threshold”是文本 "late"，不采用 / 请写整数，至少 0
        [CFG-003] .skillpackrc / “loop.timeout_per_iteration_minutes”是数字 -3，不采用 / 请写整数，至少 0
        [CFG-002] .skillpackrc / 不认识“lop”这个键，不采用 / 如果是指“lsp”，请这样写
        [CFG-002] .skillpackrc / 不认识“checkpoint”这个键，不采用 / 如果是指“checkpoint”，请这样写
        "#);
    }

    #[test]
    fn a_warning_after_our_own_maximum_only_never_comes() {
        let (settings, warnings) = read(FILE, r#"{"loop": {"warning_threshold": 60}}"#);
        assert_eq!(settings.limits.max_iterations, 50);
        assert_eq!(warnings.len(), Lang::ALL.len());
    }

    #[test]
    fn a_broken_file_sets_nothing() {
        let (settings, warnings) = read(FILE, "{\"loop\": {\n\"max_iterations\": 3,}}");
        assert_eq!(settings, untouched());
        insta::assert_snapshot!(warnings.join("\n"), @"
        [CFG-001] .skillpackrc line 2 / it cannot be read and nothing of it is used: trailing comma at line 2 column 21 / correct the file or write the settings to .ralph/config.toml
        [CFG-001] .skillpackrc 第 2 行 / 無法讀取，完全不採用：trailing comma at line 2 column 21 / 請修正檔案，或把設定寫到 .ralph/config.toml
        [CFG-001] .skillpackrc 第 2 行 / 无法读取，完全不采用：trailing comma at line 2 column 21 / 请改正文件，或把设置写到 .ralph/config.toml
        ");
        let (settings, warnings) = read(FILE, "[1]");
        assert_eq!(settings, untouched());
        assert_eq!(warnings.len(), Lang::ALL.len());
    }
}

mod worktree {
    use super::*;

    const FILE: &str = ".ideal/worktree.yaml";

    #[test]
    fn verify_may_be_a_list_one_text_or_nothing() {
        let list = "worktree_dir: ../trees\ncopy:\n  - .env\npost_create:\n  - make setup\n# Commands\nverify:\n  - make lint\n  - \"make test: all\"\n  - 'true'\n  - true\n";
        for (text, want) in [
            (list, &["make lint", "make test: all", "true", "true"][..]),
            ("verify: make test\n", &["make test"]),
            ("verify:\n  # - make lint\n  # - make test\n", &[]),
            ("verify: []\n", &[]),
            ("verify: ''\n", &[]),
            ("verify:\n  - ' '\n  - '# make lint'\n  - make\n", &["make"]),
            ("worktree_dir: ../trees\n", &[]),
            ("# only comments\n", &[]),
            ("", &[]),
            ("verify:\r\n  - make lint\r\n", &["make lint"]),
        ] {
            let (settings, warnings) = read(FILE, text);
            assert_eq!(settings.verify.commands, want, "{text}");
            assert_eq!(warnings, [""; 0], "{text}");
        }
    }

    #[test]
    fn a_broken_file_sets_nothing_and_says_so() {
        let (settings, warnings) = read(FILE, "verify:\n  - make lint\n - [oops\n");
        assert_eq!(settings, untouched());
        insta::assert_snapshot!(warnings.join("\n"), @"
        .ideal/worktree.yaml line 3: it cannot be read and nothing of it is used: while parsing a block mapping, did not find expected key at line 3, column 2; correct the file or write the settings to .ralph/config.toml.
        .ideal/worktree.yaml 第 3 行：無法讀取，完全不採用：while parsing a block mapping, did not find expected key at line 3, column 2；請修正檔案，或把設定寫到 .ralph/config.toml。
        .ideal/worktree.yaml 第 3 行：无法读取，完全不采用：while parsing a block mapping, did not find expected key at line 3, column 2；请改正文件，或把设置写到 .ralph/config.toml。
        ");
    }

    #[test]
    fn unknown_keys_and_wrong_values_are_warnings() {
        let (settings, warnings) = read(
            ".trellis/worktree.yaml",
            "verfy:\n  - make\nverify:\n  - 5\n",
        );
        assert_eq!(settings, untouched());
        insta::assert_snapshot!(warnings.join("\n"), @r#"
        .trellis/worktree.yaml: the key "verfy" is not known and not used; write "verify" if that is meant.
        .trellis/worktree.yaml: "verify" is the list [5] and not used; write a list of texts such as ["a", "b"].
        .trellis/worktree.yaml：不認識「verfy」這個鍵，不採用；如果是指「verify」，請這樣寫。
        .trellis/worktree.yaml：「verify」是清單 [5]，不採用；請寫文字清單，例如 ["a", "b"]。
        .trellis/worktree.yaml：不认识“verfy”这个键，不采用；如果是指“verify”，请这样写。
        .trellis/worktree.yaml：“verify”是列表 [5]，不采用；请写文本列表，例如 ["a", "b"]。
        "#);
    }
}

mod ralphrc {
    use super::*;

    const FILE: &str = ".ralphrc";

    #[test]
    fn assignments_are_read() {
        let (settings, warnings) = read(
            FILE,
            r#"# A project
PROJECT_NAME="${PROJECT_NAME:-demo}"
PROJECT_TYPE=$(detect)
MAX_CALLS_PER_HOUR=80   # per hour
export CLAUDE_TIMEOUT_MINUTES="${CLAUDE_TIMEOUT_MINUTES:-20}"
CB_NO_PROGRESS_THRESHOLD='4'
CB_SAME_ERROR_THRESHOLD=${CB_SAME_ERROR_THRESHOLD:-6}
OPTIONAL_SECTIONS="Later, Nice & Easy"
ALLOWED_TOOLS="Write,Bash(git add *)"
SANDBOX_PROVIDER="docker"
"#,
        );
        assert_eq!(warnings, [""; 0]);
        assert_eq!(settings.rate.max_calls_per_hour, 80);
        assert_eq!(
            settings.limits.iteration_timeout,
            Duration::from_secs(20 * 60)
        );
        assert_eq!(settings.limits.stalled, 4);
        assert_eq!(settings.limits.same_error, 6);
        assert_eq!(settings.tasks.optional_sections, ["Later", "Nice & Easy"]);
    }

    #[test]
    fn nothing_is_ever_worked_out_by_a_shell() {
        for value in [
            "$(touch x)", "\"$(touch x)\"", "`touch x`", "\"${X:-$(touch x)}\"", "5;touch x",
            "5 ; touch x", "5&&touch x", "$OTHER", "\"${OTHER}\"", "${OTHER:=5}", "$((2 + 3))",
            "\"5", "\"5\"5",
        ] {
            let (settings, warnings) = read(FILE, &format!("MAX_CALLS_PER_HOUR={value}\n"));
            assert_eq!(settings, untouched(), "{value}");
            assert_eq!(warnings.len(), Lang::ALL.len(), "{value}");
        }
    }

    #[test]
    fn the_rest_are_warnings() {
        let (settings, warnings) = read(
            FILE,
            "source ./other\nMAX_CALLS_PER_HOUR=$(nproc)\nMAX_CALL_PER_HOUR=3\nCB_NO_PROGRESS_THRESHOLD=few\nCLAUDE_TIMEOUT_MINUTES=half\nif [ x = y ]; then\n",
        );
        assert_eq!(settings, untouched());
        insta::assert_snapshot!(warnings.join("\n"), @r#"
        .ralphrc line 1: this is not NAME=value and is not used: ralph reads the file and never runs it.
        .ralphrc line 2: the value of MAX_CALLS_PER_HOUR would have to be run by a shell, so it is not used. Write a plain value, such as MAX_CALLS_PER_HOUR=15.
        .ralphrc line 3: the key "MAX_CALL_PER_HOUR" is not known and not used; write "MAX_CALLS_PER_HOUR" if that is meant.
        .ralphrc line 4: "CB_NO_PROGRESS_THRESHOLD" is the text "few" and not used; write a whole number, 0 or more.
        .ralphrc line 5: "CLAUDE_TIMEOUT_MINUTES" is the text "half" and not used; write a whole number, 0 or more.
        .ralphrc line 6: this is not NAME=value and is not used: ralph reads the file and never runs it.
        .ralphrc 第 1 行：不是 NAME=value 的形式，不採用：ralph 只讀取這個檔案，從不執行。
        .ralphrc 第 2 行：MAX_CALLS_PER_HOUR 的值必須由 shell 執行才能得到，因此不採用。請寫純粹的值，例如 MAX_CALLS_PER_HOUR=15。
        .ralphrc 第 3 行：不認識「MAX_CALL_PER_HOUR」這個鍵，不採用；如果是指「MAX_CALLS_PER_HOUR」，請這樣寫。
        .ralphrc 第 4 行：「CB_NO_PROGRESS_THRESHOLD」是文字 "few"，不採用；請寫整數，至少 0。
        .ralphrc 第 5 行：「CLAUDE_TIMEOUT_MINUTES」是文字 "half"，不採用；請寫整數，至少 0。
        .ralphrc 第 6 行：不是 NAME=value 的形式，不採用：ralph 只讀取這個檔案，從不執行。
        .ralphrc 第 1 行：不是 NAME=value 的形式，不采用：ralph 只读取这个文件，从不执行。
        .ralphrc 第 2 行：MAX_CALLS_PER_HOUR 的值必须由 shell 执行才能得到，因此不采用。请写纯粹的值，例如 MAX_CALLS_PER_HOUR=15。
        .ralphrc 第 3 行：不认识“MAX_CALL_PER_HOUR”这个键，不采用；如果是指“MAX_CALLS_PER_HOUR”，请这样写。
        .ralphrc 第 4 行：“CB_NO_PROGRESS_THRESHOLD”是文本 "few"，不采用；请写整数，至少 0。
        .ralphrc 第 5 行：“CLAUDE_TIMEOUT_MINUTES”是文本 "half"，不采用；请写整数，至少 0。
        .ralphrc 第 6 行：不是 NAME=value 的形式，不采用：ralph 只读取这个文件，从不执行。
        "#);
    }
}

#[test]
fn migrating_writes_an_own_file_with_the_same_effect() {
    let files = [
        (FOREIGN_FILES[0], r#"{"loop": {"max_iterations": 30}}"#),
        (FOREIGN_FILES[1], "verify:\n  - make lint\n  - make test\n"),
        (FOREIGN_FILES[3], "CLAUDE_TIMEOUT_MINUTES=15\n"),
    ];
    let layers = files.map(|(name, text)| Layer::foreign(name, text).0);
    let text = migrate(&layers);
    insta::assert_snapshot!(text, @r#"
    # Taken over from files of other tools by "ralph config migrate".
    # "ralph config reference" explains every setting.

    [limits]
    max_iterations = 30  # .skillpackrc
    iteration_timeout = "15m"  # .ralphrc:1

    [verify]
    commands = ["make lint", "make test"]  # .ideal/worktree.yaml
    "#);

    let named = |name: &str, text: &str| NamedText {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let from_own = load(&Sources {
        own_file: Some(named(".ralph/config.toml", &text)),
        ..Sources::default()
    });
    let from_foreign = load(&Sources {
        foreign: files.map(|(name, text)| named(name, text)).into(),
        ..Sources::default()
    });
    assert_eq!(from_own.unwrap().settings, from_foreign.unwrap().settings);
}

#[test]
fn migrating_nothing_leaves_every_setting_as_it_is() {
    let text = migrate(&[]);
    assert!(Layer::own_file("config.toml", &text).unwrap().is_empty());
}
