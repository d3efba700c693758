//! The beginning and the end of a flood, in constant memory, without secrets
//! and without anything that a terminal obeys.

use std::borrow::Cow;

use ralph_core::text;

/// Keeps enough of both ends for a text of a number of characters.
#[derive(Clone, Debug)]
pub struct Excerpt {
    characters: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Characters that are in neither.
    lost: usize,
}

impl Excerpt {
    pub fn new(characters: usize) -> Excerpt {
        Excerpt {
            characters,
            head: Vec::new(),
            tail: Vec::new(),
            lost: 0,
        }
    }

    pub fn push(&mut self, chunk: &[u8]) {
        // Four bytes hold any character.
        let limit = self.characters.saturating_mul(4);
        let room = limit.saturating_sub(self.head.len()).min(chunk.len());
        let (head, rest) = chunk.split_at(room);
        self.head.extend_from_slice(head);
        let (skipped, rest) = rest.split_at(rest.len().saturating_sub(limit));
        if !skipped.is_empty() {
            self.lost += count(&self.tail) + count(skipped);
            self.tail.clear();
        }
        self.tail.extend_from_slice(rest);
        if self.tail.len() > limit.saturating_mul(2) {
            let surplus = self.tail.len() - limit;
            self.lost += count(&self.tail[..surplus]);
            self.tail.drain(..surplus);
        }
    }

    /// What was pushed, or its head and its tail with the number of characters
    /// between them.
    pub fn text(&self) -> String {
        if self.lost == 0 {
            // In one piece, since a character may stand across the cut.
            let whole = [self.head.as_slice(), &self.tail].concat();
            return shortened(&String::from_utf8_lossy(&whole), self.characters);
        }
        // A character that was cut in two is counted where it begins.
        let cut = self
            .tail
            .iter()
            .take_while(|byte| !starts_character(**byte));
        let tail = &self.tail[cut.count()..];
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(tail);
        join(
            &harmless(&head),
            &harmless(&tail),
            self.lost,
            self.characters,
        )
    }
}

/// A harmless text, cut to a number of characters.
pub fn shortened(words: &str, characters: usize) -> String {
    text::excerpt(&harmless(words), characters).into_owned()
}

/// Escape sequences go first: within a secret they would hide it.
fn harmless(words: &str) -> String {
    let plain: Cow<'_, str> = text::without_controls(words);
    text::redact(&plain).into_owned()
}

/// As [`text::excerpt`] does it, for a text whose middle is gone.
fn join(head: &str, tail: &str, lost: usize, limit: usize) -> String {
    let total = head.chars().count() + lost + tail.chars().count();
    let longest_mark = mark(total).chars().count();
    let Some(kept) = limit.checked_sub(longest_mark).filter(|kept| *kept > 0) else {
        return head.chars().take(limit).collect();
    };
    let from_tail = kept / 2;
    let skipped = tail.chars().count().saturating_sub(from_tail);
    let head: String = head.chars().take(kept - from_tail).collect();
    let tail: String = tail.chars().skip(skipped).collect();
    let cut = total - head.chars().count() - tail.chars().count();
    format!("{head}{}{tail}", mark(cut))
}

fn mark(cut: usize) -> String {
    format!("\n[… {cut} …]\n")
}

/// Characters of valid UTF-8, wherever it was cut.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| starts_character(**byte)).count()
}

fn starts_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_that_a_terminal_obeys() {
        let words = "\u{1b}[2J\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}and \u{9b}0mplain\n";
        assert_eq!(shortened(words, 100), "red and plain\n");
        let mut whole = Excerpt::new(100);
        whole.push(words.as_bytes());
        assert_eq!(whole.text(), "red and plain\n");
        let mut cut = Excerpt::new(40);
        words
            .bytes()
            .cycle()
            .take(4000)
            .for_each(|byte| cut.push(&[byte]));
        assert!(!cut.text().contains(|c: char| c.is_control() && c != '\n'));
    }

    /// Pushes a text in pieces of every size: the result must not depend on
    /// how the output came, and be what a cut of the whole text gives.
    fn check(words: &str, limit: usize, want: &str) {
        assert_eq!(shortened(words, limit), want);
        for size in [1, 2, 3, 7, 64, usize::MAX] {
            let mut excerpt = Excerpt::new(limit);
            for chunk in words.as_bytes().chunks(size.min(words.len().max(1))) {
                excerpt.push(chunk);
            }
            assert_eq!(excerpt.text(), want, "in pieces of {size}");
        }
    }

    #[test]
    fn a_short_text_is_whole() {
        check("", 40, "");
        check("hello world", 11, "hello world");
        check("任務完成了嗎", 6, "任務完成了嗎");
        check("a\nb\n", 40, "a\nb\n");
    }

    #[test]
    fn a_long_text_keeps_its_ends_and_says_how_much_is_missing() {
        let flood = format!("start {} the error", "x".repeat(10_000));
        check(&flood, 42, "start xxxxxxxxx\n[… 9987 …]\nxxxx the error");
        check(&flood, 5, "start");
        check(&flood, 0, "");
        let chinese = "測試失敗。".repeat(1_000);
        check(&chinese, 22, "測試失敗。\n[… 4990 …]\n測試失敗。");
    }

    #[test]
    fn a_secret_is_hidden_before_anything_is_cut() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        check(&format!("{secret} is it"), 100, "[redacted] is it");
        let flood = format!("{secret} {} {secret}", "x".repeat(10_000));
        let mut excerpt = Excerpt::new(60);
        excerpt.push(flood.as_bytes());
        let text = excerpt.text();
        assert!(text.starts_with("[redacted] x"), "{text}");
        assert!(text.ends_with("x [redacted]"), "{text}");
    }

    #[test]
    fn a_flood_costs_no_memory() {
        let mut excerpt = Excerpt::new(100);
        for _ in 0..1_000 {
            excerpt.push(&[b'x'; 64 * 1024]);
            assert!(excerpt.head.capacity() + excerpt.tail.capacity() < 4_000);
        }
        assert!(
            excerpt.text().contains("[… 65535916 …]"),
            "{}",
            excerpt.text()
        );
    }
}
