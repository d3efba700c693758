//! Commands that start others for each thing they are given or find.

use super::args::{Args, Takes};
use super::command::Command;
use super::env::{Env, Flow};
use super::mark::{STAR, UNKNOWN};
use super::walk::Walker;
use super::wrap::after_options;
use crate::RuleId;

const XARGS: Takes = takes!(
    "IiLlnPsEeda",
    "replace max-args max-procs delimiter arg-file max-lines"
);

impl Walker<'_> {
    pub fn xargs(&mut self, command: &Command, env: &mut Env) -> Flow {
        let options = command.read(XARGS);
        let inner = after_options(command.args, XARGS, 0);
        let marker = options
            .values(&["I", "i", "replace"])
            .next()
            .map(str::to_owned);
        let (given, from_network) = match command.stdin {
            // With a marker, a line is one item.
            Flow::Text(text) if marker.is_some() => (
                text.lines().map(|line| line.trim().to_owned()).collect(),
                false,
            ),
            Flow::Text(text) => (text.split_whitespace().map(str::to_owned).collect(), false),
            Flow::Network => (vec![UNKNOWN.to_string()], true),
            _ => (vec![UNKNOWN.to_string()], false),
        };
        let mut argv: Vec<String> = if inner.is_empty() {
            vec!["echo".to_owned()]
        } else {
            inner.to_vec()
        };
        if from_network
            && argv
                .first()
                .is_some_and(|name| super::interpret::is_shell(name))
        {
            self.report(RuleId::NetPipeToShell, "xargs");
        }
        self.trace.unwrapped("xargs");
        match marker {
            Some(marker) if !marker.is_empty() => {
                let put = |word: &String, item: &String| word.replace(marker.as_str(), item);
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
            (Some(_), _) => given
                .iter()
                .filter(|w| !w.starts_with(":::"))
                .cloned()
                .collect(),
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
            let length = rest
                .iter()
                .position(|word| word == ";" || word == "+")
                .unwrap_or(rest.len());
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
                && super::interpret::is_shell(program)
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
    let args = command.args;
    if matches!(command.name, "fd" | "fdfind") {
        let takes = takes!("eEtdjxXcS", "extension exclude type max-depth");
        let options = Args::read(args, takes);
        let root = options.operands.get(1).copied().unwrap_or(".");
        let extension = options.values(&["e", "extension"]).next();
        let pattern = options
            .operands
            .first()
            .filter(|pattern| pattern.contains(|c: char| c.is_alphanumeric()));
        return vec![match (extension, pattern) {
            (Some(extension), _) => format!("{root}/found/found.{extension}"),
            (None, Some(pattern)) => format!("{root}/found/found{pattern}"),
            (None, None) => format!("{root}/{STAR}"),
        }];
    }
    let roots: Vec<&String> = args
        .iter()
        .skip_while(|word| matches!(word.as_str(), "-L" | "-P" | "-H"))
        .take_while(|word| !word.starts_with(['-', '(', '!']))
        .collect();
    let names: Vec<&String> = args
        .iter()
        .zip(args.iter().skip(1))
        .enumerate()
        .filter(|(at, (flag, _))| {
            let negated = at
                .checked_sub(1)
                .and_then(|before| args.get(before))
                .is_some_and(|before| before == "!" || before == "-not");
            !negated && one_of!(flag.as_str(), "-name -iname -path -ipath -wholename")
        })
        .map(|(_, (_, name))| name)
        .collect();
    let has = |flag: &str| args.iter().any(|word| word == flag);
    let only_root = args
        .iter()
        .zip(args.iter().skip(1))
        .any(|(flag, value)| flag == "-maxdepth" && value == "0");
    let narrow = has("-empty")
        || has("-newer")
        || has("-mtime")
        || has("-mmin")
        || args.iter().zip(args.iter().skip(1)).any(|(flag, pattern)| {
            matches!(flag.as_str(), "-regex" | "-iregex")
                && pattern.contains(|c: char| c.is_alphanumeric())
        })
        || has("-size")
        || has("-xtype")
        || has("-inum");
    let default = ".".to_owned();
    let roots = if roots.is_empty() {
        vec![&default]
    } else {
        roots
    };
    let mut paths = Vec::new();
    // A search for the name of an agent's settings finds them too.
    let settings = ["settings.json", "settings.local.json", "hooks.json"];
    for root in roots
        .iter()
        .filter(|root| matches!(root.as_str(), "." | "./"))
    {
        let found = |name: &&String| match name.as_str() {
            name if settings.contains(&name) => Some(format!("{root}/.claude/{name}")),
            name if name.starts_with("settings") && name.contains('*') => {
                Some(format!("{root}/.claude/settings.json"))
            }
            _ => None,
        };
        paths.extend(names.iter().filter_map(found));
        let whole = |name: &&&String| name.starts_with("./.") && name.ends_with("/*");
        let directories = names.iter().filter(whole);
        paths.extend(directories.map(|name| name.trim_end_matches("/*").to_owned()));
    }
    for root in roots {
        let root = root.trim_end_matches('/');
        if only_root {
            paths.push(if root.is_empty() {
                "/".to_owned()
            } else {
                root.to_owned()
            });
            continue;
        }
        let useful = |name: &&&String| name.contains(|c: char| !matches!(c, '*' | '?' | '.' | '/'));
        let named: Vec<String> = names
            .iter()
            .filter(useful)
            .map(|name| {
                let name = name
                    .trim_start_matches("./")
                    .replace("*/", "found/")
                    .replace("/*", "/found");
                name.chars().map(super::mark::with_globs).collect()
            })
            .flat_map(|name: String| [format!("{root}/found/{name}"), format!("{root}/{name}")])
            .collect();
        if named.is_empty() {
            let rest = if narrow {
                "found/old".to_owned()
            } else {
                STAR.to_string()
            };
            paths.push(format!("{root}/{rest}"));
        } else {
            paths.extend(named);
        }
    }
    paths
}
