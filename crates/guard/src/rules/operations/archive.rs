//! Archives, patches and other programs that unpack.

use super::super::files;
use super::copy::is_remote;
use crate::RuleId;
use crate::meaning::{Args, Command, Env, Takes, Walker};

pub fn tar(walker: &mut Walker, command: &Command, env: &mut Env) {
    let takes = takes!(
        "fCTXIb",
        "file directory exclude files-from to-command use-compress-program checkpoint-action"
    );
    let args = Args::read(command.args, takes);
    let (mode, rest) = match args.operands.split_first() {
        Some((first, rest))
            if !command
                .args
                .first()
                .is_some_and(|word| word.starts_with('-')) =>
        {
            (*first, rest)
        }
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
    let archive: Vec<&str> = args.values(&["f", "file"]).collect();
    if creates {
        let (archive, members) = match archive.first() {
            Some(path) => (Some(*path), rest),
            None => match rest.split_first() {
                Some((path, members)) => (Some(*path), members),
                None => (None, rest),
            },
        };
        files::write_all(
            walker,
            archive
                .iter()
                .filter(|path| **path != "-" && !is_remote(path)),
            env,
        );
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

pub fn other_writers(walker: &mut Walker, command: &Command, env: &Env) {
    let takes = Takes {
        shorts: match command.name {
            "unzip" => "dxP",
            "patch" => "piodDFrVz",
            "ssh-keygen" => "tbfCNPF",
            "split" => "lbna",
            "csplit" => "bfn",
            "cpio" => "DFIOHMCER",
            "ex" => "cS",
            "ed" => "p",
            _ => "",
        },
        longs: &["output", "directory", "input"],
    };
    let args = Args::read(command.args, takes);
    let names: &[&str] = match command.name {
        "unzip" => &["d"],
        "cpio" => &["D", "directory", "O", "F"],
        "csplit" => &["f"],
        "patch" => &["o", "output", "d", "directory"],
        // It shows a fingerprint or looks a host up.
        "ssh-keygen" if args.short('l') || args.short('F') => &[],
        "ssh-keygen" => &["f"],
        _ => &[],
    };
    files::write_all(walker, args.values(names), env);
    match command.name {
        "patch" | "sponge" => {
            if let Some(path) = args.operands.first() {
                files::write(walker, path, env);
            }
        }
        "split" => {
            if let Some(path) = args.operands.first() {
                files::read(walker, path, env);
            }
            if let Some(prefix) = args.operands.get(1) {
                files::write(walker, prefix, env);
            }
        }
        "ex" | "ed" => {
            files::write_all(walker, &args.operands, env);
        }
        "gunzip" => {
            files::read_all(walker, &args.operands, env);
        }
        "7z" | "7za" | "7zr" => {
            if args.operands.first() == Some(&"a") {
                files::read_all(walker, args.operands.iter().skip(2), env);
            }
            files::write_all(
                walker,
                command
                    .args
                    .iter()
                    .filter_map(|word| word.strip_prefix("-o")),
                env,
            );
        }
        _ => {}
    }
}
