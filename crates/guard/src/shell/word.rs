//! Words: quotes, expansions and substitutions.

use super::ShellError;
use super::ast::{Operation, Part, Word};
use super::parser::{Parser, Result, is_meta, is_name};

impl Word {
    /// The text of the word with its quotes removed, where nothing in it is
    /// computed.
    pub fn literal_text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            if let Part::Plain(piece) | Part::Quoted(piece) = part {
                text.push_str(piece);
            }
        }
        text
    }

    fn push(&mut self, text: &str, quoted: bool) {
        match (self.parts.last_mut(), quoted) {
            (Some(Part::Plain(last)), false) | (Some(Part::Quoted(last)), true) => {
                last.push_str(text);
                return;
            }
            // Most words have one part, and a long text has many words.
            (None, _) => self.parts.reserve_exact(1),
            (Some(_), _) => {}
        }
        let text = text.to_owned();
        self.parts.push(match quoted {
            true => Part::Quoted(text),
            false => Part::Plain(text),
        });
    }
}

/// Where a word stands, which decides what ends it and what is special in it.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Plain,
    Double,
    /// `${name-WORD}`; `double` when that stands in double quotes.
    Braces {
        double: bool,
        stop: Option<u8>,
    },
    HereDoc,
}

impl Inside {
    fn quoted(self) -> bool {
        match self {
            Inside::Plain => false,
            Inside::Double | Inside::HereDoc => true,
            Inside::Braces { double, .. } => double,
        }
    }

    /// A byte that neither ends the word nor begins anything in it. Not every
    /// such byte has to be named: this only makes long texts quick.
    fn is_ordinary(self, byte: u8) -> bool {
        match self {
            Inside::Plain | Inside::Braces { .. } => {
                byte.is_ascii_alphanumeric()
                    || byte >= 0x80
                    || matches!(
                        byte,
                        b'_' | b'-' | b'.' | b',' | b':' | b'=' | b'+' | b'@' | b'%'
                    )
                    || byte == b'/' && self == Inside::Plain
            }
            Inside::Double => !matches!(byte, b'"' | b'\\' | b'$' | b'`'),
            Inside::HereDoc => !matches!(byte, b'\\' | b'$' | b'`'),
        }
    }
}

