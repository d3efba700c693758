//! From the state of a run to the blocks that are shown of it.

use std::time::Duration;

use ralph_core::display::{
    self, BreakerView, BudgetKind, CompleteView, Ending, ErrorView, LoopKind, Place, Progress,
    ProgressView, Screen, UsageView,
};
use ralph_core::flow;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{
    self, Goal, Limit, Notice, Outcome, PauseReason, Question, Sign, State, TaskRef,
};
use ralph_core::overview;
use ralph_core::report;
use ralph_core::tasks::Pick;
use ralph_core::tr;
use ralph_engine::clock;
use ralph_engine::plan::Plan;

/// What the blocks need beside the state.
#[derive(Clone, Debug, Default)]
pub struct Context {
    tasks_file: String,
    openspec: Option<String>,
    is_git: bool,
    /// Count and signs of the breaker that opened.
    breaker: Option<(u32, Vec<Sign>)>,
    /// The last claim's shortcomings.
    missing: Vec<machine::Missing>,
    /// What to do next, where it is not the usual thing.
    next: Option<String>,
    place: Place,
}

impl Context {
    pub fn of(plan: &Plan) -> Context {
        let tasks_file = plan
            .tasks
            .as_ref()
            .map(|t| t.name.clone())
            .unwrap_or_default();
        let change = tasks_file
            .strip_prefix("openspec/changes/")
            .and_then(|rest| rest.split('/').next());
        Context {
            openspec: change.map(str::to_owned),
            tasks_file,
            is_git: ralph_engine::git::find_root(plan.layout.root()).is_some(),
            breaker: None,
            missing: Vec::new(),
            next: None,
            place: Place::Terminal,
        }
    }

    /// For those who read it in the session of a client.
    pub fn in_session(mut self, has_commands: bool) -> Context {
        self.place = Place::Session { has_commands };
        self
    }

    pub fn with_next(mut self, next: Option<String>) -> Context {
        self.next = next;
        self
    }

    /// Keeps what the end of the run will have to show.
    pub fn take(&mut self, notice: &Notice) {
        match notice {
            Notice::BreakerOpen { count, signs, .. } => {
                self.breaker = Some((*count, signs.clone()))
            }
            Notice::PromiseRejected { missing, .. } => self.missing = missing.clone(),
            _ => {}
        }
    }

    fn kind(&self) -> LoopKind {
        match &self.openspec {
            Some(change) => LoopKind::OpenSpec {
                change: change.clone(),
            },
            None => LoopKind::Plain,
        }
    }
}

fn next_task(state: &State) -> Option<String> {
    state.current_task().map(TaskRef::name)
}

fn task_progress(state: &State) -> Option<Progress> {
    let facts = state.tasks.facts.as_ref()?;
    let has_tasks = matches!(state.rules.goal, Goal::Tasks { .. });
    has_tasks.then(|| Progress::new(facts.completed, facts.total))
}

/// The box after tasks were ticked in `iteration`.
pub fn progress(screen: &Screen, context: &Context, state: &State, iteration: u32) -> String {
    let limits = &state.rules.limits;
    // Where every role's call is counted, that is the number people know,
    // unless the turns end sooner.
    let ends_sooner = |max: u32| limits.max_iterations > 0 && limits.max_iterations < max;
    let (iteration, max) = match limits.max_dispatches {
        0 => (iteration, limits.max_iterations),
        max if ends_sooner(max) => (iteration, limits.max_iterations),
        max => (state.agents.dispatches.saturating_sub(1), max),
    };
    display::progress_box(
        screen,
        &ProgressView {
            kind: context.kind(),
            progress: task_progress(state),
            phases: overview::phases(state, screen.lang),
            current: next_task(state),
            roles: state.roles(),
            iteration,
            max_iterations: Some(max).filter(|&m| m > 0),
        },
    )
}

