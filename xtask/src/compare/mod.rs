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

use crate::{cargo, ship, tools};

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
    /// Where what others made is installed.
    peers: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As it ships, with its defaults.
    Ralph,
    /// The loop that everybody writes first.
    Bash,
    /// `ralph-tui` of npm, without its screen, with a stand-in for Claude Code.
    Tui,
    /// `ralph-orchestrator`, whose crate is `ralph-cli`, without its screen.
    Orchestrator,
}

/// What comes from npm, in the versions that were compared.
const TUI: [&str; 2] = ["ralph-tui@0.11.0", "bun@1.4.4"];

/// What comes from crates.io, in the version that was compared.
const ORCHESTRATOR: (&str, &str) = ("ralph-cli", "2.10.1");
const TAG: &str = "<promise>COMPLETE</promise>";

/// The form of `ralph-tui` of the same list.
const STORIES: &str = r#"{"name": "hello", "branchName": "main", "userStories": [
  {"id": "T001", "title": "Say hello in hello.sh", "description": "Say hello in hello.sh",
   "acceptanceCriteria": ["sh test.sh passes"], "priority": 1, "passes": false}]}"#;

/// Ends when the answer has the tag in it, or after so many turns. The
/// variable tells the scripted agent which turn it is.
const BASH_LOOP: &str = r#"
i=0
while [ "$i" -lt 20 ]; do
  i=$((i + 1))
  export RALPH_ITERATION=$i RALPH_TASKS_FILE=tasks.md
  out=$("$RALPH" __agent "$SCRIPT" < tasks.md)
  printf '%s\n' "$out"
  case "$out" in *"<promise>COMPLETE</promise>"*) exit 0 ;; esac
done
exit 1
"#;

/// Those who could not be tried here, and why.
const UNTRIED: [(&str, &str); 1] = [(
    "the clients' own loops (`/goal` and the like)",
    "a model judges whether they are done; here that model would be our script, and the table \
     would show what we wrote into it",
)];

/// Compares the program of this tree, or one that is there already.
pub fn run(root: &Path, program: Option<&Path>) -> Result<(), Vec<String>> {
    let one = |problem: String| vec![problem];
    let ralph = match program {
        Some(program) => {
            fs::canonicalize(program).map_err(|e| one(format!("{}: {e}", program.display())))?
        }
        None => {
            println!("building ralph as it ships");
            let programs = ship::build(root, &["-p", "ralph-loop"]).map_err(one)?;
            programs.join(cargo::program("ralph"))
        }
    };
    let peers = cargo::target(root).join("tools/peers");
    let mut subjects = vec![
        Subject {
            name: "Ralph Loop",
            version: version_of(&ralph),
            how: How::Ralph,
            ralph: ralph.clone(),
            peers: peers.clone(),
        },
        Subject {
            name: "a bash loop",
            version: told(Command::new("bash").args(["-c", "echo bash $BASH_VERSION"])),
            how: How::Bash,
            ralph: ralph.clone(),
            peers: peers.clone(),
        },
    ];
    let mut untried = UNTRIED.to_vec();
    match TUI
        .iter()
        .try_for_each(|package| tools::package_of_npm(&peers, package))
    {
        Ok(()) => subjects.push(Subject {
            name: "ralph-tui",
            version: TUI.join(", "),
            how: How::Tui,
            ralph: ralph.clone(),
            peers: peers.clone(),
        }),
        Err(_) => untried.push(("ralph-tui", "npm could not install it here")),
    }
    match orchestrator(&peers) {
        Ok(()) => subjects.push(Subject {
            name: "ralph-orchestrator",
            version: format!("{} {}", ORCHESTRATOR.0, ORCHESTRATOR.1),
            how: How::Orchestrator,
            ralph,
            peers,
        }),
        Err(_) => untried.push(("ralph-orchestrator", "cargo could not install it here")),
    }
    // Not below /tmp, which is another one behind a sandbox.
    let place = cargo::target(root).join("compare");
    fs::create_dir_all(&place).map_err(|e| one(e.to_string()))?;
    let mut results = Vec::new();
    for subject in &subjects {
        println!("== {} ({})", subject.name, subject.version);
        results.push(works::measure(subject, &place).map_err(one)?);
    }
    let page = page::page(&subjects, &results, &untried);
    let picture = page::picture(&subjects, &results);
    for (name, text) in [(PAGE, page), (PICTURE, picture)] {
        fs::write(root.join(name), text).map_err(|e| vec![format!("{name}: {e}")])?;
        println!("{name}");
    }
    Ok(())
}

/// A build for tests is much slower than the one that ships, and says so.
fn version_of(ralph: &Path) -> String {
    let version = told(Command::new(ralph).arg("--version"));
    let about = told(Command::new(ralph).args(["--version", "--json"]));
    match about.contains("\"fault_points\":true") {
        true => format!("{version}, built for tests: its times are not those of what ships"),
        false => version,
    }
}

