use super::*;

#[test]
fn take_typed_values_and_texts() {
    for (key, value, want) in [
        ("limits.stalled", Value::from(4), Value::from(4)),
        ("limits.stalled", Value::from("4"), Value::from(4)),
        (
            "verify.commands",
            Value::from("make"),
            Value::from(vec!["make"]),
        ),
        (
            "verify.commands",
            Value::from(vec!["make", "make test"]),
            Value::from(vec!["make", "make test"]),
        ),
        ("agent.allow_unsafe", Value::from(true), Value::from(true)),
        ("limits.max_duration", Value::from(0), Value::from("0")),
    ] {
        let layer = Layer::flag(key, value, "--x").unwrap();
        assert_eq!(layer.get(key).unwrap().value, want, "{key}");
    }
}

#[test]
fn refuse_wrong_values() {
    let error = Layer::flag("limits.max_duration", "90", "--max-duration").unwrap_err();
    insta::assert_snapshot!(Lang::ALL.map(|lang| error.say(lang)).join("\n"), @r#"
    flag --max-duration: "limits.max_duration" is the text "90". Write a duration with a unit, such as "90s", "30m" or "12h" ("0" is off).
    選項 --max-duration：「limits.max_duration」是文字 "90"。請寫帶單位的時間長度，例如 "90s"、"30m" 或 "12h"（"0" 表示關閉）。
    选项 --max-duration：“limits.max_duration”是文本 "90"。请写带单位的时长，例如 "90s"、"30m" 或 "12h"（"0" 表示关闭）。
    "#);
    let error = Layer::flag("limits.nonsense", "90", "--nonsense").unwrap_err();
    assert!(matches!(error, ConfigError::UnknownKey { .. }));
}
