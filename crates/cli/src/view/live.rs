//! The block at the bottom of a terminal that shows where a run stands while
//! it goes on. Everything that lasts is printed above it, so that nothing
//! that scrolls is lost. The terminal itself is left as it is (no raw mode, no
//! second screen, no hidden cursor): there is nothing to restore, however the
//! program ends.

use std::io::Write;
use std::time::Duration;

use ralph_core::display::{self, PhaseView, Progress, RoleView, Screen, StepState, UsageView};
use ralph_core::flow::FlowNotice;
use ralph_core::lang::Lang;
use ralph_core::machine::{Notice, Stage, State, TaskRef};
use ralph_core::text::duration::plural;
use ralph_core::text::{self, width};
use ralph_core::tr;
use ralph_core::usage::Usd;
use ralph_engine::clock;
use ralph_engine::terminal;

/// What the block shows.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub phases: Vec<PhaseView>,
    pub progress: Option<Progress>,
    pub iteration: u32,
    /// Zero is unlimited, as for all limits here.
    pub max_iterations: u32,
    pub worked_ms: u64,
    pub max_duration_ms: u64,
    pub spent: UsageView,
    pub max_cost: Usd,
    pub task: Option<String>,
    /// Whom the agent plays, where it plays a role.
    pub role: Option<String>,
    /// The roles that the task goes through, each with its state.
    pub roles: Vec<RoleView>,
    pub agent: String,
    pub now: Now,
    pub checks: Checks,
    pub questions: usize,
}

/// What happens at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Now {
    #[default]
    Starting,
    /// The agent works; its last words or its tool.
    Agent(String),
    Verifying,
    /// What the wait is for, in words.
    Waiting(String),
}

/// What the verification commands said last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// None are set up, or none ran yet.
    #[default]
    Unknown,
    Passed,
    Failed(String),
}

/// The lines of the block, none wider than the screen. Where there is little
/// room the phases go first.
pub fn block(screen: &Screen, facts: &Facts, height: usize) -> Vec<String> {
    let columns = screen.width.saturating_sub(1).max(10);
    let fit = |line: String| width::truncate_with(&line, columns, mark(screen));
    let mut lines: Vec<String> = vec![bar_line(screen, facts, columns)];
    lines.push(fit(counts(screen, facts)));
    lines.push(fit(current(screen, facts, columns)));
    if !facts.roles.is_empty() && height > lines.len() + 2 {
        let chain = display::role_line(screen, &facts.roles);
        lines.push(fit(chain.trim_end().to_owned()));
    }
    lines.push(fit(format!("  {}", doing(screen, facts))));
    let room = height.saturating_sub(lines.len() + 1);
    let mut out = vec![rule(screen).repeat(columns)];
    out.extend(phases(screen, facts, room).into_iter().map(fit));
    out.extend(lines);
    out.iter()
        .map(|line| screen.in_style(line).into_owned())
        .collect()
}

fn mark(screen: &Screen) -> &'static str {
    if screen.style.unicode { "…" } else { "..." }
}

fn rule(screen: &Screen) -> &'static str {
    if screen.style.unicode { "─" } else { "-" }
}

/// The phases around the one that is worked on.
fn phases(screen: &Screen, facts: &Facts, room: usize) -> Vec<String> {
    let room = room.min(5);
    if facts.phases.len() < 2 || room == 0 {
        return Vec::new();
    }
    let is_active = |phase: &PhaseView| phase.state == StepState::Active;
    let active = facts.phases.iter().position(is_active).unwrap_or(0);
    let from = active.saturating_sub(room / 2);
    let from = from.min(facts.phases.len().saturating_sub(room));
    let shown: Vec<PhaseView> = facts.phases.iter().skip(from).take(room).cloned().collect();
    let tree = display::phase_tree(screen, &shown);
    tree.lines().map(str::to_owned).collect()
}

