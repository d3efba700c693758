//! Tools of agents, whatever each agent calls them: which of their inputs is
//! shell text, a path or a URL.

use crate::RuleId;
use serde_json::Value;

use crate::ToolCall;
use crate::mark;
use crate::meaning::{Env, Walker, code, files, hosts, sql};
use crate::paths::native;

/// How deep the input of an unknown tool is searched.
const MAX_DEPTH: usize = 6;

pub fn judge(walker: &mut Walker, call: &ToolCall) {
    let env = Env::in_directory(call.cwd.trim_end_matches('/'));
    let tool = call.tool.to_ascii_lowercase();
    let name = tool.rsplit([':', '/']).next().unwrap_or(&tool);
    match name {
        "bash" | "shell" | "run_shell_command" | "local_shell" | "exec" | "exec_command"
        | "run_command" | "terminal" | "powershell" | "pwsh" | "cmd" | "run_terminal_cmd"
        | "execute_command" | "shell_command" | "bashoutput" => shell(walker, call, name),
        "read" | "read_file" | "view" | "read_many_files" | "notebookread" | "cat" | "readfile" => {
            paths(walker, call.input, &env, Access::Read);
        }
        name if one_of!(
            name,
            "write edit multiedit notebookedit write_file replace create str_replace
             str_replace_editor str_replace_based_edit_tool edit_file update writefile
             delete_file search_replace insert"
        ) =>
        {
            paths(walker, call.input, &env, Access::Write);
        }
        name if one_of!(
            name,
            "glob grep ls list_directory search_file_content grep_search list_dir file_search
             codebase_search list rg"
        ) =>
        {
            search(walker, call, name, &env)
        }
        "apply_patch" | "patch" => patch(walker, call.input, &env),
        "webfetch" | "web_fetch" | "fetch" | "fetch_url" | "browser_navigate" | "open_url" => {
            urls(walker, call.input);
        }
        "task" | "agent" | "websearch" | "web_search" | "google_web_search" | "todowrite"
        | "skill" | "todoread" | "exitplanmode" | "askuserquestion" | "update_plan"
        | "slashcommand" => {}
        // An MCP server's: `mcp__terminal__send_keys`.
        name if one_of!(
            name.rsplit("__").next().unwrap_or(name),
            "write_stdin send_input send_keys write_to_terminal terminal_input send_to_terminal"
        ) =>
        {
            typed(walker, call, &env)
        }
        _ => {
            if sends_lines(&tool) {
                for text in texts(call.input, words!("input text keys chars line")) {
                    run_there(walker, text, &env);
                }
            }
            code_of(walker, call.input, &tool, &env);
            unknown(walker, call.input, &env, "", 0, asks_database(&tool));
        }
    }
}

/// `mcp__terminal__send`: whole lines for a shell that runs already.
fn sends_lines(tool: &str) -> bool {
    has_any!(tool, "term shell tmux console pty") && has_any!(tool, "send type input write")
}

/// `{"language": "python", "code": …}`, or code for a tool of that name.
fn code_of(walker: &mut Walker, input: &Value, tool: &str, env: &Env) {
    let said = ["language", "lang", "runtime", "interpreter"]
        .iter()
        .find_map(|key| input.get(key)?.as_str());
    let parts = tool.split(['_', '-', ':', '.']);
    let names: Vec<String> = said
        .map(str::to_ascii_lowercase)
        .into_iter()
        .chain(parts.map(str::to_owned))
        .collect();
    for text in texts(input, words!("code source snippet script")) {
        for name in &names {
            match name.as_str() {
                "bash" | "sh" | "shell" | "zsh" => run_there(walker, text, env),
                "javascript" | "js" | "typescript" | "ts" => {
                    code::judge(walker, code::Language::JavaScript, text, &mut env.clone());
                }
                "powershell" | "pwsh" => walker.power_shell_text(text, directory(env)),
                name => {
                    if let Some(language) = crate::meaning::language(name) {
                        code::judge(walker, language, text, &mut env.clone());
                    }
                }
            }
        }
    }
}

/// Runs a text in the language of its tool: by the tool's name, by what its
/// input says, or by the system that it runs on.
fn run_text(walker: &mut Walker, name: &str, input: &Value, text: &str, directory: &str) {
    let said = ["shell", "interpreter", "executable"]
        .iter()
        .find_map(|key| input.get(key)?.as_str());
    let shell = said.unwrap_or(name).to_ascii_lowercase();
    let shell = shell.rsplit(['/', '\\']).next().unwrap_or_default();
    match shell.trim_end_matches(".exe") {
        "powershell" | "pwsh" => walker.power_shell_text(text, directory),
        "cmd" => walker.cmd_text(text, directory),
        "bash" | "sh" | "zsh" | "bashoutput" => walker.shell_text(text, directory),
        _ if native::on_windows(walker.project()) => walker.power_shell_text(text, directory),
        _ => walker.shell_text(text, directory),
    }
}

