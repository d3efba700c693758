//! Secrets that are known by the name in front of them: `password=…`,
//! `"api_key": "…"`, `token: …`, `--secret …`, `Authorization: …`.

use super::{REDACTED_START, is_ident, run_end};
use std::ops::Range;

/// What a name promises about its value.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    /// Any value is worth hiding, also a short word.
    Password,
    /// Parsers and type declarations use these names too, so the value must
    /// look like a secret.
    Token,
    Authorization,
}

/// How the value is joined to its name.
#[derive(Clone, Copy, PartialEq)]
enum Join {
    /// `name=value`, as in an environment, a query or a command line.
    Tight,
    /// `name: value` or `name = value`, which prose and code use as well.
    Loose,
    /// `--name value`.
    Option,
}

const PASSWORDS: &[&str] = &["password", "passwd", "passphrase"];

const TOKENS: &[&str] = &[
    "token", "secret", "apikey", "accesskey", "secretkey", "privatekey", "accountkey",
];

/// Words that are no secrets where a value is expected: types, empty values
/// and what error messages say about a password.
const PLAIN_WORDS: &[&str] = &[
    "any", "authentication", "bool", "boolean", "bytes", "changed", "disabled", "empty", "enabled",
    "expired", "failed", "false", "field", "float32", "float64", "hidden", "incorrect", "integer",
    "int32", "int64", "invalid", "missing", "mismatch", "nil", "none", "null", "number", "object",
    "optional", "required", "string", "string16", "text", "true", "uint32", "uint64", "undefined",
    "unknown", "unset", "varchar", "wrong",
];

/// How much of a value without quotes is looked at to judge it: a run without
/// end must not be read again and again.
const LONGEST_JUDGED: usize = 1024;

/// The value of the name that starts here, if it must be hidden.
pub(super) fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let inside_name = at
        .checked_sub(1)
        .and_then(|i| bytes.get(i))
        .is_some_and(|byte| is_ident(*byte));
    if inside_name {
        return None;
    }
    let name_end = run_end(bytes, at, is_ident);
    let name = &text[at..name_end];
    let key = key(name)?;
    let (join, start) = join(text, name, name_end)?;
    if key == Key::Authorization {
        return authorization(text, start);
    }
    if let Some(range) = quoted(text, start) {
        let value = &text[range.clone()];
        return (hides_quoted(key, value) && !is_placeholder(value)).then_some(range);
    }
    let range = bare(text, start, LONGEST_JUDGED);
    let value = &text[range.clone()];
    let hides = match join {
        Join::Tight => hides_tight(key, value),
        Join::Loose if key == Key::Password && is_whole_line(text, at, &range) => {
            hides_loose(key, value) || is_word(value)
        }
        Join::Loose | Join::Option => hides_loose(key, value),
    };
    (hides && !is_placeholder(value)).then(|| bare(text, start, usize::MAX))
}

fn key(name: &str) -> Option<Key> {
    const LONGEST: usize = 64;
    let tail = name.get(name.len().saturating_sub(LONGEST)..)?;
    let lower = tail.to_ascii_lowercase();
    if lower.ends_with("authorization") {
        return Some(Key::Authorization);
    }
    let joined = lower.replace(['_', '-'], "");
    if PASSWORDS.iter().any(|word| joined.ends_with(word)) {
        return Some(Key::Password);
    }
    let is_token = TOKENS.iter().any(|word| joined.ends_with(word))
        || lower.ends_with("_pass")
        || lower.ends_with("-pass");
    is_token.then_some(Key::Token)
}

/// What joins name and value, and where the value starts.
fn join(text: &str, name: &str, name_end: usize) -> Option<(Join, usize)> {
    let bytes = text.as_bytes();
    let is_blank = |byte| byte == b' ' || byte == b'\t';
    let after_quote = quote(bytes, name_end).map_or(name_end, |quote| quote.end);
    let sign = run_end(bytes, after_quote, is_blank);
    let rest = text.get(sign..)?;
    let length = ["=>", ":=", "：", ":", "="]
        .iter()
        .find(|sign| rest.starts_with(**sign))
        .map(|sign| sign.len());
    let Some(length) = length else {
        let is_option = name.starts_with("--") && sign > name_end && after_quote == name_end;
        return is_option.then_some((Join::Option, sign));
    };
    let sign_end = sign + length;
    // `==` compares and `::` is a path.
    if matches!(bytes.get(sign_end), Some(b'=' | b':' | b'~')) {
        return None;
    }
    let start = run_end(bytes, sign_end, is_blank);
    let tight = rest.starts_with('=') && length == 1 && sign == name_end && start == sign_end;
    Some((if tight { Join::Tight } else { Join::Loose }, start))
}

/// An opening or closing quote, with the backslashes that JSON within JSON
/// puts in front of it.
struct Quote {
    mark: u8,
    backslashes: usize,
    end: usize,
}

fn quote(bytes: &[u8], at: usize) -> Option<Quote> {
    let mark_at = run_end(bytes, at, |byte| byte == b'\\');
    let mark = *bytes.get(mark_at)?;
    matches!(mark, b'"' | b'\'' | b'`').then_some(Quote {
        mark,
        backslashes: mark_at - at,
        end: mark_at + 1,
    })
}

