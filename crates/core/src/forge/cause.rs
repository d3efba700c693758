//! Why CI is red: the pull request broke something, it fails by chance, the
//! base is broken too, or the machines of the forge are.

use crate::lang::Say;
use serde::{Deserialize, Serialize};

use super::{Check, CheckState};

/// Ordered by what is met first.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    Say,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Cause {
    /// The pull request brought it: the agent has to repair it.
    #[say("new failure")]
    Regression,
    /// It may pass when it is run again.
    #[say("perhaps flaky")]
    Flaky,
    /// It fails on the base too.
    #[say("the base fails too")]
    PreExisting,
    /// A runner was lost, cancelled or too slow: no code of ours.
    #[say("infrastructure")]
    Infrastructure,
}

/// One red check and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub check: Check,
    pub cause: Cause,
}

/// All red checks of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    pub failures: Vec<Failure>,
}

impl Diagnosis {
    /// The cause that decides what is done: what the agent can repair comes
    /// first.
    pub fn cause(&self) -> Option<Cause> {
        self.failures.iter().map(|failure| failure.cause).min()
    }

    pub fn names(&self) -> Vec<String> {
        let name = |failure: &Failure| failure.check.name.clone();
        self.failures.iter().map(name).collect()
    }

    /// The runs of what may pass when it is run again.
    pub fn runs(&self) -> Vec<u64> {
        let again =
            |failure: &&Failure| matches!(failure.cause, Cause::Flaky | Cause::Infrastructure);
        let mut runs: Vec<u64> = self
            .failures
            .iter()
            .filter(again)
            .filter_map(|failure| failure.check.run)
            .collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }
}

/// Says why each red check failed. `was_rerun`: the same commit was run again
/// already, so that nothing is called flaky a second time.
pub fn diagnose(checks: &[Check], log: &str, on_base: &[String], was_rerun: bool) -> Diagnosis {
    let log = log.to_ascii_lowercase();
    let cause = |check: &Check| match check.state {
        _ if on_base.contains(&check.name) => Cause::PreExisting,
        CheckState::Cancelled | CheckState::TimedOut | CheckState::NotStarted => {
            Cause::Infrastructure
        }
        _ if says(&log, &LOST_MACHINES) => Cause::Infrastructure,
        _ if says(&log, &BY_CHANCE) && !was_rerun => Cause::Flaky,
        _ => Cause::Regression,
    };
    let failures = checks
        .iter()
        .filter(|check| check.state.is_red())
        .map(|check| Failure {
            check: check.clone(),
            cause: cause(check),
        })
        .collect();
    Diagnosis { failures }
}

fn says(log: &str, words: &[&str]) -> bool {
    words.iter().any(|word| log.contains(word))
}

/// What forges and package managers say when the machine or the network was
/// at fault, in small letters.
const LOST_MACHINES: [&str; 16] = [
    "lost communication with the server",
    "the runner has received a shutdown signal",
    "the hosted runner encountered an error",
    "the operation was canceled",
    "no space left on device",
    "could not resolve host",
    "temporary failure in name resolution",
    "connection reset by peer",
    "econnreset",
    "etimedout",
    "enotfound",
    "connection timed out",
    "tls handshake timeout",
    "503 service unavailable",
    "502 bad gateway",
    "toomanyrequests",
];

/// What tests say that fail now and then.
const BY_CHANCE: [&str; 8] = [
    "flaky", "timed out waiting", "timeout of", "exceeded timeout", "deadline exceeded",
    "test timed out", "address already in use", "eaddrinuse",
];
