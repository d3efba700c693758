//! Scripts that a shell's text does not name one by one: by a variable, a
//! pattern, a folder, or a list that another command makes. Whatever the text
//! could mean by that is meant.

use std::collections::HashSet;

use super::super::files::{is_runnable, names_in};
use super::shell::UNKNOWN;
use super::{MOST, Then, joined};

/// More words than any check needs to say what it runs.
const MOST_WORDS: usize = 2000;
/// Each is looked for in the whole text.
const MOST_VARIABLES: usize = 20;
/// Each is held against every file.
const MOST_PATTERNS: usize = 20;
/// A list of scripts is shorter.
const LONGEST_LIST: usize = 64 * 1024;

/// The files of then that a word could mean where `text` says what its
/// variables are. Empty for a word that says all itself.
pub(super) fn meant(word: &str, folder: &str, text: &str, then: &Then<'_>) -> Vec<String> {
    let Some(shape) = shape(word) else {
        return Vec::new();
    };
    let says_something = shape.contains(|c: char| c.is_alphanumeric());
    match says_something {
        true => fitting(&shape, folder, then),
        false => {
            let mut lists = String::new();
            put_lists(word, text, &mut HashSet::new(), &mut lists);
            let found = said(&lists, folder, then);
            match found.is_empty() {
                true => said(text, folder, then),
                false => found,
            }
        }
    }
}

/// Whether a shell would make something else of a word.
pub(super) fn is_open(word: &str) -> bool {
    shape(word).is_some()
}

/// What a text puts into the variables of a word, and into those of that.
fn put_lists(word: &str, text: &str, seen: &mut HashSet<String>, lists: &mut String) {
    for part in word.split('$').skip(1) {
        let part = part.trim_start_matches(['{', '(']);
        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
        if name.is_empty() || seen.len() > MOST_VARIABLES || !seen.insert(name.to_owned()) {
            continue;
        }
        let gone_through = given(&format!("for {name} in "), text, &[';', '\n']);
        for list in gone_through.into_iter().chain(assigned(name, text)) {
            lists.push_str(&list);
            lists.push('\n');
            put_lists(&list, text, seen, lists);
        }
    }
}

/// What comes behind each of these words.
fn given(before: &str, text: &str, ends: &[char]) -> Vec<String> {
    let found = text.match_indices(before);
    let behind = found.filter_map(|(at, _)| text.get(at + before.len()..));
    let list = |rest: &str| rest.split(ends).next().unwrap_or_default().to_owned();
    behind.map(list).collect()
}

/// `name=value` of a shell, `NAME := value` of make.
pub(super) fn assigned(name: &str, text: &str) -> Vec<String> {
    let lines = text.split(['\n', ';', '&']).map(str::trim);
    let value = |line: &str| {
        let rest = line
            .strip_prefix("export ")
            .unwrap_or(line)
            .strip_prefix(name)?;
        let rest = rest.trim_start().trim_start_matches([':', '?', '+']);
        rest.strip_prefix('=').map(str::to_owned)
    };
    lines.filter_map(value).collect()
}

/// The command that one runs for each of what it finds or reads.
pub(super) fn run_for_each(base: &str, args: &[String]) -> Option<Vec<String>> {
    let unknown = || UNKNOWN.to_string();
    match base {
        "find" | "fd" => {
            let runs = |arg: &String| ["-exec", "-execdir", "-ok", "-x"].contains(&arg.as_str());
            let at = args.iter().position(runs)?;
            args.get(at + 1..).map(<[String]>::to_vec)
        }
        "xargs" | "parallel" => {
            const WITH_VALUE: [&str; 8] = ["-a", "-I", "-d", "-n", "-P", "-L", "-s", "-E"];
            let mut is_value = false;
            let is_option = |arg: &&String| {
                let was_value =
                    std::mem::replace(&mut is_value, WITH_VALUE.contains(&arg.as_str()));
                was_value || arg.starts_with(['-', '{'])
            };
            let command = args.iter().skip_while(is_option);
            let command = command.take_while(|arg| *arg != ":::").cloned();
            Some(command.chain([unknown()]).collect())
        }
        "run-parts" => {
            let dir = args.iter().find(|arg| !arg.starts_with('-'))?;
            Some(vec!["sh".into(), format!("{dir}/*")])
        }
        _ => None,
    }
}

