//! Secrets that are known by their own form.

use super::{is_ident, run_end};
use std::ops::Range;

/// A family of tokens: a fixed start, then at least `min` characters.
struct Family {
    prefix: &'static str,
    min: usize,
    takes: fn(u8) -> bool,
}

const fn family(prefix: &'static str, min: usize, takes: fn(u8) -> bool) -> Family {
    Family { prefix, min, takes }
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn alphanumeric_or_underscore(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const FAMILIES: &[Family] = &[
    family("sk-ant-", 8, is_ident),
    family("sk_live_", 16, alphanumeric),
    family("sk_test_", 16, alphanumeric),
    family("rk_live_", 16, alphanumeric),
    family("ghp_", 16, alphanumeric),
    family("gho_", 16, alphanumeric),
    family("ghu_", 16, alphanumeric),
    family("ghs_", 16, alphanumeric),
    family("ghr_", 16, alphanumeric),
    family("github_pat_", 16, alphanumeric_or_underscore),
    family("glpat-", 16, is_ident),
    family("npm_", 30, alphanumeric),
    family("hf_", 30, alphanumeric),
    family("AIza", 30, is_ident),
];

/// A token that starts here.
pub(super) fn token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !starts_token(bytes, at) {
        return None;
    }
    let end = match bytes.get(at)? {
        b'e' => json_web_token(bytes, at),
        b'x' => slack_token(bytes, at),
        b'A' => aws_key_id(bytes, at).or_else(|| family_token(bytes, at)),
        b's' => family_token(bytes, at).or_else(|| sk_token(bytes, at)),
        b'r' | b'g' | b'n' | b'h' => family_token(bytes, at),
        _ => None,
    }?;
    Some(at..end)
}

/// No letter stands in front, except that of an escaped line break: agents
/// speak JSON, where a token can follow `\n`.
fn starts_token(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|i| bytes.get(i)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(byte) => !alphanumeric_or_underscore(byte),
    }
}

fn starts_with(bytes: &[u8], at: usize, prefix: &str) -> bool {
    bytes
        .get(at..)
        .is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
}

/// Where a run of at least `min` such bytes ends. Looks no further than `min`
/// before it is sure, so that a failure is cheap.
fn run_of_at_least(bytes: &[u8], start: usize, min: usize, takes: fn(u8) -> bool) -> Option<usize> {
    let first = bytes.get(start..start + min)?;
    first
        .iter()
        .all(|byte| takes(*byte))
        .then(|| run_end(bytes, start + min, takes))
}

fn family_token(bytes: &[u8], at: usize) -> Option<usize> {
    FAMILIES
        .iter()
        .filter(|family| starts_with(bytes, at, family.prefix))
        .find_map(|family| {
            let start = at + family.prefix.len();
            run_of_at_least(bytes, start, family.min, family.takes)
        })
}

/// `sk-…`: words with hyphens (`sk-learn-compatible-code`) look alike, so it
/// needs a digit or a long piece without a hyphen.
fn sk_token(bytes: &[u8], at: usize) -> Option<usize> {
    const MIN: usize = 16;
    const WINDOW: usize = 64;
    if !starts_with(bytes, at, "sk-") {
        return None;
    }
    let start = at + 3;
    let rest = bytes.get(start..)?;
    let window = rest.get(..WINDOW).unwrap_or(rest);
    let window = window.get(..run_end(window, 0, is_ident))?;
    let random = window.iter().any(u8::is_ascii_digit)
        || window
            .split(|byte| *byte == b'-' || *byte == b'_')
            .any(|piece| piece.len() >= MIN);
    (window.len() >= MIN && random).then(|| run_end(bytes, start, is_ident))
}

fn aws_key_id(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at + 20;
    let known = starts_with(bytes, at, "AKIA") || starts_with(bytes, at, "ASIA");
    let whole = bytes
        .get(at..end)?
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let ends = !bytes.get(end).copied().is_some_and(alphanumeric);
    (known && whole && ends).then_some(end)
}

fn slack_token(bytes: &[u8], at: usize) -> Option<usize> {
    let kind = *bytes.get(at + 3)?;
    if !starts_with(bytes, at, "xox")
        || !kind.is_ascii_lowercase()
        || bytes.get(at + 4) != Some(&b'-')
    {
        return None;
    }
    run_of_at_least(bytes, at + 5, 10, is_ident)
}

/// Three base64url parts, of which the first starts like `{"`.
fn json_web_token(bytes: &[u8], at: usize) -> Option<usize> {
    const MIN_PART: usize = 8;
    let behind_hyphen = at.checked_sub(1).and_then(|i| bytes.get(i)) == Some(&b'-');
    if behind_hyphen || !starts_with(bytes, at, "eyJ") {
        return None;
    }
    let header = run_of_at_least(bytes, at, MIN_PART, is_ident)?;
    let payload = run_of_at_least(bytes, dot(bytes, header)?, MIN_PART, is_ident)?;
    Some(run_end(bytes, dot(bytes, payload)?, is_ident))
}

/// The position behind a dot.
fn dot(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes.get(at) == Some(&b'.')).then_some(at + 1)
}

/// The token behind the word `Bearer`; "bearer authentication" is prose.
pub(super) fn bearer(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    const WORD: usize = "bearer".len();
    let word = bytes.get(at..at + WORD)?;
    if !word.eq_ignore_ascii_case(b"bearer") || !starts_token(bytes, at) {
        return None;
    }
    let start = run_end(bytes, at + WORD, |byte| byte == b' ');
    if start == at + WORD {
        return None;
    }
    let end = run_end(bytes, start, |byte| {
        is_ident(byte) || b".~+/=".contains(&byte)
    });
    let token = bytes.get(start..end)?;
    let has_digit = token.iter().any(u8::is_ascii_digit);
    (token.len() >= 20 || (token.len() >= 8 && has_digit)).then_some(start..end)
}
