//! Other tools that keep history than git: what loses work or rewrites it.

use super::pattern::Call;
use super::table::VERSIONS;
use crate::meaning::{Command, NO_VALUES, Walker};

pub fn judge(walker: &mut Walker, command: &Command) {
    if !VERSIONS.knows(command.name) {
        return;
    }
    let args = command.read(NO_VALUES);
    let call = Call {
        operands: &args.operands,
        options: Some(&args),
        ..Call::default()
    };
    if let Some(rule) = VERSIONS.broken(command.name, call) {
        walker.report(rule, &command.line());
    }
}