/// Whether a test looks at nothing but what the text itself counts or goes
/// through: then the work is tested by what it runs, not by this.
pub(super) fn is_bookkeeping(args: &[String], text: &str) -> bool {
    const COUNTS: [&str; 7] = ["$?", "\"$?", "$((", "\"\"", "''", "true", "false"];
    let is_own = |name: &str| {
        // The end of a command, the words of the call.
        let is_of_shell = name
            .chars()
            .all(|c| "?#@*".contains(c) || c.is_ascii_digit());
        let values = assigned(name, text);
        let counts = |value: &String| {
            let appends = value.starts_with(&format!("\"${name}"));
            let starts = COUNTS.iter().any(|start| value.starts_with(start));
            let is_number = value.starts_with(|c: char| c.is_ascii_digit());
            value.is_empty() || appends || starts || is_number
        };
        let is_given = |before: &str, after: &str| text.contains(&format!("{before}{name}{after}"));
        is_of_shell
            || is_given("for ", " in")
            || is_given("read ", "")
            || is_given("read -r ", "")
            || !values.is_empty() && values.iter().all(counts)
    };
    let mut own = 0;
    let all = args.iter().all(|arg| match arg.strip_prefix('$') {
        Some(name) => {
            own += 1;
            is_own(name.trim_start_matches('{').trim_end_matches('}'))
        }
        None => {
            let is_number = arg.chars().all(|c| c.is_ascii_digit());
            is_number
                || arg.starts_with('-')
                || ["]", "]]", "=", "==", "!=", "!"].contains(&arg.as_str())
        }
    });
    all && own > 0
}

/// A word with what only a shell would know as [`UNKNOWN`], and every sign of
/// a pattern as `*`.
fn shape(word: &str) -> Option<String> {
    let mut shape = String::new();
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '$' => {
                match chars.next() {
                    Some('{') => drop(chars.by_ref().find(|&c| c == '}')),
                    Some(c) if c.is_alphabetic() || c == '_' => {
                        while chars
                            .next_if(|c| c.is_alphanumeric() || *c == '_')
                            .is_some()
                        {}
                    }
                    _ => {}
                }
                shape.push(UNKNOWN);
            }
            '{' => {
                let _ = chars.by_ref().find(|&c| c == '}');
                shape.push(UNKNOWN);
            }
            '[' if chars.clone().any(|c| c == ']') => {
                let _ = chars.by_ref().find(|&c| c == ']');
                shape.push('*');
            }
            '?' => shape.push('*'),
            c => shape.push(c),
        }
    }
    shape.contains([UNKNOWN, '*']).then_some(shape)
}

fn fitting(shape: &str, folder: &str, then: &Then<'_>) -> Vec<String> {
    let inner = shape
        .strip_prefix(UNKNOWN)
        .and_then(|rest| rest.strip_prefix('/'));
    let shapes = [
        Some(joined(folder, shape)),
        Some(joined("", shape)),
        inner.map(str::to_owned),
    ];
    let shapes: Vec<Vec<char>> = shapes
        .into_iter()
        .flatten()
        .map(|s| s.chars().collect())
        .collect();
    let fits_one = |file: &&String| shapes.iter().any(|shape| fits(shape, file));
    let fitting = then.files.iter().filter(fits_one);
    fitting.take(MOST).cloned().collect()
}

