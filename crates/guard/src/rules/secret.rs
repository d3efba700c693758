//! Secrets: variables, stores and files that are printed, sent or committed.

use super::files;
use super::pattern::Call;
use super::table::STORES;
use crate::RuleId;
use crate::meaning::{Args, Command, Env, Flow, NO_VALUES, Walker, mark};
use crate::paths::sensitive;
use crate::words::is_one_of;

/// Words that make a variable's name the name of a secret, as its last part.
const SECRET_WORDS: &[&str] = words!(
    "SECRET KEY PASSWORD PASSWD TOKEN CREDENTIALS CREDENTIAL APIKEY PASS PWD PASSPHRASE PAT"
);

/// Names that end like a secret and are none.
const HARMLESS: &[&str] = words!(
    "PWD OLDPWD PRIMARY_KEY PUBLIC_KEY CACHE_KEY SORT_KEY FOREIGN_KEY PARTITION_KEY KEY
     INIT_CWD"
);

pub fn is_secret_variable(name: &str) -> bool {
    if HARMLESS.contains(&name) || name.is_empty() || name.len() > 80 {
        return false;
    }
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return false;
    }
    let parts: Vec<&str> = name.split('_').collect();
    let last = parts.last().copied().unwrap_or_default();
    if last == "PWD" || last == "PAT" || last == "PASS" {
        return parts.len() > 1 && name != "OLD_PWD";
    }
    SECRET_WORDS.contains(&last)
        || parts.contains(&"SECRET")
        || parts.contains(&"PASSWORD")
        || name.ends_with("APIKEY")
        || name.ends_with("SECRETKEY")
        || name == "DATABASE_URL"
        || name.starts_with("AWS_SECRET")
}

/// Does this filter let only lines through that hold no secret?
pub fn keeps_only_harmless_lines(argv: &[String]) -> bool {
    let Some((program, args)) = argv.split_first() else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    // `echo "$TOKEN" | docker login --password-stdin` keeps it off the screen.
    if args
        .iter()
        .any(|word| word == "--password-stdin" || word == "--with-token")
    {
        return true;
    }
    match name {
        "wc" => true,
        "grep" | "egrep" | "rg" | "fgrep" => {
            let args = Args::read(args, NO_VALUES);
            if args.short('v') || args.long("invert-match") {
                return false;
            }
            if args.has('c', "count") || args.has('q', "quiet") {
                return true;
            }
            args.operands.first().is_some_and(|pattern| {
                let upper = mark::unmark(pattern).to_ascii_uppercase();
                let vague = upper.chars().filter(char::is_ascii_alphabetic).count() < 3;
                let wanted = [
                    "SECRET", "KEY", "TOKEN", "PASS", "CRED", "AUTH", "API", "AWS", "PWD", "PRIV",
                ];
                !vague && !wanted.iter().any(|word| upper.contains(word))
            })
        }
        "cut" => {
            args.iter().any(|word| word == "-f1" || word == "-f")
                && args
                    .iter()
                    .any(|word| word == "-d=" || word == "=" || word == "-d")
        }
        _ => false,
    }
}

pub fn judge(walker: &mut Walker, command: &Command, env: &mut Env) {
    let args = command.args;
    match command.name {
        "printenv" => {
            let names: Vec<&String> = args.iter().filter(|a| !a.starts_with('-')).collect();
            if names.is_empty() || names.iter().any(|name| is_secret_variable(name)) {
                walker.report(RuleId::SecretEnvironment, command.name);
            }
        }
        "env" => {
            let runs = args
                .iter()
                .any(|word| !word.starts_with('-') && !word.contains('='));
            let asks = args
                .iter()
                .any(|word| word == "--version" || word == "--help");
            if !runs && !asks {
                walker.report(RuleId::SecretEnvironment, command.name);
            }
        }
        "set" if args.is_empty() => walker.report(RuleId::SecretEnvironment, command.name),
        "export" | "declare" | "typeset" | "readonly" => exports(walker, command),
        "compgen" if args.iter().any(|word| word == "-e") => {}
        "echo" | "printf" => {
            if args.iter().any(|word| word.contains(mark::SECRET)) {
                walker.report(RuleId::SecretEnvironment, command.name);
            }
        }
        "cat" | "tee" | "base64" | "xxd" | "od" | "sort" | "head" | "tail" | "nl" => {
            if matches!(command.stdin, Flow::Text(text) if text.contains(mark::SECRET)) {
                walker.report(RuleId::SecretEnvironment, command.name);
            }
        }
        "git" => git(walker, args),
        "jq" | "gojq" | "yq" => {
            let shows = |word: &String| matches!(word.trim(), "env" | "$ENV" | "env|." | "$ENV|.");
            // `env.NAME` is a variable, `.env.NAME` a field of the document.
            let named = |word: &String| {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
                word.split(|c: char| !is_part(c))
                    .filter_map(|path| path.strip_prefix("env.").or(path.strip_prefix("$ENV.")))
                    .any(is_secret_variable)
            };
            if args.iter().any(|word| shows(word) || named(word)) {
                walker.report(RuleId::SecretEnvironment, command.name);
            }
        }
        "gpg" => {
            if args.iter().any(|word| {
                word.starts_with("--export-secret")
                    || word.starts_with("--delete-secret")
                    || word == "-d"
                    || word == "--decrypt"
            }) {
                walker.report(RuleId::SecretStore, command.name);
            }
        }
        "openssl" => {
            for (flag, path) in args.iter().zip(args.iter().skip(1)) {
                let private = flag == "-in"
                    && !args.iter().any(|word| {
                        word == "x509" || word == "-pubout" || word == "req" || word == "verify"
                    });
                if private {
                    files::read(walker, path, env);
                }
            }
        }
        "gdb" | "gcore" | "strace" if args.iter().any(|word| word == "-p" || word == "--pid") => {
            walker.report(RuleId::SecretStore, command.name);
        }
        "ps" => {
            // Options without a dash: among them `e` shows the environment.
            let bundle = |word: &String| word.chars().all(|c| "aAxeuwfjlrTgks".contains(c));
            let shows_environment = args
                .first()
                .is_some_and(|word| bundle(word) && word.contains('e'))
                || args.iter().any(|word| word == "e" || word == "eww");
            if shows_environment {
                walker.report(RuleId::SecretEnvironment, command.name);
            }
        }
        "mail" | "mailx" | "sendmail" | "mutt" => walker.report(RuleId::SecretSend, command.name),
        _ => store(walker, command),
    }
}

