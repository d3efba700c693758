//! `cargo xtask history`: plays the last changes of real projects as if an
//! agent had made them, one task each, and prints which level of evidence they
//! reach. Honest work must not be refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cargo;

/// In the root of the project, as a person would have it there.
const TASKS: &str = "RALPH-HISTORY.md";

pub struct Options {
    repos: Vec<PathBuf>,
    last: usize,
    verify: Option<String>,
    /// Run once in each scratch clone: what installs or links dependencies.
    prepare: Option<String>,
    /// Only changes that touch these paths.
    paths: Vec<String>,
}

impl Options {
    pub fn parse(args: &[&str]) -> Option<Options> {
        let mut options = Options {
            repos: Vec::new(),
            last: 10,
            verify: None,
            prepare: None,
            paths: Vec::new(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--last" => options.last = args.next()?.parse().ok()?,
                "--verify" => options.verify = Some((*args.next()?).to_owned()),
                "--prepare" => options.prepare = Some((*args.next()?).to_owned()),
                "--path" => options.paths.push((*args.next()?).to_owned()),
                flag if flag.starts_with("--") => return None,
                repo => options.repos.push(PathBuf::from(repo)),
            }
        }
        (!options.repos.is_empty()).then_some(options)
    }
}

/// One change, and what was made of it.
struct Played {
    commit: String,
    subject: String,
    level: String,
    reason: String,
    took: Duration,
}

pub fn run(root: &Path, options: &Options) -> Result<(), Vec<String>> {
    let ralph = cargo::debug_ralph(root).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let mut all: Vec<(String, Vec<Played>)> = Vec::new();
    for repo in &options.repos {
        let name = repo.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        match play(&ralph, repo, &name, options) {
            Ok(played) => all.push((name, played)),
            Err(problem) => problems.push(format!("{name}: {problem}")),
        }
    }
    print_table(&all);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

fn play(ralph: &Path, repo: &Path, name: &str, options: &Options) -> Result<Vec<Played>, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let clone = scratch.path().join(name);
    let repo = repo.canonicalize().map_err(|e| e.to_string())?;
    let mut command = Command::new("git");
    command
        .args(["clone", "--quiet", "--shared"])
        .arg(&repo)
        .arg(&clone);
    cargo::succeed(&mut command)?;
    if let Some(prepare) = &options.prepare {
        let mut command = Command::new("sh");
        command.arg("-c").arg(prepare).current_dir(&clone);
        cargo::succeed(&mut command)?;
    }
    let verify = options.verify.clone().or_else(|| usual_check(&clone));
    let verify = verify.ok_or("what is its check? Name it with --verify")?;
    println!("{name}: {verify}");
    let last = format!("-n{}", options.last);
    let mut log = vec!["log", "--no-merges", &last, "--format=%H %s", "HEAD", "--"];
    log.extend(options.paths.iter().map(String::as_str));
    let changes = git(&clone, &log)?;
    let mut played = Vec::new();
    for line in changes.lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        if git(
            &clone,
            &["rev-parse", "--verify", "--quiet", &format!("{commit}^")],
        )
        .is_err()
        {
            continue;
        }
        let one = play_one(ralph, &clone, scratch.path(), (commit, subject), &verify)?;
        let (level, took) = (&one.level, one.took.as_secs());
        println!(
            "  {} {level:<12} {took:>4} s  {}",
            short(commit),
            one.subject
        );
        if !one.reason.is_empty() {
            println!("      {}", one.reason);
        }
        played.push(one);
    }
    Ok(played)
}

/// What a newcomer would type.
fn usual_check(dir: &Path) -> Option<String> {
    let known = [
        ("Cargo.toml", "cargo test --quiet"),
        ("go.mod", "go test ./..."),
        ("package.json", "npm test"),
        ("pyproject.toml", "python -m pytest -q"),
        ("setup.py", "python -m pytest -q"),
        ("Makefile", "make test"),
    ];
    let found = known.iter().find(|(file, _)| dir.join(file).exists());
    found.map(|(_, command)| (*command).to_owned())
}