/// `*` stands for a part of a name, [`UNKNOWN`] for a part of a path.
fn fits(shape: &[char], path: &str) -> bool {
    let is_any = |c: char| matches!(c, '*' | UNKNOWN);
    let known = shape.iter().take_while(|c| !is_any(**c)).count();
    let (known, shape) = shape.split_at(known);
    let mut path = path.chars();
    // Nearly all paths differ here.
    if known.iter().any(|c| path.next() != Some(*c)) {
        return false;
    }
    // How much of the shape the path so far may be.
    let mut ends = vec![true];
    ends.resize(shape.len() + 1, false);
    let spread = |mut ends: Vec<bool>| {
        let mut before = false;
        for (end, c) in ends.iter_mut().zip([' '].iter().chain(shape)) {
            *end |= before && is_any(*c);
            before = *end;
        }
        ends
    };
    ends = spread(ends);
    for c in path {
        let mut after = vec![false; ends.len()];
        for ((at, wanted), _) in shape.iter().enumerate().zip(&ends).filter(|(_, end)| **end) {
            let to = match *wanted {
                '*' if c != '/' => at,
                UNKNOWN => at,
                wanted if wanted == c => at + 1,
                _ => continue,
            };
            if let Some(end) = after.get_mut(to) {
                *end = true;
            }
        }
        ends = spread(after);
    }
    ends.last() == Some(&true)
}

/// The scripts that a text names by file, pattern or folder, also in a list
/// that it reads.
fn said(text: &str, folder: &str, then: &Then<'_>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = "";
    for word in text.split_whitespace() {
        // The name that is looked for, and `.`, say no place by themselves.
        let is_filter = before.ends_with("name") && before.starts_with('-');
        if !is_filter && (word != "." || before == "find") {
            words.extend(names_in(word));
        }
        before = word;
    }
    words.truncate(MOST_WORDS);
    let lists: Vec<(String, String)> = words
        .iter()
        .filter(|word| word.contains('.') && !is_runnable(word, ""))
        .filter_map(|word| Some((word.clone(), (then.read)(&joined("", word))?)))
        .filter(|(_, text)| text.len() < LONGEST_LIST)
        .collect();
    // What names the scripts decides too.
    let is_list = |text: &str| {
        names_in(text)
            .iter()
            .any(|name| (then.read)(name).is_some())
    };
    let deciding = lists.iter().filter(|(_, text)| is_list(text));
    let deciding: Vec<String> = deciding.map(|(name, _)| joined("", name)).collect();
    words.extend(
        lists
            .iter()
            .flat_map(|(_, text)| names_in(text))
            .take(MOST_WORDS),
    );
    words.retain(|word| word.contains(|c: char| c.is_alphanumeric() || c == '*' || c == '.'));
    let mut found = below_or_fitting(&words, folder, then);
    if found.is_empty() && !folder.is_empty() {
        found = below_or_fitting(&words, "", then);
    }
    if !found.is_empty() {
        found.extend(deciding);
    }
    found
}

fn below_or_fitting(words: &[String], folder: &str, then: &Then<'_>) -> Vec<String> {
    let (mut places, mut shapes) = (HashSet::new(), Vec::new());
    for word in words.iter().map(|word| joined(folder, word)) {
        match shape(&word) {
            Some(shape) => shapes.push(shape.chars().collect::<Vec<char>>()),
            None => drop(places.insert(word)),
        }
    }
    shapes.truncate(MOST_PATTERNS);
    let is_named = |file: &&String| {
        let can_run = || {
            let text = || (then.read)(file).unwrap_or_default();
            is_runnable(file, "") || is_runnable(file, &text())
        };
        let mut above = file.match_indices('/').map(|(at, _)| &file[..at]);
        above.any(|place| places.contains(place))
            || shapes.iter().any(|shape| fits(shape, file))
            || (places.contains("") || places.contains(file.as_str())) && can_run()
    };
    let named = then.files.iter().filter(is_named);
    named.take(MOST).cloned().collect()
}
