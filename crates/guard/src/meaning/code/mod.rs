//! Code of other languages, read far enough to see what it calls: strings
//! are told from code, and the calls that run, delete, write, read or fetch
//! are judged by the same rules as shell commands.

mod calls;
mod indirect;
mod look;
mod resolve;
mod signs;
mod targets;
mod token;
mod words;

use super::env::{Env, Flow};
use super::walker::Walker;
use super::{files, hosts};
use crate::RuleId;
use crate::mark;
use crate::words::is_one_of;
use calls::{CALLS, Call};
use token::Token;
use words::{ends_with_name, obfuscated, with_unknown};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Lua,
    Awk,
    AppleScript,
    /// A language that is compiled before it runs.
    Compiled,
    Other,
}

pub fn judge(walker: &mut Walker, language: Language, text: &str, env: &mut Env) {
    let text = text.get(..text.len().min(64 * 1024)).unwrap_or(text);
    let tokens = token::tokens(language, text);
    let mut scan = Scan {
        walker,
        language,
        whole: text,
        tokens: &tokens,
        at: 0,
    };
    scan.run(env);
    indirect::judge(walker, language, text, &tokens, env);
    targets::judge(walker, language, &tokens, env);
    look::everything_else(walker, language, text, &tokens, env);
}

struct Scan<'s, 'w> {
    walker: &'s mut Walker<'w>,
    language: Language,
    whole: &'s str,
    tokens: &'s [Token<'s>],
    at: usize,
}

