//! Other tools that keep history than git: what loses work or rewrites it.

use crate::meaning::args::{Args, NO_VALUES};
use crate::meaning::walk::{Command, Walker};

const TOOLS: &[&str] = words!("bfg git-filter-repo git-filter-branch hg bzr svn jj p4 fossil");

pub fn judge(walker: &mut Walker, command: &Command) {
    if !TOOLS.contains(&command.name) {
        return;
    }
    let args = Args::read(command.args, NO_VALUES);
    let rule = match (command.name, args.operands.as_slice()) {
        ("bfg" | "git-filter-repo" | "git-filter-branch", _) => "git.history",
        ("hg", ["strip" | "rollback" | "histedit", ..]) => "git.history",
        ("hg", ["purge" | "clean", ..]) => "git.clean",
        ("hg", ["update" | "up" | "checkout" | "co", ..]) if args.has('C', "clean") => {
            "git.discard"
        }
        ("hg", ["revert", ..]) if args.has('a', "all") => "git.discard",
        ("hg" | "bzr", ["push", ..]) if args.has('f', "force") || args.long("overwrite") => {
            "git.force-push"
        }
        ("svn", ["revert", ..]) if args.has('R', "recursive") => "git.discard",
        ("svn", ["cleanup", ..]) if args.long("remove-unversioned") => "git.clean",
        ("svn", ["delete" | "del" | "remove" | "rm", all @ ..])
            if all.iter().any(|word| word.contains("://")) =>
        {
            "git.delete-remote"
        }
        ("jj", ["abandon", ..]) => "git.discard",
        ("jj", ["op" | "operation", "restore" | "abandon", ..]) => "git.history",
        ("jj", ["git", "push", ..]) if args.long("deleted") => "git.delete-remote",
        ("p4", ["obliterate", ..]) => "git.history",
        ("p4", ["revert", all @ ..]) if all.iter().any(|word| word.contains("...")) => {
            "git.discard"
        }
        ("fossil", ["purge" | "shun" | "scrub", ..]) => "git.history",
        _ => return,
    };
    let shown = format!("{} {}", command.name, command.args.join(" "));
    walker.report(rule, &shown);
}
