//! Texts and what they promise.

mod laws;
mod status_block;

use super::{Conflict, Detection, Promise, PromiseRules, PromiseWarning, detect};

/// `promise ! warning ! …`, where `-` is no promise.
fn show(detection: &Detection) -> String {
    let promise = match &detection.promise {
        None => "-".to_owned(),
        Some(Promise::Continue) => "continue".to_owned(),
        Some(Promise::Complete(text)) => format!("complete {text}"),
        Some(Promise::PhaseComplete) => "phase complete".to_owned(),
        Some(Promise::E2ePassed) => "e2e passed".to_owned(),
        Some(Promise::E2eFailed(reason)) => format!("e2e failed [{reason}]"),
        Some(Promise::Blocked(reason)) => format!("blocked [{reason}]"),
        Some(Promise::Question(words)) => format!("question [{words}]"),
        Some(Promise::Unknown(text)) => format!("unknown {text}"),
    };
    let warnings = detection.warnings.iter().map(|warning| match warning {
        PromiseWarning::Conflict { chosen, set_aside } => {
            format!(" ! {chosen} over {set_aside}")
        }
        PromiseWarning::OnlyMentioned { text } => format!(" ! mentioned {text}"),
        PromiseWarning::Unknown { text } => format!(" ! unknown {text}"),
    });
    promise + &warnings.collect::<String>()
}

fn check(rules: &PromiseRules, prompt: Option<&str>, rows: &[(&str, &str)]) {
    for (text, want) in rows {
        assert_eq!(show(&detect(text, rules, prompt)), *want, "{text:?}");
    }
}

fn rules() -> PromiseRules {
    PromiseRules::default()
}

#[test]
fn the_agreed_texts() {
    check(
        &rules(),
        None,
        &[
            ("<promise>DONE</promise>", "complete DONE"),
            ("<promise>COMPLETE</promise>", "complete COMPLETE"),
            ("<promise>CONTINUE</promise>", "continue"),
            ("<promise>PHASE COMPLETE</promise>", "phase complete"),
            ("<promise>E2E PASSED</promise>", "e2e passed"),
            ("<promise>E2E FAILED</promise>", "e2e failed []"),
            (
                "<promise>E2E FAILED: login times out</promise>",
                "e2e failed [login times out]",
            ),
            (
                "<promise>E2E FAILED：登入逾時</promise>",
                "e2e failed [登入逾時]",
            ),
            ("<promise>BLOCKED</promise>", "blocked []"),
            ("<promise>BLOCKED:</promise>", "blocked []"),
            ("<promise>BLOCKED: no key</promise>", "blocked [no key]"),
            (
                "<promise>BLOCKED:no key: x</promise>",
                "blocked [no key: x]",
            ),
            ("<promise>BLOCKED：缺少金鑰</promise>", "blocked [缺少金鑰]"),
            ("<promise>BLOCKED缺少金鑰</promise>", "blocked [缺少金鑰]"),
            ("<promise>BLOCKED no key</promise>", "blocked [no key]"),
            ("<promise>BLOCKED - no key</promise>", "blocked [no key]"),
            (
                "<promise>BLOCKED: set `API_KEY` first</promise>",
                "blocked [set `API_KEY` first]",
            ),
            (
                "<promise>BLOCKED_BY_X</promise>",
                "unknown BLOCKED_BY_X ! unknown BLOCKED_BY_X",
            ),
            (
                "<promise>UNBLOCKED</promise>",
                "unknown UNBLOCKED ! unknown UNBLOCKED",
            ),
            (
                "<promise>E2E PASSED: all</promise>",
                "unknown E2E PASSED: all ! unknown E2E PASSED: all",
            ),
            (
                "<promise>ALL GOOD</promise>",
                "unknown ALL GOOD ! unknown ALL GOOD",
            ),
        ],
    );
}

