//! A quick reader for files that are written plainly: one value per line,
//! texts, lists of texts, numbers and truth values below simple headings.
//!
//! A hook reads the file on every tool call: by the general reader alone it
//! takes 5 % longer with a handful of keys and 82 % with 200 rules, and by
//! derived types behind this one nearly as long (`docs/design/guard-parser.md`).
//! What this reader understands it understands as TOML does; everything else,
//! what is wrong included, is left to the general one.

use super::super::settings::{GuardRule, GuardSettings};
use super::{File, mode_of};

/// The file, or `None` where the general reader has to look.
pub(super) fn read(text: &str) -> Option<File> {
    let odd = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\n' | b'\t') || *byte == 0x7f;
    if text.as_bytes().iter().any(odd) {
        return None;
    }
    let mut reader = Reader::default();
    let mut line = Line { text, at: 0 };
    while line.at < text.len() {
        line.blanks();
        match line.peek() {
            None => break,
            Some(b'\n' | b'#') => {}
            Some(b'[') => reader.heading(&mut line)?,
            Some(_) => {
                let key = line.bare()?;
                line.blanks();
                line.eat(b'=')?;
                line.blanks();
                reader.entry(key, &mut line)?;
            }
        }
        line.end()?;
    }
    Some(reader.file)
}

/// Which part of the file the lines belong to.
#[derive(Default, PartialEq)]
enum Section {
    #[default]
    Top,
    Guard,
    Rule,
    Other,
}

#[derive(Default)]
struct Reader<'t> {
    file: File,
    section: Section,
    /// The headings and the keys at the top so far; none may come twice.
    names: Vec<&'t str>,
    /// The keys of the section so far.
    keys: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    fn heading(&mut self, line: &mut Line<'t>) -> Option<()> {
        self.keys.clear();
        line.eat(b'[')?;
        if line.peek() == Some(b'[') {
            line.literal("[guard.rules]]")?;
            // What a second heading of that name means is not for us to say.
            if !self.names.contains(&"guard") {
                self.names.push("guard");
            }
            self.file.guard.rules.push(GuardRule::default());
            self.section = Section::Rule;
            return Some(());
        }
        let name = line.bare()?;
        line.eat(b']')?;
        if self.names.contains(&name) {
            return None;
        }
        self.names.push(name);
        self.section = match name {
            "guard" => Section::Guard,
            _ => Section::Other,
        };
        Some(())
    }

    fn entry(&mut self, key: &'t str, value: &mut Line<'t>) -> Option<()> {
        if self.keys.contains(&key) {
            return None;
        }
        self.keys.push(key);
        match self.section {
            Section::Top => {
                // A table of this name would be the same key once more.
                if self.names.contains(&key) || key == "guard" {
                    return None;
                }
                self.names.push(key);
                match key {
                    "lang" => self.file.lang = Some(value.string()?.to_owned()),
                    _ => value.any()?,
                }
            }
            Section::Guard => self.file.guard.set(key, value)?,
            Section::Rule => self.file.guard.rules.last_mut()?.set(key, value)?,
            Section::Other => value.any()?,
        }
        Some(())
    }
}

impl GuardSettings {
    fn set(&mut self, key: &str, value: &mut Line<'_>) -> Option<()> {
        match key {
            "enabled" => self.enabled = value.truth()?,
            "fail" => self.fail = value.string()?.parse().ok()?,
            "shadow" => self.shadow = value.truth()?,
            "packs" => self.packs = each(&value.list()?, |word| word.parse().ok())?,
            "enable" => self.enable = value.list()?,
            "disable" => self.disable = value.list()?,
            "modes" => self.modes = each(&value.list()?, mode_of)?,
            "allow_paths" => self.allow_paths = value.list()?,
            "allow_hosts" => self.allow_hosts = value.list()?,
            _ => return None,
        }
        Some(())
    }
}

impl GuardRule {
    fn set(&mut self, key: &str, value: &mut Line<'_>) -> Option<()> {
        match key {
            "id" => self.id = value.string()?.to_owned(),
            "program" => self.program = value.string()?.to_owned(),
            "args" => self.args = value.list()?,
            "paths" => self.paths = value.list()?,
            "reason" => self.reason = value.string()?.to_owned(),
            "hint" => self.hint = value.string()?.to_owned(),
            "mode" => self.mode = value.string()?.parse().ok()?,
            "match" => self.matches = value.list()?,
            "not_match" => self.not_matches = value.list()?,
            _ => return None,
        }
        Some(())
    }
}

fn each<T>(items: &[String], read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    items.iter().map(|item| read(item)).collect()
}

