//! Archives, patches and other programs that unpack.

use super::copy::is_remote;
use crate::RuleId;
use crate::meaning::{Command, Env, Walker, files};

pub fn tar(walker: &mut Walker, command: &Command, env: &mut Env) {
    let args = command.read(takes!(
        "fCTXIb",
        "file directory exclude files-from to-command use-compress-program checkpoint-action"
    ));
    let (mode, rest) = match args.operands.split_first() {
        Some((first, rest)) if !command.first().starts_with('-') => (*first, rest),
        _ => ("", args.operands.as_slice()),
    };
    let creates =
        mode.contains(['c', 'r', 'u']) || args.short('c') || args.long("create") || args.short('r');
    let extracts =
        mode.contains('x') || args.short('x') || args.long("extract") || args.long("get");
    for action in args.values(words!(
        "checkpoint-action to-command use-compress-program I"
    )) {
        let text = action.strip_prefix("exec=").unwrap_or(action);
        walker.escaped(text, env);
    }
    if creates {
        let (archive, members) = match (args.values(&["f", "file"]).next(), rest.split_first()) {
            (Some(path), _) => (Some(path), rest),
            (None, Some((path, members))) => (Some(*path), members),
            (None, None) => (None, rest),
        };
        let is_file = |path: &&str| *path != "-" && !is_remote(path);
        files::write_all(walker, archive.filter(is_file), env);
        files::read_all(walker, members, env);
    }
    if extracts {
        files::write_all(walker, args.values(&["C", "directory"]), env);
        if args.has('P', "absolute-names") || mode.contains('P') {
            walker.report(RuleId::FsWriteOutside, "--absolute-names");
        }
    }
    if args.long("remove-files") {
        files::delete_all(walker, rest, env);
    }
}

pub fn seven_zip(walker: &mut Walker, command: &Command, env: &Env) {
    let operands = command.read(takes!("", "output directory input")).operands;
    if operands.first() == Some(&"a") {
        files::read_all(walker, operands.iter().skip(2), env);
    }
    let outputs = command
        .args
        .iter()
        .filter_map(|word| word.strip_prefix("-o"));
    files::write_all(walker, outputs, env);
}
