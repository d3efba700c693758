//! What can be said of any language by the strings in its code: a path of
//! the system where something writes or deletes, a program where something
//! runs programs, an address where something connects, SQL where something
//! executes it.

use super::Language;
use super::token::{self, Token};
use crate::RuleId;
use crate::meaning::{Env, Flow, Walker, files, hosts, known, sql};

/// Where a string that is a path lies when it is one of the system.
const ROOTS: &[&str] = words!(
    "/etc /usr /bin /sbin /lib /var /opt /root /home /boot /srv /dev/sd /dev/nvme /Users
     /Library /System ~"
);

const DELETES: &[&str] = words!(
    "unlink rmtree rmSync rm_r remove_tree RemoveAll removeItem removeDir removeSync
     remove_file remove_dir os.remove rmdir deleteIfExists Files.delete File.delete
     deleteRecursively delete("
);

const WRITES: &[&str] = words!(
    "write Write extract unpack save touch mkdir append truncate chmod chown createFile Create
     to_csv"
);

/// What a string is given to where its file is read.
const READS: [&str; 5] = ["read", "load", "open", "copy", "exists"];

/// What a string is given to where its file is only looked at.
const LOOKS: &[&str] = words!("isfile isdir listdir stat access glob include require print");

const RUNS: &[&str] = words!("system exec popen Popen spawn subprocess child_process Process run(");

const CONNECTS: &[&str] = words!("connect Connect HTTP http socket Socket TCP requests");

pub fn judge(walker: &mut Walker, language: Language, tokens: &[Token], env: &Env) {
    let code = token::without_strings(tokens);
    let says = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let (deletes, writes, runs) = (says(DELETES), says(WRITES), says(RUNS));
    let connects = says(CONNECTS);
    let queries = says(&["execute", "query(", "executescript", "raw("]);
    for (at, token) in tokens.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        let is_path = is_system_path(text) && is_argument(tokens, at);
        if is_path && deletes && !is_given_to(&READS, tokens, at) {
            files::delete(walker, text, env, true);
        } else if is_path && (stands_by_mode(tokens, at) || writes && !is_looked_at(tokens, at)) {
            files::write(walker, text, env);
        }
        let is_program = matches!(text.as_str(), "sudo" | "rm" | "dd" | "shred" | "doas");
        if runs && is_program && is_first(tokens, at) {
            let rest = token::strings(tokens.get(at..).unwrap_or_default());
            let argv: Vec<String> = rest.take(12).map(str::to_owned).collect();
            walker.run(&argv, &mut env.clone(), &Flow::Unknown);
        }
        // A shell without a script waits for whoever is connected to it.
        if runs && text.starts_with('/') && known::is_shell(text) && !has_script(tokens, at) {
            walker.report(RuleId::OpaqueCode, text);
        }
        if text.contains("://") && is_loaded(tokens, at) {
            walker.report(RuleId::NetRunRemoteCode, text);
        }
        if connects && is_address(text) {
            hosts::connect(walker, text);
        }
        let cautious = text.to_ascii_uppercase().contains("IF EXISTS");
        if queries && !cautious && !memory(tokens) {
            sql::judge(walker, text);
        }
    }
    if language == Language::Python {
        for line in code.lines() {
            if let Some(command) = line.trim_start().strip_prefix('!') {
                walker.aside(command, env);
            }
        }
    }
}

fn is_system_path(text: &str) -> bool {
    text == "/"
        || text.len() < 200
            && !text.contains([' ', '\n', '('])
            && ROOTS.iter().any(|root| {
                text.strip_prefix(root)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.len() > 6)
            })
}

fn is_looked_at(tokens: &[Token], at: usize) -> bool {
    is_given_to(&READS, tokens, at) || is_given_to(LOOKS, tokens, at)
}

/// Does a mode to write stand before or behind the string: `">", "/etc/x"`?
fn stands_by_mode(tokens: &[Token], at: usize) -> bool {
    const MODES: &[&str] = words!("> >> +> w a wb ab w+ a+ wt at x");
    let is_mode = |index: Option<usize>| {
        matches!(
            index.and_then(|index| tokens.get(index)),
            Some(Token::Text(mode)) if MODES.contains(&mode.as_str())
        )
    };
    is_mode(at.checked_sub(2)) || is_mode(Some(at + 2))
}

/// Does the string begin a call or a list?
fn is_first(tokens: &[Token], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| tokens.get(before)) {
        Some(Token::Code(code)) => code.trim_end().ends_with(['(', '[', '{']),
        _ => false,
    }
}

/// Is the string an argument by itself, and no value in a structure?
fn is_argument(tokens: &[Token], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| tokens.get(before)) {
        Some(Token::Code(code)) => !code.trim_end().ends_with([':', '[', '>']),
        _ => true,
    }
}

/// Is the string what `include`, `source` or `import` is given?
fn is_loaded(tokens: &[Token], at: usize) -> bool {
    let Some(Token::Code(code)) = at.checked_sub(1).and_then(|before| tokens.get(before)) else {
        return false;
    };
    let code = code
        .trim_end()
        .trim_end_matches("download(")
        .trim_end_matches('(');
    words!("source include include_once require_once import require importScripts")
        .iter()
        .any(|name| code.trim_end().ends_with(name))
}

/// Is the string given to a call with such a name?
fn is_given_to(names: &[&str], tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let Some(Token::Code(code)) = before else {
        return false;
    };
    let Some((call, _)) = code.rsplit_once('(') else {
        return false;
    };
    let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let length: usize = call
        .chars()
        .rev()
        .take_while(is_part)
        .map(char::len_utf8)
        .sum();
    let name = call.get(call.len() - length..).unwrap_or_default();
    names.iter().any(|word| name.contains(word))
}

/// Does an option or a script follow the name of a shell?
fn has_script(tokens: &[Token], at: usize) -> bool {
    let mut behind = token::strings(tokens.get(at + 1..).unwrap_or_default());
    let next = behind.next();
    next.is_some_and(|text| text != "-i" && !known::is_shell(text))
}

/// A host without a scheme: four numbers, or the name of a metadata service.
fn is_address(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = text.split('.').count() == 4 && text.split('.').all(is_number);
    numbers || text == "metadata.google.internal"
}

fn memory(tokens: &[Token]) -> bool {
    token::strings(tokens).any(|text| text.contains(":memory:"))
}
