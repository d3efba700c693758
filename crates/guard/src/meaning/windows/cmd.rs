//! The command interpreter of Windows: commands between `&`, `|` and
//! parentheses, with its own quotes, variables and verbs.

use super::is_slash_switch;
use crate::RuleId;
use crate::mark::{self, SECRET, UNKNOWN};
use crate::meaning::env::{Env, Flow, Value};
use crate::meaning::files;
use crate::meaning::walk::join;
use crate::meaning::walker::Walker;

pub fn run(walker: &mut Walker, text: &str, env: &mut Env, stdin: &Flow) -> Flow {
    lines(walker, &commands(text), env, stdin)
}

/// Commands in a loop count as deep as those of a shell in a shell.
fn lines(walker: &mut Walker, all: &[Line], env: &mut Env, stdin: &Flow) -> Flow {
    walker.deeper("nesting", |walker| each_line(walker, all, env, stdin))
}

fn each_line(walker: &mut Walker, all: &[Line], env: &mut Env, stdin: &Flow) -> Flow {
    let mut whole = Flow::nothing();
    let mut flow = stdin.clone();
    let mut rest = all;
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        if !walker.stepped() {
            return Flow::Unknown;
        }
        if let Some(name) = loop_variable(&line.words) {
            // Its list stands in the parentheses behind it. A body in such
            // may be all that follows.
            let list = rest.first().map_or(&[][..], |list| list.words.as_slice());
            let items = items_of(walker, &line.words, list, env);
            rest = rest.get(1..).unwrap_or_default();
            let group = rest.first().is_some_and(|body| body.words.len() == 1);
            let (body, behind) = rest.split_at(if group { rest.len() } else { rest.len().min(1) });
            rest = behind;
            for item in items {
                env.assign(&name, Value::text(&item));
                flow = lines(walker, body, env, stdin);
            }
            whole = join(whole, flow.clone());
            continue;
        }
        let before = std::mem::replace(&mut env.forked, line.piped);
        let input = if line.piped { flow } else { stdin.clone() };
        flow = one(walker, line, env, &input);
        env.forked = before;
        whole = join(whole, flow.clone());
    }
    whole
}

/// The `%i` of `for %i in`.
fn loop_variable(words: &[String]) -> Option<String> {
    let starts = |word: &String| one_of!(word.to_lowercase().as_str(), "do @do");
    let words = match words.first() {
        Some(first) if starts(first) => words.get(1..)?,
        _ => words,
    };
    let (first, rest) = words.split_first()?;
    let name = rest.iter().rev().nth(1)?;
    let is_loop = first.trim_start_matches('@').eq_ignore_ascii_case("for")
        && words.last()?.eq_ignore_ascii_case("in");
    let name = name.trim_start_matches('%').to_lowercase();
    is_loop.then(|| format!("%{name}"))
}

/// What a loop goes through: words, numbers, or what a command prints.
fn items_of(walker: &mut Walker, head: &[String], list: &[String], env: &mut Env) -> Vec<String> {
    let switch = head
        .get(1)
        .map(|word| word.to_lowercase())
        .unwrap_or_default();
    if switch == "/l" {
        return vec!["1".to_owned()];
    }
    let text = list.join(" ");
    let command = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    match (switch.as_str(), command) {
        ("/f", Some(command)) => match run(walker, command, env, &Flow::Unknown) {
            Flow::Text(text) if !text.is_empty() => text.lines().map(str::to_owned).collect(),
            Flow::Network => vec![mark::NETWORK.to_string()],
            _ => vec![UNKNOWN.to_string()],
        },
        ("/f", None) => vec![UNKNOWN.to_string()],
        _ => list
            .iter()
            .take(16)
            .map(|word| expanded(walker, word, env))
            .collect(),
    }
}

/// One command as it is written, variables and all.
#[derive(Debug, Default)]
struct Line {
    words: Vec<String>,
    writes: Vec<String>,
    reads: Vec<String>,
    /// What the command before it prints comes in.
    piped: bool,
}

