//! Which files of a project judge: those whose exit code is the verdict of a
//! check, whatever they are called. What a check only looks at is its object: a
//! program in front of a pipe, one whose output is kept or compared, and one
//! beside which something else tests.

mod make;
mod packages;
mod shell;
mod taken;
#[cfg(test)]
mod tests;
mod unsaid;

use std::collections::HashMap;

use super::files::{self, Then};
use shell::{Command, UNKNOWN, commands};

/// More than any check runs one after the other.
const MOST: usize = 500;
/// Longer than the target of any link of a project.
const LONGEST_LINK: usize = 200;
/// Nobody hands a verdict on more often.
const DEEPEST: usize = 5;

/// What decides a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judges {
    pub files: Vec<String>,
    /// What recipes make, under the names of it: whatever lies there was made,
    /// or is in the way of what would be.
    pub made: Vec<String>,
}

/// The scripts that decide, and what decides in them.
pub fn judges(commands: &[String], then: &Then<'_>) -> Judges {
    let mut court = Court {
        then,
        found: Vec::new(),
        made: Vec::new(),
        heard: Vec::new(),
        texts: Vec::new(),
        said: String::new(),
        handed_on: HashMap::new(),
        depth: 0,
    };
    for command in commands {
        court.said.clear();
        court.hear(command.clone(), "", "");
    }
    while let Some(text) = court.texts.pop() {
        court.said = text.said;
        let (parts, here) = court.parts_of(&text.text, &text.folder);
        if parts.contains(&Part::Tests) {
            continue;
        }
        for part in parts {
            let Part::Scripts(names) = part else { continue };
            for name in names {
                if court.found.len() < MOST && !court.found.contains(&name) {
                    court.hear_script(&name, &here);
                    court.found.push(name);
                }
            }
        }
    }
    Judges {
        files: court.found,
        made: court.made,
    }
}

/// What a command does for the verdict of its text.
#[derive(PartialEq)]
enum Part {
    /// It prepares, or nobody knows.
    None,
    Tests,
    /// Files of the project that nothing else calls a check.
    Scripts(Vec<String>),
}

struct Court<'a> {
    then: &'a Then<'a>,
    found: Vec<String>,
    made: Vec<String>,
    /// Every text that was taken up, so that none is taken up again.
    heard: Vec<(String, String)>,
    texts: Vec<Text>,
    /// All that was said on the way to the text that is read now.
    said: String,
    /// Whether something tests in a text that was handed on, so that each is
    /// read once.
    handed_on: HashMap<(String, String), bool>,
    depth: usize,
}

/// A text that is still to be read.
struct Text {
    text: String,
    folder: String,
    said: String,
}

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", ".", "source"];
const INTERPRETERS: [&str; 17] = [
    "python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "rscript",
    "julia", "pwsh", "powershell", "tsx", "ts-node", "tclsh",
];
/// Options of interpreters behind which no file of the project comes.
const INLINE: [&str; 7] = ["c", "e", "m", "p", "-eval", "-print", "-test"];
/// Options whose value is a file that is loaded before the script.
const BEFORE_SCRIPT: [&str; 4] = ["r", "-require", "-import", "-loader"];
/// Programs that find out whether something is as it should be.
const TESTERS: [&str; 37] = [
    "test", "[", "[[", "grep", "egrep", "fgrep", "rg", "diff", "cmp", "awk", "expr", "pytest",
    "py.test", "tox", "nox", "jest", "vitest", "mocha", "ava", "tap", "jasmine", "karma",
    "playwright", "cypress", "phpunit", "rspec", "ctest", "bats", "coverage", "nyc", "c8",
    "stestr", "trial", "behave", "robot", "minitest", "prove",
];
/// Programs that do so where they are asked for tests.
const BUILDERS: [&str; 12] = [
    "cargo", "go", "dotnet", "swift", "mix", "mvn", "gradle", "bazel", "sbt", "rake", "deno", "bun",
];
const TESTING: [&str; 4] = ["test", "spec", "check", "verify"];
/// Words before a command that change nothing of whose verdict it is.
const BEFORE: [&str; 25] = [
    "!", "time", "command", "exec", "env", "nohup", "nice", "ionice", "sudo", "then", "do", "else",
    "if", "elif", "while", "until", "{", "npx", "bunx", "cross-env", "xvfb-run", "eval", "timeout",
    "busybox", "stdbuf",
];
/// Programs to which other programs are only words.
const SAYS: [&str; 24] = [
    "echo", "printf", "cat", "cp", "mv", "rm", "ls", "ln", "git", "mkdir", "chmod", "touch",
    "export", "set", "which", "type", "for", "case", "local", "read", "apt-get", "brew", "pip",
    "curl",
];
/// `uv run pytest`.
const RUNNERS: [&str; 6] = ["uv", "poetry", "pipenv", "pdm", "hatch", "rye"];

