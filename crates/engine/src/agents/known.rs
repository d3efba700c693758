//! The clients that Ralph knows, and what is known about each.

use std::path::Path;

use super::hooks::{Event, Hooks, NONE, Place, entry, plain};
use super::listener::Listener;
use super::options::{Options, Session, Setup};
use super::{amp, claude, codex, copilot, cursor, gemini, opencode};

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
pub enum Client {
    /// Also whoever says nothing else: the same exit code blocks everywhere.
    #[default]
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Copilot,
    Cursor,
    Amp,
}

/// What is known about a client, and what it can do for us.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Its usual program.
    pub program: &'static str,
    /// The version that its stream and its flags were checked with; nothing
    /// where they are known from documentation only.
    pub checked_version: Option<&'static str>,
    /// Our guard can be handed over for one run.
    pub takes_guard: bool,
    /// A limit of money that it keeps itself.
    pub budget: bool,
    pub tells_tokens: bool,
    pub tells_cost: bool,
    /// A session can be taken up again.
    pub resume: bool,
    /// Patterns of the variables that it logs in with and finds its server by.
    pub credentials: &'static [&'static str],
    /// Those that its own sessions can be given.
    pub hooks: Hooks,
}

/// A client of which nothing special is known.
const USUAL: Facts = Facts {
    program: "",
    checked_version: None,
    takes_guard: false,
    budget: false,
    tells_tokens: true,
    tells_cost: false,
    resume: true,
    credentials: &[],
    hooks: NONE,
};

const CLAUDE: Facts = Facts {
    program: "claude",
    checked_version: Some("2.1.326"),
    takes_guard: true,
    budget: true,
    tells_cost: true,
    credentials: &[
        "ANTHROPIC_*",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_*",
        "AWS_*",
        "GOOGLE_*",
        "CLOUD_ML_REGION",
    ],
    hooks: Hooks {
        session: Some("CLAUDE_CODE_SESSION_ID"),
        project: Some("CLAUDE_PROJECT_DIR"),
        place: Place::Settings(".claude/settings.json"),
        local: Some(".claude/settings.local.json"),
        personal: Some((Some("CLAUDE_CONFIG_DIR"), ".claude", "settings.json")),
        nests_hooks: true,
        // INST-03, and what else the guard has something to say about.
        entries: &[
            entry("PreToolUse", "Bash", Event::PreToolUse),
            entry("PreToolUse", "Write|Edit|Read", Event::PreToolUse),
            entry("PreToolUse", "WebFetch", Event::PreToolUse),
            entry(
                "PreToolUse",
                "^(MultiEdit|NotebookEdit|Glob|Grep|Agent|Task|mcp__.*)$",
                Event::PreToolUse,
            ),
            entry("PostToolUse", "Write|Edit", Event::PostToolUse),
            // The client counts blocks in a row from the last tool call on,
            // whichever it was; so do we.
            entry(
                "PostToolUse",
                "Bash|MultiEdit|NotebookEdit|Agent|Task",
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
        ..NONE
    },
    ..USUAL
};

const CODEX: Facts = Facts {
    program: "codex",
    checked_version: Some("0.169.0"),
    takes_guard: true,
    credentials: &["OPENAI_*", "CODEX_*"],
    hooks: Hooks {
        place: Place::Settings(".codex/hooks.json"),
        personal: Some((Some("CODEX_HOME"), ".codex", "hooks.json")),
        nests_hooks: true,
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
        ..NONE
    },
    ..USUAL
};

const GEMINI: Facts = Facts {
    program: "gemini",
    checked_version: Some("0.61.0"),
    takes_guard: true,
    credentials: &["GEMINI_*", "GOOGLE_*"],
    hooks: Hooks {
        session: Some("GEMINI_SESSION_ID"),
        project: Some("GEMINI_PROJECT_DIR"),
        place: Place::Settings(".gemini/settings.json"),
        personal: Some((None, ".gemini", "settings.json")),
        nests_hooks: true,
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
        ..NONE
    },
    ..USUAL
};

const OPENCODE: Facts = Facts {
    program: "opencode",
    checked_version: Some("1.18.33"),
    tells_cost: true,
    credentials: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*"],
    hooks: Hooks {
        place: Place::Plugin(".opencode/plugin/ralph.js"),
        ..NONE
    },
    ..USUAL
};

const COPILOT: Facts = Facts {
    program: "copilot",
    checked_version: Some("1.0.102"),
    takes_guard: true,
    tells_tokens: false,
    credentials: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
    hooks: Hooks {
        project: Some("COPILOT_PROJECT_DIR"),
        place: Place::Settings(".github/hooks/ralph.json"),
        personal: Some((None, ".copilot", "hooks/ralph.json")),
        needs_version: true,
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
        ..NONE
    },
    ..USUAL
};

const CURSOR: Facts = Facts {
    program: "cursor-agent",
    tells_tokens: false,
    credentials: &["CURSOR_*"],
    hooks: Hooks {
        place: Place::Settings(".cursor/hooks.json"),
        personal: Some((None, ".cursor", "hooks.json")),
        needs_version: true,
        shell: "Shell",
        // Its stop hook can't hold it back, so that only the guard is of use there.
        entries: &[plain("preToolUse", Event::PreToolUse)],
        events: "sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart \
                subagentStop beforeShellExecution afterShellExecution beforeMCPExecution \
                afterMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt preCompact stop \
                afterAgentResponse afterAgentThought",
        ..NONE
    },
    ..USUAL
};

const AMP: Facts = Facts {
    program: "amp",
    credentials: &["AMP_*"],
    ..USUAL
};

/// How a call in a client's stream is found among those that its hook was
/// asked about. Only tools that act count: those that look are many, and some
/// clients ask no hook for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Stream and hook have one name for a call; otherwise there must be as
    /// many.
    pub by_name: bool,
    /// What the stream calls the tools.
    acts: &'static [&'static str],
    /// What the hook is told of them; nothing where that is any of its own.
    asked: &'static [&'static str],
}

