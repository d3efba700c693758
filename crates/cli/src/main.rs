//! Picks the mode and maps the result to an exit code; nothing else.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(ralph_loop::run(&args))
}
