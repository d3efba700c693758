//! What a command prints, where that can be said: the next command of a
//! pipeline or the word around a substitution is made of it.

use super::args::{Args, NO_VALUES};
use super::command::Command;
use super::copied;
use super::decode::{decoded, echo, printf};
use super::env::{Env, Flow};
use super::known;
use super::stream::found_paths;
use super::walk::join;
use super::walker::Walker;
use crate::mark;
use crate::words::{Words, is_one_of};

/// Programs whose output is code that is meant to be evaluated, made by the
/// tool itself.
static SHELL_SETUP: Words = Words::new(words!(
    "ssh-agent direnv pyenv rbenv nodenv jenv goenv opam brew fnm dircolors starship zoxide
     minikube docker-machine conda mamba mise asdf register-python-argcomplete keychain
     luarocks thefuck atuin rustup fzf lesspipe"
));

impl Walker<'_> {
    pub fn output(&mut self, command: &Command, env: &mut Env) -> Flow {
        let args = command.args;
        let stdin = command.stdin;
        match command.name {
            "echo" => Flow::Text(echo(args)),
            "printf" => Flow::Text(printf(args)),
            "true" | ":" | "false" | "test" | "[" | "sleep" | "mkdir" | "touch" | "rm" | "wait" => {
                Flow::nothing()
            }
            "cat" | "tac" | "nl" | "head" | "tail" | "less" | "more" => {
                self.file_contents(command, env)
            }
            "tee" | "mkfifo" => {
                let (written, flow) = match command.name {
                    "tee" => (stdin, stdin.clone()),
                    _ => (&Flow::Unknown, Flow::nothing()),
                };
                for path in args.iter().filter(|a| !a.starts_with('-')) {
                    self.note_file(path, written, env);
                }
                flow
            }
            "pwd" => Flow::Text(env.directories.first().cloned().unwrap_or_default()),
            "which" | "type" | "command" | "whereis" => located(args),
            "mktemp" => Flow::Text(format!("{}/tmp.made", self.temporary())),
            "whoami" | "hostname" | "uname" | "id" | "nproc" | "date" | "wc" | "arch" | "tty"
            | "logname" | "getconf" | "tput" => Flow::text("value"),
            "pgrep" | "pidof" | "ps" if numbers_all(command) => Flow::text("-1"),
            "seq" => Flow::text("1 2"),
            "basename" | "dirname" | "realpath" | "readlink" | "grealpath" => {
                match operands(args).first() {
                    Some(path) => self.part_of_path(command.name, path, env),
                    None => Flow::Unknown,
                }
            }
            "find" | "gfind" | "fd" | "fdfind" => Flow::Text(found_paths(command).join("\n")),
            "ls" => listed(args),
            "git" => self.git_output(command),
            name if copied::FILTERS.contains(&name) && self.is_fetched(command, env) => {
                self.filters(command, env)
            }
            "base64" | "gbase64" | "base32" | "xxd" | "rev" | "openssl" => decoded(command),
            "curl" | "wget" | "aria2c" | "fetch" | "http" | "https" | "xh" | "lynx" | "w3m"
            | "nc" | "ncat" | "netcat" | "socat" | "telnet" | "ftp" | "dig" | "nslookup" => {
                self.downloads(command, env)
            }
            "scp" | "rsync" => {
                self.copied_from_elsewhere(command, env);
                self.copies(command, env);
                Flow::Unknown
            }
            "dd" | "gdd" => self.dumped(command, env),
            "printenv" | "env" | "set" | "export" | "declare" => Flow::Environment,
            "cp" | "mv" | "install" | "ln" => {
                self.copies(command, env);
                Flow::nothing()
            }
            "grep" | "egrep" | "rg" if *stdin == Flow::Environment => {
                match known::keeps_only_harmless_lines(command.name, args) {
                    true => Flow::Unknown,
                    false => Flow::Environment,
                }
            }
            "grep" | "egrep" | "fgrep" | "rg" => grepped(command),
            "sort" | "uniq" if matches!(stdin, Flow::Text(text) if text.lines().all(|line| line.contains('/'))) => {
                stdin.clone()
            }
            "unzip" | "gunzip" | "bunzip2" | "unxz" => {
                self.unpacked(command, env);
                command.filtered()
            }
            "tar" | "bsdtar" | "zip" | "cpio" | "7z" | "rar" => self.packed(command, env),
            name if SHELL_SETUP.contains(&name) => Flow::nothing(),
            _ if matches!(command.first(), "completion" | "completions") => Flow::nothing(),
            _ => command.filtered(),
        }
    }

    fn part_of_path(&self, program: &str, path: &str, env: &Env) -> Flow {
        let trimmed = path.trim_end_matches('/');
        match (program, trimmed.rsplit_once('/')) {
            ("basename", parts) => Flow::text(parts.map_or(trimmed, |(_, name)| name)),
            ("dirname", Some(("", _))) => Flow::text("/"),
            ("dirname", Some((parent, _))) => Flow::text(parent),
            ("dirname", None) => Flow::text("."),
            _ => Flow::Text(self.absolute(path, env).concat()),
        }
    }

    fn file_contents(&mut self, command: &Command, env: &Env) -> Flow {
        let takes = match command.name {
            "head" | "tail" => takes!("nc", "lines bytes"),
            _ => takes!("", "lines bytes"),
        };
        let mut files = command.read(takes).operands;
        files.retain(|file| *file != "-");
        if files.is_empty() {
            return command.stdin.clone();
        }
        let flows = files.iter().map(|file| self.file_flow(file, env));
        flows.fold(Flow::nothing(), join)
    }

    fn git_output(&self, command: &Command) -> Flow {
        let args = command.args;
        let verb = args.iter().find(|word| !word.starts_with('-'));
        match verb.map_or("", String::as_str) {
            "rev-parse" if command.has("--show-toplevel") => Flow::text(self.project()),
            "rev-parse" if command.has("--git-dir") => {
                Flow::Text(format!("{}/.git", self.project()))
            }
            "rev-parse" | "describe" | "merge-base" | "rev-list" | "config" | "symbolic-ref" => {
                Flow::text("revision")
            }
            "branch" if command.has("--show-current") => Flow::text("branch"),
            "archive" => archived(args),
            "bundle" if command.has("-") => Flow::Archive,
            "ls-files"
                if args
                    .iter()
                    .all(|word| one_of!(word.as_str(), "ls-files -z -c --cached")) =>
            {
                Flow::Text(format!("./{}", mark::STAR))
            }
            "ls-files" | "diff" | "show"
                if command.has("ls-files|--name-only|--diff-filter|-z") =>
            {
                let is_pattern =
                    |word: &&String| word.contains(['*', '.']) && !is_one_of("-*|*..*", word);
                let pattern = args.iter().skip(1).find(is_pattern);
                Flow::Text(format!(
                    "tracked/{}",
                    pattern.map_or("file", String::as_str)
                ))
            }
            _ => Flow::Unknown,
        }
    }

    fn downloads(&mut self, command: &Command, env: &mut Env) -> Flow {
        let takes = known::client_takes(command.name);
        let args = command.read(takes);
        let mut saved = false;
        let names: &[&str] = match command.name {
            "wget" => &["O", "output-document"],
            "http" | "https" | "xh" | "aria2c" => &["o", "output", "out"],
            _ => &["o", "output"],
        };
        let targets: Vec<String> = args.values(names).map(str::to_owned).collect();
        for path in targets.iter().filter(|path| path.as_str() != "-") {
            saved = true;
            self.note_file(path, &Flow::Network, env);
        }
        let keeps_name = match command.name {
            "curl" => args.has('O', "remote-name") || args.long("remote-name-all"),
            "wget" | "aria2c" => targets.is_empty(),
            _ => false,
        };
        let directories = words!("P directory-prefix output-dir d dir");
        let directory = args.values(directories).next();
        let directory = directory.map_or(String::new(), |directory| format!("{directory}/"));
        for url in args.operands.iter().filter(|_| keeps_name) {
            let address = url.split(['?', '#']).next().unwrap_or(url);
            let name = address.rsplit('/').next().unwrap_or_default();
            self.note_file(&format!("{directory}{name}"), &Flow::Network, env);
        }
        match saved || keeps_name {
            true => Flow::nothing(),
            false => Flow::Network,
        }
    }

    /// Everything of a project or a home in one piece, on standard output or
    /// in a file.
    fn packed(&mut self, command: &Command, env: &mut Env) -> Flow {
        let mut words = command.args.iter();
        let mode = match command.name {
            "tar" | "bsdtar" => words.next().map_or("", String::as_str),
            _ => "c",
        };
        let creates = mode.contains('c') || command.has("--create");
        if !creates {
            self.unpacked(command, env);
            return command.filtered();
        }
        let names: Vec<&str> = words.map(String::as_str).collect();
        let is_root = |path: &String| path == self.project() || path == self.home();
        let whole = |word: &&str| {
            matches!(word.trim_end_matches('/'), "" | "." | "./." | "..")
                || mark::has_glob(word)
                || self.absolute(word, env).iter().any(is_root)
        };
        let is_name = |word: &&&str| !word.is_empty() && !word.starts_with('-');
        let flow = match names.iter().filter(is_name).any(whole) {
            true => Flow::Archive,
            false => Flow::Files,
        };
        let endings = "*.tar|*.tgz|*.gz|*.zip|*.xz|*.bz2|*.zst|*.7z";
        match names.iter().find(|word| is_one_of(endings, word)) {
            Some(path) if flow == Flow::Archive => self.note_file(path, &flow, env),
            Some(_) => {}
            None => return flow,
        }
        Flow::nothing()
    }
}

