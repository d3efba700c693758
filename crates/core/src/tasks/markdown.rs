//! The little of Markdown that task files need: lines, boxes, headings, and
//! which lines are hidden in fenced code or HTML comments.

pub(super) use crate::markdown::code_spans;
use crate::markdown::{self, Fence};

/// One line without its line ending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// 1-based.
    pub number: usize,
    /// Byte offset of the line in the text.
    pub start: usize,
    pub text: &'a str,
}

/// Something that was opened and never closed, so that it hides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclosed {
    Fence,
    Comment,
}

pub(super) struct Visible<'a> {
    pub lines: Vec<Line<'a>>,
    /// Line number and kind.
    pub unclosed: Vec<(usize, Unclosed)>,
}

/// A list item with a box, by the rule of TASK-03:
/// `^\s*[-*+]\s+\[( |x|X)\]\s+(.*)$`, where the text may be missing.
pub(super) struct Checkbox<'a> {
    /// Byte offset of the mark in the line.
    pub mark: usize,
    pub done: bool,
    pub text: &'a str,
}

pub(super) struct Heading<'a> {
    pub level: usize,
    pub title: &'a str,
}

/// A list item of any kind, for the nesting of tasks.
pub(super) struct Item {
    /// Column of the marker; tabs go to the next multiple of four.
    pub indent: usize,
}

pub(super) fn checkbox(line: &str) -> Option<Checkbox<'_>> {
    let marker = line.trim_start();
    let after_marker = marker.strip_prefix(['-', '*', '+'])?;
    let bracket = after_marker.trim_start();
    if bracket.len() == after_marker.len() {
        return None;
    }
    let inside = bracket.strip_prefix('[')?;
    let mark = *inside.as_bytes().first()?;
    let done = match mark {
        b' ' => false,
        b'x' | b'X' => true,
        _ => return None,
    };
    let text = inside.get(1..)?.strip_prefix(']')?;
    if !text.is_empty() && !text.starts_with(char::is_whitespace) {
        return None;
    }
    Some(Checkbox {
        mark: line.len() - inside.len(),
        done,
        text: text.trim(),
    })
}

/// Whether a line that is no box was probably meant as one.
pub(super) fn looks_like_checkbox(line: &str) -> bool {
    const MEANT_AS_MARKS: [&str; 10] = ["", " ", "x", "X", "-", "~", "✓", "✔", "✅", "√"];
    let text = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    let is_quoted = line.trim_start().starts_with('>');
    let Some((_, after_marker)) = list_marker(text) else {
        return false;
    };
    let Some(inside) = after_marker.trim_start().strip_prefix('[') else {
        return false;
    };
    let Some((mark, after)) = inside.split_once(']') else {
        return false;
    };
    let is_link = after.starts_with(['(', '[']);
    !is_link
        && (is_quoted || checkbox(line).is_none())
        && MEANT_AS_MARKS.contains(&mark.trim())
        && mark.chars().count() <= 3
}

pub(super) fn heading(line: &str) -> Option<Heading<'_>> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    if !(1..=6).contains(&level) || !(title.is_empty() || title.starts_with(char::is_whitespace)) {
        return None;
    }
    let title = title.trim();
    let without_closing = title.trim_end_matches('#');
    let closed = without_closing.is_empty() || without_closing.ends_with(char::is_whitespace);
    Some(Heading {
        level,
        title: if closed {
            without_closing.trim_end()
        } else {
            title
        },
    })
}

pub(super) fn list_item(line: &str) -> Option<Item> {
    let text = line.trim_start();
    list_marker(text)
        .filter(|(_, rest)| rest.is_empty() || rest.starts_with(char::is_whitespace))
        .map(|_| Item {
            indent: indent(line),
        })
}

/// A list marker at the beginning of the text, and what follows it.
pub(super) fn list_marker(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(markdown::list_marker(text)?)
}

