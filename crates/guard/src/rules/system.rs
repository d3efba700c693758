//! Privilege, permissions, processes and the system itself.

use crate::meaning::args::{Args, Takes};
use crate::meaning::mark;
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
                walker.report("privilege.escalate", command.name);
            }
        }
        "nsenter" | "chroot" | "capsh" | "setcap" | "setpriv" => {
            walker.report("privilege.escalate", command.name)
        }
        "unshare" => {
            let options = Args::read(args, Takes::default());
            if options.short('r') || options.long_like("map-root-user", 5) {
                walker.report("privilege.escalate", command.name);
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
            let takes = Takes {
                shorts: "",
                longs: &["from", "reference"],
            };
            let options = Args::read(args, takes);
            if options
                .operands
                .first()
                .is_some_and(|owner| matches!(owner.split([':', '.']).next(), Some("root" | "0")))
            {
                walker.report("privilege.escalate", "chown root");
            }
        }
        "mkdir" => {
            let options = Args::read(
                args,
                Takes {
                    shorts: "m",
                    longs: &["mode"],
                },
            );
            for written in options.values(&["m", "mode"]) {
                mode(walker, written);
            }
        }
        "umask" if matches!(first, "0" | "00" | "000" | "0000") => {
            walker.report("perm.world-writable", "umask")
        }
        "setfacl"
            if args.iter().any(|word| {
                word.contains("o::rw")
                    || word.contains("o:rw")
                    || word.contains("other::rw")
                    || word.contains("other:rw")
            }) =>
        {
            walker.report("perm.world-writable", "setfacl");
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" | "init" => {
            let names_level =
                command.name != "init" || matches!(first, "0" | "1" | "6" | "s" | "S");
            let cancels = args.iter().any(|word| word == "-c");
            if names_level && !cancels {
                walker.report("system.power", command.name);
            }
        }
        "kill" | "pkill" | "killall" | "killall5" | "skill" | "xkill" | "fuser" => {
            processes(walker, command)
        }
        "systemctl" | "service" | "rc-service" | "launchctl" | "initctl" | "update-rc.d"
        | "chkconfig" | "sv" | "loginctl" => services(walker, command),
        "systemd-run" if args.iter().any(|word| word.starts_with("--on-")) => {
            walker.report("system.schedule", command.name);
        }
        "ssh-keygen" | "ssh-add" if args.iter().any(|word| word == "-D" || word == "-s") => {
            walker.report("system.loader", command.name);
        }
        "ssh-copy-id" => walker.report("net.listen", command.name),
        "crontab" if (args.is_empty() || !args.iter().any(|word| word == "-l")) => {
            walker.report("system.schedule", command.name);
        }
        "at" | "batch" if !args.iter().any(|word| word == "-l") => {
            walker.report("system.schedule", command.name)
        }
        "useradd" | "userdel" | "usermod" | "groupadd" | "groupdel" | "groupmod" | "adduser"
        | "deluser" | "passwd" | "chpasswd" | "chsh" | "chfn" | "gpasswd" | "vipw" | "dscl" => {
            walker.report("system.accounts", command.name);
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
            walker.report("system.kernel", command.name)
        }
        "insmod" | "rmmod" | "modprobe" | "kexec" | "setenforce" | "swapoff" | "swapon"
        | "hostnamectl" | "timedatectl" | "hwclock" | "aa-disable" | "aa-teardown" | "csrutil"
        | "spctl" | "nvram" | "grub-install" | "update-grub" | "efibootmgr" | "kextunload" => {
            let shows = matches!(
                command.name,
                "hostnamectl"
                    | "timedatectl"
                    | "csrutil"
                    | "swapon"
                    | "hwclock"
                    | "efibootmgr"
                    | "spctl"
                    | "nvram"
            ) && (args.is_empty()
                || first == "status"
                || first.starts_with("--s")
                || first == "show"
                || first == "-p");
            if !shows {
                walker.report("system.kernel", command.name);
            }
        }
        "date"
            if args
                .iter()
                .any(|word| word == "-s" || word.starts_with("--set")) =>
        {
            walker.report("system.kernel", "date")
        }
        "apt" | "apt-get" | "aptitude" | "yum" | "dnf" | "zypper" | "pacman" | "apk" | "dpkg"
        | "rpm" | "brew" | "snap" | "port" | "emerge" => packages(walker, command),
        "history"
            if args
                .iter()
                .any(|word| word.starts_with('-') && word.contains(['c', 'd', 'w'])) =>
        {
            walker.report("system.history", "history")
        }
        "journalctl" if args.iter().any(|word| word.starts_with("--vacuum")) => {
            walker.report("system.history", "journalctl --vacuum")
        }
        "dmesg"
            if args
                .iter()
                .any(|word| matches!(word.as_str(), "-C" | "-c" | "--clear" | "--read-clear")) =>
        {
            walker.report("system.history", "dmesg")
        }
        "auditctl" if !matches!(first, "-l" | "-s") => walker.report("system.kernel", "auditctl"),
        "update-alternatives" | "alternatives" => {
            let shows = ["--display", "--query", "--list", "--get-selections"];
            if !args.iter().any(|word| shows.contains(&word.as_str())) {
                walker.report("system.loader", command.name);
            }
        }
        "xmrig" | "minerd" | "cpuminer" | "ethminer" | "cgminer" | "bfgminer" | "t-rex"
        | "nbminer" => walker.report("net.reverse-shell", command.name),
        "unset" if args.iter().any(|word| word == "HISTFILE") => {
            walker.report("system.history", "unset HISTFILE")
        }
        "set" | "shopt" if args.iter().any(|word| word == "history") => {
            let off = args
                .iter()
                .any(|word| matches!(word.as_str(), "+o" | "-u" | "-uo"));
            if off {
                walker.report("system.history", command.name);
            }
        }
        "ralph" => own_binary(walker, args),
        name if is_agent(name) => agent(walker, command),
        _ => {}
    }
    overwrites_history(walker, command);
}

