//! git: what it would throw away, rewrite or force on others.

use super::git_config;
use super::pattern::Call;
use super::table::GIT;
use crate::RuleId;
use crate::mark;
use crate::meaning::{Args, Command, Env, NO_VALUES, Takes, Value, Walker, files};
use crate::paths::{self, Zone, sensitive};
use crate::words::is_one_of;

pub fn judge(walker: &mut Walker, command: &Command, env: &mut Env) {
    let mut rest = command.args;
    let mut elsewhere = env.clone();
    // Global options stand before the verb.
    while let Some((word, after)) = rest.split_first() {
        match word.as_str() {
            "-c" | "--config-env" => {
                if let Some(setting) = after.first() {
                    git_config::setting(walker, setting, env);
                }
                rest = after.get(1..).unwrap_or_default();
            }
            "-C" | "--git-dir" | "--work-tree" => {
                if let Some(directory) = after.first() {
                    elsewhere.directories = walker.directories(directory, &elsewhere);
                }
                rest = after.get(1..).unwrap_or_default();
            }
            "--namespace" | "--exec-path" | "--super-prefix" | "--attr-source" => {
                rest = after.get(1..).unwrap_or_default();
            }
            _ if word.starts_with("--git-dir=") || word.starts_with("--work-tree=") => {
                let directory = word.split_once('=').map_or("", |(_, path)| path);
                elsewhere.directories = walker.directories(directory, &elsewhere);
                rest = after;
            }
            _ if word.starts_with("--exec-path=") => {
                walker.report(RuleId::GitConfigInjection, word);
                rest = after;
            }
            _ if word.starts_with("-c") && word.len() > 2 && !word.starts_with("--") => {
                git_config::setting(walker, word.get(2..).unwrap_or_default(), env);
                rest = after;
            }
            _ if word.starts_with('-') => rest = after,
            _ => break,
        }
    }
    let Some((verb, args)) = rest.split_first() else {
        return;
    };
    if changes_repository(verb, args) && !env.elsewhere {
        for directory in elsewhere.directories.clone() {
            let zone = paths::zone(walker.context, &directory);
            let around = zone == Zone::Project && directory != walker.project();
            let beside = !mark::has_computed(&directory) && (zone == Zone::Outside || around);
            if beside {
                walker.report(RuleId::FsWriteOutside, &directory);
            }
        }
    }
    by_verb(walker, verb, args, &elsewhere);
    match (verb.as_str(), args) {
        ("remote", [how, rest @ ..]) if matches!(how.as_str(), "add" | "set-url") => {
            remote(walker, how, rest, env);
        }
        ("clone", _) => cloned(walker, args, &elsewhere, env),
        _ => {}
    }
}

/// A remote on a host that nobody knows: what is pushed there is gone.
fn remote(walker: &mut Walker, how: &str, words: &[String], env: &mut Env) {
    let takes = takes!("tm", "");
    if let [name, url, ..] = Args::read(words, takes).operands.as_slice()
        && is_unknown_host(url)
    {
        if how == "set-url" {
            walker.report(RuleId::SecretSend, url);
        }
        env.foreign_remotes.push((*name).to_owned());
    }
}

/// Notes where code from a host that nobody knows lies now.
fn cloned(walker: &Walker, args: &[String], from: &Env, env: &mut Env) {
    let operands = Args::read(args, CLONE_TAKES).operands;
    let Some(url) = operands.first().filter(|url| is_unknown_host(url)) else {
        return;
    };
    let name = url.trim_end_matches('/').rsplit(['/', ':']).next();
    let name = name.unwrap_or_default().trim_end_matches(".git");
    let target = operands.get(1).copied().unwrap_or(name);
    let directories = walker.absolute(target, from);
    env.fetched.extend(directories);
}

