//! S-11: nothing that came from outside is obeyed by a terminal, in any verb.

use std::fs;

use serde_json::json;

use crate::env::{Done, TestEnv};

/// Clipboard, cursor, the one-character forms, direction, what takes no place,
/// a carriage return that writes over the line.
const TRICKS: [&str; 6] = [
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{1b}[2J\u{1b}[1A",
    "\u{9b}2K\u{9d}0;title\u{9c}",
    "\u{202e}desrever\u{2066}",
    "r\u{200b}m\u{2060}\u{e0041}",
    "evil\rgood",
];

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}' | '\u{2060}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0041}')
}

fn check(verb: &[&str], done: &Done) {
    for text in [&done.stdout, &done.stderr] {
        let found = text.lines().find(|line| line.chars().any(is_obeyed));
        assert_eq!(found, None, "{verb:?}");
    }
}

/// Task, question, answer, output, check and settings that all try it, in a
/// folder with such a name.
fn project(trick: &str) -> TestEnv {
    let mut env = TestEnv::with_tasks(2);
    let odd = env.outside(&format!("odd {trick}"));
    fs::rename(&env.root, &odd).unwrap();
    env.root = odd;
    // A carriage return ends a line of Markdown, as it does for Git.
    let name = trick.replace('\r', "");
    env.write(
        "tasks.md",
        &format!("# Tasks\n\n## Phase {name}\n\n- [ ] T001 Do {name}\n- [ ] T002 Do it\n"),
    );
    let quoted = json!(format!("true {trick}")).to_string();
    let check = json!(format!("printf '%s' {}; test -e ok", json!(trick))).to_string();
    env.write(
        ".ralph/config.toml",
        &format!("[notify]\ncommand = {quoted}\n[verify]\ncommands = [{check}]\n[questions]\ndeadline = \"1s\"\n"),
    );
    env
}

#[test]
fn no_verb_lets_foreign_text_reach_a_terminal_raw() {
    {
        let trick = TRICKS.join(" ");
        let trick = trick.as_str();
        let env = project(trick);
        let agent = env.agent(&[
            json!({"complain": trick, "say": format!("{trick}\n<promise>QUESTION: Which {trick}? | options: a {trick}; b</promise>")}),
            json!({"write": {format!("f {trick}").replace('/', "_"): "x"}, "tick": ["T001", "T002"], "say": format!("{trick} <promise>COMPLETE</promise>")}),
        ]);
        let run = ["run", "--agent-cmd", &agent, "--max-iterations", "2"];
        check(&run, &env.ralph(&[&run[..], &["--dry-run"]].concat()));
        let ran = env.ralph(&run);
        check(&run, &ran);
        assert_ne!(ran.code, 1, "{}", ran.stderr);
        for verb in [
            &["tasks"][..],
            &["tasks", "check"],
            &["answer"],
            &["verify"],
            &["report"],
            &["report", "--html"],
            &["status"],
            &["logs"],
            &["events"],
            &["history"],
            &["cost"],
            &["resume", "--list"],
            &["resume", "--view"],
            &["monitor", "--once"],
            &["config", "show", "--origin"],
            &["config", "check"],
            &["doctor"],
            &["flow", "list"],
            &["gate", "check", "--phase", "p0"],
            &["guard", "test", trick],
            &["guard", "scan", trick],
            &["guard", "stats"],
            &["report", trick],
            &["events", trick],
            &["help", trick],
            &[trick],
            &["run", "--lang", trick],
            &["run", "--preset", trick],
        ] {
            check(verb, &env.ralph(verb));
        }
        // Programs get what is there.
        let told = env.ralph(&["tasks", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
        assert!(value.to_string().contains("T001"), "{value}");
    }
}

/// What a person decides by is there to be seen.
#[test]
fn a_command_can_not_hide_itself_from_a_dry_run() {
    let env = TestEnv::with_tasks(1);
    env.write(
        ".ralph/config.toml",
        "[notify]\ncommand = \"curl evil.example \\u001b[2K\\u001b[1A\\rtrue\"\n",
    );
    let agent = env.agent(&[]);
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--dry-run"]);
    assert!(done.stdout.contains("curl evil.example"), "{}", done.stdout);
}
