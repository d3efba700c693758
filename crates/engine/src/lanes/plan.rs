//! What is known of lanes before they begin, and why there may be none.

use std::io;
use std::path::PathBuf;

use ralph_core::config::LaneSettings;
use ralph_core::lang::Say;
use ralph_core::machine::{LaneRules, Rules};
use ralph_core::tasks::{Scope, TaskList};

use super::repo::{Repo, Tree};
use super::tree::copy_within;

/// What is known of lanes before they begin.
#[derive(Clone, Debug)]
pub struct LanePlan {
    /// The branch that results land on.
    pub branch: String,
    /// The commit that it begins at.
    pub base: String,
    /// The person's branch takes the result in at the end.
    pub land: bool,
    /// The branch of the person when the run began.
    pub started_on: Option<String>,
    /// Where the trees are.
    pub place: PathBuf,
    /// The task file, from the project, as it was when the run began.
    pub tasks_file: String,
    pub armed_tasks: Option<Vec<u8>>,
    /// The same from the top of the repository, where it goes with the branch.
    pub tracked: Option<String>,
    /// Patterns of files that are brought along although Git ignores them.
    pub include: Vec<String>,
}

/// Why there can be no lanes here.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum NoLanes {
    #[say(
        "lanes (-j, --worktree, --branch) need a Git repository with a commit; make one with `git init` and `git commit`, or leave them out"
    )]
    NoCommit,
    #[say(
        "lanes (-j, --worktree, --branch) work a task list off; name one with --tasks FILE, or leave them out"
    )]
    NoTasks,
    #[say(
        "lanes (-j, --worktree, --branch) make no pull request; leave them out, or make it afterwards"
    )]
    OnForge,
    #[say(
        "{file} lies outside of the repository, so that no lane could see it; move it there, or leave -j out"
    )]
    TasksOutside { file: String },
    #[say("lanes need git 2.38 or newer, for `git merge-tree --write-tree`")]
    OldGit,
    #[say("\"{name}\" can't be the name of a branch; choose another with --branch")]
    BadBranch { name: String },
    #[say("the branch {name} is there already; choose another with --branch, or delete it")]
    BranchTaken { name: String },
    #[say(
        "there is no room for a tree of {needed} MB: {room} MB are left for lanes; make room (`ralph lanes clean`), or raise lanes.disk"
    )]
    NoRoom { needed: u64, room: u64 },
    #[say("lanes can't begin: {message}")]
    Failed { message: String },
}

impl From<io::Error> for NoLanes {
    fn from(error: io::Error) -> NoLanes {
        NoLanes::Failed {
            message: error.to_string(),
        }
    }
}

/// What the machine has to know, where lanes are wanted.
pub(crate) fn rules(settings: &LaneSettings, list: &TaskList, scope: &Scope, rules: &mut Rules) {
    let pieces = list.pieces(scope, settings.files);
    rules.lanes = Some(LaneRules {
        count: settings.count,
        tasks: pieces.into_iter().map(Into::into).collect(),
        trees: 0,
        branch: settings.branch.clone(),
        base: String::new(),
    });
    // Lanes play the roles and hold the pauses; landings need neither.
    rules.flow = None;
    rules.promise_required = false;
    rules.limits.missing_promise = 0;
    rules.limits.stalled = 0;
    rules.limits.same_error = 0;
    rules.limits.false_promise = 0;
}

impl LanePlan {
    /// A list that Git ignores lies in each tree all the same.
    pub(super) fn copy_tasks(&self, repo: &Repo, tree: &Tree) -> io::Result<()> {
        if self.tracked.is_some() {
            return Ok(());
        }
        let from = repo.root.join(&self.tasks_file);
        let to = tree.project(repo).join(&self.tasks_file);
        copy_within(&tree.dir, &from, &to)
    }
}
