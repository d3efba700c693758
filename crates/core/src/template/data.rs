//! Text from files and commands, made safe to stand in a prompt: it is data,
//! so it must not be able to leave its fence (REIN-06) or to crowd out the
//! rest (REIN-04).

use crate::text::without_controls;

/// The most characters that one piece of data may take.
pub(super) const LONGEST: usize = 2_000;

/// A fenced block, with a fence that the data cannot close.
pub(crate) fn fenced(data: &str) -> String {
    let data = cap(&harmless(data));
    let data = data.trim_matches('\n');
    let fence = "`".repeat((longest_backtick_run(data) + 1).max(3));
    format!("{fence}\n{data}\n{fence}")
}

/// [`fenced`], of which the newest part stays: a summary grows at its end.
pub(crate) fn newest_fenced(data: &str) -> String {
    let data = harmless(data);
    let length = data.chars().count();
    if length <= LONGEST {
        return fenced(&data);
    }
    let mark = "[…]\n";
    let kept = LONGEST - mark.chars().count();
    let newest: String = data.chars().skip(length - kept).collect();
    fenced(&format!("{mark}{newest}"))
}

/// One line of data within a sentence, as inline code.
pub(crate) fn inline(data: &str) -> String {
    let data = cap(&harmless(data));
    let data = data.split_whitespace().collect::<Vec<_>>().join(" ");
    if data.is_empty() {
        return "(empty)".to_owned();
    }
    let ticks = "`".repeat(longest_backtick_run(&data) + 1);
    // A space keeps a backtick at either end apart from the delimiter.
    let pad = if data.starts_with('`') || data.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{data}{pad}{ticks}")
}

/// Several pieces of data, one to a line.
pub(crate) fn list(items: &[String]) -> String {
    if items.is_empty() {
        return fenced("- (not named)");
    }
    let lines: Vec<String> = items
        .iter()
        .map(|item| {
            let item = item.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("- {item}")
        })
        .collect();
    fenced(&lines.join("\n"))
}

/// Without control characters, and without those that hide text from people
/// or turn its direction.
fn harmless(data: &str) -> String {
    without_controls(data)
        .chars()
        .filter(|&c| {
            !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
        })
        .collect()
}

/// Keeps the beginning and, as the end of an output says most, twice as much
/// of the end.
fn cap(data: &str) -> String {
    let length = data.chars().count();
    if length <= LONGEST {
        return data.to_owned();
    }
    let mark = |left_out: usize| format!("\n[… {left_out} characters left out …]\n");
    // The number in the mark never has more digits than the whole length.
    let room = LONGEST.saturating_sub(mark(length).chars().count());
    let head: String = data.chars().take(room / 3).collect();
    let tail: String = data.chars().skip(length - (room - room / 3)).collect();
    format!("{head}{}{tail}", mark(length - room))
}

fn longest_backtick_run(data: &str) -> usize {
    data.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, cap, fenced, inline, list};
    use proptest::prelude::*;

    #[test]
    fn data_cannot_leave_its_fence() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("```\na\n```"), "````\n```\na\n```\n````");
        assert_eq!(fenced("\n\na\u{1b}[31mb\u{0}\r\nc\n"), "```\nab\nc\n```");
        assert_eq!(fenced("a\u{202e}b\u{e0041}"), "```\nab\n```");
    }

    #[test]
    fn inline_data_is_one_line_of_code() {
        assert_eq!(inline("npm test"), "`npm test`");
        assert_eq!(inline("a\nb"), "`a b`");
        assert_eq!(inline("`a`"), "`` `a` ``");
        assert_eq!(inline(" \n"), "(empty)");
    }

    #[test]
    fn a_list_is_data_too() {
        assert_eq!(
            list(&["T001 a\nb".into(), "T002".into()]),
            "```\n- T001 a b\n- T002\n```"
        );
    }

    #[test]
    fn long_data_keeps_both_ends() {
        let data = format!("first {} last", "字".repeat(5_000));
        let capped = cap(&data);
        assert!(capped.starts_with("first 字"), "{capped}");
        assert!(capped.ends_with("字 last"), "{capped}");
        assert!(capped.contains("characters left out"), "{capped}");
    }

    proptest! {
        #[test]
        fn capped_data_fits(data in "\\PC{0,3000}") {
            prop_assert!(cap(&data).chars().count() <= LONGEST);
        }

        #[test]
        fn no_line_of_the_data_closes_the_fence(data in "([`\n a]|\\PC){0,60}") {
            let block = fenced(&data);
            let lines: Vec<&str> = block.lines().collect();
            let fence = lines[0];
            let inside = &lines[1..lines.len() - 1];
            prop_assert!(inside.iter().all(|line| !line.contains(fence)));
        }
    }
}
