//! The liars' league: agents that want to be done without the work, and honest
//! ones. No lie may end as complete, and no honest work may be held up.

mod asked;
mod built;
mod go;
mod node;
mod perl;
mod pytest;
mod python;
mod rust;
mod shell;
mod strange;
mod vitest;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::env::TestEnv;

/// How a run may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    /// Not complete, however it ends.
    Lie,
    /// Complete, and every task proven.
    Proven,
    /// Complete, with what is enough for tasks of its kind.
    Complete,
    /// Boxes ticked, exit code 3: honest work under a check that can't see it.
    Unproven,
}

/// Paths and contents.
pub type Files = &'static [(&'static str, &'static str)];

/// An agent as a shell script, which is run in the project, turn after turn;
/// `tick` ticks every box.
pub struct Case {
    name: &'static str,
    want: Want,
    /// Files over those of the project.
    files: Files,
    agent: &'static str,
    /// Run in the project when all is committed, before the loop.
    before: &'static str,
}

const TICK: &str = "tick() { sed -i 's/\\[ \\]/[x]/' tasks.md; }\n";

/// Not complete, however it ends.
pub const fn lie(name: &'static str, files: Files, agent: &'static str) -> Case {
    Case::new(Want::Lie, name, files, agent)
}

pub const fn proven(name: &'static str, files: Files, agent: &'static str) -> Case {
    Case::new(Want::Proven, name, files, agent)
}

pub const fn complete(name: &'static str, files: Files, agent: &'static str) -> Case {
    Case::new(Want::Complete, name, files, agent)
}

pub const fn unproven(name: &'static str, files: Files, agent: &'static str) -> Case {
    Case::new(Want::Unproven, name, files, agent)
}

impl Case {
    const fn new(want: Want, name: &'static str, files: Files, agent: &'static str) -> Case {
        Case {
            name,
            want,
            files,
            agent,
            before: "true",
        }
    }

    /// The same where this was done before the loop.
    pub const fn after(self, before: &'static str) -> Case {
        Case { before, ..self }
    }
}

pub struct League {
    pub files: Files,
    pub verify: &'static str,
    pub cases: &'static [Case],
}

impl League {
    pub fn play(&self) {
        self.play_for("2");
    }

    /// Where a check takes long: who lies has no second turn.
    pub fn play_briefly(&self) {
        self.play_for("1");
    }

    /// Plays all of them and tells every wrong end at once.
    fn play_for(&self, turns_of_a_liar: &str) {
        let next = Mutex::new(self.cases.iter());
        let wrong = Mutex::new(String::new());
        let work = || {
            loop {
                let case = next.lock().unwrap().next();
                let Some(case) = case else { return };
                if let Err(why) = self.play_one(case, turns_of_a_liar) {
                    let mut wrong = wrong.lock().unwrap();
                    let _ = writeln!(wrong, "\n== {}: {why}", case.name);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(work);
            }
        });
        let wrong = wrong.into_inner().unwrap();
        assert!(wrong.is_empty(), "{wrong}");
    }

    fn play_one(&self, case: &Case, turns_of_a_liar: &str) -> Result<(), String> {
        let env = TestEnv::in_memory();
        for (name, text) in self.files.iter().chain(case.files) {
            env.write(name, text);
        }
        env.git(&["add", "-A"]);
        let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
        env.git(&[&name[..], &["commit", "-q", "-m", "Plan"]].concat());
        let mut before = Command::new("sh");
        before.args(["-c", case.before]).current_dir(env.path(""));
        assert!(before.status().unwrap().success(), "{}", case.before);
        let script = env.outside("agent.sh");
        fs::write(&script, [TICK, case.agent].concat()).unwrap();
        let agent = format!("sh {}", script.display());
        let run = [
            "run", "--json", "--tasks", "tasks.md", "--agent-cmd", &agent, "--trust-project",
        ];
        let mut command = env.command(&run);
        if !self.verify.is_empty() {
            command.args(["--verify", self.verify]);
        }
        let turns = match case.want {
            Want::Lie => turns_of_a_liar,
            _ => "2",
        };
        command
            .args(["--max-iterations", turns])
            .env_remove("RALPH_EVIDENCE_LEVEL")
            .env("RALPH_EVIDENCE_ASKS", "1");
        // Where a person's own tools lie.
        let home = std::env::var_os("HOME").unwrap_or_default();
        for (name, below) in [
            ("RUSTUP_HOME", ".rustup"),
            ("CARGO_HOME", ".cargo"),
            ("GOCACHE", ".cache/go-build"),
        ] {
            let usual = || std::path::Path::new(&home).join(below).into();
            command.env(name, std::env::var_os(name).unwrap_or_else(usual));
        }
        let done = crate::env::Done::of(&command.output().unwrap());
        let told = || {
            let lines = done.stdout.lines().filter(|line| {
                [
                    "tick_", "gate_result", "loop_end", "preflight", "promise_rejected",
                    "snapshot", "expectations",
                ]
                .iter()
                .any(|word| line.contains(word))
            });
            let lines: Vec<&str> = lines.collect();
            format!(
                "wanted {:?}, exit {:?}\n{}\n{}",
                case.want,
                done.code,
                lines.join("\n"),
                done.stderr
            )
        };
        let all_proven = || {
            let proven = done
                .stdout
                .lines()
                .filter(|line| line.contains("\"tick_proven\""));
            proven.clone().count() > 0
                && proven
                    .clone()
                    .all(|line| line.contains("\"evidence\":\"proven\""))
        };
        let is_right = match case.want {
            Want::Lie => done.code != 0,
            Want::Complete => done.code == 0,
            Want::Proven => done.code == 0 && all_proven(),
            Want::Unproven => {
                let open = env.read("tasks.md").contains("[ ]");
                done.code == 3 && !open && done.stdout.contains("\"unproven\"")
            }
        };
        is_right.then_some(()).ok_or_else(told)
    }
}
