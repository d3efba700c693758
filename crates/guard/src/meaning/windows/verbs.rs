//! The verbs of PowerShell, under whatever name: what each does to files,
//! hosts, programs and the registry.

use super::power_shell::{Shell, text_of};
use super::read::Word;
use crate::RuleId;
use crate::mark::{self, SECRET, STAR, UNKNOWN};
use crate::meaning::env::Flow;
use crate::meaning::walk::join;
use crate::meaning::{files, hosts};
use crate::words::{ByWord, is_one_of};

/// A command with the values of its words.
pub struct Called<'c, 't> {
    pub name: &'c str,
    pub args: &'c [String],
    /// The same words as they are written, for the blocks among them.
    pub words: &'t [Word],
    pub stdin: &'c Flow,
}

static ALIASES: ByWord<&str> = by_word! {
    "ri rm rmdir del erase rd" => "remove-item";
    "gc cat type" => "get-content";
    "sc" => "set-content";
    "ac" => "add-content";
    "clc" => "clear-content";
    "ni md mkdir" => "new-item";
    "cp copy cpi" => "copy-item";
    "mv move mi" => "move-item";
    "ren rni" => "rename-item";
    "gci ls dir" => "get-childitem";
    "gi" => "get-item";
    "si" => "set-item";
    "cli" => "clear-item";
    "sp" => "set-itemproperty";
    "rp" => "remove-itemproperty";
    "gp gpv" => "get-itemproperty";
    "iwr" => "invoke-webrequest";
    "irm" => "invoke-restmethod";
    "iex" => "invoke-expression";
    "icm" => "invoke-command";
    "sajb" => "start-job";
    "saps start" => "start-process";
    "ii" => "invoke-item";
    "spps kill" => "stop-process";
    "spsv" => "stop-service";
    "% foreach" => "foreach-object";
    "? where" => "where-object";
    "select" => "select-object";
    "sort" => "sort-object";
    "sls" => "select-string";
    "echo write" => "write-output";
    "tee" => "tee-object";
    "sl cd chdir" => "set-location";
    "pushd" => "push-location";
    "nal sal" => "set-alias";
    "ipmo" => "import-module";
    "gcb" => "get-clipboard";
    "clhy" => "clear-history";
    "iwmi" => "invoke-wmimethod";
    "icim" => "invoke-cimmethod";
    "rvpa" => "resolve-path";
};

/// Parameters that take no value, by whose start they may be written.
const SWITCHES: &[&str] = words!(
    "recurse force verbose whatif raw append noclobber nonewline passthru hidden directory
     container wait asjob usebasicparsing nonewwindow disablekeepalive asbytestream leaf
     usedefaultcredentials skipcertificatecheck debug allowclobber followsymlink unique file"
);

#[derive(Default)]
struct Params {
    named: Vec<(String, String)>,
    switches: Vec<String>,
    operands: Vec<String>,
}

impl Params {
    fn read(args: &[String]) -> Self {
        let mut params = Params::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
                params.operands.push(word.clone());
                continue;
            };
            let name = name.to_lowercase();
            if let Some((name, value)) = name.split_once(':') {
                let value = word.get(word.len() - value.len()..).unwrap_or(value);
                params.named.push((name.to_owned(), value.to_owned()));
            } else if SWITCHES.iter().any(|full| full.starts_with(&name)) && name != "fi" {
                params.switches.push(name);
            } else if let Some(value) = words.next() {
                params.named.push((name, value.clone()));
            }
        }
        params
    }

    fn has(&self, full: &str) -> bool {
        self.switches.iter().any(|name| full.starts_with(name))
    }

    /// The value of a parameter, by whatever start of its name.
    fn value(&self, full: &str) -> Option<&str> {
        let is = |name: &str| !name.is_empty() && full.starts_with(name);
        let found = self.named.iter().find(|(name, _)| is(name));
        found.map(|(_, value)| value.as_str())
    }

    fn values<'p>(&'p self, names: &'p [&str]) -> impl Iterator<Item = &'p str> {
        let is = move |name: &str| {
            names
                .iter()
                .any(|full| name == *full || name.len() > 1 && full.starts_with(name))
        };
        let named = self.named.iter().filter(move |(name, _)| is(name));
        named.map(|(_, value)| value.as_str())
    }

    /// The paths that a verb is about.
    fn paths(&self) -> Vec<&str> {
        let named = self.values(&["path", "literalpath", "pspath", "lp"]);
        let mut paths: Vec<&str> = named.collect();
        paths.extend(self.operands.iter().map(String::as_str));
        paths
    }
}

