use super::*;

#[test]
fn sets_what_it_says() {
    let settings = load(&own(concat!(
        "\u{feff}lang = \"zh-CN\"\r\n",
        "limits = { stalled = 7, max_duration = 0 }\r\n",
        "verify.commands = ['make', 'make test'] # dotted\r\n",
        "[agent]\r\n",
        "name = 'codex'\r\n",
        "retry = { attempts = 1 }\r\n",
    )))
    .unwrap()
    .settings;
    assert_eq!(settings.lang, "zh-CN");
    assert_eq!(settings.limits.stalled, 7);
    assert_eq!(settings.limits.max_duration, Duration::ZERO);
    assert_eq!(settings.verify.commands, ["make", "make test"]);
    assert_eq!(settings.agent.name, "codex");
    assert_eq!(settings.agent.retry.attempts, 1);
    assert_eq!(settings.agent.retry.factor, 2);
}

#[test]
fn an_empty_one_sets_nothing() {
    assert_eq!(load(&own("# nothing yet\n")).unwrap(), defaults());
}

#[test]
fn unknown_keys_come_with_the_nearest_name_and_their_line() {
    let sources = own(
        "max_iterations = 5\n[limits]\nmax-iteration = 5\n[limit]\nstalled = 1\n[colours]\nx = 1\n",
    );
    insta::assert_snapshot!(errors_of(&sources), @r#"
    .ralph/config.toml line 1: there is no setting "max_iterations". Did you mean "limits.max_iterations"? Correct or remove it; "ralph config reference" lists all settings.
    .ralph/config.toml line 3: there is no setting "limits.max-iteration". Did you mean "limits.max_iterations"? Correct or remove it; "ralph config reference" lists all settings.
    .ralph/config.toml line 4: there is no setting "limit". Did you mean "limits"? Correct or remove it; "ralph config reference" lists all settings.
    .ralph/config.toml line 6: there is no setting "colours". Correct or remove it; "ralph config reference" lists all settings.
    .ralph/config.toml 第 1 行：沒有「max_iterations」這個設定。是不是「limits.max_iterations」？請改正或移除；「ralph config reference」列出所有設定。
    .ralph/config.toml 第 3 行：沒有「limits.max-iteration」這個設定。是不是「limits.max_iterations」？請改正或移除；「ralph config reference」列出所有設定。
    .ralph/config.toml 第 4 行：沒有「limit」這個設定。是不是「limits」？請改正或移除；「ralph config reference」列出所有設定。
    .ralph/config.toml 第 6 行：沒有「colours」這個設定。請改正或移除；「ralph config reference」列出所有設定。
    .ralph/config.toml 第 1 行：没有“max_iterations”这个设置。是不是“limits.max_iterations”？请改正或删除；“ralph config reference”列出所有设置。
    .ralph/config.toml 第 3 行：没有“limits.max-iteration”这个设置。是不是“limits.max_iterations”？请改正或删除；“ralph config reference”列出所有设置。
    .ralph/config.toml 第 4 行：没有“limit”这个设置。是不是“limits”？请改正或删除；“ralph config reference”列出所有设置。
    .ralph/config.toml 第 6 行：没有“colours”这个设置。请改正或删除；“ralph config reference”列出所有设置。
    "#);
}

#[test]
fn wrong_types_say_what_was_expected_and_found() {
    let sources = own(r#"
lang = 5
limits = 3
[verify]
commands = "npm test"
agents = ["check", 1]
strict = "no"
max_rounds = 0
max_minutes = -1
output_limit = 99999999999999999999
command_timeout = 120
[log]
max_size = "ten"
[agent]
env = ["NOVALUE"]
model = { a = 1 }
[agent.retry]
max = 1979-05-27
"#);
    insta::assert_snapshot!(errors_of(&sources), @r#"
    .ralph/config.toml line 2: "lang" is the number 5. Write one of "auto", "en", "zh-TW", "zh-CN".
    .ralph/config.toml line 3: "limits" is a section, not a setting. Write [limits] on a line of its own and its settings below.
    .ralph/config.toml line 5: "verify.commands" is the text "npm test". Write a list of texts such as ["a", "b"].
    .ralph/config.toml line 6: "verify.agents" is the list ["check", 1]. Write a list of texts such as ["a", "b"].
    .ralph/config.toml line 7: "verify.strict" is the text "no". Write true or false.
    .ralph/config.toml line 8: "verify.max_rounds" is the number 0. Write a whole number, 1 or more.
    .ralph/config.toml line 9: "verify.max_minutes" is the number -1. Write a whole number, 0 or more.
    .ralph/config.toml line 10: "verify.output_limit" is the number 99999999999999999999. Write a whole number, 1 or more.
    .ralph/config.toml line 11: "verify.command_timeout" is the number 120. Write a duration with a unit, such as "90s", "30m" or "12h" ("0" is off).
    .ralph/config.toml line 13: "log.max_size" is the text "ten". Write a size with a unit, such as "500KB" or "10MB" ("0" is off).
    .ralph/config.toml line 15: "agent.env" is the list ["NOVALUE"]. Write a list such as ["NAME=value"].
    .ralph/config.toml line 16: "agent.model" is a section. Write a text in quotes.
    .ralph/config.toml line 18: "agent.retry.max" is the date 1979-05-27. Write a duration with a unit, such as "90s", "30m" or "12h" ("0" is off).
    .ralph/config.toml 第 2 行：「lang」是數字 5。請寫下列之一："auto", "en", "zh-TW", "zh-CN"。
    .ralph/config.toml 第 3 行：「limits」是區段，不是設定。請單獨一行寫 [limits]，設定寫在它下面。
    .ralph/config.toml 第 5 行：「verify.commands」是文字 "npm test"。請寫文字清單，例如 ["a", "b"]。
    .ralph/config.toml 第 6 行：「verify.agents」是清單 ["check", 1]。請寫文字清單，例如 ["a", "b"]。
    .ralph/config.toml 第 7 行：「verify.strict」是文字 "no"。請寫 true 或 false。
    .ralph/config.toml 第 8 行：「verify.max_rounds」是數字 0。請寫整數，至少 1。
    .ralph/config.toml 第 9 行：「verify.max_minutes」是數字 -1。請寫整數，至少 0。
    .ralph/config.toml 第 10 行：「verify.output_limit」是數字 99999999999999999999。請寫整數，至少 1。
    .ralph/config.toml 第 11 行：「verify.command_timeout」是數字 120。請寫帶單位的時間長度，例如 "90s"、"30m" 或 "12h"（"0" 表示關閉）。
    .ralph/config.toml 第 13 行：「log.max_size」是文字 "ten"。請寫帶單位的大小，例如 "500KB" 或 "10MB"（"0" 表示關閉）。
    .ralph/config.toml 第 15 行：「agent.env」是清單 ["NOVALUE"]。請寫清單，例如 ["NAME=value"]。
    .ralph/config.toml 第 16 行：「agent.model」是一個區段。請寫加引號的文字。
    .ralph/config.toml 第 18 行：「agent.retry.max」是日期 1979-05-27。請寫帶單位的時間長度，例如 "90s"、"30m" 或 "12h"（"0" 表示關閉）。
    .ralph/config.toml 第 2 行：“lang”是数字 5。请写以下之一："auto", "en", "zh-TW", "zh-CN"。
    .ralph/config.toml 第 3 行：“limits”是小节，不是设置。请单独一行写 [limits]，设置写在它下面。
    .ralph/config.toml 第 5 行：“verify.commands”是文本 "npm test"。请写文本列表，例如 ["a", "b"]。
    .ralph/config.toml 第 6 行：“verify.agents”是列表 ["check", 1]。请写文本列表，例如 ["a", "b"]。
    .ralph/config.toml 第 7 行：“verify.strict”是文本 "no"。请写 true 或 false。
    .ralph/config.toml 第 8 行：“verify.max_rounds”是数字 0。请写整数，至少 1。
    .ralph/config.toml 第 9 行：“verify.max_minutes”是数字 -1。请写整数，至少 0。
    .ralph/config.toml 第 10 行：“verify.output_limit”是数字 99999999999999999999。请写整数，至少 1。
    .ralph/config.toml 第 11 行：“verify.command_timeout”是数字 120。请写带单位的时长，例如 "90s"、"30m" 或 "12h"（"0" 表示关闭）。
    .ralph/config.toml 第 13 行：“log.max_size”是文本 "ten"。请写带单位的大小，例如 "500KB" 或 "10MB"（"0" 表示关闭）。
    .ralph/config.toml 第 15 行：“agent.env”是列表 ["NOVALUE"]。请写列表，例如 ["NAME=value"]。
    .ralph/config.toml 第 16 行：“agent.model”是一个小节。请写加引号的文本。
    .ralph/config.toml 第 18 行：“agent.retry.max”是日期 1979-05-27。请写带单位的时长，例如 "90s"、"30m" 或 "12h"（"0" 表示关闭）。
    "#);
}

#[test]
fn wrong_words_come_with_the_nearest_one() {
    let sources = own(
        "preset = \"ssd\"\n[limits]\non_limit = \"pasue\"\nwarn_at = \"150%\"\n[progress]\nevidence = [\"tasks\", \"comit\"]\n",
    );
    insta::assert_snapshot!(errors_of(&sources), @r#"
    .ralph/config.toml line 1: "preset" is the text "ssd". Did you mean "sdd"? Write one of "openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta".
    .ralph/config.toml line 3: "limits.on_limit" is the text "pasue". Did you mean "pause"? Write one of "menu", "pause", "stop".
    .ralph/config.toml line 4: "limits.warn_at" is the text "150%". Write a whole number such as 15 or a percentage such as "75%".
    .ralph/config.toml line 6: "progress.evidence" is the list ["tasks", "comit"]. Did you mean "commit"? Write a list of any of "tasks", "phase", "commit", "tree".
    .ralph/config.toml 第 1 行：「preset」是文字 "ssd"。是不是「sdd」？請寫下列之一："openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"。
    .ralph/config.toml 第 3 行：「limits.on_limit」是文字 "pasue"。是不是「pause」？請寫下列之一："menu", "pause", "stop"。
    .ralph/config.toml 第 4 行：「limits.warn_at」是文字 "150%"。請寫整數（例如 15）或百分比（例如 "75%"）。
    .ralph/config.toml 第 6 行：「progress.evidence」是清單 ["tasks", "comit"]。是不是「commit」？請寫由下列項目組成的清單："tasks", "phase", "commit", "tree"。
    .ralph/config.toml 第 1 行：“preset”是文本 "ssd"。是不是“sdd”？请写以下之一："openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"。
    .ralph/config.toml 第 3 行：“limits.on_limit”是文本 "pasue"。是不是“pause”？请写以下之一："menu", "pause", "stop"。
    .ralph/config.toml 第 4 行：“limits.warn_at”是文本 "150%"。请写整数（例如 15）或百分比（例如 "75%"）。
    .ralph/config.toml 第 6 行：“progress.evidence”是列表 ["tasks", "comit"]。是不是“commit”？请写由以下项组成的列表："tasks", "phase", "commit", "tree"。
    "#);
}

#[test]
fn what_is_not_toml_is_shown_with_line_and_column() {
    insta::assert_snapshot!(errors_of(&own("lang = \"en\"\n[limits]\nstalled = = 4\n")), @r#"
    .ralph/config.toml line 3, column 11: this is not valid TOML: extra `=`, expected nothing. Correct it, then run "ralph config check".
    .ralph/config.toml 第 3 行第 11 欄：不是有效的 TOML：extra `=`, expected nothing。請修正後執行「ralph config check」。
    .ralph/config.toml 第 3 行第 11 列：不是有效的 TOML：extra `=`, expected nothing。请改正后运行“ralph config check”。
    "#);
}

/// A file cut at any length or with any byte changed is read or refused.
#[test]
fn a_damaged_file_is_refused_and_never_a_panic() {
    let sample = "lang = \"en\"\n\n[limits]\nmax_iterations = 7 # few\nmax_duration = \"2h\"\n\n[verify]\ncommands = [\"make\", 'x']\n";
    let cut = (0..sample.len()).map(|len| sample.as_bytes()[..len].to_vec());
    let flipped = (0..sample.len()).flat_map(|at| {
        [0x01, 0x10, 0x20, 0x80].map(|bits| {
            let mut bytes = sample.as_bytes().to_vec();
            bytes[at] ^= bits;
            bytes
        })
    });
    for bytes in cut.chain(flipped) {
        let text = String::from_utf8_lossy(&bytes);
        if let Err(errors) = Layer::own_file(".ralph/config.toml", &text) {
            assert!(!errors.is_empty(), "{text}");
        }
    }
}
