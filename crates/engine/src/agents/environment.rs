//! The environment of a child: nothing of a session around us, nothing that
//! the person excluded, and the client's own credentials.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ralph_core::config::AgentSettings;

/// What a client leaves in the environment of its children. An agent that is
/// started from within another must not take itself for a part of that
/// (pain 24).
pub(super) const NESTED: [&str; 19] = [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "AI_AGENT",
    "GEMINI_PROJECT_DIR",
    "GEMINI_CWD",
    "GEMINI_SESSION_ID",
    "GEMINI_PLANS_DIR",
    "COPILOT_CLI",
    "COPILOT_PROJECT_DIR",
    "COPILOT_HOOK_DIR",
];

/// What no program can do without.
const NEEDED: [&str; 14] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_*", "TZ", "TMPDIR", "TEMP",
    "TMP", "SYSTEMROOT", "XDG_*",
];

/// Ralph's own secret: whoever knows the address can write to people.
const WEBHOOK: &str = "RALPH_NOTIFY_WEBHOOK";

/// Which inherited variables reach the agent, and the checks of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvFilter {
    /// Patterns of those that do; empty for all.
    pub allow: Vec<String>,
    /// Patterns of those that do not.
    pub exclude: Vec<String>,
}

impl EnvFilter {
    pub fn new(settings: &AgentSettings) -> EnvFilter {
        EnvFilter {
            allow: settings.env_allow.clone(),
            exclude: settings.env_exclude.clone(),
        }
    }

    /// Nothing either that tells a shell, an interpreter or a runner of tests
    /// what to do: whoever called chose it (C-03).
    pub fn unsteered(mut self) -> EnvFilter {
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        self.exclude.extend(names.filter(|name| steers(name)));
        self
    }

    /// The names to take away from what this process has.
    pub fn removed_here(&self, credentials: &[&str]) -> Vec<OsString> {
        self.removed(std::env::vars_os().map(|(name, _)| name), credentials)
    }

    /// The names to take away from these. A pattern spares what the client
    /// needs to log in; a name that is written out is taken at its word.
    pub fn removed(
        &self,
        names: impl IntoIterator<Item = OsString>,
        credentials: &[&str],
    ) -> Vec<OsString> {
        let own = |name: &str| credentials.iter().any(|p| wildcard(p, name));
        let needed = |name: &str| NEEDED.iter().any(|p| wildcard(p, name));
        let removed = |name: &str| {
            let excluded = |pattern: &String| match pattern.contains('*') {
                true => wildcard(pattern, name) && !own(name),
                false => pattern == name,
            };
            let allowed = self.allow.is_empty()
                || self.allow.iter().any(|p| wildcard(p, name))
                || own(name)
                || needed(name);
            !allowed || name == WEBHOOK || self.exclude.iter().any(excluded)
        };
        names
            .into_iter()
            .filter(|name| removed(&name.to_string_lossy()))
            .collect()
    }
}

/// Variables that say how programs run, by the beginnings of their names in
/// small letters; npm takes any letters.
const STEERING: [&str; 26] = [
    "npm_", "pnpm_", "yarn_", "bun_", "node_options", "node_path", "bash_", "shellopts", "python",
    "pytest_", "coverage_", "perl5", "ruby", "rustc", "rustdoc", "rustflags", "cargo_build_",
    "cargo_target_", "cargo_encoded_", "goflags", "make", "gnumakeflags", "ld_", "dyld_", "git_",
    "ralph_",
];
const STEERING_NAMES: [&str; 17] = [
    "env", "bashopts", "shell", "zdotdir", "cdpath", "mflags", "goenv", "gowork", "gotoolchain",
    "java_tool_options", "_java_options", "jdk_java_options", "maven_opts", "maven_args",
    "gradle_opts", "classpath", "vitest",
];

fn steers(name: &str) -> bool {
    let name = name.to_lowercase();
    STEERING.iter().any(|begin| name.starts_with(begin)) || STEERING_NAMES.contains(&name.as_str())
}

/// Where programs are looked for, without what lies in the project: there an
/// agent puts its own.
pub(crate) fn person_path(root: &Path) -> String {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = real(root);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let outside = |dir: &PathBuf| dir.is_absolute() && !real(dir).starts_with(&project);
    let kept = std::env::split_paths(&path).filter(outside);
    let joined = std::env::join_paths(kept).unwrap_or_default();
    joined.to_string_lossy().into_owned()
}

/// `*` stands for any characters.
fn wildcard(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or("")) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
    }
    match last {
        Some(part) => rest.ends_with(part),
        None => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = [
        "PATH", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET", "LC_ALL", "EDITOR",
    ];

    fn check(allow: &[&str], exclude: &[&str], removed: &[&str]) {
        let owned = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect();
        let filter = EnvFilter {
            allow: owned(allow),
            exclude: owned(exclude),
        };
        let names = NAMES.map(OsString::from);
        assert_eq!(
            filter.removed(names, &["ANTHROPIC_*"]),
            removed,
            "{allow:?} {exclude:?}"
        );
    }

    #[test]
    fn patterns_spare_the_client_s_own_credentials() {
        check(&[], &[], &[]);
        check(&[], &["*_KEY"], &["OPENAI_API_KEY"]);
        check(&[], &["AWS_*", "EDITOR"], &["AWS_SECRET", "EDITOR"]);
        check(&[], &["ANTHROPIC_API_KEY"], &["ANTHROPIC_API_KEY"]);
        check(
            &[],
            &["*"],
            &["PATH", "OPENAI_API_KEY", "AWS_SECRET", "LC_ALL", "EDITOR"],
        );
    }

    #[test]
    fn where_some_are_allowed_the_others_are_not() {
        check(&["EDIT*"], &[], &["OPENAI_API_KEY", "AWS_SECRET"]);
        check(
            &["EDITOR"],
            &["EDITOR"],
            &["OPENAI_API_KEY", "AWS_SECRET", "EDITOR"],
        );
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, want) in [
            ("A", "A", true),
            ("A", "AB", false),
            ("A*", "A", true),
            ("*A", "BA", true),
            ("A*C*E", "ABCDE", true),
            ("A*C*E", "ABDE", false),
            ("*", "", true),
            ("", "A", false),
        ] {
            assert_eq!(wildcard(pattern, name), want, "{pattern} {name}");
        }
    }
}
