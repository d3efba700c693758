//! What makes other programs load code, and what takes the guard away from
//! the agents: variables, Ralph's own commands, the options of the clients.

use super::pattern::Call;
use crate::RuleId;
use crate::mark;
use crate::meaning::{Command, NO_VALUES, Walker};

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
        _ if OPTIONS.contains(&name) && loads_from_open_directory(walker, value) => {
            RuleId::SystemLoader
        }
        // What runs the scripts decides whether they pass (C-03).
        "npm_config_script_shell" | "NPM_CONFIG_SCRIPT_SHELL"
            if !one_of!(value, "bash sh zsh /bin/bash /bin/sh /usr/bin/bash") =>
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

/// Variables with options of a program that loads code.
const OPTIONS: &[&str] = words!(
    "NODE_OPTIONS RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS
     GRADLE_OPTS GOFLAGS RUSTFLAGS"
);

fn loads_from_open_directory(walker: &Walker, value: &str) -> bool {
    let loads = has_any!(
        value,
        "-r --require --import --loader -javaagent -agentpath -agentlib -Xbootclasspath -I
         -toolexec linker="
    );
    let mut paths = value
        .split([' ', '=', ':'])
        .map(|word| word.trim_start_matches("-r"));
    loads && (paths.any(|path| in_open_directory(walker, path)) || value.contains("data:"))
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

/// The loop's own program: the agent may look, not steer (C-01, C-02, C-07,
/// C-11, S-03). What is not known to look only is taken for steering.
pub fn own_binary(walker: &mut Walker, args: &[String]) {
    if !only_looks(args) {
        walker.report(RuleId::GuardSwitchOff, &args.join(" "));
    }
}

fn only_looks(args: &[String]) -> bool {
    // `ralph`, `ralph gate --help`: a text about itself.
    let (last, path) = match args.split_last() {
        Some(parts) => parts,
        None => return true,
    };
    let is_path = path.len() <= 2 && path.iter().all(|word| !word.starts_with('-'));
    if is_path && matches!(last.as_str(), "--help" | "-h" | "--version" | "-V") {
        return true;
    }
    let mut rest = args;
    let Some(verb) = next_operand(&mut rest, &[]) else {
        return false;
    };
    let has = |name: &str| {
        let is_it = |word: &String| word.strip_prefix(name).is_some_and(is_end);
        rest.iter().any(is_it)
    };
    let mut after = rest;
    let mut what = |takes: &[&str]| next_operand(&mut after, takes).unwrap_or_default();
    match verb {
        "status" | "logs" | "events" | "cost" | "agents" | "phase" | "help" | "completions" => true,
        // It is the gate's own commands that run, and their results that count.
        "gate" => one_of!(what(&[]), "run check"),
        "report" => !has("--out"),
        "verify" => !has("--baseline") && !has("--forget-baseline"),
        "tasks" => matches!(what(&["--tasks", "--phase"]), "" | "list" | "next" | "lint"),
        "history" => matches!(what(&["--limit"]), "" | "show"),
        "config" => one_of!(what(&[]), "show check reference migrate"),
        "templates" => matches!(what(&[]), "" | "list" | "show"),
        "flow" => matches!(what(&[]), "" | "list" | "show" | "check"),
        "guard" => one_of!(what(&[]), "test explain rules stats scan check-rules"),
        "loop" => what(&[]) == "status",
        "answer" => rest.iter().all(|word| word == "--json"),
        "resume" => {
            has("--list")
                && rest
                    .iter()
                    .all(|word| one_of!(word.as_str(), "--list --json"))
        }
        "monitor" => rest.first().is_some_and(|word| word == "--once"),
        // An option in front of it might take it for its value.
        "run" | "do" => {
            let shows = |word: &String| one_of!(word.as_str(), "--dry-run --explain");
            let at = args.iter().position(shows);
            let before = at.and_then(|at| args.get(at.checked_sub(1)?));
            before.is_some_and(|before| !before.starts_with('-'))
        }
        _ => false,
    }
}

fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('=')
}

/// The next word that is no option; every verb knows two that take a value.
fn next_operand<'a>(rest: &mut &'a [String], takes: &[&str]) -> Option<&'a str> {
    while let Some((word, after)) = rest.split_first() {
        *rest = after;
        if !word.starts_with('-') {
            return Some(word);
        }
        if takes.contains(&word.as_str()) || one_of!(word.as_str(), "--root --lang") {
            *rest = after.get(1..).unwrap_or_default();
        }
    }
    None
}

/// Under another name it would not be known any more.
pub fn copied_binary(walker: &mut Walker, command: &Command) {
    let is_own = |path: &str| path.ends_with("/bin/ralph") || walker.context.binary == Some(path);
    let operands = command.read(NO_VALUES).operands;
    let sources = operands
        .split_last()
        .map_or(&[][..], |(_, sources)| sources);
    if sources.iter().any(|path| is_own(path)) {
        walker.report(RuleId::GuardControlPlane, &command.line());
    }
}

/// `cargo run -p ralph-loop -- …`: the program from its source.
pub fn run_from_source(walker: &mut Walker, command: &Command) {
    let is_run = matches!(command.first(), "run" | "r");
    let names = |(option, value): (&str, &str)| {
        one_of!(option, "-p --package --bin") && one_of!(value, "ralph ralph-loop")
    };
    let joined = "--package=ralph-loop|--bin=ralph|-pralph-loop";
    if !is_run || !(command.pairs().any(names) || command.has(joined)) {
        return;
    }
    let args = command.args.iter().position(|word| word == "--");
    if let Some(args) = args.and_then(|at| command.args.get(at + 1..)) {
        own_binary(walker, args);
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
