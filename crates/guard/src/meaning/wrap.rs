//! Commands whose arguments are another command.

use super::args::{Args, Takes};
use super::command::Command;
use super::env::{Env, Flow, Value};
use super::known;
use super::walker::Walker;
use crate::RuleId;
use crate::mark;
use crate::words::{ByWord, is_one_of};

/// Wrappers, which of their options take a value, and how many operands stand
/// before the command.
static WRAPPERS: ByWord<(Takes, usize)> = by_word! {
    "tsocks fakeroot nohup setsid unbuffer command builtin busybox toybox valgrind catchsegv
     firejail linux64 linux32 dbus-run-session torsocks torify rlwrap chronic dumb-init tini
     cross-env bunx pnpx shx ifne xe gargs viddy" => (takes!("", ""), 0);
    "gosu su-exec taskset setarch faketime" => (takes!("", ""), 1);
    "time gtime" => (takes!("fo", "format output"), 0);
    "timeout gtimeout" => (takes!("ks", "kill-after signal"), 1);
    "proxychains proxychains4" => (takes!("f", ""), 0);
    "ld.so ld-linux-x86-64.so.2" => (takes!("", "library-path preload"), 0);
    "cgexec" => (takes!("g", ""), 0);
    "wsl" => (takes!("due", "distribution user exec"), 0);
    "proot" => (takes!("rbwqRS", "rootfs bind cwd"), 0);
    "pdsh" => (takes!("wxglutf", ""), 0);
    "sudo" => (takes!("ugpCcrtTUhDR", "user group prompt chdir host role type"), 0);
    "doas" => (takes!("uCa", ""), 0);
    "pkexec" => (takes!("", "user"), 0);
    "run0" => (takes!("u", "user"), 0);
    "setpriv" => (takes!("", "reuid regid groups"), 0);
    "nice" => (takes!("n", "adjustment"), 0);
    "ionice" => (takes!("cnpPu", "class classdata"), 0);
    "chrt" => (takes!("TPD", ""), 1);
    "numactl" => (takes!("CNmlip", ""), 0);
    "stdbuf" => (takes!("ioe", "input output error"), 0);
    "exec" => (takes!("a", ""), 0);
    "strace" => (takes!("oeEpsuabIOSPX", "output trace attach"), 0);
    "ltrace" => (takes!("oepsualn", "output"), 0);
    "chroot" => (takes!("", "userspec groups"), 1);
    "unshare" => (takes!("SG", "setuid setgid root wd"), 0);
    "nsenter" => (takes!("tSG", "target setuid setgid wd"), 0);
    "bwrap" => (takes!("", "bind ro-bind dev proc tmpfs chdir"), 0);
    "flock" => (takes!("wE", "wait timeout conflict-exit-code"), 1);
    "cpulimit" => (takes!("lpe", "limit"), 0);
    "prlimit" => (takes!("p", "pid"), 0);
    "systemd-run" => (takes!("pEuG", "unit property uid setenv"), 0);
    "systemd-inhibit" => (takes!("", "what who why mode"), 0);
    "caffeinate" => (takes!("tw", ""), 0);
    "xvfb-run" => (takes!("nsef", "server-args server-num"), 0);
    "npx" => (takes!("pw", "package workspace"), 0);
    "uvx" => (takes!("p", "from with python"), 0);
    "pipx" => (takes!("", "spec"), 1);
    "dotenv" => (takes!("efv", "env-file"), 0);
    "env-cmd" => (takes!("ferc", "file"), 0);
    "sem" => (takes!("j", "jobs id"), 0);
    "daemonize" => (takes!("ceoplu", ""), 0);
};

/// `poetry run …` and its like: programs, and the words before the command.
static RUNNERS: ByWord<&[&str]> = by_word! {
    "poetry pdm uv pipenv rye hatch conda mamba op doppler infisical dotenvx" => words!("run");
    "bundle asdf rbenv pyenv opam stack cabal direnv aws-vault" => words!("exec");
    "npm mise" => words!("exec x");
    "pnpm yarn" => words!("exec dlx");
    "bun" => words!("x");
    "adb" => words!("shell");
    "perf" => words!("stat record trace");
};

