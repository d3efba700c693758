//! `cargo xtask bench guard`: what the guard's hook costs a tool call.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Programs, Verdict, build, median, micros};

/// A call of the hook, against an empty process (issue 5).
const MAX_ORDINARY: f64 = 2.0;
/// With a command of 64 KB and 200 rules of a person.
const MAX_LARGE: f64 = 4.0;
const MAX_DECISION: Duration = Duration::from_micros(50);
/// 64 KB in which no command stands twice (issue 21).
const MAX_DIFFERENT: Duration = Duration::from_millis(10);

const CALLS: usize = 400;
const BATCH: usize = 20_000;

const COMMANDS: [&str; 8] = [
    "git status --short",
    "cargo test --workspace -- --nocapture 2>&1 | tail -50",
    "cd packages/app && npm run build && npm test",
    "grep -rn \"TODO\" src --include='*.rs' | head -20",
    "git add -A && git commit -m \"Fix the parser\"",
    "python3 -m pytest tests/unit -q",
    "for f in src/*.ts; do npx prettier --check \"$f\"; done",
    "sed -n 1,80p README.md",
];

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let plain = project(scratch.path(), "plain", "").map_err(|e| vec![e.to_string()])?;
    let ruled = project(scratch.path(), "ruled", &rules(200)).map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();

    let ordinary: Vec<String> = COMMANDS.iter().map(|c| payload(&plain, c)).collect();
    let blocked = vec![payload(&plain, "sudo rm -rf /")];
    let large = vec![payload(&ruled, &long_command(64 * 1024))];
    for (name, dir, payloads, bound) in [
        (
            "hook, ordinary commands / empty process",
            &plain,
            &ordinary,
            MAX_ORDINARY,
        ),
        (
            "hook, a block / empty process",
            &plain,
            &blocked,
            MAX_ORDINARY,
        ),
        (
            "hook, 64 KB and 200 rules / empty process",
            &ruled,
            &large,
            MAX_LARGE,
        ),
    ] {
        let (empty, hook) = programs.compare(dir, payloads)?;
        println!("empty process {}, hook {}", micros(empty), micros(hook));
        verdict.ratio(name, hook, empty, bound);
    }
    let run = programs.run_in(&plain, scratch.path())?;
    let (empty, hook) = programs.compare_in(&plain, &ordinary, &run)?;
    println!("empty process {}, hook {}", micros(empty), micros(hook));
    let name = "hook, within a run / empty process";
    verdict.ratio(name, hook, empty, MAX_ORDINARY);
    let decision = programs.decision(&plain)?;
    verdict.at_most("one decision in a batch", decision, MAX_DECISION);
    let different = [different_commands(2_000)];
    let different: Vec<&str> = different.iter().map(String::as_str).collect();
    let different = programs.per_call(&plain, &different, 200)?;
    verdict.at_most(
        "64 KB of 2,000 different commands",
        different,
        MAX_DIFFERENT,
    );
    verdict.end()
}

/// A project whose guard has counted before.
pub(super) fn project(scratch: &Path, name: &str, config: &str) -> std::io::Result<PathBuf> {
    let dir = scratch.join(name);
    fs::create_dir_all(dir.join(".git"))?;
    fs::create_dir_all(dir.join(".ralph"))?;
    if !config.is_empty() {
        fs::write(dir.join(".ralph/config.toml"), config)?;
    }
    Ok(dir)
}

fn rules(count: usize) -> String {
    let rule = |i: usize| {
        format!(
            "[[guard.rules]]\nid = \"own.rule-{i}\"\nprogram = \"tool-{i}\"\nargs = [\"--prod\"]\n\
             reason = \"People run tool {i}.\"\nhint = \"Ask.\"\nmatch = [\"tool-{i} --prod\"]\n\
             not_match = [\"tool-{i}\"]\n\n"
        )
    };
    (0..count).map(rule).collect()
}

/// A here-document is what a long command mostly is; the rest are commands.
fn long_command(bytes: usize) -> String {
    let mut text = String::from("cat > src/generated.rs <<'EOF'\n");
    while text.len() < bytes / 2 {
        text.push_str("pub const NAME: &str = \"some text that an agent wrote\";\n");
    }
    text.push_str("EOF\n");
    while text.len() < bytes {
        text.push_str("cargo fmt --check && git add src/generated.rs\n");
    }
    text
}

