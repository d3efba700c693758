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
pub mod hooks;
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

use ralph_core::machine::{Allowance, BudgetKind};

pub use custom::SplitError;
pub use environment::EnvFilter;
pub(crate) use environment::person_path;
pub use event::{AgentError, AgentEvent, Denial, EndReason, Heard, Tell};
pub use find::{find_file, find_program};
pub use known::{Client, Facts, Proof};
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
            Agent::Known(client, _) => client.into_str(),
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

    /// The agent as one call needs it: within what it may use, as far as the
    /// client can keep to that itself, and in the session that it goes on with.
    pub fn for_call(&self, allowance: Allowance, session: Option<Session>) -> Agent {
        let mut agent = self.clone();
        if let Agent::Known(client, options) = &mut agent {
            if client.facts().budget && !allowance.cost.is_zero() {
                options.max_cost = Some(allowance.cost);
            }
            if let Some(session) = session.filter(|_| client.facts().resume) {
                options.session = session;
            }
        }
        agent
    }

    /// The agent as a role needs it. A custom command decides for itself.
    pub fn in_role(&self, model: Option<&str>, permissions: Option<Permissions>) -> Agent {
        let mut agent = self.clone();
        if let Agent::Known(_, options) = &mut agent {
            if let Some(model) = model {
                options.model = model.into();
            }
            options.permissions = permissions.unwrap_or(options.permissions);
        }
        agent
    }

    /// Our guard rides along with it.
    pub fn is_guarded(&self) -> bool {
        matches!(self, Agent::Known(_, options) if options.hooks.is_some())
    }

    /// How it is seen that the guard is asked, where it rides along.
    pub fn proof(&self) -> Option<Proof> {
        match self {
            Agent::Known(client, options) if options.hooks.is_some() => client.proof(),
            _ => None,
        }
    }

    /// Whether it says how much of this it used.
    pub fn tells(&self, kind: BudgetKind) -> bool {
        match (self, kind) {
            (Agent::Known(client, _), BudgetKind::Cost) => client.facts().tells_cost,
            (Agent::Known(client, _), BudgetKind::Tokens) => client.facts().tells_tokens,
            (Agent::Custom(_) | Agent::Scripted { .. }, _) => false,
        }
    }

    /// Patterns of the variables that it logs in with.
    pub fn credentials(&self) -> &'static [&'static str] {
        match self {
            Agent::Custom(_) | Agent::Scripted { .. } => &[],
            Agent::Known(client, _) => client.facts().credentials,
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
