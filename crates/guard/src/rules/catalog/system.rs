//! Privilege, processes, disks and the system.

use super::{Example, Family, Rule, Text};

pub const RULES: &[Rule] = &[
    Rule {
        id: "privilege.escalate",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It runs with other rights than yours.",
            tw: "它會以別的權限執行。",
            cn: "它会以别的权限运行。",
        },
        hint: Text {
            en: "Work without sudo; ask a person for what needs it.",
            tw: "請不要用 sudo；需要時請人處理。",
            cn: "请不要用 sudo；需要时请人处理。",
        },
        matches: &[
            Example::Bash("sudo apt install jq"),
            Example::Bash("su -c id"),
            Example::Bash("doas ls"),
        ],
        not_matches: &[
            Example::Bash("echo sudo"),
            Example::Bash("grep -r sudo docs"),
        ],
    },
    Rule {
        id: "privilege.setuid",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It gives a program its owner's rights.",
            tw: "它讓程式帶有擁有者的權限。",
            cn: "它让程序带有所有者的权限。",
        },
        hint: Text {
            en: "Use ordinary modes such as 755.",
            tw: "請用一般權限，例如 755。",
            cn: "请用普通权限，例如 755。",
        },
        matches: &[
            Example::Bash("chmod u+s tool"),
            Example::Bash("chmod 4755 tool"),
        ],
        not_matches: &[
            Example::Bash("chmod +x tool"),
            Example::Bash("chmod 755 tool"),
        ],
    },
    Rule {
        id: "perm.world-writable",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It lets everybody write.",
            tw: "它讓所有人都能寫入。",
            cn: "它让所有人都能写入。",
        },
        hint: Text {
            en: "Use 755 for directories and programs, 644 for files.",
            tw: "目錄與程式請用 755，檔案用 644。",
            cn: "目录与程序请用 755，文件用 644。",
        },
        matches: &[
            Example::Bash("chmod 777 x"),
            Example::Bash("chmod -R a+rwx ."),
            Example::Bash("chmod u=rwx,go=rwx x"),
        ],
        not_matches: &[Example::Bash("chmod 755 x"), Example::Bash("chmod u+rwx x")],
    },
    Rule {
        id: "system.power",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It stops or restarts the machine.",
            tw: "它會關閉或重啟機器。",
            cn: "它会关闭或重启机器。",
        },
        hint: Text {
            en: "Leave the machine running.",
            tw: "請讓機器繼續運作。",
            cn: "请让机器继续运行。",
        },
        matches: &[Example::Bash("shutdown -h now"), Example::Bash("reboot")],
        not_matches: &[
            Example::Bash("echo reboot"),
            Example::Bash("git commit -m 'reboot the parser'"),
        ],
    },
    Rule {
        id: "system.process",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It ends processes that are not yours.",
            tw: "它會結束不屬於你的程序。",
            cn: "它会结束不属于你的进程。",
        },
        hint: Text {
            en: "End the process that you started, by its number or its full name.",
            tw: "請用編號或完整名稱結束自己啟動的程序。",
            cn: "请用编号或完整名称结束自己启动的进程。",
        },
        matches: &[
            Example::Bash("kill -9 -1"),
            Example::Bash("pkill -u root"),
            Example::Bash("killall ralph"),
        ],
        not_matches: &[
            Example::Bash("kill $!"),
            Example::Bash("pkill -f 'next dev'"),
            Example::Bash("kill 12345"),
        ],
    },
    Rule {
        id: "system.service",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It changes services of the system.",
            tw: "它會更改系統服務。",
            cn: "它会更改系统服务。",
        },
        hint: Text {
            en: "Start what you need in the foreground of the project.",
            tw: "請在專案中直接啟動需要的程式。",
            cn: "请在项目中直接启动需要的程序。",
        },
        matches: &[
            Example::Bash("systemctl stop nginx"),
            Example::Bash("service ssh restart"),
        ],
        not_matches: &[Example::Bash("systemctl status nginx")],
    },
    Rule {
        id: "system.schedule",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It plans commands for later, outside the loop.",
            tw: "它會安排迴圈之外的排程命令。",
            cn: "它会安排循环之外的定时命令。",
        },
        hint: Text {
            en: "Run the command now, within the project.",
            tw: "請在專案中立即執行。",
            cn: "请在项目中立即运行。",
        },
        matches: &[
            Example::Bash("crontab -r"),
            Example::Bash("echo 'make' | at now"),
        ],
        not_matches: &[Example::Bash("crontab -l")],
    },
    Rule {
        id: "system.accounts",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It changes the accounts of the machine.",
            tw: "它會更改機器的帳號。",
            cn: "它会更改机器的账号。",
        },
        hint: Text {
            en: "Leave accounts to a person.",
            tw: "帳號請由人處理。",
            cn: "账号请由人处理。",
        },
        matches: &[Example::Bash("useradd eve"), Example::Bash("passwd")],
        not_matches: &[Example::Bash("id"), Example::Bash("whoami")],
    },
    Rule {
        id: "system.network",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It changes the network of the machine.",
            tw: "它會更改機器的網路設定。",
            cn: "它会更改机器的网络设置。",
        },
        hint: Text {
            en: "Leave the network to a person.",
            tw: "網路設定請由人處理。",
            cn: "网络设置请由人处理。",
        },
        matches: &[
            Example::Bash("iptables -F"),
            Example::Bash("ip link set eth0 down"),
        ],
        not_matches: &[Example::Bash("ip addr"), Example::Bash("iptables -L")],
    },
    Rule {
        id: "system.kernel",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It changes the kernel or the system's settings.",
            tw: "它會更改核心或系統設定。",
            cn: "它会更改内核或系统设置。",
        },
        hint: Text {
            en: "Leave the system to a person.",
            tw: "系統設定請由人處理。",
            cn: "系统设置请由人处理。",
        },
        matches: &[
            Example::Bash("sysctl -w vm.swappiness=1"),
            Example::Bash("rmmod nvme"),
        ],
        not_matches: &[Example::Bash("sysctl -a"), Example::Bash("uname -a")],
    },
    Rule {
        id: "system.packages",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It removes packages of the system.",
            tw: "它會移除系統套件。",
            cn: "它会移除系统软件包。",
        },
        hint: Text {
            en: "Leave the system's packages as they are.",
            tw: "請不要更動系統套件。",
            cn: "请不要更动系统软件包。",
        },
        matches: &[
            Example::Bash("apt-get remove -y libc6"),
            Example::Bash("brew uninstall git"),
        ],
        not_matches: &[
            Example::Bash("apt-get install -y jq"),
            Example::Bash("npm uninstall left-pad"),
        ],
    },
    Rule {
        id: "system.history",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It wipes the traces of what was done.",
            tw: "它會抹去操作的痕跡。",
            cn: "它会抹去操作的痕迹。",
        },
        hint: Text {
            en: "Leave the history as it is.",
            tw: "請保留歷史紀錄。",
            cn: "请保留历史记录。",
        },
        matches: &[
            Example::Bash("history -c"),
            Example::Bash("rm ~/.bash_history"),
        ],
        not_matches: &[Example::Bash("git log"), Example::Bash("history")],
    },
    Rule {
        id: "system.fork-bomb",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It starts itself without end.",
            tw: "它會無止盡地啟動自己。",
            cn: "它会无止尽地启动自己。",
        },
        hint: Text {
            en: "Do not run it.",
            tw: "請勿執行。",
            cn: "请勿运行。",
        },
        matches: &[
            Example::Bash(":(){ :|:& };:"),
            Example::Bash("b() { b | b & }; b"),
        ],
        not_matches: &[Example::Bash("f() { echo hi; }; f")],
    },
    Rule {
        id: "system.loader",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It makes other programs load code.",
            tw: "它會讓其他程式載入程式碼。",
            cn: "它会让其他程序加载代码。",
        },
        hint: Text {
            en: "Call the program directly.",
            tw: "請直接呼叫程式。",
            cn: "请直接调用程序。",
        },
        matches: &[
            Example::Bash("LD_PRELOAD=./evil.so ls"),
            Example::Bash("BASH_ENV=./x.sh bash -c true"),
        ],
        not_matches: &[
            Example::Bash("NODE_ENV=test node app.js"),
            Example::Bash("PATH=$PWD/bin:$PATH make"),
        ],
    },
    Rule {
        id: "disk.format",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It formats or partitions a disk.",
            tw: "它會格式化或分割磁碟。",
            cn: "它会格式化或分区磁盘。",
        },
        hint: Text {
            en: "Leave disks to a person.",
            tw: "磁碟請由人處理。",
            cn: "磁盘请由人处理。",
        },
        matches: &[
            Example::Bash("mkfs.ext4 /dev/sda1"),
            Example::Bash("wipefs -a /dev/sdb"),
        ],
        not_matches: &[Example::Bash("lsblk"), Example::Bash("fdisk -l")],
    },
    Rule {
        id: "disk.raw-write",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It writes to a device.",
            tw: "它會寫入裝置。",
            cn: "它会写入设备。",
        },
        hint: Text {
            en: "Write to a file of the project.",
            tw: "請寫入專案的檔案。",
            cn: "请写入项目的文件。",
        },
        matches: &[
            Example::Bash("dd if=/dev/zero of=/dev/sda"),
            Example::Bash("echo x > /dev/sda"),
        ],
        not_matches: &[
            Example::Bash("dd if=/dev/zero of=test.img bs=1M count=1"),
            Example::Bash("echo x > /dev/null"),
        ],
    },
    Rule {
        id: "disk.raw-read",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It reads a device.",
            tw: "它會讀取裝置。",
            cn: "它会读取设备。",
        },
        hint: Text {
            en: "Read a file of the project.",
            tw: "請讀取專案的檔案。",
            cn: "请读取项目的文件。",
        },
        matches: &[Example::Bash("dd if=/dev/sda of=disk.img")],
        not_matches: &[Example::Bash("head -c 16 /dev/urandom")],
    },
    Rule {
        id: "disk.mount",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It changes what is mounted.",
            tw: "它會更改掛載。",
            cn: "它会更改挂载。",
        },
        hint: Text {
            en: "Leave mounts to a person.",
            tw: "掛載請由人處理。",
            cn: "挂载请由人处理。",
        },
        matches: &[
            Example::Bash("mount /dev/sdb1 /mnt"),
            Example::Bash("umount /home"),
        ],
        not_matches: &[Example::Bash("mount"), Example::Bash("df -h")],
    },
];
