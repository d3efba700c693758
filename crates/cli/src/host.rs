//! The clients in whose sessions Ralph sits, what they ask a hook about, and
//! the variables by which they name a session and a project.

/// The agent that asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Host {
    /// Also whoever says nothing else: the same exit code blocks everywhere.
    #[default]
    Claude,
    Codex,
    Gemini,
    Copilot,
    Cursor,
    OpenCode,
}

impl Host {
    pub const ALL: [Host; 6] = [
        Host::Claude,
        Host::Codex,
        Host::Gemini,
        Host::Copilot,
        Host::Cursor,
        Host::OpenCode,
    ];

    pub fn from_name(name: &str) -> Option<Host> {
        Host::ALL.into_iter().find(|host| host.into_str() == name)
    }

    /// The client whose command this process is, as far as variables say.
    pub fn of_environment() -> Host {
        let has = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        match () {
            () if has("CLAUDE_CODE_SESSION_ID") => Host::Claude,
            () if has("GEMINI_SESSION_ID") => Host::Gemini,
            () if has("COPILOT_CLI") => Host::Copilot,
            () => Host::Claude,
        }
    }

    /// The session that this process was started in.
    pub fn session_of_environment(self) -> Option<String> {
        let id = std::env::var(self.variables().0?).ok();
        id.filter(|id| !id.is_empty())
    }

    /// The variable in which it names its project. Several set Claude's too,
    /// and an agent inherits those of the agent that started it.
    pub fn project_variable(self) -> Option<&'static str> {
        self.variables().1
    }

    /// The variables of its session and its project.
    fn variables(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Host::Claude => (Some("CLAUDE_CODE_SESSION_ID"), Some("CLAUDE_PROJECT_DIR")),
            Host::Gemini => (Some("GEMINI_SESSION_ID"), Some("GEMINI_PROJECT_DIR")),
            Host::Copilot => (None, Some("COPILOT_PROJECT_DIR")),
            Host::Codex | Host::Cursor | Host::OpenCode => (None, None),
        }
    }
}

/// What the host asks about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Event {
    #[default]
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    Stop,
    SubagentStop,
    SessionStart,
    SessionEnd,
}

impl Event {
    pub const ALL: [Event; 7] = [
        Event::PreToolUse,
        Event::PostToolUse,
        Event::UserPromptSubmit,
        Event::Stop,
        Event::SubagentStop,
        Event::SessionStart,
        Event::SessionEnd,
    ];

    pub fn from_name(name: &str) -> Option<Event> {
        Event::ALL
            .into_iter()
            .find(|event| event.into_str() == name)
    }
}
