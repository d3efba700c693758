//! What makes other programs load code, and what takes the guard away from
//! the agents: variables, Ralph's own commands, the options of the clients.

use super::pattern::Call;
use crate::RuleId;
use crate::mark;
use crate::meaning::{Command, Walker};

/// A directory where anybody may put a file, unless the project or the home
/// directory lies there.
fn in_open_directory(walker: &Walker, path: &str) -> bool {
    ["/tmp", "/dev/shm", "/var/tmp"]
        .iter()
        .any(|directory| crate::paths::is_within(path, directory))
        && !crate::paths::is_within(path, walker.project())
        && !crate::paths::is_within(path, walker.home())
}

/// Variables that make other programs load code or leave no traces.
pub fn loader(walker: &mut Walker, name: &str, value: &str) {
    let rule = match name {
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES"
            if !value.is_empty()
                && !has_any!(
                    value,
                    "jemalloc tcmalloc mimalloc asan libfaketime libSegFault"
                ) =>
        {
            RuleId::SystemLoader
        }
        "BASH_ENV" | "PROMPT_COMMAND" | "PERL5OPT" if !value.is_empty() => RuleId::SystemLoader,
        "ENV" if value.contains('/') => RuleId::SystemLoader,
        // A shell expands its prompts each time it shows them.
        "PS4" | "PS1" | "PS0" | "PS2" if has_any!(value, "$( `") => RuleId::SystemLoader,
        "PATH" if begins_in_open_directory(walker, value) => RuleId::SystemLoader,
        "NODE_OPTIONS"
            if (has_any!(value, "--require --import") || value.contains("-r "))
                && has_any!(value, "/tmp/ data:") =>
        {
            RuleId::SystemLoader
        }
        "HISTFILE" if matches!(value, "/dev/null" | "") => RuleId::SystemHistory,
        "HISTSIZE" | "HISTFILESIZE" if value == "0" => RuleId::SystemHistory,
        "RALPH_GUARD" | "RALPH_GUARD_FAIL" | "RALPH_GUARD_DISABLE" | "RALPH_ALLOW_UNSAFE" => {
            RuleId::GuardSwitchOff
        }
        // Another home of the agent has none of the guard's hooks.
        "CLAUDE_CONFIG_DIR" | "CODEX_HOME" | "GEMINI_CLI_HOME" | "COPILOT_HOME"
            if !value.is_empty() =>
        {
            RuleId::GuardSwitchOff
        }
        _ if LOADED.contains(&name) && in_open_directory(walker, value) => RuleId::SystemLoader,
        _ => return,
    };
    walker.report(rule, name);
}

/// Variables that name a file or a directory which others load from.
const LOADED: &[&str] = words!(
    "PYTHONSTARTUP LD_LIBRARY_PATH DYLD_LIBRARY_PATH RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
     CARGO_BUILD_RUSTC_WRAPPER"
);

fn begins_in_open_directory(walker: &Walker, path: &str) -> bool {
    let first = path.split(':').next().unwrap_or_default();
    // A directory that this text itself made is its own affair.
    let made_here = first.contains("/tmp.made") || mark::has_computed(first);
    first == "." || in_open_directory(walker, first) && !made_here
}

/// The loop's own program: the agent may look, not steer.
const STEERS: &[&str] = &[
    "config set|unset|edit|reset|trust",
    "guard off|disable|allow|trust|approve",
    "uninstall|stop|kill|reset|abort|approve|skip|trust|install|unlock|answer",
    "hook uninstall|remove",
    "run|resume +*unsafe*|*no-guard*",
];

pub fn own_binary(walker: &mut Walker, command: &Command) {
    let mut operands = command.words();
    operands.retain(|word| !word.starts_with('-'));
    let call = Call::of(&operands, command.args);
    if STEERS.iter().any(|pattern| call.is(pattern)) {
        walker.report(RuleId::GuardSwitchOff, &command.args.join(" "));
    }
}

/// A client of the loop.
pub fn is_agent(name: &str) -> bool {
    one_of!(
        name,
        "claude codex gemini copilot cursor-agent opencode amp"
    )
}

/// How an agent is started without its hooks, or told to have others.
const UNGUARDED: &[&str] = &[
    "+--bare|--safe-mode|--yolo|--allow-all|--allow-all-tools|--force|--setting*|--dangerously*",
    "+hooks=*|*disableAllHooks*|*bypassPermissions*",
    "config set|add|remove|rm",
    "mcp add|add-json|remove",
    "plugin|plugins|extensions install|add|uninstall|disable|remove",
];

pub fn agent(walker: &mut Walker, command: &Command) {
    let words = command.words();
    let call = Call::of(&words, command.args);
    if UNGUARDED.iter().any(|pattern| call.is(pattern)) {
        walker.report(RuleId::GuardSwitchOff, &command.args.join(" "));
    }
}