/// Why a person is needed, with the task and what was found last.
fn escalation(screen: &Screen, state: &State, why: flow::Escalation) -> String {
    let position = state.flow.position.as_ref();
    let task = position.and_then(|position| position.task.as_ref());
    let task = task.map(|task| format!("{}: ", task.name()));
    let finding = position.and_then(|position| position.findings.first());
    let finding = finding.map(|finding| format!(" [{}]", finding.text));
    format!(
        "{}{}{}",
        task.unwrap_or_default(),
        why.say(screen.lang),
        finding.unwrap_or_default()
    )
}

/// The phases of a route that are behind it (DISP-04).
fn route_progress(state: &State, lang: Lang) -> Option<Progress> {
    display::phases_done(&ralph_core::overview::phases(state, lang))
}

/// How the run ended, whole.
pub fn ending(screen: &Screen, context: &Context, state: &State, notice: &Notice) -> String {
    let Notice::LoopEnd {
        outcome,
        iterations,
        duration_ms,
        proven,
        bill,
        ..
    } = notice
    else {
        return String::new();
    };
    let ending = Ending {
        progress: task_progress(state),
        iterations: *iterations,
        duration: Duration::from_millis(*duration_ms),
        used: (bill.calls > 0).then(|| UsageView::from(bill)),
        next: context.next.clone(),
        place: context.place,
    };
    match outcome {
        Outcome::Complete => {
            let phase = match &state.rules.goal {
                Goal::Tasks { phase } => phase.clone(),
                Goal::Prompt | Goal::Flow | Goal::PullRequest | Goal::Ci => None,
            };
            let is_route = state.rules.goal == Goal::Flow;
            let phases = is_route.then(|| route_progress(state, screen.lang));
            let view = CompleteView {
                ending,
                phases: phases.flatten(),
                phase,
                proven: report::proofs(&context.tasks_file, proven),
                not_proven: report::gaps(state, context.is_git),
            };
            display::complete_box(screen, &view)
        }
        Outcome::Paused { reason } => paused(screen, state, &ending, *reason),
        Outcome::Blocked { reason } => {
            display::blocked_report(screen, &ending, reason, next_task(state).as_deref())
        }
        Outcome::CircuitBreak { rule } => {
            let (count, signs) = context.breaker.clone().unwrap_or_default();
            let evidence = signs.iter().map(|s| s.say(screen.lang)).collect();
            let view = BreakerView {
                ending,
                rule: *rule,
                count,
                evidence,
            };
            display::breaker_report(screen, &view)
        }
        Outcome::Errors => {
            let error = |e: &machine::ErrorNote| ErrorView {
                class: e.class.into_str().into(),
                description: e.detail.say(screen.lang),
            };
            let errors: Vec<ErrorView> = state.failures.errors.iter().map(error).collect();
            display::error_report(screen, &errors, &ending)
        }
        Outcome::Unproven { tasks } => {
            let level = |id: &String| {
                let level = state.ticks.levels.get(id).copied().unwrap_or_default();
                (id.clone(), level)
            };
            let tasks: Vec<_> = tasks.iter().map(level).collect();
            display::unshown(screen, &ending, &tasks)
        }
        Outcome::NoCheck { command } => display::no_check(screen, &ending, command),
        Outcome::GateFailed { .. } => display::gate_failed(screen, &context.missing, &ending),
        Outcome::Budget { limit } => {
            display::budget(screen, &ending, &display::budget_kind(state, limit))
        }
        Outcome::Limit { limit } => at_limit(screen, state, &ending, *limit, true),
        Outcome::Cancelled => display::cancelled(screen, &ending),
        Outcome::Interrupted => display::interrupted(screen, &ending),
    }
}

