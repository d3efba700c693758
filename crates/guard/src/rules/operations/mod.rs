//! Programs that work on files: which of their operands are read, written or
//! deleted.

mod archive;
mod copy;
mod edit;
mod effects;
mod read;

use crate::RuleId;
use archive::{seven_zip, tar};
use copy::{copies, is_plain_env, links, moves, rsync, scp};
use edit::{editor_commands, in_place_script, sed};
use read::{queries, searches};

use crate::mark;
use crate::meaning::{Command, Env, Flow, Takes, Walker, files, known};
use crate::words::Words;

pub fn judge(walker: &mut Walker, command: &Command, env: &mut Env) {
    if matches!(command.name, "ex" | "ed" | "vi" | "vim" | "nvim" | "view") {
        editor_commands(walker, command, env);
    }
    listed(walker, command, env);
    if command.name == "zip" {
        option_text(walker, command, env, "-TT");
    }
    if effects::judge(walker, command, env) {
        return;
    }
    match command.name {
        "rm" | "grm" | "rimraf" | "del-cli" | "trash" | "trash-put" | "srm" | "unlink"
        | "rmdir" | "shred" | "wipe" | "del" | "rd" => deletes(walker, command, env),
        "gio" => {
            if let [verb, paths @ ..] = command.args
                && matches!(verb.as_str(), "trash" | "remove")
            {
                files::delete_all(walker, paths, env);
            }
        }
        "find" | "gfind" => find(walker, command, env),
        "mv" | "gmv" => moves(walker, command, env),
        "cp" | "gcp" | "install" | "ditto" => copies(walker, command, env),
        "rsync" => rsync(walker, command, env),
        "scp" | "sftp" => scp(walker, command, env),
        "ln" | "gln" | "link" => links(walker, command, env),
        "touch" => {
            let mut paths = command
                .read(takes!("drt", "size reference date mode"))
                .operands;
            paths.retain(|path| !is_plain_env(path));
            files::write_all(walker, paths, env);
        }
        "truncate" => {
            for path in command
                .read(takes!("sr", "size reference date mode"))
                .operands
            {
                files::write(walker, path, env);
                files::emptied(walker, path, env);
            }
        }
        "chattr" => {
            // The attributes of `chattr -i` are an option, those of `chattr +i` a word.
            let mut paths = command
                .read(takes!("", "size reference date mode"))
                .operands;
            paths.retain(|word| !word.starts_with(['+', '=']));
            files::write_all(walker, paths, env);
        }
        "chmod" | "chown" | "chgrp" => owners(walker, command, env),
        "sed" | "gsed" => sed(walker, command, env),
        "perl" | "ruby" => in_place_script(walker, command, env),
        "dd" | "gdd" => dd(walker, command, env),
        "tar" | "bsdtar" | "gtar" => tar(walker, command, env),
        "jar" => option_path(walker, command, env, "-C"),
        "7z" | "7za" | "7zr" => seven_zip(walker, command, env),
        "ssh-keygen" => {
            let args = command.read(takes!("tbfCNPF", "output directory input"));
            // It shows a fingerprint or looks a host up.
            if !args.short('l') && !args.short('F') {
                files::write_all(walker, args.values(&["f"]), env);
            }
        }
        "jq" | "gojq" | "yq" => queries(walker, command, env),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "ugrep" | "awk" | "gawk"
        | "mawk" | "nawk" => searches(walker, command, env),
        "man" => option_text(walker, command, env, "-P"),
        // It runs a program on each of its files.
        "tcpdump" if command.has("-z") => walker.report(RuleId::OpaqueCode, "tcpdump -z"),
        "make" | "gmake" | "cmake" | "cargo" | "ninja" | "meson" => {
            installs(walker, command, env);
            unknown(walker, command, env);
        }
        _ => unknown(walker, command, env),
    }
}

/// Programs that read the names of their files from a list.
fn listed(walker: &mut Walker, command: &Command, env: &Env) {
    let lists: Vec<&str> = match command.name {
        "zip" if command.has("-@|--names-stdin") => vec!["-"],
        "cpio" | "pax" if command.has("-o*|-w*|--create") => vec!["-"],
        "tar" | "gtar" | "bsdtar" => {
            let args = command.read(takes!("fCTXIb", "file directory files-from"));
            args.values(&["T", "files-from"]).collect()
        }
        "rsync" => {
            let args = command.read(takes!("e", "files-from rsh"));
            args.values(&["files-from"]).collect()
        }
        _ => return,
    };
    for list in lists {
        let flow = match list {
            "-" | "/dev/stdin" => command.stdin.clone(),
            path => walker.file_flow(path, env),
        };
        if let Flow::Text(text) = flow {
            files::read_all(walker, text.lines().take(64), env);
        }
    }
}

fn deletes(walker: &mut Walker, command: &Command, env: &Env) {
    let takes = Takes {
        shorts: if command.name == "shred" { "nsi" } else { "" },
        longs: &["iterations", "size"],
    };
    let args = command.read(takes);
    let tree = command.name == "rimraf"
        || command.name == "del-cli"
        || args.short('r')
        || args.short('R')
        || args.long("recursive");
    for path in &args.operands {
        files::delete(walker, path, env, tree);
    }
    // What it would delete says more than how.
    if args.long("no-preserve-root") {
        walker.report(RuleId::FsDeleteOutside, "--no-preserve-root");
    }
}