/// The inside of a quoted value; one that is not closed ends with its line.
fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // `b"…"`, `f'…'`: the letter belongs to the language, not to the value.
    let after_letter = match bytes.get(start) {
        Some(b'b' | b'f' | b'r' | b'u') => start + 1,
        _ => start,
    };
    let open = quote(bytes, after_letter)?;
    let mut backslashes = 0;
    for (offset, byte) in bytes.iter().skip(open.end).enumerate() {
        match *byte {
            b'\\' => backslashes += 1,
            b'\n' => return Some(open.end..open.end + offset),
            mark if mark == open.mark && backslashes <= open.backslashes => {
                return Some(open.end..open.end + offset - backslashes);
            }
            _ => backslashes = 0,
        }
    }
    Some(open.end..bytes.len())
}

/// A value without quotes, up to a blank or to a sign that ends it in some
/// common format, but no longer than `longest` characters.
fn bare(text: &str, start: usize, longest: usize) -> Range<usize> {
    let rest = &text[start..];
    let end = rest
        .char_indices()
        .enumerate()
        .find(|(count, (at, c))| *count == longest || ends_bare(*c, &rest[*at..]))
        .map_or(rest.len(), |(_, (at, _))| at);
    start..start + end
}

fn ends_bare(c: char, rest: &str) -> bool {
    if c == '\\' {
        return ["\\n", "\\r", "\\t", "\\\""]
            .iter()
            .any(|escape| rest.starts_with(escape));
    }
    c.is_whitespace() || ",;&\"'`)}]>|，。；".contains(c)
}

/// `Basic …`, `Bearer …` or a lone token. In prose ("Authorization: only for
/// admins") it is neither.
fn authorization(text: &str, start: usize) -> Option<Range<usize>> {
    const SCHEMES: &[&str] = &[
        "basic", "bearer", "token", "digest", "negotiate", "apikey", "aws4-hmac-sha256",
    ];
    let start = quoted(text, start).map_or(start, |inside| inside.start);
    let first = bare(text, start, LONGEST_JUDGED);
    let word = &text[first.clone()];
    if !SCHEMES.contains(&word.to_ascii_lowercase().as_str()) {
        return (is_strong(word, 8) && !is_placeholder(word)).then_some(first);
    }
    let second = run_end(text.as_bytes(), first.end, |byte| byte == b' ');
    let credentials = bare(text, second, usize::MAX);
    let value = &text[credentials.clone()];
    (value.len() >= 4 && !is_placeholder(value)).then_some(first.start..credentials.end)
}

fn hides_quoted(key: Key, value: &str) -> bool {
    let min = if key == Key::Password { 1 } else { 4 };
    value.len() >= min && !is_plain_word(value)
}

fn hides_tight(key: Key, value: &str) -> bool {
    let short_number = value.len() < 8 && value.bytes().all(|byte| byte.is_ascii_digit());
    !value.is_empty()
        && !is_plain_word(value)
        && !is_code(value)
        && !names_a_secret(value)
        && (key == Key::Password || (value.len() >= 4 && !short_number))
}

fn hides_loose(key: Key, value: &str) -> bool {
    let min = if key == Key::Password { 6 } else { 8 };
    is_strong(value, min) && !is_plain_word(value) && !is_code(value) && !names_a_secret(value)
}

/// A word long enough for a password that nothing else explains.
fn is_word(value: &str) -> bool {
    value.chars().count() >= 6 && !is_plain_word(value) && !is_code(value) && !names_a_secret(value)
}

/// Nothing but the pair stands on its line, as in YAML.
fn is_whole_line(text: &str, name: usize, value: &Range<usize>) -> bool {
    let before = text[..name].trim_end_matches([' ', '\t', '-', '"', '\'']);
    let after = text[value.end..].trim_start_matches([' ', '\t']);
    (before.is_empty() || before.ends_with('\n'))
        && (after.is_empty() || after.starts_with(['\n', '\r']))
}

/// At least `min` characters with a letter and a digit.
pub(super) fn is_strong(value: &str, min: usize) -> bool {
    value.len() >= min
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.chars().any(char::is_alphabetic)
}

fn is_plain_word(value: &str) -> bool {
    let lower = value.trim_end_matches(['.', '!', '?']).to_ascii_lowercase();
    PLAIN_WORDS.contains(&lower.as_str())
}

/// A call, a generic type, a path or a member: something that is computed.
fn is_code(value: &str) -> bool {
    let is_member = value.contains('.')
        && value.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
    is_member
        || value.starts_with(['&', '=', '/'])
        || value.contains('(')
        || value.contains('<')
        || value.contains("::")
}

/// A variable that is itself named like a secret: `password=db_password`.
fn names_a_secret(value: &str) -> bool {
    let is_name = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let lower = value.to_ascii_lowercase();
    let is_known = |word: &str| {
        lower
            .strip_suffix(word)
            .is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    is_name
        && (PASSWORDS.iter().any(|word| is_known(word))
            || TOKENS.iter().any(|word| is_known(word))
            || lower.ends_with("api_key"))
}

/// A stand-in for a value: a variable, a template, stars, or our own mark.
pub(super) fn is_placeholder(value: &str) -> bool {
    let variable = |name: &str| {
        name.starts_with(['{', '('])
            || (!name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphabetic() || byte == b'_'))
            || (!name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'))
    };
    value.is_empty()
        || value.contains(REDACTED_START)
        || value.strip_prefix('$').is_some_and(variable)
        || value.starts_with(['<', '{'])
        || (value.starts_with('%') && (value.len() <= 2 || value.ends_with('%')))
        || value.bytes().all(|byte| b"*.xX".contains(&byte))
        || value.starts_with('…')
}
