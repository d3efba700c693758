//! Troubles, causes and what a person has to see to, in words.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::phase::short;
use super::{Cause, Trouble, TroubleKind};
use crate::lang::{Lang, Say};
use crate::tr;

/// What a person has to see to before a run can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgeNeed {
    /// The forge's own program is not installed.
    Program,
    Login,
    Repository,
    /// The forge could not be reached for too long.
    Unreachable,
    /// There is no open pull request to work on.
    NoPull,
    Closed,
    /// The checks did not end in time.
    CiTimeout,
    /// The commit got no checks.
    NoChecks,
    /// Only what the base fails too is left.
    PreExisting,
    Infrastructure,
    MergeRefused,
    /// It was merged although CI or the gate did not pass.
    MergedUnproven,
    /// Checks were weakened before anybody worked here.
    Weakened,
}

impl ForgeNeed {
    pub fn name(self) -> &'static str {
        match self {
            ForgeNeed::Program => "forge_program",
            ForgeNeed::Login => "forge_login",
            ForgeNeed::Repository => "forge_repository",
            ForgeNeed::Unreachable => "forge_unreachable",
            ForgeNeed::NoPull => "no_pull_request",
            ForgeNeed::Closed => "pr_closed",
            ForgeNeed::CiTimeout => "ci_timeout",
            ForgeNeed::NoChecks => "no_checks",
            ForgeNeed::PreExisting => "ci_pre_existing",
            ForgeNeed::Infrastructure => "ci_infrastructure",
            ForgeNeed::MergeRefused => "merge_refused",
            ForgeNeed::MergedUnproven => "merged_unproven",
            ForgeNeed::Weakened => "checks_weakened",
        }
    }

    /// What has to be seen to after a trouble that does not pass by itself.
    pub fn after(kind: TroubleKind) -> ForgeNeed {
        match kind {
            TroubleKind::Missing => ForgeNeed::Program,
            TroubleKind::Login => ForgeNeed::Login,
            TroubleKind::NoRepository => ForgeNeed::Repository,
            TroubleKind::NoPull => ForgeNeed::NoPull,
            TroubleKind::RateLimited
            | TroubleKind::Network
            | TroubleKind::Silent
            | TroubleKind::Refused
            | TroubleKind::Strange => ForgeNeed::Unreachable,
        }
    }
}

