//! Turns any text into one line that a terminal shows as it stands.

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
    use ralph_core::text::sanitize;

    #[test]
    fn one_line_of_plain_text_remains() {
        for (text, want) in [
            ("plain", "plain"),
            ("  迭代 1 / 50", "  迭代 1 / 50"),
            ("", ""),
            ("\n\n", ""),
            ("a\nb\r\nc\rd\n", "a ⏎ b ⏎ c ⏎ d"),
            ("a\n\n  \nb", "a ⏎ b"),
            ("a\tb\0c\u{7f}\u{8}", "a    bc"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;unfinished\nnext", "0;unfinished ⏎ next"),
            ("\u{1b}[31\nnext", "next"),
            ("\u{1b}(Btext", "text"),
            ("end\u{1b}", "end"),
            ("\u{202e}txt.exe", "txt.exe"),
            ("a\u{2028}b\u{85}c", "a ⏎ b ⏎ c"),
        ] {
            assert_eq!(fold_lines(&sanitize(text)), want, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_line(text: String) {
            let line = fold_lines(&sanitize(&text));
            prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
        }

        #[test]
        fn plain_text_is_kept(text in "[ -~]*[!-~]") {
            prop_assert_eq!(fold_lines(&sanitize(&text)), text);
        }
    }
}
