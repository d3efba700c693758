//! The table of programs that break a rule by what they are told. A new case
//! is a row here; what takes more understanding has a judge of its own.
//! [`super::pattern`] says how a row is read.

rows! {
/// Clouds, clusters and infrastructure.
CLOUD =
CloudKubernetes {
    "kubectl oc k": "delete|drain|cordon", "create ..clusterrolebinding", "replace +--force",
        "scale +--replicas=0", "taint +*NoExecute*", "apply +--prune", "config ..delete-*",
        "run +--privileged*|*hostPID*|*hostNetwork*|*hostPath*|*\"privileged\":true*";
    "helm": "uninstall|delete|del|un";
    "kind k3d minikube": "delete", "cluster delete";
    "eksctl": "delete";
    "kubeadm": "reset";
    "argocd": "app delete";
    "flux": "delete|uninstall";
    "istioctl": "uninstall|x";
    "velero": "backup delete";
    "etcdctl": "del";
}
CloudDestroy {
    "terraform tofu terragrunt": "destroy|force-unlock|taint", "state rm|push|mv",
        "workspace delete", "run-all destroy|apply",
        "apply +destroy|-destroy|--destroy|auto-approve|-auto-approve|--auto-approve";
    "pulumi": "destroy|down", "stack rm", "up|update +--yes|-y|--skip-preview";
    "cdk cdktf": "destroy", "deploy +--auto-approve|never";
    "serverless sls sst": "remove";
    "sam amplify": "delete";
    "copilot": "app|svc|env delete";
    "vagrant packer": "destroy";
    "aws": "s3 rm +--recursive", "s3 rb", "s3 sync|mv +--delete",
        "iam ~get-*|list-*|simulate-*|generate-*",
        "ec2 authorize-security-group-ingress +*0.0.0.0/0*|*::/0*",
        "s3api put-bucket*|put-public-access-block|put-object-acl",
        "route53 change-resource-record-sets", "cloudtrail stop-logging",
        "organizations leave-organization",
        "_ delete-*|terminate-*|deregister-*|remove-*|purge-*|stop-db*|disable-*|revoke-*",
        "_ release-*|schedule-key-deletion*|batch-delete*|detach-*|stop-instances*|reboot-instances*";
    "gcloud az doctl linode-cli hcloud scw ibmcloud oci openstack vultr-cli civo":
        "..delete|destroy|purge|terminate|rm|delete-*",
        "..remove-iam-policy-binding|add-iam-policy-binding",
        "iam service-accounts keys create", "ad sp create-for-rbac", "role assignment create";
    "gsutil": "rb", "..rm +-r|-R|-m", "..rsync +-d", "..allUsers*";
    "azcopy": "remove|rm";
    "s3cmd": "del|rb|rm";
    "rclone": "delete|purge|deletefile|sync|cleanup|rmdirs";
    "mc": "rm|rb";
    "heroku": "apps:destroy|destroy|pg:reset|pg:copy|addons:destroy|apps:delete|ps:scale",
        "config:unset|domains:clear";
    "fly flyctl": "..destroy|delete";
    "vercel now": "rm|remove", "project|env|domains rm|remove";
    "netlify": "*:delete";
    "firebase": "*:delete|*:disable";
    "wrangler": "delete", "r2|kv|d1 _ delete";
    "railway": "down|delete";
    "render": "services delete";
    "supabase": "projects delete";
    "planetscale pscale": "database|branch delete";
    "neonctl": "projects|branches delete";
    "consul": "kv delete";
    "nomad": "job stop", "stop";
    "vault": "delete", "kv destroy|delete", "secrets disable";
    "virsh": "destroy|undefine";
    "VBoxManage": "unregistervm";
    "multipass": "delete|purge";
    "lxc": "delete";
    "qm pct": "destroy";
    "kafka-topics kafka-topics.sh": "+--delete";
    "rabbitmqctl": "reset|force_reset|delete_vhost|delete_queue";
}

/// What throws containers' data away.
CONTAINER =
ContainerDestroy {
    "docker podman nerdctl docker-compose podman-compose ctr crictl buildah":
        "_ prune !--help", "volume rm|remove", "swarm leave",
        "stack|service|node|secret|config rm", "images|containers|snapshots rm|delete",
        "machine rm|reset", "context rm", "system reset",
        "rm|stop|kill|rmi +-v|--volumes|-fv|-vf|-aq|-a|--all|-af|-fa|--prune",
        "container|image rm|stop|kill +-v|--volumes|-fv|-vf|-aq|-a|--all|-af|-fa|--prune";
}

/// What leaves for everybody.
PUBLISH =
PublishPackage {
    "lerna changeset vsce ovsx jsr deno opam composer": "publish";
    "semantic-release release-it np": "";
    "nx": "release publish";
    "cargo": "publish !-n", "owner !--list|-l", "yank|login", "release +--execute|-x";
    "twine conda anaconda luarocks cabal stack": "upload";
    "python python3": "twine upload +-m", "setup.py ..upload|register";
    "poetry flit hatch uv pdm rye maturin": "publish|upload";
    "gem": "push|yank|owner";
    "rake": "release";
    "mvn mvnw": "..deploy|release:*";
    "gradle gradlew": "..uploadArchives|closeAndReleaseRepository",
        "..*:uploadArchives|*:closeAndReleaseRepository";
    "sbt": "..publish|publishSigned|sonatypeRelease";
    "dotnet": "nuget push";
    "nuget helm oras": "push";
    "pod": "trunk push";
    "mix": "hex.publish";
    "dart flutter": "pub publish";
    "goreleaser": "release !--snapshot|--skip=publish|--skip-publish";
    "docker podman nerdctl": "push", "image|manifest push";
    "docker": "compose push", "buildx build +--push", "build +--push";
    "docker-buildx": "buildx build +--push", "build +--push";
    "crane": "push|copy";
    "skopeo": "copy|delete";
    "glab": "repo delete|archive";
    "gh": "release create|delete|upload", "repo delete|archive|rename|edit",
        "secret|variable set|delete", "api +DELETE|--method=DELETE|-XDELETE", "gist create",
        "pr merge +--admin", "workflow disable", "extension|ext install",
        "run|cache|codespace|issue|gist|project|ruleset delete";
    "hub": "delete";
    "fastlane": "release|deliver|supply|pilot";
    "eas": "submit";
    "lein": "deploy";
    "web-ext": "sign";
    "snapcraft": "upload|push|release";
    "jfrog jf": "rt upload|u";
    "go": "run _ release";
}

/// What drops or empties databases.
DATABASE =
DbDestroy {
    "dropdb dropuser pg_resetwal pg_rewind pg_dropcluster": "";
    "mysqladmin mariadb-admin": "..drop|shutdown";
    "neo4j-admin influx": "..delete";
    "migrate tern goose": "..drop|reset";
    "flask": "db downgrade base";
    "hasura": "metadata clear", "migrate apply +--down";
    "rails rake bin/rails": "..db:drop|db:reset|db:schema:load|db:migrate:reset",
        "..db:truncate_all|db:purge";
    "prisma": "migrate reset", "db push +--force-reset|--accept-data-loss";
    "php": "artisan migrate:fresh|migrate:reset|migrate:refresh|db:wipe";
    "artisan": "migrate:fresh|migrate:reset|migrate:refresh|db:wipe";
    "python python3": "manage.py flush|reset_db";
    "manage.py": "flush|reset_db";
    "sequelize sequelize-cli": "..db:drop|db:migrate:undo:all";
    "typeorm": "schema:drop";
    "knex": "migrate:rollback +--all";
    "supabase": "db reset";
    "mix": "ecto.drop|ecto.reset";
    "alembic": "downgrade base";
    "flyway": "..clean";
    "liquibase": "..drop-all";
    "drizzle-kit dbmate": "drop";
    "pg_restore": "+--clean|-c";
    "mongorestore": "+--drop";
}

/// Programs that hand out what a store keeps.
STORES =
SecretStore {
    "aws": "secretsmanager get-secret-value|batch-get-secret-value",
        "ssm get-parameter|get-parameters|get-parameters-by-path +--with-decryption",
        "configure export-credentials", "configure get *secret*|*token*",
        "sts get-session-token|assume-role", "kms decrypt", "ecr get-authorization-token";
    "gcloud": "secrets versions access", "auth print-access-token|print-identity-token",
        "auth application-default print-access-token";
    "az": "keyvault secret show|download", "account get-access-token";
    "vault": "kv get", "read|token";
    "op": "read", "item get";
    "pass gopass lpass": "show";
    "pass": "~ls|list|git|init|help|version|find $";
    "kwallet-query kwalletcli pbpaste screencapture scrot mimikatz lazagne": "";
    "gpg2 age rage": "+-d|--decrypt";
    "gpg": "+-d|--decrypt|--export-secret*|--delete-secret*";
    "infisical": "secrets|export";
    "chamber": "read|export|env";
    "netlify": "env:list|env:get";
    "railway": "variables";
    "firebase": "functions:config:get|functions:secrets:access";
    "stripe": "config +--list";
    "etcdctl": "get +--prefix";
    "consul": "kv get +-recurse";
    "john hashcat aircrack-ng medusa ncrack crackmapexec responder": "+*";
    "bw": "get|export|list";
    "security": "find-generic-password|find-internet-password|dump-keychain";
    "secret-tool": "lookup|search";
    "keyctl": "print|read|pipe";
    "kubectl oc": "config view +--raw", "create token", "get secret* +-o*|--output";
    "gh": "auth refresh|logout|token", "ssh-key|gpg-key add|delete",
        "auth status +-t|--show-token";
    "vercel": "env pull";
    "xclip xsel": "+-o|--output|-out";
    "heroku": "config|config:get";
    "docker podman": "inspect +*.Env*", "_ inspect +*.Env*";
    "npm": "token";
    "doppler": "secrets";
    "sops": "+-d|--decrypt", "decrypt";
    "ansible-vault": "view|decrypt";
    "fly flyctl": "tokens|auth create|token";
    "terraform": "output +-raw ..*password*|*secret*";
}

/// Privilege, accounts and the system itself.
SYSTEM =
PrivilegeEscalate {
    "su doas pkexec run0 gosu su-exec runuser sudoedit visudo newgrp sg dzdo machinectl gksudo
     kdesudo nsenter chroot capsh setcap setpriv": "";
    "sudo": "$", "~-k|-K|-V";
}
PermWorldWritable {
    "umask": "0|00|000|0000";
    "setfacl": "+*o::rw*|*o:rw*|*other::rw*|*other:rw*";
}
SystemPower {
    "shutdown reboot halt poweroff telinit": "!-c";
    "init": "0|1|6|s|S !-c";
}
SystemSchedule {
    "systemd-run": "";
    "crontab at batch": "!-l";
}
SystemLoader {
    "ssh-keygen ssh-add": "+-D|-s";
    "openssl": "..*.so|*.dylib|*.dll";
    "update-alternatives alternatives": "!--display|--query|--list|--get-selections";
}
SystemAccounts {
    "useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd chsh chfn
     gpasswd vipw dscl": "";
}
SystemKernel {
    "sysctl": "+-w|-p|*=*";
    "insmod rmmod modprobe kexec setenforce swapoff aa-disable aa-teardown grub-install update-grub
     kextunload": "";
    "hostnamectl csrutil swapon efibootmgr spctl nvram": "~status|--s*|show|-p";
    "auditctl": "$", "~-l|-s";
}
SystemClock {
    "date": "+-s|--set*";
    "timedatectl": "~status|--s*|show*|list-timezones|timesync-status|-p";
    "hwclock": "~--s*|--show|-r|--get|--verbose";
    "ntpdate sntp": "!-q|-d|-K";
}
SystemHistory {
    "dmesg": "+-C|-c|--clear|--read-clear";
    "set shopt": "+history ++o|-u|-uo";
}
NetListen { "ssh-copy-id": ""; }
NetReverseShell { "xmrig minerd cpuminer ethminer cgminer bfgminer t-rex nbminer": ""; }

/// The network of the machine.
NETWORK =
SystemNetwork {
    "ip": "..set|add|del|delete|flush|replace|change";
    "ifconfig": "..up|down", "_ _ _";
    "route": "..add|del|delete|flush";
    "nmcli": "..down|off|delete|modify|up|add";
    "networksetup": "..-set*";
    "tc": "..add|del|change|replace";
    "ufw": "~status|version";
    "nft": "~list";
    "firewall-cmd": "..~--list*|--get*|--state";
    "pfctl": "_ !-s|-sr";
    "iptables ip6tables iptables-restore":
        "..~-L|-n|-v|-S|--list|-nvL|-nL|-t|nat|--line-numbers|-vnL|-Ln|-nvx";
}

/// Disks and file systems.
DISK =
DiskFormat {
    "mkfs mke2fs mkswap": "";
    "fdisk sfdisk cfdisk gdisk sgdisk parted wipefs hdparm partprobe cgdisk dmsetup losetup":
        "!-l|--list|--version|--help|print|-p|-a|-I|-n|--no-act|ls|status";
    "wipefs": "+-a|--all";
    "nvme": "format*|sanitize*|delete-ns*|write*|reset*|fw-*";
    "cryptsetup lvremove vgremove pvremove lvreduce mdadm zpool zfs btrfs tune2fs resize2fs
     blkdiscard fstrim": "_ !status|list|get|--detail|show|-l|luksDump|df";
    "badblocks": "+-w|-nw|-wn|-wsv|-svw|-wv|-vw|-ws|-sw";
    "format format.com": "*:";
}
DiskCheck {
    "fsck fsck.ext4 fsck.ext3 fsck.ext2 fsck.xfs fsck.vfat e2fsck xfs_repair ntfsfix reiserfsck":
        "_ !-n|-N|-nf|-fn|--no-action|--dry-run";
}
DiskMount {
    "mount": "..~-l|-t";
    "umount swapoff": "_";
}

/// Programs that administer a machine, with the words by which they only show.
ADMIN =
NetRunRemoteCode {
    "mshta": "";
    "bitsadmin": "!/list";
    "certutil": "+urlcache|-urlcache|--urlcache|/urlcache";
}
SystemService {
    "s6-svc runsv": "";
    "rc-update": "!show|-l";
    "sc sc.exe": "!query|qc";
    "insserv": "!-s";
}
SystemNetwork {
    "ifdown ifup dhclient dhcpcd wpa_supplicant iwconfig wg-quick openvpn": "";
    "wpa_cli": "!status";
    "resolvectl": "!status|query|statistics|show-cache";
    "netplan": "!get|status|info";
    "arp": "!-a|-n|-e|-an";
    "ethtool": "!-i|-k|-g|-S";
    "brctl ovs-vsctl netsh": "!show";
    "wg": "!show|showconf|genkey|pubkey";
    "tailscale": "!status|version|ip|ping|netcheck";
    "zerotier-cli": "!info|listnetworks|status";
    "ebtables": "!-L";
    "ipset rfkill": "!list";
    "ipvsadm": "!-L|-Ln";
    "macchanger": "!-s|--show";
}
SystemKernel {
    "apparmor_parser aa-complain setsebool update-initramfs grub-mkconfig grub2-mkconfig
     grub-set-default dpkg-reconfigure tccutil systemsetup kextload regedit regsvr32 rundll32
     setx": "";
    "wmic": "!get|list";
    "semanage": "!-l";
    "restorecon": "!-n";
    "localectl": "!status|list-locales|list-keymaps";
    "mkinitcpio": "!-L";
    "dracut": "!--list-modules";
    "bootctl": "!status|list";
    "mokutil": "!--sb-state|--list-enrolled";
    "fwupdmgr": "!get-devices|get-updates|get-history";
    "flashrom": "!-r";
    "ipmitool": "!status|list|info";
    "pmset": "!-g";
    "scutil": "!--get|--dns|--proxy";
    "kmutil": "!showloaded";
    "defaults": "!read|find|domains|read-type";
    "reg reg.exe": "!query";
    "bcdedit": "!/enum";
    "powercfg": "!/list|/query";
    "gsettings": "!get|list-keys|list-schemas|range";
    "dconf": "!read|list|dump";
    "hostname": "!-*";
}
SystemAccounts {
    "takeown icacls cacls pwconv newusers faillock pam-auth-update sysadminctl": "";
    "net": "!view|time|statistics";
    "net.exe": "!view";
}
SystemSchedule {
    "schtasks schtasks.exe": "!/query";
    "anacron": "!-T";
}
SystemHistory {
    "wevtutil": "!el|qe|gl";
    "logrotate": "+-f|--force";
}
DiskFormat {
    "diskpart debugfs nwipe scrub ddrescue e2label": "";
    "vssadmin": "!list";
    "wbadmin": "!get";
    "fsutil": "!query";
    "testdisk": "!/list";
    "kpartx": "!-l";
    "growpart": "!--dry-run";
    "tmutil": "!listbackups|status|destinationinfo";
    "lvcreate lvextend lvreduce lvremove lvresize lvchange lvconvert lvmove lvrename vgcreate
     vgextend vgreduce vgremove vgresize vgchange vgconvert vgmove vgrename pvcreate pvextend
     pvreduce pvremove pvresize pvchange pvconvert pvmove pvrename": "";
}
NetListen {
    "chisel frpc frps gost iodine dnscat rathole inlets pagekite sshuttle": "";
    "zrok": "!status";
    "devtunnel": "!list|show";
    "autossh": "+-R|-D";
}
SecretStore {
    // What others type, see or keep in memory.
    "tshark dumpcap ettercap bettercap": "+-i|-w|--interface";
    "gcore xdotool ydotool logkeys xspy": "";
}
SystemPackages {
    "npm pnpm yarn": "+-g|--global|global +uninstall|un|rm|remove|r";
    "flatpak pkg nix-env zypper emerge guix choco winget scoop pkgutil opkg eopkg":
        "+uninstall|remove|rm|delete|-e|--uninstall|-C|--unmerge|--depclean|--forget";
    "xbps-remove": "";
}

/// The verbs of PowerShell that administer a machine, and programs of Windows
/// that do. All in small letters.
WINDOWS =
PrivilegeEscalate {
    "set-executionpolicy": "!process";
    "enable-psremoting": "";
    "runas psexec psexec64": "";
}
SystemService {
    "new-service set-service stop-service remove-service suspend-service restart-service
     set-mppreference add-mppreference remove-mppreference uninstall-windowsfeature
     remove-windowsfeature disable-windowsoptionalfeature": "";
    "nssm winsw": "!status|list|get";
}
SystemSchedule {
    "register-scheduledtask set-scheduledtask unregister-scheduledtask disable-scheduledtask
     register-scheduledjob register-wmievent set-wmiinstance register-cimindicationevent
     new-scheduledtask": "";
}
SystemPower { "stop-computer restart-computer": ""; }
DiskFormat {
    "format-volume clear-disk initialize-disk remove-partition new-partition set-disk
     set-partition resize-partition reset-physicaldisk remove-virtualdisk remove-storagepool
     remove-volume repair-volume disable-bitlocker manage-bde": "";
    "cipher": "+/w*|/W*";
}
SystemAccounts {
    "new-localuser remove-localuser set-localuser enable-localuser disable-localuser
     add-localgroupmember remove-localgroupmember new-aduser remove-aduser set-aduser
     set-adaccountpassword add-adgroupmember remove-adobject": "";
}
SystemNetwork {
    "new-netfirewallrule remove-netfirewallrule set-netfirewallrule disable-netfirewallrule
     enable-netfirewallrule set-netfirewallprofile disable-netadapter new-netroute
     remove-netroute set-netipaddress new-netipaddress remove-netipaddress
     set-dnsclientserveraddress": "";
}
SystemHistory {
    "clear-eventlog remove-eventlog limit-eventlog clear-history": "";
    "set-psreadlineoption": "..*savenothing*";
    "auditpol": "!/get|/list";
}
SystemPackages {
    "uninstall-package uninstall-module remove-appxpackage remove-appxprovisionedpackage": "";
}
SystemKernel {
    "set-timezone rename-computer disable-computerrestore import-certificate
     enable-windowsoptionalfeature set-processmitigation add-computer remove-computer": "";
    "tzutil": "!/g|/l";
    "driverquery pnputil": "!/enum*|-e";
    "dism": "!/get*";
    "secedit": "!/export|/analyze";
    "regini": "";
}
SystemClock { "set-date": ""; }
SystemLoader {
    "installutil regasm regsvcs odbcconf cmstp": "";
}
NetRunRemoteCode {
    "invoke-wmimethod invoke-cimmethod": "..create|win32_process|*win32_process*";
    "wscript cscript": "..http*://*|\\\\*";
    "msiexec": "..http*://*";
    "wmic": "..*http://*|*https://*";
}
OpaqueCode {
    "ftp": "..-s:*";
}
SecretStore {
    "get-secret get-storedcredential export-pfxcertificate get-azkeyvaultsecret vaultcmd cmdkey
     procdump procdump64 ntdsutil get-clipboard export-certificate": "";
    "convertfrom-securestring": "+-asplaintext";
    "rundll32": "..*comsvcs*|*keymgr*";
    "netsh": "wlan ..key=clear";
}
SecretSend { "send-mailmessage": ""; }

/// git by its verb, with the words behind it.
GIT =
GitResetHard {
    "reset": "+--merge";
    "svn": "reset";
}
GitClean { "clean": "+-f|--force !-n|--dry-run"; }
GitDiscard {
    "restore": "!-S|--staged !--help", "+-W|--worktree !--help";
    "switch": "+-f|--force|--discard-changes";
    "checkout-index": "+-f|--force|-a|--all";
    "read-tree": "+--reset|-u";
    "worktree": "remove +-f|--force";
    "submodule": "deinit +-f|--force";
    "pull": "+-f|--force";
}
GitBranchDelete { "tag": "+-d|--delete"; }
GitStashDrop { "stash": "clear|drop"; }
GitHistory {
    "tag": "+-f|--force";
    "reflog": "expire|delete";
    "filter-branch filter-repo": "";
    "replace": "!-l|--list";
    "update-ref": "+-d|--stdin";
    "symbolic-ref": "+-d";
    "gc": "+--prune ..*now*|*all*";
    "prune": "!-n|--dry-run";
    "rebase": "+--root";
    "lfs": "prune";
}
FsWriteOutside { "apply am": "+--unsafe-paths"; }
SecretSend { "send-email": ""; }
NetListen { "daemon instaweb http-backend": ""; }

/// Other tools that keep history.
VERSIONS =
GitHistory {
    "bfg git-filter-repo git-filter-branch": "";
    "hg": "strip|rollback|histedit";
    "jj": "op|operation restore|abandon";
    "p4": "obliterate";
    "fossil": "purge|shun|scrub";
}
GitClean {
    "hg": "purge|clean";
    "svn": "cleanup +--remove-unversioned";
}
GitDiscard {
    "hg": "update|up|checkout|co +-C|--clean", "revert +-a|--all";
    "svn": "revert +-R|--recursive";
    "jj": "abandon";
    "p4": "revert ..*...*";
}
GitForcePush { "hg bzr": "push +-f|--force|--overwrite"; }
GitDeleteRemote {
    "svn": "delete|del|remove|rm ..*://*";
    "jj": "git push +--deleted";
}
}