impl Say for ForgeNeed {
    fn say(&self, lang: Lang) -> String {
        match self {
            ForgeNeed::Program => tr!(
                lang,
                "the forge's own program (gh, glab) is not installed: install it, then `ralph resume`",
                "尚未安裝 gh（或 glab）：請安裝後執行 `ralph resume`",
                "尚未安装 gh（或 glab）：请安装后执行 `ralph resume`",
            ),
            ForgeNeed::Login => tr!(
                lang,
                "gh (or glab) is not logged in: `gh auth login`, then `ralph resume`",
                "gh（或 glab）尚未登入：請執行 `gh auth login`，之後 `ralph resume`",
                "gh（或 glab）尚未登录：请执行 `gh auth login`，之后 `ralph resume`",
            ),
            ForgeNeed::Repository => tr!(
                lang,
                "no remote of this project names a repository that can be seen: check `git remote -v`, then `ralph resume`",
                "此專案沒有可用的遠端儲存庫：請檢查 `git remote -v`，之後 `ralph resume`",
                "此项目没有可用的远程仓库：请检查 `git remote -v`，之后 `ralph resume`",
            ),
            ForgeNeed::Unreachable => tr!(
                lang,
                "the forge did not answer as it should: look at the log, then `ralph resume`",
                "代碼託管服務沒有正確回應：請查看日誌，之後 `ralph resume`",
                "代码托管服务没有正确响应：请查看日志，之后 `ralph resume`",
            ),
            ForgeNeed::NoPull => tr!(
                lang,
                "there is no open pull request: `ralph run --preset dev-p0` makes one, or name it with --pr N",
                "沒有開啟的 PR：請用 `ralph run --preset dev-p0` 建立，或用 --pr N 指定",
                "没有打开的 PR：请用 `ralph run --preset dev-p0` 创建，或用 --pr N 指定",
            ),
            ForgeNeed::Closed => tr!(
                lang,
                "the pull request was closed without a merge: reopen it, then `ralph resume`",
                "PR 已關閉但未合併：請重新開啟，之後 `ralph resume`",
                "PR 已关闭但未合并：请重新打开，之后 `ralph resume`",
            ),
            ForgeNeed::CiTimeout => tr!(
                lang,
                "CI did not end within pr.poll_timeout: `ralph resume` waits on",
                "CI 未在 pr.poll_timeout 內結束：`ralph resume` 會繼續等待",
                "CI 未在 pr.poll_timeout 内结束：`ralph resume` 会继续等待",
            ),
            ForgeNeed::NoChecks => tr!(
                lang,
                "the pushed commit got no checks: look whether CI is set up for pull requests, then `ralph resume`",
                "推送的提交沒有任何檢查：請確認 PR 是否設定了 CI，之後 `ralph resume`",
                "推送的提交没有任何检查：请确认 PR 是否配置了 CI，之后 `ralph resume`",
            ),
            ForgeNeed::PreExisting => tr!(
                lang,
                "what still fails, fails on the base branch too: repair it there, then `ralph resume`",
                "剩下的失敗在目標分支上同樣存在：請先在那裡修復，之後 `ralph resume`",
                "剩下的失败在目标分支上同样存在：请先在那里修复，之后 `ralph resume`",
            ),
            ForgeNeed::Infrastructure => tr!(
                lang,
                "CI's own machines failed, also when run again: look at the forge, then `ralph resume`",
                "CI 的基礎設施故障，重新執行後依然如此：請查看平台狀態，之後 `ralph resume`",
                "CI 的基础设施故障，重新运行后依然如此：请查看平台状态，之后 `ralph resume`",
            ),
            ForgeNeed::MergeRefused => tr!(
                lang,
                "CI is green and the merge was refused (a review, a draft, a rule of the branch): see to it, then `ralph resume`",
                "CI 已通過，但合併被拒絕（審查、草稿或分支規則）：請處理後執行 `ralph resume`",
                "CI 已通过，但合并被拒绝（审查、草稿或分支规则）：请处理后执行 `ralph resume`",
            ),
            ForgeNeed::MergedUnproven => tr!(
                lang,
                "the pull request was merged although CI or the quality gate did not pass: look at the base branch",
                "PR 在 CI 或質檢未通過的情況下被合併：請檢查目標分支",
                "PR 在 CI 或质检未通过的情况下被合并：请检查目标分支",
            ),
            ForgeNeed::Weakened => tr!(
                lang,
                "checks or tests were removed, skipped or emptied: look at them, then `ralph resume`",
                "檢查或測試被移除、略過或清空：請查看後執行 `ralph resume`",
                "检查或测试被移除、跳过或清空：请查看后执行 `ralph resume`",
            ),
        }
    }
}

impl Say for Cause {
    fn say(&self, lang: Lang) -> String {
        match self {
            Cause::Regression => tr!(lang, "new failure", "新的失敗", "新的失败"),
            Cause::Flaky => tr!(lang, "perhaps flaky", "可能不穩定", "可能不稳定"),
            Cause::PreExisting => tr!(
                lang,
                "the base fails too",
                "目標分支同樣失敗",
                "目标分支同样失败"
            ),
            Cause::Infrastructure => tr!(lang, "infrastructure", "基礎設施", "基础设施"),
        }
    }
}

impl Trouble {
    pub(super) fn next_step(&self, lang: Lang) -> String {
        let program = &self.program;
        match self.kind {
            TroubleKind::Missing => tr!(
                lang,
                "nothing is done; install {program}",
                "不做任何事；請安裝 {program}",
                "不做任何事；请安装 {program}",
            ),
            TroubleKind::Login => tr!(
                lang,
                "nothing is done; log in: {program} auth login",
                "不做任何事；請登入：{program} auth login",
                "不做任何事；请登录：{program} auth login",
            ),
            TroubleKind::NoRepository => tr!(
                lang,
                "nothing is done; check `git remote -v`",
                "不做任何事；請檢查 `git remote -v`",
                "不做任何事；请检查 `git remote -v`",
            ),
            _ => tr!(
                lang,
                "nothing is done; try again later",
                "不做任何事；請稍後再試",
                "不做任何事；请稍后再试",
            ),
        }
    }
}

