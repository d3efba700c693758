//! Programs that are given code: shells, scripting languages, and files that
//! this text itself wrote.

use super::args::{Args, Takes};
use super::code::{self, Language};
use super::command::Command;
use super::env::{Env, Flow};
use super::redirect::is_descriptor;
use super::walker::Walker;
use super::{files, known};
use crate::RuleId;
use crate::mark;
use crate::words::Words;

/// Where a compiler puts what it made.
const OUTPUT: Takes = takes!("o", "");

fn is_compiler(name: &str) -> bool {
    one_of!(
        name,
        "gcc cc clang g++ c++ clang++ tcc rustc go javac java kotlinc swift swiftc zig nim ghc
         crystal"
    )
}

/// Interpreters of languages whose strings alone are read.
static OTHERS: Words = Words::new(words!(
    "Rscript R julia elixir erl groovy scala tclsh expect guile racket sbcl jshell ocaml runghc
     clojure clj bb kotlin kotlinc-jvm swipl gst octave maxima iex scheme emacs vim nvim vi ex ed
     gdb gnuplot dc dart"
));

/// The language of an interpreter, its version number ignored.
pub fn language(name: &str) -> Option<Language> {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    Some(match plain {
        "python" | "pypy" | "ipython" => Language::Python,
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => Language::JavaScript,
        "perl" => Language::Perl,
        "ruby" | "irb" => Language::Ruby,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "osascript" => Language::AppleScript,
        "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
        _ if OTHERS.contains(&plain) || name == "m4" => Language::Other,
        _ => return None,
    })
}

