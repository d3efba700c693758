//! The clients that Ralph knows, and what is known about each.

use std::path::Path;

use super::listener::Listener;
use super::options::{Options, Session, Setup};
use super::{amp, claude, codex, copilot, cursor, gemini, opencode};

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::VariantArray,
)]
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

/// What is known about a client, and what it can do for us.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Its usual program.
    pub program: &'static str,
    /// The version that its stream and its flags were checked with; nothing
    /// where they are known from documentation only.
    pub checked_version: Option<&'static str>,
    /// Our guard can be handed over for one run.
    pub hooks: bool,
    /// A limit of money that it keeps itself.
    pub budget: bool,
    pub tells_tokens: bool,
    pub tells_cost: bool,
    /// A session can be taken up again.
    pub resume: bool,
    /// Patterns of the variables that it logs in with and finds its server by.
    pub credentials: &'static [&'static str],
}

/// A client of which nothing special is known.
const USUAL: Facts = Facts {
    program: "",
    checked_version: None,
    hooks: false,
    budget: false,
    tells_tokens: true,
    tells_cost: false,
    resume: true,
    credentials: &[],
};

const CLAUDE: Facts = Facts {
    program: "claude",
    checked_version: Some("2.1.325"),
    hooks: true,
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
    ..USUAL
};

const CODEX: Facts = Facts {
    program: "codex",
    checked_version: Some("0.166.0"),
    hooks: true,
    credentials: &["OPENAI_*", "CODEX_*"],
    ..USUAL
};

const GEMINI: Facts = Facts {
    program: "gemini",
    checked_version: Some("0.61.0"),
    hooks: true,
    credentials: &["GEMINI_*", "GOOGLE_*"],
    ..USUAL
};

const OPENCODE: Facts = Facts {
    program: "opencode",
    checked_version: Some("1.18.33"),
    tells_cost: true,
    credentials: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*"],
    ..USUAL
};

const COPILOT: Facts = Facts {
    program: "copilot",
    checked_version: Some("1.0.102"),
    hooks: true,
    tells_tokens: false,
    credentials: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
    ..USUAL
};

const CURSOR: Facts = Facts {
    program: "cursor-agent",
    tells_tokens: false,
    credentials: &["CURSOR_*"],
    ..USUAL
};

const AMP: Facts = Facts {
    program: "amp",
    credentials: &["AMP_*"],
    ..USUAL
};

impl Client {
    pub const ALL: &[Client] = <Client as strum::VariantArray>::VARIANTS;

    pub fn from_name(name: &str) -> Option<Client> {
        name.parse().ok()
    }

    /// Every name that can be chosen. The scripted agent is not for people's
    /// projects: it writes what the demo needs.
    pub fn names() -> Vec<&'static str> {
        let known = Client::ALL.iter().map(Client::into_str);
        known.chain(["custom"]).collect()
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

    /// Whether our guard can ride along in this environment: Gemini's settings
    /// are replaced for the run, and its login lies beside them.
    pub fn hooks_usable(self, has_variable: impl Fn(&str) -> bool) -> bool {
        match self {
            Client::Gemini => has_variable("GEMINI_API_KEY"),
            other => other.facts().hooks,
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