/// Cuts the text at its operators, which quotes and `^` protect.
fn commands(text: &str) -> Vec<Line> {
    let mut all = Vec::new();
    let mut line = Line::default();
    let mut word: Option<String> = None;
    let mut into = Into::Words;
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            _ if quoted && c != '\n' => word.get_or_insert_default().push(c),
            '^' => match chars.next() {
                Some('\r' | '\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            ' ' | '\t' | '\r' | ',' | ';' => into = line.take(&mut word, into),
            '>' | '<' => {
                // `2>` belongs to the sign.
                if word
                    .as_deref()
                    .is_some_and(|w| matches!(w, "0" | "1" | "2"))
                {
                    word = None;
                }
                line.take(&mut word, into);
                into = if c == '<' { Into::Reads } else { Into::Writes };
                while chars.next_if(|c| matches!(c, '>' | '&')).is_some() {}
            }
            '&' | '|' | '\n' | '(' | ')' => {
                into = line.take(&mut word, into);
                let twice = chars
                    .next_if(|next| *next == c && c != '(' && c != ')')
                    .is_some();
                let piped = c == '|' && !twice;
                if !line.words.is_empty() {
                    all.push(std::mem::take(&mut line));
                    line.piped = piped;
                }
                quoted = false;
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    line.take(&mut word, into);
    if !line.words.is_empty() {
        all.push(line);
    }
    all
}

#[derive(Clone, Copy)]
enum Into {
    Words,
    Writes,
    Reads,
}

impl Line {
    fn take(&mut self, word: &mut Option<String>, into: Into) -> Into {
        let Some(word) = word.take() else {
            return into;
        };
        match into {
            Into::Words => self.words.push(word),
            Into::Writes => self.writes.push(word),
            Into::Reads => self.reads.push(word),
        }
        Into::Words
    }
}

/// `%NAME%`, `!NAME!`, `%NAME:~0,3%`, `%~dp0`, `%1`, `%%i`.
fn expanded(walker: &Walker, word: &str, env: &Env) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(['%', '!']) {
        let (before, behind) = rest.split_at(at);
        text.push_str(before);
        let sign = behind.get(..1).unwrap_or_default();
        let behind = behind.get(1..).unwrap_or_default();
        if let Some(end) = behind.find(sign).filter(|end| *end > 0) {
            let (name, after) = behind.split_at(end);
            let is_cut = name.contains(':');
            let value = variable(walker, name.split(':').next().unwrap_or(name), env);
            text.push_str(if is_cut { mark_unknown(&value) } else { &value });
            rest = after.get(1..).unwrap_or_default();
        } else if sign == "%" {
            // `%~dp0` is where the script lies, the others what it is given.
            let name = behind.trim_start_matches('%');
            let letters = name.trim_start_matches('~');
            let end = letters
                .find(|c: char| !c.is_alphanumeric())
                .unwrap_or(letters.len());
            let (name, after) = letters.split_at(end);
            match env.variables.get(&format!("%{}", name.to_lowercase())) {
                Some(Value::Texts(texts)) => text.push_str(texts.first().map_or("", |t| t)),
                _ if name == "dp0" => text.push_str("./"),
                _ => text.push(UNKNOWN),
            }
            rest = after;
        } else {
            text.push_str(sign);
            rest = behind;
        }
    }
    text.push_str(rest);
    text.chars()
        .map(|c| match c {
            '*' | '?' => mark::with_globs(c),
            other => other,
        })
        .collect()
}

fn mark_unknown(value: &str) -> &'static str {
    match value.contains(SECRET) {
        true => "\u{FDD5}",
        false => "\u{FDD0}",
    }
}

fn variable(walker: &Walker, name: &str, env: &Env) -> String {
    match env.variables.get(&name.to_lowercase()) {
        Some(Value::Texts(texts)) => texts.first().cloned().unwrap_or_default(),
        _ => walker.windows_variable(name, env),
    }
}

fn one(walker: &mut Walker, line: &Line, env: &mut Env, stdin: &Flow) -> Flow {
    let words: Vec<String> = line
        .words
        .iter()
        .map(|w| expanded(walker, w, env))
        .collect();
    let mut input = stdin.clone();
    for path in &line.reads {
        let path = expanded(walker, path, env);
        files::read(walker, &path, env);
        input = walker.file_flow(&path, env);
    }
    let flow = words_run(walker, &words, env, &input);
    for path in &line.writes {
        let path = expanded(walker, path, env);
        if !one_of!(path.to_lowercase().as_str(), "nul 1 2 con") {
            files::write(walker, &path, env);
            walker.note_file(&path, &flow, env);
        }
    }
    flow
}

/// Runs words; `if`, `call` and their like may stand before each other.
fn words_run(walker: &mut Walker, words: &[String], env: &mut Env, stdin: &Flow) -> Flow {
    walker.deeper("nesting", |walker| named(walker, words, env, stdin))
}

fn named(walker: &mut Walker, words: &[String], env: &mut Env, stdin: &Flow) -> Flow {
    let Some((first, args)) = words.split_first() else {
        return Flow::nothing();
    };
    let written = first.trim_start_matches('@');
    if written.contains(mark::NETWORK) || mark::has_computed(written) {
        let base = written.rsplit(['\\', '/']).next().unwrap_or(written);
        if mark::has_computed(base) {
            walker.report(RuleId::OpaqueCommand, written);
            return Flow::Unknown;
        }
    }
    let name = written.to_lowercase();
    // `del/f`, `cd..`: the verb ends where its switch begins.
    let (name, attached) = match name.find('/').filter(|at| *at > 0) {
        Some(at) if is_verb(name.get(..at).unwrap_or_default()) => (
            name.get(..at).unwrap_or_default().to_owned(),
            written.get(at..),
        ),
        _ => (name, None),
    };
    let mut args: Vec<String> = args.to_vec();
    if let Some(attached) = attached {
        args.insert(0, attached.to_owned());
    }
    walker.trace.command(words);
    verb(walker, &name, written, &args, env, stdin)
}

fn is_verb(name: &str) -> bool {
    one_of!(
        name,
        "del erase rd rmdir type copy xcopy move ren rename md mkdir cd chdir dir echo set start
         call if"
    )
}

fn verb(
    walker: &mut Walker,
    name: &str,
    written: &str,
    args: &[String],
    env: &mut Env,
    stdin: &Flow,
) -> Flow {
    let operands: Vec<&String> = args.iter().filter(|word| !is_slash_switch(word)).collect();
    match name {
        "del" | "erase" | "rd" | "rmdir" | "deltree" => {
            files::delete_all(walker, &operands, env);
        }
        "type" | "more" => {
            files::read_all(walker, &operands, env);
            let flows = operands.iter().map(|path| walker.file_flow(path, env));
            let flow = flows.fold(Flow::nothing(), join);
            return if operands.is_empty() {
                stdin.clone()
            } else {
                flow
            };
        }
        "copy" | "xcopy" | "robocopy" | "move" | "ren" | "rename" | "replace" => {
            copied(walker, name, args, &operands, env);
        }
        "md" | "mkdir" => files::write_all(walker, &operands, env),
        "attrib" => {
            let is_path = |word: &&&String| !word.starts_with(['+', '-']);
            files::write_all(walker, operands.iter().filter(is_path), env);
        }
        "forfiles" => return for_files(walker, args, env),
        "mklink" => {
            files::write_all(walker, operands.first(), env);
            if let Some(target) = operands.get(1) {
                files::linked(walker, target);
                files::read(walker, target, env);
            }
        }
        "cd" | "chdir" | "pushd" => {
            entered(walker, operands.first().map_or("", |path| path), env);
        }
        "echo" | "echo." => {
            let text = args.join(" ");
            if text.contains(SECRET) {
                walker.report(RuleId::SecretEnvironment, "echo");
            }
            return Flow::Text(format!("{}\n", mark::unmark(&text)));
        }
        "set" => return set(walker, args, env),
        "if" => {
            let rest = after_condition(args);
            return words_run(walker, rest, env, stdin);
        }
        "else" | "do" | "call" => return words_run(walker, args, env, stdin),
        "start" => {
            // `start "title" /b program`
            let rest: Vec<String> = args
                .iter()
                .skip_while(|word| word.is_empty() || word.contains(' ') || is_slash_switch(word))
                .cloned()
                .collect();
            return words_run(walker, &rest, env, &Flow::Unknown);
        }
        "rem" | "title" | "cls" | "exit" | "goto" | "setlocal" | "endlocal" | "shift" | "ver"
        | "vol" | "popd" | "pause" | "dir" | "color" | "chcp" | "path" | "prompt" | "verify"
        | "where" | "find" | "findstr" | "sort" | "fc" | "tree" | "help" => {
            if one_of!(name, "find findstr sort fc") {
                let skip = usize::from(name.starts_with("find"));
                files::read_all(walker, operands.iter().skip(skip), env);
                return stdin.clone();
            }
        }
        _ if name.starts_with(':') => {}
        _ => return walker.windows_program(written, args, env, stdin),
    }
    Flow::nothing()
}

/// `forfiles /p C:\x /s /c "cmd /c del @file"`.
fn for_files(walker: &mut Walker, args: &[String], env: &mut Env) -> Flow {
    let value = |name: &str| {
        let at = args
            .iter()
            .position(|word| word.eq_ignore_ascii_case(name))?;
        args.get(at + 1).map(String::as_str)
    };
    let found = format!("{}/found", value("/p").unwrap_or("."));
    let mut text = value("/c").unwrap_or_default().to_owned();
    for name in ["@file", "@path", "@relpath", "@fname"] {
        text = text.replace(name, &found);
    }
    run(walker, &text, env, &Flow::Unknown)
}

fn entered(walker: &Walker, target: &str, env: &mut Env) {
    if !target.is_empty() {
        env.directories = match mark::has_computed(target) {
            true => vec![UNKNOWN.to_string()],
            false => walker.directories(target, env),
        };
    }
}

fn set(walker: &mut Walker, args: &[String], env: &mut Env) -> Flow {
    let text = args.join(" ");
    match text.split_once('=') {
        Some((name, value)) => {
            let name = name
                .trim_start_matches("/a")
                .trim_start_matches("/A")
                .trim();
            let value = Value::text(value);
            let judges = walker.judges;
            judges.assignment(walker, &name.to_uppercase(), &value, env);
            env.assign(&name.to_lowercase(), value);
            Flow::nothing()
        }
        None if text.trim().is_empty() => {
            walker.report(RuleId::SecretEnvironment, "set");
            Flow::Environment
        }
        None => Flow::Unknown,
    }
}

/// `if [/i] [not] exist x …`, `defined x`, `errorlevel n`, `a==b`, `a equ b`.
fn after_condition(args: &[String]) -> &[String] {
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let lower = word.to_lowercase();
        match lower.as_str() {
            "/i" | "not" => rest = after,
            "exist" | "defined" | "errorlevel" | "cmdextversion" => {
                return after.get(1..).unwrap_or_default();
            }
            _ if lower.contains("==") && !lower.ends_with("==") => return after,
            _ if lower.ends_with("==") => return after.get(1..).unwrap_or_default(),
            _ => return after.get(2..).unwrap_or_default(),
        }
    }
    rest
}

fn copied(walker: &mut Walker, name: &str, args: &[String], operands: &[&String], env: &mut Env) {
    let Some((source, rest)) = operands.split_first() else {
        return;
    };
    let target = match name {
        // `robocopy from to files…`
        "robocopy" => rest.first(),
        _ => rest.last(),
    };
    match name {
        "move" | "ren" | "rename" => files::delete(walker, source, env, true),
        _ => files::read(walker, source, env),
    }
    let Some(target) = target else { return };
    files::write(walker, target, env);
    let mirrors = |word: &String| one_of!(word.to_lowercase().as_str(), "/mir /purge");
    if name == "robocopy" && args.iter().any(mirrors) {
        files::delete(walker, target, env, true);
    }
    let flow = walker.file_flow(source, env);
    if flow != Flow::Files {
        walker.note_file(target, &flow, env);
    }
}