#[test]
fn case_and_whitespace() {
    check(
        &rules(),
        None,
        &[
            ("<PROMISE>DONE</PROMISE>", "complete DONE"),
            ("<Promise>DONE</pRoMiSe>", "complete DONE"),
            ("<promise >DONE</promise\t>", "complete DONE"),
            ("<promise>done</promise>", "unknown done ! unknown done"),
            (
                "<promise>Continue</promise>",
                "unknown Continue ! unknown Continue",
            ),
            ("<promise>DONE.</promise>", "unknown DONE. ! unknown DONE."),
            ("<promise>  DONE\t</promise>", "complete DONE"),
            ("<promise>\nDONE\n</promise>", "complete DONE"),
            ("<promise>\r\n  DONE\r\n</promise>\r\n", "complete DONE"),
            ("<promise>\n\n    DONE\n\n</promise>", "complete DONE"),
            ("<promise>PHASE \t  COMPLETE</promise>", "phase complete"),
            ("<promise>PHASE\nCOMPLETE</promise>", "phase complete"),
            ("<promise>PHASE\u{3000}COMPLETE</promise>", "phase complete"),
            (
                "<promise>BLOCKED: no key\nand no network</promise>",
                "blocked [no key and no network]",
            ),
            ("work\r\n\r\n<promise>DONE</promise>\r\n", "complete DONE"),
            ("work\n \t<promise>DONE</promise>  \n\n", "complete DONE"),
            (
                "<promise>PHASECOMPLETE</promise>",
                "unknown PHASECOMPLETE ! unknown PHASECOMPLETE",
            ),
        ],
    );
}

#[test]
fn what_is_no_tag() {
    let long = format!("<promise>BLOCKED: {}</promise>", "x".repeat(2_001));
    let longest = format!("<promise>BLOCKED: {}</promise>", "字".repeat(1_990));
    check(
        &rules(),
        None,
        &[
            ("", "-"),
            ("   \n\t\n", "-"),
            ("All tasks are complete. DONE", "-"),
            ("<promise></promise>", "-"),
            ("<promise>  \n </promise>", "-"),
            ("<promise>DONE", "-"),
            ("DONE</promise>", "-"),
            ("</promise>DONE<promise>", "-"),
            ("<promise>DONE<promise>", "-"),
            ("<promise/>DONE", "-"),
            ("<promises>DONE</promises>", "-"),
            ("< promise>DONE</promise>", "-"),
            ("<promise class=x>DONE</promise>", "-"),
            ("&lt;promise&gt;DONE&lt;/promise&gt;", "-"),
            ("promise: DONE", "-"),
            (&long, "-"),
            (&longest, &format!("blocked [{}]", "字".repeat(1_990))),
        ],
    );
}

#[test]
fn nested_and_unclosed_tags() {
    check(
        &rules(),
        None,
        &[
            ("<promise>foo <promise>DONE</promise>", "complete DONE"),
            (
                "<promise><promise>DONE</promise></promise>",
                "complete DONE",
            ),
            ("<promise>\n<promise>DONE</promise>", "complete DONE"),
            (
                "I use the <promise> tag.\n\n<promise>DONE</promise>",
                "complete DONE",
            ),
            ("<promise>DONE</promise>\n<promise>CONTI", "complete DONE"),
        ],
    );
}

#[test]
fn code_quotes_and_comments_do_not_count() {
    check(
        &rules(),
        None,
        &[
            ("`<promise>DONE</promise>`", "-"),
            ("I will end with `<promise>DONE</promise>`", "-"),
            ("``<promise>DONE</promise>``", "-"),
            ("```<promise>DONE</promise>```", "-"),
            ("I print `<promise>PHASE\nCOMPLETE</promise>`.", "-"),
            ("```\n<promise>DONE</promise>\n```", "-"),
            ("```text\r\n<promise>DONE</promise>\r\n```\r\n", "-"),
            ("~~~\n<promise>DONE</promise>\n~~~", "-"),
            ("   ```\n   <promise>DONE</promise>\n   ```", "-"),
            ("````\n```\n<promise>DONE</promise>\n```\n````", "-"),
            ("```\ncargo test\n<promise>DONE</promise>", "-"),
            ("1. so:\n   ```\n   <promise>DONE</promise>\n   ```", "-"),
            ("so:\n\n    <promise>DONE</promise>", "-"),
            ("so:\n\n\t<promise>DONE</promise>", "-"),
            ("> <promise>DONE</promise>", "-"),
            ("  > > <promise>DONE</promise>", "-"),
            ("- > <promise>DONE</promise>", "-"),
            ("<!-- <promise>DONE</promise> -->", "-"),
            ("<!--\n\n<promise>DONE</promise>\n\n-->", "-"),
            ("so <!-- <promise>DONE</promise> -->", "-"),
            ("<!-- <promise>DONE</promise>", "-"),
            (
                "```\n$ cat notes\n<promise>DONE</promise>\n```\nStill at it.",
                "-",
            ),
            ("> tool: <promise>BLOCKED: x</promise>\n\nI go on.", "-"),
            (
                "```\n<promise>CONTINUE</promise>\n```\n<promise>DONE</promise>",
                "complete DONE",
            ),
            ("`x` works. <promise>DONE</promise>", "complete DONE"),
            ("a ` b\n\n<promise>DONE</promise>\n\nc ` d", "complete DONE"),
            ("> quoted\n<promise>DONE</promise>", "complete DONE"),
            (
                "<!-- x --> <promise>DONE</promise> <!-- y -->",
                "complete DONE",
            ),
            (
                "uses <!-- as a mark\n\n<promise>DONE</promise>",
                "complete DONE",
            ),
            (
                "    <promise>CONTINUE</promise>\n\n<promise>DONE</promise>",
                "complete DONE",
            ),
        ],
    );
}

