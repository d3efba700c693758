//! Bytes as they come, cut into lines: in constant memory, however long a line
//! is, and without copying a line that came in one piece.

use std::borrow::Cow;

use memchr::memchr;

/// A longer line than this is not kept.
pub(super) const MAX_LINE: usize = 4 * 1024 * 1024;

/// Takes the lines.
pub(super) trait Take {
    fn line(&mut self, line: &[u8]);
    /// A line that is too long to be kept, by its beginning.
    fn overlong(&mut self, head: &[u8]);
}

/// What has come of a line so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    overlong: bool,
}

impl Lines {
    pub(super) fn push(&mut self, mut chunk: &[u8], take: &mut dyn Take) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            if self.line.is_empty() && !self.overlong {
                take.line(line);
            } else {
                self.extend(line, take);
                self.end(take);
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.extend(chunk, take);
    }

    /// The last line may lack its end.
    pub(super) fn finish(&mut self, take: &mut dyn Take) {
        if !self.line.is_empty() {
            self.end(take);
        }
        *self = Lines::default();
    }

    fn extend(&mut self, part: &[u8], take: &mut dyn Take) {
        if self.overlong {
            return;
        }
        if self.line.len() + part.len() > MAX_LINE {
            let missing = HEAD.saturating_sub(self.line.len()).min(part.len());
            self.line.extend_from_slice(&part[..missing]);
            take.overlong(&self.line[..self.line.len().min(HEAD)]);
            self.overlong = true;
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn end(&mut self, take: &mut dyn Take) {
        if !std::mem::take(&mut self.overlong) {
            take.line(&self.line);
        }
        self.line.clear();
        // One long line must not cost its memory for the rest of the turn.
        self.line.shrink_to(KEPT_CAPACITY);
    }
}

/// Enough of a line to tell what it is.
const HEAD: usize = 4 * 1024;
const KEPT_CAPACITY: usize = 256 * 1024;

/// The `type` of a line: found at once where it stands in front, as it nearly
/// always does, else by reading the whole line.
pub(super) fn type_of(line: &[u8]) -> Option<&[u8]> {
    leading_type(line).or_else(|| {
        #[derive(serde::Deserialize)]
        struct Typed<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
        }
        let typed = serde_json::from_slice::<Typed<'_>>(line).ok()?;
        Some(typed.kind.as_bytes())
    })
}

/// The `type` that the beginning of a line tells, however it is spaced.
pub(super) fn leading_type(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head;
    for part in [&b"{"[..], br#""type""#, b":", b"\""] {
        rest = rest.trim_ascii_start().strip_prefix(part)?;
    }
    let end = memchr(b'"', rest)?;
    rest.get(..end)
}

/// The line with what JSON does not allow replaced: bytes that are no text, and
/// halves of characters that JavaScript cuts out of longer texts.
pub(super) fn mended(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let replaced = matches!(text, Cow::Owned(_));
    let (text, whole) = without_half_characters(&text);
    (replaced || !whole).then_some(text)
}

/// Replaces `\ud83d` without its other half.
fn without_half_characters(text: &str) -> (String, bool) {
    let mut mended = String::with_capacity(text.len());
    let mut whole = true;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match (surrogate(escape), surrogate(escape.get(6..).unwrap_or(""))) {
            (Some(Half::First), Some(Half::Second)) => 12,
            (Some(_), _) => {
                mended.push_str("\\ufffd");
                whole = false;
                rest = &escape[6..];
                continue;
            }
            // The character behind a backslash is no beginning of an escape.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    (mended, whole)
}

enum Half {
    First,
    Second,
}

fn surrogate(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u32::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Taken(Vec<String>);

    impl Take for Taken {
        fn line(&mut self, line: &[u8]) {
            self.0.push(String::from_utf8(line.into()).unwrap());
        }

        fn overlong(&mut self, head: &[u8]) {
            self.0.push(format!("too long: {}", head.len()));
        }
    }

    fn taken(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut taken = Taken::default();
        for chunk in chunks {
            lines.push(chunk, &mut taken);
        }
        lines.finish(&mut taken);
        taken.0
    }

    #[test]
    fn chunks_make_lines() {
        assert_eq!(taken(&[b"one\ntwo\n"]), ["one", "two"]);
        assert_eq!(taken(&[b"o", b"ne", b"\n", b"two"]), ["one", "two"]);
        assert_eq!(taken(&[b"\n\na"]), ["", "", "a"]);
        assert_eq!(taken(&[]), [""; 0]);
    }

    #[test]
    fn a_line_without_bounds_is_let_go_by() {
        let mut lines = Lines::default();
        let mut taken = Taken::default();
        lines.push(b"first\n", &mut taken);
        for _ in 0..2_000 {
            lines.push(&[b'x'; 64 * 1024], &mut taken);
            assert!(lines.line.capacity() <= 2 * MAX_LINE);
        }
        assert_eq!(lines.line.capacity(), 0);
        lines.push(b"x\nlast", &mut taken);
        lines.finish(&mut taken);
        assert_eq!(taken.0, ["first", "too long: 4096", "last"]);
        // The same where it comes in one piece that has no end.
        let long = vec![b'y'; 2 * MAX_LINE];
        assert_eq!(super::tests::taken(&[&long]), ["too long: 4096"]);
    }

    #[test]
    fn a_type_in_front_is_seen_at_once() {
        let check = |line: &str, want: Option<&str>| {
            assert_eq!(leading_type(line.as_bytes()), want.map(str::as_bytes));
        };
        check(r#"{"type":"user","x":1}"#, Some("user"));
        check(r#"{"type":"user"#, None);
        check(r#"{"a":1,"type":"user"}"#, None);
        check("", None);
    }

    #[test]
    fn what_json_does_not_allow_is_replaced() {
        let check = |line: &[u8], want: Option<&str>| {
            assert_eq!(mended(line).as_deref(), want);
        };
        check(br#""fine \ud83d\ude00 \\ud83d \n""#, None);
        check(b"a\xffb", Some("a\u{fffd}b"));
        check(br#""cut \ud83d""#, Some(r#""cut \ufffd""#));
        check(br#""\ude00 cut""#, Some(r#""\ufffd cut""#));
        check(br#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#));
        check(br"\", None);
        check(br"\u", None);
        check("\\é\\ud8é".as_bytes(), None);
    }
}
