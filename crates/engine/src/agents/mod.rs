//! The agents, one file each: options → invocation (plain data), and what
//! the agent prints → what it said.

mod claude;
mod custom;
mod scripted;

pub use scripted::MODE as SCRIPTED_MODE;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use custom::SplitError;

/// What an agent is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub env_remove: Vec<OsString>,
    /// The prompt comes on standard input; otherwise that is empty.
    pub prompt_on_stdin: bool,
}

/// What an agent said in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The final assistant text: the only place where a promise counts.
    pub text: String,
    pub error: Option<HeardError>,
}

/// The agent's own word that the turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeardError {
    Said(String),
    /// It should have told how the turn went, and did not.
    NoResult,
}

/// Reads the agent's standard output as it comes, in constant memory.
pub trait Listener: Send {
    fn hear(&mut self, chunk: &[u8]);
    fn heard(&mut self) -> Heard;
}

/// An agent that can be driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    Custom(custom::CommandLine),
    Claude(claude::Options),
    /// The scripted agent of the demo: this program, in a hidden mode.
    Scripted {
        program: PathBuf,
    },
}

/// Agents that people choose by name. The scripted one is not for their
/// projects: it writes what the demo needs.
pub const NAMES: [&str; 2] = ["claude", "custom"];

impl Agent {
    pub fn custom(line: &str) -> Result<Agent, SplitError> {
        custom::CommandLine::split(line).map(Agent::Custom)
    }