fn overwrites_history(walker: &mut Walker, command: &Command) {
    let clears = matches!(
        command.name,
        "rm" | "truncate" | "shred" | "ln" | "cp" | "tee"
    ) && command.args.iter().any(|word| word.ends_with("_history"));
    if clears {
        walker.report("system.history", command.name);
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
            walker.report("perm.world-writable", written);
        }
        if bits & 0o6000 != 0 {
            walker.report("privilege.setuid", written);
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
            walker.report("perm.world-writable", written);
        }
        if adds && what.contains('s') && !who.contains('o') {
            walker.report("privilege.setuid", written);
        }
    }
}

/// Programs without which the machine or the loop itself stops.
const VITAL: [&str; 22] = [
    "systemd",
    "init",
    "sshd",
    "ssh",
    "dockerd",
    "containerd",
    "kubelet",
    "launchd",
    "Xorg",
    "gnome-shell",
    "WindowServer",
    "ralph",
    "claude",
    "codex",
    "gemini",
    "cursor-agent",
    "dbus-daemon",
    "NetworkManager",
    "loginwindow",
    "Finder",
    "bash",
    "opencode",
];

/// Those of them that belong to the loop, whatever they were told to do.
const LOOP: [&str; 6] = [
    "ralph",
    "claude",
    "codex",
    "gemini",
    "cursor-agent",
    "opencode",
];

/// Does the machine or the loop need this program?
pub fn is_vital(name: &str) -> bool {
    let name = name.trim_matches(['^', '$']);
    let program = name.split(' ').next().unwrap_or(name);
    // `bash build.sh` is somebody's script, `ralph run` is the loop.
    VITAL.contains(&name) || program != name && LOOP.contains(&program)
}

fn processes(walker: &mut Walker, command: &Command) {
    let args = command.args;
    match command.name {
        "killall5" | "xkill" => walker.report("system.process", command.name),
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
                    walker.report("system.process", &args.join(" "));
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
                walker.report("system.process", "fuser");
            }
        }
        _ => {
            let takes = Takes {
                shorts: "ugGPtsF",
                longs: &["user", "uid", "group", "parent", "signal", "euid"],
            };
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
                walker.report("system.process", &args.join(" "));
            }
            if command.name == "pkill" && options.short('v') {
                walker.report("system.process", &args.join(" "));
            }
        }
    }
}

