//! Which files of a project judge: those whose exit code is the verdict of a
//! check, whatever they are called. What a check only looks at is its object: a
//! program in front of a pipe, one whose output is kept or compared, and one
//! beside which something else tests.

mod shell;
mod taken;
#[cfg(test)]
mod tests;
mod unsaid;

use super::files::{self, Then};
use shell::{UNKNOWN, verdicts};
pub(super) use unsaid::named;

/// More than any check runs one after the other.
const MOST: usize = 50;

/// The scripts that decide, and what decides in them.
pub fn judges(commands: &[String], then: &Then<'_>) -> Vec<String> {
    let mut court = Court {
        then,
        found: Vec::new(),
        heard: Vec::new(),
        texts: Vec::new(),
        said: String::new(),
    };
    for command in commands {
        court.said.clear();
        court.hear(command.clone(), "", command);
    }
    while let Some(text) = court.texts.pop() {
        let mut here = text.folder;
        court.said = text.said;
        let mut parts = Vec::new();
        for words in verdicts(&text.verdict) {
            match words.as_slice() {
                [cd, to, ..] if cd == "cd" => here = joined(&here, to),
                words => parts.push(court.part_of(words, &here)),
            }
        }
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
    court.found
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
    /// Every text that was taken up, so that none is taken up again.
    heard: Vec<(String, String)>,
    texts: Vec<Text>,
    /// All that was said on the way to the text that is read now.
    said: String,
}

/// A text that is still to be read.
struct Text {
    /// The lines whose exit code counts.
    verdict: String,
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
/// `uv run pytest`.
const RUNNERS: [&str; 6] = ["uv", "poetry", "pipenv", "pdm", "hatch", "rye"];

impl Court<'_> {
    /// `whole` is the text that the verdict is a part of.
    fn hear(&mut self, verdict: String, folder: &str, whole: &str) {
        let case = (verdict, folder.to_owned());
        if self.heard.len() < MOST && !self.heard.contains(&case) {
            self.heard.push(case.clone());
            let (verdict, folder) = case;
            let said = [whole, &self.said].join("\n");
            self.texts.push(Text {
                verdict,
                folder,
                said,
            });
        }
    }

    fn read(&self, name: &str) -> Option<String> {
        (self.then.read)(name)
    }

    /// What decides in a script, from where it is called and from where it lies.
    fn hear_script(&mut self, name: &str, folder: &str) {
        let text = self.read(name).unwrap_or_default();
        let deciding = deciding_lines(&text);
        let beside = name.rsplit_once('/').map_or("", |(dir, _)| dir);
        if !is_entrance(name) && !self.is_offered(name) {
            for meant in taken::deciding(name, &text) {
                self.find(&meant, beside, folder);
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
            if verdicts(&deciding)
                .iter()
                .any(|words| is_asked(words, &source))
            {
                self.find(&[file], beside, folder);
            }
        }
        self.hear(deciding.clone(), folder, &text);
        if beside != folder {
            self.hear(deciding, beside, &text);
        }
    }

    /// Whether the package offers it to others as its program.
    fn is_offered(&self, name: &str) -> bool {
        let package = self.read("package.json").unwrap_or_default();
        let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
        let is_it = |file: &serde_json::Value| {
            let file = file.as_str().map(|file| joined("", file));
            file.is_some_and(|file| file == name) && !files::says_check(name)
        };
        let bin = &package["bin"];
        let programs = bin.as_object().into_iter().flat_map(|all| all.values());
        programs.chain([bin, &package["main"]]).any(is_it)
    }

    fn part_of(&mut self, words: &[String], folder: &str) -> Part {
        let words = without_leading(words);
        let Some((program, args)) = words.split_first() else {
            return Part::None;
        };
        let base = program.rsplit('/').next().unwrap_or(program).to_lowercase();
        let base = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        // `.` is a program of its own.
        let base = if program == "." { "." } else { base };
        let asks_for_tests = || {
            args.iter()
                .any(|arg| TESTING.iter().any(|w| arg.contains(w)))
        };
        if let Some(command) = unsaid::run_for_each(base, args) {
            return self.part_of(&command, folder);
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
            _ if program.contains(['/', '$', UNKNOWN]) => self.take(program, folder),
            _ => Part::None,
        }
    }

    /// The script is the first word that is no option.
    fn interpreted(&mut self, args: &[String], folder: &str, is_shell: bool) -> Part {
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(option) = arg.strip_prefix('-') else {
                // `run` of bun, the value of an option.
                match self.take(arg, folder) {
                    Part::None => continue,
                    part => return part,
                }
            };
            let is_inline = !option.starts_with('-') && option.contains('c');
            if is_shell && is_inline {
                if let Some(text) = args.next() {
                    self.hear(text.clone(), folder, text);
                }
                return Part::Tests;
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
                return Part::Tests;
            }
        }
        Part::None
    }

    /// Whatever of these was there judges, and what decides in it.
    fn find(&mut self, meant: &[String], beside: &str, folder: &str) {
        let meant = meant.iter().flat_map(|word| {
            let there = names(word, folder);
            names(word, beside).into_iter().chain(there)
        });
        let there = meant.into_iter().find(|name| self.read(name).is_some());
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
        let parts = meant.iter().take(MOST).map(|name| self.take(name, ""));
        let scripts = |part| match part {
            Part::Scripts(names) => names,
            _ => Vec::new(),
        };
        let found: Vec<String> = parts
            .collect::<Vec<_>>()
            .into_iter()
            .flat_map(scripts)
            .collect();
        match found.is_empty() {
            true if meant.is_empty() => Part::None,
            true => Part::Tests,
            false => Part::Scripts(found),
        }
    }

    /// `npm test`, `yarn check`.
    fn package_script(&mut self, args: &[String], folder: &str) -> Part {
        let Some(package) = self.read(&joined(folder, "package.json")) else {
            return Part::None;
        };
        let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
        let words = args.iter().filter(|arg| !arg.starts_with('-'));
        let words: Vec<&str> = words.map(String::as_str).collect();
        let name = match words.as_slice() {
            ["run" | "run-script", name, ..] => *name,
            ["t" | "tst", ..] => "test",
            [name, ..] => *name,
            [] => return Part::None,
        };
        let mut part = Part::None;
        for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            if let Some(text) = package["scripts"][&name].as_str() {
                self.hear(text.to_owned(), folder, text);
                part = Part::Tests;
            }
        }
        part
    }

    /// The lines of a target and of all that it needs.
    fn recipes(&mut self, files: &[&str], args: &[String], folder: &str) -> Part {
        let is_make = files.contains(&"Makefile");
        let (folder, named) = in_folder(args, folder);
        let folder = folder.as_str();
        let texts = files.iter().map(|file| self.read(&joined(folder, file)));
        let Some(text) = texts.flatten().next() else {
            return Part::None;
        };
        let is_target = |arg: &&&String| !arg.starts_with('-') && !arg.contains('=');
        let named = named.iter().filter(is_target);
        let mut wanted: Vec<String> = named.map(|arg| (*arg).clone()).collect();
        let asked_for = wanted.clone();
        if wanted.is_empty() {
            wanted.extend(text.lines().find_map(target).map(|(name, _)| name));
        }
        let is_variable = |line: &&str| {
            line.contains('=') && !line.starts_with([' ', '\t']) && target(line).is_none()
        };
        let variables: Vec<&str> = text.lines().filter(is_variable).collect();
        let variables = variables.join("\n");
        let mut done: Vec<String> = Vec::new();
        while let Some(name) = wanted.pop() {
            if done.len() >= MOST || done.contains(&name) {
                continue;
            }
            let mut is_in = false;
            let mut recipe = String::new();
            for line in text.lines() {
                if let Some((target, needs)) = target(line) {
                    is_in = target == name;
                    wanted.extend(needs.into_iter().filter(|_| is_in));
                } else if is_in && line.starts_with([' ', '\t']) {
                    let line = line.trim_start().trim_start_matches(['@', '-', '+']);
                    recipe.push_str(&line.replace("$$", "$"));
                    recipe.push('\n');
                }
            }
            // A file of this name would be in the way of the recipe.
            let place = joined(folder, &name);
            let is_made = !recipe.is_empty() || asked_for.contains(&name);
            if is_made && is_make && self.read(&place).is_none() {
                self.found.push(place);
            }
            let whole = [recipe.as_str(), &variables].concat();
            self.hear(recipe, folder, &whole);
            done.push(name);
        }
        Part::Tests
    }
}