fn paused(screen: &Screen, state: &State, ending: &Ending, reason: PauseReason) -> String {
    match reason {
        PauseReason::Unproven => display::unproven(screen, ending),
        PauseReason::Requested | PauseReason::Undone => display::pause_box(screen, ending),
        PauseReason::Disk => display::disk_box(screen, ending),
        PauseReason::Unguarded => display::escalated(
            screen,
            ending,
            &tr!(
                screen.lang,
                "A tool ran and the guard was not asked: something took its hook away. Look at the client's settings (`ralph trust --list`, `ralph doctor`), see what the last turn did, then go on."
            ),
        ),
        PauseReason::Question => {
            let question = machine::Notice::Pause {
                iteration: state.turn.number,
                reason,
            };
            let open = state
                .open_questions()
                .map(|open| self::question(open, screen.lang));
            let words = std::iter::once(question.say(screen.lang)).chain(open);
            let words = words.collect::<Vec<_>>().join("\n");
            // Until then a resume would only pause again.
            let first = state.open_questions().next().map_or(1, |open| open.id);
            let next = match ending.place {
                Place::Terminal => tr!(screen.lang, "ralph answer {first} TEXT; ralph resume"),
                Place::Session { has_commands } => {
                    let slash = if has_commands { "/" } else { "" };
                    tr!(screen.lang, "{slash}ralph-answer {first} TEXT")
                }
            };
            let ending = Ending {
                next: Some(next),
                ..ending.clone()
            };
            display::needs_person(screen, &ending, &words)
        }
        PauseReason::Depends => {
            let facts = state.tasks.facts.iter();
            let waiting = facts.flat_map(|facts| facts.waiting.clone()).collect();
            let why = Pick::Blocked { waiting }.problem(screen.lang);
            display::escalated(screen, ending, &why.unwrap_or_default())
        }
        PauseReason::Agent(need) => {
            let until = state.paused_until().map(clock::zoned_time);
            let until = until.map(|at| tr!(screen.lang, "The limit resets at {at}."));
            let words: Vec<_> = std::iter::once(need.say(screen.lang))
                .chain(until)
                .collect();
            display::needs_person(screen, ending, &words.join("\n"))
        }
        PauseReason::Escalated(why) => {
            display::escalated(screen, ending, &escalation(screen, state, why))
        }
        PauseReason::Forge(need) => display::needs_forge(screen, ending, &need.say(screen.lang)),
        PauseReason::Limit(limit) => at_limit(screen, state, ending, limit, false),
    }
}

fn at_limit(screen: &Screen, state: &State, ending: &Ending, limit: Limit, over: bool) -> String {
    let limits = &state.rules.limits;
    let (max, step) = match limit {
        Limit::Iterations => (limits.max_iterations, limits.extend_by),
        Limit::Dispatches => (limits.max_dispatches, state.dispatch_step()),
        Limit::Duration => {
            let limit = Duration::from_millis(limits.max_duration_ms);
            return display::budget(screen, ending, &BudgetKind::Time { limit });
        }
    };
    let is_route = state.rules.goal == Goal::Flow;
    let phases = is_route.then(|| route_progress(state, screen.lang));
    // Where roles work, each call is what people know as an iteration.
    let limit = match state.rules.flow {
        Some(_) => Limit::Iterations,
        None => limit,
    };
    let phases = phases.flatten();
    display::limit_box(screen, ending, phases, limit, max, step, over)
}

/// A question as a person reads it, with what may be answered.
pub fn question(question: &Question, lang: Lang) -> String {
    let (id, text) = (question.id, question.words(lang));
    let task = question.task.as_ref().map(TaskRef::name);
    let mut out = match task {
        Some(task) => format!("[{id}] {text}\n    {task}"),
        None => format!("[{id}] {text}"),
    };
    for (number, option) in question.options.iter().enumerate() {
        out.push_str(&format!("\n    {}. {option}", number + 1));
    }
    let until = ralph_engine::clock::zoned_time(question.deadline_ms);
    if let Some(default) = &question.default {
        out.push_str(&tr!(lang, "\n    from {until} on: {default}"));
    }
    out
}