pub(super) fn indent(line: &str) -> usize {
    let mut column = 0;
    for character in line.chars() {
        match character {
            '\t' => column += 4 - column % 4,
            space if space.is_whitespace() => column += 1,
            _ => break,
        }
    }
    column
}

/// All lines that are not hidden in a balanced fence or a balanced comment.
///
/// Whichever opens first wins: a comment inside a fence is code, a fence
/// inside a comment is comment. What is never closed hides nothing.
pub(super) fn visible_lines(text: &str) -> Visible<'_> {
    let lines = split_lines(text);
    let mut fences = Fences::find(&lines);
    let comments = Comments::find(text);
    let mut visible = Visible {
        lines: Vec::with_capacity(lines.len()),
        unclosed: Vec::new(),
    };
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        match fences.opened_at(at, &lines) {
            Opened::Closes(end) => {
                at = end + 1;
                continue;
            }
            Opened::NeverCloses => visible.unclosed.push((line.number, Unclosed::Fence)),
            Opened::Nothing => {}
        }
        visible.lines.push(*line);
        let comment = comments.follow(&lines, at);
        if let Some(number) = comment.unclosed_at {
            visible.unclosed.push((number, Unclosed::Comment));
        }
        at = comment.last_line + 1;
    }
    visible
}

/// Lines end with LF, CR LF or, in very old files, CR.
fn split_lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let length = rest.bytes().position(|byte| byte == b'\n' || byte == b'\r');
        let length = length.unwrap_or(rest.len());
        let (line, ending) = rest.split_at_checked(length).unwrap_or((rest, ""));
        lines.push(Line {
            number: lines.len() + 1,
            start,
            text: line,
        });
        let ending_length = if ending.starts_with("\r\n") { 2 } else { 1 };
        start += length + ending_length;
    }
    lines
}

/// How far the comments reach that begin on one line.
struct CommentReach {
    last_line: usize,
    unclosed_at: Option<usize>,
}

struct Comments<'a> {
    text: &'a str,
    any: bool,
    /// Where the last `-->` stands.
    last_end: Option<usize>,
}