fn told(command: &mut Command) -> String {
    let output = command.output();
    let said = output.map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    said.split('(').next().unwrap_or_default().trim().to_owned()
}

/// Built from crates.io, once.
fn orchestrator(peers: &Path) -> Result<(), String> {
    let place = peers.join("orchestrator");
    if place.join("bin/ralph").is_file() {
        return Ok(());
    }
    let (name, version) = ORCHESTRATOR;
    let mut install = Command::new("cargo");
    install.args(["install", "--quiet", "--locked", "--version", version]);
    cargo::succeed(install.arg("--root").arg(&place).arg(name))
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
            How::Tui => self.tui(project, script, &["run", "--prd", "prd.json"])?,
            How::Orchestrator => self.orchestrator(script)?,
        };
        command
            .current_dir(project)
            .env("RALPH_AGENT_RETRY_INITIAL", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().map_err(|e| format!("{}: {e}", self.name))
    }

    /// Takes up what was killed.
    fn resume(&self, project: &Path, script: &Path) -> Result<Child, String> {
        let mut command = match self.how {
            How::Bash => return self.start(project, script, &[]),
            How::Ralph => {
                let mut command = Command::new(&self.ralph);
                command.args(["resume", "--yes"]);
                command
            }
            How::Tui => self.tui(project, script, &["resume", "--force"])?,
            How::Orchestrator => {
                let mut command = self.orchestrator(script)?;
                command.arg("--continue");
                command
            }
        };
        let quiet = command
            .current_dir(project)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        quiet.spawn().map_err(|e| format!("{}: {e}", self.name))
    }

    /// Our agent as a program of its own, which counts its turns.
    fn stand_in(&self, script: &Path, name: &str, more: &str) -> Result<PathBuf, String> {
        let failed = |e: std::io::Error| e.to_string();
        let place = script.with_file_name("");
        let bin = place.join("bin");
        fs::create_dir_all(&bin).map_err(failed)?;
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *--version*) echo '2.1.200 (Claude Code)'; exit 0 ;; esac\n\
             n=$(($(cat '{0}/turn' 2>/dev/null || echo 0) + 1))\necho \"$n\" > '{0}/turn'\n\
             export RALPH_ITERATION=$n RALPH_TASKS_FILE=tasks.md\nexec '{1}' __agent '{2}' {more}\n",
            place.display(),
            self.ralph.display(),
            script.display()
        );
        let file = bin.join(name);
        fs::write(&file, text).map_err(failed)?;
        tools::executable(&file).map_err(failed)?;
        Ok(file)
    }

    /// It reads its prompt from the task file, and is told the same tag.
    fn orchestrator(&self, script: &Path) -> Result<Command, String> {
        let agent = self.stand_in(script, "agent", "")?;
        let config = script.with_file_name("ralph.yml");
        let text = format!(
            "cli:\n  backend: custom\n  command: \"{}\"\n  prompt_mode: stdin\n",
            agent.display()
        );
        fs::write(&config, text).map_err(|e| e.to_string())?;
        let mut command = Command::new(self.peers.join("orchestrator/bin/ralph"));
        command
            .args(["run", "--autonomous", "--prompt-file", "tasks.md"])
            .args(["--max-iterations", "25", "--completion-promise", TAG])
            .arg("--config")
            .arg(&config)
            .env("HOME", script.with_file_name(""));
        Ok(command)
    }

    /// It looks for Claude Code, and finds our agent under that name.
    fn tui(&self, project: &Path, script: &Path, verb: &[&str]) -> Result<Command, String> {
        let bin = self.stand_in(script, "claude", "--stream-json")?;
        let (place, bin) = (script.with_file_name(""), bin.with_file_name(""));
        let stories = project.join("prd.json");
        if !stories.exists() {
            fs::write(stories, STORIES).map_err(|e| e.to_string())?;
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let programs = self.peers.join("node_modules/.bin");
        let mut command = Command::new(programs.join("bun"));
        command
            .arg(programs.join("ralph-tui"))
            .args(verb)
            .arg("--headless")
            .env("HOME", &place)
            .env(
                "PATH",
                format!("{}:{}:{path}", bin.display(), programs.display()),
            );
        if verb.contains(&"run") {
            command.args(["--no-setup", "--no-notify", "--agent", "claude"]);
            command.args(["--iterations", "25"]);
        }
        Ok(command)
    }

    /// Whether it told that the work is done.
    fn says_done(&self, project: &Path, code: Option<i32>) -> bool {
        match self.how {
            How::Ralph | How::Bash | How::Orchestrator => code == Some(0),
            // It may end with 0 in any case; its list says what it believes.
            How::Tui => {
                let list = fs::read_to_string(project.join("prd.json")).unwrap_or_default();
                let list: serde_json::Value = serde_json::from_str(&list).unwrap_or_default();
                list["userStories"][0]["passes"] == true
            }
        }
    }
}
