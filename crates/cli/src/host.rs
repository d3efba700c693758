//! The clients in whose sessions Ralph sits: one row of facts for each, beside
//! what they ask a hook about.

use strum::VariantArray;

/// The agent that asks.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
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

/// What is known of a client, recorded from it: see `docs/hooks.md`.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The variable in which it names its session.
    session: Option<&'static str>,
    /// The variable in which it names its project. Several set Claude's too,
    /// and an agent inherits those of the agent that started it.
    pub project: Option<&'static str>,
    /// Where it reads the hooks of a project.
    pub place: Place,
    /// Those of a person: the variable that names the directory, the one below
    /// the home directory without it, and the file.
    pub personal: Option<(Option<&'static str>, &'static str, &'static str)>,
    /// A file of its hooks has to say which version it is.
    pub needs_version: bool,
    /// Its file may hold comments and trailing commas; others pass over a file
    /// that does, in silence.
    pub reads_comments: bool,
    /// It passes over an element without a list of hooks inside: the older
    /// shape.
    pub nests_hooks: bool,
    /// What it calls its shell.
    pub shell: &'static str,
    /// Ours.
    pub entries: &'static [Entry],
    /// Every event that it has; it passes over others in silence, which is how
    /// hooks stay dead for months. Nothing where they are not known.
    pub events: &'static str,
    /// What an entry of a hook may say, where that is known.
    pub fields: &'static str,
}

/// Where an agent reads its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// JSON, in which entries are merged.
    Settings(&'static str),
    /// A program of the agent's own language, which is ours alone.
    Plugin(&'static str),
}

/// One hook of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As the agent calls it.
    pub event: &'static str,
    pub matcher: Option<&'static str>,
    pub verb: Event,
}

const fn entry(event: &'static str, matcher: &'static str, verb: Event) -> Entry {
    let matcher = Some(matcher);
    Entry {
        event,
        matcher,
        verb,
    }
}

const fn plain(event: &'static str, verb: Event) -> Entry {
    Entry {
        event,
        matcher: None,
        verb,
    }
}

const CLAUDE: Facts = Facts {
    session: Some("CLAUDE_CODE_SESSION_ID"),
    project: Some("CLAUDE_PROJECT_DIR"),
    place: Place::Settings(".claude/settings.json"),
    personal: Some((Some("CLAUDE_CONFIG_DIR"), ".claude", "settings.json")),
    needs_version: false,
    reads_comments: false,
    nests_hooks: true,
    shell: "Bash",
    // INST-03, and what else the guard has something to say about.
    entries: &[
        entry("PreToolUse", "Bash", Event::PreToolUse),
        entry("PreToolUse", "Write|Edit|Read", Event::PreToolUse),
        entry("PreToolUse", "WebFetch", Event::PreToolUse),
        entry(
            "PreToolUse",
            "^(MultiEdit|NotebookEdit|Glob|Grep|mcp__.*)$",
            Event::PreToolUse,
        ),
        entry("PostToolUse", "Write|Edit", Event::PostToolUse),
        // The client counts blocks in a row from the last tool call on,
        // whichever it was; so do we.
        entry(
            "PostToolUse",
            "Bash|MultiEdit|NotebookEdit",
            Event::PostToolUse,
        ),
        plain("Stop", Event::Stop),
        plain("SubagentStop", Event::SubagentStop),
        plain("UserPromptSubmit", Event::UserPromptSubmit),
        plain("SessionStart", Event::SessionStart),
        plain("SessionEnd", Event::SessionEnd),
    ],
    events: "PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification \
            UserPromptSubmit UserPromptExpansion SessionStart SessionEnd Stop StopFailure \
            SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch \
            PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted \
            Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove \
            InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay",
    fields: "type command args shell if timeout onFailure once async asyncRewake statusMessage \
            url headers allowedEnvVars prompt model server tool input",
};