impl Walker<'_> {
    /// Runs the command within a wrapper; `None` if this is none.
    pub fn unwrapped(&mut self, command: &Command, env: &mut Env) -> Option<Flow> {
        match command.name {
            "env" => Some(self.env(command.args, env, command.stdin)),
            "xargs" | "gxargs" => Some(self.xargs(command, env)),
            "parallel" | "rush" => Some(self.parallel(command, env)),
            // Each word is a command of its own.
            "pee" | "mispipe" => {
                let stdin = command.stdin;
                for text in command.args {
                    self.code(text, &mut env.clone(), stdin);
                }
                Some(Flow::Unknown)
            }
            "find" | "gfind" | "fd" | "fdfind" => {
                self.find(command, env);
                None
            }
            "watch" | "entr" | "hyperfine" | "watchexec" | "concurrently" | "nodemon" | "tmux"
            | "screen" | "at" | "batch" => {
                self.texts_in_arguments(command, env);
                None
            }
            "script" | "su" | "runuser" | "flock" | "newgrp" | "sg" | "nix-shell" | "nix"
            | "vagrant" => {
                self.command_option(command, env);
                self.simple_wrapper(command, env)
            }
            "gdb" | "lldb" | "start-stop-daemon" => {
                self.debugged(command, env);
                None
            }
            "salt" | "cargo" | "ansible" | "npx" | "npm" => {
                self.code_options(command, env);
                self.simple_wrapper(command, env)
            }
            "ssh" | "autossh" | "mosh" => {
                self.remote(command, env);
                Some(Flow::Unknown)
            }
            "sshpass" => {
                let at = command.args.iter().position(|a| a == "ssh" || a == "scp");
                Some(self.run(command.args.get(at.unwrap_or(0)..)?, env, command.stdin))
            }
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "lxc" => {
                self.container(command, env);
                None
            }
            "git" => {
                self.git_runs(command, env);
                None
            }
            "gh" => {
                if let [alias, set, _, text, ..] = command.args
                    && alias == "alias"
                    && set == "set"
                    && let Some(text) = text.strip_prefix('!')
                {
                    self.aside(text, env);
                }
                None
            }
            _ => self.simple_wrapper(command, env),
        }
    }

    fn simple_wrapper(&mut self, command: &Command, env: &mut Env) -> Option<Flow> {
        let inner = match WRAPPERS.get(command.name) {
            Some((takes, skip)) => after_options(command.args, *takes, *skip),
            None => runner(command)?,
        };
        // `command -v rm` asks, it runs nothing.
        let asks = command.name == "command"
            && matches!(command.args.first().map(String::as_str), Some("-v" | "-V"));
        if asks || inner.is_empty() {
            return None;
        }
        if command.name == "flock" && inner.first().is_some_and(|word| word == "-c") {
            return None;
        }
        self.trace.unwrapped(command.name);
        let (assignments, inner) = leading_assignments(inner);
        for (name, value) in assignments {
            self.judges.assignment(self, name, &Value::text(value), env);
        }
        let mut inner = inner.to_vec();
        if one_of!(command.name, "npx bunx pnpx uvx npm pnpm yarn bun")
            && let Some(first) = inner.first_mut()
            && let Some((package, _version)) = first.get(1..).and_then(|rest| rest.split_once('@'))
        {
            *first = first.chars().take(1 + package.chars().count()).collect();
        }
        Some(self.run(&inner, env, command.stdin))
    }

    fn env(&mut self, args: &[String], env: &mut Env, stdin: &Flow) -> Flow {
        let takes = takes!("uC", "unset chdir");
        let is_split = |word: &String| is_one_of("-S*|--split-string*", word);
        if let Some(at) = args.iter().position(is_split) {
            let text = args.get(at..).unwrap_or_default().join(" ");
            let text = text
                .trim_start_matches("--split-string")
                .trim_start_matches("-S");
            return self.code(text.trim_start_matches('='), env, stdin);
        }
        let options = Args::read(args, takes);
        let inner = after_options(args, takes, 0);
        let (assignments, inner) = leading_assignments(inner);
        let mut child = env.clone();
        for directory in options.values(&["C", "chdir"]) {
            child.directories = self.directories(directory, env);
        }
        for (name, value) in assignments {
            self.judges.assignment(self, name, &Value::text(value), env);
            child.variables.insert(name.to_owned(), Value::text(value));
        }
        if inner.is_empty() {
            return Flow::Environment;
        }
        self.trace.unwrapped("env");
        // `env $(cat file) make`: the unknown words are assignments.
        let inner = match inner {
            [unknown, next, ..]
                if mark::has_computed(unknown)
                    && !unknown.contains('/')
                    && !next.starts_with('-') =>
            {
                inner.get(1..).unwrap_or_default()
            }
            _ => inner,
        };
        let flow = self.run(inner, &mut child, stdin);
        env.keep_files_of(child);
        flow
    }

    /// Arguments that are whole commands, as `watch 'make test'` has them.
    fn texts_in_arguments(&mut self, command: &Command, env: &mut Env) {
        if let ("at" | "batch", Flow::Text(text)) = (command.name, command.stdin) {
            self.aside(text, env);
            return;
        }
        if command.name == "watch" {
            let takes = takes!("nd", "interval");
            let inner = after_options(command.args, takes, 0);
            self.trace.unwrapped("watch");
            self.aside(&inner.join(" "), env);
            return;
        }
        if self.typed_keys(command, env) {
            return;
        }
        for argument in command.args {
            let Some((first, _)) = argument.split_once(' ') else {
                continue;
            };
            // A command of tmux itself, for a hook or a key.
            if command.name == "tmux"
                && one_of!(
                    first,
                    "run-shell run if-shell if pipe-pane new-window neww split-window popup send-keys
                     display-popup new-session new respawn-pane"
                )
            {
                self.aside(&format!("tmux {argument}"), env);
            } else if !argument.starts_with('-') {
                self.aside(argument, env);
            }
        }
        let is_option = |word: &&String| word.starts_with('-') || word.contains(' ');
        let words: Vec<&String> = command.args.iter().skip_while(is_option).collect();
        let starts_command = match command.name {
            "tmux" | "screen" => words.len() > 2,
            name => matches!(name, "entr" | "watchexec"),
        };
        if starts_command {
            let words = words.into_iter().cloned();
            let inner = words.skip_while(|word| !known::is_dangerous_program(word));
            let inner: Vec<String> = inner.collect();
            self.run(&inner, &mut env.clone(), &Flow::Unknown);
        }
    }

    /// `tmux send-keys`, `screen -X stuff`: what is typed into a shell is a
    /// command, and is whole or is not known (S-14).
    fn typed_keys(&mut self, command: &Command, env: &Env) -> bool {
        let sends =
            |word: &String| one_of!(word.as_str(), "send-keys send stuff paste-buffer pasteb");
        let Some(at) = command.args.iter().position(sends) else {
            return false;
        };
        let takes = takes!("tNb", "");
        let keys = after_options(command.args.get(at + 1..).unwrap_or_default(), takes, 0);
        let text: String = keys.iter().map(|key| typed_key(key)).collect();
        self.trace.unwrapped(command.name);
        self.typed(&text, env);
        if command
            .args
            .get(at)
            .is_some_and(|word| word.starts_with("paste"))
        {
            self.report(RuleId::OpaqueCode, &command.line());
        }
        true
    }

    /// Text that is typed into a program that may be a shell (S-04). A part of
    /// a line, or one that is edited on the way, says nothing.
    pub fn typed(&mut self, text: &str, env: &Env) {
        let is_edit = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        // Ctrl+C and the arrows do nothing alone, an answer of one word neither.
        let plain: String = text.chars().filter(|c| !is_edit(*c)).collect();
        if plain.trim().is_empty() || text.chars().all(char::is_control) {
            return;
        }
        if text.contains(is_edit) || !text.ends_with(['\n', '\r']) {
            return self.report(RuleId::OpaqueCode, text);
        }
        self.aside(&text.replace('\r', "\n"), env);
    }

    /// `-c 'text'` of su, script and flock; `--run 'text'` of nix-shell.
    fn command_option(&mut self, command: &Command, env: &mut Env) {
        let args = command.read(takes!("cs", "command run session-command"));
        if command.name == "nix" {
            let starts = |word: &String| matches!(word.as_str(), "-c" | "--command");
            if let Some(at) = command.args.iter().position(starts) {
                let inner = command.args.get(at + 1..).unwrap_or_default();
                self.run(inner, &mut env.clone(), command.stdin);
            }
            return;
        }
        for text in args.values(&["c", "command", "run", "session-command"]) {
            self.trace.unwrapped(command.name);
            self.code(text, &mut env.clone(), command.stdin);
        }
    }

    /// `gdb --args program …`, `start-stop-daemon --exec program -- …`.
    fn debugged(&mut self, command: &Command, env: &mut Env) {
        let starts = |word: &String| matches!(word.as_str(), "--args" | "--exec" | "-x" | "--");
        if command.name == "gdb" && !command.has("--args") {
            return;
        }
        if let Some(at) = command.args.iter().position(starts) {
            let words = command.args.iter().skip(at + 1);
            let inner: Vec<String> = words.filter(|word| *word != "--").cloned().collect();
            self.trace.unwrapped(command.name);
            self.run(&inner, &mut env.clone(), command.stdin);
        }
    }

    /// Options whose value is run by a shell: `npx -c`, `cargo watch -s`.
    fn code_options(&mut self, command: &Command, env: &mut Env) {
        let first = command.first();
        let options: &[&str] = match (command.name, first) {
            ("npx", _) | ("npm", "exec" | "x") => &["-c", "--call"],
            ("cargo", "watch") => &["-s", "--shell"],
            ("ansible", _) => &["-a", "--args"],
            ("salt", _) => &["cmd.run", "cmd.shell"],
            _ => return,
        };
        for (option, text) in command.pairs() {
            if options.contains(&option) {
                self.trace.unwrapped(command.name);
                self.aside(text, env);
            }
        }
    }

    fn remote(&mut self, command: &Command, env: &mut Env) {
        let takes = takes!("BbcDEeFIiJLlmOopQRSWw", "");
        let options = command.read(takes);
        for option in options.values(&["o"]) {
            let (name, text) = option.split_once(['=', ' ']).unwrap_or((option, ""));
            if name.to_ascii_lowercase().ends_with("command") {
                self.aside(text, env);
            }
        }
        let inner = after_options(command.args, takes, 1);
        let mut there = env.clone();
        // On this machine it is a command like any other.
        let host = options.operands.first().copied().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or(host);
        there.elsewhere = !is_one_of("localhost|127.*|::1|[::1]|0.0.0.0|0|ip6-localhost", host);
        if !there.elsewhere {
            there.directories = vec![self.home().to_owned()];
        }
        self.trace.unwrapped(command.name);
        match (inner.is_empty(), command.stdin) {
            (false, stdin) => {
                self.code(&inner.join(" "), &mut there, stdin);
            }
            (true, Flow::Text(text)) => {
                self.code(text, &mut there, &Flow::Unknown);
            }
            (true, Flow::Network) => self.report(RuleId::NetPipeToShell, "ssh"),
            (true, _) => {}
        }
    }

    /// `docker exec`, `docker run`, `kubectl exec`: a command in a container.
    fn container(&mut self, command: &Command, env: &mut Env) {
        let args = command.args;
        let is_verb = |a: &String| matches!(a.as_str(), "exec" | "run");
        let Some(verb) = args.iter().position(is_verb) else {
            return;
        };
        let rest = args.get(verb + 1..).unwrap_or_default();
        let rest = match (command.name, rest.iter().position(|a| a == "--")) {
            ("kubectl" | "oc", Some(at)) => rest.get(at + 1..).unwrap_or_default(),
            ("kubectl" | "oc", None) => return,
            _ => {
                let takes = takes!(
                    "uwevpnhlmc",
                    "user workdir env env-file volume publish name network entrypoint mount
                     memory cpus hostname label platform add-host gpus restart log-driver
                     ulimit shm-size file index tmpfs device cap-add cap-drop security-opt link
                     pid ipc runtime volumes-from expose dns project-name"
                );
                after_options(rest, takes, 1)
            }
        };
        if rest.is_empty() {
            return;
        }
        let mut there = env.clone();
        there.elsewhere = true;
        self.trace.unwrapped(command.name);
        self.run(rest, &mut there, command.stdin);
    }

    /// The commands that git itself starts.
    fn git_runs(&mut self, command: &Command, env: &mut Env) {
        match command.words().as_slice() {
            ["bisect", "run", ..] => {
                let inner = command.args.get(2..).unwrap_or_default();
                self.run(inner, &mut env.clone(), &Flow::Unknown);
            }
            ["submodule", "foreach", rest @ ..] => {
                let mut words = rest.to_vec();
                words.retain(|word| *word != "--recursive");
                self.aside(&words.join(" "), env);
            }
            ["rebase" | "difftool", ..] => {
                let runs = |flag: &str| matches!(flag, "-x" | "--exec" | "--extcmd");
                for (_, text) in command.pairs().filter(|(flag, _)| runs(flag)) {
                    self.aside(text, env);
                }
            }
            _ => {}
        }
    }
}

