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
    /// The agent's own word that the turn failed.
    pub error: Option<String>,
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

/// Agents that can be chosen by name.
pub const NAMES: [&str; 3] = ["claude", "custom", "scripted"];

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
    places(name, root).into_iter().find(|p| p.is_file())
}

fn places(name: &std::ffi::OsStr, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        let here = std::env::current_dir().unwrap_or_default();
        return vec![root.join(path), here.join(path)];
    }
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&dirs)
        .flat_map(|dir| candidates(&dir, path))
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