#[test]
fn decoration_leaves_a_tag_on_its_own_line() {
    check(
        &rules(),
        None,
        &[
            ("**<promise>DONE</promise>**", "complete DONE"),
            ("*<promise>DONE</promise>*", "complete DONE"),
            ("- <promise>DONE</promise>", "complete DONE"),
            ("* **<promise>DONE</promise>**", "complete DONE"),
            ("3. <promise>DONE</promise>", "complete DONE"),
            ("# <promise>DONE</promise>", "complete DONE"),
            ("✅ <promise>DONE</promise> 🎉", "complete DONE"),
            ("<promise>DONE</promise>.", "complete DONE"),
            (
                "<promise>CONTINUE</promise>\n**<promise>DONE</promise>**",
                "complete DONE",
            ),
            (
                "<promise>CONTINUE</promise>\n4) <promise>DONE</promise>",
                "complete DONE",
            ),
        ],
    );
}

#[test]
fn a_mention_is_no_promise() {
    check(
        &rules(),
        None,
        &[
            (
                "I will output <promise>DONE</promise> when finished",
                "- ! mentioned DONE",
            ),
            (
                "<promise>DONE</promise> is what I print at the end.",
                "- ! mentioned DONE",
            ),
            (
                "我會在完成後輸出 <promise>DONE</promise> 標籤",
                "- ! mentioned DONE",
            ),
            ("<promise>DONE</promise> `ok`", "- ! mentioned DONE"),
            (
                "Had I no key, <promise>BLOCKED: no key</promise> would follow",
                "- ! mentioned BLOCKED: no key",
            ),
            (
                "Say <promise>CONTINUE</promise> or <promise>DONE</promise>",
                "- ! mentioned DONE",
            ),
            (
                "<promise>DONE</promise> / <promise>BLOCKED: x</promise>",
                "- ! mentioned DONE ! mentioned BLOCKED: x",
            ),
            (
                "| all done | <promise>DONE</promise> |",
                "- ! mentioned DONE",
            ),
            ("│ 偵測到 <promise>DONE</promise> │", "- ! mentioned DONE"),
            (
                "I am to print \"<promise>DONE</promise>\".",
                "- ! mentioned DONE",
            ),
            (
                "最後輸出「<promise>DONE</promise>」。",
                "- ! mentioned DONE",
            ),
            (
                "- <promise>BLOCKED: [reason]</promise>",
                "- ! mentioned BLOCKED: [reason]",
            ),
            (
                "<promise>BLOCKED: [原因]</promise>",
                "- ! mentioned BLOCKED: [原因]",
            ),
            (
                "<promise>E2E FAILED: ...</promise>",
                "- ! mentioned E2E FAILED: ...",
            ),
            ("use <promise>X</promise> tags", "- ! mentioned X"),
            ("All done. <promise>DONE</promise>", "complete DONE"),
            ("All done: <promise>DONE</promise>!", "complete DONE"),
            ("全部完成。<promise>DONE</promise>。", "complete DONE"),
            ("\"<promise>DONE</promise>\"", "complete DONE"),
            (
                "<promise>CONTINUE</promise> because three tasks are open",
                "continue",
            ),
            (
                "I print <promise>DONE</promise> when finished.\n\n<promise>DONE</promise>",
                "complete DONE",
            ),
            (
                "I print <promise>DONE</promise> when finished.\n\n<promise>CONTINUE</promise>",
                "continue ! mentioned DONE",
            ),
        ],
    );
}