fn services(walker: &mut Walker, command: &Command) {
    let args = Args::read(
        command.args,
        Takes {
            shorts: "tnopH",
            longs: &["type", "lines", "property", "host"],
        },
    );
    let shows = |word: &str| {
        matches!(
            word,
            "status"
                | "show"
                | "cat"
                | "list-units"
                | "list-unit-files"
                | "is-active"
                | "is-enabled"
                | "is-failed"
                | "list-timers"
                | "list-sessions"
                | "list-users"
                | "session-status"
                | "user-status"
                | "show-user"
                | "show-session"
                | "get-default"
                | "list"
                | "print"
                | "list-dependencies"
                | "list-sockets"
                | "help"
                | "--status-all"
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
        walker.report("system.service", &command.args.join(" "));
    }
}

fn network(walker: &mut Walker, command: &Command) {
    let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let changes = match command.name {
        "ip" => words.iter().any(|word| {
            matches!(
                *word,
                "set" | "add" | "del" | "delete" | "flush" | "replace" | "change"
            )
        }),
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
            matches!(
                *word,
                "-L" | "-n"
                    | "-v"
                    | "-S"
                    | "--list"
                    | "-nvL"
                    | "-nL"
                    | "-t"
                    | "nat"
                    | "--line-numbers"
                    | "-vnL"
                    | "-Ln"
                    | "-nvx"
            )
        }),
    };
    if changes && !words.is_empty() {
        walker.report("system.network", &words.join(" "));
    }
}

fn packages(walker: &mut Walker, command: &Command) {
    let removes = command.args.iter().any(|word| {
        matches!(
            word.as_str(),
            "remove"
                | "purge"
                | "autoremove"
                | "erase"
                | "uninstall"
                | "-R"
                | "-Rs"
                | "-Rns"
                | "-e"
                | "--erase"
                | "--remove"
                | "--purge"
                | "-r"
                | "-P"
                | "dist-upgrade"
                | "full-upgrade"
                | "unlink"
                | "del"
                | "--unmerge"
                | "-Rdd"
                | "-Rsc"
                | "-Rnsc"
        )
    });
    let pacman_option = matches!(command.name, "pacman" | "rpm" | "dpkg" | "emerge");
    let is_option_only = command.args.iter().any(|word| word.starts_with('-')) && !pacman_option;
    let first = command
        .args
        .iter()
        .find(|word| !word.starts_with('-'))
        .map_or("", String::as_str);
    let verb_removes = matches!(
        first,
        "remove"
            | "purge"
            | "autoremove"
            | "erase"
            | "uninstall"
            | "del"
            | "dist-upgrade"
            | "full-upgrade"
    );
    if (removes && !is_option_only) || verb_removes {
        walker.report("system.packages", &command.args.join(" "));
    }
}

/// A directory where anybody may put a file, unless the project or the home
/// directory lies there.
fn in_open_directory(walker: &Walker, path: &str) -> bool {
    ["/tmp", "/dev/shm", "/var/tmp"]
        .iter()
        .any(|directory| crate::paths::is_within(path, directory))
        && !crate::paths::is_within(path, walker.project())
        && !crate::paths::is_within(path, walker.home())
}