fn in_registry(path: &str) -> bool {
    let lower = path.to_lowercase();
    is_one_of(
        "hklm:*|hkcu:*|hkcr:*|hku:*|hkcc:*|registry::*|hkey_*|microsoft.powershell.core\\registry*",
        &lower,
    )
}

/// A path of another drive than those of the disk.
fn on_virtual_drive(path: &str) -> bool {
    let lower = path.to_lowercase();
    is_one_of("env:*|function:*|variable:*|alias:*|cert:*|wsman:*", &lower)
}

pub fn judge<'t>(shell: &mut Shell<'_, '_, '_, 't>, called: &Called<'_, 't>) -> Flow {
    let lower = called.name.to_lowercase();
    let alias = shell.env.aliases.get(&lower).cloned();
    let lower = alias.unwrap_or(lower);
    if is_native(&lower, called.args) {
        return started(shell, called.name, called.args, called.stdin);
    }
    let verb = ALIASES.get(&lower).copied().unwrap_or(&lower);
    let params = Params::read(called.args);
    if params.has("whatif") && !params.switches.iter().any(|name| name == "w") {
        return Flow::nothing();
    }
    if let Some(flow) = on_files(shell, verb, &params, called) {
        return flow;
    }
    let made = shell.blocks(called.words, called.stdin);
    match verb {
        "foreach-object" | "invoke-command" | "start-job" | "start-threadjob"
        | "measure-command" => {
            for path in params.values(&["filepath"]) {
                shell.walker.script_file(path, shell.env);
            }
            made
        }
        "where-object" | "select-object" | "sort-object" | "get-unique" | "group-object" => {
            narrowed(called.stdin)
        }
        _ => on_others(shell, verb, &params, called),
    }
}

/// Programs of the same name as an alias, by what they are told.
fn is_native(name: &str, args: &[String]) -> bool {
    let first = args.first().map_or("", String::as_str).to_lowercase();
    match name {
        "sc" => one_of!(
            first.as_str(),
            "create delete config stop start query qc failure sdset \\\\*"
        ),
        "curl" | "wget" => true,
        "rm" | "cp" | "mv" | "ls" | "cat" | "mkdir" => {
            // The programs of a Unix have their letters in one word.
            let is_bundle = |word: &String| {
                one_of!(
                    word.as_str(),
                    "-rf -fr -Rf -rfv -la -al -lah -p -R -a -rv -av"
                )
            };
            args.iter().any(is_bundle)
        }
        _ => false,
    }
}

fn started(shell: &mut Shell, name: &str, args: &[String], stdin: &Flow) -> Flow {
    let args: Vec<String> = args.to_vec();
    // `curl` is another name of the verb that fetches.
    let fetches = one_of!(name.to_lowercase().as_str(), "curl wget");
    let params = Params::read(&args);
    if fetches && (params.value("uri").is_some() || params.value("outfile").is_some()) {
        return fetched(shell, &params);
    }
    shell.walker.windows_program(name, &args, shell.env, stdin)
}

