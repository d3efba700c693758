//! Every command of the manual (issue 25): those in `console` blocks are run,
//! with a scripted agent, and print what is shown; a chapter is one session in
//! a project of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::env::{RALPH, TestEnv};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src");

/// A command and what is shown of its output.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    command: String,
    code: i32,
    lines: Vec<String>,
}

/// Commands begin with `$ `; an exit code other than 0 is said behind `#`.
fn commands(page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), line.strip_prefix("$ ")) {
            (Some(kind), _) => inside = kind == "console" && !inside,
            (None, Some(typed)) if inside => {
                let (command, code) = match typed.split_once("  # exit code ") {
                    Some((command, code)) => (command, code.parse().unwrap()),
                    None => (typed, 0),
                };
                found.push(Shown {
                    command: command.trim().to_owned(),
                    code,
                    lines: Vec::new(),
                });
            }
            (None, None) if inside && !matches!(line.trim(), "" | "…") => {
                found.last_mut().unwrap().lines.push(line.trim().to_owned());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn commands_are_found_with_what_they_show() {
    let page = "```text\n$ not this\n```\n```console\n$ one 'x'  # exit code 2\nsaid\n…\n$ two\n```\n$ nor this\n";
    let shown = |command: &str, code, lines: &[&str]| Shown {
        command: command.to_owned(),
        code,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(
        commands(page),
        [shown("one 'x'", 2, &["said"]), shown("two", 0, &[])]
    );
}

/// A project with one task, a check that is red, and an agent who does it.
fn project() -> (TestEnv, String) {
    let env = TestEnv::new();
    env.write("tasks.md", "# Tasks\n\n- [ ] T001 Say hello in hello.sh\n");
    env.write("test.sh", "test \"$(sh hello.sh)\" = hello\n");
    env.git(&["config", "user.name", "T"]);
    env.git(&["config", "user.email", "t@localhost"]);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "Plan"]);
    let agent = env.agent(&[json!({
        "write": {"hello.sh": "echo hello\n"},
        "tick": ["T001"],
        "commit": "Say hello (T001)",
        "say": "Done.\n\n<promise>COMPLETE</promise>",
    })]);
    (env, agent)
}

fn play(chapter: &Path) -> Vec<String> {
    let page = fs::read_to_string(chapter).unwrap();
    let (env, agent) = project();
    let bin = env.outside("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(RALPH, bin.join("ralph")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut wrong = Vec::new();
    for shown in commands(&page) {
        let output = Command::new("sh")
            .args(["-c", &shown.command])
            .current_dir(&env.root)
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", env.outside(""))
            .env("LANG", "C.UTF-8")
            .env("RALPH_AGENT_NAME", "custom")
            .env("RALPH_AGENT_COMMAND", &agent)
            .env("RALPH_SANDBOX_MODE", "off")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let lacks = shown.lines.iter().filter(|line| !said.contains(*line));
        let lacks: Vec<&String> = lacks.collect();
        if output.status.code() != Some(shown.code) || !lacks.is_empty() {
            let (name, command) = (chapter.display(), &shown.command);
            wrong.push(format!(
                "{name}: `{command}`: {}, lacks {lacks:?}:\n{said}",
                output.status
            ));
        }
    }
    wrong
}

fn chapters(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(chapters(&path)),
            false if path.extension().is_some_and(|end| end == "md") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

#[test]
fn every_command_of_the_manual_does_what_it_shows() {
    let chapters = chapters(Path::new(BOOK));
    let played = std::thread::scope(|scope| {
        let plays: Vec<_> = chapters
            .iter()
            .map(|chapter| scope.spawn(|| play(chapter)))
            .collect();
        let played = plays.into_iter().flat_map(|play| play.join().unwrap());
        played.collect::<Vec<String>>()
    });
    assert!(played.is_empty(), "{}", played.join("\n"));
    let all = chapters
        .iter()
        .map(|path| fs::read_to_string(path).unwrap());
    let count: usize = all.map(|page| commands(&page).len()).sum();
    assert!(count > 30, "only {count} commands are run");
}
