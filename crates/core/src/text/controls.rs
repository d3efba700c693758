//! What a terminal obeys instead of showing: escape sequences and control
//! characters.

use std::borrow::Cow;

const ESC: char = '\u{1b}';
/// The one-character forms of `ESC [` and of what opens a command string.
const C1_CSI: char = '\u{9b}';

/// The text without escape sequences and control characters. Every kind of
/// line end becomes `\n`; tabs stay; so do invisible characters.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            ESC => skip_escape(after),
            C1_CSI => skip_csi(after),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(after),
            '\r' => {
                out.push('\n');
                after.strip_prefix('\n').unwrap_or(after)
            }
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                out.push('\n');
                after
            }
            c => {
                if !is_obeyed(c) {
                    out.push(c);
                }
                after
            }
        };
    }
    Cow::Owned(out)
}

fn is_obeyed(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        c => c.is_control(),
    }
}

/// The text behind an escape sequence, of which `ESC` is already gone.
fn skip_escape(after: &str) -> &str {
    let mut chars = after.chars();
    match chars.next() {
        Some('[') => skip_csi(chars.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars.as_str()),
        Some(' '..='/') => {
            let rest = chars
                .as_str()
                .trim_start_matches(|c| matches!(c, ' '..='/'));
            rest.strip_prefix(|c| matches!(c, '0'..='~'))
                .unwrap_or(rest)
        }
        // `ESC <` is a mode switch of the VT52, but here the `<` is far more
        // likely to open a tag.
        Some(c) if matches!(c, '0'..='~') && c != '<' => chars.as_str(),
        _ => after,
    }
}

/// A control sequence: parameters, intermediates, one final byte.
fn skip_csi(after: &str) -> &str {
    let rest = after.trim_start_matches(|c| matches!(c, ' '..='?'));
    rest.strip_prefix(|c| matches!(c, '@'..='~'))
        .unwrap_or(rest)
}

/// A command string (title, hyperlink, …) ends with BEL or `ESC \`. One that
/// does not end on its line loses only its introducer, so that it cannot make
/// the text behind it invisible.
fn skip_string(after: &str) -> &str {
    let Some(end) = after.find(['\u{7}', '\u{9c}', ESC, '\n']) else {
        return after;
    };
    let terminator = &after[end..];
    for ending in ["\u{7}", "\u{9c}", "\u{1b}\\"] {
        if let Some(rest) = terminator.strip_prefix(ending) {
            return rest;
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_text_is_left() {
        for (raw, want) in [
            ("a\u{1b}[1;32mb\u{1b}[0mc", "abc"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{9d}0;title\u{9c}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never ends\nnext", "0;never ends\nnext"),
            ("\u{1b}(Bx\u{1b}7y", "xy"),
            ("\u{1b}<promise>", "<promise>"),
            ("a\r\nb\rc\u{2028}d", "a\nb\nc\nd"),
            ("a\u{0}b\u{8}c\td", "abc\td"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ] {
            assert_eq!(without_controls(raw), want, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_obeyed_is_left(text: String) {
            let plain = without_controls(&text).into_owned();
            prop_assert!(!plain.chars().any(is_obeyed));
            prop_assert_eq!(without_controls(&plain), plain.as_str());
        }
    }
}
