//! A project with a scripted GitHub behind the real `gh`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_testkit::github::{GitHub, World};
use serde_json::Value;

use super::env::{Done, RALPH, TestEnv};

pub const BRANCH: &str = "feature/login";

/// A project on a feature branch whose pushes go into a bare repository, and
/// whose `gh` asks a scripted GitHub.
pub struct Hub {
    /// Before the directory that its socket is in.
    pub github: GitHub,
    pub env: TestEnv,
}

impl Hub {
    pub fn new(world: World) -> Hub {
        let env = TestEnv::new();
        let bare = env.outside("origin.git");
        let world = World {
            bare: bare.clone(),
            ..world
        };
        let github = GitHub::start(&env.outside("gh.sock"), world).unwrap();
        let config = env.outside("gh");
        fs::create_dir_all(&config).unwrap();
        fs::create_dir_all(env.outside("tmp")).unwrap();
        let socket = env.outside("gh.sock");
        fs::write(
            config.join("config.yml"),
            format!("http_unix_socket: {}\n", socket.display()),
        )
        .unwrap();
        let hub = Hub { env, github };
        hub.env.write("README.md", "A project\n");
        hub.commit("Begin");
        let bare = bare.to_str().unwrap();
        hub.env.git(&["init", "-q", "--bare", bare]);
        let url = "https://github.com/owner/repo.git";
        hub.env.git(&["remote", "add", "origin", url]);
        hub.env.git(&["config", "remote.origin.pushurl", bare]);
        hub.env.git(&["push", "-q", "origin", "main"]);
        hub.env.git(&["switch", "-q", "-c", BRANCH]);
        hub
    }

    pub fn commit(&self, message: &str) -> String {
        self.env.git(&["add", "-A"]);
        let (name, mail) = ("user.name=T", "user.email=t@localhost");
        self.env.git(&[
            "-c", name, "-c", mail, "commit", "-q", "--allow-empty", "-m", message,
        ]);
        self.head()
    }

    pub fn push(&self) {
        self.env.git(&["push", "-q", "origin", BRANCH]);
    }

    pub fn head(&self) -> String {
        self.env.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// The commit of the branch that was pushed.
    pub fn pushed(&self) -> Option<String> {
        let refs = self.env.outside("origin.git").join("refs/heads");
        let commit = fs::read_to_string(refs.join(BRANCH)).ok()?;
        Some(commit.trim().to_owned())
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.env.command(args);
        command.envs(self.vars());
        command
    }

    /// What leads `gh` to the scripted GitHub.
    pub fn vars(&self) -> Vec<(&'static str, String)> {
        let place = |name: &str| self.env.outside(name).to_str().unwrap().to_owned();
        vec![
            ("GH_CONFIG_DIR", place("gh")),
            ("GH_TOKEN", "dummy".into()),
            ("TMPDIR", place("tmp")),
            ("RALPH_PR_POLL_INTERVAL", "20ms".into()),
        ]
    }

    /// An agent in a session does this with its own hands.
    pub fn works(&self, parts: &[&str]) {
        let _ = self.env.untrusted(&["trust", "--yes"]).output();
        let done = Command::new("sh")
            .arg("-ec")
            .arg(parts.join("\n"))
            .current_dir(&self.env.root)
            .envs(self.vars())
            .env("RALPH", RALPH)
            .env("HOME", self.env.root.parent().unwrap())
            .status();
        assert!(done.unwrap().success(), "{parts:?}");
    }

    pub fn ralph(&self, args: &[&str]) -> Done {
        Done::of(&self.command(args).output().unwrap())
    }

    /// `ralph run --json` with an agent that is a shell script: one piece for
    /// each turn.
    pub fn run(&self, turns: &[&str], more: &[&str]) -> (Done, Vec<Value>) {
        let agent = self.agent(turns);
        let args: Vec<&str> = ["run", "--json", "--agent-cmd", &agent]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let done = self.ralph(&args);
        let events = done.events();
        (done, events)
    }

    /// A command line for such an agent. `$RALPH` is the program under test.
    pub fn agent(&self, turns: &[&str]) -> String {
        let mut script = format!("set -e\nRALPH={RALPH}\ncat > /dev/null\n");
        script.push_str("case $RALPH_ITERATION in\n");
        for (number, turn) in turns.iter().enumerate() {
            script.push_str(&format!("{})\n{turn}\n;;\n", number + 1));
        }
        script.push_str("*) echo nothing more ;;\nesac\n");
        let path = self.env.outside("agent.sh");
        fs::write(&path, script).unwrap();
        format!("sh {}", path.display())
    }

    /// What the prompt of a turn said.
    pub fn prompt(&self, turn: u32) -> String {
        let name = format!("turn-{turn:04}.prompt.md");
        let mut found = Vec::new();
        find(&self.env.state("runs"), &name, &mut found);
        fs::read_to_string(found.first().unwrap()).unwrap()
    }

    /// A directory with `git` and what a shell needs, and without `gh`.
    pub fn path_without_gh(&self) -> PathBuf {
        let dir = self.env.outside("bin");
        fs::create_dir_all(&dir).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let git = std::env::split_paths(&path)
            .map(|dir| dir.join("git"))
            .find(|path| path.is_file())
            .unwrap();
        let _ = std::os::unix::fs::symlink(git, dir.join("git"));
        dir
    }
}

fn find(dir: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, name, found);
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
}

/// What names of events say about pull request, gate and CI, in order.
pub fn story(events: &[Value]) -> Vec<String> {
    let told = |event: &Value| {
        let name = event["event"].as_str()?;
        let more = match name {
            "iteration_start" => return Some(format!("turn {}", event["iteration"])),
            "gate_open" => event["reason"].as_str().map(str::to_owned),
            "ci_failed" => event["reason"].as_str().map(str::to_owned),
            "forge_trouble" => event["reason"].as_str().map(str::to_owned),
            "ci_poll" => event["ci"].as_str().map(str::to_owned),
            "pr_merged" => event["by"].as_str().map(str::to_owned),
            "loop_end" => Some(format!(
                "{}{}",
                event["outcome"].as_str()?,
                event["reason"]
                    .as_str()
                    .map(|r| format!(" {r}"))
                    .unwrap_or_default()
            )),
            "pr_missing" | "pr_found" | "pr_created" | "pushed" | "ci_rebound" | "ci_rerun"
            | "ci_flaky" | "ci_passed" | "promise_rejected" | "branch_deleted" => None,
            _ => return None,
        };
        Some(more.map_or_else(|| name.to_owned(), |more| format!("{name} {more}")))
    };
    let mut told: Vec<String> = events.iter().filter_map(told).collect();
    // How often the same was seen in a row depends on the machine.
    told.dedup();
    told
}