/// Where `-C` leads, and the other words.
fn in_folder<'a>(args: &'a [String], folder: &str) -> (String, Vec<&'a String>) {
    let mut here = folder.to_owned();
    let mut others = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix("-C").or(arg.strip_prefix("--directory=")) {
            Some("") => here = args.next().map_or(here.clone(), |to| joined(&here, to)),
            Some(to) => here = joined(&here, to),
            None => others.push(arg),
        }
    }
    (here, others)
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

/// The name of a target, and what it needs.
fn target(line: &str) -> Option<(String, Vec<String>)> {
    let (names, needs) = line.split_once(':')?;
    let is_rule = !line.starts_with([' ', '\t', '#', '.']) && !needs.starts_with('=');
    let name = names.split_whitespace().next().filter(|_| is_rule)?;
    let needs = needs.split(['#', ';']).next().unwrap_or_default();
    Some((
        name.to_owned(),
        needs.split_whitespace().map(str::to_owned).collect(),
    ))
}

/// Of a script: all lines where each failure ends it or is counted, else the
/// last one with its block, those that it becomes, and those whose failure
/// something is done about.
fn deciding_lines(text: &str) -> String {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().filter(is_code).collect();
    let ends_at_once = |line: &&str| {
        let options = line.trim().strip_prefix("set -").unwrap_or_default();
        options
            .split_whitespace()
            .next()
            .is_some_and(|o| o.contains('e'))
    };
    let gives_what_it_counted = |line: &&str| {
        let words = verdicts(line).pop().unwrap_or_default();
        match words.as_slice() {
            [exit, code] if exit == "exit" => code.starts_with('$'),
            [test, args @ ..] if ["test", "[", "[["].contains(&test.as_str()) => {
                unsaid::is_bookkeeping(args, text)
            }
            _ => false,
        }
    };
    let all = lines.iter().any(ends_at_once)
        || text.starts_with("#!") && text.lines().next().is_some_and(|line| line.contains(" -e"))
        || lines.last().is_some_and(gives_what_it_counted);
    let last = unsaid::last_block(&lines);
    let is_heeded = |line: &str| {
        let or = line.split_once("||").map(|(_, or)| or.trim_start());
        or.is_some_and(|or| !or.starts_with("true") && !or.starts_with(':'))
    };
    let decides = |at: usize, line: &str| {
        all || at >= last || line.trim_start().starts_with("exec ") || is_heeded(line)
    };
    let lines = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| decides(*at, line));
    lines.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
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
