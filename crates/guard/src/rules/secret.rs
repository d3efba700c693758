//! Secrets: variables, stores and files that are printed, sent or committed.

use super::pattern::Call;
use super::table::STORES;
use crate::RuleId;
use crate::mark;
use crate::meaning::known::is_secret_variable;
use crate::meaning::{Command, Env, Walker, files};
use crate::paths::sensitive;
use crate::words::is_one_of;

pub fn judge(walker: &mut Walker, command: &Command, env: &mut Env) {
    let args = command.args;
    let shows_environment = match command.name {
        "printenv" => {
            let mut names = args.iter().filter(|word| !word.starts_with('-')).peekable();
            names.peek().is_none() || names.any(|name| is_secret_variable(name))
        }
        "env" => {
            let runs = |word: &String| !word.starts_with('-') && !word.contains('=');
            !args.iter().any(runs) && !command.has("--version|--help")
        }
        "set" => args.is_empty(),
        "echo" | "printf" => args.iter().any(|word| word.contains(mark::SECRET)),
        "cat" | "tee" | "base64" | "xxd" | "od" | "sort" | "head" | "tail" | "nl" => {
            command.stdin_text().contains(mark::SECRET)
        }
        "jq" | "gojq" | "yq" => args.iter().any(|word| queries_environment(word)),
        "ps" => {
            // Options without a dash: among them `e` shows the environment.
            let first = command.first();
            let bundle = first.chars().all(|c| "aAxeuwfjlrTgks".contains(c));
            bundle && first.contains('e') || command.has("e|eww")
        }
        _ => false,
    };
    if shows_environment {
        return walker.report(RuleId::SecretEnvironment, command.name);
    }
    match command.name {
        "export" | "declare" | "typeset" | "readonly" => exports(walker, command),
        "git" => git(walker, args),
        "openssl" if !command.has("x509|-pubout|req|verify") => {
            let inputs = command.pairs().filter(|(flag, _)| *flag == "-in");
            files::read_all(walker, inputs.map(|(_, path)| path), env);
        }
        "gdb" | "gcore" | "strace" if command.has("-p|--pid") => {
            walker.report(RuleId::SecretStore, command.name);
        }
        "mail" | "mailx" | "sendmail" | "mutt" => walker.report(RuleId::SecretSend, command.name),
        _ => store(walker, command),
    }
}

/// `env.NAME` is a variable, `.env.NAME` a field of the document.
fn queries_environment(filter: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    one_of!(filter.trim(), "env $ENV env|. $ENV|.")
        || filter
            .split(|c: char| !is_part(c))
            .filter_map(|path| path.strip_prefix("env.").or(path.strip_prefix("$ENV.")))
            .any(is_secret_variable)
}

/// Values that stand for a secret in a test.
const DUMMIES: &[&str] =
    words!("test dummy fake changeme example xxx x foo bar secret password placeholder local");

fn exports(walker: &mut Walker, command: &Command) {
    let prints = match command.args {
        [] => command.name != "readonly",
        [word] => is_one_of("-p*|-x", word),
        _ => false,
    };
    if prints {
        walker.report(RuleId::SecretEnvironment, command.name);
    }
    let exports = match command.name {
        "export" => true,
        "declare" | "typeset" => {
            let has_x = |word: &String| word.starts_with('-') && word.contains('x');
            command.args.iter().any(has_x)
        }
        _ => false,
    };
    if !exports {
        return;
    }
    for (name, value) in command.args.iter().filter_map(|word| word.split_once('=')) {
        let plain = value.trim_matches(['"', '\'']).to_ascii_lowercase();
        let dummy = plain.is_empty()
            || DUMMIES.contains(&plain.as_str())
            || is_one_of("test*|dummy*|fake*", &plain)
            || mark::has_computed(value);
        if is_secret_variable(&in_capitals(name)) && !dummy && name != "DATABASE_URL" {
            walker.report(RuleId::SecretExport, name);
        }
    }
}

/// `apiSecret` as `API_SECRET`: what is exported is meant for programs, however
/// it is spelt.
fn in_capitals(name: &str) -> String {
    let mut capitals = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if was_small && letter.is_ascii_uppercase() {
            capitals.push('_');
        }
        was_small = letter.is_ascii_lowercase();
        capitals.push(letter.to_ascii_uppercase());
    }
    capitals
}

/// git shows and commits files: a secret among them is named on the line.
fn git(walker: &mut Walker, args: &[String]) {
    let mut words = args.iter().skip_while(|word| word.starts_with('-'));
    let verb = words.next().map_or("", String::as_str);
    let shows = one_of!(
        verb,
        "show cat-file diff blame annotate grep log archive stash"
    );
    let adds = one_of!(verb, "add stage update-index hash-object");
    let asks = |word: &String| word == "fill" || word == "get";
    if verb.starts_with("credential") && words.clone().any(asks) {
        walker.report(RuleId::SecretStore, "git credential fill");
    }
    if !shows && !adds {
        return;
    }
    let prints = !matches!(verb, "log" | "stash")
        || args
            .iter()
            .any(|word| matches!(word.as_str(), "-p" | "--patch" | "-u" | "show"));
    if verb == "grep" {
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
        if !path.is_empty() && prints && sensitive::is_sensitive(&name) && verb != "grep" {
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
    let call = Call::of(&words, command.args);
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
