//! Hides what looks like a secret before a text is logged, stored or shown
//! (STAT-08, XCUT-06).
//!
//! A secret is known by its form (`ghp_…`, a JWT, a private key), by its place
//! (`https://user:…@host`, `Bearer …`) or by the name in front of it
//! (`password=…`, `"token": "…"`). There is no guessing by randomness: Git
//! hashes and UUIDs stay. A hand-written scanner, because compiling patterns
//! costs a hook more than all its other work; its time grows with the length
//! of the text, whatever the text is.

mod keys;
mod lines;
mod pairs;
mod tokens;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

pub use lines::LineRedactor;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How [`REDACTED`] starts: a value that holds this has been treated already.
const REDACTED_START: &str = "[redacted";

/// Hiding one secret can bring the next into view; more rounds than this are
/// not needed by any text that was found.
const MAX_ROUNDS: usize = 4;

/// `text` with every secret replaced by [`REDACTED`]. The name of the secret
/// stays. Give it whole texts: a private key has many lines, which a
/// [`LineRedactor`] has to know one by one.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut current = keys::without_ends(text);
    for _ in 0..MAX_ROUNDS {
        match hide_once(&current) {
            Some(hidden) => current = Cow::Owned(hidden),
            None => break,
        }
    }
    current
}

/// The same for every text in a value; names of fields stay.
pub fn redact_values(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(hidden) = redact(text) {
                *text = hidden;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_values),
        Value::Object(fields) => fields.values_mut().for_each(redact_values),
        _ => {}
    }
}

/// One round from left to right; `None` where there is nothing to hide.
fn hide_once(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        match secret_at(text, at) {
            Some(secret) => {
                out.push_str(&text[copied..secret.start]);
                out.push_str(REDACTED);
                copied = secret.end;
                at = secret.end;
            }
            None => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// The place of the secret whose recognition starts at this byte.
fn secret_at(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let secret = match bytes.get(at)? {
        b':' => password_in_url(text, at),
        b'-' => keys::body(text, at).or_else(|| pairs::value(text, at)),
        byte if is_ident(*byte) => tokens::token(bytes, at)
            .or_else(|| tokens::bearer(bytes, at))
            .or_else(|| pairs::value(text, at)),
        _ => None,
    }?;
    let shown = &text[secret.clone()];
    (!shown.is_empty() && !shown.contains(REDACTED_START)).then_some(secret)
}

/// The password of `scheme://user:password@host`, or a whole user part that
/// looks like a token.
fn password_in_url(text: &str, at: usize) -> Option<Range<usize>> {
    let start = at + 3;
    if !text[at..].starts_with("://") || !at.checked_sub(1).is_some_and(|i| is_word(text, i)) {
        return None;
    }
    let authority = &text[start..];
    let authority = authority
        .split(|c: char| c.is_whitespace() || "/?#\"'`<>\\".contains(c))
        .next()?;
    let (user, _host) = authority.rsplit_once('@')?;
    match user.split_once(':') {
        Some((name, password)) if !pairs::is_placeholder(password) => {
            let from = start + name.len() + 1;
            Some(from..from + password.len())
        }
        Some(_) => None,
        None => pairs::is_strong(user, 16).then(|| start..start + user.len()),
    }
}

fn is_word(text: &str, at: usize) -> bool {
    text.as_bytes()
        .get(at)
        .is_some_and(u8::is_ascii_alphanumeric)
}

/// A character of an identifier, an option name or a header name.
fn is_ident(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The first position from `start` on whose byte is not taken.
fn run_end(bytes: &[u8], start: usize, take: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .skip(start)
        .position(|byte| !take(*byte))
        .map_or(bytes.len(), |length| start + length)
}
