//! What makes other programs load code, and what takes the guard away from
//! the agents: variables, Ralph's own commands, the options of the clients.

use crate::RuleId;
use crate::meaning::{Command, Walker, mark};

/// A directory where anybody may put a file, unless the project or the home
/// directory lies there.
fn in_open_directory(walker: &Walker, path: &str) -> bool {
    ["/tmp", "/dev/shm", "/var/tmp"]
        .iter()
        .any(|directory| crate::paths::is_within(path, directory))
        && !crate::paths::is_within(path, walker.project())
        && !crate::paths::is_within(path, walker.home())
}

/// Variables that make other programs load code.
pub fn loader(walker: &mut Walker, name: &str, value: &str) {
    match name {
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" if !value.is_empty() => {
            let known = words!("jemalloc tcmalloc mimalloc asan libfaketime libSegFault");
            if !known.iter().any(|library| value.contains(library)) {
                walker.report(RuleId::SystemLoader, name);
            }
        }
        "PYTHONSTARTUP"
        | "LD_LIBRARY_PATH"
        | "DYLD_LIBRARY_PATH"
        | "RUSTC_WRAPPER"
        | "RUSTC_WORKSPACE_WRAPPER"
        | "CARGO_BUILD_RUSTC_WRAPPER"
            if in_open_directory(walker, value) =>
        {
            walker.report(RuleId::SystemLoader, name);
        }
        "BASH_ENV" | "ENV" | "PROMPT_COMMAND" | "PERL5OPT" | "RUBYOPT"
            if (name != "ENV" || value.contains('/')) && !value.is_empty() && name != "RUBYOPT" =>
        {
            walker.report(RuleId::SystemLoader, name);
        }
        // A shell expands its prompts each time it shows them.
        "PS4" | "PS1" | "PS0" | "PS2" if value.contains("$(") || value.contains('`') => {
            walker.report(RuleId::SystemLoader, name);
        }
        "PATH" => {
            let first = value.split(':').next().unwrap_or_default();
            // A directory that this text itself made is its own affair.
            let made_here = first.contains("/tmp.made") || mark::has_computed(first);
            if first == "." || in_open_directory(walker, first) && !made_here {
                walker.report(RuleId::SystemLoader, name);
            }
        }
        "NODE_OPTIONS"
            if (value.contains("--require")
                || value.contains("--import")
                || value.contains("-r "))
                && (value.contains("/tmp/") || value.contains("data:")) =>
        {
            walker.report(RuleId::SystemLoader, name);
        }
        "RALPH_GUARD" | "RALPH_GUARD_FAIL" | "RALPH_GUARD_DISABLE" | "RALPH_ALLOW_UNSAFE" => {
            walker.report(RuleId::GuardSwitchOff, name)
        }
        "HISTFILE" if value == "/dev/null" || value.is_empty() => {
            walker.report(RuleId::SystemHistory, name)
        }
        "HISTSIZE" | "HISTFILESIZE" if value == "0" => walker.report(RuleId::SystemHistory, name),
        _ => {}
    }
    // Another home of the agent has none of the guard's hooks.
    let agent_home = one_of!(
        name,
        "CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME COPILOT_HOME"
    );
    if agent_home && !value.is_empty() {
        walker.report(RuleId::GuardSwitchOff, name);
    }
}

/// The loop's own program: the agent may look, not steer.
pub fn own_binary(walker: &mut Walker, args: &[String]) {
    let words: Vec<&str> = args
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let steers = match words.as_slice() {
        ["config", "set" | "unset" | "edit" | "reset" | "trust", ..] => true,
        [
            "guard",
            "off" | "disable" | "allow" | "trust" | "approve",
            ..,
        ] => true,
        [
            "uninstall" | "stop" | "kill" | "reset" | "abort" | "approve" | "skip" | "trust"
            | "install" | "unlock" | "answer",
            ..,
        ] => true,
        ["hook", "uninstall" | "remove", ..] => true,
        ["run" | "resume", ..] => args
            .iter()
            .any(|word| word.contains("unsafe") || word.contains("no-guard")),
        _ => false,
    };
    if steers {
        walker.report(RuleId::GuardSwitchOff, &args.join(" "));
    }
}

/// Another agent that is started without its hooks.
/// A client of the loop.
pub fn is_agent(name: &str) -> bool {
    one_of!(
        name,
        "claude codex gemini copilot cursor-agent opencode amp"
    )
}

pub fn agent(walker: &mut Walker, command: &Command) {
    let off = command.args.iter().any(|word| {
        word.contains("disableAllHooks")
            || one_of!(
                word.as_str(),
                "--bare --safe-mode --dangerously-skip-permissions --yolo
                 --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust
                 --allow-all --allow-all-tools --force --settings --setting-sources"
            )
            || word.starts_with("--setting")
            || word.starts_with("--dangerously")
            || word.starts_with("hooks=")
            || word.contains("bypassPermissions")
    });
    let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let reconfigures = matches!(
        words.as_slice(),
        ["config", "set" | "add" | "remove" | "rm", ..]
            | ["mcp", "add" | "add-json" | "remove", ..]
            | [
                "plugin" | "plugins" | "extensions",
                "install" | "add" | "uninstall" | "disable" | "remove",
                ..
            ]
    );
    if off || reconfigures {
        walker.report(RuleId::GuardSwitchOff, &command.args.join(" "));
    }
}
