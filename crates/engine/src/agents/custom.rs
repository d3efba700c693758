//! Any program as an agent: its standard output is what the assistant says.

use std::path::Path;

use super::environment::NESTED;
use super::event::{EndReason, Heard};
use super::options::Invocation;

const PROMPT_FILE: &str = "{prompt_file}";

/// A command line split into words, without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    words: Vec<String>,
}

/// Why a command line can't be split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitError {
    Empty,
    /// A word that only a shell understands.
    Shell(String),
    /// A quote is never closed.
    OpenQuote(char),
    TrailingBackslash,
}

impl CommandLine {
    /// Splits like a shell splits words: white space, `'…'`, `"…"` and `\`.
    /// Nothing is expanded.
    pub fn split(line: &str) -> Result<CommandLine, SplitError> {
        CommandLine::split_on(line, cfg!(windows))
    }

    /// On Windows a backslash parts the names of a path, and hides nothing
    /// but a quote.
    fn split_on(line: &str, windows: bool) -> Result<CommandLine, SplitError> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut is_bare = true;
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                c if c.is_whitespace() => {
                    words.extend(whole(word.take(), is_bare)?);
                    is_bare = true;
                }
                '\'' | '"' => {
                    is_bare = false;
                    let text = word.get_or_insert_default();
                    read_quoted(c, windows, &mut chars, text)?;
                }
                '\\' if windows && !chars.as_str().starts_with(['"', '\'']) => {
                    word.get_or_insert_default().push(c);
                }
                '\\' => {
                    is_bare = false;
                    let next = chars.next().ok_or(SplitError::TrailingBackslash)?;
                    word.get_or_insert_default().push(next);
                }
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(whole(word, is_bare)?);
        match words.first() {
            None => Err(SplitError::Empty),
            Some(first) if is_assignment(first) => Err(SplitError::Shell(first.clone())),
            Some(_) => Ok(CommandLine { words }),
        }
    }

    pub fn invocation(&self, prompt_file: &Path) -> Invocation {
        let file = prompt_file.to_string_lossy();
        let mut words = self
            .words
            .iter()
            .map(|w| w.replace(PROMPT_FILE, &file).into());
        Invocation {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            env_remove: NESTED.iter().map(Into::into).collect(),
            prompt_on_stdin: !self.words.iter().any(|w| w.contains(PROMPT_FILE)),
            ..Invocation::default()
        }
    }
}

/// A word, unless it is bare and one of a shell (`&&`, `|`, `2>&1`, `cd x;`):
/// no program is meant to get that as an argument.
fn whole(word: Option<String>, is_bare: bool) -> Result<Option<String>, SplitError> {
    let is_operator = |word: &str| {
        let operator = word.trim_matches(|c: char| c.is_ascii_digit());
        !operator.is_empty() && operator.chars().all(|c| "|&;<>".contains(c))
    };
    match word {
        Some(word) if is_bare && (is_operator(&word) || word.ends_with(';')) => {
            Err(SplitError::Shell(word))
        }
        word => Ok(word),
    }
}

/// `NAME=value` in front of a program.
fn is_assignment(word: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_of_name))
}

fn read_quoted(
    quote: char,
    windows: bool,
    chars: &mut std::str::Chars,
    text: &mut String,
) -> Result<(), SplitError> {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match chars.next() {
                Some('"') => text.push('"'),
                Some(escaped @ ('\\' | '$' | '`')) if !windows => text.push(escaped),
                Some(other) => text.extend(['\\', other]),
                None => return Err(SplitError::OpenQuote(quote)),
            },
            c => text.push(c),
        }
    }
    Err(SplitError::OpenQuote(quote))
}

/// The end of the output: a promise stands there, and a flood stays cheap.
#[derive(Debug, Default)]
pub struct PlainText {
    tail: Vec<u8>,
}

const TAIL: usize = 256 * 1024;

impl PlainText {
    pub(super) fn hear(&mut self, chunk: &[u8]) {
        let chunk = &chunk[chunk.len().saturating_sub(TAIL)..];
        self.tail.extend_from_slice(chunk);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }

