//! What children say about paths that the wall holds read-only: the kernel
//! tells them, and nobody else.

use std::collections::BTreeSet;
use std::io;

use memchr::memmem;

use crate::supervise::Sink;

/// Without the first letter, which is not always small.
const WORDS: &[u8] = b"ead-only file system";
/// As far as a path may stand from the words.
const REACH: usize = 512;

/// Passes everything on, and notes the paths.
pub struct Overhearing<'a> {
    pub sink: &'a mut (dyn Sink + Send),
    /// The end of what each stream said last: the words may come in pieces.
    said: Vec<u8>,
    complained: Vec<u8>,
    pub paths: BTreeSet<String>,
}

impl<'a> Overhearing<'a> {
    pub fn new(sink: &'a mut (dyn Sink + Send)) -> Overhearing<'a> {
        Overhearing {
            sink,
            said: Vec::new(),
            complained: Vec::new(),
            paths: BTreeSet::new(),
        }
    }
}

fn hear(last: &mut Vec<u8>, chunk: &[u8], paths: &mut BTreeSet<String>) {
    last.extend_from_slice(chunk);
    for at in memmem::find_iter(last, WORDS) {
        paths.extend(path_beside(last, at));
    }
    let gone = last.len().saturating_sub(2 * REACH);
    last.drain(..gone);
}

impl Sink for Overhearing<'_> {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        hear(&mut self.said, chunk, &mut self.paths);
        self.sink.stdout(chunk)
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        hear(&mut self.complained, chunk, &mut self.paths);
        self.sink.stderr(chunk)
    }

    fn shows_work(&mut self) -> bool {
        self.sink.shows_work()
    }
}

/// The absolute path that a complaint is about: in the same line, before the
/// words as most programs have it, else behind them.
fn path_beside(text: &[u8], at: usize) -> Option<String> {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = at.saturating_sub(REACH);
    let before = text.get(start..at)?;
    let line = before.iter().rposition(is_end).map_or(0, |end| end + 1);
    let behind = text.get(at + WORDS.len()..)?;
    let behind = behind.get(..REACH.min(behind.len()))?;
    let end = behind.iter().position(is_end).unwrap_or(behind.len());
    let before = String::from_utf8_lossy(before.get(line..)?);
    let behind = String::from_utf8_lossy(behind.get(..end)?);
    last_path(&before).or_else(|| first_path(&behind))
}

fn last_path(text: &str) -> Option<String> {
    let mut starts = text.rmatch_indices('/').map(|(at, _)| at);
    path_at(text, starts.find(|at| begins(text, *at))?)
}

fn first_path(text: &str) -> Option<String> {
    let mut starts = text.match_indices('/').map(|(at, _)| at);
    path_at(text, starts.find(|at| begins(text, *at))?)
}

/// A path begins behind a space or a quote.
fn begins(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|c| c.is_whitespace() || "'\"`‘“(=".contains(c))
}

fn path_at(text: &str, at: usize) -> Option<String> {
    let quote = text.get(..at)?.chars().next_back();
    let end = match quote {
        Some('\'' | '"' | '`') => quote,
        Some('‘') => Some('’'),
        Some('“') => Some('”'),
        _ => None,
    };
    let rest = text.get(at..)?;
    let ends = |c: char| match end {
        Some(end) => c == end,
        None => c.is_whitespace() || "'\":,;)\\".contains(c),
    };
    let path = rest.split(ends).next()?;
    (path.len() > 1).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::Nobody;

    fn heard(chunks: &[&str]) -> Vec<String> {
        let mut nobody = Nobody;
        let mut ear = Overhearing::new(&mut nobody);
        for chunk in chunks {
            ear.stdout(chunk.as_bytes()).unwrap();
        }
        ear.paths.into_iter().collect()
    }

    #[test]
    fn programs_name_the_path_in_their_own_ways() {
        for line in [
            "touch: cannot touch '/etc/x y': Read-only file system",
            "touch: cannot touch ‘/etc/x y’: Read-only file system",
            "OSError: [Errno 30] Read-only file system: '/etc/x y'",
            "Error: EROFS: read-only file system, open '/etc/x y'",
        ] {
            assert_eq!(heard(&[line, "\n"]), ["/etc/x y"], "{line}");
        }
        for line in [
            "sh: 1: cannot create /etc/x: Read-only file system",
            "open /etc/x: read-only file system",
            r#"{"content":"cp: /etc/x: Read-only file system\n"}"#,
        ] {
            assert_eq!(heard(&[line]), ["/etc/x"], "{line}");
        }
        for line in [
            "a Read-only file system",
            "/etc/x",
            "x\n: Read-only file system\n",
        ] {
            assert_eq!(heard(&[line]), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn pieces_make_one() {
        let pieces = ["rm: /etc/", "x: Read-on", "ly file sys", "tem\n", "more\n"];
        assert_eq!(heard(&pieces), ["/etc/x"]);
        let mut nobody = Nobody;
        let mut ear = Overhearing::new(&mut nobody);
        ear.stderr(b"rm: /etc/").unwrap();
        ear.stdout(b"other words\n").unwrap();
        ear.stderr(b"x: Read-only file system\n").unwrap();
        assert_eq!(ear.paths, BTreeSet::from(["/etc/x".to_owned()]));
    }
}