impl Court<'_> {
    fn hear(&mut self, text: String, folder: &str, more: &str) {
        let case = (text, folder.to_owned());
        if self.heard.len() < MOST && !self.heard.contains(&case) {
            self.heard.push(case.clone());
            let (text, folder) = case;
            let said = [&text, more, &self.said].join("\n");
            self.texts.push(Text { text, folder, said });
        }
    }

    /// Each command of a text, and where its last one is called.
    fn parts_of(&mut self, text: &str, folder: &str) -> (Vec<Part>, String) {
        let mut here = folder.to_owned();
        let mut parts = Vec::new();
        for Command { words, is_kept } in commands(text) {
            match words.as_slice() {
                [cd, to, ..] if cd == "cd" => here = joined(&here, to),
                words => parts.push((self.part_of(words, &here), is_kept)),
            }
        }
        // What is kept is an object where something looks at it.
        let tests = parts.iter().any(|(part, _)| *part == Part::Tests);
        parts.retain(|(_, is_kept)| !(tests && *is_kept));
        let mut parts: Vec<Part> = parts.into_iter().map(|(part, _)| part).collect();
        if tests && !parts.contains(&Part::Tests) {
            parts.push(Part::Tests);
        }
        (parts, here)
    }

    /// A text that somebody hands the verdict to.
    fn hand_on(&mut self, text: &str, folder: &str, more: &str) -> Part {
        self.hear(text.to_owned(), folder, more);
        let case = (text.to_owned(), folder.to_owned());
        if let Some(tests) = self.handed_on.get(&case) {
            return if *tests { Part::Tests } else { Part::None };
        }
        if self.depth >= DEEPEST {
            return Part::None;
        }
        // Whoever calls it again on the way, in a circle, adds nothing.
        self.handed_on.insert(case.clone(), false);
        let said = [text, more, &self.said].join("\n");
        let before = std::mem::replace(&mut self.said, said);
        self.depth += 1;
        let (parts, _) = self.parts_of(text, folder);
        self.depth -= 1;
        self.said = before;
        let tests = parts.contains(&Part::Tests);
        self.handed_on.insert(case, tests);
        if tests { Part::Tests } else { Part::None }
    }

    fn read(&self, name: &str) -> Option<String> {
        (self.then.read)(name)
    }

    /// What decides in a script, from where it is called and from where it lies.
    fn hear_script(&mut self, name: &str, folder: &str) {
        let text = self.read(name).unwrap_or_default();
        let beside = name.rsplit_once('/').map_or("", |(dir, _)| dir);
        // What a test takes in is what it tests, if it is no check itself.
        let is_test = files::kind_of(name) == files::FileKind::Test;
        // A link leads to another file of the project.
        if text.len() < LONGEST_LINK && !text.contains(['\n', ' ']) {
            let target = joined(beside, &text);
            if self.read(&target).is_some_and(|_| !target.is_empty()) {
                self.find(&[target], "", "");
            }
        }
        if !is_entrance(name) && !self.is_offered(name) {
            for meant in taken::deciding(name, &text) {
                let there = self.there(&meant, beside, folder);
                if !is_test || there.is_some_and(|file| files::kind_of(&file).is_check()) {
                    self.find(&meant, beside, folder);
                }
            }
        }
        for file in taken::sourced(&text) {
            let is_asked = |words: &Vec<String>, text: &str| {
                let word = without_leading(words).first();
                word.is_some_and(|word| taken::defines(text, word))
            };
            let source = names(&file, beside)
                .into_iter()
                .find_map(|name| self.read(&name));
            let source = source.unwrap_or_default();
            if commands(&text)
                .iter()
                .any(|command| is_asked(&command.words, &source))
            {
                self.find(&[file], beside, folder);
            }
        }
        // Of another language only what it ends with is read, and as words.
        let is_shell = is_shell_text(name, &text);
        let read = match is_shell {
            true => text.as_str(),
            false => text.trim_end().lines().next_back().unwrap_or_default(),
        };
        self.hear(read.to_owned(), folder, "");
        if beside != folder {
            self.hear(read.to_owned(), beside, "");
        }
    }

    fn part_of(&mut self, words: &[String], folder: &str) -> Part {
        let words = without_leading(words);
        let Some((program, args)) = words.split_first() else {
            return Part::None;
        };
        let base = program.rsplit('/').next().unwrap_or(program).to_lowercase();
        let base = without_version(&base);
        // `.` is a program of its own.
        let base = if program == "." { "." } else { base };
        let asks_for_tests = || {
            args.iter()
                .any(|arg| TESTING.iter().any(|w| arg.contains(w)))
        };
        if let Some(command) = unsaid::run_for_each(base, args) {
            if self.depth >= DEEPEST {
                return Part::None;
            }
            self.depth += 1;
            let part = self.part_of(&command, folder);
            self.depth -= 1;
            return part;
        }
        match base {
            "npm" | "yarn" | "pnpm" => self.package_script(args, folder),
            "make" | "gmake" => {
                self.recipes(&["GNUmakefile", "makefile", "Makefile"], args, folder)
            }
            "just" => self.recipes(&["justfile", ".justfile", "Justfile"], args, folder),
            "test" | "[" | "[[" if unsaid::is_bookkeeping(args, &self.said) => Part::None,
            _ if TESTERS.contains(&base) => Part::Tests,
            _ if BUILDERS.contains(&base) && asks_for_tests() => Part::Tests,
            _ if SHELLS.contains(&base) => self.interpreted(args, folder, true),
            _ if INTERPRETERS.contains(&base) => self.interpreted(args, folder, false),
            _ if SAYS.contains(&base) => Part::None,
            _ if program.contains(['/', '$', UNKNOWN]) => match self.started(program, folder) {
                Part::None => self.called_by_another(program, args, folder),
                part => part,
            },
            _ => self.called_by_another(program, args, folder),
        }
    }

    /// What is started by itself is a script, or was built.
    fn started(&mut self, program: &str, folder: &str) -> Part {
        let is_plain = !unsaid::is_open(program);
        let mut names = match self.take(program, folder) {
            Part::Scripts(names) => names,
            _ if !is_plain => return Part::None,
            part => return part,
        };
        names.retain(|name| {
            let text = self.read(name).unwrap_or_default();
            is_plain || files::is_runnable(name, &text)
        });
        match names.is_empty() {
            true => Part::None,
            false => Part::Scripts(names),
        }
    }

    /// `flock LOCK sh gate.sh`, and a script that is found by its name alone.
    fn called_by_another(&mut self, program: &str, args: &[String], folder: &str) -> Part {
        let is_known = |arg: &String| {
            let base = arg.rsplit('/').next().unwrap_or(arg);
            base != "." && (SHELLS.contains(&base) || INTERPRETERS.contains(&without_version(base)))
        };
        let at = args.iter().position(is_known);
        if let Some(command) = at.and_then(|at| args.get(at..)).filter(|c| c.len() > 1) {
            return self.part_of(command, folder);
        }
        if !self.said.contains("PATH=") || program.contains('/') {
            return Part::None;
        }
        let end = format!("/{program}");
        let named = self.then.files.iter().find(|file| file.ends_with(&end));
        match named.cloned() {
            Some(name) => self.take(&name, ""),
            None => Part::None,
        }
    }

    /// The script is the first word that is no option.
    fn interpreted(&mut self, args: &[String], folder: &str, is_shell: bool) -> Part {
        let all = args;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(option) = arg.strip_prefix('-') else {
                // `run` of bun, the value of an option.
                match self.take(arg, folder) {
                    Part::None => continue,
                    part => return part,
                }
            };
            // It reads them, and runs nothing.
            if is_shell && option == "n" || option == "-check" {
                return Part::None;
            }
            let is_inline = !option.starts_with('-') && option.contains('c');
            if is_shell && is_inline {
                let text = args.next().cloned().unwrap_or_default();
                return self.hand_on(&text, folder, "");
            }
            if !is_shell && BEFORE_SCRIPT.contains(&option) {
                args.next();
                continue;
            }
            // A module of the project is a script like any other.
            let module = args.clone().next().filter(|_| !is_shell && option == "m");
            for name in module.into_iter().flat_map(|name| taken::module(name)) {
                match self.take(&name, folder) {
                    Part::None => {}
                    part => return part,
                }
            }
            // Code in the command, or a module of others.
            if !is_shell && INLINE.contains(&option) {
                let code = args.next().cloned().unwrap_or_default();
                for name in ["code.py", "code.js"] {
                    for meant in taken::deciding(name, &code) {
                        self.find(&meant, folder, folder);
                    }
                }
                return Part::Tests;
            }
        }
        let named = all.iter().find(|arg| !arg.starts_with('-'));
        match named {
            Some(name) => {
                let ends = ["/__main__.py", ".js", "/index.js", ".ts"];
                let mut endings = ends.iter().map(|end| format!("{name}{end}"));
                let is_there = |name: &String| {
                    let mut places = names(name, folder).into_iter();
                    places.any(|place| self.read(&place).is_some())
                };
                let there = endings.find(is_there);
                there.map_or(Part::None, |name| self.take(&name, folder))
            }
            // A shell reads its text from what is handed to it.
            None if is_shell => self.take(&UNKNOWN.to_string(), folder),
            None => Part::None,
        }
    }

    /// Whatever of these was there.
    fn there(&self, meant: &[String], beside: &str, folder: &str) -> Option<String> {
        let places = meant.iter().flat_map(|word| {
            let there = names(word, folder);
            names(word, beside).into_iter().chain(there)
        });
        places.into_iter().find(|name| self.read(name).is_some())
    }

    /// Whatever of these was there judges, and what decides in it.
    fn find(&mut self, meant: &[String], beside: &str, folder: &str) {
        let there = self.there(meant, beside, folder);
        let is_own = |name: &String| files::kind_of(name) == files::FileKind::Own;
        if let Some(name) = there.filter(|name| !is_own(name))
            && self.found.len() < MOST
            && !self.found.contains(&name)
        {
            self.found.push(name.clone());
            self.hear_script(&name, folder);
        }
    }

    /// A file that was there.
    fn take(&mut self, word: &str, folder: &str) -> Part {
        for name in names(word, folder) {
            let Some(text) = self.read(&name) else {
                continue;
            };
            return match files::kind_of(&name) {
                files::FileKind::Own => Part::None,
                kind if kind.is_check() => {
                    self.hear_script(&name, folder);
                    Part::Tests
                }
                _ if files::is_script(&name, &text) => {
                    self.find(&[name], "", folder);
                    Part::Tests
                }
                _ => Part::Scripts(vec![name]),
            };
        }
        let meant = unsaid::meant(word, folder, &self.said, self.then);
        let mut found: Vec<String> = Vec::new();
        for name in &meant {
            if let Part::Scripts(names) = self.take(name, "") {
                found.extend(names);
            }
        }
        match found.is_empty() {
            true if meant.is_empty() => Part::None,
            true => Part::Tests,
            false => Part::Scripts(found),
        }
    }
}

