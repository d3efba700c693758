//! Adds, takes away and replaces, and touches nothing else.

use std::ops::Range;

use serde_json::Value;

use super::scan::{Item, Items, Node, parse};
use super::{Step, SyntaxError};

/// A text with something added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub text: String,
    /// White space that was put behind what was added, because the closing
    /// bracket had to move to a line of its own; it has to go again with it.
    pub tail: String,
}

/// Adds a member to the object at `path`; `None` where there is no object, or
/// where it has the name already.
pub fn insert_member(
    text: &str,
    path: &[Step],
    key: &str,
    value: &Value,
) -> Result<Option<Added>, SyntaxError> {
    let root = parse(text)?;
    let object = root.at(path).filter(|node| {
        matches!(node.kind, super::Kind::Object(_)) && node.position(&key.into()).is_none()
    });
    Ok(object.and_then(|node| add(text, &root, node, Some(key), value)))
}

/// Adds an element to the end of the array at `path`; `None` where there is
/// no array.
pub fn push_element(
    text: &str,
    path: &[Step],
    value: &Value,
) -> Result<Option<Added>, SyntaxError> {
    let root = parse(text)?;
    let array = root
        .at(path)
        .filter(|node| matches!(node.kind, super::Kind::Array(_)));
    Ok(array.and_then(|node| add(text, &root, node, None, value)))
}

/// Takes away what is at `path`; `None` where nothing is there.
pub fn remove(text: &str, path: &[Step]) -> Result<Option<String>, SyntaxError> {
    remove_added(text, path, "")
}

/// Takes away what is at `path` and, if nothing is left beside it, the tail
/// that it was added with.
pub fn remove_added(text: &str, path: &[Step], tail: &str) -> Result<Option<String>, SyntaxError> {
    let root = parse(text)?;
    let Some((last, above)) = path.split_last() else {
        return Ok(None);
    };
    let found = root
        .at(above)
        .and_then(|node| Some((node, node.items()?, node.position(last)?)));
    Ok(found.and_then(|(node, items, position)| cut(text, node, items, position, tail)))
}

/// Puts another value in place of the one at `path`, written as `raw`; gives
/// the new text and what stood there.
pub fn replace(
    text: &str,
    path: &[Step],
    raw: &str,
) -> Result<Option<(String, String)>, SyntaxError> {
    let root = parse(text)?;
    let replaced = root.at(path).and_then(|node| {
        let span = node.span.clone();
        let before = text.get(span.clone())?.to_owned();
        let mut text = text.to_owned();
        text.replace_range(span, raw);
        Some((text, before))
    });
    Ok(replaced)
}

/// How a text is laid out.
struct Style<'a> {
    newline: &'a str,
    unit: String,
}

impl Style<'_> {
    fn of<'a>(text: &'a str, root: &Node) -> Style<'a> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = unit(text, root).unwrap_or("  ").to_owned();
        Style { newline, unit }
    }

    /// A value over several lines, of which the first is not indented.
    fn lay_out(&self, value: &Value, indent: &str) -> String {
        let deeper = format!("{indent}{}", self.unit);
        let (open, close, items): (_, _, Vec<String>) = match value {
            Value::Object(members) if !members.is_empty() => {
                let member = |(key, value): (&String, &Value)| {
                    format!("{}: {}", quoted(key), self.lay_out(value, &deeper))
                };
                ('{', '}', members.iter().map(member).collect())
            }
            Value::Array(elements) if !elements.is_empty() => {
                let element = |value| self.lay_out(value, &deeper);
                ('[', ']', elements.iter().map(element).collect())
            }
            scalar => return scalar.to_string(),
        };
        let newline = self.newline;
        let items = items.join(&format!(",{newline}{deeper}"));
        format!("{open}{newline}{deeper}{items}{newline}{indent}{close}")
    }
}

fn quoted(key: &str) -> String {
    Value::from(key).to_string()
}

