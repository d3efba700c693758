//! Lists, pipelines and simple commands.

use super::ast::{
    Assignment, Descriptor, Node, Part, Redirect, RedirectKind, Script, Sign, Simple, Word,
};
use super::{MAX_DEPTH, MAX_NODES, ShellError};

/// What a parser and the parsers of its backtick substitutions have in common.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub heredocs: Vec<Word>,
    pub nodes: usize,
}

/// A here-document whose operator was read and whose body was not.
pub(super) struct Pending {
    index: usize,
    delimiter: String,
    literal: bool,
    strip_tabs: bool,
}

pub(super) struct Parser<'t, 's> {
    pub source: &'t str,
    /// The same, byte by byte.
    pub src: &'t [u8],
    pub at: usize,
    pub depth: usize,
    pub shared: &'s mut Shared,
    pub pending: Vec<Pending>,
}

pub(super) type Result<T> = std::result::Result<T, ShellError>;

impl<'t, 's> Parser<'t, 's> {
    pub fn new(text: &'t str, shared: &'s mut Shared, depth: usize) -> Self {
        Parser {
            source: text,
            src: text.as_bytes(),
            at: 0,
            depth,
            shared,
            pending: Vec::new(),
        }
    }

    /// The whole text is one script.
    pub fn whole(&mut self) -> Result<Script> {
        let script = self.list()?;
        self.end()?;
        Ok(script)
    }

    /// Nothing may follow.
    fn end(&mut self) -> Result<()> {
        self.linebreak()?;
        match self.at < self.src.len() {
            true => self.syntax(),
            false => Ok(()),
        }
    }

    pub fn peek(&self) -> Option<u8> {
        self.src.get(self.at).copied()
    }