    pub fn claude(program: &str, args: Vec<String>, model: &str, skip_permissions: bool) -> Agent {
        Agent::Claude(claude::Options {
            program: program.into(),
            args,
            model: model.into(),
            skip_permissions,
        })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Agent::Custom(_) => "custom",
            Agent::Claude(_) => "claude",
            Agent::Scripted { .. } => "scripted",
        }
    }

    pub fn invocation(&self, prompt_file: &Path) -> Invocation {
        match self {
            Agent::Custom(line) => line.invocation(prompt_file),
            Agent::Claude(options) => options.invocation(),
            Agent::Scripted { program } => scripted::invocation(program),
        }
    }

    pub fn listener(&self) -> Box<dyn Listener> {
        match self {
            Agent::Custom(_) | Agent::Scripted { .. } => Box::new(custom::PlainText::default()),
            Agent::Claude(_) => Box::new(claude::Stream::default()),
        }
    }

    /// The command as a person would write it, for `--dry-run`.
    pub fn command_line(&self) -> String {
        let shown = self.invocation(Path::new("{prompt_file}"));
        let words = std::iter::once(&shown.program).chain(&shown.args);
        let mut line = words
            .map(|w| quoted(&w.to_string_lossy()))
            .collect::<Vec<_>>()
            .join(" ");
        if shown.prompt_on_stdin {
            line.push_str(" < {prompt_file}");
        }
        line
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The program that a name means: a path from the project or from here, or
/// the first match on `PATH`.
pub fn find_program(name: &std::ffi::OsStr, root: &Path) -> Option<PathBuf> {
    places(name, root).into_iter().find(|p| is_program(p))
}

/// The file that would be the program, could it be run.
pub fn find_file(name: &std::ffi::OsStr, root: &Path) -> Option<PathBuf> {
    let found = places(name, root).into_iter().find(|p| p.is_file())?;
    // Without the `.` of `./agent` in the middle.
    Some(found.components().collect())
}

/// The child starts in the project, so that a name must not depend on where
/// this program was started.
fn places(name: &std::ffi::OsStr, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(name);
    let here = std::env::current_dir().unwrap_or_default();
    if path.components().count() > 1 {
        return vec![root.join(path), here.join(path)];
    }
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    on_path(&dirs, path, &here)
}

fn on_path(dirs: &std::ffi::OsStr, name: &Path, here: &Path) -> Vec<PathBuf> {
    std::env::split_paths(dirs)
        .flat_map(|dir| candidates(&here.join(dir), name))
        .collect()
}

#[cfg(not(windows))]
fn candidates(dir: &Path, name: &Path) -> Vec<PathBuf> {
    vec![dir.join(name)]
}

#[cfg(windows)]
fn candidates(dir: &Path, name: &Path) -> Vec<PathBuf> {
    ["", "exe", "cmd", "bat"]
        .iter()
        .map(|ext| dir.join(name).with_extension(ext))
        .collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything about an invocation, one thing per line.
    fn shown(agent: &Agent) -> String {
        let invocation = agent.invocation(Path::new("/run/a b/prompt.md"));
        assert!(invocation.env.is_empty());
        let mut lines = vec![invocation.program.clone()];
        lines.extend(invocation.args);
        lines.extend(invocation.env_remove.iter().map(|name| {
            let mut line = OsString::from("without ");
            line.push(name);
            line
        }));
        if invocation.prompt_on_stdin {
            lines.push("< prompt".into());
        }
        let lines: Vec<_> = lines.iter().map(|l| l.to_string_lossy()).collect();
        lines.join("\n")
    }

    fn check(agent: &Agent, name: &str, want: &[&str], command_line: &str) {
        assert_eq!(shown(agent), want.join("\n"));
        assert_eq!(agent.command_line(), command_line);
        assert_eq!(agent.name(), name);
        assert_eq!(NAMES.contains(&name), name != "scripted");
    }

    #[test]
    fn claude_is_called_headless() {
        check(
            &Agent::claude("claude", Vec::new(), "", false),
            "claude",
            &[
                "claude",
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "without CLAUDECODE",
                "without CLAUDE_CODE_ENTRYPOINT",
                "without CLAUDE_CODE_SESSION_ID",
                "< prompt",
            ],
            "claude -p --output-format stream-json --verbose < {prompt_file}",
        );
    }

    #[test]
    fn claude_gets_a_model_more_arguments_and_its_permissions() {
        let args = vec!["--max-turns".into(), "5".into(), "it's".into()];
        check(
            &Agent::claude("/opt/my claude", args, "opus", true),
            "claude",
            &[
                "/opt/my claude",
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--dangerously-skip-permissions",
                "--model",
                "opus",
                "--max-turns",
                "5",
                "it's",
                "without CLAUDECODE",
                "without CLAUDE_CODE_ENTRYPOINT",
                "without CLAUDE_CODE_SESSION_ID",
                "< prompt",
            ],
            r"'/opt/my claude' -p --output-format stream-json --verbose --dangerously-skip-permissions --model opus --max-turns 5 'it'\''s' < {prompt_file}",
        );
    }

    #[test]
    fn a_custom_agent_is_called_as_it_is_written() {
        check(
            &Agent::custom("prog --file={prompt_file} 'two words'").unwrap(),
            "custom",
            &["prog", "--file=/run/a b/prompt.md", "two words"],
            "prog --file={prompt_file} 'two words'",
        );
        check(
            &Agent::custom("prog -").unwrap(),
            "custom",
            &["prog", "-", "< prompt"],
            "prog - < {prompt_file}",
        );
    }

    #[test]
    fn the_scripted_agent_is_this_program() {
        let program = PathBuf::from("/bin/ralph");
        check(
            &Agent::Scripted { program },
            "scripted",
            &["/bin/ralph", "__agent", "< prompt"],
            "/bin/ralph __agent < {prompt_file}",
        );
    }

    #[cfg(unix)]
    #[test]
    fn relative_directories_on_the_path_are_meant_from_here() {
        let path = "/usr/bin:node_modules/.bin".as_ref();
        let places = on_path(path, Path::new("tool"), Path::new("/p/sub"));
        let want = ["/usr/bin/tool", "/p/sub/node_modules/.bin/tool"];
        assert_eq!(places, want.map(PathBuf::from));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_found_by_path_or_by_name() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for (name, mode) in [("tool", 0o755), ("plain", 0o644)] {
            std::fs::write(bin.join(name), "").unwrap();
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(bin.join(name), permissions).unwrap();
        }
        let find = |name: &str| find_program(name.as_ref(), dir.path());
        assert_eq!(find("bin/tool"), Some(dir.path().join("bin/tool")));
        assert_eq!(find("./bin/tool"), Some(dir.path().join("./bin/tool")));
        let absolute = bin.join("tool");
        assert_eq!(find(absolute.to_str().unwrap()), Some(absolute));
        for nothing in ["bin/plain", "bin/nobody", "bin", "tool", "", "./"] {
            assert_eq!(find(nothing), None, "{nothing}");
        }
        assert!(find("sh").is_some_and(|sh| sh.is_absolute()));
    }
}
