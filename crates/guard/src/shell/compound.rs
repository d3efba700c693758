//! Compound commands: loops, branches, groups and functions.

use std::rc::Rc;

use super::ast::{Node, Script, Word};
use super::parser::{Parser, Result, is_meta, is_name};

impl<'t> Parser<'t, '_> {
    pub fn command(&mut self) -> Result<Node> {
        self.blanks();
        self.count()?;
        match self.peek() {
            Some(b'(') => return self.parenthesis(),
            Some(b'{') if self.peek_at(1).is_none_or(is_meta) => return self.group(),
            Some(b'[') if self.eat_reserved("[[") => return self.conditional(),
            Some(b'i' | b'f' | b's' | b'w' | b'u' | b'c') => {}
            _ => return self.simple(),
        }
        if self.eat_reserved("if") {
            self.if_clause()
        } else if self.eat_reserved("for") || self.eat_reserved("select") {
            self.for_clause()
        } else if self.eat_reserved("while") {
            self.while_clause(true)
        } else if self.eat_reserved("until") {
            self.while_clause(false)
        } else if self.eat_reserved("case") {
            self.case_clause()
        } else if self.eat_reserved("function") {
            self.blanks();
            self.function_after_name(self.at)
        } else if self.eat_reserved("coproc") {
            self.coproc()
        } else {
            self.simple()
        }
    }

    /// `( … )` or `(( … ))`.
    fn parenthesis(&mut self) -> Result<Node> {
        if self.looking_at("((")
            && let Some(inner) = self.arithmetic_end(2)
        {
            let text = self.text(self.at + 2, inner);
            self.at = inner + 2;
            let word = self.arithmetic_word(text)?;
            self.redirects()?;
            return Ok(Node::Test(vec![word]));
        }
        self.at += 1;
        let script = self.list()?;
        self.linebreak()?;
        self.expect(")")?;
        Ok(Node::Subshell(script, self.redirects()?))
    }

    fn group(&mut self) -> Result<Node> {
        self.at += 1;
        let script = self.list()?;
        self.linebreak()?;
        self.closing("}")?;
        Ok(Node::Group(script, self.redirects()?))
    }

    /// `[[ … ]]`: operators are skipped, words are kept.
    fn conditional(&mut self) -> Result<Node> {
        let mut words = Vec::new();
        loop {
            self.linebreak()?;
            if self.eat_reserved("]]") {
                self.redirects()?;
                return Ok(Node::Test(words));
            }
            match self.peek() {
                None => return self.syntax(),
                Some(byte) if is_meta(byte) => self.at += 1,
                Some(_) => words.push(self.needed_word()?),
            }
        }
    }

    /// A reserved word that must stand here.
    fn closing(&mut self, word: &str) -> Result<()> {
        match self.eat_reserved(word) {
            true => Ok(()),
            false => self.syntax(),
        }
    }

    /// Commands, which may not be missing, and the word that ends them.
    fn list_until(&mut self, word: &str) -> Result<Script> {
        let script = self.list()?;
        self.linebreak()?;
        if script.nodes.is_empty() {
            return self.syntax();
        }
        self.closing(word)?;
        Ok(script)
    }

    fn if_clause(&mut self) -> Result<Node> {
        let mut parts = vec![self.list_until("then")?];
        loop {
            parts.push(self.list()?);
            self.linebreak()?;
            if self.eat_reserved("elif") {
                parts.push(self.list_until("then")?);
                continue;
            }
            match self.eat_reserved("else") {
                true => parts.push(self.list_until("fi")?),
                false => self.closing("fi")?,
            }
            return Ok(Node::If(parts, self.redirects()?));
        }
    }

    /// `while` runs as long as its condition says `holds`, `until` the other
    /// way round.
    fn while_clause(&mut self, holds: bool) -> Result<Node> {
        let condition = self.list_until("do")?;
        let body = self.list_until("done")?;
        Ok(Node::While {
            endless: always(&condition, holds),
            condition,
            body,
            redirects: self.redirects()?,
        })
    }

    fn for_clause(&mut self) -> Result<Node> {
        self.blanks();
        if self.looking_at("((") {
            return self.counting_loop();
        }
        let name = self.name();
        if name.is_empty() {
            return self.syntax();
        }
        self.linebreak()?;
        let words = match self.eat_reserved("in") {
            true => Some(self.words()?),
            false => None,
        };
        let body = self.do_body()?;
        Ok(Node::For {
            name,
            words,
            body,
            redirects: self.redirects()?,
        })
    }

    fn counting_loop(&mut self) -> Result<Node> {
        let Some(inner) = self.arithmetic_end(2) else {
            return self.syntax();
        };
        let text = self.text(self.at + 2, inner);
        self.at = inner + 2;
        let endless = text
            .split(';')
            .nth(1)
            .is_some_and(|part| matches!(part.trim(), "" | "1" | "true"));
        let word = self.arithmetic_word(text)?;
        let body = self.do_body()?;
        let condition = Script {
            nodes: vec![Node::Test(vec![word])],
        };
        Ok(Node::While {
            condition,
            body,
            endless,
            redirects: self.redirects()?,
        })
    }

    fn do_body(&mut self) -> Result<Script> {
        self.blanks();
        self.eat(";");
        self.linebreak()?;
        if self.eat_reserved("{") {
            return self.list_until("}");
        }
        self.closing("do")?;
        self.list_until("done")
    }

    fn words(&mut self) -> Result<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.word()? {
                Some(word) => {
                    self.count()?;
                    words.push(word);
                }
                None => return Ok(words),
            }
        }
    }

    fn case_clause(&mut self) -> Result<Node> {
        self.blanks();
        let subject = self.needed_word()?;
        self.linebreak()?;
        self.closing("in")?;
        let mut arms = Vec::new();
        loop {
            self.linebreak()?;
            if self.eat_reserved("esac") {
                break;
            }
            self.eat("(");
            loop {
                self.blanks();
                self.needed_word()?;
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            arms.push(self.list()?);
            self.linebreak()?;
            let ended = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if !ended && !self.at_reserved("esac") {
                return self.syntax();
            }
        }
        Ok(Node::Case {
            subject,
            arms,
            redirects: self.redirects()?,
        })
    }

    /// `name () body` or, after the word `function`, `name body`.
    pub fn function_after_name(&mut self, start: usize) -> Result<Node> {
        self.at = start;
        while self
            .peek()
            .is_some_and(|byte| !is_meta(byte) && !matches!(byte, b'"' | b'\'' | b'$' | b'`'))
        {
            self.at += 1;
        }
        let name = self.text(start, self.at);
        self.blanks();
        if self.eat("(") {
            self.blanks();
            self.expect(")")?;
        }
        self.linebreak()?;
        if name.is_empty() {
            return self.syntax();
        }
        let body = self.nested(Self::command)?;
        Ok(Node::Function {
            name: name.to_owned(),
            body: Rc::new(body),
        })
    }

    fn coproc(&mut self) -> Result<Node> {
        self.blanks();
        let start = self.at;
        let name = self.name();
        self.blanks();
        let compound = !name.is_empty()
            && (matches!(self.peek(), Some(b'(' | b'{'))
                || ["while", "for", "if", "until", "case"]
                    .iter()
                    .any(|word| self.at_reserved(word)));
        if !compound {
            self.at = start;
        }
        let name = if compound { name } else { "COPROC".to_owned() };
        Ok(Node::Coproc(name, Box::new(self.nested(Self::command)?)))
    }

    pub fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        self.text(start, self.at).to_owned()
    }

    pub fn text(&self, start: usize, end: usize) -> &'t str {
        self.source.get(start..end).unwrap_or_default()
    }

    /// Where the `))` stands that closes the arithmetic whose text begins
    /// `skip` bytes ahead; `None` if it is no arithmetic.
    pub fn arithmetic_end(&self, skip: usize) -> Option<usize> {
        let mut open = 0_usize;
        let mut at = self.at + skip;
        loop {
            match self.src.get(at)? {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => return (self.src.get(at + 1) == Some(&b')')).then_some(at),
                b'\\' => at += 1,
                b'\'' | b'"' => {
                    let quote = *self.src.get(at)?;
                    at += 1;
                    while *self.src.get(at)? != quote {
                        at += 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// Does the condition say the same each time?
fn always(condition: &Script, holds: bool) -> bool {
    let texts = |words: &[Word]| -> Vec<String> { words.iter().map(Word::literal_text).collect() };
    let words = match condition.nodes.as_slice() {
        [Node::Simple(simple)] if simple.assignments.is_empty() => texts(&simple.words),
        [Node::Test(words)] => texts(words),
        _ => return false,
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["true" | ":" | "1"] | ["[", "1" | "true", "]"] | ["test", "1" | "true"] => holds,
        ["false" | "0"] => !holds,
        _ => false,
    }
}