/// Does it change the repository or the files that it stands in?
fn changes_repository(verb: &str, args: &[String]) -> bool {
    match verb {
        "init" => args.iter().all(|word| word.starts_with('-')),
        "add" | "commit" | "push" | "pull" | "merge" | "rebase" | "reset" | "checkout"
        | "switch" | "restore" | "rm" | "mv" | "am" | "apply" | "cherry-pick" | "revert"
        | "clean" | "gc" | "update-ref" => true,
        _ => false,
    }
}

fn by_verb(walker: &mut Walker, verb: &str, args: &[String], env: &Env) {
    let shown = format!("git {verb} {}", args.join(" "));
    // It opens a page of the manual, whatever else stands there.
    if args
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--help")
    {
        return;
    }
    files_of_options(walker, verb, args, &shown, env);
    if matches!(verb, "switch" | "checkout") && recreates_shared(args) {
        return walker.report(RuleId::GitHistory, &shown);
    }
    if skips_hooks(verb, args) || hooks_are_off(verb, env) {
        walker.report(RuleId::GitSkipHooks, &shown);
    }
    let plain = Args::read(args, NO_VALUES);
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let call = Call {
        operands: &words,
        options: Some(&plain),
        ..Call::default()
    };
    if let Some(rule) = GIT.broken(verb, call) {
        walker.report(rule, &shown);
    }
    by_operands(walker, verb, args, &plain, call, &shown, env);
}

/// `--no-verify`, however short Git lets it be, and `-n` among the letters of
/// a commit.
fn skips_hooks(verb: &str, args: &[String]) -> bool {
    if !one_of!(verb, "commit merge rebase am pull") {
        return false;
    }
    const VALUES: &[&str] = words!(
        "--message --file --author --date --cleanup --template --fixup --squash --trailer
         --reuse-message --reedit-message --pathspec-from-file --strategy --onto --exec"
    );
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            return false;
        } else if word.starts_with("--") {
            if word.len() > 5 && "--no-verify".starts_with(word.as_str()) {
                return true;
            }
            if VALUES.contains(&word.as_str()) {
                words.next();
            }
        } else if let (Some(letters), "commit") = (word.strip_prefix('-'), verb) {
            // These take what follows, the last two only within the word.
            let value = letters.find(['m', 'F', 'C', 'c', 't', 'S', 'u']);
            if letters[..value.unwrap_or(letters.len())].contains('n') {
                return true;
            }
            let takes_next =
                value.is_some_and(|at| at + 1 == letters.len() && !letters.ends_with(['S', 'u']));
            if takes_next {
                words.next();
            }
        }
    }
    false
}

/// The managers of hooks each have a variable that switches them off.
fn hooks_are_off(verb: &str, env: &Env) -> bool {
    let is = |name: &str, words: &[&str]| {
        let value = env.variables.get(name);
        let is_off = |text: &String| words.contains(&text.as_str());
        matches!(value, Some(Value::Texts(texts)) if texts.iter().any(is_off))
    };
    one_of!(verb, "commit merge rebase am")
        && (is("HUSKY", &["0"])
            || is("HUSKY_SKIP_HOOKS", &["1", "true"])
            || is("LEFTHOOK", &["0", "false"]))
}

/// What options of a verb read, write or run.
fn files_of_options(walker: &mut Walker, verb: &str, args: &[String], shown: &str, env: &Env) {
    if one_of!(verb, "diff log show archive format-patch bundle") {
        let takes = takes!("o", "output output-directory");
        let options = Args::read(args, takes);
        let paths = options.values(&["o", "output", "output-directory"]);
        files::write_all(walker, paths, env);
    }
    let runs = |word: &String| match verb {
        "archive" => word.starts_with("--exec"),
        "grep" => is_one_of("--open-files-in-pager=*|-O*", word) && word != "-O",
        _ => false,
    };
    if args.iter().any(runs) {
        walker.report(RuleId::GitConfigInjection, shown);
    }
    if verb == "stash" {
        // What is stashed is as it was before, until somebody takes it back.
        let paths = args.iter().skip_while(|word| *word != "--").skip(1);
        files::write_all(walker, paths, env);
    }
    if matches!(verb, "commit" | "notes" | "tag" | "merge") {
        let takes = takes!("FmCc", "file message");
        let written = Args::read(args, takes);
        files::read_all(walker, written.values(&["F", "file"]), env);
        let is_secret = |path: &&&str| sensitive::is_sensitive(&format!("/{path}"));
        let committed = written.operands.iter().filter(|_| verb == "commit");
        for path in committed.filter(is_secret) {
            walker.report(RuleId::SecretCommit, path);
        }
    }
}

