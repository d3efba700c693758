use super::*;

/// The value and the origin of `limits.max_iterations`.
fn check(sources: &Sources, value: i64, place: &str) {
    let loaded = load(sources).unwrap();
    let got = loaded.resolved.get("limits.max_iterations").unwrap();
    assert_eq!(got.value, Value::Integer(value), "{place}");
    assert_eq!(got.place.to_string(), place);
    assert_eq!(i64::from(loaded.settings.limits.max_iterations), value);
}

#[test]
fn flag_then_variable_then_own_file_then_foreign_then_preset_then_default() {
    let mut sources = Sources {
        own_file: Some(foreign(
            OWN,
            "preset = \"openspec\"\n[limits]\nmax_iterations = 14\n",
        )),
        foreign: vec![foreign(
            ".skillpackrc",
            r#"{"loop": {"max_iterations": 13}}"#,
        )],
        env: env(&[("RALPH_LIMITS_MAX_ITERATIONS", "15")]),
        flags: vec![Layer::flag("limits.max_iterations", "16", "--max-iterations").unwrap()],
        ..Sources::default()
    };
    check(&sources, 16, "flag --max-iterations");
    sources.flags.clear();
    check(&sources, 15, "environment RALPH_LIMITS_MAX_ITERATIONS");
    sources.env.clear();
    check(&sources, 14, ".ralph/config.toml:3");
    sources.own_file = Some(foreign(OWN, "preset = \"openspec\"\n"));
    check(&sources, 13, ".skillpackrc");
    sources.foreign.clear();
    check(&sources, 100, "preset openspec");
    sources.own_file = None;
    check(&sources, 50, "default");
}

#[test]
fn the_preset_itself_is_chosen_by_the_strongest_place() {
    let mut sources = own("preset = \"openspec\"");
    sources.env = env(&[("RALPH_PRESET", "delta")]);
    sources.flags = vec![Layer::flag("preset", "dev-p0", "--preset").unwrap()];
    assert_eq!(load(&sources).unwrap().settings.limits.max_iterations, 0);
    sources.flags.clear();
    assert_eq!(load(&sources).unwrap().settings.limits.max_iterations, 20);
    sources.env.clear();
    assert_eq!(load(&sources).unwrap().settings.limits.max_iterations, 100);
}

#[test]
fn of_two_foreign_files_the_first_decides_and_says_so() {
    let sources = Sources {
        foreign: vec![
            foreign(
                ".skillpackrc",
                r#"{"loop": {"timeout_per_iteration_minutes": 20}}"#,
            ),
            foreign(".ralphrc", "CLAUDE_TIMEOUT_MINUTES=15\n"),
        ],
        ..Sources::default()
    };
    let loaded = load(&sources).unwrap();
    assert_eq!(loaded.settings.limits.iteration_timeout, minutes(20));
    insta::assert_snapshot!(warnings_of(&sources), @r#"
    "limits.iteration_timeout" is set differently by .skillpackrc and by .ralphrc line 1; .skillpackrc is used. Set it in .ralph/config.toml to decide.
    .skillpackrc 與 .ralphrc 第 1 行 對「limits.iteration_timeout」的設定不同；採用 .skillpackrc。請在 .ralph/config.toml 中設定來決定。
    .skillpackrc 与 .ralphrc 第 1 行 对“limits.iteration_timeout”的设置不同；采用 .skillpackrc。请在 .ralph/config.toml 中设置来决定。
    "#);
}
