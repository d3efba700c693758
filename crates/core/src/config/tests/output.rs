use super::*;

/// Texts that are hard to write down as TOML.
fn awkward() -> Sources {
    let mut sources = own(r##"
[promise]
complete = ["所有任務完成", "it's \"done\"", "two\nlines", "back\\slash", "# no comment"]
[agent]
args = []
env = ["A=b # c"]
"##);
    sources.foreign = vec![foreign(".ralphrc", "MAX_CALLS_PER_HOUR=100\n")];
    sources.env = env(&[("RALPH_LOG_KEEP", "9")]);
    sources.flags = vec![Layer::flag("preset", "sdd", "--preset").unwrap()];
    sources
}

#[test]
fn what_is_shown_reads_back_as_the_same_settings() {
    let everything = PRESETS
        .map(|(name, _)| preset(name))
        .into_iter()
        .chain([defaults(), load(&awkward()).unwrap()]);
    for loaded in everything {
        for with_origin in [false, true] {
            let shown = loaded.resolved.show(with_origin);
            let again = load(&own(&shown)).unwrap();
            assert_eq!(again.settings, loaded.settings, "{shown}");
            for key in Schema::get().keys() {
                assert_eq!(
                    again.resolved.get(&key.name).unwrap().value,
                    loaded.resolved.get(&key.name).unwrap().value,
                    "{}",
                    key.name
                );
            }
        }
    }
}

#[test]
fn origins_stand_behind_the_values() {
    let shown = load(&awkward()).unwrap().resolved.show(true);
    let lines: Vec<&str> = shown
        .lines()
        .filter(|line| !line.ends_with("# default"))
        .filter(|line| line.contains('#') || line.starts_with("[agent"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r##"
    preset = "sdd"  # flag --preset
    extend_by = 20  # preset sdd
    on_limit = "stop"  # preset sdd
    lines""", 'back\slash', "# no comment"]  # .ralph/config.toml:3
    source = "spec-kit"  # preset sdd
    [agent]
    args = []  # .ralph/config.toml:5
    env = ["A=b # c"]  # .ralph/config.toml:6
    [agent.retry]
    max_calls_per_hour = 100  # .ralphrc:1
    file = ".ralph/ralph-sdd.log"  # preset sdd
    keep = 9  # environment RALPH_LOG_KEEP
    "##);
}

#[test]
fn json_has_value_and_origin_of_every_key() {
    let json = load(&awkward()).unwrap().resolved.to_json();
    assert_eq!(
        json.as_object().unwrap().len(),
        Schema::get().keys().count()
    );
    let some: BTreeMap<&str, &serde_json::Value> = [
        "preset",
        "rate.max_calls_per_hour",
        "log.keep",
        "agent.env",
        "lang",
    ]
    .map(|key| (key, &json[key]))
    .into();
    let lines: Vec<String> = some
        .iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    agent.env {"value":["A=b # c"],"origin":"file","name":".ralph/config.toml","line":6}
    lang {"value":"auto","origin":"default"}
    log.keep {"value":9,"origin":"env","name":"RALPH_LOG_KEEP"}
    preset {"value":"sdd","origin":"flag","name":"--preset"}
    rate.max_calls_per_hour {"value":100,"origin":"foreign","name":".ralphrc","line":1}
    "#);
}
