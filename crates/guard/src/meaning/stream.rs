//! Commands that start others for each thing they are given or find.

use super::args::Takes;
use super::command::Command;
use super::env::{Env, Flow};
use super::known;
use super::walker::Walker;
use super::wrap::after_options;
use crate::RuleId;
use crate::mark::{self, STAR, UNKNOWN};

const XARGS: Takes = takes!(
    "IiLlnPsEeda",
    "replace max-args max-procs delimiter arg-file max-lines"
);

impl Walker<'_> {
    pub fn xargs(&mut self, command: &Command, env: &mut Env) -> Flow {
        let options = command.read(XARGS);
        let inner = after_options(command.args, XARGS, 0);
        let marker = options.values(&["I", "i", "replace"]).next();
        let given: Vec<String> = match command.stdin {
            // With a marker, a line is one item.
            Flow::Text(text) if marker.is_some() => {
                text.lines().map(|line| line.trim().to_owned()).collect()
            }
            Flow::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            _ => vec![UNKNOWN.to_string()],
        };
        let mut argv = inner.to_vec();
        if argv.is_empty() {
            argv.push("echo".to_owned());
        }
        let starts_shell = argv.first().is_some_and(|name| known::is_shell(name));
        if starts_shell && *command.stdin == Flow::Network {
            self.report(RuleId::NetPipeToShell, "xargs");
        }
        self.trace.unwrapped("xargs");
        match marker {
            Some(marker) if !marker.is_empty() => {
                let put = |word: &String, item: &String| word.replace(marker, item);
                let mut flow = Flow::Unknown;
                for item in given.iter().take(16) {
                    let argv: Vec<String> = argv.iter().map(|word| put(word, item)).collect();
                    flow = self.run(&argv, env, &Flow::Unknown);
                }
                flow
            }
            _ => {
                argv.extend(given);
                self.run(&argv, env, &Flow::Unknown)
            }
        }
    }

    pub fn parallel(&mut self, command: &Command, env: &mut Env) -> Flow {
        let takes = takes!(
            "jNnIaSC",
            "jobs colsep arg-file joblog results timeout retries"
        );
        let inner = after_options(command.args, takes, 0);
        let split = inner.iter().position(|word| word.starts_with(":::"));
        let (words, given) = inner.split_at(split.unwrap_or(inner.len()));
        let given: Vec<String> = match (split, command.stdin) {
            (Some(_), _) => {
                let items = given.iter().filter(|word| !word.starts_with(":::"));
                items.cloned().collect()
            }
            (None, Flow::Text(text)) => text.lines().map(str::to_owned).collect(),
            (None, _) => vec![UNKNOWN.to_string()],
        };
        self.trace.unwrapped("parallel");
        let template = words.join(" ");
        for item in given.iter().take(16) {
            let text = if template.is_empty() {
                item.clone()
            } else if template.contains("{}") {
                template.replace("{}", item)
            } else {
                format!("{template} {item}")
            };
            self.aside(&text, env);
        }
        Flow::Unknown
    }

    /// `-exec`, `-execdir`, `-ok` of find and `-x`, `-X` of fd.
    pub fn find(&mut self, command: &Command, env: &mut Env) {
        let found = found_paths(command);
        let args = command.args;
        let mut at = 0;
        while let Some(word) = args.get(at) {
            at += 1;
            let starts = match command.name {
                "fd" | "fdfind" => matches!(word.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"),
                _ => matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"),
            };
            if !starts {
                continue;
            }
            let rest = args.get(at..).unwrap_or_default();
            let ends = |word: &String| word == ";" || word == "+";
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            let mut argv: Vec<String> = Vec::new();
            for word in rest.get(..length).unwrap_or_default() {
                if word == "{}" {
                    argv.extend(found.iter().cloned());
                } else if word.contains("{}") {
                    argv.extend(found.iter().map(|path| word.replace("{}", path)));
                } else {
                    argv.push(word.clone());
                }
            }
            if matches!(command.name, "fd" | "fdfind") && !rest.iter().any(|w| w.contains("{}")) {
                argv.extend(found.iter().cloned());
            }
            self.trace.unwrapped(command.name);
            if let [program] = argv.as_slice()
                && known::is_shell(program)
            {
                self.report(RuleId::OpaqueCode, program);
            }
            self.run(&argv, env, &Flow::Unknown);
            at += length;
        }
    }
}