fn find(walker: &mut Walker, command: &Command, env: &Env) {
    for option in ["-fprint", "-fprintf", "-fls", "-fprint0"] {
        option_path(walker, command, env, option);
    }
    if command.has("-delete") {
        files::delete_all(walker, crate::meaning::found_paths(command), env);
    }
}

fn owners(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!("", "reference from"));
    let mode_is_option = command.name == "chmod"
        && command.args.iter().any(|word| {
            word.len() > 1
                && word.starts_with('-')
                && word.chars().skip(1).all(|c| "rwxXst".contains(c))
        });
    let skip = usize::from(!mode_is_option && !args.long("reference"));
    for path in args.operands.iter().skip(skip) {
        let name_is_env = is_plain_env(path);
        if !name_is_env && !is_own_key(path, walker) {
            files::write(walker, path, env);
        }
    }
}

/// `chmod 600 server.pem` tightens; only files below the project.
fn is_own_key(path: &str, walker: &Walker) -> bool {
    !path.contains("..")
        && !path.starts_with(['/', '~'])
        && !walker.project().is_empty()
        && [".pem", ".key"].iter().any(|ending| path.ends_with(ending))
}

fn dd(walker: &mut Walker, command: &Command, env: &Env) {
    for word in command.args {
        files::read_all(walker, word.strip_prefix("if="), env);
        files::write_all(walker, word.strip_prefix("of="), env);
    }
}

/// Programs that take a name of a secret without reading it, or words that
/// are no files.
static NAMES_ONLY: Words = Words::new(words!(
    "npx bunx pnpx uvx npm pnpm yarn uv poetry pipenv foreman honcho overmind env-cmd terraform
     tofu terragrunt mkdir echo printf test [ stat file basename dirname realpath readlink
     which type command git docker docker-compose podman dotenv node export alias gh expect
     eval trap set curl wget openssl ssh ssh-add bash"
));

/// Options that name where the result goes, for most programs that have them.
const OUTPUTS: &[&str] = words!(
    "-o --output --out --outfile --out-file --output-file --outdir --outDir --out-dir
     --output-dir --dest --destination --install-dir --result-file"
);

/// Programs whose last operand is what they make.
fn makes_last(command: &Command) -> bool {
    let first = command.first();
    match command.name {
        "ffmpeg" | "convert" | "magick" | "objcopy" | "virtualenv" | "unrar" | "unar" | "sox"
        | "cwebp" | "wkhtmltopdf" | "pdftotext" => true,
        "xxd" => command.has("-r"),
        "plutil" => command.has("-convert|-replace|-insert|-remove"),
        "cargo" => matches!(first, "new" | "init"),
        "rails" | "hugo" | "django-admin" => matches!(first, "new" | "startproject"),
        "npm" | "pnpm" | "yarn" | "bun" => first == "create",
        name => name.starts_with("create-"),
    }
}

/// Where the result of any other program goes, if that is far away.
fn outputs(walker: &mut Walker, command: &Command, env: &Env) {
    let leads_away = |path: &str| path.starts_with(['/', '~']) || path.contains("..");
    for (at, word) in command.args.iter().enumerate() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), command.args.get(at + 1).map(String::as_str)),
        };
        if let Some(path) = value.filter(|path| OUTPUTS.contains(&option) && leads_away(path)) {
            files::write(walker, path, env);
        }
    }
    let last = command.args.last().filter(|path| leads_away(path));
    files::write_all(walker, last.filter(|_| makes_last(command)), env);
}

/// An operand of any other program that is exactly a file with secrets.
fn unknown(walker: &mut Walker, command: &Command, env: &Env) {
    outputs(walker, command, env);
    if NAMES_ONLY.contains(&command.name) || known::is_shell(command.name) {
        return;
    }
    for word in command.args {
        if let Some((option, value)) = word
            .strip_prefix("--")
            .and_then(|word| word.split_once('='))
            && !option.contains("env")
        {
            files::mentioned(walker, value, env);
        }
        let is_file = !word.starts_with('-')
            && !word.contains([' ', '=', ':', '('])
            && !mark::has_computed(word);
        if is_file {
            files::mentioned(walker, word, env);
        }
    }
}

/// The value of an option that is run as a command.
fn option_text(walker: &mut Walker, command: &Command, env: &Env, option: &str) {
    for (_, text) in command.pairs().filter(|(flag, _)| *flag == option) {
        walker.aside(text, env);
    }
}

/// The value of an option that is a directory where something is put.
fn option_path(walker: &mut Walker, command: &Command, env: &Env, option: &str) {
    let given = command.pairs().filter(|(flag, _)| *flag == option);
    files::write_all(walker, given.map(|(_, path)| path), env);
}

/// A build tool that puts its results somewhere.
fn installs(walker: &mut Walker, command: &Command, env: &Env) {
    if !command.has("install|--install") {
        return;
    }
    let args = command.read(takes!("", "prefix root destdir"));
    files::write_all(walker, args.values(&["prefix", "root", "destdir"]), env);
    for (name, path) in command.args.iter().filter_map(|word| word.split_once('=')) {
        if matches!(name, "DESTDIR" | "PREFIX" | "prefix") {
            files::write(walker, path, env);
        }
    }
}
