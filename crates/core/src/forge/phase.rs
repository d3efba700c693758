//! Where a branch stands on its way: before its pull request, before green
//! CI, or ready (PRCI-01).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Check, CheckState, Ci, PullState, Sight, Trouble, aggregate};
use crate::lang::{Lang, Say};
use crate::tr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Phase {
    /// There is no pull request.
    P0,
    /// There is one, and CI fails.
    P1,
    /// CI passes.
    P2,
    Pending,
    Unknown,
}

/// Why a phase can't be told.
#[derive(Clone, Debug, PartialEq, Say)]
pub enum Unknown {
    #[say(_0.say(lang))]
    Trouble(Trouble),
    /// The commit has no check that says anything, and had time to get one.
    #[say("the commit has no check that says anything")]
    NoChecks,
    /// HEAD is on no branch, or there is none.
    #[say("HEAD is on no branch, or there is no repository")]
    NoBranch,
    /// Pull requests are made on other branches.
    #[say("pull requests are not made from {branch} (pr.branches: {patterns})", patterns = patterns.join(", "))]
    OtherBranch {
        branch: String,
        patterns: Vec<String>,
    },
}

/// A phase and what it was seen from.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseReport {
    pub phase: Phase,
    pub sight: Sight,
    pub why: Option<Unknown>,
    /// Somebody said which phase it is; nothing was looked at.
    pub forced: bool,
}

impl PhaseReport {
    /// The phase of what was seen. A commit without checks is given `grace_ms`
    /// to get some.
    pub fn of(sight: Sight, now_ms: i64, grace_ms: u64) -> PhaseReport {
        let open = sight.pull.as_ref().filter(|p| p.state == PullState::Open);
        let (phase, why) = match open {
            None => (Phase::P0, None),
            Some(pull) => match aggregate(&sight.checks) {
                Ci::Failed => (Phase::P1, None),
                Ci::Passed => (Phase::P2, None),
                Ci::Pending => (Phase::Pending, None),
                Ci::Nothing => {
                    let grace = i64::try_from(grace_ms).unwrap_or(i64::MAX);
                    let is_new = |at: i64| now_ms.saturating_sub(at) < grace;
                    if pull.updated_ms.is_some_and(is_new) {
                        (Phase::Pending, None)
                    } else {
                        (Phase::Unknown, Some(Unknown::NoChecks))
                    }
                }
            },
        };
        PhaseReport {
            phase,
            sight,
            why,
            forced: false,
        }
    }

    pub fn unknown(why: Unknown) -> PhaseReport {
        PhaseReport {
            phase: Phase::Unknown,
            sight: Sight::default(),
            why: Some(why),
            forced: false,
        }
    }

    /// `PHASE_OVERRIDE=p1` is the only one that counts (PRCI-10).
    pub fn forced(value: Option<&str>) -> Option<PhaseReport> {
        (value == Some("p1")).then(|| PhaseReport {
            phase: Phase::P1,
            sight: Sight::default(),
            why: None,
            forced: true,
        })
    }

    pub fn to_json(&self) -> Value {
        let pull = self.sight.pull.as_ref();
        json!({
            "phase": self.phase.into_str(),
            "description": self.description(Lang::En),
            "action": self.action(Lang::En),
            "forced": self.forced,
            "pull_request": pull.map(|pull| json!({
                "number": pull.number,
                "url": pull.url,
                "draft": pull.draft,
                "base": pull.base,
            })),
            "commit": pull.map(|pull| pull.head.as_str()),
            "unpushed": self.sight.local.ahead,
            "checks": self.sight.checks.iter().map(|check| json!({
                "name": check.name,
                "state": check.state,
                "run": check.run,
            })).collect::<Vec<_>>(),
            "reason": self.why.as_ref().map(Unknown::name),
        })
    }

    pub fn description(&self, lang: Lang) -> String {
        if self.forced {
            return tr!(lang, "set by PHASE_OVERRIDE; nothing was looked at");
        }
        let counts = counts(&self.sight.checks, lang);
        let (number, commit) = self
            .sight
            .pull
            .as_ref()
            .map_or((0, String::new()), |p| (p.number, short(&p.head)));
        let text = match self.phase {
            Phase::P0 => {
                let branch = &self.sight.local.branch;
                tr!(lang, "no open pull request for {branch}")
            }
            Phase::P1 => tr!(
                lang,
                "pull request #{number}: CI failed on {commit} ({counts})"
            ),
            Phase::P2 => tr!(
                lang,
                "pull request #{number}: CI passed on {commit} ({counts})"
            ),
            Phase::Pending => tr!(
                lang,
                "pull request #{number}: CI runs on {commit} ({counts})"
            ),
            Phase::Unknown => match &self.why {
                Some(why) => why.say(lang),
                None => tr!(lang, "unknown"),
            },
        };
        match self.sight.local.ahead {
            0 => text,
            ahead => {
                let more = tr!(
                    lang,
                    "; {ahead} local commits are not pushed and not judged"
                );
                text + &more
            }
        }
    }

    pub fn action(&self, lang: Lang) -> String {
        match self.phase {
            Phase::P0 => tr!(
                lang,
                "pass the quality gate (`ralph gate run`), then create the pull request; p0 ends there and does not wait for CI"
            ),
            Phase::P1 => tr!(
                lang,
                "repair what failed and push: `ralph run --preset dev-p1`"
            ),
            Phase::P2 => tr!(lang, "nothing to repair; merge when you want to"),
            Phase::Pending => tr!(lang, "wait: `ralph run --preset dev-p1` waits by itself"),
            Phase::Unknown => match &self.why {
                Some(why) => why.next_step(lang),
                None => String::new(),
            },
        }
    }
}

impl Unknown {
    fn name(&self) -> &'static str {
        match self {
            Unknown::Trouble(trouble) => trouble.kind.into_str(),
            Unknown::NoChecks => "no_checks",
            Unknown::NoBranch => "no_branch",
            Unknown::OtherBranch { .. } => "other_branch",
        }
    }

    fn next_step(&self, lang: Lang) -> String {
        match self {
            Unknown::Trouble(trouble) => trouble.next_step(lang),
            Unknown::NoChecks => tr!(
                lang,
                "nothing is done; look whether CI is set up for pull requests"
            ),
            Unknown::NoBranch | Unknown::OtherBranch { .. } => tr!(
                lang,
                "nothing is done; check out a feature branch, or change pr.branches"
            ),
        }
    }
}

/// `3 passed, 1 failed, 2 pending`, without what is none.
pub(super) fn counts(checks: &[Check], lang: Lang) -> String {
    let count = |is: fn(CheckState) -> bool| checks.iter().filter(|c| is(c.state)).count();
    let passed = count(|s| s == CheckState::Passed);
    let failed = count(CheckState::is_red);
    let pending = count(|s| s == CheckState::Pending);
    let ignored = count(|s| s == CheckState::Ignored);
    let parts: Vec<String> = [
        (passed, tr!(lang, "{passed} passed")),
        (failed, tr!(lang, "{failed} failed")),
        (pending, tr!(lang, "{pending} pending")),
        (ignored, tr!(lang, "{ignored} skipped")),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(_, text)| text)
    .collect();
    if parts.is_empty() {
        return tr!(lang, "no checks yet");
    }
    parts.join(&tr!(lang, ", "))
}

/// A commit as people name it.
pub(super) fn short(commit: &str) -> String {
    commit.chars().take(7).collect()
}