impl<'a> Comments<'a> {
    fn find(text: &'a str) -> Comments<'a> {
        let any = text.contains("<!--");
        Comments {
            text,
            any,
            last_end: if any { text.rfind("-->") } else { None },
        }
    }

    fn follow(&self, lines: &[Line<'_>], first: usize) -> CommentReach {
        let mut reach = CommentReach {
            last_line: first,
            unclosed_at: None,
        };
        let mut from = 0;
        while let Some(line) = lines.get(reach.last_line).filter(|_| self.any) {
            let Some(open) = comment_left_open(line.text, from) else {
                break;
            };
            let Some(end) = self.end_after(line.start + open) else {
                reach.unclosed_at = Some(line.number);
                break;
            };
            while lines
                .get(reach.last_line + 1)
                .is_some_and(|next| next.start <= end)
            {
                reach.last_line += 1;
            }
            let closing_start = lines.get(reach.last_line).map_or(0, |line| line.start);
            from = end + "-->".len() - closing_start;
        }
        reach
    }

    /// Where the comment ends that begins here.
    fn end_after(&self, open: usize) -> Option<usize> {
        // `<!-->` is a whole comment, so the end may overlap the beginning.
        let search_from = open + "<!".len();
        // Knowing the last end keeps many unclosed comments from being
        // searched to the end of the file, one after the other.
        self.last_end.filter(|last| search_from <= *last)?;
        let offset = self.text.get(search_from..)?.find("-->")?;
        Some(search_from + offset)
    }
}

/// The offset of a `<!--` that is not closed on the same line and does not
/// stand in inline code.
fn comment_left_open(line: &str, from: usize) -> Option<usize> {
    let mut at = from;
    if !line.get(at..)?.contains("<!--") {
        return None;
    }
    let spans = code_spans(line);
    let mut spans = spans.iter().peekable();
    loop {
        let open = at + line.get(at..)?.find("<!--")?;
        while spans.next_if(|(_, end)| *end <= open).is_some() {}
        if let Some((_, end)) = spans.next_if(|(start, _)| *start <= open) {
            at = *end;
            continue;
        }
        match line.get(open + 2..)?.find("-->") {
            Some(end) => at = open + 2 + end + 3,
            None => return Some(open),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct FenceLine {
    fence: Fence,
    indent: usize,
    /// Behind a list marker it opens a block and closes none.
    can_close: bool,
    /// The longest closing fence of the same marker anywhere below.
    longest_closer_below: usize,
}

enum Opened {
    Nothing,
    Closes(usize),
    NeverCloses,
}

struct Fences {
    by_line: Vec<Option<FenceLine>>,
    /// The last fence that was cut off by the end of its list item, and the
    /// line that cut it off: the same line cuts off all fences between that
    /// are like it, which keeps the search linear.
    cut_off: Option<(FenceLine, usize, usize)>,
}

impl Fences {
    fn find(lines: &[Line<'_>]) -> Fences {
        let mut by_line: Vec<Option<FenceLine>> =
            lines.iter().map(|line| fence(line.text)).collect();
        let (mut backticks, mut tildes) = (0, 0);
        for line in by_line.iter_mut().rev().flatten() {
            let longest = if line.fence.mark == '`' {
                &mut backticks
            } else {
                &mut tildes
            };
            line.longest_closer_below = *longest;
            if line.can_close {
                *longest = line.fence.length.max(*longest);
            }
        }
        Fences {
            by_line,
            cut_off: None,
        }
    }

    fn opened_at(&mut self, at: usize, lines: &[Line<'_>]) -> Opened {
        let Some(opening) = self.by_line.get(at).copied().flatten() else {
            return Opened::Nothing;
        };
        if opening.longest_closer_below < opening.fence.length
            || self.is_cut_off_like_before(opening, at)
        {
            return Opened::NeverCloses;
        }
        for (index, line) in lines.iter().enumerate().skip(at + 1) {
            let candidate = self.by_line.get(index).copied().flatten();
            if candidate.is_some_and(|closing| {
                closing.can_close && opening.fence.is_closed_by(closing.fence)
            }) {
                return Opened::Closes(index);
            }
            if let Some(indent) = ends_list_item(line.text, opening.indent) {
                self.cut_off = Some((opening, index, indent));
                return Opened::NeverCloses;
            }
        }
        Opened::NeverCloses
    }

    fn is_cut_off_like_before(&self, opening: FenceLine, at: usize) -> bool {
        self.cut_off.is_some_and(|(earlier, line, indent)| {
            at < line
                && opening.fence.mark == earlier.fence.mark
                && opening.fence.length >= earlier.fence.length
                && opening.indent > indent + 1
        })
    }
}

/// A box or heading further left than a fence ends the list item that the
/// fence stands in; Markdown ends the fence with it. Gives its indent.
fn ends_list_item(line: &str, fence_indent: usize) -> Option<usize> {
    if fence_indent < 2 {
        return None;
    }
    let indent = indent(line);
    let is_further_left = indent + 1 < fence_indent;
    (is_further_left && (checkbox(line).is_some() || heading(line).is_some())).then_some(indent)
}

fn fence(line: &str) -> Option<FenceLine> {
    let first = line.bytes().find(|byte| !matches!(byte, b' ' | b'\t'))?;
    if !matches!(first, b'`' | b'~' | b'-' | b'*' | b'+' | b'0'..=b'9') {
        return None;
    }
    let mut text = line.trim_start();
    let mut in_item = false;
    while let Some((_, rest)) = list_marker(text).filter(|(_, rest)| rest.starts_with([' ', '\t']))
    {
        text = rest.trim_start();
        in_item = true;
    }
    let fence = Fence::at(text)?;
    let marker_width = line.trim_start().len() - text.len();
    Some(FenceLine {
        fence,
        indent: indent(line) + marker_width,
        can_close: !in_item && fence.is_alone,
        longest_closer_below: 0,
    })
}
