//! Long output cut to a size: its head and its tail stay, because a build says
//! first what it does and last why it failed (VERI-05).

use std::borrow::Cow;

/// At most `limit` characters of `text`. Where something is missing stands a
/// line `[… N …]` with the number of characters left out; it counts against
/// the limit. Where even that does not fit, only the head stays.
pub fn excerpt(text: &str, limit: usize) -> Cow<'_, str> {
    let total = text.chars().count();
    if total <= limit {
        return Cow::Borrowed(text);
    }
    // The number grows shorter when less is cut, never longer than this one.
    let longest_mark = mark(total).chars().count();
    let Some(kept) = limit.checked_sub(longest_mark).filter(|kept| *kept > 0) else {
        return Cow::Borrowed(&text[..byte_of_char(text, limit)]);
    };
    let tail = kept / 2;
    let head = kept - tail;
    let head_end = byte_of_char(text, head);
    let tail_start = byte_of_char(text, total - tail);
    Cow::Owned(format!(
        "{}{}{}",
        &text[..head_end],
        mark(total - kept),
        &text[tail_start..]
    ))
}

fn mark(cut: usize) -> String {
    format!("\n[… {cut} …]\n")
}

/// Where the character with this index starts; the end of the text if it has
/// fewer.
fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn head_and_tail_stay() {
        let text = format!("start {} the error", "x".repeat(100));
        assert_eq!(
            excerpt(&text, 40),
            "start xxxxxxxxx\n[… 87 …]\nxxxx the error"
        );
    }

    #[test]
    fn limits() {
        for (text, limit, want) in [
            ("short", 5, "short"),
            ("", 0, ""),
            ("任務完成", 4, "任務完成"),
            ("任務完成了", 3, "任務完"),
            ("任務完成了", 0, ""),
        ] {
            assert_eq!(excerpt(text, limit), want, "{text:?} to {limit}");
        }
    }

    proptest! {
        #[test]
        fn never_longer_and_the_number_is_true(text in "\\PC{0,200}", limit in 0usize..120) {
            let cut = excerpt(&text, limit);
            prop_assert!(cut.chars().count() <= limit);
            if let Some((head, rest)) = cut.split_once("\n[… ") {
                let (number, tail) = rest.split_once(" …]\n").unwrap();
                let missing: usize = number.parse().unwrap();
                let shown = head.chars().count() + tail.chars().count();
                prop_assert_eq!(missing + shown, text.chars().count());
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            }
        }
    }
}
