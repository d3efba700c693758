//! Where a run stands now. The live block, the monitor, the page and `ralph
//! status` draw it, and count nothing themselves.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::display::{self, PhaseView, Progress, RoleView, StepState, UsageView};
use crate::flow::FlowNotice;
use crate::forecast::Forecast;
use crate::lang::{Lang, Say};
use crate::machine::{
    Bill, CommandResult, Doing, Goal, Hint, Notice, Now, Outcome, PhaseFacts, Question, Seat,
    Stage, State, TaskRef, WaitReason,
};
use crate::phases;
use crate::proof::{EvidenceLevel, level};
use crate::report::outcome_word;
use crate::text;
use crate::text::duration::plural;
use crate::tr;
use crate::usage::Usd;

/// A run as it stands, made from its state and from what was told on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    pub standing: Standing,
    /// The process that drives it; `None` where nobody does.
    pub pid: Option<u32>,
    pub iteration: u32,
    /// Zero is unlimited, as for all limits.
    pub max_iterations: u32,
    /// Until the last event; see [`Overview::elapsed_ms`].
    pub worked_ms: u64,
    pub max_duration_ms: u64,
    pub bill: Bill,
    pub max_cost: Usd,
    pub total: usize,
    pub completed: usize,
    pub pending: usize,
    /// Key of the phase that is worked on.
    pub phase: Option<String>,
    pub phases: Vec<PhaseView>,
    /// Its phases are those of a route, whose tasks are only one of them.
    pub is_route: bool,
    /// The task of the turn that runs, or that ran last.
    pub task: Option<TaskRef>,
    /// Whom the agent of that turn plays.
    pub role: Option<String>,
    /// The roles that the task goes through, each with its state.
    pub roles: Vec<RoleView>,
    pub agent: String,
    pub last_promise: String,
    /// What the verification commands said last.
    pub checks: Option<CheckRun>,
    /// How well each task of this run is shown.
    pub levels: BTreeMap<String, EvidenceLevel>,
    pub questions: Vec<Question>,
    /// Tasks that a person took out of the run: they are not done.
    pub skipped: Vec<String>,
    /// The task that a person wants first.
    pub focus: Option<String>,
    /// What a person tells the agent.
    pub hints: Vec<Hint>,
    /// When it will be done, by its own turns.
    pub forecast: Option<Forecast>,
    pub waiting: Option<Waiting>,
    pub outcome: Option<Outcome>,
    /// The moment of the last event, on the wall clock.
    pub updated_ms: i64,
    /// It goes on in the session of a client: no process of ours drives it
    /// between two hooks.
    pub in_session: bool,
    /// Who works at the same time, where several do.
    pub lanes: Vec<LaneView>,
}

/// A lane as people are shown it.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    pub lane: u32,
    pub task: TaskRef,
    pub doing: Doing,
    /// Its place among those that wait to land, from 1.
    pub place: Option<usize>,
}

impl LaneView {
    /// `lane 2: T004 make it so (waits to land)`.
    pub fn line(&self, lang: Lang) -> String {
        let (lane, task) = (self.lane, text::one_line(&self.task.name()));
        let doing = self.doing.say(lang);
        match self.place {
            Some(place) => tr!(lang, "lane {lane}: {task} ({doing}, place {place})"),
            None => tr!(lang, "lane {lane}: {task} ({doing})"),
        }
    }
}

/// The lanes of a run, in their order.
fn lanes(state: &State) -> Vec<LaneView> {
    let board = &state.lanes;
    let view = |(&lane, seat): (&u32, &Seat)| LaneView {
        lane,
        task: TaskRef {
            id: seat.task.id.clone(),
            text: seat.task.text.clone(),
            phase: None,
        },
        doing: seat.doing,
        place: board.queue.iter().position(|&l| l == lane).map(|n| n + 1),
    };
    board.seats.iter().map(view).collect()
}

/// What a run does now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr, Say)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Standing {
    /// It has not begun.
    #[default]
    #[say("starting")]
    New,
    #[say("working")]
    Working,
    #[say("verifying")]
    Verifying,
    #[say("waiting")]
    Waiting,
    /// The menu of a limit is open.
    #[say("at a limit")]
    Asking,
    /// Somebody pressed Ctrl+Z.
    #[say("frozen (Ctrl+Z)")]
    Frozen,
    #[say("ended")]
    Ended,
    /// Its process is gone, and it did not end.
    #[say("dead (its process is gone)")]
    Dead,
}

