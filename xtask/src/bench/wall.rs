//! `cargo xtask bench wall`: what the sandbox costs a turn.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Verdict, build, median, micros, project};
use crate::cargo;

/// More than a turn without it (issue 20).
const MOST: Duration = Duration::from_millis(15);
const TURNS: usize = 101;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let programs = build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    let mut verdict = Verdict::default();
    let project = project(&scratch.path().join("p"), 200).map_err(|e| vec![e.to_string()])?;
    let log = project.join("probe.log");
    let gap = |mode: &str| {
        let run = programs.run_with(
            &[("RALPH_SANDBOX_MODE", mode)],
            &project,
            &log,
            (TURNS, Duration::ZERO),
        )?;
        Ok::<_, Vec<String>>(median(run.gaps))
    };
    // One after the other, so that the machine's moods meet both.
    let (mut without, mut behind) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        without.push(gap("off")?);
        behind.push(gap("strict")?);
    }
    let (without, behind) = (median(without), median(behind));
    println!("gap without the wall                 {}", micros(without));
    println!("gap behind the wall                  {}", micros(behind));
    verdict.at_most(
        "what the wall adds to a turn",
        behind.saturating_sub(without),
        MOST,
    );
    println!("behind the wall:");
    let own = std::env::current_exe().map_err(|e| vec![e.to_string()])?;
    let mut hooks = Command::new(&programs.ralph);
    hooks
        .current_dir(&project)
        .env("RALPH_SANDBOX_MODE", "strict")
        .args(["sandbox", "--"])
        .arg(own)
        .args(["bench", "hooks-here"])
        .arg(&programs.ralph);
    verdict.holds("hooks behind the wall", cargo::succeed(&mut hooks).is_ok());
    verdict.end()
}
