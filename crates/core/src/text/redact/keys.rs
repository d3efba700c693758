//! Private keys, which have many lines.

use std::borrow::Cow;
use std::ops::Range;

use super::REDACTED;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// The body of a PEM private key, up to its end line or, where that was cut
/// off, to the end of the text.
pub(super) fn body(text: &str, at: usize) -> Option<Range<usize>> {
    let title = text[at..].strip_prefix(BEGIN)?;
    let start = at + BEGIN.len() + title_end(title)?;
    let length = text[start..].find(END).unwrap_or(text.len() - start);
    let body = &text[start..start + length];
    (!body.trim().is_empty()).then(|| start..start + length)
}

/// Where the title of a private key ends.
fn title_end(title: &str) -> Option<usize> {
    const TITLE_END: &str = "PRIVATE KEY-----";
    const LONGEST_TITLE: usize = 40;
    let at = title
        .as_bytes()
        .windows(TITLE_END.len())
        .take(LONGEST_TITLE)
        .position(|window| window == TITLE_END.as_bytes())?;
    Some(at + TITLE_END.len())
}

/// The text without the ends of keys whose beginnings were cut off.
pub(super) fn without_ends(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut from) = (0, 0);
    for (at, _) in text.match_indices(END) {
        if let (Some(before), Some(title)) = (text.get(from..at), text.get(at + END.len()..))
            && title_end(title).is_some()
            && let Some(hidden) = end_of_key(before)
        {
            out.push_str(&text[copied..from + hidden.start]);
            out.push_str(REDACTED);
            copied = from + hidden.end;
        }
        from = at + END.len();
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[copied..]),
    }
}

/// The lines of a key at the end of a text that does not hold its beginning.
fn end_of_key(text: &str) -> Option<Range<usize>> {
    if text.contains(BEGIN) {
        return None;
    }
    let mut start = text.len();
    let mut found = None;
    for line in text.split_inclusive('\n').rev() {
        if !may_be_line(line) {
            break;
        }
        start -= line.len();
        if line.contains(char::is_alphabetic) {
            found = Some(start);
        }
    }
    let lines = text.get(found?..)?;
    Some(found?..found? + lines.trim_end().len())
}

/// Whether the last key of a line goes on behind it.
pub(super) fn opens(line: &str) -> bool {
    let Some((_, behind)) = line.rsplit_once(BEGIN) else {
        return false;
    };
    title_end(behind).is_some() && !behind.contains(END)
}

/// Base64 with nothing but a line number or signs of a quote around it, or one
/// of the fields that stand above it.
pub(super) fn may_be_line(line: &str) -> bool {
    const FIELDS: [&str; 2] = ["Proc-Type:", "DEK-Info:"];
    let mut words = line
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphabetic));
    match (words.next(), words.next()) {
        (None, _) => true,
        (Some(word), None) => is_base64(word),
        (Some(field), _) => FIELDS.contains(&field),
    }
}

/// In quotes too, as programs and JSON have it.
fn is_base64(word: &str) -> bool {
    let is_quote = |c| "\"'`,;|>".contains(c);
    let word = word.trim_matches(is_quote);
    let word = word.strip_suffix("\\n").unwrap_or(word);
    word.chars()
        .all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
}
