//! Privilege, permissions, processes and the system itself.

use super::loader::{agent, is_agent, own_binary};
use super::machine::{network, packages, processes, services};
use crate::RuleId;
use crate::meaning::args::{Args, Takes};
use crate::meaning::walk::{Command, Walker};

pub fn judge(walker: &mut Walker, command: &Command) {
    let args = command.args;
    let first = args.first().map_or("", String::as_str);
    let asks = matches!(first, "--version" | "-V" | "--help" | "-h") && args.len() == 1;
    if asks && command.name != "shutdown" {
        return;
    }
    match command.name {
        "sudo" | "su" | "doas" | "pkexec" | "run0" | "gosu" | "su-exec" | "runuser"
        | "sudoedit" | "visudo" | "newgrp" | "sg" | "dzdo" | "machinectl" | "gksudo"
        | "kdesudo" => {
            let harmless = command.name == "sudo" && matches!(first, "-k" | "-K" | "-V");
            if !harmless {
                walker.report(RuleId::PrivilegeEscalate, command.name);
            }
        }
        "nsenter" | "chroot" | "capsh" | "setcap" | "setpriv" => {
            walker.report(RuleId::PrivilegeEscalate, command.name)
        }
        "unshare" => {
            let options = Args::read(args, Takes::default());
            if options.short('r') || options.long_like("map-root-user", 5) {
                walker.report(RuleId::PrivilegeEscalate, command.name);
            }
        }
        "chmod" => {
            if let Some(written) = args
                .iter()
                .find(|word| !word.starts_with("--") && is_mode(word))
            {
                mode(walker, written);
            }
        }
        "chown" | "chgrp" => {
            let takes = takes!("", "from reference");
            let options = Args::read(args, takes);
            if options
                .operands
                .first()
                .is_some_and(|owner| matches!(owner.split([':', '.']).next(), Some("root" | "0")))
            {
                walker.report(RuleId::PrivilegeEscalate, "chown root");
            }
        }
        "mkdir" => {
            let options = Args::read(args, takes!("m", "mode"));
            for written in options.values(&["m", "mode"]) {
                mode(walker, written);
            }
        }
        "umask" if matches!(first, "0" | "00" | "000" | "0000") => {
            walker.report(RuleId::PermWorldWritable, "umask")
        }
        "setfacl"
            if args.iter().any(|word| {
                word.contains("o::rw")
                    || word.contains("o:rw")
                    || word.contains("other::rw")
                    || word.contains("other:rw")
            }) =>
        {
            walker.report(RuleId::PermWorldWritable, "setfacl");
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" | "init" => {
            let names_level =
                command.name != "init" || matches!(first, "0" | "1" | "6" | "s" | "S");
            let cancels = args.iter().any(|word| word == "-c");
            if names_level && !cancels {
                walker.report(RuleId::SystemPower, command.name);
            }
        }
        "kill" | "pkill" | "killall" | "killall5" | "skill" | "xkill" | "fuser" => {
            processes(walker, command)
        }
        "systemctl" | "service" | "rc-service" | "launchctl" | "initctl" | "update-rc.d"
        | "chkconfig" | "sv" | "loginctl" => services(walker, command),
        "systemd-run" if args.iter().any(|word| word.starts_with("--on-")) => {
            walker.report(RuleId::SystemSchedule, command.name);
        }
        "ssh-keygen" | "ssh-add" if args.iter().any(|word| word == "-D" || word == "-s") => {
            walker.report(RuleId::SystemLoader, command.name);
        }
        "ssh-copy-id" => walker.report(RuleId::NetListen, command.name),
        "crontab" if (args.is_empty() || !args.iter().any(|word| word == "-l")) => {
            walker.report(RuleId::SystemSchedule, command.name);
        }
        "at" | "batch" if !args.iter().any(|word| word == "-l") => {
            walker.report(RuleId::SystemSchedule, command.name)
        }
        "useradd" | "userdel" | "usermod" | "groupadd" | "groupdel" | "groupmod" | "adduser"
        | "deluser" | "passwd" | "chpasswd" | "chsh" | "chfn" | "gpasswd" | "vipw" | "dscl" => {
            walker.report(RuleId::SystemAccounts, command.name);
        }
        "iptables" | "ip6tables" | "nft" | "ufw" | "firewall-cmd" | "pfctl" | "route"
        | "ifconfig" | "ip" | "tc" | "nmcli" | "networksetup" | "iptables-restore" => {
            network(walker, command)
        }
        "sysctl"
            if args
                .iter()
                .any(|word| word == "-w" || word == "-p" || word.contains('=')) =>
        {
            walker.report(RuleId::SystemKernel, command.name)
        }
        "insmod" | "rmmod" | "modprobe" | "kexec" | "setenforce" | "swapoff" | "swapon"
        | "hostnamectl" | "timedatectl" | "hwclock" | "aa-disable" | "aa-teardown" | "csrutil"
        | "spctl" | "nvram" | "grub-install" | "update-grub" | "efibootmgr" | "kextunload" => {
            let shows = one_of!(
                command.name,
                "hostnamectl timedatectl csrutil swapon hwclock efibootmgr spctl nvram"
            ) && (args.is_empty()
                || first == "status"
                || first.starts_with("--s")
                || first == "show"
                || first == "-p");
            if !shows {
                walker.report(RuleId::SystemKernel, command.name);
            }
        }
        "date"
            if args
                .iter()
                .any(|word| word == "-s" || word.starts_with("--set")) =>
        {
            walker.report(RuleId::SystemKernel, "date")
        }
        "apt" | "apt-get" | "aptitude" | "yum" | "dnf" | "zypper" | "pacman" | "apk" | "dpkg"
        | "rpm" | "brew" | "snap" | "port" | "emerge" => packages(walker, command),
        "history"
            if args
                .iter()
                .any(|word| word.starts_with('-') && word.contains(['c', 'd', 'w'])) =>
        {
            walker.report(RuleId::SystemHistory, "history")
        }
        "journalctl" if args.iter().any(|word| word.starts_with("--vacuum")) => {
            walker.report(RuleId::SystemHistory, "journalctl --vacuum")
        }
        "dmesg"
            if args
                .iter()
                .any(|word| matches!(word.as_str(), "-C" | "-c" | "--clear" | "--read-clear")) =>
        {
            walker.report(RuleId::SystemHistory, "dmesg")
        }
        "auditctl" if !matches!(first, "-l" | "-s") => {
            walker.report(RuleId::SystemKernel, "auditctl")
        }
        "update-alternatives" | "alternatives" => {
            let shows = ["--display", "--query", "--list", "--get-selections"];
            if !args.iter().any(|word| shows.contains(&word.as_str())) {
                walker.report(RuleId::SystemLoader, command.name);
            }
        }
        "xmrig" | "minerd" | "cpuminer" | "ethminer" | "cgminer" | "bfgminer" | "t-rex"
        | "nbminer" => walker.report(RuleId::NetReverseShell, command.name),
        "unset" if args.iter().any(|word| word == "HISTFILE") => {
            walker.report(RuleId::SystemHistory, "unset HISTFILE")
        }
        "set" | "shopt" if args.iter().any(|word| word == "history") => {
            let off = args
                .iter()
                .any(|word| matches!(word.as_str(), "+o" | "-u" | "-uo"));
            if off {
                walker.report(RuleId::SystemHistory, command.name);
            }
        }
        "ralph" => own_binary(walker, args),
        name if is_agent(name) => agent(walker, command),
        _ => {}
    }
    overwrites_history(walker, command);
}

fn overwrites_history(walker: &mut Walker, command: &Command) {
    let clears = one_of!(command.name, "rm truncate shred ln cp tee")
        && command.args.iter().any(|word| word.ends_with("_history"));
    if clears {
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