impl Say for Trouble {
    fn say(&self, lang: Lang) -> String {
        let program = &self.program;
        let fact = match self.kind {
            TroubleKind::Missing => tr!(
                lang,
                "{program} is not installed",
                "尚未安裝 {program}",
                "尚未安装 {program}"
            ),
            TroubleKind::Login => tr!(
                lang,
                "{program} is not logged in",
                "{program} 尚未登入",
                "{program} 尚未登录"
            ),
            TroubleKind::RateLimited => tr!(
                lang,
                "{program}: the forge limits the number of requests",
                "{program}：請求次數受到限制",
                "{program}：请求次数受到限制"
            ),
            TroubleKind::Network => tr!(
                lang,
                "{program}: the forge can't be reached or is out of order",
                "{program}：無法連線或服務故障",
                "{program}：无法连接或服务故障"
            ),
            TroubleKind::NoRepository => tr!(
                lang,
                "{program} finds no repository",
                "{program} 找不到儲存庫",
                "{program} 找不到仓库"
            ),
            TroubleKind::NoPull => tr!(
                lang,
                "{program} finds no such pull request",
                "{program} 找不到這個 PR",
                "{program} 找不到这个 PR"
            ),
            TroubleKind::Refused => {
                tr!(
                    lang,
                    "{program} refused",
                    "{program} 拒絕",
                    "{program} 拒绝"
                )
            }
            TroubleKind::Silent => tr!(
                lang,
                "{program} did not answer in time",
                "{program} 沒有及時回應",
                "{program} 没有及时响应"
            ),
            TroubleKind::Strange => tr!(
                lang,
                "{program} answered something unknown",
                "{program} 的回應無法理解",
                "{program} 的响应无法理解"
            ),
        };
        match self.words.trim() {
            "" => fact,
            words => format!("{fact}: {words}"),
        }
    }
}

/// Something that the forge showed.
#[derive(Clone, Debug, PartialEq)]
pub enum ForgeProof {
    Pull {
        number: u64,
        url: String,
    },
    Checks {
        commit: String,
        passed: usize,
    },
    Merged {
        number: u64,
        at: String,
    },
    /// The quality gate was checked and lacks nothing.
    Gate,
}

impl ForgeProof {
    pub fn to_json(&self) -> Value {
        match self {
            ForgeProof::Pull { number, url } => {
                json!({"kind": "pull_request", "number": number, "url": url})
            }
            ForgeProof::Checks { commit, passed } => {
                json!({"kind": "ci", "commit": commit, "passed": passed})
            }
            ForgeProof::Merged { number, at } => {
                json!({"kind": "merge", "number": number, "merged_at": at})
            }
            ForgeProof::Gate => json!({"kind": "gate"}),
        }
    }
}

impl Say for ForgeProof {
    fn say(&self, lang: Lang) -> String {
        match self {
            ForgeProof::Pull { number, url } => tr!(
                lang,
                "pull request #{number} is open: {url}",
                "PR #{number} 已開啟：{url}",
                "PR #{number} 已打开：{url}"
            ),
            ForgeProof::Checks { commit, passed } => {
                let commit = short(commit);
                tr!(
                    lang,
                    "CI at {commit}: {passed} checks passed, none failed",
                    "{commit} 的 CI：{passed} 項檢查通過，無失敗",
                    "{commit} 的 CI：{passed} 项检查通过，无失败"
                )
            }
            ForgeProof::Merged { number, at } => tr!(
                lang,
                "pull request #{number} merged at {at}",
                "PR #{number} 已於 {at} 合併",
                "PR #{number} 已于 {at} 合并"
            ),
            ForgeProof::Gate => tr!(
                lang,
                "the quality gate lacks nothing",
                "質檢全部通過",
                "质检全部通过"
            ),
        }
    }
}
