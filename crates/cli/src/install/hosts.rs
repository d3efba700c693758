//! How an entry of a hook is written for each agent.

use std::path::Path;
use std::time::Duration;

use ralph_core::config::Settings;
use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::{Entry, Event};
use serde_json::{Value, json};

use super::program;

/// What the entries depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// As a word for a shell.
    pub program: String,
    pub guard: bool,
    /// They stand in a file of the team, which others have without Ralph.
    pub shared: bool,
    /// For hooks that may have to verify (VERI-17).
    pub gate: Duration,
    /// And for the one that may have to wait for CI besides.
    pub wait: Duration,
}

/// What a hook that verifies may take: every command its time, and some to
/// spare (VERI-17).
pub fn gate_time(settings: &Settings) -> Duration {
    const MARGIN: Duration = Duration::from_secs(30);
    let commands = u32::try_from(settings.verify.commands.len()).unwrap_or(u32::MAX);
    settings
        .verify
        .command_timeout
        .saturating_mul(commands.max(1))
        .saturating_add(MARGIN)
}

/// The cap that lets a loop reach its limit (STOP-08); 0 is none.
pub fn needed_cap(settings: &Settings) -> u32 {
    match settings.limits.max_iterations {
        0 => 0,
        limit => limit.saturating_add(1),
    }
}

impl Wanted {
    /// What stands in the lists of the agent's events: event and element.
    pub fn elements(&self, host: Client) -> Vec<(&'static str, Value)> {
        let entries = host.hooks().entries.iter();
        entries
            .filter(|entry| self.guard || entry.verb != Event::PreToolUse)
            .map(|entry| (entry.event, self.element(host, entry)))
            .collect()
    }

    pub fn command(&self, host: Client, verb: Event) -> String {
        let (program, name) = (&self.program, host.into_str());
        let command = format!("{program} hook --host {name} {}", verb.into_str());
        let command = match self.shared {
            true => format!("{}{command}", program::unless_missing(program, host)),
            false => command,
        };
        match verb {
            // It has to know when its client would end it.
            Event::Stop => {
                let seconds = self.timeout(host, verb).as_secs();
                format!("{command} --within {seconds}")
            }
            _ => command,
        }
    }

    fn element(&self, host: Client, entry: &Entry) -> Value {
        let command = self.command(host, entry.verb);
        let seconds = self.timeout(host, entry.verb).as_secs();
        let hook = match host {
            Client::Gemini => json!({
                "type": "command",
                "name": format!("ralph-{}", entry.verb.into_str()),
                "command": command,
                // The only one that counts in milliseconds.
                "timeout": seconds * 1000,
            }),
            Client::Copilot => {
                return json!({
                    "type": "command",
                    "bash": command,
                    "powershell": command,
                    "timeoutSec": seconds,
                });
            }
            Client::Cursor => return json!({"command": command, "timeout": seconds}),
            Client::Claude | Client::Codex | Client::OpenCode | Client::Amp => {
                json!({"type": "command", "command": command, "timeout": seconds})
            }
        };
        match entry.matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
            None => json!({"hooks": [hook]}),
        }
    }

    pub fn timeout(&self, host: Client, verb: Event) -> Duration {
        match verb {
            Event::Stop => self.gate.saturating_add(self.wait),
            // A role that has answered may be the last of its task.
            Event::SubagentStop | Event::PostToolUse if host == Client::Claude => self.gate,
            Event::SubagentStop => self.gate,
            // A loop may begin with a look at CI.
            Event::UserPromptSubmit => Duration::from_secs(60),
            // Codex allows no more.
            Event::SessionEnd if host == Client::Codex => Duration::from_secs(3),
            _ => Duration::from_secs(10),
        }
    }
}

fn line(hook: &Value) -> Option<&str> {
    hook.get("command").or_else(|| hook.get("bash"))?.as_str()
}

/// The command lines in an element of an event's list, whoever wrote it, with
/// the place of each below the element.
pub fn commands(element: &Value) -> Vec<(Option<usize>, &str)> {
    match element.get("hooks").and_then(Value::as_array) {
        Some(hooks) => hooks
            .iter()
            .enumerate()
            .filter_map(|(i, hook)| Some((Some(i), line(hook)?)))
            .collect(),
        None => line(element).map(|line| (None, line)).into_iter().collect(),
    }
}

/// Whether a command line calls this very program, or the one of its name
/// that the person's own path leads to.
pub fn calls_this(line: &str, host: Client) -> bool {
    let Some((program, _)) = program::called_by(line, host) else {
        return false;
    };
    let own = program::own().map(|own| program::quoted(&own.to_string_lossy()));
    program == "ralph" || own.as_deref() == Some(program)
}

/// Whether the program of such a line can't come with the project.
pub fn is_outside(line: &str, host: Client, root: &Path) -> bool {
    let Some((program, _)) = program::called_by(line, host) else {
        return false;
    };
    let path = Path::new(program.trim_matches(['\'', '"']));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    program == "ralph" || (path.is_absolute() && !real(path).starts_with(real(root)))
}

/// Whether an element calls us for this agent, and nobody else.
pub fn is_ours(element: &Value, host: Client) -> bool {
    let lines = commands(element);
    let ours = |line: &str| program::called_by(line, host).is_some();
    !lines.is_empty() && lines.iter().all(|(_, line)| ours(line))
}