/// Verbs that work on files and on what looks like them.
fn on_files(shell: &mut Shell, verb: &str, params: &Params, called: &Called) -> Option<Flow> {
    let paths = params.paths();
    let changes = is_one_of(
        "remove-*|set-item*|new-item*|clear-item*|rename-*|copy-*|move-*",
        verb,
    );
    if changes && let Some(path) = paths.iter().find(|path| in_registry(path)) {
        shell.walker.report(RuleId::SystemKernel, path);
        return Some(Flow::nothing());
    }
    if let Some(path) = paths.iter().find(|path| on_virtual_drive(path)) {
        return Some(virtual_drive(shell, verb, path));
    }
    let (walker, env) = (&mut *shell.walker, &mut *shell.env);
    match verb {
        "remove-item" | "clear-content" | "clear-item" => {
            for path in &paths {
                files::delete(walker, path, env, true);
            }
            if paths.is_empty() {
                let text = text_of(called.stdin);
                let lines = text.lines().filter(|line| !line.is_empty());
                lines.for_each(|path| files::delete(walker, path, env, true));
            }
            Some(Flow::nothing())
        }
        "get-content" | "import-csv" | "import-clixml" | "get-filehash" | "format-hex" => {
            files::read_all(walker, &paths, env);
            let flows = paths.iter().map(|path| walker.file_flow(path, env));
            Some(flows.fold(Flow::nothing(), join))
        }
        "select-string" => {
            let skip = usize::from(params.value("pattern").is_none());
            let named = params.values(&["path", "literalpath"]);
            let files: Vec<&str> = named
                .chain(params.operands.iter().skip(skip).map(String::as_str))
                .collect();
            files::read_all(walker, files, env);
            Some(narrowed(called.stdin))
        }
        "set-content" | "add-content" | "out-file" | "tee-object" | "export-csv"
        | "export-clixml" | "set-item" | "new-item" => {
            Some(written(shell, verb, params, called.stdin))
        }
        "copy-item" | "move-item" | "rename-item" => {
            copied(shell, verb, params);
            Some(Flow::nothing())
        }
        "set-itemproperty" | "new-itemproperty" | "remove-itemproperty" | "set-acl" => {
            files::write_all(walker, paths.first(), env);
            None
        }
        "get-childitem" => files_listed(shell, params),
        "get-item" | "resolve-path" | "convert-path" => Some(Flow::Text(paths.join("\n"))),
        "join-path" => {
            let mut parts: Vec<&str> = paths.clone();
            parts.extend(params.value("childpath"));
            Some(Flow::Text(parts.join("/")))
        }
        "compress-archive" | "expand-archive" => {
            packed(shell, verb, params);
            Some(Flow::nothing())
        }
        _ => None,
    }
}

fn packed(shell: &mut Shell, verb: &str, params: &Params) {
    let (walker, env) = (&mut *shell.walker, &mut *shell.env);
    let paths = params.paths();
    let to = params.value("destinationpath").or(paths.get(1).copied());
    let from = paths.first().copied();
    if verb == "compress-archive" {
        files::read_all(walker, from, env);
    } else if from.is_some_and(|path| walker.file_flow(path, env) == Flow::Network) {
        env.unpacked = true;
    }
    files::write_all(walker, to, env);
}

/// Verbs that write one file.
fn written(shell: &mut Shell, verb: &str, params: &Params, stdin: &Flow) -> Flow {
    let (walker, env) = (&mut *shell.walker, &mut *shell.env);
    let paths = params.paths();
    let named = params.value("filepath").or(paths.first().copied());
    let path = match (params.value("name"), named) {
        (Some(name), Some(path)) if verb == "new-item" => Some(format!("{path}/{name}")),
        (Some(name), None) if verb == "new-item" => Some(name.to_owned()),
        (_, path) => path.map(str::to_owned),
    };
    let text = params
        .value("value")
        .or(params.operands.get(1).map(String::as_str));
    let flow = text.map_or(stdin.clone(), |text| Flow::Text(text.to_owned()));
    if let Some(path) = path {
        files::write(walker, &path, env);
        if verb != "new-item" || text.is_some() {
            walker.note_file(&path, &flow, env);
        }
    }
    if let Some(target) = params.value("target") {
        files::linked(walker, target);
        files::read(walker, target, env);
    }
    match verb {
        "tee-object" => stdin.clone(),
        _ => Flow::nothing(),
    }
}

