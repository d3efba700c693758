//! What was seen of a branch, its pull request and its checks.

use serde::{Deserialize, Serialize};

use crate::lang::{Lang, Say};

/// Everything that a look at the forge and at the work tree gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    pub local: Local,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<Pull>,
    /// Of the head commit of the pull request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What the quality gate lacks, the first thing first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateFinding>,
}

/// The branch as it stands on this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Local {
    pub branch: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Commits that the pull request (or the remote branch) does not have.
    #[serde(default)]
    pub ahead: usize,
    /// The pull request has commits that are not here.
    #[serde(default)]
    pub behind: bool,
    /// Files that the commit does not hold as they are.
    #[serde(default)]
    pub uncommitted: usize,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    pub number: u64,
    #[serde(default)]
    pub url: String,
    pub state: PullState,
    #[serde(default)]
    pub draft: bool,
    /// The commit that the checks belong to.
    pub head: String,
    #[serde(default)]
    pub base: String,
    /// The forge's own time of the merge, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<String>,
    /// When something last happened to it, on the wall clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    #[default]
    Open,
    Merged,
    /// Closed without a merge.
    Closed,
}

/// One check of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub state: CheckState,
    /// The run that it belongs to, where it can be asked for its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Passed,
    Failed,
    Cancelled,
    TimedOut,
    /// It never began: a broken workflow file, no runner, somebody has to
    /// approve it.
    NotStarted,
    /// Queued, waiting or running.
    #[default]
    Pending,
    /// It has nothing to say: skipped or neutral.
    Ignored,
}

impl CheckState {
    pub fn is_red(self) -> bool {
        match self {
            CheckState::Failed
            | CheckState::Cancelled
            | CheckState::TimedOut
            | CheckState::NotStarted => true,
            CheckState::Passed | CheckState::Pending | CheckState::Ignored => false,
        }
    }
}

/// What all checks of a commit add up to (PRCI-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Ci {
    /// There is no check, or none that says anything: a skipped check proves
    /// nothing.
    #[strum(to_string = "none")]
    Nothing,
    Pending,
    Failed,
    Passed,
}

/// Any failure fails; else anything that runs is waited for; else it passed.
pub fn aggregate(checks: &[Check]) -> Ci {
    let any = |is: fn(CheckState) -> bool| checks.iter().any(|check| is(check.state));
    if any(CheckState::is_red) {
        Ci::Failed
    } else if any(|state| state == CheckState::Pending) {
        Ci::Pending
    } else if any(|state| state == CheckState::Passed) {
        Ci::Passed
    } else {
        Ci::Nothing
    }
}

/// Something that the quality gate lacks, as the agent and the log are told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateFinding {
    /// One word for programs.
    pub code: String,
    /// What, where and the next command; in English, for programs.
    pub text: String,
    /// The same in the person's language, where that is another.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
}

impl GateFinding {
    pub fn new(code: &str, what: &dyn Say, lang: Lang) -> GateFinding {
        GateFinding {
            code: code.into(),
            text: what.say(Lang::En),
            said: match lang {
                Lang::En => String::new(),
                other => what.say(other),
            },
        }
    }
}

impl Say for GateFinding {
    fn say(&self, lang: Lang) -> String {
        match lang == Lang::En || self.said.is_empty() {
            true => self.text.clone(),
            false => self.said.clone(),
        }
    }
}

/// Why the forge, or Git, did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub kind: TroubleKind,
    /// The program that was asked.
    pub program: String,
    /// Its own words, cut and without secrets.
    #[serde(default)]
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum TroubleKind {
    /// The program is not there.
    Missing,
    Login,
    RateLimited,
    /// The forge can't be reached, or is out of order.
    Network,
    /// There is no such repository, or no remote that names one.
    NoRepository,
    #[strum(to_string = "no_pull_request")]
    NoPull,
    /// It was understood and refused.
    Refused,
    /// It did not answer in time.
    Silent,
    /// It answered something that nobody understands.
    Strange,
}

impl TroubleKind {
    /// Whether it may be over by itself.
    pub fn passes(self) -> bool {
        matches!(
            self,
            TroubleKind::RateLimited | TroubleKind::Network | TroubleKind::Silent
        )
    }
}