/// A wait that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// On the wall clock.
    pub until_ms: i64,
    pub why: WaitReason,
}

impl Waiting {
    pub fn beginning(at: Now, ms: u64, why: WaitReason) -> Waiting {
        let ahead = i64::try_from(ms).unwrap_or(i64::MAX);
        let until_ms = at.wall_ms.saturating_add(ahead);
        Waiting { until_ms, why }
    }
}

/// The verification commands ran once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckRun {
    pub turn: u32,
    /// On the wall clock.
    pub at_ms: i64,
    pub passed: bool,
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Without secrets.
    pub command: String,
    /// `None` where it did not end by itself.
    pub exit: Option<i32>,
    pub duration_ms: u64,
    /// It passed, or failed no worse than before the work began.
    #[serde(skip)]
    pub good: bool,
}

impl CheckRun {
    pub fn new(turn: u32, passed: bool, results: &[CommandResult], at: Now) -> CheckRun {
        let check = |result: &CommandResult| Check {
            command: text::redact(&result.command).into_owned(),
            exit: result.exit,
            duration_ms: result.duration_ms,
            good: result.is_good(),
        };
        CheckRun {
            turn,
            at_ms: at.wall_ms,
            passed,
            checks: results.iter().map(check).collect(),
        }
    }

    /// The first command that failed, in one line.
    pub fn failed(&self) -> Option<String> {
        let failed = self.checks.iter().find(|check| !check.good);
        failed.map(|check| text::one_line(&check.command))
    }
}

/// The phases of a run as people are shown them.
pub fn phases(state: &State, lang: Lang) -> Vec<PhaseView> {
    let current = state.phase();
    let view = |phase: PhaseFacts| PhaseView {
        state: match () {
            () if phase.completed == phase.total => StepState::Done,
            () if current.as_ref() == Some(&phase.key) => StepState::Active,
            () => StepState::Pending,
        },
        key: phase.key,
        title: phase.title,
        done: phase.completed,
        total: phase.total,
    };
    phases::of(state, lang).into_iter().map(view).collect()
}

impl Overview {
    pub fn of(state: &State, lang: Lang) -> Overview {
        let mut overview = Overview::default();
        overview.take(state, lang);
        overview
    }

    /// Takes in what was told.
    pub fn hear(&mut self, notice: &Notice, at: Now) {
        match notice {
            Notice::IterationStart { task, .. } => {
                self.task.clone_from(task);
                self.role = None;
            }
            Notice::Flow(FlowNotice::RoleBegins { role, .. }) => self.role = Some(role.clone()),
            Notice::GateResult {
                iteration,
                passed,
                results,
                ..
            } => self.checks = Some(CheckRun::new(*iteration, *passed, results, at)),
            Notice::Wait { ms, why, .. } => {
                self.waiting = Some(Waiting::beginning(at, *ms, *why));
            }
            _ => {}
        }
    }

    /// Takes in where the machine stands.
    pub fn take(&mut self, state: &State, lang: Lang) {
        let (limits, facts) = (&state.rules.limits, state.tasks.facts.as_ref());
        self.standing = match &state.stage {
            Stage::Finished(_) => Standing::Ended,
            Stage::New => Standing::New,
            Stage::Running => Standing::Working,
            Stage::Preflight | Stage::Verifying { .. } | Stage::Trying { .. } | Stage::Checking => {
                Standing::Verifying
            }
            Stage::Asking(_) => Standing::Asking,
            Stage::Waiting
            | Stage::Unticking { .. }
            | Stage::Marking
            | Stage::Landing { .. }
            | Stage::Closing(_)
            | Stage::Forge(_) => Standing::Waiting,
        };
        if state.stage != Stage::Waiting {
            self.waiting = None;
        }
        self.iteration = state.turn.number;
        self.max_iterations = limits.max_iterations;
        self.worked_ms = state.elapsed_ms();
        self.max_duration_ms = limits.max_duration_ms;
        self.bill = state.agents.bill;
        self.max_cost = state.rules.budget.run.cost;
        self.total = facts.map_or(0, |tasks| tasks.total);
        self.completed = facts.map_or(0, |tasks| tasks.completed);
        self.pending = facts.map_or(0, |tasks| tasks.pending);
        self.phase = state.phase();
        self.phases = phases(state, lang);
        self.is_route = state.rules.goal == Goal::Flow;
        self.roles = state.roles();
        self.agent = state.called_agent().into();
        self.last_promise.clone_from(&state.claims.last_promise);
        if self.questions != state.questions {
            self.questions.clone_from(&state.questions);
        }
        self.skipped = state.tasks.skipped.iter().cloned().collect();
        self.forecast = state.forecast();
        self.focus = state.focus().map(str::to_owned);
        self.hints = state
            .hints
            .iter()
            .filter(|h| h.is_open())
            .cloned()
            .collect();
        if self.levels != state.ticks.levels {
            self.levels.clone_from(&state.ticks.levels);
        }
        self.outcome = state.outcome().cloned();
        if self.standing != Standing::New {
            self.updated_ms = state.now().wall_ms;
        }
        self.in_session = state.session.is_some();
        self.lanes = lanes(state);
    }

