//! Programs that work on files: which of their operands are read, written or
//! deleted.

mod archive;
mod copy;
mod edit;
mod read;

use super::files;
use crate::RuleId;
use archive::{other_writers, tar};
use copy::{copies, is_plain_env, links, moves, rsync, scp};
use edit::{editor_commands, in_place_script, sed};
use read::{reads, searches};

use crate::meaning::{Args, Command, Env, Flow, NO_VALUES, Takes, Walker, mark};

pub fn judge(walker: &mut Walker, command: &Command, env: &mut Env) {
    if matches!(command.name, "ex" | "ed" | "vi" | "vim" | "nvim" | "view") {
        editor_commands(walker, command, env);
    }
    match command.name {
        "rm" | "grm" | "rimraf" | "del-cli" | "trash" | "trash-put" | "srm" | "unlink"
        | "rmdir" | "shred" | "wipe" | "del" | "rd" => {
            deletes(walker, command, env);
        }
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
        "tee" | "touch" | "truncate" | "mkdir" | "mkfifo" | "mknod" | "setfacl" | "chattr" => {
            let takes = Takes {
                shorts: match command.name {
                    "truncate" => "sr",
                    "touch" => "drt",
                    "mkdir" => "m",
                    _ => "",
                },
                longs: &["size", "reference", "date", "mode"],
            };
            let args = Args::read(command.args, takes);
            // The attributes of `chattr -i` are an option, those of `chattr +i` a word.
            let is_attribute =
                |word: &&&str| command.name == "chattr" && word.starts_with(['+', '=']);
            for path in args.operands.iter().filter(|word| !is_attribute(word)) {
                if command.name == "touch" && is_plain_env(path) {
                    continue;
                }
                files::write(walker, path, env);
                if command.name == "truncate" {
                    files::emptied(walker, path, env);
                }
            }
        }
        "chmod" | "chown" | "chgrp" => owners(walker, command, env),
        "sed" | "gsed" => sed(walker, command, env),
        "perl" | "ruby" => in_place_script(walker, command, env),
        "dd" | "gdd" => dd(walker, command, env),
        "tar" | "bsdtar" | "gtar" => tar(walker, command, env),
        "jar" => option_path(walker, command, env, "-C"),
        "unzip" | "7z" | "7za" | "7zr" | "gunzip" | "patch" | "split" | "csplit" | "sponge"
        | "ssh-keygen" | "cpio" | "ex" | "ed" => other_writers(walker, command, env),
        "cat" | "tac" | "nl" | "head" | "tail" | "less" | "more" | "bat" | "batcat" | "od"
        | "xxd" | "hexdump" | "hd" | "strings" | "base64" | "base32" | "sort" | "uniq" | "cut"
        | "paste" | "wc" | "fold" | "rev" | "shuf" | "column" | "expand" | "fmt" | "pr"
        | "zcat" | "bzcat" | "xzcat" | "zless" | "vim" | "vi" | "nano" | "emacs" | "view"
        | "code" | "open" | "xdg-open" | "pbcopy" | "xclip" | "gpg" | "zip" | "gzip" | "bzip2"
        | "xz" | "diff" | "cmp" | "comm" | "join" | "sdiff" | "vimdiff" | "colordiff" | "delta"
        | "iconv" | "dos2unix" | "md5sum" | "sha256sum" | "sha1sum" | "cksum" | "look"
        | "source" | "." | "mapfile" | "jq" | "yq" | "gojq" | "dasel" | "xmllint" | "csvtool"
        | "mlr" | "hexyl" | "pygmentize" | "highlight" | "glow" | "mdcat" => {
            reads(walker, command, env);
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "ugrep" | "awk" | "gawk"
        | "mawk" | "nawk" => {
            searches(walker, command, env);
        }
        "ls" | "dir" | "exa" | "eza" | "tree" | "du" => {
            for path in Args::read(command.args, NO_VALUES).operands {
                files::list(walker, path, env);
            }
        }
        "man" => option_text(walker, command, env, "-P"),
        // It runs a program on each of its files.
        "tcpdump" if command.args.iter().any(|word| word == "-z") => {
            walker.report(RuleId::OpaqueCode, "tcpdump -z");
        }
        "make" | "gmake" | "cmake" | "cargo" | "ninja" | "meson" => {
            installs(walker, command, env);
            unknown(walker, command, env);
        }
        _ => unknown(walker, command, env),
    }
}

fn deletes(walker: &mut Walker, command: &Command, env: &Env) {
    let takes = Takes {
        shorts: if command.name == "shred" { "nsi" } else { "" },
        longs: &["iterations", "size"],
    };
    let args = Args::read(command.args, takes);
    let tree = command.name == "rimraf"
        || command.name == "del-cli"
        || args.short('r')
        || args.short('R')
        || args.long_like("recursive", 1);
    if args.long("no-preserve-root") {
        walker.report(RuleId::FsDeleteOutside, "--no-preserve-root");
    }
    for path in &args.operands {
        files::delete(walker, path, env, tree);
    }
}

fn find(walker: &mut Walker, command: &Command, env: &Env) {
    let writes = |flag: &str| matches!(flag, "-fprint" | "-fprintf" | "-fls" | "-fprint0");
    for (flag, path) in command.args.iter().zip(command.args.iter().skip(1)) {
        if writes(flag) {
            files::write(walker, path, env);
        }
    }
    if !command.args.iter().any(|word| word == "-delete") {
        return;
    }
    files::delete_all(walker, crate::meaning::found_paths(command), env);
}

fn owners(walker: &mut Walker, command: &Command, env: &Env) {
    let args = Args::read(command.args, takes!("", "reference from"));
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
        if let Some(path) = word.strip_prefix("if=") {
            files::read(walker, path, env);
        }
        if let Some(path) = word.strip_prefix("of=") {
            files::write(walker, path, env);
        }
    }
}

