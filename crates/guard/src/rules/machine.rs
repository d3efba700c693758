//! Processes, services, the network and the packages of a machine.

use crate::RuleId;
use crate::meaning::args::Args;
use crate::meaning::mark;
use crate::meaning::walk::{Command, Walker};

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
            let all = args
                .iter()
                .any(|word| word == "-m" || word == "-km" || word == "/");
            if args
                .iter()
                .any(|word| word.contains('k') && word.starts_with('-'))
                && all
            {
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
    let args = Args::read(command.args, takes!("tnopH", "type lines property host"));
    let shows = |word: &str| {
        one_of!(
            word,
            "status show cat list-units list-unit-files is-active is-enabled is-failed
             list-timers list-sessions list-users session-status user-status show-user
             show-session get-default list print list-dependencies list-sockets help
             --status-all"
        )
    };
    let harmless = match command.name {
        "service" | "rc-service" => {
            command.args.len() < 2
                || command
                    .args
                    .iter()
                    .any(|word| word == "status" || word == "--status-all")
        }
        _ => args.operands.is_empty() || args.operands.first().is_some_and(|word| shows(word)),
    };
    if !harmless {
        walker.report(RuleId::SystemService, &command.args.join(" "));
    }
}

pub fn network(walker: &mut Walker, command: &Command) {
    let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let changes = match command.name {
        "ip" => words
            .iter()
            .any(|word| one_of!(*word, "set add del delete flush replace change")),
        "ifconfig" => words.iter().any(|word| matches!(*word, "up" | "down")) || words.len() > 2,
        "route" => words
            .iter()
            .any(|word| matches!(*word, "add" | "del" | "delete" | "flush")),
        "nmcli" => words
            .iter()
            .any(|word| matches!(*word, "down" | "off" | "delete" | "modify" | "up" | "add")),
        "networksetup" => words.iter().any(|word| word.starts_with("-set")),
        "tc" => words
            .iter()
            .any(|word| matches!(*word, "add" | "del" | "change" | "replace")),
        "ufw" => !matches!(words.first(), Some(&"status" | &"version")),
        "nft" => !matches!(words.first(), Some(&"list")),
        "firewall-cmd" => !words.iter().all(|word| {
            word.starts_with("--list") || word.starts_with("--get") || *word == "--state"
        }),
        "pfctl" => !words.iter().any(|word| *word == "-s" || *word == "-sr"),
        _ => !words.iter().all(|word| {
            one_of!(
                *word,
                "-L -n -v -S --list -nvL -nL -t nat --line-numbers -vnL -Ln -nvx"
            )
        }),
    };
    if changes && !words.is_empty() {
        walker.report(RuleId::SystemNetwork, &words.join(" "));
    }
}

pub fn packages(walker: &mut Walker, command: &Command) {
    let removes = command.args.iter().any(|word| {
        one_of!(
            word.as_str(),
            "remove purge autoremove erase uninstall -R -Rs -Rns -e --erase --remove --purge -r
             -P dist-upgrade full-upgrade unlink del --unmerge -Rdd -Rsc -Rnsc"
        )
    });
    let pacman_option = matches!(command.name, "pacman" | "rpm" | "dpkg" | "emerge");
    let is_option_only = command.args.iter().any(|word| word.starts_with('-')) && !pacman_option;
    let first = command
        .args
        .iter()
        .find(|word| !word.starts_with('-'))
        .map_or("", String::as_str);
    let verb_removes = one_of!(
        first,
        "remove purge autoremove erase uninstall del dist-upgrade full-upgrade"
    );
    if (removes && !is_option_only) || verb_removes {
        walker.report(RuleId::SystemPackages, &command.args.join(" "));
    }
}
