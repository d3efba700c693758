//! Processes, services, the network and the packages of a machine.

use super::pattern::Call;
use super::table::NETWORK;
use crate::RuleId;
use crate::mark;
use crate::meaning::known::is_vital;
use crate::meaning::{Command, Walker};
use crate::words::is_one_of;

pub fn processes(walker: &mut Walker, command: &Command) {
    let args = command.args;
    match command.name {
        "killall5" | "xkill" => walker.report(RuleId::SystemProcess, command.name),
        "kill" => kills(walker, args),
        "fuser" => {
            let kills = |word: &String| word.starts_with('-') && word.contains('k');
            if args.iter().any(kills) && command.has("-m|-km|/") {
                walker.report(RuleId::SystemProcess, "fuser");
            }
        }
        _ => {
            let options = command.read(takes!("ugGPtsF", "user uid group parent signal euid"));
            let users = ["u", "user", "uid", "euid", "U"];
            let by_user = options.values(&users).next().is_some() || options.short('u');
            let marks = ['.', '*', '^', '$', mark::STAR];
            let vital = |name: &&str| name.trim_matches(marks).is_empty() || is_vital(name);
            let mut names = options.operands.iter();
            if by_user && options.operands.is_empty() || names.any(vital) {
                walker.report(RuleId::SystemProcess, &args.join(" "));
            }
            if command.name == "pkill" && options.short('v') {
                walker.report(RuleId::SystemProcess, &args.join(" "));
            }
        }
    }
}

/// A process is named by its number: everything, the own group or the first.
fn kills(walker: &mut Walker, args: &[String]) {
    let mut words = args.iter().peekable();
    let mut signal_seen = false;
    while let Some(word) = words.next() {
        let number: Option<i64> = word.parse().ok();
        let is_signal = word.starts_with('-') && !signal_seen && number.is_none_or(|n| n > -65);
        match word.as_str() {
            "-l" | "-0" | "--list" => return,
            "-s" | "-n" | "--signal" => drop(words.next()),
            "--" => {}
            // The last word is whom it ends.
            "-1" if is_signal && words.peek().is_some() => {}
            word if is_signal && word != "-1" => {}
            _ => {
                if matches!(number, Some(-1..=1)) {
                    walker.report(RuleId::SystemProcess, &args.join(" "));
                }
                continue;
            }
        }
        signal_seen = true;
    }
}

pub fn services(walker: &mut Walker, command: &Command) {
    let harmless = match command.name {
        "service" | "rc-service" => command.args.len() < 2 || command.has("status|--status-all"),
        _ => {
            let operands = command.read(takes!("tnopH", "type lines property host"));
            operands.operands.first().is_none_or(|verb| {
                one_of!(
                    *verb,
                    "status show cat list-units list-unit-files is-active is-enabled is-failed
                     list-timers list-sessions list-users session-status user-status show-user
                     show-session get-default list print list-dependencies list-sockets help
                     --status-all"
                )
            })
        }
    };
    if !harmless {
        walker.report(RuleId::SystemService, &command.args.join(" "));
    }
}

pub fn network(walker: &mut Walker, command: &Command) {
    if !NETWORK.knows(command.name) {
        return;
    }
    let words = command.words();
    let call = Call::of(&words, command.args);
    if let Some(rule) = NETWORK.broken(command.name, call) {
        walker.report(rule, &command.args.join(" "));
    }
}

pub fn packages(walker: &mut Walker, command: &Command) {
    const VERBS: &str = "remove|purge|autoremove|erase|uninstall|del|dist-upgrade|full-upgrade";
    const OPTIONS: &str =
        "-R|-Rs|-Rns|-e|--erase|--remove|--purge|-r|-P|unlink|--unmerge|-Rdd|-Rsc|-Rnsc";
    let is_option = |word: &&String| word.starts_with('-');
    // Elsewhere an option of that name means something else.
    let by_option = one_of!(command.name, "pacman rpm dpkg emerge");
    let plain = by_option || !command.args.iter().any(|word| is_option(&word));
    let verb = command.args.iter().find(|word| !is_option(word));
    if plain && (command.has(VERBS) || command.has(OPTIONS))
        || verb.is_some_and(|verb| is_one_of(VERBS, verb))
    {
        walker.report(RuleId::SystemPackages, &command.args.join(" "));
    }
}
