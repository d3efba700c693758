//! Commands that start others for each thing they are given or find.

use super::args::Takes;
use super::command::Command;
use super::env::{Env, Flow};
use super::known;
use super::walker::Walker;
use super::wrap::after_options;
use crate::RuleId;
use crate::mark::{self, STAR, UNKNOWN};
use crate::words::is_one_of;

/// `-i`, `-l` and `-e` take a value only within their own word.
const XARGS: Takes = takes!(
    "ILnPsEda",
    "max-args max-procs max-chars delimiter arg-file process-slot-var"
);
const PARALLEL: Takes = takes!(
    "jNnIaSCL",
    "jobs colsep arg-file joblog results timeout retries delay max-args max-replace-args
     sshlogin workdir tmpdir load nice shebang halt"
);
const RUSH: Takes = takes!(
    "ijdnTRrtsJ",
    "infile jobs record-delimiter field-delimiter nrecords"
);

/// How many of the things that are given are tried.
const MAX_GIVEN: usize = 16;

impl Walker<'_> {
    pub fn xargs(&mut self, command: &Command, env: &mut Env) -> Flow {
        let options = command.read(XARGS);
        let mut argv = after_options(command.args, XARGS, 0).to_vec();
        let marker = xargs_marker(command.args, options.values(&["I"]).next());
        let list = options.values(&["a", "arg-file"]).next();
        let given = list.map(|path| self.file_flow(path, env));
        let given = given.as_ref().unwrap_or(command.stdin);
        // With a marker or a delimiter, a line is one item.
        let by_line = marker.is_some()
            || options.has('d', "delimiter")
            || options.has('0', "null")
            || options.short('L');
        let items: Vec<String> = match given {
            Flow::Text(text) if by_line => {
                let lines = text.split(['\n', '\0']).map(str::trim);
                let lines = lines.filter(|line| !line.is_empty());
                lines.map(str::to_owned).collect()
            }
            Flow::Text(text) => unquoted(text),
            _ => vec![UNKNOWN.to_string()],
        };
        if argv.is_empty() {
            argv.push("echo".to_owned());
        }
        let starts_shell = argv.first().is_some_and(|name| known::is_shell(name));
        if starts_shell && *given == Flow::Network {
            self.report(RuleId::NetPipeToShell, "xargs");
        }
        self.trace.unwrapped("xargs");
        // `xargs sh -c`: what is given is the code.
        let is_code = starts_shell && argv.last().is_some_and(|word| is_one_of("-c|-*c", word));
        let lines: Vec<Vec<String>> = match marker {
            Some(marker) => items
                .iter()
                .take(MAX_GIVEN)
                .map(|item| {
                    argv.iter()
                        .map(|word| word.replace(&marker, item))
                        .collect()
                })
                .collect(),
            None if is_code => items
                .into_iter()
                .take(MAX_GIVEN)
                .map(|item| argv.iter().cloned().chain([item]).collect())
                .collect(),
            None => {
                argv.extend(items);
                vec![argv]
            }
        };
        let mut flow = Flow::Unknown;
        for line in &lines {
            flow = self.run(line, env, &Flow::Unknown);
        }
        flow
    }

    /// GNU parallel and rush: a template that a shell runs for each item.
    pub fn parallel(&mut self, command: &Command, env: &mut Env) -> Flow {
        let takes = match command.name {
            "rush" => RUSH,
            _ => PARALLEL,
        };
        let options = command.read(takes);
        let inner = after_options(command.args, takes, 0);
        let starts = |word: &String| word.starts_with(":::") || word == "--";
        let split = inner.iter().position(starts);
        let (words, given) = inner.split_at(split.unwrap_or(inner.len()));
        let from_files = given.first().is_some_and(|sign| sign.starts_with("::::"));
        let mut lists: Vec<&str> = options.values(&["a", "arg-file", "i", "infile"]).collect();
        let plain = given.iter().filter(|word| !starts(word));
        if from_files {
            lists.extend(plain.clone().map(String::as_str));
        }
        let flow = lists.first().map(|path| self.file_flow(path, env));
        let items: Vec<String> = match (split, flow.as_ref().unwrap_or(command.stdin)) {
            (Some(_), _) if !from_files => plain.cloned().collect(),
            (_, Flow::Text(text)) => text.lines().map(str::to_owned).collect(),
            _ => vec![UNKNOWN.to_string()],
        };
        self.trace.unwrapped(command.name);
        if options.long("pipe") || options.long("pipepart") {
            return self.run(words, env, command.stdin);
        }
        let template = words.join(" ");
        let marker = options
            .values(&["I"])
            .next()
            .filter(|_| command.name != "rush");
        for item in items.iter().take(MAX_GIVEN) {
            let text = match filled(&template, item, marker.unwrap_or("{}")) {
                _ if template.is_empty() => item.clone(),
                Some(text) => text,
                None => format!("{template} {item}"),
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

/// What `xargs` puts an item for: `-I X`, `-i`, `-iX`, `--replace[=X]`.
fn xargs_marker(args: &[String], named: Option<&str>) -> Option<String> {
    let own = args.iter().take_while(|word| word.starts_with('-'));
    let attached = own
        .filter_map(|word| word.strip_prefix("--replace").or(word.strip_prefix("-i")))
        .map(|rest| rest.trim_start_matches('='))
        .next();
    let marker = named.or(attached)?;
    Some(if marker.is_empty() { "{}" } else { marker }.to_owned())
}

/// The words of a text, as `xargs` reads them: quotes keep one together.
pub fn unquoted(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// A template with an item at each of its places; `None` if it has none.
fn filled(template: &str, item: &str, marker: &str) -> Option<String> {
    let mut text = template.replace(marker, item);
    let mut found = text != template;
    for place in [
        "{.}", "{/}", "{//}", "{/.}", "{1}", "{1.}", "{1/}", "{2}", "{@}", "{:}",
    ] {
        found |= text.contains(place);
        text = text.replace(place, item);
    }
    found.then_some(text)
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
