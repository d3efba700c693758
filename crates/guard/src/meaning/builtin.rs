//! The shell's own commands, which change what the following ones mean.

use super::command::Command;
use super::env::{Attribute, Env, Flow, Value};
use super::walker::Walker;
use crate::RuleId;
use crate::mark::{self, UNKNOWN};

#[derive(Debug)]
pub enum Effect {
    Done(Flow),
    NotBuiltin,
}

fn silent() -> Effect {
    Effect::Done(Flow::nothing())
}

impl Walker<'_> {
    pub fn builtin(&mut self, command: &Command, env: &mut Env) -> Effect {
        let args = command.args;
        match command.name {
            "cd" | "pushd" | "chdir" => self.change_directory(args, env),
            "popd" => env.directories = vec![UNKNOWN.to_string()],
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declared(command, env),
            "unset" => {
                for name in args {
                    env.variables.insert(name.clone(), Value::text(""));
                }
            }
            "set" => {
                if let Some(at) = args.iter().position(|argument| argument == "--") {
                    env.positional = args.iter().skip(at + 1).cloned().collect();
                } else if args.first().is_some_and(|a| !a.starts_with(['-', '+'])) {
                    env.positional = args.to_vec();
                }
            }
            "shift" => {
                let count = args.first().and_then(|n| n.parse().ok()).unwrap_or(1);
                env.positional = env.positional.iter().skip(count).cloned().collect();
            }
            "read" | "mapfile" | "readarray" => read_into(command, env),
            "getopts" => {
                env.variables.insert("OPTARG".to_owned(), Value::unknown());
            }
            "alias" => self.aliased(args, env),
            "hash" => {
                if let [flag, path, name] = args
                    && flag == "-p"
                {
                    env.aliases.insert(name.clone(), path.clone());
                }
            }
            "complete" | "compgen" if command.has("-C") => {
                if let Some((_, text)) = command.pairs().find(|(flag, _)| *flag == "-C") {
                    self.aside(text, env);
                }
            }
            "enable" if command.has("-f") => {
                self.report(RuleId::SystemLoader, "enable -f");
            }
            "eval" => {
                let text = args.join(" ");
                return Effect::Done(self.evaluated(&text, env, command.stdin));
            }
            "trap" => {
                if let Some(text) = args.iter().find(|argument| !argument.starts_with('-')) {
                    self.trapped(text, env);
                }
            }
            "source" | "." => {
                if let Some(path) = args.first() {
                    if one_of!(path.as_str(), "/dev/stdin /dev/fd/0 /proc/self/fd/0") {
                        return Effect::Done(self.sourced(command.stdin, env));
                    }
                    return Effect::Done(self.run_file(path, env));
                }
                // fish reads its input.
                if env.forked {
                    return Effect::Done(self.sourced(command.stdin, env));
                }
            }
            "printf" => {
                if let [flag, name, rest @ ..] = args
                    && flag == "-v"
                {
                    let text = super::decode::printf(rest);
                    env.assign(name, Value::text(&text));
                } else {
                    return Effect::NotBuiltin;
                }
            }
            _ => return Effect::NotBuiltin,
        }
        silent()
    }

    fn declared(&mut self, command: &Command, env: &mut Env) {
        let (options, operands): (Vec<&String>, Vec<&String>) = command
            .args
            .iter()
            .partition(|argument| argument.starts_with('-') && argument.len() > 1);
        let has = |letter: char| options.iter().any(|word| word.contains(letter));
        let is_local = match command.name {
            "local" => true,
            "declare" | "typeset" => !has('g'),
            _ => false,
        };
        let refers = has('n') && command.name != "export";
        for argument in operands {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.trim_end_matches('+'), Some(value)),
                None => (argument.as_str(), None),
            };
            if is_local {
                env.enter_scope(name);
            }
            if let Some(value) = value {
                self.judges.assignment(self, name, &Value::text(value), env);
            }
            let attribute = match value {
                Some(target) if refers => Some(Attribute::Refers(target.to_owned())),
                _ if has('l') => Some(Attribute::Lower),
                _ if has('u') => Some(Attribute::Upper),
                _ => None,
            };
            if let Some(attribute) = attribute {
                env.attributes.insert(name.to_owned(), attribute);
            }
            if !refers {
                declare(argument, env);
            }
            if command.name == "readonly" || has('r') {
                env.attributes.insert(name.to_owned(), Attribute::Fixed);
            }
        }
    }

    fn aliased(&mut self, args: &[String], env: &mut Env) {
        for (name, text) in args.iter().filter_map(|argument| argument.split_once('=')) {
            if name == "ralph" {
                self.report(RuleId::GuardSwitchOff, "alias ralph");
            }
            env.aliases.insert(name.to_owned(), text.to_owned());
        }
    }

    /// A trap runs later: what it can't say yet is asked again at the end.
    fn trapped(&mut self, text: &str, env: &Env) {
        let before = self.findings.len();
        self.aside(text, env);
        let mut found = self.findings.iter().skip(before).peekable();
        let too_early = found.peek().is_some() && found.all(|f| f.is(RuleId::OpaqueTarget));
        if too_early {
            self.findings.truncate(before);
            self.traps.push(text.to_owned());
        }
    }

    fn change_directory(&mut self, args: &[String], env: &mut Env) {
        let target = args
            .iter()
            .find(|argument| !argument.starts_with('-') || argument.as_str() == "-");
        env.directories = match target.map(String::as_str) {
            None => vec![self.home().to_owned()],
            Some("-") => vec![UNKNOWN.to_string()],
            Some(target)
                if (mark::has_computed(target) || mark::has_glob(target))
                    && !self.under_known_directory(target, env) =>
            {
                vec![UNKNOWN.to_string()]
            }
            Some(target) => self.directories(target, env),
        };
    }

    /// `packages/$name` stays below `packages`.
    fn under_known_directory(&self, target: &str, env: &Env) -> bool {
        let known = target.split(mark::is_computed).next().unwrap_or_default();
        let mut directories = env.directories.iter();
        known.trim_start_matches("./").contains('/')
            && directories.all(|directory| !mark::has_computed(directory))
    }

    /// What comes in is run as code.
    fn sourced(&mut self, stdin: &Flow, env: &mut Env) -> Flow {
        match stdin {
            Flow::Text(text) => return self.code(text, env, &Flow::Unknown),
            Flow::Network => self.report(RuleId::NetPipeToShell, "source"),
            Flow::Files | Flow::Archive => {}
            Flow::Unknown | Flow::Environment | Flow::Names => {
                self.report(RuleId::OpaqueCode, "source")
            }
        }
        Flow::Unknown
    }

    /// A text that `eval` runs: code from elsewhere, or code that we can read.
    fn evaluated(&mut self, text: &str, env: &mut Env, stdin: &Flow) -> Flow {
        if text.contains(mark::NETWORK) {
            self.report(RuleId::NetRunRemoteCode, "eval");
            return Flow::Unknown;
        }
        self.code(text, env, stdin)
    }
}

