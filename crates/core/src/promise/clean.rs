//! What of a promise's text counts when it is compared.

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

#[cfg(test)]
mod tests {
    use super::collapse;

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