impl Scan<'_, '_> {
    fn run(&mut self, env: &mut Env) {
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Backticks(text) => self.shell(text, env),
                Token::Code(code) => self.calls_in(code, env),
                Token::Text(text) => self.method_on(text, env),
            }
        }
    }

    fn shell(&mut self, text: &str, env: &mut Env) {
        self.walker.escaped(text, env);
    }

    /// Every call whose name stands in this piece of code.
    fn calls_in(&mut self, code: &str, env: &mut Env) {
        for (open, _) in code.match_indices('(') {
            let before = code.get(..open).unwrap_or_default().trim_end();
            let inside = code.get(open + 1..).unwrap_or_default();
            let closed_here = inside.contains(')');
            let first = inside.trim_start();
            self.call(before, first, closed_here, env);
        }
        // `system "…"`, `exec "…"`, `%x(…)`, `rm_rf "…"` need no parenthesis.
        if matches!(
            self.language,
            Language::Ruby
                | Language::Perl
                | Language::AppleScript
                | Language::Php
                | Language::Other
                | Language::Lua
        ) {
            let before = code.trim_end();
            if !before.ends_with('(') && matches!(self.tokens.get(self.at), Some(Token::Text(_))) {
                self.call(before, "", false, env);
            }
        }
        // Bun and zx run a template behind `$`.
        if self.language == Language::JavaScript && code.ends_with('$') {
            for text in self.following(1) {
                self.shell(&text, env);
            }
        }
        if self.language == Language::Awk {
            let before = code.trim_end();
            if before.ends_with("print >") || before.ends_with('>') {
                for text in self.following(1) {
                    files::write(self.walker, &text, env);
                }
            }
            if before.ends_with('|') {
                // What is printed is the input of the command.
                let mut piped = env.clone();
                piped.forked = true;
                for text in self.following(1) {
                    self.walker.code(&text, &mut piped, &Flow::Unknown);
                }
            }
        }
    }

    /// `Path("…").unlink()` and `"…".read_text()`: the string comes first.
    fn method_on(&mut self, text: &str, env: &mut Env) {
        let Some(Token::Code(next)) = self.tokens.get(self.at) else {
            return;
        };
        let at_home;
        let text = if self.stands_below_home() && !text.starts_with('/') {
            at_home = format!("{}/{text}", self.walker.home());
            &at_home
        } else {
            text
        };
        let next = next.chars().filter(|c| !c.is_whitespace());
        let next: String = next.take(60).collect();
        if self.language == Language::Awk && next.starts_with("|getline") {
            let flow = self.walker.aside(text, env);
            if flow == Flow::Network && self.whole.contains("system(") {
                self.walker.report(RuleId::NetRunRemoteCode, text);
            }
            return;
        }
        let next = next.trim_start_matches(')');
        let rest = next.strip_prefix(".expanduser()").unwrap_or(next);
        let walks = is_one_of(".glob(*|.rglob(*|.iterdir(*", rest);
        let each = walks && self.whole.contains(".unlink(");
        if each || is_one_of(".unlink*|.rmdir*", rest) {
            files::delete(self.walker, text, env, each);
        } else if is_one_of(".write_text*|.write_bytes*|.touch*", rest) {
            files::write(self.walker, text, env);
        } else if is_one_of(".read_text*|.read_bytes*", rest) {
            files::read(self.walker, text, env);
        }
    }

    /// `Path.home() / "x"` and `Path.home().joinpath("x")`.
    fn stands_below_home(&self) -> bool {
        let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let Some(Token::Code(code)) = before else {
            return false;
        };
        let code = code.trim_end();
        ["/", ".joinpath("]
            .iter()
            .filter_map(|joint| code.strip_suffix(joint))
            .any(|code| code.trim_end().ends_with("home()"))
    }

    /// The strings that follow within the same call.
    fn following(&self, most: usize) -> Vec<String> {
        let mut texts = Vec::new();
        for token in self.tokens.iter().skip(self.at) {
            match token {
                Token::Text(text) if texts.len() < most => texts.push(text.clone()),
                Token::Code(code) => {
                    let ends = code.contains(')') || code.contains(';') || code.contains('\n');
                    if ends {
                        break;
                    }
                }
                _ => break,
            }
        }
        texts
    }

    fn call(&mut self, before: &str, first: &str, closed_here: bool, env: &mut Env) {
        // `unlink glob("…")`: what the pattern finds is what is meant.
        let before = match before.strip_suffix("glob") {
            Some(outer) if self.language == Language::Perl => outer.trim_end(),
            _ => before,
        };
        let script = std::iter::once((&"do shell script", &Call::Run));
        let calls = CALLS
            .rows
            .iter()
            .flat_map(|(names, call)| names.iter().map(move |name| (name, call)));
        let Some((name, call)) = calls
            .chain(script)
            .filter(|(name, _)| ends_with_name(before, name) || self.is_alias(before, name))
            .max_by_key(|(name, _)| name.len())
        else {
            return;
        };
        if *name == "open" && before.ends_with("urlopen") {
            return;
        }
        let prefix = matches!(
            first,
            "" | "f" | "r" | "b" | "u" | "rb" | "br" | "fr" | "rf"
        );
        let list = first.starts_with(['[', '{', '*']) && !first.contains('(');
        let literal = !closed_here && (prefix || list);
        // Much is called `run`.
        if !literal && !ends_with_name(before, name) {
            return;
        }
        let texts = if closed_here {
            Vec::new()
        } else {
            self.following(12)
        };
        let path = texts.first().filter(|_| literal);
        match call {
            Call::Run => self.runs(name, &texts, first, literal, env),
            Call::Delete | Call::DeleteTree => {
                let tree = *call == Call::DeleteTree;
                let path = path.map(|path| match first.starts_with('f') {
                    true => self.expanded(&with_unknown(path)),
                    false => self.expanded(path),
                });
                match path {
                    Some(path) => files::delete(self.walker, &path, env, tree),
                    None => self.unresolved_delete(first, tree, env),
                }
            }
            Call::Write => {
                let path = path.map(|path| self.expanded(path));
                files::write_all(self.walker, path, env);
            }
            Call::Read => {
                let path = path.map(|path| self.expanded(path));
                files::read_all(self.walker, path, env);
            }
            Call::Open => self.opens(&texts, literal, env),
            Call::Fetch => {
                if let Some(url) = texts.first() {
                    hosts::fetch(self.walker, url);
                }
            }
            Call::Mode => {
                let mode: String = self.whole.chars().filter(|c| !c.is_whitespace()).collect();
                if has_any!(mode, "0o777 0777 511 0o666 0666") {
                    self.walker.report(RuleId::PermWorldWritable, before);
                }
            }
            Call::Move | Call::Copy | Call::Link if literal => self.moves(*call, &texts, env),
            Call::Move | Call::Copy | Call::Link => {}
            Call::Evaluate => self.evaluates(name, &texts, first, env),
        }
    }

    fn opens(&mut self, texts: &[String], literal: bool, env: &Env) {
        let perl = self.language == Language::Perl;
        let (mode, path) = match texts {
            // Perl names the handle first, and may give the mode its own place.
            [mode, path, ..] if perl && mode.starts_with(['>', '<', '+']) => (mode.as_str(), path),
            [path, mode, ..] if literal || perl => (mode.as_str(), path),
            [path] if literal || perl => ("", path),
            _ => return,
        };
        let path = self.expanded(path);
        let writes = mode.starts_with(['>', '+'])
            || mode.len() <= 3 && mode.contains(['w', 'a', 'x', '+', '>']);
        if writes || path.starts_with('>') {
            files::write(self.walker, path.trim_start_matches(['>', ' ']), env);
        } else {
            files::read(self.walker, path.trim_start_matches(['<', ' ']), env);
        }
    }

    fn moves(&mut self, call: Call, texts: &[String], env: &Env) {
        let Some((source, rest)) = texts.split_first() else {
            return;
        };
        let source = self.expanded(source);
        match call {
            Call::Move => files::delete(self.walker, &source, env, true),
            _ => files::read(self.walker, &source, env),
        }
        if call == Call::Link {
            files::linked(self.walker, &source);
        }
        // `d + '/x'` is no path that stands here.
        let next = self.tokens.get(self.at + 1);
        if matches!(next, Some(Token::Code(code)) if code.trim() == ",") {
            let target = rest.first().map(|target| self.expanded(target));
            files::write_all(self.walker, target, env);
        }
    }

    fn expanded(&self, path: &str) -> String {
        match path.strip_prefix('~') {
            Some(rest) => format!("{}{rest}", self.walker.home()),
            None => path.to_owned(),
        }
    }

    fn runs(&mut self, name: &str, texts: &[String], first: &str, literal: bool, env: &mut Env) {
        // `regex.exec(…)` is no command; `child_process` or `exec(` is.
        if name == ".exec" && !self.whole.contains("child_process") {
            return;
        }
        if has_any!(first, "urlopen requests. fetch(") {
            self.walker.report(RuleId::NetRunRemoteCode, name);
            return;
        }
        if texts.is_empty() || !literal {
            if !self.harmless_variable(first) {
                self.walker.report(RuleId::OpaqueCode, name);
            }
            return;
        }
        let is_list = first.starts_with('[')
            || is_one_of("os.execv*|os.execl*|os.spawn*", name)
            || one_of!(
                name,
                "spawn spawnSync execFile execFileSync Bun.spawn Deno.Command pty.spawn"
            );
        let one_text = texts.len() == 1 && texts.first().is_some_and(|text| text.contains(' '));
        if is_list && !one_text
            || (texts.len() > 1 && matches!(self.language, Language::Ruby | Language::Perl))
        {
            let mut argv = self.arguments(texts);
            if let [program, zero, ..] = argv.as_slice()
                && program.ends_with(zero.as_str())
                && name.starts_with("os.")
            {
                argv.remove(1);
            }
            self.walker.run(&argv, &mut env.clone(), &Flow::Unknown);
        } else if let Some(text) = texts.first() {
            // In awk, what stands behind a string is put behind it.
            let next = self.tokens.get(self.at + 1);
            let goes_on = self.language == Language::Awk
                && matches!(next, Some(Token::Code(code)) if !code.trim_start().starts_with([')', ',']));
            let text = if goes_on {
                format!("{text}{}", mark::UNKNOWN)
            } else if first.starts_with('f') {
                with_unknown(text)
            } else {
                text.clone()
            };
            self.shell(&text, env);
        }
    }

    /// `import subprocess as s`, `from subprocess import run`.
    fn is_alias(&self, before: &str, name: &str) -> bool {
        let bare = name.strip_prefix("subprocess.");
        bare.is_some_and(|bare| ends_with_name(before, bare) && self.whole.contains("subprocess"))
    }

    /// The words of a call in their order, the home that it asks for among
    /// them.
    fn arguments(&self, texts: &[String]) -> Vec<String> {
        let mut left = texts.iter();
        let mut argv = Vec::new();
        let mut asks = false;
        for token in self.tokens.iter().skip(self.at) {
            match token {
                // `environ["HOME"]`
                Token::Text(text) if std::mem::take(&mut asks) && text == "HOME" => {
                    left.next();
                    argv.push(self.walker.home().to_owned());
                }
                Token::Text(_) => match left.next() {
                    Some(text) => argv.push(text.clone()),
                    None => break,
                },
                Token::Code(code) => {
                    let more = code.split([';', '\n']).next().unwrap_or_default();
                    if more.trim_start().starts_with([',', '[']) && names_home(more) {
                        argv.push(self.walker.home().to_owned());
                    }
                    asks = has_any!(code, "ENV[ environ[ getenv( env[ environ.get( ENV.fetch(");
                    if more.len() < code.len() {
                        break;
                    }
                }
                Token::Backticks(_) => break,
            }
        }
        argv.extend(left.cloned());
        argv
    }

    fn evaluates(&mut self, name: &str, texts: &[String], first: &str, env: &mut Env) {
        let whole = self.whole;
        let fetched = has_any!(
            whole,
            "urlopen requests.get fetch( http.get https.get Net::HTTP open-uri LWP
             file_get_contents('http file_get_contents(\"http URI.open URI.parse httpx. urllib
             axios XMLHttpRequest curl_exec HTTP::Tiny"
        );
        if fetched {
            self.walker.report(RuleId::NetRunRemoteCode, name);
            return;
        }
        if let Some(Token::Backticks(command)) = self.tokens.get(self.at) {
            let flow = self.walker.aside(command, env);
            if flow == Flow::Network {
                self.walker.report(RuleId::NetRunRemoteCode, name);
            }
            return;
        }
        match self.language {
            Language::Perl | Language::Ruby | Language::Php if name == "exec" => match texts {
                [text] => self.shell(text, env),
                texts => {
                    let argv = self.arguments(texts);
                    self.walker.run(&argv, &mut env.clone(), &Flow::Unknown);
                }
            },
            Language::JavaScript if name == "exec" => {
                if whole.contains("child_process")
                    && let Some(text) = texts.first()
                {
                    self.shell(text, env);
                }
            }
            _ => match texts.first() {
                Some(text) if first.is_empty() => {
                    judge(self.walker, self.language, text, &mut env.clone())
                }
                _ => {
                    if obfuscated(whole) {
                        self.walker.report(RuleId::OpaqueCode, name);
                    }
                }
            },
        }
    }
}

/// The person's home, in the words of a language.
fn names_home(code: &str) -> bool {
    has_any!(
        code,
        "$ENV{HOME} process.env.HOME homedir() Dir.home Path.home()"
    )
}