/// `env:`, `cert:` and the others.
fn virtual_drive(shell: &mut Shell, verb: &str, path: &str) -> Flow {
    let (drive, name) = path.split_once(':').unwrap_or((path, ""));
    let name = name.trim_start_matches(['\\', '/']);
    match (drive.to_lowercase().as_str(), verb) {
        ("env", "get-childitem" | "get-item" | "get-content") => {
            let value = shell.walker.windows_variable(name, shell.env);
            let all = name.is_empty() || name.contains(mark::is_glob);
            if all || value.contains(SECRET) {
                shell.walker.report(RuleId::SecretEnvironment, path);
                return Flow::Environment;
            }
            Flow::Text(value)
        }
        ("env", "set-item" | "new-item" | "set-content") => {
            // As `$env:name = …` does.
            Flow::nothing()
        }
        ("cert", "remove-item" | "set-item" | "move-item" | "copy-item") => {
            shell.walker.report(RuleId::SystemKernel, path);
            Flow::nothing()
        }
        _ => Flow::Unknown,
    }
}

fn files_listed(shell: &mut Shell, params: &Params) -> Option<Flow> {
    let mut paths = params.paths();
    if paths.is_empty() {
        paths.push(".");
    }
    let narrow = params.values(&["filter", "include"]).next().is_some();
    let mut found = Vec::new();
    for path in paths.iter().take(1) {
        files::list(shell.walker, path, shell.env);
        found.push(match narrow || path.contains(STAR) && path.len() > 4 {
            true if path.contains(STAR) => (*path).to_owned(),
            true => format!("{path}/found/found"),
            false => format!("{path}/{STAR}"),
        });
    }
    Some(Flow::Text(found.join("\n")))
}

/// A copy holds what its source held.
fn copied(shell: &mut Shell, verb: &str, params: &Params) {
    let (walker, env) = (&mut *shell.walker, &mut *shell.env);
    let paths = params.paths();
    let target = params.value("destination").or(params.value("newname"));
    let (sources, target) = match (target, paths.split_last()) {
        (Some(target), _) => (paths.as_slice(), Some(target)),
        (None, Some((last, sources))) if !sources.is_empty() => (sources, Some(*last)),
        _ => (paths.as_slice(), None),
    };
    match verb {
        "copy-item" => files::read_all(walker, sources, env),
        _ => files::delete_all(walker, sources, env),
    }
    files::write_all(walker, target, env);
    for (source, target) in sources.iter().zip(target) {
        let flow = walker.file_flow(source, env);
        if flow != Flow::Files {
            walker.note_file(target, &flow, env);
        }
    }
}

/// Verbs that fetch, run or speak.
fn on_others(shell: &mut Shell, verb: &str, params: &Params, called: &Called) -> Flow {
    match verb {
        "invoke-webrequest" | "invoke-restmethod" | "start-bitstransfer" => fetched(shell, params),
        "invoke-expression" => {
            let text = match params.operands.is_empty() {
                true => params
                    .value("command")
                    .map_or_else(|| text_of(called.stdin), str::to_owned),
                false => called.args.join(" "),
            };
            shell.evaluate(&text)
        }
        "start-process" | "invoke-item" => starts(shell, params),
        "stop-process" => {
            let numbers = params.value("id").into_iter();
            let names = params.value("name").or(params.value("processname"));
            for (program, what) in numbers
                .map(|id| ("kill", id))
                .chain(names.map(|name| ("pkill", name)))
            {
                let argv = [program.to_owned(), mark::unmark(what)];
                shell.walker.run(&argv, shell.env, &Flow::Unknown);
            }
            Flow::nothing()
        }
        "set-location" | "push-location" => entered(shell, params),
        "write-output" | "write-host" | "write-information" | "write-warning" | "write-error" => {
            let text = called.args.join(" ");
            if text.contains(SECRET) {
                shell.walker.report(RuleId::SecretEnvironment, verb);
            }
            Flow::Text(format!("{text}\n"))
        }
        "set-alias" | "new-alias" => {
            let name = params
                .value("name")
                .or(params.operands.first().map(String::as_str));
            let value = params
                .value("value")
                .or(params.operands.last().map(String::as_str));
            if let (Some(name), Some(value)) = (name, value) {
                shell
                    .env
                    .aliases
                    .insert(name.to_lowercase(), value.to_lowercase());
            }
            Flow::nothing()
        }
        "out-null" => Flow::nothing(),
        "out-string" | "out-host" | "out-default" => called.stdin.clone(),
        "import-module" => {
            for path in params
                .operands
                .iter()
                .filter(|path| path.contains(['.', '/', '\\']))
            {
                shell.walker.script_file(path, shell.env);
            }
            Flow::nothing()
        }
        verb if is_cmdlet(verb) => {
            let mut argv = vec![verb.to_owned()];
            argv.extend(called.args.iter().map(|word| word.to_lowercase()));
            shell.walker.run(&argv, shell.env, called.stdin)
        }
        _ => started(shell, called.name, called.args, called.stdin),
    }
}