    /// Takes in who drives it. A run that did not end and that nobody drives
    /// is dead.
    pub fn driven_by(&mut self, pid: Option<u32>) {
        self.pid = pid;
        if pid.is_none() && !self.in_session && self.standing != Standing::Ended {
            self.standing = Standing::Dead;
        }
    }

    /// Time counts: a process drives it, and it does something.
    pub fn goes_on(&self) -> bool {
        let rests = matches!(
            self.standing,
            Standing::Ended | Standing::Frozen | Standing::New | Standing::Dead
        );
        self.pid.is_some() && !rests
    }

    /// Nobody will end what was begun.
    pub fn is_over(&self) -> bool {
        matches!(self.standing, Standing::Ended | Standing::Dead)
    }

    /// How long it has worked until this moment.
    pub fn elapsed_ms(&self, wall_ms: i64) -> u64 {
        let since = u64::try_from(wall_ms.saturating_sub(self.updated_ms)).unwrap_or(0);
        self.worked_ms + if self.goes_on() { since } else { 0 }
    }

    /// What is left of its time; `None` where that has no limit.
    pub fn left_ms(&self, wall_ms: i64) -> Option<u64> {
        let left = self
            .max_duration_ms
            .saturating_sub(self.elapsed_ms(wall_ms));
        (self.max_duration_ms > 0).then_some(left)
    }

    /// `None` where there are no tasks.
    pub fn progress(&self) -> Option<Progress> {
        (self.total > 0).then(|| Progress::new(self.completed, self.total))
    }

    /// How far the run has come, and of what: the phases of a route, else
    /// tasks (DISP-01).
    pub fn way(&self, lang: Lang) -> Option<(Progress, String)> {
        if let Some(progress) = self.progress().filter(|_| !self.is_route) {
            let Progress { done, total } = progress;
            let tasks_en = plural(total, "task", "tasks");
            return Some((progress, tr!(lang, "{done}/{total} {tasks_en}")));
        }
        let progress = display::phases_done(&self.phases)?;
        let Progress { done, total } = progress;
        let phases_en = plural(total, "phase", "phases");
        Some((progress, tr!(lang, "{done}/{total} {phases_en}")))
    }

    /// `#7`, or `#7/50` where there is a limit.
    pub fn turns(&self) -> String {
        match self.max_iterations {
            0 => format!("#{}", self.iteration),
            max => format!("#{}/{max}", self.iteration),
        }
    }

    /// How well the tasks are shown: `7 proven, 2 unrefuted`.
    pub fn evidence(&self, lang: Lang) -> Option<String> {
        level::counted(lang, self.levels.values().copied())
    }

    /// When it will be done and what that will cost, each with its range.
    pub fn forecast(&self, lang: Lang) -> Option<String> {
        let Forecast { left_ms, cost } = self.forecast.filter(|_| !self.is_over())?;
        let time = |ms: u64| text::duration::human(lang, Duration::from_millis(rounded(ms)));
        let (likely, low, high) = (time(left_ms.likely), time(left_ms.low), time(left_ms.high));
        let Some(cost) = cost else {
            return Some(tr!(lang, "done in about {likely} ({low} to {high})"));
        };
        let dollars = |cost| display::dollars(cost);
        let (more, least, most) = (dollars(cost.likely), dollars(cost.low), dollars(cost.high));
        Some(tr!(
            lang,
            "done in about {likely} ({low} to {high}), for {more} more ({least} to {most})"
        ))
    }

