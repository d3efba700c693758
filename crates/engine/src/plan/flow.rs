//! The flow of a run: that of a route, or that of each task.

use ralph_core::config::{self, Settings};
use ralph_core::flow::{Answer, FlowRules, Risk, Scope, Step, VerdictKind};
use ralph_core::machine::Goal;
use ralph_core::tasks::ReadOptions;

use super::{PlanError, Wanted};
use crate::flows;
use crate::look::TaskFile;

/// The flow that the prompt of the run goes through, where one was asked for.
pub(super) fn of_run(settings: &Settings, wanted: &Wanted) -> Result<Option<FlowRules>, PlanError> {
    let Some(name) = &wanted.asked.flow else {
        return Ok(None);
    };
    let flow = flows::find(wanted.layout.root(), name, Scope::Run, wanted.lang)
        .map_err(PlanError::Flow)?;
    Ok(Some(FlowRules {
        flow,
        risk: risk(settings),
        bypass: None,
        card: wanted.asked.card.clone(),
    }))
}

/// The flow that each task goes through, where the roles are on. A plain
/// prompt has no tasks.
pub(super) fn of_tasks(
    settings: &Settings,
    wanted: &Wanted,
    goal: &Goal,
) -> Result<Option<FlowRules>, PlanError> {
    let roles = &settings.roles;
    if !roles.enabled || !matches!(goal, Goal::Tasks { .. }) {
        return Ok(None);
    }
    let mut flow = flows::find(wanted.layout.root(), &roles.flow, Scope::Task, wanted.lang)
        .map_err(PlanError::Flow)?;
    for step in &mut flow.steps {
        if let Some(limit) = step.limit.get_mut(&Answer::Reject) {
            *limit = roles.reject_limit;
        }
    }
    let reviews = |step: &&Step| step.verdict == VerdictKind::Review;
    let reviewers: Vec<String> = flow
        .steps
        .iter()
        .filter(reviews)
        .map(|s| s.id.clone())
        .collect();
    if !roles.high_model.is_empty() {
        let models = &mut flow.risk.entry(Risk::High).or_default().model;
        for id in reviewers {
            models.entry(id).or_insert_with(|| roles.high_model.clone());
        }
    }
    let mut rules = FlowRules {
        flow,
        risk: risk(settings),
        bypass: None,
        card: None,
    };
    if let Some(reason) = wanted.asked.no_review.clone() {
        rules.bypass_reviews(reason);
    }
    Ok(Some(rules))
}

fn risk(settings: &Settings) -> Option<Risk> {
    match settings.roles.risk {
        config::Risk::Auto => None,
        config::Risk::Low => Some(Risk::Low),
        config::Risk::Medium => Some(Risk::Medium),
        config::Risk::High => Some(Risk::High),
    }
}

/// The file whose boxes are the subtasks: a phase of the flow writes it.
pub(super) fn plan_file(
    settings: &Settings,
    wanted: &Wanted,
    rules: &FlowRules,
) -> Option<TaskFile> {
    let name = rules.flow.plan_file()?;
    let dir = wanted.layout.checkpoint_dir(&settings.checkpoint.dir);
    let mut file = TaskFile::new(wanted.layout.root(), dir.join(name), ReadOptions::default());
    file.may_be_missing = true;
    Some(file)
}