    pub fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.src.get(self.at + ahead).copied()
    }

    pub fn looking_at(&self, text: &str) -> bool {
        self.src
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.eat(text) {
            Ok(())
        } else {
            self.syntax()
        }
    }

    pub fn syntax<T>(&self) -> Result<T> {
        Err(ShellError::Syntax(self.at))
    }

    pub fn count(&mut self) -> Result<()> {
        self.shared.nodes += 1;
        if self.shared.nodes > MAX_NODES {
            return Err(ShellError::TooMany);
        }
        Ok(())
    }

    /// Runs `inner` one level deeper.
    pub fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(ShellError::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Blanks, continued lines and a comment.
    pub fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.looking_at("\\\r\n") => self.at += 3,
                Some(b'#') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Blanks and newlines; the bodies of here-documents follow the first.
    pub fn linebreak(&mut self) -> Result<()> {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    pub fn newline(&mut self) -> Result<()> {
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            let body = self.heredoc_body(&pending)?;
            if let Some(slot) = self.shared.heredocs.get_mut(pending.index) {
                *slot = body;
            }
        }
        Ok(())
    }

    fn heredoc_body(&mut self, pending: &Pending) -> Result<Word> {
        let mut text = String::new();
        while self.at < self.src.len() {
            let rest = self.src.get(self.at..).unwrap_or_default();
            let end = rest.iter().position(|byte| *byte == b'\n');
            let line = self.text(self.at, self.at + end.unwrap_or(rest.len()));
            self.at += end.map_or(rest.len(), |end| end + 1);
            let line = if pending.strip_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == pending.delimiter {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        if pending.literal {
            return Ok(Word {
                parts: vec![Part::Quoted(text)],
            });
        }
        let depth = self.depth;
        self.nested(|this| Parser::new(&text, this.shared, depth + 1).heredoc_word())
    }

    /// The commands up to the end of a line, with the here-documents that
    /// belong to them; none at the end of the text.
    pub fn piece(&mut self) -> Result<Vec<Node>> {
        let mut nodes = Vec::new();
        while self.item(&mut nodes)? {
            if self.pending.is_empty() && self.peek() == Some(b'\n') {
                return Ok(nodes);
            }
        }
        self.end()?;
        Ok(nodes)
    }

    /// Commands up to something that ends a list: a closing word, a closing
    /// parenthesis, `;;` or the end of the text.
    pub fn list(&mut self) -> Result<Script> {
        let mut nodes = Vec::new();
        while self.item(&mut nodes)? {}
        Ok(Script { nodes })
    }

    /// One more `a && b || c` of a list; `false` where the list ends.
    fn item(&mut self, nodes: &mut Vec<Node>) -> Result<bool> {
        self.linebreak()?;
        if self.at_list_end() {
            return Ok(false);
        }
        let node = self.and_or(nodes)?;
        self.blanks();
        match self.peek() {
            Some(b'&') if !self.looking_at("&&") => {
                self.at += 1;
                nodes.push(Node::Background(Box::new(node)));
                Ok(true)
            }
            Some(b';') if !self.looking_at(";;") && !self.looking_at(";&") => {
                self.at += 1;
                nodes.push(node);
                Ok(true)
            }
            Some(b'\n') => {
                nodes.push(node);
                Ok(true)
            }
            _ => {
                nodes.push(node);
                match self.at_list_end() {
                    true => Ok(false),
                    false => self.syntax(),
                }
            }
        }
    }

    fn at_list_end(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.looking_at(";;") || self.looking_at(";&"),
            Some(b't' | b'e' | b'f' | b'd' | b'}') => {
                ["then", "else", "elif", "fi", "do", "done", "esac", "}"]
                    .iter()
                    .any(|word| self.at_reserved(word))
            }
            Some(_) => false,
        }
    }

    /// The last of `a && b`, the ones before it go to `before`; all of
    /// `a && b || c`.
    fn and_or(&mut self, before: &mut Vec<Node>) -> Result<Node> {
        let mut all = Vec::new();
        let mut sign = Sign::And;
        loop {
            let node = self.pipeline()?;
            self.blanks();
            let next = if self.eat("&&") {
                Some(Sign::And)
            } else {
                self.eat("||").then_some(Sign::Or)
            };
            let is_plain = all.iter().all(|(sign, _)| *sign == Sign::And) && sign == Sign::And;
            let Some(next) = next else {
                if is_plain {
                    before.extend(all.into_iter().map(|(_, node)| node));
                    return Ok(node);
                }
                all.push((sign, node));
                return Ok(Node::AndOr(all));
            };
            all.push((sign, node));
            sign = next;
            self.linebreak()?;
        }
    }

    fn pipeline(&mut self) -> Result<Node> {
        let first = self.stage()?;
        if !self.eat_pipe() {
            return Ok(first);
        }
        let mut stages = vec![first];
        loop {
            self.linebreak()?;
            stages.push(self.stage()?);
            if !self.eat_pipe() {
                return Ok(Node::Pipeline(stages));
            }
        }
    }

    fn stage(&mut self) -> Result<Node> {
        self.blanks();
        while self.eat_reserved("!") || self.eat_reserved("time") {
            self.blanks();
            while self.eat_reserved("-p") || self.eat_reserved("--") {
                self.blanks();
            }
        }
        self.nested(Self::command)
    }

    fn eat_pipe(&mut self) -> bool {
        self.blanks();
        !self.looking_at("||") && (self.eat("|&") || self.eat("|"))
    }

    /// Does this word stand here, unquoted and on its own?
    pub fn at_reserved(&self, word: &str) -> bool {
        self.looking_at(word)
            && self
                .peek_at(word.len())
                .is_none_or(|byte| is_meta(byte) || byte == b'\r')
    }

    pub fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.at_reserved(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// One simple command, with its assignments and redirections.
    pub fn simple(&mut self) -> Result<Node> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            let start = self.at;
            let Some(word) = self.word()? else { break };
            self.count()?;
            if simple.words.is_empty() {
                if let Some(assignment) = as_assignment(&word) {
                    simple.assignments.push(assignment);
                    continue;
                }
                self.blanks();
                let is_name = matches!(word.parts.as_slice(), [Part::Plain(_)]);
                if is_name && self.peek() == Some(b'(') {
                    return self.function_after_name(start);
                }
            }
            simple.words.push(word);
        }
        let nothing =
            simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        if nothing {
            return self.syntax();
        }
        Ok(Node::Simple(simple))
    }

    pub fn redirects(&mut self) -> Result<Vec<Redirect>> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => all.push(redirect),
                None => return Ok(all),
            }
        }
    }

    fn redirect(&mut self) -> Result<Option<Redirect>> {
        let start = self.at;
        let descriptor = self.descriptor();
        let kind = match self.peek() {
            Some(b'&') if self.looking_at("&>") => {
                self.at += 2;
                self.eat(">");
                RedirectKind::Write(self.target()?)
            }
            Some(b'<') if !self.looking_at("<(") => self.input_redirect()?,
            Some(b'>') if !self.looking_at(">(") => {
                self.at += 1;
                if self.eat("&") {
                    RedirectKind::Duplicate(self.target()?)
                } else {
                    let _ = self.eat(">") || self.eat("|");
                    RedirectKind::Write(self.target()?)
                }
            }
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        Ok(Some(Redirect { descriptor, kind }))
    }

    fn input_redirect(&mut self) -> Result<RedirectKind> {
        if self.eat("<<<") {
            return Ok(RedirectKind::HereString(self.target()?));
        }
        if self.eat("<<") {
            let strip_tabs = self.eat("-");
            return self.heredoc_operator(strip_tabs);
        }
        self.at += 1;
        if self.eat("&") {
            return Ok(RedirectKind::Duplicate(self.target()?));
        }
        if self.eat(">") {
            return Ok(RedirectKind::Write(self.target()?));
        }
        Ok(RedirectKind::Read(self.target()?))
    }

    fn heredoc_operator(&mut self, strip_tabs: bool) -> Result<RedirectKind> {
        self.blanks();
        let start = self.at;
        let word = self.target()?;
        let raw = self.src.get(start..self.at).unwrap_or_default();
        let literal = raw.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'\\'));
        let delimiter = if literal {
            word.literal_text()
        } else {
            String::from_utf8_lossy(raw).into_owned()
        };
        let index = self.shared.heredocs.len();
        self.shared.heredocs.push(Word::default());
        self.pending.push(Pending {
            index,
            delimiter,
            literal,
            strip_tabs,
        });
        Ok(RedirectKind::HereDoc(index))
    }

    fn target(&mut self) -> Result<Word> {
        self.blanks();
        self.needed_word()
    }

    /// A word that must stand here.
    pub fn needed_word(&mut self) -> Result<Word> {
        self.count()?;
        match self.word()? {
            Some(word) => Ok(word),
            None => self.syntax(),
        }
    }

    /// `2` of `2>` or `{fd}` of `{fd}>`.
    fn descriptor(&mut self) -> Option<Descriptor> {
        let rest = self.src.get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length = if digits > 0 {
            digits
        } else if rest.first() == Some(&b'{') {
            let name = rest
                .iter()
                .skip(1)
                .take_while(|byte| is_name(**byte))
                .count();
            if name == 0 || rest.get(name + 1) != Some(&b'}') {
                return None;
            }
            name + 2
        } else {
            return None;
        };
        if !matches!(rest.get(length), Some(b'<' | b'>')) {
            return None;
        }
        self.at += length;
        if digits == 0 {
            let name = rest.get(1..length - 1)?;
            return Some(Descriptor::Variable(
                String::from_utf8_lossy(name).into_owned(),
            ));
        }
        let number = std::str::from_utf8(rest.get(..digits)?).ok()?;
        Some(Descriptor::Number(number.parse().ok()?))
    }
}

/// Does this byte end an unquoted word?
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>'
    )
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// `name=value`, `name+=value` or `name[index]=value`.
pub(crate) fn as_assignment(word: &Word) -> Option<Assignment> {
    let Some(Part::Plain(first)) = word.parts.first() else {
        return None;
    };
    let name_end = first.bytes().position(|byte| !is_name(byte))?;
    let (name, rest) = first.split_at(name_end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let element = rest.starts_with('[');
    let rest = match rest.strip_prefix('[') {
        Some(index) => index.split_once(']')?.1,
        None => rest,
    };
    let append = rest.starts_with("+=");
    let value = rest.strip_prefix("+=").or_else(|| rest.strip_prefix('='))?;
    let mut parts = Vec::with_capacity(word.parts.len());
    if !value.is_empty() {
        parts.push(Part::Plain(value.to_owned()));
    }
    parts.extend(word.parts.iter().skip(1).cloned());
    Some(Assignment {
        name: name.to_owned(),
        append,
        element,
        value: Word { parts },
    })
}
