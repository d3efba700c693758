//! The built-in scripted agent: the same binary in a hidden mode, so that the
//! demo and the tests drive a real child process without an account.

use std::path::Path;

use super::Invocation;

/// The hidden mode's name on the command line.
pub const MODE: &str = "__agent";

pub fn invocation(program: &Path) -> Invocation {
    Invocation {
        program: program.into(),
        args: vec![MODE.into()],
        prompt_on_stdin: true,
        ..Invocation::default()
    }
}
