//! A quick reader for files that are written plainly: one value per line,
//! texts, lists of texts, numbers and truth values below simple headings.
//!
//! A hook reads the file on every tool call, and the general reader takes
//! longer for 200 rules than everything else together. What this one
//! understands it understands as TOML does; everything else, what is wrong
//! included, is left to the general reader.

use super::{File, RawGuard, RawRule};

/// The file, or `None` where the general reader has to look.
pub(super) fn read(text: &str) -> Option<File> {
    let odd = |byte: u8| byte < 0x20 && !matches!(byte, b'\n' | b'\t') || byte == 0x7f;
    if text.bytes().any(odd) {
        return None;
    }
    let mut reader = Reader::default();
    for line in text.lines() {
        let line = line.trim_matches([' ', '\t']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            reader.heading(line)?;
        } else {
            let (key, value) = line.split_once('=')?;
            reader.entry(key.trim_end_matches([' ', '\t']), value)?;
        }
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
    fn heading(&mut self, line: &'t str) -> Option<()> {
        self.keys.clear();
        if let Some(rest) = line.strip_prefix("[[") {
            let rest = rest.strip_prefix("guard.rules]]")?;
            ends(rest)?;
            // What a second heading of that name means is not for us to say.
            if !self.names.contains(&"guard") {
                self.names.push("guard");
            }
            self.file.guard.rules.push(RawRule::default());
            self.section = Section::Rule;
            return Some(());
        }
        let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
        ends(rest)?;
        if !is_bare(name) || self.names.contains(&name) {
            return None;
        }
        self.names.push(name);
        self.section = match name {
            "guard" => Section::Guard,
            _ => Section::Other,
        };
        Some(())
    }

    fn entry(&mut self, key: &'t str, value: &str) -> Option<()> {
        if !is_bare(key) || self.keys.contains(&key) {
            return None;
        }
        self.keys.push(key);
        let value = value.trim_start_matches([' ', '\t']);
        match self.section {
            Section::Top => {
                // A table of this name would be the same key once more.
                if self.names.contains(&key) || key == "guard" {
                    return None;
                }
                self.names.push(key);
                match key {
                    "lang" => self.file.lang = Some(text(value)?),
                    _ => any(value)?,
                }
            }
            Section::Guard => self.file.guard.set(key, value)?,
            Section::Rule => self.file.guard.rules.last_mut()?.set(key, value)?,
            Section::Other => any(value)?,
        }
        Some(())
    }
}

impl RawGuard {
    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "enabled" => self.enabled = Some(truth(value)?),
            "fail" => self.fail = Some(text(value)?),
            "shadow" => self.shadow = Some(truth(value)?),
            "packs" => self.packs = Some(list(value)?),
            "enable" => self.enable = list(value)?,
            "disable" => self.disable = list(value)?,
            "modes" => self.modes = list(value)?,
            "allow_paths" => self.allow_paths = list(value)?,
            "allow_hosts" => self.allow_hosts = list(value)?,
            _ => return None,
        }
        Some(())
    }
}

impl RawRule {
    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "id" => self.id = text(value)?,
            "program" => self.program = text(value)?,
            "args" => self.args = list(value)?,
            "paths" => self.paths = list(value)?,
            "reason" => self.reason = text(value)?,
            "hint" => self.hint = text(value)?,
            "mode" => self.mode = text(value)?,
            "match" => self.matches = list(value)?,
            "not_match" => self.not_matches = list(value)?,
            _ => return None,
        }
        Some(())
    }
}

fn is_bare(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !key.is_empty() && key.bytes().all(plain)
}

/// Nothing but blanks and a comment is left of the line.
fn ends(rest: &str) -> Option<()> {
    let rest = rest.trim_start_matches([' ', '\t']);
    (rest.is_empty() || rest.starts_with('#')).then_some(())
}

fn truth(value: &str) -> Option<bool> {
    let (truth, rest) = match value.strip_prefix("true") {
        Some(rest) => (true, rest),
        None => (false, value.strip_prefix("false")?),
    };
    ends(rest).map(|()| truth)
}

fn text(value: &str) -> Option<String> {
    let (text, rest) = string(value)?;
    ends(rest).map(|()| text.to_owned())
}

/// A string without escapes, and what follows it.
fn string(value: &str) -> Option<(&str, &str)> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (text, rest) = value.get(1..)?.split_once(quote)?;
    let escapes = quote == '"' && text.contains('\\');
    // Three quotes begin another kind of string.
    let triple = text.is_empty() && rest.starts_with(quote);
    (!escapes && !triple).then_some((text, rest))
}

/// A list of strings on one line.
fn list(value: &str) -> Option<Vec<String>> {
    let mut rest = value.strip_prefix('[')?.trim_start_matches([' ', '\t']);
    let mut items = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(']') {
            ends(after)?;
            return Some(items);
        }
        let (item, after) = string(rest)?;
        items.push(item.to_owned());
        let after = after.trim_start_matches([' ', '\t']);
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start_matches([' ', '\t']),
            None if after.starts_with(']') => after,
            None => return None,
        };
    }
}

/// A value of a section that is not ours.
fn any(value: &str) -> Option<()> {
    match value.as_bytes().first()? {
        b'"' | b'\'' => text(value).map(drop),
        b'[' => list(value).map(drop),
        b't' | b'f' => truth(value).map(drop),
        b'0' => ends(value.get(1..)?),
        b'1'..=b'9' => {
            let digits = value.bytes().take_while(u8::is_ascii_digit).count();
            (digits < 18).then_some(())?;
            ends(value.get(digits..)?)
        }
        _ => None,
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
