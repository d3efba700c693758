//! The case files: every line of `cases/*.txt` is a call with its verdict.
//!
//! A section begins with `## category: reason`; `!` before a line means that
//! the call is blocked, `=` that it is let through; `@Tool ` names another
//! tool than Bash; `⏎` is a newline.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a case file that cannot be read fails the test"
)]

mod common;

use std::fs;
use std::path::Path;

use common::verdict;

struct Case {
    place: String,
    category: String,
    blocked: bool,
    tool: String,
    input: String,
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut category = None;
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let place = format!("{name}:{}", number + 1);
            if let Some(section) = line.strip_prefix("## ") {
                let (head, reason) = section.split_once(": ").expect(&place);
                assert!(!reason.is_empty(), "{place}: a section has a reason");
                category = Some(head.to_owned());
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let (mark, rest) = line.split_at(2);
            let (tool, input) = match rest.strip_prefix('@') {
                Some(rest) => rest.split_once(' ').expect(&place),
                None => ("Bash", rest),
            };
            cases.push(Case {
                category: category
                    .clone()
                    .unwrap_or_else(|| panic!("{place}: no section")),
                blocked: match mark {
                    "! " => true,
                    "= " => false,
                    _ => panic!("{place}: begin with ! or ="),
                },
                tool: tool.to_owned(),
                input: input.replace('⏎', "\n"),
                place,
            });
        }
    }
    cases
}

#[test]
fn every_case_has_its_verdict() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let (blocked, rule) = verdict(&case.tool, &case.input);
        if blocked != case.blocked {
            let want = if case.blocked { "block" } else { "allow" };
            wrong.push(format!(
                "{} [{}] want {want}, got {rule:?}: {} {}",
                case.place, case.category, case.tool, case.input
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn there_are_enough_cases_of_both_kinds() {
    let cases = cases();
    let everyday = |case: &&Case| case.place.starts_with("everyday");
    let own = cases.iter().filter(|case| !everyday(case)).count();
    assert!(own >= 1_500, "{own} cases of our own");
    let quiet = cases.iter().filter(everyday).count();
    assert!(quiet >= 400, "{quiet} everyday commands");
    assert!(cases.iter().filter(everyday).all(|case| !case.blocked));
    let mut seen = std::collections::HashSet::new();
    for case in &cases {
        assert!(
            seen.insert((&case.tool, &case.input)),
            "{}: twice",
            case.place
        );
    }
}

/// What our parser accepts, `bash -n` accepts, and the other way round.
#[test]
#[cfg_attr(not(has_bash), ignore = "needs bash")]
fn bash_reads_the_same_texts() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let bash = || {
        Command::new("bash")
            .arg("-n")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_clear()
            .spawn()
    };
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.tool == "Bash").step_by(4) {
        let mut child = bash().unwrap();
        let input = child.stdin.take();
        // A syntax error may end bash before it has read everything.
        let _ = input.map(|mut input| input.write_all(case.input.as_bytes()));
        let theirs = child.wait().unwrap().success();
        let ours = ralph_guard::shell::check(&case.input).is_ok();
        if ours != theirs {
            wrong.push(format!(
                "{} ours {ours}, bash {theirs}: {}",
                case.place, case.input
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
