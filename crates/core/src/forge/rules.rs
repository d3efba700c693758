//! What a run may do with a pull request, as it was started.

use serde::{Deserialize, Serialize};

/// Written into the journal with the other rules, so that a replay decides as
/// the run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeRules {
    /// Ralph creates the pull request; otherwise the agent is told to.
    pub create: bool,
    /// Ralph pushes what the agent committed and did not push.
    pub push: bool,
    pub merge: MergeWho,
    pub method: MergeMethod,
    /// Judge the checks that the base branch requires, and no others.
    pub required_only: bool,
    pub poll_ms: u64,
    /// The longest wait for the checks of one commit; zero waits for ever.
    pub timeout_ms: u64,
    /// How long a commit may be without checks.
    pub grace_ms: u64,
    pub bounds: Bounds,
    /// The pull request that was asked for.
    #[serde(default)]
    pub number: Option<u64>,
    /// The branch goes on the forge after a merge that was ordered here.
    #[serde(default)]
    pub delete_branch: bool,
}

/// How often each cause of red CI is met before a person is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Turns for failures that the pull request brought.
    pub regression: u32,
    /// Turns for failures that the base has too.
    pub pre_existing: u32,
    /// Runs again, of what looks flaky or was lost by the infrastructure, for
    /// one commit.
    pub reruns: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            regression: 5,
            pre_existing: 1,
            reruns: 1,
        }
    }
}

/// Who merges when CI is green (PRCI-08, X-12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeWho {
    #[default]
    Nobody,
    Ralph,
    /// The forge, once all its own conditions are met.
    Forge,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum MergeMethod {
    #[default]
    Squash,
    Merge,
    Rebase,
}

impl Default for ForgeRules {
    fn default() -> Self {
        ForgeRules {
            create: false,
            push: false,
            merge: MergeWho::Nobody,
            method: MergeMethod::Squash,
            required_only: false,
            poll_ms: 30_000,
            timeout_ms: 60 * 60 * 1000,
            grace_ms: 2 * 60 * 1000,
            bounds: Bounds::default(),
            number: None,
            delete_branch: false,
        }
    }
}