/// Commands of 32 bytes or so, each another one.
fn different_commands(count: usize) -> String {
    const FORMS: [(&str, &str); 8] = [
        ("cargo test --test suite_", " -- --quiet"),
        ("git log --oneline -3 src/mod_", ".rs"),
        ("grep -n TODO src/file_", ".ts | head"),
        ("npm run build --workspace app-", ""),
        ("sed -n 1,80p docs/page-", ".md"),
        ("python3 -m pytest tests/unit_", ".py"),
        ("X_", "=\"value $HOME\" make target"),
        ("test -f out/part-", " && echo it is there"),
    ];
    let line = |i: usize| {
        let (start, end) = FORMS[i % FORMS.len()];
        format!("{start}{i}{end}\n")
    };
    (0..count).map(line).collect()
}

fn payload(dir: &Path, command: &str) -> String {
    let quoted: String = command
        .chars()
        .flat_map(|c| match c {
            '"' => vec!['\\', '"'],
            '\\' => vec!['\\', '\\'],
            '\n' => vec!['\\', 'n'],
            c => vec![c],
        })
        .collect();
    format!(
        "{{\"session_id\":\"s\",\"transcript_path\":\"/t\",\"cwd\":\"{}\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"{quoted}\"}}}}\n",
        dir.display()
    )
}

impl Programs {
    /// The medians of an empty process and of the hook, which take turns: the
    /// machine's moods meet both. Both get the payload on their input.
    fn compare(
        &self,
        dir: &Path,
        payloads: &[String],
    ) -> Result<(Duration, Duration), Vec<String>> {
        self.compare_in(dir, payloads, &[])
    }

    /// What a client that a run started hands to the hook; the run has a
    /// folder, in which the hook notes each call.
    fn run_in(&self, dir: &Path, scratch: &Path) -> Result<[(String, PathBuf); 2], Vec<String>> {
        const ID: &str = "20260101-000000-0001";
        let failed = |e: std::io::Error| vec![e.to_string()];
        let state = scratch.join("state");
        let mut command = Command::new(&self.ralph);
        command.args(["where", "--json"]).current_dir(dir);
        let told = command.env("XDG_STATE_HOME", &state).output();
        let told = told.map_err(failed)?.stdout;
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap_or_default();
        let runs = told["runs"].as_str().ok_or(vec!["no runs".to_owned()])?;
        fs::create_dir_all(Path::new(runs).join(ID)).map_err(failed)?;
        let of_run = ("RALPH_RUN_ID".to_owned(), PathBuf::from(ID));
        Ok([of_run, ("XDG_STATE_HOME".to_owned(), state)])
    }

    fn compare_in(
        &self,
        dir: &Path,
        payloads: &[String],
        env: &[(String, PathBuf)],
    ) -> Result<(Duration, Duration), Vec<String>> {
        let (mut empty, mut hook) = (Vec::new(), Vec::new());
        for (i, payload) in payloads.iter().cycle().take(CALLS).enumerate() {
            // Clients name each call.
            let named = format!("\"tool_use_id\":\"toolu_{i}\",\"cwd\"");
            let payload = &payload.replacen("\"cwd\"", &named, 1);
            empty.push(timed(Command::new(&self.empty), dir, payload)?);
            let mut command = Command::new(&self.ralph);
            command.args(["hook", "--host", "claude", "pre-tool-use"]);
            command.envs(env.iter().map(|(name, value)| (name, value)));
            hook.push(timed(command, dir, payload)?);
        }
        Ok((median(empty), median(hook)))
    }

    /// What one line of a batch takes, its JSON included.
    fn decision(&self, dir: &Path) -> Result<Duration, Vec<String>> {
        self.per_call(dir, &COMMANDS, BATCH)
    }

    fn per_call(
        &self,
        dir: &Path,
        commands: &[&str],
        calls: usize,
    ) -> Result<Duration, Vec<String>> {
        let line = |command: &&str| {
            payload(dir, command)
                .replace("tool_name", "tool")
                .replace("tool_input", "input")
        };
        let lines: String = commands.iter().cycle().take(calls).map(line).collect();
        let batch = || {
            let mut command = Command::new(&self.ralph);
            command.args(["guard", "test", "--batch"]);
            command
        };
        let nothing = timed(batch(), dir, "")?;
        let all = timed(batch(), dir, &lines)?;
        Ok(all.saturating_sub(nothing) / u32::try_from(calls).unwrap_or(1))
    }
}

pub(super) fn timed(
    mut command: Command,
    dir: &Path,
    input: &str,
) -> Result<Duration, Vec<String>> {
    let failed = |e: std::io::Error| vec![e.to_string()];
    command
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // An empty process reads nothing.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait().map_err(failed)?;
    Ok(start.elapsed())
}