const CODEX: Facts = Facts {
    session: None,
    project: None,
    place: Place::Settings(".codex/hooks.json"),
    personal: Some((Some("CODEX_HOME"), ".codex", "hooks.json")),
    // It calls every shell tool Bash, and every edit apply_patch.
    entries: &[
        plain("PreToolUse", Event::PreToolUse),
        entry("PostToolUse", "apply_patch", Event::PostToolUse),
        plain("Stop", Event::Stop),
        plain("SubagentStop", Event::SubagentStop),
        plain("UserPromptSubmit", Event::UserPromptSubmit),
        plain("SessionStart", Event::SessionStart),
        plain("SessionEnd", Event::SessionEnd),
    ],
    events: "PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart \
            SessionEnd UserPromptSubmit SubagentStart SubagentStop Stop",
    fields: "type command commandWindows timeout async statusMessage additionalContextLimit \
            server tool input",
    ..CLAUDE
};

const GEMINI: Facts = Facts {
    session: Some("GEMINI_SESSION_ID"),
    project: Some("GEMINI_PROJECT_DIR"),
    place: Place::Settings(".gemini/settings.json"),
    personal: Some((None, ".gemini", "settings.json")),
    reads_comments: true,
    shell: "run_shell_command",
    // It has no hook for subagents.
    entries: &[
        entry("BeforeTool", "*", Event::PreToolUse),
        entry("AfterTool", "write_file|replace", Event::PostToolUse),
        plain("AfterAgent", Event::Stop),
        plain("BeforeAgent", Event::UserPromptSubmit),
        plain("SessionStart", Event::SessionStart),
        plain("SessionEnd", Event::SessionEnd),
    ],
    events: "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel \
            BeforeToolSelection SessionStart SessionEnd PreCompress Notification",
    fields: "",
    ..CLAUDE
};

const COPILOT: Facts = Facts {
    session: None,
    project: Some("COPILOT_PROJECT_DIR"),
    place: Place::Settings(".github/hooks/ralph.json"),
    personal: Some((None, ".copilot", "hooks/ralph.json")),
    needs_version: true,
    nests_hooks: false,
    // Written in this way, its payloads and tools have the names of Claude's.
    entries: &[
        plain("PreToolUse", Event::PreToolUse),
        plain("PostToolUse", Event::PostToolUse),
        plain("Stop", Event::Stop),
        plain("SubagentStop", Event::SubagentStop),
        plain("UserPromptSubmit", Event::UserPromptSubmit),
        plain("SessionStart", Event::SessionStart),
        plain("SessionEnd", Event::SessionEnd),
    ],
    // Also with a capital letter: then the payload is Claude's.
    events: "sessionStart sessionEnd userPromptSubmitted userPromptTransformed preToolUse \
            postToolUse postToolUseFailure agentStop subagentStart subagentStop errorOccurred \
            preCompact permissionRequest notification stop userPromptSubmit",
    fields: "",
    ..CLAUDE
};

const CURSOR: Facts = Facts {
    session: None,
    project: None,
    place: Place::Settings(".cursor/hooks.json"),
    personal: Some((None, ".cursor", "hooks.json")),
    needs_version: true,
    nests_hooks: false,
    shell: "Shell",
    // Its stop hook can't hold it back, so that only the guard is of use there.
    entries: &[plain("preToolUse", Event::PreToolUse)],
    events: "sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart \
            subagentStop beforeShellExecution afterShellExecution beforeMCPExecution \
            afterMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt preCompact stop \
            afterAgentResponse afterAgentThought",
    fields: "",
    ..CLAUDE
};

const OPENCODE: Facts = Facts {
    session: None,
    project: None,
    place: Place::Plugin(".opencode/plugin/ralph.js"),
    personal: None,
    nests_hooks: false,
    entries: &[],
    events: "",
    fields: "",
    ..CLAUDE
};

impl Host {
    pub const ALL: &[Host] = Host::VARIANTS;

    pub fn facts(self) -> &'static Facts {
        match self {
            Host::Claude => &CLAUDE,
            Host::Codex => &CODEX,
            Host::Gemini => &GEMINI,
            Host::Copilot => &COPILOT,
            Host::Cursor => &CURSOR,
            Host::OpenCode => &OPENCODE,
        }
    }

    /// Our first entry for an event, as the agent calls it.
    pub fn event_name(self, verb: Event) -> &'static str {
        let mut entries = self.facts().entries.iter();
        let entry = entries.find(|entry| entry.verb == verb);
        entry.map_or("", |entry| entry.event)
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
        let id = std::env::var(self.facts().session?).ok();
        id.filter(|id| !id.is_empty())
    }
}

/// What the host asks about.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
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
    pub const ALL: &[Event] = Event::VARIANTS;
}