/// Paths that stand for everything a `find` may find: below its roots, with
/// the names that it asks for.
pub fn found_paths(command: &Command) -> Vec<String> {
    if matches!(command.name, "fd" | "fdfind") {
        return vec![found_by_fd(command)];
    }
    let args = command.args;
    let mut roots: Vec<&str> = args
        .iter()
        .map(String::as_str)
        .skip_while(|word| matches!(*word, "-L" | "-P" | "-H"))
        .take_while(|word| !word.starts_with(['-', '(', '!']))
        .collect();
    if roots.is_empty() {
        roots.push(".");
    }
    let is_negated = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| args.get(before));
        before.is_some_and(|before| before == "!" || before == "-not")
    };
    let names: Vec<&str> = command
        .pairs()
        .enumerate()
        .filter(|(at, (flag, _))| {
            one_of!(flag, "-name -iname -path -ipath -wholename") && !is_negated(*at)
        })
        .map(|(_, (_, name))| name)
        .collect();
    let only_root = command.pairs().any(|pair| pair == ("-maxdepth", "0"));
    let says_regex = |(flag, pattern): (&str, &str)| {
        matches!(flag, "-regex" | "-iregex") && pattern.contains(char::is_alphanumeric)
    };
    let narrow = command.has("-empty|-newer|-mtime|-mmin|-size|-xtype|-inum")
        || command.pairs().any(says_regex);
    let mut paths = Vec::new();
    for root in roots.iter().filter(|root| matches!(**root, "." | "./")) {
        paths.extend(found_settings(root, &names));
    }
    let is_useful = |name: &&&str| name.contains(|c: char| !matches!(c, '*' | '?' | '.' | '/'));
    let useful: Vec<&&str> = names.iter().filter(is_useful).collect();
    for root in roots {
        let root = root.trim_end_matches('/');
        if only_root {
            paths.push(if root.is_empty() { "/" } else { root }.to_owned());
        } else if useful.is_empty() && narrow {
            paths.push(format!("{root}/found/old"));
        } else if useful.is_empty() {
            paths.push(format!("{root}/{STAR}"));
        }
        for name in useful.iter().filter(|_| !only_root) {
            let name = name.trim_start_matches("./").replace("*/", "found/");
            let name = name.replace("/*", "/found");
            let name: String = name.chars().map(mark::with_globs).collect();
            paths.extend([format!("{root}/found/{name}"), format!("{root}/{name}")]);
        }
    }
    paths
}

fn found_by_fd(command: &Command) -> String {
    let options = command.read(takes!("eEtdjxXcS", "extension exclude type max-depth"));
    let root = options.operands.get(1).copied().unwrap_or(".");
    let pattern = options.operands.first();
    match (options.values(&["e", "extension"]).next(), pattern) {
        (Some(extension), _) => format!("{root}/found/found.{extension}"),
        (None, Some(pattern)) if pattern.contains(char::is_alphanumeric) => {
            format!("{root}/found/found{pattern}")
        }
        _ => format!("{root}/{STAR}"),
    }
}

/// A search for the name of an agent's settings finds them too.
fn found_settings(root: &str, names: &[&str]) -> Vec<String> {
    let settings = |name: &&str| match *name {
        "settings.json" | "settings.local.json" | "hooks.json" => {
            Some(format!("{root}/.claude/{name}"))
        }
        name if name.starts_with("settings") && name.contains('*') => {
            Some(format!("{root}/.claude/settings.json"))
        }
        _ => None,
    };
    let whole = |name: &&&str| name.starts_with("./.") && name.ends_with("/*");
    let directories = names.iter().filter(whole);
    let directories = directories.map(|name| name.trim_end_matches("/*").to_owned());
    names
        .iter()
        .filter_map(settings)
        .chain(directories)
        .collect()
}