/// The colours of the bar take no columns, so that it is never cut.
fn bar_line(screen: &Screen, facts: &Facts, columns: usize) -> String {
    let lang = screen.lang;
    let Some(progress) = facts.progress else {
        return String::new();
    };
    let Progress { done, total } = progress;
    let tasks_en = plural(total, "task", "tasks");
    let words = tr!(lang, "{done}/{total} {tasks_en}");
    let percent = progress.percent();
    // 26 cells, two brackets, a blank and the percents.
    let bar_columns = 30 + percent.to_string().len();
    match columns.checked_sub(bar_columns + 3) {
        Some(left) => {
            let words = width::truncate_with(&words, left, mark(screen));
            format!("{} · {words}", display::bar(screen, percent))
        }
        None => width::truncate_with(&format!("{percent}% · {words}"), columns, mark(screen)),
    }
}

/// Turns, time, money and what is left of each.
fn counts(screen: &Screen, facts: &Facts) -> String {
    let lang = screen.lang;
    let iteration = match facts.max_iterations {
        0 => format!("#{}", facts.iteration),
        max => format!("#{}/{max}", facts.iteration),
    };
    let mut parts = vec![iteration, time(lang, facts.worked_ms)];
    if let Some(left) = facts.max_duration_ms.checked_sub(facts.worked_ms)
        && facts.max_duration_ms > 0
    {
        let left = time(lang, left);
        parts.push(tr!(lang, "{left} left"));
    }
    match facts.questions {
        0 => {}
        count => parts.push(tr!(lang, "questions: {count} (`ralph answer`)")),
    }
    if facts.spent.cost.is_some() || !facts.max_cost.is_zero() {
        let more = if facts.spent.more_cost { "+" } else { "" };
        let spent = display::dollars(facts.spent.cost.unwrap_or(Usd::ZERO));
        parts.push(match facts.max_cost.is_zero() {
            true => format!("{spent}{more}"),
            false => format!("{spent}{more} / {}", display::dollars(facts.max_cost)),
        });
    }
    match &facts.checks {
        Checks::Unknown => {}
        Checks::Passed => parts.push(tr!(lang, "checks pass")),
        Checks::Failed(command) => parts.push(tr!(lang, "failing: {command}")),
    }
    parts.join(" · ")
}

/// The task and who works on it; a long task leaves room for the names.
fn current(screen: &Screen, facts: &Facts, columns: usize) -> String {
    let sign = if screen.style.unicode { "🔄" } else { "[>]" };
    let clean = |part: &str| text::one_line(&text::redact(&text::sanitize(part)));
    let who = [facts.role.as_deref(), Some(facts.agent.as_str())];
    let who = who.into_iter().flatten().filter(|part| !part.is_empty());
    let who = who.map(clean).collect::<Vec<_>>().join(" · ");
    match &facts.task {
        None => format!("{sign} {who}"),
        Some(task) => {
            let taken = width::width(sign) + width::width(&who) + 4;
            let room = columns.saturating_sub(taken).max(12);
            let task = width::truncate_with(&clean(task), room, mark(screen));
            format!("{sign} {task} · {who}")
        }
    }
}

fn doing(screen: &Screen, facts: &Facts) -> String {
    let lang = screen.lang;
    match &facts.now {
        Now::Starting => tr!(lang, "starting"),
        Now::Agent(words) if words.is_empty() => {
            tr!(lang, "the agent works")
        }
        Now::Agent(words) | Now::Waiting(words) => {
            text::one_line(&text::redact(&text::sanitize(words)))
        }
        Now::Verifying => tr!(lang, "verifying"),
    }
}

/// `42s`, `12m 03s`, `1h 02m`.
pub fn time(lang: Lang, ms: u64) -> String {
    let seconds = Duration::from_millis(ms).as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = seconds % 60;
    match (hours, minutes) {
        (0, 0) => tr!(lang, "{rest}s"),
        (0, _) => tr!(lang, "{minutes}m {rest:02}s"),
        _ => tr!(lang, "{hours}h {minutes:02}m"),
    }
}

