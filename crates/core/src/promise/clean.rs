//! Takes away what a terminal would not show as text, so that a tag is found
//! the same way in a captured screen and in a plain reply.

use std::iter::Peekable;
use std::str::Chars;

/// The text without escape sequences and control characters; every kind of
/// line end becomes `\n`. Tabs stay.
pub(crate) fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_control_string(&mut chars),
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Characters that take no room and carry no meaning of their own. They stay
/// in the text, because one inside a tag's name is how people write a tag
/// that must not count, but they never change what a promise says.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

/// Trimmed, each run of whitespace one space, invisible characters gone: the
/// form in which promises are compared (PROM-08).
pub(super) fn collapse(text: &str) -> String {
    let visible: String = text.chars().filter(|&c| !is_invisible(c)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn skip_escape(chars: &mut Peekable<Chars>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_control_string(chars),
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        // `ESC <` is a mode switch of the VT52, but here the `<` is far more
        // likely to open a tag.
        Some(c) if ('0'..='~').contains(c) && *c != '<' => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(chars: &mut Peekable<Chars>) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    chars.next_if(|c| ('@'..='~').contains(c));
}

/// A title or a hyperlink target. One that never ends is given up at the end
/// of its line, so that it cannot swallow the rest of the reply.
fn skip_control_string(chars: &mut Peekable<Chars>) {
    while chars
        .next_if(|c| !matches!(c, '\u{7}' | '\u{9c}' | '\u{1b}' | '\n' | '\r'))
        .is_some()
    {}
    chars.next_if(|c| matches!(c, '\u{7}' | '\u{9c}'));
}

#[cfg(test)]
mod tests {
    use super::{collapse, plain};

    #[test]
    fn only_text_is_left() {
        for (raw, want) in [
            ("a\u{1b}[1;32mb\u{1b}[0mc", "abc"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never ends\nnext", "\nnext"),
            ("\u{1b}(Bx\u{1b}7y", "xy"),
            ("\u{1b}<promise>", "<promise>"),
            ("a\r\nb\rc\u{2028}d", "a\nb\nc\nd"),
            ("a\u{0}b\u{8}c\td", "abc\td"),
            ("\u{feff}x", "x"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ] {
            assert_eq!(plain(raw), want, "{raw:?}");
        }
    }

    #[test]
    fn whitespace_collapses_and_invisible_characters_go() {
        assert_eq!(
            collapse(" \u{3000}PHASE\t\n COMPLETE\u{a0}"),
            "PHASE COMPLETE"
        );
        assert_eq!(collapse("\u{feff}DO\u{200b}NE"), "DONE");
        assert_eq!(collapse("\u{200b}"), "");
    }
}