/// A place in the text; nothing here reads beyond the end of its line.
struct Line<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Line<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        let found = self.text.get(self.at..)?.starts_with(word);
        found.then(|| self.at += word.len())
    }

    /// As many bytes as fit.
    fn run(&mut self, fits: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(&fits) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.run(|byte| matches!(byte, b' ' | b'\t'));
    }

    fn bare(&mut self) -> Option<&'t str> {
        let name = self.run(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        (!name.is_empty()).then_some(name)
    }

    /// Nothing but blanks and a comment is left of the line.
    fn end(&mut self) -> Option<()> {
        self.blanks();
        if self.peek() == Some(b'#') {
            self.run(|byte| byte != b'\n');
        }
        match self.peek() {
            None => Some(()),
            Some(_) => self.eat(b'\n'),
        }
    }

    fn truth(&mut self) -> Option<bool> {
        match self.run(|byte| byte.is_ascii_alphabetic()) {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'t str> {
        let quote = self.peek().filter(|byte| matches!(byte, b'"' | b'\''))?;
        self.at += 1;
        let escape = if quote == b'"' { b'\\' } else { quote };
        let text = self.run(|byte| byte != quote && byte != escape && byte != b'\n');
        self.eat(quote)?;
        // Three quotes begin another kind of string.
        let triple = text.is_empty() && self.peek() == Some(quote);
        (!triple).then_some(text)
    }

    /// A list of strings on one line.
    fn list(&mut self) -> Option<Vec<String>> {
        self.eat(b'[')?;
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.eat(b']').is_some() {
                return Some(items);
            }
            items.push(self.string()?.to_owned());
            self.blanks();
            if self.eat(b',').is_none() && self.peek() != Some(b']') {
                return None;
            }
        }
    }

    /// A value of a section that is not ours.
    fn any(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' | b'\'' => self.string().map(drop),
            b'[' => self.list().map(drop),
            b't' | b'f' => self.truth().map(drop),
            b'0' => self.eat(b'0'),
            b'1'..=b'9' => {
                let digits = self.run(|byte| byte.is_ascii_digit());
                (digits.len() < 18).then_some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> Option<File> {
        toml::from_str(text).ok()
    }

    /// What the quick reader takes, the general one takes for the same.
    fn agrees(text: &str) {
        if let Some(file) = read(text) {
            assert_eq!(Some(file), whole(text), "{text}");
        }
    }

    #[test]
    fn plain_files_are_read_here() {
        for text in [
            "",
            "# nothing\n",
            "lang = \"en\"\n[limits]\nmax_iterations = 30\nstalled = 0 # x\n",
            "[guard] # mine\nfail = 'open'\nenable = [ \"a\" , 'b', ]\nshadow = true\n",
            "[[guard.rules]]\nid = \"a\"\nprogram = \"b\"\nmatch = [\"b # c\"]\n\
             [[guard.rules]] # two\nid = \"c\"\nprogram = 'd\\'\nargs = []\n",
        ] {
            assert_eq!(read(text), Some(whole(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_not_plain_or_wrong_is_left_to_the_general_reader() {
        for text in [
            "[guard]\n[guard]\n",
            "[guard]\nshadow = true\nshadow = true\n",
            "[[guard.rules]]\n[guard]\n",
            "guard = 1\n",
            "limits = 1\n[limits]\n",
            "[guard]\nfail = \"a\\u0062\"\n",
            "[guard]\nfail = \"\"\"open\"\"\"\n",
            "[guard]\nenable = [\n\"a\"]\n",
            "[guard]\nenable = [\"a\" \"b\"]\n",
            "[guard]\nenable = [,]\n",
            "[guard]\nfail = \"open\" x\n",
            "[guard.rules]\n",
            "[guard]\nguard.fail = \"open\"\n",
            "[limits]\na = 01\n",
            "[limits]\na = 1.5\n",
            "[agent.retry]\na = 1\n",
            "[guard]\r\nshadow = true\r\n",
            "[guard]\nfail = \"a\u{7f}\"\n",
            "[guard]\nother = 1\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_readers_agree_on_lines_of_all_kinds(lines in prop::collection::vec(
            prop::sample::select(vec![
                "[guard]", "[[guard.rules]]", "[limits]", "[ guard ]", "[guard] # x", "", "# c",
                "lang = \"en\"", "lang = 1", "id = \"a\"", "program = 'b'", "fail = \"open\"",
                "fail = open", "shadow = true", "shadow = truex", "enable = [\"a\", 'b']",
                "enable = ['a',]", "enable = [1]", "match = [\"x\", \"y\"] # z", "x = 12", "x = 1_2",
                "x = -1", "x = \"\"", "x = ''", "x = '''a'''", "args = []", "args = [ ]", "a.b = 1",
                "\"id\" = \"q\"", "reason = \"# no comment\"", "hint = \"a\" \"b\"", "mode = \"warn\"",
                "packs = [\"cloud\"]", "x", "= 1", "x =", "[", "[[guard.rules]", "[[other]]",
            ]), 0..12)) {
            agrees(&lines.join("\n"));
        }

        #[test]
        fn both_readers_agree_on_any_text(text in "[\\]\\[#=\"',a-c0-2 \\\\\n_.{}-]{0,40}") {
            agrees(&format!("[guard]\nfail = {text}"));
            agrees(&text);
        }
    }
}
