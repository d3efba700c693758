//! Gets everything ready that lanes need before the run begins.

use std::io;
use std::path::Path;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::LaneRules;
use ralph_core::tasks::set_marks;
use ralph_store::atomic::{AtomicOptions, write_through};
use ralph_store::layout::{RunId, new_run_id};
use ralph_store::objects::free_space;
use ralph_store::{Action, FileError, lock, regular};
use tokio::sync::watch;

use super::bring;
use super::plan::{LanePlan, NoLanes};
use super::repo::Repo;
use super::tree;
use crate::announcement::Announcement;
use crate::error::DriveError;
use crate::look::TaskFile;
use crate::opening::{self, Opening};
use crate::plan::Plan;
use crate::supervise::Stop;
use crate::verify::Verifier;
use crate::{clock, git, past};

/// Gets the tree in which results are checked ready, and has the plan work
/// there.
pub(crate) fn set_up(plan: &mut Plan, opening: &Opening) -> Result<Option<Repo>, DriveError> {
    let Some(rules) = plan.rules.lanes.clone() else {
        return Ok(None);
    };
    opening::refuse_links(plan)?;
    if lock::holder(&plan.layout.lock())?.is_some() {
        // Whoever opens the run next says so.
        return Ok(None);
    }
    let (repo, lanes) = ready(plan, &rules, opening).map_err(DriveError::NoLanes)?;
    let obstacle = bring::obstacle(&repo, &lanes).filter(|_| lanes.land);
    let told = obstacle.map(|why| Announcement::WouldNotBring { why });
    plan.announcements.extend(told);
    plan.work_in(&repo, lanes);
    Ok(Some(repo))
}

/// Runs the command that gets a new tree ready, behind the same wall as the
/// checks.
pub(crate) async fn get_ready(plan: &Plan) -> Result<(), DriveError> {
    let Some(command) = &plan.setup else {
        return Ok(());
    };
    let verifier = Verifier {
        commands: vec![command.clone()],
        ..plan.reproducer.clone()
    };
    let (_keep, stop) = watch::channel(Stop::No);
    let log = plan.layout.state_dir().join("setup.log");
    let done = verifier
        .run(0, plan.layout.root(), &plan.agent_env, log, stop)
        .await;
    match done.report.failure() {
        None => Ok(()),
        Some(failed) => Err(DriveError::SetUp {
            command: command.clone(),
            output: failed.output.clone(),
        }),
    }
}

/// Has no more trees begun than there is room for. The tree in which results
/// are checked is made ready by now, and the others become as large.
pub(crate) fn fit(plan: &mut Plan) -> Result<(), DriveError> {
    const LEFT_FREE: u64 = 1_000_000_000;
    let (Some(lanes), Some(rules)) = (&plan.lanes, &mut plan.rules.lanes) else {
        return Ok(());
    };
    let needed = super::size_of(&tree::of(&lanes.place, 0).dir).max(1);
    let free = free_space(&lanes.place).map(|free| free.saturating_sub(LEFT_FREE));
    let room = match plan.trees_take {
        0 => free.unwrap_or(u64::MAX),
        most => most.saturating_sub(needed).min(free.unwrap_or(u64::MAX)),
    };
    let fitting = room / needed;
    if fitting == 0 {
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        return Err(DriveError::NoLanes(NoLanes::NoRoom {
            needed: megabytes(needed),
            room: megabytes(room),
        }));
    }
    if fitting < rules.tasks.len() as u64 {
        rules.trees = u32::try_from(fitting).unwrap_or(u32::MAX);
    }
    if fitting < u64::from(rules.count) {
        let trees = rules.trees;
        plan.announcements.push(Announcement::FewTrees { trees });
    }
    Ok(())
}

/// Ticks tasks in the person's own list.
pub(crate) fn tick(plan: &Plan, ids: &[String]) -> Result<(), FileError> {
    let (Some(lanes), Some(tasks)) = (&plan.lanes, &plan.tasks) else {
        return Ok(());
    };
    if ids.is_empty() {
        return Ok(());
    }
    let path = plan.layout.project().join(&lanes.tasks_file);
    let trouble =
        |message: String| FileError::new(&path, Action::Write, &io::Error::other(message));
    let file = TaskFile {
        path: path.clone(),
        ..tasks.clone()
    };
    let open = file.open();
    let open = open.map_err(|error| trouble(error.say(Lang::En)))?;
    let known = ids.iter().filter_map(|id| open.list.find(id));
    let bytes = set_marks(&open.bytes, &open.list, known.map(|index| (index, true)));
    let bytes = bytes.map_err(|error| trouble(error.say(Lang::En)))?;
    match bytes == open.bytes {
        true => Ok(()),
        false => write_through(&path, &bytes, AtomicOptions { durable: true }),
    }
}