fn operands(args: &[String]) -> Vec<&str> {
    Args::read(args, NO_VALUES).operands
}

fn located(args: &[String]) -> Flow {
    match operands(args).first() {
        Some(name) => Flow::Text(format!("/usr/bin/{name}")),
        None => Flow::Unknown,
    }
}

fn listed(args: &[String]) -> Flow {
    let paths = operands(args);
    let named = paths
        .iter()
        .any(|path| mark::has_glob(path) || path.contains('.'));
    if named {
        Flow::Text(paths.join("\n"))
    } else {
        Flow::Names
    }
}

/// Names of files that hold secrets, of which a search may let some through.
const SECRET_NAMES: &[&str] = words!(
    ".env .env.local .env.production id_rsa id_ed25519 server.pem server.key credentials.json
     secrets.yml .npmrc .netrc .pgpass"
);

/// What a search lets through of names of files.
fn grepped(command: &Command) -> Flow {
    let args = command.read(takes!("eABCmf", "regexp file"));
    let inverted = args.has('v', "invert-match");
    let counts = args.has('c', "count") || args.has('q', "quiet");
    if counts || !matches!(command.stdin, Flow::Names | Flow::Text(_)) {
        return match counts {
            true => Flow::Unknown,
            false => command.filtered(),
        };
    }
    let pattern = args
        .values(&["e", "regexp"])
        .next()
        .or(args.operands.first().copied());
    let words = pattern.unwrap_or_default().to_ascii_lowercase();
    let vague = words.chars().filter(char::is_ascii_alphanumeric).count() < 2;
    let named: Vec<&str> = SECRET_NAMES
        .iter()
        .copied()
        .filter(|name| matches_roughly(&words, name))
        .collect();
    match command.stdin {
        Flow::Names if inverted => Flow::Names,
        Flow::Names if !vague && !named.is_empty() => Flow::Text(named.join("\n")),
        Flow::Text(text) if text.lines().all(|line| line.contains('/')) => {
            if inverted || vague || !text.contains(mark::STAR) {
                return command.stdin.clone();
            }
            // Of everything, what has this in its name.
            let name = named.first().copied().unwrap_or("found");
            Flow::Text(text.replace(mark::STAR, name))
        }
        _ => command.filtered(),
    }
}

