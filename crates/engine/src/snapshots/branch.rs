//! The branch goes back with the work, where a person wants that: only if it
//! stands where the run left it, and its tip keeps a name.

use ralph_core::machine::{BranchMove, Observation};
use ralph_store::layout::Layout;

use super::timeline::Timeline;
use super::undo::{UndoError, Wish};
use crate::git::{self, refs};

/// Where a branch stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub branch: Option<String>,
    pub commit: Option<String>,
}

impl Position {
    pub fn of(seen: &Observation) -> Option<Position> {
        let commit = Some(seen.commit.clone()?);
        let branch = seen.branch.clone();
        Some(Position { branch, commit })
    }
}

/// Below this the tips of branches that went back keep a name.
const KEPT: &str = "refs/ralph/undone";

/// How the branch has to move for a wish; `None` where it stands there.
pub(super) fn plan(
    layout: &Layout,
    run: &str,
    timeline: &Timeline,
    wish: &Wish,
    turn: u32,
) -> Result<Option<BranchMove>, UndoError> {
    let root = layout.root();
    let head = git::head(root);
    let (Some(branch), Some(tip)) = (head.branch, head.commit) else {
        return Err(UndoError::NoBranch);
    };
    let moved = || UndoError::BranchMoved {
        branch: branch.clone(),
    };
    let (target, known) = match wish {
        Wish::Redo => {
            let Some(before) = timeline.moved() else {
                return Ok(None);
            };
            (before.at(&before.from), vec![before.at(&before.to)])
        }
        Wish::Undo { .. } => {
            let target = timeline.turns.get(&(turn + 1)).and_then(|t| t.at.clone());
            let mut known: Vec<Position> = timeline.at.iter().cloned().collect();
            let begun = timeline.begun.as_ref().and_then(|b| b.moved.as_ref());
            known.extend(begun.map(|begun| begun.at(&begun.to)));
            (target.ok_or(UndoError::NoCommit { turn })?, known)
        }
    };
    let here = Position {
        branch: Some(branch.clone()),
        commit: Some(tip.clone()),
    };
    if target == here {
        return Ok(None);
    }
    if !known.contains(&here) || target.branch != here.branch {
        return Err(moved());
    }
    let Some(to) = target
        .commit
        .filter(|commit| refs::has_commit(root, commit))
    else {
        return Err(UndoError::NoCommit { turn });
    };
    if refs::index_is(root, &tip) != Some(true) {
        return Err(UndoError::Staged);
    }
    let names = (1..).map(|number| format!("{KEPT}/{run}/{number}"));
    let kept = names.take(1_000).find(|name| !refs::exists(root, name));
    Ok(Some(BranchMove {
        kept: kept.ok_or_else(moved)?,
        branch: branch.clone(),
        from: tip,
        to,
    }))
}

/// Names the tip, then moves the branch; whoever moved it meanwhile keeps it.
pub(super) fn perform(layout: &Layout, wanted: &BranchMove) -> Result<(), UndoError> {
    let root = layout.root();
    let BranchMove {
        branch,
        from,
        to,
        kept,
    } = wanted;
    match refs::keep(root, kept, from) && refs::move_branch(root, branch, from, to) {
        true => Ok(()),
        false => Err(UndoError::BranchMoved {
            branch: branch.clone(),
        }),
    }
}

/// What a move knows of a place.
trait At {
    fn at(&self, commit: &str) -> Position;
}

impl At for BranchMove {
    fn at(&self, commit: &str) -> Position {
        Position {
            branch: Some(self.branch.clone()),
            commit: Some(commit.to_owned()),
        }
    }
}
