//! The agents, one file each: options → invocation (plain data), and what
//! the agent prints → what it said.

mod amp;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod custom;
mod environment;
mod event;
mod find;
mod gemini;
mod json;
mod known;
mod lines;
mod listener;
mod opencode;
mod options;
mod probe;
mod scripted;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use custom::SplitError;
pub use environment::EnvFilter;
pub use event::{AgentError, AgentEvent, Denial, EndReason, Heard, Tell};
pub use find::{find_file, find_program};
pub use known::{Capabilities, Client};
pub use listener::Listener;
pub use options::{HookWiring, Invocation, Options, Permissions, Session};
pub use probe::{Installed, installed};
pub use scripted::MODE as SCRIPTED_MODE;

use options::quoted;

/// An agent that can be driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    Custom(custom::CommandLine),
    Known(Client, Box<Options>),
    /// The scripted agent of the demo: this program, in a hidden mode.
    Scripted {
        program: PathBuf,
    },
}

impl Agent {
    pub fn custom(line: &str) -> Result<Agent, SplitError> {
        custom::CommandLine::split(line).map(Agent::Custom)
    }

    pub fn known(client: Client, options: Options) -> Agent {
        Agent::Known(client, Box::new(options))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Agent::Custom(_) => "custom",
            Agent::Known(client, _) => client.name(),
            Agent::Scripted { .. } => "scripted",
        }
    }

    /// What it is started with. The prompt stands in the file, in the folder of
    /// the run, and is given as an argument to those that take it so only.
    pub fn invocation(&self, prompt_file: &Path, prompt: &str) -> Invocation {
        let dir = prompt_file.parent().unwrap_or(Path::new(""));
        match self {
            Agent::Custom(line) => line.invocation(prompt_file),
            Agent::Known(client, options) => {
                client.setup(options, dir).invocation(prompt_file, prompt)
            }
            Agent::Scripted { program } => scripted::invocation(program),
        }
    }

    pub fn listener(&self) -> Listener {
        match self {
            Agent::Custom(_) | Agent::Scripted { .. } => Listener::plain(),
            Agent::Known(client, options) => client.listener(&options.session),
        }
    }

    /// Patterns of the variables that it logs in with.
    pub fn credentials(&self) -> &'static [&'static str] {
        match self {
            Agent::Custom(_) | Agent::Scripted { .. } => &[],
            Agent::Known(client, _) => client.credentials(),
        }
    }

    /// The command as a person would write it, for `--dry-run`.
    pub fn command_line(&self) -> String {
        let shown = self.invocation(Path::new("{prompt_file}"), "{prompt}");
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
