//! Programs that show what stands in files.

use super::super::files;
use crate::meaning::{Args, Command, Env, Flow, NO_VALUES, Takes, Walker};

pub fn reads(walker: &mut Walker, command: &Command, env: &Env) {
    let (takes, skip): (Takes, usize) = match command.name {
        "head" | "tail" => (takes!("nc", "lines bytes"), 0),
        "cut" => (takes!("bcdf", "delimiter fields output-delimiter"), 0),
        "sort" => (takes!("ktoST", "key field-separator output"), 0),
        "jq" | "yq" | "gojq" | "dasel" => (takes!("L", "indent"), 1),
        "xxd" => (takes!("lscgo", ""), 0),
        "od" => (takes!("AjNtSw", ""), 0),
        "hexdump" | "hd" => (takes!("nse", ""), 0),
        "iconv" => (takes!("fto", "from-code to-code output"), 0),
        "gpg" => (
            takes!("oru", "output recipient local-user homedir keyserver"),
            0,
        ),
        "fold" | "fmt" | "pr" => (takes!("wl", "width"), 0),
        "column" => (takes!("sco", "separator"), 0),
        "bat" | "batcat" => (takes!("lrH", "language line-range style theme"), 0),
        _ => (NO_VALUES, 0),
    };
    for text in command
        .args
        .iter()
        .filter_map(|word| word.strip_prefix("+!"))
    {
        walker.code(text, &mut env.clone(), &Flow::Unknown);
    }
    if command.name == "zip" {
        super::option_text(walker, command, env, "-TT");
    }
    let args = Args::read(command.args, takes);
    files::write_all(walker, args.values(&["o", "output"]), env);
    let mut skip = skip;
    let mut words = args.operands.iter();
    // `jq --arg name value` puts two words where the filter would be.
    if matches!(command.name, "jq" | "gojq") {
        let named = args
            .longs
            .iter()
            .filter(|l| matches!(**l, "arg" | "argjson" | "slurpfile" | "rawfile"))
            .count();
        skip += named * 2;
        if args.has('f', "from-file") {
            skip = skip.saturating_sub(1);
        }
    }
    if matches!(command.name, "yq")
        && args
            .operands
            .first()
            .is_some_and(|w| *w == "eval" || *w == "e" || *w == "r")
    {
        skip += 1;
    }
    for path in words.by_ref().skip(skip) {
        let is_code = path.contains("://");
        if !is_code {
            files::read(walker, path, env);
        }
    }
    if command.name == "yq" && args.short('i') {
        files::write_all(walker, args.operands.iter().skip(skip), env);
    }
}

pub fn searches(walker: &mut Walker, command: &Command, env: &Env) {
    let awk = command.name.ends_with("awk");
    let takes = if awk {
        takes!("Fvfi", "field-separator assign file include")
    } else {
        takes!(
            "efABCmgtTjMdD",
            "regexp file include exclude exclude-dir glob type max-count context after-context
             before-context color"
        )
    };
    let args = Args::read(command.args, takes);
    let by_option = args
        .values(if awk {
            &["f", "file"]
        } else {
            &["e", "f", "regexp", "file"]
        })
        .next()
        .is_some()
        || args.long("files");
    let in_place = awk && args.values(&["i", "include"]).any(|l| l == "inplace");
    for path in args.operands.iter().skip(usize::from(!by_option)) {
        let is_assignment = awk && path.contains('=');
        if !is_assignment {
            files::read(walker, path, env);
        }
        if in_place && !is_assignment {
            files::write(walker, path, env);
        }
    }
    for pattern in args.values(&["include", "g", "glob"]) {
        if !pattern.starts_with('!') {
            files::mentioned(walker, pattern, env);
        }
    }
}
