//! PowerShell text as plain data: pipelines of commands, each with its words,
//! before anything is expanded.

/// How deep texts may stand in texts.
const MAX_DEPTH: usize = 40;

/// What runs one after the other.
#[derive(Debug, Default)]
pub struct Script {
    pub pipelines: Vec<Pipeline>,
}

#[derive(Debug, Default)]
pub struct Pipeline {
    /// `$name = …`
    pub assigns: Option<String>,
    pub stages: Vec<Stage>,
}

#[derive(Debug, Default)]
pub struct Stage {
    /// `& 'program'` or `. file`: the first word is what runs, however it is
    /// written.
    pub called: bool,
    pub words: Vec<Word>,
    /// The files that it writes.
    pub writes: Vec<Word>,
}

#[derive(Debug, Default)]
pub struct Word {
    pub parts: Vec<Part>,
}

#[derive(Debug)]
pub enum Part {
    /// Text, and whether quotes stand around it.
    Text(String, bool),
    /// `$name`, `${name}`, `$env:name`
    Variable(String),
    /// `( … )`, `$( … )`, `@( … )`
    Inner(Script),
    /// `{ … }`
    Block(Script),
    /// `@{ … }`
    Table(Script),
    /// `.name`, `.name( … )`, `::name( … )` of what stands before it.
    Member(String, Option<Script>),
}

impl Word {
    /// The text, if it is one and nothing else, written without quotes.
    pub fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text, false)] => Some(text),
            _ => None,
        }
    }
}

/// The text can't be read: too deep, or a quote that nothing closes.
#[derive(Debug)]
pub struct Unreadable;

type Result<T> = std::result::Result<T, Unreadable>;

pub fn script(text: &str) -> Result<Script> {
    let mut reader = Reader {
        text: text.chars().collect(),
        at: 0,
        depth: 0,
    };
    let script = reader.script(None)?;
    Ok(script)
}

/// A here-string in which variables have their values.
fn expandable(text: &str, depth: usize) -> Result<Word> {
    let mut reader = Reader {
        text: text.chars().collect(),
        at: 0,
        depth,
    };
    let mut word = Word::default();
    reader.double(&mut word, None)?;
    Ok(word)
}

