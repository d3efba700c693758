//! The clients that Ralph knows, and what is known about each.

use std::path::Path;

use super::listener::Listener;
use super::options::{Options, Session, Setup};
use super::{amp, claude, codex, copilot, cursor, gemini, opencode};

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Client {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Copilot,
    Cursor,
    Amp,
}

/// What a client can do for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Our guard can be handed over for one run.
    pub hooks: bool,
    /// A limit of money that it keeps itself.
    pub budget: bool,
    pub tells_tokens: bool,
    pub tells_cost: bool,
    /// A session can be taken up again.
    pub resume: bool,
}

impl Client {
    pub const ALL: [Client; 7] = [
        Client::Claude,
        Client::Codex,
        Client::Gemini,
        Client::OpenCode,
        Client::Copilot,
        Client::Cursor,
        Client::Amp,
    ];

    pub fn from_name(name: &str) -> Option<Client> {
        Client::ALL
            .into_iter()
            .find(|client| client.into_str() == name)
    }

    /// Every name that can be chosen. The scripted agent is not for people's
    /// projects: it writes what the demo needs.
    pub fn names() -> Vec<&'static str> {
        let known = Client::ALL.map(|it| it.into_str());
        known.into_iter().chain(["custom"]).collect()
    }

    /// Its usual program.
    pub fn program(self) -> &'static str {
        match self {
            Client::Cursor => "cursor-agent",
            other => other.into_str(),
        }
    }

    /// The version that its stream and its flags were checked with; nothing
    /// where they are known from documentation only.
    pub fn checked_version(self) -> Option<&'static str> {
        match self {
            Client::Claude => Some("2.1.325"),
            Client::Codex => Some("0.166.0"),
            Client::Gemini => Some("0.61.0"),
            Client::OpenCode => Some("1.18.33"),
            Client::Copilot => Some("1.0.102"),
            Client::Cursor | Client::Amp => None,
        }
    }

    pub fn capabilities(self) -> Capabilities {
        use Client::*;
        Capabilities {
            hooks: matches!(self, Claude | Codex | Gemini | Copilot),
            budget: self == Claude,
            tells_tokens: !matches!(self, Copilot | Cursor),
            tells_cost: matches!(self, Claude | OpenCode),
            resume: true,
        }
    }

    /// Whether our guard can ride along in this environment: Gemini's settings
    /// are replaced for the run, and its login lies beside them.
    pub fn hooks_usable(self, has_variable: impl Fn(&str) -> bool) -> bool {
        match self {
            Client::Gemini => has_variable("GEMINI_API_KEY"),
            other => other.capabilities().hooks,
        }
    }

    /// Patterns of the variables that it logs in with and finds its server by.
    pub fn credentials(self) -> &'static [&'static str] {
        match self {
            Client::Claude => &[
                "ANTHROPIC_*",
                "CLAUDE_CONFIG_DIR",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_USE_*",
                "AWS_*",
                "GOOGLE_*",
                "CLOUD_ML_REGION",
            ],
            Client::Codex => &["OPENAI_*", "CODEX_*"],
            Client::Gemini => &["GEMINI_*", "GOOGLE_*"],
            Client::OpenCode => &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*"],
            Client::Copilot => &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
            Client::Cursor => &["CURSOR_*"],
            Client::Amp => &["AMP_*"],
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

    pub(super) fn listener(self, session: &Session) -> Listener {
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
