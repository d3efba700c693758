//! Reads a line of a shell as far as it takes to know who decides.

/// Stands for what only a shell would know.
pub(super) const UNKNOWN: char = '\u{0}';

/// A command, word by word.
pub(super) struct Command {
    pub words: Vec<String>,
    /// What it says is kept, or goes to another command: somebody may judge it.
    pub is_kept: bool,
}

/// The commands of a shell's text.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut reader = Reader::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(escaped) => reader.put(escaped),
            },
            '\'' => {
                reader.begin();
                reader.put_all(chars.by_ref().take_while(|&c| c != '\''));
            }
            '"' => reader.quoted(&mut chars),
            '`' => {
                let _ = chars.by_ref().find(|&c| c == '`');
                reader.put(UNKNOWN);
            }
            '$' if chars.peek() == Some(&'(') => {
                skip_parentheses(&mut chars);
                reader.put(UNKNOWN);
            }
            '#' if reader.word.is_none() => {
                let _ = chars.by_ref().find(|&c| c == '\n');
                reader.end_command();
            }
            '>' | '<' => reader.redirect(c),
            '|' if chars.next_if_eq(&'|').is_some() => reader.end_command(),
            '|' => reader.pipe_on(),
            '&' if reader.is_redirected_to => reader.put(c),
            '&' | ';' | '\n' | '(' | ')' => reader.end_command(),
            c if c.is_whitespace() => reader.end_word(),
            c => reader.put(c),
        }
    }
    reader.end_command();
    reader.commands
}

#[derive(Default)]
struct Reader {
    commands: Vec<Command>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is where the output goes, and no argument.
    is_redirected_to: bool,
    /// What it says is kept for somebody else to judge.
    is_kept: bool,
    outward: bool,
}

impl Reader {
    fn begin(&mut self) {
        self.word.get_or_insert_default();
    }

    fn put(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn put_all(&mut self, chars: impl Iterator<Item = char>) {
        self.word.get_or_insert_default().extend(chars);
    }

    fn quoted(&mut self, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.begin();
        while let Some(c) = chars.next() {
            match c {
                '"' => return,
                '\\' => self.put_all(chars.next().into_iter()),
                '$' if chars.peek() == Some(&'(') => {
                    skip_parentheses(chars);
                    self.put(UNKNOWN);
                }
                c => self.put(c),
            }
        }
    }

    fn redirect(&mut self, sign: char) {
        let number = self.word.take().unwrap_or_default();
        let is_number = number.chars().all(|c| c.is_ascii_digit());
        if !is_number {
            self.word = Some(number.clone());
            self.end_word();
        }
        // `2> errors` keeps no output.
        self.outward =
            sign == '>' && ["", "1"].contains(&if is_number { number.as_str() } else { "" });
        self.is_redirected_to = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if !std::mem::take(&mut self.is_redirected_to) {
            self.words.push(word);
        } else if self.outward && word != "/dev/null" && !word.starts_with('&') {
            self.is_kept = true;
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        let is_kept = std::mem::take(&mut self.is_kept);
        if !words.is_empty() {
            self.commands.push(Command { words, is_kept });
        }
        self.is_redirected_to = false;
    }

    fn pipe_on(&mut self) {
        self.is_kept = true;
        self.end_command();
    }
}

fn skip_parentheses(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut depth = 0u32;
    for c in chars {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return;
        }
    }
}
