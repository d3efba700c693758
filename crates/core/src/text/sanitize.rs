//! Text from outside, made harmless for a terminal.
//!
//! What an agent, a file or a command printed may hold escape sequences that
//! move the cursor, set the title or hide text. Nothing of that survives here.

use std::borrow::Cow;

use super::controls::without_controls;
use super::visible::is_hidden;

/// Removes escape sequences and control characters. Line feeds stay, a
/// carriage return becomes one, a tab becomes four spaces.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let plain = without_controls(text);
    if !plain.chars().any(is_unsafe) {
        return plain;
    }
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if is_unsafe(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// [`sanitize`], with every run of white space as one blank: a value that fits
/// inside a line.
pub fn one_line(text: &str) -> String {
    let clean = sanitize(text);
    let mut out = String::with_capacity(clean.len());
    for word in clean.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Control characters, and the invisible ones that reorder or break a line.
fn is_unsafe(c: char) -> bool {
    c != '\n' && (c.is_control() || is_hidden(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_and_controls_disappear() {
        for (input, want) in [
            ("plain 文字 ⚠️", "plain 文字 ⚠️"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[1;1Hgone", "gone"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            (
                "\u{1b}]8;;http://e.org\u{1b}\\link\u{1b}]8;;\u{1b}\\",
                "link",
            ),
            ("\u{1b}]0;never ends\nnext", "0;never ends\nnext"),
            ("\u{1b}Pq secret", "q secret"),
            ("\u{1b}(B\u{1b}cx", "x"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("a\u{8}b\u{7}c\u{7f}d\0", "abcd"),
            ("50%\r100%\r\nend", "50%\n100%\nend"),
            ("a\tb", "a    b"),
            ("abc\u{202e}fed", "abcfed"),
            ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
        ] {
            assert_eq!(sanitize(input), want, "{input:?}");
        }
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(sanitize("a\nb"), Cow::Borrowed("a\nb")));
    }

    #[test]
    fn one_line_folds_white_space() {
        assert_eq!(one_line("  a\r\n\tb \u{2028} c\n"), "a b c");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in "(\\PC|\u{1b}|[\\[\\]Pm;0-9]|\u{7}|\r|\n|\t|\u{9b})*") {
            let clean = sanitize(&text).into_owned();
            prop_assert!(!clean.chars().any(is_unsafe));
            prop_assert_eq!(sanitize(&clean), clean.as_str());
        }
    }
}
