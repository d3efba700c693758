//! Disks and file systems.

use super::pattern::Call;
use super::table::DISK;
use crate::RuleId;
use crate::meaning::{Command, Walker};

pub fn judge(walker: &mut Walker, command: &Command) {
    let name = command.name;
    let makes = name.starts_with("mkfs.") || name.starts_with("newfs");
    if makes || name == "diskutil" && erases(command.first()) {
        return walker.report(RuleId::DiskFormat, &command.line());
    }
    if !DISK.knows(name) || one_of!(command.first(), "--help --version -V -h") {
        return;
    }
    let words = command.words();
    let call = Call::of(&words, command.args);
    if let Some(rule) = DISK.broken(name, call) {
        walker.report(rule, &command.line());
    }
}

/// A verb of `diskutil`, which are written in any case.
fn erases(verb: &str) -> bool {
    let starts = words!("erase partition reformat zero secureerase unmount");
    let verb = verb.to_ascii_lowercase();
    starts.iter().any(|start| verb.starts_with(start)) || verb == "apfs"
}
