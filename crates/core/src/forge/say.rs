//! Troubles, causes and what a person has to see to, in words.

use serde::{Deserialize, Serialize};

use super::phase::short;
use super::{Trouble, TroubleKind};
use crate::lang::{Lang, Say};
use crate::text::duration::plural;
use crate::tr;

/// What a person has to see to before a run can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, Say)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ForgeNeed {
    /// The forge's own program is not installed.
    #[strum(to_string = "forge_program")]
    #[say("the forge's own program (gh, glab) is not installed: install it, then `ralph resume`")]
    Program,
    #[strum(to_string = "forge_login")]
    #[say("gh (or glab) is not logged in: `gh auth login`, then `ralph resume`")]
    Login,
    #[strum(to_string = "forge_repository")]
    #[say(
        "no remote of this project names a repository that can be seen: check `git remote -v`, then `ralph resume`"
    )]
    Repository,
    /// The forge could not be reached for too long.
    #[strum(to_string = "forge_unreachable")]
    #[say("the forge did not answer as it should: look at the log, then `ralph resume`")]
    Unreachable,
    /// There is no open pull request to work on.
    #[strum(to_string = "no_pull_request")]
    #[say(
        "there is no open pull request: `ralph run --preset dev-p0` makes one, or name it with --pr N"
    )]
    NoPull,
    #[strum(to_string = "pr_closed")]
    #[say("the pull request was closed without a merge: reopen it, then `ralph resume`")]
    Closed,
    /// The checks did not end in time.
    #[say("CI or the merge did not end within pr.poll_timeout: `ralph resume` waits on")]
    CiTimeout,
    /// The commit got no checks.
    #[say(
        "the pushed commit got no checks: look whether CI is set up for pull requests, then `ralph resume`"
    )]
    NoChecks,
    /// Only what the base fails too is left.
    #[strum(to_string = "ci_pre_existing")]
    #[say("what still fails, fails on the base branch too: repair it there, then `ralph resume`")]
    PreExisting,
    #[strum(to_string = "ci_infrastructure")]
    #[say("CI's own machines failed, also when run again: look at the forge, then `ralph resume`")]
    Infrastructure,
    #[say(
        "CI is green and the merge was refused (a review, a draft, a rule of the branch): see to it, then `ralph resume`"
    )]
    MergeRefused,
    /// It was merged although CI or the gate did not pass.
    #[say(
        "the pull request was merged although CI or the quality gate did not pass: look at the base branch"
    )]
    MergedUnproven,
    /// Checks were weakened before anybody worked here.
    #[strum(to_string = "checks_weakened")]
    #[say("checks or tests were removed, skipped or emptied: look at them, then `ralph resume`")]
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
#[derive(Clone, Debug, PartialEq, Serialize, Say)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ForgeProof {
    #[say("pull request #{number} is open: {url}")]
    #[serde(rename = "pull_request")]
    Pull { number: u64, url: String },
    #[say("CI at {commit}: {passed} {checks_en} passed, none failed", commit = short(commit), checks_en = plural(*passed, "check", "checks"))]
    #[serde(rename = "ci")]
    Checks { commit: String, passed: usize },
    #[say("pull request #{number} merged at {at}")]
    #[serde(rename = "merge")]
    Merged {
        number: u64,
        #[serde(rename = "merged_at")]
        at: String,
    },
    /// The quality gate was checked and lacks nothing.
    #[say("the quality gate lacks nothing")]
    Gate,
}
