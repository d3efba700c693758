//! What a project has once, and two loops that live at the same time can't both
//! keep: the state file of the delta loop, and the files of a route's phases.

use ralph_core::delta::{self, DeltaState};
use ralph_store::layout::{RunId, RunPaths};
use ralph_store::regular;

use crate::plan::Plan;
use crate::session::adopt;
use crate::{past, phase_file};

/// The loop of a session that is at work on a file which another would need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub file: String,
    pub session: String,
    pub run: String,
}

impl Neighbour {
    /// Who is in the way of this plan; `own` is its own run, once it has one.
    /// Runs from outside hold the lock of the project instead.
    pub(crate) fn of(plan: &Plan, own: Option<&RunId>) -> Option<Neighbour> {
        let living = |file: String, runs: Vec<RunPaths>| {
            let others = runs.into_iter().filter(|run| Some(&run.id) != own);
            others.filter_map(|run| living(&file, &run)).next()
        };
        let in_delta = || {
            let (file, runs) = delta_loop(plan)?;
            living(file, runs)
        };
        let in_phases = || {
            let run = phase_file::owner(&plan.layout).filter(|_| phase_file::are_left(plan))?;
            let file = plan.prompter.output_dir.clone();
            living(file, vec![plan.layout.run(&run)])
        };
        in_delta().or_else(in_phases)
    }
}

/// Our runs of the task that the state file is about.
fn delta_loop(plan: &Plan) -> Option<(String, Vec<RunPaths>)> {
    if !(plan.checkpoint.enabled && plan.checkpoint.delta) {
        return None;
    }
    let bytes = regular::read(plan.layout.delta_state()).ok()?;
    let state = DeltaState::read(&bytes).ok()?;
    let runs = adopt::runs_of(&plan.layout, &state.meta.task_id);
    Some((delta::PATH.to_owned(), runs))
}

fn living(file: &str, run: &RunPaths) -> Option<Neighbour> {
    let past = past::read(run).ok()?;
    let joined = past
        .state
        .session
        .as_ref()
        .map(|session| session.id.clone());
    let begun = past.header.session.map(|session| session.id);
    let session = joined
        .or(begun)
        .filter(|_| past.state.outcome().is_none())?;
    Some(Neighbour {
        file: file.to_owned(),
        session,
        run: run.id.to_string(),
    })
}