struct Reader {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, want)| self.peek_at(ahead) == Some(want))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Blanks, comments and continued lines.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('`') if matches!(self.peek_at(1), Some('\n' | '\r')) => self.at += 2,
                Some('<') if self.looking_at("<#") => {
                    while self.at < self.text.len() && !self.eat("#>") {
                        self.at += 1;
                    }
                }
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Commands up to `end`, or to the end of the text.
    fn script(&mut self, end: Option<char>) -> Result<Script> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unreadable);
        }
        let mut script = Script::default();
        loop {
            self.blanks();
            match self.peek() {
                None if end.is_some() => return Err(Unreadable),
                None => break,
                Some(c) if Some(c) == end => {
                    self.at += 1;
                    break;
                }
                Some('\n' | ';' | ',' | ')' | '}') => self.at += 1,
                Some('&' | '|') if self.eat("&&") || self.eat("||") => {}
                Some(_) => {
                    let before = self.at;
                    let pipeline = self.pipeline()?;
                    script.pipelines.push(pipeline);
                    // Whatever it is, nobody waits for it.
                    self.at = self.at.max(before + 1);
                }
            }
        }
        self.depth -= 1;
        Ok(script)
    }

    fn pipeline(&mut self) -> Result<Pipeline> {
        let mut pipeline = Pipeline::default();
        loop {
            let stage = self.stage(&mut pipeline)?;
            pipeline.stages.push(stage);
            self.blanks();
            if self.looking_at("||") || !self.eat("|") {
                return Ok(pipeline);
            }
            while self.peek() == Some('\n') {
                self.at += 1;
                self.blanks();
            }
        }
    }

    fn stage(&mut self, pipeline: &mut Pipeline) -> Result<Stage> {
        let mut stage = Stage::default();
        self.blanks();
        let calls = self.peek() == Some('&') && !self.looking_at("&&");
        if calls || self.peek() == Some('.') && self.peek_at(1) == Some(' ') {
            self.at += 1;
            stage.called = true;
        }
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')' | '}' | '&') => return Ok(stage),
                Some(',') => self.at += 1,
                Some('>') => self.redirect(&mut stage)?,
                Some('1'..='6' | '*') if self.peek_at(1) == Some('>') => {
                    self.at += 1;
                    self.redirect(&mut stage)?;
                }
                Some('=') if pipeline.stages.is_empty() && is_target(&stage) => {
                    self.at += 1;
                    pipeline.assigns = assigned(stage.words.pop());
                    stage.words.clear();
                }
                Some('+' | '-') if self.peek_at(1) == Some('=') && is_target(&stage) => {
                    self.at += 2;
                    pipeline.assigns = assigned(stage.words.pop());
                    stage.words.clear();
                }
                Some(_) => {
                    let before = self.at;
                    let word = self.word()?;
                    stage.words.push(word);
                    self.at = self.at.max(before + 1);
                }
            }
        }
    }

    fn redirect(&mut self, stage: &mut Stage) -> Result<()> {
        while self.eat(">") {}
        if self.eat("&") {
            self.at += 1;
            return Ok(());
        }
        self.blanks();
        let word = self.word()?;
        stage.writes.push(word);
        Ok(())
    }

    fn word(&mut self) -> Result<Word> {
        let mut word = Word::default();
        // `[Type]::Method(…)`: the brackets belong to the word.
        if self.peek() == Some('[') {
            let mut name = String::new();
            while let Some(c) = self.peek() {
                name.push(c);
                self.at += 1;
                if c == ']' || name.len() > 200 {
                    break;
                }
            }
            word.parts.push(Part::Text(name, false));
        }
        while let Some(character) = self.peek() {
            match character {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | ',' | ')' | '}' | '>' => break,
                // `'a'+'b'`: a sign between two values.
                '+' if word.gives_value() => break,
                '+' if word.parts.is_empty()
                    && matches!(self.peek_at(1), Some('\'' | '"' | '$' | '(' | '[')) =>
                {
                    self.at += 1;
                    word.push('+', false);
                    break;
                }
                '&' if word.parts.is_empty() || self.peek_at(1) == Some('&') => break,
                '\'' => self.single(&mut word)?,
                '"' => {
                    self.at += 1;
                    self.double(&mut word, Some('"'))?;
                }
                '@' if self.looking_at("@'") || self.looking_at("@\"") => self.here(&mut word)?,
                '@' if self.looking_at("@(") => self.at += 1,
                '@' if self.looking_at("@{") => {
                    self.at += 2;
                    let table = self.script(Some('}'))?;
                    word.parts.push(Part::Table(table));
                }
                '$' => self.variable(&mut word)?,
                '(' => {
                    self.at += 1;
                    let inner = self.script(Some(')'))?;
                    word.parts.push(Part::Inner(inner));
                }
                '{' => {
                    self.at += 1;
                    let block = self.script(Some('}'))?;
                    word.parts.push(Part::Block(block));
                }
                '.' | ':' if self.is_member(&word) => self.member(&mut word)?,
                '`' => {
                    self.at += 1;
                    word.push(self.peek().unwrap_or(' '), true);
                    self.at += 1;
                }
                other => {
                    word.push(other, false);
                    self.at += 1;
                }
            }
        }
        Ok(word)
    }

    /// Does a member's name follow what can have members?
    fn is_member(&self, word: &Word) -> bool {
        let can = match word.parts.last() {
            Some(Part::Text(text, quoted)) => *quoted || text.ends_with(']'),
            Some(_) => true,
            None => false,
        };
        let ahead = if self.looking_at("::") { 2 } else { 1 };
        can && self.peek_at(ahead).is_some_and(char::is_alphabetic)
    }

    fn member(&mut self, word: &mut Word) -> Result<()> {
        self.at += if self.looking_at("::") { 2 } else { 1 };
        let name = self.name();
        if self.peek() != Some('(') {
            word.parts.push(Part::Member(name, None));
            return Ok(());
        }
        self.at += 1;
        let args = self.script(Some(')'))?;
        word.parts.push(Part::Member(name, Some(args)));
        Ok(())
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        name
    }

    fn variable(&mut self, word: &mut Word) -> Result<()> {
        self.at += 1;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.script(Some(')'))?;
                word.parts.push(Part::Inner(inner));
            }
            Some('{') => {
                self.at += 1;
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| *c != '}') {
                    name.push(c);
                    self.at += 1;
                }
                self.at += 1;
                word.parts.push(Part::Variable(name));
            }
            Some('_' | '?' | '$' | '^') => {
                let first = self.peek().unwrap_or('_');
                self.at += 1;
                let mut name = first.to_string();
                if first == '_' {
                    name.push_str(&self.name());
                }
                word.parts.push(Part::Variable(name));
            }
            Some(c) if c.is_alphanumeric() => {
                let mut name = self.name();
                // `$env:HOME`, `$script:x`.
                let scoped = self.peek() == Some(':')
                    && self
                        .peek_at(1)
                        .is_some_and(|c| c.is_alphanumeric() || c == '_');
                if scoped {
                    self.at += 1;
                    name = format!("{name}:{}", self.name());
                }
                word.parts.push(Part::Variable(name));
            }
            _ => word.push('$', false),
        }
        Ok(())
    }

    fn single(&mut self, word: &mut Word) -> Result<()> {
        self.at += 1;
        word.parts.push(Part::Text(String::new(), true));
        loop {
            let Some(c) = self.peek() else {
                return Err(Unreadable);
            };
            self.at += 1;
            if c == '\'' {
                if self.peek() != Some('\'') {
                    return Ok(());
                }
                self.at += 1;
            }
            word.push(c, true);
        }
    }

    /// Text in which variables have their values, up to `end`.
    fn double(&mut self, word: &mut Word, end: Option<char>) -> Result<()> {
        word.parts.push(Part::Text(String::new(), true));
        loop {
            let Some(c) = self.peek() else {
                return match end {
                    Some(_) => Err(Unreadable),
                    None => Ok(()),
                };
            };
            match c {
                _ if Some(c) == end => {
                    self.at += 1;
                    if self.peek() != end {
                        return Ok(());
                    }
                    self.at += 1;
                    word.push(c, true);
                }
                '`' => {
                    let next = self.peek_at(1).unwrap_or('`');
                    self.at += 2;
                    word.push(if next == 'n' { '\n' } else { next }, true);
                }
                '$' => {
                    self.variable(word)?;
                    // The text behind it is quoted all the same.
                    word.parts.push(Part::Text(String::new(), true));
                }
                _ => {
                    self.at += 1;
                    word.push(c, true);
                }
            }
        }
    }

    /// `@' … '@`, which ends at the start of a line.
    fn here(&mut self, word: &mut Word) -> Result<()> {
        let quote = self.peek_at(1).unwrap_or('"');
        self.at += 2;
        let mut text = String::new();
        let end = format!("\n{quote}@");
        while !self.looking_at(&end) {
            let Some(c) = self.peek() else {
                return Err(Unreadable);
            };
            text.push(c);
            self.at += 1;
        }
        self.at += 3;
        let text = text.trim_start_matches(['\r', ' ']);
        let text = text.strip_prefix('\n').unwrap_or(text);
        if quote == '"' {
            word.parts.extend(expandable(text, self.depth)?.parts);
        } else {
            word.parts.push(Part::Text(text.to_owned(), true));
        }
        Ok(())
    }
}