/// Tools of servers that a person added.
const ADDED: &str = "mcp__";

impl Proof {
    /// Whether a tool of the stream acts.
    pub fn covers(&self, tool: &str) -> bool {
        self.acts.contains(&tool) || (self.by_name && tool.starts_with(ADDED))
    }

    /// Whether the hook was asked about such a tool.
    pub fn covers_asked(&self, tool: &str) -> bool {
        match (self.by_name, self.asked) {
            (true, _) => self.covers(tool),
            (false, []) => !tool.starts_with(ADDED),
            (false, asked) => asked.contains(&tool),
        }
    }
}

const CLAUDES_TOOLS: &[&str] = &[
    "Bash", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit",
];
const GEMINIS_TOOLS: &[&str] = &["run_shell_command", "write_file", "replace"];

impl Client {
    pub const ALL: &[Client] = <Client as strum::VariantArray>::VARIANTS;

    /// Those in whose sessions Ralph can sit.
    pub const HOSTS: &[Client] = &[
        Client::Claude,
        Client::Codex,
        Client::Gemini,
        Client::Copilot,
        Client::Cursor,
        Client::OpenCode,
    ];

    pub fn from_name(name: &str) -> Option<Client> {
        name.parse().ok()
    }

    pub fn host(name: &str) -> Option<Client> {
        Client::from_name(name).filter(|client| Client::HOSTS.contains(client))
    }

    /// Every name that can be chosen. The scripted agent is not for people's
    /// projects: it writes what the demo needs.
    pub fn names() -> Vec<&'static str> {
        let known = Client::ALL.iter().map(Client::into_str);
        known.chain(["custom"]).collect()
    }

    /// How its stream shows that our hook is asked, as the real ones were seen
    /// to do. Cursor takes no guard of a run.
    pub fn proof(self) -> Option<Proof> {
        let (by_name, acts, asked): (bool, &[&str], &[&str]) = match self {
            Client::Claude => (true, CLAUDES_TOOLS, &[]),
            Client::Codex => (false, &["command_execution", "file_change"], &[]),
            Client::Gemini => (false, GEMINIS_TOOLS, GEMINIS_TOOLS),
            _ => return None,
        };
        Some(Proof {
            by_name,
            acts,
            asked,
        })
    }

    pub fn facts(self) -> &'static Facts {
        match self {
            Client::Claude => &CLAUDE,
            Client::Codex => &CODEX,
            Client::Gemini => &GEMINI,
            Client::OpenCode => &OPENCODE,
            Client::Copilot => &COPILOT,
            Client::Cursor => &CURSOR,
            Client::Amp => &AMP,
        }
    }

    pub fn hooks(self) -> &'static Hooks {
        &self.facts().hooks
    }

    /// Whether our guard can ride along in this environment: Gemini's settings
    /// are replaced for the run, and its login lies beside them.
    pub fn hooks_usable(self, has_variable: impl Fn(&str) -> bool) -> bool {
        match self {
            Client::Gemini => has_variable("GEMINI_API_KEY"),
            other => other.facts().takes_guard,
        }
    }

    pub(super) fn setup(self, options: &Options, dir: &Path) -> Setup {
        match self {
            Client::Claude => claude::setup(options),
            Client::Codex => codex::setup(options),
            Client::Gemini => gemini::setup(options, dir),
            Client::OpenCode => opencode::setup(options),
            Client::Copilot => copilot::setup(options, dir),
            Client::Cursor => cursor::setup(options),
            Client::Amp => amp::setup(options, dir),
        }
    }

    /// Hears a stream that somebody looks at later.
    pub fn fresh_listener(self) -> Listener {
        self.listener(&Session::Fresh)
    }

    pub(crate) fn listener(self, session: &Session) -> Listener {
        match self {
            Client::Claude | Client::Amp => Listener::stream(claude::Stream::new(session)),
            Client::Codex => Listener::stream(codex::Stream::new(session)),
            Client::Gemini => Listener::stream(gemini::Stream::default()),
            Client::OpenCode => Listener::stream(opencode::Stream::default()),
            Client::Copilot => Listener::stream(copilot::Stream::default()),
            Client::Cursor => Listener::stream(cursor::Stream::default()),
        }
    }
}
