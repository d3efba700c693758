//! Programs that edit files in place.

use crate::meaning::{Command, Env, Walker, files};

pub fn sed(walker: &mut Walker, command: &Command, env: &mut Env) {
    let args = command.read(takes!("efl", "expression file line-length"));
    let scripts: Vec<String> = args
        .values(&["e", "expression"])
        .map(str::to_owned)
        .collect();
    let by_option = !scripts.is_empty() || args.values(&["f", "file"]).next().is_some();
    let mut operands = args.operands.clone();
    let in_place = args.short('i') || args.longs.iter().any(|long| long.starts_with("in-place"));
    // BSD sed: `sed -i '' 's/a/b/' file`.
    if in_place && operands.first() == Some(&"") {
        operands.remove(0);
    }
    let mut all = scripts;
    if !by_option && !operands.is_empty() {
        all.push(operands.remove(0).to_owned());
    }
    for script in &all {
        sed_script(walker, script, env);
    }
    for path in operands {
        if in_place {
            files::write(walker, path, env);
        } else {
            files::read(walker, path, env);
        }
    }
}

/// GNU sed runs commands (`e`) and writes files (`w`).
pub fn sed_script(walker: &mut Walker, script: &str, env: &mut Env) {
    let trimmed = script.trim();
    let after_address =
        trimmed.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' '));
    if let Some(text) = after_address.strip_prefix("e ") {
        walker.escaped(text, env);
    }
    if let Some(path) = after_address.strip_prefix("w ") {
        files::write(walker, path.trim(), env);
    }
    if let Some(path) = after_address.strip_prefix("r ") {
        files::read(walker, path.trim(), env);
    }
    let mut characters = trimmed.chars();
    if characters.next() == Some('s')
        && let Some(delimiter) = characters.next().filter(|c| !c.is_alphanumeric())
    {
        let rest = trimmed.get(1 + delimiter.len_utf8()..).unwrap_or_default();
        let (_, rest) = split_unescaped(rest, delimiter);
        let (replacement, flags) = split_unescaped(rest, delimiter);
        let (flags, path) = flags
            .split_once("w ")
            .map_or((flags, None), |(flags, path)| (flags, Some(path)));
        if flags.contains('e') {
            let text = replacement.replace(&format!("\\{delimiter}"), &delimiter.to_string());
            walker.aside(&text, env);
        }
        if let Some(path) = path {
            files::write(walker, path.trim(), env);
        }
    }
}

/// Commands of `ex` and `ed`, as `vim -c` takes them too: they read and write
/// files and run programs.
pub fn editor_commands(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!("cS", "cmd"));
    let started = args
        .operands
        .iter()
        .filter_map(|word| word.strip_prefix('+'));
    let mut scripts: Vec<&str> = args.values(&["c", "cmd"]).chain(started).collect();
    scripts.push(command.stdin_text());
    let lines = scripts.iter().flat_map(|script| script.split(['|', '\n']));
    let saves = |line: &str| one_of!(line.trim().trim_matches([':', '!']), "w wq x wqa");
    if lines.clone().any(saves) {
        let files = args.operands.iter().filter(|word| !word.starts_with('+'));
        files::write_all(walker, files, env);
    }
    for line in lines {
        let line = line.trim().trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, ':' | '%' | '$' | ',' | '.')
        });
        let Some((verb, path)) = line.split_once(' ') else {
            continue;
        };
        let path = path.trim();
        match verb.trim_end_matches('!') {
            _ if path.starts_with('!') => {}
            "w" | "wq" | "write" | "sav" | "saveas" | "W" => files::write(walker, path, env),
            "r" | "read" | "e" | "edit" | "sp" | "split" | "tabe" => {
                files::read(walker, path, env);
            }
            _ => {}
        }
    }
}

/// The text before the first delimiter that no backslash protects, and after.
pub fn split_unescaped(text: &str, delimiter: char) -> (&str, &str) {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if character == delimiter && !escaped {
            return (
                text.get(..at).unwrap_or_default(),
                text.get(at + character.len_utf8()..).unwrap_or_default(),
            );
        }
        escaped = character == '\\' && !escaped;
    }
    (text, "")
}

/// `perl -pi -e … file`: files are changed in place.
pub fn in_place_script(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!("eEIM", ""));
    let in_place = command.args.iter().any(|word| {
        word.starts_with('-')
            && !word.starts_with("--")
            && word
                .split('.')
                .next()
                .is_some_and(|flags| flags.contains('i'))
            && !word.contains('=')
            && word.len() < 12
    });
    if args.shorts.iter().any(|flag| matches!(flag, 'e' | 'E')) {
        for path in &args.operands {
            if in_place {
                files::write(walker, path, env);
            } else if command.has("-n*|-p*") {
                files::read(walker, path, env);
            }
        }
    }
}
