//! Programs that administer a machine, each with the words by which it only
//! shows something. Those with judges of their own stand elsewhere.

use super::files;
use crate::meaning::args::{Args, NO_VALUES};
use crate::meaning::env::Env;
use crate::meaning::walk::{Command, Walker};

/// A program, the rule that it breaks, and the words that show only.
type Program = (&'static str, &'static str, &'static [&'static str]);

const PROGRAMS: [Program; 107] = [
    ("mshta", "net.run-remote-code", &[]),
    ("bitsadmin", "net.run-remote-code", &["/list"]),
    ("wmic", "system.kernel", &["get", "list"]),
    ("rc-update", "system.service", &["show", "-l"]),
    ("s6-svc", "system.service", &[]),
    ("runsv", "system.service", &[]),
    ("sc", "system.service", &["query", "qc"]),
    ("sc.exe", "system.service", &["query", "qc"]),
    ("insserv", "system.service", &["-s"]),
    ("ifdown", "system.network", &[]),
    ("ifup", "system.network", &[]),
    ("dhclient", "system.network", &[]),
    ("dhcpcd", "system.network", &[]),
    ("wpa_cli", "system.network", &["status"]),
    ("wpa_supplicant", "system.network", &[]),
    (
        "resolvectl",
        "system.network",
        &["status", "query", "statistics", "show-cache"],
    ),
    ("netplan", "system.network", &["get", "status", "info"]),
    ("arp", "system.network", &["-a", "-n", "-e", "-an"]),
    ("iwconfig", "system.network", &[]),
    ("ethtool", "system.network", &["-i", "-k", "-g", "-S"]),
    ("brctl", "system.network", &["show"]),
    ("ovs-vsctl", "system.network", &["show"]),
    ("netsh", "system.network", &["show"]),
    (
        "wg",
        "system.network",
        &["show", "showconf", "genkey", "pubkey"],
    ),
    ("wg-quick", "system.network", &[]),
    ("openvpn", "system.network", &[]),
    (
        "tailscale",
        "system.network",
        &["status", "version", "ip", "ping", "netcheck"],
    ),
    (
        "zerotier-cli",
        "system.network",
        &["info", "listnetworks", "status"],
    ),
    ("ebtables", "system.network", &["-L"]),
    ("ipset", "system.network", &["list"]),
    ("ipvsadm", "system.network", &["-L", "-Ln"]),
    ("macchanger", "system.network", &["-s", "--show"]),
    ("rfkill", "system.network", &["list"]),
    ("apparmor_parser", "system.kernel", &[]),
    ("aa-complain", "system.kernel", &[]),
    ("setsebool", "system.kernel", &[]),
    ("semanage", "system.kernel", &["-l"]),
    ("restorecon", "system.kernel", &["-n"]),
    (
        "localectl",
        "system.kernel",
        &["status", "list-locales", "list-keymaps"],
    ),
    ("update-initramfs", "system.kernel", &[]),
    ("mkinitcpio", "system.kernel", &["-L"]),
    ("dracut", "system.kernel", &["--list-modules"]),
    ("grub-mkconfig", "system.kernel", &[]),
    ("grub2-mkconfig", "system.kernel", &[]),
    ("grub-set-default", "system.kernel", &[]),
    ("bootctl", "system.kernel", &["status", "list"]),
    ("dpkg-reconfigure", "system.kernel", &[]),
    (
        "mokutil",
        "system.kernel",
        &["--sb-state", "--list-enrolled"],
    ),
    (
        "fwupdmgr",
        "system.kernel",
        &["get-devices", "get-updates", "get-history"],
    ),
    ("flashrom", "system.kernel", &["-r"]),
    ("ipmitool", "system.kernel", &["status", "list", "info"]),
    ("pmset", "system.kernel", &["-g"]),
    ("tccutil", "system.kernel", &[]),
    ("systemsetup", "system.kernel", &[]),
    ("scutil", "system.kernel", &["--get", "--dns", "--proxy"]),
    ("kmutil", "system.kernel", &["showloaded"]),
    ("kextload", "system.kernel", &[]),
    (
        "defaults",
        "system.kernel",
        &["read", "find", "domains", "read-type"],
    ),
    ("reg", "system.kernel", &["query"]),
    ("reg.exe", "system.kernel", &["query"]),
    ("regedit", "system.kernel", &[]),
    ("regsvr32", "system.kernel", &[]),
    ("rundll32", "system.kernel", &[]),
    ("bcdedit", "system.kernel", &["/enum"]),
    ("powercfg", "system.kernel", &["/list", "/query"]),
    ("setx", "system.kernel", &[]),
    (
        "gsettings",
        "system.kernel",
        &["get", "list-keys", "list-schemas", "range"],
    ),
    ("dconf", "system.kernel", &["read", "list", "dump"]),
    ("takeown", "system.accounts", &[]),
    ("icacls", "system.accounts", &[]),
    ("cacls", "system.accounts", &[]),
    ("net", "system.accounts", &["view", "time", "statistics"]),
    ("net.exe", "system.accounts", &["view"]),
    ("pwconv", "system.accounts", &[]),
    ("newusers", "system.accounts", &[]),
    ("faillock", "system.accounts", &[]),
    ("pam-auth-update", "system.accounts", &[]),
    ("sysadminctl", "system.accounts", &[]),
    ("schtasks", "system.schedule", &["/query"]),
    ("schtasks.exe", "system.schedule", &["/query"]),
    ("anacron", "system.schedule", &["-T"]),
    ("wevtutil", "system.history", &["el", "qe", "gl"]),
    ("vssadmin", "disk.format", &["list"]),
    ("wbadmin", "disk.format", &["get"]),
    ("diskpart", "disk.format", &[]),
    ("fsutil", "disk.format", &["query"]),
    ("debugfs", "disk.format", &[]),
    ("nwipe", "disk.format", &[]),
    ("scrub", "disk.format", &[]),
    ("testdisk", "disk.format", &["/list"]),
    ("ddrescue", "disk.format", &[]),
    ("kpartx", "disk.format", &["-l"]),
    ("e2label", "disk.format", &[]),
    ("growpart", "disk.format", &["--dry-run"]),
    (
        "tmutil",
        "disk.format",
        &["listbackups", "status", "destinationinfo"],
    ),
    ("chisel", "net.listen", &[]),
    ("frpc", "net.listen", &[]),
    ("frps", "net.listen", &[]),
    ("gost", "net.listen", &[]),
    ("iodine", "net.listen", &[]),
    ("dnscat", "net.listen", &[]),
    ("rathole", "net.listen", &[]),
    ("inlets", "net.listen", &[]),
    ("zrok", "net.listen", &["status"]),
    ("pagekite", "net.listen", &[]),
    ("devtunnel", "net.listen", &["list", "show"]),
    ("sshuttle", "net.listen", &[]),
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
        walker.report(rule, &shown());
    }
    let volumes = ["lv", "vg", "pv"].iter().any(|start| {
        let verb = command.name.strip_prefix(start).unwrap_or_default();
        one_of!(
            verb,
            "create extend reduce remove resize change convert move rename"
        )
    });
    if volumes {
        walker.report("disk.format", &shown());
    }
    let starts_service = command.program.starts_with("/etc/init.d/") && !has("status");
    if starts_service {
        walker.report("system.service", &shown());
    }
    match command.name {
        "hostname" if args.iter().all(|word| !word.starts_with('-')) => {
            walker.report("system.kernel", &shown());
        }
        "certutil"
            if args
                .iter()
                .any(|word| word.trim_start_matches(['-', '/']) == "urlcache") =>
        {
            walker.report("net.run-remote-code", &shown());
        }
        "autossh" if has("-R") || has("-D") => walker.report("net.listen", &shown()),
        "logrotate" if has("-f") || has("--force") => walker.report("system.history", &shown()),
        // What others type, see or keep in memory.
        "tshark" | "dumpcap" | "ettercap" | "bettercap"
            if has("-i") || has("-w") || has("--interface") =>
        {
            walker.report("secret.store", &shown());
        }
        "gcore" | "xdotool" | "ydotool" | "logkeys" | "xspy" => {
            walker.report("secret.store", &shown());
        }
        "npm" | "pnpm" | "yarn" => {
            let removes = ["uninstall", "un", "rm", "remove", "r"];
            let global = has("-g") || has("--global") || has("global");
            if global && args.iter().any(|word| removes.contains(&word.as_str())) {
                walker.report("system.packages", &shown());
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
                walker.report("system.packages", &shown());
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