fn play_one(
    ralph: &Path,
    clone: &Path,
    scratch: &Path,
    (commit, subject): (&str, &str),
    verify: &str,
) -> Result<Played, String> {
    git(
        clone,
        &[
            "checkout",
            "--quiet",
            "--force",
            "--detach",
            &format!("{commit}^"),
        ],
    )?;
    // What Git ignores stays: dependencies and build products.
    git(clone, &["clean", "-fdq"])?;
    // A bar would begin what a person says about the task's proof.
    let subject = subject.replace('|', "/");
    let write = |path: &Path, text: &str| fs::write(path, text).map_err(|e| e.to_string());
    write(
        &clone.join(TASKS),
        &format!("# Plan\n\n- [ ] T001 {subject}\n"),
    )?;
    let agent = scratch.join("agent.sh");
    let script = format!(
        "set -e\n\
         git diff --binary {commit}^ {commit} | git apply --whitespace=nowarn\n\
         printf '# Plan\\n\\n- [x] T001 %s\\n' \"$(sed -n 's/^- \\[.\\] T001 //p' {TASKS})\" > \"$0.new\"\n\
         mv \"$0.new\" {TASKS}\n\
         echo '<promise>COMPLETE</promise>'\n"
    );
    write(&agent, &script)?;
    let began = Instant::now();
    let output = Command::new(ralph)
        .current_dir(clone)
        .args(["run", "--json", "--trust-project", "--tasks", TASKS])
        .args(["--max-iterations", "1", "--verify", verify])
        .arg("--agent-cmd")
        .arg(format!("sh {}", agent.display()))
        .env("RALPH_EVIDENCE_ASKS", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let events: Vec<Value> = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let erred = String::from_utf8_lossy(&output.stderr);
    let (level, reason) = judged(&events, &erred);
    Ok(Played {
        commit: commit.to_owned(),
        subject,
        level,
        reason,
        took: began.elapsed(),
    })
}

/// The level that the change reached, and why no better one.
fn judged(events: &[Value], erred: &str) -> (String, String) {
    let last = |name: &str| events.iter().rev().find(|event| event["event"] == name);
    let text = |event: &Value, key: &str| {
        let text = event[key].as_str().unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    };
    if let Some(event) = last("tick_proven").or_else(|| last("tick_unproven")) {
        return (text(event, "evidence"), text(event, "reason"));
    }
    let is_red = last("gate_result").is_some_and(|event| event["passed"] == false);
    if is_red {
        return ("red".into(), "its checks fail with the change".into());
    }
    match last("tick_rejected") {
        Some(event) => ("refused".into(), text(event, "reason")),
        None => {
            let line = erred.lines().last().unwrap_or_default();
            ("not played".into(), line.to_owned())
        }
    }
}

fn print_table(all: &[(String, Vec<Played>)]) {
    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    for one in all.iter().flat_map(|(_, played)| played) {
        *levels.entry(&one.level).or_default() += 1;
    }
    println!();
    print!("{:<20} {:>7}", "project", "changes");
    for level in levels.keys() {
        print!(" {level:>12}");
    }
    println!(" {:>10}", "time each");
    for (name, played) in all {
        print!("{name:<20} {:>7}", played.len());
        for level in levels.keys() {
            let count = played.iter().filter(|one| one.level == *level).count();
            print!(" {count:>12}");
        }
        let sum: Duration = played.iter().map(|one| one.took).sum();
        let each = sum.as_secs_f64() / played.len().max(1) as f64;
        println!(" {each:>8.1} s");
    }
    let total: usize = levels.values().sum();
    print!("{:<20} {total:>7}", "all");
    for count in levels.values() {
        print!(" {:>10} %", 100 * count / total.max(1));
    }
    println!();
    let refused = all
        .iter()
        .flat_map(|(name, played)| played.iter().map(move |one| (name, one)))
        .filter(|(_, one)| one.level == "refused" || one.level == "refuted");
    for (name, one) in refused {
        println!(
            "{} {name}: {}: {}",
            short(&one.commit),
            one.subject,
            one.reason
        );
    }
}

fn short(commit: &str) -> &str {
    commit.get(..9).unwrap_or(commit)
}

fn git(dir: &Path, args: &[&str]) -> Result<String, String> {
    let output = Command::new("git").current_dir(dir).args(args).output();
    let output = output.map_err(|e| format!("git: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "git {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
