//! Programs that administer a machine, each with the words by which it only
//! shows something. Those with judges of their own stand elsewhere.

use super::files;
use crate::RuleId;
use crate::meaning::args::{Args, NO_VALUES};
use crate::meaning::env::Env;
use crate::meaning::walk::{Command, Walker};

/// A program, the rule that it breaks, and the words that show only.
type Program = (&'static str, RuleId, &'static [&'static str]);

const PROGRAMS: [Program; 107] = [
    ("mshta", RuleId::NetRunRemoteCode, &[]),
    ("bitsadmin", RuleId::NetRunRemoteCode, &["/list"]),
    ("wmic", RuleId::SystemKernel, &["get", "list"]),
    ("rc-update", RuleId::SystemService, &["show", "-l"]),
    ("s6-svc", RuleId::SystemService, &[]),
    ("runsv", RuleId::SystemService, &[]),
    ("sc", RuleId::SystemService, &["query", "qc"]),
    ("sc.exe", RuleId::SystemService, &["query", "qc"]),
    ("insserv", RuleId::SystemService, &["-s"]),
    ("ifdown", RuleId::SystemNetwork, &[]),
    ("ifup", RuleId::SystemNetwork, &[]),
    ("dhclient", RuleId::SystemNetwork, &[]),
    ("dhcpcd", RuleId::SystemNetwork, &[]),
    ("wpa_cli", RuleId::SystemNetwork, &["status"]),
    ("wpa_supplicant", RuleId::SystemNetwork, &[]),
    (
        "resolvectl",
        RuleId::SystemNetwork,
        &["status", "query", "statistics", "show-cache"],
    ),
    ("netplan", RuleId::SystemNetwork, &["get", "status", "info"]),
    ("arp", RuleId::SystemNetwork, &["-a", "-n", "-e", "-an"]),
    ("iwconfig", RuleId::SystemNetwork, &[]),
    ("ethtool", RuleId::SystemNetwork, &["-i", "-k", "-g", "-S"]),
    ("brctl", RuleId::SystemNetwork, &["show"]),
    ("ovs-vsctl", RuleId::SystemNetwork, &["show"]),
    ("netsh", RuleId::SystemNetwork, &["show"]),
    (
        "wg",
        RuleId::SystemNetwork,
        &["show", "showconf", "genkey", "pubkey"],
    ),
    ("wg-quick", RuleId::SystemNetwork, &[]),
    ("openvpn", RuleId::SystemNetwork, &[]),
    (
        "tailscale",
        RuleId::SystemNetwork,
        &["status", "version", "ip", "ping", "netcheck"],
    ),
    (
        "zerotier-cli",
        RuleId::SystemNetwork,
        &["info", "listnetworks", "status"],
    ),
    ("ebtables", RuleId::SystemNetwork, &["-L"]),
    ("ipset", RuleId::SystemNetwork, &["list"]),
    ("ipvsadm", RuleId::SystemNetwork, &["-L", "-Ln"]),
    ("macchanger", RuleId::SystemNetwork, &["-s", "--show"]),
    ("rfkill", RuleId::SystemNetwork, &["list"]),
    ("apparmor_parser", RuleId::SystemKernel, &[]),
    ("aa-complain", RuleId::SystemKernel, &[]),
    ("setsebool", RuleId::SystemKernel, &[]),
    ("semanage", RuleId::SystemKernel, &["-l"]),
    ("restorecon", RuleId::SystemKernel, &["-n"]),
    (
        "localectl",
        RuleId::SystemKernel,
        &["status", "list-locales", "list-keymaps"],
    ),
    ("update-initramfs", RuleId::SystemKernel, &[]),
    ("mkinitcpio", RuleId::SystemKernel, &["-L"]),
    ("dracut", RuleId::SystemKernel, &["--list-modules"]),
    ("grub-mkconfig", RuleId::SystemKernel, &[]),
    ("grub2-mkconfig", RuleId::SystemKernel, &[]),
    ("grub-set-default", RuleId::SystemKernel, &[]),
    ("bootctl", RuleId::SystemKernel, &["status", "list"]),
    ("dpkg-reconfigure", RuleId::SystemKernel, &[]),
    (
        "mokutil",
        RuleId::SystemKernel,
        &["--sb-state", "--list-enrolled"],
    ),
    (
        "fwupdmgr",
        RuleId::SystemKernel,
        &["get-devices", "get-updates", "get-history"],
    ),
    ("flashrom", RuleId::SystemKernel, &["-r"]),
    (
        "ipmitool",
        RuleId::SystemKernel,
        &["status", "list", "info"],
    ),
    ("pmset", RuleId::SystemKernel, &["-g"]),
    ("tccutil", RuleId::SystemKernel, &[]),
    ("systemsetup", RuleId::SystemKernel, &[]),
    (
        "scutil",
        RuleId::SystemKernel,
        &["--get", "--dns", "--proxy"],
    ),
    ("kmutil", RuleId::SystemKernel, &["showloaded"]),
    ("kextload", RuleId::SystemKernel, &[]),
    (
        "defaults",
        RuleId::SystemKernel,
        &["read", "find", "domains", "read-type"],
    ),
    ("reg", RuleId::SystemKernel, &["query"]),
    ("reg.exe", RuleId::SystemKernel, &["query"]),
    ("regedit", RuleId::SystemKernel, &[]),
    ("regsvr32", RuleId::SystemKernel, &[]),
    ("rundll32", RuleId::SystemKernel, &[]),
    ("bcdedit", RuleId::SystemKernel, &["/enum"]),
    ("powercfg", RuleId::SystemKernel, &["/list", "/query"]),
    ("setx", RuleId::SystemKernel, &[]),
    (
        "gsettings",
        RuleId::SystemKernel,
        &["get", "list-keys", "list-schemas", "range"],
    ),
    ("dconf", RuleId::SystemKernel, &["read", "list", "dump"]),
    ("takeown", RuleId::SystemAccounts, &[]),
    ("icacls", RuleId::SystemAccounts, &[]),
    ("cacls", RuleId::SystemAccounts, &[]),
    (
        "net",
        RuleId::SystemAccounts,
        &["view", "time", "statistics"],
    ),
    ("net.exe", RuleId::SystemAccounts, &["view"]),
    ("pwconv", RuleId::SystemAccounts, &[]),
    ("newusers", RuleId::SystemAccounts, &[]),
    ("faillock", RuleId::SystemAccounts, &[]),
    ("pam-auth-update", RuleId::SystemAccounts, &[]),
    ("sysadminctl", RuleId::SystemAccounts, &[]),
    ("schtasks", RuleId::SystemSchedule, &["/query"]),
    ("schtasks.exe", RuleId::SystemSchedule, &["/query"]),
    ("anacron", RuleId::SystemSchedule, &["-T"]),
    ("wevtutil", RuleId::SystemHistory, &["el", "qe", "gl"]),
    ("vssadmin", RuleId::DiskFormat, &["list"]),
    ("wbadmin", RuleId::DiskFormat, &["get"]),
    ("diskpart", RuleId::DiskFormat, &[]),
    ("fsutil", RuleId::DiskFormat, &["query"]),
    ("debugfs", RuleId::DiskFormat, &[]),
    ("nwipe", RuleId::DiskFormat, &[]),
    ("scrub", RuleId::DiskFormat, &[]),
    ("testdisk", RuleId::DiskFormat, &["/list"]),
    ("ddrescue", RuleId::DiskFormat, &[]),
    ("kpartx", RuleId::DiskFormat, &["-l"]),
    ("e2label", RuleId::DiskFormat, &[]),
    ("growpart", RuleId::DiskFormat, &["--dry-run"]),
    (
        "tmutil",
        RuleId::DiskFormat,
        &["listbackups", "status", "destinationinfo"],
    ),
    ("chisel", RuleId::NetListen, &[]),
    ("frpc", RuleId::NetListen, &[]),
    ("frps", RuleId::NetListen, &[]),
    ("gost", RuleId::NetListen, &[]),
    ("iodine", RuleId::NetListen, &[]),
    ("dnscat", RuleId::NetListen, &[]),
    ("rathole", RuleId::NetListen, &[]),
    ("inlets", RuleId::NetListen, &[]),
    ("zrok", RuleId::NetListen, &["status"]),
    ("pagekite", RuleId::NetListen, &[]),
    ("devtunnel", RuleId::NetListen, &["list", "show"]),
    ("sshuttle", RuleId::NetListen, &[]),
];

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.args;
    let has = |word: &str| args.iter().any(|argument| argument == word);
    if args.is_empty() || has("--help") || has("--version") || has("-V") || has("-h") {
        return;
    }
    let shown = || format!("{} {}", command.name, args.join(" "));
    if let Some((_, rule, shows)) = PROGRAMS.iter().find(|(name, _, _)| *name == command.name)
        && !args
            .iter()
            .any(|word| shows.iter().any(|show| word.eq_ignore_ascii_case(show)))
    {
        walker.report(*rule, &shown());
    }
    let volumes = ["lv", "vg", "pv"].iter().any(|start| {
        let verb = command.name.strip_prefix(start).unwrap_or_default();
        one_of!(
            verb,
            "create extend reduce remove resize change convert move rename"
        )
    });
    if volumes {
        walker.report(RuleId::DiskFormat, &shown());
    }
    let starts_service = command.program.starts_with("/etc/init.d/") && !has("status");
    if starts_service {
        walker.report(RuleId::SystemService, &shown());
    }
    match command.name {
        "hostname" if args.iter().all(|word| !word.starts_with('-')) => {
            walker.report(RuleId::SystemKernel, &shown());
        }
        "certutil"
            if args
                .iter()
                .any(|word| word.trim_start_matches(['-', '/']) == "urlcache") =>
        {
            walker.report(RuleId::NetRunRemoteCode, &shown());
        }
        "autossh" if has("-R") || has("-D") => walker.report(RuleId::NetListen, &shown()),
        "logrotate" if has("-f") || has("--force") => {
            walker.report(RuleId::SystemHistory, &shown())
        }
        // What others type, see or keep in memory.
        "tshark" | "dumpcap" | "ettercap" | "bettercap"
            if has("-i") || has("-w") || has("--interface") =>
        {
            walker.report(RuleId::SecretStore, &shown());
        }
        "gcore" | "xdotool" | "ydotool" | "logkeys" | "xspy" => {
            walker.report(RuleId::SecretStore, &shown());
        }
        "npm" | "pnpm" | "yarn" => {
            let removes = ["uninstall", "un", "rm", "remove", "r"];
            let global = has("-g") || has("--global") || has("global");
            if global && args.iter().any(|word| removes.contains(&word.as_str())) {
                walker.report(RuleId::SystemPackages, &shown());
            }
        }
        "flatpak" | "pkg" | "nix-env" | "zypper" | "emerge" | "guix" | "choco" | "winget"
        | "scoop" | "pkgutil" | "opkg" | "xbps-remove" | "eopkg" => {
            let removes = words!(
                "uninstall remove rm delete -e --uninstall -C --unmerge --depclean --forget"
            );
            if args.iter().any(|word| removes.contains(&word.as_str()))
                || command.name == "xbps-remove"
            {
                walker.report(RuleId::SystemPackages, &shown());
            }
        }
        _ => serves(walker, command, env),
    }
}

/// A server of files shows whoever asks what lies below its directory.
fn serves(walker: &mut Walker, command: &Command, env: &Env) {
    let is_server = one_of!(
        command.name,
        "serve http-server live-server darkhttpd thttpd miniserve httpd webfsd caddy php"
    );
    if !is_server {
        return;
    }
    let takes = takes!("hrtpl", "root docroot listen port");
    let args = match command.name {
        "php" | "caddy" | "httpd" | "webfsd" => Args::read(command.args, takes),
        _ => Args::read(command.args, NO_VALUES),
    };
    let directories: Vec<&str> = match command.name {
        "php" if !args.short('S') => return,
        "php" | "caddy" | "httpd" | "webfsd" => args.values(&["t", "h", "r", "root"]).collect(),
        _ => args.operands.clone(),
    };
    for directory in directories {
        files::read(walker, directory, env);
    }
}