impl<'t> Parser<'t, '_> {
    /// The word that begins here, or `None` if an operator or the end does.
    pub fn word(&mut self) -> Result<Option<Word>> {
        let start = self.at;
        let word = self.pieces(Inside::Plain)?;
        Ok((self.at > start).then_some(word))
    }

    /// The whole text as the body of an unquoted here-document.
    pub fn heredoc_word(&mut self) -> Result<Word> {
        self.pieces(Inside::HereDoc)
    }

    /// The substitutions and parameters within an arithmetic expression.
    pub fn arithmetic_word(&mut self, text: &str) -> Result<Word> {
        let depth = self.depth;
        self.nested(|this| Parser::new(text, this.shared, depth + 1).heredoc_word())
    }

    fn pieces(&mut self, inside: Inside) -> Result<Word> {
        let mut word = Word::default();
        loop {
            let Some(byte) = self.peek() else {
                return match inside {
                    Inside::Plain | Inside::HereDoc => Ok(word),
                    Inside::Double | Inside::Braces { .. } => self.syntax(),
                };
            };
            match (byte, inside) {
                (b'"', Inside::Double) => return Ok(word),
                (b'}', Inside::Braces { .. }) => return Ok(word),
                (
                    _,
                    Inside::Braces {
                        stop: Some(stop), ..
                    },
                ) if byte == stop => return Ok(word),
                (b'\\', _) => self.backslash(&mut word, inside),
                (b'$', _) => self.dollar(&mut word, inside)?,
                (b'`', _) => self.backticks(&mut word, inside)?,
                (b'"', Inside::Plain | Inside::Braces { .. }) => {
                    self.at += 1;
                    let quoted = self.nested(|this| this.pieces(Inside::Double))?;
                    self.at += 1;
                    word.push("", true);
                    append(&mut word, quoted);
                }
                (b'\'', Inside::Plain | Inside::Braces { double: false, .. }) => {
                    self.single_quotes(&mut word)?;
                }
                (b'<' | b'>', Inside::Plain) if self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    let script = self.substitution_script()?;
                    word.parts.push(Part::Process {
                        script,
                        output: byte == b'>',
                    });
                }
                (b'(', Inside::Plain) if self.extended_glob_here(&word) => {
                    self.extended_glob(&mut word)?;
                }
                (b'(', Inside::Plain) if opens_array(&word) => {
                    self.at += 1;
                    let words = self.array()?;
                    word.parts.push(Part::Array(words));
                }
                (b'\r', Inside::Plain) if matches!(self.peek_at(1), None | Some(b'\n')) => {
                    return Ok(word);
                }
                (_, Inside::Plain) if is_meta(byte) => return Ok(word),
                _ => {
                    let text = self.run_of_text(inside);
                    word.push(text, inside.quoted());
                }
            }
        }
    }

    /// The character here and all that follow it and mean nothing here.
    fn run_of_text(&mut self, inside: Inside) -> &'t str {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|byte| inside.is_ordinary(byte)) {
            self.at += 1;
        }
        self.text(start, self.at)
    }

    /// The character here, which may have several bytes.
    fn character(&mut self) -> &'t str {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|byte| byte & 0xC0 == 0x80) {
            self.at += 1;
        }
        self.text(start, self.at)
    }

    fn backslash(&mut self, word: &mut Word, inside: Inside) {
        let next = self.peek_at(1);
        let escapes = match inside {
            Inside::Plain | Inside::Braces { double: false, .. } => true,
            Inside::Double | Inside::Braces { double: true, .. } => {
                matches!(next, Some(b'$' | b'`' | b'"' | b'\\' | b'\n' | b'}'))
            }
            Inside::HereDoc => matches!(next, Some(b'$' | b'`' | b'\\' | b'\n')),
        };
        self.at += 1;
        if !escapes || next.is_none() {
            word.push("\\", true);
        } else if next == Some(b'\n') {
            self.at += 1;
        } else {
            let character = self.character();
            word.push(character, true);
        }
    }

    fn single_quotes(&mut self, word: &mut Word) -> Result<()> {
        self.at += 1;
        let start = self.at;
        while self.peek().is_some_and(|byte| byte != b'\'') {
            self.at += 1;
        }
        if self.peek().is_none() {
            return self.syntax();
        }
        let text = self.text(start, self.at);
        self.at += 1;
        word.push(text, true);
        Ok(())
    }

    fn dollar(&mut self, word: &mut Word, inside: Inside) -> Result<()> {
        let quoted = inside.quoted();
        match self.peek_at(1) {
            Some(b'\'')
                if matches!(inside, Inside::Plain | Inside::Braces { double: false, .. }) =>
            {
                self.at += 2;
                let text = self.ansi_c()?;
                word.push(&text, true);
            }
            Some(b'"')
                if matches!(inside, Inside::Plain | Inside::Braces { double: false, .. }) =>
            {
                self.at += 1;
            }
            Some(b'(') if self.looking_at("$((") && self.arithmetic_end(3).is_some() => {
                let inner = self.arithmetic_end(3).unwrap_or(self.at);
                let text = self.text(self.at + 3, inner);
                self.at = inner + 2;
                let inner = self.arithmetic_word(text)?;
                word.parts.push(Part::Arithmetic(inner));
            }
            Some(b'[') => {
                let rest = self.src.get(self.at..).unwrap_or_default();
                let Some(length) = rest.iter().position(|byte| *byte == b']') else {
                    return self.syntax();
                };
                let text = self.text(self.at + 2, self.at + length);
                self.at += length + 1;
                let inner = self.arithmetic_word(text)?;
                word.parts.push(Part::Arithmetic(inner));
            }
            Some(b'(') => {
                self.at += 2;
                let script = self.substitution_script()?;
                word.parts.push(Part::Substitution { script, quoted });
            }
            Some(b'{') => {
                self.at += 2;
                let part = self.nested(|this| this.braced_parameter(quoted))?;
                word.parts.push(part);
            }
            Some(byte) if is_name(byte) || is_special(byte) => {
                self.at += 1;
                let name = if byte.is_ascii_digit() || is_special(byte) {
                    self.at += 1;
                    char::from(byte).to_string()
                } else {
                    self.name()
                };
                word.parts.push(Part::Parameter {
                    name,
                    operation: Operation::Value,
                    quoted,
                });
            }
            _ => {
                self.at += 1;
                word.push("$", true);
            }
        }
        Ok(())
    }

    /// The script of `$( … )` or `<( … )`, behind its opening parenthesis.
    fn substitution_script(&mut self) -> Result<super::Script> {
        self.nested(|this| {
            let script = this.list()?;
            this.linebreak()?;
            this.expect(")")?;
            Ok(script)
        })
    }

    fn backticks(&mut self, word: &mut Word, inside: Inside) -> Result<()> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.peek() {
                None => return self.syntax(),
                Some(b'`') => break,
                Some(b'\\') => {
                    let next = self.peek_at(1);
                    let unescapes = matches!(next, Some(b'`' | b'$' | b'\\'))
                        || (next == Some(b'"') && inside.quoted());
                    if !unescapes {
                        text.push(b'\\');
                    }
                    self.at += 1;
                    text.extend(next);
                    self.at += usize::from(next.is_some());
                }
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let text = String::from_utf8_lossy(&text).into_owned();
        let depth = self.depth;
        let script = self.nested(|this| Parser::new(&text, this.shared, depth + 1).whole())?;
        word.parts.push(Part::Substitution {
            script,
            quoted: inside.quoted(),
        });
        Ok(())
    }

    /// The rest of `${…}`.
    fn braced_parameter(&mut self, quoted: bool) -> Result<Part> {
        let length = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}');
        let indirect = self.peek() == Some(b'!');
        if length || indirect {
            self.at += 1;
        }
        let name = match self.peek() {
            Some(byte) if is_name(byte) => self.name(),
            Some(byte) if is_special(byte) => {
                self.at += 1;
                char::from(byte).to_string()
            }
            _ => return self.syntax(),
        };
        let mut index = None;
        if self.peek() == Some(b'[') {
            index = Some(self.subscript()?);
        }
        let index = index.filter(|index| !matches!(index.literal_text().as_str(), "@" | "*"));
        let operation = if length {
            Operation::Length
        } else if indirect {
            Operation::Indirect
        } else {
            match (self.operation(quoted)?, index) {
                (Operation::Value, Some(index)) => Operation::Element(index),
                (operation, _) => operation,
            }
        };
        // What an indirect reference or a length carries behind the name.
        let operation = if self.peek() == Some(b'}') {
            operation
        } else {
            self.with_rest(operation, quoted)?
        };
        self.expect("}")?;
        Ok(Part::Parameter {
            name,
            operation,
            quoted,
        })
    }

    fn subscript(&mut self) -> Result<Word> {
        self.at += 1;
        let index = self.nested(|this| {
            this.pieces(Inside::Braces {
                double: true,
                stop: Some(b']'),
            })
        })?;
        self.expect("]")?;
        Ok(index)
    }

    /// An operation and the text behind it, in which commands may stand.
    fn with_rest(&mut self, operation: Operation, quoted: bool) -> Result<Operation> {
        let rest = self.rest(quoted, None)?;
        let plain = |part: &Part| matches!(part, Part::Plain(_) | Part::Quoted(_));
        Ok(if rest.parts.iter().all(plain) {
            operation
        } else {
            Operation::With(Box::new(operation), rest)
        })
    }

    fn rest(&mut self, quoted: bool, stop: Option<u8>) -> Result<Word> {
        self.pieces(Inside::Braces {
            double: quoted,
            stop,
        })
    }

    fn operation(&mut self, quoted: bool) -> Result<Operation> {
        let colon = self.eat(":");
        let Some(byte) = self.peek() else {
            return self.syntax();
        };
        if colon && !matches!(byte, b'-' | b'=' | b'+' | b'?') {
            return Ok(Operation::Slice(self.rest(quoted, None)?));
        }
        if byte == b'}' {
            return Ok(Operation::Value);
        }
        self.at += 1;
        Ok(match byte {
            b'-' => Operation::Default(self.rest(quoted, None)?),
            b'=' => Operation::Assign(self.rest(quoted, None)?),
            b'+' => Operation::Alternative(self.rest(quoted, None)?),
            b'?' => self.with_rest(Operation::Require, quoted)?,
            b'#' => Operation::CutPrefix {
                longest: self.eat("#"),
                pattern: self.rest(false, None)?,
            },
            b'%' => Operation::CutSuffix {
                longest: self.eat("%"),
                pattern: self.rest(false, None)?,
            },
            b'/' => {
                let all = self.eat("/");
                let _ = self.eat("#") || self.eat("%");
                let pattern = self.rest(false, Some(b'/'))?;
                let with = if self.eat("/") {
                    self.rest(quoted, None)?
                } else {
                    Word::default()
                };
                Operation::Replace { all, pattern, with }
            }
            b'^' => self.with_rest(Operation::Upper, quoted)?,
            b',' => self.with_rest(Operation::Lower, quoted)?,
            b'@' => self.with_rest(Operation::Transform, quoted)?,
            _ => return self.syntax(),
        })
    }

    fn array(&mut self) -> Result<Vec<Word>> {
        self.nested(|this| {
            let mut words = Vec::new();
            loop {
                this.linebreak()?;
                if this.eat(")") {
                    return Ok(words);
                }
                match this.word()? {
                    Some(word) => {
                        this.count()?;
                        words.push(word);
                    }
                    None => return this.syntax(),
                }
            }
        })
    }

    fn extended_glob_here(&self, word: &Word) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.src.get(at));
        matches!(word.parts.last(), Some(Part::Plain(_)))
            && matches!(before, Some(b'?' | b'*' | b'+' | b'@' | b'!'))
    }

    fn extended_glob(&mut self, word: &mut Word) -> Result<()> {
        let mut open = 0_usize;
        loop {
            let Some(byte) = self.peek() else {
                return self.syntax();
            };
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                b'\n' => return Err(ShellError::Syntax(self.at)),
                _ => {}
            }
            let character = self.character();
            word.push(character, false);
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// The text of `$'…'`, behind its opening quote.
    fn ansi_c(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return self.syntax(),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.ansi_escape(&mut text)?;
                }
                Some(_) => {
                    let character = self.character();
                    text.push_str(character);
                }
            }
        }
    }

    fn ansi_escape(&mut self, text: &mut String) -> Result<()> {
        let Some(byte) = self.peek() else {
            return self.syntax();
        };
        if matches!(byte, b'0'..=b'7') {
            text.push(self.number(8, 3));
            return Ok(());
        }
        self.at += 1;
        match byte {
            b'n' => text.push('\n'),
            b't' => text.push('\t'),
            b'r' => text.push('\r'),
            b'a' => text.push('\u{7}'),
            b'b' => text.push('\u{8}'),
            b'e' | b'E' => text.push('\u{1b}'),
            b'f' => text.push('\u{c}'),
            b'v' => text.push('\u{b}'),
            b'x' => text.push(self.number(16, 2)),
            b'u' => text.push(self.number(16, 4)),
            b'U' => text.push(self.number(16, 8)),
            b'c' => {
                let control = self.peek().unwrap_or(b'@') & 0x1f;
                self.at += 1;
                text.push(char::from(control));
            }
            b'\\' | b'\'' | b'"' | b'?' => text.push(char::from(byte)),
            _ => {
                text.push('\\');
                self.at -= 1;
                let character = self.character();
                text.push_str(character);
            }
        }
        Ok(())
    }

    fn number(&mut self, radix: u32, most: usize) -> char {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self
                .peek()
                .and_then(|byte| char::from(byte).to_digit(radix))
            else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

fn append(word: &mut Word, quoted: Word) {
    for part in quoted.parts {
        match part {
            Part::Quoted(text) => word.push(&text, true),
            other => word.parts.push(other),
        }
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')
}

/// Is what was read so far `name=` or `name+=`?
fn opens_array(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Plain(text)] => {
            let name = text.trim_end_matches('=').trim_end_matches('+');
            text.ends_with('=') && !name.is_empty() && name.bytes().all(is_name)
        }
        _ => false,
    }
}