fn is_shell_text(name: &str, text: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    let first = text.lines().next().unwrap_or_default();
    let is_of = |line: &str| INTERPRETERS.iter().any(|other| line.contains(other));
    match base.rsplit_once('.') {
        Some((_, end)) => ["sh", "bash", "zsh", "ksh", "dash"].contains(&end),
        None => !(first.starts_with("#!") && is_of(first)),
    }
}

/// The front door of what is built, by its name: whoever runs it looks whether
/// that works.
fn is_entrance(name: &str) -> bool {
    const DOORS: [&str; 12] = [
        "main", "__main__", "index", "app", "cli", "server", "start", "build", "manage", "wsgi",
        "asgi", "setup",
    ];
    let base = name.rsplit('/').next().unwrap_or(name);
    let stem = base.split('.').next().unwrap_or(base);
    DOORS.contains(&stem) && !files::says_check(name)
}

/// `python` of `python3.11`.
fn without_version(base: &str) -> &str {
    base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn without_leading(mut words: &[String]) -> &[String] {
    loop {
        let Some((first, rest)) = words.split_first() else {
            return words;
        };
        let is_assignment = first
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-', '.']));
        let is_runner =
            RUNNERS.contains(&first.as_str()) && rest.first().is_some_and(|word| word == "run");
        if is_runner {
            words = rest.get(1..).unwrap_or_default();
        } else if BEFORE.contains(&first.as_str()) && !rest.is_empty() {
            let options = rest.iter().take_while(|word| {
                word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit())
            });
            words = rest.get(options.count()..).unwrap_or_default();
        } else if is_assignment {
            words = rest;
        } else {
            return words;
        }
    }
}

/// Under which names a word may be meant.
fn names(word: &str, folder: &str) -> Vec<String> {
    let known = word
        .rsplit(UNKNOWN)
        .next()
        .unwrap_or(word)
        .trim_start_matches("$PWD/")
        .trim_start_matches("${PWD}/");
    if known.starts_with('/') {
        // Somebody's shell, or a variable, has put the folder before it.
        let ends = known.match_indices('/').map(|(at, _)| &known[at + 1..]);
        return ends.map(|end| joined("", end)).collect();
    }
    let (there, here) = (joined(folder, known), joined("", known));
    let mut names = vec![there];
    if !names.contains(&here) {
        names.push(here);
    }
    names.retain(|name| !name.is_empty());
    names
}

fn joined(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