/// Programs that take a name of a secret without reading it, or words that
/// are no files.
const NAMES_ONLY: &[&str] = words!(
    "npx bunx pnpx uvx npm pnpm yarn uv poetry pipenv foreman honcho overmind env-cmd terraform
     tofu terragrunt mkdir echo printf test [ stat file basename dirname realpath readlink
     which type command git docker docker-compose podman dotenv node export alias gh expect
     eval trap set curl wget openssl ssh ssh-add bash"
);

/// Options that name where the result goes, for most programs that have them.
const OUTPUTS: &[&str] = words!(
    "-o --output --out --outfile --out-file --output-file --outdir --outDir --out-dir
     --output-dir --dest --destination --install-dir --result-file"
);

/// Programs whose last operand is what they make.
fn makes_last(command: &Command) -> bool {
    let first = command.args.first().map_or("", String::as_str);
    match command.name {
        "ffmpeg" | "convert" | "magick" | "objcopy" | "virtualenv" | "unrar" | "unar" | "sox"
        | "cwebp" | "wkhtmltopdf" | "pdftotext" => true,
        "xxd" => command.args.iter().any(|word| word == "-r"),
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
    if let Some(path) = last.filter(|_| makes_last(command)) {
        files::write(walker, path, env);
    }
}

/// An operand of any other program that is exactly a file with secrets.
fn unknown(walker: &mut Walker, command: &Command, env: &Env) {
    outputs(walker, command, env);
    if NAMES_ONLY.contains(&command.name) || crate::meaning::interpret::is_shell(command.name) {
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
    for (flag, text) in command.args.iter().zip(command.args.iter().skip(1)) {
        if flag == option {
            walker.code(text, &mut env.clone(), &Flow::Unknown);
        }
    }
}

/// The value of an option that is a directory where something is put.
fn option_path(walker: &mut Walker, command: &Command, env: &Env, option: &str) {
    for (flag, path) in command.args.iter().zip(command.args.iter().skip(1)) {
        if flag == option {
            files::write(walker, path, env);
        }
    }
}

/// A build tool that puts its results somewhere.
fn installs(walker: &mut Walker, command: &Command, env: &Env) {
    let installs = |word: &String| matches!(word.as_str(), "install" | "--install");
    if !command.args.iter().any(installs) {
        return;
    }
    let takes = takes!("", "prefix root destdir");
    let args = Args::read(command.args, takes);
    files::write_all(walker, args.values(takes.longs), env);
    for (name, path) in command.args.iter().filter_map(|word| word.split_once('=')) {
        if matches!(name, "DESTDIR" | "PREFIX" | "prefix") {
            files::write(walker, path, env);
        }
    }
}