/// Variables that make other programs load code.
pub fn loader(walker: &mut Walker, name: &str, value: &str) {
    match name {
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" if !value.is_empty() => {
            let known = [
                "jemalloc",
                "tcmalloc",
                "mimalloc",
                "asan",
                "libfaketime",
                "libSegFault",
            ];
            if !known.iter().any(|library| value.contains(library)) {
                walker.report("system.loader", name);
            }
        }
        "PYTHONSTARTUP"
        | "LD_LIBRARY_PATH"
        | "DYLD_LIBRARY_PATH"
        | "RUSTC_WRAPPER"
        | "RUSTC_WORKSPACE_WRAPPER"
        | "CARGO_BUILD_RUSTC_WRAPPER"
            if in_open_directory(walker, value) =>
        {
            walker.report("system.loader", name);
        }
        "BASH_ENV" | "ENV" | "PROMPT_COMMAND" | "PERL5OPT" | "RUBYOPT"
            if (name != "ENV" || value.contains('/')) && !value.is_empty() && name != "RUBYOPT" =>
        {
            walker.report("system.loader", name);
        }
        // A shell expands its prompts each time it shows them.
        "PS4" | "PS1" | "PS0" | "PS2" if value.contains("$(") || value.contains('`') => {
            walker.report("system.loader", name);
        }
        "PATH" => {
            let first = value.split(':').next().unwrap_or_default();
            // A directory that this text itself made is its own affair.
            let made_here = first.contains("/tmp.made") || mark::has_computed(first);
            if first == "." || in_open_directory(walker, first) && !made_here {
                walker.report("system.loader", name);
            }
        }
        "NODE_OPTIONS"
            if (value.contains("--require")
                || value.contains("--import")
                || value.contains("-r "))
                && (value.contains("/tmp/") || value.contains("data:")) =>
        {
            walker.report("system.loader", name);
        }
        "RALPH_GUARD" | "RALPH_GUARD_FAIL" | "RALPH_GUARD_DISABLE" | "RALPH_ALLOW_UNSAFE" => {
            walker.report("guard.switch-off", name)
        }
        "HISTFILE" if value == "/dev/null" || value.is_empty() => {
            walker.report("system.history", name)
        }
        "HISTSIZE" | "HISTFILESIZE" if value == "0" => walker.report("system.history", name),
        _ => {}
    }
    // Another home of the agent has none of the guard's hooks.
    let agent_home = matches!(
        name,
        "CLAUDE_CONFIG_DIR" | "CODEX_HOME" | "GEMINI_CLI_HOME" | "COPILOT_HOME"
    );
    if agent_home && !value.is_empty() {
        walker.report("guard.switch-off", name);
    }
}

/// The loop's own program: the agent may look, not steer.
fn own_binary(walker: &mut Walker, args: &[String]) {
    let words: Vec<&str> = args
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let steers = match words.as_slice() {
        ["config", "set" | "unset" | "edit" | "reset" | "trust", ..] => true,
        [
            "guard",
            "off" | "disable" | "allow" | "trust" | "approve",
            ..,
        ] => true,
        [
            "uninstall" | "stop" | "kill" | "reset" | "abort" | "approve" | "skip" | "trust"
            | "install" | "unlock" | "answer",
            ..,
        ] => true,
        ["hook", "uninstall" | "remove", ..] => true,
        ["run" | "resume", ..] => args
            .iter()
            .any(|word| word.contains("unsafe") || word.contains("no-guard")),
        _ => false,
    };
    if steers {
        walker.report("guard.switch-off", &args.join(" "));
    }
}

/// Another agent that is started without its hooks.
/// A client of the loop.
pub fn is_agent(name: &str) -> bool {
    matches!(
        name,
        "claude" | "codex" | "gemini" | "copilot" | "cursor-agent" | "opencode" | "amp"
    )
}

fn agent(walker: &mut Walker, command: &Command) {
    let off = command.args.iter().any(|word| {
        word.contains("disableAllHooks")
            || matches!(
                word.as_str(),
                "--bare"
                    | "--safe-mode"
                    | "--dangerously-skip-permissions"
                    | "--yolo"
                    | "--dangerously-bypass-approvals-and-sandbox"
                    | "--dangerously-bypass-hook-trust"
                    | "--allow-all"
                    | "--allow-all-tools"
                    | "--force"
                    | "--settings"
                    | "--setting-sources"
            )
            || word.starts_with("--setting")
            || word.starts_with("--dangerously")
            || word.starts_with("hooks=")
            || word.contains("bypassPermissions")
    });
    let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let reconfigures = matches!(
        words.as_slice(),
        ["config", "set" | "add" | "remove" | "rm", ..]
            | ["mcp", "add" | "add-json" | "remove", ..]
            | [
                "plugin" | "plugins" | "extensions",
                "install" | "add" | "uninstall" | "disable" | "remove",
                ..
            ]
    );
    if off || reconfigures {
        walker.report("guard.switch-off", &command.args.join(" "));
    }
}