    /// How a person steers the run, a line each.
    pub fn steering(&self, lang: Lang) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.skipped.is_empty() {
            let tasks = self.skipped.join(", ");
            lines.push(tr!(lang, "skipped by a person: {tasks}"));
        }
        if let Some(task) = &self.focus {
            lines.push(tr!(lang, "{task} comes first, by a person's wish"));
        }
        for Hint { id, text, keep, .. } in &self.hints {
            let text = text::one_line(text);
            lines.push(match keep {
                true => tr!(lang, "hint {id} for every turn: {text}"),
                false => tr!(lang, "hint {id} for the next turn: {text}"),
            });
        }
        lines
    }

    pub fn spent(&self) -> UsageView {
        UsageView::from(&self.bill)
    }

    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.is_open())
    }

    /// How it ended, or else what it does, in a word.
    pub fn word(&self, lang: Lang) -> String {
        match &self.outcome {
            Some(outcome) => outcome_word(lang, outcome.into_str()),
            None => self.standing.say(lang),
        }
    }
}

/// A forecast is no measurement: whole minutes, and whole seconds below one.
fn rounded(ms: u64) -> u64 {
    match ms {
        60_000.. => ms.div_ceil(60_000) * 60_000,
        _ => ms.div_ceil(1_000) * 1_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Range;

    #[test]
    fn how_well_tasks_are_shown_is_counted_the_best_first() {
        let mut overview = Overview::default();
        assert_eq!(overview.evidence(Lang::En), None);
        for (id, level) in [
            ("T001", EvidenceLevel::Unrefuted),
            ("T002", EvidenceLevel::Proven),
            ("T003", EvidenceLevel::Proven),
        ] {
            overview.levels.insert(id.into(), level);
        }
        let shown = overview.evidence(Lang::En);
        assert_eq!(shown.as_deref(), Some("2 proven, 1 unrefuted"));
    }

    #[test]
    fn a_forecast_has_a_range_and_is_of_a_run_that_goes_on() {
        fn range<T>(low: T, likely: T, high: T) -> Range<T> {
            Range { low, likely, high }
        }
        let dollars = |n: u64| Usd::from_micros(n * 1_000_000);
        let mut overview = Overview {
            standing: Standing::Working,
            forecast: Some(Forecast {
                left_ms: range(61_000, 600_000, 5_400_000),
                cost: None,
            }),
            ..Overview::default()
        };
        let said = overview.forecast(Lang::En).unwrap();
        assert_eq!(said, "done in about 10 min (2 min to 1 h 30 min)");
        let forecast = overview.forecast.as_mut().unwrap();
        forecast.cost = Some(range(dollars(1), dollars(2), dollars(4)));
        let said = overview.forecast(Lang::En).unwrap();
        assert!(said.ends_with("for $2.00 more ($1.00 to $4.00)"), "{said}");
        overview.standing = Standing::Dead;
        assert_eq!(overview.forecast(Lang::En), None);
    }

    #[test]
    fn a_check_that_failed_before_the_work_is_not_the_one_that_fails() {
        let result = |command: &str, known| CommandResult {
            command: command.into(),
            exit: Some(1),
            known,
            ..CommandResult::default()
        };
        let results = [result("npm test", true), result("cargo test", false)];
        let run = CheckRun::new(1, false, &results, Now::default());
        assert_eq!(run.failed().as_deref(), Some("cargo test"));
        let run = CheckRun::new(1, true, &results[..1], Now::default());
        assert_eq!(run.failed(), None);
    }

    #[test]
    fn time_counts_while_a_process_drives_what_has_begun() {
        let check = |standing, pid, elapsed, left| {
            let overview = Overview {
                standing,
                pid,
                worked_ms: 1_000,
                max_duration_ms: 3_000,
                updated_ms: 5_000,
                ..Overview::default()
            };
            assert_eq!(overview.elapsed_ms(8_000), elapsed, "{standing:?}");
            assert_eq!(overview.left_ms(8_000), Some(left), "{standing:?}");
        };
        check(Standing::Working, Some(1), 4_000, 0);
        check(Standing::Waiting, Some(1), 4_000, 0);
        check(Standing::Working, None, 1_000, 2_000);
        check(Standing::Frozen, Some(1), 1_000, 2_000);
        check(Standing::New, Some(1), 1_000, 2_000);
        assert_eq!(Overview::default().left_ms(8_000), None);
    }
}
