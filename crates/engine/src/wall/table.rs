//! What toolchains and clients need of a home that is otherwise not there.

use std::path::{Path, PathBuf};

use crate::agents::Client;

/// What part of the home is shown, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// As it is, to be read.
    Read(&'static str),
    /// As it is; what is written over it is kept apart and stays behind the
    /// wall.
    Over(&'static str),
    /// The same of what can be fetched again: not kept when the machine
    /// starts anew.
    Cache(&'static str),
    /// A copy of a file, without the lines that hold secrets.
    Copy(&'static str),
    /// A copy of a file, as it is.
    Whole(&'static str),
    /// A file below one of those, with keys that its client renews: the new
    /// ones are taken over, or the person would be logged out.
    Login(&'static str),
}

/// Programs and what they have fetched already. No file with a password is
/// among them.
pub const TOOLCHAINS: &[Share] = &[
    Share::Read(".asdf"),
    Share::Read(".bun/bin"),
    Share::Cache(".bun/install/cache"),
    Share::Cache(".cache/deno"),
    Share::Cache(".cache/go-build"),
    Share::Cache(".cache/ms-playwright"),
    Share::Cache(".cache/node"),
    Share::Cache(".cache/pip"),
    Share::Cache(".cache/pnpm"),
    Share::Cache(".cache/pypoetry"),
    Share::Cache(".cache/uv"),
    Share::Cache(".cache/yarn"),
    Share::Read(".cargo/bin"),
    Share::Copy(".cargo/config.toml"),
    Share::Copy(".cargo/env"),
    Share::Cache(".cargo/git"),
    Share::Cache(".cargo/registry"),
    Share::Copy(".config/pip/pip.conf"),
    Share::Read(".config/ralph"),
    Share::Read(".deno/bin"),
    Share::Read(".dotnet"),
    Share::Read(".fnm"),
    Share::Read(".ghcup"),
    Share::Cache(".gradle/caches"),
    Share::Cache(".gradle/wrapper"),
    Share::Read(".local/bin"),
    Share::Read(".local/lib"),
    Share::Read(".local/share/fnm"),
    Share::Read(".local/share/mise"),
    Share::Cache(".local/share/pnpm"),
    Share::Read(".local/share/uv"),
    Share::Cache(".m2/repository"),
    Share::Cache(".npm"),
    Share::Copy(".npmrc"),
    Share::Cache(".nuget/packages"),
    Share::Read(".nvm"),
    Share::Read(".opam"),
    Share::Copy(".pip/pip.conf"),
    Share::Read(".pyenv"),
    Share::Read(".rbenv"),
    Share::Read(".rustup"),
    Share::Read(".sdkman"),
    Share::Read(".volta"),
    Share::Cache("go/pkg"),
];

/// Variables that put a part of the home elsewhere, the longer part first.
const MOVED: [(&str, &str); 17] = [
    // Ralph's own stays where it is.
    (".config/ralph", ""),
    (".cache/go-build", "GOCACHE"),
    (".cache/pip", "PIP_CACHE_DIR"),
    (".cache/uv", "UV_CACHE_DIR"),
    (".local/share", "XDG_DATA_HOME"),
    (".local/state", "XDG_STATE_HOME"),
    (".cache", "XDG_CACHE_HOME"),
    (".cargo", "CARGO_HOME"),
    (".claude", "CLAUDE_CONFIG_DIR"),
    (".codex", "CODEX_HOME"),
    (".config", "XDG_CONFIG_HOME"),
    (".copilot", "COPILOT_HOME"),
    (".npm", "npm_config_cache"),
    (".nvm", "NVM_DIR"),
    (".pyenv", "PYENV_ROOT"),
    (".rustup", "RUSTUP_HOME"),
    ("go", "GOPATH"),
];

/// Where a part of the home lies for this process.
pub fn place(home: &Path, name: &str) -> PathBuf {
    let part = Path::new(name);
    let moved = MOVED.iter().find_map(|(prefix, variable)| {
        let rest = part.strip_prefix(prefix).ok()?;
        Some((rest, std::env::var_os(variable)))
    });
    match moved {
        Some((rest, Some(dir))) if Path::new(&dir).is_absolute() => match rest == Path::new("") {
            true => dir.into(),
            false => Path::new(&dir).join(rest),
        },
        _ => home.join(part),
    }
}

/// Hosts that packages come from.
pub const REGISTRIES: &[&str] = &[
    "api.nuget.org", "crates.io", "deno.land", "files.pythonhosted.org", "index.crates.io",
    "index.rubygems.org", "jsr.io", "npm.jsr.io", "plugins.gradle.org", "proxy.golang.org",
    "pypi.org", "registry.npmjs.org", "registry.yarnpkg.com", "repo.maven.apache.org",
    "repo.packagist.org", "repo1.maven.org", "rubygems.org", "static.crates.io", "sum.golang.org",
];

/// What one client needs beside the toolchains.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    pub shares: &'static [Share],
    pub hosts: &'static [&'static str],
    /// Files of the person in which a service of their own may be named.
    pub configs: &'static [&'static str],
    /// Variables that tell it that somebody else already looks after it.
    pub env: &'static [(&'static str, &'static str)],
}

const NOTHING: Needs = Needs {
    shares: &[],
    hosts: &[],
    configs: &[],
    env: &[],
};

const CLAUDE: Needs = Needs {
    shares: &[
        Share::Over(".claude"),
        Share::Whole(".claude.json"),
        Share::Login(".claude/.credentials.json"),
        Share::Read(".local/share/claude"),
    ],
    hosts: &[
        "api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com",
    ],
    // It refuses to work without questions as root, unless a wall
    // stands around it.
    env: &[("IS_SANDBOX", "1")],
    ..NOTHING
};

const CODEX: Needs = Needs {
    shares: &[Share::Over(".codex"), Share::Login(".codex/auth.json")],
    hosts: &["api.openai.com", "auth.openai.com", "chatgpt.com"],
    configs: &[".codex/config.toml"],
    ..NOTHING
};

const GEMINI: Needs = Needs {
    shares: &[Share::Over(".gemini")],
    hosts: &[
        "accounts.google.com",
        "aiplatform.googleapis.com",
        "cloudcode-pa.googleapis.com",
        "generativelanguage.googleapis.com",
        "oauth2.googleapis.com",
    ],
    ..NOTHING
};

const OPENCODE: Needs = Needs {
    shares: &[
        Share::Over(".config/opencode"),
        Share::Over(".local/share/opencode"),
        Share::Login(".local/share/opencode/auth.json"),
        Share::Over(".local/state/opencode"),
        Share::Over(".cache/opencode"),
        Share::Read(".opencode"),
    ],
    hosts: &[
        "api.anthropic.com", "api.openai.com", "models.dev", "opencode.ai", "openrouter.ai",
    ],
    configs: &[
        ".config/opencode/opencode.json",
        ".config/opencode/opencode.jsonc",
    ],
    ..NOTHING
};

const COPILOT: Needs = Needs {
    shares: &[Share::Over(".copilot"), Share::Over(".cache/copilot")],
    hosts: &["*.githubcopilot.com", "api.github.com", "github.com"],
    ..NOTHING
};

const CURSOR: Needs = Needs {
    shares: &[
        Share::Over(".cursor"),
        Share::Over(".config/cursor"),
        Share::Read(".local/share/cursor-agent"),
    ],
    hosts: &["*.cursor.sh", "api.cursor.com", "cursor.com"],
    ..NOTHING
};

const AMP: Needs = Needs {
    shares: &[
        Share::Over(".config/amp"),
        Share::Over(".local/share/amp"),
        Share::Over(".cache/amp"),
    ],
    hosts: &["ampcode.com"],
    ..NOTHING
};

pub fn needs(client: Client) -> Needs {
    match client {
        Client::Claude => CLAUDE,
        Client::Codex => CODEX,
        Client::Gemini => GEMINI,
        Client::OpenCode => OPENCODE,
        Client::Copilot => COPILOT,
        Client::Cursor => CURSOR,
        Client::Amp => AMP,
    }
}
