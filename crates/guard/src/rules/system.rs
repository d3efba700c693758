//! Privilege, permissions, processes and the system itself.

use super::loader::{agent, copied_binary, is_agent, own_binary, run_from_source};
use super::machine::{network, packages, processes, services};
use super::pattern::Call;
use super::table::SYSTEM;
use crate::RuleId;
use crate::meaning::{Args, Command, NO_VALUES, Walker};

pub fn judge(walker: &mut Walker, command: &Command) {
    let args = command.args;
    let asks = one_of!(command.first(), "--version -V --help -h") && args.len() == 1;
    if asks && command.name != "shutdown" {
        return;
    }
    if SYSTEM.knows(command.name) {
        let words = command.words();
        let call = Call::of(&words, args);
        if let Some(rule) = SYSTEM.broken(command.name, call) {
            walker.report(rule, command.name);
        }
    }
    match command.name {
        "unshare" => {
            let options = Args::read(args, NO_VALUES);
            if options.short('r') || options.long("map-root-user") {
                walker.report(RuleId::PrivilegeEscalate, command.name);
            }
        }
        "chmod" => {
            let is_mode = |word: &&String| !word.starts_with("--") && is_mode(word);
            if let Some(written) = args.iter().find(is_mode) {
                mode(walker, written);
            }
        }
        "chown" | "chgrp" => {
            let options = Args::read(args, takes!("", "from reference"));
            let owner = options
                .operands
                .first()
                .and_then(|to| to.split([':', '.']).next());
            if matches!(owner, Some("root" | "0")) {
                walker.report(RuleId::PrivilegeEscalate, "chown root");
            }
        }
        "mkdir" => {
            for written in Args::read(args, takes!("m", "mode")).values(&["m", "mode"]) {
                mode(walker, written);
            }
        }
        "kill" | "pkill" | "killall" | "killall5" | "skill" | "xkill" | "fuser" => {
            processes(walker, command)
        }
        "systemctl" | "service" | "rc-service" | "launchctl" | "initctl" | "update-rc.d"
        | "chkconfig" | "sv" | "loginctl" => services(walker, command),
        "apt" | "apt-get" | "aptitude" | "yum" | "dnf" | "zypper" | "pacman" | "apk" | "dpkg"
        | "rpm" | "brew" | "snap" | "port" | "emerge" => packages(walker, command),
        "history" => {
            let clears = |word: &String| word.starts_with('-') && word.contains(['c', 'd', 'w']);
            if args.iter().any(clears) {
                walker.report(RuleId::SystemHistory, "history");
            }
        }
        "journalctl" if command.has("--vacuum*") => {
            walker.report(RuleId::SystemHistory, "journalctl --vacuum")
        }
        "unset" if command.has("HISTFILE") => {
            walker.report(RuleId::SystemHistory, "unset HISTFILE")
        }
        "ralph" => own_binary(walker, command.args),
        "cargo" => run_from_source(walker, command),
        name if is_agent(name) => agent(walker, command),
        _ => network(walker, command),
    }
    if one_of!(command.name, "cp install ln mv rsync") {
        copied_binary(walker, command);
    }
    let overwrites = one_of!(command.name, "rm truncate shred ln cp tee");
    if overwrites && command.has("*_history") {
        walker.report(RuleId::SystemHistory, command.name);
    }
}

/// Does this word look like a mode: digits, or letters with an operator?
fn is_mode(word: &str) -> bool {
    let digits =
        !word.is_empty() && word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    let symbolic =
        word.chars().all(|c| "ugoarwxXst+-=,".contains(c)) && word.contains(['+', '=', '-']);
    digits || symbolic
}

/// A mode that lets everybody write, or that gives the owner's rights away.
pub fn mode(walker: &mut Walker, written: &str) {
    if let Ok(bits) = u32::from_str_radix(written, 8) {
        if bits & 0o2 != 0 {
            walker.report(RuleId::PermWorldWritable, written);
        }
        if bits & 0o6000 != 0 {
            walker.report(RuleId::PrivilegeSetuid, written);
        }
        return;
    }
    for clause in written.split(',') {
        let Some(at) = clause.find(['+', '=', '-']) else {
            continue;
        };
        let (who, what) = clause.split_at(at);
        let adds = !what.starts_with('-');
        let everybody = who.is_empty() || who.contains(['o', 'a']);
        // `+w` leaves the others out by the usual umask, `+rwx` means them.
        let means_others = !who.is_empty() || what.contains("rwx");
        let copies = what.contains(['u', 'g']) && who.contains('o');
        if adds && everybody && means_others && (what.contains('w') || copies) {
            walker.report(RuleId::PermWorldWritable, written);
        }
        if adds && what.contains('s') && !who.contains('o') {
            walker.report(RuleId::PrivilegeSetuid, written);
        }
    }
}