impl Word {
    /// Does it begin as an expression does?
    fn gives_value(&self) -> bool {
        match self.parts.first() {
            Some(Part::Text(text, quoted)) => *quoted || text.starts_with('['),
            Some(Part::Variable(_) | Part::Inner(_) | Part::Table(_)) => true,
            _ => false,
        }
    }

    fn push(&mut self, character: char, quoted: bool) {
        match self.parts.last_mut() {
            Some(Part::Text(text, is_quoted)) if *is_quoted == quoted => text.push(character),
            _ => self.parts.push(Part::Text(character.to_string(), quoted)),
        }
    }
}

/// Is what was read so far a variable, perhaps behind its type?
fn is_target(stage: &Stage) -> bool {
    let is_type = |word: &Word| word.plain().is_some_and(|text| text.starts_with('['));
    match stage.words.as_slice() {
        [word] | [_, word]
            if stage.words.len() == 1 || stage.words.first().is_some_and(is_type) =>
        {
            matches!(
                word.parts.as_slice(),
                [Part::Variable(_)]
                    | [Part::Text(_, false), Part::Variable(_)]
                    | [Part::Variable(_), Part::Member(_, None)]
            )
        }
        _ => false,
    }
}

fn assigned(word: Option<Word>) -> Option<String> {
    word?.parts.into_iter().find_map(|part| match part {
        Part::Variable(name) => Some(name.to_lowercase()),
        _ => None,
    })
}