fn declare(argument: &str, env: &mut Env) {
    let Some((name, value)) = argument.split_once('=') else {
        return;
    };
    // A list was noted before its words were taken apart.
    if matches!(env.variables.get(name), Some(Value::List(items)) if items.first().is_some_and(|item| value.ends_with(item.as_str())))
    {
        return;
    }
    let (name, value) = match name.strip_suffix('+') {
        Some(name) => {
            let before = match env.variables.get(name) {
                Some(Value::Texts(texts)) => texts.first().cloned().unwrap_or_default(),
                _ => String::new(),
            };
            (name, format!("{before}{value}"))
        }
        None => (name, value.to_owned()),
    };
    env.assign(name, Value::Texts(vec![value]));
}

/// `read a b`: the variables hold what came in.
fn read_into(command: &Command, env: &mut Env) {
    let from = command.pairs().find(|(flag, _)| *flag == "-u");
    let opened = from.and_then(|(_, number)| env.files.get(&format!("/dev/fd/{number}")));
    let lines: Option<Vec<String>> = match opened.unwrap_or(command.stdin) {
        Flow::Text(text) => Some(text.lines().map(str::to_owned).collect()),
        Flow::Network => Some(vec![mark::NETWORK.to_string()]),
        _ => None,
    };
    let takes_value = ["-d", "-n", "-N", "-p", "-t", "-u", "-i"];
    let mut words = command.args.iter().peekable();
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        if takes_value.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            names.push(word.clone());
        }
    }
    if names.is_empty() {
        names.push("REPLY".to_owned());
    }
    let separators = match env.variables.get("IFS") {
        Some(Value::Texts(texts)) => texts.first().cloned().unwrap_or_default(),
        _ => " \t\n".to_owned(),
    };
    let split = |line: &str| -> Vec<String> {
        let words = line
            .split(|c| separators.contains(c))
            .filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let into_list = command.has("-a|-ra");
    let single = names.len() == 1;
    for (index, name) in names.into_iter().enumerate() {
        let value = match &lines {
            Some(lines) if command.name != "read" => Value::List(lines.clone()),
            Some(lines) if into_list => {
                Value::List(lines.first().map(|line| split(line)).unwrap_or_default())
            }
            Some(lines) if single => Value::Texts(lines.iter().take(64).cloned().collect()),
            Some(lines) => {
                let word = |line: &String| split(line).get(index).cloned().unwrap_or_default();
                Value::Texts(lines.iter().take(64).map(word).collect())
            }
            None => Value::unknown(),
        };
        env.assign(&name, value);
    }
}
