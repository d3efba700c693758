//! A hermetic place to run `ralph` in.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A throwaway project. Nothing of the person's own environment reaches it.
pub struct TestEnv {
    dir: TempDir,
    pub root: PathBuf,
}

/// What a run of `ralph` gave.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Files with which a project may bring along what needs trust.
const BRINGS: [&str; 16] = [
    ".ralph/config.toml", ".ralph/flows", ".ralphrc", ".skillpackrc", ".ideal/worktree.yaml",
    ".trellis/worktree.yaml", ".claude", ".codex", ".gemini", ".cursor", ".opencode",
    ".github/hooks", ".mcp.json", "openspec", "prd.json", "specs",
];

pub const RALPH: &str = env!("CARGO_BIN_EXE_ralph");

#[cfg(unix)]
fn in_memory() -> TempDir {
    /// A container may have a few megabytes there.
    const ROOM: u64 = 2 << 30;
    let memory = Path::new("/dev/shm");
    let has_room = rustix::fs::statvfs(memory).is_ok_and(|at| at.f_bavail * at.f_frsize > ROOM);
    let there = has_room.then(|| TempDir::new_in(memory).ok()).flatten();
    there.unwrap_or_else(|| TempDir::new().unwrap())
}

#[cfg(not(unix))]
fn in_memory() -> TempDir {
    TempDir::new().unwrap()
}

impl TestEnv {
    /// An empty directory that is no Git project.
    pub fn bare() -> TestEnv {
        TestEnv::at(TempDir::new().unwrap())
    }

    fn at(dir: TempDir) -> TestEnv {
        let root = dir.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        TestEnv { dir, root }
    }

    /// An empty Git project.
    pub fn new() -> TestEnv {
        TestEnv::bare().with_git()
    }

    /// The same in memory, where there is room for it: for tests of hundreds
    /// of runs, whose wait for the disk shows nothing.
    pub fn in_memory() -> TestEnv {
        TestEnv::at(in_memory()).with_git()
    }

    fn with_git(self) -> TestEnv {
        let env = self;
        env.git(&["init", "-q", "-b", "main"]);
        env
    }

    /// A Git project with a `tasks.md` of so many open tasks.
    pub fn with_tasks(count: usize) -> TestEnv {
        let env = TestEnv::new();
        env.write("tasks.md", &tasks(count));
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "Plan"]);
        env
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// A file of Ralph's own state, which is kept outside of the project.
    pub fn state(&self, name: &str) -> PathBuf {
        self.layout().state_dir().join(name)
    }

    /// The same, for whatever takes a path in the project.
    pub fn state_name(&self, name: &str) -> String {
        self.state(name).to_str().unwrap().to_owned()
    }

    pub fn layout(&self) -> Layout {
        let home = StateHome::at(self.outside(".local/state/ralph"));
        Layout::new(&self.root, &home)
    }

    /// Beside the project, so that it does not count as work.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command line for an agent that plays these turns.
    pub fn agent(&self, turns: &[Value]) -> String {
        let script = self.outside("script.json");
        fs::write(&script, json!({ "turns": turns }).to_string()).unwrap();
        format!("{RALPH} __agent {}", script.display())
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(&self.root)
            // A bare machine knows nobody.
            .args(["-c", "user.name=T", "-c", "user.email=t@localhost"])
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// `ralph` with a clean environment, in English, in a project that a
    /// person has trusted with all that it brings by now.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let brings = |name: &str| self.path(name).exists();
        // A test may have put a pipe there.
        let tasks = self.path("tasks.md");
        let tasks = tasks.is_file().then(|| fs::read_to_string(tasks));
        let tasks = tasks.and_then(Result::ok).unwrap_or_default();
        if BRINGS.iter().any(|name| brings(name)) || tasks.contains("verify") {
            // What is wrong with it is told by the command itself.
            let _ = self.untrusted(&["trust", "--yes"]).output();
            let mut words = args.iter().map(AsRef::as_ref);
            if let (Some(_), Some(file)) = (words.find(|word| *word == "--tasks"), words.next()) {
                let words = [
                    OsStr::new("trust"),
                    "--yes".as_ref(),
                    "--tasks".as_ref(),
                    file,
                ];
                let _ = self.untrusted(&words).output();
            }
        }
        self.untrusted(args)
    }

    /// The same where nobody has trusted anything.
    pub fn untrusted<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(RALPH);
        command
            .current_dir(&self.root)
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            // Retries after an error need no patience here.
            .env("RALPH_AGENT_RETRY_INITIAL", "0")
            .stdin(Stdio::null());
        // Experiments are what a few tests are about, and time in all others.
        // A hook believes no variable, and others only look.
        let looks = |verb: &OsStr| {
            ["hook", "config", "trust"]
                .iter()
                .any(|other| verb == *other)
        };
        if !args.first().is_some_and(|verb| looks(verb.as_ref())) {
            command
                .env("RALPH_EVIDENCE_LEVEL", "claimed")
                .env("RALPH_SANDBOX_MODE", "off");
        }
        command
    }

    /// The same command where the system's resolver knows these names too: in
    /// namespaces of its own, since no test may change the machine's.
    #[cfg(target_os = "linux")]
    pub fn with_hosts(&self, command: &Command, hosts: &str) -> Command {
        let file = self.outside("hosts");
        fs::write(&file, format!("127.0.0.1 localhost\n{hosts}")).unwrap();
        let mut inside = Command::new("unshare");
        inside
            .args(["-rm", "sh", "-c"])
            .arg("mount --bind \"$0\" /etc/hosts && exec \"$@\"")
            .arg(file)
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(&self.root)
            .env_clear()
            .stdin(Stdio::null());
        for (name, value) in command.get_envs() {
            inside.env(name, value.unwrap_or_default());
        }
        inside
    }

    /// Sessions ask for no more than a green check.
    pub fn without_experiments(&self) {
        self.write(".ralph/config.toml", "[evidence]\nlevel = \"claimed\"\n");
    }

    pub fn ralph<S: AsRef<OsStr>>(&self, args: &[S]) -> Done {
        Done::of(&self.command(args).output().unwrap())
    }

    /// `ralph run --json` with a scripted agent; the events, last the end.
    pub fn run_script(&self, turns: &[Value], more: &[&str]) -> (Done, Vec<Value>) {
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

    /// Every file below the project with its bytes, except Git's own.
    pub fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.root, &mut files);
        files.sort();
        files
    }
}

impl Done {
    pub fn of(output: &Output) -> Done {
        Done {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn events(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .unwrap_or_else(|e| panic!("{e}: {line}\n{}", self.stderr))
            })
            .collect()
    }
}

/// The names of events, without those that come in every turn.
pub fn names(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .map(|e| e["event"].as_str().unwrap().to_owned())
        .collect()
}

pub fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["event"] == name).collect()
}

/// A spec-kit task list with one phase.
pub fn tasks(count: usize) -> String {
    let mut text = String::from("# Tasks\n\n## Phase 1: Work\n\n");
    for i in 1..=count {
        text.push_str(&format!("- [ ] T{i:03} Do thing {i}\n"));
    }
    text
}

fn collect(dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.push((path.clone(), Vec::new()));
            collect(&path, files);
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
}

/// A script that can be started by its name.
pub fn make_executable(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = path;
}