/// Does a name contain one of the alternatives of a simple pattern?
fn matches_roughly(pattern: &str, name: &str) -> bool {
    pattern.split('|').any(|one| {
        let start = one.starts_with('^');
        let end = one.ends_with('$');
        let text = one.trim_start_matches('^').trim_end_matches('$');
        let text = text.replace(['\\', '(', ')'], "");
        let text = text.replace(mark::STAR, "");
        let text = text.trim_matches(['.', '*']);
        text.len() >= 2
            && match (start, end) {
                (true, true) => name.trim_start_matches('.') == text,
                (true, false) => name.trim_start_matches('.').starts_with(text),
                (false, true) => name.ends_with(text),
                (false, false) => name.contains(text),
            }
    })
}

/// `git archive` prints all that is tracked, if nobody names a part of it.
fn archived(args: &[String]) -> Flow {
    let to_file = |word: &String| word.starts_with("-o") || word.starts_with("--output");
    let revisions = args.iter().skip(1).filter(|word| !word.starts_with('-'));
    if args.iter().any(to_file) || revisions.count() > 1 {
        Flow::Unknown
    } else {
        Flow::Archive
    }
}

/// Whoever ends what is numbered here ends everything.
fn numbers_all(command: &Command) -> bool {
    let mut words = command.args.iter();
    match command.name {
        "ps" => lists_all_numbers(command.args),
        "pgrep"
            if words
                .clone()
                .all(|word| word == "." || word.starts_with("-u")) =>
        {
            true
        }
        _ => words.any(|name| known::is_vital(name)),
    }
}

/// `ps -eo pid=`: the number of every process, and nothing else.
fn lists_all_numbers(args: &[String]) -> bool {
    let words = args.join(" ");
    let all = is_one_of("-e*|-A*|ax*|-ax*", &words);
    let only = words.rsplit(['o', ' ']).next().unwrap_or_default();
    all && one_of!(only, "pid pid=")
}
