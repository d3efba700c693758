//! The person's branch takes the result in: by fast-forward, with their work
//! tree where nothing of theirs is in the way.

use std::fs;

use ralph_store::regular;

use super::plan::LanePlan;
use super::repo::Repo;
use super::runner::Lanes;
use crate::git;

const NO_BRANCH: &str = "HEAD is on no branch";

/// What became of the person's branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brought {
    pub branch: String,
    pub commit: String,
}

impl Lanes {
    /// Moves the person's branch to the result, with their work tree.
    pub fn land(&self) -> Result<Brought, String> {
        bring(&self.shared.repo, &self.shared.plan)
    }

    pub fn branch(&self) -> &str {
        &self.shared.plan.branch
    }

    pub fn has_landed(&self) -> bool {
        git::refs::tip(&self.shared.repo.top, &self.shared.plan.branch).is_some()
    }

    /// Everything landed: nothing is left in the trees that is not on the
    /// branch.
    pub fn clear(&self) {
        let _ = super::clear(&self.shared.plan.place, self.shared.layout.home());
    }
}

/// What would be in the way if the result were brought now.
pub(crate) fn obstacle(repo: &Repo, plan: &LanePlan) -> Option<String> {
    let head = git::head(&repo.top);
    match (head.branch, head.commit) {
        (Some(_), Some(commit)) => refuse_dirty(repo, plan, &commit).err(),
        _ => Some(NO_BRANCH.into()),
    }
}

fn refuse_dirty(repo: &Repo, plan: &LanePlan, commit: &str) -> Result<(), String> {
    let armed = plan.armed_tasks.as_deref();
    let own = |path: &String| {
        let there = regular::read(repo.top.join(path)).ok();
        plan.tracked.as_deref() == Some(path) && there.as_deref() == armed
    };
    let dirty = git::uncommitted(&repo.top, commit).ok_or("git can't say what is changed")?;
    let dirty: Vec<String> = dirty.into_iter().filter(|path| !own(path)).collect();
    if dirty.is_empty() {
        return Ok(());
    }
    let some: Vec<&str> = dirty.iter().take(3).map(String::as_str).collect();
    let some = some.join(", ");
    Err(format!("not committed in the work tree: {some}"))
}

pub(crate) fn bring(repo: &Repo, plan: &LanePlan) -> Result<Brought, String> {
    let tip = git::refs::tip(&repo.top, &plan.branch).ok_or("nothing landed")?;
    let head = git::head(&repo.top);
    let (Some(branch), Some(commit)) = (head.branch, head.commit) else {
        return Err(NO_BRANCH.into());
    };
    if plan.started_on.as_deref() != Some(branch.as_str()) {
        return Err(format!("the work tree is on {branch} by now"));
    }
    if git::count_commits(&repo.top, &tip, &commit) != Some(0) {
        return Err(format!("{branch} has other commits by now"));
    }
    refuse_dirty(repo, plan, &commit)?;
    // Its ticks are on the branch; what lies there is what the run began with.
    let tasks = plan.tracked.as_ref().map(|path| repo.top.join(path));
    let aside = tasks.as_ref().and_then(|path| regular::read(path).ok());
    if let (Some(path), Some(_)) = (&tasks, &aside) {
        fs::remove_file(path).map_err(|error| error.to_string())?;
        let known = repo.bytes_of(&commit, plan.tracked.as_deref().unwrap_or_default());
        if let Some(bytes) = known {
            fs::write(path, bytes).map_err(|error| error.to_string())?;
        }
    }
    let moved = repo
        .check_out(&commit, &tip)
        .map(|()| git::refs::advance(&repo.top, &branch, Some(&commit), &tip));
    match moved {
        Ok(true) => Ok(Brought {
            branch,
            commit: tip,
        }),
        moved => {
            if let (Some(path), Some(bytes)) = (&tasks, &aside) {
                let _ = fs::write(path, bytes);
            }
            Err(match moved {
                Err(error) => error.to_string(),
                Ok(_) => format!("{branch} moved in this moment"),
            })
        }
    }
}
