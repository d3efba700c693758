//! What is told about pull request and CI: the line of the event log
//! (EVNT-04) and the line for people are made from the same value.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::phase::{counts, short};
use super::{Cause, Check, GateFinding, Trouble, aggregate};
use crate::lang::{Lang, Say};
use crate::machine::{Level, span};
use crate::tr;
use crate::wire;

#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr, Say)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ForgeNotice {
    /// What the quality gate lacks.
    #[say("quality gate not passed: {first}", first = first_of(findings, lang))]
    GateOpen {
        #[serde(flatten, serialize_with = "gate")]
        findings: Vec<GateFinding>,
    },
    /// The gate is green and the pull request is missing.
    #[say("quality gate passed; {branch} has no pull request yet")]
    #[strum(to_string = "pr_missing")]
    PullMissing { branch: String },
    #[say("pull request #{number}: {url}")]
    #[strum(to_string = "pr_found")]
    PullFound {
        #[serde(rename = "pr")]
        number: u64,
        url: String,
    },
    #[say("pushed {branch} at {commit}", commit = short(commit))]
    Pushed { branch: String, commit: String },
    #[say("pull request created: {url}")]
    #[strum(to_string = "pr_created")]
    Created { url: String },
    /// A look at CI that runs, or at a merge that was ordered (PRCI-09).
    #[say(if *merging, "waiting for the merge of #{number} at {commit}{left}", commit = short(commit), left = at_most(*left_ms, lang))]
    #[say("waiting for CI of #{number} at {commit}: {counts}{left}", (commit, counts) = (short(commit), counts(checks, lang)), left = at_most(*left_ms, lang))]
    #[strum(to_string = "ci_poll")]
    Poll {
        #[serde(rename = "pr")]
        number: u64,
        commit: String,
        #[serde(flatten, serialize_with = "ci")]
        checks: Vec<Check>,
        #[serde(skip)]
        merging: bool,
        /// How long it is waited for at most.
        left_ms: Option<u64>,
    },
    /// There is a newer commit, whose checks count from now on.
    #[say("{to} was pushed after {from}: its checks count now", (from, to) = (short(from), short(to)))]
    #[strum(to_string = "ci_rebound")]
    Rebound { from: String, to: String },
    #[say("CI of #{number} failed at {commit} ({cause}): {checks}", (commit, checks, cause) = (short(commit), checks.join(", "), cause.say(lang)))]
    #[strum(to_string = "ci_failed")]
    Failed {
        #[serde(rename = "pr")]
        number: u64,
        commit: String,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        cause: Cause,
        checks: Vec<String>,
    },
    /// What failed is run again on the same commit.
    #[say("running what failed at {commit} again, once", commit = short(commit))]
    #[strum(to_string = "ci_rerun")]
    Rerun { commit: String, runs: Vec<u64> },
    /// What had failed passed when it was run again.
    #[say("what failed at {commit} passed when it was run again: flaky", commit = short(commit))]
    #[strum(to_string = "ci_flaky")]
    WasFlaky { commit: String },
    #[say("CI of #{number} passed at {commit}", commit = short(commit))]
    #[strum(to_string = "ci_passed")]
    Passed {
        #[serde(rename = "pr")]
        number: u64,
        commit: String,
    },
    #[say(if *by_ralph, "pull request #{number} merged, and seen merged")]
    #[say("pull request #{number} was merged by somebody else")]
    #[strum(to_string = "pr_merged")]
    Merged {
        #[serde(rename = "pr")]
        number: u64,
        #[serde(rename = "by", serialize_with = "merger")]
        by_ralph: bool,
    },
    /// On the forge; the local branch stays.
    #[say("{branch} is deleted on the forge; here it stays")]
    BranchDeleted { branch: String },
    #[say(trouble.say(lang))]
    #[strum(to_string = "forge_trouble")]
    Trouble {
        #[serde(flatten, serialize_with = "trouble_fields")]
        trouble: Trouble,
    },
}

impl ForgeNotice {
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
                ForgeNotice::Poll {
                    commit,
                    checks,
                    merging,
                    ..
                },
                ForgeNotice::Poll {
                    commit: other_commit,
                    checks: other_checks,
                    merging: other_merging,
                    ..
                },
            ) => (commit, checks, merging) == (other_commit, other_checks, other_merging),
            _ => false,
        }
    }
}

fn gate<S: Serializer>(findings: &[GateFinding], to: S) -> Result<S::Ok, S::Error> {
    let reason = findings.first().map(|finding| &finding.code);
    let findings = findings
        .iter()
        .map(|finding| json!({"code": finding.code, "text": finding.text}));
    let findings: Vec<Value> = findings.collect();
    json!({"reason": reason, "findings": findings}).serialize(to)
}

fn ci<S: Serializer>(checks: &[Check], to: S) -> Result<S::Ok, S::Error> {
    json!({"ci": aggregate(checks).into_str(), "checks": counts(checks, Lang::En)}).serialize(to)
}

fn merger<S: Serializer>(by_ralph: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(if *by_ralph { "ralph" } else { "others" })
}

fn trouble_fields<S: Serializer>(trouble: &Trouble, to: S) -> Result<S::Ok, S::Error> {
    let kind = trouble.kind.into_str();
    json!({"reason": kind, "program": trouble.program, "message": trouble.words}).serialize(to)
}

fn first_of(findings: &[GateFinding], lang: Lang) -> String {
    let first = findings.first().map(|finding| finding.say(lang));
    let first = first.unwrap_or_default();
    match findings.len().saturating_sub(1) {
        0 => first,
        more => format!("{first} (+{more})"),
    }
}

fn at_most(left_ms: Option<u64>, lang: Lang) -> String {
    left_ms.map_or_else(String::new, |ms| {
        let left = span(ms, lang);
        tr!(lang, ", at most {left} more")
    })
}