fn runner<'c>(command: &Command<'c>) -> Option<&'c [String]> {
    let verbs = RUNNERS.get(command.name)?;
    let (first, rest) = command.args.split_first()?;
    if !verbs.contains(&first.as_str()) {
        return None;
    }
    let takes = takes!("pncCw", "package with python env-file prefix name");
    let skip = usize::from(matches!(command.name, "direnv" | "aws-vault"));
    Some(after_options(rest, takes, skip))
}

/// The words behind the options and the first `skip` operands.
pub fn after_options(args: &[String], takes: Takes, skip: usize) -> &[String] {
    let mut at = 0;
    let mut skipped = 0;
    while let Some(word) = args.get(at) {
        if word == "--" {
            at += 1;
            if skipped == skip {
                break;
            }
            continue;
        }
        if let Some(long) = word.strip_prefix("--") {
            at += 1 + usize::from(takes.longs.contains(&long));
        } else if word.len() > 1 && word.starts_with('-') {
            let value = word
                .char_indices()
                .skip(1)
                .find(|(_, character)| takes.shorts.contains(*character));
            let in_next =
                value.is_some_and(|(start, character)| start + character.len_utf8() == word.len());
            at += 1 + usize::from(in_next);
        } else if skipped < skip {
            skipped += 1;
            at += 1;
        } else {
            break;
        }
    }
    args.get(at..).unwrap_or_default()
}

/// `NAME=value` words at the start, and the rest.
fn leading_assignments(words: &[String]) -> (Vec<(&str, &str)>, &[String]) {
    let is_assignment = |word: &&String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && !mark::has_computed(name)
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let count = words.iter().take_while(is_assignment).count();
    let assignments = words
        .iter()
        .take(count)
        .filter_map(|word| word.split_once('='))
        .collect();
    (assignments, words.get(count..).unwrap_or_default())
}

/// What a key of tmux or screen types.
fn typed_key(key: &str) -> &str {
    match key {
        "Enter" | "C-m" | "C-j" | "KPEnter" | "^M" => "\n",
        "Space" => " ",
        "Tab" | "C-i" => "\t",
        "Escape" | "Up" | "Down" | "Left" | "Right" | "BSpace" | "Home" | "End" | "DC"
        | "PPage" | "NPage" => "\u{1b}",
        _ if key.len() == 3 && key.is_ascii() && is_one_of("C-*|M-*|S-*", key) => "\u{3}",
        _ => key,
    }
}
