//! Experiments once more, by hand.

use std::path::PathBuf;
use std::rc::Rc;

use ralph_core::machine::{CheckNotice, CommandResult, Ground, Kind, Notice, VerifyReport};
use ralph_store::layout::{Layout, RunPaths};
use tokio::sync::watch;

use super::Trials;
use super::back::back;
use crate::past::{self, Past, PastError};
use crate::room::Content;
use crate::snapshots::{Snapshots, TreeId};
use crate::supervise::Stop;
use crate::verify::{Order, Verifier};
use crate::wall;

/// Makes the experiments of a verification again: those that showed a task, or
/// the last. `None` where none were made. `live` is the work as it lies there.
pub fn again(
    layout: &Layout,
    verifier: &Verifier,
    run: &RunPaths,
    task: Option<&str>,
    live: &TreeId,
    sandbox: &wall::Wanted,
) -> Result<Option<VerifyReport>, PastError> {
    let mut last = None;
    let mut about_it = None;
    let past = past::listen(run, &mut |event, _, notices| {
        let Kind::Verified(report) = &event.kind else {
            return;
        };
        if report.weighed.is_some() {
            last = Some(report.clone());
            let judges = |notice: &Notice| task.is_some_and(|id| is_about(notice, id));
            if notices.iter().any(judges) {
                about_it.clone_from(&last);
            }
        }
    })?;
    let Some(then) = about_it.or(last) else {
        return Ok(None);
    };
    let weighed = then.weighed.clone().unwrap_or_default();
    let mut ground = past.state.evidence.ground.clone();
    ground.armed = Some(weighed.armed.clone());
    ground.base = Some(weighed.base.clone());
    ground.now = Some(weighed.now.clone());
    let prelude = back_to(layout, live, &ground);
    if prelude.is_none() {
        // Nothing can be shown of a tree that can't be made again.
        ground.now = None;
    }
    let commands = commands_of(&past, &then, task);
    let mut trials = Trials {
        layout: layout.clone(),
        order: Order {
            project: Vec::new(),
            own: commands,
            own_only_if_project_passes: false,
        },
        checks: past.state.rules.checks.clone(),
        own: past
            .header
            .tasks_file
            .iter()
            .filter_map(|file| {
                let inside = file.strip_prefix(layout.root()).unwrap_or(file);
                inside.to_str().map(str::to_owned)
            })
            .collect(),
        files: verifier.files.clone(),
        max_time: verifier.max_time,
        turn: then.turn,
        env: Vec::new(),
        log: run.dir.join("prove.log"),
        bench: Rc::default(),
        prelude: prelude.unwrap_or_default(),
        frozen: None,
        judges: None,
        verifier: verifier.clone(),
        ground,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (_keep, stop) = watch::channel(Stop::No);
    Ok(runtime.ok().map(|runtime| {
        runtime.block_on(async {
            trials.verifier.wall = wall::around_checks(Some(sandbox), layout).await;
            trials.run(stop).await.report
        })
    }))
}

/// What others ask for says nothing of this task.
fn commands_of(past: &Past, then: &VerifyReport, task: Option<&str>) -> Vec<String> {
    let own = task.and_then(|id| past.state.rules.checks.tasks.get(id));
    let is_its = |result: &&CommandResult| match (task, own) {
        (None, _) => true,
        (Some(_), Some(own)) => own.contains(&result.command),
        (Some(_), None) => !result.of_task,
    };
    let its = then.results.iter().filter(is_its);
    its.map(|result| result.command.clone()).collect()
}

/// Whether a task was judged there, whatever came of it.
fn is_about(notice: &Notice, id: &str) -> bool {
    match notice {
        Notice::Check(
            CheckNotice::TickProven { tasks, .. } | CheckNotice::TickUnproven { tasks, .. },
        ) => tasks.iter().any(|task| task == id),
        Notice::Check(CheckNotice::TickRejected { tasks, .. }) => {
            tasks.iter().any(|task| task.id == id)
        }
        _ => false,
    }
}

/// What brings the work back to the tree of then; `None` where it can't be
/// done exactly.
fn back_to(layout: &Layout, live: &TreeId, then: &Ground) -> Option<Vec<(PathBuf, Content)>> {
    let tree = TreeId::parse(then.now.as_deref()?).ok()?;
    let snapshots = Snapshots::open(layout).ok()?;
    let back = back(&snapshots, live, &tree).ok()?;
    back.left_out.is_empty().then_some(back.files)
}
