//! The guard itself, and what it can't read.

use super::{Example, Family, Rule, Text};

pub const RULES: &[Rule] = &[
    Rule {
        id: "guard.control-plane",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It changes the guard, its hooks or the evidence of the loop.",
            tw: "它會更改護欄、掛鉤或迴圈的證據。",
            cn: "它会更改护栏、钩子或循环的证据。",
        },
        hint: Text {
            en: "Leave these files to a person.",
            tw: "這些檔案請留給人處理。",
            cn: "这些文件请留给人处理。",
        },
        matches: &[
            Example::Write(".claude/settings.local.json"),
            Example::Bash("echo '{}' > .ralph/config.toml"),
            Example::Bash("rm -rf .ralph"),
            Example::Write(".git/hooks/pre-commit"),
        ],
        not_matches: &[
            Example::Read(".ralph/config.toml"),
            Example::Write(".ralph/fix_plan.md"),
            Example::Write(".claude/commands/review.md"),
        ],
    },
    Rule {
        id: "guard.switch-off",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It would switch the guard off or steer the loop.",
            tw: "它會關閉護欄或操縱迴圈。",
            cn: "它会关闭护栏或操纵循环。",
        },
        hint: Text {
            en: "Only a person may change how the loop runs.",
            tw: "只有人可以更改迴圈的執行方式。",
            cn: "只有人可以更改循环的运行方式。",
        },
        matches: &[
            Example::Bash("ralph config set guard.fail open"),
            Example::Bash("claude --dangerously-skip-permissions -p x"),
        ],
        not_matches: &[
            Example::Bash("ralph status"),
            Example::Bash("ralph guard test 'rm -rf /'"),
        ],
    },
    Rule {
        id: "opaque.command",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "Which program runs is only known when it runs.",
            tw: "要到執行時才知道會跑哪個程式。",
            cn: "要到执行时才知道会跑哪个程序。",
        },
        hint: Text {
            en: "Write the program's name as it is.",
            tw: "請直接寫出程式名稱。",
            cn: "请直接写出程序名称。",
        },
        matches: &[
            Example::Bash("$CMD -rf /"),
            Example::Bash("$(cat tool.txt) --all"),
        ],
        not_matches: &[Example::Bash("npm run $TASK"), Example::Bash("a=ls; $a")],
    },
    Rule {
        id: "opaque.target",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "What would be deleted is only known when it runs.",
            tw: "要到執行時才知道會刪除什麼。",
            cn: "要到执行时才知道会删除什么。",
        },
        hint: Text {
            en: "Write the path as it is.",
            tw: "請直接寫出路徑。",
            cn: "请直接写出路径。",
        },
        matches: &[
            Example::Bash("rm -rf \"$DIR\""),
            Example::Bash("rm -rf $BUILD/*"),
        ],
        not_matches: &[
            Example::Bash("d=build; rm -rf $d"),
            Example::Bash("rm -rf dist/$NAME"),
        ],
    },
    Rule {
        id: "opaque.code",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It runs code that can't be read from here.",
            tw: "它會執行從這裡讀不到的程式碼。",
            cn: "它会执行从这里读不到的代码。",
        },
        hint: Text {
            en: "Write the code into a file of the project and run that.",
            tw: "請把程式碼寫進專案的檔案再執行。",
            cn: "请把代码写进项目的文件再执行。",
        },
        matches: &[Example::Bash("some-tool | sh")],
        not_matches: &[
            Example::Bash("echo 'ls' | sh"),
            Example::Bash("cat setup.sh | bash"),
        ],
    },
    Rule {
        id: "opaque.syntax",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "The command could not be read as shell text.",
            tw: "這段命令無法當作 shell 文字讀取。",
            cn: "这段命令无法当作 shell 文本读取。",
        },
        hint: Text {
            en: "Correct the quotes and brackets, or write a script file.",
            tw: "請修正引號與括號，或寫成腳本檔。",
            cn: "请修正引号与括号，或写成脚本文件。",
        },
        matches: &[
            Example::Bash("echo 'unfinished"),
            Example::Bash("if true; then"),
        ],
        not_matches: &[Example::Bash("echo \"it's fine\"")],
    },
    Rule {
        id: "opaque.too-large",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "The command is too long or too deeply nested to be read.",
            tw: "命令太長或巢狀太深，無法讀取。",
            cn: "命令太长或嵌套太深，无法读取。",
        },
        hint: Text {
            en: "Split the command, or write a script file.",
            tw: "請拆開命令，或寫成腳本檔。",
            cn: "请拆开命令，或写成脚本文件。",
        },
        matches: &[Example::Nested(60)],
        not_matches: &[Example::Nested(3)],
    },
    Rule {
        id: "opaque.payload",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "The call does not say what it would do.",
            tw: "這個呼叫沒有說明它要做什麼。",
            cn: "这个调用没有说明它要做什么。",
        },
        hint: Text {
            en: "Send the tool's input as the tool defines it.",
            tw: "請依工具的定義傳入參數。",
            cn: "请按工具的定义传入参数。",
        },
        matches: &[Example::Call("Bash", "{\"command\":7}")],
        not_matches: &[Example::Call("Bash", "{\"command\":\"ls\"}")],
    },
];
