//! Other tools that keep history than git: what loses work or rewrites it.

use crate::RuleId;
use crate::meaning::args::{Args, NO_VALUES};
use crate::meaning::walk::{Command, Walker};

const TOOLS: &[&str] = words!("bfg git-filter-repo git-filter-branch hg bzr svn jj p4 fossil");

pub fn judge(walker: &mut Walker, command: &Command) {
    if !TOOLS.contains(&command.name) {
        return;
    }
    let args = Args::read(command.args, NO_VALUES);
    let rule = match (command.name, args.operands.as_slice()) {
        ("bfg" | "git-filter-repo" | "git-filter-branch", _) => RuleId::GitHistory,
        ("hg", ["strip" | "rollback" | "histedit", ..]) => RuleId::GitHistory,
        ("hg", ["purge" | "clean", ..]) => RuleId::GitClean,
        ("hg", ["update" | "up" | "checkout" | "co", ..]) if args.has('C', "clean") => {
            RuleId::GitDiscard
        }
        ("hg", ["revert", ..]) if args.has('a', "all") => RuleId::GitDiscard,
        ("hg" | "bzr", ["push", ..]) if args.has('f', "force") || args.long("overwrite") => {
            RuleId::GitForcePush
        }
        ("svn", ["revert", ..]) if args.has('R', "recursive") => RuleId::GitDiscard,
        ("svn", ["cleanup", ..]) if args.long("remove-unversioned") => RuleId::GitClean,
        ("svn", ["delete" | "del" | "remove" | "rm", all @ ..])
            if all.iter().any(|word| word.contains("://")) =>
        {
            RuleId::GitDeleteRemote
        }
        ("jj", ["abandon", ..]) => RuleId::GitDiscard,
        ("jj", ["op" | "operation", "restore" | "abandon", ..]) => RuleId::GitHistory,
        ("jj", ["git", "push", ..]) if args.long("deleted") => RuleId::GitDeleteRemote,
        ("p4", ["obliterate", ..]) => RuleId::GitHistory,
        ("p4", ["revert", all @ ..]) if all.iter().any(|word| word.contains("...")) => {
            RuleId::GitDiscard
        }
        ("fossil", ["purge" | "shun" | "scrub", ..]) => RuleId::GitHistory,
        _ => return,
    };
    let shown = format!("{} {}", command.name, command.args.join(" "));
    walker.report(rule, &shown);
}
