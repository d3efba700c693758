//! What a run is started with, as the settings say it.

use std::time::Duration;

use ralph_core::config::{self, PrGoal, Settings};
use ralph_core::machine::{
    EvidenceKinds, Goal, LaneHint, Limits, OnLimit, Retry, Rules, VerifyWhen,
};
use ralph_core::promise::PromiseRules;
use ralph_core::tasks::{Format, Scope, TaskList};

use super::{Adopted, Flag};
use crate::announcement::Announcement;
use crate::task_file::{OPENSPEC_CHANGES, TaskFile};

/// What proves that the run is done.
pub(super) fn goal(settings: &Settings, scope: &Scope, is_route: bool, has_tasks: bool) -> Goal {
    match settings.pr.goal {
        _ if is_route => Goal::Flow,
        _ if has_tasks => Goal::Tasks {
            phase: scope.phase.clone(),
        },
        PrGoal::None => Goal::Prompt,
        PrGoal::P0 => Goal::PullRequest,
        PrGoal::P1 => Goal::Ci,
    }
}

/// Inside a session nothing can be waited for, and nobody tells what a turn
/// used.
pub(super) fn live_in(client: &str, rules: &mut Rules) {
    rules.agents = vec![client.to_owned()];
    rules.limits.pause_between_ms = 0;
    rules.limits.calls_per_hour = 0;
    rules.limits.cooldown_ms = 0;
}

/// The count goes on; a limit that was reached is extended first (RESM-03), by
/// what a person says now, or as always, and that is told.
pub(super) fn go_on_with(
    adopted: &Adopted,
    flags: &[Flag],
    rules: &mut Rules,
) -> Option<Announcement> {
    let limits = &mut rules.limits;
    rules.turns_before = adopted.turns;
    if limits.max_iterations == 0 || adopted.turns < limits.max_iterations {
        return None;
    }
    let is_said = flags.iter().any(|flag| flag.name == "--max-iterations");
    let more = match is_said {
        true => limits.max_iterations,
        false => limits.extend_by.max(1),
    };
    limits.max_iterations = adopted.turns.saturating_add(more);
    Some(Announcement::MoreTurns {
        turns: adopted.turns,
        max: limits.max_iterations,
    })
}

/// What an OpenSpec change is promised with, whichever words its run was
/// started with; asked for where it lies among the changes, unless a person
/// chose other words (PROM-02).
const OPENSPEC_DONE: &str = "所有任務完成";

pub(super) fn promise_rules(
    settings: &Settings,
    list: Option<&TaskList>,
    tasks: Option<&TaskFile>,
) -> PromiseRules {
    let is_change = tasks.is_some_and(|tasks| {
        let folders = tasks.path.to_string_lossy().replace('\\', "/");
        folders.contains(&format!("{OPENSPEC_CHANGES}/"))
    });
    let promise = &settings.promise;
    let openspec = list.is_some_and(|list| list.format == Format::OpenSpec);
    let mut complete = promise.complete.clone();
    if openspec && is_change && complete == PromiseRules::default().complete {
        complete.insert(0, OPENSPEC_DONE.to_owned());
    } else if openspec {
        complete.push(OPENSPEC_DONE.to_owned());
    }
    PromiseRules {
        complete,
        ..promise.rules()
    }
}

/// What a person says before the first turn is kept in mind.
pub(super) fn hints(texts: &[String]) -> Vec<LaneHint> {
    let kept = |text: &String| LaneHint {
        text: text.clone(),
        keep: true,
    };
    texts.iter().map(kept).collect()
}

pub(super) fn rules(settings: &Settings, goal: Goal) -> Rules {
    let when = match settings.verify.when {
        config::VerifyWhen::Each => VerifyWhen::Each,
        config::VerifyWhen::Complete => VerifyWhen::Complete,
    };
    let counts = |kind| settings.progress.evidence.contains(&kind);
    Rules {
        checks_decide: goal == Goal::Prompt && settings.promise.complete.is_empty(),
        goal,
        limits: limits(settings),
        promise_required: settings.promise.required,
        verify: (!settings.verify.commands.is_empty()).then_some(when),
        evidence: EvidenceKinds {
            tasks: counts(config::Evidence::Tasks),
            phase: counts(config::Evidence::Phase),
            commit: counts(config::Evidence::Commit),
            tree: counts(config::Evidence::Tree),
        },
        e2e_repairs: settings.e2e.max_repairs,
        checks: Default::default(),
        agents: Vec::new(),
        budget: Default::default(),
        flow: None,
        forge: None,
        question_wait_ms: settings
            .questions
            .park
            .then(|| ms(settings.questions.deadline)),
        turns_before: 0,
        lanes: None,
        note: None,
        hints: Vec::new(),
    }
}

fn limits(settings: &Settings) -> Limits {
    let limits = &settings.limits;
    let retry = &settings.agent.retry;
    Limits {
        max_iterations: limits.max_iterations,
        extend_by: limits.extend_by,
        warn_at: limits.warn_at,
        max_dispatches: limits.max_dispatches,
        consecutive_errors: limits.consecutive_errors,
        missing_promise: limits.missing_promise,
        stalled: limits.stalled,
        same_error: limits.same_error,
        false_promise: limits.false_promise,
        cooldown_ms: ms(limits.cooldown),
        max_duration_ms: ms(limits.max_duration),
        iteration_timeout_ms: ms(limits.iteration_timeout),
        pause_between_ms: ms(limits.pause_between),
        calls_per_hour: settings.rate.max_calls_per_hour,
        max_wait_ms: ms(limits.max_wait),
        on_limit: match limits.on_limit {
            config::OnLimit::Menu => OnLimit::Ask,
            config::OnLimit::Pause => OnLimit::Pause,
            config::OnLimit::Stop => OnLimit::End,
        },
        retry: Retry {
            attempts: retry.attempts,
            initial_ms: ms(retry.initial),
            factor: retry.factor,
            max_ms: ms(retry.max),
        },
    }
}

pub(super) fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
