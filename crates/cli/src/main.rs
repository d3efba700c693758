//! Picks the mode and maps the result to an exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ralph_loop::run(std::env::args_os().collect()))
}