fn shell(walker: &mut Walker, call: &ToolCall, name: &str) {
    let command = ["command", "cmd", "script", "code", "input"]
        .iter()
        .find_map(|key| call.input.get(key));
    let cwd = words!("cwd workdir working_directory directory dir_path")
        .iter()
        .find_map(|key| call.input.get(key)?.as_str());
    let directory = match cwd {
        Some(path) if walker.native(path).starts_with('/') => walker.native(path).into_owned(),
        Some(path) => format!("{}/{path}", call.cwd),
        None => call.cwd.to_owned(),
    };
    let args = ["args", "arguments", "argv"];
    let args = args.iter().find_map(|key| call.input.get(key)?.as_array());
    match (command, call.input) {
        (Some(Value::String(program)), _) if args.is_some_and(|args| !args.is_empty()) => {
            let words = argv(args.into_iter().flatten());
            let text = format!("{program} {words}");
            run_text(walker, name, call.input, &text, &directory);
        }
        (Some(Value::String(text)), _) | (None, Value::String(text)) => {
            run_text(walker, name, call.input, text, &directory);
        }
        (Some(Value::Array(words)), _) => walker.shell_text(&argv(words), &directory),
        (None, Value::Object(fields)) if fields.contains_key("bash_id") || fields.is_empty() => {}
        _ => walker.report(RuleId::OpaquePayload, call.tool),
    }
}

/// Words of a list as one line of a shell.
fn argv<'v>(words: impl IntoIterator<Item = &'v Value>) -> String {
    let words = words.into_iter().filter_map(Value::as_str);
    let words: Vec<String> = words.map(str::to_owned).collect();
    crate::meaning::walk::quoted(&words)
}

/// What is typed into a program that was started before (S-04).
fn typed(walker: &mut Walker, call: &ToolCall, env: &Env) {
    let keys = words!("chars input text keys data content");
    let texts = texts(call.input, keys);
    for text in &texts {
        walker.typed(text, env);
    }
    let looks_only = call.input.as_object().is_some_and(|fields| {
        let is_said = |key: &&&str| fields.get(**key).is_some_and(|value| !value.is_null());
        !keys.iter().any(|key| is_said(&key))
    });
    if texts.is_empty() && !looks_only {
        walker.report(RuleId::OpaquePayload, call.tool);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Write,
}

const PATH_KEYS: &[&str] = words!(
    "file_path path notebook_path filepath filename file target_file absolute_path target paths
     files dir_path directory"
);

/// Every text under one of these keys, alone or in a list, or the input itself.
fn texts<'v>(input: &'v Value, keys: &[&str]) -> Vec<&'v str> {
    let mut found = Vec::new();
    for value in keys.iter().filter_map(|key| input.get(key)) {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(list) => found.extend(list.iter().filter_map(Value::as_str)),
            _ => {}
        }
    }
    found.extend(input.as_str());
    found
}

fn paths(walker: &mut Walker, input: &Value, env: &Env, access: Access) {
    let paths = texts(input, PATH_KEYS);
    for path in &paths {
        access_one(walker, path, env, access);
    }
    if paths.is_empty() {
        walker.report(RuleId::OpaquePayload, "path");
    }
}

fn access_one(walker: &mut Walker, path: &str, env: &Env, access: Access) {
    let path = path.split('\0').next().unwrap_or(path).trim();
    let below_home = path
        .strip_prefix("$HOME")
        .or_else(|| path.strip_prefix("${HOME}"));
    let path = match below_home {
        Some(rest) => format!("{}{rest}", walker.home()),
        None => path.to_owned(),
    };
    let decoded = path.replace("%2e", ".").replace("%2E", ".");
    let decoded = decoded.replace("%2f", "/").replace("%2F", "/");
    let judge = match access {
        Access::Read => files::tool_read,
        Access::Write => files::tool_write,
    };
    if decoded != path {
        judge(walker, &decoded, env);
    }
    judge(walker, &path, env);
}

fn search(walker: &mut Walker, call: &ToolCall, name: &str, env: &Env) {
    let mut directory = None;
    for key in words!("path dir_path directory target_directory file_path") {
        if let Some(path) = call.input.get(key).and_then(Value::as_str) {
            files::tool_read(walker, path, env);
            directory = Some(path);
        }
    }
    let mut patterns = Vec::new();
    for key in ["glob", "include", "file_pattern", "glob_pattern"] {
        patterns.extend(call.input.get(key).and_then(Value::as_str));
    }
    // The pattern of a content search is no path.
    if !one_of!(
        name,
        "grep search_file_content grep_search rg codebase_search"
    ) {
        for key in ["pattern", "query"] {
            patterns.extend(call.input.get(key).and_then(Value::as_str));
        }
    }
    for pattern in patterns.into_iter().flat_map(alternatives) {
        let pattern = pattern.as_str();
        let within = match directory {
            Some(directory) if !pattern.starts_with(['/', '~']) => format!("{directory}/{pattern}"),
            _ => pattern.to_owned(),
        };
        let within: String = within.chars().map(mark::with_globs).collect();
        files::tool_read(walker, &within, env);
    }
}

