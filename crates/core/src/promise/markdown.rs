//! Finds what a reader of Markdown takes as shown rather than said: code,
//! quotes and comments.
//!
//! Follows CommonMark as far as it matters for where a tag stands: blocks
//! line by line, then code spans and comments within each run of text. Every
//! byte is looked at a fixed number of times.

use std::ops::Range;

use crate::markdown::{BacktickRuns, Fence, list_marker, run_length, split_indent};

/// Stands in the view for each byte of code or of a quote. Cleaned text holds
/// no control characters, so it cannot be mistaken for text.
pub(super) const SHOWN: char = '\u{1a}';

/// A copy of `text`, byte for byte as long and with the same line ends, in
/// which code and quotes are [`SHOWN`] and comments are spaces.
pub(super) fn said(text: &str) -> String {
    let mut blocks = Blocks {
        text,
        covers: Vec::new(),
        paragraph: None,
        fence: None,
        list_offsets: Vec::new(),
    };
    let mut at = 0;
    while at < text.len() {
        at = blocks.line(at);
    }
    blocks.end_paragraph();
    cover(text, &blocks.covers)
}

struct Cover {
    range: Range<usize>,
    with: char,
}

fn cover(text: &str, covers: &[Cover]) -> String {
    let mut view = String::with_capacity(text.len());
    let mut at = 0;
    for Cover { range, with } in covers {
        view.push_str(slice(text, at..range.start));
        view.extend(
            slice(text, range.clone())
                .bytes()
                .map(|b| if b == b'\n' { '\n' } else { *with }),
        );
        at = range.end;
    }
    view.push_str(slice(text, at..text.len()));
    view
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

struct Opened {
    fence: Fence,
    /// Where the text of the list item starts that the fence stands in.
    offset: usize,
}

struct Blocks<'t> {
    text: &'t str,
    covers: Vec<Cover>,
    /// The run of text that code spans and comments can extend over.
    paragraph: Option<Range<usize>>,
    fence: Option<Opened>,
    list_offsets: Vec<usize>,
}

impl Blocks<'_> {
    /// Reads the line at `start` and returns where to go on.
    fn line(&mut self, start: usize) -> usize {
        let rest = slice(self.text, start..self.text.len());
        let end = start + rest.find('\n').unwrap_or(rest.len());
        let next = end + 1;
        let line = slice(self.text, start..end);
        if let Some(fence) = &self.fence {
            if closes(fence, line) {
                self.fence = None;
            }
            self.show(start..end);
            return next;
        }
        let (indent, content) = split_indent(line, 0);
        if content.is_empty() {
            self.end_paragraph();
            return next;
        }
        while self.list_offsets.last().is_some_and(|&o| o > indent) {
            self.list_offsets.pop();
        }
        if indent >= self.list_offset() + 4 {
            // Code does not interrupt a paragraph, and neither does anything
            // else that stands so far in.
            match self.paragraph {
                Some(_) => self.extend_paragraph(start..end),
                None => self.show(start..end),
            }
            return next;
        }
        self.content(Position { start, end, indent }, content)
    }

    /// Reads what follows the indentation, through any list markers.
    fn content(&mut self, mut position: Position, mut content: &str) -> usize {
        let next = position.end + 1;
        loop {
            let start = position.end - content.len();
            if content.starts_with('>') {
                self.end_paragraph();
                self.show(position.start..position.end);
                return next;
            }
            if let Some(fence) = Fence::at(content) {
                self.end_paragraph();
                self.show(position.start..position.end);
                let offset = self.list_offset();
                self.fence = Some(Opened { fence, offset });
                return next;
            }
            if content.starts_with("<!--") {
                self.end_paragraph();
                let from = slice(self.text, start + 2..self.text.len());
                let end = from
                    .find("-->")
                    .map_or(self.text.len(), |at| start + 2 + at + 3);
                self.comment(start..end);
                return end;
            }
            let Some(marker) = item_marker(content) else {
                let heading = content.starts_with('#');
                if heading {
                    self.end_paragraph();
                }
                self.extend_paragraph(start..position.end);
                if heading {
                    self.end_paragraph();
                }
                return next;
            };
            self.end_paragraph();
            let (column, after) = split_indent(
                slice(content, marker..content.len()),
                position.indent + marker,
            );
            let gap = column - position.indent - marker;
            if after.is_empty() {
                self.list_offsets.push(position.indent + marker + 1);
                return next;
            }
            if gap >= 5 {
                self.list_offsets.push(position.indent + marker + 1);
                self.show(position.end - after.len()..position.end);
                return next;
            }
            self.list_offsets.push(column);
            position.indent = column;
            content = after;
        }
    }

    fn list_offset(&self) -> usize {
        self.list_offsets.last().copied().unwrap_or(0)
    }

    fn show(&mut self, range: Range<usize>) {
        self.covers.push(Cover { range, with: SHOWN });
    }

    fn comment(&mut self, range: Range<usize>) {
        self.covers.push(Cover { range, with: ' ' });
    }

    fn extend_paragraph(&mut self, range: Range<usize>) {
        match &mut self.paragraph {
            Some(paragraph) => paragraph.end = range.end,
            None => self.paragraph = Some(range),
        }
    }

    /// Looks for code spans and comments in the text read so far.
    fn end_paragraph(&mut self) {
        let Some(range) = self.paragraph.take() else {
            return;
        };
        let text = slice(self.text, range.clone());
        let mut runs = BacktickRuns::of(text);
        let mut comments_end = true;
        let mut at = 0;
        while let Some(found) = slice(text, at..text.len()).find(['`', '<', '\\']) {
            at += found;
            let rest = slice(text, at..text.len());
            if let Some(escaped) = rest.strip_prefix('\\') {
                let skips = escaped.starts_with(|c: char| c.is_ascii_punctuation());
                at += if skips { 2 } else { 1 };
            } else if rest.starts_with('`') {
                let length = run_length(rest, '`');
                let close = runs.next_of(length, at + length);
                let end = close.map_or(at + length, |close| close + length);
                if close.is_some() {
                    self.show(range.start + at..range.start + end);
                }
                at = end;
            } else if comments_end && rest.starts_with("<!--") {
                match slice(rest, 2..rest.len()).find("-->") {
                    Some(found) => {
                        let end = at + 2 + found + 3;
                        self.comment(range.start + at..range.start + end);
                        at = end;
                    }
                    // No later comment of this run of text ends either.
                    None => {
                        comments_end = false;
                        at += 1;
                    }
                }
            } else {
                at += 1;
            }
        }
    }
}

