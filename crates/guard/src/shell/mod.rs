//! Reads shell text: a bounded lexer and recursive-descent parser for what
//! `bash` accepts. What it can't read is an error, never an empty script.

mod ast;
mod compound;
mod parser;
mod word;

pub use ast::{Assignment, Node, Operation, Part, Redirect, RedirectKind, Script, Simple, Word};

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

/// A script and the bodies of its here-documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    pub script: Script,
    pub heredocs: Vec<Word>,
}

/// Reads a whole text as `bash -c` would.
pub fn parse(text: &str) -> Result<Parsed, ShellError> {
    if text.len() > MAX_BYTES {
        return Err(ShellError::TooLong);
    }
    let mut shared = Shared::default();
    let script = Parser::new(text, &mut shared, 0).whole()?;
    Ok(Parsed {
        script,
        heredocs: shared.heredocs,
    })
}

#[cfg(test)]
mod tests;
