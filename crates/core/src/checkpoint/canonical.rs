//! JSON as Python writes it: `json.dumps(obj, sort_keys=True,
//! ensure_ascii=False)`. The checksum of a checkpoint is taken over this text
//! (CKPT-05), so that the tools that share the file come to the same value.

use crate::lang::Say;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Deeper nesting than any checkpoint has; each level is read once more than
/// the one above it.
const MAX_DEPTH: usize = 64;

/// Why a text has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum NotCanonical {
    #[say("line {line} is not JSON ({message})")]
    NotJson { line: usize, message: String },
    #[say("it is not a JSON object")]
    NotAnObject,
    #[say("it is nested too deeply")]
    TooDeep,
}

impl From<serde_json::Error> for NotCanonical {
    fn from(error: serde_json::Error) -> Self {
        NotCanonical::NotJson {
            line: error.line(),
            message: error.to_string(),
        }
    }
}

/// The checksum of the JSON object in `text`, its own `checksum` left out:
/// `sha256:` and 64 hexadecimal digits.
pub fn checksum(text: &str) -> Result<String, NotCanonical> {
    let canonical = canonical_without_checksum(text)?;
    Ok(sha256(canonical.as_bytes()))
}

pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

pub(super) fn canonical_without_checksum(text: &str) -> Result<String, NotCanonical> {
    let raw: &RawValue = serde_json::from_str(text)?;
    if !raw.get().starts_with('{') {
        return Err(NotCanonical::NotAnObject);
    }
    let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get())?;
    fields.remove("checksum");
    let mut out = String::with_capacity(text.len());
    object(&fields, 0, &mut out)?;
    Ok(out)
}

/// Goes over the text and not over a parsed value: a number keeps all its
/// digits that way, as it does in Python.
fn value(raw: &RawValue, depth: usize, out: &mut String) -> Result<(), NotCanonical> {
    if depth > MAX_DEPTH {
        return Err(NotCanonical::TooDeep);
    }
    let text = raw.get();
    match text.bytes().next() {
        Some(b'{') => object(&serde_json::from_str(text)?, depth, out),
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            out.push('[');
            for (index, item) in items.into_iter().enumerate() {
                separate(index, out);
                value(item, depth + 1, out)?;
            }
            out.push(']');
            Ok(())
        }
        Some(b'"') => {
            string(&serde_json::from_str::<String>(text)?, out);
            Ok(())
        }
        Some(b't' | b'f' | b'n') => {
            out.push_str(text);
            Ok(())
        }
        _ => {
            out.push_str(&number(text));
            Ok(())
        }
    }
}

/// Keys sort by code point in Python, which is the order of their UTF-8 bytes.
fn object(
    fields: &BTreeMap<String, &RawValue>,
    depth: usize,
    out: &mut String,
) -> Result<(), NotCanonical> {
    out.push('{');
    for (index, (key, field)) in fields.iter().enumerate() {
        separate(index, out);
        string(key, out);
        out.push_str(": ");
        value(field, depth + 1, out)?;
    }
    out.push('}');
    Ok(())
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push_str(", ");
    }
}

/// Python escapes quotes, backslashes and what lies below U+0020.
fn string(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            _ => out.push(char),
        }
    }
    out.push('"');
}

fn number(text: &str) -> String {
    if !text.contains(['.', 'e', 'E']) {
        // A whole number of any length is itself; there is no negative zero.
        return if text == "-0" { "0" } else { text }.to_owned();
    }
    match text.parse::<f64>() {
        Ok(float) => python_float(float),
        Err(_) => text.to_owned(),
    }
}

/// `repr` of a Python float: the shortest digits that read back, in plain
/// notation from 0.0001 up to below 1e16.
fn python_float(float: f64) -> String {
    if float.is_infinite() {
        let sign = if float < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..16) => {
            let plain = format!("{float}");
            let is_whole = exponent >= 0 && !plain.contains('.') || float == 0.0;
            if is_whole {
                format!("{plain}.0")
            } else {
                plain
            }
        }
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        Err(_) => scientific,
    }
}
