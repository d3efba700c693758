//! Reads the text into a tree that knows where everything stands.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Step;
use crate::lang::{Lang, Say};
use crate::tr;

/// Deeper than any settings; a bound for the recursion.
const MAX_DEPTH: usize = 100;

/// A value and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Object(Items),
    Array(Items),
    Scalar(Value),
}

/// What a container holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    pub list: Vec<Item>,
    /// Where the last thing before the closing bracket ends, be it a comment.
    pub end: usize,
}

/// A member or an element.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Of a member.
    pub key: Option<String>,
    /// With the key.
    pub span: Range<usize>,
    pub value: Node,
    /// Where the comma behind it stands.
    pub comma: Option<usize>,
    /// Where what stands before it ends: a bracket, a comma or a comment.
    pub before: usize,
}

/// Where the text is no JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Problem {
    #[say("a value is expected")]
    Value,
    #[say("a name in double quotes is expected")]
    Key,
    #[say("a colon is expected")]
    Colon,
    #[say("a comma or the closing bracket is expected")]
    CommaOrEnd,
    #[say("this comment has no end")]
    OpenComment,
    #[say("this text has no closing quote")]
    OpenString,
    #[say("this text is no JSON string")]
    Text,
    #[say("this is no number")]
    Number,
    #[say("nothing may follow here")]
    More,
    #[say("this is nested too deeply")]
    Deep,
    #[say("this name stands here for the second time")]
    Twice,
}

impl Say for SyntaxError {
    fn say(&self, lang: Lang) -> String {
        let (line, column) = (self.line, self.column);
        let what = self.problem.say(lang);
        tr!(lang, "line {line}, column {column}: {what}")
    }
}

impl Node {
    /// What is in a container under a name, or at a place.
    pub fn get(&self, step: &Step) -> Option<&Node> {
        self.item(step).map(|item| &item.value)
    }

    pub fn at(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(self, |node, step| node.get(step))
    }

    pub fn items(&self) -> Option<&Items> {
        match &self.kind {
            Kind::Object(items) | Kind::Array(items) => Some(items),
            Kind::Scalar(_) => None,
        }
    }

    fn item(&self, step: &Step) -> Option<&Item> {
        self.list().get(self.position(step)?)
    }

    pub fn list(&self) -> &[Item] {
        self.items().map_or(&[], |items| &items.list)
    }

    /// Which of the items a step means.
    pub fn position(&self, step: &Step) -> Option<usize> {
        match (&self.kind, step) {
            (Kind::Object(items), Step::Key(key)) => items
                .list
                .iter()
                .position(|item| item.key.as_deref() == Some(key)),
            (Kind::Array(items), Step::Index(index)) => {
                (*index < items.list.len()).then_some(*index)
            }
            _ => None,
        }
    }

    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Object(items) => {
                let member = |item: &Item| {
                    let key = item.key.clone().unwrap_or_default();
                    (key, item.value.to_value())
                };
                Value::Object(items.list.iter().map(member).collect::<Map<_, _>>())
            }
            Kind::Array(items) => items.list.iter().map(|i| i.value.to_value()).collect(),
            Kind::Scalar(value) => value.clone(),
        }
    }
}

/// Reads a whole text: one value, with comments and trailing commas, behind a
/// byte order mark if there is one. A name that stands twice in an object is
/// refused: clients differ in which they take.
pub fn parse(text: &str) -> Result<Node, SyntaxError> {
    let mut scan = Scan { text, at: 0 };
    if text.starts_with('\u{feff}') {
        scan.at = '\u{feff}'.len_utf8();
    }
    let parsed = scan.document();
    parsed.map_err(|problem| problem.located(text))
}

/// A problem and the byte that it is at.
struct Trouble {
    at: usize,
    problem: Problem,
}

impl Trouble {
    fn located(self, text: &str) -> SyntaxError {
        let before = text.get(..self.at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        let in_line = in_line.trim_start_matches('\u{feff}');
        SyntaxError {
            line: before.matches('\n').count() + 1,
            column: in_line.chars().count() + 1,
            problem: self.problem,
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn document(&mut self) -> Result<Node, Trouble> {
        self.trivia()?;
        let node = self.value(0)?;
        self.trivia()?;
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.trouble(Problem::More)),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn trouble(&self, problem: Problem) -> Trouble {
        let at = self.at;
        Trouble { at, problem }
    }

    /// Passes white space and comments; gives where the last comment ended,
    /// or where it began to look.
    fn trivia(&mut self) -> Result<usize, Trouble> {
        let mut end = self.at;
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += space;
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                let line = rest.split('\n').next().unwrap_or(rest);
                line.strip_suffix('\r').unwrap_or(line).len()
            } else if rest.starts_with("/*") {
                let close = rest.get(2..).and_then(|inner| inner.find("*/"));
                close.ok_or_else(|| self.trouble(Problem::OpenComment))? + 4
            } else {
                return Ok(end);
            };
            self.at += length;
            end = self.at;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Trouble> {
        if depth > MAX_DEPTH {
            return Err(self.trouble(Problem::Deep));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.items(depth, b'}')?),
            Some(b'[') => Kind::Array(self.items(depth, b']')?),
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => Kind::Scalar(self.word()?),
            None => return Err(self.trouble(Problem::Value)),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn items(&mut self, depth: usize, close: u8) -> Result<Items, Trouble> {
        self.at += 1;
        let mut list: Vec<Item> = Vec::new();
        loop {
            let before = self.trivia()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(Items { list, end: before });
            }
            if list.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.trouble(Problem::CommaOrEnd));
            }
            let mut item = self.item(depth, close, before)?;
            if item.key.is_some() && list.iter().any(|other| other.key == item.key) {
                self.at = item.span.start;
                return Err(self.trouble(Problem::Twice));
            }
            let behind = self.at;
            self.trivia()?;
            if self.peek() == Some(b',') {
                item.comma = Some(self.at);
                self.at += 1;
            } else {
                // What follows belongs to the next round.
                self.at = behind;
            }
            list.push(item);
        }
    }

    fn item(&mut self, depth: usize, close: u8, before: usize) -> Result<Item, Trouble> {
        let start = self.at;
        let key = if close == b'}' {
            if self.peek() != Some(b'"') {
                return Err(self.trouble(Problem::Key));
            }
            let key = self.string()?;
            self.trivia()?;
            if self.peek() != Some(b':') {
                return Err(self.trouble(Problem::Colon));
            }
            self.at += 1;
            self.trivia()?;
            Some(key)
        } else {
            None
        };
        let value = self.value(depth + 1)?;
        Ok(Item {
            key,
            span: start..self.at,
            value,
            comma: None,
            before,
        })
    }

    fn string(&mut self) -> Result<String, Trouble> {
        let rest = self.rest();
        let mut escaped = false;
        let close = rest.bytes().enumerate().skip(1).find(|(_, byte)| {
            let is_close = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            is_close || *byte == b'\n'
        });
        let Some((close, b'"')) = close else {
            return Err(self.trouble(Problem::OpenString));
        };
        let raw = rest.get(..=close).unwrap_or_default();
        let text = serde_json::from_str(raw).map_err(|_| self.trouble(Problem::Text))?;
        self.at += close + 1;
        Ok(text)
    }

    fn word(&mut self) -> Result<Value, Trouble> {
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let problem = match is_number {
            true => Problem::Number,
            false => Problem::Value,
        };
        let value = serde_json::from_str(word).map_err(|_| self.trouble(problem))?;
        self.at += length;
        Ok(value)
    }
}
