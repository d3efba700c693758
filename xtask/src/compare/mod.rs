//! `cargo xtask compare`: the same work by Ralph and by what people use
//! instead, with the same scripted agent, and the table that comes of it.
//!
//! Everything in the table is measured by the run that writes it, but for the
//! last column, which says who could not be tried and why.

mod page;
mod works;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{cargo, ship};

/// Where the table and the picture go.
const PAGE: &str = "docs/book/src/compare.md";
const PICTURE: &str = "docs/pictures/compare.svg";

/// What is compared.
#[derive(Clone, Debug)]
pub struct Subject {
    pub name: &'static str,
    pub version: String,
    pub how: How,
    ralph: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As it ships, with its defaults but for the sandbox, which is Linux's.
    Ralph,
    /// The loop that everybody writes first.
    Bash,
}

/// Ends when the answer has the tag in it, or after so many turns. The
/// variable tells the scripted agent which turn it is.
const BASH_LOOP: &str = r#"
i=0
while [ "$i" -lt 20 ]; do
  i=$((i + 1))
  export RALPH_ITERATION=$i
  out=$("$RALPH" __agent "$SCRIPT" < tasks.md)
  printf '%s\n' "$out"
  case "$out" in *"<promise>COMPLETE</promise>"*) exit 0 ;; esac
done
exit 1
"#;

/// Those who could not be tried here, and why.
const UNTRIED: [(&str, &str); 3] = [
    (
        "ralph-orchestrator",
        "its npm package fetches its program from a place that this machine does not reach, and \
         the crate was not built here",
    ),
    (
        "ralph-tui",
        "needs the runtime Bun and a terminal; no way to play it the scripted agent was found in \
         the time there was",
    ),
    (
        "the clients' own loops",
        "they need the client and the scripted model of `cargo xtask e2e`; not wired up yet",
    ),
];

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let one = |problem: String| vec![problem];
    println!("building ralph as it ships");
    let programs = ship::build(root, &["-p", "ralph-loop"]).map_err(one)?;
    let ralph = programs.join(cargo::program("ralph"));
    let subjects = [
        Subject {
            name: "Ralph Loop",
            version: told(Command::new(&ralph).arg("--version")),
            how: How::Ralph,
            ralph: ralph.clone(),
        },
        Subject {
            name: "a bash loop",
            version: told(Command::new("bash").args(["-c", "echo bash $BASH_VERSION"])),
            how: How::Bash,
            ralph,
        },
    ];
    let mut results = Vec::new();
    for subject in &subjects {
        println!("== {} ({})", subject.name, subject.version);
        results.push(works::measure(subject).map_err(one)?);
    }
    let page = page::page(&subjects, &results, &UNTRIED);
    let picture = page::picture(&subjects, &results);
    for (name, text) in [(PAGE, page), (PICTURE, picture)] {
        fs::write(root.join(name), text).map_err(|e| vec![format!("{name}: {e}")])?;
        println!("{name}");
    }
    Ok(())
}

fn told(command: &mut Command) -> String {
    let output = command.output();
    let said = output.map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    said.split('(').next().unwrap_or_default().trim().to_owned()
}

impl Subject {
    /// Starts it on a project, with an agent that plays a script.
    fn start(&self, project: &Path, script: &Path, more: &[&str]) -> Result<Child, String> {
        let mut command = match self.how {
            How::Ralph => {
                let agent = format!("{} __agent {}", self.ralph.display(), script.display());
                let mut command = Command::new(&self.ralph);
                command.args(["run", "--verify", "sh test.sh", "--agent-cmd", &agent]);
                command.args(more);
                command
            }
            How::Bash => {
                let mut command = Command::new("bash");
                command
                    .args(["-c", BASH_LOOP])
                    .env("RALPH", &self.ralph)
                    .env("SCRIPT", script);
                command
            }
        };
        command
            .current_dir(project)
            .env("RALPH_SANDBOX_MODE", "off")
            .env("RALPH_AGENT_RETRY_INITIAL", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().map_err(|e| format!("{}: {e}", self.name))
    }
}