struct Position {
    start: usize,
    end: usize,
    indent: usize,
}

fn closes(opened: &Opened, line: &str) -> bool {
    let (indent, content) = split_indent(line, 0);
    indent < opened.offset + 4
        && Fence::at(content).is_some_and(|fence| opened.fence.is_closed_by(fence))
}

/// The length of the bullet or number that starts a list item.
fn item_marker(content: &str) -> Option<usize> {
    list_marker(content)
        .filter(|&length| matches!(content.as_bytes().get(length), None | Some(b' ' | b'\t')))
}

#[cfg(test)]
mod tests {
    use super::{SHOWN, said};
    use proptest::prelude::*;

    /// `#` stands for a covered byte, `_` for one of a comment.
    fn check(text: &str, want: &str) {
        let view = said(text).replace(SHOWN, "#");
        assert_eq!(view, want.replace('_', " "), "{text:?}");
    }

    #[test]
    fn code_quotes_and_comments_are_covered() {
        check("a `b` c", "a ### c");
        check("a ``b ` c`` d", "a ######### d");
        check("a ` b", "a ` b");
        check("a ` b\n\nc ` d", "a ` b\n\nc ` d");
        check("a `b\nc` d", "a ##\n## d");
        check("- a ` b\n- c ` d", "- a ` b\n- c ` d");
        check("a \\`b` c", "a \\`b` c");
        check("```\na\n```\nb", "###\n#\n###\nb");
        check("~~~ sh\na\n```\n~~~~\nb", "######\n#\n###\n####\nb");
        check("   ```\na\n   ```\nb", "######\n#\n######\nb");
        check("```\na\n    ```\nb", "###\n#\n#######\n#");
        check(
            "1. x\n   ```\n   a\n   ```\nb",
            "1. x\n######\n####\n######\nb",
        );
        check("- ```\n  a\n  ```\nb", "#####\n###\n#####\nb");
        check("``` a ` b\nc", "``` a ` b\nc");
        check("a\n\n    b\n    c\nd", "a\n\n#####\n#####\nd");
        check("a\n    b", "a\n    b");
        check(
            "a\n    ```\n    b\n    ```\nc",
            "a\n    ###\n#####\n#######\nc",
        );
        check("# a ` b\nc ` d", "# a ` b\nc ` d");
        check("\tb", "##");
        check("- a\n\n    b\n\n      c", "- a\n\n    b\n\n#######");
        check("> a\nb", "###\nb");
        check("- > a\nb", "#####\nb");
        check("a <!-- b --> c", "a __________ c");
        check("a <!-- b", "a <!-- b");
        check("<!-- a\n\nb -->c", "______\n\n_____c");
        check("<!-- a\nb", "______\n_");
        check("`<!--` a `-->`", "###### a #####");
        check("<!-- ` --> a `", "__________ a `");
    }

    proptest! {
        #[test]
        fn the_view_is_as_long_as_the_text(text in "([`~<>!# a\t\n-]|<!--|-->|```|[0-9][.]|\\PC){0,60}") {
            let view = said(&text);
            prop_assert_eq!(view.len(), text.len());
            prop_assert_eq!(view.matches('\n').count(), text.matches('\n').count());
        }
    }
}