fn ready(
    plan: &mut Plan,
    rules: &LaneRules,
    opening: &Opening,
) -> Result<(Repo, LanePlan), NoLanes> {
    let layout = plan.layout.clone();
    let tasks = plan.tasks.clone().ok_or(NoLanes::NoTasks)?;
    let repo = Repo::open(layout.root()).map_err(|_| NoLanes::NoCommit)?;
    let head = git::head(&repo.top);
    let commit = head.commit.clone().ok_or(NoLanes::NoCommit)?;
    let (known, id) = match opening {
        Opening::New | Opening::Abandon(None) => {
            (None, new_run_id(clock::now().wall_ms, clock::random()))
        }
        Opening::Resume { id, .. } | Opening::Abandon(Some(id)) => {
            let past = past::read(&layout.run(id)).ok();
            let known = past.and_then(|past| past.header.rules.lanes);
            (known, id.clone())
        }
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let outside = || NoLanes::TasksOutside {
        file: tasks.name.clone(),
    };
    let (file, top) = (real(&tasks.path), real(&repo.top));
    let from_top = file.strip_prefix(&top).map_err(|_| outside())?;
    let from_top = from_top.to_str().ok_or_else(outside)?.to_owned();
    let from_root = file
        .strip_prefix(real(layout.root()))
        .map_err(|_| outside())?;
    let bytes = regular::read(&tasks.path).ok();
    let in_commit = repo.bytes_of(&commit, &from_top);
    let goes_along = in_commit.is_some() || !repo.ignores(&from_top);
    let mut lanes = LanePlan {
        land: plan.lands,
        started_on: head.branch,
        place: tree::place(layout.home(), layout.root(), &id),
        tasks_file: from_root.to_string_lossy().into_owned(),
        tracked: goes_along.then(|| from_top.clone()),
        armed_tasks: bytes.clone(),
        include: plan.trees_include.clone(),
        branch: String::new(),
        base: String::new(),
    };
    match known {
        Some(known) => {
            lanes.branch = known.branch;
            lanes.base = known.base;
        }
        None => {
            lanes.branch = new_branch(&repo, &rules.branch, &id)?;
            lanes.base = match bytes {
                // The list goes along as it lies there.
                Some(bytes) if goes_along && in_commit.as_ref() != Some(&bytes) => {
                    let tree = repo.with_file(&repo.tree_of(&commit)?, &from_top, &bytes)?;
                    repo.commit(
                        &tree,
                        &commit,
                        "The task list, as it was when Ralph began\n",
                    )?
                }
                _ => commit,
            };
        }
    }
    can_merge(&repo, &lanes.base)?;
    let tip = git::refs::tip(&repo.top, &lanes.branch);
    let tip = tip.unwrap_or_else(|| lanes.base.clone());
    let checked = tree::of(&lanes.place, 0);
    checked.set_up(&repo, (&repo.tree_of(&tip)?, &tip), &lanes.include)?;
    lanes.copy_tasks(&repo, &checked)?;
    plan.id = Some(id);
    Ok((repo, lanes))
}

fn new_branch(repo: &Repo, wanted: &str, id: &RunId) -> Result<String, NoLanes> {
    let name = match wanted.is_empty() {
        true => format!("ralph/{id}"),
        false => wanted.to_owned(),
    };
    if !git::refs::is_name(&repo.top, &name) {
        return Err(NoLanes::BadBranch { name });
    }
    match git::refs::tip(&repo.top, &name) {
        Some(_) => Err(NoLanes::BranchTaken { name }),
        None => Ok(name),
    }
}

/// A merge with itself changes nothing, where Git knows the word.
fn can_merge(repo: &Repo, base: &str) -> Result<(), NoLanes> {
    repo.merge(base, base)
        .map(drop)
        .map_err(|_| NoLanes::OldGit)
}

impl Plan {
    /// From now on the work is done in the tree of the lanes.
    fn work_in(&mut self, repo: &Repo, lanes: LanePlan) {
        let root = tree::of(&lanes.place, 0).project(repo);
        if let Some(tasks) = &mut self.tasks {
            *tasks = TaskFile {
                path: root.join(&lanes.tasks_file),
                ..tasks.clone()
            };
        }
        if let Some(rules) = &mut self.rules.lanes {
            rules.branch.clone_from(&lanes.branch);
            rules.base.clone_from(&lanes.base);
        }
        if let Ok(objects) = repo.objects() {
            let objects = objects.to_string_lossy().into_owned();
            self.sandbox.settings.read.push(objects);
        }
        self.layout = self.layout.working_in(root);
        self.lanes = Some(lanes);
    }
}
