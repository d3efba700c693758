//! Programs that show what stands in files.

use crate::meaning::{Command, Env, Walker, files};

/// `jq` and `yq`: the filter stands before the files.
pub fn queries(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!("L", "indent"));
    files::write_all(walker, args.values(&["o", "output"]), env);
    let first = args.operands.first().copied().unwrap_or_default();
    let mut skip = 1;
    if command.name == "yq" {
        skip += usize::from(matches!(first, "eval" | "e" | "r"));
    } else {
        // `jq --arg name value` puts two words where the filter would be.
        let named = |long: &&&str| matches!(**long, "arg" | "argjson" | "slurpfile" | "rawfile");
        skip += args.longs.iter().filter(named).count() * 2;
        skip -= usize::from(args.has('f', "from-file"));
    }
    let paths = args.operands.iter().skip(skip);
    files::read_all(
        walker,
        paths.clone().filter(|path| !path.contains("://")),
        env,
    );
    if command.name == "yq" && args.short('i') {
        files::write_all(walker, paths, env);
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
    let args = command.read(takes);
    let scripts: &[&str] = if awk {
        &["f", "file"]
    } else {
        &["e", "f", "regexp", "file"]
    };
    let by_option = args.values(scripts).next().is_some() || args.long("files");
    let in_place = awk && args.values(&["i", "include"]).any(|l| l == "inplace");
    let paths = args.operands.iter().skip(usize::from(!by_option));
    for path in paths.filter(|path| !awk || !path.contains('=')) {
        files::read(walker, path, env);
        if in_place {
            files::write(walker, path, env);
        }
    }
    for pattern in args.values(&["include", "g", "glob"]) {
        if !pattern.starts_with('!') {
            files::mentioned(walker, pattern, env);
        }
    }
}
