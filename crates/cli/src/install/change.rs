//! A change of one file, shown before it is made.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_through};
use ralph_store::error::Action;

/// What editors read to complete and check the configuration.
pub const SCHEMA: &str = ".ralph/config.schema.json";

/// What a file holds before and after; `None` where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// From the project's root, with slashes.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Change {
    pub fn is_none(&self) -> bool {
        self.before == self.after
    }

    /// Makes the change; gives the directories that had to be created, the
    /// outermost first.
    pub fn make(&self, root: &Path) -> Result<Vec<PathBuf>, FileError> {
        let path = root.join(&self.path);
        let Some(after) = &self.after else {
            fs::remove_file(&path)
                .map_err(|error| FileError::new(&path, Action::Remove, &error))?;
            return Ok(Vec::new());
        };
        let created = create_dirs(&path)?;
        write_through(&path, after.as_bytes(), AtomicOptions { durable: true })?;
        Ok(created)
    }

    /// The change as a person sees it first. The schema does nothing and is
    /// what a command prints: its thousand lines would only hide the others.
    pub fn shown(&self, lang: Lang) -> String {
        let path = &self.path;
        match path == SCHEMA {
            true => tr!(
                lang,
                "{path}: what `ralph config schema` prints, for editors"
            ),
            false => self.unified(),
        }
    }

    /// As `diff -u` shows it.
    pub fn unified(&self) -> String {
        let name = |side: &str, text: &Option<String>| match text {
            Some(_) => format!("{side}/{}", self.path),
            None => "/dev/null".to_owned(),
        };
        let before = self.before.as_deref().unwrap_or_default();
        let after = self.after.as_deref().unwrap_or_default();
        format!(
            "--- {}\n+++ {}\n{}",
            name("a", &self.before),
            name("b", &self.after),
            hunks(before, after)
        )
    }
}

/// Reads a text; `None` where there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    match ralph_store::regular::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(FileError::new(path, Action::Read, &error)),
    }
}

fn create_dirs(file: &Path) -> Result<Vec<PathBuf>, FileError> {
    let Some(dir) = file.parent() else {
        return Ok(Vec::new());
    };
    let mut missing: Vec<PathBuf> = dir
        .ancestors()
        .take_while(|dir| !dir.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    fs::create_dir_all(dir).map_err(|error| FileError::new(dir, Action::Create, &error))?;
    Ok(missing)
}

/// Lines around a difference that are shown with it.
const CONTEXT: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

fn hunks(before: &str, after: &str) -> String {
    let lines = compared(before, after);
    let differs = |line: &Line| !matches!(line, Line::Same(_));
    let mut shown = vec![false; lines.len()];
    for (i, _) in lines.iter().enumerate().filter(|(_, line)| differs(line)) {
        let end = (i + CONTEXT + 1).min(lines.len());
        shown[i.saturating_sub(CONTEXT)..end].fill(true);
    }
    let mut text = String::new();
    let (mut old, mut new) = (1, 1);
    let mut at = 0;
    while at < lines.len() {
        let length = shown[at..].iter().take_while(|shown| **shown).count();
        let hunk = &lines[at..at + length];
        let gone = hunk.iter().filter(|l| !matches!(l, Line::New(_))).count();
        let added = hunk.iter().filter(|l| !matches!(l, Line::Gone(_))).count();
        if length > 0 {
            text.push_str(&format!(
                "@@ -{} +{} @@\n",
                range(old, gone),
                range(new, added)
            ));
            hunk.iter().for_each(|line| push(&mut text, *line));
        } else {
            old += 1;
            new += 1;
        }
        old += gone;
        new += added;
        at += length.max(1);
    }
    text
}

fn range(start: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", start - 1),
        1 => start.to_string(),
        _ => format!("{start},{count}"),
    }
}

fn push(text: &mut String, line: Line) {
    let (sign, line) = match line {
        Line::Same(line) => (' ', line),
        Line::Gone(line) => ('-', line),
        Line::New(line) => ('+', line),
    };
    text.push(sign);
    text.push_str(line.strip_suffix('\n').unwrap_or(line));
    text.push('\n');
    if !line.ends_with('\n') {
        text.push_str("\\ No newline at end of file\n");
    }
}

/// The longest common lines stay; the rest is gone or new.
fn compared<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take(rest).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    // common[i][j]: how many lines a[i..] and b[j..] have in common.
    let mut common = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut lines: Vec<Line> = old[..head].iter().map(|line| Line::Same(line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push(Line::Same(a[i]));
            i += 1;
            j += 1;
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            lines.push(Line::Gone(a[i]));
            i += 1;
        } else {
            lines.push(Line::New(b[j]));
            j += 1;
        }
    }
    let end = &old[old.len() - tail..];
    lines.extend(end.iter().map(|line| Line::Same(line)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: Option<&str>, after: Option<&str>) -> String {
        let change = Change {
            path: "f".into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        change.unified()
    }

    #[test]
    fn a_change_is_shown_as_diff_shows_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        insta::assert_snapshot!(diff(Some(old), Some("a\nb\nc\nd\nX\nf\ng\nh\ni")), @r"
        --- a/f
        +++ b/f
        @@ -2,7 +2,8 @@
         b
         c
         d
        -e
        +X
         f
         g
         h
        +i
        \ No newline at end of file
        ");
        insta::assert_snapshot!(diff(None, Some("x\n")), @r"
        --- /dev/null
        +++ b/f
        @@ -0,0 +1 @@
        +x
        ");
        insta::assert_snapshot!(diff(Some("x\ny\n"), None), @r"
        --- a/f
        +++ /dev/null
        @@ -1,2 +0,0 @@
        -x
        -y
        ");
        let far = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        insta::assert_snapshot!(diff(Some(far), Some(&far.replace("1\n2", "one\n2").replace("12", "twelve"))), @r"
        --- a/f
        +++ b/f
        @@ -1,4 +1,4 @@
        -1
        +one
         2
         3
         4
        @@ -9,4 +9,4 @@
         9
         10
         11
        -12
        +twelve
        ");
    }
}
