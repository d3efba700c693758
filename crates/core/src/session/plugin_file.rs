//! `.claude/ralph-loop.local.md`, the state file of the ralph plugin: a head
//! of `key: value` lines and the prompt below it (TMPL-08).
//!
//! Only the lines that count are ever changed; everything else stays byte for
//! byte.

use crate::lang::Say;

/// Where the file stands, relative to the project.
pub const PATH: &str = ".claude/ralph-loop.local.md";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    text: String,
    pub active: bool,
    /// The iteration that runs.
    pub iteration: u32,
    /// 0 where nothing limits it.
    pub max_iterations: u32,
    pub session_id: Option<String>,
    pub completion_promise: Option<String>,
    pub openspec_change: Option<String>,
    pub prompt: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum PluginFileError {
    /// There is no head between two lines `---`.
    #[say(
        "{PATH}: there is no head between two lines `---`; remove the file, or write it anew with /ralph-loop"
    )]
    NoHead,
    #[say(
        "{PATH}: {key} has to be a whole number, and is \"{value}\"; correct it or remove the file"
    )]
    NotANumber { key: &'static str, value: String },
    #[say("{PATH}: there is no prompt below its head; add one or remove the file")]
    NoPrompt,
}

impl PluginFile {
    pub fn read(text: &str) -> Result<PluginFile, PluginFileError> {
        let (head, prompt) = split(text).ok_or(PluginFileError::NoHead)?;
        let value = |key: &str| {
            head.lines()
                .find_map(|line| line.trim_end().strip_prefix(key)?.strip_prefix(':'))
                .map(|value| unquoted(value.trim()))
                .filter(|value| !value.is_empty() && *value != "null")
        };
        let number = |key: &'static str| match value(key) {
            None => Ok(0),
            Some(text) => text.parse().map_err(|_| PluginFileError::NotANumber {
                key,
                value: text.to_owned(),
            }),
        };
        let openspec = value("openspec_mode") == Some("true");
        let file = PluginFile {
            active: value("active") != Some("false"),
            iteration: number("iteration")?,
            max_iterations: number("max_iterations")?,
            session_id: value("session_id").map(str::to_owned),
            completion_promise: value("completion_promise").map(str::to_owned),
            openspec_change: value("openspec_change_id")
                .filter(|_| openspec)
                .map(str::to_owned),
            prompt: prompt.trim().to_owned(),
            text: text.to_owned(),
        };
        match file.prompt.is_empty() {
            true => Err(PluginFileError::NoPrompt),
            false => Ok(file),
        }
    }

    /// The file with another iteration and whether it is active; every other
    /// byte stays. One that belongs to nobody yet is that session's from now
    /// on (STOP-07).
    pub fn with(&self, iteration: u32, active: bool, session: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let taken =
            self.session_id.is_none() && !session.is_empty() && session.chars().all(is_plain);
        let mut fences = 0;
        let lines = self.text.split_inclusive('\n').map(|line| {
            let content = line.trim_end_matches(['\r', '\n']);
            let end = line.get(content.len()..).unwrap_or_default();
            if content.trim_start_matches('\u{feff}').trim_end() == "---" {
                fences += 1;
            }
            let in_head = fences == 1;
            if in_head && content.starts_with("iteration:") {
                let owner = match taken {
                    true => format!("session_id: {session}{end}"),
                    false => String::new(),
                };
                return format!("iteration: {iteration}{end}{owner}");
            }
            if in_head && content.starts_with("active:") {
                return format!("active: {active}{end}");
            }
            line.to_owned()
        });
        lines.collect()
    }
}

/// The head and what stands below it.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "---\nactive: true\niteration: 2\nsession_id: s-1\nmax_iterations: 7\ncompletion_promise: \"ALL GREEN\"\nstarted_at: \"2026-01-27T04:31:37Z\"\n---\n\nMake it green.\n\n---\niteration: of the text\n";

    #[test]
    fn head_and_prompt_are_read() {
        let file = PluginFile::read(FILE).unwrap();
        assert!(file.active);
        assert_eq!((file.iteration, file.max_iterations), (2, 7));
        assert_eq!(file.session_id.as_deref(), Some("s-1"));
        assert_eq!(file.completion_promise.as_deref(), Some("ALL GREEN"));
        assert_eq!(file.openspec_change, None);
        assert_eq!(file.prompt, "Make it green.\n\n---\niteration: of the text");
    }

    #[test]
    fn only_the_lines_that_count_change() {
        let file = PluginFile::read(FILE).unwrap();
        let want = FILE
            .replacen("iteration: 2", "iteration: 3", 1)
            .replacen("active: true", "active: false", 1);
        assert_eq!(file.with(3, false, "s-2"), want);
        let windows = FILE.replace('\n', "\r\n");
        let file = PluginFile::read(&windows).unwrap();
        assert_eq!(file.with(2, true, ""), windows);
        // XCUT-01
        let marked = format!("\u{feff}{FILE}");
        let file = PluginFile::read(&marked).unwrap();
        assert_eq!(file.with(3, false, "s-2"), format!("\u{feff}{want}"));
    }

    #[test]
    fn what_is_missing_is_unset_and_what_is_broken_is_named() {
        let plain = PluginFile::read(
            "---\nactive: true\niteration: 1\nmax_iterations: 0\ncompletion_promise: null\n---\nx",
        )
        .unwrap();
        assert_eq!((plain.session_id, plain.completion_promise), (None, None));
        let openspec = PluginFile::read(
            "---\niteration: 1\nopenspec_mode: true\nopenspec_change_id: \"add-x\"\n---\nx",
        )
        .unwrap();
        assert_eq!(openspec.openspec_change.as_deref(), Some("add-x"));
        for (text, want) in [
            ("no head", PluginFileError::NoHead),
            ("---\niteration: 1\n", PluginFileError::NoHead),
            ("---\niteration: 1\n---\n\n", PluginFileError::NoPrompt),
            (
                "---\niteration: soon\n---\nx",
                PluginFileError::NotANumber {
                    key: "iteration",
                    value: "soon".into(),
                },
            ),
        ] {
            assert_eq!(PluginFile::read(text), Err(want), "{text}");
        }
    }

    proptest! {
        #[test]
        fn writing_the_same_changes_nothing(iteration in 0u32..99, body in "[a-z\n]{1,40}[a-z]") {
            let text = format!("---\nactive: true\niteration: {iteration}\n---\n{body}");
            let file = PluginFile::read(&text).unwrap();
            prop_assert_eq!(file.with(iteration, true, ""), text);
        }
    }
}