fn by_operands(
    walker: &mut Walker,
    verb: &str,
    args: &[String],
    plain: &Args,
    call: Call,
    shown: &str,
    env: &Env,
) {
    let first = args.first().map_or("", String::as_str);
    match verb {
        "push" | "send-pack" => push(walker, args, shown, env),
        "reset" if plain.long("hard") => walker.report(RuleId::GitResetHard, shown),
        "checkout" => checkout(walker, args, shown),
        "branch" => branch(walker, plain, shown),
        "update-ref"
            if plain.operands.len() > 1
                && (first.contains("heads/") || first == "HEAD")
                && call.is("!-d|--stdin") =>
        {
            walker.report(RuleId::GitHistory, shown)
        }
        // A file whose changes nobody sees is as good as changed.
        "update-index" if call.is("+--assume-unchanged|--skip-worktree") => {
            files::write_all(walker, &plain.operands, env);
        }
        "bundle" if first == "create" => {
            files::write_all(
                walker,
                plain.operands.get(1).filter(|path| **path != "-"),
                env,
            );
        }
        // A sibling of the project is where worktrees live.
        "worktree" if first == "add" => {
            let mut paths = plain.operands.iter().skip(1);
            files::write_all(walker, paths.find(|path| path.starts_with(['/', '~'])), env);
        }
        "rm" if !plain.long("cached") => {
            for path in &plain.operands {
                if matches!(*path, "." | "*" | ":/") || path.starts_with(mark::STAR) {
                    walker.report(RuleId::GitDiscard, shown);
                }
                if !plain.has('n', "dry-run") {
                    files::delete(walker, path, env, true);
                }
            }
        }
        "config" => git_config::command(walker, args, env),
        "clone" | "init" => creates(walker, verb, args, env),
        "remote" if first == "set-url" && args.iter().any(|word| has_password(word)) => {
            walker.report(RuleId::SecretCommit, shown);
        }
        "apply" | "am" => {
            files::read_all(walker, &plain.operands, env);
            files::write_all(walker, plain.values(&["directory"]), env);
        }
        _ => {}
    }
}

/// `https://user:password@host/…`.
fn has_password(url: &str) -> bool {
    let login = url
        .split("://")
        .nth(1)
        .and_then(|rest| rest.split('@').next());
    url.contains('@') && login.is_some_and(|user| user.contains(':'))
}

/// An address that is written out and belongs to no forge that people know.
fn is_unknown_host(to: &str) -> bool {
    const FORGES: &[&str] = words!(
        "github.com gitlab.com bitbucket.org codeberg.org dev.azure.com git.sr.ht localhost"
    );
    let host = match (to.split_once("://"), to.split_once(':')) {
        (Some(("file", _)), _) => return false,
        (Some((_, rest)), _) => rest.split('/').next().unwrap_or(rest),
        (None, Some((host, _))) if host.contains('@') => host,
        _ => return false,
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host);
    !FORGES
        .iter()
        .any(|forge| host == *forge || host.ends_with(&format!(".{forge}")))
}

