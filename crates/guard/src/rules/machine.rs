//! Processes, services, the network and the packages of a machine.

use super::pattern::Call;
use super::table::NETWORK;
use crate::RuleId;
use crate::meaning::{Args, Command, Walker, mark};
use crate::words::is_one_of;

/// Programs without which the machine or the loop itself stops.
const VITAL: &[&str] = words!(
    "systemd init sshd ssh dockerd containerd kubelet launchd Xorg gnome-shell WindowServer
     ralph claude codex gemini cursor-agent dbus-daemon NetworkManager loginwindow Finder bash
     opencode"
);

/// Those of them that belong to the loop, whatever they were told to do.
const LOOP: &[&str] = words!("ralph claude codex gemini cursor-agent opencode");

/// Does the machine or the loop need this program?
pub fn is_vital(name: &str) -> bool {
    let name = name.trim_matches(['^', '$']);
    let program = name.split(' ').next().unwrap_or(name);
    // `bash build.sh` is somebody's script, `ralph run` is the loop.
    VITAL.contains(&name) || program != name && LOOP.contains(&program)
}

pub fn processes(walker: &mut Walker, command: &Command) {
    let args = command.args;
    match command.name {
        "killall5" | "xkill" => walker.report(RuleId::SystemProcess, command.name),
        "kill" => {
            let mut words = args.iter().peekable();
            let mut signal_seen = false;
            while let Some(word) = words.next() {
                if matches!(word.as_str(), "-s" | "-n" | "--signal") {
                    words.next();
                    signal_seen = true;
                    continue;
                }
                if word == "-l" || word == "-0" || word == "--list" {
                    return;
                }
                let number: Option<i64> = word.parse().ok();
                let is_signal = word.starts_with('-')
                    && !signal_seen
                    && word != "-1"
                    && number.is_none_or(|n| n > -65);
                if is_signal || word == "--" {
                    signal_seen = true;
                    continue;
                }
                if word == "-1" && !signal_seen && words.peek().is_some() {
                    signal_seen = true;
                    continue;
                }
                if matches!(number, Some(-1..=1)) {
                    walker.report(RuleId::SystemProcess, &args.join(" "));
                }
            }
        }
        "fuser" => {
            let kills = |word: &String| word.starts_with('-') && word.contains('k');
            if args.iter().any(kills) && command.has("-m|-km|/") {
                walker.report(RuleId::SystemProcess, "fuser");
            }
        }
        _ => {
            let takes = takes!("ugGPtsF", "user uid group parent signal euid");
            let options = Args::read(args, takes);
            let by_user = options
                .values(&["u", "user", "uid", "euid", "U"])
                .next()
                .is_some()
                || options.short('u');
            let everything = |pattern: &&str| {
                pattern
                    .trim_matches(['.', '*', '^', '$', mark::STAR])
                    .is_empty()
            };
            let names = options.operands.iter();
            if by_user && options.operands.is_empty()
                || names.clone().any(|name| everything(name) || is_vital(name))
            {
                walker.report(RuleId::SystemProcess, &args.join(" "));
            }
            if command.name == "pkill" && options.short('v') {
                walker.report(RuleId::SystemProcess, &args.join(" "));
            }
        }
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
    let call = Call {
        operands: &command.words(),
        words: command.args,
        ..Call::default()
    };
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