#[test]
fn of_several_the_last_counts() {
    check(
        &rules(),
        None,
        &[
            (
                "<promise>CONTINUE</promise>\nmore work\n<promise>DONE</promise>",
                "complete DONE",
            ),
            (
                "<promise>CONTINUE</promise>\n<promise>DONE</promise>\n\n \n",
                "complete DONE",
            ),
            (
                "<promise>DONE</promise>\n<promise>CONTINUE</promise>",
                "continue ! CONTINUE over DONE",
            ),
            (
                "<promise>CONTINUE</promise>\nAll done. <promise>DONE</promise>",
                "continue ! CONTINUE over DONE",
            ),
            (
                "<promise>CONTINUE</promise>\n<promise>DONE</promise>\nBye.",
                "continue ! CONTINUE over DONE",
            ),
            (
                "<promise>CONTINUE</promise>\n<promise>DONE</promise>\n```\nx\n```",
                "continue ! CONTINUE over DONE",
            ),
            (
                "<promise>CONTINUE</promise>\n\n<promise>BLOCKED: x</promise>",
                "blocked [x]",
            ),
            (
                "<promise>BLOCKED: x</promise>\n<promise>CONTINUE</promise>",
                "continue ! CONTINUE over BLOCKED: x",
            ),
            (
                "<promise>BLOCKED: x</promise>\n<promise>DONE</promise>",
                "complete DONE ! DONE over BLOCKED: x",
            ),
            (
                "<promise>PHASE COMPLETE</promise>\n<promise>E2E FAILED: y</promise>",
                "e2e failed [y] ! E2E FAILED: y over PHASE COMPLETE",
            ),
            (
                "<promise>PHASE COMPLETE</promise>\n<promise>E2E PASSED</promise>",
                "e2e passed",
            ),
            (
                "<promise>DONE</promise>\n<promise>COMPLETE</promise>",
                "complete COMPLETE",
            ),
            (
                "<promise>DONE</promise> <promise>DONE</promise>",
                "complete DONE",
            ),
            (
                "<promise>BLOCKED: a</promise>\n<promise>BLOCKED: b</promise>",
                "blocked [b]",
            ),
            (
                "<promise>DONE</promise>\n<promise>bye</promise>",
                "complete DONE ! unknown bye",
            ),
            (
                "<promise>CONTINUE</promise>\n`<promise>DONE</promise>`",
                "continue",
            ),
        ],
    );
}

#[test]
fn first_class_is_the_order_of_the_old_script() {
    let rules = PromiseRules {
        conflict: Conflict::FirstClass,
        ..rules()
    };
    check(
        &rules,
        None,
        &[
            (
                "<promise>DONE</promise>\n<promise>CONTINUE</promise>",
                "complete DONE ! DONE over CONTINUE",
            ),
            (
                "<promise>CONTINUE</promise>\n<promise>BLOCKED: x</promise>\nso it is",
                "blocked [x] ! BLOCKED: x over CONTINUE",
            ),
            (
                "<promise>BLOCKED: x</promise>\n<promise>PHASE COMPLETE</promise>",
                "phase complete ! PHASE COMPLETE over BLOCKED: x",
            ),
            (
                "<promise>BLOCKED: a</promise>\n<promise>BLOCKED: b</promise>",
                "blocked [b]",
            ),
            (
                "`<promise>DONE</promise>`\n<promise>CONTINUE</promise>",
                "continue",
            ),
        ],
    );
}