    pub(super) fn heard(&mut self) -> Heard {
        let tail = std::mem::take(&mut self.tail);
        let start = tail.len().saturating_sub(TAIL);
        Heard {
            text: String::from_utf8_lossy(&tail[start..]).into_owned(),
            // Its exit code says the rest.
            end_reason: EndReason::Completed,
            ..Heard::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, want: Result<&[&str], SplitError>) {
        let got = CommandLine::split(line).map(|l| l.words);
        assert_eq!(
            got,
            want.map(|words| words.iter().map(|&w| w.to_owned()).collect()),
            "{line}"
        );
    }

    #[test]
    fn a_command_line_is_split_without_a_shell() {
        check("prog a  b", Ok(&["prog", "a", "b"]));
        check("prog 'a b' \"c d\"", Ok(&["prog", "a b", "c d"]));
        check(
            "sh -c 'cd x && prog; true' '|' \\>",
            Ok(&["sh", "-c", "cd x && prog; true", "|", ">"]),
        );
        for (line, word) in [
            ("cd x && prog", "&&"),
            ("cat {prompt_file} | prog", "|"),
            ("prog 2>&1", "2>&1"),
            ("cd x; prog", "x;"),
            ("A=b prog", "A=b"),
        ] {
            check(line, Err(SplitError::Shell(word.into())));
        }
        check(
            r#"prog "say \"hi\"" 'it'\''s'"#,
            Ok(&["prog", "say \"hi\"", "it's"]),
        );
        check(r"prog a\ b", Ok(&["prog", "a b"]));
        check("prog ''", Ok(&["prog", ""]));
        check(
            "prog $(touch x) `id` $HOME ';' rm",
            Ok(&["prog", "$(touch", "x)", "`id`", "$HOME", ";", "rm"]),
        );
        check("\tprog\n", Ok(&["prog"]));
        check("", Err(SplitError::Empty));
        check("  ", Err(SplitError::Empty));
        check("prog 'a", Err(SplitError::OpenQuote('\'')));
        check("prog \"a", Err(SplitError::OpenQuote('"')));
        check("prog \\", Err(SplitError::TrailingBackslash));
    }

    /// Paths of Windows keep their backslashes (issue 24).
    #[test]
    fn on_windows_a_backslash_is_part_of_a_path() {
        let split = |line| CommandLine::split_on(line, true).map(|line| line.words);
        let words = |words: &[&str]| Ok(words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(
            split(r#"C:\tools\agent.exe --dir "C:\Program Files\x" \"q\" 'D:\'"#),
            words(&[
                r"C:\tools\agent.exe", "--dir", r"C:\Program Files\x", "\"q\"", r"D:\",
            ])
        );
    }

    #[test]
    fn the_prompt_file_is_put_in_place_or_comes_on_standard_input() {
        let with = CommandLine::split("cli --file={prompt_file} {prompt_file}").unwrap();
        let got = with.invocation(Path::new("/p/a b.md"));
        assert_eq!(got.args, ["--file=/p/a b.md", "/p/a b.md"]);
        assert!(!got.prompt_on_stdin);
        assert!(
            CommandLine::split("cli -")
                .unwrap()
                .invocation(Path::new("/p"))
                .prompt_on_stdin
        );
    }

    #[test]
    fn only_the_end_of_a_flood_is_kept() {
        let mut text = PlainText::default();
        for _ in 0..100 {
            text.hear(&[b'x'; 64 * 1024]);
            assert!(text.tail.capacity() <= 4 * TAIL);
        }
        text.hear(b"\n<promise>DONE</promise>\n");
        let heard = text.heard().text;
        assert_eq!(heard.len(), TAIL);
        assert!(heard.ends_with("<promise>DONE</promise>\n"));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let mut text = PlainText::default();
        text.hear(b"a\xff\xfeb");
        assert_eq!(text.heard().text, "a\u{fffd}\u{fffd}b");
    }
}