/// The block on a terminal.
#[derive(Debug)]
pub struct Live {
    screen: Screen,
    pub facts: Facts,
    /// Columns of each line that stands there.
    drawn: Vec<usize>,
    /// Since when, on the steady clock, `worked_ms` is as it is.
    since_ms: u64,
    /// Somebody is being asked, or the run is over.
    hidden: bool,
}

impl Live {
    pub fn new(screen: Screen) -> Live {
        Live {
            screen,
            facts: Facts::default(),
            drawn: Vec::new(),
            since_ms: 0,
            hidden: true,
        }
    }

    /// Takes in where the run stands.
    pub fn take(&mut self, notice: &Notice, state: &State, phases: Vec<PhaseView>) {
        let facts = &mut self.facts;
        let tasks = state.tasks.facts.as_ref().filter(|tasks| tasks.total > 0);
        facts.phases = phases;
        facts.progress = tasks.map(|tasks| Progress::new(tasks.completed, tasks.total));
        facts.iteration = state.turn.number;
        facts.max_iterations = state.rules.limits.max_iterations;
        facts.worked_ms = state.elapsed_ms();
        facts.max_duration_ms = state.rules.limits.max_duration_ms;
        facts.spent = UsageView::from(&state.agents.bill);
        facts.max_cost = state.rules.budget.run.cost;
        facts.agent = state.called_agent().into();
        facts.roles = state.roles();
        facts.questions = state.open_questions().count();
        self.since_ms = clock::now().steady_ms;
        match notice {
            Notice::IterationStart { task, .. } => {
                facts.task = task.as_ref().map(TaskRef::name);
                facts.now = Now::Agent(String::new());
            }
            Notice::Flow(FlowNotice::RoleBegins { role, .. }) => facts.role = Some(role.clone()),
            Notice::GateStart { .. } => facts.now = Now::Verifying,
            Notice::GateResult {
                passed, results, ..
            } => {
                let failed = results.iter().find(|result| result.exit != Some(0));
                facts.checks = match (passed, failed) {
                    (true, _) => Checks::Passed,
                    (false, Some(result)) => Checks::Failed(text::one_line(&result.command)),
                    (false, None) => Checks::Unknown,
                };
            }
            _ => {}
        }
        let over = matches!(state.stage, Stage::Finished(_) | Stage::Asking(_));
        self.hidden = over || matches!(notice, Notice::LoopEnd { .. });
    }

    /// Prints what lasts, and the block below it again.
    pub fn print(&mut self, lasting: &str) {
        let columns = terminal::columns().unwrap_or(self.screen.width);
        let mut out = self.erased(columns);
        out.push_str(lasting);
        out.push_str(&self.redrawn(columns));
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(out.as_bytes());
        let _ = stdout.flush();
    }

    /// Draws the block anew, since time has passed.
    pub fn refresh(&mut self) {
        self.print("");
    }

    /// Takes the block away until something is told again.
    pub fn hide(&mut self) {
        self.hidden = true;
        self.print("");
    }

    fn erased(&mut self, columns: usize) -> String {
        // A terminal that was made narrower has broken the lines.
        let rows = |wide: &usize| wide.div_ceil(columns.max(1)).max(1);
        match self.drawn.iter().map(rows).sum::<usize>() {
            0 => String::new(),
            rows => {
                self.drawn.clear();
                format!("\x1b[{rows}A\r\x1b[J")
            }
        }
    }

    fn redrawn(&mut self, columns: usize) -> String {
        if self.hidden {
            return String::new();
        }
        let screen = Screen {
            width: columns,
            ..self.screen
        };
        let mut facts = self.facts.clone();
        let now = clock::now().steady_ms;
        facts.worked_ms += now.saturating_sub(self.since_ms);
        let height = terminal::rows().map_or(10, |rows| rows / 2);
        let lines = block(&screen, &facts, height);
        self.drawn = lines
            .iter()
            .map(|line| width::width(&text::sanitize(line)))
            .collect();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

#[cfg(test)]
mod tests;