#[test]
fn an_echo_of_the_prompt_is_no_promise() {
    let prompt = "Build it.\r\n\r\n- Finished: <promise>DONE</promise>\r\nElse: <promise>CONTINUE</promise>\r\n```\n";
    check(
        &rules(),
        Some(prompt),
        &[
            (prompt, "-"),
            (&prompt.replace('\r', ""), "-"),
            ("- Finished: <promise>DONE</promise>", "-"),
            (
                "   - Finished: <promise>DONE</promise>  \nI start now.",
                "-",
            ),
            (
                &format!("user: {prompt}\nagent: ok\n<promise>DONE</promise>\n"),
                "complete DONE",
            ),
            (&format!("{prompt}\n{prompt}"), "-"),
            ("<promise>DONE</promise>", "complete DONE"),
            ("Finished: <promise>DONE</promise>", "complete DONE"),
            (
                "- Finished: <promise>DONE</promise>\n<promise>DONE</promise>",
                "complete DONE",
            ),
        ],
    );
    check(
        &rules(),
        Some("<promise>DONE</promise>"),
        &[("<promise>DONE</promise>", "complete DONE")],
    );
    check(
        &rules(),
        Some("DONE"),
        &[("<promise>DONE</promise>", "complete DONE")],
    );
    check(
        &rules(),
        Some(""),
        &[("<promise>DONE</promise>", "complete DONE")],
    );
    check(
        &rules(),
        Some("Say\n<promise>PHASE\nCOMPLETE</promise> at the end"),
        &[("  <promise>PHASE\n COMPLETE</promise> at the end", "-")],
    );
}

#[test]
fn custom_texts_are_literal() {
    let rules = PromiseRules {
        complete: vec![
            "所有任務完成".into(),
            "所有任务完成".into(),
            " a.*  [b]? ".into(),
            "PHASE COMPLETE".into(),
            "👨\u{200d}👩".into(),
            String::new(),
        ],
        blocked_prefix: "卡住".into(),
        e2e_failed_prefix: String::new(),
        ..rules()
    };
    check(
        &rules,
        None,
        &[
            ("<promise>所有任務完成</promise>", "complete 所有任務完成"),
            (
                "全部好了：<promise>所有任务完成</promise>",
                "complete 所有任务完成",
            ),
            ("<promise>a.* [b]?</promise>", "complete a.* [b]?"),
            ("<promise>axx b</promise>", "unknown axx b ! unknown axx b"),
            ("<promise>卡住：缺金鑰</promise>", "blocked [缺金鑰]"),
            ("<promise>PHASE COMPLETE</promise>", "phase complete"),
            ("<promise>👨\u{200d}👩</promise>", "complete 👨👩"),
            ("<promise>DONE</promise>", "unknown DONE ! unknown DONE"),
            ("<promise></promise>", "-"),
        ],
    );
}

#[test]
fn terminal_noise_and_invisible_characters() {
    check(
        &rules(),
        None,
        &[
            (
                "\u{1b}[32m<promise>DONE</promise>\u{1b}[0m",
                "complete DONE",
            ),
            ("<pro\u{1b}[1mmise>DO\u{1b}[0mNE</promise>", "complete DONE"),
            ("\u{1b}]0;<promise>DONE</promise>\u{7}working", "-"),
            ("50%\r100%\r<promise>DONE</promise>", "complete DONE"),
            ("\u{feff}<promise>DONE</promise>", "complete DONE"),
            (
                "\u{200b}<promise>\u{200b}DONE\u{feff}</promise>\u{200b}",
                "complete DONE",
            ),
            (
                "<promise>CONTINUE</promise>\n<promise>DONE</promise>\n\u{200b}\n",
                "complete DONE",
            ),
            ("<pro\u{200b}mise>DONE</promise>", "-"),
            ("<promise>DO\u{0}NE</promise>", "complete DONE"),
        ],
    );
}

#[test]
fn questions_are_answers_and_never_examples() {
    check(
        &rules(),
        None,
        &[
            (
                "<promise>QUESTION: which one? | options: a; b</promise>",
                "question [which one? | options: a; b]",
            ),
            (
                "<promise>QUESTION which one?</promise>",
                "question [which one?]",
            ),
            (
                "<promise>QUESTION: [question] | options: A; B | default: A</promise>",
                "- ! mentioned QUESTION: [question] | options: A; B | default: A",
            ),
            (
                "I could say <promise>QUESTION: which?</promise> and wait.",
                "- ! mentioned QUESTION: which?",
            ),
            (
                "<promise>QUESTIONNAIRE</promise>",
                "unknown QUESTIONNAIRE ! unknown QUESTIONNAIRE",
            ),
        ],
    );
}