/// What a pattern with one list of alternatives stands for: `{a,b}/c`.
fn alternatives(pattern: &str) -> Vec<String> {
    let braces = pattern
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match braces {
        Some((before, (list, after))) if list.contains(',') => list
            .split(',')
            .map(|one| format!("{before}{one}{after}"))
            .collect(),
        _ => vec![pattern.to_owned()],
    }
}

/// The files that a patch in Codex' own format touches.
fn patch(walker: &mut Walker, input: &Value, env: &Env) {
    let text = words!("command input patch patch_text patchText diff")
        .iter()
        .find_map(|key| input.get(key)?.as_str())
        .or(input.as_str());
    let Some(text) = text else {
        return walker.report(RuleId::OpaquePayload, "patch");
    };
    files::patched(walker, text, env);
}

fn urls(walker: &mut Walker, input: &Value) {
    let mut urls = texts(input, &["url", "uri", "urls", "href"]);
    // Gemini writes its URLs into the prompt.
    let prompt = input.get("prompt").and_then(Value::as_str);
    if let Some(prompt) = prompt.filter(|_| input.get("url").is_none()) {
        let words = prompt
            .split_whitespace()
            .filter(|word| word.contains("://"));
        urls.extend(words.map(|word| word.trim_matches(['"', '\'', '(', ')', ',', '<', '>'])));
    }
    for url in &urls {
        hosts::tool_fetch(walker, url);
    }
    if urls.is_empty() {
        walker.report(RuleId::OpaquePayload, "url");
    }
}

/// Is a query of this tool one in SQL? Most others search for words.
fn asks_database(tool: &str) -> bool {
    has_any!(
        tool,
        "sql postgres maria db database supabase bigquery neon snowflake clickhouse redshift
         athena trino"
    )
}

/// What a tool that we do not know calls a command.
const COMMAND_KEYS: &[&str] =
    words!("command cmd shell script exec run bash commandline cmdline command_line");

fn directory(env: &Env) -> &str {
    env.directories.first().map_or("/", String::as_str)
}

fn run_there(walker: &mut Walker, text: &str, env: &Env) {
    walker.shell_text(text, directory(env));
}

/// A tool that we do not know (an MCP server's): what its keys call a path,
/// a URL or a command is judged as such.
fn unknown(walker: &mut Walker, value: &Value, env: &Env, key: &str, depth: usize, database: bool) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            // `{"command": "rm", "args": ["-rf", …]}`
            let program = COMMAND_KEYS
                .iter()
                .find_map(|key| fields.get(*key)?.as_str());
            let args = ["args", "arguments", "argv"];
            let args = args.iter().find_map(|key| fields.get(*key)?.as_array());
            if let (Some(program), Some(args)) = (program, args) {
                run_there(walker, &format!("{program} {}", argv(args)), env);
            }
            for (key, value) in fields {
                let key = key.to_ascii_lowercase();
                unknown(walker, value, env, &key, depth + 1, database);
            }
        }
        Value::Array(items) if key == "commands" => {
            for text in items.iter().filter_map(Value::as_str) {
                run_there(walker, text, env);
            }
        }
        Value::Array(items) => {
            let is_argv = items.len() > 1 && items.iter().all(Value::is_string);
            if is_argv && (COMMAND_KEYS.contains(&key) || key == "argv") {
                run_there(walker, &argv(items), env);
            }
            for item in items {
                unknown(walker, item, env, key, depth + 1, database);
            }
        }
        Value::String(text) => {
            let is_path = PATH_KEYS.contains(&key)
                || key.ends_with("path")
                || key.ends_with("_file")
                || key.ends_with("_dir")
                || one_of!(key, "source destination uri root cwd src dst");
            if matches!(key, "url" | "uri" | "href" | "endpoint" | "urls") && text.contains(':') {
                hosts::tool_fetch(walker, text);
            } else if COMMAND_KEYS.contains(&key) {
                run_there(walker, text, env);
            } else if matches!(key, "sql" | "statement") || key == "query" && database {
                sql::judge(walker, text);
            } else if is_path {
                files::tool_write(walker, text, env);
                files::tool_read(walker, text, env);
            }
        }
        _ => {}
    }
}
