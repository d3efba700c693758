//! Programs with sources and a target.

use crate::RuleId;
use crate::meaning::{Args, Command, Env, Takes, Walker, files};

const TARGET: Takes = takes!("tSgmo", "target-directory suffix mode owner group");

/// Sources and target of `cp`, `mv`, `ln` and `install`.
pub fn sources_and_target<'a>(args: &'a Args<'a>) -> (Vec<&'a str>, Option<&'a str>) {
    match args.values(&["t", "target-directory"]).next() {
        Some(target) => (args.operands.clone(), Some(target)),
        None => match args.operands.split_last() {
            Some((target, sources)) if !sources.is_empty() => (sources.to_vec(), Some(target)),
            _ => (args.operands.clone(), None),
        },
    }
}

pub fn moves(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(TARGET);
    let (sources, target) = sources_and_target(&args);
    files::delete_all(walker, &sources, env);
    if let Some(target) = target {
        files::write(walker, target, env);
        // What is moved away to /dev/null or out of the project is lost.
        if target == "/dev/null" {
            walker.report(RuleId::FsDeleteOutside, target);
        }
    }
}

pub fn copies(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(TARGET);
    let (sources, target) = sources_and_target(&args);
    let from_example = sources.iter().all(|source| is_example(source));
    files::read_all(walker, &sources, env);
    if let Some(target) = target
        && !(from_example && is_plain_env(target))
    {
        files::write(walker, target, env);
    }
    if command.name == "install" {
        for mode in args.values(&["m", "mode"]) {
            crate::rules::system::mode(walker, mode);
        }
        if args.has('d', "directory") {
            files::write_all(walker, &args.operands, env);
        }
    }
}

/// `.env.example` and its kin.
pub fn is_example(path: &str) -> bool {
    has_any!(
        path,
        ".example .sample .template .dist .defaults .default .tmpl"
    )
}

/// An environment file of the project, which setup instructions make from
/// the example.
pub fn is_plain_env(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with(".env") && !path.contains("..") && !path.starts_with(['/', '~'])
}

/// `host:path` of scp and rsync.
pub fn is_remote(path: &str) -> bool {
    match path.split_once(':') {
        Some((host, _)) => !host.contains('/') && !host.is_empty(),
        None => false,
    }
}

pub fn rsync(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!(
        "efBTMx",
        "rsh exclude include filter files-from exclude-from backup-dir temp-dir"
    ));
    let Some((target, sources)) = args.operands.split_last() else {
        return;
    };
    for text in args.values(&["e", "rsh"]) {
        let program = text.split_whitespace().next().unwrap_or_default();
        if !program.ends_with("ssh") {
            walker.aside(text, env);
        }
    }
    for source in sources.iter().filter(|source| !is_remote(source)) {
        files::read(walker, source, env);
        if args.long("remove-source-files") {
            files::delete(walker, source, env, true);
        }
    }
    if is_remote(target) {
        return;
    }
    let deletes = args.longs.iter().any(|long| long.starts_with("del"));
    if deletes {
        files::delete(walker, target, env, true);
    }
    files::write(walker, target, env);
}

pub fn scp(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!("cFiJloPSX", ""));
    let Some((target, sources)) = args.operands.split_last() else {
        return;
    };
    files::read_all(
        walker,
        sources.iter().filter(|source| !is_remote(source)),
        env,
    );
    if !is_remote(target) && !sources.is_empty() {
        files::write(walker, target, env);
    }
}

pub fn links(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(TARGET);
    let (sources, target) = sources_and_target(&args);
    let symbolic = args.has('s', "symbolic");
    for source in &sources {
        let from_link = from_link(source, target, symbolic);
        files::read(walker, &from_link, env);
        files::linked(walker, source);
    }
    files::write_all(walker, target, env);
}

/// The target of a symbolic link is relative to where the link stands.
pub fn from_link(source: &str, link: Option<&str>, symbolic: bool) -> String {
    match link.and_then(|link| link.rsplit_once('/')) {
        Some((directory, _)) if symbolic && !source.starts_with(['/', '~']) => {
            format!("{directory}/{source}")
        }
        _ => source.to_owned(),
    }
}
