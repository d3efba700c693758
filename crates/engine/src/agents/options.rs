//! What an agent is started with, and how that becomes an invocation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::usage::{Usage, Usd};

use super::environment::NESTED;

/// Everything that can be asked of a known client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The program, if it is not the usual one.
    pub program: String,
    /// Arguments added to our own.
    pub args: Vec<String>,
    pub model: String,
    pub permissions: Permissions,
    /// The person said that the client may go without its permission questions
    /// although nothing of ours stands in the way (LOOP-03).
    pub allow_unsafe: bool,
    pub session: Session,
    /// Passed on where the client has a flag for it.
    pub max_turns: Option<u32>,
    pub max_cost: Option<Usd>,
    /// The hooks, plugins and MCP servers of the user's own configuration are
    /// wanted too (pain 23).
    pub user_config: bool,
    /// Our guard, where it rides along.
    pub hooks: Option<HookWiring>,
}

/// How much the client may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permissions {
    /// Everything, if a guard is in the way or the person said so; else as the
    /// client is set up.
    #[default]
    Auto,
    /// As the client is set up.
    Default,
    /// Edit files.
    Edit,
    /// Look, and change nothing.
    Plan,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Session {
    #[default]
    Fresh,
    Resume {
        id: String,
        /// What the session had used up, as its last turn told: some clients
        /// count on from there.
        used: Usage,
    },
}

impl Session {
    pub(super) fn used(&self) -> Option<Usage> {
        match self {
            Session::Fresh => None,
            Session::Resume { used, .. } => Some(*used),
        }
    }
}

/// How a client is told to ask our guard before each tool call, for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookWiring {
    /// This program.
    pub program: PathBuf,
    /// Where the person's state is: the settings of a repository may set
    /// variables for hooks.
    pub state: PathBuf,
    pub timeout: Duration,
    /// Whether a failure of the hook keeps the tool from running, where the
    /// client can be told so.
    pub fail_closed: bool,
}

impl HookWiring {
    pub(super) fn args(&self, host: &str) -> [String; 6] {
        let state = self.state.to_string_lossy();
        ["hook", "--host", host, "--state", &state, "pre-tool-use"].map(str::to_owned)
    }

    /// For clients that give the command to a shell.
    pub(super) fn shell_line(&self, host: &str) -> String {
        let program = self.program.to_string_lossy();
        let args = self.args(host);
        let words = std::iter::once(program.as_ref()).chain(args.iter().map(String::as_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

impl Options {
    /// What the client is allowed; nothing where it needs not ask at all. That
    /// takes a guard in the way, or the word of the person.
    pub(super) fn granted(&self) -> Option<Permissions> {
        match self.permissions {
            Permissions::Auto if self.hooks.is_some() || self.allow_unsafe => None,
            Permissions::Auto => Some(Permissions::Default),
            other => Some(other),
        }
    }

    pub fn skips_permissions(&self) -> bool {
        self.granted().is_none()
    }
}

/// What an agent is started with. Nothing of it passes a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub env_remove: Vec<OsString>,
    /// The prompt comes on standard input; otherwise that is empty.
    pub prompt_on_stdin: bool,
    /// Files of the run that must be there before.
    pub files: Vec<(PathBuf, String)>,
}

/// An invocation in the making.
#[derive(Debug)]
pub(super) struct Setup {
    invocation: Invocation,
    own_args: Vec<OsString>,
    prompt: PromptPlace,
}

#[derive(Debug)]
enum PromptPlace {
    Stdin,
    /// Behind all other arguments, and behind this flag.
    Argument(Option<&'static str>),
}

impl Setup {
    pub(super) fn new(options: &Options, usual: &str) -> Setup {
        let program = match options.program.as_str() {
            "" => usual,
            own => own,
        };
        Setup {
            invocation: Invocation {
                program: program.into(),
                env_remove: NESTED.iter().map(OsString::from).collect(),
                ..Invocation::default()
            },
            own_args: options.args.iter().map(OsString::from).collect(),
            prompt: PromptPlace::Stdin,
        }
    }

    pub(super) fn args<S: AsRef<str>>(&mut self, args: impl IntoIterator<Item = S>) {
        let args = args.into_iter().map(|arg| OsString::from(arg.as_ref()));
        self.invocation.args.extend(args);
    }

    pub(super) fn env(&mut self, name: &str, value: impl Into<OsString>) {
        self.invocation.env.push((name.into(), value.into()));
    }

    pub(super) fn file(&mut self, path: PathBuf, value: &serde_json::Value) {
        self.invocation.files.push((path, format!("{value:#}\n")));
    }

    pub(super) fn prompt_as_argument(mut self, flag: Option<&'static str>) -> Setup {
        self.prompt = PromptPlace::Argument(flag);
        self
    }

    pub(super) fn invocation(self, prompt_file: &Path, prompt: &str) -> Invocation {
        let mut invocation = self.invocation;
        invocation.args.extend(self.own_args);
        match self.prompt {
            PromptPlace::Stdin => invocation.prompt_on_stdin = true,
            PromptPlace::Argument(flag) => {
                invocation.args.extend(flag.map(OsString::from));
                let prompt = as_argument(prompt_file, prompt);
                invocation.args.push(prompt.into());
            }
        }
        invocation
    }
}

/// The system allows 128 KiB for one argument.
const MAX_ARGUMENT: usize = 100 * 1024;

/// The prompt as one argument: never taken for a flag, never too long.
fn as_argument(prompt_file: &Path, prompt: &str) -> String {
    if prompt.len() > MAX_ARGUMENT {
        let file = prompt_file.display();
        return format!("Read the file {file} and do what it says.");
    }
    match prompt.starts_with('-') {
        true => format!("\n{prompt}"),
        false => prompt.to_owned(),
    }
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_one_argument_whatever_it_holds() {
        let shown = |prompt: &str| as_argument(Path::new("/run/prompt.md"), prompt);
        assert_eq!(shown("do $(it) `now`"), "do $(it) `now`");
        assert_eq!(shown("--help"), "\n--help");
        assert_eq!(
            shown(&"x".repeat(MAX_ARGUMENT + 1)),
            "Read the file /run/prompt.md and do what it says."
        );
    }

    #[test]
    fn permissions_are_skipped_only_with_a_guard_or_the_person_s_word() {
        let hooks = Some(HookWiring {
            program: "/bin/ralph".into(),
            state: "/state".into(),
            timeout: Duration::from_secs(30),
            fail_closed: true,
        });
        for (hooks, allow_unsafe, skips) in [
            (None, false, false),
            (None, true, true),
            (hooks.clone(), false, true),
        ] {
            let options = Options {
                hooks,
                allow_unsafe,
                ..Options::default()
            };
            assert_eq!(options.skips_permissions(), skips);
        }
        for permissions in [Permissions::Default, Permissions::Edit, Permissions::Plan] {
            let options = Options {
                hooks: hooks.clone(),
                allow_unsafe: true,
                permissions,
                ..Options::default()
            };
            assert!(!options.skips_permissions());
        }
    }
}