impl Walker<'_> {
    /// Judges the code that an interpreter is given; `None` if it is none.
    pub fn interpreter(&mut self, command: &Command, env: &mut Env) -> Option<Flow> {
        if known::is_shell(command.name) {
            return Some(self.shell(command, env));
        }
        if let Some(flow) = self.windows_shell(command, env) {
            return Some(flow);
        }
        if matches!(command.name, "ghc" | "swift") {
            self.language(Language::Other, command, env);
        }
        if is_compiler(command.name) {
            self.compiled(command, env);
            return None;
        }
        let language = language(command.name)?;
        self.language(language, command, env);
        None
    }

    /// Source code that this text itself wrote and now builds.
    fn compiled(&mut self, command: &Command, env: &mut Env) {
        let target = command.read(OUTPUT).values(&["o"]).next();
        let target = target.unwrap_or("a.out").to_owned();
        let mut sources = Vec::new();
        for word in command.args {
            let flow = match word.as_str() {
                "-" | "/dev/stdin" => command.stdin.clone(),
                word if word.starts_with('-') || !word.contains('.') => continue,
                path => self.file_flow(path, env),
            };
            match flow {
                Flow::Text(text) => sources.push(text),
                Flow::Network => self.note_file(&target, &Flow::Network, env),
                _ => {}
            }
        }
        for text in sources {
            self.language_text(Language::Compiled, &text, env);
        }
    }

    fn shell(&mut self, command: &Command, env: &mut Env) -> Flow {
        let mut words = command.args.iter().enumerate();
        let mut code_follows = false;
        let mut from_stdin = false;
        while let Some((at, word)) = words.next() {
            let rest = command.args.get(at + 1..).unwrap_or_default();
            if word == "--" {
                continue;
            }
            let is_option = word.len() > 1 && word.starts_with(['-', '+']);
            if is_option {
                if word.starts_with("--") {
                    if matches!(word.as_str(), "--rcfile" | "--init-file") {
                        words.next();
                        if let Some(path) = rest.first() {
                            self.run_file(path, env);
                        }
                    }
                    if word == "--command" {
                        code_follows = true;
                    }
                    continue;
                }
                code_follows |= word.contains('c') && word.starts_with('-');
                from_stdin |= word.contains('s') && word.starts_with('-');
                if word.ends_with('o') || word.ends_with('O') {
                    words.next();
                }
                continue;
            }
            if code_follows {
                self.trace.unwrapped(command.name);
                return self.inner_shell(word, rest, env, command.stdin);
            }
            if from_stdin || word == "-" || word == "/dev/stdin" {
                break;
            }
            let mut child = env.clone();
            child.positional = rest.to_vec();
            let flow = self.run_file(word, &mut child);
            env.keep_files_of(child);
            return flow;
        }
        match command.stdin {
            Flow::Text(text) => {
                self.trace.unwrapped(command.name);
                let text = text.clone();
                self.inner_shell(&text, &[], env, &Flow::Unknown)
            }
            Flow::Network => {
                self.report(RuleId::NetPipeToShell, command.name);
                Flow::Unknown
            }
            Flow::Environment => {
                self.report(RuleId::OpaqueCode, command.name);
                Flow::Unknown
            }
            Flow::Files | Flow::Archive => Flow::Unknown,
            Flow::Unknown | Flow::Names => {
                // At the end of a pipe this is code that nobody can read, at a
                // terminal what is typed later (S-04).
                let typed = !env.elsewhere && !command.has("--version|--help|-h");
                if env.forked || typed {
                    self.report(RuleId::OpaqueCode, command.name);
                }
                Flow::Unknown
            }
        }
    }

    fn inner_shell(&mut self, text: &str, rest: &[String], env: &mut Env, stdin: &Flow) -> Flow {
        let is_blank = |c: char| c == mark::NETWORK || c.is_whitespace();
        if text.contains(mark::NETWORK) && text.chars().all(is_blank) {
            self.report(RuleId::NetRunRemoteCode, text);
            return Flow::Unknown;
        }
        let mut child = env.clone();
        child.positional = rest.iter().skip(1).cloned().collect();
        if let Some(zero) = rest.first() {
            let zero = super::env::Value::text(zero);
            child.variables.insert("0".to_owned(), zero);
        }
        let flow = self.code(text, &mut child, stdin);
        env.keep_files_of(child);
        flow
    }

    /// Runs a file of shell code: what this text wrote into it is known.
    pub fn run_file(&mut self, path: &str, env: &mut Env) -> Flow {
        if mark::has_computed(path) && path.contains(mark::NETWORK) {
            self.report(RuleId::NetRunRemoteCode, path);
            return Flow::Unknown;
        }
        match self.file_flow(path, env) {
            Flow::Text(text) => self.code(&text, env, &Flow::Unknown),
            Flow::Network => {
                self.report(RuleId::NetDownloadThenRun, path);
                Flow::Unknown
            }
            Flow::Unknown | Flow::Environment | Flow::Names => {
                self.written_unseen(path, env);
                Flow::Unknown
            }
            Flow::Files | Flow::Archive => {
                self.out_of_archive(path, env);
                Flow::Unknown
            }
        }
    }

    /// A file that this text itself wrote, with what nobody can read.
    fn written_unseen(&mut self, path: &str, env: &Env) {
        let is_known = |path: &String| env.files.contains_key(path);
        if is_descriptor(path) || self.absolute(path, env).iter().any(is_known) {
            self.report(RuleId::OpaqueCode, path);
        }
    }

    /// A file in a directory that an archive from the network may have made.
    fn out_of_archive(&mut self, path: &str, env: &Env) {
        let below = path.trim_start_matches("./").contains('/') && !path.starts_with('/');
        if env.unpacked && below || self.was_fetched(path, env) {
            self.report(RuleId::NetDownloadThenRun, path);
        }
    }

    /// Does it lie in a directory with code from a host that nobody knows?
    pub fn was_fetched(&self, path: &str, env: &Env) -> bool {
        !env.fetched.is_empty()
            && self.absolute(path, env).iter().any(|path| {
                let within = |directory: &String| crate::paths::is_within(path, directory);
                env.fetched.iter().any(within)
            })
    }

    /// A program that is a file which this text itself wrote.
    pub fn started_file(&mut self, command: &Command, env: &mut Env) {
        if !command.program.contains('/') || mark::has_computed(command.program) {
            return;
        }
        let flow = self.file_flow(command.program, env);
        match flow {
            Flow::Text(text) => {
                let first = text.lines().next().unwrap_or_default().to_owned();
                let interpreter = first
                    .strip_prefix("#!")
                    .and_then(|line| line.split_whitespace().rfind(|word| !word.starts_with('-')))
                    .and_then(|program| program.rsplit('/').next());
                match interpreter.and_then(language) {
                    Some(language) => code::judge(self, language, &text, env),
                    None => {
                        let mut child = env.clone();
                        child.positional = command.args.to_vec();
                        self.code(&text, &mut child, command.stdin);
                    }
                }
            }
            Flow::Network => self.report(RuleId::NetDownloadThenRun, command.program),
            Flow::Unknown | Flow::Environment | Flow::Names => {
                self.written_unseen(command.program, env);
            }
            Flow::Files | Flow::Archive => self.out_of_archive(command.program, env),
        }
    }

    fn language(&mut self, language: Language, command: &Command, env: &mut Env) {
        let args = command.args;
        let mut texts: Vec<String> = Vec::new();
        let options: &[&str] = match language {
            Language::Python => &["-c"],
            Language::JavaScript => &["-e", "--eval", "-p", "--print", "-pe", "eval"],
            Language::Perl | Language::Ruby => &["-e", "-E"],
            Language::Php => &["-r", "-B", "-R", "-E"],
            Language::Lua | Language::AppleScript => &["-e"],
            Language::Other => &["-e", "-c", "--eval", "--execute", "-ex", "-eval", "+"],
            Language::Awk | Language::Compiled => &[],
        };
        let mut script = None;
        let mut at = 0;
        while let Some(word) = args.get(at) {
            at += 1;
            let combined = word.len() > 2
                && word.starts_with('-')
                && !word.starts_with("--")
                && options
                    .iter()
                    .any(|o| o.len() == 2 && word.ends_with(o.trim_start_matches('-')))
                && word.chars().skip(1).all(|c| c.is_ascii_alphanumeric());
            if options.contains(&word.as_str()) || combined {
                texts.extend(args.get(at).cloned());
                at += 1;
            } else if let Some(text) = attached(word, language) {
                texts.push(text);
            } else if word == "run" && matches!(command.name, "deno" | "bun") {
                continue;
            } else if !word.starts_with('-') || word == "-" {
                script = Some(word.clone());
                break;
            } else if one_of!(word.as_str(), "-m -W -X -r --require --import -I -M") {
                if word == "-m" {
                    return self.python_module(args.get(at..).unwrap_or_default(), env);
                }
                at += 1;
            }
        }
        if language == Language::Awk {
            let options = command.read(takes!("Fvfi", "field-separator assign file include"));
            if options.values(&["f", "file"]).next().is_none() {
                texts.extend(options.operands.first().map(|text| (*text).to_owned()));
            }
            script = None;
        }
        let has_code = !texts.is_empty();
        for text in texts {
            self.trace.unwrapped(command.name);
            self.language_text(language, &text, env);
        }
        if has_code || language == Language::Awk {
            return;
        }
        self.code_file(language, script.as_deref(), command, env);
    }

    /// A program in a file, or in what is fed to the interpreter.
    fn code_file(
        &mut self,
        language: Language,
        script: Option<&str>,
        command: &Command,
        env: &mut Env,
    ) {
        match script {
            None | Some("-" | "/dev/stdin") => match command.stdin {
                Flow::Text(text) => {
                    let text = text.clone();
                    self.language_text(language, &text, env);
                }
                Flow::Network => self.report(RuleId::NetPipeToShell, command.name),
                Flow::Unknown | Flow::Names if env.forked && language != Language::Other => {
                    self.report(RuleId::OpaqueCode, command.name)
                }
                _ => {}
            },
            Some(path) => match self.file_flow(path, env) {
                Flow::Text(text) => self.language_text(language, &text, env),
                Flow::Network => self.report(RuleId::NetDownloadThenRun, path),
                _ if path.starts_with("http://") || path.starts_with("https://") => {
                    self.report(RuleId::NetRunRemoteCode, path);
                }
                _ if self.was_fetched(path, env) => self.report(RuleId::NetDownloadThenRun, path),
                _ => {}
            },
        }
    }

    fn language_text(&mut self, language: Language, text: &str, env: &mut Env) {
        if text.contains(mark::NETWORK) {
            self.report(RuleId::NetRunRemoteCode, text);
            return;
        }
        let is_unread = |c: char| mark::is_computed(c) || c.is_whitespace();
        if !text.is_empty() && text.chars().all(is_unread) {
            self.report(RuleId::OpaqueCode, text);
            return;
        }
        code::judge(self, language, text, env);
    }

    fn python_module(&mut self, rest: &[String], env: &mut Env) {
        match rest.first().map(String::as_str) {
            Some("pip" | "twine" | "poetry") => {
                self.run(rest, env, &Flow::Unknown);
            }
            Some("venv" | "virtualenv") => {
                files::write_all(
                    self,
                    rest.iter().skip(1).filter(|word| !word.starts_with('-')),
                    env,
                );
            }
            Some("timeit" | "cProfile" | "pdb" | "trace") => {
                for text in rest.iter().skip(1).filter(|text| text.contains('(')) {
                    code::judge(self, Language::Python, text, env);
                }
            }
            Some("http.server") => {
                let takes = takes!("db", "directory bind");
                let options = Args::read(rest, takes);
                files::read_all(self, options.values(&["d", "directory"]), env);
            }
            _ => {}
        }
    }
}

/// Code that hangs on its option: `-e'print 1'`, `--eval=…`.
fn attached(word: &str, language: Language) -> Option<String> {
    let text = match language {
        Language::JavaScript => word
            .strip_prefix("--eval=")
            .or_else(|| word.strip_prefix("--print="))?,
        Language::Python => word.strip_prefix("-c")?,
        Language::Perl | Language::Ruby => word.strip_prefix("-e")?,
        Language::Php => word.strip_prefix("-r")?,
        _ => return None,
    };
    (text.contains(['(', ' ', ';', '`', '"'])).then(|| text.to_owned())
}
