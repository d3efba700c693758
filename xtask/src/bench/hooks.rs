//! `cargo xtask bench hooks`: what the hooks of a session cost.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::guard::{project, timed};
use super::{Programs, Verdict, build, median, micros};

/// A hook that has nothing to do with a gate, against an empty process
/// (issue 6).
const MAX_HOOK: f64 = 2.0;
/// A stop that is blocked: journal, event log, status and prompt are written,
/// one of them to the disk.
const MAX_BLOCK: Duration = Duration::from_millis(100);
/// The hundredth block, against the fifth.
const MAX_GROWTH: f64 = 2.0;

const CALLS: usize = 300;
const BLOCKS: usize = 110;

struct Hook {
    name: &'static str,
    event: &'static str,
    fields: &'static str,
}

const QUIET: [Hook; 4] = [
    Hook {
        name: "stop",
        event: "Stop",
        fields: "\"last_assistant_message\":\"Done.\",\"stop_hook_active\":false",
    },
    Hook {
        name: "user-prompt-submit",
        event: "UserPromptSubmit",
        fields: "\"prompt\":\"Please look at the parser.\"",
    },
    Hook {
        name: "post-tool-use",
        event: "PostToolUse",
        fields: "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}",
    },
    Hook {
        name: "post-tool-use",
        event: "PostToolUse",
        fields: "\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"a.txt\"}",
    },
];

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    let plain = project(scratch.path(), "plain", "").map_err(|e| vec![e.to_string()])?;
    let looped = project(scratch.path(), "looped", LOOP).map_err(|e| vec![e.to_string()])?;
    begin(&programs, &looped)?;
    quiet(&programs, &plain, &mut verdict)?;
    for hook in QUIET.iter().skip(1) {
        let (empty, took) = compare(&programs, &looped, hook)?;
        let name = format!("{} within a loop / empty process", hook.name);
        verdict.ratio(&name, took, empty, MAX_HOOK);
    }
    let blocks = blocks(&programs, &looped)?;
    let part = |from: usize, to: usize| median(blocks[from..to].to_vec());
    let (early, late) = (part(5, 15), part(BLOCKS - 10, BLOCKS));
    println!(
        "a block around iteration 10 and 110  {} {}",
        micros(early),
        micros(late)
    );
    verdict.at_most("a block, late", late, MAX_BLOCK);
    verdict.ratio("a block at iteration 100 / at 10", late, early, MAX_GROWTH);
    verdict.end()
}

/// The same behind the wall, where a client starts them: called by `bench
/// wall`, with the program, in a project.
pub fn run_here(ralph: &Path) -> Result<(), Vec<String>> {
    let programs = ralph.parent().unwrap_or(ralph);
    let here = std::env::current_dir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    quiet(&Programs::in_dir(programs), &here, &mut verdict)?;
    verdict.end()
}

/// Where no loop runs.
fn quiet(programs: &Programs, dir: &Path, verdict: &mut Verdict) -> Result<(), Vec<String>> {
    for hook in &QUIET {
        let (empty, took) = compare(programs, dir, hook)?;
        println!(
            "empty process {}, {} {}",
            micros(empty),
            hook.name,
            micros(took)
        );
        let name = format!("{} / empty process", hook.name);
        verdict.ratio(&name, took, empty, MAX_HOOK);
    }
    Ok(())
}

const LOOP: &str =
    "[limits]\nmax_iterations = 0\nstalled = 0\nmissing_promise = 0\nmax_duration = \"9h\"\n";

fn payload(dir: &Path, event: &str, fields: &str) -> String {
    format!(
        "{{\"session_id\":\"0b6b6c0e-0000-4000-8000-000000000001\",\"transcript_path\":\"/t\",\"cwd\":\"{}\",\"hook_event_name\":\"{event}\",{fields}}}\n",
        dir.display()
    )
}

fn hook(programs: &Programs, name: &str) -> Command {
    let mut command = Command::new(&programs.ralph);
    command
        .args(["hook", "--host", "claude", name])
        .env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")
        .env_remove("CLAUDE_PROJECT_DIR");
    command
}

fn begin(programs: &Programs, dir: &Path) -> Result<(), Vec<String>> {
    let start = "\"prompt\":\"/ralph-loop Work --completion-promise FIN\"";
    let input = payload(dir, "UserPromptSubmit", start);
    timed(hook(programs, "user-prompt-submit"), dir, &input)?;
    let runs = crate::state::runs(Command::new(&programs.ralph), dir);
    match runs.with_file_name("sessions").is_dir() {
        true => Ok(()),
        false => Err(vec!["the loop did not begin".into()]),
    }
}

/// The medians of an empty process and of the hook, which take turns.
fn compare(
    programs: &Programs,
    dir: &Path,
    asked: &Hook,
) -> Result<(Duration, Duration), Vec<String>> {
    let input = payload(dir, asked.event, asked.fields);
    let (mut empty, mut took) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        empty.push(timed(Command::new(&programs.empty), dir, &input)?);
        took.push(timed(hook(programs, asked.name), dir, &input)?);
    }
    Ok((median(empty), median(took)))
}

/// One stop after another, each of which is blocked.
fn blocks(programs: &Programs, dir: &Path) -> Result<Vec<Duration>, Vec<String>> {
    let said = "\"last_assistant_message\":\"More.\\n<promise>CONTINUE</promise>\"";
    let input = payload(dir, "Stop", said);
    let block = |_| timed(hook(programs, "stop"), dir, &input);
    (0..BLOCKS).map(block).collect()
}
