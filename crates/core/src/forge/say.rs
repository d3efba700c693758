//! Troubles, causes and what a person has to see to, in words.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::phase::short;
use super::{Cause, Trouble, TroubleKind};
use crate::lang::{Lang, Say};
use crate::tr;

/// What a person has to see to before a run can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ForgeNeed {
    /// The forge's own program is not installed.
    #[strum(to_string = "forge_program")]
    Program,
    #[strum(to_string = "forge_login")]
    Login,
    #[strum(to_string = "forge_repository")]
    Repository,
    /// The forge could not be reached for too long.
    #[strum(to_string = "forge_unreachable")]
    Unreachable,
    /// There is no open pull request to work on.
    #[strum(to_string = "no_pull_request")]
    NoPull,
    #[strum(to_string = "pr_closed")]
    Closed,
    /// The checks did not end in time.
    CiTimeout,
    /// The commit got no checks.
    NoChecks,
    /// Only what the base fails too is left.
    #[strum(to_string = "ci_pre_existing")]
    PreExisting,
    #[strum(to_string = "ci_infrastructure")]
    Infrastructure,
    MergeRefused,
    /// It was merged although CI or the gate did not pass.
    MergedUnproven,
    /// Checks were weakened before anybody worked here.
    #[strum(to_string = "checks_weakened")]
    Weakened,
}

impl ForgeNeed {
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
                "the forge's own program (gh, glab) is not installed: install it, then `ralph resume`"
            ),
            ForgeNeed::Login => tr!(
                lang,
                "gh (or glab) is not logged in: `gh auth login`, then `ralph resume`"
            ),
            ForgeNeed::Repository => tr!(
                lang,
                "no remote of this project names a repository that can be seen: check `git remote -v`, then `ralph resume`"
            ),
            ForgeNeed::Unreachable => tr!(
                lang,
                "the forge did not answer as it should: look at the log, then `ralph resume`"
            ),
            ForgeNeed::NoPull => tr!(
                lang,
                "there is no open pull request: `ralph run --preset dev-p0` makes one, or name it with --pr N"
            ),
            ForgeNeed::Closed => tr!(
                lang,
                "the pull request was closed without a merge: reopen it, then `ralph resume`"
            ),
            ForgeNeed::CiTimeout => tr!(
                lang,
                "CI did not end within pr.poll_timeout: `ralph resume` waits on"
            ),
            ForgeNeed::NoChecks => tr!(
                lang,
                "the pushed commit got no checks: look whether CI is set up for pull requests, then `ralph resume`"
            ),
            ForgeNeed::PreExisting => tr!(
                lang,
                "what still fails, fails on the base branch too: repair it there, then `ralph resume`"
            ),
            ForgeNeed::Infrastructure => tr!(
                lang,
                "CI's own machines failed, also when run again: look at the forge, then `ralph resume`"
            ),
            ForgeNeed::MergeRefused => tr!(
                lang,
                "CI is green and the merge was refused (a review, a draft, a rule of the branch): see to it, then `ralph resume`"
            ),
            ForgeNeed::MergedUnproven => tr!(
                lang,
                "the pull request was merged although CI or the quality gate did not pass: look at the base branch"
            ),
            ForgeNeed::Weakened => tr!(
                lang,
                "checks or tests were removed, skipped or emptied: look at them, then `ralph resume`"
            ),
        }
    }
}

impl Say for Cause {
    fn say(&self, lang: Lang) -> String {
        match self {
            Cause::Regression => tr!(lang, "new failure"),
            Cause::Flaky => tr!(lang, "perhaps flaky"),
            Cause::PreExisting => tr!(lang, "the base fails too"),
            Cause::Infrastructure => tr!(lang, "infrastructure"),
        }
    }
}

impl Trouble {
    pub(super) fn next_step(&self, lang: Lang) -> String {
        let program = &self.program;
        match self.kind {
            TroubleKind::Missing => tr!(lang, "nothing is done; install {program}"),
            TroubleKind::Login => tr!(lang, "nothing is done; log in: {program} auth login"),
            TroubleKind::NoRepository => tr!(lang, "nothing is done; check `git remote -v`"),
            _ => tr!(lang, "nothing is done; try again later"),
        }
    }
}

impl Say for Trouble {
    fn say(&self, lang: Lang) -> String {
        let program = &self.program;
        let fact = match self.kind {
            TroubleKind::Missing => tr!(lang, "{program} is not installed"),
            TroubleKind::Login => tr!(lang, "{program} is not logged in"),
            TroubleKind::RateLimited => {
                tr!(lang, "{program}: the forge limits the number of requests")
            }
            TroubleKind::Network => tr!(
                lang,
                "{program}: the forge can't be reached or is out of order"
            ),
            TroubleKind::NoRepository => tr!(lang, "{program} finds no repository"),
            TroubleKind::NoPull => tr!(lang, "{program} finds no such pull request"),
            TroubleKind::Refused => {
                tr!(lang, "{program} refused")
            }
            TroubleKind::Silent => tr!(lang, "{program} did not answer in time"),
            TroubleKind::Strange => tr!(lang, "{program} answered something unknown"),
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
            ForgeProof::Pull { number, url } => tr!(lang, "pull request #{number} is open: {url}"),
            ForgeProof::Checks { commit, passed } => {
                let commit = short(commit);
                tr!(lang, "CI at {commit}: {passed} checks passed, none failed")
            }
            ForgeProof::Merged { number, at } => tr!(lang, "pull request #{number} merged at {at}"),
            ForgeProof::Gate => tr!(lang, "the quality gate lacks nothing"),
        }
    }
}