/// `Start-Process`.
fn starts(shell: &mut Shell, params: &Params) -> Flow {
    if params
        .values(&["verb"])
        .any(|verb| verb.eq_ignore_ascii_case("runas"))
    {
        shell.walker.report(RuleId::PrivilegeEscalate, "RunAs");
    }
    let mut words = params.operands.iter().map(String::as_str);
    let program = params.value("filepath").or_else(|| words.next());
    let args = params.value("argumentlist").into_iter().chain(words);
    let args: Vec<String> = args
        .flat_map(|text| text.split(' ').map(str::to_owned))
        .collect();
    let Some(program) = program else {
        return Flow::Unknown;
    };
    // What is opened may be an address.
    if program.contains("://") {
        hosts::fetch(shell.walker, program);
        return Flow::Unknown;
    }
    shell
        .walker
        .windows_program(program, &args, shell.env, &Flow::Unknown)
}

/// `Set-Location`.
fn entered(shell: &mut Shell, params: &Params) -> Flow {
    let paths = params.paths();
    let target = match paths.first().copied() {
        None | Some("~") => shell.walker.home(),
        Some(path) => path,
    };
    shell.env.directories = match mark::has_computed(target) || mark::has_glob(target) {
        true => vec![UNKNOWN.to_string()],
        false => shell.walker.directories(target, shell.env),
    };
    Flow::nothing()
}

/// `verb-noun`.
fn is_cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        let is_word =
            |text: &str| text.len() > 1 && text.bytes().all(|b| b.is_ascii_alphanumeric());
        is_word(verb) && is_word(noun)
    })
}

fn fetched(shell: &mut Shell, params: &Params) -> Flow {
    let (walker, env) = (&mut *shell.walker, &mut *shell.env);
    let named = params.values(&["uri", "source"]);
    let urls: Vec<&str> = named
        .chain(params.operands.iter().map(String::as_str))
        .filter(|word| word.contains("://") || word.contains('.') || mark::has_computed(word))
        .collect();
    for url in urls.iter().take(2) {
        hosts::fetch(walker, url);
        if url.contains(SECRET) {
            walker.report(RuleId::SecretSend, url);
        }
    }
    if params.values(&["body"]).any(|text| text.contains(SECRET)) {
        walker.report(RuleId::SecretSend, "-Body");
    }
    files::read_all(walker, params.value("infile"), env);
    let second = params.operands.get(1).map(String::as_str);
    let target = params
        .value("outfile")
        .or(params.value("destination"))
        .or(second.filter(|word| !word.contains("://")));
    let Some(path) = target else {
        return Flow::Network;
    };
    files::write(walker, path, env);
    walker.note_file(path, &Flow::Network, env);
    Flow::nothing()
}

/// Of everything, some.
fn narrowed(stdin: &Flow) -> Flow {
    match stdin {
        Flow::Text(text) => Flow::Text(text.replace(STAR, "found")),
        other => other.clone(),
    }
}