fn push(walker: &mut Walker, args: &[String], shown: &str, env: &Env) {
    let takes = takes!("o", "push-option repo receive-pack exec");
    let push = Args::read(args, takes);
    if push.has('n', "dry-run") {
        return;
    }
    let goes_away =
        |to: &&str| is_unknown_host(to) || env.foreign_remotes.iter().any(|remote| remote == to);
    if push.operands.first().is_some_and(goes_away) {
        walker.report(RuleId::SecretSend, shown);
    }
    let refers = |start: &'static str| move |to: &&str| to.len() > 1 && to.starts_with(start);
    let mut longs = push.longs.iter();
    if push.has('f', "force") || push.operands.iter().any(refers("+")) {
        walker.report(RuleId::GitForcePush, shown);
    } else if longs.any(|long| long.starts_with("force-with-lease")) {
        walker.report(RuleId::GitForceWithLease, shown);
    }
    let deletes = push.has('d', "delete") || push.operands.iter().skip(1).any(refers(":"));
    if deletes || push.long("prune") {
        walker.report(RuleId::GitDeleteRemote, shown);
    }
    if push.long("mirror") {
        walker.report(RuleId::GitForcePush, shown);
    }
    if push.values(&["receive-pack", "exec"]).next().is_some() {
        walker.report(RuleId::GitConfigInjection, shown);
    }
}

/// `git switch -C main`: a branch that others share begins anew elsewhere.
fn recreates_shared(args: &[String]) -> bool {
    args.windows(2).any(|pair| {
        matches!(pair, [flag, name] if is_one_of("-B|-C|--force-create", flag)
            && one_of!(name.as_str(), "main master develop trunk production release"))
    })
}

fn branch(walker: &mut Walker, args: &Args, shown: &str) {
    let forced = args.has('f', "force");
    if args.short('D') || (args.has('d', "delete") && (forced || args.has('r', "remotes"))) {
        walker.report(RuleId::GitBranchDelete, shown);
    } else if forced && !args.has('m', "move") && args.operands.len() > 1 {
        walker.report(RuleId::GitHistory, shown);
    }
}

/// Endings by which a lone word is a file and not a branch.
const FILE_ENDINGS: &[&str] = words!(
    ".rs .js .ts .tsx .jsx .py .go .java .c .h .cpp .hpp .rb .php .json .toml .yaml .yml .md
     .txt .lock .css .html .sh .sql .xml"
);

fn checkout(walker: &mut Walker, args: &[String], shown: &str) {
    let takes = takes!("bB", "orphan conflict pathspec-from-file");
    let separator = args.iter().position(|word| word == "--");
    let (options, _) = args.split_at(separator.unwrap_or(args.len()));
    let before = Args::read(options, takes);
    let creates = before.short('b') || before.short('B') || before.long("orphan");
    let has_paths = separator.is_some_and(|at| at + 1 < args.len());
    let forced = before.has('f', "force");
    let looks_like_path = |word: &&str| {
        matches!(*word, "." | "*" | ":/")
            || is_one_of("*/|./*|../*", word)
            || word.contains(mark::is_glob)
            || FILE_ENDINGS.iter().any(|ending| word.ends_with(ending))
    };
    let mut operands = before.operands.iter();
    let discards = has_paths
        || forced
        || before.long("ours")
        || before.long("theirs")
        || before.long("pathspec-from-file")
        || (!creates && (operands.any(looks_like_path) || before.operands.len() > 1));
    if discards {
        walker.report(RuleId::GitDiscard, shown);
    }
}

const CLONE_TAKES: Takes = takes!(
    "bocju",
    "branch origin config depth reference template separate-git-dir filter initial-branch
     upload-pack jobs"
);

/// `git clone url directory` writes there.
fn creates(walker: &mut Walker, verb: &str, args: &[String], env: &Env) {
    let options = Args::read(args, CLONE_TAKES);
    for setting in options.values(&["c", "config"]) {
        git_config::setting(walker, setting, env);
    }
    for template in options
        .values(&["template"])
        .filter(|path| !path.is_empty())
    {
        walker.report(RuleId::GitConfigInjection, template);
    }
    let target = options.operands.get(usize::from(verb == "clone"));
    files::write_all(walker, target, env);
}
