//! `cargo xtask bench proof`: what slow checks and their experiments cost a
//! turn that they run beside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Verdict, build, micros};
use crate::cargo;

/// More than a turn whose work nothing checks (issue 19).
const MOST: Duration = Duration::from_secs(1);
const SUITE: Duration = Duration::from_secs(10);
/// As long as all the experiments of one turn, and some more.
const TURN: Duration = Duration::from_secs(100);
const TASKS: usize = 3;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    let plain = Desk::new(
        &scratch.path().join("plain"),
        Duration::ZERO,
        Duration::ZERO,
    )
    .map_err(|e| vec![e.to_string()])?;
    let unchecked = plain.work(&programs.ralph, &["claimed", "false"])?;
    let slow =
        Desk::new(&scratch.path().join("slow"), SUITE, TURN).map_err(|e| vec![e.to_string()])?;
    let beside = slow.work(&programs.ralph, &["auto", "true"])?;
    println!(
        "longest gap without a slow check     {}",
        micros(unchecked.longest)
    );
    println!(
        "longest gap beside checks of 10 s    {}",
        micros(beside.longest)
    );
    println!(
        "checks of {TASKS} turns ran                {} times",
        beside.checks
    );
    verdict.holds("every task is proven", beside.proven == TASKS);
    verdict.at_most(
        "what checks of 10 s add to a turn",
        beside.longest.saturating_sub(unchecked.longest),
        MOST,
    );
    verdict.end()
}

/// A project with a suite that takes its time, and an agent that does too.
struct Desk {
    dir: PathBuf,
    agent: PathBuf,
}

struct Worked {
    longest: Duration,
    checks: usize,
    proven: usize,
}

impl Desk {
    fn new(at: &Path, suite: Duration, turn: Duration) -> std::io::Result<Desk> {
        let dir = at.join("project");
        fs::create_dir_all(&dir)?;
        let count = at.join("checks");
        let sleeps = format!(
            "echo >> {}\nsleep {}\n. ./lib.sh\n",
            count.display(),
            suite.as_secs()
        );
        fs::write(dir.join("test.sh"), sleeps)?;
        fs::write(dir.join("lib.sh"), "f0() { echo 0; }\n")?;
        let tasks = (1..=TASKS).map(|n| format!("- [ ] T00{n} Add f{n}\n"));
        fs::write(dir.join("tasks.md"), tasks.collect::<String>())?;
        let agent = at.join("agent.sh");
        let times = at.join("times");
        let script = format!(
            "date +%s%N >> {times}\n\
             n=$(($(grep -c '\\[x' tasks.md) + 1))\n\
             echo \"f$n() {{ echo $n; }}\" >> lib.sh\n\
             echo \"[ \\\"\\$(f$n)\\\" = $n ] || exit 1\" >> test.sh\n\
             sed -i \"s/\\[ \\] T00$n/[x] T00$n/\" tasks.md\n\
             sleep {turn}\n\
             date +%s%N >> {times}\n",
            times = times.display(),
            turn = turn.as_secs(),
        );
        fs::write(&agent, script)?;
        let mut init = Command::new("git");
        init.args(["init", "-q"]).current_dir(&dir);
        cargo::succeed(&mut init).map_err(std::io::Error::other)?;
        Ok(Desk { dir, agent })
    }

    fn work(&self, ralph: &Path, [level, beside]: &[&str; 2]) -> Result<Worked, Vec<String>> {
        let agent = format!("sh {}", self.agent.display());
        let output = Command::new(ralph)
            .current_dir(&self.dir)
            .args(["run", "--json", "--sandbox", "off", "--tasks", "tasks.md"])
            .args(["--verify", "sh test.sh", "--agent-cmd", &agent])
            .env("RALPH_EVIDENCE_LEVEL", level)
            .env("RALPH_EVIDENCE_BESIDE", beside)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| vec![e.to_string()])?;
        let said = String::from_utf8_lossy(&output.stdout);
        let end = said.lines().rfind(|line| line.contains("loop_end"));
        let end: serde_json::Value = serde_json::from_str(end.unwrap_or_default())
            .map_err(|_| vec![format!("the run did not end: {said}")])?;
        let shown = end["proven"].as_array().into_iter().flatten();
        let proven = shown.filter_map(|shown| shown["counts"]["proven"].as_u64());
        let beside_agent = |name: &str| {
            let text = fs::read_to_string(self.agent.with_file_name(name));
            text.unwrap_or_default()
        };
        let times: Vec<u64> = beside_agent("times")
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect();
        let gaps = times.get(1..).unwrap_or_default().chunks_exact(2);
        let longest = gaps.map(|gap| Duration::from_nanos(gap[1].saturating_sub(gap[0])));
        Ok(Worked {
            longest: longest.max().unwrap_or_default(),
            checks: beside_agent("checks").lines().count(),
            proven: usize::try_from(proven.sum::<u64>()).unwrap_or(0),
        })
    }
}
