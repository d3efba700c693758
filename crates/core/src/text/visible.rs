//! The last step before a terminal (S-11): whatever it would obey or hide is
//! shown instead, so that nothing that came from outside can move the cursor,
//! set a title or the clipboard, turn text around, or be there unseen.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters that take no place and change what is seen around them, or only
/// hide: directions, breaks, joiners of nothing, fillers, tags.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// Joiners belong to scripts and emoji; between ASCII they only hide.
fn is_stray_joiner(c: char, before: Option<char>) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}') && before.is_none_or(|before| before.is_ascii())
}

/// The text as it may go to a terminal. Line ends and tabs stay; where
/// `colors` are wanted, so do plain colours, which can't hide anything.
pub fn visible(text: &str, colors: bool) -> Cow<'_, str> {
    let plain = |c: char| c == '\n' || c == '\t' || !(c.is_control() || is_hidden(c));
    let has_joiner = || text.contains(['\u{200c}', '\u{200d}']);
    if text.chars().all(plain) && !has_joiner() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\u{1b}' if colors && color_length(after) > 0 => {
                let length = color_length(after);
                out.push(c);
                out.push_str(&after[..length]);
                rest = &after[length..];
                continue;
            }
            '\r' if after.starts_with('\n') => {}
            c if plain(c) && !is_stray_joiner(c, before) => out.push(c),
            // As `cat -v` shows them.
            c if c.is_ascii() => {
                out.push('^');
                out.push(char::from((c as u8) ^ 0x40));
            }
            c => {
                let _ = write!(out, "<U+{:04X}>", u32::from(c));
            }
        }
        before = Some(c);
        rest = after;
    }
    Cow::Owned(out)
}

/// How long a sequence behind `ESC` is that sets one of the colours and
/// weights that Ralph uses; 0 for any other.
fn color_length(after: &str) -> usize {
    const OWN: [&str; 10] = ["", "0", "1", "2", "4", "31", "32", "33", "34", "36"];
    let Some(inner) = after.strip_prefix('[') else {
        return 0;
    };
    match inner.find(|c: char| !c.is_ascii_digit() && c != ';') {
        Some(end) if inner[end..].starts_with('m') => {
            let known = inner[..end].split(';').all(|part| OWN.contains(&part));
            if known { end + 2 } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (raw, want) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("做完 ⏸️ 👩\u{200d}💻", "做完 ⏸️ 👩\u{200d}💻"),
            ("a\r\nb", "a\nb"),
            ("safe\rrm -rf", "safe^Mrm -rf"),
            ("\u{1b}]52;c;AAAA\u{7}", "^[]52;c;AAAA^G"),
            ("\u{1b}[2J\u{1b}[1A", "^[[2J^[[1A"),
            ("\u{9b}2J\u{9d}0;x\u{9c}", "<U+009B>2J<U+009D>0;x<U+009C>"),
            ("a\u{202e}b\u{2066}c", "a<U+202E>b<U+2066>c"),
            ("r\u{200b}m\u{200d}x", "r<U+200B>m<U+200D>x"),
            ("a\u{7f}\u{8}b", "a^?^Hb"),
            ("\u{1b}[31mred\u{1b}[0m", "^[[31mred^[[0m"),
        ] {
            assert_eq!(visible(raw, false), want, "{raw:?}");
        }
        for (raw, want) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[8mhidden", "^[[8mhidden"),
            ("\u{1b}[30;40mblack", "^[[30;40mblack"),
            ("\u{1b}[31", "^[[31"),
            ("\u{1b}[38;5;0mx", "^[[38;5;0mx"),
        ] {
            assert_eq!(visible(raw, true), want, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_obeyed_is_left(text: String) {
            let shown = visible(&text, false);
            prop_assert!(!shown.chars().any(|c| c != '\n' && c != '\t' && (c.is_control() || is_hidden(c))));
            prop_assert_eq!(visible(&shown, false), shown.as_ref());
        }
    }
}
