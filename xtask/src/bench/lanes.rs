//! `cargo xtask bench lanes`: the same list by one lane and by three, and what
//! a lane and a landing cost in a large repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Programs, Verdict, build};

const TASKS: usize = 12;
/// Against one lane (issue 22).
const MAX_RATIO: f64 = 0.45;
const MANY_FILES: usize = 100_000;

/// Sleeps, as agents do, and leaves work with a test that binds it.
const AGENT: &str = r#"cat > /dev/null
sleep "${SLEEPS:-2}"
t=$RALPH_TASK_ID
echo "$t" > "$t.txt"
echo "test -f $t.txt" > "tests/$t.sh"
sed -i "s/- \[ \] $t/- [x] $t/" "$RALPH_TASKS_FILE"
echo '<promise>DONE</promise>'
"#;
const CHECK: &str = r#"for t in tests/*.sh; do sh "$t" || exit 1; done"#;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    let said = |e: std::io::Error| vec![e.to_string()];
    let place = |name: &str| scratch.path().join(name);
    let one = project(&place("one"), TASKS, 0).map_err(said)?;
    let three = project(&place("three"), TASKS, 0).map_err(said)?;
    let one = timed(&programs, &one, "1", "2").map_err(said)?;
    let three = timed(&programs, &three, "3", "2").map_err(said)?;
    println!("{TASKS} tasks by one lane                  {one:.1?}");
    println!("{TASKS} tasks by three lanes               {three:.1?}");
    verdict.ratio("three lanes / one lane", three, one, MAX_RATIO);
    let small = project(&place("small"), 1, 10).map_err(said)?;
    let large = project(&place("large"), 1, MANY_FILES).map_err(said)?;
    let small = timed(&programs, &small, "1", "0").map_err(said)?;
    let large = timed(&programs, &large, "1", "0").map_err(said)?;
    println!("one task, 10 files                   {small:.2?}");
    println!("one task, {MANY_FILES} files              {large:.2?}");
    verdict.end()
}

fn project(dir: &Path, tasks: usize, files: usize) -> std::io::Result<PathBuf> {
    fs::create_dir_all(dir.join("tests"))?;
    for i in 0..files {
        let below = dir.join(format!("src/d{}", i / 100));
        fs::create_dir_all(&below)?;
        fs::write(below.join(format!("f{i}.txt")), format!("file {i}\n"))?;
    }
    let list: String = (1..=tasks)
        .map(|n| format!("- [ ] T{n:03} make file {n}\n"))
        .collect();
    fs::write(dir.join("tasks.md"), list)?;
    fs::write(dir.join("check.sh"), CHECK)?;
    fs::write(dir.join("tests/base.sh"), "exit 0\n")?;
    fs::write(dir.join(".gitignore"), ".ralph/\n.skillpack/\n")?;
    fs::write(dir.with_extension("sh"), AGENT)?;
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &[
            "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "start",
        ],
    ] {
        let status = Command::new("git").args(args).current_dir(dir).status()?;
        if !status.success() {
            return Err(std::io::Error::other(format!("git {args:?}")));
        }
    }
    Ok(dir.to_owned())
}

fn timed(
    programs: &Programs,
    project: &Path,
    lanes: &str,
    sleeps: &str,
) -> std::io::Result<Duration> {
    let agent = format!("sh {}", project.with_extension("sh").display());
    let args = ["run", "--quiet", "-j", lanes, "--verify", "sh check.sh"];
    let start = Instant::now();
    let output = Command::new(&programs.ralph)
        .env("RALPH_SANDBOX_MODE", "off")
        .env("SLEEPS", sleeps)
        .env("XDG_STATE_HOME", project.with_extension("state"))
        .current_dir(project)
        .args(args)
        .args(["--agent-cmd", &agent])
        .stdin(Stdio::null())
        .output()?;
    let took = start.elapsed();
    match output.status.success() {
        true => Ok(took),
        false => Err(std::io::Error::other(
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )),
    }
}
