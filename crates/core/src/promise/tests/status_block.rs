//! The status block of other loops (PROM-01, PROM-09).

use super::{check, rules};

fn block(lines: &str) -> String {
    format!("---RALPH_STATUS---\n{lines}\n---END_RALPH_STATUS---")
}

#[test]
fn what_a_block_claims() {
    for (lines, want) in [
        (
            "STATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: true\nRECOMMENDATION: ship it",
            "complete EXIT_SIGNAL: true",
        ),
        (
            "EXIT_SIGNAL: True\nSTATUS: COMPLETE",
            "complete EXIT_SIGNAL: true",
        ),
        ("STATUS: COMPLETE", "complete STATUS: COMPLETE"),
        // The signal decides.
        ("STATUS: COMPLETE\nEXIT_SIGNAL: false", "continue"),
        (
            "STATUS: IN_PROGRESS\nEXIT_SIGNAL: true",
            "complete EXIT_SIGNAL: true",
        ),
        ("STATUS: IN_PROGRESS\nEXIT_SIGNAL: false", "continue"),
        ("STATUS: IN_PROGRESS", "continue"),
        (
            "STATUS: BLOCKED\nEXIT_SIGNAL: false\nRECOMMENDATION: needs the key: ask ops",
            "blocked [needs the key: ask ops]",
        ),
        ("STATUS: BLOCKED\nEXIT_SIGNAL: true", "blocked []"),
        // The form itself says nothing, and neither does an empty block.
        (
            "STATUS: IN_PROGRESS | COMPLETE | BLOCKED\nEXIT_SIGNAL: false | true",
            "-",
        ),
        ("", "-"),
        ("WORK_TYPE: TESTING", "-"),
    ] {
        check(&rules(), None, &[(&block(lines), want)]);
        let after_work = format!("I did it.\r\n\r\n{}\n\n", block(lines));
        check(&rules(), None, &[(&after_work, want)]);
    }
}

#[test]
fn where_a_block_counts() {
    let done = block("STATUS: COMPLETE\nEXIT_SIGNAL: true");
    let complete = "complete EXIT_SIGNAL: true";
    for (text, want) in [
        (format!("{done}\nThat is all."), complete),
        (done.replace("\n---END_RALPH_STATUS---", ""), complete),
        // In the fence in which prompts show it, at the end.
        (format!("Done.\n\n```\n{done}\n```\n"), complete),
        (format!("Done.\n\n~~~text\n{done}\n~~~"), complete),
        (format!("```\n{done}\n```\nI would print that."), "-"),
        (format!("```\nFormat:\n{done}\n```"), "-"),
        (format!("```\n{done}\nor else\n```"), "-"),
        (format!("> {}", done.replace('\n', "\n> ")), "-"),
        (format!("<!--\n{done}\n-->"), "-"),
        ("print ---RALPH_STATUS---\nEXIT_SIGNAL: true".into(), "-"),
        (
            "---RALPH_STATUS--- is a block\nEXIT_SIGNAL: true".into(),
            "-",
        ),
        ("EXIT_SIGNAL: true".into(), "-"),
    ] {
        check(&rules(), None, &[(&text, want)]);
    }
}

#[test]
fn a_block_and_a_tag_follow_the_rules_of_two_tags() {
    let done = block("STATUS: COMPLETE\nEXIT_SIGNAL: true");
    let on = block("STATUS: IN_PROGRESS\nEXIT_SIGNAL: false");
    let complete = "complete EXIT_SIGNAL: true";
    for (text, want) in [
        (format!("<promise>CONTINUE</promise>\n{done}"), complete),
        (
            format!("{done}\n<promise>CONTINUE</promise>"),
            "continue ! CONTINUE over EXIT_SIGNAL: true",
        ),
        (format!("{on}\n<promise>DONE</promise>"), "complete DONE"),
        (
            format!("<promise>DONE</promise>\n{on}"),
            "continue ! CONTINUE over DONE",
        ),
        (format!("{on}\n\n{done}"), complete),
    ] {
        check(&rules(), None, &[(&text, want)]);
    }
}

/// An agent that repeats its whole prompt gives none of the examples in it.
#[test]
fn an_echoed_prompt_claims_nothing() {
    let done = block("STATUS: COMPLETE\nEXIT_SIGNAL: true");
    let prompt = format!("Work.\nEnd with this:\n{done}\n");
    check(&rules(), Some(&prompt), &[(&prompt, "-")]);
    let answer = format!("{prompt}\nDid it.\n{done}");
    check(
        &rules(),
        Some(&prompt),
        &[(&answer, "complete EXIT_SIGNAL: true")],
    );
}
