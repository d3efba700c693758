//! What is told about pull request and CI: the line of the event log
//! (EVNT-04) and the line for people are made from the same value.

use serde_json::{Value, json};

use super::phase::{counts, short};
use super::{Cause, Check, GateFinding, Trouble, aggregate};
use crate::lang::{Lang, Say};
use crate::machine::{Level, span};
use crate::tr;

#[derive(Clone, Debug, PartialEq)]
pub enum ForgeNotice {
    /// What the quality gate lacks.
    GateOpen {
        findings: Vec<GateFinding>,
    },
    /// The gate is green and the pull request is missing.
    PullMissing {
        branch: String,
    },
    PullFound {
        number: u64,
        url: String,
    },
    Pushed {
        branch: String,
        commit: String,
    },
    Created {
        url: String,
    },
    /// A look at CI that runs.
    Poll {
        number: u64,
        commit: String,
        checks: Vec<Check>,
        /// How long it is waited for at most.
        left_ms: Option<u64>,
    },
    /// There is a newer commit, whose checks count from now on.
    Rebound {
        from: String,
        to: String,
    },
    Failed {
        number: u64,
        commit: String,
        cause: Cause,
        checks: Vec<String>,
    },
    /// What failed is run again on the same commit.
    Rerun {
        commit: String,
        runs: Vec<u64>,
    },
    /// What had failed passed when it was run again.
    WasFlaky {
        commit: String,
    },
    Passed {
        number: u64,
        commit: String,
    },
    Merged {
        number: u64,
        by_ralph: bool,
    },
    /// On the forge; the local branch stays.
    BranchDeleted {
        branch: String,
    },
    Trouble {
        trouble: Trouble,
    },
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

impl Say for ForgeNotice {
    fn say(&self, lang: Lang) -> String {
        match self {
            ForgeNotice::GateOpen { findings } => {
                let first = findings.first().map_or("", |f| f.text.as_str());
                let more = findings.len().saturating_sub(1);
                let first = if more == 0 {
                    first.to_owned()
                } else {
                    format!("{first} (+{more})")
                };
                tr!(lang, "quality gate not passed: {first}")
            }
            ForgeNotice::PullMissing { branch } => tr!(
                lang,
                "quality gate passed; {branch} has no pull request yet"
            ),
            ForgeNotice::PullFound { number, url } => tr!(lang, "pull request #{number}: {url}"),
            ForgeNotice::Pushed { branch, commit } => {
                let commit = short(commit);
                tr!(lang, "pushed {branch} at {commit}")
            }
            ForgeNotice::Created { url } => tr!(lang, "pull request created: {url}"),
            ForgeNotice::Poll {
                number,
                commit,
                checks,
                left_ms,
            } => {
                let (commit, counts) = (short(commit), counts(checks, lang));
                let left = match left_ms {
                    Some(ms) => {
                        let left = span(*ms, lang);
                        tr!(lang, ", at most {left} more")
                    }
                    None => String::new(),
                };
                tr!(
                    lang,
                    "waiting for CI of #{number} at {commit}: {counts}{left}"
                )
            }
            ForgeNotice::Rebound { from, to } => {
                let (from, to) = (short(from), short(to));
                tr!(lang, "{to} was pushed after {from}: its checks count now")
            }
            ForgeNotice::Failed {
                number,
                commit,
                cause,
                checks,
            } => {
                let (commit, checks, cause) = (short(commit), checks.join(", "), cause.say(lang));
                tr!(
                    lang,
                    "CI of #{number} failed at {commit} ({cause}): {checks}"
                )
            }
            ForgeNotice::Rerun { commit, .. } => {
                let commit = short(commit);
                tr!(lang, "running what failed at {commit} again, once")
            }
            ForgeNotice::WasFlaky { commit } => {
                let commit = short(commit);
                tr!(
                    lang,
                    "what failed at {commit} passed when it was run again: flaky"
                )
            }
            ForgeNotice::Passed { number, commit } => {
                let commit = short(commit);
                tr!(lang, "CI of #{number} passed at {commit}")
            }
            ForgeNotice::Merged { number, by_ralph } => match by_ralph {
                true => tr!(lang, "pull request #{number} merged, and seen merged"),
                false => tr!(lang, "pull request #{number} was merged by somebody else"),
            },
            ForgeNotice::BranchDeleted { branch } => {
                tr!(lang, "{branch} is deleted on the forge; here it stays")
            }
            ForgeNotice::Trouble { trouble } => trouble.say(lang),
        }
    }
}
