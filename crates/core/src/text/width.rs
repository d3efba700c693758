//! Columns that a text takes on a terminal, and padding, cutting and wrapping
//! by them.
//!
//! A grapheme is never split: CJK takes two columns, an emoji with its
//! presentation selector two, a combining mark none (VALV-13). The text is
//! expected to be [sanitized](super::sanitize()): a control character counts as
//! nothing.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The mark that stands for what was cut off.
pub const ELLIPSIS: &str = "…";

/// Columns that `text` takes.
pub fn width(text: &str) -> usize {
    text.graphemes(true).map(grapheme_width).sum()
}

fn grapheme_width(grapheme: &str) -> usize {
    if grapheme.chars().all(char::is_control) {
        return 0;
    }
    UnicodeWidthStr::width(grapheme)
}

/// `text` with blanks behind it, `cols` columns wide; longer text stays.
pub fn pad_right(text: &str, cols: usize) -> String {
    let blanks = cols.saturating_sub(width(text));
    format!("{text}{:blanks$}", "")
}

/// `text` cut to at most `cols` columns, with `…` where something is missing.
pub fn truncate(text: &str, cols: usize) -> String {
    truncate_with(text, cols, ELLIPSIS)
}

/// [`truncate`] with another mark. A mark that does not fit is left out.
pub fn truncate_with(text: &str, cols: usize, mark: &str) -> String {
    if width(text) <= cols {
        return text.to_owned();
    }
    let mark = if width(mark) <= cols { mark } else { "" };
    let mut cut = head(text, cols - width(mark)).to_owned();
    cut.push_str(mark);
    cut
}

/// The longest start of `text` that fits into `cols` columns.
fn head(text: &str, cols: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme_width(grapheme);
        if used > cols {
            return &text[..at];
        }
    }
    text
}

/// `text` in lines of at most `cols` columns. Breaks behind blanks and between
/// CJK characters, within a word only where it must; punctuation stays with
/// what it belongs to. A single grapheme wider than `cols` stands alone.
pub fn wrap(text: &str, cols: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for unit in units(text) {
        let needed = width(unit.trim_end());
        if used + needed > cols {
            end_line(&mut lines, &mut line);
            used = 0;
        }
        if needed <= cols {
            line.push_str(unit);
            used += width(unit);
            continue;
        }
        for grapheme in unit.graphemes(true) {
            let needed = grapheme_width(grapheme);
            if used + needed > cols {
                end_line(&mut lines, &mut line);
                used = 0;
            }
            line.push_str(grapheme);
            used += needed;
        }
    }
    end_line(&mut lines, &mut line);
    lines
}

/// The pieces of `text` that a line break does not divide, each with the blanks
/// behind it.
fn units(text: &str) -> Vec<&str> {
    let mut units = Vec::new();
    let mut start = 0;
    let mut before = "";
    for (at, grapheme) in text.grapheme_indices(true) {
        if can_break(before, grapheme) {
            units.push(&text[start..at]);
            start = at;
        }
        before = grapheme;
    }
    if start < text.len() {
        units.push(&text[start..]);
    }
    units
}

fn can_break(before: &str, after: &str) -> bool {
    let is_blank = |grapheme: &str| grapheme.trim().is_empty();
    let closes = |grapheme: &str| ",.!?:;)]}，。！？：；、」』）》】…".contains(grapheme);
    let opens = |grapheme: &str| "([{「『（《【".contains(grapheme);
    if before.is_empty() || is_blank(after) {
        return false;
    }
    if is_blank(before) {
        return true;
    }
    let is_wide = grapheme_width(before) > 1 || grapheme_width(after) > 1;
    is_wide && !closes(after) && !opens(before)
}

fn end_line(lines: &mut Vec<String>, line: &mut String) {
    if !line.trim().is_empty() {
        lines.push(line.trim().to_owned());
    }
    line.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths() {
        for (text, want) in [
            ("", 0),
            ("abc", 3),
            ("安全閥", 6),
            ("，！「」", 8),
            ("⚠️", 2),
            ("⏸️", 2),
            ("▶️", 2),
            ("✅", 2),
            ("🔁", 2),
            ("👨\u{200d}👩\u{200d}👧\u{200d}👦", 2),
            ("👍🏽", 2),
            ("🇹🇼", 2),
            ("e\u{301}", 1),
            ("█░║═├└", 6),
            ("✓…→", 3),
            ("a\u{200b}b", 2),
            ("\u{1b}\u{7}", 0),
            ("한글", 4),
            ("ｱ", 1),
        ] {
            assert_eq!(width(text), want, "{text:?}");
        }
    }

    #[test]
    fn padding() {
        assert_eq!(pad_right("任務", 6), "任務  ");
        assert_eq!(pad_right("任務", 3), "任務");
    }

    #[test]
    fn cutting() {
        for (text, cols, want) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("任務完成", 8, "任務完成"),
            ("任務完成", 7, "任務完…"),
            ("任務完成", 6, "任務…"),
            ("任務完成", 1, "…"),
            ("任務完成", 0, ""),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            (
                "👨\u{200d}👩\u{200d}👧 family",
                3,
                "👨\u{200d}👩\u{200d}👧…",
            ),
            ("👨\u{200d}👩\u{200d}👧 family", 2, "…"),
        ] {
            assert_eq!(truncate(text, cols), want, "{text:?} to {cols}");
        }
        assert_eq!(truncate_with("abcdef", 5, "..."), "ab...");
        assert_eq!(truncate_with("abcdef", 2, "..."), "ab");
    }

    #[test]
    fn wrapping() {
        for (text, cols, want) in [
            ("", 5, &[][..]),
            ("one two three", 7, &["one two", "three"]),
            ("onetwothree x", 5, &["onetw", "othre", "e x"]),
            ("任務完成了", 4, &["任務", "完成", "了"]),
            ("see 任務完成", 8, &["see 任務", "完成"]),
            ("is done. yes", 7, &["is", "done.", "yes"]),
            ("任務完成，繼續", 8, &["任務完", "成，繼續"]),
            ("說「完成」", 4, &["說", "「完", "成」"]),
            (" indented", 20, &["indented"]),
        ] {
            assert_eq!(wrap(text, cols), want, "{text:?} to {cols}");
        }
    }

    proptest! {
        #[test]
        fn cut_text_fits(text in "\\PC*", cols in 0usize..40) {
            prop_assert!(width(&truncate(&text, cols)) <= cols);
        }

        #[test]
        fn padded_text_fills(text in "\\PC{0,20}", extra in 0usize..9) {
            let cols = width(&text) + extra;
            prop_assert_eq!(width(&pad_right(&text, cols)), cols);
        }

        #[test]
        fn wrapped_text_fits_and_keeps_every_letter(text in "[a-z 任務👍]{0,60}", cols in 2usize..20) {
            let lines = wrap(&text, cols);
            for line in &lines {
                prop_assert!(width(line) <= cols, "{line:?}");
            }
            let kept: String = lines.concat().split_whitespace().collect();
            let given: String = text.split_whitespace().collect();
            prop_assert_eq!(kept, given);
        }
    }
}
