//! What a person should know of the project before a new run changes it.

use std::path::Path;

use ralph_core::tasks::{Severity, TaskList};
use ralph_store::layout::RunId;

use crate::announcement::Announcement;
use crate::plan::Plan;
use crate::{archive, git, lanes};

/// What to think of before a run begins; `own` is that run, where it has a
/// name already.
pub fn warnings(plan: &Plan, own: Option<&RunId>) -> Vec<Announcement> {
    let paused = archive::paused(&plan.layout, own);
    let mut warnings: Vec<Announcement> = paused
        .map(|id| Announcement::Paused { id })
        .into_iter()
        .collect();
    let trees = lanes::trees(&plan.layout);
    let others = trees.iter().filter(|tree| Some(&tree.run) != own);
    let count = others.count();
    if count > 0 {
        warnings.push(Announcement::TreesLeft { count });
    }
    let findings = plan.list.iter().flat_map(TaskList::lint);
    let mut errors = findings.filter(|finding| finding.kind.severity() == Severity::Error);
    warnings.extend(
        errors
            .next()
            .map(|finding| Announcement::DoubtfulList { finding }),
    );
    let Some(root) = git::find_root(plan.layout.root()) else {
        return warnings;
    };
    let head = git::head(&root);
    // The trees of lanes are Ralph's own.
    if plan.lanes.is_none() && plan.governor.is_none() {
        warnings.extend(git_trouble(&root, &head));
    }
    // Before the first commit there is nothing to keep apart from.
    if head.commit.is_some() {
        let changes = git::count_changes(&root).filter(|&count| count > 0);
        warnings.extend(changes.map(|count| Announcement::Uncommitted { count }));
        let branch = head.branch.filter(|branch| git::is_default(&root, branch));
        warnings.extend(branch.map(|branch| Announcement::DefaultBranch { branch }));
    }
    warnings
}

fn git_trouble(root: &Path, head: &git::Head) -> Option<Announcement> {
    match (&head.commit, &head.branch) {
        (None, None) => Some(Announcement::BrokenGit {
            root: root.to_owned(),
        }),
        _ if git::is_merging(root) => Some(Announcement::MergeUnderWay),
        (Some(_), None) => Some(Announcement::Detached),
        _ => None,
    }
}