/// By how much the text indents: what its first indented line is deeper than
/// the bracket around it.
fn unit<'a>(text: &'a str, node: &Node) -> Option<&'a str> {
    let outer = indent_of(text, node.span.start);
    let own = node.list().iter().find_map(|item| {
        let inner = line_start_indent(text, item.span.start)?;
        inner.strip_prefix(outer).filter(|unit| !unit.is_empty())
    });
    let below = || node.list().iter().find_map(|item| unit(text, &item.value));
    own.or_else(below)
}

/// The white space at the beginning of the line that `at` is in.
fn indent_of(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..).unwrap_or_default();
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..length).unwrap_or_default()
}

/// The same, where only white space stands before `at`.
fn line_start_indent(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let (_, line) = before.rsplit_once('\n')?;
    line.trim_matches([' ', '\t']).is_empty().then_some(line)
}

fn add(text: &str, root: &Node, node: &Node, key: Option<&str>, value: &Value) -> Option<Added> {
    let items = node.items()?;
    let style = Style::of(text, root);
    let close = node.span.end.checked_sub(1)?;
    let behind = text.get(items.end..close)?;
    let outer = indent_of(text, node.span.start);
    let first = items.list.first();
    // Whoever writes a list into one line wants it there.
    let in_one_line = first.is_some() && !text.get(node.span.clone())?.contains('\n');
    let indent = first
        .and_then(|item| line_start_indent(text, item.span.start))
        .map_or_else(|| format!("{outer}{}", style.unit), str::to_owned);
    let name = key.map(|key| format!("{}: ", quoted(key)));
    let name = name.unwrap_or_default();
    let body = if in_one_line {
        format!(" {name}{value}")
    } else {
        let value = style.lay_out(value, &indent);
        format!("{}{indent}{name}{value}", style.newline)
    };
    let tail = if in_one_line || behind.contains('\n') {
        String::new()
    } else {
        format!("{}{outer}", style.newline)
    };
    let last = items.list.last();
    let comma_behind = last.is_some_and(|item| item.comma.is_some());
    let mut added = text.to_owned();
    let comma = if comma_behind { "," } else { "" };
    added.insert_str(close, &tail);
    added.insert_str(items.end, &format!("{body}{comma}"));
    if let Some(last) = last.filter(|item| item.comma.is_none()) {
        added.insert(last.span.end, ',');
    }
    Some(Added { text: added, tail })
}

/// Cuts an item out, with the white space before it and one comma.
fn cut(text: &str, node: &Node, items: &Items, position: usize, tail: &str) -> Option<String> {
    let item = items.list.get(position)?;
    let is_last = position + 1 == items.list.len();
    let own: Range<usize> = item.before..item.span.end;
    let mut cuts = vec![own];
    match (item.comma, previous_comma(items, position)) {
        (Some(comma), _) => cuts.push(comma..comma + 1),
        (None, Some(comma)) if is_last => cuts.push(comma..comma + 1),
        _ => {}
    }
    // The white space in front of the closing bracket that came with it.
    let close = node.span.end.checked_sub(1)?;
    let tail_start = close.checked_sub(tail.len())?;
    let is_behind = tail_start >= items.end && text.get(tail_start..close) == Some(tail);
    if is_last && is_behind && !tail.is_empty() {
        cuts.push(tail_start..close);
    }
    let whole = without(text, &cuts);
    // A line break before it that ends a comment has to stay, or the comment
    // takes in what follows.
    if let Some(first) = cuts.first_mut() {
        first.start = item.span.start;
    }
    let safe = without(text, &cuts);
    let value = |text: &str| parse(text).map(|root| root.to_value()).ok();
    Some(match value(&whole) == value(&safe) {
        true => whole,
        false => safe,
    })
}

fn without(text: &str, cuts: &[Range<usize>]) -> String {
    let mut cuts: Vec<Range<usize>> = cuts.to_vec();
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
    let mut text = text.to_owned();
    for cut in cuts {
        text.replace_range(cut, "");
    }
    text
}

fn previous_comma(items: &Items, position: usize) -> Option<usize> {
    let previous: &Item = items.list.get(position.checked_sub(1)?)?;
    previous.comma
}