/// Values that stand for a secret in a test.
const DUMMIES: &[&str] =
    words!("test dummy fake changeme example xxx x foo bar secret password placeholder local");

fn exports(walker: &mut Walker, command: &Command) {
    let prints = command
        .args
        .iter()
        .any(|word| word.starts_with("-p") || word == "-x" && command.args.len() == 1)
        || (command.args.is_empty() && command.name != "readonly");
    let names_function = command.has("-f*|-F");
    if prints && command.args.len() < 2 && !names_function {
        walker.report(RuleId::SecretEnvironment, command.name);
    }
    if command.name != "export" {
        return;
    }
    for (name, value) in command.args.iter().filter_map(|word| word.split_once('=')) {
        let plain = value.trim_matches(['"', '\'']).to_ascii_lowercase();
        let dummy = plain.is_empty()
            || DUMMIES.contains(&plain.as_str())
            || plain.starts_with("test")
            || plain.starts_with("dummy")
            || plain.starts_with("fake");
        if is_secret_variable(name)
            && !dummy
            && !mark::has_computed(value)
            && name != "DATABASE_URL"
        {
            walker.report(RuleId::SecretExport, name);
        }
    }
}

/// git shows and commits files: a secret among them is named on the line.
fn git(walker: &mut Walker, args: &[String]) {
    let mut words = args.iter().skip_while(|word| word.starts_with('-'));
    let verb = words.next().map(String::as_str);
    let shows = matches!(
        verb,
        Some(
            "show"
                | "cat-file"
                | "diff"
                | "blame"
                | "annotate"
                | "grep"
                | "log"
                | "archive"
                | "stash"
        )
    );
    let adds = matches!(verb, Some("add" | "stage" | "update-index" | "hash-object"));
    let asks = |word: &String| word == "fill" || word == "get";
    if verb.is_some_and(|verb| verb.starts_with("credential")) && words.clone().any(asks) {
        walker.report(RuleId::SecretStore, "git credential fill");
    }
    if !shows && !adds {
        return;
    }
    let prints = !matches!(verb, Some("log" | "stash"))
        || args
            .iter()
            .any(|word| matches!(word.as_str(), "-p" | "--patch" | "-u" | "show"));
    if verb == Some("grep") {
        let files = args.iter().skip_while(|word| *word != "--").skip(1);
        for word in files.filter(|word| sensitive::is_sensitive(&format!("/{word}"))) {
            walker.report(RuleId::SecretFile, word);
        }
    }
    for word in words.filter(|word| !word.starts_with('-')) {
        let path = match word.split_once(':') {
            Some((_, path)) if shows => path,
            _ => word,
        };
        let name = format!("/{}", path.trim_start_matches("./"));
        if !path.is_empty() && prints && sensitive::is_sensitive(&name) && verb != Some("grep") {
            walker.report(
                if adds {
                    RuleId::SecretCommit
                } else {
                    RuleId::SecretFile
                },
                word,
            );
        }
    }
}

/// Programs that hand out what a store keeps.
fn store(walker: &mut Walker, command: &Command) {
    let known = STORES.knows(command.name) || one_of!(command.name, "pnpm yarn dotenv");
    if !known || command.has("--help|--help=*") {
        return;
    }
    let words = command
        .read(super::cloud::global_options(command.name))
        .operands;
    let call = Call {
        operands: &words,
        words: command.args,
        ..Call::default()
    };
    let secret = STORES.broken(command.name, call).is_some()
        || match (command.name, words.as_slice()) {
            ("npm" | "pnpm" | "yarn", ["config" | "c", "get", name, ..] | ["get", name, ..]) => {
                is_one_of("*token*|*password*|*_auth", &name.to_ascii_lowercase())
            }
            ("dotenv", [.., "list" | "get"] | [.., "get", _]) => true,
            _ => false,
        };
    if secret {
        walker.report(RuleId::SecretStore, command.name);
    }
}
