//! Turns any text into one line that a terminal shows as it stands.

/// Removes terminal sequences and control characters. Line breaks of every
/// kind become `\n`, a tab becomes a space.
pub fn without_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                clean.push('\n');
            }
            '\t' => clean.push(' '),
            c if c.is_control() || reorders_text(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// Marks that make a terminal show text in another order than it has.
fn reorders_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_control_string(chars);
        }
        _ => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
    }
}

/// Parameters up to a final letter; anything else breaks the sequence off.
fn skip_control_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// A title or the like, up to its terminator. It ends with the line at the
/// latest, so that an unfinished one cannot hide what follows.
fn skip_control_string(chars: &mut Chars<'_>) {
    while let Some(&c) = chars.peek() {
        if matches!(c, '\n' | '\r') {
            return;
        }
        chars.next();
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// Puts all lines of a text into one, with a mark where each ended.
pub fn fold_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.join(" ⏎ ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_line_of_plain_text_remains() {
        for (text, want) in [
            ("plain", "plain"),
            ("  迭代 1 / 50", "  迭代 1 / 50"),
            ("", ""),
            ("\n\n", ""),
            ("a\nb\r\nc\rd\n", "a ⏎ b ⏎ c ⏎ d"),
            ("a\n\n  \nb", "a ⏎ b"),
            ("a\tb\0c\u{7f}\u{8}", "a bc"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;unfinished\nnext", "next"),
            ("\u{1b}[31\nnext", "next"),
            ("\u{1b}(Btext", "text"),
            ("end\u{1b}", "end"),
            ("\u{202e}txt.exe", "txt.exe"),
            ("a\u{2028}b\u{85}c", "a ⏎ b ⏎ c"),
        ] {
            assert_eq!(fold_lines(&without_controls(text)), want, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_line(text: String) {
            let line = fold_lines(&without_controls(&text));
            prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
        }

        #[test]
        fn plain_text_is_kept(text in "[ -~]*[!-~]") {
            prop_assert_eq!(fold_lines(&without_controls(&text)), text);
        }
    }
}
