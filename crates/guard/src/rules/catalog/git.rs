//! git.

use super::{Example, Family, Rule, Text};

pub const RULES: &[Rule] = &[
    Rule {
        id: "git.force-push",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It overwrites the history of others.",
            tw: "它會覆寫他人的歷史。",
            cn: "它会覆写他人的历史。",
        },
        hint: Text {
            en: "Push without force; if you must, --force-with-lease to your own branch.",
            tw: "請勿強制推送；必要時對自己的分支用 --force-with-lease。",
            cn: "请勿强制推送；必要时对自己的分支用 --force-with-lease。",
        },
        matches: &[
            Example::Bash("git push --force"),
            Example::Bash("git push origin +main"),
            Example::Bash("git -C . push -f"),
        ],
        not_matches: &[
            Example::Bash("git push origin HEAD"),
            Example::Bash("git push --force-with-lease"),
        ],
    },
    Rule {
        id: "git.force-with-lease",
        family: Family::Command,
        pack: None,
        off: true,
        reason: Text {
            en: "It overwrites a branch, if nobody else pushed to it.",
            tw: "若無他人推送，它會覆寫分支。",
            cn: "若无他人推送，它会覆写分支。",
        },
        hint: Text {
            en: "Push without force.",
            tw: "請勿強制推送。",
            cn: "请勿强制推送。",
        },
        matches: &[Example::Bash("git push --force-with-lease")],
        not_matches: &[Example::Bash("git push")],
    },
    Rule {
        id: "git.delete-remote",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It deletes a branch or tag on the server.",
            tw: "它會刪除伺服器上的分支或標籤。",
            cn: "它会删除服务器上的分支或标签。",
        },
        hint: Text {
            en: "Leave branches on the server to a person.",
            tw: "伺服器上的分支請由人處理。",
            cn: "服务器上的分支请由人处理。",
        },
        matches: &[
            Example::Bash("git push origin --delete main"),
            Example::Bash("git push origin :main"),
        ],
        not_matches: &[Example::Bash("git push origin main:main")],
    },
    Rule {
        id: "git.reset-hard",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It throws uncommitted work away.",
            tw: "它會丟棄未提交的工作。",
            cn: "它会丢弃未提交的工作。",
        },
        hint: Text {
            en: "Commit or stash first; use git reset --soft or git revert.",
            tw: "請先 commit 或 stash；改用 git reset --soft 或 git revert。",
            cn: "请先 commit 或 stash；改用 git reset --soft 或 git revert。",
        },
        matches: &[
            Example::Bash("git reset --hard"),
            Example::Bash("git reset --hard HEAD~3"),
        ],
        not_matches: &[
            Example::Bash("git reset HEAD file.txt"),
            Example::Bash("git reset --soft HEAD~1"),
        ],
    },
    Rule {
        id: "git.clean",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It deletes files that git does not know.",
            tw: "它會刪除 git 未追蹤的檔案。",
            cn: "它会删除 git 未跟踪的文件。",
        },
        hint: Text {
            en: "Look with git clean -n and delete by name.",
            tw: "請先用 git clean -n 查看，再依名稱刪除。",
            cn: "请先用 git clean -n 查看，再按名称删除。",
        },
        matches: &[
            Example::Bash("git clean -fdx"),
            Example::Bash("git clean --force"),
        ],
        not_matches: &[
            Example::Bash("git clean -n"),
            Example::Bash("git clean -fdn"),
        ],
    },
    Rule {
        id: "git.discard",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It throws uncommitted changes away.",
            tw: "它會丟棄未提交的更改。",
            cn: "它会丢弃未提交的更改。",
        },
        hint: Text {
            en: "Commit or git stash first.",
            tw: "請先 commit 或 git stash。",
            cn: "请先 commit 或 git stash。",
        },
        matches: &[
            Example::Bash("git checkout -- ."),
            Example::Bash("git restore src"),
            Example::Bash("git checkout ."),
        ],
        not_matches: &[
            Example::Bash("git checkout main"),
            Example::Bash("git checkout -b topic"),
            Example::Bash("git restore --staged x"),
        ],
    },
    Rule {
        id: "git.branch-delete",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It deletes a branch or tag with what only it holds.",
            tw: "它會刪除分支或標籤及其獨有內容。",
            cn: "它会删除分支或标签及其独有内容。",
        },
        hint: Text {
            en: "Use git branch -d, which refuses to lose commits.",
            tw: "請用 git branch -d，它不會遺失提交。",
            cn: "请用 git branch -d，它不会丢失提交。",
        },
        matches: &[Example::Bash("git branch -D topic")],
        not_matches: &[
            Example::Bash("git branch -d topic"),
            Example::Bash("git branch"),
        ],
    },
    Rule {
        id: "git.stash-drop",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It deletes stashed work.",
            tw: "它會刪除暫存的工作。",
            cn: "它会删除暂存的工作。",
        },
        hint: Text {
            en: "Leave stashes, or use git stash pop.",
            tw: "請保留 stash，或用 git stash pop。",
            cn: "请保留 stash，或用 git stash pop。",
        },
        matches: &[
            Example::Bash("git stash clear"),
            Example::Bash("git stash drop"),
        ],
        not_matches: &[Example::Bash("git stash"), Example::Bash("git stash pop")],
    },
    Rule {
        id: "git.history",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It rewrites or forgets history.",
            tw: "它會改寫或抹去歷史。",
            cn: "它会改写或抹去历史。",
        },
        hint: Text {
            en: "Add a commit instead.",
            tw: "請改為新增提交。",
            cn: "请改为新增提交。",
        },
        matches: &[
            Example::Bash("git reflog expire --all"),
            Example::Bash("git filter-branch x"),
            Example::Bash("git update-ref -d HEAD"),
        ],
        not_matches: &[
            Example::Bash("git reflog"),
            Example::Bash("git rebase main"),
        ],
    },
    Rule {
        id: "git.config-injection",
        family: Family::Command,
        pack: None,
        off: false,
        reason: Text {
            en: "It makes git run another program or look elsewhere.",
            tw: "它會讓 git 執行別的程式或改看別處。",
            cn: "它会让 git 执行别的程序或改看别处。",
        },
        hint: Text {
            en: "Use git with its own settings.",
            tw: "請用 git 原有的設定。",
            cn: "请用 git 原有的设置。",
        },
        matches: &[
            Example::Bash("git -c core.sshCommand=./x fetch"),
            Example::Bash("git config core.hooksPath /tmp/h"),
            Example::Bash("git -c alias.x='!sh' x"),
        ],
        not_matches: &[
            Example::Bash("git -c user.name=x commit -m y"),
            Example::Bash("git -c core.pager=cat log"),
            Example::Bash("git config user.email a@example.com"),
        ],
    },
];
