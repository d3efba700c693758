//! From settings to what a run needs of a forge.

use std::time::Duration;

use ralph_core::config::{self, ForgeName, Merge, Settings};
use ralph_core::forge::{Bounds, ForgeRules, MergeMethod, MergeWho, p0_prompt, p1_prompt};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Goal;
use ralph_store::layout::Layout;

use super::rules::ms;
use super::{PlanError, Wanted};
use crate::agents::EnvFilter;
use crate::forge::{Forge, Host, host_of, is_for_pull_requests};
use crate::git;

/// The time for one answer of the forge's client.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why no pull request is made from where HEAD is.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum WrongBranch {
    #[say(
        "there is no branch here, and a pull request needs one: git switch -c feature/NAME (after git init, where there is no repository)"
    )]
    None,
    #[say("{branch}: pull requests are made from branches that match pr.branches ({patterns}), never from the default branch; switch to one, or change pr.branches", patterns = patterns.join(", "))]
    Other {
        branch: String,
        patterns: Vec<String>,
    },
}

/// What is needed to ask the forge of a project.
pub fn forge_of(settings: &Settings, layout: &Layout, about: &str, lang: Lang) -> Forge {
    let pr = &settings.pr;
    Forge {
        layout: layout.clone(),
        host: match pr.forge {
            ForgeName::GitHub => Host::GitHub,
            ForgeName::GitLab => Host::GitLab,
            ForgeName::Auto => {
                host_of(&git::remote_url(layout.root(), &pr.remote).unwrap_or_default())
            }
        },
        remote: pr.remote.clone(),
        branches: pr.branches.clone(),
        required_only: pr.required_only,
        draft: pr.draft,
        about: about.to_owned(),
        lang,
        method: method(settings),
        auto_merge: pr.merge == Merge::Auto,
        gate: settings.gate.clone(),
        env_filter: EnvFilter::new(&settings.agent),
        check_files: settings.verify.files.clone(),
        confirms: None,
        patience: PATIENCE,
    }
}

/// Only a goal that a forge proves needs one, and only on its branches
/// (PRCI-11).
pub(super) fn forge(
    settings: &Settings,
    wanted: &Wanted,
    goal: &Goal,
) -> Result<Option<Forge>, PlanError> {
    if !matches!(goal, Goal::PullRequest | Goal::Ci) {
        return Ok(None);
    }
    let patterns = &settings.pr.branches;
    let root = wanted.layout.root();
    match git::head(root).branch {
        None => return Err(PlanError::Branch(WrongBranch::None)),
        Some(branch) if !is_for_pull_requests(root, &branch, patterns) => {
            let patterns = patterns.clone();
            return Err(PlanError::Branch(WrongBranch::Other { branch, patterns }));
        }
        Some(_) => {}
    }
    let about = wanted.asked.prompt.as_deref().unwrap_or_default();
    Ok(Some(forge_of(settings, &wanted.layout, about, wanted.lang)))
}

pub(super) fn rules(settings: &Settings) -> ForgeRules {
    let pr = &settings.pr;
    ForgeRules {
        create: pr.create,
        push: pr.push,
        merge: match pr.merge {
            Merge::Off => MergeWho::Nobody,
            Merge::Own => MergeWho::Ralph,
            Merge::Auto => MergeWho::Forge,
        },
        method: method(settings),
        required_only: pr.required_only,
        poll_ms: ms(pr.poll_interval),
        timeout_ms: ms(pr.poll_timeout),
        grace_ms: ms(pr.grace),
        bounds: Bounds {
            regression: pr.max_fixes,
            reruns: pr.max_reruns,
            ..Bounds::default()
        },
        number: number(settings),
        delete_branch: pr.delete_branch,
    }
}

fn number(settings: &Settings) -> Option<u64> {
    Some(u64::from(settings.pr.number)).filter(|&number| number > 0)
}

fn method(settings: &Settings) -> MergeMethod {
    match settings.pr.merge_method {
        config::MergeMethod::Squash => MergeMethod::Squash,
        config::MergeMethod::Merge => MergeMethod::Merge,
        config::MergeMethod::Rebase => MergeMethod::Rebase,
    }
}

/// What the agent is asked for: the person's words, and what proves them.
pub(super) fn prompt(settings: &Settings, wanted: &Wanted, goal: &Goal) -> Option<String> {
    let asked = wanted.asked.prompt.as_deref();
    match goal {
        Goal::PullRequest => Some(p0_prompt(
            asked.unwrap_or_default(),
            settings.promise.asked_for(),
            wanted.lang,
        )),
        Goal::Ci => {
            let merges = settings.pr.merge != Merge::Off;
            Some(p1_prompt(asked, number(settings), merges, wanted.lang))
        }
        Goal::Prompt | Goal::Flow | Goal::Tasks { .. } => wanted.asked.prompt.clone(),
    }
}
