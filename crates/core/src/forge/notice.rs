//! What is told about pull request and CI: the line of the event log
//! (EVNT-04) and the line for people are made from the same value.

use serde_json::{Value, json};

use super::phase::{counts, short};
use super::{Cause, Check, GateFinding, Trouble, aggregate};
use crate::lang::{Lang, Say};
use crate::machine::{Level, span};
use crate::tr;

#[derive(Clone, Debug, PartialEq, Say)]
pub enum ForgeNotice {
    /// What the quality gate lacks.
    #[say("quality gate not passed: {first}", first = first_of(findings))]
    GateOpen { findings: Vec<GateFinding> },
    /// The gate is green and the pull request is missing.
    #[say("quality gate passed; {branch} has no pull request yet")]
    PullMissing { branch: String },
    #[say("pull request #{number}: {url}")]
    PullFound { number: u64, url: String },
    #[say("pushed {branch} at {commit}", commit = short(commit))]
    Pushed { branch: String, commit: String },
    #[say("pull request created: {url}")]
    Created { url: String },
    /// A look at CI that runs.
    #[say("waiting for CI of #{number} at {commit}: {counts}{left}", (commit, counts) = (short(commit), counts(checks, lang)), left = at_most(*left_ms, lang))]
    Poll {
        number: u64,
        commit: String,
        checks: Vec<Check>,
        /// How long it is waited for at most.
        left_ms: Option<u64>,
    },
    /// There is a newer commit, whose checks count from now on.
    #[say("{to} was pushed after {from}: its checks count now", (from, to) = (short(from), short(to)))]
    Rebound { from: String, to: String },
    #[say("CI of #{number} failed at {commit} ({cause}): {checks}", (commit, checks, cause) = (short(commit), checks.join(", "), cause.say(lang)))]
    Failed {
        number: u64,
        commit: String,
        cause: Cause,
        checks: Vec<String>,
    },
    /// What failed is run again on the same commit.
    #[say("running what failed at {commit} again, once", commit = short(commit))]
    Rerun { commit: String, runs: Vec<u64> },
    /// What had failed passed when it was run again.
    #[say("what failed at {commit} passed when it was run again: flaky", commit = short(commit))]
    WasFlaky { commit: String },
    #[say("CI of #{number} passed at {commit}", commit = short(commit))]
    Passed { number: u64, commit: String },
    #[say(if *by_ralph, "pull request #{number} merged, and seen merged")]
    #[say("pull request #{number} was merged by somebody else")]
    Merged { number: u64, by_ralph: bool },
    /// On the forge; the local branch stays.
    #[say("{branch} is deleted on the forge; here it stays")]
    BranchDeleted { branch: String },
    #[say(trouble.say(lang))]
    Trouble { trouble: Trouble },
}

impl ForgeNotice {
    pub fn event(&self) -> &'static str {
        match self {
            ForgeNotice::GateOpen { .. } => "gate_open",
            ForgeNotice::PullMissing { .. } => "pr_missing",
            ForgeNotice::PullFound { .. } => "pr_found",
            ForgeNotice::Pushed { .. } => "pushed",
            ForgeNotice::Created { .. } => "pr_created",
            ForgeNotice::Poll { .. } => "ci_poll",
            ForgeNotice::Rebound { .. } => "ci_rebound",
            ForgeNotice::Failed { .. } => "ci_failed",
            ForgeNotice::Rerun { .. } => "ci_rerun",
            ForgeNotice::WasFlaky { .. } => "ci_flaky",
            ForgeNotice::Passed { .. } => "ci_passed",
            ForgeNotice::Merged { .. } => "pr_merged",
            ForgeNotice::BranchDeleted { .. } => "branch_deleted",
            ForgeNotice::Trouble { .. } => "forge_trouble",
        }
    }

    pub fn level(&self) -> Level {
        match self {
            ForgeNotice::GateOpen { .. }
            | ForgeNotice::PullMissing { .. }
            | ForgeNotice::Failed { .. }
            | ForgeNotice::Trouble { .. } => Level::Warn,
            _ => Level::Info,
        }
    }

    /// Whether two looks at CI saw the same.
    pub fn shows_the_same(&self, other: &ForgeNotice) -> bool {
        match (self, other) {
            (
                ForgeNotice::Poll { commit, checks, .. },
                ForgeNotice::Poll {
                    commit: other_commit,
                    checks: other_checks,
                    ..
                },
            ) => (commit, checks) == (other_commit, other_checks),
            _ => false,
        }
    }

    pub fn fields(&self) -> Value {
        match self {
            ForgeNotice::GateOpen { findings } => json!({
                "reason": findings.first().map(|f| f.code.as_str()),
                "findings": findings,
            }),
            ForgeNotice::PullMissing { branch } | ForgeNotice::BranchDeleted { branch } => {
                json!({"branch": branch})
            }
            ForgeNotice::PullFound { number, url } => json!({"pr": number, "url": url}),
            ForgeNotice::Pushed { branch, commit } => json!({"branch": branch, "commit": commit}),
            ForgeNotice::Created { url } => json!({"url": url}),
            ForgeNotice::Poll {
                number,
                commit,
                checks,
                left_ms,
            } => json!({
                "pr": number,
                "commit": commit,
                "ci": aggregate(checks).into_str(),
                "checks": counts(checks, Lang::En),
                "left_ms": left_ms,
            }),
            ForgeNotice::Rebound { from, to } => json!({"from": from, "to": to}),
            ForgeNotice::Failed {
                number,
                commit,
                cause,
                checks,
            } => json!({
                "pr": number,
                "commit": commit,
                "reason": cause.into_str(),
                "checks": checks,
            }),
            ForgeNotice::Rerun { commit, runs } => json!({"commit": commit, "runs": runs}),
            ForgeNotice::WasFlaky { commit } => json!({"commit": commit}),
            ForgeNotice::Passed { number, commit } => json!({"pr": number, "commit": commit}),
            ForgeNotice::Merged { number, by_ralph } => {
                json!({"pr": number, "by": if *by_ralph { "ralph" } else { "others" }})
            }
            ForgeNotice::Trouble { trouble } => json!({
                "reason": trouble.kind.into_str(),
                "program": trouble.program,
                "message": trouble.words,
            }),
        }
    }
}

fn first_of(findings: &[GateFinding]) -> String {
    let first = findings.first().map_or("", |finding| finding.text.as_str());
    match findings.len().saturating_sub(1) {
        0 => first.to_owned(),
        more => format!("{first} (+{more})"),
    }
}

fn at_most(left_ms: Option<u64>, lang: Lang) -> String {
    left_ms.map_or_else(String::new, |ms| {
        let left = span(ms, lang);
        tr!(lang, ", at most {left} more")
    })
}
