//! Reads shell text: a bounded lexer and recursive-descent parser for what
//! `bash` accepts. What it can't read is an error, never an empty script.

mod ast;
mod compound;
mod parser;
mod word;

pub use ast::{
    Assignment, Descriptor, Node, Operation, Part, Redirect, RedirectKind, Script, Sign, Simple,
    Word,
};

pub(crate) use parser::as_assignment;
use parser::{Parser, Shared};

/// A text that is longer is not read.
pub const MAX_BYTES: usize = 256 * 1024;
/// How many words and commands a text may have.
pub const MAX_NODES: usize = 40_000;
/// How deep its parts may nest.
pub const MAX_DEPTH: usize = 40;

/// Why a text could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellError {
    TooLong,
    TooMany,
    TooDeep,
    /// Something else than `bash` expects stands at this byte.
    Syntax(usize),
}

/// The commands of a line, or of more lines where they belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece<'t> {
    /// What was read, without the end of its line.
    pub text: &'t str,
    pub script: Script,
    /// The bodies of the here-documents.
    pub heredocs: Vec<Word>,
}

/// Reads a text as `bash -c` would, piece by piece, as a shell does: a long
/// text never stands in memory as a whole tree.
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    shared: Shared,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Result<Self, ShellError> {
        if text.len() > MAX_BYTES {
            return Err(ShellError::TooLong);
        }
        Ok(Reader {
            text,
            at: 0,
            shared: Shared::default(),
        })
    }

    /// The rest of the line.
    pub fn line(&self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.split_once('\n').map_or(rest, |(line, _)| line)
    }

    /// Goes on behind a line that was read before as one piece.
    pub fn skip(&mut self, line: &str) {
        self.at = self.text.len().min(self.at + line.len() + 1);
    }

    /// The next commands; `None` at the end of the text.
    pub fn next_piece(&mut self) -> Result<Option<Piece<'t>>, ShellError> {
        let mut parser = Parser::new(self.text, &mut self.shared, 0);
        parser.at = self.at;
        let nodes = parser.piece()?;
        let text = parser.text(self.at, parser.at);
        self.skip(text);
        if nodes.is_empty() {
            return Ok(None);
        }
        Ok(Some(Piece {
            text,
            script: Script { nodes },
            heredocs: std::mem::take(&mut self.shared.heredocs),
        }))
    }
}

/// Is this shell text that can be read to its end?
pub fn check(text: &str) -> Result<(), ShellError> {
    let mut reader = Reader::new(text)?;
    while reader.next_piece()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests;
