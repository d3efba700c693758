//! What holds for every text, and what people are told.

use super::super::{Conflict, Detection, Promise, PromiseWarning, detect};
use super::{check, rules};
use crate::lang::{Lang, Say};
use proptest::prelude::*;

/// Anything that grows with the square of the length does not come back from
/// a megabyte.
#[test]
fn hostile_texts_are_read_once() {
    for unit in [
        "<promise>",
        "</promise>",
        "<promise>a</promise>",
        "<promise>a</promise> b ",
        "<promise>DONE</promise> ",
        "<promise>CONTINUE</promise>\n",
        "---RALPH_STATUS---",
        "---RALPH_STATUS---\n",
        "---RALPH_STATUS---\nSTATUS: BLOCKED\n",
        "`",
        "` `` ",
        "\\`",
        "<!--",
        "x <!-- ",
        "-->",
        "- ",
        "1. ",
        "> ",
        "```\n",
        "<",
        "< ",
        "\u{1b}]",
        "\u{1b}[",
        "\n",
        "\t",
    ] {
        let text = unit.repeat(200_000 / unit.len());
        let detection = detect(&text, &rules(), Some(&text));
        assert!(detection.warnings.len() <= 8, "{unit:?}");
        let text = format!("{text}\n```\n```\n-->\n\n<promise>DONE</promise>");
        detect(&text, &rules(), None);
    }
    let backticks: String = (1..2_000).map(|n| "`".repeat(n) + " ").collect();
    let text = format!("{backticks}\n\n<promise>DONE</promise>");
    check(&rules(), None, &[(&text, "complete DONE")]);
}

#[test]
fn warnings_are_told_once_and_only_so_many() {
    let same = "print <promise>DONE</promise> later\n".repeat(50);
    check(&rules(), None, &[(&same, "- ! mentioned DONE")]);
    let many: String = (0..50)
        .map(|n| format!("<promise>x{n}</promise>\n"))
        .collect();
    assert_eq!(detect(&many, &rules(), None).warnings.len(), 8);
}

#[test]
fn conflict_names_round_trip() {
    for conflict in Conflict::ALL {
        assert_eq!(Conflict::from_name(conflict.into_str()), Some(conflict));
    }
    assert_eq!(Conflict::from_name("first"), None);
}

#[test]
fn warnings_in_three_languages() {
    let warnings = [
        PromiseWarning::Conflict {
            chosen: Promise::Continue,
            set_aside: Promise::Complete("DONE".into()),
        },
        PromiseWarning::OnlyMentioned {
            text: "DONE".into(),
        },
        PromiseWarning::Unknown {
            text: "abcdefghi ".repeat(9),
        },
    ];
    let all: Vec<String> = Lang::ALL
        .into_iter()
        .flat_map(|lang| warnings.iter().map(move |w| w.say(lang)))
        .collect();
    insta::assert_snapshot!(all.join("\n"), @"
    the agent gave two promises that exclude each other: <promise>CONTINUE</promise> counts, <promise>DONE</promise> does not; have the prompt ask for one tag, on its own line at the end
    <promise>DONE</promise> is only mentioned in the text and does not count; have the prompt ask for the tag on its own line at the end
    unknown promise <promise>abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi …</promise>; if it means that the work is finished, add its text to promise.complete in .ralph/config.toml
    代理輸出了互相矛盾的 promise 標籤：採用 <promise>CONTINUE</promise>，不採用 <promise>DONE</promise>；請在提示詞中要求只輸出一個標籤，並獨立一行放在最後
    <promise>DONE</promise> 只是在文字中被提及，不算數；請在提示詞中要求標籤獨立一行放在最後
    未知的 promise：<promise>abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi …</promise>；如果它表示工作已完成，請將其文字加入 .ralph/config.toml 的 promise.complete
    代理输出了互相矛盾的 promise 标签：采用 <promise>CONTINUE</promise>，不采用 <promise>DONE</promise>；请在提示词中要求只输出一个标签，并独立一行放在最后
    <promise>DONE</promise> 只是在文字中被提及，不算数；请在提示词中要求标签独立一行放在最后
    未知的 promise：<promise>abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi …</promise>；如果它表示工作已完成，请将其文字加入 .ralph/config.toml 的 promise.complete
    ");
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<promise>".to_owned()),
        Just("</promise>".to_owned()),
        Just("DONE".to_owned()),
        Just("CONTINUE".to_owned()),
        Just("BLOCKED：".to_owned()),
        Just("`".to_owned()),
        Just("```\n".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("    ".to_owned()),
        Just("\t".to_owned()),
        Just("> ".to_owned()),
        Just("- ".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just("\\".to_owned()),
        Just("\u{1b}[".to_owned()),
        "\\PC{0,3}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_panics(text in pieces(), prompt in pieces()) {
        detect(&text, &rules(), None);
        detect(&text, &rules(), Some(&prompt));
        detect(&text, &rules(), Some(&text));
    }

    #[test]
    fn no_arbitrary_text_panics(text in any::<String>()) {
        detect(&text, &rules(), Some(&text));
    }

    #[test]
    fn fenced_text_promises_nothing(text in pieces()) {
        let fence = "`".repeat(text.len() + 3);
        let detection = detect(&format!("{fence}\n{text}\n{fence}\n"), &rules(), None);
        prop_assert_eq!(detection, Detection::default());
    }

    #[test]
    fn a_tag_on_its_own_line_at_the_end_of_plain_prose_counts(text in "[a-zA-Z0-9 .,:;\n]{0,200}") {
        let detection = detect(&format!("{text}\n<promise>DONE</promise>\n"), &rules(), None);
        prop_assert_eq!(detection.promise, Some(Promise::Complete("DONE".into())));
    }
}
